package discover_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

var android = discover.Scope{Driver: "android-ondevice-accessibility", Platform: scope.Android, AgentMode: scope.Host}

func server(name string, tools ...tool.Advertised) discover.Source {
	return discover.Source{Source: tool.Source{Kind: tool.FromServer, Name: name}, Tools: tools}
}

func named(name string, meta map[string]any) tool.Advertised {
	return tool.Advertised{Name: name, Meta: meta}
}

func names(tools []*discover.Tool) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

func reasons(r *discover.Registry) map[string]discover.Reason {
	out := map[string]discover.Reason{}
	for _, s := range r.Skipped {
		out[s.Name] = s.Reason
	}
	return out
}

func build(t *testing.T, sc discover.Scope, sets []discover.Toolset, gate discover.Selection,
	src ...discover.Source,
) *discover.Registry {
	t.Helper()
	r, err := discover.Build(sc, src, sets, gate)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFiltersApplyInOrder(t *testing.T) {
	t.Parallel()
	ios := []any{"ios-host"}
	tools := []tool.Advertised{
		named("plain", nil),
		named("driverBeforePlatform", map[string]any{
			"trailblaze/supportedDrivers":   ios,
			"trailblaze/supportedPlatforms": []any{"IOS"},
		}),
		named("platformBeforeHost", map[string]any{
			"trailblaze/supportedPlatforms": []any{"WEB"},
			"trailblaze/requiresHost":       true,
		}),
		named("hostOnly", map[string]any{"trailblaze/requiresHost": true}),
		named("anyCase", map[string]any{"trailblaze/supportedPlatforms": []any{"android"}}),
		named("driverCaseCounts", map[string]any{"trailblaze/supportedDrivers": []any{"ANDROID-ONDEVICE-ACCESSIBILITY"}}),
		named("emptyMeansAll", map[string]any{
			"trailblaze/supportedDrivers":   []any{},
			"trailblaze/supportedPlatforms": []any{},
		}),
	}
	onDevice := android
	onDevice.AgentMode = scope.OnDevice
	r := build(t, onDevice, nil, discover.Selection{}, server("s", tools...))
	if diff := cmp.Diff([]string{"plain", "anyCase", "emptyMeansAll"}, names(r.Offered)); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	want := map[string]discover.Reason{
		"driverBeforePlatform": discover.ByDriver, "platformBeforeHost": discover.ByPlatform, "hostOnly": discover.ByHost,
		"driverCaseCounts": discover.ByDriver,
	}
	if diff := cmp.Diff(want, reasons(r)); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if _, ok := build(t, android, nil, discover.Selection{}, server("s", tools...)).Lookup("hostOnly"); !ok {
		t.Error("hostOnly is missing in host mode")
	}
}

func TestMetadataOfWrongTypeIsIgnoredWithWarning(t *testing.T) {
	t.Parallel()
	r := build(t, android, nil, discover.Selection{}, server("s", named("odd", map[string]any{
		"trailblaze/supportedDrivers": "ios-host", "trailblaze/supportedPlatforms": []any{1.0},
		"trailblaze/requiresHost": "yes",
		"trailblaze/isForLlm":     0.0, "trailblaze/isRecordable": nil, "trailblaze/toolset": []any{"a"},
		"trailblaze/timeoutMs": "5s",
	})))
	got, ok := r.Lookup("odd")
	if !ok || !got.IsForLLM || !got.IsRecordable || got.RequiresHost || len(got.Toolsets) != 0 {
		t.Errorf("defaults do not hold: %+v", got)
	}
	if len(r.Warnings) != 7 {
		t.Errorf("want 7 warnings, got %d:\n%s", len(r.Warnings), strings.Join(r.Warnings, "\n"))
	}
}

func TestSurfaceToLLMIsTheOlderSpelling(t *testing.T) {
	t.Parallel()
	r := build(t, android, nil, discover.Selection{},
		server("s", named("quiet", map[string]any{"trailblaze/surfaceToLlm": false}),
			named("both", map[string]any{"trailblaze/surfaceToLlm": false, "trailblaze/isForLlm": true})))
	quiet, _ := r.Lookup("quiet")
	both, _ := r.Lookup("both")
	if quiet.IsForLLM || !both.IsForLLM {
		t.Errorf("quiet %v, both %v", quiet.IsForLLM, both.IsForLLM)
	}
	if shown := r.ForAgents(); len(r.Offered) != 2 || len(shown) != 1 || shown[0] != both {
		t.Errorf("of %d tools, %d are shown to agents", len(r.Offered), len(shown))
	}
}

func TestToolsetsSelectTools(t *testing.T) {
	t.Parallel()
	src := server("s",
		named("pulled", nil), named("pushed", map[string]any{"trailblaze/toolset": "login"}),
		named("pushedNew", map[string]any{"trailblaze/toolset": "fresh"}), named("always", nil), named("direct", nil),
		named("excluded", nil), named("lonely", nil), named("gatedByPlatform", nil), named("gatedByDriver", nil))
	sets := []discover.Toolset{
		{ID: "login", Tools: []string{"pulled", "excluded", "nobody"}},
		{ID: "base", AlwaysEnabled: true, Tools: []string{"always"}},
		{ID: "iosOnly", Platforms: []scope.Platform{scope.IOS}, Tools: []string{"gatedByPlatform"}},
		{
			ID:      "instr",
			Drivers: []string{"android-ondevice-instrumentation"}, AlwaysEnabled: true, Tools: []string{"gatedByDriver"},
		},
	}
	gate := discover.Selection{
		ToolSets: []string{"login", "fresh", "iosOnly", "unknownSet"}, Tools: []string{"direct"},
		Excluded: []string{"excluded"},
	}
	r := build(t, android, sets, gate, src)
	if diff := cmp.Diff([]string{"pulled", "pushed", "pushedNew", "always", "direct"}, names(r.Offered)); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	for _, name := range []string{"excluded", "lonely", "gatedByPlatform", "gatedByDriver"} {
		if got := reasons(r)[name]; got != discover.ByToolset {
			t.Errorf("%s: reason %q", name, got)
		}
		if _, err := r.Find(name); err != nil {
			t.Errorf("a recorded call may use any registered tool: %v", err)
		}
	}
	text := strings.Join(r.Warnings, "\n")
	for _, want := range []string{`"nobody"`, `"unknownSet"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning about %s in:\n%s", want, text)
		}
	}
	pushed, _ := r.Lookup("pushed")
	if diff := cmp.Diff([]string{"login"}, pushed.Toolsets); diff != "" {
		t.Errorf("membership (-want +got):\n%s", diff)
	}
}

func TestWithoutToolSetsEveryRegisteredToolIsOffered(t *testing.T) {
	t.Parallel()
	sets := []discover.Toolset{{ID: "x", Tools: []string{"a"}}}
	r := build(t, android, sets, discover.Selection{Excluded: []string{"b"}},
		server("s", named("a", nil), named("b", nil), named("c", nil)))
	if diff := cmp.Diff([]string{"a", "c"}, names(r.Offered)); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
}

func TestCollisionsAreReportedTogether(t *testing.T) {
	t.Parallel()
	builtin := discover.Source{
		Source: tool.Source{Kind: tool.FromBuiltin, Name: "memory"},
		Tools:  []tool.Advertised{named("remember", nil)},
	}
	_, err := discover.Build(android, []discover.Source{
		builtin, server("one", named("a", nil), named("b", nil), named("twice", nil), named("twice", nil)),
		server("two", named("a", nil), named("remember", nil), named("b", nil)),
	}, nil, discover.Selection{})
	if fault.KindOf(err) != fault.Registration || fault.ExitCode(err) != fault.ExitInfra {
		t.Fatalf("kind %q, exit %d", fault.KindOf(err), fault.ExitCode(err))
	}
	for _, want := range []string{
		`tools "a", "b" are defined by server one and server two`,
		`tool "twice" is defined twice by server one`,
		`tool "remember" is defined by builtin memory and server two`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in:\n%v", want, err)
		}
	}
	if hints := fault.Hints(err); !slices.Contains(hints, "write rename: { a: ANOTHER_NAME } or exclude: [a, b] into the entry of server two") {
		t.Errorf("hints %q", hints)
	}
}

func TestFilteredToolDoesNotCollide(t *testing.T) {
	t.Parallel()
	ios := map[string]any{"trailblaze/supportedPlatforms": []any{"IOS"}}
	build(t, android, nil, discover.Selection{}, server("one", named("login", ios)), server("two", named("login", nil)))
}

func TestFindExplainsUnknownAndSkippedTools(t *testing.T) {
	t.Parallel()
	r := build(t, android, nil, discover.Selection{}, server("s", named("generateTestUser", nil),
		named("tapIOS", map[string]any{"trailblaze/supportedPlatforms": []any{"IOS"}})))
	_, err := r.Find("generateTestUsr")
	const hint = "did you mean \"generateTestUser\"? `trailblaze toolbox list` lists the tools of a scope"
	if e := fault.As(err); e == nil || e.Kind != fault.UnknownTool || e.Hint != hint {
		t.Errorf("unknown: %+v", e)
	}
	_, err = r.Find("tapIOS")
	if err == nil || !strings.Contains(err.Error(), "supports the platforms IOS, not ANDROID") {
		t.Errorf("skipped: %v", err)
	}
}

func TestSchemasDoNotContainReservedArgument(t *testing.T) {
	t.Parallel()
	const with = `"properties":{"_trailblazeContext":{"type":"object"},"x":{"type":"string"}},` +
		`"required":["_trailblazeContext","x"]`
	const without = `"properties":{"x":{"type":"string"}},"required":["x"]`
	for name, pattern := range map[string]string{
		"at the top":      `{%s,"type":"object"}`,
		"in a part of it": `{"allOf":[{%s},{"minProperties":1}],"type":"object"}`,
		"in a definition": `{"$defs":{"d":{%s}},"allOf":[{"$ref":"#/$defs/d"}],"type":"object"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema, want := fmt.Sprintf(pattern, with), fmt.Sprintf(pattern, without)
			r := build(t, android, nil, discover.Selection{},
				server("s", tool.Advertised{Name: "a", InputSchema: json.RawMessage(schema)}))
			a, _ := r.Lookup("a")
			if string(a.InputSchema) != want {
				t.Errorf("schema %s, want %s", a.InputSchema, want)
			}
			if problems := a.CheckArgs(map[string]any{"x": "y"}, nil); len(problems) != 0 {
				t.Errorf("a call without it: %+v", problems)
			}
		})
	}
}

