package appium_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// touched is an iPhone whose keyboard stays. It keeps where it was touched.
type touched struct {
	mobile.Driver
	screen mobile.Screen
	paths  [][]screen.Point
}

func (*touched) Info() mobile.Info { return mobile.Info{} }

func (d *touched) Read(context.Context) (mobile.Screen, error) { return d.screen, nil }

func (d *touched) Touch(_ context.Context, fingers ...mobile.Finger) error {
	d.paths = append(d.paths, fingers[0].Path)
	return nil
}

// Drags begin in the middle of the screen and above the keyboard, where they cannot press anything.
func TestWhereDragsHideTheKeyboard(t *testing.T) {
	t.Parallel()
	element := func(class, label string, bounds screen.Rect, children ...*screen.Node) *screen.Node {
		n := &screen.Node{Class: &class, Bounds: &bounds, Children: children}
		if role := screen.RoleOfClass("XCUIElementType" + class); role != "generic" {
			n.Role = role
		}
		if label != "" {
			n.Label = &label
		}
		n.Scrollable, n.MultiLine = class == "Table", class == "TextView"
		return n
	}
	box := func(left, top, right, bottom int) screen.Rect {
		return screen.Rect{Left: left, Top: top, Right: right, Bottom: bottom}
	}
	portrait, landscape := box(0, 0, 390, 844), box(0, 0, 844, 390)
	drags := func(x, y, dx, dy int) [][]screen.Point {
		return [][]screen.Point{{{X: x, Y: y}, {X: x, Y: y - dy}}, {{X: x, Y: y}, {X: x - dx, Y: y}}}
	}
	for name, tt := range map[string]struct {
		area    screen.Rect
		top     int // of the keyboard
		element *screen.Node
		want    [][]screen.Point
	}{
		"in the middle":                     {portrait, 544, element("StaticText", "Hello", portrait), drags(195, 422, 11, 25)},
		"above the keyboard":                {landscape, 180, element("StaticText", "Hello", landscape), drags(422, 158, 25, 11)},
		"above a button":                    {portrait, 544, element("Button", "Help", box(0, 380, 390, 440)), drags(195, 372, 11, 25)},
		"beside a button":                   {portrait, 544, element("Button", "Help", box(100, 0, 300, 844)), drags(48, 422, 11, 25)},
		"on a button in a list":             {portrait, 544, element("Table", "", portrait, element("Button", "Help", portrait)), drags(195, 422, 11, 25)},
		"not on a button as large":          {portrait, 544, element("Button", "Help", portrait), nil},
		"not on a field as large":           {portrait, 544, element("TextField", "", portrait), nil},
		"on a text of several lines":        {portrait, 544, element("TextView", "", portrait), drags(195, 422, 11, 25)},
		"not on a button that has no class": {portrait, 544, element("Other", "Help", portrait), nil},
		"on a container with a name":        {portrait, 544, element("Other", "Help", portrait, element("StaticText", "Help", portrait)), drags(195, 422, 11, 25)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := screen.NewTree(element("Application", "Shop", tt.area, tt.element), tt.area.Right, tt.area.Bottom, screen.IOSMaestro)
			tree.Root().Role = "application"
			d := &touched{screen: mobile.Screen{Tree: tree, Keyboard: &screen.Rect{Top: tt.top, Right: tt.area.Right, Bottom: tt.area.Bottom}}}
			if err := appium.HideKeyboard(t.Context(), d, nil); !errors.Is(err, mobile.ErrKeyboardStays) {
				t.Error(err)
			}
			if diff := cmp.Diff(tt.want, d.paths); diff != "" {
				t.Errorf("drags (-want +got):\n%s", diff)
			}
		})
	}
}
