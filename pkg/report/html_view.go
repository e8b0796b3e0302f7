package report

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// pageCase is a case, pageStep a step and pageCall a call, with what the page shows.
type (
	pageCase struct {
		*Case
		page  *HTML
		trace *trace // nil before it was read
	}
	pageStep struct {
		*Step
		parent *pageCase
	}
	pageCall struct {
		*Call
		parent *pageCase
	}
)

// Steps returns the steps.
func (c *pageCase) Steps() []pageStep {
	return mapSlice(c.Case.Steps, func(s *Step) pageStep { return pageStep{s, c} })
}

// Calls returns the calls of the step.
func (s pageStep) Calls() []pageCall { return s.parent.calls(s.Step.Calls) }

// Calls returns the calls that are nested directly in the call.
func (c pageCall) Calls() []pageCall { return c.parent.calls(c.Call.Calls) }

func (c *pageCase) calls(all []*Call) []pageCall {
	return mapSlice(all, func(call *Call) pageCall { return pageCall{call, c} })
}

// Earlier returns the attempts before the last one.
func (c *pageCase) Earlier() []*pageCase {
	return mapSlice(c.Case.Earlier, func(e *Case) *pageCase { return &pageCase{Case: e, page: c.page} })
}

// mapSlice returns what f returns for each element.
func mapSlice[T, U any](all []T, f func(T) U) []U {
	results := make([]U, len(all))
	for i, one := range all {
		results[i] = f(one)
	}
	return results
}

// Outcome returns the outcome on the page.
func (c *pageCase) Outcome() event.Outcome {
	switch {
	case c.Finished == nil && c.File == "":
		return liveSession
	case c.Finished == nil:
		return unfinished
	case c.Finished.Flaky:
		return flaky
	}
	switch o := c.Finished.Outcome; o {
	case event.Passed, event.Failed, event.Error, event.Skipped:
		return o
	}
	return unfinished // an outcome of a later version
}

// Word returns the outcome in words.
func (c *pageCase) Word() string {
	if c.Outcome() == unfinished {
		return "did not end"
	}
	return string(c.Outcome())
}

// Bad reports whether the trail failed or ended with an error.
func (c *pageCase) Bad() bool {
	return c.Finished != nil && (c.Finished.Outcome == event.Failed || c.Finished.Outcome == event.Error)
}

// Name returns the title of the trail, or its file, or the session without a trail.
func (c *pageCase) Name() string {
	return lineText(titleOrFile(truncate(c.Title, maxLine), truncate(cmp.Or(c.File, c.Session), maxLine)))
}

// DeviceName returns the name of the device, empty when there is only one.
func (c *pageCase) DeviceName() string { return lineText(c.Device) }

// Path returns the trail's file.
func (c *pageCase) Path() string { return pathText(truncate(c.File, maxLine)) }

// Duration returns the duration, empty for a skipped trail.
func (c *pageCase) Duration() string {
	if c.Outcome() == event.Skipped {
		return ""
	}
	return formatMillis(c.duration().Milliseconds())
}

func (c *pageCase) duration() time.Duration {
	if c.Finished != nil {
		return time.Duration(c.Finished.DurationMs) * time.Millisecond
	}
	return c.To.Sub(c.From)
}

// Reason returns the first line of the reason, and the others.
func (c *pageCase) Reason() [2]string {
	first, rest, _ := strings.Cut(strings.Join(textLines(c.Finished.Reason), "\n"), "\n")
	return [2]string{first, rest}
}

// Hint returns the hint of the failure.
func (c *pageCase) Hint() string { return strings.Join(textLines(c.Finished.Hint), "\n") }

// Place returns the position of the failed call in the trail.
func (c *pageCase) Place() string { return truncate(location(*c.Finished)[0], maxLine) }

// snippetLine is a line of a trail.
type snippetLine struct {
	Number, Text string
	Hit          bool // the line of the failed call
}

// Snippet returns the lines of the trail around the failed call, without their common indentation.
func (c *pageCase) Snippet() []snippetLine {
	var lines []snippetLine
	common := -1
	for line := range strings.SplitSeq(Clean(c.Finished.Snippet), "\n") {
		number, text, _ := strings.Cut(line, "|")
		number, text = strings.TrimLeft(strings.TrimSpace(number), "> "), strings.TrimRight(text, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			continue // the line with the caret
		}
		if indent := len(text) - len(strings.TrimLeft(text, " ")); text != "" && (common < 0 || indent < common) {
			common = indent
		}
		lines = append(lines, snippetLine{Number: number, Text: text, Hit: n == c.Finished.FailedAt().Line})
	}
	for i, l := range lines {
		lines[i].Text = l.Text[min(max(common, 0), len(l.Text)):]
	}
	return lines
}

