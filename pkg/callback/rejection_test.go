package callback

import (
	"slices"
	"strings"
	"testing"
)

// TestLogsReasonsOfFirstRejections also checks that Close logs the number of the others, and that nothing that was sent
// is logged.
func TestLogsReasonsOfFirstRejections(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	var logged []string
	s.OnReject(func(message string) { logged = append(logged, message) })
	id := register(t, s, echo)
	const bad = "tbk_not-the-right-one"
	unauthorized := validRequest(s, body(id, "greet", 1))
	unauthorized.headers = append(unauthorized.headers, "Authorization: Bearer "+bad)
	sendRaw(t, s, unauthorized)
	sendRaw(t, s, validRequest(s, `{"version": "`+bad+`"}`))
	for range maxLogged + 1 {
		mustPost(t, s, body(bad, "greet", 1))
	}
	mustPost(t, s, body(id, "greet", 1)) // is not rejected
	closeServer(t, s)
	closeServer(t, s)
	if len(logged) != maxLogged+1 {
		t.Fatalf("%d messages: %q", len(logged), logged)
	}
	for i, want := range map[int]string{
		0: "rejected a callback request: the Authorization header is not Bearer and this session's TRAILBLAZE_SESSION_TOKEN",
		2: "rejected a callback request: unknown invocation id", maxLogged: "rejected 3 more callback requests",
	} {
		if !strings.HasPrefix(logged[i], want) {
			t.Errorf("message %d: %q, want %q", i, logged[i], want)
		}
	}
	if slices.ContainsFunc(logged, func(m string) bool {
		return strings.Contains(m, bad) || strings.Contains(m, id) || strings.Contains(m, s.token)
	}) {
		t.Errorf("a message contains what was sent: %q", logged)
	}
}
