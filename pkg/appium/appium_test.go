package appium_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

const (
	androidSource = `<?xml version="1.0"?><hierarchy rotation="0" width="1080" height="2400">` +
		`<android.widget.Button class="android.widget.Button" package="com.example" text="Save" bounds="[0,0][100,50]" displayed="true" enabled="true"/></hierarchy>`
	iosSource = `{"type": "Application", "rect": {"x": 0, "y": 0, "width": 390, "height": 844}, "isVisible": "1", "isEnabled": "1",` +
		`"children": [{"type": "Button", "label": "Save", "rawIdentifier": "save", "rect": {"x": 0, "y": 0, "width": 90, "height": 40}, "isVisible": "1", "isEnabled": "1"}]}`
	iosXML = `<AppiumAUT><XCUIElementTypeApplication type="XCUIElementTypeApplication" enabled="true" visible="true" x="0" y="0" width="390" height="844">` +
		`<XCUIElementTypeButton type="XCUIElementTypeButton" label="Save" enabled="true" visible="true" x="0" y="0" width="90" height="40"/></XCUIElementTypeApplication></AppiumAUT>`
	field   = `{"element-6066-11e4-a52e-4f735466cecf": "e1"}`
	text64  = "R3LDvMOfZQ==" // Grüße
	appName = "com.example"
)

var tap = mobile.Finger{Path: []screen.Point{{X: 1, Y: 2}}}

const tapCall = `POST /actions {"actions":[{"actions":[{"duration":0,"origin":"viewport","type":"pointerMove","x":1,"y":2},` +
	`{"button":0,"type":"pointerDown"},{"button":0,"type":"pointerUp"}],"id":"finger1","parameters":{"pointerType":"touch"},"type":"pointer"}]}`

// step is a use of a driver with the calls that it makes.
type step struct {
	name string
	run  func(d mobile.Driver) error
	want []string
}

func runSteps(t *testing.T, s *server, d mobile.Driver, steps []step) {
	t.Helper()
	for _, tt := range steps {
		if err := tt.run(d); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, s.take()); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", tt.name, diff)
		}
	}
}

// equal returns an error if a value is not the wanted one.
func equal(got, want any, err error) error {
	if diff := cmp.Diff(want, got); diff != "" {
		err = errors.Join(err, fmt.Errorf("(-want +got):\n%s", diff))
	}
	return err
}

// shows reports whether a screen has an element with a text.
func shows(s mobile.Screen, text string) bool {
	return slices.ContainsFunc(s.Tree.Nodes(), func(n *screen.Node) bool {
		return n.Text != nil && *n.Text == text || n.Label != nil && *n.Label == text
	})
}

