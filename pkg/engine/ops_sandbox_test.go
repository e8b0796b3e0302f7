package engine

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func inSandbox(s *Spec) { s.Sandbox = true }

// The operations of the sandbox are listed, so that none is added by accident.
func TestSandboxOperations(t *testing.T) {
	t.Parallel()
	ops, jobs := operations(true)
	safe := strings.Fields("crypto base64 base64url hex latin1 utf8 text url fetch process stack stdin time os intl zlib")
	for _, name := range slices.Sorted(maps.Keys(ops)) {
		if group, _, _ := strings.Cut(name, "."); !slices.Contains(safe, group) {
			t.Errorf("the sandbox has the operation %s", name)
		}
	}
	want := []string{"crypto.pbkdf2", "fetch.read", "fetch.readAll", "fetch.send", "fetch.write", "zlib.all", "zlib.step"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(jobs))); diff != "" {
		t.Errorf("asynchronous operations (-want +got):\n%s", diff)
	}
}

// Every operation that exists outside of the sandbox is looked up by name.
func TestSandboxCannotCallHostOperations(t *testing.T) {
	t.Parallel()
	e := newTestEngine(t, `await new Promise(() => process.stdin.resume())`, inSandbox).Engine
	ops, jobs := operations(false)
	allowed, allowedJobs := operations(true)
	for name := range ops {
		if _, ok := e.syncOps[name]; ok != (allowed[name] != nil) {
			t.Errorf("operation %s: callable is %t", name, ok)
		}
	}
	for name := range jobs {
		if _, ok := e.asyncOps[name]; ok != (allowedJobs[name] != nil) {
			t.Errorf("asynchronous operation %s: callable is %t", name, ok)
		}
	}
	for _, name := range []string{"fs.readAll", "fs.open", "http.listen", "dns.lookup", "http.send"} {
		if err := e.unavailableError(name); !strings.Contains(err.Error(), "in on-device mode") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSandboxErrorsNameModule(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ code, want string }{
		"a file": {
			`import fs from "node:fs"; fs.readFileSync("/etc/passwd")`,
			"node:fs is not available in on-device mode (imported by script.ts); mark the tool requiresHost: true",
		},
		"files with promises": {`import { readFile } from "fs/promises"; await readFile("x")`, "node:fs/promises is not available in on-device mode"},
		"files of a proxy": {
			`import fs from "node:fs"; Reflect.get(fs, "readFileSync")("x")`, "node:fs is not available in on-device mode",
		},
		"processes": {`import { spawn } from "node:child_process"; spawn("ls")`, "node:child_process is not available in on-device mode"},
		"a server": {
			`import { createServer } from "node:http";
			await new Promise((_, reject) => createServer().on("error", reject).listen(0))`,
			"a server of node:http is not available in on-device mode; mark the tool requiresHost: true, or give its server a runtime: bun",
		},
		"the network": {
			`await fetch("http://127.0.0.1:1/").catch((e) => { throw new Error(e.message) })`,
			"fetch failed: the network is not available in on-device mode, so 127.0.0.1:1 cannot be reached; mark the tool requiresHost: true",
		},
		"the network, by node": {
			`import http from "node:http"; await new Promise((_, reject) => http.get("http://localhost:1/").on("error", reject))`,
			"the network is not available in on-device mode",
		},
		"names":   {`import dns from "node:dns"; dns.lookup("localhost", () => {})`, "node:dns is not available in on-device mode"},
		"sockets": {`import net from "node:net"; net.connect(1)`, "net.connect is not available in on-device mode; mark the tool requiresHost: true"},
		"facts about the machine": {
			`import os from "node:os"; os.hostname()`,
			"node:os is not available in on-device mode; mark the tool requiresHost: true, or give its server a runtime: bun",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTestEngine(t, bundledImports(test.code), inSandbox)
			if exit := g.wait(); exit.Code != 1 || !strings.Contains(g.stderr.String(), test.want) {
				t.Errorf("%+v, stderr %q, want %q", exit, g.stderr, test.want)
			}
		})
	}
}

func TestSandboxEnvironment(t *testing.T) {
	t.Parallel()
	got := run(t, `console.log(JSON.stringify(process.env), process.pid, process.ppid)`, inSandbox, func(s *Spec) {
		s.Env = []string{
			"HOME=/root", "TRAILBLAZE_SESSION_ID=s", "AWS_SECRET=x", "TRAILBLAZE=no", "TRAILBLAZE_CACHE_DIR=/root/.cache", "TRAILBLAZE_PROJECT=x",
			"TRAILBLAZE_SESSION_IDS=x", "PORT=1",
		}
	})
	if want := `{"TRAILBLAZE_SESSION_ID":"s"} 1 0` + "\n"; got != want {
		t.Errorf("environment %s, want %s", got, want)
	}
}

