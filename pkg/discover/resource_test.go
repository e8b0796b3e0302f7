package discover_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// telling is a server whose resource says something of its tools.
func telling(name, registry string, tools ...tool.Advertised) discover.Source {
	src := server(name, tools...)
	src.Registry = registry
	return src
}

func TestMetaWinsOverTheRegistry(t *testing.T) {
	t.Parallel()
	type flags struct{ Skipped, Hidden, Transient, Delegating bool }
	for name, tc := range map[string]struct {
		meta     map[string]any
		says     string // of the tool
		want     flags
		toolsets []string
	}{
		"nothing is said":              {nil, `{}`, flags{}, nil},
		"only the registry speaks":     {nil, `{"exposedToLlm":false,"isRecordable":false,"isDelegating":true,"groups":["a","b"]}`, flags{false, true, true, true}, []string{"a", "b"}},
		"nulls say nothing":            {nil, `{"platforms":null,"exposedToLlm":null,"isRecordable":null,"isDelegating":null,"groups":null}`, flags{}, nil},
		"another platform":             {nil, `{"platforms":["ios","web"]}`, flags{Skipped: true}, nil},
		"this platform, in any case":   {nil, `{"platforms":["ios","Android"]}`, flags{}, nil},
		"desktop is none of ours":      {nil, `{"platforms":["desktop"]}`, flags{Skipped: true}, nil},
		"no platform means all":        {nil, `{"platforms":[]}`, flags{}, nil},
		"_meta's platforms win":        {map[string]any{"trailblaze/supportedPlatforms": []any{"ANDROID"}}, `{"platforms":["ios"]}`, flags{}, nil},
		"_meta says all platforms":     {map[string]any{"trailblaze/supportedPlatforms": []any{}}, `{"platforms":["ios"]}`, flags{}, nil},
		"_meta's toolset wins":         {map[string]any{"trailblaze/toolset": "own"}, `{"groups":["a"]}`, flags{}, []string{"own"}},
		"_meta says no toolset":        {map[string]any{"trailblaze/toolset": ""}, `{"groups":["a"]}`, flags{}, nil},
		"_meta shows it":               {map[string]any{"trailblaze/isForLlm": true}, `{"exposedToLlm":false}`, flags{}, nil},
		"_meta hides it, older word":   {map[string]any{"trailblaze/surfaceToLlm": false}, `{"exposedToLlm":true}`, flags{Hidden: true}, nil},
		"_meta records it":             {map[string]any{"trailblaze/isRecordable": true}, `{"isRecordable":false}`, flags{}, nil},
		"_meta says it acts by itself": {map[string]any{"trailblaze/isDelegating": false}, `{"isDelegating":true}`, flags{}, nil},
		"_meta of a wrong type says nothing": {
			map[string]any{"trailblaze/isRecordable": "no", "trailblaze/toolset": 1.0, "trailblaze/supportedPlatforms": "ios"},
			`{"isRecordable":false,"groups":["a"],"platforms":["android"]}`,
			flags{Transient: true},
			[]string{"a"},
		},
		"groups that repeat or are empty": {nil, `{"groups":["a","","a"]}`, flags{}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := build(t, android, nil, discover.Selection{}, telling("s", `{"tools":{"t":`+tc.says+`}}`, named("t", tc.meta)))
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

func TestARegistryIsReadAsFarAsItIsSound(t *testing.T) {
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
				`tools.t.exposedToLLM means nothing; it is ignored; did you mean "exposedToLlm"?`, "tools.t.more means nothing; it is ignored",
				`groups.g.defaultEnable means nothing; it is ignored; did you mean "defaultEnabled"?`,
			},
			[]string{"a"},
		},
		"no JSON":        {`tools: {}`, []string{"server s: trailblaze://registry: it is no JSON: invalid character"}, nil},
		"cut off":        {`{"tools":{"t":{"groups":["a"]}`, []string{"it is no JSON: unexpected end"}, nil},
		"blank":          {"  \n", []string{"it is no JSON: unexpected end"}, nil},
		"null":           {`null`, []string{"it is no object, but null"}, nil},
		"a list":         {`[{"tools":{}}]`, []string{"it is no object, but a list"}, nil},
		"tools a list":   {`{"tools":[]}`, []string{"tools is no object, but a list"}, nil},
		"a tool a text":  {`{"tools":{"t":"a"},"groups":{"a":{}}}`, []string{"tools.t is no object, but text"}, nil},
		"groups a text":  {`{"tools":{"t":{"groups":["a"]}},"groups":"a"}`, []string{"groups is no object, but text"}, []string{"a"}},
		"a group a bool": {`{"tools":{"t":{"groups":["a"]}},"groups":{"a":true}}`, []string{"groups.a is no object, but true or false"}, []string{"a"}},
		"one odd group":  {`{"tools":{"t":{"groups":["a",{},"b"]}}}`, []string{"tools.t.groups[1] is no text, but an object; it is ignored"}, []string{"a", "b"}},
		"only odd ones":  {`{"tools":{"t":{"platforms":[3],"groups":["a"]}}}`, []string{"tools.t.platforms[0] is no text, but a number"}, []string{"a"}},
		"no platform":    {`{"tools":{"t":{"platforms":["andriod","android"],"groups":["a"]}}}`, []string{`tools.t.platforms: "andriod" is no platform; there are android, ios, web, desktop`}, []string{"a"}},
		"wrong flags": {
			`{"tools":{"t":{"exposedToLlm":"no","isRecordable":0,"isDelegating":[],"groups":"a"}},"groups":{"g":{"description":1,"defaultEnabled":"no"}}}`,
			[]string{
				"tools.t.groups is no list, but text", "tools.t.exposedToLlm is no true or false, but text", "tools.t.isRecordable is no true or false, but a number",
				"tools.t.isDelegating is no true or false, but a list", "groups.g.defaultEnabled is no true or false, but text", "groups.g.description is no text, but a number",
			},
			nil,
		},
		"twice the same tool": {`{"tools":{"t":{"groups":["a"]},"t":{"groups":["b"]}}}`, []string{"tools.t is there more than once; the last one counts"}, []string{"b"}},
		"a tool that is not there": {
			`{"tools":{"tt":{},"t":{"groups":["a"]}}}`,
			[]string{`server s: trailblaze://registry: it names the tool "tt", which the server does not list`},
			[]string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := build(t, android, nil, discover.Selection{}, telling("s", tc.registry, named("t", nil)))
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

func TestAMisspeltNameInARegistryIsNamedWithTheNearest(t *testing.T) {
	t.Parallel()
	r := build(t, android, nil, discover.Selection{}, telling("s", `{"tools":{"generateTestUsr":{}}}`, named("generateTestUser", nil)))
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `did you mean "generateTestUser"?`) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// TestARegistryThatIsAllWrongIsBounded: a mebibyte of names, groups and misfits costs neither minutes nor pages of warnings.
func TestARegistryThatIsAllWrongIsBounded(t *testing.T) {
	t.Parallel()
	var tools, groups, of []string
	for i := range 20_000 {
		tools = append(tools, fmt.Sprintf(`"n%d":%d`, i, i))
		groups = append(groups, fmt.Sprintf(`"g%d":{}`, i))
		of = append(of, fmt.Sprintf(`"g%d"`, i))
	}
	tools = append(tools, `"t":{"groups":[`+strings.Join(of, ",")+`]}`, `"filtered":{"platforms":["ios"],"groups":[`+strings.Join(of, ",")+`]}`)
	registry := `{"tools":{` + strings.Join(tools, ",") + `},"groups":{` + strings.Join(groups, ",") + `}}`
	begun := time.Now()
	r := build(t, android, nil, discover.Selection{ToolSets: []string{"g1"}}, telling("s", registry, named("t", nil), named("filtered", nil)))
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	text := strings.Join(r.Warnings, "\n")
	if len(r.Warnings) != 22 || strings.Count(text, "and 19990 more of this kind") != 2 {
		t.Errorf("%d warnings:\n%s", len(r.Warnings), text)
	}
}

// sets is what groups became.
func sets(r *discover.Registry) map[string]string {
	out := map[string]string{}
	for _, ts := range r.Toolsets {
		out[ts.ID] = fmt.Sprintf("%s off=%v active=%v %v", ts.Description, ts.OffByDefault, ts.Enabled, ts.Tools)
	}
	return out
}

func TestGroupsOfSeveralServersAreCombined(t *testing.T) {
	t.Parallel()
	one := telling("one", `{"tools":{"a":{"groups":["login","pay"]}},"groups":{
		"login":{"description":"Signing in"},"pay":{"description":"Paying","defaultEnabled":false},"empty":{"description":"Nothing yet"}}}`,
		named("a", nil))
	two := telling("two", `{"tools":{"b":{"groups":["login","pay","minimal"]}},"groups":{
		"login":{"description":"Sign-in tools","defaultEnabled":true},"pay":{"description":"Paying","defaultEnabled":true},"filed":{"description":"of a server"}}}`,
		named("b", nil), named("c", map[string]any{"trailblaze/toolset": "login"}))
	files := []discover.Toolset{{ID: "filed", Description: "of a file", Tools: []string{"a"}}, {ID: "login", Platforms: []scope.Platform{scope.IOS}}}
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
		`server one and server two describe the group "login" differently; what server one says holds`,
		`server one and server two disagree on whether the group "pay" is enabled by default; what server one says holds`,
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

func TestGroupsThatAreNotEnabledByDefault(t *testing.T) {
	t.Parallel()
	src := telling("s", `{"tools":{"pay":{"groups":["checkout"]},"both":{"groups":["checkout","core"]},"rare":{"groups":["checkout","lab"]},
		"gated":{"groups":["lab","ios"]},"always":{"groups":["base"]},"direct":{"groups":["lab"]}},
		"groups":{"checkout":{"defaultEnabled":false},"lab":{"defaultEnabled":false},"base":{"defaultEnabled":false},"core":{"defaultEnabled":true}}}`,
		named("pay", nil), named("both", nil), named("rare", nil), named("gated", nil), named("always", nil), named("direct", nil), named("free", nil))
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
		"named":                         {discover.Selection{ToolSets: []string{"checkout"}}, []string{"pay", "both", "rare", "always"}, nil},
		"default_enabled does not add":  {discover.Selection{ToolSets: []string{"lab"}}, []string{"rare", "gated", "always", "direct"}, nil},
		"named directly":                {discover.Selection{Tools: []string{"direct"}}, []string{"both", "always", "direct", "free"}, nil},
		"excluded though it is enabled": {discover.Selection{Excluded: []string{"free"}}, []string{"both", "always"}, map[string]string{"free": "excludes"}},
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

func TestAToolsetOfFilteredToolsIsKnown(t *testing.T) {
	t.Parallel()
	src := telling("s", `{"tools":{"swipeIOS":{"platforms":["ios"],"groups":["gestures"]}}}`, named("swipeIOS", nil))
	r := build(t, android, nil, discover.Selection{ToolSets: []string{"gestures"}}, src)
	if len(r.Warnings) != 0 || len(r.Toolsets) != 1 || len(r.Toolsets[0].Tools) != 0 {
		t.Errorf("warnings %q, toolsets %+v", r.Warnings, r.Toolsets)
	}
	if diff := cmp.Diff([]string{"gestures"}, r.Skipped[0].Toolsets); diff != "" || r.Skipped[0].Reason != discover.ByPlatform {
		t.Errorf("%+v", r.Skipped)
	}
}

// FuzzRegistry: whatever a server writes, its tools are registered unless a platform filters them, and the warnings are few.
func FuzzRegistry(f *testing.F) {
	for _, seed := range []string{
		`{"tools":{"t":{"platforms":["android",1],"groups":["a"],"exposedToLlm":false}},"groups":{"a":{"description":"d","defaultEnabled":false}}}`,
		` [1, 2] `, `{"tools": {"t": {"groups": [ null, {} ]}}}`, `{"groups":{"":{},"a":[]},"groups":null}`, "\ufeff{}", `{"tools":`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, registry string) {
		r := build(t, android, nil, discover.Selection{}, telling("s", registry, named("t", nil)))
		if _, ok := r.Lookup("t"); !ok && reasons(r)["t"] != discover.ByPlatform {
			t.Errorf("skipped %+v", r.Skipped)
		}
		if len(r.Warnings) > 22 {
			t.Errorf("%d warnings", len(r.Warnings))
		}
	})
}
