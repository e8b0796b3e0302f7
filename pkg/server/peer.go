package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The protocol versions that are requested. A server may choose an older one.
const (
	classic = "2025-11-25"
	modern  = "2026-07-28" // begins with server/discover, which classic servers may ignore for ever, or exit on
)

// peerState is the state of a peer. It only increases.
type peerState int

const (
	peerStarting peerState = iota // the handshake has not finished
	peerReady                     // requests can be sent
	peerLost                      // the connection is lost, and the server may be about to exit
	peerEnded                     // the server has ended by itself, or cannot be communicated with
	peerStopping                  // stop was called
	peerStopped                   // the server has ended and no goroutine of the peer runs
)

// peer is one run of a server: a link, and the MCP session over it.
type peer struct {
	link   Link
	conn   *connection
	client *mcp.Implementation
	// capabilities are what the handshake advertises.
	capabilities *mcp.ClientCapabilities
	session      *mcp.ClientSession // set once connected
	meta         []byte             // members of _meta in every request, without braces; set once connected
	timing       timing

	mu      sync.Mutex
	state   peerState
	lost    chan struct{} // closed in state peerLost
	ended   chan struct{} // closed when exitErr is set, in state peerEnded or while stopping
	stopped chan struct{} // closed in state peerStopped
	exitErr *fault.Error  // how the server ended by itself; nil if it was stopped
	stopErr error

	requests   sync.WaitGroup // requests, and the notifications that cancel them
	goroutines sync.WaitGroup // all other goroutines
	stopWatch  context.CancelFunc

	failure   *fault.Error   // exitErr for the calls that it fails, see Server.recordExit; guarded by Server.mu
	lastCalls []*pendingCall // those that were pending when one of them timed out or was cancelled; guarded by Server.mu
}

// newPeer connects to a link that was just launched, and takes ownership of it. On failure the link is stopped.
func newPeer(ctx context.Context, link Link, cfg Config, onNotification func(string, json.RawMessage)) (*peer, error) {
	conn, err := link.Transport().Connect(ctx)
	if err != nil {
		_ = link.Stop(context.WithoutCancel(ctx))
		return nil, err
	}
	p := &peer{
		link: link, client: &mcp.Implementation{Name: "trailblaze", Version: cfg.Version}, timing: cfg.timing,
		capabilities: &mcp.ClientCapabilities{},
		lost:         make(chan struct{}), ended: make(chan struct{}), stopped: make(chan struct{}),
	}
	if cfg.Sample != nil {
		p.capabilities.Sampling = &mcp.SamplingCapabilities{} //nolint:staticcheck // deprecated with the older protocol, which servers speak
	}
	p.conn = newConnection(conn, onNotification, func() { p.advance(peerLost) })
	ctx, p.stopWatch = context.WithCancel(context.WithoutCancel(ctx))
	p.goroutines.Go(func() { p.watch(ctx) })
	return p, nil
}

// advance changes to a later state, closes the channel of that state, and returns the previous state. It does nothing
// if the previous state is not earlier.
func (p *peer) advance(to peerState) (from peerState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from = p.state
	if from >= to {
		return from
	}
	p.state = to
	switch to {
	case peerLost:
		close(p.lost)
	case peerStopped:
		close(p.stopped)
	default:
	}
	return from
}

func (p *peer) current() peerState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// exit sets how the server ended.
func (p *peer) exit(err *fault.Error) {
	p.advance(peerEnded)
	p.exitErr = err
	close(p.ended)
}

func (p *peer) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// watch waits for the end of the server and then fails its pending requests. ctx ends after stop has stopped the link.
func (p *peer) watch(ctx context.Context) {
	select {
	case <-p.link.Done():
	case <-p.lost:
	case <-ctx.Done():
	}
	p.conn.failPending(p.timing.drain)
	select {
	case <-p.link.Done():
		p.exit(p.link.ExitError())
		return
	case <-ctx.Done():
	case <-time.After(p.timing.exitGrace):
		if p.current() < peerStopping {
			p.exit(fault.New(fault.Crashed, "", "closed its output or its input but kept running"))
			return
		}
		select {
		case <-p.link.Done():
		case <-ctx.Done():
		}
	}
	select {
	case <-p.link.Done():
		p.exit(p.link.ExitError())
	default: // Stop returned, but the server did not exit
		p.exit(nil)
	}
}

