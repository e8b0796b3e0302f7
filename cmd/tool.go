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

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

type toolFlags struct {
	sessionFlags
	args, save, step, verify, saveAs string
	session                          sessionFlag
}

// toolCommands use tools and devices, in a session of their own or in one that runs in the background.
type toolCommands struct{ *sessionCommands }

func (cmd *toolCommands) newTool() *cobra.Command {
	var f toolFlags
	c := &cobra.Command{
		Use:   "tool NAME [ARGUMENT=VALUE...]",
		Short: "Call one tool and print its result",
		Long: `Call one registered tool in a session of its own and print its result. A VALUE is text if the tool's schema
accepts text, else JSON; ["a", "b"] is a list where that accepts lists, too. {{name}} in it is replaced with memory and
secrets, as in a trail. With --save the call becomes a step of a trail; for a delegating tool, the calls that it delegates
to are saved instead. ` + "`trailblaze tool NAME --help`" + ` lists the arguments of a tool.

With --session the call is made in a session that runs in the background, and the changes of the screen are printed below
its result. --step or --verify record it there, as part of the step with that text.`,
		Example: `  trailblaze tool generateTestUser plan=pro
  trailblaze tool addToCart --args '{"sku": "mug", "count": 2}' --json
  trailblaze tool signIn email=a@example.com --save trails/login.trail.yaml --step "Sign in"
  trailblaze tool web_click ref=e4 --session s1 --step "Open the cart"`,
		RunE: func(c *cobra.Command, args []string) error { return cmd.callTool(c.Context(), f, args) },
	}
	flags := c.Flags()
	f.bind(cmd.program, c)
	flags.StringVar(&f.args, "args", "", "arguments as a `JSON` object; ARGUMENT=VALUE adds to it")
	flags.Lookup("secret").Usage = "secret `NAME` from the environment, NAME=@FILE or NAME=VALUE (repeatable); never printed or saved"
	flags.Lookup("classifier").Usage = "classifiers of the device, broad first, such as `android,phone`, for --save (default: the platform)"
	flags.StringVar(&f.save, "save", "", "append the call to the trail `FILE` when it succeeds")
	f.session.bind(c)
	flags.StringVar(&f.step, "step", "", "`TEXT` of the step, with --save or in a session, which then records the call")
	flags.StringVar(&f.verify, "verify", "",
		"as --step, for a step that checks something: `TEXT` says what, and the call can fail; only in a session")
	flags.StringVar(&f.saveAs, "save-as", "", "save the result as `NAME` in the session's memory; only in a session")
	c.MarkFlagsMutuallyExclusive("step", "verify")
	return c
}

func (cmd *toolCommands) callTool(ctx context.Context, f toolFlags, args []string) error {
	if len(args) == 0 {
		return fault.New(fault.Misuse, "`trailblaze toolbox list` lists the tools", "tool needs the name of a tool")
	}
	if cmd.session(f.session) != "" {
		return cmd.callInSession(ctx, f, args)
	}
	single, choice, err := cmd.single(ctx, f, args)
	if err == nil {
		err = f.checkSave()
	}
	if err != nil {
		return err
	}
	w, err := cmd.loadProject()
	if err != nil {
		return err
	}
	s, err := w.Sessions(ctx, choice)
	if err != nil {
		return err
	}
	sc, err := s.Scope()
	if err == nil && f.save != "" {
		_, err = cmd.withStep(f, sc, s.Memory, nil) // before the call is made
	}
	if err != nil {
		return err
	}
	var durationMs int64
	cmd.toolStream(s, &durationMs)
	defer logStop(ctx, cmd.notice)()
	called, err := single.Call(ctx, s.Options(sc))
	if err != nil {
		return cmd.withLogs(asMisuse(err), called)
	}
	if err := cmd.printResult(single.Tool, called, durationMs); err != nil || !called.Answer.OK || f.save == "" {
		return err
	}
	for _, omitted := range called.Omitted {
		cmd.notice("warning: not saved: " + cmd.redactor.Text(omitted))
	}
	return cmd.saveStep(f, sc, s.Memory, called.Recorded)
}

// checkSave returns an error, before anything starts, for a --save file that run would not find and for an empty
// --step.
func (f toolFlags) checkSave() error {
	base, changed := filepath.Base(f.save), f.session.command.Flags().Changed
	switch {
	case changed("verify") || changed("save-as"):
		return fault.New(fault.Misuse, "add --session NAME; `trailblaze session start` starts one",
			"--verify and --save-as can be used only in a session")
	case changed("save") != changed("step"):
		missing := "step"
		if changed("step") {
			missing = "save"
		}
		return fault.New(fault.Misuse, "or record the call in a session: --session NAME --step TEXT",
			"--save and --step must be used together; --%s is missing", missing)
	case f.save == "":
		return nil
	case base != "trail.yaml" && !strings.HasSuffix(base, ".trail.yaml"):
		name := strings.TrimSuffix(filepath.Clean(f.save), filepath.Ext(f.save))
		return fault.New(fault.Misuse, "write --save "+cmp.Or(name, "NAME")+".trail.yaml",
			"--save %s is not the name of a trail", f.save)
	case strings.TrimSpace(f.step) == "":
		return fault.New(fault.Misuse, `describe the step: --step "Sign in"`, "--step is empty")
	}
	return nil
}

