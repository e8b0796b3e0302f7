package phones_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startAndroid starts a phone that knows everything that the test does with it.
func startAndroid(t *testing.T, o phones.AndroidOptions) *phones.Android {
	t.Helper()
	p, err := phones.StartAndroid(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if unknown := append(p.UnknownCommands(), p.UnknownRoutes()...); len(unknown) > 0 {
			t.Errorf("unknown: %q", unknown)
		}
	})
	return p
}

// shell runs a command, and returns its stdout, stderr and exit status.
func shell(t *testing.T, p *phones.Android, command string) (stdout, stderr string, status int) {
	t.Helper()
	var out, problems bytes.Buffer
	status = p.Shell(t.Context(), command, strings.NewReader(""), &out, &problems)
	return out.String(), problems.String(), status
}

// webDriver is a client of a WebDriver server.
type webDriver struct {
	t            *testing.T
	client       *http.Client
	url, session string
}

// startServer starts the server and a session. `am instrument` ends with the test.
func startServer(t *testing.T, p *phones.Android) *webDriver {
	t.Helper()
	output, writer := io.Pipe()
	var wait sync.WaitGroup
	wait.Go(func() {
		p.Shell(t.Context(), "am instrument -w -r io.appium.uiautomator2.server.test/androidx.test.runner.AndroidJUnitRunner",
			strings.NewReader(""), writer, writer)
		_ = writer.Close()
	})
	first := make([]byte, 1)
	if _, err := output.Read(first); err != nil {
		t.Fatal(err)
	}
	wait.Go(func() { _, _ = io.Copy(io.Discard, output) })
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return p.Dial(ctx, "tcp:6790")
	}}
	s := &webDriver{t: t, client: &http.Client{Transport: transport}, url: "http://phone"}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		p.StopServer()
		wait.Wait()
	})
	s.start(map[string]any{})
	return s
}

// start starts a session.
func (s *webDriver) start(capabilities map[string]any) {
	s.t.Helper()
	answer := s.call("POST", "/session", map[string]any{"capabilities": map[string]any{"firstMatch": []any{capabilities}}})
	s.session = "/session/" + answer.(map[string]any)["sessionId"].(string)
}

// try sends a request and returns its value and status.
func (s *webDriver) try(method, path string, body any) (any, int, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, 0, err
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(data))
	if err != nil {
		return nil, 0, err
	}
	response, err := s.client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	var answer struct{ Value any }
	err = json.NewDecoder(response.Body).Decode(&answer)
	return answer.Value, response.StatusCode, err
}

func (s *webDriver) call(method, path string, body any) any {
	s.t.Helper()
	value, status, err := s.try(method, path, body)
	if err != nil || status != http.StatusOK {
		s.t.Fatalf("%s %s: %v %d %v", method, path, value, status, err)
	}
	return value
}

func (s *webDriver) set(name string, value any) {
	s.call("POST", s.session+"/appium/settings", map[string]any{"settings": map[string]any{name: value}})
}

// tap is the body of a tap at a point.
func tap(p screen.Point) map[string]any { return drag(p) }

