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

// hasty is a link, and its connection, to a server that answers a call and is gone before the write of that call returns.
type hasty struct {
	immortal  error // what Stop returns, without ending anything
	out       chan jsonrpc.Message
	closeOnce sync.Once
	closed    chan struct{}
	done      chan struct{}
}

func (h *hasty) Transport() mcp.Transport                        { return h }
func (h *hasty) Connect(context.Context) (mcp.Connection, error) { return h, nil }
func (h *hasty) FirstMessage() <-chan struct{}                   { return h.done }
func (h *hasty) Done() <-chan struct{}                           { return h.done }
func (h *hasty) ExitError() *fault.Error                         { return fault.New(fault.Crashed, "", "exited with code 7") }
func (h *hasty) Explain(cause *fault.Error) *fault.Error         { return cause }
func (h *hasty) Stop(context.Context) error                      { return h.immortal }
func (h *hasty) SessionID() string                               { return "" }
func (h *hasty) Close() error                                    { h.closeOnce.Do(func() { close(h.closed) }); return nil }

func (h *hasty) answer(id jsonrpc.ID, result string) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Result: json.RawMessage(result)}
}

func newHasty() *hasty {
	return &hasty{out: make(chan jsonrpc.Message, 4), closed: make(chan struct{}), done: make(chan struct{})}
}

func (h *hasty) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-h.out:
		if ok {
			return msg, nil
		}
	case <-h.closed:
	}
	return nil, io.EOF
}

func (h *hasty) Write(_ context.Context, msg jsonrpc.Message) error {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return nil
	}
	switch req.Method {
	case "initialize":
		h.out <- h.answer(req.ID, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"hasty","version":"1"}}`)
	case methodList:
		h.out <- h.answer(req.ID, `{"tools":[{"name":"bye"}]}`)
	case methodCall:
		h.out <- h.answer(req.ID, `{"content":[{"type":"text","text":"bye"}]}`)
		close(h.out)
		<-h.closed // the SDK closes at the end of the server's output
		close(h.done)
		return errors.New("the server has exited")
	}
	return nil
}

func TestAnAnswerCountsEvenIfTheServerIsGoneBeforeTheWriteReturns(t *testing.T) {
	t.Parallel()
	h := newHasty()
	s := start(t, Config{Name: "hasty", Launch: func(context.Context) (Link, error) { return h, nil }})
	if result := call(t, s, tool.Call{Tool: "bye"}); !result.OK || result.Text != "bye" {
		t.Errorf("result %+v", result)
	}
	within(t, "Broken", s.Failed())
	mustContain(t, s.Err().Error(), `server "hasty"`, "exited with code 7")
}

func TestStopReturnsEvenIfTheServerDoesNotDie(t *testing.T) {
	t.Parallel()
	h := newHasty()
	h.immortal = errors.New("it does not die")
	s, err := Start(t.Context(), Config{Name: "hasty", Launch: func(context.Context) (Link, error) { return h, nil }})
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := s.Stop(t.Context()); !errors.Is(err, h.immortal) {
			t.Errorf("Stop: %v", err)
		}
	}()
	within(t, "Stop", stopped)
}
