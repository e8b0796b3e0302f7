package workspace

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/session"
)

// backendSet are the backends for one set of option values, one for each kind of device.
type backendSet struct {
	values   OptionValues
	backends []session.Backend
	users    int // acquire was called so often without release
}

// backendPool has the open backends. Devices with equal option values share theirs.
type backendPool struct {
	mu   sync.Mutex
	open []*backendSet
}

// acquire returns the backends for option values, which create makes if nobody uses such.
func (p *backendPool) acquire(values OptionValues, create func() ([]session.Backend, error)) (*backendSet, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, set := range p.open {
		if maps.EqualFunc(set.values, values, maps.Equal[map[string]string, map[string]string]) {
			set.users++
			return set, nil
		}
	}
	backends, err := create()
	if err != nil {
		return nil, err
	}
	set := &backendSet{values: values, backends: backends, users: 1}
	p.open = append(p.open, set)
	return set, nil
}

// release gives sets back. It returns those that nobody uses any more, which the caller closes.
func (p *backendPool) release(sets []*backendSet) (unused []*backendSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, set := range sets {
		if set.users--; set.users == 0 {
			unused = append(unused, set)
		}
	}
	p.open = slices.DeleteFunc(p.open, func(set *backendSet) bool { return set.users <= 0 })
	return unused
}

// removeAll returns all sets, which the caller closes.
func (p *backendPool) removeAll() []*backendSet {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.open
	p.open = nil
	return all
}

// backendsFor returns the backends for option values.
func (o *Opener) backendsFor(values OptionValues) (*backendSet, error) {
	return o.backends.acquire(values, func() ([]session.Backend, error) {
		var backends []session.Backend
		for _, k := range o.Kinds {
			backend, err := o.NewBackend(k, values[k.Name])
			if err != nil {
				return nil, err
			}
			backends = append(backends, session.Backend{Kind: k, Backend: backend})
		}
		return backends, nil
	})
}

// closeAll closes backends, also after ctx was cancelled. An error is only a warning.
func (o *Opener) closeAll(ctx context.Context, sets []*backendSet) {
	for _, set := range sets {
		for _, b := range set.backends {
			if err := b.Close(context.WithoutCancel(ctx)); err != nil {
				o.Warn(err)
			}
		}
	}
}
