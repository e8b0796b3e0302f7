// Package act performs one action on one element of a screen, or checks one condition of it, for every kind of device:
// it resolves the element again in every try, waits until it is ready, acts exactly once, and explains a
// failure (specification, sections 15.1 and 15.3).
//
// It does not depend on a platform: a kind of device implements Screen. An Action belongs to one goroutine.
package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Screen is implemented by a kind of device: it finds the element of an action on a web page, or in the tree of a
// phone.
type Screen[E any] interface {
	// Observe resolves the element again and checks whether it is ready. It may do so repeatedly, for at most wait. The
	// error is ErrChanged when the screen changed meanwhile; any other ends the action.
	Observe(ctx context.Context, wait time.Duration) (Observation[E], error)
	// WaitForChange returns when the screen may have changed, and at the latest after limit.
	WaitForChange(ctx context.Context, limit time.Duration)
	// Similar returns the names of elements that may have been meant, when none was found. It is called to explain a
	// failure.
	Similar(ctx context.Context) []string
	// Location returns where the device is, such as `page https://shop.example "Cart"`. It is called to explain a
	// failure.
	Location(ctx context.Context) string
}

// Adviser is implemented by a Screen that has hints for failures.
type Adviser interface {
	// Hint returns what to do about an element that is not ready for a reason, or with an empty reason about one that
	// was not found. It is called after Location.
	Hint(reason string) string
}

// Discerner is implemented by a Screen that can tell apart elements that are alike in words.
type Discerner interface {
	// Discern returns matches with what tells them apart, as far as that is known. It is called to explain a failure.
	Discern(ctx context.Context, matches []string) []string
}

// Observation is the result of one try.
type Observation[E any] struct {
	Element E        // the element, when it is ready
	Count   int      // how many elements match; with Selector.Index, how many there are to choose from
	Matches []string // the first of several matches in words, when exactly one is needed
	Found   string   // the element in words, empty when there is none
	Held    []string // the conditions that held, in the order in which they were checked
	Reason  string   // why the next condition did not hold; empty when there is no element, or it is ready
	Ready   bool     // all conditions held
	Missing string   // the message for a missing element in place of "… was not found"; may be empty
	Tries   int      // how many times the element was resolved; 0 counts as 1
	Waited  bool     // Observe has waited for a change itself, so that the next try may follow at once
}

// ErrChanged says that the screen changed while it was read. The element is resolved again.
var ErrChanged = errors.New("the screen changed while it was read")

// ErrNoResponse says that the device did not respond to any try in time.
var ErrNoResponse = errors.New("the device did not respond")

// NotReceivedError says that an action did not reach its element, so that nothing happened and it can be tried again.
type NotReceivedError struct{ Reason string }

func (e *NotReceivedError) Error() string {
	return "the element did not receive the action: " + e.Reason
}

// UnconfirmedError says that an action was sent and not confirmed. It may have happened, and must not be repeated.
type UnconfirmedError struct {
	Target string // the element in words; Do fills it in
	Cause  error
}

func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("the action was sent and may have happened, but was not confirmed: %v", e.Cause)
}

// Hint is the advice for the user.
func (e *UnconfirmedError) Hint() string {
	return "it is not repeated; check what it changed before doing it again"
}

// Unwrap returns the cause.
func (e *UnconfirmedError) Unwrap() error { return e.Cause }

// Selector says which element an action is for, in words.
type Selector struct {
	Text      string // such as: button "Save"
	Indexed   bool   // Index chooses one of several
	Index     int    // counts from 0
	IndexName string // the argument that Index came from, such as nthIndex
}

func (s Selector) String() string {
	if s.Indexed {
		return fmt.Sprintf("%s (%s %d)", s.Text, s.IndexName, s.Index)
	}
	return s.Text
}

