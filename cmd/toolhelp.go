package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// helpOfTool prints what a tool does and takes, for `tool NAME --help`. It returns false if no tool has the name.
func (cmd *toolCommands) helpOfTool(c *cobra.Command, name string) bool {
	t := cmd.ownTool(name)
	if t == nil {
		t = cmd.listedTool(c, name)
	}
	if t == nil {
		return false
	}
	clean := func(text string) string { return report.Clean(cmd.redactor.Text(text)) }
	fmt.Fprintf(cmd.Stdout, "%s\n\n%s\n\n", t.Name, clean(cmp.Or(t.Description, "The tool has no description.")))
	arguments := t.Arguments()
	if len(arguments) == 0 {
		fmt.Fprint(cmd.Stdout, "It takes no arguments.\n\n")
	} else {
		fmt.Fprintln(cmd.Stdout, "Arguments:")
	}
	for _, arg := range arguments {
		what := []string{arg.Kind, "optional"}
		if arg.Required {
			what[1] = "required"
		}
		what = slices.DeleteFunc(what, func(part string) bool { return part == "" })
		fmt.Fprintf(cmd.Stdout, "  %s: %s\n", clean(arg.Name), clean(strings.Join(what, "; ")))
		if arg.Description != "" && !strings.Contains(arg.Kind, arg.Description) {
			fmt.Fprintf(cmd.Stdout, "      %s\n", clean(arg.Description))
		}
	}
	fmt.Fprintf(cmd.Stdout, "\nUsage:\n  trailblaze tool %s [ARGUMENT=VALUE...] [flags]\n\n`trailblaze tool --help` lists the flags.\n", t.Name)
	return true
}

// ownTool returns a built-in tool or a device command, for the platform of the project or its trails if that has one of
// the name; nil if there is none.
func (cmd *toolCommands) ownTool(name string) *discover.Tool {
	registries, err := ownTools(cmd.Devices)
	if err != nil {
		return nil
	}
	w, _ := cmd.loadProject() // without one, or with a broken one, every platform is possible
	platforms := slices.Concat(cmd.projectPlatforms(w), []scope.Platform{scope.Web, scope.Android, scope.IOS})
	for _, p := range platforms {
		if r := registries[p]; r != nil {
			if t, ok := r.Lookup(name); ok {
				return t
			}
		}
	}
	return nil
}

// listedTool returns a tool of the servers of the project, which it starts and stops; nil if there is none.
func (cmd *toolCommands) listedTool(c *cobra.Command, name string) *discover.Tool {
	s, sc, err := cmd.sessions(c.Context(), scopeFlags{command: c})
	if err != nil {
		return nil
	}
	s.NewStream(cmd.debugLogs())
	registry, err := s.ListTools(c.Context(), sc)
	if err != nil {
		return nil
	}
	t, _ := registry.Lookup(name)
	return t
}
