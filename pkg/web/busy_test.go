package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// callUntilTimeout makes a call that must time out, on a page in a session of its own, which it returns. The limit
// grows until the result contains all parts: on a busy machine, a short one may pass before the page does anything.
func callUntilTimeout(t *testing.T, url string, call tool.Call, parts ...string) *testSession {
	t.Helper()
	named := call.Timeout > 0
	for limit := 250 * time.Millisecond; ; limit *= 2 {
		u := openBusyPage(t, url)
		d := u.device.(*webDevice)
		before := d.limits
		d.limits.probe, d.limits.response = min(limit/2, time.Second), limit/8
		if named {
			call.Timeout = limit
		} else {
			d.limits.call = limit
		}
		result, err := d.Call(t.Context(), call)
		d.limits = before
		if err != nil || result.OK {
			t.Fatalf("%s %v: got %+v, %v", call.Tool, call.Args, result, err)
		}
		missing := slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
			return strings.Contains(result.Text, part)
		})
		if result.Kind == fault.CallTimeout && len(missing) == 0 {
			return u
		}
		if limit > testLimit/8 {
			t.Fatalf("%s %v: got %s %q, which does not contain %q", call.Tool, call.Args, result.Kind, result.Text,
				missing)
		}
	}
}

// busyPages are pages whose scripts do not end, or that do not rest.
func busyPages(t *testing.T) string {
	t.Helper()
	return serve(t, map[string]http.HandlerFunc{
		"/busy": htmlPage(`<title>busy</title><script>const spin = () => { for (;;); }</script>
			<body onkeydown="spin()"><button onclick="spin()">Spin</button>
<div id=hover onmouseenter="spin()">Hover</div>
			<input id=field onkeydown="spin()" onbeforeinput="spin()">
			<select id=list onchange="spin()"><option>a<option>b</select>
			<div id=box style="height:50px;overflow:auto"><p style="height:900px">Inner</div>`),
		"/refresh": htmlPage(`<title>refresh</title><meta http-equiv=refresh content=0>`),
	})
}

// openBusyPage opens a page in a session of its own. With #always, scripts without end run on it from then on.
func openBusyPage(t *testing.T, url string) *testSession {
	t.Helper()
	u := openSession(t)
	url, always := strings.CutSuffix(url, "#always")
	u.mustCall("navigate", "url", url)
	if always {
		u.page().target.Send("Runtime.evaluate", map[string]any{"expression": "setInterval(spin); spin()"})
	}
	return u
}

func TestCallsOnBusyPagesTimeOut(t *testing.T) {
	t.Parallel()
	url := busyPages(t)
	const busy, sent = "busy", "the action was sent and may have happened"
	for name, tt := range map[string]struct {
		page, tool string
		args       map[string]any
		says       []string
	}{
		"click": {"/busy", "web_click", map[string]any{"ref": "Spin"}, []string{busy, `button "Spin"`, sent}},
		"tap":   {"/busy", "tap", map[string]any{"text": "Spin"}, []string{busy, sent}},
		"hover": {"/busy", "web_hover", map[string]any{"ref": "css=#hover"}, []string{busy, sent}},
		"type":  {"/busy", "web_type", map[string]any{"ref": "css=#field", "text": "x"}, []string{busy, sent}},
		"type keys": {
			"/busy", "web_type",
			map[string]any{"ref": "css=#field", "text": "x", "clearFirst": false},
			[]string{busy, sent},
		},
		"select":   {"/busy", "web_selectOption", map[string]any{"ref": "css=#list", "values": "b"}, []string{busy, sent}},
		"key":      {"/busy", "web_pressKey", map[string]any{"key": "Tab"}, []string{busy}},
		"evaluate": {"/busy", "web_evaluate", map[string]any{"script": "for (;;);"}, []string{busy}},
		"promise": {
			"/busy", "web_evaluate",
			map[string]any{"script": "new Promise(() => {})"},
			[]string{"it was waiting for a promise of the script to settle"},
		},
		"await": {
			"/busy", "evaluateJs",
			map[string]any{"script": "await new Promise(() => {})"},
			[]string{"it was waiting for a promise of the script to settle"},
		},
		"popups": {
			"/busy", "web_evaluate",
			map[string]any{"script": "for (let i = 0; i < 7; i++) open('about:blank'); new Promise(() => {})"},
			[]string{"7 popups were opened"},
		},
		"storage":    {"/busy#always", "web_getStorageState", nil, []string{busy}},
		"scroll":     {"/busy#always", "web_scroll", nil, []string{busy}},
		"snapshot":   {"/busy#always", "web_snapshot", nil, []string{busy}},
		"screenshot": {"/busy#always", "captureScreen", nil, []string{busy}},
	} {
		if testing.Short() && slices.Contains([]string{"tap", "hover", "type keys", "await"}, name) {
			continue // like click, type and promise
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			callUntilTimeout(t, url+tt.page, tool.Call{Tool: tt.tool, Args: tt.args}, tt.says...)
		})
	}
}

