//go:build unix

package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const okProject = "target: app\nplatform: web\nmcpServers:\n  - name: fake\n    command: \"{{fake}}\"\n    env: { FAKE_SERVER: ok }\n"

func outcomes(t *testing.T, r result) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range ofType(r.events(t), "trail.finished") {
		file, _ := e["file"].(string)
		out[strings.TrimSuffix(filepath.Base(file), ".trail.yaml")], _ = e["outcome"].(string)
	}
	return out
}

func TestWorstOutcomeDeterminesExitCode(t *testing.T) {
	t.Parallel()
	const (
		pass     = "trail:\n  - step: s\n    recording: { web: [ { echo: {} } ] }\n"
		fail     = "trail:\n  - step: s\n    recording: { web: [ { fail: { text: no } } ] }\n"
		fatal    = "trail:\n  - step: s\n    recording: { web: [ { fatal: {} } ] }\n"
		agent    = "trail:\n  - step: s\n    recording: { android: [ { echo: {} } ] }\n"
		skip     = "config: { skip: later }\ntrail:\n  - step: s\n    recording: { web: [ { fail: {} } ] }\n"
		broken   = "trial: []\n"
		noStep   = "config: { title: nothing }\n"
		badArgs  = "trail:\n  - step: s\n    recording: { web: [ { echo: { text: 5 } } ] }\n"
		badTool  = "trail:\n  - step: s\n    recording: { web: [ { ecko: {} } ] }\n"
		badScope = "config: { target: nobody.knows }\ntrail:\n  - step: s\n    recording: { web: [ { echo: {} } ] }\n"
	)
	for name, tc := range map[string]struct {
		trails  map[string]string
		code    int
		outcome map[string]string
	}{
		"passed":             {map[string]string{"a": pass, "b": skip}, 0, map[string]string{"a": "passed", "b": "skipped"}},
		"failed":             {map[string]string{"a": pass, "b": fail}, 1, map[string]string{"a": "passed", "b": "failed"}},
		"no recording":       {map[string]string{"a": agent}, 1, map[string]string{"a": "failed"}},
		"unknown tool":       {map[string]string{"a": badTool}, 1, map[string]string{"a": "failed"}},
		"arguments misfit":   {map[string]string{"a": badArgs}, 1, map[string]string{"a": "failed"}},
		"error":              {map[string]string{"a": fatal, "b": fail}, 2, map[string]string{"a": "error", "b": "failed"}},
		"no executable step": {map[string]string{"a": noStep}, 3, map[string]string{"a": "error"}},
		"broken file":        {map[string]string{"a": broken, "b": fail}, 3, map[string]string{"a": "error", "b": "failed"}},
		"open scope":         {map[string]string{"a": badScope, "b": pass}, 3, map[string]string{"a": "error", "b": "passed"}},
		"2 beats 3":          {map[string]string{"a": broken, "b": fatal, "c": pass}, 2, map[string]string{"a": "error", "b": "error", "c": "passed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"trailblaze.yaml": okProject}
			for trail, text := range tc.trails {
				files["trails/"+trail+".trail.yaml"] = text
			}
			r := newProject(t, files).run("run", "--json")
			r.want(t, tc.code)
			for trail, want := range tc.outcome {
				if got := outcomes(t, r)[trail]; got != want {
					t.Errorf("%s is %s, want %s\n%s", trail, got, want, r.stdout)
				}
			}
			if last := ofType(r.events(t), "run.finished"); len(last) != 1 || int(last[0]["exitCode"].(float64)) != tc.code {
				t.Errorf("run.finished says %v", last)
			}
		})
	}
}

func TestExitCodesOfNothingMatchedAndMisuse(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("echo: {}"), "empty/x.txt": ""})
	p.run("run", "empty").wantErr(t, 4, "looked in empty\n")
	p.run("run", "!trails").wantErr(t, 4, "looked in "+filepath.Join(p.dir, "trails"))
	p.run("run", "--tags", "nobody").wantErr(t, 4, "nobody")
	p.run("run", "--tagz", "x").wantErr(t, 3, "did you mean --tags? `trailblaze run --help` lists the flags")
	p.run("rum").wantErr(t, 3, "did you mean \"run\"? `trailblaze --help` lists the commands")
	p.run("run", "--driver", "ios-hots").wantErr(t, 3, "ios-host")
	p.run("run", "--unrecorded", "maybe").want(t, 3)
	p.run("run", "--memory", "x").wantErr(t, 3, "NAME=VALUE")
	p.runIn(t.TempDir(), "run").wantErr(t, 3, "trailblaze.yaml", "trailblaze init")
}

