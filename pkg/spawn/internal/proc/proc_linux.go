package proc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// stat is the part of /proc/PID/stat that is used here (proc_pid_stat(5)).
type stat struct {
	parent, group, session, start string
}

// readStat returns false when there is no such process, which has no start then, or only a zombie.
func readStat(pid int) (stat, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The second field, in parentheses, may contain spaces and parentheses.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const state, parent, group, session, start = 0, 1, 2, 3, 19 // fields 3 to 6, and 22
	if len(fields) <= start {
		return stat{}, false
	}
	s := stat{fields[parent], fields[group], fields[session], fields[start]}
	return s, fields[state] != "Z" && fields[state] != "X"
}

func start(pid int) string {
	if s, ok := readStat(pid); ok {
		return s.start
	}
	return ""
}

func scope() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(boot)) + " " + namespace
}

func members(id int) []ID {
	want := strconv.Itoa(id)
	return find(func(_ int, s stat) bool { return s.group == want || s.session == want })
}

func listAll() []ID {
	return find(func(int, stat) bool { return true })
}

func find(wanted func(int, stat) bool) []ID {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var found []ID
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, ok := readStat(pid); ok && wanted(pid, s) {
			found = append(found, ID{pid, s.start})
		}
	}
	return found
}

// environ returns the environment of a process, with a zero byte before and after each entry.
func environ(pid int) []byte {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return append([]byte{0}, data...)
}

// Children returns the children of this process that are in sessions of other processes, zombies too: those have no
// Start.
func Children() []ID {
	if !hasChildren() {
		return nil
	}
	ours, _ := readStat(os.Getpid())
	var found []ID
	for _, pid := range childPIDs() {
		if s, ok := readStat(pid); s.session != "" && s.session != ours.session {
			if !ok {
				s.start = ""
			}
			found = append(found, ID{pid, s.start})
		}
	}
	return found
}

// hasChildren is much faster than looking for them.
func hasChildren() bool {
	return !errors.Is(unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil), unix.ECHILD)
}

// childPIDs asks each thread. Kernels that cannot say are asked for all processes.
func childPIDs() (pids []int) {
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		data, _ := os.ReadFile(task)
		for field := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if len(tasks) == 0 {
		self := strconv.Itoa(os.Getpid())
		for _, id := range find(func(_ int, s stat) bool { return s.parent == self }) {
			pids = append(pids, id.PID)
		}
	}
	return pids
}

func command(pid int) string {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return string(bytes.TrimSpace(bytes.ReplaceAll(data, []byte{0}, []byte{' '})))
}

func program(pid int) string {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	name, _, _ := bytes.Cut(data, []byte{0})
	return string(name)
}

func holders(inodes []uint64) []ID {
	if len(inodes) == 0 {
		return nil
	}
	pipes := map[string]bool{}
	for _, inode := range inodes {
		pipes["pipe:["+strconv.FormatUint(inode, 10)+"]"] = true
	}
	self := os.Getpid()
	return find(func(pid int, _ stat) bool { return pid != self && hasOpen(pid, pipes) })
}

// hasOpen reports whether a process has one of the files open, which are named as the links in /proc/PID/fd name them.
//
// A child that this process has just started is seen with all files of this process until the kernel closes those that
// are marked to be closed on exec, which may be after fork has returned. Such files do not count. Those of standard
// input, output and error do: Node marks them so.
func hasOpen(pid int, files map[string]bool) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	fds, _ := os.ReadDir(dir + "/fd")
	for _, fd := range fds {
		target, err := os.Readlink(dir + "/fd/" + fd.Name())
		if err == nil && files[target] && (len(fd.Name()) == 1 && fd.Name() <= "2" || !closedOnExec(dir+"/fdinfo/"+fd.Name())) {
			return true
		}
	}
	return false
}

// closedOnExec reads a file of /proc/PID/fdinfo.
func closedOnExec(path string) bool {
	data, err := os.ReadFile(path)
	_, flags, _ := strings.Cut(string(data), "flags:")
	flags, _, _ = strings.Cut(strings.TrimSpace(flags), "\n")
	n, parseErr := strconv.ParseUint(flags, 8, 64)
	return err != nil || parseErr != nil || n&syscall.O_CLOEXEC != 0
}
