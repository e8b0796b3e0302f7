// Command trailblaze replays recorded UI tests. See `trailblaze help`.
package main

import (
	"os"

	"github.com/trailblaze/trailblaze/cmd"
)

// The linker sets these in a release build. In others, version is empty and the Go toolchain records the commit.
var version, commit, date string //nolint:gochecknoglobals // the linker can set nothing else

func main() {
	sys := cmd.NewSystem(version)
	if commit != "" {
		sys.Build.Commit, sys.Build.Date = commit, date
	}
	os.Exit(cmd.Main(sys))
}
