//go:build unix

package e2e_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/fakeserver/encodings"
)

// toolProject is a project with the server whose tools delegate, and no trail.
func toolProject(t *testing.T) *project {
	t.Helper()
	return newProject(t, map[string]string{"trailblaze.yaml": teamConfig(t)})
}

func TestToolParsesArgumentsBySchema(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"text stays text": {
			[]string{"name=5", `any= {"a": 1} = "b`, "kind=two", "either=3"}, `{"any":" {\"a\": 1} = \"b","either":"3","kind":"two","name":"5"}`,
		},
		"or nothing": {[]string{"name=", "any="}, `{"any":"","name":""}`},
		"everything else is JSON": {
			[]string{"count=-3", "ratio=0.5", "on=false", "level=2", `list=[1, "1", null]`, `map={"a": {"b": []}}`, "any=[true]"},
			`{"any":[true],"count":-3,"level":2,"list":[1,"1",null],"map":{"a":{"b":[]}},"on":false,"ratio":0.5}`,
		},
		"a list where text is accepted, too": {[]string{`some=["a", "b"]`}, `{"some":["a","b"]}`},
		"a text where a list is, too":        {[]string{`some={"a": 1}`}, `{"some":"{\"a\": 1}"}`},
		"all at once":                        {[]string{"--args", `{"count": 3, "name": "x", "any": null}`}, `{"any":null,"count":3,"name":"x"}`},
		"some at once, others added":         {[]string{"--args", `{"count": 3, "name": "x"}`, "name=y", "on=true"}, `{"count":3,"name":"y","on":true}`},
		"with values of memory":              {[]string{"--memory", "who=Ann", "name=hi {{who}} \\{{who}} ${who}", "any={{who}}"}, `{"any":"Ann","name":"hi Ann {{who}} Ann"}`},
		"none":                               {nil, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := toolProject(t).run(append([]string{"tool", "typed", "--json"}, tc.args...)...)
			r.want(t, 0)
			got := r.object(t)
			hasKeys(t, "tool", got, "tool ok text structured error kind durationMs")
			same(t, "arguments", canonical(t, tc.want), canonical(t, got["text"].(string)))
			if got["tool"] != "typed" || got["ok"] != true || got["error"] != "" || got["kind"] != "" {
				t.Errorf("%v", got)
			}
		})
	}
}

// canonical is a JSON text with its keys in order.
func canonical(t *testing.T, text string) map[string]any {
	t.Helper()
	return result{stdout: text}.object(t)
}

func TestToolRejectsInvalidCalls(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"no name":             {nil, []string{"tool needs the name of a tool", "trailblaze toolbox list"}},
		"unknown tool":        {[]string{"ecko"}, []string{`unknown tool "ecko"`, `did you mean "echo"?`}},
		"missing argument":    {[]string{"needs", "sku=a"}, []string{`missing argument "count"`, "it takes count (integer), sku (string)"}},
		"unknown argument":    {[]string{"typed", "kount=3"}, []string{`unknown argument "kount"`, `did you mean "count"?`}},
		"no number":           {[]string{"typed", "count=three"}, []string{`count must be a whole number`}},
		"not one of them":     {[]string{"typed", "kind=three"}, []string{`kind must be one of`}},
		"wrong in --args":     {[]string{"echo", "--args", `{"text": 5}`}, []string{`text must be text, not a number`}},
		"no value":            {[]string{"echo", "text"}, []string{`"text" is not ARGUMENT=VALUE`, "ARGUMENT=VALUE"}},
		"no argument's name":  {[]string{"echo", "=x"}, []string{`"=x" is not ARGUMENT=VALUE`}},
		"twice":               {[]string{"echo", "text=a", "text=b"}, []string{`argument "text" is given twice`}},
		"--args is a list":    {[]string{"echo", "--args", "[]"}, []string{"--args is not a JSON object"}},
		"--args is no JSON":   {[]string{"echo", "--args", "{text: a}"}, []string{"--args is not a JSON object"}},
		"nobody's value":      {[]string{"echo", "text={{who}}", "--memory", "how=x"}, []string{"unknown value {{who}} in text"}},
		"a name for nobody":   {[]string{"echo", "--memory", "my name=x"}, []string{`--memory: "my name" is not a valid name`}},
		"reserved":            {[]string{"take", "--args", `{"_trailblazeContext": {}}`}, []string{"_trailblazeContext"}},
		"no such target":      {[]string{"echo", "--target", "other"}, []string{`unknown target "other"`}},
		"--save alone":        {[]string{"echo", "--save", "a.trail.yaml"}, []string{"--save and --step must be used together; --step is missing"}},
		"--step alone":        {[]string{"echo", "--step", "A step"}, []string{"save"}},
		"a secret is missing": {[]string{"echo", "--secret", "TB_NO_SUCH_VARIABLE"}, []string{"TB_NO_SUCH_VARIABLE"}},
		"another flag":        {[]string{"echo", "--sav", "x"}, []string{"did you mean --save?"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := toolProject(t)
			r := p.run(append([]string{"tool", "--json"}, tc.args...)...)
			r.want(t, 3, tc.want...)
			hasKeys(t, "an error", r.object(t)["error"], "kind message hint details")
			same(t, "kind", "misuse", r.object(t)["error"].(map[string]any)["kind"])
			same(t, "stderr", "", r.stderr)
			same(t, "files", []string{"trailblaze.yaml"}, below(t, p.dir, "."))
		})
	}
}

