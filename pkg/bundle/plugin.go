package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

// builder makes one text.
type builder struct {
	script string // as it was named, absolute; its process.argv[1]
	place  string // where it is
	root   string // folder of the nearest package.json, else of the script: what an author names files from
	target Target

	started time.Time
	careful bool // find out who imports what

	mu       sync.Mutex
	sums     map[string]string   // of the inputs, by path; "" for those that were not read
	named    map[string]bool     // paths that imports name
	maps     map[string][]string // the source maps that each file names
	importer map[string]string   // of each file, when careful
}

func newBuilder(script, place string, target Target) *builder {
	return &builder{
		script: script, place: place, root: ProjectDir(filepath.Dir(place)), target: target, started: time.Now(),
		sums: map[string]string{}, named: map[string]bool{}, maps: map[string][]string{}, importer: map[string]string{},
	}
}

// author names a file as its author would.
func (b *builder) author(path string) string {
	slashed := filepath.ToSlash(path)
	if at := strings.LastIndex(slashed, "/node_modules/"); at >= 0 {
		return slashed[at+1:]
	}
	if rel, err := filepath.Rel(b.root, path); err == nil && len(rel) < len(path) {
		return filepath.ToSlash(rel)
	}
	return slashed
}

// Namespaces of modules that are no files, one for each importer.
const (
	nsFacts  = "about"   // what a file may ask about itself
	nsNode   = "builtin" // a module of node's, asked for when it is imported
	nsAddon  = "addon"   // a native addon, which node loads itself
	nsBroken = "missing" // throws when it is imported
)

// virtual is a module that is no file.
type virtual struct {
	importer string
	name     string // what was imported
	code     string // of the error that a missing one throws
	message  string
}

func (v virtual) in(namespace string) (api.OnResolveResult, error) {
	// The parenthesis at the end keeps esbuild from judging the module by the importer's extension.
	return api.OnResolveResult{Path: fmt.Sprintf("%s (imported by %s)", v.name, v.importer), Namespace: namespace, PluginData: v}, nil
}

// fileModule is what a file imports to learn about itself.
const fileModule = "trailblaze:file"

// ownName is something that means something else in each file, and the identifier that esbuild puts in its place. The files import
// that from fileModule.
type ownName struct{ name, id string }

const mainID = "__trailblaze_main"

func perFile() []ownName {
	return []ownName{
		{"__dirname", "__trailblaze_dirname"},
		{"__filename", "__trailblaze_filename"},
		{"import.meta", "__trailblaze_meta"},
		{"require.main", mainID},
		{"require.resolve", "__trailblaze_find"},
	}
}

func defines() map[string]string {
	list := map[string]string{}
	for _, own := range perFile() {
		list[own.name] = own.id
	}
	return list
}

const everything = ".*"

func (b *builder) plug(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: everything}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		return b.resolve(build, args)
	})
	build.OnLoad(api.OnLoadOptions{Filter: everything, Namespace: "file"}, b.load)
	texts := map[string]func(virtual) string{nsFacts: b.fileFacts, nsNode: b.nodeModule, nsAddon: addonModule, nsBroken: brokenModule}
	for namespace, text := range texts {
		build.OnLoad(api.OnLoadOptions{Filter: everything, Namespace: namespace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			v, ok := args.PluginData.(virtual)
			if !ok {
				return api.OnLoadResult{}, fmt.Errorf("nobody knows what %s is", args.Path)
			}
			contents := text(v)
			return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS, ResolveDir: b.root}, nil
		})
	}
}

// builtinNames are node's own modules that need no node: before their name, each between two bars.
const builtinNames = `|assert|assert/strict|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|` +
	`dns/promises|domain|events|fs|fs/promises|http|http2|https|inspector|inspector/promises|module|net|os|path|path/posix|path/win32|` +
	`perf_hooks|process|punycode|querystring|readline|readline/promises|repl|stream|stream/consumers|stream/promises|stream/web|` +
	`string_decoder|sys|timers|timers/promises|tls|trace_events|tty|url|util|util/types|v8|vm|wasi|worker_threads|zlib|`

