package web

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVerificationsWait(t *testing.T) {
	t.Parallel()
	pool := newSessionPool(t)
	at := serve(t, nil)
	for name, tt := range map[string]struct {
		tool string
		args []any
		says string
	}{
		"text":    {"web_verifyTextVisible", []any{"text", "WELCOME"}, `"WELCOME" is visible`},
		"element": {"web_verifyElementVisible", []any{"ref", `button "Go on"`}, `button#go "Go on" is visible`},
		"text of": {
			"web_verifyValue",
			[]any{"ref", "css=#status", "expected", "done"},
			`p#status "done" has "done"`,
		},
		"value of": {
			"web_verifyValue",
			[]any{"ref", "css=#field", "expected", "filled", "type", "value"},
			`input#field has "filled"`,
		},
		"attribute of": {"web_verifyValue", []any{
			"ref", "css=#field", "expected", "ready", "type", "Attribute",
			"attribute", "data-state",
		}, `has "ready"`},
		"list": {
			"web_verifyListVisible",
			[]any{"ref", "css=#list", "items", []any{"bread", "Butter"}},
			"shows 2 items",
		},
		"core": {"assertVisible", []any{"text", "Go on"}, `button#go "Go on" is visible`},
		"core, by id": {
			"assertVisible",
			[]any{"id", "heading", "text", "back"},
			`h2#heading "Welcome back" is visible`,
		},
		"core, until": {
			"waitUntilVisible",
			[]any{"text", "Welcome back", "timeoutMs", 3000},
			`h2#heading "Welcome back" is visible`,
		},
		"by a selector": {"waitForSelector", []any{"selector", "#place > h2"}, `h2#heading "Welcome back" is visible`},
		"a query":       {"isVisible", []any{"text", "Go on", "timeoutMs", 3000}, "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			u.mustCall("web_navigate", "url", at+"/act-late.html")
			if got := u.mustCall(tt.tool, tt.args...); !strings.Contains(got, tt.says) {
				t.Errorf("%q, want %q", got, tt.says)
			}
		})
	}
}

func TestVerificationsFailWithReason(t *testing.T) {
	t.Parallel()
	pool := newSessionPool(t)
	at := serve(t, nil) + "/act-form.html"
	where := "page " + at + ` "Form")`
	for _, tt := range []struct {
		tool string
		args []any
		says []string
	}{
		{
			"web_verifyTextVisible",
			[]any{"text", "helo bold wrld"},
			[]string{`text "helo bold wrld" was not found; the page has "Hello bold world"`, where},
		},
		{
			"web_verifyTextVisible",
			[]any{"text", "nobody SEES"},
			[]string{`text "nobody SEES" is not visible: display: none (found p#gone "Nobody sees this"`, "in 400ms"},
		},
		{
			"web_verifyElementVisible",
			[]any{"ref", "css=#gone"},
			[]string{"#gone is not visible: display: none (", "found p#gone", where},
		},
		{
			"web_verifyElementVisible",
			[]any{"ref", `button "Twn"`},
			[]string{`button "Twn" was not found; the page has "Twin"`, where},
		},
		{"web_verifyElementVisible", []any{}, []string{"no argument says which element is meant"}},
		{
			"web_verifyValue",
			[]any{"ref", "css=#link", "expected", "Link"},
			[]string{`#link is not as expected: its text is "Link text", not "Link"`, where},
		},
		{
			"web_verifyValue",
			[]any{"ref", "css=#name", "expected", "x", "type", "VALUE"},
			[]string{`its value is "before", not "x"`},
		},
		{
			"web_verifyValue",
			[]any{"ref", "css=#list", "expected", "x", "type", "VALUE"},
			[]string{"it has no value: ul#list"},
		},
		{
			"web_verifyValue",
			[]any{"ref", "css=#link", "expected", "x", "type", "ATTRIBUTE", "attribute", "href"},
			[]string{`its attribute "href" is "act-form.html?x=1", not "x"`},
		},
		{
			"web_verifyValue",
			[]any{"ref", "css=#link", "expected", "x", "type", "ATTRIBUTE", "attribute", "rel"},
			[]string{`it has no attribute "rel", only id, href, title`},
		},
		{
			"web_verifyValue",
			[]any{"ref", "css=#link", "expected", "x", "type", "ATTRIBUTE"},
			[]string{"type ATTRIBUTE needs the name of an attribute"},
		},
		{
			"web_verifyValue",
			[]any{"ref", "css=#link", "expected", "x", "type", "COLOUR"},
			[]string{`type: "COLOUR" is not one of TEXT, VALUE, ATTRIBUTE`},
		},
		{
			"web_verifyListVisible",
			[]any{"ref", "css=#list", "items", []any{"Bread", "Jam", "Milk"}},
			[]string{`#list is not as expected: it does not show "Jam", "Milk"`},
		},
		{
			"assertVisible",
			[]any{"text", "Nobody sees this"},
			[]string{`"Nobody sees this" is not visible: display: none`},
		},
		{"assertVisible", []any{"id", "twn2"}, []string{`element with id "twn2" was not found; the page has "twin2"`}},
		{"assertVisible", []any{}, []string{"no argument says which element is meant"}},
		{"waitUntilVisible", []any{"text", "Never", "timeoutMs", 200}, []string{`"Never" was not found`, "in 200ms"}},
		{"waitForSelector", []any{"selector", "#nme"}, []string{`#nme was not found; the page has "#name"`}},
		{"waitForSelector", []any{"selector", "p:contains(x)"}, []string{`"p:contains(x)" is not a CSS selector`}},
		{"click", []any{"selector", "css=#agre"}, []string{`#agre was not found; the page has "#age", "#agree"`}},
		{"fill", []any{"selector", "#agree", "value", "x"}, []string{"it does not take text"}},
		{"tap", []any{
			"text", "Twin",
			"index", 5,
		}, []string{`index 5 is the sixth "Twin" (counting from 0); the page has 2`}},
		{"tap", []any{"index", 5}, []string{"no argument says which element is meant"}},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			if u.mustCall("web_currentUrl") != at { // a verification that fails does not change the page
				u.mustCall("web_navigate", "url", at)
			}
			u.mustFail(tt.tool, tt.args, tt.says...)
		})
	}
}

func TestQueriesDoNotFailOnMissingElements(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-form.html")
	got, want := map[string]string{}, map[string]string{
		"isVisible text Twin":             "true",
		"isVisible text Nobody sees this": "false",
		"isVisible id nothing":            "false",
		"isVisible id gone":               "false",
		"isVisible text Hello bold world": "true",
		"hasText text SHOUTED":            "true",
		"hasText text nobody sees":        "false",
		"hasText text nothing":            "false",
		"getElementText id link":          "Link text",
		"getElementText id name":          "before",
		"getElementText id size":          "Small",
		"getElementText id nothing":       "null",
		"getElementText id password":      "",
		"getElementCount text Twin":       "2",
		"getElementCount id nothing":      "0",
		"getElementCount id link":         "1",
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
		u.mustFail(tool, nil, "no argument says which element is meant")
	}
}
