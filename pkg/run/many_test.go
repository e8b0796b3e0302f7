package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// trails makes a run of n trails that each call one tool; the first is 0.trail.yaml.
func trails(t *testing.T, seen *records, n int, toolName string, servers ...string) run.Options {
	t.Helper()
	o := options(t, seen, call(toolName), servers...)
	o.Paths = nil
	for i := range n {
		name := fmt.Sprintf("%d.trail.yaml", i)
		if err := os.WriteFile(filepath.Join(o.Cwd, name), []byte(call(toolName)), 0o644); err != nil {
			t.Fatal(err)
		}
		o.Paths = append(o.Paths, name)
	}
	return o
}

// meeting is a tool whose calls return when so many of them are in progress, and fail when that takes too long.
type meeting struct {
	mu           sync.Mutex
	inside, most int
	wanted       int
	once         sync.Once
	complete     chan struct{}
}

func newMeeting(wanted int) *meeting { return &meeting{wanted: wanted, complete: make(chan struct{})} }

func (m *meeting) Call(context.Context, tool.Call) (tool.Result, error) {
	m.mu.Lock()
	m.inside++
	m.most = max(m.most, m.inside)
	if m.inside == m.wanted {
		m.once.Do(func() { close(m.complete) })
	}
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		m.inside--
		m.mu.Unlock()
	}()
	select {
	case <-m.complete:
		return tool.Result{OK: true}, nil
	case <-time.After(patience):
		return tool.Result{Text: "the others did not come"}, nil
	}
}

// devices names devices like the one that o has; without names it is that one.
func devices(o run.Options, names ...string) []run.Device {
	if len(names) == 0 {
		return o.Devices
	}
	var out []run.Device
	for _, name := range names {
		out = append(out, run.Device{Device: session.Device{Name: name}, Request: o.Devices[0].Request})
	}
	return out
}

func finishedTrails(seen *records) []string {
	var out []string
	for _, r := range seen.events {
		if e, ok := r.Event.(event.TrailFinished); ok {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.File, e.Device, e.Outcome)))
		}
	}
	slices.Sort(out)
	return out
}

func TestSoManySessionsRunAtOnceAsThereAreWorkers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		workers int
		devices []string
		want    int
	}{
		"on one device":               {workers: 3, want: 3},
		"one for each device":         {devices: []string{"a", "b"}, want: 2},
		"two for each device":         {workers: 4, devices: []string{"a", "b"}, want: 4},
		"fewer workers than devices":  {workers: 2, devices: []string{"a", "b", "c"}, want: 2},
		"one after another":           {workers: 1, devices: []string{"a", "b"}, want: 1},
		"more workers than there are": {workers: 9, want: 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen records
			m := newMeeting(tt.want)
			o := trails(t, &seen, 6, "meet")
			o.Workers, o.Devices = tt.workers, devices(o, tt.devices...)
			o.Builtins = builtins("meet", nil)
			o.Builtins[0].Caller = m
			summary, err := run.Run(t.Context(), o)
			if err != nil || summary.Passed != 6*max(1, len(tt.devices)) {
				t.Fatalf("%v, %+v\n%v", err, summary, finishedTrails(&seen))
			}
			if m.most != tt.want {
				t.Errorf("%d at once, want %d", m.most, tt.want)
			}
		})
	}
}

func TestEveryTrailRunsOnEveryDeviceInASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 2, "mine", "one")
	o.Devices = devices(o, "a", "b")
	o.Devices[1].Width, o.Devices[1].Height = 390, 844
	var mu sync.Mutex
	var calls []string
	o.Builtins = builtins("mine", func(c tool.Call) tool.Result {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, fmt.Sprintf("%dx%d before=%v", c.Context.Device.Width, c.Context.Device.Height, c.Context.Memory["seen"]))
		if c.Context.Device.Width == 390 {
			return tool.Result{Text: "not on this one", Kind: fault.ToolFailed}
		}
		return tool.Result{OK: true, MemoryDelta: map[string]any{"seen": "yes"}}
	})
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 2 || summary.RunFinished.Failed != 2 || summary.ExitCode != fault.ExitFailed {
		t.Fatalf("%v, %+v", err, summary)
	}
	want := []string{"0.trail.yaml a passed", "0.trail.yaml b failed", "1.trail.yaml a passed", "1.trail.yaml b failed"}
	if diff := cmp.Diff(want, finishedTrails(&seen)); diff != "" {
		t.Errorf("trails (-want +got):\n%s", diff)
	}
	slices.Sort(calls)
	if diff := cmp.Diff([]string{"0x0 before=<nil>", "0x0 before=<nil>", "390x844 before=<nil>", "390x844 before=<nil>"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"0.trail.yaml", "1.trail.yaml"}, slices.Sorted(slices.Values(summary.Failed))); diff != "" {
		t.Errorf("failed files, each once (-want +got):\n%s", diff)
	}
	sessions := map[string]bool{}
	for _, r := range seen.events {
		if r.Session != "" {
			sessions[r.Session] = true
		}
	}
	if len(sessions) != 4 {
		t.Errorf("%d sessions, want 4", len(sessions))
	}
}

