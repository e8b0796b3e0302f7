package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
)

type mergeFlags struct{ junit, html, durations string }

func (a *app) newMerge() *cobra.Command {
	var f mergeFlags
	c := &cobra.Command{
		Use:   "merge [FILE|DIR...]",
		Short: "Join the results of shards into one report and one exit code",
		Long: `Join the results of shards, which trailblaze run --shard leaves in logsDir, into one report and one exit code. An argument is such a
file, a file of what run --json printed, or a folder in which results-*.ndjson is looked for. Without any, it is the project's logsDir.

The exit code is the worst one of the shards, and 2 when results are missing or do not belong together.`,
		Example: `  trailblaze report merge
  trailblaze report merge results --junit build/junit.xml --html build/report
  trailblaze report merge results --durations trail-durations.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return a.merge(f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	flags.StringVar(&f.html, "html", "", "write a page to read to `DIR`: index.html, which needs nothing beside it")
	flags.StringVar(&f.durations, "durations", "", "add how long trails took to `FILE`, for the next run --shard")
	return c
}

func (a *app) merge(f mergeFlags, args []string) error {
	all, err := a.allResults(args)
	if err != nil {
		return err
	}
	if err := a.checkDurations(f.durations); err != nil {
		return err
	}
	if err := errors.Join(a.prepareReport("--junit", f.junit), a.preparePage(f.html)); err != nil {
		return err
	}
	all, problems := judge(all)
	if !a.json {
		a.fail(errors.Join(problems...))
	}
	total := sum(all, len(problems) > 0)
	if err := a.replayResults(f, all, total); err != nil {
		return err
	}
	if a.json {
		err = report.JSON(a.Stdout, mergedJSON(f, all, total, problems))
	}
	if err == nil && total.ExitCode != fault.ExitPassed {
		err = exitCode(total.ExitCode)
	}
	return err
}

// checkDurations refuses a file of --durations that is something else: it would be replaced.
func (a *app) checkDurations(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(a.abs(file)); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	if _, err := run.ReadDurations(a.abs(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Misuse, err, "choose another file, or remove it", "--durations "+file+" is there already, and is something else")
	}
	return nil
}

// results is a file that takes part.
type results struct {
	*report.Results
	path, shown string
	logsDir     string    // where its sessions have left their files
	shard       run.Shard // zero for a run that is no shard
}

// allResults reads what the arguments stand for; without any, what is in logsDir. All that is wrong is said at once.
func (a *app) allResults(args []string) ([]results, error) {
	logsDir, projectErr := a.logsDir()
	if len(args) == 0 {
		if projectErr != nil {
			return nil, projectErr
		}
		args = []string{logsDir}
	}
	var all []results
	var errs []error
	for _, arg := range args {
		paths, err := resultFiles(a.abs(arg))
		if err != nil {
			errs = append(errs, fault.Wrap(fault.Misuse, err, "", "read "+a.relative([]string{arg})[0]))
		} else if len(paths) == 0 {
			errs = append(errs, fault.New(fault.Misuse, "`trailblaze run --shard` leaves one in logsDir",
				"there is no %s in %s", resultsPattern, a.relative([]string{arg})[0]))
		}
		for _, path := range paths {
			if slices.ContainsFunc(all, func(r results) bool { return r.path == path }) {
				continue
			}
			r, err := a.oneResult(path)
			errs = append(errs, err)
			if ours, _ := filepath.Match(resultsPattern, filepath.Base(path)); !ours && projectErr == nil {
				r.logsDir = logsDir // what --json printed can be anywhere
			}
			all = append(all, r)
		}
	}
	return all, errors.Join(errs...)
}

func (a *app) oneResult(path string) (results, error) {
	r := results{path: path, shown: a.relative([]string{path})[0], logsDir: filepath.Dir(path)}
	var err error
	if r.Results, err = report.ReadResults(path); err != nil || r.Started.Shard == "" {
		return r, err
	}
	r.shard, err = run.ParseShard(r.Started.Shard)
	return r, err
}

// resultFiles are the file itself, or those in a folder and below it.
func resultFiles(path string) ([]string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if !isDir(path) {
		return []string{path}, nil
	}
	var found []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if ours, _ := filepath.Match(resultsPattern, filepath.Base(file)); err == nil && ours && !d.IsDir() {
			found = append(found, file)
		}
		return err
	})
	return found, err
}

// judge says what is wrong with results, and leaves out those that do not count. They come in order of their shards.
func judge(all []results) (counted []results, problems []error) {
	var parts []run.Part
	var shards []int // of all, one for each part
	for i, r := range all {
		if what := incomplete(r); what != "" {
			problems = append(problems, fault.New(fault.Server, "look at the job that ran it", "%s: %s", r.shown, what))
		}
		if r.shard.Of > 0 {
			parts = append(parts, run.Part{File: r.shown, Shard: r.shard, Plan: r.Started.Plan, Started: r.Began})
			shards = append(shards, i)
		}
	}
	left, wrong := run.Join(parts)
	for i, r := range all {
		if !slices.ContainsFunc(left, func(part int) bool { return shards[part] == i }) {
			counted = append(counted, r)
		}
	}
	slices.SortStableFunc(counted, func(x, y results) int {
		return cmp.Or(cmp.Compare(x.Started.Plan, y.Started.Plan), cmp.Compare(x.shard.Index, y.shard.Index), cmp.Compare(x.path, y.path))
	})
	return counted, append(problems, wrong...)
}

// incomplete says what is missing in one file; empty for nothing.
func incomplete(r results) string {
	var parts []string
	switch {
	case r.Runs == 0:
		parts = append(parts, "the run ended before it began")
	case r.Runs > 1:
		parts = append(parts, fmt.Sprintf("there are %d runs in it; give each a file of its own", r.Runs))
	case !r.Ended:
		parts = append(parts, "the run did not come to its end; what it did until then counts")
	}
	if r.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%d of its lines cannot be read", r.Lost))
	}
	return strings.Join(parts, ", ")
}

// sum counts everything. Shards run at the same time: it takes as long as the longest one.
func sum(all []results, problems bool) event.RunFinished {
	var total event.RunFinished
	for _, r := range all {
		f := r.Finished
		total.Passed, total.Failed, total.Errors = total.Passed+f.Passed, total.Failed+f.Failed, total.Errors+f.Errors
		total.Skipped, total.Flaky = total.Skipped+f.Skipped, total.Flaky+f.Flaky
		total.NotRun = append(total.NotRun, f.NotRun...)
		total.ExitCode, total.DurationMs = fault.Worst(total.ExitCode, f.ExitCode), max(total.DurationMs, f.DurationMs)
	}
	if problems {
		total.ExitCode = fault.Worst(total.ExitCode, fault.ExitInfra)
	}
	return total
}

// replayResults renders the records of all results as those of one run.
func (a *app) replayResults(f mergeFlags, all []results, total event.RunFinished) error {
	junit, html := report.NewJUnit(), report.NewHTML("")
	console := report.NewConsole(a.Stdout, a.style(a.OutTTY), report.ConsoleOptions{
		EndOnly: true, Quiet: a.quiet, Now: a.Now, JUnit: f.junit, HTML: pageFile(f.html), Notices: a.Stderr,
	})
	defer console.Close()
	tell := func(e event.Event) {
		if !a.json {
			console.Handle(event.Record{Time: a.Now(), Event: e})
		}
	}
	var measured run.Measured
	for _, r := range all {
		page := html.In(r.logsDir)
		_, err := report.ReadResults(r.path, event.HandlerFunc(func(record event.Record) {
			switch e := record.Event.(type) {
			case event.RunFinished: // for the others there is one in the end
				junit.Handle(record)
				return
			case event.RunStarted:
				tell(e)
			case event.TrailFinished:
				tell(e)
				measured.Add(trailKey(r.Started, e.File), e.Outcome, time.Duration(e.DurationMs)*time.Millisecond)
			}
			junit.Handle(record)
			page.Handle(record)
		}))
		if err != nil {
			return err
		}
		for _, e := range r.CutShort {
			tell(e)
		}
	}
	html.Handle(event.Record{Time: a.Now(), Event: total})
	err := a.writeMerged(f, junit, html, measured.Durations())
	tell(total)
	return err
}

func (a *app) writeMerged(f mergeFlags, junit *report.JUnit, html *report.HTML, d run.Durations) error {
	var errs []error
	if f.junit != "" {
		errs = append(errs, a.writeReport("the JUnit report", f.junit, junit.Write))
	}
	if f.html != "" {
		errs = append(errs, a.writeReport("the page", pageFile(f.html), html.Write))
	}
	if f.durations != "" {
		root := "" // without the project nobody knows which trails are gone
		if project, err := a.loadProject(); err == nil {
			root = project.Root
		}
		if err := run.WriteDurations(a.abs(f.durations), root, d); err != nil {
			errs = append(errs, fault.Wrap(fault.Server, err, "", "write the durations"))
		}
	}
	return errors.Join(errs...)
}

// trailKey is run.TrailKey for a trail as events name it.
func trailKey(started event.RunStarted, file string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(started.Dir, file)
	}
	return run.TrailKey(started.Root, file)
}

// mergedRun is what report merge --json prints.
type mergedRun struct {
	event.RunFinished
	Trails    int           `json:"trails"`
	Shards    []mergedShard `json:"shards"`
	Problems  []string      `json:"problems"`
	JUnit     string        `json:"junit,omitempty"`
	HTML      string        `json:"html,omitempty"`
	Durations string        `json:"durations,omitempty"`
}

// mergedShard is one of the files.
type mergedShard struct {
	File  string `json:"file"`
	Shard string `json:"shard"` // empty for a run that is none
	event.RunFinished
	Trails int  `json:"trails"`
	Ended  bool `json:"ended"`
}

func mergedJSON(f mergeFlags, all []results, total event.RunFinished, problems []error) mergedRun {
	m := mergedRun{
		RunFinished: total, Shards: []mergedShard{}, Problems: []string{}, JUnit: f.junit, HTML: pageFile(f.html), Durations: f.durations,
	}
	for _, r := range all {
		m.Trails += r.Started.Trails
		m.Shards = append(m.Shards, mergedShard{
			File: r.shown, Shard: r.Started.Shard, RunFinished: r.Finished, Trails: r.Started.Trails, Ended: r.Ended,
		})
	}
	for _, p := range problems {
		m.Problems = append(m.Problems, p.Error())
	}
	return m
}
