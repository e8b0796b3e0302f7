package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/windows"

	"github.com/trailblaze/trailblaze/cmd"
)

// What this binary is when E2E_PROCESS is set: the program, a tool server, or a process that the server starts.
const (
	processVariable = "E2E_PROCESS"
	program         = "program"
	toolServer      = "server"
	sleeper         = "sleeper"
)

func TestMain(m *testing.M) {
	switch os.Getenv(processVariable) {
	case program:
		os.Unsetenv(processVariable)
		os.Exit(cmd.Main(cmd.NewSystem("test")))
	case toolServer:
		serveTools()
	case sleeper:
		select {}
	default:
		os.Exit(m.Run())
	}
}

// serveTools serves two tools of the official SDK: echo, and hang, which starts a process, writes its own id and that of
// the process to the file pids, and does not respond.
func serveTools() {
	server := mcp.NewServer(&mcp.Implementation{Name: "windows", Version: "1"}, nil)
	type text struct {
		Text string `json:"text"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "echo"},
		func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "hang"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			child := exec.Command(os.Args[0]) //nolint:noctx // it has to outlive this call
			child.Env = append(os.Environ(), processVariable+"="+sleeper)
			child.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS}
			if err := child.Start(); err != nil {
				return nil, nil, err
			}
			pids := strconv.Itoa(os.Getpid()) + " " + strconv.Itoa(child.Process.Pid)
			if err := errors.Join(os.WriteFile("pids.new", []byte(pids), 0o600), os.Rename("pids.new", "pids")); err != nil {
				return nil, nil, err
			}
			select {}
		})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// windowsProject returns the folder of a project whose server is this binary, written as command.
func windowsProject(t *testing.T, command string, trails map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - name: tools\n    command: '" + command +
			"'\n    env: { " + processVariable + ": " + toolServer + " }\n",
	}
	for name, calls := range trails {
		files[filepath.Join("trails", name)] = "trail:\n  - step: s\n    recording: { web: [ " + calls + " ] }\n"
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// trailblaze returns a command of the program in a folder, with settings of its own.
func trailblaze(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Dir = dir
	c.Env = append(os.Environ(), processVariable+"="+program, "TRAILBLAZE_CACHE_DIR="+filepath.Join(dir, ".cache"), "NO_COLOR=1")
	return c
}

// succeed runs the program and returns what it prints.
func succeed(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := trailblaze(t, dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("trailblaze %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(got, text) {
			t.Errorf("%q is missing in\n%s", text, got)
		}
	}
}

func TestFirstProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	succeed(t, dir, "init")
	contains(t, succeed(t, dir, "run"), "1 passed")
	contains(t, succeed(t, dir, "check"), "0 problems")
	contains(t, succeed(t, dir, "toolbox", "list"), "greet")
	contains(t, succeed(t, dir, "tool", "greet", "name=Ada"), "Hello, Ada!")
	contains(t, succeed(t, dir, "doctor"), "project files")
}

func TestPaths(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := windowsProject(t, self, map[string]string{
		`a.trail.yaml`: "{ echo: { text: 'C:\\new' } }", `sub\b.trail.yaml`: "{ echo: { text: b } }",
	})
	for _, args := range [][]string{
		{`trails\a.trail.yaml`},
		{"trails/a.trail.yaml"},
		{`.\trails\a.trail.yaml`},
		{filepath.Join(dir, `trails\a.trail.yaml`)},
		{`trails\*.trail.yaml`},
	} {
		contains(t, succeed(t, dir, append([]string{"run", "--json"}, args...)...), `"file":"trails/a.trail.yaml"`, `"passed":1`, `C:\\new`)
	}
	contains(t, succeed(t, filepath.Join(dir, `trails\sub`), "run", ".", "--junit", `..\..\junit.xml`), "1 passed")
	contains(t, succeed(t, dir, "run", `--html`, `out\report`), "2 passed")
	for _, name := range []string{"junit.xml", `out\report\index.html`} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestServerOnPath(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := windowsProject(t, strings.TrimSuffix(filepath.Base(self), ".exe"), map[string]string{"a.trail.yaml": "{ echo: { text: a } }"})
	run := trailblaze(t, dir, "run")
	run.Env = append(run.Env, "PATH="+filepath.Dir(self))
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Whatever ends the program, its server and a process that the server detached end with it.
func TestEndings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call string
		args []string
		end  func(*os.Process) error
		code int
	}{
		"timeout":      {"{ hang: {} }", []string{"--timeout", "3s"}, nil, 124},
		"call timeout": {"{ hang: {}, timeout: 1s }", nil, nil, 1},
		"killed":       {"{ hang: {} }", nil, (*os.Process).Kill, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endsWithItsProcesses(t, tt.call, tt.args, tt.end, tt.code)
		})
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	endsWithItsProcesses(t, "{ hang: {} }", nil, func(p *os.Process) error {
		return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid))
	}, 130)
}

// endsWithItsProcesses runs a trail whose call hangs, ends the program with end unless it is nil, and waits until the
// server and the process that it started have ended.
func endsWithItsProcesses(t *testing.T, call string, args []string, end func(*os.Process) error, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := windowsProject(t, self, map[string]string{"a.trail.yaml": call})
	run := trailblaze(t, dir, append([]string{"run"}, args...)...)
	run.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	started := openProcesses(t, filepath.Join(dir, "pids"))
	if end != nil {
		if err := end(run.Process); err != nil {
			t.Error(err)
		}
	}
	_ = run.Wait() // the exit code says it
	if got := run.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d\n%s", got, code, &out)
	}
	for _, p := range started {
		if _, err := p.Wait(); err != nil { // until it has ended
			t.Error(err)
		}
	}
}

// openProcesses returns the processes whose ids a file has, once it is there.
func openProcesses(t *testing.T, file string) []*os.Process {
	t.Helper()
	var pids []byte
	for pids == nil {
		pids, _ = os.ReadFile(file)
	}
	var found []*os.Process
	for _, field := range strings.Fields(string(pids)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			t.Fatalf("process %d: %v", pid, err)
		}
		found = append(found, p)
	}
	return found
}
