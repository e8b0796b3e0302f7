package typings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kind is the kind of a shape.
type kind int

const (
	anyValue kind = iota
	never
	text
	number
	integer
	boolean
	null
	literal // value
	list    // items
	tuple   // parts, and items for the rest if it is not nil
	mapping // items: an object whose fields have any names
	object  // fields
	union   // parts
)

// shape is a JSON Schema as far as types can express it. Every value that the schema accepts has the type, with one
// exception: an object type has only the fields that the schema names, unless it says additionalProperties.
type shape struct {
	kind   kind
	value  string // of a literal: JSON
	items  *shape
	parts  []shape
	fields []field
	open   bool   // an object with fields of other names, too
	name   string // of an object that is not shared: what it is for; else empty
}

type field struct {
	name     string
	doc      string
	required bool
	shape    shape
}

// maxDepth is the depth at which schemas within schemas become any value.
const maxDepth = 24

// maxUnion is the largest number of parts of a union that comes from combining others.
const maxUnion = 16

// maxSchemas bounds what is parsed of an input schema: references that lead to references grow it exponentially. What
// is beyond it may have any value.
const maxSchemas = 5000

// parseSchema returns the shape of a schema, and any value for one that is not a schema.
func parseSchema(raw json.RawMessage) shape {
	var root any
	if json.Unmarshal(raw, &root) != nil {
		return shape{}
	}
	p := parser{root: root}
	return p.schema(root, 0)
}

// parser turns schemas into shapes.
type parser struct {
	root any
	refs []string // being resolved
	// count is the number of schemas that were parsed, the same one again for each reference to it.
	count int
}

func (p *parser) schema(s any, depth int) shape {
	keywords, ok := s.(map[string]any)
	switch {
	case s == false:
		return shape{kind: never}
	case !ok || depth > maxDepth || p.count >= maxSchemas:
		return shape{}
	}
	p.count++
	all := []shape{p.reference(keywords, depth), p.own(keywords, depth)}
	for _, part := range asList(keywords["allOf"]) {
		all = append(all, p.schema(part, depth+1))
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if parts, ok := keywords[name].([]any); ok {
			all = append(all, p.union(parts, depth))
		}
	}
	result := shape{}
	for _, s := range all {
		result = intersection(result, s)
	}
	return result
}

func (p *parser) union(schemas []any, depth int) shape {
	parts := make([]shape, len(schemas))
	for i, s := range schemas {
		parts[i] = p.schema(s, depth+1)
	}
	return oneOf(parts)
}

// reference returns the shape that $ref names. References to other documents, and those within themselves, are any
// value.
func (p *parser) reference(keywords map[string]any, depth int) shape {
	ref, ok := keywords["$ref"].(string)
	if !ok || slices.Contains(p.refs, ref) {
		return shape{}
	}
	target, ok := follow(p.root, ref)
	if !ok {
		return shape{}
	}
	p.refs = append(p.refs, ref)
	defer func() { p.refs = p.refs[:len(p.refs)-1] }()
	return p.schema(target, depth+1)
}

// follow returns the value that a reference within a document names.
func follow(root any, ref string) (any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	value := root
	for _, key := range strings.Split(pointer, "/")[1:] {
		parent, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = parent[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)]; !ok {
			return nil, false
		}
	}
	return value, true
}

// own returns the shape that the keywords for types, values, fields and items describe.
func (p *parser) own(keywords map[string]any, depth int) shape {
	if value, ok := keywords["const"]; ok {
		return literalOf(value)
	}
	if values, ok := keywords["enum"].([]any); ok {
		parts := make([]shape, len(values))
		for i, v := range values {
			parts[i] = literalOf(v)
		}
		return oneOf(parts)
	}
	var parts []shape
	for _, name := range types(keywords) {
		parts = append(parts, p.shapeOfType(name, keywords, depth))
	}
	if len(parts) == 0 {
		return shape{}
	}
	return oneOf(parts)
}

