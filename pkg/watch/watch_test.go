package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testDir is a temporary folder.
type testDir struct {
	t   *testing.T
	dir string
}

func newTestDir(t *testing.T, files ...string) testDir {
	t.Helper()
	p := testDir{t, t.TempDir()}
	for _, f := range files {
		p.write(f)
	}
	return p
}

func (p testDir) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p testDir) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p testDir) write(name string) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	p.must(os.WriteFile(p.path(name), []byte(time.Now().String()), 0o644))
}

func (p testDir) rename(from, to string) { p.t.Helper(); p.must(os.Rename(p.path(from), p.path(to))) }
func (p testDir) remove(name string)     { p.t.Helper(); p.must(os.RemoveAll(p.path(name))) }

// shortDebounce keeps the tests fast.
const shortDebounce = 10 * time.Millisecond

// watch watches paths below the folder until the test ends.
func (p testDir) watch(except []string, names ...string) *Watcher {
	p.t.Helper()
	system, err := fsnotify.NewWatcher()
	p.must(err)
	w := start(system, system.Events, system.Errors, shortDebounce)
	p.t.Cleanup(func() { p.must(w.Close()) })
	p.add(w, except, names...)
	return w
}

func (p testDir) add(w *Watcher, except []string, names ...string) {
	p.t.Helper()
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = p.path(name)
	}
	p.must(w.Watch(paths, except))
}

func next(t *testing.T, w *Watcher) Change {
	t.Helper()
	select {
	case c := <-w.Changes():
		return c
	case <-time.After(30 * time.Second):
		t.Fatal("no change is reported")
		return Change{}
	}
}

