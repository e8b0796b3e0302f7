package scope_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

var update = flag.Bool("update", false, "rewrite the golden file")

var (
	shop = scope.Target{
		ID: "shop", Platforms: []scope.Platform{scope.Android, scope.IOS},
		AppIDs: map[scope.Platform][]string{scope.Android: {"com.shop", "com.shop.debug"}, scope.IOS: {"com.shop.ios"}},
	}
	site = scope.Target{ID: "site", Platforms: []scope.Platform{scope.Web}}
	bare = scope.Target{ID: "bare"}
)

func TestTargetPrecedence(t *testing.T) {
	t.Parallel()
	all := []scope.Target{shop, site, bare}
	for _, tt := range []struct {
		name string
		give scope.Request
		want string
	}{
		{"flag over trail", scope.Request{
			FlagTarget:  "bare",
			TrailTarget: "shop", EnvTarget: "shop", ProjectTarget: "shop", Targets: all,
		}, "bare"},
		{
			"trail over environment",
			scope.Request{TrailTarget: "bare", EnvTarget: "shop", ProjectTarget: "shop", Targets: all},
			"bare",
		},
		{"environment over project", scope.Request{EnvTarget: "bare", ProjectTarget: "shop", Targets: all}, "bare"},
		{"project over the only target", scope.Request{ProjectTarget: "bare", Targets: all}, "bare"},
		{"the only target there is", scope.Request{Targets: all[2:]}, "bare"},
		{"project default without a file", scope.Request{ProjectTarget: "nofile", Targets: all}, "nofile"},
		{
			"flag names the default without a file",
			scope.Request{FlagTarget: "nofile", ProjectTarget: "nofile", Targets: all},
			"nofile",
		},
		{"trail names the target of a project that has none", scope.Request{TrailTarget: "mine"}, "mine"},
		{"trail names an app id", scope.Request{TrailTarget: "com.shop.ios", ProjectTarget: "bare", Targets: all}, "shop"},
		{"an id goes before an app id", scope.Request{
			TrailTarget: "x", Targets: []scope.Target{
				{ID: "a", AppIDs: map[scope.Platform][]string{scope.Web: {"x"}}},
				{ID: "x"},
			},
		}, "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.give.FlagDriver = "ios-host"
			got, err := scope.Resolve(tt.give)
			if err != nil {
				t.Fatal(err)
			}
			if got.Target.ID != tt.want {
				t.Errorf("target %q, want %q", got.Target.ID, tt.want)
			}
		})
	}
}

func TestDriverPrecedence(t *testing.T) {
	t.Parallel()
	const acc, instr, axe = "android-ondevice-accessibility", "android-ondevice-instrumentation", "ios-axe"
	for _, tt := range []struct {
		name   string
		give   scope.Request
		target scope.Target
		want   string
	}{
		{
			"flag over trail",
			scope.Request{FlagDriver: axe, TrailDriver: instr, EnvDriver: instr, ProjectDriver: instr},
			bare, axe,
		},
		{"trail pin over environment", scope.Request{TrailDriver: axe, EnvDriver: instr, ProjectDriver: instr}, bare, axe},
		{"environment over project", scope.Request{EnvDriver: axe, ProjectDriver: instr}, bare, axe},
		{"project over platform flag", scope.Request{ProjectDriver: axe, FlagPlatform: "ios"}, bare, axe},
		{"project over project platform", scope.Request{ProjectDriver: axe, ProjectPlatform: "android"}, bare, axe},
		{
			"platform flag over trail platform",
			scope.Request{FlagPlatform: "ios", TrailPlatform: "web", ProjectPlatform: "web"},
			bare, "ios-host",
		},
		{
			"trail platform over project platform",
			scope.Request{TrailPlatform: "ios", ProjectPlatform: "web"},
			bare, "ios-host",
		},
		{"driver flag over trail platform", scope.Request{FlagDriver: axe, TrailPlatform: "android"}, bare, axe},
		{"project platform over the target's only platform", scope.Request{ProjectPlatform: "android"}, shop, acc},
		{"the target's only platform", scope.Request{}, site, "playwright-native"},
		{
			"the only platform of the trail's recordings",
			scope.Request{RecordedPlatforms: []scope.Platform{scope.IOS}},
			bare, "ios-host",
		},
		{
			"the target's only platform over that of the recordings",
			scope.Request{RecordedPlatforms: []scope.Platform{scope.Web}},
			site, "playwright-native",
		},
		{
			"the recordings' only platform among those of the target",
			scope.Request{RecordedPlatforms: []scope.Platform{scope.IOS}},
			shop, "ios-host",
		},
		{
			"project platform over that of the recordings",
			scope.Request{ProjectPlatform: "android", RecordedPlatforms: []scope.Platform{scope.IOS}},
			bare, acc,
		},
		{"enum spelling", scope.Request{FlagDriver: "ANDROID_ONDEVICE_INSTRUMENTATION"}, bare, instr},
		{"platform in upper case", scope.Request{FlagPlatform: "ANDROID"}, bare, acc},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.give.Targets = []scope.Target{tt.target}
			got, err := scope.Resolve(tt.give)
			if err != nil {
				t.Fatal(err)
			}
			if got.Driver.Key != tt.want {
				t.Errorf("driver %q, want %q", got.Driver.Key, tt.want)
			}
		})
	}
}

