package cmd

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// newDocs writes the command reference and the man pages from the commands themselves; for releases and our own docs.
func (a *app) newDocs() *cobra.Command {
	var markdown, man string
	c := &cobra.Command{
		Use:    "docs",
		Short:  "Write the command reference",
		Hidden: true,
		Args:   noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			root := c.Root()
			root.DisableAutoGenTag = true
			if markdown != "" {
				if err := writeDocs(a.abs(markdown), func(dir string) error { return doc.GenMarkdownTree(root, dir) }); err != nil {
					return err
				}
			}
			if man != "" {
				header := &doc.GenManHeader{Title: "TRAILBLAZE", Section: "1", Source: "trailblaze"}
				return writeDocs(a.abs(man), func(dir string) error { return doc.GenManTree(root, header, dir) })
			}
			return nil
		},
	}
	c.Flags().StringVar(&markdown, "markdown", "", "`DIR` for Markdown pages")
	c.Flags().StringVar(&man, "man", "", "`DIR` for man pages")
	return c
}

func writeDocs(dir string, generate func(dir string) error) error {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = generate(dir)
	}
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "", "write the docs")
	}
	return nil
}
