package session

import (
	"context"
	"encoding/json"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// reloader runs [tool.ReloadTools]. Concurrent calls run one after another.
type reloader struct {
	session *Session
	running chan struct{} // holds a value while a call runs
}

// reloadSource returns the source of [tool.ReloadTools], a built-in tool that needs the session.
func (s *Session) reloadSource() discover.Source {
	return discover.Source{
		Source: tool.Source{Kind: tool.FromBuiltin, Name: "trailblaze"},
		Tools: []tool.Advertised{{
			Name:        tool.ReloadTools,
			InputSchema: json.RawMessage(`{"type": "object", "properties": {}, "additionalProperties": false}`),
			Description: "Lists all servers of the session again and registers what changed. The result says which tools " +
				"were added and removed, and how many there are.",
		}},
		Caller: &reloader{s, make(chan struct{}, 1)},
	}
}

// reloadResult is the result of [tool.ReloadTools].
type reloadResult struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Total   int      `json:"total"`
}

// Call implements tool.Caller. When a server cannot be listed, or names collide, the registry stays as it was.
func (r *reloader) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	if call.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, call.Timeout, fault.New(fault.CallTimeout, "",
			"timeout: not all servers were listed within %s, the timeout of the recorded call "+
				"(change its `timeout:` in the trail)", call.Timeout))
		defer cancel()
	}
	changed, err := r.reload(ctx, call.Nested())
	if err == nil {
		raw, _ := json.Marshal(changed) // strings and a number can always be encoded
		return tool.Result{OK: true, Text: string(raw), Structured: raw}, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		if fault.KindOf(err) != fault.CallTimeout {
			return tool.Result{}, fault.Wrap(fault.Cancelled, err, "", tool.ReloadTools+": cancelled")
		}
	}
	e := fault.As(mergeErrors(fault.Split(err)))
	return tool.Result{Kind: e.Kind, Text: e.Message + "; the tools stay as they were", Hint: e.Hint}, nil
}

// reload lists all servers and replaces the session's registry as a whole.
func (r *reloader) reload(ctx context.Context, nested bool) (reloadResult, error) {
	select {
	case r.running <- struct{}{}:
		defer func() { <-r.running }()
	case <-ctx.Done():
		return reloadResult{}, context.Cause(ctx)
	}
	s := r.session
	listings := make([]*server.Listing, len(s.servers))
	err := s.eachServer(func(i int, srv *server.Server) (err error) {
		listings[i], err = srv.List(ctx, nested)
		return err
	})
	if err != nil {
		return reloadResult{}, err
	}
	registry, err := s.register(listings)
	if err != nil {
		return reloadResult{}, err
	}
	for i, srv := range s.servers {
		srv.SetListing(listings[i])
	}
	before := s.Registry()
	registry.NoteRemoved(before)
	s.registry.Store(registry)
	s.reloaded.Store(true)
	s.warn(registry.Warnings, before.Warnings)
	return reloadResult{Added: missingFrom(before, registry), Removed: missingFrom(registry, before), Total: len(registry.Tools)}, nil
}

// missingFrom returns the names of tools in other that r does not have.
func missingFrom(r, other *discover.Registry) []string {
	names := []string{}
	for _, t := range other.Tools {
		if _, ok := r.Lookup(t.Name); !ok {
			names = append(names, t.Name)
		}
	}
	return names
}
