package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
)

const typedSecret = "Zk9-quark_Velvet"

func hideTyped(text string) string { return strings.ReplaceAll(text, typedSecret, "{{PASSWORD}}") }

// waysToShow are scripts that show v in the element o.
var waysToShow = map[string]string{
	"text":               `o.textContent = v`,
	"aria-hidden":        `o.innerHTML = "<p aria-hidden=true>" + v + "</p>"`,
	"boxes":              `o.innerHTML = [...v].map(c => "<div style='display:inline-block'>" + c + "</div>").join("")`,
	"two fields":         `o.innerHTML = "<input value='" + v.slice(0, 8) + "'><input value='" + v.slice(8) + "'>"`,
	"two lines":          `o.innerHTML = v.slice(0, 8) + "<br>" + v.slice(8)`,
	"closed shadow root": `o.attachShadow({mode: "closed"}).innerHTML = "<b>" + v + "</b>"`,
	"bdo":                `o.innerHTML = "<bdo dir=rtl>" + [...v].reverse().join("") + "</bdo>"`,
}

// waysToDraw are those that only the document which was given the secret can be kept from.
var waysToDraw = map[string]string{
	"canvas":  `o.innerHTML = "<canvas id=c></canvas>"; c.getContext("2d").fillText(v, 5, 50)`,
	"image":   `o.innerHTML = "<img src='data:image/svg+xml," + encodeURIComponent("<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>" + v + "</text></svg>") + "'>"`,
	"flashes": `setInterval(() => { o.textContent = o.textContent ? "" : v }, 30)`,
}

// pictures returns what shows the page in the trace, to an agent and as evidence: nil where it is withheld.
func (u *testSession) pictures() map[string][]byte {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	out := map[string][]byte{"agent": u.view(device.ViewOptions{Screenshot: true}).Screenshot}
	if picture := u.device.(device.Tracer).Moment(ctx, true).Picture; picture != nil {
		out["trace"] = picture.Data
	}
	for _, a := range u.device.Evidence(ctx) {
		if a.Name == "screenshot.png" {
			out["evidence"] = a.Data
		}
	}
	return out
}

func (u *testSession) wantPictures(when string, want bool) {
	u.t.Helper()
	pictures := u.pictures()
	for _, kind := range []string{"agent", "trace", "evidence"} {
		if got := len(pictures[kind]) > 0; got != want {
			u.t.Errorf("%s: picture for %s: %t, want %t", when, kind, got, want)
		}
	}
}

func openTraced(t *testing.T) *testSession {
	t.Helper()
	u := openLive(t, device.Session{Redact: hideTyped})
	u.device.(device.Tracer).StartTrace(device.TraceOptions{})
	return u
}

// TestPicturesOfGivenSecretAreWithheld types a secret into a masked field. Pictures end there, and begin again with the
// next document unless that shows the secret in any way that can be read.
func TestPicturesOfGivenSecretAreWithheld(t *testing.T) {
	t.Parallel()
	handlers := map[string]http.HandlerFunc{
		"/login": htmlPage(`<input type=password oninput="sessionStorage.v = this.value"><div id=o></div>`),
		"/other": htmlPage(`<h1>Welcome</h1>`),
	}
	names := make([]string, 0, len(waysToShow))
	for name, script := range waysToShow {
		names = append(names, name)
		path := "/" + strings.ReplaceAll(name, " ", "-")
		handlers[path] = htmlPage(`<div id=o></div><script>var v = sessionStorage.v; ` + script + `</script>`)
	}
	slices.Sort(names)
	url := serve(t, handlers)
	u := openTraced(t)
	u.mustCall("web_navigate", "url", url+"/login")
	u.wantPictures("no secret was used", true)
	u.mustCall("web_type", "ref", "css=input", "text", typedSecret)
	u.wantPictures("the secret was typed", false)
	u.mustCall("web_navigate", "url", url+"/other")
	u.wantPictures("another document", true)
	for _, name := range names {
		u.mustCall("web_navigate", "url", url+"/"+strings.ReplaceAll(name, " ", "-"))
		u.wantPictures("another document with "+name, false)
	}
}

func TestPicturesOfDrawnSecretAreWithheld(t *testing.T) {
	t.Parallel()
	for name, script := range waysToDraw {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := fmt.Sprintf(`<input type=password><button onclick="show()">Show</button><div id=o></div>
				<script>function show() { const v = document.querySelector("input").value; %s }</script>`, script)
			url := serve(t, map[string]http.HandlerFunc{"/login": htmlPage(body)})
			u := openTraced(t)
			u.mustCall("web_navigate", "url", url+"/login")
			u.mustCall("web_type", "ref", "css=input", "text", typedSecret)
			u.mustCall("web_click", "ref", `button "Show"`)
			u.wantPictures(name, false)
		})
	}
}

func TestPicturesOfOpenedPageAreWithheld(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/login": htmlPage(`<input type=password>`), "/popup": htmlPage(`<h1>Popup</h1>`)})
	u := openTraced(t)
	u.mustCall("web_navigate", "url", url+"/login")
	u.mustCall("web_type", "ref", "css=input", "text", typedSecret)
	u.mustEval(`open("/popup"); 0`)
	u.mustCall("web_waitForTab", "urlPattern", "/popup")
	u.wantPictures("its opener can write into it", false)
}

// TestPicturesOfPageThatTypingOpens types a secret with each command that types, into a page that opens another one when
// it has all of it.
func TestPicturesOfPageThatTypingOpens(t *testing.T) {
	t.Parallel()
	login := fmt.Sprintf(`<input type=password autofocus oninput="if (this.value.length === %d) location = '/other'">`, len(typedSecret))
	url := serve(t, map[string]http.HandlerFunc{"/login": htmlPage(login), "/other": htmlPage(`<h1>Welcome</h1>`)})
	for command, args := range map[string][]any{
		"web_type":     {"ref", "css=input", "text", typedSecret},
		"web_pressKey": {"text", typedSecret},
	} {
		u := openTraced(t)
		u.mustCall("web_navigate", "url", url+"/login")
		u.mustCall(command, args...)
		u.mustCall("web_verifyTextVisible", "text", "Welcome")
		u.wantPictures(command, true)
	}
}
