//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// stubborn is a server that ends by nothing but SIGKILL and has such a grandchild.
const stubborn = "\"grandchild,ignore-eof,ignore-term\""

func TestNoProcessIsLeftAfterAnyOutcome(t *testing.T) {
	t.Parallel()
	for outcome, tc := range map[string]struct {
		call string
		code int
	}{"pass": {"echo: {}", 0}, "fail": {"fail: {}", 1}, "error": {"fatal: {}", 2}} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(stubborn), "trails/a.trail.yaml": webTrail(tc.call)})
			p.run("run").want(t, tc.code)
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

// signalled runs a command, sends it a signal when ready returns, and, if again is set, the same one once the first was
// acknowledged. It returns the exit code and everything printed.
func signalled(t *testing.T, c *exec.Cmd, ready func(), signal syscall.Signal, again bool) (code int, output string) {
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
		if again && strings.Contains(line, "once more to kill") {
			_ = c.Process.Signal(signal)
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

func TestNoProcessIsLeftAfterASignalInEveryPhase(t *testing.T) {
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
				ready := phaseReached(t, p, "in "+phase)
				code, output := signalled(t, p.command("run", "-v"), ready, sig.signal, false)
				if code != sig.code {
					t.Errorf("exit code %d, want %d\n%s", code, sig.code, output)
				}
				spawntest.NoSurvivors(t, p.marker)
			})
		}
	}
}

// phaseReached returns a function that waits until the fake server's log says that it misbehaves.
func phaseReached(t *testing.T, p *project, what string) func() {
	return func() {
		deadline := time.Now().Add(time.Minute)
		for time.Now().Before(deadline) {
			logs, _ := filepath.Glob(filepath.Join(p.dir, "logs", "*", "subprocess_stderr_*.log"))
			for _, log := range logs {
				if data, _ := os.ReadFile(log); strings.Contains(string(data), what) {
					return
				}
			}
			<-time.After(10 * time.Millisecond)
		}
		t.Errorf("no server log says %q within a minute", what)
	}
}

func TestASecondInterruptKillsAtOnce(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     fakeConfig(`"grandchild,ignore-eof,ignore-term,call:hang"`),
		"trails/a.trail.yaml": webTrail("bad: {}"),
	})
	ready := phaseReached(t, p, "in call")
	code, output := signalled(t, p.command("run", "-v"), ready, syscall.SIGINT, true)
	if code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, output)
	}
	spawntest.NoSurvivors(t, p.marker)
}

func TestTheTimeoutOfARunEndsItWith124(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":       fakeConfig(`"grandchild,call:hang"`),
		"trails/1.trail.yaml":   webTrail("bad: {}"),
		"trails/two.trail.yaml": webTrail("echo: {}"),
	})
	r := p.run("run", "--timeout", "2s", "--json")
	r.want(t, 124, "--timeout 2s")
	if got := ofType(r.events(t), "run.finished"); len(got) != 1 || got[0]["exitCode"] != 124.0 {
		t.Errorf("run.finished: %v", got)
	}
	spawntest.NoSurvivors(t, p.marker)
}

func TestNoProcessIsLeftWhenNobodyReadsTheOutput(t *testing.T) {
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

// panicky panics at the first byte written to it.
type panicky struct{}

func (panicky) Write([]byte) (int, error) { panic("the terminal is on fire") }

func TestNoProcessIsLeftAfterAPanic(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": fakeConfig(stubborn), "trails/a.trail.yaml": webTrail("echo: {}")})
	var errs bytes.Buffer
	code := cmd.Main(p.system(p.dir, panicky{}, &errs, "run", "-v"))
	result{code, "", errs.String()}.want(t, 2, "internal error: the terminal is on fire", "please report it")
	spawntest.NoSurvivors(t, p.marker)
}

func TestAfterSIGKILLTheNextRunOrDoctorReaps(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"run", "doctor"} {
		t.Run(next, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml":     fakeConfig(`"grandchild,ignore-eof,ignore-term,call:hang"`),
				"trails/a.trail.yaml": webTrail("bad: {}"), "trails/none/ok.trail.yaml": webTrail("echo: {}"),
			})
			ready := phaseReached(t, p, "in call")
			signalled(t, p.command("run", "trails/a.trail.yaml", "-v"), ready, syscall.SIGKILL, false)
			if len(spawntest.Survivors(p.marker)) == 0 {
				t.Fatal("nothing survived the SIGKILL, so the test shows nothing")
			}
			switch next {
			case "run":
				p.run("run", "trails/none").want(t, 0, "left")
			case "doctor":
				p.run("doctor").want(t, 0, "ended now")
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}
