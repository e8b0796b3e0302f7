package web

import (
	"context"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// heldEvents are the events of a session of a target that was open before it was attached: a window of an app, or a
// frame in it. No event tells which document and which frames it has; adopt asks for them, and passes the events on
// after that.
type heldEvents struct {
	released chan struct{} // closed when the events were passed on

	mu     sync.Mutex
	events []cdp.Event
	done   bool
}

// wait is a waitFunc for the end of adopt.
func (h *heldEvents) wait(ctx context.Context, _ any) error {
	select {
	case <-h.released:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isOpen reports whether a target was open before it was attached. In a browser, all are new.
func (p *page) isOpen(a attachedTarget) bool { return p.browser.app != nil && !a.WaitingForDebugger }

// watchOpenFrames is watchFrames for a target that was open before; adopt must be called for it.
func (p *page) watchOpenFrames(s *cdp.Session) *heldEvents {
	h := &heldEvents{released: make(chan struct{})}
	s.Listen(func(e cdp.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.done {
			p.onSessionEvent(s, e)
		} else {
			h.events = append(h.events, e)
		}
	})
	return h
}

// adopt reads the frames of a target that was open before, and then passes on its events.
func (p *page) adopt(s *cdp.Session, h *heldEvents) {
	ctx, cancel := context.WithTimeout(p.ctx, openLimit)
	defer cancel()
	var open struct{ FrameTree frameTree }
	err := s.Call(ctx, "Page.getFrameTree", nil, &open)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		p.adoptFrames(s, open.FrameTree)
	}
	for _, e := range h.events {
		p.onSessionEvent(s, e)
	}
	h.events, h.done = nil, true
	close(h.released)
}

// frameTree is a frame with those in it, as the browser describes them.
type frameTree struct {
	Frame       map[string]any
	ChildFrames []frameTree
}

func (p *page) adoptFrames(s *cdp.Session, t frameTree) {
	p.onFrameEvent(s, cdp.Event{Method: "Page.frameNavigated", Params: notes.Marshal(map[string]any{"frame": t.Frame})})
	for _, child := range t.ChildFrames {
		p.adoptFrames(s, child)
	}
}

// initFrame sets up a frame that is in a process of its own.
func (p *page) initFrame(s *cdp.Session, a attachedTarget) {
	if !p.isOpen(a) {
		p.watchFrames(s)
		p.initSession(s)
		return
	}
	h := p.watchOpenFrames(s)
	p.initSession(s)
	p.context.mu.Lock()
	defer p.context.mu.Unlock()
	if !p.context.closed {
		p.context.watchers.Go(func() { p.adopt(s, h) })
	}
}
