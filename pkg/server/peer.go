package server

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	// delivery is how long an answer may take to who asked after the server's end has shown.
	delivery = time.Second
)

// peer is one life of a server: a link, and the session spoken over it.
type peer struct {
	link    Link
	wire    *wire
	client  *mcp.Implementation
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
func newPeer(ctx context.Context, link Link, version string, hear func(method string, params json.RawMessage)) (*peer, error) {
	conn, err := link.Transport().Connect(ctx)
	if err != nil {
		_ = link.Stop(context.WithoutCancel(ctx))
		return nil, err
	}
	p := &peer{
		link: link, wire: newWire(conn, hear), client: &mcp.Implementation{Name: "trailblaze", Version: version},
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
func (p *peer) connect(ctx context.Context, protocol string) <-chan error {
	client := mcp.NewClient(p.client, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	connected := make(chan error, 1)
	p.greeting.Go(func() {
		var err error
		p.session, err = client.Connect(context.WithoutCancel(ctx), ready{p.wire}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
		connected <- err
	})
	return connected
}

// ready is the transport of a connection that exists.
type ready struct{ conn mcp.Connection }

func (r ready) Connect(context.Context) (mcp.Connection, error) { return r.conn, nil }

// request is the parameters of tools/list and tools/call.
type request struct {
	Cursor    string          `json:"cursor,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Meta      map[string]any  `json:"_meta,omitempty"`
}

// send sends a request. When ctx ends before the answer came, the server is told that the request is cancelled.
func (p *peer) send(ctx context.Context, method string, req request) (*exchange, error) {
	params, err := json.Marshal(p.signed(req))
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return nil, errLost
	}
	ex, err := p.wire.expect()
	if err != nil {
		return nil, err
	}
	// Not in the caller's goroutine: a write to a server that does not read returns only when the server is stopped.
	p.requests.Go(func() {
		writing := context.WithoutCancel(ctx)
		if p.wire.Write(writing, &jsonrpc.Request{ID: ex.id, Method: method, Params: params}) != nil {
			return // and the wire is broken, or closed by us
		}
		select {
		case <-ex.done:
		case <-p.wire.broken:
		case <-p.wire.closed:
		case <-ctx.Done():
			p.wire.forget(ex)
			_ = p.wire.Write(writing, cancellation(ex.id, context.Cause(ctx)))
		}
	})
	return ex, nil
}

// request sends a request and waits for its answer.
func (p *peer) request(ctx context.Context, method string, req request) (json.RawMessage, error) {
	ex, err := p.send(ctx, method, req)
	if err != nil {
		return nil, err
	}
	return p.await(ctx, ex)
}

// signed adds what every request of the modern protocol carries, where initialize has told it once.
func (p *peer) signed(req request) request {
	version := p.session.InitializeResult().ProtocolVersion
	if version < modern {
		return req
	}
	meta := map[string]any{
		mcp.MetaKeyProtocolVersion: version, mcp.MetaKeyClientInfo: p.client, mcp.MetaKeyClientCapabilities: struct{}{},
	}
	maps.Copy(meta, req.Meta)
	req.Meta = meta
	return req
}

func cancellation(id jsonrpc.ID, reason error) *jsonrpc.Request {
	params, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": reason.Error()})
	if err != nil {
		params = nil // a number and a string always encode
	}
	return &jsonrpc.Request{Method: methodCancelled, Params: params}
}

// await waits for the answer of an exchange: errLost when there will be none, the context's cause when ctx ended first.
func (p *peer) await(ctx context.Context, ex *exchange) (json.RawMessage, error) {
	select {
	case <-ex.done:
		return ex.result()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-p.wire.broken:
	case <-p.ended:
	}
	<-p.ended
	select { // it may have answered before it ended
	case <-ex.done:
	case <-p.wire.drained:
	case <-time.After(delivery):
	}
	if ex.isDone() {
		return ex.result()
	}
	return nil, errLost
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
