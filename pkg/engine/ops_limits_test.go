package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTooLargeValuesThrow(t *testing.T) {
	t.Parallel()
	block := make([]byte, 1<<20)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(block); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part := block
		if r.URL.Path == "/bomb" {
			w.Header().Set("Content-Encoding", "gzip")
			part = packed.Bytes() // a gzip file may have several members
		}
		for range 10 << 10 { // 10 GB
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	sparse := t.TempDir() + "/sparse"
	if err := os.WriteFile(sparse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Fatal(err)
	}
	got := run(t, bundledImports(fmt.Sprintf(`
		import fs from "node:fs";
		import { readFile } from "node:fs/promises";
		import { randomBytes } from "node:crypto";
		const tell = (error) => console.log(error.code ?? error.cause?.code);
		const at = %q, sparse = %q;
		await (await fetch(at)).text().catch(tell);
		await (await fetch(at + "/bomb")).arrayBuffer().catch(tell);
		await readFile("/dev/zero").catch(tell);
		await readFile(sparse).catch(tell);
		try { fs.readFileSync("/dev/zero", "utf8") } catch (error) { tell(error) }
		try { randomBytes(2 ** 31 - 1) } catch (error) { tell(error) }
		const fd = fs.openSync("/dev/zero");
		try { fs.readSync(fd, Buffer.alloc(128 * 2 ** 20 + 1)) } catch (error) { tell(error) }
		console.log(fs.readSync(fd, Buffer.alloc(64)));
	`, server.URL, sparse)))
	want := "ERR_OUT_OF_RANGE\nERR_OUT_OF_RANGE\n" + strings.Repeat("ERR_FS_FILE_TOO_LARGE\n", 3) + "ERR_OUT_OF_RANGE\nERR_OUT_OF_RANGE\n64\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

const opensEverything = `
	import fs from "node:fs";
	import { createServer } from "node:http";
	import { open } from "node:fs/promises";
	fs.openSync("a", "w");
	await open("b", "w");
	fs.createWriteStream("c").write("x");
	const server = createServer(() => {});
	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	const at = "http://127.0.0.1:" + server.address().port;
	fetch(at).catch(() => {});
	fetch(at, { method: "POST", body: new ReadableStream({}), duplex: "half" }).catch(() => {});
	const other = createServer((_, response) => response.write("x"));
	await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
	const trickle = await fetch("http://127.0.0.1:" + other.address().port);
	const reader = trickle.body.getReader();
	await reader.read();
	reader.read().catch(() => {});
	console.log("holds");
`

func TestClosesFilesAtExit(t *testing.T) { //nolint:paralleltest // it counts the files of the process
	for name, end := range map[string]func(*testEngine){
		"killed":     func(g *testEngine) { g.Kill() },
		"terminated": func(g *testEngine) { g.Terminate() },
		"exited":     func(g *testEngine) { g.send("exit\n") },
	} {
		t.Run(name, func(t *testing.T) {
			before := openFiles(t)
			g := newTestEngine(t, bundledImports(opensEverything+`process.stdin.once("data", () => process.exit(0))`))
			g.stdout.waitFor(t, "holds")
			end(g)
			g.wait()
			poll(t, func() bool { return openFiles(t) <= before }, "files stay open: %d before", before)
		})
	}
}

// openFiles returns the number of files and sockets of this process, without those of the Go runtime.
func openFiles(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && !strings.HasPrefix(target, "anon_inode:") {
			n++
		}
	}
	return n
}

func poll(t *testing.T, done func() bool, format string, args ...any) {
	t.Helper()
	deadline := time.After(testTimeout)
	for !done() {
		select {
		case <-deadline:
			t.Fatalf(format, args...)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Writers wait for clients that read.
func TestStreamsLargeBodies(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, n)
	}))
	t.Cleanup(server.Close)
	got := run(t, bundledImports(fmt.Sprintf(`
		import { createServer } from "node:http";
		import http from "node:http";
		const block = Buffer.alloc(1 << 16, 7);
		let left = 300;
		const body = new ReadableStream({ pull(c) { left-- > 0 ? c.enqueue(block) : c.close() } });
		console.log(await (await fetch(%q, { method: "POST", body, duplex: "half" })).text());
		const echo = createServer((request, response) => request.pipe(response));
		await new Promise((resolve) => echo.listen(0, "127.0.0.1", resolve));
		let got = 0;
		await new Promise((resolve, reject) => {
			const request = http.request({ host: "127.0.0.1", port: echo.address().port, method: "POST" }, (response) =>
				response.on("data", (chunk) => (got += chunk.length)).on("end", resolve));
			request.on("error", reject);
			let n = 0;
			(function more() {
				while (n++ < 300) if (!request.write(block)) return request.once("drain", more);
				request.end();
			})();
		});
		console.log(got);
		echo.close();
	`, server.URL)))
	if want := fmt.Sprintf("%d\n%d\n", 300<<16, 300<<16); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEnginesHaveSeparateWorkingDirectories(t *testing.T) {
	t.Parallel()
	code := bundledImports(`import fs from "node:fs"; fs.writeFileSync("mine", process.argv[2]); console.log(fs.readFileSync("mine", "utf8"), process.cwd() === fs.realpathSync("."))`)
	for i := range 3 {
		name := fmt.Sprint("engine ", i)
		if got := run(t, code, func(s *Spec) { s.Args = []string{name} }); got != name+" true\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestUsesProxyOfEnvironment(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, "proxy for ", r.RequestURI) }))
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "direct") }))
	t.Cleanup(proxy.Close)
	t.Cleanup(direct.Close)
	got := run(t, `for (const url of ["http://shop.test/x", "http://shop.test/a%2Fb|c?d", process.argv[2]]) console.log(await (await fetch(url)).text())`, func(s *Spec) {
		s.Env, s.Args = []string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=127.0.0.1,localhost,::1"}, []string{direct.URL}
	})
	if want := "proxy for http://shop.test/x\nproxy for http://shop.test/a%2Fb|c?d\ndirect\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A client that sends a proxy the URL of another server has chosen the proxy itself.
