// Package proc reads information about processes from the operating system, also about processes that are not children
// of this one. The information may be out of date, so an [ID] identifies a process, which a later process with the same
// pid does not have.
//
// The package holds no state and may be used from any goroutine.
package proc

import (
	"bytes"
	"cmp"
	"os"
)

// ID names one process. The zero value names none.
type ID struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // when it started, in the system's own form
}

// Find returns the ID of a running process; its Start is "" when there is none, or only a zombie.
func Find(pid int) ID { return ID{pid, start(pid)} }

// Running reports whether the process runs. A zombie does not.
func (id ID) Running() bool { return id.Start != "" && start(id.PID) == id.Start }

// Kill kills the process if it still runs. It ignores a process that the system does not permit to kill.
func (id ID) Kill() {
	p, err := os.FindProcess(id.PID) // on Linux, p names the process itself from here on
	if err != nil {
		return
	}
	if id.Running() {
		_ = p.Kill()
	}
	_ = p.Release()
}

// HasEnv reports whether the environment that the process was started with has an entry, as in "NAME=value". It is
// false when the environment cannot be read.
func (id ID) HasEnv(entry string) bool {
	return bytes.Contains(environ(id.PID), []byte("\x00"+entry+"\x00"))
}

// Env returns the value of a variable in the environment that the process was started with, "" when there is none or it
// cannot be read.
func (id ID) Env(name string) string {
	_, after, _ := bytes.Cut(environ(id.PID), []byte("\x00"+name+"="))
	value, _, _ := bytes.Cut(after, []byte{0})
	return string(value)
}

// StartedBefore compares the start of two processes.
func (id ID) StartedBefore(other ID) bool {
	return cmp.Or(cmp.Compare(len(id.Start), len(other.Start)), cmp.Compare(id.Start, other.Start)) < 0
}

// Scope names what process ids and start times are relative to: this boot of this machine, and the namespace of
// processes where the system has several.
func Scope() string { return scope() }

// Members returns the running members of the process group of an id and, on Linux, of the session of that id. It
// returns none on Windows.
func Members(id int) []ID { return members(id) }

// Holders returns the running processes, other than this one, that have open a pipe with one of the inode numbers. It
// returns none except on Linux.
func Holders(inodes []uint64) []ID { return holders(inodes) }

// All returns the running processes that this one can see. It returns none on Windows.
func All() []ID { return listAll() }

// Program returns the program that a process was started as, a path or a name; "" when that cannot be read.
func Program(pid int) string { return program(pid) }

// Command returns what a process was started as, for messages; "" when that cannot be read.
func Command(pid int) string { return command(pid) }
