package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/trailblaze/trailblaze/pkg/event"
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

// SessionLog keeps the records of one session in a file, the same lines as JSONLines.
type SessionLog struct {
	file    *os.File
	lines   *JSONLines
	onError func(error)
}

// NewSessionLog creates the file at path. A log that cannot be written is told to onError once and the run goes on. onError
// is called from here or from Close, never from Handle: there the stream is busy, and whoever wants to send an event about
// the error would wait for ever.
func NewSessionLog(path string, onError func(error)) *SessionLog {
	file, err := os.Create(path)
	if err != nil {
		onError(err)
		return &SessionLog{}
	}
	return &SessionLog{file: file, lines: NewJSONLines(file), onError: onError}
}

// Handle implements event.Handler. Records that come after Close are dropped.
func (l *SessionLog) Handle(r event.Record) {
	if l.file != nil {
		l.lines.Handle(r)
	}
}

// Close closes the file. It returns what it tells onError.
func (l *SessionLog) Close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	if l.lines.Err() != nil {
		err = l.lines.Err()
	}
	l.file = nil
	if err != nil {
		l.onError(err)
	}
	return err
}

// recordLine is a record as JSON, or a log record that says why there is none.
func recordLine(r event.Record) []byte {
	line, err := r.MarshalJSON() // not through an encoder, which would go over it once more
	if err == nil {
		return escapeControls(append(line, '\n'))
	}
	r.Event = event.Log{Level: "error", Source: "events", Message: fmt.Sprintf("a %s record has no JSON form: %v", r.Event.Type(), err)}
	line, _ = jsonLine(r) // strings alone always encode
	return line
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
	if !bytes.ContainsFunc(line, terminalControl) {
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
