// Package server runs one tool server of a session: it starts the server, completes the MCP handshake, lists the tools,
// and calls them with their time limits, one at a time unless the server is parallel. It replaces a process that must
// not be used again.
//
// It does not depend on how the server is connected (pipes, a URL, the embedded engine: see [Link]), on other servers,
// or on whether a trail may continue after a failure.
//
// A [Server] may be used from any goroutine. Everything that it started has ended when [Server.Stop] returns.
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

// Link is a connection to one run of a server.
type Link interface {
	// Transport returns the transport of the server. It is connected once. A write returns when its context ends, even
	// if the server does not read.
	Transport() mcp.Transport
	// FirstMessage is closed when the first protocol message has been received.
	FirstMessage() <-chan struct{}
	// Done is closed when the server has ended and everything that it wrote has been read.
	Done() <-chan struct{}
	// ExitError returns, once Done is closed, how the server ended by itself ("exited with code 3"); nil if Stop ended
	// it.
	ExitError() *fault.Error
	// Explain returns cause with what is known about the server: exit code, last output, the log's path, a hint.
	Explain(cause *fault.Error) *fault.Error
	// Stop stops the server and returns when it has ended. From then on, reads and writes of the transport fail.
	Stop(ctx context.Context) error
}

// RemoteLink is a Link to a server that continues to run when the link is stopped.
type RemoteLink interface {
	Link
	// StoppedServer reports, once the link is stopped, whether that also ended the server, because it had stopped
	// responding. The next link then leads to a new process.
	StoppedServer() bool
}

// Config says how to start a server and sets its limits.
type Config struct {
	Name string
	// Launch starts the server. The context bounds the launch, not the life of the server.
	Launch         func(ctx context.Context) (Link, error)
	Root           string        // of the project, absolute: messages name its files relative to it
	Version        string        // of trailblaze, sent to the server
	StartupTimeout time.Duration // for the handshake; 0 means 60 s
	CallTimeout    time.Duration // for a call that has no limit of its own; 0 means 30 s
	Parallel       bool          // calls run concurrently
	RestartOnCrash bool          // a crash fails the pending calls, not the session; at most three times
	// Reconnect is true if the server continues to run when a link ends: a lost link fails the pending calls, and the
	// next call opens another one.
	Reconnect bool
	// Sample answers requests of tools that are running for an answer of a model. Nil if the server may not ask for any:
	// the capability is not advertised then. NoSampling says why.
	Sample     func(ctx context.Context, r tool.Sampling) (tool.Sampled, error)
	NoSampling string
	Calls      *CallGraph // shared by the servers of a session; nil if there are no others
	// Log receives messages that are not errors; level is debug, info, warn or error. May be nil.
	Log func(level, message, hint string)

	timing timing
}

// timing holds the limits that are not configurable. Tests shorten them; zero means the default.
type timing struct {
	startNotice  time.Duration // after which a starting server that has sent nothing is logged
	list         time.Duration // for all pages of tools/list
	registry     time.Duration // for resources/read of the registry, once the tools are listed
	debounce     time.Duration // without another list_changed, after which changed tools are listed again
	maxExtension time.Duration // for a call in total, however often it reports progress
	exitGrace    time.Duration // for a server that closed its output to exit, so that its exit code can be reported
	write        time.Duration // for a cancellation to a server that does not read
	drain        time.Duration // for a response that was sent before the server ended
}

const (
	defaultStartupTimeout = 60 * time.Second
	defaultStartNotice    = 5 * time.Second // of section 5 of the specification, as are the limits around it
	defaultListTimeout    = 30 * time.Second
	defaultRegistry       = 5 * time.Second
	defaultDebounce       = 50 * time.Millisecond
	defaultCallTimeout    = 30 * time.Second
	defaultMaxExtension   = 10 * time.Minute
	defaultExitGrace      = 5 * time.Second
	defaultWriteTimeout   = time.Second
	defaultDrainTimeout   = time.Second
	maxRestarts           = 3
)

func (c Config) withDefaults() Config {
	setDefault := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	setDefault(&c.timing.list, cmp.Or(c.StartupTimeout, defaultListTimeout))
	setDefault(&c.timing.startNotice, defaultStartNotice)
	setDefault(&c.timing.registry, defaultRegistry)
	setDefault(&c.timing.debounce, defaultDebounce)
	setDefault(&c.timing.maxExtension, defaultMaxExtension)
	setDefault(&c.timing.exitGrace, defaultExitGrace)
	setDefault(&c.timing.write, defaultWriteTimeout)
	setDefault(&c.timing.drain, defaultDrainTimeout)
	setDefault(&c.StartupTimeout, defaultStartupTimeout)
	if c.Calls == nil {
		c.Calls = &CallGraph{}
	}
	if c.Log == nil {
		c.Log = func(string, string, string) {}
	}
	return c
}

