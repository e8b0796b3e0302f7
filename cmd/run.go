package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

type runFlags struct {
	sessionFlags
	deviceFlags
	modelFlags
	tags, args                                []string
	argsFile, junit, html, unrecorded, record string
	evidence, trace, screenshots              string
	failFast, dryRun, lastFailed, watch       bool
	list, failOnFlaky, ignoreRecordings       bool
	heal                                      string
	failOnHealed                              bool
	shard, durations, grep                    string
	retries, maxFailures, repeatEach          int
	timeout                                   time.Duration
}

// runCommand replays trails.
type runCommand struct{ *program }

func (cmd *runCommand) newRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [TRAIL...]",
		Short: "Replay trails",
		Long: `Replay trails. Arguments are trail files, folders or globs; !PATTERN excludes trails. Without arguments, every
trail below the project's trailsDir is replayed.`,
		Example: `  trailblaze run
  trailblaze run trails/checkout --tags smoke --junit build/junit.xml
  trailblaze run --last-failed --retries 1
  trailblaze run --shard 2/3
  trailblaze run --device web:alice,web:bob --workers 4
  TOKEN=… trailblaze run --secret TOKEN login.trail.yaml`,
		RunE: func(c *cobra.Command, args []string) error { return cmd.runTrails(c.Context(), f, args) },
	}
	f.bind(cmd.program, c)
	return c
}

// bind adds the flags of run to c.
func (f *runFlags) bind(p *program, c *cobra.Command) {
	f.sessionFlags.bind(p, c)
	f.deviceFlags.bind(c)
	f.modelFlags.bind(c)
	flags := c.Flags()
	flags.StringSliceVar(&f.tags, "tags", nil, "replay only trails with any of these `TAGS`")
	flags.StringVar(&f.grep, "grep", "", "replay only trails with `TEXT` in their title, id or path, in any case")
	flags.BoolVar(&f.list, "list", false, "list what would be replayed, and start nothing")
	flags.Lookup("memory").Usage += "; wins over the trail's"
	flags.StringArrayVar(&f.args, "arg", nil, "`NAME=VALUE` for a declared argument of the trails (repeatable)")
	flags.StringVar(&f.argsFile, "args-file", "",
		"`FILE` with arguments, YAML or JSON: a mapping, or a list of mappings to replay each trail with each")
	flags.BoolVar(&f.failFast, "fail-fast", false, "stop after the first trail that does not pass")
	flags.IntVar(&f.maxFailures, "max-failures", 0, "stop after `N` trails that do not pass; 0 for no limit")
	flags.BoolVar(&f.failOnFlaky, "fail-on-flaky", false, "exit with code 1 when a trail is flaky")
	flags.IntVar(&f.repeatEach, "repeat-each", 1, "replay each trail `N` times, at most 10,000")
	flags.IntVar(&f.retries, "retries", 0,
		"replay a trail that does not pass up to `N` more times, in fresh sessions; one that then passes is flaky")
	flags.DurationVar(&f.timeout, "timeout", 0, "time limit for the whole run, such as `10m`; exit code 124")
	flags.StringVar(&f.unrecorded, "unrecorded", "fail",
		"what happens at a step that has no recording for the device: `"+strings.Join(unrecordedModes(), "|")+"`; llm makes it a task of a model")
	complete(c, "unrecorded", unrecordedModes())
	flags.BoolVar(&f.ignoreRecordings, "ignore-recordings", false,
		"with --unrecorded llm, make each recorded step and check a task, too, to compare models")
	flags.StringVar(&f.heal, "heal", config.HealOff,
		"what a model does with recordings that broke: `"+strings.Join(config.HealModes(), "|")+"` a repair; wins over llm: heal: of the project")
	complete(c, "heal", config.HealModes())
	flags.BoolVar(&f.failOnHealed, "fail-on-healed", false, "exit with code 1 when a repair was written")
	flags.BoolVar(&f.dryRun, "dry-run", false, "do everything except the calls")
	flags.BoolVar(&f.lastFailed, "last-failed", false, "replay only trails that failed or did not run in the last run")
	flags.StringVar(&f.record, "record", "",
		"record the run of one trail to `FILE`; in an existing file, only the recordings for this device are replaced")
	flags.StringVar(&f.screenshots, "update-screenshots", string(picture.UpdateNone),
		"which pictures that verifyScreenshot compares with are written: `"+strings.Join(picture.UpdateModes(), "|")+"`")
	complete(c, "update-screenshots", picture.UpdateModes())
	flags.StringVar(&f.evidence, "evidence", run.EvidenceOnFailure,
		"when to keep screenshots and other evidence of the device: `"+strings.Join(evidenceModes(), "|")+"`")
	complete(c, "evidence", evidenceModes())
	flags.StringVar(&f.trace, "trace", config.TraceOnFailure,
		"which trails keep the screen, requests and console of each call of the device: `"+strings.Join(config.TraceModes(), "|")+"`")
	complete(c, "trace", config.TraceModes())
	flags.StringVar(&f.shard, "shard", "",
		"replay only shard `I/N` of the trails, I from 1 to N; report merge merges the results of all shards")
	flags.StringVar(&f.durations, "durations", "",
		"balance the shards by the durations in `FILE`, the same for every shard (default: durations.json in logsDir)")
	flags.StringVar(&f.junit, "junit", "", "also write a JUnit report to `FILE`")
	flags.StringVar(&f.html, "html", "", "also write an HTML report to index.html in `DIR`, a single file")
	flags.BoolVar(&f.watch, "watch", false,
		"run again whenever trails, project files or sources of servers change, until Ctrl-C")
	c.MarkFlagsMutuallyExclusive("record", "dry-run")
	c.MarkFlagsMutuallyExclusive("watch", "record")
	c.MarkFlagsMutuallyExclusive("watch", "shard")
	c.MarkFlagsMutuallyExclusive("fail-fast", "max-failures")
	for _, other := range []string{"watch", "record", "dry-run"} {
		c.MarkFlagsMutuallyExclusive("list", other)
	}
}

