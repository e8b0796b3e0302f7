//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const registryURI = "trailblaze://registry"

// readRegistry reads a registry as that of a server that lists every tool in it.
func readRegistry(t *testing.T, text string) *discover.Registry {
	t.Helper()
	var content discover.ResourceContent
	if err := json.Unmarshal([]byte(text), &content); err != nil || content.ServerInfo.Name != "trailblaze" {
		t.Fatalf("%v: %s", err, text)
	}
	src := discover.Source{Source: tool.Source{Kind: tool.FromServer, Name: "mcp"}, Registry: text}
	for _, name := range slices.Sorted(maps.Keys(content.Tools)) {
		src.Tools = append(src.Tools, tool.Advertised{Name: name})
	}
	r, err := discover.Build(discover.Scope{Driver: "playwright-native", Platform: scope.Web}, []discover.Source{src}, nil, discover.Selection{})
	if err != nil || len(r.Warnings) > 0 {
		t.Errorf("%v %q", err, r.Warnings)
	}
	return r
}

func TestTypeScriptSDKReadsRegistryOfMCP(t *testing.T) {
	t.Parallel()
	p := registryProject(t, shopRegistry, "{}")
	out, err := p.node(t, "registry.mjs", p.program(t), "mcp").Output()
	if err != nil {
		t.Fatal(err)
	}
	r := readRegistry(t, string(out))
	sleep, ok := r.Lookup("sleep")
	if !ok || !sleep.IsDelegating || sleep.IsRecordable || !slices.Equal(sleep.Toolsets, []string{"checkout"}) {
		t.Errorf("sleep: %+v", sleep)
	}
	if fail, ok := r.Lookup("fail"); !ok || fail.IsForLLM || !fail.IsRecordable {
		t.Errorf("fail: %+v", fail)
	}
	i := slices.IndexFunc(r.Toolsets, func(ts discover.Toolset) bool { return ts.ID == "checkout" })
	if i < 0 || r.Toolsets[i].Description != "Buying things\nand paying" || !r.Toolsets[i].OffByDefault {
		t.Errorf("checkout: %+v", r.Toolsets)
	}
	if _, ok := r.Lookup("web_click"); !ok {
		t.Error("the commands of the device are missing")
	}
	spawntest.NoSurvivors(t, p.marker)
}

// TestGoSDKFollowsRegistryOfMCP subscribes to the registry, and reads it when the session starts, when reloadTools
// changes its tools and when it ends.
func TestGoSDKFollowsRegistryOfMCP(t *testing.T) {
	t.Parallel()
	for name, config := range changing(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": config})
			updates, lists := make(chan string, 100), make(chan struct{}, 1)
			c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { updates <- req.Params.URI },
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
					select {
					case lists <- struct{}{}:
					default: // one is enough
					}
				},
			})
			session, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: p.command("mcp", "--tools", "all")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: registryURI}); err != nil {
				t.Fatal(err)
			}
			has := func(has, lacks string) {
				t.Helper()
				<-updates
				<-lists
				result, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: registryURI})
				if err != nil {
					t.Fatal(err)
				}
				r := readRegistry(t, result.Contents[0].Text)
				if _, ok := r.Lookup(has); ok != (has != "") {
					t.Errorf("%q is missing", has)
				}
				if _, ok := r.Lookup(lacks); ok {
					t.Errorf("%q is in the registry", lacks)
				}
				tools, err := session.ListTools(t.Context(), nil)
				if err != nil || has != "" && !slices.ContainsFunc(tools.Tools, func(t *mcp.Tool) bool { return t.Name == has }) {
					t.Errorf("%v: %q is not listed", err, has)
				}
			}
			call := func(name, args string) {
				t.Helper()
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
				if err != nil || result.IsError {
					data, _ := json.Marshal(result)
					t.Fatalf("%v %s", err, data)
				}
			}
			call("session", `{"action": "start"}`)
			has("old", "fresh")
			call("step", `{"step": "Change", "calls": [{"change": {}}, {"reloadTools": {}}]}`)
			has("fresh", "old")
			call("session", `{"action": "end"}`)
			has("", "fresh")
			if err := session.Close(); err != nil {
				t.Error(err)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}
