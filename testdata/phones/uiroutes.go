package phones

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
	"github.com/trailblaze/trailblaze/testdata/phones/wire"
)

// uiSettings are the settings of the UiAutomator2 server with their defaults.
func uiSettings() map[string]any {
	return map[string]any{
		"actionAcknowledgmentTimeout": 3000, "allowInvisibleElements": false, "alwaysTraversableViewClasses": "",
		"currentDisplayId": 0, "deferAccessibilityCacheReset": false, "disableIdLocatorAutocompletion": false,
		"elementResponseAttributes": "name,text", "enableMultiWindows": false, "enableNotificationListener": true,
		"enableTopmostWindowFromActivePackage": false, "enforceXPath1": false, "ignoreUnimportantViews": false,
		"includeA11yActionsInPageSource": false, "includeExtrasInPageSource": false, "keyInjectionDelay": 0,
		"limitXPathContextScope": true, "mapTestTagToResourceId": false, "mjpegBilinearFiltering": false,
		"mjpegScalingFactor": 50, "mjpegServerFramerate": 10, "mjpegServerPort": 7810, "mjpegServerScreenshotQuality": 50,
		"normalizeTagNames": false, "scrollAcknowledgmentTimeout": 200, "serverPort": 6790,
		"shouldUseCompactResponses": true, "shutdownOnPowerDisconnect": true, "simpleBoundsCalculation": false,
		"snapshotMaxDepth": 70, "trackScrollEvents": true, "useResourcesForOrientationDetection": false,
		"waitForIdleTimeout": 10000, "waitForSelectorTimeout": 10000, "wakeLockTimeout": 86400000,
	}
}

// routes registers what the UiAutomator2 server answers.
func (s *uiServer) routes() {
	s.settings = uiSettings()
	device := s.phone.App
	s.handle("GET /status", func(*request) (any, error) {
		return map[string]any{"message": "UiAutomator2 Server is ready to accept commands", "ready": true}, nil
	})
	s.handle("GET /sessions", s.sessions)
	s.handle("POST /session", s.newSession)
	s.handle("DELETE /session/{session}", func(r *request) (any, error) {
		r.after = func() { s.phone.stopServer("") }
		return nil, nil
	})
	for pattern, answer := range map[string]func(*request) (any, error){
		"GET /":                                  func(*request) (any, error) { return map[string]any{}, nil },
		"GET /source":                            s.source,
		"GET /screenshot":                        s.screenshot,
		"POST /actions":                          s.actions,
		"POST /back":                             s.do(func() { device.Press(app.KeyBack) }),
		"POST /keys":                             func(r *request) (any, error) { return nil, typeText(device, r.typedText()) },
		"POST /orientation":                      s.setOrientation,
		"GET /orientation":                       func(*request) (any, error) { return orientation(device), nil },
		"GET /rotation":                          func(*request) (any, error) { return rotation(device), nil },
		"GET /window/current/size":               s.windowSize,
		"GET /alert/text":                        s.alertText,
		"POST /alert/accept":                     func(*request) (any, error) { return nil, answerAlert(device, "", true) },
		"POST /alert/dismiss":                    func(*request) (any, error) { return nil, answerAlert(device, "", false) },
		"GET /appium/settings":                   s.getSettings,
		"POST /appium/settings":                  s.changeSettings,
		"GET /appium/device/info":                s.deviceInfo,
		"GET /appium/device/pixel_ratio":         value(3),
		"GET /appium/device/system_bars":         value(map[string]any{"statusBar": 72}),
		"GET /appium/device/display_density":     value(480),
		"POST /appium/device/press_keycode":      s.pressKeycode,
		"POST /appium/device/long_press_keycode": s.pressKeycode,
		"POST /appium/device/get_clipboard":      s.getClipboard,
		"POST /appium/device/set_clipboard":      s.setClipboard,
		"POST /appium/device/open_notifications": s.do(device.OpenNotifications),
		"POST /appium/gestures/click":            s.gestureClick,
		"POST /appium/gestures/long_click":       s.gestureLongClick,
		"POST /appium/gestures/swipe":            s.gestureSwipe,
		"POST /appium/gestures/scroll":           s.gestureScroll,
		"POST /appium/reset_ax_cache":            s.do(func() {}),
	} {
		method, path, _ := strings.Cut(pattern, " ")
		s.handle(method+" /session/{session}"+strings.TrimSuffix(path, "/"), answer)
	}
	s.elementRoutes()
}

