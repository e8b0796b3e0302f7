//go:build unix

package spawn

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func put(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	// A child that another test forks right now would keep the file open for writing, and it could not be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestStartExplainsWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "plain"), "#!/bin/sh\n", 0o644)
	put(t, filepath.Join(dir, "shebang"), "#!/no/such/interpreter\n", 0o755)
	put(t, filepath.Join(dir, "rubbish"), "\x00\x01\x02", 0o755)
	put(t, filepath.Join(dir, "local"), "#!/bin/sh\n", 0o755)
	put(t, filepath.Join(dir, "bin", "onpath"), "", 0o644)
	put(t, filepath.Join(dir, "shop.ts"), "", 0o644)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.ts"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + filepath.Join(dir, "bin")}
	for _, c := range []struct {
		name          string
		spec          Spec
		kind          fault.Kind
		message, hint string
	}{
		{"not on PATH", Spec{Command: "nowhere", Dir: dir}, fault.CommandNotFound, `the command "nowhere" is not on PATH`, "install it, or write its path"},
		{"not on PATH but here", Spec{Command: "local", Dir: dir}, fault.CommandNotFound, `the command "local" is not on PATH`, "<dir> has a file of that name: write ./local"},
		{
			"not executable on PATH",
			Spec{Command: "onpath", Dir: dir},
			fault.PermissionDenied,
			"the command onpath is on PATH, but no file of that name there may be executed", "run chmod +x on the file",
		},
		{
			"no such file",
			Spec{Command: "./gradlew", Dir: dir},
			fault.CommandNotFound,
			"the command ./gradlew does not exist (looked for <dir>/gradlew)", "a command with a separator is looked up from the entry's workingDir",
		},
		{"not executable", Spec{Command: "./plain", Dir: dir}, fault.PermissionDenied, "the command <dir>/plain may not be executed", "run chmod +x <dir>/plain"},
		{"a folder", Spec{Command: "./bin", Dir: dir}, fault.PermissionDenied, "the command <dir>/bin is a folder", "name the program in it"},
		{
			"no interpreter",
			Spec{Command: "./shebang", Dir: dir},
			fault.CommandNotFound,
			"<dir>/shebang exists, but what its first line names does not", "check the interpreter after #!, or the C library that a binary was built for",
		},
		{
			"no program",
			Spec{Command: "./rubbish", Dir: dir},
			fault.Server, "<dir>/rubbish is not a program for this machine",
			"a script needs a first line like #!/bin/sh; a binary has to be built for this system",
		},
		{"no folder", Spec{Command: "./local", Dir: filepath.Join(dir, "gone")}, fault.Server, "the working directory <dir>/gone is not a folder", "the entry's workingDir: names the folder"},
		{"a file for a folder", Spec{Command: "./local", Dir: filepath.Join(dir, "plain")}, fault.Server, "the working directory <dir>/plain is not a folder", "the entry's workingDir: names the folder"},
		{"no script", Spec{Script: filepath.Join(dir, "gone.ts")}, fault.Server, "the script <dir>/gone.ts does not exist", "the entry's script: is looked up from the project's folder"},
		{"a pipe for a script", Spec{Script: filepath.Join(dir, "fifo.ts")}, fault.Server, "the script <dir>/fifo.ts is not a file but a pipe or a device", "name a regular file"},
		{"a device for a script", Spec{Script: "/dev/zero"}, fault.Server, "the script /dev/zero is not a file but a pipe or a device", "name a regular file"},
		{"a folder for a script", Spec{Script: dir}, fault.Server, "the script <dir> is a folder", "name the script's file"},
		{
			"a runtime that is not there",
			Spec{Script: filepath.Join(dir, "shop.ts"), Runtime: "bun"},
			fault.Runtime,
			"the entry's runtime key selects bun, which is not on PATH", "install it (https://bun.sh), or let trailblaze choose",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sup := NewSupervisor(Options{})
			c.spec.Env = env
			p, err := sup.Start(t.Context(), c.spec)
			if err == nil {
				_ = p.Stop(t.Context())
				t.Fatal("it starts")
			}
			e := fault.As(err)
			if e == nil {
				t.Fatalf("error %v is not a *fault.Error", err)
			}
			message, hint := strings.ReplaceAll(c.message, "<dir>", dir), strings.ReplaceAll(c.hint, "<dir>", dir)
			if e.Kind != c.kind || !strings.HasPrefix(e.Message, message) || e.Hint != hint {
				t.Errorf("got  %s: %s\nhint %s\nwant %s: %s\nhint %s", e.Kind, e.Message, e.Hint, c.kind, message, hint)
			}
		})
	}
}

func TestCommandIsLookedUpInThePATHAndFolderOfTheSpec(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "tools", "hello"), "#!/bin/sh\necho \"hello $1 from $PWD\" >&2\n", 0o755)
	for _, c := range []struct {
		name string
		spec Spec
	}{
		{"on PATH", Spec{Command: "hello", Dir: dir, Env: []string{"PATH=/nowhere", "PATH=relative:" + filepath.Join(dir, "tools") + ":/bin"}}},
		{"in the folder", Spec{Command: "tools/hello", Dir: dir}},
		{"absolute", Spec{Command: filepath.Join(dir, "tools", "hello"), Dir: dir}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sup := NewSupervisor(Options{})
			c.spec.Args = []string{"x y"}
			p, err := sup.Start(t.Context(), c.spec)
			if err != nil {
				t.Fatal(err)
			}
			waitFor(t, p.Done(), "the end")
			if got := p.Stderr(); got != "hello x y from "+dir {
				t.Errorf("it wrote %q", got)
			}
		})
	}
}

func TestCancelledStartStartsNothing(t *testing.T) {
	t.Parallel()
	sup := NewSupervisor(Options{})
	ctx := cancelled(t)
	if _, err := sup.Start(ctx, Spec{Command: "/bin/sleep", Args: []string{"3600"}}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("error %v", err)
	}
}
