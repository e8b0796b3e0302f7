package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/budget"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// delegatesKey is the member of a result that lists the calls to make in place of the call (specification, section 13).
const delegatesKey = "_trailblaze_delegates"

// maxDelegates is how many bytes a result with delegates may take when it is decoded.
const maxDelegates = 128 << 20

// followDelegates adds to the end of a successful call what is recorded of it: the call itself, or, when it delegates,
// what it changed in memory and its delegates, which are made here. A tool that is flagged as delegating and returns no
// delegates is recorded itself. Calls that came by callback are not recorded, because a replay makes them again.
func (s *Session) followDelegates(
	ctx context.Context, l *level, t *discover.Tool, call trail.Call, end callEnd, changes int,
) callEnd {
	if t.Source.Kind == tool.FromComposed {
		return s.makeComposed(ctx, l, t, call, end)
	}
	delegates, delegating, err := delegatesOf(end.result)
	switch {
	case err != nil:
		e := fault.As(err)
		return notMade(fault.New(e.Kind, e.Hint, "tool %q: %s", t.Name, e.Message))
	case delegating:
		return s.delegate(ctx, l, call, end, delegates, changes)
	case !l.unrecorded:
		end.calls = s.recordable(t, call, end.result.Located)
	}
	return end
}

// makeComposed makes the calls of a composed tool. It is recorded as it was called, or, if it is not recordable, as the
// calls that it made. Tokens in its calls are text: the arguments of the tool had theirs replaced.
func (s *Session) makeComposed(ctx context.Context, l *level, t *discover.Tool, call trail.Call, end callEnd) callEnd {
	if err := checkDepth(l); err != nil {
		return notMade(err)
	}
	var recorded []trail.Call
	deadline := s.opts.Now().Add(call.Timeout)
	calls, unrecorded := end.result.Delegates, l.unrecorded
	l.unrecorded = l.unrecorded || t.IsRecordable
	for i, c := range calls {
		called, err := s.Registry().Find(c.Tool)
		if err == nil {
			err = argumentError(called, called.CheckArgs(c.Args, nil))
		}
		if err != nil {
			end = notMade(err)
		} else {
			made := trail.Call{Tool: c.Tool, Args: escaped(c.Args)}
			if call.Timeout > 0 {
				made.Timeout = max(deadline.Sub(s.opts.Now()).Truncate(time.Millisecond), time.Millisecond)
			}
			end = s.makeCall(ctx, l.next(false), called, c.Args, made)
		}
		if !end.ok() {
			end.result.Text = placed(fmt.Sprintf("call %d of %d of %s: ", i+1, len(calls), t.Name), end.result.Text)
			return end
		}
		recorded = append(recorded, end.calls...)
	}
	switch {
	case unrecorded:
		end.calls = nil
	case t.IsRecordable:
		end.calls = s.recordable(t, call, nil)
	default:
		end.calls = recorded
	}
	return end
}

// escaped returns arguments as a trail has them, with text that looks like a token escaped.
func escaped(args map[string]any) map[string]any {
	out, _ := trail.Escape(args).(map[string]any)
	return out
}

// delegate makes the calls that a call delegates to. The last of them is how the call ends.
func (s *Session) delegate(
	ctx context.Context, l *level, call trail.Call, end callEnd, delegates []trail.Call, changes int,
) callEnd {
	var recorded []trail.Call
	if !l.unrecorded {
		recorded = s.recordMemory(l, call, changes)
	}
	if len(delegates) == 0 {
		end.calls = append([]trail.Call{}, recorded...) // not nil: it delegated to nothing, which is recorded too
		return end
	}
	if err := s.checkDelegates(l, delegates); err != nil {
		return notMade(err)
	}
	delegates[len(delegates)-1].SaveAs = call.SaveAs // its result is the one to save
	for i, d := range delegates {
		t, args, err := s.prepare(d, true)
		if err != nil {
			end = notMade(err)
		} else {
			end = s.makeCall(ctx, l.next(false), t, args, d)
		}
		if !end.ok() {
			end.result.Text = placed(fmt.Sprintf("delegate %d of %d, tool %q: ", i+1, len(delegates), d.Tool), end.result.Text)
			return end
		}
		recorded = append(recorded, end.calls...)
	}
	end.calls = recorded
	return end
}

// placed returns a message after the place that it is about: once, if tools call each other in a circle.
func placed(place, message string) string {
	if strings.Contains(message, place) {
		return message
	}
	return place + message
}

// checkDelegates returns what is wrong with delegates, before the first of them is made.
func (s *Session) checkDelegates(l *level, delegates []trail.Call) error {
	if err := checkDepth(l); err != nil {
		return err
	}
	var problems []error
	for i, d := range delegates {
		t, err := s.Registry().Find(d.Tool)
		if err == nil {
			err = argumentError(t, ArgumentProblems(t, d.Args))
		}
		if e := fault.As(err); e != nil {
			problems = append(problems, fault.New(e.Kind, e.Hint, "delegate %d of %d: %s", i+1, len(delegates), e.Message))
		}
		if d.Tool == tool.ReloadTools {
			break // tools that the next ones name may not be registered yet
		}
	}
	return mergeErrors(problems)
}

// delegatesOf reads the delegates in a result, which has them in the structured content, in the text, or in both.
func delegatesOf(result tool.Result) (calls []trail.Call, delegating bool, err error) {
	for _, text := range []string{string(result.Structured), result.Text} {
		if !strings.Contains(text, delegatesKey) {
			continue
		}
		if budget.Decoded(text) > maxDelegates {
			return nil, false, fault.New(fault.ProtocolError, "return fewer delegates, or smaller ones",
				"%s in the result takes more than %d MiB of memory", delegatesKey, maxDelegates>>20)
		}
		value, err := trail.DecodeJSON([]byte(text))
		object, isObject := value.(map[string]any)
		if list, found := object[delegatesKey]; err == nil && isObject && found {
			calls, err = readDelegates(list)
			return calls, true, err
		}
	}
	return nil, false, nil
}

func readDelegates(value any) ([]trail.Call, error) {
	const hint = `it is a list of {"tool": NAME, "args": {…}}`
	list, ok := value.([]any)
	if !ok {
		return nil, fault.New(fault.ProtocolError, hint, "%s in the result is not a list", delegatesKey)
	}
	calls := make([]trail.Call, len(list))
	for i, item := range list {
		entry, _ := item.(map[string]any)
		name, _ := entry["tool"].(string)
		args, isObject := entry["args"].(map[string]any)
		_, given := entry["args"]
		if entry["args"] == nil && (given || len(entry) == 1) { // with another key, args was probably misspelt
			args, isObject = map[string]any{}, true
		}
		if name == "" || !isObject {
			return nil, fault.New(fault.ProtocolError, hint, "%s[%d] in the result is not a call", delegatesKey, i)
		}
		delete(args, tool.ReservedArg) // a tool may pass its own arguments on
		calls[i] = trail.Call{Tool: name, Args: args}
	}
	return calls, nil
}
