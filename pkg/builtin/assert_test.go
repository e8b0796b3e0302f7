package builtin_test

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func TestEquality(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 100)
	for _, tt := range []struct {
		name, a, b string
		equal      bool
	}{
		{"texts", `"a"`, `"a"`, true},
		{"texts differ", `"a"`, `"A"`, false},
		{"texts are not trimmed", `"a"`, `"a "`, false},
		{"texts that spell numbers are texts", `"1.10"`, `"1.1"`, false},
		{"numbers by value", `1`, `1.0`, true},
		{"exponents", `1e2`, `100`, true},
		{"zero has no sign", `-0`, `0`, true},
		{"big numbers exactly", `9007199254740993`, `9007199254740992`, false},
		{"bigger than any machine's", long, long + ".0", true},
		{"fractions exactly", `0.1`, `0.10000000000000001`, false},
		{"text of a number", `"3"`, `3`, true},
		{"text of a number, written otherwise", `"3.0"`, `3`, true},
		{"text of another number", `"4"`, `3`, false},
		{"text that is not quite a number", `"03"`, `3`, false},
		{"text that is not a number", `"three"`, `3`, false},
		{"an exponent that is too large", `"1e999999999"`, `3`, false},
		{"text of a truth value", `"true"`, `true`, true},
		{"text of another truth value", `"false"`, `true`, false},
		{"a truth value is not a number", `1`, `true`, false},
		{"null", `null`, `null`, true},
		{"null is not text", `null`, `"null"`, false},
		{"null is not empty", `null`, `""`, false},
		{"null is not a list", `null`, `[]`, false},
		{"lists", `[1, {"a": 2}]`, `[1.0, {"a": 2.0}]`, true},
		{"lists have an order", `[1, 2]`, `[2, 1]`, false},
		{"lists have a length", `[1]`, `[1, 2]`, false},
		{"objects have none", `{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, true},
		{"another key", `{"a": null}`, `{"b": null}`, false},
		{"a key more", `{"a": 1}`, `{"a": 1, "b": 2}`, false},
		{"inside a value, text is text", `{"a": "3"}`, `{"a": 3}`, false},
		{"a list is not an object", `[]`, `{}`, false},
		{"text is not an object", `"{}"`, `{}`, false},
		{"a number is not a list", `1`, `[1]`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, pair := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
				args := object(t, `{"expected": `+pair[0]+`, "actual": `+pair[1]+`}`)
				same, other := call(t, tool.Call{Tool: "assertEquals", Args: args}),
					call(t, tool.Call{Tool: "assertNotEquals", Args: args})
				if same.OK != tt.equal || other.OK == tt.equal {
					t.Errorf("%v: equal %+v, not equal %+v", pair, same, other)
				}
			}
		})
	}
}

func TestFailureShowsBothValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, tool, args, want string }{
		{"text and number", "assertEquals", `{"expected": 3, "actual": "4"}`, `expected 3, found "4"`},
		{
			"with a message", "assertEquals", `{"expected": {"a": "<"}, "actual": null, "message": "The user"}`,
			`The user: expected {"a":"<"}, found null`,
		},
		{"not equal", "assertNotEquals", `{"expected": 3, "actual": "3"}`, `expected anything but 3, found "3"`},
		{
			"a calculation", "assertMath",
			`{"expression": "1 + 1", "expected": 3, "message": "The total"}`, `The total: "1 + 1" is 2, expected 3`,
		},
		{"a fraction", "assertMath", `{"expression": "1/3", "expected": "1/4"}`, `"1/3" is 1/3, expected 0.25`},
		{
			"no calculation", "assertMath", `{"expression": "1 +", "expected": 3}`,
			`expression "1 +": position 4: expected a number, "(" or "-", found the end`,
		},
		{
			"nothing to expect", "assertMath", `{"expression": "1", "expected": "none", "message": "The total"}`,
			`The total: expected "none": position 1: expected a number, "(" or "-", found "n"`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := call(t, tool.Call{Tool: tt.tool, Args: object(t, tt.args)})
			if got.OK || got.Kind != fault.ToolFailed || got.Text != tt.want {
				t.Errorf("%+v, want %q", got, tt.want)
			}
		})
	}
}

func TestLongValuesAreAbridged(t *testing.T) {
	t.Parallel()
	args := map[string]any{"expected": strings.Repeat("é", 5000), "actual": strings.Repeat("ü", 3000)}
	got := call(t, tool.Call{Tool: "assertEquals", Args: args}).Text
	if n := len([]rune(got)); n > 4100 || !strings.Contains(got, "… (5002 characters)") ||
		!strings.Contains(got, "… (3002 characters)") {
		t.Errorf("%d characters: %s", n, got)
	}
}

func TestCalculationsAreExact(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"0.1 + 0.2":                   "0.3",
		"2 + 3 * 4":                   "14",
		"(2 + 3) * 4":                 "20",
		"10 - 3 - 2":                  "5",
		"100 / 10 / 2":                "5",
		"8 / 3 * 3":                   "8",
		"1 / 3":                       "1/3",
		"-2 * -3":                     "6",
		"5 - -3":                      "8",
		"--1":                         "1",
		"-(1 + 2)":                    "-3",
		"7 % 3":                       "1",
		"-7 % 3":                      "-1",
		"7 % -3":                      "1",
		"5.5 % 2":                     "1.5",
		"2 * 7 % 4":                   "2",
		"\t12.50\n*\r2 ":              "25",
		"5e-7 * 1E+7":                 "5",
		"1.5e3":                       "1500",
		"007":                         "7",
		"99999999999999999999 + 1":    "100000000000000000000",
		"1.000000000000000000001 - 1": "0.000000000000000000001",
		strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100): "1",
		strings.Repeat("(1)+", 1000) + "1":                        "1001",
	} {
		got := call(t, tool.Call{Tool: "assertMath", Args: map[string]any{"expression": expression, "expected": want}})
		if !got.OK || got.Text != want {
			t.Errorf("%q: %+v, want %s", expression, got, want)
		}
	}
	for _, args := range []string{`{"expression": 3, "expected": "1 + 2"}`, `{"expression": "30 / 10", "expected": 3e0}`} {
		if got := call(t, tool.Call{Tool: "assertMath", Args: object(t, args)}); !got.OK {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestMessagesOfInvalidExpressions(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"":                        `position 1: expected a number, "(" or "-", found the end`,
		"  ":                      `position 3: expected a number, "(" or "-", found the end`,
		"1 + * 2":                 `position 5: expected a number, "(" or "-", found "*"`,
		"1 2":                     `position 3: expected an operator, found "2"`,
		"1)":                      `position 2: expected an operator, found ")"`,
		"(1 + 2":                  `position 7: expected an operator or ")", found the end`,
		"(1 2)":                   `position 4: expected an operator or ")", found "2"`,
		"()":                      `position 2: expected a number, "(" or "-", found ")"`,
		"1.":                      `position 3: expected a digit, found the end`,
		"1.2.3":                   `position 4: expected an operator, found "."`,
		".5":                      `position 1: expected a number, "(" or "-", found "."`,
		"1e":                      `position 3: expected a digit, found the end`,
		"1e-x":                    `position 4: expected a digit, found "x"`,
		"1e0001":                  `position 3: an exponent can have at most 3 digits`,
		"+1":                      `position 1: expected a number, "(" or "-", found "+"`,
		"2 × 3":                   `position 3: expected an operator, found "×"`,
		"1,5":                     `position 2: expected an operator, found ","`,
		"1\x00 + 1":               `position 2: expected an operator, found "\x00"`,
		"１":                       `position 1: expected a number, "(" or "-", found "１"`,
		"1 / 0":                   `position 3: division by zero`,
		"1 % (2 - 2)":             `position 3: division by zero`,
		strings.Repeat("(", 101):  `position 101: more than 100 levels of parentheses and minus signs`,
		strings.Repeat("-", 4000): `position 101: more than 100 levels of parentheses and minus signs`,
		strings.Repeat("1", 4097): `an expression can have at most 4096 characters, this one has 4097`,
	} {
		got := call(t, tool.Call{Tool: "assertMath", Args: map[string]any{"expression": expression, "expected": 0}})
		if got.OK || got.Kind != fault.ToolFailed || !strings.HasSuffix(got.Text, ": "+want) {
			t.Errorf("%q: %+v, want %q", expression, got, want)
		}
	}
}

// Exact arithmetic grows numbers; the limit of an expression's length bounds the time.
func TestLongestCalculationsEnd(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"9*", "7/", "1/7+", "99999999999999999/", "9999/8888%", "1/9%"} {
		expression := strings.Repeat(term, 4000/len(term)) + "1"
		call(t, tool.Call{Tool: "assertMath", Args: map[string]any{"expression": expression, "expected": expression}})
	}
}
