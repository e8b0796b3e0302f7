package callback

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// invocation is a registered Invocation.
type invocation struct {
	session string
	run     func(client context.Context, r Request, done func()) Response // calls done when Dispatch has returned
	cancel  context.CancelCauseFunc
	running sync.WaitGroup // its callbacks; grows only while it is registered, under Server.mu
}

// Register registers an invocation and returns its id. Callbacks run in ctx and end with its cause. unregister makes
// the id invalid, cancels the callbacks that run for it and waits for them; it may be called again, but not from
// Dispatch.
func (s *Server) Register(ctx context.Context, inv Invocation) (id string, unregister func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	inv.Limit = cmp.Or(inv.Limit, DefaultLimit)
	i := &invocation{session: cmp.Or(inv.Session, s.id), cancel: cancel}
	i.run = func(client context.Context, r Request, done func()) Response {
		return s.dispatch(ctx, client, inv, r, done)
	}
	id = tool.NewCapability()
	key := sha256.Sum256([]byte(id))
	s.mu.Lock()
	s.invocations[key] = i
	s.mu.Unlock()
	return id, func() {
		s.mu.Lock()
		delete(s.invocations, key)
		s.noteEnded(key, inv.Caller)
		s.mu.Unlock()
		cancel(errCallEnded)
		i.running.Wait()
	}
}

// endedCall is a tool call that has ended.
type endedCall struct {
	key    [sha256.Size]byte // of its invocation
	caller string
}

// maxEnded is how many calls that have ended are kept for messages.
const maxEnded = 100

// noteEnded keeps the caller of an invocation that has ended. The caller holds mu.
func (s *Server) noteEnded(key [sha256.Size]byte, caller string) {
	if caller == "" {
		return
	}
	if len(s.ended) == maxEnded {
		s.ended = slices.Delete(s.ended, 0, 1)
	}
	s.ended = append(s.ended, endedCall{key, caller})
}

// late says who sent a message after its call had ended, empty if that is not known.
func (s *Server) late(m message) string {
	if m.invocation == nil {
		return ""
	}
	key := sha256.Sum256([]byte(*m.invocation))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.ended {
		if e.key == key {
			return fmt.Sprintf("; %s has to await its callback to tool %q", e.caller, m.Tool)
		}
	}
	return ""
}

// acquire returns the invocation of a message and adds one to the running callbacks. release must be called after the
// callback. Without an invocation, problem says why.
func (s *Server) acquire(m message) (i *invocation, release func(), problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, problem = s.find(m)
	switch {
	case problem != "":
		return nil, nil, problem
	case m.session != "" && m.session != i.session && m.session != s.id:
		return nil, nil, "the invocation belongs to another session"
	case s.calls >= maxCalls:
		return nil, nil, fmt.Sprintf("%d callbacks are running, which is the limit; wait for their responses", maxCalls)
	}
	s.calls++
	s.running.Add(1)
	i.running.Add(1)
	return i, func() {
		s.mu.Lock()
		s.calls--
		s.mu.Unlock()
		i.running.Done()
		s.running.Done()
	}, ""
}

func (s *Server) find(m message) (i *invocation, problem string) {
	const unknown = "unknown invocation id; the tool call may have completed or timed out"
	switch {
	case s.closed:
		return nil, unknown
	case m.invocation != nil:
		i = s.invocations[sha256.Sum256([]byte(*m.invocation))]
	case len(s.invocations) > 1:
		return nil, "several tool calls are pending; post to " + callbackPath + " with the invocation_id from _meta.trailblaze"
	default:
		for _, i = range s.invocations { // the only one
		}
	}
	if i == nil {
		return nil, unknown
	}
	return i, ""
}

// dispatch makes the call of inv in ctx and calls done when it has returned. When it is cancelled, dispatch waits
// limits.cancel for its error and then returns one in its place.
func (s *Server) dispatch(ctx, client context.Context, inv Invocation, r Request, done func()) Response {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	responses := make(chan Response, 1)
	go func() { // Close waits for done
		defer done()
		var response Response
		defer func() {
			if p := recover(); p != nil {
				response = Response{Error: fault.Panicked(p).Message}
			}
			responses <- response
		}()
		response = inv.Dispatch(ctx, r)
	}()
	timer := time.NewTimer(inv.Limit)
	defer timer.Stop()
	select {
	case response := <-responses:
		return response
	case <-timer.C:
		cancel(limitError(inv))
	case <-client.Done():
		cancel(cancelledError("the client closed its connection"))
	case <-ctx.Done():
	}
	timer.Reset(s.limits.cancel)
	select {
	case response := <-responses:
		return response
	case <-timer.C:
		return Response{Error: context.Cause(ctx).Error()}
	}
}

func limitError(inv Invocation) error {
	text := fmt.Sprintf("no response within %s, the limit of a callback", inv.Limit)
	if inv.Entry != "" {
		text += fmt.Sprintf(" (`callbackTimeout` of entry %q changes it)", inv.Entry)
	}
	return fault.New(fault.CallTimeout, "", "%s", text)
}

var errCallEnded = cancelledError("the call that the callback belongs to has ended")

func cancelledError(why string) error { return fault.New(fault.Cancelled, "", "%s", why) }
