package live_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestWarnsOfChecksThatHeldBeforeTheAction(t *testing.T) {
	t.Parallel()
	f := open(t)
	verify := func(calls ...trail.Call) bool {
		t.Helper()
		r := f.request(live.StepRequest{Text: "Holds", Kind: trail.KindVerify, Calls: calls})
		if !r.OK() {
			t.Fatalf("%+v", r)
		}
		return slices.ContainsFunc(r.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "assertVisible held before the last action, too")
		})
	}
	f.step("Open", call("launchApp"))
	if verify(call("assertVisible", "text", "Sign in")) {
		t.Error("the first screen")
	}
	if warned := verify(call("tap", "text", "Sign in"), call("assertVisible", "text", "Hello")); warned {
		t.Error("a text that the action has shown")
	}
	for range 2 { // a check and a question are not actions
		if !verify(call("assertVisible", "text", "Sign in")) || verify(call("isVisible", "text", "Hello"), call("assertVisible", "text", "Hello")) {
			t.Error("a text that was there before the action, or one that was not")
		}
	}
	shot, err := f.Snapshot(t.Context(), live.SnapshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ref := func(name string) string {
		_, after, _ := strings.Cut(shot.Text, `"`+name+`" [ref=`)
		ref, _, _ := strings.Cut(after, "]")
		return ref
	}
	if !verify(call("assertVisible", "ref", ref("Sign in"))) || verify(call("assertVisible", "ref", ref("Hello"))) {
		t.Errorf("by reference, in\n%s", shot.Text)
	}
}

// TestTextThatWasOnlyTypedDidNotHoldBefore has a form whose text the next page shows.
func TestTextThatWasOnlyTypedDidNotHoldBefore(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.typed = "Hello"
	f.step("Open", call("launchApp"))
	f.step("Send", call("tap", "text", "Sign in"))
	checks := []trail.Call{call("assertVisible", "text", "Hello")}
	if r := f.request(live.StepRequest{Text: "Sent", Kind: trail.KindVerify, Calls: checks}); len(r.Warnings) > 0 {
		t.Errorf("%q", r.Warnings)
	}
}

// TestCheckOfWhatTheStepHasShownAndHidden has a step that opens a dialog and closes it, with a request for each.
func TestCheckOfWhatTheStepHasShownAndHidden(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) { o.Agent = false })
	f.step("Open", call("launchApp"))
	f.app.opens["Hello"], f.app.closes = "Bye", map[string]string{"Bye": "Hello"}
	for _, name := range []string{"Sign in", "Hello", "Bye"} {
		f.step("Say hello", call("tap", "text", name))
	}
	for text, weak := range map[string]bool{"Hello": false, "Never": true} {
		r := f.request(live.StepRequest{Text: "Gone", Kind: trail.KindVerify, Calls: []trail.Call{call("assertNotVisible", "text", text)}})
		if got := len(r.Warnings) > 0; got != weak {
			t.Errorf("%s: %q", text, r.Warnings)
		}
	}
}
