package mobile

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// appCommands are the commands for apps.
func appCommands(p Platform) []command {
	clearApp := newCommand("clearAppData", "Removes everything that an app has stored on the device.", appProperty, clearAppData)
	stop := newCommand("stopApp", "Ends an app.", appProperty, stopApp)
	return []command{
		newCommand("launchApp", "Starts an app. REINSTALL ends it and removes what it has stored first, FORCE_RESTART ends it first.",
			appProperty+", "+device.Enum("launchMode", "How", "REINSTALL", "FORCE_RESTART", "RESUME")+", "+permissionsProperty,
			launchApp).checkedBy(func(a device.Arguments) error {
			_, err := permissionsOf(p, a)
			return err
		}),
		stop, clearApp, clearApp.withName("mobile_clearAppData"),
		newCommand("grantPermission", "Gives an app a permission: by the name of the platform, or a short one such as camera.",
			appProperty+`, "permission": {"type": "string", "minLength": 1}`, grantPermission, "permission"),
		newCommand("mobile_listInstalledApps", `Returns the ids of the installed apps, as {"appIds": […]}.`,
			`"includeSystemApps": {"type": "boolean", "default": false}`, listApps),
		newCommand("openUrl", "Opens a deep link or a web page.",
			`"url": {"type": "string", "minLength": 1}`, openURL, "url").checkedBy(checkURL),
	}
}

// permissionsProperty are permissions with what becomes of them, in an input schema.
const permissionsProperty = `"permissions": {"type": "object", "additionalProperties":
	{"type": "string", "pattern": "^(?i:allow|deny|unset)$"}, "description": "By the names of the platform or short ones such as camera; all for all: allow, deny or unset"}`

// appOf returns the app that a call names, else the one under test.
func (d *phone) appOf(a device.Arguments) (string, error) {
	switch {
	case a.Text("appId") != "":
		return a.Text("appId"), nil
	case d.app != "":
		return d.app, nil
	case len(d.session.AppIDs) > 1:
		return "", invalid("give one of them as appId", "the target has %d apps: %s", len(d.session.AppIDs),
			strings.Join(d.session.AppIDs, ", "))
	}
	return "", invalid("give appId, or appIds of the target", "no argument says which app is meant")
}

func launchApp(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	mode, err := a.Word("launchMode", "REINSTALL", "FORCE_RESTART", "RESUME")
	if err != nil {
		return tool.Result{}, err
	}
	permissions, err := permissionsOf(d.options.Platform, a)
	if err != nil {
		return tool.Result{}, err
	}
	app, err := d.appOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	return d.launch(ctx, Launch{
		App: app, Stop: mode != "RESUME", Clear: mode == "REINSTALL", Permissions: permissions,
	})
}

