package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func (a *app) newSchema() *cobra.Command {
	names := append(config.SchemaNames(), "trail")
	return &cobra.Command{
		Use:   "schema NAME",
		Short: "Print a JSON Schema for editors",
		Long: "Print the JSON Schema (2020-12) of a kind of file. Editors use it for completion and validation. NAME is one " +
			"of: " + strings.Join(names, ", ") + ".",
		Example:   "  trailblaze schema trail > .trailblaze-trail.schema.json",
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(names, args[0]) {
				name := ""
				if len(args) == 1 {
					name = args[0]
				}
				hint := fault.DidYouMeanListed(name, names, fmt.Sprintf("`%s --help` lists the names", c.CommandPath()))
				return fault.New(fault.Misuse, hint, "%s takes the name of one schema", c.CommandPath())
			}
			schema, ok := config.Schema(args[0])
			if !ok {
				schema = trail.Schema()
			}
			_, err := a.Stdout.Write(schema)
			return err
		},
	}
}
