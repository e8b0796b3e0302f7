package tsschema

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

type schema = map[string]any

// maxNodes bounds the size of a schema: types that are not exported are written out at each place.
const maxNodes = 10_000

// generator makes the schema of one type.
type generator struct {
	scripts     *Scripts
	definitions schema
	named       map[string]*declaration // those that definitions has, or will have
	queue       []*declaration
	inside      map[*declaration]bool // what is being written
	shaping     map[*declaration]bool
	circular    map[*declaration]bool
	nodes       int
	depth       int
	problems    fault.Problems
}

// anyObject is the schema of a tool without arguments, or with arguments of which nothing is known.
func anyObject() schema { return schema{"type": "object", "properties": schema{}} }

// describeInput makes the schema of the arguments of a tool.
func (s *Scripts) describeInput(f *file, e *Export) {
	g := &generator{
		scripts: s, definitions: schema{}, named: map[string]*declaration{}, inside: map[*declaration]bool{}, shaping: map[*declaration]bool{},
		circular: map[*declaration]bool{},
	}
	input := anyObject()
	if e.input != nil && !f.isEmptyInput(e.input) {
		input = g.root(f, e)
	}
	if len(g.definitions) > 0 {
		input["definitions"] = g.definitions
	}
	e.Schema, _ = json.Marshal(input) // numbers of a script are finite
	e.Problems = g.problems
}

// isEmptyInput reports whether a type is the one of the package for tools without arguments.
func (f *file) isEmptyInput(n *node) bool {
	return n.kind == named && f.imports[n.text] == binding{Package, "EmptyInput"}
}

func (g *generator) root(f *file, e *Export) schema {
	if e.input.kind != named || len(e.input.items) > 0 {
		e.Invalid = append(e.Invalid, f.problem(e.input.at, "declare an interface, and name it here", "the type of the arguments has no name"))
		return anyObject()
	}
	d := g.scripts.find(f, e.input.text, new(maxHops))
	for seen := 0; d != nil && d.body.kind == named && len(d.body.items) == 0 && seen < maxHops; seen++ {
		next := g.scripts.find(d.file, d.body.text, new(maxHops))
		if next == nil {
			break
		}
		d = next
	}
	if d == nil || g.isCircular(d) {
		g.problem(f, e.input, "the type "+e.input.text)
		return anyObject()
	}
	g.inside[d] = true
	input := g.declared(d)
	for len(g.queue) > 0 {
		next := g.queue[0]
		g.queue = g.queue[1:]
		g.inside[next] = true
		g.definitions[next.name] = g.declared(next)
	}
	switch input["type"] {
	case "object":
	case nil:
		input["type"] = "object"
	default:
		g.problem(f, e.input, "a type for arguments that is not an object")
		return anyObject()
	}
	return input
}

// problem reports a form of type that has no schema, and returns the schema of any value.
func (g *generator) problem(f *file, n *node, what string) schema {
	g.problems = append(g.problems, f.problem(n.at, "write an interface with plain types, or a descriptor with inputSchema",
		"%s is not understood; it takes any value", what))
	return schema{}
}

// of returns the schema of a type in a script.
func (g *generator) of(f *file, n *node) schema {
	g.nodes++
	g.depth++
	defer func() { g.depth-- }()
	switch {
	case g.nodes == maxNodes, g.depth == maxDepth:
		return g.problem(f, n, "a type of this size")
	case g.nodes > maxNodes:
		return schema{}
	}
	switch n.kind {
	case literal:
		return schema{"type": typeOf(n.value), "const": n.value}
	case array:
		return schema{"type": "array", "items": g.of(f, n.items[0])}
	case tuple:
		return g.tuple(f, n)
	case object:
		return g.object(f, n)
	case union:
		return g.union(g.parts(f, n, false))
	case intersection:
		if s, ok := g.shape(f, n); ok {
			return s
		}
		return g.problem(f, n, "an intersection of this form")
	case named:
		return g.reference(f, n)
	case unsupported:
	}
	return g.problem(f, n, n.text)
}

func typeOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	}
	return "number"
}

// keyword returns the schema of a type that is a keyword.
func keyword(name string) (s schema, ok bool) {
	switch name {
	case "string", "number", "boolean", "null", "object":
		return schema{"type": name}, true
	case "unknown", "any":
		return schema{}, true
	case "undefined", "void", "never":
		return schema{"not": schema{}}, true
	}
	return nil, false
}

