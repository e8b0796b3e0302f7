//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbd"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// phoneTrailOf returns a trail with one step for Android and iOS.
func phoneTrailOf(calls ...string) string {
	list := ""
	for _, call := range calls {
		list += "        - " + call + "\n"
	}
	return "config: { title: Fault }\ntrail:\n  - step: Do it\n    recording:\n      android:\n" + list + "      ios:\n" + list
}

const (
	open    = "launchApp: { appId: com.example.shop, launchMode: FORCE_RESTART }"
	offline = "networkConnection: { connected: false }"
	// limited is the end of a call with a limit.
	limited = "\n          timeout: 3s"
)

// Each fault of a phone ends the trail with one message that names it and says what to do. The phone is put back.
func TestFaultsOfPhones(t *testing.T) {
	t.Parallel()
	const tapEmail = "tapOnElementBySelector: { nodeSelector: { androidAccessibility: { hintTextRegex: Email } } }"
	for name, tc := range map[string]struct {
		options simulated.AndroidOptions
		before  func(d *phoneDesk, p *simulated.Android)
		calls   []string
		code    int
		want    []string
		touches int  // that the phone received
		away    bool // the phone is not there afterwards
		grace   time.Duration
	}{
		"offline": {
			before: func(_ *phoneDesk, p *simulated.Android) {
				p.App.OnRead(func(read int) {
					if read == 3 {
						go p.Adbd().Disconnect()
					}
				})
			},
			calls: []string{open, tapEmail, "assertVisible: { text: Nowhere }"}, code: 2, touches: 1, away: true,
			want: []string{"the connection to 127.0.0.1:", "offline", "reconnect"},
		},
		"unauthorized": {
			options: simulated.AndroidOptions{Adbd: adbd.Options{Unauthorized: true}},
			calls:   []string{open}, code: 2, away: true,
			want: []string{"the Android device 127.0.0.1:", "has not authorized this computer", "accept"},
		},
		"two phones": {
			before: func(d *phoneDesk, _ *simulated.Android) { d.android() },
			calls:  []string{open}, code: 3, want: []string{"2 Android devices are connected", "--serial"},
		},
		"the server ends at a touch": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.CrashOnTouch() },
			calls:  []string{open, offline, tapEmail}, code: 1, touches: 1,
			want: []string{`textbox "Email"`, "may have happened", "UiAutomator2 server", "exited", "not repeated"},
		},
		"the server hangs after a touch": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.App.OnRead(func(int) { p.HangAfterNext() }) },
			calls:  []string{open, offline, tapEmail + limited}, code: 1, touches: 1,
			want: []string{`textbox "Email"`, "may have happened", "did not respond within the limit of the call", "not repeated"},
		},
		"the answer to a touch is lost": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.App.OnRead(func(int) { p.LoseNextAnswer() }) },
			calls:  []string{open, offline, tapEmail}, code: 1, touches: 1,
			want: []string{`textbox "Email"`, "may have happened", "closed the connection", "not repeated"},
		},
		"the answer to a touch of a point is lost": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.App.OnRead(func(int) { p.LoseNextAnswer() }) },
			calls:  []string{open, "assertVisible: { text: Email }", "tapOnPoint: { x: 540, y: 620 }"}, code: 1, touches: 1,
			want: []string{"tapOnPoint", "may have happened", "not repeated"},
		},
		"another app uses the port of the server": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.TakePort() },
			calls:  []string{open}, code: 2, grace: 300 * time.Millisecond,
			want: []string{"port 6790 of 127.0.0.1:", "is used by another app", "end the app that uses it"},
		},
		"another program reads the screen": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.HoldUIAutomation("dev.mobile.maestro") },
			calls:  []string{open}, code: 2, want: []string{"UiAutomation of 127.0.0.1:", "dev.mobile.maestro (Maestro)", "end it"},
		},
		"an old version of the server": {
			before: func(d *phoneDesk, _ *simulated.Android) { d.useServer("9.11.1") },
			calls:  []string{open, tapEmail}, code: 0, touches: 1,
			want: []string{"the UiAutomator2 server 9.11.1", "is older than 10.5", "npm i -D appium-uiautomator2-server@latest"},
		},
		"an old version of the server that lacks a setting": {
			before: func(d *phoneDesk, p *simulated.Android) {
				d.useServer("9.11.1")
				p.SetIntercept(refuseSettings)
			},
			calls: []string{open}, code: 2,
			want: []string{"the settings of the UiAutomator2 server on 127.0.0.1:", "Unsupported setting", "npm i -D appium-uiautomator2-server@latest"},
		},
		"an app that is not installed": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.Uninstall(app.ShopID) },
			calls:  []string{open}, code: 1, want: []string{"com.example.shop is not installed", "device: {app: path.apk}"},
		},
		"a permission dialog over the app": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.App.Show(app.Orders); p.App.Prompt() },
			calls:  []string{"tap: { text: Order 1149, timeoutMs: 300 }"}, code: 1,
			want: []string{"com.android.permissioncontroller is in front", "tap a button of what is in front"},
		},
		"an animation that never ends": {
			before: func(_ *phoneDesk, p *simulated.Android) { p.App.Show(app.Animation) },
			calls:  []string{"tap: { text: Continue, timeoutMs: 300 }"}, code: 1, want: []string{`"Continue"`, "it moves", "tapOnPoint"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newPhoneDesk(t)
			p, err := simulated.StartAndroid(context.WithoutCancel(t.Context()), tc.options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			_ = d.adb.Connect(t.Context(), p.Addr()) // one that is unauthorized is refused
			d.write("trails/see-an-order.trail.yaml", phoneTrailOf(tc.calls...))
			d.exitGrace = tc.grace
			if tc.before != nil {
				tc.before(d, p)
			}
			d.run("run", "--platform", "android").wantOutput(t, tc.code, tc.want...)
			if touches := p.App.Touches(); len(touches) != tc.touches {
				t.Errorf("%d touches, want %d", len(touches), tc.touches)
			}
			if !tc.away {
				d.putBack(p)
			}
			spawntest.NoSurvivors(t, d.marker)
		})
	}
}

