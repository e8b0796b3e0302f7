package live_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/web"
)

// openWeb opens a live session in a browser.
func openWeb(t *testing.T) *fixture {
	t.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	kind := web.Kind()
	backend, err := kind.New(device.Host{
		Values: map[string]string{"browser": spawntest.Chromium(t)}, Env: os.Environ(), Programs: local.Programs(supervisor),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(backend.Close(context.WithoutCancel(t.Context())), supervisor.Close()); err != nil {
			t.Error(err)
		}
	})
	return open(t, func(o *live.Options) {
		o.Device = session.Device{Backends: []session.Backend{{Kind: kind, Backend: backend}}}
		o.Agent = false
	})
}

// TestWatchChecksPicturesOfBrowserAfterSecret looks on while a secret is typed, and then another page is opened.
func TestWatchChecksPicturesOfBrowserAfterSecret(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Sign in</title><input aria-label=PIN>"))
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	f := openWeb(t)
	f.step("Open", call("web_navigate", "url", server.URL))
	frames, stop := f.watch()
	next := func(withheld bool) {
		t.Helper()
		for frame := range frames {
			if (frame.Withheld != "") != withheld {
				continue
			}
			if withheld != (frame.Picture == nil) {
				t.Fatalf("withheld for %q, with a picture of %d bytes", frame.Withheld, len(frame.Picture))
			}
			if withheld {
				return
			}
			picture, _, err := image.DecodeConfig(bytes.NewReader(frame.Picture))
			if err != nil || picture.Width != 1280 || picture.Height != 800 || frame.Width != 1280 || frame.Height != 800 {
				t.Errorf("%vx%v, %+v, %v", frame.Width, frame.Height, picture, err)
			}
			return
		}
	}
	next(false)
	// beside makes a call and reads pictures until it has ended.
	beside := func(withheld bool, c trail.Call) {
		t.Helper()
		done := make(chan bool)
		go func() {
			defer close(done)
			if _, err := f.Step(t.Context(), live.StepRequest{Text: "Call", Kind: trail.KindStep, Calls: []trail.Call{c}}); err != nil {
				t.Error(err)
			}
		}()
		next(withheld)
		for {
			select {
			case <-frames:
			case <-done:
				return
			}
		}
	}
	beside(true, call("web_type", "ref", "e1", "text", "{{PIN}}"))
	beside(false, call("web_navigate", "url", server.URL+"/other"))
	if err := stop(); err != nil {
		t.Error(err)
	}
}
