package source_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestSourcesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"Other","children":[`, 1001)
	many := `{"type":"Other","children":[` + strings.Repeat(`{},`, 100_000) + `{}]}`
	for _, c := range []struct {
		read func([]byte, source.Options) (source.Result, error)
		data string
		want string
	}{
		{source.UIAutomator2, "", `the UiAutomator2 server sent a screen that cannot be read: it is not XML at byte 0; it starts with ""`},
		{source.UIAutomator2, "<hierarchy>\x00<a>", `it ends inside <a> at byte 15; it starts with "<hierarchy>\x00<a>"`},
		{source.UIAutomator2, "<a><b></a></b>", "</a> ends an element that is not open at byte 6"},
		{source.UIAutomator2, "</a>", "</a> ends an element that is not open at byte 0"},
		{source.UIAutomator2, "<a b", "the attribute b of <a> has no value at byte 4"},
		{source.UIAutomator2, "<a b=c>", "the attribute b of <a> has a value without quotes"},
		{source.UIAutomator2, `<a b="c`, "the attribute b of <a> does not end"},
		{source.UIAutomator2, "<a ", "<a> does not end"},
		{source.UIAutomator2, "<a></a", "a tag does not end"},
		{source.UIAutomator2, "< a>", "a tag has no name"},
		{source.UIAutomator2, "<!-- ", `"-->" is missing`},
		{source.UIAutomator2, `{"value":{"error":"unknown error"}}`, `it is not XML at byte 35; it starts with "{\"value\":{\"error\":\"unknown error\"}}"`},
		{source.UIAutomator2, strings.Repeat("<a>", 1001), "its elements are nested more than 1000 deep"},
		{source.UIAutomator2, "<a>" + strings.Repeat("<b/>", 100_001), "it has more than 100000 elements"},
		{source.UIAutomator2, strings.Repeat(" ", 32<<20+1), "it has more than 32 MiB"},
		{source.Dump, "ERROR: could not get idle state.", `uiautomator dump sent a screen that cannot be read: it is not XML at byte 32; it starts with "ERROR: could not get idle state."`},
		{source.Dump, strings.Repeat("ä", 200), `it starts with "` + strings.Repeat("ä", 120) + `…"`},
		{source.WDAXML, "<html><body>Bad Gateway</body></html>", "WebDriverAgent sent a screen that cannot be read: it has no element of a type that starts with XCUIElementType"},
		{source.WDAXML, strings.Repeat(" ", 32<<20+1), "it has more than 32 MiB"},
		{source.WDAJSON, "", "WebDriverAgent sent a screen that cannot be read: unexpected end of JSON input"},
		{source.WDAJSON, "null", "its root has no type"},
		{source.WDAJSON, `{"type":"Other","children":[{"type":1}]}`, "cannot unmarshal number"},
		{source.WDAJSON, deep + `{"type":"Other"}` + strings.Repeat("]}", 1001), "its elements are nested more than 1000 deep"},
		{source.WDAJSON, many, "it has more than 100000 elements"},
		{source.WDAJSON, strings.Repeat(" ", 32<<20+1), "it has more than 32 MiB"},
	} {
		_, err := c.read([]byte(c.data), source.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %s", c.data, err, c.want)
			continue
		}
		if fault.KindOf(err) != fault.ProtocolError || len(fault.Hints(err)) == 0 || len(err.Error()) > 700 {
			t.Errorf("%.60q: the error has the kind %s, the hints %q and %d bytes", c.data, fault.KindOf(err), fault.Hints(err), len(err.Error()))
		}
	}
}

// TestCharactersThatXMLDoesNotAllow has what serializers of Android and of clouds were seen to write.
func TestCharactersThatXMLDoesNotAllow(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"a&#0;b":                "a\ufffdb",
		"a&#1;b":                "a\x01b",
		"a\x00b\x1bc":           "a\x00b\x1bc",
		"a&#x1F600;b":           "a😀b",
		"a&#128512;b":           "a😀b",
		"a&#55357;&#56832;b":    "a😀b",
		"a&#55357;b":            "a\ufffdb",
		"a&#56832;&#55357;b":    "a\ufffdb",
		"a\xffb":                "a\ufffdb",
		"a & b":                 "a & b",
		"a &nbsp; b":            "a &nbsp; b",
		"&#99999999999;":        "&#99999999999;",
		"&#1114112;":            "\ufffd",
		"&#-5;&#x;&;":           "&#-5;&#x;&;",
		"a < b > c":             "a < b > c",
		"&amp;lt;":              "&lt;",
		"it's":                  "it's",
		"&":                     "&",
		"&lt&gt;":               "&lt>",
		"&quot;x&apos;&#10;&#9": "\"x'\n&#9",
	} {
		got := uiAutomator2(t, with(`text="`+written+`"`))
		if n := got.Tree.Root(); n.Text == nil || *n.Text != want {
			t.Errorf("%q is read as %v, want %q", written, n.Text, want)
		}
	}
}

