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

// tab is the page that a session sees, in a browser context of its own. What is told by events is kept here by the goroutine that reads
// from the browser; anybody may read it.
type tab struct {
	device  *page
	browser *browser
	notes   *notes
	context string          // id of the browser context
	page    *cdp.Session    // of the page; set before ready is sent
	ready   chan []answer   // to what was asked of the page when it appeared
	lost    context.Context //nolint:containedctx // ends when the page or its browser is gone, or is closed
	lose    context.CancelCauseFunc
	watcher sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when anything below changes
	root    *frame
	byID    map[string]*frame
	policy  dialogPolicy
}

// answer waits for what a call returns.
type answer func(ctx context.Context, result any) error

// dialogPolicy is what dialogs get.
type dialogPolicy struct {
	accept bool
	text   string // for a prompt
}

// errClosed is why a tab is lost that we closed.
var errClosed = errors.New("the page was closed")

// open opens a tab in a context of its own.
func (b *browser) open(ctx context.Context, d *page) (*tab, error) {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	var made struct{ BrowserContextID string }
	err := b.conn.Browser().Call(ctx, "Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &made)
	if err != nil {
		return nil, b.unopened(err)
	}
	t := &tab{
		device: d, browser: b, notes: d.notes, context: made.BrowserContextID, ready: make(chan []answer, 1),
		changed: make(chan struct{}), byID: map[string]*frame{},
	}
	t.lost, t.lose = context.WithCancelCause(context.WithoutCancel(ctx))
	b.mu.Lock()
	b.tabs[t.context] = t
	b.mu.Unlock()
	if err := t.begin(ctx); err != nil {
		t.close()
		return nil, b.unopened(err)
	}
	t.watcher.Go(t.watch)
	return t, nil
}

// begin creates the page and waits until it is set up.
func (t *tab) begin(ctx context.Context) error {
	s := t.browser.conn.Browser()
	downloads := s.Begin("Browser.setDownloadBehavior", t.downloadBehavior())
	params := map[string]any{"url": "about:blank", "browserContextId": t.context}
	if t.browser.headed {
		params["width"], params["height"] = t.device.Size()
	}
	if err := s.Call(ctx, "Target.createTarget", params, nil); err != nil {
		return err
	}
	select {
	case answers := <-t.ready:
		for _, a := range append(answers, answer(downloads)) {
			if err := a(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	case <-t.browser.conn.Done():
		return t.browser.conn.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unopened says why no tab could be opened.
func (b *browser) unopened(cause error) error {
	select {
	case <-b.conn.Done():
		b.await()
		return b.gone()
	default:
		return fault.New(fault.Crashed, "", "the browser %s opens no page: %v", b.name, cause)
	}
}

// attached gets the first page of the context, which is ours, and those that it opens.
func (t *tab) attached(s *cdp.Session, a attached) {
	defer func() { s.Begin("Runtime.runIfWaitingForDebugger", nil) }()
	if t.page != nil {
		s.Listen(func(e cdp.Event) { t.heardBeside(s, e) })
		t.ask(s, "Page.enable", nil, "Runtime.enable", nil, "Log.enable", nil)
		return
	}
	t.page = s
	t.root = &frame{tab: t, id: a.TargetInfo.TargetID, url: "about:blank"}
	t.root.session.to.Store(s)
	t.byID[t.root.id] = t.root
	t.watchFrames(s)
	answers := t.ask(s,
		"Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true},
		"Emulation.setDeviceMetricsOverride", metrics(t.device.Size()),
	)
	t.ready <- append(answers, t.set(s)...)
}

func metrics(width, height int) map[string]any {
	return map[string]any{
		"width": width, "height": height, "screenWidth": width, "screenHeight": height, "deviceScaleFactor": 1, "mobile": false,
	}
}

// ask begins calls, given as pairs of method and parameters.
func (t *tab) ask(s *cdp.Session, pairs ...any) []answer {
	var answers []answer
	for i := 0; i < len(pairs); i += 2 {
		method, _ := pairs[i].(string)
		answers = append(answers, s.Begin(method, pairs[i+1]))
	}
	return answers
}

// set makes a page, or a frame in a process of its own, tell of what happens in it and have our script in every document.
func (t *tab) set(s *cdp.Session) []answer {
	return t.ask(s,
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
func (t *tab) watch() {
	select {
	case <-t.lost.Done():
	case <-t.page.Done():
		t.lose(errClosed)
	case <-t.browser.conn.Done():
		t.lose(t.browser.conn.Err())
	}
	if err := t.end(); err.Kind != fault.Cancelled {
		t.device.session.Broken(err)
	}
}

// over says whether the tab is lost, also when we are just about to hear of it.
func (t *tab) over() bool {
	select {
	case <-t.page.Done():
		<-t.lost.Done()
		return true
	default:
		return t.lost.Err() != nil
	}
}

// errShut is why a tab is lost that its session closed.
var errShut = errors.New("the session has ended")

// end says why the tab is lost: an error of kind Cancelled when its session closed it, else Crashed.
func (t *tab) end() *fault.Error {
	cause := context.Cause(t.lost)
	if errors.Is(cause, errShut) {
		return fault.Wrap(fault.Cancelled, cause, "", "the page was closed")
	}
	select {
	case <-t.browser.conn.Done():
		t.browser.await()
		return t.browser.gone()
	default:
	}
	switch {
	case errors.Is(cause, errClosed):
		return fault.New(fault.Crashed, "the page may have closed itself with window.close()", "the page was closed")
	case fault.As(cause) != nil:
		return fault.As(cause)
	}
	return fault.New(fault.Crashed, "", "the page is gone: %v", cause)
}

// close ends the tab with everything that its context holds. It waits for no answer of a browser of our own.
func (t *tab) close() {
	t.lose(errShut)
	t.watcher.Wait()
	t.keepDownloads()
	t.browser.mu.Lock()
	delete(t.browser.tabs, t.context)
	t.browser.mu.Unlock()
	disposed := t.browser.conn.Browser().Begin("Target.disposeBrowserContext", map[string]any{"browserContextId": t.context})
	if t.browser.process == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.lost), closeLimit)
		defer cancel()
		_ = disposed(ctx, nil)
	}
}

// wait waits until something that events tell of holds. done is called with t.mu held.
func (t *tab) wait(ctx context.Context, done func() bool) error {
	for {
		t.mu.Lock()
		held, changed := done(), t.changed
		t.mu.Unlock()
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
func (t *tab) update(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	close(t.changed)
	t.changed = make(chan struct{})
}

// heardBeside hears what happens in pages that our page opened.
func (t *tab) heardBeside(s *cdp.Session, e cdp.Event) {
	switch e.Method {
	case "Page.javascriptDialogOpening":
		t.dialog(s, e)
	case "Page.downloadWillBegin", "Page.downloadProgress":
		t.notes.download(e)
	case "Page.frameNavigated":
		var p struct {
			Frame struct{ ParentID, URL string }
		}
		if e.Decode(&p) == nil && p.Frame.ParentID == "" {
			t.notes.add(noteTab, "%s", p.Frame.URL)
		}
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		t.notes.console(e)
	}
}

// dialog answers a dialog at once: as long as it is open, the page and everything that looks at it stand still. Only who would leave
// the page is always let go.
func (t *tab) dialog(s *cdp.Session, e cdp.Event) {
	var d struct{ Type, Message, DefaultPrompt string }
	if e.Decode(&d) != nil {
		return
	}
	t.mu.Lock()
	p := t.policy
	t.mu.Unlock()
	if d.Type == "beforeunload" {
		p = dialogPolicy{accept: true}
	}
	params := map[string]any{"accept": p.accept}
	if d.Type == "prompt" && p.accept {
		params["promptText"] = p.text
	}
	s.Begin("Page.handleJavaScriptDialog", params)
	t.notes.dialog(d.Type, d.Message, p.accept)
}

// crashed is heard when the process of the page has died, or that of a frame, which the page can do without.
func (t *tab) crashed(s *cdp.Session) {
	if s == t.page {
		t.lose(fault.New(fault.Crashed, "the page may need more memory than there is, or have met a bug of the browser",
			"the page %s has crashed", t.address()))
		return
	}
	t.update(func() {
		for _, f := range t.byID {
			if f.session.to.CompareAndSwap(s, nil) {
				f.forgetWorld()
				t.notes.add(noteConsole, "the frame %s has crashed", f.url)
			}
		}
	})
}

// address is where the page is.
func (t *tab) address() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.root.url
}

// downloadBehavior lets a browser of our own save files, beside its profile. Where another one would put them is not ours to say.
func (t *tab) downloadBehavior() map[string]any {
	params := map[string]any{"behavior": "default", "browserContextId": t.context, "eventsEnabled": true}
	if t.browser.folder != "" {
		params["behavior"], params["downloadPath"] = "allowAndName", t.browser.folder
	}
	return params
}
