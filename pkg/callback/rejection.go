package callback

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// rejection is a response with an error status. Its reason never repeats what was sent.
type rejection struct {
	status int
	reason string
}

// send sends the rejection and closes the connection. It reads the rest of the request for a while, because many
// clients write all of it before they read, and closing the connection earlier would take the response from them.
func (n *rejection) send(w http.ResponseWriter, r *http.Request, c *conn, limits limits) {
	_ = c.SetWriteDeadline(time.Now().Add(limits.write))
	h := w.Header()
	switch n.status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		h.Set("Allow", http.MethodPost)
	}
	text := n.reason + "\n"
	h.Set("Connection", "close")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(n.status)
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
	_ = c.SetReadDeadline(time.Now().Add(limits.drain))
	_, _ = io.CopyN(io.Discard, r.Body, drainBytes)
}

// maxLogged is the number of rejections of which a session logs the reason. Any program on the machine can cause more.
const maxLogged = 10

// rejectionLog logs the reasons of the first rejected requests, and at the end the number of the others.
type rejectionLog struct {
	mu  sync.Mutex
	log func(message string) // may be nil
	n   int
}

func (l *rejectionLog) add(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.n <= maxLogged && l.log != nil {
		l.log("rejected a callback request: " + reason)
	}
}

// close logs the number of rejections whose reasons were not logged. Later rejections are not logged.
func (l *rejectionLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch rest := l.n - maxLogged; {
	case l.log == nil || rest <= 0:
	case rest == 1:
		l.log("rejected 1 more callback request")
	default:
		l.log(fmt.Sprintf("rejected %d more callback requests", rest))
	}
	l.log = nil
}
