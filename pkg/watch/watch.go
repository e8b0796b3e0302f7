// Package watch reports changes of files: of named ones, and of all below named folders, including those that are
// created later. It does not depend on what the files are for. Folders with names of those that tools generate
// (node_modules, build and the like) or with a leading dot are ignored, unless they are named themselves; so are the
// files that editors write beside the edited ones. Symbolic links are followed only if they are named.
//
// A Watcher may be used from any goroutine. Close leaves no goroutine and no open file.
package watch

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

const (
	// Debounce is how long nothing may change before changes are reported: editors and version control write several
	// files in a row.
	Debounce = 100 * time.Millisecond
	// maxDelay is the longest time that changes are collected before they are reported.
	maxDelay = time.Second
)

// Change is what changed since the previous Change.
type Change struct {
	Paths []string  // absolute, sorted: files that changed, appeared or were removed, and folders that were removed with their content
	All   bool      // events were lost: anything may have changed
	Since time.Time // time of the first change
	Err   error     // why nothing is watched any more: a limit of the system, or a bug; set only in the last Change
}

// Watcher watches files and folders.
type Watcher struct {
	system   notifier
	changes  chan Change
	requests chan request
	quit     chan struct{}
	debounce time.Duration
	running  sync.WaitGroup
	done     chan struct{} // closed when nothing is watched any more
	err      error         // why; set before done is closed

	// Only the goroutine that runs the loop uses these.
	named   map[string]bool // paths that were passed to Watch
	folders map[string]bool // folders that are watched with their content
	ignored []string
	batch   batch
	failure error // why the loop ends; nil while it continues
}

// notifier watches single folders. [fsnotify.Watcher] implements it.
type notifier interface {
	Add(folder string) error
	Remove(folder string) error
	Close() error
}

// notification is what a notifier sends: an event, or an error.
type notification struct {
	event fsnotify.Event
	err   error
}

// request is a call of Watch.
type request struct {
	paths, ignored []string
	err            chan<- error
}

// New returns a Watcher that watches nothing yet.
func New() (*Watcher, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, explain(err, runtime.GOOS)
	}
	return start(system, system.Events, system.Errors, Debounce), nil
}

func start(system notifier, events <-chan fsnotify.Event, errs <-chan error, debounce time.Duration) *Watcher {
	w := &Watcher{
		system: system, debounce: debounce, changes: make(chan Change), requests: make(chan request),
		quit: make(chan struct{}), done: make(chan struct{}), named: map[string]bool{}, folders: map[string]bool{},
	}
	queued := make(chan notification)
	w.running.Go(func() { w.queue(events, errs, queued) })
	w.running.Go(func() { w.run(queued) })
	return w
}

// queue receives notifications at once and stores them until the loop receives them: a notifier may block in Add until
// its notifications have been received.
func (w *Watcher) queue(events <-chan fsnotify.Event, errs <-chan error, to chan<- notification) {
	var queue []notification
	for {
		var out chan<- notification
		var first notification
		if len(queue) > 0 {
			out, first = to, queue[0]
		}
		select {
		case <-w.quit:
			return
		case e := <-events:
			queue = append(queue, notification{event: e})
		case err := <-errs:
			queue = append(queue, notification{err: err})
		case out <- first:
			queue = queue[1:]
		}
	}
}

// Changes returns the channel of changes. Changes that are not received yet are combined into one.
func (w *Watcher) Changes() <-chan Change { return w.changes }

// Watch adds absolute paths of files, and of folders with all that is below them. ignored replaces the paths that are
// ignored. A path that does not exist is watched as long as its parent folder exists. The error is a *fault.Error,
// which says which limit of the system is reached and how to raise it.
func (w *Watcher) Watch(paths, ignored []string) error {
	err := make(chan error, 1)
	select {
	case w.requests <- request{paths, ignored, err}:
	case <-w.done:
		return w.err
	}
	select {
	case e := <-err:
		return e
	case <-w.done:
		return w.err
	}
}

// Close stops watching and waits for its goroutines. It must be called once.
func (w *Watcher) Close() error {
	close(w.quit)
	w.running.Wait()
	return w.system.Close()
}

// run runs the loop to its end and reports why it ended.
func (w *Watcher) run(queued <-chan notification) {
	err := w.loop(queued)
	w.err = cmp.Or(err, errClosed)
	close(w.done)
	if err == nil {
		return
	}
	select {
	case <-w.quit:
	case w.changes <- Change{Err: err}:
	}
}

// loop handles notifications and requests until Close. It returns an error when it cannot continue.
func (w *Watcher) loop(queued <-chan notification) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked(p)
		}
	}()
	for w.failure == nil {
		var out chan<- Change
		var due <-chan time.Time
		change, wait := w.batch.change(time.Now(), w.debounce)
		switch {
		case wait == 0:
			out = w.changes
		case wait > 0:
			due = time.After(wait)
		}
		select {
		case <-w.quit:
			return nil
		case r := <-w.requests:
			r.err <- w.watch(r)
		case n := <-queued:
			w.handle(n)
		case <-due:
		case out <- change:
			w.batch = batch{}
		}
	}
	return w.failure
}

