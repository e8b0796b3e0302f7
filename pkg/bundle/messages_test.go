package bundle

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestErrorMessages(t *testing.T) {
	t.Parallel()
	const otherRuntime = "install bun (https://bun.sh) or node, or keep what needs it in a server of its own with runtime: bun"
	for _, tc := range []struct {
		name    string
		files   map[string]string
		message string
		hint    string
	}{
		{
			"a missing package",
			map[string]string{"main.ts": "import './a';", "a.ts": "import './b';", "b.ts": "import x from 'left-pad/sub';\nexport default x"},
			"b.ts:1:15: the package left-pad is not installed (imports: main.ts → a.ts → b.ts)", `run "npm install left-pad" in DIR`,
		},
		{
			"a package that is listed",
			map[string]string{"main.ts": "import '@s/x';", "package.json": `{"devDependencies": {"@s/x": "1"}}`, "pnpm-lock.yaml": ""},
			"main.ts:1:8: the package @s/x is not installed", `run "pnpm install" in DIR`,
		},
		{
			"a package that another needs",
			map[string]string{
				"main.ts": "import 'p';", "bun.lock": "", "node_modules/p/package.json": `{"type": "module", "main": "i.js"}`,
				"node_modules/p/i.js": "import 'q';",
			},
			"node_modules/p/i.js:1:8: the package q is not installed (imports: main.ts → node_modules/p/i.js)", `run "bun add q" in DIR`,
		},
		{
			"a missing file",
			map[string]string{"tools/main.ts": "\nimport './a';", "package.json": "{}", "main.ts": "import './tools/main'"},
			"tools/main.ts:2:8: cannot find ./a (imports: main.ts → tools/main.ts)", "check the import in DIR/tools/main.ts",
		},
		{"a loop of links", map[string]string{"main.ts": "import './loop';"}, "main.ts:1:8: cannot find ./loop", "check the import in DIR/main.ts"},
		{"a file that never ends", map[string]string{"main.ts": "import './zero';"}, "main.ts:1:8: cannot read /dev/zero: not a regular file", ""},
		{
			"a file of 100 MB",
			map[string]string{"main.ts": "import x from './big.json'; console.log(x)"},
			"main.ts:1:15: cannot read big.json: its size of 100 MB exceeds the limit of 64 MB", "",
		},
		{
			"a path that is not exported",
			map[string]string{"main.ts": "import 'p/x';", "node_modules/p/package.json": `{"exports": {"./y": "./x.js"}}`, "node_modules/p/x.js": ""},
			`main.ts:1:8: Could not resolve "p/x": The path "./x" is not exported by package "p"`, "check the import, and the exports and imports of the package.json",
		},
		{
			"a name that is not exported",
			map[string]string{"main.ts": "import './a'", "a.ts": "import { b } from './b'; console.log(b)", "b.ts": "export const c = 1"},
			`a.ts:1:10: No matching export in "b.ts" for import "b" (imports: main.ts → a.ts)`, "",
		},
		{"wrong syntax", map[string]string{"main.ts": "import './a'", "a.ts": "\n  const x = ;"}, `a.ts:2:13: Unexpected ";" (imports: main.ts → a.ts)`, "correct the syntax there"},
		{
			"two mistakes",
			map[string]string{"main.ts": "import './a'; import './b'; import './c'"},
			"main.ts:1:8: cannot find ./a; and 2 more", "check the import in DIR/main.ts",
		},
		{
			"a native addon",
			map[string]string{"main.ts": "import './a'", "a.ts": "import x from './x.node'; console.log(x)", "x.node": ""},
			"a.ts:1:15: ./x.node is a native addon, which cannot be bundled (imports: main.ts → a.ts)", otherRuntime,
		},
		{
			"bun's own",
			map[string]string{"main.ts": "import { Database } from 'bun:sqlite'; new Database()"},
			"main.ts:1:26: bun:sqlite only works in bun", "install bun (https://bun.sh), and run the script with it",
		},
		{"deno's own", map[string]string{"main.ts": "import 'npm:zod'"}, "main.ts:1:8: npm:zod cannot be bundled", "install it as a package, or import it by its path"},
		{
			"a URL",
			map[string]string{"main.ts": "export * from 'https://example.com/x.js'"},
			"main.ts:1:15: https://example.com/x.js cannot be bundled", "install it as a package, or import it by its path",
		},
		{
			"what is no code",
			map[string]string{"main.ts": "import x from './a.wasm'; console.log(x)", "a.wasm": ""},
			`main.ts:1:15: No loader is configured for ".wasm" files: a.wasm`, "read the file with node:fs; only code, JSON and text can be imported",
		},
		{"a script that is not there", nil, "the script DIR/main.ts does not exist", "check the script's path"},
		{"a script that is a folder", map[string]string{"main.ts/x": ""}, "the script DIR/main.ts is not a regular file", "specify a file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := project(t, tc.files)
			link(t, "loop.ts", filepath.Join(dir, "loop.ts"))
			link(t, "/dev/zero", filepath.Join(dir, "zero.ts"))
			write(t, filepath.Join(dir, "big.json"), "")
			if err := os.Truncate(filepath.Join(dir, "big.json"), 100<<20); err != nil {
				t.Fatal(err)
			}
			for _, target := range targets() {
				if target == Node && tc.hint == otherRuntime {
					continue // node loads native addons, and runs in the other cases
				}
				_, err := Open(t.TempDir()).Bundle(t.Context(), filepath.Join(dir, "main.ts"), target)
				e := fault.As(err)
				if e == nil {
					t.Fatalf("%s: the error is %v", target, err)
				}
				want := []string{tc.message, strings.ReplaceAll(tc.hint, "DIR", dir), string(fault.Server)}
				want[0] = strings.ReplaceAll(want[0], "DIR", dir)
				if diff := cmp.Diff(want, []string{e.Message, e.Hint, string(e.Kind)}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", target, diff)
				}
			}
		})
	}
}