func TestFailFastBeginsNothingMoreAndForgetsNothing(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 3} {
		var seen records
		o := trails(t, &seen, 12, "fails", "one")
		o.Workers, o.FailFast = workers, true
		o.Builtins = builtins("fails", func(tool.Call) tool.Result { return tool.Result{Text: "no", Kind: fault.ToolFailed} })
		summary, err := run.Run(t.Context(), o)
		if err != nil || summary.RunFinished.Failed == 0 || summary.RunFinished.Failed > workers {
			t.Errorf("%d workers: %v, %+v", workers, err, summary)
		}
		if n := len(summary.Failed) + len(summary.NotRun); n != 12 {
			t.Errorf("%d workers: %d trails are accounted for, want 12", workers, n)
		}
	}
}

func TestAPanicAmongWorkersEndsTheRunAsABug(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 8, "panics", "one")
	o.Workers = 2
	o.Builtins = builtins("panics", func(tool.Call) tool.Result { panic("oops") })
	summary, err := run.Run(t.Context(), o)
	if fault.KindOf(err) != fault.Bug || summary.ExitCode == fault.ExitPassed {
		t.Errorf("%v, %+v", err, summary)
	}
	if n := len(summary.Failed) + len(summary.NotRun); n != 8 {
		t.Errorf("%d trails are accounted for, want 8", n)
	}
	if n := len(finishedTrails(&seen)); n != len(summary.Failed) {
		t.Errorf("%d trails ended in the events, want %d", n, len(summary.Failed))
	}
}

// phone serves one session at a time.
type phone struct{ meeting *meeting }

func (p *phone) Open(device.Session) device.Device              { return handset{p} }
func (*phone) Classifiers(context.Context) ([]string, error)    { return nil, nil }
func (*phone) Check(context.Context) (detail string, err error) { return "", nil }
func (*phone) Close(context.Context) error                      { return nil }
func (handset) Prepare()                                        {}
func (handset) Size() (width, height int)                       { return 0, 0 }
func (handset) Evidence(context.Context) []device.Artifact      { return nil }
func (handset) Close(context.Context) error                     { return nil }
func (h handset) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	return h.meeting.Call(ctx, c)
}

type handset struct{ *phone }

func TestADeviceThatServesOneSessionAtATimeDoesSoWhateverTheWorkers(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 3, "tap")
	o.Workers = 6
	o.Devices = devices(o, "a", "b")
	phones := []*phone{{newMeeting(1)}, {newMeeting(1)}}
	for i := range o.Devices {
		o.Devices[i].Backends = []session.Backend{{
			Kind:    device.Kind{Name: "phone", Drivers: []string{"playwright-native"}, Commands: []tool.Advertised{{Name: "tap"}}, OneSession: true},
			Backend: phones[i],
		}}
	}
	phones[0].meeting.wanted, phones[1].meeting.wanted = 2, 2 // never comes true; each call waits a moment for it
	for _, p := range phones {
		time.AfterFunc(200*time.Millisecond, func() { p.meeting.once.Do(func() { close(p.meeting.complete) }) })
	}
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 6 {
		t.Fatalf("%v, %+v", err, summary)
	}
	for i, p := range phones {
		if p.meeting.most != 1 {
			t.Errorf("phone %d served %d sessions at once", i, p.meeting.most)
		}
	}
}

// nursery launches servers and counts those that live.
type nursery struct {
	mu                  sync.Mutex
	living, most, begun int
	changed             chan struct{} // closed and replaced with every start
	alone               bool          // a second server cannot live beside the first
}

