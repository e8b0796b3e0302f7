// Package runtime finds what can run a script: bun, node with tsx, node with a bundle, node alone, or the engine inside
// trailblaze. It is imported as jsruntime.
//
// It starts nothing but "--version", and that only when the version decides something and is not cached from an earlier
// run. It installs nothing.
//
// A [Finder] may be used from any goroutine. It looks for each runtime once.
package runtime

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/bundle"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// The runtimes that can be selected.
const (
	Bun      = "bun"
	Node     = "node"
	Embedded = "embedded" // the engine inside trailblaze
)

// Names returns the runtimes that can be selected.
func Names() []string { return []string{Bun, Node, Embedded} }

// Options says where to look. The zero value finds nothing.
type Options struct {
	PATH     string   // as in the variable of that name
	Env      []string // environment of the version probes
	CacheDir string   // of versions and bundles that are kept between runs; "" for none
	Force    string   // one of Names for every script, whatever its entry says; "" for none
	ForcedBy string   // where Force comes from, for messages: "--runtime"
	// VersionTimeout is how long an executable may take to print its version; 0 is 10 seconds.
	VersionTimeout time.Duration
}

// Finder finds the runtimes of this machine.
type Finder struct {
	opts     Options
	bun      func() string // path, "" when there is none
	node     func() string
	tsx      func() string // loader of a global tsx
	versions *versions
	bundles  *bundle.Cache

	mu      sync.Mutex
	loaders map[string]string // loader of the nearest tsx, by folder
}

// NewFinder returns a finder. It looks for a runtime when it is first needed.
func NewFinder(opts Options) *Finder {
	f := &Finder{opts: opts, bundles: openBundles(opts.CacheDir), versions: newVersions(opts), loaders: map[string]string{}}
	f.bun = sync.OnceValue(func() string { return findBun(opts.PATH) })
	f.node = sync.OnceValue(func() string {
		path, _ := LookPath(executable(Node), opts.PATH, "")
		return path
	})
	f.tsx = sync.OnceValue(func() string { return globalLoader(opts.PATH) })
	return f
}

func openBundles(cacheDir string) *bundle.Cache {
	if cacheDir == "" {
		return bundle.Open("")
	}
	return bundle.Open(filepath.Join(cacheDir, "bundles"))
}

// Bundles returns the cache of the bundles of scripts.
func (f *Finder) Bundles() *bundle.Cache { return f.bundles }

// Script is a script that is to be run.
type Script struct {
	Path        string        // absolute
	Entry       *bundle.Entry // of a script that is generated; Path is its path
	Runtime     string        // that its entry selects; "" for any
	NotEmbedded bool          // it needs bun or node; only for a script that is generated
	OnDevice    bool          // the agent runs it on the device, which only the embedded engine can emulate
}

// Command is how to start a script.
type Command struct {
	Argv    []string       // the first is an absolute path, but for Embedded
	Runtime string         // "bun", "bun+bundle", "node+tsx", "node+bundle", "node" or Embedded
	Why     string         // it was chosen
	Bundle  *bundle.Bundle // of Embedded, "bun+bundle" and "node+bundle", else nil
}

// Release frees what the command keeps outside the cache. It must be called when the script has ended.
func (c Command) Release() {
	if c.Bundle != nil {
		_ = c.Bundle.Close() // a file that stays in the system's temporary folder is not worth a failure
	}
}

// Sandboxes reports whether a script of an agent on the device runs in the sandbox, where it cannot listen for
// connections.
func (f *Finder) Sandboxes(s Script) bool {
	force, _ := f.selectedRuntime(s)
	return s.OnDevice && (force == "" || force == Embedded)
}

