//go:build unix

package e2e_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

// ending is how the replay of a trail ended, and what it did.
type ending struct {
	Outcome, Tool string
	Step, Line    float64 // Step is 0 in a part
	Part          string
	Events        []string // of steps and calls
	Recording     string   // of a trail that passed
}

// alikeEvents returns the events of steps and calls without times and ports.
func alikeEvents(t *testing.T, events []map[string]any) []string {
	t.Helper()
	ports := regexp.MustCompile(`127\.0\.0\.1:\d+`)
	var out []string
	for _, e := range events {
		kind, _ := e["type"].(string)
		if !slices.Contains([]string{"step.started", "step.finished", "call.started", "call.finished"}, kind) {
			continue
		}
		e = maps.Clone(e)
		for _, key := range []string{"seq", "time", "session", "trail", "durationMs", "elapsedMs"} {
			delete(e, key)
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ports.ReplaceAllString(string(data), "127.0.0.1:PORT"))
	}
	return out
}

// alikeRecording returns the steps of a trail as text, with the paths that it uses relative to the trails.
func alikeRecording(t *testing.T, text string) string {
	t.Helper()
	if text == "" {
		return ""
	}
	file, problems := trail.Parse("recording", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, arg := range file.Config.Args {
		file.Config.Args[name] = trail.Arg{Type: arg.Type}
	}
	file.Config = trail.Config{Args: file.Config.Args}
	out, err := trail.Format(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(out), "use: trails/", "use: ")
}

// replayedByRun returns how run replayed a trail, and the event that started it.
func (p *project) replayedByRun(t *testing.T, path string, args ...string) (ending, map[string]any) {
	t.Helper()
	events := p.run(append([]string{"run", path, "--json"}, args...)...).events(t)
	started, finished := ofType(events, "trail.started"), ofType(events, "trail.finished")
	if len(finished) != 1 {
		t.Fatalf("%d trails finished: %v", len(finished), events)
	}
	e := finished[0]
	out := ending{Events: alikeEvents(t, events)}
	out.Outcome, _ = e["outcome"].(string)
	out.Tool, _ = e["tool"].(string)
	out.Step, _ = e["step"].(float64)
	out.Line, _ = e["line"].(float64)
	if used, ok := e["used"].(map[string]any); ok {
		out.Part, _ = used["file"].(string)
		out.Line, _ = used["line"].(float64)
		out.Step = 0
	}
	if len(started) == 0 {
		return out, nil
	}
	if id, _ := started[0]["session"].(string); id != "" && out.Outcome == "passed" {
		out.Recording = alikeRecording(t, p.read(t, filepath.Join(p.dir, "logs", id, "recording.trail.yaml")))
	}
	return out, started[0]
}

// replayedInSession returns how `session replay` replayed a trail in a session of its own, which has ended then.
func (p *project) replayedInSession(t *testing.T, name, path string, start, args []string) ending {
	t.Helper()
	p.start(t, append([]string{"--name", name}, start...)...)
	folder, _ := p.run("session", "status", "--session", name, "--json").object(t)["folder"].(string)
	r := p.run(append([]string{"session", "replay", path, "--session", name, "--json"}, args...)...)
	e := r.object(t)
	var out ending
	out.Outcome, _ = e["outcome"].(string)
	out.Tool, _ = e["tool"].(string)
	out.Step, _ = e["step"].(float64)
	out.Line, _ = e["line"].(float64)
	out.Part, _ = e["part"].(string)
	if e["error"] != nil {
		out.Outcome = "error"
	}
	if out.Part != "" {
		out.Step = 0
	}
	if out.Outcome == "passed" {
		r := p.run("session", "recording", name)
		r.want(t, 0)
		out.Recording = alikeRecording(t, r.stdout)
	}
	p.run("session", "end", name).wantOutput(t, 0)
	log := result{stdout: p.read(t, filepath.Join(folder, "events.ndjson"))}
	out.Events = alikeEvents(t, log.events(t))
	return out
}

// TestTrailIsReplayedAlikeByRunAndInSession replays trails with `run`, and with `session replay` in a new session that
// is ended then.
func TestTrailIsReplayedAlikeByRunAndInSession(t *testing.T) {
	t.Parallel()
	clean := teardown("echo: { text: one }", "echo: { text: two }")
	part := "config: { title: Greet, args: { name: {} }, memory: { greeting: hello } }\n" +
		"trailhead: { step: begin, recording: { web: { echo: { text: begin } } } }\n" +
		"trail:\n" + echo("{{greeting}}-{{args.name}}") + "  - use: trails/parts/deep.yaml\n"
	failing := "  - step: fails\n    recording: { web: [ { echo: { text: before } }, { fail: { text: no } }, { echo: { text: after } } ] }\n"
	const skipped = "config: { skip: { web: not here } }\n"
	for name, tc := range map[string]struct {
		trail   string
		parts   map[string]string
		outcome string
		project string // what the project has besides
		args    []string
	}{
		"passes": {trail: webTrail("echo: { text: a }", "structured: {}\n          saveAs: found", "echo: { text: \"{{found.user.name}}\" }"), outcome: "passed"},
		"arguments and memory": {
			trail:   "config: { args: { who: { default: ann } }, memory: { word: hi } }\ntrail:\n" + echo("{{word}} {{args.who}}"),
			outcome: "passed", args: []string{"--arg", "who=bob"},
		},
		"optional":          {trail: webTrail("fail: { text: no }\n          optional: true", "echo: { text: on }"), outcome: "passed"},
		"recorded as no-op": {trail: "trail:\n  - step: nothing\n    recording: { web: [] }\n" + echo("on"), outcome: "passed"},
		"skipped":           {trail: skipped + webTrail("echo: { text: never }"), outcome: "skipped"},
		"no step":           {trail: "trail: []\n", outcome: "error"},
		"fails":             {trail: "trail:\n" + echo("first") + failing + echo("never"), outcome: "failed"},
		"server breaks":     {trail: clean + webTrail("echo: { text: a }", "fatal: {}", "echo: { text: never }"), outcome: "error"},
		"teardown":          {trail: clean + webTrail("echo: { text: s }"), outcome: "passed"},
		"teardown after a failure": {
			trail: clean + "trail:\n" + failing + echo("never"), outcome: "failed",
		},
		"teardown fails":   {trail: teardown("fail: { text: left }", "echo: { text: on }") + webTrail("echo: { text: s }"), outcome: "failed"},
		"teardown invalid": {trail: teardown("ecko: {}") + webTrail("echo: { text: never }"), outcome: "failed"},
		"use in use": {
			trail: "config: { args: { who: { default: ann } } }\ntrail:\n  - use: parts/greet.yaml\n    args: { name: \"{{args.who}}\" }\n" + echo("{{args.who}}"),
			parts: map[string]string{"greet": part, "deep": "trail:\n" + echo("deep")}, outcome: "passed",
		},
		"teardown of parts": {
			trail: teardown("echo: { text: own }") + "trail:\n  - use: parts/greet.yaml\n    args: { name: eve }\n" + echo("s"),
			parts: map[string]string{
				"greet": strings.Replace(part, "config: {", "config: { teardown: [ { step: bye, recording: { web: [ { echo: { text: \"bye {{args.name}}\" } } ] } } ],", 1),
				"deep":  clean + "trail:\n" + echo("deep"),
			}, outcome: "passed",
		},
		"fails in use in use": {
			trail: clean + "trail:\n  - use: parts/greet.yaml\n    args: { name: eve }\n" + echo("never"),
			parts: map[string]string{"greet": part, "deep": clean + "trail:\n" + failing}, outcome: "failed",
		},
		"use skipped": {
			trail: "trail:\n  - use: parts/deep.yaml\n" + echo("on"),
			parts: map[string]string{"deep": skipped + "trail:\n" + echo("never")}, outcome: "passed",
		},
		"only use skipped": {
			trail: clean + "trail:\n  - use: parts/deep.yaml\n  - step: nothing\n    recording: { web: [] }\n",
			parts: map[string]string{"deep": skipped + "trail:\n" + echo("never")}, outcome: "skipped",
		},
		"invalid calls": {
			trail: clean + "trail:\n" + echo("never") + "  - use: parts/deep.yaml\n  - step: wrong\n    recording: { web: [ { ecko: {} } ] }\n",
			parts: map[string]string{"deep": "trail:\n" + webTrail("sleep: { ms: soon }")[len("trail:\n"):]}, outcome: "failed",
		},
		"misspelt argument": {trail: webTrail("echo: { text: a, txet: b }"), outcome: "passed"},
		"value undefined":   {trail: "trail:\n" + echo("a") + echo("{{nobody}}") + echo("never"), outcome: "failed"},
		"target": {
			trail: "config: { target: app }\n" + webTrail("echo: { text: a }"), outcome: "passed",
		},
		"target unknown": {trail: "config: { target: appp }\n" + webTrail("echo: { text: never }"), outcome: "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"trailblaze.yaml": okProject + tc.project, "trails/a.trail.yaml": tc.trail}
			for file, text := range tc.parts {
				files["trails/parts/"+file+".yaml"] = text
			}
			p := newProject(t, files)
			p.endSessions(t)
			ran, _ := p.replayedByRun(t, "trails/a.trail.yaml", tc.args...)
			if ran.Outcome != tc.outcome {
				t.Fatalf("run: %+v, want %s", ran, tc.outcome)
			}
			inSession := p.replayedInSession(t, "one", "trails/a.trail.yaml", nil, tc.args)
			if ran.Step == 0 && ran.Part == "" {
				ran.Line = 0 // that of the message
			}
			if diff := cmp.Diff(ran, inSession); diff != "" {
				t.Errorf("(-run +session):\n%s", diff)
			}
		})
	}
}

