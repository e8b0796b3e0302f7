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
)

// esbuildVersion is the version of the bundler, whose texts are its own.
const esbuildVersion = "0.28.2"

// made is a new text.
type made struct {
	text, sourceMap []byte
	facts           string // what went into it, "" when that is not known for certain
}

// build makes the text of a script. Most scripts are made at once. When something is missing, a second, careful attempt finds out
// which imports led there, and lets a require or import() of it fail when it is reached, as it does in node.
func build(ctx context.Context, script string, target Target) (*made, error) {
	info, err := os.Stat(script)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.Server, "check the script's path", "there is no file %s", script)
	case err != nil:
		return nil, fault.Wrap(fault.Server, err, "check the script's path and its permissions", "read the script")
	case !info.Mode().IsRegular():
		return nil, fault.New(fault.Server, "name a file", "%s is not a file", script)
	}
	place, err := filepath.EvalSymlinks(script)
	if err != nil {
		return nil, fault.Wrap(fault.Server, err, "check the script's path and its permissions", "read the script")
	}
	if path := oddConfiguration(filepath.Dir(place)); path != "" {
		return nil, fault.New(fault.Server, "remove it, or put a file in its place", "%s is not a file that can be read", path)
	}
	b := newBuilder(script, place, target)
	result := b.run(ctx)
	if len(result.Errors) > 0 && ctx.Err() == nil {
		b = newBuilder(script, place, target)
		b.careful = true
		result = b.run(ctx)
	}
	if ctx.Err() != nil {
		return nil, cancelled(ctx, script)
	}
	if len(result.Errors) > 0 {
		return nil, b.fault(result.Errors)
	}
	return b.finish(result)
}

// oddConfiguration is the first of the files that esbuild would read above a folder that it could not, "" for none.
func oddConfiguration(dir string) string {
	for at := range Upwards(dir) {
		for _, name := range []string{"package.json", "tsconfig.json", "jsconfig.json", ".pnp.data.json", ".pnp.cjs", ".pnp.js"} {
			if path := filepath.Join(at, name); isOdd(path) {
				return path
			}
		}
	}
	return ""
}

// out is where esbuild believes that its output goes; it is only ever in memory.
const out = "trailblaze-bundle.mjs"

// run has esbuild make the text. When the context ends first, the result is empty, and esbuild is left to itself: it opens some files
// that nobody can keep from it, and waits for ever for one that is a pipe. The builder must not be used any more then.
func (b *builder) run(ctx context.Context) api.BuildResult {
	result := make(chan api.BuildResult, 1)
	go func() { result <- b.rebuild(ctx) }()
	select {
	case r := <-result:
		return r
	case <-ctx.Done():
		return api.BuildResult{}
	}
}

func (b *builder) rebuild(ctx context.Context) api.BuildResult {
	build, err := api.Context(api.BuildOptions{
		EntryPoints:    []string{b.script},
		Outfile:        filepath.Join(b.root, out),
		AbsWorkingDir:  b.root,
		Bundle:         true,
		Metafile:       true,
		AbsPaths:       api.MetafileAbsPath | api.LogAbsPath,
		Format:         api.FormatESModule,
		Platform:       api.PlatformNode,
		Target:         b.language(),
		Engines:        b.engines(),
		Supported:      b.supported(),
		Conditions:     []string{}, // those of node alone
		MainFields:     []string{"main", "module"},
		Charset:        api.CharsetUTF8,
		KeepNames:      true, // esbuild renames what has the name of something else
		LegalComments:  api.LegalCommentsNone,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		LogLevel:       api.LogLevelSilent,
		LogLimit:       20,
		Define:         defines(),
		Banner:         map[string]string{"js": b.banner()},
		Footer:         map[string]string{"js": b.footer()},
		Plugins:        []api.Plugin{{Name: "trailblaze", Setup: b.plug}},
	})
	if err != nil {
		return api.BuildResult{Errors: err.Errors}
	}
	defer build.Dispose()
	defer context.AfterFunc(ctx, build.Cancel)()
	return build.Rebuild()
}

func (b *builder) language() api.Target {
	if b.target == Embedded {
		return api.ES2023 // what the engine has
	}
	return api.DefaultTarget
}

// supported takes back what the engine has but does otherwise: it leaves a for await loop without waiting for the iterator's end.
func (b *builder) supported() map[string]bool {
	if b.target == Embedded {
		return map[string]bool{"for-await": false}
	}
	return nil
}

func (b *builder) engines() []api.Engine {
	if b.target == Embedded {
		return nil
	}
	return []api.Engine{{Name: api.EngineNode, Version: "20"}}
}

// banner and footer go around the text. The banner has what the modules of fileFacts need, and `require` for a dynamic require, of
// which only the name is known when it runs.
func (b *builder) banner() string {
	banner := embeddedBanner
	if b.target == Node {
		banner = nodeBanner
	}
	named := strings.NewReplacer("SCRIPT", quote(b.script), "AUTHORED", quote(b.author(b.place)), "BUILTIN", builtinPattern(), "\n", " ")
	return named.Replace(strings.TrimSpace(banner))
}

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
	if b.target == Node {
		return ""
	}
	return "})"
}

func (b *builder) finish(result api.BuildResult) (*made, error) {
	m := &made{}
	for _, file := range result.OutputFiles {
		switch filepath.Base(file.Path) {
		case out:
			m.text = file.Contents
		case out + ".map":
			m.sourceMap = b.mapWithPlaces(file.Contents)
		}
	}
	if b.target == Embedded {
		var err error
		if m.text, err = withoutExports(m.text); err != nil {
			return nil, err
		}
	}
	m.facts = b.facts(result.Metafile)
	return m, nil
}

// withoutExports removes what a script exports: a function has no exports. They are the last statement of esbuild's output, in one of
// two forms.
func withoutExports(text []byte) ([]byte, error) {
	const end = "\n})"
	body, ok := bytes.CutSuffix(bytes.TrimRight(text, "\n"), []byte(end))
	if !ok {
		return nil, fault.New(fault.Bug, "", "the bundler's output does not end as expected")
	}
	if at := bytes.LastIndex(body, []byte("\nexport ")); at >= 0 {
		exportList := regexp.MustCompile("\nexport \\{\n(  [^\n`{}]+\n)+\\};$")
		exportDefault := regexp.MustCompile("\nexport default (require_[^\n`]*;)$")
		last := exportDefault.ReplaceAll(exportList.ReplaceAll(body[at:], nil), []byte("\n$1"))
		body = append(slices.Clip(body[:at]), last...)
	}
	return append(slices.Clip(body), end+"\n"...), nil
}

// mapWithPlaces gives the sources of a source map names that do not depend on where the map is.
func (b *builder) mapWithPlaces(data []byte) []byte {
	var fields map[string]json.RawMessage
	var sources []string
	if json.Unmarshal(data, &fields) != nil || json.Unmarshal(fields["sources"], &sources) != nil {
		return data
	}
	for i, source := range sources {
		if strings.Contains(source, ":") && !filepath.IsAbs(filepath.FromSlash(source)) {
			continue // a module that is not a file
		}
		sources[i] = b.source(source)
	}
	fields["sources"], _ = json.Marshal(sources)
	moved, err := json.Marshal(fields)
	if err != nil {
		return data
	}
	return moved
}

func (b *builder) source(source string) string {
	path := filepath.FromSlash(source)
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.root, path)
	}
	if b.target == Node {
		return FileURL(path)
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