func TestArgumentProblemsAreReportedBeforeFirstCall(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": webTrail("echo: { text: fine }", "echo: { text: 5 }", "ecko: {}", "sleep: { ms: soon }"),
	})
	r := p.run("run", "--json")
	r.want(t, 1, `text must be text`, "ecko", `did you mean "echo"`, `ms must be`, "a.trail.yaml:")
	if calls := ofType(r.events(t), "call.started"); len(calls) != 0 {
		t.Errorf("%d calls were made", len(calls))
	}
}

func TestFailFastAndLastFailed(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject, "trails/1.trail.yaml": webTrail("echo: {}"),
		"trails/2.trail.yaml": webTrail("fail: {}"), "trails/3.trail.yaml": webTrail("echo: {}"),
	})
	p.run("run", "--last-failed").wantErr(t, 3, "no last run")
	r := p.run("run", "--fail-fast", "--json")
	r.want(t, 1)
	if got := outcomes(t, r); len(got) != 2 || got["3"] != "" {
		t.Errorf("ran %v", got)
	}
	p.write("trails/2.trail.yaml", webTrail("echo: {}"))
	r = p.run("run", "--last-failed", "--json")
	r.want(t, 0)
	if got := outcomes(t, r); len(got) != 2 || got["1"] != "" {
		t.Errorf("--last-failed ran %v", got)
	}
	p.run("run", "--last-failed").wantErr(t, 0, "nothing to do")
	p.run("run", "--last-failed", "--json").want(t, 0, `"type":"run.finished"`)
}

func TestLastFailedIgnoresDeletedFiles(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject, "trails/1.trail.yaml": webTrail("fail: {}"), "trails/2.trail.yaml": webTrail("fail: {}"),
	})
	remove := func(name string) {
		if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p.run("run").want(t, 1)
	remove("trails/1.trail.yaml")
	r := p.run("run", "--last-failed", "--json")
	r.want(t, 1)
	if got := outcomes(t, r); len(got) != 1 || got["2"] != "failed" {
		t.Errorf("--last-failed ran %v", got)
	}
	remove("trails/2.trail.yaml")
	p.run("run", "--last-failed").wantErr(t, 0, "nothing to do")
}

func TestFailFastAndLastFailedWithRows(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": "config: { args: { say: { type: string } } }\n" + webTrail(`fail: { text: "{{args.say}}" }`),
		"trails/b.trail.yaml": "config: { args: { say: { type: string } } }\n" + webTrail(`echo: { text: "{{args.say}}" }`),
		"rows.yaml":           "- say: pass\n- say: no\n- say: pass\n",
	})
	finished := func(args ...string) string {
		r := p.run(append([]string{"run", "--json", "--args-file", "rows.yaml"}, args...)...)
		r.want(t, 1)
		var all []string
		for _, e := range ofType(r.events(t), "trail.finished") {
			file, _ := e["file"].(string)
			outcome, _ := e["outcome"].(string)
			all = append(all, filepath.Base(file)[:1]+" "+outcome)
		}
		return strings.Join(all, ", ")
	}
	if got := finished("--fail-fast"); got != "a passed, a failed" {
		t.Errorf("--fail-fast: %s", got)
	}
	if got := finished("--last-failed"); got != "a passed, a failed, a passed, b passed, b passed, b passed" {
		t.Errorf("--last-failed: %s", got)
	}
	if got := finished("--last-failed"); got != "a passed, a failed, a passed" {
		t.Errorf("--last-failed again: %s", got)
	}
}

func TestRetriesUseNewSessionAndReportFlaky(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("count: {}")})
	r := p.run("run", "--retries", "2", "--json")
	r.want(t, 0)
	done := ofType(r.events(t), "trail.finished")
	if len(done) != 1 || done[0]["attempts"] != 2.0 {
		t.Errorf("trail.finished: %v", done)
	}
	if sum := ofType(r.events(t), "run.finished"); sum[0]["flaky"] != 1.0 {
		t.Errorf("run.finished: %v", sum)
	}
	sessions := map[any]bool{}
	for _, e := range ofType(r.events(t), "server.started") {
		sessions[e["session"]] = true
	}
	if len(sessions) != 2 {
		t.Errorf("%d sessions, want 2", len(sessions))
	}
}

