package engine

import "syscall"

func statTimes(st *syscall.Stat_t) (read, changed syscall.Timespec) {
	return st.Atimespec, st.Ctimespec
}
