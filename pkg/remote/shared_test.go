//go:build unix

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/stdio"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// pidServer is a server in Python whose tool pid returns its process id.
const pidServer = `
from trailblaze import serve, success

def handle(message):
    if "id" not in message:
        return None
    if message["method"] == "tools/call" and message["params"]["name"] == "die":
        os._exit(7)
    if message["method"] == "tools/call" and message["params"]["name"] == "hang":
        time.sleep(3600)
    if message["method"] == "tools/call" and message["params"]["name"] == "freeze":
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(3600)  # the signal may take effect on this thread later
    result = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "hosted", "version": "1"}},
        "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("pid", "die", "hang", "freeze")]},
        "tools/call": success(str(os.getpid())),
    }.get(message["method"], {})
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}

serve(handle)
`

// rootServer responds only at /, as some servers do.
const rootServer = `
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = b""
        if self.path == "/" and "id" in message:
            info = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "rooted", "version": "1"}, "tools": []}
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": info}).encode()
        self.send_response(404 if self.path != "/" else 200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

HTTPServer(("127.0.0.1", int(sys.argv[-1])), Handler).serve_forever()
`

// exitAtEOF makes a server exit when its stdin is closed.
const exitAtEOF = `
import threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
`

// testPool is a pool whose processes can be identified.
type testPool struct {
	*Pool
	t      *testing.T
	dir    string
	marker string
}

// newTestPool returns a pool that is closed at the end of the test, which then checks that no process is left.
func newTestPool(t *testing.T) *testPool {
	t.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	f := &testPool{Pool: NewPool(supervisor), t: t, dir: t.TempDir(), marker: spawntest.Marker()}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testTimeout)
		defer cancel()
		if err := f.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := supervisor.Close(); err != nil {
			t.Errorf("left by the pool: %v", err)
		}
		spawntest.NoSurvivors(t, f.marker)
	})
	return f
}

// python returns a program, after the lines of first.
func (f *testPool) python(first, program string) SharedSpec {
	f.t.Helper()
	sdk, err := filepath.Abs("../../sdks/python/src")
	if err != nil {
		f.t.Fatal(err)
	}
	file := filepath.Join(f.dir, "server.py")
	if err := os.WriteFile(file, []byte("import os, signal, sys, time\n"+first+program), 0o600); err != nil {
		f.t.Fatal(err)
	}
	env := append(os.Environ(), "PYTHONPATH="+sdk, "PYTHONDONTWRITEBYTECODE=1", "TRAILBLAZE_SESSION_ID=shared",
		f.marker)
	return SharedSpec{Process: stdio.Spec{Spec: spawn.Spec{
		Name: "hosted", Command: "python3", Args: []string{file},
		Dir: f.dir, Env: env,
	}}}
}

// start opens a link to a program and completes the handshake.
func (f *testPool) start(ctx context.Context, what SharedSpec) (*server.Server, error) {
	return server.Start(ctx, f.config(what))
}

func (f *testPool) config(what SharedSpec) server.Config {
	return server.Config{Name: "hosted", Launch: func(ctx context.Context) (server.Link, error) {
		l, err := f.Open(ctx, "key", what)
		if err != nil {
			return nil, err
		}
		return l, nil
	}}
}

// mustStart starts a server that is stopped at the end of the test.
func (f *testPool) mustStart(cfg server.Config) *testServer {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), testTimeout)
	defer cancel()
	s := &logRecorder{}
	cfg.Log = s.add
	srv, err := server.Start(ctx, cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	r := &testServer{srv, s}
	f.t.Cleanup(r.stop(f.t))
	return r
}

func TestConcurrentOpensShareOneProcess(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	what := f.python("open('starts', 'a').write('x')\n", pidServer)
	pids := make([]string, 8)
	var all sync.WaitGroup
	for i := range pids {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			srv, err := f.start(ctx, what)
			if err != nil {
				t.Error(err)
				return
			}
			r := &testServer{srv, &logRecorder{}}
			pids[i] = r.call(t, "pid", nil).Text
			r.stop(t)()
		})
	}
	all.Wait()
	// stopping a link does not stop the process
	pids = append(pids, f.mustStart(f.config(what)).call(t, "pid", nil).Text)
	if slices.Sort(pids); len(slices.Compact(pids)) != 1 {
		t.Errorf("process ids %q", pids)
	}
	if starts, err := os.ReadFile(filepath.Join(f.dir, "starts")); err != nil || string(starts) != "x" {
		t.Errorf("started %d times (%v)", len(starts), err)
	}
}

