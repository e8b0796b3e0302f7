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

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// waitLimit bounds every wait of these tests.
const waitLimit = 20 * time.Second

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

// barrier is a tool whose calls return when so many of them are in progress, and fail when that takes too long.
type barrier struct {
	fails        bool // even if they come
	mu           sync.Mutex
	inside, most int
	wanted       int
	once         sync.Once
	complete     chan struct{}
}

func newBarrier(wanted int) *barrier { return &barrier{wanted: wanted, complete: make(chan struct{})} }

func (m *barrier) Call(context.Context, tool.Call) (tool.Result, error) {
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
		return tool.Result{OK: !m.fails}, nil
	case <-time.After(waitLimit):
		return tool.Result{Text: "the others did not come"}, nil
	}
}

// devices names devices like the one that o has; without names it is that one.
func devices(o run.Options, names ...string) []session.Device {
	if len(names) == 0 {
		return o.Devices
	}
	var out []session.Device
	for _, name := range names {
		out = append(out, session.Device{Name: name, Request: o.Devices[0].Request})
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

func TestWorkersLimitConcurrentSessions(t *testing.T) {
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
			m := newBarrier(tt.want)
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

func TestEveryTrailHasASessionOnEveryDevice(t *testing.T) {
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

func TestFailFastStartsNoMoreTrailsAndListsThem(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 3} {
		var seen records
		o := trails(t, &seen, 12, "fails", "one")
		o.Workers, o.MaxFailures = workers, 1
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

func TestThereAreNoMoreWorkersThanCases(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 3, "counts", "one")
	o.Workers = 1_000_000
	o.Builtins = builtins("counts", func(tool.Call) tool.Result { return tool.Result{OK: true} })
	if summary, err := run.Run(t.Context(), o); err != nil || summary.Passed != 3 {
		t.Errorf("%v, %+v", err, summary)
	}
	for _, r := range seen.events {
		if e, ok := r.Event.(event.RunStarted); ok && e.Workers != 3 {
			t.Errorf("%d workers, want 3", e.Workers)
		}
	}
}

func TestPanicOfAWorkerEndsTheRunAsABug(t *testing.T) {
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
type phone struct {
	barrier     *barrier
	unreachable error
}

func (p *phone) Open(device.Session) device.Device              { return handset{p} }
func (p *phone) Classifiers(context.Context) ([]string, error)  { return nil, p.unreachable }
func (*phone) Check(context.Context) (detail string, err error) { return "", nil }
func (*phone) Close(context.Context) error                      { return nil }
func (handset) Prepare()                                        {}
func (handset) Size() (width, height int)                       { return 0, 0 }
func (handset) Evidence(context.Context) []device.Artifact      { return nil }
func (handset) Close(context.Context) error                     { return nil }
func (h handset) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	return h.barrier.Call(ctx, c)
}

type handset struct{ *phone }

// completeSoon lets the calls of a phone return in a moment in which others could come.
func (p *phone) completeSoon() {
	time.AfterFunc(200*time.Millisecond, func() { p.barrier.once.Do(func() { close(p.barrier.complete) }) })
}

// onPhones makes phones the devices of a run.
func onPhones(o *run.Options, phones ...*phone) {
	names := []string{"a", "b"}
	o.Devices = devices(*o, names[:len(phones)]...)
	for i := range o.Devices {
		o.Devices[i].Backends = []session.Backend{{
			Kind:    device.Kind{Name: "phone", Drivers: []string{"playwright-native"}, Commands: func() []tool.Advertised { return []tool.Advertised{{Name: "tap"}} }, OneSession: true},
			Backend: phones[i],
		}}
	}
}

// TestNoTrailStartsAfterTheLastAllowedFailure has workers that wait for the phone of the trail that fails.
func TestNoTrailStartsAfterTheLastAllowedFailure(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 3, "tap")
	o.Workers, o.MaxFailures = 3, 1
	p := &phone{barrier: newBarrier(2)}
	p.barrier.fails = true
	onPhones(&o, p)
	p.completeSoon()
	summary, err := run.Run(t.Context(), o)
	if err != nil || len(summary.Failed) != 1 || len(summary.NotRun) != 2 {
		t.Errorf("%v, %+v", err, summary)
	}
}

// TestUnreachablePhoneIsNoReasonToSkip: the recordings may be for its kind.
func TestUnreachablePhoneIsNoReasonToSkip(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 1, "tap")
	narrow := "trail:\n  - step: s\n    recording: { web-phone: [ { tap: {} } ] }\n"
	if err := os.WriteFile(filepath.Join(o.Cwd, "0.trail.yaml"), []byte(narrow), 0o644); err != nil {
		t.Fatal(err)
	}
	o.SkipUnrecorded = true
	onPhones(&o, &phone{unreachable: fault.New(fault.Device, "", "gone")})
	if summary, err := run.Run(t.Context(), o); err != nil || summary.Errors != 1 || summary.ExitCode != fault.ExitInfra {
		t.Errorf("%v, %+v", err, summary)
	}
}

func TestDeviceWithOneSessionAtATime(t *testing.T) {
	t.Parallel()
	var seen records
	o := trails(t, &seen, 3, "tap")
	o.Workers = 6
	phones := []*phone{{barrier: newBarrier(1)}, {barrier: newBarrier(1)}}
	onPhones(&o, phones...)
	phones[0].barrier.wanted, phones[1].barrier.wanted = 2, 2 // never comes true; each call waits a moment for it
	for _, p := range phones {
		p.completeSoon()
	}
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 6 {
		t.Fatalf("%v, %+v", err, summary)
	}
	for i, p := range phones {
		if p.barrier.most != 1 {
			t.Errorf("phone %d served %d sessions at once", i, p.barrier.most)
		}
	}
}
