package scope

import (
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Platform is what the app under test runs on, in upper case as servers receive it.
type Platform string

// The platforms.
const (
	Android Platform = "ANDROID"
	IOS     Platform = "IOS"
	Web     Platform = "WEB"
)

// Lower returns the spelling used in files, flags and classifiers.
func (p Platform) Lower() string { return strings.ToLower(string(p)) }

// ParsePlatform parses a platform in any case.
func ParsePlatform(s string) (Platform, bool) {
	switch p := Platform(strings.ToUpper(s)); p {
	case Android, IOS, Web:
		return p, true
	}
	return "", false
}

// PlatformNames returns the platforms as they are written in files and flags.
func PlatformNames() []string { return []string{"android", "ios", "web"} }

// Driver is how a platform is driven.
type Driver struct {
	Key      string // yaml key, the canonical spelling
	Platform Platform
}

// ElectronDriver is the key of the driver for Electron apps, which its sessions start.
const ElectronDriver = "playwright-electron"

// drivers returns every driver; the first of a platform is its default.
func drivers() []Driver {
	return []Driver{
		{"android-ondevice-accessibility", Android},
		{"android-ondevice-instrumentation", Android},
		{"ios-host", IOS},
		{"ios-axe", IOS},
		{"playwright-native", Web},
		{ElectronDriver, Web},
		{"revyl-android", Android},
		{"revyl-ios", IOS},
	}
}

// ParseDriver parses a yaml key or the enum spelling (ANDROID_ONDEVICE_ACCESSIBILITY), in any case.
func ParseDriver(s string) (Driver, bool) {
	key := driverKey(s)
	for _, d := range drivers() {
		if d.Key == key {
			return d, true
		}
	}
	return Driver{}, false
}

func driverKey(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// SuggestDriver returns a hint for a name that ParseDriver did not accept.
func SuggestDriver(s string) string { return fault.DidYouMean(driverKey(s), DriverKeys()) }

// DriverKeys returns the yaml keys of all drivers.
func DriverKeys() []string {
	var keys []string
	for _, d := range drivers() {
		keys = append(keys, d.Key)
	}
	return keys
}

// DriversOf returns the yaml keys of the drivers of a platform.
func DriversOf(p Platform) []string {
	var keys []string
	for _, d := range drivers() {
		if d.Platform == p {
			keys = append(keys, d.Key)
		}
	}
	return keys
}

// DefaultDriver returns the driver of a platform for which no setting names one.
func DefaultDriver(p Platform) Driver {
	for _, d := range drivers() {
		if d.Platform == p {
			return d
		}
	}
	return Driver{}
}

// AgentMode is where tools run: on the host or on the device. It is written `agent` in flags, files and JSON.
type AgentMode string

// The agent modes.
const (
	Host     AgentMode = "host"
	OnDevice AgentMode = "on-device"
)

// ParseAgentMode parses an agent mode as written in flags and files.
func ParseAgentMode(s string) (AgentMode, bool) {
	switch m := AgentMode(s); m {
	case Host, OnDevice:
		return m, true
	}
	return "", false
}

// AgentModes returns the agent modes as they are written in flags and files.
func AgentModes() []string { return []string{string(Host), string(OnDevice)} }
