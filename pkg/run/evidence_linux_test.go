package run_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// fullLog is a session log on a full disk: it can be opened, and not written.
func fullLog(t *testing.T) func(path string, onError func(error)) run.SessionLog {
	t.Helper()
	return func(path string, onError func(error)) run.SessionLog {
		if err := os.Symlink("/dev/full", path); err != nil {
			t.Error(err)
		}
		return report.NewSessionLog(path, onError)
	}
}

func TestFullDiskIsOneWarning(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ok   bool
		code int
	}{"passed": {true, fault.ExitPassed}, "failed": {false, fault.ExitFailed}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen records
			o := options(t, &seen, call("ours", "ours"))
			o.OpenLog, o.Paths = fullLog(t), []string{"a.trail.yaml", "a.trail.yaml"}
			o.Builtins = builtins("ours", func(tool.Call) tool.Result { return tool.Result{OK: tc.ok, Kind: fault.ToolFailed} })
			summary, err := run.Run(t.Context(), o)
			if err != nil || summary.ExitCode != tc.code || summary.Passed+summary.RunFinished.Failed != 2 {
				t.Errorf("%v, %+v", err, summary)
			}
			var warnings []string
			for _, e := range seen.events {
				if l, ok := e.Event.(event.Log); ok {
					warnings = append(warnings, l.Level+": "+l.Message)
				}
			}
			if len(warnings) != 1 || !strings.Contains(warnings[0], "warn: evidence cannot be written") || !strings.Contains(warnings[0], "no space left") {
				t.Errorf("want one warning, got %q", warnings)
			}
		})
	}
}

func TestUnwritableServerLogsAreOneWarning(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, call("one"), "one", "two")
	o.OpenLog, o.Paths = fullLog(t), []string{"a.trail.yaml", "a.trail.yaml"}
	o.Launch = func(ctx context.Context, l session.Launch) (server.Link, error) {
		l.Unwritable(&os.PathError{Op: "write", Path: l.LogPath, Err: syscall.ENOSPC})
		return launch(ctx, l)
	}
	if summary, err := run.Run(t.Context(), o); err != nil || summary.Passed != 2 {
		t.Errorf("%v, %+v", err, summary)
	}
	var warnings []string
	for _, e := range seen.events {
		if l, ok := e.Event.(event.Log); ok {
			warnings = append(warnings, l.Level+": "+l.Message)
		}
	}
	if len(warnings) != 1 || !strings.HasSuffix(warnings[0], ".log: no space left on device") {
		t.Errorf("want one warning that names a server's log, got %q", warnings)
	}
}

func TestSessionFoldersArePrivate(t *testing.T) {
	t.Parallel()
	var seen records
	o := options(t, &seen, call("one"), "one")
	if summary, err := run.Run(t.Context(), o); err != nil || summary.Passed != 1 {
		t.Fatalf("%v, %+v", err, summary)
	}
	dirs, err := filepath.Glob(filepath.Join(o.Project.LogsDir, "a_*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("session folders %v, %v", dirs, err)
	}
	info, err := os.Stat(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("%s has the permissions %o, want 700", dirs[0], info.Mode().Perm())
	}
}
