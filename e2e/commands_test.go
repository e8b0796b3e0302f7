//go:build unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra/doc"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

func TestInitWritesProjectThatPasses(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	p.run("init", "fresh").want(t, 0, "trailblaze run")
	dir := filepath.Join(p.dir, "fresh")
	p.runIn(dir, "check").want(t, 0, "0 problems, 0 warnings")
	p.runIn(dir, "run").want(t, 0, "1 passed")
	p.runIn(filepath.Join(dir, "tools"), "run", "--json").want(t, 0)
	p.run("init", "fresh").wantErr(t, 3, "already exists")
	same(t, "ignored", "logs/\nnode_modules/\n.env\n", p.read(t, "fresh/.gitignore"))
	p.write("mine/.gitignore", "mine\n/node_modules")
	p.run("init", "mine").want(t, 0, "wrote .gitignore")
	same(t, "ignored", "mine\n/node_modules\nlogs/\n.env\n", p.read(t, "mine/.gitignore"))
	p.write("all/.gitignore", ".env\r\nlogs\nnode_modules/\n")
	if r := p.run("init", "all"); strings.Contains(r.stdout, "gitignore") {
		t.Errorf("prints\n%s", r.stdout)
	}
	spawntest.NoSurvivors(t, p.marker)
}

// TestProjectOfInitIsStrict: a selector that has come to match a second element fails, as in Playwright.
func TestProjectOfInitIsStrict(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	p.run("init").want(t, 0)
	p.write("pages/carts.html", "<!doctype html><title>Carts</title><button>Buy</button><button>Buy</button>")
	p.write("trails/buy.trail.yaml", webTrail(
		"web_navigate: { url: pages/carts.html }", `web_click: { ref: 'button "Buy"', timeoutMs: 300 }`))
	p.run("run", "trails/buy.trail.yaml").want(t, 1, `button "Buy" matches 2 elements, but must match one`)
}

// TestCheckKnowsToolsWithoutServers: where no server can have a tool, a name that is not known is wrong.
func TestCheckKnowsToolsWithoutServers(t *testing.T) {
	t.Parallel()
	const wrong = "web_navigat: { url: pages/a.html }"
	p := newProject(t, map[string]string{"trailblaze.yaml": "target: a\nplatform: web\n", "trails/a.trail.yaml": webTrail(wrong)})
	p.run("check").wantErr(t, 3, `a.trail.yaml:5:11: unknown tool "web_navigat"`, `did you mean "web_navigate"`)
	p.write("trailblaze.yaml", "target: a\nplatform: web\nmcpServers: [{ name: team, command: team-tools }]\n")
	p.run("check").want(t, 0)
}

