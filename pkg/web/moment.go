package web

import (
	"context"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/web/aria"
)

// moment is what was read of a page for one answer about it, so that nothing that takes long in a page with many elements
// is read twice. All methods of a nil *moment remember nothing. It may be used from any goroutine.
type moment struct {
	mu        sync.Mutex
	documents map[*frame]aria.Document
	snapshots map[*aria.Capture]*aria.Tree
	queries   map[axQuery][]axNode
}

// axQuery are the arguments of frame.query.
type axQuery struct {
	frame      *frame
	role, name string
}

type momentKey struct{}

// atOneMoment returns a context in which the page is read as it was at one moment.
func atOneMoment(ctx context.Context) context.Context {
	return context.WithValue(ctx, momentKey{}, &moment{snapshots: map[*aria.Capture]*aria.Tree{}, queries: map[axQuery][]axNode{}})
}

// momentOf returns the moment of a context; nil without one.
func momentOf(ctx context.Context) *moment {
	m, _ := ctx.Value(momentKey{}).(*moment)
	return m
}

// query returns the nodes that read returns, which the caller may change.
func (m *moment) query(q axQuery, read func() ([]axNode, error)) ([]axNode, error) {
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
