package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Members of input schemas.
const (
	refProperty = `"ref": {"type": "string", "description": "The element: css=SELECTOR, e12 of the page's snapshot, role \"name\", ` +
		`a role, or the text on it"}`
	selectorProperty = `"nodeSelector": {"type": "object", "description": "The element; wins over ref",
		"properties": {"web": {"type": "object", "additionalProperties": false, "properties": {
			"cssSelector": {"type": "string"},
			"dataTestId": {"type": "string", "description": "Value of data-testid"},
			"ariaRole": {"type": "string", "description": "Role in the accessibility tree"},
			"ariaNameRegex": {"type": "string", "description": "Name in the accessibility tree, all of it: equal, or matching as a regular expression"},
			"nthIndex": {"type": "integer", "minimum": 0, "description": "Which of several, from 0"}}}},
		"patternProperties": {"^(android|ios|compose|desktop)": {"description": "Of other platforms; ignored"}}, "additionalProperties": false}`
	elementProperties = refProperty + ", " + selectorProperty
	cssProperty       = `"selector": {"type": "string", "minLength": 1, "description": "A CSS selector"}`
)

// enum is the schema of a word out of a few, which may be written in any case.
func enum(name, description string, values ...string) string {
	return fmt.Sprintf(`"%s": {"type": "string", "pattern": "^(?i:%s)$", "default": %q, "description": "%s: %s; in any case"}`,
		name, strings.Join(values, "|"), values[0], description, strings.Join(values, ", "))
}

// arguments are those of a call. They fit the schema of the command, so a reader of an argument that is absent gets a default and
// nothing else can go wrong, but for words.
type arguments map[string]any

func (a arguments) text(key string) string {
	text, _ := a[key].(string)
	return text
}

func (a arguments) has(key string) bool { return a[key] != nil }

func (a arguments) flag(key string, absent bool) bool {
	if value, ok := a[key].(bool); ok {
		return value
	}
	return absent
}

func (a arguments) number(key string, absent float64) float64 {
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

// texts are those of a list, or the only one that stands in its place.
func (a arguments) texts(key string) []string {
	list, ok := a[key].([]any)
	if !ok && a.has(key) {
		list = []any{a[key]}
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = fmt.Sprint(item)
	}
	return texts
}

// word is one of values, the first when it is absent.
func (a arguments) word(key string, values ...string) (string, error) {
	given := a.text(key)
	if given == "" {
		return values[0], nil
	}
	i := slices.IndexFunc(values, func(value string) bool { return strings.EqualFold(value, given) })
	if i < 0 {
		return "", fault.New(fault.InvalidArguments, fault.DidYouMean(given, values), "%s: %q is none of %s", key, given, strings.Join(values, ", "))
	}
	return values[i], nil
}

// object is an object inside the arguments; nil when it is absent.
func (a arguments) object(key string) arguments {
	value, _ := a[key].(map[string]any)
	return value
}
