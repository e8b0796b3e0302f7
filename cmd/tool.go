package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

type toolFlags struct {
	scopeFlags
	memory, secrets, classifiers []string
	args, save, step             string
}

func (a *app) newTool() *cobra.Command {
	var f toolFlags
	c := &cobra.Command{
		Use:   "tool NAME [ARGUMENT=VALUE...]",
		Short: "Call one tool and print its result",
		Long: `Call one registered tool in a session of its own and print its result. A VALUE is read as the tool's schema says: text is taken as
it is, anything else as JSON. {{name}} in it stands for memory and secrets, as in a trail. With --save the call becomes a step of a
trail; what a delegating tool delegates to is saved in its place.`,
		Example: `  trailblaze tool generateTestUser plan=pro
  trailblaze tool addToCart --args '{"sku": "mug", "count": 2}' --json
  trailblaze tool signIn email=a@example.com --save trails/login.trail.yaml --step "Sign in"`,
		RunE: func(c *cobra.Command, args []string) error { return a.callTool(c.Context(), f, args) },
	}
	flags := c.Flags()
	f.bind(a, c)
	flags.StringVar(&f.args, "args", "", "arguments as a `JSON` object; ARGUMENT=VALUE adds to them")
	flags.StringArrayVar(&f.memory, "memory", nil, "`NAME=VALUE` in the session's memory")
	flags.StringArrayVar(&f.secrets, "secret", nil, "`NAME` from the environment, NAME=@FILE or NAME=VALUE; never printed or saved")
	flags.StringSliceVar(&f.classifiers, "classifier", nil, "classifiers of the device, for --save (default: the platform)")
	flags.StringVar(&f.save, "save", "", "append the call to the trail `FILE`, once it has succeeded")
	flags.StringVar(&f.step, "step", "", "the step's `TEXT`, with --save")
	c.MarkFlagsRequiredTogether("save", "step")
	return c
}

func (a *app) callTool(ctx context.Context, f toolFlags, args []string) error {
	if len(args) == 0 {
		return fault.New(fault.Misuse, "`trailblaze toolbox list` shows the tools of a scope", "tool needs the name of a tool")
	}
	single, values, err := a.single(f, args)
	if err == nil {
		err = f.checkSave()
	}
	if err != nil {
		return err
	}
	project, err := a.loadProject()
	if err != nil {
		return err
	}
	setup, err := a.newSetup(project, f.scopeFlags, a.redactor)
	if err != nil {
		return err
	}
	sc, err := scope.Resolve(setup.request)
	if err != nil {
		return err
	}
	if f.save != "" {
		if _, err := a.withStep(f, sc, values.Memory, nil); err != nil {
			return err // before the call is made
		}
	}
	var took int64
	setup.Stream = a.toolStream(project, setup, &took)
	defer whileStopping(ctx, a.tell)()
	called, err := single.Call(ctx, session.Options{
		Setup: setup.Setup, Scope: sc, Device: setup.device, Values: trail.NewValues(values),
	})
	if err != nil {
		return a.withLogs(asMisuse(err), called)
	}
	if err := a.printResult(single.Tool, called, took); err != nil || !called.Answer.OK || f.save == "" {
		return err
	}
	for _, what := range called.Omitted {
		a.tell("warning: not saved: " + report.Clean(a.redactor.Text(what)))
	}
	return a.saveStep(f, sc, values.Memory, called.Recorded)
}

// checkSave refuses, before anything starts, what could not be saved or found again.
func (f toolFlags) checkSave() error {
	base := filepath.Base(f.save)
	switch {
	case f.save == "":
		return nil
	case base != "trail.yaml" && !strings.HasSuffix(base, ".trail.yaml"):
		name := strings.TrimSuffix(filepath.Clean(f.save), filepath.Ext(f.save))
		return fault.New(fault.Misuse, "write --save "+cmp.Or(name, "NAME")+".trail.yaml", "--save %s is not the name of a trail", f.save)
	case strings.TrimSpace(f.step) == "":
		return fault.New(fault.Misuse, `say what it does: --step "Sign in"`, "--step is empty")
	}
	return nil
}

