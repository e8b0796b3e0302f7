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

// cutBy reads --shard and the durations that shards are cut by. A file of durations that cannot be understood is not used, and the warning says so.
func (a *app) cutBy(project *config.Project, f runFlags, o *run.Options) (warning *event.Log, err error) {
	if f.shard == "" {
		if f.durations != "" {
			return nil, fault.New(fault.Misuse, "add --shard, or leave it out", "--durations is what --shard cuts by")
		}
		return nil, nil
	}
	if o.Shard, err = run.ParseShard(f.shard); err != nil {
		return nil, err
	}
	file := filepath.Join(project.LogsDir, run.DurationsFile)
	if f.durations != "" {
		file = a.abs(f.durations)
	}
	o.Durations, err = run.ReadDurations(file)
	switch {
	case err == nil:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist) && f.durations == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.Misuse, "`trailblaze report merge --durations FILE` writes one", "--durations %s does not exist", f.durations)
	}
	return &event.Log{
		Level: "warn", Source: "run", Message: "shards are cut by the number of trails: " + err.Error(),
		Hint: "every shard must be cut by the same file; remove it, and write it anew with `trailblaze report merge --durations`",
	}, nil
}

// resultsFile is what a shard leaves for `report merge`.
func resultsFile(logsDir string, s run.Shard) string {
	return filepath.Join(logsDir, fmt.Sprintf("results-%d-of-%d.ndjson", s.Index, s.Of))
}

// resultsPattern are all files of that kind in a folder.
const resultsPattern = "results-*-of-*.ndjson"

// forgetResults removes what an earlier run of the shard left, whatever may be wrong with this one: it would be taken for what this one did.
func (a *app) forgetResults(shard string) {
	s, err := run.ParseShard(shard)
	project, _ := a.loadProject() // what is wrong is said where they are used; where logsDir is, a broken project knows as well
	if err == nil && project != nil {
		_ = os.Remove(resultsFile(project.LogsDir, s)) // what cannot be removed cannot be written either
	}
}

// keepResults writes all events of a shard into a file. One that cannot be written is an error: without it the shard would be missing.
func (r *renderers) keepResults(project *config.Project, s run.Shard) error {
	if s.Of == 0 {
		return nil
	}
	var failed error
	err := os.MkdirAll(project.LogsDir, 0o755)
	log := report.NewSessionLog(resultsFile(project.LogsDir, s), func(err error) { failed = err })
	const what, hint = "write the results of the shard", "free some space, or set logsDir to a folder that can be written"
	if err = errors.Join(err, failed); err != nil {
		return fault.Wrap(fault.Server, err, hint, what)
	}
	r.handlers = append(r.handlers, log)
	r.closers = append(r.closers, func() error {
		if err := log.Close(); err != nil {
			return fault.Wrap(fault.Server, err, hint, what)
		}
		return nil
	})
	return nil
}
