package files

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isInUse reports whether another program has a file open. The system says the same of a file that may not be written.
func isInUse(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