// until collects changed paths, relative to the folder, until one of them is name: on a busy machine a change may be
// reported in parts.
func (p testDir) until(w *Watcher, name string) []string {
	p.t.Helper()
	var names []string
	for !slices.Contains(names, name) {
		for _, path := range next(p.t, w).Paths {
			below, err := filepath.Rel(p.dir, path)
			p.must(err)
			names = append(names, filepath.ToSlash(below))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestChangesAreReported(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(p testDir)
		want []string
	}{
		"written":              {func(p testDir) { p.write("in/a/b/old.ts") }, []string{"in/a/b/old.ts"}},
		"new":                  {func(p testDir) { p.write("in/a/new.ts") }, []string{"in/a/new.ts"}},
		"removed":              {func(p testDir) { p.remove("in/a/b/old.ts") }, []string{"in/a/b/old.ts"}},
		"renamed":              {func(p testDir) { p.rename("in/a/b/old.ts", "in/a/x.ts") }, []string{"in/a/b/old.ts", "in/a/x.ts"}},
		"moved away":           {func(p testDir) { p.rename("in/a/b/old.ts", "x.ts") }, []string{"in/a/b/old.ts"}},
		"moved in":             {func(p testDir) { p.rename("out/other.ts", "in/a/x.ts") }, []string{"in/a/x.ts"}},
		"replaced by a rename": {func(p testDir) { p.write("in/a/b/new.tmp"); p.rename("in/a/b/new.tmp", "in/a/b/old.ts") }, []string{"in/a/b/old.ts"}},
		"renamed and written again": {func(p testDir) {
			p.rename("in/a/b/old.ts", "in/a/b/old.ts~")
			p.write("in/a/b/old.ts")
			p.remove("in/a/b/old.ts~")
		}, []string{"in/a/b/old.ts"}},
		"in new folders":  {func(p testDir) { p.write("in/n/e/w/x.ts") }, []string{"in/n/e/w/x.ts"}},
		"a folder":        {func(p testDir) { p.rename("out", "in/out") }, []string{"in/out/other.ts"}},
		"a folder's name": {func(p testDir) { p.rename("in/a/b", "in/c") }, []string{"in/a/b", "in/c/old.ts"}},
		"a folder's end":  {func(p testDir) { p.rename("in/a", "away") }, []string{"in/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTestDir(t, "in/a/b/old.ts", "out/other.ts")
			w := p.watch(nil, "in")
			tc.do(p)
			p.write("in/z.ts")
			if diff := cmp.Diff(append(tc.want, "in/z.ts"), p.until(w, "in/z.ts")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReplacedFilesAndFoldersAreStillWatched(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(p testDir)
		file string
	}{
		"a new folder":                   {func(p testDir) { p.must(os.Mkdir(p.path("in/n"), 0o755)) }, "in/n/x.ts"},
		"folders in a new one":           {func(p testDir) { p.must(os.MkdirAll(p.path("in/n/e/w"), 0o755)) }, "in/n/e/w/x.ts"},
		"a renamed folder":               {func(p testDir) { p.rename("in/a", "in/c") }, "in/c/b/old.ts"},
		"a folder created again":         {func(p testDir) { p.remove("in/a"); p.write("in/a/b/old.ts") }, "in/a/b/old.ts"},
		"the named folder created again": {func(p testDir) { p.remove("in"); p.write("in/a/b/old.ts") }, "in/a/b/old.ts"},
		"a named folder in ignored ones": {func(p testDir) { p.remove("in/dist"); p.write("in/dist/js/main.js") }, "in/dist/js/main.js"},
		"a named file":                   {func(p testDir) { p.remove("tools/server"); p.write("tools/server") }, "tools/server"},
		"a named file that is new":       {func(p testDir) { p.write("tools/args.yaml") }, "tools/args.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTestDir(t, "in/a/b/old.ts", "tools/server", "in/dist/js/main.js")
			w := p.watch(nil, "in", "tools/server", "tools/args.yaml", "in/dist")
			tc.do(p)
			p.write("in/z.ts")
			p.until(w, "in/z.ts")
			p.write(tc.file)
			p.until(w, tc.file)
		})
	}
}

func TestFolderThatWasMovedAwayIsNotWatched(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, "in/a/b/old.ts", "out/x")
	w := p.watch(nil, "in")
	p.rename("in/a", "out/a")
	p.until(w, "in/a")
	p.write("out/a/b/old.ts")
	p.write("out/a/new.ts")
	p.write("in/z.ts")
	if got := p.until(w, "in/z.ts"); len(got) != 1 {
		t.Errorf("reported %v", got)
	}
}

func TestOnlyNamedLinksAreFollowed(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, "in/x.ts", "out/other.ts", "named/other.ts")
	link := func(to, name string) { p.must(os.Symlink(p.path(to), p.path(name))) }
	link("out", "in/before")
	link("named", "way")
	w := p.watch(nil, "in", "way")
	link("out", "in/later")
	p.until(w, "in/later")
	p.write("out/other.ts")
	p.write("way/other.ts")
	if diff := cmp.Diff([]string{"way/other.ts"}, p.until(w, "way/other.ts")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestIgnoredPathsAreNotReported(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"in/node_modules/x/index.js", "in/build/x", "in/a/dist/x.js", "in/.git/HEAD", "in/.venv/lib/x.py", "in/a/__pycache__/x.pyc",
		"in/a/.x.ts.swp", "in/a/x.ts~", "in/a/.#x.ts", "in/a/#x.ts#", "in/a/4913", "in/a/x.ts___jb_tmp___", "in/a/x.tmp",
		"in/logs/1/events.ndjson", "in/junit.xml", "beside.ts", "tools/beside",
	} {
		for state, before := range map[string]func(p testDir){"there": func(p testDir) { p.write(name) }, "new": func(testDir) {}} {
			t.Run(state+" "+name, func(t *testing.T) {
				t.Parallel()
				p := newTestDir(t, "in/a/x.ts", "tools/server")
				before(p)
				w := p.watch([]string{p.path("in/logs"), p.path("in/junit.xml")}, "in", "tools/server")
				p.write(name)
				p.must(os.Chtimes(p.path("in/a/x.ts"), time.Now(), time.Now()))
				p.must(os.Chmod(p.path("in/a/x.ts"), 0o600))
				p.remove(name)
				if folder := filepath.Dir(name); !slices.Contains([]string{".", "in", "in/a", "tools"}, folder) {
					p.remove(folder)
				}
				p.write("in/z.ts")
				if got := p.until(w, "in/z.ts"); len(got) != 1 {
					t.Errorf("reported %v", got)
				}
			})
		}
	}
}

func TestFileThatAppearedAndWasRemovedIsNotReported(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, "here")
	for name, tc := range map[string]struct {
		seen map[string]bool // whether it appeared
		want []string
	}{
		"appeared and was removed": {map[string]bool{"brief": true}, nil},
		"removed":                  {map[string]bool{"gone": false, "brief": true}, []string{p.path("gone")}},
		"appeared":                 {map[string]bool{"here": true}, []string{p.path("here")}},
		"changed":                  {map[string]bool{"here": false}, []string{p.path("here")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b batch
			for path, appeared := range tc.seen {
				b.add(p.path(path), appeared)
				b.add(p.path(path), !appeared)
			}
			c, wait := b.change(b.last.Add(Debounce), Debounce)
			if diff := cmp.Diff(tc.want, c.Paths); diff != "" || (wait == 0) != (len(tc.want) > 0) || c.Since != b.first {
				t.Errorf("wait %v, since %v, -want +got:\n%s", wait, c.Since, diff)
			}
		})
	}
}

func TestChangesThatAreNotReceivedAreCombined(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, "in/x.ts")
	w := p.watch(nil, "in")
	p.add(w, nil, "in", "other") // once more, and what is not there
	var want []string
	for i := range 500 {
		name := fmt.Sprintf("in/%03d/x.ts", i)
		want = append(want, name)
		p.write(name)
	}
	p.write("in/z.ts")
	var got []string
	for _, name := range p.until(w, "in/z.ts") {
		if strings.HasSuffix(name, "/x.ts") {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestChangeIsReportedWhileMoreFollow(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, "in/x.ts")
	w := p.watch(nil, "in")
	reported, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-reported:
				return
			case <-time.After(shortDebounce / 20):
				p.write("in/x.ts")
			}
		}
	}()
	next(t, w)
	close(reported)
	<-stopped
}

func TestBatchIsDueAfterTheDebounceOrTheDeadline(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	for name, tc := range map[string]struct {
		notes []int
		now   int
		want  time.Duration
	}{
		"nothing changed":      {nil, 0, -1},
		"just now":             {[]int{0}, 0, 100 * time.Millisecond},
		"and again":            {[]int{0, 90}, 100, 90 * time.Millisecond},
		"quiet":                {[]int{0, 90}, 190, 0},
		"never quiet":          {[]int{0, 500, 990}, 995, 5 * time.Millisecond},
		"never quiet, no more": {[]int{0, 500, 990}, 1000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := batch{all: true}
			for _, ms := range tc.notes {
				b.extend(at(ms))
			}
			if _, wait := b.change(at(tc.now), Debounce); wait != tc.want {
				t.Errorf("wait %v, want %v", wait, tc.want)
			}
		})
	}
}

