package web

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// openLimit bounds the opening of a page, which takes 0.1 s, and longer on a busy machine.
const openLimit = 30 * time.Second

// page is the page of a session, in a browser context of its own. The goroutine that reads from the browser keeps its
// state up to date; it may be read from any goroutine.
type page struct {
	device    *webDevice
	browser   *browser
	notes     *notes
	context   string          // id of the browser context
	target    *cdp.Session    // of the page; set before setupSent receives
	setupSent chan []waitFunc // receives the calls that were sent to set up the page
	ctx       context.Context //nolint:containedctx // ends when the page is closed, crashes, or loses its browser
	cancel    context.CancelCauseFunc
	watcher   sync.WaitGroup

	slow            atomic.Bool // the page did not respond at the end of the last call
	scriptsDisabled atomic.Bool
	filesChecked    atomic.Bool // requests for files are paused

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced when anything below changes
	root       *frame
	framesByID map[string]*frame
	dialogs    dialogPolicy
	activity   activity
	blocked    blockedNavigations
	chooser    *fileChooser    // that is open, nil without one
	choosers   int             // that were opened
	dragData   json.RawMessage // of the HTML drag that the mouse has begun; nil without one
}

// waitFunc waits for the response to a call that was sent.
type waitFunc func(ctx context.Context, result any) error

// dialogPolicy is how dialogs are handled.
type dialogPolicy struct {
	accept bool
	text   string // for a prompt
}

// errPageClosed is why a page ended that the browser closed.
var errPageClosed = errors.New("the page was closed")

