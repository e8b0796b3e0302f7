package cdp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/cdp"
)

const patience = 10 * time.Second

// browser is the other end of a transport, played by a test.
type browser struct {
	t      *testing.T
	in     chan []byte // what we say
	out    chan []byte // what it says
	closed chan struct{}
	once   sync.Once
}

func connect(t *testing.T) (*browser, *cdp.Conn) {
	t.Helper()
	b := &browser{t: t, in: make(chan []byte, 100), out: make(chan []byte, 100), closed: make(chan struct{})}
	conn := cdp.NewConn(b)
	t.Cleanup(func() { _ = conn.Close() })
	return b, conn
}

func (b *browser) Read() ([]byte, error) {
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

func (b *browser) Write(data []byte) error {
	select {
	case b.in <- data:
		return nil
	case <-b.closed:
		return io.ErrClosedPipe
	}
}

func (b *browser) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

type request struct {
	ID        int64
	SessionID string
	Method    string
	Params    json.RawMessage
}

func (b *browser) hear() request {
	b.t.Helper()
	select {
	case data := <-b.in:
		var r request
		if err := json.Unmarshal(data, &r); err != nil {
			b.t.Fatal(err)
		}
		return r
	case <-time.After(patience):
		b.t.Fatal("nothing was sent")
		return request{}
	}
}

func (b *browser) say(message string) { b.out <- []byte(message) }

func wait(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("waited too long for " + what)
	}
}

func TestCallsGetTheirOwnAnswerInAnyOrder(t *testing.T) {
	t.Parallel()
	b, conn := connect(t)
	page := conn.Session("P")
	one := conn.Browser().Begin("A.one", map[string]int{"n": 1})
	two := page.Begin("B.two", nil)
	first, second := b.hear(), b.hear()
	if diff := cmp.Diff(request{1, "", "A.one", json.RawMessage(`{"n":1}`)}, first); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(request{2, "P", "B.two", nil}, second); diff != "" {
		t.Error(diff)
	}
	b.say(`{"id":2,"sessionId":"P","result":{"v":"zwei","unheardOf":{}}}`)
	b.say(`{"id":1,"result":{"v":"eins"}}`)
	var got [2]struct{ V string }
	if err := errors.Join(one(t.Context(), &got[0]), two(t.Context(), &got[1])); err != nil {
		t.Fatal(err)
	}
	if got[0].V != "eins" || got[1].V != "zwei" {
		t.Errorf("got %v", got)
	}
}

func TestWhatTheBrowserRefusesIsAnError(t *testing.T) {
	t.Parallel()
	b, conn := connect(t)
	answer := conn.Browser().Begin("A.b", nil)
	b.say(`{"id":1,"error":{"code":-32000,"message":"no such node","data":[1]}}`)
	err := answer(t.Context(), nil)
	refused, ok := errors.AsType[*cdp.Error](err)
	if !ok || *refused != (cdp.Error{Code: -32000, Message: "no such node"}) || err.Error() != "A.b: no such node" {
		t.Errorf("got %v", err)
	}
	answer = conn.Session("old").Begin("A.b", nil)
	b.say(`{"id":2,"error":{"code":-32001,"message":"Session with given id not found."}}`)
	if err := answer(t.Context(), nil); !errors.Is(err, cdp.ErrDetached) {
		t.Errorf("got %v of a session that the browser does not know", err)
	}
}

func TestACallEndsWithItsContextItsSessionAndItsConnection(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	for name, c := range map[string]struct {
		end  func(b *browser, cancel context.CancelCauseFunc, conn *cdp.Conn)
		want error
	}{
		"context": {func(_ *browser, cancel context.CancelCauseFunc, _ *cdp.Conn) { cancel(cause) }, cause},
		"session": {func(b *browser, _ context.CancelCauseFunc, _ *cdp.Conn) {
			b.say(`{"method":"Target.detachedFromTarget","params":{"sessionId":"P","targetId":"T"}}`)
		}, cdp.ErrDetached},
		"browser": {func(b *browser, _ context.CancelCauseFunc, _ *cdp.Conn) { close(b.out) }, io.EOF},
		"close":   {func(_ *browser, _ context.CancelCauseFunc, conn *cdp.Conn) { _ = conn.Close() }, cdp.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, conn := connect(t)
			page := conn.Session("P")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			answer := make(chan error, 1)
			go func() { answer <- page.Call(ctx, "Page.hang", nil, nil) }()
			b.hear()
			c.end(b, cancel, conn)
			select {
			case err := <-answer:
				if !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "Page.hang: ") {
					t.Errorf("got %v, want %v", err, c.want)
				}
			case <-time.After(patience):
				t.Fatal("the call goes on")
			}
			if name == "context" {
				return
			}
			wait(t, "the session's end", page.Done())
			if err := page.Call(t.Context(), "Page.late", nil, nil); !errors.Is(err, c.want) {
				t.Errorf("a later call: got %v, want %v", err, c.want)
			}
		})
	}
}

