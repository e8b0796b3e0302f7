package aria

import (
	"slices"
	"strings"
)

// page is the flat tree of a document: what is assigned to a slot is below it, and a shadow tree below its host.
type page struct {
	root   *node
	byID   map[int]*node
	ids    map[scopedID]*node
	labels map[*node][]*node // of a control
	turn   int               // counts the walks that visit a node once; see node.turn
}

type scopedID struct {
	scope *node
	id    string
}

// node is an element, or a text when it has no tag.
type node struct {
	tag           string // upper case
	text          string
	id            int
	attrs         []string // names and values
	parent        *node
	children      []*node
	before, after *node
	scope         *node  // host of the shadow tree that it is in, nil in the document
	shadow        string // kind of that shadow tree
	svg           bool   // is inside an svg element

	rendered, holdsRendered, boxed      bool // has a layout, a descendant that has, and one of a size
	locked                              bool // is never shown, whatever its style
	display, visibility, content, skips string
	value                               string
	checked, selected, mixed            bool

	turn     int // the last walk that visited it
	ariaRole string
	hasRole  bool // ariaRole is known
	covered  tristate
}

type tristate int8

const (
	unknown tristate = iota
	no
	yes
)

const (
	elementNode = 1
	textNode    = 3
)

// newPage reads the first document of a capture.
func newPage(c *Capture) *page {
	p := &page{byID: map[int]*node{}, ids: map[scopedID]*node{}, labels: map[*node][]*node{}}
	if len(c.Documents) == 0 {
		return p
	}
	nodes := p.read(c)
	for _, n := range slices.Backward(nodes) {
		if n.parent != nil && (n.rendered || n.holdsRendered) {
			n.parent.holdsRendered = true
		}
	}
	for _, id := range c.Mixed {
		if n := p.byID[id]; n != nil {
			n.mixed = true
		}
	}
	for _, n := range nodes {
		if n.tag == "LABEL" {
			if control := p.control(n); control != nil {
				p.labels[control] = append(p.labels[control], n)
			}
		}
	}
	return p
}

// read makes the nodes of the first document, parents first.
func (p *page) read(c *Capture) []*node {
	d := &c.Documents[0]
	store := make([]node, len(d.Nodes.NodeType))
	c.facts(d, store)
	c.styles(d, store)
	nodes := make([]*node, 0, len(store))
	for i := range store {
		n := &store[i]
		if kind := d.Nodes.NodeType[i]; kind != elementNode && kind != textNode {
			continue
		}
		if up := at(d.Nodes.ParentIndex, i, -1); up >= 0 && up < i && d.Nodes.NodeType[up] == elementNode {
			n.parent = &store[up]
		}
		nodes = append(nodes, n)
		p.place(n)
	}
	return nodes
}

// place puts a node below its parent. A closed shadow tree is no part of the page: what is assigned to its slots stays.
func (p *page) place(n *node) {
	up := n.parent
	n.scope = n.findScope()
	if up != nil {
		n.svg = n.svg && (up.tag == "SVG" || up.svg)
		folded := up.tag == "DETAILS" && !up.has("open") && (n.tag != "SUMMARY" || up.child("SUMMARY") != nil)
		n.locked = up.locked || folded || up.skips == "hidden"
	} else {
		n.svg = false
	}
	for n.parent != nil && n.parent.shadow == "closed" {
		n.parent = n.parent.parent
	}
	switch {
	case n.shadow == "closed":
		return
	case n.parent == nil:
		if p.root == nil && n.tag != "" {
			p.root = n
		}
	case n.tag == "::BEFORE":
		n.parent.before = n
		return
	case n.tag == "::AFTER":
		n.parent.after = n
		return
	case strings.HasPrefix(n.tag, "::"):
		return
	default:
		n.parent.children = append(n.parent.children, n)
	}
	if n.tag == "" {
		return
	}
	p.byID[n.id] = n
	if id := n.attr("id"); id != "" {
		key := scopedID{n.scope, id}
		if p.ids[key] == nil {
			p.ids[key] = n
		}
	}
}

// findScope guesses where one shadow tree is inside another: there an element with a name of its own is taken for a
// host, and what a slot shows for something assigned to it.
func (n *node) findScope() *node {
	up := n.parent
	switch {
	case up == nil || n.shadow == "":
		return nil
	case up.shadow == "" || strings.Contains(up.tag, "-"):
		return up
	case up.tag == "SLOT" && up.scope != nil && up.scope.shadow != "":
		return up.scope.scope
	}
	return up.scope
}

// facts fills in what does not depend on other nodes.
func (c *Capture) facts(d *document, store []node) {
	for i := range store {
		n := &store[i]
		n.id = at(d.Nodes.BackendNodeID, i, 0)
		switch d.Nodes.NodeType[i] {
		case textNode:
			n.text = c.text(at(d.Nodes.NodeValue, i, -1))
		case elementNode:
			name := c.text(at(d.Nodes.NodeName, i, -1))
			n.tag = strings.ToUpper(name)
			n.svg = n.tag != name
			for _, word := range at(d.Nodes.Attributes, i, nil) {
				n.attrs = append(n.attrs, c.text(word))
			}
		}
	}
	var nobody node // what a place that does not exist is said of
	who := func(i int) *node {
		if i < 0 || i >= len(store) {
			return &nobody
		}
		return &store[i]
	}
	for k, i := range d.Nodes.ShadowRootType.Index {
		who(i).shadow = c.text(at(d.Nodes.ShadowRootType.Value, k, -1))
	}
	for _, values := range []rareStrings{d.Nodes.TextValue, d.Nodes.InputValue} {
		for k, i := range values.Index {
			n := who(i)
			n.value = c.text(at(values.Value, k, -1))
			if n.tag == "INPUT" && n.inputType() == "password" {
				n.value = strings.Repeat("•", utf16Len(n.value))
			}
		}
	}
	for _, i := range d.Nodes.InputChecked.Index {
		who(i).checked = true
	}
	for _, i := range d.Nodes.OptionSelected.Index {
		who(i).selected = true
	}
}

