package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// esbuildVersion is the version of esbuild, which determines its output.
const esbuildVersion = "0.28.2"

// bundleOutput is the result of a build.
type bundleOutput struct {
	code, sourceMap []byte
	deps            string // as of dependencies.String; "" if the bundle is uncacheable
}

// newFileBuilder returns a builder of the bundle of a script.
func newFileBuilder(script string, target Target) (*builder, error) {
	info, err := os.Stat(script)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.Server, "check the script's path", "the script %s does not exist", script)
	case err != nil:
		return nil, fault.Wrap(fault.Server, err, "check the script's path and its permissions", "read the script")
	case !info.Mode().IsRegular():
		return nil, fault.New(fault.Server, "specify a file", "the script %s is not a regular file", script)
	}
	resolved, err := filepath.EvalSymlinks(script)
	if err != nil {
		return nil, fault.Wrap(fault.Server, err, "check the script's path and its permissions", "read the script")
	}
	if path := unreadableConfig(filepath.Dir(resolved)); path != "" {
		return nil, fault.New(fault.Server, "remove it, or replace it with a file",
			"%s is not a readable regular file", path)
	}
	return newBuilder(script, resolved, target), nil
}

// build builds the bundle. Most builds need one run of esbuild. After errors, a second run records the importers of each
// file, and replaces a require or import() that cannot be resolved with a module that throws, as it does in node.
func (b *builder) build(ctx context.Context) (*bundleOutput, error) {
	b, result, err := b.compile(ctx)
	if err != nil {
		return nil, err
	}
	if len(result.Errors) > 0 {
		return nil, b.fault(result.Errors)
	}
	return b.finish(result)
}

// compile returns the result of the last run, and the builder that ran.
func (b *builder) compile(ctx context.Context) (*builder, api.BuildResult, error) {
	result := b.run(ctx)
	if len(result.Errors) > 0 && ctx.Err() == nil {
		b = b.again()
		b.recordImporters = true
		result = b.run(ctx)
	}
	if ctx.Err() != nil {
		return b, result, cancelledError(ctx, b.script)
	}
	return b, result, nil
}

// unreadableConfig returns the first configuration file above a directory that esbuild would read and that is not a
// readable file; "" for none.
func unreadableConfig(dir string) string {
	for at := range AncestorDirs(dir) {
		for _, name := range slices.Concat([]string{"package.json"}, tsconfigNames(), yarnMapNames()) {
			if path := filepath.Join(at, name); isUnreadable(path) {
				return path
			}
		}
	}
	return ""
}

// outputName is the name of esbuild's output, which is only kept in memory.
const outputName = "trailblaze-bundle.mjs"

// run runs esbuild. When the context is cancelled first, it returns an empty result without waiting for esbuild, which
// opens some files that plugins cannot intercept and blocks when one is a pipe. The builder must not be used after
// that.
func (b *builder) run(ctx context.Context) api.BuildResult {
	result := make(chan api.BuildResult, 1)
	go func() { result <- b.runESBuild(ctx) }()
	select {
	case r := <-result:
		return r
	case <-ctx.Done():
		return api.BuildResult{}
	}
}

func (b *builder) runESBuild(ctx context.Context) api.BuildResult {
	build, err := api.Context(api.BuildOptions{
		EntryPoints:    []string{b.entryPoint()},
		Outfile:        filepath.Join(b.root, outputName),
		AbsWorkingDir:  b.root,
		Bundle:         true,
		Metafile:       true,
		AbsPaths:       api.MetafileAbsPath | api.LogAbsPath,
		Format:         api.FormatESModule,
		Platform:       api.PlatformNode,
		Target:         b.language(),
		Engines:        b.engines(),
		Supported:      b.supportedFeatures(),
		Conditions:     []string{}, // none besides node's
		MainFields:     []string{"main", "module"},
		Charset:        api.CharsetUTF8,
		KeepNames:      true, // esbuild renames functions when names collide
		LegalComments:  api.LegalCommentsNone,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: b.sourcesContent(),
		LogLevel:       api.LogLevelSilent,
		LogLimit:       20,
		Define:         defines(),
		Banner:         map[string]string{"js": b.banner()},
		Footer:         map[string]string{"js": b.footer()},
		Plugins:        []api.Plugin{{Name: "trailblaze", Setup: b.plug}},
		// As in node, every import is executed, whatever "sideEffects" of its package.json says.
		IgnoreAnnotations: true,
	})
	if err != nil {
		return api.BuildResult{Errors: err.Errors}
	}
	defer build.Dispose()
	defer context.AfterFunc(ctx, build.Cancel)()
	return build.Rebuild()
}

func (b *builder) entryPoint() string {
	if b.isGenerated() {
		return entryModule
	}
	return b.script
}

// sourcesContent includes the sources in the source map for bun, which does not use a map without them.
func (b *builder) sourcesContent() api.SourcesContent {
	if b.target == Bun {
		return api.SourcesContentInclude
	}
	return api.SourcesContentExclude
}

func (b *builder) language() api.Target {
	if b.target == Embedded {
		return api.ES2023 // as implemented by QuickJS
	}
	return api.DefaultTarget
}

// supportedFeatures disables features that QuickJS has but implements differently: it leaves a for await loop without
// awaiting the iterator's return.
func (b *builder) supportedFeatures() map[string]bool {
	if b.target == Embedded {
		return map[string]bool{"for-await": false}
	}
	return nil
}

