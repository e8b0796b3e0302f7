package spawn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/trailblaze/trailblaze/pkg/bundle"
	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
)

// plan is a Spec with everything looked up.
type plan struct {
	spec    Spec
	argv    []string // the first is a path, unless an engine runs it
	dir     string
	runtime string         // "" for a command
	bundle  *bundle.Bundle // of what an engine runs
	release func()         // to be called when it has ended

	// Of a program.
	prefix []string   // of argv: the wrapper that starts the program
	files  []*os.File // files 3 and on
	folder string     // removed with it; "" for none

	isNoise func(line string) bool // see Program; may be nil
	daemon  bool                   // see Program
}

// plan looks up what a Spec needs.
func (s *Supervisor) plan(ctx context.Context, spec Spec) (plan, error) {
	p := plan{spec: spec, dir: spec.Dir, release: func() {}}
	if spec.Script != "" && p.dir == "" {
		p.dir = filepath.Dir(spec.Script)
	}
	if spec.Script != "" && spec.Entry == nil {
		if err := jsruntime.CheckScript(spec.Script); err != nil {
			return p, err
		}
	}
	if info, err := os.Stat(p.dir); p.dir != "" && (err != nil || !info.IsDir()) {
		return p, fault.New(fault.Server, "the entry's workingDir: names the folder", "the working directory %s is not a folder", p.dir)
	}
	if spec.Script == "" {
		path, err := FindCommand(spec.Command, p.dir, spec.Env)
		p.argv = append([]string{path}, spec.Args...)
		if err == nil {
			err = batchSafe(p.argv)
		}
		return p, err
	}
	slow := time.AfterFunc(bundleNotice, func() {
		spec.Log("info", "its script is being bundled, which takes this long only when it or a package has changed", "")
	})
	defer slow.Stop()
	command, err := s.runtimes.Command(ctx, jsruntime.Script{
		Path: spec.Script, Entry: spec.Entry, Runtime: spec.Runtime, NotEmbedded: spec.NotEmbedded, OnDevice: spec.OnDevice,
	})
	if err != nil {
		return p, err
	}
	p.argv, p.runtime = append(slices.Clip(command.Argv), spec.Args...), command.Runtime
	p.bundle, p.release = command.Bundle, command.Release
	spec.Log("debug", fmt.Sprintf("runs on %s: %s", command.Runtime, command.Why), "")
	return p, nil
}

// bundleNotice is shorter than the time after which a server that has not responded yet is reported.
const bundleNotice = 4 * time.Second

// FindCommand resolves a command as a shell in dir would, with the PATH of env, and returns its path. The error is a
// *fault.Error of kind CommandNotFound or PermissionDenied.
func FindCommand(name, dir string, env []string) (string, error) {
	pathext := variable(env, "PATHEXT")
	if name != filepath.Base(name) {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		found, err := jsruntime.Executable(path, pathext)
		if errors.Is(err, fs.ErrPermission) {
			return "", notExecutable(path)
		}
		if err != nil {
			return "", fault.New(fault.CommandNotFound, "a command with a separator is looked up from the entry's workingDir",
				"the command %s does not exist (looked for %s)", name, path)
		}
		return found, nil
	}
	found, err := jsruntime.LookPath(name, variable(env, "PATH"), pathext)
	switch {
	case err == nil:
		return found, nil
	case errors.Is(err, fs.ErrPermission):
		return "", fault.New(fault.PermissionDenied, "run chmod +x on the file", "the command %s is on PATH, but no file of that name there may be executed", name)
	}
	hint := "install it, or write its path"
	if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
		hint = fmt.Sprintf("%s has a file of that name: write ./%s", dir, name)
	}
	return "", fault.New(fault.CommandNotFound, hint, "the command %q is not on PATH", name)
}

func notExecutable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fault.New(fault.PermissionDenied, "name the program in it", "the command %s is a folder", path)
	}
	return fault.New(fault.PermissionDenied, "run chmod +x "+path, "the command %s may not be executed", path)
}

// variable returns the last value of name in env.
func variable(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if key, v, ok := strings.Cut(kv, "="); ok && (key == name || goruntime.GOOS == "windows" && strings.EqualFold(key, name)) {
			value = v
		}
	}
	return value
}

// batchSafe returns an error for arguments that cmd.exe would interpret: Windows runs batch files with it, and no
// quoting serves both.
func batchSafe(argv []string) error {
	ext := strings.ToLower(filepath.Ext(argv[0]))
	if goruntime.GOOS != "windows" || ext != ".bat" && ext != ".cmd" {
		return nil
	}
	for _, arg := range argv[1:] {
		if strings.ContainsAny(arg, "\"%!^&|<>()\r\n") {
			return fault.New(fault.Server, "let the entry start the program behind it, such as node.exe with a script",
				"%s is a batch file, and cmd.exe would change the argument %q", argv[0], arg)
		}
	}
	return nil
}

// startFault explains an error of the operating system on starting a program.
func startFault(err error, p plan) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &fault.Error{
			Kind: fault.PermissionDenied, Message: fmt.Sprintf("%s may not be executed here: %v", p.argv[0], err), Cause: err,
			Hint: "check its mode, the mode of the folders above it, and whether the file system allows execution",
		}
	case errors.Is(err, syscall.ENOEXEC):
		return &fault.Error{
			Kind: fault.Server, Message: fmt.Sprintf("%s is not a program for this machine: %v", p.argv[0], err), Cause: err,
			Hint: "a script needs a first line like #!/bin/sh; a binary has to be built for this system",
		}
	case errors.Is(err, fs.ErrNotExist):
		return &fault.Error{
			Kind: fault.CommandNotFound, Message: fmt.Sprintf("%s exists, but what its first line names does not: %v", p.argv[0], err),
			Cause: err, Hint: "check the interpreter after #!, or the C library that a binary was built for",
		}
	}
	return fault.Wrap(fault.Server, err, "", "starting "+p.argv[0])
}
