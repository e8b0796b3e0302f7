package spawn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	ringLines  = 64      // specification, section 5
	tailBytes  = 4 << 10 // likewise
	ringLine   = 4 << 10 // a longer line takes several places in the ring
	strayLines = 5       // of stdout, to show when a server never says anything else
	strayLine  = 300
	strayMark  = "[stdout] "
)

// record keeps what a server says beside the protocol: the log file, the last lines of stderr, the first stray lines of
// stdout. It never fails: what cannot be written to the file costs one notice.
type record struct {
	path       string // "" for no file
	apart      bool   // stdout may be written to
	notice     func(level, message, hint string)
	unwritable func(err error)

	mu      sync.Mutex
	file    *os.File
	closed  bool     // nothing more can or may be written to it
	from    source   // of the last byte
	midLine bool     // the last byte is no newline
	tell    []func() // to call once mu is free

	ring  [ringLines + 1][]byte // the newest line is incomplete
	last  int                   // its index, counted without end
	stray []string
}

type source int

const (
	fromStderr source = iota
	fromStdout
)

// sink is the record as one of its sources sees it, behind the redaction of secrets. It is used by one goroutine.
type sink struct {
	r    *record
	from source
}

// Write implements io.Writer; it always succeeds.
func (s sink) Write(p []byte) (int, error) {
	s.r.write(s.from, p)
	return len(p), nil
}

// Close implements io.Closer.
func (sink) Close() error { return nil }

// sink returns a writer for a source. redact may be nil. Closing it completes what redact held back.
func (r *record) sink(from source, redact func(io.Writer) io.WriteCloser) io.WriteCloser {
	if redact == nil {
		return sink{r, from}
	}
	return redact(sink{r, from})
}

func (r *record) write(from source, p []byte) {
	if len(p) == 0 {
		return
	}
	r.mu.Lock()
	if r.from != from && r.midLine {
		r.append([]byte("\n"))
	}
	r.from = from
	if from == fromStderr {
		r.remember(p)
		r.append(p)
	} else {
		r.mark(p)
	}
	tell := r.tell
	r.tell = nil
	r.mu.Unlock()
	for _, f := range tell {
		f()
	}
}

// mark adds stray stdout to the file, marked.
func (r *record) mark(p []byte) {
	for line := range bytes.Lines(p) {
		if !r.midLine {
			r.append([]byte(strayMark))
			r.strayed(line)
		}
		r.append(line)
	}
}

// strayed notes the first piece of a stray line.
func (r *record) strayed(line []byte) {
	if len(r.stray) == strayLines {
		return
	}
	text := strings.ToValidUTF8(strings.TrimRight(string(line[:min(len(line), strayLine)]), "\r\n"), "�")
	r.stray = append(r.stray, text)
	if len(r.stray) > 1 || r.apart {
		return
	}
	hint := "write to stderr instead; in JavaScript, with console.error"
	if r.path != "" {
		hint += "; what it wrote is in " + r.path
	}
	message := fmt.Sprintf("writes to stdout, which carries the protocol: %q", text)
	r.tell = append(r.tell, func() { r.notice("warn", message, hint) })
}

// append adds to the file, which is created with the first byte.
func (r *record) append(p []byte) {
	r.midLine = p[len(p)-1] != '\n'
	if r.path == "" || r.closed {
		return
	}
	var err error
	if r.file == nil {
		r.file, err = create(r.path)
	}
	if err == nil {
		_, err = r.file.Write(p)
	}
	if err != nil {
		r.closed = true
		r.tell = append(r.tell, func() { r.unwritable(err) })
	}
}

func create(path string) (*os.File, error) {
	const flags = os.O_CREATE | os.O_APPEND | os.O_WRONLY
	file, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		file, err = os.OpenFile(path, flags, 0o600)
	}
	return file, err
}

// remember puts p into the ring.
func (r *record) remember(p []byte) {
	for len(p) > 0 {
		line := &r.ring[r.last%len(r.ring)]
		text, _, ended := bytes.Cut(p, []byte("\n"))
		n := min(len(text), ringLine-len(*line))
		*line = append(*line, text[:n]...)
		p = p[n:]
		if n == len(text) {
			if !ended {
				return
			}
			p = p[1:]
		}
		r.last++
		r.ring[r.last%len(r.ring)] = r.ring[r.last%len(r.ring)][:0]
	}
}

// remembered returns the lines of the ring.
func (r *record) remembered() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for i := max(0, r.last-ringLines); i <= r.last; i++ {
		lines = append(lines, string(r.ring[i%len(r.ring)]))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// tail returns the last lines of text, at most tailBytes of them.
func tail(text string) string {
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
		if _, whole, ok := strings.Cut(text, "\n"); ok {
			text = whole
		}
	}
	return strings.ToValidUTF8(text, "�")
}

func (r *record) strays() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stray
}

// close ends the file. Nothing may be written afterwards.
func (r *record) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.file != nil {
		_ = r.file.Close()
	}
}
