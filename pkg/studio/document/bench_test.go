package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/studio/document"
)

// long returns a trail with so many steps, each of two calls.
func long(steps int) []byte {
	var b strings.Builder
	b.WriteString("config:\n  target: shop\ntrail:\n")
	for i := range steps {
		fmt.Fprintf(&b, "  - step: Save the thing %d # note\n    recording:\n      web:\n        - web_click:\n"+
			"            nodeSelector:\n              web:\n                ariaRole: button\n                ariaNameRegex: Save %d\n"+
			"        - web_type: { text: \"hello\", ref: Email }\n", i, i)
	}
	return []byte(b.String())
}

func open(t testing.TB, text []byte) *document.Document {
	t.Helper()
	d, problems := document.Open(document.Options{Name: "a.trail.yaml", Lineage: []string{"web-phone", "web"}}, text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return d
}

// edits returns one edit of each kind in the middle of a trail, in an order in which all of them can be made.
func edits(steps int) []document.Edit {
	step := func(by int) string { return fmt.Sprint(steps/2 + by) }
	return []document.Edit{
		{Op: "reword", Step: step(0), Text: "Another text"},
		{Op: "kind", Step: step(0), Kind: "verify"},
		{Op: "move", Number: step(0), To: "2"},
		{Op: "move", Number: "2", To: fmt.Sprint(steps - 1)},
		{Op: "move", Number: step(0) + ".1", To: step(2) + ".2"},
		{Op: "delete", Number: step(2) + ".1"},
		{Op: "split", Call: step(3) + ".2", Text: "The rest"},
		{Op: "join", Step: step(4)},
		{Op: "insertStep", After: step(5), Text: "New", Kind: "step"},
		{Op: "args", Call: step(7) + ".1", Args: map[string]any{"ref": "Other"}},
		{Op: "call", Call: step(7) + ".2", Timeout: "5s", SaveAs: "value"},
		{Op: "pick", Call: step(7) + ".1", Selector: map[string]any{"web": map[string]any{"dataTestId": "x"}}},
		{Op: "classifier", Step: step(8), Classifier: "web-phone"},
		{Op: "delete", Number: step(9)},
	}
}

func BenchmarkEdit(b *testing.B) {
	for _, e := range edits(1000) {
		b.Run(e.Op, func(b *testing.B) {
			d := open(b, long(1000))
			for b.Loop() {
				if err := d.Apply(e); err != nil {
					b.Fatal(err)
				}
				d.Steps()
				d.Undo()
			}
		})
	}
}

// An edit of a long trail parses the steps around it, and no others: it allocates about as often as in a short trail.
func TestEditsOfALongTrailParseFewSteps(t *testing.T) { //nolint:paralleltest // it counts allocations
	allocations := func(steps int) []float64 {
		d := open(t, long(steps))
		var counts []float64
		for _, e := range edits(steps) {
			counts = append(counts, testing.AllocsPerRun(3, func() {
				if err := d.Apply(e); err != nil {
					t.Fatal(e.Op, err)
				}
				d.Undo()
			}))
		}
		return counts
	}
	short, longer := allocations(20), allocations(1000)
	for i, e := range edits(20) {
		if longer[i] > 2*short[i] {
			t.Errorf("%s allocates %v times in 1,000 steps, %v times in 20", e.Op, longer[i], short[i])
		}
	}
}
