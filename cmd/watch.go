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
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/watch"
)

// watchLoop is run --watch: a run, and another one after each change, until it is interrupted.
type watchLoop struct {
	*runCommand
	job      job // of the last run; its workspace is nil when the project could not be read
	files    *watch.Watcher
	watchErr error     // why files are no longer watched
	ran      bool      // whether there was a run
	lastErr  error     // of the last run: its exit code
	unready  bool      // whether the last run could not start
	endedAt  time.Time // when the last run ended
}

// watchTrails runs trails, and again after each change of their sources.
func (cmd *runCommand) watchTrails(ctx context.Context, j job) (err error) {
	w, err := cmd.loadProject()
	if w == nil { // an invalid project is reported by the first run
		return cmd.refused(j.flags, err)
	}
	files, err := watch.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	if err := files.Watch([]string{w.Project.Root}, []string{w.Project.LogsDir}); err != nil {
		return err
	}
	j.kept = &resources{program: cmd.program}
	defer j.kept.stop(ctx)
	return (&watchLoop{runCommand: cmd, job: j, files: files}).loop(ctx)
}

// loop makes runs until the command ends.
func (w *watchLoop) loop(ctx context.Context) (err error) {
	for next := (rerun{all: true}); next.needed(); {
		if next, err = w.run(ctx, next); err != nil {
			return err
		}
		switch {
		case ctx.Err() == nil:
		case next.needed(): // a change ended the run before the signal did, so its result does not count
			return exitCode(fault.ExitCode(context.Cause(ctx)))
		default:
			return w.lastErr
		}
		if !next.needed() {
			w.notice("waiting for changes (Ctrl-C ends)")
			next = w.wait(ctx)
		}
	}
	if cause := context.Cause(ctx); cause != nil && fault.KindOf(cause) != fault.Interrupted {
		return cause
	}
	return cmp.Or(w.watchErr, w.lastErr)
}

// run makes one run and returns what changes during it require to be run again. An error ends the command.
func (w *watchLoop) run(ctx context.Context, r rerun) (next rerun, err error) {
	if w.job.workspace, err = w.loadProject(); err == nil {
		if err := w.files.Watch(w.sources(), w.outputs()); err != nil {
			return next, err
		}
		next, err = w.replayUntilChange(ctx, r)
	} else {
		w.job.workspace, err = nil, w.refused(w.job.flags, err)
	}
	first := !w.ran
	w.ran, w.unready, w.endedAt = true, false, w.Now()
	var code exitCode
	switch kind := fault.KindOf(err); {
	case w.watchErr != nil:
		return next, w.watchErr
	case err == nil || errors.As(err, &code):
		if !next.needed() { // the result of a run that is restarted does not count
			w.lastErr = err
		}
	case kind == fault.Bug || kind == fault.Misuse && first:
		return next, err
	case kind == fault.NothingMatched && !r.all: // the changed trails do not have the wanted tags
	case errors.Is(err, errChanged): // the start of the run was restarted
		w.unready, next.all = true, true
	default:
		w.lastErr, w.unready = exitCode(w.fail(err)), true
		next.all = next.needed()
	}
	return next, nil
}

// errChanged is the cause that ends a run because files changed.
var errChanged = errors.New("files changed")

// restarting reports whether a change ended the run of ctx, so that another run follows.
func restarting(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errChanged) }

// replayUntilChange makes a run, and cancels it when a change requires another one.
func (w *watchLoop) replayUntilChange(ctx context.Context, r rerun) (next rerun, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for w.watchErr == nil {
			select {
			case <-ended:
				return
			case c := <-w.files.Changes():
				if next.add(w.rerunAfter(c, true)); next.needed() {
					cancel(&fault.Error{Kind: fault.Interrupted, Message: w.changeMessage(next), Cause: errChanged})
				}
				if w.watchErr = c.Err; w.watchErr != nil {
					cancel(w.watchErr)
				}
			}
		}
	})
	stop := sync.OnceFunc(func() {
		close(ended)
		reader.Wait()
	})
	defer stop() // also after a panic
	j := w.job
	if !r.all {
		j.only = r.trails
	}
	summary, err := w.replay(ctx, j)
	stop()
	if next.needed() { // the next run also replays what this one did not pass
		next.trails = append(next.trails, w.absolute(append(summary.Failed, summary.NotRun...))...)
	}
	return next, err
}

// wait returns what the next change requires to be run, nothing when the command has to end.
func (w *watchLoop) wait(ctx context.Context) rerun {
	for {
		select {
		case <-ctx.Done():
			return rerun{}
		case c := <-w.files.Changes():
			if w.watchErr = c.Err; w.watchErr != nil {
				return rerun{}
			}
			if r := w.rerunAfter(c, c.Since.Before(w.endedAt.Add(watch.Debounce))); r.needed() {
				w.notice(w.changeMessage(r))
				return r
			}
		}
	}
}

// rerun is what the next run has to replay because of changes.
type rerun struct {
	all    bool     // every selected trail
	trails []string // absolute paths
	files  []string // absolute paths of the files that changed
}

func (r *rerun) needed() bool { return r.all || len(r.trails) > 0 }

func (r *rerun) add(more rerun) {
	r.all = r.all || more.all
	r.trails = append(r.trails, more.trails...)
	r.files = append(r.files, more.files...)
}

