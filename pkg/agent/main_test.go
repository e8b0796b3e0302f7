package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/web"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is also the password of the simulated shop.
const secret = app.Password

// browser is a browser, or a phone, that the sessions of a test share.
type browser struct {
	driver  string
	kind    device.Kind
	backend device.Backend
}

func openBrowser(t *testing.T) browser {
	t.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	kind := web.Kind()
	backend, err := kind.New(device.Host{
		Values: map[string]string{"browser": spawntest.Chromium(t), "assertionTimeout": "300ms", "actionTimeout": "2s"},
		Env:    os.Environ(), Programs: local.Programs(supervisor),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(backend.Close(context.WithoutCancel(t.Context())), supervisor.Close()); err != nil {
			t.Error(err)
		}
	})
	return browser{"playwright-native", kind, backend}
}

// shop serves the pages of the example shop.
func shop(t *testing.T) string {
	t.Helper()
	return serve(t, http.FileServer(http.Dir(filepath.Join("..", "..", "testdata", "projects", "shop", "pages"))))
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// pages serves the bodies of pages by their paths.
func pages(t *testing.T, bodies map[string]string) string {
	t.Helper()
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := bodies[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, "<!doctype html><html lang=en><title>%s</title>%s", r.URL.Path, body)
	}))
}

// fixture is a live session with the rights of an agent, and an agent for it.
type fixture struct {
	*testing.T
	*live.RedactedSession
	redactor redactor
}

type redactor interface{ Text(string) string }

// open opens a session. extra are further sources of tools.
func (b browser) open(t *testing.T, extra ...discover.Source) *fixture {
	t.Helper()
	root := t.TempDir()
	secrets := map[string]string{"PIN": secret}
	r := redact.New(secrets)
	driver, _ := scope.ParseDriver(b.driver)
	opened, err := live.Open(t.Context(), live.Options{
		Setup: session.Setup{
			Project: &config.Project{Root: root, LogsDir: filepath.Join(root, "logs"), TrailsDir: filepath.Join(root, "trails")},
			Version: "test", Redactor: r, Stream: event.NewStream(time.Now, r), Now: time.Now,
			Builtins: append([]discover.Source{builtin.Source()}, extra...),
		},
		Scope:  scope.Scope{Driver: driver, AgentMode: scope.Host},
		Device: session.Device{Backends: []session.Backend{{Kind: b.kind, Backend: b.backend}}},
		Name:   "agent", Lineage: []string{driver.Platform.Lower()}, Memory: map[string]string{"name": "Ada"}, Secrets: secrets, Agent: true,
		Settle: live.Settle{Interval: 10 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close(context.WithoutCancel(t.Context())) })
	return &fixture{T: t, RedactedSession: opened, redactor: r}
}

// visit opens a page.
func (f *fixture) visit(url string) {
	f.Helper()
	f.calls("Open the page", trail.Call{Tool: "web_navigate", Args: map[string]any{"url": url}})
}

// calls makes calls in a step.
func (f *fixture) calls(step string, calls ...trail.Call) {
	f.Helper()
	r, err := f.Step(f.Context(), live.StepRequest{Text: step, Kind: trail.KindStep, Calls: calls})
	if err != nil || !r.OK() {
		f.Fatalf("%v %+v", err, r)
	}
}

// recording returns the recording without its first step.
func (f *fixture) recording() string {
	f.Helper()
	yaml, err := f.Edit(f.Context(), live.Edit{})
	if err != nil {
		f.Fatal(err)
	}
	return yaml
}

// thinker is a model in this process: a function from what it is sent to what it answers.
type thinker struct {
	think func(r model.Request) model.Answer

	mu       sync.Mutex
	requests []model.Request
	answers  []model.Answer
}

func (m *thinker) Ask(ctx context.Context, r model.Request) (model.Answer, model.Usage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	answer := m.think(r)
	m.requests, m.answers = append(m.requests, r), append(m.answers, answer)
	return answer, model.Usage{Uncached: bytesOf(r) / 4, Output: 50}, ctx.Err()
}

// bytesOf is the size of a request without pictures.
func bytesOf(r model.Request) int { return len(prompt(r)) }

// prompt is a request as one text.
func prompt(r model.Request) string {
	var b strings.Builder
	for _, t := range r.Tools {
		b.WriteString(t.Name + t.Description + string(t.Schema))
	}
	b.WriteString(r.System)
	for _, block := range r.Blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

// scripted answers with one list of calls after the other, and then says that it failed.
func scripted(turns ...func(seen string) []model.Call) *thinker {
	n := 0
	return &thinker{think: func(r model.Request) model.Answer {
		if n == len(turns) {
			return called(finish("failed", "out of ideas", ""))
		}
		var seen strings.Builder
		for _, b := range r.Blocks {
			seen.WriteString(b.Text + "\n")
		}
		n++
		return called(turns[n-1](seen.String())...)
	}}
}

func called(calls ...model.Call) model.Answer { return model.Answer{End: model.Called, Calls: calls} }

// say returns a turn that does not depend on the screen.
func say(calls ...model.Call) func(string) []model.Call {
	return func(string) []model.Call { return calls }
}

// ref returns the reference of the last element with a role and a name in what was sent.
func ref(seen, element string) string {
	all := regexp.MustCompile(regexp.QuoteMeta(element)+` \[ref=(e\d+)\]`).FindAllStringSubmatch(seen, -1)
	if len(all) == 0 {
		return "e99999"
	}
	return all[len(all)-1][1]
}

func use(name string, args ...any) model.Call {
	values := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		values[args[i].(string)] = args[i+1]
	}
	data, _ := json.Marshal(values)
	return model.Call{Name: name, Args: data}
}

// through returns a call of a tool by call_tool.
func through(name string, args ...any) model.Call {
	return use("call_tool", "name", name, "arguments", use("", args...).Args)
}

func finish(status, why, expect string) model.Call {
	if expect == "" {
		return use("step_done", "status", status, "why", why)
	}
	return use("step_done", "status", status, "why", why, "expect", expect)
}

// do carries out a task with an agent of its own.
func (f *fixture) do(m *thinker, task agent.Task, edit ...func(*agent.Options)) agent.Outcome {
	f.Helper()
	o := agent.Options{Model: m, Output: func(s string) string { return f.redactor.Text(report.Clean(s)) }, ExpectLimit: 10 * time.Millisecond}
	for _, change := range edit {
		change(&o)
	}
	return agent.New(o).Do(f.Context(), f, task)
}

func step(text string) agent.Task {
	return agent.Task{Number: "2", Kind: trail.KindStep, Text: text, Recordable: true}
}

func verify(text string) agent.Task {
	return agent.Task{Number: "3", Kind: trail.KindVerify, Text: text, Recordable: true}
}

// project is a source of tools of a project.
func project(tools map[string]func() tool.Result) discover.Source {
	s := discover.Source{Source: tool.Source{Kind: tool.FromServer, Name: "shop"}, Caller: projectTools(tools)}
	for name := range tools {
		s.Tools = append(s.Tools, tool.Advertised{Name: name, Description: "Of the project.", InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return s
}

type projectTools map[string]func() tool.Result

func (p projectTools) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	return p[c.Tool](), nil
}
