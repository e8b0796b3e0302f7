//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

const shopRegistry = `{
	"tools": {
		"echo": {"groups": ["checkout", "core"]},
		"sleep": {"groups": ["checkout"], "isDelegating": true, "isRecordable": false},
		"tick": {"groups": ["checkout"], "platforms": ["ios"]},
		"fail": {"groups": ["core"], "exposedToLlm": false},
		"nobody": {}
	},
	"groups": {
		"checkout": {"description": "Buying things\nand paying", "defaultEnabled": false},
		"core": {"description": "What everybody needs"}
	}
}`

func registryProject(t *testing.T, registry, platform string) *project {
	t.Helper()
	return newProject(t, map[string]string{
		"trailblaze.yaml": fakeConfig("registry"), "registry.json": registry,
		"trailblaze-config/targets/app.yaml": "id: app\nplatforms:\n  web: " + platform + "\n",
		"trails/a.trail.yaml":                webTrail("echo: { text: hi }", "sleep: { ms: 1 }"),
	})
}

const warnedOfNobody = `trailblaze: warning: registry: server fake: trailblaze://registry: it names the tool "nobody", which the server does not list
`

func TestToolboxListOfGroup(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		platform string
		args     string
		want     string
	}{
		"not enabled by default": {"{}", "--group checkout", `app · playwright-native · host agent

checkout — Buying things (not enabled by default)
  echo   fake  the tool echo
  sleep  fake  the tool sleep (not recorded, delegates)

2 tools, 1 left out (--why lists them)
`},
		"with what is left out": {"{}", "--group checkout --why", `app · playwright-native · host agent

checkout — Buying things (not enabled by default)
  echo   fake  the tool echo
  sleep  fake  the tool sleep (not recorded, delegates)

left out
  tick  fake  supportedPlatforms: it supports the platforms IOS, not WEB

2 tools, 1 left out
`},
		"enabled by name": {"{ tool_sets: [checkout] }", "--group checkout", `app · playwright-native · host agent

checkout — Buying things
  echo   fake  the tool echo
  sleep  fake  the tool sleep (not recorded, delegates)

2 tools, 1 left out (--why lists them)
`},
		"several": {"{ tool_sets: [checkout] }", "--group core,checkout --group memory -v", `app · playwright-native · host agent

checkout — Buying things
  echo(text (string) optional)  fake  the tool echo
  sleep(ms (integer) optional)  fake  the tool sleep (not recorded, delegates)

core — What everybody needs (not enabled here)
  fail(text (string) optional)  fake  the tool fail (hidden from agents)

memory (not enabled here)
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := registryProject(t, shopRegistry, tc.platform)
			r := p.run(append([]string{"toolbox", "list"}, strings.Fields(tc.args)...)...)
			r.want(t, 0)
			if !strings.HasPrefix(r.stdout, tc.want) || r.stderr != warnedOfNobody {
				t.Errorf("stdout\n%s, want\n%s\nstderr\n%s", r.stdout, tc.want, r.stderr)
			}
		})
	}
}

func TestJSONOfGroup(t *testing.T) {
	t.Parallel()
	r := registryProject(t, shopRegistry, "{}").run("toolbox", "list", "--group", "checkout", "--json")
	r.want(t, 0)
	const fake = `"source":{"kind":"server","name":"fake"}`
	want := `{"target":"app","driver":"playwright-native","platform":"WEB","agent":"host","tools":[` +
		`{"name":"echo","description":"the tool echo",` + fake + `,"toolsets":["checkout","core"],` +
		`"inputSchema":{"properties":{"text":{"type":"string"}},"type":"object"},"isForLlm":true,"isRecordable":true,"isDelegating":false,` +
		`"requiresHost":false,"requiresContext":false,"supportedDrivers":[],"supportedPlatforms":[]},` +
		`{"name":"sleep","description":"the tool sleep",` + fake + `,"toolsets":["checkout"],` +
		`"inputSchema":{"properties":{"ms":{"type":"integer"}},"type":"object"},"isForLlm":true,"isRecordable":false,"isDelegating":true,` +
		`"requiresHost":false,"requiresContext":false,"supportedDrivers":[],"supportedPlatforms":[]}],` +
		`"skipped":[{"name":"tick",` + fake + `,"reason":"supportedPlatforms","detail":"it supports the platforms IOS, not WEB"}],` +
		`"toolsets":[{"id":"checkout","description":"Buying things\nand paying","platforms":[],"drivers":[],"alwaysEnabled":false,` +
		`"defaultEnabled":false,"active":false,"tools":["echo","sleep"]}],` +
		`"warnings":["registry: server fake: trailblaze://registry: it names the tool \"nobody\", which the server does not list"]}` + "\n"
	same(t, "stdout", want, r.stdout)
}

func TestUnknownGroupIsMisuse(t *testing.T) {
	t.Parallel()
	p := registryProject(t, shopRegistry, "{}")
	p.run("toolbox", "list", "--group", "chekout").wantErr(t, 3, `--group: unknown toolset "chekout"`, "did you mean \"checkout\"? `trailblaze toolbox list` lists the toolsets")
	p.run("toolbox", "list", "--group", "").wantErr(t, 3, "--group is empty")
	p.run("toolbox", "list", "--group", "nothing-like-it").wantErr(t, 3, "known: checkout, core, device, memory")
	p.run("toolbox", "list", "--group", "chekout", "--json").want(t, 3, `"kind":"misuse"`, `"warnings":[`)
}

func TestGroupWithoutTools(t *testing.T) {
	t.Parallel()
	p := registryProject(t, `{"tools":{"tick":{"platforms":["desktop"],"groups":["windows"]}},"groups":{"empty":{}}}`, "{}")
	p.run("toolbox", "list", "--group", "windows,empty", "--why").want(t, 0, "no tools of windows, empty in this scope", "tick", "supports the platforms DESKTOP", "0 tools, 1 left out")
}

func TestToolsOfDisabledGroupCanBeCalled(t *testing.T) {
	t.Parallel()
	p := registryProject(t, shopRegistry, "{}")
	list := p.run("toolbox", "list", "--why")
	list.want(t, 0, `sleep  fake  toolset: its group "checkout" is not enabled by default; name it in tool_sets`, "core — What everybody needs\n  echo")
	p.run("run").want(t, 0, "1 passed")
}

func TestDelegatingToolWithoutDelegatesIsRecorded(t *testing.T) {
	t.Parallel()
	p := registryProject(t, `{"tools":{"echo":{"isDelegating":true},"sleep":{"isDelegating":true,"isRecordable":false}}}`, "{}")
	p.write("trails/a.trail.yaml", webTrail("echo: { text: hi }\n        - sleep: { ms: 1 }"))
	p.run("run", "--record", "new.trail.yaml", "-v").wantErr(t, 0, `step 1: tool "sleep" is not recordable; its call is left out`)
	once := p.read(t, "new.trail.yaml")
	if !strings.Contains(once, "echo:") || strings.Contains(once, "sleep") {
		t.Errorf("recorded\n%s", once)
	}
	p.run("run", "new.trail.yaml", "--record", "new.trail.yaml").want(t, 0)
	same(t, "recorded again", once, p.read(t, "new.trail.yaml"))
	p.run("tool", "echo", "text=hi", "--save", "saved.trail.yaml", "--step", "p").wantErr(t, 0, "saved as a step")
	p.run("run", "saved.trail.yaml").want(t, 0, "1 passed")
	p.run("tool", "sleep", "ms=1", "--save", "sleep.trail.yaml", "--step", "p").wantErr(t, 3, `tool "sleep" is not recordable`, "the call is not saved")
}

func TestRegistryCannotChangeToolsetsOfTrailblaze(t *testing.T) {
	t.Parallel()
	p := registryProject(t, `{"groups":{"memory":{"defaultEnabled":false,"description":"mine"},"device":{"defaultEnabled":false}}}`, "{}")
	r := p.run("toolbox", "list")
	r.wantOutput(t, 0, "groups.memory is a toolset of trailblaze; it is ignored", "groups.device is a toolset of trailblaze; it is ignored", "assertEquals", "web_click")
	if strings.Contains(r.stdout, "mine") || strings.Contains(r.stdout, "left out") {
		t.Errorf("stdout\n%s", r.stdout)
	}
}

func TestRegistryThatExcludesTools(t *testing.T) {
	t.Parallel()
	p := registryProject(t, shopRegistry, "{}")
	p.run("tool", "tick").wantErr(t, 3, "supports the platforms IOS, not WEB", "change its entry in trailblaze://registry")
}

func TestInvalidRegistryDoesNotBreakSession(t *testing.T) {
	t.Parallel()
	for name, registry := range map[string]string{
		"no JSON": "{", "a list": "[]", "wrong types": `{"tools":{"echo":{"platforms":"web","groups":{}},"fail":7},"groups":[]}`,
		"huge": `{"tools":{"` + strings.Repeat("x", 2<<20) + `":{}}}`, "empty": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := registryProject(t, registry, "{}")
			r := p.run("run", "--json")
			r.want(t, 0)
			warned := slices.ContainsFunc(ofType(r.events(t), "log"), func(e map[string]any) bool {
				return strings.Contains(fmt.Sprint(e["message"]), "trailblaze://registry")
			})
			if warned != (registry != "") || strings.Contains(r.stdout, strings.Repeat("x", 500)) {
				t.Errorf("warned: %v\n%.2000s", warned, r.stdout)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

// changing are the servers whose tools change while they run.
func changing(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, script := range map[string]string{"SDK v1": "registry1.ts", "SDK v2": "registry2.mts"} {
		path, err := filepath.Abs("../testdata/servers/" + script)
		if err != nil {
			t.Fatal(err)
		}
		bun, err := filepath.Abs(bunPath)
		if err != nil {
			t.Fatal(err)
		}
		entry, _ := json.Marshal(map[string]any{"name": "changing", "command": bun, "args": []string{"run", "--no-install", path}})
		out[name] = fmt.Sprintf("target: app\nplatform: web\nmcpServers:\n  - %s\n", entry)
	}
	return out
}

const changed = `{"added":["fresh"],"removed":["old"],"total":`

func TestReloadToolsRegistersChangedTools(t *testing.T) {
	t.Parallel()
	for name, config := range changing(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml": config,
				"trails/a.trail.yaml": webTrail("old: {}", "change: {}", "old: {}\n          timeout: 5s", "reloadTools: {}\n          saveAs: now",
					"fresh: { word: hi }", `assertEquals: { expected: fresh, actual: "{{now.added.0}}" }`),
				"trails/early.trail.yaml":   webTrail("fresh: { word: hi }", "reloadTools: {}"),
				"trails/gone.trail.yaml":    webTrail("change: {}", "reloadTools: {}", "old: {}"),
				"trails/misfit.trail.yaml":  webTrail("change: {}", "reloadTools: {}", "fresh: { word: hu }", "nobody: {}"),
				"trails/stale.trail.yaml":   webTrail("change: {}", "old: {}"),
				"trails/behind.trail.yaml":  webTrail("nobody: {}", "reloadTools: {}", "wait: { sconds: 1 }", "fresh: {}"),
				"trails/nothing.trail.yaml": webTrail("reloadTools: {}", "old: {}"),
			})
			replay := func(trail string, args ...string) result {
				return p.run(append([]string{"run", "trails/" + trail + ".trail.yaml"}, args...)...)
			}

			// The server no longer has the tool, and the session still has it.
			r := replay("a", "--json")
			r.want(t, 1)
			if done := ofType(r.events(t), "call.finished"); len(done) != 3 || done[2]["ok"] != false || strings.Contains(fmt.Sprint(done[2]["error"]), "unknown tool") {
				t.Errorf("calls: %v", done)
			}
			p.write("trails/a.trail.yaml", webTrail("old: {}", "change: {}", "reloadTools: {}\n          saveAs: now", "fresh: { word: hi }",
				`assertEquals: { expected: fresh, actual: "{{now.added.0}}" }`))
			r = replay("a", "--json", "--record", "recorded.trail.yaml")
			r.want(t, 0, changed, `"text":"fresh: hi"`)
			p.run("run", "recorded.trail.yaml", "--json").want(t, 0, changed, `"text":"fresh: hi"`)

			replay("early").want(t, 1, `unknown tool "fresh"`)
			replay("early", "--dry-run").want(t, 1, `unknown tool "fresh"`)
			replay("a", "--dry-run").want(t, 0, "1 call after reloadTools not checked: no source has the tool yet")
			replay("gone").want(t, 1, `tool "old" of server changing was removed by reloadTools`)
			replay("stale").want(t, 1, "old", "the server announced that its tools changed since they were listed: call reloadTools")
			replay("behind", "--dry-run").want(t, 1, "behind.trail.yaml", `unknown tool "nobody"`, "wait: unknown argument")
			r = replay("misfit", "--json")
			r.want(t, 1, `word must be`)
			if done := ofType(r.events(t), "call.finished"); len(done) != 2 {
				t.Errorf("calls: %v", done)
			}
			replay("nothing", "--json").want(t, 0, `{"added":[],"removed":[],"total":`, `"text":"old"`)
			p.run("tool", "reloadTools").want(t, 0, `"total":`)
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}
