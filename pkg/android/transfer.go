package android

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// This file has the capabilities of mobile that bring something to a phone.

// Install implements mobile.Installer: an APK, or a folder or an archive with the splits of an app.
func (d *driver) Install(ctx context.Context, file string) error {
	a, err := readAPK(file)
	if err != nil {
		return err
	}
	if d.app != nil && d.app.Package == a.Package {
		d.app.checked, d.replaced = true, true // this one is wanted until the end of the session
	}
	return d.wrap(installer{d.Device, d.limits, d.log}.install(ctx, a, appTemp))
}

// Uninstall implements mobile.Installer. Other users keep the app. One of the system is not removed for a user either,
// because that would hide it for good.
func (d *driver) Uninstall(ctx context.Context, app string) error {
	if d.app != nil && d.app.Package == app {
		d.app.checked = false
	}
	known, err := installedApp(ctx, d.Device, d.user, app)
	switch {
	case err != nil:
		return d.wrap(err)
	case !known.Installed:
		return d.notInstalled(ctx, app)
	}
	added, err := d.Apps(ctx, false)
	if err != nil {
		return err
	}
	words := []string{"pm", "uninstall"}
	if slices.Contains(added, app) {
		words = append(words, "--user", d.user)
	}
	out, err := d.actAny(ctx, append(words, app)...)
	if err != nil || strings.Contains(out, "Success") {
		return err
	}
	return fault.New(fault.ToolFailed, "an app of the system, or one that administers the phone, cannot be removed",
		"removing %s from %s: %s", app, d.Serial(), outputText(out))
}

// firstScanCall is the first API level whose media provider scans a file on request.
const firstScanCall = 29

// AddMedia implements mobile.MediaAdder. What adb copies is in the storage of user 0.
func (d *driver) AddMedia(ctx context.Context, files []string) (note string, err error) {
	if d.user != "0" {
		return "", mobile.Unsupported("adb copies files to the storage of user 0, and user "+d.user+" uses the phone", "switch the phone to user 0")
	}
	if _, err := d.run(ctx, "mkdir", "-p", appium.MediaFolder); err != nil {
		return "", err
	}
	var unlisted []string
	for _, file := range files {
		listed, err := d.addMedium(ctx, file)
		if err != nil {
			return "", err
		}
		if !listed {
			unlisted = append(unlisted, filepath.Base(file))
		}
	}
	if unlisted == nil {
		return "", nil
	}
	return "the phone does not list " + strings.Join(unlisted, ", ") + " among its media", nil
}

// addMedium copies a file, and reports whether the phone then lists it.
func (d *driver) addMedium(ctx context.Context, file string) (listed bool, err error) {
	content, err := os.Open(file)
	if err != nil {
		return false, fault.Wrap(fault.IO, err, "", "read the file")
	}
	defer content.Close()
	name := path.Join(appium.MediaFolder, filepath.Base(file))
	if err := d.Push(ctx, content, name, 0o644); err != nil {
		return false, d.wrap(err)
	}
	scan := []string{"content", "call", "--uri", "content://media", "--method", "scan_file", "--arg", name}
	if d.api < firstScanCall {
		scan = []string{"am", "broadcast", "-a", "android.intent.action.MEDIA_SCANNER_SCAN_FILE", "-d", "file://" + name}
	}
	if _, err := d.actAny(ctx, scan...); err != nil {
		return false, err
	}
	// MediaStore has the real path of /sdcard, which differs by user.
	out, err := d.runAny(ctx, "content", "query", "--uri", "content://media/external/file", "--projection", "_data",
		"--where", "_data LIKE '%"+strings.ReplaceAll(strings.TrimPrefix(name, "/sdcard"), "'", "''")+"'")
	return strings.Contains(out, "Row:"), err
}

// SendBiometric implements mobile.BiometricSensor. An emulator knows the first finger, if one was enrolled with it.
func (d *driver) SendBiometric(ctx context.Context, match bool) error {
	emulator, isEmulator := consoleOf(d.Serial(), d.env)
	if !isEmulator {
		return mobile.Unsupported("a fingerprint or a face can be sent only to an emulator of this machine",
			"use an emulator, or let the app accept the screen lock of the phone")
	}
	if match {
		return emulator.run(ctx, "finger touch 1")
	}
	return emulator.run(ctx, "finger touch 9")
}

var (
	_ mobile.Installer       = (*driver)(nil)
	_ mobile.MediaAdder      = (*driver)(nil)
	_ mobile.BiometricSensor = (*driver)(nil)
)
