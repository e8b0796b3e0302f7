package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/report"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/spawn"
)

// app is one invocation: the system, the global flags, and the one place that starts and ends processes.
type app struct {
	System
	project string
	runtime string
	json    bool
	noColor bool
	quiet   bool
	verbose bool
	parsed  bool // the command line made sense

	cancel     context.CancelCauseFunc
	redactor   *redact.Redactor // of --secret, for errors that do not go through the event stream
	runtimes   *jsruntime.Finder
	supervisor *spawn.Supervisor
	backends   []backends // of devices, to be closed
}

// exitCode ends a command whose result was already reported.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs the program and returns its exit code. Every process it started is gone when it returns: after a polite end,
// and at once after a second signal or a panic.
func Main(sys System) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	out := &output{w: sys.Stdout, cancel: cancel}
	sys.Stdout = out
	a := &app{System: sys, cancel: cancel, json: slices.Contains(sys.Args, "--json")}
	a.redactor = redact.New(a.typedSecrets())
	force, forcedBy := a.forcedRuntime()
	a.runtimes = jsruntime.NewFinder(jsruntime.Options{
		PATH: sys.env("PATH"), Env: sys.Env, CacheDir: sys.cacheDir(), Force: force, ForcedBy: forcedBy,
	})
	a.supervisor = spawn.NewSupervisor(spawn.Options{StateDir: sys.stateDir(), Runtimes: a.runtimes})
	hard, stop := a.handleSignals()
	defer stop()
	done := make(chan int, 1)
	go func() { done <- a.run(ctx) }()
	select {
	case code := <-done:
		return a.close(ctx, code, out)
	case code := <-hard:
		a.supervisor.KillAll()
		return code
	}
}

// close ends what is left and owns up to output that could not be written.
func (a *app) close(ctx context.Context, code int, out *output) int {
	a.closeDevices(ctx, func(backends) bool { return true })
	if err := a.supervisor.Close(); err != nil {
		fmt.Fprintf(a.Stderr, "trailblaze: warning: %v\n", err)
	}
	if err := out.failure(); err != nil {
		fmt.Fprintf(a.Stderr, "trailblaze: error: %v\n", err)
		code = fault.Worst(code, fault.ExitInfra)
	}
	return code
}

// forcedRuntime is --runtime, looked up before cobra parses because detection is set up once, or TRAILBLAZE_RUNTIME.
func (a *app) forcedRuntime() (name, by string) {
	for i, arg := range a.Args {
		if value, ok := strings.CutPrefix(arg, "--runtime="); ok {
			return value, "--runtime"
		}
		if arg == "--runtime" && i+1 < len(a.Args) {
			return a.Args[i+1], "--runtime"
		}
	}
	return a.env("TRAILBLAZE_RUNTIME"), "TRAILBLAZE_RUNTIME"
}

// typedSecrets are the values of --secret that stand on the command line or in the environment, looked up before cobra parses
// because its errors quote what they are about. Files wait for their turn: some can be read only once.
func (a *app) typedSecrets() map[string]string {
	out := map[string]string{}
	for i, arg := range a.Args {
		flag, typed, ok := strings.Cut(arg, "=")
		if flag != "--secret" && flag != "-secret" {
			continue
		}
		if !ok && i+1 < len(a.Args) {
			typed = a.Args[i+1]
		}
		name, value, given := strings.Cut(typed, "=")
		switch {
		case !given:
			out[name] = a.env(name)
		case !strings.HasPrefix(value, "@"):
			out[name] = value
		}
	}
	return out
}

// handleSignals cancels with the reason at the first signal and reports the exit code on hard at the second.
func (a *app) handleSignals() (hard <-chan int, stop func()) {
	signals := make(chan os.Signal, 2)
	a.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	closed := make(chan os.Signal, 1) // nobody reads it: writing to a closed pipe must fail, not end us with servers running
	a.Notify(closed, syscall.SIGPIPE)
	exit := make(chan int, 1)
	quit := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-quit:
				return
			case sig := <-signals:
				cause := signalFault(sig)
				if n > 0 {
					exit <- fault.ExitCode(cause)
					return
				}
				a.cancel(cause)
			}
		}
	}()
	return exit, func() {
		a.Unhook(signals)
		a.Unhook(closed)
		close(quit)
	}
}

