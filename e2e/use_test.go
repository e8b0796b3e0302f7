//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// texts returns the texts of the calls of the tool echo that were made, in order.
func texts(t *testing.T, r result) string {
	t.Helper()
	var all []string
	for _, e := range ofType(r.events(t), "call.finished") {
		if e["tool"] == "echo" {
			all = append(all, fmt.Sprint(e["text"]))
		}
	}
	return strings.Join(all, " ")
}

func echo(text string) string {
	return "  - step: say " + strings.Trim(text, "{}") + "\n    recording: { web: [ { echo: { text: \"" + text + "\" } } ] }\n"
}

func TestStepUsesAnotherTrail(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/main.trail.yaml": "config: { args: { who: { default: ann } } }\ntrail:\n  - use: parts/greet.yaml\n" +
			"    args: { name: \"{{args.who}}\" }\n" + echo("{{saved}}") + echo("{{args.who}}"),
		"trails/parts/greet.yaml": "config: { title: Greet, args: { name: {} }, memory: { greeting: hello } }\n" +
			"trailhead: { step: begin, recording: { web: { echo: { text: begin } } } }\n" +
			"trail:\n" + echo("{{greeting}}-{{args.name}}") +
			"  - step: save\n    recording: { web: [ { echo: { text: kept }, saveAs: saved } ] }\n  - use: trails/parts/deep.yaml\n",
		"trails/parts/deep.yaml": "trail:\n" + echo("deep"),
	})
	r := p.run("run", "--json", "--arg", "who=bob")
	r.want(t, 0)
	if got, want := texts(t, r), "begin hello-bob kept deep kept bob"; got != want {
		t.Errorf("said %s, want %s", got, want)
	}
	var steps []string
	for _, e := range ofType(r.events(t), "step.started") {
		steps = append(steps, strings.TrimPrefix(fmt.Sprintf("%v.%v", e["within"], e["index"]), "<nil>."))
	}
	if got, want := strings.Join(steps, " "), "1 1.1 1.2 1.3 1.4 1.4.1 2 3"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	recordings, _ := filepath.Glob(filepath.Join(p.dir, "logs", "main_*", "recording.trail.yaml"))
	if len(recordings) != 1 {
		t.Fatalf("recordings: %v", recordings)
	}
	text, err := os.ReadFile(recordings[0])
	if err != nil || !strings.Contains(string(text), "use: trails/parts/greet.yaml") {
		t.Errorf("the recording is %v\n%s", err, text)
	}
	p.run("run", recordings[0]).want(t, 0, "1 passed")
	p.run("run", "--dry-run").want(t, 0)
	p.run("check").want(t, 0)
	p.run("run", "trails/main.trail.yaml", "--html", "out", "--junit", "junit.xml", "-v").want(t, 0, "step 1/3 Greet", "step 1.4.1 say deep")

	before, _ := os.ReadFile(filepath.Join(p.dir, "trails/main.trail.yaml"))
	p.run("run", "trails/main.trail.yaml", "--record", "trails/main.trail.yaml").want(t, 0)
	if after, _ := os.ReadFile(filepath.Join(p.dir, "trails/main.trail.yaml")); string(after) != string(before) {
		t.Errorf("recorded again:\n%s\nwas\n%s", after, before)
	}
}