// value answers a request with a value.
func value(v any) func(*request) (any, error) {
	return func(*request) (any, error) { return v, nil }
}

// do answers a request by doing something.
func (s *webDriver) do(f func()) func(*request) (any, error) {
	return func(*request) (any, error) {
		f()
		return nil, nil
	}
}

func (s *uiServer) sessions(*request) (any, error) {
	if id := s.sessionID(); id != "" {
		return []any{map[string]any{"id": id, "capabilities": map[string]any{}}}, nil
	}
	return []any{}, nil
}

func (s *uiServer) newSession(r *request) (any, error) {
	if _, ok := r.body["capabilities"].(map[string]any); !ok {
		return nil, &w3cError{http.StatusInternalServerError, "session not created", "capabilities are missing"}
	}
	id := newID()
	s.setSession(id)
	info, err := s.deviceInfo(r)
	return map[string]any{"sessionId": id, "capabilities": map[string]any{"deviceInfo": info}}, err
}

// quiet is for how long nothing must have happened on a phone that is idle. It is a constant of Android's UiDevice.
const quiet = 500 * time.Millisecond

// waitForIdle waits before a read of the screen, as the server does with its default settings, until the phone is idle.
func (s *uiServer) waitForIdle(r *request) {
	limit := time.Duration(s.number("waitForIdleTimeout")) * time.Millisecond
	if limit > 0 {
		s.phone.App.Settle()
	}
	select {
	case <-time.After(min(limit, quiet-time.Since(s.phone.App.LastEvent()))):
	case <-r.Context().Done():
	}
}

func (s *uiServer) source(r *request) (any, error) {
	s.waitForIdle(r)
	device := s.phone.App
	width, height := device.Size()
	shown := androidScreen(device.Read(), width, height)
	shown.Toasts = device.Toasts()
	if s.setting("ignoreUnimportantViews") {
		for _, w := range shown.Windows {
			w.Root.Children = withoutUnimportant(w.Root.Children)
		}
	}
	return string(wire.UIAutomator2(shown, wire.Settings{
		EnableMultiWindows: s.setting("enableMultiWindows"), AllowInvisibleElements: s.setting("allowInvisibleElements"),
		SimpleBoundsCalculation:        s.setting("simpleBoundsCalculation"),
		IncludeA11yActionsInPageSource: s.setting("includeA11yActionsInPageSource"),
		IncludeExtrasInPageSource:      s.setting("includeExtrasInPageSource"),
		SnapshotMaxDepth:               s.number("snapshotMaxDepth"),
	})), nil
}

func (s *uiServer) screenshot(*request) (any, error) {
	data, err := s.phone.App.Screenshot()
	return base64.StdEncoding.EncodeToString(data), err
}

func (s *uiServer) actions(r *request) (any, error) {
	if err := perform(s.phone.App, r, s.middle); err != nil {
		return nil, err
	}
	s.touched()
	return nil, nil
}

// touched ends the server when it is to end on a touch.
func (s *uiServer) touched() {
	s.phone.mu.Lock()
	crash := s.phone.crashOnTouch
	s.phone.crashOnTouch = false
	s.phone.mu.Unlock()
	if crash {
		s.phone.StopServer()
	}
}

func (s *uiServer) windowSize(*request) (any, error) {
	width, height := s.phone.App.Size()
	return map[string]int{"width": width, "height": height}, nil
}

func (s *uiServer) alertText(*request) (any, error) {
	message, _, ok := s.phone.App.Alert()
	if !ok {
		return nil, errNoAlert()
	}
	return message, nil
}

func errNoAlert() error {
	return &w3cError{http.StatusNotFound, "no such alert", "An attempt was made to operate on a modal dialog when one was not open"}
}

// answerAlert presses a button of the alert in front.
func answerAlert(d *app.Device, button string, accept bool) error {
	if !d.AnswerAlert(button, accept) {
		return errNoAlert()
	}
	return nil
}

