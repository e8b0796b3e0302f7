package files

import (
	"os"
	"time"
)

// renamePatience is how long a rename waits for other programs.
const renamePatience = 2 * time.Second

// Rename is os.Rename, except that it waits up to two seconds on Windows while another program, such as a virus scanner,
// has one of the files open.
func Rename(from, to string) error { return renamePatiently(os.Rename, from, to) }

func renamePatiently(rename func(from, to string) error, from, to string) error {
	return retry(renamePatience, isInUse, func() error { return rename(from, to) })
}

// RemoveAll is os.RemoveAll, repeated until it succeeds or limit has passed: a program that has just ended may have files
// open for another moment.
func RemoveAll(path string, limit time.Duration) error {
	return retry(limit, func(error) bool { return true }, func() error { return os.RemoveAll(path) })
}

// retry calls do until it succeeds, its error does not pass, or limit is over.
func retry(limit time.Duration, passes func(error) bool, do func() error) error {
	const pause = 20 * time.Millisecond
	for deadline := time.Now().Add(limit); ; <-time.After(pause) {
		if err := do(); err == nil || !passes(err) || !time.Now().Before(deadline) {
			return err
		}
	}
}
