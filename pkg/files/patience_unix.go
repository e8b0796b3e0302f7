//go:build unix

package files

// isInUse returns false: files that are open can be renamed and replaced.
func isInUse(error) bool { return false }
