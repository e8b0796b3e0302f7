package app

import "github.com/trailblaze/trailblaze/pkg/screen"

// androidSystemUI is the app that shows the lock screen.
const androidSystemUI = "com.android.systemui"

// SetLocked shows or removes the lock screen. It is the only window then, as on a phone: apps behind it are not
// visible. Touches on it hit nothing.
func (d *Device) SetLocked(locked bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.locked = locked
}

// Locked reports whether the lock screen is shown.
func (d *Device) Locked() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.locked
}

// SetAsleep turns the screen off or on. While it is off, touches, text and keys do nothing, and pictures are black.
func (d *Device) SetAsleep(asleep bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asleep = asleep
}

// Asleep reports whether the screen is off.
func (d *Device) Asleep() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asleep
}

// lockScreen is the window of a phone that is locked.
func (d *Device) lockScreen() Window {
	root := &Element{ID: "keyguard_root_view", Bounds: screen.Rect{Right: d.width, Bottom: d.height}}
	root.Children = []*Element{
		{Kind: Text, ID: "clock", Text: "12:00", Bounds: d.box(20, 120, -20, 80)},
		{Kind: Text, ID: "keyguard_indication_text", Text: "Swipe up to open", Bounds: d.box(20, 700, -20, 40)},
	}
	return Window{Package: androidSystemUI, Root: root}
}
