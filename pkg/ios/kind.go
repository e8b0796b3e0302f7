package ios

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// Kind returns the kind of device for iOS.
func Kind() device.Kind {
	k := mobile.Kind(mobile.IOS)
	k.Name, k.Drivers = "ios", []string{"ios-host", "ios-axe"}
	k.DoctorCheck, k.IDOption, k.Options, k.Secrets, k.New = "ios", "udid", deviceOptions(), appium.Secrets, newBackend
	return k
}

// backend has the device of a run. It implements device.Backend.
type backend struct {
	options   options
	limits    limits
	slot      chan struct{} // holds a value while a session uses the device
	wda       wdaServer
	installed atomic.Bool // the user's app was installed on a phone

	mu     sync.Mutex
	booted *bootedSimulator // that the user named; nil before
}

func newBackend(host device.Host) (device.Backend, error) {
	o, err := newOptions(host)
	if err != nil {
		return nil, err
	}
	b := &backend{options: o, limits: defaultLimits(), slot: make(chan struct{}, 1)}
	b.limits.start = o.startLimit
	b.wda.client, err = webdriver.New(o.wdaURL, webdriver.Options{Limit: b.limits.call})
	if err != nil {
		return nil, fault.New(fault.Misuse, "write it like "+defaultURL, "wdaUrl: %v", err)
	}
	return b, nil
}

// Open implements device.Backend.
func (b *backend) Open(s device.Session) device.Device {
	l, _ := mobile.ReadLimits(b.options.values, s.Driver) // newOptions has checked them
	return mobile.NewDevice(mobile.Options{
		Platform: mobile.IOS, Limits: l,
		Open: func(ctx context.Context) (mobile.Driver, error) { return b.open(ctx, s) },
	}, s)
}

// open returns the device for a session, when the session before it has closed.
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
		return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for the previous session of the device")
	}
	release := func() { <-b.slot }
	d, err := b.connect(ctx, s, release)
	if err != nil {
		release()
		return nil, err
	}
	return d, nil
}

// Classifiers implements device.Backend.
func (b *backend) Classifiers(ctx context.Context) ([]string, error) {
	if b.options.appium.URL != "" {
		if b.options.appium.Tablet() {
			return []string{ipad}, nil
		}
		return []string{iphone}, nil
	}
	if _, err := b.boot(ctx); err != nil {
		return nil, err
	}
	status, err := b.wda.ensure(ctx, b.options, b.limits)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(status.Device, ipad) {
		return []string{ipad}, nil
	}
	return []string{iphone}, nil
}

// Classifiers of devices, and what WebDriverAgent calls them.
const (
	iphone = "iphone"
	ipad   = "ipad"
)

// Check implements device.Backend.
func (b *backend) Check(ctx context.Context) (string, error) {
	if b.options.appium.URL != "" {
		return appium.Check(ctx, b.options.appium)
	}
	if note, err := b.checkBoot(ctx); note != "" || err != nil {
		return note, err
	}
	status, err := b.wda.ensure(ctx, b.options, b.limits)
	if err != nil {
		return "", err
	}
	detail := strings.TrimSpace("WebDriverAgent "+status.Build.Version) + " at " + b.wda.client.URL()
	if status.OS.Version != "" {
		detail += ", " + product(status)
	}
	return detail, nil
}

// Close implements device.Backend. It ends the WebDriverAgent and the simulator that it has started.
func (b *backend) Close(ctx context.Context) error {
	return errors.Join(b.wda.close(ctx, b.limits), b.shutDown(ctx))
}

// product returns the device of a status, such as iPhone, iOS 17.2.
func product(status webdriver.Status) string {
	name := "iPhone"
	if strings.EqualFold(status.Device, ipad) {
		name = "iPad"
	}
	return strings.TrimSpace(name + ", iOS " + status.OS.Version)
}
