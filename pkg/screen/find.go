package screen

import (
	"maps"
	"slices"
	"strings"
)

const (
	maxAncestors    = 4  // of an element that Find writes
	maxAncestorName = 40 // characters
)

// Find writes the elements whose line contains query, in any case, each below its nearest ancestors with a name or a
// reference, whose names are shortened. A query that is a reference finds its element. An element in a row or another
// item of several comes with the controls of that item. The text has at most maxBytes bytes, 0 for no bound; Left
// counts the elements that were not written.
func Find(t *Tree, query string, ref func(*Node) string, maxBytes int) Text {
	f := finder{tree: t, ref: ref, query: strings.ToLower(fold(query))}
	var found []int
	for i, n := range t.nodes {
		if n.shown() && f.matches(n) {
			found = append(found, i)
		}
	}
	found = f.withItems(found)
	if text := f.write(found, 0); maxBytes == 0 || len(text.String()) <= maxBytes {
		return text
	}
	return f.write(found, max(1, maxBytes-len(leftOut(len(found)))-1))
}

// maxItemControls is how many controls of an item come with an element in it.
const maxItemControls = 8

// withItems adds to the positions of elements those of the controls in their items.
func (f *finder) withItems(found []int) []int {
	all := map[int]bool{}
	for _, i := range found {
		all[i] = true
		controls := f.controlsIn(f.item(i))
		for _, at := range controls[:min(len(controls), maxItemControls)] {
			all[at] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// item returns the position of the item that the node at a position is or is in: of the row, for a cell. It is -1
// outside of items.
func (f *finder) item(i int) int {
	for ; i >= 0; i = f.tree.parents[i] {
		if n := f.tree.nodes[i]; n.IsItem() && !hasWord("cell gridcell", n.RoleName()) {
			break
		}
	}
	return i
}

// controlsIn returns the positions of the controls below the one at a position, none for -1.
func (f *finder) controlsIn(item int) (controls []int) {
	if item < 0 {
		return nil
	}
	for at := item + 1; at < f.tree.ends[item]; at++ {
		if n := f.tree.nodes[at]; n.isTarget() && n.shown() {
			controls = append(controls, at)
		}
	}
	return controls
}

// finder writes elements of a tree with their ancestors.
type finder struct {
	tree  *Tree
	ref   func(*Node) string
	query string
}

func (f *finder) matches(n *Node) bool {
	for _, text := range []string{n.line(""), n.Name(), n.Content()} {
		if strings.Contains(strings.ToLower(text), f.query) {
			return true
		}
	}
	return f.refOf(n) != "" && f.refOf(n) == f.query
}

func (f *finder) refOf(n *Node) string {
	if f.ref == nil {
		return ""
	}
	return f.ref(n)
}

// write writes elements by their positions, as long as they have at most maxBytes bytes; 0 for no bound.
func (f *finder) write(found []int, maxBytes int) Text {
	var out Text
	bytes := 0
	depths := map[int]int{} // of the positions that are written
	for k, i := range found {
		lines := f.withAncestors(i, depths)
		for _, line := range lines {
			bytes += len(line.indentedText()) + 1
		}
		if maxBytes > 0 && bytes-1 > maxBytes {
			out.Left = len(found) - k
			break
		}
		out.Lines = append(out.Lines, lines...)
	}
	return out
}

// withAncestors returns the line of the node at position i, below those of its ancestors that are not written yet.
func (f *finder) withAncestors(i int, depths map[int]int) []Line {
	path := []int{i}
	for up := f.tree.parents[i]; up >= 0 && len(path) <= maxAncestors; up = f.tree.parents[up] {
		n := f.tree.nodes[up]
		if _, written := depths[up]; written || n.shown() && (n.caption() != "" || f.refOf(n) != "") {
			path = append(path, up)
		}
	}
	slices.Reverse(path)
	var lines []Line
	depth := 0
	for _, at := range path {
		if before, written := depths[at]; written {
			depth = before + 1
			continue
		}
		n := f.tree.nodes[at]
		line := Line{Node: n, Ref: f.refOf(n), Depth: depth}
		line.Text = n.lineWithName(line.Ref, n.Name(), n.Content())
		if at != i {
			line.Text = n.lineWithName(line.Ref, shorten(n.Name(), maxAncestorName), "")
		}
		lines = append(lines, line)
		depths[at] = depth
		depth++
	}
	return lines
}
