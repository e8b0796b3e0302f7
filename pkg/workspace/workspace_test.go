package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// serverVariable makes this program the server of the project.
const serverVariable = "WORKSPACE_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		serve()
		return
	}
	goleak.VerifyTestMain(m)
}

// serve is a server with the tool print, which writes its argument to stderr.
func serve() {
	s := mcp.NewServer(&mcp.Implementation{Name: "printer", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "print", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			_, _ = os.Stderr.Write(append(slices.Clone(r.Params.Arguments), '\n'))
			return &mcp.CallToolResult{}, nil
		})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

// screens are a kind of device whose backends have an address, and how often those were closed, by address.
type screens struct{ closed map[string]int }

func (s *screens) kind() device.Kind {
	return device.Kind{
		Name: "screen", Drivers: []string{"playwright-native"}, IDOption: "address",
		Commands: func() []tool.Advertised { return []tool.Advertised{{Name: "show"}} },
		Options:  []device.Option{{Key: "address", Flag: "address", Env: "ADDRESS", Names: true}, {Key: "password", Flag: "password"}},
		Secrets: func(values map[string]string) map[string]string {
			return map[string]string{"password": values["password"]}
		},
		New: func(h device.Host) (device.Backend, error) { return &backend{s, h.Values["address"]}, nil },
	}
}

type backend struct {
	*screens
	address string
}

func (b *backend) Open(device.Session) device.Device             { return screen{b} }
func (b *backend) Classifiers(context.Context) ([]string, error) { return nil, nil }
func (b *backend) Check(context.Context) (string, error)         { return "", nil }
func (b *backend) Close(context.Context) error {
	b.closed[b.address]++
	return nil
}

// screen answers each call with its address and the argument.
type screen struct{ *backend }

func (s screen) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	if s.closed[s.address] > 0 {
		return tool.Result{}, fault.New(fault.Crashed, "", "the backend is closed")
	}
	text, _ := call.Args["text"].(string)
	return tool.Result{OK: true, Text: s.address + " shows " + text}, nil
}
func (screen) Prepare()                                   {}
func (screen) Size() (width, height int)                  { return 0, 0 }
func (screen) Evidence(context.Context) []device.Artifact { return nil }
func (s screen) Close(context.Context) error              { return nil }

// opened is a session of a choice, and what its events are as JSON lines.
type opened struct {
	*workspace.Sessions
	session *session.Session
	events  *bytes.Buffer
	dir     string
}

func open(t *testing.T, w *workspace.Workspace, c workspace.Choice) opened {
	t.Helper()
	s, err := w.Sessions(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	o := opened{Sessions: s, events: &bytes.Buffer{}, dir: t.TempDir()}
	s.NewStream(report.NewJSONLines(o.events))
	sc, err := s.Scope()
	if err != nil {
		t.Fatal(err)
	}
	options := s.Options(sc)
	options.ID, options.Dir = session.NewID("test", time.Now()), o.dir
	options.Emit = s.Stream.Session(options.ID, "", nil)
	if o.session, err = session.Open(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.close(t) })
	return o
}

func (o opened) close(t *testing.T) {
	t.Helper()
	o.session.Close(context.WithoutCancel(t.Context()))
	o.Close(context.WithoutCancel(t.Context()))
}

// call makes a call with a text, and returns the text of its result.
func (o opened) call(t *testing.T, name, text string) string {
	t.Helper()
	done := o.session.Call(t.Context(), trail.Call{Tool: name, Args: map[string]any{"text": text}})
	if done.Outcome != event.Passed {
		t.Fatalf("%s: %s %v", name, done.Answer.Text, done.Cause)
	}
	return done.Answer.Text
}

// logged returns what the server of the project wrote to the session's log. The session must be closed.
func (o opened) logged(t *testing.T) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(o.dir, "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs: %v %v", logs, err)
	}
	data, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func newOpener(t *testing.T, kind device.Kind, env map[string]string, secrets *redact.Set) *workspace.Opener {
	t.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	opener := workspace.NewOpener(workspace.Options{
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Dir:    t.TempDir(), Now: time.Now, Kinds: []device.Kind{kind}, Secrets: secrets, Supervisor: supervisor,
		Runtimes: runtime.NewFinder(runtime.Options{}), Warn: func(err error) { t.Error(err) },
	})
	t.Cleanup(func() {
		opener.Close(context.WithoutCancel(t.Context()))
		if err := supervisor.Close(); err != nil {
			t.Error(err)
		}
	})
	return opener
}

