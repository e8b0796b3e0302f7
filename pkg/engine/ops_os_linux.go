package engine

import "golang.org/x/sys/unix"

func machineInfo() machineFacts {
	var m machineFacts
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.release, m.version = unix.ByteSliceToString(name.Release[:]), unix.ByteSliceToString(name.Version[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		unit := uint64(info.Unit)
		m.total, m.free, m.uptime = info.Totalram*unit, info.Freeram*unit, uint64(info.Uptime)
	}
	return m
}
