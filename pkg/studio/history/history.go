// Package history has the finished sessions below a folder, as the page of the studio looks back at them. It reads what
// sessions have left, also those that were killed, of other versions, or copied from another machine: it takes nothing in
// their logs for granted, and bounds what it returns. Its functions may be called from any goroutine.
package history

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/text"
)

const (
	maxListed  = 200    // sessions that List returns
	maxFolders = 20_000 // folders that List enters
	maxDepth   = 5      // of folders below the folder of logs
	headBytes  = 64 << 10
	tailBytes  = 256 << 10 // the last event may have a reason of some length
	maxTitle   = 300       // bytes
)

// History has the sessions below a folder, such as the logsDir of a project.
type History struct {
	logsDir string
	known   knownFiles
}

// New returns the sessions below logsDir, which need not exist.
func New(logsDir string) *History { return &History{logsDir: logsDir} }

// Unfinished is the outcome of a trail that did not end.
const Unfinished = "unfinished"

// Summary is a session in a list.
type Summary struct {
	Session string    `json:"session"` // its folder, relative to the folder of logs, with slashes
	Title   string    `json:"title"`   // of the trail, else the name of its folder
	Outcome string    `json:"outcome"` // of the trail, or Unfinished; empty for a session without a trail
	When    time.Time `json:"when"`    // of its first event
	Device  string    `json:"device"`  // or its driver
}

// List returns the newest sessions, the newest first, at most 200. It reads the beginning and the end of their logs only.
// Folders that cannot be read are left out.
func (h *History) List() []Summary {
	found := h.folders()
	found = found[:min(len(found), maxListed)]
	list := make([]Summary, 0, len(found))
	for _, f := range found {
		if s, ok := h.summary(f); ok {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b Summary) int { return b.When.Compare(a.When) })
	return list
}

// folder is a folder with a log.
type folder struct {
	session string
	changed time.Time // the log
}

// folders returns the folders with a log, the one that was changed last first. It follows no links.
func (h *History) folders() []folder {
	var found []folder
	entered := 0
	_ = filepath.WalkDir(h.logsDir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return nil //nolint:nilerr // what cannot be read is left out
		case entered == maxFolders:
			return fs.SkipAll
		}
		entered++
		session, err := filepath.Rel(h.logsDir, path)
		if err != nil {
			return nil //nolint:nilerr // path is below logsDir
		}
		session = filepath.ToSlash(session)
		if info, err := os.Stat(filepath.Join(path, report.EventsFile)); err == nil && info.Mode().IsRegular() && session != "." {
			found = append(found, folder{session, info.ModTime()})
			return fs.SkipDir
		}
		if strings.Count(session, "/")+1 == maxDepth {
			return fs.SkipDir
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b folder) int { return b.changed.Compare(a.changed) })
	return found
}

// summary reads what a list says of a session. It reports false for a log without an event.
func (h *History) summary(f folder) (s Summary, ok bool) {
	s = Summary{Session: f.session, Title: nameOf(f.session), When: f.changed}
	file, err := report.OpenFile(filepath.Join(h.logsDir, filepath.FromSlash(f.session)), report.EventsFile)
	if err != nil {
		return s, false
	}
	defer file.Close()
	head, _ := io.ReadAll(io.LimitReader(file, headBytes))
	if info, err := file.Stat(); err == nil {
		_, _ = file.Seek(max(0, info.Size()-tailBytes), io.SeekStart)
	}
	tail, _ := io.ReadAll(io.LimitReader(file, tailBytes))
	for line := range bytes.Lines(head) {
		if first, err := event.Decode(line); err == nil {
			s.When, ok = first.Time, true
			break
		}
	}
	if e, found := find[event.TrailStarted](head); found {
		s.Title, s.Device, s.Outcome = title(e.Title, e.File, s.Title), oneLine(cmp.Or(e.Device, e.Driver)), Unfinished
	}
	if e, found := find[event.TrailFinished](tail); found {
		s.Title, s.Device, s.Outcome = title(e.Title, e.File, s.Title), oneLine(cmp.Or(e.Device, s.Device)), outcome(&e)
		ok = true
	}
	return s, ok
}

// find returns the first event of a type in a part of a log.
func find[T event.Event](log []byte) (found T, ok bool) {
	name := []byte(`"` + found.Type() + `"`)
	for line := range bytes.Lines(log) {
		if !bytes.Contains(line, name) {
			continue
		}
		if record, err := event.Decode(line); err == nil {
			if found, ok = record.Event.(T); ok {
				return found, true
			}
		}
	}
	return found, false
}

// nameOf returns the name of a session's folder without the time and the random part that session.NewID adds.
func nameOf(session string) string {
	name := session[strings.LastIndexByte(session, '/')+1:]
	if parts := strings.Split(name, "_"); len(parts) > 2 {
		return strings.Join(parts[:len(parts)-2], "_")
	}
	return name
}

// title returns the first of a trail's title, its file and the name of its session that is not empty, as one line.
func title(titles ...string) string { return oneLine(cmp.Or(titles...)) }

// oneLine returns s as one line of limited length.
func oneLine(s string) string {
	return strings.Join(strings.Fields(report.Clean(text.HeadBytes(s, maxTitle))), " ")
}

// outcome returns the outcome of a trail, as this version knows it.
func outcome(e *event.TrailFinished) string {
	switch {
	case e == nil:
		return Unfinished
	case slices.Contains([]event.Outcome{event.Passed, event.Failed, event.Error, event.Skipped}, e.Outcome):
		return string(e.Outcome)
	}
	return Unfinished
}
