package callback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const unknown = "unknown invocation id; the tool call may have completed or timed out"

// blockingTool is a tool that waits for the end of its context.
type blockingTool struct {
	started chan struct{} // receives when a call starts
	cause   chan error    // receives the cause of the context's end
	release chan struct{} // when not nil, the tool then ignores the end until release is closed
}

func newBlockingTool() *blockingTool {
	return &blockingTool{started: make(chan struct{}, 1), cause: make(chan error, 1)}
}

func (b *blockingTool) call(ctx context.Context, _ Request) Response {
	b.started <- struct{}{}
	<-ctx.Done()
	b.cause <- context.Cause(ctx)
	if b.release != nil {
		<-b.release
	}
	return Response{Error: "stopped: " + context.Cause(ctx).Error()}
}

// wantCause checks the cause of the end of the tool's context.
func (b *blockingTool) wantCause(t *testing.T, kind fault.Kind, message string) {
	t.Helper()
	select {
	case err := <-b.cause:
		if fault.KindOf(err) != kind || err.Error() != message {
			t.Errorf("cause %q of kind %q, want %q of kind %q", err, fault.KindOf(err), message, kind)
		}
	case <-time.After(waitLimit):
		t.Errorf("not cancelled within %s", waitLimit)
	}
}

// startServerWithShortCancel starts a server that waits only shortly for cancelled calls.
func startServerWithShortCancel(t *testing.T) *Server {
	t.Helper()
	limits := defaultLimits()
	limits.cancel = 10 * time.Millisecond
	return startServerWith(t, limits)
}

// postAsync posts a request from a goroutine; the reply is sent to the channel.
func postAsync(t *testing.T, s *Server, request string) <-chan reply {
	t.Helper()
	c, replies := client(t), make(chan reply, 1)
	ctx := t.Context()
	go func() {
		got, err := post(ctx, c, s, request)
		if err != nil {
			got.text = err.Error()
		}
		replies <- got
	}()
	return replies
}

func awaitReply(t *testing.T, replies <-chan reply) reply {
	t.Helper()
	select {
	case got := <-replies:
		return got
	case <-time.After(waitLimit):
		t.Fatalf("no response within %s", waitLimit)
		return reply{}
	}
}

func TestAddressAndToken(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	if s.URL() != fmt.Sprintf("http://127.0.0.1:%d", s.Port()) || s.CallbackURL() != s.URL()+"/scripting/callback" {
		t.Errorf("%s, %s, %d", s.URL(), s.CallbackURL(), s.Port())
	}
	other := startServer(t)
	if s.Token() == other.Token() || !strings.HasPrefix(s.Token(), tool.CapabilityPrefix) {
		t.Error("two servers have the same token, or it is not a capability")
	}
}

func TestRequestAndResponse(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	requests := make(chan Request, 1)
	id := register(t, s, func(_ context.Context, r Request) Response {
		requests <- r
		return Response{
			OK: true, Text: "<ü> & 𝄞", Structured: json.RawMessage(`{"a":"<b>"}`),
			Changes:    func() (map[string]any, []string) { return map[string]any{"k": "<v>"}, []string{"d"} },
			ChangeSize: func() int { return 100 },
		}
	})
	got := mustPost(t, s, fmt.Sprintf(`{"unknown":[{}],"version":1,"session_id":%q,"invocation_id":%q,"Version":"x",
		"action":{"type":"call_tool","Tool_Name":"no","tool_name":"greet","memory_delta":{"a":"{{b}}"},"memory_deletions":["c"],
		"arguments_json":"{\"n\":12345678901234567890.10,\"t\":\"{{x}}\",\"o\":{\"l\":[1,null,true]}}","more":null}}`, session, id))
	want := Request{
		Tool: "greet",
		Args: map[string]any{
			"n": json.Number("12345678901234567890.10"), "t": "{{x}}",
			"o": map[string]any{"l": []any{json.Number("1"), nil, true}},
		},
		MemoryDelta: map[string]string{"a": "{{b}}"}, MemoryDeletions: []string{"c"},
	}
	if diff := cmp.Diff(want, <-requests); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	const text = `{"result":{"type":"call_tool_result","success":true,"text_content":"<ü> & 𝄞","error_message":"",` +
		`"structured_content":{"a":"<b>"},"memory_delta":{"k":"<v>"},"memory_deletions":["d"]}}` + "\n"
	if diff := cmp.Diff(text, got.text); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}

