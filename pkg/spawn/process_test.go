//go:build unix

package spawn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// limit bounds every wait of these tests; none comes near it unless something hangs.
const limit = 3 * time.Minute

// child is a process under test.
type child struct {
	*Process
	t      *testing.T
	sup    *Supervisor
	marker string
	lines  chan string // of its stdout; closed at its end
	output buffer      // its stderr
	mu     sync.Mutex
	logs   []string
}

// buffer collects what is written to it.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) Close() error { return nil }

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start starts the test binary in a role. When the test ends, nothing of it may be left.
func start(t *testing.T, role string, args ...string) *child {
	t.Helper()
	return launch(t, nil, Spec{Command: self(t), Args: args, Env: []string{roleVariable + "=" + role}})
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// newChild returns a child that is not started, and completes its spec.
func newChild(t *testing.T, spec *Spec) *child {
	t.Helper()
	c := &child{t: t, marker: spawntest.Marker(), lines: make(chan string, 1000)}
	spec.Name = "shop"
	spec.Env = append(spec.Env, c.marker, "PATH="+os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0")
	spec.Stdout = func(_ context.Context, stdout io.Reader) {
		defer close(c.lines)
		in := bufio.NewReader(stdout)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- line
		}
	}
	spec.Stderr = &c.output
	spec.Log = func(level, message, hint string) {
		if level == "debug" { // which runtime was chosen
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.logs = append(c.logs, level+": "+message+" / "+hint)
	}
	return c
}

func launch(t *testing.T, runtimes *jsruntime.Finder, spec Spec) *child {
	t.Helper()
	c := newChild(t, &spec)
	c.sup = NewSupervisor(Options{StateDir: filepath.Join(t.TempDir(), "state"), Runtimes: runtimes})
	c.startWith(c.sup, spec)
	return c
}

func (c *child) startWith(sup *Supervisor, spec Spec) {
	c.t.Helper()
	p, err := sup.Start(c.t.Context(), spec)
	if err != nil {
		c.t.Fatal(err)
	}
	c.sup, c.Process = sup, p
	c.t.Cleanup(func() {
		if err := p.Stop(c.t.Context()); err != nil { // the context has ended: it is killed
			c.t.Error(err)
		}
		if err := sup.Close(); err != nil {
			c.t.Error(err)
		}
		spawntest.NoSurvivors(c.t, c.marker)
	})
}

func (c *child) write(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Stdin(), line); err != nil {
		c.t.Fatal(err)
	}
}

// read returns the next line of stdout, "" at its end.
func (c *child) read() string {
	c.t.Helper()
	select {
	case line := <-c.lines:
		return line
	case <-time.After(limit):
		c.t.Fatal("it writes nothing to stdout")
		return ""
	}
}

// echoes waits until the process has repeated a line, which it does when it is ready.
func (c *child) echoes() {
	c.t.Helper()
	c.write("hello\n")
	if got := c.read(); got != "hello\n" {
		c.t.Fatalf("it repeated %q", got)
	}
}

// mustStop stops the process without hurry and returns how long that took.
func (c *child) mustStop() time.Duration {
	c.t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(c.t.Context(), limit)
	defer cancel()
	if err := errors.Join(c.Stop(ctx), ctx.Err()); err != nil {
		c.t.Fatalf("stopping: %v", err)
	}
	return time.Since(begin)
}

// mustExit stops the process, which must exit by itself. It may take as long as it needs: mustStop fails if it does not
// exit at all.
func (c *child) mustExit() {
	c.t.Helper()
	c.limits.notice, c.limits.exit = 2*limit, 2*limit
	c.mustStop()
}

func (c *child) waitDone() {
	c.t.Helper()
	waitFor(c.t, c.Done(), "the process to end")
}

func waitFor(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(limit):
		t.Fatalf("waited %s for %s", limit, what)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !condition(); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s until %s", limit, what)
		}
	}
}

