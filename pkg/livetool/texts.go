package livetool

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/pagetext"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// maxStep is the size of an answer about calls, in bytes.
const maxStep = 1500

// stepText returns what the calls of a step did, and what changed on the screen.
func stepText(r live.StepReport, request live.StepRequest) string {
	var b strings.Builder
	b.WriteString(pagetext.Status(r) + "\n")
	switch {
	case len(r.Recorded) > 0:
		fmt.Fprintf(&b, "recorded in step %d", r.Step)
	case request.Unrecorded:
		b.WriteString("not recorded, as requested")
	default:
		b.WriteString("nothing was recorded")
	}
	if !r.OK() {
		b.WriteString("; correct the failed call and send it in a step with the same text")
	}
	if len(r.Messages) > 0 {
		b.WriteString("\n" + messageAdvice)
	}
	return b.String() + below(reportPage(r, maxStep-pagetext.MarksBytes-b.Len()))
}

// messageAdvice says how an agent can check a message that does not stay.
const messageAdvice = "to check a message that vanishes, put the check behind the action, into the calls of the same step"

// logText returns the console or the requests of a page.
func logText(log live.PageLog, o live.SnapshotOptions) string {
	var p pagetext.Page
	for _, line := range log.Earlier {
		p.Line(line)
	}
	if len(log.Earlier) > 0 {
		p.Line("--- since the last action:")
	}
	for _, line := range log.Since {
		p.Line(line)
	}
	if len(log.Earlier)+len(log.Since) == 0 {
		return fmt.Sprintf("%s: nothing", o.Show)
	}
	shown := p.String()
	if len(log.Since) == 0 {
		shown += "\nnothing since the last action"
	}
	if log.More > 0 {
		shown += fmt.Sprintf("\n%s before these not shown; use find or maxBytes", text.Count(log.More, "line"))
	}
	return shown
}

// saveText returns what became of a recording.
func saveText(r live.SaveReport) string {
	var b strings.Builder
	var p pagetext.Page
	switch {
	case r.Written && r.Replayed != nil && r.New:
		fmt.Fprintf(&b, "%s: new, with %s; passed its replay (%s)", r.File, text.Count(r.Steps, "step"), seconds(r.Replayed.Millis))
	case r.Written && r.Replayed != nil:
		fmt.Fprintf(&b, "%s: passed its replay (%s) and was written", r.File, seconds(r.Replayed.Millis))
	case r.Written:
		fmt.Fprintf(&b, "%s: was written without a replay, which its metadata says", r.File)
	default:
		fmt.Fprintf(&b, "%s: was not written, because its replay %s", r.File, outcomeText(*r.Replayed))
		p.Line("reason: " + pagetext.Failure(r.Replayed.Reason, r.Replayed.Hint))
		for _, dialog := range r.Replayed.Dialogs {
			p.Line("a dialog came: " + pagetext.Cut(dialog, 200))
		}
	}
	b.WriteString(below(p.String()))
	if !r.Written {
		b.WriteString("\nChange the recording (recording, step) and save again")
		if r.Replayed.Folder != "" {
			b.WriteString("; evidence: " + r.Replayed.Folder)
		}
	}
	if r.Replays > 1 && r.Written {
		fmt.Fprintf(&b, "\nall %d replays passed", r.Replays)
	}
	if r.Written && len(r.Parts) > 0 {
		b.WriteString("\nrepaired in it: " + strings.Join(r.Parts, ", "))
	}
	writeAlso(&b, r)
	for _, w := range r.Warnings {
		b.WriteString("\nwarning: " + pagetext.Cut(w, 200))
	}
	switch {
	case r.New: // the diff would repeat the whole recording
	case r.Diff != "":
		b.WriteString("\n" + recordingPage(r.Diff, maxDiff))
	case r.Written:
		b.WriteString("\nthe file has this content already")
	}
	return b.String()
}

// maxAlso is how many other files an answer names.
const maxAlso = 10

// writeAlso writes which other files have calls that were repaired, or what became of them.
func writeAlso(b *strings.Builder, r live.SaveReport) {
	var left []string
	for _, f := range r.Also[:min(maxAlso, len(r.Also))] {
		name := fmt.Sprintf("%s (%s)", f.File, text.Count(f.Calls, "call"))
		switch {
		case f.Written:
			b.WriteString("\nalso changed, and its replay passed: " + name)
		case f.Reason != "":
			var p pagetext.Page
			p.Line("reason: " + pagetext.Cut(fault.WithoutOutput(f.Reason), pagetext.MaxFailure/2))
			b.WriteString("\nnot changed: " + name + below(p.String()))
		default:
			left = append(left, name)
		}
	}
	if len(left) > 0 {
		b.WriteString("\nother files with the same call as before its repair: " + strings.Join(left, ", ") +
			"; save_trail with also: true changes it in them if they pass")
	}
	if more := len(r.Also) - maxAlso; more > 0 {
		fmt.Fprintf(b, "; and %s more", text.Count(more, "file"))
	}
}

// recordingPage returns a recording or the diff of one, in at most limit bytes. Selectors in it have text of the page.
func recordingPage(text string, limit int) string {
	var p pagetext.Page
	p.Lines(pagetext.CutMiddle(strings.TrimRight(text, "\n"), limit-2*pagetext.MarksBytes))
	return p.String()
}

// outcomeText returns how a replay ended and where.
func outcomeText(r live.Replayed) string {
	text := string(r.Outcome)
	if r.Step > 0 {
		text += fmt.Sprintf(" at step %d %q", r.Step, pagetext.Cut(r.Text, 150))
	}
	if r.Tool != "" {
		text += ", call " + r.Tool
	}
	if r.Line > 0 {
		text += fmt.Sprintf(", line %d", r.Line)
	}
	if r.Part != "" {
		text += " of the part " + r.Part
	}
	return text
}

// trailText returns how the replay of a trail ended.
func trailText(r live.TrailReport, keep bool) string {
	text := fmt.Sprintf("%s: %s", r.File, outcomeText(r.Replayed))
	if r.Millis > 0 {
		text += " (" + seconds(r.Millis) + ")"
	}
	var p pagetext.Page
	if r.Reason != "" {
		p.Line("reason: " + pagetext.Failure(r.Reason, r.Hint))
	}
	for _, call := range r.Rest {
		args, _ := json.Marshal(call.Args) //nolint:errchkjson // they come from a file
		p.Line("still to come in this step: " + pagetext.Cut(call.Tool+" "+string(args), 200))
	}
	text += below(p.String())
	text += below(reportPage(live.StepReport{URL: r.URL, Changes: r.Changes, Events: r.Events, Messages: r.Messages}, maxStep))
	switch {
	case r.Passed() || r.Skipped():
	case r.Invalid:
		text += "\nNo call was made. Correct the file, then call run_trail again"
	case r.Repairable() && keep:
		text += fmt.Sprintf("\nThe session stays here. Send the calls that replace the failed one in a step with the text %q, "+
			"then run_trail with keep goes on, and save_trail writes only what changed", r.Text)
		if r.Check {
			text += ". If the app is wrong, report it; do not weaken the check"
		}
	case r.Tool != "" && !keep: // a call failed
		text += "\nrun_trail with keep stops at the failed call, so that step can repair it"
	}
	if !keep && !r.Passed() && r.Folder != "" {
		text += "\nevidence: " + r.Folder
	}
	return pagetext.CutMiddle(text, 4<<10)
}

// reportPage returns what calls did and changed, in at most limit bytes and the marks.
func reportPage(r live.StepReport, limit int) string {
	return pagetext.Report(r, limit, "see snapshot").String()
}
