package trail

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Overwrite says which steps of a file [Update] may remove.
type Overwrite string

// The values of Overwrite.
const (
	OverwriteNothing Overwrite = ""
	OverwriteOwn     Overwrite = "own" // those that have no recording for other classifiers
	OverwriteAll     Overwrite = "all" // and those that have
)

// ParseOverwrite reads an answer to the question whether to overwrite: true, false or all.
func ParseOverwrite(text string) (Overwrite, error) {
	known := map[string]Overwrite{"false": OverwriteNothing, "true": OverwriteOwn, "all": OverwriteAll}
	o, ok := known[text]
	if !ok {
		return o, fault.New(fault.InvalidArguments, "all also deletes the recordings of other devices",
			"overwrite is %q, not true, false or all", text)
	}
	return o, nil
}

// Update returns data, a trail file, with the recordings for a device, by its lineage, changed to those of recorded.
// They are written under the first classifier of the lineage. Every other byte is unchanged: recordings for other
// classifiers, config, comments, quotes, empty lines, line ends. In the list shape the classifier is ignored.
//
// Steps are matched by kind and text, in order. Every step of the file must be in recorded, except those that have
// nothing to do on the device: an empty recording, or recordings only for others. They stay. Steps that the file lacks
// are inserted after the step that precedes them in recorded. In a step whose calls have changed, calls that are equal
// and in the same order keep their lines. A step of recorded without a recording leaves the file's calls as they are.
// Values of config.Memory that the file lacks are added; it is an error when the file has another value.
//
// With overwrite, steps that are not in recorded are removed, and the order becomes that of recorded. A trailhead is
// kept unless recorded has one. The error is, or wraps, the fault.Problems of data or a *fault.Error.
func Update(name string, data []byte, lineage []string, recorded *File, overwrite Overwrite) ([]byte, error) {
	r, problems := read(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	if overwrite != OverwriteAll {
		recorded = r.withIdle(recorded, lineage)
	}
	steps := match(recorded.Steps, r.file.Steps, sameStep)
	var err error
	switch overwrite {
	case OverwriteNothing:
		steps, err = r.matchAll(recorded, lineage)
	case OverwriteOwn:
		err = r.checkOthers(recorded, lineage[0])
	case OverwriteAll:
	}
	if err != nil {
		return nil, err
	}
	memory, err := r.missing(recorded.Config.Memory)
	if err != nil {
		return nil, err
	}
	return r.update(lineage[0], recorded, steps, memory)
}

// isIdle reports whether a step has nothing to do on a device: its recording for it is empty, or it has recordings only
// for others.
func (s Step) isIdle(lineage []string) bool {
	calls, found := s.Lookup(lineage)
	return s.Recordable && s.Kind != KindTools && len(calls) == 0 && (found || len(s.Classifiers()) > 0)
}

// withIdle returns the recording with the idle steps of the file that it lacks, each behind the step that it follows in
// the file.
func (r *reader) withIdle(recorded *File, lineage []string) *File {
	matched := match(recorded.Steps, r.file.Steps, sameStep)
	out, at := *recorded, 0
	out.Steps = slices.Clone(recorded.Steps)
	for have, step := range r.file.Steps {
		if i := slices.Index(matched, have); i >= 0 {
			at = i + 1 + len(out.Steps) - len(recorded.Steps)
		} else if step.isIdle(lineage) {
			out.Steps = slices.Insert(out.Steps, at, *step.withoutRecording())
			at++
		}
	}
	return &out
}

// checkOthers returns an error that names the recordings for other classifiers which are lost when the steps of the
// file become those of recorded.
func (r *reader) checkOthers(recorded *File, classifier string) error {
	var lost []string
	left := slices.Clone(recorded.Steps)
	for _, step := range r.file.Steps {
		if i := slices.IndexFunc(left, func(s Step) bool { return sameStep(s, step) }); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			lost = append(lost, step.recordedFor(classifier)...)
		}
	}
	if head := r.file.Trailhead; head != nil && recorded.Trailhead != nil && recorded.Trailhead.Text != head.Text {
		lost = append(lost, head.recordedFor(classifier)...)
	}
	if len(lost) == 0 {
		return nil
	}
	return fault.New(fault.Trail, "save into another file, or overwrite all (on the command line --overwrite=all) to delete them",
		"%s: overwriting would delete recordings of other devices: %s", r.file.Name, strings.Join(lost, "; "))
}

