package trail_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestCheckReplay(t *testing.T) {
	t.Parallel()
	tools := trail.Tools{
		FromServer: func(name string) bool { return strings.HasPrefix(name, "server") },
		CheckCall: func(platform scope.Platform, call trail.Call) []fault.Problem {
			if wrong, ok := call.Args["wrong"]; ok {
				return []fault.Problem{{Line: call.Line, Column: 1, Message: fmt.Sprintf("%s %v", platform, wrong), Hint: "-"}}
			}
			return nil
		},
	}
	for _, tt := range []struct {
		name, src string
		want      []string // line:column: message
	}{
		{"no steps", "trail: []\n", []string{"1:8: the trail has no steps"}},
		{"no trail", "config: { id: a }\n", []string{"0:0: the trail has no steps"}},
		{"an empty list", "[]\n", []string{"0:0: the trail has no steps"}},
		{"only a trailhead", "trailhead: { step: go, recording: { web: [] } }\n", nil},
		{"no-ops", "trail: [{ step: a, recording: { web: [] } }]\n", nil},
		{
			"an undefined value", "trail:\n- step: a\n  recording:\n    web:\n    - tap:\n" +
				"        at: [{ text: \"{{emial}}\" }]\n",
			[]string{"6:16: tap: unknown value {{emial}} in at.0.text"},
		},
		{
			"all sources", `
config: { memory: { user: Ann, order: { id: 1 } }, args: { count: { type: object } } }
trail:
- step: a
  recording:
    web:
    - tap: { a: "{{user}} {{order.id}} {{args.count.x}} {{given}} {{given.x}} ${whatever}" }
      saveAs: tapped
    - tap: { a: "{{tapped.id}}" }
    - rememberValue: { name: kept, value: "{{user}}" }
    - tap: { a: "{{kept.x}}" }
    - rememberNumber: { variable: total, ref: e1 }
    - tap: { a: "{{total}}" }
`, nil,
		},
		{
			"fields of known values", `
config: { memory: { user: Ann, order: { id: 1 } } }
trail:
- step: a
  recording:
    web:
    - tap: { a: "{{user.name}}", b: "{{order.no}}" }
    - tap: {}
      saveAs: order
    - tap: { b: "{{order.no}}" }
`, []string{
				"7:14: tap: {{user.name}}: user is text and has no field \"name\" in a",
				"7:34: tap: {{order.no}}: order has no field \"no\" in b",
			},
		},
		{
			"saved too late", "trail:\n- step: a\n  recording:\n    web:\n    - tap: { a: \"{{x}}\" }\n      saveAs: x\n" +
				"    - tap: { a: \"{{x}}\" }\n",
			[]string{"5:14: tap: unknown value {{x}} in a"},
		},
		{
			"a server may define any name", `
trail:
- step: a
  recording:
    web:
    - tap: { a: "{{x}}" }
    - serverTool: { a: "{{x}}" }
    - tap: { a: "{{y}}" }
`, []string{"6:14: tap: unknown value {{x}} in a", "7:21: serverTool: unknown value {{x}} in a"},
		},
		{
			"a name that is computed", "trail:\n- step: a\n  recording:\n    web:\n" +
				"    - rememberValue: { name: \"n{{given}}\", value: 1 }\n    - tap: { a: \"{{n1}}\" }\n", nil,
		},
		{
			"an agent may define any name", "trail:\n- step: a\n  recordable: false\n- step: b\n" +
				"  recording: { web: [{ tap: { a: \"{{x}}\" } }] }\n", nil,
		},
		{
			"each device on its own", `
config: { skip: { ios: later } }
trail:
- step: a
  recording:
    android: [{ tap: {}, saveAs: x }]
    android-phone: []
    ios: []
- step: b
  recording:
    android: [{ tap: { a: "{{x}}" } }]
    ios: [{ tap: { a: "{{z}}" } }]
`, []string{"11:24: tap: unknown value {{x}} in a"},
		},
		{
			"shared calls once", `
trail:
- step: a
  recording: { android: &a [{ tap: { a: "{{x}}" } }], ios: *a }
`, []string{"4:38: tap: unknown value {{x}} in a"},
		},
		{
			"arguments, by platform", `
trail:
- step: a
  recording:
    android-phone:
    - tap: { wrong: x, a: "{{y}}" }
    android-tablet:
    - tap: { wrong: x }
    web: &a
    - tap: { wrong: z }
    ios: *a
`, []string{
				"6:1: ANDROID x", "6:24: tap: unknown value {{y}} in a", "8:1: ANDROID x", "10:1: WEB z", "10:1: IOS z",
			},
		},
		{"arguments in the list shape", "- tools:\n  - tap: { wrong: x }\n", []string{"2:1:  x"}},
		{"the list shape", "- tools:\n  - tap: { a: \"{{x}}\" }\n", []string{"2:12: tap: unknown value {{x}} in a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range parse(t, "f.yaml", []byte(tt.src)).CheckReplay([]string{"given"}, tools) {
				if p.File != "f.yaml" || p.Hint == "" {
					t.Errorf("file %q, hint %q", p.File, p.Hint)
				}
				got = append(got, fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecordedPlatforms(t *testing.T) {
	t.Parallel()
	const src = "trailhead: { step: go, recording: { web: [] } }\n" +
		"trail:\n- step: a\n  recording: { web-phone: [], tv: [], ios: [] }\n- step: b\n"
	got := parse(t, "f.yaml", []byte(src)).RecordedPlatforms()
	if diff := cmp.Diff([]scope.Platform{scope.Web, scope.IOS}, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}
