//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	driver "github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// driverUser makes the calls of a session whose device is behind a real Appium server.
type driverUser struct {
	*testing.T
	device device.Device
	driver mobile.Driver // set when the first call was made

	mu     sync.Mutex
	logged []string
}

// openThroughAppium returns the device of a session that ends with the test.
func openThroughAppium(t *testing.T, a *appium, platform mobile.Platform, capabilities map[string]any) *driverUser {
	t.Helper()
	u := &driverUser{T: t}
	o := driver.Options{
		URL: a.url + "/wd/hub", Capabilities: capabilities, Platform: platform, Limits: driver.DefaultLimits(),
		Log: func(level, message, hint string) {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.logged = append(u.logged, level+": "+message+"; "+hint)
		},
	}
	u.device = mobile.NewDevice(mobile.Options{
		Platform: platform, Limits: mobile.DefaultLimits("ios-host"),
		Open: func(ctx context.Context) (mobile.Driver, error) {
			d, err := driver.Open(ctx, o)
			u.driver = d
			return d, err
		},
	}, device.Session{AppID: app.ShopID, Root: t.TempDir(), Log: o.Log})
	t.Cleanup(func() {
		if err := u.device.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if logged := strings.Join(u.logged, "\n"); strings.Contains(logged, "warn:") || !strings.Contains(logged, "the Appium server responds at "+a.url) {
			t.Errorf("log: %s", logged)
		}
	})
	return u
}

// call makes a call that succeeds.
func (u *driverUser) call(name string, args map[string]any) {
	u.Helper()
	r, err := u.device.Call(u.Context(), tool.Call{Tool: name, Args: args})
	if err != nil || !r.OK {
		u.Fatalf("%s %v: %v %s %s", name, args, err, r.Text, r.Hint)
	}
}

func (u *driverUser) must(err error) {
	u.Helper()
	if err != nil {
		u.Fatal(err)
	}
}

// signIn signs in to the shop with recorded commands.
func (u *driverUser) signIn() {
	u.Helper()
	u.call("launchApp", map[string]any{"launchMode": "FORCE_RESTART"})
	u.call("tapOnElementWithText", map[string]any{"text": "Email"})
	u.call("inputText", map[string]any{"text": app.Email})
	u.call("tapOnElementWithText", map[string]any{"text": "Password"})
	u.call("inputText", map[string]any{"text": app.Password})
	u.call("tapOnElementWithText", map[string]any{"text": "Sign in"})
}

// useOrders touches, types and goes back.
func (u *driverUser) useOrders(device *app.Device) {
	u.Helper()
	const note = "Grüße & 日本語 👍"
	u.call("assertVisibleWithText", map[string]any{"text": "Order 1149"})
	u.call("scroll", nil) // by five orders, with which the list stops
	u.call("assertVisibleWithText", map[string]any{"text": "Order 1144"})
	u.call("scroll", map[string]any{"direction": "UP"})
	u.call("openUrl", map[string]any{"url": "shop://orders/1147"})
	u.call("tapOnElementWithText", map[string]any{"text": "Note"})
	u.call("inputText", map[string]any{"text": note})
	u.call("tapOnElementWithText", map[string]any{"text": "Save note"})
	if got := device.Note(1147); got != note {
		u.Errorf("note: %q", got)
	}
	u.call("pressBack", nil)
	u.call("assertVisibleWithText", map[string]any{"text": "Order 1149"})
	if device.WrongTouches() != 0 {
		u.Errorf("touches: %+v", device.Touches())
	}
	if picture, err := u.driver.Screenshot(u.Context()); err != nil || len(picture) == 0 {
		u.Errorf("screenshot: %d bytes, %v", len(picture), err)
	}
}

// fillInProfile fills in fields that take keys only, or hold a secret.
func (u *driverUser) fillInProfile(device *app.Device) {
	u.Helper()
	u.call("openUrl", map[string]any{"url": "shop://profile"})
	for _, field := range []struct{ id, text string }{{"phone", "5550100100"}, {"name", "Grace"}, {"pin", "34"}} {
		u.call("tap", map[string]any{"id": field.id})
		u.call("inputText", map[string]any{"text": field.text})
	}
	u.call("tap", map[string]any{"id": "name"})
	u.call("mobile_setClipboard", map[string]any{"text": " Höpper"})
	u.call("mobile_pasteClipboard", nil)
	u.call("tap", map[string]any{"id": "save_profile"})
	if got := device.Profile(); !slices.Equal(got, []string{"(555) 010-0100", "Grace Höpper", "1234"}) {
		u.Errorf("profile: %q", got)
	}
}

