package history

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/report"
)

const (
	maxKnown = 16       // sessions whose names of files are kept
	maxFile  = 64 << 20 // bytes of a file that is served
)

// knownFiles has the names of files that moments have, of the sessions that were opened last.
type knownFiles struct {
	mu       sync.Mutex
	sessions []sessionFiles // the one that was opened last is the last
}

type sessionFiles struct {
	session string
	names   map[string]bool
}

func (k *knownFiles) set(session string, names map[string]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var kept []sessionFiles
	for _, s := range k.sessions {
		if s.session != session {
			kept = append(kept, s)
		}
	}
	kept = append(kept, sessionFiles{session, names})
	k.sessions = kept[max(0, len(kept)-maxKnown):]
}

// get returns the names of a session's files, nil if they are not known.
func (k *knownFiles) get(session string) map[string]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.sessions {
		if s.session == session {
			return s.names
		}
	}
	return nil
}

// files returns the names of the files that moments have.
func (p *Past) files() map[string]bool {
	names := map[string]bool{}
	for _, m := range p.Moments {
		for _, name := range []string{m.Before, m.After, m.Tree} {
			if name != "" {
				names[name] = true
			}
		}
	}
	return names
}

// ServeFile serves a file that a moment of a session has, at the session, a slash, and its name: a picture, or a text. It
// answers 404 for all others. The content decides which type it gets, and what is not a picture is plain text.
func (h *History) ServeFile(w http.ResponseWriter, r *http.Request, path string) {
	session, dir, name := h.split(path)
	if dir == "" {
		http.NotFound(w, r)
		return
	}
	names := h.known.get(session)
	if names == nil {
		if p, err := h.Open(session); err == nil {
			names = p.files()
		}
	}
	if !names[name] {
		http.NotFound(w, r)
		return
	}
	file, err := report.OpenFile(dir, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		http.Error(w, "the file could not be read", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType(data))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "private, max-age=3600")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// split returns the session, its folder, and the name of its file: there may be folders around the session and the file.
// All are empty if the path names no session.
func (h *History) split(path string) (session, dir, name string) {
	for i := range path {
		if path[i] != '/' {
			continue
		}
		if dir, err := h.dir(path[:i]); err == nil && isSession(dir) {
			return path[:i], dir, path[i+1:]
		}
	}
	return "", "", ""
}

// isSession reports whether a folder is that of a session.
func isSession(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, report.EventsFile))
	return err == nil && info.Mode().IsRegular()
}

// contentType returns the type of a picture, or that of plain text.
func contentType(data []byte) string {
	switch found := http.DetectContentType(data); found {
	case "image/png", "image/jpeg", "image/webp", "image/gif":
		return found
	}
	return "text/plain; charset=utf-8"
}
