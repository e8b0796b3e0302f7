package runtime

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/bundle"
)

// Hint returns what to do about a script, or a command in dir, that failed with stderr; "" when that is not known.
// script may be empty. It recognizes messages of bun, of node's two module systems, of tsx, and of Python.
func Hint(script, dir, stderr string) string {
	f := failure{script: script, dir: dir, stderr: stderr}
	if script != "" {
		f.dir = filepath.Dir(script)
	}
	for _, explain := range []func() string{f.needsESM, f.missingModule, f.noTypeScript, f.needsBun, f.needsRuntime, f.syntax, f.missingCommand, f.missingPython} {
		if hint := explain(); hint != "" {
			return hint
		}
	}
	return ""
}

type failure struct{ script, dir, stderr string }

func (f failure) has(parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(f.stderr, part) {
			return true
		}
	}
	return false
}

// find returns the groups of the first match, nil when there is none.
func (f failure) find(pattern string) []string {
	return regexp.MustCompile(pattern).FindStringSubmatch(f.stderr)
}

// needsESM returns a hint for a script that node or tsx loads as CommonJS, which has no top-level await.
func (f failure) needsESM() string {
	if !f.has(`Top-level await is currently not supported with the "cjs" output format`,
		"await is only valid in async functions and the top level bodies of modules",
		"Cannot use import statement outside a module", "[ERR_REQUIRE_ESM]", "[ERR_REQUIRE_ASYNC_MODULE]") {
		return ""
	}
	dir := f.dir
	if m := f.find(`(?m)^(.+?):\d+:\d+: ERROR: Top-level await`); m != nil && filepath.IsAbs(m[1]) {
		dir = filepath.Dir(m[1])
	}
	hint := fmt.Sprintf(`add "type": "module" to %s`, filepath.Join(bundle.ProjectDir(dir), "package.json"))
	if ext := filepath.Ext(f.script); ext == ".ts" || ext == ".js" {
		hint += fmt.Sprintf(`, or rename %s to .m%s`, filepath.Base(f.script), ext[1:])
	}
	return hint
}

func (f failure) missingModule() string {
	// Cannot find package 'zod' imported from /p/shop.ts      node, ES modules
	// Cannot find module 'zod' from '/p/shop.ts'              bun
	// Cannot find module 'zod'\nRequire stack:\n- /p/shop.ts  node, CommonJS; tsx
	m := f.find(`Cannot find (?:module|package) ['"]([^'"\n]+)['"]` +
		`(?: imported from ([^\n]+)| from ['"]([^'"\n]+)['"]|\nRequire stack:\n- ([^\n]+))?`)
	if m == nil {
		m = f.find(`Could not resolve: ['"]([^'"\n]+)['"]`)
	}
	if m == nil {
		return ""
	}
	name, importer := m[1], strings.TrimSpace(strings.Join(m[2:], ""))
	if strings.HasPrefix(name, "bun:") || name == "bun" {
		return bunOnly
	}
	if strings.HasPrefix(name, ".") || filepath.IsAbs(name) && !strings.Contains(filepath.ToSlash(name), "/node_modules/") {
		return f.missingFile(name, importer)
	}
	name = filepath.ToSlash(name)
	if i := strings.LastIndex(name, "/node_modules/"); i >= 0 {
		name = name[i+len("/node_modules/"):] // a path into a package
	}
	return f.missingPackage(bundle.PackageName(name), importer)
}

func (f failure) missingFile(name, importer string) string {
	if importer == "" || importer == name {
		return fmt.Sprintf("%s does not exist", name)
	}
	hint := fmt.Sprintf("%s does not exist; check the import in %s", name, importer)
	if f.has("[ERR_MODULE_NOT_FOUND]") {
		hint += ", which needs the file's real extension unless bun or tsx runs it"
	}
	return hint
}

