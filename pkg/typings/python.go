package typings

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// PythonFile is the name of the stub for Python.
const PythonFile = "trailblaze_tools.pyi"

const pythonHead = `# ` + Mark + ` from the tools of the project. Do not edit: run it again.
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# mypy: disable-error-code="override, overload-overlap, overload-cannot-match"
`

// imports returns the import statements for the names that are used in a text.
func imports(text string) string {
	var b strings.Builder
	for _, from := range []struct{ module, names string }{
		{"collections.abc", "Awaitable Mapping"},
		{"typing", "Any Literal overload"},
		{"typing_extensions", "Never NotRequired TypedDict Unpack"},
	} {
		isUnused := func(name string) bool { return !regexp.MustCompile(`\b` + name + `\b`).MatchString(text) }
		if names := slices.DeleteFunc(strings.Fields(from.names), isUnused); len(names) > 0 {
			b.WriteString("from " + from.module + " import " + strings.Join(names, ", ") + "\n")
		}
	}
	return b.String() + "\nfrom trailblaze import Result, TrailblazeClient\n"
}

// Python returns a stub of the module trailblaze_tools, with a client that has the tools.
func Python(tools []Tool) []byte {
	w := &pyWriter{names: newNames(
		"Any", "AsyncTools", "Awaitable", "Client", "Literal", "Mapping", "Never", "NotRequired", "Result", "Tools",
		"TrailblazeClient", "TypedDict", "Unpack", "False", "None", "True",
	)}
	list := entries(tools)
	for _, e := range list {
		e.walk(w.declare)
	}
	w.class("Tools", "The tools of the project. Each waits for the result.", list, func(result string) string { return result })
	w.class("AsyncTools", "The tools of the project, to be awaited.", list, awaitable)
	w.client(list)
	return []byte(pythonHead + imports(w.b.String()) + w.b.String())
}

func awaitable(result string) string { return "Awaitable[" + result + "]" }

// pyWriter writes a stub. Every object has a name, because Python has no types of objects without one.
type pyWriter struct {
	b     strings.Builder
	names names
}

// declare writes the class of an object that has none.
func (w *pyWriter) declare(s shape, hint string) {
	if s.open {
		return
	}
	name, isNew := w.names.nameOf(s, hint)
	if !isNew {
		return
	}
	isName := func(f field) bool { return isPythonName(f.name) && !strings.HasPrefix(f.name, "__") }
	if slices.ContainsFunc(s.fields, func(f field) bool { return !isName(f) }) {
		w.declareCall(name, s)
		return
	}
	w.b.WriteString("\nclass " + name + "(TypedDict):\n")
	for _, f := range s.fields {
		w.b.WriteString("    " + f.name + ": " + w.field(f) + "\n")
		w.doc(f.doc, "    ")
	}
	if len(s.fields) == 0 {
		w.b.WriteString("    pass\n")
	}
}

// declareCall declares an object with fields that are not names in Python.
func (w *pyWriter) declareCall(name string, s shape) {
	w.b.WriteString("\n" + name + " = TypedDict(\n    " + quotePython(name) + ",\n    {\n")
	for _, f := range s.fields {
		w.b.WriteString("        " + quotePython(f.name) + ": " + w.field(f) + ",\n")
	}
	w.b.WriteString("    },\n)\n")
}

func (w *pyWriter) field(f field) string {
	if f.required {
		return w.shape(f.shape)
	}
	return "NotRequired[" + w.shape(f.shape) + "]"
}

// class writes a class with a method for each tool whose name is one in Python.
func (w *pyWriter) class(name, doc string, list []entry, returned func(string) string) {
	w.b.WriteString("\nclass " + name + ":\n")
	w.doc(doc, "    ")
	for _, e := range list {
		if !isPythonName(e.name) || strings.HasPrefix(e.name, "__") {
			w.b.WriteString("\n    # " + quotePython(e.name) + " is not a name in Python: use call_tool.\n")
			continue
		}
		arguments := e.arguments()
		for _, s := range arguments {
			w.b.WriteByte('\n')
			if len(arguments) > 1 {
				w.b.WriteString("    @overload\n")
			}
			w.b.WriteString("    def " + e.name + "(" + w.keywords(s) + ") -> " + returned(w.result(e)) + ":\n")
			w.body(e.doc())
		}
	}
}

// keywords returns the parameters of a method whose arguments have a shape.
func (w *pyWriter) keywords(s shape) string {
	self := "self"
	if slices.ContainsFunc(s.fields, func(f field) bool { return f.name == self }) {
		self = "self, /"
	}
	if s.kind != object || s.open {
		return self + ", **args: Any"
	}
	return self + ", **args: Unpack[" + w.shape(s) + "]"
}