func TestNativeAddonInNode(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"main.cjs": `try { require("./a/x.node") } catch (e) { console.log(e.message.includes(__dirname + "/a/x.node"), e.code) }`, "a/x.node": ""})
	stdout, stderr := run(t, dir, "", node20(t), buildBundle(t, Open(""), filepath.Join(dir, "main.cjs"), Node).File)
	if stdout != "true ERR_DLOPEN_FAILED\n" {
		t.Errorf("output %q, %s", stdout, stderr)
	}
}

func FuzzScript(f *testing.F) {
	for _, m := range scriptCases() {
		f.Add([]byte(m.files[m.script]))
	}
	for _, text := range []string{
		"", "#!", "export {", "export default", "\xff\xfe", "`${import(`./${x}`)}`", "})", "\n})", "import.meta", "require.main", "export { a as default }; var a",
		"import 'data:text/javascript,1'", "import x from './main.ts'; export { x }", "require(require.resolve('/'))", "import ''", "import '.'", "import '/'",
	} {
		f.Add([]byte(text))
	}
	dir := project(f, map[string]string{"a.ts": "export const a = 1"})
	f.Fuzz(func(t *testing.T, text []byte) {
		script := filepath.Join(dir, "main.ts")
		write(t, script, string(text))
		for _, target := range targets() {
			b, err := Open("").Bundle(t.Context(), script, target)
			if err != nil {
				if e := fault.As(err); e == nil || e.Kind != fault.Server {
					t.Fatalf("%s: the error is %v", target, err)
				}
				continue
			}
			if target == Embedded && (!strings.HasPrefix(string(b.Code), "(async(__trailblaze_require)=>{") || !strings.HasSuffix(string(b.Code), "\n})\n")) {
				t.Fatalf("not a function: %s", b.Code)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzDependencies(f *testing.F) {
	for _, list := range []string{"", "n\x1a/\th", "c", "c /\t-", "p /\t/", "n /nowhere\t-", "c \t", "\t\t\n\n", "x y\tz"} {
		f.Add(list)
	}
	f.Fuzz(func(_ *testing.T, list string) {
		if strings.Contains(list, "n ") {
			return // listing a directory of this machine may take long
		}
		upToDate(list)
	})
}

func TestStripJSONC(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\ufeff{ /* \" */ \"a//b\": [1, 2, /* , */ ], // }\n\"c\\\"/*\": {}, \n }": `{"a//b":[1,2],"c\"/*":{}}`,
		`["a,", ",]", ]`:    `["a,",",]"]`,
		`{"a": 1 /* no end`: `{"a":1`,
		`{"no end`:          `{"no end`,
		`"\`:                `"\`,
		`/`:                 `/`,
	} {
		if got := string(stripJSONC([]byte(text))); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func FuzzStripJSONC(f *testing.F) {
	for _, text := range []string{`{"a": [1, "b,", {"c": null}]}`, "//", "/*", "/*/", `"\`, "\ufeff", ",]"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want bytes.Buffer
		got := stripJSONC(text)
		if json.Valid(text) && (json.Compact(&want, text) != nil || want.String() != string(got)) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
