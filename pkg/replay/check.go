package replay

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// CheckTarget reports a config.target that is neither the id of a target nor one of its app ids. Without any target
// file and without a default it accepts any target.
func CheckTarget(project *config.Project, file *trail.File) (problem fault.Problem, wrong bool) {
	var ids, apps []string
	for _, t := range project.Targets {
		ids = append(ids, t.ID)
		for _, platform := range t.PlatformOrder {
			apps = append(apps, t.Platforms[platform].AppIDs...)
		}
	}
	if project.Target != "" && !slices.Contains(ids, project.Target) {
		ids = append(ids, project.Target)
	}
	name := file.Config.Target
	if name == "" || len(ids) == 0 || slices.Contains(ids, name) || slices.Contains(apps, name) {
		return fault.Problem{}, false
	}
	return file.TargetProblem(fault.DidYouMean(name, ids), "unknown target %q: no target has this id or app id", name), true
}

// Checker finds what is wrong with trails before they are replayed, on every device.
type Checker struct {
	Project *config.Project
	Loader  trail.Loader
	Names   []string // of the values that a replay gets beside those of the project's secrets
	Tools   trail.Tools
}

// Check returns the problems of the trail at an absolute path, with snippets, and its warnings. Both call it name.
func (c Checker) Check(name, path string) (problems, warnings fault.Problems) {
	file, problems := c.Loader.Load(name, path)
	if file == nil {
		return c.Loader.WithSnippets(problems), nil
	}
	problems = file.CheckReplay(slices.Concat(c.Names, c.Project.SecretNames), c.Tools)
	if problem, wrong := CheckTarget(c.Project, file); wrong {
		problems = append(problems, problem)
	}
	return c.Loader.WithSnippets(problems), append(slices.Clip(file.Warnings()), modelWarnings(name, file)...)
}

// modelWarnings warns of the calls in a trail that ask a model.
func modelWarnings(name string, file *trail.File) (warnings fault.Problems) {
	for _, s := range file.StepsAndTeardown() {
		for _, recorded := range s.Recording {
			for _, call := range recorded.Calls {
				if call.Tool == tool.AssertWithModel {
					warnings = append(warnings, fault.Problem{
						Kind: fault.Trail, File: name, Line: call.Line, Column: call.Column,
						Message: tool.AssertWithModel + " asks a model on every run",
					})
				}
			}
		}
	}
	return warnings
}

// CallProblem is a recorded call that cannot be made as it is, with the step that has it.
type CallProblem struct {
	fault.Problem
	Step *Step
	Tool string // of the call; empty for the arguments of a trail that the step uses
	Call int    // its number in the step, from 1; 0 if Tool is empty
}

// Problems returns what is wrong with calls, without the steps.
func Problems(calls []CallProblem) fault.Problems {
	problems := make(fault.Problems, len(calls))
	for i, c := range calls {
		problems[i] = c.Problem
	}
	return problems
}

// Check validates the calls of every step against the registered tools, before the first one is sent. Calls after one
// of reloadTools may name tools that are not registered yet; they are validated at their turn. A dry run never gets
// there, so it validates those whose tools are registered, and counts the others as unknown.
func (p *Plan) Check(registry *discover.Registry, dry bool) (out []CallProblem, unknown int) {
	reloaded := false
	for st, i := range p.calls() {
		call := st.Calls[i]
		t, err := registry.Find(call.Tool)
		if err != nil && reloaded {
			unknown++
			continue
		}
		if err != nil {
			out = append(out, callProblem(session.UnknownTool(err, call), st, call.Tool, i))
			continue
		}
		for _, problem := range session.CallProblems(t, call) {
			out = append(out, callProblem(problem, st, call.Tool, i))
		}
		reloaded = reloaded || call.Tool == tool.ReloadTools
		if reloaded && !dry {
			return out, 0
		}
	}
	return out, unknown
}

// Misspelt returns the arguments that are probably misspelt, each at its position.
func (p *Plan) Misspelt(registry *discover.Registry) fault.Problems {
	var out fault.Problems
	for st, i := range p.calls() {
		t, ok := registry.Lookup(st.Calls[i].Tool)
		if !ok {
			continue
		}
		for _, problem := range t.MisspeltArgs(st.Calls[i].Args) {
			at := fault.Problem{File: st.File.Name, Message: problem.Message}
			at.Line, at.Column = st.Calls[i].ArgPosition(problem.Path)
			out = append(out, at)
		}
	}
	return out
}

// Undefined returns the tokens in the calls of every step that have no value in a session that starts with values, as
// far as that is known before the calls are made.
func (p *Plan) Undefined(registry *discover.Registry, values *trail.Values) []CallProblem {
	fromServer := func(name string) bool {
		t, ok := registry.Lookup(name)
		return !ok || t.Source.Kind.OfProject()
	}
	return undefinedInSteps(trail.NewValueChecker(values), slices.Concat(p.Steps, p.Teardown), fromServer)
}

func undefinedInSteps(checker *trail.ValueChecker, steps []*Step, fromServer func(tool string) bool) []CallProblem {
	var out []CallProblem
	for _, st := range steps {
		if st.Skip != "" {
			continue
		}
		if st.Use != nil {
			leave, problems := checker.Enter(st.Use)
			if st.ifUsed { // it gets the arguments that the trail had
				problems = nil
			}
			for _, problem := range problems {
				out = append(out, callProblem(problem, st, "", -1))
			}
			out = append(out, undefinedInSteps(checker, st.Inner, fromServer)...)
			leave()
			continue
		}
		if st.NeedsAgent {
			checker.DefineAny()
		}
		for i, call := range st.Calls {
			out = append(out, undefinedIn(checker, st, call, i)...)
			checker.DefineByTool(call, fromServer(call.Tool))
		}
	}
	return out
}

// undefinedIn returns the tokens in a call of a step that have no value, each at its position.
func undefinedIn(checker *trail.ValueChecker, st *Step, call trail.Call, index int) []CallProblem {
	var out []CallProblem
	for _, problem := range checker.Check(call) {
		out = append(out, callProblem(problem, st, call.Tool, index))
	}
	return out
}

func callProblem(problem fault.Problem, st *Step, toolName string, index int) CallProblem {
	problem.File = st.File.Name
	return CallProblem{problem, st, toolName, index + 1}
}
