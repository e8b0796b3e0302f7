package callback

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxBody is what a request may hold (specification, section 12).
const maxBody = 1 << 20

// refusal is an answer by status. Its text never repeats what was sent.
type refusal struct {
	status int
	why    string
}

// serve answers one request, from the address it comes from to the answer of the tool it asks for.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*conn) //nolint:errcheck // every connection is one
	_ = c.SetDeadline(time.Now().Add(bodyTime))
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	form := formOf(r)
	q, no := s.hear(w, r, form)
	if no != nil {
		s.refusals.add(no.why)
		no.send(w, r, c)
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	a, wrong := s.answer(r, c, q)
	if wrong != "" {
		s.refusals.add(wrong)
	}
	answer := form.encode(a, wrong)
	_ = c.SetWriteDeadline(time.Now().Add(writeTime))
	h.Set("Content-Type", "application/json")
	if !c.gate.keeps() {
		h.Set("Connection", "close")
	}
	_, _ = w.Write(answer)
}

// hear takes a request that may be made.
func (s *Server) hear(w http.ResponseWriter, r *http.Request, as *form) (question, *refusal) {
	if no := s.check(r, as); no != nil {
		return question{}, no
	}
	body, no := read(w, r)
	if no != nil {
		return question{}, no
	}
	q, err := as.decode(body)
	if err != nil {
		return question{}, &refusal{http.StatusBadRequest, err.Error()}
	}
	return q, nil
}

// answer makes the call that a question asks for; wrong says why there is none. A question that names no invocation shows nothing
// that only its server can know, since a session's id stands in the file system.
func (s *Server) answer(r *http.Request, c *conn, q question) (a Answer, wrong string) {
	if why := q.unsupported(); why != "" {
		return Answer{}, why
	}
	if q.invocation == nil && r.Header["Authorization"] == nil { // one that is there was checked
		return Answer{}, "without an invocation_id the session's token is needed: Authorization: Bearer and TRAILBLAZE_SESSION_TOKEN"
	}
	f, left, why := s.board(q)
	if why != "" {
		return Answer{}, why
	}
	c.gate.welcome(c)
	return f.run(r.Context(), q.Request, left), ""
}

// check judges everything but the body, in the order of the specification's table. as is nil when the path is none of ours.
func (s *Server) check(r *http.Request, as *form) *refusal {
	switch {
	case !loopback(r):
		return &refusal{http.StatusForbidden, "only programs on this machine may call back"}
	case !s.named(r):
		return &refusal{http.StatusForbidden, "the Host is not that of this server; use the address in TRAILBLAZE_BASE_URL"}
	case r.Header["Origin"] != nil || fetched(r.Header["Sec-Fetch-Site"]):
		return &refusal{http.StatusForbidden, "web pages may not call back: there is an Origin or Sec-Fetch-Site header"}
	case !s.authorized(r):
		return &refusal{http.StatusUnauthorized, "the Authorization is not Bearer and this session's TRAILBLAZE_SESSION_TOKEN"}
	case r.Method != http.MethodPost:
		return &refusal{http.StatusMethodNotAllowed, "callbacks are POST requests"}
	case as == nil:
		return &refusal{http.StatusNotFound, "nothing is here; callbacks go to " + callbackPath}
	case !isJSON(r.Header["Content-Type"]):
		return &refusal{http.StatusUnsupportedMediaType, "the Content-Type of a callback is application/json"}
	case r.ContentLength > maxBody:
		return tooLarge()
	}
	return nil
}

func loopback(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	return local != nil && local.IP.IsLoopback() && err == nil && remote.Addr().Unmap().IsLoopback()
}

// named tells whether the client means us. A request to a proxy carries a second host in its target, which net/http prefers to
// the header; nobody who was given our address sends one.
func (s *Server) named(r *http.Request) bool {
	if r.URL.Host != "" {
		return false
	}
	for _, host := range s.hosts {
		if strings.EqualFold(r.Host, host) {
			return true
		}
	}
	return false
}

// fetched tells whether a browser says that a page is behind the request.
func fetched(site []string) bool {
	return site != nil && (len(site) != 1 || site[0] != "none")
}

// authorized checks the token, which may be left out where an invocation is named.
func (s *Server) authorized(r *http.Request) bool {
	values := r.Header["Authorization"]
	if values == nil {
		return r.URL.EscapedPath() != executePath
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	return len(values) == 1 && strings.EqualFold(scheme, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(strings.TrimLeft(token, " ")), []byte(s.token)) == 1
}

// isJSON accepts parameters. No page can send such a type without asking first, which nobody answers.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	kind, _, _ := strings.Cut(values[0], ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}

// read takes the body, and of one that is too large no more than that takes to tell.
func read(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	var body bytes.Buffer
	const promised = 16 << 10 // what a mere promise of a body may reserve
	body.Grow(int(min(max(r.ContentLength, 0), promised)) + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &refusal{http.StatusBadRequest, "the body did not arrive within " + bodyTime.String()}
	}
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, "the body could not be read to its end"}
	}
	return body.Bytes(), nil
}

func tooLarge() *refusal {
	return &refusal{http.StatusRequestEntityTooLarge, "the body is over 1 MiB"}
}

// send refuses and ends the connection, so that net/http does not read the rest of the body before it answers.
func (no *refusal) send(w http.ResponseWriter, r *http.Request, c *conn) {
	_ = c.SetWriteDeadline(time.Now().Add(writeTime))
	h := w.Header()
	switch no.status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		h.Set("Allow", http.MethodPost)
	}
	text := no.why + "\n"
	h.Set("Connection", "close")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(no.status)
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
	// Many clients write all before they read, and to close on one that writes takes the answer from it.
	_ = c.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, r.Body, lingerBytes)
}
