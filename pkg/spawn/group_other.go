//go:build !linux

package spawn

import "os"

// awaitExit cannot tell of the exit without reaping here.
func (group) awaitExit() bool { return false }

// killHolders does nothing here: who holds a pipe cannot be told.
func killHolders(...*os.File) {}
