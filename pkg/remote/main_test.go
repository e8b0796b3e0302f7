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

// patience bounds every wait of these tests.
const patience = 30 * time.Second

// said collects what a server says by Log.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) add(level, message, hint string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%s: %s (%s)", level, message, hint))
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// rig is a server that is reached by URL.
type rig struct {
	*server.Server
	*said
}

// config reaches a URL.
func config(t *testing.T, spec Spec, adjust func(*server.Config)) (server.Config, *said) {
	t.Helper()
	s := &said{}
	spec.Name, spec.Log = "team", s.add
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

// connect connects to a URL; the test disconnects at its end.
func connect(t *testing.T, spec Spec, adjust func(*server.Config)) *rig {
	t.Helper()
	cfg, s := config(t, spec, adjust)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	srv, err := server.Start(ctx, cfg)
	if err != nil {
		t.Fatalf("Start: %v\n%s", err, s)
	}
	r := &rig{srv, s}
	t.Cleanup(r.stop(t))
	return r
}

func (r *rig) stop(t *testing.T) func() {
	t.Helper()
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := r.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
}

func (r *rig) call(t *testing.T, name string, args map[string]any) tool.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := r.Call(ctx, tool.Call{Tool: name, Args: args})
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

// nowhere is for servers that log what their clients do.
func nowhere() *log.Logger { return log.New(io.Discard, "", 0) }
