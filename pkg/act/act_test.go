package act_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// node is an element of a screen in memory.
type node struct {
	label            string
	hidden, disabled bool
	top              int
	tapped           int
}

func (n *node) String() string { return "node " + n.label }

// phone is a screen in memory. It finds the nodes with a label.
type phone struct {
	label    string
	unique   bool
	selector act.Selector
	nodes    func(at time.Duration) []*node // what the screen shows at a time
	answers  time.Duration                  // how long each answer takes
	broken   func(at time.Duration) error   // what Observe fails with; may be nil

	start time.Time
	was   *node // what the last try saw, and where it was
	top   int
}

func (p *phone) Observe(ctx context.Context, _ time.Duration) (act.Observation[*node], error) {
	select {
	case <-time.After(p.answers):
	case <-ctx.Done():
		return act.Observation[*node]{}, context.Cause(ctx)
	}
	if p.broken != nil && p.broken(time.Since(p.start)) != nil {
		return act.Observation[*node]{}, p.broken(time.Since(p.start))
	}
	matches := slices.DeleteFunc(p.nodes(time.Since(p.start)), func(n *node) bool { return n.label != p.label })
	check := func(fails func(*node) bool, reason string) func(*node) string {
		return func(n *node) string {
			if fails(n) {
				return reason
			}
			return ""
		}
	}
	o := act.Choose(
		p.selector,
		p.unique,
		matches,
		(*node).String,
		act.Condition[*node]{Name: "visible", Check: check(func(n *node) bool { return n.hidden }, "it is hidden")},
		act.Condition[*node]{
			Name:  "stable",
			Check: check(func(n *node) bool { return p.was != n || p.top != n.top }, "it moves"),
		},
		act.Condition[*node]{Name: "enabled", Check: check(func(n *node) bool { return n.disabled }, "it is disabled")},
	)
	if o.Element != nil {
		p.was, p.top = o.Element, o.Element.top
	}
	return o, nil
}

func (p *phone) WaitForChange(ctx context.Context, limit time.Duration) {
	select {
	case <-time.After(limit):
	case <-ctx.Done():
	}
}

func (p *phone) Similar(context.Context) []string {
	var names []string
	for _, n := range p.nodes(time.Since(p.start)) {
		names = append(names, n.label)
	}
	return names
}

func (p *phone) Location(context.Context) string { return "screen Home" }

// action is a tap on what a phone shows.
func (p *phone) action() *act.Action[*node] {
	p.start = time.Now()
	p.selector.Text = "node " + p.label
	return &act.Action[*node]{
		Screen: p, Selector: p.selector, Want: "ready to be tapped",
		Limits: act.Limits{Ready: 10 * time.Second, First: 5 * time.Second, Response: time.Second},
		Perform: func(_ context.Context, o act.Observation[*node]) error {
			o.Element.tapped++
			return nil
		},
	}
}

func always(nodes ...*node) func(time.Duration) []*node {
	return func(time.Duration) []*node { return slices.Clone(nodes) }
}

func TestActsOnceWhenElementIsReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old, current := &node{label: "Save", disabled: true}, &node{label: "Save"}
		p := &phone{label: "Save", nodes: func(at time.Duration) []*node {
			switch {
			case at < time.Second:
				return nil
			case at < 2*time.Second:
				return []*node{old}
			case at < 3*time.Second:
				current.top++
			}
			return []*node{current} // in place of the old one
		}}
		o, err := p.action().Do(t.Context())
		if err != nil || o.Element != current || current.tapped != 1 || old.tapped != 0 {
			t.Errorf("tapped the old node %d times and the current one %d times; %v", old.tapped, current.tapped, err)
		}
		if took := time.Since(p.start); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("it took %s", took)
		}
		if diff := cmp.Diff([]string{"visible", "stable", "enabled"}, o.Held); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFailureExplains(t *testing.T) {
	t.Parallel()
	save := func() *node { return &node{label: "Save"} }
	for name, tt := range map[string]struct {
		phone   phone
		element string
		want    string
	}{
		"a condition": {
			phone{label: "Save", nodes: always(&node{label: "Save", disabled: true})},
			act.NotReady,
			"node Save is not ready to be tapped: it is disabled (found node Save; it is visible, stable; within 10s; screen Home)",
		},
		"one of several": {
			phone{label: "Save", nodes: always(&node{label: "Save", hidden: true}, save())},
			act.NotReady,
			"node Save is not ready to be tapped: it is hidden (found node Save, the first of 2; within 10s; screen Home)",
		},
		"missing": {
			phone{label: "Save", nodes: always(&node{label: "Load"})},
			act.Missing,
			"node Save was not found; the screen has Load (within 10s; screen Home)",
		},
		"nothing similar": {
			phone{label: "Save", nodes: always()},
			act.Missing,
			"node Save was not found (within 10s; screen Home)",
		},
		"too many": {
			phone{label: "Save", unique: true, nodes: always(save(), save(), save(), save(), save(), save())},
			act.Ambiguous,
			"node Save matches 6 elements, but must match one: node Save, node Save, node Save, node Save, node Save (within 10s; screen Home)",
		},
		"an index that is too large": {
			phone{
				label: "Save", selector: act.Selector{Indexed: true, Index: 2, IndexName: "nthIndex"},
				nodes: always(save(), save()),
			},
			act.Missing,
			"nthIndex 2 is the third node Save (counting from 0); the screen has 2 (within 10s; screen Home)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, err := tt.phone.action().Do(t.Context())
				failure, ok := errors.AsType[*act.Failure](err)
				if !ok || fault.KindOf(err) != fault.ToolFailed || err.Error() != tt.want {
					t.Errorf("got %v\nwant %s", err, tt.want)
				}
				if details := fault.As(err).Details; details[act.ElementKey] != tt.element || tt.element == act.NotReady && details[act.ReasonKey] == "" {
					t.Errorf("details: %v", details)
				}
				if ok && (failure.Took != 10*time.Second || fault.As(err).Details["tries"] != 51) {
					t.Errorf("details: %v", fault.As(err).Details)
				}
				for _, n := range tt.phone.nodes(0) {
					if n.tapped > 0 {
						t.Error("tapped")
					}
				}
			})
		})
	}
}

func TestIndexChoosesOneOfSeveral(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second := &node{label: "Save"}, &node{label: "Save"}
		p := &phone{
			label:    "Save",
			unique:   true,
			selector: act.Selector{Indexed: true, Index: 1, IndexName: "index"},
			nodes:    always(first, second),
		}
		if _, err := p.action().Do(t.Context()); err != nil || first.tapped != 0 || second.tapped != 1 {
			t.Errorf("tapped the first %d times, the second %d times; %v", first.tapped, second.tapped, err)
		}
	})
}

func TestActionThatWasNotReceivedIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		received int // the attempt that the element receives, 0 for none
		want     string
	}{
		"later": {3, ""},
		"never": {0, "node Save is not ready to be tapped: an ad took its place (found node Save; it is visible, stable, enabled; "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := &node{label: "Save"}
				a := (&phone{label: "Save", nodes: always(n), answers: 100 * time.Millisecond}).action()
				sent := 0
				a.Perform = func(context.Context, act.Observation[*node]) error {
					if sent++; sent != tt.received {
						return &act.NotReceivedError{Reason: "an ad took its place"}
					}
					n.tapped++
					return nil
				}
				_, err := a.Do(t.Context())
				switch {
				case tt.want == "" && (err != nil || n.tapped != 1 || sent != 3):
					t.Errorf("sent %d times, received %d times; %v", sent, n.tapped, err)
				case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)):
					t.Errorf("got %v\nwant %s", err, tt.want)
				}
			})
		})
	}
}

func TestUnconfirmedActionIsNotRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &node{label: "Save"}
		a := (&phone{label: "Save", nodes: always(n)}).action()
		lost := errors.New("the connection was closed")
		a.Perform = func(_ context.Context, o act.Observation[*node]) error {
			o.Element.tapped++
			return &act.UnconfirmedError{Cause: lost}
		}
		_, err := a.Do(t.Context())
		const want = "node Save: the action was sent and may have happened, but was not confirmed: the connection was closed"
		if n.tapped != 1 || !errors.Is(err, lost) || fault.KindOf(err) != fault.CallTimeout || err.Error() != want {
			t.Errorf("tapped %d times; %v", n.tapped, err)
		}
		if _, isFailure := errors.AsType[*act.Failure](err); isFailure {
			t.Error("it counts as an action that did not happen")
		}
	})
}

