package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// show replaces the document.
func (u *testSession) show(html string) {
	u.t.Helper()
	u.mustEval(fmt.Sprintf("document.open(); document.write(%q); document.close(); 1", "<!doctype html>"+html))
}

const zap = `<button aria-label=Zap style="width: 0; height: 0; padding: 0; border: 0"></button><p>Zap</p>`

func TestAssertionsThatDoNotHold(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	text := m{"text": "Secret"}
	for _, tt := range []struct {
		html, tool string
		args       m
		says       string
	}{
		{`<textarea id=t>Secret</textarea><script>t.value = "other"</script>`, "web_verifyTextVisible", text, "is not visible"},
		{`<div id=h>Secret</div><script>h.attachShadow({mode: "open"}).innerHTML = "<p>x</p>"</script>`, "web_verifyTextVisible", text, "is not visible"},
		{`<iframe srcdoc=x>Secret</iframe>`, "web_verifyTextVisible", text, "is not visible"},
		{`<p style="font-size: 0">Secret</p>`, "web_verifyTextVisible", text, "is not visible"},
		{`<div style="visibility: hidden"><iframe srcdoc="<p>Secret</p>"></iframe></div>`, "web_verifyTextVisible", text, "its frame is hidden"},
		{`<p>x</p>`, "web_verifyTextVisible", m{"text": "\u200b\u00ad"}, "text is empty"},
		{`<p>x</p>`, "web_verifyTextVisible", m{"text": "\u200e\u202a\u202c\u2066\u2069"}, "text is empty"},
		{`<button aria-label="Secret key">x</button>`, "web_verifyTextVisible", text, `"Secret" is not a text that is shown, only the name of an element; verify that instead: button "Secret key"`},
		{`<ul><li>A<li>B<li>C</ul>`, "web_verifyAriaSnapshot", m{"snapshot": "- list:\n  - /children: equal\n  - listitem: A\n  - listitem: C"}, "but not only these: list has listitem: B, which /children: equal does not allow"},
		{`<p>x</p>`, "web_verifyListVisible", m{"ref": "css=p", "items": []any{"\u200b"}}, "an item is empty"},
		{`<p>A</p>`, "web_verifyListVisible", m{"ref": "css=p", "items": []any{"A", "A"}}, `it shows "A" 1 of 2 times`},
		{`<p contenteditable=false>x</p>`, "web_verifyState", m{"ref": "css=p", "state": "editable"}, "it is not a field"},
		{`<p aria-readonly=false>x</p>`, "web_verifyState", m{"ref": "css=p", "state": "editable"}, "it is not a field"},
		{`<button>x</button>`, "web_verifyValue", m{"ref": "css=button", "type": "VALUE", "expected": ""}, "it has no value"},
		{`<ul><li>x</ul>`, "web_verifyValue", m{"ref": "css=li", "type": "VALUE", "expected": "0"}, "it has no value"},
		{`<p>x</p>`, "web_verifyUrl", m{"pattern": ".*"}, "matches every text"},
		{`<p>x</p>`, "web_verifyUrl", m{"pattern": "cart|"}, "matches every text"},
		{`<p>x</p>`, "web_verifyTitle", m{"pattern": "x*"}, "matches every text"},
		{zap, "web_verifyElementNotVisible", m{"ref": "Zap"}, `p "Zap" is visible`},
		{zap + zap, "web_verifyElementVisible", m{"ref": "button \"Zap\""}, "it has no size"},
		{`<label for=cx>Ship</label><input id=cx type=checkbox style="display: none" disabled>`, "web_click", m{"ref": "Ship"}, "input#cx is disabled"},
		{`<label for=cx id=l>Ship</label><input id=cx type=checkbox style="display: none" disabled>`, "web_click", m{"ref": "css=#l"}, "input#cx is disabled"},
		{`<fieldset disabled><label id=terms><input type=checkbox> I <b>accept</b></label></fieldset>`, "web_click", m{"ref": "css=#terms b"}, "input is in a disabled fieldset"},
	} {
		u.show(tt.html)
		args := []any{"timeoutMs", 50}
		for name, value := range tt.args {
			args = append(args, name, value)
		}
		u.mustFail(tt.tool, args, tt.says)
	}
}

