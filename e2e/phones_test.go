//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbd"
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
	d := &phoneDesk{newProject(t, map[string]string{
		"trailblaze.yaml": "target: corner-shop\n",
		"apks/appium-uiautomator2-server-v10.6.6.apk":           string(simulated.APK("io.appium.uiautomator2.server", 278, "10.6.6")),
		"apks/appium-uiautomator2-server-debug-androidTest.apk": string(simulated.APK("io.appium.uiautomator2.server.test", 1, "10.6.6")),
	}), adb}
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

// android starts a simulated phone and connects it.
func (d *phoneDesk) android() *simulated.Android {
	d.t.Helper()
	p, err := simulated.StartAndroid(context.WithoutCancel(d.t.Context()), simulated.AndroidOptions{})
	if err == nil {
		d.t.Cleanup(p.Close)
		err = d.adb.Connect(d.t.Context(), p.Addr())
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

func (d *phoneDesk) iPhone() *simulated.IPhone {
	d.t.Helper()
	p, err := simulated.StartIPhone(context.WithoutCancel(d.t.Context()), simulated.IPhoneOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(p.Close)
	return p
}

// putBack fails the test unless a phone is as it was before the run.
func (d *phoneDesk) putBack(p *simulated.Android) {
	d.t.Helper()
	if scale := p.Setting("global", "animator_duration_scale"); scale != "1.0" && scale != "1" {
		d.t.Errorf("the speed of animations is %q", scale)
	}
	if p.ServerRunning() {
		d.t.Error("the UiAutomator2 server still runs")
	}
	if forwards, err := d.adb.Run(d.t.Context(), "forward", "--list"); err != nil || strings.TrimSpace(forwards) != "" {
		d.t.Errorf("forwarded ports: %q %v", forwards, err)
	}
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

// phoneTrailOf returns a trail with one step for Android and iOS.
func phoneTrailOf(calls ...string) string {
	list := ""
	for _, call := range calls {
		list += "        - " + call + "\n"
	}
	return "config: { title: Fault }\ntrail:\n  - step: Do it\n    recording:\n      android:\n" + list + "      ios:\n" + list
}

const open = "launchApp: { appId: com.example.shop, launchMode: FORCE_RESTART }"

// Each fault of a phone ends the trail with one message that names it, and the phone is put back.
func TestFaultsOfPhones(t *testing.T) {
	t.Parallel()
	const tapEmail = "tapOnElementBySelector: { nodeSelector: { androidAccessibility: { hintTextRegex: Email } } }"
	for name, tc := range map[string]struct {
		options simulated.AndroidOptions
		before  func(d *phoneDesk, p *simulated.Android)
		calls   []string
		code    int
		want    []string
		away    bool // the phone is not there afterwards
	}{
		"offline": {
			before: func(_ *phoneDesk, p *simulated.Android) {
				p.App.OnRead(func(read int) {
					if read == 3 {
						go p.Adbd().Disconnect()
					}
				})
			},
			calls: []string{open, tapEmail, "assertVisible: { text: Nowhere }"}, code: 2, want: []string{"offline"}, away: true,
		},
		"unauthorized": {
			options: simulated.AndroidOptions{Adbd: adbd.Options{Unauthorized: true}},
			calls:   []string{open}, code: 2, want: []string{"has not authorized this computer", "accept"}, away: true,
		},
		"two phones": {
			before: func(d *phoneDesk, _ *simulated.Android) { d.android() },
			calls:  []string{open}, code: 3, want: []string{"2 Android devices are connected", "--serial"},
		},
		"the server ends at a touch": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.CrashOnTouch() },
			calls:  []string{open, tapEmail}, code: 1, want: []string{"may have happened", "not repeated"},
		},
		"another program reads the screen": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.HoldUIAutomation("dev.mobile.maestro") },
			calls:  []string{open}, code: 2, want: []string{"maestro"},
		},
		"an app that is not installed": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.Uninstall(app.ShopID) },
			calls:  []string{open}, code: 1, want: []string{"com.example.shop is not installed", "device: {app: path.apk}"},
		},
		"a permission dialog over the app": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.App.Show(app.Orders); p.App.Prompt() },
			calls:  []string{"tap: { text: Order 1149, timeoutMs: 300 }"}, code: 1, want: []string{"com.android.permissioncontroller is in front"},
		},
		"an animation that never ends": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.App.Show(app.Animation) },
			calls:  []string{"tap: { text: Continue, timeoutMs: 300 }"}, code: 1, want: []string{"it moves"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newPhoneDesk(t)
			p, err := simulated.StartAndroid(context.WithoutCancel(t.Context()), tc.options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			_ = d.adb.Connect(t.Context(), p.Addr()) // one that is unauthorized is refused
			d.write("trails/see-an-order.trail.yaml", phoneTrailOf(tc.calls...))
			if tc.before != nil {
				tc.before(d, p)
			}
			r := d.run("run", "--platform", "android")
			r.want(t, tc.code, tc.want...)
			if !tc.away {
				d.putBack(p)
			}
		})
	}
}

