//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/screen"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// appiumHome is where `make deps-appium` installs Appium, its drivers and mobilecli.
const appiumHome = "../testdata/phones/appium"

// needAppium skips a test in short runs. In others, Appium must be installed.
func needAppium(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("make test-race runs the programs that others wrote against the simulated phones")
	}
	home, err := filepath.Abs(appiumHome)
	if err == nil {
		_, err = os.Stat(filepath.Join(home, "node_modules", "appium", "index.js"))
	}
	if err != nil {
		t.Fatalf("Appium is not installed (%v); run make deps-appium", err)
	}
	return home
}

// startADB starts a server of the real adb program that is connected to a simulated phone.
func startADB(t *testing.T, p *simulated.Android) *adbserver.Server {
	t.Helper()
	server, err := adbserver.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	if err := server.Connect(t.Context(), p.Addr()); err != nil {
		t.Fatal(err)
	}
	return server
}

// startPhone starts a simulated Android phone. The test fails if a program uses something that the phone does not know.
func startPhone(t *testing.T, o simulated.AndroidOptions) *simulated.Android {
	t.Helper()
	p, err := simulated.StartAndroid(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if unknown := append(p.UnknownCommands(), p.UnknownRoutes()...); len(unknown) > 0 {
			t.Errorf("the simulated phone does not know %q", unknown)
		}
	})
	return p
}

// appium is a session of a real Appium server.
type appium struct {
	t       *testing.T
	url     string
	session string
}

// startAppium starts an Appium server that loads one of its drivers, with an environment. With several, each server has
// the routes of all of them, which a real one with one driver does not have.
func startAppium(t *testing.T, home, driver string, env ...string) *appium {
	t.Helper()
	port := freePort(t)
	folder := t.TempDir()
	command := exec.Command("node", "node_modules/appium/index.js", "server", "--address", "127.0.0.1", "--port", port,
		"--log-no-colors", "--use-drivers", driver, "--allow-insecure", "uiautomator2:adb_shell")
	command.Dir = home
	command.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "APPIUM_HOME=" + home,
	}, env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var log bytes.Buffer
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		<-ended
		if t.Failed() {
			t.Logf("Appium wrote:\n%s", log.Bytes()[max(0, log.Len()-20000):])
		}
	})
	a := &appium{t: t, url: "http://127.0.0.1:" + port}
	await(func() bool {
		select {
		case <-ended:
			return true
		default:
			_, err := a.try(http.MethodGet, "/status", nil)
			return err == nil
		}
	})
	return a
}

// Each Appium server of these tests has the routes of its own driver only.
func TestAppiumLoadsOneDriver(t *testing.T) {
	t.Parallel()
	home := needAppium(t)
	const known, unknown = "invalid session id", "unknown command"
	for driver, routes := range map[string]map[string]string{
		"uiautomator2": {"get_clipboard": known, "press_keycode": known, "set_clipboard": unknown, "shake": unknown},
		"xcuitest":     {"get_clipboard": known, "press_keycode": unknown, "set_clipboard": known, "shake": known},
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			a := startAppium(t, home, driver)
			for route, want := range routes {
				_, err := a.try(http.MethodPost, "/session/none/appium/device/"+route, map[string]any{"content": "", "keycode": 4})
				if err == nil || !strings.Contains(err.Error(), ": 404 map[error:"+want) {
					t.Errorf("%s: %v, want 404 %s", route, err, want)
				}
			}
		})
	}
}

// try sends a request and returns its value.
func (a *appium) try(method, path string, body any) (any, error) {
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct{ Value any }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %d %v", method, path, response.StatusCode, answer.Value)
	}
	return answer.Value, nil
}

func (a *appium) call(method, path string, body any) any {
	a.t.Helper()
	value, err := a.try(method, a.session+path, body)
	if err != nil {
		a.t.Fatal(err)
	}
	return value
}

func (a *appium) get(path string) any { a.t.Helper(); return a.call(http.MethodGet, path, nil) }

