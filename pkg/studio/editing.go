package studio

import (
	"context"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// view is the document as pages show it.
func (d *desk) view() documentView {
	v := documentView{
		Version: d.doc.Version(), Text: string(d.doc.Text()), Steps: []stepView{}, Selected: d.selected, Next: d.next(),
		CanUndo: d.doc.CanUndo(), CanRedo: d.doc.CanRedo(), Problems: problemsOf(d.doc.Problems(), "error"), Lineage: []string{},
	}
	if d.session != nil {
		v.Lineage = d.session.lineage
	}
	if f := d.doc.File(); f != nil {
		v.Title = f.Config.Title
	}
	for _, s := range d.doc.Steps() {
		step := stepView{Step: s, Calls: []callView{}}
		for _, c := range s.Calls {
			m := d.marks[c.Number]
			step.Calls = append(step.Calls, callView{Call: c, Outcome: m.outcome, Message: m.message})
		}
		step.Outcome = d.outcomeOf(step)
		v.Steps = append(v.Steps, step)
	}
	return v
}

// outcomeOf says how a step ended of which some calls were made.
func (d *desk) outcomeOf(s stepView) outcome {
	if own := d.marks[s.Number]; own.outcome != "" {
		return own.outcome
	}
	count := map[outcome]int{}
	for _, c := range s.Calls {
		count[c.Outcome]++
	}
	switch {
	case count[failed] > 0:
		return failed
	case count[running] > 0:
		return running
	case len(s.Calls) > 0 && count[passed] == len(s.Calls):
		return passed
	}
	return ""
}

// next is the call that Next call makes.
func (d *desk) next() string { return d.doc.Next(d.cursor) }

// change changes the document. What is known of calls stays with those that the change does not touch.
func (d *desk) change(f func() error) error {
	err := d.finishTyping()
	if err != nil {
		return err
	}
	d.set(func() {
		if d.state.Activity == replaying || d.state.Activity == saving {
			err = fault.New(fault.Misuse, "wait, or stop it", "the trail is being replayed")
			return
		}
		before := d.calls()
		if err = f(); err == nil {
			d.follows(before)
		}
	})
	return err
}

// numberedCall is a call of the document with its number.
type numberedCall struct {
	number string
	text   string // of the call
}

func (d *desk) calls() []numberedCall {
	var out []numberedCall
	for _, s := range d.doc.Steps() {
		for _, c := range s.Calls {
			out = append(out, numberedCall{c.Number, c.Tool + document.Brief(trail.Call{Tool: c.Tool, Args: c.Args})})
		}
	}
	return out
}

// follows moves marks, cursor and selection to where their calls are now: those before and those behind what changed.
func (d *desk) follows(before []numberedCall) {
	after := d.calls()
	same := func(a, b numberedCall) bool { return a.text == b.text }
	head := 0
	for head < min(len(before), len(after)) && same(before[head], after[head]) {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && same(before[len(before)-1-tail], after[len(after)-1-tail]) {
		tail++
	}
	to := func(number string) string {
		i := slices.IndexFunc(before, func(c numberedCall) bool { return c.number == number })
		switch {
		case i < 0:
			return ""
		case i < head:
			return after[i].number
		case i >= len(before)-tail:
			return after[i+len(after)-len(before)].number
		case head > 0 && len(after) > 0:
			return after[head-1].number
		}
		return ""
	}
	marks := map[string]mark{}
	for i, c := range before {
		if i < head || i >= len(before)-tail {
			if m, ok := d.marks[c.number]; ok {
				marks[to(c.number)] = m
			}
		}
	}
	d.marks, d.cursor = marks, to(d.cursor)
	if _, isCall := d.doc.Call(d.selected); !isCall && !d.hasStep(d.selected) {
		d.selected = ""
	}
}

func (d *desk) hasStep(number string) bool {
	return slices.ContainsFunc(d.doc.Steps(), func(s document.Step) bool { return s.Number == number })
}

func (d *desk) edit(_ context.Context, p struct{ Edit document.Edit }) (any, error) {
	return nil, d.change(func() error { return d.doc.Apply(p.Edit) })
}

// yaml takes the text that the person wrote, if it parses.
func (d *desk) yaml(_ context.Context, p struct {
	Text    string
	Version int
},
) (any, error) {
	found := []problem{}
	err := d.change(func() error {
		if p.Version != d.doc.Version() && p.Text != string(d.doc.Text()) {
			return fault.New(fault.Misuse, "take over what changed, or revert", "the trail was changed meanwhile")
		}
		found = problemsOf(d.doc.SetText([]byte(p.Text), true), "error")
		return nil
	})
	return found, err
}

type nameParams struct {
	Text string
	Next bool
}

// nameStep names the step that is being recorded, or that will be.
func (d *desk) nameStep(_ context.Context, p nameParams) (any, error) {
	return nil, d.change(func() error {
		steps := d.doc.Steps()
		at := len(steps) - 1
		if d.selected != "" {
			at = slices.IndexFunc(steps, func(s document.Step) bool { return stepOf(d.selected) == s.Number })
		}
		if d.newStep || at < 0 || p.Text == "" {
			d.hint, d.newStep = p.Text, true
			return nil
		}
		if p.Text != steps[at].Text {
			if err := d.doc.Apply(document.Edit{Op: "reword", Step: steps[at].Number, Text: p.Text}); err != nil {
				return err
			}
		}
		d.newStep, d.hint = p.Next, ""
		return nil
	})
}

func (d *desk) undo(context.Context, nothing) (any, error) {
	return nil, d.change(func() error {
		if !d.doc.Undo() {
			return fault.New(fault.Misuse, "", "there is nothing to undo")
		}
		return nil
	})
}

func (d *desk) redo(context.Context, nothing) (any, error) {
	return nil, d.change(func() error {
		if !d.doc.Redo() {
			return fault.New(fault.Misuse, "", "there is nothing to redo")
		}
		return nil
	})
}

func (d *desk) selectNumber(_ context.Context, p struct{ Number string }) (any, error) {
	d.set(func() { d.selected, d.newStep = p.Number, false })
	return nil, nil
}

func (d *desk) record(_ context.Context, p struct{ On bool }) (any, error) {
	d.set(func() { d.state.Recording = p.On })
	return nil, nil
}
