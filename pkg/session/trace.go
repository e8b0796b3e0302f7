package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const (
	// maxTrace bounds the trace of a session, in bytes.
	maxTrace = 50 << 20
	// momentTimeout is the time limit for recording one call.
	momentTimeout = 5 * time.Second
	// recentTrees is the number of calls whose elements are kept when only failed trails keep their trace.
	recentTrees = 5
	// entryBytes is what a call takes in the trace besides its texts.
	entryBytes = 200
)

// trace is what the device recorded of its calls. It may be used from any goroutine.
type trace struct {
	device device.Tracer
	whole  bool // every moment is whole
	limit  int  // bytes

	mu       sync.Mutex
	calls    []*tracedCall
	pictures []*device.Picture // in the order in which they were taken, without those that were removed
	removed  tracedRemoval
	dropped  *device.Picture // the one that was removed last; later moments may have it, too
	size     int             // bytes of all that is kept
}

// tracedRemoval counts what was removed to stay below the limit: the oldest.
type tracedRemoval struct{ pictures, trees, calls int }

// tracedCall is a call of the device with the screen before and after it.
type tracedCall struct {
	call   string // its id in events
	before *device.Picture
	after  device.Moment
}

// newTrace starts the trace of the session's device; nil if the session has none, or the device cannot record.
func (s *Session) newTrace(d device.Device) *trace {
	tracer, ok := d.(device.Tracer)
	if !s.opts.Trace || s.opts.Dir == "" || !ok {
		return nil
	}
	tracer.StartTrace(device.TraceOptions{Secrets: s.opts.Redactor.HasSecrets()})
	return &trace{device: tracer, whole: s.opts.TraceWhole, limit: maxTrace}
}

// add records a call that has ended. Its moment is whole if the call failed.
func (t *trace) add(ctx context.Context, call tool.Call, failed bool) {
	if kind := fault.KindOf(Interruption(ctx)); kind != fault.Interrupted && kind != fault.Terminated {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, momentTimeout)
	defer cancel()
	moment := t.device.Moment(ctx, t.whole || failed)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &tracedCall{call: call.ID, after: moment}
	if n := len(t.calls); n > 0 {
		last := t.calls[n-1]
		if moment.Before != nil {
			t.replacePicture(last, moment.Before)
		}
		c.before = last.after.Picture
	}
	t.calls = append(t.calls, c)
	t.size += c.textBytes() + len(moment.Tree)
	t.addPicture(moment.Picture)
	c.removePicture(t.dropped)
	if old := len(t.calls) - recentTrees - 1; !t.whole && old >= 0 {
		t.removeTree(t.calls[old])
	}
	t.shrink()
}

// addPicture adds a picture unless it is nil, the newest one, or was removed.
func (t *trace) addPicture(p *device.Picture) {
	if p == nil || p == t.dropped || len(t.pictures) > 0 && t.pictures[len(t.pictures)-1] == p {
		return
	}
	t.pictures = append(t.pictures, p)
	t.size += len(p.Data)
}

// replacePicture replaces the picture after the last call.
func (t *trace) replacePicture(last *tracedCall, p *device.Picture) {
	old := last.after.Picture
	if n := len(t.pictures); n > 0 && t.pictures[n-1] == old && old != p && old != last.before {
		t.pictures = t.pictures[:n-1]
		t.size -= len(old.Data)
	}
	last.after.Picture, last.after.NoPicture = p, ""
	t.addPicture(p)
}

// textBytes is the size of a call's texts, without the elements of the screen.
func (c *tracedCall) textBytes() int {
	size := entryBytes + len(c.after.URL) + len(c.after.Title) + len(c.after.NoPicture)
	for _, lines := range [][]string{c.after.Requests, c.after.Console} {
		for _, line := range lines {
			size += len(line)
		}
	}
	return size
}

// removePicture removes a picture of the call, if it is not nil, because of the size of the trace.
func (c *tracedCall) removePicture(p *device.Picture) {
	if p == nil {
		return
	}
	if c.before == p {
		c.before = nil
	}
	if c.after.Picture == p {
		c.after.Picture, c.after.NoPicture = nil, "removed, because the trace was too large"
	}
}

func (t *trace) removeTree(c *tracedCall) {
	t.size -= len(c.after.Tree)
	c.after.Tree = ""
}

// shrink removes the oldest pictures, then the oldest elements, then the oldest calls, until the limit is kept.
func (t *trace) shrink() {
	for t.size > t.limit && len(t.pictures) > 0 {
		p := t.pictures[0]
		t.pictures = t.pictures[1:]
		t.size -= len(p.Data)
		t.removed.pictures++
		t.dropped = p
		for _, c := range t.calls {
			c.removePicture(p)
		}
	}
	for _, c := range t.calls {
		if t.size <= t.limit {
			return
		}
		if c.after.Tree != "" {
			t.removeTree(c)
			t.removed.trees++
		}
	}
	for t.size > t.limit && len(t.calls) > 0 {
		t.size -= t.calls[0].textBytes()
		t.calls = t.calls[1:]
		t.removed.calls++
	}
}

// KeepTrace writes the trace of the device's calls into the session's folder. It writes nothing if no call reached the
// device, or the session has no trace.
func (s *Session) KeepTrace() {
	if s.device == nil || s.device.trace == nil {
		return
	}
	t := s.device.trace
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.calls) == 0 {
		return
	}
	if err := s.writeTrace(t); err != nil {
		s.unwritable(err)
	}
}

// writeTrace writes the files of a trace, the index last.
func (s *Session) writeTrace(t *trace) error {
	index := event.Trace{RemovedPictures: t.removed.pictures, RemovedTrees: t.removed.trees, RemovedCalls: t.removed.calls}
	names := map[*device.Picture]string{}
	for _, p := range t.pictures {
		names[p] = fmt.Sprintf("%03d%s", len(names)+1, p.Ext)
		if _, err := s.write(event.TraceFolder, device.Artifact{Name: names[p], Data: p.Data}); err != nil {
			return err
		}
	}
	redact := s.opts.Redactor.Text
	for i, c := range t.calls {
		m := c.after
		entry := event.TracedCall{
			Call: c.call, URL: redact(m.URL), Title: redact(m.Title), Before: names[c.before], After: names[m.Picture],
			NoPicture: redact(m.NoPicture), Requests: redactAll(redact, m.Requests), Console: redactAll(redact, m.Console),
			Omitted: m.Omitted, Touched: (*event.Point)(m.Touched), Width: m.Width, Height: m.Height,
		}
		if m.Tree != "" {
			entry.Tree = "screen-" + strconv.Itoa(i+1) + ".txt"
			if _, err := s.write(event.TraceFolder, device.Artifact{Name: entry.Tree, Data: []byte(m.Tree + "\n"), Text: true}); err != nil {
				return err
			}
		}
		index.Calls = append(index.Calls, entry)
	}
	data, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	// Its texts are redacted already; as a whole, a secret that is a word of the format would be replaced, too.
	_, err = s.keep(event.TraceFolder, device.Artifact{Name: event.TraceIndex, Title: "trace", Data: data})
	return err
}

func redactAll(redact func(string) string, texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = redact(text)
	}
	return out
}
