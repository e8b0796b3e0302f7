package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/access"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// visits are the paths that a server was asked for.
type visits struct {
	mu    sync.Mutex
	paths []string
}

func (v *visits) add(path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paths = append(v.paths, path)
}

func (v *visits) take() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	paths := v.paths
	v.paths = nil
	return paths
}

func TestPagesOfOtherOriginsAreBlocked(t *testing.T) {
	t.Parallel()
	var asked visits
	evil := serve(t, map[string]http.HandlerFunc{"/evil/": func(w http.ResponseWriter, r *http.Request) {
		asked.add(r.URL.Path)
		htmlPage("<h1>evil</h1>")(w, r)
	}})
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, evil+"/evil/redirect", http.StatusFound)
	}
	url := serve(t, map[string]http.HandlerFunc{
		"/start":    htmlPage(`<h1>start</h1><a id=l href="` + evil + `/evil/link">link</a><a id=b target=_blank href="` + evil + `/evil/blank">blank</a><a id=r href=/redirect>r</a><form method=post action="` + evil + `/evil/form"><button id=f>f</button></form>`),
		"/redirect": redirect,
		"/framed":   htmlPage(`<h1>framed</h1><iframe src="` + evil + `/evil/frame"></iframe><iframe src="/top"></iframe>`),
		"/top":      htmlPage(`<a id=t target=_top href="` + evil + `/evil/top">t</a>`),
	})
	u := openLive(t, device.Session{RestrictOrigins: true})
	u.mustCall("navigate", "url", url+"/start")

	origin := syntax.OriginOf(evil)
	for _, call := range []string{"navigate", "web_navigate"} {
		refused := u.mustFail(call, []any{"url", evil + "/evil/call"}, evil+"/evil/call may not be opened: its origin is not allowed, only "+url)
		want := "--allow-origin " + origin + " allows it, or allowedOrigins: [" + origin + "] under device: web: in trailblaze.yaml, which the next session reads"
		if refused.Hint != want {
			t.Errorf("%s: hint %q, want %q", call, refused.Hint, want)
		}
	}
	u.mustFail("navigate", []any{"url", url + "/redirect"},
		evil+"/evil/redirect may not be opened, to which "+url+"/redirect leads: its origin is not allowed")
	u.mustFail("navigate", []any{"url", "chrome://version"}, "may not be opened")
	u.view(device.ViewOptions{})

	for path, script := range map[string]string{
		"link":     "document.querySelector('#l').click()",
		"redirect": "document.querySelector('#r').click()",
		"form":     "document.querySelector('#f').click()",
		"script":   "location.href = '" + evil + "/evil/script'",
		"replace":  "location.replace('" + evil + "/evil/replace')",
		"blank":    "document.querySelector('#b').click()",
		"popup":    "open('" + evil + "/evil/popup'); 0",
		"later":    "window.w = open('about:blank'); setTimeout(() => w.location = '" + evil + "/evil/later'); 0",
	} {
		_, _ = u.call("web_evaluate", "script", script+"; 0") // it fails if the page is blocked before it ends
		event := "blocked: " + evil + "/evil/" + path + ", because its origin is not allowed, only " + url
		var events []string
		waitFor(t, event, func() bool {
			events = append(events, u.view(device.ViewOptions{}).Events...)
			return slices.Contains(events, event)
		})
		if got := u.mustCall("web_currentUrl"); got != url+"/start" {
			t.Errorf("%s: the page is %s", path, got)
		}
	}
	if paths := asked.take(); len(paths) > 0 {
		t.Errorf("the server was asked for %q", paths)
	}

	u.mustCall("navigate", "url", url+"/framed")
	u.waitForFrames("/framed", "/evil/frame", "/top")
	if paths := asked.take(); !slices.Equal(paths, []string{"/evil/frame"}) {
		t.Errorf("the server was asked for %q; frames may show other origins", paths)
	}
	_, _ = u.call("web_evaluate", "script", "frames[1].document.querySelector('#t').click(); 0")
	u.waitForNotes("- " + evil + "/evil/top, because its origin is not allowed, only " + url)
	for _, address := range []string{"about:blank", "data:text/html,<h1>data"} {
		u.mustCall("navigate", "url", address)
	}
	u.mustEval("location.href = URL.createObjectURL(new Blob(['<h1>blob'], {type: 'text/html'})); 0")
	waitFor(t, "the blob", func() bool { return strings.HasPrefix(u.mustCall("web_currentUrl"), "blob:") })
	if paths := asked.take(); len(paths) > 0 {
		t.Errorf("the server was asked for %q", paths)
	}
}

