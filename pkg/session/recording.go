package session

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// rememberValue is the built-in tool that a replay uses for what a tool that is not replayed put into memory.
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

// recordable returns what a successful call records: itself, or nil if its tool does not allow that.
func (s *Session) recordable(t *discover.Tool, call trail.Call) []trail.Call {
	if !t.IsRecordable {
		s.omit("tool %q is not recordable; its call is left out", t.Name)
		return nil
	}
	call.Args, _ = s.opts.Redactor.Value(call.Args).(map[string]any)
	return []trail.Call{call}
}

// omit notes what of the running step is not in the recording.
func (s *Session) omit(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if len(s.recorded) > 0 {
		message = fmt.Sprintf("step %d: %s", len(s.recorded), message)
	}
	s.omitted = append(s.omitted, message)
}

// recordMemory returns calls that set what a delegating call put into memory, since its count of changes was the given
// one. The replay does not make that call, so its other effects are not repeated.
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
		calls = append(calls, s.rememberCall(name, set[name]))
	}
	return calls
}

func (s *Session) rememberCall(name string, value any) trail.Call {
	safe := s.opts.Redactor.Value(trail.Escape(value))
	return trail.Call{Tool: rememberValue, Args: map[string]any{"name": name, "value": safe}}
}

// recordSaved records what saveAs left in memory, unless the recorded call has that saveAs itself: the last delegate,
// but not a call that delegated to nothing.
func (s *Session) recordSaved(name string) {
	if len(s.recorded) == 0 {
		return
	}
	step := &s.recorded[len(s.recorded)-1]
	n := len(step.Calls)
	if !step.Recorded || n > 0 && step.Calls[n-1].SaveAs == name {
		return
	}
	if value, ok := s.opts.Values.Get(name); ok {
		step.Calls = append(step.Calls, s.rememberCall(name, value))
	}
}

// recordCalls adds calls to the recording of the running step. A step that is only given nil has no recording, which
// means that it needs an agent; an empty list is a recorded step without calls.
func (s *Session) recordCalls(calls []trail.Call) {
	if len(s.recorded) == 0 {
		return
	}
	step := &s.recorded[len(s.recorded)-1]
	step.Calls = append(step.Calls, calls...)
	step.Recorded = step.Recorded || calls != nil
}
