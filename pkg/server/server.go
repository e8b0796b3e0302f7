// Package server is one tool server of a session: it starts what carries the server, shakes hands, lists the tools, and runs
// calls with their limits, one at a time unless told otherwise. It replaces a process that must not be used again.
//
// It refuses to know what carries the server (a child's pipes, a URL, an engine: see [Link]), what other servers there are,
// and whether a trail may go on after a failure.
//
// A [Server] may be used from any goroutine. Everything it starts is gone when [Server.Stop] returns.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Link is what carries one life of a server.
type Link interface {
	// Transport is how to speak with the server. It is connected once. Writing returns when its context ends, whether the
	// server reads or not.
	Transport() mcp.Transport
	// FirstMessage is closed at the first protocol message.
	FirstMessage() <-chan struct{}
	// Done is closed when the server is gone and everything it said has been read.
	Done() <-chan struct{}
	// ExitError says, once Done is closed, how the server ended by itself ("exited with code 3"); nil when we stopped it.
	ExitError() *fault.Error
	// Explain adds what is known about the server to an error: exit code, last output, the log's path, a hint.
	Explain(cause *fault.Error) *fault.Error
	// Stop ends the server and returns when it is gone; reads and writes of the transport fail from then on.
	Stop(ctx context.Context) error
}

// RemoteLink is a Link to something that goes on without it, because others use it as well.
type RemoteLink interface {
	Link
	// StoppedServer reports, once the link is stopped, that what it led to had stopped answering, so that the next link leads to something fresh.
	StoppedServer() bool
}

// Config says how to reach a server and what it is allowed.
type Config struct {
	Name string
	// Launch starts the server. The context bounds the launch, not the life of what it starts.
	Launch         func(ctx context.Context) (Link, error)
	Version        string        // of trailblaze, told to the server
	StartupTimeout time.Duration // for the handshake; 0 means 60 s
	CallTimeout    time.Duration // for a call that has no limit of its own; 0 means 30 s
	Parallel       bool          // calls need not wait for each other
	RestartOnCrash bool          // a crash costs the call in flight, not the session; at most three times
	Reconnect      bool          // the server goes on without its links: losing one costs the call in flight, and another link is free
	// Log is told what is worth saying besides errors; level is debug, info, warn or error. May be nil.
	Log func(level, message, hint string)

	timing timing
}

// timing holds the limits that nobody configures. Tests shorten them; zero means the default.
type timing struct {
	silence  time.Duration // before saying that a starting server is silent
	list     time.Duration // for all pages of tools/list
	registry time.Duration // for the registry, once the tools are there
	quiet    time.Duration // without another announcement, before tools that changed are listed again
	stretch  time.Duration // for a call in all, however often it reports progress
}

const (
	defaultStartup  = 60 * time.Second
	defaultSilence  = 5 * time.Second // of section 5 of the specification, as are the limits around it
	defaultList     = 30 * time.Second
	defaultRegistry = 5 * time.Second
	defaultQuiet    = 50 * time.Millisecond
	defaultCall     = 30 * time.Second
	defaultStretch  = 10 * time.Minute
	maxRestarts     = 3
)

func (c Config) withDefaults() Config {
	fill := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	fill(&c.timing.list, cmp.Or(c.StartupTimeout, defaultList))
	fill(&c.timing.silence, defaultSilence)
	fill(&c.timing.registry, defaultRegistry)
	fill(&c.timing.quiet, defaultQuiet)
	fill(&c.timing.stretch, defaultStretch)
	fill(&c.StartupTimeout, defaultStartup)
	if c.Log == nil {
		c.Log = func(string, string, string) {}
	}
	return c
}

