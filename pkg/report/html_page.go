package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // for the style and the script
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

//go:embed page/tokens.css
var tokens string

//go:embed page/page.css
var ownStyle string

func pageStyle() string { return tokens + ownStyle }

//go:embed page/page.js
var pageScript string

// Outcomes on a page of a trail that did not end, of one that passed after a retry, and of a session without a trail.
const (
	unfinished  event.Outcome = "unfinished"
	flaky       event.Outcome = "flaky"
	liveSession event.Outcome = "session"
)

// page is what a page shows.
type page struct {
	*HTML
	Outcomes []tally
	Groups   []group
	Devices  []string    // empty when there is only one
	trails   []*pageCase // and sessions without one
}

// tally is the number of trails with an outcome.
type tally struct {
	Outcome event.Outcome
	Word    string
	Count   int
	Before  int // number of trails before them in the bar
}

type group struct {
	Name   string
	Trails []*pageCase
}

// Write writes the page. It reads the files of the sessions.
func (h *HTML) Write(w io.Writer) error {
	h.files = 0
	out := bufio.NewWriterSize(w, 1<<16)
	if err := h.page().document().Render(out); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return out.Flush()
}

func (h *HTML) page() *page {
	p := &page{HTML: h}
	for _, c := range h.Cases {
		if !c.Retried {
			p.trails = append(p.trails, &pageCase{Case: c, page: h})
		}
	}
	slices.SortStableFunc(p.trails, func(a, b *pageCase) int { return compareCases(a.Case, b.Case) })
	if p.Devices = distinctNames(p.trails, (*pageCase).DeviceName); len(p.Devices) == 1 {
		p.Devices = nil
	}
	before := 0
	for _, t := range []tally{
		{Outcome: event.Failed, Word: "failed"},
		{Outcome: event.Error, Word: "error"},
		{Outcome: unfinished, Word: "did not end"},
		{Outcome: flaky, Word: "flaky"},
		{Outcome: event.Passed, Word: "passed"},
		{Outcome: event.Skipped, Word: "skipped"},
		{Outcome: liveSession, Word: "session"},
	} {
		if t.Count, t.Before = len(p.withOutcome(t.Outcome)), before; t.Count > 0 {
			p.Outcomes = append(p.Outcomes, t)
		}
		before += t.Count
	}
	for _, g := range []group{
		{"Did not pass", p.notPassed()},
		{"Flaky", p.withOutcome(flaky)},
		{"Passed", p.withOutcome(event.Passed)},
		{"Skipped", p.withOutcome(event.Skipped)},
		{"Sessions", p.withOutcome(liveSession)},
	} {
		if len(g.Trails) > 0 {
			p.Groups = append(p.Groups, g)
		}
	}
	return p
}

// withOutcome returns the trails with one of the outcomes.
func (p *page) withOutcome(outcomes ...event.Outcome) []*pageCase {
	return slices.DeleteFunc(slices.Clone(p.trails), func(c *pageCase) bool { return !slices.Contains(outcomes, c.Outcome()) })
}

// notPassed returns the trails that did not pass.
func (p *page) notPassed() []*pageCase { return p.withOutcome(event.Failed, event.Error, unfinished) }

// cspHash returns the hash of a style or script for a content security policy.
func cspHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Total returns the number of trails.
func (p *page) Total() int { return len(p.trails) - len(p.withOutcome(liveSession)) }

// Headline returns the result of all trails in words.
func (p *page) Headline() string {
	bad := len(p.notPassed())
	passed := p.Total() - bad - len(p.withOutcome(event.Skipped))
	switch {
	case p.Total() == 0 && len(p.trails) > 0:
		return fmt.Sprintf("%d %s", len(p.trails), plural(len(p.trails), "session"))
	case p.Total() == 0:
		return "No trails"
	case bad == 1 && p.Total() == 1:
		return "The trail did not pass"
	case bad > 0:
		return fmt.Sprintf("%d of %d trails did not pass", bad, p.Total())
	case p.left() > 0:
		return fmt.Sprintf("%d passed, %d not run", passed, p.left())
	case p.Current.DryRun && passed == 1 && !p.failed():
		return "1 trail was checked (dry run)"
	case p.Current.DryRun && !p.failed():
		return fmt.Sprintf("%d trails were checked (dry run)", passed)
	case passed < p.Total():
		return fmt.Sprintf("%d of %d trails passed", passed, p.Total())
	}
	all := fmt.Sprintf("all %d trails passed", passed)
	if passed == 1 {
		all = "the trail passed"
	}
	if p.failed() {
		return "The run failed, although " + all
	}
	return strings.ToUpper(all[:1]) + all[1:]
}

// left returns the number of trails that were not run.
func (p *page) left() int { return max(p.Planned-p.Total(), 0) }

// failed reports whether the exit code says that the run failed, which may be in spite of trails that all passed.
func (p *page) failed() bool { return p.Ended && p.Finished.ExitCode != fault.ExitPassed }

// NoneFailed reports whether all trails were run, and neither one of them nor the run failed.
func (p *page) NoneFailed() bool {
	return len(p.trails) > 0 && len(p.notPassed()) == 0 && p.left() == 0 && !p.failed()
}

// Facts returns duration, exit code and the number of trails that were not run, in words.
func (p *page) Facts() []string {
	var facts []string
	if p.Ended {
		facts = append(facts, formatMillis(p.Finished.DurationMs), fmt.Sprintf("exit code %d", p.Finished.ExitCode))
	} else if p.Planned > 0 {
		facts = append(facts, "the run did not end")
	}
	if p.left() > 0 {
		facts = append(facts, fmt.Sprintf("%d not run", p.left()))
	}
	if u := p.Finished.ModelUse; u != nil {
		facts = append(facts, "model: "+UsageSummary(u))
	}
	if p.Current.Version != "" {
		facts = append(facts, "trailblaze "+lineText(p.Current.Version))
	}
	if p.Current.Commit != "" {
		facts = append(facts, "commit "+lineText(p.Current.Commit[:min(len(p.Current.Commit), 12)]))
	}
	return facts
}

// FormatTime formats a time.
func (p *page) FormatTime(t time.Time) string {
	if _, offset := t.Zone(); offset == 0 {
		return t.UTC().Format("2 January 2006, 15:04:05 UTC")
	}
	return t.Format("2 January 2006, 15:04:05 -07:00")
}
