package engine

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ended is what a process left.
type ended struct {
	Code           int
	Stdout, Stderr string
}

// inNode runs a module in node.
func inNode(t *testing.T, code, stdin string) ended {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.mjs")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", file)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewBufferString(stdin), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("run node: %v", err)
	}
	return ended{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// inEngine runs a script in the engine.
func inEngine(t *testing.T, code, stdin string) ended {
	t.Helper()
	g := newTestEngine(t, code)
	go func() {
		_, _ = g.stdin.Write([]byte(stdin))
		_ = g.stdin.Close()
	}()
	exit := g.wait()
	return ended{exit.Code, g.stdout.String(), g.stderr.String()}
}

func TestEventOrderMatchesNode(t *testing.T) {
	t.Parallel()
	const say = "const say = (x) => process.stdout.write(x + '\\n');\n"
	for name, code := range map[string]string{
		"ticks, microtasks, timers and immediates": `
			setTimeout(() => say("timeout"), 2000);
			setImmediate(() => { say("immediate"); process.nextTick(() => say("tick of immediate")); Promise.resolve().then(() => say("promise of immediate")) });
			process.nextTick(() => { say("tick"); Promise.resolve().then(() => say("promise of tick")); process.nextTick(() => say("tick of tick")) });
			Promise.resolve().then(() => { say("promise"); process.nextTick(() => say("tick of promise")) }).then(() => say("second promise"));
			queueMicrotask(() => say("microtask"));
			say("sync");`,
		"ticks between timers": `
			setTimeout(() => { say(1); process.nextTick(() => say("1 tick")); Promise.resolve().then(() => say("1 promise")) }, 10);
			setTimeout(() => { say(2); process.nextTick(() => say("2 tick")) }, 10);
			setTimeout(() => say(3), 10);`,
		"timers by when they are due": `
			setTimeout(() => say("3"), 900); setTimeout(() => say("1"), 300); setTimeout(() => say("2"), 600); setTimeout(() => say("1 again"), 300);
			setTimeout((a, b) => say("args " + a + b), 1200, "x", "y");`,
		"cleared timers": `
			const a = setTimeout(() => say("never"), 5); clearTimeout(a); clearTimeout(undefined); clearTimeout(12345);
			const b = setInterval(() => { say("interval"); if (++n === 3) clearInterval(b) }, 3); let n = 0;
			const c = setImmediate(() => say("never")); clearImmediate(c);
			const d = setTimeout(() => say("never by number"), 5); clearTimeout(+d);
			setTimeout(() => { const e = setTimeout(() => say("never"), 0); clearTimeout(e) }, 1);`,
		"immediates of immediates wait for the next turn": `
			setImmediate(() => { say(1); setImmediate(() => say(3)) }); setImmediate(() => say(2));`,
		"a timer of an immediate": `
			setImmediate(() => { setTimeout(() => say("timeout"), 0); setImmediate(() => say("immediate")); for (const t = Date.now(); Date.now() - t < 3;); });`,
		"what is not kept alive": `
			setTimeout(() => say("never"), 1e6).unref();
			const t = setTimeout(() => say("kept"), 20); say(t.hasRef()); t.unref(); say(t.hasRef()); t.ref();
			setInterval(() => {}, 5).unref();`,
		"refresh": `
			const t = setTimeout(() => say("refreshed"), 20); setTimeout(() => say("before"), 20); t.refresh();
			let n = 0; const again = setTimeout(() => { say("again"); if (++n < 3) again.refresh() }, 300);`,
		"this of a timer": `
			const t = setTimeout(function () { say(this === t) }, 1);`,
		"beforeExit and exit": `
			let n = 0;
			process.on("beforeExit", (code) => { say("beforeExit " + code); if (n++ < 1) setTimeout(() => say("more"), 1) });
			process.once("exit", (code) => { say("exit " + code + " " + process.exitCode); setTimeout(() => say("never"), 0); process.nextTick(() => say("never")) });
			process.exitCode = 0;`,
		"exit in exit": `process.on("exit", (code) => { say(code); process.exitCode = 9; process.exit() }); process.exit(4)`,
		"errors of several ticks": `
			process.on("uncaughtException", (e, origin) => say(e.message + " " + origin));
			process.nextTick(() => { throw new Error("a") }); process.nextTick(() => { throw new Error("b") });
			queueMicrotask(() => { throw new Error("c") });
			setTimeout(() => { throw new Error("d") }, 2000); setTimeout(() => { throw new Error("e") }, 2000);
			setImmediate(() => { throw new Error("f") });`,
		"rejections": `
			process.on("unhandledRejection", (reason, promise) => say("unhandled " + reason + " " + (promise instanceof Promise)));
			process.on("rejectionHandled", () => say("handled"));
			const p = Promise.reject("late"); setTimeout(() => p.catch(() => say("caught")), 5);
			const q = Promise.reject("soon"); q.catch(() => say("caught soon"));
			const r = Promise.reject("tick"); process.nextTick(() => r.catch(() => say("caught in a tick")));
			Promise.reject("never");`,
		"await in a loop": `
			const worker = async (name) => { for (let i = 0; i < 3; i++) { await null; say(name + i) } };
			await Promise.all([worker("a"), worker("b")]); say("done");`,
		"asynchronous iteration": `
			async function* count() { for (let i = 0; i < 3; i++) { await new Promise((r) => setTimeout(r, 1)); yield i } }
			for await (const i of count()) say(i);`,
		"write's callback": `
			process.stdout.write("a\n", () => say("written")); process.nextTick(() => say("tick")); say("b");`,
		"an abort signal's timeout": `
			const s = AbortSignal.timeout(10); s.addEventListener("abort", () => say(s.reason.name)); setTimeout(() => say("end"), 30);`,
		"promises of timers": `
			const { setTimeout: sleep, setImmediate: next } = await import("node:timers/promises");
			say(await sleep(5, "slept")); say(await next("next"));`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bundled := bundledImports(say + code)
			if diff := cmp.Diff(inNode(t, say+code, ""), inEngine(t, bundled, "")); diff != "" {
				t.Errorf("node and the engine (-node +engine):\n%s", diff)
			}
		})
	}
}
