// Package aria formats a page like Playwright's ARIA snapshot, and resolves references e1, e2, … in recordings to
// elements (specification, section 15.1). Its input is a DOM capture, and its output are lines; it does not use a
// browser. A Tree may be used by one goroutine.
//
// The package follows Playwright's rules for which elements have a line, and for their role, name and state, because
// these determine which element e12 is. It does not use the browser's accessibility tree. That tree has no names of
// rows, no table sections, and nothing that is far out of view under content-visibility. It has names as a style sheet
// shows them (PAY for Pay), does not show where text ends, and is ten times slower to get. A capture lacks some
// information that Playwright has:
//
//   - options of a closed drop-down count as hidden by their hidden attribute or own style only, not by a style sheet;
//   - aria-*Elements that a script sets without the corresponding attribute are ignored;
//   - the tree in which an id is looked up is only estimated where one shadow tree contains another;
//   - ::before and ::after are ignored where they are not shown, as in a text field. Playwright reads their style.
//
// The value of a password field is written as dots, as the browser shows it. Playwright writes the value.
package aria

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// Line is an element, or a text between elements. Its fields have Playwright's format.
type Line struct {
	Ref           string // e1, e2, …; empty for a line that has no number
	Role          string // "text" for a text between elements
	Name          string
	Depth         int
	Attributes    []string // the states in brackets: checked, level=2
	Properties    []Property
	Text          string         // the text of a line, or of an element with no other content
	Markup        string         // of a control without a name in a live session, such as class=btn-print
	BackendNodeID int            // of the element in the DevTools protocol; 0 for a text
	Record        *screen.Record // of a control in a live session

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

// Snapshot returns the tree of the main document of a capture.
func Snapshot(c *Capture) *Tree { return newPage(c, false).snapshot() }

// SnapshotWithLabelled returns the tree of the main document of a capture with what Snapshot leaves out and a person
// can use all the same: check boxes and radio buttons that are hidden and have a visible label.
func SnapshotWithLabelled(c *Capture) *Tree {
	p := newPage(c, false)
	p.withLabelled = true
	return p.snapshot()
}

// LiveSnapshot is SnapshotWithLabelled with what people can click or edit although it has no role, as a generic element
// with the state clickable or editable, with the texts in text boxes that are no fields of HTML, and with what is in closed
// shadow trees, which selectors by role and name find. Its numbers are not those of the other snapshots.
func LiveSnapshot(c *Capture) *Tree {
	p := newPage(c, true)
	p.withLabelled = true
	t := p.snapshot()
	t.addRecords()
	return t
}

func (p *page) snapshot() *Tree {
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

// Within returns the snapshot of one element. Its lines have the same numbers as in t. It returns false if t does not
// contain the element.
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

// Lines returns the lines in order. The caller must not change them.
func (t *Tree) Lines() []Line { return t.lines }

// Place says in what an element is, such as `in row "Bob 12.50"`: the innermost element around it with another name.
// Empty when none has one.
func (t *Tree) Place(backendNodeID int) string {
	at := slices.IndexFunc(t.lines, func(l Line) bool { return l.BackendNodeID == backendNodeID })
	if at < 0 {
		return ""
	}
	name, depth := t.lines[at].Name, t.lines[at].Depth
	for _, l := range slices.Backward(t.lines[:at]) {
		if l.Depth >= depth {
			continue
		}
		if depth = l.Depth; l.Name != "" && l.Name != name {
			return fmt.Sprintf("in %s %q", l.Role, text.Shorten(l.Name, 60))
		}
	}
	return ""
}

// Ref returns the line of a reference such as e12.
func (t *Tree) Ref(ref string) (Line, bool) {
	i, ok := t.refs[ref]
	if !ok {
		return Line{}, false
	}
	return t.lines[i], true
}

// numbered implements the rule of section 15.1 of the specification for which lines have a number.
func (l *Line) numbered() bool {
	switch {
	case l.node == nil || screen.IsStructural(l.Role):
		return false
	case screen.IsNumberedControl(l.Role):
		return true
	}
	return l.Name != "" || l.Text != ""
}