// Limits bound an action.
type Limits struct {
	Ready    time.Duration // for the element to become ready; 0 for a single try
	First    time.Duration // for the first observation, however short Ready is: a device may be busy
	Poll     time.Duration // between two observations of a screen that reports no change; 0 for pollInterval
	Response time.Duration // for a response that is pending when Ready has passed, and for each explanation
	// Slow is how long an observation takes on a device that is slow to read. The first one does not count in Ready if it
	// takes longer. 0 counts all.
	Slow time.Duration
}

// Action is one action on one element.
type Action[E any] struct {
	Screen   Screen[E]
	Selector Selector
	Want     string // what the element has to be, after "is not": ready to be clicked
	Place    string // where elements are counted: the page
	Limits   Limits

	// Perform acts on an element that is ready. The error is a *NotReceivedError when nothing has happened, which makes
	// another try, and an *UnconfirmedError when something may have happened. nil for an action that only checks.
	Perform func(ctx context.Context, o Observation[E]) error

	start, ready, final time.Time     // the start, the deadline of tries, and the deadline of a pending response
	latest              time.Time     // that ready and final may be moved to, because of the context; zero for any
	limit               time.Duration // of the tries, as messages name it: part of it is kept to explain a failure
	callLimit           time.Duration // of the call, when it ends the action; 0 when Limits do
	tries               int
	lastResponse        time.Time
	responded           bool // to any try
	last                Observation[E]
}

// Do waits until the element is ready and acts once. It returns what was seen of the element. The error is a
// *fault.Error of kind ToolFailed that wraps a *Failure when the element was not ready in time, of kind CallTimeout
// when the device did not respond or the action was not confirmed, the cause of ctx when that ended, or what the screen
// returned.
func (a *Action[E]) Do(ctx context.Context) (Observation[E], error) {
	a.begin(ctx)
	for {
		o, err := a.waitUntilReady(ctx)
		if err != nil || a.Perform == nil {
			return o, err
		}
		err = a.Perform(ctx, o)
		missed, notReceived := errors.AsType[*NotReceivedError](err)
		if !notReceived {
			return o, a.performError(o, err)
		}
		o.Ready, o.Reason = false, missed.Reason
		a.last = o
		a.tries++
		if a.timeLeft() == 0 {
			return o, a.failure(ctx)
		}
	}
}

// performError returns the error of Perform. A *UnconfirmedError becomes a *fault.Error that names the element.
func (a *Action[E]) performError(o Observation[E], err error) error {
	unconfirmed, ok := errors.AsType[*UnconfirmedError](err)
	if !ok {
		return err
	}
	unconfirmed.Target = o.Found
	return &fault.Error{
		Kind: fault.CallTimeout, Cause: unconfirmed, Hint: unconfirmed.Hint(),
		Message: fmt.Sprintf("%s: %v", o.Found, unconfirmed),
	}
}

// callLimit is the key under which the context of a call has its limit.
type callLimit struct{}

// WithCallLimit returns a context that ends after the limit that a call names, which messages then name too.
func WithCallLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(WithNamedLimit(ctx, limit), limit)
}

// WithNamedLimit returns a context that [CallLimit] knows the limit of. The caller lets it end after that.
func WithNamedLimit(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, callLimit{}, limit)
}

// CallLimit returns the limit that the call of ctx names, 0 for none.
func CallLimit(ctx context.Context) time.Duration {
	limit, _ := ctx.Value(callLimit{}).(time.Duration)
	return limit
}

// begin computes the deadlines. When ctx has a deadline, part of the time before it is kept to explain a failure.
func (a *Action[E]) begin(ctx context.Context) {
	now := time.Now()
	ready, final := a.Limits.Ready, max(a.Limits.Ready+a.Limits.Response, a.Limits.First)
	a.limit = ready
	if end, ok := ctx.Deadline(); ok {
		whole := end.Sub(now)
		reserve := min(2*a.Limits.Response, whole/4)
		if final > whole-reserve/2 {
			a.callLimit = CallLimit(ctx)
		}
		if ready > whole-reserve {
			a.limit = cmp.Or(CallLimit(ctx), whole.Round(100*time.Millisecond))
		}
		ready, final = max(0, min(ready, whole-reserve)), min(final, whole-reserve/2)
		a.latest = now.Add(whole - reserve)
	}
	a.start, a.ready, a.final = now, now.Add(ready), now.Add(final)
	a.lastResponse = now
}

