package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// elementCase is a call on testdata/web/elements.html. It succeeds with a text that contains says, unless fails.
type elementCase struct {
	tool  string
	args  map[string]any
	says  string
	fails bool
	log   string // what the page noted of the call, separated by commas
}

// web returns the argument nodeSelector with one block.
func webBlock(pairs ...any) map[string]any {
	block := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		block[pairs[i].(string)] = pairs[i+1]
	}
	return map[string]any{"web": block}
}

// runElementCases makes calls one after another in one page.
func runElementCases(t *testing.T, u *testSession, cases []elementCase) {
	t.Helper()
	for _, c := range cases {
		var args []any
		for name, value := range c.args {
			args = append(args, name, value)
		}
		u.mustEval("log.length = 0")
		if c.fails {
			u.mustFail(c.tool, args, c.says)
		} else if got := u.mustCall(c.tool, args...); !strings.Contains(got, c.says) {
			t.Errorf("%s %v: %q, want %q", c.tool, c.args, got, c.says)
		}
		if c.log == "" {
			continue
		}
		want, _ := json.Marshal(c.log)
		const logged = `async () => {
			for (let i = 0; i < 300 && log.join(", ") !== WANT; i++) await new Promise((done) => setTimeout(done, 10));
			return log.join(", ");
		}`
		if got := u.mustEval(strings.ReplaceAll(logged, "WANT", string(want))); got != c.log {
			t.Errorf("%s %v: the page noted %q, want %q", c.tool, c.args, got, c.log)
		}
	}
}

type m = map[string]any

func TestWhichOfSeveralIsSaid(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/elements.html")
	runElementCases(t, u, []elementCase{
		{"web_click", m{"ref": "Save"}, `"Save" (first of 2)`, false, "save 1"},
		{"web_click", m{"ref": "Save", "strict": true}, `"Save" matches 2 elements, but must match one: button "Save", button "Save"`, true, ""},
		{"web_click", m{"ref": "css=.save", "strict": true}, `.save matches 2 elements, but must match one: button.save "Save", button.save "Save"`, true, ""},
		{"web_click", m{"nodeSelector": webBlock("cssSelector", ".save", "nthIndex", 1), "strict": true}, "clicked", false, "save 2"},
		{"web_click", m{"ref": "Delete"}, `a "Delete all" (only part of its text is "Delete")`, false, "delete all"},
		{"web_verifyElementVisible", m{"ref": "Total 12"}, `(only part of its text is "Total 12")`, false, ""},
		{"web_verifyElementVisible", m{"ref": "total 120.50"}, `p "Total 120.50" is visible`, false, ""},
		{"web_verifyElementVisible", m{"ref": "css=li", "strict": true}, "li matches 4 elements", true, ""},
		{"web_verifyValue", m{"ref": "css=li", "expected": "Bread", "strict": true}, "li matches 4 elements", true, ""},
		{"web_verifyValue", m{"ref": "css=li", "expected": "Bread"}, `li "Bread" (first of 4) has "Bread"`, false, ""},
		{"assertVisible", m{"text": "Save"}, "(first of 2)", false, ""},

		{"web_verifyTextVisible", m{"text": "Total 12"}, `"Total 12" is visible, as a part of "Total 120.50"`, false, ""},
		{"web_verifyTextVisible", m{"text": "Total 12", "exact": true}, `"Total 12" is only a part of the text of p "Total 120.50"`, true, ""},
		{"web_verifyTextVisible", m{"text": " Total  120.50 ", "exact": true}, "is visible", false, ""},
		{"web_verifyTextVisible", m{"text": "total 120.50", "exact": true}, "is only a part", true, ""},
		{"web_verifyTextVisible", m{"text": "SHOUTED WORDS", "exact": true}, "is visible", false, ""},
		{"web_verifyTextVisible", m{"text": "Status: paid"}, `is not visible: a part of it is hidden`, true, ""},
		{"web_verifyTextVisible", m{"text": "Status: open", "exact": true}, `was not found`, true, ""},
		{"web_verifyTextVisible", m{"text": "  "}, "every page has that", true, ""},
		{"web_verifyListVisible", m{"ref": "css=#items", "items": []any{"milk", "bread"}}, "shows 2 items", false, ""},
		{"web_verifyListVisible", m{"ref": "css=#items", "items": []any{"Milk", "Bread"}, "ordered": true}, `it shows "Bread", but not after "Milk"`, true, ""},
		{"web_verifyListVisible", m{"ref": "css=#items", "items": []any{"Bread", "Butter", "jam", "Milk"}, "ordered": true}, "shows 4 items", false, ""},
		{"web_verifyListVisible", m{"ref": "css=#items", "items": []any{"Bread", "Bread"}, "ordered": true}, `not after "Bread"`, true, ""},
		{"web_verifyListVisible", m{"ref": "css=#items", "items": []any{"Bread", "Butter"}, "exact": true}, `it does not show "Butter" as the whole text of an element`, true, ""},
		{"web_verifyListVisible", m{"ref": "css=#items", "items": []any{"Bread", "Butter and jam"}, "exact": true}, "shows 2 items", false, ""},
		{"web_verifyListVisible", m{"ref": "css=#items", "items": []any{"Bread", " "}}, "an item is empty", true, ""},
	})
}

