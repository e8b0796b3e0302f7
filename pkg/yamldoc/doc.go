// Package yamldoc reads YAML strictly, without stopping at the first mistake: each mistake is a problem with its
// position and a snippet, and a file's problems are complete when it has been read. It writes YAML that reads back as
// the same values. It does not depend on what the files mean.
//
// A file of any content is read in bounded time and memory. A Doc must be used by one goroutine at a time.
package yamldoc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// Doc is a file that is being read.
type Doc struct {
	File     string
	kind     fault.Kind
	source   []byte       // as given to Parse
	lines    []string     // without line ends and byte order mark
	tokens   token.Tokens // including comments; their columns count characters of lines
	anchors  map[string]ast.Node
	values   int // number of values read so far, limited by maxValues
	text     int // number of bytes of text read so far, limited by maxText
	problems fault.Problems
	warnings fault.Problems

	exhausted bool // maxValues or maxDepth was exceeded: nothing more is read or reported
}

// Parse reads one YAML document. When it cannot be parsed, the node is absent and the Doc has a problem. kind is the
// kind of the Doc's problems.
func Parse(file string, kind fault.Kind, data []byte) (*Doc, Node) {
	d := &Doc{File: file, kind: kind, source: data, anchors: map[string]ast.Node{}}
	absent := Node{doc: d}
	if len(data) > MaxSize {
		d.add(0, 0, "split it, or keep the data elsewhere", "the file is larger than %d MiB", MaxSize>>20)
		return d, absent
	}
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	d.lines = strings.Split(string(data), "\n")
	if !d.checkText(data) {
		return d, absent
	}
	tokens := lexer.Tokenize(string(data))
	if !d.checkQuotes(tokens) {
		return d, absent
	}
	if bad := tokens.InvalidToken(); bad != nil {
		d.syntaxError(bad, bad.Error)
		return d, absent
	}
	if !d.checkLimits(tokens) || !d.checkPlain(tokens) {
		return d, absent
	}
	d.tokens = tokens
	return d, Node{doc: d, ast: d.body(tokens)}
}

// body parses the tokens and returns the only document, nil when there is none or it cannot be parsed.
func (d *Doc) body(tokens token.Tokens) ast.Node {
	parsed, err := safeParse(tokens)
	if err != nil {
		d.parseError(err)
		return nil
	}
	var body ast.Node
	for _, doc := range parsed.Docs {
		switch doc.Body.(type) {
		case nil, *ast.CommentGroupNode, *ast.DirectiveNode:
			continue
		}
		if body != nil {
			Node{doc: d, ast: doc.Body}.Errorf("split the documents into files", "a second YAML document; a file holds only one")
			break
		}
		body = doc.Body
	}
	if body != nil {
		ast.Walk(anchorVisitor{d}, body)
	}
	return body
}

// safeParse returns a panic of the parser as an error.
func safeParse(tokens token.Tokens) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not readable as YAML (%v)", r)
		}
	}()
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// anchorVisitor collects the anchors. It reports aliases without an anchor, and tags that are not supported.
type anchorVisitor struct{ doc *Doc }

func (v anchorVisitor) Visit(n ast.Node) ast.Visitor {
	node := Node{doc: v.doc, ast: n}
	switch n := n.(type) {
	case *ast.AnchorNode:
		name := n.Name.GetToken().Value
		if _, twice := v.doc.anchors[name]; twice {
			node.Errorf("give one of them another name", "the anchor &%s is defined twice", name)
		}
		v.doc.anchors[name] = n.Value
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		if _, ok := v.doc.anchors[name]; !ok {
			node.Errorf("put it in quotes if it is text that starts with a star",
				"*%s refers to an anchor, but no &%s is defined before it", name, name)
		}
	case *ast.TagNode:
		if tag := n.Start.Value; tag != "!!str" {
			node.Errorf("put it in quotes if it is text that starts with an exclamation mark",
				"the YAML tag %s is not supported", tag)
		}
	}
	return v
}

