package mobile

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// locator makes the selector by which a replay finds an element. Each selector is resolved as the replay does, and the
// first one that finds this very element is taken.
type locator struct {
	phone      *phone
	screen     Screen
	node       *screen.Node
	checksText bool // the selector has to have the text of the element, if it is not a control
}

const (
	// maxSelectorText is the length of the longest text, in characters, that a selector has if there is another way.
	maxSelectorText = 80
	// maxAround is the number of elements around the element that a selector may name.
	maxAround = 4
	// maxInside is the number of texts in an element by which it is told from others.
	maxInside = 8
)

// property is a key of a driver block with the text that it matches.
type property struct {
	key, text string
	named     bool // the text is shown to people, so that it may change
}

// locate returns how a recording names the element: by what is unique of its id, texts and labels, else by one of them
// or its class with a text in it or beside it, else with an index.
func (l locator) locate() (*tool.Located, error) {
	for c := range l.candidates() {
		return &tool.Located{Args: map[string]any{"nodeSelector": c.Selector}, Warnings: c.Notes}, nil
	}
	return nil, fault.New(fault.ToolFailed, "name it by nodeSelector, or give it a resource id or an accessibility identifier",
		"%s has no selector that a recording could use", l.node)
}

// candidates returns the selectors that a recording could use, best first. Some may be the same.
func (l locator) candidates() iter.Seq[device.Candidate] {
	ways := []struct {
		by   string // besides the property
		find func(property) (map[string]any, []string)
	}{{"", l.uniqueProperty}, {" and a text in it", l.containing}, {" and what it is in", l.propertyInside}, {" and its place", l.indexedProperty}}
	properties := l.properties(l.node)
	return func(yield func(device.Candidate) bool) {
		for _, way := range ways {
			for _, p := range properties {
				selector, warnings := way.find(p)
				if selector == nil {
					continue
				}
				c := device.Candidate{
					By: p.words() + way.by, Selector: selector, Matches: l.matches(selector),
					Notes: slices.Concat(p.warnings(), l.textWarnings(p), warnings),
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}

// matches returns how many elements a selector matches without its index.
func (l locator) matches(selector map[string]any) int {
	if _, indexed := selector["index"]; !indexed {
		return 1
	}
	all := maps.Clone(selector)
	delete(all, "index")
	return len(l.find(all))
}

// properties returns the properties of an element that may identify it, best first.
func (l locator) properties(n *screen.Node) []property {
	var list, changing []property
	add := func(key string, text *string, named bool) {
		switch {
		case text == nil || *text == "" || l.isSecret(*text):
		case named && (screen.MayChange(*text) != "" || isLong(*text)):
			changing = append(changing, property{key, *text, named})
		default:
			list = append(list, property{key, *text, named})
		}
	}
	add("resourceIdRegex", n.ID, false)
	if !n.Password && !n.Editable { // the text in a field does not name it
		add("textRegex", n.Text, true)
	}
	label := "accessibilityTextRegex"
	if l.phone.options.Platform == Android {
		label = "contentDescriptionRegex"
	}
	add(label, n.Label, true)
	add("hintTextRegex", n.Hint, true)
	list = append(list, changing...)
	add("classNameRegex", n.Class, false)
	return list
}

// words says what the property is.
func (p property) words() string {
	switch p.key {
	case "resourceIdRegex":
		return "id"
	case "textRegex":
		return "text"
	case "hintTextRegex":
		return "hint"
	case "classNameRegex":
		return "class"
	}
	return "label"
}

func isLong(text string) bool { return utf8.RuneCountInString(text) > maxSelectorText }

// warnings returns why the property may be another one in a later replay.
func (p property) warnings() []string {
	what := screen.MayChange(p.text)
	switch {
	case !p.named:
		return nil
	case what != "":
		const format = "the name %q contains %s and may change; a resource id or an accessibility identifier does not"
		return []string{fmt.Sprintf(format, p.text, what)}
	case isLong(p.text):
		return []string{fmt.Sprintf("the name %q is long and may change", p.text)}
	}
	return nil
}

// textWarnings returns why the text that is checked besides a property may be another one in a later replay.
func (l locator) textWarnings(p property) []string {
	if text, ok := l.checkedText(); ok && text != p {
		return text.warnings()
	}
	return nil
}

// isSecret reports whether a recording would change a text.
func (l locator) isSecret(text string) bool {
	return l.phone.session.Redact != nil && l.phone.session.Redact(text) != text
}

// block returns the selector for a property.
func (l locator) block(p property) map[string]any {
	return map[string]any{string(l.phone.options.Platform.dialects()[0]): map[string]any{p.key: screen.ExactPattern(p.text)}}
}

// own returns the selector for a property of the element, with its text if that is checked.
func (l locator) own(p property) map[string]any {
	selector := l.block(p)
	if text, ok := l.checkedText(); ok {
		block, _ := selector[string(l.phone.options.Platform.dialects()[0])].(map[string]any)
		block[text.key] = screen.ExactPattern(text.text)
	}
	return selector
}

// checkedText returns the text or the label that a check of the element is about.
func (l locator) checkedText() (property, bool) {
	if !l.checksText || screen.IsControl(l.node.RoleName()) {
		return property{}, false
	}
	properties := l.properties(l.node)
	i := slices.IndexFunc(properties, func(p property) bool { return p.named && p.key != "hintTextRegex" })
	if i < 0 {
		return property{}, false
	}
	return properties[i], true
}

// uniqueProperty returns the selector for a property that no other element has; else nil.
func (l locator) uniqueProperty(p property) (selector map[string]any, warnings []string) {
	if p.key == "classNameRegex" {
		return nil, nil // another element of the class may be added
	}
	return l.unique(l.own(p)), nil
}

// containing returns the selector for a property and a text in the element; nil if it does not find the element alone.
func (l locator) containing(p property) (selector map[string]any, warnings []string) {
	for _, inside := range l.textsIn(l.node) {
		if selector = l.unique(l.withDescendant(l.own(p), inside)); selector != nil {
			return selector, inside.warnings()
		}
	}
	return nil, nil
}

// propertyInside returns the selector for a property inside of another element, such as a row, that has a text; nil if
// it does not find the element alone.
func (l locator) propertyInside(p property) (selector map[string]any, warnings []string) {
	around := l.node
	for range maxAround {
		if around = l.screen.Tree.Parent(around); around == nil {
			break
		}
		for _, outer := range l.properties(around) {
			for _, inside := range l.textsIn(around) {
				selector = l.own(p)
				selector["childOf"] = l.withDescendant(l.block(outer), inside)
				if selector = l.unique(selector); selector != nil {
					return selector, append(outer.warnings(), inside.warnings()...)
				}
			}
		}
	}
	return nil, nil
}

// withDescendant adds to a selector that a text is in the element.
func (l locator) withDescendant(selector map[string]any, inside property) map[string]any {
	selector["containsDescendants"] = []any{l.block(inside)}
	return selector
}

// textsIn returns the texts in an element that may tell it from others, those first that look constant.
func (l locator) textsIn(n *screen.Node) []property {
	var list []property
	for _, inside := range l.screen.Tree.Descendants(n) {
		for _, p := range l.properties(inside) {
			if p.named && inside != l.node {
				list = append(list, p)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b property) int { return len(a.warnings()) - len(b.warnings()) })
	return list[:min(maxInside, len(list))]
}

// indexedProperty returns the selector for a property with the place of the element among those that have it.
func (l locator) indexedProperty(p property) (selector map[string]any, warnings []string) {
	for index := range l.find(l.own(p)) {
		selector = l.own(p)
		selector["index"] = index
		if l.unique(selector) != nil {
			return selector, []string{fmt.Sprintf("%s is number %d of several with this selector, which may change", l.node, index+1)}
		}
	}
	return nil, nil
}

// unique returns a selector if a replay with it finds the element and no other; else nil.
func (l locator) unique(selector map[string]any) map[string]any {
	if list := l.find(selector); len(list) == 1 && list[0] == l.node {
		return selector
	}
	return nil
}

// find returns what a replay with a selector finds.
func (l locator) find(selector map[string]any) []*screen.Node {
	s, err := screen.ParseSelector(selector, screen.ParseOptions{})
	if err != nil {
		return nil
	}
	return distinct(l.screen.Tree.ResolveForAction(s).Nodes)
}

// distinct returns each element once. With childOf in several elements, one may be found more than once.
func distinct(nodes []*screen.Node) []*screen.Node {
	var list []*screen.Node
	for _, n := range nodes {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}
