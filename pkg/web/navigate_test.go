package web

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/access"
	"github.com/trailblaze/trailblaze/testdata/ports"
)

// callWithin calls a command with a limit.
func (u *testSession) callWithin(limit time.Duration, name string, args map[string]any) (tool.Result, error) {
	return u.device.Call(context.Background(), tool.Call{Tool: name, Args: args, Timeout: limit})
}

func TestNavigateWaitsForLoadOnly(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	release := make(chan struct{})
	url := serve(t, map[string]http.HandlerFunc{
		"/slow": htmlPage(`<img src="/image" onload="document.title = 'loaded'">`),
		"/image": func(w http.ResponseWriter, _ *http.Request) {
			<-release
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
		},
		"/busy": htmlPage(`<title>busy</title><script>setInterval(() => document.title += ".", 5);
			(async () => { for (;;) await fetch("/poll?" + Math.random()) })()</script>`),
		"/never": htmlPage(`<title>never</title><p>here<img src="/hangs">`),
		"/hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/poll":  htmlPage(`x`),
		"/other": htmlPage(`other`),
		"/hops":  htmlPage(`<script>location.replace("/other")</script>`),
		"/late":  htmlPage(`<script>onload = () => setTimeout(() => location.href = "/other")</script>`),
		"/none":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"/moved": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) },
	})
	time.AfterFunc(100*time.Millisecond, func() { close(release) })
	u.mustCall("web_navigate", "url", url+"/slow")
	if got := u.mustEval("document.title"); got != "loaded" {
		t.Errorf("the title is %q: the image is not there", got)
	}
	began := time.Now()
	if got := u.mustCall("navigate", "url", url+"/busy"); got != "opened "+url+"/busy" {
		t.Error(got)
	}
	if took := time.Since(began); took > testLimit {
		t.Errorf("a page that is never idle took %s", took)
	}
	if got := u.mustCall("navigate", "url", url+"/hops"); !strings.HasSuffix(got, "which led to "+url+"/other") {
		t.Error(got)
	}
	if got := u.mustCall("navigate", "url", url+"/moved"); !strings.HasSuffix(got, "which led to "+url+"/other") {
		t.Error(got)
	}
	u.mustCall("navigate", "url", url+"/late")
	u.mustCall("web_waitForUrl", "pattern", "/other$")
	u.mustCall("navigate", "url", url+"/busy#part")
	if got := u.mustCall("navigate", "url", url+"/busy#other"); !strings.Contains(got, "in the same document") {
		t.Error(got)
	}
	u.mustFail("navigate", []any{"url", url + "/none"}, "did not open a page")

	result, err := u.callWithin(3*time.Second, "navigate", map[string]any{"url": url + "/never"})
	if want := "its document is complete, but GET " + url + "/hangs has not ended"; err != nil || !slices.Equal(result.Notes, []string{want}) {
		t.Errorf("/never: %+v, %v", result, err)
	}
	result, err = u.callWithin(3*time.Second, "navigate", map[string]any{"url": url + "/hangs"})
	if err != nil || result.Kind != fault.CallTimeout || !strings.Contains(result.Text, url+"/hangs did not respond within 3s") {
		t.Errorf("/hangs: %+v, %v", result, err)
	}
	if got := u.mustCall("navigate", "url", url+"/other"); got != "opened "+url+"/other" {
		t.Error(got)
	}
}

func TestNavigationErrors(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	port, err := ports.Free(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://127.0.0.1:" + port
	if got := u.mustFail("navigate", []any{"url", dead},
		dead+" could not be opened: the connection was refused (net::ERR_CONNECTION_REFUSED)"); got.Hint == "" {
		t.Error("there is no hint")
	}
	if got := u.mustCall("web_currentUrl"); got != dead+"/" {
		t.Errorf("the page is %s", got)
	}
	u.mustFail("navigate", []any{"url", "http://no-such-host.invalid/"}, "net::ERR_NAME_NOT_RESOLVED")
	u.mustFail("navigate", []any{"url", "nowhere://x"}, "nowhere://x")
	u.mustFail("navigate", []any{"url", " "}, "url")
	u.mustFail("web_navigate", []any{"action", "AROUND"}, "AROUND", "GOTO, BACK, FORWARD")
}

func TestBackAndForward(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{"/a": htmlPage(`<title>a</title>`), "/b": htmlPage(`<title>b</title>`)})
	u.mustCall("web_navigate", "url", url+"/a")
	u.mustCall("web_navigate", "url", url+"/b")
	u.mustCall("web_navigate", "url", url+"/b#hash")
	u.mustEval(`history.pushState({}, "", "/pushed")`)
	u.mustCall("web_navigate", "url", otherSite(url)+"/a")
	for _, step := range []struct{ action, url string }{
		{"back", url + "/pushed"},
		{"BACK", url + "/b#hash"},
		{"BACK", url + "/b"},
		{"BACK", url + "/a"},
		{"FORWARD", url + "/b"},
		{"FORWARD", url + "/b#hash"},
		{"FORWARD", url + "/pushed"},
		{"FORWARD", otherSite(url) + "/a"},
		{"BACK", url + "/pushed"},
	} {
		u.mustCall("web_navigate", "action", step.action)
		if got := u.mustCall("web_currentUrl"); got != step.url {
			t.Errorf("%s leads to %s, want %s", step.action, got, step.url)
		}
	}
	u.mustCall("web_navigate", "action", "FORWARD")
	u.mustFail("web_navigate", []any{"action", "FORWARD"},
		"cannot go forward from "+otherSite(url)+"/a: the history has no such page")
}

