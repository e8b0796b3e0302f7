package screen

import "slices"

// Dialect names a driver block of selectors, and the properties that it matches.
type Dialect string

// The dialects (specification, section 17).
const (
	Web                  Dialect = "web"
	AndroidAccessibility Dialect = "androidAccessibility"
	AndroidMaestro       Dialect = "androidMaestro"
	IOSMaestro           Dialect = "iosMaestro"
	IOSAxe               Dialect = "iosAxe"
	Compose              Dialect = "compose"
)

// Dialects returns all dialects.
func Dialects() []Dialect {
	return []Dialect{Web, AndroidAccessibility, AndroidMaestro, IOSMaestro, IOSAxe, Compose}
}

// Rules returns the rules by which the dialect's patterns match.
func (d Dialect) Rules() Rules {
	if d == AndroidMaestro || d == IOSMaestro {
		return MaestroRules
	}
	return NativeRules
}

// keyKind is the type of the value of a key; it decides which field of property matches it.
type keyKind int

const (
	patternKey keyKind = iota // a regular expression over text
	textKey                   // equal to text
	memberKey                 // a member of list
	flagKey
	numberKey
)

// property is a key of a driver block, and where a node has what it matches. One of the functions is set.
type property struct {
	name   string
	kind   keyKind
	text   func(*Node) *string
	flag   func(*Node) bool
	number func(*Node) *int
	list   func(*Node) []string
}

func pattern(name string, text func(*Node) *string) property {
	return property{name: name, kind: patternKey, text: text}
}

func exact(name string, text func(*Node) *string) property {
	return property{name: name, kind: textKey, text: text}
}

func flag(name string, flag func(*Node) bool) property {
	return property{name: name, kind: flagKey, flag: flag}
}

func number(name string, number func(*Node) *int) property {
	return property{name: name, kind: numberKey, number: number}
}

// propertiesOf returns the keys of a dialect's block, in the order in which they are described.
func propertiesOf(d Dialect) []property {
	switch d {
	case Web:
		return webProperties()
	case AndroidAccessibility:
		return slices.Concat(accessibilityTexts(), accessibilityStates())
	case AndroidMaestro:
		return append(maestroTexts(),
			flag("clickable", func(n *Node) bool { return n.Clickable }),
			flag("enabled", func(n *Node) bool { return !n.Disabled }),
			flag("focused", func(n *Node) bool { return n.Focused }),
			flag("checked", func(n *Node) bool { return n.Checked == ToggleOn }),
			flag("selected", func(n *Node) bool { return n.Selected }),
		)
	case IOSMaestro:
		return append(maestroTexts(),
			flag("focused", func(n *Node) bool { return n.Focused }),
			flag("selected", func(n *Node) bool { return n.Selected }),
		)
	case IOSAxe:
		return axeProperties()
	case Compose:
		return composeProperties()
	}
	return nil
}

func webProperties() []property {
	return []property{
		exact("cssSelector", func(*Node) *string { return nil }), // only the producer can match it; see Tree.Found
		exact("dataTestId", func(n *Node) *string { return n.TestID }),
		exact("ariaRole", func(n *Node) *string { return new(n.RoleName()) }),
		pattern("ariaNameRegex", func(n *Node) *string { return n.Label }),
		pattern("ariaDescriptorRegex", func(n *Node) *string { return new(n.RoleName() + ` "` + n.Name() + `"`) }),
		number("headingLevel", func(n *Node) *int { return new(n.Level) }),
		number("nthIndex", nil), // which of those that the rest of the block matches
	}
}

