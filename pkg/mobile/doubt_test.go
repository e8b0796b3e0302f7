package mobile

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// iOS reports elements as not visible that people see. A tap and an assertion take one as visible that is on the screen,
// if nothing else that is visible is in its place.
func TestElementsThatIOSReportsAsNotVisible(t *testing.T) {
	t.Parallel()
	const hidden, doubt = "it is there, but the device reports that it is not visible",
		"iOS reports that it is not visible; it is on the screen, and nothing else is in its place"
	pay := func(bounds *screen.Rect) *screen.Node {
		n := node("Button", "", bounds)
		n.Label, n.Hidden = new("Pay"), true
		return n
	}
	named := func(class string, bounds *screen.Rect, children ...*screen.Node) *screen.Node {
		n := node("", "", bounds, children...)
		n.Class = &class
		return n
	}
	here, all := rect(0, 500, 300, 600), rect(0, 0, width, height)
	list := named("Table", rect(0, 0, width, 400), pay(here))
	list.Scrollable = true
	for name, tt := range map[string]struct {
		nodes  []*screen.Node
		reason string // "" if it counts as visible
	}{
		"alone":                            {[]*screen.Node{pay(here)}, ""},
		"in something that is visible":     {[]*screen.Node{named("Other", all, pay(here))}, ""},
		"around something that is visible": {[]*screen.Node{named("Cell", all, pay(here))}, ""},
		"beside others":                    {[]*screen.Node{pay(here), node("Button", "Help", rect(400, 500, 500, 600))}, ""},
		"with a container in its place":    {[]*screen.Node{pay(here), named("Window", all, node("Button", "Help", rect(0, 0, 9, 9)))}, ""},
		"under another element":            {[]*screen.Node{pay(here), node("Button", "Help", all)}, hidden},
		"under a view without a name":      {[]*screen.Node{pay(here), named("Other", all)}, hidden},
		"under a bar":                      {[]*screen.Node{pay(here), named("TabBar", all, node("Button", "Help", rect(0, 0, 9, 9)))}, hidden},
		"scrolled out of view":             {[]*screen.Node{list}, "it is outside of the screen, or scrolled out of view"},
		"outside of the screen":            {[]*screen.Node{pay(rect(0, height, 100, height+100))}, "it is outside of the screen, or scrolled out of view"},
		"without an area":                  {[]*screen.Node{pay(rect(5, 5, 5, 5))}, "it has no area"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := tt.reason == ""
			args := map[string]any{"text": "Pay", "timeoutMs": 0}
			onPhone(t, &fake{platform: IOS, nodes: always(tt.nodes...)}, device.Session{}, func(p *phoneTest) {
				for _, call := range []string{"assertVisible", "tap"} {
					r := p.call(call, args)
					if r.OK != seen || !strings.Contains(r.Text, tt.reason) || seen && (len(r.Notes) != 1 || r.Notes[0] != doubt) {
						t.Errorf("%s: %v %s; notes %q", call, r.OK, r.Text, r.Notes)
					}
				}
				if n := len(p.fake.touched); n > 1 || seen != (n == 1) {
					t.Errorf("%d touches", n)
				}
				if r := p.call("assertNotVisibleWithText", args); r.OK == seen {
					t.Errorf("assertNotVisible: %v %s", r.OK, r.Text)
				}
				if r := p.call("isVisible", args); r.Text != "false" {
					t.Errorf("isVisible: %s", r.Text)
				}
			})
		})
	}
}

// The keyboard is hidden for a tap on an element below it.
func TestNotVisibleBelowTheKeyboard(t *testing.T) {
	t.Parallel()
	pay := node("Button", "Pay", rect(0, 2000, 300, 2100))
	pay.Hidden = true
	args := map[string]any{"text": "Pay", "timeoutMs": 0}
	onPhone(t, &fake{platform: IOS, nodes: always(pay), keyboard: keyboardArea()}, device.Session{}, func(p *phoneTest) {
		if r := p.call("assertNotVisibleWithText", args); !r.OK {
			t.Error(r.Text)
		}
		p.fails("assertVisible", args, `text "Pay" is not visible: the keyboard covers it (found button "Pay"; app com.example.orders)`)
		if r := p.call("tap", args); !r.OK || len(p.fake.touched) != 1 {
			t.Errorf("%s; touched %v", r.Text, p.fake.touched)
		}
	})
}

// Of several that match, one that is reported as visible is taken.
func TestVisibleElementsComeFirst(t *testing.T) {
	t.Parallel()
	doubted, visible := node("Button", "Pay", rect(0, 0, 100, 100)), node("Button", "Pay", rect(0, 500, 100, 600))
	doubted.Hidden = true
	onPhone(t, &fake{platform: IOS, nodes: always(doubted, visible)}, device.Session{}, func(p *phoneTest) {
		for _, call := range []string{"assertVisible", "tap"} {
			if r := p.call(call, map[string]any{"text": "Pay"}); !r.OK {
				t.Errorf("%s: %s", call, r.Text)
			}
		}
		if len(p.fake.touched) != 1 || p.fake.touched[0].Hidden {
			t.Errorf("touched %v", p.fake.touched)
		}
	})
}

// Both ends of a drag, and what is scrolled to, count as visible as for a tap.
func TestDragAndScrollToWhatIOSReportsAsNotVisible(t *testing.T) {
	t.Parallel()
	from, to := node("Button", "Milk", rect(0, 300, 300, 400)), node("Button", "Basket", rect(0, 900, 300, 1000))
	from.Hidden, to.Hidden = true, true
	onPhone(t, &fake{platform: IOS, nodes: always(from, to)}, device.Session{}, func(p *phoneTest) {
		drag := map[string]any{"from": map[string]any{"text": "Milk"}, "to": map[string]any{"text": "Basket"}}
		if r := p.call("dragTo", drag); !r.OK || len(r.Notes) != 2 {
			t.Errorf("%s; notes %q", r.Text, r.Notes)
		}
		if r := p.call("scrollUntilTextIsVisible", map[string]any{"text": "Milk"}); !r.OK || len(r.Notes) != 1 {
			t.Errorf("%s; notes %q", r.Text, r.Notes)
		}
	})
}

// What Android reports as not visible is not.
func TestHiddenElementsOfAndroid(t *testing.T) {
	t.Parallel()
	n := node("Button", "Pay", rect(0, 0, 100, 100))
	n.Hidden = true
	onPhone(t, &fake{nodes: always(n)}, device.Session{}, func(p *phoneTest) {
		if r := p.call("tap", map[string]any{"text": "Pay", "timeoutMs": 0}); r.OK {
			t.Error(r.Text)
		}
		if r := p.call("assertNotVisibleWithText", map[string]any{"text": "Pay", "timeoutMs": 0}); !r.OK {
			t.Error(r.Text)
		}
	})
}
