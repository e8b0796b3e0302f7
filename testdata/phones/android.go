// Package phones simulates phones for tests: an Android phone with adb, a shell and the UiAutomator2 server, and an
// iPhone with WebDriverAgent. Both show the invented app of testdata/phones/app. They speak the protocols of real
// phones, so that the programs that drive real ones drive them; e2e tests that with Appium.
package phones

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/testdata/phones/adbd"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// AndroidOptions describe a simulated Android phone. The zero value is one with Android 14, the app, and no
// UiAutomator2 server.
type AndroidOptions struct {
	App  app.Options
	Adbd adbd.Options
	// Level is the level of Android's API; 0 stands for 34.
	Level int
	// Server is the version of the UiAutomator2 server that is installed, such as 10.6.6; empty for none.
	Server string
	// NoLog makes logcat write an error only, as on phones of Huawei whose log is off until *#*#2846579#*#* turns it on.
	NoLog bool
	// NoShellV2 leaves the feature shell_v2 out, as old phones do: no exit status, no stderr of its own.
	NoShellV2 bool
	// Image is the name of the image from which several phones were started; empty for a phone of its own. Phones of
	// one image have the same serial number.
	Image string
	// SilentKeyboard is an input method that does not add its state to that of the system (AOSP,
	// InputMethodManagerService.dump: "Failed to dump input method client").
	SilentKeyboard bool
	// NoTerminal is a phone on which uiautomator cannot write to /dev/tty, so that the dump is lost (LADB, issue 91).
	NoTerminal bool
	// IdleLimit is how long uiautomator waits until nothing moves before it gives up; 0 stands for the 10 s of real phones
	// (AOSP, cmds/uiautomator/…/DumpCommand.java).
	IdleLimit time.Duration
	// AVD is the name of the virtual device that an emulator runs; empty for a phone.
	AVD string
	// Address is where adb is listened for; empty stands for a free port of 127.0.0.1.
	Address string

	// Lock is the lock screen of a phone that nobody has touched for a while, with its screen off; empty for a phone
	// that somebody uses (appium-adb, lib/tools/lockmgmt.ts).
	Lock Lock
	// RefuseSettings refuses `settings put`, `settings delete` and `pm grant` to adb, as phones of Xiaomi, Oppo, Vivo
	// and Realme do without "USB debugging (Security settings)" (appium-adb, lib/tools/device-settings.ts), and other
	// changes of the device, for which AOSP needs a permission, too (AppOpsService, UiModeManagerService).
	RefuseSettings bool
	// RefuseClear refuses `pm clear`, as some of the same phones do.
	RefuseClear bool
	// KeepsWiFi leaves Wi-Fi on in airplane mode, as phones with Android 11 do that remember it (AOSP, WifiSettingsStore,
	// the setting wifi_apm_state).
	KeepsWiFi bool
	// RefuseInput refuses touches, text and keys of `input` to adb, as the same phones do.
	RefuseInput bool
	// Verifier is what Play Protect or the maker's own guard does about `pm install` (appium/appium#15660).
	Verifier Verifier
	// AnswerAfter is when somebody allows an installation that VerifierAsks about; 0 for never.
	AnswerAfter time.Duration
	// FailStarts is how many starts of the UiAutomator2 server end at once, as on a phone that was just booted
	// (appium-uiautomator2-driver, lib/uiautomator2-server/core.ts, startSession).
	FailStarts int
	// ListLate is how many times `pm list instrumentation` lacks the server after it was installed, during which it
	// cannot be started (the same file, verifyServicesAvailability).
	ListLate int
	// SlowStart says that apps show nothing within the 10 s for which `am start -W` waits (AOSP, ActivityTaskSupervisor).
	SlowStart bool
	// Doze keeps the UiAutomator2 server of a phone that was asleep from responding until it is on the whitelist of
	// Doze, or the phone is touched. AOSP ends Doze when the screen is on; Appium does not rely on it
	// (lib/uiautomator2-server/session.ts, initServer), and makers have restrictions of their own.
	Doze bool
	// User is the user who uses the phone, such as 10 for a second one. Commands without --user act on the copy of an
	// app that user 0 has (AOSP, PackageManagerShellCommand: runClear, runGrantRevokePermission).
	User int
	// AppOfOthers says that the app is installed for user 0 and not for User.
	AppOfOthers bool
	// Foldable says that the phone is folded when the first app is started: `wm size` is another one then, and the
	// first display, which screencap takes, is black (mobile-next/mobile-mcp#158).
	Foldable bool
}

// Verifier is what guards installations.
type Verifier string

// What guards installations do.
const (
	VerifierRefuses Verifier = "refuses"
	VerifierAsks    Verifier = "asks" // on the screen
)

// Lock is a kind of lock screen.
type Lock string

