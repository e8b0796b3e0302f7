package studio

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
)

type replayParams struct{ Mode, To string }

// replay makes calls of the document: all in a fresh session, those up to one, or the next one.
func (d *desk) replay(ctx context.Context, p replayParams) (any, error) {
	r, fresh, err := d.replayOf(p)
	if err != nil {
		return nil, err
	}
	switch {
	case fresh && d.opts.shared:
		d.log("info", "the replay begins in this session as it is, because it was started by the command line")
	case fresh:
		if err := d.open(ctx); err != nil {
			return nil, err
		}
	}
	return d.runTrail(ctx, r)
}

// replayOf returns the calls to make, and whether a fresh session makes them.
func (d *desk) replayOf(p replayParams) (r live.TrailRequest, fresh bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rows, isOpen := rowsOf(withoutTeardown(d.doc.Steps())), d.isOpen()
	from := next(rows, d.cursor)
	place := func(number string) int {
		last := -1
		for i, row := range rows {
			if isOf(row.number, number) {
				last = i
			}
		}
		return last
	}
	r.Keep = true
	switch {
	case len(d.doc.Text()) == 0:
		err = fault.New(fault.Misuse, "record something first", "the trail is empty")
	case p.Mode == "all":
		return r, true, nil
	case p.Mode == "next" && !isOpen:
		r.From, r.To = next(rows, ""), next(rows, "")
		return r, true, nil
	case p.Mode == "next" && from == "":
		err = fault.New(fault.Misuse, "Replay begins again", "every call was made")
	case p.Mode == "next":
		r.From, r.To = from, from
	case p.Mode == "to" && place(p.To) >= 0:
		r.To = p.To
		if !isOpen || d.cursor == "" || from == "" || place(p.To) <= place(d.cursor) {
			return r, true, nil // what a person did by hand is not what the trail begins with
		}
		r.From = from
	default:
		err = fault.New(fault.InvalidArguments, "replay all, to a step or call of the trail, or the next call", "there is nothing to replay %s %s", p.Mode, p.To)
	}
	return r, false, err
}

// runTrail replays a part of the document, and shows how it ended.
func (d *desk) runTrail(ctx context.Context, r live.TrailRequest) (any, error) {
	d.mu.Lock()
	s := d.session
	d.mu.Unlock()
	if _, err := d.current(); err != nil {
		return nil, err
	}
	d.catchUp(s) // what happens from now on belongs to the replay
	ctx, done := d.busy(ctx, replaying, "replaying")
	defer done()
	r.File = d.fileName()
	d.set(func() { d.at, r.Content, d.clicked = place{first: r.From}, d.doc.Text(), clicked{} })
	report, err := s.RunTrail(ctx, r)
	d.catchUp(s)
	if err != nil {
		d.log("error", err.Error())
		d.set(d.noRunning)
		return nil, err
	}
	d.set(func() {
		d.noRunning()
		if !report.Passed() && report.Step > 0 && ctx.Err() == nil {
			number := fmt.Sprint(cmp.Or(report.Outer, report.Step)) // the step that uses a part is one unit
			if report.Call > 0 && report.Part == "" {
				number = fmt.Sprintf("%d.%d", report.Step, report.Call)
			}
			d.setMark(number, mark{failed, d.clean(reason(report))})
			d.selected = number
		}
		if !report.Skipped() {
			d.cursor = d.before(report.Next)
		}
	})
	if !report.Passed() && report.Reason != "" {
		d.log("error", reason(report))
	}
	d.refresh(d.ctx)
	return report.Replayed, nil
}

func reason(r live.TrailReport) string {
	if r.Hint == "" {
		return r.Reason
	}
	return r.Reason + "\n" + r.Hint
}

// before returns the number of the row before a call or a step, the last one for none.
func (d *desk) before(next string) string {
	last := ""
	for _, r := range rowsOf(withoutTeardown(d.doc.Steps())) {
		if isOf(r.number, next) {
			break
		}
		last = r.number
	}
	return last
}

// noRunning removes what is left of calls that were interrupted.
func (d *desk) noRunning() {
	for number, m := range d.marks {
		if m.outcome == running {
			delete(d.marks, number)
			d.marked++
		}
	}
}

// stepOf returns the number of the step of a call.
func stepOf(number string) string {
	step, _, _ := strings.Cut(number, ".")
	return step
}

// place is where a replay is in the document, as its events say. Calls within a trail that a step uses are those of that
// step.
type place struct {
	step  string
	calls int  // that were begun in the step
	inner bool // in a trail that the step uses
	first string
}

func (d *desk) stepStarted(e event.StepStarted) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at.step, d.at.calls, d.at.inner = stepOf(e.Number()), 0, e.Within != ""
	if step, call, ok := strings.Cut(d.at.first, "."); ok && step == d.at.step { // the replay begins within the step
		d.at.calls, _ = strconv.Atoi(call)
		d.at.calls--
	}
	d.at.first = ""
}

func (d *desk) callStarted(e event.CallStarted) {
	if strings.Contains(e.Call, ".") {
		return // a tool made it
	}
	d.mark(running, "", true)
}

func (d *desk) callFinished(e event.CallFinished) {
	switch {
	case strings.Contains(e.Call, "."):
	case e.OK:
		d.log("info", fmt.Sprintf("%s: %s", e.Tool, firstLine(e.Text)))
		d.mark(passed, strings.Join(e.Notes, "\n"), false)
	case e.Optional:
		d.mark(skipped, e.Error, false)
	default:
		d.mark(failed, e.Error, false)
	}
}

// mark notes how the call stands at which a replay is.
func (d *desk) mark(o outcome, message string, begins bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if begins {
		d.at.calls++
	}
	number := d.at.step
	if !d.at.inner && d.at.calls > 0 {
		number = fmt.Sprintf("%s.%d", d.at.step, d.at.calls)
	}
	if d.state.Activity == replaying && number != "" {
		d.setMark(number, mark{o, d.clean(message)})
		d.want(&d.showing, d.showMarks)
	}
}

// showMarks shows the marks of a replay, at most ten times a second: the whole of a long trail is sent each time.
func (d *desk) showMarks() {
	d.mu.Lock()
	d.pushDocument()
	d.mu.Unlock()
	select {
	case <-time.After(time.Second / 10):
	case <-d.ctx.Done():
	}
}

func firstLine(text string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more && rest != "" {
		return line + " …"
	}
	return line
}
