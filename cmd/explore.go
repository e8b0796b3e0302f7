package cmd

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

type exploreFlags struct {
	liveFlags
	modelFlags
	save, title, url string
	maxSteps         int
	plan             bool
	overwrite        trail.Overwrite
}

func (cmd *sessionCommands) newExplore() *cobra.Command {
	var f exploreFlags
	c := &cobra.Command{
		Use:   "explore GOAL",
		Short: "Let a model find and record a trail for a goal",
		Long: `Let a model plan the steps to a goal and carry them out, and save what was recorded as a trail. The last step is a verify.
The trail is replayed without the model in a fresh session, and written only if it passes. If it does not, the model may
repair one step of it, as in run --heal. The model is that of --llm or of llm: model: in trailblaze.yaml.

It begins at the address of the target, or at --url, or on a phone with the app of the target. If the goal is not reached,
the exit code is 1, the folder of the session has the plan as a trail, and the command that goes on is printed.`,
		Example: `  trailblaze explore "Buy two mugs; the total is 25.00 €" --save trails/buy.trail.yaml
  trailblaze explore "Sign in as {{USER}} with {{PASSWORD}}" --save trails/sign-in.trail.yaml --memory USER=ada --secret PASSWORD
  trailblaze explore "Change the language to Norwegian" --plan`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.New(fault.Misuse, `write: trailblaze explore "GOAL" --save trails/NAME.trail.yaml`,
					"explore takes one goal, got %s", text.Count(len(args), "argument"))
			}
			return cmd.explore(c.Context(), f, strings.Join(strings.Fields(args[0]), " "))
		},
	}
	f.liveFlags.bind(cmd.program, c)
	f.modelFlags.bind(c)
	flags := c.Flags()
	flags.StringVar(&f.save, "save", "", "`FILE` of the trail, as in session save")
	flags.StringVar(&f.title, "title", "", "`TITLE` of the trail (default: that of the plan)")
	flags.StringVar(&f.url, "url", "", "`URL` of the page with which the trail begins, or a deep link on a phone")
	flags.IntVar(&f.maxSteps, "max-steps", 12, "`N` steps that the plan has at most")
	flags.BoolVar(&f.plan, "plan", false, "only print the steps of the plan")
	flags.Var(&overwriteValue{&f.overwrite}, "overwrite", "replace a trail that exists; --overwrite=all also deletes recordings of other devices")
	flags.Lookup("overwrite").NoOptDefVal = "true"
	return c
}

// maxPlannedSteps is the largest value of --max-steps.
const maxPlannedSteps = 50

func (f exploreFlags) check(goal string) error {
	switch {
	case goal == "":
		return fault.New(fault.Misuse, `say what is to be reached, such as "Buy a mug"`, "the goal is empty")
	case len(goal) > agent.MaxGoal:
		return fault.New(fault.Misuse, "say it in fewer words, or explore its parts", "the goal has %d bytes, more than %d", len(goal), agent.MaxGoal)
	case f.save == "" && !f.plan:
		return fault.New(fault.Misuse, "add --save trails/NAME.trail.yaml, or --plan to see the steps", "explore needs --save")
	case f.maxSteps < 1 || f.maxSteps > maxPlannedSteps:
		return fault.New(fault.Misuse, "", "--max-steps is %d, not between 1 and %d", f.maxSteps, maxPlannedSteps)
	}
	return nil
}

// explorer is an exploration from the command line.
type explorer struct {
	*sessionCommands
	flags   exploreFlags
	goal    agent.Goal
	opening opening
	models  *models
	session *live.RedactedSession
	use     *event.ModelUse
	goOn    []string // the flags of the command that goes on

	repairing repairing
}

// opening is the step with which a trail begins.
type opening struct {
	text   string
	call   trail.Call
	origin string // that is allowed because of it, "" for none
}

