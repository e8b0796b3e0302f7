package live_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// warnsOfAbsence makes a call that checks that something is not visible, and returns the text that the warning names.
func (f *fixture) warnsOfAbsence(args ...string) string {
	f.Helper()
	r := f.request(live.StepRequest{Text: "Gone", Kind: trail.KindVerify, Calls: []trail.Call{call("assertNotVisible", args...)}})
	if !r.OK() {
		f.Fatalf("%+v", r)
	}
	i := slices.IndexFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "was on no screen of this session") })
	if i < 0 {
		return ""
	}
	return strings.Split(r.Warnings[i], `"`)[1]
}

func TestWarnsOfTextsThatNoScreenHasShown(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.set("Sign in", "Payment failed", "Delete  all")
	f.step("Open", call("launchApp"))
	f.app.set("Sign in")
	f.app.gone = []device.Message{{Role: "status", Text: "Export finished", Began: time.Now()}}
	f.step("Export", call("launchApp"))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"text", "Payment failed"}, ""},
		{[]string{"text", "payment FAILED"}, ""},
		{[]string{"text", "Delete all"}, ""},
		{[]string{"text", "Payment faild"}, "Payment faild"},
		{[]string{"text", "98761234"}, "{{PIN}}"},
		{[]string{"text", "Hi {{name}}"}, ""},
		{[]string{"text", "Hi ${name}"}, ""},
		{[]string{"ref", `button "Delete all"`}, ""},
		{[]string{"ref", `button "Delet all"`}, "Delet all"},
		{[]string{"ref", "css=.spinner"}, ""},
		{[]string{"ref", "alert"}, ""},
		{[]string{"text", "Export finished"}, ""},
	} {
		if got := f.warnsOfAbsence(c.args...); got != c.want {
			t.Errorf("%q: the warning names %q, expected %q", c.args, got, c.want)
		}
	}
	selector := map[string]any{"web": map[string]any{"ariaRole": "button", "ariaNameRegex": "Payment faild"}}
	for pattern, want := range map[string]bool{"Payment faild": true, "Payment failed": false, "Payment f.*": false} {
		selector["web"].(map[string]any)["ariaNameRegex"] = pattern
		r := f.step("Gone", trail.Call{Tool: "assertNotVisible", Args: map[string]any{"nodeSelector": selector}})
		if warned := strings.Contains(strings.Join(r.Warnings, "\n"), "on no screen"); warned != want {
			t.Errorf("the name %q: warned %t; %+v", pattern, warned, r)
		}
	}
}

// TestDoesNotWarnOfTextsThatAReplayMayHaveShown has a session that did not look at each screen of a replay.
func TestDoesNotWarnOfTextsThatAReplayMayHaveShown(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", brokenTrail)
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}); err != nil {
		t.Fatal(err)
	}
	if got := f.warnsOfAbsence("text", "Payment failed"); got != "" {
		t.Errorf("warned of %q", got)
	}
}

func TestDoesNotWarnOfTextsWhenItCannotRememberAll(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.set(strings.Repeat("x", 17<<20))
	f.step("Open", call("launchApp"))
	f.app.set("Sign in")
	if got := f.warnsOfAbsence("text", "Payment failed"); got != "" {
		t.Errorf("warned of %q", got)
	}
}