// styles fills in how nodes are shown.
func (c *Capture) styles(d *document, store []node) {
	for k, i := range d.Layout.NodeIndex {
		if i < 0 || i >= len(store) || store[i].rendered { // or a further box of the same node
			continue
		}
		n := &store[i]
		n.rendered = true
		styles := at(d.Layout.Styles, k, nil)
		n.display = c.text(at(styles, styleDisplay, -1))
		n.visibility = c.text(at(styles, styleVisibility, -1))
		n.content = c.text(at(styles, styleContent, -1))
		n.skips = c.skips(styles)
		if box := at(d.Layout.Bounds, k, nil); len(box) == 4 {
			n.boxed = box[2] > 0 && box[3] > 0
		}
	}
}

func (c *Capture) text(i int) string { return at(c.Strings, i, "") }

// at is list[i], or other where there is none: what a browser answers is not ours to trust.
func at[T any](list []T, i int, other T) T {
	if i < 0 || i >= len(list) {
		return other
	}
	return list[i]
}

// attr is the value of an attribute, empty without it.
func (n *node) attr(name string) string {
	for i := 0; i+1 < len(n.attrs); i += 2 {
		if n.attrs[i] == name {
			return n.attrs[i+1]
		}
	}
	return ""
}

func (n *node) has(name string) bool {
	for i := 0; i+1 < len(n.attrs); i += 2 {
		if n.attrs[i] == name {
			return true
		}
	}
	return false
}

// is says whether an attribute is true, in any case.
func (n *node) is(name string) bool { return strings.EqualFold(n.attr(name), "true") }

// child is the first child with a tag, nil without one.
func (n *node) child(tag string) *node {
	for _, c := range n.children {
		if c.tag == tag {
			return c
		}
	}
	return nil
}

// up is the parent in the DOM, or the host of the shadow tree whose child n is.
func (n *node) up() *node {
	if up := n.parent; up != nil && up.tag == "SLOT" && up.scope != n.scope {
		return up.scope
	}
	return n.parent
}

// closest is n or its nearest ancestor in the same tree that fits.
func (n *node) closest(fits func(*node) bool) *node {
	for e := n; e != nil && e.scope == n.scope; e = e.up() {
		if fits(e) {
			return e
		}
	}
	return nil
}

func (n *node) closestTag(tag string) *node {
	return n.closest(func(e *node) bool { return e.tag == tag })
}

// find returns the first descendant that fits, in the order of the tree.
func (n *node) find(fits func(*node) bool) *node {
	for _, c := range n.children {
		if c.tag != "" && fits(c) {
			return c
		}
		if found := c.find(fits); found != nil {
			return found
		}
	}
	return nil
}

// findAll appends the descendants that fit.
func (n *node) findAll(found []*node, fits func(*node) bool) []*node {
	for _, c := range n.children {
		if c.tag != "" && fits(c) {
			found = append(found, c)
		}
		found = c.findAll(found, fits)
	}
	return found
}

// sibling is the next element beside n, or the one before it.
func (n *node) sibling(step int) *node {
	if n.parent == nil {
		return nil
	}
	all := n.parent.children
	for i := slices.Index(all, n) + step; i >= 0 && i < len(all); i += step {
		if all[i].tag != "" {
			return all[i]
		}
	}
	return nil
}

// textContent is all text in n, shown or not.
func (n *node) textContent() string {
	if n.tag == "" {
		return n.text
	}
	var b strings.Builder
	for _, c := range n.children {
		b.WriteString(c.textContent())
	}
	return b.String()
}

// refs are the elements that an attribute of n names by id.
func (p *page) refs(n *node, attribute string) []*node {
	var found []*node
	for _, id := range strings.FieldsFunc(n.attr(attribute), isHTMLSpace) {
		if e := p.lookUp(n, id); e != nil && !slices.Contains(found, e) {
			found = append(found, e)
		}
	}
	return found
}

// lookUp finds an element by its id in the tree of n; where that tree is a guess, also around it.
func (p *page) lookUp(n *node, id string) *node {
	for scope := n.scope; ; scope = scope.scope {
		if e := p.ids[scopedID{scope, id}]; e != nil {
			return e
		}
		if scope == nil || scope.shadow == "" {
			return nil
		}
	}
}

// control is what a label labels.
func (p *page) control(label *node) *node {
	if label.has("for") {
		if e := p.lookUp(label, label.attr("for")); e != nil && e.labelable() {
			return e
		}
		return nil
	}
	return label.find(func(e *node) bool { return e.scope == label.scope && e.labelable() })
}

func (n *node) labelable() bool {
	switch n.tag {
	case "BUTTON", "METER", "OUTPUT", "PROGRESS", "SELECT", "TEXTAREA":
		return true
	}
	return n.tag == "INPUT" && n.inputType() != "hidden"
}

// inputType is the type of an input element as the browser sees it.
func (n *node) inputType() string {
	switch t := strings.ToLower(n.attr("type")); t {
	case "button",
		"checkbox",
		"color",
		"date",
		"datetime-local",
		"email",
		"file",
		"hidden",
		"image",
		"month",
		"number",
		"password",
		"radio",
		"range",
		"reset",
		"search",
		"submit",
		"tel",
		"time",
		"url",
		"week":
		return t
	}
	return "text"
}

func isHTMLSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\f' || r == '\r' }
