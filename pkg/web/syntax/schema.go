package syntax

import (
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Properties of input schemas, in JSON.
const (
	refProperty = `"ref": {"type": "string",
		"description": "The element: css=SELECTOR, e12 of the page's snapshot, role \"name\", a role, or its text"}`
	CSSProperty    = `"selector": {"type": "string", "minLength": 1, "description": "A CSS selector"}`
	ScriptProperty = `"script": {"type": "string", "minLength": 1,
		"description": "An expression, or a function that is called"}`
	StrictProperty = `"strict": {"type": "boolean", "description": "Fail when several elements match"}`
	ExactProperty  = `"exact": {"type": "boolean", "default": false,
		"description": "Match the whole text of an element, with case"}`
	TimeoutProperty = `"timeoutMs": {"type": "integer", "minimum": 0, "maximum": 600000,
		"description": "How long to wait"` // without the closing brace, for a default
)

// ElementReference are the arguments that say which element is meant.
func ElementReference() string {
	return refProperty + `, "nodeSelector": ` + screen.SelectorSchema(screen.Web)
}

// MatchesProperties are the arguments of a command for all elements that match.
func MatchesProperties() string {
	return `"selector": ` + screen.SelectorSchema(screen.Web) + `, "ref": {"type": "string",
		"description": "In place of selector: css=SELECTOR, role \"name\", a role, or a text"}`
}

// ElementProperties are the arguments of a command for one element.
func ElementProperties() string {
	return ElementReference() + ", " + StrictProperty + ", " + TimeoutProperty + "}"
}

// Enum is the schema of a word out of a list, in any case. The first is the default.
func Enum(name, description string, values ...string) string {
	return device.Enum(name, description, values...)
}

// Arguments are those of a call.
type Arguments = device.Arguments
