package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// slowServer serves pages whose buttons lead to /next in several ways. It responds after the test has had the time to
// look at the old page.
func slowServer(t *testing.T) string {
	t.Helper()
	slowly := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(60 * time.Millisecond):
			case <-r.Context().Done():
			}
			htmlPage(body)(w, r)
		}
	}
	handlers := map[string]http.HandlerFunc{
		"/next": slowly("<h1>Payment failed</h1>"),
		"/prg": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/next", http.StatusSeeOther)
		},
		"/refresh": htmlPage(`<meta http-equiv=refresh content="0;url=/next"><h1>One moment</h1>`),
		"/header": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Refresh", "0; url=/next")
			htmlPage("<h1>One moment</h1>")(w, r)
		},
		"/script": htmlPage(`<h1>One moment</h1><script>onload = () => location = "/next"</script>`),
		"/none":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"/attachment": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=a.txt")
		},
	}
	for name, body := range waysToLeave() {
		handlers["/from/"+name] = htmlPage("<h1>Your order is ready</h1>" + body)
	}
	return serve(t, handlers)
}

// waysToLeave are pages with a control named Pay, which leads to a page "Payment failed".
func waysToLeave() map[string]string {
	const form = `<form id=f action=/next method=post></form>`
	return map[string]string{
		"post":                 `<form action=/next method=post><button>Pay</button></form>`,
		"get":                  `<form action=/next><input name=q><button>Pay</button></form>`,
		"link":                 `<a href=/next>Pay</a>`,
		"redirect":             `<form action=/prg method=post><button>Pay</button></form>`,
		"request-submit":       form + `<button onclick="f.requestSubmit()">Pay</button>`,
		"submit":               form + `<button onclick="f.submit()">Pay</button>`,
		"submit-in-timer":      form + `<button onclick="setTimeout(() => f.submit())">Pay</button>`,
		"submit-in-promise":    form + `<button onclick="Promise.resolve().then(() => f.submit())">Pay</button>`,
		"location":             `<button onclick="location.href = '/next'">Pay</button>`,
		"location-in-timer":    `<button onclick="setTimeout(() => location = '/next')">Pay</button>`,
		"location-in-timers":   `<button onclick="setTimeout(() => setTimeout(() => location.replace('/next')))">Pay</button>`,
		"mousedown":            `<button onmousedown="location = '/next'">Pay</button>`,
		"meta-refresh":         `<form action=/refresh method=post><button>Pay</button></form>`,
		"header-refresh":       `<form action=/header method=post><button>Pay</button></form>`,
		"script-of-a-page":     `<form action=/script method=post><button>Pay</button></form>`,
		"form-in-a-frame":      `<iframe srcdoc="<form action=/next method=post target=_top><button>Pay</button></form>"></iframe>`,
		"prevented-and-posted": form + `<form onsubmit="event.preventDefault(); f.submit()"><button>Pay</button></form>`,
	}
}

// What an action leaves is not there for the call behind it: neither a check that holds on the old page, nor one that
// does not hold on the new page, nor a navigation, which would cancel the one that the action has begun.
func TestActionsWaitForTheNavigationsThatTheyStart(t *testing.T) {
	t.Parallel()
	at := slowServer(t)
	pool := newSessionPool(t)
	for name := range waysToLeave() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			for range tries(2, 10) {
				u.mustCall("web_navigate", "url", at+"/from/"+name)
				u.mustCall("web_click", "ref", "Pay")
				if result, err := u.call("web_verifyTextNotVisible", "text", "Payment failed", "timeoutMs", 1); err != nil || result.OK {
					t.Fatalf("a check of the page that was left: %v, %v", result.Text, err)
				}
				u.mustCall("web_navigate", "url", at+"/from/"+name)
				u.mustCall("web_click", "ref", "Pay")
				u.mustFail("web_verifyTextVisible", []any{"text", "Your order is ready", "timeoutMs", 1}, "Your order is ready")
			}
		})
	}
}

