// Package aria writes a page the way Playwright's ARIA snapshot does, and says which element a reference e1, e2, … in a
// recording means (specification, section 15.1). Data in, lines out: it knows no browser and a Tree belongs to one
// goroutine.
//
// It follows Playwright's rules for what gets a line, under which role, name and state, because these decide what e12
// is. It reads a DOM capture and not the browser's accessibility tree: that one leaves out rows' names, table sections
// and whatever is scrolled far out of view under content-visibility, writes names as they are styled (PAY for Pay),
// says nothing of where text ends, and is ten times slower to get. What a capture cannot tell, and Playwright could:
//
//   - options of a closed drop-down count as hidden by their hidden attribute or own style only, not by a style sheet;
//   - aria-*Elements set from a script without the attribute that belongs to it are not seen;
//   - the tree that an id is looked up in is a guess where one shadow tree hosts another;
//   - ::before and ::after do not count where they are not shown, as in a text field, though Playwright reads their style.
//
// What stands in a password field is dots, as the browser shows it; Playwright tells it.
package aria

import (
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Line is an element, or a text between elements. Its fields are as Playwright writes them.
type Line struct {
	Ref           string // e1, e2, …; empty for a line that has no number
	Role          string // "text" for a text between elements
	Name          string
	Depth         int
	Attributes    []string // what stands in brackets: checked, level=2
	Properties    []Property
	Text          string // the text, or the whole content of an element that has no other
	BackendNodeID int    // of the element in the DevTools protocol; 0 for a text

	node *node
}

// Property is a "/name: value" line below a link or a text box.
type Property struct{ Name, Value string }

// Tree is the snapshot of a page, or of an element in it.
type Tree struct {
	lines []Line
	refs  map[string]int // index of the line
	page  *page
}

// Snapshot writes the main document of a capture.
func Snapshot(c *Capture) *Tree {
	p := newPage(c)
	t := &Tree{page: p, refs: map[string]int{}, lines: p.lines(p.root)}
	number := 0
	for i := range t.lines {
		if t.lines[i].numbered() {
			number++
			t.lines[i].Ref = "e" + strconv.Itoa(number)
			t.refs[t.lines[i].Ref] = i
		}
	}
	return t
}

// Within is the snapshot of an element alone; its lines keep the numbers that they have in t. It is false for a node
// that t has not seen.
func (t *Tree) Within(backendNodeID int) (*Tree, bool) {
	n := t.page.byID[backendNodeID]
	if n == nil {
		return nil, false
	}
	refs := make(map[*node]string, len(t.refs))
	for ref, i := range t.refs {
		refs[t.lines[i].node] = ref
	}
	part := &Tree{page: t.page, refs: map[string]int{}, lines: t.page.lines(n)}
	for i := range part.lines {
		if l := &part.lines[i]; l.node != nil && refs[l.node] != "" {
			l.Ref = refs[l.node]
			part.refs[l.Ref] = i
		}
	}
	return part, true
}

// Lines are the lines in order. They are the tree's own.
func (t *Tree) Lines() []Line { return t.lines }

// Ref is the line that a reference like e12 means.
func (t *Tree) Ref(ref string) (Line, bool) {
	i, ok := t.refs[ref]
	if !ok {
		return Line{}, false
	}
	return t.lines[i], true
}

// numbered is the rule of section 15.1.
func (l *Line) numbered() bool {
	switch {
	case l.node == nil || screen.IsStructural(l.Role):
		return false
	case screen.IsNumberedControl(l.Role):
		return true
	}
	return l.Name != "" || l.Text != ""
}
