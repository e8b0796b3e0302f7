package cdp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"
)

// Transport carries whole messages. One goroutine reads and one writes; Close may be called from another, ends both,
// and may be called again.
type Transport interface {
	Read() ([]byte, error)
	Write(data []byte) error
	Close() error
}

// Pipes returns the transport for a browser that was started with --remote-debugging-pipe: a zero byte ends each
// message.
func Pipes(r io.ReadCloser, w io.WriteCloser) Transport {
	return &pipes{r, w, bufio.NewReaderSize(r, 64<<10)}
}

type pipes struct {
	r      io.ReadCloser
	w      io.WriteCloser
	buffer *bufio.Reader
}

func (p *pipes) Read() ([]byte, error) {
	data, err := p.buffer.ReadBytes(0)
	return bytes.TrimSuffix(data, []byte{0}), err
}

func (p *pipes) Write(data []byte) error {
	_, err := p.w.Write(append(data, 0))
	return err
}

func (p *pipes) Close() error { return errors.Join(p.w.Close(), p.r.Close()) }

// maxMessage bounds a message, so that a broken server cannot fill our memory. A screenshot of the largest page that
// Chromium draws stays below it.
const maxMessage = 512 << 20

// Dial connects to the WebSocket of a browser. ctx bounds the handshake.
func Dial(ctx context.Context, url string, header http.Header) (Transport, error) {
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
	conn, response, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client, HTTPHeader: header})
	if err != nil {
		if response != nil {
			return nil, fmt.Errorf("connecting to %s: the server answered %s", url, response.Status)
		}
		return nil, fmt.Errorf("connecting to %s: %w", url, err)
	}
	conn.SetReadLimit(maxMessage)
	return &socket{conn}, nil
}

type socket struct{ conn *websocket.Conn }

func (s *socket) Read() ([]byte, error) {
	_, data, err := s.conn.Read(context.Background()) //nolint:forbidigo // Close ends it
	return data, err
}

func (s *socket) Write(data []byte) error {
	return s.conn.Write(context.Background(), websocket.MessageText, data) //nolint:forbidigo // Close ends it
}

// Close sends no close frame: a browser that does not respond would not answer it.
func (s *socket) Close() error { return s.conn.CloseNow() }
