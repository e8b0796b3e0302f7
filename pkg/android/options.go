package android

import (
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// options are the user's settings.
type options struct {
	serial   string // empty for the only phone
	app      string // path of an APK
	server   string // folder of the server's APKs; empty to search for them
	env      []string
	programs device.Programs
	dir      string // absolute; the server's APKs are searched for in node_modules of it and the folders above
	stateDir string
}

// deviceOptions are the options of phones that adb reaches.
func deviceOptions() []device.Option {
	return []device.Option{
		{Key: "serial", Flag: "serial", Env: "ANDROID_SERIAL", Usage: "`SERIAL` of the Android device, as adb devices lists it"},
		{Key: "app", Usage: "APK that launchApp installs when the phone does not have it", Path: true},
		{
			Key: "uiautomator2", Flag: "uiautomator2", Env: "TRAILBLAZE_UIAUTOMATOR2", Path: true,
			Usage: "`FOLDER` with the APKs of appium-uiautomator2-server",
		},
	}
}

func newOptions(host device.Host) options {
	v := host.Values
	return options{
		serial: v["serial"], app: v["app"], server: v["uiautomator2"],
		env: host.Env, programs: host.Programs, dir: host.Dir, stateDir: host.StateDir,
	}
}

// getenv returns the last value of a variable.
func (o options) getenv(name string) string {
	value := ""
	for _, kv := range o.env {
		if key, v, ok := strings.Cut(kv, "="); ok && strings.EqualFold(key, name) {
			value = v
		}
	}
	return value
}
