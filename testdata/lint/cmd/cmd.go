// Package cmd may read the process, and no more than that.
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
