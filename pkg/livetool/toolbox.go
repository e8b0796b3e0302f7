package livetool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/pagetext"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func (ts *Tools) toolboxTool(ctx context.Context, args json.RawMessage) (Answer, error) {
	var in struct{ Search, Name string }
	if err := decode(args, &in, "search", "name"); err != nil {
		return Answer{}, err
	}
	open, err := ts.sessions.get(ctx)
	if err != nil {
		return Answer{}, err
	}
	tools, err := open.Toolbox(ctx)
	if err != nil {
		return Answer{}, ts.orEnded(ctx, err)
	}
	switch {
	case in.Name != "":
		t, err := tools.Registry.Find(in.Name)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Text: toolText(t, marker(tools, t))}, nil
	case in.Search != "":
		return Answer{Text: foundTools(tools, in.Search)}, nil
	}
	return Answer{Text: toolNames(tools)}, nil
}

// marker returns what follows the name of a tool: which of its calls are refused, or nothing.
func marker(tools live.Toolbox, t *discover.Tool) string {
	if limits := tools.Limits[t.Name]; limits != "" {
		return " (" + limits + ")"
	}
	return ""
}

// toolNames returns the names of the offered tools by source.
func toolNames(tools live.Toolbox) string {
	r := tools.Registry
	var sources []string
	names := map[string][]string{}
	for _, t := range r.ForAgents() {
		source := t.Source.String()
		if names[source] == nil {
			sources = append(sources, source)
		}
		names[source] = append(names[source], t.Name+marker(tools, t))
	}
	var b strings.Builder
	for _, source := range sources {
		b.WriteString(source + ": " + strings.Join(names[source], ", ") + "\n")
	}
	if n := len(r.Skipped); n > 0 {
		fmt.Fprintf(&b, "not offered here: %s; search says why\n", text.Count(n, "tool"))
	}
	return pagetext.CutLines(b.String(), 2*maxToolbox, "search finds them") + "\nsearch shows signatures, name a schema"
}

// foundTools returns the signatures of the tools with every word of a query, and why others are not offered. Tools whose
// name has every word come first, those that take an element before the others. Descriptions of arguments count only
// when nothing else has the words.
func foundTools(tools live.Toolbox, query string) string {
	r := tools.Registry
	words := strings.Fields(strings.ToLower(query))
	matches := func(text string) bool {
		text = strings.ToLower(text)
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	}
	describes := func(t *discover.Tool) bool { return matches(t.Name + " " + t.Description) }
	found := filtered(r.ForAgents(), describes)
	if len(found) == 0 {
		found = filtered(r.ForAgents(), func(t *discover.Tool) bool { return matches(t.Name + " " + t.Description + " " + argumentsText(t)) })
	}
	rank := func(t *discover.Tool) int {
		switch {
		case !matches(t.Name):
			return 2
		case !strings.Contains(signature(t), elementArgs):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(found, func(a, b *discover.Tool) int { return rank(a) - rank(b) })
	var lines []string
	for _, t := range found {
		lines = append(lines, signature(t)+marker(tools, t)+" "+pagetext.Cut(text.FirstLine(t.Description), 100))
	}
	for _, skipped := range r.Skipped {
		if matches(skipped.Name) {
			lines = append(lines, fmt.Sprintf("%s is not offered: %s", skipped.Name, skipped.Detail))
		}
	}
	if len(lines) == 0 {
		return fmt.Sprintf("no tool matches %q; toolbox without arguments lists the names", query)
	}
	return pagetext.CutLines(strings.Join(lines, "\n"), 2*maxToolbox, "more words show fewer")
}

func filtered(tools []*discover.Tool, keep func(*discover.Tool) bool) []*discover.Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t *discover.Tool) bool { return !keep(t) })
}

// argumentsText returns the names and descriptions of a tool's arguments.
func argumentsText(t *discover.Tool) string {
	var schema struct {
		Properties map[string]struct{ Description string }
	}
	_ = json.Unmarshal(t.InputSchema, &schema) // a schema that is not one has no arguments
	var b strings.Builder
	for name, property := range schema.Properties {
		b.WriteString(name + " " + property.Description + " ")
	}
	return b.String()
}

