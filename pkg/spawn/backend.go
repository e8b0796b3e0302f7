package spawn

import (
	"fmt"
	"os/exec"
)

// backend is what runs behind a Process's pipes: a process of the system with its group, or an engine inside this
// process. Its ends of the pipes are closed when it is reaped.
type backend interface {
	// wait returns when the backend has ended. Its id may still be taken.
	wait()
	// reap frees the id and kills what else belongs to the backend. It follows wait.
	reap()
	terminate()
	kill()
	// exit returns how the backend ended, once it is reaped.
	exit() exit
	pid() int // 0 for an engine
	// String is what a message calls it.
	String() string
}

// exit is how a backend ended.
type exit struct {
	code   int
	signal string // that ended it, like KILL; "" for none
	broken string // why an engine could not go on; "" for none
}

// String is a description like "exited with code 3".
func (e exit) String() string {
	switch {
	case e.broken != "":
		return e.broken
	case e.signal != "":
		return "killed by signal " + e.signal
	}
	return fmt.Sprintf("exited with code %d", e.code)
}

// osProcess is a process of the system.
type osProcess struct {
	id     string // value of its environment variable processIDVariable
	cmd    *exec.Cmd
	group  group
	zombie bool // it has exited and its id is still taken
}

// startOSProcess starts a command. id is that of osProcess, daemon that of Program. The error is the system's.
func startOSProcess(cmd *exec.Cmd, id string, daemon bool) (backend, error) {
	setGroup(cmd)
	b := &osProcess{id: id, cmd: cmd}
	err := owners.start(id, func() (pid int, err error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		if b.group, err = groupOf(cmd, daemon); err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		return cmd.Process.Pid, err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// wait implements backend. Where the system reports the exit without reaping, the group is killed before the leader is
// reaped: its id cannot be reused as long as the leader is a zombie. Elsewhere the group is killed right after.
func (b *osProcess) wait() {
	b.zombie = b.group.awaitExit()
	if !b.zombie {
		_ = b.cmd.Wait()
	}
}

func (b *osProcess) reap() {
	b.group.kill()
	if b.zombie {
		_ = b.cmd.Wait()
	}
	b.group.close()
	owners.forgetLeader(b.pid(), b.id)
}

func (b *osProcess) terminate() { b.group.terminate() }

func (b *osProcess) kill() { b.group.kill() }

func (b *osProcess) exit() exit {
	return exit{code: b.cmd.ProcessState.ExitCode(), signal: signalOf(b.cmd.ProcessState)}
}

func (b *osProcess) pid() int { return b.cmd.Process.Pid }

func (b *osProcess) String() string { return fmt.Sprintf("process %d", b.pid()) }
