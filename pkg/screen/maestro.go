package screen

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// ResolveMaestro finds what Maestro finds for a selector, best first (Filters.kt and Orchestra.kt of Maestro): of
// elements that match in one another only the deepest, clickable ones before others, then in the order of the tree. An
// index chooses by top and left. A text may be the text, the hint or the accessibility text, with newlines as spaces;
// an id also the part after the last slash. A node is below another one when its top is lower than the other's top, and
// so on.
func (t *Tree) ResolveMaestro(s *Selector) []*Node {
	r := &maestroResolution{tree: t, matched: map[*Selector][]int{}}
	return newResolution(t).nodesAt(r.matches(s, 0))
}

type maestroResolution struct {
	tree    *Tree
	matched map[*Selector][]int
}

// matches returns the positions in tree.nodes of what s selects in the whole tree, best first.
func (r *maestroResolution) matches(s *Selector, depth int) []int {
	if found, ok := r.matched[s]; ok || depth > maxNesting {
		return found
	}
	from, to := 0, len(r.tree.nodes)
	if s.ChildOf != nil { // the first match and its descendants
		parents := r.matches(s.ChildOf, depth+1)
		if len(parents) == 0 {
			return nil
		}
		from, to = parents[0], r.tree.ends[parents[0]]
	}
	found := r.resolveWithin(s, from, to, depth)
	r.matched[s] = found
	return found
}

// resolveWithin returns the positions of what s selects in [from, to). It ignores the childOf of s.
func (r *maestroResolution) resolveWithin(s *Selector, from, to, depth int) []int {
	if depth > maxNesting || s.Block != nil && !slices.Contains(r.tree.Dialects, s.Block.Dialect) {
		return nil
	}
	filters := r.filters(s, from, to, depth)
	if len(filters) == 0 {
		filters = [][]int{r.where(from, to, func(*Node) bool { return true })}
	}
	found := filters[0]
	for _, other := range filters[1:] {
		found = intersect(found, other)
	}
	found = slices.Clone(found) // it is sorted below
	if s.Index != nil {
		slices.SortStableFunc(found, newResolution(r.tree).byPlace)
		return nth(found, *s.Index)
	}
	slices.SortStableFunc(found, func(i, j int) int {
		return cmp.Compare(boolInt(r.tree.nodes[j].Clickable), boolInt(r.tree.nodes[i].Clickable))
	})
	return found
}

// filters returns for each condition and relation the positions of the nodes that satisfy it, in Maestro's order: texts
// and ids, relations, states. The first list decides the order of the result.
func (r *maestroResolution) filters(s *Selector, from, to, depth int) [][]int {
	var texts, others [][]int
	if s.Block != nil {
		for _, c := range s.Block.conditions {
			found := r.where(from, to, func(n *Node) bool { return c.maestroHolds(n) })
			if c.kind == patternKey {
				texts = append(texts, r.deepest(found))
				continue
			}
			others = append(others, found)
		}
	}
	out := texts
	for _, relation := range s.relations() {
		switch relation.name {
		case "childOf":
		case "containsChild":
			out = append(out, r.parents(relation.selector, from, to, depth+1))
		case "containsDescendants":
			out = append(out, r.containing(relation.selector, from, to, depth+1))
		default:
			out = append(out, r.nodesBeside(relation, from, to, depth+1))
		}
	}
	return append(out, others...)
}

func (r *maestroResolution) where(from, to int, holds func(*Node) bool) []int {
	var out []int
	for i := from; i < to; i++ {
		if holds(r.tree.nodes[i]) {
			out = append(out, i)
		}
	}
	return out
}

// deepest leaves out the positions, which are in order, that have another one below them.
func (r *maestroResolution) deepest(positions []int) []int {
	var out []int
	for k, i := range positions {
		if k+1 == len(positions) || positions[k+1] >= r.tree.ends[i] {
			out = append(out, i)
		}
	}
	return out
}

// parents returns the parent of the first match of s.
func (r *maestroResolution) parents(s *Selector, from, to, depth int) []int {
	found := r.matches(s, depth)
	if len(found) == 0 {
		return nil
	}
	parent := r.tree.parents[found[0]]
	if parent < from || parent >= to {
		return nil
	}
	return []int{parent}
}

// containing returns the nodes that have a match of s below them.
func (r *maestroResolution) containing(s *Selector, from, to, depth int) []int {
	found := map[int]bool{}
	for _, i := range r.resolveWithin(s, from, to, depth) {
		for up := r.tree.parents[i]; up >= from && !found[up]; up = r.tree.parents[up] {
			found[up] = true
		}
	}
	var out []int
	for i := from; i < to; i++ {
		if found[i] {
			out = append(out, i)
		}
	}
	return out
}

// nodesBeside returns the nodes on a side of any match of the relation's selector, nearest first.
func (r *maestroResolution) nodesBeside(side relation, from, to, depth int) []int {
	type candidate struct{ at, distance int }
	var found []candidate
	anchors := r.resolveWithin(side.selector, from, to, depth)
	for i := from; i < to; i++ {
		nearest := math.MaxInt
		for _, a := range anchors {
			if node, anchor := r.tree.nodes[i].Bounds, r.tree.nodes[a].Bounds; node != nil && anchor != nil &&
				maestroBeside(side.name, *node, *anchor) {
				nearest = min(nearest, distance(node.Centre(), anchor.Centre()))
			}
		}
		if nearest < math.MaxInt {
			found = append(found, candidate{i, nearest})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	out := make([]int, len(found))
	for k, c := range found {
		out[k] = c.at
	}
	return out
}

func maestroBeside(side string, node, anchor Rect) bool {
	switch side {
	case "below":
		return node.Top > anchor.Top
	case "above":
		return node.Top < anchor.Top
	case "leftOf":
		return node.Left < anchor.Left
	case "rightOf":
		return node.Left > anchor.Left
	}
	return false
}

// distance returns the square of the distance of two points.
func distance(a, b Point) int { return (a.X-b.X)*(a.X-b.X) + (a.Y-b.Y)*(a.Y-b.Y) }

// intersect returns those of list that are in other, too.
func intersect(list, other []int) []int {
	in := make(map[int]bool, len(other))
	for _, i := range other {
		in[i] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool { return !in[i] })
}

// maestroHolds reports whether the condition holds for a node by Maestro's rules.
func (c *condition) maestroHolds(n *Node) bool {
	if c.kind != patternKey {
		return c.holds(n)
	}
	matches := func(text *string) bool {
		return text != nil && (c.pattern.Matches(*text) || c.pattern.Matches(strings.ReplaceAll(*text, "\n", " ")))
	}
	switch c.name {
	case "resourceIdRegex":
		return n.ID != nil && (c.pattern.Matches(*n.ID) || c.pattern.Matches((*n.ID)[strings.LastIndex(*n.ID, "/")+1:]))
	case "classNameRegex":
		return matches(n.Class)
	}
	return matches(n.Text) || matches(n.Hint) || matches(n.Label)
}
