package trail

import (
	"maps"
	"slices"
	"strings"
)

// StepRecording is what a run recorded for one step.
type StepRecording struct {
	Calls    []Call // none for a no-op
	Recorded bool   // false: the step gets no recording and needs an agent
}

// NewRecordedFile returns a trail file that repeats a run of f: f's steps with the calls that were made, for the
// classifier only. A recording in the list shape has no classifier. steps are those of f in their order, the trailhead
// first if there is one; missing ones are not recorded. memory overrides config.memory, and args become the defaults of
// the arguments that f declares. The result shares data with f.
func NewRecordedFile(f *File, classifier string, steps []StepRecording, memory, args map[string]any) *File {
	out := f.clone()
	if f.List {
		classifier = ""
	}
	for i, s := range out.AllSteps() {
		if s.Use != nil {
			continue
		}
		s.Recording = nil
		if i < len(steps) && steps[i].Recorded && s.Recordable {
			s.Recording = Recording{{Classifier: classifier, Calls: steps[i].Calls}}
		}
	}
	if len(memory) > 0 {
		own := maps.Clone(f.Config.Memory)
		if own == nil {
			own = map[string]any{}
		}
		maps.Copy(own, memory)
		out.Config.Memory = own
	}
	out.Config.Args = maps.Clone(f.Config.Args)
	for name, arg := range out.Config.Args {
		if value, given := args[name]; given {
			arg.Default, arg.HasDefault = value, true
			out.Config.Args[name] = arg
		}
	}
	return out
}

// clone copies the file and its steps; recordings and the values in the config are shared.
func (f *File) clone() *File {
	out := *f
	out.Steps = slices.Clone(f.Steps)
	if f.Trailhead != nil {
		head := *f.Trailhead
		out.Trailhead = &head
	}
	return &out
}

// AllSteps returns the steps in the order in which they run, the trailhead first.
func (f *File) AllSteps() []*Step {
	var all []*Step
	if f.Trailhead != nil {
		all = append(all, f.Trailhead)
	}
	for i := range f.Steps {
		all = append(all, &f.Steps[i])
	}
	return all
}

// StepsAndTeardown returns the steps in the order in which they run, those of config.teardown last.
func (f *File) StepsAndTeardown() []*Step {
	return append(f.AllSteps(), f.TeardownSteps()...)
}

// Escape escapes tokens in the text of a value so that Interpolate returns the value unchanged. ${name} cannot be
// escaped: it is replaced where the name is known.
func Escape(value any) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "{{", `\{{`)
	case []any:
		return each(v, Escape)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = Escape(item)
		}
		return out
	}
	return value
}

// TeardownSteps returns the steps of config.teardown.
func (f *File) TeardownSteps() []*Step {
	all := make([]*Step, len(f.Config.Teardown))
	for i := range all {
		all[i] = &f.Config.Teardown[i]
	}
	return all
}
