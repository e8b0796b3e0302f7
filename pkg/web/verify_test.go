package web

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsVerifiedMayComeLate(t *testing.T) {
	t.Parallel()
	at := serve(t, nil)
	for name, tt := range map[string]struct {
		tool string
		args []any
		says string
	}{
		"text":          {"web_verifyTextVisible", []any{"text", "WELCOME"}, `"WELCOME" is visible`},
		"element":       {"web_verifyElementVisible", []any{"ref", `button "Go on"`}, `button#go "Go on" is visible`},
		"text of":       {"web_verifyValue", []any{"ref", "css=#status", "expected", "done"}, `p#status "done" has "done"`},
		"value of":      {"web_verifyValue", []any{"ref", "css=#field", "expected", "filled", "type", "value"}, `input#field has "filled"`},
		"attribute of":  {"web_verifyValue", []any{"ref", "css=#field", "expected", "ready", "type", "Attribute", "attribute", "data-state"}, `has "ready"`},
		"list":          {"web_verifyListVisible", []any{"ref", "css=#list", "items", []any{"bread", "Butter"}}, "shows 2 items"},
		"core":          {"assertVisible", []any{"text", "Go on"}, `button#go "Go on" is visible`},
		"core, by id":   {"assertVisible", []any{"id", "heading", "text", "back"}, `h2#heading "Welcome back" is visible`},
		"core, until":   {"waitUntilVisible", []any{"text", "Welcome back", "timeoutMs", 3000}, `h2#heading "Welcome back" is visible`},
		"by a selector": {"waitForSelector", []any{"selector", "#place > h2"}, `h2#heading "Welcome back" is visible`},
		"a query":       {"isVisible", []any{"text", "Go on", "timeoutMs", 3000}, "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openSession(t)
			u.mustCall("web_navigate", "url", at+"/act-late.html")
			if got := u.mustCall(tt.tool, tt.args...); !strings.Contains(got, tt.says) {
				t.Errorf("%q, want %q", got, tt.says)
			}
		})
	}
}

func TestWhatDoesNotHoldIsToldInFull(t *testing.T) {
	t.Parallel()
	at := serve(t, nil) + "/act-form.html"
	where := "page " + at + ` "Form")`
	for _, tt := range []struct {
		tool string
		args map[string]any
		says []string
	}{
		{"web_verifyTextVisible", map[string]any{"text": "helo bold wrld"}, []string{`the page shows no "helo bold wrld"; it shows "Hello bold world"`, where}},
		{"web_verifyTextVisible", map[string]any{"text": "nobody SEES"}, []string{`p#gone "Nobody sees this": it is not visible: display: none`, "after 3"}},
		{"web_verifyElementVisible", map[string]any{"ref": "css=#gone"}, []string{"#gone is not visible: display: none (", "found p#gone", where}},
		{"web_verifyElementVisible", map[string]any{"ref": `button "Twn"`}, []string{`there is no button "Twn"; there is "Twin"`, where}},
		{"web_verifyElementVisible", map[string]any{}, []string{"nothing says which element is meant"}},
		{"web_verifyValue", map[string]any{"ref": "css=#link", "expected": "Link"}, []string{`#link is not as expected: its text is "Link text", not "Link"`, where}},
		{"web_verifyValue", map[string]any{"ref": "css=#name", "expected": "x", "type": "VALUE"}, []string{`its value is "before", not "x"`}},
		{"web_verifyValue", map[string]any{"ref": "css=#list", "expected": "x", "type": "VALUE"}, []string{"it has no value: ul#list"}},
		{"web_verifyValue", map[string]any{"ref": "css=#link", "expected": "x", "type": "ATTRIBUTE", "attribute": "href"}, []string{`its attribute "href" is "act-form.html?x=1", not "x"`}},
		{"web_verifyValue", map[string]any{"ref": "css=#link", "expected": "x", "type": "ATTRIBUTE", "attribute": "rel"}, []string{`it has no attribute "rel", but id, href, title`}},
		{"web_verifyValue", map[string]any{"ref": "css=#link", "expected": "x", "type": "ATTRIBUTE"}, []string{"type ATTRIBUTE needs the name of an attribute"}},
		{"web_verifyValue", map[string]any{"ref": "css=#link", "expected": "x", "type": "COLOUR"}, []string{`type: "COLOUR" is none of TEXT, VALUE, ATTRIBUTE`}},
		{"web_verifyListVisible", map[string]any{"ref": "css=#list", "items": []any{"Bread", "Jam", "Milk"}}, []string{`#list is not as expected: it shows no "Jam", "Milk"`}},
		{"assertVisible", map[string]any{"text": "Nobody sees this"}, []string{`"Nobody sees this" is not visible: display: none`}},
		{"assertVisible", map[string]any{"id": "twn2"}, []string{`there is no element with id "twn2"; there is "twin2"`}},
		{"assertVisible", map[string]any{}, []string{"nothing says which element is meant"}},
		{"waitUntilVisible", map[string]any{"text": "Never", "timeoutMs": 200}, []string{`there is no "Never"`, "in 200ms"}},
		{"waitForSelector", map[string]any{"selector": "#nme"}, []string{`there is no #nme; there is "#name"`}},
		{"waitForSelector", map[string]any{"selector": "p:contains(x)"}, []string{`"p:contains(x)" is no CSS selector`}},
		{"click", map[string]any{"selector": "css=#agre"}, []string{`there is no #agre; there is "#age", "#agree"`}},
		{"fill", map[string]any{"selector": "#agree", "value": "x"}, []string{"it takes no text"}},
		{"tap", map[string]any{"text": "Twin", "index": 5}, []string{`there is no "Twin" number 5, only 2`}},
		{"tap", map[string]any{"index": 5}, []string{"nothing says which element is meant"}},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			t.Parallel()
			u := openSession(t)
			u.mustCall("web_navigate", "url", at)
			result, _ := u.callSoon(tt.tool, tt.args)
			for _, part := range tt.says {
				if result.OK || !strings.Contains(result.Text, part) {
					t.Errorf("%v: %v %q, want %q", tt.args, result.OK, result.Text, part)
				}
			}
		})
	}
}

func TestQueriesAnswerAndNeverFailOnWhatIsNotThere(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-form.html")
	got, want := map[string]string{}, map[string]string{
		"isVisible text Twin": "true", "isVisible text Nobody sees this": "false", "isVisible id nothing": "false", "isVisible id gone": "false",
		"isVisible text Hello bold world": "true", "hasText text SHOUTED": "true", "hasText text nobody sees": "false", "hasText text nothing": "false",
		"getElementText id link": "Link text", "getElementText id name": "before", "getElementText id size": "Small", "getElementText id nothing": "null",
		"getElementText id password": "", "getElementCount text Twin": "2", "getElementCount id nothing": "0", "getElementCount id link": "1",
	}
	for call := range want {
		parts := strings.SplitN(call, " ", 3)
		got[call] = u.mustCall(parts[0], parts[1], parts[2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	result, err := u.call("getElementText", "id", "nothing")
	if err != nil || string(result.Structured) != `{"value":null}` {
		t.Errorf("%s, %v", result.Structured, err)
	}
	for _, tool := range []string{"isVisible", "getElementCount"} {
		u.mustFail(tool, nil, "nothing says which element is meant")
	}
}
