package live

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

const (
	// RecordingName is the file with the recording in the folder of a session.
	RecordingName = "recording.trail.yaml"
	// openName is a file in the folder of a session that is locked while the session is open.
	openName = ".open"
)

// keptRecording is the recording in the folder of the session, where it is found when the process is killed.
type keptRecording struct {
	mu    sync.Mutex
	text  string // that of the session
	given bool   // it is one that a caller has, which contains that of the session
	left  bool   // it is to be recovered after the session was closed
}

// keep writes the recording into the folder of the session, unless a caller has one. The session works without it.
func (s *Session) keep() {
	if s.dir == "" || len(s.walk.Root.Steps) == 0 {
		return
	}
	data, err := trail.Format(s.file(s.walk.Root, "", "", false))
	text := s.text(string(data))
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	if err != nil || s.kept.given || text == s.kept.text {
		return
	}
	if err = s.writeKept(text); err == nil {
		s.kept.text = text
	}
}

func (s *Session) writeKept(text string) error {
	return files.Replace(filepath.Join(s.dir, RecordingName), func(f *os.File) error {
		_, err := io.WriteString(f, text)
		return errors.Join(err, f.Chmod(0o600))
	})
}

// keepText keeps a recording that the caller has. From then on, the session writes none of its own over it.
func (s *Session) keepText(recording []byte) error {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	s.kept.given = true
	switch {
	case s.dir == "":
		return nil
	case recording == nil:
		err := os.Remove(filepath.Join(s.dir, RecordingName))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return s.writeKept(s.text(string(recording)))
}

// markOpen marks the folder of the session until it is closed.
func (s *Session) markOpen() {
	if s.dir != "" {
		s.open, _ = files.Lock(filepath.Join(s.dir, openName), false)
	}
}

func (s *Session) markClosed() {
	if s.open == nil {
		return
	}
	_ = s.open.Close()
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	if !s.kept.left {
		_ = os.Remove(filepath.Join(s.dir, openName))
	}
}

// RecoverRecordings returns [LostRecordings]. Each is returned once.
func RecoverRecordings(logsDir string) []string {
	lost := LostRecordings(logsDir)
	for _, path := range lost {
		ForgetRecording(path)
	}
	return lost
}

// ForgetRecording has [LostRecordings] no longer return a recording of a session that is closed. The file stays.
func ForgetRecording(path string) { _ = os.Remove(filepath.Join(filepath.Dir(path), openName)) }

// LostRecordings returns the recordings, as paths, of sessions whose processes were killed, and of those that were closed
// after [RedactedSession.LeaveDraft], the newest last.
func LostRecordings(logsDir string) []string {
	lost := map[string]time.Time{}
	marks, _ := filepath.Glob(filepath.Join(logsDir, "*", openName))
	for _, mark := range marks {
		held, err := files.Lock(mark, false)
		if err != nil {
			continue // its session is open
		}
		_ = held.Close()
		_ = os.Remove(filepath.Join(filepath.Dir(mark), callbacksName))
		path := filepath.Join(filepath.Dir(mark), RecordingName)
		if info, err := os.Stat(path); err == nil {
			lost[path] = info.ModTime()
		} else {
			ForgetRecording(path)
		}
	}
	return slices.SortedFunc(maps.Keys(lost), func(a, b string) int {
		return cmp.Or(lost[a].Compare(lost[b]), cmp.Compare(a, b))
	})
}
