package yamldoc

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// Str reads text. A number or a boolean is a problem whose hint is to quote it.
func (n Node) Str() string {
	switch v := n.resolve().(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return v.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		n.Errorf(fmt.Sprintf("write it in quotes: %q", n.scalarText()), "expected text, found %s", n.describe())
	default:
		n.wrong(Text)
	}
	return ""
}

// Scalar reads any scalar as it is written, for ids and the like that may look like numbers.
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
	n.wrong(Bool)
	return false
}

// Int reads a whole number.
func (n Node) Int() int {
	if _, ok := n.resolve().(*ast.IntegerNode); ok {
		switch i := n.number().(type) {
		case nil:
			return 0
		case int64:
			if int64(int(i)) == i {
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
		n.Errorf(hint, "expected a duration, found %s", n.describe())
		return 0
	}
	text := n.Str()
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		n.Errorf(hint, "%q is not a duration", clip(text))
		return 0
	}
	return d
}

// Value reads any value as plain Go data that JSON can hold: nil, bool, int64, uint64 (when too large for int64),
// float64, string, []any, map[string]any. An ambiguous number is a problem.
func (n Node) Value() any {
	value, _ := n.ValueWithPositions()
	return value
}

// Positions holds the position of a value and of the values in it. The position of a field is that of its key.
type Positions struct {
	Line, Column int
	Fields       map[string]Positions
	Items        []Positions
}

// Moved returns the positions so many lines further down.
func (p Positions) Moved(lines int) Positions {
	if p.Line > 0 {
		p.Line += lines
	}
	fields, items := p.Fields, p.Items
	if fields != nil {
		p.Fields = make(map[string]Positions, len(fields))
	}
	for key, field := range fields {
		p.Fields[key] = field.Moved(lines)
	}
	p.Items = slices.Clone(items)
	for i := range p.Items {
		p.Items[i] = p.Items[i].Moved(lines)
	}
	return p
}

// At returns the line and column at a path of fields and list indexes, or of the longest part of the path that exists.
func (p Positions) At(path []string) (line, column int) {
	for _, step := range path {
		next, ok := p.Fields[step]
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(p.Items) {
			next, ok = p.Items[i], true
		}
		if !ok {
			break
		}
		p = next
	}
	return p.Line, p.Column
}

// ValueWithPositions returns what Value does, and the positions of the value and of the fields and items in it.
func (n Node) ValueWithPositions() (any, Positions) {
	at := Positions{Line: n.Line(), Column: n.Column()}
	return n.value(0, &at), at
}

// value fills in the Fields and Items of at.
func (n Node) value(depth int, at *Positions) any {
	if n.ast == nil || n.tooDeep(depth) {
		return nil
	}
	switch v := n.resolve().(type) {
	case *ast.BoolNode:
		return v.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return n.number()
	case *ast.InfinityNode, *ast.NanNode:
		n.Errorf("", "%s cannot be sent to a tool: JSON has no such number", n.scalarText())
	case *ast.SequenceNode:
		items := n.Items()
		out := make([]any, len(items))
		at.Items = make([]Positions, len(items))
		for i, item := range items {
			at.Items[i].Line, at.Items[i].Column = item.position()
			out[i] = item.value(depth+1, &at.Items[i])
		}
		return out
	case *ast.MappingNode, *ast.MappingValueNode:
		entries := n.Entries()
		out := make(map[string]any, len(entries))
		at.Fields = make(map[string]Positions, len(entries))
		for _, e := range entries {
			var field Positions
			field.Line, field.Column = e.At.position()
			out[e.Key] = e.Value.value(depth+1, &field)
			at.Fields[e.Key] = field
		}
		return out
	case *ast.StringNode:
		if v.Token.Type == token.StringType && len(v.Value) <= maxNumber && numberLike().MatchString(v.Value) {
			return n.number()
		}
		return n.countedText(v.Value)
	case *ast.LiteralNode:
		return n.countedText(v.Value.Value)
	}
	return nil
}

// countedText counts text against maxText. When the limit is exceeded, it reports that once, and nothing more is read.
func (n Node) countedText(text string) string {
	n.doc.text += len(text)
	if n.doc.text > maxText && !n.doc.exhausted {
		n.exhaust("the file holds more than %d MiB of text, aliases expanded", maxText>>20)
	}
	return text
}

// plainInteger and plainFloat are the numbers that are read as such. numberLike is text that other YAML readers take
// for a number.
var (
	plainInteger = lazyregexp.New(`^[-+]?(0|[1-9][0-9]*|0x[0-9a-fA-F]+|0o[0-7]+)$`)
	plainFloat   = lazyregexp.New(`^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	numberLike   = lazyregexp.New(`^[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$|^[-+]?\.[0-9]+[eE][-+]?[0-9]+$`)
)

// number parses a number. It returns nil, and records a problem, when the text is ambiguous or out of range.
func (n Node) number() any {
	text := n.resolve().GetToken().Value
	switch {
	case plainInteger().MatchString(text):
		if i, err := strconv.ParseInt(text, 0, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 0, 64); err == nil {
			return u
		}
	case plainFloat().MatchString(text):
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) {
			return f
		}
	default:
		n.Errorf(fmt.Sprintf("write it in quotes if it is text: %q; as a number, in plain digits", clip(text)),
			"%s is ambiguous: some YAML readers take it for a number, others for text", clip(text))
		return nil
	}
	n.Errorf(fmt.Sprintf("write it in quotes if it is text: %q", clip(text)), "the number %s is too large", clip(text))
	return nil
}
