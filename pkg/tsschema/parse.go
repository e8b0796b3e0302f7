package tsschema

import (
	"maps"
	"slices"
)

// kind says what a type is.
type kind uint8

const (
	unsupported kind = iota // a form that has no schema here; text says which
	named                   // a keyword, or a reference by name, with arguments in items
	literal                 // value
	array                   // items[0]
	tuple
	object // members, and the type of an index signature in items
	union
	intersection
)

// node is a type as it is written.
type node struct {
	kind    kind
	at      int // the offset
	text    string
	value   any // string, float64 or bool
	items   []*node
	members []member
}

// member is a property of an object.
type member struct {
	name     string
	doc      string
	optional bool
	typ      *node
}

// declaration is a type with a name. Its extends are those of an interface.
type declaration struct {
	name     string
	doc      string
	at       int
	file     *file
	exported bool
	extends  []*node
	body     *node
}

// binding is a name that a script imports or exports: one of another script, or of a package.
type binding struct {
	from string // the module, empty for this script
	name string // there; "*" for all of it
}

// maxDepth bounds how deeply types are nested.
const maxDepth = 100

// parser reads the declarations of a script.
type parser struct {
	tokens []token
	i      int
	depth  int
	file   *file
}

func (p *parser) peek() token  { return p.tokens[p.i] }
func (p *parser) after() token { return p.tokens[min(p.i+1, len(p.tokens)-1)] }

func (p *parser) advance() token {
	t := p.tokens[p.i]
	p.i = min(p.i+1, len(p.tokens)-1)
	return t
}

// accept skips a token if it is what is expected.
func (p *parser) accept(text string) bool {
	if p.peek().is(text) {
		p.advance()
		return true
	}
	return false
}

// skipBracket skips from an opening bracket to behind the closing one.
func (p *parser) skipBracket() { p.i = min(max(p.peek().match, p.i)+1, len(p.tokens)-1) }

// statements reads what a script declares outside of its functions.
func (p *parser) statements() {
	for p.peek().kind != end {
		from := p.i
		p.statement()
		if p.i == from {
			p.skipBracket()
		}
	}
}

func (p *parser) statement() {
	doc := p.peek().doc
	switch t, next := p.peek(), p.after(); {
	case t.is("import") && !next.is("("):
		p.importStatement()
	case t.is("export"):
		p.advance()
		p.export(doc)
	default:
		p.declare(doc, false)
	}
}

// declare reads a type, or skips a token.
func (p *parser) declare(doc string, exported bool) {
	p.accept("declare")
	switch t, next := p.peek(), p.after(); {
	case t.is("interface") && next.kind == word:
		p.interfaceOf(doc, exported)
	case t.is("type") && next.kind == word && !next.newLine:
		p.alias(doc, exported)
	case t.is("enum") && next.kind == word:
		p.advance()
		p.enum(doc, exported)
	case t.is("const") && next.is("enum"):
		p.advance()
		p.advance()
		p.enum(doc, exported)
	default:
		p.skipBracket()
	}
}

// export reads what follows the word export.
func (p *parser) export(doc string) {
	typeOnly := p.peek().is("type") && (p.after().is("{") || p.after().is("*"))
	if typeOnly {
		p.advance()
	}
	switch t := p.peek(); {
	case t.is("{"):
		names := p.specifiers()
		from := p.module()
		for as, name := range names {
			p.file.exports[as] = binding{from, name}
		}
	case t.is("*"):
		p.advance()
		if as := ""; p.accept("as") {
			as = p.advance().text
			p.file.exports[as] = binding{p.module(), "*"}
		} else if from := p.module(); from != "" {
			p.file.reexported = append(p.file.reexported, from)
			p.file.modules = append(p.file.modules, from)
		}
	case t.is("const") && p.after().kind == word && !p.after().is("enum"):
		p.advance()
		p.constant(doc)
	case t.is("async") || t.is("function"):
		p.accept("async")
		p.advance()
		p.accept("*")
		if name := p.peek(); name.kind == word {
			p.file.functions = append(p.file.functions, Export{Name: name.text, Description: describe(doc), at: name.at})
		}
	default:
		p.declare(doc, true)
	}
}

