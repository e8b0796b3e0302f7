package screen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Match is what a selector finds on a screen.
type Match struct {
	Nodes []*Node // the first is the one to act on; with childOf in several parents an element may come more than once
	Tree  *Tree   // the tree in which they were found: the one that was searched, or its Filtered
}

// Resolve finds what a selector selects, for assertions and questions. On Android's accessibility tree it searches the
// filtered tree, then, when nothing matches, the whole one. Blocks of Maestro are matched by the rules of
// ResolveNative, and when nothing matches, by those of ResolveMaestro.
func (t *Tree) Resolve(s *Selector) Match {
	if t.dialectOf(s) == AndroidAccessibility {
		if found := t.Filtered().ResolveNative(s); len(found) > 0 {
			return Match{found, t.Filtered()}
		}
	}
	found := t.ResolveNative(s)
	if len(found) == 0 && t.dialectOf(s).Rules() == MaestroRules {
		found = t.ResolveMaestro(s)
	}
	return Match{found, t}
}

// ResolveForAction finds the elements to act on, best first. It is Resolve, but Maestro's rules decide wherever a
// selector with a block of Maestro does not match exactly one element, as in the JVM Trailblaze.
func (t *Tree) ResolveForAction(s *Selector) Match {
	if t.dialectOf(s).Rules() != MaestroRules {
		return t.Resolve(s)
	}
	found := t.ResolveNative(s)
	if len(found) != 1 {
		found = t.ResolveMaestro(s)
	}
	return Match{found, t}
}

// dialectOf returns the dialect by whose rules s is resolved: that of its block, of the first block in its relations,
// or the first of the tree.
func (t *Tree) dialectOf(s *Selector) Dialect {
	if blocks := s.Blocks(); len(blocks) > 0 {
		return blocks[0].Dialect
	}
	if len(t.Dialects) > 0 {
		return t.Dialects[0]
	}
	return ""
}

// Check returns an error for a selector that this tree does not support: one with another driver's block, with a key
// that is Unavailable, or with a CSS selector that the producer has not looked up. Such a selector matches nothing, so
// an assertion that something is not on the screen must refuse it.
func (t *Tree) Check(s *Selector) error {
	for _, b := range s.Blocks() {
		if !slices.Contains(t.Dialects, b.Dialect) {
			return fault.New(fault.InvalidArguments, "record the element again on this device",
				"the selector has the driver block %s, but this screen answers to %s", b.Dialect, t.dialectNames())
		}
		for _, c := range b.conditions {
			key := string(b.Dialect) + "." + c.name
			if reason, ok := t.Unavailable[key]; ok {
				return fault.New(fault.InvalidArguments, "", "%s cannot be matched on this device: %s", key, reason)
			}
			if _, found := t.Found[b]; c.name == "cssSelector" && !found {
				return fault.New(fault.InvalidArguments, "", "%s cannot be matched here", key)
			}
		}
	}
	return nil
}

func (t *Tree) dialectNames() string {
	names := make([]string, len(t.Dialects))
	for i, d := range t.Dialects {
		names[i] = string(d)
	}
	return strings.Join(names, " and ")
}

// ResolveNative finds what a selector selects in this tree, in the order of the screen, from the top and then from the
// left; in a web page in document order (specification, section 17).
func (t *Tree) ResolveNative(s *Selector) []*Node {
	r := newResolution(t)
	return r.nodesAt(r.matches(s, 0))
}

// resolution is one search of a tree. It caches the results of selectors in relations.
type resolution struct {
	tree    *Tree
	matched map[*Selector][]int
	blocks  map[*Block][]bool
}

func newResolution(t *Tree) *resolution {
	return &resolution{tree: t, matched: map[*Selector][]int{}, blocks: map[*Block][]bool{}}
}

func (r *resolution) nodesAt(positions []int) []*Node {
	out := make([]*Node, len(positions))
	for i, at := range positions {
		out[i] = r.tree.nodes[at]
	}
	return out
}

// matches returns the positions of what s selects, in order.
func (r *resolution) matches(s *Selector, depth int) []int {
	if found, ok := r.matched[s]; ok {
		return found
	}
	if depth > maxNesting {
		return nil
	}
	found := r.inScope(s, positionsOf(r.holds(s, depth)), depth)
	if !r.inDocumentOrder() {
		slices.SortStableFunc(found, r.byPlace)
	}
	if s.Index != nil {
		found = nth(found, *s.Index)
	}
	r.matched[s] = found
	return found
}

