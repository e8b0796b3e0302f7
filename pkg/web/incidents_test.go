package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// incidentPages are a page on which much goes wrong, and what it requests.
func incidentPages(t *testing.T) string {
	t.Helper()
	fails := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", status) }
	}
	return serve(t, map[string]http.HandlerFunc{
		"/api/": fails(http.StatusServiceUnavailable), "/500": fails(http.StatusInternalServerError), "/404": fails(http.StatusNotFound),
		"/moved": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/500", http.StatusFound) },
		"/page": htmlPage(`<title>page</title><iframe src="/500"></iframe><img src="/moved"><img src="/404"><script>
			console.warn("a warning"); console.log("a line")
			console.error("wrong", 1); console.assert(1 == 2, "no")
			setTimeout(() => { throw new Error("boom") }); setTimeout(() => { throw "text" })
			Promise.reject(new TypeError("late")); Promise.reject(new Error("handled")).catch(() => {})
			try { throw new Error("caught") } catch {}
			window.onload = async () => {
				await fetch("/api/orders", {method: "POST"}); await fetch("/404")
				alert("Saved"); confirm("Really?")
				setTimeout(() => { document.title = "done" }, 50)
			}
		</script>`),
		"/quiet": htmlPage(`<title>quiet</title><button onclick="ask()">ask</button><p id=out></p><script>
			async function ask() { const r = await fetch("/api/orders"); out.textContent = r.status + " " + confirm("Sure?") }
		</script>`),
	})
}

func incidentsOf(u *testSession, ended bool) []tool.Incident {
	u.t.Helper()
	u.device.(*webDevice).limits.probe = testLimit
	return u.device.(device.IncidentReporter).Incidents(u.t.Context(), ended)
}

// byKind returns the first words of incidents, sorted.
func byKind(all []tool.Incident) map[string][]string {
	out := map[string][]string{}
	for _, i := range all {
		text, _, _ := strings.Cut(i.Text, ", on ")
		out[i.Kind] = append(out[i.Kind], text)
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// What a trail may fail for is what a test of Playwright is told of the same page.
func TestIncidentsAreThoseOfPlaywright(t *testing.T) {
	t.Parallel()
	u, url := openSession(t), incidentPages(t)
	u.mustCall("navigate", "url", url+"/page")
	u.mustCall("web_verifyTitle", "pattern", "done")
	all := incidentsOf(u, true)
	got := byKind(all)
	want := askPlaywright(t, url+"/page")
	for _, kind := range []string{tool.PageError, tool.ConsoleError, tool.HTTP5xx, tool.UnhandledDialog} {
		if len(want[kind]) < 2 || len(got[kind]) != len(want[kind]) {
			t.Errorf("%s: %q, in Playwright %q", kind, got[kind], want[kind])
			continue
		}
		for _, text := range want[kind] {
			if !slices.ContainsFunc(got[kind], func(have string) bool { return strings.Contains(have, text) }) {
				t.Errorf("%s: %q, in Playwright %q", kind, got[kind], text)
			}
		}
	}
	for _, i := range all {
		if i.Call == "" || !strings.Contains(i.Text, url) {
			t.Errorf("%+v does not say where and when", i)
		}
	}
	if again := incidentsOf(u, true); len(again) > 0 {
		t.Errorf("again %v", again)
	}
}

// askPlaywright runs incidents.mjs.
func askPlaywright(t *testing.T, url string) (seen map[string][]string) {
	t.Helper()
	out := runPlaywright(t.Context(), t, "incidents.mjs", url)
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("node incidents.mjs: %v %s", err, out)
	}
	return seen
}

func TestRoutesAndDialogsOfTheTrailAreNoIncidents(t *testing.T) {
	t.Parallel()
	u, url := openSession(t), incidentPages(t)
	u.mustCall("navigate", "url", url+"/quiet")
	u.mustCall("web_route", "url", "**/api/orders", "status", 503)
	u.mustCall("web_route", "url", "**/never", "method", "post", "status", 200)
	u.mustCall("web_route", "url", "**/removed", "abort", true)
	u.mustCall("web_unroute", "url", "**/removed")
	for _, expected := range []string{"503 false", "503 true"} { // the first dialog is checked, the second one answered
		u.mustCall("web_click", "ref", "ask")
		u.mustCall("web_verifyTextVisible", "text", expected)
		u.mustCall("web_verifyDialog", "message", "Sure?")
		u.mustCall("web_handleDialog", "action", "ACCEPT")
	}
	if early := incidentsOf(u, false); len(early) > 0 {
		t.Errorf("before the end: %v", early)
	}
	got := byKind(incidentsOf(u, true))
	want := []string{"**/removed matched no request", "POST **/never matched no request"}
	if len(got) != 1 || !slices.Equal(got[tool.UnusedRoute], want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSameIncidentsAreCounted(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", serve(t, map[string]http.HandlerFunc{
		"/many": htmlPage(`<script>for (let i = 0; i < 1000; i++) { console.error("same"); console.error("error " + i) }</script>`),
	})+"/many")
	all := incidentsOf(u, false)
	if n := len(all); n != notes.MaxIncidents+1 || !strings.HasSuffix(all[0].Text, "(1000 times)") || all[n-1].Text != "951 more" {
		t.Errorf("%d: %v … %v", n, all[0], all[n-1])
	}
}
