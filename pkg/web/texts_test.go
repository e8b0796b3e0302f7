package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
)

const people = `<table>
	<tr><td>Ann<td>Unpaid<td><button>Delete</button>
	<tr><td>Bob<td>Paid on 3 May<td><button>Delete</button>
	<tr style="display: none"><td>Cleo<td>Paid
	</table><p>Order ORD-1042</p>`

// rowOf is the argument within for the row with a name.
func rowOf(name string) m {
	return m{"nodeSelector": m{
		"web":                 m{"ariaRole": "row"},
		"containsDescendants": []any{m{"web": m{"ariaRole": "cell", "ariaNameRegex": name}}},
	}}
}

// A hidden element that has a text, too, does not hide it in the element around it.
func TestTextAroundHiddenElementIsVisible(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	for _, hidden := range []string{"<i hidden>Payment failed</i>", "<div hidden><p>Payment failed with code 51</div>", "<details><summary>More</summary><p>Payment failed</details>"} {
		u.show("<section>Order 1<article id=a>Payment failed " + hidden + "</article></section>")
		for _, args := range []m{
			{"text": "payment failed"},
			{"text": "Payment failed"},
			{"pattern": "ment f.iled"},
			{"text": "Payment failed", "within": m{"ref": "css=section"}},
			{"text": "Payment failed", "within": m{"ref": "css=#a"}},
		} {
			pairs := []any{"timeoutMs", 50}
			for name, value := range args {
				pairs = append(pairs, name, value)
			}
			u.mustCall("web_verifyTextVisible", pairs...)
			if r, err := u.call("web_verifyTextNotVisible", pairs...); err != nil || r.OK || !strings.Contains(r.Text, "shows it") && !strings.Contains(r.Text, "it shows") {
				t.Errorf("%s %v: %v %v", hidden, args, r, err)
			}
		}
		if r, err := u.call("web_verifyElementNotVisible", "ref", "Payment failed", "timeoutMs", 50); err != nil || r.OK {
			t.Errorf("%s by its text: %v %v", hidden, r, err)
		}
	}
	u.show("<section>Order 1<article>Failed<div hidden>Failed at 12:03</div></article></section>")
	u.mustCall("web_verifyTextVisible", "text", "Failed", "exact", true, "timeoutMs", 50)
	u.show("<section>Order 1<article>Paid<div hidden>Failed at 12:03</div></article></section>")
	u.mustCall("web_verifyTextNotVisible", "text", "Failed", "timeoutMs", 50)
	u.mustCall("web_verifyElementNotVisible", "ref", "Failed", "timeoutMs", 50)
}

