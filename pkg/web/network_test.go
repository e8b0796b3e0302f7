package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/network"
)

// apiPages is a page that requests what its URL says, and an API.
func apiPages(t *testing.T) string {
	t.Helper()
	return serve(t, map[string]http.HandlerFunc{
		"/page":  htmlPage(`<title>page</title><button onclick="get('/api/orders?id=1')">get</button><p id=out></p><script>async function get(url, options) { try { const r = await fetch(url, options); return out.textContent = r.status + " " + (r.headers.get("x-test") ?? "") + " " + await r.text() } catch (e) { return out.textContent = "failed" } }</script>`),
		"/frame": htmlPage(`<title>frame</title><iframe src="/page"></iframe>`),
		"/api/": func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Set-Cookie", "session=secret")
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"path": %q, "got": %q}`, r.URL.Path, body)
		},
		"/missing": http.NotFound,
	})
}

func TestWaitForRequestAndResponse(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := apiPages(t)
	u.mustCall("navigate", "url", url+"/page")
	u.mustCall("web_click", "ref", "get")
	var got network.Message
	decode := func(text string) {
		t.Helper()
		got = network.Message{}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
	}
	decode(u.mustCall("web_waitForResponse", "url", "**/api/orders?id=*", "method", "get", "status", 200))
	if got.URL != url+"/api/orders?id=1" || got.Status != 200 || got.Method != "GET" || got.Body != `{"path": "/api/orders", "got": ""}` ||
		got.Headers["content-type"] != "application/json" || strings.Contains(got.Headers["set-cookie"], "secret") {
		t.Errorf("%+v", got)
	}
	decode(u.mustCall("web_waitForRequest", "url", url+"/api/orders?id=1"))
	if got.Method != "GET" {
		t.Errorf("%+v", got)
	}
	u.mustFail("web_waitForResponse", []any{"url", "**/api/**", "timeoutMs", 50},
		`timed out after 50ms waiting for a response with url "**/api/**"; requests: `, "GET "+url+"/api/orders?id=1 (200)")
	u.mustEval(`setTimeout(() => get("/api/late", {method: "POST", body: "sent"}), 50); 0`)
	decode(u.mustCall("web_waitForRequest", "url", "**/late"))
	if got.Method != "POST" || got.Body != "sent" {
		t.Errorf("%+v", got)
	}
	decode(u.mustCall("web_waitForResponse", "url", "**/late", "method", "POST"))
	if got.Body != `{"path": "/api/late", "got": "sent"}` {
		t.Errorf("%+v", got)
	}
	u.mustEval("1")
	u.mustFail("web_waitForResponse", []any{"url", "**/late", "timeoutMs", 50}, "requests: none")
	for _, bad := range []string{"{a", "api/orders", "/api"} {
		if failed := u.mustFail("web_waitForResponse", []any{"url", bad}, "url"); failed.Kind != fault.InvalidArguments {
			t.Errorf("%s: %+v", bad, failed)
		}
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	b := sharedBrowser.get(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "orders.json"), []byte(`["file"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	u := openSessionIn(t, b, device.Session{TrailDir: folder})
	url := apiPages(t)
	u.mustCall("navigate", "url", url+"/page")
	get := func(path, options string) string {
		t.Helper()
		return u.mustEval(`get(` + fmt.Sprintf("%q", path) + `, ` + options + `)`)
	}
	check := func(path, want string) {
		t.Helper()
		if got := get(path, "{}"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	u.mustCall("web_route", "url", "**/api/**", "status", 201, "headers", map[string]any{"X-Test": "h"}, "body", map[string]any{"a": 1})
	check("/api/orders", `201 h {"a":1}`)
	check(otherSite(url)+"/api/orders", `201  {"a":1}`) // of another origin, with a preflight request below
	if got := get(otherSite(url)+"/api/orders", `{method: "PUT", headers: {"X-Own": "1"}}`); got != `201  {"a":1}` {
		t.Errorf("a request with a preflight request: %s", got)
	}
	u.mustCall("web_route", "url", "**/api/orders", "method", "POST", "abort", true)
	if got := get("/api/orders", `{method: "POST"}`); got != "failed" {
		t.Errorf("an aborted request: %s", got)
	}
	check("/api/orders", `201 h {"a":1}`)
	u.mustCall("web_route", "url", "**/api/file", "bodyFile", "orders.json")
	check("/api/file", `200  ["file"]`)
	u.mustCall("web_route", "url", "**/missing", "delayMs", 1)
	check("/missing", "404  404 page not found\n")
	u.mustCall("web_route", "url", "**/page", "body", "<title>routed</title>")
	u.mustCall("navigate", "url", url+"/frame")
	if got := u.mustEval("frames[0].document.title"); got != "routed" {
		t.Errorf("the frame is %s", got)
	}
	u.mustEval(`window.open("/page"); 0`)
	u.mustCall("web_waitForTab", "title", "routed")
	u.mustCall("web_closeTab")

	if got := u.mustCall("web_unroute", "url", "**/page"); got != "removed 1 route" {
		t.Error(got)
	}
	u.mustFail("web_unroute", []any{"url", "**/page"}, `no route has the url "**/page"; routes: **/missing, **/api/file`)
	u.mustCall("web_unroute")
	u.mustCall("navigate", "url", url+"/page")
	check("/api/orders", `200  {"path": "/api/orders", "got": ""}`)
	for want, args := range map[string][]any{
		"does not say what to do":          {"url", "**"},
		"a request that is aborted has no": {"url", "**", "abort", true, "status", 200},
		"body and bodyFile cannot be used": {"url", "**", "body", "", "bodyFile", "orders.json"},
		"may not be read: it is not below": {"url", "**", "bodyFile", "../../secret"},
		"missing.json does not exist":      {"url", "**", "bodyFile", "missing.json"},
		`is neither a URL nor a pattern`:   {"url", "orders", "status", 200},
		`headers: "A\nB" is not a header`:  {"url", "**", "headers", map[string]any{"A\nB": "x"}},
		"there is no base_url":             {"url", "/api", "status", 200},
		"a { without }":                    {"url", "**/{a", "status", 200},
	} {
		u.mustFail("web_route", args, want)
	}
}

// A route must not open a page for agents that they may not open.
func TestRoutesDoNotOpenOtherOrigins(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{RestrictOrigins: true})
	url := apiPages(t)
	u.mustCall("navigate", "url", url+"/page")
	u.mustCall("web_route", "url", "**", "body", "<title>routed</title>")
	u.mustFail("navigate", []any{"url", "https://other.example/"}, "may not be opened")
	_, _ = u.call("web_evaluate", "script", `location.href = "https://other.example/x"; 0`)
	u.waitForNotes("- https://other.example/x, because its origin is not allowed, only " + url)
	if got := u.mustCall("web_currentUrl"); got != url+"/page" {
		t.Errorf("the page is %s", got)
	}
	u.mustCall("web_unroute")
	u.mustFail("navigate", []any{"url", "https://other.example/"}, "may not be opened")
}
