package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// builder builds one bundle.
type builder struct {
	script   string // absolute path; process.argv[1] of the script
	resolved string // script with symbolic links resolved
	root     string // directory of the nearest package.json, else of the script; messages show paths relative to it
	target   Target
	modules  map[string]string        // of an Entry, with its code
	broken   map[string]fault.Problem // the files of an Entry that cannot be bundled

	started         time.Time
	recordImporters bool

	mu            sync.Mutex
	sums          map[string]string   // hashes of the inputs by path; "" for those that were not read
	importedPaths map[string]bool     // paths in imports
	sourceMaps    map[string][]string // the source maps of each file
	importer      map[string]string   // of each file, with recordImporters
}

func newBuilder(script, place string, target Target) *builder {
	return &builder{
		script: script, resolved: place, root: ProjectDir(filepath.Dir(place)), target: target, started: time.Now(),
		sums: map[string]string{}, importedPaths: map[string]bool{},
		sourceMaps: map[string][]string{}, importer: map[string]string{},
	}
}

// again returns a builder of the same bundle.
func (b *builder) again() *builder {
	next := newBuilder(b.script, b.resolved, b.target)
	next.root, next.modules, next.broken = b.root, b.modules, b.broken
	return next
}

// displayPath returns a path as the author of the script would write it.
func (b *builder) displayPath(path string) string {
	slashed := filepath.ToSlash(path)
	if at := strings.LastIndex(slashed, "/node_modules/"); at >= 0 {
		return slashed[at+1:]
	}
	if rel, err := filepath.Rel(b.root, path); err == nil && len(rel) < len(path) {
		return filepath.ToSlash(rel)
	}
	return slashed
}

// Namespaces of virtual modules. There is a module for each importer.
const (
	nsFile    = "about"   // variables of a file, such as __dirname
	nsNode    = "builtin" // a module of node, which the engine provides
	nsAddon   = "addon"   // a native addon, which node loads at run time
	nsMissing = "missing" // a module that throws when it is imported
)

// virtualModule is a module that is generated.
type virtualModule struct {
	importer string
	name     string // of the import
	code     string // of the error that a module of nsMissing throws
	message  string
}

func (v virtualModule) result(namespace string) (api.OnResolveResult, error) {
	// esbuild determines properties of a module by its extension; the parenthesis hides that of the importer.
	path := fmt.Sprintf("%s (imported by %s)", v.name, v.importer)
	return api.OnResolveResult{Path: path, Namespace: namespace, PluginData: v}, nil
}

// fileModule is the name under which files import the variables of fileVariables.
const fileModule = "trailblaze:file"

// fileVariable is a name whose value depends on the file, such as __dirname, and the identifier that esbuild replaces
// it with. Files import the identifier from fileModule.
type fileVariable struct{ name, id string }

const mainID = "__trailblaze_main"

func fileVariables() []fileVariable {
	return []fileVariable{
		{"__dirname", "__trailblaze_dirname"},
		{"__filename", "__trailblaze_filename"},
		{"import.meta", "__trailblaze_meta"},
		{"require.main", mainID},
		{"require.resolve", "__trailblaze_find"},
	}
}

func defines() map[string]string {
	list := map[string]string{}
	for _, own := range fileVariables() {
		list[own.name] = own.id
	}
	return list
}

const anyPath = ".*"

func (b *builder) plug(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: anyPath}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		return b.resolve(build, args)
	})
	build.OnLoad(api.OnLoadOptions{Filter: anyPath, Namespace: "file"}, b.load)
	build.OnLoad(api.OnLoadOptions{Filter: anyPath, Namespace: nsGenerated}, b.loadGenerated)
	codes := map[string]func(virtualModule) string{
		nsFile: b.fileVariablesModule, nsNode: b.nodeModule, nsAddon: addonModule, nsMissing: missingModule,
	}
	for namespace, code := range codes {
		options := api.OnLoadOptions{Filter: anyPath, Namespace: namespace}
		build.OnLoad(options, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			v, ok := args.PluginData.(virtualModule)
			if !ok {
				return api.OnLoadResult{}, fmt.Errorf("unknown virtual module %s", args.Path)
			}
			contents := code(v)
			return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS, ResolveDir: b.root}, nil
		})
	}
}

// builtinNames are the modules of node that can be imported without the prefix "node:", each between two bars.
const builtinNames = `|assert|assert/strict|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|` +
	`diagnostics_channel|dns|dns/promises|domain|events|fs|fs/promises|http|http2|https|inspector|inspector/promises|` +
	`module|net|os|path|path/posix|path/win32|perf_hooks|process|punycode|querystring|readline|readline/promises|repl|` +
	`stream|stream/consumers|stream/promises|stream/web|` +
	`string_decoder|sys|timers|timers/promises|tls|trace_events|tty|url|util|util/types|v8|vm|wasi|worker_threads|zlib|`

