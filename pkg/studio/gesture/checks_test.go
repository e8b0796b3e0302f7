package gesture_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestChecks(t *testing.T) {
	t.Parallel()
	const sel = `"nodeSelector":{"web":{"dataTestId":"a"}}`
	const visible, gone = `Is visible: web_verifyElementVisible {` + sel + `}`, `Is not there (now it is): web_verifyElementNotVisible {` + sel + `}`
	const once = `Is there once: web_verifyCount {"count":1,` + sel + `}`
	const enabled = `Is enabled: web_verifyState {` + sel + `,"state":"enabled"}`
	picture := func(name string) string {
		return `Looks as it does now: verifyScreenshot {"name":"` + name + `",` + sel + `}`
	}
	value := func(label, arg, text string) string {
		return label + ` "` + text + `": web_verifyValue {"` + arg + `":"` + text + `",` + sel + `}`
	}
	many := target("web", "button", "a")
	many.Candidates[0].Selector = map[string]any{"web": map[string]any{"ariaRole": "button", "nthIndex": 2}}
	many.Candidates[0].Matches = 3
	total := target("web", "cell", "a", content("Total 30 €"))
	options := func(e *live.Element) {
		e.Options = []live.Option{{Label: "Small"}, {Label: "Large", Value: "l", Selected: true}}
	}
	const phone = `"nodeSelector":{"androidAccessibility":{"textRegex":"a"}}`
	flag := func(name string) string {
		return `"nodeSelector":{"androidAccessibility":{` + name + `,"textRegex":"a"}}`
	}
	unnamed := func(e *live.Element) { e.Name = "" }
	tests := map[string]struct {
		platform string
		at       gesture.Target
		root     *live.Element
		want     []string
	}{
		"nothing": {"web", gesture.Target{}, nil, []string{`The screen looks as it does now: verifyScreenshot {"name":"screen"}`}},
		"text that cannot be named": {
			"web",
			gesture.Target{Location: live.Location{Element: live.Element{Role: "text", Name: "Hello"}}},
			nil,
			[]string{`The screen shows "Hello": web_verifyTextVisible {"text":"Hello"}`, `The screen looks as it does now: verifyScreenshot {"name":"screen"}`},
		},
		"text with a number": {"web", total, nil, []string{
			visible, value("Text is", "expected", "Total 30 €"), value("Text contains", "contains", "Total"),
			`The screen shows "Total 30 €": web_verifyTextVisible {"text":"Total 30 €"}`, once, picture("cell-a"), gone,
		}},
		"text below": {
			"web", target("web", "listitem", "a", unnamed),
			&live.Element{Role: "generic", Children: []*live.Element{{Ref: "e-a", Role: "listitem", Children: []*live.Element{{Role: "link", Name: "Shoes"}}}}},
			[]string{
				`Is visible: web_verifyElementVisible {"nodeSelector":{"web":{"dataTestId":"a"}}}`,
				`Text is "Shoes": web_verifyValue {"expected":"Shoes","nodeSelector":{"web":{"dataTestId":"a"}}}`,
				`The screen shows "Shoes": web_verifyTextVisible {"text":"Shoes"}`,
			},
		},
		"field":       {"web", target("web", "textbox", "a", content("Ann"), kind("text")), nil, []string{visible, value("Value is", "expected", "Ann"), enabled, once, picture("textbox-a"), gone}},
		"empty field": {"web", target("web", "textbox", "a"), nil, []string{visible, `Is empty: web_verifyState {` + sel + `,"state":"empty"}`, enabled, once, picture("textbox-a"), gone}},
		"password":    {"web", target("web", "textbox", "a", content("••••••••"), kind("password")), nil, []string{visible, enabled, once, picture("textbox-a"), gone}},
		"select":      {"web", target("web", "combobox", "a", kind("select"), options), nil, []string{visible, value("Choice is", "expected", "Large"), enabled, once, picture("combobox-a"), gone}},
		"box": {"web", target("web", "checkbox", "a", unnamed, states("checked", "disabled")), nil, []string{
			`Is visible: web_verifyElementVisible {"nodeSelector":{"web":{"dataTestId":"a"}}}`,
			`Is checked: web_verifyState {"nodeSelector":{"web":{"dataTestId":"a"}},"state":"checked"}`,
			`Is disabled: web_verifyState {"nodeSelector":{"web":{"dataTestId":"a"}},"state":"disabled"}`,
		}},
		"several": {"web", many, nil, []string{
			`Is visible: web_verifyElementVisible {"nodeSelector":{"web":{"ariaRole":"button","nthIndex":2}}}`,
			`Text is "a": web_verifyValue {"expected":"a","nodeSelector":{"web":{"ariaRole":"button","nthIndex":2}}}`,
			`The screen shows "a": web_verifyTextVisible {"text":"a"}`,
			`Is enabled: web_verifyState {"nodeSelector":{"web":{"ariaRole":"button","nthIndex":2}},"state":"enabled"}`,
			`Is there 3 times: web_verifyCount {"count":3,"nodeSelector":{"web":{"ariaRole":"button"}}}`,
		}},
		"phone": {"android", target("android", "switch", "a", content("Dark (2)"), states("checked")), nil, []string{
			`Is visible: assertVisibleBySelector {` + phone + `}`,
			`Text is "Dark (2)": assertVisibleBySelector {"expectedText":"Dark (2)",` + phone + `}`,
			`Text contains "Dark": assertVisibleBySelector {"expectedText":".*Dark.*",` + phone + `,"textMatchMode":"REGEX"}`,
			`The screen shows "Dark (2)": assertVisibleWithText {"text":"Dark (2)"}`,
			`Is checked: assertVisibleBySelector {` + flag(`"isChecked":true`) + `}`,
			`Is enabled: assertVisibleBySelector {` + flag(`"isEnabled":true`) + `}`,
			`Looks as it does now: verifyScreenshot {"name":"switch-a",` + phone + `}`,
			`Is not there (now it is): assertNotVisibleBySelector {` + phone + `}`,
		}},
		"field of iOS": {"ios", target("ios", "textbox", "a", content("Ann"), states("selected")), nil, []string{
			`Is visible: assertVisibleBySelector {"nodeSelector":{"iosMaestro":{"textRegex":"a"}}}`,
			`Value is "Ann": assertVisibleBySelector {"expectedText":"Ann","nodeSelector":{"iosMaestro":{"textRegex":"a"}}}`,
			`Is selected: assertVisibleBySelector {"nodeSelector":{"iosMaestro":{"selected":true,"textRegex":"a"}}}`,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range gesture.Checks(gesture.Device{Platform: tt.platform}, tt.at.Location, tt.root) {
				got = append(got, c.Label+": "+written(t, tt.platform, trail.Call{Tool: c.Call.Tool, Args: c.Call.Args}))
			}
			if diff := cmp.Diff(tt.want, got[:min(len(got), len(tt.want))]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChecksOfToolsThatTheDeviceLacks(t *testing.T) {
	t.Parallel()
	d := gesture.Device{Platform: "web", Has: func(tool string) bool { return tool == "web_verifyElementVisible" }}
	if list := gesture.Checks(d, target("web", "button", "a").Location, nil); len(list) != 1 || list[0].Label != "Is visible" {
		t.Errorf("%+v", list)
	}
}

func TestLastingPartOfAText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Total 30 €": "Total", "Order 17 was sent to you": "was sent to you", "Hello": "", "30 €": "", "1 of 2": "", "12 items left": "items left",
	} {
		got := ""
		for _, c := range gesture.Checks(gesture.Device{Platform: "web"}, target("web", "cell", "a", content(text)).Location, nil) {
			if strings.HasPrefix(c.Label, "Text contains") {
				got, _ = c.Call.Args["contains"].(string)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
