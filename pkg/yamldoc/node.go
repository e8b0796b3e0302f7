package yamldoc

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Node is a value in a file. The readers of an absent node return their zero value and report nothing.
type Node struct {
	doc *Doc
	ast ast.Node
	at  *token.Token // the key, whose position is used when the value has none
}

// Kind is what a node holds.
type Kind string

// The kinds of node, named as they appear in messages.
const (
	Absent  Kind = "nothing"
	Null    Kind = "null"
	Bool    Kind = "true or false"
	Number  Kind = "a number"
	Text    Kind = "text"
	List    Kind = "a list"
	Mapping Kind = "a mapping"
)

// Entry is one key of a mapping with its value.
type Entry struct {
	Key   string
	At    Node // the key itself, for problems about it
	Value Node
}

// Kind returns what the node holds, with aliases and anchors resolved.
func (n Node) Kind() Kind {
	switch n.resolve().(type) {
	case nil:
		return Absent
	case *ast.BoolNode:
		return Bool
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return Number
	case *ast.StringNode, *ast.LiteralNode:
		return Text
	case *ast.SequenceNode:
		return List
	case *ast.MappingNode, *ast.MappingValueNode:
		return Mapping
	default:
		return Null
	}
}

// Line returns the node's line, from 1; 0 when it has none.
func (n Node) Line() int {
	line, _ := n.position()
	return line
}

// Column returns the node's column, from 1; 0 when it has none.
func (n Node) Column() int {
	_, col := n.position()
	return col
}

func (n Node) position() (line, col int) {
	if n.ast != nil {
		if m, ok := n.ast.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
			return position(m.Values[0].Key.GetToken())
		}
		if m, ok := n.ast.(*ast.MappingValueNode); ok {
			return position(m.Key.GetToken())
		}
		if line, col = position(n.ast.GetToken()); line > 0 {
			return line, col
		}
	}
	return position(n.at)
}

// Errorf records a problem at the node.
func (n Node) Errorf(hint, format string, args ...any) {
	line, col := n.position()
	n.doc.add(line, col, hint, format, args...)
}

// Warnf records a warning at the node.
func (n Node) Warnf(hint, format string, args ...any) {
	n.doc.warnings = append(n.doc.warnings, n.Problem(hint, format, args...))
}

// Problem returns a problem at the node without recording it, for checks after the file has been read.
func (n Node) Problem(hint, format string, args ...any) fault.Problem {
	line, col := n.position()
	return n.doc.problem(line, col, hint, format, args...)
}

// resolve returns the value without anchors, aliases and tags. The tag !!str turns any scalar into text.
func (n Node) resolve() ast.Node {
	v, text := n.ast, false
	for range maxDepth {
		switch w := v.(type) {
		case *ast.AnchorNode:
			v = w.Value
		case *ast.AliasNode:
			v = n.doc.anchors[w.Value.GetToken().Value]
		case *ast.TagNode:
			v, text = w.Value, w.Start.Value == "!!str"
		case ast.ScalarNode:
			if text {
				return asText(w)
			}
			return v
		default:
			return v
		}
	}
	return nil
}

func asText(n ast.ScalarNode) ast.Node {
	if _, block := n.(*ast.LiteralNode); block {
		return n
	}
	quoted := *n.GetToken()
	quoted.Type = token.DoubleQuoteType
	return &ast.StringNode{BaseNode: &ast.BaseNode{}, Token: &quoted, Value: strings.TrimSpace(quoted.Value)}
}

func (n Node) wrong(want Kind) {
	if n.Kind() != Absent {
		n.Errorf(n.wrongHint(want), "expected %s, found %s", want, n.describe())
	}
}

// wrongHint returns a hint for the usual mistakes that give a value the wrong kind.
func (n Node) wrongHint(want Kind) string {
	switch v := n.resolve().(type) {
	case *ast.MappingNode:
		switch {
		case want != List:
		case len(v.Values) > 0 && strings.HasPrefix(v.Values[0].Key.GetToken().Value, "-"):
			return "put a space after the -"
		case !v.IsFlowStyle:
			return `put "- " before each entry`
		}
	case *ast.SequenceNode:
		if want == Mapping && !v.IsFlowStyle {
			return `remove the "- "`
		}
	case *ast.StringNode:
		switch word := strings.ToLower(v.Value); {
		case want == List:
			return "write a list: [a, b]"
		case want == Bool && (word == "yes" || word == "on"):
			return "write true"
		case want == Bool && (word == "no" || word == "off"):
			return "write false"
		}
	}
	return ""
}

func (n Node) describe() string {
	kind, text := n.Kind(), n.scalarText()
	if text == "" || kind == Null {
		return string(kind)
	}
	return fmt.Sprintf("%s (%s)", kind, text)
}

// scalarText returns a scalar as it is written in the file.
func (n Node) scalarText() string {
	switch v := n.resolve().(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return strings.TrimSpace(v.GetToken().Value)
	case *ast.StringNode:
		return fmt.Sprintf("%q", clip(v.Value))
	}
	return ""
}

// Strings reads a list of text.
func (n Node) Strings() []string {
	var out []string
	for _, item := range n.Items() {
		out = append(out, item.Str())
	}
	return out
}

// Words reads a list of some known words. Other words are problems, and left out. It is not nil.
func (n Node) Words(known []string) []string {
	out := []string{}
	for _, item := range n.Items() {
		switch word := item.Str(); {
		case slices.Contains(known, word):
			out = append(out, word)
		case item.Kind() == Text:
			item.Errorf(fault.DidYouMean(word, known), "unknown value %q", word)
		}
	}
	return out
}

// StringMap reads a mapping from names to scalars, each as it is written.
func (n Node) StringMap() map[string]string {
	out := map[string]string{}
	for _, e := range n.Entries() {
		out[e.Key] = e.Value.Scalar()
	}
	return out
}

