package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// hierarchy returns what the UiAutomator2 server sends for some windows.
func hierarchy(windows ...string) []byte {
	return fmt.Appendf(nil, "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n"+
		`<hierarchy index="0" class="hierarchy" rotation="0" width="1080" height="2200">%s</hierarchy>`, strings.Join(windows, "\r\n"))
}

func uiAutomator2(t *testing.T, windows ...string) source.Result {
	t.Helper()
	got, err := source.UIAutomator2(hierarchy(windows...), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// plain are the attributes that the server writes for every element, without those of the case.
const plain = ` index="0" package="com.example.orders" class="android.view.View" text="" checkable="false" checked="false"` +
	` clickable="false" enabled="true" focusable="false" focused="false" long-clickable="false" password="false"` +
	` scrollable="false" selected="false" bounds="[0,0][0,0]" displayed="true" a11y-important="true"` +
	` screen-reader-focusable="false" drawing-order="0" showing-hint="false" text-entry-key="false" dismissable="false"` +
	` a11y-focused="false" heading="false" live-region="0" context-clickable="false" content-invalid="false"` +
	` actions="ACTION_SELECT" window-id="7"`

// with returns an element with the attributes of plain, some of them replaced or added.
func with(attributes ...string) string {
	all := plain
	for _, a := range attributes {
		name, _, _ := strings.Cut(a, "=")
		if at := strings.Index(all, " "+name+`="`); at >= 0 {
			end := at + len(name) + 3 + strings.IndexByte(all[at+len(name)+3:], '"') + 1
			all = all[:at] + all[end:]
		}
		all += " " + a
	}
	return "<android.view.View" + all + " />"
}

func TestEveryAttributeOfUIAutomator2(t *testing.T) {
	t.Parallel()
	view := func(change func(*screen.Node)) *screen.Node {
		n := &screen.Node{Class: new("android.view.View"), Bounds: &screen.Rect{}}
		change(n)
		return n
	}
	for _, c := range []struct {
		attributes []string
		want       func(*screen.Node)
	}{
		{nil, func(*screen.Node) {}},
		{[]string{`class="a.b.C$D"`}, func(n *screen.Node) { n.Class = new("a.b.C$D") }},
		{[]string{`resource-id="x:id/y"`}, func(n *screen.Node) { n.ID = new("x:id/y") }},
		{[]string{`text="Pay &amp; &lt;go&gt;&#10;now"`}, func(n *screen.Node) { n.Text = new("Pay & <go>\nnow") }},
		{[]string{`content-desc="Save"`}, func(n *screen.Node) { n.Label = new("Save") }},
		{[]string{`content-desc=""`}, func(n *screen.Node) { n.Label = new("") }},
		{[]string{`hint="Email"`}, func(n *screen.Node) { n.Hint = new("Email") }},
		{[]string{`hint="Email"`, `text="Email"`}, func(n *screen.Node) { n.Hint, n.Text = new("Email"), new("Email") }},
		{[]string{`hint="Email"`, `text="Email"`, `showing-hint="true"`}, func(n *screen.Node) { n.Hint = new("Email") }},
		{[]string{`enabled="false"`}, func(n *screen.Node) { n.Disabled = true }},
		{[]string{`clickable="true"`}, func(n *screen.Node) { n.Clickable = true }},
		{[]string{`long-clickable="true"`}, func(n *screen.Node) { n.LongClickable = true }},
		{[]string{`checkable="true"`}, func(n *screen.Node) { n.Checkable = true }},
		{[]string{`checked="true"`}, func(n *screen.Node) { n.Checked = screen.ToggleOn }},
		{[]string{`selected="true"`}, func(n *screen.Node) { n.Selected = true }},
		{[]string{`focused="true"`}, func(n *screen.Node) { n.Focused = true }},
		{[]string{`scrollable="true"`}, func(n *screen.Node) { n.Scrollable = true }},
		{[]string{`password="true"`}, func(n *screen.Node) { n.Password = true }},
		{[]string{`displayed="false"`}, func(n *screen.Node) { n.Hidden = true }},
		{[]string{`a11y-important="false"`}, func(n *screen.Node) { n.Unimportant = true }},
		{[]string{`heading="true"`}, func(n *screen.Node) { n.Heading = true }},
		{[]string{`multiline="true"`}, func(n *screen.Node) { n.MultiLine = true }},
		{[]string{`input-type="129"`}, func(n *screen.Node) { n.InputType = 129 }},
		{[]string{`pane-title="Settings"`}, func(n *screen.Node) { n.PaneTitle = new("Settings") }},
		{[]string{`drawing-order="3"`}, func(n *screen.Node) { n.DrawingOrder = 3 }},
		{[]string{`content-invalid="true"`}, func(n *screen.Node) { n.Invalid = "true" }},
		{[]string{`actions="ACTION_FOCUS,ACTION_SET_TEXT"`}, func(n *screen.Node) { n.Editable = true }},
		{[]string{`dismissable="true"`, `actions="ACTION_CLICK,ACTION_DISMISS"`}, func(n *screen.Node) { n.Dismissable = true }},
		{[]string{`actions="ACTION_COLLAPSE"`}, func(n *screen.Node) { n.Expanded = true }},
		{[]string{`actions="ACTION_SET_TEXT_X"`}, func(*screen.Node) {}},
		{[]string{`bounds="[-3,10][1080,2300]"`}, func(n *screen.Node) {
			n.Bounds = &screen.Rect{Left: -3, Top: 10, Right: 1080, Bottom: 2300}
		}},
		{[]string{`bounds="[1,2][99999999999,4]"`}, func(n *screen.Node) { n.Bounds = nil }},
		{[]string{`extras="a=1;androidx.compose.ui.semantics.testTag=pay;now;b=2"`}, func(n *screen.Node) { n.TestID = new("pay;now") }},
		{[]string{`extras="AccessibilityNodeInfo.roleDescription=Tab"`}, func(n *screen.Node) {
			n.RoleDescription, n.Role = new("Tab"), "tab"
		}},
		{[]string{`extras="AccessibilityNodeInfo.roleDescription=Chart"`}, func(n *screen.Node) { n.RoleDescription = new("Chart") }},
	} {
		// The case is below a parent, whose drawing order is that of its window.
		parent := uiAutomator2(t, strings.Replace(with(), " />", ">"+with(c.attributes...)+"</android.view.View>", 1)).Tree.Root()
		if diff := cmp.Diff(view(c.want), parent.Children[0], cmpopts.IgnoreFields(screen.Node{}, "Key")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.attributes, diff)
		}
	}
}

func TestItemsOfListsHaveRowsAndColumnsOnRequest(t *testing.T) {
	t.Parallel()
	const item = `is-collection-item="true"`
	keyboard := strings.Replace(with(`resource-id="android:id/inputArea"`, `bounds="[0,1500][1080,2200]"`), " />",
		">"+with(item)+"</android.view.View>", 1)
	list := strings.Replace(with(), " />", ">"+with(item, `text="first"`)+with(`text="between"`)+with(item, `text="second"`)+
		"</android.view.View>", 1)
	data := hierarchy(keyboard, list)
	plain, err := source.UIAutomator2(data, source.Options{})
	if err != nil || plain.Items != nil {
		t.Errorf("items without a request: %v, %v", plain.Items, err)
	}
	got, err := source.UIAutomator2(data, source.Options{Items: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Items) != 3 || got.Items[0] != nil {
		t.Fatalf("items: %v; the first one is in a window that is not in the tree", got.Items)
	}
	selector, err := screen.ParseSelector(map[string]any{"androidAccessibility": map[string]any{
		"collectionItemRowIndex": 4, "collectionItemColumnIndex": 1,
	}}, screen.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Tree.Check(selector) == nil {
		t.Error("the selector was accepted before the rows and columns were set")
	}
	got.SetCells([]*source.Cell{{Row: 4, Column: 1}, nil, {Row: 4, Column: 1}})
	if err := got.Tree.Check(selector); err != nil {
		t.Error(err)
	}
	if found := got.Tree.Resolve(selector).Nodes; len(found) != 1 || *found[0].Text != "second" {
		t.Errorf("found %v", found)
	}
	old, err := source.UIAutomator2(hierarchy(`<android.view.View text="" />`), source.Options{Items: true})
	if err != nil {
		t.Fatal(err)
	}
	if old.SetCells(nil); old.Tree.Check(selector) == nil {
		t.Error("the selector was accepted on a server that does not write which elements are in lists")
	}
}

func TestWhatASourceDoesNotReportIsRefused(t *testing.T) {
	t.Parallel()
	never := []string{"collectionItemColumnIndex", "collectionItemRowIndex", "isMultiLine", "labeledByTextRegex", "stateDescriptionRegex", "uniqueId"}
	extras := []string{"composeTestTagRegex", "roleDescriptionRegex"}
	others := []string{"hintTextRegex", "inputType", "isEditable", "isHeading", "paneTitleRegex"}
	for name, c := range map[string]struct {
		window string
		want   [][]string
	}{
		"all":            {with(`extras=""`), [][]string{never}},
		"without extras": {with(), [][]string{never, extras}},
		"an old server":  {`<android.view.View text="" />`, [][]string{never, extras, others}},
	} {
		assertUnavailable(t, name, uiAutomator2(t, c.window), screen.AndroidAccessibility, c.want...)
	}
	got, err := source.Dump(hierarchy(`<node index="0" text="" class="a" hint="" />`), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	assertUnavailable(t, "dump", got, screen.AndroidAccessibility, never, extras, others[1:])
}

// A source without actions and dismissable does not say what takes touches without being clickable.
func TestWhetherWhatTakesTouchesIsKnown(t *testing.T) {
	t.Parallel()
	for window, opaque := range map[string]bool{
		`<android.view.View text="" />`:                        true,
		`<android.view.View text="" dismissable="false" />`:    false,
		`<android.view.View text="" actions="ACTION_CLICK" />`: false,
	} {
		if got := uiAutomator2(t, window).Tree.Opaque; got != opaque {
			t.Errorf("%s: %t", window, got)
		}
	}
}

func assertUnavailable(t *testing.T, name string, got source.Result, d screen.Dialect, want ...[]string) {
	t.Helper()
	wanted, found := map[string]bool{}, map[string]bool{}
	for _, keys := range want {
		for _, key := range keys {
			wanted[string(d)+"."+key] = true
		}
	}
	for key, reason := range got.Tree.Unavailable {
		if strings.HasPrefix(key, string(d)) {
			found[key] = true
		}
		if reason == "" {
			t.Errorf("%s: %s has no reason", name, key)
		}
	}
	if diff := cmp.Diff(wanted, found); diff != "" {
		t.Errorf("%s: refused keys (-want +got):\n%s", name, diff)
	}
}

func TestDump(t *testing.T) {
	t.Parallel()
	const dump = `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">` +
		`<node index="0" text="" resource-id="" class="android.widget.FrameLayout" package="com.example" content-desc="" checkable="false" checked="false" clickable="false" enabled="true" focusable="false" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[0,0][1080,2280]">` +
		`<node NAF="true" index="0" text="Email" resource-id="com.example:id/email" class="android.widget.EditText" package="com.example" content-desc="" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" focused="true" scrollable="false" long-clickable="true" password="false" selected="false" bounds="[40,300][1040,420]" />` +
		`<node index="1" text="Off" resource-id="" class="android.widget.Switch" package="com.example" content-desc="Wi-Fi" checkable="true" checked="true" clickable="true" enabled="false" focusable="true" focused="false" scrollable="true" long-clickable="false" password="true" selected="true" bounds="[40,500][1040,620]" />` +
		`</node></hierarchy>UI hierchary dumped to: /dev/tty` + "\n"
	got, err := source.Dump([]byte("WARNING: linker\n"+dump), source.Options{Width: 1080, Height: 2400})
	if err != nil {
		t.Fatal(err)
	}
	want := &screen.Node{
		Class: new("android.widget.FrameLayout"), Bounds: &screen.Rect{Right: 1080, Bottom: 2280},
		Details: screen.Details{DrawingOrder: 1},
		Children: []*screen.Node{
			{
				Class: new("android.widget.EditText"), Text: new("Email"), ID: new("com.example:id/email"),
				Bounds: &screen.Rect{Left: 40, Top: 300, Right: 1040, Bottom: 420},
				States: screen.States{Clickable: true, LongClickable: true, Focused: true, Editable: true},
			},
			{
				Class: new("android.widget.Switch"), Text: new("Off"), Label: new("Wi-Fi"),
				Bounds: &screen.Rect{Left: 40, Top: 500, Right: 1040, Bottom: 620},
				States: screen.States{
					Disabled: true, Clickable: true, Checkable: true, Checked: screen.ToggleOn, Scrollable: true,
					Password: true, Selected: true,
				},
			},
		},
	}
	if diff := cmp.Diff(want, got.Tree.Root(), cmpopts.IgnoreFields(screen.Node{}, "Key")); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if !got.Tree.Opaque {
		t.Error("what takes touches is known")
	}
	if got.Tree.Width != 1080 || got.Tree.Height != 2400 {
		t.Errorf("the screen is %dx%d, want 1080x2400", got.Tree.Width, got.Tree.Height)
	}
	if got.Keyboard != nil {
		t.Errorf("the keyboard is at %v, want none", got.Keyboard)
	}
}

const (
	app = `<android.widget.FrameLayout class="android.widget.FrameLayout" package="com.example.orders" bounds="[0,0][1080,2280]" drawing-order="0">` +
		`<android.widget.Button class="android.widget.Button" package="com.example.orders" text="Pay" bounds="[0,1400][1080,1600]" clickable="true" /></android.widget.FrameLayout>`
	permission = `<android.widget.FrameLayout class="android.widget.FrameLayout" package="com.google.android.permissioncontroller" bounds="[100,1300][980,1700]" drawing-order="0">` +
		`<android.widget.Button class="android.widget.Button" package="com.google.android.permissioncontroller" text="Allow" bounds="[100,1300][980,1700]" clickable="true" /></android.widget.FrameLayout>`
	statusBar = `<android.widget.FrameLayout class="android.widget.FrameLayout" package="com.android.systemui" text="12:00" bounds="[0,0][1080,80]" />`
	inputArea = `<android.widget.FrameLayout class="android.widget.FrameLayout" package="com.example.keys" bounds="[0,0][1080,2280]">` +
		`<android.widget.FrameLayout class="android.widget.FrameLayout" resource-id="android:id/candidatesArea" bounds="%s" />` +
		`<android.widget.FrameLayout class="android.widget.FrameLayout" resource-id="android:id/inputArea" bounds="%s" /></android.widget.FrameLayout>`
	// headed is a screen of HyperOS, whose header has the id of the keyboard's area.
	headed = `<android.widget.FrameLayout class="android.widget.FrameLayout" package="com.android.settings" bounds="[0,0][1080,2280]">` +
		`<android.view.ViewGroup class="android.view.ViewGroup" package="com.android.settings" resource-id="android:id/inputArea" bounds="[0,100][1080,250]" />` +
		`<android.widget.TextView class="android.widget.TextView" package="com.android.settings" text="Wi-Fi" bounds="[0,300][1080,400]" /></android.widget.FrameLayout>`
	notice = `<android.widget.Toast index="3" package="com.android.settings" class="android.widget.Toast" text="Saved" displayed="true" />`
)

func input(candidates, keys string) string { return fmt.Sprintf(inputArea, candidates, keys) }

func TestWindows(t *testing.T) {
	t.Parallel()
	shown := input("[0,0][0,0]", "[0,1500][1080,2280]")
	for name, c := range map[string]struct {
		windows  []string
		texts    string
		keyboard *screen.Rect
	}{
		"one": {[]string{app}, "Pay", nil},
		"a permission dialog stays": {
			[]string{permission, app, statusBar},
			"Allow Pay",
			nil,
		},
		"keyboard and status bar": {
			[]string{statusBar, shown, app}, "Pay", &screen.Rect{Top: 1500, Right: 1080, Bottom: 2280},
		},
		"candidates belong to the keyboard": {
			[]string{input("[0,1400][1080,1500]", "[0,1500][1080,2280]"), app},
			"Pay",
			&screen.Rect{Top: 1400, Right: 1080, Bottom: 2280},
		},
		"a keyboard without an area": {[]string{input("[0,0][0,0]", "[0,2280][1080,2280]"), app}, "Pay", nil},
		"open notifications":         {[]string{shade("[0,0][1080,2280]", "true"), app}, "Order shipped Pay", nil},
		"closed notifications, which Android 10 has in the status bar": {[]string{shade("[0,0][1080,80]", "true"), app}, "Pay", nil},
		"notifications that are not drawn":                             {[]string{shade("[0,0][1080,2280]", "false"), app}, "Pay", nil},
		"only the notifications":                                       {[]string{statusBar}, "12:00", nil},
		"a dialog of the system":                                       {[]string{ofSystem("Use PIN", "[0,0][1080,2280]", "true", "true"), app}, "Use PIN Pay", nil},
		"one that is not drawn":                                        {[]string{ofSystem("Use PIN", "[0,0][1080,2280]", "true", "false"), app}, "Pay", nil},
		"what the system shows with nothing to click":                  {[]string{ofSystem("12:00", "[0,0][1080,2280]", "false", "true"), app}, "Pay", nil},
		"the buttons of the system":                                    {[]string{ofSystem("Home", "[0,2100][1080,2280]", "true", "true"), app}, "Pay", nil},
		"the taskbar of a tablet":                                      {[]string{taskbar("[0,2100][1080,2280]", "end_nav_buttons"), app}, "Pay", nil},
		"one beside the app":                                           {[]string{taskbar("[960,0][1080,2280]", "taskbar_view"), app}, "Pay", nil},
		"a home screen with apps in a row":                             {[]string{taskbar("[0,0][1080,2280]", "taskbar_view"), app}, "Home Pay", nil},
		"a narrow window of an app":                                    {[]string{taskbar("[0,2100][1080,2280]", "buttons"), app}, "Home Pay", nil},
		"notifications and keyboard": {
			[]string{shown, statusBar}, "12:00", &screen.Rect{Top: 1500, Right: 1080, Bottom: 2280},
		},
		"an app with the id of the keyboard's area": {[]string{statusBar, headed}, "Wi-Fi", nil},
		"the same with a keyboard": {
			[]string{shown, headed}, "Wi-Fi", &screen.Rect{Top: 1500, Right: 1080, Bottom: 2280},
		},
		"a toast":           {[]string{app, notice}, "Pay Saved", nil},
		"a toast, no app":   {[]string{statusBar, notice}, "12:00 Saved", nil},
		"two windows of it": {[]string{app, app}, "Pay Pay", nil},
		"none":              {nil, "", nil},
	} {
		got := uiAutomator2(t, c.windows...)
		var texts []string
		for _, n := range got.Tree.Nodes() {
			if n.Text != nil {
				texts = append(texts, *n.Text)
			}
		}
		if strings.Join(texts, " ") != c.texts || !cmp.Equal(got.Keyboard, c.keyboard) {
			t.Errorf("%s: texts %q, keyboard %v; want %q, %v", name, texts, got.Keyboard, c.texts, c.keyboard)
		}
	}
}

// Where it is known which apps have a keyboard, only their windows are one.
func TestKeyboardsOfKnownApps(t *testing.T) {
	t.Parallel()
	shown := input("[0,0][0,0]", "[0,1500][1080,2280]")
	for name, known := range map[string]bool{"com.example.keys": true, "com.other.keys": false} {
		got, err := source.UIAutomator2(hierarchy(shown, app), source.Options{InputMethods: []string{name}})
		if err != nil || (got.Keyboard != nil) != known || len(got.Tree.Windows) == 1 != known {
			t.Errorf("%s: keyboard %v, windows %v, %v", name, got.Keyboard, got.Tree.Windows, err)
		}
	}
}

// An empty field of Material shows its hint and a placeholder.
func TestFieldThatShowsMoreThanItsHint(t *testing.T) {
	t.Parallel()
	n := uiAutomator2(t, with(`class="android.widget.EditText"`, `text="Email, name@example.com"`, `hint="Email"`, `showing-hint="true"`)).Tree.Root()
	if !n.ShowingHint || n.Name() != "Email" || n.Content() != "" {
		t.Errorf("%v: name %q, content %q", n.ShowingHint, n.Name(), n.Content())
	}
	recorded := map[string]any{"textRegex": "Email, name@example.com", "hintTextRegex": "Email"}
	selector, err := screen.ParseSelector(map[string]any{"androidAccessibility": recorded}, screen.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if tree := screen.NewTree(n, 1080, 2280, screen.AndroidAccessibility); len(tree.Resolve(selector).Nodes) != 1 {
		t.Errorf("%s is not found", selector)
	}
}

func TestTouchesReachTheTopmostWindow(t *testing.T) {
	t.Parallel()
	tree := uiAutomator2(t, permission, app, statusBar).Tree
	if hit := tree.At(screen.Point{X: 500, Y: 1500}); hit == nil || *hit.Text != "Allow" {
		t.Errorf("a touch above both windows reaches %v, want Allow", hit)
	}
	if hit := tree.At(screen.Point{X: 50, Y: 1500}); hit == nil || *hit.Text != "Pay" {
		t.Errorf("a touch beside the dialog reaches %v, want Pay", hit)
	}
}

func TestSizeOfTheScreen(t *testing.T) {
	t.Parallel()
	window := func(bounds string) string { return `<a class="a" bounds="` + bounds + `" />` }
	for name, c := range map[string]struct {
		attributes, bounds string
		options            source.Options
		width, height      int
	}{
		"of the server":                {`rotation="0" width="1080" height="2280"`, "[0,0][1080,2280]", source.Options{}, 1080, 2280},
		"without the navigation bar":   {`rotation="0" width="1080" height="2148"`, "[0,0][1080,2280]", source.Options{}, 1080, 2280},
		"a dialog":                     {`rotation="0" width="1080" height="2148"`, "[28,600][1052,900]", source.Options{Width: 1080, Height: 2280}, 1080, 2280},
		"turned":                       {`rotation="1" width="2148" height="1080"`, "[0,0][2148,1080]", source.Options{Width: 1080, Height: 2280}, 2280, 1080},
		"dump":                         {`rotation="0"`, "[0,0][1080,2280]", source.Options{}, 1080, 2280},
		"dump of a dialog":             {`rotation="0"`, "[28,600][1052,900]", source.Options{Width: 1080, Height: 2280}, 1080, 2280},
		"dump of a dialog, turned":     {`rotation="3"`, "[628,60][900,900]", source.Options{Width: 1080, Height: 2280}, 2280, 1080},
		"a tablet":                     {`rotation="0"`, "[28,60][900,900]", source.Options{Width: 2560, Height: 1600}, 2560, 1600},
		"a tablet that is turned":      {`rotation="1"`, "[28,60][900,900]", source.Options{Width: 2560, Height: 1600}, 1600, 2560},
		"the window is more than that": {`rotation="0"`, "[0,0][2280,1000]", source.Options{Width: 1080, Height: 2280}, 2280, 1080},
		"unknown":                      {``, "", source.Options{}, 0, 0},
	} {
		got, err := source.UIAutomator2([]byte("<hierarchy "+c.attributes+">"+window(c.bounds)+"</hierarchy>"), c.options)
		if err != nil {
			t.Fatal(err)
		}
		if got.Tree.Width != c.width || got.Tree.Height != c.height {
			t.Errorf("%s: %dx%d, want %dx%d", name, got.Tree.Width, got.Tree.Height, c.width, c.height)
		}
	}
}

// shade returns the window of the notifications with the ids of AOSP (SystemUI, status_bar_expanded.xml).
func shade(bounds, displayed string) string {
	return `<android.widget.FrameLayout class="android.widget.FrameLayout" package="com.android.systemui" bounds="` + bounds + `">` +
		`<android.view.ViewGroup class="android.view.ViewGroup" package="com.android.systemui" resource-id="com.android.systemui:id/notification_stack_scroller" ` +
		`displayed="` + displayed + `" bounds="` + bounds + `"><android.widget.TextView class="android.widget.TextView" package="com.android.systemui" ` +
		`text="Order shipped" displayed="` + displayed + `" bounds="[0,0][1080,80]"/></android.view.ViewGroup></android.widget.FrameLayout>`
}

// ofSystem returns a window of the system with an element.
func ofSystem(text, bounds, clickable, displayed string) string {
	return `<android.widget.FrameLayout class="android.widget.FrameLayout" package="com.android.systemui" bounds="` + bounds + `">` +
		`<android.widget.Button class="android.widget.Button" package="com.android.systemui" text="` + text + `" bounds="` + bounds + `" ` +
		`clickable="` + clickable + `" displayed="` + displayed + `" /></android.widget.FrameLayout>`
}

// taskbar returns a window of the launcher of a tablet, whose buttons are in an element with an id of AOSP.
func taskbar(bounds, id string) string {
	const launcher = "com.google.android.apps.nexuslauncher"
	return `<android.widget.FrameLayout class="android.widget.FrameLayout" package="` + launcher + `" bounds="` + bounds + `">` +
		`<android.widget.LinearLayout class="android.widget.LinearLayout" package="` + launcher + `" resource-id="` + launcher + `:id/` + id + `" bounds="` + bounds + `">` +
		`<android.widget.ImageView class="android.widget.ImageView" package="` + launcher + `" text="Home" bounds="` + bounds + `" clickable="true" />` +
		`</android.widget.LinearLayout></android.widget.FrameLayout>`
}
