//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

const noisyProject = "target: app\nplatform: web\nmcpServers:\n  - name: fake\n    command: \"{{fake}}\"\n    env: { FAKE_SERVER: noisy }\n"

func TestServersDoNotWriteToStdout(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": noisyProject, "trails/a.trail.yaml": webTrail("echo: { text: hi }"), "trails/b.trail.yaml": webTrail("fail: {}"),
	})
	r := p.run("run", "--json")
	r.want(t, 1, "write to stderr")
	for _, e := range r.events(t) {
		if e["v"] != 1.0 || e["type"] == "" || e["time"] == "" || e["seq"] == nil {
			t.Errorf("not an event: %v", e)
		}
	}
	for _, args := range [][]string{{"toolbox", "list", "--json"}, {"doctor", "--json", "--deep"}, {"check", "--json"}, {"version", "--json"}} {
		r := p.run(args...)
		var v map[string]any
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || r.stderr != "" {
			t.Errorf("%v: %v\nstdout %s\nstderr %s", args, err, r.stdout, r.stderr)
		}
	}
}

func TestRunWarningsGoToStderr(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": noisyProject, "trails/a.trail.yaml": webTrail("echo: { text: hi }", "context: {}"),
	})
	for _, args := range [][]string{{"run"}, {"run", "-v"}, {"run", "-q"}} {
		r := p.run(args...)
		r.want(t, 0)
		if n := strings.Count(r.stderr, "carries the protocol"); n != 1 || strings.Contains(r.stdout, "carries the protocol") {
			t.Errorf("%v: the warning is %d times on stderr, and on stdout:\n%s", args, n, r.stdout)
		}
	}
}

func TestJSONErrorEnvelopeForMisuse(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": "targget: x\n"})
	for _, args := range [][]string{
		{"run", "--json"},
		{"--json", "rum"},
		{"run", "--json", "--nope"},
		{"run", "--nope", "--json"},
		{"--nope", "run", "--json"},
		{"run", "--retries", "many", "--json"},
		{"rum", "--json"},
		{"toolbox", "list", "--json"},
		{"doctor", "extra", "--json"},
		{"--json"},
	} {
		r := p.run(args...)
		var v struct {
			Error *struct {
				Kind, Message, Hint string
				Details             map[string]any
			}
		}
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || v.Error == nil || v.Error.Kind == "" || v.Error.Message == "" || v.Error.Details == nil {
			t.Errorf("%v: %v\n%s", args, err, r.stdout)
		}
		if r.code != 3 || r.stderr != "" {
			t.Errorf("%v: exit %d, stderr %q", args, r.code, r.stderr)
		}
	}
}

func TestToolboxListJSON(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":                          okProject,
		"trailblaze-config/toolsets/talk.yaml":     "id: talk\ndescription: talking\ntools: [echo, nobody]\n",
		"trailblaze-config/targets/app.yaml":       "id: app\nplatforms:\n  web: { tool_sets: [talk], excluded_tools: [fail] }\n",
		"trailblaze-config/targets/other-one.yaml": "id: other-one\nplatforms:\n  web: {}\n",
	})
	r := p.run("toolbox", "list", "--json")
	r.want(t, 0)
	var v map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"target", "driver", "platform", "agent", "tools", "skipped", "toolsets", "warnings"} {
		if _, ok := v[key]; !ok {
			t.Errorf("no %q", key)
		}
	}
	wantTool := `[{"name":"echo","description":"the tool echo","source":{"kind":"server","name":"fake"},"toolsets":["talk"],` +
		`"inputSchema":{"properties":{"text":{"type":"string"}},"type":"object"},"isForLlm":true,"isRecordable":true,"isDelegating":false,"requiresHost":false,` +
		`"requiresContext":false,"supportedDrivers":[],"supportedPlatforms":[]}]`
	if got := string(v["tools"]); got != wantTool {
		t.Errorf("tools\n%s, want\n%s", got, wantTool)
	}
	if got := string(v["skipped"]); !strings.Contains(got, `{"name":"fail","source":{"kind":"server","name":"fake"},"reason":"toolset","detail":"the target's platform excludes it"}`) {
		t.Errorf("skipped\n%s", got)
	}
	if got := string(v["warnings"]); !strings.Contains(got, "nobody") {
		t.Errorf("warnings\n%s", got)
	}
	p.run("toolbox", "list", "--target", "otherone").wantErr(t, 3, `did you mean "other-one"?`)
	p.run("toolbox", "list", "--why").want(t, 0, "talk — talking", "left out", "excludes it")
}

