package mobile

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// refs returns the reference of each element with a name, by the name.
func refs(t *testing.T, v device.View) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, n := range v.Tree.Nodes() {
		if v.Ref(n) != "" {
			out[n.String()] = v.Ref(n)
		}
	}
	return out
}

func TestRecordingNamesElement(t *testing.T) {
	t.Parallel()
	redact := func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	type args = map[string]any
	block := func(key, pattern string) args {
		return args{"nodeSelector": args{"androidAccessibility": args{key: pattern}}}
	}
	at := func(a args, index int) args {
		selector, _ := a["nodeSelector"].(args)
		selector["index"] = index
		return a
	}
	make := func(text, id, label string) *screen.Node {
		n := node("Button", text, rect(0, 0, 100, 100))
		n.Key = screen.Key(text + id + label)
		if id != "" {
			n.ID = new("a:id/" + id)
		}
		if label != "" {
			n.Label = &label
		}
		return n
	}
	place := func(nodes ...*screen.Node) []*screen.Node {
		for i, n := range nodes {
			n.Bounds = rect(0, 100*i, 100, 100*i+100)
		}
		return nodes
	}
	const digits = "contains digits and may change; a resource id or an accessibility identifier does not"
	for name, tt := range map[string]struct {
		nodes    []*screen.Node
		want     args
		warnings []string
	}{
		"a unique id":          {place(make("Save", "save", "")), block("resourceIdRegex", "a:id/save"), nil},
		"a unique text":        {place(make("Save (1)", "row", ""), make("Load", "row", "")), block("textRegex", `Save \(1\)`), []string{`the name "Save (1)" ` + digits}},
		"a label":              {place(make("", "", "Add")), block("contentDescriptionRegex", "Add"), nil},
		"a label, not digits":  {place(make("12", "", "Total")), block("contentDescriptionRegex", "Total"), nil},
		"an id with an index":  {place(make("Same", "row", ""), make("Same", "row", "x")), at(block("resourceIdRegex", "a:id/row"), 0), []string{`button "Same" is number 1 of several with this selector, which may change`}},
		"a text with an index": {place(make("Same", "", ""), make("Same", "", " ")), at(block("textRegex", "Same"), 0), []string{`button "Same" is number 1 of several with this selector, which may change`}},
		"no secret":            {place(make("hunter2", "", "")), at(block("classNameRegex", `android\.widget\.Button`), 0), []string{`button "***" is number 1 of several with this selector, which may change`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onPhone(t, &fake{nodes: always(tt.nodes...)}, device.Session{Live: true, Redact: redact}, func(p *phoneTest) {
				tt.nodes[0].Key = "first"
				v, err := p.device.(device.Viewer).View(p.Context(), device.ViewOptions{})
				if err != nil {
					t.Fatal(err)
				}
				r := p.call("tap", args{"ref": v.Ref(tt.nodes[0])})
				if !r.OK || r.Located == nil {
					t.Fatal(r.Text)
				}
				if diff := cmp.Diff(tt.want, r.Located.Args); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(tt.warnings, r.Located.Warnings); diff != "" {
					t.Error(diff)
				}
				if p.fake.touched[0] != tt.nodes[0] {
					t.Error("touched", p.fake.touched[0])
				}
				replay := p.call("tap", r.Located.Args)
				if !replay.OK || replay.Located != nil || p.fake.touched[1] != tt.nodes[0] {
					t.Error("the replay touched", p.fake.touched[1], replay.Text)
				}
			})
		})
	}
}

