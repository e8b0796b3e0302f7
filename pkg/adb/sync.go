package adb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"
)

const (
	maxPath  = 1024      // the longest path of a request
	maxChunk = 64 * 1024 // the most data in one packet
)

// FileInfo describes a file on the device. A symbolic link is not followed.
type FileInfo struct {
	Mode    uint32 // type and permissions as in Linux's stat
	Size    int64  // modulo 4 GiB
	ModTime time.Time
}

// Stat returns the description of a file. The cause of the error is fs.ErrNotExist when the file does not exist, or may
// not be seen.
func (d Device) Stat(ctx context.Context, path string) (FileInfo, error) {
	what := fmt.Sprintf("reading the attributes of %s on %s", path, d.serial)
	c, err := d.openSync(ctx, what, "STAT", path)
	if err != nil {
		return FileInfo{}, err
	}
	defer c.Close()
	var answer struct {
		ID                  [4]byte
		Mode, Size, ModTime uint32
	}
	switch err = lost(binary.Read(c, binary.LittleEndian, &answer)); {
	case err == nil && string(answer.ID[:]) != "STAT":
		err = fmt.Errorf("%w: %q", errMalformed, answer.ID)
	case err == nil && answer.Mode == 0:
		err = fs.ErrNotExist
	}
	if err != nil {
		return FileInfo{}, d.server.newFault(ctx, what, err)
	}
	return FileInfo{answer.Mode, int64(answer.Size), time.Unix(int64(answer.ModTime), 0)}, nil
}

// Push writes a file to the device, with the permissions of mode. It replaces the file and makes the folders above it.
// After an error a part of the file may be there.
func (d Device) Push(ctx context.Context, content io.Reader, path string, mode fs.FileMode) error {
	what := fmt.Sprintf("writing %s on %s", path, d.serial)
	const regular = 0o100000
	c, err := d.openSync(ctx, what, "SEND", fmt.Sprintf("%s,%d", path, regular|mode.Perm()))
	if err != nil {
		return err
	}
	defer c.Close()
	sent := c.sendFile(content)
	if errors.Is(sent, errContent) || ctx.Err() != nil {
		return d.server.newFault(ctx, what, sent)
	}
	// The device may have refused the file before the end, and then it says why.
	_, _, err = c.syncHeader("OKAY")
	if err != nil {
		if _, refused := errors.AsType[refusal](err); !refused && sent != nil {
			err = sent
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

// Pull copies a file from the device to w.
func (d Device) Pull(ctx context.Context, path string, w io.Writer) error {
	what := fmt.Sprintf("reading %s on %s", path, d.serial)
	c, err := d.openSync(ctx, what, "RECV", path)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		id, n, err := c.syncHeader("DATA", "DONE")
		if err == nil && id == "DONE" {
			return nil
		}
		if err == nil && n > maxChunk {
			err = fmt.Errorf("%w: a packet of %d bytes", errMalformed, n)
		}
		if err == nil {
			_, err = io.CopyN(w, c, int64(n))
		}
		if err != nil {
			return d.server.newFault(ctx, what, lost(err))
		}
	}
}

// openSync opens the service for files and sends a request.
func (d Device) openSync(ctx context.Context, what, id, argument string) (*conn, error) {
	if len(argument) > maxPath {
		return nil, d.server.newFault(ctx, what, refusal("the path is too long"))
	}
	c, err := d.open(ctx, what, "sync:")
	if err != nil {
		return nil, err
	}
	request := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(argument)))
	if _, err := c.Write(append(request, argument...)); err != nil {
		_ = c.Close()
		return nil, d.server.newFault(ctx, what, err)
	}
	return c, nil
}

// syncHeader reads the id of an answer, which must be one of some, and its number. The error of FAIL is a refusal.
func (c *conn) syncHeader(expected ...string) (id string, n uint32, err error) {
	var head [8]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return "", 0, lost(err)
	}
	id, n = string(head[:4]), binary.LittleEndian.Uint32(head[4:])
	if slices.Contains(expected, id) {
		return id, n, nil
	}
	if id != "FAIL" || n > maxChunk {
		return "", 0, fmt.Errorf("%w: %q", errMalformed, head)
	}
	reason := make([]byte, n)
	if _, err := io.ReadFull(c, reason); err != nil {
		return "", 0, lost(err)
	}
	return "", 0, refusal(reason)
}
