package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// fakeSession is a live session whose answers a test sets.
type fakeSession struct {
	mu     sync.Mutex
	err    error
	closed bool
	steps  []live.StepRequest
	trails []live.TrailRequest

	step     func(ctx context.Context, r live.StepRequest) (live.StepReport, error)
	snapshot live.Snapshot
	// snapshotErr fails snapshots.
	snapshotErr error
	restricted  string // a tool
	replay      func(ctx context.Context) (live.Replayed, error)
	yaml        string
	registry    *discover.Registry
}

func (f *fakeSession) Status(context.Context) (live.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return live.Status{ID: "mcp_1", Target: "shop", Driver: "playwright-native", Platform: "web", Steps: len(f.steps), Secrets: []string{"PIN"}}, nil
}

func (f *fakeSession) Snapshot(context.Context, live.SnapshotOptions) (live.Snapshot, error) {
	return f.snapshot, errors.Join(f.snapshotErr, f.Err())
}

func (f *fakeSession) Step(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	if f.step != nil {
		return f.step(ctx, r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.steps = append(f.steps, r)
	report := live.StepReport{Step: len(f.steps), Recorded: len(r.Calls), Changes: `+ - button "Pay" [ref=e7]`}
	for _, c := range r.Calls {
		report.Calls = append(report.Calls, live.CallReport{Tool: c.Tool, Made: true, OK: true})
	}
	return report, nil
}

func (f *fakeSession) Edit(_ context.Context, e live.Edit) (string, error) {
	if r := e.Replace; r != nil {
		return f.yaml + fmt.Sprintln("replaced", r.Call, r.With), nil
	}
	if e.Drop != "" {
		return strings.Replace(f.yaml, "drop "+e.Drop+"\n", "", 1), nil
	}
	return f.yaml, nil
}

func (f *fakeSession) Save(ctx context.Context, r live.SaveRequest) (live.SaveReport, error) {
	replayed, err := f.replayed(ctx)
	return live.SaveReport{File: r.File, Written: replayed.Passed(), Diff: "+ step\n" + f.yaml, Replayed: &replayed}, err
}

func (f *fakeSession) RunTrail(ctx context.Context, r live.TrailRequest) (live.TrailReport, error) {
	f.mu.Lock()
	f.trails = append(f.trails, r)
	f.mu.Unlock()
	replayed, err := f.replayed(ctx)
	return live.TrailReport{File: r.File, Replayed: replayed}, err
}

func (f *fakeSession) replayed(ctx context.Context) (live.Replayed, error) {
	if f.replay != nil {
		return f.replay(ctx)
	}
	return live.Replayed{Outcome: "passed", Millis: 1200}, nil
}

func (f *fakeSession) Toolbox(context.Context) (live.Toolbox, error) {
	tools := live.Toolbox{Registry: f.registry, Limits: map[string]string{f.restricted: "not allowed"}}
	if f.registry != nil {
		return tools, nil
	}
	tools.Registry = &discover.Registry{Offered: []*discover.Tool{
		{
			Name: "tap", Description: "Taps a button.", Source: tool.Source{Kind: tool.FromDevice, Name: "web"}, IsRecordable: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"ref":{"type":"string"},"nodeSelector":{}},"required":["text"]}`),
		},
		{Name: "step", Source: tool.Source{Kind: tool.FromServer, Name: "shop"}},
		{Name: "addToCart", Description: "Adds to the cart.\nSecond line.", Source: tool.Source{Kind: tool.FromServer, Name: "shop"}},
	}, Skipped: []discover.Skipped{{Name: "tapTwice", Detail: "only for android"}}}
	return tools, nil
}

func (f *fakeSession) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *fakeSession) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fakeSession) Close(context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

func (f *fakeSession) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}
