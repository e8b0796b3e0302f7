package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/background"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// stepRequest returns the step of the flags --step and --verify; without them the call is not recorded.
func (f toolFlags) stepRequest() (live.StepRequest, error) {
	r := live.StepRequest{Kind: trail.KindStep, Text: f.step}
	flags := f.session.command.Flags()
	switch {
	case flags.Changed("verify"):
		r.Kind, r.Text = trail.KindVerify, f.verify
	case !flags.Changed("step"):
		r.Unrecorded = true
		return r, nil
	}
	if strings.TrimSpace(r.Text) == "" {
		return r, fault.New(fault.Misuse, `describe the step: --step "Sign in"`, "--%s is empty", repairFlag(r.Kind))
	}
	return r, nil
}

// callInSession makes a call in a session that runs in the background.
func (cmd *toolCommands) callInSession(ctx context.Context, f toolFlags, args []string) error {
	if err := f.session.checkSessionFlags("args", "step", "verify", "save-as"); err != nil {
		return err
	}
	request, err := f.stepRequest()
	if err != nil {
		return err
	}
	if f.saveAs != "" && !trail.IsValueName(f.saveAs) {
		return fault.New(fault.Misuse, "use letters, digits, _, . and -, start with a letter or _",
			"--save-as: %q is not a valid name", f.saveAs)
	}
	single, _, err := cmd.single(ctx, f, args)
	if err != nil {
		return err
	}
	client, err := cmd.connect(cmd.session(f.session))
	if err != nil {
		return err
	}
	tools, err := client.Toolbox(ctx)
	if err != nil {
		return err
	}
	call := trail.Call{Tool: single.Tool, SaveAs: f.saveAs}
	described, known := tools.Registry.Lookup(single.Tool)
	if !known { // the session reports it
		described = &discover.Tool{Name: single.Tool}
	}
	if call.Args, err = single.Args(described); err != nil {
		return err
	}
	request.Calls = []trail.Call{call}
	start := cmd.Now()
	done, err := client.Step(ctx, request)
	if err != nil {
		return asMisuse(err)
	}
	return cmd.printStep(client.Record().Name, request, done, cmd.Now().Sub(start).Milliseconds())
}

// stepView is the JSON output of tool in a session.
type stepView struct {
	toolResultView
	Session  string   `json:"session"`
	Step     int      `json:"step"`     // in the recording; 0 when the call was not recorded
	Recorded int      `json:"recorded"` // how many calls were recorded
	URL      string   `json:"url"`
	Changes  string   `json:"changes"`
	Events   []string `json:"events"`
	Messages []string `json:"messages"`
	Warnings []string `json:"warnings"`
}

// printStep prints what a call in a session did. For a failed one it returns the exit code.
func (a answers) printStep(session string, request live.StepRequest, done live.StepReport, durationMs int64) error {
	call := done.Calls[0]
	code := fault.ExitPassed
	failure := &fault.Error{Kind: call.Kind, Message: call.Text, Hint: call.Hint}
	if !call.OK {
		code = fault.ExitFailed
		if call.Outcome == event.Error {
			code = fault.ExitCode(failure)
		}
	}
	if a.json {
		v := stepView{
			toolResultView: toolResultView{Tool: call.Tool, OK: call.OK, Structured: call.Structured, Kind: call.Kind, DurationMs: durationMs, Attachments: call.Attachments},
			Session:        session, Step: done.Step, Recorded: len(done.Recorded), URL: done.URL, Changes: done.Changes,
			Events: list(done.Events), Messages: list(done.Messages), Warnings: list(done.Warnings),
		}
		if call.OK {
			v.Text = call.Text
		} else {
			v.Error = withHint(call.Text, call.Hint)
		}
		return errors.Join(a.writeJSON(v), codeError(code))
	}
	a.printCall(call, failure)
	a.printScreen(done.Changes, done.Events, done.Messages)
	for _, warning := range done.Warnings {
		a.notice("warning: " + warning)
	}
	switch {
	case len(done.Recorded) > 0:
		a.notice(fmt.Sprintf("recorded as part of step %d", done.Step))
	case call.OK && request.Unrecorded:
		a.notice("not recorded; to record a call, name its step with --step TEXT or --verify TEXT")
	}
	return codeError(code)
}

// codeError returns an exit code as an error, nil for 0.
func codeError(code int) error {
	if code == fault.ExitPassed {
		return nil
	}
	return exitCode(code)
}

func (a answers) printCall(call live.CallReport, failure *fault.Error) {
	if call.Note != "" {
		a.notice(call.Note)
	}
	a.printAttachments(call.Attachments)
	switch {
	case !call.OK:
		a.fail(failure)
	case call.Text != "":
		fmt.Fprintln(a.Stdout, report.Clean(call.Text))
	case call.Structured != nil:
		text, _ := json.Marshal(call.Structured) // it was decoded from JSON
		fmt.Fprintln(a.Stdout, report.Clean(string(text)))
	}
}

// printAttachments says where what a call returned besides text is, in a line for each.
func (p *program) printAttachments(attachments []live.Attachment) {
	for _, a := range attachments {
		where := cmp.Or(a.File, a.URI, a.Note)
		line := report.Clean(p.redactor.Text(strings.TrimSpace(a.Type+" "+a.MIME) + ": " + where))
		p.notice(strings.ReplaceAll(line, "\n", " "))
	}
}