func TestTextIsVerifiedWithinElement(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(people)
	const shows, hides = "web_verifyTextVisible", "web_verifyTextNotVisible"
	for _, tt := range []struct {
		tool  string
		args  m
		fails bool
		says  string
	}{
		{shows, m{"within": rowOf("Bob"), "text": "paid on"}, false, `"paid on" is visible in tr "BobPaid on 3 MayDelete", as a part of "Paid on 3 May"`},
		{shows, m{"within": rowOf("Bob"), "text": "Ann"}, true, `it shows only "Bob Paid on 3 May Delete"`},
		{shows, m{"within": rowOf("Bob"), "text": "Paid", "exact": true}, true, "it shows only"},
		{shows, m{"within": rowOf("Ann"), "text": "Paid"}, false, `only as a part of a word or number of "Unpaid"`},
		{shows, m{"within": rowOf("Ann"), "pattern": `\bPaid`}, true, "Unpaid"},
		{shows, m{"within": rowOf("Bob"), "pattern": `^Paid on \d+`}, false, `in "Paid on 3 May"`},
		{shows, m{"within": rowOf("Dora"), "text": "Paid"}, true, "was not found"},
		{shows, m{"within": m{"ref": "css=#none"}, "text": "Paid"}, true, "was not found"},
		{shows, m{"within": m{"ref": "css=tr:last-child"}, "text": "Paid"}, true, "not visible"},
		{shows, m{"within": m{"ref": "css=tr"}, "text": "Paid"}, true, "matches 3 elements"},
		{shows, m{"pattern": `ORD-\d{4}`}, false, `in "Order ORD-1042"`},
		{shows, m{"pattern": `(?i)^order ord-\d+$`}, false, ""},
		{shows, m{"pattern": `^ORD-\d{4}$`}, true, "was not found"},
		{shows, m{"pattern": `x*`}, true, "matches every text"},
		{shows, m{"pattern": `x`, "exact": true}, true, "exact says nothing"},
		{shows, m{"pattern": `x`, "text": "x"}, true, "both of text and pattern"},
		{shows, m{"within": rowOf("Bob")}, true, "none of text and pattern"},
		{shows, m{"within": m{"ref": ""}, "text": "Paid"}, true, "within:"},
		{hides, m{"within": rowOf("Ann"), "text": "Paid on"}, false, `is not visible in tr "AnnUnpaidDelete"`},
		{hides, m{"within": rowOf("Ann"), "text": "paid"}, true, `it shows "Unpaid"`},
		{hides, m{"within": rowOf("Ann"), "pattern": "^Paid"}, false, ""},
		{hides, m{"within": rowOf("Dora"), "text": "Paid"}, true, "was not found"},
		{hides, m{"within": rowOf("Cleo"), "text": "Ann"}, true, "was not found"},
		{hides, m{"within": m{"ref": "css=tr:last-child"}, "text": "Ann"}, true, "it is not visible"},
		{hides, m{"within": m{"ref": "css=tr"}, "text": "Ann"}, true, "matches 3 elements"},
		{hides, m{"pattern": `ORD-1\d+`}, true, "shows it"},
		{hides, m{"pattern": `ORD-2\d+`}, false, ""},
	} {
		args := []any{"timeoutMs", 50}
		for name, value := range tt.args {
			args = append(args, name, value)
		}
		r, err := u.call(tt.tool, args...)
		said := r.Text
		if err != nil {
			said = err.Error()
		}
		if failed := err != nil || !r.OK; failed != tt.fails || !strings.Contains(said, tt.says) {
			t.Errorf("%s %v: failed %v: %s, want %q", tt.tool, tt.args, failed, said, tt.says)
		}
	}
}

