package background

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
)

const (
	// maxRequest is the size in bytes of the largest request.
	maxRequest = 8 << 20
	// headerTimeout is how long the header of a request may take.
	headerTimeout = 10 * time.Second
	// drainTimeout is how long requests in progress may take when the session ends. They are cancelled unless it
	// failed.
	drainTimeout = 5 * time.Second
)

// Session is a session that can be served.
type Session interface {
	live.API
	// Done is closed when the session can no longer be used.
	Done() <-chan struct{}
	// Folder returns the folder with the recording of the session, empty for none.
	Folder() string
	// PassOthersTo has a function take the requests of processes that the session answers itself.
	PassOthersTo(step func(context.Context, live.StepRequest) (live.StepReport, error))
}

// Options say how a session is served.
type Options struct {
	Session Session
	Idle    time.Duration // ends the session after so long without a request; 0 for never
	Page    Page          // in which people work in the session, too; nil for none
}

// Page is a page over a session. Its methods do not wait for requests.
type Page interface {
	// URL opens the page.
	URL() string
	// Used returns when somebody looked at the page last; the zero time for never.
	Used() time.Time
	// Recording returns how many steps and calls the recording has, and whether a file lacks some of it.
	Recording() (steps, calls int, unsaved bool)
}

// Server serves requests to one session, one after another.
type Server struct {
	opts     Options
	claim    *Claim
	listener net.Listener
	slot     chan struct{} // holds a value while a request is served
	end      chan struct{} // closed when a user ends the session
	endOnce  sync.Once
	ended    chan struct{} // closed when requests are no longer served
	// others ends before the session does, and with it the calls of other processes, none of which is made from then on.
	others       context.Context //nolint:containedctx // requests of other processes do not come by way of Run
	cancelOthers context.CancelCauseFunc

	mu      sync.Mutex
	status  live.Status // after the last request
	pending int         // requests
	used    time.Time   // when the last request ended
}

// Listen creates the socket of a session with a claimed name. Clients find it from now on.
func (c *Claim) Listen(ctx context.Context, o Options) (*Server, error) {
	s := &Server{
		opts: o, claim: c, slot: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{}), used: c.folder.Now(),
	}
	s.others, s.cancelOthers = context.WithCancelCause(context.WithoutCancel(ctx))
	var err error
	if s.status, err = o.Session.Status(ctx); err != nil {
		return nil, err
	}
	path, err := c.socketPath()
	if err == nil {
		_ = os.Remove(path) // of a session that was killed
		s.listener, err = new(net.ListenConfig).Listen(ctx, "unix", path)
	}
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err == nil {
		err = c.update(func(r *Record) {
			r.Socket, r.Target, r.Driver = path, s.status.Target, s.status.Driver
			r.Agent, r.Device = s.status.Agent, s.status.Device
			if folder := o.Session.Folder(); folder != "" {
				r.Recording = filepath.Join(folder, live.RecordingName)
			}
		})
	}
	if err != nil {
		if s.listener != nil {
			_ = s.listener.Close()
		}
		return nil, fault.Wrap(fault.IO, err, "set TRAILBLAZE_CACHE_DIR to another folder",
			"create the socket of the session")
	}
	o.Session.PassOthersTo(s.stepOfOther)
	return s, nil
}

// Record returns the record of the session.
func (s *Server) Record() Record { return s.claim.record }

