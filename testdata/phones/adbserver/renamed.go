package adbserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// Renamed is an address at which a server has another serial for one of its devices, such as one that only devices on a
// network get.
type Renamed struct {
	Port string

	server   *Server
	listener net.Listener
	from, to string
	wait     sync.WaitGroup
}

// Rename serves s at another port, with the serial to in place of from. The caller must call Close.
func (s *Server) Rename(ctx context.Context, from, to string) (*Renamed, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	r := &Renamed{Port: port, server: s, listener: l, from: from, to: to}
	r.wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.wait.Go(func() { r.serve(context.WithoutCancel(ctx), c) })
		}
	})
	return r, nil
}

// Close closes the listener and waits until the connections have ended, which their clients close.
func (r *Renamed) Close() {
	_ = r.listener.Close()
	r.wait.Wait()
}

// serve passes on one connection. Only its first request, and a list of devices, name serials.
func (r *Renamed) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	request, err := readText(client)
	if err != nil {
		return
	}
	server, err := new(net.Dialer).DialContext(ctx, "tcp", r.server.Address())
	if err != nil {
		return
	}
	defer server.Close()
	_ = writeText(server, strings.ReplaceAll(request, r.to, r.from))
	if strings.HasPrefix(request, "host:devices") {
		r.passDevices(server, client)
		return
	}
	var sending sync.WaitGroup
	sending.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	sending.Wait()
}

// passDevices passes on a list of devices.
func (r *Renamed) passDevices(server io.Reader, client io.Writer) {
	status := make([]byte, 4)
	if _, err := io.ReadFull(server, status); err != nil {
		return
	}
	list, err := readText(server)
	if err != nil {
		return
	}
	_, _ = client.Write(status)
	_ = writeText(client, strings.ReplaceAll(list, r.from, r.to))
}

// readText reads a text after its length in four hexadecimal digits.
func readText(from io.Reader) (string, error) {
	digits := make([]byte, 4)
	if _, err := io.ReadFull(from, digits); err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(string(digits), 16, 16)
	if err != nil {
		return "", err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(from, text)
	return string(text), err
}

func writeText(to io.Writer, text string) error {
	_, err := fmt.Fprintf(to, "%04x%s", len(text), text)
	return err
}
