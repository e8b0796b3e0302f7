package spawn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	errConnected = errors.New("the transport of a process is connected once")
	errClosed    = errors.New("the connection is closed")
)

// transport is a process's pipes as an mcp.Transport. mcp.CommandTransport would end the session at the first stray line on
// stdout, at a line of 16 MiB, and without descendants or stderr.
type transport struct{ p *Process }

// Connect implements mcp.Transport.
func (t transport) Connect(context.Context) (mcp.Connection, error) {
	if !t.p.connected.CompareAndSwap(false, true) {
		return nil, errConnected
	}
	return &conn{p: t.p, closed: make(chan struct{})}, nil
}

// conn is the mcp.Connection. Closing it ends reading and writing; the process is ended by Stop alone.
type conn struct {
	p      *Process
	once   sync.Once
	closed chan struct{}
}

// Read implements mcp.Connection. It returns io.EOF at the end of the server's stdout.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-c.p.messages:
		if !ok {
			return nil, io.EOF
		}
		return msg, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection. A server that does not read holds it up only as long as ctx lasts; a message that was
// begun is completed behind its back, so that the next one starts on a line of its own.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := encode(msg)
	if err != nil {
		return err
	}
	select {
	case c.p.writing <- struct{}{}:
	case <-c.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	if ctx.Err() != nil { // a select takes any branch that is open
		<-c.p.writing
		return ctx.Err()
	}
	n, err := writeNow(c.p.stdin, data) // nearly always all of it, which spares a goroutine
	if err != nil || n == len(data) {
		<-c.p.writing
		return lost(err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := c.p.stdin.Write(data[n:])
		<-c.p.writing
		written <- err
	}()
	select {
	case err := <-written:
		return lost(err)
	case <-c.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// encode is a message as a line. The SDK's encoder checks and copies the parameters of a request once more; ours are compact
// JSON already.
func encode(msg jsonrpc.Message) ([]byte, error) {
	req, isRequest := msg.(*jsonrpc.Request)
	if !isRequest || !req.IsCall() || bytes.IndexByte(req.Params, '\n') >= 0 {
		data, err := jsonrpc.EncodeMessage(msg)
		return append(data, '\n'), err
	}
	id, err := json.Marshal(req.ID.Raw())
	if err != nil {
		return nil, err
	}
	method, err := json.Marshal(req.Method)
	if err != nil {
		return nil, err
	}
	line := make([]byte, 0, len(req.Params)+len(method)+64)
	line = append(append(line, `{"jsonrpc":"2.0","id":`...), id...)
	line = append(append(line, `,"method":`...), method...)
	if len(req.Params) > 0 {
		line = append(append(line, `,"params":`...), req.Params...)
	}
	return append(line, "}\n"...), nil
}

func lost(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the server has exited or closed its input: %w", err)
}

// Close implements mcp.Connection.
func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.p.deafen()
	})
	return nil
}

// SessionID implements mcp.Connection.
func (c *conn) SessionID() string { return "" }
