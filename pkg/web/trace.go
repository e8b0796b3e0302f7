package web

import (
	"cmp"
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

const (
	tracedSide    = 800       // the longest side of a picture that the browser sends by itself, in pixels
	tracedQuality = 50        // of JPEG
	tracedBytes   = 128 << 10 // of the elements of a screen
	tracedLines   = 200       // requests of a moment, and lines of the console
	tracedLength  = 1000      // of such a line, in characters
	tracedPending = 1000      // requests that have not ended
	// What a call changes is drawn within tracedDelay, and a page that it opened within tracedOpening.
	tracedDelay   = 34 * time.Millisecond
	tracedOpening = 150 * time.Millisecond
	// tracedShare is the part of the session's time, as a divisor, that moments may take which are not whole.
	tracedShare = 20
	// tracedShareChecked is that part once a page was given a secret: then each picture is taken for its moment.
	tracedShareChecked = 3
	// tracedIdle is after how long without a call a page that keeps changing sends no more pictures.
	tracedIdle = 2 * time.Second
	// tracedExpected is what reading a page is expected to take before it was read.
	tracedExpected = 5 * time.Millisecond
)

// tracer records what the pages of a session show and request. It may be used from any goroutine.
type tracer struct {
	device  *webDevice
	options device.TraceOptions
	share   int           // see tracedShare
	idle    time.Duration // see tracedIdle
	began   time.Time

	moment      sync.Mutex    // held while a moment is taken
	spent       time.Duration // by moments that are not whole
	expected    time.Duration // what the next one takes when it reads the page
	shown       *page         // by the last moment
	navigations int           // of it

	mu       sync.Mutex
	frames   map[*page]*tracedFrame // the newest one of each open page
	called   time.Time              // when a call began or ended last
	paused   map[*page]bool         // the pages that send no pictures
	resumed  *page                  // was paused before the call; nil for none
	touched  *screen.Point          // by the calls since the last moment, first; nil for none
	width    int                    // of the viewport of the last picture that the browser sent; 0 for none
	height   int
	last     lastMoment
	pending  map[string]*notes.TracedRequest
	requests []string
	console  []string
	omitted  int
}

// lastMoment is the last moment that has a picture which the browser had sent.
type lastMoment struct {
	page   *page // nil for none
	at     time.Time
	opened bool         // its call opened a page
	later  *tracedFrame // which belongs to the moment, although it came later; nil for none
}

// tracedFrame is a picture that the browser has sent.
type tracedFrame struct {
	data    string // base64
	picture *device.Picture
}

// StartTrace implements device.Tracer.
func (d *webDevice) StartTrace(o device.TraceOptions) {
	d.trace = &tracer{
		device: d, options: o, share: tracedShare, idle: tracedIdle, began: time.Now(), expected: tracedExpected,
		frames: map[*page]*tracedFrame{}, paused: map[*page]bool{}, called: time.Now(), pending: map[string]*notes.TracedRequest{},
	}
}

// startTrace makes the browser send a picture of a new page whenever it draws the page.
func (p *page) startTrace() {
	if p.device.trace == nil {
		return
	}
	p.target.Send("Page.startScreencast", map[string]any{
		"format": "jpeg", "quality": tracedQuality, "maxWidth": tracedSide, "maxHeight": tracedSide,
	})
}

// startCall makes a page send pictures again.
func (t *tracer) startCall(p *page) {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.called, t.resumed = time.Now(), nil
	paused := t.paused[p]
	if paused {
		delete(t.paused, p)
		delete(t.frames, p) // it may have changed since
		t.resumed = p
	}
	t.mu.Unlock()
	if paused {
		p.startTrace()
	}
}

// pause makes a page send no more pictures if no call was made for some time. The caller holds t.mu.
func (t *tracer) pause(p *page) {
	if len(t.device.callSlot) == 0 && time.Since(t.called) > t.idle {
		t.paused[p] = true
		p.target.Send("Page.stopScreencast", nil)
	}
}

// traceEvent records an event of a page that is not about a request.
func (p *page) traceEvent(s *cdp.Session, e cdp.Event) {
	t := p.device.trace
	switch {
	case t == nil:
	case e.Method == "Page.screencastFrame":
		t.onFrame(p, s, e)
	case e.Method == "Runtime.consoleAPICalled", e.Method == "Runtime.exceptionThrown", e.Method == "Log.entryAdded":
		t.onConsole(e)
	}
}

// onFrame keeps a picture and asks for the next one.
func (t *tracer) onFrame(p *page, s *cdp.Session, e cdp.Event) {
	var frame castFrame
	if e.Decode(&frame) != nil {
		return
	}
	s.Send("Page.screencastFrameAck", map[string]any{"sessionId": frame.SessionID})
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &tracedFrame{data: frame.Data}
	t.frames[p] = f
	t.width, t.height = int(frame.Metadata.DeviceWidth), int(frame.Metadata.DeviceHeight)
	t.pause(p)
	if p != t.last.page {
		return
	}
	since := time.Since(t.last.at)
	if since <= tracedDelay || t.last.opened && t.last.later == nil && since <= tracedOpening {
		t.last.later = f
	}
}

// touch notes where a call presses the mouse.
func (t *tracer) touch(x, y float64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.touched == nil {
		t.touched = &screen.Point{X: int(x), Y: int(y)}
	}
}

func (t *tracer) onConsole(e cdp.Event) {
	if line, ok := notes.ConsoleLine(e); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.console = t.addLine(t.console, line)
	}
}

