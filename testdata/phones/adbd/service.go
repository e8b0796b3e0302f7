package adbd

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync"
)

// serve serves the service that a server asked for. A service that is not known is refused.
func (s *stream) serve(ctx context.Context, service string) {
	name, argument, _ := strings.Cut(service, ":")
	words := strings.Split(name, ",")
	switch words[0] {
	case "shell":
		s.open()
		if slices.Contains(words, "v2") {
			s.shellV2(ctx, argument)
			return
		}
		s.raw(ctx, argument)
	case "exec":
		s.open()
		s.raw(ctx, argument)
	case "sync":
		s.open()
		s.sync()
	case "tcp", "localabstract", "localreserved", "localfilesystem":
		s.socket(ctx, service)
	}
}

// raw runs a command whose only connection is the stream.
func (s *stream) raw(ctx context.Context, command string) {
	s.transport.device.phone.Shell(ctx, command, s, s, s)
}

// socket connects the stream with a socket of the phone.
func (s *stream) socket(ctx context.Context, service string) {
	conn, err := s.transport.device.phone.Dial(ctx, service)
	if err != nil {
		return
	}
	defer conn.Close()
	s.open()
	var sending sync.WaitGroup
	sending.Go(func() {
		_, _ = io.Copy(conn, s)
		_ = conn.Close()
	})
	_, _ = io.Copy(s, conn)
	s.close()
	sending.Wait()
}

// Kinds of packets in shell_v2.
const (
	shellStdin = iota
	shellStdout
	shellStderr
	shellExit
	shellCloseStdin
)

// shellV2 runs a command with separate stdin, stdout, stderr and exit status.
func (s *stream) shellV2(ctx context.Context, command string) {
	stdin, writer := io.Pipe()
	var receiving sync.WaitGroup
	receiving.Go(func() {
		_ = s.receiveStdin(writer)
		_ = writer.Close()
	})
	exit := s.transport.device.phone.Shell(ctx, command, stdin, shellWriter{s, shellStdout}, shellWriter{s, shellStderr})
	_, _ = shellWriter{s, shellExit}.Write([]byte{byte(exit)})
	_ = stdin.Close()
	s.close()
	receiving.Wait()
}

// receiveStdin writes what the client sends as stdin until the stream ends.
func (s *stream) receiveStdin(w *io.PipeWriter) error {
	for {
		var head [5]byte
		if _, err := io.ReadFull(s, head[:]); err != nil {
			return err
		}
		body := io.LimitReader(s, int64(binary.LittleEndian.Uint32(head[1:])))
		switch head[0] {
		case shellStdin:
			_, _ = io.Copy(w, body) // the command may have closed its stdin
		case shellCloseStdin:
			_ = w.Close()
		}
		if _, err := io.Copy(io.Discard, body); err != nil {
			return err
		}
	}
}

// shellWriter writes packets of one kind.
type shellWriter struct {
	stream *stream
	kind   byte
}

// Write implements io.Writer.
func (w shellWriter) Write(p []byte) (int, error) {
	packet := binary.LittleEndian.AppendUint32([]byte{w.kind}, uint32(len(p)))
	if _, err := w.stream.Write(append(packet, p...)); err != nil {
		return 0, err
	}
	return len(p), nil
}