func TestClickThatLeadsToABlockedPageFails(t *testing.T) {
	t.Parallel()
	var asked visits
	evil := serve(t, map[string]http.HandlerFunc{"/evil/": func(_ http.ResponseWriter, r *http.Request) { asked.add(r.URL.Path) }})
	url := serve(t, map[string]http.HandlerFunc{
		"/start": htmlPage(`<a href="` + evil + `/evil/link">link</a><form method=post action="` + evil + `/evil/form"><button>form</button></form>
			<button onclick="location = '` + evil + `/evil/script'">script</button><a href="/moved">moved</a>
			<button onclick="setTimeout(() => location = '` + evil + `/evil/later', 50)">later</button>`),
		"/moved": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, evil+"/evil/moved", http.StatusFound)
		},
	})
	u := openLive(t, device.Session{RestrictOrigins: true})
	u.mustCall("navigate", "url", url+"/start")
	for _, name := range []string{"link", "form", "script"} {
		ref := u.refOf(`"` + name + `"`)
		u.mustFail("web_click", []any{"ref", ref}, "web_click led to a page that was blocked: "+evil+"/evil/"+name+" may not be opened")
		if v := u.view(device.ViewOptions{}); len(v.Blocked) > 0 {
			t.Errorf("%s: the view has %q, too", name, v.Blocked)
		}
	}
	for _, name := range []string{"moved", "later"} { // the browser asks for these when the call has ended
		result, err := u.call("web_click", "ref", u.refOf(`"`+name+`"`))
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, "the blocked page", func() bool {
			return !result.OK || slices.Equal(u.view(device.ViewOptions{}).Blocked, []string{evil + "/evil/" + name})
		})
	}
	if paths := asked.take(); len(paths) > 0 {
		t.Errorf("the server was asked for %q", paths)
	}
}

func TestAllowedOrigins(t *testing.T) {
	t.Parallel()
	one, two := "https://one.example", "http://two.example:8080"
	for name, tt := range map[string]struct {
		session device.Session
		option  string
		first   string // opened by a call
		allowed []string
		refused []string
	}{
		"not restricted": {
			device.Session{AllowedOrigins: []string{one}}, "", "", []string{one, two, "chrome://version"}, nil,
		},
		"of the session": {
			device.Session{RestrictOrigins: true, AllowedOrigins: []string{one}},
			"", "",
			[]string{
				one, "HTTPS://ONE.EXAMPLE:443/path?q#f", "about:blank", "data:text/html,x", "blob:https://other.example/x", "file:///x",
				" https://one\n.example",
			},
			[]string{
				two, "http://one.example", "https://one.example:444", "https://one.example.evil", "https://one.example@evil.example",
				"https://evil.example/?https://one.example", "ws://one.example", "view-source:http://two.example:8080", "javascript:1",
				"chrome://version", "", "https:///x", "https:one.example.evil", "ftp://one.example",
			},
		},
		"of the option": {device.Session{RestrictOrigins: true}, two + ", https://three.example", "", []string{two, "https://three.example/"}, []string{one}},
		"of the target": {device.Session{RestrictOrigins: true, BaseURL: one + "/shop"}, "", "", []string{one + "/other"}, []string{two}},
		"of the first page": {
			device.Session{RestrictOrigins: true}, "", two + "/first", []string{two}, []string{one, "http://two.example"},
		},
		"none for a first page without origin": {device.Session{RestrictOrigins: true}, "", "data:text/html,x", nil, []string{one, two}},
		"IPv6":                                 {device.Session{RestrictOrigins: true}, "http://[::1]:8080", "", []string{"http://[::1]:8080/x"}, []string{"http://[::1]/"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origins, err := access.ReadOrigins(tt.option)
			if err != nil {
				t.Fatal(err)
			}
			a := access.NewOrigins(tt.session, origins)
			if tt.first != "" {
				if err := a.Request(t.Context(), tt.first); err != nil {
					t.Fatal(err)
				}
			}
			for _, address := range tt.allowed {
				if !a.Allows(address) {
					t.Errorf("%q is refused", address)
				}
			}
			for _, address := range tt.refused {
				if a.Allows(address) {
					t.Errorf("%q is allowed", address)
				}
			}
		})
	}
}

