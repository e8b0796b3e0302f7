package web

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/device/local"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// failTime is how long mustFail waits for elements.
const failTime = 400 * time.Millisecond

// testLimit bounds every wait of a test. It is long because the machine may be busy with other browsers.
const testLimit = 2 * time.Minute

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		runRole(role)
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil { // more pages at once slow each other down
		panic(err)
	}
	code := m.Run()
	sharedBrowser.close()
	_ = os.RemoveAll(electronDir)
	if err := goleak.Find(); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

// electronDir has the program that buildElectron has built; empty before.
var electronDir string

// roleVariable makes the test binary play a run that ends as its value says.
const roleVariable = "WEB_TEST_ROLE"

// runRole opens a page, prints that it is ready, and ends.
func runRole(role string) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	spawn.AdoptOrphans() // as the program does: a dying process has no environment by which it could be found
	supervisor := spawn.NewSupervisor(spawn.Options{})
	b, err := Kind().New(device.Host{Env: os.Environ(), Programs: local.Programs(supervisor)})
	if err != nil {
		panic(err)
	}
	d := b.Open(device.Session{Log: func(string, string, string) {}, Broken: func(error) {}})
	ctx := context.Background()
	if _, err := d.Call(ctx, tool.Call{
		Tool: "navigate",
		Args: map[string]any{"url": "data:text/html,<h1>hi"},
	}); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	<-signals
	if role == "second signal" {
		supervisor.KillAll()
	} else {
		err = errors.Join(d.Close(ctx), b.Close(ctx))
	}
	if err := errors.Join(err, supervisor.Close()); err != nil && role != "second signal" {
		panic(err)
	}
	os.Exit(0)
}

// sharedBrowser is the browser of all tests that do not need one of their own.
var sharedBrowser sharedBackend

type sharedBackend struct {
	once       sync.Once
	supervisor *spawn.Supervisor
	backend    device.Backend
	err        error
}