// refuseSettings answers as a server that does not know a setting.
func refuseSettings(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasSuffix(r.URL.Path, "/settings") {
		return false
	}
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write([]byte(`{"value": {"error": "invalid argument", "message": "Unsupported setting"}}`))
	return true
}

// What a phone that was disconnected could not put back, the next session puts back.
func TestPhoneIsPutBackAfterItWasConnectedAgain(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p := d.android()
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf(open, "assertVisible: { text: Email }", "assertVisible: { text: Nowhere }"))
	p.App.OnRead(func(read int) {
		if read == 3 {
			_ = d.adb.Disconnect(context.WithoutCancel(t.Context()), p.Addr())
		}
	})
	r := d.run("run", "--platform", "android")
	r.want(t, 2, "the connection to "+p.Addr()+" was lost: it is not connected any more", "connect it again")
	r.wantErr(t, 2, "putting back what was changed on "+p.Addr()+": the connection to", "the next session on this phone does it")
	if len(p.Changed()) == 0 {
		t.Fatal("nothing is to be put back")
	}
	p.App.OnRead(nil)
	if err := d.adb.Connect(t.Context(), p.Addr()); err != nil {
		t.Fatal(err)
	}
	d.run("snapshot", "--platform", "android").want(t, 0, "Email")
	d.putBack(p)
}

// Without a phone, and with a keyboard over an element, any text and a picture that the app forbids.
func TestPhonesThatNeedCare(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf(open))
	d.run("run", "--platform", "android").want(t, 2, "no Android device is connected", "USB debugging")
	d.run("run", "--platform", "ios").want(t, 2, "WebDriverAgent does not respond at http://127.0.0.1:8100", "--wda-url")
	p := d.android()
	p.App.Show(app.SignIn)
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf(
		"tapOnElementBySelector: { nodeSelector: { androidAccessibility: { hintTextRegex: Email } } }",
		"inputText: { text: 'Grüße 日本語 👍', hideKeyboardAfter: false }",
		"tapOnElementBySelector: { nodeSelector: { androidAccessibility: { textRegex: Sign in } } }", // under the keyboard
		"assertVisible: { text: Wrong email or password }",
		"assertVisible: { text: 'Grüße 日本語 👍' }",
	))
	d.run("run", "--platform", "android").want(t, 0, "1 passed")
	if wrong := p.App.WrongTouches(); wrong > 0 {
		t.Errorf("%d touches hit nothing", wrong)
	}
	d.putBack(p)
	p.App.Show(app.Secure)
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf("assertVisible: { text: Nowhere, timeoutMs: 100 }"))
	d.run("run", "--platform", "android").want(t, 1, `"Nowhere"`)
	files, _ := filepath.Glob(filepath.Join(d.session(t), "failure", "*.txt"))
	text := ""
	for _, file := range files {
		text += d.read(t, file)
	}
	if !strings.Contains(text, "black") {
		t.Errorf("the evidence does not say that the picture is black:\n%s", text)
	}
	d.putBack(p)
}

