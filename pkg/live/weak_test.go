package live_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestWeakChecksAreMarkedAndRefused(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.set("Sign in", "Old news")
	f.step("Open", call("launchApp"))
	f.app.set("Sign in", "Other")
	f.step("Sign in", call("tap", "text", "Sign in"))
	f.step("Sign in", call("tap", "text", "Hello")) // the same step goes on: what it began with counts
	checks := []trail.Call{
		call("assertVisible", "text", "Hello"),
		call("assertVisible", "text", "Sign in"),
		call("assertNotVisible", "text", "Old news"),
		call("assertNotVisible", "text", "Old nuws"),
		call("assertVisible", "text", "Other"),
	}
	refused := []live.Weakness{live.HeldBefore, live.NeverSeen}
	r := f.request(live.StepRequest{Text: "Holds", Kind: trail.KindVerify, Calls: checks, Refuse: refused})
	var got []live.Weakness
	for _, c := range r.Calls {
		got = append(got, c.Weak)
	}
	want := []live.Weakness{"", live.HeldBefore, "", live.NeverSeen, ""}
	if diff := cmp.Diff(want, got); diff != "" || len(r.Recorded) != 3 {
		t.Errorf("recorded %d; (-want +got):\n%s", len(r.Recorded), diff)
	}
	if r := f.request(live.StepRequest{Text: "Holds", Kind: trail.KindVerify, Calls: checks[1:2], Refuse: refused[1:]}); len(r.Recorded) != 1 {
		t.Errorf("a weakness that is not refused: %+v", r)
	}
}

func TestPauseLeavesOutCallsAfterAnotherDocument(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Open", call("launchApp"))
	two := []trail.Call{call("tap", "text", "Sign in"), call("tap", "text", "Hello")}
	for _, c := range []struct {
		leads bool
		made  bool
	}{{false, true}, {true, false}} {
		f.app.mu.Lock()
		if f.app.leads = nil; c.leads {
			f.app.leads = map[string]string{"Sign in": "other"}
		}
		f.app.mu.Unlock()
		r := f.request(live.StepRequest{Text: "Sign in", Kind: trail.KindStep, Calls: two, Pause: true})
		if r.Calls[1].Made != c.made || r.OtherDocument != c.leads {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

func TestObserveCountsAsAStep(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.set("Sign in", "Busy")
	f.step("Open", call("launchApp"))
	f.app.set("Sign in", "Ready")
	if err := f.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := f.request(live.StepRequest{Text: "Ready", Kind: trail.KindVerify, Calls: []trail.Call{
		call("assertVisible", "text", "Ready"), call("assertVisible", "text", "Sign in"), call("assertNotVisible", "text", "Busy"),
	}})
	if r.Calls[0].Weak != "" || r.Calls[1].Weak != live.HeldBefore || r.Calls[2].Weak != "" {
		t.Errorf("%+v", r)
	}
}
