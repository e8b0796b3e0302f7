package yamldoc

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Node is a value in a file. The zero value of a file's node is absent: every reader returns its zero value for it and
// reports nothing.
type Node struct {
	doc *Doc
	ast ast.Node
	at  *token.Token // the key, used as the place when the value itself has none
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

// Kind says what the node holds, aliases and anchors resolved.
func (n Node) Kind() Kind {
	switch v := n.resolve().(type) {
	case nil:
		return Absent
	case *ast.NullNode:
		return Null
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
		_ = v
		return Null
	}
}

// Line is the node's line, 0 when it has none.
func (n Node) Line() int {
	line, _ := n.position()
	return line
}

// Column is the node's column, 0 when it has none.
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
	line, col := n.position()
	n.doc.warnings = append(n.doc.warnings, n.doc.problem(line, col, hint, format, args...))
}

// Problem makes a problem at the node without recording it, for checks that are made later.
func (n Node) Problem(hint, format string, args ...any) fault.Problem {
	line, col := n.position()
	return n.doc.problem(line, col, hint, format, args...)
}

// resolve strips anchors, aliases and tags.
func (n Node) resolve() ast.Node {
	v := n.ast
	for range maxDepth {
		switch w := v.(type) {
		case *ast.AnchorNode:
			v = w.Value
		case *ast.AliasNode:
			if n.doc == nil || w.Value == nil {
				return nil
			}
			v = n.doc.anchors[w.Value.GetToken().Value]
		case *ast.TagNode:
			v = w.Value
		default:
			return v
		}
	}
	return nil
}

func (n Node) wrong(want string) {
	if got := n.Kind(); got != Absent {
		n.Errorf("", "expected %s, found %s", want, describe(got, n.scalarText()))
	}
}

func describe(k Kind, text string) string {
	if text == "" || k == Null {
		return string(k)
	}
	return fmt.Sprintf("%s (%s)", k, text)
}

// scalarText is the text of a scalar as it is written in the file.
func (n Node) scalarText() string {
	switch v := n.resolve().(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return strings.TrimSpace(v.GetToken().Value)
	case *ast.StringNode:
		return fmt.Sprintf("%q", v.Value)
	}
	return ""
}

// Str reads text. A number or a boolean is refused with the advice to quote it.
func (n Node) Str() string {
	switch v := n.resolve().(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return v.Value.Value
	}
	if t, ok := n.ast.(*ast.TagNode); ok && t.Start.Value == "!!str" {
		return n.scalarText()
	}
	switch n.Kind() {
	case Number, Bool:
		n.Errorf(fmt.Sprintf("write it in quotes: %q", n.scalarText()), "expected text, found %s", describe(n.Kind(), n.scalarText()))
	default:
		n.wrong("text")
	}
	return ""
}

// Scalar reads any scalar as the text it is written with; for places where ids and the like may look like numbers.
func (n Node) Scalar() string {
	switch n.Kind() {
	case Number, Bool:
		return n.scalarText()
	default:
		return n.Str()
	}
}

// Bool reads true or false.
func (n Node) Bool() bool {
	if v, ok := n.resolve().(*ast.BoolNode); ok {
		return v.Value
	}
	n.wrong("true or false")
	return false
}

// Int reads a whole number.
func (n Node) Int() int {
	if v, ok := n.resolve().(*ast.IntegerNode); ok {
		switch i := v.Value.(type) {
		case int64:
			return int(i)
		case uint64:
			if i <= math.MaxInt {
				return int(i)
			}
		}
	}
	n.wrong("a whole number")
	return 0
}

// Duration reads a positive duration such as 30s, 2m or 500ms.
func (n Node) Duration() time.Duration {
	if n.Kind() == Absent {
		return 0
	}
	const hint = "write a number with a unit, such as 500ms, 30s or 2m"
	if n.Kind() != Text {
		n.Errorf(hint, "expected a duration, found %s", describe(n.Kind(), n.scalarText()))
		return 0
	}
	text := n.Str()
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		n.Errorf(hint, "%q is not a duration", text)
		return 0
	}
	return d
}

// Strings reads a list of texts.
func (n Node) Strings() []string {
	var out []string
	for _, item := range n.Items() {
		out = append(out, item.Str())
	}
	return out
}

// StringMap reads a mapping of texts; scalars are taken as they are written.
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
		n.wrong("a list")
		return nil
	}
	items := make([]Node, len(seq.Values))
	for i, v := range seq.Values {
		items[i] = Node{doc: n.doc, ast: v, at: seq.Start}
	}
	return items
}