func TestAndroid(t *testing.T) {
	t.Parallel()
	xml, _ := json.Marshal(androidSource)
	s := startServer(t, map[string]reply{
		"GET /source": value(string(xml)), "GET /element/active": value(field), "POST /element/e1/value": {}, "POST /element/e1/clear": {},
		"POST /actions": {}, "mobile: pressKey": {}, "mobile: isKeyboardShown": value("true"), "mobile: hideKeyboard": {}, "mobile: type": value("true"),
		"mobile: terminateApp": {}, "mobile: clearApp": {}, "mobile: activateApp": {}, "mobile: startActivity": {}, "mobile: changePermissions": {},
		"mobile: getCurrentPackage": value(`"com.example"`), "mobile: deepLink": {}, "mobile: setConnectivity": {},
		"mobile: getConnectivity": value(`{"wifi": true, "data": false}`),
		"mobile: getClipboard":    value(`"` + text64 + `"`), "mobile: setClipboard": {},
		"mobile: shell": value(`{"stdout": "package:com.example\npackage:com.example.two\n", "stderr": ""}`),
	})
	ctx := t.Context()
	d := s.open(mobile.Android)
	if diff := cmp.Diff(mobile.Info{ID: "emulator-5554", Product: "Google Pixel 7, Android 14", Width: 1080, Height: 2400}, d.Info()); diff != "" {
		t.Error(diff)
	}
	read := func(d mobile.Driver) error {
		s, err := d.Read(ctx)
		if err != nil {
			return err
		}
		return equal(shows(s, "Save"), true, nil)
	}
	runSteps(t, s, d, []step{
		{"read", read, []string{"GET /source"}},
		{"touch", func(d mobile.Driver) error { return d.Touch(ctx, tap) }, []string{tapCall}},
		{"type", func(d mobile.Driver) error { return d.Type(ctx, "aß") }, []string{`mobile: type {"text":"aß"}`}},
		{"set text that would press ENTER", func(d mobile.Driver) error { return d.SetText(ctx, `x\n`) }, []string{
			"GET /element/active", "POST /element/e1/clear", `POST /element/e1/value {"text":"x\\","value":["x","\\"]}`, `mobile: type {"text":"n"}`,
		}},
		{"set text", func(d mobile.Driver) error { return d.SetText(ctx, "x") }, []string{"GET /element/active", "POST /element/e1/clear", `POST /element/e1/value {"text":"x","value":["x"]}`}},
		{"clear text", func(d mobile.Driver) error { return d.SetText(ctx, "") }, []string{"GET /element/active", "POST /element/e1/clear"}},
		{"press", func(d mobile.Driver) error { return d.Press(ctx, mobile.Tab) }, []string{`mobile: pressKey {"keycode":61}`}},
		{"hide keyboard", func(d mobile.Driver) error { return d.HideKeyboard(ctx) }, []string{"mobile: isKeyboardShown", "mobile: hideKeyboard"}},
		{
			"launch", func(d mobile.Driver) error {
				return d.Launch(ctx, mobile.Launch{App: appName, Stop: true, Clear: true, Permissions: map[string]string{"a.B": "allow", "a.C": "deny"}})
			},
			[]string{
				`mobile: terminateApp {"appId":"com.example"}`, `mobile: clearApp {"appId":"com.example"}`,
				`mobile: changePermissions {"action":"grant","appPackage":"com.example","permissions":"a.B"}`,
				`mobile: changePermissions {"action":"revoke","appPackage":"com.example","permissions":"a.C"}`, `mobile: activateApp {"appId":"com.example"}`,
			},
		},
		{
			"launch with arguments", func(d mobile.Driver) error {
				return d.Launch(ctx, mobile.Launch{App: appName, Arguments: map[string]any{"b": true, "n": 3.0, "f": 1.5, "s": "text"}})
			},
			[]string{`mobile: startActivity {"action":"android.intent.action.MAIN","categories":"android.intent.category.LAUNCHER",` +
				`"extras":[["z","b","true"],["f","f","1.5"],["i","n","3"],["s","s","text"]],"package":"com.example"}`},
		},
		{"grant", func(d mobile.Driver) error { return d.Grant(ctx, appName, []string{"a.B"}) }, []string{`mobile: changePermissions {"action":"grant","appPackage":"com.example","permissions":"a.B"}`}},
		{"foreground", func(d mobile.Driver) error { app, err := d.Foreground(ctx); return equal(app, appName, err) }, []string{"mobile: getCurrentPackage"}},
		{"open URL", func(d mobile.Driver) error { return d.OpenURL(ctx, "shop://x", "") }, []string{`mobile: deepLink {"url":"shop://x"}`}},
		{"apps", func(d mobile.Driver) error {
			apps, err := d.Apps(ctx, false)
			return equal(apps, []string{appName, "com.example.two"}, err)
		}, []string{`mobile: shell {"args":["'list'","'packages'","'-3'"],"command":"'pm'","includeStderr":true}`}},
		{"shell", func(d mobile.Driver) error { _, err := d.Shell(ctx, []string{"echo", "it's"}); return err }, []string{`mobile: shell {"args":["'it'\\''s'"],"command":"'echo'","includeStderr":true}`}},
		{"clipboard", func(d mobile.Driver) error { text, err := d.Clipboard(ctx); return equal(text, "Grüße", err) }, []string{"mobile: getClipboard"}},
		{"set clipboard", func(d mobile.Driver) error { return d.SetClipboard(ctx, "Grüße") }, []string{`mobile: setClipboard {"content":"` + text64 + `","contentType":"plaintext"}`}},
		{
			"network", func(d mobile.Driver) error { return errors.Join(d.SetNetwork(ctx, true), d.SetNetwork(ctx, false)) },
			[]string{
				`mobile: getConnectivity {"services":["wifi","data"]}`, `mobile: setConnectivity {"data":true,"wifi":true}`,
				`mobile: setConnectivity {"data":false,"wifi":false}`,
			},
		},
		{"close", func(d mobile.Driver) error { return d.Close(ctx) }, []string{`mobile: setConnectivity {"data":false,"wifi":true}`, "DELETE "}},
	})
}

