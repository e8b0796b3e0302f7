// Package runtime finds what can run a script: bun, or node with tsx, or node alone. It is imported as jsruntime.
//
// It refuses to keep anything running: all it ever starts is "--version", and that only when the answer decides something and
// is not remembered from an earlier run. It installs nothing.
//
// A [Finder] may be used from any goroutine. What it finds, it finds once.
package runtime

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The runtimes that may be forced.
const (
	Bun  = "bun"
	Node = "node"
)

// Options says where to look. The zero value finds nothing.
type Options struct {
	PATH     string   // as in the variable of that name
	Env      []string // environment of the version probes
	CacheDir string   // where versions are remembered between runs; "" for nowhere
	Force    string   // Bun or Node for every script, whatever its entry says; "" leaves the choice
	ForcedBy string   // who set Force, for messages: "--runtime"
}

// Finder knows the runtimes of this machine.
type Finder struct {
	opts     Options
	bun      func() string // path, "" when there is none
	node     func() string
	tsx      func() string // loader of a global tsx
	versions *versions

	mu      sync.Mutex
	loaders map[string]string // loader of the nearest tsx, by folder
}

// NewFinder returns a finder that has not looked yet.
func NewFinder(opts Options) *Finder {
	f := &Finder{opts: opts, versions: newVersions(opts.CacheDir, opts.Env), loaders: map[string]string{}}
	f.bun = sync.OnceValue(func() string { return findBun(opts.PATH) })
	f.node = sync.OnceValue(func() string {
		path, _ := LookPath(executable(Node), opts.PATH, "")
		return path
	})
	f.tsx = sync.OnceValue(func() string { return globalLoader(opts.PATH) })
	return f
}

// Command is how to start a script.
type Command struct {
	Argv    []string // the first is an absolute path
	Runtime string   // "bun", "node+tsx" or "node"
}

// Command chooses what runs script, an absolute path. force is the runtime that the script's entry asks for, "" for any.
// In the common cases nothing is started to find out. The error is a *fault.Error.
func (f *Finder) Command(ctx context.Context, script, force string) (Command, error) {
	by := "the entry's runtime:"
	if f.opts.Force != "" {
		force, by = f.opts.Force, f.opts.ForcedBy
	}
	bun, node := f.bun(), f.node()
	switch {
	case force != "" && force != Bun && force != Node:
		return Command{}, fault.New(fault.Unavailable, "bun and node are",
			"%s asks for the runtime %q, which is not available", by, force)
	case force == Bun && bun == "":
		return Command{}, missing(Bun, by, "https://bun.sh")
	case force == Node && node == "":
		return Command{}, missing(Node, by, "https://nodejs.org")
	case bun != "" && force != Node:
		// Without --no-install bun downloads missing packages on its own.
		return Command{Argv: []string{bun, "run", "--no-install", script}, Runtime: Bun}, nil
	case node != "":
		return f.nodeCommand(ctx, node, script)
	}
	return Command{}, fault.New(fault.Runtime, "",
		"No compatible TypeScript runtime found on PATH. Install bun (https://bun.sh) or Node with tsx.")
}

func missing(name, by, site string) error {
	return fault.New(fault.Runtime, fmt.Sprintf("install it (%s), or leave the choice to trailblaze", site),
		"%s asks for %s, which is not on PATH", by, name)
}

func (f *Finder) nodeCommand(ctx context.Context, node, script string) (Command, error) {
	ext := strings.ToLower(filepath.Ext(script))
	switch ext {
	case ".ts", ".mts", ".cts", ".tsx", ".jsx":
	default:
		return Command{Argv: []string{node, script}, Runtime: Node}, nil
	}
	dir := filepath.Dir(script)
	if loader := f.loader(dir); loader != "" {
		return Command{Argv: []string{node, "--import", fileURL(loader), script}, Runtime: "node+tsx"}, nil
	}
	version, err := f.versions.of(ctx, node)
	if err != nil && ctx.Err() != nil {
		return Command{}, fault.Wrap(fault.Cancelled, err, "", "looking for a runtime")
	}
	if ext != ".tsx" && ext != ".jsx" && stripsTypes(version) {
		return Command{Argv: []string{node, script}, Runtime: Node}, nil
	}
	return Command{}, fault.New(fault.Runtime, installTSX(dir),
		"%s cannot run %s: it has no TypeScript loader, and tsx is neither in a node_modules from %s upwards nor on PATH",
		strings.TrimSpace("node "+version), filepath.Base(script), dir)
}

// stripsTypes reports whether a node of this version ("v22.18.0") runs TypeScript by itself: 22.18, 23.6 and later.
func stripsTypes(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "v%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 23 || major == 23 && minor >= 6 || major == 22 && minor >= 18
}

// Found is a runtime on this machine.
type Found struct {
	Path    string
	Version string
}

// Bun returns the bun that would be used. It may start it to learn its version. The error is a *fault.Error.
func (f *Finder) Bun(ctx context.Context) (Found, error) { return f.found(ctx, Bun, f.bun()) }

// Node returns the node that would be used. It may start it to learn its version. The error is a *fault.Error.
func (f *Finder) Node(ctx context.Context) (Found, error) { return f.found(ctx, Node, f.node()) }

func (f *Finder) found(ctx context.Context, name, path string) (Found, error) {
	if path == "" {
		return Found{}, fault.New(fault.Runtime, "", "%s is not on PATH", name)
	}
	version, err := f.versions.of(ctx, path)
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

// loader returns the module that teaches node TypeScript for scripts in dir, "" when there is none.
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

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func executable(name string) string {
	if goruntime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
