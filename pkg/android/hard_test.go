package android

import (
	"archive/zip"
	"bytes"
	"context"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// seesSignIn fails unless a session sees the first screen of the app.
func seesSignIn(t *testing.T, dr mobile.Driver) {
	t.Helper()
	seen, err := dr.Read(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(seen.Tree.Nodes(), func(n *screen.Node) bool { return n.ID != nil && strings.HasSuffix(*n.ID, ":id/email") }) {
		t.Error("the app is not on the screen")
	}
}

func TestPhonesThatAreLocked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options phones.AndroidOptions
		texts   []string // of the error; empty for none
	}{
		"swipe":    {phones.AndroidOptions{Lock: phones.LockSwipe}, nil},
		"old":      {phones.AndroidOptions{Lock: phones.LockSwipe, Level: 24}, nil},
		"PIN":      {phones.AndroidOptions{Lock: phones.LockSecure}, []string{"is locked with a PIN", "unlock it", "Stay awake"}},
		"no input": {phones.AndroidOptions{Lock: phones.LockSwipe, RefuseInput: true}, []string{"shows its lock screen", "power button", "Security settings"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			c.options.Server = serverVersion
			p := d.phone(c.options)
			p.App.Show(app.SignIn)
			if len(c.texts) > 0 {
				wantFault(t, d.openFails(), fault.Device, append(c.texts, p.Addr())...)
				wantRestored(t, d, p)
				return
			}
			dr, closeAll := d.open()
			seesSignIn(t, dr)
			if p.App.Asleep() || p.App.Locked() {
				t.Error("the phone is asleep or locked")
			}
			closeAll()
			wantRestored(t, d, p)
		})
	}
}

// A phone that is switched off between two sessions of a run is on in the second one.
func TestPhoneFallsAsleepBetweenSessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	b := d.backend()
	for range 2 {
		p.App.Show(app.SignIn)
		dr, err := b.open(within(t), d.session())
		if err != nil {
			t.Fatal(err)
		}
		seesSignIn(t, dr)
		if err := dr.Close(within(t)); err != nil {
			t.Error(err)
		}
		p.App.SetAsleep(true)
		p.App.SetLocked(true)
	}
}

// A phone that locks itself during a session is the reason of what fails then.
func TestPhoneLocksItself(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion, Lock: phones.LockSwipe})
	s := d.backend().Open(d.session())
	defer func() { _ = s.Close(within(t)) }()
	p.App.Show(app.SignIn)
	if result := call(t, s, "tap", map[string]any{"id": "email"}); !result.OK {
		t.Fatal(result.Text)
	}
	for does, lock := range map[string]func(){
		"the device has its screen off":    func() { p.App.SetLocked(false); p.App.SetAsleep(true) },
		"the device shows its lock screen": func() { p.App.SetLocked(true); p.App.SetAsleep(false) },
	} {
		lock()
		result := call(t, s, "tap", map[string]any{"text": "Nowhere", "timeoutMs": 0})
		if result.OK || !strings.Contains(result.Text, does) || !strings.Contains(result.Hint, "unlock the device") {
			t.Errorf("%s | %s", result.Text, result.Hint)
		}
		evidence := s.Evidence(within(t))
		if len(evidence) == 0 || !strings.Contains(strings.ToLower(string(evidence[0].Data)), does) {
			t.Errorf("evidence: %s", evidence[0].Data)
		}
	}
}

// A phone that is disconnected and connected again between two sessions of a run is connected to again.
func TestPhoneIsConnectedAgainBetweenSessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	b := d.backend()
	dr, err := b.open(within(t), d.session())
	if err != nil {
		t.Fatal(err)
	}
	if err := dr.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.adb.Run(within(t), "disconnect", p.Addr()); err != nil {
		t.Fatal(err)
	}
	_, err = b.open(within(t), d.session())
	wantFault(t, err, fault.Misuse, p.Addr()+" was not found", "`adb connect "+p.Addr()+"`")
	if err := d.adb.Connect(within(t), p.Addr()); err != nil {
		t.Fatal(err)
	}
	if dr, err = b.open(within(t), d.session()); err != nil {
		t.Fatal(err)
	}
	if _, err := dr.Read(within(t)); err != nil {
		t.Error(err)
	}
	if err := dr.Close(within(t)); err != nil {
		t.Error(err)
	}
}