func isBuiltin(spec string) bool {
	name, prefixed := strings.CutPrefix(spec, "node:")
	if prefixed {
		return name != ""
	}
	return spec != "" && !strings.Contains(spec, "|") && strings.Contains(builtinNames, "|"+spec+"|")
}

// builtinPattern is isBuiltin as a regular expression of JavaScript's.
func builtinPattern() string {
	return `/^(node:.+|` + strings.ReplaceAll(strings.Trim(builtinNames, "|"), "/", `\/`) + `)$/`
}

// isForeign reports whether an import is for another runtime, or by a URL.
func isForeign(spec string) bool {
	schemes := []string{"bun:", "deno:", "jsr:", "npm:", "file:", "http:", "https:"}
	return spec == "bun" || slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(spec, scheme) })
}

// asked marks the question that we ask esbuild while it asks us.
type asked struct{}

func (b *builder) resolve(build api.PluginBuild, args api.OnResolveArgs) (api.OnResolveResult, error) {
	lazy := args.Kind == api.ResolveJSRequireCall || args.Kind == api.ResolveJSDynamicImport
	module := virtual{importer: args.Importer, name: args.Path}
	switch _, again := args.PluginData.(asked); {
	case again || args.Kind == api.ResolveEntryPoint:
		return api.OnResolveResult{}, nil
	case args.Path == fileModule:
		return module.in(nsFacts)
	case isBuiltin(args.Path) && b.target == Node:
		return api.OnResolveResult{Path: args.Path, External: true}, nil
	case isBuiltin(args.Path):
		module.name = "node:" + strings.TrimPrefix(args.Path, "node:")
		return module.in(nsNode)
	case strings.HasSuffix(args.Path, ".node") && b.target == Node:
		module.name = join(args.ResolveDir, args.Path)
		return module.in(nsAddon)
	case strings.HasSuffix(args.Path, ".node") || isForeign(args.Path):
		why, hint := unavailable(args.Path)
		if !lazy {
			return api.OnResolveResult{}, errors.New(why)
		}
		module.code, module.message = "ERR_UNKNOWN_BUILTIN_MODULE", fmt.Sprintf("%s (imported by %s); %s", why, b.author(args.Importer), hint)
		return module.in(nsBroken)
	case lazy && (b.careful || !plausible(args.ResolveDir, args.Path)):
		if found := b.ask(build, args); len(found.Errors) > 0 {
			module.code, module.message = notFound(args)
			return module.in(nsBroken)
		}
	}
	if isPath(args.Path) {
		b.mu.Lock()
		b.named[join(args.ResolveDir, args.Path)] = true
		b.mu.Unlock()
	}
	if b.careful {
		b.note(args.Importer, b.ask(build, args).Path)
	}
	return api.OnResolveResult{}, nil
}

// notFound is what node says of a module that is not there.
func notFound(args api.OnResolveArgs) (code, message string) {
	switch {
	case args.Kind == api.ResolveJSRequireCall:
		return "MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s'\nRequire stack:\n- %s", args.Path, args.Importer)
	case isPath(args.Path):
		return "ERR_MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s' imported from %s", join(args.ResolveDir, args.Path), args.Importer)
	}
	return "ERR_MODULE_NOT_FOUND", fmt.Sprintf("Cannot find package '%s' imported from %s", PackageName(args.Path), args.Importer)
}

