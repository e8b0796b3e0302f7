//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// sharers is a project whose one server is shared. Its entry, in one line, may name {{servers}}, the folder of the test
// servers.
func sharers(t *testing.T, entry string, trails ...string) *project {
	t.Helper()
	servers, err := filepath.Abs("../testdata/servers")
	if err != nil {
		t.Fatal(err)
	}
	sdk, err := filepath.Abs("../sdks/python/src")
	if err != nil {
		t.Fatal(err)
	}
	entry = strings.NewReplacer("{{servers}}", servers, "{{sdk}}", sdk).Replace(entry)
	files := map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - { name: shared, multiDevice: http, workingDir: ., " + entry + " }\n",
	}
	for i, trail := range trails {
		files[fmt.Sprintf("trails/%d.trail.yaml", i)] = trail
	}
	p := newProject(t, files)
	p.env = append(p.env, "PATH="+bin(t, "node", bunPath, tsxPath, "python3", "sh", "cat", "sleep")+":"+os.Getenv("PATH"))
	return p
}

const (
	scripted = "script: '{{servers}}/shared-scripting.ts'"
	four     = "web:a,web:b,web:c,web:d"
	// longLimits are for engines that share two cores with the race detector and other tests.
	longLimits = ", startupTimeout: 3m, callTimeout: 3m, callbackTimeout: 3m"
)

// sharedServers are servers that support the flags, each in another way. A short run tries each package and each
// runtime once.
func sharedServers() map[string]string {
	all := map[string]string{
		"scripting on bun": scripted + ", runtime: bun", "scripting on node": scripted + ", runtime: node",
		"MCP SDK on bun":     "script: '{{servers}}/shared-sdk1.ts', runtime: bun",
		"MCP SDK on node":    "script: '{{servers}}/shared-sdk1.ts', runtime: node",
		"scripting embedded": scripted + ", runtime: embedded" + longLimits, "MCP SDK embedded": "script: '{{servers}}/shared-sdk1.ts', runtime: embedded" + longLimits,
		"python": "command: python3, args: ['{{servers}}/shared.py'], env: { PYTHONPATH: '{{sdk}}' }",
	}
	if testing.Short() {
		for _, name := range []string{"scripting on bun", "MCP SDK on node", "MCP SDK embedded"} {
			delete(all, name)
		}
	}
	return all
}

