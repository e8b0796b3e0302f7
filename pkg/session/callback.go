package session

import (
	"context"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// beginInvocation registers an invocation, so that the tool of a call can send callbacks until end is called. A tool
// that cannot send callbacks gets an id that is not registered.
func (s *Session) beginInvocation(ctx context.Context, l *level, t *discover.Tool) (id string, end func()) {
	callbacks, entry := s.callbacksFor(t.Source)
	if callbacks == nil {
		return tool.NewCapability(), func() {}
	}
	return callbacks.Register(ctx, callback.Invocation{
		Session: s.opts.ID,
		Entry:   entry.Name,
		Caller:  fmt.Sprintf("tool %q of %s", t.Name, t.Source),
		Limit:   callbackLimit(entry),
		Dispatch: func(ctx context.Context, r callback.Request) callback.Response {
			return s.dispatch(ctx, l, r)
		},
	})
}

// dispatch makes the call that a running tool requests, which restarts the limit of that tool's call. The response
// contains the changes of memory.
func (s *Session) dispatch(ctx context.Context, caller *level, r callback.Request) callback.Response {
	caller.restartLimit()
	defer caller.restartLimit()
	delta := make(map[string]any, len(r.MemoryDelta))
	for name, value := range r.MemoryDelta {
		delta[name] = value
	}
	values := s.opts.Values
	if err := values.Apply(delta, r.MemoryDeletions); err != nil {
		return callback.Response{Error: joinHint(err.Error(), Hint(err))}
	}
	changes := values.Version()
	done := s.callFromTool(ctx, caller, r)
	answer := callback.Response{
		OK: done.ok(), Text: done.result.Text, Structured: done.result.Structured,
		ChangeSize: func() int { return values.ChangeSize(changes) },
		Changes:    func() (map[string]any, []string) { return s.changesFor(changes) },
	}
	switch {
	case done.err != nil:
		answer.Error = done.err.Error()
	case !answer.OK:
		answer.Error, answer.Text = joinHint(done.result.Text, done.result.Hint), ""
	}
	return answer
}

// changesFor returns how memory has changed since a version, as tools receive it.
func (s *Session) changesFor(version int) (delta map[string]any, deletions []string) {
	set, deletions := s.opts.Values.ChangedSince(version)
	redacted := s.memory.current(s.opts.Values, s.opts.Redactor)
	for name := range set {
		name = s.opts.Redactor.Text(name)
		if value, ok := redacted[name]; ok { // it may have been deleted meanwhile
			if delta == nil {
				delta = map[string]any{}
			}
			delta[name] = value
		}
	}
	return delta, deletions
}

func joinHint(text, hint string) string {
	if hint == "" {
		return text
	}
	return text + " (" + hint + ")"
}

// callFromTool finds the tool that a callback names and makes the call. Tokens in its arguments are not replaced.
func (s *Session) callFromTool(ctx context.Context, caller *level, r callback.Request) callEnd {
	if err := checkDepth(caller); err != nil {
		return notMade(err)
	}
	t, err := s.Registry().Find(r.Tool)
	if err != nil {
		return notMade(err)
	}
	delete(r.Args, tool.ReservedArg) // a tool may pass its own arguments on
	if err := argumentError(t, t.CheckArgs(r.Args, nil)); err != nil {
		return notMade(err)
	}
	defer caller.waitFor(t)()
	return s.makeCall(ctx, caller.next(true), t, r.Args, trail.Call{Tool: t.Name, Args: r.Args})
}