// The kinds of lock screen.
const (
	LockSwipe  Lock = "swipe"  // that `wm dismiss-keyguard` removes
	LockSecure Lock = "secure" // with a PIN, which `wm dismiss-keyguard` asks for
)

// Android is a simulated Android phone.
type Android struct {
	App *app.Device

	log     *androidLog
	options AndroidOptions
	adbd    *adbd.Device
	also    []*adbd.Device // at other addresses
	files   *adbd.Files
	ctx     context.Context //nolint:containedctx // of processes that outlive the connection that started them
	cancel  context.CancelCauseFunc

	handlers        sync.WaitGroup // requests that are being answered
	mu              sync.Mutex
	packages        map[string]manifest
	settings        map[string]string // by namespace and name
	props           map[string]string
	commands        []string
	unknownCommands []string
	requests        []string // of UiAutomator2 servers that have ended
	unknownRoutes   []string
	intercept       Intercept
	crashOnTouch    bool
	heldBy          string // the app that holds UiAutomation
	portTaken       bool   // another app listens on the port of the UiAutomator2 server
	hangOn          string // the beginning of commands that do not end
	failStarts      int
	listLate        int
	whitelist       []string // of Doze
	appOfOthers     bool
	earlierWiFi     string // what the setting wifi_on still is for whoever asks for it next; empty for what it is
	folded          bool
	installations   map[int][]manifest // that have begun with `pm install-create`
	after           struct {
		command string
		do      func() // nil for nothing
	}
	server    *uiServer
	recording chan struct{} // closed to interrupt screenrecord; nil while it does not run
}

// StartAndroid starts a simulated phone. The caller must call Close. ctx ends what the phone runs.
func StartAndroid(ctx context.Context, o AndroidOptions) (*Android, error) {
	if o.Level == 0 {
		o.Level = 34
	}
	if o.IdleLimit == 0 {
		o.IdleLimit = 10 * time.Second
	}
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	p := &Android{
		App: app.New(app.Android, o.App), options: o, files: adbd.NewFiles(),
		packages: preinstalled(), settings: defaultSettings(), props: properties(o.Level),
	}
	if o.Server != "" {
		p.packages[serverApp] = manifest{app: serverApp, version: o.Server, code: serverCode(o.Server)}
		p.packages[serverTestApp] = manifest{app: serverTestApp}
	}
	p.failStarts, p.listLate, p.appOfOthers = o.FailStarts, o.ListLate, o.AppOfOthers
	p.installations = map[int][]manifest{}
	p.App.SetLocked(o.Lock != "")
	p.App.SetAsleep(o.Lock != "")
	p.log = newAndroidLog(p.Now)
	p.App.OnProcess(p.log.processChanged)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if o.AVD != "" {
		p.props["ro.boot.qemu.avd_name"] = o.AVD
	}
	p.props["ro.serialno"] = "SIMULATED" + cmp.Or(o.Image, port)
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.adbd = adbd.Serve(p.ctx, l, p, o.Adbd)
	return p, nil
}

// Addr returns the address for `adb connect`, which is also the serial.
func (p *Android) Addr() string { return p.adbd.Addr() }

// AlsoListen makes the phone reachable at a second address, as by cable and by network. It returns the serial that it
// has there.
func (p *Android) AlsoListen(ctx context.Context, address string) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	d := adbd.Serve(p.ctx, l, p, p.options.Adbd)
	p.also = append(p.also, d)
	return d.Addr(), nil
}

// Adbd returns the device side of adb, to disconnect it and the like.
func (p *Android) Adbd() *adbd.Device { return p.adbd }

// Close ends everything that the phone runs.
func (p *Android) Close() {
	p.cancel(errors.New("the phone is off"))
	p.stopServer("")
	for _, d := range append(p.also, p.adbd) {
		d.Close()
	}
	p.stopServer("") // one that a command has just started
	p.handlers.Wait()
}

// Properties implements adbd.Phone.
func (p *Android) Properties() adbd.Properties {
	features := adbd.DefaultFeatures()
	if p.options.NoShellV2 {
		features = slices.DeleteFunc(features, func(s string) bool { return s == "shell_v2" })
	}
	return adbd.Properties{Product: "simulated", Model: "Simulated_Phone", Device: "simulated", Features: features}
}

// Files implements adbd.Phone.
func (p *Android) Files() *adbd.Files { return p.files }

// Dial implements adbd.Phone.
func (p *Android) Dial(ctx context.Context, service string) (net.Conn, error) {
	p.mu.Lock()
	s, taken := p.server, p.portTaken
	p.mu.Unlock()
	switch {
	case service == serverSocket && taken:
		ours, theirs := net.Pipe()
		_ = theirs.Close() // it says nothing
		return ours, nil
	case service != serverSocket || s == nil:
		return nil, errRefused
	case p.inDoze():
		ours, theirs := net.Pipe()
		context.AfterFunc(ctx, func() { _ = theirs.Close() }) // it receives nothing
		return ours, nil
	}
	return s.listener.dial(ctx)
}

