package web

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/storage"
)

// browserContext is the browser context of a session. Its pages share cookies and storage. One of them is the current
// one, on which commands act. It may be used from any goroutine.
type browserContext struct {
	device   *webDevice
	browser  *browser
	id       string
	ctx      context.Context //nolint:containedctx // ends when the context is closed or loses its browser
	cancel   context.CancelCauseFunc
	watchers sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	pages   []*page         // that are open, in the order in which they were opened
	current *page           // nil after it closed itself
	last    *page           // the one that was current last
	front   *page           // the one that the browser shows; nil if it is not known
	opened  int             // how many pages were opened by pages
	opening string          // the URL of the page that is about to be opened
	targets map[string]bool // ids of all that were attached
	origins []string        // of the pages and frames that were shown
}

// notifier wakes up those that wait for a change. The zero value is ready to use.
type notifier struct {
	mu      sync.Mutex
	changed chan struct{}
}

// notify closes the channels that channel has returned.
func (s *notifier) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// channel returns a channel that is closed at the next change.
func (s *notifier) channel() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// waitUntil waits until done returns true. done is called again after every change that notify was called for.
func (s *notifier) waitUntil(ctx context.Context, done func() bool) error {
	for {
		changed := s.channel()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// waitPolling is waitUntil for a condition that may also begin to hold without a call of notify.
func (s *notifier) waitPolling(ctx context.Context, done func() bool) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		changed := s.channel()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// open creates a browser context with a page. With state, it has the cookies and the storage that the device was
// configured with.
func (b *browser) open(ctx context.Context, d *webDevice, state *storage.State) (*browserContext, error) {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	var made struct{ BrowserContextID string }
	err := b.Conn.Browser().Call(ctx, "Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &made)
	if err != nil {
		return nil, b.openError(err)
	}
	c := b.newContext(ctx, d, made.BrowserContextID)
	if err := c.create(ctx, state); err != nil {
		c.close()
		return nil, b.openError(err)
	}
	c.watchers.Go(c.watch)
	return c, nil
}

// newContext adds a context. ctx does not end it.
func (b *browser) newContext(ctx context.Context, d *webDevice, id string) *browserContext {
	c := &browserContext{device: d, browser: b, id: id, targets: map[string]bool{}}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.contexts[id] = c
	return c
}

// create sets up the context and opens its first page.
func (c *browserContext) create(ctx context.Context, state *storage.State) error {
	calls := []waitFunc{c.browser.Conn.Browser().Send("Browser.setDownloadBehavior", c.downloadBehavior())}
	if granted := c.device.backend.options.emulation.Granted(); granted != nil {
		calls = append(calls, c.grant(granted))
	}
	p, err := c.newPage(ctx)
	if err != nil {
		return err
	}
	c.makeCurrent(p)
	for _, wait := range calls {
		if err := wait(ctx, nil); err != nil {
			return err
		}
	}
	if state == nil {
		return nil
	}
	_, err = c.applyState(ctx, *state)
	return err
}

func (c *browserContext) grant(permissions []string) waitFunc {
	return c.browser.Conn.Browser().Send("Browser.grantPermissions", c.scoped(map[string]any{"permissions": permissions}))
}

// newPage opens a page and waits until it is set up.
func (c *browserContext) newPage(ctx context.Context) (*page, error) {
	params := map[string]any{"url": "about:blank", "browserContextId": c.id}
	if c.browser.Headed {
		params["width"], params["height"] = c.device.Size()
	}
	var created struct{ TargetID string }
	if err := c.browser.Conn.Browser().Call(ctx, "Target.createTarget", params, &created); err != nil {
		return nil, err
	}
	p, err := c.waitForSetup(ctx, func() *page { return c.pageOfTarget(created.TargetID) })
	if err != nil {
		c.browser.Conn.Browser().Send("Target.closeTarget", map[string]any{"targetId": created.TargetID})
	}
	return p, err
}

// waitForSetup waits until a page is attached and set up. find returns nil while there is none.
func (c *browserContext) waitForSetup(ctx context.Context, find func() *page) (p *page, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer c.browser.onClosed(cancel)()
	err = c.device.changes.waitUntil(ctx, func() bool {
		p = find()
		return p != nil
	})
	if err != nil {
		return nil, err
	}
	for _, wait := range p.setup {
		if err := wait(ctx, nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// onClosed calls f with the reason when the connection is closed, until stop is called.
func (b *browser) onClosed(f func(error)) (stop func()) {
	stopped := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-b.Conn.Done():
			f(b.Conn.Err())
		case <-stopped:
		}
	})
	return func() {
		close(stopped)
		watcher.Wait()
	}
}

// pageOfTarget returns the open page with a target id; nil if there is none.
func (c *browserContext) pageOfTarget(id string) *page {
	for _, p := range c.openPages() {
		if p.targetID == id {
			return p
		}
	}
	return nil
}

// openPages returns the open pages in the order in which they were opened.
func (c *browserContext) openPages() []*page {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.pages), (*page).closed)
}

// currentPage returns the current page; nil after it closed itself.
func (c *browserContext) currentPage() *page {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// lastPage returns the current page, or the one that was current last.
func (c *browserContext) lastPage() *page {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// makeCurrent makes commands act on a page.
func (c *browserContext) makeCurrent(p *page) {
	c.mu.Lock()
	c.current, c.last = p, p
	c.mu.Unlock()
	p.wasCurrent.Store(true)
	c.bringToFront(p)
	c.device.changes.notify()
}

// bringToFront makes the browser show a page, unless it does: one that is covered by another is drawn slowly or not at
// all.
func (c *browserContext) bringToFront(p *page) {
	c.mu.Lock()
	covered := c.front != p
	c.front = p
	c.mu.Unlock()
	if covered {
		p.target.Send("Page.bringToFront", nil)
	}
}

func (c *browserContext) setFront(p *page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.front = p
}

// maxPopups is how many pages a session may open beside its own. Further ones are closed, because each takes a process.
const maxPopups = 100

// onAttached sets up a new page of the context before it runs scripts, or closes it. A further session of a page is
// left to the one that asked for it.
func (c *browserContext) onAttached(s *cdp.Session, a attachedTarget) {
	if c.isAttached(a.TargetInfo.TargetID) {
		return
	}
	allowed := c.add(s, a)
	s.Send("Runtime.runIfWaitingForDebugger", nil)
	if !allowed { // a page that was closed while it waited would block the page that opened it
		c.browser.Conn.Browser().Send("Target.closeTarget", map[string]any{"targetId": a.TargetInfo.TargetID})
	}
}

// isAttached reports whether a page has a session.
func (c *browserContext) isAttached(targetID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.targets[targetID]
}

// add adds a new page, unless too many were opened.
func (c *browserContext) add(s *cdp.Session, a attachedTarget) (allowed bool) {
	c.mu.Lock()
	closed, first, opened := c.closed, len(c.targets) == 0, c.opened
	c.targets[a.TargetInfo.TargetID] = true
	if !first {
		c.opened++
	}
	c.mu.Unlock()
	if closed {
		return true
	}
	if opened >= maxPopups {
		c.setFront(nil)
		c.device.notes.Add(notes.Tab, "closed, because the page had opened %d others", opened)
		return false
	}
	p := newPage(c, s, a)
	p.announced.Store(first || p.held != nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	p.firstURL, c.opening = c.opening, ""
	if c.closed {
		return true
	}
	c.pages = append(c.pages, p)
	if p.held == nil { // the browser shows a new page; windows of an app may be anywhere
		c.front = p
	}
	c.watchers.Go(p.watch)
	if p.held != nil {
		c.watchers.Go(func() { p.adopt(s, p.held) })
	}
	c.device.changes.notify()
	return true
}

// hide removes a page from the tabs of the session: it is one that trailblaze opened for itself.
func (c *browserContext) hide(p *page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.announced.Store(true)
	c.opened--
	c.front = p
	c.pages = slices.DeleteFunc(c.pages, func(other *page) bool { return other == p })
}

// remove removes a page that was closed or has crashed. The session ends with its last page, and with the current one
// if that crashed.
func (c *browserContext) remove(p *page) {
	c.mu.Lock()
	i := slices.Index(c.pages, p)
	if c.closed || i < 0 || c.browser.Conn.Err() != nil {
		c.mu.Unlock()
		return
	}
	c.pages = slices.Delete(slices.Clone(c.pages), i, i+1)
	wasCurrent, left := c.current == p, len(c.pages)
	if wasCurrent {
		c.current = nil
	}
	if c.front == p {
		c.front = nil
	}
	c.mu.Unlock()
	crashed := p.closeError().Kind == fault.Crashed && !errors.Is(context.Cause(p.ctx), errPageClosed)
	switch {
	case crashed:
		c.device.notes.Add(notes.Crash, "the page %s crashed", p.url())
	case left > 0 && wasCurrent:
		c.device.notes.Add(notes.ClosedTab, "%s closed itself", p.url())
	}
	if left == 0 || crashed && wasCurrent {
		c.device.session.Broken(p.closeError())
	}
	c.device.changes.notify()
}

// watch ends the session when the connection to the browser is lost.
func (c *browserContext) watch() {
	select {
	case <-c.ctx.Done():
	case <-c.browser.Conn.Done():
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		c.cancel(c.browser.Conn.Err())
		c.browser.WaitForExit()
		c.device.session.Broken(c.browser.LostError())
	}
}

// openError is the error when no page could be opened.
func (b *browser) openError(cause error) error {
	select {
	case <-b.Conn.Done():
		b.WaitForExit()
		return b.LostError()
	default:
	}
	if known := fault.As(cause); known != nil {
		return known
	}
	return fault.New(fault.Crashed, "", "the browser %s could not open a page: %v", b.Name, cause)
}

// noCurrentPage says why a command cannot act on a page that was current: an error of kind ToolFailed if it closed
// itself and another page is open.
func (c *browserContext) noCurrentPage(last *page) *fault.Error {
	err, open := last.closeError(), c.openPages()
	if len(open) == 0 || c.browser.Conn.Err() != nil || !errors.Is(context.Cause(last.ctx), errPageClosed) {
		return err
	}
	return fault.New(fault.ToolFailed, "web_switchTab makes another tab current; open: "+tabList(open),
		"no tab is current: the tab %s closed itself", last.url())
}

// close closes the pages and disposes the browser context. It does not wait for a browser that this process started,
// which is killed at the end.
func (c *browserContext) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel(errSessionClosed)
	c.watchers.Wait()
	c.browser.mu.Lock()
	delete(c.browser.contexts, c.id)
	c.browser.mu.Unlock()
	if c.browser.app != nil {
		return
	}
	disposed := c.browser.Conn.Browser().
		Send("Target.disposeBrowserContext", map[string]any{"browserContextId": c.id})
	if !c.browser.Started() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), closeLimit)
		defer cancel()
		_ = disposed(ctx, nil)
	}
}
