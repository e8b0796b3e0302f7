package phones

import (
	"bytes"
	"cmp"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/testdata/phones/adbd"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// commands returns what the shell can run.
func commands() map[string]func(*call) int {
	return map[string]func(*call) int{
		"[": testCommand, "am": am, "appops": appops, "cat": cat, "cmd": cmd, "date": date, "content": content, "dumpsys": dumpsys, "echo": echo,
		"exec": execCommand, "export": succeed,
		"getprop": getprop, "grep": grep, "id": id, "ime": ime, "input": input, "kill": kill, "logcat": logcat, "ls": ls, "mkdir": mkdir,
		"monkey": monkey, "pgrep": pgrep, "pidof": pidof, "pm": pm, "ps": ps, "rm": rm, "screencap": screencap, "screenrecord": screenRecord,
		"setprop": setprop, "settings": settings, "sleep": succeed, "svc": svc, "tail": tail, "test": testCommand, "touch": touch,
		"true": succeed, "uiautomator": uiautomator, "which": which, "whoami": whoami, "wm": wm,
	}
}

func succeed(*call) int { return 0 }

// execCommand runs the command that follows, as the last one of the shell.
func execCommand(c *call) int {
	inner := *c
	inner.args = c.args[1:]
	return inner.run()
}

func echo(c *call) int {
	c.printf("%s\n", strings.Join(c.args[1:], " "))
	return 0
}

func whoami(c *call) int {
	c.printf("shell\n")
	return 0
}

func id(c *call) int {
	c.printf("uid=2000(shell) gid=2000(shell) groups=2000(shell),1003(graphics),1004(input),3003(inet)\n")
	return 0
}

func which(c *call) int {
	if commands()[c.arg(1)] == nil {
		return 1
	}
	c.printf("/system/bin/%s\n", c.arg(1))
	return 0
}

// grep searches its standard input for a text.
func grep(c *call) int {
	data, err := io.ReadAll(c.stdin)
	if err != nil {
		return 2
	}
	status := 1
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, c.last()) != c.has("-v") {
			c.printf("%s", line)
			status = 0
		}
	}
	return status
}

func getprop(c *call) int {
	c.phone.mu.Lock()
	defer c.phone.mu.Unlock()
	if len(c.args) == 1 {
		for _, name := range slices.Sorted(maps.Keys(c.phone.props)) {
			c.printf("[%s]: [%s]\n", name, c.phone.props[name])
		}
		return 0
	}
	c.printf("%s\n", c.phone.props[c.args[1]])
	return 0
}

func setprop(c *call) int {
	c.phone.mu.Lock()
	defer c.phone.mu.Unlock()
	c.phone.props[c.arg(1)] = c.arg(2)
	return 0
}

// properties returns the system properties of a phone.
func properties(level int) map[string]string {
	releases := map[int]string{24: "7.0", 25: "7.1.2", 26: "8.0.0", 28: "9", 29: "10", 30: "11", 31: "12", 33: "13", 34: "14", 35: "15"}
	return map[string]string{
		"ro.build.version.sdk": strconv.Itoa(level), "ro.build.version.release": releases[level],
		"ro.build.version.codename": "REL", "ro.product.model": "Simulated Phone", "ro.product.brand": "example",
		"ro.product.manufacturer": "Example", "ro.product.name": "simulated", "ro.product.device": "simulated",
		"ro.product.cpu.abi": "arm64-v8a", "ro.product.cpu.abilist": "arm64-v8a",
		"ro.sf.lcd_density": "480", "ro.build.characteristics": "default", "ro.build.type": "user",
		"sys.boot_completed": "1", "init.svc.bootanim": "stopped", "persist.sys.locale": "en-US",
		"persist.sys.timezone": "Etc/UTC", "ro.debuggable": "0", "ro.secure": "1",
	}
}

// defaultSettings returns the values of `settings` that a phone has.
func defaultSettings() map[string]string {
	return map[string]string{
		"global window_animation_scale": "1.0", "global transition_animation_scale": "1.0",
		"global animator_duration_scale": "1.0", "global airplane_mode_on": "0", "global wifi_on": "1",
		"global mobile_data": "1", "secure android_id": "0123456789abcdef",
		"secure enabled_accessibility_services": "", "secure accessibility_enabled": "0",
		"secure default_input_method": latinIME, "system screen_off_timeout": "60000",
		"system accelerometer_rotation": "1", "system user_rotation": "0", "uimode night": "no",
	}
}

