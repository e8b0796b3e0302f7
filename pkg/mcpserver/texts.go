package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/live"
)

// The sizes of the parts of an answer about calls, in bytes. The whole has at most maxStep.
const (
	maxStep     = 1500
	maxCalls    = 300
	maxFailure  = 500
	maxResult   = 500
	maxResults  = 600
	maxEvents   = 200
	maxWarnings = 200
)

// stepText returns what the calls of a step did, and what changed on the screen.
func stepText(r live.StepReport, request live.StepRequest) string {
	var b strings.Builder
	var made, failed, skipped []string
	for i, c := range r.Calls {
		name := fmt.Sprintf("%d %s", i+1, c.Tool)
		switch {
		case !c.Made:
			skipped = append(skipped, name)
		case c.OK:
			made = append(made, name)
		default:
			failed = append(failed, fmt.Sprintf("%s (%s)", name, c.Kind))
		}
	}
	b.WriteString(list("ok: ", made) + list("failed: ", failed) + list("not made: ", skipped))
	switch {
	case r.Recorded > 0:
		fmt.Fprintf(&b, "recorded: %s in step %d", count(r.Recorded, "call"), r.Step)
	case request.Unrecorded:
		b.WriteString("not recorded, as requested")
	default:
		b.WriteString("nothing was recorded")
	}
	if len(failed) > 0 {
		b.WriteString("; correct the failed call and send it in a step with the same text")
	}
	return b.String() + after("\n", reportPage(r, maxStep-b.Len()-60))
}

func list(title string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return cut(title+strings.Join(names, ", "), maxCalls) + "\n"
}

// reportPage returns results, failures, events and changes of the screen in at most limit bytes and the marks.
func reportPage(r live.StepReport, limit int) string {
	var p page
	budget := maxResults
	for i, c := range r.Calls {
		text := resultText(c)
		switch {
		case !c.Made:
		case !c.OK:
			p.line(fmt.Sprintf("%d failed: %s", i+1, cut(joined(c.Text, c.Hint), maxFailure)))
		case text != "" && budget > 0:
			text = fmt.Sprintf("%d: %s", i+1, cut(text, min(maxResult, budget)))
			budget -= len(text)
			p.line(text)
		}
		if c.Note != "" {
			p.line(fmt.Sprintf("%d note: %s", i+1, cut(c.Note, 120)))
		}
	}
	some(&p, "event: ", r.Events, maxEvents)
	some(&p, "warning: ", r.Warnings, maxWarnings)
	if r.URL != "" {
		p.line("url: " + cut(r.URL, 150))
	}
	p.lines(cutLines(r.Changes, max(80, limit-p.b.Len())))
	return p.String()
}

// some adds the first of several texts, in about limit bytes.
func some(p *page, title string, texts []string, limit int) {
	for i, text := range texts {
		if limit <= 0 {
			p.line(fmt.Sprintf("%s… %d more", title, len(texts)-i))
			return
		}
		text = cut(text, limit)
		p.line(title + text)
		limit -= len(text)
	}
}

func joined(text, hint string) string {
	if hint == "" {
		return text
	}
	return text + "; " + hint
}

// resultText returns the result of a call as text, empty when it says nothing.
func resultText(c live.CallReport) string {
	if c.Text != "" || c.Structured == nil {
		return c.Text
	}
	data, err := json.Marshal(c.Structured)
	if err != nil {
		return ""
	}
	return string(data)
}

// saveText returns what became of a recording.
func saveText(r live.SaveReport) string {
	var b strings.Builder
	var p page
	switch {
	case r.Written && r.Replayed != nil:
		fmt.Fprintf(&b, "%s: passed its replay (%s) and was written", r.File, seconds(r.Replayed.Millis))
	case r.Written:
		fmt.Fprintf(&b, "%s: was written without a replay, which its metadata says", r.File)
	default:
		fmt.Fprintf(&b, "%s: was not written, because its replay %s", r.File, outcomeText(*r.Replayed))
		p.line("reason: " + cut(joined(r.Replayed.Reason, r.Replayed.Hint), maxFailure))
	}
	b.WriteString(after("\n", p.String()))
	if !r.Written {
		b.WriteString("\nChange the recording (recording, step) and save again")
		if r.Replayed.Folder != "" {
			b.WriteString("; evidence: " + r.Replayed.Folder)
		}
	}
	for _, w := range r.Warnings {
		b.WriteString("\nwarning: " + cut(w, 200))
	}
	switch {
	case r.Diff != "":
		b.WriteString("\n" + cutMiddle(strings.TrimRight(r.Diff, "\n"), maxDiff))
	case r.Written:
		b.WriteString("\nthe file has this content already")
	}
	return b.String()
}

// outcomeText returns how a replay ended and where.
func outcomeText(r live.Replayed) string {
	text := string(r.Outcome)
	if text == "" {
		text = "did not end"
	}
	if r.Step > 0 {
		text += fmt.Sprintf(" at step %d %q", r.Step, cut(r.Text, 150))
	}
	if r.Tool != "" {
		text += ", call " + r.Tool
	}
	if r.Line > 0 {
		text += fmt.Sprintf(", line %d", r.Line)
	}
	return text
}

// trailText returns how the replay of a trail ended.
func trailText(r live.TrailReport, keep bool) string {
	text := fmt.Sprintf("%s: %s", r.File, outcomeText(r.Replayed))
	if r.Millis > 0 {
		text += " (" + seconds(r.Millis) + ")"
	}
	var p page
	if r.Reason != "" {
		p.line("reason: " + cut(joined(r.Reason, r.Hint), maxFailure))
	}
	for _, call := range r.Rest {
		args, _ := json.Marshal(call.Args) //nolint:errchkjson // they come from a file
		p.line("still to come in this step: " + cut(call.Tool+" "+string(args), 200))
	}
	text += after("\n", p.String())
	text += after("\n", reportPage(live.StepReport{URL: r.URL, Changes: r.Changes, Events: r.Events}, maxStep))
	switch {
	case r.Passed():
	case keep:
		text += fmt.Sprintf("\nThe session stays here. Send the calls that replace the failed one in a step with the text %q, "+
			"then run_trail with keep goes on, and save_trail writes only what changed", r.Text)
	default:
		text += "\nrun_trail with keep stops at the failed call, so that step can repair it"
		if r.Folder != "" {
			text += "; evidence: " + r.Folder
		}
	}
	return cutMiddle(text, 4<<10)
}
