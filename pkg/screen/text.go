package screen

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/text"
)

// maxIndent is how many levels of nesting are indented; deeper lines are at that level.
const maxIndent = 30

// TextOptions are the part of a screen that is written, and how.
type TextOptions struct {
	MaxBytes int                // of the text, with the line that counts what is left out; 0: no bound
	Within   *Node              // the element that is written, with what is below it; nil: the whole screen
	Ref      func(*Node) string // the reference of an element, such as References.Ref; nil: none
	Whole    bool               // names and contents are not shortened
}

// Text is a screen, or what was found on it, for a person or a model to read: one line an element.
type Text struct {
	Lines []Line
	Left  int // how many elements did not fit
}

// Line is one element as text, without indentation, as in: - button "Save" [ref=e2] [disabled]. What is on the screen
// can neither end the line nor the quotes around it.
type Line struct {
	Node  *Node
	Ref   string // "" when the element cannot be referred to
	Depth int    // nesting, from 0
	Text  string
}

// String returns the lines, indented by nesting, and a line that counts the elements that are left out.
func (t Text) String() string {
	var b strings.Builder
	for i, line := range t.Lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line.indentedText())
	}
	if t.Left > 0 {
		if len(t.Lines) > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(leftOut(t.Left))
	}
	return b.String()
}

func (l Line) indentedText() string { return strings.Repeat("  ", min(l.Depth, maxIndent)) + l.Text }

func leftOut(elements int) string { return "… " + text.Count(elements, "more element") }

// Text writes the screen: the elements that show something or take touches, and the texts between them. When not all
// fit, those that are hidden are left out first.
func (t *Tree) Text(o TextOptions) Text {
	whole := t.write(o, false)
	if whole.text.Left == 0 || whole.hidden == 0 {
		return whole.text
	}
	o.MaxBytes = max(1, o.MaxBytes-len(leftOut(whole.all))-1)
	visible := t.write(o, true)
	visible.text.Left += visible.hidden
	return visible.text
}

// write writes the elements, all or those that are not hidden.
func (t *Tree) write(o TextOptions, onlyVisible bool) writer {
	from, to := t.span(o.Within)
	out := writer{options: o, all: to - from}
	depths := make([]int, to-from) // of the children of each node
	for i := from; i < to; i++ {
		depth := 0
		if i > from {
			depth = depths[t.parents[i]-from]
		}
		n := t.nodes[i]
		if n.shown() {
			if n.Hidden {
				out.hidden++
			}
			if !onlyVisible || !n.Hidden {
				out.add(n, depth)
				depth++
			}
		}
		depths[i-from] = depth
	}
	return out
}

// span returns the positions of n and of what is below it, of the whole tree for nil.
func (t *Tree) span(n *Node) (from, to int) {
	if n == nil {
		return 0, len(t.nodes)
	}
	i, ok := t.position()[n]
	if !ok {
		return 0, 0
	}
	return i, t.ends[i]
}

// writer collects lines until their bytes are used up, then counts.
type writer struct {
	options TextOptions
	text    Text
	bytes   int // of the lines, with a newline after each
	all     int // at most so many lines are added
	hidden  int // elements that are hidden
}

func (w *writer) add(n *Node, depth int) {
	if w.text.Left > 0 {
		w.text.Left++
		return
	}
	line := Line{Node: n, Depth: depth}
	if w.options.Ref != nil {
		line.Ref = w.options.Ref(n)
	}
	length := maxName
	if w.options.Whole {
		length = math.MaxInt
	}
	line.Text = n.lineUpTo(length, line.Ref, n.Name(), n.Content())
	w.text.Lines = append(w.text.Lines, line)
	w.bytes += len(line.indentedText()) + 1
	if w.options.MaxBytes > 0 && w.bytes-1 > w.options.MaxBytes {
		w.cut()
	}
}

