package mobile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// target describes the element that a call is for: ref or selector.
type target struct {
	words    act.Selector
	selector *screen.Selector
	ref      string // e12
	unique   bool   // exactly one element must match
	cells    bool   // rows and columns are needed to find it
	focus    bool   // the focus is needed to find it
	enabled  *bool  // what the element must be; nil for any
}

// elements reads the arguments that say which element is meant.
type elements struct {
	platform Platform
	app      screen.Target
}

// elements returns the reader for calls of the session.
func (d *phone) elements() elements {
	return elements{d.options.Platform, screen.Target{AppID: d.session.AppID, AppIDs: d.session.AppIDs}}
}

// targetCheck returns the check of arguments that read reads.
func (p Platform) targetCheck(read func(e elements, a device.Arguments) (target, error)) func(device.Arguments) error {
	return func(a device.Arguments) error {
		_, err := read(elements{platform: p}, a)
		return err
	}
}

func bySelector(s *screen.Selector) target {
	return target{
		selector: s, words: act.Selector{Text: s.String()},
		cells: s.Names(screen.CellKeys()...), focus: s.Names("focused"),
	}
}

// withIndex returns the target with an index, or unchanged if the index is 0, as for the first of several.
func (t target) withIndex(index int) target {
	if index > 0 {
		t.words.Indexed, t.words.Index, t.words.IndexName = true, index, "index"
	}
	return t
}

// recordedTarget reads nodeSelector, the older selector, and ref.
func (e elements) recordedTarget(a device.Arguments) (target, error) {
	switch {
	case a.Has("nodeSelector"):
		return e.node("nodeSelector", a["nodeSelector"])
	case a.Has("selector"):
		return e.legacy(a["selector"])
	case strings.TrimSpace(a.Text("ref")) != "":
		return e.reference(a)
	}
	return target{}, errNoElement("give nodeSelector")
}

// targetOf reads the arguments that recordedTarget reads, and text, id and index.
func (e elements) targetOf(a device.Arguments) (target, error) {
	if a.Has("nodeSelector") || a.Has("ref") {
		return e.recordedTarget(a)
	}
	return e.core(a)
}

// node reads an argument that is a selector.
func (e elements) node(key string, value any) (target, error) {
	s, err := screen.ParseSelector(value, screen.ParseOptions{Path: key, Target: e.app})
	if err != nil {
		return target{}, err
	}
	if s.Empty() {
		return target{}, errNoElement(fmt.Sprintf("give %s.%s", key, e.platform.dialects()[0]))
	}
	return bySelector(s), nil
}

// legacy reads the form of selectors that recordings before May 2026 have.
func (e elements) legacy(value any) (target, error) {
	s, _, err := screen.ParseLegacySelector(value, e.platform.dialects()[0], screen.ParseOptions{Target: e.app})
	if err != nil {
		return target{}, err
	}
	if s.Empty() {
		return target{}, errNoElement("give selector.textRegex, selector.idRegex or nodeSelector")
	}
	return bySelector(s), nil
}

func (elements) reference(a device.Arguments) (target, error) {
	ref := strings.TrimSpace(a.Text("ref"))
	if !screen.IsReference(ref) {
		return target{}, invalid("take a reference from a snapshot, or give nodeSelector",
			"ref: %q is not a reference; a reference looks like e12", ref)
	}
	return target{ref: ref, words: act.Selector{Text: ref}}, nil
}

// core reads text, id and index.
func (e elements) core(a device.Arguments) (target, error) {
	text, id := strings.TrimSpace(a.Text("text")), a.Text("id")
	block := map[string]any{}
	if text != "" {
		block["textRegex"] = screen.QuotePattern(text)
	}
	if id != "" {
		block["resourceIdRegex"] = screen.QuotePattern(id)
	}
	if len(block) == 0 {
		return target{}, errNoElement("give text, id or both")
	}
	t, err := e.maestro(block)
	return t.withIndex(int(a.Number("index", 0))), err
}

// maestro returns the target of a driver block of Maestro, which matches a text in any case.
func (e elements) maestro(block map[string]any) (target, error) {
	dialect := screen.AndroidMaestro
	if e.platform == IOS {
		dialect = screen.IOSMaestro
	}
	return e.node("nodeSelector", map[string]any{string(dialect): block})
}

// withText reads the arguments of a command for a text: the text under key, of which quote makes the pattern, id,
// enabled, selected and index.
func (e elements) withText(a device.Arguments, key string, quote func(string) string) (target, error) {
	block := map[string]any{}
	if text := a.Text(key); strings.TrimSpace(text) != "" {
		block["textRegex"] = quote(text)
		if err := checkPattern(key, quote(text)); err != nil {
			return target{}, err
		}
	}
	if id := a.Text("id"); id != "" {
		block["resourceIdRegex"] = id
		if err := checkPattern("id", id); err != nil {
			return target{}, err
		}
	}
	if len(block) == 0 {
		return target{}, errNoElement("give " + key)
	}
	return e.withStates(block, a)
}

// withStates reads enabled, selected and index, and adds them to a block.
func (e elements) withStates(block map[string]any, a device.Arguments) (target, error) {
	if selected, ok := a["selected"].(bool); ok {
		block["selected"] = selected
	}
	t, err := e.maestro(block)
	if err != nil {
		return t, err
	}
	if enabled, ok := a["enabled"].(bool); ok {
		t.enabled = &enabled
		t.words.Text += map[bool]string{true: " that is enabled", false: " that is disabled"}[enabled]
	}
	index, err := indexOf(a)
	return t.withIndex(index), err
}

// indexOf reads the argument index, which recordings have as a number or as text, such as "1" or "1.0".
func indexOf(a device.Arguments) (int, error) {
	text, ok := a["index"].(string)
	if !ok {
		return int(a.Number("index", 0)), nil
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || number != float64(int(number)) || number < 0 {
		return 0, invalid("", "index: expected a whole number from 0, found %q", text)
	}
	return int(number), nil
}

// containing returns a pattern for every text with text in it.
func containing(text string) string { return ".*" + screen.QuotePattern(text) + ".*" }

// asPattern returns a text that is a pattern itself.
func asPattern(text string) string { return text }

// wholeText returns the pattern for the whole of a text: as a regular expression if it is one, and as it is.
func wholeText(text string) string {
	quoted := screen.QuotePattern(text)
	if checkPattern("text", text) != nil {
		return "(?i)(?:" + quoted + ")"
	}
	return "(?i)(?:" + text + "|" + quoted + ")"
}

// checkPattern returns an error for a pattern that is not a regular expression, or that has a construct which is not
// supported, such as a look-ahead.
func checkPattern(key, pattern string) error {
	compiled, err := screen.CompilePattern(pattern, screen.MaestroRules)
	if err == nil {
		err = compiled.Malformed()
	}
	if err != nil {
		return invalid(`to match a text as it is, write \Qtext\E`, "%s: %q: %v", key, pattern, err)
	}
	return nil
}

func errNoElement(hint string) error { return invalid(hint, "no argument says which element is meant") }
