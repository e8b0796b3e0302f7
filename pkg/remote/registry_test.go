package remote

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// registryHandler is the server on the Go SDK with a registry.
func registryHandler(t *testing.T) http.Handler {
	t.Helper()
	srv := goTools(t)
	const uri = "trailblaze://registry"
	srv.AddResource(&mcp.Resource{URI: uri, Name: "registry"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, Text: `{"tools":{}}`}}}, nil
		})
	return mcp.NewStreamableHTTPHandler(always(srv), nil)
}

func TestFailedRegistryReadIsAWarning(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		how     http.HandlerFunc
		warning string // empty for none
	}{
		"nothing is wrong":          {nil, ""},
		"dropped":                   {dropConnection, " was lost: it was closed before the response"},
		"dropped within a response": {dropStream, " was lost: it was closed before the response"},
		"the session is unknown": {
			status(404, "session not found"),
			"the server does not know the session any more",
		},
		"500": {status(500, "out of luck"), "500 Internal Server Error: out of luck"},
		"a page": {
			respond(200, "text/html", "<title>Sorry</title>").ServeHTTP,
			"is not an MCP server",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &faultyServer{Handler: registryHandler(t)}
			if tt.how != nil {
				f.breaks("resources/read", 1, tt.how)
			}
			r := connect(t, Spec{URL: listen(t, f).URL}, nil)
			got, want := r.Listing().Registry, `{"tools":{}}`
			if tt.warning != "" {
				want = ""
			}
			if got != want || strings.Contains(r.String(),
				"did not provide trailblaze://registry: ") != (tt.warning != "") ||
				!strings.Contains(r.String(), tt.warning) {
				t.Errorf("registry %q, log:\n%s", got, r)
			}
			if echoed := r.call(t, "echo", map[string]any{"text": "one"}); echoed.Text != "one" {
				t.Errorf("echo: %+v", echoed)
			}
		})
	}
}

func TestListReconnects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		how         http.HandlerFunc
		times       int
		want        string // of the error; empty when it works
		connections int
	}{
		"the session is unknown": {status(404, "session not found"), 1, "", 2},
		"dropped":                {dropConnection, 1, "", 2},
		"the session is unknown twice": {
			status(404, "session not found"), 2,
			`server "team": tools/list: the server does not know the session any more`, 3,
		},
		"500": {status(500, "out of luck"), 1, "500 Internal Server Error: out of luck", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &faultyServer{Handler: registryHandler(t)}
			r := connect(t, Spec{URL: listen(t, f).URL}, nil)
			f.breaks("tools/list", tt.times, tt.how)
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			l, err := r.List(ctx, false)
			switch {
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("err %v, want %s", err, tt.want)
			case tt.want == "" && (err != nil || len(l.Tools) != len(r.Tools()) || l.Registry == ""):
				t.Errorf("listing %+v, %v", l, err)
			}
			if echoed := r.call(t, "echo", map[string]any{"text": "one"}); echoed.Text != "one" {
				t.Errorf("echo: %+v", echoed)
			}
			if n := f.count("POST initialize"); n != tt.connections {
				t.Errorf("connected %d times, want %d: %s", n, tt.connections, f.seen())
			}
		})
	}
}