// importStatement reads the names that a statement imports.
func (p *parser) importStatement() {
	p.advance()
	typeOnly := p.peek().is("type") && !p.after().is("from") && !p.after().is(",")
	if typeOnly {
		p.advance()
	}
	names := map[string]string{}
	if t := p.peek(); t.kind == word {
		names[t.text] = "default"
		p.advance()
		p.accept(",")
	}
	switch {
	case p.accept("*"):
		p.accept("as")
		names[p.advance().text] = "*"
	case p.peek().is("{"):
		maps.Copy(names, p.specifiers())
	}
	from := p.module()
	if !typeOnly {
		p.file.modules = append(p.file.modules, from)
	}
	for as, name := range names {
		p.file.imports[as] = binding{from, name}
	}
}

// specifiers reads { a, type b, c as d }: names by what they are renamed to.
func (p *parser) specifiers() map[string]string {
	closing := p.peek().match
	p.advance()
	names := map[string]string{}
	for p.i < closing {
		if p.peek().is("type") && p.after().kind == word && !p.after().is("as") {
			p.advance()
		}
		name := p.advance()
		as := name
		if p.accept("as") {
			as = p.advance()
		}
		if name.kind == word {
			names[as.text] = name.text
		}
		p.accept(",")
	}
	p.i = min(closing+1, len(p.tokens)-1)
	return names
}

// module reads from "module"; empty if it is not there.
func (p *parser) module() string {
	if p.accept("from"); p.peek().kind == quoted {
		return unquote(p.advance().text)
	}
	return ""
}

// define adds a declaration. Several with one name are merged by compilers, not here.
func (p *parser) define(d *declaration) {
	if earlier := p.file.types[d.name]; earlier != nil {
		earlier.body = &node{at: d.at, text: "a type that is declared twice"}
		return
	}
	d.file = p.file
	p.file.types[d.name] = d
}

func (p *parser) interfaceOf(doc string, exported bool) {
	p.advance()
	name := p.advance()
	d := &declaration{name: name.text, doc: doc, at: name.at, exported: exported}
	generic := p.typeParameters()
	if p.accept("extends") {
		for more := true; more; more = p.accept(",") {
			d.extends = append(d.extends, p.reference())
		}
	}
	if !p.peek().is("{") {
		return
	}
	d.body = p.objectType()
	if generic {
		d.body = &node{at: name.at, text: "a generic type"}
	}
	p.define(d)
}

func (p *parser) alias(doc string, exported bool) {
	p.advance()
	name := p.advance()
	d := &declaration{name: name.text, doc: doc, at: name.at, exported: exported}
	generic := p.typeParameters()
	if !p.accept("=") {
		return
	}
	d.body = p.typ()
	if generic {
		d.body = &node{at: name.at, text: "a generic type"}
	}
	p.define(d)
}

// typeParameters skips <T>.
func (p *parser) typeParameters() bool {
	if !p.peek().is("<") {
		return false
	}
	p.skipAngles()
	return true
}

// skipAngles skips from < to behind the > that matches it.
func (p *parser) skipAngles() {
	for depth := 0; p.peek().kind != end; {
		switch t := p.peek(); {
		case t.is("<"):
			depth++
		case t.is(">"):
			depth--
		case t.is("}") || t.is(";"):
			return
		}
		if p.skipBracket(); depth == 0 {
			return
		}
	}
}

// enum reads the values of an enum, as a union of literals. Values that are computed have no schema.
func (p *parser) enum(doc string, exported bool) {
	name := p.advance()
	if !p.peek().is("{") {
		return
	}
	closing := p.peek().match
	p.advance()
	body := &node{kind: union, at: name.at}
	next := 0.0
	for p.i < closing && p.peek().kind != end {
		p.advance()
		value, ok := any(next), true
		if p.accept("=") {
			value, ok = p.value(0)
		}
		if n, isNumber := value.(float64); isNumber {
			next = n + 1
		}
		if !ok || !p.peek().is(",") && p.i != closing {
			body = &node{at: name.at, text: "an enum with a computed value"}
			break
		}
		body.items = append(body.items, &node{kind: literal, at: name.at, value: value})
		p.accept(",")
	}
	p.i = min(closing+1, len(p.tokens)-1)
	p.define(&declaration{name: name.text, doc: doc, at: name.at, exported: exported, body: body})
}

