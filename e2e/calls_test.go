//go:build unix

package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

func TestTimeoutOfRecordedCallTakesPrecedence(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     fakeConfig(`"call:hang"`) + "    callTimeout: 50s\n",
		"trails/a.trail.yaml": webTrail("bad: {}\n          timeout: 350ms"),
	})
	p.run("run", "--json").want(t, 1, `"fake"`, `"bad"`, "350ms, the timeout of the recorded call", "`timeout:` in the trail")
	spawntest.NoSurvivors(t, p.marker)
}

func TestTimeoutNamesLimitOfEntry(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		behaviour, limit, want string
		code                   int
	}{
		"callTimeout":    {"call:hang", "callTimeout: 450ms", "450ms, the server's callTimeout", 1},
		"startupTimeout": {"start:hang", "startupTimeout: 450ms", "no handshake within 450ms, the limit for starting", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml": fakeConfig(tc.behaviour) + "    " + tc.limit + "\n", "trails/a.trail.yaml": webTrail("bad: {}"),
			})
			p.run("run").want(t, tc.code, `"fake"`, tc.want)
		})
	}
}

// TestRestartOnCrashBetweenCalls: the other server waits until the crash was noticed.
func TestRestartOnCrashBetweenCalls(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": fakeConfig(`"prefix,after:exit3"`) + "    restart: on-crash\n" + fakeEntry("other", "ok"),
		"trails/a.trail.yaml": webTrail(
			"my_exitAfter: {}", `awaitLog: { text: "crashed [(]1 of" }`, "my_echo: { text: from a fresh process }",
			"my_exitAfter: {}", `awaitLog: { text: "crashed [(]2 of" }`, "my_echo: { text: again }",
		),
	})
	r := p.run("run", "--json")
	r.want(t, 0, "crashed (1 of at most 3 times)", "crashed (2 of at most 3 times)", `"text":"from a fresh process"`, `"text":"again"`)
	spawntest.NoSurvivors(t, p.marker)
}

func TestSavedPathsInStructuredContent(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": webTrail("structured: {}\n          saveAs: seen", `echo: { text: "{{seen.user.name}} {{seen.user.tags.1}}" }`),
	})
	p.run("run", "--json").want(t, 0, `"text":"Ada y"`)
}

func TestProgressInLogAndOnTerminal(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("progress: {}")})
	r := p.run("run", "--json")
	r.want(t, 0)
	var found bool
	for _, e := range ofType(r.events(t), "log") {
		found = found || e["level"] == "info" && e["source"] == "progress" && e["message"] == "half-way there" && e["session"] != nil
	}
	if !found {
		t.Errorf("no log record with the progress:\n%s", r.stdout)
	}
	c := p.command("run", "-v")
	c.Env = append(c.Env, "NO_COLOR=", "TERM=xterm-256color")
	if drawn := onTerminal(t, c); !strings.Contains(drawn, "half-way there") {
		t.Errorf("the progress is not shown:\n%q", drawn)
	}
}

// TestProgressRestartsCallLimit has a tool that returns long after its limit, and reports progress.
func TestProgressRestartsCallLimit(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": webTrail("tick: { ms: 2500 }\n          timeout: 1500ms", "sleep: { ms: 2500 }\n          timeout: 1500ms"),
	})
	r := p.run("run", "--json")
	r.want(t, 1)
	if done := ofType(r.events(t), "call.finished"); len(done) != 2 || done[0]["ok"] != true || done[1]["kind"] != "timeout" {
		t.Errorf("want the call with progress to pass and the other to time out: %v", done)
	}
}

func TestReservedArgumentIsHiddenInListings(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("needsContext: {}")})
	p.run("run", "--json").want(t, 0, `{"_trailblazeContext":{"device":`)
	for _, args := range [][]string{{"--json"}, {"--why", "-v"}} {
		r := p.run(append([]string{"toolbox", "list"}, args...)...)
		r.want(t, 0, "needsContext")
		if strings.Contains(r.stdout, "_trailblazeContext") {
			t.Errorf("%v shows it:\n%s", args, r.stdout)
		}
	}
}

func TestRepeatedCursorEndsListingWithWarning(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig("same-cursor"), "trails/a.trail.yaml": webTrail("echo: {}")})
	p.run("run").wantOutput(t, 0, "repeats the cursor", "1 passed")
	r := p.run("toolbox", "list", "--json")
	r.want(t, 0, "repeats the cursor")
	var v struct {
		Tools    []struct{ Source struct{ Kind string } }
		Warnings []string
	}
	err := json.Unmarshal([]byte(r.stdout), &v)
	v.Tools = slices.DeleteFunc(v.Tools, func(t struct{ Source struct{ Kind string } }) bool { return t.Source.Kind != "server" })
	if err != nil || len(v.Tools) != fakeTools || len(v.Warnings) != 1 {
		t.Errorf("%v: %d tools, want %d; warnings %q", err, len(v.Tools), fakeTools, v.Warnings)
	}
}

func TestMisspeltArgumentOfOpenSchemaIsWarnedOf(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": webTrail("echo: { tetx: hi }", "fail: {}"),
	})
	const warning = `echo has no argument "tetx"; did you mean "text"?`
	for args, want := range map[string]string{
		"run --retries 2":        "warning: trails/a.trail.yaml:5:19: " + warning,
		"run --dry-run":          "warning: trails/a.trail.yaml:5:19: " + warning,
		"tool echo tetx=hi":      "warning: tool: " + warning,
		"tool echo text=hi":      "",
		"run --retries 2 --json": "",
	} {
		r := p.run(strings.Fields(args)...)
		n := 0
		if want != "" {
			n = 1
		}
		if strings.Count(r.stderr, warning) != n || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: want %q once:\n%s", args, want, r.stderr)
		}
	}
}

func TestStarterRejectsMisspeltArgument(t *testing.T) {
	t.Parallel()
	p := newProject(t, nil)
	p.run("init").want(t, 0)
	p.write("trails/greeting.trail.yaml", webTrail("greet: { nmae: Ada }"))
	p.run("run").want(t, 1, `unknown argument "nmae"`, `missing argument "name"`)
}
