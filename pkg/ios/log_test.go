package ios

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// watched is a user whose session notes what happens on the device.
type watched struct {
	user
	mu    sync.Mutex
	noted []string
}

func watch(t *testing.T, p *phones.IPhone, env ...string) *watched {
	t.Helper()
	w := &watched{}
	d := newTestBackend(t, map[string]string{"wdaUrl": p.URL()}, env...).Open(device.Session{
		Driver: "ios-axe", AppID: app.ShopID, Root: t.TempDir(), Log: (&logs{}).add,
		Noted: func(kind, text string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.noted = append(w.noted, kind+": "+text)
		},
	})
	w.user = user{t, d}
	t.Cleanup(func() { _ = d.Close(t.Context()) })
	return w
}

// fails makes a call that fails at once, and returns why.
func (w *watched) fails() string {
	w.Helper()
	r, err := w.device.Call(w.Context(), tool.Call{Tool: "tap", Args: map[string]any{"text": "Nowhere", "timeoutMs": 1}})
	if err != nil || r.OK {
		w.Fatalf("%v %s", err, r.Text)
	}
	return r.Text
}

// artifact returns the text of a file of the evidence.
func (w *watched) artifact(name string) string {
	for _, a := range w.device.Evidence(w.Context()) {
		if a.Name == name {
			return string(a.Data)
		}
	}
	return ""
}

// A phone has no log for WebDriverAgent. That the app ended by itself is known, and is the reason.
func TestAppThatEnded(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	w := watch(t, p)
	start := map[string]any{"launchMode": "FORCE_RESTART"}
	const ended = "the app com.example.shop does not run any more: it crashed, or the system ended it"
	for range 2 {
		w.call("launchApp", start)
		if text := w.fails(); strings.Contains(text, ended) {
			t.Errorf("while it runs: %s", text)
		}
		p.App.Crash()
		if text := w.fails(); !strings.HasPrefix(text, ended+"\n") {
			t.Errorf("after the crash: %s", text)
		}
	}
	if len(w.noted) != 2 || w.noted[0] != "crash: "+ended {
		t.Errorf("noted %q", w.noted)
	}
	about := w.artifact("device.txt")
	if !strings.Contains(about, ended) || !strings.Contains(about, "No log of the app: WebDriverAgent does not give the log of a phone") {
		t.Error(about)
	}
	w.call("launchApp", start)
	w.call("stopApp", nil)
	if text := w.fails(); strings.Contains(text, ended) {
		t.Errorf("after stopApp: %s", text)
	}
}

func TestLogOfSimulator(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	asSimulator(p)
	s := newSimctl(t, testUDID)
	if err := os.MkdirAll(s.bundle(), 0o700); err != nil { // the app is installed
		t.Fatal(err)
	}
	s.write(t, "spawn", "Timestamp               Ty Process[PID:TID]\n2026-03-01 12:00:00.200 E  Shop[4321:1a2b3c] [com.example.shop:net] cannot connect\n"+
		"2026-03-01 12:00:00.300 Df backboardd[60:aa] other\n"+
		"2026-03-01 12:00:01.000 F  Shop[4321:1a2b3c] Shop/Orders.swift:12: Fatal error: Index out of range\n")
	home := t.TempDir()
	w := watch(t, p, s.path(), "HOME="+home)
	w.call("launchApp", map[string]any{"launchMode": "FORCE_RESTART"})
	if text := w.fails(); strings.Contains(text, "crashed") || strings.Contains(s.read(t, "calls"), "spawn") {
		t.Errorf("while it runs, the log was read: %s", text)
	}
	p.App.Crash()
	const crash = "the app com.example.shop crashed: Fatal error: Index out of range at Shop/Orders.swift:12"
	if text := w.fails(); !strings.HasPrefix(text, crash+"\n") {
		t.Errorf("after the crash: %s", text)
	}
	if log := w.artifact("device.log"); !strings.Contains(log, "cannot connect") || strings.Contains(log, "backboardd") {
		t.Error(log)
	}
	w.call("launchApp", map[string]any{"launchMode": "FORCE_RESTART"})
	if about := w.artifact("device.txt"); !strings.Contains(about, crash) || len(w.noted) != 1 {
		t.Errorf("%s; noted %q", about, w.noted)
	}
	folder := filepath.Join(home, "Library", "Logs", "DiagnosticReports")
	report := `{"bundleID":"com.example.shop"}` + "\n" + `{"pid":4321,"exception":{"type":"EXC_CRASH","signal":"SIGABRT"},"coalitionName":"com.apple.CoreSimulator.SimDevice.` + testUDID + `"}`
	for name, text := range map[string]string{"Shop-1.ips": report, "Shop-2.ips": strings.ReplaceAll(report, testUDID, "ANOTHER"), "Shop-3.txt": report} {
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if about := w.artifact("device.txt"); !strings.Contains(about, "the app com.example.shop crashed: EXC_CRASH (SIGABRT)") || len(w.noted) != 1 {
		t.Errorf("%s; noted %q", about, w.noted)
	}
	const asked = `spawn 0F1E-BOOTED log show --style compact --info --start 20`
	if calls := s.read(t, "calls"); !strings.Contains(calls, asked) || !strings.Contains(calls, `processImagePath CONTAINS "/Shop.app/"`) {
		t.Error(calls)
	}
}