// typ reads a type. What is not supported is skipped to where a type can end.
func (p *parser) typ() *node {
	at := p.peek().at
	if p.depth++; p.depth > maxDepth {
		p.depth--
		return p.unsupported(at, "a type that is nested too deeply")
	}
	defer func() { p.depth-- }()
	if text := p.functionType(); text != "" {
		return p.unsupported(at, text)
	}
	n := p.list(union, "|", func() *node { return p.list(intersection, "&", p.postfix) })
	if t := p.peek(); !endsType(t) {
		what := "this form of a type"
		if t.is("extends") {
			what = "a conditional type"
		}
		return p.unsupported(at, what)
	}
	return n
}

// endsType reports whether a type can end before a token.
func endsType(t token) bool {
	switch {
	case t.kind == end, t.kind == word && t.newLine:
		return true
	case t.kind == mark && slices.Contains([]string{",", ";", ")", "]", "}", ">", "=", "=>"}, t.text):
		return true
	}
	return t.newLine && !t.is("|") && !t.is("&")
}

// unsupported returns a node for a form without a schema, and skips it.
func (p *parser) unsupported(at int, text string) *node {
	for angles := 0; p.peek().kind != end; {
		t := p.peek()
		switch {
		case t.is("<"):
			angles++
		case t.is(">") && angles > 0:
			angles--
		case angles == 0 && !t.is("=>") && endsType(t) && t.at > at:
			return &node{at: at, text: text}
		case t.is(")") || t.is("]") || t.is("}"):
			return &node{at: at, text: text}
		}
		p.skipBracket()
	}
	return &node{at: at, text: text}
}

// functionType says what stands here if it is the type of a function.
func (p *parser) functionType() string {
	t := p.peek()
	switch {
	case t.is("new"), t.is("abstract") && p.after().is("new"):
		return "a constructor"
	case t.is("<"):
		return "a function"
	case t.is("(") && p.tokens[min(t.match+1, len(p.tokens)-1)].is("=>"):
		return "a function"
	case t.is("asserts") && p.after().kind == word && !p.after().newLine:
		return "an assertion"
	}
	return ""
}

