package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// tabOf returns the tab of a session.
func (u *testSession) page() *page {
	u.t.Helper()
	t, err := u.device.(*webDevice).waitForPage(u.t.Context())
	if err != nil {
		u.t.Fatal(err)
	}
	return t
}

// waitForFrames waits until the frames of the page, in their order, are at the given paths.
func (u *testSession) waitForFrames(paths ...string) []*frame {
	u.t.Helper()
	t := u.page()
	var frames []*frame
	var there []string
	defer func() {
		if u.t.Failed() {
			u.t.Logf("the frames that are there: %q", there)
		}
	}()
	waitFor(u.t, "frames at "+strings.Join(paths, " "), func() bool {
		frames, there = t.frames(), nil
		for _, f := range frames {
			var path string
			ctx, cancel := context.WithTimeout(u.t.Context(), time.Second) // one that crashes does not answer
			defer cancel()
			if err := f.evaluate(ctx, "location.pathname + (document.readyState == 'complete' ? '' : '…')",
				&path); err != nil {
				path = err.Error()
			}
			there = append(there, path)
		}
		return slices.Equal(there, paths)
	})
	return frames
}

// otherSite is a URL of the same server that browsers take for another site.
func otherSite(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }

func TestFramesInAnyProcess(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	far := ""
	url := serve(t, map[string]http.HandlerFunc{
		"/outer": func(w http.ResponseWriter, r *http.Request) {
			htmlPage(
				`<body style="margin:0"><iframe src="/near" style="position:absolute;left:100px;top:50px;border:5px solid;padding:3px"></iframe>
				<iframe src="`+far+`/far" style="position:absolute;left:500px;top:300px;border:0;width:400px;height:300px"></iframe>`,
			)(w, r)
		},
		"/near":   htmlPage(`<body style="margin:0"><iframe src="/inner" style="position:absolute;left:10px;top:20px;border:0"></iframe>`),
		"/far":    htmlPage(`<body style="margin:0"><iframe src="/inner" style="position:absolute;left:7px;top:9px;border:0"></iframe>`),
		"/inner":  htmlPage(`<p>inner`),
		"/simple": htmlPage(`<p>simple`),
	})
	far = otherSite(url)
	u.mustCall("navigate", "url", url+"/outer")
	frames := u.waitForFrames("/outer", "/near", "/inner", "/far", "/inner")
	if a, b := frames[0].session.to.Load(), frames[3].session.to.Load(); a == b || b != frames[4].session.to.Load() {
		t.Error("the other site has no process of its own")
	}
	for i, want := range [][2]float64{{0, 0}, {108, 58}, {118, 78}, {500, 300}, {507, 309}} {
		corner, err := u.page().search(syntax.Target{}, check{}).toViewport(t.Context(), observed{frame: frames[i]})
		if err != nil || corner.Reason != "" || math.Abs(corner.X-want[0]) > 0.5 || math.Abs(corner.Y-want[1]) > 0.5 {
			t.Errorf("frame %d is at %v, %v, want %v; %s %v", i, corner.X, corner.Y, want, corner.Reason, err)
		}
	}

	// The process that a frame has left may say so after the one where it is has told of the frames inside.
	u.page().onFrameEvent(frames[0].session.to.Load(), cdp.Event{
		Method: "Page.frameDetached", Params: fmt.Appendf(nil, `{"frameId":%q,"reason":"swap"}`, frames[3].id),
	})
	u.waitForFrames("/outer", "/near", "/inner", "/far", "/inner")

	// Frames that move between processes, go, and come.
	u.mustEval(`document.querySelectorAll("iframe")[1].src = "/simple"; 0`)
	u.waitForFrames("/outer", "/near", "/inner", "/simple")
	u.mustEval(fmt.Sprintf(`document.querySelectorAll("iframe")[0].src = "%s/far"; 0`, far))
	u.waitForFrames("/outer", "/far", "/inner", "/simple")
	u.mustEval(`document.querySelectorAll("iframe")[0].remove()`)
	u.waitForFrames("/outer", "/simple")
	u.mustEval(`document.body.append(Object.assign(document.createElement("iframe"), {src: "/inner"}))`)
	u.waitForFrames("/outer", "/simple", "/inner")
	u.mustCall("navigate", "url", far+"/far")
	u.waitForFrames("/far", "/inner")
	if _, err := u.page().frameElement(t.Context(), frames[1]); !errors.Is(err, errGone) {
		t.Errorf("a frame that is gone: %v", err)
	}
	if err := frames[1].evaluate(t.Context(), "1", nil); !errors.Is(err, errGone) {
		t.Errorf("a frame that is gone: %v", err)
	}
}