func TestLocationPrecedence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		give scope.Request
		want scope.AgentMode
	}{
		{"flag over project", scope.Request{FlagAgentMode: "host", ProjectAgentMode: "on-device"}, scope.Host},
		{"project over default", scope.Request{ProjectAgentMode: "on-device"}, scope.OnDevice},
		{"default", scope.Request{}, scope.Host},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.give.Targets = []scope.Target{site}
			got, err := scope.Resolve(tt.give)
			if err != nil || got.AgentMode != tt.want {
				t.Errorf("agent %q, %v; want %q", got.AgentMode, err, tt.want)
			}
		})
	}
}

func TestAppIDIsNamedByTrailOrOnlyOne(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, trail, driver, want string }{
		{"only one on the platform", "shop", "ios-host", "com.shop.ios"},
		{"named by the trail", "com.shop.debug", "revyl-android", "com.shop.debug"},
		{"several", "shop", "revyl-android", ""},
		{"named for another platform", "com.shop.debug", "ios-host", "com.shop.ios"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := scope.Resolve(scope.Request{TrailTarget: tt.trail, FlagDriver: tt.driver, Targets: []scope.Target{shop}})
			if err != nil || got.AppID != tt.want {
				t.Errorf("app id %q, %v; want %q", got.AppID, err, tt.want)
			}
		})
	}
}

// brokenRequests have their errors in testdata/errors.golden.
var brokenRequests = []struct {
	name string
	give scope.Request
}{
	{"no target", scope.Request{FlagPlatform: "web", Targets: []scope.Target{shop, site}}},
	{"no target without targets", scope.Request{FlagPlatform: "web"}},
	{"no target, which may decide the driver", scope.Request{Targets: []scope.Target{shop, site}}},
	{"neither target nor driver", scope.Request{Targets: []scope.Target{shop, bare}}},
	{"no driver with several platforms", scope.Request{Targets: []scope.Target{shop}}},
	{"no driver with a target that names none", scope.Request{Targets: []scope.Target{bare}}},
	{
		"unknown target of a flag",
		scope.Request{FlagTarget: "shpo", FlagDriver: "ios-axe", Targets: []scope.Target{shop, site}},
	},
	{
		"unknown target, none near",
		scope.Request{FlagTarget: "warehouse", FlagDriver: "ios-axe", Targets: []scope.Target{shop, site}},
	},
	{
		"unknown target of a trail",
		scope.Request{TrailTarget: "siet", FlagDriver: "ios-axe", Targets: []scope.Target{shop, site}},
	},
	{"unknown target of a project without targets", scope.Request{FlagTarget: "shop", FlagDriver: "ios-axe"}},
	{
		"a flag is not an app id",
		scope.Request{FlagTarget: "com.shop", FlagDriver: "ios-axe", Targets: []scope.Target{shop, site}},
	},
	{"app id of two targets", scope.Request{TrailTarget: "x", FlagDriver: "ios-axe", Targets: []scope.Target{
		{ID: "a", AppIDs: map[scope.Platform][]string{scope.Web: {"x"}}},
		{ID: "b", AppIDs: map[scope.Platform][]string{scope.IOS: {"x"}}},
	}}},
	{"unknown driver", scope.Request{FlagDriver: "IOS_AX", Targets: []scope.Target{shop}}},
	{"unknown driver of the environment", scope.Request{EnvDriver: "selenium", Targets: []scope.Target{shop}}},
	{"unknown platform", scope.Request{FlagPlatform: "andriod", Targets: []scope.Target{shop}}},
	{
		"unknown platform beside a driver",
		scope.Request{FlagPlatform: "desktop", FlagDriver: "ios-axe", Targets: []scope.Target{shop}},
	},
	{
		"driver and platform disagree",
		scope.Request{FlagPlatform: "web", FlagDriver: "ios-axe", Targets: []scope.Target{bare}},
	},
	{
		"trail's platform and default driver disagree",
		scope.Request{TrailPlatform: "ios", ProjectDriver: "revyl-android", Targets: []scope.Target{bare}},
	},
	{"target is not set up for the platform", scope.Request{FlagPlatform: "web", Targets: []scope.Target{shop}}},
	{"target is not set up for the driver", scope.Request{EnvDriver: "ios-axe", Targets: []scope.Target{site}}},
	{"only recordings for a platform that the target lacks", scope.Request{
		RecordedPlatforms: []scope.Platform{scope.Web}, Targets: []scope.Target{shop},
	}},
	{"recordings for several platforms", scope.Request{
		RecordedPlatforms: []scope.Platform{scope.Web, scope.IOS}, Targets: []scope.Target{bare},
	}},
	{"unknown agent", scope.Request{FlagAgentMode: "on_device", Targets: []scope.Target{site}}},
	{"everything wrong at once", scope.Request{
		FlagTarget: "shpo",
		FlagDriver: "ios", FlagPlatform: "windows", FlagAgentMode: "hots", Targets: []scope.Target{shop},
	}},
}

