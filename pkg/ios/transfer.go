package ios

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// This file has the capabilities of mobile that bring something to a device. Phones take apps only, from Xcode.

// Install implements mobile.Installer.
func (d *driver) Install(ctx context.Context, file string) error {
	err := d.changeApps(ctx, "install", file)
	if err == nil {
		d.app = "" // this one is wanted now
	}
	return err
}

// Uninstall implements mobile.Installer.
func (d *driver) Uninstall(ctx context.Context, app string) error {
	return d.changeApps(ctx, "uninstall", app)
}

// changeApps installs or removes an app: simctl and devicectl call that the same.
func (d *driver) changeApps(ctx context.Context, verb, app string) error {
	if d.simulator != nil {
		_, err := d.simulator.runOn(ctx, verb, app)
		return err
	}
	return d.devicectl(ctx, verb, app)
}

// devicectl installs or removes an app on a phone, which Xcode's devicectl does.
func (d *driver) devicectl(ctx context.Context, verb, app string) error {
	if d.info.ID == "" || !hasXcode(d.options) {
		return mobile.Unsupported("to "+verb+" an app on an iPhone needs Xcode on this machine, and device: {ios: {udid: …}}",
			"`ios "+verb+"` of go-ios does it without Xcode, before the run")
	}
	_, err := xcrun(ctx, d.options, d.limits, "", "devicectl", "device", verb, "app", "--device", d.info.ID, app)
	return err
}

// onlySimulator is the error for what a phone cannot do.
func onlySimulator(what, instead string) error {
	return mobile.Unsupported(what+" is possible only on a simulator of this machine", instead)
}

// AddMedia implements mobile.MediaAdder.
func (d *driver) AddMedia(ctx context.Context, files []string) (note string, err error) {
	if d.simulator == nil {
		return "", onlySimulator("adding pictures", "copy them to the phone before the run, such as with AirDrop")
	}
	_, err = d.simulator.runOn(ctx, "addmedia", files...)
	return "", err
}

// PushNotification implements mobile.NotificationPusher.
func (d *driver) PushNotification(ctx context.Context, app string, payload json.RawMessage) error {
	if d.simulator == nil {
		return onlySimulator("sending a push notification", "send it through Apple's push service")
	}
	_, err := d.simulator.run(ctx, string(payload), "push", d.simulator.udid, app, "-")
	return err
}

// ClearKeychain implements mobile.KeychainClearer.
func (d *driver) ClearKeychain(ctx context.Context) error {
	if d.simulator == nil {
		return onlySimulator("clearing the keychain", "let the app clear what it has there, such as by a launch argument")
	}
	_, err := d.simulator.runOn(ctx, "keychain", "reset")
	return err
}

// enrollment is the notification with which a simulator learns whether it knows a person.
const enrollment = "com.apple.BiometricKit.enrollmentChanged"

// SendBiometric implements mobile.BiometricSensor. The simulator listens to that of its sensor only.
func (d *driver) SendBiometric(ctx context.Context, match bool) error {
	if d.simulator == nil {
		return onlySimulator("sending a fingerprint or a face", "let the app accept the passcode of the phone")
	}
	if err := d.enroll(ctx); err != nil {
		return err
	}
	word := map[bool]string{true: "match", false: "nomatch"}[match]
	for _, sensor := range []string{"fingerTouch", "pearl"} {
		if err := d.notify(ctx, "-p", "com.apple.BiometricKit_Sim."+sensor+"."+word); err != nil {
			return err
		}
	}
	return nil
}

// enroll makes the simulator know a person, until the end of the session.
func (d *driver) enroll(ctx context.Context) error {
	state, err := d.simulator.runOn(ctx, "spawn", "notifyutil", "-g", enrollment)
	if err != nil || slices.Contains(strings.Fields(state), "1") {
		return err
	}
	if err := d.originals.Keep(originalEnrollment, "0"); err != nil {
		return err
	}
	return d.setEnrollment(ctx, "1")
}

func (d *driver) setEnrollment(ctx context.Context, state string) error {
	if err := d.notify(ctx, "-s", enrollment, state); err != nil {
		return err
	}
	return d.notify(ctx, "-p", enrollment)
}

func (d *driver) notify(ctx context.Context, args ...string) error {
	_, err := d.simulator.runOn(ctx, "spawn", append([]string{"notifyutil"}, args...)...)
	return err
}

var (
	_ mobile.Installer          = (*driver)(nil)
	_ mobile.MediaAdder         = (*driver)(nil)
	_ mobile.NotificationPusher = (*driver)(nil)
	_ mobile.KeychainClearer    = (*driver)(nil)
	_ mobile.BiometricSensor    = (*driver)(nil)
)
