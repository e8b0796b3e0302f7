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
)

// Results is what a file with the events of a run tells: of a shard, or of any run with --json.
type Results struct {
	Started  event.RunStarted // the first one
	Runs     int              // how many there are; 1 unless somebody put files together, 0 for a run that ended before it began
	Ended    bool             // the run came to its end
	Finished event.RunFinished
	CutShort []event.TrailFinished // trails that began and did not end; they are counted as errors
	Began    time.Time
	Lost     int // lines that could not be read

	last time.Time
	open []started
}

// ReadResults reads a file and hands its records to handlers. Counts are those of the trails that ended, and for a run that came to no end
// the exit code is that of a breakdown. A file in which nothing is an event is an error of kind Misuse.
func ReadResults(path string, handlers ...event.Handler) (*Results, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "", "read results")
	}
	defer file.Close()
	res, read := &Results{}, 0
	dir := filepath.Dir(path)
	res.Lost, err = readRecords(file, func(r event.Record) {
		read++
		r.Event = moved(r, dir)
		res.take(r)
		for _, h := range handlers {
			h.Handle(r)
		}
	})
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Misuse, err, "", "read results")
	case read == 0 && res.Lost > 1:
		return nil, fault.New(fault.Misuse, "give what `run --shard` leaves in logsDir, or what `run --json` prints", "%s holds no events", path)
	}
	res.end()
	return res, nil
}

// moved says where the files of a session are now: beside the results, if somebody has carried them there together.
func moved(r event.Record, dir string) event.Event {
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

func (res *Results) take(r event.Record) {
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
		res.open = without(res.open, which{e.File, e.Device, e.Title})
		res.open = append(res.open, started{e, r.Time})
	case event.TrailFinished:
		res.open = without(res.open, whichOf(e))
		res.Finished.Count(e.Outcome, e.Flaky)
	case event.RunFinished:
		res.Ended = true
		res.Finished.NotRun = append(res.Finished.NotRun, e.NotRun...)
		res.Finished.ExitCode, res.Finished.DurationMs = fault.Worst(res.Finished.ExitCode, e.ExitCode), e.DurationMs
	}
}

// end regards what did not come to its end.
func (res *Results) end() {
	for _, t := range res.open {
		e := cutShort(t.TrailStarted, res.last.Sub(t.at))
		res.CutShort = append(res.CutShort, e)
		res.Finished.Count(e.Outcome, e.Flaky)
	}
	if !res.Ended {
		res.Finished.ExitCode = fault.Worst(res.Finished.ExitCode, fault.ExitInfra)
		res.Finished.DurationMs = cmp.Or(res.Finished.DurationMs, res.last.Sub(res.Began).Milliseconds())
	}
}

// readRecords reads lines of events and counts those that it cannot read: the file of a run that was killed ends in the middle of one.
func readRecords(r io.Reader, each func(event.Record)) (lost int, err error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
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
