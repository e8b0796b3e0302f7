// Package tsschema reads what scripts in TypeScript export, without a compiler: tools that are functions with a type for
// their arguments, and the JSON Schema of that type. It knows the forms of types that such arguments have in practice;
// every other form takes any value, and is a problem with its place.
//
// It runs nothing, and opens no file itself.
package tsschema

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Reader returns the content of a file; an error when it does not exist or must not be read.
type Reader func(path string) ([]byte, error)

// Scripts reads scripts, each once. It is not safe for concurrent use.
type Scripts struct {
	read  Reader
	files map[string]*file // by path; nil for those that cannot be read
}

// New returns what reads scripts with a reader.
func New(read Reader) *Scripts { return &Scripts{read: read, files: map[string]*file{}} }

// Export is a function that a script exports.
type Export struct {
	Name        string
	Description string // the comment above it, tags included
	Line        int
	Column      int

	// Tool says that it was made with trailblaze.tool. The other fields are those of a tool.
	Tool bool
	// Spec has the keys of the literal that describes it, those with literal values. VariableSpec says that it is not a
	// literal.
	Spec         map[string]any
	VariableSpec bool
	// Schema is the JSON Schema of its arguments. A form of type that has none takes any value.
	Schema json.RawMessage
	// Problems are the forms of types that have no schema, and Invalid those that a tool must not have.
	Problems, Invalid fault.Problems

	at    int
	input *node
}

// file is what a script declares and exports.
type file struct {
	path, src  string
	lines      []string
	begins     []int // the offset of each line
	types      map[string]*declaration
	imports    map[string]binding
	exports    map[string]binding // those that are named in a list
	reexported []string           // modules
	modules    []string           // that statements import, not only types of them
	functions  []Export
}

// Package is the name of the package whose function makes tools.
const Package = "@trailblaze/scripting"

// Exports returns the functions that a script exports, in its order. The error is that of the reader.
func (s *Scripts) Exports(path string) ([]Export, error) {
	data, err := s.read(path)
	if err != nil {
		return nil, err
	}
	f := parse(path, string(data))
	s.files[path] = f
	exports := slices.Clone(f.functions)
	for i := range exports {
		e := &exports[i]
		e.Line, e.Column = f.position(e.at)
		if e.Tool {
			s.describeInput(f, e)
		}
	}
	return exports, nil
}

// Problem returns a problem at the name of an export of a script.
func (s *Scripts) Problem(path string, e Export, hint, format string, args ...any) fault.Problem {
	return s.files[path].problem(e.at, hint, format, args...)
}

func parse(path, src string) *file {
	f := &file{path: path, src: src, types: map[string]*declaration{}, imports: map[string]binding{}, exports: map[string]binding{}}
	p := &parser{tokens: lex(src), file: f}
	p.statements()
	return f
}

// position returns line and column of an offset, from 1.
func (f *file) position(at int) (line, column int) {
	if f.lines == nil {
		f.lines = strings.Split(f.src, "\n")
		begin := 0
		for _, line := range f.lines {
			f.begins = append(f.begins, begin)
			begin += len(line) + 1
		}
	}
	line, exact := slices.BinarySearch(f.begins, at)
	if !exact {
		line--
	}
	return line + 1, 1 + utf8.RuneCountInString(f.src[f.begins[line]:at])
}

func (f *file) problem(at int, hint, format string, args ...any) fault.Problem {
	p := fault.Problem{Kind: fault.Config, File: f.path, Hint: hint, Message: fmt.Sprintf(format, args...)}
	p.Line, p.Column = f.position(at)
	p.Snippet = yamldoc.Snippet(f.lines, p.Line, p.Column)
	return p
}

