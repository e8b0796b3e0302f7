package web

import (
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

func TestAssertionsCheckAllThatIsWritten(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<h2 id=h data-testid=title>Native</h2><div id=total>Total: <b>10.00</b></div><button id=b>Save</button><button>Save</button>`)
	const visible = "web_verifyElementVisible"
	for _, tt := range []struct {
		tool  string
		args  m
		fails bool
	}{
		{visible, m{"nodeSelector": webBlock("cssSelector", "#total", "ariaNameRegex", "Paid in full")}, true},
		{visible, m{"nodeSelector": webBlock("cssSelector", "#total", "ariaNameRegex", "Total: 10.*")}, false},
		{visible, m{"nodeSelector": webBlock("cssSelector", "#h", "ariaRole", "button")}, true},
		{visible, m{"nodeSelector": webBlock("cssSelector", "#h", "ariaRole", "heading", "dataTestId", "title")}, false},
		{visible, m{"nodeSelector": webBlock("cssSelector", "#h", "dataTestId", "other")}, true},
		{visible, m{"nodeSelector": webBlock("ariaRole", "heading", "ariaNameRegex", "Native", "headingLevel", 5)}, true},
		{visible, m{"nodeSelector": webBlock("ariaRole", "heading", "ariaNameRegex", "Native", "headingLevel", 2)}, false},
		{visible, m{"nodeSelector": webBlock("ariaRole", "heading", "ariaDescriptorRegex", "nowhere")}, true},
		{visible, m{"ref": "nowhere at all", "nodeSelector": webBlock("ariaRole", "heading")}, true},
		{visible, m{"ref": "Native", "nodeSelector": webBlock("ariaRole", "heading")}, false},
		{visible, m{"ref": "Paid in full", "nodeSelector": webBlock("cssSelector", "#total")}, true},
		{visible, m{"ref": "css=#b", "nodeSelector": webBlock("ariaRole", "button")}, false},
		{visible, m{"ref": `button "Save"`, "nodeSelector": webBlock("cssSelector", "#b")}, false},
		{visible, m{"ref": `link "Save"`, "nodeSelector": webBlock("cssSelector", "#b")}, true},
		{visible, m{"ref": "e77", "nodeSelector": webBlock("cssSelector", "#b")}, false}, // a position of another session
		{visible, m{"ref": "heading", "nodeSelector": webBlock("headingLevel", 3)}, true},
		{"web_verifyCount", m{"count": 1, "nodeSelector": webBlock("cssSelector", "button, h2", "ariaRole", "heading")}, false},
		{"web_verifyState", m{"state": "enabled", "nodeSelector": webBlock("cssSelector", "#b", "ariaNameRegex", "Cancel")}, true},
		{"web_verifyValue", m{"expected": "Save", "nodeSelector": webBlock("cssSelector", "#b", "ariaNameRegex", "Cancel")}, true},
		{"web_verifyElementNotVisible", m{"nodeSelector": webBlock("cssSelector", "#b", "ariaNameRegex", "Save")}, true},
		{"web_verifyElementNotVisible", m{"nodeSelector": webBlock("cssSelector", "#b", "ariaNameRegex", "Cancel")}, false},
	} {
		args := []any{"timeoutMs", 50}
		for name, value := range tt.args {
			args = append(args, name, value)
		}
		if r, err := u.call(tt.tool, args...); err != nil || r.OK == tt.fails {
			t.Errorf("%s %v: ok %v: %s", tt.tool, tt.args, r.OK, r.Text)
		}
	}
}

func TestResultsHaveNotes(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	for _, tt := range []struct {
		html, tool string
		args       []any
		notes      []string
	}{
		{`<button>Delete all</button>`, "web_click", []any{"ref", "Delete"}, []string{`only part of its text is "Delete"`}},
		{`<button>Go</button><button>Go</button>`, "web_click", []any{"ref", "Go"}, []string{"first of 2"}},
		{
			`<button>Go</button>`, "web_click",
			[]any{"ref", "Stay", "nodeSelector", webBlock("cssSelector", "button")},
			[]string{"ref is ignored beside nodeSelector"},
		},
		{
			`<h2>Go</h2>`, "web_click",
			[]any{"nodeSelector", webBlock("ariaRole", "heading", "headingLevel", 5)},
			[]string{"headingLevel is ignored beside ariaRole"},
		},
		{`<p>Unpaid</p>`, "web_verifyTextVisible", []any{"text", "Paid"}, []string{`only as a part of a word or number of "Unpaid"`}},
		{`<p>15 items</p>`, "web_verifyTextVisible", []any{"text", "5 items"}, []string{`only as a part of a word or number of "15 items"`}},
		{`<p>Total: 10.00</p>`, "web_verifyTextVisible", []any{"text", "Total: 1"}, []string{`only as a part of a word or number of "Total: 10.00"`}},
		{`<p>Total 1.50</p>`, "web_verifyTextVisible", []any{"text", "Total 1"}, []string{`only as a part of a word or number of "Total 1.50"`}},
		{`<p>Total 120.50</p><p>Total 12 of 20</p>`, "web_verifyTextVisible", []any{"text", "Total 12"}, []string{`2 elements show it, one is p "Total 12 of 20"`}},
		{
			`<div aria-hidden=true><a href=x>acme</a></div>`, "web_verifyElementNotVisible",
			[]any{"ref", `link "acme"`},
			[]string{`a "acme" is visible, but aria-hidden, so that no role matches it`},
		},
		{`<div aria-hidden=true hidden><a href=x>acme</a></div>`, "web_verifyElementNotVisible", []any{"ref", `link "acme"`}, nil},
		{
			`<table><tr><td>Ann<td>Paid</table>`, "web_verifyElementNotVisible",
			[]any{"ref", `row "Ann"`},
			[]string{`row "Ann Paid" is visible: "Ann" is only a part of its name`},
		},
		{`<button hidden>Delete all</button><h1>Delete all</h1>`, "web_verifyElementNotVisible", []any{"ref", `button "Delete"`}, nil},
		{`<p>Enamel mug, Cream</p>`, "web_verifyTextVisible", []any{"text", "enamel mug"}, nil},
		{`<p>已付款成功</p>`, "web_verifyTextVisible", []any{"text", "付款"}, nil},
		{
			`<ul><li>Apple pie</ul>`, "web_verifyListVisible",
			[]any{"ref", "css=ul", "items", []any{"Apple"}},
			[]string{`of which it shows only as a part of other texts: "Apple"`},
		},
	} {
		u.show(tt.html)
		r, err := u.call(tt.tool, tt.args...)
		if err != nil || !r.OK || !slices.Equal(r.Notes, tt.notes) {
			t.Errorf("%s %v: %s\nnotes %q, want %q", tt.tool, tt.args, r.Text, r.Notes, tt.notes)
		}
		for _, note := range r.Notes {
			if !strings.Contains(r.Text, note) {
				t.Errorf("the text %q does not say %q", r.Text, note)
			}
		}
	}
}

func TestFieldHasOneValue(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<input id=in value="field value"><input id=p type=password value=x><textarea id=t>old</textarea>
		<p id=o>Order ORD-17 is   paid</p><script>t.value = ""</script>`)
	value := func(args ...any) (string, []any) { return "web_verifyValue", append(args, "timeoutMs", 50) }
	for _, tt := range []struct {
		args  []any
		fails string // empty when it holds
	}{
		{[]any{"ref", "css=#in", "expected", "field value"}, ""},
		{[]any{"ref", "css=#in", "expected", ""}, `its text is "field value", not ""`},
		{[]any{"ref", "css=#p", "expected", ""}, `its value is "[secret]", not ""`},
		{[]any{"ref", "css=#t", "expected", "old"}, `its text is "", not "old"`},
		{[]any{"ref", "css=#o", "contains", "ORD-17 is paid"}, ""},
		{[]any{"ref", "css=#o", "contains", "ORD-18"}, `without "ORD-18"`},
		{[]any{"ref", "css=#o", "pattern", `ORD-\d+`}, ""},
		{[]any{"ref", "css=#o", "pattern", `(?i)ord-\d+`}, ""},
		{[]any{"ref", "css=#o", "pattern", `ORD-\d{3}`}, `which does not match "ORD-\\d{3}"`},
		{[]any{"ref", "css=#o", "pattern", `x*`}, "matches every text"},
		{[]any{"ref", "css=#o", "pattern", `(`}, "pattern: "},
		{[]any{"ref", "css=#o"}, "none of expected, contains and pattern are given"},
		{[]any{"ref", "css=#o", "expected", "x", "contains", "x"}, "several of expected, contains and pattern are given"},
	} {
		tool, args := value(tt.args...)
		if tt.fails == "" {
			u.mustCall(tool, args...)
		} else {
			u.mustFail(tool, args, tt.fails)
		}
	}
}

