//go:build unix

package e2e_test

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// mishap is a fault of a server in TypeScript, and the report of it, which is the same on every runtime.
type mishap struct {
	load, call string // what the server does while it is loaded, and in the call of its tool
	entry      string // more of the server's entry
	outcome    string
	want       []string // texts of the reason
	limit      string   // of the call, 30s if empty: longer than a slow machine needs to go wrong
	words      bool     // the reason has words of the runtime's, so that only its parts are compared
	rare       bool     // much like others, and left out of a short run
}

// faultsOfScripts are the faults.
func faultsOfScripts() map[string]mishap {
	const startup = "\n    startupTimeout: 3s"
	return map[string]mishap{
		"a loop without end while loading": {load: "loop", entry: startup, outcome: "error", want: []string{"no handshake within 3s", "startupTimeout", "faults: hello"}, rare: true},
		"a loop without end in a call":     {call: "loop", outcome: "failed", limit: "500ms", want: []string{"no response within 500ms"}},
		"a loop without end after a call":  {call: "loopLater", outcome: "failed", limit: "500ms", want: []string{"no response within 500ms"}, rare: true},
		"a promise that never settles":     {call: "never", outcome: "failed", limit: "500ms", want: []string{"no response within 500ms"}},
		"recursion without end in a call":  {call: "recursion", outcome: "failed", want: []string{"RangeError: Maximum call stack size exceeded"}, words: true},
		"recursion that nobody catches":    {call: "recursionLater", outcome: "error", want: []string{"exited with code 1", "faults.ts:7"}, words: true, rare: true},
		"recursion while loading":          {load: "recursion", outcome: "error", want: []string{"exited with code 1", "faults.ts:7"}, words: true, rare: true},
		"a rejection that nobody handles":  {call: "reject", outcome: "error", want: []string{"exited with code 1", "TypeError: nobody caught this", "faults.ts:21"}, words: true},
		"a rejection that is not an error": {call: "rejectText", outcome: "error", want: []string{"exited with code 1", "only a text"}, words: true, rare: true},
		"an exception in a call":           {call: "throw", outcome: "failed", want: []string{"RangeError: thrown on purpose"}},
		"an exception that nobody catches": {call: "throwLater", outcome: "error", want: []string{"exited with code 1", "RangeError: thrown on purpose", "faults.ts:24"}, words: true, rare: true},
		"an exception while loading":       {load: "throw", outcome: "error", want: []string{"exited with code 1", "RangeError: thrown on purpose", "faults.ts:23"}, words: true},
		"an end while loading":             {load: "exit3", outcome: "error", want: []string{"exited with code 3", "faults: hello"}},
		"an end in a call":                 {call: "exit3", outcome: "error", want: []string{"exited with code 3", "faults: hello"}},
		"a peaceful end in a call":         {call: "exit0", outcome: "error", want: []string{"exited with code 0"}, rare: true},
		"a server that has nothing to do":  {load: "never", entry: startup, outcome: "error", want: []string{"faults: hello"}, words: true},
		"it kills itself":                  {call: "kill", outcome: "error", want: []string{"killed by signal KILL"}},
		"it terminates itself":             {call: "terminate", outcome: "error", want: []string{"killed by signal TERM"}, rare: true},
		"it aborts":                        {call: "abort", outcome: "error", want: []string{"faults: hello"}, words: true},
		"it closes stdout":                 {call: "ended", outcome: "error", want: []string{"exited with code 1", "write after end"}, words: true},
		"it writes to stdout":              {call: "stray", outcome: "passed"},
		"it writes to stdout at its start": {load: "stray", outcome: "passed", rare: true},
	}
}

func TestScriptFaultsAreReportedAlikeOnEveryRuntime(t *testing.T) {
	t.Parallel()
	for name, f := range faultsOfScripts() {
		if testing.Short() && f.rare {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want map[string]any
			for _, way := range []string{"bun", "embedded"} {
				report := f.report(t, way)
				if want == nil {
					want = report
				}
				if diff := gocmp.Diff(want, report); diff != "" && !f.words {
					t.Errorf("%s (-the first +%s):\n%s", way, way, diff)
				}
			}
		})
	}
}

// report replays a trail with a faulty server, and returns the result of the trail. The next trail of the run must
// pass.
func (f mishap) report(t *testing.T, way string) map[string]any {
	t.Helper()
	call, load := f.call, f.load
	if call == "" {
		call = "none"
	}
	if load == "" {
		load = "none"
	}
	script, err := filepath.Abs(servers + "/faults.ts") // where it lies, so that it is bundled once for all faults
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: good\nplatform: web\n",
		"trailblaze-config/targets/bad.yaml": "id: bad\nmcp_servers:\n  - name: wrong\n    script: " + script + "\n    env: { FAULT: " + load + " }" +
			f.entry + "\nplatforms:\n  web: {}\n",
		"trailblaze-config/targets/good.yaml": "id: good\nmcp_servers:\n  - { name: right, script: '" + script + "' }\nplatforms:\n  web: {}\n",
		"trails/1-bad.trail.yaml":             "config: { target: bad }\n" + webTrail("bad: { fault: "+call+" }\n          timeout: "+cmp.Or(f.limit, "30s")),
		"trails/2-good.trail.yaml":            webTrail("bad: { fault: none }"),
	})
	p.exitGrace = 200 * time.Millisecond // several loop without end
	p.env = append(p.env, "PATH="+wayPath(t, way), "NODE_OPTIONS=--max-old-space-size=100")
	r := p.run("run", "--json")
	finished := ofType(r.events(t), "trail.finished")
	if len(finished) != 2 || finished[0]["outcome"] != f.outcome || finished[1]["outcome"] != "passed" {
		t.Fatalf("%s: want 2 trails, the first %s, the second passed:\n%s%s", way, f.outcome, r.stdout, r.stderr)
	}
	reason, _ := finished[0]["reason"].(string)
	for _, text := range f.want {
		if !strings.Contains(reason, text) {
			t.Errorf("%s: the reason lacks %q:\n%s", way, text, reason)
		}
	}
	if !strings.Contains(r.stdout, "runs on "+way+":") {
		t.Errorf("it does not run on %s", way)
	}
	spawntest.NoSurvivors(t, p.marker)
	return p.alike(finished[0])
}