func (b *builder) engines() []api.Engine {
	if b.target != Node {
		return nil
	}
	return []api.Engine{{Name: api.EngineNode, Version: "20"}}
}

// banner returns the code before the bundle: functions for fileVariablesModule, and a require for calls whose argument
// is not constant.
func (b *builder) banner() string {
	banner := embeddedBanner
	if b.target != Embedded {
		banner = nodeBanner
	}
	values := strings.NewReplacer("SCRIPT", quote(b.script), "AUTHORED", quote(b.displayPath(b.resolved)),
		"BUILTIN", builtinPattern(), "\n", " ")
	banner = values.Replace(strings.TrimSpace(banner))
	if b.target == Bun {
		return bunPragma + banner
	}
	return banner
}

// bunPragma makes bun use the source map of a file.
const bunPragma = "// @bun\n"

const nodeBanner = `
import { createRequire as __trailblaze_createRequire, isBuiltin as __trailblaze_isBuiltin } from "node:module";
import { pathToFileURL as __trailblaze_pathToFileURL } from "node:url";
globalThis.process.argv[1] = SCRIPT;
const require = __trailblaze_createRequire(SCRIPT);
const __trailblaze_path = (file, name) => __trailblaze_createRequire(file).resolve(name);
const __trailblaze_url = (path) => __trailblaze_isBuiltin(path) ? path : __trailblaze_pathToFileURL(path).href;
`

const embeddedBanner = `
(async(__trailblaze_require)=>{"use strict";
const __trailblaze_builtin = (name) => BUILTIN.test(name);
const __trailblaze_path = (file, name) => {
  if (__trailblaze_builtin(name)) return name;
  if (/^(\.{0,2}\/|[A-Za-z]:)/.test(name)) return __trailblaze_require("node:path", AUTHORED).resolve(file, "..", name);
  throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: "MODULE_NOT_FOUND" });
};
const __trailblaze_url = (path) => __trailblaze_builtin(path) ? path : __trailblaze_require("node:url", AUTHORED).pathToFileURL(path).href;
const require = (name) => {
  if (__trailblaze_builtin(name)) return __trailblaze_require(name, AUTHORED);
  if (/^(\/|[A-Za-z]:)/.test(name)) return __trailblaze_require("node:module", AUTHORED).createRequire(SCRIPT)(name);
  throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: "MODULE_NOT_FOUND" });
};
require.resolve = (name) => __trailblaze_path(SCRIPT, name);
require.cache = {};
`

func (b *builder) footer() string {
	if b.target != Embedded {
		return ""
	}
	return "})"
}

func (b *builder) finish(result api.BuildResult) (*bundleOutput, error) {
	m := &bundleOutput{}
	for _, file := range result.OutputFiles {
		switch filepath.Base(file.Path) {
		case outputName:
			m.code = file.Contents
		case outputName + ".map":
			m.sourceMap = b.absoluteSources(file.Contents)
		}
	}
	if b.target == Embedded {
		var err error
		if m.code, err = stripExports(m.code); err != nil {
			return nil, err
		}
	}
	m.deps = b.dependencies(result.Metafile)
	return m, nil
}

// stripExports removes the exports of a script, because a function has none. They are the last statement of esbuild's
// output, in one of two forms.
func stripExports(text []byte) ([]byte, error) {
	const end = "\n})"
	body, ok := bytes.CutSuffix(bytes.TrimRight(text, "\n"), []byte(end))
	if !ok {
		return nil, fault.New(fault.Bug, "", "the bundler's output has an unexpected end")
	}
	if at := bytes.LastIndex(body, []byte("\nexport ")); at >= 0 {
		exportList := regexp.MustCompile("\nexport \\{\n(  [^\n`{}]+\n)+\\};$")
		exportDefault := regexp.MustCompile("\nexport default (require_[^\n`]*;)$")
		last := exportDefault.ReplaceAll(exportList.ReplaceAll(body[at:], nil), []byte("\n$1"))
		body = append(slices.Clip(body[:at]), last...)
	}
	return append(slices.Clip(body), end+"\n"...), nil
}

// absoluteSources makes the sources of a source map independent of the location of the map.
func (b *builder) absoluteSources(data []byte) []byte {
	var fields map[string]json.RawMessage
	var sources []string
	if json.Unmarshal(data, &fields) != nil || json.Unmarshal(fields["sources"], &sources) != nil {
		return data
	}
	for i, source := range sources {
		if name, generated := strings.CutPrefix(source, nsGenerated+":"); generated {
			sources[i] = "node_modules/" + name // as of a package, in stacks
			continue
		}
		if strings.Contains(source, ":") && !filepath.IsAbs(filepath.FromSlash(source)) {
			continue // a virtual module
		}
		sources[i] = b.sourceName(source)
	}
	fields["sources"], _ = json.Marshal(sources)
	moved, err := json.Marshal(fields)
	if err != nil {
		return data
	}
	return moved
}

func (b *builder) sourceName(source string) string {
	path := filepath.FromSlash(source)
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.root, path)
	}
	if b.target == Node {
		return files.URL(path)
	}
	return path
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Sprintf("%q", s)
	}
	return string(text)
}
