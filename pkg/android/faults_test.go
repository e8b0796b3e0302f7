package android

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbd"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

func TestChoiceOfThePhone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := d.backend().Classifiers(within(t))
	wantFault(t, err, fault.Device, "no Android device is connected", "USB debugging", "adb devices", "emulator")

	first := d.phone(phones.AndroidOptions{})
	b := d.backend()
	if got, err := b.Classifiers(within(t)); err != nil || len(got) != 1 || got[0] != "phone" {
		t.Errorf("Classifiers: %v, %v", got, err)
	}
	second := d.phone(phones.AndroidOptions{})
	if _, err := b.Classifiers(within(t)); err != nil {
		t.Errorf("a run that has chosen its phone: %v", err)
	}
	_, err = d.backend().Classifiers(within(t))
	wantFault(t, err, fault.Misuse, "2 Android devices", first.Addr()+" (Simulated Phone, device)", second.Addr(), "--serial")

	d.values["serial"] = "emulator-5554"
	_, err = d.backend().Classifiers(within(t))
	wantFault(t, err, fault.Misuse, "emulator-5554 was not found", first.Addr())
	d.values["serial"] = second.Addr()
	if detail, err := d.backend().Check(within(t)); err != nil || !strings.Contains(detail, second.Addr()+" (Simulated Phone, Android 14)") {
		t.Errorf("Check: %q, %v", detail, err)
	}
}

func TestStatesOfPhones(t *testing.T) {
	t.Parallel()
	for state, texts := range map[adb.State][]string{
		adb.Offline:      {"x is offline", "adb reconnect offline"},
		adb.Unauthorized: {"x has not authorized this computer", "Allow USB debugging?"},
		adb.NoPermission: {"may not open the Android device x", "udev"},
		"recovery":       {"x is in the state recovery"},
	} {
		for _, serial := range []string{"", "x"} {
			_, err := choose([]adb.Info{{Serial: "x", State: state}}, serial)
			wantFault(t, err, fault.Device, texts...)
		}
	}
	got, err := choose([]adb.Info{{Serial: "x", State: adb.Offline}, {Serial: "y", State: adb.Ready}}, "")
	if err != nil || got.Serial != "y" {
		t.Errorf("beside an offline one: %v, %v", got, err)
	}
	_, err = choose([]adb.Info{{Serial: "x", State: adb.Offline}, {Serial: "y", State: adb.Unauthorized}}, "")
	wantFault(t, err, fault.Device, "no Android device is ready: x (offline), y (unauthorized)")
}

func TestUnauthorizedPhone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.start(phones.AndroidOptions{Adbd: adbd.Options{Unauthorized: true}})
	_ = d.adb.Connect(within(t), p.Addr()) // fails to authenticate
	d.await(p.Addr(), adb.Unauthorized)
	wantFault(t, d.openFails(), fault.Device, p.Addr()+" has not authorized this computer", "Allow USB debugging?")
}

// await waits until the adb server knows a phone in a state.
func (d *desk) await(serial string, state adb.State) {
	d.t.Helper()
	server, err := adb.Find(d.adb.Env())
	if err != nil {
		d.t.Fatal(err)
	}
	ctx := within(d.t)
	for {
		devices, err := server.Devices(ctx)
		if err != nil {
			d.t.Fatal(err)
		}
		if slices.ContainsFunc(devices, func(i adb.Info) bool { return i.Serial == serial && i.State == state }) {
			return
		}
		if err := act.Pause(ctx, 5*time.Millisecond); err != nil {
			d.t.Fatal(err)
		}
	}
}

