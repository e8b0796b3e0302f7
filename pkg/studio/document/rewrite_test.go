package document_test

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Each text is replaced wherever it is, and however YAML has it written.
func TestRewrite(t *testing.T) {
	t.Parallel()
	const plain, quoted = "hunter2hunter2", `it's "me": #7`
	for name, tt := range map[string]struct {
		value, text, want string
	}{
		"of all devices": {
			plain,
			"config:\n  title: As hunter2hunter2\ntrail:\n  # hunter2hunter2, twice\n  - step: hunter2hunter2\n    recording:\n      web:\n" +
				"        - web_type: { text: hunter2hunter2 } # kept\n      android-phone:\n        - inputText:\n            text: 'hunter2hunter2'\n",
			"config:\n  title: As {{X}}\ntrail:\n  # {{X}}, twice\n  - step: \"{{X}}\"\n    recording:\n      web:\n" +
				"        - web_type: { text: \"{{X}}\" } # kept\n      android-phone:\n        - inputText:\n            text: \"{{X}}\"\n",
		},
		"of the teardown": {
			plain,
			"config:\n  teardown:\n    - step: Delete hunter2hunter2\n      recording:\n        web: [{ del: { a: hunter2hunter2, b: hunter2hunter2 } }]\n" +
				"        ios:\n          - del:\n              a: hunter2hunter2\ntrail:\n  - step: A\n",
			"config:\n  teardown:\n    - step: Delete {{X}}\n      recording:\n        web: [{ del: { a: \"{{X}}\", b: \"{{X}}\" } }]\n" +
				"        ios:\n          - del:\n              a: \"{{X}}\"\ntrail:\n  - step: A\n",
		},
		"a number": {
			"12345678",
			"trail:\n  - step: Pay\n    recording:\n      ios:\n        - pay: { pin: 12345678 }\n",
			"trail:\n  - step: Pay\n    recording:\n      ios:\n        - pay: { pin: \"{{X}}\" }\n",
		},
		"with quotes": {
			quoted,
			"trail:\n  - step: Say\n    recording:\n      web:\n        - say: { text: 'it''s \"me\": #7' }\n      ios:\n        - say: { text: \"it's \\\"me\\\": #7\" }\n",
			"trail:\n  - step: Say\n    recording:\n      web:\n        - say: { text: \"{{X}}\" }\n      ios:\n        - say: { text: \"{{X}}\" }\n",
		},
		"with quotes in the teardown": {
			quoted, "config:\n  teardown:\n    - step: Say\n      recording:\n        ios: [{ say: { text: 'it''s \"me\": #7' } }]\ntrail:\n  - step: A\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, problems := document.Open(document.Options{Name: "a.trail.yaml", Lineage: []string{"web"}}, []byte(tt.text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if err := d.Apply(document.Edit{Op: "insertStep", Text: "Another one", Kind: "step"}); err != nil {
				t.Fatal(err)
			}
			err := d.Rewrite(redact.New(map[string]string{"X": tt.value}).Value)
			if (err == nil) != (tt.want != "") {
				t.Error(err)
			}
			if got := strings.Replace(string(d.Text()), "  - step: Another one\n", "", 1); tt.want != "" && got != tt.want {
				t.Errorf("got\n%s", got)
			}
			if d.CanUndo() {
				t.Error("undo brings it back")
			}
		})
	}
}

// A provisional text stays one.
func TestRewriteOfProvisionalStep(t *testing.T) {
	t.Parallel()
	d := newDocument()
	record(t, d, document.Place{}, click("hunter2hunter2"), trail.Call{Tool: "web_type", Args: map[string]any{"text": "hunter2hunter2"}})
	if err := d.Rewrite(redact.New(map[string]string{"X": "hunter2hunter2"}).Value); err != nil {
		t.Fatal(err)
	}
	if s := d.Steps()[0]; !s.Provisional || s.Text != "Click {{X}} and type into {{X}}" || s.Calls[1].Args["text"] != "{{X}}" {
		t.Errorf("%+v", s)
	}
}