func signalFault(sig os.Signal) *fault.Error {
	if sig == syscall.SIGTERM {
		return fault.New(fault.Terminated, "", "terminated")
	}
	return fault.New(fault.Interrupted, "", "interrupted")
}

// whileStopping tells, when a signal ends ctx, that a second one kills, and when a change does, that it starts again. The returned
// function waits for a notice being given.
func whileStopping(ctx context.Context, tell func(message string)) (done func()) {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		cause := context.Cause(ctx)
		switch kind := fault.KindOf(cause); {
		case replaced(ctx):
			tell(cause.Error() + "; starting again")
		case kind == fault.Interrupted || kind == fault.Terminated:
			tell(cause.Error() + ": stopping the servers; once more to kill them")
		}
	})
	return func() {
		if !stop() {
			<-told
		}
	}
}

// run executes the command line and renders its error.
func (a *app) run(ctx context.Context) (code int) {
	defer func() {
		if p := recover(); p != nil {
			bug := fault.Panicked(p)
			a.supervisor.KillAll()
			code = a.fail(bug)
		}
	}()
	root := a.newRoot()
	root.SetArgs(a.Args)
	err := root.ExecuteContext(ctx)
	if !a.parsed && err != nil && fault.As(err) == nil {
		err = fault.Wrap(fault.Misuse, err, "`trailblaze help` shows the commands", "command line") // cobra's own errors
	}
	var reported exitCode
	if cause := fault.As(context.Cause(ctx)); err != nil && cause != nil && !errors.As(err, &reported) {
		err = cause // what ended the command, not what came of it
	}
	return a.fail(err)
}

// fail prints an error, unless it was reported already, and returns the exit code it stands for.
func (a *app) fail(err error) int {
	var code exitCode
	switch {
	case err == nil:
		return fault.ExitPassed
	case errors.As(err, &code):
		return int(code)
	}
	var text bytes.Buffer
	to := a.Stderr
	if a.json {
		to = a.Stdout
		report.ErrorJSON(&text, err)
	} else {
		report.Error(&text, a.style(a.ErrTTY), err)
		if e := fault.As(err); e != nil && e.Kind == fault.Bug && a.verbose {
			fmt.Fprintln(&text, e.Details["stack"])
		}
	}
	fmt.Fprint(to, a.redactor.Text(text.String()))
	return fault.ExitCode(err)
}

func (a *app) style(isTerminal bool) report.Style {
	// The old Windows console shows escape sequences as they are; Windows Terminal says who it is.
	plain := a.noColor || goruntime.GOOS == "windows" && a.env("WT_SESSION") == ""
	style := report.DecideStyle(a.Getenv, isTerminal, a.Width, plain)
	style.Height = a.Height
	return style
}

// Commands is the command line, for those that write about it. It is not to be executed.
func Commands() *cobra.Command { return (&app{}).newRoot() }

