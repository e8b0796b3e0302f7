package trail

import (
	"cmp"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Revise returns data, a trail file, as change revises it, and what it then is. Every byte that the revision does not
// mean is unchanged, also in steps and calls that move. A step or a call that cannot be moved or changed so, such as one
// that goes into brackets, is written anew. The error is, or wraps, the fault.Problems of data or a *fault.Error.
func Revise(name string, data []byte, change func(*Revision) error) ([]byte, *File, error) {
	r, problems := read(name, data)
	if len(problems) > 0 {
		return nil, nil, problems
	}
	var first error
	for _, verbatim := range []bool{true, false} {
		v := &Revision{File: r.file, reader: r, edit: r.doc.Edit(), want: r.file.clone(), verbatim: verbatim}
		if err := change(v); err != nil {
			return nil, nil, err
		}
		want, err := reread(v.want)
		if err != nil {
			return nil, nil, err
		}
		out, file, err := r.finished(v.edit, want)
		if err == nil {
			return out, file, nil
		}
		if first == nil {
			first = err
		}
		if !v.copied {
			break
		}
	}
	return nil, nil, first
}

// Revision is a change of a trail file. Steps are named by their index in File.AllSteps, calls by their index in the
// recording of a step for a classifier, which is empty in the list shape. All of them are those before the revision. A
// step may be given another text, and besides one other method may be called.
type Revision struct {
	File *File // as it was

	reader   *reader
	edit     *yamldoc.Editor
	want     *File
	verbatim bool // steps and calls are copied and changed as they are written
	copied   bool // one was
}

func (v *Revision) step(i int) *Step { return v.File.AllSteps()[i] }

func (v *Revision) wanted(i int) *Step { return v.want.AllSteps()[i] }

func (v *Revision) node(i int) yamldoc.Node { return v.reader.allStepNodes()[i] }

// index returns the index in File.Steps of a step, -1 for the trailhead.
func (v *Revision) index(step int) int {
	if v.File.Trailhead != nil {
		return step - 1
	}
	return step
}

// Reword gives a step, which is not one of KindTools or KindUse, a kind and a text.
func (v *Revision) Reword(step int, kind, text string) {
	s, node := v.step(step), v.node(step)
	key := KindStep
	if s.Kind == KindVerify {
		key = KindVerify
	}
	if text != s.Text {
		v.edit.Set(node, key, text)
	}
	if kind != s.Kind {
		v.edit.Rename(node, key, kind)
	}
	v.wanted(step).Kind, v.wanted(step).Text = kind, text
}

// InsertStep inserts a step before another one. The number of steps is the end.
func (v *Revision) InsertStep(before int, s Step) error {
	at := v.index(before)
	v.want.Steps = slices.Insert(v.want.Steps, at, s)
	return v.arrange(slices.Insert(v.kept(), at, -1), each(v.want.Steps, func(s Step) any { return formatStep(s) }))
}

// DeleteStep deletes a step with its recordings for all devices.
func (v *Revision) DeleteStep(step int) error {
	if at := v.index(step); at >= 0 {
		v.want.Steps = slices.Delete(v.want.Steps, at, at+1)
		return v.arrange(slices.Delete(v.kept(), at, at+1), make([]any, len(v.want.Steps)))
	}
	v.want.Trailhead = nil
	root := v.reader.root
	if v.File.List {
		_, at := v.reader.places()
		v.edit.ReplaceItems(root, at, at+1, nil)
		return nil
	}
	v.edit.ReplaceKeys(root, []string{KindTrailhead}, nil)
	return nil
}

// MoveStep moves a step to the place of another one.
func (v *Revision) MoveStep(step, to int) error {
	from, to := v.index(step), v.index(to)
	moved := v.File.Steps[from]
	v.want.Steps = slices.Insert(slices.Delete(v.want.Steps, from, from+1), to, moved)
	before := to // which item of the list it comes to stand before
	if to > from {
		before++
	}
	list, _ := field(v.reader.root, "trail")
	shift := 0
	if v.File.List {
		places, _ := v.reader.places()
		first, last := places[from], places[to]
		if first.size == 0 || first.item != last.item {
			matched := slices.Insert(slices.Delete(v.kept(), from, from+1), to, -1)
			return v.arrange(matched, nil)
		}
		list, shift = first.prompts, from-first.index
	}
	v.edit.ReplaceItems(list, from-shift, from-shift+1, nil)
	v.edit.ReplaceItems(list, before-shift, before-shift, []any{v.copy(list, from-shift, formatStep(moved))})
	return nil
}

// kept returns the indexes of the steps of the file.
func (v *Revision) kept() []int {
	all := make([]int, len(v.File.Steps))
	for i := range all {
		all[i] = i
	}
	return all
}

// arrange removes the steps that are not matched, and inserts items for -1.
func (v *Revision) arrange(matched []int, items []any) error {
	r := v.reader
	if v.File.List {
		return r.updateList(v.edit, v.want, matched, "")
	}
	list, ok := field(r.root, "trail")
	if !ok {
		v.edit.Set(r.root, "trail", items)
		return nil
	}
	change := newListEdit(list, len(v.File.Steps))
	change.replace(matched, items)
	change.apply(v.edit)
	return nil
}

// copy returns an item of a list to be inserted elsewhere.
func (v *Revision) copy(list yamldoc.Node, item int, value any) any {
	if !v.verbatim {
		return value
	}
	v.copied = true
	return v.edit.Copy(list, item, value)
}

// calls returns the list that holds the calls of a step for a classifier. ok is false when it is not written in the
// step itself.
func (v *Revision) calls(step int, classifier string) (list yamldoc.Node, ok bool) {
	return ownCalls(v.node(step), v.step(step).Kind, cmp.Or(classifier, KindTools))
}

// record sets the calls that a step is to have for a classifier.
func (v *Revision) record(step int, classifier string, calls []Call) {
	s := v.wanted(step)
	s.Recording = s.Recording.withCalls(classifier, calls)
}

// replaceCalls replaces the calls of a step from one index to another by others, which items has as they are written.
func (v *Revision) replaceCalls(step int, classifier string, from, to int, calls []Call, items []any) {
	old, _ := v.step(step).Recording.calls(classifier)
	left := slices.Concat(old[:from], calls, old[to:])
	list, own := v.calls(step, classifier)
	switch {
	case len(left) == 0 && v.step(step).Kind != KindTools:
		v.deleteRecording(step, classifier)
		return
	case own:
		v.edit.ReplaceItems(list, from, to, items)
	}
	v.record(step, classifier, left)
	if !own {
		setCalls(v.edit, v.node(step), v.step(step), v.wanted(step), classifier)
	}
}

// deleteRecording deletes the recording of a step for a classifier. It becomes a no-op if a recording for a broader
// classifier would take its place.
func (v *Revision) deleteRecording(step int, classifier string) {
	s, mapping := v.wanted(step), v.node(step)
	s.Recording = slices.DeleteFunc(slices.Clone(s.Recording), func(r ClassifierRecording) bool { return r.Classifier == classifier })
	recording, own := mapping.Own("recording")
	switch _, found := s.Lookup(Lineage([]string{classifier})); {
	case found:
		v.record(step, classifier, nil)
		v.edit.Set(recording, classifier, []any{})
	case len(s.Recording) == 0 || !own:
		v.edit.ReplaceKeys(mapping, []string{"recording"}, nil)
	default:
		v.edit.ReplaceKeys(recording, []string{cmp.Or(classifier, KindTools)}, nil)
	}
}

// InsertCalls inserts calls before one of a step.
func (v *Revision) InsertCalls(step int, classifier string, before int, calls []Call) {
	v.replaceCalls(step, classifier, before, before, calls, each(calls, formatCall))
}

// DeleteCall deletes a call. A recording that loses its last one is deleted, too.
func (v *Revision) DeleteCall(step int, classifier string, call int) {
	v.replaceCalls(step, classifier, call, call+1, nil, nil)
}

// SetCall replaces a call. Where the tool is the same, only what differs is written.
func (v *Revision) SetCall(step int, classifier string, call int, c Call) {
	calls, _ := v.step(step).Recording.calls(classifier)
	list, own := v.calls(step, classifier)
	if own && v.verbatim {
		node := list.Items()[call]
		if old := writtenFields(node, calls[call], c); canUpdate(node, old, fields(c)) {
			left := slices.Clone(calls)
			left[call] = c
			v.record(step, classifier, left)
			v.copied = true
			updateMapping(v.edit, node, old, fields(c))
			return
		}
	}
	v.replaceCalls(step, classifier, call, call+1, []Call{c}, []any{formatCall(c)})
}

// MoveCall moves a call of a step before another one, also of another step. The number of calls is the end.
func (v *Revision) MoveCall(step int, classifier string, call, toStep int, toClassifier string, before int) {
	calls, _ := v.step(step).Recording.calls(classifier)
	c, items := calls[call:call+1], v.copyCalls(step, classifier, call, call+1)
	if step != toStep {
		v.replaceCalls(step, classifier, call, call+1, nil, nil)
		v.replaceCalls(toStep, toClassifier, before, before, c, items)
		return
	}
	at := before
	if before > call {
		at--
	}
	v.record(step, classifier, slices.Insert(slices.Delete(slices.Clone(calls), call, call+1), at, c...))
	list, own := v.calls(step, classifier)
	if !own {
		setCalls(v.edit, v.node(step), v.step(step), v.wanted(step), classifier)
		return
	}
	v.edit.ReplaceItems(list, call, call+1, nil)
	v.edit.ReplaceItems(list, before, before, items)
}

// copyCalls returns calls of a step to be inserted elsewhere.
func (v *Revision) copyCalls(step int, classifier string, from, to int) []any {
	calls, _ := v.step(step).Recording.calls(classifier)
	list, own := v.calls(step, classifier)
	var items []any
	for i := from; i < to; i++ {
		item := formatCall(calls[i])
		if own {
			item = v.copy(list, i, item)
		}
		items = append(items, item)
	}
	return items
}

// RenameClassifier moves the calls that a step has for a classifier to another one, for which it has none.
func (v *Revision) RenameClassifier(step int, from, to string) {
	s := v.wanted(step)
	s.Recording = slices.Clone(s.Recording)
	for i := range s.Recording {
		if s.Recording[i].Classifier == from {
			s.Recording[i].Classifier = to
		}
	}
	if recording, ok := field(v.node(step), "recording"); ok {
		v.edit.Rename(recording, from, to)
	}
}

// Split moves the calls of a step from one on into a new step behind it. Recordings for other classifiers stay.
func (v *Revision) Split(step int, classifier string, call int, kind, text string) error {
	calls, _ := v.step(step).Recording.calls(classifier)
	items := v.copyCalls(step, classifier, call, len(calls))
	v.replaceCalls(step, classifier, call, len(calls), nil, nil)
	s := Step{
		Kind: kind, Text: text, Recordable: true,
		Recording: Recording{{Classifier: classifier, Calls: calls[call:]}},
	}
	at := v.index(step) + 1
	v.want.Steps = slices.Insert(v.want.Steps, at, s)
	written := make([]any, len(v.want.Steps))
	written[at] = yamldoc.Map{
		{Key: kind, Value: text},
		{Key: "recording", Value: yamldoc.Map{{Key: cmp.Or(classifier, KindTools), Value: items}}},
	}
	return v.arrange(slices.Insert(v.kept(), at, -1), written)
}

// Join moves the calls of a step behind those of the step before it, for every classifier, and deletes the step. The
// error names a classifier for which only one of them is recorded.
func (v *Revision) Join(step int) error {
	s, before := v.step(step), v.step(step-1)
	a, b := slices.Sorted(slices.Values(before.Classifiers())), slices.Sorted(slices.Values(s.Classifiers()))
	if len(s.Recording) > 0 && len(before.Recording) > 0 && !slices.Equal(a, b) {
		return fault.New(fault.InvalidArguments, "record both steps for the same devices first, or leave them apart",
			"%s: %s of line %d and the one before it are recorded for different devices: %v and %v", v.File.Name, s.label(),
			s.Line, b, a)
	}
	written := yamldoc.Map{}
	for _, r := range s.Recording {
		items := v.copyCalls(step, r.Classifier, 0, len(r.Calls))
		written = append(written, yamldoc.Pair{Key: cmp.Or(r.Classifier, KindTools), Value: items})
		if len(before.Recording) > 0 && len(items) > 0 {
			old, _ := before.Recording.calls(r.Classifier)
			v.replaceCalls(step-1, r.Classifier, len(old), len(old), r.Calls, items)
		}
	}
	if len(before.Recording) == 0 && len(written) > 0 {
		v.edit.Set(v.node(step-1), "recording", written)
		v.wanted(step - 1).Recording = s.Recording
	}
	return v.DeleteStep(step)
}

// Moved returns the step with its lines, and those of its calls, so many lines further down.
func (s Step) Moved(lines int) Step {
	s.Line += lines
	s.Recording = slices.Clone(s.Recording)
	for i, r := range s.Recording {
		calls := slices.Clone(r.Calls)
		for n := range calls {
			calls[n].Line += lines
			calls[n].Positions = calls[n].Positions.Moved(lines)
			calls[n].Use = calls[n].Use.moved(lines)
		}
		s.Recording[i].Calls = calls
	}
	s.Use = s.Use.moved(lines)
	return s
}

// moved is [Step.Moved] for a used trail, nil for none.
func (u *Use) moved(lines int) *Use {
	if u == nil {
		return nil
	}
	out := *u
	out.Line += lines
	out.Positions = out.Positions.Moved(lines)
	return &out
}
