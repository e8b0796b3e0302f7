package trail_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// anyOrder compares files whatever the order of the classifiers.
var anyOrder = gocmp.Options{
	sameFile, cmpopts.EquateEmpty(),
	cmpopts.SortSlices(func(a, b trail.ClassifierRecording) bool { return cmp.Less(a.Classifier, b.Classifier) }),
}

// In files of any style, merging changes what it should and no other byte.
func TestRandomMergesChangeOnlyTheRecording(t *testing.T) {
	t.Parallel()
	for seed := range tries(150) {
		b := &builder{rand.New(rand.NewPCG(seed, 1))}
		file := b.file()
		file.Config.ID = "random"
		classifier := pick(b, "android", "ios")
		records := b.records(file, classifier)
		recorded := trail.NewRecordedFile(file, classifier, records, nil, nil)
		want := expected(file, recorded, classifier)

		w := &writer{builder: b, classifier: classifier, steps: changes(file, want)}
		in := w.file(file)
		if diff := gocmp.Diff(file, parse(t, "in", in), anyOrder, ignoreName); diff != "" {
			t.Fatalf("seed %d: the test wrote another file (-want +got):\n%s\n%s", seed, diff, in)
		}
		out := merge(t, in, classifier, recorded)
		if diff := gocmp.Diff(want, parse(t, "out", out), anyOrder, ignoreName); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s\nin:\n%s\nout:\n%s", seed, diff, in, out)
		}
		if !w.outside().Match(out) {
			t.Errorf("seed %d: changed elsewhere\nin:\n%s\nout:\n%s", seed, in, out)
		}
		if own, err := trail.ReplaceCalls("f", in, classifier, parse(t, "in", in)); err != nil || !bytes.Equal(own, in) {
			t.Errorf("seed %d: its own recording changed it: %v\n%s", seed, err, own)
		}
	}
}

var ignoreName = cmpopts.IgnoreFields(trail.File{}, "Name")

// steps lists the steps of a file, the trailhead first.
func steps(f *trail.File) []trail.Step {
	if f.Trailhead == nil {
		return f.Steps
	}
	return slices.Insert(slices.Clone(f.Steps), 0, *f.Trailhead)
}

func (b *builder) records(f *trail.File, classifier string) []trail.StepRecording {
	var out []trail.StepRecording
	for _, s := range steps(f) {
		r := trail.StepRecording{Calls: b.calls(), Recorded: b.IntN(4) > 0}
		if b.IntN(4) == 0 {
			r.Calls, r.Recorded = s.Lookup([]string{classifier})
		}
		out = append(out, r)
	}
	return out
}

// expected is the file with the calls that were recorded.
func expected(f, recorded *trail.File, classifier string) *trail.File {
	if f.List {
		classifier = ""
	}
	change := func(s, r trail.Step) trail.Step {
		if len(r.Recording) == 0 {
			return s
		}
		others := slices.DeleteFunc(slices.Clone(s.Recording),
			func(r trail.ClassifierRecording) bool { return r.Classifier == classifier })
		s.Recording = append(others, trail.ClassifierRecording{Classifier: classifier, Calls: r.Recording[0].Calls})
		return s
	}
	out := *f
	if f.Trailhead != nil {
		head := change(*f.Trailhead, *recorded.Trailhead)
		out.Trailhead = &head
	}
	out.Steps = slices.Clone(f.Steps)
	for i, s := range f.Steps {
		out.Steps[i] = change(s, recorded.Steps[i])
	}
	return &out
}

func changes(before, after *trail.File) []bool {
	var out []bool
	for i, s := range steps(before) {
		out = append(out, !gocmp.Equal(s, steps(after)[i], anyOrder))
	}
	return out
}

// writer writes a file in a random style, and records which parts a merge may change.
type writer struct {
	*builder
	classifier string
	steps      []bool // which steps a merge changes

	stepTexts []string         // the text of each step
	callTexts map[int][]string // the lines of each call for the classifier, by step, where calls have lines of their own

	text    strings.Builder
	fixed   []string // the parts that must not change; a merge may change the text between any two
	changes bool     // the text being written is not part of fixed
	grows   bool     // a mapping to which a merge may add has just ended: before or after the next comments
	literal bool     // a block of text has just ended, which needs its line end
	indent  int
	lists   int
	end     string
}

func (w *writer) write(parts ...any) {
	text := strings.ReplaceAll(fmt.Sprint(parts...), "\n", w.end)
	w.text.WriteString(text)
	if !w.changes {
		w.fixed[len(w.fixed)-1] += text
	}
}

// open allows a merge to write here.
func (w *writer) open(here bool) {
	if here {
		w.fixed = append(w.fixed, "")
	}
}

func (w *writer) outside() *regexp.Regexp {
	var quoted []string
	for _, text := range w.fixed {
		quoted = append(quoted, regexp.QuoteMeta(text))
	}
	return regexp.MustCompile(`^(?s:` + strings.Join(quoted, `.*?`) + `)$`)
}

