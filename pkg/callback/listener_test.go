package callback

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// counts returns the numbers of open connections.
func (l *listener) counts() (unauthenticated, authenticated int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unauthenticated.Len(), l.authenticated
}

// TestServesCallbacksDuringConnectionFlood holds 10,000 connections open, or as many as this process may have files,
// but at least four times as many as the server keeps.
//
//nolint:paralleltest // it uses up the files that other tests need
func TestServesCallbacksDuringConnectionFlood(t *testing.T) {
	limits := defaultLimits()
	limits.unauthenticated = 50 * time.Millisecond
	s := startServerWith(t, limits)
	id := register(t, s, echo)
	regular := client(t)
	callBack := func(c *http.Client, n int) {
		t.Helper()
		if got, err := post(t.Context(), c, s, body(id, "greet", n)); err != nil || got.Result.Text != fmt.Sprintf("greet %d", n) {
			t.Errorf("callback %d: %v %s", n, err, got.text)
		}
	}
	callBack(regular, 0)
	held := flood(t, s, 10_000)
	if len(held) < 4*maxUnauthenticated {
		t.Fatalf("only %d connections could be opened", len(held))
	}
	late := client(t)
	for n := range 50 {
		callBack(late, n)
		callBack(regular, n)
		if unauthenticated, authenticated := s.listener.counts(); unauthenticated > maxUnauthenticated || authenticated > maxKeptAlive {
			t.Errorf("%d unauthenticated and %d authenticated connections are open", unauthenticated, authenticated)
		}
	}
	for _, c := range held {
		_ = c.Close()
	}
	eventually(t, "no unauthenticated connection is open", func() bool { n, _ := s.listener.counts(); return n == 0 })
}

