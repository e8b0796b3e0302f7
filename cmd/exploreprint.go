package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// exploreView is the JSON output of explore.
type exploreView struct {
	OK       bool             `json:"ok"`
	Outcome  event.Outcome    `json:"outcome"`
	Error    string           `json:"error"`
	Kind     fault.Kind       `json:"kind"`
	Model    string           `json:"model"`
	Title    string           `json:"title"`
	Steps    []exploredStep   `json:"steps"` // with that which opened the app
	Warnings []string         `json:"warnings"`
	Folder   string           `json:"folder"` // of the session
	Saved    *live.SaveReport `json:"saved"`  // null when it was not tried
	GoOn     string           `json:"goOn"`   // the command that goes on, when nothing was saved
	*event.ModelUse
}

type exploredStep struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Done bool   `json:"done"`
}

func (x *explorer) view(plan agent.Plan, done int, out agent.Outcome) exploreView {
	v := exploreView{
		OK: out.Outcome == event.Passed && out.Err == nil, Outcome: out.Outcome, Model: x.models.name, Title: plan.Title, Warnings: list(out.Warnings),
		Folder: x.session.Folder(), ModelUse: x.use, Steps: []exploredStep{{trail.KindStep, x.opening.text, true}},
	}
	for _, check := range out.Replaced {
		v.Warnings = append(v.Warnings, "a check that did not hold was replaced by another one: "+check)
	}
	for i, s := range plan.Steps {
		v.Steps = append(v.Steps, exploredStep{s.Kind, s.Text, i < done})
	}
	if out.Err != nil {
		v.Error, v.Kind = withHint(out.Err.Message, out.Err.Hint), out.Err.Kind
		if v.Outcome == event.Passed { // and then was not saved
			v.Outcome = event.Failed
		}
	}
	return v
}

// outcomeCode returns the exit code of an outcome that did not pass.
func outcomeCode(out agent.Outcome) error {
	if out.Outcome == event.Error {
		return exitCode(fault.ExitCode(out.Err))
	}
	return exitCode(fault.ExitFailed)
}

// printPlan prints a plan for --plan.
func (x *explorer) printPlan(ctx context.Context, plan agent.Plan, out agent.Outcome) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if x.json {
		err := x.writeJSON(x.view(plan, 0, out))
		if out.Err != nil {
			err = errors.Join(err, outcomeCode(out))
		}
		return err
	}
	if out.Err != nil {
		x.fail(out.Err)
		return outcomeCode(out)
	}
	x.printSteps(plan, 0)
	return nil
}

// printSteps prints the steps of a plan from an index on. Their numbers are those of the trail, which begins with the step
// that opens the app.
func (x *explorer) printSteps(plan agent.Plan, from int) {
	if from == 0 {
		fmt.Fprintf(x.Stdout, "%s\n  1. step: %s\n", report.Clean(plan.Title), x.opening.text)
	}
	for i, s := range plan.Steps[from:] {
		fmt.Fprintf(x.Stdout, "  %d. %s: %s\n", from+i+2, s.Kind, report.Clean(s.Text))
	}
}

// showPlan prints a plan that was accepted, or the steps to come of one that was changed.
func (x *explorer) showPlan(plan agent.Plan, change *agent.PlanChange) {
	switch {
	case x.json || x.quiet:
	case change == nil:
		x.printSteps(plan, 0)
		fmt.Fprintf(x.Stdout, "1/%d %s: passed\n", len(plan.Steps)+1, x.opening.text)
	case slices.Equal(plan.Steps[change.Done:], change.Plan.Steps[change.Done:]):
		fmt.Fprintf(x.Stdout, "the plan stays, although %s\n", report.Clean(change.Reason))
	default:
		fmt.Fprintf(x.Stdout, "the plan was changed, because %s\n", report.Clean(change.Reason))
		x.printSteps(plan, change.Done)
	}
}

// showStep prints how a step ended.
func (x *explorer) showStep(plan agent.Plan, index int, out agent.Outcome) {
	if x.json || x.quiet && out.Err == nil {
		return
	}
	fmt.Fprintf(x.Stdout, "%d/%d %s: %s\n", index+2, len(plan.Steps)+1, report.Clean(plan.Steps[index].Text), out.Outcome)
}

// printExplored prints how an exploration ended. saved is nil if the trail was not to be saved; goOn is the command that
// goes on. For one that did not end with a trail it returns the exit code.
func (x *explorer) printExplored(e agent.Explored, saved *live.SaveReport, goOn string) error {
	v := x.view(e.Plan, e.Done, e.Outcome)
	v.Saved, v.GoOn = saved, goOn
	var code error
	switch {
	case e.Err != nil:
		code = outcomeCode(e.Outcome)
	case !saved.Written:
		v.OK, v.Outcome, v.Error, v.Kind = false, saved.Replayed.Outcome, withHint(saved.Replayed.Reason, saved.Replayed.Hint), fault.Trail
		code = exitOf(*saved.Replayed)
	}
	if saved != nil {
		v.Warnings = append(v.Warnings, saved.Warnings...)
	}
	if x.json {
		return errors.Join(x.writeJSON(v), code)
	}
	for _, warning := range v.Warnings {
		x.notice("warning: " + warning)
	}
	fmt.Fprintf(x.Stdout, "model: %s\n", report.UsageSummary(x.use))
	switch {
	case e.Err != nil:
		x.fail(e.Err)
	case !saved.Written:
		x.printStopped("the replay", report.Clean(saved.File), *saved.Replayed)
		fmt.Fprintf(x.Stdout, "%s was not written\n", report.Clean(saved.File))
	default:
		x.printSaved(*saved)
	}
	x.printGoOn(goOn)
	return code
}

func (x *explorer) printGoOn(command string) {
	if command != "" {
		x.notice("the plan is left in the folder of the session; to go on: " + command)
	}
}
