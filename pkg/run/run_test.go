package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	builtintools "github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// link is a server inside the test: no process, only a transport, a name and an end.
type link struct {
	transport mcp.Transport
	heard     chan struct{}
	done      chan struct{}
	session   *mcp.ServerSession
}

func (l *link) Transport() mcp.Transport                { return l.transport }
func (l *link) FirstMessage() <-chan struct{}           { return l.heard }
func (l *link) Done() <-chan struct{}                   { return l.done }
func (l *link) ExitError() *fault.Error                 { return nil }
func (l *link) Explain(cause *fault.Error) *fault.Error { return cause }
func (l *link) Stop(context.Context) error {
	err := l.session.Close()
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	return err
}

// launch serves one tool per configured server, named like it, that answers with its own name.
func launch(ctx context.Context, l session.Launch) (server.Link, error) {
	if l.Server.Command == "missing" {
		return nil, fault.New(fault.CommandNotFound, "", "server %q: command not found", l.Server.Name)
	}
	client, end := mcp.NewInMemoryTransports()
	s := mcp.NewServer(&mcp.Implementation{Name: l.Server.Name, Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: l.Server.Name, InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: l.Server.Name}}}, nil
		})
	session, err := s.Connect(context.WithoutCancel(ctx), end, nil)
	if err != nil {
		return nil, err
	}
	heard := make(chan struct{})
	close(heard)
	return &link{client, heard, make(chan struct{}), session}, nil
}

// builtin is a tool of our own; it sees the call and answers.
type builtin func(tool.Call) tool.Result

func (b builtin) Call(_ context.Context, c tool.Call) (tool.Result, error) { return b(c), nil }

func builtins(name string, b builtin) []discover.Source {
	return []discover.Source{{
		Source: tool.Source{Kind: tool.FromBuiltin, Name: "builtin"}, Tools: []tool.Advertised{{Name: name}}, Caller: b,
	}}
}

// records keeps what the stream says.
type records struct{ events []event.Record }

func (r *records) Handle(rec event.Record) { r.events = append(r.events, rec) }

func (r *records) types() []string {
	var out []string
	for _, e := range r.events {
		out = append(out, e.Event.Type())
	}
	return out
}

type noLog struct{}

func (noLog) Handle(event.Record) {}
func (noLog) Close() error        { return nil }

// options is a run of one trail in a project with the given servers.
func options(t *testing.T, seen *records, trail string, servers ...string) run.Options {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.trail.yaml"), []byte(trail), 0o644); err != nil {
		t.Fatal(err)
	}
	project := &config.Project{Root: dir, LogsDir: filepath.Join(dir, "logs")}
	for _, name := range servers {
		project.Servers = append(project.Servers, config.Server{Name: name, Command: name})
	}
	redactor := redact.New(nil)
	return run.Options{
		Setup: session.Setup{
			Project: project, Cwd: dir, Version: "test", Redactor: redactor, Now: time.Now, Launch: launch,
			Stream: event.NewStream(time.Now, redactor, seen),
		},
		Devices: []session.Device{{
			Request: scope.Request{FlagTarget: "app", FlagPlatform: "web", Targets: []scope.Target{{ID: "app"}}},
		}},
		Paths:   []string{"a.trail.yaml"},
		OpenLog: func(string, func(error)) run.SessionLog { return noLog{} },
	}
}

func call(tools ...string) string {
	var b strings.Builder
	b.WriteString("trail:\n  - step: s\n    recording:\n      web:\n")
	for _, name := range tools {
		b.WriteString("        - " + name + ": {}\n")
	}
	return b.String()
}

func TestToolsOfServersAndBuiltinsAreCalledAlike(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, call("one", "ours", "two"), "one", "two")
	o.Builtins = builtins("ours", func(tool.Call) tool.Result { return tool.Result{OK: true, Text: "ours"} })
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 1 || summary.ExitCode != fault.ExitPassed {
		t.Fatalf("%v, %+v", err, summary)
	}
	var texts []string
	for _, r := range seen.events {
		if done, ok := r.Event.(event.CallFinished); ok {
			texts = append(texts, done.Text)
		}
	}
	if diff := cmp.Diff([]string{"one", "ours", "two"}, texts); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestEventsComeInOrder(t *testing.T) {
	t.Parallel()
	var seen records
	if _, err := run.Run(t.Context(), options(t, &seen, call("one"), "one")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"run.started", "trail.started", "server.started", "step.started", "call.started", "call.finished", "step.finished",
		"trail.finished", "run.finished",
	}
	if diff := cmp.Diff(want, seen.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for i, r := range seen.events {
		if r.Seq != int64(i+1) {
			t.Errorf("event %d has number %d", i, r.Seq)
		}
	}
}

func TestNameCollisionWithABuiltinNamesBoth(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, call("one"), "one", "two")
	o.Builtins = builtins("one", func(tool.Call) tool.Result { return tool.Result{OK: true} })
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Errors != 1 || summary.ExitCode != fault.ExitInfra {
		t.Fatalf("%v, %+v", err, summary)
	}
	done, ok := seen.events[len(seen.events)-2].Event.(event.TrailFinished)
	if !ok || !strings.Contains(done.Reason, "server one and builtin builtin") {
		t.Errorf("trail.finished: %+v", done)
	}
}

