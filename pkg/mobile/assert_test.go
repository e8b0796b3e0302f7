package mobile

import (
	"slices"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// until returns a screen that shows elements for some time only.
func until(end time.Duration, nodes ...*screen.Node) func(*fake, time.Duration) []*screen.Node {
	return func(_ *fake, at time.Duration) []*screen.Node {
		if at < end {
			return nodes
		}
		return []*screen.Node{node("TextView", "Done", rect(0, 0, 100, 100))}
	}
}

func TestAssertVisible(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	row := node("LinearLayout", "", rect(0, 600, width, 700), node("TextView", "ORD-1150", rect(0, 600, 400, 700)),
		node("TextView", "Sent ", rect(400, 600, 800, 700)))
	row.ID = new("com.example.orders:id/row")
	nodes := []*screen.Node{node("TextView", "Orders", rect(0, 0, 100, 100)), row, node("Toast", "Saved", nil)}
	inRow := func(text string, more args) args {
		more["nodeSelector"] = args{
			"androidAccessibility": args{"resourceIdRegex": ".*row"},
			"containsChild":        args{"androidAccessibility": args{"textRegex": text}},
		}
		return more
	}
	onPhone(t, &fake{nodes: always(nodes...)}, device.Session{}, func(p *phoneTest) {
		for _, name := range []string{"assertVisible", "waitUntilVisible"} {
			p.does(name, args{"text": "orders"}, `text "Orders" is visible`)
		}
		p.does("assertVisible", args{"id": "row"}, "generic is visible")
		p.does("assertVisibleBySelector", byText("Saved"), `generic "Saved" is visible, as a toast or as a notification of any app`)
		p.does("assertVisibleWithText", args{"text": "RD"}, `text "Orders" is visible`)
		p.does("assertVisibleWithAccessibilityText", args{"accessibilityText": "ord-\\d+"}, `text "ORD-1150" is visible`)
		p.does("assertVisibleWithResourceId", args{"resourceId": ".*row"}, "generic is visible")
		p.does("assertVisibleBySelector", inRow("Sent.*", args{"expectedText": "Sent"}), `generic is visible with text "Sent"`)
		p.does("assertVisibleBySelector", inRow("ORD.*", args{"expectedText": "ORD", "textMatchMode": "PREFIX"}),
			`generic is visible with text beginning with "ORD"`)
		p.does("assertVisible", args{"id": "row", "expectedText": "ORD-[0-9]+", "textMatchMode": "regex"},
			`generic is visible with text matching "ORD-[0-9]+"`)
		p.fails("assertVisibleBySelector", inRow("ORD.*", args{"expectedText": "ORD-1", "timeoutMs": 10}),
			`element with resourceId matching ".*row" with the child text matching "ORD.*" is not as expected: it shows "ORD-1150", not text "ORD-1" (found generic; it is visible; within 10ms; app com.example.orders)`)
		p.fails("assertVisibleBySelector", byText("Order"), `text "Order" was not found; the screen has text "Orders" (within 5s; app com.example.orders)`)
	})
	onPhone(t, &fake{platform: IOS, nodes: always(nodes...)}, device.Session{Driver: "ios-host"}, func(p *phoneTest) {
		p.fails("assertVisible", args{"text": "Sale"}, `text "Sale" was not found; the screen has generic "Saved" (within 17s; app com.example.orders)`)
	})
}

func TestAssertNotVisible(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	hidden := node("TextView", "Secret", rect(0, 0, 100, 100))
	hidden.Hidden = true
	busy := node("TextView", "Loading (1)", rect(0, 0, 100, 100))
	onPhone(t, &fake{nodes: until(3*time.Second, busy, hidden)}, device.Session{}, func(p *phoneTest) {
		p.does("assertNotVisibleBySelector", byText("Secret"), `text "Secret" is not visible`)
		text := args{"text": "Loading (1)"}
		p.does("assertNotVisibleWithText", text, `text "Loading (1)" is not visible`)
		p.fails("assertNotVisibleBySelector", byText("Done"),
			`text "Done" is not gone: it is visible (found text "Done"; within 5s; app com.example.orders)`)
		p.does("waitUntilNotVisible", byText("Done"), "false")
		p.does("waitUntilNotVisible", byText("Loading.*"), "true")
	})
}

func TestNothingIsAssertedBeforeTheScreenIsAtRest(t *testing.T) {
	t.Parallel()
	// A tap opens a dialog, after an animation of the button, or a while in which nothing happens.
	for name, moves := range map[string]bool{"animation": true, "pause": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{nodes: func(f *fake, at time.Duration) []*screen.Node {
				button := node("Button", "Delete", rect(0, 0, 100, 100))
				switch {
				case len(f.touched) == 0 || !moves && at < 250*time.Millisecond:
					return []*screen.Node{button}
				case moves && at < time.Second:
					button.Bounds = rect(0, int(at/time.Millisecond), 100, 1000)
					return []*screen.Node{button}
				}
				return []*screen.Node{button, node("TextView", "Really?", rect(0, 1000, 1000, 1100))}
			}}
			onPhone(t, f, device.Session{}, func(p *phoneTest) {
				p.call("tap", map[string]any{"text": "Delete"})
				p.does("isVisible", map[string]any{"text": "Really?"}, "true")
				p.fails("assertNotVisibleBySelector", map[string]any{
					"timeoutMs": 0, "nodeSelector": byText("Really\\?")["nodeSelector"],
				}, `text "Really?" is not gone: it is visible (found text "Really?"; app com.example.orders)`)
			})
		})
	}
}

