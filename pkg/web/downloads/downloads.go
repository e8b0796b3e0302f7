// Package downloads remembers the files that the pages of a session download, and keeps them with its evidence.
package downloads

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// maxSize is the size of the largest download that is kept, in bytes.
const maxSize = 64 << 20

// States of a download, as the protocol names them.
const (
	running   = "inProgress"
	completed = "completed"
	canceled  = "canceled"
)

// Downloads are those of a session. They may be used from any goroutine.
type Downloads struct {
	notes   *notes.Notes
	keep    func(device.Artifact) (string, error)
	changed func()

	mu   sync.Mutex
	list []*Download
}

// Download is a file that a page offered.
type Download struct {
	ID, Name, URL string
	Path          string // of the kept file
	Bytes         int
	SHA256        string // of the content, in hexadecimal
	Problem       string // why it was not kept; empty for no problem

	state   string
	handled bool // it was kept, or could not be
	awaited bool // Take has returned it
}

// New returns the downloads of a new session. keep writes a file into its evidence and returns the path; changed is
// called when a download begins or ends.
func New(n *notes.Notes, keep func(device.Artifact) (string, error), changed func()) *Downloads {
	return &Downloads{notes: n, keep: keep, changed: changed}
}

// Begin notes that a download has begun.
func (ds *Downloads) Begin(id, name, url string) {
	ds.mu.Lock()
	ds.list = append(ds.list, &Download{ID: id, Name: name, URL: url, state: running})
	ds.mu.Unlock()
	ds.notes.Add(notes.Download, "%s from %s", name, url)
	ds.changed()
}

// Progress notes the state of a download, and the bytes that have arrived. Downloads of other sessions are ignored.
func (ds *Downloads) Progress(id, state string, bytes int) {
	ds.mu.Lock()
	i := slices.IndexFunc(ds.list, func(d *Download) bool { return d.ID == id })
	ended := i >= 0 && state != running && ds.list[i].state == running
	var name string
	if ended {
		ds.list[i].state = state
		name = ds.list[i].Name
	}
	ds.mu.Unlock()
	if ended {
		ds.notes.Add(notes.Download, "%s is %s, %s", name, state, text.Count(bytes, "byte"))
		ds.changed()
	}
}

// Keep moves completed downloads from the folder of a browser to the session's evidence. folder is empty for a browser
// that keeps them itself.
func (ds *Downloads) Keep(folder, browser string) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, d := range ds.list {
		if d.handled || d.state != completed {
			continue
		}
		d.handled = true
		if folder == "" {
			d.Problem = "the browser at " + browser + " keeps its downloads itself"
			continue
		}
		path := filepath.Join(folder, d.ID)
		if err := d.move(path, ds.keep); err != nil {
			d.Problem = err.Error()
			ds.notes.Add(notes.Download, "%s was not kept: %v", d.Name, err)
		}
		_ = os.Remove(path)
	}
}

// move keeps the file at path.
func (d *Download) move(path string, keep func(device.Artifact) (string, error)) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxSize {
		return fmt.Errorf("it is larger than %d MiB", maxSize>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(data)
	d.Bytes, d.SHA256 = len(data), hex.EncodeToString(hash[:])
	d.Path, err = keep(device.Artifact{Name: filepath.Base(filepath.Clean("/" + d.Name)), Data: data, Foreign: true})
	return err
}

// Running returns the names of the downloads that have not ended.
func (ds *Downloads) Running() (names []string) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, d := range ds.list {
		if d.state == running {
			names = append(names, d.Name)
		}
	}
	return names
}

// Take copies the first download that ended, matches, and was not taken before.
func (ds *Downloads) Take(to *Download, matches func(*Download) bool) bool {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, d := range ds.list {
		if !d.awaited && (d.handled || d.Canceled()) && matches(d) {
			d.awaited = true
			*to = *d
			return true
		}
	}
	return false
}

// Canceled reports whether the page or a person canceled it.
func (d *Download) Canceled() bool { return d.state == canceled }

// String lists the downloads in words.
func (ds *Downloads) String() string {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	var words []string
	for _, d := range ds.list {
		state := d.state
		switch {
		case d.awaited:
			state = "returned before"
		case state == running:
			state = "still running"
		}
		words = append(words, fmt.Sprintf("%s from %s (%s)", d.Name, d.URL, state))
	}
	return text.Seen("download", words)
}