// addLine appends a line to a list, unless the list is full. The caller holds t.mu.
func (t *tracer) addLine(list []string, line string) []string {
	if len(list) == tracedLines {
		t.omitted++
		return list
	}
	line = t.device.notes.Redact(strings.TrimSpace(line))
	if runes := []rune(line); len(runes) > tracedLength {
		line = string(runes[:tracedLength-1]) + "…"
	}
	return append(list, line)
}

// onRequest notes the requests of a page when they end. A redirect ends one request and begins another. method is the
// name of the event.
func (t *tracer) onRequest(method string, params notes.RequestEvent) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.pending[params.RequestID]
	switch {
	case method == "Network.requestWillBeSent":
		if r != nil && params.RedirectResponse != nil {
			r.Status = params.RedirectResponse.Status
			t.requests = t.addLine(t.requests, r.Line(params.Timestamp, "redirect"))
		}
		if r == nil && len(t.pending) == tracedPending {
			t.omitted++
			return
		}
		t.pending[params.RequestID] = params.Traced()
	case r == nil:
	case params.Response != nil:
		r.Status, r.Cached = params.Response.Status, params.Response.FromDiskCache
	case method == "Network.loadingFailed":
		delete(t.pending, params.RequestID)
		t.requests = t.addLine(t.requests, r.Line(params.Timestamp, params.ErrorText))
	default:
		delete(t.pending, params.RequestID)
		t.requests = t.addLine(t.requests, r.Line(params.Timestamp, r.Size(params.EncodedDataLength)))
	}
}

// Moment implements device.Tracer.
func (d *webDevice) Moment(ctx context.Context, whole bool) device.Moment {
	t := d.trace
	t.moment.Lock()
	defer t.moment.Unlock()
	defer t.endCall()
	m := device.Moment{Before: t.takeLater()}
	if c := d.openContext(); c != nil {
		t.show(ctx, c.lastPage(), whole, &m)
	}
	t.takeEvents(whole, &m)
	return m
}

func (t *tracer) endCall() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.called = time.Now()
}

