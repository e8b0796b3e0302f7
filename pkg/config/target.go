package config

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

func (l *loader) target(path string, n yamldoc.Node) {
	t := Target{File: path, Platforms: map[scope.Platform]PlatformConfig{}}
	var idAt yamldoc.Node
	var servers []name
	n.Fields(map[string]func(yamldoc.Node){
		"id":          func(n yamldoc.Node) { t.ID, idAt = text(n), n },
		"displayName": func(n yamldoc.Node) { t.DisplayName = n.Str() },
		"mcpServers":  func(n yamldoc.Node) { t.Servers, servers = l.servers(path, n) },
		"platforms":   func(n yamldoc.Node) { l.platforms(&t, n) },
	})
	t.Line = idAt.Line()
	checkID(path, n, idAt, t.ID)
	l.project.Targets = append(l.project.Targets, t)
	l.targetServers = append(l.targetServers, servers)
	l.targetIDs = append(l.targetIDs, name{t.ID, l.rel(path), idAt})
}

func (l *loader) platforms(t *Target, n yamldoc.Node) {
	for _, e := range n.Entries() {
		p, ok := scope.ParsePlatform(e.Key)
		if !ok {
			e.At.Errorf(fault.DidYouMean(e.Key, scope.PlatformNames()), "unknown platform %q", e.Key)
			continue
		}
		if _, twice := t.Platforms[p]; twice {
			e.At.Errorf("remove one of them", "platform %s is defined twice", p.Lower())
			continue
		}
		t.Platforms[p] = l.platform(e.Value)
		t.PlatformOrder = append(t.PlatformOrder, p)
	}
}

// platform reads what a target says of a platform; a platform without anything is supported and has no settings.
func (l *loader) platform(n yamldoc.Node) PlatformConfig {
	var c PlatformConfig
	if n.Kind() == yamldoc.Null {
		return c
	}
	n.Fields(map[string]func(yamldoc.Node){
		"appIds":        func(n yamldoc.Node) { c.AppIDs = texts(n) },
		"toolSets":      func(n yamldoc.Node) { c.ToolSets = texts(n) },
		"tools":         func(n yamldoc.Node) { c.Tools = texts(n) },
		"excludedTools": func(n yamldoc.Node) { c.ExcludedTools = texts(n) },
		"baseUrl": func(n yamldoc.Node) {
			c.BaseURL = l.expanded(n, text(n))
			if u, err := url.Parse(c.BaseURL); c.BaseURL != "" && (err != nil || u.Scheme == "" || u.Opaque != "") {
				n.Errorf("begin it with http:// or https://", "%q is no address", c.BaseURL)
			}
		},
	})
	return c
}

func (l *loader) toolset(path string, n yamldoc.Node) {
	t := Toolset{File: path}
	var idAt yamldoc.Node
	n.Fields(map[string]func(yamldoc.Node){
		"id":          func(n yamldoc.Node) { t.ID, idAt = text(n), n },
		"description": func(n yamldoc.Node) { t.Description = n.Str() },
		"platforms": func(n yamldoc.Node) {
			for _, item := range n.Items() {
				t.Platforms = append(t.Platforms, readPlatform(item))
			}
		},
		"drivers": func(n yamldoc.Node) {
			for _, item := range n.Items() {
				t.Drivers = append(t.Drivers, readDriver(item).Key)
			}
		},
		"alwaysEnabled": func(n yamldoc.Node) { t.AlwaysEnabled = n.Bool() },
		"tools":         func(n yamldoc.Node) { t.Tools = texts(n) },
	})
	t.Line = idAt.Line()
	checkID(path, n, idAt, t.ID)
	l.project.Toolsets = append(l.project.Toolsets, t)
	l.toolsetIDs = append(l.toolsetIDs, name{t.ID, l.rel(path), idAt})
}

// checkID requires an id and expects it to be the file's name, which is where people look for it.
func checkID(path string, file, idAt yamldoc.Node, id string) {
	stem := strings.TrimSuffix(filepath.Base(path), ".yaml")
	switch {
	case file.Kind() != yamldoc.Mapping && file.Kind() != yamldoc.Absent: // reported already
	case idAt.Kind() == yamldoc.Absent:
		file.Errorf("add id: "+stem, `"id" is missing`)
	case id != "" && id != stem:
		idAt.Warnf("give both the same name", "id %q is in a file named %s", id, filepath.Base(path))
	}
}

// checkNames reports ids and server names that stand twice in one session or project, with both places, and a default target
// that looks like a slip of the pen.
func (l *loader) checkNames() {
	l.distinct("target id", "rename one of them", nil, l.targetIDs)
	l.distinct("toolset id", "rename one of them", nil, l.toolsetIDs)
	const hint = "give one of them another name with name:"
	l.distinct("server name", hint, nil, l.projectServers)
	for _, names := range l.targetServers {
		l.distinct("server name", hint, l.projectServers, names)
	}
	p := l.project
	if _, ok := p.FindTarget(p.Target); ok || p.Target == "" {
		return
	}
	var ids []string
	for _, t := range p.Targets {
		ids = append(ids, t.ID)
	}
	if len(fault.Nearest(p.Target, ids)) > 0 {
		p.Warnings = append(p.Warnings, l.defaultTarget.Problem(fault.DidYouMean(p.Target, ids),
			"target %q has no file in %s/targets/", p.Target, configDir))
	}
}

// distinct reports the names that stand before, or earlier among themselves.
func (l *loader) distinct(what, hint string, before, names []name) {
	first := map[string]name{}
	for _, n := range before {
		if _, ok := first[n.text]; !ok {
			first[n.text] = n
		}
	}
	for _, n := range names {
		earlier, twice := first[n.text]
		if !twice {
			first[n.text] = n
			continue
		}
		if n.text != "" {
			l.problems = append(l.problems, n.at.Problem(hint, "%s %q is defined twice; first in %s, line %d, column %d",
				what, n.text, earlier.file, earlier.at.Line(), earlier.at.Column()))
		}
	}
}
