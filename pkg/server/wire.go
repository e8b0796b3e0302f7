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
	methodList      = "tools/list"
	methodCall      = "tools/call"
	methodRead      = "resources/read"
	methodCancelled = "notifications/cancelled"
)

// errLost stands for an answer that will not come, because the server is gone or cannot be spoken with.
var errLost = errors.New("the connection is lost")

// exchange is one request of ours and its answer.
type exchange struct {
	id     jsonrpc.ID
	done   chan struct{} // closed when answer is set
	answer *jsonrpc.Response
}

// result returns the answer of an exchange that is done.
func (ex *exchange) result() (json.RawMessage, error) { return ex.answer.Result, ex.answer.Error }

func (ex *exchange) isDone() bool {
	select {
	case <-ex.done:
		return true
	default:
		return false
	}
}

// wire is the connection of a peer. The SDK reads from it and speaks for itself: it shakes hands and answers the server's
// requests. Tools are listed and called past it, because it decodes those answers into types of its own, which refuse all of
// an answer for one odd part (an unknown content type, a null tool) and forget the order of a schema's keys.
//
// wire also hears notifications in their place among the answers, which the SDK would hand over later, and knows when the
// server can no longer be spoken with.
type wire struct {
	mcp.Connection
	hear func(method string, params json.RawMessage)

	broken    chan struct{} // closed when reading or writing failed and it was not us who closed
	breakOnce sync.Once
	drained   chan struct{} // closed when nothing more will be read
	drainOnce sync.Once
	closed    chan struct{} // closed when we closed
	closeOnce sync.Once

	mu      sync.Mutex
	pending map[jsonrpc.ID]*exchange
	lastID  float64
}

// firstID keeps the ids of our requests apart from those of the SDK, which counts its few from 1.
const firstID = 1000

func newWire(conn mcp.Connection, hear func(string, json.RawMessage)) *wire {
	return &wire{
		Connection: conn, hear: hear,
		broken: make(chan struct{}), drained: make(chan struct{}), closed: make(chan struct{}),
		pending: map[jsonrpc.ID]*exchange{}, lastID: firstID,
	}
}

// Read implements mcp.Connection. It keeps the answers to our own requests.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := w.Connection.Read(ctx)
		if err != nil {
			w.fail()
			w.drainOnce.Do(func() { close(w.drained) })
			return nil, err
		}
		switch msg := msg.(type) {
		case *jsonrpc.Request:
			if !msg.IsCall() {
				w.hear(msg.Method, msg.Params)
			}
		case *jsonrpc.Response:
			if w.deliver(msg) {
				continue
			}
		}
		return msg, nil
	}
}

// Write implements mcp.Connection.
func (w *wire) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := w.Connection.Write(ctx, msg)
	if err != nil && ctx.Err() == nil {
		w.fail()
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
		w.breakOnce.Do(func() { close(w.broken) })
	}
}

// expect makes an exchange for a request that is about to be written.
func (w *wire) expect() *exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastID++
	id, _ := jsonrpc.MakeID(w.lastID) // of a number there always is one
	ex := &exchange{id: id, done: make(chan struct{})}
	w.pending[id] = ex
	return ex
}

// deliver reports whether an answer is ours.
func (w *wire) deliver(answer *jsonrpc.Response) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	ex, ours := w.pending[answer.ID]
	if ours {
		delete(w.pending, answer.ID)
		ex.answer = answer
		close(ex.done)
	}
	return ours
}
