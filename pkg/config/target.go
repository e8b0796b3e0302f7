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
		"electron":    func(n yamldoc.Node) { t.Electron = l.electron(n) },
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

// platform reads a target's entry for a platform. An empty entry means that the platform is supported.
func (l *loader) platform(n yamldoc.Node) PlatformConfig {
	var c PlatformConfig
	if n.Kind() == yamldoc.Null {
		return c
	}
	n.Fields(map[string]func(yamldoc.Node){
		"appIds":        func(n yamldoc.Node) { c.AppIDs = texts(n) },
		"toolSets":      func(n yamldoc.Node) { c.ToolSets = texts(n) },
		"tools":         func(n yamldoc.Node) { c.Tools = globs(n) },
		"excludedTools": func(n yamldoc.Node) { c.ExcludedTools = globs(n) },
		"baseUrl":       func(n yamldoc.Node) { c.BaseURL = l.baseURL(n) },
	})
	return c
}

// baseURL reads the address of an app on the web.
func (l *loader) baseURL(n yamldoc.Node) string {
	address := l.expandVariables(n, text(n))
	if u, err := url.Parse(address); address != "" && (err != nil || u.Scheme == "" || u.Opaque != "") {
		n.Errorf("start it with http:// or https://", "%q is not a URL", address)
	}
	return address
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
		"tools":         func(n yamldoc.Node) { t.Tools = globs(n) },
	})
	t.Line = idAt.Line()
	checkID(path, n, idAt, t.ID)
	l.project.Toolsets = append(l.project.Toolsets, t)
	l.toolsetIDs = append(l.toolsetIDs, name{t.ID, l.rel(path), idAt})
}

// checkID reports a missing id, and warns when it differs from the file's name.
func checkID(path string, file, idAt yamldoc.Node, id string) {
	stem := strings.TrimSuffix(filepath.Base(path), ".yaml")
	switch {
	case file.Kind() != yamldoc.Mapping && file.Kind() != yamldoc.Absent: // reported already
	case idAt.Kind() == yamldoc.Absent:
		file.Errorf("add id: "+stem, `"id" is missing`)
	case id != "" && id != stem:
		idAt.Warnf("use the same name for both", "id %q is in a file named %s", id, filepath.Base(path))
	}
}

// checkNames reports ids that are defined twice in the project and server names that are defined twice in a session,
// with both positions. It warns of targets that look misspelt.
func (l *loader) checkNames() {
	l.distinct("target id", "rename one of them", nil, l.targetIDs)
	l.distinct("toolset id", "rename one of them", nil, l.toolsetIDs)
	const hint = "rename one of them with name:"
	l.distinct("server name", hint, nil, l.projectServers)
	for _, names := range l.targetServers {
		l.distinct("server name", hint, l.projectServers, names)
	}
	for _, at := range l.namedTargets {
		l.warnTarget(at)
	}
}

// warnTarget warns of the id of a target that has no file, if it looks misspelt.
func (l *loader) warnTarget(at yamldoc.Node) {
	id := at.Str()
	if _, ok := l.project.FindTarget(id); ok || id == "" {
		return
	}
	var ids []string
	for _, t := range l.project.Targets {
		ids = append(ids, t.ID)
	}
	if len(fault.Nearest(id, ids)) > 0 {
		l.project.Warnings = append(l.project.Warnings, at.Problem(fault.DidYouMean(id, ids),
			"target %q has no file in %s/targets/", id, configDir))
	}
}

// distinct reports the names that are defined twice among before and names.
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
