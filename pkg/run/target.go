package run

import "github.com/trailblaze/trailblaze/pkg/scope"

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
		file, problems := r.loader().Load(c.path, r.resolve(c.path))
		if len(problems) > 0 {
			continue
		}
		if sc, err := scope.Resolve(c.device.request(file)); err == nil {
			ids = appendNew(ids, sc.Target.ID)
		}
	}
	return ids
}
