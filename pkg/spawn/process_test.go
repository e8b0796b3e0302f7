//go:build unix

package spawn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// limit bounds every wait of these tests; none comes near it unless something hangs.
const limit = 60 * time.Second

// server is a process under test with everything that it may have left behind.
type server struct {
	*Process
	t       *testing.T
	sup     *Supervisor
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
	return startSpec(t, Spec{Command: self(t), Args: args, Env: []string{roleVariable + "=" + role}})
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
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

// launch starts a server that nobody has connected to yet.
func launch(t *testing.T, runtimes *jsruntime.Finder, spec Spec) *server {
	t.Helper()
	s := &server{t: t, marker: spawntest.Marker(), log: filepath.Join(t.TempDir(), "stderr.log")}
	s.sup = NewSupervisor(Options{StateDir: filepath.Join(t.TempDir(), "state"), Runtimes: runtimes})
	spec.Name = "shop"
	if spec.LogPath == "" {
		spec.LogPath = s.log
	}
	spec.Env = append(spec.Env, s.marker, "GORACE=atexit_sleep_ms=0")
	spec.Log = func(level, message, hint string) {
		if level == "debug" { // which runtime was chosen
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.notices = append(s.notices, level+": "+message+" / "+hint)
	}
	p, err := s.sup.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	s.Process = p
	t.Cleanup(func() {
		if err := p.Stop(t.Context()); err != nil { // the context is over: there is no patience left
			t.Error(err)
		}
		if err := s.sup.Close(); err != nil {
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

// call sends a request and returns the answer to it.
func (s *server) call(method, params string) *jsonrpc.Response {
	s.t.Helper()
	s.send(method, params)
	resp, ok := s.read().(*jsonrpc.Response)
	if !ok || resp.ID.Raw() != int64(s.calls) {
		s.t.Fatalf("the answer to call %d is %v", s.calls, resp)
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

// mustStop stops politely and returns how long that took.
func (s *server) mustStop() time.Duration {
	s.t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		s.t.Fatal(err)
	}
	return time.Since(begin)
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
	return s.notices
}

// logSays waits until the log says text: stderr is another pipe than stdout.
func (s *server) logSays(text string) {
	s.t.Helper()
	deadline := time.Now().Add(limit)
	for !strings.Contains(s.logged(), text) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the log never says %q", text)
		}
		<-time.After(time.Millisecond)
	}
}

func TestAServerAnswersAndStopsAsSoonAsItsInputEnds(t *testing.T) {
	t.Parallel()
	s := start(t, "polite")
	select {
	case <-s.FirstMessage():
		t.Error("it was heard before it spoke")
	default:
	}
	if got := string(s.call("hello", `{"a":1}`).Result); got != `"hello"` {
		t.Errorf("it answered %s", got)
	}
	waitFor(t, s.FirstMessage(), "FirstMessage")
	if took := s.mustStop(); took > CloseGrace/2 {
		t.Errorf("stopping took %s", took)
	}
	if s.ExitError() != nil {
		t.Errorf("we stopped it, and it ended with %v", s.ExitError())
	}
	if got := s.logged(); got != "cleaned up\n" {
		t.Errorf("its log says %q", got)
	}
	if msg, err := s.conn.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("read %v, %v after the end", msg, err)
	}
	if err := s.conn.Write(t.Context(), &jsonrpc.Request{Method: "x"}); err == nil {
		t.Error("writing after the end succeeds")
	}
}

func TestStopMayBeCalledByManyAtOnceAndAgain(t *testing.T) {
	t.Parallel()
	s := start(t, "polite")
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { s.mustStop() })
	}
	wg.Wait()
	s.mustStop()
}

func TestATransportIsConnectedOnce(t *testing.T) {
	t.Parallel()
	if _, err := start(t, "polite").Transport().Connect(t.Context()); err == nil {
		t.Error("the second connection succeeds")
	}
}

func TestTheSDKSpeaksThroughTheTransport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := launch(t, nil, Spec{Command: self(t), Env: []string{roleVariable + "=script"}, Args: []string{
		put(t, dir+"/first", "booting\n", 0o600),
		put(t, dir+"/answer", "progress: 50%"+`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"?"}}`+
			`{"jsonrpc":"2.0","id":"nobody","result":{}}`+"\nANSWER\n", 0o600),
	}})
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	// The answer to initialize is no object: the SDK has to say so, and to end in order.
	if _, err := client.Connect(ctx, s.Transport(), nil); err == nil || ctx.Err() != nil {
		t.Errorf("connecting yields %v", err)
	}
}

func TestTheEndOfAProcessIsTold(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"exit 0": "exited with code 0", "exit 3": "exited with code 3",
		"kill -SEGV $$": "killed by signal SEGV", "kill -KILL $$": "killed by signal KILL",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := startSpec(t, Spec{Command: "sh", Args: []string{"-c", "read line; echo last words >&2; " + how}})
			s.send("die", "{}")
			s.waitDone()
			end := s.ExitError()
			if end == nil || end.Kind != fault.Crashed || end.Message != want {
				t.Errorf("end %+v, want %s", end, want)
			}
			if _, err := s.conn.Read(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("reading yields %v", err)
			}
			if got := s.logged(); got != "last words\n" {
				t.Errorf("its log says %q", got)
			}
			s.mustStop()
			if s.ExitError() == nil {
				t.Error("stopping it afterwards makes it our doing")
			}
		})
	}
}

