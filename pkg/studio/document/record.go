package document

import (
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Record inserts calls that were made, as one entry of undo, and returns the number of the last of them. Without
// Place.NewStep they continue the step at the place if they can: it has another kind than they, or takes no calls, they
// begin a step behind it.
func (d *Document) Record(p Place, calls ...trail.Call) (number string, err error) {
	if err := d.checkParsed(); err != nil {
		return "", err
	}
	if len(calls) == 0 {
		return "", fault.New(fault.InvalidArguments, "give at least one", "no calls to record")
	}
	if p.Kind != "" {
		if err := checkKind(p.Kind); err != nil {
			return "", err
		}
	}
	step, call, err := d.place(p.After)
	if err != nil {
		return "", err
	}
	if !p.NewStep && step >= 0 && d.continues(p, step, call, calls) {
		classifier, have := d.recorded(d.step(step))
		if classifier == "" && !d.now.rest.List {
			classifier, err = d.classifier()
		}
		if err != nil {
			return "", err
		}
		r := d.simple(func(v *trail.Revision, at func(int) int) {
			d.rewordFor(v, at, step, slices.Insert(slices.Clone(have), call, calls...))
			v.InsertCalls(at(step), classifier, call, calls)
		}, step)
		number = callNumber(step, call+len(calls)-1)
		return number, d.revise(r, number, false)
	}
	return d.recordStep(p, step, calls)
}

// place returns the index of the step at a place, -1 for none, and of the call before which to insert.
func (d *Document) place(after string) (step, call int, err error) {
	switch {
	case strings.Contains(after, "."):
		step, call, err = d.call(after)
		return step, call + 1, err
	case after != "":
		step, err = d.stepIndex(after)
	default:
		step = len(d.now.all()) - 1
	}
	if err != nil || step < 0 {
		return step, 0, err
	}
	_, calls := d.recorded(d.step(step))
	return step, len(calls), nil
}

// continues reports whether calls belong to a step. In between its calls they do.
func (d *Document) continues(p Place, step, call int, calls []trail.Call) bool {
	s := d.step(step)
	if s.Use != nil || !s.Recordable || p.Text != "" && p.Text != s.Text {
		return false
	}
	if _, have := d.recorded(s); call < len(have) {
		return true
	}
	kind := p.Kind
	if kind == "" {
		kind = kindOf(calls)
	}
	return (kind == trail.KindVerify) == (s.Kind == trail.KindVerify)
}

func kindOf(calls []trail.Call) string {
	if slices.ContainsFunc(calls, func(c trail.Call) bool { return !isCheck(c) }) {
		return trail.KindStep
	}
	return trail.KindVerify
}

// recordStep inserts a step with calls behind another one, -1 for none.
func (d *Document) recordStep(p Place, step int, calls []trail.Call) (number string, err error) {
	classifier, err := d.classifier()
	if err != nil {
		return "", err
	}
	s := trail.Step{
		Kind: p.Kind, Text: p.Text, Recordable: true,
		Recording: trail.Recording{{Classifier: classifier, Calls: slices.Clone(calls)}},
	}
	if s.Kind == "" {
		s.Kind = kindOf(calls)
	}
	if s.Text == "" {
		s.Text = provisionalText(s.Kind, calls)
	}
	number = callNumber(step+1, len(calls)-1)
	return number, d.addStep(step, s, p.Text == "", number)
}

// classifier returns the one for which calls are recorded.
func (d *Document) classifier() (string, error) {
	if len(d.opts.Lineage) == 0 {
		return "", fault.New(fault.InvalidArguments, "choose a device first", "calls cannot be recorded without a device")
	}
	return d.opts.Lineage[0], nil
}

// Replace puts a call in place of another one, such as typing that grew. With join it is one entry of undo with the
// Record of that call, or the Replace of it, directly before it.
func (d *Document) Replace(number string, c trail.Call, join bool) error {
	step, call, err := d.call(number)
	if err != nil {
		return err
	}
	return d.revise(d.replaced(step, call, c), number, join)
}
