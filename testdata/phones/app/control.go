package app

import (
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// control is what the owner of a device controls, apart from apps.
type control struct {
	landscape bool // the device is turned
	turning   int  // reads of the screen until that has turned with it

	style         string // light or dark; empty if it was not changed
	location      string // as it was set, in degrees; empty for where it is
	shade         bool   // the list of notifications is open
	notifications []Notification
	media         []string // paths
}

// Notification is one in the list of notifications.
type Notification struct{ App, Text string }

// androidSystem is the app of Android that shows the notifications.
const androidSystem = "com.android.systemui"

// turningReads is how many reads of the screen it takes to turn.
const turningReads = 2

// SetLandscape turns the device.
func (d *Device) SetLandscape(landscape bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if landscape != d.control.landscape {
		d.control.landscape, d.control.turning = landscape, turningReads
	}
}

// EndTurning turns the screen as far as it turns, for somebody who has waited for that.
func (d *Device) EndTurning() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.control.turning = 0
}

// Landscape reports whether what is shown is in landscape. Home screens of phones and apps that stay upright never are.
func (d *Device) Landscape() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn()
	return d.width > d.height
}

// turn gives the screen the size that it has as the device is turned.
func (d *Device) turn() {
	landscape := d.control.landscape && d.foreground != d.homeID() && (d.foreground != ShopID || !d.options.StaysUpright)
	if d.control.turning == 0 && landscape != (d.width > d.height) {
		d.width, d.height = d.height, d.width
	}
}

// AddNotification adds a notification.
func (d *Device) AddNotification(n Notification) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.control.notifications = append(d.control.notifications, n)
}

// OpenNotifications opens the list of notifications.
func (d *Device) OpenNotifications() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lastEvent = time.Now()
	d.control.shade = true
}

// opensNotifications reports whether a swipe on an iPhone opens the notifications.
func (d *Device) opensNotifications(start, end screen.Point) bool {
	return d.platform == IOS && start.Y < 10 && start.X < d.width*2/3 && end.Y-start.Y > d.height/3
}

// shade returns the window of the notifications.
func (d *Device) shade() Window {
	system := androidSystem
	if d.platform == IOS {
		system = iosHome
	}
	list := &Element{Kind: List, ID: "notification_stack_scroller", Bounds: d.full()}
	root := (&Element{ID: "notification_panel", Bounds: d.full()}).add(list)
	for i, n := range d.control.notifications {
		list.add(button("notification", n.Text, d.box(16, topInset+i*rowHeight, -16, rowHeight-8), func() {
			d.control.shade = false
			d.start(n.App, "", nil)
		}))
	}
	return Window{Package: system, Kind: ShadeWindow, Root: root, Modal: true}
}

// SetLocation sets the location that the device reports; empty for its own.
func (d *Device) SetLocation(place string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.control.location = place
}

// Location returns the location that was set; empty for none.
func (d *Device) Location() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.control.location
}

// SetStyle makes the device light or dark.
func (d *Device) SetStyle(style string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.control.style = style
}

// Style returns light or dark; empty if it was not changed.
func (d *Device) Style() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.control.style
}

// AddMedium adds a picture or a video to those that apps see.
func (d *Device) AddMedium(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.control.media = append(d.control.media, path)
}

// Media returns the paths of the pictures and videos that apps see.
func (d *Device) Media() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.control.media)
}
