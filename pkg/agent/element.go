package agent

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// element is what tells an element from others; empty for what is not known.
type element struct {
	role, name, id, testID string
	counted                bool             // it is one of several that look alike, by its number
	around                 *screen.Selector // what must hold of its place, nil for nothing
}

func (e element) isNothing() bool {
	return e.name == "" && e.id == "" && e.testID == "" && e.role == ""
}

func (e element) String() string {
	switch {
	case e.name != "":
		return strings.TrimSpace(e.role + " " + strconv.Quote(e.name))
	case e.id+e.testID != "":
		return strings.TrimSpace(e.role + " #" + e.id + e.testID)
	}
	return e.role
}

func (e element) sameName(other element) bool {
	return e.name != "" && plain(e.name) == plain(other.name) && slices.Equal(numbersIn(e.name), numbersIn(other.name))
}

func equalIDs(a, b element) bool {
	return a.testID != "" && a.testID == b.testID || a.id != "" && a.id == b.id
}

// describeNode returns what is known of an element of a screen.
func describeNode(n *screen.Node) element {
	e := element{role: n.RoleName(), name: n.Name()}
	if n.ID != nil {
		e.id = *n.ID
	}
	if n.TestID != nil {
		e.testID = *n.TestID
	}
	return e
}

// inWords matches an element as messages and references describe it, such as: button "Save".
var inWords = lazyregexp.New(`^([a-z]+) ("(?:[^"\\]|\\.)*")`)

// describedElement returns an element that is given in words.
func describedElement(words string) element {
	m := inWords().FindStringSubmatch(words)
	if m == nil {
		return element{}
	}
	name, err := strconv.Unquote(m[2])
	if err != nil {
		name = strings.Trim(m[2], `"`)
	}
	return element{role: m[1], name: name}
}

// simpleCSS matches CSS selectors that name an element by its id.
var simpleCSS = lazyregexp.New(`^#([\w-]+)$`)

// recordedElement returns which element a recorded call means, as far as that can be compared.
func recordedElement(box live.Toolbox, c trail.Call) element {
	if c.Tool == device.AssertWaypoint { // whose id is that of a screen
		return element{}
	}
	if given, ok := c.Args["nodeSelector"]; ok {
		s, err := screen.ParseSelector(given, screen.ParseOptions{})
		if err != nil {
			return element{}
		}
		e := selectedElement(s)
		if slices.Contains(box.Checks, c.Tool) {
			e.around = expectedBeside(s)
		}
		return e
	}
	text := func(names ...string) string {
		for _, name := range names {
			if value, _ := c.Args[name].(string); value != "" {
				return value
			}
		}
		return ""
	}
	ref := text("ref")
	e := describedElement(ref)
	switch css, isCSS := strings.CutPrefix(ref, "css="); {
	case isCSS:
		if m := simpleCSS().FindStringSubmatch(css); m != nil {
			e.id = m[1]
		}
	case e.name == "" && ref != "" && !screen.IsReference(ref):
		e.name = ref
	case ref == "":
		e.id = text("id", "resourceId")
		e.name = text("accessibilityText")
		if e.name == "" && namesElement(box, c.Tool, "text") {
			e.name = text("text")
		}
	}
	e.counted = c.Args["index"] != nil
	return e
}

// selectedElement returns which element a selector means, as far as that can be compared.
func selectedElement(s *screen.Selector) element {
	e := element{counted: s.IsIndexed()}
	if s.HasRelations() {
		around := *s
		around.Block, around.Index = nil, nil
		e.around = &around
	}
	b := s.Block
	if b == nil {
		return e
	}
	literal := func(key string) string {
		p := b.Pattern(key)
		if p == nil {
			return ""
		}
		value, _ := p.Literal()
		return value
	}
	e.role, e.testID = b.Text("ariaRole"), b.Text("dataTestId")+b.Text("testTag")+literal("composeTestTagRegex")
	e.id = literal("resourceIdRegex") + b.Text("uniqueId")
	key := nameKey(b)
	e.name = literal(key)
	if key == descriptor {
		d := describedElement(e.name)
		e.role, e.name = cmp.Or(d.role, e.role), d.name
	}
	if m := simpleCSS().FindStringSubmatch(b.Text("cssSelector")); m != nil {
		e.id = m[1]
	}
	if class := literal("classNameRegex"); e.role == "" && class != "" {
		e.role = (&screen.Node{Class: &class}).RoleName()
	}
	return e
}

const descriptor = "ariaDescriptorRegex" // of role and name

// nameKey returns the key of a block with the name of the element, "" without one.
func nameKey(b *screen.Block) string {
	for _, key := range []string{"ariaNameRegex", "contentDescriptionRegex", "accessibilityTextRegex", "labelRegex", "textRegex", descriptor} {
		if b.Pattern(key) != nil {
			return key
		}
	}
	return ""
}

// expectedBeside returns what the selector of a check expects beside role, name and ids of its element, nil for nothing.
func expectedBeside(s *screen.Selector) *screen.Selector {
	given := s.Map()
	delete(given, "index")
	if b := s.Block; b != nil {
		block, _ := given[string(b.Dialect)].(map[string]any)
		for _, key := range []string{
			"cssSelector", "dataTestId", "testTag", "composeTestTagRegex", "resourceIdRegex", "uniqueId", "ariaRole", "classNameRegex", "nthIndex",
		} {
			delete(block, key)
		}
		if selectedElement(s).name != "" {
			delete(block, nameKey(b))
		}
		if len(block) == 0 {
			delete(given, string(b.Dialect))
		}
	}
	if len(given) == 0 {
		return nil
	}
	rest, _ := screen.ParseSelector(given, screen.ParseOptions{}) // it was one
	return rest
}
