//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/background"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// sessionProject is a project with a fake server of a behaviour. Its sessions end with the test.
func sessionProject(t *testing.T, behaviour string) *project {
	t.Helper()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`"` + behaviour + `"`)})
	p.endSessions(t)
	return p
}

// endSessions ends all sessions at the end of the test, and then fails it for what is left of them.
func (p *project) endSessions(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		p.run("session", "end", "--all").wantOutput(t, 0)
		spawntest.NoSurvivors(t, p.marker)
		for _, name := range below(t, p.sessionsDir(), ".") {
			if name != "lock" && !t.Failed() && !strings.HasSuffix(name, ".log") {
				t.Errorf("%s is left in the folder of the sessions", name)
			}
		}
	})
}

func (p *project) sessionsDir() string {
	for _, kv := range slices.Backward(p.env) {
		if dir, ok := strings.CutPrefix(kv, "TRAILBLAZE_CACHE_DIR="); ok {
			return filepath.Join(dir, "sessions")
		}
	}
	return ""
}

// start starts a session and returns its JSON.
func (p *project) start(t *testing.T, args ...string) map[string]any {
	t.Helper()
	r := p.run(append([]string{"session", "start", "--json"}, args...)...)
	if r.code != 0 {
		t.Fatalf("session start: %s%s", r.stdout, r.stderr)
	}
	return r.object(t)
}

