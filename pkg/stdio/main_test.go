//go:build unix

package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// roleVariable makes the test binary one of the servers below.
const roleVariable = "STDIO_TEST_ROLE"

func TestMain(m *testing.M) {
	if role, ok := roles()[os.Getenv(roleVariable)]; ok {
		role(os.Args[1:])
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func roles() map[string]func(args []string) {
	return map[string]func([]string){
		"answers":           answeringServer,
		"script":            scriptedServer,
		"floods stderr":     floodingServer,
		"big":               bigServer,
		"does not read":     func([]string) { untilKilled() },
		"exits at start":    func([]string) { os.Exit(3) },
		"closes its output": func([]string) { _ = os.Stdout.Close(); untilKilled() },
	}
}

func untilKilled() {
	<-time.After(time.Hour)
	os.Exit(99)
}

// request is what comes in.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// serve answers line by line until its input ends.
func serve(handle func(request)) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		var r request
		if len(line) > 1 && json.Unmarshal(line, &r) == nil {
			handle(r)
		}
		if err != nil {
			return
		}
	}
}

func answerTo(r request, result string) string {
	return fmt.Sprintf(`{"result":%s,"jsonrpc":"2.0","id":%s}`, result, r.ID)
}

func answeringServer([]string) {
	serve(func(r request) { fmt.Println(answerTo(r, strconv.Quote(r.Method))) })
	fmt.Fprintln(os.Stderr, "cleaned up")
}

// scriptedServer writes the file of its first argument at once, and that of its second in place of every answer, where
// ANSWER stands for it.
func scriptedServer(args []string) {
	first, _ := os.ReadFile(args[0])
	each, _ := os.ReadFile(args[1])
	_, _ = os.Stdout.Write(first)
	serve(func(r request) {
		_, _ = io.WriteString(os.Stdout, strings.ReplaceAll(string(each), "ANSWER", answerTo(r, `"ok"`)))
	})
}

// floodingServer writes to stderr before it answers: lines or bytes, and how many bytes.
func floodingServer(args []string) {
	n, _ := strconv.Atoi(args[1])
	serve(func(r request) {
		line := strings.Repeat("e", 99)
		if args[0] == "lines" {
			line += "\n"
		}
		block := strings.Repeat(line, 1000)
		for written := 0; written < n; written += len(block) {
			_, _ = io.WriteString(os.Stderr, block)
		}
		_, _ = io.WriteString(os.Stderr, "\nthe last line\n")
		fmt.Println(answerTo(r, `{}`))
	})
}

// bigServer answers with as many bytes as the parameters say.
func bigServer([]string) {
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	serve(func(r request) {
		n, _ := strconv.Atoi(string(r.Params))
		_, _ = out.WriteString(`{"result":"`)
		block := strings.Repeat("0123456789", 1000)
		for ; n > 0; n -= len(block) {
			_, _ = out.WriteString(block[:min(n, len(block))])
		}
		fmt.Fprintf(out, `","jsonrpc":"2.0","id":%s}`+"\n", r.ID)
		_ = out.Flush()
	})
}

// limit bounds every wait of these tests; none comes near it unless something hangs.
const limit = 3 * time.Minute

// server is a server under test.
type server struct {
	*Link
	t       *testing.T
	conn    mcp.Connection
	marker  string
	log     string
	mu      sync.Mutex
	notices []string
	calls   int
}

// start starts the test binary in a role. When the test ends, nothing of it may be left.
func start(t *testing.T, role string, args ...string) *server {
	t.Helper()
	return startSpec(t, roleSpec(t, role, args...))
}

func roleSpec(t testing.TB, role string, args ...string) Spec {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Spec: spawn.Spec{Command: path, Args: args, Env: []string{roleVariable + "=" + role, "GORACE=atexit_sleep_ms=0"}}}
}

// shell returns what starts a shell script.
func shell(script string, args ...string) Spec {
	return Spec{Spec: spawn.Spec{Command: "sh", Args: append([]string{"-c", script}, args...)}}
}

func startSpec(t *testing.T, spec Spec) *server {
	t.Helper()
	spec.Env = append(spec.Env, "PATH="+os.Getenv("PATH"))
	s := launch(t, nil, spec)
	conn, err := s.Transport().Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.conn = conn
	return s
}

// launch starts a server without connecting to it.
func launch(t *testing.T, runtimes *jsruntime.Finder, spec Spec) *server {
	t.Helper()
	s := &server{t: t, marker: spawntest.Marker(), log: filepath.Join(t.TempDir(), "stderr.log")}
	supervisor := spawn.NewSupervisor(spawn.Options{Runtimes: runtimes, ExitGrace: 2 * limit})
	spec.Name = "shop"
	if spec.LogPath == "" {
		spec.LogPath = s.log
	}
	spec.Env = append(spec.Env, s.marker)
	spec.Log = func(level, message, hint string) {
		// Which runtime was chosen, and that a busy machine needs longer than a second to end a process.
		if level == "debug" || strings.HasPrefix(message, "its input is closed") {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.notices = append(s.notices, level+": "+message+" / "+hint)
	}
	link, err := Start(t.Context(), supervisor, spec)
	if err != nil {
		t.Fatal(err)
	}
	s.Link = link
	t.Cleanup(func() {
		if err := link.Stop(t.Context()); err != nil { // the context has ended: it is killed
			t.Error(err)
		}
		if err := supervisor.Close(); err != nil {
			t.Error(err)
		}
		spawntest.NoSurvivors(t, s.marker)
	})
	return s
}

func request1() jsonrpc.Message {
	id, _ := jsonrpc.MakeID(1.0)
	return &jsonrpc.Request{ID: id, Method: "hello"}
}

// call sends a request and returns the response to it.
func (s *server) call(method, params string) *jsonrpc.Response {
	s.t.Helper()
	s.send(method, params)
	resp, ok := s.read().(*jsonrpc.Response)
	if !ok || resp.ID.Raw() != int64(s.calls) {
		s.t.Fatalf("the response to call %d is %v", s.calls, resp)
	}
	return resp
}

func (s *server) send(method, params string) {
	s.t.Helper()
	s.calls++
	id, _ := jsonrpc.MakeID(float64(s.calls))
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	if err := s.conn.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: []byte(params)}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) read() jsonrpc.Message {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	msg, err := s.conn.Read(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return msg
}

// mustStop stops the server, which must exit by itself.
func (s *server) mustStop() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	if err := errors.Join(s.Stop(ctx), ctx.Err()); err != nil {
		s.t.Fatalf("stopping: %v", err)
	}
}

func (s *server) waitDone() {
	s.t.Helper()
	waitFor(s.t, s.Done(), "the process to end")
}

func waitFor(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(limit):
		t.Fatalf("waited %s for %s", limit, what)
	}
}

func (s *server) logged() string {
	data, err := os.ReadFile(s.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Error(err)
	}
	return string(data)
}

func (s *server) noticed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notices)
}

func put(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
