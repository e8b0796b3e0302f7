package engine

import (
	"bytes"
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

// lowWaterMark is the number of queued bytes below which JavaScript is notified to write more of a response.
const lowWaterMark = 16 << 10

// maxRequestHeader is the limit of the headers of a request in bytes, as in node.
const maxRequestHeader = 16 << 10

// serverOps returns the operations for HTTP servers. Events of a server are sent to one listener, whose first argument
// is "request", "drain", "finish", "aborted", "disconnect" or "close".
func serverOps() (syncOps, asyncOps opTable) {
	ops := opTable{
		"http.ref":         refServer,
		"http.close":       closeServer,
		"http.disconnect":  closeConnections,
		"http.connections": countConnections,
		"http.send":        sendResponse,
		"http.abort":       abortRequest,
	}
	return ops, opTable{"http.listen": listen, "http.read": readRequest}
}

// httpServer is a server that a script has started.
type httpServer struct {
	e          *Engine
	id         int
	listenerID int // the listener
	server     *http.Server
	listener   net.Listener

	mu       sync.Mutex
	hasRef   bool
	stopped  bool // it no longer accepts connections
	closed   bool // "close" was sent, or is not to be sent
	lastConn int
	conns    map[net.Conn]*serverConn
}

type serverConn struct {
	id              int
	idle            bool
	finishedRequest int // the request whose response was written but perhaps not sent; 0 when there is none
}

type connKey struct{}

// listen implements http.listen(listener, host or nil, port, idle timeout, header timeout), with timeouts in
// milliseconds. It returns the server's number, and its address, family and port.
func listen(c *call) (any, error) {
	host, port := arg[string](c.args, 1), int(intArg(c.args, 2))
	address := net.JoinHostPort(host, strconv.Itoa(port))
	l, err := (&net.ListenConfig{}).Listen(c.ctx, "tcp", address)
	if err != nil {
		return nil, listenError(err, host, port)
	}
	s := &httpServer{e: c.Engine, listenerID: int(intArg(c.args, 0)), listener: l, hasRef: true, conns: map[net.Conn]*serverConn{}}
	s.server = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		IdleTimeout:       time.Duration(intArg(c.args, 3)) * time.Millisecond,
		ReadHeaderTimeout: time.Duration(intArg(c.args, 4)) * time.Millisecond,
		MaxHeaderBytes:    maxRequestHeader,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		BaseContext:       func(net.Listener) context.Context { return c.ctx },
		ConnContext:       s.connContext,
		ConnState:         s.connStateChanged,
	}
	s.id = c.handles.add(s)
	c.ref()
	c.goroutines.Go(func() { _ = s.server.Serve(l) })
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

// Close closes the server and all its connections without an event.
func (s *httpServer) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.listener.Close()
	return s.server.Close()
}

func (s *httpServer) emit(what string, args ...any) {
	s.e.emit(s.listenerID, append([]any{what}, args...)...)
}

// connContext assigns a number to a connection.
func (s *httpServer) connContext(ctx context.Context, c net.Conn) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastConn++
	s.conns[c] = &serverConn{id: s.lastConn}
	return context.WithValue(ctx, connKey{}, s.conns[c])
}

// connStateChanged tracks connections: each keeps the engine running, and the last one that closes completes the
// closing of the server.
func (s *httpServer) connStateChanged(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.e.ref()
		s.e.goroutines.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.notifyFinished(s.conns[c])
		s.emit("disconnect", s.conns[c].id)
		delete(s.conns, c)
		s.e.unref()
		s.e.goroutines.Done()
		s.notifyClosedIfIdle()
	default:
		s.conns[c].idle = state == http.StateIdle
		s.notifyFinished(s.conns[c])
	}
}

// notifyFinished sends "finish" when net/http has written a complete response. The caller holds the lock.
func (s *httpServer) notifyFinished(c *serverConn) {
	if c.finishedRequest != 0 {
		s.emit("finish", c.finishedRequest)
		c.finishedRequest = 0
	}
}

// notifyClosedIfIdle sends "close" when the server is stopped and has no connections. The caller holds the lock.
func (s *httpServer) notifyClosedIfIdle() {
	if s.stopped && !s.closed && len(s.conns) == 0 {
		s.closed = true
		s.e.handles.remove(s.id)
		s.emit("close")
	}
}

func (e *Engine) lookupServer(args []any) *httpServer {
	s, _ := lookupHandle[*httpServer](&e.handles, intArg(args, 0))
	return s
}

