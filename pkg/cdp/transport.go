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

// Transport sends and receives whole messages. One goroutine reads and one writes; Close may be called from another,
// ends both, and may be called again.
type Transport interface {
	// Read returns the next message. limit returns the size limit of a message, in bytes, from its first bytes. The
	// error for a larger one is a *TooLargeError, after which the next message can be read.
	Read(limit func(start []byte) int) ([]byte, error)
	Write(data []byte) error
	Close() error
}

const (
	// maxResponse bounds a response, in bytes, so that a page cannot fill the memory of this process. Screenshots of
	// the largest page that Chromium draws, and snapshots of a million elements, stay below it.
	maxResponse = 256 << 20
	// maxEvent bounds an event. Only what a page writes to its console can be larger.
	maxEvent = 8 << 20
	// startSize is how many bytes of a message its limit is known from.
	startSize = 64
)

// TooLargeError is the error for a message from the browser that was larger than its limit, and was discarded.
type TooLargeError struct {
	Size, Limit int64 // in bytes
	start       []byte
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the response has %d bytes, and at most %d are allowed", e.Size, e.Limit)
}

// collector collects a message up to its limit, and counts the rest.
type collector struct {
	limitOf func(start []byte) int
	limit   int // 0 before it is known
	size    int64
	data    []byte
}

func (c *collector) Write(part []byte) (int, error) {
	c.size += int64(len(part))
	if c.limit == 0 || c.size <= int64(c.limit) {
		c.data = append(c.data, part...)
	}
	if c.limit == 0 && c.size >= startSize {
		c.limit = c.limitOf(c.data[:startSize])
	}
	if c.limit > 0 && c.size > int64(c.limit) && len(c.data) > startSize {
		c.data = bytes.Clone(c.data[:startSize])
	}
	return len(part), nil
}

func (c *collector) message() ([]byte, error) {
	if c.limit > 0 && c.size > int64(c.limit) {
		return nil, &TooLargeError{Size: c.size, Limit: int64(c.limit), start: c.data}
	}
	return c.data, nil
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

func (p *pipes) Read(limit func(start []byte) int) ([]byte, error) {
	c := collector{limitOf: limit}
	for {
		part, err := p.buffer.ReadSlice(0)
		_, _ = c.Write(bytes.TrimSuffix(part, []byte{0})) // never fails
		switch {
		case err == nil:
			return c.message()
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (p *pipes) Write(data []byte) error {
	_, err := p.w.Write(append(data, 0))
	return err
}

func (p *pipes) Close() error { return errors.Join(p.w.Close(), p.r.Close()) }

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
	conn.SetReadLimit(-1) // Read has its own
	return &socket{conn}, nil
}

type socket struct{ conn *websocket.Conn }

func (s *socket) Read(limit func(start []byte) int) ([]byte, error) {
	_, r, err := s.conn.Reader(context.Background()) //nolint:forbidigo // Close ends it
	if err != nil {
		return nil, err
	}
	c := collector{limitOf: limit}
	if _, err := io.Copy(&c, r); err != nil {
		return nil, err
	}
	return c.message()
}

func (s *socket) Write(data []byte) error {
	return s.conn.Write(context.Background(), websocket.MessageText, data) //nolint:forbidigo // Close ends it
}

// Close sends no close frame, because a browser that does not respond would not reply to it.
func (s *socket) Close() error { return s.conn.CloseNow() }
