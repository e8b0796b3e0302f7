package report

import (
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// What the template of the page asks of trails, steps and calls.

// Outcome is how the trail ended, as the page has it.
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
	return unfinished // a word of a later version
}

// Word is the outcome for people.
func (a *attempt) Word() string {
	if a.Outcome() == unfinished {
		return "did not end"
	}
	return string(a.Outcome())
}

// Bad reports whether there is something to explain.
func (a *attempt) Bad() bool {
	return a.Finished != nil && (a.Finished.Outcome == event.Failed || a.Finished.Outcome == event.Error)
}

// Name is what the trail is called.
func (a *attempt) Name() string { return line(name(head(a.Title, maxLine), head(a.File, maxLine))) }

// On is the name of the device; empty when there is only one.
func (a *attempt) On() string { return line(a.Device) }

func (a *attempt) which() which { return which{a.File, a.Device, a.Title} }

// Path is the trail's file.
func (a *attempt) Path() string { return pathText(head(a.File, maxLine)) }

// Took is how long it took; nothing for what did not happen.
func (a *attempt) Took() string {
	if a.Outcome() == event.Skipped {
		return ""
	}
	return millis(a.duration().Milliseconds())
}

func (a *attempt) duration() time.Duration {
	if a.Finished != nil {
		return time.Duration(a.Finished.DurationMs) * time.Millisecond
	}
	return a.to.Sub(a.from)
}

// Reason is why the trail ended as it did: what to read first, and the rest of it.
func (a *attempt) Reason() [2]string {
	first, rest, _ := strings.Cut(strings.Join(textLines(a.Finished.Reason), "\n"), "\n")
	return [2]string{first, rest}
}

// Hint is what to do about it.
func (a *attempt) Hint() string { return strings.Join(textLines(a.Finished.Hint), "\n") }

// Place is where in the trail it ended.
func (a *attempt) Place() string { return head(place(*a.Finished)[0], maxLine) }

// Step is the text of the step that decided.
func (a *attempt) Step() string { return line(a.Finished.StepText) }

// Tool is the tool that decided.
func (a *attempt) Tool() string { return line(a.Finished.Tool) }

// snippetLine is a line of a trail.
type snippetLine struct {
	Number, Text string
	Hit          bool // the one that it is about
}

// Snippet is the part of the trail that it is about, as far to the left as its lines allow.
func (a *attempt) Snippet() []snippetLine {
	var lines []snippetLine
	common := -1
	for line := range strings.SplitSeq(Clean(a.Finished.Snippet), "\n") {
		number, text, _ := strings.Cut(line, "|")
		number, text = strings.TrimLeft(strings.TrimSpace(number), "> "), strings.TrimRight(text, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			continue // the caret under a line
		}
		if indent := len(text) - len(strings.TrimLeft(text, " ")); text != "" && (common < 0 || indent < common) {
			common = indent
		}
		lines = append(lines, snippetLine{Number: number, Text: text, Hit: n == a.Finished.Line})
	}
	for i, l := range lines {
		lines[i].Text = l.Text[min(max(common, 0), len(l.Text)):]
	}
	return lines
}

// Unreached is how many steps come after the last one that began.
func (a *attempt) Unreached() int {
	last := a.step()
	if last == nil {
		return a.TrailStarted.Steps
	}
	return last.Of - last.Index
}

// Facts are what is good to know of the session.
func (a *attempt) Facts() [][2]string {
	var facts [][2]string
	add := func(what, value string) {
		if value = line(value); value != "" {
			facts = append(facts, [2]string{what, value})
		}
	}
	add("target", a.Target)
	add("driver", a.Driver)
	add("device", a.Device)
	add("agent", a.Agent)
	add("session", a.Session)
	return facts
}

// Artifacts are the paths of what the session left.
func (a *attempt) Artifacts() []string {
	if a.Finished == nil {
		return nil
	}
	var paths []string
	for _, p := range a.Finished.Artifacts[:min(len(a.Finished.Artifacts), maxFiles)] {
		paths = append(paths, pathText(head(p, maxLine)))
	}
	return paths
}

// State is how the step ended, for a class and a word.
func (s *pageStep) State() event.Outcome {
	if s.Outcome == "" {
		return unfinished
	}
	return s.Outcome
}

// Text is what the step says.
func (s *pageStep) Text() string { return line(s.StepStarted.Text) }

// Took is how long it took.
func (s *pageStep) Took() string { return between(s.from, s.to) }

// Bar is where the step stands in the time of its trail.
func (s *pageStep) Bar() bar { return s.attempt.bar(s.from, s.to) }

// State is how the call ended, for a class and a word.
func (c *pageCall) State() event.Outcome {
	switch {
	case c.Done == nil:
		return unfinished
	case c.Done.OK:
		return event.Passed
	}
	return event.Failed
}

// Name is the tool's name.
func (c *pageCall) Name() string { return line(c.Tool) }

// From is the name of who has the tool.
func (c *pageCall) From() string { return line(c.Source) }

// Took is how long it took.
func (c *pageCall) Took() string {
	if c.Done == nil {
		return ""
	}
	return millis(c.Done.DurationMs)
}

// Bar is where the call stands in the time of its trail.
func (c *pageCall) Bar() bar { return c.attempt.bar(c.from, c.to) }

// Inner is how many calls are made within the call, those within them not counted.
func (c *pageCall) Inner() int { return len(c.Calls) + c.Left }

// Many reports whether the calls within would hide what comes after them.
func (c *pageCall) Many() bool { return len(c.Calls) > 12 }

// Failure are the files that show how things stood when the trail ended.
func (a *attempt) Failure() []keptFile { return a.load(a.failure) }

// Kept are the other files of the session, but for those of its steps and calls.
func (a *attempt) Kept() []keptFile { return a.load(a.kept) }

// ServerLogs are what the session's servers wrote.
func (a *attempt) ServerLogs() []keptFile { return a.load(a.serverLogs()) }

// Kept are files that were kept during the step.
func (s *pageStep) Kept() []keptFile { return s.attempt.load(s.kept) }

// Kept are files that were kept during the call.
func (c *pageCall) Kept() []keptFile { return c.attempt.load(c.kept) }

func (a *attempt) load(files []event.Evidence) []keptFile {
	var loaded []keptFile
	for _, e := range files {
		loaded = append(loaded, a.page.load(a.dir, e))
	}
	return loaded
}

// bar is a part of a trail's time, in thousandths.
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

func between(from, to time.Time) string {
	if to.IsZero() {
		return ""
	}
	return millis(to.Sub(from).Milliseconds())
}

// Millis writes a duration for people.
func (a *attempt) Millis(ms int64) string { return millis(ms) }

// Number is which attempt the nth earlier one was, counted from the last one: those before may not be known.
func (a *attempt) Number(n int) int { return a.Finished.Attempts - len(a.Earlier) + n }
