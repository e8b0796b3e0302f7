// Package discover builds the registry of tools for a scope from what sources advertise: it filters the tools, groups
// them into toolsets, and checks arguments against their schemas. It starts nothing and reads no file. A Registry is
// read-only once it is built, so goroutines may share it.
package discover

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Tool is a registered tool.
type Tool struct {
	Name               string
	Description        string
	Source             tool.Source
	InputSchema        json.RawMessage                 `json:",omitempty"` // as advertised, may be nil
	OutputSchema       json.RawMessage                 `json:",omitempty"` // as advertised, may be nil
	Check              func(args map[string]any) error `json:"-"`          // as in tool.Advertised, may be nil
	IsForLLM           bool
	IsRecordable       bool
	IsDelegating       bool // its result may be a list of calls that are made instead
	Coerces            bool // its arguments are coerced to the types of the schema, see Coerced
	RequiresHost       bool
	RequiresContext    bool
	SupportedDrivers   []string
	SupportedPlatforms []string
	Toolsets           []string          // ids of the toolsets that it belongs to, in the order of their definition
	Aliases            map[string]string // names in the schema, by other names that arguments may have; may be nil
	Caller             tool.Caller       `json:"-"`

	ownName               string   // as its source advertises it
	declaredToolsets      []string // trailblaze/toolset, or the groups of its source's registry
	platformsFromRegistry bool     // SupportedPlatforms come from the source's registry, not from _meta
	compile               sync.Once
	checker               *checker // of InputSchema, compiled at the first check; nil when it cannot be used
	parsed                sync.Once
	schema                map[string]any // InputSchema, parsed at the first use; see rootSchema
	outline               sync.Once
	outlineOf             outline // of InputSchema, parsed at the first use
}

// Source is a source of tools: what it advertises, and the Caller of its tools.
type Source struct {
	tool.Source
	Tools    []tool.Advertised
	Registry string // the text of its resource trailblaze://registry; empty without one
	Caller   tool.Caller
	OfKind   func() []string   // returns the names of the tools of all sources of its kind; may be nil
	Rename   map[string]string // the names under which its tools are registered, by the names it advertises
	Exclude  []string          // names and globs of tools that are not registered
	// Unavailable says why tools are not there that trails may call, by name.
	Unavailable map[string]*fault.Error
	Instead     map[string]string // what to use instead of tools that it does not have, by their names
}

// Reason is why a tool is not offered.
type Reason string

// The reasons, in the order in which they are checked.
const (
	ByDriver   Reason = "supportedDrivers"
	ByPlatform Reason = "supportedPlatforms"
	ByHost     Reason = "requiresHost"
	ByToolset  Reason = "toolset"
)

// Skipped is a tool that the scope does not offer. A tool that is skipped ByToolset is registered.
type Skipped struct {
	Name     string
	Source   tool.Source
	Reason   Reason
	Detail   string   // the reason in words
	Toolsets []string // ids of the toolsets it belongs to
	// DeclaredIn says where the filter is declared, for a tool that is not registered.
	DeclaredIn string
}

// Scope is the scope for which tools are filtered.
type Scope struct {
	Driver    string
	Platform  scope.Platform
	AgentMode scope.AgentMode
}

// Registry holds every tool of a session by name.
type Registry struct {
	Tools    []*Tool // registered, sources in order, then as advertised
	Offered  []*Tool // the tools that the scope and its toolsets offer
	Skipped  []Skipped
	Toolsets []Toolset // those of files, then those that tools and registries declare
	Warnings []string
	Wording  fault.Wording // of the hints of Find

	byName  map[string]*Tool
	byID    map[string]int // of Toolsets
	sources []Source
	explain sync.Once
	known   map[string]*fault.Error // why tools that sources know are not registered, set at the first use
	removed map[string]*fault.Error // that a name was known before
}

// NoteRemoved records the tools of an older registry that this one does not have, for the errors of Find. It must be
// called before the registry is shared.
func (r *Registry) NoteRemoved(older *Registry) {
	r.removed = map[string]*fault.Error{}
	for name, err := range older.removed {
		if r.byName[name] == nil {
			r.removed[name] = err
		}
	}
	for _, t := range older.Tools {
		if r.byName[t.Name] == nil {
			r.removed[t.Name] = fault.New(fault.UnknownTool,
				"its server no longer lists it; the result of reloadTools has all changes",
				"tool %q of %s was removed by reloadTools", t.Name, t.Source)
		}
	}
}