// What a run that was killed has left, the check of doctor puts back, unless a session uses the phone.
func TestCheckPutsBackWhatAKilledRunLeft(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	const detail = "what a run that was killed had changed on it was put back"
	check := func() string {
		t.Helper()
		said, err := d.backend().Check(within(t))
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	if said := check(); strings.Contains(said, detail) {
		t.Errorf("nothing was left: %s", said)
	}
	killed := d.backend()
	if _, err := killed.open(within(t), d.session()); err != nil {
		t.Fatal(err)
	}
	if said := check(); strings.Contains(said, detail) || p.Setting("global", "window_animation_scale") != "0" || !p.ServerRunning() {
		t.Errorf("a session uses the phone: %s", said)
	}
	killed.phone.server.kill()
	_ = killed.phone.lock.Close() // as the kernel does
	killed.phone = nil
	if err := p.Files().Write(appTemp, nil, 0o600, time.Now()); err != nil {
		t.Fatal(err)
	}
	if said := check(); !strings.Contains(said, detail) {
		t.Errorf("Check: %s", said)
	}
	wantRestored(t, d, p)
	if changed := p.Changed(); len(changed) > 0 {
		t.Errorf("not put back: %q", changed)
	}
}

func TestLockStates(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]lockState{
		"": {},
		"  mWakefulness=Awake\n  mWakefulnessChanging=false\n": {},
		"  getWakefulnessLocked()=Dozing\n":                    {asleep: true},
		"  mWakefulness=Asleep\n  mWakefulnessRaw=Awake\n":     {asleep: true},
		"    showing=true\n    inputRestricted=true\n    occluded=false\n    secure=true\n    KeyguardStateMonitor\n      mIsShowing=true\n": {locked: true, secure: true},
		"    showing=true\n    inputRestricted=true\n    occluded=true\n    secure=false\n":                                                  {},
		"    showing=false\n    inputRestricted=false\n    secure=true\n":                                                                    {secure: true},
		"  mShowingLockscreen=true mShowingDream=false":                                                                                      {locked: true},
	} {
		if got := parseLock(out); got != want {
			t.Errorf("%q: %+v, want %+v", out, got, want)
		}
	}
}

// A phone that does not let adb change its settings is used with its own.
func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]bool{"UiAutomator2": true, "dump": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if !server {
				d.values["uiautomator2"] = ""
			}
			p := d.phone(phones.AndroidOptions{Server: serverVersion, RefuseSettings: true, RefuseClear: true})
			p.App.Show(app.SignIn)
			dr, closeAll := d.open()
			seesSignIn(t, dr)
			if !d.logged("warn: "+p.Addr()+" does not let adb change settings") || !d.logged("USB debugging (Security settings)") {
				t.Errorf("logs: %v", d.logs)
			}
			err := dr.Grant(within(t), app.ShopID, []string{"android.permission.CAMERA"})
			wantFault(t, err, fault.ToolFailed, "android.permission.CAMERA", "Security settings")
			err = dr.Launch(within(t), mobile.Launch{App: app.ShopID, Clear: true})
			wantFault(t, err, fault.ToolFailed, "clearing the data of com.example.shop", "Security settings", "launchMode: FORCE_RESTART")
			closeAll()
			wantRestored(t, d, p)
		})
	}
}

// What an earlier session has changed, and the phone does not let adb put back any more, keeps no session from starting.
func TestEarlierChangesThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, warned := range map[string]bool{"window_animation_scale 0.5\n": true, "not a setting\n": false} {
		d := newDesk(t)
		p := d.phone(phones.AndroidOptions{Server: serverVersion, RefuseSettings: true})
		if err := p.Files().Write(changesFile, []byte(text), 0o600, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := p.Files().Write(appTemp, nil, 0o600, time.Now()); err != nil {
			t.Fatal(err)
		}
		p.App.Show(app.SignIn)
		dr, closeAll := d.open()
		seesSignIn(t, dr)
		if left := slices.Contains(p.Changed(), appTemp); left == warned {
			t.Errorf("%q: the APK that the session had copied is left: %t", text, left)
		}
		if got := d.logged("that an earlier session had changed cannot be put back"); got != warned || d.logged("were put back") {
			t.Errorf("logs: %v", d.logs)
		}
		if !warned {
			closeAll()
			wantRestored(t, d, p)
		}
	}
}

