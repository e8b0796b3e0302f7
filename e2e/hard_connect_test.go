//go:build unix

package e2e_test

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// hardToConnect are phones that are hard to reach or to prepare.
func hardToConnect() []hardPhone {
	android := func(name string, o simulated.AndroidOptions) hardPhone { return hardPhone{name: name, android: &o} }
	failing := func(h hardPhone, code int, why string) hardPhone {
		h.code, h.fails = code, map[string]string{}
		for _, trail := range trailsFor("android") {
			h.fails[trail] = why
		}
		return h
	}
	withSerial := android("a phone that was paired over its network twice", simulated.AndroidOptions{})
	withSerial.serial = "adb-R5CT123ABC-x7Yz9K (2)._adb-tls-connect._tcp"
	settingsRefused := android("settings and permissions are refused", simulated.AndroidOptions{RefuseSettings: true})
	settingsRefused.fails = map[string]string{"turn-the-phone": "does not let adb change its settings"}
	return []hardPhone{
		android("asleep and locked", simulated.AndroidOptions{Lock: simulated.LockSwipe}),
		failing(android("locked with a PIN", simulated.AndroidOptions{Lock: simulated.LockSecure}), 2, "is locked with a PIN"),
		settingsRefused,
		failing(android("input is refused to a phone without the server", simulated.AndroidOptions{RefuseInput: true, Level: 25}), 1,
			"does not let adb touch the screen"),
		failing(android("Play Protect refuses the server", simulated.AndroidOptions{Verifier: simulated.VerifierRefuses}), 2,
			"INSTALL_FAILED_VERIFICATION_FAILURE"),
		android("somebody allows the installation of the server", simulated.AndroidOptions{
			Verifier: simulated.VerifierAsks, AnswerAfter: 200 * time.Millisecond,
		}),
		android("the server ends at its first start", simulated.AndroidOptions{FailStarts: 1}),
		android("the server is listed later", simulated.AndroidOptions{ListLate: 2}),
		android("Doze", simulated.AndroidOptions{Lock: simulated.LockSwipe, Doze: true}),
		android("Android 7", simulated.AndroidOptions{Level: 24}),
		android("a second user", simulated.AndroidOptions{User: 10}),
		failing(android("a second user without the app", simulated.AndroidOptions{User: 10, AppOfOthers: true}), 1,
			"is installed on"),
		android("a phone that is folded", simulated.AndroidOptions{Foldable: true}),
		withSerial,
	}
}

// What a run that was killed has changed on a phone, doctor and the next run put back, and say so.
func TestPhoneThatAKilledRunLeft(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p := d.android()
	left := func() {
		t.Helper()
		err := p.Files().Write("/data/local/tmp/trailblaze-changes", []byte("window_animation_scale 1.0\n"), 0o600, time.Now())
		if err != nil || p.Shell(t.Context(), "settings put global window_animation_scale 0", strings.NewReader(""), io.Discard, io.Discard) != 0 {
			t.Fatal(err)
		}
	}
	left()
	d.run("doctor", "--platform", "android").want(t, 0, "what a run that was killed had changed on it was put back")
	d.putBack(p)
	r := d.run("doctor", "--platform", "android")
	r.want(t, 0, p.Addr())
	if strings.Contains(r.stdout, "killed") {
		t.Errorf("nothing was left: %s", r.stdout)
	}
	left()
	d.run("run", "--platform", "android").wantErr(t, 0, "settings of "+p.Addr()+" that an earlier session had changed were put back")
	d.putBack(p)
}

// The app of a project is a folder with its base and its splits.
func TestAppOfSplits(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p := d.android()
	p.Uninstall(app.ShopID)
	d.write("trailblaze.yaml", "target: corner-shop\ndevice: { android: { app: build/shop } }\n")
	for name, m := range map[string]simulated.Manifest{
		"base.apk":         {App: app.ShopID, Version: "3.0", NeedsSplits: true},
		"split_xxhdpi.apk": {App: app.ShopID, Split: "config.xxhdpi"},
	} {
		d.write("build/shop/"+name, string(simulated.BinaryAPK(m)))
	}
	d.run("run", "--platform", "android").want(t, 0, "1 passed")
	if !p.Installed(app.ShopID) {
		t.Error("the app is not installed")
	}
	if err := os.Remove(d.path("build/shop/split_xxhdpi.apk")); err != nil {
		t.Fatal(err)
	}
	d.run("run", "--platform", "android").wantOutput(t, 2, "INSTALL_FAILED_MISSING_SPLIT", "name a folder with all APKs of the app")
}