var errClosed = errors.New("the watcher is closed")

func (w *Watcher) handle(n notification) {
	switch {
	case n.err == nil:
		w.fail(w.handleEvent(n.event))
	case errors.Is(n.err, fsnotify.ErrEventOverflow):
		w.batch.all = true
		w.batch.extend(time.Now())
		for folder := range w.named { // the events of new folders may be among the lost ones
			w.fail(w.watchTree(folder, nil))
		}
	default:
		w.fail(explain(n.err, runtime.GOOS))
	}
}

func (w *Watcher) fail(err error) {
	if w.failure == nil {
		w.failure = err
	}
}

func (w *Watcher) watch(r request) error {
	before := w.ignored
	w.ignored = nil
	for _, path := range r.ignored {
		w.ignored = append(w.ignored, filepath.Clean(path))
	}
	for _, path := range w.ignored {
		w.unwatch(path)
	}
	for _, path := range before { // it may no longer be ignored
		if w.folders[filepath.Dir(path)] && !w.ignores(path, true) {
			if err := w.watchTree(path, nil); err != nil {
				return err
			}
		}
	}
	for _, path := range r.paths {
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

// watchNamed watches a path and its parent folder: files are more often replaced than written to, and folders are
// removed and created again.
func (w *Watcher) watchNamed(path string) error {
	if err := w.watchTree(path, nil); err != nil {
		return err
	}
	return onlyLimit(w.system.Add(filepath.Dir(path)))
}

// watchTree watches a folder and those below it, and calls found, unless it is nil, with the files in them. It ignores
// other paths and what cannot be read.
func (w *Watcher) watchTree(folder string, found func(file string)) error {
	if !isFolder(folder) {
		return nil
	}
	if err := w.system.Add(folder); err != nil {
		return onlyLimit(err)
	}
	w.folders[folder] = true
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		switch path := filepath.Join(folder, e.Name()); {
		case w.ignores(path, e.IsDir()):
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

func (w *Watcher) handleEvent(e fsnotify.Event) error {
	path := filepath.Clean(e.Name)
	if !e.Has(fsnotify.Create) && !e.Has(fsnotify.Write) && !e.Has(fsnotify.Remove) && !e.Has(fsnotify.Rename) {
		return nil // another owner, time or mode
	}
	if !w.watches(path) || w.folders[path] && e.Op == fsnotify.Write {
		return nil
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		w.unwatch(path)
	}
	folder, removed := isFolder(path) && (w.named[path] || !isLink(path)), !e.Has(fsnotify.Create) && !e.Has(fsnotify.Write)
	if w.ignores(path, folder) || removed && w.ignores(path, true) { // whether a removed path was a folder is unknown
		return nil
	}
	w.batch.add(path, e.Has(fsnotify.Create))
	if !folder {
		return nil
	}
	return w.watchTree(path, func(file string) { w.batch.add(file, true) })
}

// watches reports whether changes of a path are reported.
func (w *Watcher) watches(path string) bool {
	return w.named[path] || w.folders[path] || w.folders[filepath.Dir(path)] && !w.ignores(path, false)
}

// unwatch stops watching a folder that was removed or renamed, and those below it.
func (w *Watcher) unwatch(folder string) {
	for below := range w.folders {
		if isBelow(below, folder) {
			delete(w.folders, below)
			_ = w.system.Remove(below) // mostly the system has removed it already
		}
	}
}

func (w *Watcher) ignores(path string, isFolder bool) bool {
	if w.named[path] {
		return false
	}
	name := filepath.Base(path)
	if isFolder && isToolFolder(name) || !isFolder && isEditorFile(name) {
		return true
	}
	return slices.ContainsFunc(w.ignored, func(folder string) bool { return isBelow(path, folder) })
}

func isBelow(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// isToolFolder reports whether tools fill folders of this name.
func isToolFolder(name string) bool {
	switch name {
	case "node_modules", "build", "dist", "__pycache__":
		return true
	}
	return strings.HasPrefix(name, ".") // .git, .gradle, .venv, .cache
}

// isEditorFile reports whether vim, emacs, JetBrains or other editors write files of this name beside the edited ones.
func isEditorFile(name string) bool {
	switch filepath.Ext(name) {
	case ".swp", ".swx", ".swo", ".tmp":
		return true
	}
	return name == "4913" || strings.HasSuffix(name, "~") || strings.HasPrefix(name, ".#") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") || strings.HasSuffix(name, "___jb_tmp___") || strings.HasSuffix(name, "___jb_old___")
}
