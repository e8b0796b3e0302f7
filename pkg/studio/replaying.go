package studio

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
)

type replayParams struct{ Mode, To string }

// replay makes calls of the document: all in a fresh session, those up to one, or the next one.
func (d *desk) replay(ctx context.Context, p replayParams) (any, error) {
	if err := d.endTyping(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	text, next, cursor := d.doc.Text(), d.next(), d.cursor
	lostSession := d.session == nil
	order := map[string]int{}
	for i, c := range d.calls() {
		order[c.number] = i + 1
	}
	d.mu.Unlock()
	if len(text) == 0 {
		return nil, fault.New(fault.Misuse, "record something first", "the trail is empty")
	}
	r := live.TrailRequest{File: d.fileName(), Content: text, Keep: true}
	fresh := lostSession
	switch p.Mode {
	case "next":
		if next == "" {
			return nil, fault.New(fault.Misuse, "Replay begins again", "every call was made")
		}
		r.From, r.To = next, next
	case "to":
		r.From, r.To = next, p.To
		fresh = fresh || next == "" || cursor != "" && order[d.lastCall(p.To)] <= order[cursor]
		if fresh {
			r.From = ""
		}
	default:
		fresh = true
	}
	if cursor == "" && p.Mode == "to" {
		fresh = true // what a person did by hand is not what the trail begins with
		r.From = ""
	}
	if fresh && p.Mode != "next" || lostSession {
		if err := d.open(ctx); err != nil {
			return nil, err
		}
	}
	return d.runTrail(ctx, r)
}

// lastCall returns the number of a call, or that of the last call of a step.
func (d *desk) lastCall(number string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.doc.Steps() {
		if s.Number == number && len(s.Calls) > 0 {
			return s.Calls[len(s.Calls)-1].Number
		}
	}
	return number
}

// runTrail replays a part of the document, and shows how it ended.
func (d *desk) runTrail(ctx context.Context, r live.TrailRequest) (any, error) {
	s, err := d.current()
	if err != nil {
		return nil, err
	}
	ctx, done := d.busy(ctx, replaying, "replaying")
	defer done()
	d.set(func() { d.at = place{first: r.From} })
	report, err := s.RunTrail(ctx, r)
	if err != nil {
		d.log("error", err.Error())
		d.set(d.noRunning)
		return nil, err
	}
	d.set(func() {
		d.noRunning()
		switch {
		case report.Passed():
		case report.Step > 0 && ctx.Err() == nil:
			number := fmt.Sprint(report.Step)
			if report.Call > 0 {
				number = fmt.Sprintf("%d.%d", report.Step, report.Call)
			}
			d.marks[number] = mark{failed, reason(report)}
			d.selected = number
		}
		d.cursor = d.before(report.Next)
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

// before returns the number of the call before one, the last call for none.
func (d *desk) before(next string) string {
	last := ""
	for _, c := range d.calls() {
		if c.number == next || next != "" && !strings.Contains(next, ".") && stepOf(c.number) == next {
			return last
		}
		last = c.number
	}
	return last
}

// noRunning removes what is left of calls that were interrupted.
func (d *desk) noRunning() {
	for number, m := range d.marks {
		if m.outcome == running {
			delete(d.marks, number)
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
	isReplay := d.state.Activity == replaying
	if begins {
		d.at.calls++
	}
	number := d.at.step
	if !d.at.inner && d.at.calls > 0 {
		number = fmt.Sprintf("%s.%d", d.at.step, d.at.calls)
	}
	d.mu.Unlock()
	if isReplay && number != "" {
		d.set(func() { d.marks[number] = mark{o, message} })
	}
}

func firstLine(text string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more && rest != "" {
		return line + " …"
	}
	return line
}
