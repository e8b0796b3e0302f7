package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/access"
	"github.com/trailblaze/trailblaze/pkg/web/chromium"
	"github.com/trailblaze/trailblaze/pkg/web/downloads"
	"github.com/trailblaze/trailblaze/pkg/web/network"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/storage"
)

// webDevice is the device of a session. It implements device.Device.
type webDevice struct {
	backend  *backend
	session  device.Session
	notes    *notes.Notes
	limits   limits
	files    *access.Files
	origins  *access.Origins
	app      *chromium.App   // that the session starts, or connects to; nil for a browser
	appErr   error           // why app cannot be used
	starting atomic.Bool     // app has not shown its first document, and may open any
	callSlot chan struct{}   // holds a value while a call runs
	ctx      context.Context //nolint:containedctx // ends when the device is closed
	cancel   context.CancelFunc

	// worldName is the name of the isolated world in which page.js runs. Pages cannot see it. Another client of the same
	// app, which is told of our worlds, has one of its own.
	worldName string

	references *screen.References // of a live session
	marks      atomic.Int64       // the last mark of a locator that does not belong to a call
	pointed    atomic.Bool        // somebody has pointed at an element
	located    *locatedElement    // the element of the call that is running, or of the last one; nil without one

	given     given
	changes   notifier // of everything below and of pages
	network   *network.Traffic
	downloads *downloads.Downloads
	dialogs   *dialogs
	asking    asking
	incidents notes.Incidents
	clock     *clock
	messages  notes.Messages
	journal   notes.Journal
	trace     *tracer // nil unless the session is traced

	mu            sync.Mutex
	current       *contextOpening
	width, height int
}

// contextOpening is the opening of a browser context. done is closed when context or err is set.
type contextOpening struct {
	done    chan struct{}
	context *browserContext
	err     error
}

// Prepare implements device.Device.
func (d *webDevice) Prepare() { d.open() }

// Size implements device.Device.
func (d *webDevice) Size() (width, height int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.width, d.height
}

// Product implements device.ProductReporter.
func (d *webDevice) Product() string {
	c := d.openContext()
	if c == nil {
		return ""
	}
	return c.browser.Product
}

func (d *webDevice) setSize(width, height int) {
	d.mu.Lock()
	d.width, d.height = width, height
	d.mu.Unlock()
	d.changes.notify()
}

// open starts to open the browser context, once.
func (d *webDevice) open() *contextOpening {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == nil {
		o := &contextOpening{done: make(chan struct{})}
		d.current = o
		go func() {
			defer close(o.done)
			var state *storage.State
			if state, o.err = d.configuredState(); o.err != nil {
				return
			}
			if o.err = d.appErr; o.err != nil {
				return
			}
			if d.app != nil {
				o.context, o.err = openApp(d.ctx, d, state)
				return
			}
			var b *browser
			if b, o.err = d.backend.browser(d.ctx, d.session.Log); o.err == nil {
				o.context, o.err = b.open(d.ctx, d, state)
			}
		}()
	}
	return d.current
}

// waitForContext waits until the browser context is open.
func (d *webDevice) waitForContext(ctx context.Context) (*browserContext, error) {
	o := d.open()
	select {
	case <-o.done:
		return o.context, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// waitForPage waits until the browser context is open, and returns its current page.
func (d *webDevice) waitForPage(ctx context.Context) (*page, error) {
	c, err := d.waitForContext(ctx)
	if err != nil {
		return nil, err
	}
	if p := c.currentPage(); p != nil {
		return p, nil
	}
	return nil, c.noCurrentPage(c.lastPage())
}

// openContext returns the browser context; nil while there is none.
func (d *webDevice) openContext() *browserContext {
	d.mu.Lock()
	o := d.current
	d.mu.Unlock()
	if o == nil {
		return nil
	}
	select {
	case <-o.done:
		return o.context
	default:
		return nil
	}
}

// replaceContext replaces the browser context by a new one, without cookies and storage.
func (d *webDevice) replaceContext(ctx context.Context, old *browserContext) error {
	c, err := old.browser.open(ctx, d, nil)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.current = &contextOpening{done: d.current.done, context: c}
	d.mu.Unlock()
	d.keepDownloads(old.browser)
	old.close()
	return nil
}

// callFromTrail marks the context of a call whose references are positions.
type callFromTrail struct{}

// withLimit bounds a command, unless the call names its limit.
func (d *webDevice) withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if act.CallLimit(ctx) > 0 {
		return context.WithCancel(ctx)
	}
	return d.withTimeout(ctx, limit)
}

// Call implements tool.Caller. A call that names no limit gets one when the page is open.
func (d *webDevice) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	command, ok := d.backend.commands()[call.Tool]
	if !ok {
		return tool.Result{}, fault.New(fault.Bug, "", "the web has no command %q", call.Tool)
	}
	if call.FromTrail {
		ctx = context.WithValue(ctx, callFromTrail{}, true)
	}
	if call.FromSandbox {
		ctx = access.FromSandbox(ctx)
	}
	if err := d.awaitAnswers(ctx); err != nil {
		return d.notStarted(ctx, call, "", err)
	}
	named, cancel := ctx, context.CancelFunc(func() {})
	if call.Timeout > 0 {
		named, cancel = d.withTimeout(act.WithNamedLimit(ctx, call.Timeout), call.Timeout)
	}
	defer cancel()
	select {
	case d.callSlot <- struct{}{}:
		defer func() { <-d.callSlot }()
	case <-named.Done():
		return d.notStarted(ctx, call, "an earlier call of the session is still running", context.Cause(named))
	}
	c, err := d.waitForContext(named)
	if err != nil {
		return d.notStarted(ctx, call, "the browser is still starting", err)
	}
	p := c.currentPage()
	if p == nil || p.closed() {
		if p = c.lastPage(); !command.withoutPage {
			result, err := p.closedResult(call.Tool, "")
			return d.notes.RedactResult(result), err
		}
	}
	d.incidents.StartCall(call.ID)
	if isAction(call.Tool) {
		d.network.StartAction()
		d.journal.StartAction()
		d.dialogs.startAction()
	}
	return d.run(ctx, named, p, call, command)
}

