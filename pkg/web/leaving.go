package web

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// leaving is a navigation that will replace the document of a frame, and has not ended. The events that it follows come
// in this order (docs/decisions/0013-leaving-a-page.md):
//
//	frameRequestedNavigation   a script, a form or a link requested it; it waits for the browser
//	frameStartedNavigating     the browser sends the request; loader identifies it from now on
//	frameNavigated             it has another document
//	loadingFailed              it has none: a download, a response without content, or it was aborted
type leaving struct {
	url     string
	loader  string // empty until it was started
	started bool
	number  int // among those of the page, from 1
	// refresh says that the document refreshes itself, with or without a delay.
	refresh bool
	// own says that it opens the first document of a frame, which the page around it has added.
	own bool
}

// leave notes that a frame is about to show another document. The caller holds page.mu.
func (f *frame) leave(url, loader string) {
	if f.leaving == nil || f.leaving.started {
		f.page.left++
		f.leaving = &leaving{number: f.page.left, own: f.parent != nil && f.loader == ""}
	}
	f.leaving.url, f.leaving.loader, f.leaving.started = url, loader, loader != ""
}

// navigationEvent has the parameters of the events of navigations.
type navigationEvent struct {
	FrameID, URL, LoaderID, NavigationType, Disposition, Reason, ErrorText, RequestID string
	Delay                                                                             float64
}

// isRefresh reports whether <meta http-equiv=refresh>, or the header, leads to the navigation.
func (n navigationEvent) isRefresh() bool {
	return n.Reason == "metaTagRefresh" || n.Reason == "httpHeaderRefresh"
}

// onNavigation follows the navigations of frames. Those that open a document end in onFrameEvent.
func (p *page) onNavigation(e cdp.Event) {
	var n navigationEvent
	if e.Decode(&n) != nil {
		return
	}
	p.update(func() {
		if e.Method == "Network.loadingFailed" {
			p.onNavigationFailed(n.RequestID, n.ErrorText)
		} else if f := p.framesByID[n.FrameID]; f != nil {
			f.onNavigation(e.Method, n)
		}
	})
}

// onNavigation notes a navigation of the frame that begins or ends. The caller holds page.mu.
func (f *frame) onNavigation(method string, n navigationEvent) {
	isPending := f.leaving != nil && !f.leaving.started
	switch method {
	case "Page.frameRequestedNavigation":
		if n.isRefresh() {
			f.refreshed++
		}
		if n.Disposition == "currentTab" && f.leaving == nil {
			f.leave(n.URL, "")
			f.leaving.refresh = n.isRefresh()
		}
	case "Page.frameScheduledNavigation": // before the document has loaded
		f.refreshes = f.refreshes || n.isRefresh() && n.Delay == 0
	case "Page.frameStartedNavigating":
		if n.NavigationType != "sameDocument" && n.NavigationType != "historySameDocument" {
			f.leave(n.URL, n.LoaderID)
		}
	case "Page.frameStartedLoading": // of browsers that do not send the event above
		if isPending {
			f.leaving.started = true
		}
	case "Page.frameClearedScheduledNavigation":
		f.refreshes = false
		// It was refused, by a policy of the page for example. A refresh that is refused is not requested.
		if isPending && !f.leaving.refresh {
			f.leaving = nil
		}
	case "Page.frameStoppedLoading":
		if f.leaving != nil && f.leaving.started && f.leaving.loader == "" {
			f.leaving = nil
		}
	}
}

// onNavigationFailed ends the navigation with a loader that opens no document. Other failures open an error page.
func (p *page) onNavigationFailed(loader, code string) {
	for _, f := range p.framesByID {
		if f.leaving != nil && f.leaving.loader == loader && code == "net::ERR_ABORTED" {
			f.leaving = nil
		}
	}
}

// leavesFor returns the URL that a frame is about to show since the navigation with a number, empty for none. The caller
// holds page.mu.
func (p *page) leavesFor(since int) string {
	for _, f := range p.framesByID {
		if f.leaving != nil && f.leaving.number > since && !f.leaving.own {
			return f.leaving.url
		}
	}
	return ""
}

// leavesTo returns the URL of the document that the page is about to show, if it is.
func (p *page) leavesTo() (url string, leaves bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.root.leaving == nil {
		return "", false
	}
	return p.root.leaving.url, true
}

