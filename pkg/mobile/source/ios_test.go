package source_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// wdaJSON returns the screen of an app with one element.
func wdaJSON(t *testing.T, element string) source.Result {
	t.Helper()
	got, err := source.WDAJSON([]byte(`{"type":"Application","rawIdentifier":null,"name":"Orders","value":null,"label":"Orders",`+
		`"rect":{"x":0,"y":0,"width":390,"height":844},"customActions":null,"frame":"{{0, 0}, {390, 844}}","isEnabled":"1","isVisible":"1",`+
		`"isAccessible":"0","isFocused":"0","traits":"","children":[`+element+`]}`), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEveryPropertyOfWDAJSON(t *testing.T) {
	t.Parallel()
	for json, want := range map[string]screen.Node{
		`{"type":"Other"}`: {Class: new("Other")},
		`{"type":"Button","rawIdentifier":"pay","name":"pay","label":"Pay","rect":{"x":10,"y":-20.4,"width":30,"height":40}}`: {
			Class: new("Button"), ID: new("pay"), Label: new("Pay"), Role: "button",
			Bounds: &screen.Rect{Left: 10, Top: -20, Right: 40, Bottom: 20},
		},
		`{"type":"Button","rawIdentifier":null,"name":"Pay","label":"Pay"}`: {Class: new("Button"), Label: new("Pay"), Role: "button"},
		`{"type":"Button","label":"On","value":"1","traits":"Selected, Button"}`: {
			Class: new("Button"), Label: new("On"), Role: "button", States: screen.States{Selected: true},
		},
		`{"type":"Button","label":"Items","value":"1","traits":"Button"}`: {
			Class: new("Button"), Label: new("Items"), Value: new("1"), Text: new("1"), Role: "button",
		},
		`{"type":"StaticText","label":"Kate","value":"Kate"}`: {Class: new("StaticText"), Label: new("Kate"), Role: "text"},
		`{"type":"StaticText","label":"Total","value":"3"}`: {
			Class: new("StaticText"), Label: new("Total"), Value: new("3"), Text: new("3"), Role: "text",
		},
		`{"type":"StaticText","label":"Title","traits":"StaticText, Header"}`: {
			Class: new("StaticText"), Label: new("Title"), Role: "text", States: screen.States{Heading: true},
		},
		`{"type":"TextField","label":"","value":"Email","placeholderValue":"Email"}`: {
			Class: new("TextField"), Hint: new("Email"), Role: "textbox", States: screen.States{Editable: true},
		},
		`{"type":"TextField","label":"Mail","value":"a@b.c","placeholderValue":"Email","isFocused":"1"}`: {
			Class: new("TextField"), Label: new("Mail"), Value: new("a@b.c"), Text: new("a@b.c"), Hint: new("Email"), Role: "textbox",
			States: screen.States{Editable: true},
		},
		`{"type":"SecureTextField","value":"•••"}`: {
			Class: new("SecureTextField"), Value: new("•••"), Text: new("•••"), Role: "textbox",
			States: screen.States{Editable: true, Password: true},
		},
		`{"type":"SearchField"}`: {Class: new("SearchField"), Role: "searchbox", States: screen.States{Editable: true}},
		`{"type":"TextView","value":"  "}`: {
			Class: new("TextView"), Role: "textbox", States: screen.States{Editable: true, MultiLine: true},
		},
		`{"type":"Switch","label":"Wi-Fi","value":"1"}`: {
			Class: new("Switch"), Label: new("Wi-Fi"), Value: new("1"), Text: new("1"), Role: "switch",
			States: screen.States{Checkable: true, Checked: screen.ToggleOn},
		},
		`{"type":"Switch","value":0}`: {
			Class: new("Switch"), Value: new("0"), Text: new("0"), Role: "switch", States: screen.States{Checkable: true},
		},
		`{"type":"Slider","value":"50%"}`: {Class: new("Slider"), Value: new("50%"), Text: new("50%"), Role: "slider"},
		`{"type":"ScrollView"}`:           {Class: new("ScrollView"), States: screen.States{Scrollable: true}},
		`{"type":"Table"}`:                {Class: new("Table"), Role: "table", States: screen.States{Scrollable: true}},
		`{"type":"CollectionView"}`:       {Class: new("CollectionView"), Role: "list", States: screen.States{Scrollable: true}},
		`{"type":"Other","isEnabled":"0","isVisible":"0"}`: {
			Class: new("Other"), States: screen.States{Disabled: true, Hidden: true},
		},
		`{"type":"Other","isEnabled":false,"isVisible":false,"isFocused":true}`: {
			Class: new("Other"), States: screen.States{Disabled: true, Hidden: true},
		},
		`{"type":"Cell","customActions":"Delete, Archive"}`: {
			Class: new("Cell"), Role: "listitem", Details: screen.Details{CustomActions: []string{"Delete", "Archive"}},
		},
		`{"type":"Other","label":{},"value":[1],"rect":{"x":1e300,"width":1}}`: {
			Class: new("Other"), Bounds: &screen.Rect{Left: 1 << 30, Right: 1 << 30},
		},
	} {
		got := wdaJSON(t, json).Tree.Root().Children[0]
		if want.Bounds == nil {
			want.Bounds = &screen.Rect{}
		}
		want.UniqueID = want.ID
		if diff := cmp.Diff(&want, got, cmpopts.IgnoreFields(screen.Node{}, "Key")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", json, diff)
		}
	}
}

func TestWDAXML(t *testing.T) {
	t.Parallel()
	const xml = `<?xml version="1.0" encoding="UTF-8"?><AppiumAUT><XCUIElementTypeApplication type="XCUIElementTypeApplication" name="Orders" label="Orders" enabled="true" visible="true" accessible="false" x="0" y="0" width="390" height="844" index="0" traits="" processId="1" bundleId="com.example.orders">
  <XCUIElementTypeTextField type="XCUIElementTypeTextField" value="a &amp; b" name="mail" label="Mail" enabled="false" visible="false" accessible="true" x="16" y="-20" width="358" height="44" index="0" placeholderValue="Email" traits="Selected, Header" customActions="Paste"/>
  <XCUIElementTypeButton type="XCUIElementTypeButton" name="Pay" label="Pay" x="0" y="100" width="390" height="44" index="1"/>
</XCUIElementTypeApplication></AppiumAUT>`
	got, err := source.WDAXML([]byte(xml), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []*screen.Node{
		{
			Class: new("TextField"), ID: new("mail"), Label: new("Mail"), Value: new("a & b"), Text: new("a & b"), Hint: new("Email"), Role: "textbox",
			Bounds:  &screen.Rect{Left: 16, Top: -20, Right: 374, Bottom: 24},
			States:  screen.States{Disabled: true, Hidden: true, Selected: true, Heading: true, Editable: true},
			Details: screen.Details{UniqueID: new("mail"), CustomActions: []string{"Paste"}},
		},
		{
			Class: new("Button"), ID: new("Pay"), Label: new("Pay"), Role: "button", // the identifier may be only a label
			Bounds: &screen.Rect{Top: 100, Right: 390, Bottom: 144}, Details: screen.Details{UniqueID: new("Pay")},
		},
	}
	if diff := cmp.Diff(want, got.Tree.Root().Children, cmpopts.IgnoreFields(screen.Node{}, "Key")); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
	if got.Tree.Width != 390 || got.Tree.Height != 844 {
		t.Errorf("the screen is %dx%d, want 390x844", got.Tree.Width, got.Tree.Height)
	}
}

func TestWhatWebDriverAgentDoesNotReportIsRefused(t *testing.T) {
	t.Parallel()
	never := []string{"roleRegex", "subroleRegex", "titleRegex"}
	json := wdaJSON(t, `{"type":"Other"}`)
	assertUnavailable(t, "JSON", json, screen.IOSAxe, never)
	assertUnavailable(t, "JSON", json, screen.IOSMaestro, []string{"focused"})
	xml, err := source.WDAXML([]byte(`<XCUIElementTypeOther traits="" />`), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	assertUnavailable(t, "XML", xml, screen.IOSAxe, never, []string{"customAction"})
	assertUnavailable(t, "XML", xml, screen.IOSMaestro, []string{"focused"})
	old, err := source.WDAJSON([]byte(`{"type":"Other"}`), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	assertUnavailable(t, "an old version", old, screen.IOSMaestro, []string{"focused", "selected"})
}

func TestKeyboardOfIOS(t *testing.T) {
	t.Parallel()
	for json, want := range map[string]*screen.Rect{
		`{"type":"Other"}`: nil,
		`{"type":"Window","children":[{"type":"Keyboard","rect":{"x":0,"y":553,"width":390,"height":291}}]}`: {Top: 553, Right: 390, Bottom: 844},
		`{"type":"Keyboard","rect":{"x":0,"y":800,"width":390,"height":291}}`:                                {Top: 800, Right: 390, Bottom: 844},
		`{"type":"Keyboard","rect":{"x":0,"y":844,"width":390,"height":291}}`:                                nil,
		`{"type":"Keyboard","rect":{"x":0,"y":0,"width":0,"height":0}}`:                                      nil,
	} {
		if diff := cmp.Diff(want, wdaJSON(t, json).Keyboard); diff != "" {
			t.Errorf("%s (-want +got):\n%s", json, diff)
		}
	}
}

// An app of iOS keeps its references while the keyboard or an alert opens in a window of its own. The keys of the
// keyboard have none.
func TestReferencesStayWhenAWindowOpensAboveOnIOS(t *testing.T) {
	t.Parallel()
	const element = `{"type":%q,"label":%q,"rect":{"x":0,"y":0,"width":9,"height":9}}`
	app := func(title, above string) *screen.Tree {
		field := fmt.Sprintf(element, "TextField", "")
		window := `{"type":"Window","children":[` + fmt.Sprintf(element, "StaticText", title) + "," + field + "," + field + `]}`
		if above != "" {
			window += `,{"type":"Window","children":[` + above + `]}`
		}
		return wdaJSON(t, window).Tree
	}
	refs := &screen.References{}
	text := func(tree *screen.Tree) string {
		refs.See(tree)
		return tree.Text(screen.TextOptions{Ref: refs.Ref}).String()
	}
	const alone = "- application \"Orders\"\n  - text \"Sign in\" [ref=e1]\n  - textbox [ref=e2]\n  - textbox [ref=e3]"
	keyboard := `{"type":"Keyboard","rect":{"x":0,"y":553,"width":390,"height":291},"children":[` +
		fmt.Sprintf(element, "Key", "q") + "," + fmt.Sprintf(element, "Button", "Go") + `]}`
	for _, c := range []struct {
		tree *screen.Tree
		want string
	}{
		{app("Sign in", ""), alone},
		{app("Sign in", keyboard), alone + "\n  - button \"Go\" [ref=e4]"},
		{app("Sign in", ""), alone},
		{app("Basket", ""), "- application \"Orders\"\n  - text \"Basket\" [ref=e5]\n  - textbox [ref=e6]\n  - textbox [ref=e7]"},
	} {
		if diff := cmp.Diff(c.want, text(c.tree)); diff != "" {
			t.Error(diff)
		}
	}
}