func TestRecordingNamesElementByWhatIsAround(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	block := func(key, pattern string) args { return args{"androidAccessibility": args{key: pattern}} }
	row := func(top int, text, total string) *screen.Node {
		remove := node("ImageButton", "", rect(900, top, 1000, top+100))
		remove.Label, remove.Clickable, remove.Key = new("Delete"), true, screen.Key("delete "+text)
		r := node("LinearLayout", "", rect(0, top, width, top+100),
			node("TextView", total, rect(500, top, 600, top+100)), node("TextView", text, rect(0, top, 400, top+100)), remove)
		r.ID, r.Clickable, r.Key = new("a:id/row"), true, screen.Key("row "+text)
		return r
	}
	rows := []*screen.Node{row(100, "Lamp", "12.50"), row(300, "Mug", "4.00")}
	inside := func(selector args) args {
		selector["containsDescendants"] = []any{block("textRegex", "Mug")}
		return selector
	}
	onPhone(t, &fake{nodes: always(rows...)}, device.Session{Live: true}, func(p *phoneTest) {
		viewer, _ := p.device.(device.Viewer)
		v, err := viewer.View(p.Context(), device.ViewOptions{})
		if err != nil {
			t.Fatal(err)
		}
		remove := block("contentDescriptionRegex", "Delete")
		remove["childOf"] = inside(block("resourceIdRegex", "a:id/row"))
		for i, tt := range []struct {
			node *screen.Node
			want args
		}{{rows[1], inside(block("resourceIdRegex", "a:id/row"))}, {rows[1].Children[2], remove}} {
			r := p.call("tap", args{"ref": v.Ref(tt.node)})
			if !r.OK || len(r.Located.Warnings) > 0 {
				t.Fatalf("%+v", r)
			}
			if diff := cmp.Diff(args{"nodeSelector": tt.want}, r.Located.Args); diff != "" {
				t.Error(diff)
			}
			if replay := p.call("tap", r.Located.Args); !replay.OK || replay.Text != "tapped "+tt.node.String() {
				t.Error(replay.Text)
			}
			if p.fake.log[2*i] != p.fake.log[2*i+1] {
				t.Error(p.fake.log)
			}
		}
	})
}

func TestReferencesBelongToElements(t *testing.T) {
	t.Parallel()
	save, load := node("Button", "Save", rect(0, 0, 100, 100)), node("Button", "Load", rect(0, 200, 100, 300))
	nodes := []*screen.Node{save, load}
	f := &fake{nodes: func(*fake, time.Duration) []*screen.Node { return nodes }}
	onPhone(t, f, device.Session{Live: true}, func(p *phoneTest) {
		viewer, _ := p.device.(device.Viewer)
		v, err := viewer.View(p.Context(), device.ViewOptions{Screenshot: true})
		if err != nil || len(v.Screenshot) == 0 || v.Title != "com.example.orders" {
			t.Fatal(err, v.Title)
		}
		numbers := refs(t, v)
		moved := node("Button", "Save", rect(500, 500, 600, 600))
		nodes = []*screen.Node{load, moved}
		p.does("tap", map[string]any{"ref": numbers[`button "Save"`]}, `tapped button "Save"`, "touch 550,550 for 100ms")
		again := node("Button", "Load", rect(0, 800, 100, 900))
		again.Key = "Button/another"
		nodes = []*screen.Node{again}
		r := p.call("tap", map[string]any{"ref": numbers[`button "Load"`]})
		if !r.OK || r.Located.Again != numbers[`button "Load"`]+" is now e3, which was rendered in its place" {
			t.Errorf("%+v", r)
		}
		r = p.fails("tap", map[string]any{"ref": numbers[`button "Save"`]}, `e1 was button "Save", which is no longer on the screen`)
		if r.Kind != screen.StaleRef {
			t.Error(r.Kind)
		}
		positions, err := p.device.Call(p.Context(), tool.Call{Tool: "tap", Args: map[string]any{"ref": "e1"}, FromTrail: true})
		if err != nil || positions.Text != `tapped button "Load"` || positions.Located != nil {
			t.Error(positions.Text, err)
		}
		p.fails("tap", map[string]any{"text": "Loat", "timeoutMs": 0},
			`text "Loat" was not found; the screen has button "Load" [ref=e3] (app com.example.orders)`)
		v, err = viewer.View(p.Context(), device.ViewOptions{Within: "e3"})
		if err != nil || v.Part.Root().Name() != "Load" {
			t.Error(err)
		}
		if _, err = viewer.View(p.Context(), device.ViewOptions{Within: "nothing"}); fault.KindOf(err) != fault.ToolFailed {
			t.Error(err)
		}
	})
}

