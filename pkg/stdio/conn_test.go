//go:build unix

package stdio

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/spawn"
)

func TestCallIsAnsweredAndTheConnectionEndsWithTheServer(t *testing.T) {
	t.Parallel()
	s := start(t, "answers")
	select {
	case <-s.FirstMessage():
		t.Error("FirstMessage is closed before there was one")
	default:
	}
	if got := string(s.call("hello", `{"a":1}`).Result); got != `"hello"` {
		t.Errorf("it answered %s", got)
	}
	waitFor(t, s.FirstMessage(), "FirstMessage")
	s.mustStop()
	if got := s.logged(); got != "cleaned up\n" {
		t.Errorf("its log is %q", got)
	}
	if msg, err := s.conn.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("read %v, %v after the end", msg, err)
	}
	if err := s.conn.Write(t.Context(), &jsonrpc.Request{Method: "x"}); err == nil {
		t.Error("writing after the end succeeds")
	}
}

func TestTransportIsConnectedOnce(t *testing.T) {
	t.Parallel()
	if _, err := start(t, "answers").Transport().Connect(t.Context()); err == nil {
		t.Error("the second connection succeeds")
	}
}

func TestSDKUsesTheTransport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := launch(t, nil, roleSpec(t, "script",
		put(t, dir+"/first", "booting\n"),
		put(t, dir+"/answer", "progress: 50%"+`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"?"}}`+
			`{"jsonrpc":"2.0","id":"nobody","result":{}}`+"\nANSWER\n"),
	))
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	// The result of initialize is not an object: the SDK has to report that, and to end in order.
	if _, err := client.Connect(ctx, s.Transport(), nil); err == nil || ctx.Err() != nil {
		t.Errorf("connecting yields %v", err)
	}
}

func TestWritingToAnExitedServerIsAnError(t *testing.T) {
	t.Parallel()
	s := start(t, "exits at start")
	s.waitDone()
	err := s.conn.Write(t.Context(), &jsonrpc.Request{Method: "x"})
	if err == nil || !strings.Contains(err.Error(), "exited") {
		t.Errorf("error %v", err)
	}
}

func TestServerThatDoesNotReadDoesNotBlock(t *testing.T) {
	t.Parallel()
	s := start(t, "does not read")
	big := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	ctx, cancel := context.WithCancel(t.Context())
	untilWriting(t, s, cancel)
	if err := s.conn.Write(ctx, &jsonrpc.Request{Method: "big", Params: big}); !errors.Is(err, context.Canceled) {
		t.Errorf("the first write: %v", err)
	}
	if err := s.conn.Write(ctx, &jsonrpc.Request{Method: "next"}); !errors.Is(err, context.Canceled) {
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

// untilWriting calls then once a message is being written.
func untilWriting(t *testing.T, s *server, then func()) {
	t.Helper()
	var wait sync.WaitGroup
	wait.Go(func() {
		defer then()
		for begin := time.Now(); len(s.writing) == 0 && time.Since(begin) < limit; {
			<-time.After(time.Millisecond)
		}
	})
	t.Cleanup(wait.Wait)
}

func TestCancelledWriteIsCompletedSoThatTheNextMessageStartsOnItsOwnLine(t *testing.T) {
	t.Parallel()
	// sh sleeps, then becomes cat, which returns what it reads.
	gate := filepath.Join(t.TempDir(), "gate")
	s := startSpec(t, shell(`until [ -e "$0" ]; do sleep 0.01; done; exec cat`, gate))
	big := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	ctx, cancel := context.WithCancel(t.Context())
	untilWriting(t, s, cancel)
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

func TestServerThatClosesItsOutputIsStillRunning(t *testing.T) {
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

// TestResponseWrittenRightBeforeTheExitIsRead: however soon the server exits, a response is a response.
func TestResponseWrittenRightBeforeTheExitIsRead(t *testing.T) {
	t.Parallel()
	supervisor := spawn.NewSupervisor(spawn.Options{})
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			p, err := Start(t.Context(), supervisor, Spec{Spec: spawn.Spec{Command: "/bin/sh", Args: []string{
				"-c", `read line; echo '{"jsonrpc":"2.0","id":1,"result":"bye"}'; echo out of pizza >&2; exit 7`,
			}}})
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
			if got := p.Stderr(); got != "out of pizza" || p.ExitError() == nil {
				t.Errorf("it wrote %q and ended with %v", got, p.ExitError())
			}
		})
	}
	wg.Wait()
	if err := supervisor.Close(); err != nil {
		t.Error(err)
	}
}

func TestUnreadMessagesAreDiscarded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flood := strings.Repeat(`{"jsonrpc":"2.0","method":"n"}`+"\n", 10_000)
	s := start(t, "script", put(t, dir+"/first", flood), put(t, dir+"/answer", "ANSWER\n"))
	if msg, ok := s.read().(*jsonrpc.Request); !ok || msg.Method != "n" {
		t.Errorf("read %v", msg)
	}
	_ = s.conn.Close()
	s.mustStop()
}
