package mcpserver

import (
	"bufio"
	"bytes"
	"io"
)

// line is what the client sent in one line.
type line struct {
	data    []byte // nil when the line is too long
	tooLong bool
	id      []byte // of the request in a line that is too long; nil if it has none
}

// readLines reads lines until in ends, or until stop is closed and the pending read has ended. The channel is then
// closed. Of a line longer than limit bytes only its id is kept.
func readLines(in io.Reader, limit int, stop <-chan struct{}) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			l, err := readLine(r, limit)
			if err == nil || len(l.data) > 0 || l.tooLong {
				select {
				case lines <- l:
				case <-stop:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

func readLine(r *bufio.Reader, limit int) (l line, err error) {
	var ids idScanner
	for {
		part, err := r.ReadSlice('\n')
		if !l.tooLong && len(l.data)+len(part) > limit {
			l.tooLong = true
			ids.write(l.data)
			l.data = nil
		}
		if l.tooLong {
			ids.write(part)
		} else {
			l.data = append(l.data, part...)
		}
		if err != bufio.ErrBufferFull { //nolint:errorlint // ReadSlice returns it as it is
			l.id = ids.id()
			return l, err
		}
	}
}

// maxID is the length in bytes of the longest id that an idScanner keeps.
const maxID = 256

// idScanner finds the value of the key id in the outermost object of a JSON text, which it receives in parts and does
// not keep.
type idScanner struct {
	depth    int
	inString bool
	escaped  bool
	token    []byte // what was read since the last separator at depth 1
	isValue  bool   // the token is the value of the key id
	found    []byte
}

func (s *idScanner) write(part []byte) {
	for _, b := range part {
		s.next(b)
	}
}

func (s *idScanner) next(b byte) {
	if s.inString {
		s.keep(b)
		s.inString = s.escaped || b != '"'
		s.escaped = !s.escaped && b == '\\'
		return
	}
	switch b {
	case '"':
		s.inString = true
		s.keep(b)
	case '{', '[':
		s.depth++
		s.token = nil
	case '}', ']':
		s.endValue()
		s.depth--
	case ',':
		s.endValue()
	case ':':
		if s.depth == 1 {
			s.isValue = string(s.token) == `"id"`
			s.token = nil
		}
	case ' ', '\t', '\r', '\n':
	default:
		s.keep(b)
	}
}

func (s *idScanner) keep(b byte) {
	if s.depth == 1 && len(s.token) <= maxID {
		s.token = append(s.token, b)
	}
}

func (s *idScanner) endValue() {
	if s.depth != 1 {
		return
	}
	if s.isValue && len(s.token) <= maxID {
		s.found = bytes.Clone(s.token)
	}
	s.token, s.isValue = nil, false
}

// id returns the id as JSON, nil if there is none.
func (s *idScanner) id() []byte { return s.found }
