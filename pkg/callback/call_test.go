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

// stuck is a tool that waits for the end of its context, and tells of both.
type stuck struct {
	started chan struct{}
	cause   chan error
	release chan struct{} // when not nil, it does not heed its context
}

func newStuck() *stuck {
	return &stuck{started: make(chan struct{}, 1), cause: make(chan error, 1)}
}

func (k *stuck) call(ctx context.Context, _ Request) Answer {
	k.started <- struct{}{}
	<-ctx.Done()
	k.cause <- context.Cause(ctx)
	if k.release != nil {
		<-k.release
	}
	return Answer{Error: "stopped: " + context.Cause(ctx).Error()}
}

// wantCause checks what the tool was told.
func (k *stuck) wantCause(t *testing.T, kind fault.Kind, message string) {
	t.Helper()
	select {
	case err := <-k.cause:
		if fault.KindOf(err) != kind || err.Error() != message {
			t.Errorf("cause %q of kind %q, want %q of kind %q", err, fault.KindOf(err), message, kind)
		}
	case <-time.After(patience):
		t.Errorf("not cancelled within %s", patience)
	}
}

// askLater posts a request from a goroutine; the answer arrives on the channel.
func askLater(t *testing.T, s *Server, request string) <-chan said {
	t.Helper()
	c, answers := client(t), make(chan said, 1)
	ctx := t.Context()
	go func() {
		got, err := ask(ctx, c, s, request)
		if err != nil {
			got.text = err.Error()
		}
		answers <- got
	}()
	return answers
}

func receiveSaid(t *testing.T, answers <-chan said) said {
	t.Helper()
	select {
	case got := <-answers:
		return got
	case <-time.After(patience):
		t.Fatalf("no answer within %s", patience)
		return said{}
	}
}

func TestTheDoorSaysWhereItIs(t *testing.T) {
	t.Parallel()
	s := open(t)
	if s.URL() != fmt.Sprintf("http://127.0.0.1:%d", s.Port()) || s.CallbackURL() != s.URL()+"/scripting/callback" {
		t.Errorf("%s, %s, %d", s.URL(), s.CallbackURL(), s.Port())
	}
	other := open(t)
	if s.Token() == other.Token() || !strings.HasPrefix(s.Token(), tool.CapabilityPrefix) {
		t.Error("the token is not a capability of its own")
	}
}

func TestACallIsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := open(t)
	got := make(chan Request, 1)
	id := begin(t, s, func(_ context.Context, r Request) Answer {
		got <- r
		return Answer{
			OK: true, Text: "<ü> & 𝄞", Structured: json.RawMessage(`{"a":"<b>"}`),
			MemoryDelta: map[string]any{"k": "<v>"}, MemoryDeletions: []string{"d"},
		}
	})
	answer := mustAsk(t, s, fmt.Sprintf(`{"unknown":[{}],"version":1,"session_id":%q,"invocation_id":%q,"Version":"x",
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
	if diff := cmp.Diff(want, <-got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	const text = `{"result":{"type":"call_tool_result","success":true,"text_content":"<ü> & 𝄞","error_message":"",` +
		`"structured_content":{"a":"<b>"},"memory_delta":{"k":"<v>"},"memory_deletions":["d"]}}` + "\n"
	if diff := cmp.Diff(text, answer.text); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestVersionThenInvocationThenSession(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, func(context.Context, Request) Answer {
		t.Error("a tool was called")
		return Answer{}
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
		got := mustAsk(t, s, request)
		if got.status != 200 || got.Result.Type != "error" || got.Result.Message != want || strings.Contains(got.text, id) {
			t.Errorf("%s: %d %s, want %q", request, got.status, got.text, want)
		}
	}
}

func TestAVersionIsANumberHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, echo)
	if got := mustAsk(t, s, strings.Replace(body(id, "greet", 1), `"version":1`, `"version":1.0`, 1)); !got.Result.Success {
		t.Errorf("1.0: %s", got.text)
	}
}

func TestWithoutAnIdTheOneInFlightIsMeant(t *testing.T) {
	t.Parallel()
	s := open(t)
	mustAsk := func(t *testing.T, s *Server, body string) said {
		t.Helper()
		k := good(s, body)
		k.headers = append(k.headers, "Authorization: Bearer "+s.token)
		return send(t, s, k)
	}
	for _, request := range []string{
		strings.Replace(body("ID", "greet", 5), `"invocation_id":"ID",`, "", 1),
		strings.Replace(body("ID", "greet", 5), `"ID"`, "null", 1),
	} {
		if got := mustAsk(t, s, request); got.Result.Message != unknown {
			t.Errorf("none in flight: %s", got.text)
		}
		_, end := s.Begin(t.Context(), Invocation{Dispatch: echo})
		if got := mustAsk(t, s, request); got.Result.Text != "greet 5" {
			t.Errorf("one in flight: %s", got.text)
		}
		if got := mustAsk(t, s, strings.Replace(request, session, "session-2", 1)); got.Result.Type != "error" {
			t.Errorf("one in flight, another session: %s", got.text)
		}
		_, other := s.Begin(t.Context(), Invocation{Dispatch: echo})
		if got := mustAsk(t, s, request); got.Result.Type != "error" || !strings.Contains(got.Result.Message, "invocation_id from _meta.trailblaze") {
			t.Errorf("two in flight: %s", got.text)
		}
		other()
		if got := mustAsk(t, s, request); got.Result.Text != "greet 5" {
			t.Errorf("one again: %s", got.text)
		}
		end()
	}
}

func TestAnIdIsWorthNothingAfterItsEnd(t *testing.T) {
	t.Parallel()
	s, other := open(t), open(t)
	id, end := s.Begin(t.Context(), Invocation{Dispatch: echo})
	request := body(id, "greet", 1)
	if got := mustAsk(t, s, request); got.Result.Text != "greet 1" {
		t.Fatalf("while it runs: %s", got.text)
	}
	if got := mustAsk(t, other, request); got.Result.Message != unknown {
		t.Errorf("at the door of another session: %s", got.text)
	}
	end()
	end()
	if got := mustAsk(t, s, request); got.Result.Message != unknown {
		t.Errorf("after its end: %s", got.text)
	}
}

func TestTheEndCancelsAndWaits(t *testing.T) {
	t.Parallel()
	s, tool := open(t), newStuck()
	tool.release = make(chan struct{})
	id, end := s.Begin(t.Context(), Invocation{Dispatch: tool.call})
	answers := askLater(t, s, body(id, "greet", 1))
	within(t, "the call", tool.started)
	var released atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		end()
		if !released.Load() {
			t.Error("end did not wait for the call")
		}
	}()
	tool.wantCause(t, fault.Cancelled, "the call that asked has ended")
	got := receiveSaid(t, answers) // although the call still runs
	if got.Result.Success || got.Result.Error != "the call that asked has ended" {
		t.Errorf("answer: %s", got.text)
	}
	released.Store(true)
	close(tool.release)
	within(t, "end", ended)
}

func TestACallEndsWithTheContextOfItsInvocation(t *testing.T) {
	t.Parallel()
	s, tool := open(t), newStuck()
	type key struct{}
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "v"))
	id, end := s.Begin(ctx, Invocation{Dispatch: func(ctx context.Context, r Request) Answer {
		if ctx.Value(key{}) != "v" {
			t.Error("the values of the context are lost")
		}
		return tool.call(ctx, r)
	}})
	defer end()
	answers := askLater(t, s, body(id, "greet", 1))
	within(t, "the call", tool.started)
	cancel(fault.New(fault.Timeout, "", "the run takes too long"))
	tool.wantCause(t, fault.Timeout, "the run takes too long")
	if got := receiveSaid(t, answers); got.Result.Error != "stopped: the run takes too long" {
		t.Errorf("a prompt call has the word, got %s", got.text)
	}
}

func TestACallEndsWithTheConnectionOfItsAsker(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(c net.Conn) error{
		"closed":      net.Conn.Close,
		"half closed": func(c net.Conn) error { return c.(*net.TCPConn).CloseWrite() },
		"reset":       func(c net.Conn) error { return errors.Join(c.(*net.TCPConn).SetLinger(0), c.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tool := open(t), newStuck()
			id := begin(t, s, tool.call)
			c := dial(t, s)
			_, _ = io.WriteString(c, good(s, body(id, "greet", 1)).String())
			within(t, "the call", tool.started)
			if err := leave(c); err != nil {
				t.Fatal(err)
			}
			tool.wantCause(t, fault.Cancelled, "the asker closed its connection")
		})
	}
}

const limitText = "no answer within 20ms, the limit of a callback (`callbackTimeout` of entry \"shop\" changes it)"

func TestTheLimitEndsACallThatHeedsIt(t *testing.T) {
	t.Parallel()
	s, tool := open(t), newStuck()
	id, end := s.Begin(t.Context(), Invocation{Entry: "shop", Limit: 20 * time.Millisecond, Dispatch: tool.call})
	defer end()
	got := mustAsk(t, s, body(id, "greet", 1))
	if got.Result.Success || got.Result.Error != "stopped: "+limitText {
		t.Errorf("answer: %s", got.text)
	}
	tool.wantCause(t, fault.CallTimeout, limitText)
}

func TestTheLimitAnswersForACallThatDoesNotHeedIt(t *testing.T) {
	t.Parallel()
	s, tool := open(t), newStuck()
	tool.release = make(chan struct{})
	id, end := s.Begin(t.Context(), Invocation{Entry: "shop", Limit: 20 * time.Millisecond, Dispatch: tool.call})
	got := mustAsk(t, s, body(id, "greet", 1))
	if got.Result.Type != "call_tool_result" || got.Result.Success || got.Result.Error != limitText {
		t.Errorf("answer: %s", got.text)
	}
	close(tool.release)
	end()
}

func TestThirtySecondsUnlessSaid(t *testing.T) {
	t.Parallel()
	if DefaultLimit != 30*time.Second {
		t.Errorf("%s", DefaultLimit)
	}
}

func TestAPanicIsAnAnswer(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, func(_ context.Context, r Request) Answer {
		if r.Tool == "bad" {
			panic("out of order")
		}
		return echo(t.Context(), r)
	})
	got := mustAsk(t, s, body(id, "bad", 1))
	if got.Result.Success || !strings.Contains(got.Result.Error, "internal error: out of order") ||
		strings.Contains(got.text, "goroutine") {
		t.Errorf("answer: %s", got.text)
	}
	if got := mustAsk(t, s, body(id, "greet", 1)); got.Result.Text != "greet 1" {
		t.Errorf("after it: %s", got.text)
	}
	if got := mustAsk(t, s, body(begin(t, s, nil), "greet", 1)); !strings.Contains(got.Result.Error, "internal error") {
		t.Errorf("without a dispatcher: %s", got.text)
	}
}

func TestAnAnswerThatIsNoJSONFails(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, a := range []Answer{
		{OK: true, Structured: json.RawMessage(`{"a"`)},
		{OK: true, MemoryDelta: map[string]any{"x": math.NaN()}},
	} {
		got := mustAsk(t, s, body(begin(t, s, func(context.Context, Request) Answer { return a }), "greet", 1))
		if got.Result.Success || !strings.Contains(got.Result.Error, "internal error: the answer cannot be written") {
			t.Errorf("answer: %s", got.text)
		}
	}
}

func TestEveryAnswerReachesItsAsker(t *testing.T) {
	t.Parallel()
	s := open(t)
	const invocations, askers, callbacks = 300, 2, 5
	var wg sync.WaitGroup
	for i := range invocations {
		id := begin(t, s, func(_ context.Context, r Request) Answer {
			return Answer{OK: true, Text: fmt.Sprintf("%d %s %v", i, r.Tool, r.Args["n"])}
		})
		for j := range askers {
			c := client(t) // of its own: a shared one opens connections in advance, and finds them closed when it is slow to use them
			wg.Go(func() {
				for n := j; n < callbacks*askers; n += askers {
					got, err := ask(t.Context(), c, s, body(id, "t", n))
					if want := fmt.Sprintf("%d t %d", i, n); err != nil || got.Result.Text != want {
						t.Errorf("want %s, got %v %s", want, err, got.text)
					}
				}
			})
		}
	}
	wg.Wait()
}

// TestACallMayAskAgain nests callbacks as deep as the protocol lets them, each holding its asker's connection.
func TestACallMayAskAgain(t *testing.T) {
	t.Parallel()
	s, c := open(t), client(t)
	var deeper func(level int) func(context.Context, Request) Answer
	deeper = func(level int) func(context.Context, Request) Answer {
		return func(ctx context.Context, _ Request) Answer {
			if level == 16 {
				return Answer{OK: true, Text: "bottom"}
			}
			id, end := s.Begin(ctx, Invocation{Dispatch: deeper(level + 1)})
			defer end()
			got, err := ask(ctx, c, s, body(id, "again", level))
			if err != nil {
				return Answer{Error: err.Error()}
			}
			return Answer{OK: got.Result.Success, Text: got.Result.Text, Error: got.Result.Error}
		}
	}
	if got := mustAsk(t, s, body(begin(t, s, deeper(0)), "again", 0)); got.Result.Text != "bottom" {
		t.Errorf("got %s", got.text)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	s, err := Listen(session)
	if err != nil {
		t.Fatal(err)
	}
	tool := newStuck()
	id, end := s.Begin(t.Context(), Invocation{Dispatch: tool.call})
	idle, half := dial(t, s), dial(t, s)
	_, _ = io.WriteString(half, "POST /scripting/callback HTTP/1.1\r\n")
	inBody := dial(t, s)
	_, _ = io.WriteString(inBody, strings.TrimSuffix(good(s, body(id, "greet", 1)).String(), "}"))
	answers := askLater(t, s, body(id, "greet", 1))
	within(t, "the call", tool.started)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { shut(t, s) })
	}
	tool.wantCause(t, fault.Cancelled, "the session has ended")
	all.Wait()
	if strangers, known := s.gate.counts(); strangers+known != 0 {
		t.Errorf("%d connections are still served", strangers+known)
	}
	if _, _, why := s.board(question{invocation: &id}); why != unknown {
		t.Errorf("a request that was still being read: %q", why)
	}
	receiveSaid(t, answers) // an answer or an error, but no hanging
	for _, c := range []net.Conn{idle, half, inBody} {
		if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("a connection is still open")
		}
	}
	if c, err := net.Dial("tcp", s.hosts[0]); err == nil {
		_ = c.Close()
		t.Error("the door is still open")
	}
	end()
	_, late := s.Begin(t.Context(), Invocation{Dispatch: tool.call})
	late()
	shut(t, s)
}

// TestCloseWaitsForACallWhoseInvocationIsEnding closes while another goroutine is inside end.
func TestCloseWaitsForACallWhoseInvocationIsEnding(t *testing.T) {
	t.Parallel()
	s, tool := open(t), newStuck()
	tool.release = make(chan struct{})
	id, end := s.Begin(t.Context(), Invocation{Dispatch: tool.call})
	answers := askLater(t, s, body(id, "greet", 1))
	within(t, "the call", tool.started)
	ended, closed := make(chan struct{}), make(chan struct{})
	var released atomic.Bool
	go func() {
		defer close(ended)
		end()
	}()
	tool.wantCause(t, fault.Cancelled, "the call that asked has ended")
	go func() {
		defer close(closed)
		shut(t, s)
		if !released.Load() {
			t.Error("Close did not wait")
		}
	}()
	receiveSaid(t, answers)
	select {
	case <-closed:
	case <-time.After(promptTime): // nothing else is left to wait for
	}
	released.Store(true)
	close(tool.release)
	within(t, "end", ended)
	within(t, "Close", closed)
}

// TestCloseWhileManyAsk looks for what is left over when requests, connections and the end meet; goleak judges.
func TestCloseWhileManyAsk(t *testing.T) {
	t.Parallel()
	for range 20 {
		s, err := Listen(session)
		if err != nil {
			t.Fatal(err)
		}
		c := client(t)
		id, end := s.Begin(t.Context(), Invocation{Dispatch: echo})
		var wg sync.WaitGroup
		some := make(chan struct{}, 8)
		for n := range 8 {
			wg.Go(func() {
				for {
					got, err := ask(t.Context(), c, s, body(id, "greet", n))
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
		within(t, "some answers", some)
		shut(t, s)
		if strangers, known := s.gate.counts(); strangers+known != 0 {
			t.Errorf("%d connections are still served", strangers+known)
		}
		wg.Wait()
		end()
	}
}

//nolint:paralleltest // it takes the files that other tests need
func TestMoreCallsThanASessionRunsAreRefused(t *testing.T) {
	s := open(t)
	release := make(chan struct{})
	id, end := s.Begin(t.Context(), Invocation{Dispatch: func(ctx context.Context, _ Request) Answer {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return Answer{OK: true}
	}})
	defer end()
	var wg sync.WaitGroup
	for n := range maxCalls {
		c := client(t)
		wg.Go(func() {
			if got, err := ask(t.Context(), c, s, body(id, "wait", n)); err != nil || !got.Result.Success {
				t.Errorf("within the bound: %v %s", err, got.text)
			}
		})
	}
	calls := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.calls
	}
	eventually(t, "all calls", func() bool { return calls() == maxCalls })
	if got := mustAsk(t, s, body(id, "wait", 0)); got.Result.Type != "error" || !strings.Contains(got.Result.Message, "1024") {
		t.Errorf("one more: %s", got.text)
	}
	close(release)
	wg.Wait()
	if got := mustAsk(t, s, body(id, "wait", 0)); !got.Result.Success {
		t.Errorf("afterwards: %s", got.text)
	}
	eventually(t, "few connections", func() bool {
		s.gate.mu.Lock()
		defer s.gate.mu.Unlock()
		return s.gate.known <= maxKept+1 // and the one of the last call
	})
}

func TestSecretsAreInNoAnswer(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := begin(t, s, echo)
	fine := body(id, "greet", 1)
	for _, request := range []string{
		fine[:len(fine)-1], fine + id, `"` + id + `"`, strings.Replace(fine, "call_tool", id, 1), strings.Replace(fine, "greet", "", 1),
		strings.Replace(fine, `"version":1`, `"version":"`+id+`"`, 1), strings.Replace(fine, session, id, 1),
		bodyOf(id, session, "greet", id), bodyOf(id, session, "greet", `{"n":`+id), bodyOf(id, session, "greet", `{}`+id),
		strings.Replace(fine, `"action":{`, `"action":{"memory_delta":{"`+id+`":1},`, 1),
		strings.Replace(fine, `"action":{`, `"action":{"memory_delta":"`+id+`",`, 1),
	} {
		got := mustAsk(t, s, request)
		if got.Result.Success || strings.Contains(got.text, id) || strings.Contains(got.text, s.token) {
			t.Errorf("%s: %s", request, got.text)
		}
	}
	k := good(s, fine)
	k.target, k.headers = "/"+id, append(k.headers, "Authorization: Bearer "+s.token)
	if got := send(t, s, k); got.status != http.StatusNotFound || strings.Contains(got.text, id) || strings.Contains(got.text, s.token) {
		t.Errorf("%s", got.text)
	}
}
