package trailmap

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/tsschema"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

const metaPrefix = "trailblaze/"

// gates are the keys of a descriptor, and of the literal in a script, that become metadata of a tool.
func gates() []string {
	return []string{"supportedPlatforms", "supportedDrivers", "requiresContext", "requiresHost", "surfaceToLlm", "isRecordable"}
}

var errOutside = errors.New("the file is not one of the trailmap")

// newScripts returns what reads the scripts in a folder.
func newScripts(dir string) *tsschema.Scripts {
	return tsschema.New(func(path string) ([]byte, error) {
		if rel, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(rel) || !isBelow(dir, path) {
			return nil, errOutside
		}
		return files.Read(path, yamldoc.MaxSize) //nolint:wrapcheck // the caller names the file
	})
}

// functionOf returns the tool that a script exports.
func functionOf(path string, e tsschema.Export) config.FunctionTool {
	t := config.FunctionTool{Name: e.Name, Description: e.Description, File: path, Export: e.Name, Schema: e.Schema, Meta: map[string]any{}}
	if description, ok := e.Spec["description"].(string); ok {
		t.Description = description
	}
	for _, key := range gates() {
		if value, has := e.Spec[key]; has {
			t.Meta[metaPrefix+key] = value
		}
	}
	if schema, ok := e.Spec["inputSchema"].(map[string]any); ok {
		t.Schema = schemaOf(schema)
	}
	return t
}

// schemaOf returns the JSON Schema that a value is, or that the fields stand for which it names: those are required
// unless they say that they are not.
func schemaOf(value map[string]any) json.RawMessage {
	schema := value
	if value["type"] != "object" {
		properties, required := map[string]any{}, []string{}
		for _, name := range sortedKeys(value) {
			property := map[string]any{}
			field, _ := value[name].(map[string]any)
			for _, key := range []string{"type", "description", "enum"} {
				if v, has := field[key]; has {
					property[key] = v
				}
			}
			properties[name] = property
			if field["required"] != false {
				required = append(required, name)
			}
		}
		schema = map[string]any{"type": "object", "properties": properties, "required": required}
	}
	data, _ := json.Marshal(schema) // values of a file can always be encoded
	return data
}

// descriptor is what a file says of a tool. Absent fields come from the script.
type descriptor struct {
	name        word
	description yamldoc.Node
	schema      yamldoc.Node
	meta        map[string]any
	subprocess  bool
}

// readers returns what reads the keys of a descriptor.
func (d *descriptor) readers() map[string]func(yamldoc.Node) {
	d.meta = map[string]any{}
	readers := map[string]func(yamldoc.Node){
		"name": func(n yamldoc.Node) {
			d.name = word{readText(n), n}
			if d.name.text != "" && !nameForm().MatchString(d.name.text) {
				n.Errorf("use letters, digits, _ . and -", "%q is not the name of a tool", d.name.text)
			}
		},
		"description": func(n yamldoc.Node) { d.description = n },
		"inputSchema": func(n yamldoc.Node) {
			n.Entries()
			d.schema = n
		},
		"runtime": func(n yamldoc.Node) {
			d.subprocess = readText(n) == "subprocess"
			if !slices.Contains([]string{"subprocess", "inProcess"}, n.Str()) {
				n.Errorf("write inProcess or subprocess", "unknown runtime %q", n.Str())
			}
		},
		"_meta": func(n yamldoc.Node) {
			for _, e := range n.Entries() {
				d.meta[e.Key] = e.Value.Value()
			}
		},
	}
	for _, key := range gates() {
		readers[key] = func(n yamldoc.Node) { d.meta[metaPrefix+key] = n.Value() }
	}
	return readers
}

// over returns a tool of a script with what the descriptor says, and what it says of all tools of its file.
func (d *descriptor) over(t config.FunctionTool, whole *descriptor) config.FunctionTool {
	meta := map[string]any{}
	for _, from := range []map[string]any{t.Meta, whole.meta, d.meta} {
		maps.Copy(meta, from)
	}
	t.Meta = meta
	if d.description.Kind() == yamldoc.Text {
		t.Description = strings.TrimSpace(d.description.Str())
	}
	if schema, ok := d.schema.Value().(map[string]any); d.schema.Kind() == yamldoc.Mapping && ok {
		t.Schema = schemaOf(schema)
	}
	return t
}

