package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// receive passes the messages in a line on, or answers what is not a message.
//
// The SDK's own transport is not used, because it ends the connection at the first line that is not a message, and
// because its server refuses initialize after server/discover, which clients send that know both versions of the
// protocol.
func (s *server) receive(l line) {
	data := bytes.TrimSpace(l.data)
	switch {
	case l.tooLong:
		s.refuse(l.id, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is larger than %d bytes", s.opts.MaxLine))
	case len(data) == 0:
	case !json.Valid(data):
		s.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON; a message is one line of JSON")
	case data[0] == '[':
		s.receiveBatch(data)
	default:
		msg, err := jsonrpc.DecodeMessage(data)
		if err != nil {
			s.refuse(idOf(data), jsonrpc.CodeInvalidRequest, "not a JSON-RPC message: "+err.Error())
			return
		}
		s.deliver(msg, nil)
	}
}

// receiveBatch passes the messages of a batch on. Only the versions of the protocol before 2025-06-18 have batches.
func (s *server) receiveBatch(data []byte) {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil || len(items) == 0 {
		s.refuse(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
		return
	}
	if len(items) > s.opts.MaxPending {
		s.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the batch has more than %d messages", s.opts.MaxPending))
		return
	}
	if v := s.conn.protocol(); v == "" || v >= "2025-06-18" {
		s.refuse(nil, jsonrpc.CodeInvalidRequest, "this version of the protocol has no batches; send one message a line")
		return
	}
	b := &batch{}
	var messages []jsonrpc.Message
	for _, item := range items {
		msg, err := jsonrpc.DecodeMessage(item)
		if req, ok := msg.(*jsonrpc.Request); err == nil && ok && req.Method == "initialize" {
			err = errors.New("initialize cannot be in a batch")
		}
		if err != nil {
			b.answers = append(b.answers, errorMessage(idOf(item), jsonrpc.CodeInvalidRequest, err.Error()))
			continue
		}
		if isCall(msg) {
			b.open++
		}
		messages = append(messages, msg)
	}
	if b.open == 0 && len(b.answers) > 0 {
		_ = s.send(b.encode(), s.ctx.Done())
	}
	for _, msg := range messages {
		s.deliver(msg, b)
	}
}

// deliver passes a message to the SDK. initialize starts anew unless it is the first message.
func (s *server) deliver(msg jsonrpc.Message, b *batch) {
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == "initialize" && s.conn.used {
		s.conn.end()
		s.tools.Reset()
		if err := s.connect(); err != nil {
			id, _ := json.Marshal(req.ID.Raw())
			s.refuse(id, jsonrpc.CodeInternalError, err.Error())
			return
		}
	}
	s.conn.deliver(msg, b)
}

// refuse answers a request that is not passed on. id is JSON, nil for none.
func (s *server) refuse(id []byte, code int, message string) {
	_ = s.send(errorMessage(id, code, message), s.ctx.Done())
}

func errorMessage(id []byte, code int, message string) []byte {
	if len(id) == 0 || !json.Valid(id) {
		id = []byte("null")
	}
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   any             `json:"error"`
	}{"2.0", id, map[string]any{"code": code, "message": message}})
	if err != nil { // not reached: everything in it can be encoded
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return data
}

// idOf returns the id of a message as JSON, nil if it has none that an answer can have.
func idOf(data []byte) []byte {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(data, &m) != nil || len(m.ID) == 0 || bytes.ContainsAny(m.ID[:1], "{[tf") {
		return nil
	}
	return m.ID
}

func isCall(msg jsonrpc.Message) bool {
	req, ok := msg.(*jsonrpc.Request)
	return ok && req.IsCall()
}

// conn is the mcp.Connection of the SDK's session, and its mcp.Transport. Each initialize has one of its own.
type conn struct {
	server   *server
	session  *mcp.ServerSession
	messages chan jsonrpc.Message
	used     bool // a message was delivered; belongs to the goroutine that delivers
	closed   chan struct{}
	once     sync.Once

	mu      sync.Mutex
	version string                // of the protocol; empty before it is negotiated
	pending map[jsonrpc.ID]*batch // the requests that are not answered, with the batch they came in or nil
	changed chan struct{}         // receives a value when a request was answered
}

// batch is a list of messages that came in one line. Its answers are sent in one line, too.
type batch struct {
	open    int // requests that are not answered
	answers [][]byte
}

func (b *batch) encode() []byte {
	return append(append([]byte("["), bytes.Join(b.answers, []byte(","))...), ']')
}

// connect starts a session of the SDK, which receives the following messages.
func (s *server) connect() error {
	c := &conn{
		server: s, messages: make(chan jsonrpc.Message), closed: make(chan struct{}),
		pending: map[jsonrpc.ID]*batch{}, changed: make(chan struct{}, 1),
	}
	var err error
	if c.session, err = s.mcp.Connect(context.WithoutCancel(s.ctx), c, nil); err != nil {
		return err
	}
	s.conn = c
	return nil
}

// Connect implements mcp.Transport.
func (c *conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID implements mcp.Connection. Connections over pipes have none.
func (c *conn) SessionID() string { return "" }

// Close implements mcp.Connection.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// end ends the SDK's session, which cancels its requests, and waits for their handlers.
func (c *conn) end() {
	_ = c.Close()
	_ = c.session.Close() // an error is that of Read, which is io.EOF
}

// Read implements mcp.Connection.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-c.messages:
		return msg, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// deliver passes a message to Read. It waits while too many requests are not answered, so that a client that does not
// read its answers cannot make more of them.
func (c *conn) deliver(msg jsonrpc.Message, b *batch) {
	c.used = true
	c.waitPending(c.server.opts.MaxPending-1, c.server.ctx.Done())
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() && req.Method != "subscriptions/listen" {
		c.mu.Lock()
		c.pending[req.ID] = b
		c.mu.Unlock()
	}
	select {
	case c.messages <- msg:
	case <-c.closed:
	case <-c.server.ctx.Done():
	}
}

// Write implements mcp.Connection.
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.server.send(data, c.server.ended)
	}
	if data = c.answered(resp, data); data != nil {
		err = c.server.sendAnswer(resp.ID, data)
	}
	c.mu.Lock()
	delete(c.pending, resp.ID)
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
	return err
}

