//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// Two trails on one project: the first meets the fault, the second must be unaffected. The fault is in the target
// "bad", the second trail is for the target "good".
func faultyProject(t *testing.T, behaviour string, call string, extra ...string) *project {
	return newProject(t, map[string]string{
		"trailblaze.yaml": "target: good\nplatform: web\n",
		"trailblaze-config/targets/bad.yaml": "id: bad\nmcp_servers:\n  - name: fake\n    command: \"{{fake}}\"\n" + strings.Join(extra, "") +
			"    env: { FAKE_SERVER: \"" + behaviour + "\" }\nplatforms:\n  web: {}\n",
		"trailblaze-config/targets/good.yaml": "id: good\nmcp_servers:\n  - name: fine\n    command: \"{{fake}}\"\n" +
			"    env: { FAKE_SERVER: ok }\nplatforms:\n  web: {}\n",
		"trails/1-bad.trail.yaml":  "config: { target: bad }\n" + webTrail("echo: { text: before }", call, "echo: { text: after }"),
		"trails/2-good.trail.yaml": webTrail("echo: { text: fine }"),
	})
}

func TestServerFaults(t *testing.T) {
	t.Parallel()
	const short, shortCall = "    startupTimeout: 1s\n", "    callTimeout: 1s\n"
	for name, tc := range map[string]struct {
		behaviour, call, extra string
		code                   int
		outcome                string
		want                   []string
	}{
		"exits at start":            {"start:exit3", "bad: {}", "", 2, "error", []string{"code 3", "about to exit3 in start"}},
		"exits in initialize":       {"initialize:exit3", "bad: {}", "", 2, "error", []string{"code 3", "about to exit3 in initialize"}},
		"refuses to initialize":     {"refuse", "bad: {}", "", 2, "error", []string{`"fake"`, "protocol error -32603", "not today"}},
		"exits in list":             {"list:exit3", "bad: {}", "", 2, "error", []string{"code 3", "about to exit3 in list"}},
		"exits in a call":           {"call:exit3", "bad: {}", "", 2, "error", []string{`"bad"`, "code 3", "about to exit3 in call"}},
		"exits between calls":       {"after:exit3", "exitAfter: {}", "", 2, "error", []string{"code 3", "about to exit3 in after"}},
		"exit code 0 in a call":     {"call:exit0", "bad: {}", "", 2, "error", []string{`"bad"`, "code 0", "about to exit0 in call"}},
		"exit code 0 between calls": {"after:exit0", "exitAfter: {}", "", 2, "error", []string{"code 0", "about to exit0 in after"}},
		"killed":                    {"call:KILL", "bad: {}", "", 2, "error", []string{`"bad"`, "signal KILL", "about to KILL"}},
		"segmentation fault":        {"call:SEGV", "bad: {}", "", 2, "error", []string{`"bad"`, "signal SEGV", "about to SEGV"}},
		"abort":                     {"call:ABRT", "bad: {}", "", 2, "error", []string{`"bad"`, "signal ABRT", "about to ABRT"}},
		"hangs at start":            {"start:hang", "bad: {}", short, 2, "error", []string{"1s", "startupTimeout", "about to hang in start"}},
		"hangs in initialize":       {"initialize:hang", "bad: {}", short, 2, "error", []string{"1s", "startupTimeout", "about to hang in init"}},
		"hangs in list":             {"list:hang", "bad: {}", short, 2, "error", []string{"list", "about to hang in list"}},
		"hangs in a call":           {"call:hang", "bad: {}", shortCall, 1, "failed", []string{`"fake"`, `"bad"`, "1s", "callTimeout"}},
		"ignores end of input":      {"ignore-eof", "echo: {}", "", 0, "passed", nil},
		"ignores SIGTERM":           {"ignore-eof,ignore-term", "echo: {}", "", 0, "passed", nil},
		"leaves grandchildren":      {"grandchild", "echo: {}", "", 0, "passed", nil},
		"grandchildren of a crash":  {"grandchild,call:exit3", "bad: {}", "", 2, "error", []string{"code 3"}},
		"says it is fatal":          {"ok", "fatal: {}", "", 2, "error", []string{"server fake", `"fatal"`, "the session cannot go on"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := faultyProject(t, tc.behaviour, tc.call, tc.extra)
			p.exitGrace = time.Second // for those that ignore the end of their input
			r := p.run("run", "--json")
			r.want(t, tc.code, tc.want...)
			finished := ofType(r.events(t), "trail.finished")
			if len(finished) != 2 || finished[0]["outcome"] != tc.outcome {
				t.Fatalf("want 2 trails, the first %s:\n%s", tc.outcome, r.stdout)
			}
			if tc.outcome == "error" {
				explained(t, finished[0], strings.Contains(tc.behaviour, ":"))
			}
			if finished[1]["outcome"] != "passed" {
				t.Errorf("the next trail is affected: %v", finished[1])
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestVerboseTwiceShowsStderrOfServers(t *testing.T) {
	t.Parallel()
	p := faultyProject(t, "call:hang", "bad: {}", "    callTimeout: 1s\n")
	const line = "fake stderr: fake: about to hang in call"
	r := p.run("run", "-vv", "--json")
	r.want(t, 1)
	shown, timedOut := strings.Index(r.stdout, line), strings.Index(r.stdout, `"kind":"timeout"`)
	if shown < 0 || shown > timedOut {
		t.Errorf("the line is at %d, the end of the call at %d:\n%s", shown, timedOut, r.stdout)
	}
	p.run("run", "--verbose", "--verbose").wantErr(t, 1, "debug: "+line)
	p.run("tool", "bad", "--target", "bad", "-vv").wantErr(t, 1, "debug: "+line)
	if r := p.run("run", "-v"); r.code != 1 || strings.Contains(r.stdout+r.stderr, "fake stderr") {
		t.Errorf("-v: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}

	p = newProject(t, map[string]string{"trailblaze.yaml": fakeConfig("list:exit3")})
	const listing = "debug: fake stderr: fake: about to exit3 in list"
	p.run("toolbox", "list", "-vv").wantErr(t, 2, listing)
	p.run("doctor", "--deep", "-vv").wantErr(t, 2, listing)
}

func TestHintNamesRetriesOnlyWhenTheRunHasNone(t *testing.T) {
	t.Parallel()
	p := faultyProject(t, "call:exit3", "bad: {}", "")
	p.run("run").want(t, 2, "--retries")
	for _, args := range [][]string{{"run", "--retries", "1"}, {"tool", "bad", "--target", "bad"}} {
		r := p.run(args...)
		r.wantOutput(t, 2, "hint: look for the reason in what it wrote")
		if strings.Contains(r.stdout+r.stderr, "--retries") {
			t.Errorf("%v names --retries:\n%s%s", args, r.stdout, r.stderr)
		}
	}
}

// explained fails the test unless the reason of an error names the server, has a hint and, if the server wrote
// anything, says where its log is; the log is there and among the artifacts.
func explained(t *testing.T, finished map[string]any, wrote bool) {
	t.Helper()
	reason, _ := finished["reason"].(string)
	if _, hint, _ := strings.Cut(reason, "\nhint: "); strings.TrimSpace(hint) == "" {
		t.Errorf("no hint:\n%s", reason)
	}
	if !wrote {
		return
	}
	artifacts, _ := finished["artifacts"].([]any)
	_, rest, _ := strings.Cut(reason, "  log: ")
	log, _, _ := strings.Cut(rest, "\n")
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), "fake: ") || !slices.Contains(artifacts, any(log)) {
		t.Errorf("log %q: %v; artifacts %v", log, err, artifacts)
	}
	if !strings.Contains(reason, `server "fake"`) {
		t.Errorf("the reason does not name the server:\n%s", reason)
	}
}

func TestServerExitDuringCallOfAnotherEndsSession(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n" +
			"  - { name: fake, command: \"{{fake}}\", env: { FAKE_SERVER: \"prefix,after:slow,after:exit3\" } }\n" +
			"  - { name: other, command: \"{{fake}}\", env: { FAKE_SERVER: ok } }\n",
		"trails/a.trail.yaml": webTrail("my_exitAfter: {}", "sleep: { ms: 60000 }"),
	})
	p.run("run", "--timeout", "50s").want(t, 2, `"fake"`, "code 3")
	spawntest.NoSurvivors(t, p.marker)
}

func TestCrashDuringStartOfAnotherEndsSession(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{ // the other one could start for a minute, twice the limit of the run
		"trailblaze.yaml":     fakeConfig(`"listed:up,listed:exit3"`) + fakeEntry("other", "prefix,start:hang"),
		"trails/a.trail.yaml": webTrail("echo: {}"),
	})
	p.run("run", "--timeout", "30s").want(t, 2, `"fake"`, "code 3", "hint: ")
	spawntest.NoSurvivors(t, p.marker)
}

func TestAllServerFailuresAreReported(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n" +
			"  - { name: first, command: \"{{fake}}\", env: { FAKE_SERVER: \"initialize:exit3\" } }\n" +
			"  - { name: second, command: \"{{fake}}\", env: { FAKE_SERVER: \"list:exit0\" } }\n",
		"trails/a.trail.yaml": webTrail("echo: {}"),
	})
	p.run("run").want(t, 2, `"first"`, "code 3", `"second"`, "code 0")
	spawntest.NoSurvivors(t, p.marker)
}

