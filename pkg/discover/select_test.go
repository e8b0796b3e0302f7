package discover_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// lastCall is a tool.Caller that keeps the call.
type lastCall struct{ call tool.Call }

func (c *lastCall) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	c.call = call
	return tool.Result{OK: true}, nil
}

func TestRenameAndExclude(t *testing.T) {
	t.Parallel()
	caller := &lastCall{}
	acme := server("acme", named("wait", nil), named("debug_on", nil), named("debug_off", nil), named("tap", nil))
	acme.Caller, acme.Registry = caller, `{"tools":{"wait":{"groups":["timing"]}}}`
	acme.Rename = map[string]string{"wait": "acme_wait", "wiat": "x"}
	acme.Exclude = []string{"debug_*", "tpa", "other*"}
	sets := []discover.Toolset{{ID: "acme", Tools: []string{"acme_wait", "tap"}}}
	r := build(t, android, sets, discover.Selection{}, server("other", named("wait", nil)), acme)
	if diff := cmp.Diff([]string{"wait", "acme_wait", "tap"}, names(r.Tools)); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	want := []string{
		`server acme: rename names the unknown tool "wiat"; did you mean "wait"?`,
		`server acme: exclude names the unknown tool "tpa"; did you mean "tap"?`,
		`server acme: exclude: "other*" matches no tool`,
	}
	if diff := cmp.Diff(want, r.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	renamed, _ := r.Lookup("acme_wait")
	if diff := cmp.Diff([]string{"acme", "timing"}, renamed.Toolsets); diff != "" {
		t.Errorf("toolsets (-want +got):\n%s", diff)
	}
	if _, err := renamed.Caller.Call(t.Context(), tool.Call{Tool: "acme_wait"}); err != nil || caller.call.Tool != "wait" {
		t.Errorf("called %q, %v", caller.call.Tool, err)
	}
	r = build(t, android, nil, discover.Selection{}, acme)
	for name, want := range map[string]string{
		"wait":     `tool "wait" of server acme is registered as "acme_wait"`,
		"debug_on": `tool "debug_on" of server acme is excluded`,
	} {
		if _, err := r.Find(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestCollisionNamesWhatToRename(t *testing.T) {
	t.Parallel()
	builtin := discover.Source{
		Source: tool.Source{Kind: tool.FromBuiltin, Name: "trailblaze"},
		Tools:  []tool.Advertised{named("wait", nil)},
	}
	_, err := discover.Build(android, []discover.Source{builtin, server("acme", named("wait", nil))}, nil,
		discover.Selection{})
	want := "write rename: { wait: ANOTHER_NAME } or exclude: [wait] into the entry of server acme"
	if hints := hintsOf(err); len(hints) != 1 || hints[0] != want {
		t.Errorf("hints %q, want %q", hints, want)
	}
}

func TestGlobsOfToolsetsAndTargets(t *testing.T) {
	t.Parallel()
	src := server("s", named("shop_buy", nil), named("shop_sell", nil), named("login", nil), named("shop_admin", nil),
		named("debug", nil))
	sets := []discover.Toolset{{ID: "shop", Tools: []string{"login", "shop_*", "shop_buy", "none_*"}}}
	r := build(t, android, sets, discover.Selection{
		ToolSets: []string{"shop"}, Tools: []string{"d?bug", "x*"}, Excluded: []string{"*_{admin,root}"},
	}, src)
	if diff := cmp.Diff([]string{"shop_buy", "shop_sell", "login", "debug"}, names(r.Offered)); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"login", "shop_buy", "shop_sell", "shop_admin"}, r.Toolsets[0].Tools); diff != "" {
		t.Errorf("tools of the toolset (-want +got):\n%s", diff)
	}
	want := []string{`toolset "shop": "none_*" matches no tool`, `the target's platform: "x*" matches no tool`}
	if diff := cmp.Diff(want, r.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func device(tools ...tool.Advertised) discover.Source {
	return discover.Source{Source: tool.Source{Kind: tool.FromDevice, Name: "phone"}, Tools: tools}
}

func TestCoreInteractionIsTheDevicesToolset(t *testing.T) {
	t.Parallel()
	tap := named("tap", map[string]any{"trailblaze/toolset": "device"})
	selection := discover.Selection{ToolSets: []string{"core_interaction"}}
	r := build(t, android, nil, selection, device(tap), server("s", named("buy", nil)))
	if diff := cmp.Diff([]string{"tap"}, names(r.Offered)); diff != "" || len(r.Warnings) > 0 {
		t.Errorf("offered (-want +got):\n%s%q", diff, r.Warnings)
	}
	if r := build(t, android, nil, selection, device()); len(r.Warnings) > 0 {
		t.Errorf("without a device: %q", r.Warnings)
	}
}

func TestPackageIDIsAnAliasOfAppID(t *testing.T) {
	t.Parallel()
	const schema = `{"type": "object", "additionalProperties": false, "required": ["appId"], "properties": ` +
		`{"appId": {"type": "string"}}}`
	launch := tool.Advertised{Name: "launchApp", InputSchema: json.RawMessage(schema)}
	caller := &lastCall{}
	src := device(launch)
	src.Caller = caller
	of := server("s", tool.Advertised{Name: "install", InputSchema: json.RawMessage(schema)})
	r := build(t, discover.Scope{Driver: "ios-host", Platform: scope.IOS}, nil, discover.Selection{}, src, of)
	launchApp, _ := r.Lookup("launchApp")
	install, _ := r.Lookup("install")
	check := func(tl *discover.Tool, args string) string {
		var got []string
		for _, p := range tl.CheckArgs(object(t, args), nil) {
			got = append(got, strings.Join(p.Path, ".")+": "+p.Message)
		}
		return strings.Join(got, "; ")
	}
	for args, want := range map[string]string{
		`{"packageId": "com.shop"}`:        "",
		`{"appId": "com.shop"}`:            "",
		`{"packageId": 1}`:                 "packageId: appId must be text, not a number",
		`{"packageId": "a", "appId": "b"}`: `packageId: unknown argument "packageId"`,
		`{"packageID": "com.shop"}`:        `packageID: unknown argument "packageID"; : missing argument "appId"`,
	} {
		if got := check(launchApp, args); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if got := check(install, `{"packageId": "a"}`); !strings.Contains(got, "unknown argument") {
		t.Errorf("a tool of a server: %q", got)
	}
	args := map[string]any{"packageId": "com.shop"}
	if _, err := launchApp.Caller.Call(t.Context(), tool.Call{Tool: "launchApp", Args: args}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"appId": "com.shop"}, caller.call.Args); diff != "" || len(args) != 1 ||
		args["packageId"] == nil {
		t.Errorf("arguments (-want +got):\n%s%v", diff, args)
	}
}

// TestCoreInteractionOfAFile has a toolset that a file defines by the other name of the device's toolset.
func TestCoreInteractionOfAFile(t *testing.T) {
	t.Parallel()
	inDevice := map[string]any{"trailblaze/toolset": "device"}
	set := discover.Toolset{ID: "core_interaction", Tools: []string{"tap*", "swipe"}, Partial: true}
	r := build(t, android, []discover.Toolset{set}, discover.Selection{ToolSets: []string{"core_interaction"}},
		device(named("tap", inDevice), named("tapOn", inDevice), named("launchApp", inDevice)))
	if diff := cmp.Diff([]string{"tap", "tapOn"}, names(r.Offered)); diff != "" || len(r.Warnings) > 0 {
		t.Errorf("offered (-want +got):\n%s%q", diff, r.Warnings)
	}
}

func TestComposedToolTakesThePlaceOfACommand(t *testing.T) {
	t.Parallel()
	composed := discover.Source{Source: tool.Source{Kind: tool.FromComposed, Name: "shop"}, Tools: []tool.Advertised{named("tap", nil)}}
	r := build(t, android, nil, discover.Selection{}, device(named("tap", nil), named("swipe", nil)), composed)
	if tap, _ := r.Lookup("tap"); tap.Source != composed.Source || len(r.Tools) != 2 || len(r.Offered) != 2 {
		t.Errorf("tap is that of %s; tools %q", tap.Source, names(r.Tools))
	}
	for _, other := range []discover.Source{server("s", named("tap", nil)), composed} {
		if _, err := discover.Build(android, []discover.Source{other, composed}, nil, discover.Selection{}); fault.KindOf(err) != fault.Registration {
			t.Errorf("%s: %v", other, err)
		}
	}
}

func TestUnavailableToolsSayWhy(t *testing.T) {
	t.Parallel()
	why := fault.New(fault.UnknownTool, "use another", "it is elsewhere")
	phone, own := device(named("tap", nil)), discover.Source{Unavailable: map[string]*fault.Error{"tap": why, "swipe": why, "fly": why}}
	phone.Instead = map[string]string{"fly": "use swipe"}
	r := build(t, android, nil, discover.Selection{}, phone, own)
	if _, err := r.Find("tap"); err != nil {
		t.Error(err)
	}
	if _, err := r.Find("swipe"); !errors.Is(err, why) {
		t.Error(err)
	}
	if _, err := r.Find("fly"); err == nil || errors.Is(err, why) {
		t.Errorf("the device's own reason comes first: %v", err)
	}
}
