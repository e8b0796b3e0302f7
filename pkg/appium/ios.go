package appium

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// iosDriver is a phone behind Appium's XCUITest driver.
type iosDriver struct {
	*driver
	source   *IOSSource // nil when the server refuses the source as JSON
	gestures Gestures
	log      keptLog
	reports  keptLog // of crashes
}

func newIOSDriver(d *driver) *iosDriver {
	i := &iosDriver{driver: d}
	i.source = &IOSSource{Source: i.sourceJSON, Settings: d.ChangeSettings, Log: d.options.Log}
	return i
}

// Read implements mobile.Driver.
func (d *iosDriver) Read(ctx context.Context) (mobile.Screen, error) {
	result, err := d.readSource(ctx)
	return d.gestures.Screen(result), err
}

func (d *iosDriver) readSource(ctx context.Context) (source.Result, error) {
	options := SourceOptions(d.info)
	if d.source != nil {
		data, err := d.source.Read(ctx)
		if err == nil {
			return source.WDAJSON(data, options)
		}
		if !isRefused(err) {
			return source.Result{}, err
		}
		d.source = nil
		d.options.Log("info", "the screen is read as XML, which does not distinguish identifiers from labels: "+err.Error(), "")
	}
	var text string
	err := d.Session.Read(ctx, "read the screen", func(ctx context.Context) (err error) {
		text, err = d.Source(ctx)
		return err
	})
	if err != nil {
		return source.Result{}, err
	}
	return source.WDAXML([]byte(text), options)
}

func (d *iosDriver) sourceJSON(ctx context.Context) (json.RawMessage, error) {
	var data json.RawMessage
	err := d.query(ctx, "mobile: source", args{"format": "json", "excludedAttributes": UnusedAttributes}, &data)
	if err != nil || len(data) == 0 || data[0] != '"' {
		return data, err
	}
	var text string // some servers send it as text
	if err := json.Unmarshal(data, &text); err != nil {
		return data, nil //nolint:nilerr // the reader says what is wrong with it
	}
	return json.RawMessage(text), nil
}

// Press implements mobile.Driver.
func (d *iosDriver) Press(ctx context.Context, key mobile.Key) error {
	if text := KeyText(key); text != "" {
		return d.TypeText(ctx, text)
	}
	switch key {
	case mobile.Home:
		return d.command(ctx, "mobile: pressButton", args{"name": "home"}, nil)
	case mobile.Back:
		return d.Touch(ctx, d.gestures.Back(d.info))
	default:
		return NoKey(key)
	}
}

// KeyText returns the character that iOS types for a key, "" for a key without one.
func KeyText(key mobile.Key) string {
	return map[mobile.Key]string{mobile.Enter: "\n", mobile.Backspace: "\b", mobile.Tab: "\t"}[key]
}

// NoKey returns the error for a key that iOS does not have.
func NoKey(key mobile.Key) error {
	return mobile.Unsupported(fmt.Sprintf("iOS has no key %s", key), "tap a button of the app")
}

// Gestures are those of iOS itself, for the size that the screen had when it was last read.
type Gestures struct{ width, height int }

// Screen returns what was read.
func (g *Gestures) Screen(r source.Result) mobile.Screen {
	if r.Tree != nil {
		g.width, g.height = r.Tree.Width, r.Tree.Height
	}
	return ScreenOf(r)
}

// Back returns the swipe from the left edge, which goes back.
func (g *Gestures) Back(info mobile.Info) mobile.Finger {
	width, height := cmp.Or(g.width, info.Width), cmp.Or(g.height, info.Height)
	return mobile.Finger{
		Path: []screen.Point{{X: 1, Y: height / 2}, {X: width * 3 / 4, Y: height / 2}}, Move: 300 * time.Millisecond,
	}
}

// keyboardMotion is how long the keyboard may take to disappear after a drag that hides it.
const keyboardMotion = 300 * time.Millisecond

// HideKeyboard is that of mobile.Driver for a device of iOS. dismiss asks WebDriverAgent to hide the keyboard, which it
// can on an iPad. On an iPhone it would press nothing, look for 3 s, and fail. There a short drag above the keyboard hides
// it in apps whose scroll view has a keyboardDismissMode.
func HideKeyboard(ctx context.Context, d mobile.Driver, dismiss Caller) error {
	s, err := d.Read(ctx)
	if err != nil || s.Keyboard == nil {
		return err
	}
	if d.Info().Tablet {
		if err := dismiss(ctx); !Answered(err) {
			return err
		}
	}
	for _, drag := range dragsAbove(s) {
		if err := d.Touch(ctx, drag); err != nil {
			return err
		}
		s, err := d.Read(ctx)
		if err == nil && s.Keyboard != nil {
			if err = act.Pause(ctx, keyboardMotion); err == nil {
				s, err = d.Read(ctx)
			}
		}
		if err != nil || s.Keyboard == nil {
			return err
		}
	}
	return mobile.ErrKeyboardStays
}