// settings reads and writes settings. Without --user they are those of user 0; only those in the table global are for all
// users (AOSP, SettingsService.MyShellCommand).
func settings(c *call) int {
	user := c.takeUser(0)
	table := c.arg(2)
	if table != "global" && c.ofOther(user) {
		table += " of user " + strconv.Itoa(user)
	}
	key := table + " " + c.arg(3)
	switch c.arg(1) {
	case "get":
		c.printf("%s\n", c.phone.readSetting(table, c.arg(3)))
		return 0
	case "put", "delete":
		return changeSetting(c, key)
	case "list":
		c.phone.mu.Lock()
		defer c.phone.mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(c.phone.settings)) {
			if setting, ok := strings.CutPrefix(name, table+" "); ok {
				c.printf("%s=%s\n", setting, c.phone.settings[name])
			}
		}
		return 0
	}
	c.unknown()
	c.errorf("Invalid command: %s\n", c.arg(1))
	return 255
}

// changeSetting is `settings put` and `settings delete`.
func changeSetting(c *call, key string) int {
	if c.phone.options.RefuseSettings {
		c.errorf("\nException occurred while executing '%s':\njava.lang.SecurityException: Permission denial, must have one of: "+
			"[android.permission.WRITE_SECURE_SETTINGS]\n\tat com.android.providers.settings.SettingsProvider."+
			"enforceHasAtLeastOnePermission(SettingsProvider.java:2387)\n", c.arg(1))
		return 255
	}
	if c.arg(1) == "put" {
		c.phone.setSetting(key, c.arg(4))
		return 0
	}
	c.phone.mu.Lock()
	defer c.phone.mu.Unlock()
	_, found := c.phone.settings[key]
	delete(c.phone.settings, key)
	c.printf("Deleted %d rows\n", map[bool]int{true: 1}[found])
	return 0
}

func (p *Android) setSetting(key, value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settings[key] = value
	if p.settings["system accelerometer_rotation"] == "0" {
		p.App.SetLandscape(p.settings["system user_rotation"] == "1" || p.settings["system user_rotation"] == "3")
	} else {
		p.App.SetLandscape(false) // it lies upright on its desk
	}
}

// The size of the inner screen of a phone that can be folded, in pixels.
const (
	unfoldedWidth  = 1840
	unfoldedHeight = 2208
)

// wm says what the screen is.
func wm(c *call) int {
	width, height := c.phone.App.Size()
	width, height = min(width, height), max(width, height) // as the device is held upright
	switch c.arg(1) {
	case "size":
		c.phone.mu.Lock()
		if c.phone.options.Foldable && !c.phone.folded {
			width, height = unfoldedWidth, unfoldedHeight
		}
		c.phone.mu.Unlock()
		c.printf("Physical size: %dx%d\n", width, height)
		return 0
	case "density":
		c.printf("Physical density: 480\n")
		return 0
	case "dismiss-keyguard":
		if c.phone.options.Lock != LockSecure && !c.phone.App.Asleep() {
			c.phone.App.SetLocked(false)
		}
		return 0
	}
	c.unknown()
	return 255
}

// svc switches networks.
func svc(c *call) int {
	on := c.arg(2) == "enable"
	switch c.arg(1) {
	case "wifi", "data":
		c.phone.setNetwork(c.arg(1), on)
		return 0
	case "bluetooth", "nfc":
		return 0
	}
	c.unknown()
	return 1
}

// setNetwork switches wifi or data.
func (p *Android) setNetwork(name string, on bool) {
	p.mu.Lock()
	p.earlierWiFi = ""
	p.mu.Unlock()
	p.setSetting(map[string]string{"wifi": "global wifi_on", "data": "global mobile_data"}[name], zeroOrOne(on))
	p.connect()
}

