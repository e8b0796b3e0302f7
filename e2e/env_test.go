//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// whichRuntime is a tool server in plain JavaScript with one tool that returns its runtime.
const whichRuntime = `
import { createInterface } from "node:readline";
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "which", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "which", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: JSON.stringify({ runtime: process.versions.bun ? "bun" : process.versions.quickjs ? "embedded" : "node", env: process.env }) }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: (answers[method] ?? (() => ({})))(params) }));
}
`

func TestRuntimeFlagTakesPrecedenceOverEnvironment(t *testing.T) {
	t.Parallel()
	both := bin(t, "node", bunPath)
	for name, tc := range map[string]struct {
		env  string
		args []string
		want string
	}{
		"nobody forces":        {"", nil, "bun"},
		"environment":          {"node", nil, "node"},
		"flag over it":         {"node", []string{"--runtime", "bun"}, "bun"},
		"flag with =":          {"", []string{"--runtime=node"}, "node"},
		"flag before the rest": {"bun", []string{"--runtime", "node"}, "node"},
		"embedded":             {"bun", []string{"--runtime", "embedded"}, "embedded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - script: ./which.mjs\n", "which.mjs": whichRuntime,
				"trails/a.trail.yaml": webTrail("which: {}"),
			})
			p.env = append(p.env, "PATH="+both, "TRAILBLAZE_RUNTIME="+tc.env)
			p.run(append([]string{"run", "--json"}, tc.args...)...).want(t, 0, `{"runtime":"`+tc.want+`"`)
		})
	}
}

func TestToolsetFileIsSetForScriptsOnly(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - script: ./tools/which.mjs\n" + fakeEntry("fake", "ok"),
		"tools/which.mjs": whichRuntime, "trails/a.trail.yaml": webTrail("which: {}", "context: {}"), "sub/x": "",
	})
	p.env = append(p.env, "PATH="+bin(t, "node"), "TRAILBLAZE_TOOLSET_FILE=/stale/toolset.ts")
	r := p.runIn(filepath.Join(p.dir, "sub"), "run", "--json")
	r.want(t, 0, `"TRAILBLAZE_TOOLSET_FILE":"`+filepath.Join(p.dir, "tools", "which.mjs")+`"`)
	if env := r.contextEnv(t); env["TRAILBLAZE_TOOLSET_FILE"] != "" {
		t.Errorf("a command has TRAILBLAZE_TOOLSET_FILE=%s", env["TRAILBLAZE_TOOLSET_FILE"])
	}
}

func TestServersDoNotInheritSessionVariables(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("context: {}")})
	for _, name := range []string{
		"TRAILBLAZE_SESSION_ID", "TRAILBLAZE_SESSION_TOKEN", "TRAILBLAZE_TOOLSET_FILE", "TRAILBLAZE_BASE_URL", "TRAILBLAZE_CALLBACK_URL",
		"TRAILBLAZE_PORT", "TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS", "TRAILBLAZE_DEVICE_PLATFORM", "TRAILBLAZE_DEVICE_DRIVER",
		"TRAILBLAZE_DEVICE_WIDTH_PX", "TRAILBLAZE_DEVICE_HEIGHT_PX", "TRAILBLAZE_DEVICE_SERIAL",
	} {
		p.env = append(p.env, name+"=stale")
	}
	r := p.run("run", "--json")
	r.want(t, 0)
	for name, value := range r.contextEnv(t) {
		if value == "stale" {
			t.Errorf("%s is our parent's", name)
		}
	}
}

func TestEnvironmentOfEntryTakesPrecedence(t *testing.T) {
	t.Parallel()
	mine := map[string]string{
		"TRAILBLAZE_DEVICE_PLATFORM": "mine", "TRAILBLAZE_SESSION_ID": "mine", "NO_PROXY": "mine", "INHERITED": "mine", "NEW": "mine",
	}
	entry := fakeEntry("fake", "ok")
	entry = entry[:len(entry)-len(" } }\n")]
	for name, value := range mine {
		entry += ", " + name + ": " + value
	}
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n" + entry + " } }\n", "trails/a.trail.yaml": webTrail("context: {}"),
	})
	p.env = append(p.env, "INHERITED=parent's")
	r := p.run("run", "--json")
	r.want(t, 0)
	env := r.contextEnv(t)
	for name, want := range mine {
		if env[name] != want {
			t.Errorf("%s is %q, want the entry's %q", name, env[name], want)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "logs", "latest")); err != nil {
		t.Error(err) // the session has its own id all the same
	}
}

// TestCacheOfOthersIsNotUsed names a cache folder into which every user may write.
func TestCacheOfOthersIsNotUsed(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - script: ./which.mjs\n", "which.mjs": whichRuntime,
		"trails/a.trail.yaml": webTrail("which: {}"),
	})
	cache := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "PATH="+bin(t, "node"), "TRAILBLAZE_CACHE_DIR="+cache)
	if err := os.Chmod(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	problem := "the cache folder " + cache + " is not used, because every user may write into it"
	p.run("run").wantErr(t, 0, "trailblaze: warning: "+problem)
	p.run("doctor").wantOutput(t, 0, problem)
	p.run("session", "start").wantErr(t, 3, problem, "the cache folder, in which sessions are kept, is not known")
	if entries, err := os.ReadDir(cache); err != nil || len(entries) > 0 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if err := os.Chmod(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := p.run("run"); r.code != 0 || strings.Contains(r.stderr, "cache folder") {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) == 0 {
		t.Errorf("a folder of the user alone is not used: %v", err)
	}
}