func TestWritingToADeadServerIsAnErrorAndNoSignalToUs(t *testing.T) {
	t.Parallel()
	s := start(t, "exits at start")
	s.waitDone()
	err := s.conn.Write(t.Context(), &jsonrpc.Request{Method: "x"})
	if err == nil || !strings.Contains(err.Error(), "exited") {
		t.Errorf("error %v", err)
	}
}

func TestStubbornServersAreStoppedInTheStepsOfTheSpecification(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role     string
		min, max time.Duration
	}{
		{"ignores the end", CloseGrace, CloseGrace + termGrace},
		{"ignores SIGTERM", CloseGrace + termGrace, CloseGrace + termGrace + 3*time.Second},
	} {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			s := start(t, c.role)
			s.call("hello", "{}")
			if took := s.mustStop(); took < c.min || took > c.max {
				t.Errorf("stopping took %s, want %s to %s", took, c.min, c.max)
			}
			if s.ExitError() != nil {
				t.Errorf("it ended with %v", s.ExitError())
			}
		})
	}
}

func TestStopWithoutPatienceKills(t *testing.T) {
	t.Parallel()
	s := start(t, "ignores SIGTERM")
	s.call("hello", "{}")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > CloseGrace/2 {
		t.Errorf("it took %s", took)
	}
}

func TestGrandchildrenThatIgnoreSIGTERMAndHoldThePipesAreGoneWithTheirLeader(t *testing.T) {
	t.Parallel()
	s := start(t, "grandchild", "clinging")
	s.call("hello", "{}")
	s.logSays("ready")
	if took := s.mustStop(); took > CloseGrace/2 {
		t.Errorf("stopping took %s", took)
	}
	spawntest.NoSurvivors(t, s.marker)
}

func TestGrandchildrenAreGoneWhenTheirLeaderCrashes(t *testing.T) {
	t.Parallel()
	s := start(t, "grandchild", "clinging")
	s.call("hello", "{}")
	s.logSays("ready")
	_ = syscall.Kill(s.body.pid(), syscall.SIGKILL)
	s.waitDone()
	spawntest.NoSurvivors(t, s.marker)
	if end := s.ExitError(); end == nil || end.Message != "killed by signal KILL" {
		t.Errorf("end %v", end)
	}
}

