package pagetext

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
)

// The sizes of the parts of what is said about calls, in bytes.
const (
	MaxFailure  = 400
	MaxMessages = 350
	maxStatus   = 280
	maxResults  = 400 // with a failed call a part of it
	minResult   = 10
	maxEvents   = 130

	maxAttachments = 800
	maxWarnings    = 260
)

// Status returns which calls of a step failed, succeeded or were not made, with their numbers from 1. It is a line for
// each of these, which the app has no part in.
func Status(r live.StepReport) string {
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
	return Cut(strings.TrimSuffix(list("failed: ", failed)+list("ok: ", made)+list("not made: ", skipped), "\n"), maxStatus)
}

func list(title string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return title + strings.Join(names, ", ") + "\n"
}

// Report returns results, failures, events and changes of the screen in at most limit bytes without marks. remedy says
// what shows the rest.
func Report(r live.StepReport, limit int, remedy string) Page {
	var p Page
	results := maxResults
	if !r.OK() {
		results /= 3
	}
	for i, c := range r.Calls {
		switch {
		case !c.Made:
		case !c.OK:
			p.Line(fmt.Sprintf("%d failed: %s", i+1, Failure(c.Text, c.Hint)))
		default:
			if text := Joined(resultText(c), c.Note); text != "" && results > minResult {
				text = Cut(fmt.Sprintf("%d: %s", i+1, text), results)
				results -= len(text)
				p.Line(text)
			}
		}
	}
	p.Some("attachment of ", attachments(r), maxAttachments)
	p.Some("event: ", r.Events, maxEvents)
	p.Some("message: ", r.Messages, MaxMessages)
	p.Some("warning: ", r.Warnings, maxWarnings)
	p.Lines(r.Changes)
	return p.Bounded(limit, remedy)
}

// Some adds the first of several texts, in about limit bytes.
func (p *Page) Some(title string, texts []string, limit int) {
	for i, text := range texts {
		if limit <= 0 {
			p.Line(fmt.Sprintf("%s… %d more", title, len(texts)-i))
			return
		}
		text = Cut(text, limit)
		p.Line(title + text)
		limit -= len(text)
	}
}

// Failure returns why something failed and what to do about it, in at most MaxFailure bytes, without what a server wrote
// to its log.
func Failure(reason, hint string) string {
	return Cut(Joined(fault.WithoutOutput(reason), hint), MaxFailure)
}

// Joined returns two texts as one.
func Joined(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "; " + more
}

// attachments returns what calls returned besides text, in a few words each: with the number of the call, and of the
// picture among those of the report.
func attachments(r live.StepReport) []string {
	var texts []string
	pictures := 0
	for i, c := range r.Calls {
		for _, a := range c.Attachments {
			parts := []string{fmt.Sprintf("%d: %s", i+1, a.Type), "", a.MIME, a.Name, a.URI, a.Note, a.File}
			if a.Picture != nil {
				pictures++
				parts[1] = fmt.Sprintf("picture %d", pictures)
			}
			parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
			texts = append(texts, strings.Join(parts, ", "))
		}
	}
	return texts
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
