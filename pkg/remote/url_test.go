package remote

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// kind is an implementation of MCP over HTTP.
type kind struct {
	name    string
	serve   func(t *testing.T) string // its URL
	version string                    // of the protocol that is used
	silent  bool                      // it does not send progress before the response
}

func kinds() []kind {
	program := func(file, path string, env ...string) func(*testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			return serve(t, file, path, env...).url
		}
	}
	golang := func(o *mcp.StreamableHTTPOptions) func(*testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			return listen(t, mcp.NewStreamableHTTPHandler(always(goTools(t)), o)).URL
		}
	}
	const classic, modern = "2025-11-25", "2026-07-28"
	return []kind{
		{"TypeScript SDK v1, stateful", program("http1.ts", "/mcp"), classic, false},
		{"TypeScript SDK v1, stateless", program("http1.ts", "/mcp", "MODE=stateless"), classic, false},
		{"TypeScript SDK v1, JSON", program("http1.ts", "/mcp", "MODE=json"), classic, true},
		{"TypeScript SDK v1, resumable", program("http1.ts", "/mcp", "MODE=resumable"), classic, false},
		{"TypeScript SDK v1, SSE", program("http1.ts", "/sse", "MODE=sse"), "", false},
		{"TypeScript SDK v2", program("http2.mts", "/mcp"), classic, false},
		{"TypeScript SDK v2, modern", program("http2.mts", "/mcp", "LEGACY=reject"), modern, false},
		{"Go SDK, stateful", golang(nil), classic, false},
		{"Go SDK, stateless", golang(&mcp.StreamableHTTPOptions{Stateless: true}), classic, false},
		{"Go SDK, JSON", golang(&mcp.StreamableHTTPOptions{JSONResponse: true}), classic, true},
		{"Go SDK, SSE", func(t *testing.T) string {
			t.Helper()
			return listen(t, mcp.NewSSEHandler(always(goTools(t)), nil)).URL
		}, "", false},
	}
}

func TestIdleConnectionIsNotReused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		idle  time.Duration
		reuse bool
	}{"within the limit": {time.Hour, true}, "after the limit": {time.Nanosecond, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var opened atomic.Int32
			options := &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}
			f := &faultyServer{Handler: mcp.NewStreamableHTTPHandler(always(goTools(t)), options)}
			s := httptest.NewUnstartedServer(f)
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					opened.Add(1)
				}
			}
			s.Start()
			t.Cleanup(s.Close)
			limits := defaultTiming()
			limits.idle = tc.idle
			r := connect(t, Spec{URL: s.URL, timing: &limits}, nil)
			waitFor(t, "the request for notifications", func() bool { return f.count("GET") == 1 })
			r.call(t, "echo", map[string]any{"text": "hi"})
			before := opened.Load()
			<-time.After(10 * time.Millisecond)
			r.call(t, "echo", map[string]any{"text": "hi"})
			if again := opened.Load(); (again == before) != tc.reuse {
				t.Errorf("%d new connections for the next call", again-before)
			}
		})
	}
	if idle := defaultTiming().idle; idle > 4*time.Second {
		t.Errorf("connections are kept for %s, and servers close theirs after 5 s", idle)
	}
}

func TestServersOfEverySDK(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			headers := map[string]string{"Authorization": "Bearer sesame", "X-Team": "shop"}
			r := connect(t, Spec{URL: k.serve(t), Headers: headers}, nil)
			if got := toolNames(r.Tools()); !strings.HasPrefix(got, "echo fail crawl remember big hang") &&
				got != "big crawl echo fail hang remember" {
				t.Errorf("tools: %s", got)
			}
			checkEcho(t, r, k.version, headers)
			if got := r.call(t, "fail", nil); got.OK || got.Text != "no, on purpose" || got.Kind != fault.ToolFailed {
				t.Errorf("fail: %+v", got)
			}
			if got := r.call(t, "remember", nil); !cmp.Equal(got.MemoryDelta, map[string]any{"code": "4711"}) {
				t.Errorf("remember: %+v", got)
			}
			const size = 2 << 20
			if got := r.call(t, "big", map[string]any{"size": size}); !got.OK || len(got.Text) != size {
				t.Errorf("big: %d bytes, %.200s", len(got.Text), got.Text)
			}
			checkProgress(t, r, k)
		})
	}
}