// explore finds a trail for a goal.
func (cmd *sessionCommands) explore(ctx context.Context, f exploreFlags, goal string) error {
	if err := f.check(goal); err != nil {
		return err
	}
	choice, err := f.choice(ctx, cmd.program)
	if err != nil {
		return err
	}
	w, err := cmd.loadProject()
	if err != nil {
		return err
	}
	m, err := cmd.models(w.Project, f.modelFlags)
	if err != nil {
		return err
	}
	defer m.close()
	m.waiting = cmd.notice
	s, err := w.Sessions(ctx, choice)
	if err != nil {
		return err
	}
	x := &explorer{
		sessionCommands: cmd, flags: f, models: m, use: &event.ModelUse{Mode: event.Assisted},
		goal: agent.Goal{Text: goal, MaxSteps: f.maxSteps, Memory: s.Memory},
	}
	if err := x.prepare(w, s); err != nil {
		return err
	}
	return x.inSession(ctx, w, s)
}

// prepare finds out how the trail begins, and returns an error for a goal that cannot be reached.
func (x *explorer) prepare(w *workspace.Workspace, s *workspace.Sessions) error {
	sc, err := s.Scope()
	if err == nil {
		x.opening, err = openingOf(w, sc, x.flags.url)
	}
	if err != nil {
		return err
	}
	for _, name := range trail.TokenNames(x.goal.Text) {
		_, inMemory := s.Memory[name]
		if _, secret := s.Secrets[name]; !inMemory && !secret {
			return fault.New(fault.Misuse, fmt.Sprintf("add --memory %s=VALUE, or --secret %[1]s", name), "the goal has {{%s}}, which has no value", name)
		}
	}
	x.goOn = x.flags.goOn(x.opening.origin)
	return nil
}

// openingOf returns how a trail begins.
func openingOf(w *workspace.Workspace, sc scope.Scope, address string) (opening, error) {
	o := opening{text: "Open the app", call: trail.Call{Tool: "launchApp", Args: map[string]any{}}}
	onWeb := sc.Driver.Platform == scope.Web
	switch {
	case address != "" && onWeb:
		o = opening{text: "Open the page", call: trail.Call{Tool: "web_navigate", Args: map[string]any{"url": address}}}
		if u, err := url.Parse(address); err == nil && u.Host != "" && !slices.Contains(w.Origins(), u.Scheme+"://"+u.Host) {
			o.origin = u.Scheme + "://" + u.Host
		}
	case address != "":
		o = opening{text: "Open the app", call: trail.Call{Tool: "openUrl", Args: map[string]any{"url": address}}}
	case sc.Driver.Key == scope.ElectronDriver: // the session starts it
	case onWeb && w.Project.BaseURLFor(sc.Target.ID, sc.Driver.Platform) == "":
		return o, fault.New(fault.Misuse, "add --url, or baseUrl to trailblaze.yaml", "it is not known where the app is: the target has no address on the web")
	case !onWeb && sc.AppID == "":
		return o, fault.New(fault.Misuse, "name one with --target APP_ID, or a deep link with --url", "it is not known which app is meant: the target has %s on this platform",
			text.Count(len(sc.AppIDs()), "app id"))
	case !onWeb:
		o.call.Args["appId"], o.call.Args["launchMode"] = sc.AppID, "FORCE_RESTART"
	}
	return o, nil
}

// goOn returns the flags with which a run of the trail has what the exploration had, and that the trail does not say.
func (f exploreFlags) goOn(origin string) (flags []string) {
	own := []string{"save", "title", "url", "max-steps", "plan", "overwrite", "memory", "llm-replay", "json", "quiet", "verbose", "no-color"}
	f.command.Flags().Visit(func(flag *pflag.Flag) {
		values := []string{flag.Value.String()}
		if several, ok := flag.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		for _, value := range values {
			if name, secret, _ := strings.Cut(value, "="); flag.Name == "secret" && !strings.HasPrefix(secret, "@") {
				value = name
			}
			if !slices.Contains(own, flag.Name) {
				flags = append(flags, "--"+flag.Name+"="+value)
			}
		}
	})
	if origin != "" {
		flags = append(flags, "--allow-origin="+origin)
	}
	return flags
}

