package android

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// use runs calls on a phone that shows the orders of the shop, with and without the UiAutomator2 server. Afterwards the
// phone is as it was before.
func use(t *testing.T, o phones.AndroidOptions, run func(t *testing.T, p *phones.Android, s device.Device, server bool)) {
	t.Helper()
	o.App.NoPrompt = true
	for name, server := range map[string]bool{"UiAutomator2": true, "dump": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if !server {
				d.values["uiautomator2"] = ""
			}
			p := d.phone(o)
			b := d.backend()
			session := d.session()
			session.AppID = app.ShopID
			s := b.Open(session)
			p.App.Show(app.Orders)
			run(t, p, s, server)
			if err := s.Close(within(t)); err != nil {
				t.Error(err)
			}
			if err := b.Close(within(t)); err != nil {
				t.Error(err)
			}
			if wrong := p.App.WrongTouches(); wrong > 0 {
				t.Errorf("touches that hit nothing: %+v", p.App.Touches())
			}
			if changed := p.Changed(); len(changed) > 0 {
				t.Errorf("not put back: %q", changed)
			}
		})
	}
}

// says makes a call that succeeds with a text.
func says(t *testing.T, s device.Device, name string, args map[string]any, text string) {
	t.Helper()
	if r := call(t, s, name, args); !r.OK || r.Text != text {
		t.Errorf("%s %v: %v %q %s, want %q", name, args, r.OK, r.Text, r.Hint, text)
	}
}

// refuses makes a call that fails with texts in its message or its hint.
func refuses(t *testing.T, s device.Device, name string, args map[string]any, texts ...string) {
	t.Helper()
	r := call(t, s, name, args)
	if r.OK || r.Kind != fault.ToolFailed {
		t.Errorf("%s %v: %v %s %q", name, args, r.OK, r.Kind, r.Text)
	}
	for _, text := range texts {
		if !strings.Contains(r.Text+"\n"+r.Hint, text) {
			t.Errorf("%s %v: %q is missing in %s\n%s", name, args, text, r.Text, r.Hint)
		}
	}
}

// An element is where the turned screen shows it, and the next session finds the phone upright.
func TestOrientation(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		says(t, s, "mobile_setOrientation", map[string]any{"orientation": "landscape"}, "the screen is in landscape")
		if width, height := p.App.Size(); width != 2400 || height != 1080 {
			t.Errorf("the screen is %d wide and %d high", width, height)
		}
		says(t, s, "tap", map[string]any{"id": "settings"}, `tapped button "Settings"`)
		if p.App.Screen() != app.Settings {
			t.Errorf("the app shows %s", p.App.Screen())
		}
		says(t, s, "mobile_setOrientation", map[string]any{"orientation": "PORTRAIT"}, "the screen is in portrait")
		says(t, s, "mobile_setOrientation", map[string]any{"orientation": "LANDSCAPE"}, "the screen is in landscape")
	})
}

func TestOrientationThatAnAppRefuses(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{App: app.Options{StaysUpright: true}}, func(t *testing.T, _ *phones.Android, s device.Device, _ bool) {
		refuses(t, s, "mobile_setOrientation", map[string]any{"orientation": "LANDSCAPE"}, "the screen stays in portrait, 1080 wide and 2400 high")
	})
}

// What a killed session has left is put back by the next one.
func TestStateOfAKilledSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{})
	p.App.Show(app.Orders)
	killed, _ := d.open()
	_, placeErr := killed.SetLocation(within(t), mobile.Location{Latitude: 1, Longitude: 2})
	_, styleErr := killed.SetStyle(within(t), mobile.Dark)
	_, sizeErr := killed.SetFontSize(within(t), mobile.LargeFont)
	_, localeErr := killed.SetLocale(within(t), app.ShopID, "de-DE,fr")
	if err := errors.Join(killed.SetOrientation(within(t), mobile.Landscape), placeErr, styleErr, sizeErr, localeErr, killed.StartRecording(within(t))); err != nil {
		t.Fatal(err)
	}
	file, err := p.Files().Stat(changesFile)
	if err != nil {
		t.Fatal(err)
	}
	left := killed.changes
	next := &changes{phone: left.phone, original: parseChanges(string(file.Data))}
	if err := next.putBack(within(t)); err != nil {
		t.Fatal(err)
	}
	for _, left := range p.Changed() {
		if left != "the UiAutomator2 server runs" && left != serverTemp && left != markFolder {
			t.Errorf("not put back: %s", left)
		}
	}
	if at := p.App.Location(); at != "" {
		t.Errorf("the phone is at %s", at)
	}
}

