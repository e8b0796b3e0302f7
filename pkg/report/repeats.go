package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// maxRepeats is the number of repeated trails that a summary sums up. Those that did not always pass are first.
const maxRepeats = 20

// byFailures returns the repeated trails, the one that failed most often first, without trails that were only skipped.
func byFailures(all []event.Repeated) []event.Repeated {
	sorted := slices.DeleteFunc(slices.Clone(all), func(r event.Repeated) bool { return r.Runs == r.Skipped })
	slices.SortStableFunc(sorted, func(a, b event.Repeated) int {
		return cmp.Or(cmp.Compare(b.Failed+b.Errors, a.Failed+a.Errors), cmp.Compare(b.Flaky, a.Flaky), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Device, b.Device), cmp.Compare(a.Row, b.Row))
	})
	return sorted
}

// repeatResult says in words how the repetitions of a trail ended: 4 of 20 failed.
func repeatResult(r event.Repeated) string {
	var parts []string
	switch {
	case r.Failed > 0 && r.Errors > 0:
		parts = append(parts, fmt.Sprintf("%d of %d did not pass (%d failed, %d %s)", r.Failed+r.Errors, r.Runs, r.Failed, r.Errors, plural(r.Errors, "error")))
	case r.Failed > 0:
		parts = append(parts, fmt.Sprintf("%d of %d failed", r.Failed, r.Runs))
	case r.Errors > 0:
		parts = append(parts, fmt.Sprintf("%d of %d ended with an error", r.Errors, r.Runs))
	default:
		parts = append(parts, fmt.Sprintf("%d of %d passed", r.Runs-r.Skipped, r.Runs))
	}
	if r.Flaky > 0 {
		parts = append(parts, fmt.Sprintf("%d flaky", r.Flaky))
	}
	if left := r.Of - r.Runs; left > 0 {
		parts = append(parts, fmt.Sprintf("%d not run", left))
	}
	return strings.Join(parts, ", ")
}

// repeatLines sums up the trails that were repeated, with --quiet only those that did not always pass.
func (c *Console) repeatLines(all []event.Repeated) []string {
	var lines []string
	sorted := byFailures(all)
	for i, r := range sorted {
		bad := r.Failed+r.Errors > 0
		if c.opts.Quiet && !bad {
			break
		}
		if i == maxRepeats {
			lines = append(lines, fmt.Sprintf("%s %d more trails were repeated", c.p.more, len(sorted)-i))
			break
		}
		symbol := c.p.good(c.p.passed)
		if bad {
			symbol = c.p.bad(c.p.failed)
		}
		lines = append(lines, fitWidth(fmt.Sprintf("%s %s: %s", symbol, trailID{title: r.Title, file: r.File, device: r.Device}.displayName(), repeatResult(r)), maxColumns, c.p.more))
	}
	return lines
}

// repeatRow is a row of the table of repeated trails on a page.
type repeatRow struct {
	Name, DeviceName, Result string
	Bad                      bool
}

// Repeats returns the table of the trails that were repeated.
func (p *page) Repeats() []repeatRow {
	var rows []repeatRow
	for _, r := range byFailures(p.Finished.Repeated) {
		rows = append(rows, repeatRow{
			Name: lineText(titleOrFile(r.Title, r.File)), DeviceName: lineText(r.Device), Result: repeatResult(r), Bad: r.Failed+r.Errors > 0,
		})
	}
	return rows[:min(len(rows), maxFiles)]
}
