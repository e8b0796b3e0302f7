package appium

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// This file has the capabilities of mobile that change a device itself. What they change is put back when the session
// ends. When trailblaze is killed, it stays unless the server or the cloud resets the device.

// Names of what is put back.
const (
	originalOrientation = "orientation"
	originalLocation    = "location"
	originalLock        = "lock"
)

// ReadOrientation returns how the screen is turned.
func (s *Session) ReadOrientation(ctx context.Context) (o mobile.Orientation, err error) {
	err = s.Read(ctx, "read the orientation", func(ctx context.Context) error { return s.Get(ctx, "/orientation", &o) })
	return o, err
}

// Turn turns the device. WebDriverAgent looks at the screen once, without waiting for the end of the motion, and may so
// say that it has not turned. That is not an error here.
func (s *Session) Turn(ctx context.Context, o mobile.Orientation) error {
	err := s.Act(ctx, "turn the device to "+string(o), func(ctx context.Context) error {
		return s.Post(ctx, "/orientation", map[string]any{"orientation": o}, nil)
	})
	if e := webdriver.As(err); e != nil && Answered(err) && strings.Contains(e.Message, "Unable To Rotate Device") {
		return nil
	}
	return err
}

// SetOrientation implements mobile.OrientationSetter.
func (d *driver) SetOrientation(ctx context.Context, o mobile.Orientation) error {
	before, err := d.ReadOrientation(ctx)
	if err == nil {
		err = d.originals.Keep(originalOrientation, string(before))
	}
	if err != nil {
		return d.refusal("the orientation", err)
	}
	return d.refusal("turning the device", d.Turn(ctx, o))
}

// SetOrientation implements mobile.OrientationSetter.
func (d *iosDriver) SetOrientation(ctx context.Context, o mobile.Orientation) error {
	if err := d.driver.SetOrientation(ctx, o); err != nil || d.source == nil {
		return err
	}
	return d.source.Turned(ctx, d.info, o)
}

// putBack gives what the session has changed its value.
func (d *driver) putBack(ctx context.Context, o mobile.Original) error {
	switch o.Name {
	case originalLocation:
		return d.command(ctx, d.names().resetLocation, nil, nil)
	case originalLock:
		return d.UnlockScreen(ctx)
	case originalOrientation:
		return d.Turn(ctx, mobile.Orientation(o.Value))
	default:
		return d.putBackOf(ctx, o)
	}
}

// stateCommands are the extension commands of a platform for the same things.
type stateCommands struct{ setLocation, getLocation, resetLocation string }

func (d *driver) names() stateCommands {
	if d.options.Platform == mobile.IOS {
		return stateCommands{"mobile: setSimulatedLocation", "mobile: getSimulatedLocation", "mobile: resetSimulatedLocation"}
	}
	return stateCommands{"mobile: setGeolocation", "mobile: getGeolocation", "mobile: resetGeolocation"}
}

// SetLocation implements mobile.LocationSetter.
func (d *driver) SetLocation(ctx context.Context, l mobile.Location) (note string, err error) {
	err = d.originals.Change(originalLocation, "", func() error {
		return d.command(ctx, d.names().setLocation, args{"latitude": l.Latitude, "longitude": l.Longitude}, nil)
	}, func(err error) bool { return isRefused(err) || Answered(err) })
	if err != nil {
		return "", err
	}
	var now mobile.Location
	if err := d.query(ctx, d.names().getLocation, nil, &now); err != nil {
		return "the device does not say where it is: " + err.Error(), nil //nolint:nilerr // it was set
	}
	return l.NoteOf(now), nil
}

// LockScreen implements mobile.ScreenLocker. The server waits until the screen is locked.
func (d *driver) LockScreen(ctx context.Context) error {
	if err := d.originals.Keep(originalLock, ""); err != nil {
		return err
	}
	return d.command(ctx, "mobile: lock", nil, nil)
}

// UnlockScreen implements mobile.ScreenLocker. The server waits until the screen is unlocked.
func (d *driver) UnlockScreen(ctx context.Context) error {
	return WithLockHint(d.command(ctx, "mobile: unlock", nil, nil))
}

// WithLockHint returns the error of a device that was not unlocked, with a hint.
func WithLockHint(err error) error {
	if e := fault.As(err); e != nil && e.Hint == "" {
		e.Hint = "turn the passcode of the device off: nobody can enter it here"
	}
	return err
}

// OpenNotifications implements mobile.NotificationsOpener.
func (d *androidDriver) OpenNotifications(ctx context.Context) error {
	return d.command(ctx, "mobile: openNotifications", nil, nil)
}

// OpenNotifications implements mobile.NotificationsOpener.
func (d *iosDriver) OpenNotifications(ctx context.Context) error {
	return d.Touch(ctx, d.gestures.Notifications(d.info))
}

// Notifications returns the swipe from the top that opens the notifications. On the right it would open the controls.
func (g *Gestures) Notifications(info mobile.Info) mobile.Finger {
	width, height := cmp.Or(g.width, info.Width), cmp.Or(g.height, info.Height)
	return mobile.Finger{
		Path: []screen.Point{{X: width / 4, Y: 1}, {X: width / 4, Y: height * 4 / 5}}, Move: 400 * time.Millisecond,
	}
}

var (
	_ mobile.OrientationSetter   = (*driver)(nil)
	_ mobile.ScreenLocker        = (*driver)(nil)
	_ mobile.LocationSetter      = (*driver)(nil)
	_ mobile.NotificationsOpener = (*androidDriver)(nil)
	_ mobile.NotificationsOpener = (*iosDriver)(nil)
)
