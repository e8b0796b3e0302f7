package discover

import (
	"slices"
	"strconv"
	"strings"
)

// follow returns the part of a schema that a reference such as #/$defs/line names.
func follow(schema any, ref string) (part any, ok bool) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	part = schema
	for _, key := range strings.Split(pointer, "/")[1:] {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		switch in := part.(type) {
		case map[string]any:
			part, ok = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if ok = err == nil && i >= 0 && i < len(in); ok {
				part = in[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return part, true
}

// hasEndlessReference reports whether validating a value against a schema may not end, because a reference leads back
// to itself for the same value, such as {"$ref": "#"}. It is true also for references that follow cannot find, and for
// dynamic ones.
func hasEndlessReference(schema any) bool {
	const visiting, done = 1, 2
	state := map[string]int{}
	var endless func(ref string) bool
	endless = func(ref string) bool {
		if state[ref] != 0 {
			return state[ref] == visiting
		}
		part, ok := follow(schema, ref)
		if !ok {
			return true
		}
		state[ref] = visiting
		if slices.ContainsFunc(sameValueReferences(part), endless) {
			return true
		}
		state[ref] = done
		return false
	}
	return slices.ContainsFunc(references(schema), endless)
}

// references returns every reference in a schema.
func references(schema any) []string {
	var refs []string
	switch s := schema.(type) {
	case []any:
		for _, part := range s {
			refs = append(refs, references(part)...)
		}
	case map[string]any:
		for key, part := range s {
			ref, isText := part.(string)
			switch {
			case key == "$ref" && isText:
				refs = append(refs, ref)
			case key == "$dynamicRef" && isText:
				refs = append(refs, "") // which follow does not find
			default:
				refs = append(refs, references(part)...)
			}
		}
	}
	return refs
}

// sameValueReferences returns the references with which a schema checks the value itself, not a part of it.
func sameValueReferences(schema any) []string {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	var refs []string
	if ref, isText := s["$ref"].(string); isText {
		refs = append(refs, ref)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := s[key].([]any)
		for _, part := range parts {
			refs = append(refs, sameValueReferences(part)...)
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		refs = append(refs, sameValueReferences(s[key])...)
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		parts, _ := s[key].(map[string]any)
		for _, part := range parts {
			refs = append(refs, sameValueReferences(part)...)
		}
	}
	return refs
}
