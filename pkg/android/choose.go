package android

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

const chooseHint = "name one with --serial, ANDROID_SERIAL or device: {serial: …}"

// choose returns the serial of the phone to use: the one that the user names, or else the only one.
func choose(devices []adb.Info, serial string) (adb.Info, error) {
	if serial != "" {
		for _, d := range devices {
			if d.Serial == serial {
				return d, usable(d)
			}
		}
		hint := fault.DidYouMean(serial, serials(devices))
		if _, _, err := net.SplitHostPort(serial); err == nil {
			hint = strings.TrimPrefix(hint+"; `adb connect "+serial+"` connects it, which the adb server forgets when it ends", "; ")
		}
		return adb.Info{}, fault.New(fault.Misuse, hint,
			"the Android device %s was not found; connected: %s", serial, list(devices))
	}
	var ready []adb.Info
	for _, d := range devices {
		if d.State == adb.Ready {
			ready = append(ready, d)
		}
	}
	switch {
	case len(ready) == 1:
		return ready[0], nil
	case len(ready) > 1:
		return adb.Info{}, fault.New(fault.Misuse, chooseHint, "%d Android devices are connected: %s", len(ready), list(devices))
	case len(devices) == 1:
		return devices[0], usable(devices[0])
	case len(devices) > 1:
		return adb.Info{}, fault.New(fault.Device, "`adb devices -l` lists them", "no Android device is ready: %s", list(devices))
	}
	return adb.Info{}, fault.New(fault.Device,
		"connect one with USB debugging enabled (Settings, Developer options), start an emulator, or `adb connect HOST:PORT`; "+
			"`adb devices` then lists it",
		"no Android device is connected")
}

// usable returns why a device cannot be used.
func usable(d adb.Info) error {
	switch d.State {
	case adb.Ready:
		return nil
	case adb.Unauthorized, "authorizing":
		return fault.New(fault.Device,
			`unlock it and accept the prompt "Allow USB debugging?"; if none is shown, reconnect the cable`,
			"the Android device %s has not authorized this computer", d.Serial)
	case adb.Offline:
		return fault.New(fault.Device,
			"reconnect the cable or `adb reconnect offline`; for a device over TCP, `adb disconnect` and `adb connect`",
			"the Android device %s is offline", d.Serial)
	case adb.NoPermission:
		return fault.New(fault.Device, "see https://developer.android.com/studio/run/device about udev rules",
			"the adb server may not open the Android device %s", d.Serial)
	}
	return fault.New(fault.Device, "wait until `adb devices` shows it as device", "the Android device %s is in the state %s",
		d.Serial, d.State)
}

func serials(devices []adb.Info) []string {
	all := make([]string, len(devices))
	for i, d := range devices {
		all[i] = d.Serial
	}
	return all
}

// list returns the serials with model and state.
func list(devices []adb.Info) string {
	all := make([]string, len(devices))
	for i, d := range devices {
		all[i] = fmt.Sprintf("%s (%s)", d.Serial, strings.TrimPrefix(fmt.Sprintf("%s, %s", d.Model, d.State), ", "))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}