// Each fault of an iPhone ends the trail with one message that names it and says what to do.
func TestFaultsOfIPhones(t *testing.T) {
	t.Parallel()
	const tapEmail = "tap: { text: Email }"
	for name, tc := range map[string]struct {
		before  func(p *simulated.IPhone)
		calls   []string
		code    int
		want    []string
		touches int // that the phone received
	}{
		"WebDriverAgent ends while it reads the screen": {
			before: func(p *simulated.IPhone) { p.App.OnRead(func(int) { go p.Close() }) },
			calls:  []string{open, tapEmail}, code: 2,
			want: []string{"WebDriverAgent at http://127.0.0.1:", "cannot be reached any more", "restart WebDriverAgent if it has crashed"},
		},
		"the answer to a touch is lost": {
			before: func(p *simulated.IPhone) { p.App.OnRead(func(int) { p.LoseNextAnswer() }) },
			calls:  []string{open, tapEmail}, code: 1, touches: 1, want: []string{`"Email"`, "may have happened", "not repeated"},
		},
		"WebDriverAgent hangs after a touch": {
			before: func(p *simulated.IPhone) { p.App.OnRead(func(int) { p.HangAfterNext() }) },
			calls:  []string{open, tapEmail + limited}, code: 1, touches: 1,
			want: []string{`"Email"`, "may have happened", "within the limit of the call", "not repeated"},
		},
		"another program starts a session": {
			before: func(p *simulated.IPhone) { p.App.OnRead(func(int) { p.StartAnotherSession() }) },
			calls:  []string{open, tapEmail}, code: 2,
			want: []string{"the session of WebDriverAgent at http://127.0.0.1:", "has ended", "end the other program"},
		},
		"an app that is not installed": {
			calls: []string{"launchApp: { appId: com.example.other, launchMode: FORCE_RESTART }"}, code: 1,
			want: []string{"com.example.other", "installed"},
		},
		"a permission dialog over the app": {
			before: func(p *simulated.IPhone) { p.App.Show(app.Orders); p.App.Prompt() },
			calls:  []string{"tap: { text: Order 1149, timeoutMs: 300 }"}, code: 1,
			want: []string{"com.apple.springboard is in front", "tap a button of what is in front"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newPhoneDesk(t)
			p := d.iPhone()
			d.write("trails/see-an-order.trail.yaml", phoneTrailOf(tc.calls...))
			if tc.before != nil {
				tc.before(p)
			}
			d.run("run", "--platform", "ios", "--wda-url", p.URL()).wantOutput(t, tc.code, tc.want...)
			if touches := p.App.Touches(); len(touches) != tc.touches {
				t.Errorf("%d touches, want %d", len(touches), tc.touches)
			}
			spawntest.NoSurvivors(t, d.marker)
		})
	}
}

// A cloud that has no device is named with the limit for it.
func TestFaultsOfClouds(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	d.write("trailblaze.yaml", "target: corner-shop\ndevice: { android: { appiumStartTimeout: 200ms } }\n")
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf(open))
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"waits in a queue": {
			func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
				<-r.Context().Done()
			},
			[]string{"did not start a session within 200ms", "waiting for a free device", "appiumStartTimeout"},
		},
		"has a full queue": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write([]byte(`{"value": {"error": "session not created", "message": "All parallel tests are in use, including the queued tests"}}`))
			},
			[]string{"has no free device", "All parallel tests are in use", "wait until one is free"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud := httptest.NewServer(tc.answer)
			defer cloud.Close()
			d.run("run", "--platform", "android", "--appium-url", cloud.URL).want(t, 2, append(tc.want, cloud.URL)...)
			spawntest.NoSurvivors(t, d.marker)
		})
	}
}

// Credentials of a cloud are in no output, event or file, whatever the cloud answers.
func TestCredentialsOfCloudsAreRedacted(t *testing.T) {
	t.Parallel()
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, key, _ := r.BasicAuth()
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(map[string]any{"value": map[string]any{
			"error": "session not created", "message": "Invalid user " + user + " or key " + key,
		}})
	}))
	defer cloud.Close()
	d := newPhoneDesk(t)
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf(open))
	address := strings.Replace(cloud.URL, "://", "://ada-cloud-user:hunter2-cloud-key@", 1)
	began := time.Now()
	r := d.run("run", "--platform", "android", "--appium-url", address, "-vv")
	r.want(t, 2, "401")
	all := r.stdout + r.stderr
	for _, file := range below(t, d.dir, "logs") {
		if info, err := os.Stat(d.path(file)); err == nil && info.Mode().IsRegular() && info.ModTime().After(began.Add(-time.Minute)) {
			all += d.read(t, file)
		}
	}
	if i := slices.IndexFunc([]string{"ada-cloud-user", "hunter2-cloud-key"}, func(s string) bool { return strings.Contains(all, s) }); i >= 0 {
		t.Errorf("a credential is shown:\n%s", all)
	}
}
