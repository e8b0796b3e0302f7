package report

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// EventsFile is the name of a session's log in the session's folder.
const EventsFile = "events.ndjson"

// ErrNoEvents is wrapped in the error of AddSession for a log without events.
var ErrNoEvents = errors.New("no events of a trail")

// AddSession adds the events of the log in a session's folder. It counts lines that cannot be decoded, such as the last
// one of a run that was killed. A folder without a log, or with a log without events, is an error.
func (r *Run) AddSession(dir string) error {
	file, err := files.Open(filepath.Join(dir, EventsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Misuse, "give a folder below the project's logsDir, or `latest`", "%s is not a session's folder: it has no %s", dir, EventsFile)
	}
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "", "read a session")
	}
	defer file.Close()
	before := len(r.Cases)
	lost, err := readRecords(file, MaxLine, func(record event.Record) { r.fold(record, func() string { return dir }) })
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "", "read a session")
	}
	if len(r.Cases) == before {
		return &fault.Error{
			Kind: fault.Misuse, Hint: "run the trail again", Message: file.Name() + " has " + ErrNoEvents.Error(), Cause: ErrNoEvents,
		}
	}
	r.Cases[len(r.Cases)-1].Lost = lost
	return nil
}

// ReadResults reads a file with the events of a run, of a shard or of one with --json, and passes them to handlers. The
// Run has counts and no cases. The exit code of a run that did not finish is ExitInfra at least. A file without events
// is an error of kind Misuse.
func ReadResults(path string, handlers ...event.Handler) (*Run, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "", "read results")
	}
	defer file.Close()
	run, read := newStreamedRun(), 0
	dir := filepath.Dir(path)
	run.Lost, err = readRecords(file, MaxLine, func(r event.Record) {
		read++
		r.Event = withMovedArtifacts(r, dir)
		run.Fold(r)
		for _, h := range handlers {
			h.Handle(r)
		}
	})
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Misuse, err, "", "read results")
	case read == 0 && run.Lost > 1:
		return nil, fault.New(fault.Misuse, "give a file that `run --shard` leaves in logsDir, or the output of `run --json`", "%s has no events", path)
	}
	run.finish()
	return run, nil
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

// finish ends trails and runs that did not finish.
func (r *Run) finish() {
	for _, e := range r.endings() {
		r.Interrupted = append(r.Interrupted, *r.Fold(e).Finished)
	}
	if !r.Ended {
		r.Finished.ExitCode = fault.Worst(r.Finished.ExitCode, fault.ExitInfra)
		r.Finished.DurationMs = cmp.Or(r.Finished.DurationMs, r.Last.Sub(r.Began).Milliseconds())
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