func (s *uiServer) deviceInfo(*request) (any, error) {
	s.phone.mu.Lock()
	props := s.phone.props
	info := map[string]any{
		"androidId": "0123456789abcdef", "apiVersion": props["ro.build.version.sdk"], "brand": props["ro.product.brand"],
		"manufacturer": props["ro.product.manufacturer"], "model": props["ro.product.model"],
		"platformVersion": props["ro.build.version.release"], "carrierName": "", "locale": "en_US", "timeZone": "Etc/UTC",
		"displayDensity": 480, "realDisplaySize": "1080x2400", "networks": []any{}, "bluetooth": map[string]any{"state": "OFF"},
	}
	s.phone.mu.Unlock()
	return info, nil
}

func (s *uiServer) pressKeycode(r *request) (any, error) {
	code, ok := r.body["keycode"].(float64)
	if !ok {
		return nil, invalidArgument("keycode is missing")
	}
	s.phone.press(strconv.Itoa(int(code)))
	return nil, nil
}

// firstPrivateClipboard is the level of the API from which only the app in front and the input method can read the
// clipboard. The server is neither.
const firstPrivateClipboard = 29

// getClipboard returns the text of the clipboard, an empty one where the server must not read it
// (io.appium.uiautomator2.utils.ClipboardHelper).
func (s *uiServer) getClipboard(*request) (any, error) {
	if s.phone.options.Level >= firstPrivateClipboard {
		return "", nil
	}
	return base64.StdEncoding.EncodeToString([]byte(s.phone.App.Clipboard())), nil
}

func (s *uiServer) setClipboard(r *request) (any, error) {
	text, err := base64.StdEncoding.DecodeString(r.text("content"))
	if err != nil {
		return nil, invalidArgument("content is not base64: %v", err)
	}
	s.phone.App.SetClipboard(string(text))
	return nil, nil
}

// numbers returns numbers of a part of the body.
func numbers(part any, names ...string) ([]int, bool) {
	m, _ := part.(map[string]any)
	var list []int
	for _, name := range names {
		n, ok := m[name].(float64)
		if !ok {
			return nil, false
		}
		list = append(list, int(n))
	}
	return list, true
}

// gesturePoint returns the point of a gesture: its offset, or the middle of its element.
func (s *uiServer) gesturePoint(r *request) (screen.Point, error) {
	if offset, ok := numbers(r.body["offset"], "x", "y"); ok && r.body["origin"] == nil {
		return screen.Point{X: offset[0], Y: offset[1]}, nil
	}
	origin, _ := r.body["origin"].(map[string]any)
	id, _ := origin[elementKey].(string)
	return s.middle(id)
}

func (s *uiServer) gestureClick(r *request) (any, error) { return nil, s.gesture(r, 0) }

func (s *uiServer) gestureLongClick(r *request) (any, error) { return nil, s.gesture(r, time.Second) }

func (s *uiServer) gesture(r *request, hold time.Duration) error {
	point, err := s.gesturePoint(r)
	if err != nil {
		return err
	}
	s.phone.App.Touch(app.Finger{Path: []screen.Point{point}, Hold: hold})
	s.touched()
	return nil
}

// The gestures of the server move at 5000 pixels in a second for each pixel of density (UiObject2.java of
// androidx.test.uiautomator), and pause before the finger is lifted only when they scroll.
const (
	gestureSpeed = 15000
	scrollPause  = 250 * time.Millisecond
)

func (s *uiServer) gestureSwipe(r *request) (any, error) {
	return nil, s.gestureMove(r, 0, map[string][2]int{"up": {0, -1}, "down": {0, 1}, "left": {-1, 0}, "right": {1, 0}})
}

// gestureScroll moves the finger to the other side than the content's direction, and reports whether it can go on.
func (s *uiServer) gestureScroll(r *request) (any, error) {
	err := s.gestureMove(r, scrollPause, map[string][2]int{"up": {0, 1}, "down": {0, -1}, "left": {1, 0}, "right": {-1, 0}})
	return true, err
}

func (s *uiServer) gestureMove(r *request, rest time.Duration, directions map[string][2]int) error {
	area, ok := numbers(r.body["area"], "left", "top", "width", "height")
	direction, known := directions[r.text("direction")]
	percent, hasPercent := r.body["percent"].(float64)
	if !ok || !known || !hasPercent {
		return invalidArgument("area, direction and percent are needed")
	}
	middle := screen.Point{X: area[0] + area[2]/2, Y: area[1] + area[3]/2}
	half := screen.Point{X: int(percent*float64(area[2])) / 2 * direction[0], Y: int(percent*float64(area[3])) / 2 * direction[1]}
	length := time.Duration(2 * max(half.X, -half.X, half.Y, -half.Y))
	s.phone.App.Touch(app.Finger{Last: length * time.Second / gestureSpeed, Rest: rest, Path: []screen.Point{
		{X: middle.X - half.X, Y: middle.Y - half.Y}, {X: middle.X + half.X, Y: middle.Y + half.Y},
	}})
	s.touched()
	return nil
}

