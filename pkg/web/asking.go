package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// asking knows the dialogs that wait for the answer of a person. While there is one, its page does not respond, and the
// limits of calls do not run. The zero value is ready to use. It may be used from any goroutine.
type asking struct {
	mu     sync.Mutex
	open   []*question
	total  int           // number of questions
	began  time.Time     // when open got its first question
	waited time.Duration // for answers, before that
}

// question is about a dialog of a page.
type question struct {
	page   *page
	cancel context.CancelFunc
}

func (a *asking) begin(q *question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.open) == 0 {
		a.began = time.Now()
	}
	a.open = append(a.open, q)
	a.total++
}

func (a *asking) end(q *question) {
	q.cancel()
	a.mu.Lock()
	a.open = slices.DeleteFunc(a.open, func(other *question) bool { return other == q })
	if len(a.open) == 0 {
		a.waited += time.Since(a.began)
	}
	a.mu.Unlock()
	q.page.device.changes.notify()
}

// withdraw ends the questions about dialogs of a page that have closed.
func (a *asking) withdraw(p *page) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, q := range a.open {
		if q.page == p {
			q.cancel()
		}
	}
}

// asks reports whether a page waits for an answer.
func (a *asking) asks(p *page) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.open, func(q *question) bool { return q.page == p })
}

// asked returns how many questions there were, and for how long answers were awaited.
func (a *asking) asked() (total int, waited time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	waited = a.waited
	if len(a.open) > 0 {
		waited += time.Since(a.began)
	}
	return a.total, waited
}

// awaitAnswers waits until no page waits for an answer.
func (d *webDevice) awaitAnswers(ctx context.Context) error {
	return d.changes.waitUntil(ctx, func() bool {
		d.asking.mu.Lock()
		defer d.asking.mu.Unlock()
		return len(d.asking.open) == 0
	})
}

// ask lets a person answer a dialog, and then calls answer with that, or with policy if nobody answers. It returns false
// if nobody can be asked.
func (p *page) ask(q device.Question, policy dialogPolicy, answer func(dialogPolicy)) bool {
	ask := p.device.session.Ask
	if ask == nil || policy.given {
		return false
	}
	p.context.mu.Lock()
	defer p.context.mu.Unlock()
	if p.context.closed {
		return false
	}
	ctx, cancel := context.WithCancel(p.ctx)
	pending := &question{p, cancel}
	p.device.asking.begin(pending)
	p.context.watchers.Go(func() {
		defer p.device.asking.end(pending)
		a, ok := ask(ctx, q)
		switch {
		case ctx.Err() != nil:
			p.notes.Add(notes.Dialog, "%s %q, closed without an answer", q.Kind, q.Text)
		case ok:
			answer(dialogPolicy{given: true, accept: a.Accept, text: a.Text})
		default:
			answer(policy)
		}
	})
	return true
}

// errAsking is the error of looking at a page that waits for an answer.
func errAsking() error {
	return fault.New(fault.Device, "answer the dialog first", "the page does not respond while it shows a dialog")
}

// withTimeout is context.WithTimeout, but the time does not run while a person is asked.
func (d *webDevice) withTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if d.session.Ask == nil {
		return context.WithTimeout(ctx, limit)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	_, before := d.asking.asked()
	t := &askingTimeout{Context: ctx, device: d, end: time.Now().Add(limit - before), cancel: cancel}
	t.timer = time.AfterFunc(limit, t.expire)
	return t, func() {
		t.timer.Stop()
		cancel(context.Canceled)
	}
}

// askingTimeout is a context with a deadline that moves while a person is asked.
type askingTimeout struct {
	context.Context //nolint:containedctx // it is one
	device          *webDevice
	end             time.Time // without the time that was waited for answers
	cancel          context.CancelCauseFunc
	timer           *time.Timer
}

// Deadline implements context.Context: it is the deadline if nobody is asked any more.
func (t *askingTimeout) Deadline() (time.Time, bool) {
	_, waited := t.device.asking.asked()
	end := t.end.Add(waited)
	if earlier, ok := t.Context.Deadline(); ok && earlier.Before(end) {
		return earlier, true
	}
	return end, true
}

func (t *askingTimeout) expire() {
	_, waited := t.device.asking.asked()
	left := time.Until(t.end.Add(waited))
	switch {
	case t.Err() != nil:
	case left <= 0:
		t.cancel(context.DeadlineExceeded)
	default:
		time.AfterFunc(max(left, pollInterval), t.expire)
	}
}

// runAsking runs a command and waits for the answers to the dialogs that it opened. It runs it again if a dialog kept the
// page from responding before the command did anything.
func (d *webDevice) runAsking(ctx context.Context, p *page, call tool.Call, command command) (tool.Result, error) {
	for {
		before, _ := d.asking.asked()
		result, err := d.runAllowed(ctx, p, call, command)
		if waiting := d.awaitAnswers(ctx); waiting != nil {
			return result, cmp.Or(err, waiting)
		}
		if total, _ := d.asking.asked(); total == before || !errors.Is(err, act.ErrNoResponse) {
			return result, err
		}
	}
}
