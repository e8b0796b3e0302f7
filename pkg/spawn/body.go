package spawn

import (
	"fmt"
	"os/exec"
)

// body is what runs behind a Process's pipes: a process of the system with its group, or an engine inside our own. Its ends of the
// pipes are closed when it is reaped.
type body interface {
	// await returns when it has ended. Its id may still be taken.
	await()
	// reap frees the id and ends what else belongs to the body. It follows await.
	reap()
	terminate()
	kill()
	// end says how it ended, once it is reaped.
	end() end
	pid() int // 0 for one that is no process of the system
	// String is what a message calls it.
	String() string
}

// end is how a body ended.
type end struct {
	code   int
	signal string // that ended it, like KILL; empty for none
	broken string // why an engine could not go on; empty for none
}

// verdict says how a body ended.
func (e end) verdict() string {
	switch {
	case e.broken != "":
		return e.broken
	case e.signal != "":
		return "killed by signal " + e.signal
	}
	return fmt.Sprintf("exited with code %d", e.code)
}

// osBody is a process of the system.
type osBody struct {
	cmd    *exec.Cmd
	group  group
	zombie bool // it has ended and its id is still taken
}

// startProcess starts a command. The error is the system's.
func startProcess(cmd *exec.Cmd) (body, error) {
	prepare(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	group, err := adopt(cmd)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return &osBody{cmd: cmd, group: group}, nil
}

// await implements body. Where the system can tell us of the exit without reaping, the group is swept before: its id cannot be reused as
// long as the leader is a zombie. Elsewhere it is swept right after.
func (b *osBody) await() {
	b.zombie = b.group.awaitExit()
	if !b.zombie {
		_ = b.cmd.Wait()
	}
}

func (b *osBody) reap() {
	b.group.kill()
	if b.zombie {
		_ = b.cmd.Wait()
	}
	b.group.close()
}

func (b *osBody) terminate() { b.group.terminate() }

func (b *osBody) kill() { b.group.kill() }

func (b *osBody) end() end {
	return end{code: b.cmd.ProcessState.ExitCode(), signal: signalOf(b.cmd.ProcessState)}
}

func (b *osBody) pid() int { return b.cmd.Process.Pid }

func (b *osBody) String() string { return fmt.Sprintf("process %d", b.pid()) }