func TestErrorsNameSettingsAndChoices(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, tt := range brokenRequests {
		_, err := scope.Resolve(tt.give)
		fmt.Fprintf(&got, "%s\n", tt.name)
		if code := fault.ExitCode(err); code != fault.ExitMisuse {
			t.Errorf("%s: exit code %d", tt.name, code)
		}
		for _, f := range faults(t, err) {
			fmt.Fprintf(&got, "  %s: %s\n    hint: %s\n", f.Kind, f.Message, f.Hint)
			fmt.Fprintf(&got, "    choices: %v\n", f.Details["choices"])
		}
	}
	const golden = "testdata/errors.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("errors (-want +got); go test -update rewrites them:\n%s", diff)
	}
}

// faults takes joined errors apart, as a renderer does.
func faults(t *testing.T, err error) []*fault.Error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*fault.Error
		for _, e := range joined.Unwrap() {
			all = append(all, faults(t, e)...)
		}
		return all
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("%v is not a *fault.Error", err)
	}
	return []*fault.Error{f}
}

func TestDriverTableMatchesTheSpecification(t *testing.T) {
	t.Parallel()
	want := map[string]scope.Platform{
		"android-ondevice-accessibility": scope.Android, "android-ondevice-instrumentation": scope.Android,
		"revyl-android": scope.Android, "ios-host": scope.IOS, "ios-axe": scope.IOS, "revyl-ios": scope.IOS,
		"playwright-native": scope.Web, "playwright-electron": scope.Web,
	}
	got := map[string]scope.Platform{}
	for _, key := range scope.DriverKeys() {
		enum := strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
		for _, spelling := range []string{key, enum} {
			d, ok := scope.ParseDriver(spelling)
			if !ok || d.Key != key {
				t.Errorf("ParseDriver(%q) = %v, %v", spelling, d, ok)
			}
			got[key] = d.Platform
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("drivers (-want +got):\n%s", diff)
	}
}

func TestCheckFlags(t *testing.T) {
	t.Parallel()
	targets := []scope.Target{{ID: "shop"}, {ID: "backoffice"}}
	sound := scope.Request{
		FlagTarget: "shop", FlagDriver: "IOS_HOST", FlagPlatform: "ios", FlagAgentMode: "host",
		Targets: targets,
	}
	if err := sound.CheckFlags(); err != nil {
		t.Error(err)
	}
	if err := (scope.Request{Targets: targets}).CheckFlags(); err != nil {
		t.Errorf("nothing is given, so nothing is wrong: %v", err)
	}
	err := scope.Request{
		FlagTarget: "shpo", FlagDriver: "ios-hots", FlagPlatform: "iso", FlagAgentMode: "robot",
		Targets: targets,
	}.CheckFlags()
	for _, want := range []string{
		`--target: unknown target "shpo"`, `--driver: unknown driver "ios-hots"`,
		`--platform: unknown platform "iso"`, "--agent",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
	if fault.ExitCode(err) != fault.ExitMisuse {
		t.Errorf("exit code %d", fault.ExitCode(err))
	}
}

// TestDefaultDriverIsOneOfTheTarget has a target that restricts the drivers that are used without being named.
func TestDefaultDriverIsOneOfTheTarget(t *testing.T) {
	t.Parallel()
	target := scope.Target{
		ID: "desk", Platforms: []scope.Platform{scope.Web, scope.IOS},
		Drivers: map[scope.Platform][]string{scope.Web: {"playwright-electron"}, scope.IOS: {"ios-axe", "ios-host"}},
	}
	for want, give := range map[string]scope.Request{
		"playwright-electron":            {FlagPlatform: "web"},
		"ios-host":                       {RecordedPlatforms: []scope.Platform{scope.IOS}},
		"playwright-native":              {FlagDriver: "playwright-native"},
		"android-ondevice-accessibility": {Targets: []scope.Target{{ID: "desk", Platforms: []scope.Platform{scope.Android}}}},
	} {
		if give.FlagTarget = "desk"; give.Targets == nil {
			give.Targets = []scope.Target{target}
		}
		if got, err := scope.Resolve(give); err != nil || got.Driver.Key != want {
			t.Errorf("driver %q, want %q: %v", got.Driver.Key, want, err)
		}
	}
}