func TestStrictProject(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/elements.html")
	d := u.device.(*webDevice)
	strict := &backend{options: d.backend.options, commands: d.backend.commands, script: d.backend.script}
	strict.options.strict = true
	d.backend = strict
	runElementCases(t, u, []elementCase{
		{"tap", m{"text": "Save"}, "matches 2 elements", true, ""},
		{"click", m{"selector": ".save"}, "matches 2 elements", true, ""},
		{"waitForSelector", m{"selector": "li"}, "matches 4 elements", true, ""},
		{"isVisible", m{"text": "Save"}, "true", false, ""},
		{"getElementCount", m{"text": "Save"}, "2", false, ""},
		{"web_click", m{"ref": "Save", "strict": false}, "(first of 2)", false, "save 1"},
	})
}

func TestAssertions(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	at := serve(t, nil) + "/elements.html"
	u.mustCall("web_navigate", "url", at)
	state := func(ref, state string) m { return m{"ref": "css=#" + ref, "state": state} }
	runElementCases(t, u, []elementCase{
		{"web_verifyTextNotVisible", m{"text": "Salt"}, `"Salt" is not visible`, false, ""},
		{"web_verifyTextNotVisible", m{"text": "bread"}, `text "bread" is not hidden: li "Bread" shows it`, true, ""},
		{"web_verifyTextNotVisible", m{"text": "Total 12", "exact": true}, "is not visible", false, ""},
		{"web_verifyTextNotVisible", m{"text": "Total 12"}, `p "Total 120.50" shows it`, true, ""},
		{"web_verifyTextNotVisible", m{"text": " "}, "every page has that", true, ""},
		{"web_verifyElementNotVisible", m{"ref": "css=li[hidden]"}, "li[hidden] is not visible", false, ""},
		{"web_verifyElementNotVisible", m{"ref": "css=.nothing"}, ".nothing is not visible", false, ""},
		{"web_verifyElementNotVisible", m{"ref": "css=li"}, `li is not hidden: li "Bread" is visible`, true, ""},
		{"web_verifyElementNotVisible", m{"ref": "css=#items > :nth-last-child(-n+2)"}, `li "Milk" is visible`, true, ""},
		{"web_verifyElementNotVisible", m{"ref": `button "Save"`}, `button "Save" is not hidden`, true, ""},
		{"web_verifyElementNotVisible", m{"ref": `button "Gone"`}, "is not visible", false, ""},
		{"web_verifyElementNotVisible", m{"ref": "Delete"}, `"Delete all" is visible`, true, ""},
		{"web_verifyElementNotVisible", m{"nodeSelector": webBlock("cssSelector", "li", "nthIndex", 3)}, "is not visible", false, ""},
		{"web_verifyElementNotVisible", m{"nodeSelector": webBlock("cssSelector", "li", "nthIndex", 9)}, "is not visible", false, ""},
		{"web_verifyElementNotVisible", m{"nodeSelector": webBlock("cssSelector", "li", "nthIndex", 2)}, `li "Milk" is visible`, true, ""},
		{"web_verifyElementNotVisible", m{"ref": "e3"}, "e3 is a position", true, ""},
		{"web_verifyElementNotVisible", m{"nodeSelector": m{"androidAccessibility": m{"textRegex": "x"}}}, "no argument says which element", true, ""},

		{"web_verifyCount", m{"ref": "css=li", "count": 4}, "li matches 4 elements", false, ""},
		{"web_verifyCount", m{"ref": "css=li", "min": 1, "max": 3}, `li matches 4 elements, not 1 to 3: li "Bread", li "Butter and jam", li "Milk"`, true, ""},
		{"web_verifyCount", m{"ref": "css=li", "min": 5}, "not at least 5", true, ""},
		{"web_verifyCount", m{"ref": "css=.nothing", "count": 0}, "matches 0 elements", false, ""},
		{"web_verifyCount", m{"ref": `button "Save"`, "count": 2}, "matches 2 elements", false, ""},
		{"web_verifyCount", m{"ref": "Save", "max": 2}, "matches 2 elements", false, ""},
		{"web_verifyCount", m{"ref": "css=li", "min": 3, "max": 2}, "min is 3 and max is 2", true, ""},
		{"web_verifyCount", m{"ref": "css=li", "min": 0}, "every number of elements is right", true, ""},
		{"web_verifyCount", m{"ref": "css=li"}, "no argument says how many", true, ""},
		{"web_verifyCount", m{"ref": "css=li", "count": 1, "max": 2}, "count cannot be given together", true, ""},
		{"web_verifyCount", m{"nodeSelector": webBlock("cssSelector", "li", "nthIndex", 1), "count": 1}, "nthIndex chooses one element", true, ""},

		{"web_verifyState", state("agree", "unchecked"), "input#agree is unchecked", false, ""},
		{"web_verifyState", state("agree", "checked"), "#agree is not checked: it is unchecked", true, ""},
		{"web_verifyState", state("mixed", "checked"), "it is mixed", true, ""},
		{"web_verifyState", state("mixed", "unchecked"), "it is mixed", true, ""},
		{"web_verifyState", m{"ref": "Agree", "state": "UNCHECKED"}, "is unchecked", false, ""},
		{"web_verifyState", state("drop", "checked"), "it cannot be checked", true, ""},
		{"web_verifyState", state("bell", "unchecked"), "is unchecked", false, ""},
		{"web_verifyState", state("off", "disabled"), "is disabled", false, ""},
		{"web_verifyState", state("off", "enabled"), "it is disabled", true, ""},
		{"web_verifyState", state("name", "disabled"), "it is enabled", true, ""},
		{"web_verifyState", state("name", "editable"), "is editable", false, ""},
		{"web_verifyState", state("fixed", "editable"), "it is read-only", true, ""},
		{"web_verifyState", state("fixed", "readonly"), "is readonly", false, ""},
		{"web_verifyState", state("drop", "readonly"), "it is not a field", true, ""},
		{"web_verifyState", state("name", "focused"), "nothing has the focus", true, ""},
		{"web_type", m{"ref": "css=#name", "text": "Bob"}, "filled", false, ""},
		{"web_verifyState", state("name", "focused"), "is focused", false, ""},
		{"web_verifyState", state("fixed", "focused"), "the focus is on input#name", true, ""},
		{"web_verifyState", m{"ref": "css=#pick option", "state": "selected"}, "it is not selected", true, ""},
		{"web_verifyState", m{"ref": "css=#pick option + option", "state": "selected"}, "is selected", false, ""},
		{"web_verifyState", state("more", "collapsed"), "is collapsed", false, ""},
		{"web_verifyState", m{"ref": "css=summary", "state": "expanded"}, "it is collapsed", true, ""},
		{"web_verifyState", state("menu", "collapsed"), "is collapsed", false, ""},
		{"web_verifyState", state("name", "empty"), `it has "Bob"`, true, ""},
		{"web_verifyState", state("secret", "empty"), "it has a text", true, ""},
		{"web_verifyState", state("blank", "empty"), "is empty", false, ""},
		{"web_verifyState", state("name", "green"), `"green" is not one of`, true, ""},

		{"web_verifyUrl", m{"pattern": `elements\.html$`}, "the URL is", false, ""},
		{"web_verifyUrl", m{"pattern": "cart"}, `/elements.html", in which "cart" is not found`, true, ""},
		{"web_verifyUrl", m{"pattern": "("}, "pattern", true, ""},
		{"web_verifyTitle", m{"pattern": "^Elem"}, `the title is "Elements"`, false, ""},
		{"web_verifyTitle", m{"pattern": "Cart"}, `the title is "Elements", in which "Cart" is not found`, true, ""},

		{"web_verifyAriaSnapshot", m{"snapshot": "- list:\n  - listitem: Bread\n  - listitem: /M.lk/\n"}, "matches", false, ""},
		{"web_verifyAriaSnapshot", m{"snapshot": "- list:\n  - listitem: Bred\n"}, `- listitem: Bred (found: listitem: Bread`, true, ""},
		{"web_verifyAriaSnapshot", m{"snapshot": "- list:\n  - listitem: Milk\n  - listitem: Bread\n"}, "not in this order and nesting", true, ""},
		{"web_verifyAriaSnapshot", m{"snapshot": "- buton \"Save\""}, "does not begin with an ARIA role", true, ""},
		{"web_verifyAriaSnapshot", m{"snapshot": "[]"}, "names no element", true, ""},
	})
}

