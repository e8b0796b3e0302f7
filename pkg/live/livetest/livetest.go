// Package livetest has a live session for tests.
package livetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Session is a live session whose answers a test sets. Without them every request succeeds.
type Session struct {
	OnStep     func(ctx context.Context, r live.StepRequest) (live.StepReport, error)
	OnReplay   func(ctx context.Context) (live.Replayed, error) // of Save and RunTrail
	Shot       live.Snapshot
	ShotErr    error              // fails snapshots
	YAML       string             // the recording
	Registry   *discover.Registry // nil for three tools
	Restricted string             // a tool that is not allowed

	mu     sync.Mutex
	err    error
	closed bool
	steps  []live.StepRequest
	trails []live.TrailRequest
}

// Steps returns the requests for steps that OnStep did not answer.
func (f *Session) Steps() []live.StepRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.steps)
}

// Trails returns the requests for replays.
func (f *Session) Trails() []live.TrailRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.trails)
}

// Fail makes the session one that cannot be used any more.
func (f *Session) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// IsClosed reports whether the session was closed.
func (f *Session) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// Status implements [live.API].
func (f *Session) Status(context.Context) (live.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return live.Status{ID: "mcp_1", Target: "shop", Driver: "playwright-native", Platform: "web", Steps: len(f.steps), Kept: len(f.steps), Secrets: []string{"PIN"}}, nil
}

// Snapshot implements [live.API].
func (f *Session) Snapshot(context.Context, live.SnapshotOptions) (live.Snapshot, error) {
	return f.Shot, errors.Join(f.ShotErr, f.Err())
}

// Step implements [live.API].
func (f *Session) Step(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	if f.OnStep != nil {
		return f.OnStep(ctx, r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.steps = append(f.steps, r)
	report := live.StepReport{Step: len(f.steps), Recorded: r.Calls, Changes: `+ - button "Pay" [ref=e7]`}
	for _, c := range r.Calls {
		report.Calls = append(report.Calls, live.CallReport{Tool: c.Tool, Made: true, OK: true})
	}
	return report, nil
}

// Edit implements [live.API].
func (f *Session) Edit(_ context.Context, e live.Edit) (string, error) {
	if r := e.Replace; r != nil {
		return f.YAML + fmt.Sprintln("replaced", r.Call, r.With), nil
	}
	if e.Drop != "" {
		return strings.Replace(f.YAML, "drop "+e.Drop+"\n", "", 1), nil
	}
	return f.YAML, nil
}

// Save implements [live.API].
func (f *Session) Save(ctx context.Context, r live.SaveRequest) (live.SaveReport, error) {
	replayed, err := f.replayed(ctx)
	return live.SaveReport{File: r.File, Written: replayed.Passed(), Diff: "+ step\n" + f.YAML, Replayed: &replayed}, err
}

// RunTrail implements [live.API].
func (f *Session) RunTrail(ctx context.Context, r live.TrailRequest) (live.TrailReport, error) {
	f.mu.Lock()
	f.trails = append(f.trails, r)
	f.mu.Unlock()
	replayed, err := f.replayed(ctx)
	return live.TrailReport{File: r.File, Replayed: replayed}, err
}

func (f *Session) replayed(ctx context.Context) (live.Replayed, error) {
	if f.OnReplay != nil {
		return f.OnReplay(ctx)
	}
	return live.Replayed{Outcome: "passed", Millis: 1200}, nil
}

// Toolbox implements [live.API].
func (f *Session) Toolbox(context.Context) (live.Toolbox, error) {
	tools := live.Toolbox{Registry: f.Registry, Limits: map[string]string{f.Restricted: "not allowed"}}
	if f.Registry != nil {
		return tools, nil
	}
	tools.Registry = &discover.Registry{Offered: []*discover.Tool{
		{
			Name: "tap", Description: "Taps a button.", Source: tool.Source{Kind: tool.FromDevice, Name: "web"}, IsForLLM: true, IsRecordable: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"ref":{"type":"string"},"nodeSelector":{}},"required":["text"]}`),
		},
		{Name: "step", IsForLLM: true, Source: tool.Source{Kind: tool.FromServer, Name: "shop"}},
		{Name: "addToCart", IsForLLM: true, Description: "Adds to the cart.\nSecond line.", Source: tool.Source{Kind: tool.FromServer, Name: "shop"}},
		{Name: "addSecretly", Source: tool.Source{Kind: tool.FromServer, Name: "shop"}},
	}, Skipped: []discover.Skipped{{Name: "tapTwice", Detail: "only for android"}}}
	return tools, nil
}

// Look implements [live.API].
func (f *Session) Look(context.Context, bool) (live.Look, error) { return live.Look{}, f.Err() }

// Locate implements [live.API].
func (f *Session) Locate(context.Context, live.Place) (live.Location, error) {
	return live.Location{}, f.Err()
}

// Subscribe implements [live.API]. There are no events.
func (f *Session) Subscribe(context.Context, int) (events <-chan event.Event, stop func()) {
	none := make(chan event.Event)
	close(none)
	return none, func() {}
}

// Err implements [live.API].
func (f *Session) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// Close implements [live.API].
func (f *Session) Close(context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

// CheckAnswer fails a test unless a tool has answered with all texts, and failed or not as is wanted.
func CheckAnswer(t TB, name, answer string, failed, wantFailed bool, texts ...string) {
	t.Helper()
	if failed != wantFailed {
		t.Errorf("%s: failed is %v, want %v", name, failed, wantFailed)
	}
	for _, want := range texts {
		if !strings.Contains(answer, want) {
			t.Errorf("%s: %q is missing in:\n%s", name, want, answer)
		}
	}
}
