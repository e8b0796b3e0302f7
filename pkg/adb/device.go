package adb

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Device is a device of a server, by its serial. Its methods may be called from any goroutine.
type Device struct {
	server Server
	serial string
}

// Device returns the device with a serial. Nothing is sent.
func (s Server) Device(serial string) Device { return Device{s, serial} }

// Serial returns the serial.
func (d Device) Serial() string { return d.serial }

// Features returns what the device's side of the protocol can do, such as shell_v2.
func (d Device) Features(ctx context.Context) ([]string, error) {
	text, err := d.server.query(ctx, "asking "+d.serial+" for its features", "host-serial:"+d.serial+":features")
	if err != nil {
		return nil, err
	}
	return strings.Split(text, ","), nil
}

func (d Device) hasShellV2(ctx context.Context) (bool, error) {
	features, err := d.Features(ctx)
	return slices.Contains(features, "shell_v2"), err
}

// open connects to a service of the device. The connection ends with ctx.
func (d Device) open(ctx context.Context, what, service string) (*conn, error) {
	limited, cancel := context.WithTimeoutCause(ctx, d.server.limit, errTimeout)
	defer cancel()
	c, err := d.server.connect(limited)
	if err != nil {
		return nil, d.server.newFault(limited, what, err)
	}
	err = c.request("host:transport:" + d.serial)
	if err == nil {
		err = maybeExecuted(c.request(service))
	}
	if err == nil {
		err = maybeExecuted(c.unbind())
	}
	if err != nil {
		_ = c.Close()
		return nil, d.server.newFault(limited, what, err)
	}
	c.bind(ctx)
	return c, nil
}

// Dial connects to a socket on the device, such as "tcp:6790" or "localabstract:name", without a forwarded port. ctx
// limits the start. The cause of the error is ErrRefused when nothing accepts connections there.
func (d Device) Dial(ctx context.Context, socket string) (net.Conn, error) {
	what := fmt.Sprintf("connecting to %s on %s", socket, d.serial)
	c, err := d.open(ctx, what, socket)
	if err != nil {
		return nil, err
	}
	if err := c.unbind(); err != nil {
		_ = c.Close()
		return nil, d.server.newFault(ctx, what, err)
	}
	return c, nil
}
