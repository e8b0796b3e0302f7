package mobile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Extra is an argument of an Android app, as `am` takes it: --es NAME VALUE.
type Extra struct {
	Type        string // s for text, z for true and false, i and l for whole numbers, f for others
	Name, Value string
}

// Extras returns arguments for an Android app, in the order of their names.
func Extras(arguments map[string]any) ([]Extra, error) {
	var list []Extra
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		e := Extra{Name: name}
		switch value := arguments[name].(type) {
		case string:
			e.Type, e.Value = "s", value
		case bool:
			e.Type, e.Value = "z", strconv.FormatBool(value)
		case int, int64, json.Number:
			e.Type, e.Value = numberExtra(fmt.Sprint(value))
		case float64:
			e.Type, e.Value = numberExtra(strconv.FormatFloat(value, 'f', -1, 64))
		default:
			return nil, invalid("use text, a number, true or false", "%s is %T, which Android does not accept as an argument of an app",
				name, value)
		}
		list = append(list, e)
	}
	return list, nil
}

// numberExtra returns the type of a number, and the number.
func numberExtra(text string) (kind, value string) {
	if _, err := strconv.ParseInt(text, 10, 32); err == nil {
		return "i", text
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return "l", text
	}
	return "f", text
}

// ExtraWords returns extras as arguments of `am`.
func ExtraWords(extras []Extra) []string {
	var words []string
	for _, e := range extras {
		words = append(words, "--e"+e.Type, e.Name, e.Value)
	}
	return words
}
