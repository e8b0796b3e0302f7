// Command generate makes the chunks in dist of the sources in src and of the installed npm packages. It writes the same bytes on every
// machine. Run it with "make generate", or with "go generate" in the directory above when the packages are installed.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, err) //nolint:forbidigo // a program of its own
		os.Exit(1)                   //nolint:forbidigo // a program of its own
	}
}

// generate replaces what is in dist, in a directory that holds src and node_modules too.
func generate(dir string) error {
	files, err := build(dir)
	if err != nil {
		return err
	}
	return write(dir, files)
}