// single reads what is to be called, and the values that the session gets.
func (a *app) single(f toolFlags, args []string) (o session.Single, values trail.Sources, err error) {
	o = session.Single{Tool: args[0], Save: f.save != ""}
	values.Secrets, err = a.secrets(f.secrets)
	a.redactor = redact.New(values.Secrets)
	if err != nil {
		return o, values, err
	}
	if values.Memory, err = memoryValues(f.memory); err != nil {
		return o, values, err
	}
	given := map[string]any{}
	if f.args != "" {
		value, err := trail.DecodeJSON([]byte(f.args))
		object, ok := value.(map[string]any)
		if err != nil || !ok {
			return o, values, fault.New(fault.Misuse, `write --args '{"name": "value"}'`, "--args is not a JSON object")
		}
		given = object
	}
	words, err := argumentPairs(args[1:])
	if err != nil {
		return o, values, err
	}
	o.Args = func(t *discover.Tool) (map[string]any, error) {
		for name, text := range words {
			given[name] = readArg(t, name, text)
		}
		return given, nil
	}
	return o, values, nil
}

// readArg reads an argument as the tool's schema says: as it is where text may stand, else as JSON if it is any.
func readArg(t *discover.Tool, name, text string) any {
	if t.AcceptsText(name) {
		return text
	}
	value, err := trail.DecodeJSON([]byte(text))
	if err != nil {
		return text
	}
	return value
}

func argumentPairs(words []string) (map[string]string, error) {
	out := map[string]string{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, fault.New(fault.Misuse, "write ARGUMENT=VALUE, or all of them with --args", "%q has no value", word)
		}
		if _, twice := out[name]; twice {
			return nil, fault.New(fault.Misuse, "give it once", "argument %q is given twice", name)
		}
		out[name] = value
	}
	return out, nil
}

// toolStream says what goes on to the person at the terminal, with --verbose every call, and how many milliseconds the call took: of
// several that finish, the one that all others were made within is the last.
func (a *app) toolStream(project *config.Project, setup setup, took *int64) *event.Stream {
	for _, w := range project.Warnings {
		a.tell("warning: " + report.Clean(w.Error()))
	}
	timer := event.HandlerFunc(func(r event.Record) {
		if e, ok := r.Event.(event.CallFinished); ok {
			*took = e.DurationMs
		}
	})
	if a.verbose && !a.json {
		style := a.style(a.ErrTTY)
		style.Live = false
		return event.NewStream(a.Now, setup.Redactor, timer, report.NewConsole(a.Stderr, style, report.ConsoleOptions{Verbose: true, Now: a.Now}))
	}
	return event.NewStream(a.Now, setup.Redactor, timer, warnings(func(text string) { a.tell("warning: " + report.Clean(text)) }),
		event.HandlerFunc(func(r event.Record) {
			if e, ok := r.Event.(event.CallProgress); ok {
				a.tell(report.Clean(e.Message))
			}
		}))
}

// asMisuse counts a call that cannot be made as it was written as misuse: here the command line is the only one to be wrong.
func asMisuse(err error) error {
	e := fault.As(err)
	if e == nil {
		return err
	}
	switch e.Kind {
	case fault.UnknownTool, fault.InvalidArguments, fault.UnknownValue:
		return &fault.Error{Kind: fault.Misuse, Message: e.Message, Hint: e.Hint, Details: e.Details, Cause: e}
	default:
		return err
	}
}

// toolResultView is what `tool --json` prints.
type toolResultView struct {
	Tool       string     `json:"tool"`
	OK         bool       `json:"ok"`
	Text       string     `json:"text"`
	Structured any        `json:"structured,omitempty"`
	Error      string     `json:"error"`
	Kind       fault.Kind `json:"kind"`
	DurationMs int64      `json:"durationMs"`
	Logs       []string   `json:"logs,omitempty"`
}

