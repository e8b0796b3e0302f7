package document_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// commented has comments, quotes, empty lines, other devices' recordings and every kind of step.
const commented = `# A trail.

config: # of the shop
  id: 'shop'
  memory: { email: "ada@example.com" } # who buys

trailhead:
  step: Open the shop
  recording: { web: [ web_navigate: { url: / } ] }

# The steps follow.
trail:
  # first
  - step: 'Add a mug' # quoted
    recording:
      web:
        # the mug
        - web_click: # click it
            nodeSelector: { web: { ariaRole: "button", ariaNameRegex: 'Add' } }
        - web_type:
            text: |
              two
              # lines
            ref: "Note"
            # about the note
          timeout: 5s
      android: [ tap: { text: Add } ] # the phone

  - step: >-
      Add a
      shirt
    maxRetries: 2
    recording:
      # the phone comes first
      android:
      - tap: { text: Shirt }
      web-phone:
      - web_click: { ref: Shirt }
      web:
      - web_click: { ref: "Shirt" } # same
      - web_click: { ref: "Shirt" } # again

  - verify: Add a mug
    recording:
        web:
            - web_verifyTextVisible:
                text: "Total"
              soft: true
            - rememberValue: { name: x, value: 1 }
              saveAs: kept
  - step: Add a mug
    recording:
      web:
      - web_click: { ref: Mug }
  - use: parts/pay.trail.yaml
    args: { amount: 3 }
  - step: For an agent
    recordable: false
  - step: Add a mug # the same again
    recording:
      web: []
# the end
`

// fixtures returns trails by their names.
func fixtures(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{
		"commented": []byte(commented), "CRLF": bytes.ReplaceAll([]byte(commented), []byte("\n"), []byte("\r\n")),
		"no line end": bytes.TrimSuffix([]byte(commented), []byte("\n# the end\n")), "long": long(6),
	}
	paths, err := filepath.Glob("../../trail/testdata/good/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no trails", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = data
	}
	return out
}

// model is what a trail is to be after edits, independent of its text.
type model struct {
	*trail.File
	lineage []string
}

func (m model) recording(step int) *trail.ClassifierRecording {
	s := m.AllSteps()[step]
	for _, c := range append(slices.Clone(m.lineage), "") {
		for i := range s.Recording {
			if s.Recording[i].Classifier == c && s.Recordable {
				return &s.Recording[i]
			}
		}
	}
	return nil
}

func (m model) calls(step int) []trail.Call {
	if r := m.recording(step); r != nil {
		return r.Calls
	}
	return nil
}

func (m model) setCalls(step int, calls []trail.Call) {
	s := m.AllSteps()[step]
	r := m.recording(step)
	classifier := m.lineage[0]
	if r != nil {
		classifier = r.Classifier
	}
	s.Recording = slices.DeleteFunc(s.Recording, func(r trail.ClassifierRecording) bool { return r.Classifier == classifier })
	broader := slices.ContainsFunc(s.Recording, func(r trail.ClassifierRecording) bool {
		return strings.HasPrefix(classifier, r.Classifier+"-")
	})
	if len(calls) > 0 || broader || s.Kind == trail.KindTools {
		s.Recording = append(s.Recording, trail.ClassifierRecording{Classifier: classifier, Calls: calls})
	}
}

// at returns the index in Steps of a step.
func (m model) at(step int) int {
	if m.Trailhead != nil {
		return step - 1
	}
	return step
}

// randomEdit is an edit with what it makes of the model, and the first and last step whose lines it may change.
type randomEdit struct {
	edit        document.Edit
	change      func()
	first, last int
	moves       bool // lines are the same, but for their place and indentation
}

func number(step int, call ...int) string {
	out := fmt.Sprint(step + 1)
	for _, c := range call {
		out += fmt.Sprint(".", c+1)
	}
	return out
}

// anyCall returns a step with calls and one of its calls.
func anyCall(r *rand.Rand, m model) (step, call int, ok bool) {
	for range 10 {
		step = r.IntN(len(m.AllSteps()))
		if calls := m.calls(step); len(calls) > 0 {
			return step, r.IntN(len(calls)), true
		}
	}
	return 0, 0, false
}