// An invalid call fails before anything is waited for, and before the page is asked.
func TestInvalidCallsFailAtOnce(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	for _, c := range []elementCase{
		{"web_click", m{"ref": "xpath=//button"}, "syntax of another tool", true, ""},
		{"web_click", m{"ref": "//button"}, "syntax of another tool", true, ""},
		{"web_click", m{"ref": "text=Save"}, "syntax of another tool", true, ""},
		{"web_click", m{"ref": "div >> text=Save"}, "syntax of another tool", true, ""},
		{"web_click", m{"ref": "page.getByRole('button')"}, "syntax of another tool", true, ""},
		{"web_click", m{"nodeSelector": webBlock("cssSelector", "xpath=//b")}, "syntax of another tool", true, ""},
		{"web_click", m{"nodeSelector": webBlock("cssSelector", "div >> span")}, "syntax of another tool", true, ""},
		{"web_click", m{"nodeSelector": webBlock("ariaRole", "buton")}, "is not an ARIA role", true, ""},
		{"web_click", m{"nodeSelector": webBlock("ariaNameRegex", "(")}, "ariaNameRegex", true, ""},
		{"web_click", m{"nodeSelector": m{"childOf": webBlock("ariaNameRegex", "(")}}, "childOf.web.ariaNameRegex", true, ""},
		{"web_click", m{"nodeSelector": m{"childOf": m{"iosAxe": m{"labelRegex": "x"}}}}, "nodeSelector.iosAxe matches nothing", true, ""},
		{"web_click", m{"ref": "x", "modifiers": []any{"Enter"}}, "not a modifier key", true, ""},
		{"web_uploadFile", m{"files": "nowhere.txt"}, "could be a file", true, ""},
		{"web_dragTo", m{"from": m{"ref": "xpath=a"}, "to": m{"ref": "b"}}, "from: ref", true, ""},
	} {
		var args []any
		for name, value := range c.args {
			args = append(args, name, value)
		}
		result, err := u.call(c.tool, args...) // with the long limits
		if err != nil || result.OK || !strings.Contains(result.Text, c.says) {
			t.Errorf("%s %v: %q %v", c.tool, c.args, result.Text, err)
		}
	}
}

