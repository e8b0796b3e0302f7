package spawn

import (
	"bytes"
	"strings"
	"sync"
)

const (
	tailLines = 64      // specification, section 5
	tailBytes = 4 << 10 // likewise
	tailLine  = 4 << 10 // a longer line counts as several
)

// tail keeps the last lines that are written to it. It may be used from any goroutine.
type tail struct {
	mu   sync.Mutex
	ring [tailLines + 1][]byte // the newest line is incomplete
	last int                   // its index, counted without end
}

// Write implements io.Writer; it always succeeds.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	written := len(p)
	for len(p) > 0 {
		line := &t.ring[t.last%len(t.ring)]
		text, _, ended := bytes.Cut(p, []byte("\n"))
		n := min(len(text), tailLine-len(*line))
		*line = append(*line, text[:n]...)
		p = p[n:]
		if n == len(text) {
			if !ended {
				break
			}
			p = p[1:]
		}
		t.last++
		t.ring[t.last%len(t.ring)] = t.ring[t.last%len(t.ring)][:0]
	}
	return written, nil
}

// lines returns the lines that are kept.
func (t *tail) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for i := max(0, t.last-tailLines); i <= t.last; i++ {
		lines = append(lines, string(t.ring[i%len(t.ring)]))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// lastBytes returns the last lines of text, at most tailBytes of them.
func lastBytes(text string) string {
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
		if _, whole, ok := strings.Cut(text, "\n"); ok {
			text = whole
		}
	}
	return strings.ToValidUTF8(text, "�")
}