func TestTimeoutNamesNavigations(t *testing.T) {
	t.Parallel()
	wait := tool.Call{Tool: "web_wait", Args: map[string]any{"seconds": 30}, Timeout: 1}
	callUntilTimeout(t, busyPages(t)+"/refresh", wait, "web_wait timed out after ", "the page keeps navigating (")
}

// Cookies are kept by the browser, which does not ask the page.
func TestCookiesAreAppliedWhilePageIsBusy(t *testing.T) {
	t.Parallel()
	u := openBusyPage(t, busyPages(t)+"/busy#always")
	u.mustCall("web_applyCookies", "cookiesJson", `[{"name": "a", "value": "b", "url": "https://shop.example"}]`)
}

// TestScreenshotOfPageThatIsReplaced has a page that replaces itself without a pause, a number of times: on one that
// never stops doing so, each screenshot is a matter of luck.
func TestScreenshotOfPageThatIsReplaced(t *testing.T) {
	t.Parallel()
	var loads atomic.Int64
	url := serve(t, map[string]http.HandlerFunc{
		"/replaced": func(w http.ResponseWriter, r *http.Request) {
			refresh := "<meta http-equiv=refresh content=0>"
			if loads.Add(1)%15 == 0 {
				refresh = ""
			}
			htmlPage("<title>replaced</title>"+refresh)(w, r)
		},
	})
	u := openSession(t)
	for range tries(1, 3) {
		u.mustCall("navigate", "url", url+"/replaced")
		if got := u.mustCall("captureScreen"); !strings.HasSuffix(got, "screenshot.png") {
			t.Error(got)
		}
	}
}

func TestPopupsAreLimited(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	p := u.page()
	p.update(func() { p.context.opened = maxPopups - 1 })
	u.mustCall("navigate", "url", "about:blank")
	u.mustEval("window.a = open('about:blank'); window.b = open('about:blank'); 0")
	waitFor(t, "the end of the second page",
		func() bool { return u.mustEval("[a.closed, b.closed].join()") == "false,true" })
	u.waitForNotes("- closed, because the page had opened 100 others")
}

func TestSessionEndsSoonAfterTimeout(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", busyPages(t)+"/busy")
	d := u.device.(*webDevice)
	d.limits.evidence, d.limits.slowEvidence = 2*testLimit, 100*time.Millisecond
	result, err := u.callWithin(500*time.Millisecond, "web_evaluate", map[string]any{"script": "for (;;);"})
	if err != nil || result.OK {
		t.Fatalf("got %+v, %v", result, err)
	}
	u.page().target.Send("Runtime.evaluate", map[string]any{"expression": "for (;;);"}) // nothing stops this one
	start := time.Now()
	if shown := d.Evidence(t.Context()); len(shown) == 0 {
		t.Error("there is no evidence")
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > testLimit {
		t.Errorf("it took %s", took)
	}
}

func TestPageWorksAfterTimeout(t *testing.T) {
	t.Parallel()
	click := tool.Call{Tool: "web_click", Args: map[string]any{"ref": "Spin"}}
	u := callUntilTimeout(t, busyPages(t)+"/busy", click, "sent")
	for range 2 {
		if got := u.mustEval("document.title"); got != "busy" {
			t.Errorf("the title is %s", got)
		}
		result, err := u.callWithin(200*time.Millisecond, "web_evaluate", map[string]any{"script": "spin()"})
		if err != nil || result.Kind != fault.CallTimeout {
			t.Fatalf("got %+v, %v", result, err)
		}
	}
	if got := u.mustEval("document.title"); got != "busy" {
		t.Errorf("the title is %s", got)
	}
}

// A navigation that times out says so itself. Evidence must not wait longer for its page, either.
func TestEvidenceOfPageThatDidNotLoadEndsSoon(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	url := serve(t, map[string]http.HandlerFunc{"/late": func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}})
	u := openSession(t)
	u.mustCall("navigate", "url", busyPages(t)+"/busy")
	u.device.(*webDevice).limits.navigation = 100 * time.Millisecond
	result, err := u.call("navigate", "url", url+"/late")
	if err != nil || result.Kind != fault.CallTimeout || !strings.Contains(result.Text, "did not respond within 100ms") {
		t.Fatalf("got %+v, %v", result, err)
	}
	if !u.page().slow.Load() {
		t.Error("the page does not count as slow")
	}
}

