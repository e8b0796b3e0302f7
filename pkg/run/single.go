package run

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Single is one call by hand.
type Single struct {
	Tool    string
	Args    func(t *discover.Tool) (map[string]any, error) // tokens in them are filled in
	Memory  map[string]string
	Secrets map[string]string
}

// Call makes one call in a session of its own. The result is the tool's, whatever it says; the calls are what a trail would
// record of it. The error says why there is no result.
func Call(ctx context.Context, setup Setup, sc scope.Scope, o Single) (tool.Result, []trail.Call, error) {
	id := newSessionID(o.Tool, setup.Now())
	s, err := openSession(ctx, setup, sc, opening{id: id, emit: setup.Stream.Session(id, "", nil), needs: []string{o.Tool}})
	if err != nil {
		return tool.Result{}, nil, first(outside(ctx), err)
	}
	defer s.close(ctx)
	t, err := s.registry.Find(o.Tool)
	if err != nil {
		return tool.Result{}, nil, err
	}
	call := trail.Call{Tool: t.Name}
	if call.Args, err = o.Args(t); err != nil {
		return tool.Result{}, nil, err
	}
	if err := argsFault(t, unfit(t, call.Args)); err != nil {
		return tool.Result{}, nil, err
	}
	p := newPlayer(s, trail.NewValues(trail.Layers{Memory: o.Memory, Secrets: o.Secrets}))
	_, args, err := p.ready(call)
	if err != nil {
		return tool.Result{}, nil, err
	}
	end := p.invoke(s.ctx, p.trail.next(false), t, args, call)
	if v := p.judge(end); v.outcome == event.Error {
		return tool.Result{}, nil, v.cause
	}
	return end.result, end.calls, nil
}