// inScope returns those of positions, which are in order, that are below a match of childOf, once for each such match.
// A web page has each element once.
func (r *resolution) inScope(s *Selector, positions []int, depth int) []int {
	if s.ChildOf == nil {
		return positions
	}
	var out []int
	for _, parent := range r.matches(s.ChildOf, depth+1) {
		from, _ := slices.BinarySearch(positions, parent+1)
		to, _ := slices.BinarySearch(positions, r.tree.ends[parent])
		out = append(out, positions[from:to]...)
	}
	if r.inDocumentOrder() {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

func (r *resolution) inDocumentOrder() bool {
	return len(r.tree.Dialects) > 0 && r.tree.Dialects[0] == Web
}

// byPlace orders positions by top and left; those without bounds come last.
func (r *resolution) byPlace(i, j int) int {
	a, b := r.tree.nodes[i].Bounds, r.tree.nodes[j].Bounds
	if a == nil || b == nil {
		return cmp.Compare(boolInt(a == nil), boolInt(b == nil))
	}
	return cmp.Or(cmp.Compare(a.Top, b.Top), cmp.Compare(a.Left, b.Left))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nth returns the element at index alone, nothing when there is none.
func nth[T any](list []T, index int) []T {
	if index < 0 || index >= len(list) {
		return nil
	}
	return list[index : index+1]
}

func positionsOf(holds []bool) []int {
	var out []int
	for i, ok := range holds {
		if ok {
			out = append(out, i)
		}
	}
	return out
}

// holds returns for each node whether the block of s and its relations but childOf hold. The caller must not change it.
func (r *resolution) holds(s *Selector, depth int) []bool {
	if depth > maxNesting {
		return make([]bool, len(r.tree.nodes))
	}
	out := slices.Clone(r.block(s.Block))
	for _, relation := range s.relations() {
		switch relation.name {
		case "childOf":
		case "containsChild":
			and(out, r.haveChild(relation.selector, depth+1))
		case "containsDescendants":
			and(out, r.haveDescendant(relation.selector, depth+1))
		default:
			r.keepBeside(out, relation, depth+1)
		}
	}
	return out
}

func and(out, other []bool) {
	for i := range out {
		out[i] = out[i] && other[i]
	}
}

// haveChild returns for each node whether it has a direct child for which s holds. The childOf and index of s do not
// count.
func (r *resolution) haveChild(s *Selector, depth int) []bool {
	out := make([]bool, len(r.tree.nodes))
	for i, ok := range r.holds(s, depth) {
		if parent := r.tree.parents[i]; ok && parent >= 0 {
			out[parent] = true
		}
	}
	return out
}

// haveDescendant returns for each node whether it has a node below them for which s holds. The childOf and index of s
// do not count.
func (r *resolution) haveDescendant(s *Selector, depth int) []bool {
	holds := r.holds(s, depth)
	before := make([]int, len(holds)+1) // how many hold before a position
	for i, ok := range holds {
		before[i+1] = before[i] + boolInt(ok)
	}
	out := make([]bool, len(holds))
	for i := range out {
		out[i] = before[r.tree.ends[i]] > before[i+1]
	}
	return out
}

// keepBeside keeps the nodes that are on the side of the anchor that the relation names. The anchor is the first match
// of the relation's selector.
func (r *resolution) keepBeside(out []bool, side relation, depth int) {
	var anchor *Rect
	if found := r.matches(side.selector, depth); len(found) > 0 {
		anchor = r.tree.nodes[found[0]].Bounds
	}
	for i := range out {
		bounds := r.tree.nodes[i].Bounds
		out[i] = out[i] && anchor != nil && bounds != nil && isBeside(side.name, *bounds, *anchor)
	}
}

func isBeside(side string, node, anchor Rect) bool {
	switch side {
	case "below":
		return node.Top >= anchor.Bottom
	case "above":
		return node.Bottom <= anchor.Top
	case "leftOf":
		return node.Right <= anchor.Left
	case "rightOf":
		return node.Left >= anchor.Right
	}
	return false
}

// block returns for each node whether a driver block holds. The caller must not change it.
func (r *resolution) block(b *Block) []bool {
	if out, ok := r.blocks[b]; ok {
		return out
	}
	out := make([]bool, len(r.tree.nodes))
	r.blocks[b] = out
	if b != nil && !slices.Contains(r.tree.Dialects, b.Dialect) {
		return out
	}
	keys, looked := r.tree.foundKeys(b)
	conditions := b.deciding(r.tree.Exhaustive, looked)
	for i, n := range r.tree.nodes {
		if looked && !keys[n.Key] {
			continue
		}
		out[i] = !slices.ContainsFunc(conditions, func(c condition) bool { return !c.holds(n) })
	}
	if nthIndex, ok := b.Number("nthIndex"); ok {
		keepNth(out, nthIndex)
	}
	return out
}

// foundKeys returns what the producer has found for a block, and whether it has looked.
func (t *Tree) foundKeys(b *Block) (map[Key]bool, bool) {
	list, ok := t.Found[b]
	if !ok {
		return nil, false
	}
	keys := make(map[Key]bool, len(list))
	for _, key := range list {
		if key != "" {
			keys[key] = true
		}
	}
	return keys, true
}

// keepNth keeps of the nodes that are set the one at index, in document order.
func keepNth(out []bool, index int) {
	keep := nth(positionsOf(out), index)
	clear(out)
	for _, i := range keep {
		out[i] = true
	}
}

// deciding returns the conditions that decide. In a web block they are those of the first that is there of a CSS
// selector, a test id, and role with name (specification, section 15.1), with exhaustive all of them; nthIndex chooses
// among what they leave. looked says that the producer has found what the CSS selector and the test id select.
func (b *Block) deciding(exhaustive, looked bool) []condition {
	if b == nil {
		return nil
	}
	if b.Dialect != Web {
		if looked {
			return nil
		}
		return b.conditions
	}
	for _, key := range []string{"cssSelector", "dataTestId"} {
		switch c := b.condition(key); {
		case c == nil || exhaustive:
		case looked:
			return nil
		default:
			return []condition{*c}
		}
	}
	return slices.DeleteFunc(slices.Clone(b.conditions), func(c condition) bool {
		return c.name == "nthIndex" || looked && (c.name == "cssSelector" || c.name == "dataTestId")
	})
}

// holds reports whether a node has what the condition requires.
func (c *condition) holds(n *Node) bool {
	switch c.kind {
	case patternKey:
		text := c.text(n)
		return text != nil && c.pattern.Matches(*text)
	case textKey:
		text := c.text(n)
		return text != nil && *text == c.value
	case memberKey:
		return slices.Contains(c.list(n), c.value)
	case flagKey:
		return c.flag(n) == c.on
	case numberKey:
		number := c.property.number(n)
		return number != nil && *number == c.number
	}
	return false
}