// TestReplayInASessionStopsWhereItCanBeRepaired is about the two differences: run goes on after a soft call that failed,
// and makes no call of a trail with a step that is not recorded.
func TestReplayInASessionStopsWhereItCanBeRepaired(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]string{
		"soft":         webTrail("echo: { text: a }", "fail: { text: no }\n          soft: true", "echo: { text: never }"),
		"not recorded": "trail:\n" + echo("a") + "  - step: by hand\n" + echo("never"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": steps})
			p.endSessions(t)
			ran, _ := p.replayedByRun(t, "trails/a.trail.yaml")
			inSession := p.replayedInSession(t, "one", "trails/a.trail.yaml", nil, nil)
			said := strings.Join(inSession.Events, "\n")
			ran.Events, inSession.Events, ran.Line, inSession.Line = nil, nil, 0, 0 // no call has a line if none is recorded
			if diff := cmp.Diff(ran, inSession); diff != "" {
				t.Errorf("(-run +session):\n%s", diff)
			}
			if ran.Outcome != "failed" || !strings.Contains(said, `"text":"a"`) || strings.Contains(said, "never") {
				t.Errorf("%+v\n%s", ran, said)
			}
		})
	}
}

// TestTrailsOfExampleAreReplayedAlike replays the trails of the example in sessions for the targets that they name.
func TestTrailsOfExampleAreReplayedAlike(t *testing.T) {
	t.Parallel()
	p := exampleProject(t, bunPath, "node")
	p.endSessions(t)
	trails, err := filepath.Glob(filepath.Join(p.dir, "trails", "*", "*.trail.yaml"))
	if err != nil || len(trails) < 15 {
		t.Fatal(trails, err)
	}
	if testing.Short() {
		trails = slices.DeleteFunc(trails, func(path string) bool {
			return !slices.Contains([]string{"checkout.trail.yaml", "apple-pay.trail.yaml", "buy-a-mug.trail.yaml"}, filepath.Base(path))
		})
	}
	for _, path := range trails {
		name := strings.TrimSuffix(filepath.Base(path), ".trail.yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ran, started := p.replayedByRun(t, path)
			target, _ := started["target"].(string)
			driver, _ := started["driver"].(string)
			start := []string{"--target", target, "--driver", driver}
			if strings.HasPrefix(driver, "android") {
				start = append(start, "--classifier", "android") // no phone is asked, as in run
			}
			inSession := p.replayedInSession(t, name, path, start, nil)
			if ran.Outcome == "error" || ran.Outcome == "" {
				t.Errorf("run: %+v", ran)
			}
			if slices.Contains([]string{"catalogue", "reorder", "stock-value"}, name) {
				// Tools that are not recordable, or delegate: run records what a replay would do without them, and a session
				// keeps what the file has.
				ran.Recording, inSession.Recording = "", ""
			}
			if diff := cmp.Diff(ran, inSession); diff != "" {
				t.Errorf("(-run +session):\n%s", diff)
			}
		})
	}
}