func stepEdit(r *rand.Rand, m model) randomEdit {
	n := len(m.AllSteps())
	step, to := r.IntN(n), r.IntN(n)
	s := m.AllSteps()[step]
	e := randomEdit{first: step, last: step}
	switch r.IntN(7) {
	case 0:
		text := fmt.Sprint("Reworded: ", r.IntN(100))
		e.edit = document.Edit{Op: "reword", Step: number(step), Text: text}
		e.change = func() { s.Text = text }
	case 1:
		kind := []string{"step", "verify"}[r.IntN(2)]
		e.edit = document.Edit{Op: "kind", Step: number(step), Kind: kind}
		e.change = func() { s.Kind = kind }
	case 2:
		e.edit = document.Edit{Op: "move", Number: number(step), To: number(to)}
		e.first, e.last, e.moves = min(step, to), max(step, to), true
		e.change = func() {
			moved := *s
			m.Steps = slices.Insert(slices.Delete(m.Steps, m.at(step), m.at(step)+1), m.at(to), moved)
		}
	case 3:
		e.edit = document.Edit{Op: "delete", Number: number(step)}
		e.change = func() {
			if m.at(step) < 0 {
				m.Trailhead = nil
				return
			}
			m.Steps = slices.Delete(m.Steps, m.at(step), m.at(step)+1)
		}
	case 4:
		text := fmt.Sprint("Inserted ", r.IntN(3))
		e.edit = document.Edit{Op: "insertStep", After: number(step), Text: text, Kind: "step"}
		e.change = func() {
			m.Steps = slices.Insert(m.Steps, m.at(step)+1, trail.Step{Kind: "step", Text: text, Recordable: true})
		}
	case 5:
		e.edit = document.Edit{Op: "join", Step: number(step)}
		e.first = max(0, step-1)
		e.change = func() {
			before := m.AllSteps()[step-1]
			for _, joined := range s.Recording {
				i := slices.IndexFunc(before.Recording, func(r trail.ClassifierRecording) bool { return r.Classifier == joined.Classifier })
				if i >= 0 {
					joined.Calls = slices.Concat(before.Recording[i].Calls, joined.Calls)
					before.Recording = slices.Delete(slices.Clone(before.Recording), i, i+1)
				}
				before.Recording = append(before.Recording, joined)
			}
			m.Steps = slices.Delete(m.Steps, m.at(step), m.at(step)+1)
		}
	case 6:
		classifier := []string{"web-phone", "web-tablet"}[r.IntN(2)]
		e.edit = document.Edit{Op: "classifier", Step: number(step), Classifier: classifier}
		e.change = func() { m.recording(step).Classifier = classifier }
	}
	return e
}

func callEdit(r *rand.Rand, m model) (e randomEdit, ok bool) {
	step, call, ok := anyCall(r, m)
	to, toCall, _ := anyCall(r, m)
	if !ok {
		return e, false
	}
	name, calls := number(step, call), slices.Clone(m.calls(step))
	e.first, e.last = step, step
	switch r.IntN(6) {
	case 0:
		e.edit = document.Edit{Op: "delete", Number: name}
		e.change = func() { m.setCalls(step, slices.Delete(calls, call, call+1)) }
	case 1:
		e.edit = document.Edit{Op: "move", Number: name, To: number(to, toCall)}
		e.first, e.last, e.moves = min(step, to), max(step, to), true
		e.change = func() {
			moved := calls[call]
			others := slices.Clone(m.calls(to))
			left := slices.Delete(calls, call, call+1)
			if to == step {
				m.setCalls(step, slices.Insert(left, toCall, moved))
				return
			}
			m.setCalls(to, slices.Insert(others, toCall, moved))
			m.setCalls(step, left)
		}
	case 2:
		text := fmt.Sprint("Split ", r.IntN(100))
		e.edit = document.Edit{Op: "split", Call: name, Text: text}
		e.change = func() {
			kind, classifier := m.AllSteps()[step].Kind, m.recording(step).Classifier
			if kind != "verify" {
				kind = "step"
			}
			m.setCalls(step, slices.Clone(calls[:call]))
			m.Steps = slices.Insert(m.Steps, m.at(step)+1, trail.Step{
				Kind: kind, Text: text, Recordable: true,
				Recording: trail.Recording{{Classifier: classifier, Calls: calls[call:]}},
			})
		}
	case 3:
		args := map[string]any{"ref": fmt.Sprint("New ", r.IntN(10))}
		if r.IntN(2) == 0 {
			args = mapsWith(calls[call].Args, "more", []any{int64(1), "two"})
		}
		e.edit = document.Edit{Op: "args", Call: name, Args: args}
		e.change = func() { calls[call].Args = args; m.setCalls(step, calls) }
	case 4:
		optional, saveAs := r.IntN(2) == 0, []string{"", "x"}[r.IntN(2)]
		e.edit = document.Edit{Op: "call", Call: name, Optional: optional, Timeout: "1m30s", SaveAs: saveAs}
		e.change = func() {
			c := &calls[call]
			c.Optional, c.SaveAs, c.Timeout, c.Soft = optional, saveAs, 90*time.Second, c.Soft && !optional
			m.setCalls(step, calls)
		}
	case 5:
		selector := map[string]any{"web": map[string]any{"dataTestId": "x"}}
		e.edit = document.Edit{Op: "pick", Call: name, Selector: selector}
		e.change = func() {
			args := mapsWith(calls[call].Args, "nodeSelector", selector)
			delete(args, "ref")
			if calls[call].Tool == "tap" {
				delete(args, "text")
				delete(args, "index")
			}
			calls[call].Args = args
			m.setCalls(step, calls)
		}
	}
	return e, true
}

