package ios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

func TestTransfersToASimulator(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	asSimulator(p)
	s := newSimctl(t, testUDID)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL()}, s.path()))
	folder := filepath.Join(t.TempDir(), "Shop.app")
	writeApp(t, folder, "3")
	picture := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(picture, []byte("\x89PNG"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.call("mobile_installApp", map[string]any{"file": folder})
	u.call("mobile_uninstallApp", map[string]any{"appId": app.ShopID})
	u.call("mobile_addMedia", map[string]any{"files": []any{picture}})
	u.call("mobile_pushNotification", map[string]any{"title": "Order 1149", "body": "is on its way"})
	u.call("mobile_clearKeychain", nil)
	u.call("mobile_biometric", map[string]any{"match": false})
	u.close()
	const sensors = "spawn U notifyutil -p com.apple.BiometricKit_Sim.fingerTouch.nomatch\nspawn U notifyutil -p com.apple.BiometricKit_Sim.pearl.nomatch\n"
	want := "list devices booted -j\ninstall U " + folder + "\nuninstall U com.example.shop\naddmedia U " + picture + "\npush U com.example.shop -\nkeychain U reset\n" +
		"spawn U notifyutil -g ENROLLED\nspawn U notifyutil -s ENROLLED 1\nspawn U notifyutil -p ENROLLED\n" + sensors +
		"spawn U notifyutil -s ENROLLED 0\nspawn U notifyutil -p ENROLLED\n"
	want = strings.NewReplacer(" U", " "+testUDID, "ENROLLED", enrollment).Replace(want)
	if diff := cmp.Diff(want, s.calls(t)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := s.read(t, "push"); got != `{"aps":{"alert":{"body":"is on its way","title":"Order 1149"}}}` {
		t.Errorf("pushed %s", got)
	}
}

func TestTransfersToAPhone(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	s := newSimctl(t)
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL(), "udid": "0000-1"}, s.path()))
	folder := filepath.Join(t.TempDir(), "Shop.app")
	writeApp(t, folder, "3")
	u.call("mobile_installApp", map[string]any{"file": folder})
	u.call("mobile_uninstallApp", map[string]any{"appId": app.ShopID})
	if got, want := s.calls(t), "device install app --device 0000-1 "+folder+"\ndevice uninstall app --device 0000-1 com.example.shop\n"; got != want {
		t.Errorf("calls: %s", got)
	}
	u.fails("mobile_addMedia", map[string]any{"files": []any{folder}}, "adding pictures is possible only on a simulator")
	u.fails("mobile_pushNotification", map[string]any{"body": "a"}, "only on a simulator", "Apple's push service")
	u.fails("mobile_clearKeychain", nil, "only on a simulator", "launch argument")
	u.fails("mobile_biometric", nil, "only on a simulator", "passcode")
	without := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": startPhone(t).URL()}, "PATH=/nowhere"))
	without.fails("mobile_installApp", map[string]any{"file": folder}, "needs Xcode on this machine", "`ios install` of go-ios")
}

// An app that could not be installed is not started as it was before.
func TestInstallIsTriedAgain(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	asSimulator(p)
	s := newSimctl(t, testUDID)
	file := filepath.Join(t.TempDir(), "Shop.app")
	writeApp(t, file, "2")
	s.write(t, "install-fails", "")
	u := newUser(t, newTestBackend(t, map[string]string{"wdaUrl": p.URL(), "app": file}, s.path()))
	for range 2 {
		u.fails("launchApp", map[string]any{"appId": app.ShopID, "launchMode": "RESUME"}, "simctl install")
	}
	if err := os.Remove(filepath.Join(s.folder, "install-fails")); err != nil {
		t.Fatal(err)
	}
	u.call("launchApp", map[string]any{"appId": app.ShopID, "launchMode": "RESUME"})
}