// types returns the types that a schema allows. Without the keyword type, those follow from the keywords for them.
func types(keywords map[string]any) []string {
	switch t := keywords["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var names []string
		for _, name := range t {
			names = append(names, fmt.Sprint(name))
		}
		return names
	}
	for _, name := range []string{"properties", "additionalProperties", "patternProperties"} {
		if keywords[name] != nil {
			return []string{"object"}
		}
	}
	for _, name := range []string{"items", "prefixItems"} {
		if keywords[name] != nil {
			return []string{"array"}
		}
	}
	return nil
}

func (p *parser) shapeOfType(name string, keywords map[string]any, depth int) shape {
	switch name {
	case "string":
		return shape{kind: text}
	case "number":
		return shape{kind: number}
	case "integer":
		return shape{kind: integer}
	case "boolean":
		return shape{kind: boolean}
	case "null":
		return shape{kind: null}
	case "array":
		return p.array(keywords, depth)
	case "object":
		return p.object(keywords, depth)
	}
	return shape{}
}

func (p *parser) array(keywords map[string]any, depth int) shape {
	first, rest := asList(keywords["prefixItems"]), keywords["items"]
	if items, ok := rest.([]any); ok { // before 2020-12
		first, rest = items, keywords["additionalItems"]
	}
	result := shape{kind: list}
	if len(first) > 0 {
		result.kind = tuple
	}
	for _, s := range first {
		result.parts = append(result.parts, p.schema(s, depth+1))
	}
	if rest != false {
		items := p.schema(rest, depth+1)
		result.items = &items
	}
	if result.kind == list && result.items == nil {
		result.items = &shape{kind: never}
	}
	return result
}

func (p *parser) object(keywords map[string]any, depth int) shape {
	properties, named := keywords["properties"].(map[string]any)
	more, says := keywords["additionalProperties"]
	patterns := keywords["patternProperties"] != nil
	open := says && more != false || patterns
	if len(properties) == 0 && (open || !named && !says) {
		items := shape{}
		if !patterns {
			items = p.schema(more, depth+1)
		}
		return shape{kind: mapping, items: &items}
	}
	required := asList(keywords["required"])
	result := shape{kind: object, open: open}
	for _, name := range slices.Sorted(maps.Keys(properties)) { // in a fixed order, because of maxSchemas
		s := properties[name]
		result.fields = append(result.fields, field{
			name: name, doc: description(s), required: slices.Contains(required, any(name)), shape: p.schema(s, depth+1),
		})
	}
	for _, r := range required {
		if name, ok := r.(string); ok && properties[name] == nil {
			result.fields = append(result.fields, field{name: name, required: true})
		}
	}
	slices.SortFunc(result.fields, byName)
	return result
}

// byName orders required fields first.
func byName(a, b field) int {
	if a.required != b.required {
		if a.required {
			return -1
		}
		return 1
	}
	return strings.Compare(a.name, b.name)
}