// processes are those that the tool meet has named, each once.
func (r result) processes(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, e := range ofType(r.events(t), "call.finished") {
		if text, _ := e["text"].(string); strings.HasPrefix(text, "process ") {
			found = append(found, text)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestSharedProcessServesAllDevices(t *testing.T) {
	t.Parallel()
	for name, entry := range sharedServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharers(t, entry, webTrail("meet: { of: 4 }", "gather: { n: 60 }", "meet: { at: end, of: 4 }"))
			r := p.run("run", "--json", "--device", four)
			r.want(t, 0)
			if got := r.processes(t); len(got) != 1 {
				t.Errorf("four devices were served by %q", got)
			}
			started := ofType(r.events(t), "server.started")
			if len(started) != 4 || started[0]["server"] != "shared" || started[0]["tools"].(float64) < 4 {
				t.Errorf("started: %v", started)
			}
			gathered := 0
			for _, e := range ofType(r.events(t), "call.finished") {
				if e["tool"] == "gather" && e["text"] == "remembers 60" {
					gathered++
				}
			}
			if gathered != 4 {
				t.Errorf("%d of 4 sessions got their own answers", gathered)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

// In on-device mode there are no sockets to serve others from, so each device has its own engine, as without
// multiDevice.
func TestSandboxStartsOneServerPerDevice(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		entry, session string
		flags          []string
	}{
		"the sandbox":                   {scripted, "0_", nil},
		"the sandbox by name":           {scripted + ", runtime: embedded", "0_", nil},
		"the sandbox by a flag":         {scripted + ", runtime: bun", "0_", []string{"--runtime", "embedded"}},
		"a runtime asked for":           {scripted + ", runtime: bun", "shared_", nil},
		"a runtime asked for by a flag": {scripted, "shared_", []string{"--runtime", "bun"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharers(t, tc.entry, webTrail("gather: { n: 3 }", "environment: {}"))
			r := p.run(append([]string{"run", "--json", "--device", "web:a,web:b", "--agent", "on-device"}, tc.flags...)...)
			r.want(t, 0, `"remembers 3"`, `"TRAILBLAZE_SESSION_ID":"`+tc.session)
			if tc.session == "0_" {
				r.want(t, 0, `"TRAILBLAZE_DEVICE_ID":"web:a"`, `"TRAILBLAZE_DEVICE_NAME":"web:b"`)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestSingleDeviceUsesStdio(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--device", "web:a"}} {
		p := sharers(t, scripted, webTrail("meet: { of: 1 }", "gather: { n: 3 }", "environment: {}"))
		r := p.run(append([]string{"run", "--json"}, more...)...)
		r.want(t, 0, `"TRAILBLAZE_DEVICE_PLATFORM":"WEB"`, `"TRAILBLAZE_SESSION_ID":"0_`)
	}
}

func TestEnvironmentOfSharedProcess(t *testing.T) {
	t.Parallel()
	p := sharers(t, scripted+", callbackTimeout: 5s", webTrail("environment: {}"))
	p.env = append(p.env, "TRAILBLAZE_DEVICE_PLATFORM=stale", "TRAILBLAZE_PORT=1")
	r := p.run("run", "--json", "--device", "web:a,web:b", "--device-size", "1280x800")
	r.want(t, 0, `"TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS":"7000"`, `shared-scripting.ts"`, `"TRAILBLAZE_BASE_URL":"http://127.0.0.1:`)
	if strings.Contains(r.stdout, "TRAILBLAZE_DEVICE_") {
		t.Error("it received a device")
	}
	if !regexp.MustCompile(`"TRAILBLAZE_SESSION_ID\\?":\\?"shared_\d{8}T\d{6}Z_[0-9a-f]{8}`).MatchString(r.stdout) {
		t.Errorf("its session id is none of the run:\n%s", r.stdout)
	}
}

func TestCallbackWithoutIDIsRejectedWhenSeveralCallsArePending(t *testing.T) {
	t.Parallel()
	p := sharers(t, scripted, webTrail("anonymous: { of: 2 }"))
	r := p.run("run", "--json", "--device", "web:a,web:b")
	r.want(t, 0, "several tool calls are pending")
	if strings.Contains(r.stdout, "hello") {
		t.Errorf("a callback without id was accepted:\n%s", r.stdout)
	}
	alone := sharers(t, scripted, webTrail("anonymous: { of: 1 }"))
	r = alone.run("run", "--json", "--device", "web:a,web:b", "--workers", "1")
	r.want(t, 0)
	if got := strings.Count(r.stdout, `hello","error":""`); got != 4 {
		t.Errorf("the only one was not answered:\n%s", r.stdout)
	}
}

func TestCrashOfSharedProcessBreaksItsSessionsOnly(t *testing.T) {
	t.Parallel()
	for name, entry := range sharedServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharers(t, entry, webTrail("meet: { of: 2 }", "crash: { at: crash, of: 2 }"), webTrail("meet: { of: 2 }"))
			r := p.run("run", "--json", "--device", "web:a,web:b")
			r.want(t, 2, `crashed during tool "crash": exited with code 3`, "this is the end", "log: "+filepath.Join(p.dir, "logs", "shared_"))
			ended := ofType(r.events(t), "run.finished")[0]
			if ended["errors"] != 2.0 || ended["passed"] != 2.0 {
				t.Errorf("ended with %v, want two errors and two that pass", ended)
			}
			if got := r.processes(t); len(got) != 2 {
				t.Errorf("served by %q, want a process before the crash and one after it", got)
			}
			if !strings.Contains(p.serverLog("shared"), "this is the end") {
				t.Error("its log does not have its stderr")
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestSummaryNamesLogOfCrashedSharedServer(t *testing.T) {
	t.Parallel()
	p := sharers(t, scripted, webTrail("meet: { of: 5 }", "crash: { at: crash, of: 5 }"))
	r := p.run("run", "--device", "web:a,web:b,web:c,web:d,web:e")
	r.want(t, 2, `crashed during tool "crash"`, "5 errors")
	if n := strings.Count(r.stdout, "this is the end\n    log: "+filepath.Join(p.dir, "logs", "shared_")); n != 5 {
		t.Errorf("the summary has the end of its log and where it is %d times, want 5:\n%s", n, r.stdout)
	}
}

func TestSharedServerWithoutSupportForFlags(t *testing.T) {
	t.Parallel()
	const alternative = "remove multiDevice: http from its entry, and it is started once for each device"
	for name, tc := range map[string]struct {
		entry string
		says  []string
	}{
		"it ignores them": {"script: '{{servers}}/hand.mjs'", []string{"it responds on stdout, like a server for one device"}},
		"it refuses them": {
			`command: sh, args: [-c, 'echo "unknown flag $1" >&2; exit 64', sh]`,
			[]string{"exited before it responded: exited with code 64", "unknown flag --transport"},
		},
		"it does nothing": {"command: sh, args: [-c, 'exec cat >/dev/null'], startupTimeout: 1s", []string{"it does not respond at http://127.0.0.1:", "/mcp within 1s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sharers(t, tc.entry, webTrail("echo: { text: hi }"))
			begun := time.Now()
			r := p.run("run", "--device", "web:a,web:b")
			r.want(t, 2, append(tc.says, "multiDevice: http", alternative, "--transport http --port ")...)
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("that took %s", took)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

// A short run sends only SIGKILL to runs with node.
func TestSharedProcessEndsWithRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		signal syscall.Signal
		code   int
	}{"SIGINT": {syscall.SIGINT, 130}, "SIGTERM": {syscall.SIGTERM, 143}, "SIGKILL": {syscall.SIGKILL, -1}} {
		for server, entry := range map[string]string{"bun": scripted + ", runtime: bun", "node": scripted + ", runtime: node"} {
			if testing.Short() && server == "node" && name != "SIGKILL" {
				continue
			}
			t.Run(name+" on "+server, func(t *testing.T) {
				t.Parallel()
				p := sharers(t, entry, webTrail("hang: {}"))
				inUse := func() bool { // so that `logs prune` keeps the log of the shared process
					logs, _ := filepath.Glob(p.path("logs/shared_*"))
					return len(logs) == 1 && session.InUse(logs[0], time.Hour)
				}
				ready := func() {
					reached(t, p, "call")()
					if !inUse() {
						t.Error("the log of the shared process is not in use")
					}
				}
				code, output := signalled(t, p.command("run", "-v", "--device", "web:a,web:b"), ready, tc.signal, false)
				if inUse() {
					t.Error("the log of the shared process stays in use")
				}
				if code != tc.code {
					t.Errorf("exit code %d, want %d\n%s", code, tc.code, output)
				}
				spawntest.NoSurvivors(t, p.marker)
			})
		}
	}
}

func TestParallelRunsHaveSeparateSharedServers(t *testing.T) {
	t.Parallel()
	p := sharers(t, scripted+", runtime: bun", webTrail("meet: { of: 2 }", "gather: { n: 5 }", "meet: { at: end, of: 2 }"))
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			r := p.run("run", "--json", "--device", "web:a,web:b")
			r.want(t, 0)
			if got := r.processes(t); len(got) != 1 {
				t.Errorf("two devices were served by %q", got)
			}
		})
	}
	all.Wait()
	spawntest.NoSurvivors(t, p.marker)
}

// stuck serves HTTP, and has a tool that keeps the whole process busy.
const stuck = `
import { createServer } from "node:http";

const tool = (name) => ({ name, inputSchema: { type: "object" } });
const results = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "stuck", version: "1" } },
  "tools/list": { tools: [tool("block"), tool("pid")] },
};

let listed = 0;
createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { id, method, params } = request.method === "POST" ? JSON.parse(body) : {};
  if (id === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end();
  if (method === "tools/list") listed++;
  if (params?.name === "block") {
    while (listed < 2) await new Promise((resolve) => setTimeout(resolve, 5)); // both sessions are there
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000); // blocks the only thread
  }
  const result = results[method] ?? { content: [{ type: "text", text: "process " + process.pid }] };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}).listen(Number(process.argv.at(-1)), "127.0.0.1");
process.stdin.resume().once("end", () => process.exit(0));
`

func TestUnresponsiveSharedProcessIsReplacedInSession(t *testing.T) {
	t.Parallel()
	p := sharers(t, "command: node, args: [stuck.mjs], callTimeout: 3s, startupTimeout: 5s",
		webTrail("block: {}"), webTrail("pid: {}"), webTrail("pid: {}"))
	p.write("stuck.mjs", stuck)
	r := p.run("run", "--json", "--device", "web:a,web:b")
	r.want(t, 1, "stopped responding; restarting it")
	got := map[string]int{}
	for _, e := range ofType(r.events(t), "trail.finished") {
		got[fmt.Sprint(filepath.Base(fmt.Sprint(e["file"])), " ", e["outcome"])]++
	}
	want := map[string]int{"0.trail.yaml failed": 2, "1.trail.yaml passed": 2, "2.trail.yaml passed": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if fresh := r.processes(t); len(fresh) != 1 {
		t.Errorf("the trails after it were served by %q", fresh)
	}
	spawntest.NoSurvivors(t, p.marker)
}
