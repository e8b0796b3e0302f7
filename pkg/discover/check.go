package discover

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// ArgProblem is a problem of a call's arguments with the tool's input schema.
type ArgProblem struct {
	Path    []string // of the argument: keys and list indexes; empty for the arguments as a whole
	Message string   // names the path
	Hint    string
}

// maxSchemaDepth bounds schemas that refer to themselves.
const maxSchemaDepth = 64

// checker is a compiled input schema.
type checker struct {
	schema      *jsonschema.Schema
	resolved    *jsonschema.Resolved
	value       any      // the schema as JSON
	definitions sync.Map // *jsonschema.Schema by reference
}

// newChecker returns nil for a schema that cannot be used.
func newChecker(raw json.RawMessage) *checker {
	var s jsonschema.Schema
	var value any
	if json.Unmarshal(raw, &value) != nil || hasEndlessReference(value) {
		return nil
	}
	root, _ := value.(map[string]any)
	prepare(value, root["$schema"] == nil)
	if raw, err := json.Marshal(value); err != nil || json.Unmarshal(raw, &s) != nil {
		return nil
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return &checker{schema: resolved.Schema(), resolved: resolved, value: value}
}

// prepare changes a schema to one that can be checked here. It removes annotations, which reject no value: some have a
// value of another kind, such as a reason for deprecated, with which the schema could not be decoded. It removes each
// multipleOf that is a fraction, such as 0.01: that 19.99 is a multiple of it is not so in binary numbers, and only the
// server knows how exact it is. With tuples it writes a list of items, as before 2020-12, as prefixItems.
func prepare(schema any, tuples bool) {
	switch s := schema.(type) {
	case map[string]any:
		if m, ok := s["multipleOf"].(float64); ok && m != math.Trunc(m) {
			delete(s, "multipleOf")
		}
		for _, name := range []string{"title", "$comment", "deprecated", "examples", "readOnly", "writeOnly"} {
			delete(s, name)
		}
		if _, ok := s["items"].([]any); ok && tuples {
			moveKey(s, "items", "prefixItems")
			moveKey(s, "additionalItems", "items")
		}
		for keyword, below := range s {
			prepareBelow(keyword, below, tuples)
		}
	case []any:
		for _, below := range s {
			prepare(below, tuples)
		}
	}
}

// prepareBelow prepares the schemas in the value of a keyword.
func prepareBelow(keyword string, below any, tuples bool) {
	switch keyword {
	case "const", "enum", "default":
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		named, _ := below.(map[string]any)
		for _, schema := range named {
			prepare(schema, tuples)
		}
	default:
		prepare(below, tuples)
	}
}

func moveKey(object map[string]any, from, to string) {
	if value, ok := object[from]; ok {
		delete(object, from)
		object[to] = value
	}
}

// check returns the problems of values in words. It knows the usual keywords of JSON Schema; values that only others
// reject have no problems.
func (c *checker) check(values map[string]any, unresolved func(any) bool) []ArgProblem {
	if unresolved == nil {
		unresolved = func(any) bool { return false }
	}
	w := &schemaWalk{checker: c, unresolved: unresolved}
	w.value(c.schema, nil, values)
	problems := make([]ArgProblem, len(w.found))
	for i, f := range w.found {
		problems[i] = f.problem()
	}
	return problems
}

// finding is a problem before it is put into words.
type finding struct {
	path    []string
	types   []string // the allowed types, when the value is of another one
	message string   // what the value at the path must be, unless missing or unknown is set
	missing string   // the name of a required field that is missing
	unknown string   // the name of a field that is not allowed
	hint    string
}

func (f finding) problem() ArgProblem {
	switch {
	case f.missing != "":
		return ArgProblem{
			f.path, fmt.Sprintf("missing argument %q", pathText(append(slices.Clip(f.path), f.missing))),
			f.hint,
		}
	case f.unknown != "":
		path := append(slices.Clip(f.path), f.unknown)
		return ArgProblem{path, fmt.Sprintf("unknown argument %q", pathText(path)), f.hint}
	case len(f.path) == 0:
		return ArgProblem{nil, "the arguments " + f.message, f.hint}
	}
	return ArgProblem{f.path, pathText(f.path) + " " + f.message, f.hint}
}

func pathText(path []string) string { return strings.Join(path, ".") }

// schemaWalk checks values against the parts of a schema.
type schemaWalk struct {
	*checker
	unresolved func(any) bool
	found      []finding
	depth      int
}

func (w *schemaWalk) addf(path []string, format string, args ...any) {
	w.found = append(w.found, finding{path: path, message: fmt.Sprintf(format, args...)})
}

// value checks a value against a schema.
func (w *schemaWalk) value(s *jsonschema.Schema, path []string, v any) {
	if text, isText := v.(string); s == nil || w.depth > maxSchemaDepth || isText && w.unresolved(text) {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	if s.Ref != "" {
		w.value(w.definition(s.Ref), path, v)
		if strings.Contains(w.schema.Schema, "draft-07") {
			return // there, $ref replaces other keywords
		}
	}
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	if len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isType(v, t) }) {
		w.found = append(w.found, finding{path: path, types: types, message: mustBe(types, v)})
		return
	}
	if !w.unresolved(v) {
		w.choice(s, path, v)
	}
	switch v := v.(type) {
	case string:
		w.text(s, path, v)
	case float64:
		w.number(s, path, v)
	case []any:
		w.list(s, path, v)
	case map[string]any:
		w.object(s, path, v)
	}
	for _, part := range s.AllOf {
		w.value(part, path, v)
	}
	w.alternatives(s.AnyOf, path, v)
	w.alternatives(s.OneOf, path, v)
}

