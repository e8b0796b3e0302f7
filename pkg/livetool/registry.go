package livetool

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Registry returns the tools of the open session as the content of the resource trailblaze://registry. Without a
// session it has no tools; none is opened.
func (ts *Tools) Registry(ctx context.Context, server discover.ResourceServer) (discover.ResourceContent, error) {
	var registry *discover.Registry
	if open := ts.sessions.current(); open != nil {
		tools, err := open.Toolbox(ctx)
		if err != nil {
			return discover.ResourceContent{}, ts.orEnded(ctx, err)
		}
		registry = tools.Registry
	}
	return registry.ResourceContent(server, ts.opts.Output), nil
}

// reloadBuffer is how many events wait while the list of tools is made again.
const reloadBuffer = 64

// watchReloads lists the tools of a session again after each call that may have changed them, until it is closed. The
// end of ctx ends it, too.
func (m *sessions) watchReloads(ctx context.Context, open live.API) {
	events, stop := open.Subscribe(ctx, reloadBuffer)
	m.closing.Go(func() {
		defer stop()
		for e := range events {
			if mayReload(e) {
				m.reloaded(ctx, open)
			}
		}
	})
}

// mayReload reports whether tools may have changed with an event: a call of reloadTools ended, or that is not known.
func mayReload(e event.Event) bool {
	switch e := e.(type) {
	case event.CallFinished:
		return e.OK && e.Tool == tool.ReloadTools
	case event.Lost:
		return true
	}
	return false
}

// reloaded lists the tools of a session again, if it is the open one.
func (m *sessions) reloaded(ctx context.Context, open live.API) {
	offered := m.tools.offered(ctx, open)
	m.mu.Lock()
	isOpen := m.open == open
	if isOpen {
		m.offered = offered
	}
	m.mu.Unlock()
	if isOpen {
		m.toolsChanged()
	}
}

// toolsChanged reports that there are other tools than before.
func (m *sessions) toolsChanged() {
	if m.tools.opts.ToolsChanged != nil {
		m.tools.opts.ToolsChanged()
	}
}
