package mobile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// A device that lacks a capability fails with its name, and with what to use instead.
func TestWhatADeviceCannotDoIsSaid(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "shop.apk"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args    m
		cannot  string
		instead string
	}{
		"mobile_setOrientation":    {m{"orientation": "LANDSCAPE"}, "turn the screen", "turn it by hand"},
		"mobile_lock":              {nil, "lock the screen", "lock it by hand"},
		"mobile_unlock":            {nil, "unlock the screen", "unlock it by hand"},
		"mobile_openNotifications": {nil, "open the notifications", "swipe from the top of the screen"},
		"mobile_setLocation":       {m{"latitude": 1, "longitude": 2}, "set the location", "iOS 16.4"},
		"mobile_setAppearance":     {m{"style": "dark"}, "change the appearance", "settings of the device"},
		"mobile_biometric":         {nil, "send a fingerprint or a face", "emulators and simulators"},
		"mobile_installApp":        {m{"file": "shop.apk"}, "install an app", "device: {app: FILE}"},
		"mobile_uninstallApp":      {nil, "remove an app", "clearAppData"},
		"mobile_addMedia":          {m{"files": []any{"shop.apk"}}, "add pictures", "before the run"},
		"mobile_pushNotification":  {m{"title": "Hello"}, "send a push notification", "android_sendBroadcast"},
		"mobile_clearKeychain":     {nil, "clear the keychain", "clearAppData"},
		"mobile_startRecording":    {nil, "record the screen", "captureScreen"},
	} {
		for _, platform := range []Platform{Android, IOS} {
			onPhone(t, &fake{platform: platform}, device.Session{Root: root}, func(p *phoneTest) {
				r := p.fails(name, c.args, "trailblaze cannot "+c.cannot+" on this device: Pixel 7, Android 14")
				if r.Kind != fault.ToolFailed || !strings.Contains(r.Hint, c.instead) {
					p.Errorf("%s: %s, %q is not in %q", name, r.Kind, c.instead, r.Hint)
				}
				if len(p.fake.log) > 0 {
					p.Errorf("%s: the driver did %q", name, p.fake.log)
				}
			})
		}
	}
}

func TestArgumentsForTheDevice(t *testing.T) {
	t.Parallel()
	onPhone(t, &fake{}, device.Session{Root: t.TempDir()}, func(p *phoneTest) {
		for name, args := range map[string]m{
			"mobile_installApp": {"file": "nowhere.apk"}, "mobile_addMedia": {"files": []any{"nowhere.png"}},
		} {
			if r := p.call(name, args); r.OK || r.Kind != fault.InvalidArguments || !strings.Contains(r.Text+r.Hint, "nowhere") {
				p.Errorf("%s: %v %s %s", name, r.OK, r.Kind, r.Text)
			}
		}
		p.fails("mobile_addMedia", m{"files": []any{"a/x.png", "b/x.png"}}, "two files are called x.png")
		p.fails("mobile_stopRecording", nil, "the screen is not being recorded")
	})
	for _, c := range advertisedTools(Android) {
		for name, args := range map[string]m{"mobile_setAppearance": {}, "mobile_pushNotification": {"title": "a", "payload": m{}}} {
			if c.Name == name && fault.KindOf(c.Check(args)) != fault.InvalidArguments {
				t.Errorf("%s accepts %v", name, args)
			}
		}
	}
}

// The first value of a name is the one that is put back, in reverse, and what fails is put back later.
func TestOriginals(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	open := func() *Originals {
		o, err := NewOriginals(folder, "phone")
		if err == nil {
			err = os.MkdirAll(filepath.Join(folder, "phones"), 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := open()
	for _, v := range []Original{{"a", "1"}, {"b", "2"}, {"a", "3"}} {
		if err := o.Keep(v.Name, v.Value); err != nil {
			t.Fatal(err)
		}
	}
	var done []string
	next := open() // after the process was killed
	err := next.PutBack(t.Context(), func(_ context.Context, v Original) error {
		if v.Name == "a" {
			return os.ErrDeadlineExceeded
		}
		done = append(done, v.Name+"="+v.Value)
		return nil
	})
	if err == nil {
		t.Error("no error")
	}
	err = open().PutBack(t.Context(), func(_ context.Context, v Original) error {
		done = append(done, v.Name+"="+v.Value)
		return nil
	})
	if got := strings.Join(done, " "); err != nil || got != "b=2 a=1" {
		t.Errorf("put back %s, %v", got, err)
	}
	if files, _ := os.ReadDir(filepath.Join(folder, "phones")); len(files) != 0 {
		t.Errorf("left %v", files)
	}
}
