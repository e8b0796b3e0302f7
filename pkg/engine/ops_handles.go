package engine

import (
	"io"
	"net/http"
	"sync"
)

// handleTable has what a script has opened, by number: files, requests, servers. It may be used from any goroutine.
type handleTable struct {
	mu     sync.Mutex
	last   int
	open   map[int]io.Closer // nil after closeAll
	closed bool

	transport *http.Transport // nil before the first request
}

// firstHandle is the first number; stdin, stdout and stderr have the numbers before it.
const firstHandle = 3

// add returns a new number for c. After closeAll it closes c and returns -1.
func (h *handleTable) add(c io.Closer) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		_ = c.Close()
		return -1
	}
	if h.open == nil {
		h.open, h.last = map[int]io.Closer{}, firstHandle-1
	}
	h.last++
	h.open[h.last] = c
	return h.last
}

// remove removes a handle, which the caller closes.
func (h *handleTable) remove(id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, id)
}

// closeAll closes everything in the table, and what is added later.
func (h *handleTable) closeAll() {
	h.mu.Lock()
	open, transport := h.open, h.transport
	h.open, h.closed = nil, true
	h.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
	if transport != nil {
		transport.CloseIdleConnections()
	}
}

// sharedTransport returns the HTTP transport of the engine.
func (h *handleTable) sharedTransport(env []string) *http.Transport {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.transport == nil {
		h.transport = newTransport(env)
	}
	return h.transport
}

// lookupHandle returns the T with a number; ok is false when there is none.
func lookupHandle[T io.Closer](h *handleTable, id int64) (found T, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found, ok = h.open[int(id)].(T)
	return found, ok
}

// countHandles returns how many handles are a T.
func countHandles[T io.Closer](h *handleTable) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, c := range h.open {
		if _, ok := c.(T); ok {
			n++
		}
	}
	return n
}
