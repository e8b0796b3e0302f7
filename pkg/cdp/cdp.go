// Package cdp speaks the Chrome DevTools Protocol: calls, events and the end of a connection, over two pipes or a WebSocket. It decodes
// no more than it must, since every browser version has fields and values that nobody has heard of before, and it refuses to know
// what a page is. Everything in it may be used from any goroutine.
package cdp

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// ErrDetached says that a session has ended: its page or its worker is gone, or lives in another process now.
var ErrDetached = errors.New("the target is gone")

// ErrClosed says that the connection was closed on our side.
var ErrClosed = errors.New("the connection was closed")

// Error is what the browser answered instead of a result.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// noSession is the code of an answer to a call in a session that has ended.
const noSession = -32001

// Conn is a connection to a browser.
type Conn struct {
	transport Transport
	browser   *Session
	done      chan struct{}
	wake      chan struct{} // that something is in queue
	writer    sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]*Session
	pending  map[int64]*call
	last     int64    // id of a call
	queue    [][]byte // what is to be written
	err      error    // why the connection ended, or is about to
}

// call is a call without an answer yet. Its answer is set before done is closed.
type call struct {
	session *Session
	done    chan struct{}
	result  json.RawMessage
	err     error
}

// message is what travels, in both directions.
type message struct {
	ID        int64           `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *Error          `json:"error,omitempty"`
}

// NewConn begins to read from t, which belongs to the connection from now on. The connection has to be closed.
func NewConn(t Transport) *Conn {
	c := &Conn{
		transport: t, done: make(chan struct{}), wake: make(chan struct{}, 1),
		sessions: map[string]*Session{}, pending: map[int64]*call{},
	}
	c.browser = c.Session("")
	c.writer.Go(c.write)
	go c.read()
	return c
}

// Browser is the session of the browser itself.
func (c *Conn) Browser() *Session { return c.browser }

// Session is that of a target, by the id that the browser gave it when we attached. Called for an unknown id in a listener for the event
// that told of it, nothing that happens in the session is missed.
func (c *Conn) Session(id string) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	if s == nil {
		s = &Session{conn: c, id: id, done: make(chan struct{})}
		if c.over() {
			s.end()
		} else {
			c.sessions[id] = s
		}
	}
	return s
}

// Done is closed when the connection has ended and every call has failed.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err says why the connection ended: ErrClosed, or what the transport said. It is nil before.
func (c *Conn) Err() error {
	if !c.over() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// over reports whether done is closed. The connection may have failed before: sessions and calls end after done.
func (c *Conn) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Close ends the connection; what happens to the browser is the browser's to decide.
func (c *Conn) Close() error {
	err := c.fail(ErrClosed)
	<-c.done
	return err
}

// fail begins the end of the connection; the first reason counts.
func (c *Conn) fail(err error) error {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = err
	}
	c.mu.Unlock()
	c.notify()
	if !first {
		return nil
	}
	return c.transport.Close()
}

func (c *Conn) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// write empties the queue until the connection ends. A browser that does not read holds up nobody but this goroutine.
func (c *Conn) write() {
	for range c.wake {
		c.mu.Lock()
		queue, ended := c.queue, c.err != nil
		c.queue = nil
		c.mu.Unlock()
		if ended {
			return
		}
		for _, data := range queue {
			if err := c.transport.Write(data); err != nil {
				_ = c.fail(fmt.Errorf("writing to the browser: %w", err))
				return
			}
		}
	}
}

// read handles what arrives until the connection ends, and then ends everything.
func (c *Conn) read() {
	for {
		data, err := c.transport.Read()
		if err != nil {
			_ = c.fail(fmt.Errorf("reading from the browser: %w", err))
			break
		}
		c.receive(data)
	}
	c.writer.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.done) // first, so that who sees a session or a call end can ask why
	for _, s := range c.sessions {
		s.end()
	}
	clear(c.sessions)
	for id := range c.pending {
		c.answer(id, nil, c.err)
	}
}

func (c *Conn) receive(data []byte) {
	var params json.RawMessage
	m := message{Params: &params}
	if json.Unmarshal(data, &m) != nil {
		return
	}
	c.mu.Lock()
	s := c.sessions[m.SessionID]
	if m.ID != 0 {
		var err error
		if m.Error != nil {
			err = m.Error
		}
		c.answer(m.ID, m.Result, err)
	}
	c.mu.Unlock()
	if m.Method == "" || s == nil {
		return
	}
	e := Event{m.Method, params}
	s.emit(e)
	if e.Method == "Target.detachedFromTarget" {
		c.detached(e)
	}
}

// answer ends a call; c.mu is held.
func (c *Conn) answer(id int64, result json.RawMessage, err error) {
	if p := c.pending[id]; p != nil {
		delete(c.pending, id)
		p.result, p.err = result, err
		close(p.done)
	}
}

// detached ends the session that an event names.
func (c *Conn) detached(e Event) {
	var gone struct{ SessionID string }
	if e.Decode(&gone) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[gone.SessionID]
	if s == nil || s == c.browser {
		return
	}
	delete(c.sessions, gone.SessionID)
	s.end()
	for id, p := range c.pending {
		if p.session == s {
			c.answer(id, nil, ErrDetached)
		}
	}
}
