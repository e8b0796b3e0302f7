package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// serversDir returns the folder of the servers that use real SDKs, and their packages.
func serversDir(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.Abs("../../testdata/servers")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", "bun")); err != nil {
		tb.Fatalf("the npm packages of the test servers are missing, run make deps: %v", err)
	}
	return dir
}

// realArgv returns the command that runs a script of testdata/servers; runtime is bun, node or tsx.
func realArgv(tb testing.TB, runtime, script string) []string {
	tb.Helper()
	dir := serversDir(tb)
	argv := map[string][]string{
		"bun":  {filepath.Join(dir, "node_modules", ".bin", "bun"), "run", "--no-install"},
		"node": {"node"},
		"tsx": {"node", "--import", "file://" +
			filepath.ToSlash(filepath.Join(dir, "node_modules", "tsx", "dist", "loader.mjs"))},
	}[runtime]
	return append(argv, filepath.Join(dir, script))
}

// goSDK is the server on the Go SDK, built once for all tests.
type goSDK struct {
	once sync.Once
	dir  string // removed by TestMain
	err  error
}

var goSDKServer goSDK

func (g *goSDK) build() {
	if g.dir, g.err = os.MkdirTemp("", "trailblaze-gosdk-"); g.err != nil {
		return
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(g.dir, "gosdk.exe"),
		"../../testdata/servers/gosdk").CombinedOutput()
	if err != nil {
		g.err = fmt.Errorf("go build: %w\n%s", err, out)
	}
}

// buildGoSDK returns the path of the server on the Go SDK.
func buildGoSDK(tb testing.TB) string {
	tb.Helper()
	goSDKServer.once.Do(goSDKServer.build)
	if goSDKServer.err != nil {
		tb.Fatal(goSDKServer.err)
	}
	return filepath.Join(goSDKServer.dir, "gosdk.exe")
}

func TestServersOfEverySDKAreListedAndCalled(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		argv []string
		env  []string
	}{
		{"SDK v1 on bun", realArgv(t, "bun", "sdk1.ts"), nil},
		{"SDK v1 on node with tsx", realArgv(t, "tsx", "sdk1.ts"), nil},
		{"SDK v2 on bun", realArgv(t, "bun", "sdk2.mts"), nil},
		{"SDK v2 on node with tsx", realArgv(t, "tsx", "sdk2.mts"), nil},
		{"SDK v2 that speaks only 2026-07-28, on bun", realArgv(t, "bun", "sdk2.mts"), []string{"LEGACY=reject"}},
		{
			"SDK v2 that speaks only 2026-07-28, on node with tsx", realArgv(t, "tsx", "sdk2.mts"),
			[]string{"LEGACY=reject"},
		},
		{"hand-written on bun", realArgv(t, "bun", "hand.mjs"), nil},
		{"hand-written on node", realArgv(t, "node", "hand.mjs"), nil},
		{"go-sdk", []string{buildGoSDK(t)}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Config{Name: "real", Version: "1.2.3", Launch: launcher(t, tt.env, tt.argv...)})
			var names []string
			var echo tool.Advertised
			for _, one := range s.Tools() {
				names = append(names, one.Name)
				if one.Name == "echo" {
					echo = one
				}
			}
			if len(names) != 3 || echo.Description != "answers what it was sent" ||
				echo.Meta["trailblaze/toolset"] != "sdk" {
				t.Errorf("tools %v, echo %+v", names, echo)
			}
			mustContain(t, string(echo.InputSchema), `"text"`)

			var progress []string
			echoed := call(t, s, tool.Call{
				Tool: "echo", InvocationID: "i-1", Args: map[string]any{"text": "hi"},
				Context: fullContext(),
			})
			if !echoed.OK || echoed.Text != "hi" {
				t.Errorf("echo: %+v", echoed)
			}
			checkContexts(t, echoed.Structured)
			failed := call(t, s, tool.Call{Tool: "fail"})
			if failed.OK || failed.Kind != fault.ToolFailed || failed.Text != "no, on purpose" {
				t.Errorf("fail: %+v", failed)
			}
			crawled := call(t, s, tool.Call{
				Tool:     "crawl",
				Progress: func(text string) { progress = append(progress, text) },
			})
			if !crawled.OK || crawled.Text != "done" {
				t.Errorf("crawl: %+v", crawled)
			}
			if diff := cmp.Diff([]string{"step 1", "step 2", "step 3"}, progress); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
		})
	}
}