func (cmd *runCommand) runTrails(ctx context.Context, f runFlags, args []string) error {
	if f.shard != "" && !f.list && !f.dryRun {
		cmd.removeResults(f.shard)
	}
	secrets, err := cmd.readSecrets(ctx, f.secrets)
	if err != nil {
		return cmd.refused(f, err)
	}
	j := job{flags: f, args: args, secrets: secrets}
	if f.watch {
		return cmd.watchTrails(ctx, j)
	}
	if j.workspace, err = cmd.loadProject(); err != nil {
		return cmd.refused(f, err)
	}
	_, err = cmd.replay(ctx, j)
	return err
}

// job is the input of one run.
type job struct {
	workspace *workspace.Workspace
	flags     runFlags
	args      []string          // arguments of the command: the trails
	only      []string          // absolute paths of the trails to run, nil for all of args
	secrets   map[string]string // by name
	kept      *resources        // that stay after the run; nil when the run has its own
}

// replay runs the trails of a job once. The error gives the exit code. The reports of a run that does not start say
// why.
func (cmd *runCommand) replay(ctx context.Context, j job) (summary run.Summary, err error) {
	project := j.workspace.Project
	f := cmd.withDefaults(j.flags, project.Run)
	f.heal = cmd.healMode(f, project)
	defer func() {
		if summary.ExitCode == fault.ExitPassed { // else the reports have what was run
			err = cmd.refused(f, err)
		}
	}()
	used := cmp.Or(j.kept, &resources{program: cmd.program})
	o, err := cmd.runOptions(ctx, j, f, used)
	if err != nil {
		return summary, err
	}
	defer func() { used.models.closeIdle() }()
	if o.Paths, err = cmd.trailPaths(project, f, o.Last, j.args); err != nil {
		return summary, err
	}
	o.Searched = trail.Searched(project.TrailsDir, j.args)
	if j.only != nil {
		o.Paths = slices.DeleteFunc(o.Paths, func(p string) bool { return !slices.Contains(j.only, cmd.abs(p)) })
	}
	warning, err := cmd.readShard(project, f, &o)
	if err != nil {
		return summary, err
	}
	misnamed := misnamedTrails(cmd.Dir, project, j.args)
	if f.list {
		for _, w := range misnamed {
			fmt.Fprintf(cmd.Stderr, "trailblaze: warning: %s\n", report.Clean(w.Error()))
		}
		return summary, cmd.listTrails(o)
	}
	if err := errors.Join(cmd.prepareJUnit(f.junit), cmd.prepareHTML(f.html)); err != nil {
		return summary, err
	}
	if f.timeout > 0 {
		var stop context.CancelFunc
		name := f.timeoutName()
		cause := fault.New(fault.Timeout, "raise "+name+", or run fewer trails",
			"the run took longer than %s %s", name, f.timeout)
		ctx, stop = context.WithTimeoutCause(ctx, f.timeout, cause)
		defer stop()
	}
	renderers := cmd.renderers(ctx, j.workspace, f)
	if err := renderers.writeResults(project, o); err != nil {
		return summary, errors.Join(err, renderers.close())
	}
	o.Stream = used.sessions.NewStream(renderers.handlers...)
	o.Stream.OnPanic = func(err error) { cmd.cancel(err) }
	done := logStop(ctx, func(message string) {
		level := "warn"
		if restarting(ctx) {
			level = "info"
		}
		o.Stream.Emit(event.Log{Level: level, Source: "run", Message: message})
	})
	cmd.warnBefore(project, misnamed, o)
	if warning != nil {
		o.Stream.Emit(*warning)
	}
	cmd.reapLeftovers(o.Stream)
	var startErr error
	o.BeforeTrails = func(ctx context.Context, targets func() []string) (stop func(), err error) {
		var needed []string
		if len(project.WebServers) > 0 {
			needed = targets()
		}
		startErr = used.start(ctx, needed)
		return func() {
			if used != j.kept { // the servers may have started what the devices are connected to
				used.sessions.Close(ctx)
				used.stop(ctx)
			}
			used.endRun()
		}, startErr
	}
	summary, err = run.Run(ctx, o)
	done()
	if startErr != nil {
		return summary, errors.Join(startErr, renderers.close())
	}
	return summary, cmd.endRun(summary, err, renderers.close())
}

