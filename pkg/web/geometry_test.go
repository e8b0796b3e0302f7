package web

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/geometry"
)

// geometryPages have buttons that data-box names as they are named. OTHER stands for another origin.
var geometryPages = map[string]string{
	"plain":     `<button data-box=a>a</button><p><button data-box=b style="padding:7.3px">b</button> <a href=# data-box=c>c</a>`,
	"scrolled":  `<button data-box=a>a</button><div style="height:3000px;width:2000px"></div><button data-box=b>b</button><script>scrollTo(3, 2500)</script>`,
	"transform": `<div style="transform:rotate(20deg) scale(1.5);margin:100px;width:200px"><button data-box=a>a</button></div>`,
	"zoom":      `<body style="zoom:1.5"><button data-box=a>a</button><div style="zoom:2"><button data-box=b>b</button></div>`,
	"fixed":     `<div style="height:3000px">x</div><button data-box=a style="position:fixed;right:3px;bottom:5px">a</button><script>scrollTo(0, 500)</script>`,
	"sticky":    `<div style="height:3000px"><button data-box=a style="position:sticky;top:11px">a</button></div><script>scrollTo(0, 500)</script>`,
	"list": `<div id=s style="overflow:auto;height:100px"><button data-box=a>a</button><div style="height:500px"></div>` +
		`<button data-box=b>b</button></div><script>s.scrollTop=333</script>`,
	"shadow": `<x-a></x-a><script>document.querySelector("x-a").attachShadow({mode: "open"}).innerHTML =
		"<p style='margin:33px'><slot></slot><button data-box=a>a</button>"</script>`,
	"svg":   `<svg width=200 height=100 style="margin:20px"><a href=# data-box=a aria-label=a transform="translate(30 20) scale(2)"><rect width=20 height=10 /></a></svg>`,
	"lines": `<p style="width:120px">some words before <button data-box=a style="display:inline;width:auto">a</button> and after`,
	"frame": `<div style="height:50px"></div><iframe style="border:7px solid;padding:3px;margin-left:20px" srcdoc="<div style='height:1000px;width:1000px'></div>` +
		`<button data-box=a>a</button><script>scrollTo(2,900)</script>"></iframe>`,
	"frame-scrolled": `<iframe width=400 style="margin:30px" srcdoc="<button data-box=a>a</button>"></iframe><div style="height:3000px;width:3000px"></div><script>scrollTo(11, 17)</script>`,
	"frame-transform": `<iframe style="border:7px solid;padding:3px;transform:rotate(10deg) scale(1.3);margin:90px" srcdoc="<button data-box=a>a</button>` +
		`<iframe style='border:4px solid;transform:rotate(30deg)' srcdoc='<button data-box=b>b</button>'></iframe>"></iframe>`,
	"frame-other":  `<iframe width=500 height=300 style="border:0;margin:20px" src="OTHER/frame-inner"></iframe>`,
	"frame-inner":  `<div style="height:300px;width:1000px"></div><button data-box=a>a</button><iframe style="border:2px solid" srcdoc="<button data-box=b>b</button>"></iframe><script>scrollTo(2, 250)</script>`,
	"frames-other": `<iframe width=600 height=500 style="border:0;margin:20px" srcdoc="<iframe width=500 height=400 style='border:0;margin:30px' src='OTHER/frame-inner'></iframe>"></iframe>`,
}

// coloured are pages with a button of a colour that nothing else has, and about which Playwright is wrong: it ignores the
// zoom of frames, and the border of frames of other processes.
var coloured = map[string]string{
	"zoomed":             `<iframe style="border:7px solid;padding:3px;zoom:1.5;margin:10px" srcdoc="{BUTTON}"></iframe>`,
	"zoomed-page":        `<body style="zoom:1.5"><iframe style="border:7px solid;padding:3px" srcdoc="{BUTTON}<p style='height:500px'><script>scrollTo(0, 9)</script>"></iframe>`,
	"zoomed-twice":       `<iframe width=500 height=500 style="border:7px solid;zoom:1.5" srcdoc="<iframe style='border:9px solid;zoom:0.8;transform:scale(0.75)' src='/BUTTON'></iframe>"></iframe>`,
	"other":              `<iframe width=500 height=300 style="border:7px solid;padding:3px;margin:20px" src="OTHER/BUTTON"></iframe>`,
	"other-zoomed":       `<iframe width=500 height=300 style="border:7px solid;padding:3px;zoom:1.5;transform:scale(0.8)" src="OTHER/BUTTON"></iframe>`,
	"other-zoomed-twice": `<body style="zoom:1.25"><iframe width=500 height=300 style="border:7px solid" src="OTHER/around"></iframe>`,
	"around":             `<iframe style="border:5px solid;zoom:1.6" src="/BUTTON"></iframe>`,
}

