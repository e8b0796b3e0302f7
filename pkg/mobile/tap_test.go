package mobile

import (
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestTouchIsInVisiblePartOnce(t *testing.T) {
	t.Parallel()
	save := func(bounds *screen.Rect) *screen.Node { return node("Button", "Save", bounds) }
	moving := func(_ *fake, at time.Duration) []*screen.Node {
		top := 400 + int(min(at, 900*time.Millisecond)/time.Millisecond)
		return []*screen.Node{save(rect(100, top, 300, top+100))}
	}
	for name, tt := range map[string]struct {
		nodes    func(*fake, time.Duration) []*screen.Node
		keyboard bool
		want     string
		log      []string // before the touch
	}{
		"whole":                {always(save(rect(100, 400, 300, 500))), false, "200,450", nil},
		"partly on the screen": {always(save(rect(-500, 400, 300, 500))), false, "150,450", nil},
		"in a list that clips it": {func(*fake, time.Duration) []*screen.Node {
			list := node("ListView", "", rect(0, 0, width, 460), save(rect(100, 400, 300, 500)))
			list.Scrollable = true
			return []*screen.Node{list}
		}, false, "200,430", nil},
		"in a container that is not important": {func(*fake, time.Duration) []*screen.Node {
			list := node("ScrollView", "", rect(0, 0, width, 460), save(rect(100, 400, 300, 500)))
			list.Scrollable, list.Unimportant = true, true
			return []*screen.Node{list}
		}, false, "200,430", nil},
		"under the keyboard": {always(save(rect(100, 1600, 300, 1700))), true, "200,1650", []string{"hide keyboard"}},
		"above the keyboard": {always(save(rect(100, 400, 300, 500))), true, "200,450", nil},
		"moving":             {moving, false, "200,1350", nil},
		"covered for a while": {func(_ *fake, at time.Duration) []*screen.Node {
			if at > 3*time.Second {
				return []*screen.Node{save(rect(100, 400, 300, 500))}
			}
			return []*screen.Node{save(rect(100, 400, 300, 500)), node("Button", "Ad", rect(0, 0, width, height))}
		}, false, "200,450", nil},
		"disabled for a while": {func(_ *fake, at time.Duration) []*screen.Node {
			n := save(rect(100, 400, 300, 500))
			n.Disabled = at < 2*time.Second
			return []*screen.Node{n}
		}, false, "200,450", nil},
		"later": {func(_ *fake, at time.Duration) []*screen.Node {
			if at < 9*time.Second {
				return nil
			}
			return []*screen.Node{save(rect(100, 400, 300, 500))}
		}, false, "200,450", nil},
		"the second of two, because the first is hidden": {func(*fake, time.Duration) []*screen.Node {
			hidden := save(rect(100, 100, 300, 200))
			hidden.Hidden = true
			return []*screen.Node{hidden, save(rect(100, 400, 300, 500))}
		}, false, "200,450", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{nodes: tt.nodes}
			if tt.keyboard {
				f.keyboard = keyboardArea()
			}
			onPhone(t, f, device.Session{}, func(p *phoneTest) {
				text, notes := `tapped button "Save"`, ""
				if strings.HasPrefix(name, "the second") {
					notes = "the first of 2 that match"
					text += ", " + notes
				}
				p.does("tapOnElementBySelector", byText("Save"), text, append(tt.log, "touch "+tt.want+" for 100ms")...)
				if r := p.call("tapOnElementBySelector", byText("Save")); strings.Join(r.Notes, "|") != notes {
					p.Errorf("notes %q, want %q", r.Notes, notes)
				}
				f.touched = f.touched[:1]
				if len(f.touched) != 1 || f.touched[0] == nil || f.touched[0].Name() != "Save" {
					t.Errorf("touched %v", f.touched)
				}
			})
		})
	}
}

// An app that was started may turn the screen.
func TestPlacesAreThoseOfTheScreenNow(t *testing.T) {
	t.Parallel()
	f := &fake{turned: true, opens: "com.example.game"}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		p.call("isVisible", map[string]any{"text": "any"})
		p.call("launchApp", map[string]any{"appId": f.opens})
		p.does("tapOnPoint", map[string]any{"x": 2000, "y": 500}, "tapped 2000,500", "touch 2000,500 for 100ms")
		p.call("launchApp", map[string]any{"appId": f.opens})
		p.does("swipe", map[string]any{"direction": "UP"}, "swiped up", "touch 1200,540 to 1200,108 for 400ms")
	})
}

