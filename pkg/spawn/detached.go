package spawn

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
)

// DetachedSpec says how to start a process that keeps running after this one.
type DetachedSpec struct {
	Path   string // absolute
	Args   []string
	Dir    string
	Env    []string // the complete environment
	Stderr *os.File
}

// Detached is a process that keeps running after this one, in a session of its own: it does not get the signals of this
// process's terminal. It belongs to no [Supervisor].
type Detached struct {
	PID    int
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	cmd *exec.Cmd
}

// StartDetached starts a detached process. The caller ends with either Release or Wait.
func StartDetached(spec DetachedSpec) (*Detached, error) {
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), stdin.Close())
	}
	cmd := exec.Command(spec.Path, spec.Args...) //nolint:noctx // it outlives every context
	cmd.Dir, cmd.Env = spec.Dir, spec.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, spec.Stderr
	setDetached(cmd)
	err = owners.start("", func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
	_, _ = childIn.Close(), childOut.Close()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	return &Detached{PID: cmd.Process.Pid, Stdin: stdin, Stdout: stdout, cmd: cmd}, nil
}

// Release closes the pipes and leaves the process running.
func (d *Detached) Release() error {
	return errors.Join(d.Stdin.Close(), d.Stdout.Close(), d.cmd.Process.Release())
}

// Wait closes the pipes, waits until the process has exited and returns its exit code, -1 when a signal ended it.
func (d *Detached) Wait() int {
	_, _ = d.Stdin.Close(), d.Stdout.Close()
	_ = d.cmd.Wait() // the exit code says the same
	owners.forgetLeader(d.PID, "")
	return d.cmd.ProcessState.ExitCode()
}

// Launch starts a program for the user, such as the one that opens a file in their browser. It, and what it starts, go on
// when this process ends: nothing stops them, and nothing waits for them. name is a path, or is looked up in the PATH of
// env, its complete environment. It reads nothing, and what it writes is discarded.
func Launch(name string, args, env []string) error {
	path, err := LookPath(name, env)
	if err != nil {
		return err
	}
	id := rand.Text()                  // by which what it starts is not taken for what another process has left
	cmd := exec.Command(path, args...) //nolint:noctx // it outlives every context
	cmd.Env = append(slices.Clone(env), processIDVariable+"="+id)
	setDetached(cmd)
	err = owners.start(id, func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
	if err != nil {
		return err
	}
	owners.forgetLeader(cmd.Process.Pid, id) // so that it is reaped with other orphans
	return cmd.Process.Release()
}