// inDoze reports whether Doze keeps the UiAutomator2 server from responding.
func (p *Android) inDoze() bool {
	touched := len(p.App.Touches()) > 0
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.options.Doze && !touched && !slices.Contains(p.whitelist, serverApp)
}

// Commands returns the command lines that the shell received.
func (p *Android) Commands() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.commands)
}

// UnknownCommands returns the commands that the simulation does not know.
func (p *Android) UnknownCommands() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.unknownCommands)
}

// Requests returns the method and path of the requests that the UiAutomator2 server received.
func (p *Android) Requests() []string {
	requests, _ := p.serverLog()
	return requests
}

// UnknownRoutes returns the requests that the UiAutomator2 server does not know.
func (p *Android) UnknownRoutes() []string {
	_, unknown := p.serverLog()
	return unknown
}

func (p *Android) serverLog() (requests, unknown []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	requests, unknown = slices.Clone(p.requests), slices.Clone(p.unknownRoutes)
	if p.server != nil {
		now, unknownNow := p.server.requestLog()
		requests, unknown = append(requests, now...), append(unknown, unknownNow...)
	}
	return requests, unknown
}

// Setting returns a value of `settings`, "null" without one.
func (p *Android) Setting(namespace, name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, ok := p.settings[namespace+" "+name]
	if !ok {
		return "null"
	}
	return value
}

// Changed returns what differs from a phone that was just started, in words: settings, what is in the folder for files
// of adb, and the UiAutomator2 server if it runs. Apps do not count.
func (p *Android) Changed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var changed []string
	before := defaultSettings()
	for _, name := range slices.Sorted(maps.Keys(p.settings)) {
		if value, ok := before[name]; !ok || value != p.settings[name] {
			changed = append(changed, name+"="+p.settings[name])
		}
	}
	for name := range before {
		if _, ok := p.settings[name]; !ok {
			changed = append(changed, name+" was deleted")
		}
	}
	for _, file := range p.files.List("/data/local/tmp") {
		changed = append(changed, file.Path)
	}
	for _, name := range p.whitelist {
		changed = append(changed, name+" is on the whitelist of Doze")
	}
	if p.server != nil {
		changed = append(changed, "the UiAutomator2 server runs")
	}
	return changed
}

// Installed reports whether an app is installed.
func (p *Android) Installed(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.packages[name]
	return ok
}

// installedFor reports whether an app is installed for a user.
func (p *Android) installedFor(name string, user int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.packages[name]
	return ok && (name != app.ShopID || user == 0 || !p.appOfOthers)
}

// Uninstall removes an app.
func (p *Android) Uninstall(name string) {
	p.mu.Lock()
	delete(p.packages, name)
	p.mu.Unlock()
	p.stopApp(name)
	p.App.Clear(name)
}

// SetIntercept sets a function that is called before the UiAutomator2 server answers a request; nil for none.
func (p *Android) SetIntercept(i Intercept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.intercept = i
	if p.server != nil {
		p.server.setIntercept(i)
	}
}

// LoseNextAnswer makes the running UiAutomator2 server do what the next POST asks, and close the connection without an
// answer. It runs on.
func (p *Android) LoseNextAnswer() { p.withholdNext(lost) }

// HangAfterNext makes the running UiAutomator2 server do what the next POST asks, and answer nothing.
func (p *Android) HangAfterNext() { p.withholdNext(hung) }

func (p *Android) withholdNext(n noAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		p.server.withholdNext(n)
	}
}

// CrashOnTouch makes the UiAutomator2 server perform the next touch, and end without an answer.
func (p *Android) CrashOnTouch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashOnTouch = true
}

// HoldUIAutomation makes another app hold UiAutomation, which only one app can do; empty for none.
func (p *Android) HoldUIAutomation(app string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heldBy = app
}

// TakePort makes another app listen on the port of the UiAutomator2 server.
func (p *Android) TakePort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.portTaken = true
}

// HangOn makes commands that begin with a text hang, as those of a system that is overloaded do.
func (p *Android) HangOn(command string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hangOn = command
}

// After calls a function once, after the next command that begins with a text and before the client knows that it ended.
func (p *Android) After(command string, do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after.command, p.after.do = command, do
}

// ServerRunning reports whether the UiAutomator2 server runs.
func (p *Android) ServerRunning() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.server != nil
}

// StopServer ends the UiAutomator2 server as a crash does.
func (p *Android) StopServer() { p.stopServer("Process crashed.") }