// active is the id of the element that has the focus, as Appium's older clients name it too.
const active = "active"

func (s *uiServer) elementRoutes() {
	device := s.phone.App
	element := func(method, path string, answer func(*request) (any, error)) {
		s.handle(method+" /session/{session}/element/{id}"+path, answer)
	}
	s.handle("GET /session/{session}/element/active", func(*request) (any, error) {
		if _, err := device.FocusedText(); err != nil {
			return nil, noSuchElement("%v", err)
		}
		return map[string]string{elementKey: active, "ELEMENT": active}, nil
	})
	s.handle("POST /session/{session}/element", func(r *request) (any, error) {
		found, err := s.find(r)
		if err == nil && len(found) == 0 {
			err = noSuchElement("An element could not be located on the page using the given search parameters")
		}
		if err != nil {
			return nil, err
		}
		return found[0], nil
	})
	s.handle("POST /session/{session}/elements", func(r *request) (any, error) { return s.find(r) })
	element("POST", "/value", func(r *request) (any, error) { return nil, s.setValue(r) })
	element("POST", "/clear", func(r *request) (any, error) {
		if err := s.focus(r.PathValue("id")); err != nil {
			return nil, err
		}
		return nil, device.SetText("")
	})
	element("POST", "/click", func(r *request) (any, error) {
		p, err := s.middle(r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		device.Touch(app.Finger{Path: []screen.Point{p}})
		s.touched()
		return nil, nil
	})
	element("GET", "/text", s.property(func(n *screen.Node) any { return shownValue(n) }))
	element("GET", "/displayed", s.property(func(n *screen.Node) any { return !n.Hidden }))
	element("GET", "/enabled", s.property(func(n *screen.Node) any { return !n.Disabled }))
	element("GET", "/rect", s.property(func(n *screen.Node) any {
		b := *n.Bounds
		return map[string]int{"x": b.Left, "y": b.Top, "width": b.Width(), "height": b.Height()}
	}))
	element("GET", "/attribute/{name}", s.attribute)
}

func (s *uiServer) property(get func(*screen.Node) any) func(*request) (any, error) {
	return func(r *request) (any, error) {
		n, err := s.node(r.PathValue("id"))
		if err != nil {
			return nil, err
		}
		return get(n), nil
	}
}

func (s *uiServer) attribute(r *request) (any, error) {
	n, err := s.node(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	switch name := r.PathValue("name"); name {
	case "text":
		return shownValue(n), nil
	case "resource-id", "resourceId":
		return n.ID, nil
	case "content-desc", "contentDescription":
		return n.Label, nil
	case "displayed":
		return strconv.FormatBool(!n.Hidden), nil
	case "enabled":
		return strconv.FormatBool(!n.Disabled), nil
	case "checked":
		return strconv.FormatBool(n.Checked == screen.ToggleOn), nil
	case "collectionItemInfo":
		if n.Row == nil {
			return nil, nil
		}
		return `{"rowIndex":` + strconv.Itoa(*n.Row) + `,"rowSpan":1,"columnIndex":0,"columnSpan":1,"isHeading":false,"isSelected":false}`, nil
	default:
		return nil, invalidArgument("%s is not a known attribute", name)
	}
}

// find returns the elements that a locator selects, as references.
func (s *uiServer) find(r *request) ([]map[string]string, error) {
	using := r.text("strategy") + r.text("using")
	selector := r.text("selector") + r.text("value")
	matches, err := locator(using, selector)
	if err != nil {
		return nil, err
	}
	s.waitForIdle(r)
	found := []map[string]string{}
	seen := map[string]int{}
	for _, n := range s.nodes() {
		name := valueOf(n.ID) + valueOf(n.Text) + valueOf(n.Label)
		if matches(n) {
			id := elementID(name, seen[name])
			found = append(found, map[string]string{elementKey: id, "ELEMENT": id})
		}
		seen[name]++
	}
	return found, nil
}

// locator returns what a strategy of Appium selects: id, accessibility id, class name, and XPath that consists of one
// step with at most one attribute.
func locator(using, selector string) (func(*screen.Node) bool, error) {
	switch using {
	case "id":
		return func(n *screen.Node) bool {
			id := valueOf(n.ID)
			return id == selector || strings.HasSuffix(id, ":id/"+selector)
		}, nil
	case "accessibility id":
		return func(n *screen.Node) bool { return valueOf(n.Label) == selector }, nil
	case "class name":
		return func(n *screen.Node) bool { return valueOf(n.Class) == selector }, nil
	case "xpath":
		class, condition, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(selector, "//"), "]"), "[@")
		name, quoted, _ := strings.Cut(condition, "=")
		value := strings.Trim(quoted, `"'`)
		known := []string{"text", "resource-id", "content-desc", "is-collection-item"}
		if strings.ContainsAny(class, "/[(") || condition != "" && !slices.Contains(known, name) {
			break
		}
		return func(n *screen.Node) bool {
			properties := map[string]string{
				"text": valueOf(n.Text), "resource-id": valueOf(n.ID), "content-desc": valueOf(n.Label),
				"is-collection-item": strconv.FormatBool(n.Row != nil),
			}
			return (class == "*" || class == valueOf(n.Class)) && (condition == "" || properties[name] == value)
		}, nil
	}
	return nil, &w3cError{http.StatusBadRequest, "invalid selector", "the simulation does not know " + using + " " + selector}
}

