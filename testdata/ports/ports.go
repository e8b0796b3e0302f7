// Package ports chooses ports for tests that need one before something listens there, or on which nothing may listen.
package ports

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// reserved are the listeners of Free, which must not be collected.
var reserved struct {
	sync.Mutex
	listeners []net.Listener
}

// Free returns a port of 127.0.0.1 that is free, and that the system does not give to a program that asks for any port.
// While this process runs, no other call returns it, in any process: Free keeps a listener on the port 10,000 below,
// which reserves it.
func Free(ctx context.Context) (string, error) {
	const first, count, attempts = 20000, 10000, 100
	listen := func(port int) (net.Listener, error) {
		return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	var err error
	for range attempts {
		port := first + rand.IntN(count)
		reservation, e := listen(port - count)
		if e != nil {
			err = e
			continue
		}
		reserved.Lock()
		reserved.listeners = append(reserved.listeners, reservation)
		reserved.Unlock()
		l, e := listen(port)
		if e == nil {
			_ = l.Close()
			return strconv.Itoa(port), AwaitRefused(ctx, l.Addr().String())
		}
		err = e
	}
	return "", err
}

// AwaitRefused returns when connections to an address whose listener was closed are refused: a process that was started
// before has the listener, too, until it executes its program.
func AwaitRefused(ctx context.Context, address string) error {
	for {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return ctx.Err()
		}
		_ = connection.Close()
	}
}
