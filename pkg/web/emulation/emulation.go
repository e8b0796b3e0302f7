// Package emulation is what pages are told of their device and its user: screen, language, place, time zone, network.
package emulation

import (
	"bytes"
	"compress/gzip"
	_ "embed" // presets.json.gz
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // time zones are validated on systems without a database of them

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// Device is what pages are told of their device. The zero value tells them nothing.
type Device struct {
	screen            [2]int // size of the screen in pixels; zero for the size of the page
	scale             float64
	mobile, touch     bool
	userAgent         string
	Locale            string
	timezone          string
	Zone              *time.Location // of timezone; local when that is empty
	geolocation       map[string]float64
	permissions       []string // as the DevTools protocol names them; nil when not configured
	colorScheme       string
	offline           bool
	ignoreHTTPSErrors bool
	extraHeaders      map[string]string
}

// Options are the options of emulation.
func Options() []device.Option {
	return []device.Option{
		{Key: "preset", Usage: "the phone or tablet to emulate, by Playwright's name of it"},
		{Key: "locale", Usage: "the language of the user, such as de-CH"},
		{Key: "timezone", Usage: "the time zone of the user, such as Europe/Zurich"},
		{Key: "geolocation", Usage: "the place of the user: latitude, longitude and accuracy in metres"},
		{Key: "permissions", Usage: "the permissions that pages have"},
		{Key: "colorScheme", Usage: "light, dark or no-preference"},
		{Key: "userAgent", Usage: "the User-Agent of requests"},
		{Key: "deviceScaleFactor", Usage: "pixels of the screen for each pixel of a page"},
		{Key: "touch", Usage: "pages can be touched", Switch: true},
		{Key: "offline", Usage: "the network is off", Switch: true},
		{Key: "ignoreHttpsErrors", Usage: "open pages whose certificate is not valid", Switch: true},
		{Key: "extraHeaders", Usage: "headers of every request"},
	}
}

// preset is a device of Playwright's table.
type preset struct {
	Viewport, Screen [2]int
	Scale            float64
	Mobile, Touch    bool
	UserAgent        string
}

//go:generate sh -c "cd ../../../testdata/web/playwright && node presets.mjs ../../../pkg/web/emulation/presets.json.gz"
//go:embed presets.json.gz
var presetData []byte

// presets returns Playwright's table of devices by name.
func presets() map[string]preset {
	table := map[string]preset{}
	_ = json.Unmarshal(unpacked(presetData), &table) // the file is a part of the program
	return table
}

func unpacked(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	data, _ := io.ReadAll(r)
	return data
}

// Read reads the options of emulation. The size is that of the preset; zero without one.
func Read(v map[string]string) (e Device, width, height int, err error) {
	e = Device{
		scale: 1, userAgent: v["userAgent"], offline: v["offline"] == "true", ignoreHTTPSErrors: v["ignoreHttpsErrors"] == "true",
		Zone: time.Local, //nolint:gosmopolitan // the browser uses it, too
	}
	if name := v["preset"]; name != "" {
		known := presets()
		p, ok := known[name]
		if !ok {
			return e, 0, 0, fault.New(fault.Misuse, presetHint(name, slices.Sorted(maps.Keys(known))), "preset: %q is not a known device", name)
		}
		width, height = p.Viewport[0], p.Viewport[1]
		e.screen, e.scale, e.mobile, e.touch = p.Screen, p.Scale, p.Mobile, p.Touch
		if e.userAgent == "" {
			e.userAgent = p.UserAgent
		}
	}
	if v["touch"] != "" {
		e.touch = v["touch"] == "true"
	}
	for _, read := range []struct {
		key  string
		into func(string) error
	}{
		{"deviceScaleFactor", e.readScale},
		{"locale", e.readLocale},
		{"timezone", e.readTimezone},
		{"geolocation", e.readGeolocation},
		{"permissions", e.readPermissions},
		{"colorScheme", e.readColorScheme},
		{"extraHeaders", e.readHeaders},
	} {
		if value := v[read.key]; value != "" {
			if err := read.into(value); err != nil {
				return e, 0, 0, err
			}
		}
	}
	return e, width, height, nil
}

// presetHint suggests names of devices.
func presetHint(name string, names []string) string {
	if near := fault.DidYouMean(name, names); near != "" {
		return near
	}
	var known []string
	for _, n := range names {
		if !strings.HasSuffix(n, " landscape") {
			known = append(known, n)
		}
	}
	return "known, and most with landscape after it: " + strings.Join(known, ", ")
}

const maxScale = 10

func (e *Device) readScale(value string) (err error) {
	if e.scale, err = strconv.ParseFloat(value, 64); err != nil || !(e.scale > 0) || e.scale > maxScale {
		return fault.New(fault.Misuse, "write a number such as 2 or 1.5", "deviceScaleFactor: %q is not a number above 0 and up to %d",
			value, maxScale)
	}
	return nil
}

// localeFormat matches the tags of BCP 47 that name a language, and optionally a script, a region and variants.
var localeFormat = lazyregexp.New(`^[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?([-_][A-Za-z0-9]{4,8})*$`)

func (e *Device) readLocale(value string) error {
	if !localeFormat().MatchString(value) {
		return fault.New(fault.Misuse, "write it like de, de-CH or zh-Hant-TW", "locale: %q is not a locale", value)
	}
	e.Locale = strings.ReplaceAll(value, "_", "-")
	return nil
}

func (e *Device) readTimezone(value string) (err error) {
	if e.Zone, err = time.LoadLocation(value); err != nil || value == "Local" {
		return fault.New(fault.Misuse, "write a name of the IANA database, such as Europe/Zurich, America/New_York or UTC",
			"timezone: %q is not a known time zone", value)
	}
	e.timezone = value
	return nil
}

func (e *Device) readGeolocation(value string) error {
	const hint = "write it like {latitude: 46.95, longitude: 7.45}, and accuracy in metres if it matters"
	var given map[string]float64
	if json.Unmarshal([]byte(value), &given) != nil {
		return fault.New(fault.Misuse, hint, "geolocation: %s is not a place", value)
	}
	place := map[string]float64{"accuracy": 0}
	limits := map[string]float64{"latitude": 90, "longitude": 180, "accuracy": 1e9}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		limit, known := limits[key]
		number := given[key]
		switch {
		case !known:
			return fault.New(fault.Misuse, hint, "geolocation: unknown key %q", key)
		case number > limit || number < -limit || key == "accuracy" && number < 0:
			return fault.New(fault.Misuse, hint, "geolocation: %s %g is out of range", key, number)
		}
		place[key] = number
	}
	for _, key := range []string{"latitude", "longitude"} {
		if _, ok := given[key]; !ok {
			return fault.New(fault.Misuse, hint, "geolocation: %q is missing", key)
		}
	}
	e.geolocation = place
	return nil
}

