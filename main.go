// Command trailblaze replays recorded UI tests. See `trailblaze help`.
package main

import (
	"os"

	"github.com/trailblaze/trailblaze/cmd"
)

// version is set by the release build.
var version = "dev"

func main() {
	os.Exit(cmd.Main(cmd.NewSystem(version)))
}
