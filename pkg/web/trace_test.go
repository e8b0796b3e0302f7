package web

import (
	"net/http"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
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
