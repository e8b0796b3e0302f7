package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/background"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// replacedChecks is how many checks that did not hold a model may replace in a task of a session. They are listed.
const replacedChecks = 2

type doFlags struct {
	modelFlags
	session string
	verify  bool
}

func (cmd *sessionCommands) newSessionDo() *cobra.Command {
	var f doFlags
	c := &cobra.Command{
		Use:   "do TEXT",
		Short: "Let a model carry out a step",
		Long: `Let a model carry out one step in a session, and record its calls under TEXT. With --verify it has to find a check
that shows that TEXT holds. The model is that of --llm or of llm: model: in trailblaze.yaml. This command asks it; the
process of the session sends it nothing. ` + whichSession,
		Example: `  trailblaze session do "Put two mugs into the cart"
  trailblaze session do "The total is 25.00 €" --verify`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return cmd.do(c.Context(), f, args[0]) },
	}
	bindSessionName(c, &f.session)
	f.bind(c)
	c.Flags().BoolVar(&f.verify, "verify", false, "TEXT says what has to hold, not what has to be done")
	return c
}

// do carries out a task in a session.
func (cmd *sessionCommands) do(ctx context.Context, f doFlags, text string) error {
	if strings.TrimSpace(text) == "" {
		return fault.New(fault.Misuse, `say what has to be done, such as "Sign in"`, "the text of the step is empty")
	}
	record, err := cmd.findSession(f.session)
	if err != nil {
		return err
	}
	w, problems := cmd.opener.Load(record.Project)
	if err := problems.Err(); err != nil {
		return err
	}
	m, err := cmd.models(w.Project, f.modelFlags)
	if err != nil {
		return err
	}
	defer m.close()
	m.waiting = cmd.notice
	client, err := cmd.sessionFolder().Connect(record, cmd.Build.Version)
	if err != nil {
		return err
	}
	task, folder, err := sessionTask(ctx, client, f.verify, text)
	if err != nil {
		return err
	}
	use := &event.ModelUse{Mode: event.Assisted}
	asking := m.asking(filepath.Join(folder, "llm"), func(e event.Event) { cmd.showRequest(m, use, e) })
	s := &agentClient{Client: client}
	out := m.newAgent(asking, nil, replacedChecks).Do(ctx, s, task)
	if out.Outcome != event.Passed && s.step > 0 {
		if _, err := client.Edit(context.WithoutCancel(ctx), live.Edit{NotPassed: s.step}); err != nil {
			cmd.notice(fmt.Sprintf("warning: step %d has calls of a task that did not pass, and saving will not say so: %s", s.step, err))
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return cmd.printDone(s, m.name, out, use)
}

// agentClient is a session of a person in which an agent works.
type agentClient struct {
	*background.Client
	step int // in the recording, to which calls were added; 0 when nothing was recorded
}

// Step implements agent.Session.
func (c *agentClient) Step(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	r.Agent = true
	report, err := c.Client.Step(ctx, r)
	if report.Step > 0 {
		c.step = report.Step
	}
	return report, err
}

// sessionTask returns the task for the next step of a session, and the session's folder.
func sessionTask(ctx context.Context, client *background.Client, verify bool, text string) (agent.Task, string, error) {
	status, err := client.Status(ctx)
	if err != nil {
		return agent.Task{}, "", err
	}
	if status.Folder == "" {
		return agent.Task{}, "", fault.New(fault.IO, "make logsDir writable, and start a session again",
			"the session has no folder, so nobody could see what the model is sent")
	}
	recording, err := client.Edit(ctx, live.Edit{})
	if err != nil {
		return agent.Task{}, "", err
	}
	task := agent.Task{Number: strconv.Itoa(status.Steps + 1), Kind: trail.KindStep, Text: text, Recordable: true}
	if verify {
		task.Kind = trail.KindVerify
	}
	if file, problems := trail.Parse("recording", []byte(recording)); len(problems) == 0 {
		for _, s := range file.AllSteps() {
			task.Trail.Steps = append(task.Trail.Steps, s.Text)
		}
	}
	task.Trail.Steps = append(task.Trail.Steps[:min(len(task.Trail.Steps), status.Steps)], text)
	task.Trail.Index = len(task.Trail.Steps) - 1
	return task, status.Folder, nil
}

// showRequest says what a request took, and adds it to use.
func (cmd *sessionCommands) showRequest(m *models, use *event.ModelUse, e event.Event) {
	request, ok := e.(event.LLMFinished)
	if !ok {
		return
	}
	use.AddRequest(request)
	if !cmd.quiet {
		cmd.notice(fmt.Sprintf("%s: request %d/%d: %s", m.name, request.N, m.limits.RequestsPerStep, report.UsageSummary(use)))
	}
}

// doView is the JSON output of session do.
type doView struct {
	Session  string        `json:"session"`
	Step     int           `json:"step"` // in the recording; 0 when nothing was recorded
	OK       bool          `json:"ok"`
	Outcome  event.Outcome `json:"outcome"`
	Error    string        `json:"error"`
	Kind     fault.Kind    `json:"kind"`
	Model    string        `json:"model"`
	Warnings []string      `json:"warnings"`
	*event.ModelUse
}

// printDone prints how a task ended. For one that did not pass it returns the exit code.
func (cmd *sessionCommands) printDone(s *agentClient, name string, out agent.Outcome, use *event.ModelUse) error {
	v := doView{
		Session: s.Record().Name, Step: s.step, OK: out.Outcome == event.Passed, Outcome: out.Outcome, Model: name,
		Warnings: list(append(out.Warnings, out.Replaced...)), ModelUse: use,
	}
	code := fault.ExitPassed
	if out.Err != nil {
		v.Error, v.Kind = withHint(out.Err.Message, out.Err.Hint), out.Err.Kind
	}
	if !v.OK {
		code = fault.ExitFailed
		if out.Outcome == event.Error {
			code = fault.ExitCode(out.Err)
		}
	}
	if cmd.json {
		return errors.Join(cmd.writeJSON(v), codeError(code))
	}
	for _, warning := range v.Warnings {
		cmd.notice("warning: " + warning)
	}
	if !v.OK {
		cmd.fail(out.Err)
		if v.Step > 0 {
			cmd.notice(fmt.Sprintf("calls of the task are left in step %d; `trailblaze session recording --drop %[1]d` removes the step", v.Step))
		}
		return codeError(code)
	}
	fmt.Fprintf(cmd.Stdout, "done: %s\n", report.UsageSummary(use))
	recorded := "nothing was recorded"
	if v.Step > 0 {
		recorded = fmt.Sprintf("recorded as step %d", v.Step)
	}
	cmd.notice(recorded)
	return nil
}
