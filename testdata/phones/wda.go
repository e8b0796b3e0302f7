package phones

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
	"github.com/trailblaze/trailblaze/testdata/phones/wire"
)

// wdaSettings are the settings of WebDriverAgent with their defaults.
func wdaSettings() map[string]any {
	return map[string]any{
		"acceptAlertButtonSelector": "", "accessibilityDeadline": 0, "activeAppDetectionPoint": "78,78", // a fifth of the short side
		"animationCoolOffTimeout": 2, "autoClickAlertSelector": "", "boundElementsByIndex": false,
		"defaultActiveApplication": "auto", "defaultAlertAction": "", "dismissAlertButtonSelector": "",
		"elementResponseAttributes": "type,label", "enforceCustomSnapshots": false,
		"includeCustomActionsInPageSource": false, "includeHittableInPageSource": false,
		"includeMinMaxValueInPageSource": false, "includeNativeAccessibilityElementInPageSource": false,
		"includeNativeFrameInPageSource": false, "keyboardAutocorrection": false, "keyboardPrediction": false,
		"limitXPathContextScope": true, "maxTypingFrequency": 60, "mjpegFixOrientation": false, "mjpegScalingFactor": 100,
		"mjpegServerFramerate": 10, "mjpegServerScreenshotQuality": 25, "reduceMotion": false,
		"respectSystemAlerts": false, "screenshotOrientation": "auto", "screenshotQuality": 3,
		"shouldUseCompactResponses": true, "snapshotMaxChildren": 0, "snapshotMaxDepth": 50, "useClearTextShortcut": true,
		"useFirstMatch": false, "waitForIdleTimeout": 10,
	}
}

// routes registers what WebDriverAgent answers.
func (p *IPhone) routes() {
	s := p.webDriver
	s.settings = wdaSettings()
	s.handle("GET /status", value(map[string]any{
		"ready": true, "message": "WebDriverAgent is ready to accept commands", "state": "success",
		"os":     map[string]any{"name": "iOS", "version": "17.4", "sdkVersion": "17.4", "testmanagerdVersion": 65535},
		"ios":    p.system(),
		"build":  map[string]any{"time": "Mar  1 2026 12:00:00", "productBundleIdentifier": runnerProduct},
		"device": p.kind(),
	}))
	s.handle("POST /session", p.newSession)
	s.handle("DELETE /session/{session}", s.do(func() { s.setSession("") }))
	s.handle("GET /session/{session}", func(*request) (any, error) { return p.sessionInfo(), nil })
	for pattern, answer := range p.anywhere() {
		method, path, _ := strings.Cut(pattern, " ")
		s.handle(pattern, answer)
		s.handle(method+" /session/{session}"+path, answer)
	}
	s.handle("POST /wda/device/appearance", p.setAppearance)
	for pattern, answer := range p.inSession() {
		method, path, _ := strings.Cut(pattern, " ")
		s.handle(method+" /session/{session}"+path, answer)
	}
	p.elementRoutes()
}

// system is what the status says of the system, which is how a simulator can be told before a session
// (WebDriverAgentLib/Commands/FBSessionCommands.m).
func (p *IPhone) system() map[string]any {
	if p.options.Simulator {
		return map[string]any{"ip": "127.0.0.1", "simulatorVersion": "17.4"}
	}
	return map[string]any{"ip": "127.0.0.1"}
}

// anywhere returns what works with and without a session.
func (p *IPhone) anywhere() map[string]func(*request) (any, error) {
	s, device := p.webDriver, p.App
	return map[string]func(*request) (any, error){
		"GET /source":                   p.source,
		"GET /screenshot":               p.screenshot,
		"GET /orientation":              func(*request) (any, error) { return orientation(device), nil },
		"POST /orientation":             p.setOrientation,
		"GET /rotation":                 func(*request) (any, error) { return rotation(device), nil },
		"GET /window/size":              func(*request) (any, error) { return windowRect(device), nil },
		"GET /wda/screen":               p.screenInfo,
		"GET /wda/activeAppInfo":        p.activeApp,
		"GET /wda/device/info":          p.deviceInfo,
		"GET /wda/locked":               func(*request) (any, error) { return device.Locked(), nil },
		"POST /wda/lock":                s.do(func() { device.SetLocked(true) }),
		"POST /wda/unlock":              s.do(func() { device.SetLocked(false) }),
		"POST /wda/homescreen":          s.do(func() { device.Press(app.KeyHome) }),
		"GET /wda/simulatedLocation":    p.location,
		"POST /wda/simulatedLocation":   p.setLocation,
		"DELETE /wda/simulatedLocation": p.resetLocation,
		"POST /wda/getPasteboard":       p.getPasteboard,
		"POST /wda/setPasteboard":       p.setPasteboard,
		"GET /alert/text":               p.alertText,
		"POST /alert/accept":            func(r *request) (any, error) { return nil, answerAlert(device, r.text("name"), true) },
		"POST /alert/dismiss":           func(r *request) (any, error) { return nil, answerAlert(device, r.text("name"), false) },
	}
}