// launch starts an app and waits until it is in front. It is not an error if it is not: it may be behind a dialog.
func (d *phone) launch(ctx context.Context, l Launch) (tool.Result, error) {
	if d.options.Platform == IOS && strings.HasPrefix(l.App, "com.apple.") {
		l.Clear = false // what apps of the system store cannot be removed
	}
	before, err := d.driver.Foreground(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if before != "" && before != l.App {
		d.noteCrash(ctx, l.App)
	}
	d.crashes.willStart(l.App)
	if err := d.driver.Launch(ctx, l); err != nil {
		return tool.Result{}, err
	}
	d.crashes.hasStarted(l.App)
	if l.Clear {
		d.forgetSecrets(l.App)
	}
	d.app = l.App
	front, err := d.waitForFront(ctx, before, l.App)
	if err != nil {
		return tool.Result{}, err
	}
	done := success("started %s", l.App)
	if front != "" && front != l.App {
		done.Text += fmt.Sprintf("; %s is in front", front)
	}
	return done, nil
}

// waitForFront waits until an app is in front, or another one that was not there before and stays, such as a dialog of
// the system; but not for long. Dialogs of iOS are of the app of the home screen, which may have been in front before. It
// returns the app that is in front then, "" if that is not known.
func (d *phone) waitForFront(ctx context.Context, before, app string) (string, error) {
	end := time.Now().Add(d.limits.Front)
	last, since := before, time.Now()
	for {
		front, err := d.driver.Foreground(ctx)
		if err != nil || front == "" || front == app || time.Now().After(end) {
			return front, err
		}
		if front != last {
			last, since = front, time.Now()
		}
		if time.Since(since) >= d.limits.Settle && (front != before || d.driver.alert(ctx) != "") {
			return front, nil
		}
		if err := act.Pause(ctx, 2*d.limits.Poll); err != nil {
			return front, err
		}
	}
}

func stopApp(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	app, err := d.appOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	d.crashes.mayEnd(app)
	return success("ended %s", app), d.driver.Stop(ctx, app)
}

func clearAppData(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	app, err := d.appOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	d.crashes.mayEnd(app)
	if err := d.driver.Clear(ctx, app); err != nil {
		return tool.Result{}, err
	}
	d.forgetSecrets(app)
	return success("removed what %s had stored", app), nil
}

func grantPermission(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return d.grant(ctx, a, []string{a.Text("permission")})
}

// grant gives the app of a call permissions.
func (d *phone) grant(ctx context.Context, a device.Arguments, permissions []string) (tool.Result, error) {
	app, err := d.appOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	var names []string
	for _, permission := range permissions {
		names = append(names, permissionNames(d.options.Platform, permission)...)
	}
	d.crashes.mayEnd(app) // iOS ends an app whose permissions change
	return success("granted %s to %s", strings.Join(names, ", "), app), d.driver.Grant(ctx, app, names)
}

func listApps(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	ids, err := d.driver.Apps(ctx, a.Flag("includeSystemApps", false))
	if err != nil {
		return tool.Result{}, err
	}
	slices.Sort(ids)
	data := marshal(map[string]any{"appIds": append([]string{}, ids...)})
	return tool.Result{OK: true, Text: string(data), Structured: data}, nil
}

// InstalledApps implements device.AppLister.
func (d *phone) InstalledApps(ctx context.Context) ([]string, error) {
	driver, err := d.waitForDriver(ctx)
	if err != nil {
		return nil, err
	}
	return driver.Apps(ctx, true)
}

func checkURL(a device.Arguments) error {
	if u, err := url.Parse(a.Text("url")); err != nil || u.Scheme == "" {
		return invalid("write it like https://example.com or myapp://path", "url: %q is not a URL", a.Text("url"))
	}
	return nil
}

func openURL(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	if err := checkURL(a); err != nil {
		return tool.Result{}, err
	}
	return success("opened %s", a.Text("url")), d.driver.OpenURL(ctx, a.Text("url"), "")
}

// permissionsOf reads permissions, and returns them under the names of the platform.
func permissionsOf(p Platform, a device.Arguments) (map[string]string, error) {
	given, _ := a["permissions"].(map[string]any)
	if len(given) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		state, _ := given[name].(string)
		state = strings.ToLower(state)
		if !slices.Contains([]string{"allow", "deny", "unset"}, state) {
			return nil, fault.New(fault.InvalidArguments, "write allow, deny or unset", "permissions.%s: %q is not one of allow, deny, unset",
				name, fmt.Sprint(given[name]))
		}
		for _, own := range permissionNames(p, name) {
			out[own] = state
		}
	}
	return out, nil
}

// permissionNames returns the names that a platform has for a permission. A name that is not a short one is returned as
// it is.
func permissionNames(p Platform, name string) []string {
	names := androidPermissions(strings.ToLower(name))
	if p == IOS {
		names = iosPermissions(strings.ToLower(name))
	}
	if names == nil {
		return []string{name}
	}
	return names
}

// androidPermissions returns the permissions of a short name of Maestro; nil for another name.
func androidPermissions(short string) []string {
	var names []string
	switch short {
	case "camera":
		names = []string{"CAMERA"}
	case "contacts":
		names = []string{"READ_CONTACTS", "WRITE_CONTACTS"}
	case "phone":
		names = []string{"CALL_PHONE", "ANSWER_PHONE_CALLS", "READ_PHONE_STATE"}
	case "microphone":
		names = []string{"RECORD_AUDIO"}
	case "bluetooth":
		names = []string{"BLUETOOTH_CONNECT", "BLUETOOTH_SCAN"}
	case "storage":
		names = []string{"WRITE_EXTERNAL_STORAGE", "READ_EXTERNAL_STORAGE"}
	case "notifications":
		names = []string{"POST_NOTIFICATIONS"}
	case "medialibrary":
		names = []string{"READ_MEDIA_IMAGES", "READ_MEDIA_AUDIO", "READ_MEDIA_VIDEO"}
	case "calendar":
		names = []string{"READ_CALENDAR", "WRITE_CALENDAR"}
	case "sms":
		names = []string{"READ_SMS", "RECEIVE_SMS", "SEND_SMS"}
	case "location":
		names = []string{"ACCESS_FINE_LOCATION", "ACCESS_COARSE_LOCATION"}
	}
	for i, name := range names {
		names[i] = "android.permission." + name
	}
	return names
}

// iosPermissions returns the names that simctl privacy has for a short name of Maestro; nil for another name.
func iosPermissions(short string) []string {
	switch short {
	case "medialibrary":
		return []string{"media-library"}
	}
	return nil
}