func TestDueBatchTakesMoreChanges(t *testing.T) {
	t.Parallel()
	var b batch
	b.all = true
	b.extend(time.Now())
	due := b.last.Add(Debounce)
	b.change(due, Debounce)
	if b.due == nil {
		t.Fatal("there is no due change")
	}
	begin := b.last
	for at, want := range map[time.Duration]time.Duration{Debounce: 0, 50 * time.Millisecond: Debounce / 2} {
		b.extend(begin)
		if _, wait := b.change(begin.Add(at), Debounce); wait != want || (b.due != nil) != (want == 0) {
			t.Errorf("%s after another change: wait %v, want %v", at, wait, want)
		}
	}
	b.change(b.last.Add(Debounce), Debounce)
	for b.extend(begin); b.last.Sub(begin) < 10*maxDelay; b.extend(b.last.Add(Debounce / 2)) { // it never ends
		if _, wait := b.change(b.last, Debounce); wait == 0 {
			return
		}
	}
	t.Error("it is never reported")
}

func TestPathThatIsNoLongerIgnoredIsReported(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, "in/logs/deep/x.ts", "in/other/x.ts")
	w := p.watch([]string{p.path("in/logs")}, "in")
	p.add(w, []string{p.path("in/other")}, "in")
	p.write("in/other/x.ts")
	p.write("in/logs/deep/x.ts")
	if got := p.until(w, "in/logs/deep/x.ts"); len(got) != 1 {
		t.Errorf("reported %v", got)
	}
}

// panicking is a notifier with a bug in it.
type panicking struct{ fakeNotifier }

func (n panicking) Add(folder string) error {
	if filepath.Base(folder) == n.refuse {
		panic("a bug")
	}
	return nil
}

