package callback

import (
	"slices"
	"strings"
	"testing"
)

// TestTheFirstRefusalsAreToldWithTheirReasons: of the others their number, once the session is over, and of none what was sent.
func TestTheFirstRefusalsAreToldWithTheirReasons(t *testing.T) {
	t.Parallel()
	s := open(t)
	var told []string
	s.OnRefusal(func(message string) { told = append(told, message) })
	id := begin(t, s, echo)
	const bad = "tbk_not-the-right-one"
	stranger := good(s, body(id, "greet", 1))
	stranger.headers = append(stranger.headers, "Authorization: Bearer "+bad)
	send(t, s, stranger)
	send(t, s, good(s, `{"version": "`+bad+`"}`))
	for range maxTold + 1 {
		mustAsk(t, s, body(bad, "greet", 1))
	}
	mustAsk(t, s, body(id, "greet", 1)) // is none
	shut(t, s)
	shut(t, s)
	if len(told) != maxTold+1 {
		t.Fatalf("told %d times: %q", len(told), told)
	}
	for i, want := range map[int]string{
		0: "a request was refused: the Authorization is not Bearer and this session's TRAILBLAZE_SESSION_TOKEN",
		2: "a request was refused: unknown invocation id", maxTold: "3 more were refused",
	} {
		if !strings.HasPrefix(told[i], want) {
			t.Errorf("%d: told %q, want %q", i, told[i], want)
		}
	}
	if slices.ContainsFunc(told, func(m string) bool {
		return strings.Contains(m, bad) || strings.Contains(m, id) || strings.Contains(m, s.token)
	}) {
		t.Errorf("what was sent is told: %q", told)
	}
}
