package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
)

const sandboxedPage = `<style>
	@keyframes in { from { margin-left: 300px } }
	a { display: inline-block; animation: in 0.5s linear }
</style>
<a href="/next">Next</a><label><input type=checkbox>Agree</label><input aria-label=Name><p role=status>Two messages</p>
<details><summary>More</summary><p>Details</p></details>`

// Where the scripts of a page may not run, as in the frame of a message in a mail program, the callbacks of timers and
// of animation frames are not called: the browser writes an error to the console instead.
func TestPagesWithoutScripts(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/page": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", "sandbox")
			htmlPage(sandboxedPage)(w, r)
		},
		"/next":  htmlPage("<h1>The next page</h1>"),
		"/frame": htmlPage(`<h1>Mail</h1><iframe sandbox src="/page" width=600 height=300></iframe>`),
		"/srcdoc": htmlPage(`<h1>Mail</h1><iframe sandbox="allow-same-origin" width=600 height=300 srcdoc='` + sandboxedPage +
			`'></iframe><iframe hidden sandbox srcdoc="hidden"></iframe>`),
	})
	for _, path := range []string{"/page", "/frame", "/srcdoc"} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			u := openLive(t, device.Session{})
			u.mustCall("web_navigate", "url", at+path)
			u.mustCall("web_type", "ref", "Name", "text", "Ada")
			u.mustFail("web_verifyTextVisible", []any{"text", "Nothing", "timeoutMs", 1000}, `text "Nothing" was not found`)
			u.mustCall("web_click", "ref", "Agree")
			u.mustCall("web_verifyState", "ref", "Agree", "state", "checked")
			u.mustCall("web_click", "ref", "More")
			u.mustCall("web_verifyTextVisible", "text", "Details")
			u.mustCall("web_pressKey", "key", "Tab")
			log := u.log(device.ShowConsole)
			if lines := strings.Join(append(log.Earlier, log.Since...), "\n"); strings.Contains(lines, "Blocked") {
				t.Error(lines)
			}
			u.mustCall("web_navigate", "url", at+path)
			u.mustCall("web_click", "ref", "Next") // waits until it stays
			u.mustCall("web_verifyTextVisible", "text", "The next page")
		})
	}
}

// TestClickOfWhatMovesAway has buttons that move when they are pressed: the first one away from the mouse, so that the
// page sees no click.
func TestClickOfWhatMovesAway(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	u.mustCall("web_navigate", "url", serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<p id=out></p>
		<button onmousedown="style.marginLeft = '300px'" onclick="out.textContent += 'far '">Far</button><br>
		<button onmousedown="style.marginLeft = '3px'" onclick="out.textContent += 'near '">Near</button>`)})+"/page")
	if r, err := u.call("web_click", "ref", "Far"); err != nil || !r.OK || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "moved away while the mouse was pressed") {
		t.Error(err, r.Text, r.Notes)
	}
	if r, err := u.call("web_click", "ref", "Near"); err != nil || !r.OK || len(r.Notes) != 0 {
		t.Error(err, r.Text, r.Notes)
	}
	u.mustCall("web_verifyValue", "ref", "css=#out", "expected", "near")
}
