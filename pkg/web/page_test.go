package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/chromium"
)

// pageText returns what page.txt says.
func (u *testSession) pageText() string {
	u.t.Helper()
	for _, a := range u.device.Evidence(u.t.Context()) {
		if a.Name == "page.txt" {
			return string(a.Data)
		}
	}
	u.t.Fatal("there is no page.txt")
	return ""
}

func (u *testSession) waitForNotes(lines ...string) {
	u.t.Helper()
	var is string
	defer func() {
		if u.t.Failed() {
			u.t.Log(is)
		}
	}()
	waitFor(u.t, fmt.Sprintf("notes of %q", lines), func() bool {
		is = u.pageText()
		for _, line := range lines {
			if !strings.Contains(is, line+"\n") {
				return false
			}
		}
		return true
	})
}

func TestSessionsAreIsolated(t *testing.T) {
	t.Parallel()
	url := serve(t, nil) + "/page-store.html"
	a, b := openSession(t), openSession(t)
	a.mustCall("navigate", "url", url)
	a.mustEval(`document.cookie = "who=a; max-age=1000"; localStorage.who = "a"; sessionStorage.who = "a"; 0`)
	if err := a.page().target.Call(t.Context(), "Browser.grantPermissions", map[string]any{
		"permissions": []string{"geolocation"}, "browserContextId": a.page().context.id,
	}, nil); err != nil {
		t.Fatal(err)
	}
	const all = `(async () => [document.cookie, localStorage.who, sessionStorage.who, (await indexedDB.databases()).length,
		(await navigator.permissions.query({name: "geolocation"})).state])()`
	a.mustEval(`new Promise(done => { indexedDB.open("db").onsuccess = () => done(1) })`)
	if got := a.mustEval(all); got != `["who=a","a","a",1,"granted"]` {
		t.Errorf("its own session sees %s", got)
	}
	b.mustCall("navigate", "url", url)
	const nothing = `["",null,null,0,"prompt"]`
	if got := b.mustEval(all); got != nothing {
		t.Errorf("another session sees %s", got)
	}
	another := openSessionIn(t, newTestBackend(t, nil), device.Session{})
	another.mustCall("navigate", "url", url)
	if got := another.mustEval(all); got != nothing {
		t.Errorf("another run at the same time sees %s", got)
	}
	a.mustCall("clearAppData")
	if got := a.mustCall("web_currentUrl"); got != "about:blank" {
		t.Errorf("after clearAppData the page is %s", got)
	}
	a.mustCall("navigate", "url", url)
	if got := a.mustEval(all); got != nothing {
		t.Errorf("after clearAppData the session sees %s", got)
	}
}

func TestDialogsAreAnswered(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{
		"/loud":  htmlPage(`<script>alert("at load"); addEventListener("beforeunload", e => e.preventDefault())</script><button onclick="0">b</button>`),
		"/quiet": htmlPage(`quiet`),
	})
	u.mustCall("navigate", "url", url+"/loud")
	if got := u.mustEval(`[alert("one"), confirm("two"), prompt("three", "3")]`); got != `[null,false,null]` {
		t.Errorf("by default dialogs give %s", got)
	}
	u.mustCall("web_handleDialog", "action", "accept", "text", "typed")
	if got := u.mustEval(`[confirm("four"), prompt("five")]`); got != `[true,"typed"]` {
		t.Errorf("accepted dialogs give %s", got)
	}
	u.mustCall("web_handleDialog", "action", "DISMISS")
	if got := u.mustEval(`confirm("six")`); got != `false` {
		t.Errorf("dismissed again, a dialog gives %s", got)
	}
	u.mustEval(`document.querySelector("button").click(); document.hasFocus()`)
	if err := u.page().target.Call(t.Context(), "Input.dispatchMouseEvent", map[string]any{
		"type": "mousePressed", "x": 20, "y": 20, "button": "left", "clickCount": 1,
	}, nil); err != nil { // beforeunload asks only on pages that were touched
		t.Fatal(err)
	}
	u.mustFail("navigate", []any{"url", url + "/quiet"}, `beforeunload "" was dismissed`)
	u.mustCall("web_verifyUrl", "pattern", "/loud$")
	u.mustCall("web_handleDialog", "action", "ACCEPT")
	u.mustCall("navigate", "url", url+"/quiet")
	u.waitForNotes(`- alert "at load", dismissed`, `- confirm "two", dismissed`, `- prompt "five", accepted`,
		`- confirm "six", dismissed`, `- beforeunload "", dismissed`, `- beforeunload "", accepted`)
	u.mustFail("web_handleDialog", []any{"action", "IGNORE"}, "IGNORE", "ACCEPT, DISMISS")
}

