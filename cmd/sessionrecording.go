package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func (cmd *sessionCommands) newSessionRecording() *cobra.Command {
	var replace, drop, reword, move, name string
	c := &cobra.Command{
		Use:   "recording [NAME]",
		Short: "Show and change what a session has recorded",
		Long: `Show what a session has recorded, as the trail that session save would write, and change it. Steps are numbered from
1, and calls as step.call, such as 2.1. The changes are made in the order: replace, drop, reword, move. ` + whichSession,
		Example: `  trailblaze session recording
  trailblaze session recording --drop 2.1
  trailblaze session recording --replace '2.1={"nodeSelector": {"web": {"dataTestId": "save"}}}'
  trailblaze session recording --reword "3=Sign in as Ann" --move 3=1`,
		Args: atMostOneSession,
		RunE: func(c *cobra.Command, args []string) error {
			edit, err := recordingEdit(c, replace, drop, reword, move)
			if err != nil {
				return err
			}
			if name, err = oneSession(args, name); err != nil {
				return err
			}
			client, err := cmd.connect(name)
			if err != nil {
				return err
			}
			text, err := client.Edit(c.Context(), edit)
			if err != nil {
				return asMisuse(err)
			}
			return cmd.printRecording(client.Record().Name, text)
		},
	}
	flags := c.Flags()
	bindSessionName(c, &name)
	flags.StringVar(&replace, "replace", "", "put other arguments, such as another selector, into a call: `N.M=JSON`")
	flags.StringVar(&drop, "drop", "", "remove a step or a call: `N or N.M`")
	flags.StringVar(&reword, "reword", "", "give step N another text: `N=TEXT`")
	flags.StringVar(&move, "move", "", "move step N to the place of step M: `N=M`")
	return c
}

// recordingEdit returns the change of a recording that flags describe.
func recordingEdit(c *cobra.Command, replace, drop, reword, move string) (live.Edit, error) {
	edit := live.Edit{Drop: drop}
	if c.Flags().Changed("drop") && drop == "" {
		return edit, fault.New(fault.Misuse, "write --drop 2 for a step, --drop 2.1 for a call", "--drop is empty")
	}
	if c.Flags().Changed("replace") {
		call, text, _ := strings.Cut(replace, "=")
		edit.Replace = &live.Replace{Call: strings.TrimSpace(call)}
		if err := json.Unmarshal([]byte(text), &edit.Replace.With); err != nil {
			return edit, fault.New(fault.Misuse, `write --replace '2.1={"nodeSelector": …}'`,
				"--replace: %q is not a call, = and an object of JSON", replace)
		}
	}
	if c.Flags().Changed("reword") {
		step, text, err := numbered("reword", reword)
		if err != nil {
			return edit, err
		}
		edit.Reword = &live.Reword{Step: step, Text: text}
	}
	if c.Flags().Changed("move") {
		step, text, err := numbered("move", move)
		if err != nil {
			return edit, err
		}
		to, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return edit, fault.New(fault.Misuse, "write --move 3=1", "--move: %q is not the number of a step", text)
		}
		edit.Move = &live.Move{Step: step, To: to}
	}
	return edit, nil
}

// numbered returns the parts of a value of the form N=TEXT.
func numbered(flag, value string) (n int, text string, err error) {
	number, text, ok := strings.Cut(value, "=")
	n, err = strconv.Atoi(strings.TrimSpace(number))
	if !ok || err != nil {
		return 0, "", fault.New(fault.Misuse, "write the number of a step first: --"+flag+" 3=…",
			"--%s: %q does not begin with the number of a step and =", flag, value)
	}
	return n, text, nil
}

func (a answers) printRecording(session, text string) error {
	if a.json {
		return a.writeJSON(map[string]any{"session": session, "recording": text})
	}
	if text == "" {
		a.notice("session " + session + " has recorded nothing; `trailblaze tool` records calls with --step or --verify")
		return nil
	}
	fmt.Fprint(a.Stdout, report.Clean(text))
	return nil
}

