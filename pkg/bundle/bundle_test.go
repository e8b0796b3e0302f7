package bundle

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	sourcemap "github.com/go-sourcemap/sourcemap"
	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/files"
)

// scriptCase is a script and its expected output. DIR stands for its directory.
type scriptCase struct {
	name   string
	script string
	files  map[string]string
	links  map[string]string
	want   string
}

func scriptCases() []scriptCase {
	return []scriptCase{
		{
			name: "TypeScript with imports of every kind", script: "main.ts",
			files: map[string]string{
				"package.json": `{"name": "self", "type": "module", "exports": {"./own": "./own.ts"}, "imports": {"#mapped": "./mapped.ts"}}`,
				"main.ts": `#!/usr/bin/env bun
import { readFileSync } from "node:fs";
import { join } from "path";
import plain, { named } from "./plain";
import { typed, type Shape } from "./typed.js";
import data from "./data.json";
import cjs from "cjs"; import { part } from "cjs";
import esm from "esm/sub";
import own from "self/own";
import mapped from "#mapped";
enum Colour { Red = 3 }
const shape: Shape = { colour: Colour.Red };
const later = await import("./later.mts");
console.log(plain, named, typed, data.n, cjs.part, part, esm, own, mapped, shape.colour, later.default, typeof readFileSync, join("a", "b"));
`,
				"plain.ts":  `export default "plain"; export const named: string = await Promise.resolve("named");`,
				"typed.ts":  `export interface Shape { colour: number } export const typed = "typed" as const;`,
				"data.json": `{"n": 7}`, "own.ts": `export default "own";`, "mapped.ts": `export default "mapped";`,
				"later.mts":                     `export default "later";`,
				"node_modules/cjs/package.json": `{"name": "cjs", "main": "lib/index"}`, "node_modules/cjs/lib/index.js": `exports.part = require("./part");`,
				"node_modules/cjs/lib/part.js":  `module.exports = "part" + (this === module.exports);`,
				"node_modules/esm/package.json": `{"name": "esm", "exports": {"./sub": {"import": "./sub.mjs", "require": "./sub.cjs"}}}`,
				"node_modules/esm/sub.mjs":      `import fs from "fs"; export default "esm " + typeof fs.readFileSync;`,
			},
			want: "plain named typed 7 parttrue parttrue esm function own mapped 3 later function a/b\n",
		},
		{
			name: "each file knows its own place", script: "main.ts",
			files: map[string]string{
				"package.json": `{"type": "module"}`,
				"main.ts": `import { dirname } from "node:path"; import { fileURLToPath } from "node:url";
import deep from "./deep/file.ts"; import cjs from "cjs";
const __dirname = dirname(fileURLToPath(import.meta.url));
console.log(import.meta.url, __dirname);
console.log(deep, cjs, import.meta.resolve("./deep/file.ts"), import.meta.resolve("node:fs"));`,
				"deep/file.ts":                   `export default [import.meta.filename, import.meta.dirname, new URL("x y", import.meta.url).href].join(" "); // import.meta`,
				"node_modules/cjs/package.json":  `{"name": "cjs", "main": "a/b.js"}`,
				"node_modules/cjs/a/b.js":        `module.exports = __filename + " " + __dirname + " " + require.resolve("./c.js");`,
				"node_modules/cjs/a/c.js":        ``,
				"node_modules/unused/index.node": ``,
			},
			want: "file://DIR/main.ts DIR\n" +
				"DIR/deep/file.ts DIR/deep file://DIR/deep/x%20y DIR/node_modules/cjs/a/b.js DIR/node_modules/cjs/a DIR/node_modules/cjs/a/c.js " +
				"file://DIR/deep/file.ts node:fs\n",
		},
		{
			name: "an ES module knows that it is the script", script: "main.mjs",
			files: map[string]string{
				"main.mjs": `import { pathToFileURL } from "node:url"; import { helper } from "./helper.mjs";
console.log(import.meta.url === pathToFileURL(process.argv[1]).href, helper(), process.argv.length);`,
				"helper.mjs": `import { pathToFileURL } from "node:url"; export const helper = () => import.meta.url === pathToFileURL(process.argv[1]).href;`,
			},
			want: "true false ARGS\n",
		},
		{
			name: "a CommonJS script", script: "main.cjs",
			files: map[string]string{
				"main.cjs": `#!/usr/bin/env node
"use strict";
const helper = require("./helper"); const data = require("./data.json");
const { sep } = require("path"), name = "os";
if (require.main === module) console.log(helper, data.n, sep, typeof require(name).cpus, __filename);
module.exports = { helper }; exports.more = 1;`,
				"helper.js": `exports.main = require.main === module; exports.again = require("./main.cjs") !== undefined;`,
				"data.json": `{"n": 7}`,
			},
			want: "{ main: false, again: true } 7 / function DIR/main.cjs\n",
		},
		{
			name: "CommonJS that ES modules cannot have, with variables of its file", script: "main.js",
			files: map[string]string{
				"main.js": `#!/usr/bin/env node
console.log("\033[1m".length, require("./helper.cjs"), require("./own"), require.main === module); // import
if (__filename.endsWith("main.js")) return;
console.log("never");`,
				"helper.cjs": `var undeclared; undeclared = "\07".length; module.exports = [undeclared, typeof require.resolve("./own.js"), this === exports]; return __dirname;`,
				"own.js":     `var require = (path) => path.split("/").pop(); module.exports = require(__filename);`,
			},
			want: "4 [ 1, 'string', true ] own.js true\n",
		},
		{
			name: "a script that exports", script: "main.ts",
			files: map[string]string{
				"package.json": `{"type": "module", "sideEffects": false}`,
				"main.ts": `export * from "./more.ts"; export { a as b, c as "d e" }; export const a = 1, c = 2; export class Tool {}
export default function serve() {} console.log("runs", typeof serve, new Tool().constructor.name);`,
				"more.ts": `export const more = 1; console.log("more");`,
			},
			want: "more\nruns function Tool\n",
		},
		{
			name: "imports of packages that claim to have no effects", script: "main.ts",
			files: map[string]string{
				"package.json": `{"type": "module", "sideEffects": false}`,
				"main.ts":      `import "./effect.ts"; import "pkg"; console.log("main");`,
				"effect.ts":    `console.log("effect");`, "node_modules/pkg/index.js": `/* @__PURE__ */ console.log("pkg");`,
				"node_modules/pkg/package.json": `{"sideEffects": []}`,
			},
			want: "effect\npkg\nmain\n",
		},
		{
			name: "what is missing fails when it is reached", script: "main.ts",
			files: map[string]string{
				"package.json": `{"type": "module"}`,
				"main.ts": `import optional from "optional";
const code = (e: any) => [e.code, e.message.split("\n")[0]].join(": ");
console.log(JSON.stringify(optional));
await import("nowhere/sub").catch((e) => console.log(code(e)));
try { await import("./nowhere.js") } catch (e) { console.log(code(e).replace(import.meta.dirname, "")) }
await import("bun:sqlite").catch((e) => console.log(e instanceof Error));`,
				"node_modules/optional/package.json": `{}`,
				"node_modules/optional/index.js": `let found; try { found = require("peer") } catch (e) { found = e.code }
try { require("./native.node") } catch (e) { found += " " + (e !== undefined) }
exports.never = () => { require("another-peer") }; try { exports.never() } catch (e) { found += " " + e.code } exports.found = found;`,
			},
			want: `{"found":"MODULE_NOT_FOUND true MODULE_NOT_FOUND"}` + "\n" +
				"ERR_MODULE_NOT_FOUND: Cannot find package 'nowhere' imported from DIR/main.ts\n" +
				"ERR_MODULE_NOT_FOUND: Cannot find module '/nowhere.js' imported from DIR/main.ts\n" +
				"true\n",
		},
		{
			name: "a script that writes what looks like exports", script: "main.ts",
			files: map[string]string{
				"main.ts": "export * from 'node:path'; export * from './cjs.cjs'; const process = globalThis.process;\n" +
					"const text = `\nexport {\n  a\n};\nexport default 1;`; process.stdout.write(text + 1);\nconst o = {\n  a: 1\n};",
				"package.json": `{"type": "module"}`, "cjs.cjs": "exports.x = 1",
			},
			want: "\nexport {\n  a\n};\nexport default 1;1",
		},
		{
			name: "names that a text has are free for scripts", script: "main.ts",
			files: map[string]string{
				"package.json": `{"type": "module"}`,
				"main.ts": `import { createRequire } from "node:module"; import { Failure as Other } from "./other.ts";
const require = createRequire(import.meta.url); const data = require("./data.json");
class Failure extends Error { name = this.constructor.name; } function __trailblaze_path() { return "mine"; }
const __create = 2, any = () => {};
console.log(data.n, new Failure("x").name, Other.name, __trailblaze_path(), __create, any.name);`,
				"other.ts": `import "./cjs.cjs"; export class Failure {}`, "data.json": `{"n": 7}`,
				"cjs.cjs": `exports.x = require; var require2 = 1;`,
			},
			want: "7 Failure Failure mine 2 any\n",
		},
		{
			name: "a JSON file whose path is made when the script runs", script: "main.cjs",
			files: map[string]string{
				"main.cjs":   `const path = require("path"); console.log(require(path.join(__dirname, "lib", "a.json")).n, require("./lib/b.cjs").n);`,
				"lib/a.json": `{"n": 7}`,
				"lib/b.cjs":  `exports.n = require(require("node:path").join(__dirname, "a.json")).n`,
			},
			want: "7 7\n",
		},
		{
			name: "a tsconfig.json with paths and a base", script: "src/main.ts",
			files: map[string]string{
				"package.json": `{"type": "module"}`, "tsconfig.json": `{"extends": "./base", /* a comment */ }`,
				"base.json":   `{"compilerOptions": {"experimentalDecorators": true, "paths": {"@lib/*": ["./lib/*"]}}}`,
				"src/main.ts": `import { x } from "@lib/x"; const tag = (c: any) => { c.tagged = true }; @tag class A {} console.log(x, (A as any).tagged);`,
				"lib/x.ts":    `export const x = "by path";`,
			},
			want: "by path true\n",
		},
		{
			name: "modules whose names are made when the script runs", script: "main.ts",
			files: map[string]string{
				"package.json": `{"type": "module"}`,
				"main.ts": `for (const n of ["a", "b"]) console.log((await import(` + "`./plugins/${n}.ts`" + `)).default);
for (const n of ["x.ts", "README.md"]) console.log(await import(` + "`./any/${n}`" + `).then((m) => m.default, (e) => e.code));`,
				"plugins/a.ts": `export default "a";`, "plugins/b.ts": `export default "b";`,
				"any/x.ts": `export default "x";`, "any/README.md": "# not code", "any/sub/y.bin": "\xff",
			},
			want: "a\nb\nx\nERR_UNKNOWN_FILE_EXTENSION\n",
		},
		{
			name: "circles, links and the order of things", script: "linked.ts",
			files: map[string]string{
				"package.json":       `{"type": "module"}`,
				"real/main.ts":       `console.log("main"); import "./a.ts"; import { where } from "workspace"; console.log(where, import.meta.url);`,
				"real/a.ts":          `import { b } from "./b.ts"; export const a = () => "a"; console.log("a", b());`,
				"real/b.ts":          `import { a } from "./a.ts"; export function b() { return "b" + typeof a; } await null; console.log("b");`,
				"space/package.json": `{"type": "module", "exports": "./index.ts"}`,
				"space/index.ts":     `export const where = import.meta.filename;`,
			},
			links: map[string]string{"linked.ts": "real/main.ts", "real/node_modules/workspace": "../../space"},
			want:  "b\na bfunction\nmain\nDIR/space/index.ts file://DIR/real/main.ts\n",
		},
	}
}