func TestExitOfTheProcessEndsItsLinks(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	what := f.python("", pidServer)
	one, other := f.mustStart(f.config(what)), f.mustStart(f.config(what))
	before := other.call(t, "pid", nil).Text
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	_, err := one.Call(ctx, tool.Call{Tool: "die"})
	if err == nil || fault.KindOf(err) != fault.Crashed ||
		!strings.Contains(err.Error(), `crashed during tool "die": exited with code 7`) {
		t.Errorf("the pending call: %v", err)
	}
	select {
	case <-other.Failed():
	case <-ctx.Done():
		t.Fatal("the other link has not failed")
	}
	if err := other.Err(); !strings.Contains(err.Error(), "crashed between calls: exited with code 7") {
		t.Errorf("the other link: %v", err)
	}
	if after := f.mustStart(f.config(what)).call(t, "pid", nil).Text; after == before {
		t.Error("it was not restarted")
	}
}

func TestCallLostByAnExitIsReportedAsTheExit(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	opened, err := f.Open(ctx, "key", f.python("", pidServer))
	if err != nil {
		t.Fatal(err)
	}
	link, err := Open(ctx, Spec{URL: opened.shared.url})
	if err != nil {
		t.Fatal(err)
	}
	shared := &SharedLink{Link: link, pool: f.Pool, shared: opened.shared}
	conn, err := shared.Transport().Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		link.deliver(&jsonrpc.Response{Error: link.connectionLost(io.EOF)})
	}
	if err := opened.shared.process.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	link.fail(opened.shared.exitError())
	<-link.Done()
	if msg, err := conn.Read(ctx); !errors.Is(err, io.EOF) {
		t.Errorf("got %v (%v), want io.EOF", msg, err)
	}
}

func TestResponseSentBeforeTheExitIsDelivered(t *testing.T) {
	t.Parallel()
	asked, ended := make(chan struct{}), make(chan struct{})
	s := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-ended
		w.Header().Set("Content-Type", typeJSON)
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":"one","result":{}}`)
	}))
	link, err := Open(t.Context(), Spec{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := link.Transport().Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id, _ := jsonrpc.MakeID("one") // a string is always valid
	if err := conn.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "ping"}); err != nil {
		t.Fatal(err)
	}
	<-asked
	link.fail(fault.New(fault.Crashed, "", "exited"))
	close(ended)
	if msg, err := conn.Read(t.Context()); err != nil {
		t.Errorf("got %v (%v), want the response", msg, err)
	}
	if msg, err := conn.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("got %v (%v), want io.EOF", msg, err)
	}
}

func TestRestartIsSharedByAllLinks(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	cfg := f.config(f.python("", pidServer))
	cfg.RestartOnCrash = true
	one, other := f.mustStart(cfg), f.mustStart(cfg)
	before := other.call(t, "pid", nil).Text
	if result := one.call(t, "die", nil); result.OK || result.Kind != fault.Crashed {
		t.Errorf("the pending call: %+v", result)
	}
	first, second := one.call(t, "pid", nil).Text, other.call(t, "pid", nil).Text
	if first != second || first == before {
		t.Errorf("process ids %s and %s after the crash, %s before it", first, second, before)
	}
}

func TestTimedOutCallReplacesTheLinkAndNotTheProcess(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	cfg := f.config(f.python("", pidServer))
	other := f.mustStart(cfg)
	one := f.mustStart(cfg)
	if result := one.callWithin(t, "hang", 200*time.Millisecond); result.Kind != fault.CallTimeout {
		t.Errorf("a call that hangs: %+v", result)
	}
	if first, second := one.call(t, "pid", nil), other.call(t, "pid", nil); !first.OK || first.Text != second.Text {
		t.Errorf("afterwards: %+v and %+v", first, second)
	}
}