func TestToolReportsResult(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string // parts of them; empty: nothing at all
		json           map[string]any
	}{
		"text": {
			[]string{"echo", "text=hi"}, 0, "hi\n", "", map[string]any{"tool": "echo", "ok": true, "text": "hi", "error": "", "kind": ""},
		},
		"structured content without text": {
			[]string{"quiet"},
			0, "{\"said\":\"nothing\"}\n", "",
			map[string]any{"tool": "quiet", "ok": true, "text": `{"said":"nothing"}`, "structured": map[string]any{"said": "nothing"}, "error": "", "kind": ""},
		},
		"nothing": {[]string{"echo"}, 0, "", "", map[string]any{"tool": "echo", "ok": true, "text": "", "error": "", "kind": ""}},
		"a tool that says no": {
			[]string{"fail"},
			1, "", "trailblaze: error: no, on purpose\n",
			map[string]any{"tool": "fail", "ok": false, "text": "", "error": "no, on purpose", "kind": "tool failed"},
		},
		"a check that does not hold": {
			[]string{"assertEquals", "expected=1", "actual=2"},
			1, "", "expected 1, found 2",
			map[string]any{"tool": "assertEquals", "ok": false, "text": "", "error": "expected 1, found 2", "kind": "tool failed"},
		},
		"a delegate that says no": {
			[]string{"delegate", `to=[{"tool":"echo"},{"tool":"fail"}]`},
			1, "", `delegate 2 of 2, tool "fail": no, on purpose`,
			map[string]any{"tool": "delegate", "ok": false, "text": "", "error": `delegate 2 of 2, tool "fail": no, on purpose`, "kind": "tool failed"},
		},
		"a delegate that nobody knows": {
			[]string{"delegate", `to=[{"tool":"echo"},{"tool":"ehco"}]`},
			1, "", `did you mean "echo"?`,
			map[string]any{
				"tool": "delegate", "ok": false, "text": "", "kind": "unknown tool",
				"error": `delegate 2 of 2: unknown tool "ehco"; did you mean "echo"? ` +
					"`trailblaze toolbox list` lists the tools of a scope",
			},
		},
		"the last of the delegates": {
			[]string{"delegate", `to=[{"tool":"echo"},{"tool":"deeper","args":{"levels":2}}]`},
			0, "the bottom\n", "",
			map[string]any{"tool": "delegate", "ok": true, "text": "the bottom", "error": "", "kind": ""},
		},
		"a tool that asks": {
			[]string{"ask", "tool=echo", `args={"text":"asked"}`},
			0, "asked\n", "",
			map[string]any{"tool": "ask", "ok": true, "text": "asked", "error": "", "kind": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := toolProject(t)
			human := p.run(append([]string{"tool"}, tc.args...)...)
			human.wantOutput(t, tc.code, tc.stdout, tc.stderr)
			if tc.stdout == "" && human.stdout != "" || tc.stderr == "" && human.stderr != "" {
				t.Errorf("stdout %q, stderr %q", human.stdout, human.stderr)
			}
			machine := p.run(append([]string{"tool", "--json"}, tc.args...)...)
			machine.want(t, tc.code)
			got := machine.object(t)
			if ms, ok := got["durationMs"].(float64); !ok || ms < 0 || machine.stderr != "" || strings.Count(machine.stdout, "\n") != 1 {
				t.Errorf("durationMs %v, stderr %q, stdout %q", got["durationMs"], machine.stderr, machine.stdout)
			}
			delete(got, "durationMs")
			same(t, "JSON", tc.json, got)
			same(t, "files", []string{"trailblaze.yaml"}, below(t, p.dir, "."))
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestToolWithBrokenServerIsError(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		kind string
		want string
	}{
		"a crash":                {[]string{"crash"}, "crashed", `crashed during tool "crash": exited with code 3`},
		"a delegate's crash":     {[]string{"delegate", `to=[{"tool":"crash"}]`}, "crashed", `crashed during tool "crash"`},
		"the crash of one asked": {[]string{"ask", "tool=crash"}, "crashed", "exited with code 3"},
		"nothing can go on":      {[]string{"fatal"}, "fatal", "the farm burns"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := toolProject(t)
			args := append([]string{"tool", "--save", "a.trail.yaml", "--step", "A step"}, tc.args...)
			r := p.run(append(args, "--json")...)
			r.want(t, 2, tc.want)
			same(t, "kind", tc.kind, r.object(t)["error"].(map[string]any)["kind"])
			same(t, "files", []string{"trailblaze.yaml"}, below(t, p.dir, "."))
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestToolOutputHasNoControlSequencesAndSecrets(t *testing.T) {
	t.Parallel()
	p := toolProject(t)
	const hostile = "a\x1b[2Jb\x1b]0;title\x07c\rd\u009be\tf"
	r := p.run("tool", "echo", "text="+hostile)
	r.want(t, 0)
	if strings.ContainsAny(r.stdout, "\x1b\x07\r\u009b") {
		t.Errorf("the terminal is sent %q", r.stdout)
	}
	r = p.run("tool", "echo", "--json", "text="+hostile)
	same(t, "text in JSON", any(hostile), r.object(t)["text"])
	if strings.ContainsAny(r.stdout, "\x1b\x07\r\u009b") {
		t.Errorf("JSON is %q", r.stdout)
	}
	r = p.run("tool", "fail", "text="+hostile)
	if strings.ContainsAny(r.stderr, "\x1b\x07\r\u009b") {
		t.Errorf("the terminal is sent %q", r.stderr)
	}
	for _, args := range [][]string{{"echo", "text={{TOKEN}} " + secret}, {"fail", "text=so {{TOKEN}}"}, {"typed", "any={{TOKEN}}"}, {"ecko{{TOKEN}}"}, {"echo", "x=" + secret}} {
		for _, format := range [][]string{{"--json"}, {"-v"}} {
			r := p.run(append(append([]string{"tool", "--secret", "TOKEN=" + secret}, format...), args...)...)
			noForm(t, "stdout", r.stdout, encodings.Of(secret))
			noForm(t, "stderr", r.stderr, encodings.Of(secret))
			if r.code == 0 && !strings.Contains(r.stdout, "{{TOKEN}}") {
				t.Errorf("%q: no placeholder in %q", args, r.stdout)
			}
		}
	}
	r = p.run("tool", "--secret", "X=@"+secret, "--secret", "TOKEN="+secret, "echo")
	r.wantErr(t, 3, "{{TOKEN}}")
	noForm(t, "stderr", r.stderr, encodings.Of(secret))
}

func TestToolResolvesScopeLikeRun(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":                      "mcpServers: []\n",
		"trailblaze-config/targets/one.yaml":   "id: one\nmcp_servers:\n" + fakeEntry("fake", "ok") + "platforms:\n  android: { app_ids: [com.example.one] }\n  ios: {}\n",
		"trailblaze-config/targets/other.yaml": "id: other\nplatforms:\n  web: {}\n",
	})
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"flags":            {[]string{"context", "--target", "one", "--driver", "ios-host", "--device-size", "3x4"}, 0, "TRAILBLAZE_DEVICE_DRIVER=ios-host"},
		"an app id":        {[]string{"context", "--target", "one", "--platform", "android"}, 0, `com.example.one`},
		"another target":   {[]string{"context", "--target", "other"}, 3, `unknown tool "context"`},
		"an open scope":    {[]string{"context"}, 3, "--target"},
		"an open platform": {[]string{"context", "--target", "one"}, 3, "--driver"},
		"a built-in":       {[]string{"assertMath", "expression=0.1 + 0.2", "expected=0.3", "--target", "other"}, 0, "0.3\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.run(append([]string{"tool"}, tc.args...)...).wantOutput(t, tc.code, tc.want)
		})
	}
}

func TestBuiltInToolsWithoutServer(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": "target: app\nplatform: web\n", "trails/a.trail.yaml": webTrail(`rememberValue: { name: n, value: 3 }`, `assertMath: { expression: "{{n}} + 1", expected: 4 }`)})
	p.run("tool", "dumpMemory", "--memory", "who=Ann", "--memory", "n=3", "--secret", "TOKEN=hush-hush").want(t, 0, `{"n":"3","who":"Ann"}`)
	p.run("tool", "assertNotEquals", `expected=[1]`, `actual=["1"]`).want(t, 0)
	p.run("tool", "wait", "seconds=0").want(t, 0, "waited 0s")
	p.run("tool", "wait", "seconds=1h").wantErr(t, 3, `seconds must be a number, not text`)
	p.run("tool", "rememberValue", "name=args.x", "value=1").wantErr(t, 1, "reserved")
	p.run("run", "--record", "trails/a.trail.yaml").want(t, 0)
	p.run("run").want(t, 0, "1 passed")
}

const savedTrail = `config:
  target: app
  memory:
    who: Ann
trail:
  - step: Say hello
    recording:
      web:
        - echo:
            text: "hi {{who}} {{TOKEN}}"
  - step: Say more
    recording:
      web-phone:
        - rememberValue:
            name: found
            value: '\{{x}} {{TOKEN}}'
        - echo:
            text: "{{found}}"
        - take:
            value:
              - 1
              - "1"
`

func TestToolSavesTrailThatRuns(t *testing.T) {
	t.Parallel()
	p := toolProject(t)
	p.env = append(p.env, "TOKEN="+secret)
	r := p.run("tool", "echo", "text=hi {{who}} "+secret, "--memory", "who=Ann", "--secret", "TOKEN", "--save", "new/a.trail.yaml", "--step", "Say hello")
	r.wantOutput(t, 0, "hi Ann {{TOKEN}}\n", "trailblaze: saved as a step of new/a.trail.yaml")
	same(t, "stdout", "hi Ann {{TOKEN}}\n", r.stdout)
	r = p.run("tool", "delegate", "--secret", "TOKEN", "--classifier", "web,phone", "--save", "new/a.trail.yaml", "--step", "Say more", "--json",
		`remember={"found":"\\{{x}} {{TOKEN}}"}`, `to=[{"tool":"echo","args":{"text":"\\{{found}}"}},{"tool":"unrecorded"},{"tool":"take","args":{"value":[1,"1"]}}]`)
	r.want(t, 0)
	hasKeys(t, "tool", r.object(t), "tool ok text error kind durationMs")
	same(t, "stderr", "", r.stderr)
	same(t, "the trail", savedTrail, p.read(t, "new/a.trail.yaml"))
	p.run("run", "new", "--secret", "TOKEN", "--classifier", "web,phone").want(t, 0, "1 passed")
}

func TestToolSavesIntoTrailOfAnyFormat(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ before, after string }{
		"with comments and line ends of its own": {
			"# mine\r\ntrail:\r\n    - step: one   # first\r\n      recording:\r\n          ios: [ ]\r\n# the end\r\n",
			"# mine\r\ntrail:\r\n    - step: one   # first\r\n      recording:\r\n          ios: [ ]\r\n" +
				"    - step: \"two: # 2\"\r\n      recording:\r\n          web:\r\n              - echo:\r\n                    text: x\r\n# the end\r\n",
		},
		"in braces": {
			"{ trail: [ { step: one, recording: { web: [] } } ] }   # mine\n",
			"{ trail: [ { step: one, recording: { web: [] } }, { step: \"two: # 2\", recording: { web: [{ echo: { text: x } }] } } ] }   # mine\n",
		},
		"in the list shape": {
			"- config: { id: legacy }\n- prompts:\n    - step: one\n      recording: { tools: [] }\n",
			"- config: { id: legacy }\n- prompts:\n    - step: one\n      recording: { tools: [] }\n" +
				"    - step: \"two: # 2\"\n      recording:\n        tools:\n          - echo:\n              text: x\n",
		},
		"that has no step": {
			"config: { title: mine }\n", "config: { title: mine }\ntrail:\n  - step: \"two: # 2\"\n    recording:\n      web:\n        - echo:\n            text: x\n",
		},
		"that is empty": {
			"\n", "config:\n  target: app\ntrail:\n  - step: \"two: # 2\"\n    recording:\n      web:\n        - echo:\n            text: x\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := toolProject(t)
			p.write("a.trail.yaml", tc.before)
			p.run("tool", "delegate", `to=[{"tool":"echo","args":{"text":"x"}}]`, "--save", "a.trail.yaml", "--step", "two: # 2").want(t, 0)
			same(t, "the trail", tc.after, p.read(t, "a.trail.yaml"))
			p.run("run", "a.trail.yaml", "--unrecorded", "skip").want(t, 0)
		})
	}
}