func TestInputThatIsRefused(t *testing.T) {
	t.Parallel()
	d := newDeskWithoutServer(t)
	p := d.phone(phones.AndroidOptions{RefuseInput: true})
	p.App.Show(app.SignIn)
	dr, closeAll := d.open()
	defer closeAll()
	wantFault(t, touch(within(t), dr), fault.ToolFailed, "does not let adb touch the screen or type", "Security settings")
}

func TestServerOfASlowPhone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options phones.AndroidOptions
		logged  string
	}{
		"ends at its first start":        {phones.AndroidOptions{FailStarts: 1}, "exited while it was being started: Process crashed.; it is started again"},
		"is listed later":                {phones.AndroidOptions{ListLate: 3}, "installing the UiAutomator2 server"},
		"is installed, and listed later": {phones.AndroidOptions{Server: serverVersion, ListLate: 3}, "it is started again"},
		"in Doze":                        {phones.AndroidOptions{Lock: phones.LockSwipe, Doze: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.phone(c.options)
			p.App.Show(app.SignIn)
			dr, closeAll := d.open()
			seesSignIn(t, dr)
			if !d.logged(c.logged) {
				t.Errorf("logs: %v", d.logs)
			}
			closeAll()
			wantRestored(t, d, p)
			if changed := p.Changed(); len(changed) > 0 {
				t.Errorf("not put back: %q", changed)
			}
		})
	}
}

// The lock that keeps the screen on is short, and renewed while a session lasts.
func TestScreenStaysOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	b := d.backend()
	b.limits.wakeLock = 20 * time.Millisecond
	renewed := make(chan struct{}, 100)
	p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/appium/settings") {
			select {
			case renewed <- struct{}{}:
			default:
			}
		}
		return false
	})
	if _, err := b.open(within(t), d.session()); err != nil {
		t.Fatal(err)
	}
	for range 4 { // the first one begins the session
		select {
		case <-renewed:
		case <-within(t).Done():
			t.Fatal("the lock is not renewed")
		}
	}
	var settings map[string]any
	if err := b.phone.server.session.Get(within(t), "/appium/settings", &settings); err != nil || settings["wakeLockTimeout"] != 20.0 {
		t.Errorf("settings: %v, %v", settings, err)
	}
	if slices.ContainsFunc(p.Commands(), func(c string) bool { return strings.Contains(c, "--no-window-animation") }) {
		t.Error("`am instrument` changes the settings of animations, too")
	}
}

// Without the server nothing else keeps the screen on.
func TestScreenStaysOnWithoutTheServer(t *testing.T) {
	t.Parallel()
	d := newDeskWithoutServer(t)
	p := d.phone(phones.AndroidOptions{})
	_, closeAll := d.open()
	if got := p.Setting("global", "stay_on_while_plugged_in"); got != "7" {
		t.Errorf("stay_on_while_plugged_in is %s", got)
	}
	closeAll()
	wantRestored(t, d, p)
	if changed := p.Changed(); len(changed) > 0 {
		t.Errorf("not put back: %q", changed)
	}
}

func TestPhoneThatIsTooOldForTheServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Level: 25})
	p.App.Show(app.SignIn)
	dr, closeAll := d.open()
	seesSignIn(t, dr)
	if !d.logged("because Appium's UiAutomator2 server needs Android 8") {
		t.Errorf("logs: %v", d.logs)
	}
	_, err := dr.Clipboard(within(t))
	wantFault(t, err, fault.ToolFailed, "UiAutomator2 server, which needs Android 8")
	closeAll()
	wantRestored(t, d, p)
	if detail, err := d.backend().Check(within(t)); err != nil || !strings.Contains(detail, "UiAutomator2 server needs Android 8") {
		t.Errorf("Check: %q, %v", detail, err)
	}
}

