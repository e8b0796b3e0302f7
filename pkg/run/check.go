package run

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// warnMisspelt logs the arguments that are probably misspelt, once for each call of a trail file.
func (r *runner) warnMisspelt(registry *discover.Registry, p *plan, emit *event.Emitter) {
	for _, at := range p.Misspelt(registry) {
		if _, warned := r.warned.LoadOrStore(at.Error(), true); !warned {
			emit.Log("warn", "run", at.Error(), "")
		}
	}
}

// invalidCalls returns the result of a trail with calls that the tools cannot take: it failed at the first of them, and
// all are listed.
func (r *runner) invalidCalls(calls []replay.CallProblem) trailResult {
	first := calls[0]
	top, line := first.Step.Top(), first.Line
	res := failed(r.loader().WithSnippets(replay.Problems(calls)))
	if top != first.Step {
		res.used = &event.Position{File: first.File, Line: line}
		line = top.Line
	}
	return res.at(top.Index, top.Text, first.Tool, line)
}

// listing is the registry of a scope, or why there is none.
type listing struct {
	registry *discover.Registry
	err      error
}

// dryRun does everything but the calls: servers are started and listed, once for every scope, and calls are validated.
func (r *runner) dryRun(ctx context.Context, p *plan, emit *event.Emitter) trailResult {
	key := strings.Join([]string{p.device.Name, p.scope.Target.ID, p.scope.Driver.Key, string(p.scope.AgentMode)}, "\x00")
	once, _ := r.listings.LoadOrStore(key, sync.OnceValue(func() (l listing) {
		l.registry, l.err = session.ListTools(ctx, r.Setup, p.scope, p.device.Device)
		return l
	}))
	l := once.(func() listing)() //nolint:errcheck,forcetypeassert // nothing else is stored
	if l.err != nil {
		return errored(cmp.Or(session.Interruption(ctx), l.err)).asFinal()
	}
	r.warnMisspelt(l.registry, p, emit)
	problems, unknown := p.Check(l.registry, true)
	problems = append(problems, p.Undefined(l.registry, r.values(p))...)
	if len(problems) > 0 {
		return r.invalidCalls(problems).asFinal()
	}
	res := passed()
	if unknown > 0 {
		res.Reason = text.Count(unknown, "call") + " after reloadTools not checked: no source has the tool yet"
	}
	return res
}
