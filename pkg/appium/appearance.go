package appium

import (
	"context"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// fontName is a size of texts as the platforms name it: Android by a factor, iOS by a category.
type fontName struct {
	size         mobile.FontSize
	android, ios string
}

func fontNames() []fontName {
	return []fontName{
		{mobile.SmallFont, "0.85", "small"},
		{mobile.DefaultFont, "1.0", "large"},
		{mobile.LargeFont, "1.15", "extra-large"},
		{mobile.LargestFont, "1.3", "extra-extra-extra-large"},
	}
}

// FontScale returns Android's factor for a size of texts.
func FontScale(s mobile.FontSize) string { return namesOf(s).android }

// ContentSize returns iOS's category for a size of texts.
func ContentSize(s mobile.FontSize) string { return namesOf(s).ios }

func namesOf(s mobile.FontSize) fontName {
	all := fontNames()
	return all[slices.IndexFunc(all, func(n fontName) bool { return n.size == s })]
}

// FontSizeOf returns the size of a platform's name for it, or the name itself for another one.
func FontSizeOf(name string) mobile.FontSize {
	name = strings.TrimSpace(name)
	all := fontNames()
	i := slices.IndexFunc(all, func(n fontName) bool { return n.android == name || n.ios == name })
	if i < 0 {
		return mobile.FontSize(name)
	}
	return all[i].size
}

// NightMode returns what Android calls a style.
func NightMode(s mobile.Style) string {
	if s == mobile.Dark {
		return "yes"
	}
	return "no"
}

// StyleOf returns the style of a platform's name for it, "" for one that is not a style, such as auto.
func StyleOf(name string) mobile.Style {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "yes", "dark":
		return mobile.Dark
	case "no", "light":
		return mobile.Light
	}
	return ""
}

var appLocales = lazyregexp.New(`are \[([\w,-]*)\]`)

// AppLocales reads `cmd locale get-app-locales`: the locales of an app, separated by commas; "" for those of the system.
func AppLocales(out string) string {
	if m := appLocales().FindStringSubmatch(out); m != nil {
		return m[1]
	}
	return ""
}

// SetAppLocales is the command that gives an app locales, or those of the system for "".
func SetAppLocales(app, locales string) []string {
	command := []string{"cmd", "locale", "set-app-locales", app}
	if locales != "" {
		command = append(command, "--locales", locales)
	}
	return command
}

// NoLocale returns the error for the locale of an app on iOS.
func NoLocale() error {
	return mobile.Unsupported("iOS changes the locale of an app only when it starts", "start it with "+
		"mobile_maestro: {commands: [{launchApp: {appId: ID, arguments: {AppleLanguages: (de), AppleLocale: de_DE}}}]}")
}

// NoFontSize returns the error for the size of texts on an iPhone.
func NoFontSize() error {
	return mobile.Unsupported("the size of texts can be set only on a simulator",
		"start the app with the argument UIPreferredContentSizeCategoryName: UICTContentSizeCategoryXL")
}

// Names of what is put back.
const (
	originalStyle    = "style"
	originalFontSize = "font size"
	originalLocales  = "locales of "

	originalEnrollment = "enrollment"
)

// SetAppearance implements mobile.AppearanceSetter.
func (d *androidDriver) SetAppearance(ctx context.Context, a mobile.Appearance) (now mobile.Appearance, err error) {
	if a.Style != "" {
		now.Style, err = d.setNightMode(ctx, a.Style)
	}
	if err == nil && a.FontSize != "" {
		now.FontSize, err = d.setFontScale(ctx, a.FontSize)
	}
	if err == nil && a.Locale != "" {
		now.Locale, err = d.setLocales(ctx, a.App, a.Locale)
	}
	return now, err
}

func (d *androidDriver) setNightMode(ctx context.Context, s mobile.Style) (now mobile.Style, err error) {
	read := func() (mode string) {
		if err == nil {
			err = d.query(ctx, "mobile: getUiMode", args{"mode": "night"}, &mode)
		}
		return mode
	}
	before := read()
	if err == nil {
		err = d.originals.Keep(originalStyle, before)
	}
	if err == nil {
		err = d.command(ctx, "mobile: setUiMode", args{"mode": "night", "value": NightMode(s)}, nil)
	}
	return StyleOf(read()), err
}

