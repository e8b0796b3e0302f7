package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// lowWater is how much may wait for the client when JavaScript is asked for more.
const lowWater = 16 << 10

// maxRequestHeader is node's, in bytes.
const maxRequestHeader = 16 << 10

// serverOps serve HTTP. What happens to a server goes to one listener, which is told what it is: "request", "drain", "finish", "gone",
// "disconnect" and "close".
func serverOps() (map[string]op, map[string]job) {
	ops := map[string]op{
		"http.ref":         refServer,
		"http.close":       closeServer,
		"http.disconnect":  closeConnections,
		"http.connections": countConnections,
		"http.send":        sendResponse,
		"http.abort":       abortRequest,
	}
	return ops, map[string]job{"http.listen": listen, "http.read": readRequest}
}

// httpServer is a server of JavaScript's.
type httpServer struct {
	e        *Engine
	id       int
	events   int // the listener
	server   *http.Server
	listener net.Listener

	mu       sync.Mutex
	reffed   bool
	stopped  bool // it accepts no more connections
	closed   bool // JavaScript was told
	lastConn int
	conns    map[net.Conn]*serverConn
}

type serverConn struct {
	id       int
	idle     bool
	answered int // the request whose response is complete, but perhaps not sent; 0 when there is none
}

type connKey struct{}

// listen is (listener, host or nil, port, milliseconds that an idle connection is kept, milliseconds for the headers of a request): the
// server's number, its address, family and port.
func listen(ctx context.Context, e *Engine, args []any) (any, error) {
	host, port := arg[string](args, 1), int(intArg(args, 2))
	address := net.JoinHostPort(host, strconv.Itoa(port))
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, listenError(err, host, port)
	}
	s := &httpServer{e: e, events: int(intArg(args, 0)), listener: l, reffed: true, conns: map[net.Conn]*serverConn{}}
	s.server = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		IdleTimeout:       time.Duration(intArg(args, 3)) * time.Millisecond,
		ReadHeaderTimeout: time.Duration(intArg(args, 4)) * time.Millisecond,
		MaxHeaderBytes:    maxRequestHeader,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		BaseContext:       func(net.Listener) context.Context { return e.ctx },
		ConnContext:       s.numbered,
		ConnState:         s.changed,
	}
	s.id = e.handles.add(s)
	e.ref()
	e.work.Go(func() { _ = s.server.Serve(l) })
	at := l.Addr().(*net.TCPAddr) //nolint:errcheck // of a TCP listener
	return []any{float64(s.id), at.IP.String(), family(at.IP), float64(at.Port)}, nil
}

func family(ip net.IP) string {
	if ip.To4() != nil {
		return "IPv4"
	}
	return "IPv6"
}

func listenError(err error, host string, port int) error {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return lookupError(lookup, host)
	}
	code, number := systemCode(err)
	text := map[string]string{
		"EADDRINUSE": "address already in use", "EADDRNOTAVAIL": "address not available", "EACCES": "permission denied",
	}[code]
	if text == "" {
		text = err.Error()
	}
	at := net.JoinHostPort(host, strconv.Itoa(port))
	if host == "" {
		host, at = "::", ":::"+strconv.Itoa(port)
	}
	return &hostError{
		Code: code, Message: "listen " + code + ": " + text + " " + at,
		Props: map[string]any{"errno": float64(number), "syscall": "listen", "address": host, "port": float64(port)},
	}
}

// Close ends the server and all its connections. JavaScript hears nothing of it.
func (s *httpServer) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.listener.Close()
	return s.server.Close()
}

func (s *httpServer) emit(what string, args ...any) {
	s.e.emit(s.events, append([]any{what}, args...)...)
}

// numbered tells connections apart for JavaScript.
func (s *httpServer) numbered(ctx context.Context, c net.Conn) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastConn++
	s.conns[c] = &serverConn{id: s.lastConn}
	return context.WithValue(ctx, connKey{}, s.conns[c])
}

// changed keeps the books of connections: each keeps the engine alive, and the last one's end is the end of a server that is closing.
func (s *httpServer) changed(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.e.ref()
		s.e.work.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.sent(s.conns[c])
		s.emit("disconnect", s.conns[c].id)
		delete(s.conns, c)
		s.e.unref()
		s.e.work.Done()
		s.closeWhenEmpty()
	default:
		s.conns[c].idle = state == http.StateIdle
		s.sent(s.conns[c])
	}
}