// recordedFor says for which classifiers besides one the step has calls, nothing for none.
func (s Step) recordedFor(besides string) []string {
	var others []string
	for _, recording := range s.Recording {
		if c := recording.Classifier; c != "" && c != besides && len(recording.Calls) > 0 {
			others = append(others, c)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s in %s of line %d", strings.Join(others, ", "), s.label(), s.Line)}
}

// matchAll returns the index of the file's step for each step of recorded, -1 for a step that the file lacks. A step of
// the file that recorded lacks is an error.
func (r *reader) matchAll(recorded *File, lineage []string) ([]int, error) {
	missing := func(s *Step) error {
		return fault.New(fault.Trail, "overwrite (on the command line --overwrite) replaces the steps of the file; or save into another file",
			"%s: line %d has %s, which the recording does not have, or has in another order", r.file.Name, s.Line, s.label())
	}
	if head := r.file.Trailhead; head != nil && (recorded.Trailhead == nil || recorded.Trailhead.Text != head.Text) {
		if recorded.Trailhead != nil || !head.isIdle(lineage) {
			return nil, missing(head)
		}
	}
	next, steps := 0, make([]int, len(recorded.Steps))
	for i, s := range recorded.Steps {
		steps[i] = -1
		if next < len(r.file.Steps) && sameStep(s, r.file.Steps[next]) {
			steps[i] = next
			next++
		}
	}
	if next < len(r.file.Steps) {
		return nil, missing(&r.file.Steps[next])
	}
	return steps, nil
}

func sameStep(a, b Step) bool { return a.Kind == b.Kind && a.Text == b.Text }

// update writes the steps of recorded and adds values of memory. matched has the index of the file's step for each step
// of recorded, -1 for a step to insert. The other steps of the file are removed.
func (r *reader) update(classifier string, recorded *File, matched []int, memory yamldoc.Map) ([]byte, error) {
	to := r.file.classifier(classifier)
	want, err := r.updatedFile(recorded, matched, memory, recorded.classifier(classifier), to)
	if err != nil {
		return nil, err
	}
	if sameFile(r.file, want) {
		return r.doc.Source(), nil
	}
	edit := r.doc.Edit()
	for i, have := range matched {
		if have >= 0 {
			setCalls(edit, r.stepNodes[have], &r.file.Steps[have], &want.Steps[i], to)
		}
	}
	if r.file.List {
		err = r.updateList(edit, want, matched, to)
	} else {
		r.updateTrail(edit, want, matched, to)
	}
	if err != nil {
		return nil, err
	}
	addMemory(edit, r.root, memory) // a new config is added below the steps
	return r.finish(edit, want)
}

// updatedFile returns the file with the steps of recorded. A step that the file has at another place keeps its
// recordings for other classifiers.
func (r *reader) updatedFile(recorded *File, matched []int, memory yamldoc.Map, from, to string) (*File, error) {
	want := r.file.clone()
	want.Config.Memory = withMemory(want.Config.Memory, memory)
	if head := recorded.Trailhead; head != nil {
		if want.Trailhead == nil || want.Trailhead.Text != head.Text {
			want.Trailhead = head.withoutRecording()
		}
		want.Trailhead.record(head, from, to)
	}
	used := make([]bool, len(r.file.Steps))
	for _, have := range matched {
		if have >= 0 {
			used[have] = true
		}
	}
	want.Steps = nil
	for i, s := range recorded.Steps {
		have := matched[i]
		for j := 0; have < 0 && j < len(used); j++ {
			if !used[j] && sameStep(s, r.file.Steps[j]) {
				have, used[j] = j, true
			}
		}
		step := s.withoutRecording()
		if have >= 0 {
			*step = r.file.Steps[have]
		}
		step.record(&s, from, to)
		want.Steps = append(want.Steps, *step)
	}
	return reread(want)
}

func withMemory(values map[string]any, more yamldoc.Map) map[string]any {
	out := maps.Clone(values)
	for _, pair := range more {
		if out == nil {
			out = map[string]any{}
		}
		out[pair.Key] = pair.Value
	}
	return out
}

func (s *Step) withoutRecording() *Step {
	out := *s
	out.Recording = nil
	return &out
}

// record replaces the calls for the classifier to by those that recorded has for the classifier from, if it has any
// and the step may be recorded.
func (s *Step) record(recorded *Step, from, to string) {
	if calls, ok := recorded.Recording.calls(from); ok && s.Recordable {
		s.Recording = s.Recording.withCalls(to, calls)
	}
}

// updateTrail inserts and removes steps in the mapping shape, and writes the trailhead.
func (r *reader) updateTrail(edit *yamldoc.Editor, want *File, matched []int, classifier string) {
	steps, ok := r.root.Own("trail")
	switch {
	case r.file.Trailhead != nil:
		r.updateTrailhead(edit, r.root, want, classifier)
	case want.Trailhead != nil && ok:
		edit.Insert(r.root, "trail", "trailhead", formatStep(*want.Trailhead))
	case want.Trailhead != nil:
		edit.Set(r.root, "trailhead", formatStep(*want.Trailhead))
	}
	items := each(want.Steps, func(s Step) any { return formatStep(s) })
	if _, ok := field(r.root, "trail"); ok {
		change := newListEdit(steps, len(r.file.Steps))
		change.replace(matched, items)
		change.apply(edit)
	} else if len(items) > 0 {
		edit.Set(r.root, "trail", items)
	}
}

// updateTrailhead writes the trailhead, the value of a key in mapping.
func (r *reader) updateTrailhead(edit *yamldoc.Editor, mapping yamldoc.Node, want *File, classifier string) {
	if want.Trailhead.Text == r.file.Trailhead.Text {
		setCalls(edit, r.head, r.file.Trailhead, want.Trailhead, classifier)
	} else {
		edit.Set(mapping, "trailhead", formatStep(*want.Trailhead))
	}
}

// listEdit is a change of a list: items that are removed, and items that are inserted before an item or, with the
// number of items as index, at the end.
type listEdit struct {
	list     yamldoc.Node
	removed  []bool
	inserted [][]any
}

func newListEdit(list yamldoc.Node, size int) *listEdit {
	return &listEdit{list: list, removed: make([]bool, size), inserted: make([][]any, size+1)}
}

// replace replaces the items of the list. matched has, for each of items, the index of the item that is kept instead,
// in ascending order, or -1.
func (l *listEdit) replace(matched []int, items []any) {
	for i := range l.removed {
		l.removed[i] = true
	}
	at := 0
	for i, have := range matched {
		if have < 0 {
			l.insert(at, items[i:i+1])
			continue
		}
		l.removed[have] = false
		at = have + 1
	}
}

func (l *listEdit) insert(at int, items []any) { l.inserted[at] = append(l.inserted[at], items...) }

func (l *listEdit) apply(edit *yamldoc.Editor) {
	for from := 0; from <= len(l.removed); from++ {
		to, items := from, l.inserted[from]
		for to < len(l.removed) && l.removed[to] {
			to++
			items = append(items, l.inserted[to]...)
		}
		edit.ReplaceItems(l.list, from, to, items)
		from = to
	}
}
