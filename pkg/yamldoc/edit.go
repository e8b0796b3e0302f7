package yamldoc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Editor changes values of a document and leaves every other byte as it is. It writes in the style of the file: its
// indentation, its line ends, and flow style inside { } and [ ]. It must be used by one goroutine at a time.
//
// It does not check what a change means: after editing a file with anchors, parse the result and compare it.
type Editor struct {
	doc     *Doc
	text    string // the document as it was parsed: line ends are \n, no byte order mark
	lines   []lineStart
	index   map[tokenPosition]int // tokens by their position
	depth   []int                 // how many brackets are open before each token
	json    bool
	splices []splice
	err     error
}

type (
	tokenPosition struct{ line, column int }
	lineStart     struct{ text, source int } // offsets in the text that was parsed, and in the file
)

// splice replaces a part of the text. Of insertions at the same offset, one that is indented deeper comes first,
// because it ends a collection inside the one that the other belongs to.
type splice struct {
	from, to int
	text     string
	indent   int
}

// Edit returns an editor of a document that was parsed without problems.
func (d *Doc) Edit() *Editor {
	e := &Editor{doc: d, text: strings.Join(d.lines, "\n"), lines: d.lineStarts(), index: map[tokenPosition]int{}}
	e.json = json.Valid([]byte(e.text))
	depth := 0
	for i, t := range d.tokens {
		e.depth = append(e.depth, depth)
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if !e.isBlockText(i) { // its position is that of another token
			e.index[tokenPosition{t.Position.Line, t.Position.Column}] = i
		}
	}
	if strings.Contains(e.text, "\r") {
		e.fail(`save the file with \n or \r\n line ends`, "a line contains a carriage return")
	}
	return e
}

// Set sets a key of a mapping: it replaces the key's value, or adds the key after the last one. A mapping that is an
// alias is replaced by a mapping that merges the alias.
func (e *Editor) Set(mapping Node, key string, value any) {
	m := mapping.unwrap()
	entry := Map{{Key: key, Value: value}}
	if alias, ok := m.ast.(*ast.AliasNode); ok {
		e.replace(m, append(Map{{Key: "<<", Value: verbatim("*" + alias.Value.GetToken().Value)}}, entry...))
		return
	}
	for _, pair := range m.pairs() {
		if have, ok := keyText(pair.Key); ok && have == key {
			e.replace(Node{doc: e.doc, ast: pair.Value, at: pair.Key.GetToken()}, value)
			return
		}
	}
	e.add(m, entry)
}

// Append adds an item to the end of a list.
func (e *Editor) Append(list Node, item any) {
	l := list.unwrap()
	seq, ok := l.ast.(*ast.SequenceNode)
	switch {
	case !ok:
		e.fail("write the list out", "the list in line %d is an alias", l.Line())
	case len(seq.Values) == 0 && (l.at == nil || e.depth[e.find(l)] == 0):
		e.replace(list, []any{item})
	default:
		e.add(l, []any{item})
	}
}

// Bytes returns the changed document, or the error of a change that cannot be made.
func (e *Editor) Bytes() ([]byte, error) {
	slices.SortStableFunc(e.splices, func(a, b splice) int { return cmp.Or(a.from-b.from, a.to-b.to, b.indent-a.indent) })
	var out bytes.Buffer
	at, copied := 0, 0
	for i, s := range e.splices {
		if i > 0 && s == e.splices[i-1] {
			continue // two aliases of one value, changed alike
		}
		if s.from < at || s.to < s.from {
			e.fail("write the values out instead of using aliases", "two changes overlap")
		}
		if e.err != nil {
			break
		}
		out.Write(e.doc.source[copied:e.sourceOffset(s.from)])
		out.WriteString(e.lineEnds(s.text))
		if i > 0 && s.text == "" && s.to == len(e.text) && e.splices[i-1].to == s.from && endsInBlockText(e.splices[i-1].text) {
			out.WriteString(e.lineEnds("\n"))
		}
		at, copied = s.to, e.sourceOffset(s.to)
	}
	if e.err != nil {
		return nil, e.err
	}
	out.Write(e.doc.source[copied:])
	return out.Bytes(), nil
}

// endsInBlockText reports whether lines that were inserted may end with a block of text that includes its last line
// end.
func endsInBlockText(text string) bool {
	below := len(text) // the least indentation of the lines below
	lines := strings.Split(text, "\n")
	for _, line := range slices.Backward(lines) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if indent < below && strings.HasSuffix(strings.TrimRight(line, "0123456789+"), " |") {
			return true
		}
		if strings.TrimSpace(line) != "" {
			below = min(below, indent)
		}
	}
	return false
}

func (e *Editor) fail(hint, format string, args ...any) {
	if e.err == nil {
		e.err = fault.New(e.doc.kind, hint, "cannot change %s: %s", e.doc.File, fmt.Sprintf(format, args...))
	}
}

func (e *Editor) splice(from, to int, text string) {
	e.splices = append(e.splices, splice{from: from, to: to, text: text})
}

// insertLines inserts lines below the line that ends at an offset.
func (e *Editor) insertLines(at int, text string, indent int) {
	e.splices = append(e.splices, splice{from: at, to: at, text: "\n" + text, indent: indent})
}

