package aria

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// pageNode is a line of a snapshot with its children, or a text when line is nil.
type pageNode struct {
	line     *Line
	text     string
	children []*pageNode
}

// nodes returns the lines below a node that stands for the document.
func (t *Tree) nodes() *pageNode {
	root := &pageNode{line: &Line{Role: fragment}}
	path := []*pageNode{root} // the last node of each depth
	for i := range t.lines {
		l := &t.lines[i]
		n := &pageNode{line: l}
		switch {
		case l.node == nil:
			n = &pageNode{text: l.Text}
		case l.Text != "":
			n.children = []*pageNode{{text: l.Text}}
		}
		path = path[:min(l.Depth+1, len(path))]
		parent := path[len(path)-1]
		parent.children = append(parent.children, n)
		path = append(path, n)
	}
	return root
}

// Match reports whether the tree, or a part of it, matches a template. If not, it says which elements of the template
// the tree does not have.
func (t *Tree) Match(template *Template) (ok bool, difference string) {
	root := t.nodes()
	if root.contains(template.root) {
		return true, ""
	}
	return false, root.difference(template.root)
}

// contains reports whether n or a node in it matches.
func (n *pageNode) contains(t *templateNode) bool {
	return n.matches(t, false) || slices.ContainsFunc(n.children, func(c *pageNode) bool { return c.contains(t) })
}

// matches reports whether n matches with its children. deep is true inside of /children: deep-equal.
func (n *pageNode) matches(t *templateNode, deep bool) bool {
	if !n.matchesAlone(t) {
		return false
	}
	switch {
	case n.line == nil:
		return true
	case t.mode == "equal":
		return equalLists(n.children, t.children, false)
	case t.mode == "deep-equal" || deep && t.mode == "":
		return equalLists(n.children, t.children, true)
	}
	return containsList(n.children, t.children)
}

// matchesAlone compares without children.
func (n *pageNode) matchesAlone(t *templateNode) bool {
	if n.line == nil || t.text != nil {
		return n.line == nil && t.text != nil && t.text.matches(n.text)
	}
	if t.role != fragment && t.role != n.line.Role || !t.name.matches(n.line.Name) {
		return false
	}
	for _, s := range t.states {
		if value, ok := n.line.state(s.name); !ok || value != s.value {
			return false
		}
	}
	if t.url == nil {
		return true
	}
	i := slices.IndexFunc(n.line.Properties, func(p Property) bool { return p.Name == "url" })
	return i >= 0 && t.url.matches(n.line.Properties[i].Value) || i < 0 && t.url.matches("")
}

func equalLists(nodes []*pageNode, templates []*templateNode, deep bool) bool {
	if len(nodes) != len(templates) {
		return false
	}
	for i, n := range nodes {
		if !n.matches(templates[i], deep) {
			return false
		}
	}
	return true
}

// containsList reports whether nodes match templates in their order, with others in between.
func containsList(nodes []*pageNode, templates []*templateNode) bool {
	for _, t := range templates {
		i := slices.IndexFunc(nodes, func(n *pageNode) bool { return n.matches(t, false) })
		if i < 0 {
			return false
		}
		nodes = nodes[i+1:]
	}
	return true
}

// state returns the value of a state. It is false for a state that elements of the role do not have.
func (l *Line) state(name string) (string, bool) {
	has := map[string]roles{
		"checked": withChecked, "disabled": withDisabled, "expanded": withExpanded, "invalid": withInvalid,
		"level": withLevel, "pressed": " button ", "selected": withSelected,
	}[name]
	if !has.has(l.Role) {
		return "", false
	}
	for _, attribute := range l.Attributes {
		if key, value, found := strings.Cut(attribute, "="); key == name {
			if !found {
				value = "true"
			}
			return value, true
		}
	}
	switch {
	case name == "level":
		return "0", true
	case name == "expanded" && l.node != nil && l.node.tag != "DETAILS" && !l.node.has("aria-expanded"):
		return "", false
	}
	return "false", true
}

