package studio

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

type actParams struct {
	Act gesture.Act `json:"act"`
}

// beginAct is the request of a person who acts on the picture.
func beginAct(d *desk, params json.RawMessage) func(ctx context.Context) (any, error) {
	p, err := decode[actParams](params)
	if err != nil {
		return func(context.Context) (any, error) { return nil, err }
	}
	if p.Act.Kind == "key" || p.Act.Kind == "text" {
		return d.beginKeys(p.Act)
	}
	return afterTyping((*desk).act)(d, params)
}

// act performs what a person did at a point of the picture.
func (d *desk) act(ctx context.Context, p actParams) (any, error) {
	a := p.Act
	s, err := d.current()
	if err != nil {
		return nil, err
	}
	at, to := target(s.Locate(ctx, live.Place{X: int(a.X), Y: int(a.Y), Best: true})), gesture.Target{}
	if a.Kind == "drag" {
		to = target(s.Locate(ctx, live.Place{X: int(a.ToX), Y: int(a.ToY), Best: true}))
	}
	d.mu.Lock()
	first := d.clicked
	d.stray = 0
	d.mu.Unlock()
	twice := a.Kind == "doubleClick" && first.click != nil
	if twice && !first.isOf(at) { // the first click brought another element there
		a.Kind, twice = "click", false
	}
	r, err := gesture.Calls(d.device(), a, at, to)
	if err != nil {
		return nil, err
	}
	if r.Ask != nil {
		d.askOf(*r.Ask)
		return nil, nil
	}
	if twice {
		return d.secondClick(ctx, first, r.Calls[0])
	}
	m, number, err := d.perform(ctx, gestureOf(r.Calls), !r.Unrecorded)
	if err == nil && m.OK && a.Kind == "click" {
		d.set(func() { d.clicked = clicked{r.Calls[0].Args, number, at.Element.Ref, gesture.IsTextField(at.Element)} })
	}
	return m, err
}

// clicked is the last click.
type clicked struct {
	click   map[string]any // the arguments of its call; nil for none
	number  string         // of the call; empty for one that was not recorded
	ref     string         // of the element
	isField bool           // it gave a text field the focus
}

// isOf reports whether the click was on what is at a place now, as far as a replay can tell.
func (c clicked) isOf(at gesture.Target) bool {
	return c.ref != "" && c.ref == at.Element.Ref ||
		len(at.Candidates) > 0 && reflect.DeepEqual(c.click[nodeSelector], at.Candidates[0].Selector)
}

// nodeSelector is the argument of calls that names an element.
const nodeSelector = "nodeSelector"

// secondClick makes the second click of a double click. The call for both takes the place of that for the first one, and
// names the element as it was then.
func (d *desk) secondClick(ctx context.Context, first clicked, both trail.Call) (any, error) {
	m, _, err := d.perform(device.AfterFirstClick(ctx), gestureOf([]trail.Call{both}), false)
	if err != nil || !m.OK || first.number == "" {
		return m, err
	}
	if was := first.click[nodeSelector]; was != nil {
		both.Args = maps.Clone(both.Args)
		both.Args[nodeSelector] = was
	}
	d.set(func() {
		before, calls, number := d.rows(), d.withDialogs([]trail.Call{both}), first.number
		if err = d.doc.Replace(number, calls[0], true); err == nil && len(calls) > 1 {
			number, err = d.doc.Record(document.Place{After: number}, calls[1:]...)
		}
		if err == nil {
			d.wereMade(before, number, len(calls))
		}
	})
	return m, err
}

// target returns what is at a place. It is empty if nothing is.
func target(l live.Location, err error) gesture.Target {
	if err != nil {
		return gesture.Target{}
	}
	return gesture.Target{Location: l}
}

// must is make for one step of a larger act: a call that failed is an error.
func (d *desk) must(ctx context.Context, recorded bool, calls ...trail.Call) error {
	m, _, err := d.perform(ctx, gestureOf(calls), recorded)
	if err == nil && !m.OK {
		err = fault.New(fault.ToolFailed, m.Hint, "%s", m.Text)
	}
	return err
}

// gestureOf is the request for the calls of a gesture. What it does can be seen in the picture, so nobody waits for a look
// at the screen.
func gestureOf(calls []trail.Call) live.StepRequest {
	return live.StepRequest{Kind: trail.KindStep, Calls: calls, LookLater: true}
}

// make makes calls that are recorded if the person records, and returns what they did.
func (d *desk) make(ctx context.Context, kind string, calls ...trail.Call) (made, error) {
	m, _, err := d.perform(ctx, live.StepRequest{Kind: kind, Calls: calls}, true)
	return m, err
}