// Command selects what runs a script. In most cases it starts no process for that. The error is a *fault.Error.
func (f *Finder) Command(ctx context.Context, s Script) (Command, error) {
	force, by := f.selectedRuntime(s)
	why := by + " selects it"
	bun, node := f.bun(), f.node()
	switch {
	case force != "" && !slices.Contains(Names(), force):
		return Command{}, fault.New(fault.Unavailable, "write one of "+strings.Join(Names(), ", "),
			"%s selects the runtime %q, which is unknown", by, force)
	case force == Embedded:
		return f.embeddedCommand(ctx, s, why)
	case force == "" && s.OnDevice:
		return f.embeddedCommand(ctx, s, "the agent is on the device, and no runtime is selected")
	case force == Bun && bun == "":
		return Command{}, missing(Bun, by, "https://bun.sh")
	case force == Node && node == "":
		return Command{}, missing(Node, by, "https://nodejs.org")
	case s.Entry != nil:
		return f.entryCommand(ctx, s, force, why)
	case force == Node:
		return f.nodeCommand(ctx, node, s.Path, why)
	case bun != "":
		if force == "" {
			why = "bun is on PATH"
		}
		// Without --no-install bun downloads missing packages on its own.
		return Command{Argv: []string{bun, "run", "--no-install", s.Path}, Runtime: Bun, Why: why}, nil
	case node != "":
		return f.nodeCommand(ctx, node, s.Path, "")
	}
	return f.embeddedCommand(ctx, s, "neither bun nor node is on PATH")
}

// Target returns what a script that is generated is bundled for.
func (f *Finder) Target(s Script) bundle.Target {
	switch force, _ := f.selectedRuntime(s); {
	case force == Embedded || force == "" && (s.OnDevice || !s.NotEmbedded):
		return bundle.Embedded
	case force == Node || force == "" && f.bun() == "" && f.node() != "":
		return bundle.Node
	}
	return bundle.Bun
}

// entryCommand selects what runs a script that is generated: bun or node if that is forced, or if the script needs it.
func (f *Finder) entryCommand(ctx context.Context, s Script, force, why string) (Command, error) {
	target := f.Target(s)
	if target == bundle.Embedded {
		return f.embeddedCommand(ctx, s, "no runtime is selected")
	}
	if force == "" {
		why = "its functions need bun or node"
	}
	c := Command{Argv: []string{f.node(), "--enable-source-maps"}, Runtime: "node+bundle", Why: why}
	if target == bundle.Bun {
		c.Argv, c.Runtime = []string{f.bun(), "run", "--no-install"}, "bun+bundle"
	}
	if c.Argv[0] == "" {
		return Command{}, fault.New(fault.Runtime, "install bun (https://bun.sh) or node (https://nodejs.org)",
			"functions of %s need bun or node, and neither is on PATH", s.Path)
	}
	var err error
	if c.Bundle, err = f.bundles.BundleEntry(ctx, s.Entry, target); err != nil {
		return Command{}, err
	}
	c.Argv = append(c.Argv, c.Bundle.File)
	return c, nil
}

// CheckForced returns an error when Options.Force is not one of Names.
func (f *Finder) CheckForced() error {
	if f.opts.Force == "" || slices.Contains(Names(), f.opts.Force) {
		return nil
	}
	return fault.New(fault.Misuse, "use one of: "+strings.Join(Names(), ", "),
		"%s: unknown runtime %q", f.opts.ForcedBy, f.opts.Force)
}

// selectedRuntime returns the runtime that the user or the entry selects, "" for none, and which of them does, for
// messages.
func (f *Finder) selectedRuntime(s Script) (name, by string) {
	if f.opts.Force != "" {
		return f.opts.Force, f.opts.ForcedBy
	}
	return s.Runtime, "the entry's runtime key"
}

func missing(name, by, site string) error {
	return fault.New(fault.Runtime, fmt.Sprintf("install it (%s), or let trailblaze choose", site),
		"%s selects %s, which is not on PATH", by, name)
}

