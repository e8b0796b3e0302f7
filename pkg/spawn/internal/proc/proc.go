// Package proc asks the operating system about processes that are not, or not necessarily, children of this one. An answer
// may be out of date when it arrives; callers compare start times, which tell a process from a later one with the same id.
//
// It changes nothing, holds nothing and may be used from any goroutine.
package proc

// Start returns an opaque token of when the process started, "" when there is no such process or it is a zombie.
func Start(pid int) string { return start(pid) }

// Scope names what process ids and start times are relative to: this boot of this machine, and where there are several, this
// namespace of processes.
func Scope() string { return scope() }

// Group returns the living members of a process group, without zombies.
func Group(pgid int) []int { return group(pgid) }

// All returns the living processes that can be seen, without zombies.
func All() []int { return all() }

// Carries reports whether entry, as in "NAME=value", was in the environment that the process was started with. It is false
// when that cannot be read.
func Carries(pid int, entry string) bool { return carries(pid, entry) }

// Command returns what the process was started as, for messages; "" when that cannot be read.
func Command(pid int) string { return command(pid) }
