package trailmap

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// composed is a composed tool with the position of its id.
type composed struct {
	config.ComposedTool
	at      yamldoc.Node
	skipped string // which rule it breaks
}

var parameterForm = lazyregexp.New(`^[a-zA-Z_]\w*$`)

// kindsOfComposed returns the folders of composed tools with the suffixes of their files.
func kindsOfComposed() map[string]string {
	return map[string]string{"tools": "tool", "shortcuts": "shortcut", "trailheads": "trailhead"}
}

// readComposedTools reads the composed tools of a trailmap. A file that cannot be decoded leaves the trailmap out; one
// that breaks a rule is skipped.
func (l *loader) readComposedTools(m *trailmap) {
	kinds := kindsOfComposed()
	for _, folder := range sortedKeys(kinds) {
		paths, problems := l.walk(filepath.Join(m.dir, folder), composedSuffixes()...)
		m.problems = append(m.problems, problems...)
		for _, path := range paths {
			if suffix := "." + kinds[folder] + ".yaml"; !strings.HasSuffix(path, suffix) {
				l.remark(fileProblem(path, "", "this file is not used: files in %s/ end in %s", folder, suffix))
				continue
			}
			m.problems = append(m.problems, l.read(path, func(n yamldoc.Node) {
				c, ok := readComposed(path, n, kinds[folder])
				switch c.Group = m.id; {
				case ok:
					m.composed = append(m.composed, c)
				case c.skipped != "":
					m.skipped[c.Name] = c.skipped
				}
			})...)
		}
	}
}

// readComposed reads a composed tool of a kind: tool, shortcut or trailhead; any of them when it is empty. ok is false
// when there is nothing to call, or a rule is broken; then the file has a warning, or, when it cannot be decoded, a
// problem.
func readComposed(file string, n yamldoc.Node, kind string) (c composed, ok bool) {
	c.ComposedTool = config.ComposedTool{File: file, ForAgents: true, Recordable: true, RequiresHost: true, Group: "workspace"}
	rules := rulesOf{}
	var class, description bool
	var body yamldoc.Node
	block := ""
	blockOf := func(name string) func(yamldoc.Node) {
		return func(n yamldoc.Node) { block = name; n.Entries() }
	}
	fields(n, map[string]func(yamldoc.Node){
		"id":              func(n yamldoc.Node) { c.Name, c.at = readText(n), n },
		"class":           func(n yamldoc.Node) { class = readText(n) != "" },
		"tools":           func(n yamldoc.Node) { body = n },
		"description":     func(n yamldoc.Node) { c.Description, description = strings.TrimSpace(n.Str()), true },
		"parameters":      func(n yamldoc.Node) { c.Parameters = rules.parameters(n) },
		"surface_to_llm":  func(n yamldoc.Node) { c.ForAgents = n.Bool() },
		"is_recordable":   func(n yamldoc.Node) { c.Recordable = n.Bool() },
		"requires_host":   func(n yamldoc.Node) { c.RequiresHost = n.Bool() },
		"is_verification": func(n yamldoc.Node) { n.Bool() },
		"shortcut":        blockOf("shortcut"),
		"trailhead":       blockOf("trailhead"),
	}, nil)
	if n.Kind() != yamldoc.Mapping {
		return c, false
	}
	c.Line = c.at.Line()
	hasBody := body.Kind() != yamldoc.Absent
	if hasBody {
		c.Calls = rules.calls(body)
	}
	switch {
	case c.at.Kind() == yamldoc.Absent:
		n.Errorf("add id: NAME", `"id" is missing`)
		return c, false
	case kind != "" && kind != "tool" && block != kind:
		rules.broken(n, "add "+kind+":", "a file that ends in .%s.yaml has a block %q", kind, kind)
	case kind == "tool" && block != "":
		rules.broken(n, fmt.Sprintf("rename it to end in .%s.yaml, in %ss/", block, block), "a file that ends in .tool.yaml has no block %q", block)
	case class && hasBody:
		rules.broken(n, "remove one of them", `"class" and "tools" are both there`)
	case class:
		rules.broken(c.at, "write its calls under tools:", "class: names code of the JVM, which this program cannot run")
	case hasBody && !description:
		rules.broken(n, "add description: TEXT", `"description" is missing`)
	case hasBody && len(c.Calls) == 0 && rules.first == "":
		rules.broken(body, "write a list of calls", "the tool makes no calls")
	}
	c.skipped = rules.first
	return c, hasBody && rules.first == ""
}

