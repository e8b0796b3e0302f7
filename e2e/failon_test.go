//go:build unix

package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// troubledSite serves a page whose buttons do what failOn names.
func troubledSite(t *testing.T) string {
	t.Helper()
	return serveSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>Shop</title><button onclick="out.textContent = 'thrown'; setTimeout(() => nowhere())">Throw</button>
<button onclick="console.error('wrong'); out.textContent = 'logged'">Log</button>
<button onclick="fetch('/api').then(r => out.textContent = 'got ' + r.status)">Fetch</button>
<button onclick="out.textContent = 'asked ' + confirm('Sure?')">Ask</button><p id=out>`)
	}))
}

// troubles are calls during which each kind of incident happens, and pass.
func troubles(site string) string {
	click := func(button, shows string) string {
		return fmt.Sprintf("        - web_click: { ref: %s }\n        - web_verifyTextVisible: { text: %s }\n", button, shows)
	}
	return "trail:\n  - step: Open\n    recording:\n      web:\n        - web_navigate: { url: \"" + site + "\" }\n" +
		"        - web_route: { url: \"**/never\", status: 200 }\n  - step: Click\n    recording:\n      web:\n" +
		click("Throw", "thrown") + click("Log", "logged") + click("Fetch", "got 503") + click("Ask", "asked false")
}

func TestFailOn(t *testing.T) {
	t.Parallel()
	site := troubledSite(t)
	words := map[string]string{
		"pageError":       "failOn pageError: ReferenceError: nowhere is not defined at " + site + "/:1:",
		"consoleError":    "failOn consoleError: console.error: wrong, on " + site,
		"http5xx":         "failOn http5xx: GET " + site + "/api (503), on " + site,
		"unusedRoute":     `trails/a.trail.yaml:6: step 1 "Open", web_route: failOn unusedRoute: **/never matched no request`,
		"unhandledDialog": `failOn unhandledDialog: confirm "Sure?" was dismissed, on ` + site,
	}
	all := make([]string, 0, len(words))
	for kind := range words {
		all = append(all, kind)
	}
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig, "trails/a.trail.yaml": troubles(site)})
	p.run("run").want(t, 0, "1 passed")
	p.write("trailblaze.yaml", webConfig+"failOn: ["+strings.Join(all, ", ")+"]\n")
	r := p.run("run")
	r.want(t, 1, "5 failures, after which the trail went on. The first: failOn ", "answer it with web_handleDialog", "1 failed", "see logs/a_")
	if strings.Contains(r.stdout, "next, to look at the call") {
		t.Error("no call failed, and there is a repair")
	}
	for kind, text := range words {
		r.want(t, 1, text)
		p.write("trails/a.trail.yaml", "config: { failOn: ["+kind+"] }\n"+troubles(site))
		one := p.run("run", "--json")
		one.want(t, 1, `"failures":[{"kind":"`+kind+`"`, `"outcome":"failed"`)
		if n := strings.Count(one.stdout, `{"kind":"`); n != 1 {
			t.Errorf("%s: %d failures", kind, n)
		}
	}
	p.write("trails/a.trail.yaml", "config: { failOn: [] }\n"+troubles(site))
	p.run("run").want(t, 0, "1 passed")
}

func TestFailOnBesidesACallThatFails(t *testing.T) {
	t.Parallel()
	site := troubledSite(t)
	p := newProject(t, map[string]string{
		"trailblaze.yaml": webConfig + "failOn: [http5xx, unusedRoute, unhandledDialog]\nrun: { retries: 1 }\n",
		"trails/a.trail.yaml": troubles(site) + "        - web_verifyTextVisible: { text: nowhere, timeoutMs: 100 }\n" +
			"        - web_verifyDialog: { type: confirm }\n",
	})
	r := p.run("run", "--json")
	r.want(t, 1, `besides:`, `failOn http5xx: GET`, `"earlier":[{"outcome":"failed"`)
	for _, judged := range []string{"failOn unusedRoute", "failOn unhandledDialog"} { // by calls that were not made
		if strings.Contains(r.stdout, judged) {
			t.Errorf("it has %s", judged)
		}
	}
}

func TestFailOnInTeardownAndWithoutDevice(t *testing.T) {
	t.Parallel()
	site := troubledSite(t)
	p := newProject(t, map[string]string{
		"trailblaze.yaml": webConfig + "failOn: [http5xx]\n",
		"trails/a.trail.yaml": "config:\n  teardown:\n    - step: Clean\n      recording:\n        web:\n          - web_navigate: { url: \"" + site + "/api\" }\n" +
			"trail:\n  - step: Open\n    recording:\n      web:\n        - web_navigate: { url: \"" + site + "\" }\n",
	})
	p.run("run").want(t, 1, "in the teardown: failOn http5xx: GET "+site+"/api (503)", "step 2: Clean, tool web_navigate")
	q := newProject(t, map[string]string{"trailblaze.yaml": okProject + "failOn: [pageError]\n", "trails/a.trail.yaml": "trail:\n" + echo("fine")})
	q.run("run").want(t, 0, "1 passed")
	q.write("trails/a.trail.yaml", "config: { failOn: [pageErrors] }\ntrail:\n"+echo("fine"))
	q.run("check").wantErr(t, 3, `unknown value "pageErrors"`, `did you mean "pageError"`)
	q.write("trailblaze.yaml", okProject+"failOn: [http500]\n")
	q.run("check").wantErr(t, 3, `unknown value "http500"`, "http5xx")
}
