// Package cmd has one file that reads the process, and one that makes the first context.
package cmd

import (
	_ "flag" // want
	"os"
	_ "os/signal"
)

func system() {
	_, _ = os.Getwd()
	os.Exit(len(os.Args)) // want
}
