package session_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// link is a server in this process, over the SDK's in-memory transport.
type link struct {
	transport mcp.Transport
	started   chan struct{}
	done      chan struct{}
	session   *mcp.ServerSession
}

func (l *link) Transport() mcp.Transport                { return l.transport }
func (l *link) FirstMessage() <-chan struct{}           { return l.started }
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

// fakes are the servers of a test: their tools by server and name, and the environment that each was launched with.
type fakes struct {
	tools map[string]map[string]mcp.ToolHandler
	env   map[string][]string
}

func (f *fakes) launch(ctx context.Context, l session.Launch) (server.Link, error) {
	if f.env == nil {
		f.env = map[string][]string{}
	}
	f.env[l.Server.Name] = l.Env
	client, end := mcp.NewInMemoryTransports()
	s := mcp.NewServer(&mcp.Implementation{Name: l.Server.Name, Version: "1"}, nil)
	for name, handler := range f.tools[l.Server.Name] {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, handler)
	}
	connected, err := s.Connect(context.WithoutCancel(ctx), end, nil)
	if err != nil {
		return nil, err
	}
	started := make(chan struct{})
	close(started)
	return &link{client, started, make(chan struct{}), connected}, nil
}

func answer(text string) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// options returns what a session with the servers of f is opened with.
func options(t *testing.T, f *fakes) session.Options {
	t.Helper()
	project := &config.Project{Root: t.TempDir(), LogsDir: filepath.Join(t.TempDir(), "logs")}
	for name := range f.tools {
		project.Servers = append(project.Servers, config.Server{Name: name, Command: name})
	}
	redactor := redact.New(map[string]string{"PIN": "98761234"})
	stream := event.NewStream(time.Now, redactor)
	driver, _ := scope.ParseDriver("playwright-native")
	return session.Options{
		Setup: session.Setup{
			Project: project, Version: "test", Redactor: redactor, Stream: stream, Now: time.Now, Launch: f.launch,
		},
		Scope: scope.Scope{Driver: driver, AgentMode: scope.Host}, ID: "one", Emit: stream.Session("one", "", nil),
	}
}

func open(t *testing.T, o session.Options) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.WithoutCancel(t.Context())) })
	return s
}

