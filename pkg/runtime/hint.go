package runtime

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/bundle"
)

// Hint says what to do about a script, or a command in dir, that died with stderr; "" when nothing is known. script may be
// empty. It knows the words of bun, of node's two module systems, and of tsx.
func Hint(script, dir, stderr string) string {
	d := death{script: script, dir: dir, stderr: stderr}
	if script != "" {
		d.dir = filepath.Dir(script)
	}
	for _, explain := range []func() string{d.needsESM, d.missingModule, d.noTypeScript, d.needsBun, d.needsRuntime, d.syntax, d.missingCommand} {
		if hint := explain(); hint != "" {
			return hint
		}
	}
	return ""
}

type death struct{ script, dir, stderr string }

func (d death) has(parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(d.stderr, part) {
			return true
		}
	}
	return false
}

// find returns the groups of the first match, nil when there is none.
func (d death) find(pattern string) []string {
	return regexp.MustCompile(pattern).FindStringSubmatch(d.stderr)
}

// needsESM: a script that node or tsx takes for CommonJS, which has no top-level await.
func (d death) needsESM() string {
	if !d.has(`Top-level await is currently not supported with the "cjs" output format`,
		"await is only valid in async functions and the top level bodies of modules",
		"Cannot use import statement outside a module", "[ERR_REQUIRE_ESM]", "[ERR_REQUIRE_ASYNC_MODULE]") {
		return ""
	}
	dir := d.dir
	if m := d.find(`(?m)^(.+?):\d+:\d+: ERROR: Top-level await`); m != nil && filepath.IsAbs(m[1]) {
		dir = filepath.Dir(m[1])
	}
	hint := fmt.Sprintf(`add "type": "module" to %s`, filepath.Join(bundle.ProjectDir(dir), "package.json"))
	if ext := filepath.Ext(d.script); ext == ".ts" || ext == ".js" {
		hint += fmt.Sprintf(`, or rename %s to .m%s`, filepath.Base(d.script), ext[1:])
	}
	return hint
}

func (d death) missingModule() string {
	// Cannot find package 'zod' imported from /p/shop.ts      node, ES modules
	// Cannot find module 'zod' from '/p/shop.ts'              bun
	// Cannot find module 'zod'\nRequire stack:\n- /p/shop.ts  node, CommonJS; tsx
	m := d.find(`Cannot find (?:module|package) ['"]([^'"\n]+)['"]` +
		`(?: imported from ([^\n]+)| from ['"]([^'"\n]+)['"]|\nRequire stack:\n- ([^\n]+))?`)
	if m == nil {
		m = d.find(`Could not resolve: ['"]([^'"\n]+)['"]`)
	}
	if m == nil {
		return ""
	}
	name, importer := m[1], strings.TrimSpace(strings.Join(m[2:], ""))
	if strings.HasPrefix(name, "bun:") || name == "bun" {
		return bunOnly
	}
	if strings.HasPrefix(name, ".") || filepath.IsAbs(name) && !strings.Contains(filepath.ToSlash(name), "/node_modules/") {
		return d.missingFile(name, importer)
	}
	name = filepath.ToSlash(name)
	if i := strings.LastIndex(name, "/node_modules/"); i >= 0 {
		name = name[i+len("/node_modules/"):] // a path into a package
	}
	return d.missingPackage(bundle.PackageName(name), importer)
}

func (d death) missingFile(name, importer string) string {
	if importer == "" || importer == name {
		return fmt.Sprintf("%s does not exist", name)
	}
	hint := fmt.Sprintf("%s does not exist; check the import in %s", name, importer)
	if d.has("[ERR_MODULE_NOT_FOUND]") {
		hint += ", which needs the file's real extension unless bun or tsx runs it"
	}
	return hint
}

// missingPackage names the package, the folder and the command: packages are never installed for the user.
func (d death) missingPackage(name, importer string) string {
	dir := d.dir
	if filepath.IsAbs(importer) {
		dir = filepath.Dir(importer)
		if outside, _, inside := strings.Cut(filepath.ToSlash(dir), "/node_modules/"); inside {
			dir = filepath.FromSlash(outside)
		}
	}
	usual := "npm"
	if d.has("Bun v") {
		usual = "bun"
	}
	dir = bundle.ProjectDir(dir)
	return fmt.Sprintf("the package %s is not installed; run %q in %s", name, bundle.InstallCommand(name, dir, usual), dir)
}

func (d death) noTypeScript() string {
	if m := d.find(`\[ERR_UNKNOWN_FILE_EXTENSION\]: Unknown file extension "(\.[a-z]+)"`); m != nil {
		return fmt.Sprintf("this node does not run %s files by itself; %s", m[1], installTSX(d.dir))
	}
	if d.has("[ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX]") {
		return "node only removes types, and this syntax needs more; " + installTSX(d.dir)
	}
	return ""
}

func installTSX(dir string) string {
	return fmt.Sprintf(`run "npm install --save-dev tsx" in %s, or install bun (https://bun.sh)`, bundle.ProjectDir(dir))
}

const bunOnly = "the script needs bun: install it (https://bun.sh), or let it be chosen"

func (d death) needsBun() string {
	if d.has("ReferenceError: Bun is not defined", "Received protocol 'bun:'") {
		return bunOnly
	}
	return ""
}

// needsRuntime: what the engine inside trailblaze does not have.
func (d death) needsRuntime() string {
	switch {
	case d.has("is not available in the embedded engine"):
		return bundle.OtherRuntimeHint
	case d.has("Could not locate the bindings file"):
		return "a native addon is not built (npm rebuild builds it), or the server runs in the embedded engine, which loads none: " + bundle.OtherRuntimeHint
	}
	return ""
}

// syntax: what an old node does not understand is an error in the script to it.
func (d death) syntax() string {
	const on = "; it ran on node %s, and newer code may need a newer node"
	version := d.find(`(?m)^Node\.js (v\d+\.\d+\.\d+)`)
	switch {
	case d.has("bad option: --import"):
		return "this node is too old for tsx, which needs 20.6 or later"
	case d.has("Unsupported engine", "EBADENGINE", "ERR_PNPM_UNSUPPORTED_ENGINE"):
		return "a package asks for another version of node; see its \"engines\""
	case version == nil || d.has("[ERR_INVALID_TYPESCRIPT_SYNTAX]"):
		return ""
	case d.has("does not provide an export named"):
		return fmt.Sprintf("an import does not exist in the installed version of its package"+on, version[1])
	case d.has("\nSyntaxError:"):
		return fmt.Sprintf("check the syntax"+on, version[1])
	}
	return ""
}

func (d death) missingCommand() string {
	if m := d.find(`Error: spawn (\S+) ENOENT`); m != nil {
		return fmt.Sprintf("the server tried to start %s, which is not on its PATH", m[1])
	}
	return ""
}
