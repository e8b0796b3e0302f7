// Package yamldoc reads a YAML file strictly and keeps going: every mistake becomes a positioned problem with a snippet, and
// all of a file's problems are there at the end. It knows YAML and nothing of what the files mean.
package yamldoc

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// maxValues bounds what aliases may expand to in one file; without it a few lines of nested aliases fill the memory.
const maxValues = 200_000

// maxDepth bounds nesting; a deeper file is a mistake or an attack.
const maxDepth = 200

// Doc is one file being read.
type Doc struct {
	File     string
	kind     fault.Kind
	lines    []string
	anchors  map[string]ast.Node
	values   int
	problems fault.Problems
	warnings fault.Problems
}

// Parse reads one YAML document. What cannot be parsed becomes a problem and the returned node is absent. Problems carry kind.
func Parse(file string, kind fault.Kind, data []byte) (*Doc, Node) {
	d := &Doc{File: file, kind: kind, anchors: map[string]ast.Node{}}
	data = []byte(strings.TrimPrefix(string(data), "\ufeff"))
	d.lines = strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if line, col, ok := invalidUTF8(data); ok {
		d.add(line, col, "save the file as UTF-8", "the file is not valid UTF-8")
		return d, Node{doc: d}
	}
	parsed, err := safeParse(data)
	if err != nil {
		d.syntaxError(err)
		return d, Node{doc: d}
	}
	var body ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		if _, comment := doc.Body.(*ast.CommentGroupNode); comment {
			continue
		}
		if body != nil {
			pos := doc.Body.GetToken().Position
			d.add(pos.Line, pos.Column, "split the documents into files", "a second YAML document; one file holds one document")
			break
		}
		body = doc.Body
	}
	if body == nil {
		return d, Node{doc: d}
	}
	ast.Walk(anchorVisitor{d}, body)
	return d, Node{doc: d, ast: body}
}

// safeParse turns a panic of the parser into an error: a damaged file must never end the program.
func safeParse(data []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not readable as YAML (%v)", r)
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

type anchorVisitor struct{ doc *Doc }

func (v anchorVisitor) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
		v.doc.anchors[a.Name.GetToken().Value] = a.Value
	}
	return v
}

func invalidUTF8(data []byte) (line, col int, found bool) {
	line, col = 1, 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			return line, col, true
		}
		if r == '\n' {
			line, col = line+1, 0
		}
		col++
		data = data[size:]
	}
	return 0, 0, false
}

func (d *Doc) syntaxError(err error) {
	var located yaml.Error
	if errors.As(err, &located) && located.GetToken() != nil {
		pos := located.GetToken().Position
		d.add(pos.Line, pos.Column, "", "%s", located.GetMessage())
		return
	}
	d.add(0, 0, "", "%v", err)
}

// Problems returns what was wrong, in the order of the file.
func (d *Doc) Problems() fault.Problems {
	d.problems.Sort()
	return d.problems
}

// Warnings returns what is odd but allowed.
func (d *Doc) Warnings() fault.Problems {
	d.warnings.Sort()
	return d.warnings
}

// Problem records a finding about the file as a whole.
func (d *Doc) Problem(hint, format string, args ...any) { d.add(0, 0, hint, format, args...) }

func (d *Doc) add(line, col int, hint, format string, args ...any) {
	d.problems = append(d.problems, d.problem(line, col, hint, format, args...))
}

func (d *Doc) problem(line, col int, hint, format string, args ...any) fault.Problem {
	return fault.Problem{
		Kind: d.kind, File: d.File, Line: line, Column: col,
		Message: fmt.Sprintf(format, args...), Hint: hint, Snippet: d.snippet(line, col),
	}
}

// snippet shows the line before, the line, and a caret under the column.
func (d *Doc) snippet(line, col int) string {
	if line < 1 || line > len(d.lines) {
		return ""
	}
	var b strings.Builder
	for n := max(1, line-1); n <= line; n++ {
		fmt.Fprintf(&b, "%5d | %s\n", n, clip(d.lines[n-1]))
	}
	fmt.Fprintf(&b, "      | %s^", strings.Repeat(" ", min(max(col-1, 0), maxSnippetWidth)))
	return b.String()
}

// maxSnippetWidth keeps a snippet readable when a line holds a whole script.
const maxSnippetWidth = 160

func clip(line string) string {
	line = strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", " ")
	if r := []rune(line); len(r) > maxSnippetWidth {
		return string(r[:maxSnippetWidth]) + "…"
	}
	return line
}

func position(t *token.Token) (line, col int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}