func TestCommandsReachAnAndroidPhoneThroughAppium(t *testing.T) {
	t.Parallel()
	home := needAppium(t)
	p := startPhone(t, simulated.AndroidOptions{App: app.Options{NoPrompt: true}})
	adb := startADB(t, p)
	a := startAppium(t, home, "uiautomator2", "ANDROID_HOME="+sdk(t), "ANDROID_ADB_SERVER_PORT="+adb.Port)
	port := freePort(t)
	u := openThroughAppium(t, a, mobile.Android, map[string]any{
		"udid": p.Addr(), "systemPort": json.Number(port), "adbPort": json.Number(adb.Port), "appPackage": app.ShopID, "appActivity": ".MainActivity",
	})
	u.signIn()
	u.useOrders(p.App)
	u.fillInProfile(p.App)
	u.must(u.driver.SetClipboard(t.Context(), app.Characters))
	if text, err := u.driver.Clipboard(t.Context()); err != nil || text != app.Characters {
		t.Errorf("clipboard: %q %v", text, err)
	}
	const camera = "android.permission.CAMERA"
	u.must(u.driver.Launch(t.Context(), mobile.Launch{App: app.ShopID, Stop: true, Permissions: map[string]string{camera: "allow", "com.example.UNDECLARED": "allow"}}))
	if front, err := u.driver.Foreground(t.Context()); err != nil || front != app.ShopID || !p.App.Permissions(app.ShopID)[camera] {
		t.Errorf("%s is in front, permissions %v, %v", front, p.App.Permissions(app.ShopID), err)
	}
	if apps, err := u.driver.Apps(t.Context(), false); err != nil || !slices.Contains(apps, app.ShopID) {
		t.Errorf("apps: %v %v", apps, err)
	}
	if output, err := u.driver.Shell(t.Context(), []string{"getprop", "ro.product.model"}); err != nil || output != "Simulated Phone\n" {
		t.Errorf("shell: %q %v", output, err)
	}
	u.must(u.driver.SetNetwork(t.Context(), false))
	if p.App.Connected() {
		t.Error("the phone is connected")
	}
	u.wantCrash(p.App, "android", "device.log", "FATAL EXCEPTION: main")
	u.must(u.driver.Clear(t.Context(), app.ShopID))
	if p.App.SignedIn() {
		t.Error("the app was not cleared")
	}
	u.must(u.device.Close(t.Context()))
	if p.ServerRunning() || !p.App.Connected() {
		t.Errorf("after the session: server %t, connected %t", p.ServerRunning(), p.App.Connected())
	}
}

func TestCommandsReachAnIPhoneThroughAppium(t *testing.T) {
	t.Parallel()
	home := needAppium(t)
	p, err := simulated.StartIPhone(t.Context(), simulated.IPhoneOptions{App: app.Options{NoPrompt: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	u := openThroughAppium(t, startAppium(t, home, "xcuitest"), mobile.IOS, map[string]any{
		"udid": "00008030-0000000000000001", "deviceName": "iPhone", "platformVersion": "17.4", "webDriverAgentUrl": p.URL(),
	})
	u.signIn()
	u.useOrders(p.App)
	u.must(u.driver.SetClipboard(t.Context(), app.Characters))
	if text, err := u.driver.Clipboard(t.Context()); err != nil || text != app.Characters {
		t.Errorf("clipboard: %q %v", text, err)
	}
	if front, err := u.driver.Foreground(t.Context()); err != nil || front != app.ShopID {
		t.Errorf("%s is in front, %v", front, err)
	}
	for _, request := range p.Requests() {
		if strings.HasSuffix(request, "/wda/keyboard/dismiss") {
			t.Error("WebDriverAgent was asked to hide the keyboard of an iPhone")
		}
	}
	u.must(u.driver.Press(t.Context(), mobile.Home))
	if p.App.Foreground() == app.ShopID {
		t.Error("HOME had no effect")
	}
	u.wantCrash(p.App, "ios", "device.txt", "No log of the app: the Appium server")
	p.Close()                               // in the middle of the session
	_, _ = u.driver.Foreground(t.Context()) // the connection that Appium has kept is closed only when it is used
	err = u.driver.Touch(t.Context(), mobile.Finger{Path: []screen.Point{{X: 1, Y: 1}}})
	if fault.KindOf(err) != fault.Crashed {
		t.Errorf("a touch without a phone: %v", err)
	}
}