func TestRequestsToProxiesUseNoOtherProxy(t *testing.T) {
	t.Parallel()
	for opaque, proxied := range map[string]bool{"": true, "/a|b": true, "http://shop.test/x": false} {
		r := &http.Request{URL: &url.URL{Scheme: "http", Host: "proxy.test", Opaque: opaque}}
		got, err := newTransport([]string{"HTTP_PROXY=http://other.test"}).Proxy(r)
		if err != nil || (got != nil) != proxied {
			t.Errorf("%q: proxy %v, %v", opaque, got, err)
		}
	}
}

// secretServer returns a server whose certificate nobody trusts, and the authority of the certificate in PEM.
func secretServer(t *testing.T) (server *httptest.Server, authority []byte) {
	t.Helper()
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "secret") }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// The options of requests and of their agents.
func TestTrustsServersAsNode(t *testing.T) {
	t.Parallel()
	server, authority := secretServer(t)
	code := fmt.Sprintf(`
		import https from "node:https";
		const ca = %q, untrusting = new https.Agent({ rejectUnauthorized: true }), trusting = new https.Agent({ rejectUnauthorized: false });
		const ask = (options) => new Promise((resolve) => {
			https.get(%q, options, (response) => response.on("data", (data) => resolve(String(data)))).on("error", (error) => resolve(error.code));
		});
		for (const options of [
			{}, { rejectUnauthorized: false }, { agent: trusting }, { agent: untrusting, rejectUnauthorized: false }, { agent: false, ca },
			{ ca: [Buffer.from(ca)] }, { agent: new https.Agent({ ca }) }, {},
		]) console.log(await ask(options));
		https.globalAgent.options.rejectUnauthorized = false;
		console.log(await ask({}), await ask({ agent: untrusting }));
	`, authority, server.URL)
	if diff := cmp.Diff(runNodeInTempDir(t, code), runInTempDir(t, code)); diff != "" {
		t.Errorf("(-node +embedded):\n%s", diff)
	}
}

func TestRefusesWaysToConnectThatItDoesNotHave(t *testing.T) {
	t.Parallel()
	got := run(t, bundledImports(`
		import https from "node:https";
		const proxied = Object.assign(new https.Agent(), { proxy: new URL("http://127.0.0.1:1") }), agent = new https.Agent({ key: "x" });
		for (const options of [{ cert: "x" }, { agent }, { pfx: "x" }, { createConnection() {} }, { agent: { addRequest() {} } }, { agent: proxied }]) {
			try { https.get("https://127.0.0.1:1/", options).on("error", console.log) } catch (error) { console.log(error.code, error.message.split(" is not ")[0]) }
		}
	`))
	const code = "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM "
	want := code + "the option cert of requests\n" + code + "the option key of requests\n" + code + "the option pfx of requests\n" +
		code + "the option createConnection of requests\n" + strings.Repeat(code+"an agent that connects by itself\n", 2)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestVerifiesCertificatesAsNode(t *testing.T) {
	t.Parallel()
	server, authority := secretServer(t)
	file := t.TempDir() + "/ca.pem"
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	const code = `console.log(await fetch(process.argv[2]).then((r) => r.text(), (e) => e.message + " " + e.cause.code))`
	for env, want := range map[string]string{
		"":                                   "fetch failed DEPTH_ZERO_SELF_SIGNED_CERT\n",
		"NODE_EXTRA_CA_CERTS=" + file:        "secret\n",
		"NODE_TLS_REJECT_UNAUTHORIZED=0":     "secret\n",
		"NODE_EXTRA_CA_CERTS=/nowhere/ca.pm": "fetch failed DEPTH_ZERO_SELF_SIGNED_CERT\n",
	} {
		if got := run(t, code, func(s *Spec) { s.Env, s.Args = []string{env}, []string{server.URL} }); got != want {
			t.Errorf("%q: %q, want %q", env, got, want)
		}
	}
}
