package gesture_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trailblaze/trailblaze/pkg/android"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/ios"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/web"
)

// kinds are the real kinds of devices, by platform.
func kinds() map[string]device.Kind {
	return map[string]device.Kind{"web": web.Kind(), "android": android.Kind(), "ios": ios.Kind()}
}

// mustBeValid fails the test unless the device has the tool of a call and takes its arguments.
func mustBeValid(t *testing.T, platform string, c trail.Call) {
	t.Helper()
	data, err := json.Marshal(c.Args)
	var args map[string]any
	if err != nil || json.Unmarshal(data, &args) != nil {
		t.Fatalf("%s: %s %v", c.Tool, data, err)
	}
	for _, a := range kinds()[platform].Commands() {
		if a.Name != c.Tool {
			continue
		}
		encoded, err := json.Marshal(a.InputSchema)
		var schema jsonschema.Schema
		if err != nil || json.Unmarshal(encoded, &schema) != nil {
			t.Fatalf("%s: %s %v", c.Tool, encoded, err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(args); err != nil {
			t.Errorf("%s %s: %v", c.Tool, data, err)
		}
		if a.Check != nil {
			if err := a.Check(args); err != nil {
				t.Errorf("%s %s: %v", c.Tool, data, err)
			}
		}
		return
	}
	t.Errorf("%s does not have %s", platform, c.Tool)
}

// written returns calls as lines, after it has checked that the device takes them.
func written(t *testing.T, platform string, calls ...trail.Call) string {
	t.Helper()
	var lines []string
	for _, c := range calls {
		mustBeValid(t, platform, c)
		data, err := json.Marshal(c.Args)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, c.Tool+" "+string(data))
	}
	return strings.Join(lines, "\n")
}

// block returns a selector by a name, for a platform.
func block(platform, name string) map[string]any {
	switch platform {
	case "android":
		return map[string]any{"androidAccessibility": map[string]any{"textRegex": name}}
	case "ios":
		return map[string]any{"iosMaestro": map[string]any{"textRegex": name}}
	}
	return map[string]any{"web": map[string]any{"dataTestId": name}}
}

// target is an element of 100x20 at the top left, with one selector by its name.
func target(platform, role, name string, edit ...func(*live.Element)) gesture.Target {
	e := live.Element{Ref: "e-" + name, Role: role, Name: name, Bounds: &screen.Rect{Right: 100, Bottom: 20}}
	for _, change := range edit {
		change(&e)
	}
	return gesture.Target{Location: live.Location{
		Element: e, Candidates: []live.Candidate{{By: "name", Selector: block(platform, name), Matches: 1}},
	}}
}

// by returns a target whose selector was found in a way.
func by(way string, t gesture.Target) gesture.Target {
	t.Candidates[0].By = way
	return t
}

func states(words ...string) func(*live.Element) { return func(e *live.Element) { e.States = words } }

func kind(k string) func(*live.Element) { return func(e *live.Element) { e.Kind = k } }

func content(text string) func(*live.Element) { return func(e *live.Element) { e.Content = text } }

func TestCalls(t *testing.T) {
	t.Parallel()
	const sel = `"nodeSelector":{"web":{"dataTestId":"a"}}`
	const android = `"nodeSelector":{"androidAccessibility":{"textRegex":"a"}}`
	const ios = `"nodeSelector":{"iosMaestro":{"textRegex":"a"}}`
	nothing := gesture.Target{}
	act := func(kind string, x, y float64) gesture.Act { return gesture.Act{Kind: kind, X: x, Y: y} }
	drag := func(x, y, toX, toY float64) gesture.Act {
		return gesture.Act{Kind: "drag", X: x, Y: y, ToX: toX, ToY: toY}
	}
	held := drag(10, 10, 50, 60)
	held.Hold = true
	withShift := act("click", 50, 10)
	withShift.Modifiers = []string{"Shift"}
	wheel := gesture.Act{Kind: "wheel", X: 50, Y: 300, DX: -10, DY: 120}
	tests := map[string]struct {
		platform string
		act      gesture.Act
		at, to   gesture.Target
		want     string
	}{
		"button":              {"web", act("click", 5, 5), target("web", "button", "a"), nothing, "web_click {" + sel + "}"},
		"with a key held":     {"web", withShift, target("web", "checkbox", "a"), nothing, `web_click {"modifiers":["Shift"],` + sel + "}"},
		"double":              {"web", act("doubleClick", 5, 5), target("web", "button", "a"), nothing, `web_click {"count":2,` + sel + "}"},
		"right":               {"web", act("rightClick", 5, 5), target("web", "button", "a"), nothing, `web_click {"button":"RIGHT",` + sel + "}"},
		"picture":             {"web", act("click", 5, 5), target("web", "img", "a"), nothing, "web_click {" + sel + `,"position":{"x":5,"y":5}}`},
		"middle of a picture": {"web", act("click", 52, 9), target("web", "img", "a"), nothing, "web_click {" + sel + `}`},
		"box":                 {"web", act("click", 5, 5), target("web", "checkbox", "a"), nothing, `web_setChecked {"checked":true,` + sel + "}"},
		"checked box":         {"web", act("click", 5, 5), target("web", "checkbox", "a", states("checked")), nothing, `web_setChecked {"checked":false,` + sel + "}"},
		"mixed box":           {"web", act("click", 5, 5), target("web", "checkbox", "a", states("checked=mixed")), nothing, `web_click {` + sel + "}"},
		"radio":               {"web", act("click", 5, 5), target("web", "radio", "a"), nothing, `web_setChecked {"checked":true,` + sel + "}"},
		"checked radio":       {"web", act("click", 5, 5), target("web", "radio", "a", states("checked")), nothing, `web_click {` + sel + "}"},
		"drag": {
			"web", drag(10, 10, 50, 12), target("web", "button", "a"), target("web", "region", "b"),
			`web_dragTo {"from":{` + sel + `,"position":{"x":10,"y":10}},"to":{"nodeSelector":{"web":{"dataTestId":"b"}}}}`,
		},
		"wheel": {
			"web", wheel, target("web", "list", "a"), nothing,
			`unrecorded web_scroll {"amount":120,"direction":"DOWN",` + sel + "}\n" + `web_scroll {"amount":10,"direction":"LEFT",` + sel + "}",
		},
		"wheel over nothing": {"web", gesture.Act{Kind: "wheel", DY: -5}, nothing, nothing, `unrecorded web_scroll {"amount":5,"direction":"UP"}`},
		"nothing there":      {"web", act("click", 5, 5), nothing, nothing, "nothing that a call could name is there"},
		"drag to nothing":    {"web", drag(1, 1, 2, 2), target("web", "button", "a"), nothing, "nothing that a call could name is there"},
		"long press":         {"web", act("longPress", 5, 5), target("web", "button", "a"), nothing, "web pages have no long press"},
		"unknown":            {"web", act("pinch", 5, 5), target("web", "button", "a"), nothing, `"pinch" is not an act with the pointer`},

		"tap":                {"android", act("click", 5, 5), target("android", "button", "a"), nothing, "tapOnElementBySelector {" + android + "}"},
		"tap of iOS":         {"ios", act("click", 5, 5), target("ios", "checkbox", "a"), nothing, "tapOnElementBySelector {" + ios + "}"},
		"tap on nothing":     {"ios", act("click", 5.6, 5), nothing, nothing, `tapOnPoint {"x":5,"y":5}`},
		"tap on a slider":    {"android", act("click", 5, 5), target("android", "slider", "a"), nothing, `tapOnPoint {"x":5,"y":5}`},
		"tap on a row":       {"android", act("click", 5, 5), by("class and a text in it", target("android", "generic", "a")), nothing, "tapOnElementBySelector {" + android + "}"},
		"tap on a map":       {"android", act("click", 5, 5), by("class and its place", target("android", "generic", "a")), nothing, `tapOnPoint {"x":5,"y":5}`},
		"long":               {"android", act("longPress", 5, 5), target("android", "button", "a"), nothing, `tapOnElementBySelector {"longPress":true,` + android + "}"},
		"middle on a phone":  {"android", act("middleClick", 5, 5), target("android", "button", "a"), nothing, "phones have no middle button"},
		"right on a phone":   {"android", act("rightClick", 5, 5), target("android", "button", "a"), nothing, `tapOnElementBySelector {"longPress":true,` + android + "}"},
		"long on nothing":    {"android", act("longPress", 5, 5), nothing, nothing, `tapOnPoint {"longPress":true,"x":5,"y":5}`},
		"twice":              {"ios", act("doubleClick", 5, 5), target("ios", "button", "a"), nothing, "mobile_doubleTap {" + ios + "}"},
		"twice on nothing":   {"ios", act("doubleClick", 5, 5), nothing, nothing, "a double tap needs an element, and nothing there can be named"},
		"swipe":              {"android", drag(50, 700, 50, 100), target("android", "list", "a"), nothing, `swipeWithRelativeCoordinates {"endRelative":"12.5%,12.5%","startRelative":"12.5%,87.5%"}`},
		"swipe off the edge": {"ios", drag(0, 700, 500, -9), nothing, nothing, `swipeWithRelativeCoordinates {"endRelative":"100%,0%","startRelative":"0%,87.5%"}`},
		"slider of a phone":  {"ios", drag(10, 10, 90, 10), target("ios", "slider", "a"), nothing, `dragByPoints {"endX":90,"endY":10,"startX":10,"startY":10}`},
		"held drag": {
			"android", held, target("android", "button", "a"), target("android", "button", "b"),
			`dragTo {"from":{` + android + `},"to":{"nodeSelector":{"androidAccessibility":{"textRegex":"b"}}}}`,
		},
		"held drag in one": {"android", held, target("android", "img", "a"), target("android", "img", "a"), `dragByPoints {"endX":50,"endY":60,"startX":10,"startY":10}`},
		"wheel of a phone": {"android", gesture.Act{Kind: "wheel", X: 200, Y: 100, DY: 300}, nothing, nothing, `unrecorded dragByPoints {"endX":200,"endY":0,"startX":200,"startY":100}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := gesture.Calls(gesture.Device{Platform: tt.platform, Width: 400, Height: 800}, tt.act, tt.at, tt.to)
			got := written(t, tt.platform, r.Calls...)
			if r.Unrecorded {
				got = "unrecorded " + got
			}
			if err != nil {
				got = err.Error()
			}
			if got != tt.want || r.Ask != nil {
				t.Errorf("%s\nwant\n%s\n%+v", got, tt.want, r.Ask)
			}
		})
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	options := []live.Option{{Label: "Choose", Selected: true}, {Label: "Small", Value: "s"}, {Label: "Large", Value: "l"}}
	d := gesture.Device{Platform: "web"}
	const sel = `"nodeSelector":{"web":{"dataTestId":"a"}}`
	for name, tt := range map[string]struct {
		kind, wantKind string
		values         []string
		want           string
	}{
		"select":          {"select", "select", []string{"l"}, "web_selectOption {" + sel + `,"values":["l"]}`},
		"without a value": {"select", "select", []string{""}, "web_selectOption {" + sel + `,"values":["Choose"]}`},
		"two of one":      {"select", "select", []string{"s", "l"}, "a does not take 2 values"},
		"several":         {"select-multiple", "select", []string{"s", "l"}, "web_selectOption {" + sel + `,"values":["s","l"]}`},
		"none of several": {"select-multiple", "select", nil, "web_selectOption {" + sel + `,"values":[]}`},
		"file":            {"file", "files", []string{"a.png"}, `web_uploadFile {"files":["a.png"],` + sel + "}"},
		"no file":         {"file", "files", nil, "a does not take 0 values"},
		"date":            {"date", "date", []string{"2026-11-26"}, "web_type {" + sel + `,"text":"2026-11-26"}`},
		"color":           {"color", "date", []string{"#00ff00"}, "web_type {" + sel + `,"text":"#00ff00"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := target("web", "combobox", "a", kind(tt.kind), func(e *live.Element) { e.Options = options })
			r, err := gesture.Calls(d, gesture.Act{Kind: "click", X: 5, Y: 5}, at, gesture.Target{})
			if err != nil || r.Ask == nil || len(r.Calls) > 0 || r.Ask.Kind != tt.wantKind || r.Ask.Text != "a" || len(r.Ask.Options) != 3 {
				t.Fatalf("%+v %v", r, err)
			}
			if r.Ask.Kind == "date" && r.Ask.Input != tt.kind {
				t.Errorf("%+v", r.Ask)
			}
			calls, err := gesture.Answer(*r.Ask, tt.values)
			got := written(t, "web", calls...)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestKeys checks that the web takes all keys that a keyboard has, by their names in KeyboardEvent.key.
