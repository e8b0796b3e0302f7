package trailmap

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tsschema"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

const (
	trailmapsDir = "trailmaps"
	manifestFile = "trailmap.yaml"
)

// trailmap is one trailmap: a target or a library. A flat target is one, too.
type trailmap struct {
	id   string
	idAt yamldoc.Node
	dir  string // empty for those that are bundled and for flat targets
	file string // the manifest

	isTarget     bool
	targetID     string
	displayName  string
	tools        words // scripted tools by name
	dependencies words
	defaults     map[string]settings // by platform key
	platforms    map[string]settings
	order        []string // the keys of platforms
	electron     config.Electron

	libraryPlatforms map[string]settings // what a library says of them; only checked

	composed []composed
	skipped  map[string]string // why composed tools were skipped, by name
	scripted []scripted
	scripts  *tsschema.Scripts
	problems fault.Problems // with any, the trailmap is left out
}

// platformKeys are the platforms of trailmaps. This program has no driver for compose.
const compose = "compose"

func platformKeys() []string { return append(scope.PlatformNames(), compose) }

// settings are the settings of a platform. Absent ones are filled in from dependencies.
type settings struct {
	appIDs, toolSets, tools, excluded, drivers words
	baseURL                                    word
}

// readTrailmaps reads the trailmaps of the workspace.
func (l *loader) readTrailmaps() []*trailmap {
	var own []*trailmap
	for _, name := range folders(filepath.Join(l.dir, trailmapsDir)) {
		dir := filepath.Join(l.dir, trailmapsDir, name)
		if !isFile(filepath.Join(dir, manifestFile)) {
			l.remark(fileProblem(dir, "", "this folder has no %s and is ignored", manifestFile))
			continue
		}
		m := l.readTrailmap(dir)
		own = append(own, m)
		l.maps[m.id] = m
	}
	return own
}

// readTrailmap reads a trailmap with the files in its folder.
func (l *loader) readTrailmap(dir string) *trailmap {
	id := filepath.Base(dir)
	m := &trailmap{id: id, targetID: id, dir: dir, file: filepath.Join(dir, manifestFile), skipped: map[string]string{}}
	m.problems = l.read(m.file, func(n yamldoc.Node) { m.manifest(n) })
	l.readToolsets(m)
	l.readComposedTools(m)
	l.readScripted(m)
	return m
}

// manifest reads trailmap.yaml.
func (m *trailmap) manifest(n yamldoc.Node) {
	if n.Kind() == yamldoc.Absent {
		n.Errorf("write id: "+m.id, "the file is empty")
		return
	}
	var id string
	var target, platforms, waypoints yamldoc.Node
	fields(n, map[string]func(yamldoc.Node){
		"id":           func(n yamldoc.Node) { id, m.idAt = readText(n), n },
		"target":       func(n yamldoc.Node) { target, m.isTarget = n, n.Kind() != yamldoc.Null },
		"dependencies": func(n yamldoc.Node) { m.dependencies = readWords(n) },
		"defaults":     func(n yamldoc.Node) { m.defaults, _ = m.readPlatforms(n) },
		"platforms":    func(n yamldoc.Node) { platforms = n },
		"toolsets":     m.checkFiles,
		"waypoints": func(n yamldoc.Node) {
			waypoints = n
			n.Warnf("", `"waypoints" is not used: they are the map of an agent, and a replay needs none`)
		},
		"exports":          func(yamldoc.Node) {},
		"trails":           func(yamldoc.Node) {},
		"trail_validation": func(yamldoc.Node) {},
	}, map[string]string{
		"use": removedKey, "extend": removedKey, "replace": removedKey, "routes": removedKey, "mcp_servers": removedKey,
	})
	switch {
	case m.idAt.Kind() == yamldoc.Absent:
		n.Errorf("add id: "+m.id, `"id" is missing`)
	case id != "" && id != m.id:
		m.idAt.Errorf("use the same name for both", "id %q is in a folder named %s", id, m.id)
	case id != "" && !idForm().MatchString(id):
		m.idAt.Warnf("use letters and digits, and begin with a lower-case letter", "the id %q has an unusual form", id)
	}
	if platforms.Kind() != yamldoc.Absent {
		if m.isTarget {
			platforms.Errorf("write them in target", `"platforms" is for libraries, and this trailmap has a target`)
		} else {
			m.libraryPlatforms, _ = m.readPlatforms(platforms)
		}
	}
	if waypoints.Kind() != yamldoc.Absent && !m.isTarget {
		waypoints.Errorf("move them to a trailmap with a target", "a library has no waypoints")
	}
	if m.isTarget {
		m.readTarget(target)
	}
}

const removedKey = "it was removed from trailmaps"

// checkFiles reports files of the trailmap that do not exist. Toolsets are found without being listed.
func (m *trailmap) checkFiles(n yamldoc.Node) {
	for _, w := range readWords(n).items {
		m.checkFile(w)
	}
}

func (m *trailmap) checkFile(w word) {
	path := filepath.Join(m.dir, filepath.FromSlash(w.text))
	switch {
	case w.text == "":
	case !isBelow(m.dir, path) || !filepath.IsLocal(filepath.FromSlash(w.text)):
		w.at.Errorf("name a file of the trailmap", "%s leads out of the trailmap", w.text)
	case !isFile(path):
		w.at.Errorf("paths are relative to the folder of the trailmap", "%s does not exist", w.text)
	}
}

const iconNote = "nothing shows it"

const promptNote = "this program's models have prompts of their own"

