package redact

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// scanner finds secrets and capabilities in a text that arrives in pieces. It reads the text in several layers at
// once: without decoding, with one kind of escape decoded, with another kind decoded in the result, and so on. Layers
// in which nothing is pending take no time, and every other layer takes a bounded time for each byte.
type scanner struct {
	r        *Redactor
	read     int // bytes so far
	base     layer
	matches  []match // by start, of the same start the longest first
	replaced int     // end of what was replaced or appended to the output
	last     int     // id of that match
}

// match is the position of a secret or a capability in the source.
type match struct {
	start, end int
	id         int
}

// capability is the id of all capabilities.
const capability = -1

// layer is a scanner's state for one sequence of escapes.
type layer struct {
	escape     *escape // decoded in its parent's text; nil for the base layer
	depth      int     // number of escapes
	enabled    bool    // false: it has the same state as its parent
	state      int32   // of the matcher
	capability int     // bytes of a capability that were read
	starts     []int   // where in the source the last bytes begin; not used by the base layer
	pending    []char  // may be the beginning of an escape
	sequence   []byte  // the bytes of pending
	decoded    []byte  // the decoded bytes of sequence; kept to reuse its memory
	children   [escapeKinds]*layer
	active     int // number of children that are enabled
}

// char is a byte of a layer, and the part of the source that it was decoded from.
type char struct {
	b          byte
	start, end int
}

// scan reads the next piece.
func (s *scanner) scan(b []byte) {
	offset := s.read
	for i := 0; i < len(b); i++ {
		if s.base.isIdle() {
			if i += s.r.skip(b[i:]); i == len(b) {
				break
			}
		}
		s.read = offset + i
		s.push(&s.base, char{b[i], s.read, s.read + 1})
	}
	s.read = offset + len(b)
}

// skip returns how many bytes at the beginning of b do not change the state of an idle layer.
func (r *Redactor) skip(b []byte) int {
	if len(r.names) == 0 {
		return indexCapability(b)
	}
	for i, c := range b {
		if r.interesting[c] {
			return i
		}
	}
	return len(b)
}

// indexCapability returns where a capability may begin in b, len(b) for nowhere.
func indexCapability(b []byte) int {
	const prefix = tool.CapabilityPrefix
	if i := bytes.Index(b, []byte(prefix)); i >= 0 {
		return i
	}
	for n := min(len(prefix)-1, len(b)); n > 0; n-- {
		if bytes.HasSuffix(b, []byte(prefix[:n])) {
			return len(b) - n
		}
	}
	return len(b)
}

// push processes the next byte of a layer.
func (s *scanner) push(l *layer, c char) {
	s.decode(l, c)
	l.state = s.r.matcher.step(l.state, c.b)
	l.capability = stepCapability(l.capability, c.b)
	if l.depth > 0 {
		l.remember(c.start, s.r.neededBytes(l))
	}
	if n := &s.r.matcher.nodes[l.state]; n.length > 0 {
		s.add(match{l.startOf(int(n.length), c.end), c.end, int(n.id)})
	}
	if l.capability == capabilityLength {
		s.add(match{l.startOf(capabilityLength, c.end), c.end, capability})
		l.capability = 0
	}
	if l.active > 0 && l.state == 0 && l.capability == 0 {
		l.disableIdleChildren()
	}
}

// decode passes a byte of a layer to the layers that decode escapes in it.
func (s *scanner) decode(l *layer, c char) {
	leads := s.r.leads[c.b]
	if l.active == 0 && leads == 0 || l.depth > 0 && l.escape.last {
		return
	}
	for kind := range escapeKinds {
		child := l.children[kind]
		if child == nil || !child.enabled {
			if leads&(1<<kind) == 0 || l.depth == maxEscapes || !s.r.needsChild(l, kind, c.b) {
				continue
			}
			child = s.activate(l, kind)
		}
		if len(child.pending) == 0 && leads&(1<<kind) == 0 {
			s.push(child, c)
			continue
		}
		child.pending, child.sequence = append(child.pending, c), append(child.sequence, c.b)
		s.drain(child, false)
	}
}

// needsChild reports whether a layer needs a child for a lead byte. Control characters matter only within what may be a
// secret or a capability, and white space only where a secret has a space.
func (r *Redactor) needsChild(l *layer, kind int, lead byte) bool {
	switch {
	case !r.escapes[kind].last:
		return true
	case strings.IndexByte(spaces, lead) >= 0:
		return r.matcher.step(l.state, ' ') != 0
	}
	return l.state != 0 || l.capability != 0
}

// activate turns on a child of a layer, and copies the state of its parent.
func (s *scanner) activate(l *layer, kind int) *layer {
	if l.children[kind] == nil {
		l.children[kind] = &layer{escape: &s.r.escapes[kind], depth: l.depth + 1}
	}
	child := l.children[kind]
	child.enabled, child.state, child.capability = true, l.state, l.capability
	l.active++
	child.starts = child.starts[:0]
	for n := s.r.neededBytes(l); n > 0; n-- {
		child.starts = append(child.starts, l.startOf(n, s.read))
	}
	return child
}

