package screen

import (
	"cmp"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// Limits of the search for similar elements.
const (
	maxNear       = 5    // elements in a message
	maxCandidates = 3000 // elements that are compared
	maxCompared   = 80   // characters of a text
)

// Describe returns elements in words, with their references where ref gives one, as in: button "Save" [ref=e2], link
// "Saved". It names at most five, then counts the rest. ref may be nil.
func Describe(nodes []*Node, ref func(*Node) string) string {
	var out []string
	for _, n := range nodes[:min(maxNear, len(nodes))] {
		words := describe(n.RoleName(), n.caption())
		if ref != nil && ref(n) != "" {
			words += " [ref=" + ref(n) + "]"
		}
		out = append(out, words)
	}
	if left := len(nodes) - maxNear; left > 0 {
		out = append(out, strconv.Itoa(left)+" more")
	}
	return strings.Join(out, ", ")
}

// searchTerm is a text that is compared with texts of elements.
type searchTerm struct {
	text   string
	of     func(*Node) []string
	weight int // of an exact match, compared with that of other terms
}

// Near returns the elements whose texts are similar to those in a selector that matches nothing, best first, at most
// five.
func (t *Tree) Near(s *Selector) []*Node {
	var terms []searchTerm
	if s.Block != nil {
		for _, c := range s.Block.conditions {
			terms = append(terms, c.terms()...)
		}
	}
	return t.bestMatches(terms)
}

// NearText returns the elements whose name or content is similar to a text, best first, at most five.
func (t *Tree) NearText(text string) []*Node {
	return t.bestMatches([]searchTerm{{fold(text), allTexts, 10}})
}

// nearNamed returns the elements that are similar to one with a role and a name.
func (t *Tree) nearNamed(role, name string) []*Node {
	return t.bestMatches([]searchTerm{{name, allTexts, 10}, {role, roleText, 1}})
}

func allTexts(n *Node) []string { return []string{n.caption(), n.Content(), fold(valueOf(n.Hint))} }

func roleText(n *Node) []string { return []string{n.RoleName()} }

// terms returns the search terms of a condition that matches nothing.
func (c *condition) terms() []searchTerm {
	of := func(n *Node) []string { return []string{fold(valueOf(c.text(n)))} }
	switch {
	case c.name == "ariaRole" || c.name == "role" || c.name == "roleRegex":
		return []searchTerm{{c.value, roleText, 1}}
	case c.name == "cssSelector" || c.kind == memberKey || c.kind == flagKey || c.kind == numberKey:
		return nil
	case c.name == "classNameRegex" || c.name == "typeRegex":
		return []searchTerm{{c.pattern.nearText(), of, 1}}
	case c.name == "resourceIdRegex" || c.kind == textKey:
		text := c.value
		if c.pattern != nil {
			text = c.pattern.nearText()
		}
		return []searchTerm{{text, of, 10}}
	}
	return []searchTerm{{fold(c.pattern.nearText()), allTexts, 10}}
}

// bestMatches returns the shown elements with the highest scores, of those with the same description only the first.
func (t *Tree) bestMatches(terms []searchTerm) []*Node {
	type candidate struct {
		node  *Node
		score int
	}
	terms = slices.DeleteFunc(terms, func(w searchTerm) bool { return w.text == "" })
	var found []candidate
	described := map[string]bool{}
	for _, n := range t.nodes {
		if len(described) == maxCandidates {
			break
		}
		words := describe(n.RoleName(), n.caption())
		if !n.shown() || described[words] {
			continue
		}
		described[words] = true
		if score := scoreOf(n, terms); score > 0 {
			found = append(found, candidate{n, score})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	out := make([]*Node, 0, maxNear)
	for _, c := range found[:min(maxNear, len(found))] {
		out = append(out, c.node)
	}
	return out
}

// scoreOf returns how similar a node is to the terms; 0 means that it is not similar. Terms of weight 1 count only if a
// term of a greater weight matches too, or if there is none.
func scoreOf(n *Node, terms []searchTerm) int {
	score, heavy, heaviest := 0, 0, 0
	for _, w := range terms {
		best := 0
		for _, text := range w.of(n) {
			best = max(best, likeness(w.text, text))
		}
		score += best * w.weight
		heaviest = max(heaviest, w.weight)
		if w.weight > 1 {
			heavy += best
		}
	}
	if heaviest > 1 && heavy == 0 {
		return 0
	}
	return score
}

// likeness compares two texts: 100 if they are equal apart from case, 0 if they are not similar.
func likeness(wanted, text string) int {
	a, b := strings.ToLower(shorten(wanted, maxCompared)), strings.ToLower(shorten(text, maxCompared))
	switch {
	case a == "" || b == "":
		return 0
	case a == b:
		return 100
	case len(a) > 1 && strings.Contains(b, a) || len(b) > 2 && strings.Contains(a, b):
		return 70
	case len(fault.Nearest(a, []string{b})) > 0:
		return 60
	case shareWord(a, b):
		return 30
	}
	return 0
}

// shareWord reports whether two texts have a word of at least four letters in common.
func shareWord(a, b string) bool {
	words := strings.Fields(b)
	return slices.ContainsFunc(strings.Fields(a), func(word string) bool {
		return len(word) >= 4 && slices.Contains(words, word)
	})
}

// Explain returns why a selector matches nothing in a tree, as in: nothing matches text "Total", which "below" needs.
// It is empty when something matches.
func (t *Tree) Explain(s *Selector) string {
	if err := t.Check(s); err != nil {
		return err.Error()
	}
	if t.count(s) > 0 {
		return ""
	}
	for _, r := range s.relations() {
		if t.count(r.selector) == 0 {
			return fmt.Sprintf("nothing matches %s, which %q needs", r.selector, r.name)
		}
	}
	if s.Index != nil {
		rest := *s
		rest.Index = nil
		if count := t.count(&rest); count > 0 {
			return outOfRange("index", *s.Index, count)
		}
	}
	if s.Block != nil && len(s.relations()) > 0 {
		if count := t.count(&Selector{Block: s.Block}); count > 0 {
			return fmt.Sprintf("nothing matches %s; without the relations it would be %s", s, elements(count))
		}
	}
	if s.Block != nil {
		return t.explainBlock(s.Block)
	}
	return "nothing matches " + s.String()
}

// explainBlock returns which condition keeps a block from matching, when it is a single one.
func (t *Tree) explainBlock(b *Block) string {
	if index, ok := b.Number("nthIndex"); ok {
		if count := t.countWithout(b, "nthIndex"); count > 0 {
			return outOfRange("nthIndex", index, count)
		}
	}
	for _, c := range b.conditions {
		if count := t.countWithout(b, c.name); count > 0 && len(b.conditions) > 1 {
			return fmt.Sprintf("nothing matches %s; without %s it would be %s", b, c.name, elements(count))
		}
	}
	return "nothing matches " + b.String()
}

// countWithout returns how many elements a block matches without one of its keys.
func (t *Tree) countWithout(b *Block, key string) int {
	rest := slices.DeleteFunc(slices.Clone(b.conditions), func(c condition) bool { return c.name == key })
	return t.count(&Selector{Block: &Block{Dialect: b.Dialect, conditions: rest}})
}

func outOfRange(key string, index, count int) string {
	return fmt.Sprintf("%s %d, counting from 0, needs %d matches; the screen has %d", key, index, index+1, count)
}

func (t *Tree) count(s *Selector) int { return len(t.Resolve(s).Nodes) }

func elements(count int) string { return text.Count(count, "element") }

// nearText returns the longest literal text in the pattern, with which texts of elements are compared.
func (p *Pattern) nearText() string {
	tree := p.syntaxTree()
	if tree == nil {
		return p.raw
	}
	return longestLiteral(tree)
}

func longestLiteral(tree *syntax.Regexp) string {
	if text, ok := literal(tree); ok {
		return text
	}
	longest := ""
	for _, sub := range tree.Sub {
		if text := longestLiteral(sub); len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}
