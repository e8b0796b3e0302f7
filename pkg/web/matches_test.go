package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// found calls findMatches, and returns what it found: as text, which its structured result has to equal.
func (u *testSession) found(args ...any) (list []match) {
	u.t.Helper()
	result, err := u.call("findMatches", args...)
	if err != nil || !result.OK {
		u.t.Fatalf("findMatches %v: %s %v", args, result.Text, err)
	}
	if err := json.Unmarshal([]byte(result.Text), &list); err != nil {
		u.t.Fatal(err)
	}
	if got := string(result.Structured); got != `{"matches":`+result.Text+`}` {
		u.t.Errorf("structured: %s; text: %s", got, result.Text)
	}
	return list
}

func TestFindMatches(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	u.show(`<style>body{margin:0}button{position:absolute;width:60px;height:20px;top:10px}</style>` +
		`<button id=save class="big red" style="left:0" aria-label=Keep>Save</button><button style="left:100px;top:1000px" disabled data-testid=s2>Save</button>` +
		`<button style="display:none">Save</button><input type=password value=hunter2 placeholder=Word><div>Save<b>d</b></div>`)
	want := `[{"tag":"button","text":"Save","label":"Keep","id":"save","class":"big red","visible":true,"enabled":true,` +
		`"bounds":{"left":0,"top":10,"right":60,"bottom":30},"centerX":30,"centerY":20},` +
		`{"tag":"button","text":"Save","visible":true,"enabled":false,` +
		`"bounds":{"left":100,"top":1000,"right":160,"bottom":1020},"centerX":130,"centerY":1010},` +
		`{"tag":"button","text":"Save","visible":false,"enabled":true}]`
	if got := u.mustCall("findMatches", "selector", webBlock("cssSelector", "button")); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	texts := func(list []match) (texts []string) {
		for _, m := range list {
			texts = append(texts, m.Tag+" "+m.Text)
		}
		return texts
	}
	for name, c := range map[string]struct {
		key   string
		value any
		want  []string
	}{
		"role":            {"ref", "button", []string{"button Save", "button Save"}},
		"role and name":   {"selector", webBlock("ariaRole", "button", "ariaNameRegex", "Keep"), []string{"button Save"}},
		"index":           {"selector", webBlock("cssSelector", "button", "nthIndex", 1), []string{"button Save"}},
		"index too large": {"selector", webBlock("cssSelector", "button", "nthIndex", 7), nil},
		"test id":         {"selector", webBlock("dataTestId", "s2"), []string{"button Save"}},
		"secret":          {"ref", "css=input", []string{"input "}},
		"text":            {"ref", "Saved", []string{"div Saved"}},
		"both count":      {"selector", webBlock("cssSelector", "button", "dataTestId", "s2"), []string{"button Save"}},
		"relation":        {"selector", map[string]any{"web": m{"cssSelector": "div"}, "containsChild": webBlock("cssSelector", "b")}, []string{"div Saved"}},
		"none":            {"selector", webBlock("ariaRole", "link"), nil},
	} {
		if diff := cmp.Diff(c.want, texts(u.found(c.key, c.value))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := u.mustCall("findMatches", "ref", "css=.none"); got != "[]" {
		t.Error(got)
	}
	u.mustEval(`setTimeout(() => document.body.append(Object.assign(document.createElement("i"), {textContent: "late"})), 100); 1`)
	if list := u.found("ref", "css=i", "timeoutMs", testLimit.Milliseconds()); len(list) != 1 || list[0].Text != "late" {
		t.Errorf("what comes later: %+v", list)
	}
	for want, args := range map[string][]any{
		"no argument says which element":           nil,
		"selector and ref cannot":                  {"ref", "Save", "selector", webBlock("ariaRole", "button")},
		"e1 is one element of a snapshot":          {"ref", "e1"},
		`selector.web.ariaRole: "buton" is not an`: {"selector", webBlock("ariaRole", "buton")},
		`"a:hoverr" is not a CSS selector`:         {"selector", webBlock("cssSelector", "a:hoverr")},
	} {
		if failed := u.mustFail("findMatches", args, want); failed.Kind != fault.InvalidArguments {
			t.Errorf("%v: %+v", args, failed)
		}
	}
}

// TestMatchesAreLimited finds more elements than are returned, in two frames: as many in each as are returned, and one.
func TestMatchesAreLimited(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	rows := fmt.Sprintf("<script>for (let i = 0; i <= %d; i++) document.body.append(Object.assign(document.createElement('hr'), {id: 'r' + i}))</script>", maxMatches)
	u.show(`<body>` + rows + `<iframe srcdoc="<body>` + rows + `"></iframe>`)
	u.mustEval(fmt.Sprintf(`new Promise((done) => {
		const check = () => frames[0].document.querySelectorAll("hr").length > %d ? done(1) : setTimeout(check, 10);
		check();
	})`, maxMatches))
	want := fmt.Sprintf("only the first %d of %d elements are returned", maxMatches, 2*(maxMatches+1))
	for _, selector := range []map[string]any{webBlock("cssSelector", "hr"), webBlock("ariaRole", "separator")} {
		result, err := u.call("findMatches", "selector", selector)
		var list []match
		if err == nil {
			err = json.Unmarshal([]byte(result.Text), &list)
		}
		if err != nil || len(list) != maxMatches || !slices.Equal(result.Notes, []string{want}) || list[maxMatches-1].ID != "r999" {
			t.Errorf("%v: %d elements, %q, %v", selector, len(list), result.Notes, err)
		}
	}
	for index, want := range map[int]string{maxMatches: "r1000", maxMatches + 2: "r1"} {
		if list := u.found("selector", webBlock("cssSelector", "hr", "nthIndex", index)); len(list) != 1 || list[0].ID != want {
			t.Errorf("index %d: %+v", index, list)
		}
	}
}

func TestTextOfAMatchIsNotCutWithinASecret(t *testing.T) {
	t.Parallel()
	u := openSessionIn(t, sharedBrowser.get(t), device.Session{Redact: strings.NewReplacer("98761234", "{{PIN}}").Replace})
	u.mustCall("navigate", "url", "about:blank")
	before := strings.Repeat("x", maxMatchText-4)
	long := before + "98761234 and more"
	u.show(fmt.Sprintf(`<p id="%s" class="%s" title="%s">%s</p><form id=f><input name=id></form>`, long, long, long, long))
	list := u.found("ref", "css=p")
	if len(list) != 1 || list[0].ID != before || list[0].Class != before || list[0].Label != before || list[0].Text != before {
		t.Errorf("%+v", list)
	}
	if list := u.found("ref", "css=form"); len(list) != 1 || list[0].ID != "f" {
		t.Errorf("a form with a field that is named id: %+v", list)
	}
}

// TestMatchesAreThoseOfPlaywright compares the number of matches and their bounds with what Playwright says, also in frames
// of other processes.
func TestMatchesAreThoseOfPlaywright(t *testing.T) {
	t.Parallel()
	base := geometryServer(t)
	names := slices.Sorted(maps.Keys(geometryPages))
	urls := make([]string, len(names))
	for i, name := range names {
		urls[i] = base + "/" + name
	}
	want := playwrightBoxes(t, "1", urls)
	u := openSessionIn(t, newTestBackend(t, map[string]string{"viewport": "800x600"}), device.Session{})
	for i, name := range names {
		u.mustCall("navigate", "url", urls[i])
		found := u.found("selector", webBlock("cssSelector", "[data-box]"), "timeoutMs", testLimit.Milliseconds())
		if len(found) != len(want[i]) || len(found) == 0 {
			t.Errorf("%s: %d elements, Playwright finds %d", name, len(found), len(want[i]))
		}
		for which, box := range want[i] {
			near := slices.ContainsFunc(found, func(m match) bool { return m.Bounds != nil && isNear(*m.Bounds, *box) })
			if !near {
				t.Errorf("%s: %s is at %+v, Playwright says %+v", name, which, found, box)
			}
		}
	}
}
