package engine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHostFaultStopsOnlyItsEngine(t *testing.T) {
	t.Parallel()
	var none *Engine
	for name, c := range map[string]struct {
		fault op
		want  string
	}{
		"a panic":              {func(*call) (any, error) { panic("on purpose") }, "on purpose"},
		"a missing pointer":    {func(*call) (any, error) { return none.spec, nil }, "nil pointer dereference"},
		"an index":             {func(c *call) (any, error) { return c.args[5], nil }, "index out of range"},
		"an end of goroutines": {func(*call) (any, error) { runtime.Goexit(); return nil, nil }, "the engine's goroutine exited unexpectedly"},
		"an invalid address": {func(c *call) (any, error) {
			return float64(*pointerAt[byte](c.vm.heap.allocate(1) + 1<<44)), nil
		}, "invalid memory address"},
		"corrupted memory of the VM": {func(c *call) (any, error) {
			clear(sliceAt[byte](c.vm.ctx, 200))
			return nil, nil
		}, "nil pointer dereference"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTestEngine(t, `try { process.memoryUsage.rss(); [].map(() => new Error()) } finally { console.log("never") }`,
				func(e *Engine) { e.syncOps["process.memory"] = c.fault })
			if exit := g.wait(); exit.Code != -1 || !strings.Contains(exit.Panic, c.want) || g.stdout.String() != "" {
				t.Errorf("exit %+v, stdout %q", exit, g.stdout)
			}
			run(t, `console.log("the next one")`)
		})
	}
}

// asyncFault returns a change that replaces the asynchronous operation which callsAsyncOp calls.
func asyncFault(f op) func(*Engine) { return func(e *Engine) { e.asyncOps["crypto.pbkdf2"] = f } }

const callsAsyncOp = `__trailblaze_require("crypto", "a.ts").pbkdf2("a", "b", 1, 8, "sha1", (e) => console.log(e.message));`

func TestPanicInAsyncOpStopsOnlyItsEngine(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, callsAsyncOp, asyncFault(func(*call) (any, error) { panic("in the background") }))
	if exit := g.wait(); exit.Panic != "in the background" || !strings.Contains(g.stderr.String(), "panic: in the background") {
		t.Errorf("exit %+v, stderr %q", exit, g.stderr)
	}
}

func TestGoexitInAsyncOpRejects(t *testing.T) {
	t.Parallel()
	got := run(t, callsAsyncOp, asyncFault(func(*call) (any, error) { runtime.Goexit(); return nil, nil }))
	if got != "the operation ended without a result\n" {
		t.Errorf("stdout %q", got)
	}
}

func TestAsyncOpsEndWithEngine(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan bool), false
	g := newTestEngine(t, callsAsyncOp, asyncFault(func(c *call) (any, error) {
		close(begun)
		<-c.ctx.Done()
		ended = true
		return nil, c.ctx.Err()
	}))
	<-begun
	g.Kill()
	if exit := g.wait(); exit.Signal != "SIGKILL" || !ended {
		t.Errorf("exit %+v, the operation ended: %v", exit, ended)
	}
}

func TestPBKDF2EndsWithEngine(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `const { pbkdf2 } = __trailblaze_require("crypto", "a.ts");
		for (let i = 0; i < 20; i++) pbkdf2("a", "b", 19e6, 32, "sha512", () => {});
		console.log("ready")`)
	g.stdout.waitFor(t, "ready")
	g.Kill()
	g.wait()
	ended := make(chan struct{})
	go func() { g.goroutines.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
		t.Error("an operation still runs")
	}
}

func TestArgumentsOfAsyncOpsCountAsMemory(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `const { pbkdf2 } = __trailblaze_require("crypto", "a.ts");
		const password = Buffer.alloc(8e6);
		for (let i = 0; i < 20; i++) pbkdf2(password, "b", 19e6, 32, "sha512", () => {});`, func(s *Spec) { s.MemoryLimit = 64 << 20 })
	if exit := g.wait(); !strings.Contains(exit.Panic, "out of memory") {
		t.Errorf("exit %+v", exit)
	}
	run(t, `const { pbkdf2 } = __trailblaze_require("crypto", "a.ts");
		const password = Buffer.alloc(8e6);
		for (let i = 0; i < 20; i++) await new Promise((done) => pbkdf2(password, "b", 1, 32, "sha1", done))`, func(s *Spec) { s.MemoryLimit = 64 << 20 })
}

