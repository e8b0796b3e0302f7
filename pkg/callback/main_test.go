package callback

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if !sendAsOtherUser() {
		goleak.VerifyTestMain(m)
	}
}

// waitLimit bounds every wait of these tests.
const waitLimit = 90 * time.Second

const session = "session-1"

func startServer(tb testing.TB) *Server {
	tb.Helper()
	return startServerWith(tb, defaultLimits())
}

func startServerWith(tb testing.TB, limits limits) *Server {
	tb.Helper()
	s, err := listen(session, nil, limits)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { closeServer(tb, s) })
	return s
}

func closeServer(tb testing.TB, s *Server) {
	tb.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Close() }()
	select {
	case err := <-done:
		if err != nil {
			tb.Errorf("Close: %v", err)
		}
	case <-time.After(waitLimit):
		tb.Errorf("Close did not return within %s", waitLimit)
	}
}

// register registers an invocation until the end of the test.
func register(tb testing.TB, s *Server, dispatch func(context.Context, Request) Response) string {
	tb.Helper()
	id, unregister := s.Register(tb.Context(), Invocation{Dispatch: dispatch})
	tb.Cleanup(unregister)
	return id
}

// echo returns the tool's name and its argument "n".
func echo(_ context.Context, r Request) Response {
	return Response{OK: true, Text: fmt.Sprintf("%s %v", r.Tool, r.Args["n"])}
}

// body calls a tool with an argument "n".
func body(id, tool string, n int) string {
	return bodyOf(id, session, tool, fmt.Sprintf(`{"n":%d}`, n))
}

func bodyOf(id, session, tool, args string) string {
	action := map[string]any{"type": "call_tool", "tool_name": tool, "arguments_json": args}
	out, _ := json.Marshal(map[string]any{"version": 1, "session_id": session, "invocation_id": id, "action": action})
	return string(out)
}

func client(tb testing.TB) *http.Client {
	tb.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 1000}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: waitLimit}
}

// reply is a decoded response.
type reply struct {
	status int
	header http.Header
	text   string
	Result struct {
		Type    string `json:"type"`
		Success bool   `json:"success"`
		Text    string `json:"text_content"`
		Error   string `json:"error_message"`
		Message string `json:"message"`
	} `json:"result"`
	IsError *bool  `json:"is_error"`
	Message string `json:"message"`
}

func readReply(resp *http.Response) (reply, error) {
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	out := reply{status: resp.StatusCode, header: resp.Header, text: string(raw)}
	if resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

func post(ctx context.Context, c *http.Client, s *Server, body string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.CallbackURL(), strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return reply{}, err
	}
	return readReply(resp)
}

func mustPost(tb testing.TB, s *Server, body string) reply {
	tb.Helper()
	out, err := post(tb.Context(), client(tb), s, body)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// rawRequest is a request that is sent as it is, without an HTTP client.
type rawRequest struct {
	method, target, host string
	headers              []string
	body                 string
}

func validRequest(s *Server, body string) rawRequest {
	return rawRequest{
		method: "POST", target: callbackPath, host: s.hosts[0],
		headers: []string{"Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body))}, body: body,
	}
}

func (q rawRequest) String() string {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n", q.method, q.target, q.host)
	for _, h := range q.headers {
		head += h + "\r\n"
	}
	return head + "\r\n" + q.body
}

func dial(tb testing.TB, s *Server) net.Conn {
	tb.Helper()
	c, err := net.DialTimeout("tcp", s.hosts[0], waitLimit)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(waitLimit))
	return c
}

// sendRaw sends a request on a connection of its own and reads the response.
func sendRaw(tb testing.TB, s *Server, q rawRequest) reply {
	tb.Helper()
	c := dial(tb, s)
	defer c.Close()
	if _, err := io.WriteString(c, q.String()); err != nil {
		tb.Fatal(err)
	}
	return readResponse(tb, c, q.method)
}

func readResponse(tb testing.TB, c net.Conn, method string) reply {
	tb.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		tb.Fatalf("no response: %v", err)
	}
	out, err := readReply(resp)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func eventually(tb testing.TB, what string, happened func() bool) {
	tb.Helper()
	deadline := time.Now().Add(waitLimit)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		if time.Now().After(deadline) {
			tb.Fatalf("timed out after %s waiting for: %s", waitLimit, what)
		}
		<-tick.C
	}
}

func within(tb testing.TB, what string, done <-chan struct{}) {
	tb.Helper()
	select {
	case <-done:
	case <-time.After(waitLimit):
		tb.Fatalf("timed out after %s waiting for: %s", waitLimit, what)
	}
}