func TestVersionThenInvocationThenSession(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, func(context.Context, Request) Response {
		t.Error("a tool was called")
		return Response{}
	})
	const foreign = "the invocation belongs to another session"
	version := func(v, request string) string { return strings.Replace(request, `"version":1`, `"version":`+v, 1) }
	upgrade := func(v string) string {
		return "unsupported version " + v + ", this trailblaze speaks 1; upgrade trailblaze or use an SDK of version 1"
	}
	theirs := bodyOf(id, "session-2", "greet", "{}")
	gone := body(tool.NewCapability(), "greet", 1)
	both := bodyOf("tbk_x", "session-2", "greet", "{}")
	for request, want := range map[string]string{
		version("2", body(id, "greet", 1)): upgrade("2"), version("0", theirs): upgrade("0"), version("1.5", both): upgrade("1.5"),
		version("-1", gone): upgrade("-1"), version("1e999", gone): upgrade("+Inf"),
		gone: unknown, both: unknown, body("", "greet", 1): unknown, body(id+"0", "greet", 1): unknown,
		body(strings.ToUpper(id), "greet", 1): unknown, theirs: foreign,
		strings.Replace(theirs, id, "", 1): unknown,
	} {
		got := mustPost(t, s, request)
		if got.status != 200 || got.Result.Type != "error" || got.Result.Message != want || strings.Contains(got.text, id) {
			t.Errorf("%s: %d %s, want %q", request, got.status, got.text, want)
		}
	}
}

func TestVersionIsNumber(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, echo)
	if got := mustPost(t, s, strings.Replace(body(id, "greet", 1), `"version":1`, `"version":1.0`, 1)); !got.Result.Success {
		t.Errorf("1.0: %s", got.text)
	}
}

func TestWithoutInvocationIDMeansOnlyPendingCall(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	mustPost := func(t *testing.T, s *Server, body string) reply {
		t.Helper()
		q := validRequest(s, body)
		q.headers = append(q.headers, "Authorization: Bearer "+s.token)
		return sendRaw(t, s, q)
	}
	for _, request := range []string{
		strings.Replace(body("ID", "greet", 5), `"invocation_id":"ID",`, "", 1),
		strings.Replace(body("ID", "greet", 5), `"ID"`, "null", 1),
	} {
		if got := mustPost(t, s, request); got.Result.Message != unknown {
			t.Errorf("none pending: %s", got.text)
		}
		_, unregister := s.Register(t.Context(), Invocation{Dispatch: echo})
		if got := mustPost(t, s, request); got.Result.Text != "greet 5" {
			t.Errorf("one pending: %s", got.text)
		}
		if got := mustPost(t, s, strings.Replace(request, session, "session-2", 1)); got.Result.Type != "error" {
			t.Errorf("one pending, another session: %s", got.text)
		}
		_, other := s.Register(t.Context(), Invocation{Dispatch: echo})
		if got := mustPost(t, s, request); got.Result.Type != "error" || !strings.Contains(got.Result.Message, "invocation_id from _meta.trailblaze") {
			t.Errorf("two pending: %s", got.text)
		}
		other()
		if got := mustPost(t, s, request); got.Result.Text != "greet 5" {
			t.Errorf("one pending again: %s", got.text)
		}
		unregister()
	}
}

func TestUnregisteredIDIsUnknown(t *testing.T) {
	t.Parallel()
	s, other := startServer(t), startServer(t)
	id, unregister := s.Register(t.Context(), Invocation{Dispatch: echo})
	request := body(id, "greet", 1)
	if got := mustPost(t, s, request); got.Result.Text != "greet 1" {
		t.Fatalf("while it is registered: %s", got.text)
	}
	if got := mustPost(t, other, request); got.Result.Message != unknown {
		t.Errorf("at the server of another session: %s", got.text)
	}
	unregister()
	unregister()
	if got := mustPost(t, s, request); got.Result.Message != unknown {
		t.Errorf("after unregister: %s", got.text)
	}
}

func TestUnregisterCancelsAndWaits(t *testing.T) {
	t.Parallel()
	s, tool := startServerWithShortCancel(t), newBlockingTool()
	tool.release = make(chan struct{})
	id, unregister := s.Register(t.Context(), Invocation{Dispatch: tool.call})
	replies := postAsync(t, s, body(id, "greet", 1))
	within(t, "the call", tool.started)
	var released atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		unregister()
		if !released.Load() {
			t.Error("unregister did not wait for the call")
		}
	}()
	tool.wantCause(t, fault.Cancelled, "the call that the callback belongs to has ended")
	got := awaitReply(t, replies) // although the call still runs
	if got.Result.Success || got.Result.Error != "the call that the callback belongs to has ended" {
		t.Errorf("response: %s", got.text)
	}
	released.Store(true)
	close(tool.release)
	within(t, "unregister", ended)
}

