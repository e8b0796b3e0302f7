// Package web drives web pages in Chrome, Chromium or Edge over the DevTools protocol (specification, section 15.1).
//
// It refuses to know memory and trails, writes no files but the browser's profile, and sleeps no fixed time. A device may be
// called from any goroutine; its calls run one after another.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Kind is the web: driver playwright-native.
func Kind() device.Kind {
	var advertised []tool.Advertised
	for _, c := range commands() {
		advertised = append(advertised, c.Advertised)
	}
	return device.Kind{
		Name: "web", Drivers: []string{"playwright-native"}, Check: "browser", Commands: advertised, New: newBackend,
		Options: []device.Option{
			{Key: "browser", Flag: "browser", Env: "TRAILBLAZE_BROWSER", Usage: "`PATH` or name of the Chrome, Chromium or Edge to use"},
			{
				Key: "cdpUrl", Flag: "cdp-url", Env: "TRAILBLAZE_CDP_URL",
				Usage: "`URL` of a browser that somebody else runs: http://HOST:PORT or ws://…",
			},
			{Key: "headed", Flag: "headed", Usage: "show the browser", Switch: true},
			{Key: "viewport", Flag: "viewport", Usage: "`SIZE` of web pages in pixels", Default: defaultViewport},
		},
	}
}

// command is a command with what runs it.
type command struct {
	tool.Advertised
	run handler
}

// options are what the user may set.
type options struct {
	browser, cdpURL string
	headed          bool
	width, height   int
	env             []string
	root            bool // we are root, for whom the sandbox does not work
}

func newOptions(host device.Host) (options, error) {
	v := host.Values
	o := options{
		browser: v["browser"], cdpURL: v["cdpUrl"], headed: v["headed"] == "true",
		env: host.Env, root: os.Geteuid() == 0,
	}
	size := cmp.Or(v["viewport"], defaultViewport)
	w, h, _ := strings.Cut(strings.ToLower(size), "x")
	var bad, worse error
	o.width, bad = strconv.Atoi(w)
	o.height, worse = strconv.Atoi(h)
	if err := errors.Join(bad, worse); err != nil || min(o.width, o.height) < 1 || max(o.width, o.height) > maxSide {
		return o, fault.New(fault.Misuse, "write width and height in pixels, as in 1280x800", "viewport: %q is no size", size)
	}
	known := []string{"http://", "https://", "ws://", "wss://"}
	if o.cdpURL != "" && !slices.ContainsFunc(known, func(scheme string) bool { return strings.HasPrefix(o.cdpURL, scheme) }) {
		return o, fault.New(fault.Misuse, "write it as http://HOST:PORT, or ws://…",
			"cdpUrl: %q begins with none of %s", o.cdpURL, strings.Join(known, ", "))
	}
	return o, nil
}

// defaultViewport is the size of pages that nobody asks for otherwise (specification, section 15.1).
const defaultViewport = "1280x800"

// maxSide is the largest width and height that Chromium takes for a page.
const maxSide = 10_000_000

// getenv returns the last value of a variable.
func (o options) getenv(name string) string {
	value := ""
	for _, kv := range o.env {
		if key, v, ok := strings.Cut(kv, "="); ok && strings.EqualFold(key, name) {
			value = v
		}
	}
	return value
}

// backend is the browser of a run. It implements device.Backend.
type backend struct {
	options    options
	supervisor *spawn.Supervisor
	handlers   map[string]handler
	ctx        context.Context //nolint:containedctx // ends with the backend, and with it a start
	cancel     context.CancelFunc

	mu      sync.Mutex
	current *browserStart
}

// browserStart is a browser that is being started or was. done is closed when browser or err is set.
type browserStart struct {
	done    chan struct{}
	browser *browser
	err     error
}

func newBackend(host device.Host) (device.Backend, error) {
	o, err := newOptions(host)
	if err != nil {
		return nil, err
	}
	b := &backend{options: o, supervisor: host.Supervisor, handlers: map[string]handler{}}
	for _, c := range commands() {
		b.handlers[c.Name] = c.run
	}
	b.ctx, b.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // a run belongs to no call
	return b, nil
}

// Open implements device.Backend.
func (b *backend) Open(session device.Session) device.Device {
	d := &webDevice{
		backend: b, session: session, notes: &notes{files: map[string]string{}}, callSlot: make(chan struct{}, 1),
		width: b.options.width, height: b.options.height,
	}
	if session.Width > 0 && session.Height > 0 {
		d.width, d.height = session.Width, session.Height
	}
	d.ctx, d.cancel = context.WithCancel(b.ctx)
	return d
}

// Classifiers implements device.Backend: a web page is on no kind of device.
func (*backend) Classifiers(context.Context) ([]string, error) { return nil, nil }

// Check implements device.Backend.
func (b *backend) Check(ctx context.Context) (string, error) {
	found, err := b.browser(ctx, func(string, string, string) {})
	if err != nil {
		return "", err
	}
	return found.name, nil
}

// Close implements device.Backend.
func (b *backend) Close(context.Context) error {
	b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == nil {
		return nil
	}
	<-b.current.done // its start ends with b.ctx
	if b.current.browser == nil {
		return nil
	}
	return b.current.browser.close()
}

