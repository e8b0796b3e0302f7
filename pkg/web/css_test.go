package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// selectorsOfAllKinds are valid selectors.
var selectorsOfAllKinds = []string{
	"a", "*", "#id", ".class", "a#id.class", " a ", "a b", "a>b", "a + b", "a~b", "a, b", "a  >  b,c", "-x", "--x", "_x", "日本",
	`.\31 0`, `.\`, `#\#`, `.a\:b`, `.w-1\/2`, `.\[x\]`, "svg|a", "*|a", "|a", "*|*",
	"[a]", "[ a ]", `[a="b"]`, "[a='b']", "[a=b]", "[a=-b]", `[a~="b"]`, `[a|="b"]`, `[a^="b"]`, `[a$="b"]`, `[a*="b"]`, `[a = "b" i]`,
	"[a=b i]", `[a="]"]`, `[a="\""]`, `[a=""]`, "[*|a]", "[|a]", `[a="x, y > z"]`, "[data-x][data-y]", `[a="é"]`,
	":root", "::before", "a:hover", ":first-child", ":nth-child(2n + 1)", ":nth-child(2 of .x)", ":nth-last-child(odd of a, b)",
	":not(a)", ":not(a, .b > c)", ":not([a=')'])", ":has(> a)", ":has(+ b, ~ c)", ":has(a b)", ":is()", ":is(a, b)", ":is(a, !)", ":where(a)",
	":where()", ":lang(de)", ":dir(rtl)", "::slotted(a)", "::part(a)", ":host", ":host(.x)", ":host-context(b)", "::highlight(x)",
	":focus-visible", ":focus-within", ":popover-open", ":modal", ":user-invalid", ":state(open)", ":open", "::details-content",
	"a:not(:has(b:is(c, d)))", ":scope > a", "&", "& > a", "/* ) */ a", `[href="a"]:not([download=''])`, ":defined",
	":NOT(a)", "A.B", ":nth-of-type(-n+3)", ":empty", ":autofill", "a:is([x='('], b)",
}

// noSelectors are texts that no browser accepts, or that end too early.
var noSelectors = map[string]string{
	"": "empty", " ": "empty", "a,": "empty", ",a": "empty", "a,,b": "empty", "a >": "empty", "a > > b": "> cannot be here", "> a": "> cannot be here",
	"a !": "! cannot be here", "a$": "$ cannot be here", "a{}": "{ cannot be here", "1a": "1 cannot be here", "@a": "@ cannot be here",
	".": "behind a dot", ".1a": "behind a dot", "..a": "behind a dot", "#": "behind #", "# a": "behind #", ":": "behind a colon", "a:": "behind a colon",
	"a)": ") closes nothing", "a]": "] closes nothing", "#-": "behind #", "#1": "behind #", "[]": "behind [", "[=b]": "behind [", "[1a]": "behind [",
	"[a=]": "behind =", "[a=1]": "behind =", "[a=b.c]": "needs quotes", "[a=/x]": "behind =", "[a==b]": "behind =", "[a!=b]": "! cannot be here",
	"[a b]": "b cannot be here", "a|": "behind |", ":not()": "empty", ":not(a,)": "empty", ":has()": "empty", ":has(> )": "empty",
	":not(1)": "1 cannot be here", "a:contains(x)": ":contains is the syntax of another tool", "a:visible": "another tool",
	`a:has-text("x")`: "another tool", `:text("x")`: "another tool", "a:eq(1)": "another tool", ".a[": "behind [",
	`[a="b]`: "quote \" is not closed", "[a='b]": "quote ' is not closed", `:is([a="b])`: "quote", "[a": "[ is not closed", "[a=b": "[ is not closed",
	`[a="b"`: "[ is not closed", ":not(a": "( is not closed", ":is(a": "( is not closed", "div:has(> .x": "( is not closed",
}

func TestSelectorsThatAreChecked(t *testing.T) {
	t.Parallel()
	for _, selector := range selectorsOfAllKinds {
		if err := syntax.CheckCSS(selector); err != nil {
			t.Error(err)
		}
	}
	for selector, want := range noSelectors {
		if err := syntax.CheckCSS(selector); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", selector, err, want)
		}
	}
}

// TestSelectorsAsTheBrowserReadsThem compares with the browser, which closes brackets and quotes at the end.
func TestSelectorsAsTheBrowserReadsThem(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", serve(t, nil)+"/page-store.html")
	var all []string
	all = append(all, selectorsOfAllKinds...)
	for selector := range noSelectors {
		all = append(all, selector)
	}
	given, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var accepted []bool
	if err := json.Unmarshal([]byte(u.mustEval(`(`+string(given)+`).map(s => {
		try { document.createDocumentFragment().querySelector(s); return true } catch { return false } })`)), &accepted); err != nil {
		t.Fatal(err)
	}
	for i, selector := range all {
		err := syntax.CheckCSS(selector)
		if valid := i < len(selectorsOfAllKinds); valid && !accepted[i] && selector != "svg|a" {
			t.Errorf("the browser does not accept %q", selector)
		}
		if err != nil && accepted[i] && !strings.Contains(err.Error(), "not closed") {
			t.Errorf("the browser accepts %q, but %v", selector, err)
		}
	}
}
