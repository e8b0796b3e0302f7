package scripted_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/scripted"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page is a device that answers two commands.
type page struct{}

func pages() device.Kind {
	return device.Kind{
		Name: "page", Drivers: []string{"playwright-native"},
		Commands: func() []tool.Advertised { return []tool.Advertised{{Name: "web_click"}, {Name: "findMatches"}} },
		New:      func(device.Host) (device.Backend, error) { return page{}, nil },
	}
}

func (page) Open(device.Session) device.Device             { return page{} }
func (page) Classifiers(context.Context) ([]string, error) { return nil, nil }
func (page) Check(context.Context) (string, error)         { return "", nil }
func (page) Prepare()                                      {}
func (page) Size() (width, height int)                     { return 0, 0 }
func (page) Evidence(context.Context) []device.Artifact    { return nil }
func (page) Close(context.Context) error                   { return nil }
func (page) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	ref, _ := call.Args["ref"].(string)
	switch {
	case call.Tool == "findMatches":
		return tool.Result{OK: true, Text: "2 matches", Structured: json.RawMessage(`{"matches":[{"bounds":{"left":1}},{"bounds":{"left":20}}]}`)}, nil
	case ref == "#burnt":
		return tool.Result{Text: "#burnt is not there"}, nil
	}
	return tool.Result{OK: true, Text: "clicked " + ref}, nil
}

// functions returns tools for all functions of the bakery. "FILE NAME" are in FILE.
func functions(t *testing.T, dir string, names ...string) []config.FunctionTool {
	t.Helper()
	var out []config.FunctionTool
	for _, name := range names {
		file, export, _ := strings.Cut(name, " ")
		out = append(out, config.FunctionTool{Name: export, Description: "The tool " + export + ".", File: filepath.Join(dir, file), Export: export})
	}
	return out
}

// bakery returns the server of a copy of the bakery.
func bakery(t *testing.T) config.Server {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/bakery")); err != nil {
		t.Fatal(err)
	}
	s := config.Server{Name: "bakery", Functions: functions(t, dir,
		"bakery_fillBasket.ts bakery_fillBasket", "reports/bakery_report.js bakery_report", "reports/bakery_report.js bakery_legacy",
		"bakery_broken.ts bakery_broken", "bakery_thrown.ts bakery_thrown", "bakery_tools.ts bakery_remember", "bakery_tools.ts bakery_forget",
		"bakery_tools.ts bakery_places", "bakery_tools.ts bakery_sum", "bakery_tools.ts bakery_where", "bakery_tools.ts bakery_fetch",
		"bakery_tools.ts bakery_types", "bakery_tools.ts bakery_mcp", "bakery_tools.ts bakery_hierarchy", "bakery_tools.ts bakery_zod",
		"bakery_tools.ts bakery_fail", "bakery_tools.ts bakery_nothing",
	)}
	s.Functions[0].Schema = json.RawMessage(`{"type":"object","properties":{"count":{"type":"number"}},"required":["count"],"additionalProperties":false}`)
	s.Functions[0].Meta = map[string]any{"trailblaze/supportedPlatforms": []any{"web"}}
	return s
}

// opened is a session with functions.
type opened struct {
	*session.Session
	events *bytes.Buffer
	dir    string // working directory
}

// path is a PATH with bun and node.
func path(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	bun, err := filepath.Abs("../../testdata/servers/node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bun, "bun")); err != nil {
		t.Fatalf("%v; run make deps", err)
	}
	return bun + string(os.PathListSeparator) + filepath.Dir(node)
}

