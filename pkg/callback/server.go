package callback

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const (
	callbackPath = "/scripting/callback"
	executePath  = "/scripting/primitives/ExecuteTool"
)

// What a client may take. The first two are far more than a program needs that talks to its own machine.
const (
	headerTime  = 15 * time.Second
	headerBytes = 16 << 10
	bodyTime    = 10 * time.Second       // the protocol's
	writeTime   = 10 * time.Second       // to take an answer that is ready
	lingerTime  = 2 * time.Second        // to write the rest of a request that is refused already
	lingerBytes = 8 * maxBody            // of that rest
	idleTime    = 2 * time.Minute        // longer than clients keep a connection: one that they reuse must not vanish under a request
	promptTime  = 500 * time.Millisecond // for a dispatch that has been cancelled to say so in its own words
)

// maxCalls bounds the calls of one door that run at once, and with them the connections that no other limit holds: a tool
// that asks in an endless loop without waiting for answers must not use up the runner's files.
const maxCalls = 1024

// Server is the door of one session, or of several that share a process. Close it.
type Server struct {
	id       string // of the session, or one that stands for all of them
	token    string
	port     int
	hosts    []string // what clients may call us
	gate     *gate
	http     *http.Server
	served   chan struct{} // closed when no connection is accepted any more
	workers  *workers
	refusals refusals

	mu      sync.Mutex
	flights map[[sha256.Size]byte]*flight // by digest: how long a look-up takes tells nothing of an id
	calls   int                           // that run
	closed  bool
	joined  sync.WaitGroup // every call; grows only while not closed, under mu
}

// Listen opens a door on 127.0.0.1, at a port that the system chooses. Its id is that of its session, or what processes that several
// sessions share are told in place of one. It fails when the system has no port.
func Listen(id string) (*Server, error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fault.Wrap(fault.Server, err, "tools call back over the loopback interface; is it up?", "open the callback server")
	}
	s := &Server{
		id: id, token: tool.NewCapability(),
		port: l.Addr().(*net.TCPAddr).Port, //nolint:errcheck // a TCP listener has no other address
		gate: newGate(l), served: make(chan struct{}), workers: newWorkers(), flights: map[[sha256.Size]byte]*flight{},
	}
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		s.hosts = append(s.hosts, fmt.Sprintf("%s:%d", name, s.port))
	}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), DisableGeneralOptionsHandler: true, Protocols: new(http.Protocols),
		ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerBytes, IdleTimeout: idleTime,
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ConnContext: withConn, ConnState: s.gate.follow,
	}
	s.http.Protocols.SetHTTP1(true)
	go func() {
		defer close(s.served)
		_ = s.http.Serve(s.gate) // until Close
	}()
	return s, nil
}

// URL is where the door is: http://127.0.0.1 and the port.
func (s *Server) URL() string { return "http://" + s.hosts[0] }

// CallbackURL is the address that callbacks are posted to.
func (s *Server) CallbackURL() string { return s.URL() + callbackPath }

// Local answers requests that our own process makes in the place of a server's, without a connection. The rules are the same ones.
func (s *Server) Local() http.Handler {
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: s.port}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithValue(r.Context(), http.LocalAddrContextKey, here)
		// The deadlines of no connection are errors, and of no concern.
		r = r.Clone(withConn(ctx, &conn{TCPConn: &net.TCPConn{}, gate: s.gate}))
		r.RemoteAddr, r.URL.Host = here.String(), ""
		s.serve(w, r)
	})
}

// Port is the door's port.
func (s *Server) Port() int { return s.port }

// Token is the door's secret, for the Authorization header.
func (s *Server) Token() string { return s.token }

// OnRefusal has f told of requests that are refused: of the first ones why, in Close how many more there were. Nothing that a
// client sent is in it. f may be called by any goroutine, one at a time.
func (s *Server) OnRefusal(f func(message string)) {
	s.refusals.mu.Lock()
	defer s.refusals.mu.Unlock()
	s.refusals.tell = f
}

