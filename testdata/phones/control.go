package phones

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// This file has what is done to a device itself, not to an app, on both platforms.

// orientation returns how the screen is turned, as WebDriver says it.
func orientation(d *app.Device) string {
	if d.Landscape() {
		return "LANDSCAPE"
	}
	return "PORTRAIT"
}

func rotation(d *app.Device) map[string]int {
	z := 0
	if d.Landscape() {
		z = 270
	}
	return map[string]int{"x": 0, "y": 0, "z": z}
}

func windowRect(d *app.Device) map[string]int {
	width, height := d.Size()
	return map[string]int{"x": 0, "y": 0, "width": width, "height": height}
}

// setOrientation freezes the rotation of the screen, and fails if that does not turn with it.
func (s *uiServer) setOrientation(r *request) (any, error) {
	p := s.phone
	p.setSetting("system accelerometer_rotation", "0")
	p.setSetting("system user_rotation", zeroOrOne(r.text("orientation") == "LANDSCAPE"))
	p.App.EndTurning()
	if orientation(p.App) != r.text("orientation") {
		return nil, invalidState("Screen rotation cannot be changed to %s after 5000ms. Is it locked programmatically?", r.text("orientation"))
	}
	return nil, nil
}

// setOrientation turns the phone. As WebDriverAgent does, it looks at the screen once, after the time of the setting
// animationCoolOffTimeout: XCUIDevice+FBRotation.m. Without that time, the screen has not turned yet.
func (p *IPhone) setOrientation(r *request) (any, error) {
	wanted := strings.ToUpper(r.text("orientation"))
	p.App.SetLandscape(wanted == "LANDSCAPE")
	if p.webDriver.number("animationCoolOffTimeout") > 0 {
		p.App.EndTurning()
	}
	if orientation(p.App) != wanted {
		return nil, &w3cError{500, "unknown error", "Unable To Rotate Device"}
	}
	return nil, nil
}

func (p *IPhone) screenInfo(*request) (any, error) {
	size := windowRect(p.App)
	return map[string]any{"screenSize": size, "statusBarSize": map[string]int{"width": size["width"], "height": 47}, "scale": 3}, nil
}

// cmdStatusBar opens the list of notifications.
func cmdStatusBar(c *call) int {
	switch c.arg(2) {
	case "expand-notifications":
		c.phone.App.OpenNotifications()
		return 0
	}
	c.unknown()
	return 255
}

// location is `cmd location`. As in AOSP's LocationManagerService, providers are added and removed only if the shell may
// set locations: AppOpsManager.noteOp throws where the mode of MOCK_LOCATION is its default.
func location(c *call) int {
	p := c.phone
	if c.arg(2) != "providers" || p.options.Level < 31 {
		c.unknown()
		return 255
	}
	const enabled = "mock provider"
	if p.Setting("appops", "com.android.shell android:mock_location") != "allow" {
		c.errorf("\nException occurred while executing 'providers':\njava.lang.SecurityException: com.android.shell from uid 2000 not " +
			"allowed to perform MOCK_LOCATION\n")
		return 255
	}
	switch c.arg(3) {
	case "add-test-provider":
		p.setSetting(enabled+" "+c.arg(4), "1")
		return 0
	case "set-test-provider-enabled":
		return 0
	case "remove-test-provider":
		p.mu.Lock()
		delete(p.settings, enabled+" "+c.arg(4))
		p.mu.Unlock()
		p.App.SetLocation("")
		return 0
	case "set-test-provider-location":
		if p.Setting(enabled, c.arg(4)) != "1" {
			c.errorf("Exception occurred while executing 'providers':\njava.lang.IllegalArgumentException: %s provider is not a test provider\n", c.arg(4))
			return 255
		}
		p.App.SetLocation(c.after("--location"))
		return 0
	}
	c.unknown()
	return 255
}

// setMockLocation is `appops set APP android:mock_location MODE`.
func (p *Android) setMockLocation(app, mode string) {
	key := "appops " + app + " android:mock_location"
	if mode == "allow" {
		p.setSetting(key, mode)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.settings, key)
}

func (p *IPhone) setLocation(r *request) (any, error) {
	if err := p.refuseLocation(); err != nil {
		return nil, err
	}
	n, ok := r.body["latitude"].(float64)
	m, also := r.body["longitude"].(float64)
	if !ok || !also {
		return nil, invalidArgument("Both latitude and longitude must be provided")
	}
	p.App.SetLocation(fmt.Sprintf("%f,%f", n, m))
	return nil, nil
}

func (p *IPhone) resetLocation(*request) (any, error) {
	if err := p.refuseLocation(); err != nil {
		return nil, err
	}
	p.App.SetLocation("")
	return nil, nil
}

func (p *IPhone) refuseLocation() error {
	if !p.options.NoLocation {
		return nil
	}
	return &w3cError{500, "unknown error", "The current OS runtime does not support location simulation. This API requires an iOS 16.4+ runtime"}
}

