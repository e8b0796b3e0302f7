package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
)

// readShard sets the shard and the durations of o. It returns a warning when the durations file is invalid; trails are
// then divided by their number.
func (cmd *runCommand) readShard(project *config.Project, f runFlags, o *run.Options) (warning *event.Log, err error) {
	if f.shard == "" {
		if f.durations != "" {
			return nil, fault.New(fault.Misuse, "add --shard, or leave --durations out",
				"--durations has no effect without --shard")
		}
		return nil, nil
	}
	if o.Shard, err = run.ParseShard(f.shard); err != nil {
		return nil, err
	}
	file := filepath.Join(project.LogsDir, run.DurationsFile)
	if f.durations != "" {
		file = cmd.abs(f.durations)
	}
	o.Durations, err = run.ReadDurations(file)
	switch {
	case err == nil:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist) && f.durations == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.Misuse, "`trailblaze report merge --durations FILE` writes one",
			"--durations %s does not exist", f.durations)
	}
	return &event.Log{
		Level: "warn", Source: "run",
		Message: "trails are divided by their number, not by their durations: " + err.Error(),
		Hint:    "every shard must use the same file; remove it and write one with `trailblaze report merge --durations`",
	}, nil
}

// resultsFile returns the path of the file that a shard writes for `report merge`.
func resultsFile(logsDir string, s run.Shard) string {
	return filepath.Join(logsDir, fmt.Sprintf("results-%d-of-%d.ndjson", s.Index, s.Of))
}

// resultsPattern matches the names of such files.
const resultsPattern = "results-*-of-*.ndjson"

// removeResults removes the results that an earlier run of the shard wrote, also when this run then fails to start:
// they would be taken for its results.
func (cmd *runCommand) removeResults(shard string) {
	s, err := run.ParseShard(shard)
	w, _ := cmd.loadProject() // both errors are reported later; an invalid project has a LogsDir too
	if err == nil && w != nil {
		_ = os.Remove(resultsFile(w.Project.LogsDir, s)) // if this fails, so does writing the new file, which is reported
	}
}

// writeResults adds a renderer that writes all events of a shard into its results file, which must be writable. It does
// nothing without a shard, and in a dry run, which has no results.
func (r *renderers) writeResults(project *config.Project, o run.Options) error {
	if o.Shard.Of == 0 || o.DryRun {
		return nil
	}
	var failed error
	err := os.MkdirAll(project.LogsDir, 0o755)
	log := report.NewSessionLog(resultsFile(project.LogsDir, o.Shard), func(err error) { failed = err })
	const what, hint = "write the results of the shard", "free disk space, or set logsDir to a writable folder"
	if err = errors.Join(err, failed); err != nil {
		return fault.Wrap(fault.IO, err, hint, what)
	}
	r.handlers = append(r.handlers, log)
	r.closers = append(r.closers, func() error {
		if err := log.Close(); err != nil {
			return fault.Wrap(fault.IO, err, hint, what)
		}
		return nil
	})
	return nil
}