// navigationsSoFar returns the number of the last navigation.
func (p *page) navigationsSoFar() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left
}

// awaitNavigation waits until the navigations since the one with a number, in the page and its frames, have opened a
// document or failed. It does not wait for what the documents load.
//
// A navigation that a script begins in a timer without delay counts, because the timers of all processes are awaited
// first. What the browser reports of a navigation is sent before the response.
func (p *page) awaitNavigation(ctx context.Context, since int) error {
	wait := p.timers
	if wait == nil {
		wait = p.sendTimers()
	}
	wait(ctx)
	url := ""
	err := p.waitUntil(ctx, func() bool {
		url = p.leavesFor(since)
		return url == ""
	})
	switch {
	case p.closed():
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &waitingError{"a response from " + shorten(url) + ", which the action opens", err}
	}
	return err
}

// awaitTabs waits until the tabs that were opened since before show the document that they were opened for, or none. A
// tab that never does, as of an advertisement, is no failure of the action.
func (c *browserContext) awaitTabs(ctx context.Context, before []*page) {
	ctx, cancel := context.WithTimeout(ctx, c.device.limits.action)
	defer cancel()
	for _, p := range c.openPages() {
		if slices.Contains(before, p) {
			continue
		}
		open, stop := context.WithCancel(ctx)
		unwatch := context.AfterFunc(p.ctx, stop)
		_ = p.waitUntil(open, p.hasOpened) // else its state says so
		unwatch()
		stop()
	}
}

// hasOpened reports whether the page shows the document that it was opened for, or never will: a script opens a tab with
// a data: URL, which browsers refuse to show there, or for a script alone. The caller holds p.mu.
func (p *page) hasOpened() bool {
	isEmpty := p.firstURL == "" || p.firstURL == "about:blank" || strings.HasPrefix(p.firstURL, "data:") ||
		strings.HasPrefix(p.firstURL, "javascript:")
	failed := p.left > 0 && p.root.leaving == nil
	return isEmpty || p.root.loader != "" || failed || p.ctx.Err() != nil
}

// sendTimers asks every process that the page has whether the timers that are due now have run. The function that it
// returns waits for the answers, or need not be called. A page that is left, or does not respond, has no timers.
func (p *page) sendTimers() (wait func(context.Context)) {
	var waits []func(context.Context)
	seen := map[*cdp.Session]bool{}
	for _, f := range p.frames() {
		s, w, err := f.current()
		if err != nil || w == nil || seen[s] || f.silent.Load() {
			continue
		}
		seen[s] = true
		ran := s.Send("Runtime.callFunctionOn", w.calling("timersRan", true, nil))
		waits = append(waits, func(ctx context.Context) {
			ctx, done := w.bind(ctx)
			defer done()
			_ = ran(ctx, nil)
		})
	}
	return func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, p.limits().response)
		defer cancel()
		for _, wait := range waits {
			wait(ctx)
		}
	}
}

// opensPage reports whether a command opens a page.
func opensPage(name string) bool {
	return name == "navigate" || name == "web_navigate" || name == "launchApp"
}

// isCheck reports whether a command fails unless the page shows something.
func isCheck(name string) bool {
	return strings.HasPrefix(name, "web_verify") || name == device.AssertWaypoint || slices.Contains(device.CoreChecks(), name)
}

// isCheckOfAbsence reports whether a call is a check that a page holds that shows nothing yet.
func isCheckOfAbsence(call tool.Call) bool {
	switch call.Tool {
	case "web_verifyTextNotVisible", "web_verifyElementNotVisible":
		return true
	case "web_verifyCount":
		expected, err := syntax.ParseCountRange(call.Args)
		return err == nil && expected.Holds(0)
	case device.AssertWaypoint:
		w, err := device.ReadWaypoint(call.Args)
		return err == nil && w.HasForbidden()
	}
	return false
}

// isAction reports whether a command does something that a page may respond to by opening another one.
func isAction(name string) bool {
	switch name {
	case "web_scroll", "evaluateJs", "web_evaluate", "web_setClock", "web_resize", "web_switchTab", "web_closeTab",
		"web_applyStorageState", "web_applyCookies", "clearAppData":
		return true
	}
	return actsOnPage(name)
}
