// Package cdp is a client of the Chrome DevTools Protocol over two pipes or a WebSocket: calls, events, and the error
// that a connection ended with. It decodes only the fields that callers ask for, because browser versions add fields
// and values, and it does not depend on what the targets are, such as pages. Everything in it may be used from any
// goroutine.
package cdp

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// ErrDetached is the error of a call in a session that has ended: its page or worker was closed, or moved to another
// process.
var ErrDetached = errors.New("the target was closed")

// ErrClosed is the error of a connection that Close was called on.
var ErrClosed = errors.New("the connection was closed")

// Error is an error response of the browser to a call.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// codeSessionNotFound is the code of the error for a call in a session that has ended.
const codeSessionNotFound = -32001

// Conn is a connection to a browser.
type Conn struct {
	transport Transport
	browser   *Session
	done      chan struct{}
	queued    chan struct{} // receives after something was added to queue
	writer    sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]*Session
	pending  map[int64]*pendingCall
	lastID   int64    // of a call
	queue    [][]byte // messages to be written
	err      error    // why the connection ended, or is ending
}

// pendingCall is a call without a response yet. result and err are set before done is closed.
type pendingCall struct {
	session *Session
	limit   int // of the response, in bytes
	done    chan struct{}
	result  json.RawMessage
	err     error
}

// message is a request, a response or an event.
type message struct {
	ID        int64           `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *Error          `json:"error,omitempty"`
}

// NewConn returns a connection that owns t and reads from it. The caller must close it.
func NewConn(t Transport) *Conn {
	c := &Conn{
		transport: t, done: make(chan struct{}), queued: make(chan struct{}, 1),
		sessions: map[string]*Session{}, pending: map[int64]*pendingCall{},
	}
	c.browser = c.Session("")
	c.writer.Go(c.write)
	go c.read()
	return c
}

// Browser returns the session of the browser itself.
func (c *Conn) Browser() *Session { return c.browser }

// Session returns the session with an id that the browser gave when it attached to a target. To receive all events of a
// new session, call it in the listener that receives Target.attachedToTarget.
func (c *Conn) Session(id string) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	if s == nil {
		s = &Session{conn: c, id: id, done: make(chan struct{})}
		if c.closed() {
			close(s.done)
		} else {
			c.sessions[id] = s
		}
	}
	return s
}

// Done returns a channel that is closed when the connection has ended; pending calls fail after that.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended: ErrClosed, or the error of the transport. It is nil before Done is closed.
func (c *Conn) Err() error {
	if !c.closed() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// closed reports whether done is closed. The transport may have failed before that.
func (c *Conn) closed() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Close closes the connection and waits until its calls have failed. It does not close the browser.
func (c *Conn) Close() error {
	err := c.fail(ErrClosed)
	<-c.done
	return err
}

// fail closes the transport. The first error is the connection's.
func (c *Conn) fail(err error) error {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = err
	}
	c.mu.Unlock()
	c.notifyWriter()
	if !first {
		return nil
	}
	return c.transport.Close()
}

func (c *Conn) notifyWriter() {
	select {
	case c.queued <- struct{}{}:
	default:
	}
}

// write writes the queue until the connection fails. A browser that does not read blocks only this goroutine.
func (c *Conn) write() {
	for range c.queued {
		c.mu.Lock()
		queue, failed := c.queue, c.err != nil
		c.queue = nil
		c.mu.Unlock()
		if failed {
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

// read handles messages until the connection fails, and then ends all sessions and calls.
func (c *Conn) read() {
	for {
		data, err := c.transport.Read(c.limitOf)
		if tooLarge, ok := errors.AsType[*TooLargeError](err); ok {
			c.receiveTooLarge(tooLarge)
			continue
		}
		if err != nil {
			_ = c.fail(fmt.Errorf("reading from the browser: %w", err))
			break
		}
		c.receive(data)
	}
	c.writer.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.done) // first, because callers may call Err when a session or a call has ended
	for _, s := range c.sessions {
		close(s.done)
	}
	clear(c.sessions)
	for id := range c.pending {
		c.complete(id, nil, c.err)
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
		c.complete(m.ID, m.Result, err)
	}
	c.mu.Unlock()
	if m.Method == "" || s == nil {
		return
	}
	e := Event{m.Method, params}
	s.dispatch(e)
	if e.Method == "Target.detachedFromTarget" {
		c.endDetachedSession(e)
	}
}

// limitOf returns the size limit of a message, in bytes, from its first bytes.
func (c *Conn) limitOf(start []byte) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pending[responseID(start)]; p != nil {
		return p.limit
	}
	return maxEvent
}

// responseID returns the id of the call that a message responds to, 0 for an event.
func responseID(start []byte) int64 {
	var id int64
	if _, err := fmt.Sscanf(string(start), `{"id":%d`, &id); err != nil {
		return 0
	}
	return id
}

// receiveTooLarge fails the call that a message was the response to. An event is dropped.
func (c *Conn) receiveTooLarge(err *TooLargeError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complete(responseID(err.start), nil, err)
}

// complete ends a pending call; c.mu is held.
func (c *Conn) complete(id int64, result json.RawMessage, err error) {
	if p := c.pending[id]; p != nil {
		delete(c.pending, id)
		p.result, p.err = result, err
		close(p.done)
	}
}

// endDetachedSession ends the session that a Target.detachedFromTarget event names.
func (c *Conn) endDetachedSession(e Event) {
	var p struct{ SessionID string }
	if e.Decode(&p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[p.SessionID]
	if s == nil || s == c.browser {
		return
	}
	delete(c.sessions, p.SessionID)
	close(s.done)
	for id, pending := range c.pending {
		if pending.session == s {
			c.complete(id, nil, ErrDetached)
		}
	}
}
