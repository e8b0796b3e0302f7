package report

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// Results are read from a file with the events of a run: of a shard, or of a run with --json.
type Results struct {
	Started     event.RunStarted // the first one
	Runs        int              // number of runs; more than 1 for concatenated files, 0 for a run that ended before it started
	Ended       bool             // the last run has finished
	Finished    event.RunFinished
	Interrupted []event.TrailFinished // trails that started and did not finish, which count as errors
	Began       time.Time
	Lost        int // number of lines that could not be decoded

	last time.Time
	open []openTrail
}

// ReadResults reads a file and passes its records to handlers. The counts are those of the trails in it. The exit code
// of a run that did not finish is ExitInfra at least. A file without events is an error of kind Misuse.
func ReadResults(path string, handlers ...event.Handler) (*Results, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "", "read results")
	}
	defer file.Close()
	res, read := &Results{}, 0
	dir := filepath.Dir(path)
	res.Lost, err = readRecords(file, MaxLine, func(r event.Record) {
		read++
		r.Event = withMovedArtifacts(r, dir)
		res.add(r)
		for _, h := range handlers {
			h.Handle(r)
		}
	})
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Misuse, err, "", "read results")
	case read == 0 && res.Lost > 1:
		return nil, fault.New(fault.Misuse, "give a file that `run --shard` leaves in logsDir, or the output of `run --json`", "%s has no events", path)
	}
	res.finish()
	return res, nil
}

// withMovedArtifacts returns the event of a record with the paths of artifacts that were moved together with the
// results.
func withMovedArtifacts(r event.Record, dir string) event.Event {
	e, ok := r.Event.(event.TrailFinished)
	if !ok || r.Session == "" {
		return r.Event
	}
	here := make([]string, len(e.Artifacts))
	for i, file := range e.Artifacts {
		here[i] = file
		if _, below, found := strings.Cut(filepath.ToSlash(file), "/"+r.Session+"/"); found {
			if path := filepath.Join(dir, r.Session, filepath.FromSlash(below)); isFile(path) {
				here[i] = path
			}
		}
	}
	e.Artifacts = here
	return e
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (res *Results) add(r event.Record) {
	if res.Began.IsZero() {
		res.Began = r.Time
	}
	res.last = r.Time
	switch e := r.Event.(type) {
	case event.RunStarted:
		if res.Runs++; res.Runs == 1 {
			res.Started = e
		}
		res.Ended = false
	case event.TrailStarted:
		res.open = withoutTrail(res.open, startedID(e))
		res.open = append(res.open, openTrail{TrailStarted: e, at: r.Time})
	case event.TrailFinished:
		res.open = withoutTrail(res.open, trailIDOf(e))
		res.Finished.Count(e.Outcome, e.Flaky)
		res.Finished.CountRepeat(e)
	case event.RunFinished:
		res.Ended = true
		res.Finished.NotRun = append(res.Finished.NotRun, e.NotRun...)
		res.Finished.ExitCode, res.Finished.DurationMs = fault.Worst(res.Finished.ExitCode, e.ExitCode), e.DurationMs
	}
}

// finish adds trails and runs that did not finish.
func (res *Results) finish() {
	for _, t := range res.open {
		e := interrupted(t.TrailStarted, res.last.Sub(t.at))
		res.Interrupted = append(res.Interrupted, e)
		res.Finished.Count(e.Outcome, e.Flaky)
		res.Finished.CountRepeat(e)
	}
	if !res.Ended {
		res.Finished.ExitCode = fault.Worst(res.Finished.ExitCode, fault.ExitInfra)
		res.Finished.DurationMs = cmp.Or(res.Finished.DurationMs, res.last.Sub(res.Began).Milliseconds())
	}
}

// readRecords decodes lines of events and counts those that are invalid, such as the last line of a run that was
// killed, and those of more than limit bytes, which it does not keep in memory.
func readRecords(r io.Reader, limit int, each func(event.Record)) (lost int, err error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, tooLong, err := readLine(lines, limit)
		if tooLong {
			lost++
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			record, bad := event.Decode(line)
			switch {
			case bad == nil:
				each(record)
			case !errors.Is(bad, event.ErrUnknown):
				lost++
			}
		}
		if errors.Is(err, io.EOF) {
			return lost, nil
		}
		if err != nil {
			return lost, err
		}
	}
}

// readLine reads a line. It returns no more than the beginning of one of more than limit bytes.
func readLine(r *bufio.Reader, limit int) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > limit; !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}
