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
that shows that TEXT holds. The model is that of --llm or of llm: model: in trailblaze.yaml; this command asks it, and the
process of the session never has its key. ` + whichSession,
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
	m, err := cmd.models(w.Project.LLM, f.modelFlags)
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
	out := m.newAgent(asking, replacedChecks).Do(ctx, agentClient{client}, task)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return cmd.printDone(ctx, client, m.name, out, use)
}

// agentClient is a session of a person in which an agent works.
type agentClient struct{ *background.Client }

// Step implements agent.Session.
func (c agentClient) Step(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	r.Agent = true
	return c.Client.Step(ctx, r)
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
	task.Trail.Index = status.Steps
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
		cmd.notice(fmt.Sprintf("%s: request %d/%d: %s", m.name, request.N, m.limits.RequestsPerStep, report.Requests(use)))
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
func (cmd *sessionCommands) printDone(
	ctx context.Context, client *background.Client, name string, out agent.Outcome, use *event.ModelUse,
) error {
	v := doView{
		Session: client.Record().Name, OK: out.Outcome == event.Passed, Outcome: out.Outcome, Model: name,
		Warnings: list(append(out.Warnings, out.Replaced...)), ModelUse: use,
	}
	if status, err := client.Status(ctx); err == nil && v.OK {
		v.Step = status.Steps
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
		cmd.notice("warning: " + report.Clean(warning))
	}
	if !v.OK {
		cmd.fail(out.Err)
		return codeError(code)
	}
	fmt.Fprintf(cmd.Stdout, "done: %s\n", report.Requests(use))
	cmd.notice(fmt.Sprintf("recorded as step %d", v.Step))
	return nil
}
