package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/watch"
)

// watching is run --watch: one run after another, for as long as nobody ends it.
type watching struct {
	*app
	job   job // of the last run; its project is nil when that could not be read
	files *watch.Watcher
	blind error     // why nothing is watched any more
	tried bool      // that there was a run
	last  error     // the exit code of the last run
	stuck bool      // it could not begin
	ended time.Time // when it was over
}

// watchTrails runs trails, and again whenever what they are made of changes.
func (a *app) watchTrails(ctx context.Context, j job) (err error) {
	project, err := a.loadProject()
	if project == nil { // the first run says what else is wrong
		return err
	}
	files, err := watch.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	if err := files.Watch([]string{project.Root}, []string{project.LogsDir}); err != nil {
		return err
	}
	w := &watching{app: a, job: j, files: files}
	for next := (due{all: true}); next.any(); {
		if next, err = w.run(ctx, next); err != nil {
			return err
		}
		switch {
		case ctx.Err() == nil:
		case next.any(): // it was over before the signal came, to be replaced
			return exitCode(fault.ExitCode(context.Cause(ctx)))
		default:
			return w.last
		}
		if !next.any() {
			a.tell("waiting for changes (Ctrl-C ends)")
			next = w.wait(ctx)
		}
	}
	if cause := context.Cause(ctx); cause != nil && fault.KindOf(cause) != fault.Interrupted {
		return cause
	}
	return cmp.Or(w.blind, w.last)
}

// run does one run and returns what is to be run again already. The error ends everything.
func (w *watching) run(ctx context.Context, d due) (next due, err error) {
	if w.job.project, err = w.loadProject(); err == nil {
		if err := w.files.Watch(w.sources(), w.reports()); err != nil {
			return next, err
		}
		next, err = w.replayUntilChanged(ctx, d)
	} else {
		w.job.project = nil
	}
	first := !w.tried
	w.tried, w.stuck, w.ended = true, false, w.Now()
	var code exitCode
	switch kind := fault.KindOf(err); {
	case w.blind != nil:
		return next, w.blind
	case err == nil || errors.As(err, &code):
		if !next.any() { // else it was replaced, and how it ended says nothing
			w.last = err
		}
	case kind == fault.Bug || kind == fault.Misuse && first:
		return next, err
	case kind == fault.NothingMatched && !d.all: // what changed has other tags
	default:
		w.last, w.stuck = exitCode(w.fail(err)), true
		next.all = next.any()
	}
	return next, nil
}

// errChanged is why a run ends that another one replaces.
var errChanged = errors.New("files changed")

func replaced(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errChanged) }

// replayUntilChanged does a run, and ends it as soon as it is known that another one has to follow.
func (w *watching) replayUntilChanged(ctx context.Context, d due) (next due, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	over := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		for w.blind == nil {
			select {
			case <-over:
				return
			case c := <-w.files.Changes():
				if next.add(w.due(c, true)); next.any() {
					end(&fault.Error{Kind: fault.Interrupted, Message: w.told(next), Cause: errChanged})
				}
				if w.blind = c.Err; w.blind != nil {
					end(w.blind)
				}
			}
		}
	})
	stop := sync.OnceFunc(func() {
		close(over)
		listening.Wait()
	})
	defer stop() // whatever happens
	j := w.job
	if !d.all {
		j.only = d.trails
	}
	summary, err := w.replay(ctx, j)
	stop()
	if next.any() { // what it has not done, the next one does
		next.trails = append(next.trails, w.absolute(append(summary.Failed, summary.NotRun...))...)
	}
	return next, err
}

// wait returns what is to be run because of a change; nothing when there is an end.
func (w *watching) wait(ctx context.Context) due {
	for {
		select {
		case <-ctx.Done():
			return due{}
		case c := <-w.files.Changes():
			if w.blind = c.Err; w.blind != nil {
				return due{}
			}
			if d := w.due(c, c.Since.Before(w.ended.Add(watch.Quiet))); d.any() {
				w.tell(w.told(d))
				return d
			}
		}
	}
}

// due is what a run is for.
type due struct {
	all    bool
	trails []string // absolute
	files  []string // because of which
}

func (d *due) any() bool { return d.all || len(d.trails) > 0 }

func (d *due) add(more due) {
	d.all = d.all || more.all
	d.trails = append(d.trails, more.trails...)
	d.files = append(d.files, more.files...)
}

