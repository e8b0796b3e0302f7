package typings

import "strings"

// TypeScriptFile is the name of the file with the declarations of TypeScript.
const TypeScriptFile = "trailblaze.d.ts"

const typeScriptHead = `// ` + Mark + ` from the tools of the project. Do not edit: run it again.
import "@trailblaze/scripting";

declare module "@trailblaze/scripting" {
  interface Tools {
`

// TypeScript returns a module that adds the tools to the interface Tools of @trailblaze/scripting.
func TypeScript(tools []Tool) []byte {
	w := &tsWriter{names: newNames("Tools"), uses: map[string]int{}, hints: map[string]string{}}
	list := entries(tools)
	for _, e := range list {
		e.walk(w.count)
	}
	w.b.WriteString(typeScriptHead)
	for i, e := range list {
		if i > 0 {
			w.b.WriteByte('\n')
		}
		w.tool(e)
	}
	w.b.WriteString("  }\n}\n")
	w.declareShared()
	return []byte(w.b.String())
}

// walk calls visit with each object shape of the arguments and results.
func (e entry) walk(visit func(s shape, hint string)) {
	for _, s := range e.arguments() {
		s.objects("", visit)
	}
	e.result().objects("", visit)
}

// tsWriter writes declarations. Objects of at least sharedFields fields that are used more than once have a name.
type tsWriter struct {
	b       strings.Builder
	names   names
	uses    map[string]int
	hints   map[string]string
	pending []namedShape // named, and not declared yet
}

type namedShape struct {
	name  string
	shape shape
}

const sharedFields = 4

func (w *tsWriter) count(s shape, hint string) {
	key := s.identity()
	w.uses[key]++
	if w.hints[key] == "" {
		w.hints[key] = hint
	}
}

func (w *tsWriter) tool(e entry) {
	const indent = "    "
	w.doc(e.doc(), indent)
	w.b.WriteString(indent + tsKey(e.name) + ": {\n" + indent + "  args: ")
	arguments := e.arguments()
	w.union(arguments, indent+"  ")
	w.b.WriteString(";\n" + indent + "  result: ")
	w.shape(e.result(), indent+"  ")
	w.b.WriteString(";\n" + indent + "};\n")
}

// declareShared declares the objects that have names, outside of the package's module. Writing one may name others.
func (w *tsWriter) declareShared() {
	for len(w.pending) > 0 {
		next := w.pending[0]
		w.pending = w.pending[1:]
		w.b.WriteString("\nexport interface " + next.name + " ")
		w.fields(next.shape, "")
		w.b.WriteByte('\n')
	}
}

func (w *tsWriter) doc(text, indent string) {
	lines := docLines(text)
	for i, line := range lines { // TypeScript obeys directives such as @ts-ignore in any comment
		lines[i] = strings.NewReplacer("*/", `*\/`, "@ts-", `\@ts-`).Replace(line)
	}
	switch len(lines) {
	case 0:
	case 1:
		w.b.WriteString(indent + "/** " + lines[0] + " */\n")
	default:
		w.b.WriteString(indent + "/**\n")
		for _, line := range lines {
			w.b.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
		}
		w.b.WriteString(indent + " */\n")
	}
}

func (w *tsWriter) shape(s shape, indent string) {
	switch s.kind {
	case list:
		w.item(*s.items, indent)
		w.b.WriteString("[]")
	case tuple:
		w.tuple(s, indent)
	case mapping:
		w.b.WriteString("{ [name: string]: ")
		w.shape(*s.items, indent)
		w.b.WriteString(" }")
	case object:
		w.object(s, indent)
	case union:
		w.union(s.parts, indent)
	case literal:
		w.b.WriteString(literalText(s.value, quoteTypeScript))
	default:
		w.b.WriteString(map[kind]string{
			anyValue: "unknown", never: "never", text: "string", number: "number", integer: "number", boolean: "boolean",
			null: "null",
		}[s.kind])
	}
}

// item writes the type of a list's items, in parentheses if [] would otherwise belong to a part of it.
func (w *tsWriter) item(s shape, indent string) {
	if s.kind != union {
		w.shape(s, indent)
		return
	}
	w.b.WriteByte('(')
	w.shape(s, indent)
	w.b.WriteByte(')')
}

func (w *tsWriter) tuple(s shape, indent string) {
	w.b.WriteByte('[')
	for i, part := range s.parts {
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.item(part, indent)
		w.b.WriteByte('?') // the schema accepts shorter lists
	}
	if s.items != nil {
		w.b.WriteString(", ...")
		w.item(*s.items, indent)
		w.b.WriteString("[]")
	}
	w.b.WriteByte(']')
}

func (w *tsWriter) union(parts []shape, indent string) {
	for i, part := range parts {
		if i > 0 {
			w.b.WriteString(" | ")
		}
		w.shape(part, indent)
	}
}

func (w *tsWriter) object(s shape, indent string) {
	key := s.identity()
	if s.name != "" || w.uses[key] < 2 || len(s.fields) < sharedFields {
		w.fields(s, indent)
		return
	}
	name, isNew := w.names.nameOf(s, w.hints[key])
	if isNew {
		w.pending = append(w.pending, namedShape{name, s})
	}
	w.b.WriteString(name)
}

func (w *tsWriter) fields(s shape, indent string) {
	if len(s.fields) == 0 { // not open: that would be a mapping
		w.b.WriteString("{ [name: string]: never }")
		return
	}
	w.b.WriteString("{\n")
	for _, f := range s.fields {
		w.doc(f.doc, indent+"  ")
		w.b.WriteString(indent + "  " + tsKey(f.name))
		if !f.required {
			w.b.WriteByte('?')
		}
		w.b.WriteString(": ")
		w.shape(f.shape, indent+"  ")
		w.b.WriteString(";\n")
	}
	if s.open {
		w.b.WriteString(indent + "  [name: string]: unknown;\n")
	}
	w.b.WriteString(indent + "}")
}

func tsKey(name string) string {
	if identifier().MatchString(name) {
		return name
	}
	return quoteTypeScript(name)
}
