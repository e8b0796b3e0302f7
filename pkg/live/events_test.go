package live_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// names returns the types of events until the channel is closed.
func names(events <-chan event.Event) (list []string) {
	for e := range events {
		list = append(list, e.Type())
	}
	return list
}

func TestSubscriberReceivesEvents(t *testing.T) {
	t.Parallel()
	f := open(t)
	events, stop := f.Subscribe(f.Context(), 100)
	defer stop()
	f.step("Sign in", call("tap", "text", "Sign in"))
	f.step("Sign in", call("web_fillSecret", "value", "98761234"))
	f.Close(context.WithoutCancel(t.Context()))
	var got []string
	for e := range events {
		got = append(got, e.Type())
		if text := fmt.Sprintf("%+v", e); strings.Contains(text, "98761234") {
			t.Error(text)
		}
	}
	want := []string{"step.started", "call.started", "call.finished", "step.finished", "step.started", "call.started", "call.finished", "step.finished"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	late, stopLate := f.Subscribe(f.Context(), 1)
	defer stopLate()
	if got := names(late); got != nil {
		t.Errorf("after the end: %q", got)
	}
}

// TestSlowSubscriberLosesOldEvents checks that a subscriber that reads nothing stalls no call, and learns how much it
// lost.
func TestSlowSubscriberLosesOldEvents(t *testing.T) {
	t.Parallel()
	f := open(t)
	events, stop := f.Subscribe(f.Context(), 3)
	defer stop()
	for range 10 {
		f.step("Sign in", call("tap", "text", "Sign in"))
	}
	f.Close(context.WithoutCancel(t.Context()))
	lost, received := 0, 0
	var got []string
	for e := range events {
		got = append(got, e.Type())
		if e, ok := e.(event.Lost); ok {
			lost += e.Count
		} else {
			received++
		}
	}
	if lost+received != 40 || received > 4 || !slices.Equal(got[len(got)-4:], []string{"lost", "call.started", "call.finished", "step.finished"}) {
		t.Errorf("%d lost, received %q", lost, got)
	}
}

// TestSubscribersComeAndGo is for the race detector.
func TestSubscribersComeAndGo(t *testing.T) {
	t.Parallel()
	f := open(t)
	var work sync.WaitGroup
	for reads := range 20 {
		work.Go(func() {
			events, stop := f.Subscribe(f.Context(), reads)
			defer stop()
			for range reads {
				if _, open := <-events; !open {
					return
				}
			}
			stop()
			for range events {
			}
		})
	}
	for range 20 {
		if _, err := f.Step(t.Context(), live.StepRequest{Text: "Sign in", Kind: "step", Calls: []trail.Call{call("tap", "text", "Sign in")}}); err != nil {
			t.Error(err)
		}
	}
	f.Close(context.WithoutCancel(t.Context()))
	work.Wait()
}

// TestMarkComesBehindEvents marks what has happened so far.
func TestMarkComesBehindEvents(t *testing.T) {
	t.Parallel()
	f := open(t)
	events, stop := f.Subscribe(f.Context(), 100)
	defer stop()
	f.step("Sign in", call("tap", "text", "Sign in"))
	f.SendMarker()
	for count := 0; ; count++ {
		if e, ok := (<-events).(event.Lost); ok {
			if e.Count != 0 || count != 4 {
				t.Errorf("%d lost behind %d events", e.Count, count)
			}
			return
		}
	}
}