func TestPagesOfHistoryThatFail(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	var asked atomic.Int32
	url := serve(t, map[string]http.HandlerFunc{
		"/a": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			switch n := asked.Add(1); {
			case n == 2:
				w.WriteHeader(http.StatusServiceUnavailable)
			case n > 2:
				panic(http.ErrAbortHandler) // closes the connection; Chromium tries again
			}
			_, _ = io.WriteString(w, "<title>a</title>")
		},
		"/b": htmlPage(`<title>b</title>`),
	})
	u.mustCall("web_navigate", "url", url+"/a")
	u.mustCall("web_navigate", "url", url+"/b")
	if got := u.mustCall("web_navigate", "action", "BACK"); !strings.Contains(got, "503 Service Unavailable") {
		t.Errorf("%q does not have the status", got)
	}
	u.mustCall("web_navigate", "action", "FORWARD")
	u.mustFail("web_navigate", []any{"action", "BACK"}, "went back, and the page "+url+"/a did not load")
}

func TestResolveURL(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	trail := filepath.Join(root, "trails", "web")
	for _, file := range []string{
		"trails/web/both.html", "both.html", "root only.html", "trails/web/a?b.html",
		"sub/p.html",
	} {
		path := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	session := device.Session{TrailDir: trail, Root: root}
	at := &page{device: &webDevice{session: session, files: access.NewFiles(session, nil)}}
	file := "file://" + filepath.ToSlash(root)
	for given, want := range map[string]string{
		"http://shop.example/a b?c#d": "http://shop.example/a b?c#d",
		"HTTPS://shop.example":        "HTTPS://shop.example",
		"about:blank":                 "about:blank",
		"About:blank":                 "About:blank",
		"data:text/html,<p>x":         "data:text/html,<p>x",
		"chrome://crash":              "chrome://crash",
		"file:///etc/hosts":           "file:///etc/hosts",
		"both.html":                   file + "/trails/web/both.html",
		"../../both.html":             file + "/both.html",
		"root only.html":              file + "/root%20only.html",
		"root only.html?q=1#x":        file + "/root%20only.html?q=1#x",
		"a?b.html":                    file + "/trails/web/a%3Fb.html",
		"sub/p.html#top":              file + "/sub/p.html#top",
		root + "/both.html":           file + "/both.html",
		"  both.html ":                file + "/trails/web/both.html",
	} {
		if got, err := at.resolveURL(given); err != nil || got != want {
			t.Errorf("%q is %q, want %q; %v", given, got, want, err)
		}
	}
	_, err := at.resolveURL("localhost:3000/cart")
	if err == nil ||
		!strings.Contains(err.Error(), `"localhost:3000/cart" is not a URL, and the file `+filepath.Join(trail,
			"localhost:3000/cart")) {
		t.Errorf("got %v", err)
	}
	session.WorkingDir = filepath.Join(root, "sub")
	at = &page{device: &webDevice{session: session, files: access.NewFiles(session, nil)}}
	for given, want := range map[string]string{
		"both.html": "/trails/web/both.html", "p.html?q": "/sub/p.html?q", "root only.html": "/root%20only.html", "../sub/p.html": "/sub/p.html",
	} {
		if got, err := at.resolveURL(given); err != nil || got != file+want {
			t.Errorf("with a working directory, %q is %q, want %q; %v", given, got, file+want, err)
		}
	}
	if _, err := (&page{device: &webDevice{}}).resolveURL("x.html"); err == nil {
		t.Error("a relative path without a folder was resolved")
	}
}

func TestNavigateToFileOfTrail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "my page.html"), []byte("<title>mine</title>"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := sharedBrowser.get(t)
	u := openSessionIn(t, b, device.Session{TrailDir: dir})
	u.mustCall("web_navigate", "url", "my page.html")
	if got := u.mustEval("document.title"); got != "mine" {
		t.Errorf("the page is %q", got)
	}
}

