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

// Event is an event of a session.
type Event struct {
	Method string
	Params json.RawMessage
}

// Decode decodes the parameters into v, which may leave out fields.
func (e Event) Decode(v any) error { return json.Unmarshal(e.Params, v) }

// ID returns the session's id, empty for the browser's own session.
func (s *Session) ID() string { return s.id }

// Done returns a channel that is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Call calls a method and waits for its response, which is decoded into result unless that is nil. params may be nil.
// The error names the method and wraps an *Error when the browser responded with one, ErrDetached when the session
// ended first, a *TooLargeError when the response has more than 256 MiB, Conn.Err when the connection ended, and the
// cause when ctx did.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	return s.Send(method, params)(ctx, result)
}

// CallLimited is Call with a limit for the response, in bytes. The error for a larger one wraps a *TooLargeError.
func (s *Session) CallLimited(ctx context.Context, limit int, method string, params, result any) error {
	return s.send(limit, method, params)(ctx, result)
}

// Send sends a call and returns at once; calls are sent in order. The function that it returns waits for the response
// as Call does. It may be called once, or not at all.
func (s *Session) Send(method string, params any) (wait func(ctx context.Context, result any) error) {
	return s.send(maxResponse, method, params)
}

func (s *Session) send(limit int, method string, params any) (wait func(ctx context.Context, result any) error) {
	id, p := s.conn.send(s, limit, method, params)
	return func(ctx context.Context, result any) error {
		select {
		case <-p.done:
		case <-ctx.Done():
			s.conn.unregister(id)
			return fmt.Errorf("%s: %w", method, context.Cause(ctx))
		}
		err := p.err
		if refused, ok := errors.AsType[*Error](err); ok && refused.Code == codeSessionNotFound {
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

// send registers a call and queues its message.
func (c *Conn) send(s *Session, limit int, method string, params any) (int64, *pendingCall) {
	p := &pendingCall{session: s, limit: limit, done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	id := c.lastID
	c.pending[id] = p
	switch data, err := json.Marshal(message{ID: id, SessionID: s.id, Method: method, Params: params}); {
	case err != nil:
		c.complete(id, nil, err)
	case c.closed():
		c.complete(id, nil, c.err)
	case s.closed():
		c.complete(id, nil, ErrDetached)
	default:
		c.queue = append(c.queue, data)
		c.notifyWriter()
	}
	return id, p
}

func (s *Session) closed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// unregister removes a pending call whose response is not awaited.
func (c *Conn) unregister(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// Listen calls f for each event of the session, in order, until stop is called; one more call of f may be running then.
// f runs in the goroutine that reads from the browser, so it must not block and must not wait for a call.
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

// dispatch calls the listeners for an event.
func (s *Session) dispatch(e Event) {
	s.conn.mu.Lock()
	listeners := s.listeners
	s.conn.mu.Unlock()
	for _, l := range listeners {
		l.f(e)
	}
}