// connect connects the app if a network is on. In airplane mode that is Wi-Fi alone.
func (p *Android) connect() {
	wifi := slices.Contains([]string{"1", wifiInAirplaneMode}, p.Setting("global", "wifi_on"))
	p.App.SetConnected(wifi || p.Setting("global", "mobile_data") == "1" && p.Setting("global", "airplane_mode_on") == "0")
}

// Values of the setting wifi_on besides 0 and 1 (AOSP, WifiSettingsStore).
const (
	wifiInAirplaneMode = "2"
	wifiOffInThatMode  = "3" // and on afterwards
)

func zeroOrOne(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// cmd runs commands of services.
func cmd(c *call) int {
	inner := *c
	inner.args = c.args[1:]
	switch c.arg(1) {
	case "-w":
		return cmd(&inner)
	case "phone":
		c.phone.setNetwork("data", c.arg(3) == "enable")
		return 0
	case "wifi":
		return cmdWifi(c)
	case "package":
		return pm(&inner)
	case "activity":
		return am(&inner)
	case "appops":
		return appops(&inner)
	case "input":
		return input(&inner)
	case "settings":
		return settings(&inner)
	case "connectivity":
		return airplaneMode(c)
	case "location":
		return location(c)
	case "locale":
		return locale(c)
	case "uimode":
		return uiMode(c)
	case "statusbar":
		return cmdStatusBar(c)
	case "notification", "bluetooth_manager", "deviceidle":
		return 0
	}
	c.unknown()
	c.errorf("cmd: Can't find service: %s\n", c.arg(1))
	return 20
}

func cmdWifi(c *call) int {
	switch c.arg(2) {
	case "set-wifi-enabled":
		c.phone.setNetwork("wifi", c.arg(3) == "enabled")
		return 0
	case "status":
		c.printf("Wifi is %s\n", map[string]string{"1": "enabled", "0": "disabled"}[c.phone.Setting("global", "wifi_on")])
		return 0
	}
	c.unknown()
	return 255
}

func airplaneMode(c *call) int {
	if c.arg(2) != "airplane-mode" || c.phone.options.Level < 30 {
		c.unknown()
		return 255
	}
	switch c.arg(3) {
	case "":
		c.printf("%s\n", map[string]string{"0": "disabled", "1": "enabled"}[c.phone.Setting("global", "airplane_mode_on")])
	case "enable", "disable":
		c.phone.setAirplaneMode(c.arg(3) == "enable")
	}
	return 0
}

// setAirplaneMode turns Wi-Fi off with the mode, unless the phone keeps it on, and on again afterwards. The setting wifi_on
// follows a moment later: after it was first asked for.
func (p *Android) setAirplaneMode(on bool) {
	p.setSetting("global airplane_mode_on", zeroOrOne(on))
	next := map[string]string{wifiInAirplaneMode: "1", wifiOffInThatMode: "1"}
	switch {
	case on && p.options.KeepsWiFi:
		next = map[string]string{"1": wifiInAirplaneMode}
	case on:
		next = map[string]string{"1": wifiOffInThatMode}
	}
	now := p.Setting("global", "wifi_on")
	p.mu.Lock()
	p.earlierWiFi = now
	p.mu.Unlock()
	p.setSetting("global wifi_on", cmp.Or(next[now], now))
	p.connect()
}

// readSetting returns what `settings get` prints.
func (p *Android) readSetting(table, name string) string {
	if name == "wifi_on" {
		p.mu.Lock()
		defer p.mu.Unlock()
		now := cmp.Or(p.earlierWiFi, p.settings["global wifi_on"])
		p.earlierWiFi = ""
		return now
	}
	return p.Setting(table, name)
}

// The app Appium Settings with its input methods, and the phone's own input method.
const (
	appiumSettings = "io.appium.settings"
	appiumIME      = appiumSettings + "/.AppiumIME"
	unicodeIME     = appiumSettings + "/.UnicodeIME"
	latinIME       = "com.example.keyboard/.LatinIME"
)

func ime(c *call) int {
	p := c.phone
	installed := []string{latinIME}
	if p.Installed(appiumSettings) {
		installed = append(installed, appiumIME, unicodeIME)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch c.arg(1) {
	case "list":
		for _, name := range installed {
			if c.has("-s") {
				c.printf("%s\n", name)
			} else {
				c.printf("%s:\n  mId=%s mSettingsActivityName=null\n", name, name)
			}
		}
		return 0
	case "enable", "disable", "reset":
		return 0
	case "set":
		if !slices.Contains(installed, c.arg(2)) {
			c.errorf("Unknown input method %s cannot be selected for user #0\n", c.arg(2))
			return 255
		}
		p.settings["secure default_input_method"] = c.arg(2)
		c.printf("Input method %s selected for user #0\n", c.arg(2))
		return 0
	}
	c.unknown()
	return 255
}

// screencap writes a screenshot to stdout or into a file.
func screencap(c *call) int {
	data, err := c.phone.App.Screenshot()
	if c.phone.options.Foldable {
		c.errorf("[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, " +
			"however this default is not guaranteed to be consistent across captures.\n")
		data, err = blackPicture(unfoldedWidth, unfoldedHeight)
	}
	if err != nil {
		c.errorf("%v\n", err)
		return 1
	}
	if name := c.last(); len(c.args) > 1 && !strings.HasPrefix(name, "-") {
		if problem := c.phone.write(name, data, false); problem != "" {
			c.errorf("Error opening file: %s (%s)\n", name, problem)
			return 1
		}
		return 0
	}
	_, _ = c.stdout.Write(data)
	return 0
}

// blackPicture returns a PNG that is black.
func blackPicture(width, height int) ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black}))
	return b.Bytes(), err
}