// warnBefore logs the warnings about the project, files that are misnamed, and secrets.
func (cmd *runCommand) warnBefore(project *config.Project, misnamed fault.Problems, o run.Options) {
	warn := func(message, hint string) {
		o.Stream.Emit(event.Log{Level: "warn", Source: "run", Message: message, Hint: hint})
	}
	for _, w := range slices.Concat(project.Notes(), misnamed) {
		warn(w.Error(), w.Hint)
	}
	for _, message := range o.Redactor.Warnings() {
		warn(message, shortSecretHint)
	}
	for _, name := range project.MissingSecrets() {
		if _, given := o.Secrets[name]; !given {
			hint := "set " + name + " in the environment or in " + filepath.Join(cmd.relative(project.Root), ".env")
			warn("the secret "+name+" has no value", hint)
		}
	}
}

// endRun returns the result of a run as an exitCode, or as an error when the events did not report it.
func (cmd *runCommand) endRun(summary run.Summary, err, closeErr error) error {
	if err != nil && (summary.ExitCode == fault.ExitPassed || fault.KindOf(err) == fault.Bug) {
		return err
	}
	code := summary.ExitCode
	if closeErr != nil {
		code = fault.Worst(code, cmd.fail(closeErr))
	}
	if code != fault.ExitPassed {
		return exitCode(code)
	}
	return nil
}

// unrecordedLLM is the value of --unrecorded with which a model carries out steps.
const unrecordedLLM = "llm"

func unrecordedModes() []string { return []string{"fail", "skip", unrecordedLLM} }

// checkModel returns an error for flags that have no effect, or that would replace what people have recorded.
func (f *runFlags) checkModel() error {
	if f.ignoreRecordings && f.record != "" {
		return fault.New(fault.Misuse, "leave --record out; to record a step again, remove its recording first",
			"--ignore-recordings compares models, so --record would replace recorded steps and checks by those of a model")
	}
	if f.failOnHealed && !f.heals() {
		return fault.New(fault.Misuse, "add --heal write", "--fail-on-healed has no effect without --heal write")
	}
	if f.ignoreRecordings && f.unrecorded != unrecordedLLM {
		return f.checkUnused([]string{"ignore-recordings"})
	}
	return nil
}

