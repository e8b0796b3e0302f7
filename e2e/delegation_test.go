//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/fakeserver/encodings"
)

// teamConfig is a project file with a server whose tools delegate and call back.
func teamConfig(t *testing.T) string {
	t.Helper()
	script, err := filepath.Abs("../testdata/servers/delegate.mjs")
	if err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(script)
	return "target: app\nplatform: web\nmcpServers:\n  - { name: team, command: node, args: [" + string(quoted) + "] }\n"
}

// teamProject is a project with that server and one trail.
func teamProject(t *testing.T, trail string) *project {
	t.Helper()
	return newProject(t, map[string]string{"trailblaze.yaml": teamConfig(t), "trails/a.trail.yaml": trail})
}

// called lists the calls of a run as "1.1 name".
func (r result) called(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range ofType(r.events(t), "call.started") {
		out = append(out, fmt.Sprint(e["call"], " ", e["tool"]))
	}
	return out
}

// answered lists what the calls of a run answered, by their number.
func (r result) answered(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range ofType(r.events(t), "call.finished") {
		out[fmt.Sprint(e["call"])] = fmt.Sprint(e["text"], e["error"])
	}
	return out
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestListingHasMetadataOfTools(t *testing.T) {
	t.Parallel()
	var list struct {
		Tools []struct {
			Name         string
			Source       struct{ Kind, Name string }
			Toolsets     []string
			IsRecordable bool
		}
	}
	p := teamProject(t, webTrail("echo: {}"))
	if err := json.Unmarshal([]byte(p.run("toolbox", "list", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	var unrecorded, builtin []string
	for _, tool := range list.Tools {
		if !tool.IsRecordable {
			unrecorded = append(unrecorded, tool.Name)
		}
		switch tool.Source.Kind {
		case "builtin":
			builtin = append(builtin, tool.Name)
			toolset := []string{"memory"}
			if slices.Contains([]string{"reloadTools", "assertWithModel", "runTrail", "exec"}, tool.Name) {
				toolset = nil
			}
			same(t, tool.Name+": source and toolsets", append([]string{"trailblaze"}, toolset...), append([]string{tool.Source.Name}, tool.Toolsets...))
		case "device":
			same(t, tool.Name+": source and toolsets", []string{"web", "device"}, append([]string{tool.Source.Name}, tool.Toolsets...))
		default:
			same(t, tool.Name+": source", "server team", tool.Source.Kind+" "+tool.Source.Name)
		}
	}
	same(t, "not recordable", []string{"unrecorded"}, unrecorded)
	same(t, "built in", []string{"assertEquals", "assertNotEquals", "assertMath", "assertWithModel", "dumpMemory", "rememberValue", "runTrail", "wait", "exec", "reloadTools"}, builtin)
	p.run("toolbox", "list").want(t, 0, "memory\n", "assertMath       trailblaze", "dumpMemory")
}

func TestCollisionWithBuiltInTool(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"a run": {"run", "--json"}, "a listing": {"toolbox", "list", "--json"}, "a call": {"tool", "echo"}, "a dry run": {"run", "--dry-run", "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": strings.Replace(teamConfig(t), " }", ", env: { ALSO: assertEquals } }", 1), "trails/a.trail.yaml": webTrail("echo: {}")})
			r := p.run(args...)
			r.wantOutput(t, 2, `"assertEquals"`, "server team", "builtin trailblaze")
			if strings.Contains(r.stdout, "call.started") {
				t.Error("something was called")
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

// TestDelegatesInEveryPlaceOfResult has delegates in structured content, in text and in both, with and without the flag
// in the listing.
func TestDelegatesInEveryPlaceOfResult(t *testing.T) {
	t.Parallel()
	var calls, want []string
	for _, tool := range []string{"delegate", "sometimes"} {
		for _, where := range []string{"structured", "text", "both"} {
			calls = append(calls, fmt.Sprintf("%s: { to: [ { tool: echo, args: { text: %s } }, { tool: dumpMemory } ], where: %[2]s }", tool, where))
			n := len(calls)
			want = append(want, fmt.Sprint(n, " ", tool), fmt.Sprint(n, ".1 echo"), fmt.Sprint(n, ".2 dumpMemory"))
		}
	}
	r := teamProject(t, webTrail(calls...)).run("run", "--json")
	r.want(t, 0)
	same(t, "calls", want, r.called(t))
	same(t, "answer of the delegating call", "{}", r.answered(t)["1"])
}

func TestDelegatesAreShownBelowTheirCall(t *testing.T) {
	t.Parallel()
	p := teamProject(t, webTrail(
		`delegate: { to: [ { tool: echo, args: { text: first } }, { tool: deeper, args: { levels: 2 } }, { tool: assertEquals, args: { expected: 1, actual: 1 } } ] }`,
		`echo: { text: afterwards }`,
	))
	want := []string{"1 delegate", "1.1 echo", "1.2 deeper", "1.2.1 deeper", "1.2.1.1 echo", "1.3 assertEquals", "2 echo"}
	r := p.run("run", "--json")
	r.want(t, 0)
	same(t, "calls", want, r.called(t))
	var order []string
	for _, e := range r.events(t) {
		switch e["type"] {
		case "call.started":
			order = append(order, fmt.Sprint("begin ", e["call"], " of ", e["source"]))
		case "call.finished":
			order = append(order, fmt.Sprint("end ", e["call"]))
		}
	}
	same(t, "order", []string{
		"begin 1 of team", "begin 1.1 of team", "end 1.1", "begin 1.2 of team", "begin 1.2.1 of team", "begin 1.2.1.1 of team", "end 1.2.1.1",
		"end 1.2.1", "end 1.2", "begin 1.3 of trailblaze", "end 1.3", "end 1", "begin 2 of team", "end 2",
	}, order)
	log, err := os.ReadFile(filepath.Join(p.dir, "logs", "latest", "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "calls in events.ndjson", want, result{stdout: string(log)}.called(t))

	human := p.run("run", "-v")
	human.want(t, 0)
	rest := human.stdout
	for _, line := range []string{
		"\n    delegate {", "\n      echo {\"text\":\"first\"}\n", "\n      ✓ echo", "\n      deeper {\"levels\":2}\n", "\n        deeper {", "\n          echo {",
		"\n          ✓ echo", "\n        ✓ deeper", "\n      ✓ deeper", "\n      assertEquals {", "\n    ✓ delegate", "\n    echo {\"text\":\"afterwards\"}\n",
	} {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("%q is missing, or not where it belongs, in\n%s", line, human.stdout)
		}
		rest = "\n" + after
	}
}

func TestSixteenLevelsOfDelegation(t *testing.T) {
	t.Parallel()
	p := teamProject(t, webTrail("deeper: { levels: 16 }"))
	r := p.run("run", "--json")
	r.want(t, 0)
	calls := r.called(t)
	same(t, "the last call", "1"+strings.Repeat(".1", 16)+" echo", calls[len(calls)-1])
	recording := p.recording(t)
	if strings.Contains(recording, "deeper") || !strings.Contains(recording, "the bottom") {
		t.Errorf("recording\n%s", recording)
	}

	p.write("trails/a.trail.yaml", webTrail("deeper: { levels: 17 }"))
	r = p.run("run", "--json")
	r.want(t, 1, "calls within calls are nested 16 levels deep", "in a circle")
	if calls = r.called(t); len(calls) != 17 || strings.Contains(calls[16], "echo") {
		t.Errorf("calls %q", calls)
	}
}

// TestDelegatesAreCheckedBeforeFirstRuns has lists that begin with a valid call.
func TestDelegatesAreCheckedBeforeFirstRuns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rest string
		want []string
	}{
		"unknown tool":          {`{ tool: ehco }`, []string{`delegate 2 of 2: unknown tool "ehco"`, `did you mean "echo"?`}},
		"wrong type":            {`{ tool: echo, args: { text: 5 } }`, []string{`delegate 2 of 2: echo: text must be text`}},
		"missing argument":      {`{ tool: rememberValue, args: { name: x } }`, []string{`delegate 2 of 2: rememberValue: missing argument "value"`}},
		"unknown argument":      {`{ tool: echo, args: { txt: x } }`, []string{`unknown argument "txt"`, `did you mean "text"?`}},
		"everything is said":    {`{ tool: ehco }, { tool: echo }, { tool: rememberValue }`, []string{"delegate 2 of 4", `"ehco"`, "delegate 4 of 4", `"value"`}},
		"tokens are not judged": {`{ tool: needs, args: { sku: 1, count: '\{{n}}' } }`, []string{`delegate 2 of 2: needs: sku must be text`}},
		"no name":               {`{ args: {} }`, []string{"_trailblaze_delegates[1] in the result is not a call"}},
		"another key":           {`{ tool: echo, saveAs: x }`, []string{"_trailblaze_delegates[1] in the result is not a call"}},
		"arguments as text":     {`{ tool: echo, args: "text" }`, []string{"_trailblaze_delegates[1] in the result is not a call"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := teamProject(t, webTrail("delegate: { to: [ { tool: echo }, "+tc.rest+" ] }"))
			r := p.run("run", "--json")
			r.want(t, 1, tc.want...)
			same(t, "calls", []string{"1 delegate"}, r.called(t))
		})
	}
}

// TestFailedDelegateFailsCall also checks that later delegates are not called, at every level.
func TestFailedDelegateFailsCall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		to, outcome string
		code        int
		want        []string
	}{
		"it says no": {
			`{ tool: fail, args: { text: no means no } }`, "failed", 1, []string{`delegate 2 of 3, tool "fail": no means no`},
		},
		"one of its own does": {
			`{ tool: sometimes, args: { to: [ { tool: echo }, { tool: fail } ] } }`, "failed", 1,
			[]string{`delegate 2 of 3, tool "sometimes": delegate 2 of 2, tool "fail": no, on purpose`},
		},
		"a check does not hold": {
			`{ tool: assertEquals, args: { expected: 1, actual: 2, message: The count } }`, "failed", 1, []string{`tool "assertEquals": The count`},
		},
		"nobody knows its value": {
			`{ tool: echo, args: { text: '\{{nobody}}' } }`, "failed", 1, []string{`delegate 2 of 3, tool "echo": unknown value {{nobody}}`},
		},
		"its server crashes":             {`{ tool: crash }`, "error", 2, []string{`crashed during tool "crash": exited with code 3`}},
		"it says that nothing can go on": {`{ tool: fatal }`, "error", 2, []string{"the farm burns", "FatalError"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := teamProject(t, webTrail("delegate: { to: [ { tool: echo }, "+tc.to+", { tool: remember } ] }", "echo: { text: never }"))
			r := p.run("run", "--json")
			r.want(t, tc.code, tc.want...)
			same(t, "outcome", map[string]string{"a": tc.outcome}, outcomes(t, r))
			calls := r.called(t)
			if !slices.Contains(calls, "1.1 echo") || slices.Contains(calls, "1.3 remember") || slices.Contains(calls, "2 echo") {
				t.Errorf("calls %q", calls)
			}
			if n := len(ofType(r.events(t), "call.finished")); n != len(calls) {
				t.Errorf("%d calls began, %d ended", len(calls), n)
			}
			p.run("run").want(t, tc.code, append(tc.want, "trails/a.trail.yaml:5", "step 1: do it, tool delegate")...)
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestCallbackToDelegatingToolReturnsLastDelegate(t *testing.T) {
	t.Parallel()
	p := teamProject(t, webTrail(
		"ask: { tool: delegate, args: { to: [ { tool: remember, args: { name: seen, value: by Ann } }, { tool: echo, args: { text: '\\{{seen}}' } } ] } }",
		"ask: { tool: deeper, args: { levels: 2 } }",
		`assertEquals: { expected: by Ann, actual: "{{seen}}" }`,
	))
	r := p.run("run", "--json")
	r.want(t, 0)
	same(t, "calls", []string{
		"1 ask", "1.1 delegate", "1.1.1 remember", "1.1.2 echo", "2 ask", "2.1 deeper", "2.1.1 deeper", "2.1.1.1 echo", "3 assertEquals",
	}, r.called(t))
	answers := r.answered(t)
	same(t, "answers", []string{"by Ann", "the bottom"}, []string{answers["1"], answers["2"]})
	same(t, "recorded", []string{"ask", "ask", "assertEquals"}, p.recordedTools(t))

	p.write("trails/a.trail.yaml", webTrail("ask: { tool: delegate, args: { to: [ { tool: echo }, { tool: ehco } ] } }"))
	r = p.run("run", "--json")
	r.want(t, 1, "delegate 2 of 2", `"ehco"`)
	same(t, "calls", []string{"1 ask", "1.1 delegate"}, r.called(t))
	p.write("trails/a.trail.yaml", webTrail("ask: { tool: deeper, args: { levels: 15 } }", "ask: { tool: deeper, args: { levels: 16 } }"))
	r = p.run("run", "--json")
	r.want(t, 1, "16 levels deep")
	same(t, "the depth counts calls and delegates", "the bottom", r.answered(t)["1"])
}

func TestTokensAndSecretsInDelegates(t *testing.T) {
	t.Parallel()
	p := teamProject(t, "config: { memory: { who: Ann, order: { items: [ a, b ] } } }\n"+webTrail(
		`delegate: { remember: { found: "{{who}} \\{{x}} ${who}" }, to: [
            { tool: echo, args: { text: 'hi \{{who}}, \{{ order.items.1 }}' } },
            { tool: take, args: { value: [ '\{{order}}', { deep: '\{{found}}' } ] } },
            { tool: echo, args: { text: '\{{TOKEN}}' } } ] }`,
		`echo: { text: "{{found}}" }`,
	))
	r := p.run("run", "--json", "--secret", "TOKEN="+secret)
	r.want(t, 0)
	noForm(t, "stdout", r.stdout, encodings.Of(secret))
	noFormBelow(t, filepath.Join(p.dir, "logs"), encodings.Of(secret))
	answers := r.answered(t)
	same(t, "answers", map[string]string{
		"1.1": "hi Ann, b", "1.2": `[{"items":["a","b"]},{"deep":"Ann {{x}} Ann"}]`, "1.3": "{{TOKEN}}", "1": "{{TOKEN}}", "2": "Ann {{x}} Ann",
	}, answers)
	recording := p.recording(t)
	for _, text := range []string{`hi {{who}}, {{ order.items.1 }}`, `"{{order}}"`, `"{{found}}"`, `"{{TOKEN}}"`, `'Ann \{{x}}`} {
		if !strings.Contains(recording, text) {
			t.Errorf("the recording lacks %s:\n%s", text, recording)
		}
	}
	again := p.run("run", "--json", filepath.Join(p.session(t), "recording.trail.yaml"), "--secret", "TOKEN="+secret)
	again.want(t, 0)
	same(t, "what the replay answers", []string{answers["1.1"], answers["1.2"], answers["1.3"], answers["2"]},
		slices.DeleteFunc(inOrder(t, again), func(text string) bool { return text == "remembered found" }))
}

// inOrder lists what the calls of a run answered.
func inOrder(t *testing.T, r result) []string {
	t.Helper()
	var out []string
	for _, e := range ofType(r.events(t), "call.finished") {
		out = append(out, fmt.Sprint(e["text"]))
	}
	return out
}

func TestMemoryOfDelegatingCall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		calls []string
		tools []string
	}{
		"the last result is saved": {
			[]string{"delegate: { to: [ { tool: echo }, { tool: take, args: { value: { id: 7 } } } ] }\n          saveAs: got", `assertEquals: { expected: 7, actual: "{{got.id}}" }`},
			[]string{"echo", "take", "assertEquals"},
		},
		"that of a delegate's delegate": {
			[]string{"delegate: { to: [ { tool: deeper, args: { levels: 3 } } ] }\n          saveAs: got", `assertEquals: { expected: the bottom, actual: "{{got}}" }`},
			[]string{"echo", "assertEquals"},
		},
		"a delegate that is not recordable": {
			[]string{"delegate: { to: [ { tool: unrecorded }, { tool: echo } ] }"}, []string{"echo"},
		},
		"a value that no trail can name": {
			[]string{`delegate: { to: [ { tool: echo } ], remember: { "my name": x, args.y: x, ok: x } }`}, []string{"rememberValue", "echo"},
		},
		"nothing to delegate":          {[]string{"delegate: { to: [] }"}, nil},
		"done by the tool itself":      {[]string{"silent: {}"}, []string{"silent"}},
		"nothing but what it has kept": {[]string{"delegate: { to: [], remember: { a: x, b: y } }", `assertEquals: { expected: xy, actual: "{{a}}{{b}}" }`}, []string{"rememberValue", "rememberValue", "assertEquals"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := teamProject(t, "trail:\n  - step: all of it\n    recording:\n      web:\n        - "+strings.Join(tc.calls, "\n        - ")+"\n")
			p.run("run", "--json").want(t, 0)
			same(t, "recorded", tc.tools, p.recordedTools(t))
			r := p.run("run", "--json", filepath.Join(p.session(t), "recording.trail.yaml"))
			r.want(t, 0)
			var replayed []string
			for _, call := range r.called(t) {
				_, tool, _ := strings.Cut(call, " ")
				replayed = append(replayed, tool)
			}
			same(t, "replayed", tc.tools, replayed)
		})
	}
}

func TestFilesOfRunHaveNoCapability(t *testing.T) {
	t.Parallel()
	p := teamProject(t, webTrail("ask: { tool: tell }", "tell: {}", "delegate: { to: [ { tool: tell } ] }"))
	r := p.run("run", "--json")
	r.want(t, 0, "{{capability}}")
	for where, text := range map[string]string{"stdout": r.stdout, "the recording": p.recording(t)} {
		if capability.MatchString(text) {
			t.Errorf("an id is in %s:\n%s", where, text)
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(r.answered(t))) {
		if answer := r.answered(t)[tool]; answer != "{{capability}}" {
			t.Errorf("call %s answered %q", tool, answer)
		}
	}
}
