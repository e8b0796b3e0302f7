package cdp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/cdp"
)

// waitLimit bounds every wait of a test.
const waitLimit = 10 * time.Second

// fakeBrowser is a transport whose other end is a test.
type fakeBrowser struct {
	t      *testing.T
	in     chan []byte // messages that the connection wrote
	out    chan []byte // messages for the connection to read
	closed chan struct{}
	once   sync.Once
}

func connect(t *testing.T) (*fakeBrowser, *cdp.Conn) {
	t.Helper()
	b := &fakeBrowser{t: t, in: make(chan []byte, 100), out: make(chan []byte, 100), closed: make(chan struct{})}
	conn := cdp.NewConn(b)
	t.Cleanup(func() { _ = conn.Close() })
	return b, conn
}

func (b *fakeBrowser) Read(func([]byte) int) ([]byte, error) {
	select {
	case data, ok := <-b.out:
		if !ok {
			return nil, io.EOF
		}
		return data, nil
	case <-b.closed:
		return nil, io.ErrClosedPipe
	}
}

func (b *fakeBrowser) Write(data []byte) error {
	select {
	case b.in <- data:
		return nil
	case <-b.closed:
		return io.ErrClosedPipe
	}
}

func (b *fakeBrowser) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

type request struct {
	ID        int64
	SessionID string
	Method    string
	Params    json.RawMessage
}

func (b *fakeBrowser) received() request {
	b.t.Helper()
	select {
	case data := <-b.in:
		var r request
		if err := json.Unmarshal(data, &r); err != nil {
			b.t.Fatal(err)
		}
		return r
	case <-time.After(waitLimit):
		b.t.Fatal("no message was written")
		return request{}
	}
}

func (b *fakeBrowser) respond(message string) { b.out <- []byte(message) }

func wait(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(waitLimit):
		t.Fatal("timed out waiting for " + what)
	}
}

func TestResponsesMayComeInAnyOrder(t *testing.T) {
	t.Parallel()
	b, conn := connect(t)
	page := conn.Session("P")
	one := conn.Browser().Send("A.one", map[string]int{"n": 1})
	two := page.Send("B.two", nil)
	first, second := b.received(), b.received()
	if diff := cmp.Diff(request{1, "", "A.one", json.RawMessage(`{"n":1}`)}, first); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(request{2, "P", "B.two", nil}, second); diff != "" {
		t.Error(diff)
	}
	b.respond(`{"id":2,"sessionId":"P","result":{"v":"zwei","unknownField":{}}}`)
	b.respond(`{"id":1,"result":{"v":"eins"}}`)
	var got [2]struct{ V string }
	if err := errors.Join(one(t.Context(), &got[0]), two(t.Context(), &got[1])); err != nil {
		t.Fatal(err)
	}
	if got[0].V != "eins" || got[1].V != "zwei" {
		t.Errorf("got %v", got)
	}
}

func TestCallReturnsErrorOfBrowser(t *testing.T) {
	t.Parallel()
	b, conn := connect(t)
	response := conn.Browser().Send("A.b", nil)
	b.respond(`{"id":1,"error":{"code":-32000,"message":"no such node","data":[1]}}`)
	err := response(t.Context(), nil)
	refused, ok := errors.AsType[*cdp.Error](err)
	if !ok || *refused != (cdp.Error{Code: -32000, Message: "no such node"}) || err.Error() != "A.b: no such node" {
		t.Errorf("got %v", err)
	}
	response = conn.Session("old").Send("A.b", nil)
	b.respond(`{"id":2,"error":{"code":-32001,"message":"Session with given id not found."}}`)
	if err := response(t.Context(), nil); !errors.Is(err, cdp.ErrDetached) {
		t.Errorf("an unknown session: got %v", err)
	}
}