// rerunAfter returns what a change requires to be run: a changed trail only itself and those that use it, any other
// file every trail. Tools often write files, so while trails run a change only counts when the file is surely a source.
func (w *watchLoop) rerunAfter(c watch.Change, running bool) rerun {
	r := rerun{all: c.All}
	selected := w.selected()
	var users map[string][]string
	if slices.ContainsFunc(c.Paths, isYAML) {
		users = w.users(selected)
	}
	for _, path := range c.Paths {
		trails := users[path]
		if slices.Contains(selected, path) {
			trails = append(trails, path)
		}
		switch {
		case len(trails) > 0:
			r.trails = append(r.trails, trails...)
		case w.job.workspace != nil && (isTrail(path) || running && !w.isSource(path)):
			continue
		default:
			r.all = true
		}
		r.files = append(r.files, path)
	}
	r.all = r.all || w.unready && r.needed()
	return r
}

func isYAML(path string) bool { return filepath.Ext(path) == ".yaml" }

// users returns which of trails use a file, by the path of the file: files with problems are among them.
func (w *watchLoop) users(trails []string) map[string][]string {
	users := map[string][]string{}
	for _, name := range trails {
		loader := trail.Loader{Root: w.job.workspace.Project.Root, Cwd: w.Dir}
		file, problems := loader.Load(name, name)
		var used []string
		for _, p := range problems {
			used = append(used, w.abs(p.File))
		}
		if file != nil {
			used = loader.UsePaths(file, name)
		}
		slices.Sort(used)
		for _, path := range slices.Compact(used) {
			if path != name {
				users[path] = append(users[path], name)
			}
		}
	}
	return users
}

// selected returns the absolute paths of the existing trails that the command line selects.
func (w *watchLoop) selected() []string {
	if w.job.workspace == nil {
		return nil
	}
	last, _ := lastRun(w.job.workspace.Project, w.job.flags) // the run reports both errors
	found, _ := w.trailPaths(w.job.workspace.Project, w.job.flags, last, w.job.args)
	return w.absolute(found)
}

func (w *watchLoop) absolute(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = w.abs(p)
	}
	return out
}

// changeMessage returns a message that names the changed files.
func (w *watchLoop) changeMessage(r rerun) string {
	const most = 3
	names := make([]string, len(r.files))
	for i, path := range r.files {
		names[i] = w.relative(path)
	}
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

// isSource reports whether people, not tools, write a file and it affects how trails run: the project's files, the
// files that they name, and source code.
func (w *watchLoop) isSource(path string) bool {
	root := w.job.workspace.Project.Root
	if slices.Contains(w.sources(), path) || isBelow(path, filepath.Join(root, "trailblaze-config")) {
		return true
	}
	switch filepath.Base(path) {
	case "trailblaze.yaml", "trailblaze.config.yaml":
		return filepath.Dir(path) == root
	}
	return isSourceCode(path)
}

// isSourceCode reports whether the name of a file is one of source code.
func isSourceCode(path string) bool {
	return slices.Contains([]string{
		".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".py", ".go", ".rb", ".rs", ".java", ".kt",
		".kts", ".cs", ".php", ".sh",
	}, filepath.Ext(path))
}

// sources returns the files and folders that determine what a run does, also those outside the project.
func (w *watchLoop) sources() []string {
	p := w.job.workspace.Project
	paths := []string{p.Root, p.TrailsDir}
	for _, arg := range w.job.args {
		if !strings.HasPrefix(arg, "!") {
			paths = append(paths, w.watchPath(arg))
		}
	}
	if file := w.job.flags.argsFile; file != "" {
		paths = append(paths, w.abs(file))
	}
	for _, s := range p.AllServers() {
		paths = append(paths, w.serverSources(s)...)
	}
	return paths
}

// serverSources returns a server's script and its folder, or the files that its command line names and that are in its
// folder or the project.
func (w *watchLoop) serverSources(s config.Server) []string {
	if len(s.Functions) > 0 {
		var paths []string
		for _, file := range s.FunctionFiles() {
			paths = append(paths, filepath.Dir(file), file)
		}
		return paths
	}
	if s.Script != "" {
		return []string{filepath.Dir(s.Script), s.Script}
	}
	var files []string
	for _, word := range append([]string{s.Command}, s.Args...) {
		if !filepath.IsAbs(word) {
			word = filepath.Join(s.Dir, word)
		}
		info, err := os.Stat(word)
		if err == nil && info.Mode().IsRegular() && (isBelow(word, s.Dir) || isBelow(word, w.job.workspace.Project.Root)) {
			files = append(files, word)
		}
	}
	return files
}

// isBelow reports whether path is folder or in it.
func isBelow(path, folder string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}

// watchPath returns the file or folder that an argument names, for a glob the folder before its first special
// character.
func (w *watchLoop) watchPath(arg string) string {
	if special := strings.IndexAny(arg, "*?[{"); special >= 0 {
		if _, err := os.Stat(w.abs(arg)); err != nil {
			arg = filepath.Dir(arg[:special] + "*")
		}
	}
	return w.abs(arg)
}

// outputs returns the files and folders that runs write.
func (w *watchLoop) outputs() []string {
	var paths []string
	flags := w.withDefaults(w.job.flags, w.job.workspace.Project.Run)
	for _, path := range []string{w.job.workspace.Project.LogsDir, flags.junit, htmlFile(flags.html)} {
		// An empty path is the working directory. Ignoring it or the root would leave nothing to watch.
		if path = w.abs(path); path != w.Dir && path != w.job.workspace.Project.Root {
			paths = append(paths, path)
		}
	}
	return paths
}

// withoutRestartedEnd returns h without the events about the end of a run that a change restarts.
func withoutRestartedEnd(ctx context.Context, h event.Handler) event.Handler {
	return event.HandlerFunc(func(r event.Record) {
		if restarting(ctx) {
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