// fullContext returns a session's context in which every field is set.
func fullContext() tool.Context {
	return tool.Context{
		SessionID: "s-1", Memory: map[string]any{"n": 1.0, "who": "ada"},
		Device: tool.Device{Platform: "ANDROID", Driver: "android-ondevice-accessibility", Width: 1080, Height: 2400},
		Target: &tool.Target{ID: "shop", DisplayName: "Shop", AppIDs: []string{"com.shop"}, AppID: "com.shop", BaseURL: "http://127.0.0.1:3000"},
	}
}

// checkContexts compares what a tool received of fullContext with section 7 of the specification.
func checkContexts(t *testing.T, structured json.RawMessage) {
	t.Helper()
	var got struct {
		Context any `json:"context"`
		Meta    map[string]any
	}
	if err := json.Unmarshal(structured, &got); err != nil {
		t.Fatalf("structuredContent %s: %v", structured, err)
	}
	wantContext := args(t, `{"memory":{"n":1,"who":"ada"},"device":{"platform":"ANDROID","widthPixels":1080,"heightPixels":2400,
		"driverType":"android-ondevice-accessibility"}}`)
	if diff := cmp.Diff(any(wantContext), got.Context); diff != "" {
		t.Errorf("_trailblazeContext (-want +got):\n%s", diff)
	}
	wantMeta := args(t, `{"sessionId":"s-1","invocationId":"i-1","device":{"platform":"android","widthPixels":1080,"heightPixels":2400,
		"driverType":"android-ondevice-accessibility"},"memory":{"n":1,"who":"ada"},
		"target":{"id":"shop","displayName":"Shop","appIds":["com.shop"],"appId":"com.shop","baseUrl":"http://127.0.0.1:3000"}}`)
	if diff := cmp.Diff(any(wantMeta), got.Meta["trailblaze"]); diff != "" {
		t.Errorf("_meta.trailblaze (-want +got):\n%s", diff)
	}
	if got.Meta["trailblazeInvocationId"] != "i-1" {
		t.Errorf("_meta: %v", got.Meta)
	}
}

func TestServerThatIgnoresUnknownMethodsStarts(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Unknown: "ignore"}, nil)
	if len(r.Tools()) == 0 {
		t.Error("no tools")
	}
}

func TestServerThatExitsOnUnknownMethodsIsSentNone(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Unknown: "exit"}, nil)
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); !result.OK {
		t.Errorf("echo: %+v", result)
	}
}

func TestHandshakeSendsTheClassicProtocolAndOurName(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	lines := r.lines(`"jsonrpc"`)
	want := `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"trailblaze","version":"1.2.3"}}`
	var first message
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	var got, wanted any
	_ = json.Unmarshal(first.Params, &got)
	_ = json.Unmarshal([]byte(want), &wanted)
	if diff := cmp.Diff(wanted, got); diff != "" || first.Method != "initialize" {
		t.Errorf("first message %s (-want +got):\n%s", lines[0], diff)
	}
}

func TestServerThatRejectsInitializeIsRestartedWithTheModernProtocol(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reject rpcError
		exit   string
	}{
		{"unsupported protocol version", rpcError{-32022, "unsupported"}, ""},
		{"method not found", rpcError{-32601, "no such method"}, ""},
		{"in the message only", rpcError{-32000, "Unsupported protocol version: 2025-11-25"}, ""},
		{"and exits", rpcError{-32022, "unsupported"}, "rejection"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := startFakeServer(t, script{Modern: true, Reject: &tt.reject, Exit: tt.exit}, nil)
			if result := call(t, r.Server, tool.Call{
				Tool:    "echo",
				Context: fullContext(),
			}); result.Text != "process 2" {
				t.Errorf("echo: %+v", result)
			}
			lines := strings.Join(r.lines(""), "\n")
			again, discover := strings.LastIndex(lines, "started"), strings.Index(lines, "server/discover")
			if again == 0 || discover < again {
				t.Errorf("want server/discover only in a second process:\n%s", lines)
			}
		})
	}
}

