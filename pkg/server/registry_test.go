package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// resource returns a response to resources/read with a text.
func resource(text string) json.RawMessage {
	quoted, _ := json.Marshal(text)
	return json.RawMessage(`{"contents":[{"uri":"trailblaze://registry","text":` + string(quoted) + `}]}`)
}

const sdkRegistry = `{"tools":{"echo":{"platforms":["android","web"],"groups":["sdk"],"isRecordable":false}},` +
	`"groups":{"sdk":{"description":"Of an SDK","defaultEnabled":false}}}`

func TestRegistryOfServersOfEverySDK(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		argv []string
		env  []string
	}{
		{"SDK v1 on bun", realArgv(t, "bun", "registry1.ts"), nil},
		{"SDK v1 on node with tsx", realArgv(t, "tsx", "registry1.ts"), nil},
		{"SDK v2 on bun", realArgv(t, "bun", "registry2.mts"), nil},
		{
			"SDK v2 that speaks only 2026-07-28, on node with tsx", realArgv(t, "tsx", "registry2.mts"),
			[]string{"LEGACY=reject"},
		},
		{"go-sdk", []string{buildGoSDK(t)}, []string{"REGISTRY=" + sdkRegistry}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			logs := &logRecorder{}
			s := start(t, Config{
				Name: "real", Version: "1.2.3", Log: logs.add,
				Launch: launcher(t, tt.env, tt.argv...),
			})
			var got, want any
			if err := json.Unmarshal([]byte(s.Listing().Registry), &got); err != nil {
				t.Fatalf("registry %q: %v\n%s", s.Listing().Registry, err, logs)
			}
			_ = json.Unmarshal([]byte(sdkRegistry), &want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("registry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServersOfEverySDKWithOtherResourcesHaveNoRegistry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		argv []string
	}{
		{"SDK v1", realArgv(t, "bun", "registry1.ts")},
		{"SDK v2", realArgv(t, "bun", "registry2.mts")},
		{"go-sdk", []string{buildGoSDK(t)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			logs := &logRecorder{}
			s := start(t, Config{
				Name: "real", Log: logs.add,
				Launch: launcher(t, []string{"REGISTRY=elsewhere"}, tt.argv...),
			})
			if s.Listing().Registry != "" || logs.logged("warn") ||
				!logs.logged("debug", "has no trailblaze://registry") {
				t.Errorf("registry %q, log:\n%s", s.Listing().Registry, logs)
			}
		})
	}
}

func TestUnreadableRegistryIsAWarning(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script   script
		registry string
		warning  string // empty for none
		debug    string
	}{
		"a text":         {script{Registry: resource("{}")}, "{}", "", ""},
		"any type":       {script{Registry: json.RawMessage(`{"contents":[{"uri":1,"mimeType":7,"text":"no JSON"}]}`)}, "no JSON", "", ""},
		"the first text": {script{Registry: json.RawMessage(`{"contents":[null,{"blob":"e30="},{"text":5},{"text":"one"},{"text":"two"}]}`)}, "one", "", ""},
		"an empty text":  {script{Registry: resource("")}, "", "", ""},
		"only a blob": {
			script{Registry: json.RawMessage(`{"contents":[{"blob":"e30="}]}`)},
			"",
			"the response has no text", "",
		},
		"no contents": {script{Registry: json.RawMessage(`{}`)}, "", "the response has no text", ""},
		"contents that are not a list": {
			script{Registry: json.RawMessage(`{"contents":"x"}`)},
			"",
			"the response has no contents", "",
		},
		"not an object": {
			script{Registry: json.RawMessage(`[]`)},
			"", "the response has no contents",
			"",
		},
		"the maximum size": {script{RegistrySize: 1 << 20}, strings.Repeat(" ", 1<<20), "", ""},
		"over the maximum size": {
			script{RegistrySize: 3 << 19},
			"",
			"it has 1536 KiB, over the limit of 1024 KiB", "",
		},
		"no such resource, older": {
			script{RegistryError: &rpcError{-32002, "Registry not found"}},
			"", "",
			"Registry not found",
		},
		"no such resource, newer": {script{RegistryError: &rpcError{
			-32602,
			"Registry trailblaze://registry not found",
		}}, "", "", "not found"},
		"no such method": {
			script{RegistryError: &rpcError{-32601, "Method not found"}},
			"", "",
			"Method not found",
		},
		"an error": {
			script{RegistryError: &rpcError{-32603, "ENOENT: groups.json"}},
			"",
			"protocol error -32603: ENOENT: groups.json", "",
		},
		"no response": {
			script{Registry: resource("{}"), Silent: "read"},
			"",
			"no response within 200ms", "",
		},
		"it hangs": {
			script{Registry: resource("{}"), Hang: "read"},
			"", "no response within 200ms",
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startFakeServer(t, tc.script, func(c *Config) {
				if tc.script.Silent+tc.script.Hang != "" {
					c.timing.registry = 200 * time.Millisecond
				}
			})
			if got := r.Listing().Registry; got != tc.registry || len(r.Tools()) == 0 {
				t.Errorf("registry %.100q, %d tools", got, len(r.Tools()))
			}
			if r.logged("warn") != (tc.warning != "") || !r.logged(tc.debug) && tc.debug != "" {
				t.Errorf("log:\n%s", r)
			}
			if tc.warning != "" && !r.logged("warn",
				`server "shop" did not provide trailblaze://registry: `+tc.warning) {
				t.Errorf("log:\n%s", r)
			}
			if tc.script.Hang == "" && !call(t, r.Server, tool.Call{Tool: "echo"}).OK {
				t.Error("the call failed")
			}
		})
	}
}

