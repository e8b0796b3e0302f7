package server

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	methodInitialize = "initialize"
	methodList       = "tools/list"
	methodCall       = "tools/call"
	methodRead       = "resources/read"
	methodSample     = "sampling/createMessage"
	methodCancelled  = "notifications/cancelled"
)

// errLost is the error of a request that will get no response, because the server ended or the connection is lost.
var errLost = errors.New("the connection is lost")

// pendingRequest is a request that a peer sends without the SDK, and its response.
type pendingRequest struct {
	id       jsonrpc.ID
	done     chan struct{} // closed when response is set
	response *jsonrpc.Response
}

// result returns the response of a request that is done.
func (r *pendingRequest) result() (json.RawMessage, error) {
	return r.response.Result, r.response.Error
}

func (r *pendingRequest) finish(response *jsonrpc.Response) {
	r.response = response
	close(r.done)
}

func (r *pendingRequest) isDone() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// connection wraps the mcp.Connection of a peer. The SDK reads from it, completes the handshake, and responds to the
// server's requests. Requests for listings and calls bypass the SDK, because its types reject a whole response for one
// unknown part (an unknown content type, a null tool) and lose the order of a schema's keys.
//
// It also passes on notifications in their order among the responses, which the SDK does not keep, and detects that the
// connection is lost.
type connection struct {
	mcp.Connection
	onNotification func(method string, params json.RawMessage)
	onSampling     func(r *jsonrpc.Request) // answers a request for a model; nil before the handshake
	// onLost is called when a read or write fails before Close and before its context ended; maybe more than once.
	onLost  func()
	closed  atomic.Bool   // Close was called
	eof     chan struct{} // closed when nothing more will be read
	eofOnce sync.Once

	mu      sync.Mutex
	pending map[jsonrpc.ID]*pendingRequest // nil when no response will be received any more
	lastID  float64
}

// idOffset is added to the numbers of pending requests, so that their ids differ from those of the SDK, which sends few
// requests and counts them from 1.
const idOffset = 1000

func newConnection(conn mcp.Connection, onNotification func(string, json.RawMessage), onLost func()) *connection {
	return &connection{
		Connection: conn, onNotification: onNotification, onLost: onLost,
		eof: make(chan struct{}), pending: map[jsonrpc.ID]*pendingRequest{}, lastID: idOffset,
	}
}

// Read implements mcp.Connection. It does not return the responses to pending requests.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(ctx)
		if err != nil {
			c.eofOnce.Do(func() { close(c.eof) })
			c.markLost()
			return nil, err
		}
		switch msg := msg.(type) {
		case *jsonrpc.Request:
			switch {
			case !msg.IsCall():
				c.onNotification(msg.Method, msg.Params)
			case msg.Method == methodSample && c.onSampling != nil:
				c.onSampling(msg)
				continue
			}
		case *jsonrpc.Response:
			if c.deliver(msg) {
				continue
			}
		}
		return msg, nil
	}
}

// Write implements mcp.Connection.
func (c *connection) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if err != nil && ctx.Err() == nil {
		c.markLost()
	}
	return err
}

// Close implements mcp.Connection.
func (c *connection) Close() error {
	c.closed.Store(true)
	return c.Connection.Close()
}

func (c *connection) markLost() {
	if !c.closed.Load() {
		c.onLost()
	}
}

// register adds a pending request with a new id. The caller then writes the request. The error is errLost.
func (c *connection) register() (*pendingRequest, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		return nil, errLost
	}
	c.lastID++
	id, _ := jsonrpc.MakeID(c.lastID) // a number is always valid
	r := &pendingRequest{id: id, done: make(chan struct{})}
	c.pending[id] = r
	return r, nil
}

// deliver passes a response to the pending request with its id, and reports whether there is one.
func (c *connection) deliver(response *jsonrpc.Response) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, found := c.pending[response.ID]
	if found {
		delete(c.pending, response.ID)
		r.finish(response)
	}
	return found
}

// failPending fails the pending requests with errLost, after the responses that were already sent have been delivered
// or drainTimeout is over. Later requests fail at once.
func (c *connection) failPending(drainTimeout time.Duration) {
	select {
	case <-c.eof:
	case <-time.After(drainTimeout):
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, r := range c.pending {
		r.finish(&jsonrpc.Response{ID: id, Error: errLost})
	}
	c.pending = nil
}
