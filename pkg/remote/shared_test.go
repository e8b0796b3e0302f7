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
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// hosted is a server in Python. What stands before it runs first, and may exit.
const hosted = `
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
        time.sleep(3600)  # it goes to the process, of which this thread may run on for a while
    result = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "hosted", "version": "1"}},
        "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("pid", "die", "hang", "freeze")]},
        "tools/call": success(str(os.getpid())),
    }.get(message["method"], {})
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}

serve(handle)
`

// rooted answers at / alone, as some servers do.
const rooted = `
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

// fleet is a pool with what its processes leave.
type fleet struct {
	*Pool
	t      *testing.T
	dir    string
	marker string
}

// newFleet returns a pool that is closed at the end of the test, and of which then nothing is left.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	f := &fleet{Pool: NewPool(supervisor), t: t, dir: t.TempDir(), marker: spawntest.Marker()}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
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

// python is a program, with lines that run first.
func (f *fleet) python(first, program string) SharedSpec {
	f.t.Helper()
	sdk, err := filepath.Abs("../../sdks/python/src")
	if err != nil {
		f.t.Fatal(err)
	}
	file := filepath.Join(f.dir, "server.py")
	if err := os.WriteFile(file, []byte("import os, signal, sys, time\n"+first+program), 0o600); err != nil {
		f.t.Fatal(err)
	}
	env := append(os.Environ(), "PYTHONPATH="+sdk, "PYTHONDONTWRITEBYTECODE=1", "TRAILBLAZE_SESSION_ID=shared", f.marker)
	return SharedSpec{Process: spawn.Spec{Name: "hosted", Command: "python3", Args: []string{file}, Dir: f.dir, Env: env}}
}

// start opens a link to a program and shakes hands.
func (f *fleet) start(ctx context.Context, what SharedSpec) (*server.Server, error) {
	return server.Start(ctx, f.config(what))
}

func (f *fleet) config(what SharedSpec) server.Config {
	return server.Config{Name: "hosted", Launch: func(ctx context.Context) (server.Link, error) {
		l, err := f.Open(ctx, "key", what)
		if err != nil {
			return nil, err
		}
		return l, nil
	}}
}

// mustStart starts a server that is stopped at the end of the test.
func (f *fleet) mustStart(cfg server.Config) *rig {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	s := &said{}
	cfg.Log = s.add
	srv, err := server.Start(ctx, cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	r := &rig{srv, s}
	f.t.Cleanup(r.stop(f.t))
	return r
}

func TestAllWhoOpenAtOnceGetOneProcess(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	what := f.python("open('starts', 'a').write('x')\n", hosted)
	pids := make([]string, 8)
	var all sync.WaitGroup
	for i := range pids {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			srv, err := f.start(ctx, what)
			if err != nil {
				t.Error(err)
				return
			}
			r := &rig{srv, &said{}}
			pids[i] = r.call(t, "pid", nil).Text
			r.stop(t)()
		})
	}
	all.Wait()
	pids = append(pids, f.mustStart(f.config(what)).call(t, "pid", nil).Text) // stopping a link leaves the process alone
	if slices.Sort(pids); len(slices.Compact(pids)) != 1 {
		t.Errorf("answers of %q", pids)
	}
	if starts, err := os.ReadFile(filepath.Join(f.dir, "starts")); err != nil || string(starts) != "x" {
		t.Errorf("started %d times (%v)", len(starts), err)
	}
}

func TestTheEndOfTheProcessIsThatOfTheLink(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	what := f.python("", hosted)
	one, other := f.mustStart(f.config(what)), f.mustStart(f.config(what))
	before := other.call(t, "pid", nil).Text
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := one.Call(ctx, tool.Call{Tool: "die"})
	if err == nil || fault.KindOf(err) != fault.Crashed || !strings.Contains(err.Error(), `crashed during tool "die": exited with code 7`) {
		t.Errorf("the call in flight ended with %v", err)
	}
	select {
	case <-other.Failed():
	case <-ctx.Done():
		t.Fatal("the other link goes on")
	}
	if err := other.Err(); !strings.Contains(err.Error(), "crashed between calls: exited with code 7") {
		t.Errorf("the other link ended with %v", err)
	}
	if after := f.mustStart(f.config(what)).call(t, "pid", nil).Text; after == before {
		t.Error("nobody started it again")
	}
}

func TestACallThatWasLostWhenTheProcessDiedEndsAsTheProcessDid(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	opened, err := f.Open(ctx, "key", f.python("", hosted))
	if err != nil {
		t.Fatal(err)
	}
	link, err := Open(ctx, Spec{URL: opened.host.url})
	if err != nil {
		t.Fatal(err)
	}
	shared := &SharedLink{Link: link, pool: f.Pool, host: opened.host}
	conn, err := shared.Transport().Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		link.deliver(&jsonrpc.Response{Error: link.lost(io.EOF)})
	}
	if err := opened.host.process.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	link.end(opened.host.end())
	<-link.Done()
	if msg, err := conn.Read(ctx); !errors.Is(err, io.EOF) {
		t.Errorf("got %v (%v), want the end of the conversation", msg, err)
	}
}

func TestAnAnswerThatWasGivenBeforeTheEndCounts(t *testing.T) {
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
	id, _ := jsonrpc.MakeID("one") // of a text there always is one
	if err := conn.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "ping"}); err != nil {
		t.Fatal(err)
	}
	<-asked
	link.end(fault.New(fault.Crashed, "", "exited"))
	close(ended)
	if msg, err := conn.Read(t.Context()); err != nil {
		t.Errorf("got %v (%v), want the answer", msg, err)
	}
	if msg, err := conn.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("got %v (%v), want the end", msg, err)
	}
}

func TestARestartIsOneForAllLinks(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	cfg := f.config(f.python("", hosted))
	cfg.RestartOnCrash = true
	one, other := f.mustStart(cfg), f.mustStart(cfg)
	before := other.call(t, "pid", nil).Text
	if result := one.call(t, "die", nil); result.OK || result.Kind != fault.Crashed {
		t.Errorf("the call in flight: %+v", result)
	}
	first, second := one.call(t, "pid", nil).Text, other.call(t, "pid", nil).Text
	if first != second || first == before {
		t.Errorf("answers of %s and %s after the crash, of %s before it", first, second, before)
	}
}

func TestACallOverItsLimitCostsItsLinkAndNotTheProcess(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	cfg := f.config(f.python("", hosted))
	other := f.mustStart(cfg)
	cfg.CallTimeout = 500 * time.Millisecond
	one := f.mustStart(cfg)
	if result := one.call(t, "hang", nil); result.Kind != fault.CallTimeout {
		t.Errorf("a call that hangs: %+v", result)
	}
	if first, second := one.call(t, "pid", nil), other.call(t, "pid", nil); !first.OK || first.Text != second.Text {
		t.Errorf("afterwards: %+v and %+v", first, second)
	}
}

func TestAProcessThatNoLongerAnswersIsReplaced(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	what := f.python("", hosted)
	what.StartupTimeout = 8 * time.Second
	cfg := f.config(what)
	cfg.StartupTimeout, cfg.CallTimeout = what.StartupTimeout, 2*time.Second
	one := f.mustStart(cfg)
	before := one.call(t, "pid", nil).Text
	if result := one.call(t, "freeze", nil); result.Kind != fault.CallTimeout {
		t.Errorf("a call that freezes: %+v", result)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	after, err := one.Call(ctx, tool.Call{Tool: "pid"})
	if err != nil || after.Text == before || !strings.Contains(one.String(), "does not answer any more; its process is ended") {
		t.Errorf("the call after it: %+v, %v\n%s", after, err, one)
	}
	if other := f.mustStart(cfg).call(t, "pid", nil); other.Text != after.Text {
		t.Errorf("another link leads to %s, not to %s", other.Text, after.Text)
	}
}

func TestAServerWhosePortIsTakenGetsAnotherOne(t *testing.T) {
	t.Parallel()
	for times, want := range map[int]string{1: "", 2: "", 3: "ended before it answered: exited with code 1"} {
		t.Run(strconv.Itoa(times), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			what := f.python(fmt.Sprintf(`