// locked reports whether the process of a session holds its lock.
func (p *project) locked(t *testing.T, name string) bool {
	t.Helper()
	file, err := os.Open(filepath.Join(p.sessionsDir(), name+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// record is the record of a session in its folder.
func (p *project) record(t *testing.T, name string) background.Record {
	t.Helper()
	var r background.Record
	if err := json.Unmarshal([]byte(p.read(t, filepath.Join(p.sessionsDir(), name+".json"))), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSessionKeepsServersAndMemory(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	started := p.run("session", "start", "--memory", "who=Ann")
	started.want(t, 0)
	same(t, "stdout", "s1\n", started.stdout)
	started.wantErr(t, 0, "work in it with --session s1")

	tool := func(args ...string) result { return p.run(append([]string{"tool", "--session", "s1"}, args...)...) }
	tool("remember", "name=cart", "value=mug", "--step", "Fill the cart").want(t, 0)
	r := tool("echo", "text={{who}} has a {{cart}}", "--step", "Fill the cart")
	same(t, "stdout", "Ann has a mug\n", r.stdout)
	r.wantErr(t, 0, "recorded as part of step 1")
	tool("echo", "text=nothing").wantErr(t, 0, "not recorded", "--step TEXT")
	tool("structured", "--save-as", "answer").want(t, 0)
	tool("echo", "text={{answer.user.name}}", "--step", "Say it").want(t, 0, "Ada")

	failed := tool("fail", "text=no", "--step", "Say it")
	failed.wantErr(t, 1, "trailblaze: error: no")
	tool("sleep", "ms=x").wantErr(t, 3, "ms must be a whole number")
	tool("ecko").wantErr(t, 3, `did you mean "echo"?`)
	tool("echo", "text=a", "--verify", "It is a").want(t, 0)
	tool("echo", "text={{nobody}}").wantErr(t, 1, "unknown value {{nobody}}")

	machine := tool("echo", "text={{who}}", "--step", "Say it", "--json")
	got := machine.object(t)
	hasKeys(t, "tool", got, "tool ok text error kind durationMs session step recorded url changes events messages warnings")
	if got["text"] != "Ann" || got["session"] != "s1" || got["step"] != 4.0 || got["recorded"] != 1.0 {
		t.Errorf("%v", got)
	}

	status := p.run("session", "status", "--json").object(t)
	if status["steps"] != 4.0 || status["calls"] != 5.0 || status["state"] != "running" || status["unsaved"] != true {
		t.Errorf("%v", status)
	}
	same(t, "memory", []any{"answer", "cart", "who"}, status["memory"].([]any))
	p.run("session", "status").want(t, 0, "4 steps with 5 calls, not saved", "answer, cart, who")
	p.run("session", "list").want(t, 0, "s1", "app/playwright-native")

	p.run("session", "end").wantErr(t, 0, "session s1 ended; what it recorded was not saved", "recording.trail.yaml")
	p.run("session", "list").want(t, 0, "no sessions")
	tool("echo").wantErr(t, 3, `session "s1" does not exist`)
}

func TestSessionListsToolsOfScope(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	alone := p.run("toolbox", "list", "--json")
	p.start(t)
	for _, args := range [][]string{{}, {"--why"}, {"--group", "device"}, {"-v"}} {
		want, got := p.run(append([]string{"toolbox", "list"}, args...)...), p.run(append([]string{"toolbox", "list", "--session", "s1"}, args...)...)
		same(t, fmt.Sprint("listing with ", args), want.stdout, got.stdout)
	}
	p.env = append(p.env, "TRAILBLAZE_SESSION=s1")
	same(t, "JSON", alone.object(t), p.run("toolbox", "list", "--json").object(t))
}

func TestSessionIsSelected(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.run("session", "status").wantErr(t, 3, "no session is running for this project", "trailblaze session start")
	p.start(t, "--memory", "me=first")
	p.start(t, "--name", "second", "--memory", "me=second")
	p.run("session", "status").wantErr(t, 3, "2 sessions are running: s1, second")
	p.run("session", "status", "s1").want(t, 0)
	p.run("session", "start", "--name", "Second").wantErr(t, 3, "a session named second is already running")
	p.run("session", "start", "--name", "a/b").wantErr(t, 3, `"a/b" is not a valid name`)
	p.run("session", "status", "secnd").wantErr(t, 3, `session "secnd" does not exist`, `did you mean "second"?`)

	p.run("tool", "echo", "text=x", "--session", "").want(t, 0, "x")
	p.env = append(p.env, "TRAILBLAZE_SESSION=second")
	p.run("tool", "echo", "text={{me}}").want(t, 0, "second")
	p.run("tool", "echo", "text={{me}}", "--session", "s1").want(t, 0, "first")
	p.run("tool", "echo", "text={{me}}", "--session", "").wantErr(t, 3, "unknown value {{me}}")
	p.run("session", "status").want(t, 0, "second")

	other := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`""`)})
	other.env = append(slices.Clone(p.env), "TRAILBLAZE_SESSION=")
	other.run("session", "status").wantErr(t, 3, "no session is running for this project")
	for _, command := range [][]string{
		{"tool", "echo", "text=x", "--session"},
		{"snapshot", "--session"},
		{"toolbox", "list", "--session"},
		{"session", "status"},
		{"session", "recording", "--session"},
		{"session", "save", "trails/a.trail.yaml", "--session"},
		{"session", "replay", "trails/a.trail.yaml", "--session"},
		{"session", "end"},
	} {
		other.run(append(command, "s1")...).wantErr(t, 3, "s1 is a session of "+p.dir, "in that folder or with --project")
	}
	other.run("session", "status", "secnd").wantErr(t, 3, `session "secnd" does not exist`, "`trailblaze session list` lists the sessions")
	other.run("tool", "echo", "text={{me}}", "--session", "s1", "--project", p.dir).want(t, 0, "first")
	outside := newProject(t, nil)
	outside.env = other.env
	outside.run("tool", "echo", "text={{me}}", "--session", "s1").want(t, 0, "first")
	p.run("session", "end", "s1").wantErr(t, 0, "session s1 ended")
}

func TestSessionRefusesFlagsOfStart(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`""`)})
	for _, args := range [][]string{
		{"tool", "echo", "--target", "app"},
		{"tool", "echo", "--secret", "A=b"},
		{"tool", "echo", "--memory", "a=b"},
		{"tool", "echo", "--headed"},
		{"snapshot", "--browser", "x"},
		{"toolbox", "list", "--driver", "x"},
	} {
		p.run(append(args, "--session", "s1")...).wantErr(t, 3, "cannot be used in a session", "trailblaze session start")
	}
	p.run("tool", "echo", "--session", "s1", "--save", "a.trail.yaml", "--step", "x").wantErr(t, 3, "trailblaze session save FILE")
	p.run("tool", "echo", "--session", "s1", "--step", " ").wantErr(t, 3, "--step is empty")
	p.run("tool", "echo", "--session", "s1", "--step", "a", "--verify", "b").wantErr(t, 3, "cannot be used together")
	p.run("tool", "echo", "--verify", "x").wantErr(t, 3, "can be used only in a session")
	p.run("snapshot", "--find", "x").wantErr(t, 3, "can be used only in a session")
	p.run("snapshot", "https://example.com", "--session", "s1").wantErr(t, 3, "takes no URL in a session", "web_navigate")
	p.run("tool", "echo", "--session", "s1").wantErr(t, 3, `session "s1" does not exist`)
}

