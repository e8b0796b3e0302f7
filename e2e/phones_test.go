//go:build unix

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// These tests use simulated phones, Android ones through a real adb server. No real phone is driven.

const cornerShop = "../testdata/projects/corner-shop"

// phoneDesk is a project with an adb server of its own.
type phoneDesk struct {
	*project
	adb *adbserver.Server
}

// newPhoneDesk returns a project of the corner shop, without devices. The UiAutomator2 server of its phones is a
// stand-in that only simulated phones can run.
func newPhoneDesk(t *testing.T) *phoneDesk {
	t.Helper()
	adb, err := adbserver.Start(context.WithoutCancel(t.Context()), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(adb.Close)
	d := &phoneDesk{newProject(t, map[string]string{"trailblaze.yaml": "target: corner-shop\n"}), adb}
	d.useServer("10.6.6")
	for _, name := range []string{"trailblaze-config/targets/corner-shop.yaml", "trails/see-an-order.trail.yaml", "web/index.html"} {
		text, err := os.ReadFile(filepath.Join(cornerShop, name))
		if err != nil {
			t.Fatal(err)
		}
		d.write(name, string(text))
	}
	d.env = append(d.env, "ANDROID_ADB_SERVER_PORT="+adb.Port, "TRAILBLAZE_UIAUTOMATOR2="+d.path("apks"))
	return d
}

// useServer makes the APKs of a version of the UiAutomator2 server the only ones.
func (d *phoneDesk) useServer(version string) {
	d.t.Helper()
	if err := os.RemoveAll(d.path("apks")); err != nil {
		d.t.Fatal(err)
	}
	for name, data := range simulated.ServerAPKs(version) {
		d.write("apks/"+name, string(data))
	}
}

// android starts a simulated phone and connects it.
func (d *phoneDesk) android() *simulated.Android { return d.androidWith(simulated.AndroidOptions{}) }

func (d *phoneDesk) androidWith(o simulated.AndroidOptions) *simulated.Android {
	d.t.Helper()
	p, err := simulated.StartAndroid(context.WithoutCancel(d.t.Context()), o)
	if err == nil {
		d.t.Cleanup(p.Close)
		err = d.adb.Connect(d.t.Context(), p.Addr())
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

func (d *phoneDesk) iPhone() *simulated.IPhone { return d.iPhoneWith(simulated.IPhoneOptions{}) }

func (d *phoneDesk) iPhoneWith(o simulated.IPhoneOptions) *simulated.IPhone {
	d.t.Helper()
	p, err := simulated.StartIPhone(context.WithoutCancel(d.t.Context()), o)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(p.Close)
	return p
}

// putBack fails the test unless a phone is as it was before the run, and the run has left no process.
func (d *phoneDesk) putBack(p *simulated.Android) {
	d.t.Helper()
	if changed := p.Changed(); len(changed) > 0 {
		d.t.Errorf("not put back: %q", changed)
	}
	if forwards, err := d.adb.Run(d.t.Context(), "forward", "--list"); err != nil || strings.TrimSpace(forwards) != "" {
		d.t.Errorf("forwarded ports: %q %v", forwards, err)
	}
	spawntest.NoSurvivors(d.t, d.marker)
}

// One trail is replayed on eight simulated phones and a simulated iPhone at once. Every touch is on its element.
func TestTrailOnManyPhonesAtOnce(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	config := "target: corner-shop\ndevices:\n"
	var all []*simulated.Android
	for i := range 8 {
		p := d.android()
		all = append(all, p)
		config += fmt.Sprintf("  phone-%d: { platform: android, id: %q }\n", i, p.Addr())
	}
	iPhone := d.iPhone()
	d.write("trailblaze.yaml", config+fmt.Sprintf("  iphone: { platform: ios, wdaUrl: %q }\n", iPhone.URL()))
	r := d.run("run", "--all-devices", "--json")
	r.want(t, 0)
	if finished := ofType(r.events(t), "run.finished"); len(finished) != 1 || finished[0]["passed"] != 9.0 {
		t.Errorf("run.finished: %v", finished)
	}
	for _, p := range all {
		if wrong := p.App.WrongTouches(); wrong > 0 || p.App.Screen() != app.Order {
			t.Errorf("%d touches hit nothing; the phone shows %s", wrong, p.App.Screen())
		}
		d.putBack(p)
	}
	if wrong := iPhone.App.WrongTouches(); wrong > 0 {
		t.Errorf("%d touches hit nothing on the iPhone", wrong)
	}
}

// Phones of one image are two, although their serial number and android_id are the same. Two serials of one phone are
// one, which is then busy.
func TestWhichPhonesAreOne(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	one, two := d.androidWith(simulated.AndroidOptions{Image: "same"}), d.androidWith(simulated.AndroidOptions{Image: "same"})
	const devices = "target: corner-shop\ndevices:\n  one: { platform: android, id: %q }\n  two: { platform: android, id: %q }\n"
	d.write("trailblaze.yaml", fmt.Sprintf(devices, one.Addr(), two.Addr()))
	d.env = append(d.env, "ANDROID_SERIAL="+one.Addr())
	d.run("run", "--all-devices").want(t, 0, "2 passed")
	if one.App.Screen() != app.Order || two.App.Screen() != app.Order {
		t.Errorf("with ANDROID_SERIAL, the phones show %s and %s", one.App.Screen(), two.App.Screen())
	}
	d.run("run", "--all-devices", "--serial", one.Addr()).wantErr(t, 3, "is another device than --device two")
	byNetwork, err := one.AlsoListen(t.Context(), "127.0.0.1:0")
	if err == nil {
		err = d.adb.Connect(t.Context(), byNetwork)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.write("trailblaze.yaml", fmt.Sprintf(devices, one.Addr(), byNetwork))
	d.run("run", "--all-devices", "--workers", "2").want(t, 2, "is the same device as the Android device", "1 error, 1 passed")
	d.putBack(one)
	d.putBack(two)
}

// The phone of --serial is only the first that a studio shows.
func TestStudioShowsAnotherPhone(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	one, two := d.android(), d.android()
	s := d.studio(t, "--no-open", "--serial", one.Addr())
	socket := s.connect()
	state, _ := ask(t, socket, fmt.Sprintf(`{"id":1,"do":"device","name":"android:%s"}`, two.Addr()), nil)
	if state["activity"] == "lost" {
		t.Errorf("%v", state)
	}
	s.end(syscall.SIGINT)
	d.putBack(one)
	d.putBack(two)
}

// The driver that a trail pins for a kind of device is that of the device which responds.
func TestDriverPinnedForKindOfDevice(t *testing.T) {
	t.Parallel()
	for tablet, want := range map[bool]string{true: "ios-axe", false: "ios-host"} {
		d := newPhoneDesk(t)
		d.env = append(d.env, "TRAILBLAZE_WDA_URL="+d.iPhoneWith(simulated.IPhoneOptions{Tablet: tablet}).URL())
		d.write("trails/pinned.trail.yaml", "config: { devices: { android: android-ondevice-accessibility, ios-ipad: ios-axe } }\n"+
			"trail: [ { step: s, recording: { ios: [] } } ]\n")
		r := d.run("run", "trails/pinned.trail.yaml", "--platform", "ios", "--json")
		r.want(t, 0)
		if started := ofType(r.events(t), "trail.started"); len(started) != 1 || started[0]["driver"] != want {
			t.Errorf("on a tablet: %v: %v, want %s", tablet, started, want)
		}
	}
}

// A selector for the whole of a device's job: what a phone shows, a call, evidence.
func TestSnapshotAndToolOnPhone(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p := d.android()
	d.run("tool", "--platform", "android", "launchApp", "appId=com.example.shop").want(t, 0, "started com.example.shop")
	d.run("snapshot", "--platform", "android").want(t, 0, `- textbox "Email" [ref=e`, `- button "Sign in"`)
	d.run("snapshot", "--platform", "android", "shop://orders/1149", "--json").want(t, 0, `"snapshot":`)
	d.run("toolbox", "list", "--platform", "android").want(t, 0, "tapOnElementBySelector", "adbShell")
	d.run("doctor", "--deep").want(t, 0, "android", p.Addr())
	d.putBack(p)
}

// A trail checks by rules which screen it is on, before and after it has opened another one.
func TestWaypointsOnPhones(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p, iPhone := d.android(), d.iPhone()
	waypoint := func(required, forbidden string) string {
		return fmt.Sprintf("        - assertWaypoint: { id: sign-in, timeoutMs: 3000, required: [{ selector: %s }], forbidden: [{ description: code, selector: %s }] }\n",
			required, forbidden)
	}
	android := waypoint("{ androidAccessibility: { textRegex: Sign in } }", "{ androidAccessibility: { resourceIdRegex: .*digit_1 } }")
	ios := waypoint("{ iosMaestro: { accessibilityTextRegex: Sign in } }", "{ iosMaestro: { resourceIdRegex: digit_1 } }")
	steps := func(more string) string {
		const start = "        - launchApp: { appId: com.example.shop, launchMode: FORCE_RESTART }\n"
		return "config: { title: Waypoints }\ntrail:\n  - step: Do it\n    recording:\n      android:\n" +
			start + more + android + "      ios:\n" + start + more + ios
	}
	d.write("trails/see-an-order.trail.yaml", steps(""))
	d.run("run", "--platform", "android").want(t, 0, "1 passed")
	d.run("run", "--platform", "ios", "--wda-url", iPhone.URL()).want(t, 0, "1 passed")
	d.write("trails/see-an-order.trail.yaml", steps("        - openUrl: { url: 'shop://code' }\n"))
	d.run("run", "--platform", "android").want(t, 1, `the screen is not "sign-in": required text "Sign in": found 0, expected at least 1; forbidden "code": found 1, expected none`)
	d.run("run", "--platform", "ios", "--wda-url", iPhone.URL()).want(t, 1, `the screen is not "sign-in": required `, `forbidden "code": found 1, expected none`)
	d.putBack(p)
}
