package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// maxDepth is the number of levels of nested calls below a recorded one (specification, sections 12 and 13).
const maxDepth = 16

// level is a pending call, or the session itself, with the calls that are made within it.
type level struct {
	id          string // of the call: 3, or 3.1 for the first one made within 3; empty for the session
	depth       int    // of the call: 0 for a recorded one, -1 for the session
	unrecorded  bool   // it is made again with an outer call: a callback requested it, or it belongs to a composed tool
	recorded    bool   // the call, or an outer one, comes from a trail file
	fromSandbox bool   // a script in the sandbox requested the call, or an outer one
	inSandbox   bool   // a script in the sandbox executes the call
	fromURL     bool   // a server at a URL, or a process that the session did not start, requested the call, or an outer one
	atURL       bool   // a server at a URL executes the call
	calls       atomic.Int32

	ancestors []string      // see tool.Call
	callbacks chan struct{} // see tool.Call

	mu         sync.Mutex
	invocation string           // see tool.Call; empty for the session
	waiting    []*discover.Tool // called by callbacks of the call's tool, and not finished
}

func (l *level) setInvocation(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.invocation = id
}

// chain returns the ancestors of a call that the tool of this one makes and waits for.
func (l *level) chain() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(slices.Clip(l.ancestors), l.invocation)
}

// restartLimit restarts the limit of the call.
func (l *level) restartLimit() {
	select {
	case l.callbacks <- struct{}{}:
	default:
	}
}

// waitFor adds t to the tools that the tool of the call waits for. done removes it.
func (l *level) waitFor(t *discover.Tool) (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, t)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		i := slices.Index(l.waiting, t)
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}

// explainTimeout adds to the result of a call that timed out which callback it was waiting for.
func (l *level) explainTimeout(result tool.Result) tool.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	if result.Kind == fault.CallTimeout && len(l.waiting) > 0 {
		result.Text += fmt.Sprintf("; it was waiting for its callback to tool %q", l.waiting[0].Name)
	}
	return result
}

// next returns the level of the next call within l.
func (l *level) next(callback bool) *level {
	id := strconv.Itoa(int(l.calls.Add(1)))
	if l.id != "" {
		id = l.id + "." + id
	}
	ancestors := l.ancestors
	if callback {
		ancestors = l.chain()
	}
	return &level{
		id: id, depth: l.depth + 1, unrecorded: callback || l.unrecorded, recorded: l.recorded,
		fromSandbox: l.fromSandbox || l.inSandbox, fromURL: l.fromURL || l.atURL, ancestors: ancestors, callbacks: make(chan struct{}, 1),
	}
}

func checkDepth(l *level) error {
	if l.depth < maxDepth {
		return nil
	}
	return fault.New(fault.ToolFailed, "do tools call each other in a circle?",
		"calls within calls are nested %d levels deep, the most that is allowed", maxDepth)
}

// callEnd is the result of a call, and what of it is recorded.
type callEnd struct {
	result tool.Result
	err    error // the source failed, or the session ended
	calls  []trail.Call
}

func (e callEnd) ok() bool { return e.err == nil && e.result.OK }

// notMade returns the callEnd of a call that is rejected before it is sent.
func notMade(err error) callEnd {
	e := fault.As(err)
	return callEnd{result: tool.Result{Kind: e.Kind, Text: e.Message, Hint: e.Hint}}
}

// CallResult is how a call ended.
type CallResult struct {
	Result
	Answer   tool.Result  // the result of the tool; zero when the call was not made
	Recorded []trail.Call // the calls to record; nil for none
	// SoftFailed says that the call was made and failed, and has soft: the trail may go on.
	SoftFailed bool
	// Located is how the recording names the element that the call, or the last of its delegates, named by a reference
	// of a live session; nil without one.
	Located *tool.Located
}

// Call replaces the tokens in a call's arguments, validates them, makes the call and saves its result in memory under
// the name in saveAs. It adds the call to the recording of the running step.
func (s *Session) Call(ctx context.Context, call trail.Call) CallResult {
	done := s.CallUnrecorded(ctx, call)
	s.Record(done.Recorded)
	return done
}