// definition returns the schema that a reference within the input schema names, nil for other references.
func (c *checker) definition(ref string) *jsonschema.Schema {
	if s, ok := c.definitions.Load(ref); ok {
		return s.(*jsonschema.Schema) //nolint:errcheck,forcetypeassert // nothing else is stored
	}
	s := c.findDefinition(ref)
	c.definitions.Store(ref, s)
	return s
}

func (c *checker) findDefinition(ref string) *jsonschema.Schema {
	value, ok := follow(c.value, ref)
	data, err := json.Marshal(value)
	s := new(jsonschema.Schema)
	if !ok || err != nil || json.Unmarshal(data, s) != nil {
		return nil
	}
	return s
}

// choice checks enum and const.
func (w *schemaWalk) choice(s *jsonschema.Schema, path []string, v any) {
	if s.Const != nil && !reflect.DeepEqual(*s.Const, v) {
		w.addf(path, "must be %s", jsonText(*s.Const))
	}
	if s.Enum == nil || slices.ContainsFunc(s.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		return
	}
	var choices, names []string
	for _, e := range s.Enum {
		choices = append(choices, jsonText(e))
		if name, isText := e.(string); isText {
			names = append(names, name)
		}
	}
	f := finding{path: path, message: "must be one of " + strings.Join(choices, ", ")}
	if text, isText := v.(string); isText && len(fault.Nearest(text, names)) > 0 {
		f.hint = fault.DidYouMean(text, names)
	}
	w.found = append(w.found, f)
}

func (w *schemaWalk) text(s *jsonschema.Schema, path []string, v string) {
	length := utf8.RuneCountInString(v)
	switch {
	case s.MinLength != nil && length < *s.MinLength && length == 0:
		w.addf(path, "must not be empty")
	case s.MinLength != nil && length < *s.MinLength:
		w.addf(path, "must have at least %s; it has %d", text.Count(*s.MinLength, "character"), length)
	case s.MaxLength != nil && length > *s.MaxLength:
		w.addf(path, "must have at most %s; it has %d", text.Count(*s.MaxLength, "character"), length)
	}
	if s.Pattern == "" {
		return
	}
	pattern, err := regexp.Compile(s.Pattern)
	words := wordList().FindStringSubmatch(s.Pattern)
	switch {
	case err != nil || pattern.MatchString(v):
	case words != nil:
		names := strings.Split(words[1], "|")
		f := finding{path: path, message: "must be one of " + strings.Join(names, ", ")}
		if len(fault.Nearest(v, names)) > 0 {
			f.hint = fault.DidYouMean(v, names)
		}
		w.found = append(w.found, f)
	default:
		w.addf(path, "must match the regular expression %s", s.Pattern)
	}
}

