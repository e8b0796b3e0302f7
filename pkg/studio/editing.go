package studio

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// view is the document as pages show it.
func (d *desk) view() documentView {
	v := documentView{
		Version: d.doc.Version(), Text: string(d.doc.Text()), Title: d.doc.Title(), Steps: []stepView{}, Selected: d.selected,
		CanUndo: d.doc.CanUndo(), CanRedo: d.doc.CanRedo(), Problems: d.problems, Lineage: []string{},
	}
	if parsing := d.doc.Problems(); len(parsing) > 0 {
		v.Problems = problemsOf(parsing, "error")
	}
	if d.session != nil {
		v.Lineage = d.session.Lineage()
	}
	steps := d.doc.Steps()
	v.Next = next(rowsOf(withoutTeardown(steps)), d.cursor)
	for _, s := range steps {
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

// row is a call of the document, or a step without calls, which a replay makes or stops at.
type row struct{ number, text string }

func (d *desk) rows() []row { return rowsOf(d.doc.Steps()) }

func rowsOf(steps []document.Step) []row {
	var out []row
	for _, s := range steps {
		if len(s.Calls) == 0 {
			out = append(out, row{s.Number, s.Kind + " " + s.Text})
		}
		for _, c := range s.Calls {
			out = append(out, row{c.Number, c.Tool + " " + c.Brief})
		}
	}
	return out
}

// next returns the number of the row behind a call or a step, that of the first one for "". It is "" for none.
func next(rows []row, number string) string {
	if number == "" && len(rows) > 0 {
		return rows[0].number
	}
	for i := len(rows) - 2; i >= 0; i-- {
		if isOf(rows[i].number, number) {
			return rows[i+1].number
		}
	}
	return ""
}

// isOf reports whether a row is a call or a step, or a call of a step.
func isOf(row, number string) bool { return row == number || stepOf(row) == number }

// mayEdit returns an error while the document must stay as it is.
func (d *desk) mayEdit() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state.Activity == replaying || d.state.Activity == saving {
		return fault.New(fault.Misuse, "wait, or stop it", "the trail is being replayed")
	}
	return nil
}

// change changes the document. What is known of calls stays with those that the change does not touch.
func (d *desk) change(f func() error) error {
	err := d.finishTyping()
	if err != nil {
		return err
	}
	d.set(func() {
		before := d.rows()
		if err = f(); err == nil {
			d.clicked = clicked{}
			d.follows(before)
		}
	})
	return err
}

// follows moves marks, cursor and selection to where their calls are now: those before and those behind what changed.
func (d *desk) follows(before []row) {
	after := d.rows()
	head := 0
	for head < min(len(before), len(after)) && before[head].text == after[head].text {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && before[len(before)-1-tail].text == after[len(after)-1-tail].text {
		tail++
	}
	to := make(map[string]string, len(before)) // of the rows that stay
	marks := map[string]mark{}
	for i, r := range before {
		switch {
		case i < head:
			to[r.number] = after[i].number
		case i >= len(before)-tail:
			to[r.number] = after[i+len(after)-len(before)].number
		default:
			continue
		}
		if m, ok := d.marks[r.number]; ok {
			marks[to[r.number]] = m
		}
	}
	d.setMarks(marks)
	if cursor := d.cursor; cursor != "" {
		if d.cursor = to[cursor]; d.cursor == "" && head > 0 {
			d.cursor = after[head-1].number
		}
	}
	d.selected = d.selectedNow(before, to)
}

// selectedNow returns what is selected after a change, which moved rows.
func (d *desk) selectedNow(before []row, to map[string]string) string {
	for _, r := range before {
		moved, stays := to[r.number]
		switch {
		case !stays:
		case r.number == d.selected:
			return moved
		case stepOf(r.number) == d.selected:
			return stepOf(moved)
		}
	}
	if d.has(d.selected) {
		return d.selected
	}
	return ""
}

// has reports whether the document has a step or a call.
func (d *desk) has(number string) bool {
	return slices.ContainsFunc(d.doc.Steps(), func(s document.Step) bool {
		return s.Number == number || slices.ContainsFunc(s.Calls, func(c document.Call) bool { return c.Number == number })
	})
}

func (d *desk) setMarks(marks map[string]mark) {
	d.marks = marks
	d.marked++
}

func (d *desk) setMark(number string, m mark) {
	d.marks[number] = m
	d.marked++
}

func (d *desk) edit(_ context.Context, p struct{ Edit document.Edit }) (any, error) {
	e := p.Edit
	e.Text, e.Args, e.Selector = d.clean(e.Text), d.cleanArgs(e.Args), d.cleanArgs(e.Selector)
	goes := false
	err := d.change(func() error {
		goes = e.Op == "move" && d.selected == e.Number
		return d.doc.Apply(e)
	})
	if err == nil && goes {
		d.set(func() { d.selected = e.To })
	}
	return nil, err
}

// hideSecrets puts the names of secrets in place of their values, which were there before they were secret.
func (d *desk) hideSecrets() error {
	return d.change(func() error {
		d.hint = d.clean(d.hint)
		for i, l := range d.lines {
			d.lines[i].Text = d.clean(l.Text)
		}
		return d.doc.Rewrite(d.cleanValue)
	})
}

// cleanArgs returns arguments with the names of secrets in place of their values.
func (d *desk) cleanArgs(args map[string]any) map[string]any {
	cleaned, _ := d.cleanValue(args).(map[string]any)
	return cleaned
}

func (d *desk) cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return d.clean(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = d.cleanValue(item)
		}
		return out
	case map[string]any:
		out := maps.Clone(v)
		for key, value := range v {
			out[key] = d.cleanValue(value)
		}
		return out
	}
	if number := fmt.Sprint(v); d.clean(number) != number {
		return d.clean(number)
	}
	return v
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
		if d.clean(p.Text) != p.Text && d.clean(string(d.doc.Text())) == string(d.doc.Text()) {
			return fault.New(fault.Misuse, "write {{NAME}} in its place", "the text has the value of a secret")
		}
		found = problemsOf(d.doc.SetText([]byte(p.Text), true), "error")
		return nil
	})
	return found, err
}