// untilReady waits for a line on stderr.
func (c *child) untilReady() {
	c.t.Helper()
	until(c.t, "stderr contains ready", func() bool { return strings.Contains(c.output.String(), "ready") })
}

func (c *child) logged() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.logs)
}

func TestProcessExitsAtTheEndOfItsInput(t *testing.T) {
	t.Parallel()
	c := start(t, "echo")
	c.echoes()
	c.mustExit()
	if c.ExitError() != nil {
		t.Errorf("we stopped it, and its exit error is %v", c.ExitError())
	}
	if got := c.output.String(); got != "cleaned up\n" || c.Stderr() != "cleaned up" {
		t.Errorf("stderr is %q, its tail %q", got, c.Stderr())
	}
	if got := c.read(); got != "" {
		t.Errorf("read %q after the end", got)
	}
	if _, err := c.Stdin().Write([]byte("x")); err == nil {
		t.Error("writing after the end succeeds")
	}
	if logs := c.logged(); len(logs) > 0 {
		t.Errorf("logged %q", logs)
	}
}

func TestStopMayBeCalledConcurrentlyAndAgain(t *testing.T) {
	t.Parallel()
	c := start(t, "echo")
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { c.mustStop() })
	}
	wg.Wait()
	c.mustStop()
}

func TestExitError(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"exit 0": "exited with code 0", "exit 3": "exited with code 3",
		"kill -SEGV $$": "killed by signal SEGV", "kill -KILL $$": "killed by signal KILL",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := launch(t, nil, Spec{Command: "sh", Args: []string{"-c", "read line; echo last words >&2; " + how}})
			c.write("exit\n")
			c.waitDone()
			end := c.ExitError()
			if end == nil || end.Kind != fault.Crashed || end.Message != want {
				t.Errorf("exit error %+v, want %s", end, want)
			}
			if got := c.output.String(); got != "last words\n" {
				t.Errorf("stderr is %q", got)
			}
			c.mustStop()
			if c.ExitError() == nil {
				t.Error("stopping it afterwards removes the exit error")
			}
		})
	}
}

func TestGracePeriodsAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	if l := defaultLimits(); l.exit != 5*time.Second || l.terminate != 2*time.Second {
		t.Errorf("%s until SIGTERM and %s until SIGKILL", l.exit, l.terminate)
	}
}

func TestUnresponsiveProcessIsTerminatedThenKilledAndTheWaitIsLogged(t *testing.T) {
	t.Parallel()
	const (
		waiting    = "info: its input is closed; waiting up to 200ms for it to exit"
		terminated = "info: did not exit within 200ms of the end of its input; sent SIGTERM, waiting up to 150ms for it to exit"
		killed     = "info: did not exit within 150ms of SIGTERM; sent SIGKILL"
	)
	for _, c := range []struct {
		role string
		min  time.Duration
		logs []string
	}{
		{"ignores the end", 200 * time.Millisecond, []string{waiting, terminated}},
		{"ignores SIGTERM", 350 * time.Millisecond, []string{waiting, terminated, killed}},
	} {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			spec := Spec{Command: self(t), Env: []string{roleVariable + "=" + c.role}}
			p := newChild(t, &spec)
			sup := NewSupervisor(Options{})
			sup.limits.notice, sup.limits.exit, sup.limits.terminate = 20*time.Millisecond, 200*time.Millisecond, 150*time.Millisecond
			p.startWith(sup, spec)
			p.echoes()
			if took := p.mustStop(); took < c.min {
				t.Errorf("stopping took only %s", took)
			}
			if p.ExitError() != nil {
				t.Errorf("its exit error is %v", p.ExitError())
			}
			var logs []string
			for _, line := range p.logged() {
				message, hint, _ := strings.Cut(line, " / ")
				if logs = append(logs, message); hint == "" {
					t.Errorf("%q has no hint", message)
				}
			}
			if len(logs) > len(c.logs) { // a slow machine needs longer than the shortened limits to end a process
				logs = logs[:len(c.logs)]
			}
			if diff := cmp.Diff(c.logs, logs); diff != "" {
				t.Errorf("logged (-want +got):\n%s", diff)
			}
		})
	}
}

