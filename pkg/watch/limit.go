package watch

import (
	"errors"
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
	return explain(err)
}

// explain returns a *fault.Error that says why the system does not watch, and what to do.
func explain(err error) error {
	const what = "watch for changes"
	switch {
	case errors.Is(err, syscall.ENOSPC):
		const hint = "raise it, for example with `sudo sysctl fs.inotify.max_user_watches=524288`, or name fewer folders"
		return fault.Wrap(fault.Server, err, hint, what+": the limit of watched folders is reached (fs.inotify.max_user_watches)")
	case isLimit(err):
		const hint = "raise the limit of open files (`ulimit -n`), " +
			"or on Linux that of watchers, for example with `sudo sysctl fs.inotify.max_user_instances=512`"
		return fault.Wrap(fault.Server, err, hint, what+": a limit of open files or watchers is reached")
	default:
		return fault.Wrap(fault.Server, err, "", what)
	}
}
