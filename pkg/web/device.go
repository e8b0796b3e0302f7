package web

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// webDevice is the device of a session. It implements device.Device.
type webDevice struct {
	backend  *backend
	session  device.Session
	notes    *notes
	limits   limits
	files    fileAccess
	origins  *originAccess
	callSlot chan struct{}   // holds a value while a call runs
	ctx      context.Context //nolint:containedctx // ends when the device is closed
	cancel   context.CancelFunc

	references *screen.References // of a live session
	located    *locatedElement    // the element of the call that is running, or of the last one; nil without one

	mu            sync.Mutex
	current       *pageOpening
	width, height int
}

// pageOpening is the opening of a page. done is closed when page or err is set.
type pageOpening struct {
	done chan struct{}
	page *page
	err  error
}

// Prepare implements device.Device.
func (d *webDevice) Prepare() { d.open() }

// Size implements device.Device.
func (d *webDevice) Size() (width, height int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.width, d.height
}

func (d *webDevice) setSize(width, height int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.width, d.height = width, height
}

// open starts to open the page, once.
func (d *webDevice) open() *pageOpening {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == nil {
		o := &pageOpening{done: make(chan struct{})}
		d.current = o
		go func() {
			defer close(o.done)
			var b *browser
			if b, o.err = d.backend.browser(d.ctx, d.session.Log); o.err == nil {
				o.page, o.err = b.open(d.ctx, d)
			}
		}()
	}
	return d.current
}

// waitForPage waits until the page is open.
func (d *webDevice) waitForPage(ctx context.Context) (*page, error) {
	o := d.open()
	select {
	case <-o.done:
		return o.page, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// replacePage replaces the page by one in a new browser context, without cookies and storage.
func (d *webDevice) replacePage(ctx context.Context, old *page) error {
	p, err := old.browser.open(ctx, d)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.current = &pageOpening{done: d.current.done, page: p}
	d.mu.Unlock()
	old.close()
	return nil
}

// callFromTrail marks the context of a call whose references are positions.
type callFromTrail struct{}

// withLimit bounds a command, unless the call names its limit.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if act.CallLimit(ctx) > 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// Call implements tool.Caller. A call that names no limit gets one when the page is open.
func (d *webDevice) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	run := d.backend.handlers[call.Tool]
	if run == nil {
		return tool.Result{}, fault.New(fault.Bug, "", "the web has no command %q", call.Tool)
	}
	if call.FromTrail {
		ctx = context.WithValue(ctx, callFromTrail{}, true)
	}
	named, cancel := ctx, context.CancelFunc(func() {})
	if call.Timeout > 0 {
		named, cancel = act.WithCallLimit(ctx, call.Timeout)
	}
	defer cancel()
	select {
	case d.callSlot <- struct{}{}:
		defer func() { <-d.callSlot }()
	case <-named.Done():
		return d.notStarted(ctx, call, "an earlier call of the session is still running", context.Cause(named))
	}
	p, err := d.waitForPage(named)
	if err != nil {
		return d.notStarted(ctx, call, "the browser is still starting", err)
	}
	if p.closed() {
		return tool.Result{}, p.closeError()
	}
	return d.run(ctx, named, p, call, run)
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

// run runs a command within the limit of its call. It returns an error when the session cannot continue.
func (d *webDevice) run(ctx, named context.Context, p *page, call tool.Call, run handler) (tool.Result, error) {
	limit := d.limits.of(call)
	bounded, cancel := context.WithTimeout(named, limit)
	defer cancel()
	running, stop := context.WithCancelCause(bounded)
	defer stop(nil)
	defer context.AfterFunc(p.ctx, func() { stop(context.Cause(p.ctx)) })()
	p.enableScripts()
	d.located = nil
	p.takeBlocked()
	before := p.activitySoFar()
	result, err := run(running, p, call.Args)
	p.keepDownloads()
	blocked := p.takeBlocked()
	known := fault.As(err)
	noResponse := errors.Is(err, act.ErrNoResponse)
	_, unconfirmed := errors.AsType[*act.UnconfirmedError](err)
	switch {
	case err == nil && len(blocked) > 0:
		result = d.origins.blockedResult(call.Tool, blocked[0])
	case err == nil:
		p.slow.Store(false)
	case ctx.Err() != nil && !p.closed():
		return tool.Result{}, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", call.Tool)
	case p.closed():
		return tool.Result{}, p.closeError()
	case known != nil && (known.Kind == fault.Crashed || known.Kind == fault.Cancelled):
		return tool.Result{}, known
	case bounded.Err() != nil && (known == nil || unconfirmed) || noResponse:
		result = p.timeoutResult(call, limit, before, err)
	case known != nil:
		if known.Kind == fault.CallTimeout {
			p.slow.Store(true)
		}
		result = tool.Result{Kind: known.Kind, Text: known.Message, Hint: known.Hint, Details: known.Details}
	default:
		result = tool.Result{Kind: fault.ToolFailed, Text: fmt.Sprintf("%s: %v", call.Tool, err)}
	}
	return d.takeLocated(d.notes.redactResult(result)), nil
}

// Close implements device.Device.
func (d *webDevice) Close(context.Context) error {
	d.cancel()
	d.mu.Lock()
	o := d.current
	d.mu.Unlock()
	if o == nil {
		return nil
	}
	<-o.done // d.ctx ends the opening
	if o.page != nil {
		o.page.close()
	}
	return nil
}
