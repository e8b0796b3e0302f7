package server

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK decodes the answers of standard methods into types of its own, which refuse a whole answer for one odd part (an
// unknown content type, a null tool) and forget the order of a schema's keys. It leaves the answers of custom methods alone.
// So tools/list and tools/call are sent as custom methods, and the wire takes this mark off again.
const unread = "trailblaze:"

const (
	methodList = "tools/list"
	methodCall = "tools/call"
)

// request is the parameters of tools/list and tools/call.
type request struct {
	mcp.ParamsBase
	Cursor    string          `json:"cursor,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// answer is a result as the server wrote it.
type answer struct {
	mcp.ResultBase
	raw json.RawMessage
}

// UnmarshalJSON keeps data.
func (a *answer) UnmarshalJSON(data []byte) error {
	a.raw = bytes.Clone(data)
	return nil
}

// exchange is one request on its way.
type exchange struct {
	done   chan struct{} // closed when answer or err is set
	answer json.RawMessage
	err    error
	told   chan struct{} // closed once the server was told that the request is cancelled
}

// exchangeKey finds the exchange in the context with which the SDK writes its request and its cancellation.
type exchangeKey struct{}

// wire is the connection of a peer. It hears notifications in their place among the answers (the SDK hands them over later),
// knows when a cancellation has left, and when the server can no longer be spoken with.
type wire struct {
	mcp.Connection
	hear func(method string, params json.RawMessage)

	endOnce   sync.Once
	broken    chan struct{} // closed when reading or writing failed and it was not us who closed
	closeOnce sync.Once
	closed    chan struct{} // closed when we closed
}

func newWire(conn mcp.Connection, hear func(string, json.RawMessage)) *wire {
	return &wire{Connection: conn, hear: hear, broken: make(chan struct{}), closed: make(chan struct{})}
}

// Read implements mcp.Connection.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := w.Connection.Read(ctx)
	if err != nil {
		w.fail()
		return nil, err
	}
	if req, ok := msg.(*jsonrpc.Request); ok && !req.IsCall() {
		w.hear(req.Method, req.Params)
	}
	return msg, nil
}

// Write implements mcp.Connection.
func (w *wire) Write(ctx context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	if ok && strings.HasPrefix(req.Method, unread) {
		plain := *req
		plain.Method = strings.TrimPrefix(req.Method, unread)
		msg = &plain
	}
	err := w.Connection.Write(ctx, msg)
	if err != nil && ctx.Err() == nil {
		w.fail()
	}
	if ex, aboard := ctx.Value(exchangeKey{}).(*exchange); aboard && ok && req.Method == "notifications/cancelled" {
		close(ex.told)
	}
	return err
}

// Close implements mcp.Connection.
func (w *wire) Close() error {
	w.closeOnce.Do(func() { close(w.closed) })
	return w.Connection.Close()
}

func (w *wire) fail() {
	select {
	case <-w.closed:
	default:
		w.endOnce.Do(func() { close(w.broken) })
	}
}
