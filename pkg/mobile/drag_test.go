package mobile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestDragTo(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	milk, basket := node("Button", "Milk", rect(100, 400, 300, 500)), node("Button", "Basket", rect(100, 900, 300, 1000))
	onto := func(text string) args { return args{"from": args{"text": "Milk"}, "to": byText(text)} }

	onPhone(t, &fake{nodes: always(milk, basket)}, device.Session{}, func(p *phoneTest) {
		p.does("dragTo", onto("Basket"), `dragged button "Milk" to button "Basket"`, "touch 200,450 to 200,950 for 1.7s and 150ms still")
		p.fails("dragTo", onto("Bin"), `text "Bin" was not found (within 10s; app com.example.orders)`)
		if len(p.fake.touched) != 1 {
			t.Errorf("touched %v", p.fake.touched)
		}
	})

	// What is dragged appears late, when the other element is elsewhere.
	later := func(_ *fake, at time.Duration) []*screen.Node {
		if at < 5*time.Second {
			return []*screen.Node{basket}
		}
		return []*screen.Node{milk, node("Button", "Basket", rect(100, 1400, 300, 1500))}
	}
	onPhone(t, &fake{nodes: later}, device.Session{}, func(p *phoneTest) {
		p.does("dragTo", onto("Basket"), `dragged button "Milk" to button "Basket"`, "touch 200,450 to 200,1450 for 1.7s and 150ms still")
	})

	// The other element has gone when what is dragged appears.
	instead := func(_ *fake, at time.Duration) []*screen.Node {
		if at < 5*time.Second {
			return []*screen.Node{basket}
		}
		return []*screen.Node{milk}
	}
	onPhone(t, &fake{nodes: instead}, device.Session{}, func(p *phoneTest) {
		r := p.call("dragTo", onto("Basket"))
		if r.OK || !strings.HasPrefix(r.Text, `text "Milk" is not ready to be dragged: text "Basket", on which it is to be dropped, was not found (`) {
			t.Error(r.Text)
		}
		if len(p.fake.touched) != 0 {
			t.Errorf("touched %v", p.fake.touched)
		}
	})
}

func TestDragToIsRecordedWithSelectors(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	milk, basket := node("Button", "Milk", rect(100, 400, 300, 500)), node("Button", "Basket", rect(100, 900, 300, 1000))
	onPhone(t, &fake{nodes: always(milk, basket)}, device.Session{Live: true}, func(p *phoneTest) {
		viewer, _ := p.device.(device.Viewer)
		v, err := viewer.View(p.Context(), device.ViewOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := p.call("dragTo", args{"from": args{"ref": v.Ref(milk)}, "to": args{"ref": v.Ref(basket)}})
		if !r.OK || r.Located == nil {
			t.Fatal(r.Text)
		}
		if diff := cmp.Diff(args{"from": byText("Milk"), "to": byText("Basket")}, r.Located.Args); diff != "" {
			t.Error(diff)
		}
		if replay := p.call("dragTo", r.Located.Args); !replay.OK || replay.Located != nil {
			t.Error(replay.Text)
		}
		if p.fake.log[0] != p.fake.log[1] {
			t.Errorf("the replay did %q", p.fake.log)
		}
	})
}

func TestDragToNamesTheEndThatIsWrong(t *testing.T) {
	t.Parallel()
	commands := advertisedTools(Android)
	for _, c := range commands {
		if c.Name != "dragTo" {
			continue
		}
		err := c.Check(map[string]any{"from": map[string]any{"text": "Milk"}, "to": map[string]any{"ref": "Basket"}})
		if e := fault.As(err); e == nil || !strings.HasPrefix(e.Message, `to: ref: "Basket" is not a reference`) {
			t.Errorf("got %v", err)
		}
		return
	}
	t.Error("Android has no command dragTo")
}