// inSession returns what works in a session only.
func (p *IPhone) inSession() map[string]func(*request) (any, error) {
	s, device := p.webDriver, p.App
	return map[string]func(*request) (any, error){
		"GET /window/rect":                func(*request) (any, error) { return windowRect(device), nil },
		"POST /actions":                   func(r *request) (any, error) { return nil, perform(device, r, p.middle) },
		"POST /timeouts":                  s.do(func() {}),
		"GET /appium/settings":            s.getSettings,
		"POST /appium/settings":           p.changeSettings,
		"POST /url":                       p.openURL,
		"POST /wda/keys":                  func(r *request) (any, error) { return nil, typeText(device, r.typedText()) },
		"POST /wda/keyboard/dismiss":      p.dismissKeyboard,
		"POST /wda/pressButton":           p.pressButton,
		"GET /wda/alert/buttons":          p.alertButtons,
		"POST /wda/resetAppAuth":          p.resetAppAuth,
		"GET /wda/batteryInfo":            value(map[string]any{"level": 0.8, "state": 2}),
		"POST /wda/apps/launch":           p.launch,
		"POST /wda/apps/activate":         p.activate,
		"POST /wda/apps/terminate":        func(r *request) (any, error) { return device.Stop(r.text("bundleId")), nil },
		"POST /wda/apps/state":            p.appState,
		"GET /wda/apps/list":              p.activeApps,
		"POST /wda/deactivateApp":         s.do(func() { device.Press(app.KeyHome) }),
		"POST /wda/tap":                   p.tap,
		"POST /wda/touchAndHold":          p.touchAndHold,
		"POST /wda/dragfromtoforduration": p.drag,
	}
}

func (p *IPhone) changeSettings(r *request) (any, error) {
	if _, err := p.webDriver.changeSettings(r); err != nil {
		return nil, err
	}
	return p.webDriver.getSettings(r)
}

// newSession starts a session, and the app that the capabilities name.
func (p *IPhone) newSession(r *request) (any, error) {
	capabilities, ok := r.body["capabilities"].(map[string]any)
	if !ok {
		return nil, &w3cError{http.StatusInternalServerError, "session not created", "'capabilities' is mandatory to create a new session"}
	}
	merged := map[string]any{}
	add := func(part any) {
		for name, value := range asMap(part) {
			merged[strings.TrimPrefix(name, "appium:")] = value
		}
	}
	add(capabilities["alwaysMatch"])
	if first, _ := capabilities["firstMatch"].([]any); len(first) > 0 {
		add(first[0])
	}
	if id, _ := merged["bundleId"].(string); id != "" {
		if !p.installed(id) {
			return nil, &w3cError{http.StatusInternalServerError, "session not created", notInstalled(id)}
		}
		p.App.Start(id, "", texts(merged["arguments"])...)
	}
	p.resetSettings()
	p.webDriver.setSession(newID())
	return p.sessionInfo(), nil
}

// resetSettings gives settings their defaults when a session begins, but not the point of the active app:
// FBConfiguration.m, resetSessionSettings.
func (p *IPhone) resetSettings() {
	const kept = "activeAppDetectionPoint"
	s := p.webDriver
	s.mu.Lock()
	defer s.mu.Unlock()
	settings := wdaSettings()
	settings[kept] = s.settings[kept]
	s.settings = settings
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprint(s))
	}
	return out
}

func (p *IPhone) sessionInfo() any {
	return map[string]any{
		"sessionId": p.webDriver.sessionID(),
		"capabilities": map[string]any{
			"device": p.kind(), "browserName": " ", "sdkVersion": "17.4", "CFBundleIdentifier": p.App.FrontWindow(),
		},
	}
}

func (p *IPhone) source(r *request) (any, error) {
	query := r.URL.Query()
	shown, err := p.screen(p.App.Read())
	if err != nil {
		return nil, err
	}
	switch format := query.Get("format"); format {
	case "json":
		return json.RawMessage(wire.WDAJSON(shown, strings.Split(query.Get("excluded_attributes"), ",")...)), nil
	case "", "xml":
		return string(wire.WDAXML(shown, query.Get("scope"))), nil
	default:
		return nil, invalidArgument("Unknown source format '%s'. Only xml, json source formats are supported.", format)
	}
}