// TestToolSavesOnlySuccessfulCalls: and does not even call what could not be saved.
func TestToolSavesOnlySuccessfulCalls(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args   []string
		file   string
		before string
		code   int
		want   string
		called bool
	}{
		"it failed":            {[]string{"fail"}, "a.trail.yaml", webTrail("echo: {}"), 1, "no, on purpose", true},
		"its delegate failed":  {[]string{"delegate", `to=[{"tool":"echo"},{"tool":"fail"}]`}, "a.trail.yaml", "", 1, "delegate 2 of 2", true},
		"it is not recordable": {[]string{"unrecorded", "text=seen"}, "a.trail.yaml", webTrail("echo: {}"), 3, "not recordable, so its call cannot be saved", false},
		"nor what it delegates to": {
			[]string{"delegate", `to=[{"tool":"unrecorded"}]`}, "a.trail.yaml", webTrail("echo: {}"), 3, "the call is not saved", true,
		},
		"the file is no trail":   {[]string{"echo"}, "a.trail.yaml", "target: app\n", 3, "a.trail.yaml:1:1", false},
		"the name is no trail's": {[]string{"echo"}, "good", "", 3, "write --save good.trail.yaml", false},
		"another memory":         {[]string{"echo", "--memory", "who=Ann"}, "a.trail.yaml", "config: { memory: { who: Bob } }\n", 3, "memory: who has another value", false},
		"the file is no YAML":    {[]string{"echo"}, "a.trail.yaml", "trail: [\n", 3, "a.trail.yaml:1:8", false},
		"the file is a folder":   {[]string{"echo"}, "folder.trail.yaml", "", 3, "choose a --save file", false},
		"there is no such place": {[]string{"echo"}, "/proc/self/nowhere/a.trail.yaml", "", 3, "choose a --save file", false},
		"a step without text":    {[]string{"echo", "--step", " "}, "a.trail.yaml", "", 3, "--step is empty", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": strings.Replace(teamConfig(t), " }", ", env: { CALLS: calls } }", 1), "calls/.keep": "", "folder.trail.yaml/.keep": ""})
			if tc.before != "" {
				p.write(tc.file, tc.before)
			}
			args := append([]string{"tool", "--save", tc.file, "--step", "A step"}, tc.args...)
			p.run(args...).wantErr(t, tc.code, tc.want)
			if calls := below(t, p.dir, "calls"); (len(calls) > 1) != tc.called {
				t.Errorf("called: %q", calls)
			}
			if tc.before != "" {
				same(t, "the file", tc.before, p.read(t, tc.file))
			} else if _, err := os.Stat(p.path("a.trail.yaml")); err == nil {
				t.Error("a file was made")
			}
		})
	}
}

