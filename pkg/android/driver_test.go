package android

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]bool{"UiAutomator2": true, "dump": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if !server {
				d.values["uiautomator2"] = ""
			}
			p := d.phone(phones.AndroidOptions{App: app.Options{NoPrompt: true}})
			b := d.backend()
			s := b.Open(d.session())
			for _, c := range []struct {
				command string
				args    map[string]any
			}{
				{"launchApp", map[string]any{"appId": app.ShopID}},
				{"tap", map[string]any{"id": "email"}},
				{"inputText", map[string]any{"text": app.Email}},
				{"tap", map[string]any{"id": "password"}},
				{"inputText", map[string]any{"text": app.Password}},
				{"tap", map[string]any{"text": "Sign in", "index": 0}},
				{"assertVisible", map[string]any{"id": "row"}},
			} {
				if result := call(t, s, c.command, c.args); !result.OK {
					t.Fatalf("%s %v: %s", c.command, c.args, result.Text)
				}
			}
			if !p.App.SignedIn() || p.App.WrongTouches() > 0 {
				t.Errorf("signed in %v, wrong touches %d", p.App.SignedIn(), p.App.WrongTouches())
			}
			if err := s.Close(within(t)); err != nil {
				t.Error(err)
			}
			if server != p.ServerRunning() {
				t.Error("the server must run until the end of the run, and only if it was found")
			}
			if err := b.Close(within(t)); err != nil {
				t.Error(err)
			}
			wantRestored(t, d, p)
			if server == d.logged("uiautomator dump") {
				t.Errorf("logs: %v", d.logs)
			}
		})
	}
}