// printResult prints what a tool answered; one that failed is an error with exit code 1.
func (a *app) printResult(name string, called session.SingleResult, took int64) error {
	failed, result := exitCode(fault.ExitFailed), called.Answer
	text := a.redactor.Text(result.Text)
	if a.json {
		v := toolResultView{Tool: name, OK: result.OK, Kind: result.Kind, DurationMs: took, Logs: logs(called)}
		if structured, err := trail.DecodeJSON(result.Structured); err == nil {
			v.Structured = a.redactor.Value(structured)
		}
		if result.OK {
			v.Text = text
		} else {
			v.Error = joinSentences(text, a.redactor.Text(result.Hint))
		}
		if err := a.writeJSON(v); err != nil || result.OK {
			return err
		}
		return failed
	}
	if !result.OK {
		a.fail(a.withLogs(&fault.Error{Kind: result.Kind, Message: result.Text, Hint: result.Hint}, called))
		return failed
	}
	switch {
	case text != "":
		fmt.Fprintln(a.Stdout, report.Clean(text))
	case len(result.Structured) > 0:
		fmt.Fprintln(a.Stdout, report.Clean(a.redactor.Text(string(result.Structured))))
	}
	return nil
}

// logs are the files with what the servers wrote, that of the called tool's first.
func logs(called session.SingleResult) []string {
	if called.Log == "" {
		return called.Logs
	}
	return append([]string{called.Log}, called.Logs...)
}

// endOf returns the last lines of a log, as many as fit under an error.
func endOf(path string) []string {
	const maxLines, maxBytes = 10, 4 << 10
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		_, _ = file.Seek(max(0, info.Size()-maxBytes), io.SeekStart)
	}
	data, _ := io.ReadAll(file) // what could be read
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return lines[max(0, len(lines)-maxLines):]
}

// withLogs adds to an error the end of what the called tool's server wrote, and where all of it is, unless it says so itself.
func (a *app) withLogs(err error, called session.SingleResult) error {
	e := fault.As(err)
	if e == nil || len(fault.Split(err)) > 1 { // several servers that did not start, each with its own
		return err
	}
	with := *e
	for _, path := range logs(called) {
		if strings.Contains(e.Message, path) {
			continue
		}
		if path == called.Log {
			with.Message += "\n  the end of its server's stderr:\n    " + strings.Join(endOf(path), "\n    ")
		}
		with.Message += "\n  log: " + a.relative([]string{path})[0]
	}
	return &with
}

// saveStep appends the calls to a trail, as a step for this device.
func (a *app) saveStep(f toolFlags, sc scope.Scope, memory map[string]string, calls []trail.Call) error {
	if calls == nil {
		return fault.New(fault.Misuse, "", "nothing of the call is recordable, so nothing is saved")
	}
	data, err := a.withStep(f, sc, memory, calls)
	if err != nil {
		return err
	}
	if err := run.ReplaceFile(a.abs(f.save), data); err != nil {
		return err
	}
	a.tell("saved as a step of " + f.save)
	return nil
}

// withStep is the trail with one more step, or why there cannot be one. A new trail gets the memory that the call was given.
func (a *app) withStep(f toolFlags, sc scope.Scope, memory map[string]string, calls []trail.Call) ([]byte, error) {
	lineage := trail.Lineage(f.classifiers)
	if len(lineage) == 0 {
		lineage = []string{sc.Driver.Platform.Lower()}
	}
	step := trail.Step{
		Kind: trail.KindStep, Text: a.redactor.Text(f.step), Recordable: true,
		Recording: trail.Recording{{Classifier: lineage[0], Calls: calls}},
	}
	config := trail.Config{Target: sc.Target.ID, Memory: map[string]any{}}
	for name, value := range memory {
		config.Memory[name] = a.redactor.Text(value)
	}
	data, err := os.ReadFile(a.abs(f.save))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = run.Replaceable(a.abs(f.save))
	}
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "choose a --save file that can be read and written", "save the step")
	}
	return trail.Append(f.save, data, step, config)
}