func TestDryRunMakesNoCalls(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("fail: {}"), "trails/b.trail.yaml": webTrail("ecko: {}"),
	})
	r := p.run("run", "--dry-run", "--json")
	r.want(t, 1, "ecko")
	if got := outcomes(t, r); got["a"] != "passed" || got["b"] != "failed" {
		t.Errorf("outcomes %v", got)
	}
	if len(ofType(r.events(t), "call.started")) != 0 || len(ofType(r.events(t), "server.started")) != 1 {
		t.Errorf("want one listing and no call:\n%s", r.stdout)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "logs")); err == nil {
		t.Error("a dry run left logs")
	}
}

func TestTagsSelectTrailsWithAnyOfThem(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": "config: { tags: [smoke] }\n" + webTrail("echo: {}"),
		"trails/b.trail.yaml": "config: { tags: [slow, nightly] }\n" + webTrail("echo: {}"),
		"trails/c.trail.yaml": webTrail("echo: {}"),
	})
	r := p.run("run", "--tags", "smoke,nightly", "--json")
	r.want(t, 0)
	if got := outcomes(t, r); len(got) != 2 || got["c"] != "" {
		t.Errorf("ran %v", got)
	}
}

func TestUnrecordedStepsFailOrAreSkipped(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/part.trail.yaml": webTrail("echo: {}") +
			"  - verify: looks nice\n    recordable: false\n  - step: elsewhere\n    recording: { ios-ipad: [ { echo: {} } ] }\n",
		"trails/whole.trail.yaml": "trail:\n  - step: elsewhere\n    recording: { ios: [ { echo: {} } ] }\n",
	})
	r := p.run("run", "--json")
	r.want(t, 1, "looks nice", "recordable: false", "looked for web", "recorded are ios")
	r = p.run("run", "--unrecorded", "skip", "--json")
	r.want(t, 0)
	if got := outcomes(t, r); got["part"] != "passed" || got["whole"] != "skipped" {
		t.Errorf("outcomes %v", got)
	}
	var steps []any
	for _, e := range ofType(r.events(t), "step.finished") {
		steps = append(steps, e["outcome"])
	}
	if got, _ := json.Marshal(steps); string(got) != `["passed","skipped","skipped"]` {
		t.Errorf("steps %s", got)
	}
}

func TestMemoryArgumentsAndSavedResultsInCalls(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/a.trail.yaml": `config:
  memory: { who: trail, n: 3 }
  args: { times: { type: integer, default: 2 } }
trail:
  - step: values
    recording:
      web:
        - echo: { text: '{"user":{"name":"Ada","tags":["x","y"]}}' }
          saveAs: saved
        - echo: { text: "{{who}} {{saved.user.name}} {{saved.user.tags.1}} {{ args.times }} \\{{literal}} ${who} ${unknown}" }
        - sleep: { ms: "{{args.times}}" }
        - remember: { name: later, value: "by tool" }
        - echo: { text: "{{later}}" }
`,
	})
	r := p.run("run", "--json", "--memory", "who=flag", "--arg", "times=5")
	r.want(t, 0, `"text":"flag Ada y 5 {{literal}} flag ${unknown}"`, `"args":{"ms":5}`, `"text":"by tool"`)
	p.write("trails/a.trail.yaml", webTrail(`echo: { text: "{{nobody}}" }`))
	r = p.run("run", "--json")
	r.want(t, 1, "nobody")
	if len(ofType(r.events(t), "call.started")) != 0 {
		t.Error("something was sent")
	}
}

func TestArgsFileRunsOneCasePerRow(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": "config: { title: rows, args: { who: { type: string } } }\n" + webTrail(`echo: { text: "{{args.who}}" }`),
		"rows.yaml":           "- who: Ada\n- who: Grace\n",
	})
	r := p.run("run", "--json", "--args-file", "rows.yaml")
	r.want(t, 0, `"row":1,`, `"title":"rows [who=Ada]"`, `"title":"rows [who=Grace]"`, `"text":"Ada"`, `"text":"Grace"`)
	p.run("run", "--list", "--args-file", "rows.yaml").want(t, 0, "rows [who=Ada]")
	p.run("run").want(t, 3, "who")
	p.run("run", "--arg", "whom=x").want(t, 3, "whom", "who")
}

func TestEnvelopesAndEnvironment(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":                    "target: app\nagent: host\n" + strings.TrimPrefix(okProject, "target: app\nplatform: web\n"),
		"trailblaze-config/targets/app.yaml": "id: app\ndisplay_name: The App\nplatforms:\n  android: { app_ids: [com.example.app] }\n",
		"trails/a.trail.yaml":                "config: { memory: { a: 1 } }\ntrail:\n  - step: s\n    recording: { android: [ { context: {} } ] }\n",
	})
	p.env = append(p.env, "NO_PROXY=corp.example", "INHERITED=yes")
	r := p.run("run", "--json", "--device-size", "1080x2400")
	r.want(t, 0)
	var got struct {
		Arguments map[string]any `json:"arguments"`
		Meta      map[string]any `json:"meta"`
		Env       []string       `json:"env"`
	}
	text, _ := ofType(r.events(t), "call.finished")[0]["text"].(string)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	inArgs, _ := json.Marshal(got.Arguments["_trailblazeContext"])
	wantArgs := `{"device":{"driverType":"android-ondevice-accessibility","heightPixels":2400,"platform":"ANDROID","widthPixels":1080},"memory":{"a":1}}`
	if string(inArgs) != wantArgs {
		t.Errorf("_trailblazeContext\n%s, want\n%s", inArgs, wantArgs)
	}
	meta, _ := got.Meta["trailblaze"].(map[string]any)
	if meta["invocationId"] != got.Meta["trailblazeInvocationId"] || meta["invocationId"] != "{{capability}}" {
		t.Errorf("invocation ids: %v", got.Meta)
	}
	if strings.Contains(r.stdout, `"session":"`) && meta["sessionId"] == "" {
		t.Error("no session id")
	}
	target, _ := json.Marshal(meta["target"])
	if want := `{"appId":"com.example.app","appIds":["com.example.app"],"displayName":"The App","id":"app"}`; string(target) != want {
		t.Errorf("target\n%s, want\n%s", target, want)
	}
	env := strings.Join(got.Env, "\n") + "\n"
	for _, want := range []string{
		"TRAILBLAZE_DEVICE_PLATFORM=ANDROID\n", "TRAILBLAZE_DEVICE_DRIVER=android-ondevice-accessibility\n",
		"TRAILBLAZE_DEVICE_WIDTH_PX=1080\n", "TRAILBLAZE_DEVICE_HEIGHT_PX=2400\n", "TRAILBLAZE_SESSION_ID=a_",
		"NO_PROXY=corp.example,127.0.0.1,localhost,::1\n", "no_proxy=corp.example,127.0.0.1,localhost,::1\n", "INHERITED=yes\n",
	} {
		if !strings.Contains(env, want) {
			t.Errorf("environment lacks %q", want)
		}
	}
}

