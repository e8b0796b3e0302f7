package run

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// misfit is a recorded call that the registered tools cannot take, with the step it stands in.
type misfit struct {
	problem fault.Problem
	step    step
	tool    string
}

// checkCalls holds the calls of every step against the registered tools, before the first one is sent. Calls behind one of
// reloadTools meet tools that nobody knows yet; they are checked at their turn. A dry run, in which it never comes, checks those
// whose tools are known today, and counts the others as unknown.
func checkCalls(registry *discover.Registry, p *plan, dry bool) (out []misfit, unknown int) {
	reloaded := false
	for _, st := range p.steps {
		for _, call := range st.calls {
			at := fault.Problem{Kind: fault.Trail, File: p.path, Line: call.Line, Column: call.Column}
			t, err := registry.Find(call.Tool)
			if err != nil && reloaded {
				unknown++
				continue
			}
			if err != nil {
				at.Message, at.Hint = err.Error(), hintOf(err)
				out = append(out, misfit{at, st, call.Tool})
				continue
			}
			for _, problem := range unfit(t, call.Args) {
				at.Message, at.Hint = fmt.Sprintf("%s: %s", call.Tool, problem.Message), problem.Hint
				out = append(out, misfit{at, st, call.Tool})
			}
			reloaded = reloaded || call.Tool == reloadTools
			if reloaded && !dry {
				return out, 0
			}
		}
	}
	return out, unknown
}

// argumentsWrong is the verdict on calls that do not fit: the trail failed, at the first of them, and all are listed.
func (r *runner) argumentsWrong(misfits []misfit) verdict {
	problems := make(fault.Problems, len(misfits))
	for i, m := range misfits {
		problems[i] = m.problem
	}
	at := misfits[0]
	v := failed(r.withSnippets(at.problem.File, problems))
	return v.at(at.step.index, at.step.Text, at.tool, at.problem.Line)
}

// withSnippets shows the lines that the problems of a trail are about, as far as the file still says.
func (r *runner) withSnippets(path string, problems fault.Problems) fault.Problems {
	data, err := os.ReadFile(r.resolve(path))
	if err != nil {
		return problems
	}
	return trail.WithSnippets(problems, data)
}

// listing is a scope's registry, or why there is none.
type listing struct {
	registry *discover.Registry
	err      error
}

// dryRun does everything but the calls: servers start and list, once for every scope, and arguments are checked.
func (r *runner) dryRun(ctx context.Context, p *plan) verdict {
	key := strings.Join([]string{p.lane.name, p.scope.Target.ID, p.scope.Driver.Key, string(p.scope.Location)}, "\x00")
	once, _ := r.listings.LoadOrStore(key, sync.OnceValue(func() (l listing) {
		l.registry, l.err = List(ctx, p.lane.setup, p.scope)
		return l
	}))
	l := once.(func() listing)() //nolint:errcheck,forcetypeassert // nothing else is stored
	if l.err != nil {
		return broken(first(outside(ctx), l.err)).once()
	}
	misfits, unknown := checkCalls(l.registry, p, true)
	if len(misfits) > 0 {
		return r.argumentsWrong(misfits).once()
	}
	v := passed()
	if unknown > 0 {
		calls := "1 call"
		if unknown > 1 {
			calls = fmt.Sprintf("%d calls", unknown)
		}
		v.reason = calls + " behind reloadTools not checked: no source has the tool yet"
	}
	return v
}

// List starts the servers of a scope, registers their tools and stops them again.
func List(ctx context.Context, setup Setup, sc scope.Scope) (*discover.Registry, error) {
	id := newSessionID("listing", setup.Now())
	s, err := openSession(ctx, setup, sc, opening{id: id, emit: setup.Stream.Session(id, "", nil), listOnly: true})
	if err != nil {
		return nil, err
	}
	s.close(ctx)
	return s.registry.Load(), nil
}

// Probe starts one server, lists it and stops it again; it returns how many tools it has. Which target the server is for does
// not matter here, so a scope that stays open is filled with whatever drives a device.
func Probe(ctx context.Context, setup Setup, entry config.Server) (tools int, err error) {
	sc, err := scope.Resolve(setup.Request)
	if err != nil {
		sc = scope.Scope{Driver: scope.DefaultDriver(scope.Web), Location: scope.Host}
	}
	project := *setup.Project
	project.Servers, project.Targets, project.Toolsets = []config.Server{entry}, nil, nil
	setup.Project, setup.Builtins, setup.Devices = &project, nil, nil
	registry, err := List(ctx, setup, sc)
	if err != nil {
		return 0, err
	}
	for _, t := range registry.Tools {
		if t.Source.Kind == tool.FromServer {
			tools++
		}
	}
	for _, skipped := range registry.Skipped {
		if skipped.Reason != discover.ByToolset { // or it is registered
			tools++
		}
	}
	return tools, nil
}
