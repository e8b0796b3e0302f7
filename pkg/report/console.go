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

// ConsoleOptions says what a run tells people.
type ConsoleOptions struct {
	Verbose bool             // steps and calls too
	Quiet   bool             // failures, warnings and counts only
	EndOnly bool             // only how it ended: what happened is over
	Now     func() time.Time // for how long something takes
	LogsDir string           // where sessions leave their files, to refer to; may be empty
	DryRun  bool             // nothing is called: what passes was only checked
	Notices io.Writer        // where warnings and the like go; nil: to the same writer
}

// Console writes a run for people, by the rules of the package comment. Close writes the summary of the run.
type Console struct {
	opts    ConsoleOptions
	style   Style
	p       palette
	end     sync.Once
	stop    chan struct{}
	stopped chan struct{}

	mu       sync.Mutex // guards what follows; the stream and the ticker use it
	screen   screen
	live     []*progress
	total    int  // trails that the run set out to do
	several  bool // trails run at once
	sessions bool
	failures []failure // the first ones
	failed   int       // all of them
	flaky    []event.TrailFinished
	finished *event.RunFinished // nil until then
	reports  []string           // lines about the files that were written
}

type failure struct {
	event.TrailFinished
	session string
}

// refresh is how often live lines are redrawn.
const refresh = 100 * time.Millisecond

// verboseText is how much of a call's arguments or result --verbose shows, in columns; the session's log has all of it.
const verboseText = 200

