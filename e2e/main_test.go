//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
)

// fake is the path of the server in testdata/fakeserver, whose faults are configurable. TestMain builds it without the
// race detector, so that it starts at once.
var fake string

// bundles is the folder of cached bundles and bytecode that all projects share.
var bundles string

// The test binary is also the whole program, as a process that signals reach, when E2E_MAIN is set, and the process of
// a session in the background.
func TestMain(m *testing.M) {
	if os.Getenv("E2E_MAIN") != "" || slices.Equal(os.Args[1:], []string{"session", "serve"}) {
		os.Unsetenv("E2E_MAIN")
		os.Exit(cmd.Main(cmd.NewSystem("test")))
	}
	for _, s := range []os.Signal{syscall.SIGHUP, os.Interrupt} {
		if signal.Ignored(s) { // under nohup or in the background, and then also by what the tests start; a handled one is not
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	dir, err := os.MkdirTemp("", "e2e-")
	if err == nil {
		fake, bundles = filepath.Join(dir, "fakeserver"), filepath.Join(dir, "bundles")
		err = errors.Join(buildFake(), useOwnADB(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(untilClosed{m}, goleak.IgnoreCurrent(), goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// useOwnADB starts an adb server without phones, which ends with this process, for everything that the tests start.
// Otherwise they would use the phones of this machine, and start its adb server, which keeps running.
func useOwnADB(dir string) error {
	server, err := adbserver.Start(context.Background(), dir)
	if err != nil {
		return err
	}
	return os.Setenv("ANDROID_ADB_SERVER_PORT", server.Port)
}

func buildFake() error {
	out, err := exec.Command("go", "build", "-o", fake, "../testdata/fakeserver").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the fake server: %w\n%s", err, out)
	}
	return nil
}

// project is a folder with a project in it.
type project struct {
	t      *testing.T
	dir    string
	env    []string
	marker string // in the environment of everything that the project starts
	// exitGrace is for servers that do not exit by themselves; 0 for the default.
	exitGrace time.Duration
}

// noBrowser is in the environment of commands like doctor that would start a browser, if the test is not about it.
const noBrowser = "TRAILBLAZE_BROWSER=/nowhere"

// newProject returns a project with files; see project.write.
func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir(), marker: spawntest.Marker()}
	for name, text := range files {
		p.write(name, text)
	}
	cache := t.TempDir()
	if err := errors.Join(os.MkdirAll(bundles, 0o755), os.Symlink(bundles, filepath.Join(cache, "bundles"))); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), "TRAILBLAZE_CACHE_DIR="+cache, p.marker, "GORACE=atexit_sleep_ms=0", "CI=", "GITHUB_ACTIONS=", "NO_COLOR=1")
	return p
}

// write writes a file. {{fake}} in it is the path of the fake server.
func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "{{fake}}", fake)), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// serverLog returns the logs of a server in all sessions.
func (p *project) serverLog(name string) string {
	p.t.Helper()
	logs, err := filepath.Glob(filepath.Join(p.dir, "logs", "*_*", "subprocess_stderr_"+name+".log"))
	var all strings.Builder
	for _, log := range logs {
		text, readErr := os.ReadFile(log)
		all.Write(text)
		err = errors.Join(err, readErr)
	}
	if err != nil {
		p.t.Error(err)
	}
	return all.String()
}

// result is the exit code and the output of a command.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command line in this process.
func (p *project) run(args ...string) result {
	p.t.Helper()
	return p.runIn(p.dir, args...)
}

func (p *project) runIn(dir string, args ...string) result {
	p.t.Helper()
	var out, errs bytes.Buffer
	code := cmd.Main(p.system(dir, &out, &errs, args...))
	return result{code, out.String(), errs.String()}
}

