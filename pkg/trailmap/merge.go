package trailmap

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// frameworkTrailmap is the bundled trailmap with defaults; the other bundled ones have none.
const frameworkTrailmap = "trailblaze"

// bundled returns the trailmaps that every workspace has. One of the workspace with the same id replaces one of them.
func bundled() []*trailmap {
	list := func(texts ...string) words {
		w := words{set: true}
		for _, text := range texts {
			w.items = append(w.items, word{text: text})
		}
		return w
	}
	phone := settings{toolSets: list("core_interaction", "navigation", "observation", "verification", "memory")}
	all := []*trailmap{{id: frameworkTrailmap, defaults: map[string]settings{
		"android": phone, "ios": phone,
		"web": {drivers: list("playwright-native", "playwright-electron"), toolSets: list("web_core", "web_verification", "memory")},
	}}}
	for _, id := range []string{"android", "mobile", "web", compose, "revyl"} {
		all = append(all, &trailmap{id: id})
	}
	return all
}

// usable reports whether nothing is wrong with the trailmap.
func (m *trailmap) usable() bool { return len(m.problems) == 0 }

// dependencyOf returns the trailmaps that a trailmap names as its dependencies, in their order.
func (l *loader) dependenciesOf(m *trailmap) []*trailmap {
	var out []*trailmap
	for _, w := range m.dependencies.items {
		if d := l.maps[w.text]; d != nil {
			out = append(out, d)
		}
	}
	return out
}

// levels returns the transitive dependencies of a trailmap: those of the first level are its own, and so on. Each is at
// the level that is closest to the trailmap.
func (l *loader) levels(m *trailmap) [][]*trailmap {
	seen := map[*trailmap]bool{m: true}
	var levels [][]*trailmap
	for level := []*trailmap{m}; ; {
		var next []*trailmap
		for _, of := range level {
			for _, d := range l.dependenciesOf(of) {
				if !seen[d] {
					seen[d] = true
					next = append(next, d)
				}
			}
		}
		if len(next) == 0 {
			return levels
		}
		levels, level = append(levels, next), next
	}
}

// resolveDependencies decides which trailmaps can be used. Those in a circle, and those that depend on one that is left
// out, are left out; a dependency that does not exist is an error of the workspace.
func (l *loader) resolveDependencies(own []*trailmap) {
	l.selectTargets(own)
	for _, m := range own {
		for _, w := range m.dependencies.items {
			if l.maps[w.text] != nil {
				continue
			}
			p := w.at.Problem(fault.DidYouMean(w.text, sortedKeys(l.maps)), "dependency %q does not exist", w.text)
			if m.usable() && l.isSelected(m) {
				l.problems = append(l.problems, p)
			} else {
				m.problems = append(m.problems, p)
			}
		}
	}
	for _, m := range own {
		l.reportCircles(m)
	}
	for again := true; again; {
		again = false
		for _, m := range own {
			again = l.leaveOutAfter(m) || again
		}
	}
}

// reportCircles reports the dependencies of a trailmap that depend on it.
func (l *loader) reportCircles(m *trailmap) {
	for _, w := range m.dependencies.items {
		if d := l.maps[w.text]; d == m || d != nil && slices.Contains(slices.Concat(l.levels(d)...), m) {
			m.problems = append(m.problems, w.at.Problem("remove one of the dependencies", "%q and %q depend on each other", m.id, w.text))
		}
	}
}

// leaveOutAfter leaves out a trailmap that depends on one that is left out. It reports whether it did.
func (l *loader) leaveOutAfter(m *trailmap) bool {
	for _, w := range m.dependencies.items {
		if d := l.maps[w.text]; d != nil && m.usable() && !d.usable() {
			m.problems = append(m.problems, w.at.Problem("correct the files of "+w.text, "%q is left out, because it has problems", w.text))
			return true
		}
	}
	return false
}