// addTroubles adds to a failure what happened since the last action and may be its cause.
func (d *webDevice) addTroubles(ctx context.Context, r *tool.Result) {
	troubles := slices.DeleteFunc([]string{d.network.Troubles(ctx), d.dialogs.troubles()}, func(text string) bool { return text == "" })
	if len(troubles) > 0 && r.Text != "" && r.Kind != fault.InvalidArguments {
		r.Text += "; since the last action: " + strings.Join(troubles, "; ")
	}
}

// noteRequests notes in the result of a check that held that the page may still change.
func (d *webDevice) noteRequests(ctx context.Context, p *page, call tool.Call, r *tool.Result) {
	pending, by := d.network.PendingOfAction(), "which the action before it started"
	if pending == "" && isCheckOfAbsence(call) {
		pending, by = p.pendingOfDocuments(ctx), "which the page that was opened requested"
	}
	if pending == "" {
		return
	}
	note := pending + ", " + by + ", has not ended"
	r.Notes = append(r.Notes, note)
	r.Text += remarks{note}.String()
}

// pendingOfDocuments names the requests of the page that has just been opened. One that has not loaded although nothing
// is missing is about to run a script that has come, and sends its requests then.
func (p *page) pendingOfDocuments(ctx context.Context) (pending string) {
	ctx, cancel := context.WithTimeout(ctx, p.limits().response)
	defer cancel()
	n := p.device.network
	_ = p.device.changes.waitUntil(ctx, func() bool {
		nothingToCome := p.loaded() || n.Unfinished() != ""
		pending = n.PendingOfDocuments(p.ownLoaders())
		return pending != "" || nothingToCome
	})
	return pending
}

// notStarted is the end of a call whose command did not run.
func (d *webDevice) notStarted(ctx context.Context, call tool.Call, reason string, err error) (tool.Result, error) {
	switch known := fault.As(err); {
	case ctx.Err() != nil:
		return tool.Result{}, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", call.Tool)
	case known != nil:
		return tool.Result{}, known
	}
	text := fmt.Sprintf("%s timed out after %s: %s", call.Tool, call.Timeout, reason)
	return tool.Result{Kind: fault.CallTimeout, Text: text}, nil
}

// boundedBy returns a context that ends with ctx or with a lifetime, for the cause of the one that ends first.
func boundedBy(ctx, lifetime context.Context) (bounded context.Context, stop func()) {
	bounded, cancel := context.WithCancelCause(ctx)
	unwatch := context.AfterFunc(lifetime, func() { cancel(context.Cause(lifetime)) })
	return bounded, func() {
		unwatch()
		cancel(nil)
	}
}

