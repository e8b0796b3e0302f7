package mobile

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// peek returns what an onlooker sees.
func (p *phoneTest) peek(o device.ViewOptions) device.View {
	p.Helper()
	o.Peek = true
	v, err := p.device.(device.Viewer).View(p.Context(), o)
	if err != nil {
		p.Fatal(err)
	}
	return v
}

func TestPeekHasGeometry(t *testing.T) {
	t.Parallel()
	for platform, want := range map[Platform]device.Geometry{
		Android: {Width: width, Height: height, PixelRatio: 1},
		IOS:     {Width: width, Height: height},
	} {
		f := &fake{platform: platform, nodes: always(node("Button", "Save", rect(10, 20, 110, 70)))}
		onPhone(t, f, device.Session{Live: true}, func(p *phoneTest) {
			v := p.peek(device.ViewOptions{})
			if diff := cmp.Diff(want, v.Geometry); diff != "" {
				t.Error(platform, diff)
			}
			if n := v.Tree.Nodes()[1]; *n.Bounds != *rect(10, 20, 110, 70) {
				t.Error(platform, n.Bounds)
			}
			if v = p.peek(device.ViewOptions{Screenshot: true}); v.Geometry.PixelRatio != 100.0/width || len(v.Screenshot) == 0 {
				t.Error(platform, v.Geometry)
			}
		})
	}
}

// TestPeekIsOfOneMoment looks at a screen that changes for some time: the picture is taken again when it has come to rest.
func TestPeekIsOfOneMoment(t *testing.T) {
	t.Parallel()
	f := &fake{slow: 100 * time.Millisecond, nodes: func(_ *fake, at time.Duration) []*screen.Node {
		return []*screen.Node{node("Button", "Save", rect(0, int(min(at, 250*time.Millisecond).Milliseconds()), 100, 400))}
	}}
	onPhone(t, f, device.Session{Live: true}, func(p *phoneTest) {
		v := p.peek(device.ViewOptions{Screenshot: true})
		if f.reads != 4 || v.Tree.Nodes()[1].Bounds.Top != 250 {
			t.Errorf("%d reads, %v", f.reads, v.Tree.Nodes()[1].Bounds)
		}
	})
}

func TestPeekDoesNotWaitForCall(t *testing.T) {
	t.Parallel()
	onPhone(t, &fake{nodes: always(node("Button", "Save", rect(0, 0, 100, 100)))}, device.Session{Live: true}, func(p *phoneTest) {
		ctx, cancel := context.WithCancel(p.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = p.device.Call(ctx, tool.Call{Tool: "waitUntilVisible", Args: map[string]any{"text": "Never", "timeoutMs": 30000}})
		}()
		synctest.Wait()
		started := time.Now()
		if v := p.peek(device.ViewOptions{Screenshot: true}); len(v.Tree.Nodes()) != 2 || time.Since(started) > time.Second {
			t.Errorf("%d elements after %s", len(v.Tree.Nodes()), time.Since(started))
		}
		select {
		case <-ended:
			t.Error("the call has ended")
		default:
		}
		cancel()
		<-ended
	})
}

func TestLocateOnPhone(t *testing.T) {
	t.Parallel()
	id := func(n *screen.Node, id string) *screen.Node {
		n.ID, n.Key = &id, screen.Key(id)
		return n
	}
	button := id(node("Button", "", rect(0, 0, 300, 100), node("ImageView", "", rect(0, 0, 100, 100)), node("TextView", "Save", rect(100, 0, 300, 100))), "a:id/save")
	button.Clickable = true
	other := node("Button", "Save", rect(0, 200, 300, 300))
	other.Key = "other"
	f := &fake{nodes: always(button, other)}
	onPhone(t, f, device.Session{Live: true}, func(p *phoneTest) {
		locate := func(at device.Place) (device.Location, error) {
			return p.device.(device.Locator).Locate(p.Context(), at)
		}
		v := p.peek(device.ViewOptions{})
		for _, at := range []device.Place{{Point: screen.Point{X: 150, Y: 50}}, {Ref: v.Ref(button)}} {
			found, err := locate(at)
			if err != nil || found.Node != button || found.Ref != v.Ref(button) {
				t.Fatalf("%+v: %+v %v", at, found, err)
			}
			checkCandidates(t, p, found)
		}
		found, err := locate(device.Place{Ref: v.Ref(other)})
		if err != nil {
			t.Fatal(err)
		}
		checkCandidates(t, p, found)
		if i := slices.IndexFunc(found.Candidates, func(c device.Candidate) bool { return c.Selector["index"] != nil }); i >= 0 {
			if c := found.Candidates[i]; len(c.Notes) == 0 || c.Matches < 2 || !strings.Contains(c.By, "place") {
				t.Errorf("%+v", c)
			}
		}
		if len(f.log) > 0 {
			t.Errorf("the driver did %q", f.log)
		}
		for _, at := range []device.Place{{Point: screen.Point{X: 500, Y: 1000}}, {Point: screen.Point{X: -1, Y: 5000}}} {
			if _, err := locate(at); fault.KindOf(err) != fault.ToolFailed || !strings.Contains(err.Error(), "can be named") {
				t.Errorf("%+v: %v", at, err)
			}
		}
		if _, err := locate(device.Place{Ref: "e99"}); fault.KindOf(err) != screen.StaleRef {
			t.Error(err)
		}
	})
}

// checkCandidates checks that each candidate finds the element, and that a recording gets the first.
func checkCandidates(t *testing.T, p *phoneTest, found device.Location) {
	t.Helper()
	if len(found.Candidates) == 0 {
		t.Fatalf("%v has no candidates", found.Node)
	}
	for i, c := range found.Candidates {
		for _, other := range found.Candidates[:i] {
			if reflect.DeepEqual(c.Selector, other.Selector) {
				t.Errorf("%v twice", c.Selector)
			}
		}
		p.fake.touched = nil
		if r := p.call("tap", map[string]any{"nodeSelector": c.Selector}); !r.OK || p.fake.touched[0] != found.Node && !slices.Contains(found.Node.Children, p.fake.touched[0]) {
			t.Errorf("%v touches %v: %s", c, p.fake.touched, r.Text)
		}
	}
	r := p.call("tap", map[string]any{"ref": found.Ref})
	if diff := cmp.Diff(map[string]any{"nodeSelector": found.Candidates[0].Selector}, r.Located.Args); diff != "" {
		t.Error(diff)
	}
	p.fake.log = nil
}