func TestExitDuringTheRegistryReadIsReported(t *testing.T) {
	t.Parallel()
	cfg, _ := fakeConfig(t, script{Registry: resource("{}"), Exit: "read", Code: 9, Stderr: "registry.json is missing"},
		nil)
	err := startFailure(t, cfg)
	if err.Kind != fault.Crashed {
		t.Errorf("kind %q", err.Kind)
	}
	mustContain(t, err.Message, `server "shop"`, "crashed during resources/read", "exited with code 9",
		"registry.json is missing")
}

func TestRegistryIsRequestedAfterTheFirstPageAndOnlyIfThereAreResources(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{
		Registry: resource("{}"),
		Pages:    pages(`{"tools":[],"nextCursor":"2"}`, `{"tools":[]}`),
	}, nil)
	var methods []string
	for _, line := range r.lines(`"id"`) {
		var m message
		_ = json.Unmarshal([]byte(line), &m)
		methods = append(methods, m.Method)
	}
	if len(methods) != 4 || methods[1] != "tools/list" || strings.Join(methods[2:], " ") == "tools/list tools/list" {
		t.Errorf("requests %v", methods)
	}
	if lines := startFakeServer(t, script{}, nil).lines("resources/read"); len(lines) != 0 {
		t.Errorf("a server without resources received %v", lines)
	}
}

// listAgain calls Server.List.
func listAgain(t *testing.T, s *Server) *Listing {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	l, err := s.List(ctx, false)
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	return l
}

func TestListingTakesEffectWhenItIsSet(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Registry: resource("{}"), Pages: pages(
		`{"tools":[{"name":"quick","_meta":{"trailblaze/timeoutMs":60000}},{"name":"echo"}]}`,
		`{"tools":[{"name":"quick","_meta":{"trailblaze/timeoutMs":50}},{"name":"echo","inputSchema":{"type":"object","additionalProperties":false}}]}`,
	)}, nil)
	l := listAgain(t, r.Server)
	if l.Registry != "{}" || len(l.Tools) != 2 {
		t.Errorf("listing %+v", l)
	}
	echoed := call(t, r.Server, tool.Call{Tool: "echo", Context: fullContext()})
	mustContain(t, string(echoed.Structured), tool.ReservedArg)
	r.SetListing(l)
	if echoed = call(t, r.Server, tool.Call{
		Tool:    "echo",
		Context: fullContext(),
	}); strings.Contains(string(echoed.Structured), tool.ReservedArg) {
		t.Errorf("a strict tool was sent the reserved argument: %s", echoed.Structured)
	}
	if quick := call(t, r.Server, tool.Call{Tool: "quick"}); quick.Kind != fault.CallTimeout ||
		!strings.Contains(quick.Text, "50ms") {
		t.Errorf("quick: %+v", quick)
	}
}

func TestListUsesTheProcessInUse(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, func(c *Config) { c.RestartOnCrash = true })
	if quick := call(t, r.Server, tool.Call{Tool: "quick"}); quick.Kind != fault.CallTimeout {
		t.Errorf("quick: %+v", quick)
	}
	listAgain(t, r.Server) // after a timeout
	if exited := call(t, r.Server, tool.Call{Tool: "exit", Args: args(t, `{"code":3}`)}); exited.Kind != fault.Crashed {
		t.Errorf("exit: %+v", exited)
	}
	listAgain(t, r.Server) // after a crash
	if echoed := call(t, r.Server, tool.Call{Tool: "echo"}); echoed.Text != "process 3" {
		t.Errorf("echo: %+v", echoed)
	}
}