func (w *pyWriter) body(doc string) {
	w.doc(doc, "        ")
	if len(docLines(doc)) == 0 {
		w.b.WriteString("        ...\n")
	}
}

func (w *pyWriter) client(list []entry) {
	w.b.WriteString(`
class Client(TrailblazeClient):
    """A TrailblazeClient that knows the tools of the project."""

    @property
    def tools(self) -> Tools: ...
    @property
    def tools_async(self) -> AsyncTools: ...
`)
	w.calls("call_tool", "def", list)
	w.calls("call_tool_async", "async def", list)
}

// calls writes a method that takes the name of a tool and its arguments, as an overload for each tool.
func (w *pyWriter) calls(method, def string, list []entry) {
	var lines []string
	for _, e := range list {
		for _, s := range e.arguments() {
			lines = append(lines, "    "+def+" "+method+"(self, name: Literal["+quotePython(e.name)+"], "+w.mapping(s)+
				") -> "+w.result(e)+": ...\n")
		}
	}
	for _, line := range lines {
		if len(lines) > 1 {
			w.b.WriteString("    @overload\n")
		}
		w.b.WriteString(line)
	}
}

// mapping returns the parameter for arguments of a shape.
func (w *pyWriter) mapping(s shape) string {
	if s.kind != object || s.open {
		return "args: Mapping[str, Any] | None = ..."
	}
	if slices.ContainsFunc(s.fields, func(f field) bool { return f.required }) {
		return "args: " + w.shape(s)
	}
	return "args: " + w.shape(s) + " | None = ..."
}

func (w *pyWriter) result(e entry) string { return "Result[" + w.shape(e.result()) + "]" }

func (w *pyWriter) shape(s shape) string {
	switch s.kind {
	case object:
		if s.open {
			return "dict[str, Any]"
		}
		name, _ := w.names.nameOf(s, "")
		return name
	case mapping:
		return "dict[str, " + w.shape(*s.items) + "]"
	case list:
		return "list[" + w.shape(*s.items) + "]"
	case tuple:
		parts := slices.Clone(s.parts)
		if s.items != nil {
			parts = append(parts, *s.items)
		}
		return "list[" + w.shape(oneOf(parts)) + "]"
	case literal:
		return pyLiteral(s.value)
	case union:
		return w.union(s.parts)
	default:
		return map[kind]string{
			anyValue: "Any", never: "Never", text: "str", number: "float", integer: "int", boolean: "bool", null: "None",
		}[s.kind]
	}
}

func (w *pyWriter) union(parts []shape) string {
	var literals, types []string
	for _, part := range parts {
		t := w.shape(part)
		value, isLiteral := strings.CutPrefix(t, "Literal[")
		switch {
		case isLiteral:
			literals = append(literals, strings.TrimSuffix(value, "]"))
		case !slices.Contains(types, t):
			types = append(types, t)
		}
	}
	if len(literals) > 0 {
		types = slices.Insert(types, 0, "Literal["+strings.Join(literals, ", ")+"]")
	}
	return strings.Join(types, " | ")
}

var wholeNumber = lazyregexp.New(`^-?[0-9]+$`)

// pyLiteral returns the type of a literal. Python has no literals of other numbers than whole ones.
func pyLiteral(value string) string {
	switch {
	case value == "true":
		return "Literal[True]"
	case value == "false":
		return "Literal[False]"
	case value[0] != '"' && !wholeNumber().MatchString(value):
		return "float"
	}
	return "Literal[" + literalText(value, quotePython) + "]"
}

var quotes = lazyregexp.New(`"{2,}|"$`)

// doc writes a docstring.
func (w *pyWriter) doc(text, indent string) {
	lines := docLines(text)
	if len(lines) == 0 {
		return
	}
	for i, line := range lines {
		line = strings.ReplaceAll(line, `\`, `\\`)
		lines[i] = quotes().ReplaceAllStringFunc(line, func(q string) string { return strings.Repeat(`\"`, len(q)) })
	}
	if len(lines) > 1 {
		lines = append(lines, "")
	}
	text = strings.ReplaceAll(strings.Join(lines, "\n"+indent), "\n"+indent+"\n", "\n\n")
	w.b.WriteString(indent + `"""` + text + `"""` + "\n")
}

func isPythonName(name string) bool {
	return identifier().MatchString(name) && !slices.Contains(pythonKeywords(), name)
}

func pythonKeywords() []string {
	return strings.Fields(`False None True and as assert async await break class continue def del elif else except finally
for from global if import in is lambda nonlocal not or pass raise return try while with yield`)
}
