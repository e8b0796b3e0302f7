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
	lingering = 5 * time.Second
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
	retired []*flight    // the calls on it when one of them was given up; guarded by Server.mu

	stopOnce sync.Once
	stopping chan struct{} // closed when we begin to stop it
	halted   chan struct{} // closed when the link has done what it can
	stopped  chan struct{} // closed when nothing of it runs any more
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
		ended: make(chan struct{}), stopping: make(chan struct{}), halted: make(chan struct{}), stopped: make(chan struct{}),
	}
	go p.watch()
	return p, nil
}

// watch waits for the end and keeps how it came. stop joins it.
func (p *peer) watch() {
	defer close(p.ended)
	select {
	case <-p.link.Done():
	case <-p.halted:
	case <-p.wire.broken:
		if !p.leaves() {
			p.fate = fault.New(fault.Crashed, "", "closed its output or its input and went on running")
			return
		}
	}
	select {
	case <-p.link.Done():
		p.fate = p.link.ExitError()
	default: // it does not die
	}
}

func (p *peer) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
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
		<-p.halted
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

// request is the parameters of tools/list, tools/call and resources/read.
type request struct {
	Cursor    string         `json:"cursor,omitempty"`
	URI       string         `json:"uri,omitempty"`
	Name      string         `json:"name,omitempty"`
	Arguments map[string]any `json:"arguments,omitzero"` // of a call never absent, even if empty
	Meta      map[string]any `json:"_meta,omitempty"`
}

// params encodes a request, with what every request of the modern protocol carries and initialize tells older servers once.
func (p *peer) params(req request) (json.RawMessage, error) {
	if version := p.session.InitializeResult().ProtocolVersion; version >= modern {
		meta := map[string]any{
			mcp.MetaKeyProtocolVersion: version, mcp.MetaKeyClientInfo: p.client, mcp.MetaKeyClientCapabilities: struct{}{},
		}
		maps.Copy(meta, req.Meta)
		req.Meta = meta
	}
	return json.Marshal(req)
}

// send writes a request. The error is errLost or the context's; without one the caller owes the exchange a call of finish.
func (p *peer) send(ctx context.Context, method string, params json.RawMessage) (*exchange, error) {
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		return nil, errLost
	}
	p.requests.Add(1)
	p.mu.Unlock()
	ex := p.wire.expect()
	err := p.wire.Write(ctx, &jsonrpc.Request{ID: ex.id, Method: method, Params: params})
	if err != nil && ctx.Err() != nil {
		p.finish(ctx, ex)
		return nil, context.Cause(ctx)
	}
	return ex, nil // not written means that the wire is broken; but a server may answer, exit, and break it just before we look
}

// finish ends an exchange. When there is no answer yet, the server is told that nobody waits for one: in a goroutine, since a
// server that does not read must not hold up the caller.
func (p *peer) finish(ctx context.Context, ex *exchange) {
	if ex.isDone() {
		p.requests.Done()
		return
	}
	reason := "given up"
	if ctx.Err() != nil {
		reason = context.Cause(ctx).Error()
	}
	go func() {
		defer p.requests.Done()
		_ = p.wire.Write(context.WithoutCancel(ctx), cancellation(ex.id, reason))
	}()
}

func cancellation(id jsonrpc.ID, reason string) *jsonrpc.Request {
	params, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": reason})
	if err != nil {
		params = nil // a number and a string always encode
	}
	return &jsonrpc.Request{Method: methodCancelled, Params: params}
}

// await waits for the answer of an exchange. The error is errLost when there will be none, the context's cause when ctx ended
// first, or the answer.
func (p *peer) await(ctx context.Context, ex *exchange) (json.RawMessage, error) {
	select {
	case <-ex.done:
		return ex.result()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-p.wire.broken:
	case <-p.ended:
	}
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
		close(p.halted)
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