// Server is a started server. Its process may change during its life; its tools change only when [Server.SetListing] says so.
type Server struct {
	cfg     Config
	listing atomic.Pointer[Listing] // in use
	changed atomic.Bool             // it said that its tools changed since they were last asked for
	settled atomic.Bool             // from then on changes are only noted
	noted   sync.Once

	turn      chan struct{} // held for the length of a call, unless calls are parallel
	launching chan struct{} // held while a process is started; guards protocol
	protocol  string

	stopOnce sync.Once
	stopErr  error
	stopping chan struct{}
	broken   chan struct{}
	work     sync.WaitGroup // every goroutine of the server

	mu            sync.Mutex
	peer          *peer              // in use; nil when the next call has to start one
	last          *peer              // the one before, on its way out
	flights       map[string]*flight // calls in progress, by progress token
	tokens        int
	crashes       int
	reconnections int
	stopped       bool
	err           *fault.Error // why it is broken
}

// Start launches the server, shakes hands and asks what it has. When that fails everything it started is stopped,
// and the error is a *fault.Error that names the server and the phase.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s := &Server{
		cfg: cfg.withDefaults(), protocol: classic, turn: make(chan struct{}, 1), launching: make(chan struct{}, 1),
		stopping: make(chan struct{}), broken: make(chan struct{}), flights: map[string]*flight{},
	}
	p, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	listing, phase, err := s.inquire(ctx, p)
	if err != nil {
		failed := s.reason(p, phase, err)
		_ = p.stop(context.WithoutCancel(ctx))
		return nil, p.link.Explain(failed)
	}
	s.listing.Store(listing)
	s.mu.Lock()
	s.adopt(ctx, p)
	s.mu.Unlock()
	return s, nil
}

// Name returns the configured name.
func (s *Server) Name() string { return s.cfg.Name }

// Tools returns the tools in use in the order in which they were advertised. Names may repeat.
func (s *Server) Tools() []tool.Advertised { return slices.Clone(s.listing.Load().Tools) }

// Failed is closed when the server ended by itself and will not be started again.
func (s *Server) Failed() <-chan struct{} { return s.broken }

// Err says why the server is broken: a *fault.Error, nil as long as it is not.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return s.err
}

// Stop cancels the calls in flight, tells the server so, and ends it. Later calls fail. It may be called more than once.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.mu.Lock()
		s.stopped = true
		close(s.stopping)
		p, flights := s.peer, slices.Collect(maps.Values(s.flights))
		s.mu.Unlock()
		for _, f := range flights {
			f.cancel()
		}
		if p != nil {
			s.stopErr = p.stop(ctx)
		}
		for _, f := range flights {
			<-f.landed
		}
		s.work.Wait()
	})
	return s.stopErr
}

// connect starts a process and shakes hands with it. A server that refuses to initialize is started again, since nobody
// knows what state the refusal left it in, and spoken to in the modern way from then on.
func (s *Server) connect(ctx context.Context) (*peer, error) {
	for replaced := false; ; {
		link, err := s.cfg.Launch(ctx)
		if err != nil {
			return nil, s.launchFault(err)
		}
		p, err := newPeer(ctx, link, s.cfg.Version, s.hear)
		if err != nil {
			return nil, s.launchFault(err)
		}
		err = s.handshake(ctx, p)
		if err == nil {
			return p, nil
		}
		failed := s.reason(p, "initialize", err)
		_ = p.stop(context.WithoutCancel(ctx))
		if c, lasts := link.(RemoteLink); lasts && c.StoppedServer() && !replaced && ctx.Err() == nil {
			replaced = true
			s.log("warn", "does not answer any more; its process is ended, and a fresh one started", "the last call before it may have stuck")
			continue
		}
		if s.protocol == modern || !refused(err) {
			return nil, p.link.Explain(failed)
		}
		s.log("debug", "refuses initialize; starting it again for protocol "+modern, "")
		s.protocol = modern
	}
}

