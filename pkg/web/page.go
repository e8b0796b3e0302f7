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
	"github.com/trailblaze/trailblaze/pkg/web/chromium"
	"github.com/trailblaze/trailblaze/pkg/web/network"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// openLimit bounds the opening of a page, which takes 0.1 s, and longer on a busy machine.
const openLimit = 30 * time.Second

// closeLimit bounds the disposal of a context, and the wait for the error page of a navigation that failed.
const closeLimit = 2 * time.Second

// page is a page of a session: a tab. The goroutine that reads from the browser keeps its state up to date; it may be
// read from any goroutine.
type page struct {
	device   *webDevice
	browser  *browser
	notes    *notes.Notes
	context  *browserContext
	target   *cdp.Session // of the page
	targetID string
	firstURL string          // that the page was opened with; may be empty
	openerID string          // id of the target that opened the page; may be empty
	setup    []waitFunc      // the calls that were sent to set up the page
	held     *heldEvents     // of a page that was open before it was attached; nil for a new one
	ctx      context.Context //nolint:containedctx // ends when the page is closed, crashes, or loses its browser
	cancel   context.CancelCauseFunc

	slow            atomic.Bool // the page did not respond at the end of the last call
	scriptsDisabled atomic.Bool
	announced       atomic.Bool // it was noted that the page was opened, or need not be
	blank           atomic.Bool // every request is answered with an empty page
	wasCurrent      atomic.Bool
	awaitsChooser   atomic.Bool // a call answers the next file chooser

	kept atomic.Pointer[keptMoment] // nil if nothing is kept

	timers func(context.Context) // waits for the timers of the action that runs; nil until it has asked for them

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced when anything below changes
	root       *frame
	framesByID map[string]*frame
	activity   activity
	left       int // navigations to another document that were requested, of all frames
	blocked    blockedNavigations
	chooser    *fileChooser // that is open, nil without one
	choosers   int          // that were opened
	// secretLoaders are the loaders of documents that were given a secret.
	secretLoaders map[string]bool
	dragData      json.RawMessage // of the HTML drag that the mouse has begun; nil without one
}

// waitFunc waits for the response to a call that was sent.
type waitFunc func(ctx context.Context, result any) error

// errPageClosed is why a page ended that the browser closed.
var errPageClosed = errors.New("the page was closed")