func TestSessionMakesCallsKeepsMemoryAndRecords(t *testing.T) {
	t.Parallel()
	s := open(t, options(t, &fakes{tools: map[string]map[string]mcp.ToolHandler{
		"shop": {"user": answer(`{"name": "Ada"}`), "echo": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, _, _ := strings.Cut(string(r.Params.Arguments), `,"_trailblaze`)
			return answer(text)(t.Context(), nil)
		}},
	}}))
	names := []string{}
	for _, tl := range s.Registry().Tools {
		names = append(names, tl.Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"echo", "reloadTools", "user"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	st := session.Step{Index: 1, Text: "Greet the user", Kind: "step"}
	s.StartStep(st)
	for _, call := range []trail.Call{
		{Tool: "user", SaveAs: "user"},
		{Tool: "nobody"},
		{Tool: "echo", Args: map[string]any{"text": "{{user.name}}"}},
	} {
		done := s.Call(t.Context(), call)
		if want := call.Tool != "nobody"; done.OK() != want {
			t.Errorf("%s: %s: %s", call.Tool, done.Outcome, done.Reason)
		}
		if call.Tool == "echo" && !strings.Contains(done.Answer.Text, `"text":"Ada"`) {
			t.Errorf("echo answered %q", done.Answer.Text)
		}
	}
	s.FinishStep(st, event.Passed)
	got := s.Recording()
	if len(got.Steps) != 1 || len(got.Steps[0].Calls) != 2 || got.Steps[0].Calls[1].Args["text"] != "{{user.name}}" {
		t.Errorf("recorded %+v", got)
	}
	if name, _ := s.Memory().Get("user"); name == nil {
		t.Error("memory has no user")
	}
	if err := s.Err(); err != nil {
		t.Errorf("the session ended: %v", err)
	}
}

// silentLink is a link to a server that never responds.
type silentLink struct {
	link
	end mcp.Connection
}

func (l *silentLink) Stop(context.Context) error {
	close(l.done)
	return l.end.Close()
}

func newSilentLink(ctx context.Context) (server.Link, error) {
	client, end := mcp.NewInMemoryTransports()
	conn, err := end.Connect(ctx)
	if err != nil {
		return nil, err
	}
	go func() {
		for err == nil {
			_, err = conn.Read(context.WithoutCancel(ctx))
		}
	}()
	return &silentLink{link{transport: client, started: make(chan struct{}), done: make(chan struct{})}, conn}, nil
}

// TestFailuresOfSeveralServers: a permanent failure is reported without waiting for slow servers, but with those of
// others.
func TestFailuresOfSeveralServers(t *testing.T) {
	t.Parallel()
	failure := func(kind fault.Kind) func(context.Context) (server.Link, error) {
		return func(context.Context) (server.Link, error) { return nil, fault.New(kind, "", "no") }
	}
	for name, tc := range map[string]struct {
		launches map[string]func(context.Context) (server.Link, error)
		took     time.Duration
		want     []string
	}{
		"permanent": {
			map[string]func(context.Context) (server.Link, error){
				"one": failure(fault.CommandNotFound), "two": failure(fault.PermissionDenied), "slow": newSilentLink,
			}, 0, []string{`server "one": start: no`, `server "two": start: no`},
		},
		"temporary": {
			map[string]func(context.Context) (server.Link, error){"one": failure(fault.Server), "slow": newSilentLink},
			5 * time.Second,
			[]string{`server "one": start: no`},
		},
		"permanent, while another one launches": {
			map[string]func(context.Context) (server.Link, error){
				"one": failure(fault.CommandNotFound),
				"two": func(context.Context) (server.Link, error) {
					<-time.After(time.Second)
					return nil, fault.New(fault.Runtime, "", "no runtime")
				},
				"slow": newSilentLink,
			}, time.Second, []string{`server "one": start: no`, `server "two": start: no runtime`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := options(t, &fakes{})
				for name := range tc.launches {
					o.Project.Servers = append(o.Project.Servers, config.Server{Name: name, URL: "http://tools.example.com"})
				}
				o.Launch = func(ctx context.Context, l session.Launch) (server.Link, error) {
					return tc.launches[l.Server.Name](ctx)
				}
				started := time.Now()
				_, err := session.Open(t.Context(), o)
				if took := time.Since(started); took != tc.took {
					t.Errorf("took %s, want %s", took, tc.took)
				}
				for _, want := range tc.want {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("error %v, want %s", err, want)
					}
				}
				if err != nil && strings.Contains(err.Error(), "slow") {
					t.Errorf("the stopped server is in the error: %v", err)
				}
			})
		})
	}
}

func TestCancelledCallLeavesTheSessionUsable(t *testing.T) {
	t.Parallel()
	pending := make(chan struct{}, 1)
	s := open(t, options(t, &fakes{tools: map[string]map[string]mcp.ToolHandler{
		"shop": {"ok": answer("yes"), "hangs": func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			pending <- struct{}{}
			<-ctx.Done()
			return answer("late")(ctx, nil)
		}},
	}}))
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-pending
		cancel(fault.New(fault.Cancelled, "", "the client cancelled the call"))
	}()
	if done := s.Call(ctx, trail.Call{Tool: "hangs"}); done.OK() || done.Outcome != event.Error {
		t.Errorf("a cancelled call: %s: %s", done.Outcome, done.Reason)
	}
	if err := s.Err(); err != nil {
		t.Fatalf("the session ended with the call: %v", err)
	}
	if done := s.Call(t.Context(), trail.Call{Tool: "ok"}); !done.OK() {
		t.Errorf("the next call: %s: %s", done.Outcome, done.Reason)
	}
}

func TestCallsAfterTheSessionEndedAreErrors(t *testing.T) {
	t.Parallel()
	s := open(t, options(t, &fakes{tools: map[string]map[string]mcp.ToolHandler{"shop": {"ok": answer("yes")}}}))
	s.Close(t.Context())
	if done := s.Call(t.Context(), trail.Call{Tool: "ok"}); done.Outcome != event.Error {
		t.Errorf("%s: %s", done.Outcome, done.Reason)
	}
}

