//go:build unix

package npm_test

import "syscall"

// withoutTerminal starts a process in a session of its own, which has no terminal.
func withoutTerminal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
