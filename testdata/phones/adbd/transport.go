package adbd

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
)

// transport is a connection from an adb server.
type transport struct {
	device *Device
	conn   net.Conn
	wait   sync.WaitGroup // for streams

	writing sync.Mutex

	mu       sync.Mutex
	payload  int  // the largest that the server accepts
	prompted bool // the server sent its public key and waits for a person to accept it
	streams  map[uint32]*stream
	lastID   uint32
}

func newTransport(d *Device, conn net.Conn) *transport {
	return &transport{device: d, conn: conn, payload: 4096, streams: map[uint32]*stream{}}
}

// run serves the connection until it ends.
func (t *transport) run(ctx context.Context) {
	defer t.wait.Wait()
	defer t.closeStreams()
	defer t.conn.Close()
	for {
		m, err := readMessage(t.conn)
		if err != nil {
			return
		}
		t.receive(ctx, m)
	}
}

func (t *transport) receive(ctx context.Context, m message) {
	switch m.command {
	case cmdConnect:
		t.mu.Lock()
		t.payload = min(int(m.arg1), maxPayload)
		t.mu.Unlock()
		if t.device.isAuthorized() {
			t.announce()
			return
		}
		t.send(message{cmdAuth, authToken, 0, token()})
	case cmdAuth:
		t.receiveAuth(m)
	case cmdOpen:
		s, ctx := t.newStream(ctx, m.arg0)
		service, _, _ := strings.Cut(string(m.data), "\x00")
		t.wait.Go(func() {
			defer s.close()
			s.serve(ctx, service)
		})
	case cmdWrite, cmdOkay, cmdClose:
		t.receiveForStream(m)
	}
}

// receiveAuth asks for another signature until the server offers its public key, and then waits for Authorize.
func (t *transport) receiveAuth(m message) {
	if m.arg0 != authPublicKey {
		t.send(message{cmdAuth, authToken, 0, token()})
		return
	}
	t.mu.Lock()
	t.prompted = true
	t.mu.Unlock()
	if t.device.isAuthorized() {
		t.authorize()
	}
}

// authorize accepts the server if it waits for that.
func (t *transport) authorize() {
	t.mu.Lock()
	prompted := t.prompted
	t.prompted = false
	t.mu.Unlock()
	if prompted {
		t.announce()
	}
}

// announce tells the server that the device is ready, and what it is.
func (t *transport) announce() {
	p := t.device.phone.Properties()
	features := p.Features
	if features == nil {
		features = DefaultFeatures()
	}
	banner := fmt.Sprintf("device::ro.product.name=%s;ro.product.model=%s;ro.product.device=%s;features=%s",
		p.Product, p.Model, p.Device, strings.Join(features, ","))
	t.send(message{cmdConnect, version, maxPayload, []byte(banner)})
}

// receiveForStream delivers a message to its stream. A message for a stream that has ended is answered with CLSE.
func (t *transport) receiveForStream(m message) {
	t.mu.Lock()
	s := t.streams[m.arg1]
	t.mu.Unlock()
	if s == nil {
		if m.command == cmdWrite {
			t.send(message{cmdClose, 0, m.arg0, nil})
		}
		return
	}
	switch m.command {
	case cmdWrite:
		select {
		case s.incoming <- m.data:
		default: // the server did not wait for OKAY
			_ = t.conn.Close()
		}
	case cmdOkay:
		select {
		case s.acks <- struct{}{}:
		default:
		}
	case cmdClose:
		s.cancel()
	}
}

// send writes a message. When that fails, the reader of the connection ends.
func (t *transport) send(m message) {
	if t.device.isSilent() {
		return
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	if _, err := t.conn.Write(m.encode()); err != nil {
		_ = t.conn.Close()
	}
}

func (t *transport) newStream(ctx context.Context, remote uint32) (*stream, context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastID++
	s := &stream{
		transport: t, local: t.lastID, remote: remote, incoming: make(chan []byte, 1), acks: make(chan struct{}, 1),
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.done = ctx.Done()
	t.streams[s.local] = s
	return s, ctx
}

func (t *transport) closeStreams() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.streams {
		s.cancel()
	}
}