func TestCallEndsWithContextOfInvocation(t *testing.T) {
	t.Parallel()
	s, tool := startServer(t), newBlockingTool()
	type key struct{}
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "v"))
	id, unregister := s.Register(ctx, Invocation{Dispatch: func(ctx context.Context, r Request) Response {
		if ctx.Value(key{}) != "v" {
			t.Error("the context has lost its values")
		}
		return tool.call(ctx, r)
	}})
	defer unregister()
	replies := postAsync(t, s, body(id, "greet", 1))
	within(t, "the call", tool.started)
	cancel(fault.New(fault.Timeout, "", "the run takes too long"))
	tool.wantCause(t, fault.Timeout, "the run takes too long")
	if got := awaitReply(t, replies); got.Result.Error != "stopped: the run takes too long" {
		t.Errorf("want the tool's own error, got %s", got.text)
	}
}

func TestCallEndsWithClientConnection(t *testing.T) {
	t.Parallel()
	for name, disconnect := range map[string]func(c net.Conn) error{
		"closed":      net.Conn.Close,
		"half closed": func(c net.Conn) error { return c.(*net.TCPConn).CloseWrite() },
		"reset":       func(c net.Conn) error { return errors.Join(c.(*net.TCPConn).SetLinger(0), c.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tool := startServer(t), newBlockingTool()
			id := register(t, s, tool.call)
			c := dial(t, s)
			_, _ = io.WriteString(c, validRequest(s, body(id, "greet", 1)).String())
			within(t, "the call", tool.started)
			if err := disconnect(c); err != nil {
				t.Fatal(err)
			}
			tool.wantCause(t, fault.Cancelled, "the client closed its connection")
		})
	}
}

const limitText = "no response within 20ms, the limit of a callback (`callbackTimeout` of entry \"shop\" changes it)"

func TestLimitEndsCall(t *testing.T) {
	t.Parallel()
	s, tool := startServer(t), newBlockingTool()
	id, unregister := s.Register(t.Context(), Invocation{Entry: "shop", Limit: 20 * time.Millisecond, Dispatch: tool.call})
	defer unregister()
	got := mustPost(t, s, body(id, "greet", 1))
	if got.Result.Success || got.Result.Error != "stopped: "+limitText {
		t.Errorf("response: %s", got.text)
	}
	tool.wantCause(t, fault.CallTimeout, limitText)
}

func TestLimitEndsCallbackOfToolThatIgnoresCancellation(t *testing.T) {
	t.Parallel()
	s, tool := startServerWithShortCancel(t), newBlockingTool()
	tool.release = make(chan struct{})
	id, unregister := s.Register(t.Context(), Invocation{Entry: "shop", Limit: 20 * time.Millisecond, Dispatch: tool.call})
	got := mustPost(t, s, body(id, "greet", 1))
	if got.Result.Type != "call_tool_result" || got.Result.Success || got.Result.Error != limitText {
		t.Errorf("response: %s", got.text)
	}
	close(tool.release)
	unregister()
}

func TestDefaultLimit(t *testing.T) {
	t.Parallel()
	if DefaultLimit != 30*time.Second {
		t.Errorf("%s", DefaultLimit)
	}
}

func TestPanicIsReported(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, func(_ context.Context, r Request) Response {
		if r.Tool == "bad" {
			panic("out of order")
		}
		return echo(t.Context(), r)
	})
	got := mustPost(t, s, body(id, "bad", 1))
	if got.Result.Success || !strings.Contains(got.Result.Error, "internal error: out of order") ||
		strings.Contains(got.text, "goroutine") {
		t.Errorf("response: %s", got.text)
	}
	if got := mustPost(t, s, body(id, "greet", 1)); got.Result.Text != "greet 1" {
		t.Errorf("after it: %s", got.text)
	}
	if got := mustPost(t, s, body(register(t, s, nil), "greet", 1)); !strings.Contains(got.Result.Error, "internal error") {
		t.Errorf("without a dispatcher: %s", got.text)
	}
}

func TestResponseThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for _, a := range []Response{
		{OK: true, Structured: json.RawMessage(`{"a"`)},
		{
			OK: true, ChangeSize: func() int { return 100 },
			Changes: func() (map[string]any, []string) { return map[string]any{"x": math.NaN()}, nil },
		},
	} {
		got := mustPost(t, s, body(register(t, s, func(context.Context, Request) Response { return a }), "greet", 1))
		if got.Result.Success || !strings.Contains(got.Result.Error, "internal error: the response cannot be encoded") {
			t.Errorf("response: %s", got.text)
		}
	}
}

func TestEveryResponseReachesItsClient(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	const invocations, clients, callbacks = 300, 2, 5
	var wg sync.WaitGroup
	for i := range invocations {
		id := register(t, s, func(_ context.Context, r Request) Response {
			return Response{OK: true, Text: fmt.Sprintf("%d %s %v", i, r.Tool, r.Args["n"])}
		})
		for j := range clients {
			c := client(t) // a shared client opens connections in advance, which are closed when it is slow to use them
			wg.Go(func() {
				for n := j; n < callbacks*clients; n += clients {
					got, err := post(t.Context(), c, s, body(id, "t", n))
					if want := fmt.Sprintf("%d t %d", i, n); err != nil || got.Result.Text != want {
						t.Errorf("want %s, got %v %s", want, err, got.text)
					}
				}
			})
		}
	}
	wg.Wait()
}

// TestNestedCallbacks nests callbacks as deep as the protocol allows; each keeps its client's connection.
func TestNestedCallbacks(t *testing.T) {
	t.Parallel()
	s, c := startServer(t), client(t)
	var deeper func(level int) func(context.Context, Request) Response
	deeper = func(level int) func(context.Context, Request) Response {
		return func(ctx context.Context, _ Request) Response {
			if level == 16 {
				return Response{OK: true, Text: "bottom"}
			}
			id, unregister := s.Register(ctx, Invocation{Dispatch: deeper(level + 1)})
			defer unregister()
			got, err := post(ctx, c, s, body(id, "again", level))
			if err != nil {
				return Response{Error: err.Error()}
			}
			return Response{OK: got.Result.Success, Text: got.Result.Text, Error: got.Result.Error}
		}
	}
	if got := mustPost(t, s, body(register(t, s, deeper(0)), "again", 0)); got.Result.Text != "bottom" {
		t.Errorf("got %s", got.text)
	}
}

func TestCloseEndsCallsAndConnections(t *testing.T) {
	t.Parallel()
	s, err := Listen(session, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := newBlockingTool()
	id, unregister := s.Register(t.Context(), Invocation{Dispatch: tool.call})
	idle, half := dial(t, s), dial(t, s)
	_, _ = io.WriteString(half, "POST /scripting/callback HTTP/1.1\r\n")
	inBody := dial(t, s)
	_, _ = io.WriteString(inBody, strings.TrimSuffix(validRequest(s, body(id, "greet", 1)).String(), "}"))
	replies := postAsync(t, s, body(id, "greet", 1))
	within(t, "the call", tool.started)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { closeServer(t, s) })
	}
	tool.wantCause(t, fault.Cancelled, "the session has ended")
	all.Wait()
	if unauthenticated, authenticated := s.listener.counts(); unauthenticated+authenticated != 0 {
		t.Errorf("%d connections are still open", unauthenticated+authenticated)
	}
	if _, _, problem := s.acquire(message{invocation: &id}); problem != unknown {
		t.Errorf("a request whose body was incomplete: %q", problem)
	}
	awaitReply(t, replies) // a response or an error
	for _, c := range []net.Conn{idle, half, inBody} {
		if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a connection is still open")
		}
	}
	if c, err := net.Dial("tcp", s.hosts[0]); err == nil {
		_ = c.Close()
		t.Error("the server still listens")
	}
	unregister()
	_, unregister = s.Register(t.Context(), Invocation{Dispatch: tool.call})
	unregister()
	closeServer(t, s)
}

