package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Session is a target that the connection is attached to, or the browser itself.
type Session struct {
	conn *Conn
	id   string
	done chan struct{}

	// Guarded by conn.mu. The slice is never changed, only replaced.
	listeners []*listener
}

type listener struct{ f func(Event) }

// Event is something that happened in a session.
type Event struct {
	Method string
	Params json.RawMessage
}

// Decode reads the parameters into v, which has to name no more of them than it needs.
func (e Event) Decode(v any) error { return json.Unmarshal(e.Params, v) }

// ID is what the browser calls the session, empty for the browser's own.
func (s *Session) ID() string { return s.id }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// end closes done; conn.mu is held, and s is not in conn.sessions any more or about to leave it.
func (s *Session) end() { close(s.done) }

// Call calls a method and waits for its answer, which is decoded into result unless that is nil. params may be nil. The error is an
// *Error when the browser answers with one, ErrDetached when the session ends first, Conn.Err when the connection does, and the cause
// when ctx does. All say which method it was.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	return s.Begin(method, params)(ctx, result)
}

// Begin sends a call, after those that were begun before it, and never blocks. What it returns waits for the answer as Call does, once,
// and may be dropped.
func (s *Session) Begin(method string, params any) (wait func(ctx context.Context, result any) error) {
	id, p := s.conn.begin(s, method, params)
	return func(ctx context.Context, result any) error {
		select {
		case <-p.done:
		case <-ctx.Done():
			s.conn.abandon(id)
			return fmt.Errorf("%s: %w", method, context.Cause(ctx))
		}
		err := p.err
		if refused, ok := errors.AsType[*Error](err); ok && refused.Code == noSession {
			err = ErrDetached
		}
		if err == nil && result != nil {
			err = json.Unmarshal(p.result, result)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	}
}

func (c *Conn) begin(s *Session, method string, params any) (int64, *call) {
	p := &call{session: s, done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	id := c.last
	c.pending[id] = p
	switch data, err := json.Marshal(message{ID: id, SessionID: s.id, Method: method, Params: params}); {
	case err != nil:
		c.answer(id, nil, err)
	case c.over():
		c.answer(id, nil, c.err)
	case s.ended():
		c.answer(id, nil, ErrDetached)
	default:
		c.queue = append(c.queue, data)
		c.notify()
	}
	return id, p
}

func (s *Session) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// abandon forgets a call that nobody waits for any more.
func (c *Conn) abandon(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// Listen calls f for each event of the session, in order, until stop is called; f may run once more while it is. f is called by the
// goroutine that reads from the browser: it must not wait for anything, least of all a call.
func (s *Session) Listen(f func(Event)) (stop func()) {
	l := &listener{f}
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	s.listeners = append(slices.Clip(s.listeners), l)
	return func() {
		s.conn.mu.Lock()
		defer s.conn.mu.Unlock()
		s.listeners = slices.DeleteFunc(slices.Clone(s.listeners), func(other *listener) bool { return other == l })
	}
}

func (s *Session) emit(e Event) {
	s.conn.mu.Lock()
	listeners := s.listeners
	s.conn.mu.Unlock()
	for _, l := range listeners {
		l.f(e)
	}
}