func isBuiltin(spec string) bool {
	name, prefixed := strings.CutPrefix(spec, "node:")
	if prefixed {
		return name != ""
	}
	return spec != "" && !strings.Contains(spec, "|") && strings.Contains(builtinNames, "|"+spec+"|")
}

// builtinPattern returns a JavaScript regular expression that matches what isBuiltin accepts.
func builtinPattern() string {
	return `/^(node:.+|` + strings.ReplaceAll(strings.Trim(builtinNames, "|"), "/", `\/`) + `)$/`
}

// isUnsupported reports whether an import needs another runtime, or is a URL.
func isUnsupported(spec string) bool {
	schemes := []string{"deno:", "jsr:", "npm:", "file:", "http:", "https:"}
	return isOfBun(spec) ||
		slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(spec, scheme) })
}

func isOfBun(spec string) bool { return spec == "bun" || strings.HasPrefix(spec, "bun:") }

// nestedResolve marks calls of esbuild's resolver from within the plugin.
type nestedResolve struct{}

func (b *builder) resolve(build api.PluginBuild, args api.OnResolveArgs) (api.OnResolveResult, error) {
	lazy := args.Kind == api.ResolveJSRequireCall || args.Kind == api.ResolveJSDynamicImport
	module := virtualModule{importer: args.Importer, name: args.Path}
	if generated, found := b.resolveGenerated(args); found {
		return generated, nil
	}
	switch _, again := args.PluginData.(nestedResolve); {
	case again || args.Kind == api.ResolveEntryPoint:
		return api.OnResolveResult{}, nil
	case args.Path == fileModule:
		return module.result(nsFile)
	case isBuiltin(args.Path) && b.target != Embedded, b.target == Bun && isOfBun(args.Path):
		return api.OnResolveResult{Path: args.Path, External: true}, nil
	case isBuiltin(args.Path):
		module.name = "node:" + strings.TrimPrefix(args.Path, "node:")
		return module.result(nsNode)
	case strings.HasSuffix(args.Path, ".node") && b.target != Embedded:
		module.name = join(args.ResolveDir, args.Path)
		return module.result(nsAddon)
	case strings.HasSuffix(args.Path, ".node") || isUnsupported(args.Path):
		why, hint := unsupportedReason(args.Path)
		if !lazy {
			return api.OnResolveResult{}, errors.New(why)
		}
		module.code = "ERR_UNKNOWN_BUILTIN_MODULE"
		module.message = fmt.Sprintf("%s (imported by %s); %s", why, b.displayPath(args.Importer), hint)
		return module.result(nsMissing)
	case lazy && (b.recordImporters || !likelyExists(args.ResolveDir, args.Path)):
		if found := b.resolveWithESBuild(build, args); len(found.Errors) > 0 {
			module.code, module.message = notFound(args)
			return module.result(nsMissing)
		}
	}
	if isPath(args.Path) {
		b.mu.Lock()
		b.importedPaths[join(args.ResolveDir, args.Path)] = true
		b.mu.Unlock()
	}
	if b.recordImporters {
		b.recordImporter(args.Importer, b.resolveWithESBuild(build, args).Path)
	}
	return api.OnResolveResult{}, nil
}

// notFound returns node's error for a module that does not exist.
func notFound(args api.OnResolveArgs) (code, message string) {
	switch {
	case args.Kind == api.ResolveJSRequireCall:
		message = fmt.Sprintf("Cannot find module '%s'\nRequire stack:\n- %s", args.Path, args.Importer)
		return "MODULE_NOT_FOUND", message
	case isPath(args.Path):
		path := join(args.ResolveDir, args.Path)
		return "ERR_MODULE_NOT_FOUND", fmt.Sprintf("Cannot find module '%s' imported from %s", path, args.Importer)
	}
	message = fmt.Sprintf("Cannot find package '%s' imported from %s", PackageName(args.Path), args.Importer)
	return "ERR_MODULE_NOT_FOUND", message
}