func TestListHasOnlyItsItems(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<ul><li>Milk chocolate</li><li>Eggs</li><li>Butter</li></ul>`)
	list := func(items ...any) []any {
		return []any{"ref", "css=ul", "items", items, "ordered", true, "only", true, "timeoutMs", 50}
	}
	u.mustCall("web_verifyListVisible", list("Milk chocolate", "Eggs", "Butter")...)
	u.mustFail("web_verifyListVisible", list("Milk chocolate", "Butter"), `it also shows "Eggs"`)
	u.mustFail("web_verifyListVisible", list("M", "B"), `it also shows "Eggs"`)
	u.mustFail("web_verifyListVisible", list("Eggs", "Butter", "Milk chocolate"), "but not after")
}

func TestFrameWithoutSizeShowsNothing(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<iframe width=0 height=0 style="border:0" srcdoc="<button>Hidden</button>"></iframe>`)
	u.mustFail("web_verifyElementVisible", []any{"ref", `button "Hidden"`, "timeoutMs", 50}, "its frame is hidden")
	u.mustCall("web_verifyElementNotVisible", "ref", `button "Hidden"`)
	u.mustFail("web_verifyTextVisible", []any{"text", "Hidden", "timeoutMs", 50}, "Hidden")
}

func TestRefWithUnknownRole(t *testing.T) {
	t.Parallel()
	err := checkVerified(syntax.Arguments{"ref": `buton "Delete all"`})
	if err == nil || !strings.Contains(err.Error(), `"buton" is not an ARIA role`) {
		t.Errorf("got %v", err)
	}
}

func TestNamesWithIconsAndAccents(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show("<label>\uf02b Name <input id=in></label><button>Cafe\u0301</button><button>\uf00d</button><p>cre\u0300me</p>")
	u.mustCall("web_verifyElementVisible", "ref", `textbox "Name"`)
	u.mustCall("web_verifyElementVisible", "nodeSelector", webBlock("ariaRole", "textbox", "ariaNameRegex", "Na.e"))
	u.mustCall("web_verifyElementVisible", "ref", "button \"Caf\u00e9\"")
	u.mustCall("web_click", "ref", "Caf\u00e9")
	u.mustCall("web_verifyElementVisible", "ref", "button \"\uf00d\"")
	u.mustCall("web_verifyTextVisible", "text", "cr\u00e8me")
	u.mustFail("web_verifyElementNotVisible", []any{"ref", "button \"Caf\u00e9\""}, "is visible")
}