// A query that answers without the page has still waited for it: what is collected afterwards must not wait as long again.
func TestPageThatDoesNotRespondIsSlowForTheTrace(t *testing.T) {
	t.Parallel()
	begin := make(chan struct{})
	at := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage(`<script>new EventSource("/begin").onmessage = () => {
			const request = new XMLHttpRequest(); request.open("GET", "/hang", false); request.send();
		};</script>`),
		"/begin": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			<-begin
			_, _ = w.Write([]byte("data: now\n\n"))
		},
		"/hang": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	})
	u := openSession(t)
	u.mustCall("web_navigate", "url", at+"/page")
	close(begin)
	for p := u.page(); !p.slow.Load(); { // until the request has begun
		result, err := u.callWithin(300*time.Millisecond, "web_currentUrl", nil)
		if err != nil || !result.OK || result.Text != at+"/page" {
			t.Fatalf("%+v, %v", result, err)
		}
	}
}

// Looks end at their limits while the page does not tell what is on it, and the session goes on.
func TestLooksAtPagesThatDoNotRespondEnd(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/page":  htmlPage(`<a href=/hang>Never</a>`),
		"/hang":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/other": htmlPage(`<p>Other</p>`),
	})
	const leaves = "/hang, which the page opens, has not responded; until then the browser does not tell what is on "
	for name, tt := range map[string]struct {
		script string
		limit  func(*limits) *time.Duration // that is short
		want   string
	}{
		"leaves":      {"document.links[0].click()", func(l *limits) *time.Duration { return &l.first }, leaves},
		"leaves late": {"document.links[0].click()", func(l *limits) *time.Duration { return &l.response }, leaves},
		"busy":        {"for (;;);", func(l *limits) *time.Duration { return &l.look }, "the page is busy, with scripts or with"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := openLive(t, device.Session{})
			u.mustCall("web_navigate", "url", at+"/page")
			p, d := u.page(), u.device.(*webDevice)
			p.target.Send("Runtime.evaluate", map[string]any{"expression": tt.script})
			if tt.want == leaves {
				waitFor(t, "a navigation", func() bool {
					p.mu.Lock()
					defer p.mu.Unlock()
					return p.root.leaving != nil && p.root.leaving.started
				})
			}
			*tt.limit(&d.limits) = failTime
			for what, look := range looks(d) {
				p.slow.Store(name == "leaves late")
				if err := look(t.Context()); fault.KindOf(err) != fault.CallTimeout || !strings.Contains(err.Error(), tt.want) ||
					!strings.Contains(err.Error(), at+"/page") {
					t.Errorf("%s: %v", what, err)
				}
			}
			d.limits = longLimits()
			u.mustCall("web_navigate", "url", at+"/other")
			if shown := u.shown(); !strings.Contains(shown, "Other") {
				t.Error(shown)
			}
		})
	}
}

// looks are ways to look at what a device shows.
func looks(d *webDevice) map[string]func(context.Context) error {
	view := func(o device.ViewOptions) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := d.View(ctx, o)
			return err
		}
	}
	return map[string]func(context.Context) error{
		"view": view(device.ViewOptions{}), "picture": view(device.ViewOptions{Screenshot: true}), "peek": view(device.ViewOptions{Peek: true}),
		"locate": func(ctx context.Context) error {
			_, err := d.Locate(ctx, device.Place{Point: screen.Point{X: 1, Y: 1}})
			return err
		},
	}
}

// A frame that opens a page without a response does not keep others from being read.
func TestViewWhileFrameOpensPageWithoutResponse(t *testing.T) {
	t.Parallel()
	at := serve(t, map[string]http.HandlerFunc{
		"/page":  htmlPage(`<p>Outside</p><iframe src=/frame></iframe>`),
		"/frame": htmlPage(`<a href=/hang>Never</a>`),
		"/hang":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	})
	u := openLive(t, device.Session{})
	u.mustCall("web_navigate", "url", at+"/page")
	before := u.page().navigationsSoFar()
	u.page().target.Send("Runtime.evaluate", map[string]any{"expression": "frames[0].document.links[0].click()"})
	waitFor(t, "a navigation", func() bool { return u.page().navigationsSoFar() > before })
	if shown := u.shown(); !strings.Contains(shown, "Outside") {
		t.Error(shown)
	}
}
