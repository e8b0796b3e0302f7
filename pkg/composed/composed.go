// Package composed has the tools whose calls are written in files of a project, as a source like any other. A call of
// one returns the calls to make in its place, with the values of its parameters filled in; the session makes them.
//
// The tools have no state and may be called from any goroutine.
package composed

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Sources returns the tools with their Caller, a source for each group.
func Sources(tools []config.ComposedTool) []discover.Source {
	var sources []discover.Source
	byName, byGroup := caller{}, map[string]int{}
	for _, t := range tools {
		i, known := byGroup[t.Group]
		if !known {
			i = len(sources)
			byGroup[t.Group] = i
			sources = append(sources, discover.Source{
				Source: tool.Source{Kind: tool.FromComposed, Name: t.Group}, Caller: byName,
			})
		}
		sources[i].Tools = append(sources[i].Tools, advertised(t))
		byName[t.Name] = t
	}
	return sources
}

func advertised(t config.ComposedTool) tool.Advertised {
	properties, required := map[string]any{}, []string{}
	for _, p := range t.Parameters {
		properties[p.Name] = property(p)
		if p.Required && !p.HasDefault {
			required = append(required, p.Name)
		}
	}
	schema, _ := json.Marshal(map[string]any{ // values of a file can always be encoded
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	return tool.Advertised{Name: t.Name, Description: t.Description, InputSchema: schema, Meta: map[string]any{
		"trailblaze/isForLlm": t.ForAgents, "trailblaze/isRecordable": t.Recordable, "trailblaze/requiresHost": t.RequiresHost,
	}}
}

// property returns the schema of a parameter. An optional one may be null, which counts as absent.
func property(p config.Parameter) map[string]any {
	schema := map[string]any{}
	switch {
	case p.Type == "":
	case p.Required && !p.HasDefault:
		schema["type"] = p.Type
	default:
		schema["type"] = []string{p.Type, "null"}
	}
	if p.Description != "" {
		schema["description"] = p.Description
	}
	if p.HasDefault {
		schema["default"] = p.Default
	}
	return schema
}

// caller expands the tools, by name.
type caller map[string]config.ComposedTool

// Call implements tool.Caller. The result has the calls to make, as those of a tool that delegates.
func (c caller) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	calls, err := Expand(c[call.Tool], call.Args)
	if err != nil {
		e := fault.As(err)
		return tool.Result{Kind: e.Kind, Text: e.Message, Hint: e.Hint}, nil
	}
	return tool.Result{OK: true, Delegates: calls}, nil
}

// Expand returns the calls of a tool with arguments. Its error is a *fault.Error.
func Expand(t config.ComposedTool, args map[string]any) ([]tool.Delegate, error) {
	values := map[string]any{}
	known := map[string]bool{}
	for _, p := range t.Parameters {
		known[p.Name] = true
		switch value, given := args[p.Name]; {
		case given && value != nil:
			values[p.Name] = value
		case p.HasDefault:
			values[p.Name] = p.Default
		}
	}
	x := expansion{tool: t.Name, values: values, known: known}
	calls := make([]tool.Delegate, len(t.Calls))
	for i, c := range t.Calls {
		filled, _ := x.fill(c.Args)
		args, _ := filled.(map[string]any)
		calls[i] = tool.Delegate{Tool: c.Tool, Args: args}
	}
	if x.err != nil {
		return nil, x.err
	}
	return calls, nil
}

// placeholder matches {{params.NAME}}, and what is written like it.
var placeholder = lazyregexp.New(`\{\{\s*([^{}]*?)\s*\}\}`)

// expansion fills parameters into values.
type expansion struct {
	tool   string
	values map[string]any // of the parameters that have one
	known  map[string]bool
	err    error // the first one
}

// fill returns a value with parameters filled in. keep is false for a text that is a parameter without a value: then
// its key, or its item of a list, is left out.
func (x *expansion) fill(value any) (filled any, keep bool) {
	switch v := value.(type) {
	case string:
		return x.fillText(v)
	case []any:
		items := []any{}
		for _, item := range v {
			if filled, keep := x.fill(item); keep {
				items = append(items, filled)
			}
		}
		return items, true
	case map[string]any:
		object := maps.Clone(v)
		for key, member := range v {
			if filled, keep := x.fill(member); keep {
				object[key] = filled
			} else {
				delete(object, key)
			}
		}
		return object, true
	default:
		return value, true
	}
}

// fillText keeps the type of the value when the whole text is one parameter. Inside of a text a parameter without a
// value is empty.
func (x *expansion) fillText(text string) (filled any, keep bool) {
	if at := placeholder().FindStringSubmatchIndex(text); at != nil && at[0] == 0 && at[1] == len(text) {
		return x.lookup(text[at[2]:at[3]])
	}
	return placeholder().ReplaceAllStringFunc(text, func(written string) string {
		value, has := x.lookup(strings.TrimSpace(written[2 : len(written)-2]))
		if !has || value == nil {
			return ""
		}
		return asText(value)
	}), true
}

// lookup returns the value of what stands between {{ and }}; ok is false for a parameter without one.
func (x *expansion) lookup(name string) (value any, ok bool) {
	parameter, isParameter := strings.CutPrefix(name, "params.")
	if !isParameter || !x.known[parameter] {
		if x.err == nil {
			x.err = fault.New(fault.InvalidArguments, "write {{params.NAME}} with the name of a parameter in its file",
				"tool %q: {{%s}} is not a parameter", x.tool, name)
		}
		return nil, false
	}
	value, ok = x.values[parameter]
	return value, ok
}

// asText returns a value as it is written in a text: text as it is, everything else as JSON.
func asText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