const colouredButton = `<div role=button aria-label=a style='width:40px;height:30px;background:#f0f;margin:12px'></div>`

func geometryServer(t *testing.T) (base string) {
	t.Helper()
	pages := map[string]http.HandlerFunc{"/BUTTON": htmlPage(colouredButton)}
	for _, group := range []map[string]string{geometryPages, coloured} {
		for name, body := range group {
			pages["/"+name] = func(w http.ResponseWriter, r *http.Request) {
				_, port, _ := strings.Cut(r.Host, ":")
				htmlPage(strings.NewReplacer("{BUTTON}", colouredButton, "OTHER", "http://localhost:"+port).Replace(body))(w, r)
			}
		}
	}
	return serve(t, pages)
}

// playwrightBoxes returns what Playwright says of some pages.
func playwrightBoxes(t *testing.T, scale string, urls []string) (all []map[string]*geometry.Box) {
	t.Helper()
	out := runPlaywright(t.Context(), t, "geometry.mjs", append([]string{scale}, urls...)...)
	for line := range strings.Lines(string(out)) {
		var boxes map[string]*geometry.Box
		if err := json.Unmarshal([]byte(line), &boxes); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, boxes)
	}
	return all
}

// named returns the element of a view that people act on by a name.
func named(v device.View, name string) *screen.Node {
	for _, n := range v.Tree.Nodes() {
		if n.Name() == name && screen.IsControl(n.RoleName()) {
			return n
		}
	}
	return nil
}

// TestBoundsAreThoseOfPlaywright compares with Playwright's boundingBox, for pages of one and of two pixels for a CSS
// pixel.
func TestBoundsAreThoseOfPlaywright(t *testing.T) {
	t.Parallel()
	base := geometryServer(t)
	names := slices.Sorted(maps.Keys(geometryPages))
	urls := make([]string, len(names))
	for i, name := range names {
		urls[i] = base + "/" + name
	}
	for _, scale := range []string{"1", "2"} {
		t.Run(scale, func(t *testing.T) {
			t.Parallel()
			want := playwrightBoxes(t, scale, urls)
			b := newTestBackend(t, map[string]string{"deviceScaleFactor": scale, "viewport": "800x600"})
			u := openSessionIn(t, b, device.Session{Live: true})
			for i, name := range names {
				u.mustCall("navigate", "url", urls[i])
				v := u.view(device.ViewOptions{Peek: true})
				if len(want[i]) == 0 {
					t.Errorf("%s: Playwright sees nothing", name)
				}
				for which, box := range want[i] {
					if n := named(v, which); n == nil || n.Bounds == nil || box == nil || !isNear(*n.Bounds, *box) {
						t.Errorf("%s: %v is at %+v, Playwright says %+v", name, n, n.Bounds, *box)
					}
				}
				if v.Geometry.Width != 800 || v.Geometry.Height != 600 || scale != map[float64]string{1: "1", 2: "2"}[v.Geometry.PixelRatio] {
					t.Errorf("%s: %+v", name, v.Geometry)
				}
			}
		})
	}
}

// isNear reports whether each edge is in the same place, to a pixel.
func isNear(r screen.Rect, b geometry.Box) bool {
	for got, want := range map[int]float64{r.Left: b.X, r.Top: b.Y, r.Right: b.X + b.Width, r.Bottom: b.Y + b.Height} {
		if math.Abs(float64(got)-want) > 1 {
			return false
		}
	}
	return true
}

// TestBoundsAreWhereThePictureShowsThem compares with the place of a colour in the picture of the view.
func TestBoundsAreWhereThePictureShowsThem(t *testing.T) {
	t.Parallel()
	base := geometryServer(t)
	for _, ratio := range []string{"1", "2"} {
		t.Run(ratio, func(t *testing.T) {
			t.Parallel()
			u := openSessionIn(t, newTestBackend(t, map[string]string{"deviceScaleFactor": ratio, "viewport": "900x700"}), device.Session{Live: true})
			for name := range coloured {
				u.mustCall("navigate", "url", base+"/"+name)
				u.mustCall("web_verifyElementVisible", "ref", "a")
				v := u.view(device.ViewOptions{Peek: true, Screenshot: true})
				n, want := named(v, "a"), placeOfColour(t, v)
				if n == nil || n.Bounds == nil || !isNear(*n.Bounds, want) {
					t.Errorf("%s: the view has %v at %+v, the picture at %+v", name, n, n.Bounds, want)
				}
			}
		})
	}
}