func TestWarningsOfUnknownNamesHaveNearestName(t *testing.T) {
	t.Parallel()
	r := build(t, android, []discover.Toolset{{ID: "Shop", Tools: []string{"byu"}}},
		discover.Selection{ToolSets: []string{"Shpo"}, Tools: []string{"byu", "qqqqqqqqq"}},
		server("s", named("buy", nil)))
	want := []string{
		`toolset "Shop" names the unknown tool "byu"; did you mean "buy"?`,
		`the target's platform names the unknown tool "byu"; did you mean "buy"?`,
		`the target's platform names the unknown tool "qqqqqqqqq"`,
		`tool_sets names the unknown toolset "Shpo"; did you mean "Shop"?`,
	}
	if diff := cmp.Diff(want, r.Warnings); diff != "" {
		t.Error(diff)
	}
}

func TestRemovedToolsAreReported(t *testing.T) {
	t.Parallel()
	with := func() *discover.Registry {
		return build(t, android, nil, discover.Selection{}, server("s", named("a", nil), named("b", nil)))
	}
	without := func() *discover.Registry {
		return build(t, android, nil, discover.Selection{}, server("s", named("a", nil)))
	}
	before := with()
	for i, now := range []*discover.Registry{without(), without(), with()} {
		now.NoteRemoved(before)
		before = now
		_, err := now.Find("b")
		if i == 2 && err != nil || i < 2 && (err == nil ||
			!strings.Contains(err.Error(), `tool "b" of server s was removed`)) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := before.Find("c"); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Error(err)
	}
}

func hintsOf(err error) []string { return fault.Hints(err) }
