package device

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Enum is the member of an input schema for a word out of a list, in any case. The first is the default.
func Enum(name, description string, values ...string) string {
	const schema = `"%s": {"type": "string", "pattern": "^(?i:%s)$", "default": %q, "description": "%s: %s; in any case"}`
	return fmt.Sprintf(schema,
		name, strings.Join(values, "|"), values[0], description, strings.Join(values, ", "))
}

// Arguments are those of a call. They have been validated with the schema of the command, so that reading one returns
// its value or a default.
type Arguments map[string]any

// Text returns a text, "" when it is absent.
func (a Arguments) Text(key string) string {
	text, _ := a[key].(string)
	return text
}

// Has reports whether an argument is given.
func (a Arguments) Has(key string) bool { return a[key] != nil }

// Flag returns true or false.
func (a Arguments) Flag(key string, absent bool) bool {
	if value, ok := a[key].(bool); ok {
		return value
	}
	return absent
}

// Number returns a number.
func (a Arguments) Number(key string, absent float64) float64 {
	switch value := a[key].(type) {
	case float64:
		return value
	case int:
		return float64(value)
	case int64:
		return float64(value)
	case json.Number:
		if number, err := value.Float64(); err == nil {
			return number
		}
	}
	return absent
}

// Texts returns the items of a list, or the single text that was given instead.
func (a Arguments) Texts(key string) []string {
	list, ok := a[key].([]any)
	if !ok && a.Has(key) {
		list = []any{a[key]}
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = fmt.Sprint(item)
	}
	return texts
}

// Word returns one of values, the first when the argument is absent.
func (a Arguments) Word(key string, values ...string) (string, error) {
	given := a.Text(key)
	if given == "" {
		return values[0], nil
	}
	i := slices.IndexFunc(values, func(value string) bool { return strings.EqualFold(value, given) })
	if i < 0 {
		return "", fault.New(fault.InvalidArguments, fault.DidYouMean(given, values), "%s: %q is not one of %s", key,
			given, strings.Join(values, ", "))
	}
	return values[i], nil
}

// InWords says which of some arguments a call has, for messages, such as: with fileName "a.csv". It is empty for none,
// and begins with a space otherwise.
func (a Arguments) InWords(keys ...string) string {
	var words []string
	for _, key := range keys {
		if a.Has(key) {
			words = append(words, fmt.Sprintf("%s %q", key, fmt.Sprint(a[key])))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " with " + strings.Join(words, " and ")
}
