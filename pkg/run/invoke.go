package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// maxDepth is how many levels of calls within calls there may be below a recorded one (specification, sections 12 and 13).
const maxDepth = 16

// level is a call in flight, or the trail itself, with the calls that are made within it.
type level struct {
	id     string // of the call: 3, or 3.1 for the first that is made within 3; empty for the trail
	depth  int    // of the call: 0 for a recorded one, -1 for the trail
	asking bool   // a tool waits for it
	calls  atomic.Int32

	ancestors []string // see tool.Call

	mu         sync.Mutex
	invocation string           // see tool.Call; empty for the trail
	waits      []*discover.Tool // what the tool of the call waits for, by callback
}

func (l *level) setInvocation(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.invocation = id
}

// lineage returns the ancestors of a call that the tool of this one makes and waits for.
func (l *level) lineage() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(slices.Clip(l.ancestors), l.invocation)
}

// waiting notes that the tool of the call asks for another one; done takes that back.
func (l *level) waiting(t *discover.Tool) (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits = append(l.waits, t)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		i := slices.Index(l.waits, t)
		l.waits = slices.Delete(l.waits, i, i+1)
	}
}

// overdue adds to the result of a call that ran out of time what it was waiting for, since that may be what hung.
func (l *level) overdue(result tool.Result) tool.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	if result.Kind == fault.CallTimeout && len(l.waits) > 0 {
		result.Text += fmt.Sprintf("; it was waiting for its callback to tool %q", l.waits[0].Name)
	}
	return result
}

func (l *level) next(asking bool) *level {
	id := strconv.Itoa(int(l.calls.Add(1)))
	if l.id != "" {
		id = l.id + "." + id
	}
	ancestors := l.ancestors
	if asking {
		ancestors = l.lineage()
	}
	return &level{id: id, depth: l.depth + 1, asking: asking || l.asking, ancestors: ancestors}
}

// ended is how a call ended, and what of it belongs into a recording.
type ended struct {
	result tool.Result
	err    error // the source broke, or the session ended
	calls  []trail.Call
}

func (e ended) ok() bool { return e.err == nil && e.result.OK }

// refuse is the end of a call that is not made.
func refuse(err error) ended {
	e := fault.As(err)
	return ended{result: tool.Result{Kind: e.Kind, Text: e.Message, Hint: e.Hint}}
}

// invoke makes a call, whoever asked for it, and the calls that it delegates to. What it leaves in memory is applied.
func (p *player) invoke(ctx context.Context, l *level, t *discover.Tool, args map[string]any, as trail.Call) ended {
	s := p.session
	s.emit.Emit(event.CallStarted{Call: l.id, Tool: t.Name, Source: t.Source.Name, Args: t.MaskedArgs(args)})
	begun, changes := s.setup.Now(), p.values.Version()
	end := p.send(ctx, l, t, args, as.Timeout)
	if end.ok() {
		p.values.Apply(end.result.MemoryDelta, end.result.MemoryDeletions)
		end = p.follow(ctx, l, t, as, end, changes)
	}
	v := p.judge(end)
	done := event.CallFinished{
		Call: l.id, Tool: t.Name, OK: v.outcome == event.Passed, DurationMs: s.setup.Now().Sub(begun).Milliseconds(),
	}
	if done.OK {
		done.Text = end.result.Text
	} else {
		done.Error, done.Kind = v.reason, fault.KindOf(v.cause)
	}
	s.emit.Emit(done)
	return end
}

// send makes one call. Its tool may call back until it has returned; what such a callback still runs then is cancelled and
// waited for. A source that breaks, and a tool that says that nothing can go on, end the session here: whoever waits for the
// answer might make something else of it.
func (p *player) send(ctx context.Context, l *level, t *discover.Tool, args map[string]any, timeout time.Duration) ended {
	s := p.session
	call := tool.Call{
		Tool: t.Name, Args: args, Timeout: timeout, Ancestors: l.ancestors, WithoutTrail: p.byHand, Context: p.context(t),
		Progress: func(message string) { s.emit.Emit(event.CallProgress{Call: l.id, Tool: t.Name, Message: message}) },
	}
	var forget func()
	call.InvocationID, forget = p.begin(ctx, l, t)
	l.setInvocation(call.InvocationID)
	result, err := t.Caller.Call(ctx, call)
	result = l.overdue(result)
	forget()
	switch {
	case err != nil && fault.KindOf(err) != fault.Cancelled:
		s.cancel(advised(err, crashHint))
	case result.Fatal:
		s.cancel(advised(whyFailed(result),
			fmt.Sprintf("tool %q of %s says that nothing can go on (FatalError); its log may say why", t.Name, t.Source)))
	}
	return ended{result: result, err: err}
}