// TestADaemonThatLetGoOfThePipesIsLeftAlone: the servers of adb, Gradle or Bazel are started by whoever needs them first, and
// others on the machine use them by the time that one ends.
func TestADaemonThatLetGoOfThePipesIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := start(t, "grandchild", "daemon")
	s.call("hello", "{}")
	daemons := func() (pids []int) {
		for _, found := range spawntest.Survivors(s.marker) {
			var pid int
			if _, err := fmt.Sscanf(found, "%d sleep 3600", &pid); err == nil {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	for deadline := time.Now().Add(limit); len(daemons()) == 0; <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("there is no daemon")
		}
	}
	s.mustStop()
	left := daemons()
	if len(left) != 1 {
		t.Errorf("daemons %v", left)
	}
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestAServerThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := start(t, "deaf")
	big := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // time enough to encode it and fill the pipe
	defer cancel()
	if err := s.conn.Write(ctx, &jsonrpc.Request{Method: "big", Params: big}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the first write: %v", err)
	}
	if err := s.conn.Write(ctx, &jsonrpc.Request{Method: "next"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second write: %v", err)
	}
	blocked := make(chan error, 1)
	go func() { blocked <- s.conn.Write(t.Context(), &jsonrpc.Request{Method: "third"}) }()
	_ = s.conn.Close()
	select {
	case err := <-blocked:
		if err == nil {
			t.Error("the third write succeeds")
		}
	case <-time.After(limit):
		t.Fatal("closing does not release a writer")
	}
}

func TestAMessageThatWasBegunIsCompletedSoThatTheNextOneStartsOnItsOwnLine(t *testing.T) {
	t.Parallel()
	// sh sleeps, then becomes cat, which returns what it reads.
	gate := filepath.Join(t.TempDir(), "gate")
	s := startSpec(t, Spec{Command: "sh", Args: []string{"-c", `until [ -e "$0" ]; do sleep 0.01; done; exec cat`, gate}})
	big := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for begun := time.Now(); len(s.writing) == 0 && time.Since(begun) < limit; {
			<-time.After(time.Millisecond)
		}
	}()
	if err := s.conn.Write(ctx, &jsonrpc.Request{Method: "big", Params: big}); !errors.Is(err, context.Canceled) {
		t.Errorf("the first write: %v", err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.send("next", "{}")
	for _, want := range []string{"big", "next"} {
		req, ok := s.read().(*jsonrpc.Request)
		if !ok || req.Method != want {
			t.Errorf("read %v, want %s", req, want)
		}
	}
}

func TestAServerThatClosesItsOutputIsNotTakenForDead(t *testing.T) {
	t.Parallel()
	s := start(t, "closes its output")
	if _, err := s.conn.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("reading yields %v", err)
	}
	select {
	case <-s.Done():
		t.Error("it is done")
	default:
	}
}

func TestKillAllEndsEverythingAtOnceAndWhatIsStartedLater(t *testing.T) {
	t.Parallel()
	sup := NewSupervisor(Options{})
	marker := spawntest.Marker()
	spec := func(role string, args ...string) Spec {
		return Spec{Name: role, Command: self(t), Args: args, Env: []string{
			roleVariable + "=" + role, marker, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0",
		}}
	}
	var all []*Process
	for _, sp := range []Spec{spec("ignores SIGTERM"), spec("grandchild", "clinging"), spec("deaf")} {
		p, err := sup.Start(t.Context(), sp)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	begin := time.Now()
	sup.KillAll()
	if took := time.Since(begin); took > time.Second {
		t.Errorf("KillAll took %s", took)
	}
	if late, err := sup.Start(t.Context(), spec("deaf")); err == nil {
		all = append(all, late)
	}
	for _, p := range all {
		waitFor(t, p.Done(), p.spec.Name)
		if p.ExitError() != nil {
			t.Errorf("%s: we killed it, and it ended with %v", p.spec.Name, p.ExitError())
		}
	}
	spawntest.NoSurvivors(t, marker)
	if err := sup.Close(); err != nil {
		t.Error(err)
	}
}

func TestClosingASupervisorKillsAndNamesWhatWasForgotten(t *testing.T) {
	t.Parallel()
	sup := NewSupervisor(Options{})
	marker := spawntest.Marker()
	p, err := sup.Start(t.Context(), Spec{Name: "shop", Command: self(t), Env: []string{roleVariable + "=deaf", marker}})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("not stopped when the run ended, and killed: shop (process %d)", p.body.pid())
	if err := sup.Close(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	spawntest.NoSurvivors(t, marker)
}

func TestTheChildGetsItsFolderAndExactlyItsEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startSpec(t, Spec{Command: "sh", Args: []string{"-c", "pwd >&2; env | grep ^X_ >&2; cat"}, Dir: dir, Env: []string{"X_A=1", "X_B=2", "X_A=3"}})
	s.mustStop()
	if diff := cmp.Diff(dir+"\nX_A=3\nX_B=2\n", sorted(s.logged())); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// sorted sorts all lines but the first.
func sorted(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	rest := lines[1:]
	if len(rest) == 2 && rest[0] > rest[1] {
		rest[0], rest[1] = rest[1], rest[0]
	}
	return strings.Join(lines, "\n") + "\n"
}

func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestTheLastWordsOfAServerAreRead: an answer that is written right before the exit is an answer.
func TestTheLastWordsOfAServerAreRead(t *testing.T) {
	t.Parallel()
	sup := NewSupervisor(Options{})
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			p, err := sup.Start(t.Context(), Spec{Command: "/bin/sh", Args: []string{
				"-c", `read line; echo '{"jsonrpc":"2.0","id":1,"result":"bye"}'; echo out of pizza >&2; exit 7`,
			}})
			if err != nil {
				t.Error(err)
				return
			}
			conn, _ := p.Transport().Connect(t.Context())
			if err := conn.Write(t.Context(), request1()); err != nil {
				t.Error(err)
			}
			if msg, err := conn.Read(t.Context()); err != nil {
				t.Errorf("read %v, %v", msg, err)
			}
			<-p.Done()
			if got := p.record.remembered(); got != "out of pizza" || p.ExitError() == nil {
				t.Errorf("it said %q and ended with %v", got, p.ExitError())
			}
		})
	}
	wg.Wait()
	if err := sup.Close(); err != nil {
		t.Error(err)
	}
}
