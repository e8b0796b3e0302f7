package session

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/budget"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// rememberValue is the built-in tool that sets a value in memory. Recordings call it for values that were set by a tool
// which a replay does not call.
const rememberValue = "rememberValue"

// Recording is what the session recorded.
type Recording struct {
	Steps   []trail.StepRecording // of the steps that were started, in order
	Omitted []string              // what had to be left out, for people
}

// Recording returns what was recorded so far.
func (s *Session) Recording() Recording {
	return Recording{slices.Clone(s.recorded), slices.Clone(s.omitted)}
}

// recordable returns what a successful call records: itself, or nil if its tool does not allow that. What located says
// replaces a reference of a live session.
func (s *Session) recordable(t *discover.Tool, call trail.Call, located *tool.Located) []trail.Call {
	if !t.IsRecordable {
		s.omit("tool %q is not recordable; its call is left out", t.Name)
		return nil
	}
	if located != nil {
		call.Args = maps.Clone(call.Args)
		delete(call.Args, "ref")
		for name, value := range located.Args {
			call.Args[name] = trail.Escape(value)
		}
	}
	args := call.Args
	call.Args, _ = s.opts.Redactor.Value(args).(map[string]any)
	if escapesToken(args, call.Args) {
		s.omit("the call of %q is left out, because %s", t.Name, behindBackslash)
		return nil
	}
	if !s.recordedSize.add(call.Args) {
		s.omit("the call of %q is left out, because its arguments do not fit: recordings have %s", t.Name, s.recordedSize.limit())
		return nil
	}
	return []trail.Call{call}
}

const behindBackslash = `it has a secret behind a backslash, where {{NAME}} would be literal text; write \${NAME} there`

// escapesToken reports whether a token that replaced a secret follows a backslash, which makes literal text of it.
func escapesToken(before, redacted any) bool {
	count := func(value any) int { return strings.Count(fmt.Sprint(value), `\{{`) }
	return count(redacted) > count(before)
}

// recordedSize is the memory that the arguments of recorded calls take, as a share of that for values.
type recordedSize struct {
	mu    sync.Mutex
	share *budget.Share
	bytes int
}

// add counts arguments, and reports whether there was room for them.
func (r *recordedSize) add(args map[string]any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := r.bytes + budget.Value(args, math.MaxInt)
	if !r.share.Resize(total) {
		return false
	}
	r.bytes = total
	return true
}

func (r *recordedSize) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.share.Release()
}

func (r *recordedSize) limit() string {
	return fmt.Sprintf("%d MiB together with the memory of sessions", r.share.Limit()>>20)
}

// omit notes what of the running step is not in the recording.
func (s *Session) omit(format string, args ...any) {
	if s.unrecorded {
		return
	}
	message := fmt.Sprintf(format, args...)
	if len(s.recorded) > 0 && !s.opts.Live { // a live session numbers its steps itself
		message = fmt.Sprintf("step %d: %s", len(s.recorded), message)
	}
	s.omitted = append(s.omitted, message)
}

// recordMemory returns calls that set the values which a delegating call set in memory. changes is the version of the
// memory before that call. A replay does not make the call, so its other effects are not repeated.
func (s *Session) recordMemory(l *level, call trail.Call, changes int) []trail.Call {
	set, deleted := s.opts.Values.ChangedSince(changes)
	for _, name := range deleted {
		s.omit("tool %q removed %q from memory before it delegated; a replay does not", call.Tool, name)
	}
	if l.calls.Load() > 0 {
		s.omit("tool %q called other tools before it delegated; a replay only sets the memory that they left", call.Tool)
	}
	var calls []trail.Call
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !trail.IsValueName(name) {
			s.omit("the value %q is left out, because it is not a name that a trail can use", name)
			continue
		}
		calls = append(calls, s.rememberCall(name, set[name])...)
	}
	return calls
}

// rememberCall returns the call that sets a value, or none if it does not fit into the recording.
func (s *Session) rememberCall(name string, value any) []trail.Call {
	escaped := trail.Escape(value)
	safe := s.opts.Redactor.Value(escaped)
	if escapesToken(escaped, safe) {
		s.omit("the value %q is left out, because %s", name, behindBackslash)
		return nil
	}
	call := trail.Call{Tool: rememberValue, Args: map[string]any{"name": name, "value": safe}}
	if !s.recordedSize.add(call.Args) {
		s.omit("the value %q is left out, because it does not fit: recordings have %s", name, s.recordedSize.limit())
		return nil
	}
	return []trail.Call{call}
}

// withSaved returns the calls to record of one whose result saveAs stored under name, with one that sets the value. It
// is left out if the last recorded call has the same saveAs, because a replay of that call stores the value.
func (s *Session) withSaved(calls []trail.Call, name string) []trail.Call {
	step := s.recordedStep()
	if step == nil || !step.Recorded && calls == nil {
		return calls
	}
	all := slices.Concat(step.Calls, calls)
	if n := len(all); n > 0 && all[n-1].SaveAs == name {
		return calls
	}
	if value, ok := s.opts.Values.Get(name); ok {
		calls = append(slices.Clip(calls), s.rememberCall(name, value)...)
	}
	return calls
}

// recordedStep returns the recording of the running step; nil if it is left out.
func (s *Session) recordedStep() *trail.StepRecording {
	if len(s.recorded) == 0 || s.unrecorded {
		return nil
	}
	return &s.recorded[len(s.recorded)-1]
}

// Record adds calls to the recording of the running step. With an empty list the step is recorded without calls.
// With nil nothing changes: a step for which only nil is recorded has no recording, and needs an agent.
func (s *Session) Record(calls []trail.Call) {
	if step := s.recordedStep(); step != nil {
		step.Calls = append(step.Calls, calls...)
		step.Recorded = step.Recorded || calls != nil
	}
}

// RecordUse adds the calls that use a trail to the recording of the running step: as they are, without secrets.
func (s *Session) RecordUse(calls []trail.Call) {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Args, _ = s.opts.Redactor.Value(calls[i].Args).(map[string]any)
	}
	s.Record(calls)
}
