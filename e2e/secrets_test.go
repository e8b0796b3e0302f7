//go:build unix

package e2e_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/fakeserver/encodings"
)

// secret has what every encoding changes.
const secret = `s3cr"et/+ä&x=1`

func TestSecretIsRedactedInEveryEncoding(t *testing.T) {
	t.Parallel()
	forms := encodings.Of(secret)
	var leaks strings.Builder
	for _, form := range forms {
		quoted, _ := json.Marshal(form)
		leaks.WriteString("        - echo: { text: " + string(quoted) + " }\n")
	}
	for name, trail := range map[string]string{
		"passing": "", "failing": "        - fail: { text: \"no {{TOKEN}}\" }\n", "error": "        - bad: {}\n",
		"misfit": "        - sleep: { ms: \"{{TOKEN}}\" }\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml": strings.Replace(okProject, "ok }", "\"call:exit3\" }", 1),
				"trails/a.trail.yaml": "trail:\n  - step: s\n    recording:\n      web:\n        - echo: { text: \"{{TOKEN}}\" }\n          saveAs: kept\n" +
					"        - echo: { text: \"{{kept}} again\" }\n        - remember: { name: copy, value: \"{{TOKEN}}\" }\n        - context: {}\n" +
					leaks.String() + trail,
				"token.txt": secret + "\n",
			})
			p.env = append(p.env, "TOKEN="+secret)
			for _, given := range [][]string{{"--secret", "TOKEN"}, {"--secret", "TOKEN=@token.txt"}, {"--secret", "TOKEN=" + secret}} {
				for _, format := range [][]string{{"--json"}, {"-vv"}} {
					r := p.run(append(append([]string{"run", "--junit", "out.xml"}, given...), format...)...)
					if !strings.Contains(r.stdout, "{{TOKEN}}") {
						t.Errorf("the placeholder is missing, so the secret was not used:\n%s", r.stdout)
					}
					noForm(t, "stdout", r.stdout, forms)
					noForm(t, "stderr", r.stderr, forms)
				}
			}
			noFormBelow(t, filepath.Join(p.dir, "logs"), forms)
			noFormBelow(t, filepath.Join(p.dir, "out.xml"), forms)
		})
	}
}

func noForm(t *testing.T, where, text string, forms map[string]string) {
	t.Helper()
	for name, form := range forms {
		if strings.Contains(text, form) {
			t.Errorf("the %s form is in %s", name, where)
		}
	}
}

func noFormBelow(t *testing.T, root string, forms map[string]string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		noForm(t, path, string(data), forms)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestServerOutputIsRedactedInLogAndErrors: the server writes its forms a few bytes at a time, then crashes.
func TestServerOutputIsRedactedInLogAndErrors(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"--json", "-vv"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml": fakeConfig(`"call:exit3"`), "trails/a.trail.yaml": webTrail(`leak: { text: "{{TOKEN}}" }`, "bad: {}"),
			})
			r := p.run("run", format, "--secret", "TOKEN="+secret)
			r.want(t, 2, "code 3", "the end of its stderr", "base64url: <{{TOKEN}}>", "about to exit3 in call")
			noForm(t, "stdout", r.stdout, encodings.Of(secret))
			noForm(t, "stderr", r.stderr, encodings.Of(secret))
			noFormBelow(t, filepath.Join(p.dir, "logs"), encodings.Of(secret))
			log := p.serverLog("fake")
			// One stream may break into a line of the other, but not into a placeholder.
			if n, want := strings.Count(log, "{{TOKEN}}"), 2*len(encodings.Of(secret)); n != want {
				t.Errorf("the log has %d placeholders, want %d, for each form one from stderr and one from stdout:\n%s", n, want, log)
			}
		})
	}
}

func TestWarnsOfSecretTooShortToRedact(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig("ok"), "trails/a.trail.yaml": webTrail("echo: {}")})
	const warning = "secret PIN is not redacted: its value has fewer than 4 characters"
	const hint = "use a longer value, or expect it in output, logs and reports"
	for name, tc := range map[string]struct {
		pin, want string
		args      []string
	}{
		"run":           {"123", "warning: " + warning, []string{"run"}},
		"run --quiet":   {"123", "warning: " + warning, []string{"run", "-q"}},
		"run --json":    {"123", `"level":"warn","source":"run","message":"` + warning, []string{"run", "--json"}},
		"tool":          {"123", "warning: " + warning, []string{"tool", "echo"}},
		"its hint":      {"123", "hint: " + hint, []string{"run"}},
		"hint of tool":  {"123", "words; " + hint, []string{"tool", "echo"}},
		"tool -v":       {"123", "warning: " + warning, []string{"tool", "echo", "-v"}},
		"a long secret": {"1234", "", []string{"run"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := p.run(append(tc.args, "--secret", "PIN="+tc.pin)...)
			r.want(t, 0)
			output := r.stderr
			if slices.Contains(tc.args, "--json") {
				output = r.stdout
			}
			count := 0
			if tc.want != "" {
				count = 1
			}
			if strings.Count(output, "is not redacted") != count || !strings.Contains(output, tc.want) {
				t.Errorf("want %q %d times:\n%s", tc.want, count, output)
			}
		})
	}
}