// Begin registers an invocation and returns its id. Callbacks run in ctx, and end with its cause. end forgets the id, cancels
// what runs for it and waits for it; it may be called again, but not from Dispatch.
func (s *Server) Begin(ctx context.Context, inv Invocation) (id string, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	limit := cmp.Or(inv.Limit, DefaultLimit)
	over := fault.New(fault.CallTimeout, "",
		"no answer within %s, the limit of a callback (`callbackTimeout` of entry %q changes it)", limit, inv.Entry)
	f := &flight{session: cmp.Or(inv.Session, s.id), cancel: cancel}
	f.run = func(asker context.Context, r Request, done func()) Answer {
		return s.dispatch(ctx, asker, limit, over, done, func(ctx context.Context) Answer { return inv.Dispatch(ctx, r) })
	}
	id = tool.NewCapability()
	key := sha256.Sum256([]byte(id))
	s.mu.Lock()
	s.flights[key] = f
	s.mu.Unlock()
	return id, func() {
		s.mu.Lock()
		delete(s.flights, key)
		s.mu.Unlock()
		cancel(cancelled("the call that asked has ended"))
		f.running.Wait()
	}
}

// Close refuses new requests, cancels what runs, closes every connection and waits for every goroutine: for one whose Dispatch
// does not heed its context as long as that takes. It may be called again.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, f := range s.flights {
		f.cancel(cancelled("the session has ended"))
	}
	s.mu.Unlock()
	_ = s.gate.Close()
	<-s.served
	err := s.http.Close() // knows every connection only now that none is accepted
	s.joined.Wait()
	s.workers.close()
	s.gate.served.Wait()
	s.refusals.close()
	return err
}

// flight is an invocation that has begun.
type flight struct {
	session string                                                     // whose it is
	run     func(asker context.Context, r Request, done func()) Answer // calls done when Dispatch has returned
	cancel  context.CancelCauseFunc
	running sync.WaitGroup // grows only while the flight is registered, under Server.mu
}

// board finds the invocation that a question is asked for and counts the call that the caller then makes with it; left must be
// called at its end. why says what is wrong with the question when there is none.
func (s *Server) board(q question) (f *flight, left func(), why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, why = s.find(q)
	switch {
	case why != "":
		return nil, nil, why
	case q.session != "" && q.session != f.session && q.session != s.id:
		return nil, nil, "the invocation belongs to another session"
	case s.calls >= maxCalls:
		return nil, nil, fmt.Sprintf("tools are waiting for %d callbacks already, which is all that may run at once", maxCalls)
	}
	s.calls++
	s.joined.Add(1)
	f.running.Add(1)
	return f, func() {
		s.mu.Lock()
		s.calls--
		s.mu.Unlock()
		f.running.Done()
		s.joined.Done()
	}, ""
}

func (s *Server) find(q question) (f *flight, why string) {
	const unknown = "unknown invocation id; the tool call may have completed or timed out"
	switch {
	case s.closed:
		return nil, unknown
	case q.invocation != nil:
		f = s.flights[sha256.Sum256([]byte(*q.invocation))]
	case len(s.flights) > 1:
		return nil, "several tool calls are in flight, so that it is not clear which one asks: " +
			"post to " + callbackPath + " with the invocation_id from _meta.trailblaze"
	default:
		for _, f = range s.flights { // the only one
		}
	}
	if f == nil {
		return nil, unknown
	}
	return f, ""
}

// dispatch makes a call in ctx and calls done when it has returned. It waits for one that is cancelled no longer than it takes to
// say so, and then answers in its place.
func (s *Server) dispatch(
	ctx, asker context.Context, limit time.Duration, over error, done func(), call func(context.Context) Answer,
) Answer {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers := make(chan Answer, 1)
	s.workers.run(func() {
		defer done()
		var a Answer
		defer func() {
			if p := recover(); p != nil {
				a = Answer{Error: fault.Panicked(p).Message}
			}
			answers <- a
		}()
		a = call(ctx)
	})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a
	case <-timer.C:
		cancel(over)
	case <-asker.Done():
		cancel(cancelled("the asker closed its connection"))
	case <-ctx.Done():
	}
	timer.Reset(promptTime)
	select {
	case a := <-answers:
		return a
	case <-timer.C:
		return Answer{Error: context.Cause(ctx).Error()}
	}
}

func cancelled(why string) error { return fault.New(fault.Cancelled, "", "%s", why) }