func TestReplayInASessionSaysWhyNothingWasDone(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": "config: { skip: { web: too slow } }\n" + webTrail("echo: { text: never }"),
		"trails/b.trail.yaml": webTrail("echo: { text: never }", "ecko: {}", "sleep: { ms: soon }"),
		"trails/c.trail.yaml": teardown("fail: { text: left }") + webTrail("echo: { text: on }"),
	})
	p.endSessions(t)
	p.start(t)
	p.run("session", "replay", "trails/a.trail.yaml").want(t, 0, "trails/a.trail.yaml is skipped on this device: too slow")
	b := p.run("session", "replay", "trails/b.trail.yaml")
	b.want(t, 1, `trails/b.trail.yaml failed at step 2 "do it" in ecko`, `did you mean "echo"`, "ms must be a whole number")
	b.wantErr(t, 1, "no call was made; correct the file, then replay it again")
	c := p.run("session", "replay", "trails/c.trail.yaml")
	c.want(t, 1, `failed at step 2 "clean up" in fail`, "the teardown did not pass: left")
	if strings.Contains(c.stderr, "make the calls that work") {
		t.Errorf("a teardown is not repaired:\n%s", c.stderr)
	}
}

// TestTrailOfCornerShopIsReplayedAlike is about positions in a trail, which are not references of the session.
func TestTrailOfCornerShopIsReplayedAlike(t *testing.T) { //nolint:tparallel // both write into one folder of logs
	t.Parallel()
	d := newPhoneDesk(t)
	d.endSessions(t)
	d.android()
	for _, platform := range []string{"web", "android"} {
		t.Run(platform, func(t *testing.T) {
			flags := []string{"--platform", platform, "--classifier", platform} // else a session records for what the phone is
			ran, _ := d.replayedByRun(t, "trails/see-an-order.trail.yaml", flags...)
			inSession := d.replayedInSession(t, platform, "trails/see-an-order.trail.yaml", flags, nil)
			if diff := cmp.Diff(ran, inSession); diff != "" || ran.Outcome != "passed" {
				t.Errorf("%s (-run +session):\n%s", ran.Outcome, diff)
			}
		})
	}
}
