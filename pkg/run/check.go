package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// callProblem is a recorded call that the registered tools cannot take, with the step that has it.
type callProblem struct {
	problem fault.Problem
	step    *step
	tool    string
}

// checkCalls validates the calls of every step against the registered tools, before the first one is sent. Calls after
// one of reloadTools may name tools that are not registered yet; they are validated at their turn. A dry run never gets
// there, so it validates those whose tools are registered, and counts the others as unknown.
func checkCalls(registry *discover.Registry, p *plan, dry bool) (out []callProblem, unknown int) {
	reloaded := false
	for st := range p.leaves() {
		for _, call := range st.calls {
			t, err := registry.Find(call.Tool)
			if err != nil && reloaded {
				unknown++
				continue
			}
			if err != nil {
				out = append(out, callProblem{fault.Problem{
					Kind: fault.Trail, File: st.file.Name, Line: call.Line, Column: call.Column, Message: err.Error(), Hint: session.Hint(err),
				}, st, call.Tool})
				continue
			}
			for _, problem := range session.CallProblems(t, call) {
				problem.File = st.file.Name
				out = append(out, callProblem{problem, st, call.Tool})
			}
			reloaded = reloaded || call.Tool == session.ReloadTools
			if reloaded && !dry {
				return out, 0
			}
		}
	}
	return out, unknown
}

// undefinedValues returns the tokens in the calls of a dry run that have no value.
func (r *runner) undefinedValues(registry *discover.Registry, p *plan) []callProblem {
	checker := trail.NewValueChecker(r.values(p))
	fromServer := func(name string) bool {
		t, ok := registry.Lookup(name)
		return !ok || t.Source.Kind == tool.FromServer
	}
	return undefinedInSteps(checker, slices.Concat(p.steps, p.teardown), fromServer)
}

func undefinedInSteps(checker *trail.ValueChecker, steps []*step, fromServer func(tool string) bool) []callProblem {
	var out []callProblem
	for _, st := range steps {
		if st.Use != nil {
			leave, problems := checker.Enter(st.Use)
			for _, problem := range problems {
				problem.File = st.file.Name
				out = append(out, callProblem{problem, st, ""})
			}
			out = append(out, undefinedInSteps(checker, st.inner, fromServer)...)
			leave()
			continue
		}
		if st.needsAgent {
			checker.DefineAny()
		}
		for _, call := range st.calls {
			out = append(out, undefinedIn(checker, st, call)...)
			checker.DefineByTool(call, fromServer(call.Tool))
		}
	}
	return out
}

// warnMisspelt logs the arguments that are probably misspelt, once for each call of a trail file.
func (r *runner) warnMisspelt(registry *discover.Registry, p *plan, emit *event.Emitter) {
	for st := range p.leaves() {
		for _, call := range st.calls {
			t, ok := registry.Lookup(call.Tool)
			if !ok {
				continue
			}
			for _, problem := range t.MisspeltArgs(call.Args) {
				at := fault.Problem{File: st.file.Name, Message: problem.Message}
				at.Line, at.Column = call.ArgPosition(problem.Path)
				if _, warned := r.warned.LoadOrStore(at.Error(), true); !warned {
					emit.Log("warn", "run", at.Error(), "")
				}
			}
		}
	}
}

// undefinedIn returns the tokens in a call of a step that have no value, each at its position.
func undefinedIn(checker *trail.ValueChecker, st *step, call trail.Call) []callProblem {
	var out []callProblem
	for _, problem := range checker.Check(call) {
		problem.File = st.file.Name
		out = append(out, callProblem{problem, st, call.Tool})
	}
	return out
}

// invalidCalls returns the result of a trail with calls that the tools cannot take: it failed at the first of them, and
// all are listed.
func (r *runner) invalidCalls(calls []callProblem) trailResult {
	problems := make(fault.Problems, len(calls))
	for i, c := range calls {
		problems[i] = c.problem
	}
	first := calls[0]
	top, line := first.step.top(), first.problem.Line
	res := failed(r.loader().WithSnippets(problems))
	if top != first.step {
		res.used = &event.Position{File: first.problem.File, Line: line}
		line = top.Line
	}
	return res.at(top.index, top.Text, first.tool, line)
}

// listing is the registry of a scope, or why there is none.
type listing struct {
	registry *discover.Registry
	err      error
}

// dryRun does everything but the calls: servers are started and listed, once for every scope, and calls are validated.
func (r *runner) dryRun(ctx context.Context, p *plan, emit *event.Emitter) trailResult {
	key := strings.Join([]string{p.device.Name, p.scope.Target.ID, p.scope.Driver.Key, string(p.scope.Location)}, "\x00")
	once, _ := r.listings.LoadOrStore(key, sync.OnceValue(func() (l listing) {
		l.registry, l.err = session.List(ctx, r.Setup, p.scope, p.device.Device.Device)
		return l
	}))
	l := once.(func() listing)() //nolint:errcheck,forcetypeassert // nothing else is stored
	if l.err != nil {
		return errored(cmp.Or(session.Interruption(ctx), l.err)).asFinal()
	}
	r.warnMisspelt(l.registry, p, emit)
	problems, unknown := checkCalls(l.registry, p, true)
	problems = append(problems, r.undefinedValues(l.registry, p)...)
	if len(problems) > 0 {
		return r.invalidCalls(problems).asFinal()
	}
	res := passed()
	if unknown > 0 {
		calls := "1 call"
		if unknown > 1 {
			calls = fmt.Sprintf("%d calls", unknown)
		}
		res.Reason = calls + " after reloadTools not checked: no source has the tool yet"
	}
	return res
}
