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

// patience bounds every wait of these tests.
const patience = 90 * time.Second

const session = "session-1"

func open(tb testing.TB) *Server {
	tb.Helper()
	s, err := Listen(session)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { shut(tb, s) })
	return s
}

func shut(tb testing.TB, s *Server) {
	tb.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Close() }()
	select {
	case err := <-done:
		if err != nil {
			tb.Errorf("Close: %v", err)
		}
	case <-time.After(patience):
		tb.Errorf("Close takes longer than %s", patience)
	}
}

// begin registers an invocation that ends with the test.
func begin(tb testing.TB, s *Server, dispatch func(context.Context, Request) Answer) string {
	tb.Helper()
	id, end := s.Begin(tb.Context(), Invocation{Dispatch: dispatch})
	tb.Cleanup(end)
	return id
}

// echo answers with the tool's name and its argument "n".
func echo(_ context.Context, r Request) Answer {
	return Answer{OK: true, Text: fmt.Sprintf("%s %v", r.Tool, r.Args["n"])}
}

// body asks for a tool with an argument "n".
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
	return &http.Client{Transport: transport, Timeout: patience}
}

// said is an answer, taken apart.
type said struct {
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

func hear(resp *http.Response) (said, error) {
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return said{}, err
	}
	out := said{status: resp.StatusCode, header: resp.Header, text: string(raw)}
	if resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

func ask(ctx context.Context, c *http.Client, s *Server, body string) (said, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.CallbackURL(), strings.NewReader(body))
	if err != nil {
		return said{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return said{}, err
	}
	return hear(resp)
}

func mustAsk(tb testing.TB, s *Server, body string) said {
	tb.Helper()
	out, err := ask(tb.Context(), client(tb), s, body)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// knock is a request, byte for byte.
type knock struct {
	method, target, host string
	headers              []string
	body                 string
}

func good(s *Server, body string) knock {
	return knock{
		method: "POST", target: callbackPath, host: s.hosts[0],
		headers: []string{"Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body))}, body: body,
	}
}

func (k knock) String() string {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n", k.method, k.target, k.host)
	for _, h := range k.headers {
		head += h + "\r\n"
	}
	return head + "\r\n" + k.body
}

func dial(tb testing.TB, s *Server) net.Conn {
	tb.Helper()
	c, err := net.DialTimeout("tcp", s.hosts[0], patience)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// send writes a request to a connection of its own and reads the answer.
func send(tb testing.TB, s *Server, k knock) said {
	tb.Helper()
	c := dial(tb, s)
	defer c.Close()
	if _, err := io.WriteString(c, k.String()); err != nil {
		tb.Fatal(err)
	}
	return receive(tb, c, k.method)
}

func receive(tb testing.TB, c net.Conn, method string) said {
	tb.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		tb.Fatalf("no answer: %v", err)
	}
	out, err := hear(resp)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func eventually(tb testing.TB, what string, happened func() bool) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		if time.Now().After(deadline) {
			tb.Fatalf("not within %s: %s", patience, what)
		}
		<-tick.C
	}
}

func within(tb testing.TB, what string, done <-chan struct{}) {
	tb.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		tb.Fatalf("not within %s: %s", patience, what)
	}
}