// checkText reports the first byte that is not allowed in a text file.
func (d *Doc) checkText(data []byte) bool {
	line, col := 1, 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			d.add(line, col, "save the file as UTF-8", "the file is not valid UTF-8 text")
			return false
		case r == '\n':
			line, col = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r == 0x7f:
			d.add(line, col, fmt.Sprintf(`write it in double quotes as \x%02x`, r), "a control character, which YAML forbids")
			return false
		}
		col++
		data = data[size:]
	}
	return true
}

// Problems returns the mistakes found so far, in the order of the file, without duplicates.
func (d *Doc) Problems() fault.Problems {
	d.problems.Sort()
	return d.problems
}

// Warnings returns the warnings recorded so far, in the order of the file.
func (d *Doc) Warnings() fault.Problems {
	d.warnings.Sort()
	return d.warnings
}

// Problem records a problem of the file as a whole.
func (d *Doc) Problem(hint, format string, args ...any) { d.add(0, 0, hint, format, args...) }

func (d *Doc) add(line, col int, hint, format string, args ...any) {
	p := d.problem(line, col, hint, format, args...)
	if len(d.problems) < maxProblems && !d.exhausted && !slices.Contains(d.problems, p) {
		d.problems = append(d.problems, p)
	}
}

func (d *Doc) problem(line, col int, hint, format string, args ...any) fault.Problem {
	return fault.Problem{
		Kind: d.kind, File: d.File, Line: line, Column: col,
		Message: fmt.Sprintf(format, args...), Hint: hint, Snippet: d.snippet(line, col),
	}
}

// Source returns the file as it was given to Parse.
func (d *Doc) Source() []byte { return d.source }

// HasAnchors reports whether the document defines anchors, so that one value may be used in several places.
func (d *Doc) HasAnchors() bool { return len(d.anchors) > 0 }

func (d *Doc) snippet(line, col int) string { return Snippet(d.lines, line, col) }

// Snippet returns the line before, the line, and a caret under the column. It is empty for a line that does not exist.
func Snippet(lines []string, line, col int) string {
	if line < 1 || line > len(lines) {
		return ""
	}
	var b strings.Builder
	for n := max(1, line-1); n <= line; n++ {
		fmt.Fprintf(&b, "%5d | %s\n", n, clip(lines[n-1]))
	}
	fmt.Fprintf(&b, "      | %s^", strings.Repeat(" ", min(max(col-1, 0), maxSnippetWidth)))
	return b.String()
}

// BlockSnippet returns what Snippet does. For a key with a block below it, the first maxBlockLines lines of that block
// follow.
func BlockSnippet(lines []string, line, col int) string {
	snippet := Snippet(lines, line, col)
	if snippet == "" || !opensBlock(lines[line-1]) {
		return snippet
	}
	var b strings.Builder
	b.WriteString(snippet)
	for n := line + 1; n <= len(lines); n++ {
		text := strings.TrimRight(lines[n-1], " \t\r")
		if text == "" {
			continue
		}
		if indent := len(text) - len(strings.TrimLeft(text, " ")); indent < col {
			break
		}
		if n > line+maxBlockLines {
			b.WriteString("\n      | …")
			break
		}
		fmt.Fprintf(&b, "\n%5d | %s", n, clip(text))
	}
	return b.String()
}

// opensBlock reports whether a line ends with a key whose value is below it.
func opensBlock(line string) bool {
	line, _, _ = strings.Cut(line, " #")
	return strings.HasSuffix(strings.TrimRight(line, " \t\r"), ":")
}

// clip shortens a line and removes its control characters, for a terminal.
func clip(line string) string {
	return text.Head(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f:
			return utf8.RuneError
		}
		return r
	}, strings.TrimRight(line, "\r")), maxSnippetWidth)
}

func position(t *token.Token) (line, col int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}
