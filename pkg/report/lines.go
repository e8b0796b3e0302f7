package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// JSONLines writes one record per line, each as soon as it happens.
type JSONLines struct {
	w   io.Writer
	err error
}

// NewJSONLines writes to w.
func NewJSONLines(w io.Writer) *JSONLines { return &JSONLines{w: w} }

// Handle implements event.Handler. After a failed write it writes no more.
func (j *JSONLines) Handle(r event.Record) {
	if j.err == nil {
		_, j.err = j.w.Write(recordLine(r))
	}
}

// Err returns the error of the write that failed, if one did.
func (j *JSONLines) Err() error { return j.err }

// SessionLog keeps the records of one session in a file, the same lines as JSONLines. A goroutine of its own writes them, all that
// are there at once: no call waits for the disk, and a process that is killed loses what came in its last moment.
type SessionLog struct {
	file    *os.File
	onError func(error)
	written chan error // the first one, or nil, when all is written

	mu      sync.Mutex
	records chan event.Record // nil when closed
}

const (
	maxUnwritten = 256      // records; then the session waits for the disk after all
	maxWrite     = 64 << 10 // bytes, about
)

// NewSessionLog creates the file at path. A log that cannot be written is told to onError once and the run goes on. onError
// is called from here or from Close, never from Handle: there the stream is busy, and whoever wants to send an event about
// the error would wait for ever.
func NewSessionLog(path string, onError func(error)) *SessionLog {
	file, err := os.Create(path)
	if err != nil {
		onError(err)
		return &SessionLog{}
	}
	records := make(chan event.Record, maxUnwritten)
	l := &SessionLog{file: file, onError: onError, written: make(chan error, 1), records: records}
	go func() { l.written <- l.write(records) }()
	return l
}

// Handle implements event.Handler. Records that come after Close are dropped.
func (l *SessionLog) Handle(r event.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records != nil {
		l.records <- r
	}
}

// write takes records until there are no more, also when they cannot be written: somebody may wait for room.
func (l *SessionLog) write(records <-chan event.Record) error {
	var lines []byte
	var failed error
	for r := range records {
		lines = append(lines, recordLine(r)...)
		if len(records) > 0 && len(lines) < maxWrite {
			continue
		}
		if failed == nil {
			_, failed = l.file.Write(lines)
		}
		lines = lines[:0]
	}
	if err := l.file.Close(); failed == nil {
		failed = err
	}
	return failed
}

// Close writes what is left and closes the file. It returns what it tells onError.
func (l *SessionLog) Close() error {
	l.mu.Lock()
	records := l.records
	l.records = nil
	l.mu.Unlock()
	if records == nil {
		return nil
	}
	close(records)
	err := <-l.written
	if err != nil {
		l.onError(err)
	}
	return err
}

// recordLine is a record as JSON, or a log record that says why there is none.
func recordLine(r event.Record) []byte {
	line, err := encode(r)
	if err == nil {
		return escapeControls(append(line, '\n'))
	}
	r.Event = event.Log{Level: "error", Source: "events", Message: fmt.Sprintf("a %s record has no JSON form: %v", r.Event.Type(), err)}
	line, _ = jsonLine(r) // strings alone always encode
	return line
}

// encode does not go through an encoder, which would go over the record's JSON once more. A session log has nobody above it
// who would recover a panic.
func encode(r event.Record) (line []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked(p)
		}
	}()
	return r.MarshalJSON()
}

// jsonLine is v as one line. Control characters that JSON allows in a string, but a terminal would obey, are escaped.
func jsonLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeControls(b.Bytes()), nil
}

func escapeControls(line []byte) []byte {
	if !slices.ContainsFunc(line, func(b byte) bool { return b >= 0x7f }) { // quickly told, and the usual case
		return line
	}
	var safe bytes.Buffer
	for _, c := range string(line) {
		if terminalControl(c) {
			fmt.Fprintf(&safe, `\u%04x`, c)
			continue
		}
		safe.WriteRune(c)
	}
	return safe.Bytes()
}

func terminalControl(c rune) bool { return c >= 0x7f && isControl(c) }