// connect starts the handshake in the given protocol version and returns a channel that receives its error. It ends
// when the peer is stopped, not with ctx, because a client must not cancel initialize.
func (p *peer) connect(ctx context.Context, protocol string) <-chan error {
	client := mcp.NewClient(p.client, &mcp.ClientOptions{Capabilities: p.capabilities})
	connected := make(chan error, 1)
	p.goroutines.Go(func() {
		session, err := client.Connect(context.WithoutCancel(ctx), existing{p.conn},
			&mcp.ClientSessionOptions{ProtocolVersion: protocol})
		if err == nil {
			p.session = session
			p.meta = metaMembers(session.InitializeResult().ProtocolVersion, p.client)
			p.advance(peerReady)
		}
		connected <- err
	})
	return connected
}

// existing is a transport that returns an open connection.
type existing struct{ conn mcp.Connection }

func (e existing) Connect(context.Context) (mcp.Connection, error) { return e.conn, nil }

// metaMembers returns the members of _meta that the modern protocol requires in every request, without braces. Older
// servers receive them in initialize.
func metaMembers(version string, client *mcp.Implementation) []byte {
	if version < modern {
		return nil
	}
	meta := encode(map[string]any{
		mcp.MetaKeyProtocolVersion: version, mcp.MetaKeyClientInfo: client, mcp.MetaKeyClientCapabilities: struct{}{},
	})
	return meta[1 : len(meta)-1]
}

// requestParams are the parameters of tools/list and resources/read.
type requestParams struct {
	Cursor string          `json:"cursor,omitempty"`
	URI    string          `json:"uri,omitempty"`
	Meta   json.RawMessage `json:"_meta,omitempty"`
}

// request sends a request, calls onSent, and waits for the response.
func (p *peer) request(
	ctx context.Context, method string, params requestParams, onSent func(),
) (json.RawMessage, error) {
	if len(p.meta) > 0 {
		params.Meta = slices.Concat([]byte("{"), p.meta, []byte("}"))
	}
	r, err := p.send(ctx, method, encode(params))
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
	if p.state >= peerStopping {
		p.mu.Unlock()
		return nil, errLost
	}
	p.requests.Add(1)
	p.mu.Unlock()
	r, err := p.conn.register()
	if err != nil {
		p.requests.Done()
		return nil, err
	}
	err = p.conn.Write(ctx, &jsonrpc.Request{ID: r.id, Method: method, Params: params})
	if err != nil && ctx.Err() != nil {
		p.finish(ctx, r)
		return nil, context.Cause(ctx)
	}
	// after another write error there may still be a response: a server may respond and exit before the write returns
	return r, nil
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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.timing.write)
		defer cancel()
		_ = p.conn.Write(ctx, cancellation(r.id, reason))
	}()
}

func cancellation(id jsonrpc.ID, reason string) *jsonrpc.Request {
	params, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": reason})
	if err != nil {
		params = nil // a number and a string are always encoded
	}
	return &jsonrpc.Request{Method: methodCancelled, Params: params}
}

// await waits for the response to a request. The error is errLost if there will be none, the cause of ctx if it ended
// first, or the error in the response.
func (p *peer) await(ctx context.Context, r *pendingRequest) (json.RawMessage, error) {
	select {
	case <-r.done:
		return r.result()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// stop stops the server and waits for all goroutines of the peer. A second call waits for the first. Unless the server
// has ended, all requests are finished or cancelled.
func (p *peer) stop(ctx context.Context) error {
	switch from := p.advance(peerStopping); {
	case from >= peerStopping:
		<-p.stopped
		return p.stopErr
	case from < peerEnded:
		p.requests.Wait() // until cancellations have been written, which timing.write bounds
	}
	p.stopErr = p.link.Stop(ctx)
	_ = p.conn.Close()
	p.stopWatch()
	p.requests.Wait()
	p.goroutines.Wait()
	if p.session != nil {
		_ = p.session.Close() // waits for the SDK's reader
	}
	p.advance(peerStopped)
	return p.stopErr
}
