package ios

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// driver is a phone or simulator with WebDriverAgent during a session. It implements mobile.Driver.
type driver struct {
	*appium.Session
	info      mobile.Info
	client    *webdriver.Client
	options   options
	phone     bool         // it is a phone, and not a simulator somewhere
	runner    string       // the app in which WebDriverAgent runs
	simulator *simulator   // nil for a phone, and without simctl
	app       string       // to install; empty for none, and when that was done
	installed *atomic.Bool // the run has installed the app on the phone
	source    appium.IOSSource
	gestures  appium.Gestures
	limits    limits
	log       func(level, message, hint string)
	release   func()
	originals *mobile.Originals
	recorder  *device.PipedProcess // that records the screen of a simulator; nil for none
}

// connect starts a session of WebDriverAgent.
func (b *backend) connect(ctx context.Context, s device.Session, release func()) (*driver, error) {
	o, err := b.boot(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.wda.acquire(o); err != nil {
		return nil, err
	}
	status, err := b.wda.ensure(ctx, o, b.limits)
	if err != nil {
		return nil, err
	}
	if status.SessionID != "" {
		s.Log("warn", "a session of WebDriverAgent at "+b.wda.client.URL()+" was running and is ended",
			"if another program used it, that has lost it; WebDriverAgent has one session at a time")
	}
	session, err := b.wda.client.NewSession(ctx, webdriver.Capabilities{})
	if err != nil {
		return nil, fault.Wrap(fault.Device, err, "restart WebDriverAgent", "start a session of WebDriverAgent at "+b.wda.client.URL())
	}
	d := &driver{
		Session: &appium.Session{
			Session: session, Server: "WebDriverAgent at " + b.wda.client.URL(), Explain: b.wda.explain,
			Hint: "restart WebDriverAgent if it has crashed, or end the other program that has started a session: it has one at a time",
		},
		info:   mobile.Info{ID: o.udid, Product: product(status), Tablet: strings.EqualFold(status.Device, ipad)},
		runner: appium.RunnerOf(cmp.Or(o.wdaApp, status.Build.Product)), client: b.wda.client,
		app: o.app, options: o, installed: &b.installed, limits: b.limits, log: s.Log, release: release,
	}
	d.source = appium.IOSSource{Source: d.sourceJSON, Settings: d.ChangeSettings, Log: s.Log}
	if err := d.prepare(ctx, o); err != nil {
		return nil, errors.Join(err, d.delete(ctx))
	}
	return d, nil
}

func (d *driver) prepare(ctx context.Context, o options) error {
	var about struct {
		IsSimulator bool
		UUID        string // of WebDriverAgent on this device
	}
	err := d.Session.Read(ctx, "read what the device is", func(ctx context.Context) error {
		return d.Get(ctx, "/wda/device/info", &about)
	})
	d.phone = !appium.Answered(err) && !about.IsSimulator
	switch {
	case appium.Answered(err): // an older WebDriverAgent, whose device counts as a phone
		err = nil
	case err == nil && about.IsSimulator:
		d.simulator, err = findSimulator(ctx, o, d.limits)
	}
	if d.simulator != nil {
		d.info.ID = d.simulator.udid
	}
	if err != nil {
		return err
	}
	if err := d.putBackEarlier(ctx, o.stateDir, address(o.wdaURL)+" "+about.UUID); err != nil { // may turn the screen
		return err
	}
	if d.info.Width, d.info.Height, err = d.ReadSize(ctx); err != nil {
		return err
	}
	return d.source.Prepare(ctx, d.info)
}

// Info implements mobile.Driver.
func (d *driver) Info() mobile.Info { return d.info }

// Read implements mobile.Driver.
func (d *driver) Read(ctx context.Context) (mobile.Screen, error) {
	data, err := d.source.Read(ctx)
	if err != nil {
		return mobile.Screen{}, err
	}
	result, err := source.WDAJSON(data, appium.SourceOptions(d.info))
	return d.gestures.Screen(result), err
}

func (d *driver) sourceJSON(ctx context.Context) (data json.RawMessage, err error) {
	err = d.Session.Read(ctx, "read the screen", func(ctx context.Context) error {
		return d.Get(ctx, "/source?format=json&excluded_attributes="+appium.UnusedAttributes, &data)
	})
	return data, err
}

// Screenshot implements mobile.Driver.
func (d *driver) Screenshot(ctx context.Context) ([]byte, error) { return d.TakeScreenshot(ctx) }

// SetText implements mobile.Driver.
func (d *driver) SetText(ctx context.Context, text string) error { return d.ReplaceText(ctx, text) }

// Type implements mobile.Driver. Without a field that has the focus, the keyboard may still be shown for one that does
// not say so.
func (d *driver) Type(ctx context.Context, text string) error {
	err := d.TypeText(ctx, text)
	if !errors.Is(err, appium.ErrNoFocus) {
		return err
	}
	keysErr := d.keys(ctx, text)
	if appium.Answered(keysErr) {
		return err
	}
	return keysErr
}

// keys types on the keyboard that is shown.
func (d *driver) keys(ctx context.Context, text string) error {
	return d.post(ctx, "type text", "/wda/keys", map[string]any{"value": strings.Split(text, "")})
}

// post acts.
func (d *driver) post(ctx context.Context, what, path string, body any) error {
	return d.Act(ctx, what, func(ctx context.Context) error { return d.Post(ctx, path, body, nil) })
}

// Press implements mobile.Driver.
func (d *driver) Press(ctx context.Context, key mobile.Key) error {
	if text := appium.KeyText(key); text != "" {
		return d.keys(ctx, text)
	}
	switch key {
	case mobile.Home:
		return d.post(ctx, "press HOME", "/wda/pressButton", map[string]any{"name": "home"})
	case mobile.Back:
		return d.Touch(ctx, d.gestures.Back(d.info))
	default:
		return appium.NoKey(key)
	}
}

// HideKeyboard implements mobile.Driver.
func (d *driver) HideKeyboard(ctx context.Context) error {
	return appium.HideKeyboard(ctx, d, func(ctx context.Context) error {
		return d.post(ctx, "hide the keyboard", "/wda/keyboard/dismiss", nil)
	})
}

// Focus implements mobile.FocusReader.
func (d *driver) Focus(ctx context.Context) (*screen.Rect, error) { return d.FocusedArea(ctx) }

// Alert implements mobile.AlertReader.
func (d *driver) Alert(ctx context.Context) (string, error) { return d.AlertText(ctx) }

// StatusBar implements mobile.StatusBarReader.
func (d *driver) StatusBar(ctx context.Context) int {
	return d.StatusBarHeight(ctx, func(ctx context.Context, info any) error { return d.Get(ctx, "/wda/screen", info) })
}

// Launch implements mobile.Driver.
func (d *driver) Launch(ctx context.Context, l mobile.Launch) error {
	if err := d.install(ctx, l.App); err != nil {
		return err
	}
	if err := l.Prepare(ctx, d); err != nil {
		return err
	}
	if err := d.setPermissions(ctx, l.App, l.Permissions); err != nil {
		return err
	}
	return appium.WithInstallHint(d.post(ctx, "start "+l.App, "/wda/apps/launch", map[string]any{
		"bundleId": l.App, "arguments": appium.LaunchArguments(l.Arguments), "environment": map[string]any{},
		"shouldWaitForQuiescence": false,
	}))
}

// install installs the user's app: on a simulator once for a session, unless the app that is started is that one, and on
// a phone once for the run, because which one it has is not known.
func (d *driver) install(ctx context.Context, started string) (err error) {
	file := d.app
	defer func() {
		if err == nil {
			d.app = "" // else the next start tries again, and does not start what was there before
		}
	}()
	switch {
	case file == "" || d.installed.Load():
		return nil
	case d.simulator != nil && d.simulator.has(ctx, started, file):
		return nil
	case d.simulator != nil:
		return d.changeApps(ctx, "install", file)
	case d.phone && d.options.udid != "" && hasXcode(d.options):
		err = d.changeApps(ctx, "install", file)
		d.installed.Store(err == nil)
		return err
	}
	d.log("warn", "the app is not installed: that is possible on a simulator of this machine, and on a phone that is connected to this Mac and "+
		"whose udid is given", "install it with Xcode or `ios install`")
	return nil
}

// Stop implements mobile.Driver.
func (d *driver) Stop(ctx context.Context, app string) error {
	return d.post(ctx, "end "+app, "/wda/apps/terminate", map[string]any{"bundleId": app})
}

// Clear implements mobile.Driver.
func (d *driver) Clear(ctx context.Context, app string) error {
	if d.simulator == nil {
		return appium.NoClear(app, nil)
	}
	if err := d.Stop(ctx, app); err != nil {
		return err
	}
	return d.simulator.clear(ctx, app)
}

// Grant implements mobile.Driver.
func (d *driver) Grant(ctx context.Context, app string, permissions []string) error {
	states := map[string]string{}
	for _, name := range permissions {
		states[name] = "allow"
	}
	return d.setPermissions(ctx, app, states)
}

func (d *driver) setPermissions(ctx context.Context, app string, permissions map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(permissions)) {
		if err := d.setPermission(ctx, app, name, permissions[name]); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) setPermission(ctx context.Context, app, name, state string) error {
	resource, known := resources()[name]
	switch {
	case d.simulator != nil && slices.Contains(services(), name):
		return d.simulator.setPermission(ctx, app, name, state)
	case d.simulator != nil:
		d.log("warn", "simctl cannot set the permission "+name+" of "+app, "tap a button of the dialog when the app asks")
		return nil
	case name == "all" && state == "allow": // what a launch that names none asks for
		appium.LogNoPermissions(d.log, app, "that is possible only on a simulator of this machine")
		return nil
	case state == "unset" && known: // of the app in front, which this ends
		if err := d.activate(ctx, app); err != nil {
			return err
		}
		return d.post(ctx, "reset the permission "+name, "/wda/resetAppAuth", map[string]any{"resource": resource})
	}
	return mobile.Unsupported("the permission "+name+" of an app can be set only on a simulator of this machine",
		"tap a button of the dialog when the app asks: it is on the screen like other elements")
}

// resources returns the numbers that XCUIProtectedResource has for permissions.
func resources() map[string]int {
	return map[string]int{
		"contacts": 1, "calendar": 2, "reminders": 3, "photos": 4, "microphone": 5, "camera": 6, "media-library": 7, "homekit": 8,
		"bluetooth": -0x40000000, "location": -0x40000002,
	}
}

// Apps implements mobile.Driver.
func (d *driver) Apps(ctx context.Context, system bool) ([]string, error) {
	if d.simulator == nil {
		return nil, mobile.Unsupported("the apps of an iPhone cannot be listed with WebDriverAgent", "`ios apps` lists them")
	}
	return d.simulator.apps(ctx, system)
}

// Foreground implements mobile.Driver.
func (d *driver) Foreground(ctx context.Context) (string, error) {
	var app struct {
		BundleID string `json:"bundleId"`
	}
	err := d.Session.Read(ctx, "read which app is in front", func(ctx context.Context) error {
		return d.Get(ctx, "/wda/activeAppInfo", &app)
	})
	return app.BundleID, err
}

// OpenURL implements mobile.Driver.
func (d *driver) OpenURL(ctx context.Context, url, app string) error {
	body := map[string]any{"url": url}
	if app != "" {
		body["bundleId"] = app
	}
	return d.post(ctx, "open "+url, "/url", body)
}

// Clipboard implements mobile.Driver.
func (d *driver) Clipboard(ctx context.Context) (string, error) {
	if d.simulator != nil {
		return d.simulator.runOn(ctx, "pbpaste")
	}
	return d.pasteboard().Read(ctx)
}

func (d *driver) pasteboard() appium.Pasteboard {
	return appium.Pasteboard{
		Get: func(ctx context.Context) (string, error) { return d.ReadClipboard(ctx, "/wda/getPasteboard") },
		Set: func(ctx context.Context, text string) error {
			return d.WriteClipboard(ctx, "/wda/setPasteboard", text)
		},
		Foreground: d.Foreground, Activate: d.activate, Runner: d.runner, Phone: d.phone,
	}
}

// activate brings an app to the front.
func (d *driver) activate(ctx context.Context, app string) error {
	return d.post(ctx, "start "+app, "/wda/apps/activate", map[string]any{"bundleId": app})
}

// SetClipboard implements mobile.Driver.
func (d *driver) SetClipboard(ctx context.Context, text string) error {
	if d.simulator != nil {
		_, err := d.simulator.run(ctx, text, "pbcopy", d.simulator.udid)
		return err
	}
	return d.pasteboard().Write(ctx, text)
}

// SetNetwork implements mobile.Driver.
func (*driver) SetNetwork(context.Context, bool) error { return appium.NoNetwork() }

// Shell implements mobile.Driver.
func (*driver) Shell(context.Context, []string) (string, error) { return "", appium.NoShell() }

// Close implements mobile.Driver. WebDriverAgent goes on; its settings are those of the session.
func (d *driver) Close(ctx context.Context) error {
	defer d.release()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.limits.close)
	defer cancel()
	if d.recorder != nil {
		d.endRecorder(ctx, *d.recorder)
	}
	d.putBackAll(closing)
	return d.delete(ctx)
}

func (d *driver) delete(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.limits.close)
	defer cancel()
	err := d.Delete(ctx)
	if e := webdriver.As(err); e != nil && e.Status == 0 {
		return nil // it has exited, which ends the session
	}
	return err
}