// due judges a change: of a trail, it is for that trail; of anything else, it is for all of them. What changes while trails run is
// often what their tools write; then only what can be nothing but a source counts.
func (w *watching) due(c watch.Change, running bool) due {
	d := due{all: c.All}
	selected := w.selected()
	for _, path := range c.Paths {
		switch {
		case slices.Contains(selected, path):
			d.trails = append(d.trails, path)
		case w.job.project != nil && (isTrail(path) || running && !w.isSource(path)):
			continue
		default:
			d.all = true
		}
		d.files = append(d.files, path)
	}
	d.all = d.all || w.stuck && d.any()
	return d
}

// selected lists the trails that are asked for, as far as they are there.
func (w *watching) selected() []string {
	if w.job.project == nil {
		return nil
	}
	last, _ := lastRun(w.job.project, w.job.flags) // the run says what is wrong
	found, _ := w.trailPaths(w.job.project, w.job.flags, last, w.job.args)
	return w.absolute(found)
}

func (w *watching) absolute(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = w.abs(p)
	}
	return out
}

// told says what changed.
func (w *watching) told(d due) string {
	const most = 3
	names := w.relative(d.files)
	slices.Sort(names)
	names = slices.Compact(names)
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	if len(names) == 0 {
		return "files changed"
	}
	return "files changed: " + strings.Join(names, ", ") + more
}

func isTrail(path string) bool {
	base := filepath.Base(path)
	return base == "trail.yaml" || strings.HasSuffix(base, ".trail.yaml")
}

// isSource tells what decides how trails run and is written by people: the project's files, those that they name, and programs.
func (w *watching) isSource(path string) bool {
	root := w.job.project.Root
	if slices.Contains(w.sources(), path) || isBelow(path, filepath.Join(root, "trailblaze-config")) {
		return true
	}
	switch filepath.Base(path) {
	case "trailblaze.yaml", "trailblaze.config.yaml":
		return filepath.Dir(path) == root
	}
	return slices.Contains([]string{
		".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".py", ".go", ".rb", ".rs", ".java", ".kt", ".kts", ".cs", ".php", ".sh",
	}, filepath.Ext(path))
}

// sources are the files and folders that runs of the project are made of, wherever they are.
func (w *watching) sources() []string {
	p := w.job.project
	places := []string{p.Root, p.TrailsDir}
	for _, arg := range w.job.args {
		if !strings.HasPrefix(arg, "!") {
			places = append(places, w.place(arg))
		}
	}
	if file := w.job.flags.argsFile; file != "" {
		places = append(places, w.abs(file))
	}
	for _, s := range p.AllServers() {
		places = append(places, w.sourcesOf(s)...)
	}
	return places
}

// sourcesOf are the folder of a server's script, or the files that its command names and that lie with it or in the project.
func (w *watching) sourcesOf(s config.Server) []string {
	if s.Script != "" {
		return []string{filepath.Dir(s.Script), s.Script}
	}
	var files []string
	for _, word := range append([]string{s.Command}, s.Args...) {
		if !filepath.IsAbs(word) {
			word = filepath.Join(s.Dir, word)
		}
		info, err := os.Stat(word)
		if err == nil && info.Mode().IsRegular() && (isBelow(word, s.Dir) || isBelow(word, w.job.project.Root)) {
			files = append(files, word)
		}
	}
	return files
}

func isBelow(path, folder string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}

// place is the file or folder that an argument names, for a pattern the folder that it begins with.
func (w *watching) place(arg string) string {
	if begin := strings.IndexAny(arg, "*?[{"); begin >= 0 {
		if _, err := os.Stat(w.abs(arg)); err != nil {
			arg = filepath.Dir(arg[:begin] + "*")
		}
	}
	return w.abs(arg)
}

// reports are what runs write.
func (w *watching) reports() []string {
	var written []string
	for _, path := range []string{w.job.project.LogsDir, w.job.flags.junit, pageFile(w.job.flags.html)} {
		if path = w.abs(path); path != w.Dir && path != w.job.project.Root { // where an empty one leads, and what would leave nothing
			written = append(written, path)
		}
	}
	return written
}

// unlessReplaced is a handler that hears nothing of how a run ended once another one replaces it.
func unlessReplaced(ctx context.Context, h event.Handler) event.Handler {
	return event.HandlerFunc(func(r event.Record) {
		if replaced(ctx) {
			switch e := r.Event.(type) {
			case event.RunFinished:
				return
			case event.TrailFinished:
				if e.Outcome != event.Passed {
					return
				}
			case event.Log:
				if e.Level == "error" {
					return
				}
			}
		}
		h.Handle(r)
	})
}
