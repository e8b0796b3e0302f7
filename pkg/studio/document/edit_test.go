package document_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func openCommented(t *testing.T) *document.Document {
	t.Helper()
	d, problems := document.Open(document.Options{Name: "a.trail.yaml", Lineage: []string{"web"}}, []byte(commented))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return d
}

// changes returns the lines that two texts do not share.
func changes(before, after []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(diff.Diff("a", before, "b", after))) {
		if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "---") {
			out.WriteString(line)
		}
	}
	return out.String()
}

var update = flag.Bool("update", false, "rewrite golden files")

// Each edit, as the page sends it, changes only the lines that the golden file shows.
func TestEditsChangeTheirLines(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, edit := range []string{
		`{"op": "reword", "step": "2", "text": "Add: a mug"}`,
		`{"op": "reword", "step": "3", "text": "Shirt"}`,
		`{"op": "kind", "step": "2", "kind": "verify"}`,
		`{"op": "kind", "step": "4", "kind": "step"}`,
		`{"op": "move", "number": "4", "to": "2"}`,
		`{"op": "move", "number": "5", "to": "8"}`,
		`{"op": "move", "number": "2.2", "to": "2.1"}`,
		`{"op": "move", "number": "2.1", "to": "5.1"}`,
		`{"op": "delete", "number": "3"}`,
		`{"op": "delete", "number": "1"}`,
		`{"op": "delete", "number": "3.2"}`,
		`{"op": "delete", "number": "5.1"}`,
		`{"op": "split", "call": "2.2", "text": "Say how many"}`,
		`{"op": "split", "call": "3.2", "text": ""}`,
		`{"op": "insertStep", "after": "3", "text": "Wait", "kind": "verify"}`,
		`{"op": "insertStep", "after": "", "text": "", "kind": "step"}`,
		`{"op": "args", "call": "2.2", "args": {"text": "two\n# lines\n", "ref": "Note", "timeoutMs": 12345678901234567890}}`,
		`{"op": "call", "call": "4.1", "optional": true, "timeout": "1.5s", "saveAs": ""}`,
		`{"op": "call", "call": "1.1", "optional": false, "timeout": "", "saveAs": "home"}`,
		`{"op": "pick", "call": "3.1", "selector": {"web": {"ariaRole": "button", "ariaNameRegex": "Shirt"}}}`,
		`{"op": "classifier", "step": "5", "classifier": "web-tablet"}`,
	} {
		d := openCommented(t)
		var e document.Edit
		if err := json.Unmarshal([]byte(edit), &e); err != nil {
			t.Fatal(err)
		}
		if err := d.Apply(e); err != nil {
			t.Fatal(edit, err)
		}
		got.WriteString(edit + "\n" + changes([]byte(commented), d.Text()) + "\n")
		if !d.Undo() || string(d.Text()) != commented {
			t.Errorf("%s undone:\n%s", edit, d.Text())
		}
	}
	const path = "testdata/edits.golden"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An edit that cannot be made says why, and changes nothing.
func TestEditsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	for edit, want := range map[string]string{
		`{"op": "fly"}`: `unknown edit "fly"`,
		`{"op": "reword", "step": "2", "text": " "}`:                 "the text of step 2 is empty",
		`{"op": "reword", "step": "2.1", "text": "x"}`:               "2.1 is the number of a call, not of a step",
		`{"op": "reword", "step": "6", "text": "x"}`:                 "step 6 uses another trail",
		`{"op": "reword", "step": "9", "text": "x"}`:                 "the trail has 8 steps",
		`{"op": "kind", "step": "2", "kind": "use"}`:                 `"use" is not a kind`,
		`{"op": "kind", "step": "1", "kind": "verify"}`:              "step 1 is the trailhead",
		`{"op": "move", "number": "1", "to": "2"}`:                   "step 1 is the trailhead",
		`{"op": "move", "number": "2.1", "to": "7.1"}`:               "it has 0 calls for this device",
		`{"op": "delete", "number": "2.x"}`:                          `"2.x" is not the number`,
		`{"op": "split", "call": "2.1", "text": ""}`:                 "call 2.1 is the first of its step",
		`{"op": "join", "step": "2"}`:                                "there is not a step before step 2",
		`{"op": "join", "step": "3"}`:                                "recorded for different devices",
		`{"op": "join", "step": "7"}`:                                "cannot be joined",
		`{"op": "call", "call": "2.1", "timeout": "soon"}`:           `the timeout "soon" is not a duration`,
		`{"op": "call", "call": "2.1", "saveAs": "a b"}`:             `"a b" is not a name`,
		`{"op": "pick", "call": "2.1"}`:                              "no selector is given",
		`{"op": "classifier", "step": "2", "classifier": "android"}`: "has a recording for android already",
		`{"op": "classifier", "step": "2", "classifier": "A_b"}`:     `"A_b" is not a classifier`,
		`{"op": "classifier", "step": "7", "classifier": "web-tv"}`:  "has no recording for this device",
		`{"op": "args", "call": "2.1", "args": {"text": "{{a b"}}`:   "cannot be written as a trail file",
		`{"op": "insertStep", "text": "x", "kind": "trailhead"}`:     `"trailhead" is not a kind`,
	} {
		d := openCommented(t)
		var e document.Edit
		if err := json.Unmarshal([]byte(edit), &e); err != nil {
			t.Fatal(err)
		}
		err := d.Apply(e)
		if err == nil || fault.As(err) == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", edit, err, want)
		}
		if string(d.Text()) != commented || d.Version() != 0 || d.CanUndo() {
			t.Errorf("%s changed something", edit)
		}
	}
	var e document.Edit
	if err := json.Unmarshal([]byte(`{"args": [1]}`), &e); err == nil || !strings.Contains(err.Error(), "args of the edit is not an object") {
		t.Error(err)
	}
}

