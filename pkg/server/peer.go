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

// The protocol versions that are asked for. A server may choose an older one.
const (
	classic = "2025-11-25"
	modern  = "2026-07-28" // begins with server/discover, which classic servers may ignore for ever, or exit on
)

const (
	// exitGrace is how long a server that closed its output may take to exit, so that its exit code can be reported.
	exitGrace = 5 * time.Second
	// writeTimeout bounds how long writing a cancellation may delay stopping a server that does not read.
	writeTimeout = time.Second
	// drainTimeout bounds how long a response that was sent before the end of the server may take to be delivered.
	drainTimeout = time.Second
)

// peer is one run of a server: a link, and the MCP session over it.
type peer struct {
	link    Link
	conn    *connection
	client  *mcp.Implementation
	session *mcp.ClientSession // set once connected

	ended   chan struct{} // closed when the server has ended or cannot be communicated with
	exitErr *fault.Error  // how it ended by itself, valid after ended; nil if we stopped it

	failure   *fault.Error   // exitErr for the calls that it fails, see Server.recordExit; guarded by Server.mu
	lastCalls []*pendingCall // those that were pending when one of them was given up; guarded by Server.mu

	stopOnce sync.Once
	stopping chan struct{} // closed when stop begins
	halted   chan struct{} // closed when Link.Stop has returned
	stopped  chan struct{} // closed when no goroutine of it runs any more
	stopErr  error

	connecting sync.WaitGroup // the handshake
	requests   sync.WaitGroup // the requests after it
	mu         sync.Mutex     // so that no request is added once closing is set
	closing    bool
}

// newPeer connects to a link that was just launched, and takes ownership of it. On failure the link is stopped.
func newPeer(ctx context.Context, link Link, version string, onNotification func(string, json.RawMessage)) (*peer, error) {
	conn, err := link.Transport().Connect(ctx)
	if err != nil {
		_ = link.Stop(context.WithoutCancel(ctx))
		return nil, err
	}
	p := &peer{
		link: link, conn: newConnection(conn, onNotification), client: &mcp.Implementation{Name: "trailblaze", Version: version},
		ended: make(chan struct{}), stopping: make(chan struct{}), halted: make(chan struct{}), stopped: make(chan struct{}),
	}
	go p.watch()
	return p, nil
}

// watch waits for the end of the server and sets exitErr. stop waits for it.
func (p *peer) watch() {
	defer close(p.ended)
	select {
	case <-p.link.Done():
	case <-p.halted:
	case <-p.conn.lost:
		if !p.awaitExit() {
			p.exitErr = fault.New(fault.Crashed, "", "closed its output or its input but kept running")
			return
		}
	}
	select {
	case <-p.link.Done():
		p.exitErr = p.link.ExitError()
	default: // stop could not end it
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

// awaitExit waits for the exit of a server whose connection was lost, and reports whether it exited or is being stopped.
func (p *peer) awaitExit() bool {
	select {
	case <-p.link.Done():
		return true
	case <-time.After(exitGrace):
	}
	select {
	case <-p.stopping:
		<-p.halted
		return true
	default:
		return false
	}
}

// connect starts the handshake in the given protocol version and returns a channel that receives its error. It ends when the
// peer is stopped, not with ctx, because a client must not cancel initialize.
func (p *peer) connect(ctx context.Context, protocol string) <-chan error {
	client := mcp.NewClient(p.client, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	connected := make(chan error, 1)
	p.connecting.Go(func() {
		var err error
		p.session, err = client.Connect(context.WithoutCancel(ctx), existing{p.conn}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
		connected <- err
	})
	return connected
}

// existing is the transport of a connection that exists.
type existing struct{ conn mcp.Connection }

func (e existing) Connect(context.Context) (mcp.Connection, error) { return e.conn, nil }

// requestParams are the parameters of tools/list, tools/call and resources/read.
type requestParams struct {
	Cursor    string         `json:"cursor,omitempty"`
	URI       string         `json:"uri,omitempty"`
	Name      string         `json:"name,omitempty"`
	Arguments map[string]any `json:"arguments,omitzero"` // of a call never nil, even if empty
	Meta      map[string]any `json:"_meta,omitempty"`
}

// params encodes the parameters of a request. In the modern protocol they also have what older servers receive in initialize.
func (p *peer) params(req requestParams) (json.RawMessage, error) {
	if version := p.session.InitializeResult().ProtocolVersion; version >= modern {
		meta := map[string]any{
			mcp.MetaKeyProtocolVersion: version, mcp.MetaKeyClientInfo: p.client, mcp.MetaKeyClientCapabilities: struct{}{},
		}
		maps.Copy(meta, req.Meta)
		req.Meta = meta
	}
	return json.Marshal(req)
}

// request sends a request, calls onSent, and waits for the response.
func (p *peer) request(ctx context.Context, method string, req requestParams, onSent func()) (json.RawMessage, error) {
	params, err := p.params(req)
	if err != nil {
		return nil, err
	}
	r, err := p.send(ctx, method, params)
	if err != nil {
		return nil, err
	}
	defer p.finish(ctx, r)
	onSent()
	return p.await(ctx, r)
}

// send writes a request. The error is errLost or that of the context. Without an error the caller must call finish.
func (p *peer) send(ctx context.Context, method string, params json.RawMessage) (*pendingRequest, error) {
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		return nil, errLost
	}
	p.requests.Add(1)
	p.mu.Unlock()
	r := p.conn.register()
	err := p.conn.Write(ctx, &jsonrpc.Request{ID: r.id, Method: method, Params: params})
	if err != nil && ctx.Err() != nil {
		p.finish(ctx, r)
		return nil, context.Cause(ctx)
	}
	return r, nil // after another write error there may still be a response: a server may respond and exit before the write returns
}

// finish ends a request. If there is no response yet, the request is cancelled at the server, in a goroutine, because a
// server that does not read must not block the caller.
func (p *peer) finish(ctx context.Context, r *pendingRequest) {
	if r.isDone() {
		p.requests.Done()
		return
	}
	reason := "no longer needed"
	if ctx.Err() != nil {
		reason = context.Cause(ctx).Error()
	}
	go func() {
		defer p.requests.Done()
		_ = p.conn.Write(context.WithoutCancel(ctx), cancellation(r.id, reason))
	}()
}

func cancellation(id jsonrpc.ID, reason string) *jsonrpc.Request {
	params, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": reason})
	if err != nil {
		params = nil // a number and a string are always encoded
	}
	return &jsonrpc.Request{Method: methodCancelled, Params: params}
}

// await waits for the response to a request. The error is errLost if there will be none, the cause of ctx if it ended first,
// or the error in the response.
func (p *peer) await(ctx context.Context, r *pendingRequest) (json.RawMessage, error) {
	select {
	case <-r.done:
		return r.result()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-p.conn.lost:
	case <-p.ended:
	}
	select { // it may have responded before it ended
	case <-r.done:
	case <-p.conn.eof:
	case <-time.After(drainTimeout):
	}
	if r.isDone() {
		return r.result()
	}
	return nil, errLost
}

// stop stops the server and waits for all goroutines of the peer. A second call waits for the first.
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
		case <-time.After(writeTimeout):
		}
		p.stopErr = p.link.Stop(ctx)
		close(p.halted)
		_ = p.conn.Close()
		<-idle
		p.connecting.Wait()
		if p.session != nil {
			_ = p.session.Close() // waits for the SDK's reader
		}
		<-p.ended
		close(p.stopped)
	})
	<-p.stopped
	return p.stopErr
}