func TestToolSavesMemoryIntoTrail(t *testing.T) {
	t.Parallel()
	p := toolProject(t)
	p.write("a.trail.yaml", "config:\n  memory: { greeting: hi } # mine\ntrail:\n  - step: one\n    recording:\n      web:\n        - echo: { text: \"{{greeting}}\" }\n")
	p.run("tool", "echo", "text={{greeting}} {{who}}", "--memory", "who=Ann", "--memory", "greeting=hi", "--save", "a.trail.yaml", "--step", "two").want(t, 0)
	if text := p.read(t, "a.trail.yaml"); !strings.Contains(text, "memory: { greeting: hi, who: Ann } # mine") {
		t.Error(text)
	}
	p.run("run", "a.trail.yaml").want(t, 0, "1 passed")
}

func TestFailedToolShowsStderrOfServer(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig("noisy")})
	r := p.run("tool", "fail", "text=no", "--json")
	r.want(t, 1)
	logs, _ := r.object(t)["logs"].([]any)
	if len(logs) != 1 || !strings.Contains(p.serverLog("fake"), "fake: a line on stderr") {
		t.Errorf("logs %v of %q", logs, p.serverLog("fake"))
	}
	p.run("tool", "fail", "text=no").wantErr(t, 1, "error: no\n  the end of its server's stderr:\n", "\n    fake: a line on stderr\n", "\n  log: logs/fail_")
	before := below(t, p.dir, ".")
	p.run("tool", "echo", "text=hi").want(t, 0)
	p.run("tool", "ecko", "text=hi").want(t, 3)
	same(t, "files", before, below(t, p.dir, "."))
}