func newNursery() *nursery { return &nursery{changed: make(chan struct{})} }

func (n *nursery) launch(ctx context.Context, l session.Launch) (server.Link, error) {
	n.mu.Lock()
	n.begun++
	if n.alone && n.living > 0 {
		n.mu.Unlock()
		return nil, fault.New(fault.Server, "", "the port is taken")
	}
	n.living++
	n.most = max(n.most, n.living)
	close(n.changed)
	n.changed = make(chan struct{})
	n.mu.Unlock()
	inner, err := launch(ctx, l)
	if err != nil {
		return nil, err
	}
	return &child{Link: inner, nursery: n}, nil
}

// await returns when so many servers have been started.
func (n *nursery) await(begun int) bool {
	for deadline := time.After(patience); ; {
		n.mu.Lock()
		enough, changed := n.begun >= begun, n.changed
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

type child struct {
	server.Link
	nursery *nursery
	once    sync.Once
}

func (c *child) Stop(ctx context.Context) error {
	defer c.once.Do(func() {
		c.nursery.mu.Lock()
		c.nursery.living--
		c.nursery.mu.Unlock()
	})
	return c.Link.Stop(ctx)
}

func TestTheNextSessionsOpenWhileATrailRuns(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 4, "waits", "one")
	o.Project.StartAhead = true
	n := newNursery()
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
	if n.begun != 4 || n.living != 0 {
		t.Errorf("%d servers began, %d live on", n.begun, n.living)
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

func TestSessionsAreNotPrefetchedUnlessTheProjectAsksAndTheDeviceAllows(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*run.Options){
		"the project does not ask": func(o *run.Options) { o.Project.StartAhead = false },
		"the device serves one session at a time": func(o *run.Options) {
			o.Devices[0].Backends = []session.Backend{{
				Kind:    device.Kind{Name: "phone", Drivers: []string{"playwright-native"}, OneSession: true},
				Backend: &phone{newMeeting(1)},
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen records
			o := trails(t, &seen, 3, "one", "one")
			o.Project.StartAhead = true
			edit(&o)
			n := newNursery()
			o.Launch = n.launch
			if summary, err := run.Run(t.Context(), o); err != nil || summary.Passed != 3 || n.most != 1 {
				t.Errorf("%v, %+v, %d servers at a time", err, summary, n.most)
			}
		})
	}
}

func TestAServerThatMustBeAloneIsStartedAgainAtItsTurn(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 5, "one", "one")
	o.Project.StartAhead = true
	n := newNursery()
	n.alone = true
	o.Launch = n.launch
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 5 {
		t.Fatalf("%v, %+v %v", err, summary, finishedTrails(&seen))
	}
	if n.most != 1 || n.living != 0 || n.begun > 5+2 {
		t.Errorf("at most %d at once, %d live on, %d attempts", n.most, n.living, n.begun)
	}
}

// A server that waits until the one before it has gone would wait for sessions whose turn comes later.
func TestASessionThatOpensAtItsTurnOpensAlone(t *testing.T) {
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
			n := newNursery()
			beside := 0
			o.Launch = func(ctx context.Context, l session.Launch) (server.Link, error) {
				n.mu.Lock()
				cold := l.Server.Name == "two" || o.Retries > 0 && n.begun == 4 // the retry is the fifth start: four await its trail
				if cold {
					beside = max(beside, n.living)
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

func TestServersThatMayHaveMetAreNamedAsAReasonOnce(t *testing.T) {
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

func TestAServerThatIsNotToBeStartedAheadIsNot(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 3, "one", "one")
	o.Project.StartAhead = true
	o.Project.Servers[0].NoPrefetch = true
	n := newNursery()
	o.Launch = n.launch
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 3 || n.most != 1 || n.begun != 3 {
		t.Errorf("%v, %+v: at most %d at once, %d began", err, summary, n.most, n.begun)
	}
}

func TestASessionThatWasOpenedAheadAndIsNotUsedLeavesNothing(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 3, "fails", "one")
	o.Project.StartAhead = true
	o.FailFast = true
	n := newNursery()
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
	if n.living != 0 {
		t.Errorf("%d servers live on", n.living)
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

func TestAServerThatDiesBeforeItsTurnIsStartedAgain(t *testing.T) {
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
			case <-time.After(patience):
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
