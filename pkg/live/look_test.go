package live_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestLook(t *testing.T) {
	t.Parallel()
	f := open(t)
	l, err := f.Look(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	want := live.Look{
		URL: "app://main", Title: "App", Width: 100, Height: 100, PixelRatio: 2, Screenshot: []byte("png"),
		Root: &live.Element{Role: "document", Children: []*live.Element{
			{Ref: "e1", Role: "button", Name: "Sign in", Bounds: &screen.Rect{Right: 100, Bottom: 10}},
		}},
	}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(l)
	var again live.Look
	if err != nil || json.Unmarshal(data, &again) != nil || !cmp.Equal(l, again) {
		t.Errorf("%s: %v", data, err)
	}
	if l, err = f.Look(t.Context(), false); err != nil || l.Screenshot != nil {
		t.Errorf("%+v %v", l, err)
	}
}

// TestLookIsBesideCalls looks while a call runs, and checks that the one who made the call gets what it would have got.
func TestLookIsBesideCalls(t *testing.T) {
	t.Parallel()
	f := open(t)
	if _, err := f.Snapshot(t.Context(), live.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	f.app.waits = make(chan struct{})
	events, stop := f.Subscribe(f.Context(), 10)
	defer stop()
	reported := make(chan live.StepReport, 1)
	go func() {
		r, err := f.Step(t.Context(), live.StepRequest{Text: "Start", Kind: trail.KindStep, Calls: []trail.Call{call("launchApp")}})
		if err != nil {
			t.Error(err)
		}
		reported <- r
	}()
	for e := range events {
		if _, begun := e.(event.CallStarted); begun {
			break
		}
	}
	f.app.mu.Lock()
	f.app.gone = []device.Message{{Text: "Welcome", Began: time.Now().Add(time.Hour)}}
	f.app.mu.Unlock()
	f.app.set("Sign in", "New")
	for range 3 {
		if l, err := f.Look(t.Context(), true); err != nil || len(l.Root.Children) != 2 {
			t.Errorf("%+v %v", l, err)
		}
		if found, err := f.Locate(t.Context(), live.Place{X: 5, Y: 12}); err != nil || found.Element.Name != "New" {
			t.Errorf("%+v %v", found, err)
		}
	}
	close(f.app.waits)
	if r := <-reported; !strings.Contains(r.Changes, `button "New"`) || len(r.Messages) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestLookKeepsSecrets(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.set("Code 98761234")
	l, err := f.Look(t.Context(), true)
	if err != nil || l.Screenshot != nil || l.Withheld == "" || l.Root.Children[0].Name != "Code {{PIN}}" {
		t.Errorf("%+v %v", l, err)
	}
	found, err := f.Locate(t.Context(), live.Place{Ref: "e1"})
	if data, _ := json.Marshal(found); err != nil || strings.Contains(string(data), "98761234") || !strings.Contains(string(data), "{{PIN}} may change") {
		t.Errorf("%s %v", data, err)
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	f := open(t)
	want := live.Location{
		Element:    live.Element{Ref: "e1", Role: "button", Name: "Sign in", Bounds: &screen.Rect{Right: 100, Bottom: 10}},
		Candidates: []live.Candidate{{By: "text", Selector: map[string]any{"text": "Sign in"}, Matches: 1, Notes: []string{"Sign in may change"}}},
	}
	for _, at := range []live.Place{{X: 5, Y: 5}, {Ref: "e1"}} {
		got, err := f.Locate(t.Context(), at)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(at, err, diff)
		}
	}
	if _, err := f.Locate(t.Context(), live.Place{X: 5, Y: 50}); err == nil {
		t.Error("nothing is there")
	}
	if f.app.tapped != nil {
		t.Errorf("%q", f.app.tapped)
	}
}

// A look does not take a phone from the replay that uses it.
func TestLookIsRefusedWhileAReplayUsesThePhone(t *testing.T) {
	t.Parallel()
	var f *fixture
	f = open(t, func(o *live.Options) {
		o.Replay = func(ctx context.Context, _ string, _ map[string][]byte, _ map[string]string) (live.Replayed, error) {
			if _, err := f.Look(ctx, false); fault.KindOf(err) != fault.Device {
				t.Errorf("look: %v", err)
			}
			if _, err := f.Locate(ctx, live.Place{X: 5, Y: 5}); fault.KindOf(err) != fault.Device {
				t.Errorf("locate: %v", err)
			}
			return live.Replayed{Outcome: event.Passed}, nil
		}
	})
	f.write(trailFile, "trail:\n"+launch)
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: trailFile}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Look(t.Context(), false); err != nil {
		t.Error(err)
	}
}