func TestCollidingNamesAreReportedTogether(t *testing.T) {
	t.Parallel()
	entry := func(name string) string {
		return "  - { name: " + name + ", command: \"{{fake}}\", env: { FAKE_SERVER: ok } }\n"
	}
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     "target: app\nplatform: web\nmcpServers:\n" + entry("one") + entry("two"),
		"trails/a.trail.yaml": webTrail("echo: {}"),
	})
	r := p.run("run")
	r.want(t, 2, `"echo"`, `"sleep"`, "server one", "server two")
	if n := strings.Count(r.stdout, "are defined by"); n != 2 { // at the trail and in the summary
		t.Errorf("the collision is reported %d times:\n%s", n, r.stdout)
	}
	p.run("toolbox", "list").wantErr(t, 2, `"echo"`, `"sleep"`, "server one", "server two")
	spawntest.NoSurvivors(t, p.marker)
}

func TestServerThatCannotStartIsNamedWithItsEntry(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":                    fakeConfig("ok") + "  - name: missing\n    command: ./no-such-program\n",
		"trailblaze-config/targets/app.yaml": "id: app\nmcp_servers:\n  - { name: broken, command: \"{{fake}}\", env: { FAKE_SERVER: \"initialize:exit3\" } }\n",
		"trails/a.trail.yaml":                webTrail("echo: {}"),
	})
	p.run("run").want(t, 2, `server "missing": start: the command`, "\n    its entry: trailblaze.yaml:7\n")
	p.write("trailblaze.yaml", fakeConfig("ok"))
	p.runIn(filepath.Join(p.dir, "trails"), "run").want(t, 2, "code 3", "its entry: "+filepath.Join(p.dir, "trailblaze-config/targets/app.yaml")+":3\n")
	p.run("toolbox", "list").wantErr(t, 2, "code 3", "\n  its entry: trailblaze-config/targets/app.yaml:3\n")
}

func TestMissingCommandIsReportedBeforeOtherServersStop(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     fakeConfig(`"start:wait"`) + "  - { name: missing, command: no-such-program }\n",
		"trails/a.trail.yaml": webTrail("echo: {}"),
	})
	p.exitGrace = 1500 * time.Millisecond
	r := p.run("run", "--json")
	r.want(t, 2, `server "missing": start: the command "no-such-program" is not on PATH; stopping the other servers`)
	events := r.events(t)
	errors := slices.IndexFunc(events, func(e map[string]any) bool { return e["level"] == "error" })
	waits := slices.IndexFunc(events, func(e map[string]any) bool {
		message, _ := e["message"].(string)
		return strings.Contains(message, "did not exit within 1.5s")
	})
	if errors < 0 || waits < 0 || errors > waits {
		t.Errorf("the error is event %d, the end of the other server event %d", errors, waits)
	}
	spawntest.NoSurvivors(t, p.marker)
}