func description(s any) string {
	keywords, _ := s.(map[string]any)
	text, _ := keywords["description"].(string)
	return text
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func literalOf(value any) shape {
	switch value.(type) {
	case nil:
		return shape{kind: null}
	case string, bool, float64:
		data, err := json.Marshal(value)
		if err != nil {
			return shape{}
		}
		return shape{kind: literal, value: string(data)}
	}
	return shape{} // a list or an object
}

// oneOf returns the shape of the values that have one of several.
func oneOf(parts []shape) shape {
	var flat []shape
	seen := map[string]bool{}
	for _, part := range parts {
		inner := []shape{part}
		if part.kind == union {
			inner = part.parts
		}
		for _, s := range inner {
			key := s.key()
			switch {
			case s.kind == anyValue:
				return shape{}
			case s.kind == never || seen[key]:
			default:
				seen[key] = true
				flat = append(flat, s)
			}
		}
	}
	switch len(flat) {
	case 0:
		return shape{kind: never}
	case 1:
		return flat[0]
	}
	return shape{kind: union, parts: flat}
}

// intersection returns a shape that all values have that have both. It may accept more than that: types cannot express
// every combination.
func intersection(a, b shape) shape {
	switch {
	case a.kind == anyValue:
		return b
	case b.kind == anyValue:
		return a
	case a.kind == object && b.kind == object:
		return mergeFields(a, b)
	case b.kind == union && a.kind == object && allObjects(b.parts):
		return combineAlternatives(a, b.parts)
	case a.kind == union && b.kind == object && allObjects(a.parts):
		return combineAlternatives(b, a.parts)
	case a.isAnyObject() && isObject(b):
		return b
	case b.isAnyObject() && isObject(a):
		return a
	case b.kind == literal || b.kind == union && a.kind != object:
		return b // enum beside type
	}
	return a
}

// isAnyObject reports whether a shape is that of an object of which nothing is known.
func (s shape) isAnyObject() bool { return s.kind == mapping && s.items.kind == anyValue }

func isObject(s shape) bool { return s.kind == object || s.kind == union && allObjects(s.parts) }

func allObjects(parts []shape) bool {
	return len(parts) <= maxUnion && !slices.ContainsFunc(parts, func(s shape) bool { return s.kind != object })
}

func combineAlternatives(base shape, parts []shape) shape {
	out := make([]shape, len(parts))
	for i, part := range parts {
		out[i] = mergeFields(base, part)
	}
	return oneOf(out)
}

// mergeFields returns an object with the fields of two.
func mergeFields(a, b shape) shape {
	fields := map[string]field{}
	for _, f := range a.fields {
		fields[f.name] = f
	}
	for _, f := range b.fields {
		if other, ok := fields[f.name]; ok {
			f.shape, f.required = intersection(other.shape, f.shape), other.required || f.required
			if f.doc == "" {
				f.doc = other.doc
			}
		}
		fields[f.name] = f
	}
	return shape{kind: object, open: a.open || b.open, fields: slices.SortedFunc(maps.Values(fields), byName)}
}

// key returns a text that is equal for equal shapes, whatever their descriptions are.
func (s shape) key() string { return s.text(false) }

// identity returns a text that is equal for equal shapes with the same descriptions and names.
func (s shape) identity() string { return s.text(true) }

func (s shape) text(all bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d%t%s", s.kind, s.open, s.value)
	if all {
		fmt.Fprintf(&b, "%q", s.name)
	}
	if s.items != nil {
		b.WriteString("[" + s.items.text(all) + "]")
	}
	for _, p := range s.parts {
		b.WriteString("|" + p.text(all))
	}
	for _, f := range s.fields {
		fmt.Fprintf(&b, ",%q%t:%s", f.name, f.required, f.shape.text(all))
		if all {
			fmt.Fprintf(&b, "%q", f.doc)
		}
	}
	return "(" + b.String() + ")"
}

// withName returns a shape whose objects, itself or the parts of a union, have a name of their own.
func (s shape) withName(name string) shape {
	if s.kind == object {
		s.name = name
	}
	parts := slices.Clone(s.parts)
	for i := range parts {
		if parts[i].kind == object {
			parts[i].name = name
		}
	}
	s.parts = parts
	return s
}

// objects calls visit with the object shapes in a shape, inner ones first. hint is what to call it: the name of the
// field that has it, unless it has a name of its own.
func (s shape) objects(hint string, visit func(s shape, hint string)) {
	if s.items != nil {
		s.items.objects(hint, visit)
	}
	for _, p := range s.parts {
		p.objects(hint, visit)
	}
	for _, f := range s.fields {
		f.shape.objects(f.name, visit)
	}
	if s.kind == object {
		visit(s, cmp.Or(s.name, hint))
	}
}