// line starts a line, after comments and empty lines.
func (w *writer) line(indent int) {
	w.above(indent)
	w.write("\n", strings.Repeat(" ", indent))
}

func (w *writer) above(indent int) {
	for range max(0, w.IntN(6)-3) {
		w.write("\n", pick(w.builder, "", " ", strings.Repeat(" ", indent)+"# "+w.comment()))
		w.open(w.grows)
	}
	w.grows, w.literal = false, false
}

func (w *writer) comment() string {
	return pick(w.builder, "why", "- tap: {}", "a: b", "'", `"`, "{", "]", "é#")
}

// beside may write a comment at the end of a line.
func (w *writer) beside() {
	if w.IntN(5) == 0 {
		w.write(pick(w.builder, " # ", "  #"), w.comment())
	}
}

func (w *writer) file(f *trail.File) []byte {
	w.callTexts = map[int][]string{}
	w.fixed, w.indent, w.end = []string{""}, pick(w.builder, 2, 2, 4, 3), pick(w.builder, "\n", "\r\n")
	w.lists = pick(w.builder, 0, w.indent)
	config, err := trail.Format(&trail.File{Config: f.Config, List: f.List})
	if err != nil {
		panic(err)
	}
	w.write(strings.TrimSuffix(strings.TrimSuffix(string(config), "trail: []\n"), "\n"))
	w.literal = true // it may end so
	if f.List {
		w.listShape(f)
	} else {
		w.mappingShape(f)
	}
	if w.literal || w.IntN(2) == 0 {
		w.write(pick(w.builder, "\n", "\n\n# end", "\n# end\n"))
	}
	return []byte(w.text.String())
}

func (w *writer) mappingShape(f *trail.File) {
	if f.Trailhead != nil {
		w.line(0)
		w.write("trailhead:")
		w.line(w.indent)
		w.stepAt(w.indent, *f.Trailhead)
	}
	w.line(0)
	w.write("trail:")
	if len(f.Steps) == 0 {
		w.write(" []")
	}
	for _, s := range f.Steps {
		w.line(w.lists)
		w.write("- ")
		w.stepAt(w.lists+2, s)
	}
}

func (w *writer) listShape(f *trail.File) {
	if f.Trailhead != nil {
		w.line(0)
		w.write("- trailhead:")
		w.line(2 + w.indent)
		w.stepAt(2+w.indent, *f.Trailhead)
	}
	for i, s := range f.Steps {
		if s.Kind == trail.KindTools {
			w.line(0)
			start := w.text.Len()
			w.write("- tools:")
			w.calls(2, s.Recording[0], w.next())
			w.stepTexts = append(w.stepTexts, w.text.String()[start:])
			continue
		}
		if i == 0 || f.Steps[i-1].Kind == trail.KindTools || w.IntN(2) == 0 {
			w.line(0)
			w.write("- prompts:")
		}
		w.line(2 + w.lists)
		w.write("- ")
		w.stepAt(4+w.lists, s)
	}
}

// next returns whether the next step changes.
func (w *writer) next() bool {
	changed := w.steps[0]
	w.steps = w.steps[1:]
	return changed
}

// stepAt writes a step. Its first line is indented already.
func (w *writer) stepAt(indent int, s trail.Step) {
	changed, start := w.next(), w.text.Len()
	defer func() { w.stepTexts = append(w.stepTexts, w.text.String()[start:]) }()
	kind := s.Kind
	if kind == trail.KindTrailhead {
		kind = trail.KindStep
	}
	entries := []func(){func() { w.write(kind, ":"); w.value(indent, s.Text) }}
	if len(s.Recording) > 0 {
		entries = append(entries, func() { w.write("recording:"); w.recording(indent, s.Recording, changed) })
	}
	if !s.Recordable {
		entries = append(entries, func() { w.write("recordable: false"); w.beside() })
	}
	if s.MaxRetries != 0 {
		entries = append(entries, func() { w.write("maxRetries: ", s.MaxRetries); w.beside() })
	}
	w.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for i, entry := range entries {
		if i > 0 {
			w.line(indent)
		}
		entry()
	}
	w.mayGrow(changed && len(s.Recording) == 0)
}

// mayGrow ends a mapping to which a merge may add.
func (w *writer) mayGrow(here bool) {
	w.open(here)
	w.grows = w.grows || here
}

func (w *writer) recording(indent int, recording trail.Recording, changed bool) {
	has := slices.ContainsFunc(recording, func(r trail.ClassifierRecording) bool { return w.changesIn(r.Classifier) })
	if w.IntN(3) == 0 {
		w.write(" {")
		for i, r := range recording {
			if i > 0 {
				w.write(", ")
			}
			w.write(key(r), ": ")
			w.change(changed && w.changesIn(r.Classifier), func() { w.write(w.flow(indent+4, list(r.Calls))) })
		}
		w.open(changed && !has)
		w.write("}")
		w.beside()
		return
	}
	w.beside()
	for _, r := range recording {
		w.line(indent + w.indent)
		w.write(key(r), ":")
		w.calls(indent+w.indent, r, changed && w.changesIn(r.Classifier))
	}
	w.mayGrow(changed && !has)
}

