package cmd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// onFoundDevices returns a choice of all devices that `device list` shows as ready, of the platform of the choice or else
// of the trails, of which last are those that failed in the last run.
func (cmd *runCommand) onFoundDevices(ctx context.Context, j job, f runFlags, c workspace.Choice, last []run.LastCase) (workspace.Choice, error) {
	if f.lastFailed && len(last) == 0 {
		return c, nil // nothing is to be done
	}
	paths, err := cmd.trailPaths(j.workspace.Project, f, last, j.args)
	if err != nil {
		return c, err
	}
	setup := session.Setup{Project: j.workspace.Project, Cwd: cmd.Dir}
	paths = run.Selected(run.Options{Setup: setup, Paths: paths, Tags: f.tags, Grep: f.grep})
	if len(paths) == 0 {
		return c, nil // the run says why
	}
	platform, err := cmd.platformOfTrails(j, c, paths)
	if err != nil {
		return c, err
	}
	found, problems := j.workspace.ListDevices(ctx, platform)
	for _, d := range found {
		if d.Ready() {
			c.Devices = append(c.Devices, d.Use)
		}
	}
	if len(c.Devices) == 0 {
		return c, cmp.Or(problems[platform], error(fault.New(fault.Device, "`trailblaze device list` shows what is connected",
			"--all-devices: no device of %s is ready", platform)))
	}
	if c.Driver != "" {
		for i, name := range c.Devices {
			c.Devices[i] = c.Driver + strings.TrimPrefix(name, platform)
		}
	}
	c.Driver, c.Platform = "", ""
	return c, nil
}

// platformOfTrails returns the platform on which trails of a job are all replayed.
func (cmd *runCommand) platformOfTrails(j job, c workspace.Choice, paths []string) (string, error) {
	var platforms []string
	for _, path := range paths {
		file, _ := (trail.Loader{Root: j.workspace.Project.Root, Cwd: cmd.Dir}).Load(path, cmd.abs(path))
		if file == nil {
			continue // the run reports why
		}
		sc, err := scope.Resolve(run.RequestFor(j.workspace.Request(c), file, c.Classifiers))
		if err != nil {
			return "", err
		}
		platforms = append(platforms, sc.Driver.Platform.Lower())
	}
	slices.Sort(platforms)
	platforms = slices.Compact(platforms)
	if len(platforms) != 1 {
		return "", fault.New(fault.Misuse, "name one with --platform",
			"--all-devices: the trails are for %s", cmp.Or(strings.Join(platforms, " and "), "no platform"))
	}
	return platforms[0], nil
}
