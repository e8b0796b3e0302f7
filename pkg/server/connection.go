package server

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	methodInitialize = "initialize"
	methodList       = "tools/list"
	methodCall       = "tools/call"
	methodRead       = "resources/read"
	methodCancelled  = "notifications/cancelled"
)

// errLost is the error of a request that will get no response, because the server ended or the connection is lost.
var errLost = errors.New("the connection is lost")

// pendingRequest is one request of ours and its response.
type pendingRequest struct {
	id       jsonrpc.ID
	done     chan struct{} // closed when response is set
	response *jsonrpc.Response
}

// result returns the response of a request that is done.
func (r *pendingRequest) result() (json.RawMessage, error) {
	return r.response.Result, r.response.Error
}

func (r *pendingRequest) isDone() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// connection wraps the mcp.Connection of a peer. The SDK reads from it, completes the handshake, and answers the server's
// requests. Requests for listings and calls bypass the SDK, because its types reject a whole response for one unknown part
// (an unknown content type, a null tool) and lose the order of a schema's keys.
//
// It also passes on notifications in their order among the responses, which the SDK does not keep, and detects that the
// connection is lost.
type connection struct {
	mcp.Connection
	onNotification func(method string, params json.RawMessage)

	lost      chan struct{} // closed when a read or write failed that we did not interrupt
	lostOnce  sync.Once
	eof       chan struct{} // closed when nothing more will be read
	eofOnce   sync.Once
	closed    chan struct{} // closed by Close
	closeOnce sync.Once

	mu      sync.Mutex
	pending map[jsonrpc.ID]*pendingRequest
	lastID  float64
}

// firstID keeps the ids of our requests apart from those of the SDK, which counts its few from 1.
const firstID = 1000

func newConnection(conn mcp.Connection, onNotification func(string, json.RawMessage)) *connection {
	return &connection{
		Connection: conn, onNotification: onNotification,
		lost: make(chan struct{}), eof: make(chan struct{}), closed: make(chan struct{}),
		pending: map[jsonrpc.ID]*pendingRequest{}, lastID: firstID,
	}
}

// Read implements mcp.Connection. It does not return the responses to our own requests.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(ctx)
		if err != nil {
			c.markLost()
			c.eofOnce.Do(func() { close(c.eof) })
			return nil, err
		}
		switch msg := msg.(type) {
		case *jsonrpc.Request:
			if !msg.IsCall() {
				c.onNotification(msg.Method, msg.Params)
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
	c.closeOnce.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

func (c *connection) markLost() {
	select {
	case <-c.closed:
	default:
		c.lostOnce.Do(func() { close(c.lost) })
	}
}

// register returns a pending request with a new id, to be written next.
func (c *connection) register() *pendingRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	id, _ := jsonrpc.MakeID(c.lastID) // a number is always valid
	r := &pendingRequest{id: id, done: make(chan struct{})}
	c.pending[id] = r
	return r
}

// deliver passes a response to the pending request with its id, and reports whether there is one.
func (c *connection) deliver(response *jsonrpc.Response) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, found := c.pending[response.ID]
	if found {
		delete(c.pending, response.ID)
		r.response = response
		close(r.done)
	}
	return found
}