func TestRejectionOfBothProtocolsIsAnError(t *testing.T) {
	t.Parallel()
	cfg, r := fakeConfig(t, script{Reject: &rpcError{-32022, "neither this nor that"}, Stderr: "sorry"}, nil)
	err := startFailure(t, cfg)
	if err.Kind != fault.ProtocolError {
		t.Errorf("kind %q", err.Kind)
	}
	mustContain(t, err.Message, `server "shop"`, "initialize", "neither this nor that")
	if starts := len(r.lines("started")); starts != 2 {
		t.Errorf("%d starts", starts)
	}
}

func TestServerMayChooseAnOlderProtocol(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := startFakeServer(t, script{Protocol: version}, nil)
			if result := call(t, r.Server, tool.Call{Tool: "echo"}); !result.OK {
				t.Errorf("echo: %+v", result)
			}
		})
	}
}

func TestUnknownProtocolVersionIsAnError(t *testing.T) {
	t.Parallel()
	cfg, _ := fakeConfig(t, script{Protocol: "2199-01-01"}, nil)
	err := startFailure(t, cfg)
	if err.Kind != fault.ProtocolError {
		t.Errorf("kind %q", err.Kind)
	}
	mustContain(t, err.Message, `server "shop"`, "initialize", "2199-01-01")
}

func pages(raw ...string) []json.RawMessage {
	out := make([]json.RawMessage, len(raw))
	for i, p := range raw {
		out[i] = json.RawMessage(p)
	}
	return out
}

func names(tools []tool.Advertised) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

func TestToolLists(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		pages []json.RawMessage
		want  []string
		warns []string // parts of one warning; none means that there must be no warning
	}{
		{
			"tools over several pages",
			pages(`{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"2"}`, `{"tools":[],"nextCursor":"3"}`,
				`{"tools":[{"name":"c"}],"nextCursor":null}`),
			[]string{"a", "b", "c"},
			nil,
		},
		{"an empty cursor ends the list", pages(`{"tools":[{"name":"a"}],"nextCursor":""}`), []string{"a"}, nil},
		{
			"a cursor that repeats", pages(`{"tools":[{"name":"a"}],"nextCursor":"2"}`),
			[]string{"a"},
			[]string{"warn", `cursor "2"`},
		},
		{
			"a cursor that is not a string", pages(`{"tools":[{"name":"a"}],"nextCursor":7}`),
			[]string{"a"},
			[]string{"warn", "nextCursor"},
		},
		{
			"a null tool among good ones", pages(`{"tools":[{"name":"a"},null,{"name":"b"}]}`),
			[]string{"a", "b"},
			[]string{"warn", "tools[1]", "null"},
		},
		{
			"a tool without a name", pages(`{"tools":[{"Name":"x"},{"name":""},{"name":"b"}]}`),
			[]string{"b"},
			[]string{"warn", "tools[0]", "no name"},
		},
		{
			"a tool whose name is not a string", pages(`{"tools":[{"name":5},{"name":"b"}]}`),
			[]string{"b"},
			[]string{"warn", "tools[0]"},
		},
		{
			"a schema that is not an object", pages(`{"tools":[{"name":"x","inputSchema":true},{"name":"b"}]}`),
			[]string{"b"},
			[]string{"warn", `"x"`, "inputSchema"},
		},
		{"no schema", pages(`{"tools":[{"name":"a"},{"name":"b","inputSchema":null}]}`), []string{"a", "b"}, nil},
		{
			"a description that is not a string", pages(`{"tools":[{"name":"a","description":[1]}]}`),
			[]string{"a"},
			[]string{"warn", `"a"`, "description"},
		},
		{
			"a _meta that is not an object", pages(`{"tools":[{"name":"a","_meta":"x"}]}`),
			[]string{"a"},
			[]string{"warn", `"a"`, "_meta"},
		},
		{"one name twice", pages(`{"tools":[{"name":"a"},{"name":"a"}]}`), []string{"a", "a"}, nil},
		{"no tools", pages(`{"tools":[]}`), nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := startFakeServer(t, script{Pages: tt.pages}, nil)
			if diff := cmp.Diff(tt.want, names(r.Tools())); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if tt.warns == nil && r.logged("warn") || tt.warns != nil &&
				!r.logged(append(tt.warns, `server "shop"`)...) {
				t.Errorf("want a warning with %q, got:\n%s", tt.warns, r)
			}
		})
	}
}