// elementArgs stands in signatures for the arguments that say which element is meant.
const elementArgs = "ref|nodeSelector"

// signature returns the arguments of a tool in short: NAME{required, optional?}.
func signature(t *discover.Tool) string {
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	_ = json.Unmarshal(t.InputSchema, &schema) // the signature of a schema that is not one has no arguments
	names := schema.Required
	if schema.Properties["ref"] != nil && schema.Properties["nodeSelector"] != nil {
		names = append([]string{elementArgs}, names...)
		delete(schema.Properties, "ref")
		delete(schema.Properties, "nodeSelector")
	}
	delete(schema.Properties, "reasoning") // no effect
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name+"?")
		}
	}
	return t.Name + "{" + strings.Join(names, ", ") + "}"
}

// toolText returns everything about a tool. mark is what [marker] returned.
func toolText(t *discover.Tool, mark string) string {
	text := signature(t) + mark + " of " + t.Source.String() + "\n" + pagetext.Cut(t.Description, 600)
	if !t.IsRecordable {
		text += "\nits calls are not recorded"
	}
	return text + "\n" + pagetext.Cut(string(compact(live.ShownSchema(t.InputSchema))), maxSchema)
}

func compact(schema json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(schema, &value) != nil {
		return schema
	}
	data, err := json.Marshal(value)
	if err != nil {
		return schema
	}
	return data
}

// offered returns the tools that a session offers as tools of their own, with [Options.AllTools].
func (ts *Tools) offered(ctx context.Context, open live.API) []definition {
	if !ts.opts.AllTools {
		return nil
	}
	tools, err := open.Toolbox(ctx)
	if err != nil {
		return nil // a request says why
	}
	var list []definition
	for _, t := range tools.Registry.ForAgents() {
		schema, ok := withStep(json.RawMessage(ts.opts.Output(string(t.InputSchema))))
		if !ok || slices.ContainsFunc(ts.own, func(d definition) bool { return d.Name == t.Name }) {
			continue
		}
		description := strings.TrimSpace(marker(tools, t) + " " + pagetext.Cut(ts.opts.Output(t.Description), 600))
		list = append(list, definition{Definition{Name: t.Name, Description: description, InputSchema: schema}, callTool(t.Name)})
	}
	return list
}

// The arguments that listed tools have beside their own.
const (
	stepArg = "step"
	kindArg = "kind"
)

// withStep returns a schema with the arguments that name the step of a call. ok is false when it has such arguments of
// its own, or is not that of an object.
func withStep(schema json.RawMessage) (out json.RawMessage, ok bool) {
	object := map[string]any{}
	if len(schema) > 0 && json.Unmarshal(schema, &object) != nil {
		return nil, false
	}
	properties, _ := object["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	if properties[stepArg] != nil || properties[kindArg] != nil {
		return nil, false
	}
	properties[stepArg] = map[string]any{"type": "string", "description": "the step that the call belongs to, in plain language"}
	properties[kindArg] = map[string]any{"enum": []string{trail.KindStep, trail.KindVerify}, "default": trail.KindStep}
	required, _ := object["required"].([]any)
	object["type"], object["properties"], object["required"] = "object", properties, append(required, stepArg)
	out, err := json.Marshal(object)
	return out, err == nil
}

// callTool returns the function that answers calls of a listed tool.
func callTool(name string) func(ts *Tools, ctx context.Context, args json.RawMessage) (Answer, error) {
	return func(ts *Tools, ctx context.Context, args json.RawMessage) (Answer, error) {
		value, err := trail.DecodeJSON(args)
		values, ok := value.(map[string]any)
		if err != nil || !ok {
			return Answer{}, fault.New(fault.InvalidArguments, "", "the arguments are not an object")
		}
		r := live.StepRequest{Kind: trail.KindStep}
		r.Text, _ = values[stepArg].(string)
		if kind, given := values[kindArg].(string); given {
			r.Kind = kind
		}
		delete(values, stepArg)
		delete(values, kindArg)
		r.Calls = []trail.Call{{Tool: name, Args: values}}
		return ts.step(ctx, r)
	}
}
