package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

// builder makes one text.
type builder struct {
	script string // as it was named, absolute
	real   string // where it is
	root   string // folder of the nearest package.json, else of the script: what an author names files from
	target Target

	started time.Time
	careful bool // resolve every import ourselves

	mu    sync.Mutex
	sums  map[string]string // of the inputs, by path
	edges []edge            // when careful
}

// edge is an import that was resolved, or not.
type edge struct {
	from, spec, to string
	kind           api.ResolveKind
}

func newBuilder(script, real string, target Target) *builder {
	return &builder{script: script, real: real, root: rootOf(filepath.Dir(real)), target: target, started: time.Now(), sums: map[string]string{}}
}

func rootOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "package.json")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// author names a file as its author would.
func (b *builder) author(path string) string {
	slashed := filepath.ToSlash(path)
	if at := strings.LastIndex(slashed, "/node_modules/"); at >= 0 {
		return slashed[at+1:]
	}
	if rel, err := filepath.Rel(b.root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return slashed
}

// Namespaces of modules that are no files. Their paths are "name\x00importer\x00", so that each importer has its own, and so that
// none ends in .mjs, which would forbid what they are made of.
const (
	nsFacts  = "trailblaze-file" // what a file may ask about itself
	nsNode   = "node"            // a module of node's, asked for when it is imported
	nsAddon  = "addon"           // a native addon, which node loads itself
	nsBroken = "missing"         // throws when it is imported
)

// fileModule is what a file imports to learn about itself.
const fileModule = "trailblaze:file"

// Identifiers that esbuild puts in place of what differs from file to file. They are imported from fileModule.
const (
	dirnameID, filenameID, metaID = "__trailblaze_dirname", "__trailblaze_filename", "__trailblaze_meta"
	mainID                        = "__trailblaze_main"
)

func defines() map[string]string {
	return map[string]string{
		"__dirname": dirnameID, "__filename": filenameID, "import.meta": metaID, "require.main": mainID,
	}
}

const any = ".*"

func (b *builder) plug(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: any}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		return b.resolve(build, args)
	})
	build.OnLoad(api.OnLoadOptions{Filter: any, Namespace: "file"}, b.load)
	made := map[string]func(name, importer string) string{
		nsFacts: b.fileFacts, nsNode: b.nodeModule, nsAddon: addonModule, nsBroken: brokenModule,
	}
	for namespace, text := range made {
		build.OnLoad(api.OnLoadOptions{Filter: any, Namespace: namespace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			name, importer, _ := strings.Cut(args.Path, "\x00")
			contents := text(name, strings.TrimSuffix(importer, "\x00"))
			return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS, ResolveDir: b.root}, nil
		})
	}
}

var (
	builtinNames = `assert|assert/strict|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|` +
		`dns/promises|domain|events|fs|fs/promises|http|http2|https|inspector|inspector/promises|module|net|os|path|path/posix|path/win32|` +
		`perf_hooks|process|punycode|querystring|readline|readline/promises|repl|stream|stream/consumers|stream/promises|stream/web|` +
		`string_decoder|sys|timers|timers/promises|tls|trace_events|tty|url|util|util/types|v8|vm|wasi|worker_threads|zlib`
	builtin        = regexp.MustCompile(`^(node:.+|` + builtinNames + `)$`)
	builtinPattern = `/^(node:.+|` + strings.ReplaceAll(builtinNames, "/", `\/`) + `)$/`
	foreign        = regexp.MustCompile(`^(bun|bun:.*|deno:.*|jsr:.*|npm:.*|https?:.*)$`)
)

// asked marks the question that we ask esbuild while it asks us.
type asked struct{}

