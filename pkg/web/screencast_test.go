package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
)

// castReader reads a screencast.
type castReader struct {
	t      *testing.T
	frames chan device.Frame // not buffered: the reader is as slow as the test
	stop   func() error
}

func (u *testSession) screencast() *castReader {
	u.t.Helper()
	ctx, cancel := context.WithCancel(u.t.Context())
	r := &castReader{t: u.t, frames: make(chan device.Frame)}
	done := make(chan error, 1)
	go func() {
		done <- u.device.(device.Screencaster).Screencast(ctx, func(f device.Frame) {
			select {
			case r.frames <- f:
			case <-ctx.Done():
			}
		})
	}()
	r.stop = func() error {
		cancel()
		return <-done
	}
	return r
}

// next returns the next picture, or fails.
func (r *castReader) next() device.Frame {
	r.t.Helper()
	select {
	case f := <-r.frames:
		return f
	case <-time.After(testLimit):
		r.t.Fatal("no picture came")
		return device.Frame{}
	}
}

// until reads pictures until the middle of one has a color.
func (r *castReader) until(color string) device.Frame {
	r.t.Helper()
	for {
		f := r.next()
		if is := colorOf(r.t, f); is == color {
			return f
		}
	}
}

// ends reads pictures until one with a color is the last: one that was on its way may come after it, and the browser is
// asked for the newest then.
func (r *castReader) ends(color string) {
	r.t.Helper()
	for r.until(color); ; {
		select {
		case f := <-r.frames:
			if colorOf(r.t, f) != color {
				r.until(color)
			}
		case <-time.After(castFirst + castRest):
			return
		}
	}
}

// none fails if a picture comes within some time.
func (r *castReader) none(within time.Duration) {
	r.t.Helper()
	select {
	case f := <-r.frames:
		r.t.Errorf("a picture came: %s", colorOf(r.t, f))
	case <-time.After(within):
	}
}

// colorOf names the color in the middle of a picture.
func colorOf(t *testing.T, f device.Frame) string {
	t.Helper()
	img := imageOf(t, f)
	red, green, blue, _ := img.At(img.Bounds().Dx()/2, img.Bounds().Dy()/2).RGBA()
	switch {
	case red > 0xc000 && green < 0x4000 && blue < 0x4000:
		return "red"
	case red < 0x4000 && green > 0xc000 && blue < 0x4000:
		return "lime"
	case red < 0x4000 && green < 0x4000 && blue > 0xc000:
		return "blue"
	}
	return "other"
}

func imageOf(t *testing.T, f device.Frame) image.Image {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(f.Picture))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

const coloredPage = `<style>html { background: red }</style><title>colored</title>`

func TestScreencastShowsChanges(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/colored": htmlPage(coloredPage)})
	u := openSession(t)
	u.mustCall("web_navigate", "url", url+"/colored")
	r := u.screencast()
	f := r.until("red")
	if size := imageOf(t, f).Bounds().Size(); f.Width != 1280 || f.Height != 800 || size != image.Pt(1280, 800) {
		t.Errorf("%vx%v, and a picture of %v", f.Width, f.Height, size)
	}
	r.none(500 * time.Millisecond)
	for _, color := range []string{"lime", "blue", "red"} {
		u.mustEval("document.documentElement.style.background = '" + color + "'")
		r.until(color)
	}

	u.mustCall("web_resize", "width", 640, "height", 900)
	for f = r.next(); imageOf(t, f).Bounds().Size() != image.Pt(640, 900); f = r.next() { // one may come in the old scale
	}
	if f.Width != 640 || f.Height != 900 {
		t.Errorf("%vx%v, and a picture of 640x900", f.Width, f.Height)
	}

	// Another origin has a process of its own.
	u.mustCall("web_navigate", "url", strings.Replace(url, "127.0.0.1", "localhost", 1)+"/colored")
	u.mustEval("document.documentElement.style.background = 'blue'")
	r.until("blue")
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}