// CallForOther is Call for a process that the session did not start, which may do what a server at a URL may.
func (s *Session) CallForOther(ctx context.Context, call trail.Call) CallResult {
	l := s.calls.next(false)
	l.fromURL = true
	done := s.callUnrecorded(ctx, l, call)
	s.Record(done.Recorded)
	return done
}

// CallUnrecorded is Call without the recording, to which the caller may add [CallResult.Recorded].
func (s *Session) CallUnrecorded(ctx context.Context, call trail.Call) CallResult {
	return s.callUnrecorded(ctx, s.calls.next(false), call)
}

func (s *Session) callUnrecorded(ctx context.Context, l *level, call trail.Call) CallResult {
	done := s.callAt(ctx, l, call, false)
	if done.SoftFailed { // only a trail that it stands in goes on
		done.Recorded = nil
	}
	return done
}

// callAt makes a call. checked is true if the arguments were validated with [ArgumentProblems].
func (s *Session) callAt(ctx context.Context, l *level, call trail.Call, checked bool) CallResult {
	if err := s.Err(); err != nil {
		return CallResult{Result: Errored(err)}
	}
	t, args, err := s.prepare(call, checked)
	if err != nil {
		return CallResult{Result: Failed(err)}
	}
	ctx, cancel := s.callContext(ctx)
	defer cancel()
	end := s.makeCall(ctx, l, t, args, call)
	done := CallResult{Result: s.resultOf(end), Answer: end.result, Located: end.result.Located}
	switch {
	case done.OK():
		done.Recorded = end.calls
		if call.SaveAs != "" {
			if err := s.opts.Values.SetResult(call.SaveAs, end.result.Text, end.result.Structured); err != nil {
				done.Result = Failed(err)
				return done
			}
			done.Recorded = s.withSaved(end.calls, call.SaveAs)
		}
	case call.Optional && done.Outcome == event.Failed:
		s.opts.Emit.Log("info", t.Source.Name, "optional call of "+t.Name+" failed: "+done.Reason, "")
		done.Result, done.Recorded = Passed(), s.recordable(t, call, nil)
	case call.Soft && done.Outcome == event.Failed:
		s.opts.Emit.Log("info", t.Source.Name, "soft call of "+t.Name+" failed, the trail fails at its end: "+done.Reason, "")
		done.SoftFailed, done.Recorded = true, s.recordable(t, call, nil)
	}
	return done
}

// Check returns the tool of a call, or what is wrong with the call. Tokens in its arguments are not replaced.
func (s *Session) Check(call trail.Call) (*discover.Tool, error) {
	t, err := s.Registry().Find(call.Tool)
	if err != nil {
		return nil, err
	}
	return t, argumentError(t, ArgumentProblems(t, call.Args))
}

// callContext returns a context that ends with the session and with ctx.
func (s *Session) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	call, cancel := context.WithCancelCause(s.ctx)
	if device.IsAfterFirstClick(ctx) {
		call = device.AfterFirstClick(call)
	}
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return call, func() {
		stop()
		cancel(nil)
	}
}

// prepare finds the tool, replaces the tokens in the arguments and validates them. Checked arguments without tokens are
// not validated again, unless the registry was replaced since.
func (s *Session) prepare(call trail.Call, checked bool) (*discover.Tool, map[string]any, error) {
	t, err := s.Registry().Find(call.Tool)
	if err != nil {
		return nil, nil, err
	}
	if checked && len(call.Args) > 0 && !trail.HasToken(call.Args) && !s.reloaded.Load() {
		return t, call.Args, nil
	}
	args, err := trail.Interpolate(call.Args, s.opts.Values)
	if err != nil {
		return nil, nil, err
	}
	if at := emptiedSelector("", call.Args, args); t.Source.Kind == tool.FromDevice && at != "" {
		return nil, nil, fault.New(fault.InvalidArguments, "",
			"%s: %s is empty, so it says nothing of the element", t.Name, at)
	}
	args = t.Fitted(call.Args, args, trail.HasToken)
	return t, args, argumentError(t, t.CheckArgs(args, nil))
}