// endlessScripts returns scripts that do not end by themselves.
func endlessScripts() map[string]string {
	return map[string]string{
		"an endless loop":                  `for (;;);`,
		"a loop that catches":              `for (;;) try { for (;;); } catch {} finally { continue }`,
		"microtasks":                       `const f = () => Promise.resolve().then(f); f()`,
		"ticks":                            `const f = () => process.nextTick(f); f()`,
		"immediates":                       `const f = () => setImmediate(f); f()`,
		"a timer":                          `setInterval(() => {}, 1000)`,
		"a promise that never settles":     `setInterval(() => {}, 1 << 30); await new Promise(() => {})`,
		"a regular expression":             `/^(a+)+$/.test("a".repeat(64) + "b")`,
		"a sort":                           `const a = Array.from({ length: 1e6 }, (_, i) => -i); for (;;) a.sort().reverse()`,
		"a getter":                         `const o = { get x() { for (;;); } }; JSON.stringify(o)`,
		"a destructor of iterators":        `for (const x of (function* () { try { yield 1 } finally { for (;;); } })()) break`,
		"a key":                            `__trailblaze_require("crypto", "a.ts").pbkdf2Sync("a", "b", 19e6, 32, "sha512")`,
		"a generator":                      `function* g() { for (;;) yield 1 } for (const x of g());`,
		"numbers without end":              `let n = 3n; for (;;) n = (n * n) % (2n ** 65536n)`,
		"strings":                          `for (;;) "x".repeat(1 << 20).split("").join("-")`,
		"JSON":                             `const o = Array.from({ length: 1e4 }, (_, i) => ({ i })); for (;;) JSON.parse(JSON.stringify(o))`,
		"code made of text":                `for (;;) eval("1 + 1")`,
		"a proxy":                          `const p = new Proxy({}, { get() { for (;;); } }); p.x`,
		"a replacement":                    `"a".replace(/a/, () => { for (;;); })`,
		"a reader of input that never end": `process.stdin.resume()`,
	}
}

func TestKillStopsAnyScript(t *testing.T) {
	t.Parallel()
	for name, code := range endlessScripts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTestEngine(t, `console.log("ready");`+code)
			g.stdout.waitFor(t, "ready")
			start := time.Now()
			g.Kill()
			if exit := g.wait(); exit != (Exit{Code: -1, Signal: "SIGKILL"}) {
				t.Errorf("exit %+v; stderr %s", exit, g.stderr)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("exit took %s", took)
			}
		})
	}
}

func TestTerminateStopsAnyScriptWithoutListener(t *testing.T) {
	t.Parallel()
	for name, code := range endlessScripts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTestEngine(t, `process.on("SIGTERM", () => {}); process.removeAllListeners("SIGTERM"); console.log("ready");`+code)
			g.stdout.waitFor(t, "ready")
			g.Terminate()
			if exit := g.wait(); exit != (Exit{Code: -1, Signal: "SIGTERM"}) {
				t.Errorf("exit %+v; stderr %s", exit, g.stderr)
			}
		})
	}
}

// Some loops in the built-in functions of QuickJS do not call the interrupt handler.
func TestUninterruptibleLoopDoesNotDelayExit(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `console.log("ready"); Array.prototype.indexOf.call({ length: 8e6 }, 1); console.log("never")`,
		func(e *Engine) { e.shutdownTimeout = 10 * time.Millisecond })
	g.stdout.waitFor(t, "ready")
	g.Kill()
	if exit := g.wait(); exit.Signal != "SIGKILL" || g.stdout.String() != "ready\n" {
		t.Errorf("exit %+v, stdout %q", exit, g.stdout)
	}
	g.goroutines.Wait()
}

func TestTerminateCallsListener(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `process.once("SIGTERM", async (name) => { await null; console.log(name); process.exit(7) });
		console.log("ready"); setInterval(() => {}, 1000)`)
	g.stdout.waitFor(t, "ready")
	g.Terminate()
	if exit := g.wait(); exit != (Exit{Code: 7}) || g.stdout.String() != "ready\nSIGTERM\n" {
		t.Errorf("exit %+v, stdout %q", exit, g.stdout)
	}
}

func TestScriptSignalsItself(t *testing.T) {
	t.Parallel()
	for code, signal := range map[string]string{
		`process.kill(process.pid)`: "SIGTERM", `process.kill(process.pid, "SIGINT")`: "SIGINT", `process.abort()`: "SIGABRT",
	} {
		g := newTestEngine(t, code)
		if exit := g.wait(); exit != (Exit{Code: -1, Signal: signal}) {
			t.Errorf("%s: exit %+v, stderr %s", code, exit, g.stderr)
		}
	}
}