func TestKeysWaitForTheNavigationsThatTheyStart(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/next": func(w http.ResponseWriter, r *http.Request) {
			<-time.After(60 * time.Millisecond)
			htmlPage("<h1>Hits</h1>")(w, r)
		},
		"/search": htmlPage(`<form action=/next><input name=q aria-label=Search><select name=s onchange="form.submit()"><option>a<option>b</select>
			<input type=checkbox aria-label=All onchange="form.requestSubmit()"></form>`),
	})
	pool := newSessionPool(t)
	for name, call := range map[string][]any{
		"enter":        {"web_pressKey", "key", "Enter"},
		"typed enter":  {"web_type", "ref", "textbox \"Search\"", "text", "x\n", "clearFirst", false},
		"select":       {"web_selectOption", "ref", "combobox", "values", []any{"b"}},
		"check box":    {"web_setChecked", "ref", "checkbox \"All\""},
		"script":       {"web_evaluate", "script", "document.forms[0].submit()"},
		"script later": {"web_evaluate", "script", "setTimeout(() => document.forms[0].submit()); 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			for range tries(2, 10) {
				u.mustCall("web_navigate", "url", at+"/search")
				u.mustCall("web_click", "ref", "textbox \"Search\"")
				tool, _ := call[0].(string)
				u.mustCall(tool, call[1:]...)
				if result, err := u.call("web_verifyTextNotVisible", "text", "Hits", "timeoutMs", 1); err != nil || result.OK {
					t.Fatalf("a check of the page that was left: %v, %v", result.Text, err)
				}
			}
		})
	}
}

// A navigation behind the submission of a form does not cancel it.
func TestNavigationBehindASubmission(t *testing.T) {
	t.Parallel()
	signedIn := make(chan string, 100)
	at := serve(t, map[string]http.HandlerFunc{
		"/login": htmlPage(`<form action=/session method=post><input name=user aria-label=User><button>Sign in</button></form>`),
		"/session": func(w http.ResponseWriter, r *http.Request) {
			<-time.After(60 * time.Millisecond)
			http.SetCookie(w, &http.Cookie{Name: "user", Value: r.FormValue("user"), Path: "/"})
			http.Redirect(w, r, "/home", http.StatusFound)
		},
		"/home": htmlPage("<h1>Home</h1>"),
		"/page": func(w http.ResponseWriter, r *http.Request) {
			user := "nobody"
			if c, err := r.Cookie("user"); err == nil {
				user = c.Value
			}
			signedIn <- user
			htmlPage("<h1>Page of "+user+"</h1>")(w, r)
		},
	})
	for _, by := range [][]any{{"web_click", "ref", "Sign in"}, {"web_pressKey", "key", "Enter"}} {
		u := openSession(t)
		for i := range tries(3, 25) {
			u.mustCall("web_navigate", "url", at+"/login")
			u.mustCall("web_type", "ref", `textbox "User"`, "text", fmt.Sprint("ann", i))
			tool, _ := by[0].(string)
			u.mustCall(tool, by[1:]...)
			u.mustCall("web_navigate", "url", at+"/page")
			if got := <-signedIn; got != fmt.Sprint("ann", i) {
				t.Fatalf("%v: signed in is %s", by, got)
			}
		}
	}
}

