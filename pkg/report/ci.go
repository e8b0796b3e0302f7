package report

import (
	"bytes"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// NewCIWriter returns a writer that passes text on to w, with a space in what a CI runner would take for a command: ::
// at the beginning of a line (GitHub), and ##[, ##vso[ (Azure) and ##teamcity[ anywhere. Text of tools and pages could
// otherwise set variables, or hide what follows. In a stream of JSON the bracket is escaped instead, which does not
// change its values.
//
// It does not buffer text, and may be used by any goroutine.
func NewCIWriter(w io.Writer, isJSON bool) io.Writer {
	return &ciWriter{w: w, isJSON: isJSON, lineStart: true}
}

// withoutCommands returns a text as NewCIWriter writes it.
func withoutCommands(text string) string {
	var out bytes.Buffer
	_, _ = NewCIWriter(&out, false).Write([]byte(text))
	return out.String()
}

type ciWriter struct {
	w      io.Writer
	isJSON bool

	mu        sync.Mutex
	lineStart bool   // nothing but white space was written in this line
	colon     bool   // and then a colon
	prefix    []byte // the end of what was written that may begin a command with ##
}

// Write implements io.Writer. The number of bytes is len(p) unless writing fails.
func (c *ciWriter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]byte, 0, len(p)+8)
	for i, b := range p {
		if c.completesCommand(p[i:]) {
			out = append(out, c.separate(b)...)
		} else {
			out = append(out, b)
		}
	}
	if _, err := c.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *ciWriter) separate(b byte) []byte {
	if c.isJSON && b == '[' {
		return []byte(`\u005b`)
	}
	return []byte{' ', b}
}

// completesCommand reports whether the first byte of rest is the last one of a command's beginning, and notes it.
func (c *ciWriter) completesCommand(rest []byte) bool {
	b := rest[0]
	colons := c.colon && b == ':'
	c.colon = c.lineStart && b == ':'
	c.lineStart = b == '\n' || b == '\r' || c.lineStart && startsWithSpace(rest)

	c.prefix = append(c.prefix, b)
	for len(c.prefix) > 0 && !isCommandPrefix(c.prefix) {
		c.prefix = c.prefix[1:]
	}
	brackets := b == '[' && len(c.prefix) > 0
	if brackets {
		c.prefix = nil
	}
	return colons || brackets
}

func isCommandPrefix(b []byte) bool {
	for _, command := range []string{"##[", "##vso[", "##teamcity["} {
		if bytes.HasPrefix([]byte(command), b) {
			return true
		}
	}
	return false
}

// startsWithSpace reports whether b begins with white space, or with bytes that are not a whole character.
func startsWithSpace(b []byte) bool {
	if b[0] >= utf8.RuneSelf && !utf8.RuneStart(b[0]) {
		return true // the rest of a character, whose first byte was white space
	}
	r, size := utf8.DecodeRune(b)
	return unicode.IsSpace(r) || r == utf8.RuneError && size <= 1
}
