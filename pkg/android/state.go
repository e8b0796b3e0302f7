package android

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// This file has the capabilities of mobile that change a phone itself. What they change is put back at the end of the
// session, or by the next one: see changes.

// Settings in the table system of the phone's settings, which each user has. Their keys are such as system/10/font_scale:
// they are put back for this user, also when another one uses the phone by then.
const (
	systemTable  = "system/"
	autoRotation = "accelerometer_rotation"
	userRotation = "user_rotation"
	fontScale    = "font_scale"
)

// Keys of the appearance. The key of the locales of an app ends with the app.
const (
	nightMode  = "night-mode"
	appLocales = "locales/"
)

// stateCommand is setting.command for what the capabilities change; nil for another key.
func (s setting) stateCommand() []string {
	app, isLocale := strings.CutPrefix(s.key, appLocales)
	switch {
	case isLocale && s.value == absent:
		return appium.SetAppLocales(app, "")
	case isLocale:
		return appium.SetAppLocales(app, s.value)
	}
	if strings.HasPrefix(s.key, systemTable) {
		return s.systemCommand()
	}
	switch s.key {
	case nightMode:
		return []string{"cmd", "uimode", "night", s.value}
	case recordedKey:
		return []string{"rm", "-f", recordedFile}
	case testProvider:
		return []string{"cmd", "location", "providers", "remove-test-provider", s.value}
	case mockLocation:
		return []string{"appops", "set", shellApp, "android:mock_location", s.value}
	}
	return nil
}

func (s setting) systemCommand() []string {
	user, name, _ := strings.Cut(strings.TrimPrefix(s.key, systemTable), "/")
	if _, err := strconv.Atoi(user); err != nil || !slices.Contains([]string{autoRotation, userRotation, fontScale}, name) {
		return nil
	}
	if s.value == absent {
		return []string{"settings", "delete", "--user", user, "system", name}
	}
	return []string{"settings", "put", "--user", user, "system", name, s.value}
}

// setSystem changes settings of the user in the table system.
func (d *driver) setSystem(ctx context.Context, wanted ...setting) error {
	for _, s := range wanted {
		before, err := d.readSystem(ctx, s.key)
		if err != nil {
			return err
		}
		key := systemTable + d.user + "/" + s.key
		if err := d.changes.set(ctx, setting{key, before}, setting{key, s.value}); err != nil {
			return d.unconfirmedError(err)
		}
	}
	return nil
}

// readSystem returns a setting of the user in the table system.
func (d *driver) readSystem(ctx context.Context, name string) (string, error) {
	out, err := d.run(ctx, "settings", "get", "--user", d.user, "system", name)
	return strings.TrimSpace(out), err
}

// putBackSession puts back what commands of the session have changed. The rest is for all sessions of the run.
func (c *changes) putBackSession(ctx context.Context) error {
	var keys []string
	for _, s := range c.original {
		if !slices.ContainsFunc(append(settingsFor(firstHiddenAPI), stayOn()), func(g setting) bool { return g.key == s.key }) {
			keys = append(keys, s.key)
		}
	}
	if len(keys) == 0 {
		return nil // without keys, everything would be put back
	}
	return c.putBack(ctx, keys...)
}

// SetOrientation implements mobile.OrientationSetter. Rotation 0 is how the device is made, which is landscape for some
// tablets.
func (d *driver) SetOrientation(ctx context.Context, o mobile.Orientation) error {
	rotation := "0"
	if (o == mobile.Landscape) != (d.info.Width > d.info.Height) {
		rotation = "1"
	}
	return d.setSystem(ctx, setting{autoRotation, "0"}, setting{userRotation, rotation})
}

// OpenNotifications implements mobile.NotificationsOpener.
func (d *driver) OpenNotifications(ctx context.Context) error {
	_, err := d.act(ctx, "cmd", "statusbar", "expand-notifications")
	return err
}

// Keys of what a location needs: the providers of test locations, and the shell's right to set them.
const (
	testProvider = "test-provider"
	mockLocation = "mock-location"
)

// shellApp is the app as which the shell runs.
const shellApp = "com.android.shell"

// firstTestLocation is the first API level with `cmd location providers`.
const firstTestLocation = 31

// SetLocation implements mobile.LocationSetter: with a test provider, which can be removed again. The console of an
// emulator is the second way, because no source says that every phone lets its shell add a provider.
func (d *driver) SetLocation(ctx context.Context, l mobile.Location) (note string, err error) {
	emulator, isEmulator := consoleOf(d.Serial(), d.env)
	if d.api >= firstTestLocation {
		note, err = d.setTestLocation(ctx, l)
		if err == nil || !isEmulator {
			return note, err
		}
	}
	if !isEmulator {
		return "", mobile.Unsupported("Android 11 and older cannot be told a location by the shell",
			"use an emulator, Android 12, or an Appium server, whose app io.appium.settings can")
	}
	return "the emulator keeps the location after the session", emulator.run(ctx, fmt.Sprintf("geo fix %f %f", l.Longitude, l.Latitude))
}

