package watch

import (
	"errors"
	"runtime"
	"syscall"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// isLimit reports whether err is the system's limit of watched folders.
func isLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// onlyLimit explains an error if it is a limit, and else returns nil: a folder that has been removed or cannot be read
// is not watched.
func onlyLimit(err error) error {
	if !isLimit(err) {
		return nil
	}
	return explain(err, runtime.GOOS)
}

// explain returns a *fault.Error that says why the system does not watch, and what to do there.
func explain(err error, system string) error {
	const what = "watch for changes"
	switch {
	case errors.Is(err, syscall.ENOSPC):
		const hint = "raise it, for example with `sudo sysctl fs.inotify.max_user_watches=524288`, or name fewer folders"
		return fault.Wrap(fault.IO, err, hint, what+": the limit of watched folders is reached (fs.inotify.max_user_watches)")
	case isLimit(err) && system == "windows":
		return fault.Wrap(fault.IO, err, "close programs that have many files open, or name fewer folders", what+": a limit of open files is reached")
	case isLimit(err):
		hint := "raise the limit of open files (`ulimit -n`)"
		if system == "linux" {
			hint += ", or that of watchers, for example with `sudo sysctl fs.inotify.max_user_instances=512`"
		}
		return fault.Wrap(fault.IO, err, hint, what+": a limit of open files or watchers is reached")
	default:
		return fault.Wrap(fault.IO, err, "", what)
	}
}