// open returns the script that another one imports; nil if it cannot be read.
func (s *Scripts) open(from *file, module string) *file {
	if !strings.HasPrefix(module, ".") {
		return nil
	}
	path := filepath.Join(filepath.Dir(from.path), filepath.FromSlash(module))
	stem := strings.TrimSuffix(path, ".js")
	for _, candidate := range []string{path, stem + ".ts", stem + ".d.ts", filepath.Join(path, "index.ts")} {
		if filepath.Ext(candidate) != ".ts" {
			continue
		}
		f, known := s.files[candidate]
		if !known {
			if data, err := s.read(candidate); err == nil {
				f = parse(candidate, string(data))
			}
			s.files[candidate] = f
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// NodeModule returns the name of a module of node, such as node:fs, that a script which was read imports, or one that it
// imports; empty for none. Modules in packages are not looked at.
func (s *Scripts) NodeModule(path string) string {
	return s.nodeModule(s.files[path], map[*file]bool{nil: true})
}

func (s *Scripts) nodeModule(f *file, seen map[*file]bool) string {
	if seen[f] {
		return ""
	}
	seen[f] = true
	for _, module := range f.modules {
		if strings.HasPrefix(module, "node:") {
			return module
		}
		if found := s.nodeModule(s.open(f, module), seen); found != "" {
			return found
		}
	}
	return ""
}

// maxHops bounds how often a name is exported again.
const maxHops = 50

// find returns the type that a name with dots means in a script; nil if it is not a type that can be read. hops is how
// many more scripts may be looked at.
func (s *Scripts) find(f *file, name string, hops *int) *declaration {
	first, rest, dotted := strings.Cut(name, ".")
	if b, imported := f.imports[first]; imported {
		other := s.open(f, b.from)
		switch {
		case other == nil:
			return nil
		case b.name == "*" && dotted:
			return s.exported(other, rest, hops)
		case b.name != "*" && !dotted:
			return s.exported(other, b.name, hops)
		}
		return nil
	}
	return f.types[name]
}

// exported returns the type that a script exports with a name.
func (s *Scripts) exported(f *file, name string, hops *int) *declaration {
	if *hops--; f == nil || *hops < 0 {
		return nil
	}
	if b, listed := f.exports[name]; listed {
		if b.from != "" {
			return s.exported(s.open(f, b.from), b.name, hops)
		}
		return s.find(f, b.name, hops)
	}
	if d := f.types[name]; d != nil && d.exported {
		return d
	}
	for _, module := range f.reexported {
		if d := s.exported(s.open(f, module), name, hops); d != nil {
			return d
		}
	}
	return nil
}

// constant reads a constant that is exported.
func (p *parser) constant(doc string) {
	name := p.advance()
	if p.accept(":") {
		p.typ()
	}
	if !p.accept("=") {
		return
	}
	e := Export{Name: name.text, Description: describe(doc), at: name.at}
	if e.Tool = p.makesTool(); e.Tool {
		p.toolCall(&e)
	}
	p.file.functions = append(p.file.functions, e)
}

// makesTool reports whether the function that makes tools is named here, and skips it.
func (p *parser) makesTool() bool {
	var names []string
	for i := p.i; p.tokens[i].kind == word; i += 2 {
		names = append(names, p.tokens[i].text)
		if next := p.tokens[i+1]; !next.is(".") {
			if !p.isTool(names) || !next.is("<") && !next.is("(") {
				return false
			}
			p.i = i + 1
			return true
		}
	}
	return false
}

// isTool reports whether names with dots between them are the function that makes tools. The package may be imported
// under another name, or as a whole.
func (p *parser) isTool(names []string) bool {
	b, imported := p.file.imports[names[0]]
	imported = imported && (b.from == Package || strings.HasPrefix(b.from, Package+"/"))
	switch len(names) {
	case 2:
		return names[1] == "tool" && (names[0] == "trailblaze" || imported && b.name == "trailblaze")
	case 3:
		return names[2] == "tool" && names[1] == "trailblaze" && imported && b.name == "*"
	}
	return false
}

// toolCall reads <I, O>(spec, handler).
func (p *parser) toolCall(e *Export) {
	if p.accept("<") {
		e.input = p.typ()
		if p.accept(",") {
			p.typ()
		}
		p.accept(">")
	}
	if !p.peek().is("(") {
		return
	}
	closing := p.peek().match
	p.advance()
	if p.peek().is("{") {
		e.Spec, _ = p.objectLiteral(0)
	}
	for p.i < closing && !p.peek().is(",") {
		p.skipBracket()
	}
	e.VariableSpec = e.Spec == nil && p.i < closing && p.i+1 != closing
	p.i = min(closing+1, len(p.tokens)-1)
}
