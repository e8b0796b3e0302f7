package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

type runFlags struct {
	scopeFlags
	deviceFlags
	classifiers, tags, memory, secrets, args  []string
	argsFile, junit, html, unrecorded, record string
	evidence                                  string
	failFast, dryRun, lastFailed, watch       bool
	shard, durations                          string
	retries                                   int
	timeout                                   time.Duration
}

func (a *app) newRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [TRAIL...]",
		Short: "Replay trails",
		Long: `Replay trails. Arguments are trail files, folders or globs; !PATTERN leaves out. Without any, every trail below the
project's trailsDir is replayed.`,
		Example: `  trailblaze run
  trailblaze run trails/checkout --tags smoke --junit build/junit.xml
  trailblaze run --last-failed --retries 1
  trailblaze run --shard 2/3
  trailblaze run --device web:alice,web:bob --workers 4
  TOKEN=… trailblaze run --secret TOKEN login.trail.yaml`,
		RunE: func(c *cobra.Command, args []string) error { return a.runTrails(c.Context(), f, args) },
	}
	flags := c.Flags()
	f.scopeFlags.bind(a, c)
	f.deviceFlags.bind(c)
	flags.StringSliceVar(&f.classifiers, "classifier", nil, "classifiers of the device, broad first, such as `android,phone` or android-phone (default: the platform)")
	flags.StringSliceVar(&f.tags, "tags", nil, "only trails with any of these `TAGS`")
	flags.StringArrayVar(&f.memory, "memory", nil, "`NAME=VALUE` in the session's memory; wins over the trail's")
	flags.StringArrayVar(&f.secrets, "secret", nil, "`NAME` from the environment, NAME=@FILE or NAME=VALUE; never printed, logged or recorded")
	flags.StringArrayVar(&f.args, "arg", nil, "`NAME=VALUE` for a declared argument of the trails")
	flags.StringVar(&f.argsFile, "args-file", "", "`FILE` with arguments: a mapping, or a list with one case a row (YAML or JSON)")
	flags.BoolVar(&f.failFast, "fail-fast", false, "stop after the first trail that does not pass")
	flags.IntVar(&f.retries, "retries", 0, "try a trail `N` more times, each in a fresh session; one that then passes is flaky")
	flags.DurationVar(&f.timeout, "timeout", 0, "limit for the whole run, such as `10m`; exit code 124")
	flags.StringVar(&f.unrecorded, "unrecorded", "fail", "what to do with steps that have no recording for the device: `fail|skip`")
	flags.BoolVar(&f.dryRun, "dry-run", false, "do everything but the calls")
	flags.BoolVar(&f.lastFailed, "last-failed", false, "only what failed or was not reached in the last run")
	flags.StringVar(&f.record, "record", "", "record the one trail to `FILE`; of a file that is there only this device's calls are replaced")
	flags.StringVar(&f.evidence, "evidence", run.EvidenceOnFailure, "when to keep what the device shows: `"+strings.Join(evidenceModes(), "|")+"`")
	complete(c, "evidence", evidenceModes())
	flags.StringVar(&f.shard, "shard", "", "only a part of the trails: `I/N` is part I, from 1, of N; report merge joins what the parts leave")
	flags.StringVar(&f.durations, "durations", "", "`FILE` with durations that --shard cuts by, the same for every part (default: durations.json in logsDir)")
	flags.StringVar(&f.junit, "junit", "", "also write a JUnit report to `FILE`")
	flags.StringVar(&f.html, "html", "", "also write a page to read to `DIR`: index.html, which needs nothing beside it")
	flags.BoolVar(&f.watch, "watch", false, "run again whenever trails, config or sources of servers change, until Ctrl-C")
	c.MarkFlagsMutuallyExclusive("record", "dry-run")
	c.MarkFlagsMutuallyExclusive("watch", "record")
	c.MarkFlagsMutuallyExclusive("watch", "shard")
	return c
}

func (a *app) runTrails(ctx context.Context, f runFlags, args []string) error {
	if f.shard != "" {
		a.forgetResults(f.shard)
	}
	secrets, err := a.secrets(f.secrets)
	a.redactor = redact.New(secrets)
	if err != nil {
		return err
	}
	j := job{flags: f, args: args, secrets: secrets}
	if f.watch {
		return a.watchTrails(ctx, j)
	}
	if j.project, err = a.loadProject(); err != nil {
		return err
	}
	_, err = a.replay(ctx, j)
	return err
}

// job is what one run is made from.
type job struct {
	project *config.Project
	flags   runFlags
	args    []string // which trails, as the user says it
	only    []string // which of them, absolute; nil for all
	secrets map[string]string
}

