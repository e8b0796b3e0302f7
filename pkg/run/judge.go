package run

import (
	"bytes"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// isJudged reports whether a recorded call of a plan asks a model.
func (p *plan) isJudged() bool {
	for _, steps := range [][]*replay.Step{p.Steps, p.Teardown} {
		for s := range replay.Leaves(steps) {
			if slices.ContainsFunc(s.Calls, asksModel) {
				return true
			}
		}
	}
	return false
}

func asksModel(c trail.Call) bool { return c.Tool == tool.AssertWithModel }

// findJudge asks Options.Judge for what is called for trails that call tool.AssertWithModel.
func (r *runner) findJudge(cases []testCase) error {
	if r.Judge == nil || r.Assist != nil {
		return nil
	}
	var trails []string
	for _, c := range cases {
		if !slices.Contains(trails, c.path) && r.mayAskModel(c) {
			trails = append(trails, c.path)
		}
	}
	var err error
	r.Assist, err = r.Judge(trails)
	r.WithoutTasks = true
	return err
}

// mayAskModel reports whether a recording of a trail, or of one that it uses, for the platform of a case asks a model.
// Which recording counts is not known before the device responds.
func (r *runner) mayAskModel(c testCase) bool {
	if data, _ := r.trailContent(c.path); !mayName(data, tool.AssertWithModel, trail.KindUse, tool.RunTrail) {
		return false // most trails need not be parsed for this
	}
	file, problems := r.loader().Load(c.path, r.resolve(c.path))
	if len(problems) > 0 {
		return false // the case says why it cannot be replayed
	}
	sc, err := scope.Resolve(c.device.request(file))
	if err != nil {
		return false
	}
	platform := sc.Driver.Platform.Lower()
	_, skipped := file.SkipReason([]string{platform})
	return !skipped && asksOn(file, platform)
}

// mayName reports whether a YAML text may have one of some keys. Quoted keys may have escapes.
func mayName(text []byte, keys ...string) bool {
	return bytes.Contains(text, []byte(`\`)) || slices.ContainsFunc(keys, func(key string) bool { return bytes.Contains(text, []byte(key)) })
}

func asksOn(file *trail.File, platform string) bool {
	return slices.ContainsFunc(file.StepsAndTeardown(), func(s *trail.Step) bool {
		if slices.ContainsFunc(s.Uses(), func(u *trail.Use) bool { return u.File != nil && asksOn(u.File, platform) }) {
			return true
		}
		return slices.ContainsFunc(s.Recording, func(of trail.ClassifierRecording) bool {
			on, _, _ := strings.Cut(of.Classifier, "-")
			return (on == "" || on == platform) && slices.ContainsFunc(of.Calls, asksModel)
		})
	})
}

// mayBeSampled reports whether a server of a plan may ask a model.
func (r *runner) mayBeSampled(p *plan) bool {
	return r.Sampling && slices.ContainsFunc(r.servers(p), func(s config.Server) bool { return s.Sampling })
}