func TestKeys(t *testing.T) {
	t.Parallel()
	onWeb, onPhone := gesture.Device{Platform: "web"}, gesture.Device{Platform: "android"}
	names := strings.Fields("Enter Tab Escape Backspace Delete Insert Home End PageUp PageDown ArrowLeft ArrowUp ArrowRight ArrowDown F1 F12 a A + ? ContextMenu")
	for _, name := range append(names, " ") {
		for _, modifiers := range [][]string{nil, {"Control"}, {"Control", "Shift"}, {"Meta"}, {"Alt"}} {
			c, err := gesture.KeyCall(onWeb, name, modifiers)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			written(t, "web", c)
		}
	}
	modifiers := make([]string, 1, 5)
	modifiers[0] = "Control"
	for _, name := range []string{"a", "b"} {
		c, err := gesture.KeyCall(onWeb, name, modifiers)
		if err != nil || c.Args["key"] != "Control+"+name {
			t.Errorf("%v %v", c, err)
		}
	}
	for name, want := range map[string]string{
		"Enter": `pressKey {"keyCode":"ENTER"}`, "Escape": `pressKey {"keyCode":"ESCAPE"}`, "Home": `pressKey {"keyCode":"HOME"}`, "BrowserBack": "pressBack {}",
		"F5": "phones do not have the key F5",
	} {
		c, err := gesture.KeyCall(onPhone, name, nil)
		got := fmt.Sprint(err)
		if err == nil {
			got = written(t, "android", c)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if _, err := gesture.KeyCall(onPhone, "Enter", []string{"Control"}); err == nil || err.Error() != "phones do not have the key Control+Enter" {
		t.Error(err)
	}
}

func TestIsTextField(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for _, e := range []live.Element{
		{Role: "textbox"},
		{Role: "textbox", Kind: "date"},
		{Role: "combobox"},
		{Role: "combobox", Kind: "text"},
		{Role: "combobox", Kind: "select"},
		{Role: "generic", Kind: "contenteditable"},
		{Role: "button"},
		{Role: "slider", Kind: "range"},
		{Role: "spinbutton", Kind: "number"},
	} {
		got[e.Role+" "+e.Kind] = gesture.IsTextField(e)
	}
	want := map[string]bool{
		"textbox ": true, "textbox date": false, "combobox ": false, "combobox text": true, "combobox select": false,
		"generic contenteditable": true, "button ": false, "slider range": false, "spinbutton number": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
