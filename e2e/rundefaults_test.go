//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// titles returns the titles of the trails that a run replayed, in order.
func titles(t *testing.T, r result) string {
	t.Helper()
	var all []string
	for _, e := range ofType(r.events(t), "trail.finished") {
		all = append(all, fmt.Sprint(e["title"]))
	}
	return strings.Join(all, ", ")
}

func TestGrepAndRepeatEachSelectCases(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":          okProject,
		"trails/cart.trail.yaml":   "config: { title: Buy a Pizza }\n" + webTrail("echo: {}"),
		"trails/login.trail.yaml":  "config: { id: accounts/login, tags: [smoke] }\n" + webTrail("echo: {}"),
		"trails/broken.trail.yaml": "trial: []\n",
	})
	for _, tc := range []struct{ args, want string }{
		{"--grep pizza", "broken, Buy a Pizza"}, // a file that cannot be read may be any
		{"--grep ACCOUNTS/", "broken, accounts/login"},
		{"--grep trails/cart", "broken, Buy a Pizza"},
		{"--grep i --tags smoke !trails/broken*", "accounts/login"},
		{"trails/cart.trail.yaml --repeat-each 3", "Buy a Pizza (1 of 3), Buy a Pizza (2 of 3), Buy a Pizza (3 of 3)"},
	} {
		if got := titles(t, p.run(append([]string{"run", "--json"}, strings.Fields(tc.args)...)...)); got != tc.want {
			t.Errorf("%s ran %s, want %s", tc.args, got, tc.want)
		}
	}
	p.run("run", "--grep", "nobody", "trails/cart.trail.yaml").wantErr(t, 4, `no trail matches --grep "nobody"; trails found: 1`)
	p.run("run", "--repeat-each", "0").wantErr(t, 3, "--repeat-each 0 is less than 1")
	p.run("run", "--repeat-each", "1000000000").wantErr(t, 3, "--repeat-each 1000000000 is more than 10000")
}

func TestListStartsNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":          okProject + "run: { reporters: { junit: junit.xml } }\ndevices: { a: {}, b: {} }\n",
		"trails/cart.trail.yaml":   "config: { title: Buy, tags: [smoke] }\n" + webTrail("echo: {}"),
		"trails/broken.trail.yaml": "trial: []\n",
		"junit.xml":                "an earlier report",
	})
	r := p.run("run", "--list", "--repeat-each", "2", "--device", "a,b", "trails/cart.trail.yaml")
	r.want(t, 0)
	want := ""
	for _, device := range []string{"a", "b"} {
		for n := range 2 {
			want += fmt.Sprintf("trails/cart.trail.yaml  Buy (%d of 2) [%s]\n", n+1, device)
		}
	}
	if r.stdout != want {
		t.Errorf("listed\n%s\nwant\n%s", r.stdout, want)
	}
	r = p.run("run", "--list", "--json")
	r.want(t, 0, `"file":"trails/broken.trail.yaml"`, "unknown key", `"tags":["smoke"]`)
	p.run("run", "--list").wantErr(t, 0, "trails/broken.trail.yaml:1:1")
	p.run("run", "--list", "nothing").wantErr(t, 4, "nothing does not exist")
	if text, err := os.ReadFile(filepath.Join(p.dir, "junit.xml")); err != nil || string(text) != "an earlier report" {
		t.Errorf("the report of an earlier run is now %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "logs")); err == nil {
		t.Error("a list wrote logs")
	}
}

func TestProjectHasDefaultsOfRun(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject +
			"run:\n  retries: 1\n  fail_on_flaky: true\n  maxFailures: 2\n  reporters: { junit: out/junit.xml, html: out }\n",
		"trails/1.trail.yaml": webTrail("count: {}"), "trails/2.trail.yaml": webTrail("fail: {}"),
		"trails/3.trail.yaml": webTrail("echo: {}"),
	})
	r := p.run("run", "trails/1.trail.yaml")
	r.want(t, 1, "flaky: ", "1 passed (1 flaky)")
	r.wantErr(t, 1, "the run failed because of 1 flaky trail")
	for _, report := range []string{"junit.xml", "index.html"} {
		if _, err := os.Stat(filepath.Join(p.dir, "out", report)); err != nil {
			t.Error(err)
		}
	}
	again := func(args ...string) result { // with a call that fails the first time
		_ = os.Remove(filepath.Join(p.dir, "attempted"))
		return p.run(append([]string{"run"}, args...)...)
	}
	again("trails/1.trail.yaml", "--fail-on-flaky=false").want(t, 0, "1 passed (1 flaky)", "JUnit: out/junit.xml")
	again("trails/1.trail.yaml", "--retries=0").want(t, 1, "1 failed")
	again().want(t, 1, "1 failed, 1 passed (1 flaky), 1 not run") // both count as failures
	again("--max-failures=0").want(t, 1, "1 failed, 2 passed (1 flaky)", "[3/3] 3")
	p.run("run", "--fail-fast", "--max-failures", "2").wantErr(t, 3, "cannot be used together")
	p.write("trailblaze.yaml", okProject+"run: { timeout: 1ms }\n")
	p.run("run", "trails/3.trail.yaml").wantOutput(t, 124, "the run took longer than run.timeout 1ms")
}