func TestSessionRecordingIsEdited(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.start(t)
	for _, step := range []string{"one", "two", "two", "three"} {
		p.run("tool", "echo", "text="+step, "--session", "s1", "--step", step).want(t, 0)
	}
	edit := func(args ...string) result { return p.run(append([]string{"session", "recording"}, args...)...) }
	steps := func(text string) []string { return matchesInOrder(`(?:step|text): (\w+)`, text) }
	same(t, "recording", []string{"one", "one", "two", "two", "two", "three", "three"}, steps(edit().stdout))
	same(t, "after drop", []string{"one", "one", "two", "two", "three", "three"}, steps(edit("--drop", "2.1").stdout))
	same(t, "after reword and move", []string{"last", "three", "one", "one", "two", "two"}, steps(edit("--reword", "3=last", "--move", "3=1").stdout))
	same(t, "after drop of a step", []string{"last", "three", "two", "two"}, steps(edit("--drop", "2", "s1").stdout))
	for args, want := range map[string]string{
		"--drop 9": "the recording has no step 9", "--drop 1.9": "has no call", "--move 1=x": `--move: "x" is not the number`,
		"--reword last": `--reword: "last" does not begin with`, "--drop=": "--drop is empty", "--replace 2.1": `--replace: "2.1" is not a call`,
	} {
		edit(strings.Fields(args)...).wantErr(t, 3, want)
	}
	same(t, "JSON", steps(edit().stdout), steps(edit("--json").object(t)["recording"].(string)))
}

