package stdio

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
	errConnected = errors.New("the transport of a process can be connected once")
	errClosed    = errors.New("the connection is closed")
)

// transport adapts a Link to mcp.Transport. mcp.CommandTransport is not used, because it would end the session at the
// first line on stdout that is not a message or has 16 MiB, and would leave descendants of the process running.
type transport struct{ l *Link }

// Connect implements mcp.Transport.
func (t transport) Connect(context.Context) (mcp.Connection, error) {
	if !t.l.connected.CompareAndSwap(false, true) {
		return nil, errConnected
	}
	return &conn{l: t.l}, nil
}

// conn is the mcp.Connection. Closing it ends reading and writing; only Stop ends the process.
type conn struct {
	l    *Link
	once sync.Once
}

// Read implements mcp.Connection. It returns io.EOF at the end of the server's stdout.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-c.l.messages:
		if !ok {
			return nil, io.EOF
		}
		return msg, nil
	case <-c.l.readerClosed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection. It returns when ctx ends, also while the server does not read. The rest of a message
// that was partly written is then written in the background, so that the next message starts on a new line.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := encode(msg)
	if err != nil {
		return err
	}
	select {
	case c.l.writing <- struct{}{}:
	case <-c.l.readerClosed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	if ctx.Err() != nil { // select chooses any of the ready cases
		<-c.l.writing
		return ctx.Err()
	}
	stdin := c.l.Stdin()
	n, err := writeNow(stdin, data) // nearly always all of it, which saves a goroutine
	if err != nil || n == len(data) {
		<-c.l.writing
		return writeError(err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := stdin.Write(data[n:])
		<-c.l.writing
		written <- err
	}()
	select {
	case err := <-written:
		return writeError(err)
	case <-c.l.readerClosed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// encode returns a message as a line. The SDK's encoder would validate and copy the parameters of a request; those of
// this program are compact JSON already.
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

func writeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the server has exited or closed its input: %w", err)
}

// Close implements mcp.Connection.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.l.readerClosed) })
	return nil
}

// SessionID implements mcp.Connection. The stdio transport has no session ids.
func (c *conn) SessionID() string { return "" }