func TestIOS(t *testing.T) {
	t.Parallel()
	xml, _ := json.Marshal(iosXML)
	s := startServer(t, map[string]reply{
		"POST /session":    value(`{"sessionId": "s1", "capabilities": {"deviceName": "iPhone 15", "platformVersion": "17.4", "udid": "U-1"}}`),
		"GET /window/rect": value(`{"x": 0, "y": 0, "width": 390, "height": 844}`),
		"mobile: source":   value(iosSource), "GET /source": value(string(xml)), "GET /element/active": value(field), "POST /element/e1/value": {},
		"POST /actions": {}, "mobile: pressButton": {}, "mobile: terminateApp": {}, "mobile: clearApp": {}, "mobile: launchApp": {}, "mobile: setPermission": {},
		"mobile: activeAppInfo": value(`{"bundleId": "com.example"}`), "mobile: deepLink": {}, "mobile: listApps": value(`{"com.example": {}}`),
	})
	ctx := t.Context()
	d := s.open(mobile.IOS)
	if diff := cmp.Diff(mobile.Info{ID: "U-1", Product: "iPhone 15, iOS 17.4", Width: 390, Height: 844}, d.Info()); diff != "" {
		t.Error(diff)
	}
	read := func(d mobile.Driver) error {
		s, err := d.Read(ctx)
		if err != nil {
			return err
		}
		return equal(shows(s, "Save"), true, nil)
	}
	const readJSON = `mobile: source {"excludedAttributes":"` + appium.UnusedAttributes + `","format":"json"}`
	const back = `POST /actions {"actions":[{"actions":[{"duration":0,"origin":"viewport","type":"pointerMove","x":1,"y":422},{"button":0,"type":"pointerDown"},` +
		`{"duration":300,"origin":"viewport","type":"pointerMove","x":292,"y":422},{"button":0,"type":"pointerUp"}],"id":"finger1","parameters":{"pointerType":"touch"},"type":"pointer"}]}`
	runSteps(t, s, d, []step{
		{"read", read, []string{readJSON}},
		{"enter", func(d mobile.Driver) error { return d.Press(ctx, mobile.Enter) }, []string{"GET /element/active", `POST /element/e1/value {"text":"\n","value":["\n"]}`}},
		{"home", func(d mobile.Driver) error { return d.Press(ctx, mobile.Home) }, []string{`mobile: pressButton {"name":"home"}`}},
		{"back", func(d mobile.Driver) error { return d.Press(ctx, mobile.Back) }, []string{back}},
		{"hide keyboard that is not shown", func(d mobile.Driver) error { return d.HideKeyboard(ctx) }, []string{readJSON}},
		{
			"launch", func(d mobile.Driver) error {
				return d.Launch(ctx, mobile.Launch{App: appName, Stop: true, Clear: true, Permissions: map[string]string{"camera": "allow", "media-library": "deny"}, Arguments: map[string]any{"mode": "x"}})
			},
			[]string{
				`mobile: terminateApp {"bundleId":"com.example"}`, `mobile: clearApp {"bundleId":"com.example"}`,
				`mobile: setPermission {"access":{"camera":"yes","medialibrary":"no"},"bundleId":"com.example"}`,
				`mobile: launchApp {"arguments":["-mode","x"],"bundleId":"com.example"}`,
			},
		},
		{"foreground", func(d mobile.Driver) error { app, err := d.Foreground(ctx); return equal(app, appName, err) }, []string{"mobile: activeAppInfo"}},
		{"open URL", func(d mobile.Driver) error { return d.OpenURL(ctx, "shop://x", appName) }, []string{`mobile: deepLink {"bundleId":"com.example","url":"shop://x"}`}},
		{"apps", func(d mobile.Driver) error {
			apps, err := d.Apps(ctx, true)
			return equal(apps, []string{appName, appName}, err)
		}, []string{`mobile: listApps {"applicationType":"User"}`, `mobile: listApps {"applicationType":"System"}`}},
	})
	s.set("mobile: source", failure(405, "unknown method", "Method is not implemented"))
	runSteps(t, s, d, []step{
		{"read as XML", read, []string{readJSON, "GET /source"}},
		{"read as XML again", read, []string{"GET /source"}},
	})
	if !strings.Contains(s.logs(), "the screen is read as XML") {
		t.Errorf("log: %s", s.logs())
	}
}

func TestStartFailuresAreNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		reply      reply
		want, hint string
	}{
		{
			"wrong key",
			reply{status: 401, body: "Unauthorized: " + testUser + " " + testKey},
			"URL refuses user and key (HTTP 401): Unauthorized: *** ***",
			"check those in the URL",
		},
		{"wrong key in JSON", failure(401, "unauthorized", "Invalid username or password"), "URL refuses user and key (HTTP 401): Invalid username or password", ""},
		{
			"queue", failure(500, "session not created", "[BROWSERSTACK_QUEUE_SIZE_EXCEEDED] All parallel tests are currently in use, including the queued tests"),
			"URL has no free device: [BROWSERSTACK_QUEUE_SIZE_EXCEEDED] All parallel tests are currently in use, including the queued tests", "wait until one is free",
		},
		{
			"capabilities", failure(500, "session not created", "Invalid device: 'Pixel 99' with accessKey "+testKey),
			"URL refused the session: Invalid device: 'Pixel 99' with accessKey ***", "check device: {capabilities: …}",
		},
		{
			"driver", failure(500, "session not created", "Could not find a driver for automationName 'UiAutomator2' and platformName 'Android'."),
			"URL lacks the driver for the device: Could not find a driver for automationName 'UiAutomator2' and platformName 'Android'.",
			"npx appium driver install uiautomator2",
		},
		{"gateway", reply{status: 502, body: "<html><title>502 Bad Gateway</title>"}, "URL did not start a session: POST /session: HTTP 502: 502 Bad Gateway", ""},
		{"another program", reply{status: 404, body: "<h1>Not Found</h1>"}, "URL is not an Appium server: Not Found", "/wd/hub"},
		{"lost", reply{cut: true}, "URL did not start a session: POST /session: URL closed the connection without a complete response", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, map[string]reply{"POST /session": tt.reply})
			o := s.options(mobile.Android)
			o.Capabilities = map[string]any{"bstack:options": map[string]any{"userName": testUser, "accessKey": testKey}}
			_, err := appium.Open(t.Context(), o)
			e := fault.As(err)
			if e == nil || e.Kind != fault.Device || e.Message != strings.ReplaceAll(tt.want, "URL", s.URL) || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("got %v\nhint %s\nwant %s", err, e.Hint, tt.want)
			}
			checkNoSecrets(t, fmt.Sprintf("%+v %v", err, e.Hint))
			if n := len(s.take()); n != 1 && tt.name != "another program" {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestQueueIsLimited(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	blocked := make(chan struct{})
	var received atomic.Bool
	s.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		received.Store(true)
		<-blocked
	})
	t.Cleanup(func() { close(blocked) })
	o := s.options(mobile.Android)
	o.Limits.Start = 20 * time.Millisecond
	_, err := appium.Open(t.Context(), o)
	for !received.Load() { // the machine was too busy to connect in time
		o.Limits.Start *= 4
		_, err = appium.Open(t.Context(), o)
	}
	e := fault.As(err)
	if e == nil || e.Message != s.URL+" did not start a session within "+o.Limits.Start.String() || !strings.Contains(e.Hint, "appiumStartTimeout") {
		t.Errorf("got %v", err)
	}
	checkNoSecrets(t, fmt.Sprintf("%+v", err))
}

