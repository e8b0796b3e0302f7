package engine

import (
	"io"
	"net/http"
	"sync"
)

// handles are what the JavaScript of an engine has open, by number: files, requests, servers. All are closed when the engine ends. It
// may be used from any goroutine.
type handles struct {
	mu   sync.Mutex
	last int
	open map[int]io.Closer // nil after closeAll
	done bool

	transport *http.Transport // nil until the network is asked for something
}

// firstHandle leaves the numbers of stdin, stdout and stderr free.
const firstHandle = 3

// add gives what is open a number. After closeAll it is closed at once, and the number means nothing.
func (h *handles) add(c io.Closer) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done {
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

// remove forgets what has been closed, or is about to be.
func (h *handles) remove(id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, id)
}

func (h *handles) closeAll() {
	h.mu.Lock()
	open, transport := h.open, h.transport
	h.open, h.done = nil, true
	h.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
	if transport != nil {
		transport.CloseIdleConnections()
	}
}

// network is the transport that all requests of an engine share.
func (h *handles) network(env []string) *http.Transport {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.transport == nil {
		h.transport = newTransport(env)
	}
	return h.transport
}

// handle finds what is open under a number and is a T; ok is false when there is none.
func handle[T io.Closer](h *handles, id int64) (found T, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found, ok = h.open[int(id)].(T)
	return found, ok
}

// count tells how many of what is open are a T.
func count[T io.Closer](h *handles) int {
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
