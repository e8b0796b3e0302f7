// Package discover turns what sources advertise into one registry for a scope: filtered with reasons, named exactly as
// advertised, grouped into toolsets. Data in, data out: it starts nothing and reads no file. A Registry is built once and
// read-only afterwards, so it may be shared between goroutines.
package discover

import (
	"cmp"
	"encoding/json"
	"errors"
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
	InputSchema        json.RawMessage // as advertised, may be nil
	IsForLLM           bool
	IsRecordable       bool
	IsDelegating       bool // its result may be a list of calls to make in its place
	RequiresHost       bool
	RequiresContext    bool
	SupportedDrivers   []string
	SupportedPlatforms []string
	Toolsets           []string // ids of the toolsets it belongs to, in the order they are defined
	Caller             tool.Caller

	pushedTo  []string // trailblaze/toolset, or the groups of its source's registry
	listedFor bool     // it is its source's registry that says the platforms, not its _meta
	compile   sync.Once
	checker   *checker // of InputSchema, compiled at the first check; nil when it cannot be used
	outline   sync.Once
	outlineOf outline // of InputSchema, read when it is first asked for
}

// Source is everything one contributor advertises, with what runs its tools.
type Source struct {
	tool.Source
	Tools    []tool.Advertised
	Registry string // text of the resource trailblaze://registry as the source gave it; empty without one
	Caller   tool.Caller
	Missing  []string // names that others of its kind have
}

// Reason says why a tool is not offered.
type Reason string

// The reasons of section 10.1 of the specification, in the order in which they are looked at.
const (
	ByDriver   Reason = "supportedDrivers"
	ByPlatform Reason = "supportedPlatforms"
	ByHost     Reason = "requiresHost"
	ByToolset  Reason = "toolset"
)

// Skipped is a tool that this scope does not offer. One skipped ByToolset is registered all the same.
type Skipped struct {
	Name     string
	Source   tool.Source
	Reason   Reason
	Detail   string   // what the tool wants, for people
	Toolsets []string // ids of the toolsets it belongs to

	saidIn string // the place that says so, of a tool that is not registered
}

// Scope is what the filters look at.
type Scope struct {
	Driver   string
	Platform scope.Platform
	Location scope.Location
}

// Registry is every tool of a session under its advertised name.
type Registry struct {
	Tools    []*Tool // registered, sources in order, then as advertised
	Offered  []*Tool // the ones an agent is shown
	Skipped  []Skipped
	Toolsets []Toolset // defined and pushed
	Warnings []string

	byName  map[string]*Tool
	byID    map[string]int   // of Toolsets
	lacking map[string]error // why a name that is known elsewhere is not here
	removed map[string]error // that a name was known before
}

// NoteRemoved notes which names an older registry knew that this one does not know, so that Find can say so. It is to be called before
// others see the registry.
func (r *Registry) NoteRemoved(older *Registry) {
	r.removed = map[string]error{}
	for name, err := range older.removed {
		if r.byName[name] == nil {
			r.removed[name] = err
		}
	}
	for _, t := range older.Tools {
		if r.byName[t.Name] == nil {
			r.removed[t.Name] = fault.New(fault.UnknownTool, "its server no longer lists it; what reloadTools answered says what else changed",
				"tool %q of %s was removed when reloadTools listed it again", t.Name, t.Source)
		}
	}
}

// Lookup returns a registered tool, offered or not.
func (r *Registry) Lookup(name string) (*Tool, bool) {
	t, ok := r.byName[name]
	return t, ok
}

// Find returns a registered tool or an error with the nearest names, or why the scope skipped it.
func (r *Registry) Find(name string) (*Tool, error) {
	if t, ok := r.byName[name]; ok {
		return t, nil
	}
	for _, s := range r.Skipped {
		if s.Name == name {
			return nil, fault.New(fault.UnknownTool, "choose another driver, platform or agent mode, or change "+s.saidIn,
				"tool %q of %s is not available here: %s", name, s.Source, s.Detail)
		}
	}
	if err := cmp.Or(r.lacking[name], r.removed[name]); err != nil {
		return nil, err
	}
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	hint := fault.DidYouMean(name, names)
	if hint == "" {
		hint = "`trailblaze toolbox list` shows every tool of a scope"
	}
	return nil, fault.New(fault.UnknownTool, hint, "no source provides a tool named %q", name)
}