// alike returns the result of a trail without the parts that differ between runs.
func (p *project) alike(finished map[string]any) map[string]any {
	p.t.Helper()
	out := map[string]any{}
	for _, key := range []string{"outcome", "reason", "hint", "step", "tool", "line", "snippet", "attempts"} {
		out[key] = finished[key]
	}
	text, err := json.Marshal(out)
	if err != nil {
		p.t.Fatal(err)
	}
	clean := strings.ReplaceAll(string(text), p.dir, "<project>")
	clean = regexp.MustCompile(`1-bad_[0-9TZ]+_[0-9a-f]+`).ReplaceAllString(clean, "<session>")
	clean = regexp.MustCompile(`(ran for|stopped after) [0-9.ms]+s`).ReplaceAllString(clean, "$1 a while")
	out = map[string]any{}
	if err := json.Unmarshal([]byte(clean), &out); err != nil {
		p.t.Fatal(err)
	}
	return out
}

// A module that cannot be loaded is detected before the engine starts, and in a process after its start. Both errors
// name it and have a hint. A short run leaves out tsx, whose messages pkg/runtime tests.
func TestScriptThatCannotBeLoadedIsErrorOnEveryRuntime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		want   []string
	}{
		"a package is missing":           {"import thing from 'no-such-package';\nthing();\n", []string{"no-such-package", "npm install"}},
		"a package of a package is":      {"import './inner.ts';\n", []string{"no-such-package"}},
		"a file is missing":              {"import './no-such-file.ts';\n", []string{"no-such-file"}},
		"an addon":                       {"import { createRequire } from 'node:module';\ncreateRequire(import.meta.url)('./addon.node');\n", []string{"addon.node"}},
		"an addon that is imported":      {"import addon from './addon.node';\naddon();\n", []string{"addon.node"}},
		"a mistake":                      {"const x: number = ;\n", []string{"wrong.ts"}},
		"a mistake in what it imports":   {"import './broken.ts';\n", []string{"broken.ts"}},
		"an export that is not there":    {"import { nothing } from './exports.ts';\nnothing();\n", []string{"nothing"}},
		"a module of node's that is not": {"import x from 'node:nosuch';\nx();\n", []string{"nosuch"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, way := range []string{"bun", "node+tsx", "node+bundle", "embedded"} {
				if testing.Short() && way == "node+tsx" {
					continue
				}
				p := newProject(t, map[string]string{
					"trailblaze.yaml":           "target: app\nplatform: web\nmcpServers:\n  - { name: wrong, script: ./testdata/servers/wrong.ts, startupTimeout: 20s }\n",
					"trails/a.trail.yaml":       webTrail("bad: {}"),
					"testdata/servers/wrong.ts": tc.script, "testdata/servers/inner.ts": "import 'no-such-package/sub';\n",
					"testdata/servers/broken.ts": "export const x = {;\n", "testdata/servers/exports.ts": "export const something = 1;\n",
					"testdata/servers/addon.node": "not really",
				})
				p.inPlace(way)
				p.env = append(p.env, "PATH="+wayPath(t, way))
				r := p.run("run", "--json")
				finished := ofType(r.events(t), "trail.finished")
				if len(finished) != 1 || finished[0]["outcome"] != "error" || r.code != 2 {
					t.Fatalf("%s: want an error:\n%s%s", way, r.stdout, r.stderr)
				}
				reason, _ := finished[0]["reason"].(string)
				for i, text := range append([]string{`"wrong"`, "hint: "}, tc.want...) {
					if ours := way == "node+bundle" || way == "embedded"; (ours || i < 2) && !strings.Contains(reason, text) {
						t.Errorf("%s: the reason lacks %q:\n%s", way, text, reason)
					}
				}
				spawntest.NoSurvivors(t, p.marker)
			}
		})
	}
}

// A server that allocates more and more memory ends at its limit, like node, and does not affect other servers. A short
// run leaves out node.
func TestScriptThatExceedsMemoryLimit(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"node+tsx", "embedded"} {
		if testing.Short() && way != "embedded" {
			continue
		}
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			mishap{call: "hoard", limit: "5m", outcome: "error", want: []string{"JavaScript heap out of memory"}}.report(t, way)
		})
	}
}
