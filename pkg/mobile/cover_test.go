package mobile

import (
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// TestCoveredElements taps an element that something is above, on both platforms.
func TestCoveredElements(t *testing.T) {
	t.Parallel()
	const refused = `text "Save" is not ready to be tapped: `
	area := rect(100, 400, 300, 600)
	save := func(bounds *screen.Rect) *screen.Node { return node("Button", "Save", bounds) }
	of := func(class, text string, bounds *screen.Rect, children ...*screen.Node) *screen.Node {
		n := node(class, text, bounds, children...)
		n.Class, n.Text, n.Label = &class, nil, &text
		return n
	}
	notice := node("FrameLayout", "", rect(0, 300, width, 700), node("TextView", "Saved", rect(0, 300, width, 700)))
	notice.Dismissable = true
	hidden := save(area)
	hidden.Hidden = true
	hiddenDialog := of("Alert", "Delete?", rect(0, 800, width, 1200))
	hiddenDialog.Hidden = true
	keys := keyboardArea()
	key, hiddenKey := save(rect(100, 1800, 300, 1900)), save(rect(100, 1800, 300, 1900))
	hiddenKey.Hidden = true
	for name, tt := range map[string]struct {
		platform Platform
		nodes    []*screen.Node
		touch    string // where; empty when it is refused
		why      string
	}{
		"Android: nothing":          {Android, []*screen.Node{save(area)}, "200,500", ""},
		"iOS: nothing":              {IOS, []*screen.Node{save(area)}, "200,500", ""},
		"Android: a later element":  {Android, []*screen.Node{save(area), node("Button", "Ad", area)}, "", `button "Ad" covers it`},
		"Android: an earlier one":   {Android, []*screen.Node{node("Button", "Ad", area), save(area)}, "200,500", ""},
		"Android: its label":        {Android, []*screen.Node{save(area), node("TextView", "Now", rect(150, 450, 250, 550))}, "200,500", ""},
		"Android: a notice":         {Android, []*screen.Node{save(area), notice}, "", `text "Saved" covers it`},
		"iOS: reported as covered":  {IOS, []*screen.Node{hidden, of("Button", "Ad", area)}, "", "it is there, but the device reports that it is not visible"},
		"iOS: listed before others": {IOS, []*screen.Node{save(area), of("StaticText", "Ad", area)}, "200,500", ""},
		"iOS: a dialog":             {IOS, []*screen.Node{of("Alert", "Delete?", rect(0, 800, width, 1200)), save(area)}, "", `alertdialog "Delete?" covers it`},
		"iOS: a sheet":              {IOS, []*screen.Node{save(area), of("Sheet", "Share", rect(0, 800, width, 1200))}, "", `dialog "Share" covers it`},
		"iOS: in a dialog":          {IOS, []*screen.Node{of("TabBar", "", area), of("Alert", "Delete?", area, save(area)), of("Alert", "Sure?", area)}, "200,500", ""},
		"iOS: a hidden dialog":      {IOS, []*screen.Node{hiddenDialog, save(area)}, "200,500", ""},
		"iOS: a bar at its end":     {IOS, []*screen.Node{of("TabBar", "", rect(0, 480, width, height)), save(area)}, "200,440", ""},
		"iOS: a bar at its start":   {IOS, []*screen.Node{save(area), of("NavigationBar", "", rect(0, 0, width, 500))}, "200,550", ""},
		"iOS: a bar over all of it": {IOS, []*screen.Node{of("Toolbar", "Tools", rect(0, 300, width, 700)), save(area)}, "", `toolbar "Tools" covers it`},
		"iOS: a bar beside it":      {IOS, []*screen.Node{of("TabBar", "", rect(0, 900, width, height)), save(area)}, "200,500", ""},
		"iOS: in a bar":             {IOS, []*screen.Node{of("TabBar", "", rect(0, 300, width, 700), save(area))}, "200,500", ""},
		"iOS: on the keyboard":      {IOS, []*screen.Node{of("TabBar", "", rect(0, 1800, width, height)), of("Keyboard", "", keys, key)}, "200,1850", ""},
		"iOS: on it, but hidden":    {IOS, []*screen.Node{of("Keyboard", "", keys, hiddenKey)}, "200,1850", ""},
		"iOS: on that of a dialog":  {IOS, []*screen.Node{of("Keyboard", "", keys, key), of("Alert", "Name?", area)}, "200,1850", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{platform: tt.platform}
			f.nodes = func(*fake, time.Duration) []*screen.Node { return tt.nodes }
			if strings.HasPrefix(name, "iOS: on ") {
				f.keyboard = keys
			}
			onPhone(t, f, device.Session{}, func(p *phoneTest) {
				args := map[string]any{"text": "Save", "timeoutMs": 0}
				if tt.touch != "" {
					p.does("tap", args, `tapped button "Save"`, "touch "+tt.touch+" for 100ms")
					return
				}
				if r := p.call("tap", args); r.OK || !strings.HasPrefix(r.Text, refused+tt.why+" (") || len(f.touched) > 0 {
					t.Errorf("got %v %q, touched %v\nwant %s", r.OK, r.Text, f.touched, tt.why)
				}
			})
		})
	}
}