func matchesInOrder(pattern, text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

func TestSessionIsSaved(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.start(t, "--memory", "who=Ann")
	p.run("session", "save", "trails/a.trail.yaml").wantErr(t, 3, "nothing was recorded")
	p.run("tool", "echo", "text={{who}}", "--session", "s1", "--step", "Greet").want(t, 0)
	p.run("session", "save", "a.trail.yaml").wantErr(t, 3, "only below trails")
	p.run("session", "save").wantErr(t, 3, "session save takes one file")
	p.run("session", "save", "trails/a.trail.yaml", "--title", "Greeting").want(t, 0, "+  - step: Greet", "the replay passed in", "saved trails/a.trail.yaml")
	p.run("run", "trails/a.trail.yaml").want(t, 0, "1 passed")
	same(t, "unsaved", false, p.run("session", "status", "--json").object(t)["unsaved"].(bool))
	p.run("session", "save", "./trails/a.trail.yaml").want(t, 0, "has these steps already")

	p.write("trails/a.trail.yaml", strings.Replace(p.read(t, "trails/a.trail.yaml"), "step: Greet", "step: Greet # kindly", 1))
	p.run("tool", "fail", "text=pass", "--session", "s1", "--step", "Then").want(t, 0)
	p.run("session", "save", "trails/a.trail.yaml").want(t, 0, "+  - step: Then", "saved trails/a.trail.yaml")
	if text := p.read(t, "trails/a.trail.yaml"); !strings.Contains(text, "# kindly") {
		t.Errorf("the comment is lost in\n%s", text)
	}
	p.run("session", "recording", "--reword", "1=Greet her").want(t, 0)
	p.run("session", "save", "trails/a.trail.yaml").wantErr(t, 3, "on the command line --overwrite")
	p.run("session", "save", "trails/a.trail.yaml", "--overwrite").want(t, 0, "saved trails/a.trail.yaml")

	p.run("tool", "count", "--session", "s1", "--step", "Only here").wantErr(t, 1)
	p.run("tool", "remember", "name=x", "value=y", "--session", "s1").want(t, 0)
	p.run("tool", "echo", "text={{x}}", "--session", "s1", "--step", "Only here").want(t, 0)
	before := p.read(t, "trails/a.trail.yaml")
	p.run("session", "save", "trails/b.trail.yaml").want(t, 1, "the replay failed at step 3", "unknown value {{x}}", "was not written")
	p.run("session", "save", "trails/b.trail.yaml", "--json").want(t, 1, `"written":false`, `"outcome":"failed"`)
	p.run("session", "save", "trails/b.trail.yaml", "--no-replay").want(t, 0, "saved trails/b.trail.yaml without a replay")
	same(t, "the other trail", before, p.read(t, "trails/a.trail.yaml"))
	if !strings.Contains(p.read(t, "trails/b.trail.yaml"), "replayed: false") {
		t.Error("the trail does not say that it was not replayed")
	}
}

// nextCommands replays the trails, one of which fails, and returns the arguments of the commands that the summary names,
// after the one that looks back at the session.
func (p *project) nextCommands(t *testing.T) (start, replay []string) {
	t.Helper()
	_, after, _ := strings.Cut(p.run("run").stdout, "or to repair the trail:\n")
	lines := strings.Split(after, "\n")
	session := strings.TrimPrefix(lines[0], "  trailblaze studio ")
	if _, err := os.Stat(filepath.Join(p.dir, "logs", session, "events.ndjson")); len(lines) < 3 || err != nil {
		t.Fatalf("the summary does not name the commands:\n%s", after)
	}
	words := func(line string) []string { return strings.Fields(strings.TrimPrefix(line, "  trailblaze ")) }
	return words(lines[1]), words(lines[2])
}

func TestSessionRepairsTrail(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.write("trails/a.trail.yaml", `config: { title: Repair me }
trail:
  - step: One # it works
    recording:
      web:
        - echo: { text: one }
  - step: Two
    recording:
      web:
        - fail: { text: broken }
        - echo: {text: two}
  - step: Three
    recording: { web: [ { echo: { text: three } } ] }
`)
	p.env = append(p.env, "TOKEN=s3cret'word")
	p.run("run", "--driver", "playwright-electron", "--memory", "who=Ann B s3cret'word", "--secret", "TOKEN=s3cret'word").want(t, 1,
		"  trailblaze session start --driver playwright-electron --memory 'who=Ann B {{TOKEN}}' --secret TOKEN\n"+
			"  trailblaze session replay trails/a.trail.yaml\n1 failed")
	start, replay := p.nextCommands(t)
	p.run(start...).want(t, 0, "s1")
	p.env = append(p.env, "TRAILBLAZE_PROGRAM=npx trailblaze")
	p.run("run").want(t, 1, "  npx trailblaze session start\n  npx trailblaze session replay trails/a.trail.yaml\n")
	p.run("session", "status", "s2").wantErr(t, 3, "`npx trailblaze session list`")
	p.run(replay...).wantOutput(t, 1,
		`trails/a.trail.yaml failed at step 2 "Two" in fail (trails/a.trail.yaml:10): broken`, `make the calls that work with --step "Two"`)
	p.run("tool", "fail", "text=pass", "--session", "s1", "--step", "Two").want(t, 0)
	p.run("session", "replay", "trails/a.trail.yaml").want(t, 0, "every step of trails/a.trail.yaml passed")
	p.run("session", "replay", "trails/b.trail.yaml").wantErr(t, 3, "trail trails/b.trail.yaml does not exist")
	p.run("session", "replay").wantErr(t, 3, "session replay takes one file")
	before := p.read(t, "trails/a.trail.yaml")
	p.run("session", "save", "trails/a.trail.yaml").want(t, 0, "saved trails/a.trail.yaml")
	same(t, "trail", strings.Replace(before, "broken", "pass", 1), p.read(t, "trails/a.trail.yaml"))
	p.run("run", "trails/a.trail.yaml").want(t, 0, "1 passed")
	p.run("session", "end").wantErr(t, 0, "session s1 ended\n")

	p.start(t)
	p.run("session", "replay", "trails/a.trail.yaml").want(t, 0, "every step of trails/a.trail.yaml passed")
	p.run("session", "status").want(t, 0, "3 steps with 4 calls\n")
	p.run("session", "end").wantErr(t, 0, "session s1 ended\n")
}

func TestSessionRepairsAPartOfTheTrail(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	const part = "trail:\n  - step: In part\n    recording: { web: [ { fail: { text: broken } } ] } # kept\n"
	p.write("shared/part.yaml", part)
	p.write("trails/a.trail.yaml", "trail:\n  - use: shared/part.yaml\n")
	p.start(t)
	p.run("session", "replay", "trails/a.trail.yaml").wantOutput(t, 1,
		`failed at step 1 "In part" in fail (shared/part.yaml:3)`, `make the calls that work with --step "In part"`)
	p.run("tool", "fail", "text=pass", "--session", "s1", "--step", "In part").want(t, 0)
	p.run("session", "replay", "trails/a.trail.yaml").wantOutput(t, 0, "every step of trails/a.trail.yaml passed",
		"`trailblaze session save trails/a.trail.yaml` writes what was repaired")
	p.run("session", "save", "trails/a.trail.yaml").want(t, 0, "saved shared/part.yaml, as trails/a.trail.yaml uses it")
	same(t, "part", strings.Replace(part, "broken", "pass", 1), p.read(t, "shared/part.yaml"))
	p.run("run", "trails/a.trail.yaml").want(t, 0, "1 passed")
}

func TestSessionOffersItsRepairToOtherTrails(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	const trail = "trail:\n  - step: One\n    recording: { web: [ { fail: { text: broken } } ] } # kept\n"
	const fails = "trail:\n  - step: Two\n    recording:\n      web:\n        - fail: {text: broken}\n        - fail: {text: still broken}\n"
	p.write("trails/a.trail.yaml", trail)
	p.write("shared/part.yaml", trail)
	p.write("trails/b.trail.yaml", "trail:\n  - use: shared/part.yaml\n")
	p.write("trails/c.trail.yaml", fails)
	p.start(t)
	p.run("session", "replay", "trails/a.trail.yaml").want(t, 1)
	p.run("tool", "fail", "text=pass", "--session", "s1", "--step", "One").want(t, 0)
	p.run("session", "save", "trails/a.trail.yaml").wantErr(t, 0, "2 other files have the same call as before its repair: "+
		"shared/part.yaml (1 call), trails/c.trail.yaml (1 call); `trailblaze session save trails/a.trail.yaml --also` changes them, too")
	same(t, "part", trail, p.read(t, "shared/part.yaml"))
	p.run("session", "save", "trails/a.trail.yaml", "--also").want(t, 1, "saved shared/part.yaml, too",
		"trails/c.trail.yaml was not changed: the replay of trails/c.trail.yaml with it failed: still broken")
	same(t, "part", strings.Replace(trail, "broken", "pass", 1), p.read(t, "shared/part.yaml"))
	same(t, "c", fails, p.read(t, "trails/c.trail.yaml"))
	p.run("session", "save", "trails/a.trail.yaml", "--also", "--no-replay").wantErr(t, 3, "other trails are changed only after a replay")
	p.run("run", "trails/b.trail.yaml").want(t, 0, "1 passed")
	saved, _ := p.run("session", "save", "trails/a.trail.yaml", "--json").object(t)["also"].([]any)
	if len(saved) != 1 {
		t.Fatalf("%v", saved)
	}
	hasKeys(t, "also", saved[0].(map[string]any), "file calls written")
}

func TestReplayOfASoundTrailHasNothingToSave(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.start(t)
	p.write("trails/sound.trail.yaml", "trail: [ { step: Wait, recording: { web: [ { wait: { seconds: 0 } } ] } } ]\n")
	if r := p.run("session", "replay", "trails/sound.trail.yaml"); strings.Contains(r.stderr, "what was repaired") {
		t.Errorf("nothing was repaired:\n%s", r.stderr)
	}
}

func TestSessionIsNamedByFlagOrArgument(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.start(t)
	p.run("session", "status", "--session", "s1").want(t, 0, "s1")
	p.run("session", "recording", "--session", "s1").want(t, 0)
	p.run("session", "status", "s1", "--session", "s2").wantErr(t, 3, "two sessions are named: s1 and --session s2")
	p.run("session", "end", "--session", "s1").wantErr(t, 0, "session s1 ended")
}

func TestToolsThatSaveAtOnceLoseNoStep(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`""`)})
	p.write("trails/s.trail.yaml", "# mine\ntrail:\n  - step: zero\n    recording: {web: [{wait: {seconds: 0}}]}\n")
	var running sync.WaitGroup
	for i := range 12 {
		running.Go(func() {
			p.run("tool", "echo", "text=hi", "--save", "trails/s.trail.yaml", "--step", fmt.Sprint("N", i)).wantErr(t, 0, "saved")
		})
	}
	running.Wait()
	if n := strings.Count(p.read(t, "trails/s.trail.yaml"), "step: N"); n != 12 {
		t.Errorf("%d of 12 steps are in the file", n)
	}
}

