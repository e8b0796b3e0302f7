package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the page's template, style and script
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

//go:embed page/page.html
var pageTemplate string

//go:embed page/page.css
var pageStyle string

//go:embed page/page.js
var pageScript string

// The outcome of a trail that has no end, and of one that passed after a retry, on a page.
const (
	unfinished event.Outcome = "unfinished"
	flaky      event.Outcome = "flaky"
)

// page is what the template sees.
type page struct {
	*HTML
	Style    template.CSS
	Script   template.JS
	Policy   string
	Outcomes []tally
	Groups   []group
	trails   []*attempt
}

// tally is how many trails ended in the same way.
type tally struct {
	Outcome event.Outcome
	Word    string
	Count   int
	At      int // how many there are before them, for the bar
}

type group struct {
	Name   string
	Trails []*attempt
}

// Write writes the page. It reads the files of the sessions meanwhile.
func (h *HTML) Write(w io.Writer) error {
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("read the template of the page: %w", err)
	}
	h.files = 0
	out := bufio.NewWriterSize(w, 1<<16)
	if err := t.Execute(out, h.page()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return out.Flush()
}

func (h *HTML) page() *page {
	p := &page{
		HTML: h, Style: template.CSS(pageStyle), Script: template.JS(pageScript),
		Policy: fmt.Sprintf("default-src 'none'; img-src data:; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", digest(pageStyle), digest(pageScript)),
	}
	for _, a := range h.attempts {
		if !a.retried {
			p.trails = append(p.trails, a)
		}
	}
	for _, o := range []tally{
		{Outcome: event.Failed, Word: "failed"},
		{Outcome: event.Error, Word: "error"},
		{Outcome: unfinished, Word: "did not end"},
		{Outcome: flaky, Word: "flaky"},
		{Outcome: event.Passed, Word: "passed"},
		{Outcome: event.Skipped, Word: "skipped"},
	} {
		for _, a := range p.trails {
			if a.Outcome() == o.Outcome {
				o.Count++
			}
		}
		if len(p.Outcomes) > 0 {
			last := p.Outcomes[len(p.Outcomes)-1]
			o.At = last.At + last.Count
		}
		if o.Count > 0 {
			p.Outcomes = append(p.Outcomes, o)
		}
	}
	p.group("Did not pass", event.Failed, event.Error, unfinished)
	p.group("Flaky", flaky)
	p.group("Passed", event.Passed)
	p.group("Skipped", event.Skipped)
	return p
}

func (p *page) group(name string, outcomes ...event.Outcome) {
	g := group{Name: name}
	for _, a := range p.trails {
		for _, o := range outcomes {
			if a.Outcome() == o {
				g.Trails = append(g.Trails, a)
			}
		}
	}
	if len(g.Trails) > 0 {
		p.Groups = append(p.Groups, g)
	}
}

// digest is how a content security policy names a style or a script.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Total is how many trails the page tells of.
func (p *page) Total() int { return len(p.trails) }

// Headline says how it ended.
func (p *page) Headline() string {
	bad := 0
	for _, o := range p.Outcomes {
		if o.Outcome == event.Failed || o.Outcome == event.Error || o.Outcome == unfinished {
			bad += o.Count
		}
	}
	passed := p.Total() - bad - p.count(event.Skipped)
	switch {
	case p.Total() == 0:
		return "No trails"
	case bad == 1 && p.Total() == 1:
		return "The trail did not pass"
	case bad > 0:
		return fmt.Sprintf("%d of %d trails did not pass", bad, p.Total())
	case passed < p.Total():
		return fmt.Sprintf("%d of %d trails passed", passed, p.Total())
	case passed == 1:
		return "The trail passed"
	}
	return fmt.Sprintf("All %d trails passed", passed)
}

func (p *page) count(outcome event.Outcome) int {
	for _, o := range p.Outcomes {
		if o.Outcome == outcome {
			return o.Count
		}
	}
	return 0
}

// Good reports whether nothing went wrong.
func (p *page) Good() bool { return len(p.Groups) > 0 && p.Groups[0].Name != "Did not pass" }

// Facts are when it was and how it went, in words.
func (p *page) Facts() []string {
	var facts []string
	if p.run != nil {
		facts = append(facts, millis(p.run.DurationMs), fmt.Sprintf("exit code %d", p.run.ExitCode))
	} else if p.planned > 0 {
		facts = append(facts, "the run did not end")
	}
	if left := p.planned - p.Total(); left > 0 {
		facts = append(facts, fmt.Sprintf("%d not run", left))
	}
	return facts
}

// Began is when the first event was.
func (p *page) Began() time.Time { return p.from }

// Log is what was said outside of sessions.
func (p *page) Log() []logLine { return p.HTML.log }

// When writes a time for people.
func (p *page) When(t time.Time) string {
	if _, offset := t.Zone(); offset == 0 {
		return t.UTC().Format("2 January 2006, 15:04:05 UTC")
	}
	return t.Format("2 January 2006, 15:04:05 -07:00")
}

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

// Path is the trail's file.
func (a *attempt) Path() string { return shown(pathText(head(a.File, maxLine))) }

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
	return [2]string{shown(first), shown(rest)}
}

// Hint is what to do about it.
func (a *attempt) Hint() string { return shown(strings.Join(textLines(a.Finished.Hint), "\n")) }

// Place is where in the trail it ended.
func (a *attempt) Place() string { return shown(head(place(*a.Finished)[0], maxLine)) }

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
		lines[i].Text = shown(l.Text[min(max(common, 0), len(l.Text)):])
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
		paths = append(paths, shown(pathText(head(p, maxLine))))
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