func (p *project) system(dir string, out, errs io.Writer, args ...string) cmd.System {
	return cmd.System{
		Args: args, Env: p.env, Dir: dir, Stdin: strings.NewReader(""), Stdout: out, Stderr: errs,
		Now: time.Now, Notify: func(chan<- os.Signal, ...os.Signal) {}, Unhook: signal.Stop, Build: cmd.Build{Version: "test"}, Devices: cmd.NewSystem("").Devices,
		ExitGrace: p.exitGrace, Executable: self(p.t),
	}
}

// self is the path of the test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// command returns a command line as a separate process.
func (p *project) command(args ...string) *exec.Cmd {
	p.t.Helper()
	c := exec.Command(self(p.t), args...)
	c.Dir = p.dir
	c.Env = append(append([]string{}, p.env...), "E2E_MAIN=1")
	c.WaitDelay = 30 * time.Second
	return c
}

// want fails the test unless the command ended with the code and every text is in its stdout.
func (r result) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	r.wantIn(t, code, "stdout", r.stdout, texts)
}

// wantErr fails the test unless the command ended with the code and every text is in its stderr.
func (r result) wantErr(t *testing.T, code int, texts ...string) {
	t.Helper()
	r.wantIn(t, code, "stderr", r.stderr, texts)
}

// wantOutput is for tables some of whose cases write to stdout, others to stderr.
func (r result) wantOutput(t *testing.T, code int, texts ...string) {
	t.Helper()
	r.wantIn(t, code, "output", r.stdout+r.stderr, texts)
}

// wantIn looks for texts in an output, as they are and as JSON strings.
func (r result) wantIn(t *testing.T, code int, name, output string, texts []string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	output += strings.ReplaceAll(output, `\"`, `"`)
	for _, text := range texts {
		if !strings.Contains(output, text) {
			t.Errorf("%s lacks %q", name, text)
		}
	}
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", r.stdout, r.stderr)
	}
}

// events reads JSON lines.
func (r result) events(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(r.stdout) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("stdout has a line that is not JSON: %q", line)
		}
		out = append(out, e)
	}
	return out
}

// await waits until a condition holds.
func await(happened func() bool) {
	for deadline := time.Now().Add(3 * time.Minute); !happened() && time.Now().Before(deadline); {
		<-time.After(5 * time.Millisecond)
	}
}

// ofType returns the events of one type.
func ofType(events []map[string]any, kind string) []map[string]any {
	var out []map[string]any
	for _, e := range events {
		if e["type"] == kind {
			out = append(out, e)
		}
	}
	return out
}

// fakeEntry is a server entry, in one line, of a fake server with a behaviour.
func fakeEntry(name, behaviour string) string {
	return "  - { name: " + name + ", command: \"{{fake}}\", env: { FAKE_SERVER: \"" + behaviour + "\" } }\n"
}

// contextEnv is the environment of the fake server whose tool "context" was called.
func (r result) contextEnv(t *testing.T) map[string]string {
	t.Helper()
	for _, e := range ofType(r.events(t), "call.finished") {
		if e["tool"] != "context" {
			continue
		}
		var seen struct{ Env []string }
		text, _ := e["text"].(string)
		if err := json.Unmarshal([]byte(text), &seen); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{}
		for _, kv := range seen.Env {
			name, value, _ := strings.Cut(kv, "=")
			env[name] = value
		}
		return env
	}
	t.Fatal("the tool context was not called")
	return nil
}

// fakeTools is the number of tools of the fake server.
const fakeTools = 15

// fakeConfig is a project file with one fake server of a behaviour.
func fakeConfig(behaviour string) string {
	return "target: app\nplatform: web\nmcpServers:\n  - name: fake\n    command: \"{{fake}}\"\n" +
		"    env: { FAKE_SERVER: " + behaviour + " }\n"
}

// webTrail is a trail with the given calls, one step each.
func webTrail(calls ...string) string {
	var b strings.Builder
	b.WriteString("trail:\n")
	for _, c := range calls {
		b.WriteString("  - step: do it\n    recording:\n      web:\n        - " + c + "\n")
	}
	return b.String()
}
