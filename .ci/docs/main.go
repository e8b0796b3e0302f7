// Command docs writes what the command line says of itself: Markdown pages for docs/commands, man pages for releases.
// It is a program of its own because what it needs would make every start of trailblaze slower.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"github.com/trailblaze/trailblaze/cmd"
)

func main() {
	markdown, man := flag.String("markdown", "", "`folder` for Markdown pages"), flag.String("man", "", "`folder` for man pages")
	flag.Parse()
	if err := write(*markdown, *man); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func write(markdown, man string) error {
	root := cmd.Commands()
	root.DisableAutoGenTag = true
	if markdown != "" {
		if err := os.MkdirAll(markdown, 0o755); err != nil {
			return err
		}
		if err := doc.GenMarkdownTree(root, markdown); err != nil {
			return err
		}
	}
	if man == "" {
		return nil
	}
	if err := os.MkdirAll(man, 0o755); err != nil {
		return err
	}
	return doc.GenManTree(root, &doc.GenManHeader{Title: "TRAILBLAZE", Section: "1", Source: "trailblaze"}, man)
}