// TestScreencastEndsWithNewestPicture reads slowly while the page changes all the time, and checks that the last state
// is shown although the browser has dropped pictures.
func TestScreencastEndsWithNewestPicture(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/colored": htmlPage(coloredPage + `<div id=n></div><script>
		let on = true;
		const draw = () => { n.textContent = performance.now(); if (on) requestAnimationFrame(draw) };
		draw()
	</script>`)})
	u := openSession(t)
	u.mustCall("web_navigate", "url", url+"/colored")
	r := u.screencast()
	defer func() { _ = r.stop() }()
	for range 3 {
		r.next()
	}
	u.mustEval(`new Promise(done => setTimeout(done, 500))`)
	u.mustEval(`on = false; document.documentElement.style.background = 'blue'`)
	u.mustEval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
	r.ends("blue")
}

// TestScreencastAsksForWhatWasLost has a picture of before come last, as when the browser has dropped the one after it.
func TestScreencastAsksForWhatWasLost(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/colored": htmlPage(coloredPage)})
	u := openSession(t)
	u.mustCall("web_navigate", "url", url+"/colored")
	s, detach, err := u.page().attach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer detach()
	c := newScreencast(u.page(), s)
	r := &castReader{t: t, frames: make(chan device.Frame)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- c.run(ctx, func(f device.Frame) {
			select {
			case r.frames <- f:
			case <-ctx.Done():
			}
		})
	}()
	before := base64.StdEncoding.EncodeToString(r.until("red").Picture)
	u.mustEval("document.documentElement.style.background = 'blue'")
	r.ends("blue")
	c.onEvent(cdp.Event{Method: "Page.screencastFrame", Params: []byte(`{"data": "` + before + `", "sessionId": 0}`)})
	r.until("red")
	r.until("blue")
	cancel()
	<-ended
}

func TestScreencastFollowsCurrentTab(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{
		"/colored": htmlPage(coloredPage + `<button onclick="window.open('/other')">Open</button>`),
		"/other":   htmlPage(`<style>html { background: blue }</style><button onclick="setTimeout(() => window.close(), 50)">Close</button>`),
	})
	u := openSession(t)
	u.mustCall("web_navigate", "url", url+"/colored")
	r := u.screencast()
	r.until("red")
	u.mustCall("web_click", "ref", "css=button")
	u.mustCall("web_waitForTab")
	r.until("blue")
	u.mustCall("web_switchTab", "index", 0)
	r.until("red")
	u.mustCall("web_switchTab", "index", 1)
	r.until("blue")
	u.mustCall("web_closeTab")
	r.until("red")
	u.mustCall("web_click", "ref", "css=button")
	u.mustCall("web_waitForTab")
	r.until("blue")
	u.mustCall("web_click", "ref", "css=button") // the tab closes itself
	waitFor(t, "the tab to close", func() bool { return u.device.(*webDevice).openContext().currentPage() == nil })
	u.mustCall("web_switchTab", "index", 0)
	r.until("red")
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	d := u.device.(*webDevice)
	if open := len(d.openContext().openPages()); open != 1 {
		t.Errorf("%d pages are open", open)
	}
}

func TestScreencastHasNoPictureOfSecrets(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/colored": htmlPage(coloredPage + `<input aria-label=Key>`)})
	u := openSessionIn(t, sharedBrowser.get(t), device.Session{
		Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "{{KEY}}") },
	})
	u.mustCall("web_navigate", "url", url+"/colored")
	r := u.screencast()
	defer func() { _ = r.stop() }()
	r.until("red")
	typed := make(chan bool)
	go func() {
		defer close(typed)
		_, _ = u.call("web_type", "ref", "css=input", "text", "hunter2")
	}()
	for typing := true; typing; {
		select {
		case f := <-r.frames:
			if f.Picture != nil && colorOf(t, f) != "red" {
				t.Error("a picture shows something else")
			}
		case <-typed:
			typing = false
		}
	}
	u.mustEval("document.documentElement.style.background = 'blue'")
	for range 2 {
		if f := r.next(); f.Picture == nil {
			return
		}
	}
	t.Error("pictures come although a secret was given")
}

// TestScreencastLeavesTraceAlone checks that a trace has its pictures while somebody looks on.
func TestScreencastLeavesTraceAlone(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/colored": htmlPage(coloredPage)})
	u := openSession(t)
	d := u.device.(*webDevice)
	d.StartTrace(device.TraceOptions{})
	r := u.screencast()
	u.mustCall("web_navigate", "url", url+"/colored")
	r.until("red")
	u.mustEval("document.documentElement.style.background = 'blue'")
	r.until("blue")
	m := d.Moment(t.Context(), true)
	if m.Picture == nil || colorOf(t, device.Frame{Picture: m.Picture.Data}) != "blue" {
		t.Errorf("the moment has no picture of the page: %s", m.NoPicture)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	u.mustEval("document.documentElement.style.background = 'red'")
	waitFor(t, "the browser to send pictures to the trace", func() bool {
		p := d.trace.newest(d.openContext().lastPage())
		return p != nil && colorOf(t, device.Frame{Picture: p.Data}) == "red"
	})
}
