package replay

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// Place is a place between the calls of a trail: after the first Steps steps, and the first Calls calls of the next one.
type Place struct{ Steps, Calls int }

func (p Place) isBefore(other Place) bool {
	return p.Steps < other.Steps || p.Steps == other.Steps && p.Calls < other.Calls
}

// Limit limits the plan to the calls from one to another, both included. Each is given as step.call, such as 2.1, or as
// a step, which is its first or its last call; empty is the beginning or the end. A step that uses a trail is replayed
// whole. The teardown belongs to the plan if to is empty.
func (p *Plan) Limit(from, to string) (err error) {
	if from != "" {
		if p.From, _, err = p.around(from); err != nil {
			return err
		}
	}
	if to == "" {
		return nil
	}
	if _, p.To, err = p.around(to); err == nil && !p.From.isBefore(p.To) {
		err = fault.New(fault.InvalidArguments, "exchange them", "%s comes after %s", from, to)
	}
	return err
}

// around returns the places before and after a step or a call.
func (p *Plan) around(number string) (before, after Place, err error) {
	fail := func(format string, args ...any) error {
		return fault.New(fault.InvalidArguments, "steps are numbered from 1, calls as step.call, such as 2.1", format, args...)
	}
	stepNumber, callNumber, ofCall := strings.Cut(number, ".")
	n, err := strconv.Atoi(stepNumber)
	if err != nil || n < 1 || n > len(p.Steps) {
		return before, after, fail("the trail has no step %s; it has %s", stepNumber, text.Count(len(p.Steps), "step"))
	}
	before, after = Place{Steps: n - 1}, Place{Steps: n}
	if !ofCall {
		return before, after, nil
	}
	step := p.Steps[n-1]
	if step.Use != nil {
		return before, after, fail("step %d uses the trail %s and is replayed whole, without a call", n, step.Use.Path)
	}
	call, err := strconv.Atoi(callNumber)
	if err != nil || call < 1 || call > len(step.Calls) {
		return before, after, fail("step %d has no call %s; it has %s", n, number, text.Count(len(step.Calls), "call"))
	}
	before.Calls = call - 1
	if call < len(step.Calls) {
		after = Place{n - 1, call}
	}
	return before, after, nil
}

// includes reports whether a replay makes a call of a step, by its index.
func (p *Plan) includes(st *Step, call int) bool {
	at := Place{Steps: st.Top().Index - 1}
	if st.Root == nil {
		at.Calls = call
	}
	return !at.isBefore(p.From) && (p.To == Place{} || at.isBefore(p.To))
}

// calls returns the calls that a replay makes, as steps and the indexes of their calls.
func (p *Plan) calls() iter.Seq2[*Step, int] {
	return func(yield func(*Step, int) bool) {
		for st := range p.Leaves() {
			for i := range st.Calls {
				if p.includes(st, i) && !yield(st, i) {
					return
				}
			}
		}
	}
}

// atEnd reports whether no call is left but those of the teardown.
func (w *Walk) atEnd() bool {
	end := w.plan.To
	if end == (Place{}) {
		end.Steps = len(w.Root.Steps)
	}
	return w.Current == w.Root && !Place{w.Root.Next, w.Root.Done}.isBefore(end)
}

// Next returns the call that would be made next, as step.call, or the step, if it uses a trail or has no calls. It is
// empty after the last step.
func (w *Walk) Next() string {
	l := w.Root
	if l.Next == len(l.Steps) {
		return ""
	}
	if st := l.Steps[l.Next]; st.Use != nil || len(st.Calls) == 0 {
		return strconv.Itoa(l.Next + 1)
	}
	return fmt.Sprintf("%d.%d", l.Next+1, l.Done+1)
}
