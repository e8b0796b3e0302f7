package web

import (
	"context"
	"encoding/base64"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
)

const (
	// castQuality is the quality of a screencast's pictures, as JPEG.
	castQuality = 75
	// castPending is how many pictures may wait for an acknowledgement before the browser may drop what it draws next.
	castPending = 2
	// castRest is how long a picture may take to come after an acknowledgement, if there is one.
	castRest = 100 * time.Millisecond
	// castFirst is after how long without another picture the browser is asked once more.
	castFirst = time.Second
)

// screencast are the pictures that the browser sends of a page, in a CDP session of its own.
type screencast struct {
	page          *page
	session       *cdp.Session
	width, height int           // of the device
	more          chan struct{} // holds a value when there is a picture

	mu      sync.Mutex
	newest  *castFrame
	pending []int // ids of pictures that were not acknowledged
}

// castFrame is a picture that the browser has sent.
type castFrame struct {
	Data      string // base64
	SessionID int    // for the acknowledgement
	Metadata  struct{ DeviceWidth, DeviceHeight float64 }
}

// Screencast implements device.Screencaster.
func (d *webDevice) Screencast(ctx context.Context, frame func(device.Frame)) error {
	for {
		c, err := d.waitForContext(ctx)
		if err == nil {
			err = c.screencast(ctx, frame)
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the caller has ended it
		}
		if err != nil {
			return lookError(ctx, err)
		}
	}
}

// screencast sends pictures of the current page while it stays current and of the same size.
func (c *browserContext) screencast(ctx context.Context, frame func(device.Frame)) error {
	ctx, stop := boundedBy(ctx, c.ctx)
	defer stop()
	var p *page
	err := c.device.changes.waitUntil(ctx, func() bool {
		p = c.currentPage()
		return p != nil && !p.closed()
	})
	if err != nil {
		return err
	}
	s, detach, err := p.attach(ctx)
	if err == nil {
		defer detach()
		err = newScreencast(p, s).run(ctx, frame)
	}
	if p.closed() && c.ctx.Err() == nil {
		return nil // another page may become current
	}
	return err
}

// attach opens another session to the page.
func (p *page) attach(ctx context.Context) (s *cdp.Session, detach func(), err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit) // else nobody knows what to detach from
	defer cancel()
	var attached struct{ SessionID string }
	browser := p.browser.Conn.Browser()
	err = browser.Call(ctx, "Target.attachToTarget", map[string]any{"targetId": p.targetID, "flatten": true}, &attached)
	if err != nil {
		return nil, nil, err
	}
	return p.browser.Conn.Session(attached.SessionID), func() {
		browser.Send("Target.detachFromTarget", map[string]any{"sessionId": attached.SessionID})
	}, nil
}

func newScreencast(p *page, s *cdp.Session) *screencast {
	width, height := p.device.Size()
	return &screencast{page: p, session: s, width: width, height: height, more: make(chan struct{}, 1)}
}

// run passes pictures on until the page is not the current one any more, or has another size. A picture is the last one
// if asking for another brings the same: the browser drops pictures while several wait for an acknowledgement, and one
// that was on its way may come after that.
func (c *screencast) run(ctx context.Context, frame func(device.Frame)) error {
	defer c.session.Listen(c.onEvent)()
	c.start()
	shown, sure, dropped := "", false, false // the last picture, whether it came again, and whether later ones may be lost
	rest := time.NewTimer(castFirst)
	defer rest.Stop()
	for {
		changed := c.page.device.changes.channel()
		if !c.isCurrent() {
			return nil
		}
		select {
		case <-c.more:
			f := c.take()
			if f == nil {
				continue // acknowledge has forgotten it
			}
			if sure = f.Data == shown; !sure || c.hidesSecrets() {
				shown = f.Data
				frame(c.decode(f))
			}
			dropped = c.acknowledge() || dropped && !sure
			switch {
			case dropped:
				rest.Reset(castRest)
			case !sure:
				rest.Reset(castFirst)
			default:
				rest.Stop()
			}
		case <-rest.C: // nothing was drawn since, or it was lost
			dropped = false
			c.session.Send("Page.stopScreencast", nil)
			c.start()
			rest.Reset(castFirst)
		case <-changed:
		case <-c.session.Done():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// start makes the browser send a picture now, and another one whenever it draws the page.
func (c *screencast) start() {
	c.session.Send("Page.startScreencast", map[string]any{
		"format": "jpeg", "quality": castQuality, "maxWidth": c.width, "maxHeight": c.height,
	})
}

func (c *screencast) isCurrent() bool {
	width, height := c.page.device.Size()
	return !c.page.closed() && c.page.context.currentPage() == c.page && width == c.width && height == c.height
}

func (c *screencast) onEvent(e cdp.Event) {
	var f castFrame
	if e.Method != "Page.screencastFrame" || e.Decode(&f) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest, c.pending = &f, append(c.pending, f.SessionID)
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// take returns the newest picture; nil if there is none.
func (c *screencast) take() *castFrame {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.newest
	c.newest = nil
	return f
}

// hidesSecrets reports whether pictures are missing, because they may show a secret.
func (c *screencast) hidesSecrets() bool { return c.page.device.given.any.Load() }

func (c *screencast) decode(f *castFrame) device.Frame {
	out := device.Frame{Width: f.Metadata.DeviceWidth, Height: f.Metadata.DeviceHeight}
	if !c.hidesSecrets() {
		out.Picture, _ = base64.StdEncoding.DecodeString(f.Data) // a picture that cannot be read is missing
	}
	return out
}

// acknowledge asks for further pictures. If the browser may have dropped some meanwhile, the newest one is not the last
// state of the page, and is forgotten: dropped is true.
func (c *screencast) acknowledge() (dropped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if dropped = len(c.pending) >= castPending; dropped {
		c.newest = nil
	}
	for _, id := range c.pending {
		c.session.Send("Page.screencastFrameAck", map[string]any{"sessionId": id})
	}
	c.pending = nil
	return dropped
}