func (a *appium) post(path string, body any) any {
	a.t.Helper()
	return a.call(http.MethodPost, path, body)
}

// execute runs one of the driver's own commands.
func (a *appium) execute(script string, arguments map[string]any) any {
	a.t.Helper()
	return a.post("/execute/sync", map[string]any{"script": script, "args": []any{arguments}})
}

// open starts a session, and ends it with the test.
func (a *appium) open(capabilities map[string]any) {
	a.t.Helper()
	value := a.post("/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": capabilities}})
	a.session = "/session/" + value.(map[string]any)["sessionId"].(string)
}

func (a *appium) close() { a.t.Helper(); a.call(http.MethodDelete, "", nil); a.session = "" }

// touch moves a finger along points. At the last one of several it is still, so that a list stops with it.
func (a *appium) touch(points ...screen.Point) {
	a.t.Helper()
	var steps []map[string]any
	for i, p := range points {
		steps = append(steps, map[string]any{"type": "pointerMove", "duration": 100 * min(i, 1), "x": p.X, "y": p.Y})
		if i == 0 {
			steps = append(steps, map[string]any{"type": "pointerDown", "button": 0})
		}
	}
	if len(points) > 1 {
		steps = append(steps, map[string]any{"type": "pause", "duration": 150})
	}
	steps = append(steps, map[string]any{"type": "pointerUp", "button": 0})
	a.post("/actions", map[string]any{"actions": []any{map[string]any{
		"type": "pointer", "id": "finger1", "parameters": map[string]any{"pointerType": "touch"}, "actions": steps,
	}}})
}

// picture checks a screenshot.
func (a *appium) picture(width, height int) {
	a.t.Helper()
	data, err := base64.StdEncoding.DecodeString(a.get("/screenshot").(string))
	if err != nil {
		a.t.Fatal(err)
	}
	if config, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || config.Width != width || config.Height != height {
		a.t.Errorf("the screenshot is %dx%d: %v", config.Width, config.Height, err)
	}
}

func (a *appium) wantSource(text string) {
	a.t.Helper()
	if source := a.get("/source").(string); !strings.Contains(source, text) {
		a.t.Errorf("the source lacks %q: %s", text, source)
	}
}

// sdk returns a folder that Appium accepts as an Android SDK.
func sdk(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("adb")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	tools := filepath.Join(folder, "platform-tools")
	if err := errors.Join(os.Mkdir(tools, 0o755), os.Symlink(program, filepath.Join(tools, "adb"))); err != nil {
		t.Fatal(err)
	}
	return folder
}

// Real Appium with its UiAutomator2 driver and the real adb accept the simulated phone.
func TestAppiumDrivesTheSimulatedAndroidPhone(t *testing.T) {
	t.Parallel()
	home := needAppium(t)
	p := startPhone(t, simulated.AndroidOptions{})
	adb := startADB(t, p)
	a := startAppium(t, home, "uiautomator2", "ANDROID_HOME="+sdk(t), "ANDROID_ADB_SERVER_PORT="+adb.Port)
	port := freePort(t)
	a.open(map[string]any{
		"platformName": "Android", "appium:automationName": "UiAutomator2", "appium:udid": p.Addr(), "appium:systemPort": json.Number(port),
		"appium:adbPort": json.Number(adb.Port), "appium:appPackage": app.ShopID, "appium:appActivity": ".MainActivity",
	})
	if !p.Installed("io.appium.uiautomator2.server") || !p.Installed("io.appium.uiautomator2.server.test") || p.App.Screen() != app.SignIn {
		t.Fatalf("after the start: screen %q", p.App.Screen())
	}
	signInThroughAppium(a, p)
	driveOrders(a, p)
	driveAndroid(a, p)
	a.close()
	if p.ServerRunning() {
		t.Error("the server runs after the session")
	}
}

