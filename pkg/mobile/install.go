package mobile

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// transferCommands are the commands that bring apps, files and messages to a device.
func transferCommands() []command {
	return []command{
		newCommand("mobile_installApp", "Installs an app from a file. What an installed version has stored is kept.",
			`"file": {"type": "string", "minLength": 1, "description": "The APK, .app or .ipa, from the folder of the project"}`,
			installApp, "file"),
		newCommand("mobile_uninstallApp", "Removes an app with everything that it has stored.", appProperty, uninstallApp),
		newCommand("mobile_addMedia", "Adds pictures and videos to those of the device.",
			`"files": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1},
			"description": "From the folder of the project"}`, addMedia, "files"),
		newCommand("mobile_pushNotification", "Sends an app of a simulator a push notification.",
			appProperty+`, "title": {"type": "string"}, "body": {"type": "string"},
			"payload": {"type": "object", "description": "All of it, in place of title and body: {aps: {alert: …}}"}`,
			pushNotification).checkedBy(checkPush),
		newCommand("mobile_clearKeychain", "Removes what all apps of a simulator have in the keychain.", "", clearKeychain),
	}
}

// file returns the path of a file of a call, which must exist. A URL is for an Appium server, and returned as it is.
func (d *phone) file(path string) (string, error) {
	if strings.Contains(path, "://") {
		return path, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.session.Root, filepath.FromSlash(path))
	}
	if _, err := os.Stat(path); err != nil {
		return "", fault.Wrap(fault.InvalidArguments, err, "paths start at the folder of the project: "+d.session.Root, "the file cannot be read")
	}
	return path, nil
}

func installApp(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	file, err := d.file(a.Text("file"))
	if err != nil {
		return tool.Result{}, err
	}
	d.crashes.mayEnd(d.app) // it may be the app of the file
	const instead = "name the app with device: {app: FILE}, or install it before the run"
	return success("installed %s", a.Text("file")), perform(ctx, d, "install an app", instead, func(ctx context.Context, i Installer) error {
		return i.Install(ctx, file)
	})
}

func uninstallApp(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	app, err := d.appOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	d.crashes.mayEnd(app)
	err = perform(ctx, d, "remove an app", "clearAppData removes what it has stored", func(ctx context.Context, i Installer) error {
		return i.Uninstall(ctx, app)
	})
	if err == nil {
		d.forgetSecrets(app)
	}
	return success("removed %s", app), err
}

func addMedia(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	names := map[string]bool{}
	for _, path := range a.Texts("files") {
		name := filepath.Base(filepath.FromSlash(path))
		if names[name] {
			return tool.Result{}, invalid("give them different names, because the device has them in one folder", "two files are called %s", name)
		}
		names[name] = true
	}
	var paths []string
	for _, name := range a.Texts("files") {
		path, err := d.file(name)
		if err != nil {
			return tool.Result{}, err
		}
		paths = append(paths, path)
	}
	err := perform(ctx, d, "add pictures", "copy them to the device before the run", func(ctx context.Context, m MediaAdder) error {
		note, err := m.AddMedia(ctx, paths)
		if note != "" {
			d.notes = append(d.notes, note)
		}
		return err
	})
	return success("added %s", strings.Join(a.Texts("files"), ", ")), err
}

func checkPush(a device.Arguments) error {
	if a.Has("payload") == (a.Has("title") || a.Has("body")) {
		return invalid("", "give payload, or title and body")
	}
	return nil
}

func pushNotification(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	if err := checkPush(a); err != nil {
		return tool.Result{}, err
	}
	app, err := d.appOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	payload, _ := a["payload"].(map[string]any)
	if payload == nil {
		alert := map[string]any{}
		for _, key := range []string{"title", "body"} {
			if a.Has(key) {
				alert[key] = a.Text(key)
			}
		}
		payload = map[string]any{"aps": map[string]any{"alert": alert}}
	}
	const instead = "send it through the push service of the app; on Android, android_sendBroadcast reaches a receiver of the app"
	return success("sent a notification to %s", app), perform(ctx, d, "send a push notification", instead,
		func(ctx context.Context, p NotificationPusher) error {
			return p.PushNotification(ctx, app, marshal(payload))
		})
}

func clearKeychain(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	const instead = "only simulators have a keychain that can be cleared; clearAppData removes what an Android app has stored"
	return success("cleared the keychain"), perform(ctx, d, "clear the keychain", instead,
		func(ctx context.Context, c KeychainClearer) error { return c.ClearKeychain(ctx) })
}

// Installer is a Driver that can install and remove apps.
type Installer interface {
	// Install installs the app of a file, above a version that is installed.
	Install(ctx context.Context, file string) error
	// Uninstall removes an app. One that is not installed is an error.
	Uninstall(ctx context.Context, app string) error
}

// MediaAdder is a Driver that can add pictures and videos to those of its device.
type MediaAdder interface {
	// AddMedia returns a note for people if it is not known whether apps see the files.
	AddMedia(ctx context.Context, files []string) (note string, err error)
}

// NotificationPusher is a Driver that can send an app a push notification: an object of Apple's push service in JSON.
type NotificationPusher interface {
	PushNotification(ctx context.Context, app string, payload json.RawMessage) error
}

// KeychainClearer is a Driver that can empty the keychain of its device.
type KeychainClearer interface {
	ClearKeychain(ctx context.Context) error
}