// browser returns the browser of the run, which it starts when there is none yet or none any more. ctx ends the wait, not the start.
func (b *backend) browser(ctx context.Context, log func(level, message, hint string)) (*browser, error) {
	s := b.start(log)
	select {
	case <-s.done:
		return s.browser, s.err
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "starting the browser")
	}
}

func (b *backend) start(log func(level, message, hint string)) *browserStart {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != nil && !b.current.ended() {
		return b.current
	}
	last := b.current
	s := &browserStart{done: make(chan struct{})}
	b.current = s
	go func() {
		defer close(s.done)
		if last != nil && last.browser != nil {
			_ = last.browser.close() // it is gone already; this leaves nothing of it
		}
		s.browser, s.err = b.options.start(b.ctx, b.supervisor, log)
		if s.err != nil && fault.As(s.err) == nil {
			s.err = fault.Wrap(fault.Server, s.err, "", "starting the browser")
		}
	}()
	return s
}

// ended says that a start failed, or that its browser is gone.
func (s *browserStart) ended() bool {
	select {
	case <-s.done:
	default:
		return false
	}
	if s.browser == nil {
		return true
	}
	select {
	case <-s.browser.conn.Done():
		return true
	default:
		return false
	}
}

// webDevice is the device of a session. It implements device.Device.
type webDevice struct {
	backend  *backend
	session  device.Session
	notes    *notes
	callSlot chan struct{}   // held by the call that runs
	ctx      context.Context //nolint:containedctx // the life of the session
	cancel   context.CancelFunc

	mu            sync.Mutex
	current       *pageOpening
	width, height int
}

// pageOpening is a tab that is being opened or was. done is closed when tab or err is set.
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

// open begins to open the tab, once.
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

// waitForPage waits for the tab.
func (d *webDevice) waitForPage(ctx context.Context) (*page, error) {
	o := d.open()
	select {
	case <-o.done:
		return o.page, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// replacePage replaces the tab by one in a context that knows nothing of the old one.
func (d *webDevice) replacePage(ctx context.Context, old *page) error {
	t, err := old.browser.open(ctx, d)
	if err != nil {
		return err
	}
	old.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.current = &pageOpening{done: d.current.done, page: t}
	return nil
}

// callHasLimit marks the context of a call that has a limit of its own.
type callHasLimit struct{}

// withLimit bounds what a command waits for, unless the call says itself how long it may take.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if ctx.Value(callHasLimit{}) != nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// Call implements tool.Caller.
func (d *webDevice) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	run := d.backend.handlers[call.Tool]
	if run == nil {
		return tool.Result{}, fault.New(fault.Bug, "", "the web has no command %q", call.Tool)
	}
	bounded, cancel := withCallLimit(ctx, call)
	defer cancel()
	select {
	case d.callSlot <- struct{}{}:
		defer func() { <-d.callSlot }()
	case <-bounded.Done():
		return d.toResult(ctx, bounded, call, nil, tool.Result{}, context.Cause(bounded))
	}
	t, err := d.waitForPage(bounded)
	if err != nil {
		return d.toResult(ctx, bounded, call, nil, tool.Result{}, err)
	}
	living, lose := context.WithCancelCause(bounded)
	defer lose(nil)
	if t.closed() {
		return d.toResult(ctx, bounded, call, t, tool.Result{}, context.Cause(t.ctx))
	}
	defer context.AfterFunc(t.ctx, func() { lose(context.Cause(t.ctx)) })()
	result, err := run(living, t, call.Args)
	t.keepDownloads()
	return d.toResult(ctx, bounded, call, t, result, err)
}

// withCallLimit bounds a call by its own limit.
func withCallLimit(ctx context.Context, call tool.Call) (context.Context, context.CancelFunc) {
	if call.Timeout > 0 {
		return context.WithTimeout(context.WithValue(ctx, callHasLimit{}, true), call.Timeout)
	}
	return context.WithCancel(ctx)
}

// toResult makes of how a command ended what a caller gets: an error when nothing can go on, else a result. t is nil when there never
// was a tab.
func (d *webDevice) toResult(
	ctx, bounded context.Context, call tool.Call, p *page, result tool.Result, err error,
) (tool.Result, error) {
	if err == nil {
		return d.notes.redactResult(result), nil
	}
	known := fault.As(err)
	if p != nil && p.closed() {
		known = p.closeError()
	}
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", call.Tool)
	case known != nil && (p == nil || known.Kind == fault.Crashed || known.Kind == fault.Cancelled):
		return tool.Result{}, known
	case known != nil:
		result = tool.Result{Kind: known.Kind, Text: known.Message, Hint: known.Hint}
	case bounded.Err() != nil:
		result = tool.Result{Kind: fault.CallTimeout, Text: fmt.Sprintf("%s did not end within %s", call.Tool, call.Timeout)}
	default:
		result = tool.Result{Kind: fault.ToolFailed, Text: fmt.Sprintf("%s: %v", call.Tool, err)}
	}
	return d.notes.redactResult(result), nil
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
	<-o.done // opening ends with d.ctx
	if o.page != nil {
		o.page.close()
	}
	return nil
}