func TestRelationsOnPage(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/elements.html")
	pay := func(relations m) m {
		selector := webBlock("ariaRole", "button", "ariaNameRegex", "Pay")
		maps.Copy(selector, relations)
		return m{"nodeSelector": selector}
	}
	order := func(id string) m { return webBlock("ariaNameRegex", id) }
	row := func(id string) m {
		selector := webBlock("cssSelector", ".row")
		selector["containsDescendants"] = []any{order(id)}
		return selector
	}
	runElementCases(t, u, []elementCase{
		{"web_click", pay(m{"childOf": row("ORD-1150")}), "clicked", false, "pay 1150"},
		{"web_click", pay(m{"childOf": row("ORD-1149")}), "clicked", false, "pay 1149"},
		{"web_click", pay(m{"below": order("13.00")}), "clicked", false, "pay 1150"},
		{"web_click", pay(m{"below": webBlock("cssSelector", ".row em")}), "clicked", false, "pay 1150"},
		{"web_click", pay(m{"rightOf": order("ORD-1149"), "index": 0}), "clicked", false, "pay 1149"},
		{"web_click", pay(m{"above": webBlock("ariaRole", "table"), "index": 1}), "clicked", false, "pay 1150"},
		{"web_click", pay(m{"above": webBlock("ariaRole", "table"), "strict": true, "index": 5}), "unknown key", true, ""},
		{"web_verifyCount", pay(m{"above": webBlock("ariaRole", "table")}), "", true, ""},
		{"web_click", m{"nodeSelector": m{
			"web": m{"ariaRole": "button"}, "childOf": m{"web": m{"ariaRole": "row"}, "containsChild": webBlock("ariaRole", "cell", "ariaNameRegex", "ORD-2")},
		}}, "clicked", false, "open 2"},
		{"web_click", m{"nodeSelector": m{"web": m{"cssSelector": "button"}, "childOf": webBlock("ariaRole", "row", "ariaNameRegex", "ORD-2 .*")}}, "clicked", false, "open 2"},
		{"web_verifyElementNotVisible", pay(m{"childOf": row("ORD-1151")}), "is not visible", false, ""},
		{"web_verifyElementNotVisible", pay(m{"childOf": row("ORD-1150")}), "is visible", true, ""},
		{"web_verifyElementVisible", pay(m{"childOf": row("ORD-1151")}), "was not found", true, ""},
	})
	args := pay(m{"childOf": webBlock("cssSelector", ".row")})
	if got := u.mustCall("web_verifyCount", "count", 2, "nodeSelector", args["nodeSelector"]); !strings.Contains(got, "matches 2 elements") {
		t.Error(got)
	}
}