// checkUnused returns an error if flags are given in a run that asks no model.
func (f *runFlags) checkUnused(given []string) error {
	if len(given) == 0 {
		return nil
	}
	return fault.New(fault.Misuse, "add --unrecorded llm", "--%s has no effect without --unrecorded llm", given[0])
}

// maxRepeatEach bounds the memory of a run, which grows with the number of replays.
const maxRepeatEach = 10_000

// check returns an error for values that are invalid in every project.
func (f *runFlags) check() error {
	switch {
	case f.retries < 0:
		return fault.New(fault.Misuse, "leave --retries out for none", "--retries %d is less than 0", f.retries)
	case f.maxFailures < 0:
		return fault.New(fault.Misuse, "leave --max-failures out for no limit", "--max-failures %d is less than 0",
			f.maxFailures)
	case f.repeatEach < 1:
		return fault.New(fault.Misuse, "leave --repeat-each out to replay each trail once", "--repeat-each %d is less than 1",
			f.repeatEach)
	case f.repeatEach > maxRepeatEach:
		return fault.New(fault.Misuse, "run the command again for more", "--repeat-each %d is more than %d", f.repeatEach, maxRepeatEach)
	case f.workers < 0 || f.workers == 0 && f.given("workers"):
		return fault.New(fault.Misuse, "leave --workers out for one session at a time on each device",
			"--workers %d is less than 1", f.workers)
	case f.timeout < 0:
		return fault.New(fault.Misuse, "leave --timeout out for no limit", "--timeout %s is less than 0", f.timeout)
	}
	return errors.Join(checkMode("--unrecorded", f.unrecorded, unrecordedModes()), checkMode("--heal", f.heal, config.HealModes()), f.checkModel(),
		checkMode("--evidence", f.evidence, evidenceModes()),
		checkMode("--update-screenshots", f.screenshots, picture.UpdateModes()), checkMode("--trace", f.trace, config.TraceModes()))
}

// runOptions returns the options of a run, without its trails and its stream. used gets its sessions.
func (cmd *runCommand) runOptions(ctx context.Context, j job, f runFlags, used *resources) (run.Options, error) {
	if err := f.check(); err != nil {
		return run.Options{}, err
	}
	choice, err := f.choice(cmd.program, j.secrets)
	if err != nil {
		return run.Options{}, err
	}
	args, err := pairs("arg", f.args)
	if err != nil {
		return run.Options{}, err
	}
	rows, err := cmd.argRows(f.argsFile)
	if err != nil {
		return run.Options{}, err
	}
	last, err := lastRun(j.workspace.Project, f)
	if err != nil {
		return run.Options{}, err
	}
	f.useLast(last)
	if choice.Devices, err = f.names(j.workspace.Project); err != nil {
		return run.Options{}, err
	}
	if f.all && len(choice.Devices) == 0 {
		if choice, err = cmd.onFoundDevices(ctx, j, f, choice, last); err != nil {
			return run.Options{}, err
		}
	}
	s, err := j.workspace.Sessions(ctx, choice)
	if err != nil {
		return run.Options{}, err
	}
	used.replaceSessions(ctx, s)
	o := run.Options{
		Setup: s.Setup, Devices: s.Devices, StopShared: s.StopShared,
		LastFailed: f.lastFailed, Last: last, Tags: f.tags, Workers: f.workers, Memory: s.Memory, Secrets: s.Secrets,
		Args: args, ArgRows: rows, SkipUnrecorded: f.unrecorded == "skip", MaxFailures: f.maxFailures, DryRun: f.dryRun,
		Retries: f.retries, Screenshots: picture.Update(f.screenshots), Evidence: f.evidence, Trace: f.trace, Record: f.record, Grep: f.grep, RepeatEach: f.repeatEach,
		FailOnFlaky: f.failOnFlaky, Commit: cmd.commit(s.Project.Root),
		OpenLog: func(path string, onError func(error)) run.SessionLog { return report.NewSessionLog(path, onError) },
	}
	return o, cmd.assistRun(&o, j.workspace, f, used)
}

