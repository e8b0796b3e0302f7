package live_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
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
		r := f.request(live.StepRequest{Text: "Sign in", Kind: trail.KindStep, Calls: two, StopOnPageChange: true})
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

// waypoint is a call that expects elements with a name, and expects that those with others are not there.
func waypoint(required string, forbidden ...string) trail.Call {
	named := func(name string) any {
		return map[string]any{"selector": map[string]any{"web": map[string]any{"ariaNameRegex": name}}}
	}
	args := map[string]any{}
	if required != "" {
		args["required"] = []any{named(required)}
	}
	var list []any
	for _, name := range forbidden {
		list = append(list, named(name))
	}
	if list != nil {
		args["forbidden"] = list
	}
	return trail.Call{Tool: device.AssertWaypoint, Args: args}
}

func TestWeakWaypoints(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.set("Sign in", "Old news")
	f.step("Open", call("launchApp"))
	f.app.set("Sign in", "Hello")
	f.step("Sign in", call("tap", "text", "Sign in"))
	for name, c := range map[string]struct {
		call trail.Call
		weak live.Weakness
		says string // a part of a warning
	}{
		"what is new":                  {waypoint("Hello"), "", ""},
		"what was there":               {waypoint("Sign in"), live.HeldBefore, "assertWaypoint held before"},
		"what was there and is gone":   {waypoint("Sign in", "Old news"), "", ""},
		"was not there before, either": {waypoint("Sign in", "Old nuws"), live.HeldBefore, `"Old nuws" was on no screen`},
		"what is gone":                 {waypoint("", "Old news"), "", ""},
		"what was never there":         {waypoint("", "Old news", "Old nuws"), live.NeverSeen, `"Old nuws" was on no screen`},
		"what may be anything":         {waypoint("", "Old n.*"), live.NeverSeen, ""},
		"new, and never there":         {waypoint("Hello", "Old nuws"), "", `"Old nuws" was on no screen`},
	} {
		r := f.request(live.StepRequest{Text: "Holds", Kind: trail.KindVerify, Calls: []trail.Call{c.call}})
		warnings := strings.Join(r.Warnings, "; ")
		if r.Calls[0].Weak != c.weak || c.says == "" && warnings != "" || !strings.Contains(warnings, c.says) {
			t.Errorf("%s: weak %q; %s", name, r.Calls[0].Weak, warnings)
		}
	}
	if !live.IsAbsence(waypoint("", "Old news")) || live.IsAbsence(waypoint("Hello", "Old news")) {
		t.Error("a waypoint succeeds because something is not there only if it requires nothing")
	}
}
