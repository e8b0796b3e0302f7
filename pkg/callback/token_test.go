package callback

import (
	"strings"
	"testing"
)

// withoutID returns a call of greet with the argument 5 and without an invocation id.
func withoutID() string {
	return strings.Replace(body("ID", "greet", 5), `"invocation_id":"ID",`, "", 1)
}

func TestRequiresTokenWithoutInvocationID(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	register(t, s, echo)
	for _, request := range []string{withoutID(), strings.Replace(body("ID", "greet", 5), `"ID"`, "null", 1)} {
		q := validRequest(s, request)
		got := sendRaw(t, s, q)
		if got.Result.Type != "error" || !strings.Contains(got.Result.Message, "Authorization: Bearer") {
			t.Errorf("without the token: %s", got.text)
		}
		q.headers = append(q.headers, "Authorization: Bearer "+s.token)
		if got := sendRaw(t, s, q); got.Result.Text != "greet 5" {
			t.Errorf("with the token: %s", got.text)
		}
	}
}
