package mobile

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Options say how the device of a session is reached, and how long commands wait.
type Options struct {
	Platform Platform
	// Open connects to the device. It is called once, at the first use or before. ctx ends when the session's device is
	// closed. The error is a *fault.Error.
	Open   func(ctx context.Context) (Driver, error)
	Limits Limits
}

// Limits bound what commands wait for (specification, section 15.3). Tests use shorter ones.
type Limits struct {
	Action    time.Duration // for an element to become ready for an action
	Assertion time.Duration // for a condition that is asserted
	Call      time.Duration // for a call that names no limit
	Launch    time.Duration // for a call that starts an app, which may have to be installed
	Front     time.Duration // for an app that was started to come to the front
	Response  time.Duration // for a response that the device is about to send, and for each explanation
	First     time.Duration // for the first response of the device, however short the other limits are
	Slow      time.Duration // that reading an element takes on a device that gets more time for it
	Poll      time.Duration // between two reads of the screen
	Stable    time.Duration // between the starts of two reads in which an element must have the same bounds
	Settle    time.Duration // for the screen to come to rest before it is looked at once
	Begin     time.Duration // for what an action brings to begin to show
	Entered   time.Duration // for a field to show the text that was entered
	Turn      time.Duration // for the screen to turn with the device
	Evidence  time.Duration // for the evidence of a failed trail
}

// DefaultLimits returns the limits for recordings of a driver, such as ios-host.
func DefaultLimits(driver string) Limits {
	l := Limits{
		Action: 10 * time.Second, Assertion: 5 * time.Second, Call: 30 * time.Second, Launch: 3 * time.Minute,
		Front: 30 * time.Second, Response: 3 * time.Second, First: 15 * time.Second, Slow: time.Second, Poll: 100 * time.Millisecond,
		Stable: 50 * time.Millisecond, Settle: 2 * time.Second, Begin: 300 * time.Millisecond,
		Entered: 500 * time.Millisecond, Turn: 5 * time.Second, Evidence: 10 * time.Second,
	}
	if driver == "ios-host" {
		l.Assertion = 17 * time.Second
	}
	return l
}

// maxTimeout is the longest limit of a command, as in timeoutProperty.
const maxTimeout = 10 * time.Minute

// Settings returns the options that both kinds of device have.
func Settings() []device.Option {
	return []device.Option{
		{Key: "actionTimeout", Usage: "how long actions wait for their element", Default: "10s"},
		{Key: "assertionTimeout", Usage: "how long assertions wait", Default: "5s, 17s for ios-host"},
		{
			Key: "startDevice", Flag: "start-device",
			Usage: "`NAME` of an emulator (AVD) or a simulator, which is started if it does not run, and ended with the run",
		},
		{Key: "app", Usage: "`FILE` of the app, which is installed if it is not the installed one", Path: true},
	}
}

// CheckSettings returns what is wrong with the values of [Settings].
func CheckSettings(values map[string]string) error {
	_, err := ReadLimits(values, "")
	return err
}

// ReadLimits returns the limits for a driver with those that the user has set.
func ReadLimits(values map[string]string, driver string) (Limits, error) {
	l := DefaultLimits(driver)
	for _, option := range []struct {
		key   string
		limit *time.Duration
	}{{"actionTimeout", &l.Action}, {"assertionTimeout", &l.Assertion}} {
		value := values[option.key]
		if value == "" {
			continue
		}
		limit, err := time.ParseDuration(value)
		if err != nil || limit <= 0 || limit > maxTimeout {
			return l, fault.New(fault.Misuse, fmt.Sprintf("write it like 10s or 1m30s, at most %s", maxTimeout),
				"%s: %q is not a time limit", option.key, value)
		}
		*option.limit = limit
		l.Call = max(l.Call, limit+2*l.Response)
	}
	return l, nil
}

// Kind returns what the kinds of device of both platforms have in common.
func Kind(p Platform) device.Kind {
	return device.Kind{
		Commands: sync.OnceValue(func() []tool.Advertised { return advertisedTools(p) }),
		Checks: append(device.CoreChecks(), "assertVisibleBySelector", "assertNotVisibleBySelector", "assertNotVisibleWithText",
			"assertVisibleWithText", "assertVisibleWithAccessibilityText", "assertVisibleWithResourceId", device.AssertWaypoint, "verifyScreenshot"),
		Reads: append(device.CoreReads(), "mobile_listInstalledApps", "takeSnapshot", "waitForChange"),
		Primary: []string{
			"tap", "longPress", "inputText", "clearText", "pressKey", "pressBack", "hideKeyboard", "swipe", "scroll", "launchApp",
			"openUrl",
		},
		PrimaryChecks: []string{"assertVisible", "assertVisibleWithText", "assertNotVisibleWithText"},
		StartCommands: append(device.CoreStartCommands(), "mobile_clearAppData", "openUrl"),
		Restricted:    []string{"adbShell", "android_adbShell", "mobile_installApp", "mobile_addMedia"},
		Instead:       instead(p),
		OneSession:    true,
	}
}

func advertisedTools(p Platform) []tool.Advertised {
	var list []tool.Advertised
	for _, c := range commands(p) {
		list = append(list, c.Advertised)
	}
	return list
}

// instead returns what to use instead of commands that a platform does not have: those of the JVM Trailblaze, and others
// that people look for.
func instead(p Platform) map[string]string {
	const copied = "mobile_getText returns the text of an element, and saveAs keeps it for later calls"
	if p == IOS {
		return map[string]string{
			"mobile_listInstalledAppsDetailed": "mobile_listInstalledApps lists the ids of the apps", "mobile_copyText": copied,
		}
	}
	const file = "`adbShell: {command: echo BASE64 | base64 -d > /sdcard/Download/NAME}` writes a file"
	return map[string]string{
		"mobile_copyText": copied,
		"mobile_listInstalledAppsDetailed": "mobile_listInstalledApps lists the ids of the apps; " +
			"`android_adbShell: {command: [dumpsys, package, ID]}` shows the rest",
		"android_systemUiDemoMode": "`adbShell: {command: settings put global sysui_demo_allowed 1}`, then " +
			"`adbShell: {command: am broadcast -a com.android.systemui.demo -e command enter}`",
		"android_writeFileToDownloads": "`adbShell: {command: echo TEXT > /sdcard/Download/NAME}` writes a file",
		"android_writeBytesToFile":     file,
		"android_writeImageToMediaStore": file + "; `adbShell: {command: am broadcast -a " +
			"android.intent.action.MEDIA_SCANNER_SCAN_FILE -d file:///sdcard/Download/NAME}` then adds it to the photos",
	}
}

// NewDevice returns the device of a session. It starts nothing.
func NewDevice(o Options, s device.Session) device.Device {
	d := &phone{
		options: o, session: s, limits: o.Limits, commands: map[string]command{}, callSlot: make(chan struct{}, 1),
		references: s.References, app: s.AppID,
	}
	for _, c := range commands(o.Platform) {
		d.commands[c.Name] = c
	}
	if d.references == nil {
		d.references = &screen.References{}
	}
	d.ctx, d.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // a session belongs to no call
	return d
}