func TestCallEndsWithContextSessionOrConnection(t *testing.T) {
	t.Parallel()
	cause := errors.New("cancelled")
	for name, c := range map[string]struct {
		end  func(b *fakeBrowser, cancel context.CancelCauseFunc, conn *cdp.Conn)
		want error
	}{
		"context": {func(_ *fakeBrowser, cancel context.CancelCauseFunc, _ *cdp.Conn) { cancel(cause) }, cause},
		"session": {func(b *fakeBrowser, _ context.CancelCauseFunc, _ *cdp.Conn) {
			b.respond(`{"method":"Target.detachedFromTarget","params":{"sessionId":"P","targetId":"T"}}`)
		}, cdp.ErrDetached},
		"browser": {func(b *fakeBrowser, _ context.CancelCauseFunc, _ *cdp.Conn) { close(b.out) }, io.EOF},
		"close": {
			func(_ *fakeBrowser, _ context.CancelCauseFunc, conn *cdp.Conn) { _ = conn.Close() },
			cdp.ErrClosed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, conn := connect(t)
			page := conn.Session("P")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			response := make(chan error, 1)
			go func() { response <- page.Call(ctx, "Page.hang", nil, nil) }()
			b.received()
			c.end(b, cancel, conn)
			select {
			case err := <-response:
				if !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "Page.hang: ") {
					t.Errorf("got %v, want %v", err, c.want)
				}
			case <-time.After(waitLimit):
				t.Fatal("the call did not end")
			}
			if name == "context" {
				return
			}
			wait(t, "the end of the session", page.Done())
			if err := page.Call(t.Context(), "Page.late", nil, nil); !errors.Is(err, c.want) {
				t.Errorf("a later call: got %v, want %v", err, c.want)
			}
		})
	}
}

func TestConnReportsWhyItEnded(t *testing.T) {
	t.Parallel()
	b, conn := connect(t)
	if conn.Err() != nil {
		t.Error("an error before the end")
	}
	close(b.out)
	wait(t, "the end", conn.Done())
	if !errors.Is(conn.Err(), io.EOF) {
		t.Errorf("got %v", conn.Err())
	}
	wait(t, "the end of a new session", conn.Session("new").Done())
	if err := conn.Close(); err != nil || !errors.Is(conn.Err(), io.EOF) {
		t.Errorf("closing afterwards: %v, and then %v", err, conn.Err())
	}
}

// unwritable is a transport whose writes fail and whose reads end when the test says so.
type unwritable struct {
	failed  chan struct{}
	endRead chan struct{}
}

func (s *unwritable) Read(func([]byte) int) ([]byte, error) {
	<-s.endRead
	return nil, io.EOF
}

func (s *unwritable) Write([]byte) error { return io.ErrClosedPipe }

func (s *unwritable) Close() error {
	close(s.failed)
	return nil
}

func TestCallsAndSessionsEndAfterConn(t *testing.T) {
	t.Parallel()
	b := &unwritable{make(chan struct{}), make(chan struct{})}
	conn := cdp.NewConn(b)
	conn.Browser().Send("A.one", nil)
	wait(t, "the failure", b.failed)
	late, session := conn.Browser().Send("A.two", nil), conn.Session("P")
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	early := late(soon, nil)
	select {
	case <-session.Done():
		early = errors.Join(early, errors.New("a session"))
	default:
	}
	if conn.Err() != nil || !errors.Is(early, context.DeadlineExceeded) {
		t.Errorf("ended before the connection: %v", early)
	}
	close(b.endRead)
	wait(t, "the session", session.Done())
	if err := conn.Err(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the connection ended with %v", err)
	}
}

func TestListenersReceiveEventsOfTheirSessionInOrder(t *testing.T) {
	t.Parallel()
	b, conn := connect(t)
	var received []string
	done := make(chan struct{})
	note := func(who string) func(cdp.Event) {
		return func(e cdp.Event) {
			var p struct{ N int }
			_ = e.Decode(&p)
			received = append(received, fmt.Sprint(who, " ", e.Method, " ", p.N))
		}
	}
	conn.Browser().Listen(note("browser"))
	stop := conn.Session("P").Listen(note("stopped"))
	stop()
	conn.Browser().Listen(func(e cdp.Event) {
		switch e.Method {
		case "Target.attachedToTarget": // the first event of the session follows at once
			conn.Session("P").Listen(note("page"))
		case "done":
			close(done)
		}
	})
	b.respond(`{"method":"Target.attachedToTarget","params":{"n":1}}`)
	b.respond(`{"method":"A.a","sessionId":"P","params":{"n":2}}`)
	b.respond(`{"method":"A.b","sessionId":"P","params":{"n":3}}`)
	b.respond(`{"method":"A.c","sessionId":"unknown","params":{"n":4}}`)
	b.respond(`not JSON at all`)
	b.respond(`{"id":77,"result":{}}`)
	b.respond(`{"method":"A.d"}`)
	b.respond(`{"method":"done"}`)
	wait(t, "the events", done)
	want := []string{"browser Target.attachedToTarget 1", "page A.a 2", "page A.b 3", "browser A.d 0", "browser done 0"}
	if diff := cmp.Diff(want, received); diff != "" {
		t.Error(diff)
	}
}