func TestActionsOnElements(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"a.txt", "b.txt"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("in "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "c.txt")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := sharedBrowser.get(t)
	u := openSessionIn(t, b, device.Session{Root: folder})
	u.mustCall("web_navigate", "url", serve(t, nil)+"/elements.html")
	clicks := func(more m) m {
		more["ref"] = "css=#clicks"
		return more
	}
	checked := func(id string, on bool) m { return m{"ref": "css=#" + id, "checked": on} }
	runElementCases(t, u, []elementCase{
		{"web_click", clicks(m{"position": m{"x": 3, "y": 4}}), "clicked button#clicks", false, "click 0 1 3 4"},
		{"web_click", clicks(m{"position": m{"x": 300, "y": 4}}), "the position 300, 4 is outside of it: it has 200 × 50 pixels", true, ""},
		{"web_click", clicks(m{"button": "right", "position": m{"x": 3, "y": 4}}), "clicked", false, "contextmenu 2 0 3 4, auxclick 2 1 3 4"},
		{"web_click", clicks(m{"button": "MIDDLE", "position": m{"x": 3, "y": 4}}), "clicked", false, "auxclick 1 1 3 4"},
		{"web_click", clicks(m{"count": 2, "position": m{"x": 3, "y": 4}}), "double-clicked", false, "click 0 1 3 4, click 0 2 3 4, dblclick 0 2"},
		{"web_click", clicks(m{"modifiers": []any{"Alt", "shift"}, "position": m{"x": 3, "y": 4}}), "clicked", false, "click 0 1 alt shift 3 4"},
		{"web_click", clicks(m{"modifiers": "Control", "position": m{"x": 3, "y": 4}}), "clicked", false, "click 0 1 control 3 4"},

		{"web_setChecked", checked("agree", true), "is now checked", false, ""},
		{"web_setChecked", checked("agree", true), "is checked already", false, ""},
		{"web_setChecked", checked("agree", false), "is now unchecked", false, ""},
		{"web_setChecked", checked("mixed", false), "is unchecked already", false, ""},
		{"web_setChecked", checked("mixed", true), "is now checked", false, ""},
		{"web_setChecked", checked("large", true), "is now checked", false, ""},
		{"web_setChecked", checked("large", false), "unchecked only by checking another one", true, ""},
		{"web_setChecked", m{"ref": "Small"}, "is now checked", false, ""},
		{"web_verifyState", m{"ref": "css=#large", "state": "unchecked"}, "is unchecked", false, ""},
		{"web_click", m{"ref": "css=#large"}, "clicked input#large", false, ""},
		{"web_verifyState", m{"ref": "css=#large", "state": "checked"}, "is checked", false, ""},
		{"web_setChecked", checked("bell", true), "is now checked", false, ""},
		{"web_setChecked", checked("drop", true), "it is not a check box", true, ""},

		{"web_uploadFile", m{"ref": "css=#photo", "files": "a.txt"}, "input#photo", false, "photo a.txt in a.txt"},
		{"web_uploadFile", m{"ref": "Photos", "files": []any{"a.txt", "b.txt"}}, "has 2 files", false, "photos a.txt in a.txt, photos b.txt in b.txt"},
		{"web_uploadFile", m{"ref": "css=#photo", "files": []any{"a.txt", "b.txt"}}, "it takes one file, not 2", true, ""},
		{"web_uploadFile", m{"ref": "css=#drop", "files": "a.txt"}, "it is not a file field", true, ""},
		{"web_uploadFile", m{"ref": "Attach", "files": "a.txt"}, `button#attach "Attach": it is not a file field; click it, then call web_uploadFile without an element`, true, ""},
		{"web_uploadFile", m{"ref": "css=#photo", "files": outside}, "it is not below", true, ""},
		{"web_uploadFile", m{"ref": "css=#photo", "files": "../c.txt"}, "does not exist", true, ""},
		{"web_uploadFile", m{"ref": "css=#photo", "files": "."}, "is not a file", true, ""},
		{"web_uploadFile", m{"files": "a.txt"}, "no file chooser was opened (within 400ms", true, ""},
		{"web_click", m{"ref": "Attach"}, "which opened a file chooser", false, ""},
		{"web_uploadFile", m{"files": []any{"b.txt"}}, "the file chooser was answered with 1 file", false, "photos b.txt in b.txt"},

		{"web_dragTo", m{"from": m{"ref": "css=#card"}, "to": m{"ref": "css=#drop"}}, "dragged div#card", false, "dropped card"},
		{"web_dragTo", m{"from": m{"ref": "css=#knob"}, "to": m{"ref": "css=#far", "position": m{"x": 5, "y": 5}}}, "to div#far", false, "knob true"},
		{"web_dragTo", m{"from": m{"ref": "css=#card"}, "to": m{"ref": "css=#nowhere"}}, "#nowhere was not found", true, ""},
	})
	d := u.device.(*webDevice)
	d.limits.response = failTime
	u.mustFail("web_setChecked", []any{"ref", "css=#stuck"}, `was clicked and is still unchecked`)
}