// Some navigations open no document. The action ends with them, and the page is as it was.
func TestNavigationsWithoutADocument(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/none": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"/attachment": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=a.txt")
		},
		"/form": htmlPage(`<meta http-equiv=Content-Security-Policy content="form-action 'self' http://127.0.0.1:9">
			<form action=/none method=post><button>None</button></form>
			<form action=/attachment method=post><button>File</button></form><form action=http://elsewhere.test/ method=post><button>Refused</button></form>
			<form action=/none onsubmit="event.preventDefault()"><button>Prevented</button></form>
			<a href="#part">Part</a><button onclick="history.pushState(1, '', '/form?a')">State</button>
			<a href=/none download=b.txt>Download</a><button onclick="location = '/none'; stop()">Stopped</button>
			<button onclick="document.body.append(document.createElement('iframe'))">Blank frame</button>`),
	})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/form")
	for _, name := range []string{"None", "File", "Refused", "Prevented", "Part", "State", "Download", "Stopped", "Blank frame"} {
		if _, err := u.callWithin(5*time.Second, "web_click", map[string]any{"ref": name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		u.mustCall("web_verifyTextNotVisible", "text", "Payment")
	}
}

// A frame that the page adds and whose server does not respond is not awaited.
func TestFrameThatDoesNotRespondIsNotAwaited(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	at := serve(t, map[string]http.HandlerFunc{
		"/hang": hang,
		"/page": htmlPage(`<button onclick="let f = document.createElement('iframe'); f.src = '/hang'; document.body.append(f)">Add</button>`),
	})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/page")
	u.mustCall("web_click", "ref", "Add")
	u.mustCall("web_click", "ref", "Add")
}

func TestServerThatDoesNotRespondToASubmission(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/hang": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/form": htmlPage(`<form action=/hang method=post><button>Pay</button></form>`),
	})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/form")
	result, err := u.callWithin(time.Second, "web_click", map[string]any{"ref": "Pay"})
	if want := at + "/hang, which it opens, has not responded"; err != nil || result.OK || !strings.Contains(result.Text, want) {
		t.Errorf("%+v, %v", result, err)
	}
}

// The document that an action opens may still be read when a check of it holds.
func TestCheckDoesNotNoteTheDocumentThatItSees(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	at := serve(t, map[string]http.HandlerFunc{
		"/form": htmlPage(`<form action=/paid method=post><button>Pay</button></form>`),
		"/paid": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<h1>Paid</h1>"+strings.Repeat("<p>x</p>", 1000))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-release:
			case <-r.Context().Done():
			}
		},
	})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/form")
	u.mustCall("web_click", "ref", "Pay")
	if result, err := u.call("web_verifyTextVisible", "text", "Paid"); err != nil || !result.OK || len(result.Notes) > 0 {
		t.Errorf("%+v, %v", result, err)
	}
	close(release)
}

// A check that holds while a request of the action is pending may have seen the page as it was.
func TestCheckNotesRequestsOfTheActionBefore(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	at := serve(t, map[string]http.HandlerFunc{
		"/pay": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		},
		"/broken": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"/page": htmlPage(`<h1>Cart</h1><button onclick="fetch('/pay').then(() => document.body.append('Paid'))">Pay</button>
			<button onclick="fetch('/broken'); confirm('Sure?')">Break</button><button>Rest</button>`),
	})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/page")
	u.mustCall("web_verifyTextVisible", "text", "Cart")
	u.mustCall("web_click", "ref", "Pay")
	result, err := u.call("web_verifyTextVisible", "text", "Cart")
	want := "GET " + at + "/pay, which the action before it started, has not ended"
	if err != nil || !slices.Contains(result.Notes, want) || !strings.Contains(result.Text, want) {
		t.Errorf("notes %q, text %q, %v", result.Notes, result.Text, err)
	}
	u.mustFail("web_verifyTextVisible", []any{"text", "Paid", "timeoutMs", 1}, "since the last action: not ended: GET "+at+"/pay")
	close(release)
	u.mustCall("web_verifyTextVisible", "text", "Paid")
	u.mustCall("web_click", "ref", "Rest")
	if result, _ := u.call("web_verifyTextVisible", "text", "Cart"); len(result.Notes) > 0 {
		t.Errorf("notes %q", result.Notes)
	}
	u.mustCall("web_click", "ref", "Break")
	u.mustFail("web_verifyTextVisible", []any{"text", "Nothing", "timeoutMs", 200}, "GET "+at+"/broken (502)", `confirm "Sure?" was dismissed`)
}