// screen returns windows as the source has them.
func (p *IPhone) screen(windows []app.Window) (wire.Screen, error) {
	width, height := p.App.Size()
	s := iosScreen(windows, p.activeWindow(windows), width, height)
	root := s.Windows[0].Root
	for _, n := range screen.NewTree(root, width, height).Nodes() {
		for _, name := range []string{valueOf(n.ID), valueOf(n.Label), "*"} {
			n.Hidden = n.Hidden || slices.Contains(p.options.NotVisible, name)
		}
	}
	if p.options.Levels > 0 {
		for _, window := range root.Children {
			content, empty := window.Children, []*screen.Node(nil)
			for range p.options.Levels {
				empty = []*screen.Node{container(window, empty)}
			}
			content = append(content, empty...)
			for range p.options.Levels {
				content = []*screen.Node{container(window, content)}
			}
			window.Children = content
		}
	}
	depth := p.webDriver.number("snapshotMaxDepth")
	if depth > maxLevels && levels(root) > maxLevels {
		return s, errors.New("Error kAXErrorIllegalArgument getting snapshot for element")
	}
	cut(root, depth)
	return s, nil
}

// maxLevels is how many levels XCTest can read.
const maxLevels = 62

func container(window *screen.Node, children []*screen.Node) *screen.Node {
	class := "Other"
	return &screen.Node{Class: &class, Bounds: window.Bounds, Children: children}
}

func levels(n *screen.Node) int {
	deepest := 0
	for _, child := range n.Children {
		deepest = max(deepest, levels(child))
	}
	return deepest + 1
}

// cut leaves some levels of a tree.
func cut(n *screen.Node, levels int) {
	if levels <= 1 {
		n.Children = nil
	}
	for _, child := range n.Children {
		cut(child, levels-1)
	}
}

// activeWindow returns the window of the active app.
func (p *IPhone) activeWindow(windows []app.Window) app.Window {
	if p.options.AlertElsewhere {
		windows = slices.DeleteFunc(slices.Clone(windows), func(w app.Window) bool { return w.Kind == app.SystemWindow })
	}
	if p.options.AppAtPoint {
		var at screen.Point
		_, err := fmt.Sscanf(p.webDriver.text("activeAppDetectionPoint"), "%d,%d", &at.X, &at.Y)
		for _, w := range slices.Backward(windows) {
			if err == nil && w.Kind != app.KeyboardWindow && w.Root.Bounds.Contains(at) {
				return w
			}
		}
	}
	return activeWindow(windows)
}

func (p *IPhone) screenshot(*request) (any, error) {
	data, err := p.App.Screenshot()
	return base64.StdEncoding.EncodeToString(data), err
}

func (p *IPhone) activeApp(*request) (any, error) {
	id := p.activeWindow(p.App.Look()).Package
	return map[string]any{
		"pid": 4200, "bundleId": id, "name": iosAppName(id), "processArguments": map[string]any{"args": []any{}, "env": map[string]any{}},
	}, nil
}

func (p *IPhone) activeApps(r *request) (any, error) {
	info, err := p.activeApp(r)
	return []any{info}, err
}

func (p *IPhone) setPasteboard(r *request) (any, error) {
	text, err := base64.StdEncoding.DecodeString(r.text("content"))
	if err != nil {
		return nil, invalidArgument("Cannot decode the pasteboard content from base64")
	}
	if p.mayUsePasteboard() {
		p.App.SetClipboard(string(text))
	}
	return nil, nil // also when iOS has dropped it: WebDriverAgentLib/Utilities/FBPasteboard.m
}

func (p *IPhone) getPasteboard(*request) (any, error) {
	if !p.mayUsePasteboard() {
		return "", nil
	}
	return base64.StdEncoding.EncodeToString([]byte(p.App.Clipboard())), nil
}

// mayUsePasteboard reports whether iOS lets WebDriverAgent use the pasteboard: on a phone only while its app is in
// front (appium-xcuitest-driver docs/guides/clipboard.md).
func (p *IPhone) mayUsePasteboard() bool {
	return p.options.Simulator || p.App.Foreground() == p.runner()
}

// RunnerID is the app in which WebDriverAgent runs. Xcode adds the last part to the id that /status names.
const RunnerID = runnerProduct + ".xctrunner"

func (p *IPhone) runner() string { return cmp.Or(p.options.Runner, RunnerID) }

const runnerProduct = "com.facebook.WebDriverAgentRunner"