// sent is called with the lock held, once net/http has written what it was given.
func (s *httpServer) sent(c *serverConn) {
	if c.answered != 0 {
		s.emit("finish", c.answered)
		c.answered = 0
	}
}

// closeWhenEmpty is called with the lock held.
func (s *httpServer) closeWhenEmpty() {
	if s.stopped && !s.closed && len(s.conns) == 0 {
		s.closed = true
		s.e.handles.remove(s.id)
		s.emit("close")
	}
}

func (e *Engine) httpServer(args []any) *httpServer {
	s, _ := handle[*httpServer](&e.handles, intArg(args, 0))
	return s
}

// refServer is (number, whether the server is to keep the engine alive).
func refServer(e *Engine, args []any) (any, error) {
	if s := e.httpServer(args); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.keep(arg[bool](args, 1))
	}
	return nil, nil
}

// keep is called with the lock held.
func (s *httpServer) keep(wanted bool) {
	switch {
	case s.stopped || wanted == s.reffed:
		return
	case wanted:
		s.e.ref()
	default:
		s.e.unref()
	}
	s.reffed = wanted
}

// closeServer is (number): no more connections, and an end of those that do nothing.
func closeServer(e *Engine, args []any) (any, error) {
	s := e.httpServer(args)
	if s == nil {
		return nil, nil
	}
	_ = s.listener.Close()
	s.server.SetKeepAlivesEnabled(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(false)
	s.stopped = true
	s.closeWhenEmpty()
	return nil, nil
}

// closeConnections is (number, number of a connection or nil for all, whether only those that do nothing).
func closeConnections(e *Engine, args []any) (any, error) {
	s := e.httpServer(args)
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	var chosen []net.Conn
	for c, known := range s.conns {
		if id, one := args[1].(float64); (!one || int(id) == known.id) && (known.idle || !arg[bool](args, 2)) {
			chosen = append(chosen, c)
		}
	}
	s.mu.Unlock()
	for _, c := range chosen {
		_ = c.Close()
	}
	return nil, nil
}

func countConnections(e *Engine, args []any) (any, error) {
	s := e.httpServer(args)
	if s == nil {
		return 0.0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(len(s.conns)), nil
}

// served is a request and its response. The goroutine of the connection writes what JavaScript has queued.
type served struct {
	body  io.Reader
	ended atomic.Bool // the body
	abort context.CancelFunc

	mu      sync.Mutex
	queue   []piece
	queued  int           // bytes
	waiting bool          // JavaScript wants to hear when it may write on
	news    chan struct{} // holds one when something was queued
}

// piece is some of a response: perhaps its head, perhaps the end.
type piece struct {
	status  int // 0 when it has no head
	headers []any
	data    []byte
	last    bool
}

func (s *served) Close() error {
	s.abort()
	return nil
}

// serve hands a request to JavaScript, and writes what it answers until that ends or the client goes.
func (s *httpServer) serve(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).EnableFullDuplex() // as in node
	ctx, abort := context.WithCancel(r.Context())
	defer abort()
	request := &served{body: r.Body, abort: abort, news: make(chan struct{}, 1)}
	body, err := request.prefetch(r)
	if err != nil {
		return
	}
	id := s.e.handles.add(request)
	defer s.e.handles.remove(id)
	conn, _ := ctx.Value(connKey{}).(*serverConn)
	s.emit("request", id, conn.id, append(describeRequest(r), body), addresses(r))
	if !request.write(ctx, w, func() { s.emit("drain", id) }) {
		s.emit("gone", id)
		panic(http.ErrAbortHandler) //nolint:forbidigo // how net/http is told to close the connection
	}
	request.drain(w)
	s.mu.Lock()
	conn.answered = id
	s.mu.Unlock()
}

// drain reads a body that nobody has read, after the response and within limits: net/http breaks the connection if it has to do that
// itself while both directions are open.
func (s *served) drain(w http.ResponseWriter) {
	if s.ended.Load() {
		return
	}
	const limit, patience = 256 << 10, 500 * time.Millisecond // as net/http, and as a server of hono
	c := http.NewResponseController(w)
	_ = c.Flush()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	_, _ = io.CopyN(io.Discard, s.body, limit)
	_ = c.SetReadDeadline(time.Time{})
}

// prefetch reads a body that is short, so that JavaScript gets it with the request: bytes, or true when it has to ask for the body.
func (s *served) prefetch(r *http.Request) (any, error) {
	if r.ContentLength < 0 || r.ContentLength > chunk {
		return true, nil
	}
	s.ended.Store(true)
	if r.ContentLength == 0 {
		return nil, nil
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	if err == nil {
		_, _ = r.Body.Read(make([]byte, 1)) // the end, from which net/http looks out for the client's
	}
	return body, err
}

// describeRequest has method, target, version and headers by turns.
func describeRequest(r *http.Request) []any {
	headers := []any{}
	if r.Host != "" {
		headers = append(headers, "Host", decodeLatin1([]byte(r.Host)))
	}
	headers = append(headers, flatHeaders(r.Header)...)
	for _, coding := range r.TransferEncoding {
		headers = append(headers, "Transfer-Encoding", coding)
	}
	version := strconv.Itoa(r.ProtoMajor) + "." + strconv.Itoa(r.ProtoMinor)
	return []any{r.Method, decodeLatin1([]byte(r.RequestURI)), version, headers}
}

// addresses are those of both ends, each a host, a family and a port.
func addresses(r *http.Request) []any {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	remote, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	if err != nil || local == nil {
		return nil
	}
	return []any{
		remote.IP.String(), family(remote.IP), float64(remote.Port), local.IP.String(), family(local.IP), float64(local.Port),
	}
}

// write returns true when the response is complete, and false when it will never be.
func (s *served) write(ctx context.Context, w http.ResponseWriter, drained func()) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.news:
		}
		for _, p := range s.take() {
			if ctx.Err() != nil {
				return false
			}
			p.write(w)
			if p.last {
				return true
			}
			if s.done(len(p.data)) {
				drained()
			}
		}
		_ = http.NewResponseController(w).Flush()
	}
}