// change writes text that a merge replaces.
func (w *writer) change(here bool, write func()) {
	w.open(here)
	w.changes = here
	write()
	w.changes = false
}

// calls writes the value of a key in a line of its own.
func (w *writer) calls(indent int, recording trail.ClassifierRecording, changed bool) {
	calls := recording.Calls
	w.open(changed)
	switch style := w.IntN(4); {
	case style == 0 || len(calls) == 0:
		w.change(changed, func() { w.write(" ", w.flow(indent+2, list(calls))) })
		w.beside()
	case style == 1:
		w.beside()
		w.above(indent + 1)
		w.change(changed, func() { w.write("\n", strings.Repeat(" ", indent+1), w.flow(indent+2, list(calls))) })
		w.beside()
	default:
		w.beside()
		w.change(changed, func() { // a comment above the first call goes with it
			w.above(indent + w.lists)
			texts := w.items(indent+w.lists, list(calls))
			if w.changesIn(recording.Classifier) {
				w.callTexts[len(w.stepTexts)] = texts
			}
		})
	}
	w.open(changed)
}

// value writes the value of a key.
func (w *writer) value(indent int, v any) {
	text, isText := v.(string)
	switch {
	case isText && strings.HasSuffix(text, "line\n") && w.IntN(2) == 0:
		margin := "\n" + strings.Repeat(" ", indent+w.indent)
		w.write(" |", margin, strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", margin))
		w.literal = true
	case isText || !collection(v) || w.IntN(2) == 0:
		w.write(" ", w.flow(indent+2, v))
		w.beside()
	default:
		w.beside()
		if items, ok := v.([]any); ok {
			w.above(indent + w.lists)
			w.items(indent+w.lists, items)
			return
		}
		w.line(indent + w.indent)
		w.mapping(indent+w.indent, v)
	}
}

// items writes a list. It returns the text of each item.
func (w *writer) items(indent int, items []any) (texts []string) {
	for i, item := range items {
		if i > 0 {
			w.above(indent)
		}
		w.write("\n", strings.Repeat(" ", indent), "- ")
		start := w.text.Len()
		if _, isMap := item.(yamldoc.Map); isMap && w.IntN(3) > 0 {
			w.mapping(indent+2, item)
		} else {
			w.write(w.flow(indent+2, item))
			w.beside()
		}
		texts = append(texts, w.text.String()[start:])
	}
	return texts
}

// mapping writes a mapping. Its first line is indented already.
func (w *writer) mapping(indent int, v any) {
	for i, pair := range pairs(v) {
		if i > 0 {
			w.line(indent)
		}
		w.write(w.scalar(pair.Key), ":")
		w.value(indent, pair.Value)
	}
}

func (w *writer) flow(indent int, v any) string {
	between := ", "
	if w.IntN(4) == 0 {
		between = pick(w.builder, ",", ", # "+w.comment()) + "\n" + strings.Repeat(" ", indent)
	}
	var parts []string
	if items, ok := v.([]any); ok {
		for _, item := range items {
			parts = append(parts, w.flow(indent, item))
		}
		return "[" + strings.Join(parts, between) + "]"
	}
	if pairs := pairs(v); pairs != nil {
		for _, pair := range pairs {
			parts = append(parts, w.scalar(pair.Key)+": "+w.flow(indent, pair.Value))
		}
		return "{" + strings.Join(parts, between) + "}"
	}
	return w.scalar(v)
}

func (w *writer) scalar(v any) string {
	text, ok := v.(string)
	if !ok {
		data, err := yamldoc.Encode(v)
		if err != nil {
			panic(err)
		}
		return strings.TrimSuffix(string(data), "\n")
	}
	if !strings.ContainsAny(text, "\n\t\x00") && w.IntN(2) == 0 {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	var quoted strings.Builder
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSpace(quoted.String())
}

// pairs returns the pairs of a mapping, nil for other values.
func pairs(v any) yamldoc.Map {
	switch v := v.(type) {
	case yamldoc.Map:
		return v
	case map[string]any:
		out := yamldoc.Map{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, yamldoc.Pair{Key: key, Value: v[key]})
		}
		return out
	}
	return nil
}

func collection(v any) bool {
	items, _ := v.([]any)
	return len(items)+len(pairs(v)) > 0
}

// list returns calls as they are in a file.
func list(calls []trail.Call) []any {
	out := []any{}
	for _, c := range calls {
		m := yamldoc.Map{{Key: c.Tool, Value: c.Args}}
		if c.SaveAs != "" {
			m = append(m, yamldoc.Pair{Key: "saveAs", Value: c.SaveAs})
		}
		if c.Timeout != 0 {
			m = append(m, yamldoc.Pair{Key: "timeout", Value: c.Timeout.String()})
		}
		out = append(out, m)
	}
	return out
}

func (w *writer) changesIn(classifier string) bool {
	return classifier == "" || classifier == w.classifier
}

func key(r trail.ClassifierRecording) string { return cmp.Or(r.Classifier, "tools") }