with open("ports", "a") as ports:
    print(sys.argv[-1], file=ports)
if len(open("ports").readlines()) <= %d:
    sys.exit("listen EADDRINUSE: address already in use")
`, times), hosted)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
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

// sessions is a server that counts its sessions, knows only the last one, and forgets it when it is told to. With ONE it has but one.
const sessions = `
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

func TestASharedProcessThatForgetsASessionIsConnectedToAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	r := f.mustStart(f.config(f.python("ONE = False\n", sessions)))
	before := r.call(t, "pid", nil)
	r.call(t, "forget", nil)
	begun := time.Now()
	if after := r.call(t, "pid", nil); !after.OK || after.Text != before.Text {
		t.Errorf("the call after it: %+v, before %+v", after, before)
	}
	if took := time.Since(begun); took >= dying {
		t.Errorf("that took %s, as if the process were dying", took)
	}
	r.call(t, "forget", nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := r.List(ctx, false); err != nil {
		t.Errorf("the listing after it: %v", err)
	}
	if err := r.Err(); err != nil || strings.Count(r.String(), "warn: server \"hosted\" was connected to again: ") != 2 {
		t.Errorf("broken: %v, log:\n%s", err, r)
	}
}

func TestASharedProcessWithOneTransportForAllIsToldSo(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	what := f.python("ONE = True\n", sessions)
	f.mustStart(f.config(what))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := f.start(ctx, what)
	if err == nil || !strings.Contains(err.Error(), "Server already initialized") || !strings.Contains(err.Error(), "it is spoken to at http://127.0.0.1:") {
		t.Fatalf("a second session: %v", err)
	}
	if hint := fault.As(err).Hint; !strings.Contains(hint, "one transport for all clients") {
		t.Errorf("hint %q", hint)
	}
}

