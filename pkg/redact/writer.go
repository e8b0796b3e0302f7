package redact

import (
	"bytes"
	"io"
	"math/bits"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Writer returns a writer that redacts what it passes on to w, also where a secret arrives in pieces. It holds back only
// what may be the beginning of a secret. Close passes on the rest and does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	if r.idle() {
		return passThrough{w}
	}
	return &writer{w: w, scanner: scanner{r: r}}
}

type passThrough struct{ io.Writer }

func (passThrough) Close() error { return nil }

type writer struct {
	w       io.Writer
	scanner scanner
	held    []byte // read, not yet settled
	out     []byte
	err     error
}

func (w *writer) Write(b []byte) (int, error) {
	if len(w.held) == 0 && len(b) > 0 && w.err == nil && w.scanner.r.next(text{b, false}, 0) == len(b) { // nothing to look at
		_, w.err = w.w.Write(b)
		return len(b), w.err
	}
	w.held = append(w.held, b...)
	w.flush(false)
	return len(b), w.err
}

func (w *writer) Close() error {
	w.flush(true)
	return w.err
}

func (w *writer) flush(whole bool) {
	var settled int
	w.out, settled = w.scanner.scan(w.out[:0], text{w.held, whole})
	w.held = append(w.held[:0], w.held[settled:]...)
	if len(w.out) > 0 && w.err == nil {
		_, w.err = w.w.Write(w.out)
	}
}

// scanner goes through a text in one or more pieces.
type scanner struct {
	r      *Redactor
	hidden int    // how many bytes ahead belong to a secret already replaced
	last   string // what replaced it
}

// scan appends what t becomes to dst and returns how much of t is settled: all of it when t is whole. The rest must come
// again, with more.
func (s *scanner) scan(dst []byte, t text) (out []byte, settled int) {
	done := s.hidden // everything before it is in dst, or replaced
	i := s.r.next(t, 0)
	for ; i < len(t.b); i = s.r.next(t, i+1) {
		mask := s.r.candidates(t, i)
		if mask == 0 {
			continue
		}
		end, replacement, open := s.r.longest(t, i, mask)
		if open {
			break
		}
		if end <= done {
			continue
		}
		if i >= done || replacement != s.last {
			dst = append(append(dst, t.b[min(done, i):i]...), replacement...)
		}
		done, s.last = end, replacement
	}
	if done < i {
		dst = append(dst, t.b[done:i]...)
		done = i
	}
	s.hidden = done - i
	return dst, i
}

// next returns the first place from i on that is worth looking at, len(t.b) if there is none.
func (r *Redactor) next(t text, i int) int {
	if r.secrets {
		return i
	}
	return nextCapability(t, i)
}

// nextCapability returns the first place from i on where a capability can start.
func nextCapability(t text, i int) int {
	prefix := []byte(tool.CapabilityPrefix)
	if k := bytes.Index(t.b[i:], prefix); k >= 0 {
		return i + k
	}
	for n := min(len(prefix)-1, len(t.b)-i); n > 0 && !t.whole; n-- {
		if bytes.HasSuffix(t.b, prefix[:n]) {
			return len(t.b) - n
		}
	}
	return len(t.b)
}

// candidates returns the bits of the patterns that can start at i; it may name too many.
func (r *Redactor) candidates(t text, i int) uint64 {
	mask := r.first.at(t.b[i:])
	if mask == 0 || i+1 == len(t.b) || t.b[i] == '\\' || t.b[i] == '%' || t.b[i+1] == '\x1b' {
		return mask
	}
	return mask & r.second.at(t.b[i+1:])
}

// longest returns the end of the longest match at i and what replaces it.
func (r *Redactor) longest(t text, i int, mask uint64) (end int, replacement string, open bool) {
	for ; mask != 0; mask &= mask - 1 {
		for n := bits.TrailingZeros64(mask); n < len(r.patterns); n += 64 {
			p := &r.patterns[n]
			e, more := p.match(t, i)
			if more {
				return 0, "", true
			}
			if e > end {
				end, replacement = e, p.replacement
			}
		}
	}
	return end, replacement, false
}