func open(t *testing.T, force, cache string, server config.Server) opened {
	t.Helper()
	o := opened{events: &bytes.Buffer{}, dir: t.TempDir()}
	runtimes := runtime.NewFinder(runtime.Options{PATH: path(t), Env: os.Environ(), CacheDir: cache, Force: force, ForcedBy: "--runtime"})
	supervisor := spawn.NewSupervisor(spawn.Options{Runtimes: runtimes})
	opener := workspace.NewOpener(workspace.Options{
		Env: os.Environ(), Getenv: func(string) (string, bool) { return "", false }, Dir: o.dir, Now: time.Now,
		Kinds: []device.Kind{pages()}, Secrets: &redact.Set{}, Supervisor: supervisor, Runtimes: runtimes, Warn: func(err error) { t.Error(err) },
	})
	w := opener.Empty()
	w.Project.Root, w.Project.Target, w.Project.Platform = filepath.Dir(server.Functions[0].File), "bakery", "web"
	w.Project.Servers = []config.Server{server}
	w.Project.Targets = []config.Target{{ID: "bakery", Platforms: map[scope.Platform]config.PlatformConfig{scope.Web: {AppIDs: []string{"one", "two"}}}}}
	choice := workspace.Choice{Memory: map[string]string{"kind": "sweet", "old": "stale"}, Secrets: map[string]string{"PIN": "4711-secret"}}
	s, err := w.Sessions(t.Context(), choice)
	if err != nil {
		t.Fatal(err)
	}
	s.NewStream(report.NewJSONLines(o.events))
	sc, err := s.Scope()
	if err != nil {
		t.Fatal(err)
	}
	options := s.Options(sc)
	options.ID, options.Dir = session.NewID("test", time.Now()), t.TempDir()
	options.Emit = s.Stream.Session(options.ID, "", nil)
	if o.Session, err = session.Open(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		o.Close(ctx)
		s.Close(ctx)
		opener.Close(ctx)
		if err := supervisor.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// call makes a call, and returns the text of its result, or of its failure with its hint.
func (o opened) call(t *testing.T, name string, args map[string]any) (text string, ok bool) {
	t.Helper()
	done := o.Call(t.Context(), trail.Call{Tool: name, Args: args})
	if done.Outcome == event.Passed {
		return done.Answer.Text, true
	}
	return strings.TrimSpace(done.Cause.Error() + " " + session.Hint(done.Cause)), false
}

// TestFunctionsOnEachRuntime runs files of the JVM Trailblaze as they are.
func TestFunctionsOnEachRuntime(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("fetched")) }))
	t.Cleanup(site.Close)
	for force, runs := range map[string]string{"": "embedded", runtime.Bun: "bun+bundle", runtime.Node: "node+bundle"} {
		t.Run(runs, func(t *testing.T) {
			t.Parallel()
			o := open(t, force, t.TempDir(), bakery(t))
			if !strings.Contains(o.events.String(), "runs on "+runs) {
				t.Errorf("events: %s", o.events)
			}
			for _, tt := range []struct {
				tool string
				args map[string]any
				want string // of a failure with "FAILS: " before it
			}{
				{"bakery_fillBasket", map[string]any{"count": 2}, "2 in"},
				{"bakery_report", map[string]any{"file": "report.txt"}, "written 2 cakes"},
				{"bakery_legacy", map[string]any{"ref": "#a"}, `[true,true,"clicked #a",[{"bounds":{"left":1}},{"bounds":{"left":20}}]]`},
				{"bakery_broken", nil, "FAILS: the script cannot be bundled: bakery_broken.ts:5:1: Unexpected end of file; correct the syntax there"},
				{"bakery_thrown", nil, "FAILS: thrown at bakery_thrown.ts:4"},
				{"bakery_thrown", nil, "FAILS: thrown at bakery_thrown.ts:4"},
				{"bakery_remember", map[string]any{"cake": "plum"}, `{"before":["sweet",true,false,"absent"],"gone":[true,false],"basket":{"pieces":2},` +
					`"keys":["basket","cake","kind"],"text":"plum sweet {{nothing}}"}`},
				{"bakery_forget", nil, "FAILS: bakery_forget: web_click: #burnt is not there thrown at bakery_tools.ts:23"},
				{"bakery_types", map[string]any{"cake": "{{cake}}", "basket": "{{basket}}"}, `{"basket":"{\"pieces\":2}","cake":"plum"}`},
				{"bakery_places", nil, "[1,20]"},
				{"bakery_sum", nil, `{"sum":21,"filled":"2 in"}`},
				{"bakery_where", nil, `{"device":["web","playwright-native",null],"target":["bakery",["one","two"],null,"one","https://default.test",false],` +
					`"selector":{"css":"#q"},"outside":"outside"}`},
				{"bakery_fetch", map[string]any{"url": site.URL}, "fetched"},
				{"bakery_mcp", nil, "FAILS: as it is"},
				{"bakery_hierarchy", nil, "FAILS: captureViewHierarchy of @trailblaze/scripting does not exist"},
				{"bakery_zod", nil, "FAILS: install zod there"},
				{"bakery_fail", nil, "FAILS: the oven is cold thrown at bakery_tools.ts:54"},
				{"bakery_nothing", nil, "FAILS: bakery_tools.ts exports no function bakery_nothing"},
			} {
				text, ok := o.call(t, tt.tool, tt.args)
				want, fails := strings.CutPrefix(tt.want, "FAILS: ")
				if ok == fails || !fails && text != want || !strings.Contains(text, want) {
					t.Errorf("%s: %v %s\nwant %s", tt.tool, ok, text, tt.want)
				}
			}
			if report, err := os.ReadFile(filepath.Join(o.dir, "report.txt")); string(report) != "2 cakes" {
				t.Errorf("the report in the working directory: %q %v", report, err)
			}
			if clicks := strings.Count(o.events.String(), `"ref":"#lemon"`); clicks != 2 {
				t.Errorf("%d clicks", clicks)
			}
			if _, known := o.Registry().Lookup("bakery_sum"); !known {
				t.Errorf("not listed")
			}
		})
	}
}

func TestFunctionsThatNeedAProcess(t *testing.T) {
	t.Parallel()
	server := bakery(t)
	server.NotEmbedded = true
	o := open(t, "", t.TempDir(), server)
	if !strings.Contains(o.events.String(), "runs on bun+bundle: its functions need bun or node") {
		t.Errorf("events: %s", o.events)
	}
}

// TestBrokenScripts says which scripts cannot be bundled, and where.
func TestBrokenScripts(t *testing.T) {
	t.Parallel()
	server := bakery(t)
	problems, err := scripted.Broken(t.Context(), server, runtime.NewFinder(runtime.Options{}))
	if err != nil || len(problems) != 1 || filepath.Base(problems[0].File) != "bakery_broken.ts" || problems[0].Line != 5 {
		t.Errorf("problems %v %v", problems, err)
	}
}
