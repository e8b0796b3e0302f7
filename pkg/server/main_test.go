package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/stdio"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const fakeEnv = "TRAILBLAZE_TEST_FAKE_SERVER"

func TestMain(m *testing.M) {
	if script := os.Getenv(fakeEnv); script != "" {
		runFakeServer(script)
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if goSDKServer.dir != "" {
			_ = os.RemoveAll(goSDKServer.dir)
		}
		os.Exit(code)
	}))
}

// testTimeout bounds every wait in these tests.
const testTimeout = 2 * time.Minute

// testServer is a server under test, with what its processes wrote to their log and its messages.
type testServer struct {
	*Server
	dir    string
	marker string // in the environment of its processes
	*logRecorder
}

// logRecorder collects the messages that a server logs.
type logRecorder struct {
	mu    sync.Mutex
	lines []string
}

func (s *logRecorder) add(level, message, hint string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%s: %s (%s)", level, message, hint))
}

// logged reports whether a message contains all parts.
func (s *logRecorder) logged(parts ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			return true
		}
	}
	return false
}

func (s *logRecorder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// fakeConfig returns the configuration of a server that follows a script.
func fakeConfig(t *testing.T, sc script, adjust func(*Config)) (Config, *testServer) {
	t.Helper()
	sc.Dir = t.TempDir()
	raw, err := json.Marshal(sc)
	if err != nil {
		t.Fatal(err)
	}
	r := &testServer{dir: sc.Dir, marker: spawntest.Marker(), logRecorder: &logRecorder{}}
	cfg := Config{
		Root: "/project",
		Name: "shop", Version: "1.2.3", Log: r.add,
		Launch: launcher(t, []string{fakeEnv + "=" + string(raw), "GORACE=atexit_sleep_ms=0", r.marker}, os.Args[0]),
	}
	if sc.Close != "" {
		cfg.timing.exitGrace = 100 * time.Millisecond
	}
	if adjust != nil {
		adjust(&cfg)
	}
	return cfg, r
}

// launcher starts real processes, which have ended when the test ends.
func launcher(tb testing.TB, env []string, argv ...string) func(context.Context) (Link, error) {
	tb.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	tb.Cleanup(func() {
		if err := supervisor.Close(); err != nil {
			tb.Error(err)
		}
	})
	env = append(os.Environ(), env...)
	return func(ctx context.Context) (Link, error) {
		p, err := stdio.Start(ctx, supervisor,
			stdio.Spec{Spec: spawn.Spec{Name: "shop", Command: argv[0], Args: argv[1:], Env: env}})
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// startFakeServer starts a server that follows a script. It is stopped at the end of the test.
func startFakeServer(t *testing.T, sc script, adjust func(*Config)) *testServer {
	t.Helper()
	cfg, r := fakeConfig(t, sc, adjust)
	r.Server = start(t, cfg)
	return r
}

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	s, err := Start(ctx, cfg)
	if err != nil {
		t.Fatalf("Start: %v (%+v)", err, err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testTimeout)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func call(t *testing.T, s *Server, c tool.Call) tool.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	result, err := s.Call(ctx, c)
	if err != nil {
		t.Fatalf("Call: %v", err)
	}
	return result
}

func args(t *testing.T, raw string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// lines returns the lines of the fake server's log that contain part.
func (r *testServer) lines(part string) []string { return linesIn(r.dir, part) }

func linesIn(dir, part string) []string {
	raw, _ := os.ReadFile(filepath.Join(dir, "log"))
	var lines []string
	in := bufio.NewReader(bytes.NewReader(raw))
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return lines
		}
		if strings.Contains(line, part) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
}

// waitFor waits until a condition holds that depends on another process or goroutine.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(testTimeout)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("timed out after %s waiting for: %s", testTimeout, what)
		}
		<-tick.C
	}
}

func waitClosed(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(testTimeout):
		t.Fatalf("timed out after %s waiting for: %s", testTimeout, what)
	}
}

func mustContain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("want %q in:\n%s", part, text)
		}
	}
}
