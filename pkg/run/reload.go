package run

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// reloadTools is the tool that makes a session list its servers again.
const reloadTools = "reloadTools"

// reloader runs reloadTools. It may be called concurrently; the calls then wait for each other.
type reloader struct {
	session *session
	turn    chan struct{}
}

// reloadSource is the built-in that needs the session itself.
func (s *session) reloadSource() discover.Source {
	return discover.Source{
		Source: tool.Source{Kind: tool.FromBuiltin, Name: "trailblaze"},
		Tools: []tool.Advertised{{
			Name: reloadTools, InputSchema: json.RawMessage(`{"type": "object", "properties": {}, "additionalProperties": false}`),
			Description: "Lists all servers of the session again and takes up what changed. The result says which tools were added and " +
				"removed, and how many there are.",
		}},
		Caller: &reloader{s, make(chan struct{}, 1)},
	}
}

// reloaded is what a reload changed, as its result says it.
type reloaded struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Total   int      `json:"total"`
}

// Call satisfies tool.Caller. A server that does not list, and names that collide, leave everything as it was.
func (r *reloader) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	if call.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, call.Timeout, fault.New(fault.CallTimeout, "",
			"timeout: not all servers were listed within %s, the timeout of the recorded call (change its `timeout:` in the trail)", call.Timeout))
		defer cancel()
	}
	changed, err := r.reload(ctx, call.Nested())
	if err == nil {
		raw, _ := json.Marshal(changed) // texts and a number always encode
		return tool.Result{OK: true, Text: string(raw), Structured: raw}, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		if fault.KindOf(err) != fault.CallTimeout {
			return tool.Result{}, fault.Wrap(fault.Cancelled, err, "", reloadTools+": cancelled")
		}
	}
	e := fault.As(together(fault.Split(err)))
	return tool.Result{Kind: e.Kind, Text: e.Message + "; the tools stay as they were", Hint: e.Hint}, nil
}

// reload lists all servers and makes what they have the session's registry, as a whole.
func (r *reloader) reload(ctx context.Context, nested bool) (reloaded, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return reloaded{}, context.Cause(ctx)
	}
	s := r.session
	listings := make([]*server.Listing, len(s.servers))
	err := s.eachServer(func(i int, srv *server.Server) (err error) {
		listings[i], err = srv.List(ctx, nested)
		return err
	})
	if err != nil {
		return reloaded{}, err
	}
	registry, err := s.register(listings)
	if err != nil {
		return reloaded{}, err
	}
	for i, srv := range s.servers {
		srv.SetListing(listings[i])
	}
	before := s.registry.Load()
	registry.NoteRemoved(before)
	s.registry.Store(registry)
	s.reloaded.Store(true)
	s.warn(registry.Warnings, before.Warnings)
	return reloaded{Added: lacking(registry, before), Removed: lacking(before, registry), Total: len(registry.Tools)}, nil
}

// lacking returns the names that one registry has and the other has not.
func lacking(has, other *discover.Registry) []string {
	names := []string{}
	for _, t := range has.Tools {
		if _, ok := other.Lookup(t.Name); !ok {
			names = append(names, t.Name)
		}
	}
	return names
}

// settle lists those servers once more whose tools changed while the others were still starting.
func (s *session) settle() error {
	return s.eachServer(func(_ int, srv *server.Server) error { return srv.FinishStart(s.ctx) })
}

// eachServer does something with all servers at once; every failure is reported.
func (s *session) eachServer(do func(i int, srv *server.Server) error) error {
	failures := make([]error, len(s.servers))
	var wg sync.WaitGroup
	for i, srv := range s.servers {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					failures[i] = fault.Panicked(p)
				}
			}()
			failures[i] = do(i, srv)
		})
	}
	wg.Wait()
	return causes(failures)
}

// register makes a registry of what the servers and all other sources have.
func (s *session) register(listings []*server.Listing) (*discover.Registry, error) {
	var sources []discover.Source
	for i, srv := range s.servers {
		sources = append(sources, discover.Source{
			Source: tool.Source{Kind: tool.FromServer, Name: srv.Name()}, Tools: listings[i].Tools, Registry: listings[i].Registry, Caller: srv,
		})
	}
	sc := s.scope
	return discover.Build(discover.Scope{Driver: sc.Driver.Key, Platform: sc.Driver.Platform, Location: sc.Location},
		append(sources, s.others...), toolsets(s.setup.Project), gate(s.setup.Project, sc))
}

// listings are what the servers have in use.
func (s *session) listings() []*server.Listing {
	out := make([]*server.Listing, len(s.servers))
	for i, srv := range s.servers {
		out[i] = srv.Listing()
	}
	return out
}

// warn says what a registry warns of and has not been said yet.
func (s *session) warn(warnings, said []string) {
	for _, w := range warnings {
		if !slices.Contains(said, w) {
			s.emit.Log("warn", "registry", w, "")
		}
	}
}
