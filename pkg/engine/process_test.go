package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProcessMatchesNode(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"types": `const p = process; for (const k of ["argv", "env", "cwd", "exit", "exitCode", "platform", "arch", "version", "versions", "pid", "ppid",
			"hrtime", "uptime", "memoryUsage", "nextTick", "on", "once", "off", "listenerCount", "emit", "emitWarning", "stdin", "stdout", "stderr",
			"title", "execPath", "execArgv", "release", "kill", "umask", "features", "config", "argv0", "cpuUsage", "abort", "addListener",
			"removeListener", "removeAllListeners", "prependListener", "eventNames", "listeners", "rawListeners", "setMaxListeners"])
			console.log(k, typeof p[k]);
			console.log(typeof p.hrtime.bigint(), typeof p.memoryUsage().heapUsed, Object.prototype.toString.call(p), p.platform, p.arch, p.stdout.fd, p.stderr.fd)`,
		"environment": `process.env.A = 1; process.env.B = undefined; delete process.env.A;
			console.log(process.env.A, process.env.B, "B" in process.env, "NO" in process.env, typeof process.env.NO, Object.keys(process.env).includes("B"));
			console.log({ ...process.env }.B)`,
		"clocks": `const [s, n] = process.hrtime(); const [ds, dn] = process.hrtime([s, n]); console.log(ds, dn >= 0, process.hrtime.bigint() > 0n, process.uptime() > 0);
			const before = Date.now(), now = performance.timeOrigin + performance.now(), after = Date.now();
			console.log(performance.now() > 0, before - now < 100, now - after < 100)`,
		"listeners": `const f = () => console.log("f"), g = () => console.log("g");
			process.on("x", f); process.prependListener("x", g); process.once("x", () => console.log("once"));
			console.log(process.emit("x"), process.emit("x"), process.listenerCount("x"), process.eventNames().includes("x"));
			process.off("x", f); process.removeAllListeners("x"); console.log(process.emit("x"), process.listeners("x").length);
			try { process.emit("error", new Error("thrown")) } catch (e) { console.log(e.message) }`,
		"wrong arguments": `for (const f of [() => process.nextTick(1), () => setTimeout("x"), () => queueMicrotask(null), () => process.on("x", 1), () => { process.exitCode = "a" }])
			try { f(); console.log("no error") } catch (e) { console.log(e.name, e.code) }`,
		"exit codes":                   `process.exit(256 + 7)`,
		"an exit code that was set":    `process.exitCode = 6; setTimeout(() => {}, 1)`,
		"a negative code":              `process.exit(-1)`,
		"a handled exception":          `process.on("uncaughtException", (e) => console.log("caught", e.message)); setTimeout(() => console.log("goes on"), 10); throw new Error("x")`,
		"a throwing exception handler": `process.on("uncaughtException", () => { process.exit(9) }); setTimeout(() => { throw 1 })`,
		"a signal to itself":           `process.on("SIGTERM", (s) => { console.log(s); process.exit(0) }); process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 1e4)`,
		"globals": `console.log(globalThis === global, typeof structuredClone, typeof queueMicrotask, typeof fetch, typeof Buffer, typeof URL, typeof TextEncoder,
			typeof AbortController, typeof Event, typeof performance, typeof crypto.randomUUID(), typeof atob, typeof setImmediate, Object.keys(globalThis).includes("process"))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(inNode(t, code, ""), inEngine(t, code, "")); diff != "" {
				t.Errorf("node and the engine (-node +engine):\n%s", diff)
			}
		})
	}
}

func TestSpecReachesScript(t *testing.T) {
	t.Parallel()
	got := run(t, `console.log(process.argv.slice(1), process.env, process.cwd(), process.version.slice(0, 4))`, func(s *Spec) {
		s.Args, s.Env, s.Dir = []string{"--flag", "x y"}, []string{"A=1", "TRAILBLAZE_B=two=2", "A=3", "odd"}, "/somewhere"
	})
	want := "[ '/project/tools/script.ts', '--flag', 'x y' ] { A: '3', TRAILBLAZE_B: 'two=2' } /somewhere v20.\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
}

func TestSandboxHidesMachine(t *testing.T) {
	t.Parallel()
	got := run(t, `console.log({ ...process.env }, process.env.HOME)
		const fs = __trailblaze_require("fs", "tools/a.ts");
		try { fs.readFileSync("/etc/passwd") } catch (e) { console.log(e.message) }`, func(s *Spec) {
		s.Sandbox, s.Env = true, []string{"HOME=/root", "TRAILBLAZE_SESSION_ID=s1", "trailblaze_x=1"}
	})
	if !strings.HasPrefix(got, "{ TRAILBLAZE_SESSION_ID: 's1' } undefined\nnode:fs is not available in on-device mode (imported by tools/a.ts)") {
		t.Errorf("stdout %q", got)
	}
}

func TestMissingFunctionsOfFS(t *testing.T) {
	t.Parallel()
	got := run(t, `const fs = __trailblaze_require("fs/promises", "a.ts");
		try { for await (const e of fs.watch("/")) console.log(e) } catch (e) { console.log("thrown", e.message) }
		try { fs.watch("/") } catch (e) { console.log("at once", e.code) }
		await fs.chown("/", 0, 0).catch((e) => console.log("rejected", e.message));`)
	want := "thrown fs.promises.watch is not available in the embedded engine; install bun (https://bun.sh) or node\n" +
		"at once ERR_FEATURE_UNAVAILABLE_ON_PLATFORM\n" +
		"rejected fs.promises.chown is not available in the embedded engine; install bun (https://bun.sh) or node\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
}

func TestMissingModuleFailsWhenUsed(t *testing.T) {
	t.Parallel()
	got := run(t, `
		const module = __trailblaze_require("child_process", "tools/users.ts"), { spawn } = { spawn: () => module.spawn };
		console.log(typeof module, "spawn" in module, module.__esModule, module.default === module);
		for (const use of [() => module.exec("x"), () => module(), () => new module(), () => spawn(), () => { module.x = 1 }])
			try { use() } catch (e) { console.log(e.code, e.message) }`)
	const said = "node:child_process is not available in the embedded engine (imported by tools/users.ts); " +
		"install bun (https://bun.sh) or node, or keep what needs it in a server of its own with runtime: bun\n"
	if !strings.HasPrefix(got, "function false undefined true\n") || strings.Count(got, said) != 5 {
		t.Errorf("stdout %q", got)
	}
}

func TestFunctionSourceFromStoredBytecode(t *testing.T) {
	t.Parallel()
	store := &memoryStore{}
	for range 2 {
		got := run(t, `function add(a, b) { return a + b /* é */ } console.log(String(add), String(setTimeout))`,
			func(s *Spec) { s.Key, s.Store = "sources", store })
		if want := "function add(a, b) { return a + b /* é */ } function setTimeout() {\n    [native code]\n}\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLimitsValuesPassedToHost(t *testing.T) {
	t.Parallel()
	var got []string
	v := newTestVM(t, func() {})
	for _, code := range []string{
		`let x = [1]; for (let i = 0; i < 60; i++) x = [x, x]; x`, `const c = {}; c.c = c; c`, `const a = []; a.length = 2 ** 32 - 1; a`,
		`() => {}`, `Symbol("s")`, `({ get x() { throw new Error("of a getter") } })`,
	} {
		program, err := v.compile([]byte(code), "x", false)
		if err != nil {
			t.Fatal(err)
		}
		x, err := v.runProgram(program, []byte(code))
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.toGo(x)
		got = append(got, fmt.Sprint(err))
	}
	const many = "a value with too many elements or too much nesting cannot be passed to the host"
	want := []string{many, many, many, "a function cannot be passed to the host", "a symbol cannot be passed to the host", "a JavaScript exception"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestConcurrentEngines(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for i := range 16 {
		g := newTestEngine(t, fmt.Sprintf(`const a = []; for (let j = 0; j < 2000; j++) { a.push({ j }); if (j %% 100 === 0) await null } console.log(%d + a.length)`, i))
		all.Go(func() {
			<-g.Done()
			if got, want := g.stdout.String(), fmt.Sprintln(2000+i); got != want {
				t.Errorf("engine %d printed %q", i, got)
			}
		})
	}
	all.Wait()
}

// The local time of every engine is that of this process.
func TestWarnsOfAnotherTimeZone(t *testing.T) {
	t.Parallel()
	now := time.Now()
	_, offset := now.Zone()
	for name, want := range map[string]string{
		"": "", "Local": "", "nowhere": "", "Asia/Kathmandu": "Warning: TZ=Asia/Kathmandu has no effect in the embedded engine",
	} {
		g := newTestEngine(t, fmt.Sprintf("console.log(60 * (0 - new Date(%d).getTimezoneOffset()))", now.UnixMilli()),
			func(s *Spec) { s.Env = []string{"TZ=" + name} })
		g.wait()
		if g.stdout.String() != fmt.Sprintln(offset) || !strings.HasPrefix(g.stderr.String(), want) || (want == "") != (g.stderr.String() == "") {
			t.Errorf("TZ=%s: stdout %q, want %d; stderr %q, want %q", name, g.stdout, offset, g.stderr, want)
		}
	}
}
