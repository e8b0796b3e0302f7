//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// withoutCalls returns the output of run -v without the lines of steps and calls.
func withoutCalls(output string) string {
	var kept strings.Builder
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "    ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// stubborn is a server that ends by nothing but SIGKILL and has such a grandchild.
const stubborn = "grandchild,ignore-eof,ignore-term"

func TestNoProcessLeftAfterAnyOutcome(t *testing.T) {
	t.Parallel()
	for outcome, tc := range map[string]struct {
		call string
		code int
	}{"pass": {"echo: {}", 0}, "fail": {"fail: {}", 1}, "error": {"fatal: {}", 2}} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(`"` + stubborn + `"`), "trails/a.trail.yaml": webTrail(tc.call)})
			r := p.run("run")
			r.want(t, tc.code)
			for _, line := range []string{
				"fake: its input is closed; waiting up to 5s for it to exit",
				"fake: did not exit within 5s of the end of its input; sent SIGTERM, waiting up to 2s for it to exit",
			} {
				if !strings.Contains(r.stderr, line) {
					t.Errorf("stderr does not have %q:\n%s", line, r.stderr)
				}
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

// signalled runs a command, sends it a signal when ready returns, and, if again is set, SIGQUIT once the first was
// acknowledged. It returns the exit code and everything printed.
func signalled(t *testing.T, c *exec.Cmd, ready func(), signal syscall.Signal, again bool) (code int, output string) {
	t.Helper()
	return signalledThen(t, c, ready, signal, func() {
		if again {
			_ = c.Process.Signal(syscall.SIGQUIT)
		}
	})
}

// signalledThen implements signalled. It calls then when the signal was acknowledged.
func signalledThen(t *testing.T, c *exec.Cmd, ready func(), signal syscall.Signal, then func()) (code int, output string) {
	t.Helper()
	read, write := io.Pipe()
	c.Stdout, c.Stderr = write, write
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		ready()
		_ = c.Process.Signal(signal)
	}()
	ended := make(chan error, 1)
	go func() {
		ended <- c.Wait()
		_ = write.Close()
	}()
	var all bytes.Buffer
	lines := bufio.NewReader(read)
	for {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		if strings.Contains(line, "a second signal kills") {
			then()
		}
		if err != nil {
			break
		}
	}
	err := <-ended
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, all.String())
	}
	return c.ProcessState.ExitCode(), all.String()
}

func TestNoProcessLeftAfterSignalInEveryPhase(t *testing.T) {
	t.Parallel()
	for phase, tc := range map[string]struct{ behaviour, call string }{
		"start":      {"start:hang", "echo: {}"},
		"initialize": {"initialize:hang", "echo: {}"},
		"list":       {"list:hang", "echo: {}"},
		"call":       {"call:hang", "bad: {}"},
	} {
		for name, sig := range map[string]struct {
			signal syscall.Signal
			code   int
		}{"SIGINT": {syscall.SIGINT, 130}, "SIGTERM": {syscall.SIGTERM, 143}, "SIGHUP": {syscall.SIGHUP, 130}} {
			t.Run(name+" in "+phase, func(t *testing.T) {
				t.Parallel()
				p := newProject(t, map[string]string{
					"trailblaze.yaml": fakeConfig(`"grandchild,` + tc.behaviour + `"`), "trails/a.trail.yaml": webTrail(tc.call),
				})
				ready := reached(t, p, phase)
				code, output := signalled(t, p.command("run", "-v"), ready, sig.signal, false)
				if code != sig.code {
					t.Errorf("exit code %d, want %d\n%s", code, sig.code, output)
				}
				spawntest.NoSurvivors(t, p.marker)
			})
		}
	}
}