func TestKillAfterUnansweredTerminate(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `process.on("SIGTERM", () => console.log("heard")); console.log("ready"); for (;;);`)
	g.stdout.waitFor(t, "ready")
	g.Terminate()
	select {
	case <-g.Done():
		t.Error("the engine exited before the listener was called")
	case <-time.After(50 * time.Millisecond):
	}
	g.Kill()
	if exit := g.wait(); exit.Signal != "SIGKILL" || g.stdout.String() != "ready\n" {
		t.Errorf("exit %+v, stdout %q", exit, g.stdout)
	}
}

func TestTerminateBeforeStart(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `for (;;);`)
	g.Terminate()
	g.Terminate()
	g.Kill()
	if exit := g.wait(); exit.Signal != "SIGTERM" {
		t.Errorf("exit %+v", exit)
	}
}

func TestMemoryLimitStopsOnlyItsEngine(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"arrays":           `const a = []; for (;;) a.push(new Array(1000).fill(1))`,
		"flat strings":     `const a = []; for (;;) a.push(("x" + a.length).repeat(10000))`,
		"objects":          `const a = []; for (;;) a.push({ a: 1, b: { c: 2 } })`,
		"maps":             `const m = new Map(); for (let i = 0; ; i++) m.set(i, i)`,
		"closures":         `let f = () => 0; for (;;) { const g = f; f = () => g() }`,
		"promises":         `const a = []; for (;;) a.push(new Promise(() => {}))`,
		"a buffer":         `new ArrayBuffer(2 ** 31 - 1)`,
		"buffers":          `const a = []; for (;;) a.push(Buffer.alloc(1 << 20))`,
		"a catcher":        `const a = []; for (;;) try { a.push("x".repeat(1 << 20) + a.length) } catch {}`,
		"ticks":            `for (;;) process.nextTick(() => {})`,
		"what is printed":  `const a = ["x"]; for (;;) { a[0] += a[0]; console.log(a[0]) }`,
		"fill":             `const a = []; a.length = 2 ** 32 - 1; a.fill(0)`,
		"symbols":          `const a = []; for (let i = 0; ; i++) a.push(Symbol.for("x" + i))`,
		"timers":           `for (;;) setTimeout(() => {}, 1e6)`,
		"regular":          `const a = []; for (let i = 0; ; i++) a.push(new RegExp("a".repeat(1000) + i))`,
		"generated source": `eval("[" + "1,".repeat(1e8) + "]")`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTestEngine(t, `try {`+code+`} finally { process.exitCode = 3 }`, func(s *Spec) { s.MemoryLimit = 24 << 20 })
			want := "JavaScript heap out of memory: it may hold 24 MiB"
			if exit := g.wait(); exit != (Exit{Code: -1, Panic: want}) || !strings.Contains(g.stderr.String(), want) {
				t.Errorf("exit %+v, stderr %q", exit, g.stderr)
			}
		})
	}
}

func TestGarbageDoesNotExceedMemoryLimit(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"cycles":                  `for (let i = 0; i < 50000; i++) { const a = {}; a.a = a; a.s = ("x" + i).repeat(500) }`,
		"cycles beside much else": `const kept = []; for (let i = 0; i < 60; i++) kept.push(("y" + i).repeat(50000)); for (let i = 0; i < 20000; i++) { const a = {}; a.a = a; a.s = ("x" + i).repeat(500) }`,
		"closures":                `for (let i = 0; i < 50000; i++) { const s = ("x" + i).repeat(500); const f = () => [f, s] }`,
		"buffers":                 `for (let i = 0; i < 500; i++) { const b = { b: new Uint8Array(1 << 20) }; b.a = b }`,
		"strings":                 `for (let i = 0; i < 2000; i++) ("x" + i).repeat(20000).split("0")`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, code, func(s *Spec) { s.MemoryLimit = 24 << 20 })
		})
	}
}

