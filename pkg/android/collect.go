package android

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// question is a command line of the phone's shell, the file for its answer, and what people are shown of it.
type question struct{ file, line, shown string }

// questions are what sessions ask a phone.
func questions() []question {
	var settings []string
	for _, name := range append(settingNames(), "secure default_input_method", "secure enabled_accessibility_services",
		"secure show_ime_with_hard_keyboard", "system font_scale", "system accelerometer_rotation", "system user_rotation", "system screen_off_timeout",
		"global stay_on_while_plugged_in", "global airplane_mode_on", "global adb_enabled", "global development_settings_enabled") {
		settings = append(settings, "echo "+adb.Quote(strings.Fields(name)...), adb.Quote(append([]string{"settings", "get"}, strings.Fields(name)...)...))
	}
	return []question{
		{"settings.txt", strings.Join(settings, "; "), "settings get, for each setting"},
		{file: "wm.txt", line: "wm size; wm density"},
		{file: "input_method.txt", line: "dumpsys input_method"},
		{file: "window.txt", line: "dumpsys window"},
		{file: "activities.txt", line: "dumpsys activity activities"},
		{file: "user.txt", line: "am get-current-user"},
	}
}

// settingNames returns the settings that sessions change.
func settingNames() []string {
	var names []string
	for _, s := range settingsFor(firstHiddenAPI) {
		names = append(names, "global "+s.key)
	}
	return names
}

// keptProperties are the beginnings of the names of properties that say what a phone is, and not whose it is.
func keptProperties() []string {
	return []string{
		"ro.build.", "ro.product.", "ro.system.build.", "ro.vendor.build.", "ro.hardware", "ro.sf.", "ro.board", "ro.miui.", "ro.build_", "ro.oplus.",
		"ro.config.", "ro.debuggable", "ro.secure", "ro.adb.secure", "ro.crypto.", "sys.boot_completed", "init.svc.bootanim", "persist.sys.locale",
	}
}

// properties returns the lines of getprop whose names are kept.
func properties(out string) string {
	var kept strings.Builder
	for line := range strings.Lines(out) {
		if slices.ContainsFunc(keptProperties(), func(name string) bool { return strings.HasPrefix(line, "["+name) }) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// Collect implements device.Collector. What needs no session is asked first.
func (b *backend) Collect(ctx context.Context, o device.CollectOptions) (device.Collection, error) {
	if a := b.options.appium; a.URL != "" {
		a.Log = o.Log
		return appium.Collect(ctx, a, o)
	}
	adbServer, devices, err := b.devices(ctx)
	if err != nil {
		return device.Collection{}, err
	}
	chosen, err := b.choose(ctx)
	if err != nil {
		return device.Collection{}, err
	}
	c := mobile.NewCollecting(o)
	for _, d := range devices {
		identify(c, d.Serial)
	}
	c.Ask(ctx, "devices.txt", "host:devices-l", func(ctx context.Context) ([]byte, error) {
		lines, err := adbServer.DeviceLines(ctx)
		return []byte(lines), err
	})
	c.Ask(ctx, "features.txt", "host-serial:…:features", func(ctx context.Context) ([]byte, error) {
		features, err := chosen.Features(ctx)
		return []byte(strings.Join(features, ",") + "\n"), err
	})
	collectShell(ctx, c, chosen)
	c.AskScreen(ctx, "dump.xml", "uiautomator dump", (&driver{phone: &phone{Device: chosen, limits: b.limits}}).dump)
	b.collectServer(ctx, c, o)
	return c.Done(), nil
}

// identify replaces a serial. The words that adb adds stay, and so do emulators, which are the same everywhere.
func identify(c *mobile.Collecting, serial string) {
	if namesEmulator(serial) {
		return
	}
	own, _, _ := strings.Cut(strings.TrimPrefix(serial, "adb-"), "._adb-")
	c.Identifies(own)
}

// collectShell asks the phone's shell.
func collectShell(ctx context.Context, c *mobile.Collecting, phone adb.Device) {
	for _, name := range []string{"getprop ro.serialno", "getprop ro.boot.serialno", "settings get secure android_id", "settings get global device_name"} {
		if out, err := phone.Shell(ctx, name); err == nil && strings.TrimSpace(string(out.Stdout)) != absent {
			c.Identifies(strings.TrimSpace(string(out.Stdout)))
		}
	}
	c.Ask(ctx, "properties.txt", "getprop", func(ctx context.Context) ([]byte, error) {
		out, err := runLine(ctx, phone, "getprop")
		return []byte(properties(out)), err
	})
	for _, q := range questions() {
		c.Ask(ctx, q.file, cmp.Or(q.shown, q.line), func(ctx context.Context) ([]byte, error) {
			out, err := phone.Shell(ctx, q.line)
			return append(out.Stdout, out.Stderr...), err
		})
	}
}

// collectServer asks the UiAutomator2 server, in a session of its own.
func (b *backend) collectServer(ctx context.Context, c *mobile.Collecting, o device.CollectOptions) {
	opened, err := b.open(ctx, device.Session{ID: "collect", Root: o.Root, Log: o.Log})
	if err != nil {
		c.Failed("session.txt", "start a session", err)
		return
	}
	defer func() {
		if err := opened.Close(ctx); err != nil {
			c.Failed("session-end.txt", "end the session", err)
		}
	}()
	c.Is(opened.Info().Product)
	c.AskPicture(ctx, opened)
	d, ok := opened.(*driver)
	if !ok {
		return
	}
	if d.server == nil {
		c.Failed("source.xml", "GET /source", d.withoutServer("reading the source"))
		return
	}
	c.Ask(ctx, "status.json", "GET /status", func(ctx context.Context) (data []byte, err error) {
		err = d.server.client.Call(ctx, http.MethodGet, "/status", nil, (*json.RawMessage)(&data))
		return data, err
	})
	get := func(path string, result any) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			return d.server.read(ctx, "GET "+path, func(ctx context.Context, s *webdriver.Session) error { return s.Get(ctx, path, result) })
		}
	}
	c.Ask(ctx, "server-settings.json", "GET /appium/settings", func(ctx context.Context) (data []byte, err error) {
		err = get("/appium/settings", (*json.RawMessage)(&data))(ctx)
		return data, err
	})
	c.AskScreen(ctx, "source.xml", "GET /source", func(ctx context.Context) ([]byte, error) {
		var text string
		err := get("/source", &text)(ctx)
		return []byte(text), err
	})
}

var _ device.Collector = (*backend)(nil)
