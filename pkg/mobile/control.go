package mobile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// controlCommands are the commands that a person would give to the device itself, not to an app.
func controlCommands() []command {
	return []command{
		newCommand("mobile_setOrientation", "Turns the device, and waits until the screen has turned. It is turned back at the end of the session.",
			device.Enum("orientation", "How", string(Portrait), string(Landscape)), setOrientation, "orientation"),
		newCommand("mobile_lock", "Locks the device, and turns its screen off.", "", lockDevice),
		newCommand("mobile_unlock", "Turns the screen on, and unlocks a device without a passcode.", "", unlockDevice),
		newCommand("mobile_openNotifications", "Opens the list of notifications.", "", openNotifications),
		newCommand("mobile_background", "Goes to the home screen, and after some time back to the app that was in front.",
			fmt.Sprintf(`"seconds": {"type": "number", "minimum": 0, "maximum": %d, "default": %d}`, maxBackground, defaultBackground),
			background),
	}
}

func setOrientation(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	word, err := a.Word("orientation", string(Portrait), string(Landscape))
	if err != nil {
		return tool.Result{}, err
	}
	wanted := Orientation(word)
	err = perform(ctx, d, "turn the screen", "turn it by hand", func(ctx context.Context, s OrientationSetter) error {
		return s.SetOrientation(ctx, wanted)
	})
	if err != nil {
		return tool.Result{}, err
	}
	return success("the screen is in %s", strings.ToLower(word)), d.awaitOrientation(ctx, wanted)
}

// awaitOrientation waits until the screen has turned. No server says reliably that it will: an app may keep it as it is.
func (d *phone) awaitOrientation(ctx context.Context, wanted Orientation) error {
	var now Screen
	var shown Orientation
	turned, err := act.Await(ctx, d.limits.Turn, d.limits.Poll, func() (_ bool, err error) {
		if now, err = d.driver.Read(ctx); err != nil {
			return false, err
		}
		shown = Portrait
		if now.Tree.Width > now.Tree.Height {
			shown = Landscape
		}
		return shown == wanted, nil
	})
	if turned || err != nil {
		return err
	}
	return fault.New(fault.ToolFailed, "the app in front may not support it, as most home screens: start the app first",
		"the screen stays in %s, %d wide and %d high", strings.ToLower(string(shown)), now.Tree.Width, now.Tree.Height)
}

func lockDevice(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	return success("locked the device"), perform(ctx, d, "lock the screen", "lock it by hand", func(ctx context.Context, l ScreenLocker) error {
		return l.LockScreen(ctx)
	})
}

func unlockDevice(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	return success("unlocked the device"), perform(ctx, d, "unlock the screen", "unlock it by hand", func(ctx context.Context, l ScreenLocker) error {
		return l.UnlockScreen(ctx)
	})
}

func openNotifications(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	before, err := d.driver.Read(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	err = perform(ctx, d, "open the notifications", "swipe from the top of the screen", func(ctx context.Context, o NotificationsOpener) error {
		return o.OpenNotifications(ctx)
	})
	if err != nil {
		return tool.Result{}, err
	}
	changed, err := act.Await(ctx, d.limits.Settle, d.limits.Poll, func() (bool, error) {
		now, err := d.driver.Read(ctx)
		return err == nil && signature(now.Tree) != signature(before.Tree), err
	})
	switch {
	case err != nil:
		return tool.Result{}, err
	case changed:
		return success("opened the notifications"), nil
	}
	d.notes = append(d.notes, "the screen did not change") // they may have been open, and not every phone lists what is in them
	return success("asked for the notifications; the screen did not change"), nil
}

// Seconds of mobile_background.
const (
	defaultBackground = 3
	maxBackground     = 600
)

// inBackground returns how long an app is in the background.
func inBackground(a device.Arguments) time.Duration {
	return time.Duration(a.Number("seconds", defaultBackground) * float64(time.Second))
}

func background(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	app, err := d.driver.Foreground(ctx)
	if err == nil && app == "" {
		app, err = d.appOf(a)
	}
	if err == nil {
		err = d.driver.Press(ctx, Home)
	}
	if err == nil {
		err = d.awaitLeft(ctx, app)
	}
	if err == nil {
		err = act.Pause(ctx, inBackground(a))
	}
	if err != nil {
		return tool.Result{}, err
	}
	done, err := d.launch(ctx, Launch{App: app})
	if err == nil {
		done.Text = fmt.Sprintf("%s was in the background for %s; ", app, inBackground(a)) + done.Text
	}
	return done, err
}

// awaitLeft waits until an app is not in front any more.
func (d *phone) awaitLeft(ctx context.Context, app string) error {
	left, err := act.Await(ctx, d.limits.Turn, d.limits.Poll, func() (bool, error) {
		front, err := d.driver.Foreground(ctx)
		return err == nil && front != app, err
	})
	if left || err != nil {
		return err
	}
	return fault.New(fault.ToolFailed, "start the app first, or end what it shows above the home screen",
		"%s is still in front after HOME was pressed", app)
}