func TestErrorsOfScreen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &phone{label: "Save", nodes: always(&node{label: "Save"}), broken: func(at time.Duration) error {
			if at < 2*time.Second {
				return act.ErrChanged
			}
			return nil
		}}
		if _, err := p.action().Do(t.Context()); err != nil {
			t.Errorf("a screen that changed while it was read: %v", err)
		}
		invalid := errors.New("invalid selector")
		p.broken = func(time.Duration) error { return invalid }
		a := p.action()
		if _, err := a.Do(t.Context()); !errors.Is(err, invalid) || time.Since(p.start) != 0 {
			t.Errorf("after %s: %v", time.Since(p.start), err)
		}
	})
}

func TestScreenThatDoesNotRespond(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ready, answers time.Duration
		want           string
		took           time.Duration
	}{
		"a slow first answer": {
			0, 4 * time.Second, "node Save is not ready to be tapped: it moves (found node Save; it is visible; screen Home)", 4 * time.Second,
		},
		"no answer": {
			10 * time.Second, time.Hour, "node Save: the screen did not respond within 11s",
			11 * time.Second,
		},
		"no answer to one try":   {0, time.Hour, "node Save: the screen did not respond within 5s", 5 * time.Second},
		"the third is in time":   {10 * time.Second, 3 * time.Second, "", 6200 * time.Millisecond},
		"the second comes later": {2 * time.Second, 1900 * time.Millisecond, "", 3900 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := (&phone{label: "Save", nodes: always(&node{label: "Save"}), answers: tt.answers}).action()
				a.Limits.Ready = tt.ready
				began := time.Now()
				_, err := a.Do(t.Context())
				if tt.want == "" && err != nil ||
					tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
					t.Errorf("got %v\nwant %s", err, tt.want)
				}
				if took := time.Since(began).Round(100 * time.Millisecond); took != tt.took {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// On a device that takes long to read, the limit counts from after the first observation.
func TestScreenThatIsSlowToRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slow, deadline time.Duration
		ready          bool
	}{
		"slow":                        {time.Second, 0, true},
		"not slow for this device":    {5 * time.Second, 0, false},
		"every device counts":         {0, 0, false},
		"the call has time for it":    {time.Second, 40 * time.Second, true},
		"the call has no time for it": {time.Second, 13 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := &node{label: "Save"}
				p := &phone{label: "Save", answers: 4 * time.Second, nodes: func(at time.Duration) []*node {
					n.disabled = at < 13*time.Second
					return []*node{n}
				}}
				ctx := t.Context()
				if c.deadline > 0 {
					limited, cancel := context.WithTimeout(ctx, c.deadline)
					defer cancel()
					ctx = limited
				}
				a := p.action()
				a.Limits.Slow = c.slow
				_, err := a.Do(ctx)
				if (err == nil) != c.ready || n.tapped > 1 {
					t.Errorf("%v after %s, %d taps", err, time.Since(p.start), n.tapped)
				}
			})
		})
	}
}

func TestDeadlineOfContextLeavesTimeToExplain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		a := (&phone{label: "Save", nodes: always()}).action()
		_, err := a.Do(ctx)
		if err == nil || err.Error() != "node Save was not found (within 4s; screen Home)" || ctx.Err() != nil {
			t.Errorf("got %v, with the context %v", err, ctx.Err())
		}
		short, cancel := act.WithCallLimit(t.Context(), 3*time.Second)
		defer cancel()
		<-time.After(100 * time.Millisecond) // for what precedes the action
		_, err = (&phone{label: "Save", nodes: always()}).action().Do(short)
		if err == nil || err.Error() != "node Save was not found (within 3s; screen Home)" || short.Err() != nil {
			t.Errorf("got %v, with the context %v", err, short.Err())
		}
		silent := (&phone{label: "Save", nodes: always(), answers: time.Hour}).action()
		short, cancel = act.WithCallLimit(t.Context(), time.Second)
		defer cancel()
		if _, err = silent.Do(short); !errors.Is(err, act.ErrNoResponse) {
			t.Errorf("got %v of a screen that never responded", err)
		}
		enough := errors.New("enough")
		stopped, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(enough) })
		if _, err := a.Do(stopped); !errors.Is(err, enough) {
			t.Errorf("got %v of a context that was cancelled", err)
		}
	})
}