// TestTextIsVerifiedWithinShadowRootsAndFrames verifies texts in shadow roots, slots and frames inside an element.
// Playwright looks into shadow roots, too.
func TestTextIsVerifiedWithinShadowRootsAndFrames(t *testing.T) {
	t.Parallel()
	elsewhere := ""
	at := serve(t, map[string]http.HandlerFunc{
		"/inner": htmlPage(`<p>Card declined</p><iframe srcdoc="<p>Deep error</p>"></iframe>`),
		"/page": func(w http.ResponseWriter, r *http.Request) {
			htmlPage(`<my-app><template shadowrootmode=open><style>p { color: red }</style><main id=m><h2>Cart</h2><my-row><template shadowrootmode=open>
				<style>b { color: red }</style><p role=alert>Payment failed</p><p>Total <b>1&nbsp;234</b></p><p hidden>Old</p></template>Unused</my-row></main></template></my-app>
				<my-card><template shadowrootmode=open><div id=card><ul><slot name=items></slot></ul><slot></slot></div><p id=beside>Beside</p></template>
				<li slot=items>Bread</li><li slot=items>Milk</li><p>Slotted</p> and a text</my-card>
				<div id=panel><p>Panel</p><iframe srcdoc="<p>Frame error</p>"></iframe><iframe src="`+elsewhere+`/inner"></iframe></div>
				<div id=gone><p>x</p><iframe style="display: none" srcdoc="<p>Hidden error</p>"></iframe></div>`)(w, r)
		},
	})
	elsewhere = otherSite(at)
	u := openSession(t)
	u.mustCall("navigate", "url", at+"/page")
	u.mustCall("web_verifyTextVisible", "text", "Deep error")
	tests := []struct {
		within, text string
		shown, own   bool // own is what Playwright does not do
	}{
		{"#m", "Payment failed", true, false},
		{"my-app", "Payment failed", true, false},
		{"my-row", "payment", true, false},
		{"#m", "Cart", true, false},
		{"#m", "Slotted", false, false},
		{"#m", "Beside", false, false},
		{"#m", "Old", false, true},
		{"my-row", "Unused", false, true},
		{"my-card", "Beside", true, false},
		{"#card", "Beside", false, false},
		{"#card", "Slotted", true, true},
		{"#card", "and a text", true, true},
		{"#panel", "Frame error", true, true},
		{"#panel", "Card declined", true, true},
		{"#panel", "Deep error", true, true},
		{"#panel", "Hidden error", false, true},
		{"#gone", "Hidden error", false, true},
		{"#card", "Frame error", false, true},
	}
	var selectors [][]string
	for _, tt := range tests {
		selectors = append(selectors, []string{tt.within + " >> text=" + tt.text})
	}
	list, err := json.Marshal(selectors)
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	if err := json.Unmarshal(runPlaywright(t.Context(), t, "count.mjs", at+"/page", string(list)), &found); err != nil {
		t.Fatal(err)
	}
	for i, tt := range tests {
		if !tt.own && found[i] > 0 != tt.shown {
			t.Errorf("Playwright finds %q %d times in %s", tt.text, found[i], tt.within)
		}
		holds, fails := "web_verifyTextNotVisible", "web_verifyTextVisible"
		if tt.shown {
			holds, fails = fails, holds
		}
		args := []any{"text", tt.text, "within", m{"ref": "css=" + tt.within}}
		if said := u.mustCall(holds, args...); !strings.Contains(said, "visible in "+strings.TrimPrefix(tt.within, "#")) && tt.within[0] != '#' {
			t.Error(said)
		}
		u.mustFail(fails, append(args, "timeoutMs", 50), tt.within)
	}
	u.mustFail("web_verifyTextNotVisible", []any{"text", "payment failed", "within", m{"nodeSelector": m{"web": m{"ariaRole": "main"}}}, "timeoutMs", 50}, "Payment failed")
	u.mustCall("web_verifyValue", "ref", "css=my-app", "contains", "Payment failed")
	u.mustCall("web_verifyListVisible", "ref", "css=my-app", "items", []any{"Cart", "Payment failed"}, "ordered", true)
	u.mustCall("web_verifyListVisible", "ref", "css=#card ul", "items", []any{"Bread", "Milk"}, "only", true)
	u.mustFail("web_verifyListVisible", []any{"ref", "css=#card ul", "items", []any{"Bread"}, "only", true, "timeoutMs", 50}, `it also shows "Milk"`)
	u.mustFail("web_verifyState", []any{"ref", "css=my-row", "state", "empty", "timeoutMs", 50}, "Payment failed")
	for ref, want := range map[string]string{"#m": "Cart Payment failed Total 1 234", "my-app": "Cart Payment failed Total 1 234", "#card ul": "Bread Milk", "#panel": "Panel"} {
		if got := u.mustCall("web_getText", "ref", "css="+ref); got != want {
			t.Errorf("%s: %q, want %q", ref, got, want)
		}
	}
	if got := u.mustCall("rememberNumber", "ref", "css=my-row", "variable", "kept"); got != "1234" {
		t.Error(got)
	}
}

func TestReferenceWithinWhichTextIsVerifiedIsRecorded(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(people)
	for _, name := range []string{"web_verifyTextVisible", "web_verifyTextNotVisible"} {
		text := map[string]string{"web_verifyTextVisible": "Paid", "web_verifyTextNotVisible": "Unpaid"}[name]
		r, err := u.call(name, "text", text, "within", m{"ref": u.refOf("Bob")})
		if err != nil || !r.OK || r.Located == nil {
			t.Fatalf("%s: %v %+v", name, err, r)
		}
		within, _ := r.Located.Args["within"].(map[string]any)
		if _, ok := within["ref"]; ok || within["nodeSelector"] == nil {
			t.Errorf("%s: %v", name, cmp.Diff(nil, r.Located.Args))
		}
		u.mustCall(name, "text", text, "within", within)
	}
}

