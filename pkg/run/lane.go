package run

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/scope"
)

// lane is a device with what its sessions need.
type lane struct {
	name        string
	setup       Setup
	classifiers []string
	alone       chan struct{} // held by a session whose kind of device serves one at a time
}

// allLanes are those of the options, or the one that is meant when they name none.
func (r *runner) allLanes() []*lane {
	if len(r.Lanes) == 0 {
		return []*lane{{setup: r.Setup, classifiers: r.Classifiers, alone: make(chan struct{}, 1)}}
	}
	lanes := make([]*lane, len(r.Lanes))
	for i, l := range r.Lanes {
		setup := r.Setup
		setup.Request, setup.Devices, setup.Width, setup.Height = l.Request, l.Devices, l.Width, l.Height
		lanes[i] = &lane{name: l.Name, setup: setup, classifiers: l.Classifiers, alone: make(chan struct{}, 1)}
	}
	return lanes
}

// enter waits until a session of the scope may begin on the lane; leave lets the next one in. ok is false when ctx ended first.
func (l *lane) enter(ctx context.Context, sc scope.Scope) (leave func(), ok bool) {
	if d, ours := l.setup.deviceFor(sc.Driver.Key); !ours || !d.OneSession {
		return func() {}, true
	}
	select {
	case l.alone <- struct{}{}:
		return func() { <-l.alone }, true
	case <-ctx.Done():
		return nil, false
	}
}