// TestDaemonWithoutEnvironmentEndsWithTheRun: what a server starts has its parent and its session left, and has none of
// its variables.
func TestDaemonWithoutEnvironmentEndsWithTheRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		signal syscall.Signal
		call   string
		args   []string
		code   int
	}{
		"pass": {0, "echo: {}", nil, 0}, "fail": {0, "fail: {}", nil, 1}, "timeout": {0, "bad: {}", []string{"--timeout", "1s"}, 124},
		"SIGINT": {syscall.SIGINT, "bad: {}", nil, 130}, "SIGTERM": {syscall.SIGTERM, "bad: {}", nil, 143},
		"SIGHUP": {syscall.SIGHUP, "bad: {}", nil, 130}, "SIGQUIT": {syscall.SIGQUIT, "bad: {}", nil, 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			daemon := "sleep 3600." + strconv.Itoa(rand.IntN(1e9))
			p := newProject(t, map[string]string{
				"trailblaze.yaml": fmt.Sprintf("target: app\nplatform: web\nmcpServers:\n  - name: fake\n    command: /bin/sh\n"+
					"    env: { FAKE_SERVER: 'call:hang' }\n    args: [-c, '(env -i setsid %s <&- >&- 2>&- &); exec {{fake}}']\n", daemon),
				"trails/a.trail.yaml": webTrail(tc.call),
			})
			ready := func() {}
			if tc.signal != 0 {
				ready = reached(t, p, "call")
			}
			code, output := signalled(t, p.command(append([]string{"run"}, tc.args...)...), ready, tc.signal, false)
			if code != tc.code {
				t.Errorf("exit code %d, want %d\n%s", code, tc.code, output)
			}
			if left, err := exec.Command("pgrep", "-fx", daemon).Output(); err == nil {
				t.Errorf("the daemon is still running: %s", left)
				_ = exec.Command("pkill", "-fx", daemon).Run()
			}
		})
	}
}

// reached returns a function that waits until a fake server is about to misbehave in a phase.
func reached(t *testing.T, p *project, phase string) func() {
	return func() {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(p.dir, "reached-"+phase)); err == nil {
				return
			}
		}
		t.Errorf("no server reached %q within a minute", phase)
	}
}

// TestFirstSignalStopsAndSecondKills: what sends a signal twice does not kill, and no hang-up of a closed terminal.
func TestFirstSignalStopsAndSecondKills(t *testing.T) {
	t.Parallel()
	const atOnce, later = 0, time.Second // since the first was acknowledged
	for phase, tc := range map[string]struct{ behaviour, call string }{
		"call":     {stubborn + ",call:hang", "bad: {}"},
		"teardown": {stubborn + ",eof:mark", "echo: {}"},
	} {
		for name, sent := range map[string]struct {
			signal syscall.Signal
			again  []time.Duration
			code   int
			says   string
			kills  bool
		}{
			"SIGINT once":           {syscall.SIGINT, nil, 130, "interrupted", false},
			"SIGINT twice at once":  {syscall.SIGINT, []time.Duration{atOnce}, 130, "interrupted", false},
			"SIGINT twice":          {syscall.SIGINT, []time.Duration{later}, 130, "interrupted", true},
			"SIGTERM twice at once": {syscall.SIGTERM, []time.Duration{atOnce}, 143, "terminated", false},
			"SIGTERM twice":         {syscall.SIGTERM, []time.Duration{later}, 143, "terminated", true},
			"SIGHUP more than once": {syscall.SIGHUP, []time.Duration{atOnce, later}, 130, "interrupted", false},
		} {
			t.Run(name+" in "+phase, func(t *testing.T) {
				t.Parallel()
				p := newProject(t, map[string]string{
					"trailblaze.yaml": fakeConfig(`"` + tc.behaviour + `"`), "trails/a.trail.yaml": webTrail(tc.call),
				})
				file := strings.Replace(phase, "teardown", "eof", 1)
				c := p.command("run", "-v")
				code, output := signalledThen(t, c, reached(t, p, file), sent.signal, func() {
					for _, wait := range sent.again {
						time.AfterFunc(wait, func() { _ = c.Process.Signal(sent.signal) })
					}
				})
				if code != sent.code || !strings.Contains(output, "a second signal kills") {
					t.Errorf("exit code %d, want %d\n%s", code, sent.code, output)
				}
				if phase == "call" && strings.Contains(output, "hint: let the server exit") {
					t.Errorf("a server that was interrupted gets a hint:\n%s", output)
				}
				if n := strings.Count(withoutCalls(output), sent.says); n != 1 {
					t.Errorf("the output says %d times that the run was %s:\n%s", n, sent.says, output)
				}
				log := p.serverLog("fake")
				if polite := strings.Contains(log, "SIGTERM is ignored"); polite == sent.kills {
					t.Errorf("the server got a SIGTERM: %v, want %v\n%s", polite, !sent.kills, log)
				}
				spawntest.NoSurvivors(t, p.marker)
			})
		}
	}
}

