package cmd

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// tasks are the steps of a trail in a run that a model carries out.
type tasks struct {
	*models
	run.Assisted
	options live.Options
	agent   *agent.Agent
	session *live.RedactedSession // nil before the first step has ended or a task begins
	last    string                // number of the last task
}

// assist makes the model carry out the steps without a recording, and judge claims.
func (m *models) assist(in run.Assisted, o live.Options) {
	t := &tasks{models: m, Assisted: in, options: o}
	t.agent = m.newAgent(m.asking(filepath.Join(in.Dir, "llm"), t.emit), m.usedBy(in.Replay), 0)
	in.Session.SetJudge(t.judge)
	in.Session.SetSampler(t.sample)
	if !in.Tasks {
		return
	}
	finished := in.Walk.Hooks.StepFinished
	in.Walk.Hooks.Unrecorded = t.carryOut
	in.Walk.Hooks.StepFinished = func(ctx context.Context, at session.Step) {
		finished(ctx, at)
		t.observe(ctx, at)
	}
}

// observe lets the session see what a recorded step has changed, as far as the device shows it.
func (t *tasks) observe(ctx context.Context, at session.Step) {
	if at.Number() == t.last || at.Kind == trail.KindTeardown || ctx.Err() != nil {
		return
	}
	t.attach(ctx)
	_ = t.session.Observe(ctx) // a device that shows nothing fails the task that needs it
}

func (t *tasks) attach(ctx context.Context) {
	if t.session == nil {
		t.session = live.Attach(ctx, t.Session, t.Walk, t.options)
	}
}

// newAgent returns an agent for a trail, which adds to what used has; nil for nothing. replaced is how many checks that
// did not hold it may replace in a task.
func (m *models) newAgent(asking model.Model, used *agent.Used, replaced int) *agent.Agent {
	return agent.New(agent.Options{
		Model: asking, Context: m.context, Images: !m.settings.NoImages, Budget: m.budget, Used: used,
		MaxOutputTokens: m.settings.OutputLimit(), Cost: m.cost(), Replaced: replaced, Output: m.output, Now: m.Now,
	})
}

// usedBy returns what the attempts at a replay have used, and its proof.
func (m *models) usedBy(replay string) *agent.Used {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used[replay] == nil {
		m.used[replay] = &agent.Used{}
	}
	return m.used[replay]
}

func (t *tasks) emit(e event.Event) {
	if e, ok := e.(event.LLMFinished); ok {
		t.Use.AddRequest(e)
	}
	t.Emit.Emit(e)
}

// checkFolder returns an error if transcripts could not be written.
func (t *tasks) checkFolder() error {
	if t.Dir != "" {
		return nil
	}
	return fault.New(fault.IO, "make logsDir writable", "the folder of the session cannot be written, so nobody could see what the model is sent")
}

// carryOut implements replay.Hooks.Unrecorded.
func (t *tasks) carryOut(ctx context.Context, at session.Step, st *replay.Step) session.Result {
	if err := t.checkFolder(); err != nil {
		return session.Errored(err)
	}
	t.attach(ctx)
	t.last = at.Number()
	t.emit(event.TaskStarted{Step: at.Number(), Kind: st.Kind, Model: t.name, MaxRequests: t.limits.RequestsPerStep})
	out := t.agent.Do(ctx, t.session, t.task(at, st))
	t.emit(event.TaskFinished{Step: at.Number(), Outcome: out.Outcome, Warnings: slices.Concat(out.Warnings, out.Replaced)})
	if cause := session.Interruption(ctx); cause != nil {
		return session.Errored(cause)
	}
	switch out.Outcome {
	case event.Passed:
		return session.Passed()
	case event.Failed:
		return session.Failed(out.Err)
	default:
		return session.Errored(out.Err)
	}
}

func (t *tasks) task(at session.Step, st *replay.Step) agent.Task {
	list := t.Walk.Current
	of := agent.Trail{Path: t.projectPath(), Title: list.File.Title(), Context: list.File.Config.Context, Index: list.Next}
	for _, s := range list.Steps {
		of.Steps = append(of.Steps, s.Text)
	}
	memory := t.Session.Memory().Texts()
	for name, text := range memory {
		memory[name] = t.options.Redactor.Text(text)
	}
	return agent.Task{
		Number: at.Number(), Kind: st.Kind, Text: st.Text, Recordable: st.Recordable, MaxRetries: st.MaxRetries, Trail: of, Memory: memory,
	}
}

// projectPath returns the path of the trail relative to the project.
func (t *tasks) projectPath() string {
	path, err := filepath.Rel(t.options.Project.Root, t.abs(t.Path))
	if err != nil {
		path = t.Path
	}
	return filepath.ToSlash(path)
}
