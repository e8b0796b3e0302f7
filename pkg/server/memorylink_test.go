package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// memoryServer is a server inside the test, for tests in a synctest bubble, in which nothing may wait for a process.
type memoryServer struct {
	tools map[string]func(c *memoryCall) // respond to calls, each in a goroutine; a missing one never responds
	mute  string                         // the method that gets no response
	first *jsonrpc.Request               // sent at start; may be nil
	links int                            // that were opened
	echo  bool                           // responds to all calls at once with "hello"
	// answered receives the responses to the server's own requests. May be nil.
	answered chan *jsonrpc.Response
	asked    float64 // the id of its last request
}

// memoryLink is one run of a memoryServer.
type memoryLink struct {
	server       *memoryServer
	run          int // counted from 1
	out          chan jsonrpc.Message
	firstMessage chan struct{}
	firstOnce    sync.Once
	closed       chan struct{}
	closeOnce    sync.Once
}

// memoryCall is a tools/call of a memoryServer.
type memoryCall struct {
	link  *memoryLink
	id    jsonrpc.ID
	token json.RawMessage
}

func (m *memoryServer) launch(context.Context) (Link, error) {
	m.links++
	l := &memoryLink{
		server: m, run: m.links, out: make(chan jsonrpc.Message, 100), firstMessage: make(chan struct{}),
		closed: make(chan struct{}),
	}
	if m.first != nil {
		l.out <- m.first
	}
	return l, nil
}

func (l *memoryLink) Transport() mcp.Transport                        { return l }
func (l *memoryLink) Connect(context.Context) (mcp.Connection, error) { return l, nil }
func (l *memoryLink) FirstMessage() <-chan struct{}                   { return l.firstMessage }
func (l *memoryLink) Done() <-chan struct{}                           { return l.closed }
func (l *memoryLink) ExitError() *fault.Error                         { return nil }
func (l *memoryLink) Explain(cause *fault.Error) *fault.Error         { return cause }
func (l *memoryLink) Stop(context.Context) error                      { return l.Close() }
func (l *memoryLink) SessionID() string                               { return "" }
func (l *memoryLink) Close() error                                    { l.closeOnce.Do(func() { close(l.closed) }); return nil }

func (l *memoryLink) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-l.out:
		l.firstOnce.Do(func() { close(l.firstMessage) })
		return msg, nil
	case <-l.closed:
		return nil, io.EOF
	}
}

func (l *memoryLink) send(msg jsonrpc.Message) {
	select {
	case l.out <- msg:
	case <-l.closed:
	}
}

func (l *memoryLink) Write(_ context.Context, msg jsonrpc.Message) error {
	if response, ok := msg.(*jsonrpc.Response); ok && l.server.answered != nil {
		l.server.answered <- response
	}
	req, isRequest := msg.(*jsonrpc.Request)
	if !isRequest || !req.IsCall() || req.Method == l.server.mute {
		return nil
	}
	switch req.Method {
	case methodInitialize:
		l.respond(req.ID,
			`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"memory","version":"1"}}`)
	case methodList:
		l.respond(req.ID, `{"tools":[]}`)
	case methodCall:
		if l.server.echo {
			l.respond(req.ID, `{"content":[{"type":"text","text":"hello"}]}`)
			return nil
		}
		var params struct {
			Name string `json:"name"`
			Meta struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(req.Params, &params); err != nil {
			return err
		}
		if run := l.server.tools[params.Name]; run != nil {
			go run(&memoryCall{link: l, id: req.ID, token: params.Meta.Token})
		}
	}
	return nil
}

func (l *memoryLink) respond(id jsonrpc.ID, result string) {
	l.send(&jsonrpc.Response{ID: id, Result: json.RawMessage(result)})
}

// respond ends the call with a text.
func (c *memoryCall) respond(text string) {
	c.link.respond(c.id, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, text))
}

// progress sends a progress notification.
func (c *memoryCall) progress(message string) {
	params := fmt.Sprintf(`{"progressToken":%s,"progress":1,"message":%q}`, c.token, message)
	c.link.send(&jsonrpc.Request{Method: "notifications/progress", Params: json.RawMessage(params)})
}

// ask sends a request for a model.
func (l *memoryLink) ask() {
	l.server.asked++
	id, _ := jsonrpc.MakeID(l.server.asked)
	l.send(&jsonrpc.Request{ID: id, Method: methodSample, Params: json.RawMessage(question)})
}

// startMemory starts a server inside the test, and stops it at the end of the bubble.
func startMemory(t *testing.T, m *memoryServer, adjust func(*Config)) *Server {
	t.Helper()
	cfg := Config{Name: "memory", Launch: m.launch}
	if adjust != nil {
		adjust(&cfg)
	}
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

// mustCall makes a call that must not fail with an error.
func mustCall(t *testing.T, s *Server, c tool.Call) tool.Result {
	t.Helper()
	result, err := s.Call(t.Context(), c)
	if err != nil {
		t.Errorf("Call %s: %v", c.Tool, err)
	}
	return result
}