func (cmd *sessionCommands) newSessionSave() *cobra.Command {
	var request live.SaveRequest
	var name string
	c := &cobra.Command{
		Use:   "save FILE",
		Short: "Write what a session has recorded into a trail",
		Long: `Replay what a session has recorded in a fresh session, and write it into a trail if it passes. FILE is relative to the
project root, or to the working directory if it begins with a dot; it is below trailsDir and ends in .trail.yaml. In an
existing file with the same steps, only the recordings for the session's device are replaced; steps of the file that have
nothing to do on this device stay. A file with other steps is refused without --overwrite. The exit code is 1 when the replay fails; nothing is written then.

After the repair of a call, other trails and parts of the project that have the same call are listed. With --also that
call is changed in them, too. Each trail that this concerns is replayed before; those that fail are named and not written,
and the exit code is 1. ` + whichSession,
		Example: `  trailblaze session save trails/checkout.trail.yaml --title "Check out"
  trailblaze session save trails/checkout.trail.yaml --session s2 --overwrite`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.New(fault.Misuse, "write: trailblaze session save trails/NAME.trail.yaml",
					"session save takes one file, got %s", text.Count(len(args), "argument"))
			}
			request.File = cmd.projectFile(args[0])
			return cmd.saveRecording(c.Context(), name, request)
		},
	}
	flags := c.Flags()
	bindSessionName(c, &name)
	flags.StringVar(&request.Title, "title", "", "`TITLE` of the trail")
	flags.BoolVar(&request.NoReplay, "no-replay", false,
		"do not replay the recording before it is written; metadata in the trail says so")
	flags.IntVar(&request.Replays, "replays", 0, "replay the recording `N` times; each has to pass (default 1)")
	flags.BoolVar(&request.Also, "also", false, "change the calls that were repaired in the other trails of the project, too, if they pass")
	flags.Var(&overwriteValue{&request.Overwrite}, "overwrite",
		"replace the steps of a trail that has other steps; --overwrite=all also deletes recordings of other devices")
	flags.Lookup("overwrite").NoOptDefVal = "true"
	return c
}

// overwriteValue is the value of --overwrite, which is a switch that may also be all.
type overwriteValue struct{ *trail.Overwrite }

// Set implements pflag.Value.
func (v *overwriteValue) Set(text string) (err error) {
	*v.Overwrite, err = trail.ParseOverwrite(text)
	return err
}

// String implements pflag.Value. The zero value is that of a flag that is not given.
func (v *overwriteValue) String() string {
	if v.Overwrite == nil || *v.Overwrite == trail.OverwriteNothing {
		return "false"
	}
	return string(*v.Overwrite)
}

// Type implements pflag.Value. Help shows the flag as a switch.
func (*overwriteValue) Type() string { return "bool" }

// projectFile returns a path that a session, whose working directory is the project root, reads as this command does.
func (cmd *sessionCommands) projectFile(name string) string {
	if strings.HasPrefix(name, ".") {
		return filepath.Join(cmd.Dir, name)
	}
	return name
}

func (cmd *sessionCommands) saveRecording(ctx context.Context, name string, request live.SaveRequest) error {
	client, err := cmd.connect(name)
	if err != nil {
		return err
	}
	saved, err := client.Save(ctx, request)
	if err != nil {
		return asMisuse(err)
	}
	for _, warning := range saved.Warnings {
		cmd.notice("warning: " + warning)
	}
	if cmd.json {
		err = cmd.writeJSON(saved)
	} else {
		cmd.printSaved(saved)
		cmd.printAlso(saved, request.Also)
	}
	if err == nil && !saved.Written {
		return exitOf(*saved.Replayed)
	}
	left := func(f live.AlsoReport) bool { return !f.Written }
	if err == nil && request.Also && slices.ContainsFunc(saved.Also, left) {
		return exitCode(fault.ExitFailed)
	}
	return err
}