func load(t *testing.T, opener *workspace.Opener, project map[string]any) *workspace.Workspace {
	t.Helper()
	root := t.TempDir()
	data, err := json.Marshal(project)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "trailblaze.yaml"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	w, problems := opener.Load(root)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return w
}

func projectWithServer(t *testing.T) map[string]any {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"target": "shop", "platform": "web", "device": map[string]any{"address": "project"},
		"mcpServers": []any{map[string]any{
			"name": "printer", "command": program, "env": map[string]any{serverVariable: "1"},
		}},
	}
}

func TestSessionsOfDifferentChoicesAreIndependent(t *testing.T) {
	t.Parallel()
	all, secrets := &screens{closed: map[string]int{}}, &redact.Set{}
	w := load(t, newOpener(t, all.kind(), nil, secrets), projectWithServer(t))
	const both = "first-secret second-secret first-password second-password"
	a := open(t, w, workspace.Choice{
		Options: map[string]string{"address": "one", "password": "first-password"}, Secrets: map[string]string{"TOKEN": "first-secret"},
	})
	b := open(t, w, workspace.Choice{
		Options: map[string]string{"address": "two", "password": "second-password"}, Secrets: map[string]string{"TOKEN": "second-secret"},
	})
	wantA := "{{TOKEN}} second-secret {{password}} second-password"
	wantB := "first-secret {{TOKEN}} first-password {{password}}"
	for _, tt := range []struct {
		opened
		address, want string
	}{{a, "one", wantA}, {b, "two", wantB}} {
		if got := tt.call(t, "show", both); got != tt.address+" shows "+both {
			t.Errorf("the device of %s answered %q", tt.address, got)
		}
		tt.call(t, "print", both)
		if events := tt.events.String(); !strings.Contains(events, tt.address+" shows "+tt.want) {
			t.Errorf("the events of %s do not contain %q:\n%s", tt.address, tt.want, events)
		}
	}
	a.close(t)
	if got := a.logged(t); !strings.Contains(got, wantA) {
		t.Errorf("the log of one is %q", got)
	}
	if all.closed["one"] != 1 || all.closed["two"] != 0 {
		t.Errorf("after closing the first sessions, closed backends: %v", all.closed)
	}
	b.call(t, "show", "still")
	b.close(t)
	if got := b.logged(t); !strings.Contains(got, wantB) {
		t.Errorf("the log of two is %q", got)
	}
	if got := secrets.Text(both); got != "{{TOKEN}} {{TOKEN'}} {{password}} {{password'}}" {
		t.Errorf("the set of the program makes %q", got)
	}
}

func TestEqualChoicesShareTheirBackends(t *testing.T) {
	t.Parallel()
	all := &screens{closed: map[string]int{}}
	opener := newOpener(t, all.kind(), nil, &redact.Set{})
	w := load(t, opener, map[string]any{"target": "shop", "platform": "web"})
	one := workspace.Choice{Options: map[string]string{"address": "one"}}
	a, b := open(t, w, one), open(t, w, one)
	a.close(t)
	a.close(t) // a second time, to no effect
	if got := b.call(t, "show", "it"); got != "one shows it" {
		t.Errorf("the other sessions: %q", got)
	}
	b.close(t)
	left := open(t, w, one)
	left.session.Close(t.Context())
	opener.Close(t.Context())
	if all.closed["one"] != 2 {
		t.Errorf("closed backends: %v", all.closed)
	}
}

