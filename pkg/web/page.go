package web

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// openLimit is for a machine that is busy with other browsers; opening takes 0.1 s.
const openLimit = 30 * time.Second

// page is the page that a session sees, in a browser context of its own. What is told by events is kept here by the goroutine that reads
// from the browser; anybody may read it.
type page struct {
	device    *webDevice
	browser   *browser
	notes     *notes
	context   string          // id of the browser context
	target    *cdp.Session    // of the page; set before ready is sent
	setupSent chan []response // to what was asked of the page when it appeared
	ctx       context.Context //nolint:containedctx // ends when the page or its browser is gone, or is closed
	cancel    context.CancelCauseFunc
	watcher   sync.WaitGroup

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced when anything below changes
	root       *frame
	framesByID map[string]*frame
	dialogs    dialogPolicy
}

// response waits for what a call returns.
type response func(ctx context.Context, result any) error

// dialogPolicy is what dialogs get.
type dialogPolicy struct {
	accept bool
	text   string // for a prompt
}

// errPageClosed is why a tab is lost that we closed.
var errPageClosed = errors.New("the page was closed")

// open opens a tab in a context of its own.
func (b *browser) open(ctx context.Context, d *webDevice) (*page, error) {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	var made struct{ BrowserContextID string }
	err := b.conn.Browser().Call(ctx, "Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &made)
	if err != nil {
		return nil, b.openError(err)
	}
	t := &page{
		device: d, browser: b, notes: d.notes, context: made.BrowserContextID, setupSent: make(chan []response, 1),
		changed: make(chan struct{}), framesByID: map[string]*frame{},
	}
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	b.mu.Lock()
	b.pages[t.context] = t
	b.mu.Unlock()
	if err := t.create(ctx); err != nil {
		t.close()
		return nil, b.openError(err)
	}
	t.watcher.Go(t.watch)
	return t, nil
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
	case answers := <-p.setupSent:
		for _, a := range append(answers, response(downloads)) {
			if err := a(ctx, nil); err != nil {
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

// openError says why no tab could be opened.
func (b *browser) openError(cause error) error {
	select {
	case <-b.conn.Done():
		b.waitForExit()
		return b.lostError()
	default:
		return fault.New(fault.Crashed, "", "the browser %s opens no page: %v", b.name, cause)
	}
}

// onAttached gets the first page of the context, which is ours, and those that it opens.
func (p *page) onAttached(s *cdp.Session, a attachedTarget) {
	defer func() { s.Send("Runtime.runIfWaitingForDebugger", nil) }()
	if p.target != nil {
		s.Listen(func(e cdp.Event) { p.onPageEvent(s, e) })
		p.sendAll(s, "Page.enable", nil, "Runtime.enable", nil, "Log.enable", nil)
		return
	}
	p.target = s
	p.root = &frame{page: p, id: a.TargetInfo.TargetID, url: "about:blank"}
	p.root.session.to.Store(s)
	p.framesByID[p.root.id] = p.root
	p.watchFrames(s)
	answers := p.sendAll(s,
		"Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true},
		"Emulation.setDeviceMetricsOverride", metrics(p.device.Size()),
	)
	p.setupSent <- append(answers, p.initSession(s)...)
}

func metrics(width, height int) map[string]any {
	return map[string]any{
		"width": width, "height": height, "screenWidth": width, "screenHeight": height, "deviceScaleFactor": 1, "mobile": false,
	}
}

// sendAll begins calls, given as pairs of method and parameters.
func (p *page) sendAll(s *cdp.Session, pairs ...any) []response {
	var answers []response
	for i := 0; i < len(pairs); i += 2 {
		method, _ := pairs[i].(string)
		answers = append(answers, s.Send(method, pairs[i+1]))
	}
	return answers
}

// initSession makes a page, or a frame in a process of its own, tell of what happens in it and have our script in every document.
func (p *page) initSession(s *cdp.Session) []response {
	return p.sendAll(s,
		"Inspector.enable", nil,
		"Page.enable", nil,
		"Page.setLifecycleEventsEnabled", map[string]any{"enabled": true},
		"Runtime.enable", nil,
		"Log.enable", nil,
		"Target.setAutoAttach", autoAttach("iframe"),
		"Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script, "worldName": worldName, "runImmediately": true},
	)
}

// watch tells the session when the page is gone.
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

// closed says whether the tab is lost, also when we are just about to hear of it.
func (p *page) closed() bool {
	select {
	case <-p.target.Done():
		<-p.ctx.Done()
		return true
	default:
		return p.ctx.Err() != nil
	}
}

// errSessionClosed is why a tab is lost that its session closed.
var errSessionClosed = errors.New("the session has ended")

// closeError says why the tab is lost: an error of kind Cancelled when its session closed it, else Crashed.
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
	return fault.New(fault.Crashed, "", "the page is gone: %v", cause)
}

// close ends the tab with everything that its context holds. It waits for no answer of a browser of our own.
func (p *page) close() {
	p.cancel(errSessionClosed)
	p.watcher.Wait()
	p.keepDownloads()
	p.browser.mu.Lock()
	delete(p.browser.pages, p.context)
	p.browser.mu.Unlock()
	disposed := p.browser.conn.Browser().Send("Target.disposeBrowserContext", map[string]any{"browserContextId": p.context})
	if p.browser.process == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), closeLimit)
		defer cancel()
		_ = disposed(ctx, nil)
	}
}

// waitUntil waits until something that events tell of holds. done is called with t.mu held.
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

// update changes what events tell of.
func (p *page) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.changed)
	p.changed = make(chan struct{})
}

// onPageEvent hears what happens in pages that our page opened.
func (p *page) onPageEvent(s *cdp.Session, e cdp.Event) {
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
	}
}

// onDialog answers a dialog at once: while it is open, scripts of the page do not run. A beforeunload dialog is always accepted.
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

// onCrash is heard when the process of the page has died, or that of a frame, which the page can do without.
func (p *page) onCrash(s *cdp.Session) {
	if s == p.target {
		p.cancel(fault.New(fault.Crashed, "the page may need more memory than there is, or have met a bug of the browser",
			"the page %s has crashed", p.url()))
		return
	}
	p.update(func() {
		for _, f := range p.framesByID {
			if f.session.to.CompareAndSwap(s, nil) {
				f.endWorld()
				p.notes.add(noteConsole, "the frame %s has crashed", f.url)
			}
		}
	})
}

// url is where the page is.
func (p *page) url() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root.url
}

// downloadBehavior lets a browser of our own save files, beside its profile. Where another one would put them is not ours to say.
func (p *page) downloadBehavior() map[string]any {
	params := map[string]any{"behavior": "default", "browserContextId": p.context, "eventsEnabled": true}
	if p.browser.folder != "" {
		params["behavior"], params["downloadPath"] = "allowAndName", p.browser.folder
	}
	return params
}