func TestToolKeepsEvidenceOfDevice(t *testing.T) {
	t.Parallel()
	var phones phones
	r, p := withPhones(t, &phones, phoneTrail("tap: {}"), "tool", "captureScreen")
	r.want(t, 0)
	if data, err := os.ReadFile(strings.TrimSpace(r.stdout)); err != nil || string(data) != "png" {
		t.Errorf("%q holds %q, %v, of %q", r.stdout, data, err, below(t, p.dir, "."))
	}
}

func TestVerboseToolShowsNestedCalls(t *testing.T) {
	t.Parallel()
	r := toolProject(t).run("tool", "-v", "delegate", `to=[{"tool":"ask","args":{"tool":"echo"}}]`)
	r.want(t, 0)
	var calls []string
	for line := range strings.Lines(r.stderr) {
		// A slow machine also gets a note that a server is waited for.
		if words := strings.Fields(line); len(words) > 0 && !slices.Contains([]string{"server", "✓", "note:", "hint:"}, words[0]) {
			calls = append(calls, strings.Split(strings.TrimRight(line, "\n"), " {")[0])
		}
	}
	same(t, "calls", []string{"    delegate", "      ask", "        echo"}, calls)
}

func TestToolHintsDoNotMentionTrails(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": strings.Replace(teamConfig(t), " }", ", callTimeout: 300ms }", 1)})
	for _, args := range [][]string{{"crash"}, {"hang"}, {"ask", "tool=hang"}, {"ask", "tool=crash"}} {
		r := p.run(append([]string{"tool"}, args...)...)
		if r.code == 0 || strings.Contains(r.stderr, "--retries") || strings.Contains(r.stderr, "timeout:`") {
			t.Errorf("%q: exit code %d, %s", args, r.code, r.stderr)
		}
	}
	p.run("tool", "echo", "text={{who}}").wantErr(t, 3, "pass --memory who=… or --secret who")
}

