package web

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/web/aria"
	"github.com/trailblaze/trailblaze/pkg/web/axtree"
)

// moment is what was read of a page for one answer about it, so that nothing that takes long in a page with many elements
// is read twice. All methods of a nil *moment remember nothing. It may be used from any goroutine.
type moment struct {
	mu        sync.Mutex
	documents map[*frame]aria.Document
	snapshots map[*aria.Capture]*aria.Tree
	queries   map[axQuery][]axtree.Node
}

// axQuery are the arguments of frame.query.
type axQuery struct {
	frame      *frame
	role, name string
}

type momentKey struct{}

func newMoment() *moment {
	return &moment{snapshots: map[*aria.Capture]*aria.Tree{}, queries: map[axQuery][]axtree.Node{}}
}

// withMoment returns a context in which the page is read as it was at one moment.
func withMoment(ctx context.Context, m *moment) context.Context {
	return context.WithValue(ctx, momentKey{}, m)
}

// momentOf returns the moment of a context; nil without one.
func momentOf(ctx context.Context) *moment {
	m, _ := ctx.Value(momentKey{}).(*moment)
	return m
}

// query returns the nodes that read returns, which the caller may change.
func (m *moment) query(q axQuery, read func() ([]axtree.Node, error)) ([]axtree.Node, error) {
	if m == nil {
		return read()
	}
	m.mu.Lock()
	nodes, known := m.queries[q]
	m.mu.Unlock()
	if known {
		return slices.Clone(nodes), nil
	}
	nodes, err := read()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queries[q] = nodes
	return slices.Clone(nodes), nil
}

// capture notes the documents that were captured last.
func (m *moment) capture(documents map[*frame]aria.Document) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.documents = documents
}

// captured returns the documents that were captured last; nil for none.
func (m *moment) captured() map[*frame]aria.Document {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.documents
}

// snapshot returns the snapshot of a capture.
func (m *moment) snapshot(c *aria.Capture) *aria.Tree {
	if m == nil {
		return aria.Snapshot(c)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.snapshots[c] == nil {
		m.snapshots[c] = aria.Snapshot(c)
	}
	return m.snapshots[c]
}

// keptFor is for how long a page is watched after a look, and after each use of what was read in it.
const keptFor = time.Minute

// keptMoment is a moment that counts as now while the page has not changed.
type keptMoment struct {
	*moment
	state pageState // before anything was read
}

// pageState tells whether a page has changed: how often each of its documents has. Styles can change, and scripts can
// write into fields, without a trace in it.
type pageState map[*frame]documentState

type documentState struct {
	loader  string
	changes int
}

// state returns the state of a page; nil if a frame does not respond.
func (p *page) state(ctx context.Context) pageState {
	state := pageState{}
	for f, loader := range p.loaders() {
		count := 0
		err := f.withinSlice(ctx, func(ctx context.Context) error {
			return f.eval(ctx, "countChanges", &count, keptFor.Milliseconds())
		})
		if err != nil || count == 0 {
			return nil
		}
		state[f] = documentState{loader, count}
	}
	return state
}

// keep returns a context for reading the page, and keeps what is read. It keeps nothing in a session in which nobody has
// pointed at an element, since that is what needs it.
func (p *page) keep(ctx context.Context) context.Context {
	if !p.device.pointed.Load() {
		return ctx
	}
	m := &keptMoment{newMoment(), p.state(ctx)}
	p.kept.Store(m)
	return withMoment(ctx, m.moment)
}

// recall returns a context in which what was read before need not be read again; false if the page has changed since.
func (p *page) recall(ctx context.Context) (context.Context, bool) {
	m := p.kept.Load()
	if m == nil {
		return ctx, false
	}
	if m.state == nil || !maps.Equal(m.state, p.state(ctx)) {
		p.kept.CompareAndSwap(m, nil)
		return ctx, false
	}
	return withMoment(ctx, m.moment), true
}