// kind returns what WebDriverAgent calls the device.
func (p *IPhone) kind() string {
	if p.options.Tablet {
		return "ipad"
	}
	return "iphone"
}

func (p *IPhone) alertText(*request) (any, error) {
	message, _, ok := p.App.Alert()
	if !ok {
		return nil, errNoAlert()
	}
	return message, nil
}

func (p *IPhone) alertButtons(*request) (any, error) {
	_, buttons, ok := p.App.Alert()
	if !ok {
		return nil, errNoAlert()
	}
	return buttons, nil
}

func (p *IPhone) openURL(r *request) (any, error) {
	if !p.App.Open(r.text("url")) {
		return nil, fmt.Errorf("the URL %s cannot be opened", r.text("url"))
	}
	return nil, nil
}

// dismissKeyboard presses the last key of an iPad's keyboard, and nothing on an iPhone, as
// WebDriverAgentLib/Categories/XCUIApplication+FBHelpers.m does: none of its keys has one of the names.
func (p *IPhone) dismissKeyboard(r *request) (any, error) {
	if p.options.Tablet {
		p.App.HideKeyboard()
	}
	if !p.App.KeyboardShown() {
		return nil, nil
	}
	select {
	case <-time.After(cmp.Or(p.options.DismissWait, 3*time.Second)):
	case <-r.Context().Done():
	}
	return nil, invalidState("Did not know how to dismiss the keyboard. Try to dismiss it in the way supported by your " +
		"application under test.")
}

func (p *IPhone) pressButton(r *request) (any, error) {
	switch name := r.text("name"); name {
	case "home":
		p.App.Press(app.KeyHome)
	case "volumeup", "volumedown":
		p.App.Press(name)
	default:
		return nil, fmt.Errorf("the button '%s' is unknown", name)
	}
	return nil, nil
}

// resetAppAuth notes what was reset for the app in front; the app itself asks for notifications only, which have no
// number.
func (p *IPhone) resetAppAuth(r *request) (any, error) {
	resource, ok := r.body["resource"].(float64)
	if !ok {
		return nil, invalidArgument("The 'resource' argument must be set to a valid resource identifier (numeric value)")
	}
	p.App.ResetPermission(p.App.Foreground(), strconv.Itoa(int(resource)))
	return nil, nil
}

// installed reports whether an app is on the phone.
func (p *IPhone) installed(id string) bool {
	return id == app.ShopID || id == app.BrowserID || id == p.runner() || strings.HasPrefix(id, "com.apple.")
}

func notInstalled(id string) string {
	return "Cannot launch the '" + id + "' application. Consider checking whether it is installed."
}

// launch starts an app, or brings it to the front when it runs.
func (p *IPhone) launch(r *request) (any, error) {
	id := r.text("bundleId")
	if !p.installed(id) {
		return nil, invalidArgument("%s", notInstalled(id))
	}
	p.App.Start(id, "", texts(r.body["arguments"])...)
	return nil, nil
}

func (p *IPhone) activate(r *request) (any, error) {
	id := r.text("bundleId")
	if !p.installed(id) {
		return nil, invalidArgument("%s", notInstalled(id))
	}
	p.App.Start(id, "")
	return nil, nil
}

// appState returns 1 for an app that does not run, 3 in the background, 4 in front.
func (p *IPhone) appState(r *request) (any, error) {
	switch id := r.text("bundleId"); {
	case p.App.Foreground() == id:
		return 4, nil
	case p.App.Running(id):
		return 3, nil
	}
	return 1, nil
}

func (p *IPhone) tap(r *request) (any, error) { return nil, p.touch(r, 0, "x", "y") }

func (p *IPhone) touchAndHold(r *request) (any, error) {
	seconds, _ := r.body["duration"].(float64)
	return nil, p.touch(r, seconds, "x", "y")
}

func (p *IPhone) drag(r *request) (any, error) {
	return nil, p.touch(r, 0, "fromX", "fromY", "toX", "toY")
}

// touch touches the points whose coordinates the body has.
func (p *IPhone) touch(r *request, seconds float64, names ...string) error {
	n, ok := numbers(r.body, names...)
	if !ok {
		return invalidArgument("%s are needed", strings.Join(names, " and "))
	}
	finger := app.Finger{Hold: time.Duration(seconds * float64(time.Second))}
	for i := 0; i < len(n); i += 2 {
		finger.Path = append(finger.Path, screen.Point{X: n[i], Y: n[i+1]})
	}
	p.App.Touch(finger)
	return nil
}

