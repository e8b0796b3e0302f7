package mobile

import (
	"context"
)

// The interfaces of this file are what only some drivers can do. A driver that has one may still return the error of
// [Unsupported], such as for a phone in place of a simulator. What a session changes through them is put back when the
// driver is closed.

// Orientation is how a screen is turned.
type Orientation string

// The orientations.
const (
	Portrait  Orientation = "PORTRAIT"
	Landscape Orientation = "LANDSCAPE"
)

// OrientationSetter is a Driver that can turn its device.
type OrientationSetter interface {
	// SetOrientation turns the device. It does not wait for the screen, which an app may also keep as it is.
	SetOrientation(ctx context.Context, o Orientation) error
}

// NotificationsOpener is a Driver that can open the list of notifications.
type NotificationsOpener interface {
	// OpenNotifications does not wait for the list.
	OpenNotifications(ctx context.Context) error
}

// ScreenLocker is a Driver that can lock its device. One that is locked at the end of the session is unlocked.
type ScreenLocker interface {
	// LockScreen locks the device, and waits until it is locked.
	LockScreen(ctx context.Context) error
	// UnlockScreen unlocks a device without a passcode, and waits until it is unlocked.
	UnlockScreen(ctx context.Context) error
}

// Location is a place on earth, in degrees.
type Location struct{ Latitude, Longitude float64 }

// LocationSetter is a Driver that can tell its device where it is.
type LocationSetter interface {
	// SetLocation returns a note for people if it is not known whether the device has taken the location.
	SetLocation(ctx context.Context, l Location) (note string, err error)
}

// Style is whether apps are drawn dark on light or light on dark.
type Style string

// The styles.
const (
	Light Style = "LIGHT"
	Dark  Style = "DARK"
)

// FontSize is a size of texts that people can choose in the settings of both platforms.
type FontSize string

// The sizes of texts.
const (
	SmallFont   FontSize = "SMALL"
	DefaultFont FontSize = "DEFAULT"
	LargeFont   FontSize = "LARGE"
	LargestFont FontSize = "LARGEST"
)

// AppearanceSetter is a Driver that can change how its device shows apps. Each method returns what the device says of
// itself afterwards, "" if it does not.
type AppearanceSetter interface {
	SetStyle(ctx context.Context, s Style) (Style, error)
	SetFontSize(ctx context.Context, s FontSize) (FontSize, error)
	// SetLocale changes the locale of an app, such as de-DE.
	SetLocale(ctx context.Context, app, locale string) (string, error)
}

// BiometricSensor is a Driver that can act for the finger or the face of a person.
type BiometricSensor interface {
	// SendBiometric answers an app that asks for a person: with one that the device knows if match, else with another.
	SendBiometric(ctx context.Context, match bool) error
}

// perform calls what only a driver with the interface C can do. what completes "cannot", as in "turn the screen";
// instead says what to do on a device without it.
func perform[C any](ctx context.Context, d *phone, what, instead string, call func(context.Context, C) error) error {
	return d.driver.act(ctx, func(ctx context.Context, driver Driver) error {
		able, ok := driver.(C)
		if !ok {
			return Unsupported("trailblaze cannot "+what+" on this device: "+driver.Info().Product, instead)
		}
		return call(ctx, able)
	})
}
