package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// ConsoleOptions are the options of a Console.
type ConsoleOptions struct {
	Verbose bool             // also steps and calls
	Quiet   bool             // only failures, warnings and counts
	EndOnly bool             // only the summary, for a run that is over
	Now     func() time.Time // the current time
	LogsDir string           // the folder of the sessions' folders, for references; may be empty
	DryRun  bool             // no tool is called; trails that pass were only checked
	Notices io.Writer        // for warnings and notes; nil means the same writer
	// Relative returns a path as the summary shows it; nil to show paths as the events have them.
	Relative func(path string) string
	// Repair returns the commands that look back at a session and replay its trail up to the call that failed, for the
	// summary; nil for none.
	Repair func(session string, started event.TrailStarted, failed event.TrailFinished) []string
}

// Console writes a run for people, by the rules of the package comment. Close writes the summary of the run.
type Console struct {
	opts    ConsoleOptions
	style   Style
	p       palette
	end     sync.Once
	stop    chan struct{}
	stopped chan struct{}

	mu           sync.Mutex // guards the fields below
	screen       screen
	run          *Run
	live         []*progress
	numbered     int // number of trails that have a number
	sessions     bool
	failures     []*Case // the first ones
	failureCount int     // all of them
	flaky        []*Case
	healed       []*Case            // those whose repairs were written
	notes        []string           // lines for those of trails that passed, the first ones
	noteCount    int                // all of them
	finished     *event.RunFinished // nil until then
	reports      []string           // lines about the files that were written
}

// refresh is the interval in which live lines are redrawn.
const refresh = 100 * time.Millisecond

// verboseText is the number of columns of a call's arguments or result that --verbose shows.
const verboseText = 200

// NewConsole returns a console that writes to w.
func NewConsole(w io.Writer, style Style, opts ConsoleOptions) *Console {
	style.Live = style.Live && !opts.Quiet
	c := &Console{
		opts: opts, style: style, p: newPalette(w, style), screen: screen{w: w}, run: newStreamedRun(),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	if !style.Live {
		close(c.stopped)
		return c
	}
	go c.tick()
	return c
}

func (c *Console) tick() {
	defer close(c.stopped)
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-ticker.C:
			c.mu.Lock()
			c.draw()
			c.mu.Unlock()
		}
	}
}

// AddReport adds a file that was written, such as JUnit: build/junit.xml, to the summary.
func (c *Console) AddReport(kind, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports = append(c.reports, kind+": "+pathText(path))
}

// Close removes the live lines, and writes the summary when the run has finished. It waits for the console's goroutine,
// and may be called again.
func (c *Console) Close() {
	c.end.Do(func() { close(c.stop) })
	<-c.stopped
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, p := range c.live {
		lines = append(lines, c.heldBlock(p)...)
	}
	c.live = nil
	if c.finished != nil {
		lines = append(lines, c.summary(*c.finished)...)
		c.finished = nil
	}
	c.print(lines...)
}

// Handle implements event.Handler.
func (c *Console) Handle(r event.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	trail := c.run.Fold(r)
	p := c.progressOf(trail)
	switch e := r.Event.(type) {
	case event.TrailStarted:
		c.trailStarted(trail)
	case event.ServerStarted:
		c.printVerbose(p, "  server %s: %d %s (%s)", oneLine(e.Server), e.Tools, plural(e.Tools, "tool"), formatMillis(e.DurationMs))
	case event.StepStarted:
		c.printVerbose(p, "  %s", stepText(e))
	case event.CallStarted:
		if c.opts.Verbose {
			c.printVerbose(p, "%s%s %s", indent(e.Call), oneLine(e.Tool), c.argsText(e.Args))
		}
	case event.CallProgress:
		if !c.style.Live {
			c.printVerbose(p, "    %s %s: %s", c.p.more, oneLine(e.Tool), c.excerpt(e.Message))
		}
	case event.CallFinished:
		c.callFinished(p, e)
	case event.StepFinished:
		if e.Outcome == event.Skipped {
			c.printVerbose(p, "    %s skipped", c.p.dim(c.p.skipped))
		}
	case event.DeviceNoted:
		c.printVerbose(p, "    %s", oneLine(e.Kind+": "+e.Text))
	case event.TrailFinished:
		c.trailFinished(trail)
	case event.RunFinished:
		c.finished = &e
	case event.Log:
		c.printLog(r, p, e)
	}
}