// snapshotInSession prints what the device of a session shows.
func (cmd *toolCommands) snapshotInSession(ctx context.Context, f snapshotFlags, args []string) error {
	if len(args) > 0 {
		return fault.New(fault.Misuse, "open it with `trailblaze tool web_navigate url="+args[0]+" --step TEXT`, or add --session '' "+
			"to open it outside of the session", "snapshot takes no URL in a session")
	}
	if err := f.session.checkSessionFlags("find", "within", "max-bytes", "screenshot", "console", "requests"); err != nil {
		return err
	}
	client, err := cmd.connect(cmd.session(f.session))
	if err != nil {
		return err
	}
	o := live.SnapshotOptions{Find: f.find, Within: f.within, Screenshot: f.screenshot != "", Show: f.show()}
	if f.command.Flags().Changed("max-bytes") {
		o.MaxBytes = f.maxBytes
	}
	shot, err := client.Snapshot(ctx, o)
	if err != nil {
		return asMisuse(err)
	}
	if shot.Log != nil {
		return cmd.printPageLog(o.Show, *shot.Log)
	}
	withheld, err := cmd.writeScreenshot(f.screenshot, shot)
	if err != nil {
		return err
	}
	if err := cmd.printSessionSnapshot(shot, f.screenshot, withheld); err != nil || withheld == "" {
		return err
	}
	return exitCode(fault.ExitFailed)
}

// show returns what the flags ask for instead of the screen.
func (f snapshotFlags) show() device.Show {
	switch {
	case f.console:
		return device.ShowConsole
	case f.requests:
		return device.ShowRequests
	}
	return device.ShowScreen
}

// printPageLog prints the console or the requests of a page.
func (a answers) printPageLog(show device.Show, log live.PageLog) error {
	if a.json {
		return a.writeJSON(map[string]any{string(show): log})
	}
	if log.More > 0 {
		fmt.Fprintf(a.Stdout, "… %s before these; narrow with --find TEXT, or raise --max-bytes\n", text.Count(log.More, "line"))
	}
	for _, line := range log.Earlier {
		fmt.Fprintln(a.Stdout, report.Clean(line))
	}
	fmt.Fprintln(a.Stdout, "--- since the last action:")
	for _, line := range log.Since {
		fmt.Fprintln(a.Stdout, report.Clean(line))
	}
	return nil
}

// writeScreenshot writes the screenshot into a file, unless path is empty. withheld is why there is none.
func (a answers) writeScreenshot(path string, shot live.Snapshot) (withheld string, err error) {
	switch {
	case path == "":
		return "", nil
	case len(shot.Screenshot) == 0:
		return cmp.Or(shot.Withheld, "the device has none"), nil
	}
	isPNG := func(start []byte) bool { return bytes.HasPrefix(start, []byte("\x89PNG")) }
	if err := a.checkOverwritten(path, "a PNG", isPNG); err != nil {
		return "", err
	}
	if err := run.ReplaceFile(a.abs(path), shot.Screenshot); err != nil {
		return "", fault.Wrap(fault.Misuse, err, "choose a --screenshot file that can be written", "write the screenshot")
	}
	return "", nil
}

// printSessionSnapshot prints a snapshot, and what became of the screenshot when its path is not empty.
func (a answers) printSessionSnapshot(shot live.Snapshot, path, withheld string) error {
	if a.json {
		return a.writeJSON(struct {
			URL      string   `json:"url"`
			Title    string   `json:"title"`
			Snapshot string   `json:"snapshot"`
			More     int      `json:"more"`
			Events   []string `json:"events"`
			Messages []string `json:"messages"`
			Withheld string   `json:"withheld,omitempty"` // why the screenshot is missing
		}{shot.URL, shot.Title, shot.Text, shot.More, list(shot.Events), list(shot.Messages), withheld})
	}
	a.printEvents(shot.Events, shot.Messages)
	text := report.Clean(shot.Text)
	if shot.More > 0 {
		text += "; narrow with --find TEXT or --within REF, or raise --max-bytes"
	}
	fmt.Fprintln(a.Stdout, text)
	switch {
	case withheld != "":
		a.notice("error: no screenshot was written: " + withheld)
	case path != "":
		a.notice("wrote " + path)
	}
	return nil
}

// listToolsInSession lists the tools of a session.
func (cmd *toolCommands) listToolsInSession(ctx context.Context, f sessionFlag, o listOptions) error {
	if err := f.checkSessionFlags("why", "group"); err != nil {
		return err
	}
	client, err := cmd.connect(cmd.session(f))
	if err != nil {
		return err
	}
	tools, err := client.Toolbox(ctx)
	if err != nil {
		return err
	}
	registry := tools.Registry
	if len(o.groups) > 0 {
		if registry, err = onlyGroups(registry, o.groups); err != nil {
			return err
		}
	}
	return cmd.showToolbox(&config.Project{}, newToolboxView(scopeOf(client.Record()), registry, nil), o)
}

// scopeOf returns the scope of a session, for a listing.
func scopeOf(r background.Record) scope.Scope {
	driver, _ := scope.ParseDriver(r.Driver)
	return scope.Scope{Target: scope.Target{ID: r.Target}, Driver: driver, AgentMode: scope.AgentMode(r.Agent)}
}