// protocolPermissions returns the names of the DevTools protocol for Playwright's names of permissions.
func protocolPermissions() map[string]string {
	return map[string]string{
		"geolocation": "geolocation", "midi": "midi", "midi-sysex": "midiSysex", "notifications": "notifications",
		"camera": "videoCapture", "microphone": "audioCapture", "background-sync": "backgroundSync",
		"ambient-light-sensor": "sensors", "accelerometer": "sensors", "gyroscope": "sensors", "magnetometer": "sensors",
		"clipboard-read": "clipboardReadWrite", "clipboard-write": "clipboardSanitizedWrite", "payment-handler": "paymentHandler",
		"storage-access": "storageAccess", "local-fonts": "localFonts", "screen-wake-lock": "wakeLockScreen",
	}
}

func (e *Device) readPermissions(value string) error {
	known := protocolPermissions()
	names := slices.Sorted(maps.Keys(known))
	var given []string
	if strings.HasPrefix(value, "[") {
		if json.Unmarshal([]byte(value), &given) != nil {
			return fault.New(fault.Misuse, "write a list such as [geolocation, notifications]", "permissions: %s is not a list of names", value)
		}
	} else {
		given = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	}
	e.permissions = []string{}
	for _, name := range given {
		if known[name] == "" {
			hint := fault.DidYouMean(name, names)
			if hint == "" {
				hint = "known: " + strings.Join(names, ", ")
			}
			return fault.New(fault.Misuse, hint, "permissions: %q is not a known permission", name)
		}
		e.permissions = append(e.permissions, known[name])
	}
	return nil
}

func (e *Device) readColorScheme(value string) error {
	known := []string{"light", "dark", "no-preference"}
	if !slices.Contains(known, value) {
		return fault.New(fault.Misuse, "write "+strings.Join(known, " or "), "colorScheme: %q is not a color scheme", value)
	}
	e.colorScheme = value
	return nil
}