// Callbacks are passed to the handler with and without the sandbox.
func TestCallbacksNeedNoSocket(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Seen", fmt.Sprintf("%t %s %s %s %s %d", r.RemoteAddr != "", r.Host, r.URL, r.RequestURI, r.Header["Authorization"], r.ContentLength))
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, "%s %s", r.Method, body)
	})
	const code = `
		const at = process.env.TRAILBLAZE_CALLBACK_URL;
		const r = await fetch(at + "?q=1", { method: "POST", body: "héllo", headers: { authorization: "Bearer t" } });
		console.log(r.status, r.url, r.headers.get("x-seen"), await r.text());`
	want := "202 http://127.0.0.1:9/scripting/callback?q=1 true 127.0.0.1:9 /scripting/callback?q=1 /scripting/callback?q=1 [Bearer t] 6 POST héllo\n"
	for _, sandbox := range []bool{false, true} {
		got := run(t, code, func(s *Spec) {
			s.Sandbox, s.Callback, s.CallbackURL = sandbox, handler, "http://127.0.0.1:9/scripting/callback"
			s.Env = []string{"TRAILBLAZE_CALLBACK_URL=" + s.CallbackURL, "HTTP_PROXY=http://127.0.0.1:1"}
		})
		if got != want {
			t.Errorf("sandbox %t: %q, want %q", sandbox, got, want)
		}
	}
}

// The callback server is reached by each name of the loopback interface, but only with its own port.
func TestCallbackHostNames(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) })
	for _, sandbox := range []bool{false, true} {
		got := run(t, bundledImports(`
			import http from "node:http";
			for (const host of ["127.0.0.1:9", "localhost:9", "LOCALHOST:9", "[::1]:9", "localhost:1", "localhost"]) {
				const url = "http://" + host + "/";
				console.log(await fetch(url).then((r) => r.text(), () => "refused"));
				await new Promise((done) => http.get(url, (r) => r.on("data", (b) => console.log(String(b))).on("end", done)).on("error", done));
			}`), func(s *Spec) {
			s.Sandbox, s.Callback, s.CallbackURL = sandbox, handler, "http://127.0.0.1:9/scripting/callback"
		})
		want := "127.0.0.1:9\n127.0.0.1:9\n" + strings.Repeat("localhost:9\n", 4) + "[::1]:9\n[::1]:9\nrefused\nrefused\n"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sandbox %t (-want +got):\n%s", sandbox, diff)
		}
	}
}

func TestAbortsCallback(t *testing.T) {
	t.Parallel()
	reached, ended := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(reached)
		<-r.Context().Done()
		close(ended)
	})
	g := newTestEngine(t, `
		const c = new AbortController();
		process.stdin.once("data", () => c.abort(new Error("said so")));
		await fetch("http://127.0.0.1:9/", { signal: c.signal }).catch((e) => console.log(e.message));
		process.stdin.destroy();`, func(s *Spec) { s.Callback, s.CallbackURL = handler, "http://127.0.0.1:9/x" })
	within(t, reached)
	g.send("abort\n")
	within(t, ended)
	if exit := g.wait(); exit != (Exit{}) || g.stdout.String() != "said so\n" {
		t.Errorf("exit %+v, stdout %q, stderr %s", exit, g.stdout, g.stderr)
	}
}

func TestPanicInCallbackFailsRequest(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			_, _ = w.Write([]byte("some"))
		}
		panic("on purpose")
	})
	got := run(t, `
		await fetch("http://127.0.0.1:9/").catch((e) => console.log(e.message, e.cause.code));
		await (await fetch("http://127.0.0.1:9/late")).text().catch((e) => console.log(e.message, e.cause.code));
	`, func(s *Spec) { s.Callback, s.CallbackURL = handler, "http://127.0.0.1:9/x" })
	if want := "fetch failed UND_ERR_SOCKET\nterminated UND_ERR_SOCKET\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// As in node. No time limit would end a read of such an answer.
func TestFetchRefusesAnotherProtocol(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "other")
		w.WriteHeader(http.StatusSwitchingProtocols)
		_, _, _ = http.NewResponseController(w).Hijack() // the connection stays open
	}))
	t.Cleanup(server.Close)
	got := run(t, `await fetch("`+server.URL+`").then((r) => r.text()).catch((e) => console.log(e.message, e.cause.code));`)
	if want := "fetch failed UND_ERR_SOCKET\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Neither a redirect nor a similar URL reaches another server.
func TestCallbackOrigin(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the sandbox reached a server") }))
	t.Cleanup(server.Close)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, server.URL, http.StatusFound) })
	got := run(t, `
		for (const url of ["http://127.0.0.1:9/", "http://127.0.0.1:9@`+server.Listener.Addr().String()+`/", "https://127.0.0.1:9/", "`+server.URL+`"])
			await fetch(url).then((r) => console.log(url, r.status), (e) => console.log(e.cause?.code ?? e.message));
	`, inSandbox, func(s *Spec) { s.Callback, s.CallbackURL = handler, "http://127.0.0.1:9/x" })
	refused := "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM\n"
	credentials := "Request cannot be constructed from a URL that includes credentials: http://127.0.0.1:9@" + server.Listener.Addr().String() + "/\n"
	if want := refused + credentials + refused + refused; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