func (b *builder) resolve(build api.PluginBuild, args api.OnResolveArgs) (api.OnResolveResult, error) {
	module := func(namespace, name string) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: name + "\x00" + args.Importer + "\x00", Namespace: namespace}, nil
	}
	lazy := args.Kind == api.ResolveJSRequireCall || args.Kind == api.ResolveJSDynamicImport
	switch _, again := args.PluginData.(asked); {
	case again || args.Kind == api.ResolveEntryPoint:
		return api.OnResolveResult{}, nil
	case args.Kind == api.ResolveJSRequireResolve:
		return b.resolveOnly(build, args), nil
	case args.Path == fileModule:
		return module(nsFacts, "")
	case builtin.MatchString(args.Path) && b.target == Node:
		return api.OnResolveResult{Path: args.Path, External: true}, nil
	case builtin.MatchString(args.Path):
		name, _ := strings.CutPrefix(args.Path, "node:")
		return module(nsNode, "node:"+name)
	case strings.HasSuffix(args.Path, ".node") && b.target == Node:
		return module(nsAddon, filepath.Join(args.ResolveDir, args.Path))
	case strings.HasSuffix(args.Path, ".node") || foreign.MatchString(args.Path):
		reason := unavailable(args.Path, b.author(args.Importer))
		if lazy {
			return module(nsBroken, reason)
		}
		b.note(edge{from: args.Importer, spec: args.Path, kind: args.Kind})
		return api.OnResolveResult{}, errors.New(reason)
	case !b.careful:
		return api.OnResolveResult{}, nil
	}
	found := b.ask(build, args)
	b.note(edge{from: args.Importer, spec: args.Path, to: found.Path, kind: args.Kind})
	if len(found.Errors) > 0 && lazy {
		return module(nsBroken, fmt.Sprintf("Cannot find module '%s' imported from %s", args.Path, args.Importer))
	}
	return api.OnResolveResult{}, nil
}

func (b *builder) ask(build api.PluginBuild, args api.OnResolveArgs) api.ResolveResult {
	return build.Resolve(args.Path, api.ResolveOptions{
		Importer: args.Importer, Namespace: args.Namespace, ResolveDir: args.ResolveDir, Kind: args.Kind, PluginData: asked{},
	})
}

// resolveOnly answers require.resolve, whose answer is a path and no module.
func (b *builder) resolveOnly(build api.PluginBuild, args api.OnResolveArgs) api.OnResolveResult {
	path := args.Path
	if !builtin.MatchString(path) {
		if found := b.ask(build, args); len(found.Errors) == 0 && found.Namespace == "file" {
			path = found.Path
		}
	}
	return api.OnResolveResult{Path: path, External: true}
}

func (b *builder) note(e edge) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.edges = append(b.edges, e)
}

// load reads a file, remembers its sum, and has it learn what differs from file to file.
func (b *builder) load(args api.OnLoadArgs) (api.OnLoadResult, error) {
	data, err := readFile(args.Path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return api.OnLoadResult{}, nil // in an archive of yarn's, which esbuild can read
	}
	if err != nil {
		return api.OnLoadResult{}, fmt.Errorf("cannot read %s: %w", b.author(args.Path), err)
	}
	b.mu.Lock()
	b.sums[args.Path] = sumOf(data)
	b.mu.Unlock()
	text := b.prepare(args.Path, data)
	return api.OnLoadResult{Contents: &text, Loader: api.LoaderDefault}, nil
}

func (b *builder) prepare(path string, data []byte) string {
	if !isCode(path) {
		return string(data)
	}
	var before, after strings.Builder
	if path == b.real && bytes.Contains(data, []byte("require.main")) {
		before.WriteString("var " + mainID + " = module; ") // on the first line, so that lines stay what they are
	}
	if bytes.HasPrefix(data, []byte("#!")) {
		before.WriteString("//")
	}
	for text, names := range map[string]string{
		"__dirname": "dirname as " + dirnameID, "__filename": "filename as " + filenameID, "import.meta": "meta as " + metaID,
	} {
		if bytes.Contains(data, []byte(text)) {
			fmt.Fprintf(&after, "\nimport { %s } from %q;", names, fileModule)
		}
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

// fileFacts is the module that tells a file about itself.
func (b *builder) fileFacts(_, path string) string {
	resolve := `(name) => name`
	if b.target == Node {
		resolve = `(name) => { const found = __trailblaze_createRequire(filename).resolve(name); ` +
			`return found.includes(":") || !/^[\/\\]/.test(found) ? found : __trailblaze_url(found).href; }`
	}
	return fmt.Sprintf("export const dirname = %s, filename = %s;\n"+
		"export const meta = { dirname, filename, url: %s, main: %t, resolve: %s };\n",
		quote(filepath.Dir(path)), quote(path), quote(fileURL(path)), path == b.real, resolve)
}

func (b *builder) nodeModule(name, importer string) string {
	return "module.exports = __trailblaze_require(" + quote(name) + ", " + quote(b.author(importer)) + ");\n"
}

func addonModule(path, _ string) string {
	return "const load = require;\nmodule.exports = load(" + quote(path) + ");\n"
}

func brokenModule(reason, _ string) string {
	return "throw Object.assign(new Error(" + quote(reason) + `), { code: "MODULE_NOT_FOUND" });` + "\n"
}
