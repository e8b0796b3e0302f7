// Package replay plans what a trail does on a device, and walks over its steps in a session. A run walks a trail once,
// a live session stops at a call that fails, lets its caller repair the step, and continues ([Walk]).
//
// It is independent of which trails are replayed, of retries, workers and reports, and of who repairs a step.
package replay

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Plan is what a replay of a trail does on a device. A walk does not change it.
type Plan struct {
	File     *trail.File
	Lineage  []string // the device's classifiers, narrow first
	Steps    []*Step  // the trailhead first
	Teardown []*Step  // run after the steps, whatever their outcome
	From, To Place    // what of the steps is replayed, see [Plan.Limit]; a zero To is the end
}

// Step is a step of a trail with the recording that was chosen for the device. The text of one that uses a trail is the
// title of that trail. Use is set, too, if its only call is tool.RunTrail.
type Step struct {
	trail.Step
	Index      int         // from 1, in its trail
	File       *trail.File // that has the step; nil for a step that was added to a recording
	Calls      []trail.Call
	NeedsAgent bool    // the step has no recording for the device
	Inner      []*Step // of a step that uses a trail: the steps of that trail
	Skip       string  // why the trail that it uses is skipped on the device; empty when it is not
	Root       *Step   // the step of the replayed trail that this step belongs to; nil for such a step itself
	Changed    bool    // Calls differ from those in the file; set by who changes them

	ifUsed bool // runs only if the trail that it uses was used before
}

// NewPlan returns the plan of a trail, loaded with those that it uses, for a device.
func NewPlan(file *trail.File, lineage []string) Plan {
	p := Plan{File: file, Lineage: lineage}
	p.Steps = p.resolve(file, file.AllSteps(), 0, nil)
	p.Teardown = p.teardown()
	return p
}

// Top returns the step of the replayed trail.
func (s *Step) Top() *Step {
	if s.Root != nil {
		return s.Root
	}
	return s
}

// Leaves returns those of steps with calls of their own, in the order in which they run.
func Leaves(steps []*Step) iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		for _, s := range steps {
			if s.Use == nil {
				if !yield(s) {
					return
				}
				continue
			}
			for inner := range Leaves(s.Inner) {
				if !yield(inner) {
					return
				}
			}
		}
	}
}

// Leaves returns the steps of the plan with calls of their own, those of the teardown last.
func (p *Plan) Leaves() iter.Seq[*Step] { return Leaves(slices.Concat(p.Steps, p.Teardown)) }

// SkipReason returns why the device skips the trail: it says so itself, or has nothing else for the device than trails that
// are skipped.
func (p *Plan) SkipReason() (reason string, ok bool) {
	if reason, ok := p.File.SkipReason(p.Lineage); ok {
		return reason, true
	}
	skips := p.Skipped()
	if len(skips) == 0 {
		return "", false
	}
	for s := range Leaves(p.Steps) {
		if s.NeedsAgent || len(s.Calls) > 0 {
			return "", false
		}
	}
	return fmt.Sprintf("step %d: %s", skips[0].Top().Index, skips[0].Skip), true
}

// Skipped returns the steps that use a trail which is skipped, also those within others.
func (p *Plan) Skipped() []*Step { return skipped(p.Steps) }

func skipped(steps []*Step) (out []*Step) {
	for _, s := range steps {
		if s.Skip != "" {
			out = append(out, s)
		}
		out = append(out, skipped(s.Inner)...)
	}
	return out
}

// Tools returns the names of the tools that recorded calls name.
func (p *Plan) Tools() []string {
	var names []string
	for s := range p.Leaves() {
		for _, c := range s.Calls {
			names = append(names, c.Tool)
		}
	}
	return names
}

// Step returns the step with a number, see [event.StepStarted]; nil if the plan has none.
func (p *Plan) Step(number string) *Step {
	var found *Step
	steps := slices.Concat(p.Steps, p.Teardown)
	for part := range strings.SplitSeq(number, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > len(steps) {
			return nil
		}
		found = steps[n-1]
		steps = found.Inner
	}
	return found
}

// resolve chooses the recordings of steps. before is the number of steps before them.
func (p *Plan) resolve(file *trail.File, all []*trail.Step, before int, outer *Step) []*Step {
	out := make([]*Step, len(all))
	for i, s := range all {
		st := &Step{Step: *s, Index: before + i + 1, File: file, Root: outer}
		out[i] = st
		calls, found := s.Lookup(p.Lineage)
		st.Calls = calls
		if st.Use = s.UseFor(p.Lineage); st.Use == nil {
			st.NeedsAgent = !found
			continue
		}
		used := st.Use.File
		if st.Kind == trail.KindUse || st.Text == "" {
			st.Text = used.Title()
		}
		if reason, skip := used.SkipReason(p.Lineage); skip {
			st.Skip = "the trail that it uses is skipped: " + reason
			continue
		}
		st.Inner = p.resolve(used, used.AllSteps(), 0, nil)
		for _, inner := range st.Inner {
			inner.setRoot(st.Top())
		}
	}
	return out
}

func (s *Step) setRoot(root *Step) {
	s.Root = root
	for _, inner := range s.Inner {
		inner.setRoot(root)
	}
}

// teardown returns the steps that run at the end: those of the trail, then those of the trails that it uses, the last
// one first. Each of the latter is one step that uses the trail again, for its teardown.
func (p *Plan) teardown() []*Step {
	out := p.resolve(p.File, p.File.TeardownSteps(), len(p.Steps), nil)
	for _, s := range slices.Backward(using(p.Steps)) {
		used := s.Use.File
		if len(used.Config.Teardown) == 0 {
			continue
		}
		again := &Step{Step: s.Step, Index: len(p.Steps) + len(out) + 1, File: s.File, ifUsed: true}
		again.Text = used.Title() + ": teardown"
		again.Inner = p.resolve(used, used.TeardownSteps(), 0, again)
		out = append(out, again)
	}
	return out
}

// using returns the steps that use a trail, also those within others, in the order in which they start.
func using(steps []*Step) []*Step {
	var out []*Step
	for _, s := range steps {
		if s.Use != nil && s.Skip == "" {
			out = append(append(out, s), using(s.Inner)...)
		}
	}
	return out
}