// A screen that shows nothing to accessibility does not tell that something is absent.
func TestAbsenceOnABlankScreen(t *testing.T) {
	t.Parallel()
	blank := node("View", "", rect(0, 0, width, height))
	failed := node("TextView", "Payment failed", rect(0, 0, 900, 100))
	absent := map[string]any{"text": "Payment failed"}
	onPhone(t, &fake{nodes: always(blank)}, device.Session{}, func(p *phoneTest) {
		const want = `the screen showed nothing to accessibility meanwhile, so text "Payment failed" may be there`
		if r := p.call("assertNotVisibleWithText", absent); !r.OK || !slices.Equal(r.Notes, []string{want}) {
			t.Errorf("%v %s %q", r.OK, r.Text, r.Notes)
		}
	})
	late := func(_ *fake, at time.Duration) []*screen.Node {
		if at < time.Second {
			return []*screen.Node{blank}
		}
		return []*screen.Node{blank, failed}
	}
	onPhone(t, &fake{nodes: late}, device.Session{}, func(p *phoneTest) {
		if r := p.call("assertNotVisibleWithText", absent); r.OK {
			t.Errorf("%s %q", r.Text, r.Notes)
		}
	})
}

func TestQueries(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	total := node("TextView", "Total  12.50", rect(0, 0, 100, 100))
	total.ID = new("com.example.orders:id/total")
	password := node("EditText", "hidden", rect(0, 200, 100, 300))
	password.ID, password.Password = new("com.example.orders:id/password"), true
	off := node("TextView", "Total", rect(0, 3000, 100, 3100))
	onPhone(t, &fake{nodes: always(total, password, off)}, device.Session{}, func(p *phoneTest) {
		p.does("isVisible", args{"text": "Total"}, "false")
		p.does("isVisible", args{"id": "total"}, "true")
		p.does("hasText", args{"text": "total 12"}, "true")
		p.does("hasText", args{"text": "hidden"}, "false")
		p.does("getElementText", args{"id": "total"}, "Total  12.50")
		p.does("getElementText", args{"id": "password"}, "")
		p.does("getElementText", args{"id": "none"}, "null")
		p.does("getElementCount", args{"text": "total"}, "0")
		p.does("getElementCount", args{"id": "total"}, "1")
		p.does("findMatches", args{"selector": args{"androidAccessibility": args{"textRegex": "none"}}, "timeoutMs": 500}, "[]")
		r := p.call("findMatches", args{"selector": args{"androidAccessibility": args{"resourceIdRegex": ".*total"}}})
		const want = `[{"bounds":{"left":0,"top":0,"right":100,"bottom":100},"centerX":50,"centerY":50,"class":"android.widget.TextView",` +
			`"enabled":true,"id":"com.example.orders:id/total","role":"text","text":"Total  12.50","visible":true}]`
		if r.Text != want {
			t.Error(r.Text)
		}
	})
}