func TestInstallationsThatAreGuarded(t *testing.T) {
	t.Parallel()
	for verifier, texts := range map[phones.Verifier][]string{
		phones.VerifierRefuses: {"INSTALL_FAILED_VERIFICATION_FAILURE", "Play Protect", "look at the phone"},
		phones.VerifierAsks:    {"did not end within 300ms", "look at the phone"},
	} {
		t.Run(string(verifier), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.phone(phones.AndroidOptions{Verifier: verifier})
			b := d.backend()
			b.limits.install, b.limits.dialog = 300*time.Millisecond, 10*time.Millisecond
			_, err := b.open(within(t), d.session())
			wantFault(t, err, fault.Device, append(texts, p.Addr(), "appium-uiautomator2-server-v10.6.6.apk")...)
			if verifier == phones.VerifierAsks && !d.logged("still installs") {
				t.Errorf("logs: %v", d.logs)
			}
			wantRestored(t, d, p)
		})
	}
}

// splitApp returns the APKs of an app with splits, by their names.
func splitApp() map[string][]byte {
	return map[string][]byte{
		"base-master.apk":    phones.BinaryAPK(phones.Manifest{App: app.ShopID, Version: "3.0", NeedsSplits: true}),
		"base-arm64_v8a.apk": phones.BinaryAPK(phones.Manifest{App: app.ShopID, Split: "config.arm64_v8a"}),
		"base-de.apk":        phones.BinaryAPK(phones.Manifest{App: app.ShopID, Split: "config.de", UTF8: true}),
	}
}

// archive returns a zip of files.
func archive(files map[string][]byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, _ := w.Create(name) // writing to memory does not fail
		_, _ = f.Write(data)
	}
	_ = w.Close()
	return b.Bytes()
}

// An app with splits is installed from a folder, and from the archives that people have.
func TestAppWithSplits(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(d *desk){
		"a folder": func(d *desk) {
			d.values["app"] = filepath.Join(t.TempDir(), "[app]")
			d.apks = d.values["app"]
			if err := os.Mkdir(d.apks, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, data := range splitApp() {
				d.write(name, data)
			}
			d.write("toc.pb", []byte("not an APK"))
		},
		"shop.apks": func(d *desk) {
			files := map[string][]byte{"standalones/standalone-hdpi.apk": binaryAPK(app.ShopID, "3.0"), "toc.pb": nil}
			for name, data := range splitApp() {
				files["splits/"+name] = data
			}
			d.write("shop.apks", archive(files))
		},
		"universal.apks": func(d *desk) {
			d.write("universal.apks", archive(map[string][]byte{"universal.apk": binaryAPK(app.ShopID, "3.0"), "toc.pb": nil}))
		},
		"shop.xapk": func(d *desk) {
			files := splitApp()
			files["manifest.json"] = []byte("{}")
			d.write("shop.xapk", archive(files))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.values["app"] = d.apks + "/" + name
			write(d)
			p := d.phone(phones.AndroidOptions{Server: serverVersion})
			for i, again := range []bool{true, false} {
				before := len(p.Commands())
				dr, closeAll := d.open()
				if err := dr.Launch(within(t), mobile.Launch{App: app.ShopID}); err != nil {
					t.Fatal(err)
				}
				known, err := installedApp(within(t), dr.Device, dr.user, app.ShopID)
				if err != nil || known.Version != "3.0" {
					t.Errorf("installed: %+v, %v", known, err)
				}
				closeAll()
				installs := slices.ContainsFunc(p.Commands()[before:], func(c string) bool { return strings.HasPrefix(c, "pm install") })
				if installs != again {
					t.Errorf("run %d installs: %v", i, installs)
				}
			}
			for _, f := range p.Files().List("/data/local/tmp") {
				if strings.HasSuffix(f.Path, ".apk") {
					t.Errorf("%s is left", f.Path)
				}
			}
		})
	}
}