// Without a phone, and with a keyboard over an element, any text and a picture that the app forbids.
func TestPhonesThatNeedCare(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf(open))
	d.run("run", "--platform", "android").want(t, 2, "no Android device is connected", "USB debugging")
	d.run("run", "--platform", "ios").want(t, 2, "WebDriverAgent")
	p := d.android()
	p.App.Show(app.SignIn)
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf(
		"tapOnElementBySelector: { nodeSelector: { androidAccessibility: { hintTextRegex: Email } } }",
		"inputText: { text: 'Grüße 日本語 👍', hideKeyboardAfter: false }",
		"tapOnElementBySelector: { nodeSelector: { androidAccessibility: { textRegex: Sign in } } }", // under the keyboard
		"assertVisible: { text: Wrong email or password }",
		"assertVisible: { text: 'Grüße 日本語 👍' }",
	))
	d.run("run", "--platform", "android").want(t, 0, "1 passed")
	if wrong := p.App.WrongTouches(); wrong > 0 {
		t.Errorf("%d touches hit nothing", wrong)
	}
	p.App.Show(app.Secure)
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf("assertVisible: { text: Nowhere, timeoutMs: 100 }"))
	d.run("run", "--platform", "android").want(t, 1, `"Nowhere"`)
	files, _ := filepath.Glob(filepath.Join(d.session(t), "failure", "*.txt"))
	text := ""
	for _, file := range files {
		text += d.read(t, file)
	}
	if !strings.Contains(text, "black") {
		t.Errorf("the evidence does not say that the picture is black:\n%s", text)
	}
}

// Credentials of a cloud are in no output, event or file, whatever the cloud answers.
func TestCredentialsOfCloudsAreRedacted(t *testing.T) {
	t.Parallel()
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, key, _ := r.BasicAuth()
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(map[string]any{"value": map[string]any{
			"error": "session not created", "message": "Invalid user " + user + " or key " + key,
		}})
	}))
	defer cloud.Close()
	d := newPhoneDesk(t)
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf(open))
	address := strings.Replace(cloud.URL, "://", "://ada-cloud-user:hunter2-cloud-key@", 1)
	began := time.Now()
	r := d.run("run", "--platform", "android", "--appium-url", address, "-vv")
	r.want(t, 2, "401")
	all := r.stdout + r.stderr
	for _, file := range below(t, d.dir, "logs") {
		if info, err := os.Stat(d.path(file)); err == nil && info.Mode().IsRegular() && info.ModTime().After(began.Add(-time.Minute)) {
			all += d.read(t, file)
		}
	}
	if i := slices.IndexFunc([]string{"ada-cloud-user", "hunter2-cloud-key"}, func(s string) bool { return strings.Contains(all, s) }); i >= 0 {
		t.Errorf("a credential is shown:\n%s", all)
	}
}
