package run

import (
	"iter"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

// step is a trail's step with the recording that was chosen for the device.
type step struct {
	trail.Step
	index      int         // from 1, in its trail
	file       *trail.File // that has the step
	calls      []trail.Call
	needsAgent bool
	inner      []*step // of a step that uses a trail: the steps of that trail
	skip       string  // why the trail that it uses is skipped on the device; empty when it is not
	ifUsed     bool    // runs only if the trail that it uses was used before
	outer      *step   // the step of the replayed trail that this step belongs to; nil for such a step itself
}

// top returns the step of the replayed trail.
func (s *step) top() *step {
	if s.outer != nil {
		return s.outer
	}
	return s
}

// leaves returns the steps with calls of their own, in the order in which they run.
func leaves(steps []*step) iter.Seq[*step] {
	return func(yield func(*step) bool) {
		for _, s := range steps {
			if s.Use == nil {
				if !yield(s) {
					return
				}
				continue
			}
			for inner := range leaves(s.inner) {
				if !yield(inner) {
					return
				}
			}
		}
	}
}

// leaves returns the steps of the plan with calls of their own, those of the teardown last.
func (p *plan) leaves() iter.Seq[*step] { return leaves(slices.Concat(p.steps, p.teardown)) }

// stepsOf returns the steps of a trail for a device, the trailhead first.
func stepsOf(file *trail.File, lineage []string) []*step {
	var all []trail.Step
	if file.Trailhead != nil {
		all = append(all, *file.Trailhead)
	}
	return resolveSteps(file, append(all, file.Steps...), 0, lineage, nil)
}

// resolveSteps chooses the recordings of steps. before is the number of steps before them.
func resolveSteps(file *trail.File, all []trail.Step, before int, lineage []string, outer *step) []*step {
	out := make([]*step, len(all))
	for i, s := range all {
		st := &step{Step: s, index: before + i + 1, file: file, outer: outer}
		out[i] = st
		if s.Use == nil {
			calls, found := s.Lookup(lineage)
			st.calls, st.needsAgent = calls, !found
			continue
		}
		used := s.Use.File
		st.Text = used.Title()
		if reason, skip := used.SkipReason(lineage); skip {
			st.skip = "the trail that it uses is skipped: " + reason
			continue
		}
		st.inner = stepsOf(used, lineage)
		for _, inner := range st.inner {
			inner.setOuter(st.top())
		}
	}
	return out
}

func (s *step) setOuter(outer *step) {
	s.outer = outer
	for _, inner := range s.inner {
		inner.setOuter(outer)
	}
}

// teardownSteps returns the steps that run at the end: those of the trail, then those of the trails that it uses, the
// last one first. Each of the latter is one step that uses the trail again, for its teardown.
func teardownSteps(file *trail.File, steps []*step, lineage []string) []*step {
	out := resolveSteps(file, file.Config.Teardown, len(steps), lineage, nil)
	for _, s := range slices.Backward(using(steps)) {
		used := s.Use.File
		if len(used.Config.Teardown) == 0 {
			continue
		}
		again := &step{Step: s.Step, index: len(steps) + len(out) + 1, file: s.file, ifUsed: true}
		again.Text = used.Title() + ": teardown"
		again.inner = resolveSteps(used, used.Config.Teardown, 0, lineage, again)
		out = append(out, again)
	}
	return out
}

// using returns the steps that use a trail, also those within others, in the order in which they start.
func using(steps []*step) []*step {
	var out []*step
	for _, s := range steps {
		if s.Use != nil && s.skip == "" {
			out = append(append(out, s), using(s.inner)...)
		}
	}
	return out
}