var headerName = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func (e *Device) readHeaders(value string) error {
	var given map[string]any
	if json.Unmarshal([]byte(value), &given) != nil {
		return fault.New(fault.Misuse, "write it like {X-Test: \"1\"}", "extraHeaders: this is not a mapping of headers")
	}
	e.extraHeaders = map[string]string{}
	for name, v := range given {
		text := fmt.Sprint(v)
		if _, isText := v.(string); !headerName().MatchString(name) || strings.ContainsAny(text, "\r\n\x00") || !isText && !isScalar(v) {
			return fault.New(fault.Misuse, "write it like {X-Test: \"1\"}", "extraHeaders: %q is not a header with a text", name)
		}
		e.extraHeaders[name] = text
	}
	return nil
}

func isScalar(v any) bool {
	switch v.(type) {
	case float64, bool:
		return true
	}
	return false
}

// Granted returns the permissions to grant; nil for those that a browser grants by itself. A place that is configured
// can be read.
func (e *Device) Granted() []string {
	if e.geolocation != nil && !slices.Contains(e.permissions, "geolocation") {
		return append(slices.Clone(e.permissions), "geolocation")
	}
	return e.permissions
}

// Metrics are the parameters that set the size of a page.
func (e *Device) Metrics(width, height int) map[string]any {
	screen := e.screen
	if screen == ([2]int{}) {
		screen = [2]int{width, height}
	}
	orientation := map[string]any{"type": "landscapePrimary", "angle": 0}
	switch {
	case e.mobile && width > height:
		orientation["angle"] = 90
	case e.mobile:
		orientation["type"] = "portraitPrimary"
	}
	scale := e.scale
	if scale == 0 {
		scale = 1
	}
	return map[string]any{
		"width":             width,
		"height":            height,
		"screenWidth":       screen[0],
		"screenHeight":      screen[1],
		"deviceScaleFactor": scale,
		"mobile":            e.mobile,
		"screenOrientation": orientation,
	}
}

// Calls returns the methods and parameters, in turn, that tell a page of the device. Setting the locale is not among
// them.
func (e *Device) Calls() []any {
	var pairs []any
	add := func(needed bool, method string, params map[string]any) {
		if needed {
			pairs = append(pairs, method, params)
		}
	}
	add(e.userAgent != "" || e.Locale != "", "Emulation.setUserAgentOverride", e.agent())
	add(e.timezone != "", "Emulation.setTimezoneOverride", map[string]any{"timezoneId": e.timezone})
	add(e.touch, "Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true})
	add(e.colorScheme != "", "Emulation.setEmulatedMedia", map[string]any{
		"features": []map[string]any{{"name": "prefers-color-scheme", "value": e.colorScheme}},
	})
	if e.geolocation != nil {
		pairs = append(pairs, "Emulation.setGeolocationOverride", e.geolocation)
	}
	add(e.ignoreHTTPSErrors, "Security.setIgnoreCertificateErrors", map[string]any{"ignore": true})
	add(len(e.extraHeaders) > 0, "Network.setExtraHTTPHeaders", map[string]any{"headers": e.extraHeaders})
	add(e.offline, "Network.emulateNetworkConditions", map[string]any{
		"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
	})
	return pairs
}

// agent are the parameters that set the user agent and the language of requests.
func (e *Device) agent() map[string]any {
	params := map[string]any{"userAgent": e.userAgent}
	if e.Locale != "" {
		params["acceptLanguage"] = e.Locale
	}
	if e.userAgent == "" {
		return params
	}
	about := map[string]any{"mobile": e.mobile, "model": "", "architecture": "x86", "platform": "", "platformVersion": ""}
	for _, known := range []struct {
		platform, architecture string
		version                *regexp.Regexp
	}{
		{"Android", "arm", regexp.MustCompile(`Android (\d+(?:\.\d+){0,2})`)},
		{"iOS", "arm", regexp.MustCompile(`(?:iPhone OS|iPad; CPU OS) (\d+(?:_\d+)?)`)},
		{"macOS", "x86", regexp.MustCompile(`Mac OS X (\d+(?:_\d+){0,2})`)},
		{"Windows", "x86", regexp.MustCompile(`Windows\D+(\d+(?:\.\d+){0,2})`)},
		{"Linux", "x86", regexp.MustCompile(`(?i)linux()`)},
	} {
		if found := known.version.FindStringSubmatch(e.userAgent); found != nil {
			about["platform"], about["architecture"], about["platformVersion"] = known.platform, known.architecture, found[1]
			break
		}
	}
	params["userAgentMetadata"] = about
	return params
}
