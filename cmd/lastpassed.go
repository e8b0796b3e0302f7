package cmd

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/session"
)

const (
	maxPassedSessions = 5
	maxPassedLog      = 64 << 20 // of a session, in bytes
	maxPassedScreen   = 4 << 20
)

// passedScreens returns the screens, in the text form, that the newest sessions have kept in which a trail passed. path is
// that of the trail as events have it.
func passedScreens(logsDir, path string) []string {
	sessions, _ := sessionFolders(logsDir) // without them, nothing is known
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".trail")
	var screens []string
	found := 0
	for _, s := range sessions {
		if found == maxPassedSessions {
			break
		}
		dir := filepath.Join(logsDir, s.name)
		if name != "trail" && !strings.HasPrefix(s.name, session.FileName(name)+"_") || !hasPassed(dir, path) {
			continue
		}
		if kept := keptScreens(dir); len(kept) > 0 {
			screens = append(screens, kept...)
			found++
		}
	}
	return screens
}

// hasPassed reports whether a trail passed in the session with a folder.
func hasPassed(dir, path string) bool {
	data, err := files.Read(filepath.Join(dir, "events.ndjson"), maxPassedLog)
	if err != nil {
		return false
	}
	passed, finished := false, event.TrailFinished{}.Type()
	for line := range bytes.Lines(data) {
		var e struct{ Type, File, Outcome string }
		if bytes.Contains(line, []byte(finished)) && json.Unmarshal(line, &e) == nil && e.Type == finished {
			passed = e.File == path && e.Outcome == string(event.Passed)
		}
	}
	return passed
}

// keptScreens returns the texts of the screens in the folder of a session: those of the trace and of the evidence.
func keptScreens(dir string) []string {
	var screens []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // unreadable folders are left out
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "screen") || filepath.Ext(path) != ".txt" {
			return nil //nolint:nilerr // as above
		}
		if data, err := files.Read(path, maxPassedScreen); err == nil {
			screens = append(screens, string(data))
		}
		return nil
	})
	return screens
}