// run runs a command within the limit of its call. It returns an error when the session cannot continue.
func (d *webDevice) run(ctx, named context.Context, p *page, call tool.Call, command command) (tool.Result, error) {
	limit := d.limits.limitOf(call)
	bounded, cancel := d.withTimeout(named, limit)
	defer cancel()
	lifetime := p.ctx
	if command.withoutPage {
		lifetime = p.context.ctx
	}
	running, stop := boundedBy(bounded, lifetime)
	defer stop()
	p.enableScripts()
	if opensPage(call.Tool) {
		p.stopBeforeLeaving()
	}
	if !command.withoutPage {
		p.context.bringToFront(p)
	}
	d.trace.startCall(p)
	d.located, p.timers = nil, nil
	p.takeBlocked()
	before, tabs, left := p.activitySoFar(), p.context.openPages(), p.navigationsSoFar()
	secret := p.noteSecret(call)
	result, err := d.runAsking(running, p, call, command)
	if isAction(call.Tool) {
		if err == nil && result.OK {
			err = p.awaitNavigation(running, left)
			p.context.awaitTabs(running, tabs)
		}
		d.network.EndAction(opensPage(call.Tool))
	} else if err == nil && result.OK && isCheck(call.Tool) {
		d.noteRequests(running, p, call, &result)
	}
	if secret {
		d.noteSecretOpened(call)
	}
	d.keepDownloads(p.browser)
	blocked := p.takeBlocked()
	switch {
	case err != nil:
		result, err = d.failure(ctx, bounded, p, call, limit, before, err)
		d.addTroubles(ctx, &result)
	case len(blocked) > 0:
		result = blockedResult(d.origins, call.Tool, blocked[0])
	default:
		p.slow.Store(bounded.Err() != nil) // the limit passed, and the result is what is known without the page
	}
	if err != nil {
		return tool.Result{}, err
	}
	p.context.describeTabs(call.Tool, &result, tabs)
	return d.takeLocated(d.notes.RedactResult(result)), nil
}

// runAllowed runs a command, unless it is from the sandbox and the page is or becomes one that scripts in the sandbox
// may not use. A command that opens a page may leave such a page.
func (d *webDevice) runAllowed(ctx context.Context, p *page, call tool.Call, command command) (tool.Result, error) {
	if !access.IsFromSandbox(ctx) || command.withoutPage {
		return command.run(ctx, p, call.Args)
	}
	if call.Tool != "navigate" && call.Tool != "web_navigate" && call.Tool != "launchApp" {
		if err := d.origins.CheckSandbox(ctx, p.url()); err != nil {
			return tool.Result{}, err
		}
	}
	result, err := command.run(ctx, p, call.Args)
	if refused := d.origins.CheckSandbox(ctx, p.url()); refused != nil {
		return tool.Result{}, refused
	}
	return result, err
}

// failure returns the result of a command that ended with an error, or an error when the session cannot continue.
func (d *webDevice) failure(
	ctx, bounded context.Context, p *page, call tool.Call, limit time.Duration, before activity, err error,
) (tool.Result, error) {
	known := fault.As(err)
	noResponse := errors.Is(err, act.ErrNoResponse)
	_, unconfirmed := errors.AsType[*act.UnconfirmedError](err)
	switch {
	case ctx.Err() != nil && !p.closed():
		return tool.Result{}, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", call.Tool)
	case p.context.ctx.Err() != nil:
		return tool.Result{}, p.closeError()
	case p.closed() && unconfirmed:
		return p.closedResult(call.Tool, "done; the tab closed itself")
	case p.closed() && (known == nil || fault.KindOf(context.Cause(p.ctx)) == fault.Crashed):
		return p.closedResult(call.Tool, "")
	case known != nil && (known.Kind == fault.Crashed || known.Kind == fault.Cancelled):
		return tool.Result{}, known
	case bounded.Err() != nil && (known == nil || unconfirmed) || noResponse:
		return p.timeoutResult(call, limit, before, err), nil
	case known != nil:
		if known.Kind == fault.CallTimeout {
			p.slow.Store(true)
		}
		return tool.Result{Kind: known.Kind, Text: known.Message, Hint: known.Hint, Details: known.Details}, nil
	}
	return tool.Result{Kind: fault.ToolFailed, Text: fmt.Sprintf("%s: %v", call.Tool, err)}, nil
}

// closedResult returns the result of a call of a page that closed itself: a success with the text done if that is not
// empty, else a failure. It returns an error if the session has no other page, or the page crashed.
func (p *page) closedResult(name, done string) (tool.Result, error) {
	err := p.context.noCurrentPage(p)
	switch {
	case err.Kind != fault.ToolFailed:
		return tool.Result{}, err
	case done != "":
		return success("%s: %s", name, done), nil
	}
	return tool.Result{Kind: err.Kind, Text: name + ": " + err.Message, Hint: err.Hint}, nil
}

// Close implements device.Device.
func (d *webDevice) Close(ctx context.Context) error {
	d.awaitDownloads(ctx)
	d.cancel()
	d.mu.Lock()
	o := d.current
	d.mu.Unlock()
	defer d.notes.Close()
	if o == nil {
		return nil
	}
	<-o.done // d.ctx ends the opening
	if o.context != nil {
		o.context.close()
		d.keepDownloads(o.context.browser)
	}
	d.network.Close()
	if o.context != nil && d.app != nil {
		return o.context.browser.Close()
	}
	return nil
}

// metrics are the parameters that set the size of pages.
func (d *webDevice) metrics() map[string]any {
	width, height := d.Size()
	return d.backend.options.emulation.Metrics(width, height)
}
