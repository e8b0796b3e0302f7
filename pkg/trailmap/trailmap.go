// Package trailmap reads the workspaces of the JVM Trailblaze into the configuration that projects of ours are read
// into. It alone knows how they are laid out: the anchor trails/config/trailblaze.yaml, trailmaps with their
// dependencies and defaults, global toolsets, flat targets and composed tools. What comes out has every default filled
// in, so that nobody who uses it knows of any of that.
//
// It starts nothing, does not read trails, and knows tools by their names only. What it returns is not changed after
// Load.
package trailmap

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The files and folders of a workspace.
const (
	trailsDir  = "trails"
	configDir  = "config" // below trailsDir
	anchorFile = "trailblaze.yaml"
	// Anchor is the file that a workspace has, relative to its root.
	Anchor = trailsDir + "/" + configDir + "/" + anchorFile
)

// ConfigDirVariable names a folder to read in place of trails/config.
const ConfigDirVariable = "TRAILBLAZE_CONFIG_DIR"

// Options are where a workspace is looked for.
type Options struct {
	Dir string                           // the working directory, absolute
	Env func(name string) (string, bool) // looks up ConfigDirVariable; may be nil
}

// Layout returns what recognizes workspaces.
func (o Options) Layout() config.Layout {
	return config.Layout{Anchor: Anchor, Root: rootOf, Named: func() string {
		if dir, _ := o.configDir(); dir != "" && isFile(filepath.Join(dir, anchorFile)) {
			return rootFor(dir)
		}
		return ""
	}}
}

// Reads reports whether the project in a folder is a workspace. A project of ours comes first, unless the environment
// names the workspace.
func (o Options) Reads(root string) bool {
	return o.Layout().Named() == root || !config.IsRoot(root) && rootOf(root) == root
}

// rootOf returns the root of the workspace whose root or config folder dir is; empty for other folders.
func rootOf(dir string) string {
	switch {
	case isFile(filepath.Join(dir, filepath.FromSlash(Anchor))):
		return dir
	case filepath.Base(dir) == configDir && filepath.Base(filepath.Dir(dir)) == trailsDir && isFile(filepath.Join(dir, anchorFile)):
		return rootFor(dir)
	}
	return ""
}

// rootFor returns the root of the workspace with a config folder.
func rootFor(dir string) string { return filepath.Dir(filepath.Dir(dir)) }

// configDir returns the folder that the environment names, empty for none. A name that is not a folder is ignored, as
// note says.
func (o Options) configDir() (dir, note string) {
	if o.Env == nil {
		return "", ""
	}
	named, _ := o.Env(ConfigDirVariable)
	if named == "" {
		return "", ""
	}
	if dir = filepath.FromSlash(named); !filepath.IsAbs(dir) {
		dir = filepath.Join(o.Dir, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", ConfigDirVariable + " is ignored: " + named + " is not a folder"
	}
	return filepath.Clean(dir), ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Load reads the workspace at root. tools are the names of the tools and commands that this program has.
//
// The problems are those for which nothing can be used. Those of one trailmap are in LeftOut of the project, which then
// lacks what the trailmap defines. What is read and not used is in Remarks.
func Load(root string, o Options, tools []string) (*config.Project, fault.Problems) {
	p := &config.Project{
		Root: root, TrailsDir: filepath.Join(root, trailsDir), LogsDir: filepath.Join(root, "logs"),
		WorkingDir: o.Dir, KeepProcesses: []string{"adb"}, MissingTools: map[string]*fault.Error{},
	}
	l := &loader{project: p, tools: tools, maps: map[string]*trailmap{}, toolsets: map[string]config.Toolset{}, composed: map[string]config.ComposedTool{}}
	dir, note := o.configDir()
	l.dir = filepath.Join(root, trailsDir, configDir)
	if dir != "" && (!isFile(filepath.Join(dir, anchorFile)) || rootFor(dir) == root) {
		l.dir = dir
	}
	p.File = filepath.Join(root, filepath.FromSlash(Anchor))
	if own := filepath.Join(l.dir, anchorFile); isFile(own) {
		p.File = own
	}
	if note != "" {
		p.Warnings = append(p.Warnings, fault.Problem{Kind: fault.Config, File: p.File, Message: note})
	}
	l.load()
	l.problems.Sort()
	p.Warnings.Sort()
	p.Remarks.Sort()
	p.LeftOut.Sort()
	return p, l.problems
}

// loader reads a workspace.
type loader struct {
	project  *config.Project
	dir      string   // the config folder
	tools    []string // of this program
	problems fault.Problems

	anchor   anchor
	selected []*trailmap          // those that the anchor names, with their dependencies
	maps     map[string]*trailmap // by id, bundled ones included
	toolsets map[string]config.Toolset
	// toolsetTools are the tools in the files of toolsets.
	toolsetTools []toolsetTools
	composed     map[string]config.ComposedTool
}

// load reads the files, and then resolves what they name.
func (l *loader) load() {
	l.defineFrameworkToolsets()
	for _, m := range bundled() {
		l.maps[m.id] = m
	}
	own := l.readTrailmaps()
	own = append(own, l.readFlatTargets()...)
	l.readAnchor() // after the others, which it overrides
	l.checkScripts(own)
	l.resolveDependencies(own)
	l.composeTools(own)
	l.checkNames(own)
	l.addTargets(own)
	l.noteMissingTools(own)
	for _, m := range own {
		l.project.LeftOut = append(l.project.LeftOut, m.problems...)
	}
	for _, id := range sortedKeys(l.toolsets) {
		l.project.Toolsets = append(l.project.Toolsets, l.toolsets[id])
	}
	for _, name := range sortedKeys(l.composed) {
		l.project.Composed = append(l.project.Composed, l.composed[name])
	}
	slices.SortFunc(l.project.Targets, func(a, b config.Target) int { return cmp.Compare(a.ID, b.ID) })
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