func (a *app) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "trailblaze",
		Short: "Replay recorded UI tests, with your own tools, without a daemon",
		Long: `trailblaze replays trails: YAML files that hold a test's steps in plain language and, under each, the tool calls that were
recorded for it. It starts the tool servers that your project names, makes every recorded call, and leaves evidence.`,
		Example: `  trailblaze init                    write a project whose run passes
  trailblaze run                     replay every trail of the project
  trailblaze run trails/login.trail.yaml --driver ios-host
  trailblaze toolbox list --target myapp --driver ios-host --why
  trailblaze doctor                  say what is missing on this machine`,
		SilenceErrors: true, SilenceUsage: true, Version: a.Version,
		Args: cobra.ArbitraryArgs,
		RunE: a.helpOrUnknown,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := c.ValidateFlagGroups(); err != nil {
				return flagError(c, err)
			}
			a.parsed = true
			return nil
		},
	}
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("trailblaze {{.Version}}\n")
	if a.json {
		root.SetVersionTemplate("{\"version\":\"{{.Version}}\"}\n")
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.project, "project", "", "project root `DIR` (default: the nearest ancestor with a project file; env TRAILBLAZE_PROJECT)")
	flags.StringVar(&a.runtime, "runtime", "", "JavaScript runtime for scripts: `bun|node|embedded` (default: what is found; env TRAILBLAZE_RUNTIME)")
	flags.BoolVar(&a.json, "json", a.json, "write JSON only to stdout, errors included")
	flags.BoolVar(&a.noColor, "no-color", false, "no colour and no live lines (also NO_COLOR, TERM=dumb, CI)")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "only failures and the summary")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "every step and call")
	root.MarkFlagsMutuallyExclusive("quiet", "verbose")
	root.AddGroup(&cobra.Group{ID: "main", Title: "Commands:"}, &cobra.Group{ID: "more", Title: "More:"})
	for _, c := range []*cobra.Command{a.newRun(), a.newReport(), a.newTool(), a.newToolbox(), a.newSnapshot(), a.newDoctor(), a.newCheck(), a.newInit()} {
		c.GroupID = "main"
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{a.newSchema(), a.newVersion()} {
		c.GroupID = "more"
		root.AddCommand(c)
	}
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.SetHelpCommand(a.newHelp())
	root.AddCommand(helpTopics()...)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = cobra.ArbitraryArgs, a.helpOrUnknown
	}
	return root
}

// How cobra says that flags do not go together, and pflag that a value is none for its flag.
const (
	exclusive  = `^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`
	wrongValue = `^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-., )?(--[^"]+)" flag: `
)

func flagError(c *cobra.Command, err error) error {
	hint := fmt.Sprintf("`%s --help` lists the flags", c.CommandPath())
	if _, name, ok := strings.Cut(err.Error(), "unknown flag: --"); ok {
		if near := fault.Nearest(name, flagNames(c)); len(near) > 0 {
			hint = "did you mean --" + strings.Join(near, " or --") + "?"
		}
	}
	if m := regexp.MustCompile(exclusive).FindStringSubmatch(err.Error()); m != nil {
		return fault.New(fault.Misuse, hint, "--%s do not go together", strings.Join(strings.Fields(m[1]), " and --"))
	}
	if m := regexp.MustCompile(wrongValue).FindStringSubmatch(err.Error()); m != nil {
		if f := c.Flags().Lookup(m[2][2:]); f != nil {
			return fault.New(fault.Misuse, hint, "%s: %s is no %s", m[2], m[1], valueName(f.Value.Type()))
		}
	}
	return fault.New(fault.Misuse, hint, "%v", err)
}

// valueName is what people call the values of a type of flag.
func valueName(flagType string) string {
	switch flagType {
	case "int":
		return "whole number"
	case "bool":
		return "true or false"
	default:
		return flagType
	}
}

func unknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fault.New(fault.Misuse, fault.DidYouMean(name, names), "unknown command %q for %q", name, c.CommandPath())
}

// helpOrUnknown is what a command does that only has commands.
func (a *app) helpOrUnknown(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return a.help(c)
}

// help shows how a command is used; to a program that asked for JSON it is an error.
func (a *app) help(c *cobra.Command) error {
	if a.json {
		return fault.New(fault.Misuse, fmt.Sprintf("`%s --help` lists the commands", c.CommandPath()), "%s needs a command", c.CommandPath())
	}
	return c.Help()
}

func (a *app) newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command or topic",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(about, strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// noArgs refuses positional arguments in the words of this program.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.New(fault.Misuse, fmt.Sprintf("`%s --help` shows how it is used", c.CommandPath()), "%s takes no argument, found %q", c.CommandPath(), args[0])
	}
	return nil
}