// elementRoutes registers what is done with elements: those that Appium needs. 0 is the app.
func (p *IPhone) elementRoutes() {
	s, device := p.webDriver, p.App
	s.handle("GET /session/{session}/element/active", func(*request) (any, error) {
		if _, err := device.FocusedText(); err != nil {
			return nil, noSuchElement("%v", err)
		}
		return map[string]string{elementKey: active, "ELEMENT": active}, nil
	})
	s.handle("POST /session/{session}/elements", func(r *request) (any, error) { return p.find(r) })
	s.handle("POST /session/{session}/element", func(r *request) (any, error) {
		found, err := p.find(r)
		if err == nil && len(found) == 0 {
			err = noSuchElement("unable to find an element using '%s', value '%s'", r.text("using"), r.text("value"))
		}
		if err != nil {
			return nil, err
		}
		return found[0], nil
	})
	element := func(method, prefix, path string, answer func(*request) (any, error)) {
		s.handle(method+" /session/{session}"+prefix+"/element/{id}"+path, answer)
	}
	element("POST", "", "/value", func(r *request) (any, error) { return nil, p.setValue(r) })
	element("POST", "", "/clear", func(r *request) (any, error) {
		if err := p.focus(r.PathValue("id")); err != nil {
			return nil, err
		}
		return nil, device.SetText("")
	})
	element("POST", "", "/click", func(r *request) (any, error) {
		point, err := p.middle(r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		device.Touch(app.Finger{Path: []screen.Point{point}})
		return nil, nil
	})
	element("GET", "", "/text", func(r *request) (any, error) {
		n, err := p.node(r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		return valueOf(n.Value), nil
	})
	element("GET", "", "/rect", func(r *request) (any, error) {
		n, err := p.node(r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		b := *n.Bounds
		return map[string]int{"x": b.Left, "y": b.Top, "width": b.Width(), "height": b.Height()}, nil
	})
	element("POST", "/wda", "/keyboardInput", func(r *request) (any, error) { return nil, p.keyboardInput(r) })
}

// keyboardInput types keys, which are texts or objects with a key.
func (p *IPhone) keyboardInput(r *request) error {
	list, _ := r.body["keys"].([]any)
	for _, key := range list {
		if m := asMap(key); m != nil {
			key = m["key"]
		}
		if err := typeText(p.App, fmt.Sprint(key)); err != nil {
			return err
		}
	}
	return nil
}

// find returns references to the elements that a locator selects: by name, by label, or by type.
func (p *IPhone) find(r *request) ([]map[string]string, error) {
	using, wanted := r.text("using"), r.text("value")
	found := []map[string]string{}
	for i, n := range p.nodes() {
		var matches bool
		switch using {
		case "accessibility id", "name", "id":
			matches = iosName(n) == wanted
		case "class name":
			matches = "XCUIElementType"+*n.Class == wanted
		default:
			return nil, &w3cError{http.StatusBadRequest, "invalid selector", "the simulation does not know " + using + " " + wanted}
		}
		if matches {
			id := elementID(iosName(n), i)
			found = append(found, map[string]string{elementKey: id, "ELEMENT": id})
		}
	}
	return found, nil
}

// iosName returns the identifier, or else the label, as WebDriverAgent does.
func iosName(n *screen.Node) string {
	if n.ID != nil {
		return *n.ID
	}
	return valueOf(n.Label)
}

func (p *IPhone) nodes() []*screen.Node {
	windows := p.App.Look()
	width, height := p.App.Size()
	return screen.NewTree(iosScreen(windows, p.activeWindow(windows), width, height).Windows[0].Root, width, height).Nodes()
}

// node returns the element of a reference.
func (p *IPhone) node(id string) (*screen.Node, error) {
	for i, n := range p.nodes() {
		if id == elementID(iosName(n), i) || id == active && n.Focused {
			return n, nil
		}
	}
	return nil, &w3cError{http.StatusNotFound, "stale element reference", "The element identified by " + id + " is not present anymore"}
}

func (p *IPhone) middle(id string) (screen.Point, error) {
	n, err := p.node(id)
	if err != nil {
		return screen.Point{}, err
	}
	return n.Bounds.Centre(), nil
}

// focus gives the focus to a field by a touch, unless it has it.
func (p *IPhone) focus(id string) error {
	n, err := p.node(id)
	if err != nil {
		return err
	}
	if !n.Focused {
		p.App.Touch(app.Finger{Path: []screen.Point{n.Bounds.Centre()}})
	}
	return nil
}

// setValue types text at the end of a field.
func (p *IPhone) setValue(r *request) error {
	if err := p.focus(r.PathValue("id")); err != nil {
		return err
	}
	return typeText(p.App, r.typedText())
}