func TestEndlessRecursionThrowsRangeError(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"a function":        `function f() { return f() + 1 } f()`,
		"an async function": `async function f() { await f() } await f()`,
		"a method":          `class A { m() { this.m() } } new A().m()`,
		"constructors":      `class A { constructor() { new A() } } new A()`,
		"a getter":          `const o = { get x() { return this.x } }; o.x`,
		"a proxy":           `const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x`,
		"forEach":           `const f = () => [1].forEach(f); f()`,
		"apply":             `function f() { f.apply(this, arguments) } f()`,
		"spread":            `const f = (...a) => f(...a); f(1, 2)`,
		"toString":          `const o = { toString() { return "" + this } }; "" + o`,
		"toJSON":            `const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)`,
		"a reviver":         `const f = () => JSON.parse("[1]", f); f()`,
		"a replacement":     `const f = () => "a".replace(/a/, f); f()`,
		"a generator":       `function* g() { yield* g() } [...g()]`,
		"a sort":            `const f = () => [2, 1].sort(f); f()`,
		"Reflect":           `const f = () => Reflect.apply(f, null, []); f()`,
		"nested arrays":     `let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)`,
		"nested text":       `let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)`,
		"nested JSON":       `JSON.parse("[".repeat(1e5) + "]".repeat(1e5))`,
		"nested objects":    `let o = {}; for (let i = 0; i < 7000; i++) o = { o }; JSON.stringify(o)`,
		"bound functions":   `let f = () => 1; for (let i = 0; i < 8000; i++) f = f.bind(null); f()`,
		"prototypes":        `let o = null; for (let i = 0; i < 1e5; i++) o = Object.create(o, { x: { get() { return super_(o) } } }); function super_(o) { return o.x } o.x`,
		"instances":         `class A { static [Symbol.hasInstance](x) { return x instanceof A } } 1 instanceof A`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, `try { `+code+`; console.log("no error") } catch (e) { console.log(e instanceof RangeError, e.message) }; console.log(1 + 1)`)
			if got != "true Maximum call stack size exceeded\n2\n" {
				t.Errorf("stdout %q", got)
			}
		})
	}
}

func TestErrorsOfScriptsKeepTheirClass(t *testing.T) {
	t.Parallel()
	const code = `
		class Mine extends Error {}
		class Yours extends SyntaxError {}
		const text = "stack overflow";
		for (const e of [new Mine(text), new Yours(text), new SyntaxError(text), SyntaxError([text]), Reflect.construct(SyntaxError, [text]),
			new Error({ toString: () => text + "" }), new RangeError(text), new TypeError(text), Object.assign(new Error(), { message: text }),
			new AggregateError([], text)])
			console.log(e.constructor.name, e.message);
		console.log(new Mine(text) instanceof Mine);
		try { "x".repeat(2 ** 30) } catch (e) { console.log(e.constructor.name) }`
	const want = "Mine %[1]s\nYours %[1]s\nSyntaxError %[1]s\nSyntaxError %[1]s\nSyntaxError %[1]s\nError %[1]s\nRangeError %[1]s\n" +
		"TypeError %[1]s\nError %[1]s\nAggregateError %[1]s\ntrue\nRangeError\n"
	if diff := cmp.Diff(fmt.Sprintf(want, "stack overflow"), run(t, code)); diff != "" {
		t.Errorf("classes and messages (-want +got):\n%s", diff)
	}
}

func TestNestedExtraStack(t *testing.T) {
	t.Parallel()
	v := newTestVM(t, func() {})
	size := func() int { return int(v.stackLimit()) }
	usual := size()
	v.withExtraStack(func() {
		more := size()
		v.withExtraStack(func() {})
		if got := size(); more <= usual || got != more {
			t.Errorf("stack limit %d inside, %d after the nested call; want both equal, and more than %d", more, got, usual)
		}
	})
	if got := size(); got != usual {
		t.Errorf("stack limit %d afterwards, want %d", got, usual)
	}
}

// Frames are allocated outside of the heap, so that the heap's limit does not apply to them.
func TestLimitsFramesOfRecursion(t *testing.T) {
	t.Parallel()
	const many = `const names = Array.from({ length: 4000 }, (_, i) => "a" + i).join();`
	for name, code := range map[string]string{
		"variables":       many + `f = new Function("f", "deeper", "var " + names + "; deeper(); f(f, deeper)"); f(f, deeper)`,
		"parameters":      many + `f = new Function(names, "a1(); a0(a0, a1)"); f(f, deeper)`,
		"arguments":       `const a = Array(8000).fill(0); f = () => { deeper(); f(...a) }; f()`,
		"bound arguments": `let g; f = (() => { deeper(); g() }); g = f.bind(null, ...Array(8000).fill(0)); g()`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, `let f, depth = 0; const deeper = () => { depth++ };
				try { `+code+` } catch (e) { console.log(e instanceof RangeError, e.message, depth > 200 && depth < 1400 || depth) }
				const down = (n) => n && 1 + down(n - 1);
				for (let i = 0; i < 100; i++);
				console.log(down(4000))`)
			if want := "true Maximum call stack size exceeded true\n4000\n"; got != want {
				t.Errorf("stdout %q, want %q", got, want)
			}
		})
	}
}