func TestReservedArgumentIsRejected(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("echo: { _trailblazeContext: {} }")})
	p.run("run").want(t, 3, "_trailblazeContext", "reserved")
}

func TestUnwritableLogsAreOneWarning(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject + "logsDir: ./file/logs\n", "file": "in the way",
		"trails/a.trail.yaml": webTrail("echo: {}"), "trails/b.trail.yaml": webTrail("fail: {}"),
	})
	r := p.run("run", "--json")
	r.want(t, 1, "evidence cannot be written")
	warnings := slices.DeleteFunc(ofType(r.events(t), "log"), func(e map[string]any) bool { return e["level"] != "warn" })
	if len(warnings) != 1 {
		t.Errorf("want only the one warning, got %v", warnings)
	}
	if got := outcomes(t, r); got["a"] != "passed" || got["b"] != "failed" {
		t.Errorf("outcomes %v", got)
	}
	human := p.run("run")
	human.wantOutput(t, 1, "evidence cannot be written", "1 failed, 1 passed")
	if n := strings.Count(human.stdout+human.stderr, "warning:"); n != 1 {
		t.Errorf("%d warnings for people, want 1:\n%s%s", n, human.stdout, human.stderr)
	}
}

func TestSessionLogEqualsJSONOutput(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("echo: { text: hi }")})
	r := p.run("run", "--json")
	r.want(t, 0)
	log, err := os.ReadFile(filepath.Join(p.dir, "logs", "latest", "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		if !strings.Contains(r.stdout, line) {
			t.Errorf("the log has a line that stdout lacks: %s", line)
		}
	}
	for _, kind := range []string{"trail.started", "server.started", "step.started", "call.started", "call.finished", "step.finished", "trail.finished"} {
		if !strings.Contains(string(log), `"type":"`+kind+`"`) {
			t.Errorf("the log lacks %s", kind)
		}
	}
}

func TestTrailInTheWorkingDirectoryIsNamedAfterIt(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/login/trail.yaml": webTrail("echo: {}")})
	r := p.runIn(filepath.Join(p.dir, "trails", "login"), "run", "trail.yaml", "--json")
	r.want(t, 0, `"title":"login"`, `"session":"login_`)
}