func TestChoiceWinsOverEnvironmentAndProject(t *testing.T) {
	t.Parallel()
	project := map[string]any{
		"target": "shop", "platform": "web", "device": map[string]any{"address": "project"},
		"devices": map[string]any{"desk": map[string]any{"platform": "web", "address": "desk", "size": "100x200", "classifier": "web-desk"}},
	}
	for name, tt := range map[string]struct {
		env    map[string]string
		choice workspace.Choice
		want   string
	}{
		"project":           {nil, workspace.Choice{}, "project"},
		"device of project": {nil, workspace.Choice{Devices: []string{"desk"}}, "desk"},
		"environment":       {map[string]string{"ADDRESS": "env"}, workspace.Choice{Devices: []string{"desk"}}, "env"},
		"choice": {
			map[string]string{"ADDRESS": "env"},
			workspace.Choice{Devices: []string{"desk"}, Options: map[string]string{"address": "choice"}},
			"choice",
		},
		"device by its id": {map[string]string{"ADDRESS": "env"}, workspace.Choice{Devices: []string{"web:desk"}}, "desk"},
		"its own id": {
			map[string]string{"ADDRESS": "env"},
			workspace.Choice{Devices: []string{"web:desk"}, Options: map[string]string{"address": "desk"}},
			"desk",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := load(t, newOpener(t, (&screens{closed: map[string]int{}}).kind(), tt.env, &redact.Set{}), project)
			o := open(t, w, tt.choice)
			if got := o.call(t, "show", "it"); got != tt.want+" shows it" {
				t.Errorf("got %q, want %s", got, tt.want)
			}
			d := o.Devices[0]
			if slices.Equal(tt.choice.Devices, []string{"desk"}) && (d.Name != "desk" || d.Width != 100 || d.Height != 200 || !slices.Equal(d.Classifiers, []string{"web-desk"})) {
				t.Errorf("the device of the project is %+v", d)
			}
		})
	}
}

func TestChoicesThatAreRefused(t *testing.T) {
	t.Parallel()
	all := &screens{closed: map[string]int{}}
	project := map[string]any{"target": "shop", "platform": "web", "devices": map[string]any{
		"desk": map[string]any{"platform": "web", "address": "one"}, "wall": map[string]any{"platform": "web", "address": "two"},
	}}
	both := []string{"desk", "wall"}
	for name, tt := range map[string]struct {
		env    map[string]string
		choice workspace.Choice
		want   string
	}{
		"one by option": {
			choice: workspace.Choice{Devices: both, Options: map[string]string{"address": "other"}},
			want:   "--address makes desk and wall the same device",
		},
		"one by variable": {
			env: map[string]string{"ADDRESS": "other"}, choice: workspace.Choice{Devices: both},
			want: "ADDRESS makes desk and wall the same device",
		},
		"unknown device":    {nil, workspace.Choice{Devices: []string{"dock"}}, "neither one of the project's devices nor a platform"},
		"device twice":      {nil, workspace.Choice{Devices: []string{"web:a", "web:a"}}, "--device web:a is given twice"},
		"device and driver": {nil, workspace.Choice{Devices: []string{"web:a"}, Platform: "web"}, "already determines driver and platform"},
		"device and another id": {
			nil,
			workspace.Choice{Devices: []string{"web:a"}, Options: map[string]string{"address": "b"}},
			"--address b is another device than --device web:a, which is a",
		},
		"unknown driver": {nil, workspace.Choice{Driver: "playwrite"}, "unknown driver"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := load(t, newOpener(t, all.kind(), tt.env, &redact.Set{}), project)
			_, err := w.Sessions(t.Context(), tt.choice)
			if err == nil || !strings.Contains(err.Error(), tt.want) || fault.KindOf(err) != fault.Misuse {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTokenOfCallbacksIsNotInherited(t *testing.T) {
	t.Parallel()
	const token = "0f2c9b7e64d8a1530f2c9b7e64d8a153"
	kind, ofDevice := (&screens{closed: map[string]int{}}).kind(), []string{}
	create := kind.New
	kind.New = func(h device.Host) (device.Backend, error) {
		ofDevice = h.Env
		return create(h)
	}
	opener := newOpener(t, kind, map[string]string{"CALLBACK_TOKEN": token}, &redact.Set{})
	opener.Env = []string{"CALLBACK_TOKEN=" + token, "PATH=/bin"}
	project := projectWithServer(t)
	project["callbacks"] = map[string]any{"token": "CALLBACK_TOKEN"}
	project["mcpServers"].([]any)[0].(map[string]any)["env"] = map[string]any{"GIVEN": "${CALLBACK_TOKEN}"}
	w := load(t, opener, project)
	s, err := w.Sessions(t.Context(), workspace.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	for who, env := range map[string][]string{"servers": s.Env, "exec": w.Env, "devices": ofDevice} {
		if !slices.Equal(env, []string{"PATH=/bin"}) {
			t.Errorf("%s get %q", who, env)
		}
	}
	if given := w.Project.Servers[0].Env["GIVEN"]; given != token {
		t.Errorf("a server for which the project says so gets %q", given)
	}
}
