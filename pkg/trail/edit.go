package trail

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// ReplaceCalls returns data, a trail file, with the calls for one classifier replaced by those of recorded. Every other byte
// is unchanged, also in calls that are the same and in steps that have no recording in recorded. In the list shape the
// classifier is ignored. Both files must have the same steps. The error is the fault.Problems of data, or a
// *fault.Error.
func ReplaceCalls(name string, data []byte, classifier string, recorded *File) ([]byte, error) {
	r, problems := read(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	if err := sameSteps(r.file, recorded); err != nil {
		return nil, err
	}
	matched := make([]int, len(recorded.Steps))
	for i := range matched {
		matched[i] = i
	}
	return r.update(classifier, recorded, matched, nil)
}

// Append returns data, a trail file, with a step added at its end. Every other byte is unchanged, except that values of
// config.Memory which the file lacks are added; it is an error when the file has another value. In the list shape the
// step's only recording loses its classifier. When data is empty, Append returns a new file with config. The error is,
// or wraps, fault.Problems or a *fault.Error.
func Append(name string, data []byte, step Step, config Config) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Format(&File{Name: name, Config: config, Steps: []Step{step}})
	}
	r, problems := read(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	if r.file.List && len(step.Recording) == 1 {
		step.Recording = Recording{{Calls: step.Recording[0].Calls}}
	}
	memory, err := r.missing(config.Memory)
	if err != nil {
		return nil, err
	}
	want := r.file.clone()
	want.Steps = append(want.Steps, step)
	want.Config.Memory = withMemory(want.Config.Memory, memory)
	if want, err = reread(want); err != nil {
		return nil, err
	}
	edit := r.doc.Edit()
	if r.file.List {
		appendToList(edit, r.root, step)
	} else {
		appendToTrail(edit, r.root, step)
	}
	addMemory(edit, r.root, memory) // a new config is added below the steps
	return r.finish(edit, want)
}

// missing returns the values of memory that the file lacks. It is an error when the file has another value.
func (r *reader) missing(memory map[string]any) (yamldoc.Map, error) {
	var out yamldoc.Map
	for _, name := range sortedKeys(memory) {
		have, there := r.file.Config.Memory[name]
		switch {
		case !there:
			out = append(out, yamldoc.Pair{Key: name, Value: memory[name]})
		case render(have) != render(memory[name]):
			return nil, fault.New(fault.Trail, "save into another file, or call with the value in this one",
				"%s: config: memory: %s has another value than the new step uses", r.file.Name, name)
		}
	}
	if len(out) > 0 && r.file.List {
		return nil, fault.New(fault.Trail, "write it under config: memory: of the file, or save into another file",
			"%s: the step needs %s in memory, which cannot be added to a trail in the list shape", r.file.Name, out[0].Key)
	}
	return out, nil
}

// addMemory adds values to config.memory.
func addMemory(edit *yamldoc.Editor, root yamldoc.Node, values yamldoc.Map) {
	if len(values) == 0 {
		return
	}
	config, ok := field(root, "config")
	if !ok || len(config.Entries()) == 0 {
		edit.Set(root, "config", yamldoc.Map{{Key: "memory", Value: values}})
		return
	}
	memory, ok := field(config, "memory")
	if !ok || len(memory.Entries()) == 0 {
		edit.Set(config, "memory", values)
		return
	}
	for _, pair := range values {
		edit.Set(memory, pair.Key, pair.Value)
	}
}

func appendToTrail(edit *yamldoc.Editor, root yamldoc.Node, step Step) {
	if steps, ok := field(root, "trail"); ok {
		edit.Append(steps, formatStep(step))
		return
	}
	edit.Set(root, "trail", []any{formatStep(step)})
}

func appendToList(edit *yamldoc.Editor, root yamldoc.Node, step Step) {
	if items := root.Items(); len(items) > 0 && step.Kind != KindTools {
		if prompts, ok := field(items[len(items)-1], "prompts"); ok {
			edit.Append(prompts, formatStep(step))
			return
		}
	}
	edit.Append(root, formatList([]Step{step}, nil, nil)[0])
}

func sameCalls(a, b *Step, classifier string) bool {
	x, recorded := a.Recording.calls(classifier)
	y, wanted := b.Recording.calls(classifier)
	in := func(calls []Call) *File { return &File{Steps: []Step{{Recording: Recording{{Calls: calls}}}}} }
	return recorded == wanted && sameFile(in(x), in(y))
}

