// Package proc reads information about processes from the operating system, also about processes that are not children
// of this one. The information may be out of date, so an [ID] identifies a process, which a later process with the same
// pid does not have.
//
// The package holds no state and may be used from any goroutine.
package proc

import "os"

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
func (id ID) HasEnv(entry string) bool { return hasEnv(id.PID, entry) }

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
func All() []ID { return all() }

// Command returns what a process was started as, for messages; "" when that cannot be read.
func Command(pid int) string { return command(pid) }