// printAlso prints which other files have calls that were repaired, and with asked what became of them.
func (a answers) printAlso(saved live.SaveReport, asked bool) {
	var names []string
	for _, f := range saved.Also {
		names = append(names, fmt.Sprintf("%s (%s)", report.Clean(f.File), text.Count(f.Calls, "call")))
		switch {
		case f.Written:
			fmt.Fprint(a.Stdout, report.Clean(f.Diff))
			fmt.Fprintf(a.Stdout, "the replay passed; saved %s, too\n", report.Clean(f.File))
		case asked:
			fmt.Fprintf(a.Stdout, "%s was not changed: %s\n", report.Clean(f.File), report.Clean(f.Reason))
		}
	}
	if len(names) > 0 && !asked {
		a.notice(fmt.Sprintf("%s the same call as before its repair: %s; `trailblaze session save %s --also` changes them, too",
			hasOrHave(len(names), "other file"), strings.Join(names, ", "), report.Clean(saved.File)))
	}
}

// hasOrHave is text.Count with a verb.
func hasOrHave(n int, noun string) string {
	if n == 1 {
		return text.Count(n, noun) + " has"
	}
	return text.Count(n, noun) + " have"
}

func (a answers) printSaved(saved live.SaveReport) {
	fmt.Fprint(a.Stdout, report.Clean(saved.Diff))
	file := report.Clean(saved.File)
	switch {
	case saved.Replayed == nil:
		fmt.Fprintf(a.Stdout, "saved %s without a replay\n", file)
	case saved.Written && saved.Diff == "":
		fmt.Fprintf(a.Stdout, "%s; %s has these steps already\n", passedReplays(saved), file)
	case saved.Written:
		fmt.Fprintf(a.Stdout, "%s; saved %s\n", passedReplays(saved), savedFiles(saved))
	default:
		a.printStopped("the replay", file, *saved.Replayed)
		fmt.Fprintf(a.Stdout, "%s was not written; change the recording, or save it with --no-replay\n", file)
	}
}

func passedReplays(saved live.SaveReport) string {
	if saved.Replays > 1 {
		return fmt.Sprintf("%d replays passed, the last in %s", saved.Replays, duration(*saved.Replayed))
	}
	return "the replay passed in " + duration(*saved.Replayed)
}

// savedFiles returns the names of the files that changed.
func savedFiles(saved live.SaveReport) string {
	if len(saved.Parts) == 0 {
		return report.Clean(saved.File)
	}
	return report.Clean(strings.Join(saved.Parts, ", ")) + ", as " + report.Clean(saved.File) + " uses it"
}

func duration(r live.Replayed) string {
	return (time.Duration(r.Millis) * time.Millisecond).Round(100 * time.Millisecond).String()
}

// printStopped prints where and why a replay stopped.
func (a answers) printStopped(what, file string, r live.Replayed) {
	verb := "failed"
	if r.Outcome == event.Error {
		verb = "ended as an error"
	}
	place := ""
	if r.Step > 0 {
		place = fmt.Sprintf(" at step %d %q", r.Step, report.Clean(r.Text))
	}
	if r.Tool != "" {
		place += " in " + report.Clean(r.Tool)
	}
	file = cmp.Or(report.Clean(r.Part), file)
	if r.Line > 0 {
		place += fmt.Sprintf(" (%s:%d)", file, r.Line)
	}
	fmt.Fprintf(a.Stdout, "%s %s%s: %s\n", what, verb, place, report.Clean(r.Reason))
	if r.Hint != "" {
		fmt.Fprintf(a.Stdout, "hint: %s\n", report.Clean(r.Hint))
	}
	for _, dialog := range r.Dialogs {
		fmt.Fprintf(a.Stdout, "a dialog came: %s\n", report.Clean(dialog))
	}
	if r.Folder != "" {
		fmt.Fprintf(a.Stdout, "evidence: %s\n", report.Clean(a.relative(r.Folder)))
	}
}

// exitOf returns the exit code for a replay that did not pass.
func exitOf(r live.Replayed) error {
	if r.Outcome == event.Failed {
		return exitCode(fault.ExitFailed)
	}
	return exitCode(fault.ExitInfra)
}

