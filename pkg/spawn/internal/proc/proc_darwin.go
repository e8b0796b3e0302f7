package proc

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB of sys/proc.h

func started(p *unix.KinfoProc) string {
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
	return started(p)
}

// Start times are absolute here and there are no namespaces.
func scope() string { return "darwin" }

func group(pgid int) []int { return find("kern.proc.pgrp", pgid) }

func all() []int { return find("kern.proc.all") }

func find(name string, args ...int) []int {
	procs, _ := unix.SysctlKinfoProcSlice(name, args...)
	var pids []int
	for i := range procs {
		if started(&procs[i]) != "" {
			pids = append(pids, int(procs[i].Proc.P_pid))
		}
	}
	return pids
}

func carries(pid int, entry string) bool {
	// The arguments, then the environment, each ending in a zero byte.
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	return err == nil && bytes.Contains(data, []byte("\x00"+entry+"\x00"))
}

func command(pid int) string {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	return unix.ByteSliceToString(p.Proc.P_comm[:])
}
