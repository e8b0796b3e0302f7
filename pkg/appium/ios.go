package appium

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// iosDriver is a phone behind Appium's XCUITest driver.
type iosDriver struct {
	*driver
	json  bool // the server has not refused the source as JSON
	depth int  // the setting snapshotMaxDepth
}

// Read implements mobile.Driver.
func (d *iosDriver) Read(ctx context.Context) (mobile.Screen, error) {
	result, err := d.readSource(ctx)
	return mobile.Screen{Tree: result.Tree, Keyboard: result.Keyboard}, err
}

func (d *iosDriver) readSource(ctx context.Context) (source.Result, error) {
	options := source.Options{Width: d.info.Width, Height: d.info.Height}
	if d.json {
		data, err := d.readJSON(ctx)
		if err == nil {
			return source.WDAJSON(data, options)
		}
		if !isRefused(err) {
			return source.Result{}, err
		}
		d.json = false
		d.options.Log("info", "the screen is read as XML, in which identifiers and labels are not told apart: "+err.Error(), "")
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

// readJSON returns the source as JSON. It raises snapshotMaxDepth once when parts may be missing.
func (d *iosDriver) readJSON(ctx context.Context) ([]byte, error) {
	data, err := d.sourceJSON(ctx)
	if err != nil || d.depth != NormalDepth || !IsCut(data, d.depth) {
		return data, err
	}
	if err := d.setDepth(ctx, LargeDepth); err != nil {
		return data, nil //nolint:nilerr // what was read is better than nothing
	}
	whole, err := d.sourceJSON(ctx)
	if err != nil {
		d.options.Log("warn", "the screen has more levels than the device can read; the deepest are missing: "+err.Error(), "")
		return data, d.setDepth(ctx, NormalDepth+1)
	}
	return whole, nil
}

func (d *iosDriver) setDepth(ctx context.Context, depth int) error {
	d.depth = depth
	return d.Act(ctx, "change settings", func(ctx context.Context) error {
		return d.Settings(ctx, map[string]any{"snapshotMaxDepth": depth})
	})
}

func (d *iosDriver) sourceJSON(ctx context.Context) ([]byte, error) {
	var data json.RawMessage
	err := d.query(ctx, "mobile: source", args{"format": "json"}, &data)
	if err != nil || len(data) == 0 || data[0] != '"' {
		return data, err
	}
	var text string // some servers send it as text
	if err := json.Unmarshal(data, &text); err != nil {
		return data, nil //nolint:nilerr // the reader says what is wrong with it
	}
	return []byte(text), nil
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
		return d.Touch(ctx, EdgeSwipe(d.info))
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

// EdgeSwipe is the gesture of iOS for going back.
func EdgeSwipe(info mobile.Info) mobile.Finger {
	return mobile.Finger{
		Path: []screen.Point{{X: 1, Y: info.Height / 2}, {X: info.Width * 3 / 4, Y: info.Height / 2}}, Move: 300 * time.Millisecond,
	}
}

// KeyboardSwipe is the small gesture with which the keyboard of iOS is hidden where it has no key for that.
func KeyboardSwipe(info mobile.Info) mobile.Finger {
	from := 60
	if info.Width > info.Height {
		from = 47
	}
	const by = 3
	return mobile.Finger{
		Path: []screen.Point{{X: info.Width / 2, Y: info.Height * from / 100}, {X: info.Width / 2, Y: info.Height * (from + by) / 100}},
		Move: 50 * time.Millisecond,
	}
}

// HideKeyboard implements mobile.Driver.
func (d *iosDriver) HideKeyboard(ctx context.Context) error {
	s, err := d.Read(ctx)
	if err != nil || s.Keyboard == nil {
		return err
	}
	err = d.command(ctx, "mobile: hideKeyboard", nil, nil)
	if Answered(err) {
		return d.Touch(ctx, KeyboardSwipe(d.info))
	}
	return err
}

// Launch implements mobile.Driver.
func (d *iosDriver) Launch(ctx context.Context, l mobile.Launch) error {
	if l.Stop {
		if err := d.Stop(ctx, l.App); err != nil {
			return err
		}
	}
	if l.Clear {
		if err := d.Clear(ctx, l.App); err != nil {
			return err
		}
	}
	if err := d.setPermissions(ctx, l.App, l.Permissions); err != nil {
		return err
	}
	return d.command(ctx, "mobile: launchApp", args{"bundleId": l.App, "arguments": LaunchArguments(l.Arguments)}, nil)
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
	return d.command(ctx, "mobile: setPermission", args{"bundleId": app, "access": access}, nil)
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