// selectTargets checks the targets that the anchor names, and selects them with their dependencies.
func (l *loader) selectTargets(own []*trailmap) {
	var ids []string
	for _, m := range own {
		if m.isTarget {
			ids = append(ids, m.id)
		}
	}
	for _, w := range l.anchor.targets.items {
		m := l.maps[w.text]
		switch {
		case m == nil:
			l.problems = append(l.problems, w.at.Problem(fault.DidYouMean(w.text, ids), "unknown target %q", w.text))
		case !m.isTarget && m.usable():
			l.problems = append(l.problems, w.at.Problem(fault.DidYouMean(w.text, ids), "%q is a library, not a target", w.text))
		default:
			l.selected = append(append(l.selected, m), slices.Concat(l.levels(m)...)...)
		}
	}
}

// isSelected reports whether a trailmap is used: one that the anchor names, or that such a one depends on. Without names
// all are.
func (l *loader) isSelected(m *trailmap) bool {
	return len(l.anchor.targets.items) == 0 || slices.Contains(l.selected, m)
}

// merged returns the settings of a target for one of its platforms, with absent ones filled in: by the closest
// dependency that has them, at the same level by the one that is declared later. Lists replace each other.
func (l *loader) merged(m *trailmap, platform string) settings {
	s := m.platforms[platform]
	for _, level := range l.levels(m) {
		for _, d := range slices.Backward(level) {
			from := d.defaults[platform]
			for _, field := range []struct{ to, of *words }{
				{&s.appIDs, &from.appIDs},
				{&s.toolSets, &from.toolSets},
				{&s.tools, &from.tools},
				{&s.excluded, &from.excluded},
				{&s.drivers, &from.drivers},
			} {
				if !field.to.set {
					*field.to = *field.of
				}
			}
			if s.baseURL.text == "" {
				s.baseURL = from.baseURL
			}
		}
	}
	return s
}

// defaultTarget is the target of sessions for which nothing names one.
const defaultTarget = "default"

// addTargets adds the targets that can be used, and the one that every workspace has.
func (l *loader) addTargets(own []*trailmap) {
	for _, m := range own {
		if !m.isTarget || !m.usable() || !l.isSelected(m) {
			continue
		}
		if other, twice := l.project.FindTarget(m.targetID); twice {
			m.problems = append(m.problems, fileProblem(m.file, "rename one of them", "target %q is defined twice; first in %s",
				m.targetID, l.rel(other.File)))
			continue
		}
		l.project.Targets = append(l.project.Targets, l.target(m))
	}
	if _, own := l.project.FindTarget(defaultTarget); !own {
		m := &trailmap{id: defaultTarget, targetID: defaultTarget, displayName: "Default", order: scope.PlatformNames()}
		m.dependencies.items = []word{{text: frameworkTrailmap}}
		l.project.Targets = append(l.project.Targets, l.target(m))
	}
	l.project.Target = defaultTarget
	if w := l.anchor.defaultTarget; w.text != "" {
		if _, known := l.project.FindTarget(w.text); known {
			l.project.Target = w.text
		} else {
			l.project.Warnings = append(l.project.Warnings, w.at.Problem("", "target %q is not there; the default is %q", w.text,
				defaultTarget))
		}
	}
}

func (l *loader) target(m *trailmap) config.Target {
	t := config.Target{
		ID: m.targetID, DisplayName: m.displayName, File: m.file, Line: m.idAt.Line(),
		Platforms: map[scope.Platform]config.PlatformConfig{}, Servers: l.hosts(m),
		Electron: m.electron,
	}
	t.Electron.Command = config.CommandPath(l.project.Root, t.Electron.Command)
	for _, key := range m.order {
		p, ok := scope.ParsePlatform(key)
		if !ok {
			l.remark(fileProblem(m.file, "", "target %q: this version has no driver for %s", m.targetID, key))
			continue
		}
		s := l.merged(m, key)
		t.PlatformOrder = append(t.PlatformOrder, p)
		t.Platforms[p] = config.PlatformConfig{
			AppIDs: s.appIDs.texts(), ToolSets: l.toolSetIDs(s.toolSets), Tools: l.existing(m, s.tools),
			ExcludedTools: l.existing(m, s.excluded), BaseURL: s.baseURL.text, Drivers: s.drivers.texts(),
		}
		if c := t.Platforms[p]; len(c.ToolSets) > 0 || len(c.Tools) > 0 {
			c.Tools = append(c.Tools, m.listedFor(key)...)
			t.Platforms[p] = c
		}
	}
	return t
}

