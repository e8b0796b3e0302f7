package bundle

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mcpRequests is the input of a server that lists its tools.
const mcpRequests = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

func TestServersBehaveTheSameAsBundles(t *testing.T) {
	t.Parallel()
	shop, err := filepath.Abs("../../testdata/projects/shop/tools")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{servers(t, "sdk1.ts"), servers(t, "sdk2.mts"), filepath.Join(shop, "shopping.ts"), filepath.Join(shop, "users.ts")} {
		t.Run(filepath.Base(script), func(t *testing.T) {
			t.Parallel()
			want, stderr := run(t, filepath.Dir(script), mcpRequests, append(tsx(t), script)...)
			if !strings.Contains(want, `"tools":[`) {
				t.Fatalf("tsx: %s%s", want, stderr)
			}
			file := buildBundle(t, Open(""), script, Node).File
			for _, node := range []string{node20(t), node22(t)} {
				got, stderr := run(t, filepath.Dir(script), mcpRequests, node, file)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-tsx +bundle):\n%s%s", node, diff, stderr)
				}
			}
		})
	}
}

func TestDependenciesOfBundle(t *testing.T) {
	t.Parallel()
	c := Open(t.TempDir())
	b := buildBundle(t, c, servers(t, "sdk1.ts"), Embedded)
	for _, want := range []string{"@modelcontextprotocol/sdk/dist/esm/server/mcp.js", "zod/package.json", "servers/tsconfig.json"} {
		index, _ := c.store.get(indexKey(source{path: servers(t, "sdk1.ts")}, Embedded))
		if !strings.Contains(string(index), want) {
			t.Errorf("the dependencies lack %s", want)
		}
	}
	if code := string(b.Code); regexp.MustCompile(`(?m)^(import|export) `).MatchString(code) {
		t.Error("the bundle has imports or exports")
	}
}

// The golden file is the bundle of a small script. When it changes, cached bundles are out of date: change format, and
// run the test with BUNDLE_UPDATE=1.
func TestFormatChangesWithOutput(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"package.json": `{"type": "module", "imports": {"#mapped": "./data.json"}}`, "main.ts": scriptCases()[0].files["main.ts"] + `export const x = [import.meta.url, require.resolve("x")];` +
			"import('bun:x'); require('./y.node'); require('nowhere'); import(`./${x}`)",
		"plain.ts": "export default 1; export const named = __dirname", "typed.ts": "export const typed = 1", "data.json": "{}", "later.mts": "export default 1",
		"node_modules/cjs/package.json": `{"main": "i.cjs"}`, "node_modules/cjs/i.cjs": "exports.part = 1", "node_modules/esm/sub.mjs": "export default 1", "node_modules/esm/package.json": `{"exports": {"./sub": "./sub.mjs"}}`, "node_modules/self/own.mjs": "export default 1",
		"node_modules/self/package.json": `{"exports": {"./own": "./own.mjs"}}`,
	})
	got := "format " + format + "\n"
	for _, target := range targets() {
		got += string(buildBundle(t, Open(""), filepath.Join(dir, "main.ts"), target).Code)
	}
	got = regexp.MustCompile(`main-[0-9a-f]{64}`).ReplaceAllString(strings.ReplaceAll(got, dir, "DIR"), "main-KEY")
	golden := filepath.Join("testdata", "text.golden")
	if os.Getenv("BUNDLE_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the output changed; change format (-golden +got):\n%s", diff)
	}
}

func TestESBuildVersion(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "github.com/evanw/esbuild v"+esbuildVersion) {
		t.Errorf("go.mod does not require esbuild %s", esbuildVersion)
	}
}

func BenchmarkCached(b *testing.B) {
	script := servers(b, "sdk1.ts")
	for _, target := range targets() {
		b.Run(target.String(), func(b *testing.B) {
			c := Open(b.TempDir())
			buildBundle(b, c, script, target)
			for b.Loop() {
				if c.lookup(source{path: script}, target) == nil {
					b.Fatal("the bundle is not cached")
				}
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	script := servers(b, "sdk1.ts")
	for b.Loop() {
		if _, err := Open("").Bundle(b.Context(), script, Embedded); err != nil {
			b.Fatal(err)
		}
	}
}
