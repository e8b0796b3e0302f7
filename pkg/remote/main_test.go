package remote

import (
	"context"
	"fmt"
	"io"
	"log" //nolint:depguard // http.Server wants one
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testTimeout bounds every wait in these tests.
const testTimeout = 2 * time.Minute

// logRecorder collects logged messages.
type logRecorder struct {
	mu    sync.Mutex
	lines []string
}

func (s *logRecorder) add(level, message, hint string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%s: %s (%s)", level, message, hint))
}

func (s *logRecorder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// testServer is a server with a URL, and its messages.
type testServer struct {
	*server.Server
	*logRecorder
}

// config returns the configuration of a server with a URL.
func config(t *testing.T, spec Spec, adjust func(*server.Config)) (server.Config, *logRecorder) {
	t.Helper()
	s := &logRecorder{}
	spec.Name, spec.Log = "team", s.add
	if spec.timing == nil { // as in production, with longer limits for a busy machine
		limits := defaultTiming()
		limits.endpoint = testTimeout
		spec.timing = &limits
	}
	cfg := server.Config{
		Name: "team", Version: "1.2.3", Log: s.add, Reconnect: true,
		Launch: func(ctx context.Context) (server.Link, error) {
			l, err := Open(ctx, spec)
			if err != nil {
				return nil, err
			}
			return l, nil
		},
	}
	if adjust != nil {
		adjust(&cfg)
	}
	return cfg, s
}

// connect connects to a URL, until the end of the test.
func connect(t *testing.T, spec Spec, adjust func(*server.Config)) *testServer {
	t.Helper()
	cfg, s := config(t, spec, adjust)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	srv, err := server.Start(ctx, cfg)
	if err != nil {
		t.Fatalf("Start: %v\n%s", err, s)
	}
	r := &testServer{srv, s}
	t.Cleanup(r.stop(t))
	return r
}

func (r *testServer) stop(t *testing.T) func() {
	t.Helper()
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testTimeout)
		defer cancel()
		if err := r.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
}

func (r *testServer) call(t *testing.T, name string, args map[string]any) tool.Result {
	t.Helper()
	return r.makeCall(t, tool.Call{Tool: name, Args: args})
}

// callWithin calls a tool with a time limit.
func (r *testServer) callWithin(t *testing.T, name string, limit time.Duration) tool.Result {
	t.Helper()
	return r.makeCall(t, tool.Call{Tool: name, Timeout: limit})
}

func (r *testServer) makeCall(t *testing.T, call tool.Call) tool.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	result, err := r.Call(ctx, call)
	if err != nil {
		t.Fatalf("Call: %v\n%s", err, r)
	}
	return result
}

// listen serves HTTP until the end of the test.
func listen(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// discardLog returns a logger for servers that log errors of clients.
func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }
