// Package watch tells that files changed: files that are named, and whatever lies below named folders, also what appears there
// later. It refuses to know what the files are for. Folders called like those that tools fill (node_modules, build and the like) or
// with a dot in front are left out, unless they are named themselves; so are the files that editors write beside those they edit.
// Links are not followed, but for those that are named.
//
// A Watcher may be used from any goroutine. Nothing of it is left after Close.
package watch

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

const (
	// Quiet is how long nothing may change before a change is told: editors and version control write several files at once.
	Quiet = 100 * time.Millisecond
	// patience is the longest that a change is held back while more follow.
	patience = time.Second
)

// Change is what changed since the one before.
type Change struct {
	Paths []string  // absolute, sorted; of files that changed, appeared or went, and of folders that went with what was in them
	All   bool      // the system could not keep up: anything may have changed
	Since time.Time // when the first of them was seen
	Err   error     // nothing is watched any more, and why: a limit, or a mistake of ours; the last change
}

// Watcher watches files and folders.
type Watcher struct {
	system  notifier
	changes chan Change
	orders  chan order
	quit    chan struct{}
	running sync.WaitGroup
	ended   chan struct{} // closed when nothing is watched any more
	why     error         // of that; for all when ended is closed

	// What follows belongs to one goroutine.
	named  map[string]bool // paths that were asked for
	whole  map[string]bool // folders in which everything counts
	except []string
	batch  batch
	broken error // why it has to end
}

// notifier is what the system tells of single folders.
type notifier interface {
	Add(folder string) error
	Remove(folder string) error
	Close() error
}

// heard is what a notifier says: an event, or an error.
type heard struct {
	event fsnotify.Event
	err   error
}

type order struct {
	paths, except []string
	err           chan<- error
}

// New starts to watch nothing; see Watch.
func New() (*Watcher, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, limit(err)
	}
	return start(system, system.Events, system.Errors), nil
}

func start(system notifier, events <-chan fsnotify.Event, errs <-chan error) *Watcher {
	w := &Watcher{
		system: system, changes: make(chan Change), orders: make(chan order),
		quit: make(chan struct{}), ended: make(chan struct{}), named: map[string]bool{}, whole: map[string]bool{},
	}
	queued := make(chan heard)
	w.running.Go(func() { w.listen(events, errs, queued) })
	w.running.Go(func() { w.run(queued) })
	return w
}

// listen takes what the system says at once: it may have to say it before it watches another folder.
func (w *Watcher) listen(events <-chan fsnotify.Event, errs <-chan error, to chan<- heard) {
	var queue []heard
	for {
		var out chan<- heard
		var first heard
		if len(queue) > 0 {
			out, first = to, queue[0]
		}
		select {
		case <-w.quit:
			return
		case e := <-events:
			queue = append(queue, heard{event: e})
		case err := <-errs:
			queue = append(queue, heard{err: err})
		case out <- first:
			queue = queue[1:]
		}
	}
}

// Changes tells of changes. Those that nobody has taken yet become one.
func (w *Watcher) Changes() <-chan Change { return w.changes }

// Watch watches more absolute paths, files and folders with all that is below them, but for those of except, in place of what was left
// out before. What does not exist is watched for as long as the folder that it would be in exists. The error, a *fault.Error, says which
// limit of the system is reached and how to raise it.
func (w *Watcher) Watch(paths, except []string) error {
	err := make(chan error, 1)
	select {
	case w.orders <- order{paths, except, err}:
	case <-w.ended:
		return w.why
	}
	select {
	case e := <-err:
		return e
	case <-w.ended:
		return w.why
	}
}

// Close ends everything and waits for it. It must be called once.
func (w *Watcher) Close() error {
	close(w.quit)
	w.running.Wait()
	return w.system.Close()
}

// run works until there is an end, and tells why.
func (w *Watcher) run(queued <-chan heard) {
	err := w.work(queued)
	w.why = cmp.Or(err, errClosed)
	close(w.ended)
	if err == nil {
		return
	}
	select {
	case <-w.quit:
	case w.changes <- Change{Err: err}:
	}
}

// work is all that is done with the system's news, until Close. The error is why no more can be done.
func (w *Watcher) work(queued <-chan heard) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked(p)
		}
	}()
	for w.broken == nil {
		var out chan<- Change
		var ripe <-chan time.Time
		change, wait := w.batch.change(time.Now())
		switch {
		case wait == 0:
			out = w.changes
		case wait > 0:
			ripe = time.After(wait)
		}
		select {
		case <-w.quit:
			return nil
		case o := <-w.orders:
			o.err <- w.obey(o)
		case h := <-queued:
			w.hear(h)
		case <-ripe:
		case out <- change:
			w.batch = batch{}
		}
	}
	return w.broken
}

var errClosed = errors.New("nothing is watched any more")

func (w *Watcher) hear(h heard) {
	switch {
	case h.err == nil:
		w.fail(w.happened(h.event))
	case errors.Is(h.err, fsnotify.ErrEventOverflow):
		w.batch.all = true
		w.batch.note(time.Now())
		for folder := range w.named { // folders may have come unheard
			w.fail(w.watchTree(folder, nil))
		}
	default:
		w.fail(limit(h.err))
	}
}

func (w *Watcher) fail(err error) {
	if w.broken == nil {
		w.broken = err
	}
}

func (w *Watcher) obey(o order) error {
	before := w.except
	w.except = nil
	for _, path := range o.except {
		w.except = append(w.except, filepath.Clean(path))
	}
	for _, path := range w.except {
		w.forget(path)
	}
	for _, path := range before { // it may count now
		if w.whole[filepath.Dir(path)] && !w.ignored(path, true) {
			if err := w.watchTree(path, nil); err != nil {
				return err
			}
		}
	}
	for _, path := range o.paths {
		path = filepath.Clean(path)
		if w.named[path] {
			continue
		}
		w.named[path] = true
		if err := w.watchNamed(path); err != nil {
			return err
		}
	}
	return nil
}

// watchNamed watches a path, and the folder that it is in: files are replaced by others of their name more often than they are
// written, and folders removed and made anew.
func (w *Watcher) watchNamed(path string) error {
	if err := w.watchTree(path, nil); err != nil {
		return err
	}
	return onlyLimit(w.system.Add(filepath.Dir(path)))
}

// watchTree watches a folder and those below it, and tells found of the files in them. Other paths, and what cannot be read, are
// left alone.
func (w *Watcher) watchTree(folder string, found func(file string)) error {
	if !isFolder(folder) {
		return nil
	}
	if err := w.system.Add(folder); err != nil {
		return onlyLimit(err)
	}
	w.whole[folder] = true
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		switch path := filepath.Join(folder, e.Name()); {
		case w.ignored(path, e.IsDir()):
		case e.IsDir():
			if err := w.watchTree(path, found); err != nil {
				return err
			}
		case found != nil:
			found(path)
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeSymlink
}

// happened takes in an event.
func (w *Watcher) happened(e fsnotify.Event) error {
	path := filepath.Clean(e.Name)
	if !e.Has(fsnotify.Create) && !e.Has(fsnotify.Write) && !e.Has(fsnotify.Remove) && !e.Has(fsnotify.Rename) {
		return nil // another owner, date or mode
	}
	if !w.counts(path) || w.whole[path] && e.Op == fsnotify.Write {
		return nil
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		w.forget(path)
	}
	folder, gone := isFolder(path) && (w.named[path] || !isLink(path)), !e.Has(fsnotify.Create) && !e.Has(fsnotify.Write)
	if w.ignored(path, folder) || gone && w.ignored(path, true) { // nobody knows what it was
		return nil
	}
	w.batch.see(path, e.Has(fsnotify.Create))
	if !folder {
		return nil
	}
	return w.watchTree(path, func(file string) { w.batch.see(file, true) })
}

// counts tells whether a path is watched, as a file or a folder.
func (w *Watcher) counts(path string) bool {
	return w.named[path] || w.whole[path] || w.whole[filepath.Dir(path)] && !w.ignored(path, false)
}

// forget stops watching a folder that is gone, or has another name now.
func (w *Watcher) forget(folder string) {
	for below := range w.whole {
		if within(below, folder) {
			delete(w.whole, below)
			_ = w.system.Remove(below) // gone already, most of the time
		}
	}
}

func (w *Watcher) ignored(path string, isFolder bool) bool {
	if w.named[path] {
		return false
	}
	name := filepath.Base(path)
	if isFolder && ignoredFolder(name) || !isFolder && ofEditor(name) {
		return true
	}
	return slices.ContainsFunc(w.except, func(left string) bool { return within(path, left) })
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// ignoredFolder tells the folders that tools fill.
func ignoredFolder(name string) bool {
	switch name {
	case "node_modules", "build", "dist", "__pycache__":
		return true
	}
	return strings.HasPrefix(name, ".") // .git, .gradle, .venv, .cache
}

// ofEditor tells the files that editors write beside those they edit: of vim, emacs, JetBrains and others.
func ofEditor(name string) bool {
	switch filepath.Ext(name) {
	case ".swp", ".swx", ".swo", ".tmp":
		return true
	}
	return name == "4913" || strings.HasSuffix(name, "~") || strings.HasPrefix(name, ".#") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") || strings.HasSuffix(name, "___jb_tmp___") || strings.HasSuffix(name, "___jb_old___")
}