// Server is a started server. Its process may be replaced; its tools change only when [Server.SetListing] is called.
type Server struct {
	cfg          Config
	listing      atomic.Pointer[Listing] // in use
	toolsChanged atomic.Bool             // a list_changed notification was received since the last listing began
	started      atomic.Bool             // from then on list_changed is only logged
	changeLogged sync.Once
	contexts     contextEncoder

	launching chan struct{} // held while a process is started; guards protocol
	protocol  string

	stopOnce sync.Once
	stopErr  error
	stopping chan struct{}
	failed   chan struct{}
	wg       sync.WaitGroup // every goroutine of the server

	mu            sync.Mutex
	peer          *peer                   // in use; nil when the next call has to start one
	previous      *peer                   // the one before; it may still be stopping
	pending       map[string]*pendingCall // by progress token
	lastToken     int
	crashes       int
	reconnections int
	stopped       bool
	err           *fault.Error // why the server failed; nil until then
}

// Start starts the server, completes the handshake and lists its tools. On failure everything that was started is
// stopped, and the error is a *fault.Error that names the server and the phase.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s := &Server{
		cfg: cfg.withDefaults(), protocol: classic, launching: make(chan struct{}, 1),
		stopping: make(chan struct{}), failed: make(chan struct{}), pending: map[string]*pendingCall{},
	}
	s.contexts.sampling = cfg.Sample != nil
	p, err := s.startPeer(ctx)
	if err != nil {
		return nil, err
	}
	listing, phase, err := s.readListing(ctx, p)
	if err != nil {
		failure := s.phaseError(p, phase, err)
		_ = p.stop(context.WithoutCancel(ctx))
		return nil, p.link.Explain(failure)
	}
	s.listing.Store(listing)
	s.mu.Lock()
	s.setPeer(ctx, p)
	s.mu.Unlock()
	return s, nil
}

// Name returns the configured name.
func (s *Server) Name() string { return s.cfg.Name }

// Tools returns the tools in use in the order in which the server lists them. Names may repeat.
func (s *Server) Tools() []tool.Advertised { return slices.Clone(s.listing.Load().Tools) }

// Failed is closed when the server ended by itself and will not be started again.
func (s *Server) Failed() <-chan struct{} { return s.failed }

// Err returns why the server failed: a *fault.Error, or nil if it has not.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return s.err
}

// Stop cancels the pending calls, notifies the server, and stops it. Later calls fail. It may be called more than once.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.mu.Lock()
		s.stopped = true
		close(s.stopping)
		p, calls := s.peer, slices.Collect(maps.Values(s.pending))
		s.mu.Unlock()
		for _, c := range calls {
			c.cancel()
		}
		if p != nil {
			s.stopErr = p.stop(ctx)
		}
		for _, c := range calls {
			<-c.done
		}
		s.wg.Wait()
	})
	return s.stopErr
}

// startPeer starts a process and completes the handshake. A server that rejects initialize is started again, because
// its state after the rejection is unknown, and from then on addressed in the modern protocol.
func (s *Server) startPeer(ctx context.Context) (*peer, error) {
	for replaced := false; ; {
		link, err := s.cfg.Launch(ctx)
		if err != nil {
			return nil, s.launchError(err)
		}
		p, err := newPeer(ctx, link, s.cfg, s.handleNotification)
		if err != nil {
			return nil, s.launchError(err)
		}
		s.answerSamplings(ctx, p)
		err = s.handshake(ctx, p)
		if err == nil {
			return p, nil
		}
		failure := s.phaseError(p, methodInitialize, err)
		_ = p.stop(context.WithoutCancel(ctx))
		if r, remote := link.(RemoteLink); remote && r.StoppedServer() && !replaced && ctx.Err() == nil {
			replaced = true
			s.log("warn", "stopped responding; restarting it", "the previous call may have hung")
			continue
		}
		if s.protocol == modern || !rejectsInitialize(err) {
			return nil, p.link.Explain(failure)
		}
		s.log("debug", "rejects initialize; restarting it with protocol "+modern, "")
		s.protocol = modern
	}
}

