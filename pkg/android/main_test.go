package android

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
)

// These tests use simulated phones through the real adb server. No real phone is driven.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is far longer than anything here takes.
const limit = 30 * time.Second

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
	t.Cleanup(cancel)
	return ctx
}

// desk is a computer with an adb server and simulated phones.
type desk struct {
	t      testing.TB
	adb    *adbserver.Server
	folder string // of locks
	apks   string // folder of the UiAutomator2 server's APKs
	values map[string]string

	mu   sync.Mutex
	logs []string
}

const serverVersion = "10.6.6"

func newDesk(t testing.TB) *desk {
	t.Helper()
	server, err := adbserver.Start(within(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	d := &desk{t: t, adb: server, folder: t.TempDir(), apks: t.TempDir(), values: map[string]string{}}
	d.writeServer(serverVersion)
	d.values["uiautomator2"] = d.apks
	return d
}

// newDeskWithoutServer is newDesk without the files of the UiAutomator2 server.
func newDeskWithoutServer(t testing.TB) *desk {
	t.Helper()
	d := newDesk(t)
	d.values["uiautomator2"] = ""
	return d
}

// writeServer writes the APKs of a version of the UiAutomator2 server.
func (d *desk) writeServer(version string) {
	d.t.Helper()
	for name, data := range phones.ServerAPKs(version) {
		d.write(name, data)
	}
}

func (d *desk) write(name string, content []byte) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.apks, name), content, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// phone starts a simulated phone and connects it.
func (d *desk) phone(o phones.AndroidOptions) *phones.Android {
	d.t.Helper()
	p := d.start(o)
	if err := d.adb.Connect(within(d.t), p.Addr()); err != nil {
		d.t.Fatal(err)
	}
	return p
}

// start starts a simulated phone that knows all commands and requests that it receives.
func (d *desk) start(o phones.AndroidOptions) *phones.Android {
	d.t.Helper()
	p, err := phones.StartAndroid(within(d.t), o)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		p.Close()
		if unknown := append(p.UnknownCommands(), p.UnknownRoutes()...); len(unknown) > 0 {
			d.t.Errorf("the simulated phone does not know %q", unknown)
		}
	})
	return p
}

// noPrograms finds no program.
type noPrograms struct{ device.Programs }

func (noPrograms) LookPath(string, []string) (string, error) { return "", fs.ErrNotExist }

// backend returns the backend of a run with short limits, which is closed at the end.
func (d *desk) backend() *backend {
	d.t.Helper()
	made, err := newBackend(device.Host{
		Values: d.values, Env: d.adb.Env(), Programs: noPrograms{}, Dir: d.folder, StateDir: d.folder,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	b := made.(*backend)
	b.limits.poll, b.limits.exit = 2*time.Millisecond, 300*time.Millisecond
	b.limits.unlock, b.limits.retry = 300*time.Millisecond, time.Millisecond
	b.limits.network = 100 * time.Millisecond
	d.t.Cleanup(func() { _ = b.Close(within(d.t)) })
	return b
}

func (d *desk) session() device.Session {
	return device.Session{ID: "1", Root: d.folder, Driver: "android-ondevice-accessibility", Log: d.log}
}

func (d *desk) log(level, message, hint string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logs = append(d.logs, level+": "+message+" | "+hint)
}

func (d *desk) logged(part string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Contains(strings.Join(d.logs, "\n"), part)
}

// open returns the driver of a session and the function that closes it and the run.
func (d *desk) open() (*driver, func()) {
	d.t.Helper()
	b := d.backend()
	opened, err := b.open(within(d.t), d.session())
	if err != nil {
		d.t.Fatal(err)
	}
	return opened.(*driver), func() {
		d.t.Helper()
		if err := errors.Join(opened.Close(within(d.t)), b.Close(within(d.t))); err != nil {
			d.t.Error(err)
		}
	}
}

// openFails returns the error of opening a session.
func (d *desk) openFails() error {
	d.t.Helper()
	b := d.backend()
	opened, err := b.open(within(d.t), d.session())
	if err == nil {
		_ = opened.Close(within(d.t))
		d.t.Fatal("no error")
	}
	return err
}

// wantFault fails unless err has a kind, and its message and hint contain texts.
func wantFault(t testing.TB, err error, kind fault.Kind, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	all := err.Error() + "\n" + strings.Join(fault.Hints(err), "\n")
	if fault.KindOf(err) != kind {
		t.Errorf("kind %q, want %q: %s", fault.KindOf(err), kind, all)
	}
	for _, text := range texts {
		if !strings.Contains(all, text) {
			t.Errorf("%q is missing in\n%s", text, all)
		}
	}
}

// wantRestored fails unless everything is as before the session.
func wantRestored(t testing.TB, d *desk, p *phones.Android) {
	t.Helper()
	for name, want := range map[string]string{
		"window_animation_scale": "1.0", "transition_animation_scale": "1.0", "animator_duration_scale": "1.0",
		"hidden_api_policy": "null", "hidden_api_policy_p_apps": "null", "airplane_mode_on": "0", "wifi_on": "1",
	} {
		if got := p.Setting("global", name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if p.ServerRunning() {
		t.Error("the UiAutomator2 server still runs")
	}
	for _, path := range []string{changesFile, serverTemp} {
		if _, err := p.Files().Stat(path); err == nil {
			t.Errorf("%s is left on the phone", path)
		}
	}
	if out, err := d.adb.Run(within(t), "forward", "--list"); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("forwarded ports: %q, %v", out, err)
	}
}

// call runs a command of the device.
func call(t testing.TB, d device.Device, name string, args map[string]any) tool.Result {
	t.Helper()
	result, err := d.Call(within(t), tool.Call{Tool: name, Args: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return result
}
