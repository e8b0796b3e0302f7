package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// shopPages are pages that open others.
func shopPages(t *testing.T) string {
	t.Helper()
	return serve(t, map[string]http.HandlerFunc{
		"/opener": htmlPage(`<title>opener</title><a target=_blank href="/opened?link">link</a>
			<a target=_blank rel=noopener href="/opened?alone">alone</a><button onclick="window.open('/opened?script')">script</button>`),
		"/blank":  htmlPage(`<a target=_blank href="about:blank">blank</a>`),
		"/opened": htmlPage(`<title>opened</title><h1>Opened</h1><button onclick="window.close()">done</button>`),
	})
}

func TestTabs(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := shopPages(t)
	u.mustCall("navigate", "url", url+"/opener")
	for i, ref := range []string{"link", "alone", "script"} {
		result, err := u.call("web_click", "ref", ref)
		if err != nil || !result.OK ||
			!strings.HasSuffix(result.Text, "opened tab 1 ("+url+"/opened?"+ref+"), which web_waitForTab makes current") {
			t.Errorf("%s: %+v, %v", ref, result, err)
		}
		if got := u.mustEval("document.title"); got != "opener" {
			t.Errorf("%s: the page is %s", ref, got)
		}
		failed := u.mustFail("web_click", []any{"ref", "css=#missing"})
		if !strings.Contains(failed.Hint, "tab 1 ("+url+"/opened?"+ref+") is open, too") {
			t.Errorf("%s: hint %q", ref, failed.Hint)
		}
		if got := u.mustCall("web_waitForTab", "urlPattern", "opened", "title", "^opened$"); got != "tab 1 ("+url+"/opened?"+ref+") is current" {
			t.Error(got)
		}
		if got := u.mustEval("document.title + document.readyState"); got != "openedcomplete" {
			t.Errorf("%s: the page is %s", ref, got)
		}
		if i == 2 {
			continue
		}
		if got := u.mustCall("web_closeTab"); got != "closed the tab "+url+"/opened?"+ref+"; tab 0 ("+url+"/opener) is current" {
			t.Error(got)
		}
	}
	u.mustCall("web_switchTab", "index", 0)
	u.mustFail("web_waitForTab", []any{"timeoutMs", 50}, "timed out after 50ms waiting for a tab; open: 0 ("+url+"/opener), 1 (")
	u.mustCall("web_switchTab", "title", "^opened$")
	var tabs []struct {
		URL, Title string
		Current    bool
	}
	if err := json.Unmarshal([]byte(u.mustCall("web_listTabs")), &tabs); err != nil || len(tabs) != 2 ||
		tabs[0].Title != "opener" || tabs[1].Title != "opened" || tabs[0].Current || !tabs[1].Current {
		t.Errorf("%+v, %v", tabs, err)
	}
	u.mustCall("captureScreen")

	if got := u.mustCall("web_click", "ref", "done"); !strings.Contains(got, "click") {
		t.Error(got)
	}
	var refused string
	waitFor(t, "the end of the tab", func() bool {
		result, err := u.call("web_evaluate", "script", "1")
		if err != nil {
			t.Fatal(err)
		}
		refused = result.Text
		return !result.OK
	})
	if want := "web_evaluate: no tab is current: the tab " + url + "/opened?script closed itself"; refused != want {
		t.Errorf("%s, want %s", refused, want)
	}
	if shown := u.device.Evidence(t.Context()); len(shown) < 3 || !strings.Contains(string(shown[0].Data), "URL: "+url+"/opener") {
		t.Errorf("the evidence is %v", shown)
	}
	if got := u.mustCall("web_switchTab", "index", 0); got != "tab 0 ("+url+"/opener) is current" {
		t.Error(got)
	}
	u.mustFail("web_closeTab", nil, "is the only one, and cannot be closed")
	for argument, pattern := range map[string]string{"urlPattern": "(", "title": "["} {
		if failed := u.mustFail("web_waitForTab", []any{argument, pattern}, argument); failed.Kind != fault.InvalidArguments {
			t.Errorf("%s: %s", argument, failed.Kind)
		}
	}
	u.mustFail("web_switchTab", nil, "web_switchTab needs index, urlPattern or title")
}

func TestTabWithoutPage(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", shopPages(t)+"/blank")
	u.mustCall("web_click", "ref", "blank")
	if got := u.mustCall("web_waitForTab"); got != "tab 1 (about:blank) is current" {
		t.Error(got)
	}
	u.mustEval("window.open(); 0")
	if got := u.mustCall("web_waitForTab"); got != "tab 2 (about:blank) is current" {
		t.Error(got)
	}
}

// The current page is drawn although another tab is in front of it.
func TestScreenshotOfCoveredPage(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := shopPages(t)
	u.mustCall("navigate", "url", url+"/opener")
	u.mustCall("web_click", "ref", "script")
	if data, err := u.page().screenshot(t.Context()); err != nil || len(data) == 0 {
		t.Error(err)
	}
	if got := u.mustEval("new Promise(r => requestAnimationFrame(() => r(document.visibilityState)))"); got != "visible" {
		t.Errorf("the page is %s", got)
	}
	if text := u.pageText(); !strings.Contains(text, "Open tabs:\n- 0 "+url+"/opener (this page)\n- 1 "+url+"/opened?script\n") {
		t.Error(text)
	}
}

// The browser keeps the window of the empty document that a popup of the same origin shows at first, and the isolated
// world in it. A headless shell calls no listener that was registered there before.
func TestPopupsOfTheSameOrigin(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/opener": htmlPage(`<button onclick="window.open('/popup')">Script</button><a target=_blank rel=opener href=/popup>Link</a>
			<form action=/popup target=named><button>Form</button></form>`),
		"/popup": htmlPage(`<title>0</title><button onclick="document.title++">Pick</button><input type=checkbox aria-label=Agree>
			<input aria-label=Name><button onclick="
				state.append('Saved'); setTimeout(() => state.replaceChildren(), 300)">Save</button><p id=state role=status></p>`),
	})
	b := newTestBackend(t, map[string]string{"browser": spawntest.HeadlessShell(t)})
	for _, way := range []string{"Script", "Link", "Form"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			u := openSessionIn(t, b, device.Session{Live: true})
			u.mustCall("web_navigate", "url", at+"/opener")
			u.mustCall("web_click", "ref", way)
			u.mustCall("web_waitForTab", "urlPattern", "popup")
			u.mustCall("web_click", "ref", "Pick")
			u.mustCall("web_setChecked", "ref", "Agree")
			u.mustCall("web_verifyState", "ref", "Agree", "state", "checked")
			u.mustCall("web_type", "ref", "Name", "text", "Ann")
			u.mustCall("web_verifyValue", "ref", "Name", "expected", "Ann")
			u.mustCall("web_verifyTitle", "pattern", "^1$")
			u.mustCall("web_click", "ref", "Save")
			u.messages("Saved")
		})
	}
}