func TestPageWithASubresourceThatNeverEnds(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/hang":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/image": htmlPage(`<h1>Shop</h1><img src=/hang>`),
		"/half":  htmlPage(`<h1>Shop</h1><script src=/hang></script><p>More`),
		"/500": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			htmlPage("<h1>Oops</h1>")(w, r)
		},
	})
	u := openSession(t)
	// On a busy machine, a short limit passes before the browser asks for anything.
	open := func(page, says string) tool.Result {
		for limit := 500 * time.Millisecond; ; limit *= 2 {
			result, err := u.call("web_navigate", "url", at+page, "timeoutMs", limit.Milliseconds())
			if err == nil && strings.Contains(result.Text, says) {
				return result
			}
			if limit > testLimit/8 {
				t.Fatalf("%s: %+v, %v, want %q", page, result, err, says)
			}
		}
	}
	want := "its document is complete, but GET " + at + "/hang has not ended"
	if result := open("/image", want); !result.OK || !slices.Contains(result.Notes, want) {
		t.Errorf("%+v", result)
	}
	u.mustCall("web_verifyTextNotVisible", "text", "Oops")
	if got := u.mustCall("web_navigate", "url", at+"/image", "waitUntil", "domcontentloaded"); got != "opened "+at+"/image" {
		t.Error(got)
	}
	half := open("/half", ": GET "+at+"/hang has not ended")
	if half.OK || !strings.Contains(half.Text, "did not finish loading within ") {
		t.Errorf("%+v", half)
	}
	for _, remedy := range []string{"waitUntil: domcontentloaded", "web_route with abort: true"} {
		if !strings.Contains(half.Hint, remedy) {
			t.Errorf("the hint does not name %s: %s", remedy, half.Hint)
		}
	}
	if got := u.mustCall("web_navigate", "url", at+"/500"); got != "opened "+at+"/500 (500 Internal Server Error)" {
		t.Error(got)
	}
}

// An action that opens a page in another tab ends when that tab shows it, or shows nothing.
func TestActionsWaitForTheTabsThatTheyOpen(t *testing.T) {
	t.Parallel()
	var answered sync.Map // by the name of the way
	slow := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			<-time.After(80 * time.Millisecond)
			answered.Store(r.URL.RawQuery, true)
			then(w, r)
		}
	}
	at := serve(t, map[string]http.HandlerFunc{
		"/next": slow(htmlPage("<h1>Next</h1>")),
		"/none": slow(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
		"/file": slow(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=a.txt")
		}),
		"/ways": htmlPage(`<a target=_blank href=/next?Link>Link</a><a target=_blank rel=noopener href=/next?Alone>Alone</a>
			<form action=/next?Form method=post target=_blank><button>Form</button></form>
			<form action=/none?None method=post target=_blank><button>None</button></form>
			<form action=/file?File method=post target=_blank><button>File</button></form>
			<button onclick="window.open('/next?Script')">Script</button><button onclick="window.open('about:blank')">Blank</button><button onclick="window.open()">Empty</button>`),
	})
	pool := newSessionPool(t)
	for _, name := range []string{"Link", "Alone", "Form", "None", "File", "Script", "Blank", "Empty"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			u.mustCall("web_navigate", "url", at+"/ways")
			for range tries(2, 10) {
				u.mustCall("web_click", "ref", name)
				if _, ok := answered.LoadAndDelete(name); !ok && name != "Blank" && name != "Empty" {
					t.Error("the click ended before the tab had its answer")
				}
			}
		})
	}
}

// A tab that never gets a response does not fail the action that opened it.
func TestTabWithoutAResponse(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/never": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/ways":  htmlPage(`<a target=_blank href=/never>Never</a>`),
	})
	u := openSession(t)
	d, _ := u.device.(*webDevice)
	d.limits.action = 300 * time.Millisecond
	u.mustCall("web_navigate", "url", at+"/ways")
	if got := u.mustCall("web_click", "ref", "Never"); !strings.Contains(got, "opened tab 1 ("+at+"/never) without a response") {
		t.Error(got)
	}
}