// Run serves requests until the session ends, and closes it. The error is why it ended, nil when a user ended it.
func (s *Server) Run(ctx context.Context) error {
	requests, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headerTimeout,
		BaseContext: func(net.Listener) context.Context { return requests },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(sameUserListener{s.listener}) // until Close
	}()
	reason, failed := s.await(ctx)
	s.cancelOthers(wasEnded())
	close(s.ended)
	info := s.Info()
	recordErr := s.claim.update(func(r *Record) {
		ended := &Ended{Time: s.claim.folder.Now(), Reason: "a user ended it", Requested: reason == nil}
		if reason != nil {
			ended.Reason = reason.Error()
		}
		ended.Steps, ended.Calls = info.Steps, info.Calls
		r.Ended = ended
	})
	drain, stop := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer stop()
	if !failed {
		cancel(wasEnded())
	}
	_ = server.Shutdown(drain) // it waits until requests have their answers, or the drain timeout
	cancel(reason)
	_ = server.Close()
	<-served
	s.opts.Session.Close(ctx)
	return errors.Join(reason, recordErr)
}

// wasEnded is why calls are cancelled that run when the session is ended.
func wasEnded() error { return fault.New(fault.Cancelled, "", "the session was ended") }

// await returns why the session is to be ended, nil when a user does so. failed is true when it cannot be used.
func (s *Server) await(ctx context.Context) (reason error, failed bool) {
	var expired <-chan time.Time
	for {
		left := s.opts.Idle - s.idle()
		if s.opts.Idle > 0 {
			if left <= 0 {
				return fault.New(fault.Cancelled, "", "it had no request for %s", s.opts.Idle), false
			}
			expired = time.After(left)
		}
		select {
		case <-expired:
		case <-s.end:
			return nil, false
		case <-s.opts.Session.Done():
			if ctx.Err() == nil {
				return s.opts.Session.Err(), true
			}
			return context.Cause(ctx), false
		case <-ctx.Done():
			return context.Cause(ctx), false
		}
	}
}

// awaitRequests waits until no request is served, and for at most the drain timeout.
func (s *Server) awaitRequests() {
	select {
	case s.slot <- struct{}{}:
		<-s.slot
	case <-time.After(drainTimeout):
	}
}

// idle returns how long the session was not used, 0 while there is a request.
func (s *Server) idle() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending > 0 {
		return 0
	}
	used := s.used
	if p := s.opts.Page; p != nil && p.Used().After(used) {
		used = p.Used()
	}
	return s.claim.folder.Now().Sub(used)
}

func (s *Server) handler() http.Handler {
	session, mux := s.opts.Session, http.NewServeMux()
	mux.HandleFunc("POST /info", func(w http.ResponseWriter, _ *http.Request) { s.reply(w, s.Info(), nil) })
	mux.HandleFunc("POST /end", func(w http.ResponseWriter, _ *http.Request) {
		s.endOnce.Do(func() { close(s.end) })
		s.cancelOthers(wasEnded())
		s.awaitRequests() // which may still record something
		s.reply(w, s.Info(), nil)
	})
	handle(s, mux, "/status", withoutRequest(session.Status))
	handle(s, mux, "/toolbox", withoutRequest(session.Toolbox))
	handle(s, mux, "/snapshot", session.Snapshot)
	handle(s, mux, "/step", session.Step)
	handle(s, mux, "/edit", session.Edit)
	handle(s, mux, "/save", session.Save)
	handle(s, mux, "/replay", session.RunTrail)
	serve(s, mux, "/look", session.Look)
	serve(s, mux, "/locate", session.Locate)
	mux.HandleFunc("POST /events", s.sendEvents)
	return mux
}

// withoutRequest returns a method that ignores its request.
func withoutRequest[Result any](method func(context.Context) (Result, error)) func(context.Context, struct{}) (Result, error) {
	return func(ctx context.Context, _ struct{}) (Result, error) { return method(ctx) }
}

// handle serves a method of the session, one request after another.
func handle[Request, Result any](
	s *Server, mux *http.ServeMux, path string, method func(context.Context, Request) (Result, error),
) {
	serve(s, mux, path, inTurn(s, method))
}

// inTurn returns a method that waits for earlier requests, and after which the server knows the status.
func inTurn[Request, Result any](
	s *Server, method func(context.Context, Request) (Result, error),
) func(context.Context, Request) (Result, error) {
	return func(ctx context.Context, request Request) (result Result, err error) {
		release, err := s.acquire(ctx)
		if err != nil {
			return result, err
		}
		defer release()
		defer s.keep(ctx)
		return method(ctx, request)
	}
}

