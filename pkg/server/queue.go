package server

import (
	"context"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// CallGraph records which calls of a session wait for which others. Its servers share one, so that a call never waits
// for its turn at a server if the calls that run there wait, directly or through calls to other servers, for that call.
// The zero value is ready to use, from any goroutine.
type CallGraph struct {
	mu    sync.Mutex
	turns []*turn // of the calls that run or wait, in the order in which they were made
}

// turn is the turn of a call at its server.
type turn struct {
	server    *Server
	id        string   // tool.Call.InvocationID
	ancestors []string // tool.Call.Ancestors
	running   bool
	granted   chan struct{} // closed when the call may run; nil if it did not have to wait
}

// acquireTurn waits until no other call runs at the server, apart from calls that wait for this one. The caller must
// release the turn. Turns are granted in the order of the calls.
func (s *Server) acquireTurn(ctx context.Context, call tool.Call) (*turn, error) {
	g := s.cfg.Calls
	t := &turn{server: s, id: call.InvocationID, ancestors: call.Ancestors}
	g.add(t)
	if t.granted == nil {
		return t, nil
	}
	var err error
	select {
	case <-t.granted:
		return t, nil
	case <-ctx.Done():
		err = s.cancelledError(ctx, toolPhase(call.Tool))
	case <-s.failed:
		err = s.Err()
	case <-s.stopping:
		err = s.stoppedError(toolPhase(call.Tool))
	}
	g.release(t)
	return nil, err
}

// add grants t its turn, or makes it wait.
func (g *CallGraph) add(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turns = append(g.turns, t)
	if g.mayRun(t) {
		t.running = true
		return
	}
	t.granted = make(chan struct{})
	g.grant() // others, which t may now wait for
}

// release removes t and grants the turns that waited for it.
func (g *CallGraph) release(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.turns, t)
	g.turns = slices.Delete(g.turns, i, i+1)
	g.grant()
}

// grant grants their turns to all waiting calls that may run. The caller holds g.mu.
func (g *CallGraph) grant() {
	for _, t := range g.turns {
		if !t.running && g.mayRun(t) {
			t.running = true
			close(t.granted)
		}
	}
}

// mayRun reports whether all calls that run at the server of t wait for t. The caller holds g.mu.
func (g *CallGraph) mayRun(t *turn) bool {
	for _, other := range g.turns {
		if other != t && other.server == t.server && other.running && !g.waitsFor(other, t, nil) {
			return false
		}
	}
	return true
}

// waitsFor reports whether the running call a waits for t: t is a descendant of a, or a descendant of a waits for its
// turn behind a call that waits for t. visited are the running calls that were looked at before. The caller holds g.mu.
func (g *CallGraph) waitsFor(a, t *turn, visited []*turn) bool {
	if a.id == "" || slices.Contains(visited, a) {
		return false
	}
	if slices.Contains(t.ancestors, a.id) {
		return true
	}
	visited = append(visited, a)
	for _, waiting := range g.turns {
		if waiting.running || waiting == t || !slices.Contains(waiting.ancestors, a.id) {
			continue
		}
		for _, ahead := range g.turns {
			if ahead.server == waiting.server && ahead.running && g.waitsFor(ahead, t, visited) {
				return true
			}
		}
	}
	return false
}