// lineEnds returns text with the line ends of the file.
func (e *Editor) lineEnds(text string) string {
	if line, _, more := bytes.Cut(e.doc.source, []byte("\n")); more && bytes.HasSuffix(line, []byte("\r")) {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// replace replaces n by a value.
func (e *Editor) replace(n Node, value any) {
	i := e.find(n)
	from, to := e.offset(i), e.end(e.past(i))
	if e.err != nil {
		return
	}
	if e.depth[i] > 0 {
		e.splice(from, to, e.flow(value))
		return
	}
	if e.isBlock(i) {
		to = e.lineEnd(to) // replace the comment in the last line, too
	}
	key, keyed := e.keyOf(n)
	if !keyed {
		e.splice(from, to, e.block(value, e.column(i), i, to))
		return
	}
	colon := e.skip(key + 1)
	if colon == len(e.doc.tokens) || e.doc.tokens[colon].Type != token.MappingValueType {
		e.fail("write key: value", "the key in line %d cannot be edited", e.doc.tokens[key].Position.Line)
		return
	}
	afterKey, sameLine := e.offset(colon)+1, e.line(colon) == e.line(i)
	switch {
	case sameLine && collection(value):
		end, gap := e.lineEnd(to), ""
		switch rest := e.text[to:end]; {
		case strings.TrimSpace(rest) == "":
			to = end
		case strings.HasPrefix(rest, "#"):
			gap = " "
		}
		e.splice(afterKey, to, gap)
		indent := e.column(key) + e.style(i).indentBelow(value)
		e.insertLines(end, strings.Repeat(" ", indent)+e.block(value, indent, i, end), indent)
	case !sameLine && !collection(value):
		e.splice(afterKey, afterKey, " "+e.flow(value))
		e.splice(strings.LastIndexByte(e.text[:from], '\n'), to, "")
	default:
		e.splice(from, to, e.block(value, e.column(i), i, to))
	}
}

// add adds the only entry of a collection after the last entry of n, a collection of the same kind.
func (e *Editor) add(n Node, entry any) {
	i := e.find(n)
	past := e.past(i)
	if e.err != nil {
		return
	}
	if !e.isBlock(i) {
		e.addFlow(i, past-1, entry)
		return
	}
	for past < len(e.doc.tokens) && e.doc.tokens[past].Type == token.CommentType && e.column(past) > e.column(i) {
		past++ // the comment belongs to the last entry
	}
	at := e.lineEnd(e.end(past))
	e.insertLines(at, strings.Repeat(" ", e.column(i))+e.block(entry, e.column(i), i, at), e.column(i))
}

// addFlow adds an entry before the closing bracket of a collection.
func (e *Editor) addFlow(open, closing int, entry any) {
	last := closing - 1
	if last < open {
		e.fail("put it in braces", "the mapping in line %d has no braces", e.line(open))
		return
	}
	for e.doc.tokens[last].Type == token.CommentType {
		last--
	}
	at, text := e.end(last+1), e.flow(entry)
	text = text[1 : len(text)-1]
	switch {
	case last == open:
	case e.doc.tokens[last].Type == token.CollectEntryType:
		text = " " + strings.TrimSpace(text)
	default:
		text = ", " + strings.TrimSpace(text)
	}
	e.splice(at, at, text)
}

// block returns a value in block style, to be inserted at offset to. The indentation of its first line is not included;
// its style is that of the collections near token near.
func (e *Editor) block(value any, indent, near, to int) string {
	if !collection(value) {
		return e.flow(value)
	}
	enc := e.style(near)
	enc.flat = e.needsFlatText(to, indent)
	enc.block(value, indent)
	e.keepError(enc)
	return strings.TrimSuffix(enc.out.String(), "\n")
}

func (e *Editor) flow(value any) string {
	enc := encoder{flat: true, quoted: e.json}
	text := enc.flow(value, 0)
	e.keepError(&enc)
	return text
}

func (e *Editor) keepError(enc *encoder) {
	if enc.err != nil && e.err == nil {
		e.err = enc.err
	}
}

// needsFlatText reports whether a block of text that ends at an offset would include what follows it, or lack its last
// line end.
func (e *Editor) needsFlatText(at, indent int) bool {
	line, rest, more := strings.Cut(e.text[at:], "\n")
	if !more || strings.TrimSpace(line) != "" {
		return true
	}
	for line := range strings.Lines(rest) {
		if text := strings.TrimLeft(line, " "); strings.TrimSpace(text) != "" {
			return strings.HasPrefix(text, "#") && len(line)-len(text) > indent
		}
	}
	return false
}

// style returns an encoder that indents collections below a key as the nearest one before a token, else the first one
// after it.
func (e *Editor) style(near int) *encoder {
	const unknown, usual = -1, 2
	enc := &encoder{maps: unknown, lists: unknown}
	for i := near - 1; i > 0 && min(enc.maps, enc.lists) == unknown; i-- {
		e.measure(i, enc)
	}
	for i := near; i < len(e.doc.tokens) && min(enc.maps, enc.lists) == unknown; i++ {
		e.measure(i, enc)
	}
	if enc.maps == unknown {
		enc.maps = usual
	}
	if enc.lists == unknown {
		enc.lists = usual
	}
	return enc
}

// measure sets the indentation in enc that is not known yet, when a token is the colon before a block collection.
func (e *Editor) measure(colon int, enc *encoder) {
	value := e.skip(colon + 1)
	if colon == 0 || e.doc.tokens[colon].Type != token.MappingValueType || !e.isBlock(value) ||
		e.line(value) == e.line(colon) {
		return
	}
	deeper := e.column(value) - e.column(colon-1)
	switch {
	case e.doc.tokens[value].Type == token.SequenceEntryType:
		if enc.lists < 0 && deeper >= 0 {
			enc.lists = deeper
		}
	case enc.maps < 0 && deeper > 0:
		enc.maps = deeper
	}
}