// placeOfColour returns where the picture of a view has the colour of the button, in the unit of bounds.
func placeOfColour(t *testing.T, v device.View) geometry.Box {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(v.Screenshot))
	if err != nil {
		t.Fatal(err)
	}
	found := image.Rectangle{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if c := color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA); c.R > 128 && c.G < 128 && c.B > 128 {
				found = found.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	s := v.Geometry.PixelRatio
	return geometry.Box{
		X: float64(found.Min.X) / s, Y: float64(found.Min.Y) / s, Width: float64(found.Dx()) / s, Height: float64(found.Dy()) / s,
	}
}

// TestPeekTakesNothing checks that a view for an onlooker leaves events and messages to the next one of the caller, and
// does not count as showing what it shows.
func TestPeekTakesNothing(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<button onclick="alert('Sure?'); this.textContent='Delete all'">Delete</button><div role=status id=s></div>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	v := u.view(device.ViewOptions{})
	ref := v.Ref(named(v, "Delete"))
	u.mustCall("web_click", "ref", ref)
	u.mustEval("s.textContent = 'Deleted'; new Promise((done) => setTimeout(() => { s.textContent = ''; done() }, 300))")
	for range 2 {
		if seen := u.view(device.ViewOptions{Peek: true, Screenshot: true}); len(seen.Events)+len(seen.Messages) > 0 || named(seen, "Delete all") == nil || len(seen.Screenshot) == 0 {
			t.Errorf("%q %q", seen.Events, seen.Messages)
		}
	}
	u.mustFail("web_click", []any{"ref", ref}, `was button "Delete" and is now button "Delete all"`)
	events := strings.Join(u.view(device.ViewOptions{}).Events, "\n")
	if !strings.Contains(events, "Sure?") {
		t.Errorf("%q", events)
	}
}

// TestViewDoesNotWaitForCall looks at a page while a call waits for something that never comes.
func TestViewDoesNotWaitForCall(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<button>Save</button>`)})
	u := openLive(t, device.Session{})
	u.mustCall("navigate", "url", url+"/page")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := u.device.Call(ctx, tool.Call{ID: "1", Tool: "waitForSelector", Args: map[string]any{"selector": "#never", "timeoutMs": 60000}})
		ended <- err
	}()
	waitFor(t, "the call to run", func() bool { return len(u.device.(*webDevice).callSlot) == 1 })
	for range 5 {
		if v := u.view(device.ViewOptions{Peek: true, Screenshot: true}); named(v, "Save") == nil || len(v.Screenshot) == 0 {
			t.Error("the button is not in the view")
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("the call has ended: %v", err)
	default:
	}
	cancel()
	<-ended
}

// TestBoundsOnPhoneSizedPages looks at pages that the browser shrinks to the width of a phone's screen, and at what is
// not shown.
func TestBoundsOnPhoneSizedPages(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`<div style="width:980px;height:3000px"><p style="height:300px">text</p>` + colouredButton +
		`</div><iframe style="display:none" srcdoc="<button>hidden</button>"></iframe><button style="display:contents">contents</button>` +
		`<script>scrollTo(0, 200)</script>`)})
	u := openSessionIn(t, newTestBackend(t, map[string]string{"preset": "Pixel 7"}), device.Session{Live: true})
	u.mustCall("navigate", "url", url+"/page")
	v := u.view(device.ViewOptions{Peek: true, Screenshot: true})
	n, want := named(v, "a"), placeOfColour(t, v)
	if n == nil || n.Bounds == nil || !isNear(*n.Bounds, want) || want.Width > 30 {
		t.Errorf("the view has %v at %+v, the picture at %+v; %+v", n, n.Bounds, want, v.Geometry)
	}
	if v.Geometry.Width != 412 || v.Geometry.PixelRatio != 2.625 || v.Geometry.ScrollY != 200 {
		t.Errorf("%+v", v.Geometry)
	}
	if found := u.mustLocate(device.Place{Point: n.Bounds.Centre()}); found.Node.Key != n.Key {
		t.Errorf("%v is located", found.Node)
	}
	for _, name := range []string{"hidden", "contents"} {
		if n := named(v, name); n != nil && n.Bounds != nil {
			t.Errorf("%s is at %v", name, n.Bounds)
		}
	}
}