// replay is one run. The error carries its exit code.
func (a *app) replay(ctx context.Context, j job) (summary run.Summary, err error) {
	project, f := j.project, j.flags
	for i := range a.backends {
		a.backends[i].wanted = false
	}
	o, err := a.runOptions(project, f, j.secrets)
	if err != nil {
		return summary, err
	}
	a.closeDevices(ctx, func(b backends) bool { return !b.wanted })
	if o.Paths, err = a.trailPaths(project, f, o.Last, j.args); err != nil {
		return summary, err
	}
	if j.only != nil {
		o.Paths = slices.DeleteFunc(o.Paths, func(p string) bool { return !slices.Contains(j.only, a.abs(p)) })
	}
	warning, err := a.cutBy(project, f, &o)
	if err != nil {
		return summary, err
	}
	if err := errors.Join(a.prepareReport("--junit", f.junit), a.preparePage(f.html)); err != nil {
		return summary, err
	}
	if f.timeout > 0 {
		var stop context.CancelFunc
		late := fault.New(fault.Timeout, "raise --timeout, or run fewer trails", "the run took longer than --timeout %s", f.timeout)
		ctx, stop = context.WithTimeoutCause(ctx, f.timeout, late)
		defer stop()
	}
	renderers := a.renderers(ctx, project, f)
	if err := renderers.keepResults(project, o.Shard); err != nil {
		return summary, errors.Join(err, renderers.close())
	}
	o.Stream = event.NewStream(a.Now, o.Redactor, renderers.handlers...)
	o.Stream.OnPanic = func(err error) { a.cancel(err) }
	stopped := whileStopping(ctx, func(message string) {
		level := "warn"
		if replaced(ctx) {
			level = "info"
		}
		o.Stream.Emit(event.Log{Level: level, Source: "run", Message: message})
	})
	if warning != nil {
		o.Stream.Emit(*warning)
	}
	a.reapLeftovers(o.Stream)
	summary, err = run.Run(ctx, o)
	stopped()
	return summary, a.endRun(summary, err, renderers.close())
}

// endRun turns how a run ended into an exit code. What the events have told already is not told again.
func (a *app) endRun(summary run.Summary, err, closeErr error) error {
	if kind := fault.KindOf(err); err != nil && (kind == fault.NothingMatched || kind == fault.Misuse || kind == fault.Bug) {
		return err
	}
	code := summary.ExitCode
	if closeErr != nil {
		code = fault.Worst(code, a.fail(closeErr))
	}
	if code != fault.ExitPassed {
		return exitCode(code)
	}
	return nil
}

func (a *app) runOptions(project *config.Project, f runFlags, secrets map[string]string) (run.Options, error) {
	if f.unrecorded != "fail" && f.unrecorded != "skip" {
		return run.Options{}, fault.New(fault.Misuse, "write --unrecorded fail or --unrecorded skip", "--unrecorded %q is neither", f.unrecorded)
	}
	if f.retries < 0 {
		return run.Options{}, fault.New(fault.Misuse, "", "--retries %d is less than 0", f.retries)
	}
	if f.timeout < 0 {
		return run.Options{}, fault.New(fault.Misuse, "leave it out for no limit", "--timeout %s is less than 0", f.timeout)
	}
	if err := checkEvidence(f.evidence); err != nil {
		return run.Options{}, err
	}
	setup, err := a.newSetup(project, f.scopeFlags, a.redactor)
	if err != nil {
		return run.Options{}, err
	}
	memory, err := memoryValues(f.memory)
	if err != nil {
		return run.Options{}, err
	}
	given, err := pairs("arg", f.args)
	if err != nil {
		return run.Options{}, err
	}
	rows, err := a.argRows(f.argsFile)
	if err != nil {
		return run.Options{}, err
	}
	if err := setup.request.CheckFlags(); err != nil {
		return run.Options{}, err
	}
	last, err := lastRun(project, f)
	if err != nil {
		return run.Options{}, err
	}
	f.again(last)
	devices, err := a.runDevices(project, f, setup)
	if err != nil {
		return run.Options{}, err
	}
	return run.Options{
		Setup: setup.Setup, Devices: devices, StopShared: setup.stopShared, Cwd: a.Dir, LastFailed: f.lastFailed, Last: last,
		Tags: f.tags, Workers: f.workers, Memory: memory, Secrets: secrets,
		Args: given, ArgRows: rows, SkipUnrecorded: f.unrecorded == "skip", FailFast: f.failFast, DryRun: f.dryRun, Retries: f.retries,
		Evidence: f.evidence, Record: f.record, OpenLog: func(path string, onError func(error)) run.SessionLog { return report.NewSessionLog(path, onError) },
	}, nil
}

// lastRun is what --last-failed runs again; nothing without it.
func lastRun(project *config.Project, f runFlags) ([]run.LastCase, error) {
	if !f.lastFailed {
		return nil, nil
	}
	return run.LoadLast(project.LogsDir)
}

// trailPaths are the trails that are meant; with --last-failed only those of last.
func (a *app) trailPaths(project *config.Project, f runFlags, last []run.LastCase, args []string) ([]string, error) {
	var wanted []string
	for _, c := range last {
		if path := a.relative([]string{c.Trail})[0]; !slices.Contains(wanted, path) {
			wanted = append(wanted, path)
		}
	}
	if f.lastFailed && (len(wanted) == 0 || len(args) == 0) {
		return wanted, nil
	}
	found, err := trail.Find(a.Dir, project.TrailsDir, project.LogsDir, args)
	if f.lastFailed {
		found = slices.DeleteFunc(found, func(path string) bool { return !slices.Contains(wanted, path) })
	}
	return found, err
}

