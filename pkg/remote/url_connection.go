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

// The methods that the streamable HTTP transport treats differently from others.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
)

type transport struct{ l *Link }

// Connect implements mcp.Transport.
func (t transport) Connect(context.Context) (mcp.Connection, error) {
	return &connection{l: t.l, closed: make(chan struct{})}, nil
}

// connection is the mcp.Connection of a link. Closing it ends reading and writing; only Link.Stop ends the session.
type connection struct {
	l      *Link
	once   sync.Once
	closed chan struct{}
}

// Read implements mcp.Connection. It returns io.EOF at the end of the session, after all messages.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-c.l.messages:
		return c.l.noteFirstMessage(msg), nil
	default:
	}
	select {
	case msg := <-c.l.messages:
		return c.l.noteFirstMessage(msg), nil
	case <-c.l.done:
		select {
		case msg := <-c.l.messages:
			return c.l.noteFirstMessage(msg), nil
		default:
			return nil, io.EOF
		}
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection. It does not wait for the response to a request, which is read like any other
// message; a failure to send the request is read as a response, too. Notifications and responses have been received by
// the server when it returns, so that the next message does not overtake them; if the server rejects one, the session
// continues.
func (c *connection) Write(ctx context.Context, msg jsonrpc.Message) error {
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
		if !c.l.start(&c.l.requests, func() { c.l.sendRequest(req, data) }) {
			return errClosed
		}
		return nil
	}
	sent := make(chan struct{})
	if !c.l.start(&c.l.background, func() {
		defer close(sent)
		c.l.notify(ctx, req, data)
	}) {
		return errClosed
	}
	<-sent
	return ctx.Err()
}

// Close implements mcp.Connection.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID implements mcp.Connection.
func (c *connection) SessionID() string { return c.l.currentSessionID() }

// noteFirstMessage closes firstMessage at the first message of the server, and returns msg. Errors that the link
// creates in place of responses are not messages of the server.
func (l *Link) noteFirstMessage(msg jsonrpc.Message) jsonrpc.Message {
	response, isResponse := msg.(*jsonrpc.Response)
	if _, ours := errors.AsType[*transportError](responseError(response)); !isResponse || !ours {
		l.firstOnce.Do(func() { close(l.firstMessage) })
	}
	return msg
}

func responseError(response *jsonrpc.Response) error {
	if response == nil {
		return nil
	}
	return response.Error
}

// setVersion stores the protocol version in the response to initialize. Every later request sends it in a header.
func (l *Link) setVersion(response *jsonrpc.Response) {
	var result struct {
		Version string `json:"protocolVersion"`
	}
	if response.Error != nil || json.Unmarshal(response.Result, &result) != nil {
		return // the reader of the response reports it
	}
	l.mu.Lock()
	l.version = result.Version
	l.mu.Unlock()
}

// handshakeDone reports whether the server has responded to the handshake.
func (l *Link) handshakeDone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version != "" || l.endpoint != nil
}

func (l *Link) currentSessionID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sessionID
}