// signInThroughAppium signs in with what the driver offers for typing.
func signInThroughAppium(a *appium, p *simulated.Android) {
	a.t.Helper()
	a.post("/appium/settings", map[string]any{"settings": map[string]any{"waitForIdleTimeout": 0, "enableMultiWindows": true}})
	if settings := a.get("/appium/settings").(map[string]any); settings["enableMultiWindows"] != true {
		a.t.Errorf("settings: %v", settings)
	}
	if rect := a.get("/window/rect").(map[string]any); rect["width"] != 1080.0 || rect["height"] != 2400.0 {
		a.t.Errorf("window: %v", rect)
	}
	a.wantSource(`resource-id="com.example.shop:id/email"`)
	a.touch(screen.Point{X: 540, Y: 620})
	if shown := a.execute("mobile: isKeyboardShown", nil); shown != true {
		a.t.Errorf("keyboard: %v", shown)
	}
	field := a.get("/element/active").(map[string]any)["element-6066-11e4-a52e-4f735466cecf"].(string)
	a.post("/element/"+field+"/value", map[string]any{"text": app.Email})
	a.touch(screen.Point{X: 540, Y: 860})
	a.execute("mobile: type", map[string]any{"text": app.Password})
	a.execute("mobile: hideKeyboard", nil)
	button := a.post("/element", map[string]any{"using": "xpath", "value": `//*[@text="Sign in"]`}).(map[string]any)
	id := "/element/" + button["element-6066-11e4-a52e-4f735466cecf"].(string)
	for _, state := range []string{"displayed", "enabled"} {
		if a.get(id+"/"+state) != true {
			a.t.Errorf("the button is not %s", state)
		}
	}
	a.post(id+"/click", map[string]any{})
	if !p.App.SignedIn() {
		a.t.Fatalf("not signed in; touches: %+v", p.App.Touches())
	}
	if text := a.get("/alert/text").(string); !strings.Contains(text, "notifications") {
		a.t.Errorf("prompt: %q", text)
	}
	a.post("/alert/accept", map[string]any{})
}

// driveOrders scrolls, touches and presses on the screens of the orders.
func driveOrders(a *appium, p *simulated.Android) {
	a.t.Helper()
	a.picture(1080, 2400)
	before := len(p.App.Touches())
	a.touch(screen.Point{X: 540, Y: 1800}, screen.Point{X: 540, Y: 600})
	a.wantSource("Order 1141")
	a.execute("mobile: swipeGesture", map[string]any{"left": 100, "top": 600, "width": 800, "height": 1200, "direction": "down", "percent": 1.0})
	a.wantSource("Order 1149")
	a.execute("mobile: clickGesture", map[string]any{"x": 300, "y": 420})
	typeNote(a, p)
	if touches := p.App.Touches(); p.App.Screen() != app.Order || len(touches) != before+5 || touches[before].Kind != "swipe" {
		a.t.Errorf("screen %q, touches: %+v", p.App.Screen(), touches[before:])
	}
	a.post("/back", map[string]any{})
	a.execute("mobile: deepLink", map[string]any{"url": "shop://orders/1140", "package": app.ShopID})
	a.wantSource("Order 1140")
	a.execute("mobile: pressKey", map[string]any{"keycode": 4})
	if p.App.Screen() != app.Orders {
		a.t.Errorf("screen: %q", p.App.Screen())
	}
}

// typeNote types a text that no key has, and saves it.
func typeNote(a *appium, p *simulated.Android) {
	a.t.Helper()
	const note = "Grüße & 日本語 👍"
	a.touch(screen.Point{X: 540, Y: 960})
	a.execute("mobile: type", map[string]any{"text": note})
	a.execute("mobile: hideKeyboard", nil)
	a.touch(screen.Point{X: 200, Y: 1280})
	if got := p.App.Note(app.FirstOrder); got != note {
		a.t.Errorf("note: %q", got)
	}
}