// Afterwards nothing is logged any more: whoever stops the process may then close the log.
func TestStopWaitsForItsLog(t *testing.T) {
	t.Parallel()
	spec := Spec{Command: self(t), Env: []string{roleVariable + "=ignores the end"}}
	c := newChild(t, &spec)
	stopped := make(chan struct{})
	spec.Log = func(level, _, _ string) {
		if level != "info" {
			return
		}
		c.kill()
		<-c.Done()
		select {
		case <-stopped:
			t.Error("Stop has returned before the log did")
		case <-time.After(20 * time.Millisecond):
		}
	}
	sup := NewSupervisor(Options{})
	sup.limits.notice = time.Millisecond
	c.startWith(sup, spec)
	c.echoes()
	c.mustStop()
	close(stopped)
}

func TestStopWithAnEndedContextKills(t *testing.T) {
	t.Parallel()
	c := start(t, "ignores SIGTERM")
	c.echoes()
	c.limits.notice, c.limits.exit = 2*limit, 2*limit
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := c.Stop(cancelled(t)); err != nil {
			t.Error(err)
		}
	}()
	waitFor(t, stopped, "Stop to kill it")
}

func TestGrandchildrenThatHoldThePipesAreKilledAfterTheirParentExits(t *testing.T) {
	t.Parallel()
	c := start(t, "grandchild", "same group")
	c.echoes()
	c.untilReady()
	c.mustExit()
	spawntest.NoSurvivors(t, c.marker)
}

// TestGrandchildInItsOwnSessionThatHoldsThePipesIsKilled: macOS does not say who holds a pipe.
func TestGrandchildInItsOwnSessionThatHoldsThePipesIsKilled(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"new session", "new group"} {
		for name, holdersAreFound := range map[string]bool{"its pipes are found": true, "its pipes are not found": false} {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				c := start(t, "grandchild", kind)
				c.limits.drain = 2 * limit // a busy machine may need several searches
				if !holdersAreFound {
					c.inodes = nil
				}
				c.echoes()
				c.untilReady()
				c.mustExit()
				spawntest.NoSurvivors(t, c.marker)
			})
		}
	}
}

func TestGrandchildrenAreKilledWhenTheirParentCrashes(t *testing.T) {
	t.Parallel()
	c := start(t, "grandchild", "same group")
	c.echoes()
	c.untilReady()
	_ = syscall.Kill(c.backend.pid(), syscall.SIGKILL)
	c.waitDone()
	spawntest.NoSurvivors(t, c.marker)
	if end := c.ExitError(); end == nil || end.Message != "killed by signal KILL" {
		t.Errorf("exit error %v", end)
	}
}

func TestDaemonWithoutThePipesEndsWithItsServer(t *testing.T) {
	t.Parallel()
	c := start(t, "grandchild", "daemon")
	c.echoes()
	until(t, "there is a daemon", func() bool { return hasDaemon(c.marker) })
	c.mustStop()
	if hasDaemon(c.marker) {
		t.Errorf("survivors %q", spawntest.Survivors(c.marker))
	}
}

func hasDaemon(marker string) bool {
	return slices.ContainsFunc(spawntest.Survivors(marker), func(found string) bool { return strings.HasSuffix(found, " sleep 3600") })
}