// resultOf returns the result of a call that has ended: Failed if the tool reported a failure, Errored if the source of
// the tool failed. If the session has ended, the result is Errored with its cause.
func (s *Session) resultOf(end callEnd) Result {
	cause := s.Err()
	switch {
	case end.ok():
		return Passed()
	case cause != nil:
		return Errored(cause)
	case end.err != nil:
		return Errored(withHint(end.err, s.crashHint()))
	case sourceFailed(end.result.Kind):
		return Errored(withHint(resultError(end.result), s.crashHint()))
	}
	return Failed(resultError(end.result))
}

// sourceFailed reports whether a call failed because its server or device did: it crashed, its connection was lost, or
// it rejects requests. A model that cannot be asked is such a source.
func sourceFailed(kind fault.Kind) bool {
	return slices.Contains([]fault.Kind{fault.Crashed, fault.Server, fault.Device, fault.PermissionDenied}, kind) || kind.IsRequestFailure()
}

func resultError(result tool.Result) error {
	return &fault.Error{Kind: result.Kind, Message: result.Text, Hint: result.Hint}
}

// makeCall makes a call and the calls that it delegates to, and applies the changes of memory in the result.
func (s *Session) makeCall(ctx context.Context, l *level, t *discover.Tool, args map[string]any, call trail.Call) callEnd {
	s.opts.Emit.Emit(event.CallStarted{Call: l.id, Tool: t.Name, Source: t.Source.Name, Args: t.MaskedArgs(args)})
	started, changes := s.opts.Now(), s.opts.Values.Version()
	end := s.send(ctx, l, t, args, call.Timeout)
	s.keepAttachments(l.id, args, end.result.Attachments)
	if end.ok() {
		if err := s.opts.Values.Apply(end.result.MemoryDelta, end.result.MemoryDeletions); err != nil {
			end = notMade(err)
		} else {
			end = s.followDelegates(ctx, l, t, call, end, changes)
		}
	}
	r := s.resultOf(end)
	done := event.CallFinished{
		Call: l.id, Tool: t.Name, OK: r.OK(), Optional: call.Optional, Soft: call.Soft,
		DurationMs: s.opts.Now().Sub(started).Milliseconds(),
	}
	if done.OK {
		done.Text, done.Notes = end.result.Text, end.result.Notes
	} else {
		done.Error, done.Kind, done.Details = r.Reason, fault.KindOf(r.Cause), end.result.Details
	}
	s.keepLongText(l.id, done.Text+done.Error)
	s.opts.Emit.Emit(done)
	return end
}

// send makes one call. Its tool may send callbacks until it has returned; callbacks that still run then are cancelled
// and waited for. If the source fails or the result is fatal, the session is ended here, because a caller that waits
// for the response might treat it as an ordinary failure.
func (s *Session) send(ctx context.Context, l *level, t *discover.Tool, args map[string]any, timeout time.Duration) callEnd {
	call := tool.Call{
		ID: l.id, Tool: t.Name, Args: t.Coerced(args), Timeout: timeout, Ancestors: l.ancestors,
		WithoutTrail: s.opts.WithoutTrail, FromTrail: l.recorded, FromSandbox: l.fromSandbox, FromURL: l.fromURL,
		Context: s.toolContext(ctx, t), Callbacks: l.callbacks,
		Progress: func(message string) {
			s.opts.Emit.Emit(event.CallProgress{Call: l.id, Tool: t.Name, Message: message})
		},
	}
	if judge := s.judge.Load(); judge != nil && l.recorded && l.depth == 0 {
		call.Judge = *judge
	}
	entry, isServer := s.entryOf(t.Source)
	l.inSandbox, l.atURL = isServer && s.opts.sandboxes(entry), entry.URL != ""
	var end func()
	call.InvocationID, end = s.beginInvocation(ctx, l, t)
	l.setInvocation(call.InvocationID)
	result, err := t.Caller.Call(ctx, call)
	result = l.explainTimeout(result)
	if err == nil && result.Kind != fault.CallTimeout && result.Kind != fault.Cancelled {
		s.warnUnawaited(l, t)
	}
	end()
	switch {
	case err != nil && fault.KindOf(err) != fault.Cancelled:
		s.cancel(withHint(err, s.crashHint()))
	case result.Fatal:
		s.cancel(withHint(resultError(result),
			fmt.Sprintf("tool %q of %s reported a FatalError; its log may say why", t.Name, t.Source)))
	}
	return callEnd{result: result, err: err}
}

