package remote

import "syscall"

// withoutReuse has nothing to do: on Windows Go gives listening sockets no SO_REUSEADDR.
func withoutReuse(_, _ string, _ syscall.RawConn) error { return nil }
