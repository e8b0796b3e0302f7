package run

import "cmp"

// ListedCase is a case that a run would replay.
type ListedCase struct {
	File   string   `json:"file"` // as Options.Paths names it
	Title  string   `json:"title"`
	Device string   `json:"device,omitempty"` // its name in the project or on the command line; empty when there is only one
	Tags   []string `json:"tags"`
	// Problem says why the file cannot be replayed, empty when it can be read.
	Problem string `json:"problem,omitempty"`
}

// List returns the cases that Run would replay with the options, in their order, without starting anything.
func List(o Options) ([]ListedCase, error) {
	r := &runner{Options: o, devices: newDevices(o.Devices)}
	cases, err := r.cases()
	if err != nil {
		return nil, err
	}
	cases, _ = r.shard(cases)
	listed := make([]ListedCase, len(cases))
	for i, c := range cases {
		l := ListedCase{File: c.path, Title: r.trailName(c.path), Device: c.device.Name, Tags: []string{}}
		if file, problems := r.readTrail(c.path); len(problems) > 0 {
			l.Problem = problems.Error()
		} else {
			l.Title = cmp.Or(file.Config.Title, file.Config.ID, l.Title)
			l.Tags = append(l.Tags, file.Config.Tags...)
		}
		l.Title = c.title(l.Title)
		listed[i] = l
	}
	return listed, nil
}
