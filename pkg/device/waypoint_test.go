package device

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestReadWaypoint(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	rules := func(list ...any) []any { return list }
	for name, c := range map[string]struct {
		args                Arguments
		refused             string
		required, forbidden bool
	}{
		"nothing":        {Arguments{"id": "shop"}, "no rule", false, false},
		"empty lists":    {Arguments{"required": rules(), "forbidden": rules()}, "no rule", false, false},
		"cannot fail":    {Arguments{"required": rules(m{"selector": m{}, "minCount": 0})}, "every screen fulfils them", false, false},
		"one can fail":   {Arguments{"required": rules(m{"minCount": 0}, m{"minCount": 2})}, "", true, false},
		"forbidden":      {Arguments{"required": rules(m{"minCount": 0}), "forbidden": rules(m{})}, "", false, true},
		"both":           {Arguments{"required": rules(m{}), "forbidden": rules(m{})}, "", true, true},
		"several may be": {Arguments{"forbidden": rules(m{"maxCount": 3})}, "", false, true},
		"none of several": {
			Arguments{"forbidden": rules(m{"selector": m{"web": m{"ariaRole": "alert", "nthIndex": 0}}, "maxCount": 2})},
			"forbidden[0].selector has an index, so it finds one element at most, and the rule counts 2", false, true,
		},
		"several at one place": {
			Arguments{"required": rules(m{"selector": m{"web": m{"ariaRole": "row"}, "index": 1}, "minCount": 2})}, "has an index", true, false,
		},
		"at a place":       {Arguments{"forbidden": rules(m{"selector": m{"web": m{"ariaRole": "row"}, "index": 1}})}, "", false, true},
		"number from JSON": {Arguments{"required": rules(m{"minCount": 0.0})}, "every screen fulfils them", false, false},
	} {
		w, err := ReadWaypoint(c.args)
		if known := fault.As(err); (c.refused != "") != (known != nil) || known != nil && !strings.Contains(known.Message, c.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if w.HasRequired() != c.required || w.HasForbidden() != c.forbidden {
			t.Errorf("%s: required %t, forbidden %t", name, w.HasRequired(), w.HasForbidden())
		}
	}
}

func TestBrokenRulesOfAWaypoint(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	w, err := ReadWaypoint(Arguments{
		"id":        "shop",
		"required":  []any{m{"description": "title"}, m{"minCount": 2}},
		"forbidden": []any{m{}, m{"maxCount": 0}, m{"maxCount": 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"h1", "li", "alert", "dialog", "option"}
	for want, counts := range map[string][]int{
		"": {1, 2, 0, 0, 2},
		`the screen is not "shop": required "title": found 0, expected at least 1; required li: found 1, expected at least 2; ` +
			`forbidden alert: found 1, expected none; forbidden dialog: found 1, expected none; forbidden option: found 3, expected fewer than 3`: {0, 1, 1, 1, 3},
	} {
		if got := w.Broken(words, counts); got != want {
			t.Errorf("%v: got %q, want %q", counts, got, want)
		}
	}
	if w.ID = ""; !strings.HasPrefix(w.Broken(words, make([]int, 5)), "the screen is not the expected one: ") {
		t.Error("without an id")
	}
}
