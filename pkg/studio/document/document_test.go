package document_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func click(name string) trail.Call {
	return trail.Call{Tool: "web_click", Args: map[string]any{"nodeSelector": map[string]any{"web": map[string]any{"ariaRole": "button", "ariaNameRegex": name}}}}
}

func seen(text string) trail.Call {
	return trail.Call{Tool: "web_verifyTextVisible", Args: map[string]any{"text": text}}
}

func newDocument() *document.Document {
	return document.New(document.Options{Name: "a.trail.yaml", Lineage: []string{"web"}, Config: trail.Config{Target: "shop"}})
}

func record(t *testing.T, d *document.Document, at document.Place, calls ...trail.Call) string {
	t.Helper()
	number, err := d.Record(at, calls...)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// outline returns the steps as kind, text and the briefs of calls.
func outline(d *document.Document) [][]string {
	var out [][]string
	for _, s := range d.Steps() {
		kind := s.Kind
		if s.Provisional {
			kind += "?"
		}
		line := []string{s.Number + " " + kind + " " + s.Text}
		for _, c := range s.Calls {
			line = append(line, c.Number+" "+c.Brief)
		}
		out = append(out, line)
	}
	return out
}

// What is recorded without a text makes steps whose texts follow from their calls, and whose kind from what the calls
// do.
func TestRecordMakesProvisionalSteps(t *testing.T) {
	t.Parallel()
	d := newDocument()
	if d.Text() != nil || len(d.Steps()) != 0 || d.CanUndo() {
		t.Errorf("a new document has %q", d.Text())
	}
	var numbers []string
	for _, c := range []trail.Call{click("Add to cart"), click("Pay"), seen("Total 30 €"), click("Back")} {
		numbers = append(numbers, record(t, d, document.Place{}, c))
	}
	if diff := gocmp.Diff([]string{"1.1", "1.2", "2.1", "3.1"}, numbers); diff != "" {
		t.Error(diff)
	}
	want := [][]string{
		{"1 step? Click Add to cart and click Pay", `1.1 click button "Add to cart"`, `1.2 click button "Pay"`},
		{"2 verify? Check that Total 30 € is shown", `2.1 check "Total 30 €" is visible`},
		{"3 step? Click Back", `3.1 click button "Back"`},
	}
	if diff := gocmp.Diff(want, outline(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Calls go where the place says, and begin a step only where they have to.
func TestPlaces(t *testing.T) {
	t.Parallel()
	d := newDocument()
	record(t, d, document.Place{Text: "Buy"}, click("a"))
	for _, tt := range []struct {
		at   document.Place
		call trail.Call
		want string
	}{
		{document.Place{Text: "Buy"}, click("b"), "1.2"},
		{document.Place{After: "1.1"}, click("c"), "1.2"},
		{document.Place{After: "1.1"}, seen("in between"), "1.2"},
		{document.Place{After: "1"}, click("d"), "1.5"},
		{document.Place{NewStep: true}, click("e"), "2.1"},
		{document.Place{Text: "Look"}, seen("f"), "3.1"},
		{document.Place{After: "1", NewStep: true, Kind: "verify", Text: "Before"}, click("g"), "2.1"},
		{document.Place{}, seen("h"), "4.2"},
		{document.Place{After: "3"}, click("i"), "3.2"},
	} {
		if got := record(t, d, tt.at, tt.call); got != tt.want {
			t.Errorf("%+v: recorded as %s, want %s", tt.at, got, tt.want)
		}
	}
	want := [][]string{
		{
			"1 step Buy", `1.1 click button "a"`, `1.2 check "in between" is visible`, `1.3 click button "c"`,
			`1.4 click button "b"`, `1.5 click button "d"`,
		},
		{"2 verify Before", `2.1 click button "g"`},
		{"3 step? Click e and click i", `3.1 click button "e"`, `3.2 click button "i"`},
		{"4 verify Look", `4.1 check "f" is visible`, `4.2 check "h" is visible`},
	}
	if diff := gocmp.Diff(want, outline(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What names no device, or no call, is refused.
func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	d := newDocument()
	record(t, d, document.Place{}, click("a"))
	for _, at := range []document.Place{{After: "3"}, {After: "1.2"}, {After: "0"}, {Kind: "use"}} {
		if number, err := d.Record(at, click("b")); err == nil || fault.As(err) == nil {
			t.Errorf("%+v: recorded as %s", at, number)
		}
	}
	if _, err := d.Record(document.Place{}); err == nil {
		t.Error("recorded no calls")
	}
	d.SetLineage(nil)
	if _, err := d.Record(document.Place{NewStep: true}, click("b")); err == nil || !strings.Contains(err.Error(), "without a device") {
		t.Error(err)
	}
}

// Steps that have the same kind and text in a row are told apart.
func TestEqualStepsInARow(t *testing.T) {
	t.Parallel()
	d := newDocument()
	for range 3 {
		record(t, d, document.Place{NewStep: true}, click("Next"))
	}
	record(t, d, document.Place{After: "2"}, click("Next"))
	for _, e := range []document.Edit{{Op: "delete", Number: "1"}, {Op: "args", Call: "1.2", Args: map[string]any{"ref": "Last"}}} {
		if err := d.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	want := [][]string{
		{"1 step? Click Next and click Last", `1.1 click button "Next"`, `1.2 click "Last"`},
		{"2 step? Click Next", `2.1 click button "Next"`},
	}
	if diff := gocmp.Diff(want, outline(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Typing that grows is one entry of undo, and so is a text that a person types into the YAML.
func TestJoinedEntriesOfUndo(t *testing.T) {
	t.Parallel()
	typed := func(text string) trail.Call {
		return trail.Call{Tool: "web_type", Args: map[string]any{"text": text, "ref": "Email"}}
	}
	d := newDocument()
	record(t, d, document.Place{}, click("a"))
	before := string(d.Text())
	number := record(t, d, document.Place{}, typed("a"))
	for _, text := range []string{"ad", "ada"} {
		if err := d.Replace(number, typed(text), true); err != nil {
			t.Fatal(err)
		}
	}
	grown := string(d.Text())
	if c := call(t, d, number); c.Args["text"] != "ada" || !strings.Contains(grown, "Click a and type into Email") {
		t.Errorf("got\n%s", grown)
	}
	if !d.Undo() || string(d.Text()) != before || !d.Redo() || string(d.Text()) != grown {
		t.Errorf("typing was not undone at once:\n%s", d.Text())
	}
	if err := d.Replace(number, typed("x"), true); err != nil { // after a redo it joins nothing
		t.Fatal(err)
	}
	if d.Undo(); string(d.Text()) != grown {
		t.Errorf("a later replacement joined:\n%s", d.Text())
	}
	for _, text := range []string{"trail: []\n", "trail: [] #\n", "trail: [] # c\n"} {
		if problems := d.SetText([]byte(text), true); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	if d.CanRedo() || !d.Undo() || string(d.Text()) != grown {
		t.Errorf("the typed text was not undone at once:\n%s", d.Text())
	}
	for d.Undo() {
	}
	if d.Text() != nil || d.CanUndo() || len(d.Steps()) != 0 {
		t.Errorf("all undone:\n%s", d.Text())
	}
}

// A text that does not parse replaces nothing, and a file that does not parse waits for one that does.
func TestTextsThatDoNotParse(t *testing.T) {
	t.Parallel()
	d := newDocument()
	record(t, d, document.Place{}, click("a"))
	record(t, d, document.Place{Text: "Mine"}, click("b"))
	text, version := string(d.Text()), d.Version()
	if problems := d.SetText([]byte("trail:\n- stepp: x\n"), false); len(problems) != 1 || problems[0].Line != 2 {
		t.Errorf("problems: %v", problems)
	}
	if string(d.Text()) != text || d.Version() != version {
		t.Error("the text was replaced")
	}
	if problems := d.SetText([]byte("# mine\n"+text), false); len(problems) > 0 || d.Version() == version {
		t.Errorf("problems: %v", problems)
	}
	if steps := d.Steps(); !steps[0].Provisional || steps[1].Provisional {
		t.Errorf("steps: %+v", steps)
	}
	broken, problems := document.Open(document.Options{Name: "a.trail.yaml", Lineage: []string{"web"}}, []byte("trail:\n- stepp: x\n"))
	if len(problems) != 1 || len(broken.Problems()) != 1 || len(broken.Steps()) != 0 || string(broken.Text()) != "trail:\n- stepp: x\n" {
		t.Errorf("problems: %v", problems)
	}
	if _, err := broken.Record(document.Place{}, click("a")); err == nil || !strings.Contains(err.Error(), "cannot be edited: line 2") {
		t.Error(err)
	}
	if problems := broken.SetText([]byte("trail:\n- step: x\n"), false); len(problems) > 0 || len(broken.Problems()) > 0 {
		t.Errorf("problems: %v", problems)
	}
	if !broken.Undo() || len(broken.Problems()) != 1 {
		t.Error("undo did not return to the file as it was")
	}
}

// What was recorded for another device stays, and the steps show the calls of this one.
func TestLineage(t *testing.T) {
	t.Parallel()
	d := newDocument()
	record(t, d, document.Place{}, click("a"))
	d.SetLineage([]string{"android-phone", "android"})
	if s := d.Steps()[0]; s.Classifier != "" || len(s.Calls) != 0 || len(s.Classifiers) != 1 {
		t.Errorf("%+v", s)
	}
	if got := record(t, d, document.Place{}, trail.Call{Tool: "tap", Args: map[string]any{"text": "a"}}); got != "1.1" {
		t.Errorf("recorded as %s", got)
	}
	if s := d.Steps()[0]; s.Classifier != "android-phone" || s.Calls[0].Brief != `tap "a"` || len(s.Classifiers) != 2 {
		t.Errorf("%+v", s)
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	web := func(block map[string]any) map[string]any { return map[string]any{"web": block} }
	for _, tt := range []struct {
		call trail.Call
		want string
	}{
		{trail.Call{Tool: "web_click", Args: map[string]any{"nodeSelector": web(map[string]any{"ariaRole": "button", "ariaNameRegex": `Total \(1\)`})}}, `click button "Total (1)"`},
		{trail.Call{Tool: "web_click", Args: map[string]any{"ref": `link "Next"`, "count": int64(2)}}, `double click link "Next"`},
		{trail.Call{Tool: "web_click", Args: map[string]any{"ref": "css=#x", "button": "right"}}, `right click css=#x`},
		{trail.Call{Tool: "web_click", Args: map[string]any{"nodeSelector": web(map[string]any{"dataTestId": "save"})}}, `click save`},
		{trail.Call{Tool: "web_type", Args: map[string]any{"text": "ada", "ref": `textbox "Email"`}}, `type "ada" into textbox "Email"`},
		{trail.Call{Tool: "web_setChecked", Args: map[string]any{"ref": "I agree", "checked": false}}, `uncheck "I agree"`},
		{trail.Call{Tool: "web_navigate", Args: map[string]any{"url": "/cart"}}, `open /cart`},
		{trail.Call{Tool: "web_navigate", Args: map[string]any{"action": "BACK"}}, `go back`},
		{trail.Call{Tool: "web_pressKey", Args: map[string]any{"key": "Enter"}}, `press Enter`},
		{trail.Call{Tool: "web_dragTo", Args: map[string]any{"from": map[string]any{"ref": "a"}, "to": map[string]any{"ref": "b"}}}, `drag "a" to "b"`},
		{trail.Call{Tool: "web_selectOption", Args: map[string]any{"values": []any{"red", "blue"}, "ref": "Colour"}}, `choose "red, blue" in "Colour"`},
		{trail.Call{Tool: "web_verifyValue", Args: map[string]any{"contains": "30", "ref": "css=#total"}}, `check css=#total is "30"`},
		{trail.Call{Tool: "tapOnElementBySelector", Args: map[string]any{"nodeSelector": map[string]any{"androidAccessibility": map[string]any{"resourceIdRegex": `com\.example:id/email`}}}}, `tap com.example:id/email`},
		{trail.Call{Tool: "tapOnElementBySelector", Args: map[string]any{"longPress": true, "selector": map[string]any{"textRegex": "OK"}}}, `press and hold "OK"`},
		{trail.Call{Tool: "inputText", Args: map[string]any{"text": "two\nlines"}}, `type "two lines"`},
		{trail.Call{Tool: "web_pressKey", Args: map[string]any{"key": "Enter"}}, `press Enter`},
		{trail.Call{Tool: "web_pressKey", Args: map[string]any{"text": "ls"}}, `press "ls"`},
		{trail.Call{Tool: "web_uploadFile", Args: map[string]any{"files": []any{"up.txt"}}}, `choose "up.txt"`},
		{trail.Call{Tool: "web_uploadFile", Args: map[string]any{"files": []any{"up.txt"}, "ref": "Photo"}}, `choose "up.txt" for "Photo"`},
		{trail.Call{Tool: "web_hover", Args: map[string]any{"ref": "Menu"}}, `hover over "Menu"`},
		{trail.Call{Tool: "web_hover", Args: map[string]any{"x": 3, "y": 4}}, `hover`},
		{trail.Call{Tool: "web_verifyCount", Args: map[string]any{"count": 3, "ref": "css=li"}}, `check there are 3 of css=li`},
		{trail.Call{Tool: "web_verifyCount", Args: map[string]any{"count": 3}}, `check there are 3`},
		{trail.Call{Tool: "addToCart", Args: map[string]any{"sku": "x"}}, `addToCart`},
	} {
		if got := document.Brief(tt.call); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.call.Tool, got, tt.want)
		}
	}
}

// A provisional text stays short.
func TestLongProvisionalTexts(t *testing.T) {
	t.Parallel()
	d := newDocument()
	long := "A name that is so long that nobody would read it to its end"
	for _, name := range []string{"Add to cart", "Go to the cart", "Pay with a card", "Confirm"} {
		record(t, d, document.Place{}, click(name))
	}
	record(t, d, document.Place{NewStep: true}, click(long), click(long+"!"))
	record(t, d, document.Place{}, seen("a"), seen("b"))
	var texts []string
	for _, s := range d.Steps() {
		texts = append(texts, s.Text)
	}
	want := []string{
		"Click Add to cart, click Go to the cart … click Confirm", "Click A name that is so long that nobody woul…",
		"Check that a is shown and that b is shown",
	}
	if diff := gocmp.Diff(want, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSetTitle gives a title to a trail without steps, and to one that has some.
func TestSetTitle(t *testing.T) {
	t.Parallel()
	d := document.New(document.Options{Name: "a.trail.yaml", Lineage: []string{"web"}})
	if err := d.SetTitle("First"); err != nil || d.Title() != "First" || d.Text() != nil || d.CanUndo() {
		t.Errorf("%v %q %q", err, d.Title(), d.Text())
	}
	if _, err := d.Record(document.Place{}, trail.Call{Tool: "web_reload", Args: map[string]any{}}); err != nil {
		t.Fatal(err)
	}
	before := string(d.Text())
	if !strings.Contains(before, "title: First") {
		t.Errorf("recorded\n%s", before)
	}
	if err := d.SetTitle("Second: one"); err != nil || d.Title() != "Second: one" || !d.Steps()[0].Provisional {
		t.Errorf("%v %q %+v", err, d.Title(), d.Steps())
	}
	if !d.Undo() || string(d.Text()) != before {
		t.Errorf("undone\n%s", d.Text())
	}
}

// call returns the call with a number.
func call(t *testing.T, d *document.Document, number string) document.Call {
	t.Helper()
	for _, s := range d.Steps() {
		for _, c := range s.Calls {
			if c.Number == number {
				return c
			}
		}
	}
	t.Fatalf("call %s was not found", number)
	return document.Call{}
}
