package ios

import (
	"context"
	"net/http"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// This file has the capabilities of mobile that change a device itself. What they change is put back at the end of the
// session, or by the next one: see mobile.Originals.

// Names of what is put back.
const (
	originalOrientation = "orientation"
	originalLocation    = "location"
	originalStyle       = "style"
	originalContentSize = "content size"
	originalLock        = "lock"
	originalEnrollment  = "enrollment" // of a person, by a fingerprint or a face
)

// putBackEarlier puts back what an earlier session has left. What the device refuses does not keep it from being used.
func (d *driver) putBackEarlier(ctx context.Context, folder, id string) (err error) {
	if d.originals, err = mobile.NewOriginals(folder, id); err == nil {
		d.putBackAll(ctx)
	}
	return err
}

// putBackAll puts back what the session has changed. What fails stays noted for the next session.
func (d *driver) putBackAll(ctx context.Context) {
	if err := d.originals.PutBack(ctx, d.putBack); err != nil {
		d.log("warn", "the device is not as it was before: "+err.Error(), "the next session on it puts it back")
	}
}

// putBack gives what a session has changed its value.
func (d *driver) putBack(ctx context.Context, o mobile.Original) error {
	if (o.Name == originalContentSize || o.Name == originalEnrollment) && d.simulator == nil {
		return nil // of a simulator that simctl does not control any more
	}
	switch o.Name {
	case originalOrientation:
		return d.Turn(ctx, mobile.Orientation(o.Value))
	case originalLocation:
		return d.Act(ctx, "reset the location", func(ctx context.Context) error {
			return d.Call(ctx, http.MethodDelete, simulatedLocation, nil, nil)
		})
	case originalEnrollment:
		return d.setEnrollment(ctx, o.Value)
	case originalLock:
		return d.UnlockScreen(ctx)
	case originalStyle:
		return d.changeStyle(ctx, o.Value)
	case originalContentSize:
		return d.changeContentSize(ctx, o.Value)
	}
	return nil // of a later version
}

// SetOrientation implements mobile.OrientationSetter.
func (d *driver) SetOrientation(ctx context.Context, o mobile.Orientation) error {
	before, err := d.ReadOrientation(ctx)
	if err == nil {
		err = d.originals.Keep(originalOrientation, string(before))
	}
	if err != nil {
		return err
	}
	if err := d.Turn(ctx, o); err != nil {
		return err
	}
	return d.source.Turned(ctx, d.info, o)
}

// OpenNotifications implements mobile.NotificationsOpener.
func (d *driver) OpenNotifications(ctx context.Context) error {
	return d.Touch(ctx, d.gestures.Notifications(d.info))
}

// simulatedLocation is the path of the location that is set.
const simulatedLocation = "/wda/simulatedLocation"

// SetLocation implements mobile.LocationSetter.
func (d *driver) SetLocation(ctx context.Context, l mobile.Location) (note string, err error) {
	wanted := map[string]any{"latitude": l.Latitude, "longitude": l.Longitude}
	err = d.originals.Change(originalLocation, "", func() error {
		return d.post(ctx, "set the location", simulatedLocation, wanted)
	}, appium.Answered)
	if err != nil {
		return "", err
	}
	var now mobile.Location
	err = d.Session.Read(ctx, "read the location", func(ctx context.Context) error { return d.Get(ctx, simulatedLocation, &now) })
	return l.NoteOf(now), err
}

// SetLocale implements mobile.AppearanceSetter.
func (*driver) SetLocale(context.Context, string, string) (string, error) {
	return "", appium.NoLocale()
}

// SetStyle implements mobile.AppearanceSetter.
func (d *driver) SetStyle(ctx context.Context, s mobile.Style) (mobile.Style, error) {
	before, err := d.readStyle(ctx)
	if err == nil && appium.StyleOf(before) != "" {
		err = d.originals.Keep(originalStyle, before)
	}
	if err == nil {
		err = d.changeStyle(ctx, strings.ToLower(string(s)))
	}
	if err != nil {
		return "", err
	}
	now, err := d.readStyle(ctx)
	return appium.StyleOf(now), err
}

// readStyle returns light or dark, or another word of a device that does not say which.
func (d *driver) readStyle(ctx context.Context) (string, error) {
	if d.simulator != nil {
		out, err := d.simulator.runOn(ctx, "ui", "appearance")
		return strings.TrimSpace(out), err
	}
	var about struct{ UserInterfaceStyle string }
	err := d.Session.Read(ctx, "read the appearance", func(ctx context.Context) error { return d.Get(ctx, "/wda/device/info", &about) })
	return about.UserInterfaceStyle, err
}

// changeStyle uses a path of WebDriverAgent that works without a session only.
func (d *driver) changeStyle(ctx context.Context, style string) error {
	if d.simulator != nil {
		_, err := d.simulator.runOn(ctx, "ui", "appearance", style)
		return err
	}
	return d.Act(ctx, "change the appearance", func(ctx context.Context) error {
		return d.client.Call(ctx, http.MethodPost, "/wda/device/appearance", map[string]any{"name": style}, nil)
	})
}

// SetFontSize implements mobile.AppearanceSetter.
func (d *driver) SetFontSize(ctx context.Context, s mobile.FontSize) (mobile.FontSize, error) {
	if d.simulator == nil {
		return "", appium.NoFontSize()
	}
	read := func() (string, error) {
		out, err := d.simulator.runOn(ctx, "ui", "content_size")
		return strings.TrimSpace(out), err
	}
	now, err := d.originals.Replace(originalContentSize, read, func() error { return d.changeContentSize(ctx, appium.ContentSize(s)) })
	return appium.FontSizeOf(now), err
}

func (d *driver) changeContentSize(ctx context.Context, size string) error {
	_, err := d.simulator.runOn(ctx, "ui", "content_size", size)
	return err
}

// LockScreen implements mobile.ScreenLocker. WebDriverAgent waits until the screen is locked.
func (d *driver) LockScreen(ctx context.Context) error {
	if err := d.originals.Keep(originalLock, ""); err != nil {
		return err
	}
	return d.post(ctx, "lock the device", "/wda/lock", nil)
}

// UnlockScreen implements mobile.ScreenLocker. WebDriverAgent waits until the screen is unlocked.
func (d *driver) UnlockScreen(ctx context.Context) error {
	return appium.WithLockHint(d.post(ctx, "unlock the device", "/wda/unlock", nil))
}

var (
	_ mobile.OrientationSetter   = (*driver)(nil)
	_ mobile.NotificationsOpener = (*driver)(nil)
	_ mobile.ScreenLocker        = (*driver)(nil)
	_ mobile.LocationSetter      = (*driver)(nil)
	_ mobile.AppearanceSetter    = (*driver)(nil)
)
