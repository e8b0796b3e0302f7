package remote

import "syscall"

// withoutReuseAddr does nothing: on Windows, Go does not set SO_REUSEADDR.
func withoutReuseAddr(_, _ string, _ syscall.RawConn) error { return nil }