// dragsAbove returns the drags that may hide the keyboard of a screen, as Maestro makes them: up, and to the side. They
// begin in the middle of the screen, or above that where nothing is that a short drag could press; none if all is such.
func dragsAbove(s mobile.Screen) []mobile.Finger {
	width, height := s.Tree.Width, s.Tree.Height
	dx, dy := width*3/100, max(1, height*3/100)
	for y := min(height/2, s.Keyboard.Top-2*dy); y > height/8; y -= dy {
		for _, x := range []int{width / 2, width / 8, width * 7 / 8} {
			from := screen.Point{X: x, Y: y}
			if isPressable(s.Tree, from) {
				continue
			}
			const move = 50 * time.Millisecond
			return []mobile.Finger{
				{Path: []screen.Point{from, {X: x, Y: y - dy}}, Move: move},
				{Path: []screen.Point{from, {X: x - dx, Y: y}}, Move: move},
			}
		}
	}
	return nil
}

// isPressable reports whether a short drag from a point could press something. Controls of iOS are pressed also if the
// finger leaves them by up to 70 points, unless they are in something that scrolls, which then takes the drag.
func isPressable(t *screen.Tree, p screen.Point) bool {
	return slices.ContainsFunc(t.Nodes(), func(n *screen.Node) bool {
		if n.Bounds == nil || !n.Bounds.Contains(p) || n.MultiLine { // a text of several lines scrolls itself
			return false
		}
		named := n.RoleName() == "generic" && len(n.Children) == 0 && n.Label != nil // perhaps a button of React Native
		if !named && !n.Editable && !screen.IsControl(n.RoleName()) {
			return false
		}
		for up := t.Parent(n); up != nil; up = t.Parent(up) {
			if up.Scrollable {
				return false
			}
		}
		return true
	})
}

// HideKeyboard implements mobile.Driver.
func (d *iosDriver) HideKeyboard(ctx context.Context) error {
	return HideKeyboard(ctx, d, func(ctx context.Context) error {
		return d.command(ctx, "mobile: hideKeyboard", nil, nil)
	})
}

// Focus implements mobile.FocusReader.
func (d *iosDriver) Focus(ctx context.Context) (*screen.Rect, error) { return d.FocusedArea(ctx) }

// Alert implements mobile.AlertReader.
func (d *iosDriver) Alert(ctx context.Context) (string, error) { return d.AlertText(ctx) }

// StatusBar implements mobile.StatusBarReader.
func (d *iosDriver) StatusBar(ctx context.Context) int {
	return d.StatusBarHeight(ctx, func(ctx context.Context, info any) error {
		return d.Execute(ctx, "mobile: deviceScreenInfo", nil, info)
	})
}

// Launch implements mobile.Driver.
func (d *iosDriver) Launch(ctx context.Context, l mobile.Launch) error {
	if err := l.Prepare(ctx, d); err != nil {
		return err
	}
	if err := d.setPermissions(ctx, l.App, l.Permissions); err != nil {
		return err
	}
	return WithInstallHint(d.command(ctx, "mobile: launchApp", args{"bundleId": l.App, "arguments": LaunchArguments(l.Arguments)}, nil))
}

// LaunchArguments returns arguments as those of the process, which iOS reads into its user defaults: -name value.
func LaunchArguments(arguments map[string]any) []string {
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		list = append(list, "-"+strings.TrimPrefix(name, "-"), asText(arguments[name]))
	}
	return list
}

func asText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

func (d *iosDriver) setPermissions(ctx context.Context, app string, permissions map[string]string) error {
	if len(permissions) == 0 {
		return nil
	}
	states := map[string]string{"allow": "yes", "deny": "no", "unset": "unset"}
	access := map[string]string{}
	for name, state := range permissions {
		for _, own := range permissionNames(name) {
			access[own] = states[state]
		}
	}
	err := d.command(ctx, "mobile: setPermission", args{"bundleId": app, "access": access}, nil)
	if len(permissions) == 1 && permissions["all"] == "allow" { // what a launch that names none asks for
		return d.optional(app, err)
	}
	return err
}