func TestTouchFailures(t *testing.T) {
	t.Parallel()
	area := rect(100, 400, 300, 500)
	with := func(change func(*screen.Node)) func(*fake, time.Duration) []*screen.Node {
		return func(*fake, time.Duration) []*screen.Node {
			n := node("Button", "Save", area)
			change(n)
			return []*screen.Node{n}
		}
	}
	for name, tt := range map[string]struct {
		fake *fake
		want string
	}{
		"missing": {
			&fake{nodes: always(node("Button", "Save all", area))},
			`text "Save" was not found; the screen has button "Save all" (within 10s; app com.example.orders)`,
		},
		"another app in front": {
			&fake{front: "com.android.permissioncontroller", nodes: always(node("Button", "Allow", area))},
			`text "Save" was not found (within 10s; com.android.permissioncontroller is in front)`,
		},
		"nothing for accessibility": {
			&fake{nodes: always(node("View", "", rect(0, 0, width, height)))},
			`text "Save" was not found: this app shows nothing to accessibility here (within 10s; app com.example.orders)`,
		},
		"disabled": {
			&fake{nodes: with(func(n *screen.Node) { n.Disabled = true })},
			`text "Save" is not ready to be tapped: it is disabled (found button "Save"; it is visible; within 10s; app com.example.orders)`,
		},
		"hidden": {
			&fake{nodes: with(func(n *screen.Node) { n.Hidden = true })},
			`text "Save" is not ready to be tapped: it is there, but the device reports that it is not visible (found button "Save"; within 10s; app com.example.orders)`,
		},
		"scrolled away": {
			&fake{nodes: with(func(n *screen.Node) { n.Bounds = rect(0, height, 100, height+100) })},
			`text "Save" is not ready to be tapped: it is outside of the screen, or scrolled out of view (found button "Save"; within 10s; app com.example.orders)`,
		},
		"without area": {
			&fake{nodes: with(func(n *screen.Node) { n.Bounds = rect(10, 10, 10, 10) })},
			`text "Save" is not ready to be tapped: it has no area (found button "Save"; within 10s; app com.example.orders)`,
		},
		"covered": {
			&fake{nodes: always(node("Button", "Save", area), node("Button", "Ad", rect(0, 0, width, height)))},
			`text "Save" is not ready to be tapped: button "Ad" covers it (found button "Save"; it is visible, enabled, on the screen, above the keyboard; within 10s; app com.example.orders)`,
		},
		"a toast": {
			&fake{nodes: always(node("Toast", "Save", nil))},
			`text "Save" is not ready to be tapped: the device does not report where it is (found generic "Save"; it is visible, enabled; within 10s; app com.example.orders)`,
		},
		"a keyboard that stays": {
			&fake{
				nodes: func(f *fake, _ time.Duration) []*screen.Node {
					f.keyboard = keyboardArea()
					return []*screen.Node{node("Button", "Save", rect(100, 1600, 300, 1700))}
				},
			},
			`text "Save" is not ready to be tapped: the keyboard covers it (found button "Save"; it is visible, enabled, on the screen; within 10s; app com.example.orders)`,
		},
		"always moving": {
			&fake{nodes: func(_ *fake, at time.Duration) []*screen.Node {
				top := int(at / time.Millisecond % 1000)
				return []*screen.Node{node("Button", "Save", rect(100, top, 300, top+100))}
			}},
			`text "Save" is not ready to be tapped: it moves (found button "Save"; it is visible, enabled, on the screen, above the keyboard, uncovered; within 10s; app com.example.orders)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onPhone(t, tt.fake, device.Session{}, func(p *phoneTest) {
				if r := p.fails("tapOnElementBySelector", byText("Save"), tt.want); r.Kind != fault.ToolFailed {
					t.Error(r.Kind)
				}
				if len(p.fake.touched) > 0 {
					t.Error("touched", p.fake.touched)
				}
			})
		})
	}
}

func TestSelectorOfAnotherDriverFailsAtOnce(t *testing.T) {
	t.Parallel()
	onPhone(t, &fake{}, device.Session{}, func(p *phoneTest) {
		began := time.Now()
		args := map[string]any{"nodeSelector": map[string]any{"iosMaestro": map[string]any{"textRegex": "Save"}}}
		const want = "the selector has the driver block iosMaestro, but this screen answers to androidAccessibility and androidMaestro"
		for _, name := range []string{"tapOnElementBySelector", "assertVisibleBySelector", "assertNotVisibleBySelector", "waitUntilNotVisible"} {
			p.fails(name, args, want)
		}
		if time.Since(began) > time.Second {
			t.Error("waited", time.Since(began))
		}
	})
}

// A phone that takes long to read its screen is not waited for in addition.
func TestTimeBetweenReadsBeforeTouch(t *testing.T) {
	t.Parallel()
	for read, want := range map[time.Duration]time.Duration{
		time.Millisecond:       51 * time.Millisecond, // the second read starts 50 ms after the first
		200 * time.Millisecond: 400 * time.Millisecond,
	} {
		f := &fake{nodes: always(node("Button", "Save", rect(100, 400, 300, 500))), slow: read}
		onPhone(t, f, device.Session{}, func(p *phoneTest) {
			start := time.Now()
			p.call("tap", map[string]any{"text": "Save"})
			if got := time.Since(start); got != want || f.reads != 2 {
				t.Errorf("reads of %s: a tap took %s with %d reads, want %s", read, got, f.reads, want)
			}
		})
	}
}

func TestUnconfirmedTouchIsNotRepeated(t *testing.T) {
	t.Parallel()
	lost := &act.UnconfirmedError{Cause: fault.New(fault.Crashed, "connect it again", "the connection was closed")}
	f := &fake{
		nodes: always(node("Button", "Save", rect(100, 400, 300, 500))),
		fail:  map[string]error{"Touch": lost},
	}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		r := p.fails("tap", map[string]any{"text": "save"},
			`button "Save": the action was sent and may have happened, but was not confirmed: the connection was closed`)
		if len(f.touched) != 1 || r.Kind != fault.CallTimeout || r.Hint == "" {
			t.Errorf("touched %d times; %s %q", len(f.touched), r.Kind, r.Hint)
		}
		for name, text := range map[string]string{"swipe": "", "mobile_maestro": "commands[1].swipe: "} {
			f.touched = nil
			var args map[string]any
			if name == "mobile_maestro" {
				args = map[string]any{"commands": []any{"hideKeyboard", map[string]any{"swipe": map[string]any{"direction": "UP"}}}}
			}
			r = p.fails(name, args, text+"the action was sent and may have happened, but was not confirmed: the connection was closed")
			if len(f.touched) != 1 || r.Kind != fault.CallTimeout || !strings.Contains(r.Hint, "it is not repeated") {
				t.Errorf("%s: touched %d times; %s %q", name, len(f.touched), r.Kind, r.Hint)
			}
		}
	})
}

func TestHintsOfTouches(t *testing.T) {
	t.Parallel()
	save := node("Button", "Save", rect(100, 400, 300, 500))
	moves := func(_ *fake, at time.Duration) []*screen.Node {
		top := int(at / time.Millisecond % 1000)
		return []*screen.Node{node("Button", "Save", rect(100, top, 300, top+100))}
	}
	for name, tt := range map[string]struct {
		fake *fake
		text string
		want string
	}{
		"a dialog in front":      {&fake{front: "com.android.permissioncontroller", nodes: always(save)}, "Load", "tap a button of what is in front first"},
		"nothing special":        {&fake{nodes: always(save)}, "Load", ""},
		"an element that moves":  {&fake{nodes: moves}, "Save", "tapOnPoint taps a place without waiting"},
		"no app under test":      {&fake{front: "com.example.other", nodes: always(save)}, "Load", ""},
		"a disabled element too": {&fake{nodes: always(&screen.Node{Key: "x", Text: new("Save"), Class: save.Class, Bounds: save.Bounds, States: screen.States{Disabled: true}})}, "Save", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := device.Session{}
			if name == "no app under test" {
				s.AppIDs = []string{}
			}
			onPhone(t, tt.fake, s, func(p *phoneTest) {
				r := p.call("tap", map[string]any{"text": tt.text})
				if r.OK || !strings.Contains(r.Hint, tt.want) || tt.want == "" && r.Hint != "" {
					t.Errorf("%s; hint %q", r.Text, r.Hint)
				}
			})
		})
	}
}

func TestEveryWayToNameAnElement(t *testing.T) {
	t.Parallel()
	row := node("LinearLayout", "", rect(0, 600, width, 700), node("TextView", "ORD-1150", rect(0, 600, 400, 700)))
	row.ID, row.Clickable = new("com.example.orders:id/row"), true
	add := node("ImageButton", "", rect(900, 2000, 1000, 2100))
	add.Label, add.Clickable = new("Add order"), true
	nodes := []*screen.Node{
		node("TextView", "Order history", rect(0, 0, 1000, 100)), node("Button", "Order", rect(0, 200, 400, 300)), row, add,
		node("Button", "Same", rect(0, 800, 100, 900)), node("Button", "Same", rect(200, 800, 300, 900)),
	}
	nodes[4].Disabled = true
	android := func(block map[string]any) map[string]any { return map[string]any{"androidAccessibility": block} }
	type args = map[string]any
	for name, tt := range map[string]struct {
		tool string
		args args
		want string
	}{
		"containsChild": {"tapOnElementBySelector", args{"reason": "r", "nodeSelector": args{
			"androidAccessibility": args{"resourceIdRegex": ".*:id/row"},
			"containsChild":        android(args{"textRegex": "ORD-1150"}),
		}}, "540,650 for 100ms"},
		"older form": {"tapOnElementBySelector", args{"selector": args{"idRegex": ".*:id/row", "index": "0.0"}}, "540,650 for 100ms"},
		"older form beside the other": {
			"tapOnElementBySelector",
			args{"selector": args{"textRegex": "Order"}, "nodeSelector": android(args{"contentDescriptionRegex": "Add order"})},
			"950,2050 for 100ms",
		},
		"index":          {"tapOnElementBySelector", args{"nodeSelector": args{"androidAccessibility": args{"textRegex": "Same"}, "index": 1}}, "250,850 for 100ms"},
		"long press":     {"tapOnElementBySelector", args{"nodeSelector": android(args{"textRegex": "Order"}), "longPress": true}, "200,250 for 700ms"},
		"maestro block":  {"tapOnElementBySelector", args{"nodeSelector": args{"androidMaestro": args{"textRegex": "add ORDER"}}}, "950,2050 for 100ms"},
		"tapOn":          {"tapOn", args{"selector": android(args{"textRegex": "Order"}), "relativePoint": "25%,50%"}, "100,250 for 100ms"},
		"tapOn held":     {"tapOn", args{"selector": android(args{"textRegex": "Order"}), "longPress": true}, "200,250 for 700ms"},
		"part of a text": {"tapOnElementWithText", args{"text": "history"}, "500,50 for 100ms"},
		"one of several": {"tapOnElementWithText", args{"text": "same", "index": 1.0}, "250,850 for 100ms"},
		"enabled":        {"tapOnElementWithText", args{"text": "same", "enabled": true}, "250,850 for 100ms"},
		"id":             {"tapOnElementWithText", args{"text": "", "id": "row"}, "540,650 for 100ms"},
		"label":          {"tapOnElementWithAccessibilityText", args{"accessibilityText": "Add .*", "index": "0"}, "950,2050 for 100ms"},
		"hold a text":    {"longPressOnElementWithText", args{"text": "history"}, "500,50 for 700ms"},
		"hold a label":   {"longPressElementWithAccessibilityText", args{"accessibilityText": "Add order"}, "950,2050 for 700ms"},
		"node":           {"tapOnAccessibilityNode", args{"contentDescriptionRegex": "Add order", "classNameRegex": ".*ImageButton"}, "950,2050 for 100ms"},
		"point":          {"tapOnPoint", args{"x": 10, "y": 20.0, "reasoning": "r"}, "10,20 for 100ms"},
		"point held":     {"tapOnPoint", args{"x": 10, "y": 20, "longPress": true}, "10,20 for 700ms"},
		"core text":      {"tap", args{"text": "order"}, "200,250 for 100ms"},
		"core id":        {"tap", args{"id": "row"}, "540,650 for 100ms"},
		"core index":     {"tap", args{"text": "Same", "index": 1}, "250,850 for 100ms"},
		"a position":     {"tap", args{"ref": "e2"}, "200,250 for 100ms"},
		"longPress":      {"longPress", args{"text": "Order"}, "200,250 for 700ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onPhone(t, &fake{nodes: always(nodes...)}, device.Session{}, func(p *phoneTest) {
				r := p.call(tt.tool, tt.args)
				if !r.OK || len(p.fake.log) != 1 || p.fake.log[0] != "touch "+tt.want {
					t.Errorf("got %v %q, the driver did %q", r.OK, r.Text, p.fake.log)
				}
			})
		})
	}
	onPhone(t, &fake{nodes: always(nodes...)}, device.Session{}, func(p *phoneTest) {
		p.fails("tapOn", args{"selector": android(args{"textRegex": "Same"}), "timeoutMs": 0},
			`text "Same" matches 2 elements, but must match one: button "Same", button "Same" (app com.example.orders)`)
		p.fails("tapOnElementWithText", args{"text": "Same", "index": 2, "timeoutMs": 0},
			`index 2 is the third text containing "Same" (counting from 0); the screen has 2 (app com.example.orders)`)
		p.fails("tapOnPoint", args{"x": width, "y": 0}, "x 1080, y 0 is outside of the screen, which is 1080 wide and 2400 high")
	})
}

func TestIOSTapsTheBestOfSeveral(t *testing.T) {
	t.Parallel()
	outer := node("Cell", "", rect(0, 100, 400, 200), node("StaticText", "", rect(0, 100, 200, 200)))
	outer.Label, outer.Children[0].Label = new("Ada"), new("Ada")
	f := &fake{platform: IOS, nodes: always(outer)}
	onPhone(t, f, device.Session{Driver: "ios-host"}, func(p *phoneTest) {
		args := map[string]any{"nodeSelector": map[string]any{"iosMaestro": map[string]any{"accessibilityTextRegex": "ada"}}}
		p.does("tapOnElementBySelector", args, `tapped text "Ada"`, "touch 100,150 for 100ms")
	})
}

func TestInvalidElements(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	for name, tt := range map[string]struct {
		tool string
		args args
		want string
	}{
		"none":            {"tapOnElementBySelector", args{"reason": "r"}, "no argument says which element is meant"},
		"empty":           {"tapOnElementBySelector", args{"nodeSelector": args{}}, "no argument says which element is meant"},
		"empty, older":    {"tapOnElementBySelector", args{"selector": args{"size": args{}}}, "no argument says which element is meant"},
		"none of a text":  {"tapOnElementWithText", args{"text": " "}, "no argument says which element is meant"},
		"none of core":    {"tap", args{}, "no argument says which element is meant"},
		"none of a node":  {"tapOnAccessibilityNode", args{"classNameRegex": "a"}, "no argument says which element is meant"},
		"unknown key":     {"tapOnElementBySelector", byTextKey("textRegx"), "nodeSelector.androidAccessibility.textRegx: unknown key"},
		"look-ahead":      {"tapOnElementBySelector", byText("(?=a)b"), `nodeSelector.androidAccessibility.textRegex: "(?=a)b": a look-ahead (?=…) is not supported in patterns`},
		"malformed":       {"tapOnElementWithAccessibilityText", args{"accessibilityText": "("}, "accessibilityText: \"(\": error parsing regexp: missing closing ): `(`"},
		"malformed id":    {"tapOnElementWithText", args{"text": "a", "id": "["}, "id: \"[\": error parsing regexp: missing closing ]: `[`"},
		"malformed node":  {"tapOnAccessibilityNode", args{"textRegex": "("}, "textRegex: \"(\": error parsing regexp: missing closing ): `(`"},
		"index":           {"tapOnElementWithText", args{"text": "a", "index": "one"}, `index: expected a whole number from 0, found "one"`},
		"place":           {"tapOn", args{"selector": args{"index": 0}, "relativePoint": "120%,0%"}, `relativePoint: "120%,0%" is not a place`},
		"reference":       {"tap", args{"ref": "button"}, `ref: "button" is not a reference; a reference looks like e12`},
		"expected text":   {"assertVisible", args{"text": "a", "expectedText": "(", "textMatchMode": "regex"}, "expectedText: \"(\": error parsing regexp: missing closing ): `(`"},
		"blank":           {"hasText", args{"text": " "}, "text is empty, and every screen has that"},
		"resource id":     {"assertVisibleWithResourceId", args{}, "no argument says which element is meant"},
		"scroll to":       {"scrollUntilTextIsVisible", args{"direction": "UP"}, "no argument says which element is meant"},
		"permissions":     {"launchApp", args{"permissions": args{"camera": "yes"}}, `permissions.camera: "yes" is not one of allow, deny, unset`},
		"URL":             {"openUrl", args{"url": "example"}, `url: "example" is not a URL`},
		"swipe":           {"swipe", args{"swipeOnElementText": ""}, "swipeOnElementText is empty"},
		"places":          {"swipeWithRelativeCoordinates", args{"startRelative": "1,2", "endRelative": "0%,0%"}, `startRelative: "1,2" is not a place`},
		"broadcast":       {"android_sendBroadcast", args{"action": "a", "componentClass": "b"}, "componentPackage and componentClass are only given together"},
		"selector":        {"findMatches", args{}, "no argument says which element is meant"},
		"maestro":         {"mobile_maestro", args{"commands": []any{"bak"}}, `commands[0]: unknown command "bak" of Maestro`},
		"maestro key":     {"mobile_maestro", args{"commands": []any{args{"openLink": args{"ur": "a"}}}}, `commands[0].openLink: unknown key "ur"`},
		"maestro value":   {"mobile_maestro", args{"commands": []any{args{"back": "now"}}}, "commands[0].back: expected no value, found now"},
		"maestro number":  {"mobile_maestro", args{"commands": []any{args{"eraseText": "x"}}}, `commands[0].eraseText: charactersToErase: expected a whole number from 0, found "x"`},
		"maestro pattern": {"mobile_maestro", args{"commands": []any{"back", args{"tapOn": "("}}}, "commands[1].tapOn: text: \"(\": error parsing regexp: missing closing ): `(`"},
		"maestro wait":    {"mobile_maestro", args{"commands": []any{args{"extendedWaitUntil": args{"timeout": 5}}}}, "commands[0].extendedWaitUntil: expected either visible or notVisible"},
		"maestro launch":  {"mobile_maestro", args{"commands": []any{args{"launchApp": args{"clearState": "maybe"}}}}, `commands[0].launchApp: clearState: expected true or false, found "maybe"`},
		"maestro press":   {"mobile_maestro", args{"commands": []any{args{"pressKey": "F13"}}}, `commands[0].pressKey: key: "F13" is not one of ENTER, BACK, HOME, BACKSPACE, TAB, ESCAPE`},
		"maestro swipe":   {"mobile_maestro", args{"commands": []any{"swipe"}}, "commands[0].swipe: direction is missing"},
		"maestro time":    {"mobile_maestro", args{"commands": []any{args{"swipe": args{"direction": "UP", "duration": "30000"}}}}, "commands[0].swipe: duration: expected at most 20000 ms, found 30000"},
		"maestro shape":   {"mobile_maestro", args{"commands": []any{args{"back": nil, "swipe": nil}}}, "commands[0] is not a command of Maestro"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range advertisedTools(Android) {
				if c.Name != tt.tool {
					continue
				}
				err := c.Check(tt.args)
				if err == nil || err.Error() != tt.want || fault.KindOf(err) != fault.InvalidArguments {
					t.Errorf("got  %v\nwant %s", err, tt.want)
				}
				return
			}
			t.Errorf("no command %s", tt.tool)
		})
	}
}

func byTextKey(key string) map[string]any {
	return map[string]any{"nodeSelector": map[string]any{"androidAccessibility": map[string]any{key: "a"}}}
}
