package screen

import "strings"

// place is where an element stands: what tells its row, list item or labelled group from others.
type place struct {
	path  string // dialogs, landmarks, labelled groups, and rows with all texts in them, from the root down
	first string // the first text in the innermost row or list item
}

// location is a place, and which page it is on.
type location struct {
	*place
	address string // of the document
	heading string // the last one before the element, in the same part of the page
}

func (l location) equals(other location) bool {
	return l.path == other.path && l.address == other.address && l.heading == other.heading
}

const (
	// asides are the landmarks beside the content of a page, to which headings of the content do not apply.
	asides  = "banner complementary contentinfo navigation"
	dialogs = "alertdialog dialog"
	// landmarks tell what is inside from what is elsewhere, even without a name.
	landmarks = "form main region search tabpanel " + asides
)

// locations returns where each node stands, in the order of the tree.
func (t *Tree) locations() []location {
	out := make([]location, len(t.nodes))
	type part struct {
		end     int
		heading string // before it
	}
	var around []part
	heading := ""
	for i, n := range t.nodes {
		for len(around) > 0 && around[len(around)-1].end <= i {
			heading, around = around[len(around)-1].heading, around[:len(around)-1]
		}
		if n.IsRow() || hasWord(dialogs+" "+asides, n.RoleName()) {
			around = append(around, part{t.ends[i], heading})
		}
		if hasWord(asides, n.RoleName()) {
			heading = ""
		}
		above := &place{}
		switch parent := t.parents[i]; {
		case parent >= 0:
			above = out[parent].place
		case n.Key.document() == "": // a phone, which has no documents
			above.path = t.title()
		}
		out[i] = location{t.placeOf(i, above), t.Addresses[n.Key.document()], heading}
		if text := n.caption(); text != "" && (n.Heading || n.RoleName() == "heading") {
			heading = text
		}
	}
	return out
}

// placeOf returns the place of the node at a position, whose parent is in the place above.
func (t *Tree) placeOf(i int, above *place) *place {
	n, inside := t.nodes[i], *above
	switch role := n.RoleName(); {
	case n.IsRow():
		texts := t.textsOf(i)
		inside.path += "\x00" + role + "\x01" + strings.Join(texts, "\x01")
		inside.first = ""
		if len(texts) > 0 {
			inside.first = texts[0]
		}
	case !blank(n.Label) && len(n.Children) > 0 && !n.isTarget():
		inside.path += "\x00" + role + "\x01" + n.Name()
	case hasWord(dialogs, role): // without a name, it is known by its first text
		inside.path += "\x00" + role
		if texts := t.textsOf(i); len(texts) > 0 {
			inside.path += "\x01" + texts[0]
		}
	case hasWord(landmarks, role):
		inside.path += "\x00" + role
	default:
		return above
	}
	return &inside
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
