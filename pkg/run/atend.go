package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

const (
	// softKind is the kind of a call with soft that failed.
	softKind = "soft"
	// maxEndFailures is how many of what fails a trail at its end its reason lists.
	maxEndFailures = 20
	// maxSoftEvidence is how many calls with soft that failed have evidence of the device.
	maxSoftEvidence = 10
)

// endFailure is something for which a trail fails at its end. step and call are nil if it is not known during which it
// happened.
type endFailure struct {
	kind, reason, hint string
	step               *replay.Step
	number             string // of the step
	call               *trail.Call
}

// softFailed notes that a call with soft failed, and keeps what the device shows.
func (p *replaying) softFailed(ctx context.Context, at session.Step, st *replay.Step, call *trail.Call, why session.Result) {
	p.soft = append(p.soft, endFailure{kind: softKind, reason: why.Reason, hint: why.Hint, step: st, number: at.Number(), call: call})
	p.noteModel(why.Cause)
	if p.Evidence != EvidenceOff && p.kept < maxSoftEvidence {
		p.kept++
		p.session.CollectEvidence(ctx, fmt.Sprintf("soft/%02d", p.kept))
	}
}

// atEnd returns the result of the steps, or of the teardown if where says so, with what fails the trail at its end.
func (p *replaying) atEnd(ctx context.Context, res trailResult, where string) trailResult {
	failures := append(p.soft, p.incidents(ctx, !res.bad())...)
	p.soft = nil
	return p.withFailures(res, failures, where)
}

// incidents returns what the device noted since the last time and failOn names. Without ended, calls were not made.
func (p *replaying) incidents(ctx context.Context, ended bool) []endFailure {
	kinds := p.failOn(p.plan)
	if len(kinds) == 0 || p.session.Err() != nil {
		return nil
	}
	var out []endFailure
	for _, i := range p.session.Incidents(ctx, ended) {
		if slices.Contains(kinds, i.Kind) {
			out = append(out, endFailure{i.Kind, i.Text, i.Hint, p.plan.Step(i.Place.Step), i.Place.Step, i.Place.Call})
		}
	}
	return out
}

// withFailures returns the result with failures, of which the first decides unless the trail did not pass anyway.
func (p *replaying) withFailures(res trailResult, all []endFailure, where string) trailResult {
	if len(all) == 0 {
		return res
	}
	list := make([]string, 0, len(all))
	var hints []string
	for _, f := range all[:min(len(all), maxEndFailures)] {
		res.failures = append(res.failures, f.event())
		list = append(list, "  "+strings.ReplaceAll(f.String(), "\n", "\n    "))
		if f.hint != "" && !slices.Contains(hints, f.hint) {
			hints = append(hints, f.hint)
		}
	}
	if more := len(all) - maxEndFailures; more > 0 {
		list = append(list, fmt.Sprintf("  and %d more", more))
	}
	if res.bad() {
		res.Reason += strings.TrimSuffix("\nbesides "+where, " ") + ":\n" + strings.Join(list, "\n")
		return res
	}
	reason := all[0].words()
	if len(all) > 1 {
		headline, _, _ := strings.Cut(reason, "\n")
		reason = fmt.Sprintf("%d failures, after which the trail went on. The first: %s\n%s", len(all), headline, strings.Join(list, "\n"))
	}
	if where != "" {
		reason = where + ": " + reason
	}
	first := failed(fault.New(fault.ToolFailed, strings.Join(hints, "\n"), "%s", reason))
	first.failures, first.teardown = res.failures, where != ""
	if all[0].step == nil {
		return first
	}
	first = first.atStep(all[0].step, all[0].call)
	if call := all[0].call; call != nil {
		first.column, first.hidden = call.Column, p.session.Hidden(*call)
	}
	return first
}

// words returns the reason with why it fails the trail.
func (f endFailure) words() string {
	if f.kind == softKind {
		return "soft failure: " + f.reason
	}
	return "failOn " + f.kind + ": " + f.reason
}

// String returns words with where that was.
func (f endFailure) String() string {
	if f.step == nil {
		return f.words()
	}
	line, tool := f.step.Line, ""
	if f.call != nil {
		line, tool = f.call.Line, ", "+f.call.Tool
	}
	return fmt.Sprintf("%s:%d: step %s %q%s: %s", f.step.File.Name, line, f.number, f.step.Text, tool, f.words())
}

func (f endFailure) event() event.Failure {
	e := event.Failure{Kind: f.kind, Reason: f.reason, Step: f.number}
	if f.step != nil {
		e.StepText, e.File = f.step.Text, f.step.File.Name
	}
	if f.call != nil {
		e.Tool, e.Line = f.call.Tool, f.call.Line
	}
	return e
}
