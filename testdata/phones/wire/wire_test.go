package wire_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/wire"
)

func node(class, text string, bounds screen.Rect, children ...*screen.Node) *screen.Node {
	n := &screen.Node{Class: &class, Bounds: &bounds, Children: children}
	if text != "" {
		n.Text = &text
	}
	return n
}

// android is a screen with a menu above an app, a keyboard and a status bar.
func android() wire.Screen {
	full := screen.Rect{Right: 1080, Bottom: 2280}
	button := node("android.widget.Button", "Pay <\"now\"> & 'here'\n😀\x01", screen.Rect{Top: 2200, Right: 1080, Bottom: 2400})
	button.Clickable, button.ID, button.Label = true, new("com.example:id/pay"), new("")
	field := node("android.widget.EditText", "", screen.Rect{Top: 2300, Right: 1080, Bottom: 2400})
	field.Editable, field.Hint, field.InputType, field.TestID = true, new("Email"), 33, new("mail")
	hidden := node("a.B$C", "hidden", screen.Rect{})
	hidden.Hidden = true
	return wire.Screen{
		Width: 1080, Height: 2280, Toasts: []string{"Saved"},
		Windows: []wire.Window{
			{Package: "com.example.keys", Keyboard: true, Root: node("keys", "", full)},
			{Package: "com.example", Root: node("android.widget.FrameLayout", "", full, hidden, button, field)},
			{Package: "com.android.systemui", Background: true, Root: node("status", "12:00", screen.Rect{Right: 1080, Bottom: 80})},
		},
	}
}

