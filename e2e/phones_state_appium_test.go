//go:build unix

package e2e_test

import (
	"encoding/json"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/mobile"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// The real Appium and its drivers accept what changes a device, and the simulated device is changed by it.

func TestStateOfAnAndroidPhoneThroughAppium(t *testing.T) {
	t.Parallel()
	home := needAppium(t)
	p := startPhone(t, simulated.AndroidOptions{App: app.Options{NoPrompt: true}})
	adb := startADB(t, p)
	a := startAppium(t, home, "uiautomator2", "ANDROID_HOME="+sdk(t), "ANDROID_ADB_SERVER_PORT="+adb.Port)
	u := openThroughAppium(t, a, mobile.Android, map[string]any{
		"udid": p.Addr(), "systemPort": json.Number(freePort(t)), "adbPort": json.Number(adb.Port), "appPackage": app.ShopID, "appActivity": ".MainActivity",
	})
	u.call("launchApp", map[string]any{"launchMode": "FORCE_RESTART"})
	u.changeState(p.App)
	u.call("mobile_setAppearance", map[string]any{"style": "DARK", "fontSize": "LARGE", "locale": "de-DE"})
	if got := p.Setting("uimode", "night") + " " + p.Setting("system", "font_scale") + " " + p.Setting("locales", app.ShopID); got != "yes 1.15 de-DE" {
		t.Errorf("the phone has %s", got)
	}
	u.call("mobile_setOrientation", map[string]any{"orientation": "LANDSCAPE"})
	u.must(u.device.Close(t.Context()))
	if got := p.Setting("uimode", "night") + " " + p.Setting("system", "font_scale") + " " + p.Setting("locales", app.ShopID); got != "no null null" {
		t.Errorf("after the session, the phone has %s", got)
	}
	if p.App.EndTurning(); p.App.Landscape() {
		t.Error("the phone was not turned back")
	}
}

func TestStateOfAnIPhoneThroughAppium(t *testing.T) {
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
	u.call("launchApp", map[string]any{"launchMode": "FORCE_RESTART"})
	u.changeState(p.App)
	u.call("mobile_setLocation", map[string]any{"latitude": 52.52, "longitude": 13.405})
	u.call("mobile_setAppearance", map[string]any{"style": "DARK"})
	if at, style := p.App.Location(), p.App.Style(); at != "52.520000,13.405000" || style != "dark" {
		t.Errorf("the phone is at %s and %s", at, style)
	}
	u.must(u.device.Close(t.Context()))
	if at, style := p.App.Location(), p.App.Style(); at != "" || style != "light" {
		t.Errorf("after the session, the phone is at %q and %s", at, style)
	}
}

// changeState uses the commands that change both platforms in the same way, in the app that is in front.
func (u *driverUser) changeState(device *app.Device) {
	u.Helper()
	u.call("mobile_setOrientation", map[string]any{"orientation": "LANDSCAPE"})
	if !device.Landscape() {
		u.Error("the phone was not turned")
	}
	u.call("mobile_setOrientation", map[string]any{"orientation": "PORTRAIT"})
	device.Show(app.Order)
	u.call("mobile_doubleTap", map[string]any{"id": "picture"})
	u.call("assertVisible", map[string]any{"text": "Picture of the parcel, zoomed"})
	u.call("mobile_background", map[string]any{"seconds": 0.1})
	if device.Foreground() != app.ShopID {
		u.Errorf("%s is in front", device.Foreground())
	}
	device.AddNotification(app.Notification{App: app.BrowserID, Text: "Your parcel is on its way"})
	u.call("mobile_openNotifications", nil)
	u.call("tap", map[string]any{"text": "Your parcel is on its way"})
	if device.Foreground() != app.BrowserID || device.WrongTouches() > 0 {
		u.Errorf("%s is in front, touches %+v", device.Foreground(), device.Touches())
	}
	u.call("mobile_lock", nil)
	if !device.Locked() {
		u.Error("the phone is not locked")
	}
	u.call("mobile_unlock", nil)
	if device.Locked() {
		u.Error("the phone is locked")
	}
	u.call("launchApp", map[string]any{"launchMode": "RESUME"})
}
