package server

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The protocols that are asked for. A server may settle for an older one.
const (
	classic = "2025-11-25"
	modern  = "2026-07-28" // begins with server/discover, which classic servers may ignore for ever or die of
)

const (
	// lingering is how long a server that closed its output may take to exit, so that its exit code can be told.
	lingering = 2 * time.Second
	// farewell is how long writing a cancellation may hold up the end of a server that does not read.
	farewell = time.Second
	// delivery is how long an answer that was read may take through the SDK to who asked.
	delivery = time.Second
)

// peer is one life of a server: a link, and the session spoken over it.
type peer struct {
	link    Link
	wire    *wire
	session *mcp.ClientSession // set once connected

	ended chan struct{} // closed when the server is gone or cannot be spoken with
	fate  *fault.Error  // how, valid after ended; nil when we stopped it

	verdict *fault.Error // what Server.settle made of fate; guarded by Server.mu

	stopOnce sync.Once
	stopping chan struct{}
	stopped  chan struct{}
	stopErr  error

	greeting sync.WaitGroup // the handshake
	requests sync.WaitGroup // the exchanges after it
	mu       sync.Mutex     // so that no request is added once closing is set
	closing  bool
}

// newPeer takes over a link that was just launched. The link is stopped when that fails.
func newPeer(ctx context.Context, link Link, hear func(method string, params json.RawMessage)) (*peer, error) {
	conn, err := link.Transport().Connect(ctx)
	if err != nil {
		_ = link.Stop(context.WithoutCancel(ctx))
		return nil, err
	}
	p := &peer{
		link: link, wire: newWire(conn, hear),
		ended: make(chan struct{}), stopping: make(chan struct{}), stopped: make(chan struct{}),
	}
	go p.watch()
	return p, nil
}

// watch waits for the end and keeps how it came. stop joins it.
func (p *peer) watch() {
	defer close(p.ended)
	select {
	case <-p.link.Done():
	case <-p.wire.broken:
		if !p.leaves() {
			p.fate = fault.New(fault.Crashed, "", "closed its output or its input and went on running")
			return
		}
	}
	p.fate = p.link.End()
}

// leaves waits for the end of a server that can no longer be spoken with, for as long as that is worth it.
func (p *peer) leaves() bool {
	select {
	case <-p.link.Done():
		return true
	case <-time.After(lingering):
	}
	select {
	case <-p.stopping:
		<-p.link.Done()
		return true
	default:
		return false
	}
}

// connect shakes hands in the given protocol and sends what became of it. It ends when the peer is stopped, not with ctx:
// a client must not cancel initialize.
func (p *peer) connect(ctx context.Context, version, protocol string) <-chan error {
	client := mcp.NewClient(&mcp.Implementation{Name: "trailblaze", Version: version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
	})
	connected := make(chan error, 1)
	p.greeting.Go(func() {
		err := errors.Join(
			mcp.AddSendingCustomMethod[*request, *answer](client, unread+methodList),
			mcp.AddSendingCustomMethod[*request, *answer](client, unread+methodCall),
		)
		if err == nil {
			p.session, err = client.Connect(context.WithoutCancel(ctx), ready{p.wire}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
		}
		connected <- err
	})
	return connected
}

// ready is the transport of a connection that exists.
type ready struct{ conn mcp.Connection }

func (r ready) Connect(context.Context) (mcp.Connection, error) { return r.conn, nil }

// send sends a request. When ctx ends first, the server is told that the request is cancelled and the exchange is done with
// the context's error; a late answer goes nowhere.
func (p *peer) send(ctx context.Context, method string, req *request) *exchange {
	ex := &exchange{done: make(chan struct{}), told: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		ex.err = mcp.ErrConnectionClosed
		close(ex.done)
		return ex
	}
	// Not in the caller's goroutine: a write to a server that does not read returns only when the server is stopped.
	p.requests.Go(func() {
		ctx := context.WithValue(ctx, exchangeKey{}, ex)
		got, err := mcp.CallCustomMethod[*request, *answer](ctx, p.session, unread+method, req)
		if err == nil {
			ex.answer = got.raw
		}
		ex.err = err
		close(ex.done)
		if err != nil && ctx.Err() != nil {
			p.untilTold(ex) // the SDK says so in a goroutine of its own
		}
	})
	return ex
}

func (p *peer) untilTold(ex *exchange) {
	select {
	case <-ex.told:
	case <-p.wire.broken:
	case <-p.wire.closed:
	}
}

// await returns the answer of an exchange, or the context's cause, or why there will be none.
func (p *peer) await(ctx context.Context, ex *exchange) (json.RawMessage, error) {
	select {
	case <-ex.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-p.ended:
		select {
		case <-ex.done:
		case <-time.After(delivery):
			return nil, mcp.ErrConnectionClosed
		}
	}
	return ex.answer, ex.err
}

// stop ends the server politely and joins all that runs for it. Whoever calls it second waits for the first.
func (p *peer) stop(ctx context.Context) error {
	p.stopOnce.Do(func() {
		p.mu.Lock()
		p.closing = true
		p.mu.Unlock()
		close(p.stopping)
		idle := make(chan struct{})
		go func() { p.requests.Wait(); close(idle) }()
		select {
		case <-idle: // cancellations have been written
		case <-p.ended:
		case <-ctx.Done():
		case <-time.After(farewell):
		}
		p.stopErr = p.link.Stop(ctx)
		_ = p.wire.Close()
		<-idle
		p.greeting.Wait()
		if p.session != nil {
			_ = p.session.Close() // joins the SDK's reader
		}
		<-p.ended
		close(p.stopped)
	})
	<-p.stopped
	return p.stopErr
}