// assistRun makes a model carry out the steps without a recording, and repair recordings that broke, if flags say so, and
// judge what trails ask for.
func (cmd *runCommand) assistRun(o *run.Options, w *workspace.Workspace, f runFlags, used *resources) (err error) {
	if used.models = nil; f.list {
		return nil
	}
	o.AllowedOrigins, o.IgnoreRecordings, o.Reset = w.Origins(), f.ignoreRecordings, used.sessions.Reset()
	options := attachedTo(*o)
	assist := func() (func(run.Assisted), error) {
		m, err := cmd.modelsOf(w.Project, f, used)
		if err != nil {
			return nil, err
		}
		return func(in run.Assisted) { m.assist(in, options(in)) }, nil
	}
	if f.heals() {
		m, err := cmd.modelsOf(w.Project, f, used)
		if err != nil {
			return err
		}
		o.Heal = m.healing(options, func(path string) []string { return passedScreens(w.Project.LogsDir, path) })
		o.Heal.Write, o.Heal.FailOnHealed = f.heal == config.HealWrite, f.failOnHealed
	}
	o.Sampling = maySample(w.Project, f.modelFlags)
	if f.unrecorded == unrecordedLLM || o.Sampling {
		o.WithoutTasks = f.unrecorded != unrecordedLLM
		o.Assist, err = assist()
		return err
	}
	o.Judge = func(trails []string) (func(run.Assisted), error) {
		if len(trails) > 0 {
			judge, err := assist()
			return judge, neededBy(err, trails)
		}
		if f.heals() {
			return nil, nil
		}
		return nil, f.checkUnused(f.modelFlags.given(f.command))
	}
	return nil
}

// modelsOf returns the models of a run, which are made once.
func (cmd *runCommand) modelsOf(project *config.Project, f runFlags, used *resources) (*models, error) {
	if used.models != nil {
		return used.models, nil
	}
	m, err := cmd.models(project, f.modelFlags)
	if err != nil {
		return nil, err
	}
	m.showWaits(func(message string) {
		used.sessions.Stream.Emit(event.Log{Level: "info", Source: "run", Message: message})
	})
	used.models = m
	return m, nil
}

// attachedTo returns the options of live sessions that are attached to those of a run.
func attachedTo(o run.Options) func(run.Assisted) live.Options {
	return func(in run.Assisted) live.Options {
		return live.Options{
			Setup: o.Setup, Scope: in.Scope, Device: in.Device, Secrets: o.Secrets, Allow: o.Project.Allow, AllowedOrigins: o.AllowedOrigins,
		}
	}
}

// lastRun returns the cases that --last-failed selects, nil without it.
func lastRun(project *config.Project, f runFlags) ([]run.LastCase, error) {
	if !f.lastFailed {
		return nil, nil
	}
	return run.LoadLast(project.LogsDir)
}

// trailPaths returns the trails that args select; with --last-failed only those of last.
func (cmd *runCommand) trailPaths(project *config.Project, f runFlags, last []run.LastCase, args []string) ([]string, error) {
	var wanted []string
	for _, c := range last {
		if path := cmd.relative(string(c.Trail)); !slices.Contains(wanted, path) {
			wanted = append(wanted, path)
		}
	}
	if f.lastFailed && (len(wanted) == 0 || len(args) == 0) {
		return wanted, nil
	}
	found, err := trail.Find(cmd.Dir, project.TrailsDir, project.LogsDir, args)
	if f.lastFailed {
		found = slices.DeleteFunc(found, func(path string) bool { return !slices.Contains(wanted, path) })
	}
	return found, err
}

// reapLeftovers kills the processes that an earlier run or session, itself killed, left running.
func (p *program) reapLeftovers(stream *event.Stream) {
	_, sessionsErr := p.sessionFolder().List() // removes the sockets of sessions that were killed
	killed, err := spawn.Reap(p.stateDir())
	err = errors.Join(err, sessionsErr)
	if err != nil {
		hint := "`trailblaze doctor` tries again"
		stream.Emit(event.Log{Level: "warn", Source: "leftovers", Message: err.Error(), Hint: hint})
	}
	for _, l := range killed {
		message := "killed a process that an earlier run left running: " + l.String()
		stream.Emit(event.Log{Level: "warn", Source: "leftovers", Message: message})
	}
}

