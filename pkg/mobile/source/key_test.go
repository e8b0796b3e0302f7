package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/wire"
)

// box is an element of a screen for tests of keys.
func box(class, text string, children ...*screen.Node) *screen.Node {
	n := &screen.Node{Class: new("android.widget." + class), Bounds: &screen.Rect{Right: 10, Bottom: 10}, Children: children}
	if text != "" {
		n.Text = &text
	}
	return n
}

func field(text, hint string) *screen.Node {
	n := box("EditText", text)
	n.Hint, n.Editable = &hint, true
	return n
}

// row is one of a list, with two buttons of which every row has one.
func row(name, detail string) *screen.Node {
	return box("LinearLayout", "", box("TextView", name), box("TextView", detail), box("Button", "Delete"), box("ImageButton", ""))
}

func list(rows ...*screen.Node) *screen.Node {
	return box("FrameLayout", "", box("TextView", "Orders"), box("ListView", "", rows...))
}

// readKeys returns the keys of a screen in the order of its elements.
func readKeys(t *testing.T, windows ...*screen.Node) []screen.Key {
	t.Helper()
	s := wire.Screen{Width: 1080, Height: 2400}
	for _, root := range windows {
		s.Windows = append(s.Windows, wire.Window{Package: "com.example", Root: root})
	}
	got, err := source.UIAutomator2(wire.UIAutomator2(s, all()), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var keys []screen.Key
	for _, n := range got.Tree.Nodes() {
		keys = append(keys, n.Key)
	}
	return keys
}

// TestKeysOfElementsThatStay compares positions of the elements before and after a change.
func TestKeysOfElementsThatStay(t *testing.T) {
	t.Parallel()
	counter := func(count string) *screen.Node {
		return box("LinearLayout", "", box("TextView", "Coffee"), box("TextView", count), box("Button", "+"))
	}
	checked := func(on bool, text string) *screen.Node {
		n := box("Switch", text)
		if n.Label = new("Wi-Fi"); on {
			n.Checked, n.Focused, n.Selected, n.Disabled = screen.ToggleOn, true, true, true
		}
		return box("FrameLayout", "", n)
	}
	moved := box("FrameLayout", "", box("Button", "Pay"))
	moved.Children[0].Bounds = &screen.Rect{Left: 50, Right: 90, Bottom: 70}
	for name, c := range map[string]struct {
		before, after *screen.Node
		same          string // before=after of the positions that have the same key
	}{
		"nothing changed":       {list(row("A", "1"), row("B", "2")), list(row("A", "1"), row("B", "2")), "0=0 1=1 2=2 3=3 4=4 5=5 6=6 7=7 8=8 9=9 10=10 11=11 12=12"},
		"it moved":              {box("FrameLayout", "", box("Button", "Pay")), moved, "0=0 1=1"},
		"a row scrolled out":    {list(row("A", "1"), row("B", "2"), row("C", "3")), list(row("B", "2"), row("C", "3")), "0=0 1=1 2=2 8=3 9=4 10=5 11=6 12=7 13=8 14=9 15=10 16=11 17=12"},
		"rows with one name":    {list(row("A", "1"), row("A", "2"), row("A", "3")), list(row("A", "2"), row("A", "3")), "0=0 1=1 2=2 8=3 9=4 10=5 11=6 12=7 13=8 14=9 15=10 16=11 17=12"},
		"a number in a row":     {box("ListView", "", counter("1"), box("LinearLayout", "", box("TextView", "Tea"))), box("ListView", "", counter("2"), box("LinearLayout", "", box("TextView", "Tea"))), "0=0 1=1 2=2 4=4 5=5 6=6"},
		"a field is filled":     {box("FrameLayout", "", field("", "Email")), box("FrameLayout", "", field("a@b.c", "Email")), "0=0 1=1"},
		"a switch is on":        {checked(false, "OFF"), checked(true, "ON"), "0=0 1=1"},
		"a button is renamed":   {box("FrameLayout", "", box("TextView", "Kate"), box("Button", "Follow")), box("FrameLayout", "", box("TextView", "Kate"), box("Button", "Following")), "0=0 1=1"},
		"another screen":        {box("FrameLayout", "", box("TextView", "Orders"), box("ImageButton", ""), field("", "Name")), box("FrameLayout", "", box("TextView", "Account"), box("ImageButton", ""), field("", "Name")), ""},
		"a child is put before": {box("FrameLayout", "", box("Button", "Pay")), box("FrameLayout", "", box("TextView", "New"), box("Button", "Pay")), "1=2"},
	} {
		before, after := readKeys(t, c.before), readKeys(t, c.after)
		var same []string
		for i, key := range before {
			for j, other := range after {
				if key == other {
					same = append(same, fmt.Sprintf("%d=%d", i, j))
				}
			}
		}
		if diff := cmp.Diff(c.same, strings.Join(same, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestKeysAreUniqueAmongEqualElements(t *testing.T) {
	t.Parallel()
	keys := readKeys(t, list(row("A", "1"), row("A", "1"), row("A", "1")), list(row("A", "1")), box("FrameLayout", ""), box("FrameLayout", ""))
	seen := map[screen.Key]bool{}
	for i, key := range keys {
		if key == "" || seen[key] {
			t.Errorf("the key %q of element %d is empty or used twice", key, i)
		}
		seen[key] = true
	}
}

func TestKeysStayWhenAWindowOpensAbove(t *testing.T) {
	t.Parallel()
	app := list(row("A", "1"))
	below := readKeys(t, app)
	both := readKeys(t, box("ListView", "", box("TextView", "Help")), app)
	if diff := cmp.Diff(below, both[len(both)-len(below):]); diff != "" {
		t.Errorf("keys of the app, alone and below a menu (-alone +below):\n%s", diff)
	}
}

func TestReferencesOfALiveSession(t *testing.T) {
	t.Parallel()
	read := func(root *screen.Node) *screen.Tree {
		s := wire.Screen{Width: 1080, Height: 2400, Windows: []wire.Window{{Package: "com.example", Root: root}}}
		got, err := source.UIAutomator2(wire.UIAutomator2(s, all()), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Tree
	}
	refs := &screen.References{}
	before := read(list(row("A", "1"), row("B", "2")))
	refs.See(before)
	ref := refs.Ref(before.Nodes()[10+1]) // Delete in the row B
	after := read(list(row("B", "2"), row("C", "3")))
	found, err := refs.Lookup(ref, after, screen.ToRead)
	if err != nil || found.Again || after.Parent(found.Node).Children[0].Name() != "B" {
		t.Errorf("%s is %+v, %v; want the button in the row B", ref, found, err)
	}
	if _, err = refs.Lookup(ref, read(list(row("A", "1"), row("C", "3"))), screen.ToRead); err == nil {
		t.Errorf("%s was found when its row was gone", ref)
	}
}