func (p *IPhone) location(*request) (any, error) {
	if err := p.refuseLocation(); err != nil {
		return nil, err
	}
	var latitude, longitude any
	if north, east, ok := strings.Cut(p.App.Location(), ","); ok {
		latitude, longitude = json.Number(north), json.Number(east)
	}
	return map[string]any{"latitude": latitude, "longitude": longitude, "altitude": nil}, nil
}

// uiMode is `cmd uimode night`, which says the mode after it has set it.
func uiMode(c *call) int {
	if c.arg(2) != "night" {
		c.unknown()
		return 255
	}
	mode := c.arg(3)
	if mode != "" && c.phone.options.RefuseSettings {
		c.errorf("\nException occurred while executing 'night':\njava.lang.SecurityException: Need MODIFY_DAY_NIGHT_MODE permission\n")
		return 255
	}
	if mode != "" {
		c.phone.setSetting("uimode night", mode)
	}
	c.printf("Night mode: %s\n", c.phone.Setting("uimode", "night"))
	return 0
}

// locale is `cmd locale`, which Android has from 13 on.
func locale(c *call) int {
	p, key := c.phone, "locales "+c.arg(3)
	switch {
	case p.options.Level < 33:
		c.errorf("cmd: Can't find service: locale\n")
		return 20
	case c.arg(2) == "get-app-locales":
		locales := p.Setting("locales", c.arg(3))
		if locales == "null" {
			locales = ""
		}
		c.printf("Locales for %s for user 0 are [%s]\n", c.arg(3), locales)
		return 0
	case c.arg(2) == "set-app-locales" && c.has("--locales"):
		p.setSetting(key, c.after("--locales"))
		return 0
	case c.arg(2) == "set-app-locales":
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.settings, key)
		return 0
	}
	c.unknown()
	return 255
}

// deviceInfo says light for a phone that is not dark.
func (p *IPhone) deviceInfo(*request) (any, error) {
	style := p.App.Style()
	if style == "" {
		style = "light"
	}
	idiom := 0 // of a phone
	if p.options.Tablet {
		idiom = 1
	}
	return map[string]any{
		"currentLocale": "en_US", "timeZone": "Etc/UTC", "name": "iPhone", "model": "iPhone", "uuid": "SIMULATED-1",
		"userInterfaceIdiom": idiom, "userInterfaceStyle": style, "isSimulator": p.options.Simulator, "thermalState": 0,
	}, nil
}

func (p *IPhone) setAppearance(r *request) (any, error) {
	style := strings.ToLower(r.text("name"))
	if style != "light" && style != "dark" {
		return nil, invalidArgument("The appearance name must be either 'light' or 'dark'")
	}
	p.App.SetStyle(style)
	return nil, nil
}

// content is `content`, as far as it is about media. The media provider lists what it was told to scan, under the real
// path of /sdcard. Without --user it is that of user 0, whose storage is the one that adb has (AOSP, Content.java).
func content(c *call) int {
	other := c.ofOther(c.takeUser(0))
	switch {
	case other:
		c.printf("No result found.\n")
		return 0
	case c.arg(1) == "call" && c.after("--method") == "scan_file" && c.phone.options.Level >= 29:
		if _, err := c.phone.files.Stat(c.after("--arg")); err == nil {
			c.phone.App.AddMedium("/storage/emulated/0" + strings.TrimPrefix(c.after("--arg"), "/sdcard"))
		}
		c.printf("Result: Bundle[{}]\n")
		return 0
	case c.arg(1) == "query" && c.after("--uri") == "content://media/external/file":
		_, pattern, _ := strings.Cut(c.after("--where"), "LIKE '%")
		for _, file := range c.phone.App.Media() {
			if strings.HasSuffix(file, strings.ReplaceAll(strings.TrimSuffix(pattern, "'"), "''", "'")) {
				c.printf("Row: 0 _data=%s\n", file)
				return 0
			}
		}
		c.printf("No result found.\n")
		return 0
	}
	c.unknown()
	return 1
}

// screenRecord is `screenrecord FILE`, which writes a video until it is interrupted. An interrupted recording is an MP4,
// one that was killed is not.
func screenRecord(c *call) int {
	p := c.phone
	interrupted := make(chan struct{})
	p.mu.Lock()
	p.recording = interrupted
	p.mu.Unlock()
	_ = p.write(c.last(), []byte("no header yet"), false)
	select {
	case <-interrupted:
		_ = p.write(c.last(), []byte("\x00\x00\x00\x18ftypmp42"), false)
		return 0
	case <-p.ctx.Done(): // it runs on without the one who started it
		return 1
	}
}

// recorderPID is the id of the process of screenrecord.
const recorderPID = 4999

// kill interrupts screenrecord. Other processes go on.
func kill(c *call) int {
	p := c.phone
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recording != nil && c.has("-2") && c.has(strconv.Itoa(recorderPID)) {
		close(p.recording)
		p.recording = nil
	}
	return 0
}