// handshake completes the MCP handshake with p. The error has no explanation by the link.
func (s *Server) handshake(ctx context.Context, p *peer) error {
	connected := p.connect(ctx, s.protocol)
	notice, limit := time.NewTimer(s.cfg.timing.startNotice), time.NewTimer(s.cfg.StartupTimeout)
	defer notice.Stop()
	defer limit.Stop()
	for {
		select {
		case err := <-connected:
			return err
		case <-p.ended:
			_ = p.conn.Close() // so that connected certainly receives a value
			return <-connected
		case <-limit.C:
			return s.startTimeout("initialize: timeout: no handshake within %s, the limit for starting",
				s.cfg.StartupTimeout)
		case <-ctx.Done():
			return s.cancelledError(ctx, methodInitialize)
		case <-notice.C:
			select {
			case <-p.link.FirstMessage():
			default:
				s.log("warn", fmt.Sprintf("has sent nothing for %s; waiting up to %s", s.cfg.timing.startNotice,
					s.cfg.StartupTimeout),
					"startupTimeout in its entry sets the limit")
			}
		}
	}
}

// rejectsInitialize reports whether err is a response that says that the server does not support initialize.
func rejectsInitialize(err error) bool {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return false
	}
	return rpc.Code == mcp.CodeUnsupportedProtocolVersion || rpc.Code == jsonrpc.CodeMethodNotFound ||
		strings.Contains(strings.ToLower(rpc.Message), "unsupported protocol")
}

// setPeer makes p the process in use. The caller holds s.mu and has checked that the server is not stopped.
func (s *Server) setPeer(ctx context.Context, p *peer) {
	s.peer = p
	s.wg.Go(func() {
		<-p.ended
		s.handleExit(p)
		_ = p.stop(context.WithoutCancel(ctx))
	})
}

// dropPeer takes p out of use after a call on it was cancelled or timed out, because the tool may still be running. It
// is stopped when its other pending calls have finished.
func (s *Server) dropPeer(ctx context.Context, p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peer != p || s.stopped {
		return
	}
	s.peer, s.previous = nil, p
	p.lastCalls = s.pendingOn(p)
	s.wg.Go(func() {
		for _, c := range p.lastCalls {
			<-c.done
		}
		_ = p.stop(context.WithoutCancel(ctx))
	})
}

// handleExit records the end of a process, once, and logs a warning if the server will be restarted. p has ended.
func (s *Server) handleExit(p *peer) {
	s.mu.Lock()
	warning := s.recordExit(p)
	s.mu.Unlock()
	if warning != "" {
		s.log("warn", warning, p.failure.Hint)
	}
}

// recordExit sets p.failure, and fails the server unless it may be started again. It returns a warning to log, or "".
// The caller holds s.mu.
func (s *Server) recordExit(p *peer) (warning string) {
	if p.failure != nil {
		return ""
	}
	when := "between calls"
	if calls := s.pendingOn(p); len(calls) > 0 {
		if p.lastCalls != nil {
			calls = p.lastCalls // the call that hung may have timed out before the process ended
		}
		when = "during " + describe(calls)
	}
	p.failure = s.exitFailure(p, when)
	if p.exitErr != nil {
		p.failure = p.link.Explain(p.failure)
	}
	if s.peer != p || s.stopped {
		return ""
	}
	s.peer, s.previous = nil, p
	if s.cfg.Reconnect {
		return ""
	}
	s.crashes++
	if p.exitErr != nil && s.cfg.RestartOnCrash && s.crashes <= maxRestarts {
		return fmt.Sprintf("crashed (%d of at most %d times); the next call restarts it: %s", s.crashes, maxRestarts,
			p.failure.Message)
	}
	s.fail(p.failure)
	return ""
}

// fail makes err the reason why the server cannot be used any more. The caller holds s.mu.
func (s *Server) fail(err *fault.Error) {
	if s.err == nil && !s.stopped {
		s.err = err
		close(s.failed)
	}
}

// pendingOn returns the calls that are pending on p, sorted by name. The caller holds s.mu.
func (s *Server) pendingOn(p *peer) []*pendingCall {
	var calls []*pendingCall
	for _, c := range s.pending {
		if c.peer == p {
			calls = append(calls, c)
		}
	}
	slices.SortFunc(calls, func(a, b *pendingCall) int { return strings.Compare(a.phase(), b.phase()) })
	return calls
}

// describe lists calls for a message.
func describe(calls []*pendingCall) string {
	phases := make([]string, len(calls))
	for i, c := range calls {
		phases[i] = c.phase()
	}
	return strings.Join(phases, ", ")
}