// Items reads a list.
func (n Node) Items() []Node {
	seq, ok := n.resolve().(*ast.SequenceNode)
	if !ok {
		n.wrong(List)
		return nil
	}
	if n.spend(len(seq.Values)) {
		return nil
	}
	items := make([]Node, len(seq.Values))
	for i, v := range seq.Values {
		items[i] = Node{doc: n.doc, ast: v, at: seq.Start}
	}
	return items
}

// Entries reads a mapping in the order of the file, with merge keys (<<) applied. A key that is defined twice is a
// problem that names both positions; the first one counts.
func (n Node) Entries() []Entry { return n.entries(0) }

// IsAlias reports whether the value is an alias, so that it is written elsewhere.
func (n Node) IsAlias() bool {
	_, alias := n.unwrap().ast.(*ast.AliasNode)
	return alias
}

// Own returns the value of a key that is written in the mapping itself: ok is false when the mapping is an alias, or
// the key comes from a merge key.
func (n Node) Own(key string) (value Node, ok bool) {
	if n.IsAlias() {
		return Node{}, false
	}
	for _, pair := range n.pairs() {
		if have, ok := keyText(pair.Key); ok && have == key {
			return Node{doc: n.doc, ast: pair.Value, at: pair.Key.GetToken()}, true
		}
	}
	return Node{}, false
}

func (n Node) entries(depth int) []Entry {
	pairs := n.pairs()
	if n.spend(len(pairs)) {
		return nil
	}
	var entries []Entry
	var merges []Node
	first := map[string]Node{}
	for _, mv := range pairs {
		at := Node{doc: n.doc, ast: mv.Key, at: mv.Start}
		if _, ok := mv.Key.(*ast.MergeKeyNode); ok {
			merges = append(merges, Node{doc: n.doc, ast: mv.Value, at: mv.Start})
			continue
		}
		key, ok := keyText(mv.Key)
		if !ok {
			at.Errorf("write it as plain text or in quotes", "only text can be a key")
			continue
		}
		if earlier, twice := first[key]; twice {
			at.Errorf("remove one of them", "%q is defined twice; first in line %d, column %d", key, earlier.Line(),
				earlier.Column())
			continue
		}
		first[key] = at
		entries = append(entries, Entry{key, at, Node{doc: n.doc, ast: mv.Value, at: mv.Key.GetToken()}})
	}
	for _, m := range merges {
		entries = append(entries, m.mergedEntries(first, depth+1)...)
	}
	return entries
}

// mergedEntries returns the entries that a merge key adds to a mapping that has the keys in have.
func (n Node) mergedEntries(have map[string]Node, depth int) []Entry {
	if n.tooDeep(depth) {
		return nil
	}
	sources := []Node{n}
	if n.Kind() == List {
		sources = n.Items()
	}
	var out []Entry
	for _, s := range sources {
		for _, e := range s.entries(depth) {
			if _, ok := have[e.Key]; !ok {
				have[e.Key] = e.At
				out = append(out, e)
			}
		}
	}
	return out
}

// spend counts values against maxValues. When the limit is exceeded, it reports that once, and nothing more is read or
// reported.
func (n Node) spend(values int) (exhausted bool) {
	if n.doc == nil {
		return true
	}
	n.doc.values += values
	if n.doc.values > maxValues {
		n.exhaust("the file holds more than %d values, aliases expanded", maxValues)
	}
	return n.doc.exhausted
}

// tooDeep reports values that aliases nest too deeply, such as a value that contains itself.
func (n Node) tooDeep(depth int) bool {
	if depth > maxDepth {
		n.exhaust("aliases nest values deeper than %d levels", maxDepth)
	}
	return n.doc.exhausted
}

// exhaust records a last problem; nothing more is read or reported of the file.
func (n Node) exhaust(format string, args ...any) {
	n.Errorf("write the values out instead of using aliases", format, args...)
	n.doc.exhausted = true
}

func (n Node) pairs() []*ast.MappingValueNode {
	switch v := n.resolve().(type) {
	case *ast.MappingNode:
		return v.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}
	}
	n.wrong(Mapping)
	return nil
}

func keyText(k ast.Node) (key string, ok bool) {
	switch v := k.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.MappingKeyNode:
		return keyText(v.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return strings.TrimSpace(k.GetToken().Value), true
	}
	return "", false
}

// Fields reads a mapping with known keys: each value is passed to the reader of its key. Keys may be written in
// camelCase or snake_case. An unknown key, or two spellings of one key, is a problem.
func (n Node) Fields(readers map[string]func(Node)) {
	n.fields(readers, func(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) })
}

// ExactFields is Fields for mappings whose keys have one spelling. It returns whether every key was known.
func (n Node) ExactFields(readers map[string]func(Node)) bool {
	return n.fields(readers, func(key string) string { return key })
}

func (n Node) fields(readers map[string]func(Node), fold func(string) string) bool {
	allKnown := true
	known := map[string]string{}
	for key := range readers {
		known[fold(key)] = key
	}
	seen := map[string]Entry{}
	for _, e := range n.Entries() {
		key, ok := known[fold(e.Key)]
		if !ok {
			e.At.Errorf(fault.DidYouMean(e.Key, slices.Sorted(maps.Keys(readers))), "unknown key %q", clip(e.Key))
			allKnown = false
			continue
		}
		if earlier, twice := seen[key]; twice {
			e.At.Errorf("remove one of them", "%q and %q are the same key; first in line %d, column %d",
				earlier.Key, e.Key, earlier.At.Line(), earlier.At.Column())
			continue
		}
		seen[key] = e
		readers[key](e.Value)
	}
	return allKnown
}
