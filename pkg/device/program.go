package device

import (
	"context"
	"io"
	"os"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Programs starts the programs that a kind of device needs, such as a browser, and stops what is left of them at the
// end of the run.
type Programs interface {
	// LookPath finds a program as a shell with that environment would. The error is fs.ErrNotExist, or fs.ErrPermission
	// for a file that may not be executed.
	LookPath(name string, env []string) (string, error)
	// CanPipe reports whether a program gets two pipes of its own.
	CanPipe() bool
	// Start starts a program. ctx limits the start. The error is a *fault.Error.
	Start(ctx context.Context, p Program) (PipedProcess, error)
}

// Program is a program to start.
type Program struct {
	Name string // for messages and lists of processes
	Path string // absolute
	Args []string
	Env  []string // complete
	Dir  string   // working folder; empty for that of this process
	// Folder is where the program writes its files. It is removed when the program ends, even if this process was
	// killed. Empty for none.
	Folder string
	// IsNoise reports whether a line of stderr is left out of error messages, which then have at most five others. May
	// be nil.
	IsNoise func(line string) bool
	// Stderr receives what the program writes to stderr; Write must not block. May be nil.
	Stderr io.Writer
	// Terminate says that the program, which does not end with its input or its pipes, is asked to end by SIGTERM.
	Terminate bool
	// Daemon is for a program that starts a process which keeps running after this one, in a session of its own and
	// without the program's pipes, such as `adb start-server`. On Windows, only this keeps it from being ended.
	Daemon bool
}

// PipedProcess is a running program with this process's ends of its pipes, which the caller closes. Both are nil unless
// CanPipe.
type PipedProcess struct {
	Process
	In  *os.File // the program's file 3
	Out *os.File // the program's file 4
}

// Process is a running program.
type Process interface {
	// Done is closed when the program has exited.
	Done() <-chan struct{}
	// ExitError returns how the program exited; nil while it runs and after an exit that Stop caused.
	ExitError() *fault.Error
	// Stderr returns the last lines that the program wrote to stderr.
	Stderr() string
	// Explain returns cause with what is known of the process: its exit status and the last lines of its stderr.
	Explain(cause *fault.Error) *fault.Error
	// Stop ends the program and everything that it started, by force when ctx ends.
	Stop(ctx context.Context) error
}