// drag moves a finger from point to point.
func drag(path ...screen.Point) map[string]any {
	var steps []any
	for i, p := range path {
		steps = append(steps, map[string]any{"type": "pointerMove", "duration": 50 * min(i, 1), "x": p.X, "y": p.Y})
		if i == 0 {
			steps = append(steps, map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pause", "duration": 50})
		}
	}
	return map[string]any{"actions": []any{map[string]any{
		"type": "pointer", "id": "finger1", "parameters": map[string]any{"pointerType": "touch"},
		"actions": append(steps, map[string]any{"type": "pointerUp", "button": 0}),
	}}}
}

// tap taps in the middle of the screen.
func (s *webDriver) tap(y int) { s.call("POST", s.session+"/actions", tap(screen.Point{X: 540, Y: y})) }

func TestServerWaitsUntilIdle(t *testing.T) {
	t.Parallel()
	p := startAndroid(t, phones.AndroidOptions{Server: "10.6.6"})
	s := startServer(t, p)
	s.tap(1200)
	s.call("GET", s.session+"/source", nil)
	if since := time.Since(p.App.LastEvent()); since < 500*time.Millisecond {
		t.Errorf("the screen was read %s after a touch", since)
	}
}

func TestSignInThroughTheServer(t *testing.T) {
	t.Parallel()
	p := startAndroid(t, phones.AndroidOptions{Server: "10.6.6"})
	if out, _, status := shell(t, p, "am start -W -n com.example.shop/.MainActivity"); status != 0 || !strings.Contains(out, "Status: ok") {
		t.Fatalf("am start: %q", out)
	}
	s := startServer(t, p)
	s.tap(620)
	s.call("POST", s.session+"/element/active/value", map[string]any{"text": app.Email, "replace": true})
	s.tap(860)
	s.call("POST", s.session+"/keys", map[string]any{"text": app.Password})
	s.tap(1880) // the keyboard covers the button
	if p.App.SignedIn() || p.App.WrongTouches() != 1 {
		t.Fatal("a touch went through the keyboard")
	}
	s.call("POST", s.session+"/back", map[string]any{})
	s.tap(1880)
	if !p.App.SignedIn() {
		t.Fatalf("not signed in: %v", s.call("GET", s.session+"/source", nil))
	}
	source := s.call("GET", s.session+"/source", nil).(string)
	if !strings.Contains(source, `package="com.android.permissioncontroller"`) || strings.Contains(source, "com.example.shop:id") {
		t.Errorf("the prompt is not the active window: %s", source)
	}
	s.set("enableMultiWindows", true)
	source = s.call("GET", s.session+"/source", nil).(string)
	if !strings.Contains(source, "com.example.shop:id/row") || strings.Contains(source, "Order 1141") {
		t.Errorf("windows below the prompt, visible rows only: %s", source)
	}
	s.tap(1440)
	if !p.App.Permissions(app.ShopID)[app.Notifications] {
		t.Error("the permission was not given")
	}
	if touches := p.App.Touches(); len(touches) != 5 || touches[4].Target != "permission_allow_button" {
		t.Errorf("touches: %+v", touches)
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	p := startAndroid(t, phones.AndroidOptions{})
	for command, want := range map[string]string{
		`echo "a  b" 'c"d' e\ f`:                                                              "a  b c\"d e f\n",
		"(cat /missing\n) </dev/null 2>&1; echo end$?":                                        "cat: /missing: No such file or directory\nend1\n",
		"echo one > /sdcard/f && cat /sdcard/f":                                               "one\n",
		"cat /sdcard/none 2>/dev/null || echo none":                                           "none\n",
		"pm list packages | grep shop":                                                        "package:com.example.shop\n",
		"[ -e '/data/local/tmp' ] && echo folder":                                             "folder\n",
		"getprop ro.build.version.sdk":                                                        "34\n",
		"mkdir /sdcard/d && mkdir /sdcard/d 2>&1; echo $?; mkdir -p /sdcard/d; echo $?":       "mkdir: '/sdcard/d': File exists\n1\n0\n",
		"mkdir /sdcard/x/y 2>&1; mkdir -p /sdcard/x/y && [ -d /sdcard/x/y ] && echo made":     "mkdir: '/sdcard/x/y': No such file or directory\nmade\n",
		"echo a >/sdcard/g; echo b >>/sdcard/g; cat /sdcard/g":                                "a\nb\n",
		"(echo a >/none/f) 2>&1; echo $?":                                                     "/system/bin/sh: can't create /none/f: No such file or directory\n1\n",
		"(cat </none) 2>&1 || echo failed":                                                    "/system/bin/sh: can't open /none: No such file or directory\nfailed\n",
		"echo a >/sdcard/h; cat /none 2>/dev/null >/sdcard/h; [ -s /sdcard/h ] || echo empty": "empty\n",
		"cat /sdcard 2>&1":                                                                    "cat: read: Is a directory\n",
	} {
		if out, problems, _ := shell(t, p, command); out != want || problems != "" {
			t.Errorf("%s: %q %q", command, out, problems)
		}
	}
}

func TestCommandsForApps(t *testing.T) {
	t.Parallel()
	p := startAndroid(t, phones.AndroidOptions{})
	p.App.Show(app.Order)
	p.App.Touch(app.Finger{Path: []screen.Point{{X: 540, Y: 960}}})
	for _, c := range []struct{ command, want string }{
		{"dumpsys input_method", "touchableRegion=SkRegion((0,1428,1080,2328))"},
		{"dumpsys activity activities", "topResumedActivity=ActivityRecord{4d5e6f u0 com.example.shop/.MainActivity t15}"},
		{"am start -n com.example.shop/.None 2>&1", "Error type 3\nError: Activity class {com.example.shop/.None} does not exist."},
		{"am start -W -a android.intent.action.VIEW -d other://x", "Error: Activity not started, unable to resolve Intent"},
		{"am start -W -a android.intent.action.VIEW -d shop://orders/1147", "LaunchState: HOT"},
		{"pm grant com.example.shop android.permission.CAMERA && dumpsys package com.example.shop", "CAMERA: granted=true"},
		{"pm grant com.example.shop android.permission.NFC 2>&1", "has not requested permission"},
		{"pm clear com.example.none", "Failed"},
		{"cmd package resolve-activity --brief com.example.shop", "com.example.shop/.MainActivity"},
		{"settings put global a b; settings get global a; settings delete global a; settings get global a", "b\nDeleted 1 rows\nnull\n"},
		{"cmd connectivity airplane-mode enable && cmd connectivity airplane-mode", "enabled"},
	} {
		if out, _, _ := shell(t, p, c.command); !strings.Contains(out, c.want) {
			t.Errorf("%s: %q lacks %q", c.command, out, c.want)
		}
	}
	if p.App.Connected() || !p.App.Permissions(app.ShopID)["android.permission.CAMERA"] {
		t.Error("the phone is connected, or the app may not use the camera")
	}
}

func TestInstallsAPKs(t *testing.T) {
	t.Parallel()
	p := startAndroid(t, phones.AndroidOptions{})
	install := func(code int) string {
		p.Files().Write("/data/local/tmp/a.apk", phones.APK("com.example.other", code, "1.5"), 0o644, time.Now())
		out, _, _ := shell(t, p, "pm install -r -t /data/local/tmp/a.apk")
		return out
	}
	if out := install(7); out != "Success\n" {
		t.Errorf("install: %q", out)
	}
	if out, _, _ := shell(t, p, "dumpsys package com.example.other"); !strings.Contains(out, "versionCode=7 ") {
		t.Errorf("dumpsys: %q", out)
	}
	if out := install(6); !strings.Contains(out, "INSTALL_FAILED_VERSION_DOWNGRADE") {
		t.Errorf("install: %q", out)
	}
	p.Files().Write("/data/local/tmp/a.apk", []byte("no APK"), 0o644, time.Now())
	if out, _, status := shell(t, p, "pm install /data/local/tmp/a.apk"); status != 1 || !strings.Contains(out, "Failure [") {
		t.Errorf("install: %q", out)
	}
}

func TestOneProgramHoldsUIAutomation(t *testing.T) {
	t.Parallel()
	p := startAndroid(t, phones.AndroidOptions{Server: "10.6.6"})
	p.HoldUIAutomation("dev.mobile.maestro.test")
	out, _, _ := shell(t, p, "am instrument -w io.appium.uiautomator2.server.test/androidx.test.runner.AndroidJUnitRunner")
	if !strings.Contains(out, "already registered!") || p.ServerRunning() {
		t.Errorf("instrument: %q", out)
	}
	if out, _, _ := shell(t, p, "dumpsys activity processes"); !strings.Contains(out, "mClass=ComponentInfo{dev.mobile.maestro.test/") {
		t.Errorf("processes: %q", out)
	}
	p.HoldUIAutomation("")
	startServer(t, p)
	if _, problems, _ := shell(t, p, "uiautomator dump"); !strings.Contains(problems, "already registered!") {
		t.Errorf("dump: %q", problems)
	}
	if _, _, status := shell(t, p, "am force-stop io.appium.uiautomator2.server"); status != 0 || p.ServerRunning() {
		t.Error("the server runs")
	}
}

func TestUnknownThings(t *testing.T) {
	t.Parallel()
	p, err := phones.StartAndroid(t.Context(), phones.AndroidOptions{Server: "10.6.6"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, problems, status := shell(t, p, "foo --bar 2>&1; echo $?")
	if out != "/system/bin/sh: foo: inaccessible or not found\n127\n" || problems != "" || status != 0 {
		t.Errorf("%q %q %d", out, problems, status)
	}
	s := startServer(t, p)
	value, code, err := s.try("GET", s.session+"/window/rect", nil)
	if err != nil || code != http.StatusNotFound || value.(map[string]any)["error"] != "unknown command" {
		t.Errorf("%v %d %v", value, code, err)
	}
	value, code, _ = s.try("GET", "/session/other/source", nil)
	if code != http.StatusNotFound || value.(map[string]any)["error"] != "invalid session id" {
		t.Errorf("%v %d", value, code)
	}
	if fmt.Sprint(p.UnknownCommands()) != "[foo --bar]" || len(p.UnknownRoutes()) != 1 {
		t.Errorf("%q %q", p.UnknownCommands(), p.UnknownRoutes())
	}
}

func TestServerEndsOnTouch(t *testing.T) {
	t.Parallel()
	p := startAndroid(t, phones.AndroidOptions{Server: "10.6.6"})
	p.App.Show(app.Animation)
	s := startServer(t, p)
	p.CrashOnTouch()
	p.App.StopMoving(0)
	if _, _, err := s.try("POST", s.session+"/actions", tap(screen.Point{X: 200, Y: 960})); err == nil {
		t.Error("the touch was answered")
	}
	if requests := p.Requests(); p.ServerRunning() || requests[len(requests)-1] != "POST "+s.session+"/actions" {
		t.Errorf("the server runs: %v, requests: %q", p.ServerRunning(), requests)
	}
	if touches := p.App.Touches(); len(touches) != 1 || touches[0].Target != "continue" {
		t.Errorf("touches: %+v", touches)
	}
}

func TestDumpNeedsAnIdleScreen(t *testing.T) {
	t.Parallel()
	p := startAndroid(t, phones.AndroidOptions{IdleLimit: 20 * time.Millisecond})
	p.App.Show(app.Animation)
	for _, option := range []string{"", "--compressed "} {
		if _, problems, _ := shell(t, p, "uiautomator dump "+option+"/dev/tty"); problems != "ERROR: could not get idle state.\n" {
			t.Errorf("%q", problems)
		}
	}
	p.App.StopMoving(0)
	out, _, _ := shell(t, p, "uiautomator dump && cat /sdcard/window_dump.xml")
	if !strings.HasPrefix(out, "UI hierchary dumped to: /sdcard/window_dump.xml\n<?xml") {
		t.Errorf("%q", out)
	}
}

func TestScreenshots(t *testing.T) {
	t.Parallel()
	p := startAndroid(t, phones.AndroidOptions{})
	for _, name := range []string{app.Orders, app.Secure} {
		p.App.Show(name)
		out, _, _ := shell(t, p, "screencap -p")
		picture, err := png.Decode(strings.NewReader(out))
		if err != nil || picture.Bounds().Dx() != 1080 || picture.Bounds().Dy() != 2400 {
			t.Fatalf("%s: %v", name, err)
		}
		if r, _, _, _ := picture.At(5, 5).RGBA(); (r == 0) != (name == app.Secure) {
			t.Errorf("%s is black: %v", name, r == 0)
		}
	}
}