func TestShownTextIsRead(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	nodes := func(_ *fake, at time.Duration) []*screen.Node {
		order := node("TextView", "", rect(0, 0, 100, 100))
		order.ID = new("com.example.orders:id/order")
		if at > time.Second {
			order.Text = new("Order 00042 of 3 May")
		}
		return []*screen.Node{order}
	}
	order := args{"androidAccessibility": args{"resourceIdRegex": ".*order"}}
	onPhone(t, &fake{nodes: nodes}, device.Session{}, func(p *phoneTest) {
		p.does("mobile_getText", args{"nodeSelector": order}, "Order 00042 of 3 May")
		p.does("mobile_getText", args{"nodeSelector": order, "pattern": `\d{5}`}, "00042")
		p.does("mobile_getText", args{"nodeSelector": order, "pattern": `Order (\d+)`}, "00042")
		p.fails("mobile_getText", args{"nodeSelector": order, "pattern": "INV-", "timeoutMs": 0},
			`element with resourceId matching ".*order" is not as expected: it shows "Order 00042 of 3 May", which does not match "INV-" `+
				`(found text "Order 00042 of 3 May"; it is visible; app com.example.orders)`)
	})
}

func TestShownTextIsRemembered(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	nodes := func(_ *fake, at time.Duration) []*screen.Node {
		total := node("TextView", "Total", rect(0, 0, 100, 100))
		total.ID = new("com.example.orders:id/total")
		if at > time.Second {
			total.Text = new("Total: $1,234.50")
		}
		return []*screen.Node{total}
	}
	total := args{"androidAccessibility": args{"resourceIdRegex": ".*total"}}
	onPhone(t, &fake{nodes: nodes}, device.Session{}, func(p *phoneTest) {
		for _, c := range [][2]string{{"rememberNumber", "1234.5"}, {"rememberText", "Total: $1,234.50"}} {
			r := p.call(c[0], args{"nodeSelector": total, "variable": "kept", "timeoutMs": 3000})
			if r.Text != c[1] || r.MemoryDelta["kept"] != c[1] {
				t.Errorf("%s: %+v", c[0], r)
			}
		}
	})
}

func TestWaits(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	changing := func(_ *fake, at time.Duration) []*screen.Node {
		at = min(max(at, 2*time.Second), 4*time.Second)
		return []*screen.Node{node("TextView", at.String(), rect(0, 0, 100, 100))}
	}
	onPhone(t, &fake{nodes: changing}, device.Session{}, func(p *phoneTest) {
		began := time.Now()
		p.does("waitForChange", nil, "the screen has come to rest")
		if took := time.Since(began); took < 4300*time.Millisecond || took > 5*time.Second {
			t.Error(took)
		}
		p.fails("waitForChange", args{"timeoutMs": 1000}, "the screen did not change within 1s")
		p.does("waitForChange", args{"requireChange": false}, "the screen has come to rest")
	})
	always := func(_ *fake, at time.Duration) []*screen.Node {
		return []*screen.Node{node("TextView", at.String(), rect(0, 0, 100, 100))}
	}
	onPhone(t, &fake{nodes: always}, device.Session{}, func(p *phoneTest) {
		if r := p.fails("waitForChange", args{"timeoutMs": 2000}, "the screen still changes after 2s"); r.Kind != fault.ToolFailed {
			t.Error(r.Kind)
		}
	})
}
