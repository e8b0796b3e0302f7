package web

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// openLive opens a live session in the shared browser.
func openLive(t *testing.T, session device.Session) *testSession {
	t.Helper()
	b, err := sharedBrowser.get()
	if err != nil {
		t.Fatal(err)
	}
	session.Live = true
	return openSessionIn(t, b, session)
}

// view returns what the page shows.
func (u *testSession) view(o device.ViewOptions) device.View {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	v, err := u.device.(device.Viewer).View(ctx, o)
	if err != nil {
		u.t.Fatal(err)
	}
	return v
}

// shown returns the page as text.
func (u *testSession) shown() string {
	u.t.Helper()
	v := u.view(device.ViewOptions{})
	return v.Tree.Text(screen.TextOptions{Ref: v.Ref}).String()
}

// refOf returns the reference of the first line that contains a text.
func (u *testSession) refOf(text string) string {
	u.t.Helper()
	all := u.shown()
	for line := range strings.SplitSeq(all, "\n") {
		_, after, found := strings.Cut(line, "[ref=")
		if strings.Contains(line, text) && found {
			ref, _, _ := strings.Cut(after, "]")
			return ref
		}
	}
	u.t.Fatalf("no line contains %s:\n%s", text, all)
	return ""
}

func TestLiveViewShowsFrames(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	far := ""
	url := serve(t, map[string]http.HandlerFunc{
		"/outer": func(w http.ResponseWriter, r *http.Request) {
			htmlPage(`<title>outer</title><h1>Top</h1><iframe src="/near"></iframe><iframe src="`+far+`/far"></iframe>
				<iframe src="/near" hidden></iframe><iframe sandbox srcdoc="<input type=checkbox aria-label=boxed>"></iframe>`)(w, r)
		},
		"/near":  htmlPage(`<button onclick="this.textContent = 'near clicked'">near</button>`),
		"/far":   htmlPage(`<button onclick="this.textContent = 'far clicked'">far</button><iframe src="/inner"></iframe>`),
		"/inner": htmlPage(`<button onclick="this.textContent = 'inner clicked'">inner</button>`),
	})
	far = otherSite(url)
	u.mustCall("navigate", "url", url+"/outer")
	u.waitForFrames("/outer", "/near", "/far", "/inner", "/near", "srcdoc")
	want := `- heading "Top" [ref=e1] [level=1]
- iframe
  - button "near" [ref=e2]
- iframe
  - button "far" [ref=e3]
  - iframe
    - button "inner" [ref=e4]
- iframe
  - checkbox "boxed" [ref=e5]`
	if got := u.shown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for name, ref := range map[string]string{"near": "e2", "far": "e3", "inner": "e4"} {
		u.mustCall("web_click", "ref", ref)
		if got := u.refOf(name + " clicked"); got != ref {
			t.Errorf("%s is %s now", ref, got)
		}
	}
	v := u.view(device.ViewOptions{Within: "e3", Screenshot: true})
	if got := v.Part.Text(screen.TextOptions{Ref: v.Ref}).String(); got != `- button "far clicked" [ref=e3]` {
		t.Errorf("within e3: %s", got)
	}
	if v.URL != url+"/outer" || v.Title != "outer" || len(v.Screenshot) == 0 {
		t.Errorf("%s %q, %d bytes of a screenshot", v.URL, v.Title, len(v.Screenshot))
	}
	v = u.view(device.ViewOptions{Within: "iframe"})
	if got := v.Part.Text(screen.TextOptions{Ref: v.Ref}).String(); got != "- iframe\n  - button \"near clicked\" [ref=e2]" {
		t.Errorf("within iframe: %s", got)
	}
}
