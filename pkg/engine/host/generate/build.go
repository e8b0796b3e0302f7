package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// files has the contents of files by their slash-separated paths in dist.
type files map[string][]byte

// nodeModules are the modules of node that src may have a file for. Other files are internal modules.
func nodeModules() []string {
	return strings.Fields(`
		assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns dns/promises
		domain events fs fs/promises http http2 https inspector module net os path path/posix path/win32 perf_hooks process punycode
		querystring readline readline/promises repl stream stream/consumers stream/promises stream/web string_decoder sys timers
		timers/promises tls tty url util util/types v8 vm wasi worker_threads zlib`)
}

// build builds all chunks, and the text of the licenses of the packages in them.
func build(dir string) (files, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	sources, err := sources(filepath.Join(dir, "src"))
	if err != nil {
		return nil, err
	}
	result := api.Build(options(dir, sources))
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	out := files{}
	for _, file := range result.OutputFiles {
		name, err := filepath.Rel(filepath.Join(dir, "dist"), file.Path)
		if err != nil {
			return nil, err
		}
		out[filepath.ToSlash(name)] = file.Contents
	}
	out["LICENSES.txt"], err = licenseTexts(dir, result.Metafile)
	return out, err
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
		Charset:          api.CharsetUTF8,
		MinifySyntax:     true,
		MinifyWhitespace: true,
		LegalComments:    api.LegalCommentsNone,
		LogLevel:         api.LogLevelSilent,
		Metafile:         true,
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

// licenseTexts returns the licenses of all packages in the chunks, sorted by name.
func licenseTexts(dir, metafile string) ([]byte, error) {
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, fmt.Errorf("read esbuild's list of inputs: %w", err)
	}
	var roots []string
	for input := range meta.Inputs {
		if root := packageRoot(input); root != "" && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	text := []byte("The modules of the embedded engine contain parts of these npm packages.\n")
	for _, root := range roots {
		one, err := licenseText(filepath.Join(dir, filepath.FromSlash(root)))
		if err != nil {
			return nil, err
		}
		text = append(text, one...)
	}
	return text, nil
}

// packageRoot returns the directory of the package that an input belongs to; "" for the engine's own sources.
func packageRoot(input string) string {
	at := strings.LastIndex(input, "node_modules/")
	if at < 0 {
		return ""
	}
	start := at + len("node_modules/")
	parts := strings.Split(input[start:], "/")
	if strings.HasPrefix(parts[0], "@") {
		return input[:start] + parts[0] + "/" + parts[1]
	}
	return input[:start] + parts[0]
}

// licenseText returns the license of a package. It fails for a license that requires more than including its text.
func licenseText(root string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(root, "package.json"))
	if err != nil {
		return nil, err
	}
	var about struct{ Name, Version, License string }
	if err := json.Unmarshal(raw, &about); err != nil {
		return nil, fmt.Errorf("read %s/package.json: %w", root, err)
	}
	if !slices.Contains([]string{"MIT", "ISC", "BSD-3-Clause", "Apache-2.0"}, about.License) {
		return nil, fmt.Errorf("%s has the license %q, which is not in the list of permissive licenses", about.Name, about.License)
	}
	found, err := filepath.Glob(filepath.Join(root, "[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*"))
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("%s has no license file", about.Name)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	body := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
	return fmt.Appendf(nil, "\n%s\n%s %s (%s)\n\n%s\n", strings.Repeat("-", 80), about.Name, about.Version, about.License, body), nil
}

// write replaces the contents of dist.
func write(dir string, all files) error {
	dist := filepath.Join(dir, "dist")
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	for name, text := range all {
		file := filepath.Join(dist, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
