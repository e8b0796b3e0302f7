package ios

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// A simulator is booted for the run and shut down with it, unless it runs already.
func TestSimulatorIsBootedForTheRun(t *testing.T) {
	t.Parallel()
	for state, booted := range map[string]bool{"Shutdown": true, "Booted": false} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			p := startPhone(t)
			asSimulator(p)
			s := newSimctl(t)
			s.write(t, "list", fmt.Sprintf(`{"devices": {
				"com.apple.CoreSimulator.SimRuntime.iOS-18-2": [{"udid": "OLD", "name": "iPhone 15", "state": "Shutdown"}],
				"com.apple.CoreSimulator.SimRuntime.iOS-18-10": [{"udid": "NEW", "name": "iPhone 15", "state": %q}],
				"com.apple.CoreSimulator.SimRuntime.watchOS-11-0": [{"udid": "W", "name": "Watch", "state": "Booted"}]}}`, state))
			b := newTestBackend(t, map[string]string{"wdaUrl": p.URL(), "startDevice": "iPhone 15"}, s.path())
			if known, err := b.Identify(t.Context()); err != nil || known.ID != "NEW" {
				t.Errorf("before the session, the id is %q, %v", known.ID, err)
			}
			detail, err := b.Check(t.Context())
			if err != nil || strings.Contains(detail, "the simulator iPhone 15 (iOS 18.10, NEW) is started for a run") != booted {
				t.Errorf("%s %v", detail, err)
			}
			d, err := b.open(t.Context(), device.Session{})
			if err != nil {
				t.Fatal(err)
			}
			if id := d.Info().ID; id != "NEW" {
				t.Errorf("the id is %q", id)
			}
			if err := d.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(s.read(t, "calls"), "shutdown") {
				t.Error("it was shut down before the end of the run")
			}
			if err := b.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			calls := s.read(t, "calls")
			if strings.Contains(calls, "bootstatus NEW -b\n") != booted || strings.Contains(calls, "shutdown NEW\n") != booted {
				t.Error(calls)
			}
		})
	}
	s := newSimctl(t)
	s.write(t, "list", `{"devices": {"com.apple.CoreSimulator.SimRuntime.iOS-18-2": [{"udid": "OLD", "name": "iPhone 15", "state": "Shutdown"}]}}`)
	s.write(t, "bootstatus-fails", "")
	slow := newTestBackend(t, map[string]string{"startDevice": "iPhone 15"}, s.path())
	if _, err := slow.open(t.Context(), device.Session{}); err == nil || !strings.Contains(s.read(t, "calls"), "shutdown OLD\n") {
		t.Errorf("a simulator that did not start: %v, %s", err, s.read(t, "calls"))
	}
	if err := os.Remove(filepath.Join(s.folder, "bootstatus-fails")); err != nil {
		t.Fatal(err)
	}
	b := newTestBackend(t, map[string]string{"startDevice": "iPhone 15", "wdaUrl": "http://127.0.0.1:1"}, s.path())
	s.write(t, "calls", "")
	if _, err := b.Collect(t.Context(), device.CollectOptions{}); err == nil || !strings.Contains(s.read(t, "calls"), "bootstatus OLD -b\n") {
		t.Errorf("not booted before WebDriverAgent is asked: %v, %s", err, s.read(t, "calls"))
	}
	s = newSimctl(t, testUDID)
	_, err := newTestBackend(t, map[string]string{"startDevice": "iPhone 51"}, s.path()).Classifiers(t.Context())
	if e := fault.As(err); e == nil || e.Kind != fault.Misuse || !strings.Contains(e.Hint, `"iPhone 15"`) {
		t.Errorf("%v", err)
	}
}

// A program that writes more than is read ends, too.
func TestLongOutputOfSimctl(t *testing.T) {
	t.Parallel()
	s := newSimctl(t, testUDID)
	s.write(t, "listapps", strings.Repeat("x", maxOutput+1<<20))
	b := newTestBackend(t, nil, s.path())
	_, err := (&simulator{options: b.options, limits: b.limits, udid: testUDID}).apps(t.Context(), true)
	if err == nil || !strings.Contains(err.Error(), "simctl listapps wrote more than 16 MiB") {
		t.Error(err)
	}
}