// sendAnswer sends an answer, or an error in its place if the client has too much to read already.
func (s *server) sendAnswer(id jsonrpc.ID, data []byte) error {
	n := int64(len(data))
	defer s.unread.Add(-n)
	if s.unread.Add(n) > int64(s.opts.MaxUnread) {
		raw, _ := json.Marshal(id.Raw())
		data = errorMessage(raw, jsonrpc.CodeInternalError,
			fmt.Sprintf("the answer is left out, because more than %d bytes of answers are not read", s.opts.MaxUnread))
	}
	return s.send(data, s.ended)
}

// answered notes an answer. It returns what to send for it: nil while its batch has other requests that are not
// answered.
func (c *conn) answered(resp *jsonrpc.Response, data []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version == "" {
		var init struct{ ProtocolVersion string }
		if json.Unmarshal(resp.Result, &init) == nil {
			c.version = init.ProtocolVersion
		}
	}
	b := c.pending[resp.ID]
	if b == nil {
		return data
	}
	b.answers = append(b.answers, data)
	if b.open--; b.open > 0 {
		return nil
	}
	return b.encode()
}

// protocol returns the version of the protocol that initialize negotiated, empty without one.
func (c *conn) protocol() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// drain waits until every request is answered, at most for a limit.
func (c *conn) drain(limit time.Duration) {
	stop := make(chan struct{})
	defer time.AfterFunc(limit, func() { close(stop) }).Stop()
	c.waitPending(0, stop)
}

// waitPending waits until at most n requests are not answered, or until stop is closed.
func (c *conn) waitPending(n int, stop <-chan struct{}) {
	for {
		c.mu.Lock()
		pending := len(c.pending)
		c.mu.Unlock()
		if pending <= n {
			return
		}
		select {
		case <-c.changed:
		case <-stop:
			return
		case <-c.closed:
			return
		}
	}
}
