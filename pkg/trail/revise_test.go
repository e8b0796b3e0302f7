package trail_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// A revision moves lines as they are, with their comments, in files of any style.
func TestReviseChangesOnlyWhatItMeans(t *testing.T) {
	t.Parallel()
	press := trail.Call{Tool: "press", Args: map[string]any{"x": int64(1)}}
	tests := []struct {
		name, in string
		change   func(*trail.Revision) error
		want     string
	}{
		{
			"a step moves", "trail:\n# one\n- step: 'one' # a\n\n- step: two\n", func(v *trail.Revision) error { return v.MoveStep(0, 1) },
			"trail:\n- step: two\n\n# one\n- step: 'one' # a\n",
		},
		{
			"a step moves among prompts", "- prompts:\n  - step: one\n  - verify: two # b\n", func(v *trail.Revision) error { return v.MoveStep(1, 0) },
			"- prompts:\n  - verify: two # b\n  - step: one\n",
		},
		{
			"calls move before a prompt", "- prompts:\n  - step: one\n- tools:\n  - a: {}\n", func(v *trail.Revision) error { return v.MoveStep(1, 0) },
			"- tools:\n  - a: {}\n- prompts:\n  - step: one\n",
		},
		{
			"a call moves in brackets", "trail: [{step: one, recording: {web: [{'a': {x: '1'}}, {b: {}}]}}]\n",
			func(v *trail.Revision) error { v.MoveCall(0, "web", 0, 0, "web", 2); return nil },
			"trail: [{step: one, recording: {web: [{b: {}}, {'a': {x: '1'}}]}}]\n",
		},
		{
			"a call moves out of brackets", "trail:\n- step: one\n  recording: { web: [a: {x: '1'}, b: {}] }\n- step: two\n  recording:\n    web:\n    - c: {}\n",
			func(v *trail.Revision) error { v.MoveCall(0, "web", 0, 1, "web", 1); return nil },
			"trail:\n- step: one\n  recording: { web: [b: {}] }\n- step: two\n  recording:\n    web:\n    - c: {}\n    - a:\n        x: \"1\"\n",
		},
		{
			"calls are inserted where there were none", "trail:\n- step: one # a\n", func(v *trail.Revision) error { v.InsertCalls(0, "web", 0, []trail.Call{press}); return nil },
			"trail:\n- step: one # a\n  recording:\n    web:\n    - press:\n        x: 1\n",
		},
		{
			"calls are inserted in the list shape", "- prompts:\n  - step: one\n    recording:\n      tools:\n      - a: {} # a\n",
			func(v *trail.Revision) error { v.InsertCalls(0, "", 1, []trail.Call{press}); return nil },
			"- prompts:\n  - step: one\n    recording:\n      tools:\n      - a: {} # a\n      - press:\n          x: 1\n",
		},
		{
			"calls of a bare list move", "- a: {} # a\n- b: {}\n  optional: true\n",
			func(v *trail.Revision) error { v.MoveCall(0, "", 0, 0, "", 2); return nil }, "- b: {}\n  optional: true\n- a: {} # a\n",
		},
		{
			"another tool", "trail:\n- step: one\n  recording:\n    web:\n    - a: {} # a\n      timeout: 5s # b\n",
			func(v *trail.Revision) error { v.SetCall(0, "web", 0, press); return nil },
			"trail:\n- step: one\n  recording:\n    web:\n    - press:\n        x: 1\n",
		},
		{
			"a trailhead goes", "trailhead: { step: go }\ntrail: []\n", func(v *trail.Revision) error { return v.DeleteStep(0) }, "trail: []\n",
		},
		{
			"a trailhead of the list shape goes", "- trailhead: { step: go }\n- tools: []\n", func(v *trail.Revision) error { return v.DeleteStep(0) }, "- tools: []\n",
		},
		{
			"the only step goes", "trail:\n- step: one\n", func(v *trail.Revision) error { return v.DeleteStep(0) }, "trail: []\n",
		},
		{
			"a recording by a quoted name", "trail:\n- step: one\n  recording:\n    \"web\": [ a: {} ]\n",
			func(v *trail.Revision) error { v.RenameClassifier(0, "web", "web-tv"); return nil },
			"trail:\n- step: one\n  recording:\n    \"web-tv\": [ a: {} ]\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := strings.ReplaceAll(tt.want, `"web-tv"`, "web-tv") // a name needs no quotes
			for style, change := range styles() {
				out, file, err := trail.Revise("f.yaml", change([]byte(tt.in)), tt.change)
				if err != nil {
					t.Errorf("%s: %v", style, err)
					continue
				}
				if diff := gocmp.Diff(string(change([]byte(want))), string(out)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", style, diff)
				}
				if diff := gocmp.Diff(parse(t, "f.yaml", out), file, cmpopts.IgnoreUnexported(trail.File{})); diff != "" {
					t.Errorf("%s: another file (-want +got):\n%s", style, diff)
				}
			}
		})
	}
}

func TestReviseRejectsUnsupportedChanges(t *testing.T) {
	t.Parallel()
	press := trail.Call{Tool: "press", Args: map[string]any{}}
	for in, tt := range map[string]struct {
		change func(*trail.Revision) error
		want   string
	}{
		"trail: [\n": {func(*trail.Revision) error { return nil }, "never closed"},
		"trail:\n- step: one\n  recording: { web: &a [ a: {} ], ios: *a }\n": {
			func(v *trail.Revision) error { v.InsertCalls(0, "web", 0, []trail.Call{press}); return nil }, "use its anchors",
		},
		"trail:\n- step: one\n  recording:\n    ? web\n    : [ a: {} ]\n": {
			func(v *trail.Revision) error { v.RenameClassifier(0, "web", "ios"); return nil }, "cannot be edited",
		},
		"- a: {}\n": {func(v *trail.Revision) error { return v.DeleteStep(0) }, "nothing but calls"},
		"- b: {}\n": {func(v *trail.Revision) error { v.DeleteCall(0, "", 0); return nil }, "nothing but calls"},
		"- c: {}\n": {
			func(v *trail.Revision) error {
				return v.InsertStep(1, trail.Step{Kind: trail.KindStep, Text: "two", Recordable: true})
			}, "nothing but calls",
		},
		"trail:\n- step: one\n": {func(v *trail.Revision) error { v.Reword(0, "step", ""); return nil }, "the text is empty"},
	} {
		out, _, err := trail.Revise("f.yaml", []byte(in), tt.change)
		if err == nil || fault.KindOf(err) != fault.Trail || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v\n%s", in, err, out)
		}
	}
}
