package screen

import "strings"

// place is where an element stands: what tells its row, list item or labelled group from others.
type place struct {
	path  string // the document, labelled groups, and rows with all texts in them, from the root down
	first string // the first text in the innermost row or list item
}

// places returns where each node stands, in the order of the tree.
func (t *Tree) places() []*place {
	out := make([]*place, len(t.nodes))
	for i, n := range t.nodes {
		above := &place{}
		switch parent := t.parents[i]; {
		case parent >= 0:
			above = out[parent]
		case n.Key.document() == "": // a phone, which has no documents
			above.path = t.title()
		}
		out[i] = above
		switch {
		case n.IsRow():
			texts := t.textsOf(i)
			out[i] = &place{path: above.path + "\x00" + n.RoleName() + "\x01" + strings.Join(texts, "\x01")}
			if len(texts) > 0 {
				out[i].first = texts[0]
			}
		case !blank(n.Label) && len(n.Children) > 0 && !n.isTarget():
			out[i] = &place{path: above.path + "\x00" + n.RoleName() + "\x01" + n.Name(), first: above.first}
		}
	}
	return out
}

// IsRow reports whether n is one of several of its kind that have the same controls.
func (n *Node) IsRow() bool { return hasWord("row listitem treeitem article", n.RoleName()) }

// textsOf returns the texts in the row at a position that people know it by: those that are neither of a control nor in
// a row inside it.
func (t *Tree) textsOf(row int) (texts []string) {
	if content := t.nodes[row].Content(); content != "" {
		texts = append(texts, content)
	}
	for i := row + 1; i < t.ends[row]; {
		n := t.nodes[i]
		if n.IsRow() {
			i = t.ends[i]
			continue
		}
		if text := n.caption(); text != "" && !n.isUsed() {
			texts = append(texts, text)
		}
		i++
	}
	return texts
}

// isUsed reports whether n is a control that is not known as a text, as a link is.
func (n *Node) isUsed() bool { return IsControl(n.RoleName()) && n.RoleName() != "link" }

// title returns the first text of the screen that is not of a control.
func (t *Tree) title() string {
	for _, n := range t.nodes {
		if text := n.caption(); text != "" && !IsControl(n.RoleName()) && !n.IsRow() && n.RoleName() != "application" {
			return text
		}
	}
	return ""
}

// document returns what is before the last slash.
func (k Key) document() string {
	if i := strings.LastIndexByte(string(k), '/'); i >= 0 {
		return string(k[:i])
	}
	return ""
}
