package builtin

import (
	"context"
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func assertEquals(_ context.Context, _ tool.Call, args map[string]any) (tool.Result, error) {
	expected, actual := args["expected"], args["actual"]
	if equal(expected, actual) {
		return tool.Result{OK: true, Text: "equal, as expected"}, nil
	}
	return unmet(args, "expected "+show(expected)+", found "+show(actual)), nil
}

func assertNotEquals(_ context.Context, _ tool.Call, args map[string]any) (tool.Result, error) {
	expected, actual := args["expected"], args["actual"]
	if !equal(expected, actual) {
		return tool.Result{OK: true, Text: "different, as expected"}, nil
	}
	return unmet(args, "expected anything but "+show(expected)+", found "+show(actual)), nil
}

func assertMath(_ context.Context, _ tool.Call, args map[string]any) (tool.Result, error) {
	actual, problem := calculate("expression", args)
	if problem != "" {
		return unmet(args, problem), nil
	}
	expected, problem := calculate("expected", args)
	if problem != "" {
		return unmet(args, problem), nil
	}
	if actual.Cmp(expected) == 0 {
		return tool.Result{OK: true, Text: showNumber(actual)}, nil
	}
	return unmet(args, show(args["expression"])+" is "+showNumber(actual)+", expected "+showNumber(expected)), nil
}

// calculate returns the value of an argument that is a number or an expression, or a problem with it.
func calculate(name string, args map[string]any) (*big.Rat, string) {
	if n, ok := args[name].(json.Number); ok {
		if value, ok := number(n.String()); ok {
			return value, ""
		}
	}
	text, _ := args[name].(string)
	value, err := evaluate(text)
	if err != nil {
		return nil, name + " " + show(args[name]) + ": " + err.Error()
	}
	return value, ""
}

// unmet returns the result of an assertion that does not hold.
func unmet(args map[string]any, what string) tool.Result {
	if message, _ := args["message"].(string); message != "" {
		what = message + ": " + what
	}
	return failure(fault.ToolFailed, "%s", what)
}

// equal compares JSON values. Text equals a number or boolean that is written like it, because tools set memory as
// text. Two texts are compared as text: version 1.10 is not version 1.1.
func equal(a, b any) bool {
	_, textA := a.(string)
	_, textB := b.(string)
	if textA == textB {
		return same(a, b)
	}
	spelledA, okA := spelling(a)
	spelledB, okB := spelling(b)
	return okA && okB && (spelledA == spelledB || sameNumber(spelledA, spelledB))
}

// spelling returns text, a number or a boolean as text.
func spelling(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// same compares JSON values strictly, numbers by value.
func same(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || sameNumber(a.String(), b.String()))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key := range a {
			if other, has := b[key]; !has || !same(a[key], other) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any: // not comparable
		return false
	}
	return a == b
}

func sameNumber(a, b string) bool {
	x, okX := number(a)
	y, okY := number(b)
	return okX && okY && x.Cmp(y) == 0
}

// numberForm matches JSON numbers whose exponent has at most three digits.
var numberForm = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

func number(text string) (*big.Rat, bool) {
	if !numberForm().MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// show returns a value as JSON, abridged.
func show(value any) string {
	text, err := encode(value)
	if err != nil {
		return "a value that is not JSON"
	}
	return abridge(text)
}

// showNumber returns a number in decimals if they are finite, else as a fraction.
func showNumber(r *big.Rat) string {
	if digits, ends := r.FloatPrec(); ends {
		return abridge(r.FloatString(digits))
	}
	return abridge(r.String())
}

// abridge shortens a value for a report.
func abridge(s string) string {
	const limit = 2000
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "… (" + strconv.Itoa(len(r)) + " characters)"
	}
	return s
}