func field(mapping yamldoc.Node, key string) (yamldoc.Node, bool) {
	for _, e := range mapping.Entries() {
		if e.Key == key {
			return e.Value, true
		}
	}
	return yamldoc.Node{}, false
}

// finish applies the changes and checks that the result parses to want.
func (r *reader) finish(edit *yamldoc.Editor, want *File) ([]byte, error) {
	out, _, err := r.finished(edit, want)
	return out, err
}

// finished does what finish does, and also returns what the result parses to.
func (r *reader) finished(edit *yamldoc.Editor, want *File) ([]byte, *File, error) {
	out, err := edit.Bytes()
	if err != nil {
		return nil, nil, err
	}
	got, problems := Parse(want.Name, out)
	if len(problems) == 0 && sameFile(got, want) {
		return out, got, nil
	}
	if r.file.Bare {
		return nil, nil, fault.New(fault.Trail, `write "- tools:" above the calls and indent them, or save into another file`,
			"%s: a file that is only a list of calls has nothing but calls", want.Name)
	}
	if r.doc.HasAnchors() {
		return nil, nil, fault.New(fault.Trail, "write the recordings out instead of using anchors, or record into a new file",
			"%s: the recording cannot be changed without changing other values that use its anchors", want.Name)
	}
	return nil, nil, fault.New(fault.Bug, "record into a new file; please report this with the file as it is",
		"%s: the recording could not be written without changing something else", want.Name)
}

// sameSteps checks that a recording has the steps of the file.
func sameSteps(f, recorded *File) error {
	differ := func(format string, args ...any) error {
		return fault.New(fault.Trail, "record into a new file, or make the steps of both files the same",
			"%s does not have the recorded steps: %s", f.Name, fmt.Sprintf(format, args...))
	}
	if (f.Trailhead == nil) != (recorded.Trailhead == nil) {
		return differ("only one of them has a trailhead")
	}
	have, ran := f.AllSteps(), recorded.AllSteps()
	for i := range min(len(have), len(ran)) {
		if a, b := have[i], ran[i]; a.Kind != b.Kind || a.Text != b.Text {
			return differ("line %d has %s, the recording has %s", a.Line, a.label(), b.label())
		}
	}
	if len(have) != len(ran) {
		return differ("its number of steps is %d, that of the recording %d", len(f.Steps), len(recorded.Steps))
	}
	return nil
}

func (s *Step) label() string {
	if s.Kind == KindTools {
		return "a list of calls"
	}
	return fmt.Sprintf("%s %q", s.Kind, abridge(strings.TrimSpace(s.Text)))
}

// classifier returns the key of a recording in the file's shape.
func (f *File) classifier(name string) string {
	if f.List {
		return ""
	}
	return name
}

func (r Recording) calls(classifier string) ([]Call, bool) {
	i := slices.IndexFunc(r, func(r ClassifierRecording) bool { return r.Classifier == classifier })
	if i < 0 {
		return nil, false
	}
	return r[i].Calls, true
}

// withCalls returns the recording with the calls for a classifier replaced.
func (r Recording) withCalls(classifier string, calls []Call) Recording {
	out := slices.DeleteFunc(slices.Clone(r), func(r ClassifierRecording) bool { return r.Classifier == classifier })
	return append(out, ClassifierRecording{Classifier: classifier, Calls: calls})
}

// reread returns the file as it is after writing and reading it, which normalizes numbers.
func reread(f *File) (*File, error) {
	const what, hint = "the recording cannot be written as a trail file", "leave the call out, or change its arguments"
	data, err := encode(f)
	if err != nil {
		return nil, fault.Wrap(fault.Trail, err, hint, what)
	}
	out, problems := Parse(f.Name, data)
	if len(problems) > 0 {
		return nil, fault.Wrap(fault.Trail, problems, hint, what)
	}
	return out, nil
}

// sameFile reports whether files are equal apart from the order of the classifiers.
func sameFile(a, b *File) bool {
	x, errX := encode(a.withSortedRecordings())
	y, errY := encode(b.withSortedRecordings())
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// withSortedRecordings returns the file with its recordings sorted by classifier.
func (f *File) withSortedRecordings() *File {
	out := f.clone()
	for _, s := range out.AllSteps() {
		s.Recording = slices.Clone(s.Recording)
		slices.SortFunc(s.Recording, func(a, b ClassifierRecording) int { return cmp.Compare(a.Classifier, b.Classifier) })
	}
	return out
}
