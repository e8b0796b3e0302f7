package ios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// A recording that runs is ended with the session, and leaves no file.
func TestRecordingOfASimulator(t *testing.T) {
	t.Parallel()
	p := startPhone(t)
	asSimulator(p)
	s := newSimctl(t, testUDID)
	folder := t.TempDir()
	b := newTestBackend(t, map[string]string{"wdaUrl": p.URL()}, s.path(), "TMPDIR="+folder)
	b.limits.call = time.Minute // for node to start
	made, err := b.open(t.Context(), device.Session{})
	if err != nil {
		t.Fatal(err)
	}
	d, ok := made.(*driver)
	if !ok {
		t.Fatalf("%T", made)
	}
	for range 2 {
		if err := d.StartRecording(t.Context()); err != nil {
			t.Fatal(err)
		}
		if video, err := d.StopRecording(t.Context()); err != nil || string(video) != "a video" {
			t.Errorf("%q %v", video, err)
		}
	}
	if err := d.StartRecording(t.Context()); err != nil {
		t.Fatal(err)
	}
	recorder := d.recorder
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-recorder.Done()
	if left, err := filepath.Glob(folder + "/*"); err != nil || len(left) > 0 {
		t.Errorf("left: %q %v", left, err)
	}
	if calls := s.read(t, "calls"); !strings.Contains(calls, "io "+testUDID+" recordVideo --codec=h264 --force ") {
		t.Error(calls)
	}
	if err := os.WriteFile(filepath.Join(s.folder, "norecording"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	made, err = b.open(t.Context(), device.Session{})
	if err != nil {
		t.Fatal(err)
	}
	if d, ok = made.(*driver); ok {
		if err := d.StartRecording(t.Context()); err == nil || !strings.Contains(err.Error(), "Unable to record") {
			t.Errorf("%v", err)
		}
	}
	if err := made.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
