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
	"github.com/trailblaze/trailblaze/pkg/text"
)

type mergeFlags struct{ junit, html, durations string }

func (cmd *reportCommands) newMerge() *cobra.Command {
	var f mergeFlags
	c := &cobra.Command{
		Use:   "merge [FILE|DIR...]",
		Short: "Merge the results of shards into one report and one exit code",
		Long: `Merge the results of shards, which trailblaze run --shard writes into logsDir, into one report and one exit code.
An argument is such a file, a file with the output of run --json, or a folder that is searched for results-*-of-*.ndjson.
Without arguments, the project's logsDir is searched.

The exit code is the worst one of the shards, and 2 when results are missing or do not belong together.`,
		Example: `  trailblaze report merge
  trailblaze report merge results --junit build/junit.xml --html build/report
  trailblaze report merge results --durations trail-durations.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return cmd.merge(f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	flags.StringVar(&f.html, "html", "", "write an HTML report to index.html in `DIR`, a single file")
	flags.StringVar(&f.durations, "durations", "", "add the durations of trails to `FILE`, for the next run --shard")
	return c
}

// mergeTitle is the title of the problems of a merge, in its reports.
const mergeTitle = "trailblaze report merge"

func (cmd *reportCommands) merge(f mergeFlags, args []string) error {
	all, err := cmd.allResults(args)
	if err == nil {
		err = cmd.checkDurations(f.durations)
	}
	if err != nil {
		cmd.reportRefusal(f.junit, f.html, mergeTitle, "nothing was merged", err)
		return err
	}
	if err := errors.Join(cmd.prepareJUnit(f.junit), cmd.prepareHTML(f.html)); err != nil {
		return err
	}
	all, problems := checkResults(all)
	if !cmd.json {
		cmd.fail(errors.Join(problems...))
	}
	total := totals(all, len(problems) > 0)
	if err := cmd.replayResults(f, all, problems, total); err != nil {
		return err
	}
	if cmd.json {
		err = report.JSON(cmd.Stdout, mergedJSON(f, all, total, problems))
	}
	if err == nil && total.ExitCode != fault.ExitPassed {
		err = exitCode(total.ExitCode)
	}
	return err
}

// checkDurations returns an error for an existing file of --durations that does not hold durations: it would be
// overwritten.
func (cmd *reportCommands) checkDurations(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(cmd.abs(file)); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	if _, err := run.ReadDurations(cmd.abs(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Misuse, err, "choose another file, or remove it",
			"--durations "+file+" already exists and is not a durations file")
	}
	return nil
}

// results is one of the files that are merged.
type results struct {
	*report.Run
	path, shown string    // absolute, and relative to the working directory
	logsDir     string    // the folder with the files of its sessions
	shard       run.Shard // zero for a run without --shard
}

// allResults reads the results that the arguments name, or those in logsDir. It returns all errors joined.
func (cmd *reportCommands) allResults(args []string) ([]results, error) {
	logsDir, projectErr := cmd.logsDir()
	if len(args) == 0 {
		if projectErr != nil {
			return nil, projectErr
		}
		args = []string{logsDir}
	}
	var all []results
	var errs []error
	for _, arg := range args {
		paths, err := resultFiles(cmd.abs(arg))
		if err != nil {
			errs = append(errs, fault.Wrap(fault.Misuse, err, "", "read "+cmd.relative(arg)))
		} else if len(paths) == 0 {
			errs = append(errs, fault.New(fault.Misuse, "`trailblaze run --shard` writes such a file into logsDir",
				"%s contains no %s", cmd.relative(arg), resultsPattern))
		}
		for _, path := range paths {
			if slices.ContainsFunc(all, func(r results) bool { return r.path == path }) {
				continue
			}
			r, err := cmd.oneResult(path)
			errs = append(errs, err)
			if !isResults(path) && projectErr == nil {
				r.logsDir = logsDir // the output of --json can be in any folder
			}
			all = append(all, r)
		}
	}
	return all, errors.Join(errs...)
}

// oneResult reads one file of results.
func (cmd *reportCommands) oneResult(path string) (results, error) {
	r := results{path: path, shown: cmd.relative(path), logsDir: filepath.Dir(path)}
	var err error
	if r.Run, err = report.ReadResults(path); err != nil || r.Started.Shard == "" {
		return r, err
	}
	r.shard, err = run.ParseShard(r.Started.Shard)
	return r, err
}

// isResults reports whether a file has the name of a shard's results.
func isResults(path string) bool {
	ok, _ := filepath.Match(resultsPattern, filepath.Base(path)) // the pattern is valid
	return ok
}

// resultFiles returns path if it is a file, else the files of results below it.
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
		if err == nil && isResults(file) && !d.IsDir() {
			found = append(found, file)
		}
		return err
	})
	return found, err
}

// checkResults returns the results that count, in order of their shards, and what is missing or does not belong
// together.
func checkResults(all []results) (counted []results, problems []error) {
	var parts []run.Part
	var shards []int // for each part, its index in all
	for i, r := range all {
		if reason := incomplete(r); reason != "" {
			hint := "look at the output of the job that ran it"
			problems = append(problems, fault.New(fault.IO, hint, "%s: %s", r.shown, reason))
		}
		if r.shard.Of > 0 {
			parts = append(parts, run.Part{File: r.shown, Shard: r.shard, Plan: r.Started.Plan, Started: r.Began})
			shards = append(shards, i)
		}
	}
	ignored, joinProblems := run.Join(parts)
	for i, r := range all {
		if !slices.ContainsFunc(ignored, func(part int) bool { return shards[part] == i }) {
			counted = append(counted, r)
		}
	}
	slices.SortStableFunc(counted, func(x, y results) int {
		return cmp.Or(cmp.Compare(x.Started.Plan, y.Started.Plan), cmp.Compare(x.shard.Index, y.shard.Index),
			cmp.Compare(x.path, y.path))
	})
	return counted, append(problems, joinProblems...)
}

// incomplete returns why results are not those of exactly one finished run, empty when they are.
func incomplete(r results) string {
	var parts []string
	switch {
	case r.Runs == 0:
		parts = append(parts, "the run ended before its first trail")
	case r.Runs > 1:
		parts = append(parts, fmt.Sprintf("the file has %d runs; write each into its own file", r.Runs))
	case !r.Ended:
		parts = append(parts, "the run did not finish; the trails that finished count")
	}
	if r.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%s of the file cannot be read", text.Count(r.Lost, "line")))
	}
	return strings.Join(parts, "; ")
}

// totals returns the result of all shards. Its duration is that of the longest one, since shards run at the same time.
func totals(all []results, problems bool) event.RunFinished {
	var total event.RunFinished
	for _, r := range all {
		f := r.Finished
		total.Passed, total.Failed, total.Errors = total.Passed+f.Passed, total.Failed+f.Failed, total.Errors+f.Errors
		total.Assisted, total.Healed, total.ModelUse = total.Assisted+f.Assisted, total.Healed+f.Healed, total.Plus(f.ModelUse)
		total.Skipped, total.Flaky = total.Skipped+f.Skipped, total.Flaky+f.Flaky
		total.NotRun, total.Repeated = append(total.NotRun, f.NotRun...), append(total.Repeated, f.Repeated...)
		total.ExitCode, total.DurationMs = fault.Worst(total.ExitCode, f.ExitCode), max(total.DurationMs, f.DurationMs)
	}
	if problems {
		total.ExitCode = fault.Worst(total.ExitCode, fault.ExitInfra)
	}
	return total
}

// replayResults renders the records of all results as those of one run. In JUnit and the HTML report, each problem is
// one more result: without it they could look like a success.
func (cmd *reportCommands) replayResults(f mergeFlags, all []results, problems []error, total event.RunFinished) error {
	junit, html := report.NewJUnit(), report.NewHTML("")
	console := report.NewConsole(cmd.Stdout, cmd.style(cmd.OutTTY), report.ConsoleOptions{
		EndOnly: true, Quiet: cmd.quiet, Now: cmd.Now, Notices: cmd.Stderr, Relative: cmd.shortPath,
	})
	defer console.Close()
	show := func(e event.Event) {
		if !cmd.json {
			console.Handle(event.Record{Time: cmd.Now(), Event: e})
		}
	}
	var measured run.Measured
	for _, r := range all {
		logs := html.HandlerFor(r.logsDir)
		_, err := report.ReadResults(r.path, event.HandlerFunc(func(record event.Record) {
			switch e := record.Event.(type) {
			case event.RunFinished: // the console and the HTML report get one for all results at the end
				junit.Handle(record)
				return
			case event.RunStarted:
				show(e)
			case event.TrailFinished:
				show(e)
				measured.Add(trailKey(r.Started, e.File), e.Outcome, time.Duration(e.DurationMs)*time.Millisecond)
			}
			junit.Handle(record)
			logs.Handle(record)
		}))
		if err != nil {
			return err
		}
		for _, e := range r.Interrupted {
			show(e)
		}
	}
	if len(problems) > 0 {
		last := html.Current
		stream := event.NewStream(cmd.Now, cmd.redactor.Redactor(), junit, html)
		stream.Emit(event.RunStarted{Trails: len(problems), Version: last.Version, Commit: last.Commit})
		for _, problem := range problems {
			stream.Emit(refusal(mergeTitle, problem))
		}
	}
	html.Handle(event.Record{Time: cmd.Now(), Event: total})
	err := cmd.writeMerged(f, console, junit, html, measured.Durations())
	show(total)
	return err
}

// writeMerged writes the reports and the durations that the flags ask for.
func (cmd *reportCommands) writeMerged(
	f mergeFlags, console *report.Console, junit *report.JUnit, html *report.HTML, d run.Durations,
) error {
	var errs []error
	if f.junit != "" {
		errs = append(errs, cmd.writeReport(console, "JUnit", f.junit, junit.Write))
	}
	if f.html != "" {
		errs = append(errs, cmd.writeReport(console, "HTML", htmlFile(f.html), html.Write))
	}
	if f.durations != "" {
		root := "" // without a project, durations of removed trails are kept
		if w, err := cmd.loadProject(); err == nil {
			root = w.Project.Root
		}
		if err := run.WriteDurations(cmd.abs(f.durations), root, d); err != nil {
			errs = append(errs, fault.Wrap(fault.IO, err, "", "write the durations"))
		}
	}
	return errors.Join(errs...)
}

// trailKey returns run.TrailKey for the path of a trail in events.
func trailKey(started event.RunStarted, file string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(started.Dir, file)
	}
	return run.TrailKey(started.Root, file)
}

// mergedRun is the JSON output of report merge.
type mergedRun struct {
	event.RunFinished
	Trails    int           `json:"trails"`
	Shards    []mergedShard `json:"shards"`
	Problems  []string      `json:"problems"`
	JUnit     string        `json:"junit,omitempty"`
	HTML      string        `json:"html,omitempty"`
	Durations string        `json:"durations,omitempty"`
}

// mergedShard is one of the merged files.
type mergedShard struct {
	File  string `json:"file"`
	Shard string `json:"shard"` // empty for a run without --shard
	event.RunFinished
	Trails int  `json:"trails"`
	Ended  bool `json:"ended"`
}

func mergedJSON(f mergeFlags, all []results, total event.RunFinished, problems []error) mergedRun {
	m := mergedRun{
		RunFinished: total, Shards: []mergedShard{}, Problems: []string{},
		JUnit: f.junit, HTML: htmlFile(f.html), Durations: f.durations,
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