func TestErrorsOutsideEventsAreRedacted(t *testing.T) {
	t.Parallel()
	const secret = `hunter2"ä&x`
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"syntax of --args-file": {[]string{"--args-file", "rows.yaml"}, 3, "rows.yaml:2"},
		"syntax of the project": {[]string{"--project", "broken"}, 3, "trailblaze.yaml:2"},
		"unwritable --junit":    {[]string{"--junit", secret + "/junit.xml"}, 3, "--junit"},
		"unknown trail":         {[]string{"trails/" + secret + ".trail.yaml"}, 4, "does not exist"},
		"unknown folder":        {[]string{"--project", secret}, 3, ""},
		"value of another flag": {[]string{"--unrecorded", secret}, 3, "unknown value"},
		"no value for --memory": {[]string{"--memory", secret}, 3, "NAME=VALUE"},
		"unknown target":        {[]string{"--target", secret}, 3, "unknown target"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("echo: {}"), secret: "in the way",
				"rows.yaml": "- who: ok\n- who: [" + secret + "\n", "broken/trailblaze.yaml": "target: app\nplatform: [" + secret + "\n",
			})
			args := append([]string{"run", "--secret", "TOKEN=" + secret}, tc.args...)
			human, machine := p.run(args...), p.run(append(args, "--json")...)
			human.wantErr(t, tc.code, tc.want, "{{TOKEN}}")
			machine.want(t, tc.code, tc.want)
			for _, r := range []result{human, machine} {
				noForm(t, "stdout", r.stdout, encodings.Of(secret))
				noForm(t, "stderr", r.stderr, encodings.Of(secret))
			}
		})
	}
}

func TestCommandLineErrorsAreRedacted(t *testing.T) {
	t.Parallel()
	const secret = `hunter2"&x`
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"unknown flag":               {[]string{"run", "--secret", "TOKEN=" + secret, "--bogus" + secret}, "unknown flag: --bogus{{TOKEN}}"},
		"value of another flag":      {[]string{"run", "--retries", secret, "--secret=TOKEN=" + secret}, "{{TOKEN}}"},
		"value from the environment": {[]string{"run", "--retries", "env-" + secret, "--secret", "FROM_ENV"}, "{{FROM_ENV}}"},
		"one dash too few":           {[]string{"run", "-secret=TOKEN=" + secret}, "-secret=TOKEN={{TOKEN}}"},
		"another secret is missing":  {[]string{"run", "--secret", "X=@" + secret, "--secret", "TOKEN=" + secret}, "--secret X: open"},
		"of the environment":         {[]string{"run", "--secret", "X=@env-" + secret, "--secret", "FROM_ENV"}, "{{FROM_ENV}}"},
		"of a file":                  {[]string{"run", "--secret", "X=@file-" + secret, "--secret", "TOKEN=@token.txt"}, "{{TOKEN}}"},
		"another, given later, too":  {[]string{"run", "--secret", "MISSING", "--secret", "X=@" + secret, "--secret", "TOKEN=" + secret}, "MISSING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "token.txt": "file-" + secret + "\n"})
			p.env = append(p.env, "FROM_ENV=env-"+secret)
			human, machine := p.run(tc.args...), p.run(append([]string{"--json"}, tc.args...)...)
			human.wantErr(t, 3, tc.want)
			machine.want(t, 3)
			for _, r := range []result{human, machine} {
				noForm(t, "stdout", r.stdout, encodings.Of(secret))
				noForm(t, "stderr", r.stderr, encodings.Of(secret))
			}
		})
	}
}

func TestUnreadableSecretsAreNamed(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject})
	p.run("run", "--secret", "TB_MISSING", "--secret", "EMPTY=", "--secret", "FILE=@nowhere.txt").wantErr(t, 3, "TB_MISSING", "EMPTY is empty", "nowhere.txt")
}

func TestFolderNamesAreRedacted(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/hunter2.trail.yaml": webTrail("fail: {}", "context: {}")})
	r := p.run("run", "--json", "--secret", "TOKEN=hunter2", "--junit", "out.xml")
	r.want(t, 1)
	noForm(t, "stdout", r.stdout, encodings.Of("hunter2"))
	sessions, err := filepath.Glob(filepath.Join(p.dir, "logs", "*_*"))
	if err != nil || len(sessions) != 1 || strings.Contains(sessions[0], "hunter2") {
		t.Errorf("%v: sessions %q", err, sessions)
	}
	noFormBelow(t, sessions[0], encodings.Of("hunter2"))
	noFormBelow(t, filepath.Join(p.dir, "out.xml"), encodings.Of("hunter2"))
}

func TestEnvelopesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject,
		"trails/a.trail.yaml": "config: { memory: { KEY: from trail, other: visible } }\ntrail:\n  - step: s\n    recording:\n      web:\n" +
			"        - remember: { name: copy, value: \"{{KEY}}\" }\n        - context: {}\n          saveAs: seen\n",
	})
	r := p.run("run", "--json", "--secret", "KEY=hush-hush-value")
	r.want(t, 0, "visible")
	noForm(t, "the envelope", r.stdout, map[string]string{"plain": "hush-hush-value"})
	if strings.Contains(r.stdout, `\"KEY\"`) {
		t.Errorf("the secret's name is in memory:\n%s", r.stdout)
	}
}

func TestMissingOrEmptySecretIsMisuse(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("echo: {}")})
	p.run("run", "--secret", "TB_NO_SUCH_VARIABLE").wantErr(t, 3, "TB_NO_SUCH_VARIABLE")
	p.run("run", "--secret", "X=@nowhere.txt").wantErr(t, 3, "nowhere.txt")
	p.run("run", "--secret", "X=").wantErr(t, 3, "empty")
}