// TestCloseWaitsForCallOfEndingInvocation closes the server while another goroutine unregisters the invocation.
func TestCloseWaitsForCallOfEndingInvocation(t *testing.T) {
	t.Parallel()
	s, tool := startServerWithShortCancel(t), newBlockingTool()
	tool.release = make(chan struct{})
	id, unregister := s.Register(t.Context(), Invocation{Dispatch: tool.call})
	replies := postAsync(t, s, body(id, "greet", 1))
	within(t, "the call", tool.started)
	ended, closed := make(chan struct{}), make(chan struct{})
	var released atomic.Bool
	go func() {
		defer close(ended)
		unregister()
	}()
	tool.wantCause(t, fault.Cancelled, "the call that the callback belongs to has ended")
	go func() {
		defer close(closed)
		closeServer(t, s)
		if !released.Load() {
			t.Error("Close did not wait")
		}
	}()
	awaitReply(t, replies)
	select {
	case <-closed:
	case <-time.After(100 * time.Millisecond): // nothing else is left to wait for
	}
	released.Store(true)
	close(tool.release)
	within(t, "unregister", ended)
	within(t, "Close", closed)
}

// TestCloseDuringRequests closes servers while clients connect and post; goleak finds goroutines that are left.
func TestCloseDuringRequests(t *testing.T) {
	t.Parallel()
	for range 20 {
		s, err := Listen(session, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := client(t)
		id, unregister := s.Register(t.Context(), Invocation{Dispatch: echo})
		var wg sync.WaitGroup
		some := make(chan struct{}, 8)
		for n := range 8 {
			wg.Go(func() {
				for {
					got, err := post(t.Context(), c, s, body(id, "greet", n))
					if err != nil || got.Result.Type == "error" {
						return
					}
					if want := fmt.Sprintf("greet %d", n); got.Result.Success && got.Result.Text != want {
						t.Errorf("want %s, got %s", want, got.text)
					}
					select {
					case some <- struct{}{}:
					default:
					}
				}
			})
		}
		within(t, "a response", some)
		closeServer(t, s)
		if unauthenticated, authenticated := s.listener.counts(); unauthenticated+authenticated != 0 {
			t.Errorf("%d connections are still open", unauthenticated+authenticated)
		}
		wg.Wait()
		unregister()
	}
}

//nolint:paralleltest // it uses up the files that other tests need
func TestLimitOfRunningCalls(t *testing.T) {
	s := startServer(t)
	release := make(chan struct{})
	id, unregister := s.Register(t.Context(), Invocation{Dispatch: func(ctx context.Context, _ Request) Response {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return Response{OK: true}
	}})
	defer unregister()
	var wg sync.WaitGroup
	for n := range maxCalls {
		c := client(t)
		wg.Go(func() {
			if got, err := post(t.Context(), c, s, body(id, "wait", n)); err != nil || !got.Result.Success {
				t.Errorf("within the limit: %v %s", err, got.text)
			}
		})
	}
	calls := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.calls
	}
	eventually(t, "all calls", func() bool { return calls() == maxCalls })
	if got := mustPost(t, s, body(id, "wait", 0)); got.Result.Type != "error" || !strings.Contains(got.Result.Message, "1024") {
		t.Errorf("above the limit: %s", got.text)
	}
	close(release)
	wg.Wait()
	if got := mustPost(t, s, body(id, "wait", 0)); !got.Result.Success {
		t.Errorf("afterwards: %s", got.text)
	}
	eventually(t, "few connections are open", func() bool {
		_, authenticated := s.listener.counts()
		return authenticated <= maxKeptAlive+1 // and the one of the last call
	})
}

func TestResponsesContainNoSecrets(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	id := register(t, s, echo)
	fine := body(id, "greet", 1)
	for _, request := range []string{
		fine[:len(fine)-1], fine + id, `"` + id + `"`, strings.Replace(fine, "call_tool", id, 1), strings.Replace(fine, "greet", "", 1),
		strings.Replace(fine, `"version":1`, `"version":"`+id+`"`, 1), strings.Replace(fine, session, id, 1),
		bodyOf(id, session, "greet", id), bodyOf(id, session, "greet", `{"n":`+id), bodyOf(id, session, "greet", `{}`+id),
		strings.Replace(fine, `"action":{`, `"action":{"memory_delta":{"`+id+`":1},`, 1),
		strings.Replace(fine, `"action":{`, `"action":{"memory_delta":"`+id+`",`, 1),
	} {
		got := mustPost(t, s, request)
		if got.Result.Success || strings.Contains(got.text, id) || strings.Contains(got.text, s.token) {
			t.Errorf("%s: %s", request, got.text)
		}
	}
	q := validRequest(s, fine)
	q.target, q.headers = "/"+id, append(q.headers, "Authorization: Bearer "+s.token)
	if got := sendRaw(t, s, q); got.status != http.StatusNotFound || strings.Contains(got.text, id) || strings.Contains(got.text, s.token) {
		t.Errorf("%s", got.text)
	}
}