func TestSchemaKeepsItsBytes(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"z":{"type":"string"},"a":true,"m":{"enum":[1e2,2.0]}},"required":["z"]}`
	r := startFakeServer(t, script{Pages: pages(`{"tools":[{"name":"a","inputSchema":` + schema + `,"outputSchema":` + schema +
		`,"_meta":{"k":[1,"x"]}}]}`)}, nil)
	got := r.Tools()[0]
	if string(got.InputSchema) != schema || string(got.OutputSchema) != schema {
		t.Errorf("got %s\nand %s\nwant %s", got.InputSchema, got.OutputSchema, schema)
	}
	if diff := cmp.Diff(map[string]any{"k": []any{1.0, "x"}}, got.Meta); diff != "" {
		t.Errorf("_meta (-want +got):\n%s", diff)
	}
}

func TestResponseWithoutAListOfToolsIsAProtocolError(t *testing.T) {
	t.Parallel()
	for _, page := range []string{`{"tools":{"a":1}}`, `[]`, `"x"`} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			cfg, _ := fakeConfig(t, script{Pages: pages(page)}, nil)
			err := startFailure(t, cfg)
			if err.Kind != fault.ProtocolError {
				t.Errorf("kind %q", err.Kind)
			}
			mustContain(t, err.Message, `server "shop"`, "tools/list")
		})
	}
}

func TestRequestsOfTheServerAreAnswered(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	result := call(t, r.Server, tool.Call{Tool: "ask", Args: args(t, `{"requests":[
		{"jsonrpc":"2.0","id":"p","method":"ping"},
		{"jsonrpc":"2.0","id":"r","method":"roots/list"},
		{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}},
		{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object"}}},
		{"jsonrpc":"2.0","id":"e2","method":"elicitation/create"},
		{"jsonrpc":"2.0","id":"u","method":"no/such/thing","params":{}}]}`)})
	var got []message
	if err := json.Unmarshal(result.Structured, &got); err != nil || len(got) != 6 {
		t.Fatalf("%d responses, %v: %s", len(got), err, result.Structured)
	}
	for i, want := range []string{"p", "r", "s", "e", "e2", "u"} {
		if string(got[i].ID) != `"`+want+`"` {
			t.Errorf("response %d has id %s, want %q", i, got[i].ID, want)
		}
		if rejected := i >= 2; rejected != (got[i].Error != nil) {
			t.Errorf("%s: %+v", want, got[i])
		}
	}
}

func TestLogNotificationsAreLogged(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Before: pages(
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"disk is low"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"free":1}}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"99","progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/no/such/thing","params":{}}`,
	)}, nil)
	if !r.logged("debug", `server "shop"`, "error", "disk is low") || !r.logged("debug", `{"free":1}`) {
		t.Errorf("log:\n%s", r)
	}
	if len(r.Tools()) == 0 {
		t.Error("no tools")
	}
}

func TestSlowStartIsLoggedUnlessAMessageWasReceived(t *testing.T) {
	t.Parallel()
	greeting := &jsonrpc.Request{
		Method: "notifications/message",
		Params: json.RawMessage(`{"level":"info","data":"hello"}`),
	}
	for name, tc := range map[string]struct {
		first *jsonrpc.Request
		want  bool
	}{"nothing": {nil, true}, "a notification": {greeting, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				logs := &logRecorder{}
				m := &memoryServer{mute: methodInitialize, first: tc.first}
				started := time.Now()
				err := startFailure(t, Config{
					Name: "memory", Launch: m.launch, Log: logs.add,
					StartupTimeout: 8 * time.Second,
				})
				mustContain(t, err.Message, "no handshake within 8s")
				if took := time.Since(started); took != 8*time.Second {
					t.Errorf("took %s", took)
				}
				if logs.logged("warn", `server "memory" has sent nothing for 5s; waiting up to 8s`,
					"startupTimeout") != tc.want {
					t.Errorf("log:\n%s", logs)
				}
			})
		})
	}
}

// startFailure returns the error of a server that cannot start.
func startFailure(t *testing.T, cfg Config) *fault.Error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	s, err := Start(ctx, cfg)
	if err == nil {
		stop(t, s)
		t.Fatal("Start succeeded")
	}
	known := fault.As(err)
	if known == nil {
		t.Fatalf("not a *fault.Error: %T %v", err, err)
	}
	return known
}
