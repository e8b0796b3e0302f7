package spawn

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
)

// Program says what to start that is no server: a program that we speak with over two pipes of its own, such as a browser.
type Program struct {
	Name string // only for lists of processes
	Path string // absolute
	Args []string
	Env  []string // complete, as in Spec
	// Folder holds what the program writes. It goes with the program, however either of us ends.
	Folder string
}

// Piped is a running program with our ends of its pipes, which the caller closes. On systems without pipes to inherit (CanPipe) both
// are nil.
type Piped struct {
	*Process
	In  *os.File // the program's file 3
	Out *os.File // the program's file 4
}

// Open starts a program. ctx bounds the start. Unlike a server, a program may end by itself when its pipes close, also when that is
// because we were killed; what was in its folder is then removed by the shell that started it. The error is a *fault.Error, as of Start.
func (s *Supervisor) Open(ctx context.Context, spec Program) (Piped, error) {
	p := plan{
		spec: Spec{Name: spec.Name, Env: slices.Concat(spec.Env, []string{sessionVariable + filepath.Base(spec.Folder)}), Log: silence},
		argv: append([]string{spec.Path}, spec.Args...), folder: spec.Folder, deaf: true, release: func() {},
	}
	if ctx.Err() != nil {
		return Piped{}, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "starting "+spec.Path)
	}
	if _, err := jsruntime.Executable(spec.Path, variable(spec.Env, "PATHEXT")); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return Piped{}, notExecutable(spec.Path)
		}
		return Piped{}, fault.New(fault.CommandNotFound, "", "%s does not exist", spec.Path)
	}
	in, out, err := p.wrap()
	if err != nil {
		return Piped{}, fault.Wrap(fault.Server, err, "", "making pipes for "+spec.Path)
	}
	process, err := s.launch(p)
	for _, f := range p.extra {
		_ = f.Close()
	}
	if err != nil {
		for _, f := range []*os.File{in, out} {
			if f != nil {
				_ = f.Close()
			}
		}
		return Piped{}, startFault(err, p)
	}
	return Piped{process, in, out}, nil
}

// LookPath finds a program as a shell with that environment would. The error is fs.ErrPermission when what is there may not be executed.
func LookPath(name string, env []string) (string, error) {
	return jsruntime.LookPath(name, variable(env, "PATH"), variable(env, "PATHEXT"))
}

// Stderr is the end of what the process has written to stderr.
func (p *Process) Stderr() string { return tail(p.record.remembered()) }
