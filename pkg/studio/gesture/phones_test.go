package gesture_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/android"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/ios"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// serverVersion is the version of the UiAutomator2 server on the simulated phone.
const serverVersion = "10.6.6"

// onAndroid opens a session on a simulated Android phone.
func onAndroid(t *testing.T) (*live.RedactedSession, *app.Device) {
	t.Helper()
	ctx, folder := context.WithoutCancel(t.Context()), t.TempDir()
	adb, err := adbserver.Start(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(adb.Close)
	p, err := phones.StartAndroid(ctx, phones.AndroidOptions{App: app.Options{NoPrompt: true}, Server: serverVersion})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if err := adb.Connect(ctx, p.Addr()); err != nil {
		t.Fatal(err)
	}
	for name, data := range phones.ServerAPKs(serverVersion) {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host := device.Host{Values: map[string]string{"uiautomator2": folder}, Env: adb.Env(), Programs: programs(t), Dir: folder, StateDir: folder}
	return openSessionOf(t, android.Kind(), host), p.App
}

// onIPhone opens a session on a simulated iPhone.
func onIPhone(t *testing.T) (*live.RedactedSession, *app.Device) {
	t.Helper()
	p, err := phones.StartIPhone(context.WithoutCancel(t.Context()), phones.IPhoneOptions{App: app.Options{NoPrompt: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	host := device.Host{Values: map[string]string{"wdaUrl": p.URL()}, Env: []string{"TMPDIR=" + t.TempDir()}, Programs: programs(t)}
	return openSessionOf(t, ios.Kind(), host), p.App
}

func programs(t *testing.T) device.Programs {
	t.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	t.Cleanup(func() {
		if err := supervisor.Close(); err != nil {
			t.Error(err)
		}
	})
	return local.Programs(supervisor)
}

// TestActsOnPhones signs in on simulated phones, by touching points and typing keys, swipes, and does the same with what
// was recorded. The app says what it received.
func TestActsOnPhones(t *testing.T) {
	t.Parallel()
	for platform, open := range map[string]func(*testing.T) (*live.RedactedSession, *app.Device){"android": onAndroid, "ios": onIPhone} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			s, phone := open(t)
			width, height := phone.Size()
			d := &desk{T: t, session: s, device: gesture.Device{Platform: platform, Width: float64(width), Height: float64(height)}}
			phone.Show(app.SignIn)
			d.tap("Email")
			for _, a := range acts(slowly(typed("adx")), keys("Backspace"), typed("a@example.com")) {
				d.act(a)
			}
			d.endTyping()
			if text, err := phone.FocusedText(); err != nil || text != "ada@example.com" {
				t.Errorf("%q %v", text, err)
			}
			d.tap("Password")
			for _, a := range acts(typed("secret")) {
				d.act(a)
			}
			d.endTyping()
			phone.Show(app.SignIn)
			d.make(d.recorded...)
			if text, err := phone.FocusedText(); err != nil || text != "secret" {
				t.Errorf("%q %v after %v", text, err, d.recorded)
			}
			for _, c := range d.recorded {
				mustBeValid(t, platform, c)
			}

			phone.Show(app.Orders)
			before := d.find("Order 1146").Bounds.Top
			d.act(act{Act: gesture.Act{Kind: "drag", X: float64(width) / 2, Y: float64(height) * 0.8, ToX: float64(width) / 2, ToY: float64(height) * 0.3}})
			if e := d.find("Order 1146"); e != nil && e.Bounds != nil && e.Bounds.Top >= before {
				t.Errorf("the list was not scrolled: %d, then %d", before, e.Bounds.Top)
			}
		})
	}
}

// tap clicks the middle of the element with a name.
func (d *desk) tap(name string) {
	d.Helper()
	found := d.find(name)
	if found == nil || found.Bounds == nil {
		d.Fatalf("%s is not shown", name)
	}
	middle := found.Bounds.Centre()
	d.act(click(float64(middle.X), float64(middle.Y)))
}

// find returns the element with a name; nil if there is none.
func (d *desk) find(name string) *live.Element {
	d.Helper()
	look, err := d.session.Look(d.Context(), false)
	if err != nil {
		d.Fatal(err)
	}
	return named(look.Root, name)
}

func named(e *live.Element, name string) *live.Element {
	if e.Name == name {
		return e
	}
	for _, child := range e.Children {
		if found := named(child, name); found != nil {
			return found
		}
	}
	return nil
}
