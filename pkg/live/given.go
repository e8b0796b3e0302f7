package live

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// given makes a draft that of a given content.
func (s *Session) given(d *draft, r SaveRequest) (err error) {
	loader := s.loaderWith(d.path, r.Content)
	file, problems := loader.Load(s.relative(d.path), d.path)
	if len(problems) == 0 {
		if problem, empty := file.EmptyProblem(); empty {
			problems = fault.Problems{problem}
		}
	}
	if len(problems) > 0 {
		return loader.WithSnippets(problems)
	}
	if d.before, err = s.readBase(d.path, r); err != nil {
		return err
	}
	before := stepsOf(d.before)
	d.after, d.steps = r.Content, s.changedSteps(file, before)
	if err := checkTexts(d.steps); err != nil {
		return err
	}
	if err := s.checkVerifySteps(d.steps); err != nil {
		return err
	}
	if d.before == nil {
		d.warnings = s.startWarning(d.steps)
	}
	d.warnings = append(d.warnings, s.stepWarnings(d.steps, "")...)
	d.warnings = append(d.warnings, s.secretWarnings(d.after)...)
	d.warnings = append(d.warnings, s.lostRecordings(before, file)...)
	if r.Title != "" && r.Title != file.Config.Title {
		d.warnings = append(d.warnings, "the title is that of the text, and is not changed")
	}
	return nil
}

// readBase returns what a file has, nil if it does not exist. It is an error if that differs from what a given content
// was begun from and is not to be overwritten; its details say overwrite.
func (s *Session) readBase(path string, r SaveRequest) ([]byte, error) {
	now, err := s.readOld(path)
	if err != nil || r.Overwrite == trail.OverwriteAll || bytes.Equal(now, r.Base) && (now == nil) == (r.Base == nil) {
		return now, err
	}
	what := "was changed since its text was opened"
	switch {
	case r.Base == nil:
		what = "exists already, and its text was not opened"
	case now == nil:
		what = "was deleted since its text was opened"
	}
	refused := fault.New(fault.Misuse, "open it again, choose another file, or overwrite all of it", "%s %s; nothing was written",
		s.relative(path), what)
	refused.Details = map[string]any{"overwrite": true}
	return nil, refused
}

// changedSteps returns the steps of a trail as those of a recording that was begun from what its file had: their
// recordings are those that they had there.
func (s *Session) changedSteps(file *trail.File, before []*trail.Step) []*replay.Step {
	had := map[stepName]trail.Recording{}
	for _, step := range before {
		had[stepName{step.Kind, step.Text}] = step.Recording
	}
	steps := replay.NewPlan(file, s.opts.Lineage).Steps
	for _, step := range steps {
		step.Recording = had[stepName{step.Kind, step.Text}]
		calls, _ := step.Lookup(s.opts.Lineage)
		step.Changed = !slices.EqualFunc(calls, step.Calls, sameCall)
		if step.Text == noText {
			step.Text = ""
		}
	}
	return steps
}

// stepsOf returns the steps of a trail, none for one with problems.
func stepsOf(data []byte) []*trail.Step {
	file, _ := trail.Parse("", data)
	if file == nil {
		return nil
	}
	return file.AllSteps()
}

// lostRecordings says which recordings for other devices a file has and a trail that replaces it lacks.
func (s *Session) lostRecordings(before []*trail.Step, after *trail.File) (warnings []string) {
	lost := map[string][]*trail.Step{}
	for _, step := range before {
		for _, recorded := range step.Recording {
			c := recorded.Classifier
			if c != "" && !slices.Contains(s.opts.Lineage, c) && !hasRecording(after, step, recorded) {
				lost[c] = append(lost[c], step)
			}
		}
	}
	for _, c := range slices.Sorted(maps.Keys(lost)) {
		first := lost[c][0]
		warnings = append(warnings, fmt.Sprintf("the file has %s for %s that the text lacks; the first is that of %s %q",
			text.Count(len(lost[c]), "recording"), c, first.Kind, first.Text))
	}
	return warnings
}

// hasRecording reports whether a trail has a recording for a classifier in a step with the name of another one, or the
// same calls in any step.
func hasRecording(file *trail.File, step *trail.Step, recorded trail.ClassifierRecording) bool {
	return slices.ContainsFunc(file.AllSteps(), func(other *trail.Step) bool {
		sameName := other.Kind == step.Kind && strings.TrimSpace(other.Text) == strings.TrimSpace(step.Text)
		return slices.ContainsFunc(other.Recording, func(r trail.ClassifierRecording) bool {
			return r.Classifier == recorded.Classifier && (sameName || slices.EqualFunc(r.Calls, recorded.Calls, sameCall))
		})
	})
}