// single returns the call that the command line describes, and the choice of its session.
func (cmd *toolCommands) single(ctx context.Context, f toolFlags, words []string) (o session.Single, choice workspace.Choice, err error) {
	o = session.Single{Tool: words[0], Save: f.save != ""}
	secrets, err := cmd.readSecrets(ctx, f.secrets)
	if err != nil {
		return o, choice, err
	}
	if choice, err = f.choice(cmd.program, secrets); err != nil {
		return o, choice, err
	}
	args := map[string]any{}
	if f.args != "" {
		value, err := trail.DecodeJSON([]byte(f.args))
		object, ok := value.(map[string]any)
		if err != nil || !ok {
			return o, choice, fault.New(fault.Misuse, `write --args '{"name": "value"}'`, "--args is not a JSON object")
		}
		args = object
	}
	texts, err := argumentPairs(words[1:])
	if err != nil {
		return o, choice, err
	}
	o.Args = func(t *discover.Tool) (map[string]any, error) {
		for name, text := range texts {
			args[name] = readArg(t, name, text)
		}
		return args, nil
	}
	return o, choice, nil
}

// readArg returns the value of an argument: the decoded JSON, or the text itself where it is not valid JSON or the tool's
// schema accepts text. Where that accepts lists as well, a list in JSON is one.
func readArg(t *discover.Tool, name, text string) any {
	value, err := trail.DecodeJSON([]byte(text))
	_, isList := value.([]any)
	acceptsText, acceptsList := t.Accepts(name)
	if err == nil && (!acceptsText || acceptsList && isList) {
		return value
	}
	return text
}

// argumentPairs returns the values of words of the form ARGUMENT=VALUE, by argument.
func argumentPairs(words []string) (map[string]string, error) {
	out := map[string]string{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, fault.New(fault.Misuse, "write ARGUMENT=VALUE, or all arguments with --args",
				"%q is not ARGUMENT=VALUE", word)
		}
		if _, twice := out[name]; twice {
			return nil, fault.New(fault.Misuse, "give each argument once", "argument %q is given twice", name)
		}
		out[name] = value
	}
	return out, nil
}

// toolStream makes a stream of sessions that prints warnings and progress to stderr, with --verbose every call. It sets
// durationMs to the duration of the last call that finishes, which is the one that contains all nested calls.
func (p *program) toolStream(s *workspace.Sessions, durationMs *int64) {
	for _, w := range s.Project.Notes() {
		p.notice("warning: " + w.Error())
	}
	for _, message := range s.Redactor.Warnings() {
		p.notice("warning: " + withHint(message, shortSecretHint))
	}
	timer := event.HandlerFunc(func(r event.Record) {
		if e, ok := r.Event.(event.CallFinished); ok {
			*durationMs = e.DurationMs
		}
	})
	if p.verbose > 0 && !p.json {
		style := p.style(p.ErrTTY)
		style.Live = false
		console := report.NewConsole(p.Stderr, style, report.ConsoleOptions{Verbose: true, Now: p.Now})
		s.NewStream(timer, console)
		return
	}
	progress := event.HandlerFunc(func(r event.Record) {
		if e, ok := r.Event.(event.CallProgress); ok {
			p.notice(e.Message)
		}
	})
	warn := func(text string) { p.notice("warning: " + text) }
	s.NewStream(timer, warnings(warn), progress)
}

// asMisuse returns err with kind Misuse when the call itself is invalid: it comes from the command line, not from a
// trail.
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

// toolResultView is the JSON output of tool.
type toolResultView struct {
	Tool       string     `json:"tool"`
	OK         bool       `json:"ok"`
	Text       string     `json:"text"`
	Structured any        `json:"structured,omitempty"`
	Error      string     `json:"error"`
	Kind       fault.Kind `json:"kind"`
	DurationMs int64      `json:"durationMs"`
	Logs       []string   `json:"logs,omitempty"`
	// Attachments are what the tool returned besides text, as files in the session's folder.
	Attachments []live.Attachment `json:"attachments,omitempty"`
}