func TestFirstPageAllowsItsOriginOnce(t *testing.T) {
	t.Parallel()
	a := access.NewOrigins(device.Session{RestrictOrigins: true}, nil)
	for _, address := range []string{"about:blank", "https://one.example/", "https://one.example/2"} {
		if err := a.Request(t.Context(), address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := a.Request(t.Context(), "https://two.example/"); fault.KindOf(err) != fault.ToolFailed {
		t.Errorf("the second origin: %v", err)
	}
}

func TestFirstPageThatRedirectsElsewhereAllowsNothing(t *testing.T) {
	t.Parallel()
	other := serve(t, map[string]http.HandlerFunc{"/page": htmlPage("<h1>other</h1>")})
	url := serve(t, map[string]http.HandlerFunc{
		"/first": htmlPage("<h1>first</h1>"),
		"/away": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+"/page", http.StatusFound)
		},
	})
	u := openLive(t, device.Session{RestrictOrigins: true})
	refused := u.mustFail("navigate", []any{"url", url + "/away"}, other+"/page may not be opened")
	if want := "open " + other + "/page itself, which allows its origin"; refused.Hint != want {
		t.Errorf("hint %q, want %q", refused.Hint, want)
	}
	u.mustCall("navigate", "url", other+"/page")
	u.mustFail("navigate", []any{"url", url + "/first"}, "its origin is not allowed, only "+other)
}

