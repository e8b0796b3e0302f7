package screen

import (
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/text"
)

// View is a screen as it was shown at one moment.
type View struct {
	URL  string // of the page, or what the device has instead; may be empty
	Tree *Tree
	Ref  func(*Node) string // the reference of a node, such as References.Ref

	Status string // of a page that was answered with an error, in words
}

// Changes writes what differs between two views of a screen, one line for each element, in at most maxBytes bytes, 0
// for no bound:
//
//   - "+ " and the line of the text form for an element that was added, below the added element that it is in;
//   - "~ " and the new line for one whose name, content or state changed, with the states that it has no longer;
//   - "- " and the old line for one that was removed. Elements inside it are only counted.
//
// An element that was rendered again and is as before is not a change; [References.Lookup] finds it by its old
// reference. When after is another document than before, it writes the new URL and the text form of after, or where
// that is too long, its headings, controls and texts; if it is the same page again, first those that before did not
// have. The order of elements is not compared.
func Changes(before, after View, maxBytes int) string {
	d := &difference{identities: map[identity]int{}}
	d.before, d.after = d.shownOn(before), d.shownOn(after)
	d.match()
	if d.keepsNone() && OtherDocument(before, after) {
		return otherScreen(before, after, maxBytes)
	}
	lines := joinEqual(d.lines())
	if before.URL != after.URL {
		lines = append([]change{{"the URL is now " + quote(after.URL), importantChange}}, lines...)
	}
	switch {
	case len(lines) > 0:
		return joinBounded(lines, maxBytes)
	case d.reordered():
		return "only the order of the elements changed"
	}
	return "nothing on the screen changed"
}

// otherScreen writes a screen of which no element was known.
func otherScreen(before, after View, maxBytes int) string {
	head := "the screen is now another one"
	if after.URL != "" {
		head = "the page is now " + quote(after.URL)
		if after.Status != "" {
			head += ", answered with " + after.Status
		}
	}
	text := after.Tree.Text(TextOptions{Ref: after.Ref})
	if whole := strings.TrimSuffix(head+"\n"+text.String(), "\n"); maxBytes == 0 || len(whole) <= maxBytes {
		return whole
	}
	return head + outline(before.Tree.Text(TextOptions{}).Lines, text.Lines, maxBytes-len(head))
}

// difference is what differs between two views.
type difference struct {
	before, after []*shownElement
	identities    map[identity]int
}

// identity is what an element keeps: its key, and without one, its text and its place among equal texts of its parent.
type identity struct {
	key    Key
	parent int // number of the parent's identity
	text   string
	nth    int
}

// shownElement is an element with a line in the text form.
type shownElement struct {
	node   *Node
	id     int // number of its identity
	parent *shownElement
	at     location
	text   string        // its line without a reference
	ref    string        // "" without one
	other  *shownElement // the same element in the other view; nil when there is none
	again  bool          // other has another key
	depth  int           // of its line among the changes; -1 when it has none
}

// shownOn returns the elements of a view that have a line.
func (d *difference) shownOn(v View) []*shownElement {
	var list []*shownElement
	counts, locations := map[identity]int{}, v.Tree.locations()
	above := make([]*shownElement, len(v.Tree.nodes)) // the shown element at or above each node
	for i, n := range v.Tree.nodes {
		var parent *shownElement
		if up := v.Tree.parents[i]; up >= 0 {
			parent = above[up]
		}
		above[i] = parent
		if !n.shown() {
			continue
		}
		e := &shownElement{node: n, parent: parent, at: locations[i], text: n.line(""), depth: -1}
		if v.Ref != nil {
			e.ref = v.Ref(n)
		}
		e.id = d.number(e, counts)
		list = append(list, e)
		above[i] = e
	}
	return list
}

// number returns the number of an element's identity. counts has the number of texts without a key that were seen.
func (d *difference) number(e *shownElement, counts map[identity]int) int {
	id := identity{key: e.node.Key}
	if id.key == "" {
		id.text = e.text
		if e.parent != nil {
			id.parent = e.parent.id
		}
		counts[id]++
		id.nth = counts[id]
	}
	number, ok := d.identities[id]
	if !ok {
		number = len(d.identities) + 1
		d.identities[id] = number
	}
	return number
}

// match connects the elements that are in both views: those with the same identity, those without a reference whose
// line is the same, and those whose role and name exist once in each view, in the same place, because they were
// rendered again.
func (d *difference) match() {
	byID := make(map[int]*shownElement, len(d.before))
	for _, e := range d.before {
		byID[e.id] = e
	}
	for _, e := range d.after {
		if same := byID[e.id]; same != nil && same.other == nil {
			e.other, same.other = same, e
		}
	}
	left := map[string][]*shownElement{}
	countBefore, countAfter := map[string]int{}, map[string]int{}
	for _, e := range d.before {
		countBefore[e.lastingText()]++
		if e.other == nil {
			left[e.lastingText()] = append(left[e.lastingText()], e)
		}
	}
	for _, e := range d.after {
		countAfter[e.lastingText()]++
	}
	for _, e := range d.after {
		name := e.lastingText()
		if e.other != nil || len(left[name]) == 0 {
			continue
		}
		same := left[name][0]
		onlyOne := e.node.caption() != "" && countBefore[name] == 1 && countAfter[name] == 1 && e.takesPlaceOf(same)
		if onlyOne || e.ref == "" && same.ref == "" {
			e.other, same.other, e.again = same, e, true
			left[name] = left[name][1:]
		}
	}
}