// refServer implements http.ref(number, wanted): it sets whether the server keeps the engine running.
func refServer(c *call) (any, error) {
	if s := c.lookupServer(c.args); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.setRef(arg[bool](c.args, 1))
	}
	return nil, nil
}

// setRef is called with the lock held.
func (s *httpServer) setRef(wanted bool) {
	switch {
	case s.stopped || wanted == s.hasRef:
		return
	case wanted:
		s.e.ref()
	default:
		s.e.unref()
	}
	s.hasRef = wanted
}

// closeServer implements http.close(number): it stops accepting connections, and closes idle ones.
func closeServer(c *call) (any, error) {
	s := c.lookupServer(c.args)
	if s == nil {
		return nil, nil
	}
	_ = s.listener.Close()
	s.server.SetKeepAlivesEnabled(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setRef(false)
	s.stopped = true
	s.notifyClosedIfIdle()
	return nil, nil
}

// closeConnections implements http.disconnect(number, connection or nil for all, idleOnly).
func closeConnections(c *call) (any, error) {
	s := c.lookupServer(c.args)
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	var chosen []net.Conn
	for conn, known := range s.conns {
		if id, one := c.args[1].(float64); (!one || int(id) == known.id) && (known.idle || !arg[bool](c.args, 2)) {
			chosen = append(chosen, conn)
		}
	}
	s.mu.Unlock()
	for _, conn := range chosen {
		_ = conn.Close()
	}
	return nil, nil
}

// countConnections implements http.connections(number).
func countConnections(c *call) (any, error) {
	s := c.lookupServer(c.args)
	if s == nil {
		return 0.0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(len(s.conns)), nil
}

// serverRequest is a request and its response. JavaScript queues pieces of the response; the goroutine of the
// connection writes them.
type serverRequest struct {
	heap      *heap
	body      io.Reader
	bodyEnded atomic.Bool
	abort     context.CancelFunc

	mu         sync.Mutex
	over       bool // no more pieces are written
	pieces     []responsePiece
	queued     int           // bytes, which are reserved
	wantsDrain bool          // JavaScript waits for "drain"
	changed    chan struct{} // has an element when a piece was queued
}

// responsePiece is a part of a response: perhaps its status and headers, data, perhaps the end.
type responsePiece struct {
	status  int // 0 when the headers have been sent
	headers []any
	data    []byte
	last    bool
}

func (s *serverRequest) Close() error {
	s.abort()
	return nil
}

// serve passes a request to JavaScript and writes the response, until it is complete or the client disconnects.
func (s *httpServer) serve(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).EnableFullDuplex() // as in node
	ctx, abort := context.WithCancel(r.Context())
	defer abort()
	request := &serverRequest{heap: &s.e.vm.heap, body: r.Body, abort: abort, changed: make(chan struct{}, 1)}
	defer request.finish()
	body, err := request.readSmallBody(r)
	if err != nil {
		return
	}
	id := s.e.handles.add(request)
	defer s.e.handles.remove(id)
	conn, _ := ctx.Value(connKey{}).(*serverConn)
	s.emit("request", id, conn.id, append(describeRequest(r), body), connAddresses(r))
	if !request.write(ctx, w, func() { s.emit("drain", id) }) {
		s.emit("aborted", id)
		panic(http.ErrAbortHandler) //nolint:forbidigo // makes net/http close the connection
	}
	request.discardBody(w)
	s.mu.Lock()
	conn.finishedRequest = id
	s.mu.Unlock()
}

// discardBody reads the rest of a body after the response, within limits. Otherwise net/http does that and closes the
// connection, because it is in full duplex mode.
func (s *serverRequest) discardBody(w http.ResponseWriter) {
	if s.bodyEnded.Load() {
		return
	}
	const limit, timeout = 256 << 10, 500 * time.Millisecond // as in net/http, and in servers of hono
	c := http.NewResponseController(w)
	_ = c.Flush()
	_ = c.SetReadDeadline(time.Now().Add(timeout))
	_, _ = io.CopyN(io.Discard, s.body, limit)
	_ = c.SetReadDeadline(time.Time{})
}

// readSmallBody returns the whole body if it is short, nil if it is empty, and true if JavaScript has to read it.
func (s *serverRequest) readSmallBody(r *http.Request) (any, error) {
	if r.ContentLength < 0 || r.ContentLength > chunkSize {
		return true, nil
	}
	s.bodyEnded.Store(true)
	if r.ContentLength == 0 {
		return nil, nil
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	if err == nil {
		_, _ = r.Body.Read(make([]byte, 1)) // reads EOF, after which net/http detects a disconnect
	}
	return body, err
}

// describeRequest returns [method, target, version, headers]; headers are alternating names and values.
func describeRequest(r *http.Request) []any {
	headers := []any{}
	if r.Host != "" {
		headers = append(headers, "Host", decodeLatin1(r.Host))
	}
	headers = append(headers, flatHeaders(r.Header)...)
	for _, coding := range r.TransferEncoding {
		headers = append(headers, "Transfer-Encoding", coding)
	}
	version := strconv.Itoa(r.ProtoMajor) + "." + strconv.Itoa(r.ProtoMinor)
	return []any{r.Method, decodeLatin1(r.RequestURI), version, headers}
}

// connAddresses returns host, family and port of the remote and of the local end.
func connAddresses(r *http.Request) []any {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	remote, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	if err != nil || local == nil {
		return nil
	}
	return []any{
		remote.IP.String(), family(remote.IP), float64(remote.Port), local.IP.String(), family(local.IP), float64(local.Port),
	}
}

// write writes queued pieces. It returns true when the response is complete, and false when the request was aborted.
func (s *serverRequest) write(ctx context.Context, w http.ResponseWriter, drained func()) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.changed:
		}
		for _, p := range s.takeQueue() {
			if ctx.Err() != nil {
				return false
			}
			p.write(w)
			if p.last {
				return true
			}
			if s.written(len(p.data)) {
				drained()
			}
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// finish drops pieces that were not written.
func (s *serverRequest) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heap.releaseShared(s.queued)
	s.over, s.pieces, s.queued = true, nil, 0
}

func (s *serverRequest) takeQueue() []responsePiece {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.pieces
	s.pieces = nil
	return queue
}

// written subtracts size from the queued bytes, and reports whether JavaScript waits for "drain".
func (s *serverRequest) written(size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued -= size
	s.heap.releaseShared(size)
	if !s.wantsDrain || s.queued > lowWaterMark {
		return false
	}
	s.wantsDrain = false
	return true
}

// write ignores errors: when the client disconnects, the context of the request is cancelled.
func (p responsePiece) write(w http.ResponseWriter) {
	if p.status != 0 {
		setResponseHeaders(w.Header(), p)
		w.WriteHeader(p.status)
	}
	if len(p.data) > 0 {
		_, _ = w.Write(p.data)
	}
}

// setResponseHeaders sets headers with names as the script wrote them, except for those that net/http reads.
func setResponseHeaders(h http.Header, p responsePiece) {
	h["Content-Type"] = nil // otherwise net/http guesses it
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

// sendResponse implements http.send(number, status or 0 after the first piece, headers, data, last). It returns the
// number of queued bytes, or -1 when the request is over.
func sendResponse(c *call) (any, error) {
	s, ok := lookupHandle[*serverRequest](&c.handles, intArg(c.args, 0))
	if !ok {
		return -1.0, nil
	}
	p := responsePiece{status: int(intArg(c.args, 1)), headers: arg[[]any](c.args, 2), last: arg[bool](c.args, 4)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return -1.0, nil
	}
	p.data = s.copyContent(c.args[3])
	s.pieces = append(s.pieces, p)
	s.queued += len(p.data)
	s.wantsDrain = s.queued > lowWaterMark
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return float64(s.queued), nil
}

// copyContent copies bytes or text, and reserves their memory.
func (s *serverRequest) copyContent(content any) []byte {
	switch content := content.(type) {
	case string:
		s.heap.reserveShared(len(content))
		return []byte(content)
	case []byte:
		s.heap.reserveShared(len(content))
		return bytes.Clone(content)
	}
	return nil
}

// abortRequest implements http.abort(number): it closes the connection of a request.
func abortRequest(c *call) (any, error) {
	if s, ok := lookupHandle[*serverRequest](&c.handles, intArg(c.args, 0)); ok {
		s.abort()
	}
	return nil, nil
}

// readRequest implements http.read(number): it returns the next bytes of the body, nil at the end.
func readRequest(c *call) (any, error) {
	s, ok := lookupHandle[*serverRequest](&c.handles, intArg(c.args, 0))
	if !ok {
		return nil, abortedError()
	}
	data, err := readChunk(s.body)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, http.ErrBodyReadAfterClose):
		s.bodyEnded.Store(true)
		return nil, nil
	case err != nil:
		return nil, abortedError()
	}
	return data, nil
}

func abortedError() error { return &hostError{Code: "ECONNRESET", Message: "aborted"} }

func sortedNames(h http.Header) []string { return slices.Sorted(maps.Keys(h)) }