// readTarget reads the target of a trailmap, or a flat target.
func (m *trailmap) readTarget(n yamldoc.Node) {
	var nameAt yamldoc.Node
	fields(n, map[string]func(yamldoc.Node){
		"id":           func(n yamldoc.Node) { m.targetID = readText(n) },
		"display_name": func(n yamldoc.Node) { m.displayName, nameAt = readText(n), n },
		"tools":        m.readTools,
		"platforms":    func(n yamldoc.Node) { m.platforms, m.order = m.readPlatforms(n) },
		"system_prompt_file": func(n yamldoc.Node) {
			m.checkFile(word{readText(n), n})
			n.Warnf("", `"system_prompt_file" is not used: %s`, promptNote)
		},
		"system_prompt": func(n yamldoc.Node) {
			n.Errorf("write it into a file, and name that with system_prompt_file", "a prompt cannot be written here")
		},
		"electron": m.readElectron,
	}, map[string]string{"icon": iconNote, "has_custom_ios_driver": "this program has its own drivers"})
	if n.Kind() == yamldoc.Mapping && nameAt.Kind() == yamldoc.Absent {
		n.Errorf("add display_name: "+m.id, `"display_name" is missing`)
	}
}

// electronPort is the debugging port of Electron apps that name none.
const electronPort = 9222

// readElectron reads the Electron app of a target.
func (m *trailmap) readElectron(n yamldoc.Node) {
	if n.Kind() == yamldoc.Null {
		return
	}
	m.electron.Port = electronPort
	fields(n, m.electron.Fields(yamldoc.Node.Scalar, yamldoc.Node.StringMap), nil)
}

// readTools reads the scripted tools of a target: names, and in a flat target also descriptors.
func (m *trailmap) readTools(n yamldoc.Node) {
	if n.Kind() == yamldoc.Null {
		return
	}
	m.tools.set = true
	for _, item := range n.Items() {
		if _, ok := own(item, "name"); m.dir == "" && ok {
			m.readInlineTool(item)
			continue
		}
		m.tools.items = append(m.tools.items, word{readText(item), item})
	}
}

// readPlatforms reads settings by platform.
func (m *trailmap) readPlatforms(n yamldoc.Node) (map[string]settings, []string) {
	all := map[string]settings{}
	var order []string
	if n.Kind() == yamldoc.Null {
		return all, nil
	}
	for _, e := range n.Entries() {
		if !slices.Contains(platformKeys(), e.Key) {
			e.At.Errorf(fault.DidYouMean(e.Key, platformKeys()), "unknown platform %q", e.Key)
			continue
		}
		all[e.Key] = readSettings(e.Key, e.Value)
		order = append(order, e.Key)
	}
	return all, order
}

func readSettings(platform string, n yamldoc.Node) settings {
	var s settings
	if n.Kind() == yamldoc.Null {
		return s
	}
	fields(n, map[string]func(yamldoc.Node){
		"app_ids":        func(n yamldoc.Node) { s.appIDs = readWords(n) },
		"tool_sets":      func(n yamldoc.Node) { s.toolSets = readWords(n) },
		"tools":          func(n yamldoc.Node) { s.tools = readWords(n) },
		"excluded_tools": func(n yamldoc.Node) { s.excluded = readWords(n) },
		"drivers":        func(n yamldoc.Node) { s.drivers = readDrivers(platform, n) },
		"base_url":       func(n yamldoc.Node) { s.baseURL = readNullable(n) },
	}, map[string]string{"icon": iconNote, "min_build_version": "the version of an app is not checked"})
	return s
}

// readNullable reads text; null counts as absent.
func readNullable(n yamldoc.Node) word {
	if n.Kind() == yamldoc.Null {
		return word{}
	}
	return word{readText(n), n}
}

// readDrivers reads drivers: keys, names of platforms, or all. They come out as keys that this program knows, those of
// the platform only.
func readDrivers(platform string, n yamldoc.Node) words {
	w := readWords(n)
	known := append(append(scope.DriverKeys(), platformKeys()...), "all")
	out := words{set: w.set}
	for _, item := range w.items {
		keys, ok := driverKeys(item.text)
		if !ok {
			item.at.Errorf(fault.DidYouMean(strings.ToLower(item.text), known), "unknown driver %q", item.text)
		}
		for _, key := range keys {
			if d, _ := scope.ParseDriver(key); platform == "" || d.Platform.Lower() == platform {
				out.items = append(out.items, word{key, item.at})
			}
		}
	}
	return out
}

// driverKeys returns the drivers that a word names. Those of revyl are named by their keys only.
func driverKeys(text string) (keys []string, ok bool) {
	if d, is := scope.ParseDriver(text); is {
		return []string{d.Key}, true
	}
	lower := strings.ToLower(text)
	if strings.HasPrefix(lower, compose) {
		return nil, true
	}
	for _, key := range scope.DriverKeys() {
		d, _ := scope.ParseDriver(key)
		if !strings.HasPrefix(key, "revyl-") && (lower == "all" || lower == d.Platform.Lower()) {
			keys = append(keys, key)
		}
	}
	return keys, len(keys) > 0
}

// readFlatTargets reads the files of targets without a trailmap. A trailmap with the same id wins.
func (l *loader) readFlatTargets() []*trailmap {
	paths, problems := l.walk(filepath.Join(l.dir, "targets"), ".yaml")
	l.project.LeftOut = append(l.project.LeftOut, problems...)
	var own []*trailmap
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".yaml")
		m := &trailmap{id: id, targetID: id, file: path, isTarget: true, scripts: newScripts(l.dir)}
		m.problems = l.read(path, func(n yamldoc.Node) { m.readTarget(n) })
		m.id = m.targetID
		if other := l.maps[m.id]; other != nil && other.isTarget {
			l.remark(fileProblem(path, "", "this file is not used: the trailmap %q has the same id", m.id))
			continue
		}
		l.maps[m.id] = m
		own = append(own, m)
	}
	return own
}