func TestDriver(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	dr, closeAll := d.open()
	ctx := within(t)
	if diff := cmp.Diff(mobile.Info{ID: p.Addr(), Product: "Simulated Phone, Android 14", Width: 1080, Height: 2400}, dr.Info()); diff != "" {
		t.Error(diff)
	}
	if slices.ContainsFunc(p.Commands(), func(c string) bool { return strings.HasPrefix(c, "pm install") }) {
		t.Error("the installed server was installed again")
	}
	if got := p.Setting("global", "window_animation_scale"); got != "0" {
		t.Errorf("window_animation_scale is %s during a session", got)
	}
	p.App.Show(app.SignIn)
	if front, err := dr.Foreground(ctx); err != nil || front != app.ShopID {
		t.Errorf("Foreground: %q, %v", front, err)
	}
	tapID(t, dr, "email")
	if err := dr.SetText(ctx, app.Characters[:40]); err != nil {
		t.Fatal(err)
	}
	if text, _ := p.App.FocusedText(); text != app.Characters[:40] {
		t.Errorf("the field has %q", text)
	}
	if err := dr.SetText(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if err := dr.Type(ctx, "b c'd"); err != nil {
		t.Fatal(err)
	}
	if text, _ := p.App.FocusedText(); text != "ab c'd" {
		t.Errorf("the field has %q", text)
	}
	wantFault(t, dr.Type(ctx, "日本"), fault.ToolFailed, "ASCII")
	if seen, err := dr.Read(ctx); err != nil || seen.Keyboard == nil {
		t.Errorf("the keyboard is not seen: %v", err)
	}
	if err := dr.HideKeyboard(ctx); err != nil || p.App.KeyboardShown() {
		t.Errorf("HideKeyboard: %v", err)
	}
	if err := dr.HideKeyboard(ctx); err != nil || p.App.Screen() != app.SignIn {
		t.Errorf("HideKeyboard without a keyboard left the screen: %v", err)
	}
	if err := dr.Press(ctx, mobile.Tab); err != nil || !slices.Contains(p.App.Keys(), app.KeyTab) {
		t.Errorf("Press: %v, %v", err, p.App.Keys())
	}
	if err := dr.SetClipboard(ctx, "日本\n"); err != nil {
		t.Error(err)
	}
	if text := p.App.Clipboard(); text != "日本\n" {
		t.Errorf("the clipboard has %q", text)
	}
	data, err := dr.Screenshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if img, err := png.Decode(bytes.NewReader(data)); err != nil || img.Bounds().Dx() != 1080 {
		t.Errorf("Screenshot: %v", err)
	}
	if out, err := dr.Shell(ctx, []string{"echo", "it's", "$HOME"}); err != nil || out != "it's $HOME\n" {
		t.Errorf("Shell: %q, %v", out, err)
	}
	_, err = dr.Shell(ctx, []string{"cat", "/none"})
	wantFault(t, err, fault.ToolFailed, "cat /none", "exit status 1", "No such file")
	if apps, err := dr.Apps(ctx, false); err != nil || !slices.Contains(apps, app.ShopID) || slices.Contains(apps, "android") {
		t.Errorf("Apps: %v, %v", apps, err)
	}
	if err := dr.OpenURL(ctx, "shop://orders/1149?a=1&b='2'", ""); err != nil {
		t.Error(err)
	}
	wantFault(t, dr.OpenURL(ctx, "none://x", ""), fault.ToolFailed, "none://x", "unable to resolve")
	if err := dr.SetNetwork(ctx, false); err != nil || p.App.Connected() {
		t.Errorf("SetNetwork: %v", err)
	}
	closeAll()
	if !p.App.Connected() {
		t.Error("the network is still disconnected after the session")
	}
	wantRestored(t, d, p)
}

// tapID taps the element with an id.
func tapID(t *testing.T, d *driver, id string) {
	t.Helper()
	seen, err := d.Read(within(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range seen.Tree.Nodes() {
		if n.ID != nil && strings.HasSuffix(*n.ID, "/"+id) || n.ID != nil && *n.ID == id {
			if err := d.Touch(within(t), mobile.Finger{Path: []screen.Point{n.Bounds.Centre()}}); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no element %s", id)
}

// What is switched is off or on afterwards, and as it was after the session.
func TestNetworks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options phones.AndroidOptions
		before  string // what has changed on the phone before
		on      string // what is on when it is connected
	}{
		"old":                             {phones.AndroidOptions{Level: 29, NoShellV2: true}, "", "011"},
		"airplane mode":                   {phones.AndroidOptions{}, "", "011"},
		"in airplane mode":                {phones.AndroidOptions{}, "cmd connectivity airplane-mode enable", "011"},
		"Wi-Fi stays on in airplane mode": {phones.AndroidOptions{KeepsWiFi: true}, "", "011"},
		"no Wi-Fi":                        {phones.AndroidOptions{}, "svc wifi disable", "001"},
		"none":                            {phones.AndroidOptions{}, "svc wifi disable && svc data disable", "011"},
		"none on an old phone":            {phones.AndroidOptions{Level: 29}, "svc wifi disable && svc data disable", "011"},
	} {
		for _, order := range [][]bool{{false, true}, {true, false}} {
			t.Run(fmt.Sprintf("%s, %v", name, order), func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				o := tt.options
				o.Server = serverVersion
				p := d.phone(o)
				if tt.before != "" {
					p.Shell(within(t), tt.before, strings.NewReader(""), io.Discard, io.Discard)
				}
				connected, before := p.App.Connected(), networksOf(p)
				dr, closeAll := d.open()
				for _, wanted := range order {
					err := dr.SetNetwork(within(t), wanted)
					if on := networksOf(p); err != nil || p.App.Connected() != wanted || wanted && on != tt.on {
						t.Errorf("SetNetwork(%v): connected %v, %s, %v", wanted, p.App.Connected(), on, err)
					}
				}
				closeAll()
				if after := networksOf(p); p.App.Connected() != connected || after != before {
					t.Errorf("after the session: connected %v, %s; before: %v, %s", p.App.Connected(), after, connected, before)
				}
			})
		}
	}
}

// networksOf returns the settings of airplane mode, Wi-Fi and mobile data.
func networksOf(p *phones.Android) string {
	return p.Setting("global", "airplane_mode_on") + p.Setting("global", "wifi_on") + p.Setting("global", "mobile_data")
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	dr, closeAll := d.open()
	defer closeAll()
	ctx := within(t)
	p.App.Show(app.Orders)
	err := dr.Launch(ctx, mobile.Launch{App: app.ShopID, Stop: true, Clear: true, Permissions: map[string]string{
		"all": "allow", "android.permission.CAMERA": "deny", "android.permission.NONE": "allow",
	}, Arguments: map[string]any{"count": 3, "name": "a b", "on": true}})
	if err != nil {
		t.Fatal(err)
	}
	if p.App.SignedIn() {
		t.Error("the data was not removed")
	}
	granted := p.App.Permissions(app.ShopID)
	if !granted[app.Notifications] || granted["android.permission.CAMERA"] {
		t.Errorf("permissions: %v", granted)
	}
	launches := p.App.Launches()
	last := launches[len(launches)-1]
	if diff := cmp.Diff(app.Launch{App: app.ShopID, Cold: true, Arguments: []string{"--ei count 3", "--es name a b", "--ez on true"}}, last); diff != "" {
		t.Error(diff)
	}
	wantFault(t, dr.Launch(ctx, mobile.Launch{App: "com.example.shpo"}), fault.ToolFailed,
		"com.example.shpo is not installed", "com.example.shop", "device: {app: path.apk}")
	wantFault(t, dr.Clear(ctx, "com.none"), fault.ToolFailed, "com.none is not installed")
	if err := dr.Grant(ctx, app.ShopID, []string{"android.permission.CAMERA", "android.permission.READ_SMS"}); err != nil {
		t.Error(err)
	}
	if !p.App.Permissions(app.ShopID)["android.permission.CAMERA"] {
		t.Error("the permission was not granted")
	}
	if err := dr.Stop(ctx, app.ShopID); err != nil || p.App.Running(app.ShopID) {
		t.Errorf("Stop: %v", err)
	}
}

func TestGestures(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]string{"UiAutomator2": serverVersion, "dump": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if server == "" {
				d.values["uiautomator2"] = ""
			}
			p := d.phone(phones.AndroidOptions{Server: server})
			dr, closeAll := d.open()
			defer closeAll()
			ctx := within(t)
			p.App.Show(app.Orders)
			a, b := screen.Point{X: 540, Y: 1800}, screen.Point{X: 540, Y: 900}
			for _, f := range []mobile.Finger{
				{Path: []screen.Point{a, b}, Move: 10 * time.Millisecond},
				{Path: []screen.Point{b}, Hold: 600 * time.Millisecond},
			} {
				if err := dr.Touch(ctx, f); err != nil {
					t.Fatal(err)
				}
			}
			var kinds []string
			for _, touch := range p.App.Touches() {
				kinds = append(kinds, touch.Kind)
			}
			if diff := cmp.Diff([]string{"swipe", "long press"}, kinds); diff != "" {
				t.Error(diff)
			}
			err := dr.Touch(ctx, mobile.Finger{Path: []screen.Point{a, b}}, mobile.Finger{Path: []screen.Point{b, a}})
			if server == "" {
				wantFault(t, err, fault.ToolFailed, "several fingers", installServer)
				_, err = dr.Clipboard(ctx)
				wantFault(t, err, fault.ToolFailed, "clipboard", installServer)
				wantFault(t, dr.SetText(ctx, "日本"), fault.ToolFailed, "'日'", installServer)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// A list stops with a finger that is to rest before it is lifted.
func TestListStopsWithFinger(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server string
		most   int // that the list moves on
	}{"UiAutomator2": {serverVersion, 0}, "dump": {"", 18}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if tt.server == "" {
				d.values["uiautomator2"] = ""
			}
			p := d.phone(phones.AndroidOptions{Server: tt.server})
			dr, closeAll := d.open()
			defer closeAll()
			p.App.Show(app.Orders)
			rows := func() []*app.Element { return p.App.Look()[0].Root.Children[1].Children }
			before := rows()[0].Bounds
			finger := mobile.Finger{Path: []screen.Point{{X: 540, Y: 1800}, {X: 540, Y: 600}}, Move: 600 * time.Millisecond, Rest: 150 * time.Millisecond}
			trips := len(p.Requests()) + len(p.Commands())
			if err := dr.Touch(within(t), finger); err != nil {
				t.Fatal(err)
			}
			if trips = len(p.Requests()) + len(p.Commands()) - trips; trips != 1 {
				t.Errorf("%d round trips", trips)
			}
			p.App.Settle()
			// The rows that are far above are gone.
			moved := (before.Top - rows()[0].Bounds.Top) + (*rows()[0].Row)*before.Height()
			const slop = 24 // a list follows a finger only after that
			if moved < 1200-slop || moved > 1200-slop+tt.most {
				t.Errorf("the list moved by %d", moved)
			}
		})
	}
}

func TestAppIsInstalledWhenItDiffers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	d.write("shop.apk", binaryAPK(app.ShopID, "3.0"))
	d.values["app"] = d.apks + "/shop.apk"
	installs := func() (n int) {
		for _, c := range p.Commands() {
			if strings.HasPrefix(c, "pm install") {
				n++
			}
		}
		return n
	}
	for i, c := range []struct {
		prepare func()
		want    int
	}{
		{func() {}, 1}, // another build is installed
		{func() {}, 1},
		{func() { d.write("shop.apk", binaryAPK(app.ShopID, "3.1")) }, 2},
		{func() { p.Uninstall(app.ShopID) }, 3},
	} {
		c.prepare()
		dr, closeAll := d.open()
		for range 2 {
			if err := dr.Launch(within(t), mobile.Launch{App: app.ShopID}); err != nil {
				t.Fatal(err)
			}
		}
		if err := dr.Launch(within(t), mobile.Launch{App: app.BrowserID}); err != nil {
			t.Fatal(err)
		}
		wantFault(t, dr.Launch(within(t), mobile.Launch{App: "com.none"}), fault.ToolFailed, "is the APK of "+app.ShopID)
		closeAll()
		if installs() != c.want {
			t.Errorf("run %d: %d installations, want %d", i, installs(), c.want)
		}
	}
	d.write("shop.apk", []byte("no archive"))
	wantFault(t, d.openFails(), fault.Misuse, "shop.apk is not an APK")
}