// wordList matches a regular expression that is a list of words, such as ^(?i:UP|DOWN)$.
var wordList = lazyregexp.New(`^\^\((?:\?i:|\?:)?([A-Za-z0-9_|-]+)\)\$$`)

func (w *schemaWalk) number(s *jsonschema.Schema, path []string, v float64) {
	bound := func(limit *float64, holds func(limit float64) bool, words string) {
		if limit != nil && !holds(*limit) {
			w.addf(path, "must be %s %s; it is %s", words, jsonText(*limit), jsonText(v))
		}
	}
	bound(s.Minimum, func(limit float64) bool { return v >= limit }, "at least")
	bound(s.Maximum, func(limit float64) bool { return v <= limit }, "at most")
	bound(s.ExclusiveMinimum, func(limit float64) bool { return v > limit }, "more than")
	bound(s.ExclusiveMaximum, func(limit float64) bool { return v < limit }, "less than")
	bound(s.MultipleOf, func(limit float64) bool {
		_, fraction := math.Modf(v / limit)
		return fraction == 0
	}, "a multiple of")
}

func (w *schemaWalk) list(s *jsonschema.Schema, path []string, v []any) {
	w.size(path, len(v), s.MinItems, s.MaxItems, "item")
	first := s.PrefixItems
	if s.ItemsArray != nil {
		first = s.ItemsArray
	}
	rest := s.Items
	if s.ItemsArray != nil {
		rest = s.AdditionalItems
	}
	for i, item := range v {
		schema := rest
		if i < len(first) {
			schema = first[i]
		}
		w.value(schema, append(slices.Clip(path), strconv.Itoa(i)), item)
	}
	if s.UniqueItems && !w.unresolved(v) {
		for i, item := range v {
			if j := slices.IndexFunc(v[:i], func(other any) bool { return reflect.DeepEqual(item, other) }); j >= 0 {
				w.addf(path, "must not have equal items; items %d and %d (counting from 0) are", j, i)
				break
			}
		}
	}
}

// size checks the number of items or fields.
func (w *schemaWalk) size(path []string, length int, least, most *int, noun string) {
	switch {
	case least != nil && length < *least && length == 0 && *least == 1:
		w.addf(path, "must not be empty")
	case least != nil && length < *least:
		w.addf(path, "must have at least %s; it has %d", text.Count(*least, noun), length)
	case most != nil && length > *most:
		w.addf(path, "must have at most %s; it has %d", text.Count(*most, noun), length)
	}
}

func (w *schemaWalk) object(s *jsonschema.Schema, path []string, v map[string]any) {
	w.size(path, len(v), s.MinProperties, s.MaxProperties, "field")
	names := slices.Sorted(maps.Keys(v))
	for _, name := range names {
		w.field(s, path, name, v[name])
	}
	required := slices.Clone(s.Required)
	for _, dependent := range []map[string][]string{s.DependentRequired, s.DependencyStrings} {
		for _, name := range names {
			required = append(required, dependent[name]...)
		}
	}
	for _, name := range required {
		if _, ok := v[name]; !ok {
			w.found = append(w.found, finding{path: path, missing: name, hint: nestedUsage(path, s)})
		}
	}
}

// field checks one field of an object.
func (w *schemaWalk) field(s *jsonschema.Schema, path []string, name string, v any) {
	at := append(slices.Clip(path), name)
	schema, declared := s.Properties[name]
	w.value(schema, at, v)
	for pattern, schema := range s.PatternProperties {
		if p, err := regexp.Compile(pattern); err != nil || p.MatchString(name) {
			declared = true
			w.value(schema, at, v)
		}
	}
	switch {
	case declared:
	case isFalse(s.AdditionalProperties):
		hint := fault.DidYouMean(name, slices.Sorted(maps.Keys(s.Properties)))
		if inner := w.placeOf(s, name, 0); inner != nil {
			hint = fmt.Sprintf("write it inside %s, which has %s", pathText(append(slices.Clip(path), inner...)), name)
		}
		w.found = append(w.found, finding{path: path, unknown: name, hint: hint})
	default:
		w.value(s.AdditionalProperties, at, v)
	}
}