// A tab that a script opens for a script, or with an address that browsers refuse to show there, is not waited for.
func TestTabThatNeverShowsADocument(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{"/ways": htmlPage(`<button onclick="open('data:text/html,x')">Data</button>
		<button onclick="open('javascript:1')">Script</button><a href="javascript:void 0" target=_blank>Link</a>`)})
	u := openSession(t)
	for _, name := range []string{"Data", "Script", "Link"} {
		u.mustCall("web_navigate", "url", at+"/ways")
		if got := u.mustCall("web_click", "ref", name); strings.Contains(got, "without a response") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A navigation that the page before it replaces by another one fails, as in Playwright, and says by which.
func TestInterruptedNavigation(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	at := serve(t, map[string]http.HandlerFunc{
		"/old":       htmlPage(`<script>fetch("/requested").then(() => location = "/other")</script>`),
		"/requested": func(http.ResponseWriter, *http.Request) { <-release },
		"/slow": func(_ http.ResponseWriter, r *http.Request) {
			close(release)
			<-r.Context().Done()
		},
		"/other": htmlPage("<h1>Other</h1>"),
	})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/old")
	u.mustFail("web_navigate", []any{"url", at + "/slow"}, at+"/slow did not open: the page before it opened "+at+"/other meanwhile")
	u.mustCall("web_waitForUrl", "pattern", "/other")
}

// A page that refreshes itself while another one is being opened does not keep that from being opened: whether its
// <meta http-equiv=refresh> has been read when web_navigate begins is a matter of luck.
func TestNavigationThatARefreshInterrupts(t *testing.T) {
	t.Parallel()
	release, asked := make(chan struct{}), make(chan struct{})
	var once sync.Once
	at := serve(t, map[string]http.HandlerFunc{
		"/old": htmlPage(`<script>fetch("/requested").then(() => {
			const meta = document.createElement("meta");
			[meta.httpEquiv, meta.content] = ["refresh", "0; url=/other"];
			document.head.append(meta) })</script>`),
		"/requested": func(http.ResponseWriter, *http.Request) { <-release },
		"/next": func(w http.ResponseWriter, r *http.Request) {
			first := false
			once.Do(func() { first = true })
			if first {
				close(release)
				<-r.Context().Done()
				return
			}
			<-asked // the page of the refresh was awaited
			htmlPage("<h1>Next</h1>")(w, r)
		},
		"/other": func(w http.ResponseWriter, r *http.Request) {
			close(asked)
			htmlPage("<h1>Other</h1>")(w, r)
		},
	})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/old")
	if got := u.mustCall("web_navigate", "url", at+"/next"); got != "opened "+at+"/next" {
		t.Error(got)
	}
	u.mustCall("web_verifyTextVisible", "text", "Next")
}

// The browser says that a refresh is no longer scheduled when it was requested, which may be before it was started. A
// refresh that it refuses, as one to a URL of data, is not requested.
func TestRefreshIsFollowedUntilItIsStarted(t *testing.T) {
	t.Parallel()
	const scheduled, requested = "Page.frameScheduledNavigation", "Page.frameRequestedNavigation"
	for name, test := range map[string]struct {
		events []string
		want   bool
	}{
		"scheduled": {[]string{scheduled}, true},
		"requested": {[]string{scheduled, requested, "Page.frameClearedScheduledNavigation"}, true},
		"refused":   {[]string{scheduled, "Page.frameClearedScheduledNavigation"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &page{}
			p.root = &frame{page: p, loader: "1"}
			for _, event := range test.events {
				p.root.onNavigation(event, navigationEvent{URL: "http://x/next", Reason: "metaTagRefresh", Disposition: "currentTab"})
			}
			if p.isReplaced() != test.want {
				t.Errorf("the page is being replaced: %t", !test.want)
			}
		})
	}
}
