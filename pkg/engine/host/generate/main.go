// Command generate builds the chunks in dist from the sources in src and the installed npm packages. Its output is
// reproducible. Run it with "make generate", or with "go generate" in the parent directory when the packages are
// installed.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, err) //nolint:forbidigo // a program of its own
		os.Exit(1)                   //nolint:forbidigo // a program of its own
	}
}

// generate rebuilds dist in a directory that contains src and node_modules.
func generate(dir string) error {
	files, err := build(dir)
	if err != nil {
		return err
	}
	return files.Write(filepath.Join(dir, "dist"))
}