// timeLeft returns the time left for tries, at least 0.
func (a *Action[E]) timeLeft() time.Duration { return max(0, time.Until(a.ready)) }

// waitUntilReady tries until the element is ready or the time is over.
func (a *Action[E]) waitUntilReady(ctx context.Context) (Observation[E], error) {
	for {
		if o, err := a.try(ctx); err != nil || o.Ready {
			return o, err
		}
	}
}

// try observes the element once. If it is not ready, try returns when the screen may have changed. An error ends the
// action.
func (a *Action[E]) try(ctx context.Context) (Observation[E], error) {
	bounded, cancel := context.WithDeadline(ctx, a.final)
	defer cancel()
	began := time.Now()
	o, err := a.Screen.Observe(bounded, a.timeLeft())
	late := bounded.Err() != nil
	if a.tries == 0 && !late {
		a.extend(time.Since(began))
	}
	a.tries += max(1, o.Tries)
	switch {
	case err == nil && o.Ready:
		return o, nil
	case ctx.Err() != nil:
		return o, context.Cause(ctx)
	case late:
		return o, a.timeout(ctx)
	case err != nil && !errors.Is(err, ErrChanged):
		return o, err
	case err == nil:
		a.last, a.lastResponse = o, time.Now()
		if a.timeLeft() == 0 {
			return o, a.failure(ctx)
		}
	}
	a.responded = true
	if !o.Waited {
		a.Screen.WaitForChange(bounded, min(a.poll(time.Since(began)), max(minInterval, a.timeLeft())))
	}
	return Observation[E]{}, nil
}

// extend moves the deadlines by what the first observation took, if the device is slow to read: one that is pending then
// may take as long.
func (a *Action[E]) extend(took time.Duration) {
	if a.Limits.Slow == 0 || took < a.Limits.Slow {
		return
	}
	a.ready = a.extended(a.ready, took)
	a.final = a.extended(a.final, took+max(0, took-a.Limits.Response))
}

// extended returns a later deadline, as far as the context allows it.
func (a *Action[E]) extended(deadline time.Time, by time.Duration) time.Time {
	later := deadline.Add(by)
	if a.latest.IsZero() || later.Before(a.latest) {
		return later
	}
	if deadline.After(a.latest) {
		return deadline
	}
	return a.latest
}

// poll returns the time until the next observation, after one that took some time: a screen that is slow to read is
// read less often, so that reading takes at most a third of the time.
func (a *Action[E]) poll(took time.Duration) time.Duration {
	if a.Limits.Poll == 0 {
		return pollInterval
	}
	return min(maxPollInterval, max(a.Limits.Poll, 2*took))
}

const (
	// pollInterval is the time between two observations of a screen that reports no change.
	pollInterval = 200 * time.Millisecond
	// maxPollInterval is the same for a screen that is slow to read.
	maxPollInterval = time.Second
	// minInterval is the shortest time between two observations: one frame of an animation.
	minInterval = 16 * time.Millisecond
)

// timeout returns the error of an action whose last try did not end in time.
func (a *Action[E]) timeout(ctx context.Context) error {
	if !a.responded || time.Since(a.lastResponse) > 2*a.Limits.Response {
		return &fault.Error{
			Kind: fault.CallTimeout, Cause: ErrNoResponse,
			Message: fmt.Sprintf("%s: %s did not respond within %s", a.Selector, a.place(),
				cmp.Or(a.callLimit, time.Since(a.start).Round(100*time.Millisecond))),
		}
	}
	return a.failure(ctx)
}

func (a *Action[E]) place() string {
	if a.Place == "" {
		return "the screen"
	}
	return a.Place
}