func (d *androidDriver) setFontScale(ctx context.Context, s mobile.FontSize) (mobile.FontSize, error) {
	read := []string{"settings", "get", "system", "font_scale"}
	before, err := d.Shell(ctx, read)
	if err == nil {
		err = d.originals.Keep(originalFontSize, strings.TrimSpace(before))
	}
	if err == nil {
		_, err = d.Shell(ctx, []string{"settings", "put", "system", "font_scale", FontScale(s)})
	}
	if err != nil {
		return "", err
	}
	now, err := d.Shell(ctx, read)
	return FontSizeOf(now), err
}

func (d *androidDriver) setLocales(ctx context.Context, app, locales string) (string, error) {
	read := []string{"cmd", "locale", "get-app-locales", app}
	before, err := d.Shell(ctx, read)
	if err == nil {
		err = d.originals.Keep(originalLocales+app, AppLocales(before))
	}
	if err == nil {
		_, err = d.Shell(ctx, SetAppLocales(app, locales))
	}
	if err != nil {
		return "", err
	}
	now, err := d.Shell(ctx, read)
	return AppLocales(now), err
}

// putBackAppearance gives what SetAppearance has changed its value.
func (d *androidDriver) putBackAppearance(ctx context.Context, o mobile.Original) error {
	app, isLocale := strings.CutPrefix(o.Name, originalLocales)
	command := []string{"settings", "put", "system", "font_scale", o.Value}
	switch {
	case o.Name == originalStyle:
		return d.command(ctx, "mobile: setUiMode", args{"mode": "night", "value": o.Value}, nil)
	case isLocale:
		command = SetAppLocales(app, o.Value)
	case o.Value == "null":
		command = []string{"settings", "delete", "system", "font_scale"}
	}
	_, err := d.Shell(ctx, command)
	return err
}

// SetAppearance implements mobile.AppearanceSetter.
func (d *iosDriver) SetAppearance(ctx context.Context, a mobile.Appearance) (now mobile.Appearance, err error) {
	if a.Locale != "" {
		return now, NoLocale()
	}
	if a.Style != "" {
		now.Style, err = d.setStyle(ctx, a.Style)
	}
	if err == nil && a.FontSize != "" {
		now.FontSize, err = d.setContentSize(ctx, a.FontSize)
	}
	return now, err
}

func (d *iosDriver) setStyle(ctx context.Context, s mobile.Style) (mobile.Style, error) {
	var before, now struct{ Style string }
	err := d.query(ctx, "mobile: getAppearance", nil, &before)
	if err == nil && StyleOf(before.Style) != "" {
		err = d.originals.Keep(originalStyle, before.Style)
	}
	if err == nil {
		err = d.command(ctx, "mobile: setAppearance", args{"style": strings.ToLower(string(s))}, nil)
	}
	if err == nil {
		err = d.query(ctx, "mobile: getAppearance", nil, &now)
	}
	return StyleOf(now.Style), err
}

func (d *iosDriver) setContentSize(ctx context.Context, s mobile.FontSize) (mobile.FontSize, error) {
	var before, now string
	err := d.query(ctx, "mobile: contentSize", nil, &before)
	if err == nil {
		err = d.originals.Keep(originalFontSize, before)
	}
	if err == nil {
		err = d.command(ctx, "mobile: setContentSize", args{"size": ContentSize(s)}, nil)
	}
	if err == nil {
		err = d.query(ctx, "mobile: contentSize", nil, &now)
	}
	return FontSizeOf(now), err
}

// putBackAppearance gives what SetAppearance has changed its value.
func (d *iosDriver) putBackAppearance(ctx context.Context, o mobile.Original) error {
	switch o.Name {
	case originalStyle:
		return d.command(ctx, "mobile: setAppearance", args{"style": o.Value}, nil)
	case originalEnrollment:
		return d.enroll(ctx, false)
	}
	return d.command(ctx, "mobile: setContentSize", args{"size": o.Value}, nil)
}

var (
	_ mobile.AppearanceSetter = (*androidDriver)(nil)
	_ mobile.AppearanceSetter = (*iosDriver)(nil)
)
