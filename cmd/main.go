package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/report"
)

// app runs one command line.
type app struct {
	*program
	parsed bool // cobra accepted the command line
}

// exitCode is the error of a command that has already reported its result.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs the program and returns its exit code. Every process that it started has exited when it returns: after an
// orderly stop, or killed after a second signal or a panic.
func Main(sys System) int {
	if sys.AdoptOrphans != nil {
		sys.AdoptOrphans()
	}
	if slices.Equal(sys.Args, serveArgs()) {
		return serve(sys)
	}
	return runProgram(sys, nil)
}

// runProgram implements Main. serving is nil except in the process of a session in the background.
func runProgram(sys System, serving *serving) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	out := &output{w: sys.Stdout, cancel: cancel}
	sys.Stdout = out
	isJSON := slices.Contains(sys.Args, "--json") || slices.Contains(sys.Args, mcpCommand)
	annotate := sys.Stderr            // as it is: its lines may be commands for the CI runner
	if sys.inCI() && serving == nil { // else the command that starts the session does it
		sys.Stdout, sys.Stderr = report.NewCIWriter(out, isJSON), report.NewCIWriter(sys.Stderr, false)
	}
	p := newProgram(sys, cancel)
	p.annotate, p.serving = annotate, serving
	a := &app{program: p}
	if problem := sys.cacheProblem(); problem != "" && serving == nil {
		a.notice("warning: " + problem + "; set TRAILBLAZE_CACHE_DIR to a folder into which only you can write")
	}
	killed, stop := a.handleSignals()
	defer stop()
	done := make(chan int, 1)
	go func() { done <- a.run(ctx) }()
	select {
	case code := <-done:
		return a.close(ctx, code, out)
	case code := <-killed:
		a.supervisor.KillAll()
		files.Abandon()
		return code
	}
}

// close stops the remaining processes and reports output that could not be written. It returns the final exit code.
func (a *app) close(ctx context.Context, code int, out *output) int {
	a.opener.Close(ctx)
	if err := a.supervisor.Close(); err != nil {
		fmt.Fprintf(a.Stderr, "trailblaze: warning: %v\n", err)
	}
	if err := out.failure(); err != nil {
		fmt.Fprintf(a.Stderr, "trailblaze: error: %v\n", err)
		code = fault.Worst(code, fault.ExitInfra)
	}
	return code
}

// echo is how long after the first signal the same one is not a second one: timeout(1), npm and a terminal each send a
// signal to trailblaze and to its group, which it is in.
const echo = time.Second

// handleSignals cancels the context at the first signal, with the signal as its cause, and sends the exit code on
// killed at the second. An echo does not count, nor does a further hang-up: the system and the shell both send one when
// a terminal is closed.
func (a *app) handleSignals() (killed <-chan int, stop func()) {
	signals := make(chan os.Signal, 2)
	a.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	// Never read: a write to a closed pipe then returns an error instead of ending the program while servers run.
	closed := make(chan os.Signal, 1)
	a.Notify(closed, syscall.SIGPIPE)
	exit := make(chan int, 1)
	quit := make(chan struct{})
	go func() {
		var first os.Signal
		var at time.Time
		for {
			select {
			case <-quit:
				return
			case sig := <-signals:
				switch {
				case first == nil:
					first, at = sig, time.Now()
					a.cancel(signalFault(sig))
				case sig == syscall.SIGHUP || sig == first && time.Since(at) < echo:
				default:
					exit <- fault.ExitCode(signalFault(sig))
					return
				}
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

// logStop calls log when ctx is cancelled, with how to go on: a second signal kills, and a change restarts the run. The
// returned function stops that, and waits for a call of log in progress.
func logStop(ctx context.Context, log func(message string)) (done func()) {
	logged := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(logged)
		cause := context.Cause(ctx)
		switch kind := fault.KindOf(cause); {
		case restarting(ctx):
			log(cause.Error() + "; restarting the run")
		case kind == fault.Interrupted || kind == fault.Terminated:
			log(cause.Error() + ": stopping the servers; a second signal kills them")
		}
	})
	return func() {
		if !stop() {
			<-logged
		}
	}
}

// run executes the command line, prints its error and returns the exit code.
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
	if !a.parsed && err != nil {
		if fault.As(err) == nil { // an error of cobra
			err = fault.Wrap(fault.Misuse, err, "`trailblaze help` lists the commands", "command line")
		}
		(&runCommand{a.program}).refuseInvalid(root, err)
	}
	var reported exitCode
	if cause := fault.As(context.Cause(ctx)); err != nil && cause != nil && !errors.As(err, &reported) {
		err = cause // why the command ended, rather than what failed because of that
	}
	return a.fail(err)
}

// Commands returns the command tree for the reference and the man pages. Do not execute it.
func Commands() *cobra.Command {
	return (&app{program: &program{System: System{Devices: kinds()}}}).newRoot()
}

func (a *app) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "trailblaze",
		Short: "Replay recorded UI tests, with your own tools, without a daemon",
		Long: `trailblaze replays trails: YAML files that hold a test's steps in plain language and, under each step, the
recorded tool calls. It starts the tool servers of your project, makes every recorded call, and keeps evidence of
failures.`,
		Example: `  trailblaze init                    write a small project whose trail passes
  trailblaze run                     replay every trail of the project
  trailblaze run trails/login.trail.yaml --driver ios-host
  trailblaze toolbox list --target myapp --driver ios-host --why
  trailblaze doctor                  check what this machine and project need`,
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,
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
	a.bindVersion(root)
	a.bindGlobals(root.PersistentFlags())
	root.MarkFlagsMutuallyExclusive("quiet", "verbose")
	root.AddGroup(&cobra.Group{ID: "main", Title: "Commands:"}, &cobra.Group{ID: "more", Title: "More:"})
	runs, reports, checks, types := runCommand{a.program}, reportCommands{a.program}, checkCommands{a.program}, typeCommands{a.program}
	sessions := sessionCommands{answers{a.program}}
	tools, starter := toolCommands{&sessions}, initCommand{a.program}
	for _, c := range []*cobra.Command{
		runs.newRun(), reports.newReport(), sessions.newSession(), tools.newTool(), tools.newToolbox(),
		tools.newSnapshot(), sessions.newExplore(), newStudio(a.program), newMCP(a.program), checks.newDevice(), checks.newDoctor(), checks.newCheck(), starter.newInit(),
	} {
		c.GroupID = "main"
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{reports.newLogs(), types.newSchema(), types.newTypes(), a.newVersion()} {
		c.GroupID = "more"
		root.AddCommand(c)
	}
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.SetHelpCommand(a.newHelp())
	helpOfCommands := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c == root {
			fmt.Fprint(c.OutOrStdout(), rootHelp(root))
			return
		}
		if given := c.Flags().Args(); c.Name() == "tool" && len(given) > 0 && tools.helpOfTool(c, given[0]) {
			return
		}
		helpOfCommands(c, args)
	})
	root.AddCommand(helpTopics(a.options())...)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = cobra.ArbitraryArgs, a.helpOrUnknown
	}
	return root
}

