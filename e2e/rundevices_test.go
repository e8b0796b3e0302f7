//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// byDevice is "file device outcome" for every trail that finished.
func byDevice(t *testing.T, r result) []string {
	t.Helper()
	var out []string
	for _, e := range ofType(r.events(t), "trail.finished") {
		out = append(out, fmt.Sprint(e["file"], " ", e["device"], " ", e["outcome"]))
	}
	slices.Sort(out)
	return out
}

func TestTrailRunsOnEveryNamedDevice(t *testing.T) {
	t.Parallel()
	// The page counts its visits in a cookie and in storage: a second one in the same profile would be number 2.
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject + "devices:\n  desktop: { platform: web }\n  phone: { platform: web, viewport: 390x844, classifier: web-phone }\n" +
			"  pixel: { driver: android-ondevice-accessibility, size: 1080x2400, id: emulator-5554, env: { APP_PORT: \"8081\" } }\n",
		"trails/visit.trail.yaml": "trail:\n  - step: visit\n    recording:\n" +
			"      web:\n        - web_navigate: { url: visits.html }\n        - web_verifyTextVisible: { text: \"visit 1, 1280 wide\" }\n" +
			"      web-phone:\n        - web_navigate: { url: visits.html }\n        - web_verifyTextVisible: { text: \"visit 1, 390 wide\" }\n" +
			"      android:\n        - context: {}\n",
		"visits.html": `<body><script>
			localStorage.n = Number(localStorage.n || 0) + 1
			document.body.textContent = "visit " + localStorage.n + ", " + innerWidth + " wide"</script>`,
	})
	r := p.run("run", "--all-devices", "--json")
	r.want(t, 0)
	want := []string{
		"trails/visit.trail.yaml desktop passed", "trails/visit.trail.yaml phone passed", "trails/visit.trail.yaml pixel passed",
	}
	if diff := cmp.Diff(want, byDevice(t, r)); diff != "" {
		t.Errorf("--all-devices (-want +got):\n%s", diff)
	}
	env := r.contextEnv(t)
	if env["TRAILBLAZE_DEVICE_PLATFORM"] != "ANDROID" || env["TRAILBLAZE_DEVICE_WIDTH_PX"] != "1080" || env["TRAILBLAZE_DEVICE_HEIGHT_PX"] != "2400" {
		t.Errorf("pixel's server was told %v", env)
	}
	if env["TRAILBLAZE_DEVICE_NAME"] != "pixel" || env["TRAILBLAZE_DEVICE_ID"] != "emulator-5554" || env["APP_PORT"] != "8081" {
		t.Errorf("pixel's server does not know its device: %v", env)
	}
	for _, e := range ofType(r.events(t), "trail.started") {
		if want := map[any]any{"pixel": "emulator-5554"}[e["device"]]; e["deviceId"] != want {
			t.Errorf("trail.started on %v has the id %v", e["device"], e["deviceId"])
		}
	}

	r = p.run("run", "--device", "web:a,web:b", "--device", "desktop", "--workers", "2", "--json")
	r.want(t, 0)
	want = []string{
		"trails/visit.trail.yaml desktop passed", "trails/visit.trail.yaml web:a passed", "trails/visit.trail.yaml web:b passed",
	}
	if diff := cmp.Diff(want, byDevice(t, r)); diff != "" {
		t.Errorf("--device (-want +got):\n%s", diff)
	}
	spawntest.NoSurvivors(t, p.marker)
}

// Without devices in the project, --all-devices are those of the platform of the trails that are run.
func TestAllDevicesAreThoseOfSelectedTrails(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":           strings.Replace(okProject, "platform: web\n", "", 1),
		"trails/android.trail.yaml": "config: { tags: [phone] }\ntrail: [ { step: s, recording: { android: [] } } ]\n",
		"trails/web.trail.yaml":     "config: { tags: [desk] }\n" + webTrail("echo: {}"),
	})
	p.run("run", "--all-devices").wantErr(t, 3, "the trails are for android and web")
	p.run("run", "--all-devices", "--tags", "desk").want(t, 0, "1 passed")
	p.run("run", "--all-devices", "--grep", "WEB").want(t, 0, "1 passed")
	p.run("run", "--all-devices", "--tags", "none").wantErr(t, 4, "no trail has any of the tags none")
}

