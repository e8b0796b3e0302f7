package adb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

const (
	maxPath  = 1024      // the longest path of a request
	maxChunk = 64 * 1024 // the most data in one packet
)

// Push writes a file to the device, with the permissions of mode. It replaces the file and makes the folders above it.
// After an error a part of the file may be there.
func (d Device) Push(ctx context.Context, content io.Reader, path string, mode fs.FileMode) error {
	what := fmt.Sprintf("writing %s on %s", path, d.serial)
	const regular = 0o100000
	c, err := d.openSend(ctx, what, fmt.Sprintf("%s,%d", path, regular|mode.Perm()))
	if err != nil {
		return err
	}
	defer c.Close()
	sendErr := c.sendFile(content)
	if errors.Is(sendErr, errContent) || ctx.Err() != nil {
		return d.server.newFault(ctx, what, sendErr)
	}
	// The device may have refused the file before the end, and then it says why.
	if err := c.readSendStatus(); err != nil {
		if _, refused := errors.AsType[refusal](err); !refused && sendErr != nil {
			err = sendErr
		}
		return d.server.newFault(ctx, what, err)
	}
	return nil
}

// errContent marks an error of the reader that Push was given.
var errContent = errors.New("reading the content")

// sendFile sends data packets and the end of the file.
func (c *conn) sendFile(content io.Reader) error {
	packet := make([]byte, 8+maxChunk)
	for {
		n, err := io.ReadFull(content, packet[8:])
		if n > 0 {
			copy(packet, "DATA")
			binary.LittleEndian.PutUint32(packet[4:], uint32(n))
			if _, err := c.Write(packet[:8+n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errContent, err)
		}
	}
	copy(packet, "DONE")
	binary.LittleEndian.PutUint32(packet[4:], uint32(time.Now().Unix()))
	_, err := c.Write(packet[:8])
	return err
}

// openSend opens the service for files and requests to write one.
func (d Device) openSend(ctx context.Context, what, argument string) (*conn, error) {
	if len(argument) > maxPath {
		return nil, d.server.newFault(ctx, what, refusal("the path is too long"))
	}
	c, err := d.open(ctx, what, "sync:")
	if err != nil {
		return nil, err
	}
	request := binary.LittleEndian.AppendUint32([]byte("SEND"), uint32(len(argument)))
	if _, err := c.Write(append(request, argument...)); err != nil {
		_ = c.Close()
		return nil, d.server.newFault(ctx, what, err)
	}
	return c, nil
}

// readSendStatus reads whether the device has written the file. The error of FAIL is a refusal.
func (c *conn) readSendStatus() error {
	var head [8]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return lostError(err)
	}
	switch n := binary.LittleEndian.Uint32(head[4:]); {
	case string(head[:4]) == "OKAY":
		return nil
	case string(head[:4]) != "FAIL" || n > maxChunk:
		return fmt.Errorf("%w: %q", errMalformed, head)
	default:
		reason := make([]byte, n)
		if _, err := io.ReadFull(c, reason); err != nil {
			return lostError(err)
		}
		return refusal(reason)
	}
}