// inSession opens a session, with the web servers of the project, and explores in it.
func (x *explorer) inSession(ctx context.Context, w *workspace.Workspace, s *workspace.Sessions) error {
	var ignored int64
	x.toolStream(s, &ignored)
	x.reap()
	sc, err := s.Scope()
	if err != nil {
		return err
	}
	used := &resources{program: x.program, sessions: s}
	if err := used.start(ctx, []string{sc.Target.ID}); err != nil {
		return err
	}
	defer used.stop(ctx)
	reset := s.Reset()
	if reset != nil {
		if err := reset(ctx); err != nil {
			return err
		}
	}
	o := live.Options{Name: "explore", Agent: true}
	if name, ok := strings.CutSuffix(filepath.Base(x.flags.save), ".trail.yaml"); ok {
		o.Name += "-" + name
	}
	if x.opening.origin != "" {
		o.AllowedOrigins = []string{x.opening.origin}
	}
	if x.session, err = (liveOpener{x.program}).openIn(ctx, w, s, o, func(o *run.Options) { x.healOnce(o, reset) }); err != nil {
		return err
	}
	defer x.session.Close(ctx)
	return x.run(ctx)
}

// agentSession is a session in which only an agent makes calls.
type agentSession struct {
	*live.RedactedSession
	repairing *repairing
}

// Step implements agent.Session.
func (s agentSession) Step(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	r.Agent = true
	return s.RedactedSession.Step(ctx, r)
}

// run explores in the session.
func (x *explorer) run(ctx context.Context) error {
	if x.session.Folder() == "" {
		return fault.New(fault.IO, "make logsDir writable", "the folder of the session cannot be written, so nobody could see what the model is sent")
	}
	if !x.flags.plan {
		if err := x.session.CheckNewFile(x.projectFile(x.flags.save), x.flags.overwrite); err != nil {
			return asMisuse(err)
		}
	}
	if err := x.open(ctx); err != nil {
		return err
	}
	asking := x.models.asking(filepath.Join(x.session.Folder(), "llm"), func(e event.Event) { x.showRequest(x.models, x.use, e) })
	a := x.models.newAgent(asking, x.models.usedBy(exploring), replacedChecks)
	if x.flags.plan {
		plan, out := a.Plan(ctx, x.session, x.goal, nil)
		return x.printPlan(ctx, plan, out)
	}
	explored := a.Explore(ctx, agentSession{x.session, &x.repairing}, agent.Exploration{
		Goal: x.goal, Trail: agent.Trail{Title: x.flags.title, Steps: []string{x.opening.text}},
		Values: x.values, Planned: x.showPlan, Ended: x.showStep,
	})
	return x.finish(ctx, explored)
}

// values returns what is in the memory of the session.
func (x *explorer) values(ctx context.Context) map[string]string {
	out := map[string]string{}
	variables, _ := x.session.Variables(ctx) // a session that cannot be used any more fails the next call
	for _, v := range variables {
		if !v.Secret {
			out[v.Name] = v.Value
		}
	}
	return out
}

// open makes the call with which the trail begins.
func (x *explorer) open(ctx context.Context) error {
	opened, err := x.session.Step(ctx, live.StepRequest{Text: x.opening.text, Kind: trail.KindStep, Calls: []trail.Call{x.opening.call}})
	if err != nil || opened.OK() {
		return err
	}
	c := opened.Calls[0]
	failure := fault.New(cmp.Or(c.Kind, fault.ToolFailed), c.Hint, "%s: %s", c.Tool, c.Text)
	if x.fail(failure); c.Outcome == event.Error {
		return exitCode(fault.ExitInfra)
	}
	return exitCode(fault.ExitFailed)
}