func TestSendDoesNotBlockOnBrowserThatDoesNotRead(t *testing.T) {
	t.Parallel()
	r, theirs := io.Pipe()
	_, w := io.Pipe() // no reader
	conn := cdp.NewConn(cdp.Pipes(r, w))
	defer theirs.Close()
	for range 10_000 {
		conn.Browser().Send("A.b", nil)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := conn.Browser().Call(ctx, "A.b", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func TestLoneSurrogatesBecomeReplacementCharacters(t *testing.T) {
	t.Parallel()
	b, conn := connect(t)
	response := conn.Browser().Send("A.b", map[string]string{"sent": "broken \xff"})
	if got := string(b.received().Params); got != "{\"sent\":\"broken \\ufffd\"}" {
		t.Errorf("sent %s", got)
	}
	b.respond(`{"id":1,"result":{"text":"a\ud83dz \ud83d\ude00"}}`)
	var got struct{ Text string }
	if err := response(t.Context(), &got); err != nil || got.Text != "a\uFFFDz 😀" {
		t.Errorf("got %q, %v", got.Text, err)
	}
}

func unlimited([]byte) int { return math.MaxInt }

func TestTooLargeMessagesAreDiscarded(t *testing.T) {
	t.Parallel()
	r, theirs := io.Pipe()
	ours, w := io.Pipe()
	conn := cdp.NewConn(cdp.Pipes(r, w))
	defer func() { _ = conn.Close() }()
	events := make(chan string, 10)
	conn.Browser().Listen(func(e cdp.Event) { events <- e.Method })
	requests := bufio.NewReader(ours)
	one, two := make(chan error, 1), make(chan error, 1)
	var got struct{ V string }
	go func() { one <- conn.Browser().CallLimited(t.Context(), 1000, "A.one", nil, nil) }()
	_, _ = requests.ReadString(0)
	go func() { two <- conn.Browser().Call(t.Context(), "A.two", nil, &got) }()
	_, _ = requests.ReadString(0)
	long := strings.Repeat("x", 9<<20)
	for _, message := range []string{
		`{"method":"A.large","params":{"v":"` + long + `"}}`, `{"id":1,"result":{"v":"` + long + `"}}`,
		`{"method":"A.small"}`, `{"id":2,"result":{"v":"` + long + `"}}`,
	} {
		if _, err := io.WriteString(theirs, message+"\x00"); err != nil {
			t.Fatal(err)
		}
	}
	tooLarge, ok := errors.AsType[*cdp.TooLargeError](<-one)
	if !ok || tooLarge.Size <= int64(len(long)) || tooLarge.Limit != 1000 {
		t.Errorf("got %+v", tooLarge)
	}
	if err := <-two; err != nil || got.V != long {
		t.Errorf("got %d bytes, %v", len(got.V), err)
	}
	if first := <-events; first != "A.small" {
		t.Errorf("received %s", first)
	}
}

func TestPipesReadMessagesInAnyChunks(t *testing.T) {
	t.Parallel()
	r, theirs := io.Pipe()
	ours, w := io.Pipe()
	transport := cdp.Pipes(r, w)
	large := strings.Repeat("ü", 1<<20)
	go func() {
		for _, part := range []string{"a\x00", "b", "c\x00", large, "\x00\x00d"} {
			_, _ = io.WriteString(theirs, part)
		}
		_ = theirs.Close()
	}()
	for _, want := range []string{"a", "bc", large, ""} {
		if got, err := transport.Read(unlimited); err != nil || string(got) != want {
			t.Errorf("read %d bytes, want %d; %v", len(got), len(want), err)
		}
	}
	if got, err := transport.Read(unlimited); err == nil {
		t.Errorf("read %q, of a message without an end", got)
	}
	go func() { _ = transport.Write([]byte("hello")) }()
	got := make([]byte, 6)
	if _, err := io.ReadFull(ours, got); err != nil || string(got) != "hello\x00" {
		t.Errorf("wrote %q, %v", got, err)
	}
	if err := transport.Close(); err != nil {
		t.Error(err)
	}
}