// Joining is for every device, and a step without a recording joins any.
func TestJoin(t *testing.T) {
	t.Parallel()
	d := open(t, []byte("trail:\n- step: one\n  recording:\n    web: [ a: {} ]\n    ios:\n    - b: {} # b\n"+
		"- step: two\n  recording:\n    ios:\n    - c: {} # c\n    web:\n    - d: {} # d\n- step: three\n- step: four\n  recording:\n    web:\n    - e: {} # e\n"))
	for _, step := range []string{"2", "3"} {
		if err := d.Apply(document.Edit{Op: "join", Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	const want = "trail:\n- step: one\n  recording:\n    web: [ a: {}, { d: {} } ]\n    ios:\n    - b: {} # b\n    - c: {} # c\n" +
		"- step: three\n  recording:\n    web:\n    - e: {} # e\n"
	if diff := gocmp.Diff(want, string(d.Text())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The last call of a recording takes the recording with it, unless the step would then be replayed as on other devices.
func TestDeletingTheLastCall(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"    web-phone:\n    - a: {}\n    web:\n    - b: {}\n": "    web-phone: []\n    web:\n    - b: {}\n",
		"    web:\n    - b: {}\n    ios: []\n":                 "    ios: []\n",
	} {
		const head = "trail:\n- step: one\n  recording:\n"
		d := open(t, []byte(head+in))
		if err := d.Apply(document.Edit{Op: "delete", Number: "1.1"}); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(head+want, string(d.Text())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// What names the element of a call gives way to a picked selector, and its other arguments stay.
func TestPick(t *testing.T) {
	t.Parallel()
	selector := map[string]any{"web": map[string]any{"dataTestId": "x"}}
	for in, want := range map[string]trail.Call{
		"web_type: { ref: Email, text: ada }": {Tool: "web_type", Args: map[string]any{"text": "ada", "nodeSelector": selector}},
		"web_verifyTextVisible: { text: a, within: { ref: Cart } }": {
			Tool: "web_verifyTextVisible", Args: map[string]any{"text": "a", "within": map[string]any{"nodeSelector": selector}},
		},
		"tap: { text: OK, index: 1, timeoutMs: 5 }": {Tool: "tap", Args: map[string]any{"timeoutMs": int64(5), "nodeSelector": selector}},
		"tapOnElementWithText: { text: OK }":        {Tool: "tapOnElementBySelector", Args: map[string]any{"nodeSelector": selector}},
	} {
		d := open(t, []byte("trail:\n- step: one\n  recording:\n    web:\n    - "+in+"\n"))
		if err := d.Apply(document.Edit{Op: "pick", Call: "1.1", Selector: selector}); err != nil {
			t.Fatal(err)
		}
		c := call(t, d, "1.1")
		if diff := gocmp.Diff(want.Args, c.Args); c.Tool != want.Tool || diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", in, c.Tool, diff)
		}
	}
	d := open(t, []byte("trail:\n- step: one\n  recording:\n    web:\n    - web_dragTo: { from: { ref: a }, to: { ref: b } }\n"))
	if err := d.Apply(document.Edit{Op: "pick", Call: "1.1", Selector: selector}); err == nil {
		t.Error("picked one of two elements")
	}
}