// redirecting sends everybody to the address in ELSEWHERE.
const redirecting = `
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(307)
        self.send_header("Location", ELSEWHERE)
        self.end_headers()

HTTPServer(("127.0.0.1", int(sys.argv[-1])), Handler).serve_forever()
`

func TestTheTokenOfASharedProcessGoesNowhereElse(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	elsewhere := listen(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s", r.Method, r.URL) }))
	what := f.python(fmt.Sprintf("ELSEWHERE = %q\n", elsewhere.URL), redirecting)
	what.Token = "sesame"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := f.start(ctx, what)
	if err == nil || !strings.Contains(err.Error(), "which is another host") || strings.Contains(fault.As(err).Hint, "url:") {
		t.Errorf("Start: %v", err)
	}
}

func TestAProcessThatDoesNotEndWithItsInputIsNamed(t *testing.T) {
	t.Parallel()
	f, s := newFleet(t), &said{}
	what := f.python("", rooted)
	what.Process.Log = s.add
	f.mustStart(f.config(what)).stop(t)()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := f.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	if !strings.Contains(s.String(), "info: did not end with its standard input; it was terminated after 5s") {
		t.Errorf("log:\n%s", s)
	}
}

func TestAServerAtTheRootIsFound(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	what := f.python("", rooted)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l, err := f.Open(ctx, "key", what)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Stop(ctx) }()
	if got := l.url.Path; got != "/" {
		t.Errorf("it is looked for at %s", got)
	}
}

func TestWhoGivesUpLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	what := f.python("while not os.path.exists('go'): time.sleep(0.01)\n", hosted)
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	go func() {
		_, err := f.Open(ctx, "key", what)
		gaveUp <- err
	}()
	stays := make(chan error, 1)
	go func() {
		srv, err := f.start(t.Context(), what)
		if err == nil {
			err = srv.Stop(context.WithoutCancel(t.Context()))
		}
		stays <- err
	}()
	cancel()
	if err := <-gaveUp; fault.KindOf(err) != fault.Cancelled {
		t.Errorf("who gave up got %v", err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-stays:
		if err != nil {
			t.Errorf("who did not got %v", err)
		}
	case <-time.After(patience):
		t.Fatal("who did not waits for ever")
	}
}

func TestCloseEndsWhatIsBeingStarted(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	what := f.python("open('begun', 'w')\nsys.stdin.read()\nsys.exit()\n", "")
	opened := make(chan error, 1)
	go func() {
		_, err := f.Open(t.Context(), "key", what)
		opened <- err
	}()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(f.dir, "begun")); err == nil {
			break
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

func TestNobodyElseChoosesAReservedPort(t *testing.T) {
	t.Parallel()
	taken := map[int]bool{}
	for range 200 {
		p, err := reserve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.free()
		if taken[p.number] || p.number < firstPort || p.number > lastPort {
			t.Errorf("port %d was chosen", p.number)
		}
		taken[p.number] = true
		_ = listenAt(t, p).Close()
	}
}

func TestAPortOfConnectionsThatHaveJustEndedIsNotChosen(t *testing.T) {
	t.Parallel()
	p, err := reserve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.free()
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
	_ = served.Close() // before the client does: it is this end that remembers the connection
	if _, err := io.Copy(io.Discard, client); err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	p.free()
	if again, err := hold(t.Context(), p.number); err == nil {
		again.free()
		t.Error("it was chosen")
	}
	_ = listenAt(t, p).Close() // as servers do that ask for it with SO_REUSEADDR
}

// listenAt tries for a while: a process that starts at this moment has copies of our sockets until it is another program.
func listenAt(t *testing.T, p *port) net.Listener {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		l, err := net.Listen("tcp4", p.address())
		if err == nil {
			return l
		}
		if time.Now().After(deadline) {
			t.Fatalf("a server cannot have it: %v", err)
		}
	}
}
