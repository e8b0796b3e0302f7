package web

import (
	"context"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/network"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// incident notes something that went wrong in the page.
func (p *page) incident(kind, text string) {
	text = p.notes.Bounded(text + ", on " + shorten(p.url()))
	p.device.incidents.Add(tool.Incident{Kind: kind, Text: text})
}

// onServerError notes a response with a status of 500 and more.
func (p *page) onServerError(x *network.Exchange) {
	if x.IsDocument() { // the page is not there yet
		p.device.incidents.Add(tool.Incident{Kind: tool.HTTP5xx, Text: p.notes.Bounded(x.String()), Page: x.URL()})
		return
	}
	p.incident(tool.HTTP5xx, x.String())
}

// onConsole notes what the console shows, and what of it is an incident.
func (p *page) onConsole(e cdp.Event) {
	text := p.notes.Console(e)
	switch {
	case text == "":
	case e.Method == "Runtime.exceptionThrown":
		p.incident(tool.PageError, notes.ExceptionLine(text))
	default:
		p.incident(tool.ConsoleError, notes.EventLine(text))
	}
}

// Incidents implements device.IncidentReporter.
func (d *webDevice) Incidents(ctx context.Context, ended bool) []tool.Incident {
	c := d.openContext()
	if c == nil {
		return nil
	}
	c.awaitEvents(ctx, d.limits.probe)
	if ended {
		for _, r := range d.network.TakeUnused() {
			d.incidents.Add(r)
		}
		for _, i := range d.dialogs.takeUnanswered() {
			i.Text = d.notes.Bounded(i.Text)
			d.incidents.Add(i)
		}
	}
	return d.incidents.Take()
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
