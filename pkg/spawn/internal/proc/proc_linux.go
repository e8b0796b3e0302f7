package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// stat is what we need of /proc/<pid>/stat (proc_pid_stat(5)).
type stat struct {
	pgrp, started string
}

func read(pid int) (stat, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The name of the executable, in parentheses, may hold anything.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const state, pgrp, started = 0, 2, 19 // fields 3, 5 and 22
	if len(fields) <= started || fields[state] == "Z" || fields[state] == "X" {
		return stat{}, false
	}
	return stat{fields[pgrp], fields[started]}, true
}

func start(pid int) string {
	s, _ := read(pid)
	return s.started
}

func scope() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(boot)) + " " + namespace
}

func group(pgid int) []int {
	want := strconv.Itoa(pgid)
	return find(func(_ int, s stat) bool { return s.pgrp == want })
}

func all() []int {
	return find(func(int, stat) bool { return true })
}

func find(wanted func(int, stat) bool) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, ok := read(pid); ok && wanted(pid, s) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func carries(pid int, entry string) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(append([]byte{0}, data...), []byte("\x00"+entry+"\x00"))
}

func command(pid int) string {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return string(bytes.TrimSpace(bytes.ReplaceAll(data, []byte{0}, []byte{' '})))
}

// Holders returns the processes, other than this one, that have one of the pipes open. The pipes are inode numbers.
func Holders(pipes ...uint64) []int {
	names := map[string]bool{}
	for _, inode := range pipes {
		names["pipe:["+strconv.FormatUint(inode, 10)+"]"] = true
	}
	self := os.Getpid()
	return find(func(pid int, _ stat) bool {
		if pid == self {
			return false
		}
		dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
		fds, _ := os.ReadDir(dir)
		for _, fd := range fds {
			if target, err := os.Readlink(dir + fd.Name()); err == nil && names[target] {
				return true
			}
		}
		return false
	})
}