// perform is make for a request; it also returns the number of the last call that was recorded, empty for none.
func (d *desk) perform(ctx context.Context, r live.StepRequest, recorded bool) (m made, number string, err error) {
	s, err := d.current()
	if err != nil {
		return made{}, "", err
	}
	ctx, done := d.busy(ctx, acting, document.Brief(r.Calls[0]))
	defer done()
	d.set(func() {
		d.clicked, d.selectedAll = clicked{}, false
		d.asks = slices.DeleteFunc(d.asks, func(a *asking) bool { return a.dialog == nil })
	})
	r.Unrecorded = true
	report, err := s.Step(ctx, r)
	if err != nil && len(report.Calls) == 0 {
		return made{}, "", err
	}
	m = made{OK: report.OK(), Warnings: append([]string{}, report.Warnings...)}
	count := 0
	for _, c := range report.Calls {
		if !c.OK {
			m.Text, m.Hint = c.Text, c.Hint
			break
		}
		count++
		m.Text, m.Structured = c.Text, c.Structured
		if c.Note != "" {
			m.Warnings = append(m.Warnings, c.Note)
		}
	}
	for _, w := range m.Warnings {
		d.log("warn", w)
	}
	if !m.OK {
		d.log("error", document.Brief(r.Calls[min(count, len(r.Calls)-1)])+": "+m.Text)
	}
	if recorded && count > 0 {
		var unwritten error
		number, unwritten = d.write(r.Kind, r.Calls[:count])
		err = cmp.Or(err, unwritten)
	}
	if r.LookLater {
		d.mu.Lock()
		d.want(&d.refreshing, func() { d.refresh(d.ctx) })
		d.mu.Unlock()
	} else {
		d.refresh(ctx)
	}
	return m, number, err
}

// write adds calls that were made to the document, if the person records. It returns the number of the last one.
func (d *desk) write(kind string, calls []trail.Call) (number string, err error) {
	d.set(func() {
		calls = d.withDialogs(calls)
		if !d.state.Recording {
			return
		}
		before := d.rows()
		at := document.Place{After: d.placeAfter(), NewStep: d.newStep, Kind: kind, Text: d.hint}
		if number, err = d.doc.Record(at, calls...); err != nil {
			return
		}
		d.newStep, d.hint = false, ""
		d.wereMade(before, number, len(calls))
	})
	return number, err
}

// withDialogs returns calls for the trail: behind those for the answers of the person to dialogs, and without secrets. The
// caller holds mu.
func (d *desk) withDialogs(calls []trail.Call) []trail.Call {
	calls = append(d.dialogs, calls...)
	d.dialogs = nil
	for i := range calls {
		calls[i].Args = d.cleanArgs(calls[i].Args)
	}
	return calls
}

// wereMade shows that calls were recorded, the last of which has a number, and were made last. before are the rows before
// that. The caller holds mu.
func (d *desk) wereMade(before []row, number string, count int) {
	selected := d.selected
	d.follows(before)
	d.cursor = number
	if d.selected = ""; selected != "" {
		d.selected = number
	}
	rows := d.rows()
	end := slices.IndexFunc(rows, func(r row) bool { return r.number == number }) + 1
	for _, r := range rows[end-count : end] {
		d.setMark(r.number, mark{outcome: passed})
	}
}

// placeAfter returns what the next call is recorded after; empty for the end. The teardown takes no calls.
func (d *desk) placeAfter() string {
	for _, s := range d.doc.Steps() {
		if s.Number == stepOf(d.selected) && s.Kind != trail.KindTeardown {
			return d.selected
		}
	}
	return ""
}

func (d *desk) navigate(ctx context.Context, p struct{ URL string }) (any, error) {
	address := p.URL
	d.mu.Lock()
	if d.session != nil {
		address = d.session.app.pathOf(address)
	}
	d.mu.Unlock()
	return d.make(ctx, trail.KindStep, trail.Call{Tool: "web_navigate", Args: map[string]any{"url": address}})
}

// assert makes a check and records it. One that does not hold is recorded by nobody.
func (d *desk) assert(ctx context.Context, p struct{ Call newCall }) (any, error) {
	return d.make(ctx, trail.KindVerify, p.Call.call())
}

// callTool calls a tool of the project and records the call.
func (d *desk) callTool(ctx context.Context, p struct{ Call newCall }) (any, error) {
	if p.Call.SaveAs != "" && !trail.IsValueName(p.Call.SaveAs) {
		return nil, fault.New(fault.InvalidArguments, "use letters, digits, _, . and -", "saveAs: %q is not a name for a value", p.Call.SaveAs)
	}
	return d.make(ctx, trail.KindStep, p.Call.call())
}

func (d *desk) locate(ctx context.Context, p live.Place) (any, error) {
	s, err := d.current()
	if err != nil {
		return nil, err
	}
	found, err := s.Locate(ctx, p)
	if err != nil {
		return nil, err
	}
	l, err := s.Look(ctx, false)
	if err != nil {
		return nil, err
	}
	return locationView{found, gesture.Checks(d.device(), found, l.Root)}, nil
}

func (d *desk) lookNow(ctx context.Context, _ nothing) (any, error) {
	s, err := d.current()
	if err != nil {
		return nil, err
	}
	l, err := s.Look(ctx, false)
	if err == nil {
		d.mu.Lock()
		changed := d.state.URL != l.URL || d.state.Title != l.Title
		d.mu.Unlock()
		if changed {
			d.set(func() { d.state.URL, d.state.Title = l.URL, l.Title })
		}
	}
	return l, err
}

func (d *desk) tools(context.Context, nothing) (any, error) {
	d.mu.Lock()
	s := d.session
	d.mu.Unlock()
	out := []toolView{}
	if s == nil {
		return out, nil
	}
	for _, t := range s.registry.Tools {
		out = append(out, toolView{t.Name, t.Description, live.ShownSchema(t.InputSchema), t.Source.Name})
	}
	return out, nil
}

func (d *desk) pageLog(ctx context.Context, p struct{ Show device.Show }) (any, error) {
	s, err := d.current()
	if err != nil {
		return nil, err
	}
	shot, err := s.Snapshot(ctx, live.SnapshotOptions{Show: p.Show, MaxBytes: 64 << 10})
	if err != nil {
		return nil, err
	}
	return shot.Log, nil
}
