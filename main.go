// Command trailblaze replays recorded UI tests. See `trailblaze help`.
package main

import (
	"os"

	"github.com/trailblaze/trailblaze/cmd"
)

// version is set by the linker in a release build.
var version string

func main() {
	os.Exit(cmd.Main(cmd.NewSystem(version)))
}