func (g *generator) tuple(f *file, n *node) schema {
	s := schema{"type": "array", "minItems": len(n.items), "maxItems": len(n.items)}
	var items []any
	for _, item := range n.items {
		items = append(items, g.of(f, item))
	}
	switch {
	case len(items) == 0:
		delete(s, "minItems")
	case !slices.ContainsFunc(items, func(item any) bool { return !reflect.DeepEqual(item, items[0]) }):
		s["items"] = items[0]
	default:
		s["items"] = items
	}
	return s
}

// object returns the schema of { members }. Other properties are not allowed, unless there is an index signature.
func (g *generator) object(f *file, n *node) schema {
	if n.text != "" {
		return g.problem(f, n, n.text)
	}
	properties, required := schema{}, []string{}
	for _, m := range n.members {
		s, optional := g.member(f, m)
		if s == nil {
			continue
		}
		if tag := annotate(s, m.doc); tag != "" {
			s = g.problem(f, m.typ, "a member with @"+tag)
		}
		properties[m.name] = s
		if !optional && !slices.Contains(required, m.name) {
			required = append(required, m.name)
		}
	}
	s := schema{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	if len(n.items) > 0 {
		s["additionalProperties"] = g.of(f, n.items[0])
	}
	return tidy(s)
}

// tidy removes what says nothing from the schema of an object.
func tidy(s schema) schema {
	if properties, _ := s["properties"].(schema); len(properties) == 0 {
		delete(s, "properties")
	}
	if required, _ := s["required"].([]string); len(required) == 0 {
		delete(s, "required")
	}
	if others, isSchema := s["additionalProperties"].(schema); isSchema && len(others) == 0 {
		delete(s, "additionalProperties")
	}
	return s
}

// member returns the schema of a member. One that may be undefined is optional; one that is never there has no schema.
func (g *generator) member(f *file, m member) (s schema, optional bool) {
	is := func(p part, name string) bool { return p.n.kind == named && p.n.text == name }
	parts := g.parts(f, m.typ, true)
	defined := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return is(p, "undefined") })
	switch {
	case m.optional && len(parts) == 1 && is(parts[0], "never"):
		return nil, true
	case len(defined) == 0:
		return schema{"not": schema{}}, true
	case len(defined) < len(parts):
		return g.union(defined), true
	}
	return g.of(f, m.typ), m.optional
}

// part is a type in a union, with the script that it stands in.
type part struct {
	f *file
	n *node
}

// parts returns the types in a union; a type that is not a union is one part. Types with a name are parts themselves,
// unless they are unions that are neither exported nor described; with every, they never are.
func (g *generator) parts(f *file, n *node, every bool) []part {
	if g.nodes++; g.nodes > maxNodes {
		return []part{{f, n}}
	}
	if n.kind == union {
		var all []part
		for _, item := range n.items {
			all = append(all, g.parts(f, item, every)...)
		}
		return all
	}
	if n.kind == named && len(n.items) == 0 {
		if d := g.scripts.find(f, n.text, new(maxHops)); d != nil && !g.isCircular(d) && (every || !d.exported && d.doc == "") {
			if inner := g.parts(d.file, d.body, every); len(inner) > 1 || inner[0].n.kind == literal {
				return inner
			}
		}
	}
	return []part{{f, n}}
}

// union returns the schema of one of some types.
func (g *generator) union(parts []part) schema {
	if len(parts) == 1 {
		return g.of(parts[0].f, parts[0].n)
	}
	var types, values []any
	text, plain, literals, textsOnly := false, true, true, true
	add := func(to *[]any, value any) {
		if !slices.Contains(*to, value) {
			*to = append(*to, value)
		}
	}
	for _, p := range parts {
		name := ""
		if p.n.kind == named {
			name = p.n.text
		}
		isPlain := slices.Contains([]string{"string", "number", "boolean", "null"}, name)
		plain = plain && isPlain
		text = text || name == "string"
		literals = literals && (p.n.kind == literal || name == "string" || name == "null")
		textsOnly = textsOnly && (p.n.kind != literal || typeOf(p.n.value) == "string")
		switch {
		case isPlain:
			add(&types, name)
		case p.n.kind == literal:
			add(&types, typeOf(p.n.value))
		}
		if p.n.kind == literal || name == "null" {
			add(&values, p.n.value)
		}
	}
	switch {
	case plain:
		return schema{"type": one(types)}
	case literals && text && textsOnly:
		return schema{"type": one(types)}
	case literals && text:
		return schema{"anyOf": []any{schema{"type": "string"}, enum(values)}}
	case literals:
		return enum(values)
	}
	return g.anyOf(parts)
}

