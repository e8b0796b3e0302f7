//go:build unix

package e2e_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// softTrail has two calls with soft that fail, the second one in a trail that it uses, and calls that pass behind them.
func softTrail() map[string]string {
	return map[string]string{
		"trailblaze.yaml": okProject,
		"trails/a.trail.yaml": "trail:\n  - step: s\n    recording:\n      web:\n        - fail: { text: no total }\n          soft: true\n" +
			"        - echo: { text: on }\n  - use: parts/b.yaml\n" + echo("last"),
		"trails/parts/b.yaml": "trail:\n  - verify: v\n    recording:\n      web:\n        - fail: { text: no name }\n          soft: true\n",
	}
}

func TestSoftCallsFailTheTrailAtItsEnd(t *testing.T) {
	t.Parallel()
	p := newProject(t, softTrail())
	r := p.run("run", "--json")
	r.want(t, 1, `"soft":true`, `"index":1,"outcome":"failed"`, `"index":2,"outcome":"failed"`, `"index":3,"outcome":"passed"`,
		"soft call of fail failed, the trail fails at its end: no total", `"step":1,"stepText":"s","tool":"fail","line":5`,
		`"failures":[{"kind":"soft","reason":"no total","step":"1","stepText":"s","tool":"fail","file":"trails/a.trail.yaml","line":5},`+
			`{"kind":"soft","reason":"no name","step":"2.1","stepText":"v","tool":"fail","file":"trails/parts/b.yaml","line":5}]`)
	if got := texts(t, r); got != "on last" {
		t.Errorf("said %s", got)
	}
	list := []string{
		"2 failures, after which the trail went on. The first: soft failure: no total", `trails/a.trail.yaml:5: step 1 "s", fail: soft failure: no total`,
		`trails/parts/b.yaml:5: step 2.1 "v", fail: soft failure: no name`,
	}
	p.run("run", "--junit", "junit.xml", "--html", "out").want(t, 1, append(list, "1 failed")...)
	var junit struct {
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Failure []string `xml:"failure"`
		} `xml:"testsuite>testcase"`
	}
	data, err := os.ReadFile(filepath.Join(p.dir, "junit.xml"))
	if err == nil {
		err = xml.Unmarshal(data, &junit)
	}
	if err != nil || junit.Failures != 1 || len(junit.Cases) != 1 || len(junit.Cases[0].Failure) != 1 {
		t.Fatalf("%v\n%s", err, data)
	}
	html, err := os.ReadFile(filepath.Join(p.dir, "out", "index.html"))
	for _, want := range list {
		if !strings.Contains(junit.Cases[0].Failure[0], want) {
			t.Errorf("JUnit has no %q:\n%s", want, junit.Cases[0].Failure[0])
		}
		if escaped := strings.ReplaceAll(want, `"`, "&#34;"); err != nil || !strings.Contains(string(html), escaped) {
			t.Errorf("HTML has no %q: %v", escaped, err)
		}
	}
	if !strings.Contains(string(html), `<span class="kind">soft</span>`) {
		t.Error("HTML does not mark the call")
	}
}

func TestOneSoftFailureIsTheReason(t *testing.T) {
	t.Parallel()
	files := softTrail()
	files["trails/parts/b.yaml"] = "trail:\n" + echo("fine")
	p := newProject(t, files)
	p.run("run", "--json").want(t, 1, `"reason":"trails/a.trail.yaml:5: soft failure: no total"`)
	p.run("run", "--retries", "1").want(t, 1, "2 attempts", "soft failure: no total", "5 |         - fail: { text: no total }")
	kept, err := filepath.Glob(filepath.Join(p.dir, "logs", "a_*", "recording.trail.yaml"))
	if err != nil || len(kept) == 0 {
		t.Fatal(err, kept)
	}
	recorded, err := os.ReadFile(kept[0])
	if err != nil || !strings.Contains(string(recorded), "soft: true") {
		t.Errorf("recorded %v\n%s", err, recorded)
	}
}

func TestSoftFailureBesidesAnother(t *testing.T) {
	t.Parallel()
	files := softTrail()
	soft := files["trails/a.trail.yaml"]
	const last = `echo: { text: "last" }`
	for name, tt := range map[string]struct {
		from, to string
		code     int
		want     []string
	}{
		"a call that fails": {last, "fail: { text: broke }", 1, []string{
			"broke\n", "besides:", `step 1 "s", fail: soft failure: no total`, `"v", fail: soft failure: no name`,
		}},
		"a server that breaks": {"echo: { text: on }", "fatal: {}\n          soft: true", 2, []string{"besides:", "soft failure: no total"}},
		"a mistake":            {last, `echo: { text: "{{gone}}" }, soft: true`, 1, []string{"unknown value {{gone}}"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, files)
			p.write("trails/a.trail.yaml", strings.Replace(soft, tt.from, tt.to, 1))
			p.run("run").want(t, tt.code, tt.want...)
		})
	}
}

func TestSoftFailureInTeardown(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/a.trail.yaml": "config:\n  teardown:\n    - step: clean\n      recording:\n        web:\n          - fail: { text: dirty }\n" +
			"            soft: true\n          - echo: { text: cleaned }\ntrail:\n" + echo("on"),
	})
	r := p.run("run", "--json")
	r.want(t, 1, "in the teardown: soft failure: dirty")
	if got := texts(t, r); got != "on cleaned" {
		t.Errorf("said %s", got)
	}
}
