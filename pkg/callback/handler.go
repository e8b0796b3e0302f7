package callback

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/budget"
)

// maxBody is the largest request body in bytes (specification, section 12).
const maxBody = 1 << 20

// serve handles one request on a connection.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*conn) //nolint:errcheck // every connection is one
	_ = c.SetReadDeadline(time.Now().Add(s.limits.body))
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	e := endpointOf(r)
	request, answer := s.memory.Share(), s.memory.Share()
	defer answer.Release()
	m, rejected := s.receive(w, r, e, request)
	if rejected != nil {
		request.Release()
		s.rejections.add(rejected.reason)
		rejected.send(w, r, c, s.limits)
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	response, problem := s.call(r, c, m)
	request.Release()
	if problem != "" {
		s.rejections.add(problem + s.late(m))
	}
	body := e.encode(s.admit(r.Context(), answer, response), problem)
	_ = c.SetWriteDeadline(time.Now().Add(s.limits.write))
	h.Set("Content-Type", "application/json")
	if !c.listener.keepAlive() {
		h.Set("Connection", "close")
	}
	_, _ = w.Write(body)
}

// receive checks a request and returns its message. It takes the memory for it as a share.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, e *endpoint, share *budget.Share) (message, *rejection) {
	if rejected := s.check(r, e); rejected != nil {
		return message{}, rejected
	}
	size := int(r.ContentLength)
	if size < 0 {
		size = maxBody
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.limits.body)
	defer cancel()
	if !share.Wait(ctx, size) {
		return message{}, s.noMemory()
	}
	body, rejected := s.readBody(w, r)
	if rejected != nil {
		return message{}, rejected
	}
	if !share.Wait(ctx, budget.Decoded(body)) {
		return message{}, s.noMemory()
	}
	m, err := e.decode(body)
	if err != nil {
		return message{}, &rejection{http.StatusBadRequest, err.Error()}
	}
	return m, nil
}

func (s *Server) noMemory() *rejection {
	return &rejection{http.StatusServiceUnavailable, s.memoryProblem("the request does")}
}

// memoryProblem says why something does not fit into memory.
func (s *Server) memoryProblem(what string) string {
	return fmt.Sprintf("%s not fit: the callbacks that run may have %d MiB in all; wait for their responses, or send less",
		what, s.memory.Limit()>>20)
}

// admit takes the memory for a response as a share, and adds the changes of memory to it. A response that does not fit
// becomes an error.
func (s *Server) admit(ctx context.Context, share *budget.Share, r Response) Response {
	size := len(r.Text) + len(r.Structured)
	if !share.Resize(size) {
		return Response{Error: s.memoryProblem("the result of the call does")}
	}
	if r.Changes == nil {
		return r
	}
	const copies = 3 // of the changes while they are encoded
	ctx, cancel := context.WithTimeout(ctx, s.limits.write)
	defer cancel()
	if !share.Wait(ctx, min(size+copies*r.ChangeSize(), s.memory.Limit())) {
		return Response{Error: s.memoryProblem("the changes of memory do")}
	}
	r.delta, r.deletions = r.Changes()
	return r
}

// callers are the processes that a server answers.
type callers struct {
	token, address string // how messages name them
	needToken      bool   // every request has to have it, and no invocation id
}

// ownServers are the servers of a session.
func ownServers() callers {
	return callers{token: "this session's TRAILBLAZE_SESSION_TOKEN", address: "the address in TRAILBLAZE_BASE_URL"}
}

// others are processes that the session did not start.
func others() callers {
	return callers{token: "the token of `callbacks` in trailblaze.yaml", address: "the baseUrl in callbacks.json of the session", needToken: true}
}

// call makes the call that a message asks for; problem says why it was not made. A message without an invocation id
// contains nothing secret, since a session's id is the name of its folder, so the token is required for it.
func (s *Server) call(r *http.Request, c *conn, m message) (response Response, problem string) {
	if problem := m.versionProblem(); problem != "" {
		return Response{}, problem
	}
	if m.invocation != nil && s.callers.needToken {
		return Response{}, "leave invocation_id out: the calls of this process belong to no call of the session"
	}
	if m.invocation == nil && r.Header["Authorization"] == nil { // check has compared the token
		return Response{}, "a request without invocation_id must send the header Authorization: Bearer TRAILBLAZE_SESSION_TOKEN"
	}
	i, release, problem := s.acquire(m)
	if problem != "" {
		return Response{}, problem
	}
	c.listener.authenticate(c)
	return i.run(r.Context(), m.Request, release), ""
}

// check checks everything but the body, in the order of the specification's table. e is nil when the path is unknown.
func (s *Server) check(r *http.Request, e *endpoint) *rejection {
	switch {
	case !isLoopback(r):
		return &rejection{http.StatusForbidden, "only programs on this machine may call back"}
	case !s.isOurHost(r):
		return &rejection{http.StatusForbidden, "the Host header is not this server's; use " + s.callers.address}
	case r.Header["Origin"] != nil || isFromPage(r.Header["Sec-Fetch-Site"]):
		return &rejection{http.StatusForbidden, "web pages may not call back: there is an Origin or Sec-Fetch-Site header"}
	case !s.authorized(r):
		return &rejection{http.StatusUnauthorized, "the Authorization header is not Bearer and " + s.callers.token}
	case r.Method != http.MethodPost:
		return &rejection{http.StatusMethodNotAllowed, "callbacks are POST requests"}
	case e == nil:
		return &rejection{http.StatusNotFound, "unknown path; callbacks are posted to " + callbackPath}
	case !isJSON(r.Header["Content-Type"]):
		return &rejection{http.StatusUnsupportedMediaType, "the Content-Type of a callback must be application/json"}
	case r.ContentLength > maxBody:
		return bodyTooLarge()
	}
	return nil
}

func isLoopback(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	return local != nil && local.IP.IsLoopback() && err == nil && remote.Addr().Unmap().IsLoopback()
}

// isOurHost reports whether the Host header is this server's. A request to a proxy has a second host in its target,
// which net/http prefers to the header; clients that use the URL of this server send none.
func (s *Server) isOurHost(r *http.Request) bool {
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

// isFromPage reports whether the Sec-Fetch-Site header says that a web page made the request.
func isFromPage(site []string) bool {
	return site != nil && (len(site) != 1 || site[0] != "none")
}

// authorized checks the token, which may be left out where an invocation id may stand in the body.
func (s *Server) authorized(r *http.Request) bool {
	values := r.Header["Authorization"]
	if values == nil {
		return r.URL.EscapedPath() != executePath && !s.callers.needToken
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	return len(values) == 1 && strings.EqualFold(scheme, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(strings.TrimLeft(token, " ")), []byte(s.token)) == 1
}

// isJSON reports whether a Content-Type is application/json, with or without parameters. A browser sends such a request
// for a page only after a preflight request, which is always rejected.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	mediaType, _, _ := strings.Cut(values[0], ";")
	return strings.EqualFold(strings.TrimSpace(mediaType), "application/json")
}

// readBody reads the body, and of one that is too large not more than is needed to find out.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *rejection) {
	var body bytes.Buffer
	const maxReserved = 16 << 10 // memory reserved because of a Content-Length alone
	body.Grow(int(min(max(r.ContentLength, 0), maxReserved)) + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, bodyTooLarge()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &rejection{http.StatusBadRequest, "the body did not arrive within " + s.limits.body.String()}
	}
	if err != nil {
		return nil, &rejection{http.StatusBadRequest, "the body ended early"}
	}
	return body.Bytes(), nil
}

func bodyTooLarge() *rejection {
	return &rejection{http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB"}
}