func (cmd *sessionCommands) newSessionReplay() *cobra.Command {
	var name string
	var args []string
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Replay a trail in a session, up to the first call that fails",
		Long: `Replay a trail in a session that has recorded nothing, and stop at the first call that fails, with the page as it is
then. To repair the trail, make the calls that work with tool --step and the text of the step; replay FILE then continues
after them, and session save FILE writes only what changed. The teardown of the trail runs after its last step, or when
the session ends. FILE is as in session save. ` + whichSession,
		Example: `  trailblaze session replay trails/checkout.trail.yaml
  trailblaze tool web_click ref=e12 --step "Open the cart" --session s1
  trailblaze session replay trails/checkout.trail.yaml
  trailblaze session save trails/checkout.trail.yaml`,
		RunE: func(c *cobra.Command, files []string) error {
			if len(files) != 1 {
				return fault.New(fault.Misuse, "write: trailblaze session replay trails/NAME.trail.yaml",
					"session replay takes one file, got %s", text.Count(len(files), "argument"))
			}
			values, err := pairs("arg", args)
			if err != nil {
				return err
			}
			return cmd.replayInSession(c.Context(), name, live.TrailRequest{
				File: cmd.projectFile(files[0]), Args: values, Keep: true,
			})
		},
	}
	bindSessionName(c, &name)
	c.Flags().StringArrayVar(&args, "arg", nil, "`NAME=VALUE` for a declared argument of the trail (repeatable)")
	return c
}

func (cmd *sessionCommands) replayInSession(ctx context.Context, name string, request live.TrailRequest) error {
	client, err := cmd.connect(name)
	if err != nil {
		return err
	}
	replayed, err := client.RunTrail(ctx, request)
	if err != nil {
		return asMisuse(err)
	}
	switch {
	case cmd.json:
		replayed.Rest = nil // the file has them
		err = cmd.writeJSON(replayed)
	case replayed.Passed():
		fmt.Fprintf(cmd.Stdout, "every step of %s passed\n", report.Clean(replayed.File))
		if replayed.Repaired {
			cmd.notice(fmt.Sprintf("`trailblaze session save %s` writes what was repaired", replayed.File))
		}
	case replayed.Skipped():
		fmt.Fprintf(cmd.Stdout, "%s is skipped on this device: %s\n", report.Clean(replayed.File), report.Clean(replayed.Reason))
	default:
		cmd.printStopped(report.Clean(replayed.File), report.Clean(replayed.File), replayed.Replayed)
		cmd.printScreen(replayed.Changes, replayed.Events, replayed.Messages)
		cmd.noticeRepair(replayed)
	}
	if err == nil && !replayed.Passed() && !replayed.Skipped() {
		return exitOf(replayed.Replayed)
	}
	return err
}

// noticeRepair says how to go on after a replay that stopped.
func (a answers) noticeRepair(r live.TrailReport) {
	switch {
	case r.Invalid:
		a.notice("no call was made; correct the file, then replay it again")
	case r.Repairable():
		a.notice(fmt.Sprintf("make the calls that work with --%s %q, then replay %s again", repairFlag(r.Kind),
			report.Clean(r.Text), report.Clean(r.File)))
		if r.Check {
			a.notice("if the app is wrong, report it; do not weaken the check")
		}
	}
}

// repairFlag returns the flag of tool for calls of a kind of step.
func repairFlag(kind string) string {
	if kind == trail.KindVerify {
		return "verify"
	}
	return "step"
}

// printScreen prints what a request changed on the screen.
func (a answers) printScreen(changes string, events, messages []string) {
	a.printEvents(events, messages)
	if changes != "" {
		fmt.Fprintln(a.Stdout, report.Clean(changes))
	}
}

// printEvents prints what happened since the last request.
func (a answers) printEvents(events, messages []string) {
	for _, event := range events {
		fmt.Fprintf(a.Stdout, "event: %s\n", report.Clean(event))
	}
	for _, message := range messages {
		fmt.Fprintf(a.Stdout, "message: %s\n", report.Clean(message))
	}
	if len(messages) > 0 {
		a.notice("to check a message that vanishes, make the call of the action and that of the check in one line, with && between them")
	}
}
