//go:build unix

package e2e_test

import (
	"maps"
	"strings"
	"testing"
)

// scopeTargets are two targets; "app" is on every platform and has app ids.
func scopeTargets() map[string]string {
	return map[string]string{
		"trailblaze-config/targets/app.yaml": "id: app\nplatforms:\n  android: { app_ids: [com.example.app, com.example.app.debug] }\n" +
			"  ios: { app_ids: [com.example.ios] }\n  web: {}\n",
		"trailblaze-config/targets/other.yaml": "id: other\nplatforms:\n  android: {}\n  ios: {}\n  web: {}\n",
	}
}

// everywhere is a trail with a recorded no-op for every platform, after the given config.
func everywhere(config string) string {
	return recorded(config, "android", "ios", "web")
}

// recorded is such a trail for some platforms.
func recorded(config string, platforms ...string) string {
	return "config: { " + config + " }\ntrail:\n  - step: s\n    recording: { " + strings.Join(platforms, ": [], ") + ": [] }\n"
}

// TestPrecedenceOfScopeSettings needs no server: the first event of a trail has its scope.
func TestPrecedenceOfScopeSettings(t *testing.T) {
	t.Parallel()
	const (
		all      = "target: app\nplatform: web\ndriver: playwright-electron\nagent: on-device\n"
		androids = "devices: { android: android-ondevice-instrumentation, android-phone: revyl-android }"
		two      = "devices: { android: revyl-android, ios: ios-axe }"
		v1       = "- config: { platform: ios, driver: revyl-ios }\n- prompts:\n    - step: s\n      recording: { tools: [] }\n"
	)
	for name, tc := range map[string]struct {
		project, trail        string
		env, args             []string
		target, driver, agent string
	}{
		"project alone":    {all, everywhere(""), nil, nil, "app", "playwright-electron", "on-device"},
		"platform default": {"target: app\nplatform: ios\n", everywhere(""), nil, nil, "app", "ios-host", "host"},
		"environment over project": {
			all, everywhere(""),
			[]string{"TRAILBLAZE_TARGET=other", "TRAILBLAZE_DRIVER=IOS_AXE"},
			nil,
			"other", "ios-axe", "on-device",
		},
		"trail over environment": {
			all, everywhere("target: app, " + two),
			[]string{"TRAILBLAZE_TARGET=other", "TRAILBLAZE_DRIVER=ios-host"},
			[]string{"--classifier", "android"},
			"app", "revyl-android", "on-device",
		},
		"flags over trail": {
			all, everywhere("target: app, " + two),
			[]string{"TRAILBLAZE_DRIVER=ios-axe"},
			[]string{"--target", "other", "--driver", "playwright-native", "--agent", "host"},
			"other", "playwright-native", "host",
		},
		"--agent over project":      {"target: app\nplatform: web\nagent: host\n", everywhere(""), nil, []string{"--agent", "on-device"}, "app", "playwright-native", "on-device"},
		"--platform over project's": {"target: app\nplatform: web\n", everywhere(""), nil, []string{"--platform", "android"}, "app", "android-ondevice-accessibility", "host"},
		"app id means its target":   {"target: other\nplatform: web\n", everywhere("target: com.example.ios"), nil, nil, "app", "playwright-native", "host"},

		"pin of the whole classifier":       {"target: app\n", everywhere(androids), nil, []string{"--classifier", "android-phone"}, "app", "revyl-android", "host"},
		"pin of classifiers, broad first":   {"target: app\n", everywhere(androids), nil, []string{"--classifier", "android,phone"}, "app", "revyl-android", "host"},
		"pin of the next broader":           {"target: app\n", everywhere(androids), nil, []string{"--classifier", "android-tablet"}, "app", "android-ondevice-instrumentation", "host"},
		"pin without a classifier":          {"target: app\nplatform: android\n", everywhere(androids), nil, nil, "app", "android-ondevice-instrumentation", "host"},
		"the only pin, platform open":       {"target: app\n", everywhere("devices: { ios: ios-axe }"), nil, nil, "app", "ios-axe", "host"},
		"the only pin, narrow":              {"target: app\nplatform: web\n", everywhere("devices: { ios-ipad: ios-axe }"), nil, nil, "app", "ios-axe", "host"},
		"the only pin, of another platform": {"target: app\n", everywhere("devices: { ios-ipad: ios-axe }"), nil, []string{"--platform", "web"}, "app", "playwright-native", "host"},
		"pins of two, recorded for one":     {"target: app\n", recorded(two, "ios"), nil, nil, "app", "ios-axe", "host"},
		"pins of two platforms, --platform": {"target: app\nplatform: web\n", everywhere(two), nil, []string{"--platform", "ios"}, "app", "ios-axe", "host"},
		"pins of two, the other platform":   {"target: app\nplatform: web\n", everywhere(two), nil, []string{"--platform", "android"}, "app", "revyl-android", "host"},
		"pins of two, neither is meant":     {"target: app\nplatform: web\n", everywhere(two), nil, nil, "app", "playwright-native", "host"},
		"platform of the list shape":        {"target: app\nplatform: web\n", "- config: { platform: ios }\n- tools: []\n", nil, nil, "app", "ios-host", "host"},
		"driver of the list shape":          {"target: app\n", v1, []string{"TRAILBLAZE_DRIVER=ios-host"}, nil, "app", "revyl-ios", "host"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := scopeTargets()
			maps.Copy(files, map[string]string{"trailblaze.yaml": tc.project, "trails/a.trail.yaml": tc.trail})
			p := newProject(t, files)
			p.env = append(p.env, tc.env...)
			r := p.run(append([]string{"run", "--json", "--dry-run"}, tc.args...)...)
			r.want(t, 0)
			started := ofType(r.events(t), "trail.started")
			if len(started) != 1 {
				t.Fatalf("%d trails started, want 1", len(started))
			}
			for key, want := range map[string]string{"target": tc.target, "driver": tc.driver, "agent": tc.agent} {
				if got := started[0][key]; got != want {
					t.Errorf("%s is %v, want %s", key, got, want)
				}
			}
		})
	}
}

func TestToolboxListUsesScopeOfEnvironmentAndFlags(t *testing.T) {
	t.Parallel()
	files := scopeTargets()
	files["trailblaze.yaml"] = "target: app\nplatform: web\n"
	p := newProject(t, files)
	p.env = append(p.env, "TRAILBLAZE_TARGET=other", "TRAILBLAZE_DRIVER=ios-axe")
	p.run("toolbox", "list", "--json").want(t, 0, `"target":"other","driver":"ios-axe","platform":"IOS","agent":"host"`)
	p.run("toolbox", "list", "--json", "--target", "app", "--driver", "revyl-android", "--agent", "on-device").
		want(t, 0, `"target":"app","driver":"revyl-android","platform":"ANDROID","agent":"on-device"`)
}

func TestCallsGetAppIDOfTrail(t *testing.T) {
	t.Parallel()
	files := scopeTargets()
	files["trailblaze.yaml"] = "platform: android\n" + "mcpServers:\n" + fakeEntry("fake", "ok")
	files["trails/a.trail.yaml"] = "config: { target: com.example.app.debug }\n" +
		"trail:\n  - step: s\n    recording: { android: [ { context: {} } ] }\n"
	r := newProject(t, files).run("run", "--json")
	r.want(t, 0, `"target":{"appId":"com.example.app.debug","appIds":["com.example.app","com.example.app.debug"],"id":"app"}`)
}