// takesPlaceOf is as in [References.Lookup].
func (e *shownElement) takesPlaceOf(other *shownElement) bool {
	return e.node.Key.document() == other.node.Key.document() && e.at.equals(other.at)
}

// lastingText returns what an element keeps when it is rendered again: its role and name if it has a reference, as in
// [References.Lookup], else its line.
func (e *shownElement) lastingText() string {
	if e.ref == "" {
		return e.text
	}
	return "[ref] " + describe(e.node.RoleName(), e.node.caption())
}

// keepsNone reports whether no element with a key is in both views.
func (d *difference) keepsNone() bool {
	for _, e := range d.after {
		if e.node.Key != "" && e.other != nil && !e.again {
			return false
		}
	}
	return true
}

// OtherDocument reports whether the root of a view is another one than before, and where roots have no keys, whether
// the URL is.
func OtherDocument(before, after View) bool {
	first, last := before.Tree.Root(), after.Tree.Root()
	if first == nil || last == nil {
		return before.URL != after.URL || first != last
	}
	from, to := first.Key, last.Key
	if from == "" || to == "" {
		return before.URL != after.URL
	}
	return from != to
}

// change is a line of the changes. When not all of them fit, those of a lower class are kept first.
type change struct {
	line  string
	class int
}

// The classes of changes.
const (
	importantChange = iota // of an element that was there before, or a message to the user
	addition
	removal
	classesOfChanges
)

// lines returns the changes: what was added or changed, in the order of the later view, then what was removed.
func (d *difference) lines() []change {
	var out []change
	for _, e := range d.after {
		switch {
		case e.other == nil && hasWord("alert alertdialog dialog status", e.node.RoleName()):
			out = append(out, change{"+ " + e.changedLine(e.ref), importantChange})
		case e.other == nil:
			out = append(out, change{"+ " + e.changedLine(e.ref), addition})
		case e.other.text != e.text:
			out = append(out, change{"~ " + e.changedLine(e.ref) + e.lostStates(), importantChange})
		}
	}
	for i, e := range d.before {
		if e.other != nil || e.parent != nil && e.parent.depth >= 0 {
			if e.other == nil {
				e.depth = 0 // it is inside a removed element, which counts it
			}
			continue
		}
		line := "- " + e.changedLine(e.ref)
		if inside := d.removedInside(i); inside > 0 {
			line += fmt.Sprintf(" (with %s in it)", elements(inside))
		}
		out = append(out, change{line, removal})
	}
	return out
}

// lostStates returns the states that the element had in the other view and has no longer, as in: (no longer checked).
func (e *shownElement) lostStates() string {
	has := map[string]bool{}
	for _, state := range e.node.StateWords() {
		name, _, _ := strings.Cut(state, "=")
		has[name] = true
	}
	var lost []string
	for _, state := range e.other.node.StateWords() {
		if name, _, _ := strings.Cut(state, "="); !has[name] {
			lost = append(lost, name)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return " (no longer " + strings.Join(lost, ", ") + ")"
}

// joinEqual writes equal lines that follow each other once, with their number.
func joinEqual(lines []change) []change {
	var out []change
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i] {
			n++
		}
		out = append(out, lines[i])
		if n > 1 {
			out[len(out)-1].line += fmt.Sprintf(" (%d times)", n)
		}
		i += n
	}
	return out
}

// changedLine returns the line of a changed element, indented below its parent if that changed, too.
func (e *shownElement) changedLine(ref string) string {
	e.depth = 0
	if e.parent != nil && e.parent.depth >= 0 {
		e.depth = e.parent.depth + 1
	}
	return Line{Depth: e.depth, Text: e.node.line(ref)}.indentedText()
}

// removedInside returns the number of removed elements inside the one at a position of before.
func (d *difference) removedInside(at int) int {
	count := 0
	inside := map[*shownElement]bool{d.before[at]: true}
	for _, e := range d.before[at+1:] {
		if e.parent == nil || !inside[e.parent] {
			break
		}
		inside[e] = true
		if e.other == nil {
			count++
		}
	}
	return count
}

// reordered reports whether the elements that are in both views have another order.
func (d *difference) reordered() bool {
	place := 0
	for _, e := range d.after {
		if e.other == nil || e.again {
			continue
		}
		for place < len(d.before) && d.before[place] != e.other {
			place++
		}
		if place == len(d.before) {
			return true
		}
	}
	return false
}

// joinBounded joins lines in at most maxBytes bytes, and counts those that do not fit.
func joinBounded(lines []change, maxBytes int) string {
	if whole := join(lines, nil); maxBytes == 0 || len(whole) <= maxBytes {
		return whole
	}
	more := func(count int) string { return "… " + text.Count(count, "more change") }
	room := maxBytes - len(more(len(lines))) - 1
	left := map[int]bool{}
	for class := range classesOfChanges {
		for i, l := range lines {
			if l.class != class {
				continue
			}
			if room -= len(l.line) + 1; room < -1 {
				left[i] = true
			}
		}
	}
	return strings.TrimPrefix(join(lines, left)+"\n"+more(len(left)), "\n")
}

// join joins the lines that are not left out.
func join(lines []change, left map[int]bool) string {
	var kept []string
	for i, l := range lines {
		if !left[i] {
			kept = append(kept, l.line)
		}
	}
	return strings.Join(kept, "\n")
}
