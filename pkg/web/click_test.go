package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

func TestClickWaitsUntilElementIsReady(t *testing.T) {
	t.Parallel()
	pool := newSessionPool(t)
	at := serve(t, nil)
	for name := range strings.FieldsSeq(`plain late hidden moving covered replaced disabled offscreen smooth scroller sticky vanishes nested label
		contents wrapped busy blocked`) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			u.mustCall("web_navigate", "url", at+"/act-ready.html?case="+name)
			u.mustCall("web_click", "ref", "css=#target")
			if got := u.mustEval("[n, other].join()"); got != "1,0" && name != "wrapped" && name != "label" ||
				!strings.HasPrefix(got, "1,") {
				t.Errorf("clicks, clicks on anything else: %s", got)
			}
		})
	}
}

func TestClickFailsWithReason(t *testing.T) {
	t.Parallel()
	pool := newSessionPool(t)
	at := serve(t, nil)
	for name, parts := range map[string][]string{
		"coveredForever": {
			`div#cover.modal.wide "Please wait" covers it`,
			"it is attached, visible, stable, enabled", "enabled; within 400ms", `page http://`, `"Ready or not"`,
		},
		"restless":        {"it moves", "it is attached, visible"},
		"disabledForever": {"it is disabled", "found button#target \"Go\""},
		"ariaDisabled":    {"it is aria-disabled"},
		"fieldset":        {"it is in a disabled fieldset"},
		"clickThrough":    {"pointer-events: none; ", "receives clicks there"},
		"inert":           {"div#place", "is inert"},
		"zero":            {"it is not visible: it has no size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			u.mustCall("web_navigate", "url", at+"/act-ready.html?case="+name)
			u.mustFail("web_click", []any{"ref", "css=#target"}, append(parts, "#target is not ready to be clicked")...)
			if got := u.mustEval("[n, other].join()"); got != "0,0" {
				t.Errorf("clicks, clicks on anything else: %s", got)
			}
		})
	}
}

func TestFailureNamesLimitOfCall(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-ready.html")
	u.device.(*webDevice).limits.action = testLimit
	for limit := 2 * time.Second; ; limit *= 2 {
		result, err := u.callWithin(limit, "web_click", map[string]any{"ref": "css=#missing"})
		want := fmt.Sprintf("(within %s; ", limit)
		if err == nil && strings.Contains(result.Text, want) && result.Details["tries"] != nil {
			return
		}
		if err != nil || result.Kind != fault.CallTimeout || limit > testLimit { // a busy browser needs longer
			t.Fatalf("got %+v, %v", result, err)
		}
	}
}

func TestClickOnBusyPageEnds(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-ready.html")
	u.mustEval("void setTimeout(() => { for (;;); })")
	start := time.Now()
	result, err := u.callWithin(2*time.Second, "web_click", map[string]any{"ref": "css=#target"})
	if took := time.Since(start); err != nil || result.OK || took > testLimit/2 {
		t.Errorf("%q after %s, %v", result.Text, took, err)
	}
}

func TestClickNeverReachesReplacement(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-ready.html?case=trap")
	u.mustFail("web_click", []any{"ref", `button "Go"`})
	if got := u.mustEval("[n, other, window.trapped].join()"); got != "0,0," {
		t.Errorf("clicks: %s", got)
	}
}

func TestClickThatNavigatesSucceedsOnce(t *testing.T) {
	t.Parallel()
	pool := newSessionPool(t)
	at := serve(t, nil)
	for ref, script := range map[string]string{
		"Navigate":              "heading.textContent === 'next'",
		"Link":                  "heading.textContent === 'linked'",
		"Navigate when pressed": "heading.textContent === 'pressed'",
		"Alert":                 "n === 1 && said.length === 1",
		"Confirm":               "n === 1 && said[0] === false",
		"Prompt":                "n === 1 && said[0] === null",
		"Alert when pressed":    "n <= 1",
		"Ask before leaving":    "heading.textContent === 'asked'",
		"Write":                 "n === 1 && document.body.textContent === 'Written'",
		"Push":                  "n === 1 && heading.textContent === 'pushed'",
		"Remove":                "n === 1 && !document.body.textContent.includes('Remove')",
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			u.mustCall("web_navigate", "url", at+"/act-leaves.html")
			u.mustCall("web_click", "ref", ref)
			waitFor(t, script, func() bool {
				result, err := u.call("web_evaluate", "script", script)
				return err == nil && result.Text == "true"
			})
			if ref != "Write" && ref != "Navigate when pressed" {
				u.mustCall("web_click", "ref", "css=#stay")
			}
		})
	}
}