// begin lets the tool of a call call back. Only those of servers can.
func (p *player) begin(ctx context.Context, l *level, t *discover.Tool) (id string, forget func()) {
	door, entry := p.session.doorFor(t.Source)
	if door == nil {
		return tool.NewCapability(), func() {}
	}
	return door.Begin(ctx, callback.Invocation{
		Session:  p.session.id,
		Entry:    entry.Name,
		Limit:    callbackLimit(entry),
		Dispatch: func(ctx context.Context, r callback.Request) callback.Answer { return p.dispatch(ctx, l, r) },
	})
}

// dispatch makes the call that a tool asks for while it runs.
func (p *player) dispatch(ctx context.Context, from *level, r callback.Request) callback.Answer {
	delta := make(map[string]any, len(r.MemoryDelta))
	for name, value := range r.MemoryDelta {
		delta[name] = value
	}
	p.values.Apply(delta, r.MemoryDeletions)
	changes := p.values.Version()
	end := p.asked(ctx, from, r)
	set, gone := p.values.ChangedSince(changes)
	answer := callback.Answer{OK: end.ok(), Text: end.result.Text, Structured: end.result.Structured, MemoryDeletions: gone}
	if set != nil {
		answer.MemoryDelta, _ = p.session.setup.Redactor.Value(set).(map[string]any)
	}
	switch {
	case end.err != nil:
		answer.Error = end.err.Error()
	case !answer.OK:
		answer.Error, answer.Text = joinHint(end.result.Text, end.result.Hint), ""
	}
	return answer
}

func joinHint(text, hint string) string {
	if hint == "" {
		return text
	}
	return text + " (" + hint + ")"
}

// asked finds the tool that a callback names and makes the call. Its arguments are values: nothing in them is filled in.
func (p *player) asked(ctx context.Context, from *level, r callback.Request) ended {
	if err := tooDeep(from); err != nil {
		return refuse(err)
	}
	t, err := p.session.registry.Load().Find(r.Tool)
	if err != nil {
		return refuse(err)
	}
	delete(r.Args, tool.ReservedArg) // of a tool that hands its own arguments on
	if err := argsFault(t, t.CheckArgs(r.Args, nothingOpen)); err != nil {
		return refuse(err)
	}
	defer from.waiting(t)()
	return p.invoke(ctx, from.next(true), t, r.Args, trail.Call{Tool: t.Name, Args: r.Args})
}

func nothingOpen(string) bool { return false }

// unfit is what of arguments does not fit the tool; of those with tokens in them only the names can be judged yet.
func unfit(t *discover.Tool, args map[string]any) []discover.ArgProblem {
	return t.CheckArgs(args, func(property string) bool { return trail.HasToken(args[property]) })
}

func tooDeep(l *level) error {
	if l.depth < maxDepth {
		return nil
	}
	return fault.New(fault.ToolFailed, "do tools call each other in a circle?", "calls within calls are %d levels deep, the most there may be", maxDepth)
}

// argsFault says in one error what of the arguments does not fit, nil when all does.
func argsFault(t *discover.Tool, problems []discover.ArgProblem) error {
	if len(problems) == 0 {
		return nil
	}
	var messages, hints []string
	for _, problem := range problems {
		messages = append(messages, problem.Message)
		if problem.Hint != "" && !strings.Contains(strings.Join(hints, "\n"), problem.Hint) {
			hints = append(hints, problem.Hint)
		}
	}
	return fault.New(fault.InvalidArguments, strings.Join(hints, "; "), "%s: %s", t.Name, strings.Join(messages, "; "))
}

