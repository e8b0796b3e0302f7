package run

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
)

// deviceQueue is a device that sessions use one at a time, if its kind demands that.
type deviceQueue struct {
	session.Device
	inUse chan struct{} // contains a value while a session uses a device that allows one session at a time
}

func newDevices(devices []session.Device) []*deviceQueue {
	queues := make([]*deviceQueue, len(devices))
	for i, d := range devices {
		queues[i] = &deviceQueue{Device: d, inUse: make(chan struct{}, 1)}
	}
	return queues
}

// lease is the right to use a device.
type lease struct{ device *deviceQueue }

// acquire waits until a session of the scope may use the device. It returns false when ctx ended first.
func (l *lease) acquire(ctx context.Context, d *deviceQueue, sc scope.Scope) bool {
	if !d.oneSession(sc) {
		return true
	}
	select {
	case d.inUse <- struct{}{}:
		l.device = d
		return true
	case <-ctx.Done():
		return false
	}
}

// release allows the next session to use the device.
func (l *lease) release() {
	if l.device != nil {
		<-l.device.inUse
	}
}

// oneSession reports whether the scope's device allows only one session at a time.
func (d *deviceQueue) oneSession(sc scope.Scope) bool {
	b, ok := d.BackendFor(sc.Driver.Key)
	return ok && b.OneSession
}