// missingPackage returns a hint with the package, the folder and the command, because packages are never installed
// automatically.
func (f failure) missingPackage(name, importer string) string {
	dir := f.dir
	if filepath.IsAbs(importer) {
		dir = filepath.Dir(importer)
		if outside, _, inside := strings.Cut(filepath.ToSlash(dir), "/node_modules/"); inside {
			dir = filepath.FromSlash(outside)
		}
	}
	usual := "npm"
	if f.has("Bun v") {
		usual = "bun"
	}
	dir = bundle.ProjectDir(dir)
	return fmt.Sprintf("the package %s is not installed; run %q in %s", name, bundle.InstallCommand(name, dir, usual), dir)
}

func (f failure) noTypeScript() string {
	if m := f.find(`\[ERR_UNKNOWN_FILE_EXTENSION\]: Unknown file extension "(\.[a-z]+)"`); m != nil {
		return fmt.Sprintf("this node does not run %s files by itself; %s", m[1], installTSX(f.dir))
	}
	if f.has("[ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX]") {
		return "node only removes types, and this syntax needs more; " + installTSX(f.dir)
	}
	return ""
}

func installTSX(dir string) string {
	return fmt.Sprintf(`run "npm install --save-dev tsx" in %s, or install bun (https://bun.sh)`, bundle.ProjectDir(dir))
}

const bunOnly = "the script needs bun: install it (https://bun.sh), or do not select another runtime"

func (f failure) needsBun() string {
	if f.has("ReferenceError: Bun is not defined", "Received protocol 'bun:'") {
		return bunOnly
	}
	return ""
}

// needsRuntime returns a hint for what the engine inside trailblaze does not have.
func (f failure) needsRuntime() string {
	switch {
	case f.has("is not available in the embedded engine"):
		return bundle.OtherRuntimeHint
	case f.has("Could not locate the bindings file"):
		return "a native addon is not built (npm rebuild builds it), or the server runs in the embedded engine, which loads none: " + bundle.OtherRuntimeHint
	}
	return ""
}

// syntaxError matches the syntax errors of bun and of esbuild, which tsx uses, with their position.
const syntaxError = `(?m)^\s*error: (?:Expected|Unexpected|Unterminated|Syntax Error)\b[^\n]*\n\s+at ([^\n]+:\d+:\d+)$` +
	`|Transform failed with \d+ errors?:\n([^\n]+?:\d+:\d+): ERROR: `

// syntax returns a hint for syntax errors, which an old node also reports for newer syntax.
func (f failure) syntax() string {
	if m := f.find(syntaxError); m != nil {
		return "correct the syntax at " + m[1] + m[2]
	}
	if f.has("SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]") && f.script != "" {
		return "correct the syntax of " + f.script + ", or of a file that it imports"
	}
	const on = "; it ran on node %s, and newer code may need a newer node"
	version := f.find(`(?m)^Node\.js (v\d+\.\d+\.\d+)`)
	switch {
	case f.has("bad option: --import"):
		return "this node is too old for tsx, which needs 20.6 or later"
	case f.has("Unsupported engine", "EBADENGINE", "ERR_PNPM_UNSUPPORTED_ENGINE"):
		return "a package asks for another version of node; see its \"engines\""
	case version == nil || f.has("[ERR_INVALID_TYPESCRIPT_SYNTAX]"):
		return ""
	case f.has("does not provide an export named"):
		return fmt.Sprintf("an import does not exist in the installed version of its package"+on, version[1])
	case f.has("\nSyntaxError:"):
		return fmt.Sprintf("check the syntax"+on, version[1])
	}
	return ""
}

func (f failure) missingCommand() string {
	if m := f.find(`Error: spawn (\S+) ENOENT`); m != nil {
		return fmt.Sprintf("the server tried to start %s, which is not on its PATH", m[1])
	}
	return ""
}

// missingPython returns a hint for a module that a Python program imports and that its Python does not have.
func (f failure) missingPython() string {
	m := f.find(`(?m)^ModuleNotFoundError: No module named '([^'\n]+)'`)
	if m == nil {
		return ""
	}
	return fmt.Sprintf("install %s for this Python, or set command to that of the virtual environment that has it, such as "+
		"./.venv/bin/python", m[1])
}
