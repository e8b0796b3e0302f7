package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

func TestLiveViewShowsConsoleAndRequests(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	closed := httptest.NewServer(nil)
	refused := closed.URL
	closed.Close()
	url := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage(`<button onclick="act()">Act</button><script>
			console.log("loaded", { a: 1 });
			const act = async () => {
				console.info("acting\nin two lines \u202e");
				for (let i = 0; i < 3; i++) console.warn("again");
				fetch("/hang");
				await fetch("/ok?hunter2", { method: "POST", body: "hunter2" });
				await fetch("/moved").then((r) => r.text());
				await fetch("/broken").then((r) => r.text());
				await fetch("` + refused + `/refused").catch(() => console.error("hunter2", "refused"));
				setTimeout(() => { document.title = "done"; undefinedFunction() });
			};
		</script>`),
		"/ok":     func(http.ResponseWriter, *http.Request) {},
		"/moved":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusFound) },
		"/broken": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"/hang":   func(http.ResponseWriter, *http.Request) { <-hang },
	})
	defer close(hang)
	u := openLive(t, device.Session{Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "{{PIN}}") }})
	if log := u.log(device.ShowConsole); len(log.Since)+len(log.Earlier) > 0 {
		t.Errorf("before a page was opened: %+v", log)
	}
	u.mustCall("navigate", "url", url+"/page")
	u.mustCall("web_click", "ref", "css=button")
	u.mustCall("web_verifyTitle", "pattern", "done")
	waitFor(t, "the error", func() bool {
		return slices.ContainsFunc(u.log(device.ShowConsole).Since, func(line string) bool { return strings.Contains(line, "undefinedFunction") })
	})
	log := u.log(device.ShowConsole)
	wantLines(t, "console before", log.Earlier, `^log: loaded Object$`)
	wantLines(t, "console", log.Since, `^info: acting in two lines$`, `^warning: again \(3 times\)$`,
		`^error: Failed to load resource: .*500.* `+url+`/broken$`, `^error: Failed to load resource: .*REFUSED`, `^error: {{PIN}} refused$`,
		`^error: ReferenceError: undefinedFunction is not defined`)
	log = u.log(device.ShowRequests)
	ended := ` \d+ ms \d+ bytes$`
	wantLines(t, "requests before", log.Earlier, `^GET `+url+`/page 200 document`+ended)
	wantLines(t, "requests", log.Since, `^GET `+url+`/hang fetch has not ended, for \d+\.\ds$`, `^POST `+url+`/ok\?{{PIN}} 200 fetch \d+ ms body not read to its end$`,
		`^GET `+url+`/moved 302 fetch \d+ ms redirect$`, `^GET `+url+`/ok 200 fetch`+ended, `^GET `+url+`/broken 500 fetch`+ended,
		`^GET `+refused+`/refused fetch \d+ ms failed: net::ERR_CONNECTION_REFUSED$`)
	u.mustEval(fmt.Sprintf("for (let i = 0; i < %d; i++) console.log(i, 'x'.repeat(1000))", 2*notes.MaxJournal))
	waitFor(t, "the last line", func() bool {
		lines := u.log(device.ShowConsole).Since
		return len(lines) == notes.MaxJournal && strings.HasPrefix(lines[notes.MaxJournal-1], fmt.Sprint("log: ", 2*notes.MaxJournal-1)) &&
			len([]rune(lines[0])) == notes.MaxJournalLine
	})
}

// log returns the console or the requests.
func (u *testSession) log(show device.Show) *device.PageLog {
	u.t.Helper()
	return u.view(device.ViewOptions{Show: show}).Log
}

// wantLines checks lines, in any order.
func wantLines(t *testing.T, what string, lines []string, patterns ...string) {
	t.Helper()
	lines = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(line, "favicon") })
	for _, pattern := range patterns {
		i := slices.IndexFunc(lines, regexp.MustCompile(pattern).MatchString)
		if i < 0 {
			t.Errorf("%s: nothing matches %s in\n%s", what, pattern, strings.Join(lines, "\n"))
			continue
		}
		lines = slices.Delete(lines, i, i+1)
	}
	if len(lines) > 0 {
		t.Errorf("%s: more lines\n%s", what, strings.Join(lines, "\n"))
	}
}