func TestPanicIsReportedAndDoesNotBlock(t *testing.T) {
	t.Parallel()
	isBug := func(err error) {
		if e := fault.As(err); e == nil || e.Kind != fault.Bug || !strings.Contains(e.Message, "a bug") {
			t.Errorf("error %v, want the panic", err)
		}
	}
	p := newTestDir(t, "in/x.ts")
	for _, requested := range []bool{false, true} {
		w, events, _ := p.scripted(panicking{fakeNotifier{refuse: "bad"}})
		if requested {
			isBug(w.Watch([]string{p.path("in")}, nil))
		} else {
			p.add(w, nil, "in")
			p.write("in/bad/x.ts")
			events <- fsnotify.Event{Name: p.path("in/bad"), Op: fsnotify.Create}
		}
		isBug(next(t, w).Err)
		isBug(w.Watch([]string{p.path("in")}, nil))
	}
}

// fakeNotifier returns an error for folders with a name.
type fakeNotifier struct {
	refuse string
	why    error
}

func (f fakeNotifier) Add(folder string) error {
	if filepath.Base(folder) == f.refuse {
		return &os.PathError{Op: "inotify_add_watch", Path: folder, Err: f.why}
	}
	return nil
}
func (fakeNotifier) Remove(string) error { return nil }
func (fakeNotifier) Close() error        { return nil }

// scripted returns a Watcher whose notifications the test sends.
func (p testDir) scripted(system notifier) (w *Watcher, events chan<- fsnotify.Event, errs chan<- error) {
	p.t.Helper()
	e, r := make(chan fsnotify.Event), make(chan error)
	w = start(system, e, r, shortDebounce)
	p.t.Cleanup(func() { p.must(w.Close()) })
	return w, e, r
}

func TestOverflowReportsThatAnythingMayHaveChanged(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, "in/x.ts")
	w, events, errs := p.scripted(fakeNotifier{})
	p.add(w, nil, "in")
	p.write("in/lost/y.ts")
	errs <- fmt.Errorf("read: %w", fsnotify.ErrEventOverflow)
	if c := next(t, w); !c.All || c.Err != nil {
		t.Errorf("%+v", c)
	}
	events <- fsnotify.Event{Name: p.path("in/lost/y.ts"), Op: fsnotify.Write}
	p.until(w, "in/lost/y.ts")
}

func TestLimitIsReportedWithAHint(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why  error
		want []string
	}{
		"watches":    {syscall.ENOSPC, []string{"fs.inotify.max_user_watches", "sysctl fs.inotify.max_user_watches="}},
		"open files": {syscall.EMFILE, []string{"open files", "ulimit -n", "sysctl fs.inotify.max_user_instances="}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTestDir(t, "in/ok/x.ts", "in/much/x.ts")
			w, events, _ := p.scripted(fakeNotifier{"much", tc.why})
			p.explained(w.Watch([]string{p.path("in")}, nil), tc.why, tc.want)
			p.add(w, nil, "in/ok")
			p.write("in/ok/much/x.ts")
			events <- fsnotify.Event{Name: p.path("in/ok/much"), Op: fsnotify.Create}
			p.explained(next(t, w).Err, tc.why, tc.want)
			p.explained(w.Watch([]string{p.path("in/x")}, nil), tc.why, tc.want)
		})
	}
}

func (p testDir) explained(err, cause error, texts []string) {
	p.t.Helper()
	e := fault.As(err)
	if e == nil || e.Kind != fault.IO || !errors.Is(err, cause) {
		p.t.Fatalf("error %v, want one of the kind server because of %v", err, cause)
	}
	for _, text := range texts {
		if !strings.Contains(e.Message+"\n"+e.Hint, text) {
			p.t.Errorf("%q with hint %q lacks %q", e.Message, e.Hint, text)
		}
	}
}

func TestCloseLeavesNothingWithPendingChanges(t *testing.T) {
	t.Parallel()
	for range 20 {
		p := newTestDir(t, "in/x.ts")
		w, err := New()
		p.must(err)
		p.add(w, nil, "in")
		for i := range 50 {
			p.write(fmt.Sprintf("in/%d/x.ts", i))
		}
		p.must(w.Close())
	}
}

func TestHintsAreForTheSystem(t *testing.T) {
	t.Parallel()
	for system, want := range map[string][2]string{
		"linux": {"sysctl", "winget"}, "darwin": {"ulimit -n", "sysctl"}, "windows": {"close programs", "ulimit"},
	} {
		hint := fault.As(explain(syscall.EMFILE, system)).Hint
		if !strings.Contains(hint, want[0]) || strings.Contains(hint, want[1]) {
			t.Errorf("%s: %s", system, hint)
		}
	}
}