func toolNames(tools []tool.Advertised) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// checkEcho checks what the server receives with a call.
func checkEcho(t *testing.T, r *testServer, version string, headers map[string]string) {
	t.Helper()
	got, err := r.Call(t.Context(), tool.Call{
		Tool: "echo", Args: map[string]any{"text": "hi ☃"}, InvocationID: "inv",
		Context: tool.Context{
			SessionID: "s1", BaseURL: "http://127.0.0.1:1",
			Device: tool.Device{Platform: "web", Width: 3},
		},
	})
	if err != nil || got.Text != "hi ☃" {
		t.Fatalf("echo: %+v, %v\n%s", got, err, r)
	}
	var seen struct {
		Context struct{ Device struct{ Platform string } }
		Meta    struct {
			ID         string `json:"trailblazeInvocationId"`
			Trailblaze struct{ BaseURL, SessionID, InvocationID string }
		}
		Headers map[string]string
	}
	if err := json.Unmarshal(got.Structured, &seen); err != nil {
		t.Fatal(err)
	}
	if seen.Context.Device.Platform != "WEB" || seen.Meta.ID != "inv" ||
		seen.Meta.Trailblaze.BaseURL != "http://127.0.0.1:1" {
		t.Errorf("envelope: %s", got.Structured)
	}
	if len(seen.Headers) == 0 {
		return // its SDK does not expose them
	}
	want := map[string]string{"Mcp-Protocol-Version": version}
	maps.Copy(want, headers)
	for name, value := range want {
		if got := seen.Headers[strings.ToLower(name)]; got != value {
			t.Errorf("header %s is %q, want %q", name, got, value)
		}
	}
}

func checkProgress(t *testing.T, r *testServer, k kind) {
	t.Helper()
	var progress []string
	got, err := r.Call(t.Context(), tool.Call{
		Tool:     "crawl",
		Progress: func(text string) { progress = append(progress, text) },
	})
	if err != nil || got.Text != "done" {
		t.Fatalf("crawl: %+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"step 1", "step 2", "step 3"}, progress); diff != "" && !k.silent {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestTimedOutCallIsCancelledAndTheNextOneWorks(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			r := connect(t, Spec{URL: k.serve(t)}, func(c *server.Config) { c.CallTimeout = 300 * time.Millisecond })
			got := r.call(t, "hang", nil)
			if got.OK || got.Kind != fault.CallTimeout || !strings.Contains(got.Text, "the call may have executed") {
				t.Errorf("hang: %+v", got)
			}
			if want := "trying again can help: the next call reconnects"; got.Hint != want {
				t.Errorf("hint %q, want %q", got.Hint, want)
			}
			if got, err := r.Call(t.Context(),
				tool.Call{Tool: "echo", Args: map[string]any{"text": "again"}, Timeout: testTimeout}); err != nil ||
				got.Text != "again" {
				t.Errorf("the next call: %+v, %v", got, err)
			}
		})
	}
}

func TestServerReceivesCancellationAndEndOfSession(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"stateful", "sse"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := serve(t, "http1.ts", map[string]string{"stateful": "/mcp", "sse": "/sse"}[mode], "MODE="+mode)
			r := connect(t, Spec{URL: p.url}, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if _, err := r.Call(ctx, tool.Call{Tool: "hang"}); fault.KindOf(err) != fault.Cancelled {
				t.Errorf("hang: %v", err)
			}
			waitFor(t, "the tool receives the cancellation",
				func() bool { return strings.Contains(p.String(), "cancelled") })
			r.stop(t)()
			waitFor(t, "the server receives the end of the session",
				func() bool { return strings.Contains(p.String(), "closed") })
		})
	}
}

func TestInterruptedStreamIsResumed(t *testing.T) {
	t.Parallel()
	r := connect(t, Spec{URL: serve(t, "http1.ts", "/mcp", "MODE=resumable").url}, nil)
	if got := r.call(t, "pause", nil); !got.OK || got.Text != "gone on" {
		t.Errorf("pause: %+v", got)
	}
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(testTimeout)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("timed out after %s waiting for: %s", testTimeout, what)
		}
		<-tick.C
	}
}