func (s *sharedBackend) get(t testing.TB) device.Backend {
	t.Helper()
	browser := spawntest.Chromium(t) // not in once, which would be done when it ends the first test
	s.once.Do(func() {
		s.supervisor = spawn.NewSupervisor(spawn.Options{})
		s.backend, s.err = newBackendOn(browser, nil, s.supervisor)
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.backend
}

func (s *sharedBackend) close() {
	if s.backend != nil {
		_ = errors.Join(s.backend.Close(context.Background()), s.supervisor.Close())
	}
}

// newBackendOn returns a backend that starts a browser, unless values name another one.
func newBackendOn(browser string, values map[string]string, supervisor *spawn.Supervisor) (device.Backend, error) {
	all := map[string]string{"browser": browser}
	maps.Copy(all, values)
	return Kind().New(device.Host{Values: all, Env: os.Environ(), Programs: local.Programs(supervisor)})
}

// newTestBackend returns a backend with a browser of its own, which ends with the test.
func newTestBackend(t *testing.T, values map[string]string) device.Backend {
	t.Helper()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	b, err := newBackendOn(spawntest.Chromium(t), values, supervisor)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(b.Close(context.WithoutCancel(t.Context())), supervisor.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// testSession is a session of a test.
type testSession struct {
	t      *testing.T
	device device.Device
	broken chan error

	mu      sync.Mutex
	kept    map[string][]byte
	foreign map[string]bool // whether the kept file is a foreign one
	logs    []string
}

// openSession opens a session in the shared browser.
func openSession(t *testing.T) *testSession {
	t.Helper()
	return openSessionIn(t, sharedBrowser.get(t), device.Session{})
}

// sessionPool lends sessions to the subtests of a test, each of which opens a page of its own in them. Opening a
// session takes longer than most subtests.
type sessionPool struct {
	parent *testing.T
	idle   chan *testSession
}

func newSessionPool(t *testing.T) *sessionPool {
	t.Helper()
	return &sessionPool{t, make(chan *testSession, 100)}
}

// session lends a session to a subtest until its end, unless it fails. The parent closes all sessions.
func (p *sessionPool) session(t *testing.T) *testSession {
	t.Helper()
	var u *testSession
	select {
	case u = <-p.idle:
	default:
		u = openSession(p.parent)
	}
	u.t = t
	t.Cleanup(func() {
		if u.t = p.parent; !t.Failed() {
			p.idle <- u
		}
	})
	return u
}

// tries returns how often a test repeats what may fail by chance: less often in a short run.
func tries(short, full int) int {
	if testing.Short() {
		return short
	}
	return full
}

// openSessionIn opens a session in a backend, and fills in the functions of session.
func openSessionIn(t *testing.T, b device.Backend, session device.Session) *testSession {
	t.Helper()
	u := &testSession{t: t, broken: make(chan error, 1), kept: map[string][]byte{}, foreign: map[string]bool{}}
	session.Log = func(level, message, _ string) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.logs = append(u.logs, level+": "+message)
	}
	session.Keep = func(a device.Artifact) (string, error) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.kept[a.Name], u.foreign[a.Name] = a.Data, a.Foreign
		return filepath.Join("kept", a.Name), nil
	}
	session.Broken = func(err error) {
		select {
		case u.broken <- err:
		default: // it may be told again
		}
	}
	u.device = b.Open(session)
	u.device.(*webDevice).limits = longLimits()
	t.Cleanup(func() {
		if err := u.device.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return u
}

// call calls a command with pairs of argument and value.
func (u *testSession) call(name string, args ...any) (tool.Result, error) {
	u.t.Helper()
	given := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		given[args[i].(string)] = args[i+1]
	}
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	return u.device.Call(ctx, tool.Call{ID: name, Tool: name, Args: given})
}

// longLimits are limits for commands that must succeed, on a machine that is busy.
func longLimits() limits {
	l := defaultLimits()
	l.call, l.navigation, l.action, l.assertion, l.first = testLimit, testLimit, testLimit/2, testLimit/2, testLimit/2
	l.look = testLimit / 2
	l.response, l.evidence, l.frame = testLimit/12, testLimit/6, testLimit/12
	return l
}

// mustCall calls a command that must succeed and returns its text.
func (u *testSession) mustCall(name string, args ...any) string {
	u.t.Helper()
	result, err := u.call(name, args...)
	if err != nil || !result.OK {
		u.t.Fatalf("%s %v: %s %v", name, args, result.Text, err)
	}
	return result.Text
}

// mustFail calls a command that must fail, soon, with a text that contains all parts.
func (u *testSession) mustFail(name string, args []any, parts ...string) tool.Result {
	u.t.Helper()
	d := u.device.(*webDevice)
	before := d.limits
	defer func() { d.limits = before }()
	d.limits.action, d.limits.assertion = failTime, failTime
	result, err := u.call(name, args...)
	if err != nil || result.OK {
		u.t.Fatalf("%s %v: succeeded with %q, or returned the error %v", name, args, result.Text, err)
	}
	for _, part := range parts {
		if !strings.Contains(result.Text, part) {
			u.t.Errorf("%s %v: failed with %q, which does not contain %q", name, args, result.Text, part)
		}
	}
	return result
}

// mustFailInTime is mustFail for a call that takes time to know why it fails: three seconds, and more on a busy machine.
func (u *testSession) mustFailInTime(name string, args []any, parts ...string) tool.Result {
	u.t.Helper()
	within := func(limit time.Duration) []any { return append(slices.Clip(args), "timeoutMs", limit.Milliseconds()) }
	result, err := u.call(name, within(3*time.Second)...)
	lacks := func(part string) bool { return !strings.Contains(result.Text, part) }
	if err == nil && !result.OK && !slices.ContainsFunc(parts, lacks) {
		return result
	}
	return u.mustFail(name, within(testLimit/2), parts...)
}

// mustEval evaluates a script in the page.
func (u *testSession) mustEval(script string) string {
	u.t.Helper()
	return u.mustCall("web_evaluate", "script", script)
}

// waitFor waits until holds returns true.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testLimit); !holds(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// serve serves testdata/web and the handlers of a test, and returns the URL.
func serve(t *testing.T, more map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(filepath.Join("..", "..", "testdata", "web"))))
	for path, handler := range more {
		mux.HandleFunc(path, handler)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// htmlPage is a handler that serves a page.
func htmlPage(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><meta charset=utf-8>" + body))
	}
}