// finish saves the trail, or leaves the plan in the folder of the session.
func (x *explorer) finish(ctx context.Context, e agent.Explored) error {
	if ctx.Err() != nil {
		x.printGoOn(x.leave(ctx, e))
		return context.Cause(ctx)
	}
	if e.Outcome.Outcome == event.Passed {
		e.Err = x.unproven(ctx, e)
	}
	if e.Err != nil {
		return x.printExplored(e, nil, x.leave(ctx, e))
	}
	saved, err := x.save(ctx, live.SaveRequest{
		File: x.projectFile(x.flags.save), Title: cmp.Or(x.flags.title, e.Plan.Title), Overwrite: x.flags.overwrite,
	})
	switch {
	case err != nil:
		x.printGoOn(x.leave(ctx, e))
		return asMisuse(err)
	case !saved.Written:
		if step := saved.Replayed.Step; step > 0 { // from it on, nothing is proven; the first one is that of opening
			e.Done = max(0, step-2)
		}
		return x.printExplored(e, &saved, x.leave(ctx, e))
	}
	return x.printExplored(e, &saved, "")
}

// unproven returns an error for a recording that lacks a verify, or whose checks do not show what the steps did.
func (x *explorer) unproven(ctx context.Context, e agent.Explored) *fault.Error {
	recorded, err := x.recorded(ctx)
	if err != nil {
		return fault.As(err)
	}
	for _, s := range e.Plan.Steps {
		if s.Kind == trail.KindVerify && recorded.recordingOf(s) == nil {
			return fault.New(agent.NotDone, "record the verify in a session", "what the verify %q has checked cannot be recorded", s.Text)
		}
	}
	if e.Checks == 0 {
		return fault.New(agent.NotDone, "say in the goal what has to hold when it is reached",
			"no check of the trail shows what its steps did: each of them also held before the last step that acted")
	}
	return nil
}

// recordedTrail is what a session has recorded.
type recordedTrail struct{ *trail.File }

func (x *explorer) recorded(ctx context.Context) (recordedTrail, error) {
	content, err := x.session.Edit(context.WithoutCancel(ctx), live.Edit{})
	if err != nil {
		return recordedTrail{}, err
	}
	file, problems := trail.Parse("recording", []byte(content))
	return recordedTrail{file}, problems.Err()
}

// recordingOf returns the calls that were recorded for a step of a plan; nil for none.
func (r recordedTrail) recordingOf(s agent.PlannedStep) trail.Recording {
	for _, step := range r.Steps {
		if step.Kind == s.Kind && step.Text == s.Text {
			return step.Recording
		}
	}
	return nil
}

// leave writes the plan into the folder of the session, as a trail in which the steps that are done have a recording. It
// returns the command that goes on, "" without a plan.
func (x *explorer) leave(ctx context.Context, e agent.Explored) string {
	if len(e.Plan.Steps) == 0 {
		return ""
	}
	recorded, err := x.recorded(ctx)
	if err == nil {
		recorded.Config.Title = cmp.Or(x.flags.title, e.Plan.Title)
		steps := recorded.Steps[:1:1]
		for i, s := range e.Plan.Steps {
			step := trail.Step{Kind: s.Kind, Text: s.Text, Recordable: true}
			if i < e.Done {
				step.Recording = recorded.recordingOf(s)
			}
			steps = append(steps, step)
		}
		recorded.Steps = steps
		var content []byte
		if content, err = trail.Format(recorded.File); err == nil {
			err = x.session.SaveDraft(content)
		}
	}
	if err != nil {
		x.notice("warning: the plan cannot be written into the folder of the session: " + err.Error())
		return ""
	}
	path := shellWord(filepath.ToSlash(x.relative(filepath.Join(x.session.Folder(), live.RecordingName))))
	command := []string{"trailblaze", "run", path, "--unrecorded", "llm", "--record", path}
	for _, flag := range x.goOn {
		command = append(command, shellWord(flag))
	}
	return x.redactor.Text(strings.Join(command, " "))
}

// shellWord returns a word as it is written in a shell.
func shellWord(s string) string {
	isPlain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=@%+,", c)
	}
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !isPlain(c) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
