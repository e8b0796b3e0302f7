package live

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// list is the steps of the recording, or those of a part: a trail that a step of the recording uses.
type list struct {
	steps  []*Step     // those that are still to come included
	next   int         // the index of the first step that is still to come
	source *fileSource // the trail whose steps are replayed; nil for a new recording

	outer *list        // the steps with the one that uses this part; nil for the recording
	use   session.Step // that one, for events
	leave func()       // restores the arguments of outer
}

// stepsOf returns the steps of a trail as they are to be replayed.
func (s *Session) stepsOf(file *trail.File) []*Step {
	all := steps(file)
	out := make([]*Step, len(all))
	for i := range all {
		calls, _ := all[i].Lookup(s.opts.Lineage)
		out[i] = &Step{Kind: all[i].Kind, Text: all[i].Text, Calls: calls, source: &all[i]}
	}
	return out
}

// within returns the number of the step that uses the current part, empty outside of one.
func (s *Session) within() string {
	if s.outer == nil {
		return ""
	}
	return event.StepStarted{Index: s.use.Index, Within: s.use.Within}.Number()
}

// enterPart makes the steps of a trail that a step uses the next ones.
func (s *Session) enterPart(st session.Step, use *trail.Use) Replayed {
	s.inner.StartStep(st)
	if reason, skipped := use.File.SkipReason(s.opts.Lineage); skipped {
		s.inner.FinishStep(st, event.Skipped)
		s.next++
		return Replayed{Outcome: event.Passed, Reason: reason}
	}
	part, err := s.part(use)
	if err == nil {
		part.leave, err = s.inner.Memory().Enter(use)
	}
	if err != nil {
		s.inner.FinishStep(st, event.Failed)
		return s.stopped(st, session.Failed(err), nil)
	}
	part.outer, part.use = s.list, st
	s.list = part
	return Replayed{Outcome: event.Passed}
}

// part returns the steps of a trail that is used. A part that was repaired before keeps its repair.
func (s *Session) part(use *trail.Use) (*list, error) {
	path := use.File.Name
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.opts.Project.Root, path)
	}
	part := &list{}
	if before := s.parts[path]; before != nil {
		part.source = before.source
		for _, step := range before.steps {
			again := *step
			again.done, again.failing = 0, false
			part.steps = append(part.steps, &again)
		}
	} else {
		data, problems := trail.ReadFile(use.File.Name, path)
		if len(problems) > 0 {
			return nil, problems
		}
		part.source = &fileSource{path: path, data: data, file: use.File}
		part.steps = s.stepsOf(use.File)
	}
	s.parts[path] = part
	return part, nil
}

// leavePart goes on after the step that uses the current part.
func (s *Session) leavePart(outcome event.Outcome) {
	s.leave()
	s.inner.FinishStep(s.use, outcome)
	s.list = s.outer
	s.next++
}

// leaveFinishedParts leaves the parts whose steps are all done, unless a request continues their last step.
func (s *Session) leaveFinishedParts(r StepRequest) {
	for s.outer != nil && s.next == len(s.steps) && !r.Unrecorded && !s.steps[s.next-1].is(r) {
		s.leavePart(event.Passed)
	}
}

// pauseParts ends, for events, the steps that use the part in which a replay stopped.
func (s *Session) pauseParts(outcome event.Outcome) {
	for l := s.list; l.outer != nil; l = l.outer {
		s.inner.FinishStep(l.use, outcome)
	}
}

// continueParts starts them again, the outermost first.
func (s *Session) continueParts(l *list) {
	if l.outer != nil {
		s.continueParts(l.outer)
		s.inner.StartStep(l.use)
	}
}

// allSteps returns the steps of the recording and of its parts.
func (s *Session) allSteps() []*Step {
	all := slices.Clone(s.root.steps)
	for _, path := range s.partPaths() {
		all = append(all, s.parts[path].steps...)
	}
	return all
}

// partPaths returns the paths of the parts that were replayed.
func (s *Session) partPaths() []string { return slices.Sorted(maps.Keys(s.parts)) }

// change is a file with the content it had, nil if it did not exist, and the content it gets.
type change struct {
	path          string
	before, after []byte
	part          bool // it may lie anywhere below the project
}

// partChanges returns the parts whose calls were repaired.
func (s *Session) partChanges(r SaveRequest) ([]change, error) {
	var changes []change
	for _, path := range s.partPaths() {
		part := s.parts[path]
		if !slices.ContainsFunc(part.steps, func(step *Step) bool { return step.changed }) {
			continue
		}
		name := s.relative(path)
		if err := s.checkPlace(s.opts.Project.Root, path); err != nil {
			return nil, err
		}
		before, err := files.Read(path, trail.MaxSize)
		if err == nil {
			err = part.source.unchanged(name, before)
		}
		if err != nil {
			return nil, err
		}
		after, err := trail.Update(name, before, s.opts.Lineage[0], s.file(part, name, "", true), r.Overwrite)
		if err != nil {
			return nil, err
		}
		if err := s.noSecrets(before, after); err != nil {
			return nil, err
		}
		changes = append(changes, change{path, before, after, true})
	}
	return changes, nil
}