func TestLaunchAppOpensBaseURL(t *testing.T) {
	t.Parallel()
	b := sharedBrowser.get(t)
	url := serve(t, map[string]http.HandlerFunc{"/shop": htmlPage(`shop`)}) + "/shop"
	if got := openSessionIn(t, b, device.Session{BaseURL: url}).mustCall("launchApp", "appId",
		"any"); got != "opened "+url {
		t.Error(got)
	}
	if got := openSession(t).mustFail("launchApp", nil, "base_url"); got.Hint == "" {
		t.Error("there is no hint")
	}
}

func TestWaitForURL(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{"/a": htmlPage(`a`), "/b": htmlPage(`b`)})
	u.mustCall("navigate", "url", url+"/a")
	u.mustCall("web_waitForUrl", "pattern", "/a$")
	for _, c := range []struct{ script, pattern string }{
		{`setTimeout(() => history.pushState({}, "", "/a?step=2"), 50)`, `step=\d`},
		{`setTimeout(() => location.hash = "end", 50)`, `#end$`},
		{`setTimeout(() => location.href = "/b", 50)`, `^http://[^/]+/b$`},
	} {
		u.mustEval(c.script + "; 0")
		u.mustCall("web_waitForUrl", "pattern", c.pattern)
	}
	u.mustFail("web_waitForUrl", []any{"pattern", "/never", "timeoutMs", 50}, "the URL is "+url+"/b", `"/never"`,
		"50ms")
	u.mustFail("web_waitForUrl", []any{"pattern", "("}, "pattern")
}

func TestCallEndsAtItsTimeout(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	began := time.Now()
	result, err := u.callWithin(100*time.Millisecond, "web_evaluate", map[string]any{"script": "new Promise(() => {})"})
	if err != nil || result.Kind != fault.CallTimeout ||
		!strings.HasPrefix(result.Text, "web_evaluate timed out after 100ms: ") {
		t.Errorf("got %+v, %v", result, err)
	}
	if took := time.Since(began); took > testLimit {
		t.Errorf("it took %s", took)
	}
}

func TestURLBelowBaseURL(t *testing.T) {
	t.Parallel()
	b := sharedBrowser.get(t)
	url := serve(t, map[string]http.HandlerFunc{"/cart": htmlPage("<h1>cart</h1>")})
	u := openSessionIn(t, b, device.Session{BaseURL: url + "/shop/index.html"})
	for _, address := range []string{"/cart?a=1", "/shop/../cart?a=1"} {
		u.mustCall("web_navigate", "url", address)
		if got := u.mustCall("web_currentUrl"); got != url+"/cart?a=1" {
			t.Errorf("%s leads to %s", address, got)
		}
	}
}

// The result of opening a page that answers with an error says so, and notes it.
func TestOpenedErrorPagesAreNoted(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/moved": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/gone", http.StatusFound) },
		"/gone":  func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusGone) },
		"/odd":   func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "odd", 599) },
		"/fine":  htmlPage("<h1>Fine</h1>"),
	})
	u := openSessionIn(t, sharedBrowser.get(t), device.Session{BaseURL: at + "/gone"})
	for path, want := range map[string][2]string{
		"/moved": {at + "/moved, which led to " + at + "/gone (410 Gone)", "410 Gone"},
		"/none":  {at + "/none (404 Not Found)", "404 Not Found"},
		"/odd":   {at + "/odd (599)", "599"},
		"/fine":  {at + "/fine", ""},
	} {
		result, err := u.call("web_navigate", "url", at+path)
		if err != nil || !result.OK || result.Text != "opened "+want[0] || strings.Join(result.Notes, "|") != want[1] {
			t.Errorf("%s: %+v, %v", path, result, err)
		}
	}
	if result, err := u.call("launchApp"); err != nil || !strings.Contains(result.Text, "(410 Gone)") || len(result.Notes) != 1 {
		t.Errorf("launchApp: %+v, %v", result, err)
	}
}

// A call that fails on a page that answered with an error says so, also after another action.
func TestFailuresNameTheStatusOfThePage(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{"/fine": htmlPage("<h1>Fine</h1>")})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/none")
	u.mustCall("web_scroll")
	for _, name := range []string{"web_click", "web_verifyElementVisible"} {
		u.mustFail(name, []any{"ref", "css=#save"}, "/none \"\", answered with 404 Not Found)")
	}
	u.mustCall("web_navigate", "url", at+"/fine")
	if failed := u.mustFail("web_click", []any{"ref", "css=#save"}); strings.Contains(failed.Text, "answered") {
		t.Error(failed.Text)
	}
}

func TestViewNamesTheStatusOfThePage(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{"/form": htmlPage(`<form method=post action="/none"><button>Save</button></form>`)})
	u := openLive(t, device.Session{})
	u.mustCall("web_navigate", "url", at+"/form")
	if status := u.view(device.ViewOptions{}).Status; status != "" {
		t.Error(status)
	}
	u.mustCall("web_click", "ref", "Save")
	if status := u.view(device.ViewOptions{}).Status; status != "404 Not Found" {
		t.Errorf("status %q", status)
	}
}
