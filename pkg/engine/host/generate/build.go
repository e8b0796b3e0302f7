package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/trailblaze/trailblaze/pkg/embedded"
)

// nodeModules are the modules of node that src may have a file for. Other files are internal modules.
func nodeModules() []string {
	return strings.Fields(`
		assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns dns/promises
		domain events fs fs/promises http http2 https inspector module net os path path/posix path/win32 perf_hooks process punycode
		querystring readline readline/promises repl stream stream/consumers stream/promises stream/web string_decoder sys timers
		timers/promises tls tty url util util/types v8 vm wasi worker_threads zlib`)
}

// chunks is the archive with all chunks. Each of them is compressed, since most scripts need only some.
const chunks = "chunks.zip"

// build builds the archive of all chunks, and the text of the licenses of the packages in them.
func build(dir string) (embedded.Files, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	sources, err := sources(filepath.Join(dir, "src"))
	if err != nil {
		return nil, err
	}
	files, err := embedded.Build(options(dir, sources), "The modules of the embedded engine contain parts of these npm packages.")
	if err != nil {
		return nil, err
	}
	licenses := files[embedded.Licenses]
	delete(files, embedded.Licenses)
	archive, err := files.Zip()
	return embedded.Files{embedded.Licenses: licenses, chunks: archive}, err
}

// sources returns the entry points in src: src/fs/promises.js is node:fs/promises, src/internal/abort.js and
// src/fetch.js are internal.
func sources(src string) ([]api.EntryPoint, error) {
	var entries []api.EntryPoint
	err := filepath.WalkDir(src, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".js" {
			return err
		}
		rel, err := filepath.Rel(src, strings.TrimSuffix(file, ".js"))
		name := filepath.ToSlash(rel)
		if !slices.Contains(nodeModules(), name) && !strings.HasPrefix(name, "internal/") {
			name = "internal/" + name
		}
		entries = append(entries, api.EntryPoint{InputPath: file, OutputPath: name})
		return err
	})
	if len(entries) == 0 && err == nil {
		err = fmt.Errorf("%s has no sources", src)
	}
	return entries, err
}

func options(dir string, entries []api.EntryPoint) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir:       dir,
		EntryPointsAdvanced: entries,
		Outdir:              filepath.Join(dir, "dist"),
		Bundle:              true,
		Format:              api.FormatCommonJS,
		Platform:            api.PlatformNeutral,
		MainFields:          []string{"module", "main"},
		Conditions:          []string{"import", "default"},
		Target:              api.ES2023,
		// QuickJS does not await the iterator's return when it leaves a loop.
		Supported:        map[string]bool{"for-await": false},
		MinifySyntax:     true,
		MinifyWhitespace: true,
		TsconfigRaw:      "{}",
		// require returns the default export of a module.
		Footer:  map[string]string{"js": "module.exports=module.exports.default??module.exports;"},
		Plugins: []api.Plugin{{Name: "host", Setup: resolve}},
	}
}

// resolve keeps imports of node's modules and of internal modules as calls of require. As in node, a name with a slash
// at the end means the npm package ("buffer/"), but only in src: imports of packages get the engine's module.
func resolve(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: `^(node:|internal/|abort-controller$|[a-z_]+(/[a-z0-9_]*)?$)`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		if args.Kind == api.ResolveEntryPoint {
			return api.OnResolveResult{}, nil
		}
		name := strings.TrimPrefix(args.Path, "node:")
		fromPackage := strings.Contains(filepath.ToSlash(args.Importer), "/node_modules/")
		if fromPackage {
			name = strings.TrimSuffix(name, "/")
		}
		switch {
		case strings.HasPrefix(name, "internal/"):
			return api.OnResolveResult{Path: name, External: true}, checkSource(build, name)
		case name == "abort-controller":
			return api.OnResolveResult{Path: "internal/abort", External: true}, nil
		case slices.Contains(nodeModules(), name):
			return api.OnResolveResult{Path: "node:" + name, External: true}, nil
		}
		return api.OnResolveResult{}, nil
	})
}

// checkSource returns an error if an internal module has no source.
func checkSource(build api.PluginBuild, name string) error {
	src := filepath.Join(build.InitialOptions.AbsWorkingDir, "src")
	_, err := os.Stat(filepath.Join(src, name+".js"))
	if err != nil {
		_, err = os.Stat(filepath.Join(src, strings.TrimPrefix(name, "internal/")+".js"))
	}
	return err
}
