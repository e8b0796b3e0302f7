package live_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestSaveWarnsOfTaskThatDidNotPass(t *testing.T) {
	t.Parallel()
	f := open(t)
	warned := func(text string) bool {
		t.Helper()
		saved, err := f.Save(t.Context(), live.SaveRequest{File: trailFile, Overwrite: trail.OverwriteAll})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(saved.Warnings, func(w string) bool { return strings.Contains(w, `the task "`+text+`" did not pass`) })
	}
	edit := func(e live.Edit) {
		t.Helper()
		if _, err := f.Edit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	f.step("Sign in", call("launchApp"))
	f.request(live.StepRequest{Kind: "verify", Text: "Greeted", Calls: []trail.Call{call("assertVisible", "text", "Sign in")}})
	if warned("Greeted") {
		t.Error("warned of nothing")
	}
	edit(live.Edit{NotPassed: 2})
	if !warned("Greeted") {
		t.Error("no warning")
	}
	edit(live.Edit{Reword: &live.Reword{Step: 2, Text: "Sign in is there"}})
	if !warned("Sign in is there") {
		t.Error("no warning after a new text")
	}
	f.request(live.StepRequest{Kind: "verify", Text: "Sign in is there", Calls: []trail.Call{call("assertVisible", "text", "Sign in")}})
	if warned("Sign in is there") {
		t.Error("warned although a request for it has succeeded")
	}
	edit(live.Edit{NotPassed: 2})
	edit(live.Edit{Drop: "2"})
	if warned("Sign in is there") {
		t.Error("warned of a step that was dropped")
	}
}