func TestSessionRepairsTrailhead(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	const text = "trailhead:\n  step: Begin\n  recording: { web: { fail: { text: broken } } }\n" +
		"trail:\n  - step: Go on\n    recording: { web: [ { echo: { text: on } } ] }\n"
	p.write("trails/a.trail.yaml", text)
	p.start(t)
	p.run("session", "replay", "trails/a.trail.yaml").wantOutput(t, 1, `failed at step 1 "Begin"`, `make the calls that work with --step "Begin"`)
	p.run("tool", "fail", "text=pass", "--session", "s1", "--step", "Begin").wantErr(t, 0, "recorded as part of step 1")
	p.run("session", "replay", "trails/a.trail.yaml").want(t, 0, "every step of trails/a.trail.yaml passed")
	p.run("session", "save", "trails/a.trail.yaml").want(t, 0, "saved trails/a.trail.yaml")
	if saved := p.read(t, "trails/a.trail.yaml"); !strings.HasPrefix(saved, "trailhead:\n  step: Begin\n") || strings.Contains(saved, "broken") {
		t.Errorf("saved:\n%s", saved)
	}
}

func TestSessionThatCannotStart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		config string
		args   []string
		code   int
		want   string
	}{
		"no project":     {"", nil, 3, "trailblaze init"},
		"bad project":    {"target: [\n", nil, 3, "trailblaze.yaml:1"},
		"unknown key":    {"taget: app\n", nil, 3, `unknown key "taget"`},
		"unknown driver": {fakeConfig(`""`), []string{"--driver", "x"}, 3, `unknown driver "x"`},
		"unknown device": {fakeConfig(`""`), []string{"--device", "x"}, 3, `--device "x"`},
		"crash":          {fakeConfig(`"initialize:exit3"`), nil, 2, "exited with code 3"},
		"no secret":      {fakeConfig(`""`), []string{"--secret", "TB_NO_SUCH_VARIABLE"}, 3, "TB_NO_SUCH_VARIABLE"},
		"idle":           {fakeConfig(`""`), []string{"--idle", "-1s"}, 3, "--idle -1s is less than 0"},
		"argument":       {fakeConfig(`""`), []string{"s1"}, 3, "takes no arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, nil)
			if tc.config != "" {
				p.write("trailblaze.yaml", tc.config)
			}
			r := p.run(append([]string{"session", "start"}, tc.args...)...)
			r.wantErr(t, tc.code, tc.want)
			same(t, "stdout", "", r.stdout)
			r = p.run(append([]string{"session", "start", "--json"}, tc.args...)...)
			r.want(t, tc.code, tc.want)
			hasKeys(t, "an error", r.object(t)["error"], "kind message hint details")
			spawntest.NoSurvivors(t, p.marker)
			if left, _ := filepath.Glob(filepath.Join(p.sessionsDir(), "*[^k]")); len(left) > 0 { // all but the file lock
				t.Errorf("%q is left", left)
			}
		})
	}
}