// Build filters and registers what the sources advertise and works out what is offered. Names that more than one source
// claims are reported together.
func Build(sc Scope, sources []Source, toolsets []Toolset, gate Selection) (*Registry, error) {
	r := &Registry{byName: map[string]*Tool{}, lacking: map[string]error{}}
	var collisions []error
	advertised := map[string]bool{}
	var groups []group
	var filtered []*Tool
	for _, src := range sources {
		about := r.read(src)
		groups = append(groups, about.groups...)
		for _, name := range src.Missing {
			r.lacking[name] = src.lacks(name)
		}
		for _, adv := range src.Tools {
			advertised[adv.Name] = true
			t := r.describe(src, adv, about.tools[adv.Name])
			if skip, out := filter(sc, t); out {
				r.Skipped = append(r.Skipped, skip)
				filtered = append(filtered, t)
				continue
			}
			if first, taken := r.byName[t.Name]; taken {
				collisions = append(collisions, collision(first, t))
				continue
			}
			r.byName[t.Name] = t
			r.Tools = append(r.Tools, t)
		}
	}
	if err := errors.Join(collisions...); err != nil {
		return nil, err
	}
	r.define(toolsets)
	r.addGroups(groups, ours(append(filtered, r.Tools...)))
	r.join(filtered)
	r.warnUnknown(gate, advertised)
	r.offer(sc, gate)
	return r, nil
}

// lacks explains that a source has not what others of its kind have.
func (s Source) lacks(name string) error {
	if len(s.Tools) == 0 {
		return fault.New(fault.UnknownTool, "choose a driver that this version can drive, or leave such calls to a tool server",
			"%q is a command of devices, and this version has none for %s", name, s.Name)
	}
	has := make([]string, len(s.Tools))
	for i, t := range s.Tools {
		has[i] = t.Name
	}
	return fault.New(fault.UnknownTool, "record the step for this platform", "%s has no command %q; it has %s", s.Source, name, strings.Join(has, ", "))
}

func collision(a, b *Tool) error {
	where := fmt.Sprintf("%s and %s", a.Source, b.Source)
	if a.Source == b.Source {
		where = "twice in " + a.Source.String()
	}
	return &fault.Error{
		Kind:    fault.Registration,
		Message: fmt.Sprintf("tool name %q is taken by more than one source: %s", a.Name, where),
		Hint:    "rename one of them; tools are registered under exactly the name they advertise",
		Details: map[string]any{"tool": a.Name, "sources": []tool.Source{a.Source, b.Source}},
	}
}

// filter applies the three filters in their order (specification, section 6).
func filter(sc Scope, t *Tool) (Skipped, bool) {
	skip := Skipped{Name: t.Name, Source: t.Source, saidIn: "the tool's _meta"}
	switch {
	case len(t.SupportedDrivers) > 0 && !slices.Contains(t.SupportedDrivers, sc.Driver):
		skip.Reason = ByDriver
		skip.Detail = fmt.Sprintf("it supports the drivers %s, this is %s", strings.Join(t.SupportedDrivers, ", "), sc.Driver)
	case len(t.SupportedPlatforms) > 0 && !containsFold(t.SupportedPlatforms, string(sc.Platform)):
		skip.Reason = ByPlatform
		skip.Detail = fmt.Sprintf("it supports the platforms %s, this is %s", strings.ToUpper(strings.Join(t.SupportedPlatforms, ", ")), sc.Platform)
		if t.listedFor {
			skip.saidIn = "its entry in trailblaze://registry"
		}
	case t.RequiresHost && sc.Location == scope.OnDevice:
		skip.Reason = ByHost
		skip.Detail = "it needs the host, this is on-device mode"
	default:
		return Skipped{}, false
	}
	return skip, true
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return strings.EqualFold(e, s) })
}