// TestCallRunsAnotherTrail: runTrail does what use: does, and is recorded as it was called.
func TestCallRunsAnotherTrail(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/main.trail.yaml": "config: { args: { who: { default: ann } } }\ntrail:\n  - step: Greet somebody\n    recording:\n      web:\n" +
			"        - runTrail: { path: parts/greet.yaml, args: { name: \"{{args.who}}\" } }\n" + echo("{{saved}}") + echo("{{args.who}}"),
		"trails/parts/greet.yaml": "config: { args: { name: {} }, teardown: [ { step: bye, recording: { web: [ { echo: { text: \"bye-{{args.name}}\" } } ] } } ] }\n" +
			"trail:\n" + echo("hello-{{args.name}}") + "  - step: save\n    recording: { web: [ { echo: { text: kept }, saveAs: saved } ] }\n  - use: deep.yaml\n",
		"trails/parts/deep.yaml": "- echo: { text: deep }\n- echo: { text: er }\n",
	})
	p.run("check").want(t, 0)
	p.run("run", "--dry-run").want(t, 0)
	r := p.run("run", "--json", "--arg", "who=bob", "--record", "trails/main.trail.yaml")
	r.want(t, 0)
	if got, want := texts(t, r), "hello-bob kept deep er kept bob bye-bob"; got != want {
		t.Errorf("said %s, want %s", got, want)
	}
	var steps []string
	for _, e := range ofType(r.events(t), "step.started") {
		steps = append(steps, strings.TrimPrefix(fmt.Sprintf("%v.%v %v", e["within"], e["index"], e["kind"]), "<nil>."))
	}
	if got, want := strings.Join(steps, ", "), "1 use, 1.1 step, 1.2 step, 1.3 use, 1.3.1 tools, 2 step, 3 step, 4 teardown, 4.1 step"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	recordings, _ := filepath.Glob(filepath.Join(p.dir, "logs", "main_*", "recording.trail.yaml"))
	if len(recordings) != 1 {
		t.Fatalf("recordings: %v", recordings)
	}
	for file, path := range map[string]string{recordings[0]: "trails/parts/greet.yaml", filepath.Join(p.dir, "trails/main.trail.yaml"): "parts/greet.yaml"} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "path: "+path) || strings.Contains(string(text), "hello") {
			t.Errorf("%s is %v\n%s", file, err, text)
		}
	}
	p.run("run", recordings[0]).want(t, 0, "1 passed")

	p.write("trails/parts/deep.yaml", "- echo: { text: deep }\n- fail: { text: broke }\n")
	p.run("run", "--json").want(t, 1, `"stepText":"Greet somebody","tool":"fail","line":3`, "trails/parts/deep.yaml:2: step 1: broke", `"used":{"file":"trails/parts/deep.yaml","line":2}`)
	p.run("tool", "runTrail", "path=trails/parts/deep.yaml").wantErr(t, 1, "works only as a call of a step in a trail file")
}

// TestSkippedPartIsNotChecked: it defines no value, and what it calls does not matter.
func TestSkippedPartIsNotChecked(t *testing.T) {
	t.Parallel()
	const part = "config: { skip: { web: later }, memory: { user: ann } }\n"
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": "trail:\n  - use: part.yaml\n" + echo("{{user}}"),
		"trails/part.yaml":    part + webTrail("echo: { text: never }"),
	})
	p.run("check").wantErr(t, 3, "unknown value {{user}}")
	p.run("run", "--dry-run").want(t, 1, "unknown value {{user}}")
	p.run("run").want(t, 1, "unknown value {{user}}")

	calls := "trail:\n  - step: use it\n    recording: { web: [ { runTrail: { path: part.yaml } } ] }\n" + echo("on")
	p.write("trails/a.trail.yaml", calls)
	p.write("trails/part.yaml", part+webTrail("wait: { seconds: soon }"))
	p.run("check").wantOutput(t, 0)
	p.run("run", "--dry-run").wantOutput(t, 0)
	p.run("run", "--record", "trails/a.trail.yaml").want(t, 0)
	same(t, "the file", calls, p.read(t, "trails/a.trail.yaml"))
	if text := p.read(t, "logs/latest/recording.trail.yaml"); !strings.Contains(text, "path: trails/part.yaml") {
		t.Errorf("the recording lacks the call:\n%s", text)
	}
}

