package screen

import (
	"cmp"
	"slices"
	"strings"
)

// place is where an element stands: what tells its row, list item or labelled group from others.
type place struct {
	path  string // dialogs, landmarks, labelled groups, and rows with all texts in them, from the root down
	first string // the first text in the innermost row or list item
}

// location is a place, and which page it is on.
type location struct {
	*place
	page    Page
	heading string // the last one before the element, in the same part of the page
	text    string // in a document without such a heading, the last text before the element, else the first of all
}

func (l location) equals(other location) bool {
	if l.heading == "" && l.page.Title != other.page.Title {
		return false
	}
	return l.path == other.path && l.page.Address == other.page.Address && l.textAbove() == other.textAbove()
}

// textAbove returns what people read above the element.
func (l location) textAbove() string { return cmp.Or(l.heading, l.text) }

const (
	// asides are the landmarks beside the content of a page, to which headings of the content do not apply.
	asides  = "banner complementary contentinfo navigation"
	dialogs = "alertdialog dialog"
	// landmarks tell what is inside from what is elsewhere, even without a name.
	landmarks = "form main region search tabpanel " + asides
	// passing are the roles of what comes and goes while the page stays the same.
	passing = "alert log marquee progressbar status timer tooltip"
)

// locations returns where each node stands, in the order of the tree.
func (t *Tree) locations() []location {
	out, read := make([]location, len(t.nodes)), t.textsAbove()
	for i, n := range t.nodes {
		above := &place{}
		switch parent := t.parents[i]; {
		case parent >= 0:
			above = out[parent].place
		case n.Key.document() == "": // a phone, which has no documents
			above.path = t.title()
		}
		out[i] = location{t.placeOf(i, above), t.Pages[n.Key.document()], read[i].heading, ""}
		if n.Key.document() != "" && read[i].heading == "" {
			out[i].text = read[i].text
		}
	}
	return out
}

// texts are what people read above an element, in the same part of the page.
type texts struct {
	heading string // the last one
	text    string // the last one since the heading
}

// textsAbove returns the texts above each node. Where the content has none above, the first one of the content counts.
func (t *Tree) textsAbove() []texts {
	type part struct {
		end    int
		before texts
		aside  bool
	}
	var around []part
	out, last, first := make([]texts, len(t.nodes)), texts{}, ""
	var topmost []int // the nodes in the content with nothing above them
	for i, n := range t.nodes {
		for len(around) > 0 && around[len(around)-1].end <= i {
			last, around = around[len(around)-1].before, around[:len(around)-1]
		}
		aside := hasWord(asides, n.RoleName())
		if aside || n.IsRow() || hasWord(dialogs+" "+passing, n.RoleName()) {
			around = append(around, part{t.ends[i], last, aside})
		}
		if aside {
			last = texts{}
		}
		out[i] = last
		if last == (texts{}) && !slices.ContainsFunc(around, func(p part) bool { return p.aside }) {
			topmost = append(topmost, i)
		}
		last = last.withNode(n)
		if len(around) == 0 {
			first = cmp.Or(first, last.heading, last.text)
		}
	}
	for _, i := range topmost {
		out[i].text = first
	}
	return out
}

// withNode returns the texts above what comes after n.
func (t texts) withNode(n *Node) texts {
	text := n.caption()
	switch {
	case text == "" || IsControl(n.RoleName()):
		return t
	case n.Heading || n.RoleName() == "heading":
		return texts{heading: text}
	}
	return texts{t.heading, text}
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
func (n *Node) IsRow() bool { return IsRowRole(n.RoleName()) }

// IsRowRole reports whether role is that of a row.
func IsRowRole(role string) bool { return hasWord("row listitem treeitem article", role) }

// IsPassing reports whether role is that of what comes and goes while the page stays the same.
func IsPassing(role string) bool { return hasWord(passing, role) }

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