func TestNothingBehindADialogIsTouched(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	s := d.backend().Open(d.session())
	defer func() { _ = s.Close(within(t)) }()
	p.App.Show(app.Orders)
	settings := map[string]any{"id": "settings", "timeoutMs": 0}
	if result := call(t, s, "assertVisible", settings); !result.OK {
		t.Fatal(result.Text)
	}
	if result := call(t, s, "tap", map[string]any{"text": "Delete order 1149"}); !result.OK {
		t.Fatal(result.Text)
	}
	touches := len(p.App.Touches())
	if result := call(t, s, "tap", settings); result.OK || len(p.App.Touches()) > touches {
		t.Errorf("%v %s", result.OK, result.Text)
	}
	if result := call(t, s, "tap", map[string]any{"text": "Cancel"}); !result.OK {
		t.Error(result.Text)
	}
	if result := call(t, s, "tap", settings); !result.OK || p.App.Screen() != app.Settings {
		t.Errorf("%v %s", result.OK, result.Text)
	}
}

// An app that shows nothing for 10 s has started all the same.
func TestSlowStartIsAStart(t *testing.T) {
	t.Parallel()
	p, s := opened(t, phones.AndroidOptions{Server: serverVersion, SlowStart: true})
	does(t, s, "launchApp", map[string]any{"appId": app.ShopID})
	does(t, s, "openUrl", map[string]any{"url": "shop://orders/1147"})
	if p.App.Foreground() != app.ShopID {
		t.Errorf("%s is in front", p.App.Foreground())
	}
}