func TestProjectNamesSecrets(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject + "secrets: [API_TOKEN]\n",
		"trails/a.trail.yaml": webTrail(`echo: { text: "{{API_TOKEN}}" }`, "context: {}"),
		".env":                "API_TOKEN=hunter2-hunter2\nOTHER=unseen\n",
	})
	r := p.run("run", "--json", "-v")
	r.want(t, 0, `"text":"{{API_TOKEN}}"`)
	for name, value := range r.contextEnv(t) {
		if name == "OTHER" || strings.Contains(value, "hunter2") {
			t.Errorf("the server got %s=%s", name, value)
		}
	}
	same := func(r result) {
		t.Helper()
		if all := r.stdout + r.stderr; r.code != 0 || strings.Contains(all, "hunter2") || !strings.Contains(all, "{{API_TOKEN}}") {
			t.Errorf("exit code %d\n%s", r.code, all)
		}
	}
	same(p.run("tool", "echo", "text={{API_TOKEN}}", "--json"))
	p.env = append(p.env, "API_TOKEN=hunter2-from-the-environment")
	same(p.run("run", "--json"))
	same(p.run("tool", "echo", "text={{API_TOKEN}} hunter2-from-the-environment"))
	p.env = p.env[:len(p.env)-1]

	p.write(".env", "API_TOKEN=\n")
	for _, flag := range []string{"--dry-run", "--fail-fast"} {
		r := p.run("run", flag)
		r.want(t, 1, "unknown value {{API_TOKEN}}")
		r.wantErr(t, 1, "the secret API_TOKEN has no value", "set API_TOKEN in the environment or in .env")
	}
	p.run("check").want(t, 0)
	p.run("run", "--secret", "API_TOKEN=hunter2-hunter2").want(t, 0)
	p.write(".env", "hunter2\n")
	if r := p.run("run"); r.code != 3 || !strings.Contains(r.stderr, ".env:1:1: this line does not set a variable") || strings.Contains(r.stderr, "hunter2") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
}

func TestReportsNameAttemptsVersionAndCommit(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": webTrail("count: {}"), "trails/b.trail.yaml": webTrail("fail: { text: broke }"),
		".git/HEAD":        "ref: refs/heads/main\n",
		".git/packed-refs": "# pack-refs\n0123456789012345678901234567890123456789 refs/heads/main\n",
	})
	p.env = append(p.env, "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE="+filepath.Dir(p.dir))
	r := p.run("run", "--retries", "1", "--junit", "junit.xml", "--html", "page", "--json")
	r.want(t, 1, `"version":"test","commit":"0123456789012345678901234567890123456789"`, `"earlier":[{"outcome":"failed","reason":`)
	r.wantErr(t, 1, "\n::error file="+filepath.Base(p.dir)+"/trails/b.trail.yaml,line=5,title=b::step 1: do it%0A", "\n::warning file=")
	for file, texts := range map[string][]string{
		"junit.xml": {
			`file="trails/b.trail.yaml" line="5"`, `<flakyFailure message=`, `<rerunFailure message="broke" type="failed">`,
			"<system-out>session b_", `<property name="trailblaze" value="test">`, `<property name="commit" value="0123`,
		},
		"page/index.html": {"trailblaze test", "commit 012345678901<"},
	} {
		data, err := os.ReadFile(filepath.Join(p.dir, file))
		for _, text := range texts {
			if err != nil || !strings.Contains(string(data), text) {
				t.Errorf("%s lacks %s: %v", file, text, err)
			}
		}
	}
}