func TestOtherMarkupIsIgnored(t *testing.T) {
	t.Parallel()
	got, err := source.UIAutomator2([]byte("\ufeff<!DOCTYPE x><?xml version='1.0'?><!-- <a> --><hierarchy\n>text<![CDATA[<b>]]>"+
		"<node\tclass = 'a'  text='1'\r\n/></hierarchy ><c>"), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Tree.Root(); len(got.Tree.Nodes()) != 1 || *n.Class != "a" || *n.Text != "1" {
		t.Errorf("read %d elements, the first is %v", len(got.Tree.Nodes()), n)
	}
}

// check fails when a reader returns neither a tree nor an error, or a tree whose keys are not unique.
func check(t *testing.T, read func([]byte, source.Options) (source.Result, error), data []byte) {
	t.Helper()
	got, err := read(data, source.Options{})
	if err != nil {
		if fault.As(err) == nil {
			t.Fatalf("%v is not a fault", err)
		}
		return
	}
	seen := map[screen.Key]bool{}
	for _, n := range got.Tree.Nodes() {
		if n.Key == "" || seen[n.Key] {
			t.Fatalf("the key %q of %v is empty or used twice", n.Key, n)
		}
		seen[n.Key] = true
		got.Tree.VisiblePart(n)
	}
	got.Tree.Text(screen.TextOptions{MaxBytes: 1000})
}

func FuzzUIAutomator2(f *testing.F) {
	f.Add(hierarchy(permission, app, statusBar, input("[0,0][1,1]", "[0,0][1,1]"), notice))
	f.Add(hierarchy(with(`extras="a=b;androidx.compose.ui.semantics.testTag=x"`, `hint="a"`, `input-type="1"`)))
	f.Add([]byte("<a b='&#55357;&#56832;&'/>"))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, source.UIAutomator2, data) })
}

func FuzzDump(f *testing.F) {
	f.Add([]byte(`<hierarchy rotation="1"><node index="0" text="" class="android.widget.EditText" bounds="[1,2][3,4]"><node /><node /></node></hierarchy>done`))
	f.Add([]byte("ERROR: null root node"))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, source.Dump, data) })
}

func FuzzWDAJSON(f *testing.F) {
	f.Add([]byte(`{"type":"Application","label":"a","rect":{"x":0,"y":0,"width":1e99,"height":1},"children":[{"type":"Keyboard"},{"value":1},{"value":"1"}]}`))
	f.Add([]byte(`{"type":"Button","isEnabled":"0","traits":"Selected","customActions":"a,b","placeholderValue":null}`))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, source.WDAJSON, data) })
}

func FuzzWDAXML(f *testing.F) {
	f.Add([]byte(`<AppiumAUT><XCUIElementTypeApplication width="1" height="NaN"><XCUIElementTypeKeyboard x="-1"/></XCUIElementTypeApplication></AppiumAUT>`))
	f.Add([]byte(`<a><b/><c/></a>`))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, source.WDAXML, data) })
}

// thousand is a screen of 1,001 elements as the UiAutomator2 server writes it.
func thousand() []byte {
	var b bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&b, "<android.view.View%s>", plain)
		for j := range 4 {
			b.WriteString(with(fmt.Sprintf(`text="Row %d, text %d"`, i, j), `resource-id="com.example:id/text"`))
		}
		b.WriteString("</android.view.View>")
	}
	return hierarchy("<android.view.View" + plain + ">" + b.String() + "</android.view.View>")
}

func BenchmarkUIAutomator2(b *testing.B) {
	data := thousand()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := source.UIAutomator2(data, source.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWDAJSON(b *testing.B) {
	const element = `{"type":"StaticText","rawIdentifier":null,"name":"Row %d","value":"Row %d","label":"Row %d","rect":{"x":1,"y":2,"width":3,"height":4},` +
		`"customActions":null,"frame":"{{1, 2}, {3, 4}}","nativeFrame":"{{1, 2}, {3, 4}}","isEnabled":"1","isVisible":"1","isAccessible":"1",` +
		`"isNativeAccessibilityElement":"1","isFocused":"0","traits":"StaticText"},`
	var all strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&all, element, i, i, i)
	}
	data := []byte(`{"type":"Application","children":[` + strings.TrimSuffix(all.String(), ",") + "]}")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := source.WDAJSON(data, source.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