// handshake returns the reason, unexplained, why p cannot be spoken with.
func (s *Server) handshake(ctx context.Context, p *peer) error {
	connected := p.connect(ctx, s.protocol)
	notice, limit := time.NewTimer(s.cfg.timing.silence), time.NewTimer(s.cfg.StartupTimeout)
	defer notice.Stop()
	defer limit.Stop()
	for {
		select {
		case err := <-connected:
			return err
		case <-p.ended:
			_ = p.wire.Close() // so that connected is answered, whatever the link does
			return <-connected
		case <-limit.C:
			return s.overLimit("initialize: timeout: no handshake within %s, the limit for starting", s.cfg.StartupTimeout)
		case <-ctx.Done():
			return s.cancelled(ctx, "initialize")
		case <-notice.C:
			select {
			case <-p.link.FirstMessage():
			default:
				s.log("warn", fmt.Sprintf("has said nothing for %s; waiting up to %s", s.cfg.timing.silence, s.cfg.StartupTimeout),
					"the key startupTimeout of its entry sets the limit")
			}
		}
	}
}

// refused reports whether err is the server's answer that it does not do initialize.
func refused(err error) bool {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return false
	}
	return rpc.Code == mcp.CodeUnsupportedProtocolVersion || rpc.Code == jsonrpc.CodeMethodNotFound ||
		strings.Contains(strings.ToLower(rpc.Message), "unsupported protocol")
}

// adopt makes p the process in use. The caller holds s.mu and has seen that the server is not stopped.
func (s *Server) adopt(ctx context.Context, p *peer) {
	s.peer = p
	s.work.Go(func() {
		<-p.ended
		s.settle(p)
		_ = p.stop(context.WithoutCancel(ctx))
	})
}

// retire takes p out of use after a call on it was given up: nobody knows what the tool is still doing. Calls that share
// it may finish; then it is stopped.
func (s *Server) retire(ctx context.Context, p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peer != p || s.stopped {
		return
	}
	s.peer, s.last = nil, p
	p.retired = s.aboard(p)
	s.work.Go(func() {
		for _, f := range p.retired {
			<-f.landed
		}
		_ = p.stop(context.WithoutCancel(ctx))
	})
}

// settle decides, once for every process, what its end means. It returns when that is decided.
func (s *Server) settle(p *peer) {
	s.mu.Lock()
	warning := s.decide(p)
	s.mu.Unlock()
	if warning != "" {
		s.log("warn", warning, p.verdict.Hint)
	}
}

// decide does what settle promises and returns what there is to say of it. The caller holds s.mu.
func (s *Server) decide(p *peer) (warning string) {
	if p.verdict != nil {
		return ""
	}
	when := "between calls"
	if aboard := s.aboard(p); len(aboard) > 0 {
		if p.retired != nil {
			aboard = p.retired // when a process dies that waits for itself, the call that it waits for may be given up first
		}
		when = "during " + callNames(aboard)
	}
	p.verdict = s.died(p, when)
	if p.fate != nil {
		p.verdict = p.link.Explain(p.verdict)
	}
	if s.peer != p || s.stopped {
		return ""
	}
	s.peer, s.last = nil, p
	if s.cfg.Reconnect {
		return ""
	}
	s.crashes++
	if p.fate != nil && s.cfg.RestartOnCrash && s.crashes <= maxRestarts {
		return fmt.Sprintf("is started again if another call needs it (crash %d of at most %d): %s", s.crashes, maxRestarts, p.verdict.Message)
	}
	s.breakWith(p.verdict)
	return ""
}

// breakWith ends the server for good. The caller holds s.mu.
func (s *Server) breakWith(err *fault.Error) {
	if s.err == nil && !s.stopped {
		s.err = err
		close(s.broken)
	}
}

// aboard returns the calls in flight on p. The caller holds s.mu.
func (s *Server) aboard(p *peer) []*flight {
	var on []*flight
	for _, f := range s.flights {
		if f.peer == p {
			on = append(on, f)
		}
	}
	slices.SortFunc(on, func(a, b *flight) int { return strings.Compare(a.phase(), b.phase()) })
	return on
}

func callNames(flights []*flight) string {
	names := make([]string, len(flights))
	for i, f := range flights {
		names[i] = f.phase()
	}
	return strings.Join(names, ", ")
}