func TestUnresponsiveProcessIsReplaced(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	what := f.python("", pidServer)
	what.unresponsiveAfter = 5 * time.Second
	cfg := f.config(what)
	cfg.StartupTimeout = what.unresponsiveAfter
	one := f.mustStart(cfg)
	before := one.call(t, "pid", nil)
	if result := one.callWithin(t, "freeze", time.Second); result.Kind != fault.CallTimeout {
		t.Errorf("a call that freezes: %+v", result)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	after, err := one.Call(ctx, tool.Call{Tool: "pid"})
	if err != nil || after.Text == before.Text || !strings.Contains(one.String(), "stopped responding; restarting it") {
		t.Errorf("the call after it: %+v, %v\n%s", after, err, one)
	}
	if other := f.mustStart(cfg).call(t, "pid", nil); other.Text != after.Text {
		t.Errorf("another link leads to %s, not to %s", other.Text, after.Text)
	}
	if pid, err := strconv.Atoi(before.Text); err == nil {
		_ = syscall.Kill(pid, syscall.SIGCONT) // so that it exits without being killed
	}
}

func TestStartIsRetriedIfThePortIsTaken(t *testing.T) {
	t.Parallel()
	for times, want := range map[int]string{1: "", 2: "", 3: "exited before it responded: exited with code 1"} {
		t.Run(strconv.Itoa(times), func(t *testing.T) {
			t.Parallel()
			f := newTestPool(t)
			what := f.python(fmt.Sprintf(`
with open("ports", "a") as ports:
    print(sys.argv[-1], file=ports)
if len(open("ports").readlines()) <= %d:
    sys.exit("listen EADDRINUSE: address already in use")
`, times), pidServer)
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			srv, err := f.start(ctx, what)
			if err == nil {
				err = srv.Stop(ctx)
			}
			if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
				t.Errorf("got %s, want %q", got, want)
			}
			ports, err := os.ReadFile(filepath.Join(f.dir, "ports"))
			tried := strings.Fields(string(ports))
			if slices.Sort(tried); err != nil || len(slices.Compact(tried)) != min(times+1, maxPorts) {
				t.Errorf("tried %q (%v)", tried, err)
			}
		})
	}
}

// sessionServer is a server that counts its sessions, keeps only the last one, and drops it when its tool forget is
// called. With ONE it accepts only one.
const sessionServer = exitAtEOF + `
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

count = 0

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global count
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, status, body = message["method"], 200, {}
        if method == "initialize":
            count += 1
            body["result"] = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "sessions", "version": "1"}}
            if ONE and count > 1:
                status, body = 400, {"error": {"code": -32600, "message": "Invalid Request: Server already initialized"}}
        elif self.headers["Mcp-Session-Id"] != str(count):
            status, body = 404, {"error": {"code": -32001, "message": "Session not found"}}
        elif method == "tools/call" and message["params"]["name"] == "forget":
            count += 1
            body["result"] = {"content": []}
        elif method == "tools/call":
            body["result"] = {"content": [{"type": "text", "text": str(os.getpid())}]}
        elif method == "tools/list":
            body["result"] = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("pid", "forget")]}
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), **body}).encode()
        self.send_response(status if "id" in message else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Mcp-Session-Id", str(count))
        self.send_header("Content-Length", str(len(body) if "id" in message else 0))
        self.end_headers()
        if "id" in message:
            self.wfile.write(body)

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[-1])), Handler).serve_forever()
`

func TestLinkReconnectsIfTheProcessDoesNotKnowTheSession(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	r := f.mustStart(f.config(f.python("ONE = False\n", sessionServer)))
	before := r.call(t, "pid", nil)
	r.call(t, "forget", nil)
	started := time.Now()
	if after := r.call(t, "pid", nil); !after.OK || after.Text != before.Text {
		t.Errorf("the call after it: %+v, before %+v", after, before)
	}
	if took := time.Since(started); took >= exitTimeout {
		t.Errorf("that took %s, like waiting for an exit", took)
	}
	r.call(t, "forget", nil)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	if _, err := r.List(ctx, false); err != nil {
		t.Errorf("the listing after it: %v", err)
	}
	if err := r.Err(); err != nil || strings.Count(r.String(), "warn: server \"hosted\" reconnected: ") != 2 {
		t.Errorf("broken: %v, log:\n%s", err, r)
	}
}

func TestProcessWithOneTransportGetsAHint(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	what := f.python("ONE = True\n", sessionServer)
	f.mustStart(f.config(what))
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	_, err := f.start(ctx, what)
	if err == nil || !strings.Contains(err.Error(), "Server already initialized") ||
		!strings.Contains(err.Error(), "its url is http://127.0.0.1:") {
		t.Fatalf("a second session: %v", err)
	}
	if hint := fault.As(err).Hint; !strings.Contains(hint, "one transport for all clients") {
		t.Errorf("hint %q", hint)
	}
}