// likelyExists reports whether an import will probably be resolved. It avoids calls of esbuild's resolver, which take
// half a millisecond.
func likelyExists(dir, spec string) bool {
	if isPath(spec) {
		return slices.ContainsFunc(append(alternatives(join(dir, spec)), join(dir, spec)), exists)
	}
	for at := range AncestorDirs(dir) {
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

func (b *builder) resolveWithESBuild(build api.PluginBuild, args api.OnResolveArgs) api.ResolveResult {
	return build.Resolve(args.Path, api.ResolveOptions{
		Importer: args.Importer, Namespace: args.Namespace, ResolveDir: args.ResolveDir, Kind: args.Kind,
		PluginData: nestedResolve{},
	})
}

// recordImporter stores the first importer of a file.
func (b *builder) recordImporter(importer, file string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.importer[file]; !known && file != b.resolved {
		b.importer[file] = importer
	}
}

// maxInputs is the limit of files in a bundle. An import whose path begins with a variable includes everything below a
// directory.
const maxInputs = 10_000

// load reads a file, records its hash, and defines the variables that depend on the file.
func (b *builder) load(args api.OnLoadArgs) (api.OnLoadResult, error) {
	if !b.isLoadable(args.Path) {
		text := missingModule(virtualModule{
			code:    "ERR_UNKNOWN_FILE_EXTENSION",
			message: fmt.Sprintf("Unknown file extension %q for %s", filepath.Ext(args.Path), args.Path),
		})
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, b.recordInput(args.Path, "")
	}
	data, err := readFile(args.Path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return api.OnLoadResult{}, nil // in an archive of yarn, which esbuild reads itself
	}
	if err != nil {
		return api.OnLoadResult{}, fmt.Errorf("cannot read %s: %w", b.displayPath(args.Path), err)
	}
	text := b.prepare(args.Path, data)
	return api.OnLoadResult{Contents: &text, Loader: api.LoaderDefault}, b.recordInput(args.Path, sumOf(data))
}

// isLoadable reports whether a file is of a type that can be imported, or is imported by its name. Other files are only
// candidates of an import whose path is not constant.
func (b *builder) isLoadable(path string) bool {
	if isCode(path) || slices.Contains([]string{"", ".json", ".css", ".txt"}, filepath.Ext(path)) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.importedPaths[path]
}

func (b *builder) recordInput(path, sum string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sums[path] = sum
	if len(b.sums) > maxInputs {
		return fmt.Errorf("it imports more than %d files; if the path of an import is not constant, "+
			"put the files that it can mean in a separate directory", maxInputs)
	}
	return nil
}

// prepare adds definitions of the identifiers of fileVariables. It does not change line numbers.
func (b *builder) prepare(path string, data []byte) string {
	if !isCode(path) {
		return string(b.recordSourceMaps(path, data))
	}
	if isInstalled(path) {
		data = stripSourceMap(data)
	}
	data = b.recordSourceMaps(path, data)
	var before, after strings.Builder
	for _, own := range fileVariables() {
		switch {
		case !bytes.Contains(data, []byte(own.name)):
		case own.id == mainID && path == b.resolved:
			before.WriteString("var " + mainID + ` = typeof module === "undefined" ? undefined : module; `)
		case isCommonJS(path, data):
			fmt.Fprintf(&before, "var { %s } = require(%q); ", own.id, fileModule)
		default:
			fmt.Fprintf(&after, "\nimport { %s } from %q;", own.id, fileModule)
		}
	}
	if bytes.HasPrefix(data, []byte("#!")) {
		before.WriteString("//")
	}
	return before.String() + string(data) + after.String()
}

// isCommonJS reports whether a file is certainly CommonJS. An import would turn it into an ES module, which has other
// rules, and a require would fail in a file with a require of its own.
func isCommonJS(path string, data []byte) bool {
	switch filepath.Ext(path) {
	case ".js", ".cjs", ".cts":
		statement := `(?m)(^|[;}]|\*/)\s*(import|export)\b\s*[^\s(.:=,;)]`
		others := `\bimport\.meta\b|\brequire\s*=[^=]|\bfunction\s+require\b`
		return !regexp.MustCompile(statement + "|" + others).Match(data)
	}
	return false
}

func isCode(path string) bool {
	switch filepath.Ext(path) {
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return true
	}
	return false
}

// fileVariablesModule returns the code of fileModule for a file; it uses functions of the banner. require.main is
// defined in the script itself, see prepare.
func (b *builder) fileVariablesModule(v virtualModule) string {
	return fmt.Sprintf(`export const __trailblaze_dirname = %s, __trailblaze_filename = %s, __trailblaze_main = undefined;
export const __trailblaze_find = (name) => __trailblaze_path(__trailblaze_filename, name);
export const __trailblaze_meta = {
  dirname: __trailblaze_dirname, filename: __trailblaze_filename, url: %s, main: %t,
  resolve: (name) => __trailblaze_url(__trailblaze_find(name)),
};
`, quote(filepath.Dir(v.importer)), quote(v.importer), quote(files.URL(v.importer)), v.importer == b.resolved)
}

func (b *builder) nodeModule(v virtualModule) string {
	return fmt.Sprintf("module.exports = __trailblaze_require(%s, %s);\n", quote(v.name), quote(b.displayPath(v.importer)))
}

func addonModule(v virtualModule) string {
	return fmt.Sprintf("const load = require;\nmodule.exports = load(%s);\n", quote(v.name))
}

func missingModule(v virtualModule) string {
	return fmt.Sprintf("throw Object.assign(new Error(%s), { code: %s });\n", quote(v.message), quote(v.code))
}