func TestOpenedPageKeepsCurrentPage(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{
		"/opener": htmlPage(`<title>opener</title><a target=_blank href="/opened">link</a>`),
		"/opened": htmlPage(`<title>opened</title><script>alert("in the new tab"); console.error("bad there")</script>`),
	})
	u.mustCall("navigate", "url", url+"/opener")
	u.mustEval(`document.querySelector("a").click()`)
	if got := u.mustEval(`document.title`); got != "opener" {
		t.Errorf("the page is %s", got)
	}
	if got := u.mustEval(`window.open("/opened"); document.title`); got != "opener" {
		t.Errorf("the page is %s", got)
	}
	u.waitForNotes("- "+url+"/opened", `- alert "in the new tab", dismissed`, "- console.error: bad there")
	if got := u.mustEval(`document.title`); got != "opener" {
		t.Errorf("the page is %s", got)
	}
}

func TestCrashedPageEndsOnlyItsSession(t *testing.T) {
	t.Parallel()
	b := newTestBackend(t, nil)
	u, other := openSessionIn(t, b, device.Session{}), openSessionIn(t, b, device.Session{})
	other.mustCall("navigate", "url", "about:blank")
	// Before its first page, a tab can crash too.
	_, err := u.call("navigate", "url", "chrome://crash")
	if fault.KindOf(err) != fault.Crashed || !strings.Contains(err.Error(), "crashed") {
		t.Errorf("the call: %v", err)
	}
	select {
	case err := <-u.broken:
		if fault.KindOf(err) != fault.Crashed {
			t.Errorf("the session was told %v", err)
		}
	case <-time.After(testLimit):
		t.Error("the session was not told")
	}
	if _, err := u.call("web_currentUrl"); fault.KindOf(err) != fault.Crashed {
		t.Errorf("a later call: %v", err)
	}
	d := u.device.(*webDevice)
	failed := fault.New(fault.ToolFailed, "", "the script failed") // before the call was told of the crash
	_, err = d.failure(t.Context(), t.Context(), d.openContext().lastPage(), tool.Call{}, testLimit, activity{}, failed)
	if fault.KindOf(err) != fault.Crashed {
		t.Errorf("a call that failed because of the crash: %v", err)
	}
	if len(u.device.Evidence(t.Context())) == 0 {
		t.Error("there is no evidence")
	}
	if product := u.device.(device.ProductReporter).Product(); !strings.HasPrefix(product, "Chrom") {
		t.Errorf("the product is %q", product)
	}
	other.mustEval("1")
	openSessionIn(t, b, device.Session{}).mustCall("navigate", "url", "about:blank")
}

func TestPageThatClosesItselfEndsSession(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "about:blank")
	_, _ = u.call("web_evaluate", "script", "window.close()")
	select {
	case err := <-u.broken:
		if fault.KindOf(err) != fault.Crashed || !strings.Contains(err.Error(), "was closed") {
			t.Errorf("the session was told %v", err)
		}
	case <-time.After(testLimit):
		t.Error("the session was not told")
	}
}

func TestDownloadsAreKept(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{
		"/list": htmlPage(`<a href="/report.csv">get</a>`),
		"/report.csv": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
			_, _ = w.Write([]byte("a,b\n"))
		},
	})
	u.mustCall("navigate", "url", url+"/list")
	u.mustEval(`document.querySelector("a").click()`)
	u.waitForNotes("- report.csv from "+url+"/report.csv", "- report.csv is completed, 4 bytes")
	waitFor(t, "the file", func() bool {
		u.mustEval("1") // the next call keeps what has come
		u.mu.Lock()
		defer u.mu.Unlock()
		return string(u.kept["report.csv"]) == "a,b\n"
	})
	if got := u.mustCall("navigate", "url", url+"/report.csv"); !strings.Contains(got, "download") {
		t.Errorf("visiting a download: %s", got)
	}
	if got := u.mustCall("web_currentUrl"); got != url+"/list" {
		t.Errorf("the page is %s", got)
	}
}