func TestToolReportsCallsNotSaved(t *testing.T) {
	t.Parallel()
	r := toolProject(t).run("tool", "askAndDelegate", `question={"tool":"echo"}`, `to=[{"tool":"echo"}]`, "--save", "a.trail.yaml", "--step", "A step")
	r.wantErr(t, 0, `trailblaze: warning: not saved: tool "askAndDelegate" called other tools before it delegated`)
}

func TestInterruptedToolLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		signal syscall.Signal
		code   int
		args   []string
	}{
		"SIGINT":         {syscall.SIGINT, 130, []string{"hang"}},
		"SIGTERM":        {syscall.SIGTERM, 143, []string{"hang"}},
		"in a delegate":  {syscall.SIGINT, 130, []string{"delegate", `to=[{"tool":"echo"},{"tool":"hang"}]`}},
		"in a call back": {syscall.SIGINT, 130, []string{"ask", "tool=hang", "--json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := toolProject(t)
			args := append([]string{"tool", "--save", "a.trail.yaml", "--step", "A step"}, tc.args...)
			code, output := signalled(t, p.command(args...), reached(t, p, "call"), tc.signal, false)
			if code != tc.code {
				t.Errorf("exit code %d, want %d\n%s", code, tc.code, output)
			}
			same(t, "files", []string{"reached-call", "trailblaze.yaml"}, below(t, p.dir, "."))
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestNumericSecretInStructuredResultIsRedacted(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject})
	p.run("tool", "structured", "--secret", "PIN=123456", "--json").want(t, 0, `"pin":"{{PIN}}"`)
}