func mapsWith(m map[string]any, key string, value any) map[string]any {
	out := map[string]any{key: value}
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// normal returns what a trail means, as a text.
func normal(t *testing.T, f *trail.File) string {
	t.Helper()
	out := *f
	out.Steps = slices.Clone(f.Steps)
	if f.Trailhead != nil {
		head := *f.Trailhead
		out.Trailhead = &head
	}
	for _, s := range out.AllSteps() {
		s.Recording = slices.Clone(s.Recording)
		slices.SortFunc(s.Recording, func(a, b trail.ClassifierRecording) int { return cmp.Compare(a.Classifier, b.Classifier) })
	}
	text, err := trail.Format(&out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func reparse(t *testing.T, text []byte) *trail.File {
	t.Helper()
	f, problems := trail.Parse("a.trail.yaml", text)
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	return f
}

// Random edits of trails in all styles mean what they should and change no other lines. Undo and redo of all of them
// return the very bytes.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	for name, text := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, refused := 0, 0
			for seed := range uint64(5) {
				a, b := editAtRandom(t, rand.New(rand.NewPCG(seed, 1)), text)
				made, refused = made+a, refused+b
			}
			t.Log(made, "edits were made,", refused, "refused")
			if made == 0 && name != "no-steps.yaml" && name != "list-empty.yaml" {
				t.Error("no edit was made")
			}
		})
	}
}