// list reads parts that a mark separates; one part is itself.
func (p *parser) list(k kind, separator string, part func() *node) *node {
	at := p.peek().at
	p.accept(separator)
	items := []*node{part()}
	for p.accept(separator) {
		items = append(items, part())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &node{kind: k, at: at, items: items}
}

// postfix reads a type with [] behind it.
func (p *parser) postfix() *node {
	for p.peek().is("readonly") && !endsType(p.after()) {
		p.advance()
	}
	n := p.primary()
	for depth := 1; p.peek().is("[") && !p.peek().newLine; depth++ {
		if !p.after().is("]") || depth > maxDepth {
			p.skipBracket()
			n = &node{at: n.at, text: "the type of a member"}
			continue
		}
		p.advance()
		p.advance()
		n = &node{kind: array, at: n.at, items: []*node{n}}
	}
	return n
}

func (p *parser) primary() *node {
	t := p.peek()
	switch {
	case t.is("("):
		p.advance()
		n := p.typ()
		if !p.accept(")") {
			return p.unsupported(t.at, "this form of a type")
		}
		return n
	case t.is("{"):
		return p.objectType()
	case t.is("["):
		return p.tuple()
	case t.kind == quoted, t.kind == number, t.is("-"), t.is("true"), t.is("false"):
		value, ok := p.value(0)
		if !ok {
			return &node{at: t.at, text: "this literal"}
		}
		return &node{kind: literal, at: t.at, value: value}
	case t.kind == template:
		p.skipBracket()
		return &node{at: t.at, text: "a template"}
	case slices.ContainsFunc([]string{"keyof", "typeof", "unique", "infer", "import"}, t.is) && !endsType(p.after()):
		p.advance()
		p.skipBracket()
		for p.peek().is(".") || p.peek().is("(") {
			p.skipBracket()
			p.accept(".")
		}
		return &node{at: t.at, text: "a type with " + t.text}
	case t.kind == word:
		return p.reference()
	}
	return &node{at: t.at, text: "this form of a type"}
}

// reference reads a name, with dots and arguments.
func (p *parser) reference() *node {
	t := p.advance()
	n := &node{kind: named, at: t.at, text: t.text}
	for p.peek().is(".") && p.after().kind == word {
		p.advance()
		n.text += "." + p.advance().text
	}
	if !p.peek().is("<") || p.peek().newLine {
		return n
	}
	p.advance()
	for !p.peek().is(">") {
		from := p.i
		n.items = append(n.items, p.typ())
		if p.accept(","); p.i == from {
			return &node{at: t.at, text: "this form of a type"}
		}
	}
	p.advance()
	return n
}

// tuple reads [A, B]. Names, optional and other parts have no schema here.
func (p *parser) tuple() *node {
	closing := p.peek().match
	n := &node{kind: tuple, at: p.advance().at}
	for p.i < closing {
		from := p.i
		item := p.typ()
		if item.kind == unsupported || p.i != closing && !p.peek().is(",") {
			n = &node{at: n.at, text: "a tuple of this form"}
			break
		}
		n.items = append(n.items, item)
		if p.accept(","); p.i == from {
			break
		}
	}
	p.i = min(closing+1, len(p.tokens)-1)
	return n
}

// objectType reads { members }.
func (p *parser) objectType() *node {
	closing := p.peek().match
	n := &node{kind: object, at: p.advance().at}
	for p.i < closing {
		from := p.i
		p.member(n)
		for p.i < closing && (p.peek().is(";") || p.peek().is(",")) {
			p.advance()
		}
		if p.i == from {
			p.skipBracket()
		}
	}
	p.i = min(closing+1, len(p.tokens)-1)
	return n
}

// member reads a member of an object.
func (p *parser) member(n *node) {
	m := member{doc: p.peek().doc}
	for (p.peek().is("readonly") || p.peek().is("-") || p.peek().is("+")) && !slices.ContainsFunc([]string{"?", ":", "(", "<", ";", ",", "}"}, p.after().is) {
		p.advance()
	}
	t := p.peek()
	switch {
	case t.is("["):
		p.bracketMember(n)
		return
	case t.kind == word, t.kind == number:
		m.name = t.text
	case t.kind == quoted:
		m.name = unquote(t.text)
	case t.is("("), t.is("<"):
		p.whole(n, t.at, "a function")
		return
	default:
		p.whole(n, t.at, "this form of a member")
		return
	}
	if p.advance(); (t.is("get") || t.is("set") || t.is("async")) && p.peek().kind == word && !p.peek().newLine {
		p.whole(n, t.at, "an accessor")
		return
	}
	m.optional = p.accept("?")
	switch next := p.peek(); {
	case p.accept(":"):
		m.typ = p.typ()
	case next.is("("), next.is("<"):
		m.typ = p.unsupported(t.at, "a function")
	default:
		m.typ = &node{at: t.at, text: "a member without a type"}
	}
	n.members = append(n.members, m)
}

// bracketMember reads [key: string]: T. Mapped types and computed names have no schema.
func (p *parser) bracketMember(n *node) {
	t := p.peek()
	closing := t.match
	p.i = min(p.i+2, len(p.tokens)-1)
	isIndex := p.accept(":") && (p.accept("string") || p.accept("number")) && p.i == closing && len(n.items) == 0
	p.i = min(closing+1, len(p.tokens)-1)
	if !isIndex || !p.accept(":") {
		p.whole(n, t.at, "a mapped type or a computed name")
		return
	}
	n.items = append(n.items, p.typ())
}

// whole says that a member makes all of the object unsupported, and skips the member.
func (p *parser) whole(n *node, at int, text string) {
	p.unsupported(at, text)
	if n.text == "" {
		n.text, n.at = text, at
	}
}