// drain pushes the pending bytes of a layer that are complete. whole is true if no more bytes follow.
func (s *scanner) drain(l *layer, whole bool) {
	for len(l.pending) > 0 {
		first, n := l.pending[0], 1
		if strings.IndexByte(l.escape.leads, first.b) < 0 {
			s.push(l, first)
		} else {
			if l.decoded, n = l.escape.decode(l.decoded[:0], l.sequence, whole); n == 0 {
				return
			}
			end := l.pending[n-1].end
			for _, b := range l.decoded {
				s.push(l, char{b, first.start, end})
			}
		}
		l.pending, l.sequence = slices.Delete(l.pending, 0, n), slices.Delete(l.sequence, 0, n)
	}
}

// close treats what may be the beginning of escapes as complete.
func (s *scanner) close() { s.closeLayer(&s.base) }

func (s *scanner) closeLayer(l *layer) {
	s.drain(l, true)
	for _, child := range l.children {
		if child != nil && child.enabled {
			s.closeLayer(child)
		}
	}
}

// neededBytes returns how many of a layer's last bytes are part of a match, or may be part of one that is not complete.
func (r *Redactor) neededBytes(l *layer) int {
	return max(int(r.matcher.nodes[l.state].depth), l.capability)
}

// openBytes returns how many of a layer's last bytes may be part of a match that is not complete.
func (r *Redactor) openBytes(l *layer) int {
	return max(int(r.matcher.nodes[l.state].open), l.capability)
}

// remember stores where a byte begins, for the last needed bytes.
func (l *layer) remember(start, needed int) {
	if n := len(l.starts); n == cap(l.starts) && needed <= n/2 {
		l.starts = l.starts[:copy(l.starts, l.starts[n-needed:])]
	}
	l.starts = append(l.starts, start)
}

// startOf returns where in the source the last n bytes begin, of which the last one ends at end.
func (l *layer) startOf(n, end int) int {
	if l.depth == 0 {
		return end - n
	}
	return l.starts[len(l.starts)-n]
}

// isIdle reports whether nothing is pending in a layer or in those that decode escapes in it.
func (l *layer) isIdle() bool {
	return l.state == 0 && l.capability == 0 && l.active == 0 && len(l.pending) == 0
}

// disableIdleChildren turns off the children of l in which nothing is pending. l must be in the initial state, which is
// then also theirs.
func (l *layer) disableIdleChildren() {
	for _, child := range l.children {
		if child != nil && child.enabled && child.isIdle() {
			child.enabled = false
			l.active--
		}
	}
}

// settledLength returns how many bytes from the beginning of the source cannot be part of a later match.
func (s *scanner) settledLength() int { return min(s.read, s.r.firstUnsettled(&s.base, s.read)) }

// firstUnsettled returns where the first incomplete match of a layer begins.
func (r *Redactor) firstUnsettled(l *layer, read int) int {
	first := math.MaxInt
	if n := r.openBytes(l); n > 0 {
		first = l.startOf(n, read)
	}
	if len(l.pending) > 0 {
		first = min(first, l.pending[0].start)
	}
	for _, child := range l.children {
		if child != nil && child.enabled {
			first = min(first, r.firstUnsettled(child, read))
		}
	}
	return first
}

// add adds a match. One that continues the previous one of the same secret extends it.
func (s *scanner) add(m match) {
	at := len(s.matches)
	for at > 0 && (s.matches[at-1].start > m.start || s.matches[at-1].start == m.start && s.matches[at-1].end < m.end) {
		at--
	}
	if at > 0 && s.matches[at-1].id == m.id && m.start < s.matches[at-1].end {
		s.matches[at-1].end = max(s.matches[at-1].end, m.end)
		return
	}
	s.matches = slices.Insert(s.matches, at, m)
}

// replace appends the redacted source until to, which is not after settled, to out, and removes what was appended. b is
// the part of the source that was not appended yet, and begins at from.
func (s *scanner) replace(out, b []byte, from, to int) []byte {
	done := 0
	for _, m := range s.matches {
		if m.start >= to {
			break
		}
		done++
		switch {
		case m.end <= s.replaced: // it lies within others
			continue
		case m.start >= s.replaced:
			out = append(out, b[max(s.replaced, from)-from:m.start-from]...)
			out = append(out, s.r.replacement(m.id)...)
		case m.id != s.last:
			out = append(out, s.r.replacement(m.id)...)
		}
		s.replaced, s.last = m.end, m.id
	}
	s.matches = slices.Delete(s.matches, 0, done)
	if at := max(s.replaced, from); at < to {
		out = append(out, b[at-from:to-from]...)
		s.replaced = to
	}
	return out
}
