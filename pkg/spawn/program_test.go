//go:build unix

package spawn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// pipeEcho writes to file 4 what it reads from file 3, until that ends.
const pipeEcho = `echo busy > "$0/file"; echo here >&2; cat <&3 >&4`

type program struct {
	PipedProcess
	t      *testing.T
	folder string
	marker string
}

// programFolder returns a folder that the test has to see removed.
func programFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "profile")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}

func startProgram(t *testing.T, s *Supervisor, script string, env ...string) program {
	t.Helper()
	p := program{t: t, folder: programFolder(t), marker: spawntest.Marker()}
	var err error
	p.PipedProcess, err = s.StartProgram(t.Context(), Program{
		Name: "browser", Path: "/bin/sh", Args: []string{"-c", script, p.folder}, Folder: p.folder,
		Env: slices.Concat(os.Environ(), []string{p.marker}, env),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.closePipes)
	return p
}

func (p program) closePipes() { _, _ = p.In.Close(), p.Out.Close() }

// gone fails the test unless the program ends and leaves nothing.
func (p program) gone() {
	p.t.Helper()
	select {
	case <-p.Done():
	case <-time.After(limit):
		p.t.Fatal("the program is still running")
	}
	spawntest.NoSurvivors(p.t, p.marker)
	if _, err := os.Stat(p.folder); !errors.Is(err, fs.ErrNotExist) {
		p.t.Errorf("its folder is left: %v", err)
	}
}

func TestProgramIsSpokenWithOverItsOwnPipes(t *testing.T) {
	t.Parallel()
	s := NewSupervisor(Options{})
	p := startProgram(t, s, pipeEcho)
	if _, err := io.WriteString(p.In, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Out).ReadString('\n'); line != "hello\n" {
		t.Errorf("read %q, %v", line, err)
	}
	_ = p.In.Close()
	p.gone()
	if end := p.ExitError(); end == nil || end.Message != "exited with code 0" || p.Stderr() != "here" {
		t.Errorf("it ended with %v and wrote %q", end, p.Stderr())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestProgramAndItsFolderAreGoneHoweverItIsEnded(t *testing.T) {
	t.Parallel()
	const ignoresTheEnd = `trap "" TERM; echo busy > "$0/file"; echo ready >&4; while :; do sleep 60; done`
	for name, end := range map[string]func(*Supervisor, program){
		"stop at once": func(_ *Supervisor, p program) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := p.Stop(ctx); err != nil {
				t.Error(err)
			}
		},
		"kill all": func(s *Supervisor, _ program) { s.KillAll() },
		"the program is killed": func(_ *Supervisor, p program) {
			for _, id := range proc.Members(p.backend.pid()) {
				if id.PID != p.backend.pid() {
					id.Kill()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewSupervisor(Options{})
			p := startProgram(t, s, ignoresTheEnd)
			if line, err := bufio.NewReader(p.Out).ReadString('\n'); line != "ready\n" {
				t.Fatalf("read %q, %v", line, err)
			}
			end(s, p)
			p.gone()
		})
	}
}

func TestFolderIsRemovedWhateverPATHTheProgramHas(t *testing.T) {
	t.Parallel()
	s := NewSupervisor(Options{})
	p := startProgram(t, s, `echo "$PATH" >"$0/file"; echo "$PATH" >&2`, "PATH=/nowhere")
	p.gone()
	if got := p.Stderr(); got != "/nowhere" {
		t.Errorf("it wrote %q", got)
	}
}

func TestProgramThatCannotBeStartedIsAnError(t *testing.T) {
	t.Parallel()
	s := NewSupervisor(Options{})
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fault.Kind{plain: fault.PermissionDenied, plain + "er": fault.CommandNotFound} {
		if _, err := s.StartProgram(t.Context(), Program{Path: path, Folder: programFolder(t)}); fault.KindOf(err) != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

// programOwner is a trailblaze that is killed while it has a program.
func programOwner(args []string) {
	s := NewSupervisor(Options{StateDir: args[0]})
	p, err := s.StartProgram(context.Background(), Program{
		Name: "browser", Path: "/bin/sh", Args: []string{"-c", args[2], args[1]}, Env: os.Environ(), Folder: args[1],
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.WriteString(p.In, "x\n")
	_, _ = bufio.NewReader(p.Out).ReadString('\n')
	fmt.Println("ready")
	untilKilled()
}

// killedOwner starts an owner, kills it with SIGKILL, and returns what it had.
func killedOwner(t *testing.T, script string) (state, folder, marker string) {
	t.Helper()
	state, folder, marker = t.TempDir(), programFolder(t), spawntest.Marker()
	cmd := exec.Command(os.Args[0], state, folder, script)
	cmd.Env = append(os.Environ(), roleVariable+"=owner of a program", marker, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if line != "ready\n" {
		t.Fatalf("the owner wrote %q, %v", line, err)
	}
	return state, folder, marker
}

func TestProgramAndItsFolderAreGoneWhenItsOwnerIsKilled(t *testing.T) {
	t.Parallel()
	_, folder, marker := killedOwner(t, pipeEcho)
	spawntest.NoSurvivors(t, marker)
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its folder is left: %v", err)
	}
}

func TestReapKillsAProgramThatIgnoresTheEndOfItsPipes(t *testing.T) {
	t.Parallel()
	state, folder, marker := killedOwner(t, `echo busy > "$0/file"; echo ready >&4; while :; do sleep 60; done`)
	if len(spawntest.Survivors(marker)) == 0 {
		t.Fatal("nothing to reap")
	}
	found, err := Reap(state)
	if err != nil || len(found) != 1 || !strings.HasPrefix(found[0].String(), "browser (/bin/sh), process [") {
		t.Errorf("reaped %v, %v", found, err)
	}
	spawntest.NoSurvivors(t, marker)
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its folder is left: %v", err)
	}
}

func TestExplainLeavesNoiseOut(t *testing.T) {
	t.Parallel()
	s := NewSupervisor(Options{})
	p, err := s.StartProgram(t.Context(), Program{
		Name: "browser", Path: "/bin/sh", Args: []string{"-c", "for i in 1 2 3 4 5 6 7; do echo noise >&2; echo line $i >&2; done"},
		Env: os.Environ(), Folder: programFolder(t), IsNoise: func(line string) bool { return line == "noise" },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = p.In.Close(), p.Out.Close() }()
	<-p.Done()
	e := p.Explain(fault.New(fault.Crashed, "", "it exited"))
	if want := "stderr:\n    line 3\n    line 4\n    line 5\n    line 6\n    line 7"; !strings.HasSuffix(e.Message, want) {
		t.Errorf("%s", e.Message)
	}
	if stderr, _ := e.Details["stderr"].(string); !strings.Contains(stderr, "noise") {
		t.Errorf("%v", e.Details)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestProgramIsTerminatedAndItsStderrIsPassedOn(t *testing.T) {
	t.Parallel()
	s := NewSupervisor(Options{})
	lines := make(lineWriter, 1)
	p, err := s.StartProgram(t.Context(), Program{
		Name: "app", Path: "/bin/sh", Args: []string{"-c", `trap 'echo terminated >&2; exit 0' TERM; echo ready >&2; while :; do sleep 0.01; done`},
		Env: os.Environ(), Stderr: lines, Terminate: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.In.Close(), p.Out.Close() // it does not end with them
	if line := <-lines; line != "ready\n" {
		t.Errorf("it wrote %q", line)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := p.Stop(ctx); err != nil || !strings.HasSuffix(p.Stderr(), "terminated") {
		t.Errorf("stopped with %v, it wrote %q", err, p.Stderr())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// lineWriter sends what is written to it.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	select {
	case w <- string(p):
	default:
	}
	return len(p), nil
}

func TestProgramNeedsNoFolder(t *testing.T) {
	t.Parallel()
	s := NewSupervisor(Options{})
	p, err := s.StartProgram(t.Context(), Program{
		Name: "short", Path: "/bin/sh", Args: []string{"-c", "echo done >&2"}, Env: []string{"PATH=/nowhere"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = p.In.Close(), p.Out.Close() }()
	<-p.Done()
	if p.Stderr() != "done" {
		t.Errorf("it wrote %q", p.Stderr())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestLookPathTakesPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, text := filepath.Join(dir, "program"), filepath.Join(dir, "text")
	if err := errors.Join(os.WriteFile(program, nil, 0o755), os.WriteFile(text, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{program: nil, text: fs.ErrPermission, filepath.Join(dir, "missing"): fs.ErrNotExist} {
		found, err := LookPath(name, []string{"PATH=/nowhere"})
		if !errors.Is(err, want) || err == nil && found != program {
			t.Errorf("%s: %q, %v; want %v", name, found, err, want)
		}
	}
}
