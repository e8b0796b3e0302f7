package aria

import (
	"slices"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Elements returns the elements of the snapshot, the elements with the backend node ids in more, and all visible texts,
// nested as in the page, below a root that stands for the document. They have bounds. The label of an element without a
// name is its text, if it has nothing but text, or with texts if it is in more. document is as for Screen.
func (t *Tree) Elements(document string, more map[int]bool, texts bool) *screen.Node {
	root := &screen.Node{Role: "generic"}
	if t.page.root == nil {
		return root
	}
	e := elements{document: document, more: more, texts: texts, lines: make(map[*node]*Line, len(t.lines))}
	for i := range t.lines {
		if n := t.lines[i].node; n != nil {
			e.lines[n] = &t.lines[i]
		}
	}
	e.add(root, t.page.root)
	return root
}

type elements struct {
	document string
	more     map[int]bool
	texts    bool
	lines    map[*node]*Line
}

// add adds n, if it is one of the elements, and what is in it to parent.
func (e *elements) add(parent *screen.Node, n *node) {
	if n.tag == "" {
		if text := normalize(n.text); text != "" && n.boxed {
			parent.Children = append(parent.Children, &screen.Node{
				Role: "text", Label: &text, Bounds: n.bounds(), Key: e.key(n),
			})
		}
		return
	}
	if own := e.element(n); own != nil {
		own.Bounds = n.bounds()
		parent.Children = append(parent.Children, own)
		parent = own
	}
	for _, child := range n.children {
		e.add(parent, child)
	}
}

// element returns n without its content, nil if it is not one of the elements.
func (e *elements) element(n *node) *screen.Node {
	if l := e.lines[n]; l != nil {
		own := l.screenNode(e.document)
		if own.Label == nil && l.Text != "" {
			own.Label = &l.Text
		}
		return e.withLabel(own, n)
	}
	if e.more[n.id] {
		return e.withLabel(&screen.Node{Role: "generic", Key: e.key(n)}, n)
	}
	return nil
}

// withLabel returns own, with the text of n as its label if it has none and should.
func (e *elements) withLabel(own *screen.Node, n *node) *screen.Node {
	if e.texts && e.more[n.id] && own.Label == nil {
		own.Label = new(normalize(n.shownText()))
	}
	return own
}

func (e *elements) key(n *node) screen.Key { return screen.Key(e.document + "/" + strconv.Itoa(n.id)) }

// Box returns where an element is laid out in its document: left, top, width and height, of all that is drawn of it
// together and as it is transformed. It is false for an element without a layout.
func (t *Tree) Box(backendNodeID int) (box [4]float64, ok bool) {
	if n := t.page.byID[backendNodeID]; n != nil && len(n.box) == 4 {
		return [4]float64(n.box), true
	}
	return box, false
}

// Shows reports whether an element has a layout and is not hidden by its style.
func (t *Tree) Shows(backendNodeID int) bool {
	n := t.page.byID[backendNodeID]
	return n != nil && n.rendered && n.visibility == "visible"
}

// Around returns the backend node ids of an element and of those around it, the innermost first. After a label comes
// its control.
func (t *Tree) Around(backendNodeID int) []int {
	var ids []int
	for n := t.page.byID[backendNodeID]; n != nil; n = n.parent {
		ids = append(ids, n.id)
		if n.tag != "LABEL" {
			continue
		}
		if control := t.page.control(n); control != nil {
			ids = append(ids, control.id)
		}
	}
	return ids
}

// InSlot returns the element that has the slot with the text of a host at a point of the document; the host where it has
// none. Points are as in Box.
func (t *Tree) InSlot(host int, x, y float64) int {
	n := t.page.byID[host]
	if n == nil {
		return host
	}
	slot := n.find(func(e *node) bool {
		return e.tag == "SLOT" && e.scope == n && slices.ContainsFunc(e.children, func(c *node) bool { return c.tag == "" && c.covers(x, y) })
	})
	if slot == nil {
		return host
	}
	return slot.id
}

// covers reports whether a point of the document is in the box of n.
func (n *node) covers(x, y float64) bool {
	return len(n.box) == 4 && x >= n.box[0] && y >= n.box[1] && x < n.box[0]+n.box[2] && y < n.box[1]+n.box[3]
}

// Plain returns an element that has no role, with its text as its label if that is not too long; nil if there is none.
// document is as for Screen.
func (t *Tree) Plain(document string, backendNodeID int) *screen.Node {
	if t.page.byID[backendNodeID] == nil {
		return nil
	}
	n := &screen.Node{Role: "generic", Key: screen.Key(document + "/" + strconv.Itoa(backendNodeID))}
	if text := t.ShownText(backendNodeID); text != "" && utf16Len(text) <= maxName {
		n.Label = &text
	}
	return n
}

// ShownText returns the text in an element that has a layout.
func (t *Tree) ShownText(backendNodeID int) string {
	if n := t.page.byID[backendNodeID]; n != nil {
		return normalize(n.shownText())
	}
	return ""
}

func (n *node) bounds() *screen.Rect {
	if len(n.box) != 4 {
		return nil
	}
	return &screen.Rect{
		Left: int(n.box[0]), Top: int(n.box[1]), Right: int(n.box[0] + n.box[2]), Bottom: int(n.box[1] + n.box[3]),
	}
}
