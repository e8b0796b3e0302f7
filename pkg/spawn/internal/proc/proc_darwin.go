package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB of sys/proc.h

func startOf(p *unix.KinfoProc) string {
	if p.Proc.P_stat == zombie {
		return ""
	}
	return fmt.Sprintf("%d.%06d", p.Proc.P_starttime.Sec, p.Proc.P_starttime.Usec)
}

func start(pid int) string {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return ""
	}
	return startOf(p)
}

// scope is a constant: start times are absolute here, and there are no namespaces.
func scope() string { return "darwin" }

func members(id int) []ID { return find("kern.proc.pgrp", id) }

func listAll() []ID { return find("kern.proc.all") }

func find(name string, args ...int) []ID {
	procs, _ := unix.SysctlKinfoProcSlice(name, args...)
	var found []ID
	for i := range procs {
		if start := startOf(&procs[i]); start != "" {
			found = append(found, ID{int(procs[i].Proc.P_pid), start})
		}
	}
	return found
}

// environ returns the arguments and the environment of a process, each ending in a zero byte.
func environ(pid int) []byte {
	data, _ := unix.SysctlRaw("kern.procargs2", pid)
	return data
}

func holders([]uint64) []ID { return nil }

func command(pid int) string {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(p.Proc.P_comm[:])
}

func program(pid int) string { return command(pid) }
