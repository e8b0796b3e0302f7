package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// fastExit is a link, and its connection, to a server that responds to a call and exits before the write of that call
// returns.
type fastExit struct {
	stopErr   error // what Stop returns, without ending anything
	out       chan jsonrpc.Message
	closeOnce sync.Once
	closed    chan struct{}
	done      chan struct{}
}

func (h *fastExit) Transport() mcp.Transport                        { return h }
func (h *fastExit) Connect(context.Context) (mcp.Connection, error) { return h, nil }
func (h *fastExit) FirstMessage() <-chan struct{}                   { return h.done }
func (h *fastExit) Done() <-chan struct{}                           { return h.done }
func (h *fastExit) ExitError() *fault.Error {
	return fault.New(fault.Crashed, "", "exited with code 7")
}
func (h *fastExit) Explain(cause *fault.Error) *fault.Error { return cause }
func (h *fastExit) Stop(context.Context) error              { return h.stopErr }
func (h *fastExit) SessionID() string                       { return "" }
func (h *fastExit) Close() error                            { h.closeOnce.Do(func() { close(h.closed) }); return nil }

func (h *fastExit) response(id jsonrpc.ID, result string) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Result: json.RawMessage(result)}
}

func newFastExit() *fastExit {
	return &fastExit{out: make(chan jsonrpc.Message, 4), closed: make(chan struct{}), done: make(chan struct{})}
}

func (h *fastExit) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-h.out:
		if ok {
			return msg, nil
		}
	case <-h.closed:
	}
	return nil, io.EOF
}

func (h *fastExit) Write(_ context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return nil
	}
	switch req.Method {
	case "initialize":
		h.out <- h.response(req.ID,
			`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"fastExit","version":"1"}}`)
	case methodList:
		h.out <- h.response(req.ID, `{"tools":[{"name":"bye"}]}`)
	case methodCall:
		h.out <- h.response(req.ID, `{"content":[{"type":"text","text":"bye"}]}`)
		close(h.out)
		<-h.closed // the SDK closes at the end of the server's output
		close(h.done)
		return errors.New("the server has exited")
	}
	return nil
}

func TestResponseIsUsedIfTheServerExitsBeforeTheWriteReturns(t *testing.T) {
	t.Parallel()
	h := newFastExit()
	s := start(t, Config{Name: "fastExit", Launch: func(context.Context) (Link, error) { return h, nil }})
	if result := call(t, s, tool.Call{Tool: "bye"}); !result.OK || result.Text != "bye" {
		t.Errorf("result %+v", result)
	}
	waitClosed(t, "Broken", s.Failed())
	mustContain(t, s.Err().Error(), `server "fastExit"`, "exited with code 7")
}

func TestStopReturnsIfTheServerCannotBeStopped(t *testing.T) {
	t.Parallel()
	h := newFastExit()
	h.stopErr = errors.New("it cannot be stopped")
	s, err := Start(t.Context(), Config{
		Name:   "fastExit",
		Launch: func(context.Context) (Link, error) { return h, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := s.Stop(t.Context()); !errors.Is(err, h.stopErr) {
			t.Errorf("Stop: %v", err)
		}
	}()
	waitClosed(t, "Stop", stopped)
}
