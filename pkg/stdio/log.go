package stdio

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	strayLines = 5   // lines of stdout that are shown when a server never sends a message
	strayLine  = 300 // maximum length of each in bytes
	strayMark  = "[stdout] "
)

// outputLog stores the output of a server that is not protocol messages. It writes stderr and stray lines, which are
// lines of stdout that are not messages, to the log file, and keeps the first stray lines. Writing to it never fails:
// the first error of the file is passed to failed.
type outputLog struct {
	path      string // "" for no file
	max       int64  // maximum size of the file in bytes
	logStdout bool
	notify    func(level, message, hint string)
	failed    func(err error)

	mu      sync.Mutex
	file    *logFile
	closed  bool // nothing more can or may be written to the file
	sources int  // that are not closed yet
	from    source
	midLine bool     // the last byte is not a newline
	pending []func() // functions to call after mu is unlocked
	strays  []string // the first stray lines
}

// source is where a byte of the log comes from.
type source int

const (
	fromStderr source = iota
	fromStdout
)

func newOutputLog(spec Spec) *outputLog {
	return &outputLog{
		path: spec.LogPath, max: spec.limits.orDefault().log, logStdout: spec.LogStdout, notify: spec.Log, failed: spec.LogFailed, sources: 2,
	}
}

// writer returns a writer for what comes from a source; it always succeeds. It is used by one goroutine.
func (l *outputLog) writer(from source) io.Writer { return sourceWriter{l, from} }

type sourceWriter struct {
	l    *outputLog
	from source
}

// Write implements io.Writer.
func (w sourceWriter) Write(p []byte) (int, error) {
	w.l.write(w.from, p)
	return len(p), nil
}

func (l *outputLog) write(from source, p []byte) {
	if len(p) == 0 {
		return
	}
	l.mu.Lock()
	if l.from != from && l.midLine {
		l.append([]byte("\n"))
	}
	l.from = from
	if from == fromStderr {
		l.append(p)
	} else {
		l.appendStray(p)
	}
	pending := l.pending
	l.pending = nil
	l.mu.Unlock()
	for _, f := range pending {
		f()
	}
}

// appendStray adds text from stdout to the file, each line marked.
func (l *outputLog) appendStray(p []byte) {
	for line := range bytes.Lines(p) {
		if !l.midLine {
			l.append([]byte(strayMark))
			l.keepStray(line)
		}
		l.append(line)
	}
}

// keepStray stores the beginning of a stray line. It logs a warning about the first one.
func (l *outputLog) keepStray(line []byte) {
	if len(l.strays) == strayLines {
		return
	}
	text := strings.ToValidUTF8(strings.TrimRight(string(line[:min(len(line), strayLine)]), "\r\n"), "�")
	l.strays = append(l.strays, text)
	if len(l.strays) > 1 || l.logStdout {
		return
	}
	hint := "write to stderr instead; in JavaScript with console.error, in Python with print(…, file=sys.stderr)"
	if l.path != "" {
		hint += "; what it wrote is in " + l.path
	}
	message := fmt.Sprintf("writes to stdout, which carries the protocol: %q", text)
	l.pending = append(l.pending, func() { l.notify("warn", message, hint) })
}

// append adds to the file, which is created with the first byte.
func (l *outputLog) append(p []byte) {
	l.midLine = p[len(p)-1] != '\n'
	if l.path == "" || l.closed {
		return
	}
	var err error
	if l.file == nil {
		l.file, err = openLogFile(l.path, l.max)
	}
	if err == nil {
		err = l.file.write(p)
	}
	if err != nil {
		l.closed = true
		l.pending = append(l.pending, func() { l.failed(err) })
	}
}

func (l *outputLog) strayLines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.strays
}

// closeSource must be called at the end of each source. The last call closes the file.
func (l *outputLog) closeSource() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sources--; l.sources > 0 {
		return
	}
	l.closed = true
	if l.file != nil {
		_ = l.file.close()
	}
}

// stderrWriter writes stderr to the log and passes its lines to a function.
type stderrWriter struct {
	log  *outputLog
	emit func(line string) // may be nil
	line []byte            // incomplete
}

func newStderrWriter(log *outputLog, emit func(line string)) *stderrWriter {
	return &stderrWriter{log: log, emit: emit}
}

// maxStderrLine is the size of the pieces in which a longer line is emitted.
const maxStderrLine = 4 << 10

// Write implements io.Writer; it always succeeds.
func (w *stderrWriter) Write(p []byte) (int, error) {
	w.log.write(fromStderr, p)
	if w.emit == nil {
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		text, after, ended := bytes.Cut(rest, []byte("\n"))
		if room := maxStderrLine - len(w.line); len(text) > room {
			text, after, ended = rest[:room], rest[room:], true
		}
		w.line, rest = append(w.line, text...), after
		if ended {
			w.flush()
		}
	}
	return len(p), nil
}

func (w *stderrWriter) flush() {
	w.emit(strings.ToValidUTF8(string(bytes.TrimSuffix(w.line, []byte("\r"))), "�"))
	w.line = w.line[:0]
}

// Close implements io.Closer.
func (w *stderrWriter) Close() error {
	if len(w.line) > 0 {
		w.flush()
	}
	w.log.closeSource()
	return nil
}