// ForAgents returns the offered tools that agents and models are shown: all but those with trailblaze/isForLlm false.
func (r *Registry) ForAgents() []*Tool {
	return slices.DeleteFunc(slices.Clone(r.Offered), func(t *Tool) bool { return !t.IsForLLM })
}

// Lookup returns a registered tool, offered or not.
func (r *Registry) Lookup(name string) (*Tool, bool) {
	t, ok := r.byName[name]
	return t, ok
}

// Find returns a registered tool. Its error names the nearest tools, or why the scope skipped the tool.
func (r *Registry) Find(name string) (*Tool, error) {
	if t, ok := r.byName[name]; ok {
		return t, nil
	}
	for _, s := range r.Skipped {
		if s.Name == name {
			return nil, fault.New(fault.UnknownTool, "use another driver, platform or --agent, or change "+s.DeclaredIn,
				"tool %q of %s is not available here: %s", name, s.Source, s.Detail)
		}
	}
	if err := cmp.Or(r.missing()[name], r.removed[name]); err != nil {
		return nil, err
	}
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	hint := fault.DidYouMeanListed(name, names, r.Wording.ToolsListed())
	return nil, fault.New(fault.UnknownTool, hint, "unknown tool %q", name)
}

// Build filters and registers the tools of the sources and determines which are offered. Its error holds every name
// that is used by more than one tool, once for each two sources.
func Build(sc Scope, sources []Source, toolsets []Toolset, selection Selection) (*Registry, error) {
	r := &Registry{byName: map[string]*Tool{}, sources: sources}
	var same collisions
	var advertised []string
	var groups []group
	var filtered []*Tool
	for _, src := range sources {
		about := r.read(src)
		groups = append(groups, about.groups...)
		src.Tools = r.selectTools(src)
		for _, adv := range src.Tools {
			t := r.describe(src, adv, about.tools[adv.Name])
			advertised = append(advertised, t.Name)
			if skip, out := filter(sc, t); out {
				r.Skipped = append(r.Skipped, skip)
				filtered = append(filtered, t)
				continue
			}
			if first, taken := r.byName[t.Name]; taken && t.overrides(first) {
				r.Tools = slices.DeleteFunc(r.Tools, func(old *Tool) bool { return old == first })
			} else if taken {
				same.add(first, t)
				continue
			}
			r.byName[t.Name] = t
			r.Tools = append(r.Tools, t)
		}
	}
	if err := same.err(); err != nil {
		return nil, err
	}
	r.defineToolsets(toolsets, advertised)
	r.addGroups(groups, toolsetsOfTrailblaze(append(filtered, r.Tools...)))
	r.assignToolsets(filtered)
	r.warnUnknown(toolsets, selection, advertised)
	r.offer(sc, selection)
	return r, nil
}

// overrides reports whether a tool takes the place of another one with its name: a composed tool that of a tool or
// command of this program.
func (t *Tool) overrides(other *Tool) bool {
	return t.Source.Kind == tool.FromComposed && !other.Source.Kind.OfProject()
}

// filter applies the filters by driver, platform and host, in this order.
func filter(sc Scope, t *Tool) (Skipped, bool) {
	skip := Skipped{Name: t.Name, Source: t.Source, DeclaredIn: "the tool's _meta"}
	switch {
	case len(t.SupportedDrivers) > 0 && !slices.Contains(t.SupportedDrivers, sc.Driver):
		skip.Reason = ByDriver
		skip.Detail = fmt.Sprintf("it supports the drivers %s, not %s", strings.Join(t.SupportedDrivers, ", "), sc.Driver)
	case len(t.SupportedPlatforms) > 0 && !containsFold(t.SupportedPlatforms, string(sc.Platform)):
		skip.Reason = ByPlatform
		skip.Detail = fmt.Sprintf("it supports the platforms %s, not %s",
			strings.ToUpper(strings.Join(t.SupportedPlatforms, ", ")), sc.Platform)
		if t.platformsFromRegistry {
			skip.DeclaredIn = "its entry in trailblaze://registry"
		}
	case t.RequiresHost && sc.AgentMode == scope.OnDevice:
		skip.Reason = ByHost
		skip.Detail = "it runs only on the host, not on the device"
	default:
		return Skipped{}, false
	}
	return skip, true
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return strings.EqualFold(e, s) })
}