func TestNoProcessLeftAfterSignalInOtherCommands(t *testing.T) {
	t.Parallel()
	const told = "a second signal kills"
	for args, want := range map[string][]string{
		"toolbox list":        {told, "trailblaze: error: interrupted\n"},
		"toolbox list --json": {`{"error":{"kind":"interrupted","message":"interrupted"`},
		"doctor --deep":       {told, "trailblaze: error: interrupted\n"},
		"run --dry-run":       {told},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml": fakeConfig(`"grandchild,list:hang"`), "trails/a.trail.yaml": webTrail("echo: {}"),
			})
			code, output := signalled(t, p.command(strings.Fields(args)...), reached(t, p, "list"), syscall.SIGINT, false)
			result{code, output, ""}.want(t, 130, want...)
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

// hook is a writer that does something before it writes what has a text in it.
type hook struct {
	text string
	do   func()

	mu  sync.Mutex
	all bytes.Buffer
}

func (h *hook) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if bytes.Contains(p, []byte(h.text)) {
		h.do()
	}
	return h.all.Write(p)
}

func TestSignalBetweenTrailsEndsRun(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": fakeConfig(`"call:hang"`), "trails/1.trail.yaml": webTrail("echo: {}"),
		"trails/2.trail.yaml": webTrail("bad: {}"), "trails/3.trail.yaml": webTrail("bad: {}"),
	})
	var signals chan<- os.Signal
	var once sync.Once
	out := &hook{text: `"type":"trail.finished"`, do: func() {
		once.Do(func() {
			signals <- os.Interrupt
			await(func() bool { return len(signals) == 0 }) // it was received
		})
	}}
	var errs bytes.Buffer
	sys := p.system(p.dir, out, &errs, "run", "--json")
	sys.Notify = func(c chan<- os.Signal, which ...os.Signal) {
		if slices.Contains(which, os.Interrupt) {
			signals = c
		}
	}
	r := result{cmd.Main(sys), "", ""}
	r.stdout, r.stderr = out.all.String(), errs.String()
	r.want(t, 130)
	// The second trail may have begun by the time that the signal is dealt with; the third may not.
	if got := outcomes(t, r); got["1"] != "passed" || got["2"] != "" && got["2"] != "error" || got["3"] != "" {
		t.Errorf("outcomes %v", got)
	}
	p.write("trails/2.trail.yaml", webTrail("echo: {}"))
	p.write("trails/3.trail.yaml", webTrail("echo: {}"))
	if got := outcomes(t, p.run("run", "--last-failed", "--json")); len(got) != 2 || got["1"] != "" {
		t.Errorf("--last-failed ran %v", got)
	}
	spawntest.NoSurvivors(t, p.marker)
}

func TestIgnoresHangUpThatParentIgnores(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": fakeConfig(`"call:wait"`), "trails/a.trail.yaml": webTrail("bad: {}", "sleep: { ms: 300 }"),
	})
	direct := p.command("run")
	c := exec.Command("/bin/sh", append([]string{"-c", `trap "" HUP; exec "$0" "$@"`}, direct.Args...)...)
	c.Dir, c.Env, c.WaitDelay = direct.Dir, direct.Env, direct.WaitDelay
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	reached(t, p, "call")()
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Error(err)
	}
	p.write("go", "")
	if err := c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &output)
	}
	spawntest.NoSurvivors(t, p.marker)
}

func TestRunTimeoutHasExitCode124(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": fakeConfig(`"grandchild,call:hang"`), "trails/0.trail.yaml": webTrail("echo: {}"),
		"trails/1.trail.yaml": webTrail("fail: {}"), "trails/2.trail.yaml": webTrail("fatal: {}"),
		"trails/3.trail.yaml": webTrail("bad: {}"), "trails/4.trail.yaml": webTrail("echo: {}"),
	})
	r := p.run("run", "--timeout", "6s", "--json")
	r.want(t, 124, "--timeout 6s")
	if got, _ := json.Marshal(outcomes(t, r)); string(got) != `{"0":"passed","1":"failed","2":"error","3":"error"}` {
		t.Errorf("outcomes %s", got)
	}
	done := ofType(r.events(t), "run.finished")
	if len(done) != 1 || done[0]["exitCode"] != 124.0 || done[0]["passed"] != 1.0 || done[0]["failed"] != 1.0 || done[0]["errors"] != 2.0 {
		t.Errorf("run.finished: %v", done)
	}
	if got := outcomes(t, p.run("run", "--last-failed", "--dry-run", "--json")); len(got) != 4 || got["0"] != "" {
		t.Errorf("--last-failed takes %v", got)
	}
	spawntest.NoSurvivors(t, p.marker)
}