// toolSetIDs returns the toolsets that exist. An empty list is a value: only what is always enabled is offered.
func (l *loader) toolSetIDs(w words) []string {
	var ids []string
	for _, id := range w.texts() {
		if _, known := l.toolsets[id]; known {
			ids = append(ids, id)
		}
	}
	if w.set && len(ids) == 0 {
		for _, id := range sortedKeys(l.toolsets) {
			if l.toolsets[id].AlwaysEnabled {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// existing returns the tools that this program or the workspace has.
func (l *loader) existing(m *trailmap, w words) []string {
	return slices.DeleteFunc(w.texts(), func(name string) bool {
		_, composed := l.composed[name]
		return !composed && !slices.Contains(l.tools, name) && !l.defines(m, name)
	})
}

// checkNames reports names of tools and toolsets that nothing defines. They are left out where they are listed.
func (l *loader) checkNames(own []*trailmap) {
	known := l.knownTools(own)
	for _, ts := range l.toolsetTools {
		for _, w := range ts.tools {
			if !slices.Contains(known, w.text) {
				l.remark(w.at.Problem(near(w.text, known), "toolset %q names the unknown tool %q", ts.id, w.text))
			}
		}
	}
	for _, m := range own {
		for _, platforms := range []map[string]settings{m.defaults, m.platforms, m.libraryPlatforms} {
			for _, key := range sortedKeys(platforms) {
				l.checkSettings(platforms[key], known)
			}
		}
	}
}

func (l *loader) checkSettings(s settings, known []string) {
	leftOut := func(w word, hint, what string) {
		l.project.LeftOut = append(l.project.LeftOut, w.at.Problem(hint, "unknown %s %q", what, w.text))
	}
	for _, w := range s.toolSets.items {
		if _, ok := l.toolsets[w.text]; !ok && !withoutTools(w.text) {
			leftOut(w, fault.DidYouMean(w.text, sortedKeys(l.toolsets)), "toolset")
		}
	}
	for _, w := range slices.Concat(s.tools.items, s.excluded.items) {
		if !slices.Contains(known, w.text) {
			leftOut(w, near(w.text, known), "tool")
		}
	}
}

// checkScriptSites reports scripted tools that a target lists and its trailmap does not have, and those that it lists
// more than once.
func (m *trailmap) checkScriptSites() {
	if !m.isTarget {
		return
	}
	var has []string
	for _, s := range m.scripted {
		has = append(has, s.name.text)
	}
	first := map[string]yamldoc.Node{}
	once := func(w word) {
		if at, twice := first[w.text]; twice {
			m.problems = append(m.problems, w.at.Problem("list it once", "tool %q is listed twice; first in line %d", w.text, at.Line()))
		}
		first[w.text] = w.at
	}
	for _, w := range m.tools.items {
		if !slices.Contains(has, w.text) {
			m.problems = append(m.problems, w.at.Problem(fault.DidYouMean(w.text, has), "no script of this trailmap defines tool %q", w.text))
		}
		once(w)
	}
	for _, key := range m.order {
		for _, w := range m.platforms[key].tools.items {
			if slices.Contains(has, w.text) {
				once(w)
			}
		}
	}
}

// knownTools returns the names of all tools: those of this program, those of the JVM Trailblaze that it lacks, and those
// of the workspace.
func (l *loader) knownTools(own []*trailmap) []string {
	known := append(slices.Clone(l.tools), sortedKeys(l.composed)...)
	for _, t := range frameworkTools() {
		known = append(known, t.name)
	}
	for _, m := range own {
		for _, s := range m.scripted {
			known = append(known, s.name.text)
		}
		for _, c := range m.composed {
			known = append(known, c.Name)
		}
		known = append(known, sortedKeys(m.skipped)...)
	}
	return known
}

// near is fault.DidYouMean without the list of all tools.
func near(name string, known []string) string {
	if len(fault.Nearest(name, known)) == 0 {
		return "`trailblaze toolbox list` lists the tools"
	}
	return fault.DidYouMean(name, known)
}