func TestSessionStartIsInterrupted(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`"grandchild,list:hang"`)})
	code, output := signalled(t, p.command("session", "start"), reached(t, p, "list"), syscall.SIGINT, false)
	result{code, output, ""}.want(t, 130, "interrupted")
	spawntest.NoSurvivors(t, p.marker)

	_ = os.Remove(p.path("reached-list"))
	killed := p.command("session", "start")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	reached(t, p, "list")()
	_ = killed.Process.Kill()
	_ = killed.Wait()
	spawntest.NoSurvivors(t, p.marker)
}

// TestSessionEndsByItself ends sessions in each way that is not session end. The next command says when and why.
func TestSessionEndsByItself(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		behaviour string
		args      []string
		end       func(t *testing.T, p *project, pid int)
		reason    string
	}{
		"idle": {"", []string{"--idle", "10ms"}, nil, "it had no request for 10ms"},
		"terminated": {"grandchild", nil, func(_ *testing.T, _ *project, pid int) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}, "terminated"},
		"killed": {"grandchild", nil, func(_ *testing.T, _ *project, pid int) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}, "its process was killed or crashed, or could not write why it ended"},
		"crash of a server": {"grandchild,call:exit3", nil, func(t *testing.T, p *project, _ int) {
			p.run("tool", "bad", "--session", "s1").wantErr(t, 2, "exited with code 3")
		}, "exited with code 3"},
		"fatal": {"grandchild", nil, func(t *testing.T, p *project, _ int) {
			p.run("tool", "fatal", "--session", "s1").wantErr(t, 2, "the session cannot go on")
		}, "the session cannot go on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sessionProject(t, tc.behaviour)
			pid := int(p.start(t, tc.args...)["pid"].(float64))
			if tc.end != nil {
				p.run("tool", "echo", "text=x", "--session", "s1", "--step", "Kept").want(t, 0)
				tc.end(t, p, pid)
			}
			await(func() bool {
				return p.run("session", "status", "s1").code == 2
			})
			for _, args := range [][]string{{"tool", "echo", "--session", "s1"}, {"session", "status"}, {"snapshot", "--session", "s1"}} {
				r := p.run(args...)
				r.wantErr(t, 2, "session s1 ended at ", tc.reason, "the log is "+p.sessionsDir())
				if tc.end != nil {
					r.wantErr(t, 2, "recording.trail.yaml")
				}
			}
			spawntest.NoSurvivors(t, p.marker)
			p.run("session", "list").want(t, 0, "ended", tc.reason)
			if _, err := os.Stat(filepath.Join(p.sessionsDir(), "s1.sock")); err == nil {
				t.Error("the socket is left")
			}
			same(t, "name", any("s2"), p.start(t)["session"])
			p.run("session", "end", "s1").wantErr(t, 0, "had ended already: ", tc.reason)
			p.run("session", "end", "s1").wantErr(t, 3, `session "s1" does not exist`)
		})
	}
}

