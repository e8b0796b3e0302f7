package web

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A check of what is absent holds on a page that has not shown its data yet. It says so, in whatever way the page was
// opened and its script is loaded.
func TestCheckOfAbsenceNotesRequestsOfTheOpenedPage(t *testing.T) {
	t.Parallel()
	later := func(then string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(80 * time.Millisecond): // so long that the page has begun to show
			case <-r.Context().Done():
			}
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(then))
		}
	}
	pages := map[string]http.HandlerFunc{
		"/api":    func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/app.js": later("fetch('/api').then((r) => r.text()).then((text) => document.body.append(text))"),
	}
	scripts := map[string]string{
		"inline": "<script>fetch('/api')</script>", "XHR": "<script>const x = new XMLHttpRequest(); x.open('GET', '/api'); x.send()</script>",
		"blocking": "<script src=/app.js></script>", "defer": "<script defer src=/app.js></script>",
		"module": "<script type=module src=/app.js></script>", "async": "<script async src=/app.js></script>",
		"frame": "<iframe src=/inline></iframe>",
	}
	links := ""
	for name, script := range scripts {
		pages["/"+name] = htmlPage("<h1>Orders</h1>" + script)
		links += "<p><a href=/" + name + ">" + name + "</a>"
	}
	pages["/links"] = htmlPage(links)
	at := serve(t, pages)
	pool := newSessionPool(t)
	check := func(t *testing.T, u *testSession, name string, args ...any) {
		t.Helper()
		result, err := u.call(name, args...)
		if err != nil || !result.OK || len(result.Notes) != 1 || !strings.HasSuffix(result.Text, " has not ended)") ||
			!strings.Contains(result.Notes[0], "which the page that was opened requested") {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
	for name := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := pool.session(t)
			for _, open := range []string{"web_navigate", "web_click"} {
				for range tries(1, 5) {
					u.mustCall("web_navigate", "url", at+"/links")
					if open == "web_click" {
						u.mustCall(open, "ref", "link "+`"`+name+`"`)
					} else {
						u.mustCall(open, "url", at+"/"+name)
					}
					check(t, u, "web_verifyTextNotVisible", "text", "Error")
					check(t, u, "web_verifyElementNotVisible", "ref", "css=.error")
					check(t, u, "web_verifyCount", "ref", "css=.error", "count", 0)
					check(t, u, "assertWaypoint", "required", []any{css("h1")}, "forbidden", []any{css(".error")})
					if result, err := u.call("web_verifyTextVisible", "text", "Orders"); err != nil || len(result.Notes) > 0 {
						t.Errorf("it shows what it shall: %+v, %v", result, err)
					}
				}
			}
		})
	}
}

// Requests that never end, or that a page makes again and again, are not a reason for a note.
func TestChecksOfAbsenceWithoutANote(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	var polled atomic.Int64
	elsewhere := ""
	at := serve(t, map[string]http.HandlerFunc{
		"/hang": hang,
		"/events": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		},
		"/poll": func(w http.ResponseWriter, r *http.Request) {
			if polled.Add(1)%2 == 0 {
				hang(w, r)
			}
		},
		"/hangs": htmlPage("<script>fetch('/hang')</script>"),
		"/page": func(w http.ResponseWriter, r *http.Request) {
			htmlPage(`<h1>Orders</h1><button>Rest</button><script>
				new EventSource('/events'); navigator.sendBeacon('/hang'); new WebSocket(location.origin.replace('http', 'ws') + '/hang');
				fetch('/poll').then(() => { fetch('/poll'); document.body.append('polls') });
				</script><iframe src="`+elsewhere+`/hangs"></iframe>`)(w, r)
		},
		"/data": htmlPage("<h1>Data</h1><button>Rest</button><script>fetch('/hang')</script>"),
	})
	elsewhere = otherSite(at)
	u := openSession(t)
	check := func(what string) {
		t.Helper()
		if result, err := u.call("web_verifyTextNotVisible", "text", "Error"); err != nil || !result.OK || len(result.Notes) > 0 {
			t.Errorf("%s: %+v, %v", what, result, err)
		}
	}
	u.mustCall("web_navigate", "url", at+"/page")
	u.mustCall("web_verifyTextVisible", "text", "polls")
	check("a page that polls")
	u.mustCall("web_navigate", "url", at+"/data")
	u.mustCall("web_click", "ref", "Rest")
	check("after another action")
}
