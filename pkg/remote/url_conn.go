package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var errClosed = errors.New("the connection is closed")

// The methods that streamable HTTP itself is about.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
)

type transport struct{ l *Link }

// Connect implements mcp.Transport.
func (t transport) Connect(context.Context) (mcp.Connection, error) {
	return &conn{l: t.l, closed: make(chan struct{})}, nil
}

// conn is the mcp.Connection. Closing it ends reading and writing; the conversation is ended by Stop alone.
type conn struct {
	l      *Link
	once   sync.Once
	closed chan struct{}
}

// Read implements mcp.Connection. It returns io.EOF at the end of the conversation, after everything that was said.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-c.l.messages:
		return c.l.hear(msg), nil
	default:
	}
	select {
	case msg := <-c.l.messages:
		return c.l.hear(msg), nil
	case <-c.l.done:
		select {
		case msg := <-c.l.messages:
			return c.l.hear(msg), nil
		default:
			return nil, io.EOF
		}
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection. A request is on its way when it returns; whatever becomes of it comes as its answer, since
// the answer comes with the same exchange. A message that nobody answers has been taken when it returns: what is written next
// must not overtake it. That a server refuses one is no reason to end the conversation.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	select {
	case <-c.closed:
		return errClosed
	default:
	}
	req, isRequest := msg.(*jsonrpc.Request)
	if isRequest && req.IsCall() {
		if !c.l.begin(&c.l.calls, func() { c.l.call(req, data) }) {
			return errClosed
		}
		return nil
	}
	told := make(chan struct{})
	if !c.l.begin(&c.l.work, func() {
		defer close(told)
		c.l.tell(ctx, req, data)
	}) {
		return errClosed
	}
	<-told
	return ctx.Err()
}

// Close implements mcp.Connection.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID implements mcp.Connection.
func (c *conn) SessionID() string { return c.l.sessionID() }

// hear notes the first message of a server; errors in its place do not count.
func (l *Link) hear(msg jsonrpc.Message) jsonrpc.Message {
	answer, isAnswer := msg.(*jsonrpc.Response)
	if _, ours := errors.AsType[*failure](errorOf(answer)); !isAnswer || !ours {
		l.hearOnce.Do(func() { close(l.heard) })
	}
	return msg
}

func errorOf(answer *jsonrpc.Response) error {
	if answer == nil {
		return nil
	}
	return answer.Error
}

// agreed keeps the protocol version of the answer to initialize, which every later request names.
func (l *Link) agreed(answer *jsonrpc.Response) {
	var result struct {
		Version string `json:"protocolVersion"`
	}
	if answer.Error != nil || json.Unmarshal(answer.Result, &result) != nil {
		return // whoever reads the answer says so
	}
	l.mu.Lock()
	l.version = result.Version
	l.mu.Unlock()
}

// spoken reports whether the handshake was answered.
func (l *Link) spoken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version != "" || l.legacy != nil
}

func (l *Link) sessionID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}
