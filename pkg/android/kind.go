// Package android is the kind of device for Android phones and tablets, over adb and, where it is installed, the
// UiAutomator2 server of Appium (specification, section 15.3). Only coordinates, text and keys go to a phone.
package android

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// Kind returns the kind of device for Android.
func Kind() device.Kind {
	k := mobile.Kind(mobile.Android)
	k.Name, k.Drivers = "android", []string{"android-ondevice-accessibility", "android-ondevice-instrumentation"}
	k.DoctorCheck, k.IDOption, k.Options, k.Secrets, k.New = "android", "serial", deviceOptions(), appium.Secrets, newBackend
	return k
}

// backend has the phone of a run, which it prepares for the first session and puts back when it is closed. It
// implements device.Backend.
type backend struct {
	options options
	limits  limits
	slot    chan struct{} // holds a value while a session uses phone and app
	phone   *phone        // nil before the first session
	app     *apk          // nil without one, and before the first session

	mu       sync.Mutex
	serial   string      // that was chosen; empty before
	info     mobile.Info // of that phone; without an ID before it was asked
	emulator *emulator   // that was started; nil for none
}

func newBackend(host device.Host) (device.Backend, error) {
	o, err := newOptions(host)
	if err != nil {
		return nil, err
	}
	b := &backend{options: o, limits: defaultLimits(), slot: make(chan struct{}, 1)}
	b.limits.exit = cmp.Or(host.ExitGrace, b.limits.exit)
	return b, nil
}

// Open implements device.Backend.
func (b *backend) Open(s device.Session) device.Device {
	l, _ := mobile.ReadLimits(b.options.values, s.Driver) // newOptions has checked them
	return mobile.NewDevice(mobile.Options{
		Platform: mobile.Android, Limits: l,
		Open: func(ctx context.Context) (mobile.Driver, error) { return b.open(ctx, s) },
	}, s)
}

// open returns the phone for a session, when the session before it has closed.
func (b *backend) open(ctx context.Context, s device.Session) (mobile.Driver, error) {
	if s.Log == nil {
		s.Log = func(string, string, string) {}
	}
	if o := b.options.appium; o.URL != "" {
		o.Log, o.Name, o.Outcome = s.Log, s.Title, s.Outcome
		return appium.Open(ctx, o)
	}
	select {
	case b.slot <- struct{}{}:
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for the previous session of the phone")
	}
	if err := b.prepare(ctx, s); err != nil {
		<-b.slot
		return nil, err
	}
	return &driver{phone: b.phone, app: b.app, env: b.options.env, release: func(ctx context.Context) error {
		defer func() { <-b.slot }()
		if b.phone.reachable(ctx) {
			return nil
		}
		return b.Close(ctx) // so that the next session chooses and connects again
	}}, nil
}

// prepare connects to the phone for the first session, and after its connection was lost.
func (b *backend) prepare(ctx context.Context, s device.Session) error {
	if b.app == nil && b.options.app != "" {
		app, err := readAPK(b.options.app)
		if err != nil {
			return err
		}
		b.app = app
	}
	if b.phone != nil {
		err := b.phone.next(ctx, s.Log)
		if err == nil || b.phone.reachable(ctx) {
			return err
		}
		_ = b.Close(ctx) // what it cannot put back, connecting again does
	}
	chosen, err := b.choose(ctx)
	if err != nil {
		return err
	}
	b.phone, err = connect(ctx, chosen, b.options, b.limits, s)
	return err
}

