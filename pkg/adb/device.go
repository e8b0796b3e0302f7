package adb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
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

// Forward is a port of this machine that the server forwards to a socket on a device.
type Forward struct {
	Port   int
	Remote string // such as tcp:6790
}

// Forward makes the server forward a free port of its machine to a socket on the device, and returns the port. The
// caller must call RemoveForward. The server answers at once, so the end of ctx does not interrupt it: the port would
// stay forwarded.
func (d Device) Forward(ctx context.Context, remote string) (int, error) {
	what := fmt.Sprintf("forwarding a port to %s on %s", remote, d.serial)
	text, err := d.forwardRequest(ctx, what, "forward:tcp:0;"+remote, true)
	if err != nil {
		return 0, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, d.server.newFault(ctx, what, errMalformed)
	}
	return int(port), nil
}

// RemoveForward removes a forwarded port. It is not an error if the server has removed it already.
func (d Device) RemoveForward(ctx context.Context, port int) error {
	what := fmt.Sprintf("removing the forwarded port %d of %s", port, d.serial)
	_, err := d.forwardRequest(ctx, what, fmt.Sprintf("killforward:tcp:%d", port), false)
	if refused, ok := errors.AsType[refusal](err); ok && strings.Contains(string(refused), "listener") {
		return nil
	}
	return err
}

// Forwards returns the forwarded ports of the device.
func (d Device) Forwards(ctx context.Context) ([]Forward, error) {
	text, err := d.server.query(ctx, "listing the forwarded ports", "host:list-forward")
	if err != nil {
		return nil, err
	}
	var list []Forward
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != d.serial {
			continue
		}
		if port, err := strconv.Atoi(strings.TrimPrefix(fields[1], "tcp:")); err == nil {
			list = append(list, Forward{port, fields[2]})
		}
	}
	return list, nil
}

// forwardLimit is for the server to change its list of forwarded ports.
const forwardLimit = 5 * time.Second

// forwardRequest changes the server's forwarded ports. It answers OKAY for the connection and OKAY for the change.
func (d Device) forwardRequest(ctx context.Context, what, request string, withAnswer bool) (text string, err error) {
	if ctx.Err() != nil {
		return "", d.server.newFault(ctx, what, ctx.Err())
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), min(forwardLimit, d.server.limit), errTimeout)
	defer cancel()
	c, err := d.server.connect(ctx)
	if err == nil {
		defer c.Close()
		err = c.request("host-serial:" + d.serial + ":" + request)
	}
	if err == nil {
		err = c.status()
	}
	if err == nil && withAnswer {
		text, err = c.block()
	}
	if err != nil {
		return "", d.server.newFault(ctx, what, err)
	}
	return text, nil
}