func TestBrowserAtURLIsNotClosed(t *testing.T) {
	t.Parallel()
	theirs := newTestBackend(t, nil)
	owner := openSessionIn(t, theirs, device.Session{})
	owner.mustCall("navigate", "url", "about:blank")
	address, socket := debuggingPort(t)
	contexts := func() (ids []string) {
		b := connectTo(t, address)
		defer func() { _ = b.Conn.Close() }()
		var answer struct{ BrowserContextIDs []string }
		if err := b.Conn.Browser().Call(t.Context(), "Target.getBrowserContexts", nil, &answer); err != nil {
			t.Fatal(err)
		}
		return answer.BrowserContextIDs
	}
	before := len(contexts())
	for _, url := range []string{address, strings.Replace(address, "127.0.0.1", "localhost", 1), socket} {
		b, err := Kind().New(device.Host{Values: map[string]string{"cdpUrl": url}})
		if err != nil {
			t.Fatal(err)
		}
		d := b.Open(device.Session{Log: func(string, string, string) {}, Broken: func(err error) { t.Error(err) }})
		result, err := d.Call(t.Context(), tool.Call{Tool: "web_evaluate", Args: map[string]any{"script": "1 + 1"}})
		if err != nil || result.Text != "2" {
			t.Fatalf("%s: %v, %v", url, result, err)
		}
		if n := len(contexts()); n != before+1 {
			t.Errorf("%d contexts, want %d", n, before+1)
		}
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if n := len(contexts()); n != before {
			t.Errorf("%d contexts are left of %d", n, before)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := len(contexts()); n != before {
		t.Errorf("%d contexts, want %d", n, before)
	}
}

// debuggingPort returns the URLs of a browser that listens on a port: of its port, and of its WebSocket.
func debuggingPort(t *testing.T) (address, socket string) {
	t.Helper()
	o := newTestBackend(t, nil).(*backend).options.browser
	o.Browser = fakeBrowser(t, "exec "+o.Browser+` "$@" --remote-debugging-port=0`)
	other, err := o.Start(t.Context(), func(string, string, string) {}, func(*cdp.Conn, cdp.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	var port, path string
	waitFor(t, "the port", func() bool {
		data, err := os.ReadFile(filepath.Join(other.Folder, "DevToolsActivePort"))
		port, path, _ = strings.Cut(strings.TrimSpace(string(data)), "\n")
		return err == nil && path != ""
	})
	return "http://127.0.0.1:" + port, "ws://127.0.0.1:" + port + path
}

func connectTo(t *testing.T, address string) *chromium.Browser {
	t.Helper()
	b, err := chromium.Options{CDPURL: address}.Start(t.Context(), nil, func(*cdp.Conn, cdp.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEvidenceOfBusyPage(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<title>Shop</title><h1>Hello</h1>
		<script>console.error("bad", {a: 1}); console.warn("hm"); fetch("/missing"); setTimeout(() => { throw new Error("late") })</script>
		<img src="http://127.0.0.1:1/none.png">`)})
	u.mustCall("navigate", "url", url+"/page")
	u.waitForNotes("URL: "+url+"/page", "Title: Shop", "- console.error: bad Object", "- console.warning: hm",
		"- "+url+"/missing: the server responded with a status of 404 (Not Found)", "- http://127.0.0.1:1/none.png: net::ERR_UNSAFE_PORT")
	if got := u.pageText(); !strings.Contains(got, "- Error: late\n") {
		t.Errorf("page.txt lacks an error:\n%s", got)
	}
	var names []string
	for _, a := range u.device.Evidence(t.Context()) {
		names = append(names, a.Name)
		if a.Name == "screenshot.png" && !strings.HasPrefix(string(a.Data), "\x89PNG") {
			t.Error("the screenshot is none")
		}
		if a.Name == "screen.txt" && !strings.Contains(string(a.Data), `heading "Hello"`) {
			t.Errorf("the page is %s", a.Data)
		}
	}
	if diff := cmp.Diff([]string{"page.txt", "screenshot.png", "screen.txt"}, names); diff != "" {
		t.Error(diff)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hanging := make(chan error, 1)
	go func() {
		_, err := u.device.Call(ctx, tool.Call{
			Tool: "web_evaluate",
			Args: map[string]any{"script": "console.log('x'); while (true) {}"},
		})
		hanging <- err
	}()
	waitFor(t, "the hang", func() bool {
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		return u.page().main().evaluate(short, "1", nil) != nil
	})
	u.device.(*webDevice).limits.evidence = time.Second
	began := time.Now()
	shown := u.device.Evidence(ctx)
	if len(shown) == 0 || !strings.Contains(string(shown[0].Data), "URL: "+url+"/page\n") {
		t.Errorf("the evidence of a page that hangs is %v", shown)
	}
	if took := time.Since(began); took > testLimit {
		t.Errorf("it took %s", took)
	}
	cancel()
	if err := <-hanging; fault.KindOf(err) != fault.Cancelled {
		t.Errorf("the call that hung: %v", err)
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	const secret = `p&s "é` + "\\"
	url := serve(t, map[string]http.HandlerFunc{"/form": htmlPage(`<input aria-label=field>`)}) + "/form"
	u.mustCall("navigate", "url", url)
	u.page().notes.AddSecret(secret)
	quoted, _ := json.Marshal(secret)
	u.mustEval(
		fmt.Sprintf(
			`(secret => { document.querySelector("input").value = secret; document.title = secret; console.error(secret);
		alert(secret); history.replaceState(0, "", "?q=" + encodeURIComponent(secret)) })(%s)`,
			quoted,
		),
	)
	check := func(what, text string) {
		t.Helper()
		for _, form := range []string{secret, `p&s`, "p%26s", `\"é`} {
			if strings.Contains(text, form) {
				t.Errorf("%s has %q in it: %s", what, form, text)
			}
		}
	}
	u.waitForNotes("Title: [secret]", "- console.error: [secret]")
	for _, a := range u.device.Evidence(t.Context()) {
		if a.Text {
			check(a.Name, string(a.Data))
		}
	}
	check("the URL", u.mustCall("web_currentUrl"))
	check("the title", u.mustEval("document.title"))
	check("an object", u.mustEval("({title: document.title})"))
	snapshot, _ := u.call("web_snapshot")
	check("the snapshot", string(snapshot.Structured))
	thrown, _ := u.call("web_evaluate", "script", "throw new Error(document.title)")
	check("an error", thrown.Text)
}