// NewConsole writes to w.
func NewConsole(w io.Writer, style Style, opts ConsoleOptions) *Console {
	style.Live = style.Live && !opts.Quiet
	c := &Console{
		opts: opts, style: style, p: newPalette(w, style), screen: screen{w: w},
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

// Close removes the live lines, and writes the summary when the run has finished. It waits for the console's goroutine, and may be
// called again.
func (c *Console) Close() {
	c.end.Do(func() { close(c.stop) })
	<-c.stopped
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, p := range c.live {
		lines = append(lines, c.block(p)...)
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
	switch e := r.Event.(type) {
	case event.RunStarted:
		c.total += e.Trails
		c.several = e.Workers > 1 && e.Trails > 1
	case event.TrailStarted:
		c.sessions = c.sessions || r.Session != ""
		c.trailStarted(r.Session, e)
	case event.ServerStarted:
		c.doing(r, "started "+oneLine(e.Server))
		c.verbose(r, "  server %s: %d %s (%s)", oneLine(e.Server), e.Tools, plural(e.Tools, "tool"), millis(e.DurationMs))
	case event.StepStarted:
		c.stepStarted(r, e)
	case event.CallStarted:
		c.callStarted(r, e)
	case event.CallProgress:
		c.progressing(r, oneLine(e.Tool), c.excerpt(e.Message))
	case event.CallFinished:
		c.callFinished(r, e)
	case event.StepFinished:
		if e.Outcome == event.Skipped {
			c.verbose(r, "    %s skipped", c.p.dim(c.p.skipped))
		}
	case event.TrailFinished:
		c.trailFinished(r, e)
	case event.RunFinished:
		c.finished = &e
	case event.Log:
		c.log(r, e)
	}
}

func (c *Console) trailStarted(session string, e event.TrailStarted) {
	p := &progress{
		session: session, file: e.File, title: called(e.Title, e.File, e.Device), driver: e.Driver, step: "starting", since: c.opts.Now(),
	}
	old := c.take(func(old *progress) bool { return old.file == p.file && old.title == p.title && old.driver == p.driver })
	if old != nil { // this is a retry
		p.held = old.held
	}
	c.live = append(c.live, p)
	if c.style.Live {
		c.draw()
		return
	}
	c.note("running %s (%s)", p.title, joinNonEmpty(", ", fmt.Sprint(e.Steps, " ", plural(e.Steps, "step")), oneLine(e.Target), oneLine(e.Driver)))
}

// take removes the first trail that runs and fits; nil when none does.
func (c *Console) take(fits func(*progress) bool) *progress {
	i := slices.IndexFunc(c.live, fits)
	if i < 0 {
		return nil
	}
	p := c.live[i]
	c.live = slices.Delete(c.live, i, i+1)
	return p
}

func (c *Console) stepStarted(r event.Record, e event.StepStarted) {
	step := fmt.Sprintf("step %d/%d %s", e.Index, e.Of, oneLine(e.Text))
	c.doing(r, step)
	c.verbose(r, "  %s", step)
}

// The live line shows the trail's own calls; those made within them only stand below them under --verbose.
func (c *Console) callStarted(r event.Record, e event.CallStarted) {
	if depth(e.Call) == 0 {
		c.calling(r, oneLine(e.Tool))
	}
	if c.opts.Verbose {
		c.verbose(r, "%s%s %s", indent(e.Call), oneLine(e.Tool), c.argsText(e.Args))
	}
}

// depth is how many calls a call is made within: 3.1 is made within 3.
func depth(call string) int { return strings.Count(call, ".") }

func indent(call string) string { return strings.Repeat("  ", 2+depth(call)) }

func (c *Console) callFinished(r event.Record, e event.CallFinished) {
	if depth(e.Call) == 0 {
		c.calling(r, "")
	}
	symbol, text := c.p.good(c.p.passed), e.Text
	if !e.OK {
		symbol, text = c.p.bad(c.p.failed), e.Error
	}
	c.verbose(r, "%s%s %s (%s) %s", indent(e.Call), symbol, oneLine(e.Tool), millis(e.DurationMs), c.excerpt(text))
}

func (c *Console) trailFinished(r event.Record, e event.TrailFinished) {
	title := called(e.Title, e.File, e.Device)
	var lines []string
	p := c.take(func(p *progress) bool {
		return p.session == r.Session && p.file == e.File && (r.Session != "" || p.title == title)
	})
	if p != nil {
		lines = c.block(p)
	}
	e.Reason = head(e.Reason, maxReason)
	facts := []string{millis(e.DurationMs)}
	if e.Attempts > 1 {
		facts = append(facts, fmt.Sprintf("%d attempts", e.Attempts))
	}
	symbol := c.p.good(c.p.passed)
	switch e.Outcome {
	case event.Passed:
		if e.Flaky {
			facts = append(facts, "flaky")
			c.flaky = append(c.flaky, e)
		}
		if e.Reason != "" { // passed, but not all of it
			facts = append(facts, c.p.warn(oneLine(e.Reason)))
		}
	case event.Skipped:
		symbol, facts = c.p.dim(c.p.skipped), []string{joinNonEmpty(": ", "skipped", oneLine(e.Reason))}
	case event.Failed, event.Error:
		symbol = c.p.bad(c.p.failed)
		c.failed++
		if len(c.failures) < maxDetail/minDetail { // what the summary shows; the rest is only counted
			c.failures = append(c.failures, failure{e, r.Session})
		}
	}
	lines = append(lines, fmt.Sprintf("%s %s (%s)", symbol, title, strings.Join(facts, ", ")))
	if reason := firstLine(e.Reason); reason != "" && (e.Outcome == event.Failed || e.Outcome == event.Error) {
		lines = append(lines, "  "+reason)
	}
	if !c.opts.Quiet && !c.opts.EndOnly {
		c.print(lines...)
	}
}

// log prints at once; when trails run at once, the line says which one it is about.
func (c *Console) log(r event.Record, e event.Log) {
	word := map[string]string{"warn": c.p.warn("warning:"), "error": c.p.bad("error:"), "info": "note:", "debug": c.p.dim("debug:")}[e.Level]
	if e.Level == "debug" && !c.opts.Verbose || e.Level == "info" && c.opts.Quiet {
		return
	}
	source, message := oneLine(e.Source), Clean(e.Message)
	if source == "run" || strings.Contains(message, source) {
		source = "" // ours, or said already
	}
	lines := []string{joinNonEmpty(" ", word, joinNonEmpty(": ", c.about(r), source, message))}
	if e.Hint != "" {
		lines = append(lines, "  hint: "+Clean(e.Hint))
	}
	if c.opts.Notices == nil {
		c.print(lines...)
		return
	}
	c.screen.update(nil, nil) // on a terminal both writers end up on the same screen
	fmt.Fprintln(c.opts.Notices, strings.Join(lines, "\n"))
	c.draw()
}

// note prints what --quiet leaves out.
func (c *Console) note(format string, args ...any) {
	if !c.opts.Quiet {
		c.print(fmt.Sprintf(format, args...))
	}
}

// about is the trail of a record, when there is more than one that it can be about.
func (c *Console) about(r event.Record) string {
	p := c.find(r)
	switch {
	case !c.several:
		return ""
	case p == nil:
		return oneLine(r.Trail)
	}
	return p.title
}

// verbose prints what only --verbose shows: at once, or with the trail's result when several run at once.
func (c *Console) verbose(r event.Record, format string, args ...any) {
	if !c.opts.Verbose || c.opts.Quiet {
		return
	}
	line := fmt.Sprintf(format, args...)
	if p := c.find(r); p != nil && c.several {
		p.held.add(line)
		return
	}
	c.print(line)
}

// block is what was held back of a trail, below its name.
func (c *Console) block(p *progress) []string {
	if len(p.held.lines) == 0 {
		return nil
	}
	lines := append([]string{c.p.strong(p.title) + ":"}, p.held.lines...)
	if p.held.left > 0 {
		lines = append(lines, joinNonEmpty(" in ", fmt.Sprintf("  %s %d more %s", c.p.more, p.held.left, plural(p.held.left, "line")), c.sessionLog(p.session)))
	}
	return lines
}

// held are lines of one trail that wait for its end, so that no line of another one stands between them.
type held struct {
	lines []string
	bytes int
	left  int // lines that are not kept
}

// maxHeld is how much of a trail waits, in bytes.
const maxHeld = 1 << 20

func (h *held) add(line string) {
	if h.bytes += len(line) + 1; h.bytes > maxHeld {
		h.left++
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
	return clip(oneLine(head(text, 10*verboseText)), verboseText, c.p.more)
}

// name is what a trail is called.
func name(title, file string) string {
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