func (s *served) take() []piece {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.queue
	s.queue = nil
	return queue
}

// done counts what was written, and says whether JavaScript waits to hear of it.
func (s *served) done(size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued -= size
	if !s.waiting || s.queued > lowWater {
		return false
	}
	s.waiting = false
	return true
}

// write ignores what a client does not take: its going away ends the context.
func (p piece) write(w http.ResponseWriter) {
	if p.status != 0 {
		setResponseHeaders(w.Header(), p)
		w.WriteHeader(p.status)
	}
	if len(p.data) > 0 {
		_, _ = w.Write(p.data)
	}
}

// setResponseHeaders keeps the case of names, except of those that Go looks at.
func setResponseHeaders(h http.Header, p piece) {
	h["Content-Type"] = nil // not to be guessed
	for i := 0; i+1 < len(p.headers); i += 2 {
		name, value := arg[string](p.headers, i), string(encodeLatin1(arg[string](p.headers, i+1)))
		switch canonical := http.CanonicalHeaderKey(name); canonical {
		case "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "Date", "Trailer":
			name = canonical
		}
		h[name] = append(h[name], value)
	}
	if p.last && h["Content-Length"] == nil && h["Transfer-Encoding"] == nil && len(p.data) > 0 {
		h.Set("Content-Length", strconv.Itoa(len(p.data)))
	}
}

// sendResponse is (number, status or 0 when the head has been sent, headers by turns, data, whether it is the last): how many bytes wait
// for the client, or -1 when there is none any more.
func sendResponse(e *Engine, args []any) (any, error) {
	s, ok := handle[*served](&e.handles, intArg(args, 0))
	if !ok {
		return -1.0, nil
	}
	p := piece{status: int(intArg(args, 1)), headers: arg[[]any](args, 2), data: content(args, 3), last: arg[bool](args, 4)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, p)
	s.queued += len(p.data)
	s.waiting = s.queued > lowWater
	select {
	case s.news <- struct{}{}:
	default:
	}
	return float64(s.queued), nil
}

// abortRequest is (number): its connection is closed.
func abortRequest(e *Engine, args []any) (any, error) {
	if s, ok := handle[*served](&e.handles, intArg(args, 0)); ok {
		s.abort()
	}
	return nil, nil
}

// readRequest is (number): some bytes of its body, or nil at the end.
func readRequest(_ context.Context, e *Engine, args []any) (any, error) {
	s, ok := handle[*served](&e.handles, intArg(args, 0))
	if !ok {
		return nil, aborted()
	}
	data, err := readSome(s.body)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, http.ErrBodyReadAfterClose):
		s.ended.Store(true)
		return nil, nil
	case err != nil:
		return nil, aborted()
	}
	return data, nil
}

func aborted() error { return &hostError{Code: "ECONNRESET", Message: "aborted"} }

func sortedNames(h http.Header) []string { return slices.Sorted(maps.Keys(h)) }
