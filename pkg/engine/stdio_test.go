package engine

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStdinMatchesNode(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 20000)
	for name, c := range map[string]struct{ code, stdin string }{
		"data and end": {`
			const parts = []; process.stdin.on("data", (b) => parts.push(b));
			process.stdin.on("end", () => console.log("end", Buffer.isBuffer(parts[0]), Buffer.concat(parts).toString().length));
			process.stdin.on("close", () => console.log("close", process.stdin.readableEnded, process.stdin.destroyed));`, long},
		"text": {`
			process.stdin.setEncoding("utf8"); let text = "";
			process.stdin.on("data", (s) => { text += s }).on("end", () => console.log(typeof text, text));`, "héllo €"},
		"for await": {`
			let text = ""; for await (const piece of process.stdin) text += piece;
			console.log(text.length, text.slice(-3));`, long},
		"for await, with an encoding, left early": {`
			process.stdin.setEncoding("utf8"); for await (const piece of process.stdin) { console.log(piece); break }
			console.log(process.stdin.destroyed);`, "first"},
		"readable": {`
			let text = ""; process.stdin.on("readable", () => { let b; while ((b = process.stdin.read()) !== null) text += b });
			process.stdin.on("end", () => console.log(text));`, "read me"},
		"lines": {`
			import { createInterface } from "node:readline";
			const lines = createInterface({ input: process.stdin });
			lines.on("line", (line) => console.log("[" + line + "]")).on("close", () => console.log("close"));`, "a\nb\r\nlast"},
		"lines for await": {`
			import readline from "node:readline";
			for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) console.log("[" + line + "]");`, "a\nb\n"},
		"paused": {`
			process.stdin.on("data", () => {}); process.stdin.pause(); setTimeout(() => console.log(process.stdin.isPaused()), 5);`, ""},
		"taken off": {`
			const f = (b) => { console.log(String(b)); process.stdin.off("data", f); process.stdin.pause() }; process.stdin.on("data", f);`, "once"},
		"piped":     {`process.stdin.pipe(process.stdout)`, "through"},
		"not read":  {`console.log(process.stdin.readableFlowing, process.stdin.listenerCount("data"))`, ""},
		"empty":     {`process.stdin.on("end", () => console.log("end")); process.stdin.resume();`, ""},
		"once data": {`process.stdin.once("data", (b) => { console.log(String(b)); process.exit(0) })`, "x"},
		"not waited for, but read": {`
			const waits = setTimeout(() => console.log("never"), 10000);
			process.stdin.on("data", (b) => { console.log(String(b)); clearTimeout(waits) }).unref();`, "x"},
		"waited for again": {`process.stdin.on("data", (b) => console.log(String(b))).on("end", () => console.log("end")).unref().ref();`, "x"},
		"the web's": {`
			import { Readable } from "node:stream";
			const reader = Readable.toWeb(process.stdin).getReader(); const { value } = await reader.read();
			console.log(new TextDecoder().decode(value)); process.exit(0)`, "web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(inNode(t, c.code, c.stdin), inEngine(t, bundledImports(c.code), c.stdin)); diff != "" {
				t.Errorf("node and the engine (-node +engine):\n%s", diff)
			}
		})
	}
}

