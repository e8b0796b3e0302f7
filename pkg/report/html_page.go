package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // for the template, the style and the script
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

//go:embed page/page.html
var pageTemplate string

//go:embed page/page.css
var pageStyle string

//go:embed page/page.js
var pageScript string

// Outcomes on a page of a trail that did not end, and of one that passed after a retry.
const (
	unfinished event.Outcome = "unfinished"
	flaky      event.Outcome = "flaky"
)

// page is the data of the template.
type page struct {
	*HTML
	Style    template.CSS
	Script   template.JS
	Policy   string
	Outcomes []tally
	Groups   []group
	Devices  []string // empty when there is only one
	trails   []*attempt
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
	Trails []*attempt
}

// Write writes the page. It reads the files of the sessions.
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
		Policy: fmt.Sprintf("default-src 'none'; img-src data:; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", cspHash(pageStyle), cspHash(pageScript)),
	}
	for _, a := range h.attempts {
		if !a.retried {
			p.trails = append(p.trails, a)
		}
	}
	slices.SortStableFunc(p.trails, func(a, b *attempt) int { return compareTrails(a.which(), b.which()) })
	if p.Devices = devices(p.trails, (*attempt).On); len(p.Devices) == 1 {
		p.Devices = nil
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
			o.Before = last.Before + last.Count
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

// cspHash returns the hash of a style or script for a content security policy.
func cspHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Total returns the number of trails.
func (p *page) Total() int { return len(p.trails) }

// Headline returns the result of all trails in words.
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

// Good reports whether no trail failed.
func (p *page) Good() bool { return len(p.Groups) > 0 && p.Groups[0].Name != "Did not pass" }

// Facts returns duration, exit code and the number of trails that were not run, in words.
func (p *page) Facts() []string {
	var facts []string
	if p.run != nil {
		facts = append(facts, formatMillis(p.run.DurationMs), fmt.Sprintf("exit code %d", p.run.ExitCode))
	} else if p.planned > 0 {
		facts = append(facts, "the run did not end")
	}
	if left := p.planned - p.Total(); left > 0 {
		facts = append(facts, fmt.Sprintf("%d not run", left))
	}
	if p.started.Version != "" {
		facts = append(facts, "trailblaze "+lineText(p.started.Version))
	}
	if p.started.Commit != "" {
		facts = append(facts, "commit "+lineText(p.started.Commit[:min(len(p.started.Commit), 12)]))
	}
	return facts
}

// Began returns the time of the first event.
func (p *page) Began() time.Time { return p.from }

// Log returns the messages outside of sessions.
func (p *page) Log() []logLine { return p.log }

// When formats a time.
func (p *page) When(t time.Time) string {
	if _, offset := t.Zone(); offset == 0 {
		return t.UTC().Format("2 January 2006, 15:04:05 UTC")
	}
	return t.Format("2 January 2006, 15:04:05 -07:00")
}
