package app

// ProcessChange is what happens to the process of an app.
type ProcessChange string

// The changes.
const (
	ProcessStarted ProcessChange = "started"
	ProcessEnded   ProcessChange = "ended" // by the system or another program
	ProcessCrashed ProcessChange = "crashed"
	ProcessHung    ProcessChange = "hung" // it runs and does not respond
)

// OnProcess sets a function that is called when something happens to the process of an app. It must not call methods of
// the device.
func (d *Device) OnProcess(f func(app string, change ProcessChange)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onProcess = f
}

func (d *Device) processChanged(app string, change ProcessChange) {
	if d.onProcess != nil {
		d.onProcess(app, change)
	}
}

// Crash ends the shop, as an error in its code does.
func (d *Device) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crash()
}

func (d *Device) crash() { d.end(ShopID, ProcessCrashed) }

// freeze makes the shop ignore touches until it is started anew.
func (d *Device) freeze() {
	d.hung = true
	d.processChanged(ShopID, ProcessHung)
}
