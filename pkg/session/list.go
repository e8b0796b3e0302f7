package session

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// ListTools starts the servers of a scope, registers their tools and stops them again. The device is not started.
func ListTools(ctx context.Context, setup Setup, sc scope.Scope, device Device) (*discover.Registry, error) {
	id := NewID("listing", setup.Now())
	s, err := open(ctx, Options{Setup: setup, Scope: sc, Device: device, ID: id, Emit: setup.Stream.Session(id, "", nil)}, true)
	if err != nil {
		return nil, err
	}
	s.Close(ctx)
	return s.Registry(), nil
}

// CountTools starts one server, lists it and stops it again; it returns how many tools the server has. Targets and
// toolsets of the project do not matter for it.
func CountTools(ctx context.Context, setup Setup, sc scope.Scope, entry config.Server) (int, error) {
	project := *setup.Project
	project.Servers, project.Targets, project.Toolsets = []config.Server{entry}, nil, nil
	setup.Project, setup.Builtins = &project, nil
	registry, err := ListTools(ctx, setup, sc, Device{})
	if err != nil {
		return 0, err
	}
	tools := 0
	for _, t := range registry.Tools {
		if t.Source.Kind == tool.FromServer {
			tools++
		}
	}
	for _, skipped := range registry.Skipped {
		if skipped.Reason != discover.ByToolset { // those are registered too
			tools++
		}
	}
	return tools, nil
}