// driveAndroid uses what the driver offers for the phone and its apps.
func driveAndroid(a *appium, p *simulated.Android) {
	a.t.Helper()
	a.execute("mobile: setClipboard", map[string]any{"content": base64.StdEncoding.EncodeToString([]byte(app.Characters))})
	if clipboard := a.execute("mobile: getClipboard", nil); clipboard != base64.StdEncoding.EncodeToString([]byte(app.Characters)) {
		a.t.Errorf("clipboard: %v", clipboard)
	}
	if info := a.execute("mobile: deviceInfo", nil).(map[string]any); info["apiVersion"] != "34" {
		a.t.Errorf("device: %v", info)
	}
	if out := a.execute("mobile: shell", map[string]any{"command": "getprop", "args": []any{"ro.product.model"}}); out != "Simulated Phone\n" {
		a.t.Errorf("shell: %q", out)
	}
	if name := a.execute("mobile: getCurrentPackage", nil); name != app.ShopID {
		a.t.Errorf("package: %v", name)
	}
	a.execute("mobile: changePermissions", map[string]any{"permissions": "android.permission.CAMERA", "appPackage": app.ShopID, "action": "grant"})
	if !p.App.Permissions(app.ShopID)["android.permission.CAMERA"] {
		a.t.Error("the permission was not granted")
	}
	a.execute("mobile: setConnectivity", map[string]any{"wifi": false, "data": false})
	if p.App.Connected() {
		a.t.Error("the phone is connected")
	}
	a.execute("mobile: setConnectivity", map[string]any{"wifi": true, "data": true})
	if stopped := a.execute("mobile: terminateApp", map[string]any{"appId": app.ShopID}); stopped != true || p.App.Running(app.ShopID) {
		a.t.Errorf("terminateApp: %v", stopped)
	}
	a.execute("mobile: activateApp", map[string]any{"appId": app.ShopID})
	if state := a.execute("mobile: queryAppState", map[string]any{"appId": app.ShopID}); state != 4.0 {
		a.t.Errorf("state: %v", state)
	}
	a.execute("mobile: clearApp", map[string]any{"appId": app.ShopID})
	if p.App.SignedIn() || p.App.Running(app.ShopID) {
		a.t.Error("the app was not cleared")
	}
	if apps := fmt.Sprint(a.execute("mobile: listApps", nil)); !strings.Contains(apps, app.ShopID) {
		a.t.Errorf("apps: %v", apps)
	}
}

// Real Appium with its XCUITest driver accepts the simulated WebDriverAgent, on any system.
func TestAppiumDrivesTheSimulatedIPhone(t *testing.T) {
	t.Parallel()
	home := needAppium(t)
	p, err := simulated.StartIPhone(t.Context(), simulated.IPhoneOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if unknown := p.UnknownRoutes(); len(unknown) > 0 {
			t.Errorf("the simulated iPhone does not know %q", unknown)
		}
	})
	a := startAppium(t, home, "xcuitest")
	a.open(map[string]any{
		"platformName": "iOS", "appium:automationName": "XCUITest", "appium:udid": "00008030-0000000000000001",
		"appium:deviceName": "iPhone", "appium:platformVersion": "17.4", "appium:webDriverAgentUrl": p.URL(),
	})
	a.execute("mobile: launchApp", map[string]any{"bundleId": app.ShopID, "arguments": []any{"-test"}})
	if launches := p.App.Launches(); len(launches) != 1 || fmt.Sprint(launches[0].Arguments) != "[-test]" {
		t.Errorf("launches: %+v", launches)
	}
	a.wantSource(`type="XCUIElementTypeSecureTextField"`)
	a.touch(screen.Point{X: 195, Y: 208})
	a.execute("mobile: keys", map[string]any{"keys": strings.Split(app.Email, "")})
	a.touch(screen.Point{X: 195, Y: 288})
	field := a.get("/element/active").(map[string]any)["element-6066-11e4-a52e-4f735466cecf"].(string)
	a.post("/element/"+field+"/value", map[string]any{"text": app.Password})
	a.touch(screen.Point{X: 195, Y: 422}, screen.Point{X: 195, Y: 397}) // no key hides the keyboard of an iPhone
	a.touch(screen.Point{X: 195, Y: 628})
	if !p.App.SignedIn() {
		t.Fatalf("not signed in; touches: %+v", p.App.Touches())
	}
	if text := a.get("/alert/text").(string); !strings.Contains(text, "Notifications") {
		t.Errorf("alert: %q", text)
	}
	a.execute("mobile: alert", map[string]any{"action": "accept"})
	driveIPhone(a, p)
	a.close()
}

