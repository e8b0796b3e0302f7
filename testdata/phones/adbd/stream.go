package adbd

import (
	"io"
	"sync"
)

// stream is one connection to a service on the device, within a transport.
type stream struct {
	transport     *transport
	local, remote uint32
	incoming      chan []byte
	acks          chan struct{}
	done          <-chan struct{} // closed when the server or the transport closed the stream
	cancel        func()
	opened        bool   // OKAY was sent for OPEN
	rest          []byte // of a payload that Read returned in parts

	writing sync.Mutex
}

// open tells the server that the service is available.
func (s *stream) open() {
	s.opened = true
	s.acknowledge()
}

func (s *stream) acknowledge() { s.transport.send(message{cmdOkay, s.local, s.remote, nil}) }

// close ends the stream: a service that was not opened is refused.
func (s *stream) close() {
	t := s.transport
	t.mu.Lock()
	delete(t.streams, s.local)
	t.mu.Unlock()
	ended := false
	select {
	case <-s.done:
		ended = true
	default:
	}
	s.cancel()
	switch {
	case !s.opened:
		t.send(message{cmdClose, 0, s.remote, nil})
	case !ended:
		t.send(message{cmdClose, s.local, s.remote, nil})
	}
}

// Read implements io.Reader. The server may send the next payload when all of one was read.
func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case s.rest = <-s.incoming:
		default:
			select {
			case s.rest = <-s.incoming:
			case <-s.done:
				return 0, io.EOF
			}
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	if len(s.rest) == 0 {
		s.acknowledge()
	}
	return n, nil
}

// Write implements io.Writer. It waits for the server's OKAY to each payload.
func (s *stream) Write(p []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.transport.mu.Lock()
	limit := s.transport.payload
	s.transport.mu.Unlock()
	written := 0
	for written < len(p) {
		chunk := p[written:min(len(p), written+limit)]
		s.transport.send(message{cmdWrite, s.local, s.remote, chunk})
		select {
		case <-s.acks:
			written += len(chunk)
		case <-s.done:
			return written, io.ErrClosedPipe
		}
	}
	return written, nil
}