func TestFailureInUsedTrail(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":        okProject,
		"trails/main.trail.yaml": "trail:\n" + echo("first") + "  - use: parts/a.yaml\n" + echo("never"),
		"trails/parts/a.yaml":    "config: { title: Sign in }\ntrail:\n" + echo("inner") + "  - step: fail here\n    recording:\n      web:\n        - fail: { text: broke }\n",
	})
	r := p.run("run", "--json")
	r.want(t, 1, `"step":2,"stepText":"Sign in","tool":"fail","line":4`, `trails/parts/a.yaml:8: step 2 "fail here": broke`,
		`"used":{"file":"trails/parts/a.yaml","line":8}`)
	if got := texts(t, r); got != "first inner" {
		t.Errorf("said %s", got)
	}
	p.env = append(p.env, "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE="+p.dir)
	p.run("run").wantOutput(t, 1, "8 |         - fail: { text: broke }", "::error file=trails/parts/a.yaml,line=8,title=main::step 2: Sign in")
	p.write("trails/parts/a.yaml", "trail:\n  - step: s\n    recording: { web: [ { ecko: {} }, { echo: { text: \"{{gone}}\" } } ] }\n")
	p.run("run").want(t, 1, "trails/parts/a.yaml:3", `did you mean "echo"`)
	p.run("run", "--dry-run").want(t, 1, "{{gone}}")
	p.write("trails/parts/a.yaml", "trail:\n  - use: nowhere.yaml\n")
	p.run("check").wantErr(t, 3, "trails/parts/a.yaml:2:10", "2 |   - use: nowhere.yaml")
	p.run("run").wantErr(t, 3, "::error file=trails/parts/a.yaml,line=2,title=main::")
	p.write("trails/parts/a.yaml", "trial: []\n")
	p.run("check").wantErr(t, 3, "trails/parts/a.yaml:1:1", "trial: []")
	p.run("run").want(t, 3, "trails/parts/a.yaml:1:1")
}

func TestOptionalCallMayFail(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/a.trail.yaml": "trail:\n  - step: s\n    recording:\n      web:\n        - fail: { text: no banner }\n          optional: true\n" +
			"        - echo: { text: on }\n",
	})
	r := p.run("run", "--json")
	r.want(t, 0, "optional call of fail failed: no banner", `"optional":true`)
	if got := texts(t, r); got != "on" {
		t.Errorf("said %s", got)
	}
	before, _ := os.ReadFile(filepath.Join(p.dir, "trails/a.trail.yaml"))
	p.run("run", "--record", "trails/a.trail.yaml").want(t, 0)
	if after, _ := os.ReadFile(filepath.Join(p.dir, "trails/a.trail.yaml")); string(after) != string(before) {
		t.Errorf("recorded again:\n%s", after)
	}
	p.write("trails/a.trail.yaml", strings.Replace(string(before), "fail: { text: no banner }", "echo: { text: \"{{gone}}\" }", 1))
	p.run("run").want(t, 1, "unknown value {{gone}}") // a mistake in the trail is not optional
	p.write("trails/a.trail.yaml", strings.Replace(string(before), "fail: { text: no banner }", "fatal: {}", 1))
	p.run("run").want(t, 2)
}

func teardown(calls ...string) string {
	var b strings.Builder
	b.WriteString("config:\n  teardown:\n")
	for _, call := range calls {
		b.WriteString("    - step: clean up\n      recording: { web: [ { " + call + " } ] }\n")
	}
	return b.String()
}