// parallel reports whether several trails run at once.
func (c *Console) parallel() bool { return c.run.Current.Workers > 1 && c.run.Current.Trails > 1 }

func (c *Console) trailStarted(trail *Case) {
	c.sessions = c.sessions || trail.Session != ""
	p := &progress{Case: trail}
	if old := c.removeProgress(func(old *progress) bool { return old.id() == trail.id() }); old != nil { // this is a retry
		p.held, p.count = old.held, old.count
	} else {
		p.count = c.nextCount()
	}
	c.live = append(c.live, p)
	if c.style.Live {
		c.draw()
		return
	}
	steps := fmt.Sprint(trail.TrailStarted.Steps, " ", plural(trail.TrailStarted.Steps, "step"))
	c.printUnlessQuiet("running %s%s (%s)", p.count, p.id().displayName(), joinNonEmpty(", ", steps, oneLine(trail.Target), oneLine(trail.Driver)))
}

// nextCount returns the number of the next trail and the number of all, such as "[3/20] "; empty for a single trail.
func (c *Console) nextCount() string {
	c.numbered++
	if c.run.Planned < 2 || c.opts.EndOnly {
		return ""
	}
	return fmt.Sprintf("[%d/%d] ", c.numbered, c.run.Planned)
}

// removeProgress removes the first running trail that matches and returns it, nil when none does.
func (c *Console) removeProgress(matches func(*progress) bool) *progress {
	i := slices.IndexFunc(c.live, matches)
	if i < 0 {
		return nil
	}
	p := c.live[i]
	c.live = slices.Delete(c.live, i, i+1)
	return p
}

// progressOf returns the progress of a trail, nil for a trail that does not run and for the whole run.
func (c *Console) progressOf(trail *Case) *progress {
	i := slices.IndexFunc(c.live, func(p *progress) bool { return p.Case == trail })
	if i < 0 {
		return nil
	}
	return c.live[i]
}

// stepText says in words which step it is.
func stepText(e event.StepStarted) string {
	text := fmt.Sprintf("step %d/%d %s", e.Index, e.Of, oneLine(e.Text))
	if e.Within != "" {
		text = "step " + e.Number() + " " + oneLine(e.Text)
	}
	if e.Kind == "teardown" {
		text = "teardown, " + text
	}
	return text
}

// depth returns the number of calls that a call is nested in: 1 for 3.1, which is nested in 3.
func depth(call string) int { return strings.Count(call, ".") }

func indent(call string) string { return strings.Repeat("  ", 2+depth(call)) }

func (c *Console) callFinished(p *progress, e event.CallFinished) {
	if !c.opts.Verbose {
		return // without formatting what is not shown
	}
	symbol, text := c.p.good(c.p.passed), e.Text
	if !e.OK {
		symbol, text = c.p.bad(c.p.failed), e.Error
	}
	c.printVerbose(p, "%s%s %s (%s) %s", indent(e.Call), symbol, oneLine(e.Tool), formatMillis(e.DurationMs), c.excerpt(text))
}

func (c *Console) trailFinished(trail *Case) {
	var lines []string
	var count string
	if p := c.removeProgress(func(p *progress) bool { return p.Case == trail }); p != nil {
		lines, count = c.heldBlock(p), p.count
	} else {
		count = c.nextCount()
	}
	e := trail.Finished
	if e.Interrupted && !c.opts.EndOnly {
		e.Reason = "" // printed when the signal arrived
	}
	facts := []string{formatMillis(e.DurationMs)}
	if e.Attempts > 1 {
		facts = append(facts, fmt.Sprintf("%d attempts", e.Attempts))
	}
	if e.ModelUse != nil && e.Requests > 0 {
		facts = append(facts, string(e.Mode)+" with "+UsageSummary(e.ModelUse))
	}
	symbol := c.p.good(c.p.passed)
	switch e.Outcome {
	case event.Passed:
		c.addNotes(trail)
		if e.Healed > 0 {
			c.healed = append(c.healed, trail)
		}
		if e.Flaky {
			facts = append(facts, "flaky")
			c.flaky = append(c.flaky, trail)
		}
		if e.Reason != "" { // why it did not run completely
			facts = append(facts, c.p.warn(oneLine(e.Reason)))
		}
	case event.Skipped:
		symbol, facts = c.p.dim(c.p.skipped), []string{joinNonEmpty(": ", "skipped", oneLine(e.Reason))}
	case event.Failed, event.Error:
		symbol = c.p.bad(c.p.failed)
		c.failureCount++
		if len(c.failures) < maxDetail/minDetail { // as many as the summary shows
			c.failures = append(c.failures, trail)
		}
	}
	lines = append(lines, fmt.Sprintf("%s %s%s (%s)", symbol, count, trail.id().displayName(), strings.Join(facts, ", ")))
	if reason := firstLine(e.Reason); reason != "" && (e.Outcome == event.Failed || e.Outcome == event.Error) {
		lines = append(lines, "  "+reason)
	}
	if !c.opts.Quiet && !c.opts.EndOnly {
		c.print(lines...)
	}
}