// driveIPhone uses what the driver offers for the phone and its apps.
func driveIPhone(a *appium, p *simulated.IPhone) {
	a.t.Helper()
	a.picture(1170, 2532)
	if rect := a.get("/window/rect").(map[string]any); rect["width"] != 390.0 {
		a.t.Errorf("window: %v", rect)
	}
	if source := fmt.Sprint(a.execute("mobile: source", map[string]any{"format": "json"})); !strings.Contains(source, "Order 1149") {
		a.t.Errorf("source: %s", source)
	}
	a.touch(screen.Point{X: 195, Y: 600}, screen.Point{X: 195, Y: 200})
	if touches := p.App.Touches(); touches[len(touches)-1].Target != "orders" {
		a.t.Errorf("touches: %+v", touches)
	}
	a.execute("mobile: deepLink", map[string]any{"url": "shop://orders/1140", "bundleId": app.ShopID})
	a.wantSource("Order 1140")
	a.post("/appium/settings", map[string]any{"settings": map[string]any{"snapshotMaxDepth": 62}})
	if settings := a.get("/appium/settings").(map[string]any); settings["snapshotMaxDepth"] != 62.0 {
		a.t.Errorf("settings: %v", settings)
	}
	a.execute("mobile: pressButton", map[string]any{"name": "home"})
	if state := a.execute("mobile: queryAppState", map[string]any{"bundleId": app.ShopID}); state != 3.0 {
		a.t.Errorf("state: %v", state)
	}
	a.execute("mobile: activateApp", map[string]any{"bundleId": app.ShopID})
	if info := a.execute("mobile: activeAppInfo", nil).(map[string]any); info["bundleId"] != app.ShopID {
		a.t.Errorf("app: %v", info)
	}
	if stopped := a.execute("mobile: terminateApp", map[string]any{"bundleId": app.ShopID}); stopped != true {
		a.t.Errorf("terminateApp: %v", stopped)
	}
}

// The real mobilecli, which speaks with phones by adb and needs no server on them, accepts the simulated phone.
func TestMobilecliUsesTheSimulatedPhone(t *testing.T) {
	t.Parallel()
	home := needAppium(t)
	p := startPhone(t, simulated.AndroidOptions{})
	p.App.Show(app.Orders)
	adb := startADB(t, p)
	run := func(args ...string) string {
		t.Helper()
		command := exec.Command("node", append([]string{filepath.Join(home, "node_modules/@mobilenext/mobilecli/index.js")}, args...)...)
		command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "ANDROID_HOME=" + sdk(t)}, adb.Env()[:3]...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("mobilecli %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	if out := run("devices"); !strings.Contains(out, p.Addr()) || !strings.Contains(out, `"state": "online"`) {
		t.Errorf("devices: %s", out)
	}
	file := filepath.Join(t.TempDir(), "screen.png")
	run("screenshot", "--device", p.Addr(), "--output", file)
	picture, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if config, err := png.DecodeConfig(picture); err != nil || config.Width != 1080 {
		t.Errorf("screenshot: %v %v", config, err)
	}
	if out := run("dump", "ui", "--device", p.Addr()); !strings.Contains(out, "Order 1149") {
		t.Errorf("dump: %s", out)
	}
	run("io", "tap", "--device", p.Addr(), "300,420")
	if p.App.Screen() != app.Order || len(p.App.Touches()) != 1 {
		t.Errorf("screen %q, touches: %+v", p.App.Screen(), p.App.Touches())
	}
	if out := run("apps", "list", "--device", p.Addr()); !strings.Contains(out, app.ShopID) {
		t.Errorf("apps: %s", out)
	}
	if out := run("apps", "foreground", "--device", p.Addr()); !strings.Contains(out, app.ShopID) {
		t.Errorf("foreground: %s", out)
	}
}
