package trail_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestResolveArgsUsesFlagsThenRowThenDefaults(t *testing.T) {
	t.Parallel()
	decl := map[string]trail.Arg{
		"s": {Type: "string"}, "i": {Type: "integer", Default: int64(3), HasDefault: true}, "n": {Type: "number"},
		"b": {Type: "boolean"}, "a": {Type: "array"}, "o": {Type: "object"}, "r": {Type: "integer"},
	}
	got, err := trail.ResolveArgs(decl,
		map[string]string{"s": "0123", "n": "1.5", "b": "true", "a": `["x", 1]`, "o": `{"x": {"y": 1}}`},
		map[string]any{"s": "row", "r": int64(9)}, fault.Wording{})
	if err != nil {
		t.Fatal(err)
	}
	n := got["n"]
	delete(got, "n")
	want := map[string]any{
		"s": "0123", "i": int64(3), "b": true, "a": []any{"x", int64(1)},
		"o": map[string]any{"x": map[string]any{"y": int64(1)}}, "r": int64(9),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if out, err := trail.Interpolate(map[string]any{"x": "{{args.n}}!"},
		trail.NewValues(trail.Sources{Args: map[string]any{"n": n}})); err != nil || out["x"] != "1.5!" {
		t.Errorf("the number is %v, %v", out, err)
	}
}

func TestResolveArgsReportsEveryMistake(t *testing.T) {
	t.Parallel()
	decl := map[string]trail.Arg{
		"count": {Type: "integer"}, "ratio": {Type: "number"}, "dry": {Type: "boolean"}, "list": {Type: "array"},
		"user":    {Type: "object"},
		"missing": {Type: "string"}, "row": {Type: "integer"},
	}
	_, err := trail.ResolveArgs(decl,
		map[string]string{"cuont": "1", "count": "1.0", "ratio": "1,5", "dry": "yes", "list": "a,b", "user": "[]"},
		map[string]any{"row": "three", "extra": 1}, fault.Wording{})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("error %v", err)
	}
	var got []string
	for _, e := range joined.Unwrap() {
		f := fault.As(e)
		if f.Kind != fault.Misuse {
			t.Errorf("kind %q of %v", f.Kind, f)
		}
		got = append(got, f.Message+" | "+f.Hint)
	}
	want := []string{
		`unknown argument "extra" | known: count, dry, list, missing, ratio, row, user`,
		`unknown argument "cuont" | did you mean "count"?`,
		`argument count is not a whole number: "1.0" | write digits, such as 3`,
		`argument dry is not a boolean: "yes" | write true or false`,
		`argument list is not a list: "a,b" | write a JSON list, such as ["a","b"]`,
		`argument missing (string) is missing | pass --arg missing=…`,
		`argument ratio is not a number: "1,5" | write digits, such as 3 or 0.5`,
		`argument row is text, expected a whole number | `,
		`argument user is not an object: "[]" | write a JSON object, such as {"a":1}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestResolveArgsOfATrailWithoutArguments(t *testing.T) {
	t.Parallel()
	if got, err := trail.ResolveArgs(nil, nil, nil, fault.Wording{}); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	_, err := trail.ResolveArgs(nil, map[string]string{"x": "1"}, nil, fault.Wording{})
	if f := fault.As(err); f == nil || f.Hint != "the trail declares no arguments; declare them under config: args:" {
		t.Errorf("error %+v", f)
	}
}

func TestParseArgsReadsOneRowOrSeveral(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]map[string]any{
		"user: Ann\ncount: 3\n":              {{"user": "Ann", "count": int64(3)}},
		"- user: Ann\n- { user: Bob }\n":     {{"user": "Ann"}, {"user": "Bob"}},
		`[{"user": "Ann"}, {"count": 1.5}]`:  {{"user": "Ann"}, {"count": 1.5}},
		"# nothing is given in this row\n{}": {{}},
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			got, problems := trail.ParseArgs("args.yaml", []byte(src))
			if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
				t.Errorf("rows (-want +got):\n%s%v", diff, problems)
			}
		})
	}
}

func TestParseArgsReportsPositions(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"":                   "args.yaml: the file is empty",
		"text":               `args.yaml:1:1: expected a mapping, found text ("text")`,
		"- a: 1\n- 2\n":      "args.yaml:2:3: expected a mapping, found a number (2)",
		"zip: 0123\n":        "args.yaml:1:6: 0123 is ambiguous: some YAML readers take it for a number, others for text",
		"user: {{name}}\n":   "args.yaml:1:7: a value that starts with {{ is a mapping to YAML",
		"a: 1\nb: 2\na: 3ms": `args.yaml:3:1: "a" is defined twice; first in line 1, column 1`,
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			rows, problems := trail.ParseArgs("args.yaml", []byte(src))
			if rows != nil || problems.Error() != want || fault.ExitCode(problems) != fault.ExitMisuse {
				t.Errorf("rows %v, problems %q, want %q", rows, problems.Error(), want)
			}
		})
	}
}