// TestKilledSessionIsCleanedUp kills the process of a session. Its server does not notice it; other commands end it.
func TestKilledSessionIsCleanedUp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"run", "trails"}, {"doctor"}, {"session", "list"}, {"tool", "echo", "--session", "other"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			p := sessionProject(t, "grandchild,ignore-eof,ignore-term")
			p.write("trails/a.trail.yaml", webTrail("echo: {}"))
			pid := int(p.start(t)["pid"].(float64))
			left := spawntest.Survivors(p.marker)
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil || len(left) < 3 {
				t.Fatalf("%v, processes %q", err, left)
			}
			await(func() bool { return !p.locked(t, "s1") })
			p.write("trailblaze.yaml", fakeConfig(`""`))
			p.run(args...)
			spawntest.NoSurvivors(t, p.marker)
			if _, err := os.Stat(filepath.Join(p.sessionsDir(), "s1.sock")); err == nil {
				t.Error("the socket is left")
			}
		})
	}
}

func TestInterruptedCallLeavesSession(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "call:hang")
	p.start(t)
	code, output := signalled(t, p.command("tool", "bad", "--session", "s1"), reached(t, p, "call"), syscall.SIGINT, false)
	result{code, output, ""}.want(t, 130, "interrupted")
	p.run("tool", "rememberValue", "name=a", "value=b", "--session", "s1").wantOutput(t, 0)
	p.run("session", "status").want(t, 0, "s1")
}

func TestRequestsAreServedOneAfterAnother(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.start(t)
	var wg sync.WaitGroup
	const n = 8
	for i := range n {
		wg.Go(func() {
			p.run("tool", "echo", fmt.Sprintf("text=%d", i), "--session", "s1", "--step", fmt.Sprint("step ", i)).wantOutput(t, 0)
		})
	}
	wg.Wait()
	text := p.run("session", "recording").stdout
	for i := range n {
		if !strings.Contains(text, fmt.Sprintf("- step: step %d\n    recording:\n      web:\n        - echo:\n            text: \"%d\"\n", i, i)) {
			t.Errorf("no step %d in\n%s", i, text)
		}
	}
}

func TestSessionsStartAtOnce(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	var wg sync.WaitGroup
	names := make([]string, 3)
	for i := range names {
		wg.Go(func() { names[i] = strings.TrimSpace(p.run("session", "start").stdout) })
	}
	wg.Wait()
	slices.Sort(names)
	same(t, "names", []string{"s1", "s2", "s3"}, names)
	r := p.run("session", "end", "--all", "--json")
	r.want(t, 0)
	same(t, "ended", 3, len(r.object(t)["ended"].([]any)))
	p.run("session", "end", "s1", "--all").wantErr(t, 3, "cannot be used together")
}

