package screen

import (
	"slices"
	"strings"
)

// SelectorSchema returns the JSON Schema of nodeSelector for the input schemas of tools, as an object on one line. It
// describes the driver blocks of the given dialects; blocks of others are objects, which match nothing there. What
// stands in relations is checked by ParseSelector.
func SelectorSchema(dialects ...Dialect) string {
	var members []string
	for _, d := range Dialects() {
		if slices.Contains(dialects, d) {
			members = append(members, blockSchema(d))
			continue
		}
		members = append(members, `"`+string(d)+`": {"type": "object"}`)
	}
	for _, key := range selectorKeys() {
		members = append(members, `"`+key+`": `+relationSchema(key))
	}
	return `{"type": "object", "additionalProperties": false, "description": "The element: one driver block; ` +
		`relations are selectors like this one", "properties": {` + strings.Join(members, ", ") + `}}`
}

func relationSchema(key string) string {
	switch key {
	case "containsDescendants":
		return `{"type": "array", "minItems": 1, "items": {"type": "object"}}`
	case "index":
		return `{"type": "integer", "minimum": 0, "description": "Which of several, from 0"}`
	}
	return `{"type": "object"}`
}

func blockSchema(d Dialect) string {
	var members []string
	for _, p := range propertiesOf(d) {
		members = append(members, `"`+p.name+`": `+p.schema())
	}
	return `"` + string(d) + `": {"type": "object", "additionalProperties": false, "properties": {` +
		strings.Join(members, ", ") + `}}`
}

func (p property) schema() string {
	switch p.kind {
	case flagKey:
		return `{"type": "boolean"}`
	case numberKey:
		if p.name == "nthIndex" {
			return `{"type": "integer", "minimum": 0, "description": "Which of several, from 0"}`
		}
		return `{"type": "integer", "minimum": 0}`
	case patternKey, textKey, memberKey:
	}
	switch p.name {
	case "ariaNameRegex", "textRegex":
		return `{"type": "string", "description": "The whole of it: equal, or matching as a regular expression"}`
	case "dataTestId":
		return `{"type": "string", "description": "Value of data-testid"}`
	case "ariaRole":
		return `{"type": "string", "description": "Role in the accessibility tree"}`
	}
	return `{"type": "string"}`
}