// warnUnawaited warns of callbacks that run although the tool that requested them has returned. They are cancelled.
func (s *Session) warnUnawaited(l *level, t *discover.Tool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, called := range l.waiting {
		s.opts.Emit.Log("warn", "callback", fmt.Sprintf("tool %q of %s returned before its callback to tool %q had ended, which was cancelled",
			t.Name, t.Source, called.Name), "await each call of another tool")
	}
}

// toolMemory is the memory as tools receive it. It is the same map until memory changes, so that servers encode it
// once. Values that have not changed are the same in the next map.
type toolMemory struct {
	mu      sync.Mutex
	values  map[string]any // nil before the first call
	version int            // of trail.Values
}

// current returns the memory with all secrets redacted, including those in values that tools have set.
func (m *toolMemory) current(values *trail.Values, redactor *redact.Redactor) map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := values.Version() // before the values, which may change meanwhile
	if m.values != nil && m.version == version {
		return m.values
	}
	set, deleted := values.ChangedSince(m.version)
	next := make(map[string]any, len(m.values)+len(set))
	maps.Copy(next, m.values)
	for _, name := range deleted {
		delete(next, redactor.Text(name))
	}
	changed, _ := redactor.Value(set).(map[string]any)
	maps.Copy(next, changed)
	m.values, m.version = next, version
	return next
}

// toolContext returns the context that a server receives with each call.
func (s *Session) toolContext(ctx context.Context, t *discover.Tool) tool.Context {
	width, height := s.Size()
	sc := s.opts.Scope
	c := tool.Context{
		SessionID: s.opts.ID,
		Memory:    s.memory.current(s.opts.Values, s.opts.Redactor),
		Device: tool.Device{
			ID: s.identity.ID, Name: s.opts.Device.Name, Platform: string(sc.Driver.Platform), Driver: sc.Driver.Key,
			Width: width, Height: height,
		},
	}
	if callbacks, _ := s.callbacksFor(t.Source); callbacks != nil {
		c.BaseURL = callbacks.URL()
	}
	if target := sc.Target; target.ID != "" {
		c.Target = &tool.Target{
			ID: target.ID, DisplayName: target.DisplayName, AppIDs: append([]string{}, sc.AppIDs()...), AppID: s.appID(ctx, t),
			BaseURL: s.opts.Redactor.Text(s.targetBaseURL()),
		}
	}
	return c
}

// ArgumentProblems returns the problems of a recorded call's arguments. Text with tokens is not checked.
func ArgumentProblems(t *discover.Tool, args map[string]any) []discover.ArgProblem {
	return t.CheckArgs(args, trail.HasToken)
}

// CallProblems returns [ArgumentProblems] of a call in a trail, each at its position in the file.
func CallProblems(t *discover.Tool, call trail.Call) []fault.Problem {
	var problems []fault.Problem
	for _, found := range ArgumentProblems(t, call.Args) {
		p := fault.Problem{Kind: fault.Trail, Message: call.Tool + ": " + found.Message, Hint: found.Hint}
		p.Line, p.Column = call.ArgPosition(found.Path)
		problems = append(problems, p)
	}
	return problems
}

// UnknownTool returns the problem of a call in a trail whose tool was not found, at its position in the file. err says why.
func UnknownTool(err error, call trail.Call) fault.Problem {
	return fault.Problem{Kind: fault.Trail, Line: call.Line, Column: call.Column, Message: err.Error(), Hint: Hint(err)}
}

// argumentError joins problems of arguments in one error, nil when there are none.
func argumentError(t *discover.Tool, problems []discover.ArgProblem) error {
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

// mergeErrors returns one error for several, with the kind of the first one.
func mergeErrors(errs []error) error {
	if len(errs) < 2 {
		return errors.Join(errs...)
	}
	messages := make([]string, len(errs))
	for i, err := range errs {
		messages[i] = err.Error()
	}
	return fault.New(fault.KindOf(errs[0]), Hint(errors.Join(errs...)), "%s", strings.Join(messages, "; "))
}
