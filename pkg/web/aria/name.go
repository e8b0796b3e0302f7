package aria

import (
	"slices"
	"strings"
)

// naming is the context in which the text of an element is computed.
type naming struct {
	target     bool // for the name of the element itself
	descendant bool // the element is inside the one that is named
	labelledBy bool // the element is referenced by aria-labelledby
	label      bool // the element is in a label element
	native     bool // the element is the legend, caption or title of another
	hidden     bool // the element was reached through a hidden one, so hidden text counts
}

// forContent returns the context for the content of the element.
func (c naming) forContent() naming {
	c.descendant = c.descendant || c.target
	c.target = false
	return c
}

// name returns the accessible name of an element.
func (p *page) name(n *node) string {
	if withoutName.has(p.role(n)) {
		return ""
	}
	p.turn++
	return normalize(p.alternative(n, naming{target: true}))
}

// alternative returns the text alternative of an element. Each element counts once in a name.
func (p *page) alternative(n *node, c naming) string {
	if n.turn == p.turn {
		return ""
	}
	if !n.mayShow() || !c.hidden && p.hidden(n) {
		n.turn = p.turn
		return ""
	}
	labels := p.refs(n, "aria-labelledby")
	if !c.labelledBy {
		if text := p.joinTexts(labels, naming{labelledBy: true}); text != "" {
			return text
		}
	}
	text, ok := p.explicitText(n, labels, c)
	n.turn = p.turn
	if ok {
		return text
	}
	role := p.role(n)
	silent := role == "presentation" || role == "none"
	if c.labelledBy || c.label || c.native || namedByContent.has(role) || c.descendant && (role == "" || namesByContent.has(role)) ||
		n.tag == "SUMMARY" && !silent {
		text := p.content(n, c.forContent())
		if !c.target && text != "" || trim(text) != "" {
			return text
		}
	}
	if title := n.attr("title"); trim(title) != "" && (!silent || n.tag == "IFRAME" || n.tag == "FRAME") {
		return title
	}
	return ""
}

// explicitText returns the text of an element that does not come from its content: its value, its aria-label, or the
// name that HTML defines.
func (p *page) explicitText(n *node, labelledBy []*node, c naming) (text string, ok bool) {
	role := p.role(n)
	if (c.label || c.labelledBy || c.descendant) && !slices.Contains(labelledBy, n) {
		if text, ok := p.embeddedValue(n, role, c); ok {
			return text, true
		}
	}
	if label := n.attr("aria-label"); trim(label) != "" {
		return label, true
	}
	if role == "presentation" || role == "none" {
		return "", false
	}
	return p.native(n, labelledBy, c)
}

