package npm_test

import "syscall"

func withoutTerminal() *syscall.SysProcAttr { return nil }
