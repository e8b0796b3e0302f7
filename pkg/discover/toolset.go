package discover

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Toolset is a named group of tools.
type Toolset struct {
	ID            string
	Description   string
	Platforms     []scope.Platform // empty: all
	Drivers       []string         // empty: all
	AlwaysEnabled bool
	Partial       bool     // not all of its tools need to exist
	OffByDefault  bool     // offered only when tool_sets names it
	Tools         []string // the names and globs in its file; after Build, all tools that belong to it
	Enabled       bool     // set by Build: its tools are offered in this scope
}

// coreInteraction is another name of the toolset of the device's commands in tool_sets, unless a file defines it.
const coreInteraction, deviceToolset = "core_interaction", "device"

// Selection is the selection of tools in a target's platform entry.
type Selection struct {
	ToolSets []string // empty: all but those that are off by default
	Tools    []string // names and globs
	Excluded []string // names and globs
}

// offer determines which tools are offered.
func (r *Registry) offer(sc Scope, selection Selection) {
	if _, defined := r.byID[coreInteraction]; !defined && slices.Contains(selection.ToolSets, coreInteraction) {
		selection.ToolSets = append(slices.Clip(selection.ToolSets), deviceToolset)
	}
	for i := range r.Toolsets {
		ts := &r.Toolsets[i]
		ts.Enabled = ts.enabled(selection) && ts.applies(sc)
	}
	for _, t := range r.Tools {
		if why, out := r.excludedBy(t, selection); out {
			r.Skipped = append(r.Skipped, Skipped{
				Name: t.Name, Source: t.Source, Reason: ByToolset, Detail: why,
				Toolsets: t.Toolsets,
			})
			continue
		}
		r.Offered = append(r.Offered, t)
	}
}

// excludedBy reports whether toolsets exclude a registered tool from the offered ones, and why.
func (r *Registry) excludedBy(t *Tool, selection Selection) (why string, out bool) {
	if matchesAny(selection.Excluded, t.Name) {
		return "the target's platform excludes it", true
	}
	if matchesAny(selection.Tools, t.Name) {
		return "", false
	}
	var off []string
	for _, id := range t.Toolsets {
		switch ts := r.toolset(id); {
		case ts.Enabled:
			return "", false
		case !ts.enabled(selection):
			off = append(off, ts.ID)
		}
	}
	switch {
	case len(selection.ToolSets) == 0 && len(off) == 0:
		return "", false
	case len(selection.ToolSets) == 0 && len(off) == 1:
		return fmt.Sprintf("its group %q is not enabled by default; name it in tool_sets", off[0]), true
	case len(selection.ToolSets) == 0:
		return fmt.Sprintf("its groups %s are not enabled by default; name one of them in tool_sets", quoteList(off)), true
	case len(t.Toolsets) == 0:
		return "it is not in a toolset, and the target's platform lists tool_sets", true
	}
	if len(t.Toolsets) == 1 {
		return fmt.Sprintf("its toolset %q is not enabled for this scope", t.Toolsets[0]), true
	}
	return fmt.Sprintf("none of its toolsets %s is enabled for this scope", quoteList(t.Toolsets)), true
}

func quoteList(names []string) string { return strings.Join(text.Quote(names), ", ") }

// enabled reports whether the target's platform selects a toolset.
func (ts Toolset) enabled(selection Selection) bool {
	return ts.AlwaysEnabled || slices.Contains(selection.ToolSets, ts.ID) || len(selection.ToolSets) == 0 &&
		!ts.OffByDefault
}

func (ts Toolset) applies(sc Scope) bool {
	return (len(ts.Platforms) == 0 || slices.Contains(ts.Platforms, sc.Platform)) &&
		(len(ts.Drivers) == 0 || slices.Contains(ts.Drivers, sc.Driver))
}

// toolsetsOfTrailblaze returns the ids of the toolsets that built-in tools and device commands declare.
func toolsetsOfTrailblaze(tools []*Tool) map[string]bool {
	ids := map[string]bool{}
	for _, t := range tools {
		for _, id := range t.declaredToolsets {
			ids[id] = ids[id] || t.Source.Kind != tool.FromServer
		}
	}
	return ids
}

// defineToolsets adds the toolsets that files define.
func (r *Registry) defineToolsets(toolsets []Toolset, advertised []string) {
	r.byID = map[string]int{}
	for _, ts := range toolsets {
		ts.Tools = expand(ts.Tools, advertised)
		*r.toolset(ts.ID) = ts
	}
}

// toolset returns the toolset with an id, creating it when there is none. The pointer is valid until another toolset is
// created.
func (r *Registry) toolset(id string) *Toolset {
	i, ok := r.byID[id]
	if !ok {
		i = len(r.Toolsets)
		r.byID[id] = i
		r.Toolsets = append(r.Toolsets, Toolset{ID: id})
	}
	return &r.Toolsets[i]
}

// assignToolsets adds tools to the toolsets that they declare, and sets the toolsets of every tool. Tools that the
// scope filters out create the toolsets that they declare, too, so that there is no warning about an unknown toolset.
func (r *Registry) assignToolsets(filtered []*Tool) {
	for _, t := range r.Tools {
		for _, id := range t.declaredToolsets {
			if ts := r.toolset(id); !slices.Contains(ts.Tools, t.Name) {
				ts.Tools = append(ts.Tools, t.Name)
			}
		}
	}
	for _, t := range filtered {
		for _, id := range t.declaredToolsets {
			r.toolset(id)
		}
	}
	of := map[string][]string{}
	for _, ts := range r.Toolsets {
		for _, name := range ts.Tools {
			of[name] = append(of[name], ts.ID)
		}
	}
	for _, t := range r.Tools {
		t.Toolsets = of[t.Name]
	}
	for i, t := range filtered {
		r.Skipped[i].Toolsets = distinct(slices.Concat(of[t.Name], t.declaredToolsets))
	}
}

// warnUnknown warns of names of tools and toolsets that nothing defines.
func (r *Registry) warnUnknown(toolsets []Toolset, selection Selection, advertised []string) {
	slices.Sort(advertised)
	for _, ts := range toolsets {
		if ts.Partial {
			continue
		}
		for _, pattern := range ts.Tools {
			r.warnUnmatched(fmt.Sprintf("toolset %q", ts.ID), pattern, advertised)
		}
	}
	for _, pattern := range slices.Concat(selection.Tools, selection.Excluded) {
		r.warnUnmatched("the target's platform", pattern, advertised)
	}
	for _, id := range selection.ToolSets {
		if _, ok := r.byID[id]; !ok && id != coreInteraction {
			r.warnf("tool_sets names the unknown toolset %q%s", id, didYouMean(id, slices.Sorted(maps.Keys(r.byID))))
		}
	}
}

// didYouMean returns the end of a message about an unknown name.
func didYouMean(name string, known []string) string {
	if near := fault.Nearest(name, known); len(near) > 0 {
		return fmt.Sprintf("; did you mean %q?", near[0])
	}
	return ""
}

func (r *Registry) warnf(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