// Unreached returns the number of steps that did not start.
func (c *pageCase) Unreached() int {
	all := c.TrailStarted.Steps
	for _, s := range c.Case.Steps {
		if s.Within == "" && s.Of > 0 {
			all = s.Of
		}
	}
	return all - c.Reached
}

// Facts returns names and values about the session.
func (c *pageCase) Facts() [][2]string {
	var facts [][2]string
	add := func(what, value string) {
		if value = lineText(value); value != "" {
			facts = append(facts, [2]string{what, value})
		}
	}
	add("target", c.Target)
	add("driver", c.Driver)
	add("device", c.Device)
	if c.Finished != nil {
		add("product", c.Finished.Product)
		if u := c.Finished.ModelUse; u != nil {
			add("model", UsageSummary(u))
		}
	}
	add("agent", c.Agent)
	add("session", c.Session)
	if c.Session != "" && c.Dir != "" {
		add("look back with", "trailblaze studio "+c.Session)
	}
	return facts
}

// Artifacts returns the paths of the session's files.
func (c *pageCase) Artifacts() []string {
	if c.Finished == nil {
		return nil
	}
	all := c.Finished.Artifacts
	return mapSlice(all[:min(len(all), maxFiles)], func(path string) string { return pathText(truncate(path, maxLine)) })
}

// Attempts returns the number of attempts.
func (c *pageCase) Attempts() int {
	if c.Finished == nil {
		return len(c.Case.Earlier) + 1
	}
	return c.Finished.Attempts
}

// Number returns the number of the nth earlier attempt. Attempts before those may be missing.
func (c *pageCase) Number(n int) int { return c.Attempts() - len(c.Case.Earlier) + n }

// State returns the outcome of the step, for a CSS class and a label.
func (s pageStep) State() event.Outcome {
	if s.Outcome == "" {
		return unfinished
	}
	return s.Outcome
}

// Duration returns the duration, empty for a step that did not end.
func (s pageStep) Duration() string {
	if s.To.IsZero() {
		return ""
	}
	return formatMillis(s.To.Sub(s.From).Milliseconds())
}

// Bar returns the part of the trail's time that the step took.
func (s pageStep) Bar() bar { return s.parent.bar(s.From, s.To) }

// State returns the outcome of the call, for a CSS class and a label.
func (c pageCall) State() event.Outcome {
	switch {
	case c.Done == nil:
		return unfinished
	case c.Done.OK:
		return event.Passed
	}
	return event.Failed
}

// Duration returns the duration, empty for a call that did not end.
func (c pageCall) Duration() string {
	if c.Done == nil {
		return ""
	}
	return formatMillis(c.Done.DurationMs)
}

// Bar returns the part of the trail's time that the call took.
func (c pageCall) Bar() bar { return c.parent.bar(c.From, c.To) }

// Inner returns the number of calls that are nested directly in the call.
func (c pageCall) Inner() int { return len(c.Call.Calls) + c.MoreCalls }

// ShownFailure returns the files that show the state when the trail failed.
func (c *pageCase) ShownFailure() []shownFile { return c.load(c.FailureFiles) }

// ShownFiles returns the other files of the session that belong to no step or call.
func (c *pageCase) ShownFiles() []shownFile { return c.load(c.Files) }

// ServerLogs returns the logs of the session's servers.
func (c *pageCase) ServerLogs() []shownFile { return c.load(serverLogs(c.Dir)) }

// ShownFiles returns the files of the step.
func (s pageStep) ShownFiles() []shownFile { return s.parent.load(s.Files) }

// ShownFiles returns the files of the call.
func (c pageCall) ShownFiles() []shownFile { return c.parent.load(c.Files) }

func (c *pageCase) load(files []event.Evidence) []shownFile {
	return mapSlice(files, func(e event.Evidence) shownFile { return c.page.load(c.Dir, e) })
}

// bar is a part of a trail's time, in thousandths of it.
type bar struct{ At, Length int64 }

func (c *pageCase) bar(from, to time.Time) bar {
	whole := max(c.duration(), c.To.Sub(c.From), 1)
	if to.IsZero() {
		to = c.To
	}
	at := int64(1000 * from.Sub(c.From) / whole)
	length := int64(1000 * to.Sub(from) / whole)
	return bar{At: min(max(at, 0), 992), Length: min(max(length, 8), 1000)}
}