// redirectServer redirects all requests to ELSEWHERE.
const redirectServer = exitAtEOF + `
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(307)
        self.send_header("Location", ELSEWHERE)
        self.end_headers()

HTTPServer(("127.0.0.1", int(sys.argv[-1])), Handler).serve_forever()
`

func TestTokenIsNotSentToAnotherHost(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	elsewhere := listen(t, http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request,
	) {
		t.Errorf("%s %s", r.Method, r.URL)
	}))
	what := f.python(fmt.Sprintf("ELSEWHERE = %q\n", elsewhere.URL), redirectServer)
	what.Token = "sesame"
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	_, err := f.start(ctx, what)
	if err == nil || !strings.Contains(err.Error(), "which is another host") ||
		strings.Contains(fault.As(err).Hint, "url:") {
		t.Errorf("Start: %v", err)
	}
}

func TestTerminatedProcessIsLogged(t *testing.T) {
	t.Parallel()
	f, s := newTestPool(t), &logRecorder{}
	what := f.python("", rootServer)
	what.Process.Log = s.add
	f.mustStart(f.config(what)).stop(t)()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	if err := f.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	if !strings.Contains(s.String(), "info: did not exit within 5s of the end of its input; sent SIGTERM") {
		t.Errorf("log:\n%s", s)
	}
}

func TestServerAtTheRootPathIsFound(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	what := f.python(exitAtEOF, rootServer)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	l, err := f.Open(ctx, "key", what)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Stop(ctx) }()
	if got := l.url.Path; got != "/" {
		t.Errorf("path %s", got)
	}
}

func TestCancelledOpenDoesNotCancelOthers(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	what := f.python("while not os.path.exists('go'): time.sleep(0.01)\n", pidServer)
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 1)
	go func() {
		_, err := f.Open(ctx, "key", what)
		cancelled <- err
	}()
	other := make(chan error, 1)
	go func() {
		srv, err := f.start(t.Context(), what)
		if err == nil {
			err = srv.Stop(context.WithoutCancel(t.Context()))
		}
		other <- err
	}()
	cancel()
	if err := <-cancelled; fault.KindOf(err) != fault.Cancelled {
		t.Errorf("the cancelled Open: %v", err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-other:
		if err != nil {
			t.Errorf("the other Open: %v", err)
		}
	case <-time.After(testTimeout):
		t.Fatal("the other Open does not return")
	}
}

func TestCloseStopsAStartingProcess(t *testing.T) {
	t.Parallel()
	f := newTestPool(t)
	what := f.python("open('started', 'w')\nsys.stdin.read()\nsys.exit()\n", "")
	opened := make(chan error, 1)
	go func() {
		_, err := f.Open(t.Context(), "key", what)
		opened <- err
	}()
	for deadline := time.Now().Add(testTimeout); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(f.dir, "started")); err == nil {
			break
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	if err := f.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-opened; fault.KindOf(err) != fault.Cancelled {
		t.Errorf("Open: %v", err)
	}
	if _, err := f.Open(ctx, "key", what); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("Open after Close: %v", err)
	}
	spawntest.NoSurvivors(t, f.marker)
}

func TestReservedPortIsNotChosenAgain(t *testing.T) {
	t.Parallel()
	taken := map[int]bool{}
	for range 200 {
		p, err := reservePort(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.release()
		if taken[p.number] || p.number < firstPort || p.number > lastPort {
			t.Errorf("port %d was chosen", p.number)
		}
		taken[p.number] = true
		_ = listenAt(t, p).Close()
	}
}

func TestPortInTimeWaitIsNotChosen(t *testing.T) {
	t.Parallel()
	p, err := reservePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	listener := listenAt(t, p)
	client, err := net.Dial("tcp4", p.address())
	if err != nil {
		t.Fatal(err)
	}
	served, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	_ = served.Close() // before the client does, so that this end is in TIME_WAIT
	if _, err := io.Copy(io.Discard, client); err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	p.release()
	if again, err := tryPort(t.Context(), p.number); err == nil {
		again.release()
		t.Error("the port was chosen")
	}
	_ = listenAt(t, p).Close() // as servers with SO_REUSEADDR do
}

// listenAt retries, because a process that is being forked has copies of our sockets until exec.
func listenAt(t *testing.T, p *port) net.Listener {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		l, err := net.Listen("tcp4", p.address())
		if err == nil {
			return l
		}
		if time.Now().After(deadline) {
			t.Fatalf("a server cannot listen on it: %v", err)
		}
	}
}
