package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/typings"
)

func (cmd *typeCommands) newSchema() *cobra.Command {
	var withTools bool
	names := append(config.SchemaNames(), "trail")
	c := &cobra.Command{
		Use:   "schema NAME",
		Short: "Print a JSON Schema for editors",
		Long: "Print the JSON Schema (2020-12) of a kind of file. Editors use it for completion and validation. NAME is one " +
			"of: " + strings.Join(names, ", ") + ".\n\nWith --tools, the schema of trails accepts only the project's tools, and " +
			"has their arguments and documentation. The servers\nare started for it, as by `trailblaze types`.",
		Example:   "  trailblaze schema trail > trail.schema.json\n  trailblaze schema trail --tools > trail.schema.json",
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			if withTools && (len(args) != 1 || args[0] != "trail") {
				return fault.New(fault.Misuse, "write `trailblaze schema trail --tools`", "--tools: only the schema of trails has tools")
			}
			if withTools {
				return cmd.trailSchema(c.Context())
			}
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
			_, err := cmd.Stdout.Write(schema)
			return err
		},
	}
	c.Flags().BoolVar(&withTools, "tools", false, "of trails: with the names and arguments of the project's tools")
	return c
}

// trailSchema prints the schema of trails with the tools of the project.
func (cmd *typeCommands) trailSchema(ctx context.Context) error {
	listed, err := cmd.listScopes(ctx)
	if err != nil {
		return err
	}
	schema, err := typings.TrailSchema(trail.Schema(), listed.tools)
	if err != nil {
		return err
	}
	_, err = cmd.Stdout.Write(schema)
	return err
}