func TestDoubleTap(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{}, func(t *testing.T, p *phones.Android, s device.Device, server bool) {
		p.App.Show(app.Order)
		picture := map[string]any{"id": "picture"}
		if !server {
			refuses(t, s, "mobile_doubleTap", picture, "tapping twice needs Appium's UiAutomator2 server")
			return
		}
		says(t, s, "mobile_doubleTap", picture, `tapped twice img "Picture of the parcel"`)
		if kind := p.App.Touches()[0].Kind; kind != "double tap" {
			t.Errorf("the phone saw a %s", kind)
		}
		says(t, s, "assertVisible", map[string]any{"text": "Picture of the parcel, zoomed"}, `img "Picture of the parcel, zoomed" is visible`)
	})
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		p.App.AddNotification(app.Notification{App: app.BrowserID, Text: "Your parcel is on its way"})
		says(t, s, "mobile_openNotifications", nil, "opened the notifications")
		says(t, s, "mobile_openNotifications", nil, "asked for the notifications; the screen did not change")
		says(t, s, "tap", map[string]any{"text": "Your parcel is on its way"}, `tapped button "Your parcel is on its way"`)
		if p.App.Foreground() != app.BrowserID {
			t.Errorf("%s is in front", p.App.Foreground())
		}
	})
}

func TestBackground(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		p.App.Show(app.Order)
		says(t, s, "mobile_background", map[string]any{"seconds": 0.1},
			"com.example.shop was in the background for 100ms; started com.example.shop")
		if keys := p.App.Keys(); len(keys) != 1 || keys[0] != app.KeyHome || p.App.Screen() != app.Order {
			t.Errorf("keys %q, the app shows %s", keys, p.App.Screen())
		}
	})
}

func TestLocation(t *testing.T) {
	t.Parallel()
	berlin := map[string]any{"latitude": 52.52, "longitude": 13.405}
	use(t, phones.AndroidOptions{}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		for range 2 {
			says(t, s, "mobile_setLocation", berlin, "the device is at 52.52, 13.405")
		}
		if at := p.App.Location(); at != "52.520000,13.405000" {
			t.Errorf("the phone is at %s", at)
		}
	})
	use(t, phones.AndroidOptions{Level: 30}, func(t *testing.T, _ *phones.Android, s device.Device, _ bool) {
		refuses(t, s, "mobile_setLocation", berlin, "Android 11 and older cannot be told a location by the shell", "io.appium.settings")
	})
}

func TestAppearance(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		says(t, s, "mobile_setAppearance", map[string]any{"style": "dark", "fontSize": "LARGEST", "locale": "de_DE"},
			"set style DARK, fontSize LARGEST, locale de-DE")
		says(t, s, "mobile_setAppearance", map[string]any{"locale": "fr"}, "set locale fr")
		got := p.Setting("uimode", "night") + " " + p.Setting("system", "font_scale") + " " + p.Setting("locales", app.ShopID)
		if got != "yes 1.3 fr" {
			t.Errorf("the phone has %s", got)
		}
	})
	use(t, phones.AndroidOptions{Level: 31}, func(t *testing.T, _ *phones.Android, s device.Device, _ bool) {
		refuses(t, s, "mobile_setAppearance", map[string]any{"style": "DARK", "locale": "de"}, "Android 12 and older have one locale")
	})
}