func TestPhoneGoesOffline(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	b := d.backend()
	opened, err := b.open(within(t), d.session())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.adb.Run(within(t), "disconnect", p.Addr()); err != nil {
		t.Fatal(err)
	}
	_, err = opened.Read(within(t))
	wantFault(t, err, fault.Crashed, "the connection to "+p.Addr()+" was lost")
	wantFault(t, opened.Touch(within(t), mobile.Finger{Path: []screen.Point{{X: 1, Y: 1}}}), fault.Crashed, "was lost")
	wantFault(t, opened.Stop(within(t), app.ShopID), fault.Crashed, "was lost")
	if touches := p.App.Touches(); len(touches) > 0 {
		t.Errorf("touches: %v", touches)
	}
	wantFault(t, opened.Close(within(t)), fault.Device, "putting back what was changed", "the next session")
	if p.Setting("global", "window_animation_scale") != "0" {
		t.Fatal("the phone that is offline cannot have been put back")
	}
	// The phone is connected again, and the next session puts back what the first could not.
	if err := d.adb.Connect(within(t), p.Addr()); err != nil {
		t.Fatal(err)
	}
	again, err := b.open(within(t), d.session())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Read(within(t)); err != nil {
		t.Error(err)
	}
	if err := errors.Join(again.Close(within(t)), b.Close(within(t))); err != nil {
		t.Error(err)
	}
	wantRestored(t, d, p)
}

func TestSettingsOfAKilledRunArePutBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	killed := d.backend()
	opened, err := killed.open(within(t), d.session())
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.SetNetwork(within(t), false); err != nil {
		t.Fatal(err)
	}
	killed.phone.server.kill()
	_ = killed.phone.lock.Close() // as the kernel does
	killed.phone = nil
	_, closeAll := d.open()
	if !d.logged("an earlier session had changed were put back") || !p.App.Connected() {
		t.Errorf("logs: %v", d.logs)
	}
	closeAll()
	wantRestored(t, d, p)
}

func TestPhoneIsUsedByOneProcess(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	_, closeAll := d.open()
	before := len(p.Commands())
	wantFault(t, d.openFails(), fault.Device, p.Addr()+" is used by another trailblaze", "--serial")
	_, port, _ := net.SplitHostPort(p.Addr())
	other := "localhost:" + port
	if err := d.adb.Connect(within(t), other); err != nil {
		t.Fatal(err)
	}
	d.values["serial"] = other
	wantFault(t, d.openFails(), fault.Device, other+" is the same device as the Android device "+p.Addr()+", which is in use")
	if changes := slices.DeleteFunc(p.Commands()[before:], func(c string) bool { return strings.HasPrefix(c, "cat ") }); len(changes) > 0 {
		t.Errorf("a phone of another process received %q", changes)
	}
	if err := d.adb.Disconnect(within(t), other); err != nil {
		t.Error(err)
	}
	closeAll()
	wantRestored(t, d, p)
}

// touch touches the button Sign in.
func touch(ctx context.Context, d mobile.Driver) error {
	return d.Touch(ctx, mobile.Finger{Path: []screen.Point{{X: 540, Y: 1884}}})
}

func wantUnconfirmed(t *testing.T, err error, texts ...string) {
	t.Helper()
	if _, ok := errors.AsType[*act.UnconfirmedError](err); !ok {
		t.Fatalf("got %v, want an unconfirmed action", err)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is missing in %v", text, err)
		}
	}
}

func TestServerExitsAfterATouch(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	dr, closeAll := d.open()
	p.App.Show(app.SignIn)
	p.CrashOnTouch()
	wantUnconfirmed(t, touch(within(t), dr), "exited while touching the screen", "Process crashed.")
	short, cancel := context.WithCancel(within(t))
	p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
		cancel() // during the restart
		<-r.Context().Done()
		return true
	})
	if _, err := dr.Read(short); err == nil {
		t.Error("no error")
	}
	p.SetIntercept(nil)
	if _, err := dr.Read(within(t)); err != nil || !d.logged("restarting the UiAutomator2 server") {
		t.Errorf("after the restart: %v, %v", err, d.logs)
	}
	if touches := p.App.Touches(); len(touches) != 1 {
		t.Errorf("%d touches, want 1", len(touches))
	}
	p.StopServer() // between two calls
	if err := touch(within(t), dr); err != nil {
		t.Error(err)
	}
	if touches := p.App.Touches(); len(touches) != 2 {
		t.Errorf("%d touches, want 2", len(touches))
	}
	closeAll()
	wantRestored(t, d, p)
}

func TestServerThatExitsAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	dr, closeAll := d.open()
	if _, err := dr.Read(within(t)); err != nil {
		t.Fatal(err)
	}
	var starts atomic.Int32
	p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/session":
			starts.Add(1)
		case strings.HasSuffix(r.URL.Path, "/source"):
			go p.StopServer()
			<-r.Context().Done()
			return true
		}
		return false
	})
	_, err := dr.Read(within(t))
	wantFault(t, err, fault.Device, "UiAutomator2 server on "+p.Addr()+" exited", "Process crashed.", "adb logcat")
	if n := starts.Load(); n != 1 {
		t.Errorf("the server was started again %d times, want 1", n)
	}
	_, err = dr.Read(within(t))
	wantFault(t, err, fault.Device, "exited again after it was restarted")
	p.SetIntercept(nil)
	closeAll()
	wantRestored(t, d, p)
}

func TestServerDoesNotRespond(t *testing.T) {
	t.Parallel()
	for name, withContext := range map[string]bool{"own limit": false, "limit of the call": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.phone(phones.AndroidOptions{Server: serverVersion})
			b := d.backend()
			if !withContext {
				b.limits.call = 2 * time.Second
			}
			dr, err := b.open(within(t), d.session())
			if err != nil {
				t.Fatal(err)
			}
			p.App.Show(app.SignIn)
			var sent atomic.Int32
			release := make(chan struct{})
			received := make(chan struct{}, 1)
			p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/actions") {
					return false
				}
				sent.Add(1)
				received <- struct{}{}
				<-release
				return false
			})
			ctx, cancel := context.WithCancelCause(within(t))
			if withContext {
				go func() {
					<-received
					cancel(context.DeadlineExceeded)
				}()
			}
			wantUnconfirmed(t, touch(ctx, dr))
			cancel(nil)
			close(release)
			p.SetIntercept(nil)
			if _, err := dr.Read(within(t)); err != nil || !d.logged("restarting the UiAutomator2 server") {
				t.Errorf("after the restart: %v, %v", err, d.logs)
			}
			if n := sent.Load(); n != 1 {
				t.Errorf("the touch was sent %d times", n)
			}
			if err := errors.Join(dr.Close(within(t)), b.Close(within(t))); err != nil {
				t.Error(err)
			}
			wantRestored(t, d, p)
		})
	}
}

func TestResponseIsLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	b := d.backend()
	b.limits.exit = time.Hour // a server that responds is not waited for
	dr, err := b.open(within(t), d.session())
	if err != nil {
		t.Fatal(err)
	}
	p.App.Show(app.SignIn)
	p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/actions") {
			panic(http.ErrAbortHandler) // closes the connection
		}
		return false
	})
	wantUnconfirmed(t, touch(within(t), dr), "touching the screen")
	p.SetIntercept(nil)
	if _, err := dr.Read(within(t)); err != nil {
		t.Error(err)
	}
	if err := errors.Join(dr.Close(within(t)), b.Close(within(t))); err != nil {
		t.Error(err)
	}
	wantRestored(t, d, p)
}

func TestAnotherSessionOfTheServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	dr, closeAll := d.open()
	if err := dr.server.newSession(within(t)); err != nil {
		t.Fatal(err)
	}
	mine := dr.server.session
	if err := dr.server.newSession(within(t)); err != nil {
		t.Fatal(err)
	}
	dr.server.session = mine
	wantFault(t, touch(within(t), dr), fault.ToolFailed, "another program uses the UiAutomator2 server")
	if _, err := dr.Read(within(t)); err != nil {
		t.Error(err)
	}
	closeAll()
	wantRestored(t, d, p)
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*desk, *phones.Android)
		kind    fault.Kind
		texts   []string
	}{
		"UiAutomation is in use": {
			func(_ *desk, p *phones.Android) { p.HoldUIAutomation("dev.mobile.maestro.test") },
			fault.Device,
			[]string{"dev.mobile.maestro.test (Maestro)", "one program at a time"},
		},
		"the port is in use": {
			func(_ *desk, p *phones.Android) { p.TakePort() },
			fault.Device,
			[]string{"port 6790", "another app"},
		},
		"an APK is broken": {
			func(d *desk, _ *phones.Android) { d.write(testAPK, []byte("no archive")) },
			fault.Device,
			[]string{testAPK, "INSTALL_PARSE_FAILED"},
		},
		"the folder has no APKs": {
			func(d *desk, _ *phones.Android) { d.values["uiautomator2"] = d.folder },
			fault.Misuse,
			[]string{"does not contain", testAPK, installServer},
		},
		"settings are refused": {
			func(_ *desk, p *phones.Android) {
				p.SetIntercept(func(w http.ResponseWriter, r *http.Request) bool {
					if !strings.HasSuffix(r.URL.Path, "/settings") {
						return false
					}
					w.WriteHeader(http.StatusBadRequest)
					_, _ = w.Write([]byte(`{"value":{"error":"invalid argument","message":"Unsupported setting"}}`))
					return true
				})
			},
			fault.Device,
			[]string{"Unsupported setting", "@latest"},
		},
		"the server exits": {
			func(_ *desk, p *phones.Android) {
				p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
					go p.StopServer()
					<-r.Context().Done()
					return true
				})
			},
			fault.Device,
			[]string{"exited while it was being started", "Process crashed."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.phone(phones.AndroidOptions{})
			c.prepare(d, p)
			wantFault(t, d.openFails(), c.kind, c.texts...)
			wantRestored(t, d, p)
		})
	}
}

func TestPhoneThatHangs(t *testing.T) {
	t.Parallel()
	for command, kind := range map[string]string{"getprop": "info", "dumpsys package": "prepare"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.phone(phones.AndroidOptions{Server: serverVersion})
			p.HangOn(command)
			b := d.backend()
			if kind == "info" {
				b.limits.info = 100 * time.Millisecond
			} else {
				b.limits.prepare = 300 * time.Millisecond
			}
			_, err := b.open(context.WithoutCancel(t.Context()), d.session()) // as a session does, whose first call names no limit
			wantFault(t, err, fault.CallTimeout, "timed out")
			p.HangOn("")
			wantRestored(t, d, p)
		})
	}
}

func TestStartIsCancelled(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	ctx, cancel := context.WithCancelCause(within(t))
	interrupted := fault.New(fault.Interrupted, "", "interrupted")
	p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
		cancel(interrupted)
		<-r.Context().Done()
		return true
	})
	if _, err := d.backend().open(ctx, d.session()); !errors.Is(err, interrupted) {
		t.Errorf("got %v", err)
	}
	wantRestored(t, d, p)
}