// A page may render a check box anew because of a click.
func TestCheckBoxThatIsReplaced(t *testing.T) {
	t.Parallel()
	const list = `<script>
		const show = (boxes) => { list.innerHTML = boxes.map((is) => ` + "`<label><input type=checkbox ${is}>Agree</label>`" + `).join("") }
	</script><div id=list onchange="show(next())"></div><script>const next = () => NEXT; show(FIRST)</script>`
	for name, tt := range map[string]struct{ first, next, refused string }{
		"checked":                 {`[""]`, `["checked"]`, ""},
		"checked later":           {`[""]`, `(setTimeout(show, 50, ["checked"]), [""])`, ""},
		"refused":                 {`[""]`, `[""]`, `input was clicked, and the page replaced it by one of which it is unchecked`},
		"done":                    {`[""]`, `[]`, ""},
		"done, before other ones": {`["", ""]`, `[""]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openSession(t)
			u.device.(*webDevice).limits.response = 300 * time.Millisecond
			page := htmlPage(strings.NewReplacer("NEXT", tt.next, "FIRST", tt.first).Replace(list))
			u.mustCall("web_navigate", "url", serve(t, map[string]http.HandlerFunc{"/box": page})+"/box")
			if args := []any{"ref", "css=input", "strict", false}; tt.refused != "" {
				u.mustFail("web_setChecked", args, tt.refused)
			} else if got := u.mustCall("web_setChecked", args...); !strings.Contains(got, "is now checked") {
				t.Error(got)
			}
		})
	}
}

func TestChecksStartsAndRestricted(t *testing.T) {
	t.Parallel()
	k := Kind()
	for _, c := range k.Commands() {
		if strings.HasPrefix(c.Name, "web_verify") && !slices.Contains(k.Checks, c.Name) {
			t.Errorf("%s is not one of Checks", c.Name)
		}
	}
	for _, name := range []string{"web_uploadFile", "web_getStorageState"} {
		if !slices.Contains(k.Restricted, name) {
			t.Errorf("agents may call %s", name)
		}
	}
}

// Frames are listed by a session that is not live, too, with references that work.
func TestSnapshotListsFrames(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, map[string]http.HandlerFunc{
		"/outer": htmlPage(`<h1>Top</h1><iframe src="/near"></iframe><button>After</button>`),
		"/near":  htmlPage(`<h2>Near</h2><button onclick="this.textContent = 'near clicked'">near</button>`),
	})+"/outer")
	u.waitForFrames("/outer", "/near")
	var got string
	waitFor(t, "the content of the frame", func() bool {
		got = u.mustCall("web_snapshot")
		return strings.Contains(got, `button "near"`)
	})
	want := `- heading "Top" [ref=e1] [level=1]
- iframe
  - heading "Near" [ref=f1e1] [level=2]
  - button "near" [ref=f1e2]
- button "After" [ref=e2]`
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s", got)
	}
	if got := u.mustCall("web_click", "ref", "f1e2"); got != `clicked button "near"` {
		t.Error(got)
	}
	u.mustCall("web_verifyTextVisible", "text", "near clicked")
	u.mustFail("web_click", []any{"ref", "f1e9"}, "f1e9 does not exist")
	u.mustFail("web_click", []any{"ref", "f7e1"}, "f7e1 does not exist")
}

func TestTimeLimits(t *testing.T) {
	t.Parallel()
	l, err := readLimits(map[string]string{"actionTimeout": "40s", "assertionTimeout": "1m"})
	if err != nil || l.action != 40*time.Second || l.assertion != time.Minute || l.call < time.Minute {
		t.Errorf("%+v %v", l, err)
	}
	for _, wrong := range []string{"10", "-1s", "0s", "1h"} {
		if _, err := readLimits(map[string]string{"actionTimeout": wrong}); fault.KindOf(err) != fault.Misuse {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/elements.html")
	for _, c := range []elementCase{
		{"web_click", m{"ref": "css=#nowhere", "timeoutMs": 120}, "", true, ""},
		{"web_type", m{"ref": "css=#nowhere", "text": "x", "timeoutMs": 120}, "", true, ""},
		{"web_verifyTextVisible", m{"text": "nowhere", "timeoutMs": 120}, "", true, ""},
		{"web_verifyTextNotVisible", m{"text": "Bread", "timeoutMs": 120}, "", true, ""},
		{"web_verifyCount", m{"ref": "css=li", "count": 9, "timeoutMs": 120}, "", true, ""},
		{"web_verifyTitle", m{"pattern": "nowhere", "timeoutMs": 120}, "", true, ""},
		{"web_uploadFile", m{"files": []any{"testdata"}, "timeoutMs": 120}, "", true, ""},
	} {
		result, err := u.call(c.tool, slices.Collect(func(yield func(any) bool) {
			for name, value := range c.args {
				_ = yield(name) && yield(value)
			}
		})...)
		if err != nil || result.OK || c.tool != "web_uploadFile" && !strings.Contains(result.Text, "within 120ms") {
			t.Errorf("%s: %q %v", c.tool, result.Text, err)
		}
	}
	u.device.(*webDevice).limits.assertion = 100 * time.Millisecond
	u.mustEval(`setTimeout(() => document.body.append("Late"), 600); 1`)
	args := map[string]any{"text": "Late"}
	result, err := u.device.Call(t.Context(), tool.Call{Tool: "web_verifyTextVisible", Args: args, Timeout: testLimit})
	if err != nil || !result.OK { // the limit of the recorded call extends that of the assertion
		t.Errorf("%q %v", result.Text, err)
	}
}

// In a live session an assertion that something is gone is recorded with a selector, and a drag with two.
func TestLiveReferencesOfNewCommands(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	u.mustCall("web_navigate", "url", serve(t, nil)+"/elements.html")
	var result tool.Result
	var err error
	for delay := 200; result.Located == nil && delay < 10_000; delay *= 2 { // on a busy machine, it may be gone too early
		u.mustEval(`globalThis.button ??= document.getElementById("menu"); document.body.append(button); 1`)
		ref := u.refOf(`button "Menu"`)
		u.mustEval("setTimeout(() => button.remove(), " + strconv.Itoa(delay) + "); 1")
		if result, err = u.call("web_verifyElementNotVisible", "ref", ref); err != nil {
			break
		}
	}
	if err != nil || !result.OK || result.Located == nil || result.Located.Args["nodeSelector"] == nil {
		t.Errorf("%+v %v", result, err)
	}
	u.mustEval(`for (const id of ["card", "drop"]) { document.getElementById(id).role = "button"; } 1`)
	card, drop := u.refOf(`button "Card"`), u.refOf(`button "Drop here"`)
	result, err = u.call("web_dragTo", "from", m{"ref": card}, "to", m{"ref": drop, "position": m{"x": 5, "y": 5}})
	if err != nil || !result.OK || result.Located == nil {
		t.Fatalf("%+v %v", result, err)
	}
	want := map[string]any{
		"from": map[string]any{"nodeSelector": webBlock("ariaRole", "button", "ariaNameRegex", "Card")},
		"to": map[string]any{
			"nodeSelector": webBlock("ariaRole", "button", "ariaNameRegex", "Drop here"), "position": m{"x": 5, "y": 5},
		},
	}
	if diff := cmp.Diff(want, result.Located.Args); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The check of a trail's file finds what the schema cannot say.
func TestArgumentsAreCheckedWithoutPage(t *testing.T) {
	t.Parallel()
	for _, c := range []elementCase{
		{"web_click", m{"ref": "xpath=//a"}, "syntax of another tool", true, ""},
		{"web_click", m{}, "no argument says which element is meant", true, ""},
		{"web_click", m{"nodeSelector": m{"childOf": webBlock("ariaRole", "lst")}}, "is not an ARIA role", true, ""},
		{"web_verifyCount", m{"ref": "css=a", "min": 3, "max": 1}, "min is 3 and max is 1", true, ""},
		{"web_verifyAriaSnapshot", m{"snapshot": "- lst"}, "ARIA role", true, ""},
		{"web_verifyUrl", m{"pattern": "("}, "pattern", true, ""},
		{"tap", m{"index": 1}, "no argument says which element is meant", true, ""},
		{"hasText", m{"text": " "}, "every page has that", true, ""},
		{"click", m{"selector": "xpath=//a"}, "syntax of another tool", true, ""},
		{"web_pressKey", m{"key": "Entr"}, "unknown key", true, ""},
		{"web_dragTo", m{"from": m{"ref": "a"}, "to": m{"ref": "//a"}}, "to: ref", true, ""},
		{"web_click", m{"ref": "Save", "modifiers": []any{"Shft"}}, "modifiers.0 must be one of", true, ""},
		{"web_verifyState", m{"ref": "Save", "state": "chekced"}, "state must be one of", true, ""},
		{"web_uploadFile", m{"files": []any{}}, "files must not be empty", true, ""},
	} {
		i := slices.IndexFunc(Kind().Commands(), func(a tool.Advertised) bool { return a.Name == c.tool })
		a := Kind().Commands()[i]
		problems := (&discover.Tool{Name: a.Name, InputSchema: a.InputSchema, Check: a.Check}).CheckArgs(c.args, nil)
		if len(problems) == 0 || !strings.Contains(problems[0].Message, c.says) {
			t.Errorf("%s %v: %v", c.tool, c.args, problems)
		}
	}
}

// What a frame that does not respond shows is not known, so it does not count as absent.
func TestSilentFrameIsNotAbsent(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	far := ""
	url := serve(t, map[string]http.HandlerFunc{
		"/outer": func(w http.ResponseWriter, r *http.Request) {
			htmlPage(`<h1>Top</h1><iframe src="`+far+`/far"></iframe>`)(w, r)
		},
		"/far": htmlPage(`<p>Shown</p><script>
			addEventListener("message", (e) => { for (const end = Date.now() + e.data; Date.now() < end;); })
		</script>`),
	})
	far = otherSite(url)
	u.mustCall("web_navigate", "url", url+"/outer")
	u.waitForFrames("/outer", "/far")
	u.mustCall("web_verifyTextVisible", "text", "Shown")
	u.mustFail("web_verifyTextNotVisible", []any{"text", "Shown"}, "Shown")
	d := u.device.(*webDevice)
	d.limits.response = 100 * time.Millisecond
	for _, c := range []elementCase{
		{tool: "web_verifyTextNotVisible", args: m{"text": "Shown"}},
		{tool: "web_verifyElementNotVisible", args: m{"ref": "css=p"}},
		{tool: "web_verifyCount", args: m{"ref": "css=p", "count": 0}},
	} {
		u.mustEval(`frames[0].postMessage(3000, "*"); 1`)
		var args []any
		for name, value := range c.args {
			args = append(args, name, value)
		}
		d.limits.assertion, d.limits.first = 300*time.Millisecond, 2*time.Second
		result, err := u.call(c.tool, args...)
		if err != nil || result.OK || !strings.Contains(result.Text, "does not respond, so what it shows is not known") {
			t.Errorf("%s: %q %v", c.tool, result.Text, err)
		}
	}
	u.mustEval(`frames[0].postMessage(20000, "*"); 1`)
	d.limits.call = 10 * time.Second
	u.mustCall("web_getStorageState") // without the storage of that frame
}

func TestEqualElementsAreToldApart(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<nav aria-label="Tables"><a href="#1">customers</a></nav><button>Save</button><button>Save</button>
		<table><tr><th><a href="#2">customers</a></th><td>3 rows</td></tr><tr><th>orders</th><td>5 rows</td></tr></table>`)
	u.mustFail("web_click", []any{"ref", `link "customers"`, "strict", true},
		`must match one: link "customers" in navigation "Tables", link "customers" in row "customers 3 rows"`)
	u.mustFail("web_click", []any{"ref", `button "Save"`, "strict", true}, `must match one: button "Save", button "Save"`)
	u.mustFail("web_hover", []any{"ref", `row "orders"`}, `row "orders" was not found; the page has "orders 5 rows"`)
}
