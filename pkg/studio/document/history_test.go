package document

import "testing"

// Of what can be undone, the oldest entries are forgotten, but never the last.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	var h history
	for range maxEntries + 10 {
		h.push(&state{text: make([]byte, 1)})
	}
	if len(h.past) != maxEntries || h.bytes != maxEntries {
		t.Errorf("%d entries of %d bytes", len(h.past), h.bytes)
	}
	const size = maxBytes / 4
	for range 6 {
		h.push(&state{text: make([]byte, size)})
	}
	if len(h.past) != 4 || h.bytes != 4*size {
		t.Errorf("%d entries of %d bytes", len(h.past), h.bytes)
	}
	h.push(&state{text: make([]byte, maxBytes+1)})
	if len(h.past) != 1 {
		t.Errorf("%d entries of %d bytes", len(h.past), h.bytes)
	}
}