func TestServerOfAnotherProgramIsStopped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	server, err := adb.Find(d.adb.Env())
	if err != nil {
		t.Fatal(err)
	}
	process, err := server.Device(p.Addr()).Start(within(t),
		"am instrument -w "+testPackage+"/androidx.test.runner.AndroidJUnitRunner", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer process.Close()
	for !p.ServerRunning() {
		if err := act.Pause(within(t), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	_, closeAll := d.open()
	if !d.logged("a UiAutomator2 server was running on " + p.Addr()) {
		t.Errorf("logs: %v", d.logs)
	}
	closeAll()
	wantRestored(t, d, p)
}

func TestOldServerIsSaid(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.apks = t.TempDir()
	d.writeServer("9.11.1")
	d.values["uiautomator2"] = d.apks
	p := d.phone(phones.AndroidOptions{})
	_, closeAll := d.open()
	if !d.logged("9.11.1 in "+d.apks+" is older than 10.5 | "+installServer) || !p.Installed(testPackage) {
		t.Errorf("logs: %v", d.logs)
	}
	closeAll()
	wantRestored(t, d, p)
}

func TestScreensThatAreHardToRead(t *testing.T) {
	t.Parallel()
	d := newDeskWithoutServer(t)
	p := d.phone(phones.AndroidOptions{IdleLimit: 100 * time.Millisecond})
	dr, closeAll := d.open()
	defer closeAll()
	p.App.Show(app.Animation)
	_, err := dr.Read(within(t))
	wantFault(t, err, fault.ToolFailed, "moves all the time", installServer)
	if dumps := dumpsOf(p); len(dumps) != 1 {
		t.Errorf("a screen that moves was read by %q, each of which takes 10 s on a phone", dumps)
	}
	p.App.Show(app.Orders)
	p.App.Prompt()
	if front, err := dr.Foreground(within(t)); err != nil || !strings.Contains(front, "permissioncontroller") {
		t.Errorf("in front: %q, %v", front, err)
	}
	p.HoldUIAutomation("io.appium.uiautomator2.server")
	_, err = dr.Read(within(t))
	wantFault(t, err, fault.Device, "UiAutomation of "+p.Addr(), "used by another program")
}

func TestScreenThatComesToRestIsRead(t *testing.T) {
	t.Parallel()
	d := newDeskWithoutServer(t)
	p := d.phone(phones.AndroidOptions{})
	dr, closeAll := d.open()
	defer closeAll()
	p.App.Show(app.Animation)
	p.App.StopMoving(3) // before the limit
	if seen, err := dr.Read(within(t)); err != nil || len(seen.Tree.Nodes()) < 2 {
		t.Error(err)
	}
}

// dumpsOf returns the command lines of uiautomator that a phone received.
func dumpsOf(p *phones.Android) []string {
	return slices.DeleteFunc(p.Commands(), func(c string) bool { return !strings.HasPrefix(c, "uiautomator") })
}

// Where uiautomator cannot write to a terminal, it writes to a file: from the second read on at once. Nothing is left.
func TestDumpToAFile(t *testing.T) {
	t.Parallel()
	d := newDeskWithoutServer(t)
	p := d.phone(phones.AndroidOptions{NoTerminal: true, IdleLimit: 100 * time.Millisecond})
	dr, closeAll := d.open()
	defer closeAll()
	p.App.Show(app.Orders)
	for range 2 {
		if seen, err := dr.Read(within(t)); err != nil || len(seen.Tree.Nodes()) < 2 {
			t.Fatal(err)
		}
	}
	if dumps := dumpsOf(p); len(dumps) != 3 || !strings.HasPrefix(dumps[2], "uiautomator dump "+dumpFile) {
		t.Errorf("%q", dumps)
	}
	p.App.Show(app.Animation)
	_, err := dr.Read(within(t))
	wantFault(t, err, fault.ToolFailed, "moves all the time", installServer)
	if file, err := p.Files().Stat(dumpFile); err == nil {
		t.Error("left on the phone:", file.Path)
	}
}

func TestKeyboardOverTheTarget(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion, App: app.Options{NoPrompt: true}})
	b := d.backend()
	s := b.Open(d.session())
	p.App.Show(app.SignIn)
	for _, args := range []map[string]any{{"id": "email"}, {"text": "Sign in"}} {
		if result := call(t, s, "tap", args); !result.OK {
			t.Fatal(result.Text)
		}
	}
	if p.App.WrongTouches() > 0 || p.App.KeyboardShown() {
		t.Errorf("wrong touches: %d", p.App.WrongTouches())
	}
	if err := errors.Join(s.Close(within(t)), b.Close(within(t))); err != nil {
		t.Error(err)
	}
}