func TestAssertionsThatHold(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	text := m{"text": "Secret"}
	for _, tt := range []struct {
		html, tool string
		args       m
		says       string
	}{
		{`<textarea>Secret</textarea>`, "web_verifyTextVisible", text, ""},
		{`<select><option>Secret</select>`, "web_verifyTextVisible", text, ""},
		{`<svg><text y=20>Secret</text></svg>`, "web_verifyTextVisible", text, ""},
		{`<div style="height: 9000px"></div><div style="content-visibility: auto"><p>Secret</p></div>`, "web_verifyTextVisible", text, ""},
		{`<div id=h>Secret</div><script>h.attachShadow({mode: "open"}).innerHTML = "<slot>"</script>`, "web_verifyTextVisible", text, ""},
		{"<p>Total: \u200f\u2066120\u2069\u202b \u202cEUR</p>", "web_verifyTextVisible", m{"text": "Total: 120 EUR", "exact": true}, ""},
		{"<p>Total: 120 EUR</p>", "web_verifyTextVisible", m{"text": "Total: \u200e120 EUR", "exact": true}, ""},
		{"<button>\u202aPay\u202c now</button>", "web_verifyElementVisible", m{"ref": `button "Pay now"`}, ""},
		{`<ul><li>A<li>A</ul>`, "web_verifyListVisible", m{"ref": "css=ul", "items": []any{"A", "A"}}, "shows 2 items"},
		{`<ul><li>Apple pie</ul>`, "web_verifyListVisible", m{"ref": "css=ul", "items": []any{"Apple", "Apple pie"}}, `a part of other texts: "Apple"`},
		{`<p>x</p>`, "web_verifyElementNotVisible", m{"ref": "css=.typo"}, "no element matches"},
		{`<p>x</p>`, "web_verifyValue", m{"ref": "css=p", "attribute": "href", "expected": "x"}, "attribute is ignored, because type is TEXT"},
		{`<p>x</p>`, "web_waitForUrl", m{"pattern": ".*"}, "the pattern matches every URL"},
		{`<p>x</p>`, "web_verifyTitle", m{"pattern": "^$"}, ""},
		{`<p>x</p>`, "web_verifyUrl", m{"pattern": "^[^?]*$"}, ""},
		{zap, "web_verifyElementVisible", m{"ref": "Zap"}, `p "Zap" is visible`},
		{zap, "web_verifyElementNotVisible", m{"ref": "button \"Zap\""}, ""},
		{`<ul><li>Enamel mug<li>Mug</ul>`, "web_verifyListVisible", m{"ref": "css=ul", "items": []any{"Mug", "Mug"}, "only": true}, `a part of other texts: "Mug"`},
		{`<label><input type=checkbox disabled> I accept <a href="#x">the terms</a></label>`, "web_click", m{"ref": "css=a"}, "clicked a"},
	} {
		u.show(tt.html)
		var args []any
		for name, value := range tt.args {
			args = append(args, name, value)
		}
		if got := u.mustCall(tt.tool, args...); !strings.Contains(got, tt.says) {
			t.Errorf("%s %v: %q, want %q", tt.tool, tt.args, got, tt.says)
		}
	}
}

func TestNothingIsAbsentBeforePageHasLoaded(t *testing.T) {
	t.Parallel()
	rest := make(chan struct{})
	url := serve(t, map[string]http.HandlerFunc{"/slow": func(w http.ResponseWriter, r *http.Request) {
		htmlPage("<h1>Top</h1>"+strings.Repeat("<!-- -->", 200))(w, r)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-rest:
		case <-r.Context().Done():
		}
	}})
	u := openSession(t)
	u.mustCall("navigate", "url", url)
	absent := func(says string) {
		t.Helper()
		u.mustFail("web_verifyTextNotVisible", []any{"text", "Gone", "timeoutMs", 50}, says)
		u.mustFail("web_verifyElementNotVisible", []any{"ref", "css=.gone", "timeoutMs", 50}, says)
		u.mustFail("web_verifyCount", []any{"ref", "css=.gone", "count", 0, "timeoutMs", 50}, says)
	}
	u.mustEval("setTimeout(() => location = '/slow', 0); 0")
	u.mustCall("web_verifyTextVisible", "text", "Top")
	absent("the page is still loading")
	close(rest)
	u.mustCall("web_verifyTextNotVisible", "text", "Gone")
	u.mustEval(`document.open(); document.write("<p>One</p>"); 1`)
	u.mustCall("web_verifyTextNotVisible", "text", "Top")
	u.mustFail("web_verifyTextNotVisible", []any{"text", "One", "timeoutMs", 50}, "shows it")
	_, _ = u.call("navigate", "url", "http://127.0.0.1:1/")
	absent("the page http://127.0.0.1:1/ did not load")
	u.mustFail("web_waitForUrl", []any{"pattern", "127", "timeoutMs", 50}, "did not load")
}
