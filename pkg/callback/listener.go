package callback

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// How many connections a server keeps open. Any program on the machine can connect; a connection is unauthenticated
// until a request on it has named a pending invocation.
const (
	// maxUnauthenticated is more than the tools of one session open at once, and a small part of the files that a
	// process may open.
	maxUnauthenticated = 1024
	// maxKeptAlive is how many authenticated connections may stay open between requests, approximately.
	maxKeptAlive = 256
)

// listener closes the oldest unauthenticated connection to accept a new one, so that a flood of connections uses a
// fixed number of files and cannot lock the tools of a session out. It never closes authenticated connections.
//
// A listener that makes new connections wait for a free place, such as golang.org/x/net/netutil.LimitListener, would
// let a program that only holds connections open block other clients.
type listener struct {
	*net.TCPListener
	grace  time.Duration  // see limits.unauthenticated
	served sync.WaitGroup // connections that net/http serves; does not grow after Serve has returned

	mu              sync.Mutex
	unauthenticated *list.List    // of *conn, oldest first
	authenticated   int           // number of the other connections
	freed           chan struct{} // receives when a connection leaves unauthenticated
}

// conn is a connection of a listener. Its fields are guarded by the listener's mu.
type conn struct {
	*net.TCPConn
	listener      *listener
	accepted      time.Time
	element       *list.Element // in listener.unauthenticated; nil when it is not there
	authenticated bool
}

func newListener(l *net.TCPListener, grace time.Duration) *listener {
	return &listener{TCPListener: l, grace: grace, unauthenticated: list.New(), freed: make(chan struct{}, 1)}
}

// Accept waits for a connection and for room for it.
func (l *listener) Accept() (net.Conn, error) {
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	for {
		wait := l.makeRoom()
		if wait <= 0 {
			break
		}
		select {
		case <-time.After(wait):
		case <-l.freed:
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &conn{TCPConn: tcp, listener: l, accepted: time.Now()}
	c.element = l.unauthenticated.PushBack(c)
	return c, nil
}

// makeRoom returns how long to wait until there may be room for one more unauthenticated connection, 0 when there is.
func (l *listener) makeRoom() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unauthenticated.Len() < maxUnauthenticated {
		return 0
	}
	oldest := l.unauthenticated.Front().Value.(*conn) //nolint:errcheck // the list holds nothing else
	wait := l.grace - time.Since(oldest.accepted)
	if wait <= 0 {
		l.remove(oldest)
		_ = oldest.Close()
	}
	return wait
}

// authenticate records that a request on c has named a pending invocation.
func (l *listener) authenticate(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.element != nil { // nil when it is authenticated already, or was closed to accept another one
		l.remove(c)
		c.authenticated = true
		l.authenticated++
	}
}

// keepAlive reports whether authenticated connections may stay open after a response.
func (l *listener) keepAlive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.authenticated <= maxKeptAlive
}

// remove takes c out of the unauthenticated connections. The caller holds mu.
func (l *listener) remove(c *conn) {
	if c.element == nil {
		return
	}
	l.unauthenticated.Remove(c.element)
	c.element = nil
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// connState is the http.Server's ConnState hook.
func (l *listener) connState(nc net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		l.served.Add(1)
	case http.StateClosed:
		l.mu.Lock()
		c := nc.(*conn) //nolint:errcheck // Accept returns nothing else
		l.remove(c)
		if c.authenticated {
			l.authenticated--
		}
		l.mu.Unlock()
		l.served.Done()
	default:
	}
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}