// flood opens up to n connections, each with a different part of a request on it.
func flood(t *testing.T, s *Server, n int) []net.Conn {
	t.Helper()
	request := validRequest(s, body("tbk_guess", "greet", 1))
	request.headers[1] = "Content-Length: 100000"
	parts := []string{"", "POST /scripting/callback HTTP/1.1\r\nHost", request.String(), validRequest(s, body("tbk_guess", "greet", 1)).String()}
	var mu sync.Mutex
	var held []net.Conn
	var failed bool
	var wg sync.WaitGroup
	next := make(chan int)
	for range 32 {
		wg.Go(func() {
			for i := range next {
				c, err := net.DialTimeout("tcp", s.hosts[0], waitLimit)
				if err == nil {
					_, _ = io.WriteString(c, parts[i%len(parts)])
				}
				mu.Lock()
				if failed = failed || err != nil; err == nil {
					held = append(held, c)
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		next <- i
		mu.Lock()
		stop := failed // out of files, of which the authenticated client needs some
		mu.Unlock()
		if stop {
			break
		}
	}
	close(next)
	wg.Wait()
	if failed {
		some := min(len(held), 2*maxUnauthenticated)
		for _, c := range held[:some] {
			_ = c.Close()
		}
		held = held[some:]
	}
	t.Cleanup(func() {
		for _, c := range held {
			_ = c.Close()
		}
	})
	return held
}

//nolint:paralleltest // it uses up the files that other tests need
func TestClosesOldestUnauthenticatedConnectionForNewOne(t *testing.T) {
	limits := defaultLimits()
	limits.unauthenticated = 20 * time.Millisecond
	s := startServerWith(t, limits)
	id := register(t, s, echo)
	callBack := func(c net.Conn) {
		t.Helper()
		_ = c.SetDeadline(time.Now().Add(waitLimit))
		_, _ = io.WriteString(c, validRequest(s, body(id, "greet", 1)).String())
		if got := readResponse(t, c, "POST"); got.Result.Text != "greet 1" {
			t.Errorf("got %s", got.text)
		}
	}
	authenticated := dial(t, s)
	callBack(authenticated)
	oldest := dial(t, s)
	eventually(t, "one unauthenticated connection is open", func() bool { n, _ := s.listener.counts(); return n == 1 })
	for range maxUnauthenticated {
		dial(t, s)
	}
	began := time.Now()
	if _, err := oldest.Read(make([]byte, 1)); err == nil || time.Since(began) > limits.header/2 {
		t.Errorf("the oldest connection: %v after %s", err, time.Since(began))
	}
	callBack(authenticated)
	callBack(dial(t, s))
}

func TestUnauthenticatedConnectionMaySendRequestWithinGrace(t *testing.T) {
	t.Parallel()
	const grace = time.Minute
	l := newListener(nil, grace)
	freed := func() bool {
		select {
		case <-l.freed:
			return true
		default:
			return false
		}
	}
	for range maxUnauthenticated {
		c := &conn{TCPConn: &net.TCPConn{}, listener: l, accepted: time.Now().Add(time.Hour)}
		c.element = l.unauthenticated.PushBack(c)
	}
	oldest, second := l.unauthenticated.Front().Value.(*conn), l.unauthenticated.Front().Next().Value.(*conn)
	if wait := l.makeRoom(); wait <= 0 || oldest.element == nil {
		t.Errorf("within the grace, a new connection waits %s", wait)
	}
	oldest.accepted = time.Now().Add(-grace)
	if wait := l.makeRoom(); wait > 0 || oldest.element != nil || second.element == nil || !freed() {
		t.Errorf("after the grace, a new connection waits %s", wait)
	}
	l.authenticate(oldest)
	l.unauthenticated.PushBack(oldest)
	l.authenticate(second)
	if wait := l.makeRoom(); wait > 0 || oldest.authenticated || !second.authenticated || !freed() {
		t.Errorf("after another one was authenticated, a new connection waits %s", wait)
	}
}

// TestKeepsConnectionOfRunningCall calls back on a connection that is older than all of a flood.
//
//nolint:paralleltest // it uses up the files that other tests need
func TestKeepsConnectionOfRunningCall(t *testing.T) {
	limits := defaultLimits()
	limits.unauthenticated = 20 * time.Millisecond
	s := startServerWith(t, limits)
	started, release := make(chan struct{}, 1), make(chan struct{})
	id := register(t, s, func(ctx context.Context, _ Request) Response {
		started <- struct{}{}
		select {
		case <-release:
			return Response{OK: true, Text: "done"}
		case <-ctx.Done():
			return Response{Error: context.Cause(ctx).Error()}
		}
	})
	replies := postAsync(t, s, body(id, "wait", 1))
	within(t, "the call", started)
	oldest := dial(t, s)
	for range maxUnauthenticated {
		dial(t, s)
	}
	_, _ = oldest.Read(make([]byte, 1))
	close(release)
	if got := awaitReply(t, replies); got.Result.Text != "done" {
		t.Errorf("got %s", got.text)
	}
}

func TestReusesConnection(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	c := dial(t, s)
	id := register(t, s, echo)
	for n := range 5 {
		_, _ = io.WriteString(c, validRequest(s, body(id, "greet", n)).String())
		if got := readResponse(t, c, "POST"); got.Result.Text != fmt.Sprintf("greet %d", n) || got.header.Get("Connection") != "" {
			t.Errorf("got %s %v", got.text, got.header)
		}
		if unauthenticated, authenticated := s.listener.counts(); unauthenticated != 0 || authenticated != 1 {
			t.Errorf("%d unauthenticated, %d authenticated", unauthenticated, authenticated)
		}
	}
	_, _ = io.WriteString(c, validRequest(s, body("tbk_gone", "greet", 1)).String())
	if got := readResponse(t, c, "POST"); got.Result.Message != unknown {
		t.Errorf("got %s", got.text)
	}
	_ = c.Close()
	eventually(t, "the connection is removed", func() bool { _, authenticated := s.listener.counts(); return authenticated == 0 })
}

// TestClosesConnectionOfClientThatDoesNotRead requests more than the system buffers and reads nothing.
func TestClosesConnectionOfClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	limits := defaultLimits()
	limits.write = 100 * time.Millisecond
	s := startServerWith(t, limits)
	huge := Response{OK: true, Text: strings.Repeat("x", 8<<20)}
	id := register(t, s, func(context.Context, Request) Response { return huge })
	c := dial(t, s)
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	_, _ = io.WriteString(c, validRequest(s, body(id, "greet", 1)).String())
	eventually(t, "the connection is authenticated", func() bool { _, authenticated := s.listener.counts(); return authenticated == 1 })
	eventually(t, "the connection is closed", func() bool {
		unauthenticated, authenticated := s.listener.counts()
		return unauthenticated+authenticated == 0
	})
}
