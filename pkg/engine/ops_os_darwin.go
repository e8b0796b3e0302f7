package engine

import (
	"time"

	"golang.org/x/sys/unix"
)

func machineInfo() machineFacts {
	var m machineFacts
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.release, m.version = unix.ByteSliceToString(name.Release[:]), unix.ByteSliceToString(name.Version[:])
	}
	m.total, _ = unix.SysctlUint64("hw.memsize")
	if boot, err := unix.SysctlTimeval("kern.boottime"); err == nil {
		m.uptime = uint64(time.Since(time.Unix(boot.Unix())).Seconds())
	}
	return m
}
