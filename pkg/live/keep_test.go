package live_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live"
)

func TestRecordingIsKeptAfterEachStep(t *testing.T) {
	t.Parallel()
	f := open(t)
	status, err := f.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(status.Folder, live.RecordingName)
	for text, want := range map[string]string{"Open": "step Open: launchApp"} {
		f.step(text, call("launchApp"))
		data, err := os.ReadFile(path)
		if err != nil || inShort(t, string(data)) != want {
			t.Errorf("%v\n%s", err, data)
		}
	}
	if lost := live.RecoverRecordings(filepath.Join(f.root, "logs")); len(lost) > 0 {
		t.Errorf("the session is open, but these are lost: %q", lost)
	}
	f.Close(t.Context())
	if lost := live.RecoverRecordings(filepath.Join(f.root, "logs")); len(lost) > 0 {
		t.Errorf("the session was closed, but these are lost: %q", lost)
	}
	if err := os.WriteFile(filepath.Join(status.Folder, ".open"), nil, 0o600); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	if lost := live.RecoverRecordings(filepath.Join(f.root, "logs")); !slices.Equal(lost, []string{path}) {
		t.Errorf("lost %q", lost)
	}
	if lost := live.RecoverRecordings(filepath.Join(f.root, "logs")); len(lost) > 0 {
		t.Errorf("named twice: %q", lost)
	}
}

// TestGivenRecordingIsKept keeps what the caller has recorded, without secrets, until it says that nothing is left.
func TestGivenRecordingIsKept(t *testing.T) {
	t.Parallel()
	f := open(t)
	path := filepath.Join(f.Folder(), live.RecordingName)
	if err := f.SaveDraft(nil); err != nil {
		t.Error(err)
	}
	if err := f.SaveDraft([]byte("trail: 98761234\n")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	f.step("Open", call("launchApp")) // is in the caller's recording, too
	if data, err := os.ReadFile(path); err != nil || string(data) != "trail: {{PIN}}\n" {
		t.Errorf("%s %v", data, err)
	}
	if err := f.SaveDraft(nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("it is left: %v", err)
	}
	if got := f.Lineage(); !slices.Equal(got, []string{"web"}) {
		t.Errorf("%q", got)
	}
}