// maxDifferences is how many elements of a template are named that the page does not have.
const maxDifferences = 5

// difference says which nodes of a template match nothing, even alone, and what is similar.
func (n *pageNode) difference(t *templateNode) string {
	var missing []string
	t.walk(func(expected *templateNode) {
		if expected.role != fragment && !n.has(expected) {
			missing = append(missing, "- "+expected.line+n.similar(expected))
		}
	})
	if len(missing) == 0 {
		more := ""
		t.walk(func(whole *templateNode) {
			if more == "" && strings.HasSuffix(whole.mode, "equal") {
				more = n.surplus(whole)
			}
		})
		if more != "" {
			return "the page has each of its elements, but not only these: " + more
		}
		return "the page has each of its elements, but not in this order and nesting"
	}
	more := ""
	if left := len(missing) - maxDifferences; left > 0 {
		missing, more = missing[:maxDifferences], fmt.Sprintf("\n(and %d more)", left)
	}
	return "the page does not have\n" + strings.Join(missing, "\n") + more
}

// surplus says what n, or a node in it, has besides the children that a template with /children: equal lists; empty if
// there is none.
func (n *pageNode) surplus(t *templateNode) string {
	if n.matchesAlone(t) && len(n.children) > len(t.children) && containsList(n.children, t.children) {
		var more []string
		left := t.children
		for _, c := range n.children {
			if len(left) > 0 && c.matches(left[0], false) {
				left = left[1:]
			} else if len(more) < maxDifferences {
				more = append(more, c.caption())
			}
		}
		return fmt.Sprintf("%s has %s, which /children: %s does not allow", cmp.Or(t.line, "the page"), strings.Join(more, ", "), t.mode)
	}
	for _, c := range n.children {
		if more := c.surplus(t); more != "" {
			return more
		}
	}
	return ""
}

// walk calls visit with t and what is in it. The text of an element belongs to its line.
func (t *templateNode) walk(visit func(*templateNode)) {
	visit(t)
	for _, c := range t.children {
		if !t.ownText(c) {
			c.walk(visit)
		}
	}
}

// ownText reports whether c is the text of t: heading: Cart.
func (t *templateNode) ownText(c *templateNode) bool {
	return len(t.children) == 1 && c.text != nil && t.role != fragment
}

// has reports whether n or a node in it matches t alone, or with its own text.
func (n *pageNode) has(t *templateNode) bool {
	own := len(t.children) == 1 && t.ownText(t.children[0])
	if n.matchesAlone(t) && (!own || n.matches(t, false)) {
		return true
	}
	return slices.ContainsFunc(n.children, func(c *pageNode) bool { return c.has(t) })
}

// similar returns the names, or the texts, of elements with the role of t.
func (n *pageNode) similar(t *templateNode) string {
	var candidates []string
	var collect func(*pageNode)
	collect = func(n *pageNode) {
		switch {
		case n.line == nil && t.text != nil:
			candidates = append(candidates, strconv.Quote(shorten(n.text)))
		case n.line != nil && n.line.Role == t.role:
			candidates = append(candidates, n.caption())
		}
		for _, c := range n.children {
			collect(c)
		}
	}
	collect(n)
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	near := fault.Nearest(t.line, candidates)
	if len(near) == 0 {
		near = candidates
	}
	switch {
	case len(near) == 0 && t.text == nil:
		return fmt.Sprintf(" (no %s was found)", t.role)
	case len(near) == 0:
		return ""
	}
	return " (found: " + strings.Join(near[:min(3, len(near))], ", ") + ")"
}

// caption is the line of n in short.
func (n *pageNode) caption() string {
	if n.line == nil {
		return strconv.Quote(shorten(n.text))
	}
	caption := n.line.key()
	if n.line.Text != "" {
		caption += ": " + n.line.Text
	}
	return shorten(caption)
}

// shorten shortens a text for a message.
func shorten(s string) string { return text.Shorten(s, 80) }