// printLog prints a message at once, with the name of its trail when several run.
func (c *Console) printLog(r event.Record, p *progress, e event.Log) {
	word := map[string]string{"warn": c.p.warn("warning:"), "error": c.p.bad("error:"), "info": "note:", "debug": c.p.dim("debug:")}[e.Level]
	if e.Level == "debug" && !c.opts.Verbose || e.Level == "info" && c.opts.Quiet {
		return
	}
	source, message := oneLine(e.Source), Clean(e.Message)
	if source == "run" || strings.Contains(message, source) {
		source = "" // trailblaze itself, or named in the message
	}
	lines := []string{joinNonEmpty(" ", word, joinNonEmpty(": ", c.trailPrefix(r, p), source, message))}
	if e.Hint != "" {
		lines = append(lines, "  hint: "+Clean(e.Hint))
	}
	if c.opts.Notices == nil {
		c.print(lines...)
		return
	}
	c.screen.update(nil, nil) // remove the live lines, since both writers may be the same terminal
	fmt.Fprintln(c.opts.Notices, strings.Join(lines, "\n"))
	c.draw()
}

// printUnlessQuiet prints a line unless --quiet is set.
func (c *Console) printUnlessQuiet(format string, args ...any) {
	if !c.opts.Quiet {
		c.print(fmt.Sprintf(format, args...))
	}
}

// trailPrefix returns the name of a record's trail when several run, otherwise "".
func (c *Console) trailPrefix(r event.Record, p *progress) string {
	switch {
	case !c.parallel():
		return ""
	case p == nil:
		return oneLine(r.Trail)
	}
	return p.id().displayName()
}

// printVerbose prints a line of a trail, which may be nil, with --verbose: at once, or with the result of the trail when
// several run.
func (c *Console) printVerbose(p *progress, format string, args ...any) {
	if !c.opts.Verbose || c.opts.Quiet {
		return
	}
	line := fmt.Sprintf(format, args...)
	if p != nil && c.parallel() {
		p.held.add(line)
		return
	}
	c.print(line)
}

// heldBlock returns the held lines of a trail, below its name.
func (c *Console) heldBlock(p *progress) []string {
	if len(p.held.lines) == 0 {
		return nil
	}
	lines := append([]string{c.p.strong(p.id().displayName()) + ":"}, p.held.lines...)
	if p.held.dropped > 0 {
		lines = append(lines, joinNonEmpty(" in ", fmt.Sprintf("  %s %d more %s", c.p.more, p.held.dropped, plural(p.held.dropped, "line")), c.sessionLog(p.Session)))
	}
	return lines
}

// heldLines are the lines of one trail until its end, so that lines of several trails are not mixed.
type heldLines struct {
	lines   []string
	bytes   int
	dropped int // number of lines over the limit
}

// maxHeld is the number of bytes of the lines that are held for a trail.
const maxHeld = 1 << 20

func (h *heldLines) add(line string) {
	if h.bytes += len(line) + 1; h.bytes > maxHeld {
		h.dropped++
		return
	}
	h.lines = append(h.lines, line)
}

func (c *Console) argsText(args map[string]any) string {
	if len(args) == 0 {
		return ""
	}
	b, err := jsonLine(args)
	if err != nil {
		return ""
	}
	return c.excerpt(string(b))
}

func (c *Console) excerpt(text string) string {
	return fitWidth(oneLine(truncate(text, 10*verboseText)), verboseText, c.p.more)
}

// titleOrFile returns the title of a trail, or its file when it has none.
func titleOrFile(title, file string) string {
	if title = oneLine(title); title != "" {
		return title
	}
	return oneLine(file)
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func joinNonEmpty(sep string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}
