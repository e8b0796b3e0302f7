package web

import (
	"github.com/trailblaze/trailblaze/pkg/device"
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
	return device.Enum(name, description, values...)
}

// arguments are those of a call.
type arguments map[string]any

func (a arguments) text(key string) string { return device.Arguments(a).Text(key) }

func (a arguments) has(key string) bool { return device.Arguments(a).Has(key) }

func (a arguments) flag(key string, absent bool) bool { return device.Arguments(a).Flag(key, absent) }

func (a arguments) number(key string, absent float64) float64 {
	return device.Arguments(a).Number(key, absent)
}

func (a arguments) texts(key string) []string { return device.Arguments(a).Texts(key) }

func (a arguments) word(key string, values ...string) (string, error) {
	return device.Arguments(a).Word(key, values...)
}
