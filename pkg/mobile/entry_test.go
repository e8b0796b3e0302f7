package mobile

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// What a field shows is what it and the empty fields after it hold, if that is a part of the text.
func TestWhatFieldsShow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after []string // the contents of the fields
		focus         int      // which of them has it afterwards; -1 for none
		text, shown   string
		used          int
		moved, done   bool
	}{
		"all in one":                           {[]string{"", ""}, []string{"4711", ""}, 0, "4711", "4711", 0, false, true},
		"the first digit":                      {[]string{"", "", ""}, []string{"4", "", ""}, 1, "471", "4", 0, true, false},
		"the focus comes later":                {[]string{"", "", ""}, []string{"4", "", ""}, 0, "471", "4", 0, false, false},
		"two digits":                           {[]string{"", "", ""}, []string{"4", "7", ""}, 2, "471", "47", 1, true, false},
		"all digits":                           {[]string{"", "", ""}, []string{"4", "7", "1"}, 2, "471", "471", 2, false, true},
		"a digit was lost":                     {[]string{"", "", ""}, []string{"4", "1", ""}, 2, "471", "4", 0, false, false},
		"the next field had that before":       {[]string{"", "711"}, []string{"4", "711"}, 1, "4711", "4", 0, false, false},
		"the app fills in another one by that": {[]string{"", ""}, []string{"10115", "Berlin"}, 0, "10115", "10115", 0, false, true},
		"the screen has gone":                  {[]string{"", ""}, nil, -1, "47", "47", 0, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := fieldsWith(0, c.before)
			e := &entry{field: field{node: before.Nodes()[1]}, text: c.text, phone: &phone{}}
			e.boxes = emptyAfter(before, e.node)
			e.look(fieldsWith(c.focus, c.after))
			if e.shown != c.shown || e.used != c.used || e.moved != c.moved || e.done() != c.done {
				t.Errorf("shows %q in %d more, moved %v, done %v; want %+v", e.shown, e.used, e.moved, e.done(), c)
			}
		})
	}
}

// A field whose key has changed with a text around it is still read; an empty one in its place may be that of the next
// screen.
func TestFieldsWithAnotherKey(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]string{"1250": "1250", "12.50": "12.50", "": "12.50"} {
		e := &entry{field: field{node: fieldsWith(0, []string{""}).Nodes()[1]}, text: "12.50", phone: &phone{}}
		now := fieldsWith(0, []string{after})
		now.Nodes()[1].Key = "another"
		if e.look(screen.NewTree(now.Root(), width, height, screen.AndroidAccessibility)); e.shown != want || e.done() != (want == e.text) {
			t.Errorf("%q: shows %q, done %v", after, e.shown, e.done())
		}
	}
}

// fieldsWith returns a screen with fields that have contents.
func fieldsWith(focus int, contents []string) *screen.Tree {
	root := &screen.Node{Key: "root"}
	for i, content := range contents {
		n := node("EditText", content, rect(0, 100*i, 100, 100*i+100))
		n.Key, n.Editable, n.Focused = screen.Key(rune('a'+i)), true, i == focus
		root.Children = append(root.Children, n)
	}
	return screen.NewTree(root, width, height, screen.AndroidAccessibility)
}
