// Package npm_test installs the npm packages of the program from their packed files, as users do.
package npm_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/cmd"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// programVariable makes the test binary the program under any name.
const programVariable = "NPM_TEST_PROGRAM"

// The test binary is also the program, under its name.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "trailblaze" || os.Getenv(programVariable) != "" {
		os.Exit(cmd.Main(cmd.NewSystem("1.2.3")))
	}
	os.Exit(m.Run())
}

const launcher = "node_modules/trailblaze/trailblaze.js"

// A trail that lasts until it is interrupted.
const endless = `config: { title: Wait }
trail:
  - step: Wait
    recording:
      web:
        - wait: { seconds: 600 }
`

func TestInstalledPackage(t *testing.T) {
	t.Parallel()
	packed := pack(t)
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "package.json"), "{}")
	// The packages of other platforms are not found, which is not an error for an optional dependency.
	command(t, folder, "npm", append([]string{"install", "--offline", "--no-audit", "--no-fund"}, packed...)...).mustPass()

	if out := command(t, folder, "npx", "trailblaze", "version").mustPass(); !strings.Contains(out, "trailblaze 1.2.3 (") {
		t.Errorf("version prints %q", out)
	}
	if out := command(t, folder, "npx", "trailblaze", "init").mustPass(); !strings.Contains(out, "next: npx trailblaze run\n") {
		t.Errorf("init with npx prints\n%s", out)
	}
	if out := command(t, folder, "node", launcher, "init", "direct").mustPass(); !strings.Contains(out, "next: cd direct && trailblaze run\n") {
		t.Errorf("init without npx prints\n%s", out)
	}
	if out := command(t, folder, "npx", "trailblaze", "run").mustPass(); !strings.Contains(out, "1 passed") {
		t.Errorf("run prints\n%s", out)
	}
	command(t, folder, "node", launcher, "run", "missing.trail.yaml").mustFail(4, "missing.trail.yaml")
	testSignal(t, folder)

	unsupported := filepath.Join(folder, "unsupported.js")
	writeFile(t, unsupported, `Object.defineProperty(process, "platform", { value: "freebsd" })`)
	command(t, folder, "node", "--require", unsupported, launcher, "version").
		mustFail(2, "trailblaze has no binary for freebsd-", "linux-arm64, linux-x64", "hint: build it")
	if err := os.RemoveAll(filepath.Join(folder, "node_modules", "@trailblaze")); err != nil {
		t.Fatal(err)
	}
	command(t, folder, "node", launcher, "version").mustFail(2, "the package @trailblaze/cli-", "is not installed", "--omit=optional")
}

// testSignal stops a run by a signal to the script in the package, which has no terminal.
func testSignal(t *testing.T, folder string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return // it has no such signals
	}
	writeFile(t, filepath.Join(folder, "endless.trail.yaml"), endless)
	run := command(t, folder, "node", launcher, "run", "--json", "endless.trail.yaml")
	marker := spawntest.Marker()
	run.Env = append(run.Env, marker)
	run.SysProcAttr = withoutTerminal()
	stdout, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.Contains(lines.Text(), `"seconds":600`) {
			if err := run.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
	_ = run.Wait()
	if code := run.ProcessState.ExitCode(); code != 143 {
		t.Errorf("the exit code is %d, want 143 of a run that was terminated", code)
	}
	spawntest.NoSurvivors(t, marker)
}

// pack makes the package trailblaze and that of this platform, and returns their files.
func pack(t *testing.T) []string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"package.json", "trailblaze.js", "README.md", "../.ci/npm-packages/main.go"} {
		if _, err := os.ReadFile(file); err != nil { // so that go test runs the test again when one of them has changed
			t.Fatal(err)
		}
	}
	binaries, out := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(binaries, "trailblaze_"+runtime.GOOS+"_"+runtime.GOARCH+"_v1")
	name := "trailblaze"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(folder, name)
	if testing.Short() && runtime.GOOS != "windows" { // a script, which npm compresses in no time
		writeFile(t, binary, "#!/bin/sh\n"+programVariable+"=1 exec '"+self+"' \"$@\"\n")
		err = os.Chmod(binary, 0o755)
	} else {
		err = os.Link(self, binary)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := command(t, root, "go", "run", "./.ci/npm-packages", "-binaries", binaries, "-out", out,
		"-only", runtime.GOOS+"/"+runtime.GOARCH, "-version", "1.2.3")
	c.Env = os.Environ()
	c.mustPass()
	packed, err := filepath.Glob(filepath.Join(out, "*.tgz"))
	if err != nil || len(packed) != 2 {
		t.Fatalf("packed files: %v, %v; want two", packed, err)
	}
	return packed
}

type testCommand struct {
	*exec.Cmd
	t *testing.T
}

// command returns a command whose environment has only PATH and HOME.
func command(t *testing.T, dir, name string, args ...string) testCommand {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.WaitDelay = dir, 10*time.Second
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, ".home")}
	return testCommand{c, t}
}

func (c testCommand) mustPass() string {
	c.t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return string(out)
}

func (c testCommand) mustFail(code int, parts ...string) {
	c.t.Helper()
	out, _ := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != code {
		c.t.Errorf("%s: the exit code is %d, want %d\n%s", c, got, code, out)
	}
	for _, part := range parts {
		if !strings.Contains(string(out), part) {
			c.t.Errorf("%s does not print %q:\n%s", c, part, out)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