func (g *generator) anyOf(parts []part) schema {
	var all []any
	for _, p := range parts {
		s := g.of(p.f, p.n)
		if inner, nested := s["anyOf"].([]any); nested && len(s) == 1 {
			all = append(all, inner...)
		} else {
			all = append(all, s)
		}
	}
	return schema{"anyOf": all}
}

// enum returns the schema of one of some values.
func enum(values []any) schema {
	var types []any
	for _, value := range values {
		if t := typeOf(value); !slices.Contains(types, any(t)) {
			types = append(types, t)
		}
	}
	if len(values) == 1 {
		return schema{"type": one(types), "const": values[0]}
	}
	return schema{"type": one(types), "enum": values}
}

// one returns the item of a list that has one, and else the list.
func one(list []any) any {
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// reference returns the schema of a type that is named.
func (g *generator) reference(f *file, n *node) schema {
	if s, ok := keyword(n.text); ok {
		return s
	}
	d := g.scripts.find(f, n.text, new(maxHops))
	switch {
	case d == nil && len(n.items) == 1 && (n.text == "Array" || n.text == "ReadonlyArray"):
		return schema{"type": "array", "items": g.of(f, n.items[0])}
	case d == nil:
		if s, ok := g.shape(f, n); ok {
			return s
		}
		return g.problem(f, n, "the type "+n.text)
	case g.isCircular(d):
		return g.problem(f, n, "a type that consists of itself")
	case d.exported || g.inside[d]:
		return g.define(f, n, d)
	}
	g.inside[d] = true
	defer delete(g.inside, d)
	return g.declared(d)
}

// isCircular reports whether a type is a name for itself, or for a union with itself. Such a type has no values.
func (g *generator) isCircular(d *declaration) bool {
	if known, ok := g.circular[d]; ok {
		return known
	}
	g.circular[d] = true // while it is being looked at
	g.circular[d] = g.hasCircle(d.file, d.body, 0)
	return g.circular[d]
}

func (g *generator) hasCircle(f *file, n *node, depth int) bool {
	switch {
	case depth > maxDepth:
		return true
	case n.kind == union:
		return slices.ContainsFunc(n.items, func(item *node) bool { return g.hasCircle(f, item, depth+1) })
	case n.kind != named || len(n.items) > 0:
		return false
	}
	d := g.scripts.find(f, n.text, new(maxHops))
	return d != nil && g.isCircular(d)
}

// define returns a reference to a declaration, which it defines if that has not been done.
func (g *generator) define(f *file, n *node, d *declaration) schema {
	switch g.named[d.name] {
	case nil:
		g.named[d.name] = d
		g.queue = append(g.queue, d)
	case d:
	default:
		return g.problem(f, n, "the second type with the name "+d.name)
	}
	return schema{"$ref": "#/definitions/" + d.name}
}

// declared returns the schema of a declaration, with what its comment says.
func (g *generator) declared(d *declaration) schema {
	var s schema
	if len(d.extends) == 0 {
		s = g.of(d.file, d.body)
	} else {
		var ok bool
		if s, ok = g.shapeOf(d); !ok {
			return g.problem(d.file, &node{at: d.at}, "what "+d.name+" extends")
		}
	}
	if tag := annotate(s, d.doc); tag != "" {
		return g.problem(d.file, &node{at: d.at}, "a type with @"+tag)
	}
	return s
}

// shape returns the schema of a type whose properties are known: without references and without the comment of the type.
func (g *generator) shape(f *file, n *node) (s schema, ok bool) {
	switch {
	case n.kind == object && n.text == "":
		return g.object(f, n), true
	case n.kind == intersection:
		for _, item := range n.items {
			other, isShape := g.shape(f, item)
			if !isShape {
				return nil, false
			}
			if s == nil {
				s = other
			} else if ok = merge(s, other, false); !ok {
				return nil, false
			}
		}
		return s, true
	case n.kind != named:
		return nil, false
	}
	if d := g.scripts.find(f, n.text, new(maxHops)); d != nil {
		return g.shapeOf(d)
	}
	return g.utility(f, n)
}

// shapeOf returns the shape of a declaration, with what it extends.
func (g *generator) shapeOf(d *declaration) (s schema, ok bool) {
	if g.nodes++; g.shaping[d] || g.nodes > maxNodes {
		return nil, false
	}
	g.shaping[d] = true
	defer delete(g.shaping, d)
	if s, ok = g.shape(d.file, d.body); !ok {
		return nil, false
	}
	for _, base := range d.extends {
		other, isShape := g.shape(d.file, base)
		if !isShape || !merge(s, other, true) {
			return nil, false
		}
	}
	return s, true
}

// merge adds the properties of another object. Of two with one name the first is kept if it overrides; else they have to
// be equal.
func merge(s, other schema, overrides bool) bool {
	properties, _ := s["properties"].(schema)
	merged := schema{}
	maps.Copy(merged, properties)
	more, _ := other["properties"].(schema)
	for name, property := range more {
		if own, twice := properties[name]; twice && !overrides && !reflect.DeepEqual(own, property) {
			return false
		} else if !twice {
			merged[name] = property
		}
	}
	s["properties"] = merged
	required, _ := s["required"].([]string)
	also, _ := other["required"].([]string)
	required = slices.Concat(required, also)
	slices.Sort(required)
	s["required"] = slices.Compact(required)
	mine, theirs := s["additionalProperties"], other["additionalProperties"]
	switch {
	case theirs == false:
	case mine == false && theirs == nil:
		delete(s, "additionalProperties")
	case mine == false:
		s["additionalProperties"] = theirs
	case !reflect.DeepEqual(mine, theirs):
		return false
	}
	tidy(s)
	return true
}

// utility returns the shape of a type that is made of another one by a type of the language.
func (g *generator) utility(f *file, n *node) (s schema, ok bool) {
	switch arguments := len(n.items); {
	case n.text == "Record" && arguments == 2:
		return g.record(f, n)
	case slices.Contains([]string{"Partial", "Required", "Readonly"}, n.text) && arguments == 1:
		s, ok = g.shape(f, n.items[0])
	case (n.text == "Pick" || n.text == "Omit") && arguments == 2:
		s, ok = g.shape(f, n.items[0])
		keys, literals := g.keys(f, n.items[1])
		if ok = ok && literals; ok {
			keep(s, func(name string) bool { return slices.Contains(keys, name) == (n.text == "Pick") })
		}
	}
	if !ok {
		return nil, false
	}
	switch n.text {
	case "Partial":
		delete(s, "required")
	case "Required":
		properties, _ := s["properties"].(schema)
		s["required"] = slices.Sorted(maps.Keys(properties))
	}
	return tidy(s), true
}

// keep removes properties from the schema of an object.
func keep(s schema, wanted func(name string) bool) {
	properties, _ := s["properties"].(schema)
	maps.DeleteFunc(properties, func(name string, _ any) bool { return !wanted(name) })
	required, _ := s["required"].([]string)
	s["required"] = slices.DeleteFunc(slices.Clone(required), func(name string) bool { return !wanted(name) })
}

// record returns the schema of Record<string, T>, or of one with the names of its properties.
func (g *generator) record(f *file, n *node) (s schema, ok bool) {
	if key := n.items[0]; key.kind == named && (key.text == "string" || key.text == "number") {
		return tidy(schema{"type": "object", "additionalProperties": g.of(f, n.items[1])}), true
	}
	keys, ok := g.keys(f, n.items[0])
	if !ok {
		return nil, false
	}
	properties := schema{}
	for _, key := range keys {
		properties[key] = g.of(f, n.items[1])
	}
	return tidy(schema{"type": "object", "properties": properties, "required": keys, "additionalProperties": false}), true
}

// keys returns the texts in a union of them.
func (g *generator) keys(f *file, n *node) (keys []string, ok bool) {
	for _, p := range g.parts(f, n, true) {
		key, isText := p.n.value.(string)
		if p.n.kind != literal || !isText {
			return nil, false
		}
		keys = append(keys, key)
	}
	return keys, true
}