func TestServersAreStoppedWhenOneFailsToStart(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, call("one"), "one", "missing")
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.ExitCode != fault.ExitInfra {
		t.Fatalf("%v, %+v", err, summary) // goleak shows that "one" was stopped
	}
}

func TestMemoryDeletionsAreAppliedLast(t *testing.T) {
	t.Parallel()
	var seen records
	var memories []map[string]any
	o := options(t, &seen, "config: { memory: { keep: 1, drop: 2 } }\n"+call("ours", "ours"))
	o.Builtins = builtins("ours", func(c tool.Call) tool.Result {
		memories = append(memories, c.Context.Memory)
		return tool.Result{OK: true, MemoryDelta: map[string]any{"new": "x", "both": "y"}, MemoryDeletions: []string{"drop", "both"}}
	})
	if _, err := run.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{"keep": int64(1), "drop": int64(2)}, {"keep": int64(1), "new": "x"}}
	if diff := cmp.Diff(want, memories); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
}

func TestFailedCallDoesNotChangeMemory(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, call("ours"))
	o.Builtins = builtins("ours", func(tool.Call) tool.Result {
		return tool.Result{Text: "no", Kind: fault.ToolFailed, MemoryDelta: map[string]any{"x": "y"}}
	})
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.ExitCode != fault.ExitFailed {
		t.Fatalf("%v, %+v", err, summary)
	}
}

func TestTeardownAfterInterruptionIsLimited(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, "config: { teardown: [ { step: clean up, recording: { web: [ { wait: { seconds: 60 } } ] } } ] }\n"+call("ours"))
	o.TeardownLimit = time.Millisecond
	ctx, cancel := context.WithCancelCause(t.Context())
	o.Builtins = append(builtins("ours", func(tool.Call) tool.Result {
		cancel(fault.New(fault.Interrupted, "", "interrupted"))
		return tool.Result{OK: true}
	}), builtintools.Source())
	_, err := run.Run(ctx, o)
	if fault.KindOf(err) != fault.Interrupted {
		t.Error(err)
	}
	finished := seen.events[len(seen.events)-2].Event.(event.TrailFinished)
	if !strings.Contains(finished.Reason, "the teardown took longer than 1ms after the interruption") {
		t.Errorf("the reason is %s", finished.Reason)
	}
	if !slices.ContainsFunc(seen.events, func(r event.Record) bool {
		log, ok := r.Event.(event.Log)
		return ok && log.Message == "the teardown runs now, for at most 1ms"
	}) {
		t.Error("no message says that the teardown runs")
	}
}

func TestInterruptedRunListsTrailsNotRun(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, call("ours"))
	o.Paths = append(o.Paths, "b.trail.yaml")
	ctx, cancel := context.WithCancelCause(t.Context())
	o.Builtins = builtins("ours", func(tool.Call) tool.Result {
		cancel(fault.New(fault.Terminated, "", "terminated"))
		return tool.Result{OK: true}
	})
	summary, err := run.Run(ctx, o)
	if fault.KindOf(err) != fault.Terminated || summary.ExitCode != fault.ExitTerminated {
		t.Errorf("%v, %+v", err, summary)
	}
	if diff := cmp.Diff([]string{"b.trail.yaml"}, summary.NotRun); diff != "" {
		t.Errorf("not run (-want +got):\n%s", diff)
	}
}

func TestLastRunIsSaved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := run.LoadLast(dir); fault.KindOf(err) != fault.Misuse {
		t.Errorf("without a last run: %v", err)
	}
	var seen records
	o := options(t, &seen, call("nobody"))
	o.MaxFailures, o.Project.LogsDir, o.ArgRows = 1, dir, []map[string]any{{}, {}}
	o.Paths = append(o.Paths, "gone.trail.yaml", "b.trail.yaml")
	if err := os.WriteFile(filepath.Join(o.Cwd, "b.trail.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	got, err := run.LoadLast(dir)
	want := []run.LastCase{{Trail: run.Path(filepath.Join(o.Cwd, "a.trail.yaml"))}, {Trail: run.Path(filepath.Join(o.Cwd, "b.trail.yaml"))}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := os.WriteFile(filepath.Join(dir, ".last-run.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run.LoadLast(dir); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestPathsOfTheLastRunAreExact(t *testing.T) {
	t.Parallel()
	for _, path := range []run.Path{"/a b/ä.trail.yaml", "/\xff.trail.yaml", "/\"\xc3\x28\n.trail.yaml"} {
		data, err := json.Marshal(run.LastCase{Trail: path})
		var got run.LastCase
		if err == nil {
			err = json.Unmarshal(data, &got)
		}
		if err != nil || got.Trail != path {
			t.Errorf("%q: %s is read as %q, %v", path, data, got.Trail, err)
		}
	}
}

func TestContentsReplaceFilesAndHistoryStays(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, call("nobody"), "mine")
	path := filepath.Join(o.Cwd, "new.trail.yaml")
	o.Paths, o.Contents, o.WithoutHistory = []string{path}, map[string][]byte{path: []byte(call("mine"))}, true
	summary, err := run.Run(t.Context(), o)
	if err != nil || summary.Passed != 1 {
		t.Errorf("%+v, %v", summary, err)
	}
	if _, err := run.LoadLast(o.Project.LogsDir); err == nil {
		t.Error("the run is saved as the last one")
	}
}
