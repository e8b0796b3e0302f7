package aria

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Screen returns the snapshot as a tree of pkg/screen. ref returns the reference of one of its nodes, such as e12, and
// "" for a node without one. document identifies the captured document: the keys of its elements begin with it.
func (t *Tree) Screen(document string) (tree *screen.Tree, ref func(*screen.Node) string) {
	refs := map[*screen.Node]string{}
	root := t.Nodes(document, func(n *screen.Node, l Line) { refs[n] = l.Ref })
	return screen.NewTree(root, 0, 0, screen.Web), func(n *screen.Node) string { return refs[n] }
}

// Nodes returns the snapshot as nodes of pkg/screen, below a root that stands for the document. It calls each for every
// node with its line. document is as for Screen.
func (t *Tree) Nodes(document string, each func(*screen.Node, Line)) *screen.Node {
	root := &screen.Node{Role: "generic"}
	path := []*screen.Node{root} // the last node of each depth
	for _, l := range t.lines {
		n := l.screenNode(document)
		each(n, l)
		path = path[:min(l.Depth+1, len(path))]
		parent := path[len(path)-1]
		parent.Children = append(parent.Children, n)
		path = append(path, n)
	}
	if len(root.Children) == 1 && root.Children[0].Role == "document" && t.lines[0].Ref == "" {
		root = root.Children[0]
		root.Role = "generic" // every page is a document, so its line has no information
	}
	return root
}

// screenNode returns a line as a node without children.
func (l *Line) screenNode(document string) *screen.Node {
	if l.node == nil {
		return &screen.Node{Role: "text", Text: &l.Text}
	}
	n := &screen.Node{Role: l.Role, Key: screen.Key(document + "/" + strconv.Itoa(l.BackendNodeID))}
	if l.Name != "" {
		n.Label = &l.Name
	}
	n.Markup, n.Record = l.Markup, l.Record
	switch {
	case l.Text == "":
	case screen.IsTextInput(l.Role), slices.Contains(l.Attributes, "editable"):
		n.Value = &l.Text
	default:
		n.Text = &l.Text
	}
	for _, p := range l.Properties {
		if p.Name == "placeholder" {
			n.Hint = &p.Value
		}
	}
	n.Password = l.node.tag == "INPUT" && l.node.inputType() == "password"
	n.Editable = screen.IsTextInput(l.Role)
	n.Kind = l.node.kind()
	if l.node.tag == "SELECT" {
		n.Options = l.node.options()
	}
	for _, attribute := range l.Attributes {
		setState(n, attribute)
	}
	return n
}

// setState sets a state of n from an attribute such as checked, or checked=mixed.
func setState(n *screen.Node, attribute string) {
	name, value, _ := strings.Cut(attribute, "=")
	toggle := screen.ToggleOn
	if value == "mixed" {
		toggle = screen.ToggleMixed
	}
	switch name {
	case "checked":
		n.Checked = toggle
	case "pressed":
		n.Pressed = toggle
	case "disabled":
		n.Disabled = true
	case "expanded":
		n.Expanded = true
	case "selected":
		n.Selected = true
	case "invalid":
		n.Invalid = value
		if value == "" {
			n.Invalid = "true"
		}
	case "clickable":
		n.Clickable = true
	case "editable":
		n.Editable = true
	case "level":
		n.Level, _ = strconv.Atoi(value)
	}
}

// kind is described at [screen.Details].
func (n *node) kind() string {
	switch {
	case n.tag == "INPUT":
		return n.inputType()
	case n.tag == "TEXTAREA":
		return "textarea"
	case n.tag == "SELECT" && n.has("multiple"):
		return "select-multiple"
	case n.tag == "SELECT":
		return "select"
	case n.isEditor():
		return "contenteditable"
	}
	return ""
}

// options returns the options of a select.
func (n *node) options() (list []screen.Option) {
	for _, o := range n.findAll(nil, func(e *node) bool { return e.tag == "OPTION" }) {
		text := normalize(o.textContent())
		option := screen.Option{Label: text, Value: text, Selected: o.selected, Disabled: o.nativelyDisabled()}
		if label := o.attr("label"); label != "" {
			option.Label = label
		}
		if o.has("value") {
			option.Value = o.attr("value")
		}
		list = append(list, option)
	}
	return list
}