func TestAnEndedConnectionSaysWhy(t *testing.T) {
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
	wait(t, "the end of a session that nobody had", conn.Session("new").Done())
	if err := conn.Close(); err != nil || !errors.Is(conn.Err(), io.EOF) {
		t.Errorf("closing afterwards: %v, and then %v", err, conn.Err())
	}
}

// stubborn is a browser that is written to in vain, and from which an answer may come long after that.
type stubborn struct {
	failed chan struct{}
	let    chan struct{}
}

func (s *stubborn) Read() ([]byte, error) {
	<-s.let
	return nil, io.EOF
}

func (s *stubborn) Write([]byte) error { return io.ErrClosedPipe }

func (s *stubborn) Close() error {
	close(s.failed)
	return nil
}

func TestNothingEndsBeforeTheConnectionCanSayWhy(t *testing.T) {
	t.Parallel()
	b := &stubborn{make(chan struct{}), make(chan struct{})}
	conn := cdp.NewConn(b)
	conn.Browser().Begin("A.one", nil)
	wait(t, "the failure", b.failed)
	late, session := conn.Browser().Begin("A.two", nil), conn.Session("P")
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
	close(b.let)
	wait(t, "the session", session.Done())
	if err := conn.Err(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the connection ended with %v", err)
	}
}

func TestEventsReachTheListenersOfTheirSessionInOrder(t *testing.T) {
	t.Parallel()
	b, conn := connect(t)
	var heard []string
	done := make(chan struct{})
	note := func(who string) func(cdp.Event) {
		return func(e cdp.Event) {
			var p struct{ N int }
			_ = e.Decode(&p)
			heard = append(heard, fmt.Sprint(who, " ", e.Method, " ", p.N))
		}
	}
	conn.Browser().Listen(note("browser"))
	stop := conn.Session("P").Listen(note("stopped"))
	stop()
	conn.Browser().Listen(func(e cdp.Event) {
		switch e.Method {
		case "Target.attachedToTarget": // the session's first event follows at once
			conn.Session("P").Listen(note("page"))
		case "done":
			close(done)
		}
	})
	b.say(`{"method":"Target.attachedToTarget","params":{"n":1}}`)
	b.say(`{"method":"A.a","sessionId":"P","params":{"n":2}}`)
	b.say(`{"method":"A.b","sessionId":"P","params":{"n":3}}`)
	b.say(`{"method":"A.c","sessionId":"stranger","params":{"n":4}}`)
	b.say(`not JSON at all`)
	b.say(`{"id":77,"result":{}}`)
	b.say(`{"method":"A.d"}`)
	b.say(`{"method":"done"}`)
	wait(t, "the events", done)
	want := []string{"browser Target.attachedToTarget 1", "page A.a 2", "page A.b 3", "browser A.d 0", "browser done 0"}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Error(diff)
	}
}

func TestBeginNeverWaitsForABrowserThatDoesNotRead(t *testing.T) {
	t.Parallel()
	r, theirs := io.Pipe()
	_, w := io.Pipe() // nobody reads
	conn := cdp.NewConn(cdp.Pipes(r, w))
	defer theirs.Close()
	for range 10_000 {
		conn.Browser().Begin("A.b", nil)
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

func TestLoneSurrogatesArriveAsReplacementCharacters(t *testing.T) {
	t.Parallel()
	b, conn := connect(t)
	answer := conn.Browser().Begin("A.b", map[string]string{"sent": "broken \xff"})
	if got := string(b.hear().Params); got != "{\"sent\":\"broken \\ufffd\"}" {
		t.Errorf("sent %s", got)
	}
	b.say(`{"id":1,"result":{"text":"a\ud83dz \ud83d\ude00"}}`)
	var got struct{ Text string }
	if err := answer(t.Context(), &got); err != nil || got.Text != "a\uFFFDz 😀" {
		t.Errorf("got %q, %v", got.Text, err)
	}
}

func TestPipesCarryMessagesOfAnySizeSplitAnywhere(t *testing.T) {
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
		if got, err := transport.Read(); err != nil || string(got) != want {
			t.Errorf("read %d bytes, want %d; %v", len(got), len(want), err)
		}
	}
	if got, err := transport.Read(); err == nil {
		t.Errorf("read %q, which nothing ended", got)
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