func TestDevicesWithoutBackend(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/a.trail.yaml": "trail:\n  - step: s\n    recording:\n      android: [ { echo: {} } ]\n      ios: [ { fail: { text: no } } ]\n",
	})
	r := p.run("run", "--device", "android:one,ios-axe:two,web", "--json")
	r.want(t, 1, "has no recording for this device: looked for web")
	want := []string{"trails/a.trail.yaml android:one passed", "trails/a.trail.yaml ios-axe:two failed", "trails/a.trail.yaml web failed"}
	if diff := cmp.Diff(want, byDevice(t, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	drivers := map[any]any{}
	for _, e := range ofType(r.events(t), "trail.started") {
		drivers[e["device"]] = e["driver"]
	}
	if diff := cmp.Diff(map[any]any{
		"android:one": "android-ondevice-accessibility", "ios-axe:two": "ios-axe", "web": "playwright-native",
	}, drivers); diff != "" {
		t.Errorf("drivers (-want +got):\n%s", diff)
	}
}

func TestWrongDevicesAreMisuse(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject + "devices: { phone: { driver: ios-host } }\n",
		"trails/a.trail.yaml": webTrail("echo: {}"),
	})
	for _, tc := range []struct{ args, want string }{
		{"--device fone", `did you mean "phone"? devices: in the project file lists`},
		{"--device nokia:1", "PLATFORM:NAME"},
		{"--device web:", "has no name"},
		{"--device=", "has no name"},
		{"--device web:a,web:a", "is given twice"},
		{"--device phone --platform web", "leave out --driver and --platform"},
		{"--device web:a --driver ios-host", "leave out --driver and --platform"},
		{"--device phone --all-devices", "--all-devices and --device cannot be used together"},
		{"--workers 0", "--workers 0"},
		{"--workers abc", `--workers: "abc" is not a whole number`},
		{"--timeout soon", `--timeout: "soon" is not a duration`},
		{"--timeout soon", "write a number with a unit, such as 30s or 10m"},
		{"--timeout 5", "write a number with a unit, such as 5s"},
		{"--workers -2", "--workers -2"},
		{"--device web:a,web:b --record x.trail.yaml", "one trail and one device"},
	} {
		r := p.run(append([]string{"run"}, strings.Fields(tc.args)...)...)
		if r.code != 3 || !strings.Contains(strings.ReplaceAll(r.stderr, `\"`, `"`), tc.want) {
			t.Errorf("%s: exit %d, stderr lacks %q:\n%s", tc.args, r.code, tc.want, r.stderr)
		}
	}
}

func TestLastFailedUsesDevicesOfFailures(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject + "devices:\n  one: { platform: web }\n  two: { platform: ios }\n  three: { platform: android }\n",
		"trails/a.trail.yaml": "trail:\n  - step: s\n    recording:\n      web: [ { echo: {} } ]\n      ios: [ { fail: { text: no } } ]\n      android: [ { echo: {} } ]\n",
		"trails/b.trail.yaml": "trail:\n  - step: s\n    recording:\n      web: [ { fail: { text: no } } ]\n      ios: [ { echo: {} } ]\n      android: [ { echo: {} } ]\n",
	})
	p.run("run", "--all-devices", "--json").want(t, 1)
	want := []string{"trails/a.trail.yaml two failed", "trails/b.trail.yaml one failed"}
	for _, args := range [][]string{{}, {"--all-devices"}, {"--device", "two,one,three"}, {"trails"}} {
		r := p.run(append([]string{"run", "--last-failed", "--json"}, args...)...)
		r.want(t, 1)
		if diff := cmp.Diff(want, byDevice(t, r)); diff != "" {
			t.Errorf("--last-failed %v (-want +got):\n%s", args, diff)
		}
	}
	p.run("run", "--last-failed", "--device", "two", "--json").want(t, 1)
	if diff := cmp.Diff(want[:1], byDevice(t, p.run("run", "--last-failed", "--json"))); diff != "" {
		t.Errorf("after one device (-want +got):\n%s", diff)
	}
}

func TestReportsContainTrailsNotRun(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject,
		"trails/1.trail.yaml": webTrail("fail: { text: no }"), "trails/2.trail.yaml": webTrail("echo: {}"), "trails/3.trail.yaml": webTrail("echo: {}"),
	})
	r := p.run("run", "--fail-fast", "--junit", "out.xml", "--json")
	r.want(t, 1, `"notRun":[{"file":"trails/2.trail.yaml","title":"2"},{"file":"trails/3.trail.yaml","title":"3"}]`)
	data, err := os.ReadFile(filepath.Join(p.dir, "out.xml"))
	xml := string(data)
	if err != nil || strings.Count(xml, "<testcase") != 3 || strings.Count(xml, `<skipped message="not run: the run ended before its turn"`) != 2 {
		t.Errorf("%v: JUnit:\n%s", err, xml)
	}
}

// Ports, folders of profiles and sessions are chosen by the system or at random, so that nothing has to be agreed.
func TestParallelRunsOnOneMachine(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": okProject, "page.html": "<p>Hello",
		"trails/a.trail.yaml": webTrail("web_navigate: { url: page.html }", "web_verifyTextVisible: { text: Hello }", "echo: {}"),
		"trails/b.trail.yaml": webTrail("echo: {}", "web_navigate: { url: page.html }"),
	})
	var wg sync.WaitGroup
	results := make([]result, 2)
	for i := range results {
		wg.Go(func() { results[i] = p.run("run", "--workers", "2", "--json") })
	}
	wg.Wait()
	sessions := map[any]bool{}
	for _, r := range results {
		r.want(t, 0)
		for _, e := range ofType(r.events(t), "trail.finished") {
			sessions[e["session"]] = true
		}
	}
	if len(sessions) != 4 {
		t.Errorf("%d sessions, want 4", len(sessions))
	}
	spawntest.NoSurvivors(t, p.marker)
}

func TestWrongDeviceSettingsAreReportedAtTheirPosition(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml":     okProject + "device: { cdpUrl: nowhere }\ndevices: { wall: { viewport: 10 }, phone: { viewport: 390x844 } }\n",
		"trails/a.trail.yaml": webTrail("echo: {}"),
	})
	for _, command := range []string{"check", "run"} {
		p.run(command).wantErr(t, 3, `viewport: "10" is not a size in pixels`, "trailblaze.yaml:8:20", `cdpUrl: "nowhere" is not a URL with one of the schemes`, "trailblaze.yaml:7:11")
	}
}
