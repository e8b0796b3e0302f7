package callback

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// How many connections a session holds. Any program of the machine can connect, and says who it is only with a whole request;
// until then it is a stranger.
const (
	// maxStrangers is more than the tools of one session open at once, which therefore never meet this bound, and a small part of
	// the files that a process may open.
	maxStrangers = 1024
	// strangerTime is what a stranger has for its request when there are more of them: what a client may need on a busy machine
	// between connecting and asking, and so little that those who wait in the system's queue, some thousands, lose no patience.
	strangerTime = 500 * time.Millisecond
	// maxKept is how many connections that have asked well may stay open between requests, about.
	maxKept = 256
)

// gate is the listener of a door. It closes the oldest stranger for a new one, so that a flood of connections costs a fixed
// number of files, and leaves alone those who have asked for a live invocation.
type gate struct {
	*net.TCPListener
	served sync.WaitGroup // connections that net/http serves; does not grow after Serve has returned

	mu        sync.Mutex
	strangers *list.List    // of *conn, oldest first
	known     int           // other connections
	fewer     chan struct{} // told when a stranger has become known or gone
}

// conn is a connection of a gate. Its fields belong to the gate's mu.
type conn struct {
	*net.TCPConn
	gate  *gate
	since time.Time
	place *list.Element // among the strangers; nil when not one of them
	known bool
}

func newGate(l *net.TCPListener) *gate {
	return &gate{TCPListener: l, strangers: list.New(), fewer: make(chan struct{}, 1)}
}

// Accept waits for a connection and for room for it.
func (g *gate) Accept() (net.Conn, error) {
	tcp, err := g.AcceptTCP()
	if err != nil {
		return nil, err
	}
	for {
		wait := g.makeRoom()
		if wait <= 0 {
			break
		}
		select {
		case <-time.After(wait):
		case <-g.fewer:
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := &conn{TCPConn: tcp, gate: g, since: time.Now()}
	c.place = g.strangers.PushBack(c)
	return c, nil
}

// makeRoom returns how long to wait until there may be room for one more stranger.
func (g *gate) makeRoom() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.strangers.Len() < maxStrangers {
		return 0
	}
	oldest := g.strangers.Front().Value.(*conn) //nolint:errcheck // the list holds nothing else
	wait := strangerTime - time.Since(oldest.since)
	if wait <= 0 {
		g.forget(oldest)
		_ = oldest.Close()
	}
	return wait
}

// welcome makes a connection known: its request has named a live invocation.
func (g *gate) welcome(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.place != nil { // nil for one that is known, or was closed for another while it asked
		g.forget(c)
		c.known = true
		g.known++
	}
}

// keeps reports whether there is room for known connections to stay open.
func (g *gate) keeps() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known <= maxKept
}

// forget takes c out of the strangers; mu is held.
func (g *gate) forget(c *conn) {
	if c.place == nil {
		return
	}
	g.strangers.Remove(c.place)
	c.place = nil
	select {
	case g.fewer <- struct{}{}:
	default:
	}
}

// follow is told by net/http what becomes of a connection.
func (g *gate) follow(nc net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		g.served.Add(1)
	case http.StateClosed:
		g.mu.Lock()
		c := nc.(*conn) //nolint:errcheck // Accept returns nothing else
		g.forget(c)
		if c.known {
			g.known--
		}
		g.mu.Unlock()
		g.served.Done()
	default:
	}
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}
