package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Properties of input schemas.
const (
	refProperty = `"ref": {"type": "string",
		"description": "The element: css=SELECTOR, e12 of the page's snapshot, role \"name\", a role, or its text"}`
	cssProperty    = `"selector": {"type": "string", "minLength": 1, "description": "A CSS selector"}`
	scriptProperty = `"script": {"type": "string", "minLength": 1,
		"description": "An expression, or a function that is called"}`
	strictProperty = `"strict": {"type": "boolean", "description": "Fail when several elements match"}`
	exactProperty  = `"exact": {"type": "boolean", "default": false,
		"description": "Match the whole text of an element, with case"}`
	timeoutProperty = `"timeoutMs": {"type": "integer", "minimum": 0, "maximum": 600000,
		"description": "How long to wait"` // without the closing brace, for a default
)

// elementReference are the arguments that say which element is meant.
func elementReference() string {
	return refProperty + `, "nodeSelector": ` + screen.SelectorSchema(screen.Web)
}

// elementProperties are the arguments of a command for one element.
func elementProperties() string {
	return elementReference() + ", " + strictProperty + ", " + timeoutProperty + "}"
}

// enum is the schema of a word out of a list, in any case. The first is the default.
func enum(name, description string, values ...string) string {
	const schema = `"%s": {"type": "string", "pattern": "^(?i:%s)$", "default": %q, "description": "%s: %s; in any case"}`
	return fmt.Sprintf(schema,
		name, strings.Join(values, "|"), values[0], description, strings.Join(values, ", "))
}

// arguments are those of a call. They have been validated with the schema of the command, so that reading one returns
// its value or a default.
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

// texts returns the items of a list, or the single text that was given instead.
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

// word returns one of values, the first when the argument is absent.
func (a arguments) word(key string, values ...string) (string, error) {
	given := a.text(key)
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
