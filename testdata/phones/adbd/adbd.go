// Package adbd simulates the part of an Android phone that adb talks to: the adb protocol over TCP, with shell, exec,
// sync and sockets. What the phone itself does is behind the interface Phone. It is for tests: an adb server that runs
// `connect` on the listener's address accepts it as a phone.
package adbd

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"sync"
)

// Phone is the simulated phone behind a Device. Its methods are called from several goroutines.
type Phone interface {
	// Properties says what the phone announces.
	Properties() Properties
	// Shell runs a command of the services shell and exec and returns its exit status. ctx ends when the client closes
	// the connection. For exec, and for a client without shell_v2, stdout and stderr are the same writer.
	Shell(ctx context.Context, command string, stdin io.Reader, stdout, stderr io.Writer) (exit int)
	// Dial connects to a socket on the phone, such as "tcp:6790" or "localabstract:name". An error refuses the
	// connection.
	Dial(ctx context.Context, service string) (net.Conn, error)
	// Files are what `adb push` and `adb pull` write and read.
	Files() *Files
}

// Properties are what a phone announces when it connects.
type Properties struct {
	Product, Model, Device string
	Features               []string // nil means DefaultFeatures
}

// DefaultFeatures are the features of adb's protocol that this package implements.
func DefaultFeatures() []string { return []string{"shell_v2", "cmd", "stat_v2", "fixed_push_mkdir"} }

// Options say how a device behaves.
type Options struct {
	// Unauthorized makes the device ask for authentication and accept no key until Authorize is called.
	Unauthorized bool
}

// Device serves the adb protocol for one phone.
type Device struct {
	phone    Phone
	listener net.Listener
	wait     sync.WaitGroup

	mu         sync.Mutex
	closed     bool
	silent     bool
	authorized bool
	transports map[*transport]bool
}

// Serve starts to serve the adb protocol on a listener, which it then owns. The caller must call Close. ctx is passed
// on to the phone, and ends no connection.
func Serve(ctx context.Context, l net.Listener, p Phone, o Options) *Device {
	d := &Device{phone: p, listener: l, authorized: !o.Unauthorized, transports: map[*transport]bool{}}
	d.wait.Go(func() { d.accept(ctx) })
	return d
}

// Addr returns the address for `adb connect`, which is also the serial.
func (d *Device) Addr() string { return d.listener.Addr().String() }

// Close closes the listener and all connections, and waits until all commands have returned.
func (d *Device) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	_ = d.listener.Close()
	d.Disconnect()
	d.wait.Wait()
}

// Disconnect closes the connections to adb servers, as when a cable is pulled out and put in again: a server soon
// connects again.
func (d *Device) Disconnect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := range d.transports {
		_ = t.conn.Close()
	}
}

// SetSilent makes the device read everything and answer nothing. Together with Disconnect, the device is offline for
// the server that connects again. Connections that were silent once do not work again; disconnect them.
func (d *Device) SetSilent(silent bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.silent = silent
}

// Authorize accepts the key of every server, as a person does on the phone.
func (d *Device) Authorize() {
	d.mu.Lock()
	d.authorized = true
	var waiting []*transport
	for t := range d.transports {
		waiting = append(waiting, t)
	}
	d.mu.Unlock()
	for _, t := range waiting {
		t.authorize()
	}
}

func (d *Device) isSilent() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.silent
}

func (d *Device) isAuthorized() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.authorized
}

func (d *Device) accept(ctx context.Context) {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			return
		}
		t := newTransport(d, conn)
		if !d.register(t) {
			_ = conn.Close()
			return
		}
		d.wait.Go(func() {
			defer d.unregister(t)
			t.run(ctx)
		})
	}
}

func (d *Device) register(t *transport) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.transports[t] = true
	return true
}

func (d *Device) unregister(t *transport) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.transports, t)
}

// token returns what a host has to sign.
func token() []byte {
	data := make([]byte, 20)
	_, _ = rand.Read(data)
	return data
}
