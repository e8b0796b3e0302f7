package android

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// options are the user's settings.
type options struct {
	serial   string         // empty for the only phone
	start    string         // name of the emulator that is started; empty for none
	app      string         // path of an APK; empty for none
	server   string         // folder of the server's APKs; empty to search for them
	appium   appium.Options // without a URL, the phone is reached through adb
	values   map[string]string
	env      []string
	programs device.Programs
	dir      string // absolute working folder
	stateDir string // of the locks; empty for none
}

func deviceOptions() []device.Option {
	return slices.Concat([]device.Option{
		{Key: "serial", Flag: "serial", Env: "ANDROID_SERIAL", Usage: "`SERIAL` of the Android device, as adb devices lists it", Names: true},
		{
			Key: "uiautomator2", Flag: "uiautomator2", Env: "TRAILBLAZE_UIAUTOMATOR2", Path: true,
			Usage: "`FOLDER` with the APKs of appium-uiautomator2-server",
		},
	}, mobile.Settings(), appium.DeviceOptions())
}

func newOptions(host device.Host) (options, error) {
	v := host.Values
	if err := mobile.CheckSettings(v); err != nil {
		return options{}, err
	}
	through, err := appium.ReadOptions(v, mobile.Android)
	return options{
		serial: v["serial"], start: v["startDevice"], app: v["app"], server: v["uiautomator2"], appium: through, values: v,
		env: host.Env, programs: host.Programs, dir: host.Dir, stateDir: host.StateDir,
	}, err
}
