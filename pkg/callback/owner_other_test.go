//go:build !linux

package callback

func askAsStranger() bool { return false }
