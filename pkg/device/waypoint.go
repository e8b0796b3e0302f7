package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// AssertWaypoint is the name of the command that checks by rules which screen is shown.
const AssertWaypoint = "assertWaypoint"

// WaypointDescription describes the command in tool listings.
const WaypointDescription = "Fails unless the screen is the one that the rules describe: at one moment, each required selector finds " +
	"enough elements, and each forbidden one too few, visible or not."

// WaypointProperties are the properties of its input schema, without the time limit.
const WaypointProperties = `"id": {"type": "string", "minLength": 1, "description": "What the screen is called, for people"},
	"required": {"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["selector"], "properties": {` +
	ruleProperties + `, "minCount": {"type": "integer", "minimum": 0, "default": 1, "description": "At least so many elements match"}}}},
	"forbidden": {"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["selector"], "properties": {` +
	ruleProperties + `, "maxCount": {"type": "integer", "minimum": 0, "default": 1, "description": "Fewer than so many elements match"}}}}`

const ruleProperties = `"selector": {"type": "object", "description": "Elements, written like nodeSelector"},
	"description": {"type": "string", "description": "What the rule is about, for people"}`

// Waypoint is a screen as the arguments of [AssertWaypoint] describe it.
type Waypoint struct {
	ID    string
	Rules []Rule // at least one that can fail
}

// Rule says how many elements a selector finds on a screen.
type Rule struct {
	Path        string // of the selector in the arguments
	Selector    any    // as it is written
	Description string // may be empty
	Forbidden   bool
	Count       int // at least so many elements, or fewer if it is forbidden
}

// ReadWaypoint reads the arguments of [AssertWaypoint]. The selectors are not read.
func ReadWaypoint(a Arguments) (Waypoint, error) {
	w := Waypoint{ID: a.Text("id")}
	for i, rule := range objects(a["required"]) {
		w.Rules = append(w.Rules, newRule(fmt.Sprintf("required[%d]", i), rule, int(rule.Number("minCount", 1))))
	}
	for i, rule := range objects(a["forbidden"]) {
		r := newRule(fmt.Sprintf("forbidden[%d]", i), rule, max(1, int(rule.Number("maxCount", 1)))) // 0 is meant as none, too
		r.Forbidden = true
		w.Rules = append(w.Rules, r)
	}
	for _, r := range w.Rules {
		if r.Count > 1 && isIndexed(r.Selector) {
			return w, fault.New(fault.InvalidArguments, "leave out the index, or the count",
				"%s has an index, so it finds one element at most, and the rule counts %d", r.Path, r.Count)
		}
	}
	switch {
	case len(w.Rules) == 0:
		return w, fault.New(fault.InvalidArguments, "give required, forbidden or both", "no rule says what the screen has")
	case !w.HasForbidden() && !w.HasRequired():
		return w, fault.New(fault.InvalidArguments, "leave out minCount, or raise it",
			"minCount is 0 in every rule, so every screen fulfils them")
	}
	return w, nil
}

func newRule(path string, rule Arguments, count int) Rule {
	return Rule{Path: path + ".selector", Selector: rule["selector"], Description: rule.Text("description"), Count: count}
}

// isIndexed reports whether a selector takes one of several elements. One that cannot be read does not.
func isIndexed(selector any) bool {
	s, err := screen.ParseSelector(selector, screen.ParseOptions{})
	return err == nil && s.IsIndexed()
}

func objects(list any) (out []Arguments) {
	items, _ := list.([]any)
	for _, item := range items {
		object, _ := item.(map[string]any)
		out = append(out, object)
	}
	return out
}

// HasRequired reports whether a rule fails when nothing is on the screen.
func (w Waypoint) HasRequired() bool {
	return slices.ContainsFunc(w.Rules, func(r Rule) bool { return !r.Forbidden && r.Count > 0 })
}

// HasForbidden reports whether a rule fails because of what is on the screen.
func (w Waypoint) HasForbidden() bool {
	return slices.ContainsFunc(w.Rules, func(r Rule) bool { return r.Forbidden })
}

// String names the screen.
func (w Waypoint) String() string {
	if w.ID == "" {
		return "the expected one"
	}
	return fmt.Sprintf("%q", w.ID)
}

// Broken says which rules do not hold on a screen on which they find so many elements, each by its words; "" if all hold.
func (w Waypoint) Broken(words []string, counts []int) string {
	var broken []string
	for i, r := range w.Rules {
		if r.Holds(counts[i]) {
			continue
		}
		broken = append(broken, fmt.Sprintf("%s: found %d, expected %s", r.name(words[i]), counts[i], r.expected()))
	}
	if len(broken) == 0 {
		return ""
	}
	return fmt.Sprintf("the screen is not %s: %s", w, strings.Join(broken, "; "))
}

// Holds reports whether the selector may find n elements.
func (r Rule) Holds(n int) bool { return (n >= r.Count) != r.Forbidden }

func (r Rule) name(words string) string {
	if r.Description != "" {
		words = fmt.Sprintf("%q", r.Description)
	}
	return map[bool]string{true: "forbidden ", false: "required "}[r.Forbidden] + words
}

func (r Rule) expected() string {
	switch {
	case !r.Forbidden:
		return fmt.Sprintf("at least %d", r.Count)
	case r.Count == 1:
		return "none"
	}
	return fmt.Sprintf("fewer than %d", r.Count)
}
