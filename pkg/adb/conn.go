package adb

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

// maxRequest is the length of the longest request that four hexadecimal digits can announce.
const maxRequest = 0xffff

// conn is a connection to the adb server, on which one service is requested.
type conn struct {
	net.Conn
	unhook func() bool // see bind
}

// connect connects to the server. The caller closes the connection.
func (s Server) connect(ctx context.Context) (*conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, s.network, s.address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	bound := &conn{Conn: c}
	bound.bind(ctx)
	return bound, nil
}

// bind makes reads and writes fail when ctx ends, until unbind is called.
func (c *conn) bind(ctx context.Context) {
	c.unhook = context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
}

// unbind undoes bind. It fails if ctx has ended.
func (c *conn) unbind() error {
	if !c.unhook() {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.unhook()
	return c.Conn.Close()
}

// request sends a request and reads whether it was accepted. The error of one that was not is a refusal.
func (c *conn) request(service string) error {
	if len(service) > maxRequest {
		return refusal(fmt.Sprintf("the request has %d bytes; at most %d are possible", len(service), maxRequest))
	}
	if _, err := fmt.Fprintf(c, "%04x%s", len(service), service); err != nil {
		return err
	}
	return c.status()
}

// status reads OKAY, or FAIL and the reason.
func (c *conn) status() error {
	var status [4]byte
	if _, err := io.ReadFull(c, status[:]); err != nil {
		return lostError(err)
	}
	switch string(status[:]) {
	case "OKAY":
		return nil
	case "FAIL":
		reason, err := c.block()
		if err != nil {
			return err
		}
		return refusal(reason)
	}
	return fmt.Errorf("%w: %q", errMalformed, status)
}

// block reads a text of at most 64 KiB and its length before it.
func (c *conn) block() (string, error) {
	var digits [4]byte
	if _, err := io.ReadFull(c, digits[:]); err != nil {
		return "", lostError(err)
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return "", fmt.Errorf("%w: the length %q", errMalformed, digits)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(c, text); err != nil {
		return "", lostError(err)
	}
	return string(text), nil
}