// What a phone refuses to adb is not put back, which it would refuse, too.
func TestStateThatIsRefused(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{RefuseSettings: true}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		for name, args := range map[string]map[string]any{
			"mobile_setOrientation": {"orientation": "LANDSCAPE"},
			"mobile_setLocation":    {"latitude": 52.52, "longitude": 13.405},
			"mobile_setAppearance":  {"style": "DARK"},
		} {
			refuses(t, s, name, args, p.Addr()+" does not let adb change its settings", "Security settings")
		}
		refuses(t, s, "mobile_setAppearance", map[string]any{"fontSize": "LARGE"}, "does not let adb change its settings")
	})
}

// emulatorOnly finds the emulator, and no other program.
type emulatorOnly struct{ device.Programs }

func (emulatorOnly) LookPath(name string, _ []string) (string, error) {
	if name != "emulator" {
		return "", fs.ErrNotExist
	}
	return "/sdk/emulator/emulator", nil
}

// A check of an emulator that a run would start is not one of the phone that happens to be connected.
func TestCheckOfAnEmulatorThatDoesNotRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.values["startDevice"] = "Pixel_8"
	p := d.phone(phones.AndroidOptions{})
	b := d.backend()
	_, err := b.Check(within(t))
	wantFault(t, err, fault.CommandNotFound, "the program emulator was not found", "ANDROID_HOME")
	b.options.programs = emulatorOnly{}
	detail, err := b.Check(within(t))
	const want = "the emulator Pixel_8 does not run; a run starts it with /sdk/emulator/emulator"
	if err != nil || !strings.HasSuffix(detail, want) || strings.Contains(detail, p.Addr()) {
		t.Errorf("%s, %v", detail, err)
	}
}

// The console of an emulator is that of the Android SDK: lines, OK or KO.
func TestConsoleOfAnEmulator(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".emulator_console_auth_token"), []byte("t0ken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	received := make(chan string, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			connection, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(connection, "Android Console: Authentication required\r\nAndroid Console: type 'auth <auth_token>' to authenticate\r\nOK\r\n")
			for lines := bufio.NewScanner(connection); lines.Scan(); {
				received <- lines.Text()
				answer := "Android Console: type 'help' for a list of commands\r\nOK\r\n"
				if lines.Text() == "fly" {
					answer = "KO: unknown command, try 'help'\r\n"
				}
				fmt.Fprint(connection, answer)
			}
			_ = connection.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c, isEmulator := consoleOf("emulator-"+port, []string{"HOME=" + home})
	if !isEmulator {
		t.Fatal("not an emulator")
	}
	if err := c.run(within(t), "geo fix 13.4 52.5"); err != nil {
		t.Error(err)
	}
	if got := <-received + "|" + <-received; got != "auth t0ken|geo fix 13.4 52.5" {
		t.Errorf("the emulator received %s", got)
	}
	wantFault(t, c.run(within(t), "fly"), fault.ToolFailed, "unknown command, try 'help'")
	other, _ := consoleOf("emulator-"+port, []string{"HOME=" + t.TempDir()})
	wantFault(t, other.run(within(t), "fly"), fault.ToolFailed, "no such file", "must run on this machine")
	_ = l.Close()
	wantFault(t, c.run(within(t), "fly"), fault.ToolFailed, "refused")
	<-done
}

func TestLock(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		says(t, s, "mobile_lock", nil, "locked the device")
		if !p.App.Asleep() || !p.App.Locked() {
			t.Error("the phone is awake")
		}
		says(t, s, "mobile_unlock", nil, "unlocked the device")
		says(t, s, "tap", map[string]any{"id": "settings"}, `tapped button "Settings"`)
		says(t, s, "mobile_lock", nil, "locked the device")
		t.Cleanup(func() {
			if p.App.Asleep() || p.App.Locked() {
				t.Error("after the session, the phone is locked")
			}
		})
	})
}