// Entries reads a mapping in the order of the file, merge keys (<<) applied. A key that stands twice is a problem that
// names both places; the first one counts.
func (n Node) Entries() []Entry {
	var entries []Entry
	first := map[string]Node{}
	var merges []Node
	for _, mv := range n.pairs() {
		if _, ok := mv.Key.(*ast.MergeKeyNode); ok {
			merges = append(merges, Node{doc: n.doc, ast: mv.Value, at: mv.Start})
			continue
		}
		at := Node{doc: n.doc, ast: mv.Key, at: mv.Start}
		key := keyText(mv.Key)
		if earlier, twice := first[key]; twice {
			at.Errorf("remove one of them", "%q stands twice; first in line %d, column %d", key, earlier.Line(), earlier.Column())
			continue
		}
		first[key] = at
		entries = append(entries, Entry{key, at, Node{doc: n.doc, ast: mv.Value, at: mv.Key.GetToken()}})
	}
	for _, m := range merges {
		entries = append(entries, m.merged(first)...)
	}
	return entries
}

// merged returns the entries that a merge key adds to a mapping that already has some keys.
func (n Node) merged(have map[string]Node) []Entry {
	sources := []Node{n}
	if n.Kind() == List {
		sources = n.Items()
	}
	var out []Entry
	for _, s := range sources {
		if n.doc.spend(n) {
			return out
		}
		for _, e := range s.Entries() {
			if _, ok := have[e.Key]; !ok {
				have[e.Key] = e.At
				out = append(out, e)
			}
		}
	}
	return out
}

// spend counts one value against maxValues and reports, once, when they are used up.
func (d *Doc) spend(n Node) (exhausted bool) {
	d.values++
	if d.values == maxValues {
		n.Errorf("write the values out", "aliases expand to more than %d values", maxValues)
	}
	return d.values >= maxValues
}

func (n Node) pairs() []*ast.MappingValueNode {
	switch v := n.resolve().(type) {
	case *ast.MappingNode:
		return v.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{v}
	}
	n.wrong("a mapping")
	return nil
}

func keyText(k ast.MapKeyNode) string {
	switch v := k.(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.MappingKeyNode:
		if s, ok := v.Value.(*ast.StringNode); ok {
			return s.Value
		}
		return strings.TrimSpace(v.Value.String())
	default:
		return strings.TrimSpace(k.GetToken().Value)
	}
}

// Fields reads a mapping with known keys: each value goes to the reader of its key. Keys count the same in camelCase and
// snake_case. An unknown key, or two spellings of one key, is a problem.
func (n Node) Fields(readers map[string]func(Node)) {
	known := map[string]string{}
	for key := range readers {
		known[fold(key)] = key
	}
	seen := map[string]Entry{}
	for _, e := range n.Entries() {
		key, ok := known[fold(e.Key)]
		if !ok {
			e.At.Errorf(fault.DidYouMean(e.Key, slices.Sorted(maps.Keys(readers))), "unknown key %q", e.Key)
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
}

func fold(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }

// Value reads any value as plain Go data that JSON can hold: nil, bool, int64, uint64, float64, string, []any, map[string]any.
func (n Node) Value() any { return n.value(0) }

func (n Node) value(depth int) any {
	if depth > maxDepth {
		n.Errorf("", "nested deeper than %d levels", maxDepth)
		return nil
	}
	if n.doc != nil && n.doc.spend(n) {
		return nil
	}
	switch v := n.resolve().(type) {
	case *ast.BoolNode:
		return v.Value
	case *ast.IntegerNode:
		return v.Value
	case *ast.FloatNode:
		return v.Value
	case *ast.InfinityNode, *ast.NanNode:
		n.Errorf("", "%s cannot be sent to a tool: JSON has no such number", n.scalarText())
		return nil
	case *ast.SequenceNode:
		items := n.Items()
		out := make([]any, len(items))
		for i, item := range items {
			out[i] = item.value(depth + 1)
		}
		return out
	case *ast.MappingNode, *ast.MappingValueNode:
		out := map[string]any{}
		for _, e := range n.Entries() {
			out[e.Key] = e.Value.value(depth + 1)
		}
		return out
	case *ast.StringNode, *ast.LiteralNode:
		return n.Str()
	}
	return nil
}