func (f *Finder) embeddedCommand(ctx context.Context, s Script, why string) (Command, error) {
	c := Command{Argv: []string{Embedded, s.Path}, Runtime: Embedded, Why: why}
	var err error
	if s.Entry != nil {
		c.Bundle, err = f.bundles.BundleEntry(ctx, s.Entry, bundle.Embedded)
	} else {
		c.Bundle, err = f.bundles.Bundle(ctx, s.Path, bundle.Embedded)
	}
	return c, err
}

// nodeCommand returns the command for node. forced says why node was selected, "" if it was not.
func (f *Finder) nodeCommand(ctx context.Context, node, script, forced string) (Command, error) {
	c := Command{Argv: []string{node, script}, Runtime: Node, Why: cmp.Or(forced, "node is on PATH, and bun is not")}
	ext := strings.ToLower(filepath.Ext(script))
	switch ext {
	case ".ts", ".mts", ".cts", ".tsx", ".jsx":
	default:
		return c, nil
	}
	if loader := f.loader(filepath.Dir(script)); loader != "" {
		c.Argv, c.Runtime = []string{node, "--import", files.URL(loader), script}, "node+tsx"
		return c, nil
	}
	if forced != "" && ext != ".tsx" && ext != ".jsx" {
		version, err := f.versions.get(ctx, node)
		if err != nil && ctx.Err() != nil {
			return Command{}, fault.Wrap(fault.Cancelled, err, "", "looking for a runtime")
		}
		if stripsTypes(version) {
			return c, nil
		}
	}
	b, err := f.bundles.Bundle(ctx, script, bundle.Node)
	if err != nil {
		return Command{}, err
	}
	c.Argv, c.Runtime, c.Bundle = []string{node, "--enable-source-maps", b.File}, "node+bundle", b
	c.Why += ", without a loader for TypeScript"
	return c, nil
}

// stripsTypes reports whether a node of this version ("v22.18.0") runs TypeScript by itself: 22.18, 23.6 and later.
func stripsTypes(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "v%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 23 || major == 23 && minor >= 6 || major == 22 && minor >= 18
}

// Found is a program or package on this machine.
type Found struct {
	Path    string
	Version string
}

// Bun returns the bun that would be used. It may start it to read its version. The error is a *fault.Error.
func (f *Finder) Bun(ctx context.Context) (Found, error) { return f.readVersion(ctx, Bun, f.bun()) }

// Node returns the node that would be used. It may start it to read its version. The error is a *fault.Error.
func (f *Finder) Node(ctx context.Context) (Found, error) { return f.readVersion(ctx, Node, f.node()) }

func (f *Finder) readVersion(ctx context.Context, name, path string) (Found, error) {
	if path == "" {
		return Found{}, fault.New(fault.Runtime, "", "%s is not on PATH", name)
	}
	version, err := f.versions.get(ctx, path)
	if err != nil {
		return Found{Path: path}, fault.Wrap(fault.Runtime, err, "", path+" --version")
	}
	return Found{Path: path, Version: version}, nil
}

// TSX returns the package folder of the tsx that scripts in dir would use. The error is a *fault.Error.
func (f *Finder) TSX(dir string) (Found, error) {
	for at := f.loader(dir); at != "" && at != filepath.Dir(at); at = filepath.Dir(at) {
		if pkg, ok := readPackage(at); ok && pkg.Name == "tsx" {
			return Found{Path: at, Version: pkg.Version}, nil
		}
	}
	return Found{}, fault.New(fault.Runtime, installTSX(dir),
		"tsx is neither in a node_modules from %s upwards nor on PATH", dir)
}

// loader returns the module with which node runs the TypeScript of scripts in dir, "" when there is none.
func (f *Finder) loader(dir string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if loader, known := f.loaders[dir]; known {
		return loader
	}
	loader := localLoader(dir)
	if loader == "" {
		loader = f.tsx()
	}
	f.loaders[dir] = loader
	return loader
}

func executable(name string) string {
	if goruntime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
