package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
)

func TestTellsMessagesThatTheCallerHasNotSeen(t *testing.T) {
	t.Parallel()
	f := open(t)
	message := func(text string, began time.Time) device.Message {
		return device.Message{Role: "status", Text: text, Began: began, For: 2040 * time.Millisecond}
	}
	f.step("Open", call("launchApp"))
	seen := time.Now().Add(-time.Hour)
	f.app.gone = []device.Message{message("Welcome", seen), message("Export finished: 98761234 \"rows\"", time.Now())}
	const want = `shown for 2.0s since the last call: status "Export finished: {{PIN}} \"rows\""`
	if got := f.step("Tap", call("tap", "text", "Sign in")).Messages; len(got) != 1 || got[0] != want {
		t.Errorf("messages %q", got)
	}
	for i := range 7 {
		f.app.gone = append(f.app.gone, message(fmt.Sprint("n", i), time.Now()))
	}
	shot, err := f.Snapshot(t.Context(), live.SnapshotOptions{})
	if err != nil || len(shot.Messages) != 5 || !strings.HasSuffix(shot.Messages[4], `"n6"`) {
		t.Errorf("%q, %v", shot.Messages, err)
	}
	if shot, err = f.Snapshot(t.Context(), live.SnapshotOptions{}); err != nil || len(shot.Messages) > 0 {
		t.Errorf("told again: %q, %v", shot.Messages, err)
	}
	f = open(t)
	f.write("trails/a.trail.yaml", brokenTrail)
	f.app.gone = []device.Message{message("Cookies", time.Now())}
	report, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true})
	if err != nil || len(report.Messages) != 1 {
		t.Errorf("replay: %q, %v", report.Messages, err)
	}
}

func TestShowsTheLastLinesOfThePageLog(t *testing.T) {
	t.Parallel()
	f := open(t)
	if _, err := f.Snapshot(t.Context(), live.SnapshotOptions{Show: device.ShowConsole}); err == nil || !strings.Contains(err.Error(), "no console") {
		t.Errorf("a device without a console: %v", err)
	}
	f.app.log = &device.PageLog{Earlier: []string{"log: one 98761234"}}
	for i := range 200 {
		f.app.log.Since = append(f.app.log.Since, fmt.Sprintf("log: line %d %s", i, strings.Repeat("x", 50)))
	}
	show := func(o live.SnapshotOptions) live.PageLog {
		t.Helper()
		o.Show = device.ShowConsole
		shot, err := f.Snapshot(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return *shot.Log
	}
	log := show(live.SnapshotOptions{})
	if n := len(log.Since); n < 50 || n > 80 || log.More != 201-n || len(log.Earlier) > 0 || !strings.HasPrefix(log.Since[n-1], "log: line 199 ") {
		t.Errorf("%d lines, %d before, %d more, last %q", n, len(log.Earlier), log.More, log.Since[n-1])
	}
	if log = show(live.SnapshotOptions{Find: "ONE"}); len(log.Earlier) != 1 || log.Earlier[0] != "log: one {{PIN}}" || len(log.Since)+log.More > 0 {
		t.Errorf("found %+v", log)
	}
	for _, o := range []live.SnapshotOptions{{Show: "screen"}, {Show: device.ShowConsole, Within: "e1"}, {Show: device.ShowConsole, Screenshot: true}} {
		if _, err := f.Snapshot(t.Context(), o); fault.KindOf(err) != fault.InvalidArguments {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