// onTerminal runs a command on a pseudo-terminal and returns everything it drew.
func onTerminal(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	master, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	var drawn bytes.Buffer
	if _, err := io.Copy(&drawn, master); err != nil && !errors.Is(err, syscall.EIO) { // EIO is how Linux ends a terminal
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, drawn.String())
	}
	return drawn.String()
}

var escape = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

func TestLiveLineOnTerminalOnly(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject, "trails/a.trail.yaml": "config: { title: Slow one }\n" + webTrail("sleep: { ms: 700 }"),
	})
	for name, tc := range map[string]struct {
		env  []string
		args []string
		live bool
	}{
		"terminal":   {[]string{"NO_COLOR=", "CI=", "TERM=xterm-256color"}, nil, true},
		"NO_COLOR":   {[]string{"NO_COLOR=yes", "CI=", "TERM=xterm-256color"}, nil, false},
		"dumb":       {[]string{"NO_COLOR=", "CI=", "TERM=dumb"}, nil, false},
		"CI":         {[]string{"NO_COLOR=", "CI=true", "TERM=xterm-256color"}, nil, false},
		"--no-color": {[]string{"NO_COLOR=", "CI=", "TERM=xterm-256color"}, []string{"--no-color"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := p.command(append([]string{"run"}, tc.args...)...)
			c.Env = append(c.Env, tc.env...)
			drawn := onTerminal(t, c)
			if got := escape.MatchString(drawn); got != tc.live {
				t.Errorf("escape sequences: %v, want %v\n%q", got, tc.live, drawn)
			}
			if tc.live && !strings.Contains(drawn, "step 1/1") && !strings.Contains(drawn, "step 1 of 1") {
				t.Errorf("no live line with the step:\n%q", drawn)
			}
			if !strings.Contains(drawn, "Slow one") || !strings.Contains(drawn, "1 passed") {
				t.Errorf("no result:\n%q", drawn)
			}
		})
	}
}

func TestNoEscapeSequencesWithoutTerminal(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail(`echo: { text: "\u001b[31mred\u0007" }`)})
	c := p.command("run", "-v")
	c.Env = append(c.Env, "NO_COLOR=", "CI=", "TERM=xterm-256color")
	out, err := c.CombinedOutput()
	if err != nil || bytes.ContainsAny(out, "\x1b\x07") || !bytes.Contains(out, []byte("red")) {
		t.Errorf("%v\n%q", err, out)
	}
}

func TestJUnitWithAnyToolOutput(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": webTrail(`fail: { text: "\u001b[31mred \u0000\u0008 ]]> <tag> & \ufffe" }`), "trails/b.trail.yaml": webTrail("echo: {}"),
	})
	p.run("run", "--junit", "build/junit.xml").want(t, 1, "build/junit.xml")
	if out, err := exec.Command("xmllint", "--noout", "--schema", filepath.Join("..", "pkg", "report", "testdata", "junit.xsd"),
		filepath.Join(p.dir, "build", "junit.xml")).CombinedOutput(); err != nil {
		t.Errorf("xmllint: %v\n%s", err, out)
	}
}

func TestUnwritableReportFailsRun(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("echo: {}"), "file": ""})
	p.run("run", "--junit", "file/junit.xml").wantErr(t, 3, "--junit")
	c := p.command("run")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	var errs bytes.Buffer
	c.Stdout, c.Stderr = full, &errs
	if err := c.Run(); c.ProcessState.ExitCode() != 2 || !strings.Contains(errs.String(), "write to stdout") {
		t.Errorf("a full disk behind stdout: %v\n%s", err, &errs)
	}
}