// plausible reports whether an import will probably be found, since asking esbuild takes half a millisecond.
func plausible(dir, spec string) bool {
	if isPath(spec) {
		return slices.ContainsFunc(append(alternatives(join(dir, spec)), join(dir, spec)), exists)
	}
	for at := range Upwards(dir) {
		if exists(filepath.Join(at, "node_modules", PackageName(spec))) {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (b *builder) ask(build api.PluginBuild, args api.OnResolveArgs) api.ResolveResult {
	return build.Resolve(args.Path, api.ResolveOptions{
		Importer: args.Importer, Namespace: args.Namespace, ResolveDir: args.ResolveDir, Kind: args.Kind, PluginData: asked{},
	})
}

// note remembers who imported a file first.
func (b *builder) note(importer, file string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.importer[file]; !known && file != b.place {
		b.importer[file] = importer
	}
}

// maxInputs is more than any server has. A path that begins with a variable takes in everything below its folder.
const maxInputs = 10_000

// load reads a file, remembers its sum, and has it learn what differs from file to file.
func (b *builder) load(args api.OnLoadArgs) (api.OnLoadResult, error) {
	if !b.isWanted(args.Path) {
		text := brokenModule(virtual{
			code: "ERR_UNKNOWN_FILE_EXTENSION", message: fmt.Sprintf("Unknown file extension %q for %s", filepath.Ext(args.Path), args.Path),
		})
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, b.remember(args.Path, "")
	}
	data, err := readFile(args.Path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return api.OnLoadResult{}, nil // in an archive of yarn's, which esbuild can read
	}
	if err != nil {
		return api.OnLoadResult{}, fmt.Errorf("cannot read %s: %w", b.author(args.Path), err)
	}
	text := b.prepare(args.Path, data)
	return api.OnLoadResult{Contents: &text, Loader: api.LoaderDefault}, b.remember(args.Path, sumOf(data))
}

// isWanted reports whether a file can be imported, or is imported by name all the same. The others were only met because a path is made
// when the script runs.
func (b *builder) isWanted(path string) bool {
	if isCode(path) || slices.Contains([]string{"", ".json", ".css", ".txt"}, filepath.Ext(path)) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.named[path]
}

func (b *builder) remember(path, sum string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sums[path] = sum
	if len(b.sums) > maxInputs {
		return fmt.Errorf("it imports more than %d files; keep those whose name is made when the script runs in a folder of their own", maxInputs)
	}
	return nil
}

// prepare adds what esbuild's identifiers for __dirname and the like stand for. Lines stay what they are.
func (b *builder) prepare(path string, data []byte) string {
	if !isCode(path) {
		return string(b.withoutOddMaps(path, data))
	}
	if isInstalled(path) {
		data = withoutMap(data)
	}
	data = b.withoutOddMaps(path, data)
	var before, after strings.Builder
	for _, own := range perFile() {
		switch {
		case !bytes.Contains(data, []byte(own.name)):
		case own.id == mainID && path == b.place:
			before.WriteString("var " + mainID + ` = typeof module === "undefined" ? undefined : module; `)
		default:
			fmt.Fprintf(&after, "\nimport { %s } from %q;", own.id, fileModule)
		}
	}
	if bytes.HasPrefix(data, []byte("#!")) {
		before.WriteString("//")
	}
	return before.String() + string(data) + after.String()
}

func isCode(path string) bool {
	switch filepath.Ext(path) {
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return true
	}
	return false
}

// fileFacts is the module that tells a file about itself, by the functions of the banner. Only the script has a require.main, see
// prepare.
func (b *builder) fileFacts(v virtual) string {
	return fmt.Sprintf(`export const __trailblaze_dirname = %s, __trailblaze_filename = %s, __trailblaze_main = undefined;
export const __trailblaze_find = (name) => __trailblaze_path(__trailblaze_filename, name);
export const __trailblaze_meta = {
  dirname: __trailblaze_dirname, filename: __trailblaze_filename, url: %s, main: %t,
  resolve: (name) => __trailblaze_url(__trailblaze_find(name)),
};
`, quote(filepath.Dir(v.importer)), quote(v.importer), quote(FileURL(v.importer)), v.importer == b.place)
}

func (b *builder) nodeModule(v virtual) string {
	return fmt.Sprintf("module.exports = __trailblaze_require(%s, %s);\n", quote(v.name), quote(b.author(v.importer)))
}

func addonModule(v virtual) string {
	return fmt.Sprintf("const load = require;\nmodule.exports = load(%s);\n", quote(v.name))
}

func brokenModule(v virtual) string {
	return fmt.Sprintf("throw Object.assign(new Error(%s), { code: %s });\n", quote(v.message), quote(v.code))
}
