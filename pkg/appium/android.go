package appium

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// androidDriver is a phone behind Appium's UiAutomator2 driver.
type androidDriver struct {
	*driver
	before, now networks
	changed     bool // before and now are known
	log         keptLog
}

// networks are those of a phone that are on.
type networks struct {
	Wifi bool `json:"wifi"`
	Data bool `json:"data"`
}

// Read implements mobile.Driver.
func (d *androidDriver) Read(ctx context.Context) (mobile.Screen, error) {
	result, err := d.readSource(ctx, SourceOptions(d.info))
	return ScreenOf(result), err
}

// ReadCells implements mobile.CellReader.
func (d *androidDriver) ReadCells(ctx context.Context) (mobile.Screen, error) {
	call := func(ctx context.Context, what string, call func(context.Context, *webdriver.Session) error) error {
		return d.Session.Read(ctx, what, func(ctx context.Context) error { return call(ctx, d.Session.Session) })
	}
	reader := CellReader{Source: d.readSource, Call: call, Strategy: "using", Selector: "value"}
	result, err := reader.Read(ctx, SourceOptions(d.info))
	return ScreenOf(result), err
}

func (d *androidDriver) readSource(ctx context.Context, o source.Options) (source.Result, error) {
	var text string
	err := d.Session.Read(ctx, "read the screen", func(ctx context.Context) (err error) {
		text, err = d.Source(ctx)
		return err
	})
	if err != nil {
		return source.Result{}, err
	}
	return source.UIAutomator2([]byte(text), o)
}

var _ mobile.CellReader = (*androidDriver)(nil)

// SetText implements mobile.Driver.
func (d *androidDriver) SetText(ctx context.Context, text string) error {
	if err := CheckLength(text); err != nil {
		return err
	}
	whole, rest := CutEnter(text)
	if err := d.ReplaceText(ctx, whole); err != nil || rest == "" {
		return err
	}
	return d.Type(ctx, rest)
}

// Type implements mobile.Driver. The server would replace what the field holds by what it shows and the text, which for
// a password are points.
func (d *androidDriver) Type(ctx context.Context, text string) error {
	return d.command(ctx, "mobile: type", args{"text": text}, nil)
}

// Press implements mobile.Driver.
func (d *androidDriver) Press(ctx context.Context, key mobile.Key) error {
	code, err := KeyCode(key)
	if err != nil {
		return err
	}
	return d.command(ctx, "mobile: pressKey", args{"keycode": code}, nil)
}

// HideKeyboard implements mobile.Driver. Appium says that a keyboard is shown also while a hardware keyboard is used, and
// then fails to hide it.
func (d *androidDriver) HideKeyboard(ctx context.Context) error {
	var shown bool
	if err := d.query(ctx, "mobile: isKeyboardShown", nil, &shown); err != nil || !shown {
		return err
	}
	err := d.command(ctx, "mobile: hideKeyboard", nil, nil)
	if fault.KindOf(err) != fault.ToolFailed {
		return err
	}
	now, readErr := d.Read(ctx)
	switch {
	case readErr != nil:
		return err
	case now.Keyboard == nil:
		return nil
	}
	return mobile.ErrKeyboardStays
}

// Launch implements mobile.Driver.
func (d *androidDriver) Launch(ctx context.Context, l mobile.Launch) error {
	extras, err := extrasOf(l)
	if err != nil {
		return err
	}
	if err := l.Prepare(ctx, d); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(l.Permissions)) {
		if err := d.setPermission(ctx, l.App, name, l.Permissions[name]); err != nil {
			return err
		}
	}
	if len(l.Arguments) == 0 {
		return WithInstallHint(d.command(ctx, "mobile: activateApp", args{"appId": l.App}, nil))
	}
	return WithInstallHint(d.command(ctx, "mobile: startActivity", args{
		"action": "android.intent.action.MAIN", "categories": "android.intent.category.LAUNCHER", "package": l.App,
		"extras": extras,
	}, nil))
}

var notInstalled = lazyregexp.New(`(?i)installed|unable to resolve|cannot launch`)

// WithInstallHint returns the error of an app that did not start, with a hint if it is not installed.
func WithInstallHint(err error) error {
	if e := fault.As(err); e != nil && e.Hint == "" && notInstalled().MatchString(e.Message) {
		e.Hint = "install it, or name its file with device: {app: …}"
	}
	return err
}

// extrasOf returns arguments as those of `am start`: type, name and value.
func extrasOf(l mobile.Launch) ([][]string, error) {
	extras, err := mobile.Extras(l.Arguments)
	all := make([][]string, len(extras))
	for i, e := range extras {
		all[i] = []string{e.Type, e.Name, e.Value}
	}
	return all, err
}