func appops(c *call) int {
	if c.phone.options.RefuseSettings && c.arg(1) == "set" {
		c.errorf("\nException occurred while executing 'set':\njava.lang.SecurityException: uid 2000 does not have " +
			"android.permission.MANAGE_APP_OPS_MODES.\n")
		return 255
	}
	if c.arg(3) == "android:mock_location" && c.arg(1) == "set" {
		c.phone.setMockLocation(c.arg(2), c.arg(4))
		return 0
	}
	switch c.arg(1) {
	case "set", "reset":
		return 0
	case "get":
		c.printf("No operations.\n")
		return 0
	}
	c.unknown()
	return 255
}

func cat(c *call) int {
	status := 0
	for _, name := range c.args[1:] {
		file, err := c.phone.files.Stat(name)
		switch {
		case err != nil:
			c.errorf("cat: %s: No such file or directory\n", name)
			status = 1
		case file.Mode&adbd.ModeFolder != 0:
			c.errorf("cat: read: Is a directory\n")
			status = 1
		default:
			_, _ = c.stdout.Write(file.Data)
		}
	}
	return status
}

func rm(c *call) int {
	for _, name := range c.args[1:] {
		if !strings.HasPrefix(name, "-") && !c.phone.files.Remove(name) && !c.has("-f") && !c.has("-rf") {
			c.errorf("rm: %s: No such file or directory\n", name)
			return 1
		}
	}
	return 0
}

// mkdir makes folders. With -p those above them, too, and one that exists is not an error.
func mkdir(c *call) int {
	status := 0
	for _, name := range c.args[1:] {
		if strings.HasPrefix(name, "-") {
			continue
		}
		err := c.phone.files.Mkdir(name, fileTime)
		if c.has("-p") {
			for folder := path.Dir(name); errors.Is(err, fs.ErrNotExist) && folder != "/"; folder = path.Dir(folder) {
				_ = c.phone.files.Mkdir(folder, fileTime)
				err = c.phone.files.Mkdir(name, fileTime)
			}
			if file, failed := c.phone.files.Stat(name); failed == nil && file.Mode&adbd.ModeFolder != 0 {
				err = nil
			}
		}
		if err != nil {
			c.errorf("mkdir: '%s': %s\n", name, errorText(err))
			status = 1
		}
	}
	return status
}

func touch(c *call) int {
	if _, err := c.phone.files.Stat(c.last()); err == nil {
		return 0
	}
	if problem := c.phone.write(c.last(), nil, false); problem != "" {
		c.errorf("touch: '%s': %s\n", c.last(), problem)
		return 1
	}
	return 0
}

