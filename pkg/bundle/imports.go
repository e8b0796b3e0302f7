package bundle

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// Import is an import of a package by a script or a file that it imports, outside of packages.
type Import struct {
	Package   string
	File      string // absolute path of the importing file
	Installed bool
}

// Imports returns the packages that a script needs to begin, each once. Files with errors count as far as they can be read.
// Files outside of packages that a path in tsconfig.json or package.json leads to are not packages.
func Imports(ctx context.Context, script string) []Import {
	var mu sync.Mutex
	var found []Import
	known := map[string]bool{}
	resolve := func(build api.PluginBuild, args api.OnResolveArgs) (api.OnResolveResult, error) {
		_, again := args.PluginData.(nestedResolve)
		if again || args.Kind == api.ResolveEntryPoint || isPath(args.Path) {
			return api.OnResolveResult{}, nil
		}
		outside := api.OnResolveResult{Path: args.Path, External: true}
		if isBuiltin(args.Path) || isUnsupported(args.Path) || strings.HasPrefix(args.Path, "#") || args.Kind != api.ResolveJSImportStatement {
			return outside, nil
		}
		installed := likelyExists(args.ResolveDir, args.Path)
		if !installed {
			r := build.Resolve(args.Path, api.ResolveOptions{
				Importer: args.Importer, ResolveDir: args.ResolveDir, Kind: args.Kind, PluginData: nestedResolve{},
			})
			if len(r.Errors) == 0 {
				return api.OnResolveResult{}, nil
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if name := PackageName(args.Path); !known[name] {
			known[name] = true
			found = append(found, Import{name, args.Importer, installed})
		}
		return outside, nil
	}
	build, err := api.Context(api.BuildOptions{
		EntryPoints: []string{script}, Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode,
		AbsWorkingDir: filepath.Dir(script), LogLevel: api.LogLevelSilent, Outfile: outputName,
		Loader: map[string]api.Loader{".node": api.LoaderEmpty},
		Plugins: []api.Plugin{{Name: "imports", Setup: func(build api.PluginBuild) {
			build.OnResolve(api.OnResolveOptions{Filter: anyPath}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
				return resolve(build, args)
			})
		}}},
	})
	if err != nil {
		return nil
	}
	defer build.Dispose()
	defer context.AfterFunc(ctx, build.Cancel)()
	build.Rebuild()
	return found
}
