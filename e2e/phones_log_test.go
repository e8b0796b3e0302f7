//go:build unix

package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/tool"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

const (
	openSettings = "tap: { text: Settings }"
	pressCrash   = "tap: { text: Crash }"
)

// crashReasons are what failures say of a crash of the shop. WebDriverAgent only knows that the app does not run.
func crashReasons() map[string]string {
	return map[string]string{
		"android": "the app com.example.shop crashed: java.lang.NullPointerException: Attempt to invoke virtual method " +
			"'int java.lang.String.length()' on a null object reference at com.example.shop.Orders.open(Orders.kt:12)",
		"ios": "the app com.example.shop does not run any more: it crashed, or the system ended it",
	}
}

// A trail whose app crashes says so first, in every report, and keeps the log of the app.
func TestCrashOfTheApp(t *testing.T) {
	t.Parallel()
	onBothPlatforms(t, func(t *testing.T, platform string, a *authored) {
		a.app.Show(app.Orders)
		want := crashReasons()[platform]
		a.write("trails/crash.trail.yaml", phoneTrailOf(open, openSettings, pressCrash, "assertVisible: { text: Settings, timeoutMs: 100 }"))
		r := a.run("run", "--platform", platform, "--html", "report", "--junit", "junit.xml", "--json")
		r.want(t, 1)
		finished := ofType(r.events(t), "trail.finished")
		if reason, _ := finished[0]["reason"].(string); !strings.Contains(reason, ": "+want+"\n") || !strings.Contains(reason, `text "Settings"`) {
			t.Errorf("the reason: %s", reason)
		}
		noted := ofType(r.events(t), "device.noted")
		if len(noted) != 1 || noted[0]["kind"] != "crash" || noted[0]["text"] != want {
			t.Errorf("noted: %v", noted)
		}
		about := a.read(t, filepath.Join(a.session(t), "failure", "device.txt"))
		page := a.read(t, "report/index.html")
		for file, text := range map[string]string{"device.txt": about, "the page": page, "junit.xml": a.read(t, "junit.xml")} {
			if first, _, _ := strings.Cut(want, ":"); !strings.Contains(text, first) {
				t.Errorf("%s does not name the crash:\n%s", file, text)
			}
		}
		if platform == "android" && !strings.Contains(page, "FATAL EXCEPTION: main") {
			t.Error("the page has no log of the app")
		}
		if platform == "ios" && !strings.Contains(about, "No log of the app: WebDriverAgent") {
			t.Error(about)
		}
		a.away()
	})
}

// A trail that starts the app again after a crash passes, and the crash is noted, also when a call failed that is
// optional.
func TestCrashAndAnotherStart(t *testing.T) {
	t.Parallel()
	const optional = "assertVisible: { text: Settings, timeoutMs: 100 }\n          optional: true"
	for name, calls := range map[string][]string{
		"only":          {open, openSettings, pressCrash, open},
		"optional call": {open, openSettings, pressCrash, optional, open},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothPlatforms(t, func(t *testing.T, platform string, a *authored) {
				a.app.Show(app.Orders)
				a.write("trails/crash.trail.yaml", phoneTrailOf(append(calls, "assertVisible: { text: Orders }")...))
				r := a.run("run", "--platform", platform, "--json")
				r.want(t, 0)
				if noted := ofType(r.events(t), "device.noted"); len(noted) != 1 || noted[0]["text"] != crashReasons()[platform] {
					t.Errorf("noted: %v", noted)
				}
				for _, call := range ofType(r.events(t), "call.finished") {
					notes, _ := call["notes"].([]any)
					if again := call["tool"] == "launchApp" && call["call"] != "1"; again != (len(notes) == 1) ||
						again && notes[0] != crashReasons()[platform]+"; it was started again" {
						t.Errorf("notes of %v: %q", call["tool"], notes)
					}
				}
				a.away()
			})
		})
	}
}

// The log of the app is redacted, and has no lines from before the trail.
func TestLogOfTheAppIsRedacted(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p := d.androidWith(simulated.AndroidOptions{App: app.Options{NoPrompt: true}})
	p.App.Show(app.Orders)
	p.Log(app.ShopID, "Shop", "long ago")
	p.AgeLog(time.Minute)
	p.After("am start", func() { p.Log(app.ShopID, "Shop", "token is s3cr3t-4711") })
	d.write("trails/see-an-order.trail.yaml", phoneTrailOf(open, "tap: { text: Nowhere, timeoutMs: 1 }"))
	d.run("run", "--platform", "android", "--secret", "TOKEN=s3cr3t-4711").want(t, 1)
	log := d.read(t, "logs/latest/failure/device.log")
	if !strings.Contains(log, "token is {{TOKEN}}") || strings.Contains(log, "long ago") {
		t.Error(log)
	}
	d.putBack(p)
}

// wantCrash crashes the shop, and checks what is known of it through Appium: the reason of a failure, and a text in a
// file of the evidence.
func (u *driverUser) wantCrash(shop *app.Device, platform, file, text string) {
	u.Helper()
	shop.Crash()
	nowhere := map[string]any{"text": "Nowhere", "timeoutMs": 1}
	r, err := u.device.Call(u.Context(), tool.Call{Tool: "tap", Args: nowhere})
	if err != nil || !strings.HasPrefix(r.Text, crashReasons()[platform]+"\n") {
		u.Errorf("after a crash: %v %s", err, r.Text)
	}
	for _, a := range u.device.Evidence(u.Context()) {
		if a.Name == file && strings.Contains(string(a.Data), text) {
			return
		}
	}
	u.Errorf("%s of the evidence has no %q", file, text)
}
