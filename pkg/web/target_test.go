package web

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// web is a nodeSelector for the web.
func web(pairs ...any) map[string]any {
	selector := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		selector[pairs[i].(string)] = pairs[i+1]
	}
	return map[string]any{"web": selector}
}

func TestElementArguments(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-names.html")
	for name, tt := range map[string]struct {
		args []any
		want string
	}{
		"cssSelector first": {[]any{
			"ref", "Pick", "nodeSelector",
			web("cssSelector", "#exact", "dataTestId", "pick", "ariaRole", "link"),
		}, "exact"},
		"then dataTestId": {[]any{
			"ref", "Save", "nodeSelector",
			web("dataTestId", "pick", "ariaRole", "link"),
		}, "first"},
		"then ariaRole and ariaNameRegex": {[]any{
			"ref", "Pick", "nodeSelector",
			web("ariaRole", "link", "ariaNameRegex", "Save"),
		}, "link"},
		"the role alone": {[]any{"nodeSelector", web("ariaRole", "Heading")}, "heading"},
		"the name alone": {
			[]any{"nodeSelector", web("ariaNameRegex", "Pick", "nthIndex", 1)},
			"second",
		},
		"an empty selector": {[]any{"ref", "Pick", "nodeSelector", web()}, "first"},
		"a block for another platform": {[]any{
			"ref", "Pick", "nodeSelector",
			map[string]any{"androidAccessibility": map[string]any{"textRegex": "x"}},
		}, "first"},
		"nthIndex counts from 0": {[]any{
			"nodeSelector",
			web("ariaRole", "button", "ariaNameRegex", "Pick", "nthIndex", 2),
		}, "third"},
		"nthIndex with dataTestId": {[]any{"nodeSelector", web("dataTestId", "pick", "nthIndex", 1)}, "second"},
		"the whole name": {
			[]any{"nodeSelector", web("ariaRole", "button", "ariaNameRegex", "Save")},
			"exact",
		},
		"a pattern for the whole name": {[]any{
			"nodeSelector",
			web("ariaRole", "button", "ariaNameRegex", "Save .*"),
		}, "longer"},
		"a name with dots is itself": {[]any{
			"nodeSelector",
			web("ariaRole", "button", "ariaNameRegex", "a.b (c)"),
		}, "dots"},
		"a quoted name": {[]any{
			"nodeSelector",
			web("ariaRole", "button", "ariaNameRegex", `\Qa.b (c)\E`),
		}, "dots"},
		"quoted in part": {[]any{
			"nodeSelector",
			web("ariaRole", "button", "ariaNameRegex", `a.b\Q (c)\E`, "nthIndex", 1),
		}, "letters"},
		"white space does not count": {[]any{
			"nodeSelector",
			web("ariaRole", "button", "ariaNameRegex", "Two words"),
		}, "spaced"},
		"a name by aria-labelledby":      {[]any{"ref", `button "Save Only text here"`}, "described"},
		"ref: css":                       {[]any{"ref", "css= #main > a"}, "link"},
		"ref: a number":                  {[]any{"ref", "e4"}, "longer"},
		"ref: role and name":             {[]any{"ref", `link "Save"`}, "link"},
		"ref: quotes in a name":          {[]any{"ref", `button "Say \"hi\""`}, "quoted"},
		"ref: a role":                    {[]any{"ref", "searchbox"}, "search"},
		"ref: a role before a text":      {[]any{"ref", "heading"}, "heading"},
		"ref: a control's name":          {[]any{"ref", "Save"}, "exact"},
		"ref: then a label":              {[]any{"ref", "City"}, "city"},
		"ref: then a text":               {[]any{"ref", "Only text here"}, "phrase"},
		"ref: a part in any case":        {[]any{"ref", "AS DRAFT"}, "longer"},
		"ref: not a role, so text":       {[]any{"ref", `Say "hi"`}, "quoted"},
		"ref: a button's value":          {[]any{"ref", "Send it"}, "submit"},
		"ref: a placeholder":             {[]any{"ref", "street"}, "hint"},
		"styled names in another case":   {[]any{"ref", `button "Shout"`}, "shout"},
		"a role that Chrome calls image": {[]any{"ref", `img "Picture"`}, "picture"},
		"a date field is a textbox":      {[]any{"ref", `textbox "Day"`}, "date"},
	} {
		u.mustCall("web_click", tt.args...)
		if got := u.mustEval("log.splice(0)[0]"); got != tt.want {
			t.Errorf("%s: clicked %s, want %s", name, got, tt.want)
		}
	}
}

