//go:build !linux

package spawn

import "github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"

// adoptOrphans returns false: only Linux has that.
func adoptOrphans() bool { return false }

// orphans returns false: they are children of the system's first process.
func (*registry) orphans() (running []proc.ID, all bool) { return nil, false }