func TestCrashedFrameLeavesPageUsable(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	far := ""
	url := serve(t, map[string]http.HandlerFunc{
		"/outer": func(w http.ResponseWriter, r *http.Request) {
			htmlPage(`<iframe src="`+far+`/far"></iframe>`)(w,
				r)
		},
		"/far":  htmlPage(`far`),
		"/near": htmlPage(`near`),
	})
	far = otherSite(url)
	u.mustCall("navigate", "url", url+"/outer")
	inner := u.waitForFrames("/outer", "/far")[1]
	waits := make(chan error, 1)
	go func() { waits <- inner.evaluate(t.Context(), "new Promise(() => {})", nil) }()
	inner.session.Send("Page.crash", nil)
	if err := <-waits; !errors.Is(err, errGone) {
		t.Errorf("what waits in the frame ends with %v", err)
	}
	u.waitForFrames("/outer")
	if err := inner.evaluate(t.Context(), "1", nil); !errors.Is(err, errGone) {
		t.Errorf("the frame answers %v", err)
	}
	u.waitForNotes("- the frame " + far + "/far crashed")
	u.mustEval(`document.querySelector("iframe").src = "/near"; 0`)
	u.waitForFrames("/outer", "/near")
}

func TestEvalEndsWithDocument(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{"/a": htmlPage("a"), "/b": htmlPage("b")})
	for _, next := range []string{url + "/b", otherSite(url) + "/b", "about:blank"} {
		u.mustCall("navigate", "url", url+"/a")
		f := u.page().main()
		s, w, err := f.ensureWorld(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		body, err := f.handle(t.Context(), "root")
		if err != nil {
			t.Fatal(err)
		}
		forever := s.Send("Runtime.evaluate", map[string]any{
			"expression": "new Promise(() => {})", "awaitPromise": true, "uniqueContextId": w.unique,
		})
		u.mustCall("navigate", "url", next)
		ctx, cancel := context.WithTimeout(t.Context(), testLimit)
		defer cancel()
		if err := forever(ctx, nil); !errors.Is(asGone(err), errGone) {
			t.Errorf("what waited when the page went to %s: %v", next, err)
		}
		select {
		case <-w.ctx.Done():
		default:
			t.Errorf("the world of the page before %s goes on", next)
		}
		if err := f.eval(t.Context(), "layOut", nil, body); !errors.Is(err, errGone) {
			t.Errorf("an element of the page before %s: %v", next, err)
		}
		body.release()
	}
}

func TestPagesCannotAccessScript(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{"/mine": htmlPage(`<title>mine</title><script>
		Object.prototype.hidden = 1; Array.prototype.map = () => { throw "mine" }; globalThis.trailblaze = {root() { throw "mine" }};
		</script>`)})
	u.mustCall("navigate", "url", url+"/mine")
	f := u.page().main()
	if root, err := f.handle(t.Context(), "root"); err != nil || root == nil {
		t.Errorf("got %v, %v", root, err)
	}
	if got := u.mustEval("Object.keys(globalThis.trailblaze)"); got != `["root"]` {
		t.Errorf("the page's own is %s", got)
	}
}
