package source_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/wire"
)

// TestVisibleParts has a list from 200 to 1000 on a screen of 1080x2280, with an element in it, as the server writes it
// with and without simpleBoundsCalculation. Nothing outside the list and the screen may be touched.
func TestVisibleParts(t *testing.T) {
	t.Parallel()
	around := screen.Rect{Top: 200, Right: 1080, Bottom: 1000}
	for name, c := range map[string]struct {
		element screen.Rect
		want    *screen.Rect // nil: nothing can be touched
	}{
		"whole":                      {screen.Rect{Top: 300, Right: 1080, Bottom: 400}, &screen.Rect{Top: 300, Right: 1080, Bottom: 400}},
		"as large as the list":       {around, &around},
		"larger than the list":       {screen.Rect{Right: 1080, Bottom: 1100}, &around},
		"cut at the top":             {screen.Rect{Top: 150, Right: 1080, Bottom: 250}, &screen.Rect{Top: 200, Right: 1080, Bottom: 250}},
		"cut at the bottom":          {screen.Rect{Top: 990, Right: 1080, Bottom: 1090}, &screen.Rect{Top: 990, Right: 1080, Bottom: 1000}},
		"scrolled out above":         {screen.Rect{Top: 100, Right: 1080, Bottom: 190}, nil},
		"scrolled out below":         {screen.Rect{Top: 1001, Right: 1080, Bottom: 1100}, nil},
		"ends where the list starts": {screen.Rect{Top: 100, Right: 1080, Bottom: 200}, nil},
		"scrolled out of the screen": {screen.Rect{Top: -300, Right: 1080, Bottom: -200}, nil},
		"below the screen":           {screen.Rect{Top: 2300, Right: 1080, Bottom: 2400}, nil},
		"a page to the right":        {screen.Rect{Left: 1080, Top: 300, Right: 2160, Bottom: 400}, nil},
		"a page to the left":         {screen.Rect{Left: -1080, Top: 300, Bottom: 400}, nil},
		"cut at the left":            {screen.Rect{Left: -50, Top: 300, Right: 50, Bottom: 400}, &screen.Rect{Top: 300, Right: 50, Bottom: 400}},
		"top below bottom":           {screen.Rect{Top: 400, Right: 1080, Bottom: 300}, nil},
		"left right of right":        {screen.Rect{Left: 600, Top: 300, Right: 500, Bottom: 400}, nil},
		"no area":                    {screen.Rect{Left: 500, Top: 300, Right: 500, Bottom: 400}, nil},
	} {
		element := &screen.Node{Class: new("android.widget.Button"), Bounds: &c.element}
		within := &screen.Node{
			Class: new("android.widget.ListView"), Bounds: &around, Children: []*screen.Node{element}, States: screen.States{Scrollable: true},
		}
		root := &screen.Node{Class: new("a"), Bounds: &screen.Rect{Right: 1080, Bottom: 2280}, Children: []*screen.Node{within}}
		s := wire.Screen{Width: 1080, Height: 2280, Windows: []wire.Window{{Package: "a", Root: root}}}
		ios := s
		ios.Windows = []wire.Window{{Root: typed(root)}}
		trimmed := all()
		trimmed.SimpleBoundsCalculation = false
		for format, read := range map[string]func() (source.Result, error){
			"simple": func() (source.Result, error) {
				return source.UIAutomator2(wire.UIAutomator2(s, all()), source.Options{})
			},
			"trimmed": func() (source.Result, error) {
				return source.UIAutomator2(wire.UIAutomator2(s, trimmed), source.Options{})
			},
			"dump": func() (source.Result, error) { return source.Dump(wire.Dump(s), source.Options{}) },
			"json": func() (source.Result, error) { return source.WDAJSON(wire.WDAJSON(ios), source.Options{}) },
			"xml":  func() (source.Result, error) { return source.WDAXML(wire.WDAXML(ios, ""), source.Options{}) },
		} {
			got, err := read()
			if err != nil {
				t.Fatal(err)
			}
			nodes := got.Tree.Nodes()
			part, visible := got.Tree.VisiblePart(nodes[len(nodes)-1])
			var found *screen.Rect
			if visible {
				found = &part
			}
			if diff := cmp.Diff(c.want, found); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, format, diff)
			}
		}
	}
}

// typed returns the elements of a list with the types of iOS.
func typed(root *screen.Node) *screen.Node {
	within := *root.Children[0]
	within.Class = new("Table")
	return &screen.Node{Class: new("Application"), Bounds: root.Bounds, Children: []*screen.Node{&within}}
}

// TestVisiblePartInNestedLists has a row of a list that is itself partly scrolled out of another one.
func TestVisiblePartInNestedLists(t *testing.T) {
	t.Parallel()
	scrollable := screen.States{Scrollable: true}
	row := &screen.Node{Class: new("row"), Bounds: &screen.Rect{Left: 800, Top: 150, Right: 1200, Bottom: 350}}
	inner := &screen.Node{Class: new("inner"), Bounds: &screen.Rect{Top: 100, Right: 1080, Bottom: 400}, States: scrollable, Children: []*screen.Node{row}}
	outer := &screen.Node{Class: new("outer"), Bounds: &screen.Rect{Top: 200, Right: 1080, Bottom: 1000}, States: scrollable, Children: []*screen.Node{inner}}
	s := wire.Screen{Width: 1080, Height: 2280, Windows: []wire.Window{{Root: outer}}}
	for _, simple := range []bool{true, false} {
		settings := all()
		settings.SimpleBoundsCalculation = simple
		got, err := source.UIAutomator2(wire.UIAutomator2(s, settings), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := screen.Rect{Left: 800, Top: 200, Right: 1080, Bottom: 350}
		if part, ok := got.Tree.VisiblePart(got.Tree.Nodes()[2]); !ok || part != want {
			t.Errorf("simpleBoundsCalculation %t: %v, want %v", simple, part, want)
		}
	}
}
