package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/session"
)

// watch returns the pictures of a session. stop returns how the watch ended.
func (f *fixture) watch() (frames <-chan live.Frame, stop func() error) {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	out, done := make(chan live.Frame), make(chan error, 1)
	go func() {
		done <- f.Watch(ctx, func(frame live.Frame) {
			select {
			case out <- frame:
			case <-ctx.Done():
			}
		})
	}()
	return out, func() error {
		cancel()
		return <-done
	}
}

func TestWatchLooksAfterCalls(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) { o.WatchInterval = time.Hour })
	f.app.picture = func() string { return strings.Join(f.app.buttons, " ") }
	frames, stop := f.watch()
	if first := <-frames; string(first.Picture) != "Sign in" || first.Width != 100 || first.Height != 100 || first.Withheld != "" {
		t.Errorf("%+v", first)
	}
	f.step("Start", call("launchApp")) // changes nothing
	f.step("Sign in", call("tap", "text", "Sign in"))
	if next := <-frames; string(next.Picture) != "Sign in Hello" {
		t.Errorf("%+v", next)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestWatchLooksAtInterval(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) { o.WatchInterval = time.Millisecond })
	f.app.picture = func() string { return strings.Join(f.app.buttons, " ") }
	frames, stop := f.watch()
	<-frames
	f.app.set("Sign in", "98761234")
	if next := <-frames; next.Picture != nil || next.Withheld != "the screen shows a secret" {
		t.Errorf("%+v", next)
	}
	f.app.set("Other")
	if next := <-frames; string(next.Picture) != "Other" {
		t.Errorf("%+v", next)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestWatchEndsWithSession(t *testing.T) {
	t.Parallel()
	f := open(t)
	begun, ended := make(chan bool), make(chan error)
	go func() {
		ended <- f.Watch(t.Context(), func(live.Frame) { close(begun) })
	}()
	<-begun
	f.Close(t.Context())
	if err := <-ended; err == nil {
		t.Error("the watch does not say why it has ended")
	}
	if err := f.Watch(t.Context(), func(live.Frame) {}); err == nil {
		t.Error("a session that has ended can be watched")
	}
}

// TestWatchLeavesDeviceToReplays looks on while a replay uses the device.
func TestWatchLeavesDeviceToReplays(t *testing.T) {
	t.Parallel()
	var f *fixture
	var frames <-chan live.Frame
	f = open(t, func(o *live.Options) {
		o.WatchInterval = time.Millisecond
		o.Replay = func(context.Context, string, map[string][]byte, map[string]string) (live.Replayed, error) {
			f.app.set("Replayed")
			select {
			case frame := <-frames:
				t.Errorf("%s was taken during the replay", frame.Picture)
			case <-time.After(30 * time.Millisecond):
			}
			return live.Replayed{Outcome: event.Passed}, nil
		}
	})
	f.app.picture = func() string { return strings.Join(f.app.buttons, " ") }
	f.write("trails/a.trail.yaml", "trail:\n  - step: S\n    recording:\n      web:\n        - launchApp: {}\n")
	var stop func() error
	frames, stop = f.watch()
	<-frames
	if _, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml"}); err != nil {
		t.Error(err)
	}
	if next := <-frames; string(next.Picture) != "Replayed" {
		t.Errorf("%s", next.Picture)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// castingApp is an app that sends pictures by itself.
type castingApp struct {
	*app
	sent chan device.Frame
}

func (a *castingApp) Open(s device.Session) device.Device {
	a.app.Open(s)
	return a
}

func (a *castingApp) Screencast(ctx context.Context, frame func(device.Frame)) error {
	for {
		select {
		case f := <-a.sent:
			if f.Width < 0 {
				return fault.New(fault.Device, "", "the device shows 98761234")
			}
			frame(f)
		case <-ctx.Done():
			return nil
		}
	}
}

func TestWatchPassesScreencastOn(t *testing.T) {
	t.Parallel()
	casting := &castingApp{sent: make(chan device.Frame)}
	f := open(t, func(o *live.Options) {
		b := &o.Device.Backends[0]
		casting.app, _ = b.Backend.(*app)
		*b = session.Backend{Kind: b.Kind, Backend: casting}
	})
	frames, stop := f.watch()
	casting.sent <- device.Frame{Picture: []byte("jpeg"), Width: 3, Height: 4}
	if got := <-frames; string(got.Picture) != "jpeg" || got.Width != 3 || got.Height != 4 {
		t.Errorf("%+v", got)
	}
	// Once a secret was given, each picture is checked.
	casting.sent <- device.Frame{Width: 3, Height: 4}
	if got := <-frames; string(got.Picture) != "png" || got.Width != 100 {
		t.Errorf("%+v", got)
	}
	f.app.set("98761234")
	casting.sent <- device.Frame{Width: 3, Height: 4}
	if got := <-frames; got.Picture != nil || got.Withheld == "" {
		t.Errorf("%+v", got)
	}
	began := time.Now()
	for range 4 {
		casting.sent <- device.Frame{Picture: []byte("jpeg")}
		<-frames
	}
	if took := time.Since(began); took < 3*time.Second/15 {
		t.Errorf("4 pictures came within %s", took)
	}
	casting.sent <- device.Frame{Width: -1}
	if err := stop(); err != nil && strings.Contains(err.Error(), "98761234") {
		t.Errorf("%v has a secret", err)
	}
}
