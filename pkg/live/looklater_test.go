package live_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// TestLooksLaterOnRequest waits for no look at the screen, and yet knows what was shown before the last action.
func TestLooksLaterOnRequest(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) { o.Agent, o.Settle.Limit = false, time.Hour })
	later := func(c trail.Call) {
		t.Helper()
		r := f.request(live.StepRequest{Kind: trail.KindStep, Calls: []trail.Call{c}, Unrecorded: true, LookLater: true})
		if !r.OK() || r.Changes != "" {
			t.Errorf("%+v", r)
		}
	}
	warned := func(text string) bool {
		t.Helper()
		r := f.request(live.StepRequest{Text: "Holds", Kind: trail.KindVerify, Calls: []trail.Call{call("assertVisible", "text", text)}})
		return slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "held before the last action, too") })
	}
	f.step("Open", call("launchApp"))
	later(call("tap", "text", "Sign in"))
	if warned("Hello") || !warned("Sign in") {
		t.Error("what was on the screen before the action is not known")
	}
	later(call("tap", "text", "Hello")) // and nothing waits for the look when the session is closed
}