func TestServerThatDoesNotRun(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.Close()
	_, err := appium.Open(t.Context(), s.options(mobile.Android))
	e := fault.As(err)
	if e == nil || !strings.HasPrefix(e.Message, "the Appium server cannot be reached: "+s.URL+": ") || !strings.Contains(e.Hint, "npx appium") {
		t.Errorf("got %v", err)
	}
	if _, err := appium.Check(t.Context(), s.options(mobile.Android)); err == nil {
		t.Error("the check passed")
	}
}

func TestURLWithAndWithoutBasePath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ base, given string }{{"/wd/hub", ""}, {"", "/wd/hub"}, {"/wd/hub", "/wd/hub/"}} {
		s := startServer(t, map[string]reply{"GET /status": value(`{"ready": true, "build": {"version": "3.8.0"}}`)})
		o := s.options(mobile.Android)
		s.base = tt.base
		o.URL += tt.given
		d, err := appium.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
		noted := strings.Contains(s.logs(), "the Appium server responds at "+s.URL+tt.base)
		if wanted := strings.Trim(tt.base, "/") != strings.Trim(tt.given, "/"); noted != wanted {
			t.Errorf("%+v: log: %s", tt, s.logs())
		}
		if detail, err := appium.Check(t.Context(), o); err != nil || !strings.HasPrefix(detail, "Appium 3.8.0 at "+s.URL) {
			t.Errorf("%+v: check: %q %v", tt, detail, err)
		}
	}
}

func TestErrorsOfCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		reply       reply
		unconfirmed bool
		kind        fault.Kind
		want        string
	}{
		{"refused by the server", failure(400, "invalid argument", "out of bounds"), false, fault.ToolFailed, "touch the screen: POST /actions: invalid argument: out of bounds"},
		{"lost", reply{cut: true}, true, "", ""},
		{"gateway", reply{status: 504, body: "<title>Gateway Timeout</title>"}, true, "", ""},
		{"lost between the server and the phone", failure(500, "unknown error", "Could not proxy command to the remote server. Original error: socket hang up"), true, "", ""},
		{"not sent to the phone", failure(500, "unknown error", "Could not proxy command to the remote server. Original error: connect ECONNREFUSED"), false, fault.Crashed, ""},
		{
			"ended", failure(404, "invalid session id", "A session is either terminated or not started"), false, fault.Crashed,
			"the session of the Appium server at URL has ended: A session is either terminated or not started",
		},
		{
			"server on the phone crashed", failure(500, "unknown error", "'POST /actions' cannot be proxied to UiAutomator2 server because the instrumentation process is not running (probably crashed)"),
			false, fault.Crashed, "the session of the Appium server at URL has ended: 'POST /actions' cannot be proxied to UiAutomator2 server because the instrumentation process is not running (probably crashed)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, map[string]reply{"POST /actions": tt.reply})
			err := s.open(mobile.Android).Touch(t.Context(), tap)
			_, unconfirmed := errors.AsType[*act.UnconfirmedError](err)
			if unconfirmed != tt.unconfirmed {
				t.Errorf("got %v", err)
			}
			e := fault.As(err)
			if !tt.unconfirmed && (e == nil || e.Kind != tt.kind || tt.want != "" && e.Message != strings.ReplaceAll(tt.want, "URL", s.URL)) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if calls := slices.DeleteFunc(s.take(), func(call string) bool { return call == "GET /status" }); len(calls) != 1 {
				t.Errorf("%q", calls)
			}
		})
	}
}