// write writes a file, or appends to it, as programs on the phone do: the folder has to exist. It returns the text of
// an error, empty without one.
func (p *Android) write(name string, data []byte, appended bool) string {
	file, err := p.files.Stat(name)
	if err == nil && file.Mode&adbd.ModeFolder != 0 {
		return "Is a directory"
	}
	if above, missing := p.files.Stat(path.Dir(name)); missing != nil || above.Mode&adbd.ModeFolder == 0 {
		return "No such file or directory"
	}
	if appended {
		data = append(file.Data, data...)
	}
	if err := p.files.Write(name, data, 0o660, fileTime); err != nil {
		return errorText(err)
	}
	return ""
}

// errorText is how programs on the phone say what went wrong.
func errorText(err error) string {
	switch {
	case errors.Is(err, fs.ErrExist):
		return "File exists"
	case errors.Is(err, fs.ErrPermission):
		return "Permission denied"
	}
	return "No such file or directory"
}

func ls(c *call) int {
	for _, name := range c.args[1:] {
		if strings.HasPrefix(name, "-") {
			continue
		}
		file, err := c.phone.files.Stat(name)
		if err != nil {
			c.errorf("ls: %s: No such file or directory\n", name)
			return 1
		}
		for _, inside := range c.phone.files.List(file.Path) {
			c.printf("%s\n", inside.Path[strings.LastIndexByte(inside.Path, '/')+1:])
		}
	}
	return 0
}

// testCommand knows -e, -f, -d and -s.
func testCommand(c *call) int {
	file, err := c.phone.files.Stat(c.arg(2))
	is := map[string]bool{
		"-e": true, "-d": file.Mode&adbd.ModeFolder != 0, "-f": file.Mode&adbd.ModeFolder == 0, "-s": len(file.Data) > 0,
	}
	if err != nil || !is[c.arg(1)] {
		return 1
	}
	return 0
}

// processes returns the ids of the running apps by name.
func (p *Android) processes() map[string]int {
	all := map[string]int{"system_server": systemPID, "com.example.launcher": 1400}
	p.mu.Lock()
	if p.server != nil {
		all[serverApp] = 4100
	}
	if p.recording != nil {
		all["screenrecord"] = recorderPID
	}
	names := slices.Sorted(maps.Keys(p.packages))
	p.mu.Unlock()
	for _, name := range names {
		if pid := p.log.pid(name); pid != 0 {
			all[name] = pid
		}
	}
	return all
}

func ps(c *call) int {
	c.printf("%-14s %5s %5s %9s %7s %-6s %s\n", "USER", "PID", "PPID", "VSZ", "RSS", "S", "NAME")
	processes := c.phone.processes()
	for _, name := range slices.Sorted(maps.Keys(processes)) {
		c.printf("%-14s %5d %5d %9d %7d %-6s %s\n", "u0_a100", processes[name], 1, 100000, 50000, "S", name)
	}
	return 0
}

func pidof(c *call) int {
	var pids []string
	for _, name := range c.args[1:] {
		if pid, ok := c.phone.processes()[name]; ok {
			pids = append(pids, strconv.Itoa(pid))
		}
	}
	if pids == nil {
		return 1
	}
	c.printf("%s\n", strings.Join(pids, " "))
	return 0
}

func pgrep(c *call) int {
	status := 1
	for name, pid := range c.phone.processes() {
		if strings.Contains(name, strings.Trim(c.last(), "^$")) {
			c.printf("%d\n", pid)
			status = 0
		}
	}
	return status
}

// monkey starts an app, as -p APP -c android.intent.category.LAUNCHER 1 does.
func monkey(c *call) int {
	name := c.after("-p")
	if !c.phone.Installed(name) {
		c.printf("** No activities found to run, monkey aborted.\n")
		return 252
	}
	c.phone.App.Start(name, "")
	c.printf("Events injected: 1\n## Network stats: elapsed time=10ms\n")
	return 0
}

// appPermission returns the app's name for a permission of Android.
func appPermission(name string) string {
	if name == "android.permission.POST_NOTIFICATIONS" {
		return app.Notifications
	}
	return name
}
