package android

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// keep writes a file, and returns its path.
func keep(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInstallAndUninstall(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		file := keep(t, "notes.apk", binaryAPK("com.example.notes", "1.0"))
		says(t, s, "mobile_installApp", map[string]any{"file": file}, "installed "+file)
		if !p.Installed("com.example.notes") {
			t.Error("the app is not installed")
		}
		notes := map[string]any{"appId": "com.example.notes"}
		says(t, s, "mobile_uninstallApp", notes, "removed com.example.notes")
		if p.Installed("com.example.notes") {
			t.Error("the app is still installed")
		}
		refuses(t, s, "mobile_uninstallApp", notes, "the app com.example.notes is not installed")
		settings := map[string]any{"appId": "com.android.settings"}
		refuses(t, s, "mobile_uninstallApp", settings, "removing com.android.settings", "an app of the system")
		if !p.Installed("com.android.settings") {
			t.Error("an app of the system was removed")
		}
		if r := call(t, s, "mobile_installApp", map[string]any{"file": "nowhere.apk"}); r.OK {
			t.Error("a file that does not exist was installed")
		}
	})
}

func TestAddMedia(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		file := keep(t, "it's.png", []byte("\x89PNG"))
		r := call(t, s, "mobile_addMedia", map[string]any{"files": []any{file}})
		if !r.OK || len(r.Notes) > 0 || !slices.Equal(p.App.Media(), []string{"/storage/emulated/0/Pictures/trailblaze/it's.png"}) {
			t.Errorf("%s, notes %q: the phone has %q", r.Text, r.Notes, p.App.Media())
		}
	})
}

// A second user has storage of its own, and removes an app for itself.
func TestTransferForASecondUser(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{User: 10}, func(t *testing.T, p *phones.Android, s device.Device, _ bool) {
		file := keep(t, "a.png", []byte("\x89PNG"))
		refuses(t, s, "mobile_addMedia", map[string]any{"files": []any{file}}, "to the storage of user 0, and user 10 uses the phone", "switch the phone")
		shop := map[string]any{"appId": app.ShopID}
		says(t, s, "mobile_uninstallApp", shop, "removed com.example.shop")
		if !p.Installed(app.ShopID) {
			t.Error("user 0 has lost the app, too")
		}
		refuses(t, s, "mobile_uninstallApp", shop, "is installed on "+p.Addr()+" for user 0, and not for user 10")
	})
}

func TestWhatAPhoneCannotReceive(t *testing.T) {
	t.Parallel()
	use(t, phones.AndroidOptions{}, func(t *testing.T, _ *phones.Android, s device.Device, _ bool) {
		refuses(t, s, "mobile_biometric", nil, "only to an emulator of this machine", "use an emulator")
		refuses(t, s, "mobile_pushNotification", map[string]any{"title": "Hello"}, "cannot send a push notification on this device: Simulated Phone", "android_sendBroadcast")
		refuses(t, s, "mobile_clearKeychain", nil, "cannot clear the keychain", "clearAppData")
	})
}

func TestRecording(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{})
	b := d.backend()
	session := d.session()
	var kept []device.Artifact
	session.Keep = func(a device.Artifact) (string, error) {
		kept = append(kept, a)
		return "/evidence/" + a.Name, nil
	}
	s := b.Open(session)
	refuses(t, s, "mobile_stopRecording", nil, "the screen is not being recorded", "mobile_startRecording")
	says(t, s, "mobile_startRecording", nil, "records the screen")
	const bounded = "screenrecord --bit-rate 2000000 " + recordedFile
	if !slices.Contains(p.Commands(), bounded) {
		t.Errorf("the phone was not asked for %s", bounded)
	}
	refuses(t, s, "mobile_startRecording", nil, "the screen is being recorded", "mobile_stopRecording")
	says(t, s, "mobile_stopRecording", nil, "/evidence/recording.mp4")
	if len(kept) != 1 || !strings.Contains(string(kept[0].Data), "ftyp") {
		t.Errorf("kept %+v", kept)
	}
	says(t, s, "mobile_startRecording", nil, "records the screen")
	names := []string{}
	for _, a := range s.Evidence(within(t)) {
		names = append(names, a.Name)
	}
	if !slices.Contains(names, "recording.mp4") {
		t.Errorf("the evidence is %q", names)
	}
	says(t, s, "mobile_startRecording", nil, "records the screen")
	if err := errors.Join(s.Close(within(t)), b.Close(within(t))); err != nil {
		t.Error(err)
	}
	if changed := p.Changed(); len(changed) > 0 {
		t.Errorf("not put back: %q", changed)
	}
}
