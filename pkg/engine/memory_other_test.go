//go:build !linux

package engine

func attackMain() {}
