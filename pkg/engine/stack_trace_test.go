package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"
)

const typescriptSource = `// Comments and types move lines.
interface Shape {
  name: string;
}

export function fail(shape: Shape): never {
  throw new TypeError("no " + shape.name);
}

class Tool {
  run(shape: Shape): void { fail(shape) }
}

const shown = (e: Error): string => e.stack!.replaceAll(DIR, "");
const DIR = process.argv[2] + "/";
try { new Tool().run({ name: "shape" }) } catch (e) { console.log(shown(e as Error)) }
const e = new Error("one"); e.stack = "mine"; console.log(e.stack);
console.log(Object.keys(new Error("x")).length, "stack" in new Error(), typeof new Error().stack);
class Mine extends Error { name = "Mine"; code = 1 }
console.log(shown(new Mine("two")).split("\n")[0], JSON.stringify(new Mine("x")));
Error.stackTraceLimit = 1; console.log(shown(new Error("short"))); Error.stackTraceLimit = 10;
const holder: { stack?: string } = {}; function capture() { Error.captureStackTrace(holder, capture) } capture();
console.log(holder.stack!.split("\n").length > 1, holder.stack!.includes("capture"));
Error.prepareStackTrace = (_, sites) => sites.map((s) => [s.getFileName()?.replace(DIR, ""), s.getLineNumber()].join(":"));
console.log(new Error().stack); Error.prepareStackTrace = undefined;
await null;
throw new Error("last");
`

// withSourceMap returns a change that makes the engine run typescriptSource as a bundle with a source map.
func withSourceMap(t *testing.T) func(*Spec) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "fail.ts")
	if err := os.WriteFile(file, []byte(typescriptSource), 0o600); err != nil {
		t.Fatal(err)
	}
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{file}, Bundle: true, Format: api.FormatESModule, Target: api.ES2023, Outfile: filepath.Join(dir, "out.js"),
		Sourcemap: api.SourceMapExternal, MinifySyntax: true, MinifyWhitespace: true, TreeShaking: api.TreeShakingTrue,
		Banner: map[string]string{"js": "(async(__trailblaze_require)=>{"}, Footer: map[string]string{"js": "})"},
	})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	code, sourceMap := built.OutputFiles[1].Contents, built.OutputFiles[0].Contents
	code = []byte(strings.Replace(string(code), "export{fail};", "", 1))
	return func(s *Spec) {
		s.Code, s.SourceMap, s.Args = code, func() []byte { return sourceMap }, []string{dir}
	}
}

func TestStacksHaveSourcePositions(t *testing.T) {
	t.Parallel()
	change := withSourceMap(t)
	g := newTestEngine(t, "", change)
	exit := g.wait()
	want := `TypeError: no shape
    at fail (fail.ts:7:13)
    at run (fail.ts:11:29)
    at fail.ts:16:18
mine
0 true string
Mine: two {"name":"Mine","code":1}
Error: short
    at fail.ts:21:50
true false
[ 'fail.ts:25' ]
`
	if diff := cmp.Diff(want, g.stdout.String()); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	if got, want := g.stderr.String(), "Error: last\n    at fail.ts:27:11\n"; exit.Code != 1 || got != want {
		t.Errorf("exit %+v, stderr %q, want %q", exit, got, want)
	}
}

func TestStackWithoutSourceMap(t *testing.T) {
	t.Parallel()
	change := withSourceMap(t)
	for name, m := range map[string]func() []byte{
		"none": nil, "lost": func() []byte { return nil }, "damaged": func() []byte { return []byte(`{"version":3,"mappings":"!!`) },
	} {
		g := newTestEngine(t, "", change, func(s *Spec) { s.SourceMap = m })
		g.wait()
		if !strings.Contains(g.stderr.String(), "Error: last\n    at /project/tools/script.ts:") {
			t.Errorf("%s: stderr %q", name, g.stderr)
		}
	}
}

// Asynchronous operations reject from the event loop, where no function of the script is on the stack.
func TestRejectionsHaveStackOfCaller(t *testing.T) {
	t.Parallel()
	got := run(t, bundledImports(`import fs from "node:fs";
import dns from "node:dns";
const where = (e) => console.log(e.name, e.code ?? e.cause?.code, e.stack.match(/at (.*)script.ts:(\d+)/)?.slice(1));
async function author() {
  return await fs.promises.readFile("/nope/a");
}
await author().catch(where);
await fetch("http://127.0.0.1:1/").catch(where);
await fetch("other://host/").catch(where);
await fs.promises.cp("/nope/a", "b").catch(where);
await dns.promises.lookup("name.invalid").catch(where);
await fetch("http://127.0.0.1:1/", { signal: AbortSignal.abort(Object.assign(new Error("mine"), { stack: "mine" })) }).catch((e) => console.log(e.stack));
const e = await author().catch((e) => e); e.message = "changed"; console.log(e.stack.split("\n")[0], Object.keys(e).includes("stack"));
`))
	want := `Error ENOENT [ 'author (/project/tools/', '6' ]
TypeError ECONNREFUSED [ '/project/tools/', '9' ]
TypeError undefined [ '/project/tools/', '10' ]
Error ENOENT [ '/project/tools/', '11' ]
Error ENOTFOUND [ '/project/tools/', '12' ]
mine
Error: changed false
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
