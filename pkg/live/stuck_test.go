package live_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// TestStatusWhileCallRuns asks where the session stands while a call does not end.
func TestStatusWhileCallRuns(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) { o.Settle.Limit = 10 * time.Millisecond })
	f.app.waits = make(chan struct{})
	f.step("Sign in", call("tap", "text", "Sign in"))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.step("Open", call("launchApp"))
	}()
	running, stop := f.Subscribe(t.Context(), 10)
	defer stop()
	<-running
	st, err := f.Status(t.Context())
	if err != nil || st.Steps != 1 || st.Calls != 1 || st.URL != "app://main" {
		t.Errorf("%+v, %v", st, err)
	}
	close(f.app.waits)
	<-ended
	if st, err := f.Status(t.Context()); err != nil || st.Steps != 2 {
		t.Errorf("%+v, %v", st, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Status(ctx); err != nil && fault.KindOf(err) != fault.Cancelled {
		t.Error(err)
	}
}

// TestReportHasScreenBeforePageStoppedResponding has the page show something, and then not respond any more.
func TestReportHasScreenBeforePageStoppedResponding(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Open", call("launchApp"))
	f.app.silentAfter(1)
	r := f.request(live.StepRequest{Text: "Sign in", Kind: trail.KindStep, Calls: []trail.Call{call("tap", "text", "Sign in")}})
	const want = "the screen may have changed since it was read, and could not be read again: it is silent"
	if !r.OK() || !strings.Contains(r.Changes, "Hello") || !slices.Contains(r.Warnings, want) {
		t.Errorf("%+v", r)
	}
	r = f.request(live.StepRequest{Text: "Sign in", Kind: trail.KindStep, Calls: []trail.Call{call("tap", "text", "Hello")}})
	if !r.OK() || r.Changes != "" || !slices.Contains(r.Warnings, "the screen could not be read: it is silent") {
		t.Errorf("%+v", r)
	}
}

// TestCloseWhileCallRuns closes a session during a call, which says so.
func TestCloseWhileCallRuns(t *testing.T) {
	t.Parallel()
	f := open(t)
	running, stop := f.Subscribe(t.Context(), 10)
	defer stop()
	reports := make(chan live.StepReport, 1)
	go func() {
		r, _ := f.Step(t.Context(), live.StepRequest{Text: "Wait", Kind: trail.KindStep, Calls: []trail.Call{call("tap", "text", "Hang")}})
		reports <- r
	}()
	for e := range running {
		if _, ok := e.(event.CallStarted); ok {
			break
		}
	}
	f.Close(t.Context())
	if r := <-reports; len(r.Calls) != 1 || r.Calls[0].Kind != fault.Cancelled || r.Calls[0].Text != "the session was closed" {
		t.Errorf("%+v", r)
	}
}
