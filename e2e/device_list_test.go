//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	simulated "github.com/trailblaze/trailblaze/testdata/phones"
)

// What `device list` shows is what --device takes, and what --all-devices means in a project without devices.
func TestDeviceList(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	one, two, iPhone := d.android(), d.android(), d.iPhone()
	d.env = append(d.env, "TRAILBLAZE_WDA_URL="+iPhone.URL())
	var listed struct {
		Devices []struct{ Use, Platform, ID, Name, Type, State string }
	}
	read := func() (uses []string) {
		t.Helper()
		listed.Devices = nil
		r := d.run("device", "list", "--json")
		r.want(t, 0)
		if err := json.Unmarshal([]byte(r.stdout), &listed); err != nil {
			t.Fatal(err)
		}
		for _, f := range listed.Devices {
			uses = append(uses, f.Use+" "+f.Type+" "+f.State)
		}
		return uses
	}
	if one.Addr() > two.Addr() { // the order of adb
		one, two = two, one
	}
	want := []string{"web browser ready", "android:" + one.Addr() + " phone ready", "android:" + two.Addr() + " phone ready", "ios phone ready"}
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("listed: %q, want %q", got, want)
	}
	d.run("run", "--all-devices").wantErr(t, 3, "pass --platform android|ios|web")
	d.run("run", "--all-devices", "--platform", "android").want(t, 0, "2 passed")
	d.run("run", "--all-devices", "--platform", "android", "--last-failed").want(t, 0, "no trails")
	d.write("trails/wrong.trail.yaml", "trail:\n  - verify: v\n    recording: { android: [ { assertVisible: { text: Nowhere, timeoutMs: 0 } } ] }\n")
	d.run("run", "trails/wrong.trail.yaml", "--all-devices", "--platform", "android").want(t, 1, "2 failed")
	d.run("run", "--all-devices", "--platform", "android", "--last-failed").want(t, 1, "2 failed")
	if err := os.Remove(d.path("trails/wrong.trail.yaml")); err != nil {
		t.Fatal(err)
	}
	d.run("run", "--device", listed.Devices[2].Use).want(t, 0, "1 passed")
	for _, p := range []*simulated.Android{one, two} {
		if wrong := p.App.WrongTouches(); wrong > 0 {
			t.Errorf("%d touches hit nothing", wrong)
		}
		d.putBack(p)
	}

	d.env = d.env[:len(d.env)-1]
	d.write("trailblaze.yaml", fmt.Sprintf(`target: corner-shop
devices:
  mine: { platform: android, id: %q }
  gone: { platform: android, id: nothing }
  shop: { platform: web }
  tablet: { platform: ios, wdaUrl: %q }
  other: { platform: ios, wdaUrl: "http://127.0.0.1:1" }
`, two.Addr(), iPhone.URL()))
	want = []string{"shop browser ready", "mine phone ready", "gone  not found", "android:" + one.Addr() + " phone ready", "tablet phone ready", "other  not found"}
	r := d.run("device", "list")
	r.want(t, 0, "mine", "gone")
	if !strings.Contains(r.stderr, "other: WebDriverAgent does not respond at http://127.0.0.1:1") {
		t.Errorf("stderr: %s", r.stderr)
	}
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("listed: %q, want %q", got, want)
	}
	d.run("device", "list", "--platform", "androit").wantErr(t, 3, "unknown platform")
}

// Servers and their tools know the only phone, whose serial nobody has written, and the browser.
func TestServersKnowTheDeviceThatNobodyNames(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p := d.android()
	d.write("trailblaze.yaml", okProject)
	d.write("trailblaze-config/targets/app.yaml", "id: app\ndisplay_name: App\nplatforms: { android: {}, web: {} }\n")
	d.write("trails/see-an-order.trail.yaml", "trail:\n  - step: ask\n    recording: { web: [ { context: {} } ], android: [ { context: {} } ] }\n")
	for platform, want := range map[string][3]string{"android": {p.Addr(), "1080", "2400"}, "web": {"web", "1280", "800"}} {
		r := d.run("run", "--platform", platform, "--json")
		r.want(t, 0)
		env := r.contextEnv(t)
		if got := [3]string{env["TRAILBLAZE_DEVICE_ID"], env["TRAILBLAZE_DEVICE_WIDTH_PX"], env["TRAILBLAZE_DEVICE_HEIGHT_PX"]}; got != want {
			t.Errorf("%s: the environment has %v, want %v", platform, got, want)
		}
		for _, e := range ofType(r.events(t), "call.finished") {
			text, _ := e["text"].(string)
			width, id := fmt.Sprintf(`"widthPixels":%s`, want[1]), fmt.Sprintf(`"deviceId":%q`, want[0])
			if !strings.Contains(text, width) || !strings.Contains(text, id) {
				t.Errorf("%s: the context is %s", platform, text)
			}
		}
	}
	d.putBack(p)
}
