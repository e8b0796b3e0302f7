package document

import "slices"

// The bounds of undo. A text of an entry counts in full, although entries share what they have in common.
const (
	maxEntries = 1000
	maxBytes   = 64 << 20
)

// history is what a document was, and what undo took back.
type history struct {
	past, future []*state
	bytes        int    // of the texts in past
	by           string // what made the last entry, for one that joins it; empty after undo and redo
}

// commit makes next the state of the document. It is an entry of undo, unless it joins the one before, which was made by
// the same.
func (d *Document) commit(next *state, by string, join bool) {
	h := &d.history
	if !join || by == "" || by != h.by {
		h.push(d.now)
	}
	h.by, h.future = by, nil
	d.set(next)
}

func (d *Document) set(next *state) {
	d.now = next
	d.version++
}

func (h *history) push(s *state) {
	h.past = append(h.past, s)
	h.bytes += len(s.text)
	drop := 0
	for drop < len(h.past)-1 && (len(h.past)-drop > maxEntries || h.bytes > maxBytes) {
		h.bytes -= len(h.past[drop].text)
		drop++
	}
	h.past = slices.Delete(h.past, 0, drop)
}

// CanUndo reports whether there is something to undo.
func (d *Document) CanUndo() bool { return len(d.history.past) > 0 }

// CanRedo reports whether there is something to redo.
func (d *Document) CanRedo() bool { return len(d.history.future) > 0 }

// Forget forgets what was edited: undo and redo have nothing to bring back.
func (d *Document) Forget() { d.history = history{} }

// Undo takes the last edit back: the text is what it was before it, byte for byte. It returns whether there was one.
func (d *Document) Undo() bool {
	h := &d.history
	if len(h.past) == 0 {
		return false
	}
	last := len(h.past) - 1
	h.future = append(h.future, d.now)
	d.set(h.past[last])
	h.bytes -= len(d.now.text)
	h.past, h.by = h.past[:last], ""
	return true
}

// Redo makes the last edit that was taken back again. It returns whether there was one.
func (d *Document) Redo() bool {
	h := &d.history
	if len(h.future) == 0 {
		return false
	}
	last := len(h.future) - 1
	h.push(d.now)
	d.set(h.future[last])
	h.future, h.by = h.future[:last], ""
	return true
}
