package agent

import (
	"context"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// maxChanges is how often a plan may be changed after a step that failed.
const maxChanges = 3

// EditableSession is a session whose recording can be changed. A [live.API] is one.
type EditableSession interface {
	Session
	Edit(ctx context.Context, e live.Edit) (string, error)
}

// Exploration is a goal that is to be reached, in a session that shows the app.
type Exploration struct {
	Goal
	Trail Trail // that is written; its Steps are those before the plan, such as that which opened the app
	// Values returns the values in memory before a task. Nil for those of the goal.
	Values func(ctx context.Context) map[string]string
	// Planned is called with each plan that is accepted, and what asked for it: nil for the first one. May be nil.
	Planned func(p Plan, change *PlanChange)
	// Ended is called after a step with its index in the plan. May be nil.
	Ended func(p Plan, index int, o Outcome)
}

// Explored is how far a goal was reached.
type Explored struct {
	Plan Plan // as it was in the end; empty if there was none
	Done int  // how many of its steps have passed
	// Outcome is that of the last task or plan, with the warnings and replaced checks of all tasks and the number of all
	// their checks.
	Outcome
}

// Explore plans how a goal is reached, and carries out the steps. Their calls are recorded in the session. After a step
// that failed the model may change the steps to come; a verify that failed ends it.
func (a *Agent) Explore(ctx context.Context, s EditableSession, e Exploration) Explored {
	x := &exploring{agent: a, session: s, Exploration: e}
	x.explore(ctx)
	return x.explored
}

type exploring struct {
	Exploration
	agent    *Agent
	session  EditableSession
	explored Explored
	changes  int
}

func (x *exploring) explore(ctx context.Context) {
	if !x.planned(ctx, nil) {
		return
	}
	for x.explored.Done < len(x.explored.Plan.Steps) {
		counted := &countedSession{EditableSession: x.session}
		out := x.step(ctx, counted)
		switch {
		case out.Outcome == event.Passed:
			x.explored.Done++
		case !x.mayChange(out) || !x.changed(ctx, out.Err, counted.step):
			return
		}
	}
}

// step carries out the next step.
func (x *exploring) step(ctx context.Context, s Session) Outcome {
	plan, i := x.explored.Plan, x.explored.Done
	task := x.task(i)
	if x.Values != nil {
		task.Memory = x.Values(ctx)
	}
	out := x.agent.Do(ctx, s, task)
	sum := x.explored.Outcome
	x.explored.Outcome = out
	x.explored.Warnings, x.explored.Replaced = append(sum.Warnings, out.Warnings...), append(sum.Replaced, out.Replaced...)
	x.explored.Checks += sum.Checks
	if x.Ended != nil {
		x.Ended(plan, i, out)
	}
	return out
}

func (x *exploring) task(index int) Task {
	of := x.Trail
	of.Steps = append([]string{}, x.Trail.Steps...)
	for _, s := range x.explored.Plan.Steps {
		of.Steps = append(of.Steps, s.Text)
	}
	of.Index = len(x.Trail.Steps) + index
	if of.Title == "" {
		of.Title = x.explored.Plan.Title
	}
	s := x.explored.Plan.Steps[index]
	return Task{Number: strconv.Itoa(of.Index + 1), Kind: s.Kind, Text: s.Text, Recordable: true, Trail: of, Memory: x.Memory}
}

// mayChange reports whether the plan may be changed after the outcome of its next step.
func (x *exploring) mayChange(out Outcome) bool {
	failed := x.explored.Plan.Steps[x.explored.Done]
	return out.Outcome == event.Failed && out.Err.Kind != OverBudget && failed.Kind == trail.KindStep && x.changes < maxChanges
}

// changed changes the plan after a step that failed. recorded is the number of the step in the recording that has its
// calls, 0 for none: they belong to what is done next, because the app has them behind it.
func (x *exploring) changed(ctx context.Context, failure *fault.Error, recorded int) bool {
	x.changes++
	change := PlanChange{Plan: x.explored.Plan, Done: x.explored.Done, Reason: failure.Message}
	if !x.planned(ctx, &change) {
		return false
	}
	if recorded == 0 {
		return true
	}
	edit := live.Edit{Drop: strconv.Itoa(recorded)}
	if next := x.explored.Plan.Steps[x.explored.Done]; next.Kind == trail.KindStep {
		edit = live.Edit{Reword: &live.Reword{Step: recorded, Text: next.Text}}
	}
	if _, err := x.session.Edit(ctx, edit); err != nil {
		end := broke(err)
		x.explored.Outcome.Outcome, x.explored.Err = event.Error, end.err
		return false
	}
	return true
}

// planned asks for a plan. Without one it returns false: then the outcome is that of the step that failed, unless the
// request broke.
func (x *exploring) planned(ctx context.Context, change *PlanChange) bool {
	plan, out := x.agent.Plan(ctx, x.session, x.Goal, change)
	switch {
	case out.Outcome == event.Passed:
		x.explored.Plan = plan
		if x.Planned != nil {
			x.Planned(plan, change)
		}
		return true
	case change == nil || out.Outcome == event.Error:
		x.explored.Outcome.Outcome, x.explored.Err, x.explored.Turns = out.Outcome, out.Err, out.Turns
	}
	return false
}

// countedSession notes in which step of the recording calls were recorded.
type countedSession struct {
	EditableSession
	step int
}

// Step implements Session.
func (s *countedSession) Step(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	report, err := s.EditableSession.Step(ctx, r)
	if report.Step > 0 {
		s.step = report.Step
	}
	return report, err
}