// A tap notes what lies above its element and may have received it.
func TestTouchBelowLargerText(t *testing.T) {
	t.Parallel()
	sign := node("TextView", "Everything must go", rect(0, 300, width, 700))
	onPhone(t, &fake{nodes: always(node("Button", "Save", rect(100, 400, 300, 600)), sign)}, device.Session{}, func(p *phoneTest) {
		const note = `text "Everything must go" lies above it, and may have received the touch`
		if r := p.call("tap", map[string]any{"text": "Save"}); !r.OK || len(r.Notes) != 1 || r.Notes[0] != note {
			t.Errorf("%v %q, notes %q", r.OK, r.Text, r.Notes)
		}
	})
}

// TestWindowsInFront taps an element below or beside windows of other apps, the topmost first.
func TestWindowsInFront(t *testing.T) {
	t.Parallel()
	const (
		orders, prompt, head, maps = "com.example.orders", "com.android.permissioncontroller", "com.example.chat", "com.example.maps"
		all, upper, lower, edge    = "[0,0][1080,2400]", "[0,0][1080,1190]", "[0,1210][1080,2400]", "[1000,800][1080,1000]"
	)
	save := button("Save", "[100,1400][300,1600]")
	app := window(orders, all, save)
	allow := window(prompt, "[100,1700][980,2000]", button("Allow", "[100,1700][980,2000]"))
	for name, tt := range map[string]struct {
		front   string
		windows []string
		why     string // it is not touched; empty when it is
	}{
		"a permission":                       {prompt, []string{allow, app}, prompt + " is in front of its app"},
		"a dialog of the system":             {orders, []string{window("com.android.systemui", all, button("Cancel", "[0,1300][1080,2400]")), app}, `button "Cancel" covers it`},
		"a floating window":                  {orders, []string{window(head, edge), app}, ""},
		"a floating window over permissions": {prompt, []string{window(head, edge), allow, app}, prompt + " is in front of its app"},
		"in a floating window":               {prompt, []string{window(head, lower, save), allow, window(orders, all)}, ""},
		"the other half of a split screen":   {maps, []string{window(maps, upper), window(orders, lower, save)}, ""},
		"a permission of the other half":     {prompt, []string{window(prompt, "[100,300][980,800]"), window(maps, upper), window(orders, lower, save)}, ""},
		"a permission of its half":           {prompt, []string{allow, window(maps, upper), window(orders, lower, save)}, prompt + " is in front of its app"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := windowsOf(height, tt.windows...)
			if err != nil {
				t.Fatal(err)
			}
			onPhone(t, &fake{front: tt.front, screen: &Screen{Tree: result.Tree}}, device.Session{}, func(p *phoneTest) {
				args := map[string]any{"text": "Save", "timeoutMs": 0}
				if tt.why == "" {
					p.does("tap", args, `tapped button "Save"`, "touch 200,1500 for 100ms")
					return
				}
				r := p.call("tap", args)
				if r.OK || !strings.HasPrefix(r.Text, `text "Save" is not ready to be tapped: `+tt.why) || len(p.fake.touched) > 0 {
					t.Errorf("got %v %q, touched %v\nwant %s", r.OK, r.Text, p.fake.touched, tt.why)
				}
			})
		})
	}
}
