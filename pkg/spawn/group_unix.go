//go:build unix

package spawn

import (
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the process group of a server. The leader also gets a session of its own: without a controlling terminal it
// can neither be stopped for reading from one nor get the terminal's Ctrl-C.
type group struct{ id int }

func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// setDetached has the process start in a session of its own.
func setDetached(cmd *exec.Cmd) { setGroup(cmd) }

// groupOf returns the group of a process. A daemon leaves it by itself.
func groupOf(cmd *exec.Cmd, _ bool) (group, error) { return group{cmd.Process.Pid}, nil }

func (g group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }

func (g group) kill() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

func (g group) close() {}

// signalOf returns the name of the signal that ended a process, "" when none did.
func signalOf(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	return status.Signal().String()
}

// inodesOf returns the inode numbers of pipes.
func inodesOf(pipes ...*os.File) []uint64 {
	var inodes []uint64
	for _, pipe := range pipes {
		info, err := pipe.Stat()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			inodes = append(inodes, stat.Ino)
		}
	}
	return inodes
}