// follow says what of a successful call is to be recorded: the call, or when it delegates what it changed in memory and its
// delegates, which are made here. A tool that says that it delegates and answers without delegates did the thing itself. What a tool
// asks for by callback is not recorded, since its replay asks for it again.
func (p *player) follow(ctx context.Context, l *level, t *discover.Tool, as trail.Call, end ended, changes int) ended {
	delegates, delegating, err := delegatesOf(end.result)
	switch {
	case err != nil:
		e := fault.As(err)
		return refuse(fault.New(e.Kind, e.Hint, "tool %q: %s", t.Name, e.Message))
	case delegating:
		return p.delegate(ctx, l, as, end, delegates, changes)
	case !l.asking:
		end.calls = p.record(t, as)
	}
	return end
}

// delegate makes the calls that one delegates to. Its end is that of the last of them.
func (p *player) delegate(ctx context.Context, l *level, as trail.Call, end ended, delegates []trail.Call, changes int) ended {
	var kept []trail.Call
	if !l.asking {
		kept = p.remembered(l, as, changes)
	}
	if len(delegates) == 0 {
		end.calls = append([]trail.Call{}, kept...) // a no-op, which is not the same as nothing to record
		return end
	}
	if err := p.check(l, delegates); err != nil {
		return refuse(err)
	}
	delegates[len(delegates)-1].SaveAs = as.SaveAs // its result is the one to save
	for i, d := range delegates {
		t, args, err := p.ready(d)
		if err != nil {
			end = refuse(err)
		} else {
			end = p.invoke(ctx, l.next(false), t, args, d)
		}
		if !end.ok() {
			if at := fmt.Sprintf("delegate %d of %d, tool %q: ", i+1, len(delegates), d.Tool); !strings.Contains(end.result.Text, at) {
				end.result.Text = at + end.result.Text // said once where tools delegate in a circle
			}
			return end
		}
		kept = append(kept, end.calls...)
	}
	end.calls = kept
	return end
}

// check refuses delegates before the first of them runs.
func (p *player) check(l *level, delegates []trail.Call) error {
	if err := tooDeep(l); err != nil {
		return err
	}
	var wrong []error
	for i, d := range delegates {
		t, err := p.session.registry.Load().Find(d.Tool)
		if err == nil {
			err = argsFault(t, unfit(t, d.Args))
		}
		if e := fault.As(err); e != nil {
			wrong = append(wrong, fault.New(e.Kind, e.Hint, "delegate %d of %d: %s", i+1, len(delegates), e.Message))
		}
		if d.Tool == reloadTools {
			break // what comes behind it may not be known yet
		}
	}
	return together(wrong)
}

// together makes one error of several, of the first one's kind.
func together(errs []error) error {
	if len(errs) < 2 {
		return errors.Join(errs...)
	}
	messages := make([]string, len(errs))
	for i, err := range errs {
		messages[i] = err.Error()
	}
	return fault.New(fault.KindOf(errs[0]), hintOf(errors.Join(errs...)), "%s", strings.Join(messages, "; "))
}

// delegatesKey is where a result says which calls are to be made in its place (specification, section 13).
const delegatesKey = "_trailblaze_delegates"

// delegatesOf reads the delegates in a result. They are written in the structured content, in the text, or the same in both.
func delegatesOf(result tool.Result) (calls []trail.Call, delegating bool, err error) {
	for _, in := range []string{string(result.Structured), result.Text} {
		if !strings.Contains(in, delegatesKey) {
			continue
		}
		value, err := trail.DecodeJSON([]byte(in))
		object, isObject := value.(map[string]any)
		if list, there := object[delegatesKey]; err == nil && isObject && there {
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
		return nil, fault.New(fault.ProtocolError, hint, "%s in the result is no list", delegatesKey)
	}
	calls := make([]trail.Call, len(list))
	for i, item := range list {
		entry, _ := item.(map[string]any)
		name, _ := entry["tool"].(string)
		args, isObject := entry["args"].(map[string]any)
		_, given := entry["args"]
		if entry["args"] == nil && (given || len(entry) == 1) { // another key is probably this one, misspelt
			args, isObject = map[string]any{}, true
		}
		if name == "" || !isObject {
			return nil, fault.New(fault.ProtocolError, hint, "%s[%d] in the result is no call", delegatesKey, i)
		}
		delete(args, tool.ReservedArg) // of a tool that hands its own arguments on
		calls[i] = trail.Call{Tool: name, Args: args}
	}
	return calls, nil
}