// maxPlace is how many levels below a field that is not allowed is looked for.
const maxPlace = 3

// placeOf returns the path of the first object below s that has a field, nil for none.
func (w *schemaWalk) placeOf(s *jsonschema.Schema, name string, level int) []string {
	if level == maxPlace {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		inner := s.Properties[key]
		if inner != nil && inner.Ref != "" {
			inner = w.definition(inner.Ref)
		}
		if inner == nil {
			continue
		}
		if _, has := inner.Properties[name]; has {
			return []string{key}
		}
		if below := w.placeOf(inner, name, level+1); below != nil {
			return append([]string{key}, below...)
		}
	}
	return nil
}

// isFalse reports whether a schema is false, which rejects every value.
func isFalse(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && reflect.DeepEqual(*s, jsonschema.Schema{Not: &jsonschema.Schema{}})
}

// alternatives checks anyOf or oneOf. When no alternative accepts the value, the findings are those of the alternative
// that comes closest.
func (w *schemaWalk) alternatives(schemas []*jsonschema.Schema, path []string, v any) {
	if len(schemas) == 0 {
		return
	}
	var best []finding
	var types, missing []string
	for _, s := range schemas {
		trial := &schemaWalk{checker: w.checker, unresolved: w.unresolved, depth: w.depth}
		trial.value(s, path, v)
		if len(trial.found) == 0 {
			return
		}
		if best == nil || distance(trial.found, path) < distance(best, path) {
			best = trial.found
		}
		if f := trial.found[0]; len(f.path) == len(path) {
			types = append(types, f.types...)
			if f.missing != "" && len(trial.found) == 1 {
				missing = append(missing, strconv.Quote(pathText(append(slices.Clip(path), f.missing))))
			}
		}
	}
	switch {
	case len(missing) == len(schemas):
		w.found = append(w.found, finding{path: path, message: "must have " + strings.Join(missing, " or ")})
	case len(best) == 1 && best[0].types != nil && len(best[0].path) == len(path):
		w.found = append(w.found, finding{path: path, types: types, message: mustBe(types, v)})
	default:
		w.found = append(w.found, best...)
	}
}

// distance returns how far a value is from an alternative of which it has findings: farthest when its type is another,
// and far when a field that must have a fixed value has another.
func distance(found []finding, path []string) int {
	total := 0
	for _, f := range found {
		switch {
		case f.types != nil && len(f.path) == len(path):
			total += 1000
		case strings.HasPrefix(f.message, "must be ") && f.types == nil:
			total += 10
		default:
			total++
		}
	}
	return total
}

// nestedUsage returns a hint with the fields of an object within the arguments.
func nestedUsage(path []string, s *jsonschema.Schema) string {
	if len(path) == 0 {
		return ""
	}
	o := outline{Properties: map[string]property{}, Required: s.Required}
	for name, p := range s.Properties {
		types := []any{}
		for _, t := range p.Types {
			types = append(types, t)
		}
		if p.Type != "" {
			types = append(types, p.Type)
		}
		o.Properties[name] = property{Type: types, Enum: p.Enum}
	}
	return pathText(path) + " takes " + o.arguments()
}

func isType(v any, name string) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

// mustBe returns the message for a value of another type.
func mustBe(types []string, v any) string {
	var words []string
	for _, name := range types {
		if word := typeWords(name); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	found := jsonType(v)
	if _, isNumber := v.(float64); isNumber && slices.Contains(words, "a whole number") {
		found = jsonText(v)
	}
	return "must be " + strings.Join(words, " or ") + ", not " + found
}

func typeWords(name string) string {
	switch name {
	case "string":
		return "text"
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "boolean":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return name
}

// jsonText returns a value as JSON, shortened.
func jsonText(v any) string {
	const longest = 60
	if f, ok := v.(float64); ok && math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return text.Head(string(data), longest)
}

// lastPart returns the last and most specific part of an error of the validator.
func lastPart(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "validating "); i >= 0 {
		if _, rest, ok := strings.Cut(text[i:], ": "); ok {
			return rest
		}
	}
	return text
}