func editAtRandom(t *testing.T, r *rand.Rand, text []byte) (made, refused int) {
	t.Helper()
	lineage := []string{"web-phone", "web"}
	if f := reparse(t, text); r.IntN(2) == 0 && len(f.Config.Teardown) == 0 && len(f.AllSteps()) > 0 {
		if names := f.AllSteps()[0].Classifiers(); len(names) > 0 {
			lineage = trail.Lineage(names[:1])
		}
	}
	d, problems := document.Open(document.Options{Name: "a.trail.yaml", Lineage: lineage}, text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	texts := []string{string(d.Text())}
	for range 15 {
		before := string(d.Text())
		m := model{reparse(t, []byte(before)), lineage}
		if len(m.AllSteps()) == 0 {
			break
		}
		e, ok := stepEdit(r, m), true
		if r.IntN(2) == 0 {
			e, ok = callEdit(r, m)
		}
		if !ok {
			continue
		}
		version := d.Version()
		if err := d.Apply(e.edit); err != nil {
			refused++
			if fault.As(err) == nil || fault.KindOf(err) == fault.Bug {
				t.Errorf("%+v: %v\nin:\n%s", e.edit, err, before)
			}
			if string(d.Text()) != before || d.Version() != version {
				t.Fatalf("%+v failed and changed something", e.edit)
			}
			continue
		}
		made++
		checkEdit(t, d, m, e, before)
		if t.Failed() {
			t.FailNow()
		}
		texts = append(texts, string(d.Text()))
	}
	checkUndo(t, d, texts)
	return made, refused
}

func checkEdit(t *testing.T, d *document.Document, m model, e randomEdit, before string) {
	t.Helper()
	lines := lineRanges(before, m)
	e.change()
	after := string(d.Text())
	got := reparse(t, []byte(after))
	if diff := gocmp.Diff(normal(t, m.File), normal(t, got)); diff != "" {
		t.Errorf("%+v (-want +got):\n%s\nbefore:\n%s\nafter:\n%s", e.edit, diff, before, after)
	}
	for i, s := range d.Steps() {
		if want := append(got.AllSteps(), got.TeardownSteps()...)[i]; s.Line != want.Line || s.Text != want.Text {
			t.Errorf("step %d is %q in line %d, want %q in line %d\n%s", i+1, s.Text, s.Line, want.Text, want.Line, after)
		} else if diff := gocmp.Diff(linesOfCalls(want, s.Classifier), linesOf(s.Calls)); diff != "" {
			t.Errorf("%+v: lines of the calls of step %d (-want +got):\n%s", e.edit, i+1, diff)
		}
	}
	head, tail := lines(e.first, e.last)
	if !strings.HasPrefix(after, head) || !strings.HasSuffix(after, tail) {
		t.Errorf("%+v changed lines elsewhere\nbefore:\n%s\nafter:\n%s", e.edit, before, after)
	}
	if e.moves && e.first > 0 && strings.Contains(before, "# The steps follow.") { // the trailhead is in brackets
		if diff := gocmp.Diff(sortedLines(before), sortedLines(after)); diff != "" && len(m.calls(e.first)) > 0 && len(m.calls(e.last)) > 0 {
			t.Errorf("%+v changed lines (-before +after):\n%s\nafter:\n%s", e.edit, diff, after)
		}
	}
}

// linesOfCalls returns the lines of the calls that a step has for a classifier.
func linesOfCalls(s *trail.Step, classifier string) (lines []int) {
	for _, r := range s.Recording {
		for _, c := range r.Calls {
			if r.Classifier == classifier && s.Recordable {
				lines = append(lines, c.Line)
			}
		}
	}
	return lines
}

func linesOf(calls []document.Call) (lines []int) {
	for _, c := range calls {
		lines = append(lines, c.Line)
	}
	return lines
}

// sortedLines returns the lines without indentation and empty ones.
func sortedLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

// lineRanges returns a function that returns the text above a step, and that from the step below another one on.
func lineRanges(text string, m model) func(first, last int) (head, tail string) {
	lines := strings.SplitAfter(text, "\n")
	steps := m.AllSteps()
	var starts []int
	for _, s := range steps {
		starts = append(starts, s.Line-1)
	}
	if m.List || !slices.IsSorted(starts) || strings.ContainsAny(text, "&\v") {
		return func(int, int) (string, string) { return "", "" }
	}
	return func(first, last int) (head, tail string) {
		from := starts[first]
		for from > 0 && !strings.Contains(lines[from], "- ") || from > 0 && strings.HasPrefix(strings.TrimSpace(lines[from-1]), "#") {
			from-- // an edit may mean the comments above
		}
		if first == 0 || starts[first-1] >= from {
			from = min(from, max(0, starts[first]-1))
		}
		if last+1 < len(starts) && starts[last+1] > starts[last]+1 {
			tail = strings.Join(lines[starts[last+1]:], "")
		}
		head = strings.TrimRight(strings.Join(lines[:from], ""), "\r\n ") // an empty line may go with a step
		return head, tail
	}
}

func checkUndo(t *testing.T, d *document.Document, texts []string) {
	t.Helper()
	for i := len(texts) - 2; i >= 0; i-- {
		if !d.Undo() || string(d.Text()) != texts[i] {
			t.Fatalf("undo %d: %q, want %q", i, d.Text(), texts[i])
		}
	}
	if d.CanUndo() || d.Undo() {
		t.Error("more to undo")
	}
	for _, text := range texts[1:] {
		if !d.Redo() || string(d.Text()) != text {
			t.Fatalf("redo: %q, want %q", d.Text(), text)
		}
	}
	if d.CanRedo() || d.Redo() {
		t.Error("more to redo")
	}
}