// shownValue returns the text of a node, which is its hint where a field is empty.
func shownValue(n *screen.Node) string {
	if n.Text == nil {
		return valueOf(n.Hint)
	}
	return *n.Text
}

// nodes returns the nodes of the active window, or of all windows if that is set.
func (s *uiServer) nodes() []*screen.Node {
	width, height := s.phone.App.Size()
	windows := s.phone.App.Look()
	if !s.setting("enableMultiWindows") {
		windows = []app.Window{activeWindow(windows)}
	}
	var all []*screen.Node
	for _, w := range androidScreen(windows, width, height).Windows {
		all = append(all, screen.NewTree(w.Root, width, height).Nodes()...)
	}
	return all
}

// node returns the element of a reference: its name and which one it is of those with this name.
func (s *uiServer) node(id string) (*screen.Node, error) {
	nth := map[string]int{}
	for _, n := range s.nodes() {
		name := valueOf(n.ID) + valueOf(n.Text) + valueOf(n.Label)
		if id == elementID(name, nth[name]) || id == active && n.Focused {
			return n, nil
		}
		nth[name]++
	}
	return nil, &w3cError{http.StatusNotFound, "stale element reference", "The element '" + id + "' does not exist in DOM anymore"}
}

// middle returns the middle of an element.
func (s *uiServer) middle(id string) (screen.Point, error) {
	n, err := s.node(id)
	if err != nil {
		return screen.Point{}, err
	}
	return n.Bounds.Centre(), nil
}

// focus gives the focus to a field by a touch, unless it has it.
func (s *uiServer) focus(id string) error {
	n, err := s.node(id)
	if err != nil {
		return err
	}
	if !n.Editable {
		return invalidState("Cannot set the element to '%s'. Did you interact with the correct element?", id)
	}
	if !n.Focused {
		s.phone.App.Touch(app.Finger{Path: []screen.Point{n.Bounds.Centre()}})
	}
	return nil
}

// setValue replaces the text of a field, or adds to what it shows, which are points for a password. A text that ends
// with a backslash and n presses ENTER (io.appium.uiautomator2.handler.SendKeysToElement).
func (s *uiServer) setValue(r *request) error {
	if err := s.focus(r.PathValue("id")); err != nil {
		return err
	}
	text, enter := strings.CutSuffix(r.typedText(), `\n`)
	if enter {
		text = strings.TrimSpace(strings.ReplaceAll(text, `\n`, ""))
	}
	if replace, _ := r.body["replace"].(bool); !replace {
		n, err := s.node(active)
		if err != nil {
			return err
		}
		if !n.ShowingHint {
			text = valueOf(n.Text) + text
		}
	}
	if err := s.phone.App.SetText(text); err != nil {
		return err
	}
	if enter {
		s.phone.App.Press(app.KeyEnter)
	}
	return nil
}