func accessibilityTexts() []property {
	return []property{
		pattern("textRegex", func(n *Node) *string { return first(n.Text, n.Hint, n.Label) }),
		pattern("contentDescriptionRegex", func(n *Node) *string { return n.Label }),
		pattern("hintTextRegex", func(n *Node) *string { return n.Hint }),
		pattern("resourceIdRegex", func(n *Node) *string { return n.ID }),
		pattern("classNameRegex", func(n *Node) *string { return n.Class }),
		pattern("composeTestTagRegex", func(n *Node) *string { return n.TestID }),
		pattern("labeledByTextRegex", func(n *Node) *string { return n.LabeledBy }),
		pattern("stateDescriptionRegex", func(n *Node) *string { return n.StateDescription }),
		pattern("paneTitleRegex", func(n *Node) *string { return n.PaneTitle }),
		pattern("roleDescriptionRegex", func(n *Node) *string { return n.RoleDescription }),
		exact("uniqueId", func(n *Node) *string { return n.UniqueID }),
	}
}

func accessibilityStates() []property {
	return []property{
		flag("isEnabled", func(n *Node) bool { return !n.Disabled }),
		flag("isClickable", func(n *Node) bool { return n.Clickable }),
		flag("isCheckable", func(n *Node) bool { return n.Checkable }),
		flag("isChecked", func(n *Node) bool { return n.Checked == ToggleOn }),
		flag("isSelected", func(n *Node) bool { return n.Selected }),
		flag("isFocused", func(n *Node) bool { return n.Focused }),
		flag("isEditable", func(n *Node) bool { return n.Editable }),
		flag("isScrollable", func(n *Node) bool { return n.Scrollable }),
		flag("isPassword", func(n *Node) bool { return n.Password }),
		flag("isHeading", func(n *Node) bool { return n.Heading }),
		flag("isMultiLine", func(n *Node) bool { return n.MultiLine }),
		number("inputType", func(n *Node) *int { return new(n.InputType) }),
		number("collectionItemRowIndex", func(n *Node) *int { return n.Row }),
		number("collectionItemColumnIndex", func(n *Node) *int { return n.Column }),
	}
}

func maestroTexts() []property {
	return []property{
		pattern("textRegex", func(n *Node) *string { return first(n.Text, n.Hint, n.Label) }),
		pattern("accessibilityTextRegex", func(n *Node) *string { return n.Label }),
		pattern("hintTextRegex", func(n *Node) *string { return n.Hint }),
		pattern("resourceIdRegex", func(n *Node) *string { return n.ID }),
		pattern("classNameRegex", func(n *Node) *string { return n.Class }),
	}
}

func axeProperties() []property {
	return []property{
		pattern("roleRegex", func(n *Node) *string { return n.NativeRole }),
		pattern("subroleRegex", func(n *Node) *string { return n.Subrole }),
		pattern("labelRegex", func(n *Node) *string { return n.Label }),
		pattern("valueRegex", func(n *Node) *string { return n.Value }),
		pattern("typeRegex", func(n *Node) *string { return n.Class }),
		pattern("titleRegex", func(n *Node) *string { return n.Title }),
		exact("uniqueId", func(n *Node) *string { return n.UniqueID }),
		{name: "customAction", kind: memberKey, list: func(n *Node) []string { return n.CustomActions }},
		flag("enabled", func(n *Node) bool { return !n.Disabled }),
	}
}

func composeProperties() []property {
	return []property{
		pattern("textRegex", func(n *Node) *string { return first(n.Value, n.Text, n.Label) }),
		pattern("editableTextRegex", func(n *Node) *string { return n.Value }),
		pattern("contentDescriptionRegex", func(n *Node) *string { return n.Label }),
		exact("testTag", func(n *Node) *string { return n.TestID }),
		exact("role", func(n *Node) *string { return n.NativeRole }),
		exact("toggleableState", func(n *Node) *string { return n.ToggleableState }),
		flag("isEnabled", func(n *Node) bool { return !n.Disabled }),
		flag("isFocused", func(n *Node) bool { return n.Focused }),
		flag("isSelected", func(n *Node) bool { return n.Selected }),
		flag("isPassword", func(n *Node) bool { return n.Password }),
	}
}

// first returns the first of texts that is not nil.
func first(texts ...*string) *string {
	for _, text := range texts {
		if text != nil {
			return text
		}
	}
	return nil
}
