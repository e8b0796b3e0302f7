package composed_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/composed"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func search() config.ComposedTool {
	return config.ComposedTool{
		Name: "search", Description: "Searches.", Group: "bakery", ForAgents: true, Parameters: []config.Parameter{
			{Name: "cake", Type: "string", Required: true, Description: "Its name."},
			{Name: "why", Type: "string"},
			{Name: "times", Type: "integer", HasDefault: true, Default: int64(1)},
			{Name: "nothing", HasDefault: true},
		},
	}
}

func TestSchemaHasTheParameters(t *testing.T) {
	t.Parallel()
	other := config.ComposedTool{Name: "other", Group: "shop", Recordable: true, RequiresHost: true}
	sources := composed.Sources([]config.ComposedTool{search(), other})
	if len(sources) != 2 || sources[0].Source != (tool.Source{Kind: tool.FromComposed, Name: "bakery"}) {
		t.Fatalf("%+v", sources)
	}
	var schema map[string]any
	if err := json.Unmarshal(sources[0].Tools[0].InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"type": "object", "additionalProperties": false, "required": []any{"cake"}, "properties": map[string]any{
			"cake":  map[string]any{"type": "string", "description": "Its name."},
			"why":   map[string]any{"type": []any{"string", "null"}},
			"times": map[string]any{"type": []any{"integer", "null"}, "default": 1.0}, "nothing": map[string]any{"default": nil},
		},
	}
	if diff := cmp.Diff(want, schema); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r, err := discover.Build(discover.Scope{}, sources, nil, discover.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := r.Lookup("search")
	b, _ := r.Lookup("other")
	if !a.IsForLLM || a.IsRecordable || a.RequiresHost || b.IsForLLM || !b.IsRecordable || !b.RequiresHost {
		t.Errorf("flags of %+v, %+v", a, b)
	}
}

// TestExpand is the table of what becomes of a value: {{params.x}} as a whole keeps its type, or is dropped without a
// value; inside of a text it is text.
func TestExpand(t *testing.T) {
	t.Parallel()
	args := map[string]any{"cake": `a "b" {{c}} {{params.why}}`, "why": nil, "nothing": nil}
	for written, tc := range map[string]struct {
		args map[string]any
		want any // nil: the key is dropped
	}{
		"{{params.cake}}":               {args, args["cake"]},
		"{{ params.cake }}":             {map[string]any{"cake": json.Number("3")}, json.Number("3")},
		"<{{  params.cake}}>":           {map[string]any{"cake": true}, "<true>"},
		"{{params.cake}}{{params.why}}": {map[string]any{"cake": []any{1, "a"}}, `[1,"a"]`},
		"{{params.why}}":                {args, nil},
		"so {{params.why}}.":            {args, "so ."},
		"{{params.times}}":              {args, int64(1)},
		"{{params.times}} ":             {map[string]any{"times": 2}, "2 "},
		"{{params.nothing}}":            {args, "null"},
		"-{{params.nothing}}-":          {args, "--"},
		"{ {{params.cake}} }":           {map[string]any{"cake": map[string]any{"a": 1}}, `{ {"a":1} }`},
		"{{params.cake}} €":             {map[string]any{"cake": 1234567.5}, "1234567.5 €"},
		"<b>{{params.cake}}":            {map[string]any{"cake": []any{"a&b"}}, `<b>["a&b"]`},
		"${cake} {params.cake}":         {args, "${cake} {params.cake}"},
	} {
		t.Run(written, func(t *testing.T) {
			t.Parallel()
			tl := search()
			tl.Calls = []config.ComposedCall{{Tool: "type", Args: map[string]any{
				"kept": 1, "text": written, "list": []any{written, map[string]any{"deep": written}, "last"},
			}}, {Tool: "none", Args: map[string]any{}}}
			got, err := composed.Expand(tl, tc.args)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"kept": 1, "text": tc.want, "list": []any{tc.want, map[string]any{"deep": tc.want}, "last"}}
			switch tc.want {
			case nil:
				want = map[string]any{"kept": 1, "list": []any{map[string]any{}, "last"}}
			case "null": // a default that is null is a value
				want = map[string]any{"kept": 1, "text": nil, "list": []any{nil, map[string]any{"deep": nil}, "last"}}
			}
			if diff := cmp.Diff([]tool.Delegate{{Tool: "type", Args: want}, {Tool: "none", Args: map[string]any{}}}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestOtherPlaceholdersAreErrors(t *testing.T) {
	t.Parallel()
	for _, written := range []string{"{{memory.user}}", "a {{device.id}}", "{{params.other}}", "{{}}", "{{cake}}"} {
		tl := search()
		tl.Calls = []config.ComposedCall{{Tool: "type", Args: map[string]any{"a": []any{written}}}}
		sources := composed.Sources([]config.ComposedTool{tl})
		result, err := sources[0].Caller.Call(t.Context(), tool.Call{Tool: "search"})
		if err != nil || result.OK || result.Kind != fault.InvalidArguments ||
			!strings.Contains(result.Text, strings.Trim(written, "a ")+" is not a parameter") {
			t.Errorf("%s: %+v, %v", written, result, err)
		}
	}
}
