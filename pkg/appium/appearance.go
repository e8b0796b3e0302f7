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

// SetStyle implements mobile.AppearanceSetter.
func (d *androidDriver) SetStyle(ctx context.Context, s mobile.Style) (mobile.Style, error) {
	read := func() (mode string, err error) {
		err = d.query(ctx, "mobile: getUiMode", args{"mode": "night"}, &mode)
		return mode, err
	}
	now, err := d.originals.Replace(originalStyle, read, func() error { return d.changeNightMode(ctx, NightMode(s)) })
	return StyleOf(now), err
}

func (d *androidDriver) changeNightMode(ctx context.Context, mode string) error {
	return d.command(ctx, "mobile: setUiMode", args{"mode": "night", "value": mode}, nil)
}

// SetFontSize implements mobile.AppearanceSetter.
func (d *androidDriver) SetFontSize(ctx context.Context, s mobile.FontSize) (mobile.FontSize, error) {
	read := func() (string, error) {
		out, err := d.Shell(ctx, []string{"settings", "get", "system", "font_scale"})
		return strings.TrimSpace(out), err
	}
	now, err := d.originals.Replace(originalFontSize, read, func() error {
		return d.runShell(ctx, "settings", "put", "system", "font_scale", FontScale(s))
	})
	return FontSizeOf(now), err
}

// SetLocale implements mobile.AppearanceSetter.
func (d *androidDriver) SetLocale(ctx context.Context, app, locale string) (string, error) {
	read := func() (string, error) {
		out, err := d.Shell(ctx, []string{"cmd", "locale", "get-app-locales", app})
		return AppLocales(out), err
	}
	return d.originals.Replace(originalLocales+app, read, func() error { return d.runShell(ctx, SetAppLocales(app, locale)...) })
}

// runShell runs a command that writes nothing of interest.
func (d *androidDriver) runShell(ctx context.Context, command ...string) error {
	_, err := d.Shell(ctx, command)
	return err
}

// putBackAppearance gives what was changed of the appearance its value.
func (d *androidDriver) putBackAppearance(ctx context.Context, o mobile.Original) error {
	app, isLocale := strings.CutPrefix(o.Name, originalLocales)
	switch {
	case o.Name == originalStyle:
		return d.changeNightMode(ctx, o.Value)
	case isLocale:
		return d.runShell(ctx, SetAppLocales(app, o.Value)...)
	case o.Value == "null":
		return d.runShell(ctx, "settings", "delete", "system", "font_scale")
	}
	return d.runShell(ctx, "settings", "put", "system", "font_scale", o.Value)
}

// SetLocale implements mobile.AppearanceSetter.
func (*iosDriver) SetLocale(context.Context, string, string) (string, error) { return "", NoLocale() }

// SetStyle implements mobile.AppearanceSetter.
func (d *iosDriver) SetStyle(ctx context.Context, s mobile.Style) (mobile.Style, error) {
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

// SetFontSize implements mobile.AppearanceSetter.
func (d *iosDriver) SetFontSize(ctx context.Context, s mobile.FontSize) (mobile.FontSize, error) {
	read := func() (size string, err error) {
		err = d.query(ctx, "mobile: contentSize", nil, &size)
		return size, err
	}
	now, err := d.originals.Replace(originalFontSize, read, func() error { return d.changeContentSize(ctx, ContentSize(s)) })
	return FontSizeOf(now), err
}

func (d *iosDriver) changeContentSize(ctx context.Context, size string) error {
	return d.command(ctx, "mobile: setContentSize", args{"size": size}, nil)
}

// putBackAppearance gives what was changed of the appearance its value.
func (d *iosDriver) putBackAppearance(ctx context.Context, o mobile.Original) error {
	switch o.Name {
	case originalStyle:
		return d.command(ctx, "mobile: setAppearance", args{"style": o.Value}, nil)
	case originalEnrollment:
		return d.enroll(ctx, false)
	}
	return d.changeContentSize(ctx, o.Value)
}

var (
	_ mobile.AppearanceSetter = (*androidDriver)(nil)
	_ mobile.AppearanceSetter = (*iosDriver)(nil)
)