func TestServerThatExitsDuringACall(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(d mobile.Driver) error{
		"that reads": func(d mobile.Driver) error { _, err := d.Screenshot(t.Context()); return err },
		"that acts":  func(d mobile.Driver) error { return d.Touch(t.Context(), tap) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exit := reply{cut: true, exit: true}
			s := startServer(t, map[string]reply{"POST /actions": exit, "GET /screenshot": exit})
			d, err := appium.Open(t.Context(), s.options(mobile.Android))
			if err != nil {
				t.Fatal(err)
			}
			err = call(d)
			want := "the Appium server at " + s.URL + " cannot be reached any more: "
			if e := fault.As(err); e == nil || e.Kind != fault.Crashed || !strings.HasPrefix(e.Message, want) {
				t.Errorf("got %v, want %s", err, want)
			}
			if _, unconfirmed := errors.AsType[*act.UnconfirmedError](err); unconfirmed != (name == "that acts") {
				t.Errorf("got %#v", err)
			}
			_ = d.Close(context.WithoutCancel(t.Context())) // the server is gone
		})
	}
}

func TestWhatAServerRefusesIsNamed(t *testing.T) {
	t.Parallel()
	const insecure = "Potentially insecure feature 'adb_shell' has not been enabled. If you want to enable this feature and accept the security ramifications, please do so by following the documented instructions"
	s := startServer(t, map[string]reply{
		"mobile: shell":             failure(500, "unknown error", insecure),
		"mobile: listApps":          value(`{"b": {}, "a": {}}`),
		"mobile: changePermissions": failure(500, "unknown error", "Package com.example has not requested permission a.B"),
		"mobile: clearApp":          failure(405, "unknown method", "Method has not yet been implemented"),
	})
	ctx := t.Context()
	d := s.open(mobile.Android)
	_, err := d.Shell(ctx, []string{"ls"})
	e := fault.As(err)
	if e == nil || e.Message != "the Appium server at "+s.URL+" refuses mobile: shell: "+insecure || !strings.Contains(e.Hint, "--allow-insecure uiautomator2:adb_shell") {
		t.Errorf("got %v", err)
	}
	if _, err := d.Apps(ctx, false); err == nil {
		t.Error("the apps of the user were listed without a shell")
	}
	if apps, err := d.Apps(ctx, true); err != nil || !slices.Equal(apps, []string{"a", "b"}) {
		t.Errorf("apps: %v %v", apps, err)
	}
	if err := d.Grant(ctx, appName, []string{"a.B"}); err != nil {
		t.Errorf("a permission that the app does not request: %v", err)
	}
	if err := d.Clear(ctx, appName); err == nil || !strings.Contains(err.Error(), "refuses mobile: clearApp") {
		t.Errorf("got %v", err)
	}
	s.set("mobile: changePermissions", failure(405, "unknown method", "Method has not yet been implemented"))
	s.set("mobile: activateApp", reply{})
	all := mobile.Launch{App: appName, Permissions: map[string]string{"all": "allow"}}
	if err := d.Launch(ctx, all); err != nil || !strings.Contains(s.logs(), "the permissions of com.example were not set") {
		t.Errorf("all permissions: %v; logged %s", err, s.logs())
	}
	all.Permissions = map[string]string{"all": "deny"}
	if err := d.Launch(ctx, all); err == nil {
		t.Error("permissions that were to be taken away were not, and the app was started")
	}
	if app, err := d.Foreground(ctx); err != nil || app != "" {
		t.Errorf("foreground: %q %v", app, err)
	}
	if err := d.Type(ctx, "x"); err == nil {
		t.Error("text was typed without a field")
	}
}

