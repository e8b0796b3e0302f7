package cmd

import (
	"context"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scripted"
)

// brokenFunctions returns why scripts whose functions are tools cannot be bundled. It runs none of them.
func (cmd *checkCommands) brokenFunctions(ctx context.Context, project *config.Project) (fault.Problems, error) {
	var all fault.Problems
	for _, s := range project.FunctionServers() {
		broken, err := scripted.Broken(ctx, s, cmd.runtimes)
		if err != nil {
			return nil, err
		}
		for _, p := range broken {
			if !slices.Contains(all, p) { // several servers may have a script
				all = append(all, p)
			}
		}
	}
	for i, p := range all {
		all[i].File = cmd.relative(p.File)
	}
	return all, nil
}