// show fills in what a page shows.
func (t *tracer) show(ctx context.Context, p *page, whole bool, m *device.Moment) {
	m.URL = p.notes.Redact(p.url())
	if p.closed() {
		m.NoPicture = "the tab was closed"
		return
	}
	limit := p.limits().evidence
	if p.slow.Load() {
		limit = p.limits().slowEvidence
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	started := time.Now()
	secrets := t.hasSecrets()
	share := t.share
	if secrets {
		share = min(share, tracedShareChecked)
	}
	affordable := (t.spent+t.expected)*time.Duration(share) <= started.Sub(t.began) && !p.slow.Load()
	switch {
	case secrets && (whole || affordable):
		t.showChecked(ctx, p, m)
	case secrets:
		m.NoPicture = "to check whether the page showed a secret would have slowed the run; --trace on does"
	default:
		t.showUnchecked(ctx, p, whole || t.sendsNone(p), whole || affordable, m)
	}
	if !whole && affordable {
		t.expected = time.Since(started)
		t.spent += t.expected
	}
}

// hasSecrets reports whether a page may show a secret.
func (t *tracer) hasSecrets() bool { return t.device.given.any.Load() }

// showChecked takes a picture, unless the page shows a secret before or after it, or cannot be read.
func (t *tracer) showChecked(ctx context.Context, p *page, m *device.Moment) {
	if m.NoPicture = t.secretReason(ctx, p, m); m.NoPicture != "" {
		return
	}
	picture, err := p.tracedPicture(ctx)
	if err != nil {
		m.NoPicture = "no picture was taken: " + err.Error()
		return
	}
	if m.NoPicture = t.secretReason(ctx, p, m); m.NoPicture == "" {
		m.Picture = picture
	}
}

// secretReason is showTree; it says why the page may show a secret, empty if it shows none.
func (t *tracer) secretReason(ctx context.Context, p *page, m *device.Moment) string {
	why := p.whyWithheld(ctx)
	switch secret, err := t.showTree(ctx, p, m); {
	case why != "":
		return why
	case err != nil:
		return "whether the page shows a secret could not be checked: " + err.Error()
	case secret:
		return "the page shows a secret"
	}
	return ""
}

// showUnchecked takes a picture of a page without secrets, or uses the one that the browser sent last.
func (t *tracer) showUnchecked(ctx context.Context, p *page, picture, tree bool, m *device.Moment) {
	if picture {
		m.Picture, _ = p.tracedPicture(ctx)
	}
	if m.Picture == nil {
		m.Picture = t.newest(p)
		t.remember(p)
	}
	if m.Picture == nil {
		m.NoPicture = "the browser had not drawn the page"
	}
	if tree {
		_, _ = t.showTree(ctx, p, m)
	}
}

// showTree fills in title and elements of a page, and reports whether it shows a secret.
func (t *tracer) showTree(ctx context.Context, p *page, m *device.Moment) (secret bool, err error) {
	c, err := p.captureAll(ctx)
	if err != nil {
		return false, err
	}
	ref := c.position
	if p.device.session.Live {
		p.device.references.Number(c.tree)
		ref = p.device.references.Ref
	}
	text := c.title + "\n" + c.tree.Text(screen.TextOptions{Whole: true}).String()
	redacted := p.notes.Redact(text)
	secret = redacted != text
	if redact := t.device.session.Redact; redact != nil {
		secret = secret || redact(text) != text
	}
	m.Title = p.notes.Redact(c.title)
	m.Tree = p.notes.Redact(c.tree.Text(screen.TextOptions{MaxBytes: tracedBytes, Ref: ref}).String())
	return secret, nil
}

// sendsNone reports whether the page was paused before the call and has sent no picture since.
func (t *tracer) sendsNone(p *page) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.resumed == p && t.frames[p] == nil
}

// newest returns the picture of a page that the browser sent last; nil for none.
func (t *tracer) newest(p *page) *device.Picture {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.frames, func(p *page, _ *tracedFrame) bool { return p.closed() })
	maps.DeleteFunc(t.paused, func(p *page, _ bool) bool { return p.closed() })
	return t.frames[p].decoded()
}

// decoded returns the frame as a picture; nil if it is none.
func (f *tracedFrame) decoded() *device.Picture {
	if f == nil {
		return nil
	}
	if f.picture == nil {
		data, err := base64.StdEncoding.DecodeString(f.data)
		if err != nil {
			return nil
		}
		f.picture, f.data = &device.Picture{Data: data, Ext: ".jpg"}, ""
	}
	return f.picture
}

// remember begins to wait for what is drawn soon after a moment.
func (t *tracer) remember(p *page) {
	navigations := p.activitySoFar().navigations
	t.mu.Lock()
	defer t.mu.Unlock()
	opened := p != t.shown || navigations != t.navigations
	t.shown, t.navigations = p, navigations
	t.last = lastMoment{page: p, at: time.Now(), opened: opened}
}

// takeLater returns what was drawn soon after the last moment; nil for nothing, or when it may show a secret.
func (t *tracer) takeLater() *device.Picture {
	if t.hasSecrets() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	later := t.last.later
	t.last = lastMoment{}
	return later.decoded()
}

// tracedPicture takes a picture of the page.
func (p *page) tracedPicture(ctx context.Context) (*device.Picture, error) {
	data, err := p.screenshotAs(ctx, map[string]any{"format": "jpeg", "quality": tracedQuality})
	if err != nil {
		return nil, err
	}
	return &device.Picture{Data: data, Ext: ".jpg"}, nil
}

// takeEvents fills in what happened since the last moment.
func (t *tracer) takeEvents(whole bool, m *device.Moment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if whole {
		inOrder := func(a, b *notes.TracedRequest) int { return cmp.Compare(a.Sent, b.Sent) }
		for _, r := range slices.SortedFunc(maps.Values(t.pending), inOrder) {
			t.requests = t.addLine(t.requests, r.Line(0, "(has not ended)"))
		}
	}
	m.Requests, m.Console, m.Omitted = t.requests, t.console, t.omitted
	t.requests, t.console, t.omitted = nil, nil, 0
	m.Touched, m.Width, m.Height = t.touched, t.width, t.height
	t.touched = nil
}