// A short run leaves out tsx, which does not change with this project.
func TestBundlesBehaveLikeScripts(t *testing.T) {
	t.Parallel()
	for _, m := range scriptCases() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			dir := project(t, m.files)
			for path, target := range m.links {
				link(t, target, filepath.Join(dir, path))
			}
			script := filepath.Join(dir, m.script)
			want := strings.NewReplacer("DIR", dir, "ARGS", "2").Replace(m.want)
			same := func(where, stdout, stderr string) {
				if diff := cmp.Diff(want, stdout); diff != "" {
					t.Errorf("on %s (-want +got):\n%s%s", where, diff, stderr)
				}
			}
			if !testing.Short() {
				stdout, stderr := run(t, dir, "", append(tsx(t), script)...)
				same("tsx", stdout, stderr)
			}
			file := buildBundle(t, Open(""), script, Node).File
			stdout, stderr := run(t, dir, "", node20(t), file)
			same("node 20", stdout, stderr)
			stdout, stderr = run(t, dir, "", node22(t), file)
			same("node 22", stdout, stderr)
			stdout, stderr = runEmbedded(t, script)
			same("an engine", strings.Replace(stdout, "false 4", "false 2", 1), stderr)
		})
	}
}

func TestStacksHaveSourcePositions(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"package.json": `{"type": "module"}`,
		"main.ts":      "#!/usr/bin/env bun\nimport { check } from \"./lib/check\";\n\ninterface A { a: string }\n\ncheck({ a: 1 } as any);\n",
		"lib/check.ts": "type T = { a: string };\n// two\nexport function check(value: T) {\n  throw new Error(value.a + __dirname);\n}\n",
	})
	script := filepath.Join(dir, "main.ts")
	for _, node := range []string{node20(t), node22(t)} {
		_, stderr := run(t, dir, "", node, "--enable-source-maps", buildBundle(t, Open(""), script, Node).File)
		for _, want := range []string{
			"Error: 1" + dir + "/lib", "at check (" + dir + "/lib/check.ts:4:9)", dir + "/main.ts:6:1",
		} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: stderr does not contain %q:\n%s", node, want, stderr)
			}
		}
	}
}

