package web

import (
	"context"
	_ "embed" // clock.js
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// clockScript replaces the clock of a document: Date, timers, performance.now and animation frames.
//
//go:embed clock.js
var clockScript string

// clock is the clock of a session's pages. Until it is set, they have that of this machine.
type clock struct {
	mu       sync.Mutex
	set      bool
	date     time.Duration // how far their date is ahead of this machine's
	advanced time.Duration // how far their timers are ahead
}

func clockCommands() []command {
	return []command{newCommand("web_setClock",
		"Sets the date and time of pages, from where it goes on, or advances it and runs the timers that are then due.",
		`"now": {"type": ["string", "number"], "description": "Like 2027-01-31T12:00:00Z, or milliseconds since 1970"},
		"advanceMs": {"type": "number", "minimum": 0, "maximum": 31622400000, "description": "At most 366 days"}`, webSetClock)}
}

// source returns the script that replaces the clock of a document.
func (k *clock) source() string {
	return fmt.Sprintf("(%s)(%d, %d)", strings.TrimSpace(clockScript), k.date.Milliseconds(), k.advanced.Milliseconds())
}

// atStart returns the script for new documents. The last one that is registered decides.
func (k *clock) atStart() string {
	return fmt.Sprintf("%s.begin(%d, %d)", k.source(), k.date.Milliseconds(), k.advanced.Milliseconds())
}

// install makes later documents of a session have the clock, if it was set.
func (k *clock) install(s *cdp.Session) []waitFunc {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.set {
		return nil
	}
	return []waitFunc{s.Send("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": k.atStart()})}
}

func webSetClock(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a, k, c := syntax.Arguments(args), p.device.clock, p.context
	if !a.Has("now") && !a.Has("advanceMs") {
		return tool.Result{}, fault.New(fault.InvalidArguments, "", "web_setClock needs now or advanceMs")
	}
	now, err := syntax.ParseNow(a, p.device.backend.options.emulation.Zone)
	if err != nil {
		return tool.Result{}, err
	}
	advance := time.Duration(a.Number("advanceMs", 0)) * time.Millisecond
	k.mu.Lock()
	first := !k.set
	k.set = true
	if !now.IsZero() {
		k.date = time.Until(now)
	}
	k.date += advance
	k.advanced += advance
	date, advanced := k.date, k.advanced
	source, atStart := k.source(), k.atStart()
	k.mu.Unlock()
	for _, s := range c.sessions() {
		params := map[string]any{"source": atStart}
		if err := s.Call(ctx, "Page.addScriptToEvaluateOnNewDocument", params, nil); err != nil && !errors.Is(asGone(err), errGone) {
			return tool.Result{}, err
		}
	}
	call := fmt.Sprintf("%s.set(%d, %d)", source, date.Milliseconds(), advanced.Milliseconds())
	late := 0
	for _, open := range c.openPages() {
		for _, f := range open.frames() {
			installed, err := f.setClock(ctx, call)
			if err != nil {
				return tool.Result{}, err
			}
			if installed && f.hasContent() {
				late++
			}
		}
	}
	result := success("the pages' clock shows %s", time.Now().Add(date).UTC().Format(time.RFC3339))
	if first && late > 0 {
		result.Text += "; timers that the page had started before are not affected: set the clock before it is opened"
	}
	return result, nil
}

// setClock sets the clock of the frame's document, and reports whether the document had none of ours before. A frame
// that is gone has no clock.
func (f *frame) setClock(ctx context.Context, call string) (installed bool, err error) {
	s, context := f.mainWorld()
	if s == nil || context == "" {
		return false, nil
	}
	var r evalResult
	err = s.Call(ctx, "Runtime.evaluate", map[string]any{
		"expression": call, "uniqueContextId": context, "returnByValue": true, "awaitPromise": true,
	}, &r)
	if err == nil {
		err = r.err()
	}
	if errors.Is(asGone(err), errGone) {
		return false, nil
	}
	return string(r.Result.Value) == "true", err
}

// hasContent reports whether the frame shows a document that was opened.
func (f *frame) hasContent() bool {
	f.page.mu.Lock()
	defer f.page.mu.Unlock()
	return f.url != "about:blank" && f.url != ""
}

// mainWorld returns the session of the frame and the id of the execution context in which the page's scripts run.
func (f *frame) mainWorld() (*cdp.Session, string) {
	f.page.mu.Lock()
	defer f.page.mu.Unlock()
	return f.session.to.Load(), f.pageWorld
}
