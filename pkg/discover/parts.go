package discover

// rootSchema is a schema as JSON, from which the references in it are resolved; nil for one that cannot be read.
type rootSchema map[string]any

// parts returns all that some schemas say of a value: they, what they refer to, and their alternatives.
func (r rootSchema) parts(schemas ...map[string]any) (parts []map[string]any) {
	seen := map[string]bool{}
	var add func(s map[string]any)
	add = func(s map[string]any) {
		if s == nil {
			return
		}
		parts = append(parts, s)
		if ref, ok := s["$ref"].(string); ok && !seen[ref] {
			seen[ref] = true
			referred, _ := follow(map[string]any(r), ref)
			part, _ := referred.(map[string]any)
			add(part)
		}
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			list, _ := s[key].([]any)
			for _, of := range list {
				part, _ := of.(map[string]any)
				add(part)
			}
		}
	}
	for _, s := range schemas {
		add(s)
	}
	return parts
}

// fieldOf returns what the parts of a schema say of a field of an object.
func fieldOf(parts []map[string]any, name string) (of []map[string]any) {
	for _, p := range parts {
		properties, _ := p["properties"].(map[string]any)
		if field, ok := properties[name].(map[string]any); ok {
			of = append(of, field)
		}
	}
	if of == nil {
		of = below(parts, "additionalProperties")
	}
	return of
}

// itemOf returns what the parts of a schema say of an item of a list. Before 2020-12, items itself is the list of the
// first schemas.
func itemOf(parts []map[string]any, i int) (of []map[string]any) {
	for _, p := range parts {
		first, rest := p["prefixItems"], p["items"]
		if _, isList := rest.([]any); isList {
			first, rest = rest, p["additionalItems"]
		}
		if list, _ := first.([]any); i < len(list) {
			rest = list[i]
		}
		if s, ok := rest.(map[string]any); ok {
			of = append(of, s)
		}
	}
	return of
}

// below returns the schemas that the parts of a schema have at a key.
func below(parts []map[string]any, key string) (of []map[string]any) {
	for _, p := range parts {
		if s, ok := p[key].(map[string]any); ok {
			of = append(of, s)
		}
	}
	return of
}