func TestStdoutMatchesNode(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"strings, bytes and encodings": `
			process.stdout.write("ä"); process.stdout.write(new Uint8Array([65, 66])); process.stdout.write(Buffer.from("c"));
			process.stdout.write("4142", "hex"); process.stdout.write("Qw==", "base64", () => process.stdout.write("done"));`,
		"a part of a view": `
			const b = Buffer.from("0123456789"); process.stdout.write(new DataView(b.buffer, b.byteOffset + 2, 3));
			process.stdout.write(new Uint16Array(new Uint8Array([65, 66, 67, 68, 69, 70]).buffer, 2, 1)); process.stdout.write(new DataView(new ArrayBuffer(0)));
			const grows = new ArrayBuffer(2, { maxByteLength: 8 }), view = new DataView(grows, 1), gone = new DataView(grows, 1, 1);
			grows.resize(4); new Uint8Array(grows).set([65, 66, 67, 68]); process.stdout.write(view); grows.resize(1); console.log();`,
		"what write returns": `console.log(process.stdout.write("x"), process.stdout.writableLength, process.stdout.writableNeedDrain)`,
		"a wrong chunk":      `try { process.stdout.write(5) } catch (e) { console.log(e.code, e instanceof TypeError) }`,
		"console":            `console.log("%s is %d", "a", 1, {b: [1, {c: {d: {}}}]}); console.error("e"); console.warn(new Map([[1, 2]])); console.info(); console.group("g"); console.log("in\nside"); console.groupEnd(); console.log("out"); console.count(); console.count(); console.assert(false, "no"); console.assert(true); console.dir({a: 1}); console.debug(undefined, null, 1n, Symbol("s"), -0);`,
		"console of a console": `
			import { Console } from "node:console"; const c = new Console(process.stderr, process.stdout); c.log("to stderr"); c.error("to stdout");`,
		"a table":  `console.table([{a: 1, b: "x"}, {a: 2}]); console.table([[1, 2], [3, 4]]); console.table(5); console.table([{a: 1, b: 2}], ["b"]);`,
		"warnings": `process.on("warning", (w) => console.log(w.name, w.message, w.code)); process.emitWarning("careful", { code: "X1", type: "Odd" }); setTimeout(() => {}, 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node, got := inNode(t, code, ""), inEngine(t, bundledImports(code), "")
			if name == "warnings" {
				node.Stderr, got.Stderr = "", ""
			}
			if diff := cmp.Diff(node, got); diff != "" {
				t.Errorf("node and the engine (-node +engine):\n%s", diff)
			}
		})
	}
}

func TestOutputBeforeExitIsWritten(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `process.stdout.write("x".repeat(1 << 20)); process.stdout.write("end"); process.exit(2)`)
	if exit := g.wait(); exit.Code != 2 || len(g.stdout.String()) != 1<<20+3 {
		t.Errorf("exit %+v after %d bytes", exit, len(g.stdout.String()))
	}
}

func TestUnreadStdinDoesNotKeepEngineRunning(t *testing.T) {
	t.Parallel()
	run(t, `process.stdin; setTimeout(() => {}, 1)`)
}

func TestExitsAtEndOfStdin(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `process.stdin.on("data", (b) => process.stdout.write(b))`)
	g.send("ping\n")
	g.stdout.waitFor(t, "ping\n")
	g.send("pong\n")
	g.stdout.waitFor(t, "pong\n")
	_ = g.stdin.Close()
	if exit := g.wait(); exit != (Exit{}) {
		t.Errorf("exit %+v, stderr %s", exit, g.stderr)
	}
}

func TestUnreferencedStdinKeepsNothingRunning(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		`process.stdin.on("data", () => {}).unref()`, `process.stdin.unref().on("data", () => {})`, `process.stdin.on("data", () => {}).unref().resume()`,
	} {
		if exit := newTestEngine(t, code).wait(); exit != (Exit{}) { // its input stays open
			t.Errorf("%s: exit %+v", code, exit)
		}
	}
}

func TestPausedStdinBlocksWriter(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `process.stdin.once("data", (b) => { process.stdin.pause(); setTimeout(() => { console.log("again"); process.stdin.resume() }, 20) })
		process.stdin.on("data", (b) => console.log(String(b)))`)
	for _, text := range []string{"a", "b", "c"} {
		g.send(text)
	}
	_ = g.stdin.Close()
	g.wait()
	if got := g.stdout.String(); !strings.HasPrefix(got, "a\nagain\nb") {
		t.Errorf("stdout %q", got)
	}
}

func TestBusyScriptBlocksWriter(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `process.stdin.on("data", () => { console.log("busy"); for (;;); })`)
	g.send("a")
	g.stdout.waitFor(t, "busy")
	time.AfterFunc(50*time.Millisecond, g.Kill)
	const one = 64 << 10
	if n, err := g.stdin.Write(make([]byte, 16*one)); n > one || err == nil {
		t.Errorf("%d bytes were read while the script was busy (%v)", n, err)
	}
}

func TestClosedStdoutEmitsError(t *testing.T) {
	t.Parallel()
	g := newTestEngine(t, `process.stdout.on("error", (e) => { console.error(e.code); process.exit(4) }); process.stdout.write("x")`,
		func(s *Spec) { s.Stdout = brokenWriter{} })
	if exit := g.wait(); exit.Code != 4 || g.stderr.String() != "EPIPE\n" {
		t.Errorf("exit %+v, stderr %q", exit, g.stderr)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("write failed") }
func (brokenWriter) Close() error              { return nil }

func TestKillDuringBlockedWrite(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer r.Close()
	g := newTestEngine(t, `console.error("ready"); process.stdout.write("x"); console.error("never")`, func(s *Spec) { s.Stdout = w })
	g.stderr.waitFor(t, "ready")
	g.Kill()
	if exit := g.wait(); exit.Signal != "SIGKILL" || g.stderr.String() != "ready\n" {
		t.Errorf("exit %+v, stderr %q", exit, g.stderr)
	}
}
