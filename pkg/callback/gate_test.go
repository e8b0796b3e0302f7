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

// counts is how many connections a door holds.
func (g *gate) counts() (strangers, known int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.strangers.Len(), g.known
}

// TestAFloodOfConnectionsKeepsNobodyOut holds 10,000 connections open, or as many as this process may have files, but at least
// four times what the door keeps.
//
//nolint:paralleltest // it takes the files that other tests need
func TestAFloodOfConnectionsKeepsNobodyOut(t *testing.T) {
	s := open(t)
	id := begin(t, s, echo)
	regular := client(t)
	callBack := func(c *http.Client, n int) {
		t.Helper()
		if got, err := ask(t.Context(), c, s, body(id, "greet", n)); err != nil || got.Result.Text != fmt.Sprintf("greet %d", n) {
			t.Errorf("callback %d: %v %s", n, err, got.text)
		}
	}
	callBack(regular, 0)
	held := flood(t, s, 10_000)
	if len(held) < 4*maxStrangers {
		t.Fatalf("only %d connections could be opened", len(held))
	}
	late := client(t)
	for n := range 50 {
		callBack(late, n)
		callBack(regular, n)
		if strangers, known := s.gate.counts(); strangers > maxStrangers || known > maxKept {
			t.Errorf("%d strangers, %d known connections are held", strangers, known)
		}
	}
	for _, c := range held {
		_ = c.Close()
	}
	eventually(t, "no strangers", func() bool { n, _ := s.gate.counts(); return n == 0 })
}

// flood opens up to n connections, each with a different part of a request on it.
func flood(t *testing.T, s *Server, n int) []net.Conn {
	t.Helper()
	request := good(s, body("tbk_guess", "greet", 1))
	request.headers[1] = "Content-Length: 100000"
	parts := []string{"", "POST /scripting/callback HTTP/1.1\r\nHost", request.String(), good(s, body("tbk_guess", "greet", 1)).String()}
	var mu sync.Mutex
	var held []net.Conn
	var failed bool
	var wg sync.WaitGroup
	next := make(chan int)
	for range 32 {
		wg.Go(func() {
			for i := range next {
				c, err := net.DialTimeout("tcp", s.hosts[0], patience)
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
		stop := failed // out of files, which the honest client needs as well
		mu.Unlock()
		if stop {
			break
		}
	}
	close(next)
	wg.Wait()
	if failed {
		some := min(len(held), 2*maxStrangers)
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

//nolint:paralleltest // it takes the files that other tests need
func TestTheOldestStrangerGoesForANewOne(t *testing.T) {
	s := open(t)
	id := begin(t, s, echo)
	talk := func(c net.Conn) {
		t.Helper()
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(c, good(s, body(id, "greet", 1)).String())
		if got := receive(t, c, "POST"); got.Result.Text != "greet 1" {
			t.Errorf("got %s", got.text)
		}
	}
	known := dial(t, s)
	talk(known)
	oldest := dial(t, s)
	eventually(t, "a stranger", func() bool { n, _ := s.gate.counts(); return n == 1 })
	for range maxStrangers {
		dial(t, s)
	}
	began := time.Now()
	if _, err := oldest.Read(make([]byte, 1)); err == nil || time.Since(began) > headerTime/2 {
		t.Errorf("the oldest: %v after %s", err, time.Since(began))
	}
	talk(known)
	talk(dial(t, s))
}

//nolint:paralleltest // it takes the files that other tests need
func TestAStrangerHasTimeToAsk(t *testing.T) {
	g := newGate(nil)
	told := func() bool {
		select {
		case <-g.fewer:
			return true
		default:
			return false
		}
	}
	for range maxStrangers {
		c := &conn{TCPConn: &net.TCPConn{}, gate: g, since: time.Now().Add(time.Hour)}
		c.place = g.strangers.PushBack(c)
	}
	oldest, second := g.strangers.Front().Value.(*conn), g.strangers.Front().Next().Value.(*conn)
	if wait := g.makeRoom(); wait <= 0 || oldest.place == nil {
		t.Errorf("a new stranger waits %s", wait)
	}
	oldest.since = time.Now().Add(-strangerTime)
	if wait := g.makeRoom(); wait > 0 || oldest.place != nil || second.place == nil || !told() {
		t.Errorf("when its time is over, a new one waits %s", wait)
	}
	g.welcome(oldest)
	g.strangers.PushBack(oldest)
	g.welcome(second)
	if wait := g.makeRoom(); wait > 0 || oldest.known || !second.known || !told() {
		t.Errorf("when one has asked, a new one waits %s", wait)
	}
}

// TestACallInProgressIsNotClosedForANewConnection asks on a connection that is older than all of a flood.
//
//nolint:paralleltest // it takes the files that other tests need
func TestACallInProgressIsNotClosedForANewConnection(t *testing.T) {
	s := open(t)
	started, release := make(chan struct{}, 1), make(chan struct{})
	id := begin(t, s, func(ctx context.Context, _ Request) Answer {
		started <- struct{}{}
		select {
		case <-release:
			return Answer{OK: true, Text: "done"}
		case <-ctx.Done():
			return Answer{Error: context.Cause(ctx).Error()}
		}
	})
	answers := askLater(t, s, body(id, "wait", 1))
	within(t, "the call", started)
	oldest := dial(t, s)
	for range maxStrangers {
		dial(t, s)
	}
	_, _ = oldest.Read(make([]byte, 1))
	close(release)
	if got := receiveSaid(t, answers); got.Result.Text != "done" {
		t.Errorf("got %s", got.text)
	}
}

func TestAConnectionIsReused(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := dial(t, s)
	id := begin(t, s, echo)
	for n := range 5 {
		_, _ = io.WriteString(c, good(s, body(id, "greet", n)).String())
		if got := receive(t, c, "POST"); got.Result.Text != fmt.Sprintf("greet %d", n) || got.header.Get("Connection") != "" {
			t.Errorf("got %s %v", got.text, got.header)
		}
		if strangers, known := s.gate.counts(); strangers != 0 || known != 1 {
			t.Errorf("%d strangers, %d known", strangers, known)
		}
	}
	_, _ = io.WriteString(c, good(s, body("tbk_gone", "greet", 1)).String())
	if got := receive(t, c, "POST"); got.Result.Message != unknown {
		t.Errorf("got %s", got.text)
	}
	_ = c.Close()
	eventually(t, "it is forgotten", func() bool { _, known := s.gate.counts(); return known == 0 })
}

// TestAClientThatDoesNotReadIsLeft asks for more than the system buffers and reads none of it.
func TestAClientThatDoesNotReadIsLeft(t *testing.T) {
	t.Parallel()
	s := open(t)
	huge := Answer{OK: true, Text: strings.Repeat("x", 8<<20)}
	id := begin(t, s, func(context.Context, Request) Answer { return huge })
	c := dial(t, s)
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	_, _ = io.WriteString(c, good(s, body(id, "greet", 1)).String())
	eventually(t, "it is known", func() bool { _, known := s.gate.counts(); return known == 1 })
	eventually(t, "the connection is gone", func() bool {
		strangers, known := s.gate.counts()
		return strangers+known == 0
	})
}