// choose returns the phone of the run, the same one for every session.
func (b *backend) choose(ctx context.Context) (adb.Device, error) {
	server, devices, err := b.devices(ctx)
	if err != nil {
		return adb.Device{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.options.start != "" && b.serial == "" {
		return b.chooseEmulator(ctx, server, devices)
	}
	chosen, err := choose(devices, cmp.Or(b.serial, b.options.serial))
	if err != nil {
		return adb.Device{}, err
	}
	b.serial = chosen.Serial
	return server.Device(chosen.Serial), nil
}

// devices returns the adb server, which is started if it does not run, and what it knows.
func (b *backend) devices(ctx context.Context) (adb.Server, []adb.Info, error) {
	server, err := adb.Find(b.options.env)
	if err == nil {
		err = server.EnsureRunning(ctx, b.options.programs, b.options.env)
	}
	if err != nil {
		return adb.Server{}, nil, err
	}
	devices, err := server.Devices(ctx)
	return server, devices, err
}

// Classifiers implements device.Backend.
func (b *backend) Classifiers(ctx context.Context) ([]string, error) {
	tablet := b.options.appium.Tablet()
	if b.options.appium.URL == "" {
		info, err := b.readInfo(ctx)
		if err != nil {
			return nil, err
		}
		tablet = info.Tablet
	}
	if tablet {
		return []string{"tablet"}, nil
	}
	return []string{"phone"}, nil
}

// readInfo reads what the phone of the run is, once for all sessions.
func (b *backend) readInfo(ctx context.Context) (mobile.Info, error) {
	chosen, err := b.choose(ctx)
	if err != nil {
		return mobile.Info{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.info.ID != chosen.Serial() {
		p := &phone{Device: chosen, limits: b.limits}
		if err := p.readInfo(ctx); err != nil {
			return mobile.Info{}, err
		}
		b.info = p.info
	}
	return b.info, nil
}

// Check implements device.Backend. On the phone it only puts back what a run that was killed had changed.
func (b *backend) Check(ctx context.Context) (string, error) {
	if b.options.appium.URL != "" {
		return appium.Check(ctx, b.options.appium)
	}
	adbServer, devices, err := b.devices(ctx)
	if err != nil {
		return "", err
	}
	version, err := adbServer.Version(ctx)
	if err != nil {
		return "", err
	}
	details := []string{fmt.Sprintf("adb server %d at %s", version, adbServer)}
	if path, err := adb.Program(b.options.programs, b.options.env); err == nil {
		details[0] += " (" + path + ")"
	}
	serial := b.options.serial
	if b.options.start != "" {
		if serial = b.runningEmulator(ctx, adbServer, devices); serial == "" {
			path, err := adb.EmulatorProgram(b.options.programs, b.options.env)
			if err != nil {
				return "", err
			}
			return strings.Join(append(details, "the emulator "+b.options.start+" does not run; a run starts it with "+path), "; "), nil
		}
	}
	chosen, err := choose(devices, serial)
	if err != nil {
		return "", err
	}
	p := &phone{Device: adbServer.Device(chosen.Serial), limits: b.limits, log: func(string, string, string) {}}
	p.changes = &changes{phone: p.Device}
	if err := p.readInfo(ctx); err != nil {
		return "", err
	}
	details = append(details, fmt.Sprintf("%s (%s)", chosen.Serial, p.info.Product))
	if len(devices) > 1 {
		details = append(details, "of "+list(devices))
	}
	state, err := readLock(ctx, p.Device)
	if err != nil {
		return "", err
	}
	if does := state.String(); does != "" {
		details = append(details, "it "+does)
	}
	left, err := p.putBackLeft(ctx, b.options.stateDir)
	if err != nil {
		return "", err
	}
	if left {
		details = append(details, "what a run that was killed had changed on it was put back")
	}
	server, err := p.describeServer(ctx, b.options)
	if err != nil {
		return "", err
	}
	return strings.Join(append(details, server), "; "), nil
}

// describeServer returns which UiAutomator2 server a session would use.
func (p *phone) describeServer(ctx context.Context, o options) (string, error) {
	apks, found, err := o.findAPKs(o.dir)
	if err != nil {
		return "", err
	}
	if !p.usesServer(found) {
		return "the UiAutomator2 server " + p.noServer + ": " + p.noServerHint, nil
	}
	known, err := installedApp(ctx, p.Device, p.user, serverPackage)
	if err != nil {
		return "", err
	}
	detail := fmt.Sprintf("UiAutomator2 server %s in %s, %s on the device", apks.version, apks.folder(), cmp.Or(known.Version, "not yet"))
	if note := apks.ageNote(); note != "" {
		detail += "; " + note + "; " + installServer + "@latest installs a current one"
	}
	return detail, nil
}

// Close implements device.Backend.
func (b *backend) Close(ctx context.Context) error {
	var err error
	if p := b.phone; p != nil {
		b.phone = nil
		err = p.close(ctx)
	}
	return errors.Join(err, b.stopEmulator(ctx))
}
