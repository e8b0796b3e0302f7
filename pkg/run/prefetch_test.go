package run_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// launches launches servers and counts those that run.
type launches struct {
	mu                     sync.Mutex
	running, most, started int
	changed                chan struct{} // closed and replaced with every start
	alone                  bool          // a second server cannot run beside the first
}

func newLaunches() *launches { return &launches{changed: make(chan struct{})} }

func (n *launches) launch(ctx context.Context, l session.Launch) (server.Link, error) {
	n.mu.Lock()
	n.started++
	if n.alone && n.running > 0 {
		n.mu.Unlock()
		return nil, fault.New(fault.IO, "", "the port is taken")
	}
	n.running++
	n.most = max(n.most, n.running)
	close(n.changed)
	n.changed = make(chan struct{})
	n.mu.Unlock()
	inner, err := launch(ctx, l)
	if err != nil {
		return nil, err
	}
	return &countedLink{Link: inner, launches: n}, nil
}

// await returns when so many servers have been started.
func (n *launches) await(started int) bool {
	for deadline := time.After(waitLimit); ; {
		n.mu.Lock()
		enough, changed := n.started >= started, n.changed
		n.mu.Unlock()
		if enough {
			return true
		}
		select {
		case <-changed:
		case <-deadline:
			return false
		}
	}
}

type countedLink struct {
	server.Link
	launches *launches
	once     sync.Once
}

func (c *countedLink) Stop(ctx context.Context) error {
	defer c.once.Do(func() {
		c.launches.mu.Lock()
		c.launches.running--
		c.launches.mu.Unlock()
	})
	return c.Link.Stop(ctx)
}

func TestNextSessionsArePrefetched(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 4, "waits", "one")
	o.Project.StartAhead = true
	n := newLaunches()
	o.Launch = n.launch
	done := 0
	o.Builtins = builtins("waits", func(tool.Call) tool.Result {
		done++
		if !n.await(min(done+2, 4)) {
			return tool.Result{Text: "nothing was prefetched", Kind: fault.ToolFailed}
		}
		return tool.Result{OK: true}
	})
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 4 {
		t.Fatalf("%v, %+v", err, summary)
	}
	if n.started != 4 || n.running != 0 {
		t.Errorf("%d servers began, %d live on", n.started, n.running)
	}
	open := ""
	for _, r := range seen.events { // what belongs together stands together, in the order of always
		switch r.Event.(type) {
		case event.TrailStarted:
			open = r.Session
		case event.ServerStarted:
			if r.Session != open {
				t.Errorf("server.started of %s during %s", r.Session, open)
			}
		case event.TrailFinished:
			open = ""
		}
	}
}

func TestPrefetchNeedsProjectAndDevice(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*run.Options){
		"the project does not ask": func(o *run.Options) { o.Project.StartAhead = false },
		"the device serves one session at a time": func(o *run.Options) {
			o.Devices[0].Backends = []session.Backend{{
				Kind:    device.Kind{Name: "phone", Drivers: []string{"playwright-native"}, OneSession: true, Commands: noCommands},
				Backend: &phone{barrier: newBarrier(1)},
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen records
			o := trails(t, &seen, 3, "one", "one")
			o.Project.StartAhead = true
			edit(&o)
			n := newLaunches()
			o.Launch = n.launch
			if summary, err := run.Run(t.Context(), o); err != nil || summary.Passed != 3 || n.most != 1 {
				t.Errorf("%v, %+v, %d servers at a time", err, summary, n.most)
			}
		})
	}
}

func TestServerThatFailsWhilePrefetchedIsStartedAgain(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 5, "one", "one")
	o.Project.StartAhead = true
	n := newLaunches()
	n.alone = true
	o.Launch = n.launch
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 5 {
		t.Fatalf("%v, %+v %v", err, summary, finishedTrails(&seen))
	}
	if n.most != 1 || n.running != 0 || n.started > 5+2 {
		t.Errorf("at most %d at once, %d live on, %d attempts", n.most, n.running, n.started)
	}
}