func TestClickThatOpensPageKeepsCurrentPage(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-leaves.html")
	u.mustCall("web_click", "ref", "New tab")
	u.mustCall("web_click", "ref", `button "Stay"`)
	u.mustCall("web_click", "ref", "css=#stay")
	if got := u.mustEval("n"); got != "2" {
		t.Errorf("%s clicks", got)
	}
}

func TestClickNeverReachesNextPage(t *testing.T) {
	t.Parallel()
	at := serve(t, nil)
	for name, leave := range map[string]func(u *testSession){
		"navigation": func(u *testSession) { u.mustCall("web_navigate", "url", at+"/act-leaves.html?heading=other") },
		"going back": func(u *testSession) { u.mustCall("web_navigate", "action", "back") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openSession(t)
			u.mustCall("web_navigate", "url", at+"/act-leaves.html?heading=before")
			u.mustCall("web_navigate", "url", at+"/act-leaves.html")
			ctx := t.Context()
			p := u.page()
			s := p.search(syntax.ByCSS("#stay"), check{name: "click", pointer: true})
			o, err := s.do(ctx, testLimit, nil)
			if err != nil {
				t.Fatal(err)
			}
			leave(u)
			if err := p.clickAt(ctx, o.X, o.Y, clickOptions{}); err != nil {
				t.Fatal(err)
			}
			r, err := s.inputResult(ctx, o)
			if err != nil {
				t.Fatal(err)
			}
			late := u.mustEval("presses.some((after) => after < 500)") // later presses look like a person's
			blocked := u.mustEval("presses.length") == "0"
			if late != "false" || blocked && (r.Blocked == "" || u.mustEval("n") != "0") {
				t.Errorf("%+v; presses: %s", r, u.mustEval("presses"))
			}
		})
	}
}

