// Package axtree chooses among the nodes of the browser's accessibility tree, by role and name. Roles are written as
// the browser does.
package axtree

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// Node is a node of the tree, as the browser sends it.
type Node struct {
	ID            string   `json:"nodeId"`
	Children      []string `json:"childIds"`
	Ignored       bool     `json:"ignored"`
	Role          Value    `json:"role"`
	Name          Value    `json:"name"`
	BackendNodeID int      `json:"backendDOMNodeId"`
}

// Value is a value of the tree, of any type.
type Value struct {
	Value any `json:"value"`
}

// Text returns the value if it is a text, else "".
func (v Value) Text() string {
	text, _ := v.Value.(string)
	return text
}

// NewNode returns a node for an element that was found in another way than in the tree.
func NewNode(role, name string, backendNodeID int) Node {
	return Node{Role: Value{role}, Name: Value{name}, BackendNodeID: backendNodeID}
}

// Matching removes all nodes but those with a role, with exactly this name, or both; an empty one is not asked for. It
// changes nodes, and returns what is left of them.
func Matching(nodes []Node, role, name string) []Node {
	return slices.DeleteFunc(nodes, func(n Node) bool {
		is := n.Role.Text()
		return n.Ignored || n.BackendNodeID == 0 || role == "" && (is == "StaticText" || is == "RootWebArea") ||
			role != "" && is != role || name != "" && n.Name.Text() != name
	})
}

// InDocumentOrder sorts the nodes of a tree, of which the first is the root.
func InDocumentOrder(nodes []Node) []Node {
	byID := make(map[string]Node, len(nodes))
	for _, n := range nodes[min(1, len(nodes)):] {
		byID[n.ID] = n
	}
	ordered := make([]Node, 0, len(nodes))
	for next := nodes[:min(1, len(nodes))]; len(next) > 0; {
		n := next[len(next)-1]
		next = next[: len(next)-1 : len(next)-1]
		ordered = append(ordered, n)
		for _, id := range slices.Backward(n.Children) {
			if child, ok := byID[id]; ok {
				delete(byID, id)
				next = append(next, child)
			}
		}
	}
	return ordered
}

// FilterByName sorts nodes by whether they have a name: into those whose name matches, those whose name matches in
// another case, and the names of the others. Where the name is a pattern, and some nodes have it as it is written, such as
// "Remove (1)", only those match.
func FilterByName(n *syntax.ElementName, nodes []Node) (found, inAnotherCase []Node, others []string) {
	for _, node := range nodes {
		exactly, folded := n.Matches(node.Name.Text())
		switch {
		case exactly:
			found = append(found, node)
		case folded:
			inAnotherCase = append(inAnotherCase, node)
		case node.Name.Text() != "":
			others = append(others, node.Name.Text())
		}
	}
	literally := slices.DeleteFunc(slices.Clone(found), func(node Node) bool { return !n.Is(node.Name.Text()) })
	if len(literally) > 0 {
		found = literally
	}
	return found, inAnotherCase, others
}

// Controls returns the controls among nodes: those with one of the preferred roles, or when there are none, all.
func Controls(nodes []Node, preferred []string) []Node {
	withRole := func(has func(role string) bool) []Node {
		return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return !has(n.Role.Text()) })
	}
	best := withRole(func(role string) bool { return slices.Contains(preferred, role) })
	if len(best) > 0 {
		return best
	}
	return withRole(screen.IsBrowserControl)
}