func TestAppsThatCannotBeInstalled(t *testing.T) {
	t.Parallel()
	other := phones.BinaryAPK(phones.Manifest{App: "com.example.other", Split: "config.de"})
	for name, c := range map[string]struct {
		files map[string][]byte
		texts []string
	}{
		"nothing":      {map[string][]byte{"readme.txt": nil}, []string{"is not an APK", "bundletool"}},
		"two variants": {map[string][]byte{"base-master.apk": binaryAPK(app.ShopID, "1"), "base-master_2.apk": binaryAPK(app.ShopID, "1")}, []string{"has 2 APKs that are not splits", "--connected-device"}},
		"two apps":     {map[string][]byte{"base.apk": binaryAPK(app.ShopID, "1"), "other.apk": other}, []string{"com.example.other", app.ShopID, "one app"}},
		"no base":      {map[string][]byte{"other.apk": other}, []string{"has 0 APKs that are not splits"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write("app.apks", archive(c.files))
			_, err := readAPK(d.apks + "/app.apks")
			wantFault(t, err, fault.Misuse, c.texts...)
		})
	}
}

func TestAppThatLacksItsSplits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	d.write("base.apk", splitApp()["base-master.apk"])
	d.values["app"] = d.apks + "/base.apk"
	dr, closeAll := d.open()
	defer closeAll()
	wantFault(t, dr.Launch(within(t), mobile.Launch{App: app.ShopID}), fault.Device, "INSTALL_FAILED_MISSING_SPLIT", ".apks", p.Addr())
}

// What a session installs above the app of the run is replaced by that in the next session.
func TestAppThatASessionReplaces(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.phone(phones.AndroidOptions{Server: serverVersion})
	d.write("shop.apk", binaryAPK(app.ShopID, "3.0"))
	d.write("other.apk", binaryAPK(app.ShopID, "3.0-other"))
	d.values["app"] = d.apks + "/shop.apk"
	b := d.backend()
	for _, install := range []string{"other.apk", ""} {
		opened, err := b.open(within(t), d.session())
		if err != nil {
			t.Fatal(err)
		}
		dr := opened.(*driver)
		want := "3.0"
		if install != "" {
			want = "3.0-other"
			if err := dr.Install(within(t), filepath.Join(d.apks, install)); err != nil {
				t.Error(err)
			}
		}
		if err := dr.Launch(within(t), mobile.Launch{App: app.ShopID}); err != nil {
			t.Error(err)
		}
		known, err := installedApp(within(t), dr.Device, "0", app.ShopID)
		if err != nil || known.Version != want {
			t.Errorf("the phone has %s, want %s, %v", known.Version, want, err)
		}
		if err := dr.Close(within(t)); err != nil {
			t.Error(err)
		}
	}
}

// An APK that could not be copied as a whole does not stay on the phone.
func TestCopyThatEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	dr, closeAll := d.open()
	defer closeAll()
	ctx, cancel := context.WithCancel(within(t))
	i := installer{dr.Device, dr.limits, d.log}
	half := io.MultiReader(strings.NewReader("PK"), readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, ctx.Err()
	}))
	file := apkFile{name: "app.apk", open: func() (io.ReadCloser, error) { return io.NopCloser(half), nil }}
	if err := p.Files().Write(appTemp, []byte("PK"), 0o600, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := i.copied(ctx, file, appTemp, func() error { return nil }); err == nil {
		t.Error("no error")
	}
	if _, err := p.Files().Stat(appTemp); err == nil {
		t.Errorf("%s is left on the phone", appTemp)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Commands act on the app of the user who uses the phone.
func TestSecondUser(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion, User: 10})
	dr, closeAll := d.open()
	p.App.Show(app.Orders)
	err := dr.SetOrientation(within(t), mobile.Landscape)
	if p.App.EndTurning(); err != nil || !p.App.Landscape() {
		t.Errorf("landscape %v, %v", p.App.Landscape(), err)
	}
	if size, err := dr.SetFontSize(within(t), mobile.LargeFont); err != nil || size != mobile.LargeFont || p.Setting("system", "font_scale") != "1.15" {
		t.Errorf("the font is %s, %s, %v", size, p.Setting("system", "font_scale"), err)
	}
	camera := "android.permission.CAMERA"
	err = dr.Launch(within(t), mobile.Launch{App: app.ShopID, Clear: true, Permissions: map[string]string{camera: "allow"}})
	if err != nil || p.App.SignedIn() || !p.App.Permissions(app.ShopID)[camera] {
		t.Errorf("signed in %v, permissions %v, %v", p.App.SignedIn(), p.App.Permissions(app.ShopID), err)
	}
	closeAll()
	wantRestored(t, d, p)
	if changed := p.Changed(); len(changed) > 0 {
		t.Errorf("not put back: %q", changed)
	}
}