// joinTexts returns the text of several elements, such as those of aria-labelledby. Each of them may be hidden.
func (p *page) joinTexts(list []*node, c naming) string {
	texts := make([]string, 0, len(list))
	for _, n := range list {
		c.hidden = p.hidden(n)
		if text := p.alternative(n, c); text != "" || !c.label {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

// embeddedValue returns the value of a control that is inside a label or a name.
func (p *page) embeddedValue(n *node, role string, c naming) (string, bool) {
	switch role {
	case "textbox", "searchbox":
		if n.tag == "INPUT" || n.tag == "TEXTAREA" {
			return n.value, true
		}
		return n.textContent(), true
	case "combobox", "listbox":
		n.turn = p.turn
		options := p.chosen(n, role)
		if len(options) == 0 && n.tag == "INPUT" {
			return n.value, true
		}
		texts := make([]string, len(options))
		for i, option := range options {
			texts[i] = p.alternative(option, c.forContent())
		}
		return strings.Join(texts, " "), true
	case "progressbar", "scrollbar", "slider", "spinbutton", "meter":
		for _, name := range []string{"aria-valuetext", "aria-valuenow"} {
			if n.has(name) {
				return n.attr(name), true
			}
		}
		return n.attr("value"), true
	case "menu":
		return "", true
	}
	return "", false
}

// chosen returns the selected options of a list.
func (p *page) chosen(n *node, role string) []*node {
	isOption := func(e *node) bool { return e.tag == "OPTION" }
	if n.tag == "SELECT" {
		options := n.findAll(nil, func(e *node) bool { return isOption(e) && e.selected })
		if first := n.find(isOption); len(options) == 0 && first != nil {
			return []*node{first}
		}
		return options
	}
	list := n
	if role == "combobox" {
		lists := p.ownedNodes(n, func(e *node) bool { return p.role(e) == "listbox" })
		if len(lists) == 0 {
			return nil
		}
		list = lists[0]
	}
	return p.ownedNodes(list, func(e *node) bool { return e.attrIsTrue("aria-selected") && p.role(e) == "option" })
}

// ownedNodes returns the descendants for which fits returns true, those by aria-owns included.
func (p *page) ownedNodes(n *node, fits func(*node) bool) []*node {
	found := n.findAll(nil, fits)
	for _, e := range p.refs(n, "aria-owns") {
		if fits(e) {
			found = append(found, e)
		}
		found = e.findAll(found, fits)
	}
	return found
}

// native returns the name that HTML defines for an element. ok is false if it defines none.
func (p *page) native(n *node, labelledBy []*node, c naming) (text string, ok bool) {
	if n.tag == "INPUT" {
		switch t := n.inputType(); t {
		case "button", "submit", "reset":
			return n.buttonName(t), true
		case "file", "image":
			if labels := p.labels[n]; len(labels) > 0 && !c.labelledBy {
				return p.joinTexts(labels, naming{label: true}), true
			}
			if t == "file" {
				return "Choose File", true
			}
			return firstText(n.attr("alt"), n.attr("title"), "Submit"), true
		}
	}
	if len(labelledBy) == 0 {
		if text, ok := p.labelName(n, c); ok {
			return text, true
		}
	}
	switch n.tag {
	case "IMG", "AREA":
		return firstText(n.attr("alt"), n.attr("title")), true
	case "TABLE":
		if caption := n.child("CAPTION"); caption != nil {
			return p.part(caption, c), true
		}
		return n.attr("summary"), n.attr("summary") != ""
	}
	if n.tag == "SVG" || n.svg {
		if title := n.child("TITLE"); title != nil && title.svg {
			n.turn = p.turn
			within := c.forContent()
			within.labelledBy, within.hidden = true, c.hidden || p.hidden(title)
			return p.alternative(title, within), true
		}
		if title := n.attr("xlink:title"); n.svg && n.tag == "A" && trim(title) != "" {
			return title, true
		}
	}
	return "", false
}

// labelName returns the name by label elements, a legend or a caption.
func (p *page) labelName(n *node, c naming) (text string, ok bool) {
	switch n.tag {
	case "BUTTON", "OUTPUT", "TEXTAREA", "SELECT", "INPUT", "METER", "PROGRESS":
		n.turn = p.turn
		if labels := p.labels[n]; len(labels) > 0 {
			return p.joinTexts(labels, naming{label: true}), true
		}
	}
	switch n.tag {
	case "OUTPUT", "SELECT", "METER", "PROGRESS":
		return n.attr("title"), true
	case "TEXTAREA", "INPUT":
		if title := n.attr("title"); title != "" || !n.takesPlaceholder() {
			return title, true
		}
		return n.attr("placeholder"), true
	case "FIELDSET":
		return p.partOr(n, "LEGEND", c), true
	case "FIGURE":
		return p.partOr(n, "FIGCAPTION", c), true
	}
	return "", false
}

func (p *page) partOr(n *node, tag string, c naming) string {
	n.turn = p.turn
	if part := n.child(tag); part != nil {
		return p.part(part, c)
	}
	return n.attr("title")
}

// part returns the text of a part that names its parent, such as a legend.
func (p *page) part(n *node, c naming) string {
	within := c.forContent()
	within.native, within.hidden = true, c.hidden || p.hidden(n)
	return p.alternative(n, within)
}

func (n *node) takesPlaceholder() bool {
	switch n.inputType() {
	case "text", "password", "number", "search", "tel", "email", "url":
		return true
	}
	return n.tag == "TEXTAREA"
}

func (n *node) buttonName(inputType string) string {
	switch {
	case trim(n.value) != "":
		return n.value
	case inputType == "submit":
		return "Submit"
	case inputType == "reset":
		return "Reset"
	}
	return n.attr("title")
}

func firstText(texts ...string) string {
	for i, text := range texts {
		if trim(text) != "" || i == len(texts)-1 {
			return text
		}
	}
	return ""
}

// content returns the text of the content of an element.
func (p *page) content(n *node, c naming) string {
	var b strings.Builder
	b.WriteString(n.before.generatedText())
	if own, ok := n.ownContent(); ok {
		b.WriteString(own)
	} else {
		for _, child := range n.children {
			p.addContent(&b, child, c)
		}
		for _, child := range p.refs(n, "aria-owns") {
			p.addContent(&b, child, c)
		}
	}
	b.WriteString(n.after.generatedText())
	return b.String()
}

func (p *page) addContent(b *strings.Builder, n *node, c naming) {
	switch {
	case n.tag == "" && (c.hidden || !n.notRendered()):
		b.WriteString(n.text)
	case n.tag == "":
	case n.inline() && n.tag != "BR":
		b.WriteString(p.alternative(n, c))
	default:
		b.WriteString(" " + p.alternative(n, c) + " ")
	}
}