func TestDeeplyNestedSourceThrows(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"parentheses":         `eval("(".repeat(1e5) + "1" + ")".repeat(1e5))`,
		"arrays":              `eval("[".repeat(1e5) + "]".repeat(1e5))`,
		"functions":           `eval("()=>".repeat(1e5) + "1")`,
		"blocks":              `eval("{".repeat(1e5) + "}".repeat(1e5))`,
		"signs":               `eval("- ".repeat(1e5) + "1")`,
		"groups of patterns":  `new RegExp("(".repeat(1e5) + ")".repeat(1e5))`,
		"classes of patterns": `new RegExp("[".repeat(1e5) + "]".repeat(1e5), "v")`,
		"templates":           "eval('`${'.repeat(1e5) + '}`'.repeat(1e5))",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, `try { `+code+` } catch (e) { if (!(e instanceof Error)) throw e }`)
		})
	}
}

func TestUncaughtErrorsMatchNode(t *testing.T) {
	t.Parallel()
	const at = "\n    at /project/tools/script.ts:2:"
	for name, c := range map[string]struct {
		code, stderr string
		exit         int
	}{
		"while loading":     {`throw new Error("no")`, "Error: no" + at, 1},
		"later":             {`setTimeout(() => { throw new RangeError("late") })`, "RangeError: late" + at, 1},
		"in a function":     {`function f() { null.x } f()`, "TypeError: cannot read property 'x' of null\n    at f (/project/tools/script.ts:2:", 1},
		"a rejection":       {`Promise.reject(new Error("lost")); await new Promise((r) => setTimeout(r, 1e4))`, "Error: lost" + at, 1},
		"with properties":   {`throw Object.assign(new Error("no"), { code: "E_NO" })`, "{\n  code: 'E_NO'\n}\n", 1},
		"with a cause":      {`throw new Error("outer", { cause: new Error("inner") })`, "[cause]: Error: inner", 1},
		"a string":          {`throw "text"`, "Uncaught:\n'text'\n", 1},
		"a rejected string": {`Promise.reject("text")`, `The promise rejected with the reason "'text'".] {` + "\n  code: 'ERR_UNHANDLED_REJECTION'\n}", 1},
		"an unsettled wait": {`await new Promise(() => {})`, "Warning: ", 13},
		"a syntax error":    {`let let = 1`, "SyntaxError: ", 1},
		"with exit listeners": {
			`process.on("exit", (code) => console.error("exit " + code + " " + process.exitCode)); throw new Error("no")`,
			"exit 1", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTestEngine(t, c.code)
			if exit := g.wait(); exit != (Exit{Code: c.exit}) || !strings.Contains(g.stderr.String(), c.stderr) {
				t.Errorf("exit %+v, stderr:\n%s", exit, g.stderr)
			}
		})
	}
}

func TestExitCannotBeCaught(t *testing.T) {
	t.Parallel()
	const never = `console.log("never")`
	for name, code := range map[string]string{
		"try":         `try { process.exit(5) } catch { ` + never + ` } finally { ` + never + ` }`,
		"a promise":   `await new Promise(() => process.exit(5)).finally(() => ` + never + `)`,
		"a timer":     `setTimeout(() => { try { process.exit(5) } finally { ` + never + ` } }); setTimeout(() => ` + never + `)`,
		"a tick":      `process.nextTick(() => process.exit(5)); process.nextTick(() => ` + never + `)`,
		"a generator": `function* g() { try { yield process.exit(5) } finally { ` + never + ` } } for (const x of g()) ` + never,
		"a getter":    `const o = { get x() { process.exit(5) } }; try { ({ ...o }) } catch { ` + never + ` }`,
		"exitCode":    `process.exitCode = 5; process.exit()`,
		"a text":      `process.exit("5")`,
		"a listener":  `process.on("exit", () => process.exit(5)); process.exit(1)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTestEngine(t, code)
			if exit := g.wait(); exit != (Exit{Code: 5}) || g.stdout.String() != "" {
				t.Errorf("exit %+v, stdout %q, stderr %s", exit, g.stdout, g.stderr)
			}
		})
	}
}

//nolint:paralleltest // it measures the memory of the process
func TestPanickedEnginesReleaseMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("resident memory is only known on Linux")
		return
	}
	const code = `const a = []; for (let i = 0; i < 200; i++) a.push("x".repeat(1e5) + i); process.memoryUsage.rss()`
	crash := func(e *Engine) { e.syncOps["process.memory"] = func(*call) (any, error) { panic("now") } }
	once := func() { newTestEngine(t, code, crash).wait() }
	once()
	before := residentMemory(t)
	for range 20 {
		once()
	}
	if grown := residentMemory(t) - before; grown > 100<<20 {
		t.Errorf("20 engines of 20 MB that panicked left %d MB", grown>>20)
	}
}

func residentMemory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