type nameParams struct {
	Step string // its number; empty for the one that is being recorded, or that will be
	Text string
	Next bool
}

// nameStep names a step.
func (d *desk) nameStep(_ context.Context, p nameParams) (any, error) {
	p.Text = d.clean(p.Text)
	return nil, d.change(func() error {
		number := cmp.Or(p.Step, d.recordedStep())
		if number == "" || p.Text == "" {
			d.hint, d.newStep = p.Text, true
			return nil
		}
		isNamed := func(s document.Step) bool { return s.Number == number && s.Text == p.Text }
		if !slices.ContainsFunc(d.doc.Steps(), isNamed) {
			if err := d.doc.Apply(document.Edit{Op: "reword", Step: number, Text: p.Text}); err != nil {
				return err
			}
		}
		d.newStep, d.hint = p.Next, ""
		return nil
	})
}

// recordedStep returns the number of the step that the next call belongs to; empty for a new one. The caller holds mu.
func (d *desk) recordedStep() string {
	steps := withoutTeardown(d.doc.Steps())
	switch {
	case d.newStep || len(steps) == 0:
		return ""
	case d.selected != "":
		return stepOf(d.selected)
	}
	return steps[len(steps)-1].Number
}

// withoutTeardown returns the steps of the trail itself. The teardown, which is behind them, is neither recorded nor replayed
// by a person.
func withoutTeardown(steps []document.Step) []document.Step {
	if at := slices.IndexFunc(steps, func(s document.Step) bool { return s.Kind == trail.KindTeardown }); at >= 0 {
		return steps[:at]
	}
	return steps
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
	var err error
	d.set(func() {
		if p.Number != "" && !d.has(p.Number) {
			err = fault.New(fault.InvalidArguments, "", "the trail has no step or call %s", p.Number)
			return
		}
		d.selected, d.newStep = p.Number, false
	})
	return nil, err
}

func (d *desk) record(_ context.Context, p struct{ On bool }) (any, error) {
	d.set(func() { d.state.Recording = p.On })
	return nil, nil
}