// The browser has several names for what is one role.
func TestRolesWithSeveralNamesInTheBrowser(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("navigate", "url", "data:text/html,<!doctype html>")
	const svg = `<svg role=img aria-label=Icon width=9 height=9><rect width=9 height=9 /></svg>`
	u.show(`<input id=a aria-label=From><input id=b type=date aria-label=Day><input id=c aria-label=To><input id=d type=time aria-label=Day>
		<canvas width=9 height=9>chart</canvas><svg width=9 height=9><title>Plain</title><rect width=9 height=9 /></svg>
		<img id=p alt=Photo src="data:,">` + svg + `<button>Save</button><button>&#xf0c7; Save</button>`)
	role := func(role string, more ...any) m { return web(append([]any{"ariaRole", role}, more...)...) }
	for i, id := range []string{"a", "b", "c", "d"} {
		u.mustCall("web_click", "nodeSelector", role("textbox", "nthIndex", i))
		if got := u.mustEval("document.activeElement.id"); got != id {
			t.Errorf("textbox %d is %s, want %s", i, got, id)
		}
	}
	u.mustCall("web_verifyCount", "nodeSelector", role("textbox"), "count", 4)
	u.mustCall("web_verifyCount", "nodeSelector", role("textbox", "ariaNameRegex", "Day"), "count", 2)
	u.mustCall("web_verifyCount", "nodeSelector", role("img"), "count", 3)
	u.mustCall("web_verifyCount", "nodeSelector", role("button", "ariaNameRegex", "Save"), "count", 2)
	for _, ref := range []string{"textbox", `textbox "Day"`, `button "Save"`} {
		if r, err := u.call("web_hover", "ref", ref, "timeoutMs", 50); err != nil || r.OK || !strings.Contains(r.Text, "elements") {
			t.Errorf("%s is unique: %v %v", ref, r, err)
		}
	}
}

func TestNamesThatOnlySnapshotsHave(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-names.html")
	if got, want := u.mustCall("web_verifyElementVisible", "nodeSelector",
		web("ariaRole", "row", "ariaNameRegex", "Alice .*")), "tr#line"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCoreElementArguments(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, nil)+"/act-names.html")
	for _, args := range [][]any{
		{"text", "Save"}, {"id", "row:1.2"}, {"id", "pick"}, {"id", "pick", "index", 2}, {
			"text", "Pick", "index",
			1,
		}, {"id", "longer", "text", "draft"},
	} {
		u.mustCall("tap", args...)
	}
	if got, want := u.mustEval("log.join()"), "exact,row:1.2,first,third,second,longer"; got != want {
		t.Errorf("tapped %s, want %s", got, want)
	}
}

func TestNameMatches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, is     string
		exactly, folded bool
	}{
		{"Save", "Save", true, true},
		{"Save", "SAVE", false, true},
		{"Save", "Save as", false, false},
		{"Save.*", "Save as", true, true},
		{"Save|Load", "Load", true, true},
		{"Save|Load", "Loader", false, false},
		{`\QSave (1)\E`, "Save (1)", true, true},
		{`\QSave.\E`, "Savex", false, false},
		{`\QA\E|\QB\E`, "B", true, true},
		{"Save (1)", "Save (1)", true, true},
		{"a  b", "a b", true, true},
	} {
		pattern, err := screen.CompilePattern(tt.pattern, screen.NativeRules)
		if err != nil {
			t.Fatal(err)
		}
		exactly, folded := syntax.NewElementName(pattern).Matches(tt.is)
		if exactly != tt.exactly || folded != tt.folded {
			t.Errorf("%q and %q: %v, %v", tt.pattern, tt.is, exactly, folded)
		}
	}
}

func TestElementArgumentsThatAreInvalid(t *testing.T) {
	t.Parallel()
	button := map[string]any{"ariaRole": "button"}
	for want, args := range map[string]syntax.Arguments{
		"no argument says which element is meant":                {},
		"nodeSelector.beneath: unknown key":                      {"nodeSelector": map[string]any{"beneath": 1}},
		"nodeSelector.web.css: unknown key":                      {"nodeSelector": web("css", "a")},
		"nodeSelector.web.ariaNameRegex: ":                       {"nodeSelector": web("ariaNameRegex", "broken (")},
		`nodeSelector.web.ariaRole: "buton" is not an ARIA role`: {"nodeSelector": web("ariaRole", "buton")},
		"nodeSelector.iosAxe matches nothing on a web page": {"nodeSelector": map[string]any{
			"web": button, "childOf": map[string]any{"iosAxe": map[string]any{"labelRegex": "x"}},
		}},
		"nodeSelector: has 2 driver blocks: web, androidMaestro": {"nodeSelector": map[string]any{
			"web":            button,
			"androidMaestro": map[string]any{"textRegex": "x"},
		}},
		`ref: "xpath=//a" is the syntax of another tool`: {"ref": "xpath=//a"},
		`ref: "text=Save" is the syntax of another tool`: {"ref": "text=Save"},
		`ref: "//div[1]" is the syntax of another tool`:  {"ref": "//div[1]"},
	} {
		_, err := syntax.ElementOf(args)
		if fault.KindOf(err) != fault.InvalidArguments || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	_, err := syntax.ElementOf(syntax.Arguments{"nodeSelector": map[string]any{"iosMaestro": map[string]any{"textRegex": "x"}}})
	if err == nil || !strings.Contains(fault.As(err).Hint, "nodeSelector.iosMaestro matches nothing on a web page") {
		t.Errorf("a block of another driver: %v", err)
	}
}