func TestUIAutomator2(t *testing.T) {
	t.Parallel()
	got := string(wire.UIAutomator2(android(), wire.Settings{}))
	want := strings.Join([]string{
		`<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>`,
		`<hierarchy index="0" class="hierarchy" rotation="0" width="1080" height="2280">`,
		`  <android.widget.FrameLayout index="0" package="com.example" class="android.widget.FrameLayout" text="" checkable="false" checked="false" clickable="false" enabled="true" focusable="false" focused="false" long-clickable="false" password="false" scrollable="false" selected="false" bounds="[0,0][1080,2280]" displayed="true" a11y-important="true" screen-reader-focusable="false" drawing-order="0" showing-hint="false" text-entry-key="false" dismissable="false" a11y-focused="false" heading="false" live-region="0" context-clickable="false" content-invalid="false" window-id="100">`,
		`    <android.widget.Button index="1" package="com.example" class="android.widget.Button" text="Pay &lt;&quot;now&quot;&gt; &amp; 'here'&#10;&#128512;?" content-desc="" resource-id="com.example:id/pay" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" focused="false" long-clickable="false" password="false" scrollable="false" selected="false" bounds="[0,2200][1080,2280]" displayed="true" a11y-important="true" screen-reader-focusable="false" drawing-order="0" showing-hint="false" text-entry-key="false" dismissable="false" a11y-focused="false" heading="false" live-region="0" context-clickable="false" content-invalid="false" window-id="100" />`,
		`    <android.widget.EditText index="2" package="com.example" class="android.widget.EditText" text="Email" checkable="false" checked="false" clickable="false" enabled="true" focusable="true" focused="false" long-clickable="false" password="false" scrollable="false" selected="false" bounds="[0,2300][1080,2400]" displayed="true" hint="Email" a11y-important="true" screen-reader-focusable="false" input-type="33" drawing-order="0" showing-hint="true" text-entry-key="false" dismissable="false" a11y-focused="false" heading="false" live-region="0" context-clickable="false" content-invalid="false" window-id="100" />`,
		`  </android.widget.FrameLayout>`,
		`  <android.widget.Toast index="1" package="com.android.settings" class="android.widget.Toast" text="Saved" displayed="true" />`,
		`</hierarchy>`,
	}, "\r\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
}

func TestSettingsOfUIAutomator2(t *testing.T) {
	t.Parallel()
	for text, settings := range map[string]wire.Settings{
		`package="com.android.systemui"`:                                     {EnableMultiWindows: true},
		`package="com.example.keys"`:                                         {EnableMultiWindows: true},
		`<a.B_C index="0" package="com.example" class="a.B$C" text="hidden"`: {AllowInvisibleElements: true},
		` actions="ACTION_SELECT,ACTION_CLEAR_SELECTION,ACTION_ACCESSIBILITY_FOCUS,ACTION_SHOW_ON_SCREEN,ACTION_FOCUS,ACTION_SET_TEXT"`: {IncludeA11yActionsInPageSource: true},
		` extras="androidx.compose.ui.semantics.testTag=mail"`:                                                                          {IncludeExtrasInPageSource: true},
		`window-id="100" />`: {SnapshotMaxDepth: 1},
	} {
		if !strings.Contains(string(wire.UIAutomator2(android(), settings)), text) {
			t.Errorf("%+v: %s is missing", settings, text)
		}
		settings = wire.Settings{SnapshotMaxDepth: 2}
		if text != `window-id="100" />` && strings.Contains(string(wire.UIAutomator2(android(), settings)), text) {
			t.Errorf("%s is written without its setting", text)
		}
	}
}

func TestDump(t *testing.T) {
	t.Parallel()
	want := `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">` +
		`<node index="0" text="" resource-id="" class="android.widget.FrameLayout" package="com.example" content-desc="" checkable="false" checked="false" clickable="false" enabled="true" focusable="false" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[0,0][1080,2280]">` +
		`<node index="1" text="Pay &lt;&quot;now&quot;&gt; &amp; 'here'&#10;&#128512;." resource-id="com.example:id/pay" class="android.widget.Button" package="com.example" content-desc="" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[0,2200][1080,2280]" />` +
		`<node index="2" text="Email" resource-id="" class="android.widget.EditText" package="com.example" content-desc="" checkable="false" checked="false" clickable="false" enabled="true" focusable="true" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[0,2300][1080,2400]" />` +
		`</node></hierarchy>`
	if diff := cmp.Diff(want, string(wire.Dump(android()))); diff != "" {
		t.Errorf("dump (-want +got):\n%s", diff)
	}
}

func TestWebDriverAgent(t *testing.T) {
	t.Parallel()
	label := func(n *screen.Node, label string) *screen.Node {
		n.Label = &label
		return n
	}
	field := node("TextField", "", screen.Rect{Left: 16, Top: -20, Right: 374, Bottom: 24})
	field.Hint, field.ID, field.Focused = new("Email <x>"), new("mail"), true
	button := label(node("Button", "", screen.Rect{Right: 1, Bottom: 1}), "On\x01 😀")
	button.Selected, button.Disabled, button.Hidden, button.CustomActions = true, true, true, []string{"Delete", "Archive"}
	full := screen.Rect{Right: 390, Bottom: 844}
	s := wire.Screen{Width: 390, Height: 844, Windows: []wire.Window{{
		Package: "com.example.orders", Root: node("Window", "", full, field, button, label(node("StaticText", "", full), "Kate")),
	}}}
	wantXML := `<?xml version="1.0" encoding="UTF-8"?>
<AppiumAUT>
  <XCUIElementTypeApplication type="XCUIElementTypeApplication" enabled="true" visible="true" accessible="false" x="0" y="0" width="390" height="844" index="0" traits="" processId="4711" bundleId="com.example.orders">
    <XCUIElementTypeWindow type="XCUIElementTypeWindow" enabled="true" visible="true" accessible="false" x="0" y="0" width="390" height="844" index="0" traits="">
      <XCUIElementTypeTextField type="XCUIElementTypeTextField" value="Email &lt;x&gt;" name="mail" enabled="true" visible="true" accessible="false" x="16" y="-20" width="358" height="44" index="0" placeholderValue="Email &lt;x&gt;" traits=""/>
      <XCUIElementTypeButton type="XCUIElementTypeButton" value="1" name="On 😀" label="On 😀" enabled="false" visible="false" accessible="true" x="0" y="0" width="1" height="1" index="1" traits="Button, Selected, NotEnabled"/>
      <XCUIElementTypeStaticText type="XCUIElementTypeStaticText" value="Kate" name="Kate" label="Kate" enabled="true" visible="true" accessible="true" x="0" y="0" width="390" height="844" index="2" traits="StaticText"/>
    </XCUIElementTypeWindow>
  </XCUIElementTypeApplication>
</AppiumAUT>
`
	if diff := cmp.Diff(wantXML, string(wire.WDAXML(s, "AppiumAUT"))); diff != "" {
		t.Errorf("XML (-want +got):\n%s", diff)
	}
	var root map[string]any
	if err := json.Unmarshal(wire.WDAJSON(s), &root); err != nil {
		t.Fatal(err)
	}
	window := root["children"].([]any)[0].(map[string]any)
	got := window["children"].([]any)[1]
	want := map[string]any{
		"type": "Button", "rawIdentifier": nil, "name": "On\x01 😀", "value": "1", "label": "On\x01 😀",
		"rect":          map[string]any{"x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0},
		"customActions": "Delete,Archive", "frame": "{{0, 0}, {1, 1}}", "nativeFrame": "{{0, 0}, {1, 1}}", "isEnabled": "0", "isVisible": "0",
		"isAccessible": "1", "isNativeAccessibilityElement": "1", "isFocused": "0", "traits": "Button, Selected, NotEnabled",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

// TestXMLIsWellFormed lets the parser of the standard library read what is written.
func TestXMLIsWellFormed(t *testing.T) {
	t.Parallel()
	s := android()
	for name, data := range map[string][]byte{
		"UiAutomator2": wire.UIAutomator2(s, wire.Settings{EnableMultiWindows: true, AllowInvisibleElements: true}),
		"dump":         wire.Dump(s),
		"XML": wire.WDAXML(wire.Screen{Windows: []wire.Window{
			{Root: node("Button", "<\"\x00&'\n😀\ufffe>", screen.Rect{})},
		}}, ""),
	} {
		decoder := xml.NewDecoder(bytes.NewReader(data))
		for {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
	}
}
