package screen_test

import (
	"slices"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestRoles(t *testing.T) {
	t.Parallel()
	roles := screen.Roles()
	if len(roles) != 83 {
		t.Errorf("%d roles, want 83", len(roles))
	}
	for i, role := range roles {
		if !screen.IsRole(role) || slices.Contains(roles[:i], role) {
			t.Errorf("%s is not a role, or stands twice", role)
		}
		if got := screen.RoleOfBrowser(role); got != role {
			t.Errorf("%s of the browser: %q", role, got)
		}
	}
	for _, word := range []string{"", "text", "but", "button link", "utton", "tab menu", "Button"} {
		if screen.IsRole(word) || screen.IsControl(word) {
			t.Errorf("%q is a role", word)
		}
	}
	for role, want := range map[string]struct{ control, numbered, text bool }{
		"button": {true, true, false}, "tab": {true, true, false}, "spinbutton": {true, true, true}, "listbox": {true, false, false},
		"menuitemradio": {true, false, false}, "textbox": {true, true, true}, "heading": {}, "list": {}, "generic": {},
	} {
		if screen.IsControl(role) != want.control || screen.IsNumberedControl(role) != want.numbered || screen.IsTextInput(role) != want.text {
			t.Errorf("%s: control %v, numbered %v, takes text %v", role, screen.IsControl(role), screen.IsNumberedControl(role),
				screen.IsTextInput(role))
		}
	}
	for role, want := range map[string][]string{"img": {"image", "SvgRoot", "Canvas"}, "link": {"link"}} {
		if got := screen.BrowserRoles(role); !slices.Equal(got, want) {
			t.Errorf("%s in the browser: %v", role, got)
		}
	}
	for _, role := range []string{"img", "textbox"} {
		for _, name := range screen.BrowserRoles(role) {
			if got := screen.RoleOfBrowser(name); got != role {
				t.Errorf("%s of the browser: %q, want %s", name, got, role)
			}
		}
	}
	if screen.RoleOfBrowser("StaticText") != "" || !screen.IsBrowserControl("DisclosureTriangle") || screen.IsBrowserControl("StaticText") ||
		!screen.IsBrowserControl("treeitem") || !screen.IsStructural("none") || screen.IsStructural("main") {
		t.Error("names of the browser are told apart wrongly")
	}
}

func TestRolesOfClasses(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]string{
		"android.widget.Button": "button", "android.widget.ImageButton": "button", "android.widget.EditText": "textbox",
		"androidx.appcompat.widget.AppCompatEditText": "textbox", "android.widget.TextView": "text", "android.widget.Switch": "switch",
		"com.google.android.material.button.MaterialButton": "button", "android.widget.CheckBox": "checkbox",
		"androidx.recyclerview.widget.RecyclerView": "list", "android.widget.ImageView": "img", "android.widget.FrameLayout": "generic",
		"android.webkit.WebView": "document", "android.widget.SeekBar": "slider", "com.example.Outer$TextView": "text",
		"XCUIElementTypeButton": "button", "XCUIElementTypeTextView": "textbox", "XCUIElementTypeStaticText": "text",
		"XCUIElementTypeSecureTextField": "textbox", "XCUIElementTypeSwitch": "switch", "XCUIElementTypeOther": "generic",
		"XCUIElementTypeCell": "listitem", "AXButton": "button", "AXStaticText": "text", "AXTextField": "textbox",
		"Checkbox": "checkbox", "DropdownList": "combobox", "": "generic", "Button.Of.Nobody": "generic",
	} {
		if got := screen.RoleOfClass(class); got != want {
			t.Errorf("%s: %s, want %s", class, got, want)
		}
		if want != "text" && !screen.IsRole(want) {
			t.Errorf("%s is not a role", want)
		}
	}
	for want, n := range map[string]screen.Node{
		"link":    {Role: "link", Class: new("android.widget.Button")},
		"button":  {Class: new("android.widget.Button"), States: screen.States{Editable: true}},
		"textbox": {Class: new("com.example.Field"), States: screen.States{Editable: true}},
		"heading": {Class: new("android.widget.TextView"), States: screen.States{Heading: true}},
		"switch":  {Details: screen.Details{NativeRole: new("Switch")}},
		"generic": {},
	} {
		if got := n.RoleName(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