func TestSourceMap(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"main.ts": "import { twice } from './twice';\nconsole.log(twice(21));\n", "twice.ts": "\n\nexport const twice = (n: number) => n * 2;\n",
	})
	for _, target := range []Target{Embedded, Node} {
		b := buildBundle(t, Open(""), filepath.Join(dir, "main.ts"), target)
		m, err := sourcemap.Parse("", b.SourceMap())
		if err != nil {
			t.Fatal(err)
		}
		for token, want := range map[string]string{"n * 2": "twice.ts:3:36", "twice(21)": "main.ts:2:12"} {
			before, _, ok := strings.Cut(string(b.Code), token)
			if !ok {
				t.Fatalf("the bundle does not contain %q:\n%s", token, b.Code)
			}
			source, _, line, column, ok := m.Source(strings.Count(before, "\n")+1, len(before)-strings.LastIndex(before, "\n")-1)
			place := filepath.Join(dir, want)
			if target == Node {
				place = files.URL(place)
			}
			if got := fmt.Sprintf("%s:%d:%d", source, line, column); !ok || got != place {
				t.Errorf("%s: %q comes from %s, want %s", target, token, got, place)
			}
		}
	}
}

// The source map of a package refers to files that are not installed. That of a project's own compiler refers to its
// sources.
func TestIgnoresSourceMapsOfPackages(t *testing.T) {
	t.Parallel()
	const compiled, compiledMap = "export const boom = () => {\n  throw new Error('x');\n};\n//# sourceMappingURL=",
		`{"version":3,"sources":["SRC"],"names":[],"mappings":";EAKE"}`
	dir := project(t, map[string]string{
		"package.json": `{"type": "module"}`,
		"main.js":      `import { boom } from "./dist/own.js"; import { boom as other } from "pkg"; console.log(boom, other);`,
		"dist/own.js":  compiled + "own.js.map", "dist/own.js.map": strings.Replace(compiledMap, "SRC", "../src/own.ts", 1),
		"node_modules/pkg/package.json": `{"type": "module", "exports": "./pkg.js"}`,
		"node_modules/pkg/pkg.js":       compiled + "pkg.js.map\n", "node_modules/pkg/pkg.js.map": strings.Replace(compiledMap, "SRC", "src/gone.ts", 1),
	})
	sources := string(buildBundle(t, Open(""), filepath.Join(dir, "main.js"), Embedded).SourceMap())
	for name, want := range map[string]bool{"src/own.ts": true, "gone.ts": false, "node_modules/pkg/pkg.js": true} {
		if strings.Contains(sources, name) != want {
			t.Errorf("the source map has %s: %t, want %t: %s", name, !want, want, sources)
		}
	}
}

func TestStripSourceMap(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a;\n//# sourceMappingURL=a.js.map":     "a;\n",
		"a;\n//@ sourceMappingURL=a.js.map\n\n": "a;\n",
		"//# sourceMappingURL=a.js.map":         "",
		"s = '//# sourceMappingURL=' + x":       "s = '//# sourceMappingURL=' + x",
		"s = `\n//# sourceMappingURL=${x}`":     "s = `\n//# sourceMappingURL=${x}`",
		"//# sourceMappingURL=a.js.map\nmore":   "//# sourceMappingURL=a.js.map\nmore",
		"":                                      "", "sourceMappingURL=": "sourceMappingURL=",
	} {
		if got := string(stripSourceMap([]byte(text))); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