// bindGlobals adds the flags of every command.
func (a *app) bindGlobals(flags *pflag.FlagSet) {
	flags.StringVar(&a.project, "project", "",
		"project root `DIR` (default: the nearest ancestor with a project file; env TRAILBLAZE_PROJECT)")
	flags.StringVar(&a.runtime, "runtime", "",
		"JavaScript runtime for scripts: `bun|node|embedded` (default: the first one found; env TRAILBLAZE_RUNTIME)")
	flags.BoolVar(&a.json, "json", a.json, "write only JSON to stdout, errors included")
	flags.BoolVar(&a.noColor, "no-color", false, "no colour and no live lines (also NO_COLOR, TERM=dumb, CI)")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "show only failures and the summary")
	flags.CountVarP(&a.verbose, "verbose", "v",
		"show every step and call; given twice (-vv), also what servers write to stderr")
}

// The errors of cobra for flags that exclude or need each other, and of pflag for an invalid value.
const (
	together  = `^if any flags in the group \[(.*)\] are set they must all be set; missing \[(.*)\]$`
	exclusive = `^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`
	invalid   = `^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-., )?(--[^"]+)" flag: `
)

// flagError returns an error of cobra about flags as a fault of kind Misuse.
func flagError(c *cobra.Command, err error) error {
	listed := fmt.Sprintf("`%s --help` lists the flags", c.CommandPath())
	hint := listed
	if _, name, ok := strings.Cut(err.Error(), "unknown flag: --"); ok {
		if near := fault.Nearest(name, flagNames(c)); len(near) > 0 {
			hint = "did you mean --" + strings.Join(near, " or --") + "? " + listed
		}
	}
	if m := regexp.MustCompile(exclusive).FindStringSubmatch(err.Error()); m != nil {
		names := strings.Join(strings.Fields(m[1]), " and --")
		return fault.New(fault.Misuse, hint, "--%s cannot be used together", names)
	}
	if m := regexp.MustCompile(together).FindStringSubmatch(err.Error()); m != nil {
		return fault.New(fault.Misuse, hint, "--%s must be used together; --%s is missing",
			strings.Join(strings.Fields(m[1]), " and --"), strings.Join(strings.Fields(m[2]), " and --"))
	}
	if m := regexp.MustCompile(invalid).FindStringSubmatch(err.Error()); m != nil {
		if f := c.Flags().Lookup(m[2][2:]); f != nil {
			if f.Value.Type() == "duration" {
				hint = "write a number with a unit, such as " + durationExample(m[1])
			}
			return fault.New(fault.Misuse, hint, "%s: %s is not %s", m[2], m[1], valueName(f.Value))
		}
	}
	return fault.New(fault.Misuse, hint, "%v", err)
}

// durationExample returns an example of a duration: a number, quoted, in seconds.
func durationExample(quoted string) string {
	text, err := strconv.Unquote(quoted)
	if _, notNumber := strconv.ParseFloat(text, 64); err != nil || notNumber != nil || strings.HasPrefix(text, "-") {
		return "30s or 10m"
	}
	return text + "s"
}

// valueName names the values of a flag, with an article.
func valueName(value pflag.Value) string {
	if _, ok := value.(*overwriteValue); ok {
		return "true, false or all"
	}
	switch value.Type() {
	case "int":
		return "a whole number"
	case "bool":
		return "true or false"
	default:
		return "a " + value.Type()
	}
}

func unknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	hint := fault.DidYouMeanListed(name, names, fmt.Sprintf("`%s --help` lists the commands", c.CommandPath()))
	return fault.New(fault.Misuse, hint, "unknown command %q for %q", name, c.CommandPath())
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

// noArgs does what cobra.NoArgs does, with an error that has a hint.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		hint := fmt.Sprintf("`%s --help` shows its usage", c.CommandPath())
		return fault.New(fault.Misuse, hint, "%s takes no arguments, got %q", c.CommandPath(), args[0])
	}
	return nil
}