// stepOfOther makes the calls of another process when their turn comes, unless the session is ended before.
func (s *Server) stepOfOther(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.others, func() { cancel(context.Cause(s.others)) })()
	return inTurn(s, func(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
		if err := context.Cause(s.others); err != nil {
			return live.StepReport{}, err
		}
		return s.opts.Session.Step(ctx, r)
	})(ctx, r)
}

// serve serves a method of the session that does not wait for other requests.
func serve[Request, Result any](
	s *Server, mux *http.ServeMux, path string, method func(context.Context, Request) (Result, error),
) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		var request Request
		if err := readRequest(w, r, &request); err != nil {
			s.reply(w, nil, err)
			return
		}
		result, err := method(r.Context(), request)
		s.reply(w, result, err)
	})
}

// sendEvents writes the events of the session, one line each, until the client goes away or the session ends. The
// request is the buffer of the subscription.
func (s *Server) sendEvents(w http.ResponseWriter, r *http.Request) {
	var buffer int
	if err := readRequest(w, r, &buffer); err != nil {
		s.reply(w, nil, err)
		return
	}
	events, stop := s.opts.Session.Subscribe(r.Context(), buffer)
	defer stop()
	out, encoder := http.NewResponseController(w), json.NewEncoder(w)
	for err := out.Flush(); err == nil; err = out.Flush() { // the first one tells the client that it has subscribed
		select {
		case e, ok := <-events:
			if !ok || encoder.Encode(event.Record{Event: e}) != nil {
				return
			}
		case <-r.Context().Done():
			return
		case <-s.ended:
			return
		}
	}
}

// readRequest reads the whole body, so that the context of the request ends when the client goes away.
func readRequest(w http.ResponseWriter, r *http.Request, request any) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return fault.New(fault.InvalidArguments, "", "the request is larger than %d MiB", maxRequest>>20)
	}
	if err == nil {
		err = json.Unmarshal(data, request)
	}
	if err != nil {
		return fault.Wrap(fault.InvalidArguments, err, "", "read the request")
	}
	return nil
}

// acquire waits until no other request is served.
func (s *Server) acquire(ctx context.Context) (release func(), err error) {
	s.count(1)
	select {
	case s.slot <- struct{}{}:
		return func() {
			<-s.slot
			s.count(-1)
		}, nil
	case <-ctx.Done():
		s.count(-1)
		return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for an earlier request")
	}
}

func (s *Server) count(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending += change
	s.used = s.claim.folder.Now()
}

// keep remembers the status of the session. It stays as it is when the session has failed.
func (s *Server) keep(ctx context.Context) {
	status, err := s.opts.Session.Status(context.WithoutCancel(ctx))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Info returns what is known of the session.
func (s *Server) Info() Info {
	idle := s.idle()
	s.mu.Lock()
	defer s.mu.Unlock()
	info := Info{Status: s.status, Busy: s.pending > 0, Idle: idle}
	if p := s.opts.Page; p != nil {
		info.Steps, info.Calls, info.Unsaved = p.Recording()
		info.Studio = p.URL()
	}
	return info
}

// reply writes the result of a request or its error.
func (s *Server) reply(w http.ResponseWriter, result any, err error) {
	var a answer
	if err == nil {
		a.Result, err = json.Marshal(result)
	}
	if err != nil {
		a = answer{Errors: newErrorMessages(err)}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // a client that is gone needs no answer
}

// sameUserListener closes connections of other users.
type sameUserListener struct{ net.Listener }

func (l sameUserListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if unix, ok := conn.(*net.UnixConn); ok && sameUser(unix) {
			return conn, nil
		}
		_ = conn.Close()
	}
}
