package spawn

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
)

// Program describes a program to start that is not a server and communicates over two extra pipes, such as a browser.
// Its fields mean what those of device.Program do, which is converted to it.
type Program struct {
	Name    string
	Path    string
	Args    []string
	Env     []string
	Dir     string
	Folder  string
	IsNoise func(line string) bool
	Stderr  io.Writer
	// Terminate says that Stop sends SIGTERM at once.
	Terminate bool
	Daemon    bool // on Windows, lets what the program starts leave the program's job
}

// PipedProcess is a running program with this side's ends of its pipes, which the caller closes. Where pipes cannot be
// inherited (CanPipe) both are nil.
type PipedProcess struct {
	*Process
	In  *os.File // the program's file 3
	Out *os.File // the program's file 4
}

// StartProgram starts a program. ctx bounds the start. Unlike a server, a program may end by itself when its pipes
// close, also when that is because this process was killed; the shell that started it then removes its folder. The
// error is a *fault.Error, as of Start.
func (s *Supervisor) StartProgram(ctx context.Context, spec Program) (PipedProcess, error) {
	p := plan{
		spec: Spec{Name: spec.Name, Env: spec.Env, Log: discardLog, Terminate: spec.Terminate},
		argv: append([]string{spec.Path}, spec.Args...), dir: spec.Dir, folder: spec.Folder, release: func() {},
		isNoise: spec.IsNoise, daemon: spec.Daemon,
	}
	if spec.Stderr != nil {
		p.spec.Stderr = nopCloser{spec.Stderr}
	}
	if ctx.Err() != nil {
		return PipedProcess{}, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "starting "+spec.Path)
	}
	if _, err := jsruntime.Executable(spec.Path, variable(spec.Env, "PATHEXT")); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return PipedProcess{}, notExecutable(spec.Path)
		}
		return PipedProcess{}, fault.New(fault.CommandNotFound, "", "%s does not exist", spec.Path)
	}
	in, out, err := p.addPipes()
	if err != nil {
		return PipedProcess{}, fault.Wrap(fault.IO, err, "", "making pipes for "+spec.Path)
	}
	process, err := s.launch(ctx, p)
	for _, f := range p.files {
		_ = f.Close()
	}
	if err != nil {
		for _, f := range []*os.File{in, out} {
			if f != nil {
				_ = f.Close()
			}
		}
		return PipedProcess{}, startFault(err, p)
	}
	return PipedProcess{process, in, out}, nil
}

// LookPath finds a program as a shell with that environment would: a path, or a name on PATH. The error is fs.ErrNotExist, or fs.ErrPermission
// when what is there may not be executed.
func LookPath(name string, env []string) (string, error) {
	if name != filepath.Base(name) {
		return jsruntime.Executable(name, variable(env, "PATHEXT"))
	}
	return jsruntime.LookPath(name, variable(env, "PATH"), variable(env, "PATHEXT"))
}