// remarks says which types of a script's tool take any value, unless the descriptor has a schema.
func (d *descriptor) remarks(e tsschema.Export) fault.Problems {
	if d.schema.Kind() == yamldoc.Mapping {
		return nil
	}
	return slices.Concat(e.Problems, e.Invalid)
}

// describedTools returns the tools of a script with a descriptor.
func (m *trailmap) describedTools(path, script string, whole *descriptor, each []*descriptor) []scripted {
	exports, _ := m.scripts.Exports(script) // one that cannot be read has nothing to add
	var out []scripted
	if len(each) == 0 && whole.name.text == "" {
		for _, e := range exports {
			if line := e.Line; e.Tool {
				out = append(out, scripted{
					name: word{text: e.Name}, file: script, line: line, tool: whole.over(functionOf(script, e), whole), subprocess: whole.subprocess,
					remarks: whole.remarks(e),
				})
			}
		}
		return out
	}
	if len(each) == 0 {
		each = []*descriptor{whole}
	}
	for _, d := range each {
		t := config.FunctionTool{Name: d.name.text, File: script, Export: d.name.text}
		var remarks fault.Problems
		for _, e := range exports {
			if e.Name == d.name.text && e.Tool {
				t, remarks = functionOf(script, e), d.remarks(e)
			}
		}
		out = append(out, scripted{
			name: d.name, file: path, tool: d.over(t, whole), subprocess: whole.subprocess || d.subprocess,
			remarks: remarks,
		})
	}
	return out
}

// checkHoisted reports tools that a target lists for another platform than the tool says.
func (m *trailmap) checkHoisted() {
	for _, key := range m.order {
		for _, w := range m.platforms[key].tools.items {
			for _, s := range m.scripted {
				on, limited := platformsOf(s.tool)
				if s.name.text == w.text && limited && (len(on) != 1 || !strings.EqualFold(on[0], key)) {
					m.problems = append(m.problems, w.at.Problem("list it under tools: of the target",
						"tool %q is for %s, and is listed for %s", w.text, strings.Join(on, ", "), key))
				}
			}
		}
	}
}

// platformsOf returns the platforms that a tool is limited to.
func platformsOf(t config.FunctionTool) (platforms []string, limited bool) {
	list, limited := t.Meta[metaPrefix+"supportedPlatforms"].([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			platforms = append(platforms, text)
		}
	}
	return platforms, limited
}

// scriptProblems says what of a script leaves the trailmap out, and remarks on types that take any value.
func (l *loader) scriptProblems(m *trailmap, path string, e tsschema.Export) fault.Problems {
	l.project.Remarks = append(l.project.Remarks, e.Problems...)
	problems := e.Invalid
	if e.VariableSpec {
		problems = append(problems, m.scripts.Problem(path, e, "write { ... } there, or a descriptor",
			"the first argument of tool %q is a variable, which is not read", e.Name))
	}
	return problems
}

// folder returns the folder of the trailmap, or that of the file of a flat target.
func (m *trailmap) folder() string {
	if m.dir == "" {
		return filepath.Dir(m.file)
	}
	return m.dir
}

// readInlineTool reads a tool in the file of a flat target. Its script is relative to the file.
func (m *trailmap) readInlineTool(n yamldoc.Node) {
	d := &descriptor{}
	script := ""
	readers := d.readers()
	readers["script"] = func(n yamldoc.Node) {
		script = filepath.Join(m.folder(), filepath.FromSlash(readText(n)))
		if !isFile(script) {
			n.Errorf("paths are relative to the file of the target", "%s does not exist", n.Str())
		}
	}
	fields(n, readers, nil)
	if script == "" {
		n.Errorf("add script: ./FILE.ts", `"script" is missing`)
	}
	m.scripted = append(m.scripted, m.describedTools(m.file, script, d, nil)...)
}
