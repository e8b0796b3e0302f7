package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// maxIncidents is how many incidents of each kind are kept between two calls of Incidents.
const maxIncidents = 50

// incidents are what went wrong without failing a call. They may be used from any goroutine.
type incidents struct {
	mu      sync.Mutex
	call    string // the id of the call that runs or ended last
	list    []incident
	omitted map[string]int // by kind
}

// incident is one that came once or several times.
type incident struct {
	tool.Incident
	times int
}

// startCall says that a call begins.
func (is *incidents) startCall(id string) {
	is.mu.Lock()
	defer is.mu.Unlock()
	is.call = id
}

// during returns the id of the call that runs or ended last.
func (is *incidents) during() string {
	is.mu.Lock()
	defer is.mu.Unlock()
	return is.call
}

// add adds an incident. One without a call belongs to the one that runs or ended last.
func (is *incidents) add(i tool.Incident) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if i.Call == "" {
		i.Call = is.call
	}
	same := slices.IndexFunc(is.list, func(known incident) bool { return known.Kind == i.Kind && known.Text == i.Text })
	count := 0
	for _, known := range is.list {
		if known.Kind == i.Kind {
			count++
		}
	}
	switch {
	case same >= 0:
		is.list[same].times++
	case count < maxIncidents:
		is.list = append(is.list, incident{i, 1})
	default:
		if is.omitted == nil {
			is.omitted = map[string]int{}
		}
		is.omitted[i.Kind]++
	}
}

// take returns the incidents since the last call.
func (is *incidents) take() []tool.Incident {
	is.mu.Lock()
	defer is.mu.Unlock()
	var out []tool.Incident
	for _, i := range is.list {
		if i.times > 1 {
			i.Text += fmt.Sprintf(" (%d times)", i.times)
		}
		out = append(out, i.Incident)
	}
	for _, kind := range tool.IncidentKinds() {
		if more := is.omitted[kind]; more > 0 {
			out = append(out, tool.Incident{Kind: kind, Text: fmt.Sprintf("%d more", more), Call: is.call})
		}
	}
	is.list, is.omitted = nil, nil
	return out
}

// incident notes something that went wrong in the page.
func (p *page) incident(kind, text string) {
	text = p.notes.bounded(text + ", on " + shorten(p.url()))
	p.device.incidents.add(tool.Incident{Kind: kind, Text: text})
}

// onServerError notes a response with a status of 500 and more.
func (p *page) onServerError(x *exchange) {
	if x.kind == "Document" { // the page is not there yet
		p.device.incidents.add(tool.Incident{Kind: tool.HTTP5xx, Text: p.notes.bounded(x.String())})
		return
	}
	p.incident(tool.HTTP5xx, x.String())
}

// onConsole notes what the console shows, and what of it is an incident.
func (p *page) onConsole(e cdp.Event) {
	text := p.notes.console(e)
	switch {
	case text == "":
	case e.Method == "Runtime.exceptionThrown":
		p.incident(tool.PageError, exceptionLine(text))
	default:
		p.incident(tool.ConsoleError, eventLine(text))
	}
}

// exceptionLine returns the message of an exception and where it was thrown, without the rest of its stack.
func exceptionLine(text string) string {
	message, stack, _ := strings.Cut(text, "\n    at ")
	place, _, _ := strings.Cut(stack, "\n")
	return strings.TrimSuffix(eventLine(message)+" at "+eventLine(place), " at ")
}

// Incidents implements device.Witness.
func (d *webDevice) Incidents(ctx context.Context, ended bool) []tool.Incident {
	c := d.openContext()
	if c == nil {
		return nil
	}
	c.awaitEvents(ctx, d.limits.probe)
	if ended {
		for _, r := range d.network.takeUnused() {
			d.incidents.add(r)
		}
		for _, i := range d.dialogs.takeUnanswered() {
			i.Text = d.notes.bounded(i.Text)
			d.incidents.add(i)
		}
	}
	return d.incidents.take()
}

// awaitEvents waits until the pages that respond within a limit have reported what happened in them so far.
func (c *browserContext) awaitEvents(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var calls []waitFunc
	for _, s := range c.sessions() {
		calls = append(calls, s.Send("Runtime.evaluate", map[string]any{"expression": "1"}))
	}
	for _, wait := range calls {
		_ = wait(ctx, nil) // one that does not respond has reported what it could
	}
}
