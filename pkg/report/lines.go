package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// MaxLine is the size in bytes of the longest line of events. The arguments of a call, which are the longest part of an
// event, have at most 8 MiB before they are encoded.
const MaxLine = 64 << 20

// JSONLines writes each record as a line, at once.
type JSONLines struct {
	w   io.Writer
	err error
}

// NewJSONLines returns a handler that writes to w.
func NewJSONLines(w io.Writer) *JSONLines { return &JSONLines{w: w} }

// Handle implements event.Handler. It writes nothing after a failed write.
func (j *JSONLines) Handle(r event.Record) {
	if j.err == nil {
		_, j.err = j.w.Write(recordLine(r, MaxLine))
	}
}

// Err returns the error of the write that failed, if one did.
func (j *JSONLines) Err() error { return j.err }

// SessionLog writes the records of one session to a file, as the same lines as JSONLines. A timer writes those of
// writeDelay in one write, so that no call waits for the disk, or for a goroutine that is woken. A process that is killed
// loses the records of that time.
type SessionLog struct {
	file    io.WriteCloser // nil if it could not be created
	onError func(error)

	mu        sync.Mutex
	unwritten []event.Record
	due       *time.Timer // calls write; set while records are unwritten
	closed    bool

	writing sync.Mutex // is locked before mu
	failed  error      // the first error of the file
}

const (
	maxUnwritten = 256      // records; with more, calls wait for the disk
	maxWrite     = 64 << 10 // bytes in one write, approximately
	writeDelay   = 5 * time.Millisecond
)

// NewSessionLog creates the file at path. When the log cannot be written, onError is called once and the run continues.
// It is called from here or from Close, never from Handle: the stream is locked there, so that onError could not emit
// an event.
func NewSessionLog(path string, onError func(error)) *SessionLog {
	file, err := os.Create(path)
	if err != nil {
		onError(err)
		return &SessionLog{closed: true}
	}
	return startSessionLog(file, onError)
}

func startSessionLog(file io.WriteCloser, onError func(error)) *SessionLog {
	l := &SessionLog{file: file, onError: onError}
	l.due = time.AfterFunc(writeDelay, l.write)
	return l
}

// Handle implements event.Handler. It drops records after Close.
func (l *SessionLog) Handle(r event.Record) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.unwritten = append(l.unwritten, r)
	n := len(l.unwritten)
	if n == 1 {
		l.due.Reset(writeDelay)
	}
	l.mu.Unlock()
	if n >= maxUnwritten {
		l.write()
	}
}

// write writes the records so far. It drops them after an error.
func (l *SessionLog) write() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	records := l.unwritten
	l.unwritten = nil
	l.mu.Unlock()
	var lines []byte
	for i, r := range records {
		if l.failed != nil {
			return
		}
		lines = append(lines, recordLine(r, MaxLine)...)
		if len(lines) >= maxWrite || i == len(records)-1 {
			_, l.failed = l.file.Write(lines)
			lines = lines[:0]
		}
	}
}

// Close writes the remaining records and closes the file. It returns the error that it passes to onError.
func (l *SessionLog) Close() error {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.mu.Unlock()
	if closed {
		return nil
	}
	l.due.Stop()
	l.write()
	l.writing.Lock() // of the timer, which may write the last records
	defer l.writing.Unlock()
	if err := l.file.Close(); l.failed == nil {
		l.failed = err
	}
	if l.failed != nil {
		l.onError(l.failed)
	}
	return l.failed
}

// recordLine returns a record as a line of JSON, or a log record with the error when it cannot be encoded or would have
// more than limit bytes.
func recordLine(r event.Record, limit int) []byte {
	line, err := encode(r)
	if err == nil {
		if line = escapeControls(append(line, '\n')); len(line) <= limit {
			return line
		}
		err = fmt.Errorf("it has %d bytes, more than %d", len(line), limit)
	}
	r.Event = event.Log{Level: "error", Source: "events", Message: fmt.Sprintf("a %s record cannot be encoded: %v", r.Event.Type(), err)}
	line, _ = jsonLine(r) // encoding strings cannot fail
	return line
}

// encode encodes a record without json.Marshal, which would check the JSON again. It recovers panics, which would
// otherwise end the process from the timer of a session log.
func encode(r event.Record) (line []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panicked(p)
		}
	}()
	return r.MarshalJSON()
}

// jsonLine encodes v as one line. It escapes the control characters that JSON allows in strings.
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
	if !slices.ContainsFunc(line, func(b byte) bool { return b >= 0x7f }) { // a quick check for the usual case
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
