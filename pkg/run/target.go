package run

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// CheckTarget reports a config.target that is neither the id of a target nor one of its app ids. Without any target
// file and without a default it accepts any target.
func CheckTarget(project *config.Project, file *trail.File) (problem fault.Problem, wrong bool) {
	var ids, apps []string
	for _, t := range project.Targets {
		ids = append(ids, t.ID)
		for _, platform := range t.PlatformOrder {
			apps = append(apps, t.Platforms[platform].AppIDs...)
		}
	}
	if project.Target != "" && !slices.Contains(ids, project.Target) {
		ids = append(ids, project.Target)
	}
	name := file.Config.Target
	if name == "" || len(ids) == 0 || slices.Contains(ids, name) || slices.Contains(apps, name) {
		return fault.Problem{}, false
	}
	return file.TargetProblem(fault.DidYouMean(name, ids), "unknown target %q: no target has this id or app id", name), true
}