// permissionNames returns the names that Appium has for a permission of simctl.
func permissionNames(name string) []string {
	switch name {
	case "all":
		return []string{"calendar", "camera", "contacts", "location", "medialibrary", "microphone", "notifications", "photos", "reminders"}
	case "media-library":
		return []string{"medialibrary"}
	}
	return []string{name}
}

// Clipboard implements mobile.Driver.
func (d *iosDriver) Clipboard(ctx context.Context) (string, error) {
	text, err := d.pasteboard().Read(ctx)
	return text, d.refusal("reading the clipboard", err)
}

// SetClipboard implements mobile.Driver.
func (d *iosDriver) SetClipboard(ctx context.Context, text string) error {
	return d.refusal("setting the clipboard", d.pasteboard().Write(ctx, text))
}

func (d *iosDriver) pasteboard() Pasteboard {
	product := ""
	for _, capabilities := range []map[string]any{d.Capabilities(), d.options.request().AlwaysMatch} {
		for _, name := range []string{"updatedWDABundleId", "appium:updatedWDABundleId"} {
			if own, _ := capabilities[name].(string); own != "" {
				product = own
			}
		}
	}
	return Pasteboard{
		Get: func(ctx context.Context) (string, error) {
			return d.ReadClipboard(ctx, "/appium/device/get_clipboard")
		},
		Set: func(ctx context.Context, text string) error {
			return d.WriteClipboard(ctx, "/appium/device/set_clipboard", text)
		},
		Foreground: d.Foreground, Runner: RunnerOf(product),
		Activate: func(ctx context.Context, app string) error {
			return d.command(ctx, "mobile: activateApp", args{"bundleId": app}, nil)
		},
	}
}

// Stop implements mobile.Driver.
func (d *iosDriver) Stop(ctx context.Context, app string) error {
	return d.command(ctx, "mobile: terminateApp", args{"bundleId": app}, nil)
}

// Clear implements mobile.Driver.
func (d *iosDriver) Clear(ctx context.Context, app string) error {
	err := d.command(ctx, "mobile: clearApp", args{"bundleId": app}, nil)
	if isRefused(err) {
		return NoClear(app, err)
	}
	return err
}

// NoClear returns the error for an app on an iPhone, whose data cannot be removed.
func NoClear(app string, cause error) error {
	e := mobile.Unsupported("what "+app+" has stored can be removed only on a simulator",
		"use launchMode FORCE_RESTART and let the app reset itself, such as by an argument or a deep link, or reinstall it")
	e.Cause = cause
	return e
}

// Grant implements mobile.Driver.
func (d *iosDriver) Grant(ctx context.Context, app string, permissions []string) error {
	states := map[string]string{}
	for _, name := range permissions {
		states[name] = "allow"
	}
	return d.setPermissions(ctx, app, states)
}

// Apps implements mobile.Driver.
func (d *iosDriver) Apps(ctx context.Context, system bool) ([]string, error) {
	kinds := []string{"User"}
	if system {
		kinds = append(kinds, "System")
	}
	var all []string
	for _, kind := range kinds {
		var apps map[string]any
		if err := d.query(ctx, "mobile: listApps", args{"applicationType": kind}, &apps); err != nil {
			return nil, err
		}
		all = append(all, slices.Sorted(maps.Keys(apps))...)
	}
	return all, nil
}

// Foreground implements mobile.Driver.
func (d *iosDriver) Foreground(ctx context.Context) (string, error) {
	var app struct {
		BundleID string `json:"bundleId"`
	}
	err := d.query(ctx, "mobile: activeAppInfo", nil, &app)
	if isRefused(err) {
		return "", nil
	}
	return app.BundleID, err
}

// OpenURL implements mobile.Driver.
func (d *iosDriver) OpenURL(ctx context.Context, url, app string) error {
	a := args{"url": url}
	if app != "" {
		a["bundleId"] = app
	}
	return d.command(ctx, "mobile: deepLink", a, nil)
}

// SetNetwork implements mobile.Driver.
func (*iosDriver) SetNetwork(context.Context, bool) error { return NoNetwork() }

// NoNetwork returns the error for connecting or disconnecting an iPhone.
func NoNetwork() error {
	return mobile.Unsupported("iOS does not let tests connect or disconnect its networks", "use the settings of the device")
}

// Shell implements mobile.Driver.
func (*iosDriver) Shell(context.Context, []string) (string, error) { return "", NoShell() }

// NoShell returns the error for a shell command on an iPhone.
func NoShell() error { return mobile.Unsupported("iOS has no shell commands", "") }
