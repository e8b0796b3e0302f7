package appium

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"path"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// This file has the capabilities of mobile that bring something to a device. Files of apps are read by the server: on
// this machine, or by a URL.

// Install implements mobile.Installer.
func (d *androidDriver) Install(ctx context.Context, file string) error {
	return d.command(ctx, "mobile: installApp", args{"appPath": file}, nil)
}

// Uninstall implements mobile.Installer.
func (d *androidDriver) Uninstall(ctx context.Context, app string) error {
	return d.uninstall(ctx, args{"appId": app}, app)
}

// Install implements mobile.Installer.
func (d *iosDriver) Install(ctx context.Context, file string) error {
	return d.command(ctx, "mobile: installApp", args{"app": file}, nil)
}

// Uninstall implements mobile.Installer.
func (d *iosDriver) Uninstall(ctx context.Context, app string) error {
	return d.uninstall(ctx, args{"bundleId": app}, app)
}

func (d *driver) uninstall(ctx context.Context, a args, app string) error {
	var removed any // false if the app is not there; some servers send nothing
	err := d.command(ctx, "mobile: removeApp", a, &removed)
	if err == nil && removed == false {
		return fault.New(fault.ToolFailed, "", "the app %s is not installed", app)
	}
	return err
}

// MediaFolder is where pictures and videos are added on Android: a folder of its own, so that nothing of the owner is
// replaced.
const MediaFolder = "/sdcard/Pictures/trailblaze"

// maxMedia is the size in bytes of the largest picture or video that is sent, since it is sent as one text.
const maxMedia = 64 << 20

// AddMedia implements mobile.MediaAdder.
func (d *driver) AddMedia(ctx context.Context, paths []string) (note string, err error) {
	for _, file := range paths {
		data, err := files.Read(file, maxMedia)
		if err != nil {
			return "", fault.Wrap(fault.ToolFailed, err, "", "read the file")
		}
		name := filepath.Base(file)
		if d.options.Platform == mobile.Android {
			name = path.Join(MediaFolder, name)
		}
		a := args{"remotePath": name, "payload": base64.StdEncoding.EncodeToString(data)}
		if err := d.command(ctx, "mobile: pushFile", a, nil); err != nil {
			return "", err
		}
	}
	return "", nil
}

// PushNotification implements mobile.NotificationPusher.
func (d *iosDriver) PushNotification(ctx context.Context, app string, payload json.RawMessage) error {
	return d.command(ctx, "mobile: pushNotification", args{"bundleId": app, "payload": payload}, nil)
}

// ClearKeychain implements mobile.KeychainClearer.
func (d *iosDriver) ClearKeychain(ctx context.Context) error {
	return d.command(ctx, "mobile: clearKeychains", nil, nil)
}

// SendBiometric implements mobile.BiometricSensor. An emulator knows the first finger, if one was enrolled with it.
func (d *androidDriver) SendBiometric(ctx context.Context, match bool) error {
	finger := map[bool]int{true: 1, false: 9}[match]
	return d.command(ctx, "mobile: fingerprint", args{"fingerprintId": finger}, nil)
}

// SendBiometric implements mobile.BiometricSensor. The simulator listens to that of its sensor only.
func (d *iosDriver) SendBiometric(ctx context.Context, match bool) error {
	var enrolled bool
	err := d.query(ctx, "mobile: isBiometricEnrolled", nil, &enrolled)
	if err == nil && !enrolled {
		if err = d.originals.Keep(originalEnrollment, ""); err == nil {
			err = d.enroll(ctx, true)
		}
	}
	for _, sensor := range []string{"touchId", "faceId"} {
		if err == nil {
			err = d.command(ctx, "mobile: sendBiometricMatch", args{"type": sensor, "match": match}, nil)
		}
	}
	return err
}

func (d *iosDriver) enroll(ctx context.Context, enrolled bool) error {
	return d.command(ctx, "mobile: enrollBiometric", args{"isEnabled": enrolled}, nil)
}

var (
	_ mobile.Installer          = (*androidDriver)(nil)
	_ mobile.Installer          = (*iosDriver)(nil)
	_ mobile.MediaAdder         = (*driver)(nil)
	_ mobile.NotificationPusher = (*iosDriver)(nil)
	_ mobile.KeychainClearer    = (*iosDriver)(nil)
	_ mobile.BiometricSensor    = (*androidDriver)(nil)
	_ mobile.BiometricSensor    = (*iosDriver)(nil)
)
