// Package screen describes what is on a screen, for every kind of device: a tree of nodes, selectors and the resolver
// that finds what they select, references for live sessions, and the text form that people and models read
// (specification, section 17).
//
// Data in, data out: the package does not use files and devices. A producer, such as a browser or a phone,
// builds the nodes and calls NewTree. A Tree and its nodes must not be changed after that; then they may be used by
// several goroutines at once. References has its own lock.
package screen

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Key is the identity of an element, such as frame, document and node in one string. A producer must never give two
// elements of one session the same key. The empty key stands for an unknown identity. What is before the last slash is
// the document of the element; elements of a phone have none.
type Key string

// Toggle is the state of something that can be on, off or in between.
type Toggle string

// The values of Toggle. The zero value is ToggleOff.
const (
	ToggleOff   Toggle = ""
	ToggleOn    Toggle = "true"
	ToggleMixed Toggle = "mixed"
)

// Node is an element of a screen, or a text between elements. A nil *string is a property that the device does not
// give; for selectors it differs from an empty one.
type Node struct {
	Key  Key
	Role string // an ARIA role, or "text"; empty when unknown, then it is derived from Class

	Class *string // android: className; iOS: type
	Text  *string // text; web: content of the element
	Label *string // android: contentDescription; maestro: accessibilityText; iOS: label; web: accessible name
	Hint  *string // text shown while a field is empty
	Value *string // what a field holds; compose: editableText; iosAxe: value
	ID    *string // resource id, accessibility identifier

	Bounds   *Rect // in pixels, or points on iOS; nil when unknown
	Children []*Node

	States
	Details
}

// States are the states of a node. The zero value holds the defaults of absent properties: enabled, visible, all else
// false.
type States struct {
	Disabled bool
	Hidden   bool // the device reports that it is not visible to the user

	Clickable, LongClickable, Checkable, Selected, Focused       bool
	Editable, Scrollable, Password, Heading, MultiLine, Expanded bool
	ContentSelected                                              bool // all of its content, which the next key replaces

	Checked, Pressed Toggle
	Invalid          string // "true", "grammar" or "spelling"; empty when valid
	Level            int    // of a heading, list item, row or tree item, from 1; 0 without one
}

// Details are properties that few selectors name.
type Details struct {
	TestID           *string // web: data-testid; android: compose test tag; compose: test tag
	UniqueID         *string
	LabeledBy        *string
	StateDescription *string
	PaneTitle        *string
	RoleDescription  *string
	NativeRole       *string // role as iosAxe or compose names it
	Subrole          *string
	Title            *string
	ToggleableState  *string // compose: On, Off or Indeterminate
	CustomActions    []string
	InputType        int     // android.text.InputType
	Markup           string  // web: what tells a control without a name from others, such as class=btn-print
	Record           *Record // web: what tells a control from others with its role and name
	Row, Column      *int
	DrawingOrder     int  // among siblings; a higher one is drawn later, above the others
	Unimportant      bool // isImportantForAccessibility is false
	ShowingHint      bool // Text is what an empty field shows, more than its Hint
	Dismissable      bool // accessibility can remove it, such as a notice
	KeyboardKey      bool // a key of the on-screen keyboard, such as a letter; the text form leaves it out
	// Kind is the kind of an editable control on the web: the type of an input, such as date, or select,
	// select-multiple, textarea or contenteditable; empty for other elements. Options are those of a select.
	Kind    string
	Options []Option
}

// Record is what is written around a control, in an element that does not belong to others with its role and name too.
type Record struct {
	Known string   // the text by which people know it; empty without one
	Near  []string // the texts in the smallest element around the control that has a word
	All   []string // the texts in the largest one
}

// Option is an entry of a select.
type Option struct {
	Label, Value       string
	Selected, Disabled bool
}

// Page is what tells one page of an app from others in the same document. An element at another address is another one,
// as is one that was rendered again below another title, unless a heading says that it is in its place.
type Page struct {
	Address string // such as the path of the URL
	Title   string
}

// Tree is a screen at one moment.
type Tree struct {
	// Dialects are the driver blocks of selectors that this tree supports. A block of another driver matches nothing.
	Dialects []Dialect
	// Width and Height are the size of the screen in the unit of the bounds; 0 when unknown.
	Width, Height int
	// Unavailable contains keys of selectors that this tree does not support, such as "androidAccessibility.uniqueId",
	// with the reason. Check returns an error for a selector that uses one. The producer sets it before it passes the
	// tree on.
	Unavailable map[string]string
	// Found holds the elements of blocks that the producer has looked up itself, in document order, such as those of a
	// CSS selector. Other blocks are matched against the properties of the nodes. The producer sets it before
	// resolving.
	Found map[*Block][]Key
	// Exhaustive says that all conditions of a web block count, not only those that decide (specification, section 15.1).
	Exhaustive bool
	// Pages are what the documents show that keys name. The producer sets it; a document may have none.
	Pages map[string]Page
	// Opaque says that the source does not report what takes touches without being clickable, so that everything that
	// shows something may. The producer sets it.
	Opaque bool
	// Windows are the windows of apps in the tree, the topmost first. The producer sets it; nil if it does not tell
	// them apart.
	Windows []Window

	nodes    []*Node // in the order of the tree, parents first
	parents  []int   // index of the parent, -1 for the root
	ends     []int   // index after the last descendant
	position func() map[*Node]int
	filtered func() *Tree
}

