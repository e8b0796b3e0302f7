package web

import (
	"context"
	"sync"
	"time"
)

// changeWatcher waits for changes of a page. A change that happens while nobody waits ends the next wait. It belongs to
// one goroutine.
type changeWatcher struct {
	page   *page
	counts map[*frame]int  // of changes, when the last wait ended
	events <-chan struct{} // page.changed, when the last wait ended
}

func (p *page) newChangeWatcher() *changeWatcher {
	return &changeWatcher{page: p, counts: map[*frame]int{}}
}

// wait waits until a frame has changed since the last wait, for at least pause and at most limit. The first wait cannot
// know, and ends after pause.
func (w *changeWatcher) wait(ctx context.Context, pause, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return
	}
	events := w.page.changes()
	if w.events == nil || w.events == events {
		w.waitForFrames(ctx, events)
		events = w.page.changes()
	}
	w.events = events
}

// waitForFrames waits until a frame has changed, events is closed, or ctx ends.
func (w *changeWatcher) waitForFrames(ctx context.Context, events <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	var waits sync.WaitGroup
	defer waits.Wait()
	defer cancel()
	type change struct {
		frame *frame
		count int
	}
	frames := w.page.frames()
	changed := make(chan change, len(frames))
	deadline, _ := ctx.Deadline()
	for _, f := range frames {
		seen, ok := w.counts[f]
		if !ok {
			seen = -1
		}
		waits.Go(func() {
			count, err := f.waitForChange(ctx, seen, time.Until(deadline))
			if err == nil {
				changed <- change{f, count}
			}
		})
	}
	select {
	case <-events:
		return
	case <-ctx.Done():
		return
	case c := <-changed:
		w.counts[c.frame] = c.count
	}
	for {
		select {
		case c := <-changed:
			w.counts[c.frame] = c.count
		default:
			return
		}
	}
}

// waitForChange waits until the document has not changed seen times, and for at most limit. It returns how often the
// document has changed.
func (f *frame) waitForChange(ctx context.Context, seen int, limit time.Duration) (count int, err error) {
	err = f.eval(ctx, "waitForChange", &count, seen, limit.Milliseconds())
	return count, err
}

// changes returns a channel that is closed by the next event that changes the page or its frames.
func (p *page) changes() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}