func TestAppOfAnotherUser(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion, User: 10, AppOfOthers: true})
	dr, closeAll := d.open()
	err := dr.Launch(within(t), mobile.Launch{App: app.ShopID})
	wantFault(t, err, fault.ToolFailed, "com.example.shop is installed on "+p.Addr()+" for user 0, and not for user 10", "work profile")
	if apps, err := dr.Apps(within(t), false); err != nil || slices.Contains(apps, app.ShopID) {
		t.Errorf("Apps: %v, %v", apps, err)
	}
	closeAll()
	d.write("shop.apk", binaryAPK(app.ShopID, "3.0"))
	d.values["app"] = d.apks + "/shop.apk"
	dr, closeAll = d.open()
	defer closeAll()
	if err := dr.Launch(within(t), mobile.Launch{App: app.ShopID}); err != nil {
		t.Error(err)
	}
}

// A phone that was folded has the screen that it shows now, in reads and in pictures.
func TestPhoneThatIsFolded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion, Foldable: true})
	dr, closeAll := d.open()
	defer closeAll()
	if got := dr.Info(); got.Width != 1840 || !got.Tablet {
		t.Errorf("unfolded: %+v", got)
	}
	if err := dr.Launch(within(t), mobile.Launch{App: app.ShopID}); err != nil {
		t.Fatal(err)
	}
	seen, err := dr.Read(within(t))
	if err != nil || seen.Tree.Width != 1080 || seen.Tree.Height != 2400 {
		t.Fatalf("the screen is %dx%d, %v", seen.Tree.Width, seen.Tree.Height, err)
	}
	data, err := dr.Screenshot(within(t))
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil || picture.Bounds().Dx() != 1080 {
		t.Fatalf("the picture: %v", err)
	}
	if r, _, _, _ := picture.At(5, 5).RGBA(); r == 0 {
		t.Error("the picture is black")
	}
	p.SetIntercept(func(w http.ResponseWriter, r *http.Request) bool { // as for a screen that forbids pictures
		if !strings.HasSuffix(r.URL.Path, "/screenshot") {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"value": {"error": "unable to capture screen", "message": "null"}}`))
		return true
	})
	if data, err := dr.Screenshot(within(t)); err != nil || len(data) == 0 {
		t.Errorf("the picture of screencap: %v", err)
	}
}

func TestPhoneThatIsFoldedWithoutTheServer(t *testing.T) {
	t.Parallel()
	d := newDeskWithoutServer(t)
	d.phone(phones.AndroidOptions{Foldable: true})
	dr, closeAll := d.open()
	defer closeAll()
	if err := dr.Launch(within(t), mobile.Launch{App: app.ShopID}); err != nil {
		t.Fatal(err)
	}
	if seen, err := dr.Read(within(t)); err != nil || seen.Tree.Width != 1080 || seen.Tree.Height != 2400 {
		t.Errorf("the screen is %dx%d, %v", seen.Tree.Width, seen.Tree.Height, err)
	}
}

func TestPhonesOverANetwork(t *testing.T) {
	t.Parallel()
	for serial, want := range map[string]bool{
		"R5CT123ABC": false, "emulator-5554": false, "127.0.0.1:5555": false, "192.168.1.7:5555": true,
		"adb-R5CT123ABC-x7Yz9K._adb-tls-connect._tcp": true, "adb-R5CT123ABC-x7Yz9K (2)._adb-tls-connect._tcp": true,
	} {
		if got := overNetwork(serial); got != want {
			t.Errorf("%s: %v", serial, got)
		}
	}
}
