package trail_test

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestRunTrailUsesATrail(t *testing.T) {
	t.Parallel()
	const declares = "config: { title: A, args: { user: {} } }\n" + someStep
	file, problems := load(t, map[string]string{
		"trails/main.trail.yaml": "trail:\n  - step: s\n    recording:\n      web: [ { runTrail: { path: parts/a.yaml, args: { user: x } } } ]\n" +
			"      ios: [ { a: {} } ]\n",
		"trails/parts/a.yaml": declares,
	})
	if problems != "" {
		t.Fatal(problems)
	}
	step := &file.Steps[0]
	if u := step.UseFor([]string{"web"}); u == nil || u.File.Title() != "A" || len(step.Uses()) != 1 || step.UseFor([]string{"ios"}) != nil {
		t.Errorf("%+v", step)
	}
}

func TestRunTrailIsChecked(t *testing.T) {
	t.Parallel()
	call := func(call string) map[string]string {
		return map[string]string{
			"trails/main.trail.yaml": "- " + call + "\n", "trails/a.yaml": "config: { args: { user: { type: integer } } }\n" + someStep,
			"trails/loop.yaml": "- tools: [ { runTrail: { path: main.trail.yaml } } ]\n",
		}
	}
	for in, want := range map[string]string{
		"runTrail: {}":                                  "1:13: runTrail names no trail; write runTrail: { path: parts/log-in.yaml }",
		"runTrail: { path: nobody.yaml }":               `1:3: trail "nobody.yaml" does not exist`,
		`runTrail: { path: "{{x}}.yaml" }`:              "1:21: the path of the trail has a token; write the path itself",
		"runTrail: { path: a.yaml, arg: {} }":           `1:29: unknown key "arg"; did you mean "args"?`,
		"runTrail: { path: a.yaml }":                    "1:3: argument user (integer) of trails/a.yaml is missing; write args: { user: … } below runTrail:",
		"runTrail: { path: a.yaml, args: { user: x } }": "1:37: argument user of trails/a.yaml is text, expected a whole number",
		"runTrail: { path: loop.yaml }":                 "the trail uses itself: trails/main.trail.yaml uses trails/loop.yaml uses trails/main.trail.yaml",
		"runTrail: { path: a.yaml, args: { user: 1 } }\n- tap: {}": "1:1: runTrail in line 1 is not the only call of its step; " +
			"give it a step of its own, or write it as a step: use: a.yaml",
		"runTrail: { path: a.yaml, args: { user: 1 } }\n  optional: true": "1:3: runTrail cannot have saveAs, timeout, optional or soft; remove it",
	} {
		if _, problems := load(t, call(in)); !strings.Contains(problems, want) {
			t.Errorf("%s:\n%s\nwant\n%s", in, problems, want)
		}
	}
}

func TestMovedStepMovesTheTrailsThatItUses(t *testing.T) {
	t.Parallel()
	const uses = "args: { user: x } "
	file, problems := trail.Parse("a", []byte("trail:\n  - use: a.yaml\n    "+uses+"\n"+
		"  - step: s\n    recording:\n      web: [ { runTrail: { path: a.yaml, "+uses+"} } ]\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i, want := range [][2]int{{2, 3}, {6, 6}} {
		moved := file.Steps[i].Moved(10)
		before, after := file.Steps[i].Uses()[0], moved.Uses()[0]
		if before.Line != want[0] || after.Line != want[0]+10 {
			t.Errorf("line %d, moved %d", before.Line, after.Line)
		}
		was, _ := before.Positions.At([]string{"user"})
		is, _ := after.Positions.At([]string{"user"})
		if was != want[1] || is != want[1]+10 {
			t.Errorf("line of an argument %d, moved %d", was, is)
		}
	}
}
