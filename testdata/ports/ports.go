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
// While this process runs, Free returns it to no other caller, also in other processes: it listens on another port instead.
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
			return strconv.Itoa(port), l.Close()
		}
		err = e
	}
	return "", err
}