// rulesOf collects whether a composed tool breaks a rule. Each is a warning.
type rulesOf struct{ first string }

func (r *rulesOf) broken(at yamldoc.Node, hint, format string, args ...any) {
	rule := fmt.Sprintf(format, args...)
	r.first = cmp.Or(r.first, rule)
	at.Warnf(hint, "this tool is skipped: %s", rule)
}

func (r *rulesOf) parameters(n yamldoc.Node) []config.Parameter {
	var out []config.Parameter
	for _, item := range n.Items() {
		p := config.Parameter{Required: true}
		var nameAt, defaultAt yamldoc.Node
		fields(item, map[string]func(yamldoc.Node){
			"name":        func(n yamldoc.Node) { p.Name, nameAt = readText(n), n },
			"type":        func(n yamldoc.Node) { p.Type = schemaType(n) },
			"required":    func(n yamldoc.Node) { p.Required = n.Bool() },
			"description": func(n yamldoc.Node) { p.Description = n.Str() },
			"default":     func(n yamldoc.Node) { defaultAt = n },
		}, nil)
		if p.HasDefault = defaultAt.Kind() != yamldoc.Absent; p.HasDefault {
			p.Default = defaultOf(p, defaultAt)
		}
		switch {
		case nameAt.Kind() == yamldoc.Absent:
			item.Errorf("add name: NAME", `"name" is missing`)
		case !parameterForm().MatchString(p.Name):
			r.broken(nameAt, "use letters, digits and _", "%q is not the name of a parameter", p.Name)
		case slices.ContainsFunc(out, func(o config.Parameter) bool { return o.Name == p.Name }):
			r.broken(nameAt, "rename one of them", "parameter %q is defined twice", p.Name)
		}
		out = append(out, p)
	}
	return out
}

// defaultOf returns the default of a parameter. A scalar for text is the text that is written.
func defaultOf(p config.Parameter, n yamldoc.Node) any {
	if p.Type == "string" && (n.Kind() == yamldoc.Number || n.Kind() == yamldoc.Bool) {
		return n.Scalar()
	}
	return n.Value()
}

// schemaType reads the type of a parameter as JSON Schema has it; empty for any value.
func schemaType(n yamldoc.Node) string {
	switch text := readText(n); strings.ToLower(text) {
	case "string", "number", "integer", "boolean", "array", "object":
		return strings.ToLower(text)
	case "int", "long":
		return "integer"
	case "float", "double":
		return "number"
	case "bool":
		return "boolean"
	case "list":
		return "array"
	case "map":
		return "object"
	default:
		n.Warnf("write string, number, integer, boolean, array or object", "unknown type %q; the parameter takes any value", text)
		return ""
	}
}

// calls reads the body: a list of calls with one key each.
func (r *rulesOf) calls(n yamldoc.Node) []config.ComposedCall {
	var out []config.ComposedCall
	for _, item := range n.Items() {
		entries := item.Entries()
		if len(entries) != 1 {
			r.broken(item, "write one key, the name of the tool", "a call has one key, and this one has %d", len(entries))
			continue
		}
		call := config.ComposedCall{Tool: entries[0].Key, Args: map[string]any{}}
		switch value := entries[0].Value; value.Kind() {
		case yamldoc.Mapping:
			call.Args, _ = value.Value().(map[string]any)
		case yamldoc.Null:
		default:
			r.broken(value, "write them as a mapping", "the arguments of %s are not a mapping", call.Tool)
		}
		out = append(out, call)
	}
	return out
}

// composeTools collects the composed tools of the trailmaps that are used, and those of the anchor. Of equal names the
// last one counts.
func (l *loader) composeTools(own []*trailmap) {
	var all []composed
	for _, m := range own {
		if m.usable() && l.isSelected(m) {
			all = append(all, m.composed...)
		}
	}
	for _, c := range append(all, l.anchor.composed...) {
		if earlier, twice := l.composed[c.Name]; twice {
			l.remark(c.at.Problem("rename one of them", "tool %q is defined twice; this one is used instead of that in %s", c.Name,
				l.rel(earlier.File)))
		}
		l.composed[c.Name] = c.ComposedTool
	}
}
