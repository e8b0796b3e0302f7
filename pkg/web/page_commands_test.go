package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/web/storage"
)

func TestEvaluateReturnsResult(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	for script, want := range map[string]string{
		"1 + 1":                             "2",
		"'text'":                            "text",
		`"\ud83d"`:                          "\uFFFD",
		"'é <b>'":                           "é <b>",
		"null":                              "null",
		"undefined":                         "undefined",
		"let x = 3; x * 2":                  "6",
		"0/0":                               "NaN",
		"-0":                                "-0",
		"[1, 'ü', null]":                    `[1,"ü",null]`,
		"({b: 1, a: {c: [true]}})":          `{"b":1,"a":{"c":[true]}}`,
		"() => 7":                           "7",
		"async () => ({late: await 8})":     `{"late":8}`,
		"function f() { return 'named' } f": "named",
		"() => {}":                          "undefined",
		"Promise.resolve(9)":                "9",
		"new Promise(r => setTimeout(r, 10, 10))": "10",
		"return 11": "11",
		"if (true) { return {a: 12} } // comment": `{"a":12}`,
		"await Promise.resolve(1); return 13":     "13",
		"document.body":                           "{}",
	} {
		if got := u.mustEval(script); got != want {
			t.Errorf("%s: got %s, want %s", script, got, want)
		}
	}
	result, _ := u.call("evaluateJs", "script", "({a: 1})")
	if string(result.Structured) != `{"a":1}` {
		t.Errorf("structured: %s", result.Structured)
	}
	for script, want := range map[string]string{
		"nonsense(":              "SyntaxError",
		"missing()":              "ReferenceError: missing is not defined",
		"throw new Error('no')":  "Error: no",
		"throw 'text'":           `"text"`,
		"Promise.reject('late')": `"late"`,
		"() => { null.x }":       "TypeError",
		"let a = {}; a.a = a; a": "circular",
	} {
		u.mustFail("evaluateJs", []any{"script", script}, want)
	}
	url := serve(t, map[string]http.HandlerFunc{"/next": htmlPage("next")}) + "/next"
	u.mustFail("web_evaluate", []any{"script", "location.href = '" + url + "'; new Promise(() => {})"},
		"the page navigated away")
}

func TestResize(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	const size = "[innerWidth, innerHeight, devicePixelRatio, screen.width]"
	if got := u.mustEval(size); got != "[1280,800,1,1280]" {
		t.Errorf("the page has %s", got)
	}
	u.mustCall("web_resize", "width", 400, "height", json.Number("700"))
	if got := u.mustEval(size); got != "[400,700,1,400]" {
		t.Errorf("resized, the page has %s", got)
	}
	if w, h := u.device.Size(); w != 400 || h != 700 {
		t.Errorf("the device says %d, %d", w, h)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	began := time.Now()
	u.mustCall("web_wait", "seconds", 0.2)
	if took := time.Since(began); took < 200*time.Millisecond || took > testLimit {
		t.Errorf("it took %s", took)
	}
}

func TestScreenshotsAreKept(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{"/x": htmlPage("<title>X</title><h1>Hello</h1>")}) + "/x"
	u.mustCall("navigate", "url", url)
	u.mustCall("captureScreen")
	if got := u.mustCall("web_snapshot", "screenName",
		"start"); got != "kept start.png and start.txt of "+url+"\n- heading \"Hello\" [ref=e1] [level=1]" {
		t.Error(got)
	}
	for _, name := range []string{"screenshot.png", "start.png"} {
		if !strings.HasPrefix(string(u.kept[name]), "\x89PNG") {
			t.Errorf("%s is no picture", name)
		}
	}
	if got := string(u.kept["start.txt"]); !strings.Contains(got, `heading "Hello"`) {
		t.Errorf("the page is %s", got)
	}
}

func TestCookiesAndStorage(t *testing.T) {
	t.Parallel()
	url := serve(t, nil)
	a, b := openSession(t), openSession(t)
	a.mustCall("navigate", "url", url+"/page-store.html")
	a.mustEval(`document.cookie = "plain=1"; document.cookie = "long=2; max-age=1000; SameSite=Strict"; localStorage.setItem("key", "välue"); 0`)
	text := a.mustCall("web_getStorageState")
	var state storage.State
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]storage.Origin{{Origin: url, LocalStorage: []storage.Item{{Name: "key", Value: "välue"}}}}, state.Origins); diff != "" ||
		len(state.Cookies) != 2 {
		t.Errorf("%s\n%s", diff, text)
	}
	if got := b.mustCall("web_applyCookies", "cookiesJson", text); got !=
		"applied 2 cookies (the local storage of 1 origin was ignored: web_applyStorageState sets it, too)" {
		t.Error(got)
	}
	b.mustCall("navigate", "url", url+"/page-store.html")
	if got := b.mustEval("document.cookie.split('; ').sort().join()"); got != "long=2,plain=1" {
		t.Errorf("the cookies are %s", got)
	}
	b.mustCall("web_applyCookies",
		"cookiesJson", `[{"name": "third", "value": "3", "url": "`+url+`", "sameSite": "lax", "expires": -1, "extra": {}}]`)
	b.mustCall("web_applyCookies", "cookiesJson", []any{map[string]any{
		"name": "fourth", "value": "4",
		"domain": "127.0.0.1",
	}})
	if got := b.mustEval("document.cookie.split('; ').sort().join()"); got != "fourth=4,long=2,plain=1,third=3" {
		t.Errorf("the cookies are %s", got)
	}
	for given, want := range map[string]string{
		"{": "not cookies in JSON", `[{"value": "x"}]`: "cookie 1 has no name", `[{"name": "x"}]`: `cookie "x" has neither url nor domain`,
		`[{"name": "x", "url": "nowhere"}]`: "rejected", `{"origins": []}`: "it has no cookies", "null": "it has no cookies",
	} {
		b.mustFail("web_applyCookies", []any{"cookiesJson", given}, want)
	}
}

func TestEvaluateLimitsResult(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	for _, script := range []string{
		"'x'.repeat(9 << 20)", "() => ['x'.repeat(9 << 20)]",
		"Promise.resolve('x'.repeat(9 << 20))",
	} {
		u.mustFail("web_evaluate", []any{"script", script}, "the script returned 9 MiB, and at most 8 MiB are allowed")
	}
	if got := len(u.mustEval("'x'.repeat(7 << 20)")); got != 7<<20 {
		t.Errorf("%d bytes", got)
	}
}