func TestCapabilitiesAndOutcomeOfClouds(t *testing.T) {
	t.Parallel()
	const common = `"appium:automationName":"UiAutomator2","appium:disableSuppressAccessibilityService":true,"appium:newCommandTimeout":300`
	for _, tt := range []struct {
		name, given, want, outcome string
	}{
		{"no cloud", `{"appium:udid": "x", "platformVersion": 14}`, `{"alwaysMatch":{` + common + `,"appium:platformVersion":14,"appium:udid":"x","platformName":"Android"},"firstMatch":[{}]}`, ""},
		{
			"BrowserStack", `{"bstack:options": {"buildName": "b"}, "app": "bs://1"}`,
			`{"alwaysMatch":{"appium:app":"bs://1",` + common + `,"bstack:options":{"buildName":"b","sessionName":"Sign in"},"platformName":"Android"},"firstMatch":[{}]}`,
			`browserstack_executor: {"action":"setSessionStatus","arguments":{"reason":"it broke","status":"failed"}}`,
		},
		{
			"Sauce Labs", `{"sauce:options": {"name": "own"}, "newCommandTimeout": 90}`,
			`{"alwaysMatch":{` + strings.Replace(common, "300", "90", 1) + `,"platformName":"Android","sauce:options":{"name":"own"}},"firstMatch":[{}]}`, "sauce:job-result=false",
		},
		{
			"LambdaTest", `{"lt:options": {}}`, `{"alwaysMatch":{` + common + `,"lt:options":{"name":"Sign in"},"platformName":"Android"},"firstMatch":[{}]}`, "lambda-status=failed",
		},
		{
			"W3C", `{"alwaysMatch": {"app": "x"}, "firstMatch": [{"appium:automationName": "Espresso"}, {}]}`,
			`{"alwaysMatch":{"appium:app":"x","appium:disableSuppressAccessibilityService":true,"appium:newCommandTimeout":300,"platformName":"Android"},` +
				`"firstMatch":[{"appium:automationName":"Espresso"},{}]}`, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, map[string]reply{tt.outcome: {}})
			o := s.options(mobile.Android)
			o.Name, o.Outcome = "Sign in", func() *device.Outcome { return &device.Outcome{Reason: "it broke"} }
			if err := json.Unmarshal([]byte(tt.given), &o.Capabilities); err != nil {
				t.Fatal(err)
			}
			d, err := appium.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := s.take()[0], `POST /session {"capabilities":`+tt.want+"}"; got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			if err := d.Close(t.Context()); err != nil {
				t.Error(err)
			}
			want := []string{tt.outcome, "DELETE "}
			if tt.outcome == "" {
				want = want[1:]
			}
			if diff := cmp.Diff(want, s.take()); diff != "" {
				t.Errorf("calls of Close (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"appiumUrl": "https://" + testUser + ":" + testKey + "@hub.example/wd/hub", "appiumStartTimeout": "90s", "app": "/x.apk",
		"wdaUrl": "http://u-3:k-3@127.0.0.1:8100",
		"capabilities": `{"deviceName": "iPad Pro", "lt:options": {"username": "u-2", "accessKey": "k-2"}, "firstMatch": [{"token": "t-2"}],
			"appium:app": "https://u-4:k-4@files.example/x.ipa", "keychainPassword": "p-2", "otherApps": ["https://files.example/y.ipa"]}`,
	}
	o, err := appium.ReadOptions(values, mobile.IOS)
	if err != nil || o.Limits.Start != 90*time.Second || o.App != "/x.apk" || o.Capabilities["deviceName"] != "iPad Pro" {
		t.Errorf("%+v %v", o, err)
	}
	want := map[string]string{
		"appiumUrl user": testUser, "appiumUrl key": testKey, "lt:options.username": "u-2", "lt:options.accessKey": "k-2", "firstMatch[0].token": "t-2",
		"wdaUrl user": "u-3", "wdaUrl key": "k-3", "appium:app user": "u-4", "appium:app key": "k-4", "keychainPassword": "p-2",
	}
	if diff := cmp.Diff(want, appium.Secrets(values)); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	o.Capabilities = map[string]any{"appium:deviceName": "iPad Pro"}
	if !o.Tablet() {
		t.Error("an iPad is not a tablet")
	}
	for key, value := range map[string]string{
		"appiumUrl": testUser + ":" + testKey + "@hub", "capabilities": `{"accessKey": "` + testKey + `"`, "appiumStartTimeout": "2h",
	} {
		_, err := appium.ReadOptions(map[string]string{key: value}, mobile.IOS)
		if e := fault.As(err); e == nil || e.Kind != fault.Misuse || !strings.HasPrefix(e.Message, key+": ") {
			t.Errorf("%s: %v", key, err)
		}
		checkNoSecrets(t, fmt.Sprint(err))
	}
}