// A server that waits until the one before it has gone would wait for sessions whose turn comes later.
func TestSessionThatIsNotPrefetchedOpensAlone(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(o *run.Options){
		"a retry": func(o *run.Options) { o.Retries = 1 },
		"a trail whose servers must not start ahead": func(o *run.Options) {
			o.Project.Servers[0].NoPrefetch = false
			o.Project.Targets = []config.Target{{ID: "app"}, {ID: "late", Servers: []config.Server{{Name: "two", Command: "two", NoPrefetch: true}}}}
			o.Devices[0].Request.FlagTarget, o.Devices[0].Request.Targets = "", []scope.Target{{ID: "app"}, {ID: "late"}}
			for i, target := range []string{"app", "late", "app", "app"} {
				name := filepath.Join(o.Cwd, o.Paths[i])
				data, err := os.ReadFile(name)
				if err == nil {
					err = os.WriteFile(name, append([]byte("config: { target: "+target+" }\n"), data...), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen records
			o := trails(t, &seen, 4, "sometimes", "one")
			o.Project.StartAhead = true
			n := newLaunches()
			beside := 0
			o.Launch = func(ctx context.Context, l session.Launch) (server.Link, error) {
				n.mu.Lock()
				cold := l.Server.Name == "two" || o.Retries > 0 && n.started == 4 // the retry is the fifth start: four await its trail
				if cold {
					beside = max(beside, n.running)
				}
				n.mu.Unlock()
				return n.launch(ctx, l)
			}
			calls := 0
			o.Builtins = builtins("sometimes", func(tool.Call) tool.Result {
				if calls++; calls == 2 && o.Retries > 0 {
					if !n.await(4) {
						t.Error("nothing was prefetched")
					}
					return tool.Result{Text: "flaky", Kind: fault.ToolFailed}
				}
				return tool.Result{OK: true}
			})
			edit(&o)
			summary, err := run.Run(t.Context(), o)
			if err != nil || summary.Passed != 4 {
				t.Fatalf("%v, %+v", err, summary)
			}
			if limit := map[bool]int{true: 1}[o.Retries == 0]; beside > limit { // the late target has two servers
				t.Errorf("started beside %d others", beside)
			}
		})
	}
}

func TestConflictOfPrefetchedServersIsWarnedOfOnce(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]int{"listen: EADDRINUSE": 1, "the cart is empty": 0} {
		var seen records
		o := trails(t, &seen, 3, "fails", "one")
		o.Project.StartAhead = true
		o.Builtins = builtins("fails", func(tool.Call) tool.Result { return tool.Result{Text: reason, Kind: fault.ToolFailed} })
		if _, err := run.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		warnings := 0
		for _, l := range seen.logs() {
			if l.Level == "warn" && strings.Contains(l.Hint, "startAhead: false") {
				warnings++
			}
		}
		if warnings != want {
			t.Errorf("%s: %d warnings, want %d", reason, warnings, want)
		}
	}
}

func TestServerEntryTurnsPrefetchingOff(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 3, "one", "one")
	o.Project.StartAhead = true
	o.Project.Servers[0].NoPrefetch = true
	n := newLaunches()
	o.Launch = n.launch
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 3 || n.most != 1 || n.started != 3 {
		t.Errorf("%v, %+v: at most %d at once, %d began", err, summary, n.most, n.started)
	}
}

func TestUnusedPrefetchedSessionLeavesNothing(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 3, "fails", "one")
	o.Project.StartAhead = true
	o.MaxFailures = 1
	n := newLaunches()
	o.Launch = n.launch
	o.Builtins = builtins("fails", func(tool.Call) tool.Result {
		if !n.await(3) {
			t.Error("nothing was prefetched")
		}
		return tool.Result{Text: "no", Kind: fault.ToolFailed}
	})
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.RunFinished.Failed != 1 || len(summary.NotRun) != 2 {
		t.Fatalf("%v, %+v", err, summary)
	}
	if n.running != 0 {
		t.Errorf("%d servers live on", n.running)
	}
	entries, err := os.ReadDir(o.Project.LogsDir)
	if err != nil {
		t.Fatal(err)
	}
	folders := 0
	for _, e := range entries {
		if e.IsDir() {
			folders++
		}
	}
	if folders != 1 {
		t.Errorf("%d folders of sessions, want 1: %v", folders, entries)
	}
}

func TestPrefetchedServerThatCrashesIsStartedAgain(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 2, "kills", "one")
	o.Project.StartAhead = true
	var mu sync.Mutex
	var links []*link
	started := make(chan struct{}, 8)
	o.Launch = func(ctx context.Context, l session.Launch) (server.Link, error) {
		inner, err := launch(ctx, l)
		if err == nil {
			mu.Lock()
			links = append(links, inner.(*link))
			mu.Unlock()
			started <- struct{}{}
		}
		return inner, err
	}
	calls := 0
	o.Builtins = builtins("kills", func(tool.Call) tool.Result {
		if calls++; calls > 1 {
			return tool.Result{OK: true}
		}
		for range 2 {
			select {
			case <-started:
			case <-time.After(waitLimit):
				return tool.Result{Text: "nothing was prefetched", Kind: fault.ToolFailed}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		_ = links[1].session.Close()
		close(links[1].done)
		return tool.Result{OK: true}
	})
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 2 || len(links) != 3 {
		t.Errorf("%v, %+v, %d starts", err, summary, len(links))
	}
}

func noCommands() []tool.Advertised { return nil }
