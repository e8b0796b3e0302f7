package report

import (
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// Methods that the template of the page calls.

// Outcome returns the outcome on the page.
func (a *attempt) Outcome() event.Outcome {
	switch {
	case a.Finished == nil:
		return unfinished
	case a.Finished.Flaky:
		return flaky
	}
	switch o := a.Finished.Outcome; o {
	case event.Passed, event.Failed, event.Error, event.Skipped:
		return o
	}
	return unfinished // an outcome of a later version
}

// Word returns the outcome in words.
func (a *attempt) Word() string {
	if a.Outcome() == unfinished {
		return "did not end"
	}
	return string(a.Outcome())
}

// Bad reports whether the trail failed or ended with an error.
func (a *attempt) Bad() bool {
	return a.Finished != nil && (a.Finished.Outcome == event.Failed || a.Finished.Outcome == event.Error)
}

// Name returns the title of the trail, or its file.
func (a *attempt) Name() string {
	return lineText(titleOrFile(truncate(a.Title, maxLine), truncate(a.File, maxLine)))
}

// On returns the name of the device, empty when there is only one.
func (a *attempt) On() string { return lineText(a.Device) }

func (a *attempt) which() trailID { return startedID(a.TrailStarted) }

// Path returns the trail's file.
func (a *attempt) Path() string { return pathText(truncate(a.File, maxLine)) }

// Took returns the duration, empty for a skipped trail.
func (a *attempt) Took() string {
	if a.Outcome() == event.Skipped {
		return ""
	}
	return formatMillis(a.duration().Milliseconds())
}

func (a *attempt) duration() time.Duration {
	if a.Finished != nil {
		return time.Duration(a.Finished.DurationMs) * time.Millisecond
	}
	return a.to.Sub(a.from)
}

// Reason returns the first line of the reason, and the others.
func (a *attempt) Reason() [2]string {
	first, rest, _ := strings.Cut(strings.Join(textLines(a.Finished.Reason), "\n"), "\n")
	return [2]string{first, rest}
}

// Hint returns the hint of the failure.
func (a *attempt) Hint() string { return strings.Join(textLines(a.Finished.Hint), "\n") }

// Place returns the position of the failed call in the trail.
func (a *attempt) Place() string { return truncate(location(*a.Finished)[0], maxLine) }

// Step returns the text of the step that decided the outcome.
func (a *attempt) Step() string { return lineText(a.Finished.StepText) }

// Tool returns the tool that failed.
func (a *attempt) Tool() string { return lineText(a.Finished.Tool) }

// snippetLine is a line of a trail.
type snippetLine struct {
	Number, Text string
	Hit          bool // the line of the failed call
}

// Snippet returns the lines of the trail around the failed call, without their common indentation.
func (a *attempt) Snippet() []snippetLine {
	var lines []snippetLine
	common := -1
	for line := range strings.SplitSeq(Clean(a.Finished.Snippet), "\n") {
		number, text, _ := strings.Cut(line, "|")
		number, text = strings.TrimLeft(strings.TrimSpace(number), "> "), strings.TrimRight(text, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			continue // the line with the caret
		}
		if indent := len(text) - len(strings.TrimLeft(text, " ")); text != "" && (common < 0 || indent < common) {
			common = indent
		}
		lines = append(lines, snippetLine{Number: number, Text: text, Hit: n == a.Finished.FailedAt().Line})
	}
	for i, l := range lines {
		lines[i].Text = l.Text[min(max(common, 0), len(l.Text)):]
	}
	return lines
}

// Unreached returns the number of steps that did not start.
func (a *attempt) Unreached() int {
	all := a.TrailStarted.Steps
	for _, s := range a.Steps {
		if s.Within == "" && s.Of > 0 {
			all = s.Of
		}
	}
	return all - a.startedSteps
}

// Facts returns names and values about the session.
func (a *attempt) Facts() [][2]string {
	var facts [][2]string
	add := func(what, value string) {
		if value = lineText(value); value != "" {
			facts = append(facts, [2]string{what, value})
		}
	}
	add("target", a.Target)
	add("driver", a.Driver)
	add("device", a.Device)
	if a.Finished != nil {
		add("product", a.Finished.Product)
	}
	add("agent", a.Agent)
	add("session", a.Session)
	return facts
}

// Artifacts returns the paths of the session's files.
func (a *attempt) Artifacts() []string {
	if a.Finished == nil {
		return nil
	}
	var paths []string
	for _, p := range a.Finished.Artifacts[:min(len(a.Finished.Artifacts), maxFiles)] {
		paths = append(paths, pathText(truncate(p, maxLine)))
	}
	return paths
}

// State returns the outcome of the step, for a CSS class and a label.
func (s *pageStep) State() event.Outcome {
	if s.Outcome == "" {
		return unfinished
	}
	return s.Outcome
}

// Text returns the text of the step.
func (s *pageStep) Text() string { return lineText(s.StepStarted.Text) }

// Took returns the duration.
func (s *pageStep) Took() string { return formatInterval(s.from, s.to) }

// Bar returns the part of the trail's time that the step took.
func (s *pageStep) Bar() bar { return s.attempt.bar(s.from, s.to) }

// State returns the outcome of the call, for a CSS class and a label.
func (c *pageCall) State() event.Outcome {
	switch {
	case c.Done == nil:
		return unfinished
	case c.Done.OK:
		return event.Passed
	}
	return event.Failed
}

// Optional reports whether a failure of the call does not fail its step.
func (c *pageCall) Optional() bool { return c.Done != nil && c.Done.Optional }

// Soft reports whether a failure of the call fails the trail only at its end.
func (c *pageCall) Soft() bool { return c.Done != nil && c.Done.Soft }

// Name returns the tool's name.
func (c *pageCall) Name() string { return lineText(c.Tool) }

// From returns the name of the tool's source.
func (c *pageCall) From() string { return lineText(c.Source) }

// Took returns the duration.
func (c *pageCall) Took() string {
	if c.Done == nil {
		return ""
	}
	return formatMillis(c.Done.DurationMs)
}

// Bar returns the part of the trail's time that the call took.
func (c *pageCall) Bar() bar { return c.attempt.bar(c.from, c.to) }

// Inner returns the number of calls that are nested directly in the call.
func (c *pageCall) Inner() int { return len(c.Calls) + c.MoreCalls }

// Many reports whether the nested calls are collapsed because of their number.
func (c *pageCall) Many() bool { return len(c.Calls) > 12 }

// Failure returns the files that show the state when the trail failed.
func (a *attempt) Failure() []keptFile { return a.load(a.failure) }

// Kept returns the other files of the session that belong to no step or call.
func (a *attempt) Kept() []keptFile { return a.load(a.kept) }

// ServerLogs returns the logs of the session's servers.
func (a *attempt) ServerLogs() []keptFile { return a.load(a.serverLogs()) }

// Kept returns the files of the step.
func (s *pageStep) Kept() []keptFile { return s.attempt.load(s.kept) }

// Kept returns the files of the call.
func (c *pageCall) Kept() []keptFile { return c.attempt.load(c.kept) }

func (a *attempt) load(files []event.Evidence) []keptFile {
	var loaded []keptFile
	for _, e := range files {
		loaded = append(loaded, a.page.load(a.dir, e))
	}
	return loaded
}

// bar is a part of a trail's time, in thousandths of it.
type bar struct{ At, Length int64 }

func (a *attempt) bar(from, to time.Time) bar {
	whole := max(a.duration(), a.to.Sub(a.from), 1)
	if to.IsZero() {
		to = a.to
	}
	at := int64(1000 * from.Sub(a.from) / whole)
	length := int64(1000 * to.Sub(from) / whole)
	return bar{At: min(max(at, 0), 992), Length: min(max(length, 8), 1000)}
}

func formatInterval(from, to time.Time) string {
	if to.IsZero() {
		return ""
	}
	return formatMillis(to.Sub(from).Milliseconds())
}

// Millis formats milliseconds.
func (a *attempt) Millis(ms int64) string { return formatMillis(ms) }

// Number returns the number of the nth earlier attempt. Attempts before those may be missing.
func (a *attempt) Number(n int) int { return a.Finished.Attempts - len(a.Earlier) + n }
