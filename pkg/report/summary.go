package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

const (
	// maxDetail is how many lines all failures get together, minDetail what one of them gets at least. Who reads them, a
	// person or an agent, does better with a path than with more.
	maxDetail = 40
	minDetail = 4
	// minReason is how many lines of a reason are worth more than what stands below it: its message, its last words and a log's path.
	minReason = 4
	// maxColumns is where a line of detail ends; a reason can be one line of megabytes.
	maxColumns = 400
	maxFlaky   = 10
	// maxSeen is how many files are named; of more only their folder.
	maxSeen = 8
	// maxReason is how much of a reason is kept for the end of the run, in bytes. The session's log has all of it.
	maxReason = 64 << 10
)

// summary is what a run ends with.
func (c *Console) summary(e event.RunFinished) []string {
	if c.several || c.opts.EndOnly {
		slices.SortStableFunc(c.failures, func(a, b failure) int { return inOrder(whichOf(a.TrailFinished), whichOf(b.TrailFinished)) })
		slices.SortStableFunc(c.flaky, func(a, b event.TrailFinished) int { return inOrder(whichOf(a), whichOf(b)) })
	}
	lines := c.failureLines()
	for i, f := range c.flaky {
		if i == maxFlaky {
			lines = append(lines, fmt.Sprintf("%s %d more flaky", c.p.more, len(c.flaky)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s %s passed at attempt %d", c.p.warn("flaky:"), called(f.Title, f.File, f.Device), f.Attempts))
	}
	if c.opts.Quiet {
		return append(lines, c.counts(e))
	}
	if c.sessions && c.opts.LogsDir != "" {
		lines = append(lines, "logs: "+c.opts.LogsDir)
	}
	lines = append(lines, c.reports...)
	if !c.opts.EndOnly {
		lines = append([]string{""}, lines...)
	}
	return append(lines, c.counts(e))
}

func (c *Console) failureLines() []string {
	shown := len(c.failures)
	var lines []string
	for _, f := range c.failures {
		for i, line := range c.fit(f, maxDetail/shown) {
			if i > 0 {
				line = "  " + line
			}
			lines = append(lines, clip(line, maxColumns, c.p.more))
		}
	}
	if rest := c.failed - shown; rest > 0 {
		where := ", see their lines above"
		if c.opts.EndOnly {
			where = ""
		}
		lines = append(lines, joinNonEmpty(" and ", fmt.Sprintf("%s %d more did not pass%s", c.p.more, rest, where), c.opts.LogsDir))
	}
	if shown > 0 {
		lines = append(lines, "")
	}
	return lines
}

// fit describes a failure in at most limit lines: what, where, why, the place in the trail, then what to do and to look at. What is too long
// loses the names of single files first, then what is around the line of the trail, that line, the middle of the reason and in the end the hint.
func (c *Console) fit(f failure, limit int) []string {
	head := append([]string{fmt.Sprintf("%s %s (%s)", c.p.bad(c.p.failed), c.p.strong(called(f.Title, f.File, f.Device)), f.Outcome)}, place(f.TrailFinished)...)
	reason, hints, folder := textLines(f.Reason), hints(f.TrailFinished), seen(f.Artifacts, 1)
	around, line := c.snippet(f, false), c.snippet(f, true)
	tails := [][]string{
		slices.Concat(around, hints, seen(f.Artifacts, maxSeen)), slices.Concat(around, hints, folder),
		slices.Concat(line, hints, folder), slices.Concat(hints, folder),
		hints[:max(0, min(len(hints), limit-len(head)-min(len(reason), 2)))], // what the first and the last line of the reason leave
	}
	fitting := slices.IndexFunc(tails, func(tail []string) bool { return limit-len(head)-len(tail) >= min(len(reason), minReason) })
	if fitting < 0 {
		fitting = len(tails) - 1
	}
	tail := tails[fitting]
	reason = c.shorten(reason, max(1, limit-len(head)-len(tail)), c.sessionLog(f.session))
	lines := slices.Concat(head, reason, tail)
	return lines[:min(len(lines), limit)]
}

// shorten takes lines out of the middle: how it begins is the message, and how it ends what a server said last and where its log is.
func (c *Console) shorten(lines []string, room int, log string) []string {
	if len(lines) <= room {
		return lines
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	n := len(lines)
	switch {
	case n <= room:
		return lines
	case room == 1:
		return lines[:1]
	case room == 2:
		return []string{lines[0], c.p.more + " " + strings.TrimLeft(lines[n-1], " ")}
	}
	begin := room / 3
	end := n - (room - 1 - begin)
	left := joinNonEmpty(" in ", fmt.Sprintf("%s %d more lines", c.p.more, end-begin), log)
	return slices.Concat(lines[:begin], []string{left}, lines[end:])
}

// snippet is the place in the trail, or the one line of it that decided.
func (c *Console) snippet(f failure, only bool) []string {
	var lines []string
	for _, line := range snippetLines(f.Snippet) {
		number, _, _ := strings.Cut(line, "|")
		if !only || strings.Trim(number, "> ") == strconv.Itoa(f.Line) {
			lines = append(lines, c.p.dim(line))
		}
	}
	return lines
}

// sessionLog is where all of a session is; empty when it is nowhere.
func (c *Console) sessionLog(session string) string {
	if c.opts.LogsDir == "" || session == "" {
		return ""
	}
	return filepath.Join(c.opts.LogsDir, session, "events.ndjson")
}

// place says where a trail ended: file and line, step and tool.
func place(e event.TrailFinished) []string {
	file := pathText(e.File)
	if e.Line > 0 {
		file = fmt.Sprintf("%s:%d", file, e.Line)
	}
	step, tool := "", ""
	if e.Step > 0 {
		step = strings.TrimRight(fmt.Sprintf("step %d: %s", e.Step, oneLine(e.StepText)), " :")
	}
	if e.Tool != "" {
		tool = "tool " + oneLine(e.Tool)
	}
	if at := joinNonEmpty(", ", step, tool); at != "" {
		return []string{file, at}
	}
	return []string{file}
}

// advice is what to do about a failure and what to look at.
func advice(e event.TrailFinished) []string { return append(hints(e), seen(e.Artifacts, maxSeen)...) }

func hints(e event.TrailFinished) []string {
	var lines []string
	for _, line := range textLines(e.Hint) {
		lines = append(lines, "hint: "+line)
	}
	return lines
}

// seen names files, of more than so many only their folder.
func seen(files []string, most int) []string {
	if len(files) > most {
		return []string{fmt.Sprintf("see %s (%d files)", pathText(folder(files)), len(files))}
	}
	var lines []string
	for _, f := range files {
		lines = append(lines, "see "+pathText(f))
	}
	return lines
}

// folder is where the outermost of the files is.
func folder(files []string) string {
	outermost := filepath.Dir(files[0])
	for _, f := range files {
		if dir := filepath.Dir(f); len(dir) < len(outermost) {
			outermost = dir
		}
	}
	return outermost
}

// textLines returns the lines of s, none for no text.
func textLines(s string) []string {
	if s = strings.TrimSpace(Clean(s)); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// snippetLines returns the lines of a snippet, none for no snippet. Its indentation counts.
func snippetLines(s string) []string {
	if s = strings.Trim(Clean(s), "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// firstLine is the first line of a reason that says something.
func firstLine(reason string) string {
	lines := textLines(reason)
	if len(lines) == 0 {
		return ""
	}
	return clip(oneLine(lines[0]), maxColumns, "...")
}

func (c *Console) counts(e event.RunFinished) string {
	var parts []string
	add := func(n int, what string, color paint) {
		if n > 0 {
			parts = append(parts, color(fmt.Sprintf("%d %s", n, what)))
		}
	}
	add(e.Failed, "failed", c.p.bad)
	add(e.Errors, plural(e.Errors, "error"), c.p.bad)
	passed := "passed"
	if c.opts.DryRun {
		passed = "checked (dry run)"
	}
	if e.Flaky > 0 {
		passed += fmt.Sprintf(" (%d flaky)", e.Flaky)
	}
	add(e.Passed, passed, c.p.good)
	add(e.Skipped, "skipped", c.p.dim)
	add(c.total-e.Failed-e.Errors-e.Passed-e.Skipped, "not run", c.p.warn)
	if len(parts) == 0 {
		parts = []string{"no trails"}
	}
	return strings.Join(parts, ", ") + " in " + seconds(time.Duration(e.DurationMs)*time.Millisecond)
}
