package aria

import (
	"slices"
	"strings"
)

// page is the flat tree of a document: the nodes assigned to a slot are below it, and a shadow tree is below its host.
type page struct {
	root   *node
	byID   map[int]*node
	ids    map[scopedID]*node
	labels map[*node][]*node // of a control
	turn   int               // number of the current walk that visits each node once; see node.turn

	withLabelled bool // see SnapshotWithLabelled

	live bool // see LiveSnapshot
}

type scopedID struct {
	scope *node
	id    string
}

// node is an element, or a text if it has no tag.
type node struct {
	tag           string // upper case
	text          string
	id            int
	attrs         []string // names and values
	parent        *node
	children      []*node
	before, after *node
	scope         *node  // the host of its shadow tree, nil in the document
	shadow        string // kind of that shadow tree
	svg           bool   // is inside an svg element

	rendered, hasRenderedDescendant, boxed bool      // has a layout; has a descendant with one; has a layout with a size
	box                                    []float64 // left, top, width, height in the document; nil when unknown
	locked                                 bool      // is not shown, whatever its style is
	display, visibility, content, skips    string
	pointer                                string // that of the mouse, if it says that n is to be clicked or dragged
	value                                  string
	checked, selected, mixed               bool

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

// newPage returns the page of the first document of a capture, for a live snapshot or another.
func newPage(c *Capture, live bool) *page {
	p := &page{live: live, byID: map[int]*node{}, ids: map[scopedID]*node{}, labels: map[*node][]*node{}}
	if len(c.Documents) == 0 {
		return p
	}
	nodes := p.read(c)
	for _, n := range slices.Backward(nodes) {
		if n.parent != nil && (n.rendered || n.hasRenderedDescendant) {
			n.parent.hasRenderedDescendant = true
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

// read creates the nodes of the first document, parents first.
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

// place adds a node to its parent. A closed shadow tree is left out, except the nodes that are assigned to its slots,
// unless the snapshot is a live one.
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
	leftOut := func(n *node) bool { return n.shadow == "closed" && !p.live }
	for n.parent != nil && leftOut(n.parent) {
		n.parent = n.parent.parent
	}
	switch {
	case leftOut(n):
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

// findScope estimates the scope of a node where one shadow tree is inside another: a custom element counts as a host,
// and the content of a slot as assigned to it.
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

// facts sets the fields that do not depend on other nodes.
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
	var absent node // receives values for indexes that do not exist
	nodeAt := func(i int) *node {
		if i < 0 || i >= len(store) {
			return &absent
		}
		return &store[i]
	}
	for k, i := range d.Nodes.ShadowRootType.Index {
		nodeAt(i).shadow = c.text(at(d.Nodes.ShadowRootType.Value, k, -1))
	}
	for _, values := range []rareStrings{d.Nodes.TextValue, d.Nodes.InputValue} {
		for k, i := range values.Index {
			n := nodeAt(i)
			n.value = c.text(at(values.Value, k, -1))
			if n.tag == "INPUT" && n.inputType() == "password" {
				n.value = strings.Repeat("•", utf16Len(n.value))
			}
		}
	}
	for _, i := range d.Nodes.InputChecked.Index {
		nodeAt(i).checked = true
	}
	for _, i := range d.Nodes.OptionSelected.Index {
		nodeAt(i).selected = true
	}
}

// styles sets the layout and styles of nodes.
func (c *Capture) styles(d *document, store []node) {
	for k, i := range d.Layout.NodeIndex {
		if i < 0 || i >= len(store) || store[i].rendered { // or another box of the same node
			continue
		}
		n := &store[i]
		n.rendered = true
		styles := at(d.Layout.Styles, k, nil)
		n.display = c.text(at(styles, styleDisplay, -1))
		n.visibility = c.text(at(styles, styleVisibility, -1))
		n.content = c.text(at(styles, styleContent, -1))
		n.skips = c.skips(styles)
		if cursor := c.text(at(styles, styleCursor, -1)); cursor == "pointer" || cursor == "grab" || cursor == "move" {
			n.pointer = cursor
		}
		if box := at(d.Layout.Bounds, k, nil); len(box) == 4 {
			n.boxed = box[2] > 0 && box[3] > 0
			n.box = box
		}
	}
}

func (c *Capture) text(i int) string { return at(c.Strings, i, "") }

// at returns list[i], or other if there is none. Indexes in a response of the browser are not trusted.
func at[T any](list []T, i int, other T) T {
	if i < 0 || i >= len(list) {
		return other
	}
	return list[i]
}

// attr returns the value of an attribute, empty without it.
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

// attrIsTrue reports whether the value of an attribute is true, in upper or lower case.
func (n *node) attrIsTrue(name string) bool { return strings.EqualFold(n.attr(name), "true") }

// child returns the first child with a tag, nil without one.
func (n *node) child(tag string) *node {
	for _, c := range n.children {
		if c.tag == tag {
			return c
		}
	}
	return nil
}

// parentOrHost returns the parent in the DOM, or the host of the shadow tree if n is at its top.
func (n *node) parentOrHost() *node {
	if up := n.parent; up != nil && up.tag == "SLOT" && up.scope != n.scope {
		return up.scope
	}
	return n.parent
}

// closest returns n or its nearest ancestor in the same tree for which fits returns true.
func (n *node) closest(fits func(*node) bool) *node {
	for e := n; e != nil && e.scope == n.scope; e = e.parentOrHost() {
		if fits(e) {
			return e
		}
	}
	return nil
}

func (n *node) closestTag(tag string) *node {
	return n.closest(func(e *node) bool { return e.tag == tag })
}

// find returns the first descendant for which fits returns true, in the order of the tree.
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

// findAll appends the descendants for which fits returns true.
func (n *node) findAll(found []*node, fits func(*node) bool) []*node {
	for _, c := range n.children {
		if c.tag != "" && fits(c) {
			found = append(found, c)
		}
		found = c.findAll(found, fits)
	}
	return found
}

// sibling returns the nearest sibling of n that is an element: the next one for step 1, the previous one for -1.
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

// textContent returns all text in n, visible or not.
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

// shownText returns the text in n that has a layout, with a space around each element that is not inline.
func (n *node) shownText() string {
	if n.tag == "" {
		if n.boxed {
			return n.text
		}
		return ""
	}
	var b strings.Builder
	for _, c := range n.children {
		b.WriteString(c.shownText())
	}
	if n.display == "inline" {
		return b.String()
	}
	return " " + b.String() + " "
}

// refs returns the elements whose ids are in an attribute of n.
func (p *page) refs(n *node, attribute string) []*node {
	var found []*node
	for _, id := range strings.FieldsFunc(n.attr(attribute), isHTMLSpace) {
		if e := p.lookUp(n, id); e != nil && !slices.Contains(found, e) {
			found = append(found, e)
		}
	}
	return found
}

// lookUp returns the element with an id in the tree of n. Where that tree is estimated, it also searches
// the trees around it.
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

// control returns the control of a label.
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

// inputType returns the type of an input element as the browser interprets it.
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