// argRows returns the rows of --args-file, nil without it. A mapping is one row, a list has a row for each of its
// mappings.
func (cmd *runCommand) argRows(path string) ([]map[string]any, error) {
	if path == "" {
		return nil, nil
	}
	data, err := files.Read(cmd.abs(path), trail.MaxSize)
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "name a YAML or JSON file", "--args-file")
	}
	rows, problems := trail.ParseArgs(path, data)
	if len(problems) == 0 && len(rows) == 0 {
		return nil, fault.New(fault.NothingMatched, "add a row, or leave --args-file out", "%s has no rows", path)
	}
	return rows, problems.Err()
}

// renderers are the handlers that print and write what happens in one run.
type renderers struct {
	handlers []event.Handler
	closers  []func() error
}

func (r *renderers) close() error {
	errs := make([]error, len(r.closers))
	for i, c := range r.closers {
		errs[i] = c()
	}
	return errors.Join(errs...)
}

func (cmd *runCommand) renderers(ctx context.Context, w *workspace.Workspace, f runFlags) *renderers {
	r := &renderers{}
	var console *report.Console
	writer := func(kind, path string, write func(io.Writer) error) func() error {
		return func() error {
			if restarting(ctx) {
				return nil
			}
			return cmd.writeReport(console, kind, path, write)
		}
	}
	if cmd.json {
		r.handlers = append(r.handlers, report.NewJSONLines(cmd.Stdout))
	} else {
		console = report.NewConsole(cmd.Stdout, cmd.style(cmd.OutTTY), report.ConsoleOptions{
			Verbose: cmd.verbose > 0, Quiet: cmd.quiet, Now: cmd.Now, LogsDir: cmd.shortPath(w.Project.LogsDir),
			Notices: cmd.Stderr, DryRun: f.dryRun, Relative: cmd.shortPath,
			Repair: func(session string, started event.TrailStarted, failed event.TrailFinished) []string {
				return cmd.repairCommands(w, f, session, started, failed)
			},
		})
		r.handlers = append(r.handlers, withoutRestartedEnd(ctx, console))
	}
	if f.junit != "" {
		junit := report.NewJUnit()
		r.handlers = append(r.handlers, junit)
		r.closers = append(r.closers, writer("JUnit", f.junit, junit.Write))
	}
	if f.html != "" {
		html := report.NewHTML(w.Project.LogsDir)
		r.handlers = append(r.handlers, html)
		r.closers = append(r.closers, writer("HTML", htmlFile(f.html), html.Write))
	}
	annotations, write := cmd.annotations()
	r.handlers = append(r.handlers, annotations)
	r.closers = append(r.closers, write)
	if console != nil { // last, since its summary names the reports that were written
		r.closers = append(r.closers, func() error { console.Close(); return nil })
	}
	return r
}

// annotations returns a handler that annotates a run, and the function that writes the annotations in GitHub Actions.
func (cmd *runCommand) annotations() (h event.Handler, write func() error) {
	annotations := report.NewAnnotations(cmd.inRepository)
	return annotations, func() error {
		if cmd.env("GITHUB_ACTIONS") != "true" {
			return nil
		}
		return annotations.Write(cmd.annotate)
	}
}

// inRepository returns the path of a file below the root of the repository that GitHub Actions has checked out, empty
// for refusedFile.
func (s System) inRepository(file string) string {
	if file == refusedFile {
		return ""
	}
	rel, err := filepath.Rel(s.env("GITHUB_WORKSPACE"), s.abs(file))
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(rel)
}

// prepareReport removes an earlier report before the run. So a path that cannot be written is reported at once, and a
// run that is killed does not leave the report of an earlier one. flag is the flag that names the path.
func (s System) prepareReport(flag, path string) error {
	if path == "" {
		return nil
	}
	err := report.ClearFile(s.abs(path))
	if err != nil {
		hint := "choose a path for " + flag + " that can be written"
		return fault.Wrap(fault.Misuse, err, hint, "write the report of "+flag)
	}
	return nil
}

// writeReport writes a report of a kind, JUnit or HTML, into a file, and adds it to the summary of the console, which
// may be nil.
func (s System) writeReport(console *report.Console, kind, path string, write func(io.Writer) error) error {
	if err := report.WriteFile(s.abs(path), write); err != nil {
		return fault.Wrap(fault.IO, err, "", "write the "+kind+" report")
	}
	if console != nil {
		console.AddReport(kind, path)
	}
	return nil
}
