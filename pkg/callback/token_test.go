package callback

import (
	"fmt"
	"io"
	"net"
	"os"
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

// otherUserEnv makes the test binary send requests as the user it runs as: the server's address, a line feed, and a
// request.
const otherUserEnv = "TRAILBLAZE_TEST_OTHER_USER"

// otherUserConnections is how many connections the other user opens. Each gets two requests and is closed at once.
const otherUserConnections = 20

// sendAsOtherUser sends the request in the environment, if there is one, and reports whether there was.
func sendAsOtherUser() bool {
	address, request, given := strings.Cut(os.Getenv(otherUserEnv), "\n")
	if !given {
		return false
	}
	for range otherUserConnections {
		c, err := net.Dial("tcp", address)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = io.WriteString(c, request+request)
		_ = c.Close()
	}
	return true
}