func TestNoProcessLeftWhenOutputIsNotRead(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": fakeConfig(`"grandchild"`), "trails/a.trail.yaml": webTrail("sleep: { ms: 300 }", "sleep: { ms: 60000 }"),
	})
	c := p.command("run", "-v")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	if err := c.Wait(); c.ProcessState.ExitCode() != 130 {
		t.Errorf("%v, want exit code 130", err)
	}
	spawntest.NoSurvivors(t, p.marker)
}

// Of these writes only the first is in the command's own goroutine: servers start, and are listened to, in others.
func TestNoProcessLeftAfterPanic(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		behaviour, text string
		args            []string
	}{
		"the first byte":              {stubborn, "", []string{"-v"}},
		"when a server starts":        {stubborn, "server fake", []string{"-v"}},
		"when a server starts, JSON":  {"grandchild", `"type":"server.started"`, []string{"--json"}},
		"when a server makes a noise": {"noisy,grandchild", "carries the protocol", []string{"--json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml": fakeConfig(`"` + tc.behaviour + `"`), "trails/a.trail.yaml": webTrail("echo: {}", "bad: {}"),
			})
			var errs bytes.Buffer
			out := &hook{text: tc.text, do: func() { panic("the terminal is on fire") }}
			r := result{cmd.Main(p.system(p.dir, out, &errs, append([]string{"run"}, tc.args...)...)), "", ""}
			r.stdout, r.stderr = out.all.String(), errs.String()
			r.wantOutput(t, 2, "internal error: the terminal is on fire", "please report it")
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestNextRunOrDoctorKillsLeftoversAfterSIGKILL(t *testing.T) {
	t.Parallel()
	const server, daemon = "fake (", "daemons that servers started, process ["
	for _, tc := range []struct{ next, behaviour, killed string }{
		{"run", stubborn, server}, {"doctor", stubborn, server}, {"run", "daemon", daemon}, {"doctor", "daemon", daemon},
	} {
		t.Run(tc.behaviour+", "+tc.next, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml":     fakeConfig("ok"),
				"trails/a.trail.yaml": webTrail("bad: {}"), "trails/none/ok.trail.yaml": webTrail("echo: {}"),
			})
			p.run("run", "trails/none", "--junit", "build/junit.xml", "--html", "build").want(t, 0, "build/junit.xml")
			p.write("trailblaze.yaml", fakeConfig(`"`+tc.behaviour+`,call:hang"`))
			ready := reached(t, p, "call")
			signalled(t, p.command("run", "trails/a.trail.yaml", "-v", "--junit", "build/junit.xml", "--html", "build"),
				ready, syscall.SIGKILL, false)
			if left, err := os.ReadDir(p.path("build")); err != nil || len(left) > 0 {
				t.Errorf("the killed run left %v, %v", left, err)
			}
			if len(spawntest.Survivors(p.marker)) == 0 {
				t.Fatal("nothing survived the SIGKILL, so the test shows nothing")
			}
			p.write("trailblaze.yaml", fakeConfig("ok")) // leaves nothing running
			switch tc.next {
			case "run":
				p.run("run", "trails/none").wantErr(t, 0, "killed a process that an earlier run left running: "+tc.killed)
			case "doctor":
				left := doctorChecks(t, p.run("doctor", "--json"))["leftover processes"]
				if left.Status != "warn" || !strings.Contains(left.Detail, "killed processes that an earlier run left running: ") || !strings.Contains(left.Detail, tc.killed) {
					t.Errorf("the first doctor: %+v", left)
				}
				if left = doctorChecks(t, p.run("doctor", "--json"))["leftover processes"]; left.Status != "ok" {
					t.Errorf("the next doctor: %+v", left)
				}
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}
