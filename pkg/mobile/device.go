package mobile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// phone is the device of a session: a phone or a tablet. It implements device.Device.
type phone struct {
	options  Options
	session  device.Session
	limits   Limits
	commands map[string]command
	callSlot chan struct{}   // holds a value while a call runs
	ctx      context.Context //nolint:containedctx // ends when the device is closed
	cancel   context.CancelFunc

	references *screen.References // of a live session

	recording atomic.Bool // the screen is being recorded

	trace   *device.TraceOptions // nil unless the session is traced
	given   given
	crashes crashes

	// These belong to the call that runs.
	driver  *serial
	located *tool.Located // how a recording names the element of the call; nil without one
	notes   []string      // of the call: see tool.Result
	copied  string        // by copyTextFrom of Maestro
	app     string        // under test: what was launched last, else that of the session; may be empty

	closing  sync.Once
	closeErr error

	mu      sync.Mutex
	opening *opening
}

// opening is the connection to a device. done is closed when driver or err is set.
type opening struct {
	done   chan struct{}
	driver *serial
	err    error
}

// Prepare implements device.Device.
func (d *phone) Prepare() { d.open() }

// open starts to connect to the device, once.
func (d *phone) open() *opening {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opening == nil {
		o := &opening{done: make(chan struct{})}
		d.opening = o
		if d.ctx.Err() != nil {
			o.err = errClosed
			close(o.done)
			return o
		}
		go func() { // Close waits for it
			defer close(o.done)
			driver, err := d.options.Open(d.ctx)
			if err != nil {
				o.err = err
				return
			}
			o.driver = newSerial(d.ctx, driver)
		}()
	}
	return d.opening
}