func TestShownTextIsRead(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<p id=order></p><p id=lines>Hello<br>World<span hidden> again</span></p><input id=field value=typed><p id=none style="display: none">x</p>
		<script>setTimeout(() => order.textContent = "Order 00042 of 3 May", 100)</script>`)
	for ref, want := range map[string]string{
		"css=#order": "Order 00042 of 3 May", "css=#lines": "Hello World", "css=#field": "typed",
	} {
		if got := u.mustCall("web_getText", "ref", ref); got != want {
			t.Errorf("%s: %q, want %q", ref, got, want)
		}
	}
	for pattern, want := range map[string]string{`\d{5}`: "00042", `Order (\d+)`: "00042", `(?i)ORDER`: "Order"} {
		if got := u.mustCall("web_getText", "ref", "css=#order", "pattern", pattern); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	u.mustFail("web_getText", []any{"ref", "css=#order", "pattern", "INV-", "timeoutMs", 50}, `its text is "Order 00042 of 3 May", which does not match "INV-"`)
	u.mustFail("web_getText", []any{"ref", "css=#none", "timeoutMs", 50}, "it is not visible")
	u.mustFail("web_getText", []any{"ref", "css=#order", "pattern", "a*"}, "matches every text")
}

func TestShownTextIsRemembered(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<p id=total>Total</p><p id=none>none</p><script>setTimeout(() => total.textContent = "Total: $1,234.50", 100)</script>`)
	for _, c := range []struct {
		tool, want string
		more       []any
	}{
		{"rememberNumber", "1234.5", nil},
		{"rememberText", "Total: $1,234.50", nil},
		{"rememberText", "1,234", []any{"pattern", `\$([\d,]+)`}},
	} {
		r, err := u.call(c.tool, append([]any{"ref", "css=#total", "variable", "kept"}, c.more...)...)
		if err != nil || r.Text != c.want || r.MemoryDelta["kept"] != c.want {
			t.Errorf("%s: %+v, %v", c.tool, r, err)
		}
	}
	u.show(`<p id=a>Total 1&nbsp;234,50 EUR</p><p id=b>Total 1&#8239;234,50&nbsp;EUR</p><p id=c>Total &nbsp; 12 345</p><p id=none>none</p>`)
	for ref, want := range map[string]string{"a": "1234.5", "b": "1234.5", "c": "12"} {
		if got := u.mustCall("rememberNumber", "ref", "css=#"+ref, "variable", "kept"); got != want {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
		if got := u.mustCall("rememberText", "ref", "css=#"+ref, "variable", "kept"); strings.ContainsAny(got, "\u00a0\u202f") {
			t.Errorf("%s: %q", ref, got)
		}
	}
	u.mustFail("rememberNumber", []any{"ref", "css=#none", "variable", "kept", "timeoutMs", 50}, `its text is "none"`)
}

