package document_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func click(name string) trail.Call {
	return trail.Call{Tool: "web_click", Args: map[string]any{"nodeSelector": map[string]any{"web": map[string]any{"ariaRole": "button", "ariaNameRegex": name}}}}
}

func seen(text string) trail.Call {
	return trail.Call{Tool: "web_verifyTextVisible", Args: map[string]any{"text": text}}
}

func newDocument() *document.Document {
	return document.New(document.Options{Name: "a.trail.yaml", Lineage: []string{"web"}, Config: trail.Config{Target: "shop"}})
}

func record(t *testing.T, d *document.Document, at document.Place, calls ...trail.Call) string {
	t.Helper()
	number, err := d.Record(at, calls...)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// outline returns the steps as kind, text and the briefs of calls.
func outline(d *document.Document) [][]string {
	var out [][]string
	for _, s := range d.Steps() {
		kind := s.Kind
		if s.Provisional {
			kind += "?"
		}
		line := []string{s.Number + " " + kind + " " + s.Text}
		for _, c := range s.Calls {
			line = append(line, c.Number+" "+c.Brief)
		}
		out = append(out, line)
	}
	return out
}

// What is recorded without a text makes steps whose texts follow from their calls, and whose kind from what the calls
// do.
func TestRecordMakesProvisionalSteps(t *testing.T) {
	t.Parallel()
	d := newDocument()
	if d.Text() != nil || len(d.Steps()) != 0 || d.Next("") != "" || d.CanUndo() {
		t.Errorf("a new document has %q", d.Text())
	}
	var numbers []string
	for _, c := range []trail.Call{click("Add to cart"), click("Pay"), seen("Total 30 €"), click("Back")} {
		numbers = append(numbers, record(t, d, document.Place{}, c))
	}
	if diff := gocmp.Diff([]string{"1.1", "1.2", "2.1", "3.1"}, numbers); diff != "" {
		t.Error(diff)
	}
	want := [][]string{
		{"1 step? Click Add to cart and click Pay", `1.1 click button "Add to cart"`, `1.2 click button "Pay"`},
		{"2 verify? Check that Total 30 € is shown", `2.1 check "Total 30 €" is visible`},
		{"3 step? Click Back", `3.1 click button "Back"`},
	}
	if diff := gocmp.Diff(want, outline(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