func TestSnapshotEvidenceAndMoments(t *testing.T) {
	t.Parallel()
	f := &fake{nodes: always(node("Button", "Save hunter2", rect(0, 0, 100, 100))), front: "com.bank"}
	redact := func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	var logged string
	log := func(_, message, _ string) { logged = message }
	onPhone(t, f, device.Session{Redact: redact, Log: log}, func(p *phoneTest) {
		if got := p.device.Evidence(p.Context()); got != nil {
			t.Error("evidence of a device that was not used", got)
		}
		tracer, _ := p.device.(device.Tracer)
		if m := tracer.Moment(p.Context(), true); m.Picture != nil || m.NoPicture == "" {
			t.Error(m)
		}
		shot, _ := p.device.(device.Snapshotter)
		s, err := shot.Snapshot(p.Context(), "orders://1", device.SnapshotOptions{})
		if err != nil || s.Text != `- button "Save hunter2" [ref=e1]` || s.Title != "com.bank" || f.log[0] != "open orders://1" {
			t.Errorf("%+v %v %v", s, err, f.log)
		}
		if s, err = shot.Snapshot(p.Context(), "", device.SnapshotOptions{Within: "Save hunter2"}); err != nil || s.URL != "" {
			t.Error(s, err)
		}
		p.does("captureScreen", nil, "screens/screenshot.png")
		if !strings.Contains(logged, "the screenshot is black") {
			t.Errorf("logged %q", logged)
		}
		p.does("takeSnapshot", map[string]any{"screenName": "orders"}, "kept the screen as orders")
		var names []string
		for _, a := range p.kept {
			names = append(names, a.Name)
		}
		if diff := cmp.Diff([]string{"screenshot.png", "orders.png", "orders.txt"}, names); diff != "" {
			t.Error(diff)
		}
		evidence := p.device.Evidence(p.Context())
		const about = "Device: Pixel 7, Android 14\nApp in front: com.bank\n" +
			"The screenshot is black: the screen is off, or the app forbids screenshots of it.\n"
		if len(evidence) != 3 || string(evidence[0].Data) != about || string(evidence[2].Data) != "- button \"Save hunter2\" [ref=e1]\n" {
			t.Errorf("%v", evidence)
		}
		f.picture.Y = 255
		if strings.Contains(string(p.device.Evidence(p.Context())[0].Data), "black") {
			t.Error("a white picture counts as black")
		}
		tracer.StartTrace(device.TraceOptions{Secrets: true})
		if m := tracer.Moment(p.Context(), true); m.Picture != nil || m.NoPicture != "the screen shows a secret" || m.Tree == "" {
			t.Errorf("%+v", m)
		}
		f.nodes = always(node("Button", "Save", rect(0, 0, 100, 100)))
		if m := tracer.Moment(p.Context(), true); m.Picture == nil || m.Tree != `- button "Save" [ref=e1]` {
			t.Errorf("%+v", m)
		}
		p.call("tap", map[string]any{"text": "Save"})
		if m := tracer.Moment(p.Context(), false); m.Touched == nil || *m.Touched != (screen.Point{X: 50, Y: 50}) || m.Width != 1080 {
			t.Errorf("%+v", m)
		}
		if m := tracer.Moment(p.Context(), false); m.Picture != nil || m.NoPicture == "" || m.Touched != nil {
			t.Errorf("%+v", m)
		}
		if width, _ := p.device.Size(); width != 1080 || p.device.(device.ProductReporter).Product() != "Pixel 7, Android 14" {
			t.Error("size or product")
		}
	})
}

// TestCheckByReferenceRecordsTheText replays the check of a text, which has an id, with another text.
func TestCheckByReferenceRecordsTheText(t *testing.T) {
	t.Parallel()
	result := node("TextView", "Paid", rect(0, 0, 100, 100))
	result.ID = new("a:id/result")
	f := &fake{nodes: func(*fake, time.Duration) []*screen.Node { return []*screen.Node{result} }}
	onPhone(t, f, device.Session{Live: true}, func(p *phoneTest) {
		v, err := p.device.(device.Viewer).View(p.Context(), device.ViewOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := p.call("assertVisible", map[string]any{"ref": v.Ref(result)})
		if !r.OK || r.Located == nil {
			t.Fatalf("%+v", r)
		}
		if replay := p.call("assertVisible", r.Located.Args); !replay.OK {
			t.Error(replay.Text)
		}
		other := *result
		other.Text = new("Refused")
		result = &other
		args := maps.Clone(r.Located.Args)
		args["timeoutMs"] = 0
		if replay := p.call("assertVisible", args); replay.OK {
			t.Errorf("another text passed with %v", args)
		}
	})
}