// TestTextIsFoundAsPeopleSeeIt looks for texts over line breaks, blocks and cells. What is read is found again, and a
// text without the white space is found, too, as Playwright does.
func TestTextIsFoundAsPeopleSeeIt(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<p id=p>Hello<br>World</p><table><tr id=row><td>Ann<td>Paid</table><div id=both><div>First</div><div>Second</div></div>
		<p id=price style="display: flex"><span>$</span><span>5</span></p><p id=inline>A<b>B</b></p><p id=upper style="text-transform: uppercase">one<br>two</p>
		<p id=items>15 items</p><p id=state>Unpaid</p><p id=order>Order 15</p><p id=total>Total 1.50</p><input id=box type=checkbox>`)
	const shows, hides, value = "web_verifyTextVisible", "web_verifyTextNotVisible", "web_verifyValue"
	const spaces, part = "only without the line break or space that people see in", "only as a part of a word or number of"
	for ref, joined := range map[string]string{"p": "HelloWorld", "row": "AnnPaid", "both": "FirstSecond", "upper": "onetwo"} {
		ref := "css=#" + ref
		read := u.mustCall("web_getText", "ref", ref)
		for _, args := range [][]any{{shows, "text", read}, {shows, "text", read, "exact", true}, {shows, "pattern", "^" + read + "$"}, {value, "ref", ref, "expected", read}, {value, "ref", ref, "contains", read}} {
			if args[1] == "pattern" && joined == "onetwo" {
				continue // a pattern is found in the text as it is written
			}
			if said := u.mustCall(args[0].(string), args[1:]...); strings.Contains(said, "only") {
				t.Errorf("%v: %s", args, said)
			}
		}
		for _, args := range [][]any{{shows, "text", joined}, {shows, "text", joined, "exact", true}, {value, "ref", ref, "expected", joined}, {value, "ref", ref, "contains", joined}} {
			if said := u.mustCall(args[0].(string), args[1:]...); !strings.Contains(said, spaces) {
				t.Errorf("%v: %s, want %s", args, said, spaces)
			}
		}
		for _, text := range []string{read, joined} {
			u.mustFail(hides, []any{"text", text, "timeoutMs", 50}, "shows it")
			u.mustFail(hides, []any{"text", text, "exact", true, "timeoutMs", 50}, "shows it")
			u.mustFail(hides, []any{"text", text, "within", m{"ref": ref}, "timeoutMs", 50}, "it shows")
		}
		u.mustCall("web_verifyListVisible", "ref", ref, "items", []any{read})
	}
	for text, found := range map[string]bool{"$5": true, "$ 5": false, "AB": true, "A B": false, "Hello  World": true, "World Ann": true} {
		if !found {
			u.mustFail(shows, []any{"text", text, "timeoutMs", 50}, fmt.Sprintf("%q", text))
			u.mustCall(hides, "text", text)
		} else if said := u.mustCall(shows, "text", text); strings.Contains(said, "only") {
			t.Errorf("%s: %s", text, said)
		}
	}
	if said := u.mustCall(shows, "text", "World"); strings.Contains(said, "only") || !strings.Contains(said, `as a part of "Hello World"`) {
		t.Error(said)
	}
	for _, tt := range []struct{ ref, key, text, want string }{
		{"items", "contains", "5 items", part},
		{"items", "contains", "15", ""},
		{"state", "contains", "paid", part},
		{"order", "pattern", "Order 1", part},
		{"order", "pattern", "Order 1.", ""},
		{"order", "pattern", `\d+$`, ""},
		{"total", "pattern", "Total 1", part},
	} {
		said := u.mustCall(value, "ref", "css=#"+tt.ref, tt.key, tt.text)
		if strings.Contains(said, "only") != (tt.want != "") || !strings.Contains(said, tt.want) {
			t.Errorf("%v: %s", tt, said)
		}
	}
	if said := u.mustCall(shows, "pattern", "Order 1"); !strings.Contains(said, part) {
		t.Error(said)
	}
	u.mustFail(value, []any{"ref", "css=#box", "expected", "on", "timeoutMs", 50}, `its text is ""`)
}

// TestAbsentElementIsNotMisspelt checks that elements are not visible by references that look like others.
func TestAbsentElementIsNotMisspelt(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<button>Delete all</button><p>Order 'A'</p>`)
	for _, ref := range []string{`Button "Delete all"`, `button 'Delete all'`, `BUTTON "Delete all"`, `button "Delete all"`} {
		u.mustFail("web_verifyElementNotVisible", []any{"ref", ref, "timeoutMs", 50}, "is visible")
		u.mustCall("web_verifyElementVisible", "ref", ref)
	}
	u.mustCall("web_verifyElementVisible", "ref", `Order 'A'`)
	u.mustCall("web_verifyElementNotVisible", "ref", `Order 'B'`)
	for _, ref := range []string{"#x", ".button", "[data-cy=x]", "testid=x"} {
		args := map[string]any{"ref": ref}
		if err := checkAbsent(args); err == nil || !strings.Contains(err.Error(), "looks like a selector") {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for _, ref := range []string{"#1", "report.pdf", "a = b", "css=#x", "Total: 5"} {
		if err := checkAbsent(map[string]any{"ref": ref}); err != nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// TestTextThatSeveralShowHasAPlace names the row of the first of several elements that show a text.
func TestTextThatSeveralShowHasAPlace(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	u.show(`<table><tr><td>ORD-1001<td>Open<tr><td>ORD-1002<td>Paid<tr><td>ORD-1003<td>Paid</table><p>Shipped<p>Shipped`)
	const both = `2 elements show it, one is `
	for text, want := range map[string]string{"Paid": both + `td "Paid" in tr "ORD-1002 Paid"`, "Shipped": both + `p "Shipped"`} {
		if said := u.mustCall("web_verifyTextVisible", "text", text); !strings.HasSuffix(said, want+")") {
			t.Errorf("%s: %s, want %s", text, said, want)
		}
	}
}
