package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

const (
	// maxDetail is the number of lines for all failures together, minDetail the least for one of them. Readers, people
	// or agents, are better served by a path than by more lines.
	maxDetail = 40
	minDetail = 4
	// minReason is the number of lines of a reason that take precedence over the lines below it.
	minReason = 4
	// maxColumns is the length of a line; a reason can be one line of megabytes.
	maxColumns = 400
	maxFlaky   = 10
	// maxArtifacts is the number of files that are listed; of more, only the folder is.
	maxArtifacts = 8
)

// summary returns the last lines of a run.
func (c *Console) summary(e event.RunFinished) []string {
	if c.parallel() || c.opts.EndOnly {
		slices.SortStableFunc(c.failures, compareCases)
		slices.SortStableFunc(c.flaky, compareCases)
	}
	lines := c.failureLines()
	for i, f := range c.flaky {
		if i == maxFlaky {
			lines = append(lines, fmt.Sprintf("%s %d more flaky", c.p.more, len(c.flaky)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s %s passed on attempt %d", c.p.warn("flaky:"), f.id().displayName(), f.Finished.Attempts))
	}
	lines = append(append(lines, c.healLines()...), c.repeatLines(e.Repeated)...)
	if e.ModelUse != nil {
		lines = append(lines, "model: "+UsageSummary(e.ModelUse))
	}
	if c.opts.Quiet {
		return append(lines, c.counts(e))
	}
	lines = append(lines, c.noteLines()...)
	if c.sessions && c.opts.LogsDir != "" {
		lines = append(lines, "logs: "+c.opts.LogsDir)
	}
	lines = append(append(lines, c.reports...), c.repairLines()...)
	if !c.opts.EndOnly {
		lines = append([]string{""}, lines...)
	}
	return append(lines, c.counts(e))
}

// noteLines returns a line for each note of a call in a trail that passed, because the call may not have checked what its
// author meant.
func (c *Console) noteLines() []string {
	lines := c.notes
	if rest := c.noteCount - len(c.notes); rest > 0 {
		lines = append(lines, fmt.Sprintf("%s %d more notes of calls", c.p.more, rest))
	}
	return lines
}

// addNotes keeps the notes of a trail that passed for the summary.
func (c *Console) addNotes(r *Case) {
	c.noteCount += len(r.Notes) + r.MoreNotes
	for _, n := range r.Notes[:min(len(r.Notes), maxNotes-len(c.notes))] {
		step := ""
		if n.Step != nil {
			step = oneLine(stepText(n.Step.StepStarted))
		}
		where := joinNonEmpty(", ", r.id().displayName(), step, oneLine(n.About))
		c.notes = append(c.notes, fitWidth(fmt.Sprintf("%s %s: %s", c.p.warn("note:"), where, oneLine(n.Text)), maxColumns, c.p.more))
	}
}

// repairLines returns the commands for the first trail that failed at a call as tools fail, and not because something
// broke. It returns nil when there is none.
func (c *Console) repairLines() []string {
	for _, f := range c.failures {
		if c.opts.Repair == nil || f.Failed == nil || f.Failed.Kind != fault.ToolFailed || f.Finished.Outcome != event.Failed || f.Finished.Tool == "" {
			continue
		}
		if commands := c.opts.Repair(f.Session, f.TrailStarted, *f.Finished); len(commands) > 0 {
			lines := []string{"next, to look at the call that failed or to repair the trail:"}
			for _, command := range commands {
				lines = append(lines, "  "+pathText(command))
			}
			return lines
		}
	}
	return nil
}

func (c *Console) failureLines() []string {
	shown := len(c.failures)
	var lines []string
	for _, f := range c.failures {
		for i, line := range c.failureBlock(f, maxDetail/shown) {
			if i > 0 {
				line = "  " + line
			}
			lines = append(lines, fitWidth(line, maxColumns, c.p.more))
		}
	}
	if rest := c.failureCount - shown; rest > 0 {
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

// failureBlock describes a failure in at most limit lines: title, position, reason, snippet, hints and the folder of
// artifacts. When there are more lines, it leaves out the lines around the call, that line, the middle of the reason and
// the hints, in this order.
func (c *Console) failureBlock(f *Case, limit int) []string {
	head := append([]string{fmt.Sprintf("%s %s (%s)", c.p.bad(c.p.failed), c.p.strong(f.id().displayName()), f.Finished.Outcome)}, location(*f.Finished)...)
	reason, hints, folder := textLines(f.Finished.Reason), hintLines(*f.Finished), c.folderLines(f.Finished.Artifacts)
	around, line := c.snippetLines(*f.Finished, false), c.snippetLines(*f.Finished, true)
	tails := [][]string{
		slices.Concat(around, hints, folder), slices.Concat(line, hints, folder), slices.Concat(hints, folder),
		hints[:max(0, min(len(hints), limit-len(head)-min(len(reason), 2)))], // besides the first and the last line of the reason
	}
	fitting := slices.IndexFunc(tails, func(tail []string) bool { return limit-len(head)-len(tail) >= min(len(reason), minReason) })
	if fitting < 0 {
		fitting = len(tails) - 1
	}
	tail := tails[fitting]
	reason = c.shorten(reason, max(1, limit-len(head)-len(tail)), c.sessionLog(f.Session))
	lines := slices.Concat(head, reason, tail)
	return lines[:min(len(lines), limit)]
}

// shorten leaves out lines in the middle. The first ones are the message, the last ones the end of a server's log and
// its path.
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

// snippetLines returns the lines around the failed call, or only its line.
func (c *Console) snippetLines(e event.TrailFinished, only bool) []string {
	var lines []string
	for _, line := range snippetLines(e.Snippet) {
		number, _, _ := strings.Cut(line, "|")
		if !only || strings.Trim(number, "> ") == strconv.Itoa(e.FailedAt().Line) {
			lines = append(lines, c.p.dim(line))
		}
	}
	return lines
}

// sessionLog returns the path of a session's log, empty when there is none.
func (c *Console) sessionLog(session string) string {
	if c.opts.LogsDir == "" || session == "" {
		return ""
	}
	return filepath.Join(c.opts.LogsDir, session, "events.ndjson")
}

// location returns file and line, step and tool of a failure.
func location(e event.TrailFinished) []string {
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

func hintLines(e event.TrailFinished) []string {
	var lines []string
	for _, line := range textLines(e.Hint) {
		lines = append(lines, "hint: "+line)
	}
	return lines
}

// folderLines returns a line with the folder of the files and what is directly in it: see logs/a: events.ndjson, failure/
func (c *Console) folderLines(files []string) []string {
	if len(files) == 0 {
		return nil
	}
	dir := commonDir(files)
	var names []string
	for _, f := range files {
		name, err := filepath.Rel(dir, f)
		if err != nil || !filepath.IsLocal(name) {
			continue
		}
		if first, _, below := strings.Cut(filepath.ToSlash(name), "/"); below {
			name = first + "/"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if c.opts.Relative != nil {
		dir = c.opts.Relative(dir)
	}
	line := "see " + pathText(filepath.ToSlash(dir))
	if len(names) > maxArtifacts {
		return []string{fmt.Sprintf("%s (%d files)", line, len(files))}
	}
	return []string{joinNonEmpty(": ", line, pathText(strings.Join(names, ", ")))}
}

// commonDir returns the folder of the outermost file.
func commonDir(files []string) string {
	outermost := filepath.Dir(files[0])
	for _, f := range files {
		if dir := filepath.Dir(f); len(dir) < len(outermost) {
			outermost = dir
		}
	}
	return outermost
}

// textLines returns the lines of s, nil when it is blank.
func textLines(s string) []string {
	if s = strings.TrimSpace(Clean(s)); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// snippetLines returns the lines of a snippet with their indentation, nil when it is empty.
func snippetLines(s string) []string {
	if s = strings.Trim(Clean(s), "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// firstLine returns the first line of a reason that is not blank.
func firstLine(reason string) string {
	lines := textLines(reason)
	if len(lines) == 0 {
		return ""
	}
	return fitWidth(oneLine(lines[0]), maxColumns, "...")
}

func (c *Console) counts(e event.RunFinished) string {
	var parts []string
	add := func(n int, what string, color colorFunc) {
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
	var of []string
	if e.Flaky > 0 {
		of = append(of, fmt.Sprintf("%d flaky", e.Flaky))
	}
	if e.Assisted > 0 {
		of = append(of, fmt.Sprintf("%d assisted", e.Assisted))
	}
	if e.Healed > 0 {
		of = append(of, fmt.Sprintf("%d healed", e.Healed))
	}
	if len(of) > 0 {
		passed += " (" + strings.Join(of, ", ") + ")"
	}
	add(e.Passed, passed, c.p.good)
	add(e.Skipped, "skipped", c.p.dim)
	add(c.run.Planned-e.Failed-e.Errors-e.Passed-e.Skipped, "not run", c.p.warn)
	if len(parts) == 0 {
		parts = []string{"no trails"}
	}
	return strings.Join(parts, ", ") + " in " + formatDuration(time.Duration(e.DurationMs)*time.Millisecond)
}