func TestToolsLearnNameAndIDOfTheDevice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		device  session.Device
		want    tool.Device
		wantEnv []string
	}{
		"nothing is known": {wantEnv: []string{}},
		"a name": {
			device: session.Device{Name: "phone"}, want: tool.Device{ID: "phone", Name: "phone"},
			wantEnv: []string{"TRAILBLAZE_DEVICE_ID=phone", "TRAILBLAZE_DEVICE_NAME=phone"},
		},
		"name, id and variables": {
			device:  session.Device{Name: "phone", ID: "emulator-5554", Env: map[string]string{"PORT": "8081"}},
			want:    tool.Device{ID: "emulator-5554", Name: "phone"},
			wantEnv: []string{"PORT=8081", "TRAILBLAZE_DEVICE_ID=emulator-5554", "TRAILBLAZE_DEVICE_NAME=phone"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakes{tools: map[string]map[string]mcp.ToolHandler{"shop": {"ok": answer("yes")}}}
			o := options(t, f)
			o.Device = tt.device
			o.Env = []string{"TRAILBLAZE_DEVICE_ID=of the trailblaze that started us"}
			var got tool.Device
			o.Builtins = []discover.Source{{
				Source: tool.Source{Kind: tool.FromBuiltin, Name: "test"}, Tools: []tool.Advertised{{Name: "look"}},
				Caller: callerFunc(func(c tool.Call) { got = c.Context.Device }),
			}}
			s := open(t, o)
			if done := s.Call(t.Context(), trail.Call{Tool: "look"}); !done.OK() {
				t.Fatal(done.Reason)
			}
			tt.want.Platform, tt.want.Driver = "WEB", "playwright-native"
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("device (-want +got):\n%s", diff)
			}
			env := []string{}
			for _, kv := range f.env["shop"] {
				if strings.HasPrefix(kv, "PORT=") || strings.HasPrefix(kv, "TRAILBLAZE_DEVICE_ID=") || strings.HasPrefix(kv, "TRAILBLAZE_DEVICE_NAME=") {
					env = append(env, kv)
				}
			}
			slices.Sort(env)
			if diff := cmp.Diff(tt.wantEnv, env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestToolsReceiveOneMapOfMemoryUntilItChanges(t *testing.T) {
	t.Parallel()
	o := options(t, &fakes{})
	o.Values = trail.NewValues(trail.Sources{Memory: map[string]string{"who": "Ada"}})
	var received []map[string]any
	o.Builtins = []discover.Source{{
		Source: tool.Source{Kind: tool.FromBuiltin, Name: "test"}, Tools: []tool.Advertised{{Name: "look"}},
		Caller: callerFunc(func(c tool.Call) { received = append(received, c.Context.Memory) }),
	}}
	s := open(t, o)
	for _, saveAs := range []string{"", "seen", ""} {
		if done := s.Call(t.Context(), trail.Call{Tool: "look", SaveAs: saveAs}); !done.OK() {
			t.Fatal(done.Reason)
		}
	}
	before := map[string]any{"who": "Ada"}
	want := []map[string]any{before, before, {"who": "Ada", "seen": ""}}
	if diff := cmp.Diff(want, received); diff != "" {
		t.Fatalf("memory (-want +got):\n%s", diff)
	}
	if address := func(i int) uintptr { return reflect.ValueOf(received[i]).Pointer() }; address(0) != address(1) {
		t.Error("unchanged memory is copied for the second call")
	}
}

type callerFunc func(tool.Call)

func (f callerFunc) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	f(c)
	return tool.Result{OK: true}, nil
}

func TestSingleCallLeavesNothingWhenItSucceeds(t *testing.T) {
	t.Parallel()
	o := options(t, &fakes{tools: map[string]map[string]mcp.ToolHandler{"shop": {"ok": answer("yes")}}})
	c := session.Single{Tool: "ok", Args: func(*discover.Tool) (map[string]any, error) { return nil, nil }}
	got, err := c.Call(t.Context(), o)
	if err != nil || got.Answer.Text != "yes" || len(got.Recorded) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(o.Project.LogsDir); !os.IsNotExist(err) {
		t.Errorf("the logs folder is still there: %v", err)
	}
}

func TestFileNamesAreSafe(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"login": "login", "a b/c": "a_b_c", "--help": "help", "-": "unnamed", "": "unnamed", "..": "unnamed", "_.x._": "x",
		"-é-": "unnamed", "-é-a": "a", strings.Repeat("a", 300): strings.Repeat("a", 100),
	} {
		if got := session.FileName(in); got != want {
			t.Errorf("FileName(%q) = %q, want %q", in, got, want)
		}
	}
}

// withDir gives a session a folder. The returned function returns its events so far.
func withDir(t *testing.T, o *session.Options) (events func() []event.Event) {
	t.Helper()
	o.Dir = filepath.Join(o.Project.LogsDir, "one")
	if err := session.MakeDir(o.Dir); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []event.Event
	o.Emit = event.NewStream(time.Now, o.Redactor, event.HandlerFunc(func(r event.Record) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r.Event)
	})).Session("one", "", nil)
	return func() []event.Event {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// eventsOf returns the events of one type.
func eventsOf[E event.Event](events []event.Event) []E {
	var out []E
	for _, e := range events {
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

func TestKeepsLongResultsOfCallsAsFiles(t *testing.T) {
	t.Parallel()
	const most = 8 << 20
	for name, tt := range map[string]struct {
		result tool.Result
		kept   string // empty for no file
	}{
		"as long as in events": {tool.Result{OK: true, Text: strings.Repeat("x", event.MaxText)}, ""},
		"longer": {
			tool.Result{OK: true, Text: strings.Repeat("x", event.MaxText) + "98761234"},
			strings.Repeat("x", event.MaxText) + "{{PIN}}",
		},
		"short enough when redacted": {tool.Result{OK: true, Text: strings.Repeat("x", event.MaxText-7) + "98761234"}, ""},
		"over the limit of the file": {
			tool.Result{OK: true, Text: strings.Repeat("x", most+10)}, strings.Repeat("x", most) + "… [10 bytes left out]",
		},
		"a failure": {
			tool.Result{Kind: fault.ToolFailed, Text: strings.Repeat("no", event.MaxText)}, strings.Repeat("no", event.MaxText),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, &fakes{})
			events := withDir(t, &o)
			o.Builtins = []discover.Source{{
				Source: tool.Source{Kind: tool.FromBuiltin, Name: "test"}, Tools: []tool.Advertised{{Name: "dump"}},
				Caller: resultFunc(func() tool.Result { return tt.result }),
			}}
			s := open(t, o)
			s.Call(t.Context(), trail.Call{Tool: "dump", SaveAs: "dump"})
			if memory, _ := s.Memory().Get("dump"); tt.result.OK && memory != tt.result.Text {
				t.Error("memory does not have the complete text")
			}
			for _, e := range eventsOf[event.CallFinished](events()) {
				if size := len(e.Text + e.Error); size > event.MaxText+100 {
					t.Errorf("the event has %d bytes", size)
				}
			}
			var want []event.Evidence
			if tt.kept != "" {
				want = []event.Evidence{{File: "calls/call-1.txt", Title: "complete result", Call: "1"}}
			}
			if diff := cmp.Diff(want, eventsOf[event.Evidence](events())); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
			if text, _ := os.ReadFile(filepath.Join(o.Dir, "calls", "call-1.txt")); string(text) != tt.kept {
				t.Errorf("the file has %d bytes, …%q; want %d", len(text), text[max(0, len(text)-40):], len(tt.kept))
			}
		})
	}
}

func TestKeepsAttachmentsOfCall(t *testing.T) {
	t.Parallel()
	o := options(t, &fakes{})
	events := withDir(t, &o)
	attachments := []tool.Attachment{
		{Type: "image", MIME: "image/png", Data: []byte("png")},
		{Type: "resource", MIME: "text/html; charset=utf-8", URI: "page://x", Data: []byte("<script>98761234</script>")},
		{Type: "image", MIME: "image/png", Note: "12.0 MiB, over the limit of 8 MiB"},
	}
	o.Builtins = []discover.Source{{
		Source: tool.Source{Kind: tool.FromBuiltin, Name: "test"}, Tools: []tool.Advertised{{Name: "draw"}},
		Caller: resultFunc(func() tool.Result { return tool.Result{OK: true, Text: "drawn", Attachments: attachments} }),
	}}
	s := open(t, o)
	if done := s.Call(t.Context(), trail.Call{Tool: "draw"}); !done.OK() {
		t.Fatal(done.Reason)
	}
	want := []event.Evidence{
		{File: "calls/call-1.png", Title: "image", Call: "1"}, {File: "calls/call-1.txt", Title: "page://x", Call: "1"},
	}
	if diff := cmp.Diff(want, eventsOf[event.Evidence](events())); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
	var warnings []string
	for _, e := range eventsOf[event.Log](events()) {
		warnings = append(warnings, e.Message)
	}
	if diff := cmp.Diff([]string{"call 1: image was not kept: 12.0 MiB, over the limit of 8 MiB"}, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(filepath.Join(o.Dir, "calls", "call-1.txt"))
	if err != nil || string(text) != "<script>{{PIN}}</script>" {
		t.Errorf("%q, %v", text, err)
	}
}

type resultFunc func() tool.Result

func (f resultFunc) Call(context.Context, tool.Call) (tool.Result, error) { return f(), nil }
