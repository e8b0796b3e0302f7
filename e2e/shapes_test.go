//go:build unix

package e2e_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// The fields of JSON output are a contract: every object has exactly those of the specification, section 10.

// hasKeys fails the test unless v is an object with exactly these keys.
func hasKeys(t *testing.T, what string, v any, keys string) {
	t.Helper()
	object, ok := v.(map[string]any)
	if got := strings.Join(slices.Sorted(maps.Keys(object)), " "); !ok || got != sorted(keys) {
		t.Errorf("%s has the keys\n%s, want\n%s\nin %v", what, got, sorted(keys), v)
	}
}

func sorted(words string) string {
	list := strings.Fields(words)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// object reads stdout, which is one JSON object.
func (r result) object(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	return v
}

// each calls f with the elements of a list that has some.
func each(t *testing.T, v any, f func(element any)) {
	t.Helper()
	list, _ := v.([]any)
	if len(list) == 0 {
		t.Errorf("%v is no list, or empty, so that nothing is shown", v)
	}
	for _, e := range list {
		f(e)
	}
}

func TestJSONOfDoctorCheckVersionAndInit(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     strings.Replace(okProject, "target:", "targett: x\ntarget:", 1),
		"trails/a.trail.yaml": "trail:\n  - step: one\n    recording: { web: [], ios: [] }\n  - step: two\n    recording: { web: [] }\n",
		"trails/b.trail.yaml": "config: { tags: [\"\"] }\n" + webTrail("echo: {}"), // a problem for which there is no hint
	})
	doctor := p.run("doctor", "--json").object(t)
	hasKeys(t, "doctor", doctor, "ok checks")
	each(t, doctor["checks"], func(c any) { hasKeys(t, "a check", c, "name status detail hint") })
	check := p.run("check", "--json").object(t)
	hasKeys(t, "check", check, "ok files problems warnings")
	for _, list := range []string{"problems", "warnings"} {
		each(t, check[list], func(c any) { hasKeys(t, list, c, "file line column message hint") })
	}
	hasKeys(t, "version", p.run("version", "--json").object(t), "version commit date modified go os arch")
	hasKeys(t, "init", p.run("init", "new", "--json").object(t), "files")
	failed := p.run("run", "--json").object(t)
	hasKeys(t, "an error", failed, "error")
	hasKeys(t, "an error", failed["error"], "kind message hint details")
}

func TestJSONOfToolboxList(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":                      okProject,
		"trailblaze-config/toolsets/talk.yaml": "id: talk\ntools: [echo, nobody]\n",
		"trailblaze-config/targets/app.yaml":   "id: app\nplatforms:\n  web: { tool_sets: [talk] }\n",
	})
	v := p.run("toolbox", "list", "--json").object(t)
	hasKeys(t, "toolbox list", v, "target driver platform agent tools skipped toolsets warnings")
	source := func(of any) {
		object, _ := of.(map[string]any)
		hasKeys(t, "a source", object["source"], "kind name")
	}
	each(t, v["tools"], func(e any) {
		hasKeys(t, "a tool", e, "name description source toolsets inputSchema isForLlm isRecordable isDelegating requiresHost requiresContext "+
			"supportedDrivers supportedPlatforms")
		source(e)
	})
	each(t, v["skipped"], func(e any) {
		hasKeys(t, "a skipped tool", e, "name source reason detail")
		source(e)
	})
	each(t, v["toolsets"], func(e any) {
		hasKeys(t, "a toolset", e, "id description platforms drivers alwaysEnabled defaultEnabled active tools")
	})
	each(t, v["warnings"], func(e any) {
		if _, ok := e.(string); !ok {
			t.Errorf("a warning is %v", e)
		}
	})
}

func TestJSONOfEveryRunEvent(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     noisyProject,
		"trails/a.trail.yaml": webTrail("echo: { text: hi }", "progress: {}", "fail: { text: no }"),
		"trails/b.trail.yaml": "config: { skip: later }\n" + webTrail("echo: {}"),
		"trails/c.trail.yaml": "trial: []\n",
	})
	own := map[string]string{
		"run.started":    "trails root dir version",
		"trail.started":  "file title target driver agent",
		"server.started": "server tools durationMs",
		"step.started":   "index of text kind",
		"call.started":   "call tool source args",
		"call.finished":  "call tool ok text error kind durationMs",
		"step.finished":  "index outcome",
		"trail.finished": "file title outcome flaky reason hint step stepText tool line snippet durationMs attempts artifacts",
		"run.finished":   "passed failed errors skipped flaky exitCode durationMs",
		"log":            "level source message",
	}
	seen := map[string]bool{}
	for i, e := range p.run("run", "--json").events(t) {
		kind, _ := e["type"].(string)
		seen[kind] = true
		place := " session trail"
		switch file, _ := e["trail"].(string); {
		case strings.HasPrefix(kind, "run."):
			place = ""
		case file != "trails/a.trail.yaml": // no session was opened
			place = " trail"
		}
		if kind == "log" && e["call"] != nil { // the progress of one
			place += " call"
		}
		hasKeys(t, kind, e, "v type time seq"+place+" "+own[kind])
		stamp, _ := e["time"].(string)
		if _, err := time.Parse(time.RFC3339, stamp); err != nil || e["v"] != 1.0 || e["seq"] != float64(i+1) {
			t.Errorf("record %d: %v: %v", i+1, err, e)
		}
	}
	if len(seen) != len(own) {
		t.Errorf("only these events were seen: %v", seen)
	}
}