func TestSecretsOfSession(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.env = append(p.env, "TOKEN=from-the-environment")
	p.write("secret.txt", "from-a-file\n")
	pid := int(p.start(t, "--secret", "TOKEN", "--secret", "FILE=@secret.txt", "--secret", "GIVEN=on-the-line")["pid"].(float64))
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if bytes.Contains(line, []byte("on-the-line")) {
		t.Errorf("the secret is on the command line %q", line)
	}
	r := p.run("tool", "echo", "text={{TOKEN}} {{FILE}} {{GIVEN}}", "--session", "s1", "--step", "Say from-a-file")
	same(t, "result", "{{TOKEN}} {{FILE}} {{GIVEN}}\n", r.stdout)
	recording := p.run("session", "recording").stdout
	if !strings.Contains(recording, `{{TOKEN}} {{FILE}} {{GIVEN}}`) || strings.Contains(recording, "from-a-file") {
		t.Errorf("%s", recording)
	}
	p.run("tool", "fail", "text={{GIVEN}}", "--session", "s1").wantErr(t, 1, "error: {{GIVEN}}")
	p.run("session", "status").want(t, 0, "FILE, GIVEN, TOKEN")
	for _, name := range below(t, p.sessionsDir(), ".") {
		path := filepath.Join(p.sessionsDir(), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && regexp.MustCompile(`from-the|from-a|on-the`).MatchString(p.read(t, path)) {
			t.Errorf("%s has a secret", name)
		}
	}
}

func TestSocketIsPrivate(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.start(t)
	r := p.record(t, "s1")
	for path, want := range map[string]os.FileMode{p.sessionsDir(): 0o700, r.Socket: 0o600, filepath.Dir(r.Socket): 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.Socket)
	}}}
	defer client.CloseIdleConnections()
	for body, want := range map[string]string{
		strings.Repeat(" ", 8<<20+1): "the request is larger than 8 MiB", "{": "read the request", `{"calls": [{"tool": "echo", "args": []}]}`: "are not an object",
	} {
		response, err := client.Post("http://session/step", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if !strings.Contains(string(answer), want) {
			t.Errorf("answer %s, want %q", answer, want)
		}
	}
	p.run("tool", "echo", "text=still here", "--session", "s1").want(t, 0, "still here")
}

func TestSessionOfAnotherVersion(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.start(t)
	other := func(args ...string) result {
		var out, errs bytes.Buffer
		sys := p.system(p.dir, &out, &errs, args...)
		sys.Build = cmd.Build{Version: "9.9"}
		return result{cmd.Main(sys), out.String(), errs.String()}
	}
	other("tool", "echo", "--session", "s1").wantErr(t, 3, "session s1 was started by trailblaze test, this is 9.9", "trailblaze session end s1")
	other("session", "list").want(t, 0, "s1")
	other("session", "end", "s1").wantErr(t, 0, "session s1 ended")
}

func TestLongPathOfCache(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`""`)})
	p.env = append(p.env, "TRAILBLAZE_CACHE_DIR="+filepath.Join(t.TempDir(), strings.Repeat("long", 40)))
	p.endSessions(t)
	p.start(t)
	socket := p.record(t, "s1").Socket
	p.run("tool", "echo", "text=x", "--session", "s1").want(t, 0, "x")
	p.run("session", "end").want(t, 0)
	if _, err := os.Stat(filepath.Dir(socket)); err == nil {
		t.Errorf("%s is left", filepath.Dir(socket))
	}
}

func TestSessionResetsTheAppBeforeEachReplayOfASave(t *testing.T) {
	t.Parallel()
	reset := func(command string) string { return fakeConfig(`""`) + "\nreset: " + command + "\n" }
	p := newProject(t, map[string]string{"trailblaze.yaml": reset("echo again >> resets.txt")})
	p.endSessions(t)
	p.start(t)
	p.run("tool", "echo", "text=hi", "--session", "s1", "--step", "Greet").want(t, 0)
	p.run("session", "save", "trails/a.trail.yaml", "--no-replay").want(t, 0)
	if _, err := os.Stat(p.path("resets.txt")); err == nil {
		t.Error("the app was reset without a replay")
	}
	p.run("session", "save", "trails/a.trail.yaml", "--replays", "3").want(t, 0, "3 replays passed")
	same(t, "resets", "again\nagain\nagain\n", p.read(t, "resets.txt"))
	p.run("run").want(t, 0, "1 passed")
	same(t, "resets after run", "again\nagain\nagain\n", p.read(t, "resets.txt"))

	for command, want := range map[string][]string{
		"echo out {{swordfish}}; echo details >&2; cat; exit 3": {"exited with code 3", "details", "out {{PIN}}"},
		"{command: 'echo waiting; sleep 600', timeout: 300ms}":  {"did not end within 300ms", "waiting", "raise timeout under reset"},
	} {
		p.write("trailblaze.yaml", reset(strings.Replace(command, "{{swordfish}}", "swordfish", 1)))
		name := p.start(t, "--secret", "PIN=swordfish")["session"].(string)
		p.run("tool", "echo", "text=hi", "--session", name, "--step", "Greet").want(t, 0)
		r := p.run("session", "save", "trails/b.trail.yaml", "--session", name)
		r.wantErr(t, 2, append(want, "the app could not be reset for the replay, so nothing was written: reset: the command")...)
		if _, err := os.Stat(p.path("trails/b.trail.yaml")); err == nil || strings.Contains(r.stderr, "swordfish") {
			t.Errorf("written, or the secret is shown:\n%s", r.stderr)
		}
	}
}