func TestFirstPageIsOfAGivenOrigin(t *testing.T) {
	t.Parallel()
	for name, session := range map[string]device.Session{
		"allowed":  {RestrictOrigins: true, AllowedOrigins: []string{"https://one.example"}},
		"base URL": {RestrictOrigins: true, BaseURL: "https://one.example/shop"},
	} {
		a := access.NewOrigins(session, nil)
		if err := a.Request(t.Context(), "https://two.example/"); fault.KindOf(err) != fault.ToolFailed {
			t.Errorf("%s: the first page is of another origin: %v", name, err)
		}
		if err := a.Request(t.Context(), "https://one.example/away"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if a.Withdraw("https://one.example/away") {
			t.Errorf("%s: the given origin was withdrawn", name)
		}
	}
}

// A page that redirects must not let agents open any origin, after they opened about:blank.
func TestLaterPageThatRedirectsAllowsNothing(t *testing.T) {
	t.Parallel()
	a := access.NewOrigins(device.Session{RestrictOrigins: true}, nil)
	for _, address := range []string{"https://one.example/", "about:blank", "https://one.example/away"} {
		if err := a.Request(t.Context(), address); err != nil {
			t.Fatal(err)
		}
	}
	if a.Withdraw("https://one.example/away") {
		t.Error("the origin of the first page was withdrawn")
	}
	if err := a.Request(t.Context(), "https://two.example/"); fault.KindOf(err) != fault.ToolFailed {
		t.Errorf("the second origin: %v", err)
	}
}

// callFromSandbox makes a call as for a script in the sandbox, and returns the text of its result.
func (u *testSession) callFromSandbox(name string, args map[string]any) string {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	result, err := u.device.Call(ctx, tool.Call{Tool: name, Args: args, FromSandbox: true})
	if err != nil {
		u.t.Fatalf("%s: %v", name, err)
	}
	return result.Text + "; " + result.Hint
}

// wantNoURLs fails the test if a command for requests tells a script in the sandbox a URL of an origin. A request to /data
// there has ended, and one to /slow has not.
func (u *testSession) wantNoURLs(origin string) {
	u.t.Helper()
	u.mustEval("fetch('" + origin + "/data?token=1').then(() => { fetch('" + origin + "/slow?token=1').catch(() => 0); return 0 })")
	for _, name := range []string{"web_waitForRequest", "web_waitForResponse", "web_requestDetails", "web_assertNetworkEvent"} {
		for _, pattern := range []string{"**/data?token=*", "**/slow?token=*", "**/none"} {
			for _, method := range []string{"GET", "PUT"} {
				got := u.callFromSandbox(name, map[string]any{"url": pattern, "method": method, "timeoutMs": 100})
				if strings.Contains(got, origin+"/data") || strings.Contains(got, origin+"/slow") {
					u.t.Errorf("%s %s %s: %s", name, method, pattern, got)
				}
			}
		}
	}
}

func TestSandboxUsesOnlyAllowedOrigins(t *testing.T) {
	t.Parallel()
	other := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage("<h1>internal</h1>"),
		"/data": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			_, _ = w.Write([]byte("internal"))
		},
		"/slow": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	})
	url := serve(t, map[string]http.HandlerFunc{
		"/start": htmlPage(`<h1>start</h1><a href="` + other + `/page">link</a>`),
		"/away":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other+"/page", http.StatusFound) },
	})
	b := sharedBrowser.get(t)
	u := openSessionIn(t, b, device.Session{BaseURL: "http://base.example/app"})
	refused := "a script in the sandbox may not use " + other
	check := func(want, name string, args map[string]any) {
		t.Helper()
		if got := u.callFromSandbox(name, args); !strings.HasPrefix(got, want) {
			t.Errorf("%s %v: %s; want %s", name, args, got, want)
		}
	}
	check("a script in the sandbox may not use "+url, "web_navigate", map[string]any{"url": url + "/start"})
	u.mustCall("navigate", "url", url+"/start") // as in a trail
	check("opened", "web_navigate", map[string]any{"url": url + "/start"})
	check(`start`, "web_evaluate", map[string]any{"script": "document.querySelector('h1').textContent"})

	check(refused, "navigate", map[string]any{"url": other + "/page"})
	if got := u.callFromSandbox("navigate", map[string]any{"url": other}); !strings.Contains(got, "--allow-origin "+other) {
		t.Errorf("the hint is missing: %s", got)
	}
	check(refused, "web_navigate", map[string]any{"url": url + "/away"})
	check(refused, "web_evaluate", map[string]any{"script": "document.body.textContent"})
	u.mustCall("navigate", "url", url+"/start")
	u.mustEval("fetch('" + other + "/data').then(() => 0)")
	check(refused, "web_waitForResponse", map[string]any{"url": other + "/data"})
	check(refused, "web_requestDetails", map[string]any{"url": other + "/data"})
	u.wantNoURLs(other)

	u.mustCall("web_click", "ref", "link")
	u.mustCall("web_verifyTextVisible", "text", "internal")
	check(refused, "web_evaluate", map[string]any{"script": "document.body.textContent"})
	check(refused, "web_snapshot", nil)
	u.mustCall("navigate", "url", other+"/page") // now a call that is not from the sandbox has opened it
	check("internal", "web_evaluate", map[string]any{"script": "document.querySelector('h1').textContent"})
}

func TestOptionOfOrigins(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"":                                      "",
		`["https://A.example/", "http://b:80"]`: "https://a.example http://b",
		"https://a.example,http://127.0.0.1:8080/": "https://a.example http://127.0.0.1:8080",
		`[1]`:                    "allowedOrigins: [1] is not a list of origins",
		"a.example":              `allowedOrigins: "a.example" is not an origin`,
		"https://a.example/path": `allowedOrigins: "https://a.example/path" is not an origin`,
		"https://user@a.example": `allowedOrigins: "https://user@a.example" is not an origin`,
		"https://*.example":      "https://*.example",
		"file:///x":              `allowedOrigins: "file:///x" is not an origin`,
		"https://a.example?x, b": `allowedOrigins: "https://a.example?x" is not an origin`,
	} {
		origins, err := access.ReadOrigins(value)
		got := strings.Join(origins, " ")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
