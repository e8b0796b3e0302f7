package discover_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// withRegistry is a server with a resource trailblaze://registry.
func withRegistry(name, registry string, tools ...tool.Advertised) discover.Source {
	src := server(name, tools...)
	src.Registry = registry
	return src
}

func TestMetaOverridesRegistry(t *testing.T) {
	t.Parallel()
	type flags struct{ Skipped, Hidden, Transient, Delegating bool }
	for name, tc := range map[string]struct {
		meta     map[string]any
		registry string // the tool's entry
		want     flags
		toolsets []string
	}{
		"no metadata": {nil, `{}`, flags{}, nil},
		"only the registry": {
			nil, `{"exposedToLlm":false,"isRecordable":false,"isDelegating":true,"groups":["a","b"]}`,
			flags{false, true, true, true},
			[]string{"a", "b"},
		},
		"nulls are ignored": {nil, `{"platforms":null,"exposedToLlm":null,"isRecordable":null,` +
			`"isDelegating":null,"groups":null}`, flags{}, nil},
		"another platform":           {nil, `{"platforms":["ios","web"]}`, flags{Skipped: true}, nil},
		"this platform, in any case": {nil, `{"platforms":["ios","Android"]}`, flags{}, nil},
		"desktop has no driver":      {nil, `{"platforms":["desktop"]}`, flags{Skipped: true}, nil},
		"no platform means all":      {nil, `{"platforms":[]}`, flags{}, nil},
		"platforms of _meta": {
			map[string]any{"trailblaze/supportedPlatforms": []any{"ANDROID"}},
			`{"platforms":["ios"]}`,
			flags{},
			nil,
		},
		"_meta allows all platforms": {
			map[string]any{"trailblaze/supportedPlatforms": []any{}},
			`{"platforms":["ios"]}`,
			flags{},
			nil,
		},
		"toolset of _meta": {
			map[string]any{"trailblaze/toolset": "own"},
			`{"groups":["a"]}`,
			flags{},
			[]string{"own"},
		},
		"empty toolset of _meta": {map[string]any{"trailblaze/toolset": ""}, `{"groups":["a"]}`, flags{}, nil},
		"_meta exposes it": {
			map[string]any{"trailblaze/isForLlm": true},
			`{"exposedToLlm":false}`,
			flags{},
			nil,
		},
		"_meta hides it, older spelling": {
			map[string]any{"trailblaze/surfaceToLlm": false},
			`{"exposedToLlm":true}`,
			flags{Hidden: true},
			nil,
		},
		"_meta records it": {
			map[string]any{"trailblaze/isRecordable": true},
			`{"isRecordable":false}`,
			flags{},
			nil,
		},
		"_meta denies delegation": {map[string]any{"trailblaze/isDelegating": false}, `{"isDelegating":true}`, flags{}, nil},
		"_meta of a wrong type": {
			map[string]any{"trailblaze/isRecordable": "no", "trailblaze/toolset": 1.0, "trailblaze/supportedPlatforms": "ios"},
			`{"isRecordable":false,"groups":["a"],"platforms":["android"]}`,
			flags{Transient: true},
			[]string{"a"},
		},
		"groups that repeat or are empty": {nil, `{"groups":["a","","a"]}`, flags{}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := build(t, android, nil, discover.Selection{},
				withRegistry("s", `{"tools":{"t":`+tc.registry+`}}`, named("t", tc.meta)))
			got, registered := r.Lookup("t")
			if registered == tc.want.Skipped {
				t.Fatalf("registered: %v, skipped %+v", registered, r.Skipped)
			}
			if !registered {
				return
			}
			if flags := (flags{false, !got.IsForLLM, !got.IsRecordable, got.IsDelegating}); flags != tc.want {
				t.Errorf("got %+v, want %+v", flags, tc.want)
			}
			if diff := cmp.Diff(tc.toolsets, got.Toolsets); diff != "" {
				t.Errorf("toolsets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRegistryIsReadWithProblems(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		registry string
		want     []string // in the warnings, one each
		toolsets []string // of the tool t, which is recordable if there are none
	}{
		"absent":     {``, nil, nil},
		"empty":      {`{}`, nil, nil},
		"other keys": {`{"serverInfo":{"name":1},"more":[],"tools":{"t":{"groups":["a"]}}}`, nil, []string{"a"}},
		"unknown keys": {
			`{"tools":{"t":{"groups":["a"],"exposedToLLM":false,"more":1}},"groups":{"g":{"defaultEnable":false}}}`,
			[]string{
				`unknown key tools.t.exposedToLLM is ignored; did you mean "exposedToLlm"?`, "unknown key tools.t.more is ignored",
				`unknown key groups.g.defaultEnable is ignored; did you mean "defaultEnabled"?`,
			},
			[]string{"a"},
		},
		"not JSON":      {`tools: {}`, []string{"server s: trailblaze://registry: it is not JSON: invalid character"}, nil},
		"cut off":       {`{"tools":{"t":{"groups":["a"]}`, []string{"it is not JSON: unexpected end"}, nil},
		"blank":         {"  \n", []string{"it is not JSON: unexpected end"}, nil},
		"null":          {`null`, []string{"it is null, not an object"}, nil},
		"a list":        {`[{"tools":{}}]`, []string{"it is a list, not an object"}, nil},
		"tools a list":  {`{"tools":[]}`, []string{"tools is a list, not an object"}, nil},
		"a tool a text": {`{"tools":{"t":"a"},"groups":{"a":{}}}`, []string{"tools.t is text, not an object"}, nil},
		"groups a text": {
			`{"tools":{"t":{"groups":["a"]}},"groups":"a"}`,
			[]string{"groups is text, not an object"},
			[]string{"a"},
		},
		"a group a bool": {
			`{"tools":{"t":{"groups":["a"]}},"groups":{"a":true}}`,
			[]string{"groups.a is true or false, not an object"},
			[]string{"a"},
		},
		"one invalid group": {
			`{"tools":{"t":{"groups":["a",{},"b"]}}}`,
			[]string{"tools.t.groups[1] is an object, not text; it is ignored"},
			[]string{"a", "b"},
		},
		"only invalid entries": {
			`{"tools":{"t":{"platforms":[3],"groups":["a"]}}}`,
			[]string{"tools.t.platforms[0] is a number, not text"},
			[]string{"a"},
		},
		"unknown platform": {
			`{"tools":{"t":{"platforms":["andriod","android"],"groups":["a"]}}}`,
			[]string{`tools.t.platforms: unknown platform "andriod"; known: android, ios, web, desktop`},
			[]string{"a"},
		},
		"wrong flags": {
			`{"tools":{"t":{"exposedToLlm":"no","isRecordable":0,"isDelegating":[],"groups":"a"}},` +
				`"groups":{"g":{"description":1,"defaultEnabled":"no"}}}`,
			[]string{
				"tools.t.groups is text, not a list", "tools.t.exposedToLlm is text, not true or false",
				"tools.t.isRecordable is a number, not true or false",
				"tools.t.isDelegating is a list, not true or false", "groups.g.defaultEnabled is text, not true or false",
				"groups.g.description is a number, not text",
			},
			nil,
		},
		"twice the same tool": {
			`{"tools":{"t":{"groups":["a"]},"t":{"groups":["b"]}}}`,
			[]string{"tools.t is defined more than once; the last one counts"},
			[]string{"b"},
		},
		"an unlisted tool": {
			`{"tools":{"tt":{},"t":{"groups":["a"]}}}`,
			[]string{`server s: trailblaze://registry: it names the tool "tt", which the server does not list`},
			[]string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := build(t, android, nil, discover.Selection{}, withRegistry("s", tc.registry, named("t", nil)))
			got, _ := r.Lookup("t")
			if diff := cmp.Diff(tc.toolsets, got.Toolsets); diff != "" {
				t.Errorf("toolsets (-want +got):\n%s", diff)
			}
			if !got.IsForLLM || !got.IsRecordable || got.IsDelegating {
				t.Errorf("defaults do not hold: %+v", got)
			}
			if len(r.Warnings) != len(tc.want) {
				t.Fatalf("want %d warnings, got %d:\n%s", len(tc.want), len(r.Warnings), strings.Join(r.Warnings, "\n"))
			}
			for i, want := range tc.want {
				if !strings.Contains(r.Warnings[i], want) {
					t.Errorf("warning %d is %q, want %q", i, r.Warnings[i], want)
				}
			}
		})
	}
}

func TestUnlistedToolInRegistryHasNearestName(t *testing.T) {
	t.Parallel()
	r := build(t, android, nil, discover.Selection{},
		withRegistry("s", `{"tools":{"generateTestUsr":{}}}`, named("generateTestUser", nil)))
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `did you mean "generateTestUser"?`) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// A registry of a mebibyte of unknown names and wrong values is read in linear time, with few warnings.
func TestLargeInvalidRegistryIsBounded(t *testing.T) {
	t.Parallel()
	var tools, groups, of []string
	for i := range 20_000 {
		tools = append(tools, fmt.Sprintf(`"n%d":%d`, i, i))
		groups = append(groups, fmt.Sprintf(`"g%d":{}`, i))
		of = append(of, fmt.Sprintf(`"g%d"`, i))
	}
	tools = append(tools, `"t":{"groups":[`+strings.Join(of, ",")+`]}`,
		`"filtered":{"platforms":["ios"],"groups":[`+strings.Join(of, ",")+`]}`)
	registry := `{"tools":{` + strings.Join(tools, ",") + `},"groups":{` + strings.Join(groups, ",") + `}}`
	r := build(t, android, nil, discover.Selection{ToolSets: []string{"g1"}},
		withRegistry("s", registry, named("t", nil), named("filtered", nil)))
	text := strings.Join(r.Warnings, "\n")
	if len(r.Warnings) != 22 || strings.Count(text, "and 19990 more of this kind") != 2 {
		t.Errorf("%d warnings:\n%s", len(r.Warnings), text)
	}
}

// sets renders the toolsets of a registry.
func sets(r *discover.Registry) map[string]string {
	out := map[string]string{}
	for _, ts := range r.Toolsets {
		out[ts.ID] = fmt.Sprintf("%s off=%v active=%v %v", ts.Description, ts.OffByDefault, ts.Enabled, ts.Tools)
	}
	return out
}

func TestGroupsOfSeveralServersAreCombined(t *testing.T) {
	t.Parallel()
	one := withRegistry("one", `{"tools":{"a":{"groups":["login","pay"]}},"groups":{
		"login":{"description":"Signing in"},"pay":{"description":"Paying","defaultEnabled":false},
		"empty":{"description":"Nothing yet"}}}`,
		named("a", nil))
	two := withRegistry("two", `{"tools":{"b":{"groups":["login","pay","minimal"]}},"groups":{
		"login":{"description":"Sign-in tools","defaultEnabled":true},"pay":{"description":"Paying","defaultEnabled":true},
		"filed":{"description":"of a server"}}}`,
		named("b", nil), named("c", map[string]any{"trailblaze/toolset": "login"}))
	files := []discover.Toolset{
		{ID: "filed", Description: "of a file", Tools: []string{"a"}},
		{ID: "login", Platforms: []scope.Platform{scope.IOS}},
	}
	r := build(t, android, files, discover.Selection{}, one, two)
	want := map[string]string{
		"filed":   "of a file off=false active=true [a]",
		"login":   "Signing in off=false active=false [a b c]",
		"pay":     "Paying off=true active=false [a b]",
		"empty":   "Nothing yet off=false active=true []",
		"minimal": " off=false active=true [b]",
	}
	if diff := cmp.Diff(want, sets(r)); diff != "" {
		t.Errorf("toolsets (-want +got):\n%s", diff)
	}
	wantWarnings := []string{
		`server one and server two describe the group "login" differently; that of server one is used`,
		`server one and server two differ in whether the group "pay" is enabled by default; the value of server one is used`,
	}
	if diff := cmp.Diff(wantWarnings, r.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	var order []string
	for _, ts := range r.Toolsets {
		order = append(order, ts.ID)
	}
	if diff := cmp.Diff([]string{"filed", "login", "pay", "empty", "minimal"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestGroupsDisabledByDefault(t *testing.T) {
	t.Parallel()
	src := withRegistry("s", `{"tools":{"pay":{"groups":["checkout"]},"both":{"groups":["checkout","core"]},
		"rare":{"groups":["checkout","lab"]},
		"gated":{"groups":["lab","ios"]},"always":{"groups":["base"]},"direct":{"groups":["lab"]}},
		"groups":{"checkout":{"defaultEnabled":false},"lab":{"defaultEnabled":false},
		"base":{"defaultEnabled":false},"core":{"defaultEnabled":true}}}`,
		named("pay", nil), named("both", nil), named("rare", nil), named("gated", nil), named("always", nil),
		named("direct", nil), named("free", nil))
	files := []discover.Toolset{{ID: "base", AlwaysEnabled: true}, {ID: "ios", Platforms: []scope.Platform{scope.IOS}}}
	for name, tc := range map[string]struct {
		gate discover.Selection
		want []string
		why  map[string]string
	}{
		"no tool_sets": {discover.Selection{}, []string{"both", "always", "free"}, map[string]string{
			"pay":  `its group "checkout" is not enabled by default; name it in tool_sets`,
			"rare": `its groups "checkout", "lab" are not enabled by default; name one of them in tool_sets`,
		}},
		"named": {
			discover.Selection{ToolSets: []string{"checkout"}},
			[]string{"pay", "both", "rare", "always"},
			nil,
		},
		"default_enabled does not add": {
			discover.Selection{ToolSets: []string{"lab"}},
			[]string{"rare", "gated", "always", "direct"},
			nil,
		},
		"named directly": {
			discover.Selection{Tools: []string{"direct"}},
			[]string{"both", "always", "direct", "free"},
			nil,
		},
		"excluded though it is enabled": {
			discover.Selection{Excluded: []string{"free"}},
			[]string{"both", "always"},
			map[string]string{"free": "excludes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := build(t, android, files, tc.gate, src)
			if diff := cmp.Diff(tc.want, names(r.Offered)); diff != "" {
				t.Errorf("offered (-want +got):\n%s", diff)
			}
			if len(r.Offered)+len(r.Skipped) != 7 {
				t.Errorf("skipped %+v", r.Skipped)
			}
			for _, s := range r.Skipped {
				if s.Reason != discover.ByToolset || !strings.Contains(s.Detail, tc.why[s.Name]) {
					t.Errorf("%s: %s: %s", s.Name, s.Reason, s.Detail)
				}
				if _, err := r.Find(s.Name); err != nil {
					t.Errorf("a recorded call may use it: %v", err)
				}
			}
		})
	}
}

func TestToolsetOfFilteredToolsIsKnown(t *testing.T) {
	t.Parallel()
	src := withRegistry("s", `{"tools":{"swipeIOS":{"platforms":["ios"],"groups":["gestures"]}}}`, named("swipeIOS", nil))
	r := build(t, android, nil, discover.Selection{ToolSets: []string{"gestures"}}, src)
	if len(r.Warnings) != 0 || len(r.Toolsets) != 1 || len(r.Toolsets[0].Tools) != 0 {
		t.Errorf("warnings %q, toolsets %+v", r.Warnings, r.Toolsets)
	}
	if diff := cmp.Diff([]string{"gestures"}, r.Skipped[0].Toolsets); diff != "" ||
		r.Skipped[0].Reason != discover.ByPlatform {
		t.Errorf("%+v", r.Skipped)
	}
}

// For any resource, tools are registered unless a platform filters them, and the number of warnings is bounded.
func FuzzRegistry(f *testing.F) {
	for _, seed := range []string{
		`{"tools":{"t":{"platforms":["android",1],"groups":["a"],"exposedToLlm":false}},` +
			`"groups":{"a":{"description":"d","defaultEnabled":false}}}`,
		` [1, 2] `, `{"tools": {"t": {"groups": [ null, {} ]}}}`, `{"groups":{"":{},"a":[]},"groups":null}`, "\ufeff{}",
		`{"tools":`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, registry string) {
		r := build(t, android, nil, discover.Selection{}, withRegistry("s", registry, named("t", nil)))
		if _, ok := r.Lookup("t"); !ok && reasons(r)["t"] != discover.ByPlatform {
			t.Errorf("skipped %+v", r.Skipped)
		}
		if len(r.Warnings) > 22 {
			t.Errorf("%d warnings", len(r.Warnings))
		}
	})
}