func TestListDoesNotWaitForThePendingCall(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = r.Call(ctx, tool.Call{Tool: "hang"})
	}()
	waitFor(t, "the call is pending", func() bool { return len(r.lines(`"name":"hang"`)) == 1 })
	listAgain(t, r.Server)
	cancel()
	waitClosed(t, "the call ends", done)
}

func TestFailedListKeepsTheListing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script script
		before func(t *testing.T, r *testServer)
		want   []string
		failed bool
	}{
		"no list":  {script{}, nil, []string{"tools/list", "no list of tools"}, false},
		"it hangs": {script{Hang: "relist"}, nil, []string{"tools/list: timeout", "300ms"}, false},
		"it exits": {
			script{Exit: "relist", Code: 7, Stderr: "out of tools"},
			nil,
			[]string{"crashed", "during tools/list", "code 7", "out of tools"},
			true,
		},
		"it was stopped": {
			script{},
			func(t *testing.T, r *testServer) { stop(t, r.Server) },
			[]string{"tools/list", "being stopped"},
			false,
		},
		"it has exited": {script{}, func(t *testing.T, r *testServer) {
			if _, err := r.Call(t.Context(), tool.Call{Tool: "exit"}); err == nil {
				t.Error("it starts on")
			}
		}, []string{"crashed during tool \"exit\""}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.script.Pages = pages(fakeTools, `[]`)
			r := startFakeServer(t, tc.script, func(c *Config) {
				if tc.script.Hang != "" {
					c.timing.list = 300 * time.Millisecond
				}
			})
			if tc.before != nil {
				tc.before(t, r)
			}
			_, err := r.List(t.Context(), false)
			if err == nil {
				t.Fatal("List succeeded")
			}
			mustContain(t, err.Error(), append(tc.want, `server "shop"`)...)
			if len(r.Tools()) == 0 || (r.Err() != nil) != tc.failed {
				t.Errorf("%d tools, failed with %v", len(r.Tools()), r.Err())
			}
		})
	}
}

func TestCancelledListLeavesTheServerUsable(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.List(ctx, true)
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("err %v", err)
	}
	if echoed := call(t, r.Server, tool.Call{Tool: "echo"}); echoed.Text != "process 1" {
		t.Errorf("echo: %+v", echoed)
	}
}

const listChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

func TestToolsThatChangeDuringStartAreListedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script script
		want   int // listings
		tool   string
	}{
		"unchanged":                 {script{}, 1, "one"},
		"before they are listed":    {script{First: json.RawMessage(listChanged)}, 1, "one"},
		"while they are listed":     {script{Before: pages(listChanged)}, 2, "two"},
		"afterwards, several times": {script{After: pages(listChanged, listChanged, listChanged)}, 2, "two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.script.Pages = pages(`{"tools":[{"name":"one"}]}`, `{"tools":[{"name":"two"}]}`)
			if tc.script.After != nil { // so that they are received before the start has finished
				tc.script.Pages = pages(`{"tools":[{"name":"one"}],"nextCursor":"more"}`, `{"tools":[{"name":"two"}]}`)
			}
			r := startFakeServer(t, tc.script, nil)
			if tc.script.After != nil {
				tc.want++ // the second page
			}
			if err := r.FinishStart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := len(r.lines(`"tools/list"`)); n != tc.want || r.Tools()[len(r.Tools())-1].Name != tc.tool {
				t.Errorf("%d listings, want %d; tools %v", n, tc.want, names(r.Tools()))
			}
		})
	}
}

func TestLaterToolChangesAreLoggedOnce(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	if err := r.FinishStart(t.Context()); err != nil {
		t.Fatal(err)
	}
	call(t, r.Server, tool.Call{Tool: "say", Args: args(t, fmt.Sprintf(`{"requests":[%[1]s,%[1]s]}`, listChanged))})
	const note = "debug: server \"shop\" announced that its tools changed; this session keeps the tools it started with; call reloadTools to list them again"
	if n := strings.Count(r.String(), note); n != 1 || len(r.lines(`"tools/list"`)) != 1 {
		t.Errorf("logged %d times, listed %d times; log:\n%s", n, len(r.lines(`"tools/list"`)), r)
	}
}
