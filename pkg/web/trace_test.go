package web

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// TestIdlePageSendsNoPictures checks that a page that changes all the time stops sending pictures while no call is made,
// and that the next call has a picture all the same.
func TestIdlePageSendsNoPictures(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<p id=n>0</p><button>Go</button><script>setInterval(() => n.textContent++, 20)</script>`)})
	u := openLive(t, device.Session{})
	u.device.(device.Tracer).StartTrace(device.TraceOptions{})
	trace := u.device.(*webDevice).trace
	trace.idle = 0
	u.mustCall("navigate", "url", url+"/page")
	paused := func() bool {
		trace.mu.Lock()
		defer trace.mu.Unlock()
		return trace.paused[u.page()]
	}
	for range 3 {
		waitFor(t, "the page to be paused", paused)
		u.mustCall("web_click", "ref", "Go")
		if m := u.device.(device.Tracer).Moment(t.Context(), false); m.Picture == nil || len(m.Picture.Data) == 0 {
			t.Errorf("no picture: %s", m.NoPicture)
		}
	}
}

// TestTraceCountsNothingAsShown checks that what a trace reads is not taken for something that the caller has seen.
func TestTraceCountsNothingAsShown(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<button onclick="this.textContent='Delete all'">Delete</button>`)})
	u := openLive(t, device.Session{})
	u.device.(device.Tracer).StartTrace(device.TraceOptions{})
	u.mustCall("navigate", "url", url+"/page")
	v := u.view(device.ViewOptions{})
	ref := v.Ref(named(v, "Delete"))
	u.mustCall("web_click", "ref", ref)
	if m := u.device.(device.Tracer).Moment(t.Context(), true); m.Tree == "" {
		t.Fatal(m)
	}
	u.mustFail("web_click", []any{"ref", ref}, `was button "Delete" and is now button "Delete all"`)
}

// TestMomentSaysWhereCallPressed checks that a moment has the point of a click, and the size of the viewport in its unit.
func TestMomentSaysWhereCallPressed(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(
		`<button style="position:fixed;left:100px;top:200px;width:80px;height:40px">Go</button>`,
	)})
	u := openLive(t, device.Session{})
	u.device.(device.Tracer).StartTrace(device.TraceOptions{})
	moment := func() device.Moment { return u.device.(device.Tracer).Moment(t.Context(), true) }
	u.mustCall("navigate", "url", url+"/page")
	if m := moment(); m.Touched != nil {
		t.Error("opening a page touched", m.Touched)
	}
	u.mustCall("web_click", "ref", "Go")
	waitFor(t, "a picture", func() bool { return u.device.(*webDevice).trace.newest(u.page()) != nil })
	want := device.Moment{Touched: &screen.Point{X: 140, Y: 220}, Width: 1280, Height: 800}
	m := moment()
	if diff := cmp.Diff(want, device.Moment{Touched: m.Touched, Width: m.Width, Height: m.Height}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m := moment(); m.Touched != nil {
		t.Error("no call, but touched", m.Touched)
	}
}
