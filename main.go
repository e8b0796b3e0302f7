// Command trailblaze replays recorded UI tests. See `trailblaze help`.
package main

import (
	"os"
	"runtime"

	"github.com/trailblaze/trailblaze/cmd"
)

// version is set by the linker in a release build.
var version string

func main() {
	// We wait for pipes nearly all the time. On one thread a message goes from the pipe to whoever waits for it without waking
	// another one, which costs more than all the work on it: a call takes a third less (docs/performance.md).
	runtime.GOMAXPROCS(1)
	os.Exit(cmd.Main(cmd.NewSystem(version)))
}
