package callback

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/budget"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const (
	callbackPath = "/scripting/callback"
	executePath  = "/scripting/primitives/ExecuteTool"
)

const (
	headerBytes = 16 << 10    // of the headers of a request; far more than clients send
	drainBytes  = 8 * maxBody // read of a request that was rejected already
)

// maxCalls is how many calls of one server may run at once. It also bounds the authenticated connections: a tool that
// calls back in an endless loop without waiting for responses must not use up the files of this process.
const maxCalls = 1024

// limits are the times that clients and dispatched calls may take.
type limits struct {
	header          time.Duration // to send the headers of a request
	body            time.Duration // to send the body (specification, section 12), and for a request to wait for memory
	write           time.Duration // to receive a response, and for a response to wait for memory
	drain           time.Duration // to send the rest of a request that was rejected already
	idle            time.Duration // between requests; longer than in clients, so that no connection is closed as it is reused
	unauthenticated time.Duration // to send a request while there are more unauthenticated connections than allowed
	cancel          time.Duration // for a cancelled dispatch to return its own error
}

// defaultLimits holds for every server outside of tests. The limit on unauthenticated connections is what a client may
// need between connecting and sending on a busy machine; clients in the system's accept queue, some thousands, wait
// that long.
func defaultLimits() limits {
	return limits{
		header: 15 * time.Second, body: 10 * time.Second, write: 10 * time.Second, drain: 2 * time.Second, idle: 2 * time.Minute,
		unauthenticated: 500 * time.Millisecond, cancel: 500 * time.Millisecond,
	}
}

// Server is the callback server of one session, or of several that share a process. Close it.
type Server struct {
	id         string // of the session, or an id that several sessions share
	token      string
	callers    callers
	port       int
	hosts      []string // accepted values of the Host header
	limits     limits
	memory     *budget.Budget // of requests and responses
	listener   *listener
	http       *http.Server
	stopped    chan struct{} // closed when no connection is accepted any more
	rejections rejectionLog

	mu          sync.Mutex
	invocations map[[sha256.Size]byte]*invocation // by digest, so that the time of a look-up reveals nothing about an id
	ended       []endedCall                       // the last ones
	calls       int                               // number of running calls
	closed      bool
	running     sync.WaitGroup // every call; grows only while not closed, under mu
}

// Listen starts a callback server on 127.0.0.1, at a port that the system chooses. id is that of its session, or the id
// that a process shared by several sessions receives. It fails when no port is free.
// Requests and responses take from memory, which may be nil.
func Listen(id string, memory *budget.Budget) (*Server, error) {
	return listen(id, memory, defaultLimits())
}

// ListenForOthers is [Listen] for processes that the session did not start. Every request needs the token and has no
// invocation id. dispatch makes the calls, as that of an [Invocation] does, until Close.
func ListenForOthers(
	ctx context.Context, id, token string, memory *budget.Budget, dispatch func(context.Context, Request) Response,
) (*Server, error) {
	return listenForOthers(ctx, id, token, memory, dispatch, defaultLimits())
}

func listenForOthers(
	ctx context.Context, id, token string, memory *budget.Budget, dispatch func(context.Context, Request) Response, limits limits,
) (*Server, error) {
	s, err := newServer(id, token, others(), memory, limits)
	if err != nil {
		return nil, err
	}
	s.Register(ctx, Invocation{Dispatch: dispatch}) // until Close; nobody is told its id
	s.serveHTTP()
	return s, nil
}

func listen(id string, memory *budget.Budget, limits limits) (*Server, error) {
	s, err := newServer(id, tool.NewCapability(), ownServers(), memory, limits)
	if err == nil {
		s.serveHTTP()
	}
	return s, err
}

// newServer returns a server that listens and does not accept connections yet.
func newServer(id, token string, callers callers, memory *budget.Budget, limits limits) (*Server, error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "tools call back over the loopback interface; is it up?", "start the callback server")
	}
	s := &Server{
		id: id, token: token, callers: callers, limits: limits, memory: memory,
		port:     l.Addr().(*net.TCPAddr).Port, //nolint:errcheck // a TCP listener has no other address
		listener: newListener(l, limits.unauthenticated), stopped: make(chan struct{}),
		invocations: map[[sha256.Size]byte]*invocation{},
	}
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		s.hosts = append(s.hosts, fmt.Sprintf("%s:%d", name, s.port))
	}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), DisableGeneralOptionsHandler: true, Protocols: new(http.Protocols),
		ReadHeaderTimeout: limits.header, MaxHeaderBytes: headerBytes, IdleTimeout: limits.idle,
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ConnContext: withConn, ConnState: s.listener.connState,
	}
	s.http.Protocols.SetHTTP1(true)
	return s, nil
}

// serveHTTP accepts connections until Close.
func (s *Server) serveHTTP() {
	go func() {
		defer close(s.stopped)
		_ = s.http.Serve(s.listener)
	}()
}

// URL returns http://127.0.0.1 and the port.
func (s *Server) URL() string { return "http://" + s.hosts[0] }

// CallbackURL returns the address that callbacks are posted to.
func (s *Server) CallbackURL() string { return s.URL() + callbackPath }

// Port returns the server's port.
func (s *Server) Port() int { return s.port }

// Token returns the server's secret, for the Authorization header.
func (s *Server) Token() string { return s.token }

// InProcess returns a handler for requests from this process, which need no connection. It applies the same rules.
func (s *Server) InProcess() http.Handler {
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: s.port}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithValue(r.Context(), http.LocalAddrContextKey, address)
		// Setting the deadlines of this connection fails, which does not matter.
		r = r.Clone(withConn(ctx, &conn{TCPConn: &net.TCPConn{}, listener: s.listener}))
		r.RemoteAddr, r.URL.Host = address.String(), ""
		s.serve(w, r)
	})
}

// OnReject sets a function that logs rejected requests: the reasons of the first ones, and in Close the number of the
// others. The messages contain nothing that a client sent. Any goroutine may call log, one at a time.
func (s *Server) OnReject(log func(message string)) {
	s.rejections.mu.Lock()
	defer s.rejections.mu.Unlock()
	s.rejections.log = log
}

// Close rejects new requests, cancels the calls that run, closes every connection and waits for every goroutine, also
// for a Dispatch that ignores its context. It may be called again.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, i := range s.invocations {
		i.cancel(cancelledError("the session has ended"))
	}
	s.mu.Unlock()
	_ = s.listener.Close()
	<-s.stopped
	err := s.http.Close() // after <-s.stopped, because Serve then registers no more connections
	s.running.Wait()
	s.listener.served.Wait()
	s.rejections.close()
	return err
}