// Window is a window of an app.
type Window struct {
	App  string // its package
	Root *Node
}

// NewTree returns the tree below root, whose size is width by height, 0 when unknown. A nil root is an empty screen.
func NewTree(root *Node, width, height int, dialects ...Dialect) *Tree {
	t := &Tree{Dialects: dialects, Width: width, Height: height}
	if root != nil {
		t.add(root, -1)
	}
	t.index()
	t.filtered = sync.OnceValue(t.filter)
	return t
}

// index sets up the positions of the nodes, for the first caller that needs them.
func (t *Tree) index() {
	t.position = sync.OnceValue(func() map[*Node]int {
		position := make(map[*Node]int, len(t.nodes))
		for i, n := range t.nodes {
			position[n] = i
		}
		return position
	})
}

// add appends n and what is below it.
func (t *Tree) add(n *Node, parent int) {
	i := len(t.nodes)
	t.nodes, t.parents, t.ends = append(t.nodes, n), append(t.parents, parent), append(t.ends, 0)
	for _, child := range n.Children {
		t.add(child, i)
	}
	t.ends[i] = len(t.nodes)
}

// Root returns the root, nil for an empty screen.
func (t *Tree) Root() *Node {
	if len(t.nodes) == 0 {
		return nil
	}
	return t.nodes[0]
}

// Nodes returns all nodes, parents before their children. The caller must not change the slice.
func (t *Tree) Nodes() []*Node { return t.nodes }

// Parent returns the parent of n in this tree; nil for the root and for a node that is not in the tree.
func (t *Tree) Parent(n *Node) *Node {
	if i, ok := t.position()[n]; ok && t.parents[i] >= 0 {
		return t.nodes[t.parents[i]]
	}
	return nil
}

// Descendants returns the nodes below n in this tree, without n. The caller must not change the slice.
func (t *Tree) Descendants(n *Node) []*Node {
	i, ok := t.position()[n]
	if !ok {
		return nil
	}
	return t.nodes[i+1 : t.ends[i]]
}

// ByKey returns the node with a key, nil without one.
func (t *Tree) ByKey(key Key) *Node {
	i := slices.IndexFunc(t.nodes, func(n *Node) bool { return n.Key == key })
	if key == "" || i < 0 {
		return nil
	}
	return t.nodes[i]
}

// webView is the class whose subtree stays whole in a filtered tree.
const webView = "android.webkit.WebView"

// Filtered returns the tree without the nodes that are not important for accessibility; their children take their
// place. The root, web views with all that they hold, and leaves with a text or a label stay. The nodes are those of t.
func (t *Tree) Filtered() *Tree { return t.filtered() }

func (t *Tree) filter() *Tree {
	f := &Tree{
		Dialects: t.Dialects, Width: t.Width, Height: t.Height, Unavailable: t.Unavailable, Found: t.Found,
		Exhaustive: t.Exhaustive, Pages: t.Pages,
	}
	f.index()
	f.filtered = func() *Tree { return f }
	kept := t.important()
	before := make([]int, len(kept)+1) // how many are kept before a position
	for i, keep := range kept {
		before[i+1] = before[i] + boolInt(keep)
	}
	for i, keep := range kept {
		if !keep {
			continue
		}
		parent := t.parents[i]
		for parent >= 0 && !kept[parent] {
			parent = t.parents[parent]
		}
		if parent >= 0 {
			parent = before[parent]
		}
		f.nodes = append(f.nodes, t.nodes[i])
		f.parents = append(f.parents, parent)
		f.ends = append(f.ends, before[t.ends[i]])
	}
	return f
}

// important returns for each node whether the filtered tree keeps it.
func (t *Tree) important() []bool {
	kept := make([]bool, len(t.nodes))
	for i, n := range t.nodes { // a web view and what is in it
		kept[i] = valueOf(n.Class) == webView || i > 0 && kept[t.parents[i]]
	}
	holds := make([]bool, len(t.nodes)) // whether something below is kept
	for i, n := range slices.Backward(t.nodes) {
		kept[i] = kept[i] || i == 0 || !n.Unimportant || !holds[i] && (!blank(n.Text) || !blank(n.Label))
		if parent := t.parents[i]; parent >= 0 && (kept[i] || holds[i]) {
			holds[parent] = true
		}
	}
	return kept
}

// valueOf returns what s points to, "" for nil.
func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// blank reports whether s is absent or nothing but white space.
func blank(s *string) bool { return s == nil || strings.TrimSpace(*s) == "" }

// fold returns s with every run of white space as one space, and none around it.
func fold(s string) string {
	if folded(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// folded reports whether s is plain ASCII that fold would not change, as most texts are.
func folded(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c >= utf8.RuneSelf, c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' '):
			return false
		}
	}
	return true
}
