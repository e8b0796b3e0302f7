// Package typings describes the tools of a project for compilers and editors: as declarations of TypeScript, as a stub
// of Python, and as a JSON Schema of trails. It starts nothing and reads no file. The same tools give the same bytes,
// and no name or description of a tool can end the comment or text that it is written in.
package typings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Mark is in the first line of each written file, which may be written again.
const Mark = "Written by `trailblaze types`"

// Tool is a tool as one scope has it.
type Tool struct {
	Name, Description string
	Scope             string            // the scope in words
	InputSchema       json.RawMessage   // may be nil
	OutputSchema      json.RawMessage   // of the structured content; may be nil
	Aliases           map[string]string // other names of arguments in trails, with those in the schema
}

// entry is a tool of the project: every form that some scope has of it.
type entry struct {
	name  string
	forms []form // in the order of their scopes
}

// form is a tool as some scopes have it.
type form struct {
	Tool
	scopes []string // empty when every scope has it
}

// entries returns the tools by name, in order. Tools of several scopes with the same schemas are one form.
func entries(tools []Tool) []entry {
	byName := map[string]*entry{}
	var scopes []string
	for _, t := range tools {
		if !slices.Contains(scopes, t.Scope) {
			scopes = append(scopes, t.Scope)
		}
		e := byName[t.Name]
		if e == nil {
			e = &entry{name: t.Name}
			byName[t.Name] = e
		}
		e.add(t)
	}
	list := make([]entry, 0, len(byName))
	for _, e := range byName {
		for i, f := range e.forms {
			if len(f.scopes) == len(scopes) {
				e.forms[i].scopes = nil
			}
		}
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return list
}

func (e *entry) add(t Tool) {
	for i, f := range e.forms {
		if string(f.InputSchema) == string(t.InputSchema) && string(f.OutputSchema) == string(t.OutputSchema) {
			if !slices.Contains(f.scopes, t.Scope) {
				e.forms[i].scopes = append(f.scopes, t.Scope)
			}
			return
		}
	}
	e.forms = append(e.forms, form{t, []string{t.Scope}})
}

// doc returns the documentation of a tool: the descriptions of its forms, with the scopes that have them.
func (e entry) doc() string {
	var parts []string
	for _, f := range e.forms {
		text := strings.TrimSpace(f.Description)
		if len(f.scopes) > 0 {
			text = strings.TrimSpace(text + "\n\nOnly in: " + strings.Join(f.scopes, ", "))
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(slices.Compact(parts), "\n\n")
}

// arguments returns the shapes of the arguments that the forms of a tool take, each once.
func (e entry) arguments() []shape {
	var list []shape
	for _, f := range e.forms {
		list = append(list, argumentsOf(f.InputSchema))
	}
	all := oneOf(list).withName(e.name + " args")
	if all.kind == union {
		return all.parts
	}
	return []shape{all}
}

// argumentsOf returns the shape of an input schema. Arguments are an object, whatever the schema says.
func argumentsOf(schema json.RawMessage) shape {
	s := parseSchema(schema)
	parts := s.parts
	if s.kind != union {
		parts = []shape{s}
	}
	for _, part := range parts {
		if part.kind != object && part.kind != mapping {
			return shape{kind: mapping, items: &shape{}}
		}
	}
	return s
}

// result returns the shape of the structured content, any value when a form does not declare it.
func (e entry) result() shape {
	var list []shape
	for _, f := range e.forms {
		list = append(list, parseSchema(f.OutputSchema))
	}
	return oneOf(list).withName(e.name + " result")
}

// names gives each object shape a name, each name to one shape.
type names struct {
	byKey map[string]string
	taken map[string]bool
}

func newNames(reserved ...string) names {
	n := names{byKey: map[string]string{}, taken: map[string]bool{}}
	for _, name := range reserved {
		n.taken[name] = true
	}
	return n
}

// nameOf returns the name of a shape. isNew says that it was made now, from wanted.
func (n names) nameOf(s shape, wanted string) (name string, isNew bool) {
	key := s.identity()
	if name, ok := n.byKey[key]; ok {
		return name, false
	}
	name = n.free(wanted)
	n.byKey[key] = name
	return name, true
}

// free returns a type name that is not taken, made from wanted, and takes it.
func (n names) free(wanted string) string {
	base := typeName(wanted)
	name := base
	for i := 2; n.taken[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	n.taken[name] = true
	return name
}