// open opens a page in a new browser context.
func (b *browser) open(ctx context.Context, d *webDevice) (*page, error) {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	var made struct{ BrowserContextID string }
	err := b.conn.Browser().Call(ctx, "Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &made)
	if err != nil {
		return nil, b.openError(err)
	}
	p := &page{
		device: d, browser: b, notes: d.notes, context: made.BrowserContextID, setupSent: make(chan []waitFunc, 1),
		changed: make(chan struct{}), framesByID: map[string]*frame{},
	}
	p.ctx, p.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	b.mu.Lock()
	b.pages[p.context] = p
	b.mu.Unlock()
	if err := p.create(ctx); err != nil {
		p.close()
		return nil, b.openError(err)
	}
	p.watcher.Go(p.watch)
	return p, nil
}

// create creates the page and waits until it is set up.
func (p *page) create(ctx context.Context) error {
	s := p.browser.conn.Browser()
	downloads := s.Send("Browser.setDownloadBehavior", p.downloadBehavior())
	params := map[string]any{"url": "about:blank", "browserContextId": p.context}
	if p.browser.headed {
		params["width"], params["height"] = p.device.Size()
	}
	if err := s.Call(ctx, "Target.createTarget", params, nil); err != nil {
		return err
	}
	select {
	case calls := <-p.setupSent:
		for _, wait := range append(calls, waitFunc(downloads)) {
			if err := wait(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	case <-p.browser.conn.Done():
		return p.browser.conn.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// openError is the error when no page could be opened.
func (b *browser) openError(cause error) error {
	select {
	case <-b.conn.Done():
		b.waitForExit()
		return b.lostError()
	default:
		return fault.New(fault.Crashed, "", "the browser %s could not open a page: %v", b.name, cause)
	}
}

// maxPopups is how many pages a session may open beside its own. Further ones are closed, because each takes a process.
const maxPopups = 100

// onAttached sets up the first page of the browser context, which is p, and those that it opens.
func (p *page) onAttached(s *cdp.Session, a attachedTarget) {
	defer func() { s.Send("Runtime.runIfWaitingForDebugger", nil) }()
	if p.target != nil {
		p.onPopup(s, a.TargetInfo.TargetID)
		return
	}
	p.target = s
	p.root = &frame{page: p, id: a.TargetInfo.TargetID, url: "about:blank"}
	p.root.session.to.Store(s)
	p.framesByID[p.root.id] = p.root
	p.watchFrames(s)
	calls := p.sendAll(s,
		"Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true},
		"Emulation.setDeviceMetricsOverride", metrics(p.device.Size()),
	)
	p.setupSent <- append(calls, p.initSession(s)...)
}

// onPopup sets up a page that the page opened.
func (p *page) onPopup(s *cdp.Session, targetID string) {
	opened := 0
	p.update(func() {
		p.activity.popups++
		opened = p.activity.popups
	})
	if opened > maxPopups {
		p.browser.conn.Browser().Send("Target.closeTarget", map[string]any{"targetId": targetID})
		p.notes.add(noteTab, "closed, because the page had opened %d others", opened-1)
		return
	}
	s.Listen(func(e cdp.Event) { p.onPageEvent(s, e, targetID) })
	p.pauseRequests(s)
	p.sendAll(s, "Page.enable", nil, "Runtime.enable", nil, "Log.enable", nil)
}

// metrics are the parameters that set the size of a page.
func metrics(width, height int) map[string]any {
	return map[string]any{
		"width":             width,
		"height":            height,
		"screenWidth":       width,
		"screenHeight":      height,
		"deviceScaleFactor": 1,
		"mobile":            false,
	}
}

// sendAll sends calls, given as pairs of method and parameters.
func (p *page) sendAll(s *cdp.Session, pairs ...any) []waitFunc {
	var calls []waitFunc
	for i := 0; i < len(pairs); i += 2 {
		method, _ := pairs[i].(string)
		calls = append(calls, s.Send(method, pairs[i+1]))
	}
	return calls
}

// initSession enables the events of a page, or of a frame in a process of its own, and registers page.js for every
// document.
func (p *page) initSession(s *cdp.Session) []waitFunc {
	p.pauseRequests(s)
	script := map[string]any{"source": p.device.backend.script, "worldName": worldName, "runImmediately": true}
	return p.sendAll(s,
		"Inspector.enable", nil,
		"Page.enable", nil,
		"Page.setLifecycleEventsEnabled", map[string]any{"enabled": true},
		"Page.setInterceptFileChooserDialog", map[string]any{"enabled": true},
		"Runtime.enable", nil,
		"Log.enable", nil,
		"Target.setAutoAttach", autoAttach("iframe"),
		"Page.addScriptToEvaluateOnNewDocument", script,
	)
}

// watch ends the session when the page ends.
func (p *page) watch() {
	select {
	case <-p.ctx.Done():
	case <-p.target.Done():
		p.cancel(errPageClosed)
	case <-p.browser.conn.Done():
		p.cancel(p.browser.conn.Err())
	}
	if err := p.closeError(); err.Kind != fault.Cancelled {
		p.device.session.Broken(err)
	}
}

// closed reports whether the page has ended.
func (p *page) closed() bool {
	select {
	case <-p.target.Done():
		<-p.ctx.Done()
		return true
	default:
		return p.ctx.Err() != nil
	}
}

// errSessionClosed is why a page ended that its session closed.
var errSessionClosed = errors.New("the session has ended")

// closeError returns why the page ended: an error of kind Cancelled when its session closed it, else Crashed.
func (p *page) closeError() *fault.Error {
	cause := context.Cause(p.ctx)
	if errors.Is(cause, errSessionClosed) {
		return fault.Wrap(fault.Cancelled, cause, "", "the page was closed")
	}
	select {
	case <-p.browser.conn.Done():
		p.browser.waitForExit()
		return p.browser.lostError()
	default:
	}
	switch {
	case errors.Is(cause, errPageClosed):
		return fault.New(fault.Crashed, "the page may have closed itself with window.close()", "the page was closed")
	case fault.As(cause) != nil:
		return fault.As(cause)
	}
	return fault.New(fault.Crashed, "", "the connection to the page was lost: %v", cause)
}

// close closes the page and disposes its browser context. It does not wait for a browser that this process started,
// which is killed at the end.
func (p *page) close() {
	p.cancel(errSessionClosed)
	p.watcher.Wait()
	p.keepDownloads()
	p.browser.mu.Lock()
	delete(p.browser.pages, p.context)
	p.browser.mu.Unlock()
	disposed := p.browser.conn.Browser().
		Send("Target.disposeBrowserContext", map[string]any{"browserContextId": p.context})
	if p.browser.process == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), closeLimit)
		defer cancel()
		_ = disposed(ctx, nil)
	}
}

// waitUntil waits until done returns true. done is called with p.mu held, after every change that events report.
func (p *page) waitUntil(ctx context.Context, done func() bool) error {
	for {
		p.mu.Lock()
		held, changed := done(), p.changed
		p.mu.Unlock()
		if held {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// update changes what p.mu guards.
func (p *page) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.changed)
	p.changed = make(chan struct{})
}

// onPageEvent notes dialogs, downloads, other pages and errors, and handles paused requests. mainFrame is the id of the
// main frame of the page that the event is about.
func (p *page) onPageEvent(s *cdp.Session, e cdp.Event, mainFrame string) {
	switch e.Method {
	case "Page.javascriptDialogOpening":
		p.onDialog(s, e)
	case "Page.downloadWillBegin", "Page.downloadProgress":
		p.notes.download(e)
	case "Page.frameNavigated":
		var params struct {
			Frame struct{ ParentID, URL string }
		}
		if e.Decode(&params) == nil && params.Frame.ParentID == "" {
			p.notes.add(noteTab, "%s", params.Frame.URL)
		}
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		p.notes.console(e)
	case "Fetch.requestPaused":
		p.onRequest(s, e, mainFrame)
	}
}

// onDialog accepts or dismisses a dialog at once: while it is open, scripts of the page do not run. A beforeunload
// dialog is always accepted.
func (p *page) onDialog(s *cdp.Session, e cdp.Event) {
	var dialog struct{ Type, Message, DefaultPrompt string }
	if e.Decode(&dialog) != nil {
		return
	}
	p.mu.Lock()
	policy := p.dialogs
	p.mu.Unlock()
	if dialog.Type == "beforeunload" {
		policy = dialogPolicy{accept: true}
	}
	params := map[string]any{"accept": policy.accept}
	if dialog.Type == "prompt" && policy.accept {
		params["promptText"] = policy.text
	}
	s.Send("Page.handleJavaScriptDialog", params)
	p.notes.dialog(dialog.Type, dialog.Message, policy.accept)
}

// onCrash handles the end of a process: that of the page, or that of a frame, without which the page continues to run.
func (p *page) onCrash(s *cdp.Session) {
	if s == p.target {
		p.cancel(fault.New(fault.Crashed,
			"the page may need more memory than the machine has, or the browser has a bug",
			"the page %s crashed", p.url()))
		return
	}
	p.update(func() {
		for _, f := range p.framesByID {
			if f.session.to.CompareAndSwap(s, nil) {
				f.endWorld()
				p.notes.add(noteConsole, "the frame %s crashed", f.url)
			}
		}
	})
}

// url returns the URL of the page.
func (p *page) url() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root.url
}

// downloadBehavior makes a browser that this process started save files beside its profile. Another browser keeps its
// own folder.
func (p *page) downloadBehavior() map[string]any {
	params := map[string]any{"behavior": "default", "browserContextId": p.context, "eventsEnabled": true}
	if p.browser.folder != "" {
		params["behavior"], params["downloadPath"] = "allowAndName", p.browser.folder
	}
	return params
}
