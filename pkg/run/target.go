package run

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
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

// targets returns the ids of the targets of cases, each once. It leaves out trails that cannot be replayed.
func (r *runner) targets(cases []testCase) []string {
	type replay struct {
		path   string
		device *deviceQueue
	}
	seen, ids := map[replay]bool{}, []string{}
	for _, c := range cases {
		one := replay{c.path, c.device}
		if seen[one] {
			continue
		}
		seen[one] = true
		file, problems := r.readTrail(c.path)
		if len(problems) > 0 {
			continue
		}
		if sc, err := scope.Resolve(c.device.request(file)); err == nil {
			ids = appendNew(ids, sc.Target.ID)
		}
	}
	return ids
}