// printResult prints the result of a tool. For a failed one it prints an error and returns exit code 1.
func (cmd *toolCommands) printResult(name string, called session.SingleResult, durationMs int64) error {
	failed, result := exitCode(fault.ExitFailed), called.Answer
	text, attachments := cmd.redactor.Text(result.Text), live.Attachments(result)
	for i := range attachments {
		a := &attachments[i]
		for _, shown := range []*string{&a.MIME, &a.Name, &a.URI, &a.Note} {
			*shown = cmd.redactor.Text(*shown)
		}
	}
	if cmd.json {
		v := toolResultView{
			Tool: name, OK: result.OK, Kind: result.Kind, DurationMs: durationMs, Logs: logPaths(called),
			Attachments: attachments,
		}
		if structured, err := trail.DecodeJSON(result.Structured); err == nil {
			v.Structured = cmd.redactor.Redactor().Value(structured)
		}
		if result.OK {
			v.Text = text
		} else {
			v.Error = withHint(text, cmd.redactor.Text(result.Hint))
		}
		if err := cmd.writeJSON(v); err != nil || result.OK {
			return err
		}
		return failed
	}
	if !result.OK {
		cmd.fail(cmd.withLogs(&fault.Error{Kind: result.Kind, Message: result.Text, Hint: result.Hint}, called))
		return failed
	}
	cmd.printAttachments(attachments)
	switch {
	case text != "":
		fmt.Fprintln(cmd.Stdout, report.Clean(text))
	case len(result.Structured) > 0:
		fmt.Fprintln(cmd.Stdout, report.Clean(cmd.redactor.Text(string(result.Structured))))
	}
	return nil
}

// logPaths returns the paths of the servers' logs, that of the called tool's server first.
func logPaths(called session.SingleResult) []string {
	if called.Log == "" {
		return called.Logs
	}
	return append([]string{called.Log}, called.Logs...)
}

// lastLines returns the last lines of a log, few enough to be printed with an error.
func lastLines(path string) []string {
	const maxLines, maxBytes = 10, 4 << 10
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		_, _ = file.Seek(max(0, info.Size()-maxBytes), io.SeekStart)
	}
	data, _ := io.ReadAll(file) // after an error, the lines before it
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return lines[max(0, len(lines)-maxLines):]
}

// withLogs adds the last lines of the called tool's server, and the paths of the logs, to an error that does not name
// them.
func (cmd *toolCommands) withLogs(err error, called session.SingleResult) error {
	e := fault.As(err)
	if e == nil || len(fault.Split(err)) > 1 { // several servers failed to start; each error names its log
		return err
	}
	with := *e
	for _, path := range logPaths(called) {
		if strings.Contains(e.Message, path) {
			continue
		}
		if path == called.Log {
			with.Message += "\n  the end of its server's stderr:\n    " + strings.Join(lastLines(path), "\n    ")
		}
		with.Message += "\n  log: " + cmd.relative(path)
	}
	return &with
}

// saveStep appends the calls to the trail of --save, as a step for this device.
func (cmd *toolCommands) saveStep(f toolFlags, sc scope.Scope, memory map[string]string, calls []trail.Call) error {
	if calls == nil {
		return fault.New(fault.Misuse, "", "the call is not saved: neither the tool nor what it called can be recorded")
	}
	unlock, err := cmd.lockSaves()
	if err != nil {
		return err
	}
	defer unlock()
	data, err := cmd.withStep(f, sc, memory, calls)
	if err != nil {
		return err
	}
	if err := run.ReplaceFile(cmd.abs(f.save), data); err != nil {
		return err
	}
	cmd.notice("saved as a step of " + f.save)
	return nil
}

// lockSaves makes other commands wait that append to a trail, until unlock is called.
func (cmd *toolCommands) lockSaves() (unlock func(), err error) {
	dir := cmd.cacheDir()
	if dir == "" {
		return nil, fault.New(fault.Misuse, "set TRAILBLAZE_CACHE_DIR to the absolute path of a folder",
			"the cache folder, in which --save keeps its lock, is not known")
	}
	err = os.MkdirAll(dir, 0o700)
	var held *files.LockedFile
	if err == nil {
		held, err = files.Lock(filepath.Join(dir, "save.lock"), true)
	}
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "check the permissions of "+dir, "lock the --save file")
	}
	return func() { _ = held.Close() }, nil
}

// withStep returns the trail of --save with one more step. A new trail gets the memory of the call.
func (cmd *toolCommands) withStep(f toolFlags, sc scope.Scope, memory map[string]string, calls []trail.Call) ([]byte, error) {
	lineage := trail.Lineage(f.classifiers)
	if len(lineage) == 0 {
		lineage = []string{sc.Driver.Platform.Lower()}
	}
	step := trail.Step{
		Kind: trail.KindStep, Text: cmd.redactor.Text(f.step), Recordable: true,
		Recording: trail.Recording{{Classifier: lineage[0], Calls: calls}},
	}
	config := trail.Config{Target: sc.Target.ID, Memory: map[string]any{}}
	for name, value := range memory {
		config.Memory[name] = cmd.redactor.Text(value)
	}
	data, err := files.Read(cmd.abs(f.save), trail.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = run.Replaceable(cmd.abs(f.save))
	}
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "choose a --save file that can be read and written", "save the step")
	}
	return trail.Append(f.save, data, step, config)
}