// reapLeftovers ends what a trailblaze that was killed left running.
func (a *app) reapLeftovers(stream *event.Stream) {
	killed, err := spawn.Reap(a.stateDir())
	if err != nil {
		stream.Emit(event.Log{Level: "warn", Source: "leftovers", Message: err.Error(), Hint: "`trailblaze doctor` looks again"})
	}
	for _, l := range killed {
		stream.Emit(event.Log{Level: "warn", Source: "leftovers", Message: "ended a process that an earlier, killed run had left: " + l.String()})
	}
}

// relative shows paths below the working directory relative to it.
func (a *app) relative(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = p
		if rel, err := filepath.Rel(a.Dir, p); err == nil && filepath.IsLocal(rel) {
			out[i] = rel
		}
	}
	return out
}

// secrets reads --secret values. With an error it returns all that could be read, which must not be in what is said about it.
func (a *app) secrets(flags []string) (map[string]string, error) {
	out := map[string]string{}
	var errs []error
	for _, flag := range flags {
		name, value, err := a.secret(flag)
		if err == nil && value == "" {
			err = fault.New(fault.Misuse, "", "--secret %s is empty", name)
		}
		out[name] = value
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}

// secret reads one: from the environment, a file, or the flag itself.
func (a *app) secret(flag string) (name, value string, err error) {
	name, value, given := strings.Cut(flag, "=")
	switch file, fromFile := strings.CutPrefix(value, "@"); {
	case name == "":
		return "", "", fault.New(fault.Misuse, "write --secret NAME, NAME=@FILE or NAME=VALUE", "a --secret has no name")
	case !given:
		v, ok := a.Getenv(name)
		if !ok {
			return name, "", fault.New(fault.Misuse, "set the variable, or write --secret "+name+"=@FILE", "--secret %s: the environment has no such variable", name)
		}
		return name, v, nil
	case fromFile:
		data, err := os.ReadFile(a.abs(file))
		if err != nil {
			return name, "", fault.Wrap(fault.Misuse, err, "", "--secret "+name)
		}
		return name, strings.TrimRight(string(data), "\r\n"), nil
	default:
		return name, value, nil
	}
}

func (a *app) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Dir, path)
}

// argRows reads --args-file: one mapping is one case, a list has one case a row.
func (a *app) argRows(path string) ([]map[string]any, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(a.abs(path))
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "", "--args-file")
	}
	rows, problems := trail.ParseArgs(path, data)
	if len(problems) == 0 && len(rows) == 0 {
		return nil, fault.New(fault.NothingMatched, "add a row, or leave --args-file out", "%s has no row", path)
	}
	return rows, problems.Err()
}

// renderers are the reports of one run.
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

func (a *app) renderers(ctx context.Context, project *config.Project, f runFlags) *renderers {
	r := &renderers{}
	writing := func(what, path string, write func(io.Writer) error) func() error {
		return func() error {
			if replaced(ctx) {
				return nil
			}
			return a.writeReport(what, path, write)
		}
	}
	if a.json {
		r.handlers = append(r.handlers, report.NewJSONLines(a.Stdout))
	} else {
		console := report.NewConsole(a.Stdout, a.style(a.OutTTY), report.ConsoleOptions{
			Verbose: a.verbose, Quiet: a.quiet, Now: a.Now, LogsDir: a.relative([]string{project.LogsDir})[0], JUnit: f.junit, HTML: pageFile(f.html), Notices: a.Stderr, DryRun: f.dryRun,
		})
		r.handlers = append(r.handlers, unlessReplaced(ctx, console))
		r.closers = append(r.closers, func() error { console.Close(); return nil })
	}
	if f.junit != "" {
		junit := report.NewJUnit()
		r.handlers = append(r.handlers, junit)
		r.closers = append(r.closers, writing("the JUnit report", f.junit, junit.Write))
	}
	if f.html != "" {
		html := report.NewHTML(project.LogsDir)
		r.handlers = append(r.handlers, html)
		r.closers = append(r.closers, writing("the page", pageFile(f.html), html.Write))
	}
	return r
}

// prepareReport empties a report before the run: a path that cannot be written is known at once, and what is left after a killed
// run is not the report of an earlier one.
func (a *app) prepareReport(flag, path string) error {
	if path == "" {
		return nil
	}
	full := a.abs(path)
	err := os.MkdirAll(filepath.Dir(full), 0o755)
	if err == nil {
		err = os.WriteFile(full, nil, 0o644)
	}
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "choose another "+flag+", which can be written", "write the report of "+flag)
	}
	return nil
}

func (a *app) writeReport(what, path string, write func(io.Writer) error) error {
	file, err := os.Create(a.abs(path))
	if err == nil {
		err = errors.Join(write(file), file.Close())
	}
	if err != nil {
		return fault.Wrap(fault.Server, err, "", "write "+what)
	}
	return nil
}
