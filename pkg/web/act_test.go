package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// callSoon is a call with a limit of its own, so that one that fails does so soon.
func (u *testSession) callSoon(name string, args map[string]any) (tool.Result, time.Duration) {
	u.t.Helper()
	start := time.Now()
	result, err := u.device.Call(context.Background(), tool.Call{Tool: name, Args: args, Timeout: 4 * time.Second})
	if err != nil {
		u.t.Fatalf("%s %v broke: %v", name, args, err)
	}
	return result, time.Since(start)
}

func TestAClickWaitsUntilItsElementIsReadyAndClicksOnce(t *testing.T) {
	t.Parallel()
	at := serve(t, nil)
	for name := range strings.FieldsSeq(`plain late hidden moving covered replaced disabled offscreen smooth scroller sticky vanishes nested label
		contents wrapped busy blocked`) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openSession(t)
			u.mustCall("web_navigate", "url", at+"/act-ready.html?case="+name)
			u.mustCall("web_click", "ref", "css=#target")
			if got := u.mustEval("[n, other].join()"); got != "1,0" && name != "wrapped" && name != "label" || !strings.HasPrefix(got, "1,") {
				t.Errorf("clicks, clicks on anything else: %s", got)
			}
		})
	}
}

func TestAClickThatIsNotPossibleSaysWhyAndClicksNothing(t *testing.T) {
	t.Parallel()
	at := serve(t, nil)
	for name, parts := range map[string][]string{
		"coveredForever":  {`div#cover.modal.wide "Please wait" covers it`, "it is attached, visible, stable, enabled", "tries in 3", `page http://`, `"Ready or not"`},
		"restless":        {"it moves", "it is attached, visible"},
		"disabledForever": {"it is disabled", "found button#target \"Go\""},
		"ariaDisabled":    {"it is aria-disabled"},
		"fieldset":        {"it is in a disabled fieldset"},
		"clickThrough":    {"pointer-events: none"},
		"inert":           {"div#place", "is inert"},
		"zero":            {"it is not visible: it has no size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openSession(t)
			u.mustCall("web_navigate", "url", at+"/act-ready.html?case="+name)
			result, _ := u.callSoon("web_click", map[string]any{"ref": "css=#target"})
			if result.OK {
				t.Fatalf("succeeded with %q", result.Text)
			}
			for _, part := range append(parts, "#target is not ready to be clicked") {
				if !strings.Contains(result.Text, part) {
					t.Errorf("%q lacks %q", result.Text, part)
				}
			}
			if got := u.mustEval("[n, other].join()"); got != "0,0" {
				t.Errorf("clicks, clicks on anything else: %s", got)
			}
		})
	}
}

func TestAPageThatHangsIsNoReasonToHang(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-ready.html")
	u.mustEval("void setTimeout(() => { for (;;); })")
	result, took := u.callSoon("web_click", map[string]any{"ref": "css=#target"})
	if result.OK || took > testLimit/2 {
		t.Errorf("%q after %s", result.Text, took)
	}
}

func TestWhatThePagePutsInAnElementsPlaceIsNeverClicked(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-ready.html?case=trap")
	result, _ := u.callSoon("web_click", map[string]any{"ref": `button "Go"`})
	if got := u.mustEval("[n, other, window.trapped].join()"); result.OK || got != "0,0," {
		t.Errorf("%q; clicks: %s", result.Text, got)
	}
}

func TestAClickThatLeavesThePageSucceedsOnce(t *testing.T) {
	t.Parallel()
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
			u := openSession(t)
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

func TestAfterAClickOpenedATabThePageGoesOn(t *testing.T) {
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

func TestAClickNeverReachesThePageThatCameInBetween(t *testing.T) {
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
			tab, err := u.device.(*webDevice).waitForPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			a := tab.attempt(ctx, byCSS("#stay"), condition{check: "click"}, testLimit)
			s, err := a.pointInViewport(ctx)
			if err != nil {
				t.Fatal(err)
			}
			leave(u)
			if err := tab.clickAt(ctx, s.X, s.Y); err != nil {
				t.Fatal(err)
			}
			v, err := a.inputResult(ctx, s)
			if err != nil {
				t.Fatal(err)
			}
			late := u.mustEval("presses.some((after) => after < 500)") // after that nobody can tell it from a person's
			blocked := u.mustEval("presses.length") == "0"
			if late != "false" || blocked && (v.Blocked == "" || u.mustEval("n") != "0") {
				t.Errorf("%+v; presses: %s", v, u.mustEval("presses"))
			}
		})
	}
}

func TestANumberNeverComesToMeanAnotherElement(t *testing.T) {
	t.Parallel()
	at := serve(t, nil)
	for name, tt := range map[string]struct {
		ref, fails, deleted string
	}{
		"still":   {"e2", "", "b"},
		"shifts":  {"e1", `e1 was button "Delete a", and is button "Delete b" since the page changed`, ""},
		"renewed": {"e1", "", "a"},
		"shrinks": {"e2", "there is no e2", ""},
		"grows":   {"e2", "", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openSession(t)
			u.mustCall("web_navigate", "url", at+"/act-numbers.html?case="+name)
			result, _ := u.callSoon("web_click", map[string]any{"ref": tt.ref})
			if result.OK != (tt.fails == "") || !strings.Contains(result.Text, tt.fails) {
				t.Errorf("%v %q", result.OK, result.Text)
			}
			if got := u.mustEval("deleted.join()"); got != tt.deleted {
				t.Errorf("deleted %q, want %q", got, tt.deleted)
			}
		})
	}
}

func TestAnElementIsFoundInFramesAndShadowRoots(t *testing.T) {
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
	result, _ := u.callSoon("web_type", map[string]any{"ref": "css=#field", "text": "x"})
	if want := `#field fits 2 elements, and one is needed: input#field "Field in same", input#field "Field in cross"`; !strings.HasPrefix(result.Text, want) {
		t.Errorf("%v %q, want %q", result.OK, result.Text, want)
	}
	u.mustCall("web_click", "nodeSelector", map[string]any{"web": map[string]any{"cssSelector": "#button", "nthIndex": 1}})
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

func TestALongPageIsNoObstacle(t *testing.T) {
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