func TestTeardownRunsAfterEveryOutcome(t *testing.T) {
	t.Parallel()
	clean := teardown("echo: { text: one }", "echo: { text: two }")
	for name, tc := range map[string]struct {
		files map[string]string
		code  int
		said  string
		texts []string
	}{
		"passed":        {map[string]string{"a": clean + webTrail("echo: { text: s }")}, 0, "s one two", nil},
		"failed":        {map[string]string{"a": clean + webTrail("fail: { text: no }")}, 1, "one two", []string{`"step":1`, "no"}},
		"fails itself":  {map[string]string{"a": teardown("fail: { text: left }", "echo: { text: on }") + webTrail("echo: { text: s }")}, 1, "s on", []string{"the teardown did not pass: left", `"step":2`}},
		"both fail":     {map[string]string{"a": teardown("fail: { text: left }") + webTrail("fail: { text: no }")}, 1, "", []string{`"step":1`, "no\\nteardown, step 2 \"clean up\": left"}},
		"session ended": {map[string]string{"a": clean + webTrail("fatal: {}")}, 2, "", []string{"the session cannot go on", "the teardown was not run"}},
		"invalid":       {map[string]string{"a": teardown("ecko: {}") + webTrail("echo: { text: s }")}, 1, "", []string{`did you mean \"echo\"`}},
		"used": {map[string]string{
			"a":    teardown("echo: { text: own }") + "trail:\n  - use: part.yaml\n    args: { n: ann }\n" + echo("s"),
			"part": strings.Replace(teardown("echo: { text: \"bye-{{args.n}}\" }"), "config:", "config:\n  args: { n: {} }", 1) + webTrail("echo: { text: in }"),
		}, 0, "in s own bye-ann", nil},
		"used within used": {map[string]string{
			"a":     "trail:\n  - use: outer.yaml\n    args: { user: ann }\n",
			"outer": "config: { args: { user: {} } }\ntrail:\n  - use: inner.yaml\n    args: { name: \"{{args.user}}\" }\n",
			"inner": strings.Replace(teardown("echo: { text: \"bye-{{args.name}}\" }"), "config:", "config:\n  args: { name: {} }", 1) + webTrail("echo: { text: in }"),
		}, 0, "in bye-ann", nil},
		"used with a value that changes": {map[string]string{
			"a": "config: { memory: { user: ann } }\ntrail:\n  - use: part.yaml\n    args: { n: \"{{user}}\" }\n" +
				"  - step: save\n    recording: { web: [ { echo: { text: bob }, saveAs: user } ] }\n",
			"part": strings.Replace(teardown("echo: { text: \"bye-{{args.n}}\" }"), "config:", "config:\n  args: { n: {} }", 1) + webTrail("echo: { text: in }"),
		}, 0, "in bob bye-ann", nil},
		"used, not reached": {map[string]string{
			"a":    "trail:\n  - step: f\n    recording: { web: [ { fail: { text: no } } ] }\n  - use: part.yaml\n",
			"part": teardown("echo: { text: bye }") + webTrail("echo: { text: in }"),
		}, 1, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"trailblaze.yaml": okProject}
			for file, text := range tc.files {
				files["trails/"+map[bool]string{true: "a.trail.yaml", false: file + ".yaml"}[file == "a"]] = text
			}
			p := newProject(t, files)
			r := p.run("run", "--json", "--junit", "junit.xml")
			r.want(t, tc.code, tc.texts...)
			if got := texts(t, r); got != tc.said {
				t.Errorf("said %q, want %q", got, tc.said)
			}
			if tc.code == 0 {
				p.run("run", "--dry-run").want(t, 0)
			}
		})
	}
}

func TestTeardownRunsAfterInterruption(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"in a step":       teardown("echo: { text: cleaned up }") + webTrail("sleep: { ms: 1000 }", "echo: { text: never }"),
		"in the teardown": teardown("sleep: { ms: 1000 }", "echo: { text: cleaned up }") + webTrail("echo: { text: s }"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": text})
			events := func() string {
				text, _ := os.ReadFile(filepath.Join(p.dir, "logs", "latest", "events.ndjson"))
				return string(text)
			}
			started := func() { await(func() bool { return strings.Contains(events(), `"tool":"sleep"`) }) }
			code, output := signalled(t, p.command("run", "-v"), started, syscall.SIGINT, false)
			log := events()
			if code != 130 || !strings.Contains(log, `"text":"cleaned up"`) || strings.Contains(log, `"text":"never"`) {
				t.Errorf("exit code %d\n%s\n%s", code, output, log)
			}
		})
	}
}
