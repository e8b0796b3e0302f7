package discover

import (
	"fmt"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/scope"
)

// Toolset is a named group of tools (specification, section 2.3).
type Toolset struct {
	ID            string
	Description   string
	Platforms     []scope.Platform // empty: all
	Drivers       []string         // empty: all
	AlwaysEnabled bool
	Tools         []string // names it pulls in; after Build, everything that belongs to it
	Active        bool     // set by Build: its tools are offered in this scope
}

// Gate is what the target's platform entry says about tools.
type Gate struct {
	ToolSets []string // empty: every registered tool is offered
	Tools    []string
	Excluded []string
}

// offer fills in membership and decides which tools are offered.
func (r *Registry) offer(sc Scope, toolsets []Toolset, gate Gate, advertised map[string]bool) {
	r.Toolsets = withPushed(toolsets, r.Tools)
	r.warnUnknown(gate, advertised)
	for i := range r.Toolsets {
		ts := &r.Toolsets[i]
		wanted := len(gate.ToolSets) == 0 || ts.AlwaysEnabled || slices.Contains(gate.ToolSets, ts.ID)
		ts.Active = wanted && ts.applies(sc)
		for _, name := range ts.Tools {
			if t, ok := r.byName[name]; ok {
				t.Toolsets = append(t.Toolsets, ts.ID)
			}
		}
	}
	for _, t := range r.Tools {
		if why, out := r.gated(t, gate); out {
			r.Skipped = append(r.Skipped, Skipped{Name: t.Name, Source: t.Source, Reason: ByToolset, Detail: why})
			continue
		}
		r.Offered = append(r.Offered, t)
	}
}

// gated says why toolsets keep a registered tool from being offered.
func (r *Registry) gated(t *Tool, gate Gate) (why string, out bool) {
	if slices.Contains(gate.Excluded, t.Name) {
		return "the target's platform excludes it", true
	}
	if len(gate.ToolSets) == 0 || slices.Contains(gate.Tools, t.Name) {
		return "", false
	}
	for _, ts := range r.Toolsets {
		if ts.Active && slices.Contains(ts.Tools, t.Name) {
			return "", false
		}
	}
	if len(t.Toolsets) == 0 {
		return "it is in no toolset, and the target's platform lists tool_sets", true
	}
	return fmt.Sprintf("none of its toolsets %q is enabled for this scope", t.Toolsets), true
}

func (ts Toolset) applies(sc Scope) bool {
	return (len(ts.Platforms) == 0 || slices.Contains(ts.Platforms, sc.Platform)) &&
		(len(ts.Drivers) == 0 || slices.Contains(ts.Drivers, sc.Driver))
}

// withPushed adds the tools that name a toolset themselves; a toolset nobody defined is created for them.
func withPushed(defined []Toolset, tools []*Tool) []Toolset {
	sets := make([]Toolset, len(defined))
	for i, ts := range defined {
		ts.Tools = slices.Clone(ts.Tools)
		sets[i] = ts
	}
	for _, t := range tools {
		if t.pushedTo == "" {
			continue
		}
		i := slices.IndexFunc(sets, func(ts Toolset) bool { return ts.ID == t.pushedTo })
		if i < 0 {
			sets = append(sets, Toolset{ID: t.pushedTo})
			i = len(sets) - 1
		}
		if !slices.Contains(sets[i].Tools, t.Name) {
			sets[i].Tools = append(sets[i].Tools, t.Name)
		}
	}
	return sets
}

func (r *Registry) warnUnknown(gate Gate, advertised map[string]bool) {
	for _, ts := range r.Toolsets {
		for _, name := range ts.Tools {
			if !advertised[name] {
				r.warnf("toolset %q names the tool %q, which no source provides", ts.ID, name)
			}
		}
	}
	for _, name := range slices.Concat(gate.Tools, gate.Excluded) {
		if !advertised[name] {
			r.warnf("the target's platform names the tool %q, which no source provides", name)
		}
	}
	for _, id := range gate.ToolSets {
		if !slices.ContainsFunc(r.Toolsets, func(ts Toolset) bool { return ts.ID == id }) {
			r.warnf("tool_sets names %q, which no toolset file and no tool defines", id)
		}
	}
}

func (r *Registry) warnf(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
