package trailmap

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
)

// hosts returns the servers of the scripts of a target: those of its trailmap, and of those that it depends on.
func (l *loader) hosts(m *trailmap) []config.Server {
	var servers []config.Server
	for _, of := range append([]*trailmap{m}, slices.Concat(l.levels(m)...)...) {
		own := of.servers()
		for i := range own {
			for slices.ContainsFunc(servers, func(s config.Server) bool { return s.Name == own[i].Name }) {
				own[i].Name += "_"
			}
			servers = append(servers, own[i])
		}
	}
	for _, s := range servers {
		for i := range s.Functions {
			m.hoist(&s.Functions[i])
		}
	}
	return servers
}

// hoist limits a tool that the target lists for one platform to that platform.
func (m *trailmap) hoist(t *config.FunctionTool) {
	for _, key := range m.order {
		if slices.Contains(m.platforms[key].tools.texts(), t.Name) {
			meta := maps.Clone(t.Meta)
			meta[metaPrefix+"supportedPlatforms"] = []any{key}
			t.Meta = meta
		}
	}
}

// servers returns the servers of a trailmap's scripts: one, and one for each file that needs a process of its own.
func (m *trailmap) servers() []config.Server {
	var servers []config.Server
	add := func(name string, s scripted) {
		i := slices.IndexFunc(servers, func(other config.Server) bool { return other.Name == name })
		if i < 0 {
			i = len(servers)
			servers = append(servers, config.Server{
				Name: name, Dir: m.folder(), NotEmbedded: s.subprocess, File: m.file, Line: max(1, m.idAt.Line()), Column: 1,
			})
		}
		servers[i].Functions = append(servers[i].Functions, s.tool)
	}
	for _, s := range m.scripted {
		name := m.id
		if s.subprocess {
			name += "-" + strings.TrimSuffix(filepath.Base(s.tool.File), filepath.Ext(s.tool.File))
		}
		add(name, s)
	}
	return servers
}

// defines reports whether a script of a target, or of a trailmap that it depends on, defines a tool.
func (l *loader) defines(m *trailmap, name string) bool {
	return slices.ContainsFunc(append([]*trailmap{m}, slices.Concat(l.levels(m)...)...), func(of *trailmap) bool {
		return slices.ContainsFunc(of.scripted, func(s scripted) bool { return s.name.text == name })
	})
}

// listedFor returns the scripted tools that a target lists for all platforms, without those that are not for one. A flat
// target lists the tools that are written in it.
func (m *trailmap) listedFor(platform string) []string {
	var names []string
	for _, s := range m.scripted {
		on, limited := platformsOf(s.tool)
		isListed := m.dir == "" || slices.Contains(m.tools.texts(), s.name.text)
		if isListed && (!limited || slices.ContainsFunc(on, func(p string) bool { return strings.EqualFold(p, platform) })) {
			names = append(names, s.name.text)
		}
	}
	return names
}