// waitForDriver waits until the device is connected.
func (d *phone) waitForDriver(ctx context.Context) (*serial, error) {
	o := d.open()
	select {
	case <-o.done:
		return o.driver, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// currentDriver returns the driver; nil while there is none.
func (d *phone) currentDriver() *serial {
	d.mu.Lock()
	o := d.opening
	d.mu.Unlock()
	if o == nil {
		return nil
	}
	select {
	case <-o.done:
		return o.driver
	default:
		return nil
	}
}

// Size implements device.Device.
func (d *phone) Size() (width, height int) {
	if driver := d.currentDriver(); driver != nil {
		info := driver.Info()
		return info.Width, info.Height
	}
	return 0, 0
}

// Product implements device.ProductReporter.
func (d *phone) Product() string {
	if driver := d.currentDriver(); driver != nil {
		return driver.Info().Product
	}
	return ""
}

// callFromTrail marks the context of a call whose references are positions.
type callFromTrail struct{}

// Call implements tool.Caller. A call that names no limit gets one when the device is connected.
func (d *phone) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	command, ok := d.commands[call.Tool]
	if !ok {
		return tool.Result{}, fault.New(fault.Bug, "", "%s has no command %q", d.options.Platform, call.Tool)
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
	driver, err := d.waitForDriver(named)
	if err != nil {
		return d.notStarted(ctx, call, "the device is still being connected", err)
	}
	d.driver, d.located, d.notes = driver, nil, nil
	return d.run(ctx, named, call, command)
}

// notStarted is the end of a call whose command did not run.
func (d *phone) notStarted(ctx context.Context, call tool.Call, reason string, err error) (tool.Result, error) {
	switch known := fault.As(err); {
	case ctx.Err() != nil:
		return tool.Result{}, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", call.Tool)
	case d.ctx.Err() != nil:
		return tool.Result{}, fault.New(fault.Cancelled, "", "%s: the session has ended", call.Tool)
	case known != nil:
		return tool.Result{}, known
	case call.Timeout == 0 || !errors.Is(err, context.DeadlineExceeded):
		return tool.Result{}, fault.Wrap(fault.Device, err, "", "connect to the device")
	}
	text := fmt.Sprintf("%s timed out after %s: %s", call.Tool, call.Timeout, reason)
	return tool.Result{Kind: fault.CallTimeout, Text: text}, nil
}

// run runs a command within the limit of its call. It returns an error when the session cannot continue.
func (d *phone) run(ctx, named context.Context, call tool.Call, c command) (tool.Result, error) {
	limit := d.limits.limitOf(call)
	bounded, cancel := context.WithTimeout(named, limit)
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	done := d.noteSecret(bounded, call)
	result, err := c.run(bounded, d, call.Args)
	done()
	if err != nil {
		result, err = d.failure(ctx, bounded, call, limit, err)
	}
	if err != nil {
		return tool.Result{}, err
	}
	if result.OK {
		result.Notes = append(result.Notes, d.notes...)
	}
	return d.takeLocated(result), nil
}

// limitOf returns how long a call may take: what the call names, else the default, or longer when the command waits for
// longer.
func (l Limits) limitOf(call tool.Call) time.Duration {
	if call.Timeout > 0 {
		return call.Timeout
	}
	a := device.Arguments(call.Args)
	waits := timeoutOf(a, 0)
	switch call.Tool {
	case "launchApp", "mobile_installApp", "mobile_addMedia", "mobile_stopRecording": // which copy files
		waits = l.Launch
	case "mobile_background":
		waits = inBackground(a) + l.Front
	case "mobile_maestro", "maestro":
		waits = l.ofMaestro(a)
	}
	if waits == 0 {
		return l.Call
	}
	return max(l.Call, waits+2*l.Response)
}

// failure returns the result of a command that ended with cause, or an error when the session cannot continue.
func (d *phone) failure(ctx, bounded context.Context, call tool.Call, limit time.Duration, cause error) (tool.Result, error) {
	known := fault.As(cause)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", call.Tool)
	case d.ctx.Err() != nil:
		return tool.Result{}, fault.New(fault.Cancelled, "", "%s: the session has ended", call.Tool)
	case known != nil && (known.Kind == fault.Crashed || known.Kind == fault.Cancelled):
		return tool.Result{}, known
	}
	failed := tool.Result{Kind: fault.ToolFailed, Text: fmt.Sprintf("%s: %v", call.Tool, cause)}
	switch {
	case known != nil:
		failed = tool.Result{Kind: known.Kind, Text: known.Message, Hint: known.Hint, Details: known.Details}
	case bounded.Err() != nil:
		failed.Kind = fault.CallTimeout
		failed.Text = fmt.Sprintf("%s timed out after %s: the device did not respond", call.Tool, limit)
	}
	return d.explainCrash(ctx, failed), nil
}

// Close implements device.Device.
func (d *phone) Close(ctx context.Context) error {
	d.closing.Do(func() { d.closeErr = d.close(ctx) })
	return d.closeErr
}

func (d *phone) close(ctx context.Context) error {
	d.cancel()
	d.mu.Lock()
	o := d.opening
	d.mu.Unlock()
	if o == nil {
		return nil
	}
	<-o.done // d.ctx ends the opening
	if o.driver == nil {
		return nil
	}
	return o.driver.close(ctx)
}

// Release implements device.Releaser. It waits for the call that runs.
func (d *phone) Release(ctx context.Context) error {
	select {
	case d.callSlot <- struct{}{}:
		defer func() { <-d.callSlot }()
	case <-ctx.Done():
		return fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for a call of the device")
	}
	d.mu.Lock()
	o := d.opening
	d.mu.Unlock()
	if o == nil {
		return nil
	}
	select {
	case <-o.done:
	case <-ctx.Done():
		return fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for the device to be connected")
	}
	d.mu.Lock()
	d.opening = nil
	d.mu.Unlock()
	if o.driver == nil {
		return nil
	}
	if err := o.driver.close(ctx); err != nil {
		return fault.Wrap(fault.Device, err, "", "disconnect from the device")
	}
	return nil
}