// setPermission sets one permission, or all, to allow, deny or unset.
func (d *androidDriver) setPermission(ctx context.Context, app, name, state string) error {
	action := "revoke"
	if state == "allow" {
		action = "grant"
	}
	err := d.command(ctx, "mobile: changePermissions", args{"permissions": name, "appPackage": app, "action": action}, nil)
	if err != nil && undeclared().MatchString(err.Error()) {
		return nil
	}
	if name == "all" && state == "allow" { // what a launch that names none asks for
		return d.optional(app, err)
	}
	return err
}

// undeclared is what Android says of permissions that an app does not request or that cannot be changed.
var undeclared = lazyregexp.New(`has not requested permission|not a changeable permission type|Unknown permission`)

// Stop implements mobile.Driver.
func (d *androidDriver) Stop(ctx context.Context, app string) error {
	return d.command(ctx, "mobile: terminateApp", args{"appId": app}, nil)
}

// Clear implements mobile.Driver.
func (d *androidDriver) Clear(ctx context.Context, app string) error {
	return d.command(ctx, "mobile: clearApp", args{"appId": app}, nil)
}

// Grant implements mobile.Driver.
func (d *androidDriver) Grant(ctx context.Context, app string, permissions []string) error {
	for _, name := range permissions {
		if err := d.setPermission(ctx, app, name, "allow"); err != nil {
			return err
		}
	}
	return nil
}

// Apps implements mobile.Driver. Without shell commands, the list of a server has the apps of the system too.
func (d *androidDriver) Apps(ctx context.Context, system bool) ([]string, error) {
	command := []string{"pm", "list", "packages"}
	if !system {
		command = append(command, "-3")
	}
	output, err := d.Shell(ctx, command)
	if err == nil {
		return Packages(output), nil
	}
	if !isRefused(err) || !system {
		return nil, err
	}
	var apps map[string]any
	err = d.query(ctx, "mobile: listApps", nil, &apps)
	return slices.Sorted(maps.Keys(apps)), err
}

// Foreground implements mobile.Driver.
func (d *androidDriver) Foreground(ctx context.Context) (string, error) {
	var app string
	err := d.query(ctx, "mobile: getCurrentPackage", nil, &app)
	if isRefused(err) {
		return "", nil
	}
	return app, err
}

// OpenURL implements mobile.Driver.
func (d *androidDriver) OpenURL(ctx context.Context, url, app string) error {
	a := args{"url": url}
	if app != "" {
		a["package"] = app
	}
	return d.command(ctx, "mobile: deepLink", a, nil)
}

// Clipboard implements mobile.Driver. Appium 1 has only a path for it, Appium 3 no path for setting it.
func (d *androidDriver) Clipboard(ctx context.Context) (string, error) {
	var encoded string
	err := d.query(ctx, "mobile: getClipboard", nil, &encoded)
	if isRefused(err) {
		text, err := d.ReadClipboard(ctx, "/appium/device/get_clipboard")
		return text, d.refusal("reading the clipboard", err)
	}
	if err != nil {
		return "", err
	}
	return d.decodeClipboard(encoded)
}

// SetClipboard implements mobile.Driver.
func (d *androidDriver) SetClipboard(ctx context.Context, text string) error {
	err := d.command(ctx, "mobile: setClipboard", args(clipboardContent(text)), nil)
	if isRefused(err) {
		err = d.refusal("setting the clipboard", d.WriteClipboard(ctx, "/appium/device/set_clipboard", text))
	}
	return err
}

// SetNetwork implements mobile.Driver.
func (d *androidDriver) SetNetwork(ctx context.Context, connected bool) error {
	if !d.changed {
		d.before = networks{Wifi: true, Data: true}
		err := d.query(ctx, "mobile: getConnectivity", args{"services": []string{"wifi", "data"}}, &d.before)
		if err != nil && !isRefused(err) {
			return err
		}
		d.changed = true
	}
	return d.setNetworks(ctx, networks{Wifi: connected, Data: connected})
}

func (d *androidDriver) setNetworks(ctx context.Context, wanted networks) error {
	d.now = wanted
	return d.command(ctx, "mobile: setConnectivity", args{"wifi": wanted.Wifi, "data": wanted.Data}, nil)
}

// Shell implements mobile.Driver.
func (d *androidDriver) Shell(ctx context.Context, argv []string) (string, error) {
	if len(argv) == 0 {
		return "", fault.New(fault.InvalidArguments, "", "the command is empty")
	}
	quoted := make([]string, len(argv)) // adb joins the words with spaces, for the shell of the phone
	for i, word := range argv {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var output struct{ Stdout, Stderr string }
	err := d.command(ctx, "mobile: shell", args{"command": quoted[0], "args": quoted[1:], "includeStderr": true}, &output)
	return output.Stdout + output.Stderr, err
}

// Close implements mobile.Driver.
func (d *androidDriver) Close(ctx context.Context) error {
	if d.changed && d.now != d.before {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.options.Limits.Close)
		defer cancel()
		if err := d.setNetworks(closing, d.before); err != nil {
			d.options.Log("warn", "the networks of the device are not as they were before: "+err.Error(), "")
		}
	}
	return d.driver.Close(ctx)
}