// setTestLocation makes a test provider the phone's GPS, and reads back the location that the phone reports.
func (d *driver) setTestLocation(ctx context.Context, l mobile.Location) (note string, err error) {
	const provider = "gps"
	err = d.changes.set(ctx, setting{mockLocation, "default"}, setting{mockLocation, "allow"}, setting{testProvider, provider})
	if err != nil {
		return "", d.unconfirmedError(err)
	}
	at := fmt.Sprintf("%f,%f", l.Latitude, l.Longitude)
	providers := []string{"cmd", "location", "providers"}
	var lines []string
	for _, words := range [][]string{
		{"add-test-provider", provider},
		{"set-test-provider-enabled", provider, "true"},
		{"set-test-provider-location", provider, "--location", at},
	} {
		lines = append(lines, adb.Quote(slices.Concat(providers, words)...))
	}
	if _, err := runLine(ctx, d.Device, strings.Join(lines, " && ")); err != nil {
		return "", d.unconfirmedError(err)
	}
	out, err := d.runAny(ctx, "dumpsys", "location")
	if err == nil && !strings.Contains(out, at) {
		note = "the phone does not say that it is at the location"
	}
	return note, err
}

// firstAppLocales is the first API level with `cmd locale`.
const firstAppLocales = 33

var nightModeLine = lazyregexp.New(`Night mode: (\w+)`)

// SetStyle implements mobile.AppearanceSetter.
func (d *driver) SetStyle(ctx context.Context, s mobile.Style) (mobile.Style, error) {
	read := func() (string, error) {
		out, err := d.runAny(ctx, "cmd", "uimode", "night")
		if err != nil {
			return "", err
		}
		if m := nightModeLine().FindStringSubmatch(out); m != nil {
			return m[1], nil
		}
		return "", mobile.Unsupported("this phone does not say whether it is dark: "+outputText(out), "change it in the settings of the phone")
	}
	before, err := read()
	if err == nil {
		err = d.unconfirmedError(d.changes.set(ctx, setting{nightMode, before}, setting{nightMode, appium.NightMode(s)}))
	}
	if err != nil {
		return "", err
	}
	now, err := read()
	return appium.StyleOf(now), err
}

// SetFontSize implements mobile.AppearanceSetter.
func (d *driver) SetFontSize(ctx context.Context, s mobile.FontSize) (mobile.FontSize, error) {
	if err := d.setSystem(ctx, setting{fontScale, appium.FontScale(s)}); err != nil {
		return "", err
	}
	now, err := d.readSystem(ctx, fontScale)
	return appium.FontSizeOf(now), err
}

// SetLocale implements mobile.AppearanceSetter.
func (d *driver) SetLocale(ctx context.Context, app, locale string) (string, error) {
	if d.api < firstAppLocales {
		return "", mobile.Unsupported("Android 12 and older have one locale for all apps, which the shell cannot change",
			"choose the language in the settings of the phone")
	}
	read := []string{"cmd", "locale", "get-app-locales", app}
	before, err := d.run(ctx, read...)
	if err != nil {
		return "", err
	}
	key := appLocales + app
	err = d.changes.set(ctx, setting{key, cmp.Or(appium.AppLocales(before), absent)}, setting{key, locale})
	if err != nil {
		return "", d.unconfirmedError(err)
	}
	now, err := d.run(ctx, read...)
	return appium.AppLocales(now), err
}

// LockScreen implements mobile.ScreenLocker.
func (d *driver) LockScreen(ctx context.Context) error {
	d.locked = true
	if err := d.input(ctx, "keyevent", "KEYCODE_SLEEP"); err != nil {
		return err
	}
	locked, err := act.Await(ctx, d.limits.unlock, d.limits.poll, func() (bool, error) {
		state, err := readLock(ctx, d.Device)
		return err == nil && !state.ready(), d.wrap(err)
	})
	if locked || err != nil {
		return err
	}
	return fault.New(fault.ToolFailed, "", "%s stays awake", d.Serial())
}

// UnlockScreen implements mobile.ScreenLocker.
func (d *driver) UnlockScreen(ctx context.Context) error {
	d.locked = false
	return d.wrap(d.wake(ctx))
}

// unlockEarlier unlocks a phone that the session has locked.
func (d *driver) unlockEarlier(ctx context.Context) {
	if !d.locked {
		return
	}
	if err := d.UnlockScreen(ctx); err != nil {
		d.log("warn", "the phone stays locked: "+err.Error(), "unlock it")
	}
}

var (
	_ mobile.OrientationSetter   = (*driver)(nil)
	_ mobile.NotificationsOpener = (*driver)(nil)
	_ mobile.ScreenLocker        = (*driver)(nil)
	_ mobile.LocationSetter      = (*driver)(nil)
	_ mobile.AppearanceSetter    = (*driver)(nil)
)
