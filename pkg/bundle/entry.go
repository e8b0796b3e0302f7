package bundle

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Entry is a script that is generated and imports files of a project. A file that cannot be bundled does not take the
// others along: importing it throws the reason.
type Entry struct {
	Path  string   // absolute; process.argv[1] of the script. No file needs to be there, but its folder.
	Code  string   // imports each of Files by import()
	Files []string // absolute paths
	// Modules are the code of generated modules by the names with which Code, the modules and the files of the project
	// import them. Modules import each other by relative paths, too. They come before paths in a tsconfig.json, and
	// before packages.
	Modules map[string]string
}

// nsGenerated is the namespace of an Entry and its modules.
const nsGenerated = "trailblaze"

// entryModule is the name of the code of an Entry.
const entryModule = "entry"

// NotBundled is the code of the error that importing a file throws which cannot be bundled.
const NotBundled = "ERR_NOT_BUNDLED"

// sum returns a hash of everything that an entry says.
func (e *Entry) sum() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%q %q", e.Code, e.Files)
	for _, name := range slices.Sorted(maps.Keys(e.Modules)) {
		fmt.Fprintf(&text, " %q %q", name, e.Modules[name])
	}
	return sumOf([]byte(text.String()))
}

// BundleEntry is [Cache.Bundle] for a generated script. A bundle that lacks files is not cached.
func (c *Cache) BundleEntry(ctx context.Context, e *Entry, target Target) (*Bundle, error) {
	return c.bundle(ctx, source{path: e.Path, entry: e}, target)
}

// Broken returns the first problem of each file of an entry that cannot be bundled, by path. The place of a problem is
// in the file, or in one that it imports.
func (c *Cache) Broken(ctx context.Context, e *Entry, target Target) (map[string]fault.Problem, error) {
	limited, cancel := context.WithTimeout(ctx, c.buildTimeout)
	defer cancel()
	broken := map[string]fault.Problem{}
	for _, file := range e.Files {
		b, err := newFileBuilder(file, target)
		if err != nil {
			broken[file] = fault.Problem{Kind: fault.Config, File: file, Message: err.Error(), Hint: fault.As(err).Hint}
			continue
		}
		b.root, b.modules = ProjectDir(filepath.Dir(e.Path)), e.Modules
		b, result, err := b.compile(limited)
		if err != nil {
			return nil, err
		}
		if len(result.Errors) > 0 {
			broken[file] = b.problem(result.Errors)
		}
	}
	return broken, nil
}

// buildEntry bundles an entry, first as if all its files could be bundled.
func (c *Cache) buildEntry(ctx context.Context, e *Entry, target Target) (*bundleOutput, error) {
	newBuilder := func() *builder {
		b := newBuilder(e.Path, e.Path, target)
		b.modules = maps.Clone(e.Modules)
		b.modules[entryModule] = e.Code
		return b
	}
	if output, err := newBuilder().build(ctx); err == nil || ctx.Err() != nil {
		return output, err
	}
	broken, err := c.Broken(ctx, e, target)
	if err != nil {
		return nil, err
	}
	b := newBuilder()
	b.broken = broken
	output, err := b.build(ctx)
	if err == nil && len(broken) > 0 {
		output.deps = ""
	}
	return output, err
}

// isGenerated reports whether the bundle is that of an Entry.
func (b *builder) isGenerated() bool { return b.modules[entryModule] != "" }

// resolveGenerated finds what an import means to an Entry: one of its modules, or the error of a file that cannot be
// bundled.
func (b *builder) resolveGenerated(args api.OnResolveArgs) (_ api.OnResolveResult, found bool) {
	name := args.Path
	if args.Namespace == nsGenerated && strings.HasPrefix(name, ".") {
		name = path.Join(path.Dir(args.Importer), name)
	}
	if p, broken := b.broken[args.Path]; broken {
		p.File = b.displayPath(p.File)
		module := virtualModule{importer: args.Importer, name: args.Path, code: NotBundled, message: strings.TrimSuffix(p.Error()+"; "+p.Hint, "; ")}
		result, _ := module.result(nsMissing)
		return result, true
	}
	if _, found := b.modules[name]; !found || name == entryModule && args.Kind != api.ResolveEntryPoint {
		return api.OnResolveResult{}, false
	}
	return api.OnResolveResult{Path: name, Namespace: nsGenerated}, true
}

// loadGenerated returns a module of an Entry. Its imports of packages are those of the folder of the entry.
func (b *builder) loadGenerated(args api.OnLoadArgs) (api.OnLoadResult, error) {
	code := b.modules[args.Path]
	return api.OnLoadResult{Contents: &code, Loader: api.LoaderJS, ResolveDir: filepath.Dir(b.script)}, nil
}

// addGenerated adds what determines where the imports of a module of an Entry lead.
func (b *builder) addGenerated(d dependencies, module metaInput) {
	for _, i := range module.Imports {
		switch spec := i.Original; {
		case filepath.IsAbs(spec):
			d.add(pathDep, spec)
		case spec != "" && !isPath(spec) && !isBuiltin(spec) && b.modules[spec] == "":
			d.addPackage(filepath.Dir(b.script), spec, "")
		}
	}
}
