package web

import (
	"errors"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// openAndClose opens a page in a new session and ends it.
func openAndClose(b *testing.B, backend device.Backend) {
	b.Helper()
	ctx := b.Context()
	d := backend.Open(device.Session{Log: func(string, string, string) {}, Broken: func(error) {}})
	result, err := d.Call(ctx, tool.Call{Tool: "navigate", Args: map[string]any{"url": "data:text/html,<h1>hi"}})
	if err != nil || !result.OK {
		b.Fatal(result, err)
	}
	if err := d.Close(ctx); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRun is a run of one session: start the browser, open a page, end everything.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		supervisor := spawn.NewSupervisor(spawn.Options{})
		backend, err := newBackendOn(spawntest.Chromium(b), nil, supervisor)
		if err != nil {
			b.Fatal(err)
		}
		openAndClose(b, backend)
		if err := errors.Join(backend.Close(b.Context()), supervisor.Close()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSession is one more session of a run.
func BenchmarkSession(b *testing.B) {
	backend := sharedBrowser.get(b)
	for b.Loop() {
		openAndClose(b, backend)
	}
}
