package callback

import (
	"strings"
	"testing"
)

// withoutID is a request without an invocation id, for the only pending call.
func withoutID(tool string, n int) string {
	return strings.Replace(body("ID", tool, n), `"invocation_id":"ID",`, "", 1)
}

func TestRequiresTokenWithoutInvocationID(t *testing.T) {
	t.Parallel()
	s := open(t)
	begin(t, s, echo)
	for _, request := range []string{withoutID("greet", 5), strings.Replace(body("ID", "greet", 5), `"ID"`, "null", 1)} {
		k := good(s, request)
		got := send(t, s, k)
		if got.Result.Type != "error" || !strings.Contains(got.Result.Message, "Authorization: Bearer") {
			t.Errorf("without the token: %s", got.text)
		}
		k.headers = append(k.headers, "Authorization: Bearer "+s.token)
		if got := send(t, s, k); got.Result.Text != "greet 5" {
			t.Errorf("with the token: %s", got.text)
		}
	}
}