// TestFailedInitCanBeRepeated: what it has written until the failure is removed, and what was there stays.
func TestFailedInitCanBeRepeated(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	p.write("new/package.json", "{}")
	p.write("new/trails", "a file where a folder is needed")
	p.run("init", "--typescript", "new").wantErr(t, 3, "write the project")
	left, err := filepath.Glob(filepath.Join(p.dir, "new", "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("left %q, %v", left, err)
	}
	if err := os.Remove(filepath.Join(p.dir, "new/trails")); err != nil {
		t.Fatal(err)
	}
	p.run("init", "--typescript", "new").want(t, 0, "wrote trailblaze.yaml", "next: cd new && npm install && npm run types, then trailblaze run")
	p.run("init", "my shop").want(t, 0, "next: cd 'my shop' && trailblaze run")
}

func TestOutputsDoNotOverwriteOtherFiles(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": "target: a\nplatform: web\n", "trails/a.trail.yaml": webTrail("wait: { seconds: 0 }")})
	for _, name := range []string{"trails/a.trail.yaml", "trailblaze.yaml"} {
		before := p.read(t, name)
		p.run("run", "--junit", name).wantErr(t, 3, name+" already exists and is not a JUnit report", "choose another path, or remove the file")
		same(t, name, before, p.read(t, name))
	}
	p.write("empty.xml", "")
	p.write("old.xml", "<?xml version='1.0'?>\n<!-- of another tool --><testsuite/>")
	p.write("other.xml", "<project/>")
	p.run("run", "--junit", "empty.xml").want(t, 0)
	p.run("run", "--junit", "empty.xml").want(t, 0)
	p.run("run", "--junit", "old.xml").want(t, 0)
	p.run("run", "--junit", "other.xml").wantErr(t, 3, "is not a JUnit report")
	p.write("mine/trailblaze.d.ts", "declare const mine: 1;")
	p.run("types", "--language", "typescript", "--out", "mine").wantErr(t, 3, "mine/trailblaze.d.ts already exists and is not a file of trailblaze types")
	same(t, "types", "declare const mine: 1;", p.read(t, "mine/trailblaze.d.ts"))
}

func TestInitExtendsPackageJSON(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	p.write("own/package.json", "{\n\t\"name\": \"own\",\n\t\"scripts\": {\n\t\t\"check\": \"mine\"\n\t},\n\t\"devDependencies\": {}\n}\n")
	r := p.run("init", "--typescript", "own")
	r.want(t, 0, "wrote package.json", "wrote trailblaze.yaml")
	if !strings.Contains(r.stderr, `package.json has "type": "module" now`) {
		t.Errorf("it does not say that the package has modules now:\n%s", r.stderr)
	}
	got := p.read(t, "own/package.json")
	if !strings.HasPrefix(got, "{\n\t\"name\": \"own\",\n\t\"scripts\": {\n\t\t\"check\": \"mine\",\n") {
		t.Errorf("what was there has changed:\n%s", got)
	}
	var v struct {
		Private                                bool
		Type                                   string
		Scripts, Dependencies, DevDependencies map[string]string
	}
	if err := json.Unmarshal([]byte(got), &v); err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if v.Private || v.Type != "module" || v.Scripts["types"] == "" || v.Dependencies["zod"] == "" || v.DevDependencies["typescript"] == "" {
		t.Errorf("lacks something:\n%s", got)
	}
	p.write("modules/package.json", `{"type": "module"}`)
	if r := p.run("init", "--typescript", "modules"); r.code != 0 || strings.Contains(r.stderr, "module") {
		t.Errorf("exit code %d for a package that has modules:\n%s", r.code, r.stderr)
	}
	for name, content := range map[string]string{"commonjs": `{"type": "commonjs"}`, "list": "[]", "half": "{"} {
		p.write(name+"/package.json", content)
		p.run("init", "--typescript", name).wantErr(t, 3, "package.json cannot be extended", "--typescript NAME")
		same(t, "package.json", content, p.read(t, name+"/package.json"))
	}
}

func TestCheckReportsAllProblemsAndStartsNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     "target: app\nplatfrom: web\nmcpServers:\n  - { script: ./tools/none.ts }\n",
		"trails/a.trail.yaml": "trail:\n  - step: one\n    recording: { web: [], ios: [] }\n  - step: two\n    recording: { web: [] }\n",
		"trails/b.trail.yaml": "trial: []\n",
	})
	r := p.run("check", "--json")
	r.want(t, 3)
	var v struct {
		OK       bool
		Files    int
		Problems []struct {
			File, Message, Hint string
			Line, Column        int
		}
		Warnings []struct{ File, Message string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	if v.OK || v.Files != 3 || len(v.Problems) != 3 || len(v.Warnings) != 1 {
		t.Errorf("check says %+v", v)
	}
	p.run("check").wantErr(t, 3, "trailblaze.yaml:2:1", `did you mean "platform"`, "none.ts", `did you mean "trail"`)
}

func TestCheckFindsWrongArguments(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/a.trail.yaml": `trail:
  - step: do it
    recording:
      web:
        - wait: { seconds: soon }
        - web_click: { ref: "{{ref}}", button: thumb }
        - web_type: { txt: "{{ref}}" }
        - echo: { nothing: known }
        - pressKey: { key: nothing of web }
      android: [ pressKey: { code: BACK }, launchApp: { packageId: com.example, fast: true } ]
`,
	})
	r := p.run("check", "--memory", "ref")
	r.wantErr(t, 3, "a.trail.yaml:5:19: wait: seconds must be a number", "6:40: web_click: button must be", "7:11: web_type: ",
		"10:30: pressKey: ", "10:81: launchApp: ", "7 problems")
	for _, valid := range []string{"yaml:8:", "yaml:9:"} { // tools that servers may have
		if strings.Contains(r.stderr, valid) {
			t.Errorf("%s is a problem in\n%s", valid, r.stderr)
		}
	}
}

func TestHelpOfTools(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject})
	p.run("tool", "web_verifyState", "--help").want(t, 0, "Fails unless the first element that matches is in a state.",
		"  state: one of checked, unchecked, enabled, ", "empty; required\n", "  ref: string; optional\n      The element: css=SELECTOR")
	p.run("tool", "web_dragTo", "-h").want(t, 0, "  from: object as JSON, with nodeSelector, position, ref; required\n      The element to drag\n")
	p.run("tool", "web_navigate", "--help").want(t, 0, "timeoutMs: integer; optional", "(default 30000)")
	p.run("tool", "echo", "--help").want(t, 0, "echo\n\n", "Usage:\n  trailblaze tool echo [ARGUMENT=VALUE...] [flags]")
	p.run("tool", "no_such_tool", "--help").want(t, 0, "trailblaze tool NAME [ARGUMENT=VALUE...] [flags]")
	p.run("toolbox", "list", "-v").want(t, 0, "web_verifyState(state (one of checked, unchecked")
}

func TestCheckFindsSelectorsThatNoBrowserAccepts(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze-config/targets/shop.yaml": "id: shop\n",
		"trailblaze.yaml":                     "platform: web\ntarget: shop\n",
		"trails/a.trail.yaml": `trail:
  - step: do it
    recording:
      web:
        - web_click: { ref: "css=.cart[" }
        - web_click: { nodeSelector: { web: { cssSelector: "li:contains(Tea)" } } }
        - web_click: { ref: "css=li:nth-child(2 of .x):has(> a):is(b, c)" }
        - web_click: { ref: "css=#{{id}}[" }
`,
	})
	p.run("check", "--memory", "id").wantErr(t, 3, `a.trail.yaml:5:11: web_click: ".cart[" is not a CSS selector`,
		`6:11: web_click: "li:contains(Tea)" is not a CSS selector: :contains is the syntax of another tool`, "2 problems in")
	p.run("run", "--memory", "id=x", "--browser", "/nonexistent").want(t, 1, `".cart[" is not a CSS selector`)
}

func TestStorageStateIsReadBeforeThereIsAPage(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze-config/targets/shop.yaml": "id: shop\n",
		"trailblaze.yaml": "platform: web\ntarget: shop\n" +
			"device: { storageState: state/one.json }\ndevices: { other: { platform: web, storageState: two.json } }\n",
		"state/one.json": "{broken", "two.json": `{"origins": [{"origin": "nowhere"}]}`, "trails/a.trail.yaml": "trail: [ { step: Do nothing } ]\n",
	})
	one, two := "trailblaze.yaml:3:11: storageState: ", `trailblaze.yaml:4:36: storageState: `
	p.write("trails/a.trail.yaml", `trail:
  - step: Sign in
    recording:
      web:
        - web_applyStorageState: { json: "{broken" }
        - web_applyCookies: { cookiesJson: "{broken" }
        - web_applyCookies: { cookiesJson: "{{cookies}}" }
`)
	p.run("check", "--memory", "cookies").wantErr(t, 3, "a.trail.yaml:5:11: web_applyStorageState: the storage state: not a storage state in JSON",
		"6:11: web_applyCookies: cookiesJson: not cookies in JSON", "4 problems")
	p.write("trails/a.trail.yaml", "trail: [ { step: Do nothing } ]\n")
	p.run("check").wantErr(t, 3, one, "one.json: not a storage state in JSON", two, `two.json: "nowhere" is not an origin`)
	for _, command := range []string{"run", "tool web_currentUrl", "session start"} {
		p.run(strings.Fields(command)...).wantErr(t, 3, "one.json: not a storage state in JSON")
	}
	p.write("trailblaze.yaml", "platform: web\ntarget: shop\ndevice: { storageState: later.json }\n")
	p.run("check").want(t, 0)
	p.run("run", "--storage-state", "two.json").wantErr(t, 3, "is not an origin")
}

func TestCheckAndDryRunFindUndefinedValues(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":           okProject,
		"trails/empty.trail.yaml":   "trail: []\n",
		"trails/given.trail.yaml":   webTrail(`wait: { seconds: "{{pause}}" }`, `assertEquals: { expected: "{{TOKEN}}", actual: x }`),
		"trails/server.trail.yaml":  webTrail("echo: { text: hi }", `echo: { text: "{{maybe}}" }`),
		"trails/unknown.trail.yaml": "trail:\n  - step: do it\n    recording:\n      web:\n        - echo:\n            text: \"{{emial}}\"\n",
	})
	r := p.run("check")
	r.wantErr(t, 3, "trails/empty.trail.yaml:1:8: the trail has no steps", "given.trail.yaml:5:19: wait: unknown value {{pause}} in seconds",
		"{{TOKEN}}", "trails/unknown.trail.yaml:6:13: echo: unknown value {{emial}} in text", "    6 |             text: \"{{emial}}\"\n      |             ^")
	if strings.Contains(r.stderr, "maybe") {
		t.Errorf("stderr\n%s", r.stderr)
	}
	p.run("check", "trails/given.trail.yaml", "--memory", "pause=0", "--secret", "TOKEN").want(t, 0, "2 files: 0 problems, 0 warnings")
	p.run("check", "trails/unknown.trail.yaml").want(t, 3, "2 files: 1 problem, 0 warnings")
	p.run("run", "trails/empty.trail.yaml", "--dry-run").want(t, 3, "trails/empty.trail.yaml:1:8: the trail has no steps")
	p.run("run", "trails/given.trail.yaml", "--dry-run", "--memory", "pause=0").want(t, 1, "assertEquals: unknown value {{TOKEN}} in expected")
	p.run("run", "trails/unknown.trail.yaml", "--dry-run").want(t, 1, "echo: unknown value {{emial}} in text", "unknown.trail.yaml:6")
	p.run("run", "trails/server.trail.yaml", "--dry-run").want(t, 0)
	p.run("run", "trails/unknown.trail.yaml").want(t, 1, "trails/unknown.trail.yaml:6:13: echo: unknown value {{emial}} in text", "      |             ^")
	p.run("run", "trails/server.trail.yaml").want(t, 1, "trails/server.trail.yaml:9:19: echo: unknown value {{maybe}} in text")
}

func TestArgumentsAreReportedAtTheirPosition(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/a.trail.yaml": "trail:\n  - step: do it\n    recording:\n      web:\n        - sleep:\n            ms: soon\n" +
			"        - wait:\n            seconds: 0\n            sceonds: 1\n        - rememberValue: { name: x }\n",
	})
	p.run("run").want(t, 1, "a.trail.yaml:6:13: sleep: ms must be", "      |             ^", `a.trail.yaml:9:13: wait: unknown argument "sceonds"`,
		`a.trail.yaml:10:11: rememberValue: missing argument "value"`)
}

func TestToolsOfServersAreRenamedAndExcluded(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject + "  - name: second\n    command: \"{{fake}}\"\n    env: { FAKE_SERVER: ok }\n" +
			"    rename: { echo: second_echo }\n    exclude: [\"[!e]*\", \"e[!c]*\"]\n",
		"trails/a.trail.yaml": webTrail("echo: { text: one }", "second_echo: { text: two }"),
	})
	p.run("run", "--json").want(t, 0, `"tool":"second_echo","source":"second"`, `"call":"2","tool":"second_echo","ok":true,"text":"two"`)
	p.run("toolbox", "list").want(t, 0, "second_echo      second")
}

func TestOnlyRecordedPlatformChoosesDriver(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":      strings.Replace(okProject, "platform: web\n", "", 1),
		"trails/a.trail.yaml":  webTrail("echo: {}"),
		"both/both.trail.yaml": "trail:\n  - step: do it\n    recording: { web: [], ios: [] }\n",
	})
	p.run("run").want(t, 0, "app, playwright-native")
	p.run("run", "both").want(t, 3, "no driver is set")
}

func TestSecretsOfServerEnvironmentAreMasked(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - name: fake\n    command: \"{{fake}}\"\n" +
			"    env: { FAKE_SERVER: ok, X: \"${SHOP_TOKEN}\" }\n",
		"trails/a.trail.yaml": webTrail("echo: { text: s3same }"),
	})
	p.env = append(p.env, "SHOP_TOKEN=s3same")
	r := p.run("run", "--json")
	r.want(t, 0, "{{SHOP_TOKEN}}")
	if strings.Contains(r.stdout+r.stderr, "s3same") {
		t.Errorf("the secret is shown:\n%s%s", r.stdout, r.stderr)
	}
	p.env[len(p.env)-1] = "SHOP_TOKEN=tool echo"
	p.run("toolbox", "list").want(t, 0, "the {{SHOP_TOKEN}}")
}

func TestSchemasAreJSON(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	for _, name := range []string{"project", "target", "toolset", "trail"} {
		r := p.run("schema", name)
		r.want(t, 0)
		var v map[string]any
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || v["$schema"] == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.run("schema", "trial").wantErr(t, 3, `did you mean "trail"`)
}

func TestVersionCompletionAndHelpTopics(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	p.run("version").want(t, 0, "trailblaze test")
	p.run("--version").want(t, 0, "trailblaze test")
	p.run("help", "exit-codes").want(t, 0, "124", "143")
	p.run("help", "environment").want(t, 0, "TRAILBLAZE_SESSION_ID", "NO_COLOR")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		p.run("completion", shell).want(t, 0, "trailblaze")
	}
	p.run("__complete", "run", "--driver", "ios").want(t, 0, "ios-host")
}

func TestCommandReferenceIsUpToDate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := cmd.Commands()
	root.DisableAutoGenTag = true
	if err := doc.GenMarkdownTree(root, dir); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadDir("../docs/commands")
	if err != nil || len(kept) != len(fresh) {
		t.Errorf("docs/commands has %d pages, want %d (%v): run make generate", len(kept), len(fresh), err)
	}
	for _, page := range fresh {
		want, _ := os.ReadFile(filepath.Join(dir, page.Name()))
		got, _ := os.ReadFile(filepath.Join("../docs/commands", page.Name()))
		if string(got) != string(want) {
			t.Errorf("docs/commands/%s is stale: run make generate", page.Name())
		}
	}
}

type check struct{ Name, Status, Detail, Hint string }

func doctorChecks(t *testing.T, r result) map[string]check {
	t.Helper()
	var v struct {
		OK     bool
		Checks []check
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatalf("%v\n%s", err, r.stdout)
	}
	if v.OK != (r.code == 0) {
		t.Errorf("ok is %v, the exit code %d", v.OK, r.code)
	}
	out := map[string]check{}
	for _, c := range v.Checks {
		out[c.Name] = c
	}
	return out
}

// bin makes a folder with links to programs, for a PATH that holds nothing else.
func bin(t *testing.T, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, program := range programs {
		path, err := exec.LookPath(program)
		if program == "python3" {
			path, err = python()
		}
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, filepath.Base(program)))
		}
		if err != nil {
			t.Fatalf("%v: run make deps", err)
		}
	}
	return dir
}

// commandProject is a project with a server of a command, and the file bin/tool with the given text.
func commandProject(command string, tool ...string) map[string]string {
	files := map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - { name: run, command: " + command + " }\n",
	}
	for _, text := range tool {
		files["bin/tool"] = text
	}
	return files
}

// python returns the path of Python. A version manager's python3 is a slow script that needs more on the PATH.
var python = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("python3", "-c", "import sys; print(sys.executable, end='')").Output()
	return string(path), err
})

const (
	bunPath = "../testdata/servers/node_modules/.bin/bun"
	tsxPath = "../testdata/servers/node_modules/.bin/tsx"
)

func TestDoctorChecksWithEveryResult(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - { name: ts, script: tools/a.ts }\n",
		"tools/a.ts":      "",
	}
	notRunnable := t.TempDir()
	if err := os.WriteFile(filepath.Join(notRunnable, "chromium"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	oddState := t.TempDir()
	if err := os.WriteFile(filepath.Join(oddState, "state"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	oldNode, veryOldNode := t.TempDir(), t.TempDir()
	err := spawntest.WriteProgram(filepath.Join(veryOldNode, "node"), []byte("#!/bin/sh\necho v12.22.12\n"))
	if err := errors.Join(err, spawntest.WriteProgram(filepath.Join(oldNode, "node"), []byte("#!/bin/sh\necho v16.20.2\n"))); err != nil {
		t.Fatal(err)
	}
	runnable := bin(t, "sh")
	for _, name := range []string{"chromium", "bun"} {
		if err := os.Symlink("sh", filepath.Join(runnable, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		files map[string]string
		env   []string
		args  []string
		want  map[string]string
	}{
		"all there": {scripts, []string{"PATH=" + bin(t, bunPath, "node", tsxPath)}, nil, map[string]string{
			"bun": "ok", "node": "ok", "tsx": "ok", "project files": "ok", "server ts": "ok", "leftover processes": "ok", "cache": "ok", "browser": "ok",
		}},
		"bun alone":   {scripts, []string{"PATH=" + bin(t, bunPath)}, nil, map[string]string{"bun": "ok", "node": "ok", "tsx": "ok", "server ts": "ok"}},
		"no runtime":  {scripts, []string{"PATH=" + t.TempDir()}, nil, map[string]string{"bun": "ok", "node": "ok", "embedded engine": "ok", "server ts": "ok"}},
		"no loader":   {scripts, []string{"PATH=" + bin(t, "node")}, nil, map[string]string{"bun": "ok", "node": "ok", "tsx": "ok", "server ts": "ok"}},
		"broken bun":  {scripts, []string{"PATH=" + runnable}, nil, map[string]string{"bun": "warn", "node": "ok"}},
		"no project":  {nil, []string{"PATH=" + bin(t, bunPath)}, nil, map[string]string{"project files": "warn"}},
		"bad project": {map[string]string{"trailblaze.yaml": "x: 1\n"}, nil, nil, map[string]string{"project files": "fail"}},
		"no modules": {map[string]string{
			"trailblaze.yaml": scripts["trailblaze.yaml"], "tools/a.ts": "", "tools/package.json": `{"dependencies":{"zod":"*"}}`,
		}, []string{"PATH=" + bin(t, bunPath)}, nil, map[string]string{"server ts": "fail"}},
		"old node": {map[string]string{
			"trailblaze.yaml": scripts["trailblaze.yaml"], "tools/a.ts": "",
			"tools/node_modules/@modelcontextprotocol/sdk/package.json": `{"version":"1.20.0","engines":{"node":">=18"}}`,
		}, []string{"PATH=" + oldNode}, nil, map[string]string{"node": "warn", "server ts": "fail"}},
		"a package that nothing lists": {map[string]string{
			"trailblaze.yaml": scripts["trailblaze.yaml"], "tools/a.ts": "import pad from 'left-pad';\npad();\n", "package.json": "{}",
			"node_modules/other/index.js": "",
		}, []string{"PATH=" + bin(t, bunPath)}, nil, map[string]string{"server ts": "fail"}},
		"a package that only happens to be there": {map[string]string{
			"trailblaze.yaml": scripts["trailblaze.yaml"], "tools/a.ts": "import pad from 'left-pad';\npad();\n", "package.json": "{}",
			"node_modules/left-pad/index.js": "export default () => {};\n",
		}, []string{"PATH=" + bin(t, bunPath)}, nil, map[string]string{"server ts": "warn"}},
		"very old node": {map[string]string{
			"trailblaze.yaml": scripts["trailblaze.yaml"], "tools/a.ts": "",
		}, []string{"PATH=" + veryOldNode}, nil, map[string]string{"node": "warn", "server ts": "fail"}},
		"not executable":   {scripts, []string{"PATH=" + notRunnable, "TRAILBLAZE_BROWSER="}, nil, map[string]string{"browser": "fail"}},
		"no cache":         {scripts, []string{"TRAILBLAZE_CACHE_DIR=" + filepath.Join(notRunnable, "chromium", "cache")}, nil, map[string]string{"cache": "warn", "leftover processes": "ok"}},
		"odd cache":        {scripts, []string{"TRAILBLAZE_CACHE_DIR=" + filepath.Join(notRunnable, "chromium")}, nil, map[string]string{"cache": "warn", "leftover processes": "ok"}},
		"odd state":        {scripts, []string{"TRAILBLAZE_CACHE_DIR=" + oddState}, nil, map[string]string{"cache": "ok", "leftover processes": "fail"}},
		"a command":        {commandProject("sh"), nil, nil, map[string]string{"server run": "ok"}},
		"no command":       {commandProject("no-such-program"), nil, nil, map[string]string{"server run": "fail"}},
		"no command, deep": {commandProject("no-such-program"), nil, []string{"--deep"}, map[string]string{"server run": "fail"}},
		"no path":          {commandProject("./bin/tool"), nil, nil, map[string]string{"server run": "fail"}},
		"a path":           {commandProject("./bin/tool", "#!/bin/sh\n"), nil, nil, map[string]string{"server run": "fail"}}, // not executable
		"PATH of entry":    {commandProject("sh, env: { PATH: /nowhere }"), nil, nil, map[string]string{"server run": "fail"}},
		"deep":             {map[string]string{"trailblaze.yaml": okProject}, nil, []string{"--deep"}, map[string]string{"server fake": "ok"}},
		"deep, noisy":      {map[string]string{"trailblaze.yaml": noisyProject}, nil, []string{"--deep"}, map[string]string{"server fake": "warn"}},
		"deep, dead":       {map[string]string{"trailblaze.yaml": fakeConfig("\"list:exit3\"")}, nil, []string{"--deep"}, map[string]string{"server fake": "fail"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, tc.files)
			p.env = append(p.env, tc.env...)
			run := func(args ...string) result { return p.runWith(nil, args...) }
			if tc.want["browser"] != "" { // the others are faster without starting one
				run = p.run
			}
			r := run(append([]string{"doctor", "--json"}, tc.args...)...)
			checks := doctorChecks(t, r)
			wantCode := 0
			for check, status := range tc.want {
				if checks[check].Status != status {
					t.Errorf("%s is %+v, want %s", check, checks[check], status)
				}
			}
			for _, c := range checks {
				if c.Status == "fail" {
					wantCode = 2
					if c.Hint == "" && !strings.Contains(c.Detail, "Install bun") {
						t.Errorf("%s has no hint: %s", c.Name, c.Detail)
					}
				}
			}
			if r.code != wantCode {
				t.Errorf("exit code %d, want %d", r.code, wantCode)
			}
			if human := run(append([]string{"doctor"}, tc.args...)...); human.code != r.code || !strings.Contains(human.stdout, "project files") {
				t.Errorf("human output:\n%s%s", human.stdout, human.stderr)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestMisnamedTrailsAreNamed(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     "platform: web\n",
		"trails/a.trail.yaml": "trail:\n  - step: one\n    recording: { web: [] }\n",
		"trails/b.trail.yml":  "trail: []\n",
	})
	const says = "trails/b.trail.yml: this file is never run; to make it a trail, rename it to end in .trail.yaml"
	for _, args := range [][]string{{"check"}, {"run", "--list"}, {"run", "--dry-run"}} {
		if r := p.run(args...); !strings.Contains(r.stderr, says) {
			t.Errorf("%v: %s", args, r.stderr)
		}
	}
}