func TestNumberNeverMeansAnotherElement(t *testing.T) {
	t.Parallel()
	pool := newSessionPool(t)
	at := serve(t, nil)
	for name, tt := range map[string]struct {
		ref, found, fails string
	}{
		"still":   {"e2", `button "Delete b"`, ""},
		"shifts":  {"e1", "", `the page changed: e1 was button "Delete a" and is now button "Delete b"`},
		"renewed": {"e1", `button "Delete a"`, ""},
		"shrinks": {"e2", "", "e2 does not exist"},
		"grows":   {"e2", `button "Delete b"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			u.mustCall("web_navigate", "url", at+"/act-numbers.html?case="+name)
			target, err := syntax.ByRef(tt.ref)
			if err != nil {
				t.Fatal(err)
			}
			s := u.page().search(target, check{name: "click", want: "ready to be clicked", pointer: true})
			if _, err := s.Observe(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			u.mustEval("change()")
			o, err := s.do(t.Context(), failTime, nil)
			if tt.fails == "" && (err != nil || o.Found != tt.found) {
				t.Errorf("found %q, want %q; %v", o.Found, tt.found, err)
			}
			if tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("got %v, want %q", err, tt.fails)
			}
		})
	}
}

func TestElementsInFramesAndShadowRoots(t *testing.T) {
	t.Parallel()
	at := serve(t, nil)
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/act-frames.html?other="+strings.Replace(at, "127.0.0.1", "localhost", 1))
	for _, ref := range []string{"In main", "In same", `button "In cross"`, "css=#button", "In cross"} {
		u.mustCall("web_click", "ref", ref)
	}
	u.mustCall("web_type", "ref", "Field in same", "text", "x")
	u.mustCall("web_type", "ref", "Field in cross", "text", "y")
	u.mustCall("inputText", "text", "z")
	u.mustCall("web_hover", "ref", "In cross")
	u.mustFail("web_type", []any{"ref", "css=#field", "text", "x"},
		`#field matches 2 elements, but must match one: input#field "Field in same", input#field "Field in cross"`)
	u.mustCall("web_click", "nodeSelector", map[string]any{"web": map[string]any{
		"cssSelector": "#button",
		"nthIndex":    1,
	}})
	want := "main,same,cross,same,cross,typed x,typed y,typed yz,cross"
	waitFor(t, want, func() bool { return u.mustEval("clicks.join()") == want })

	u.mustCall("web_navigate", "url", at+"/act-shadow.html")
	for _, ref := range []string{
		"css=.buy", "css=x-card x-inner .deep", "css=#open section > .buy", "Buy now", `button "Deep button"`, "Sealed button", "Deep button",
	} {
		u.mustCall("web_click", "ref", ref)
	}
	u.mustCall("web_click", "nodeSelector", map[string]any{"web": map[string]any{"dataTestId": "buy"}})
	u.mustCall("web_type", "ref", "Inner field", "text", "typed")
	if got, want := u.mustEval("clicks.join() + ' ' + innerValue()"), "buy,deep,buy,buy,deep,sealed,deep,buy typed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestButtonsWithATextInASlot acts on the buttons inside of custom elements, whose text is outside of their shadow roots.
func TestButtonsWithATextInASlot(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<style>x-bare { display: contents }</style>
		<p><x-open>Open</x-open> <x-closed>Closed</x-closed> <x-bare>Bare</x-bare> <x-covered>Covered</x-covered></p>
		<script>
			for (const name of ["open", "closed", "bare", "covered"]) {
				const root = document.querySelector("x-" + name).attachShadow({ mode: name === "closed" ? "closed" : "open" });
				root.innerHTML = "<button><span><slot></slot></span></button>" +
					(name === "covered" ? "<div style='position: fixed; inset: 0; top: 300px'></div>" : "");
				root.querySelector("button").onclick = () => (document.title += name + ",");
				root.querySelector("button").onmouseover = () => (document.title += "over,");
			}
		</script>`)})
	u := openSession(t)
	u.mustCall("navigate", "url", url+"/page")
	for _, name := range []string{"Open", "Closed", "Bare", "Covered"} {
		u.mustCall("web_click", "ref", `button "`+name+`"`)
	}
	u.mustCall("web_hover", "ref", `button "Open"`)
	if got, want := u.mustEval("document.title"), "over,open,over,closed,over,bare,over,covered,over,"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	u.mustEval("document.querySelector('x-covered').shadowRoot.querySelector('div').style.top = 0")
	u.mustFail("web_click", []any{"ref", `button "Covered"`, "timeoutMs", failTime.Milliseconds()}, "div covers it")
}

// TestButtonWithATextInSlotsOfTwoRoots clicks a button whose text is handed on from one custom element to another.
func TestButtonWithATextInSlotsOfTwoRoots(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"open", "closed"} {
		url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<x-outer>Save</x-outer><script>
			const outer = document.querySelector("x-outer").attachShadow({ mode: "` + mode + `" });
			outer.innerHTML = "<x-inner><slot></slot></x-inner>";
			const inner = outer.firstChild.attachShadow({ mode: "` + mode + `" });
			inner.innerHTML = "<button onclick='document.title = 1'><slot></slot></button>";
		</script>`)})
		u := openSession(t)
		u.mustCall("navigate", "url", url+"/page")
		u.mustCall("web_click", "ref", `button "Save"`)
		if got := u.mustEval("document.title"); got != "1" {
			t.Errorf("%s: clicked %s times, want 1", mode, got)
		}
	}
}

func TestElementsOfLongPage(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-many.html")
	for ref, title := range map[string]string{
		"css=#last": "last", "css=[data-testid=row-2000]": "row 2000", "Last of many": "last", `button "Take 3000"`: "row 3000", "e8002": "last",
	} {
		u.mustCall("web_click", "ref", ref)
		if got := u.mustEval("document.title"); got != title {
			t.Errorf("%s: %q, want %q", ref, got, title)
		}
	}
	u.mustCall("web_verifyTextVisible", "text", "row 3999:")
}