// newPage returns a page that the connection was attached to, and sends the calls that set it up.
func newPage(c *browserContext, s *cdp.Session, a attachedTarget) *page {
	p := &page{
		device: c.device, browser: c.browser, notes: c.device.notes, context: c, target: s,
		targetID: a.TargetInfo.TargetID, openerID: a.TargetInfo.OpenerID,
		changed: make(chan struct{}), framesByID: map[string]*frame{},
	}
	p.ctx, p.cancel = context.WithCancelCause(c.ctx)
	p.root = &frame{page: p, id: p.targetID, url: "about:blank"}
	p.root.session.to.Store(s)
	p.framesByID[p.root.id] = p.root
	if p.isOpen(a) {
		p.held = p.watchOpenFrames(s)
		p.setup = append(p.setup, p.held.wait)
	} else {
		p.watchFrames(s)
	}
	p.setup = append(p.setup, s.Send("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}))
	if p.device.setsSize() {
		p.setup = append(p.setup, s.Send("Emulation.setDeviceMetricsOverride", p.device.metrics()))
	}
	p.setup = append(p.setup, p.initSession(s)...)
	p.startTrace()
	return p
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
	p.device.network.Pause(s)
	script := map[string]any{"source": p.device.script(), "worldName": p.device.worldName, "runImmediately": true}
	if p.device.session.Live {
		s.Send("Runtime.addBinding", map[string]any{"name": messageBinding, "executionContextName": p.device.worldName})
	}
	var calls []waitFunc
	if p.browser.app == nil { // a window of an app that has not shown anything yet would count as crashed
		calls = p.sendAll(s, "Inspector.enable", nil)
	}
	calls = append(calls, p.sendAll(s,
		"Page.enable", nil,
		"Page.setLifecycleEventsEnabled", map[string]any{"enabled": true},
		"Page.setInterceptFileChooserDialog", map[string]any{"enabled": true},
		"Runtime.enable", nil,
		"Log.enable", nil,
		"Target.setAutoAttach", chromium.AutoAttach("iframe"),
		"Page.addScriptToEvaluateOnNewDocument", script,
		"Network.enable", network.Buffers(),
	)...)
	calls = append(calls, p.emulate(s)...)
	return append(calls, p.device.clock.install(s)...)
}

// watch removes the page from its context when it ends.
func (p *page) watch() {
	select {
	case <-p.ctx.Done():
	case <-p.target.Done():
		p.cancel(errPageClosed)
	}
	p.context.remove(p)
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
	case <-p.browser.Conn.Done():
		p.browser.WaitForExit()
		return p.browser.LostError()
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
	p.device.changes.notify()
}

// onPageEvent handles the events of a session of the page that are not about frames.
func (p *page) onPageEvent(s *cdp.Session, e cdp.Event) {
	p.traceEvent(s, e)
	request, isRequest := notes.ReadRequestEvent(e)
	if isRequest {
		p.device.trace.onRequest(e.Method, request)
	}
	if p.device.session.Live {
		p.device.journal.OnConsole(e, p.device.redact)
		if isRequest {
			p.device.journal.OnRequest(e.Method, request, p.device.redact)
		}
	}
	switch e.Method {
	case "Page.javascriptDialogOpening":
		p.onDialog(s, e)
	case "Page.javascriptDialogClosed":
		p.device.asking.withdraw(p)
	case "Page.windowOpen":
		p.onWindowOpen(e)
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		p.onConsole(e)
	case "Runtime.bindingCalled":
		p.onBinding(s, e)
	case "Fetch.requestPaused":
		p.onRequest(s, e)
	default:
		if e.Method == "Network.loadingFailed" {
			p.onNavigation(e)
		}
		if isRequest {
			if failed := p.device.network.OnRequest(s, e.Method, request); failed != nil {
				p.onServerError(failed)
			}
		}
	}
}

// onWindowOpen remembers the URL of a page that the browser opens next.
func (p *page) onWindowOpen(e cdp.Event) {
	var opening struct{ URL string }
	if e.Decode(&opening) != nil {
		return
	}
	p.context.mu.Lock()
	defer p.context.mu.Unlock()
	p.context.opening = opening.URL
}

// announce notes that the page was opened, when it shows its first document.
func (p *page) announce(url string) {
	if url != "about:blank" && !p.announced.Swap(true) {
		p.notes.Add(notes.Tab, "%s", url)
	}
}

// onCrash handles the end of a process: that of the page, or that of a frame, without which the page continues to run.
func (p *page) onCrash(s *cdp.Session) {
	if s == p.target {
		p.cancel(fault.New(fault.Crashed,
			"the page may need more memory than the machine has, or the browser has a bug",
			"the page %s crashed", p.url()))
		p.browser.Conn.Browser().Send("Target.closeTarget", map[string]any{"targetId": p.targetID})
		return
	}
	p.update(func() {
		for _, f := range p.framesByID {
			if f.session.to.CompareAndSwap(s, nil) {
				f.endWorld()
				p.notes.Add(notes.Crash, "the frame %s crashed", f.url)
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

// emulate sends what a page, or a frame in a process of its own, is told of its device.
func (p *page) emulate(s *cdp.Session) []waitFunc {
	e := p.device.backend.options.emulation
	calls := p.sendAll(s, e.Calls()...)
	if e.Locale != "" {
		// It fails when another page in the same process has set it already.
		s.Send("Emulation.setLocaleOverride", map[string]any{"locale": e.Locale})
	}
	return calls
}

// redact removes the secrets of the pages and of the session from a text.
func (d *webDevice) redact(text string) string {
	text = d.notes.Redact(text)
	if d.session.Redact != nil {
		text = d.session.Redact(text)
	}
	return text
}