// TestKeptProgramsGoOnRunning: daemons of adb, Gradle or Bazel are started by the first program that needs them, and
// other programs may use them when that program ends.
func TestKeptProgramsGoOnRunning(t *testing.T) {
	t.Parallel()
	c := start(t, "grandchild", "daemon")
	c.sup.Keep([]string{"adb", "sleep"})
	c.echoes()
	until(t, "there is a daemon", func() bool { return hasDaemon(c.marker) })
	c.mustStop()
	if !hasDaemon(c.marker) {
		t.Error("the daemon was killed")
	}
	for _, found := range spawntest.Survivors(c.marker) {
		var pid int
		if _, err := fmt.Sscanf(found, "%d sleep 3600", &pid); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// supervisor starts servers that leave processes which do not have their environment, and stops them.
func supervisor(args []string) {
	const left = `env -i setsid sleep %[1]s </dev/null >/dev/null 2>&1 &
(setsid sh -c 'env -i nohup sleep %[1]s & env -i nohup sh -c "sleep %[1]s; true" &' </dev/null >/dev/null 2>&1 &)
(env -i setsid true &) >/dev/null 2>&1
until [ "$(pgrep -fc "^sleep %[1]s")" -ge 3 ]; do :; done; echo ready; cat`
	AdoptOrphans()
	ready := make(chan bool)
	script := fmt.Sprintf(left, args[0])
	for _, script := range []string{"echo ready; cat", script} {
		sup := NewSupervisor(Options{})
		p, err := sup.Start(context.Background(), Spec{
			Command: "sh", Args: []string{"-c", script}, Env: os.Environ(),
			Stdout: func(_ context.Context, stdout io.Reader) { _, _ = stdout.Read(make([]byte, 1)); ready <- true },
		})
		if err != nil {
			panic(err)
		}
		<-ready
		defer func() {
			if err := errors.Join(p.Stop(context.Background()), sup.Close()); err != nil {
				panic(err)
			}
		}()
	}
}

func TestProcessThatClosesItsOutputStillRuns(t *testing.T) {
	t.Parallel()
	c := start(t, "closes its output")
	if got := c.read(); got != "" {
		t.Errorf("read %q", got)
	}
	select {
	case <-c.Done():
		t.Error("it is done")
	default:
	}
}

func TestKillAllEndsEveryProcessAndThoseStartedLater(t *testing.T) {
	t.Parallel()
	sup := NewSupervisor(Options{})
	marker := spawntest.Marker()
	spec := func(role string, args ...string) Spec {
		return Spec{Name: role, Command: self(t), Args: args, Env: []string{
			roleVariable + "=" + role, marker, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0",
		}}
	}
	var all []*Process
	for _, sp := range []Spec{spec("ignores SIGTERM"), spec("grandchild", "same group"), spec("does not read")} {
		p, err := sup.Start(t.Context(), sp)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	sup.KillAll()
	if late, err := sup.Start(t.Context(), spec("does not read")); err == nil {
		all = append(all, late)
	}
	for _, p := range all {
		waitFor(t, p.Done(), p.spec.Name)
		if p.ExitError() != nil {
			t.Errorf("%s: we killed it, and its exit error is %v", p.spec.Name, p.ExitError())
		}
	}
	spawntest.NoSurvivors(t, marker)
	if err := sup.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseKillsAndNamesProcessesThatWereNotStopped(t *testing.T) {
	t.Parallel()
	sup := NewSupervisor(Options{})
	marker := spawntest.Marker()
	p, err := sup.Start(t.Context(), Spec{Name: "shop", Command: self(t), Env: []string{roleVariable + "=does not read", marker}})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("not stopped when the run ended, and killed: shop (process %d)", p.backend.pid())
	if err := sup.Close(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	spawntest.NoSurvivors(t, marker)
}

func TestProcessGetsItsFolderAndEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := launch(t, nil, Spec{
		Command: "sh", Args: []string{"-c", "pwd; env | grep -E '^(X_|TRAILBLAZE_RUN)' | sort; cat"}, Dir: dir, Env: []string{"X_A=1", "X_B=2", "X_A=3"},
	})
	var got []string
	for range 4 {
		got = append(got, strings.TrimSuffix(c.read(), "\n"))
	}
	if diff := cmp.Diff([]string{dir, c.sup.runID, "X_A=3", "X_B=2"}, got); diff != "" {
		t.Errorf("folder and environment (-want +got):\n%s", diff)
	}
	c.mustStop()
}

func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestOutputWrittenRightBeforeTheExitIsRead: nothing that a process writes is lost, however soon it exits.
func TestOutputWrittenRightBeforeTheExitIsRead(t *testing.T) {
	t.Parallel()
	sup := NewSupervisor(Options{})
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			var out []byte
			p, err := sup.Start(t.Context(), Spec{
				Command: "/bin/sh", Args: []string{"-c", `read line; echo bye; echo out of pizza >&2; exit 7`},
				Stdout: func(_ context.Context, stdout io.Reader) { out, _ = io.ReadAll(stdout) },
			})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := io.WriteString(p.Stdin(), "go\n"); err != nil {
				t.Error(err)
			}
			<-p.Done()
			if string(out) != "bye\n" || p.Stderr() != "out of pizza" || p.ExitError() == nil {
				t.Errorf("it wrote %q and %q and ended with %v", out, p.Stderr(), p.ExitError())
			}
		})
	}
	wg.Wait()
	if err := sup.Close(); err != nil {
		t.Error(err)
	}
}

func TestReaderOfStdoutThatWaitsIsCancelledAfterTheExit(t *testing.T) {
	t.Parallel()
	sup := NewSupervisor(Options{})
	sup.limits.drain = 50 * time.Millisecond
	var cause error
	p, err := sup.Start(t.Context(), Spec{Command: "/bin/sh", Args: []string{"-c", "echo hello"}, Stdout: func(ctx context.Context, _ io.Reader) {
		<-ctx.Done()
		cause = ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, p.Done(), "the end")
	if !errors.Is(cause, context.Canceled) {
		t.Errorf("cause %v", cause)
	}
}

func TestSecretsAreTakenOutOfWhatIsKeptOfStderr(t *testing.T) {
	t.Parallel()
	spec := Spec{
		Command: "sh", Args: []string{"-c", "echo stderr $SECRET >&2"}, Env: []string{"SECRET=hunter2"},
		Redact: func(w io.Writer) io.WriteCloser { return &masker{w: w} },
	}
	c := launch(t, nil, spec)
	c.waitDone()
	e := c.Explain(fault.New(fault.Server, "", "broken"))
	all := strings.Join([]string{c.output.String(), c.Stderr(), e.Message, fmt.Sprint(e.Details)}, "\n")
	if strings.Contains(all, "hunter2") || strings.Count(all, "stderr {{PASSWORD}}") != 4 {
		t.Error(all)
	}
}

// masker stands in for the redaction of secrets, which may hold bytes back until it is closed.
type masker struct {
	w    io.Writer
	held []byte
}

func (m *masker) Write(p []byte) (int, error) {
	m.held = append(m.held, p...)
	return len(p), nil
}

func (m *masker) Close() error {
	_, err := m.w.Write(bytes.ReplaceAll(m.held, []byte("hunter2"), []byte("{{PASSWORD}}")))
	return err
}

func TestTailKeepsTheLast64LinesAnd4KB(t *testing.T) {
	t.Parallel()
	var tail tail
	for i := range 1000 {
		fmt.Fprintf(&tail, "line %d", i)
		fmt.Fprint(&tail, "\n")
	}
	lines := strings.Split(tail.lines(), "\n")
	if len(lines) != tailLines || lines[0] != "line 936" || lines[len(lines)-1] != "line 999" {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	for i := range 10 {
		fmt.Fprintf(&tail, "%d %s\n", i, strings.Repeat("é", 500))
	}
	if end := lastBytes(tail.lines()); len(end) > tailBytes || !strings.HasPrefix(end, "6 é") && !strings.HasPrefix(end, "7 é") {
		t.Errorf("the tail has %d bytes and begins with %q", len(end), end[:10])
	}
	fmt.Fprint(&tail, strings.Repeat("\xff", 100_000))
	if end := lastBytes(tail.lines()); !strings.HasPrefix(end, "�") || len(end) > 3*tailBytes {
		t.Errorf("the tail has %d bytes", len(end))
	}
}
