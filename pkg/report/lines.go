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

// SessionLog writes the records of one session to a file, as the same lines as JSONLines. Its goroutine writes them, so
// that no call waits for the disk: in one write when a call has finished, or when no record has come for flushDelay. A
// process that is killed loses the records of that time.
type SessionLog struct {
	file    io.WriteCloser
	onError func(error)
	written chan error // receives the first error, or nil, when all is written

	mu      sync.Mutex
	records chan event.Record // nil when closed
}

const (
	maxUnwritten = 256      // records; with more, calls wait for the disk
	maxWrite     = 64 << 10 // bytes in one write, approximately
	flushDelay   = 50 * time.Millisecond
)

// NewSessionLog creates the file at path. When the log cannot be written, onError is called once and the run continues.
// It is called from here or from Close, never from Handle: the stream is locked there, so that onError could not emit
// an event.
func NewSessionLog(path string, onError func(error)) *SessionLog {
	file, err := os.Create(path)
	if err != nil {
		onError(err)
		return &SessionLog{}
	}
	return startSessionLog(file, onError)
}

func startSessionLog(file io.WriteCloser, onError func(error)) *SessionLog {
	records := make(chan event.Record, maxUnwritten)
	l := &SessionLog{file: file, onError: onError, written: make(chan error, 1), records: records}
	go func() { l.written <- l.write(records) }()
	return l
}

// Handle implements event.Handler. It drops records after Close.
func (l *SessionLog) Handle(r event.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records != nil {
		l.records <- r
	}
}

// write receives records until the channel is closed, also after an error, because Handle may wait for room.
func (l *SessionLog) write(records <-chan event.Record) error {
	var lines []byte
	var failed error
	flush := func() {
		if len(lines) > 0 && failed == nil {
			_, failed = l.file.Write(lines)
		}
		lines = lines[:0]
	}
	idle := time.NewTimer(flushDelay)
	defer idle.Stop()
	for {
		select {
		case <-idle.C:
			flush()
			continue
		case r, ok := <-records:
			if !ok {
				flush()
				if err := l.file.Close(); failed == nil {
					failed = err
				}
				return failed
			}
			lines = append(lines, recordLine(r, MaxLine)...)
			_, callFinished := r.Event.(event.CallFinished)
			if callFinished && len(records) == 0 || len(lines) >= maxWrite {
				flush()
			}
			idle.Reset(flushDelay)
		}
	}
}

// Close writes the remaining records and closes the file. It returns the error that it passes to onError.
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
// otherwise end the process from the goroutine of a session log.
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