// cut removes the last lines until those that stay have room for the line that counts.
func (w *writer) cut() {
	for room := w.options.MaxBytes - len(leftOut(w.all)); len(w.text.Lines) > 0 && w.bytes > room; {
		last := len(w.text.Lines) - 1
		w.bytes -= len(w.text.Lines[last].indentedText()) + 1
		w.text.Lines = slices.Delete(w.text.Lines, last, last+1)
		w.text.Left++
	}
}

// shown reports whether the text form has a line for n.
func (n *Node) shown() bool {
	if n.KeyboardKey {
		return false
	}
	role := n.RoleName()
	return n.caption() != "" || n.Content() != "" || n.takesTouches() || role != "text" && !IsStructural(role)
}

// Referable reports whether n has an identity and is something that a person would point at: a control, something that
// takes touches, or an element with a name or a content. A heading, a list or a landmark around such elements is not.
func (n *Node) Referable() bool {
	if n.Key == "" || n.KeyboardKey {
		return false
	}
	if n.isTarget() {
		return true
	}
	return (n.caption() != "" || n.Content() != "") && (n.IsItem() || !n.containsTarget())
}

// IsItem reports whether n is one of several of its kind, which people also act on as a whole.
func (n *Node) IsItem() bool {
	return slices.Contains([]string{"article", "cell", "gridcell", "listitem", "row", "treeitem"}, n.RoleName())
}

// isTarget reports whether people act on n.
func (n *Node) isTarget() bool { return IsControl(n.RoleName()) || n.takesTouches() }

func (n *Node) containsTarget() bool {
	return slices.ContainsFunc(n.Children, func(c *Node) bool { return c.isTarget() || c.containsTarget() })
}

// line returns n as a line of the text form.
func (n *Node) line(ref string) string {
	return n.lineWithName(ref, n.Name(), n.Content())
}

func (n *Node) lineWithName(ref, name, content string) string {
	return n.lineUpTo(maxName, ref, name, content)
}

// lineUpTo returns a line with the number of characters of the name and of the content that are shown.
func (n *Node) lineUpTo(length int, ref, name, content string) string {
	if n.Role == "text" && ref == "" {
		return "- text: " + quoteUpTo(length, name)
	}
	var b strings.Builder
	b.WriteString("- " + describeUpTo(length, n.RoleName(), name))
	if ref != "" {
		b.WriteString(" [ref=" + ref + "]")
	}
	if n.Markup != "" && name == "" && content == "" {
		b.WriteString(" [" + n.Markup + "]")
	}
	for _, state := range n.StateWords() {
		b.WriteString(" [" + state + "]")
	}
	if content != "" {
		b.WriteString(": " + quoteUpTo(length, content))
	}
	return b.String()
}

// caption returns what distinguishes the element from others of its role: its name, else content that a user cannot
// edit.
func (n *Node) caption() string {
	if name := n.Name(); name != "" {
		return name
	}
	if n.secret() || n.Editable || IsTextInput(n.RoleName()) {
		return ""
	}
	return n.Content()
}

// StateWords returns the states that the text form shows, in its order, such as checked and level=2.
func (n *Node) StateWords() []string {
	var out []string
	add := func(holds bool, state string) {
		if holds {
			out = append(out, state)
		}
	}
	toggle := func(t Toggle, state string) {
		add(t == ToggleOn, state)
		add(t == ToggleMixed, state+"=mixed")
	}
	toggle(n.Checked, "checked")
	add(n.Disabled, "disabled")
	add(n.Expanded, "expanded")
	add(n.Focused, "focused")
	add(n.Hidden, "hidden")
	add(n.Invalid == "true", "invalid")
	add(n.Invalid == "grammar" || n.Invalid == "spelling", "invalid="+n.Invalid)
	add(n.Level > 0, "level="+strconv.Itoa(n.Level))
	toggle(n.Pressed, "pressed")
	add(n.Selected, "selected")
	add(n.Clickable && !IsControl(n.RoleName()), "clickable")
	add(n.Editable && !IsControl(n.RoleName()), "editable")
	return out
}
