package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func TestExitDuringStartIsReported(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script script
		want   []string
	}{
		{"at start", script{Exit: "start", Code: 3}, []string{"initialize", "exited with code 3"}},
		{"during initialize", script{Exit: "initialize", Code: 4}, []string{"initialize", "exited with code 4"}},
		{"during list", script{Exit: "list", Code: 5}, []string{"tools/list", "exited with code 5"}},
		{"killed by a signal", script{Exit: "list", Kill: true}, []string{"tools/list", "killed by signal KILL"}},
		{"only closes its output", script{Close: "initialize"}, []string{"initialize", "closed its output"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.script.Stderr = "cannot find module pizza"
			cfg, _ := fakeConfig(t, tt.script, nil)
			err := startFailure(t, cfg)
			if err.Kind != fault.Crashed {
				t.Errorf("kind %q", err.Kind)
			}
			mustContain(t, err.Message, append(tt.want, `server "shop"`, "crashed")...)
			if tt.script.Close == "" {
				mustContain(t, err.Message, "cannot find module pizza")
			}
		})
	}
}

func TestScriptThatEndsWithoutServingGetsAHint(t *testing.T) {
	t.Parallel()
	cfg, _ := fakeConfig(t, script{Exit: "start", Stderr: "tools defined"}, nil)
	err := startFailure(t, cfg)
	if err.Kind != fault.Crashed {
		t.Errorf("kind %q", err.Kind)
	}
	mustContain(t, err.Message, `server "shop": exited with code 0 during initialize, without serving MCP`,
		"tools defined")
	mustContain(t, err.Hint, "await trailblaze.run()")
}

func TestHangDuringStartTimesOut(t *testing.T) {
	t.Parallel()
	startup := func(c *Config) { c.StartupTimeout = 300 * time.Millisecond }
	list := func(c *Config) { c.timing.list = 400 * time.Millisecond }
	tests := []struct {
		name   string
		script script
		limit  func(*Config)
		want   []string
	}{
		{"at start", script{Hang: "start"}, startup, []string{"initialize", "300ms"}},
		{"during initialize", script{Hang: "initialize"}, startup, []string{"initialize", "300ms"}},
		{"during list", script{Hang: "list"}, list, []string{"tools/list", "400ms"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, _ := fakeConfig(t, tt.script, tt.limit)
			err := startFailure(t, cfg)
			if fault.ExitCode(err) != fault.ExitInfra {
				t.Errorf("kind %q means exit code %d", err.Kind, fault.ExitCode(err))
			}
			mustContain(t, err.Message, append(tt.want, `server "shop"`, "timeout")...)
			mustContain(t, err.Hint, "startupTimeout")
		})
	}
}

func TestInterruptedStartLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"initialize", "list"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			cfg, r := fakeConfig(t, script{Hang: phase}, nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				waitFor(t, "the phase is reached", func() bool { return len(r.lines(phase)) > 0 })
				cancel()
			}()
			_, err := Start(ctx, cfg)
			if fault.KindOf(err) != fault.Cancelled {
				t.Errorf("error %v", err)
			}
			if left := spawntest.Survivors(r.marker); len(left) != 0 {
				t.Errorf("after Start: %q", left)
			}
		})
	}
}

func TestLaunchErrorKeepsItsKindAndNamesTheServer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		cause error
		kind  fault.Kind
	}{
		{"with a kind", fault.New(fault.CommandNotFound, "install it", "gradlew: not found"), fault.CommandNotFound},
		{"without", errors.New("gradlew: not found"), fault.Server},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := startFailure(t, Config{
				Name:   "shop",
				Launch: func(context.Context) (Link, error) { return nil, tt.cause },
			})
			if err.Kind != tt.kind || !errors.Is(err, tt.cause) {
				t.Errorf("kind %q, error %v", err.Kind, err)
			}
			mustContain(t, err.Message, `server "shop"`, "start", "gradlew: not found")
		})
	}
}

func TestCrashDuringACallFailsTheServer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script script
		code   int
		want   string
	}{
		{"with an exit code", script{Stderr: "out of pizza"}, 7, "exited with code 7"},
		{"with exit code 0", script{Stderr: "out of pizza"}, 0, "exited with code 0"},
		{"killed by a signal", script{Stderr: "out of pizza", Kill: true}, 0, "killed by signal KILL"},
		{"only closes its output", script{Close: "call"}, 0, "closed its output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := startFakeServer(t, tt.script, nil)
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			_, err := r.Call(ctx, tool.Call{Tool: "exit", Args: map[string]any{"code": tt.code}})
			known := fault.As(err)
			if known == nil || known.Kind != fault.Crashed {
				t.Fatalf("error %v", err)
			}
			mustContain(t, known.Message, `server "shop"`, `tool "exit"`, "crashed", tt.want)
			mustContain(t, known.Message, tt.script.Stderr)
			waitClosed(t, "Broken", r.Failed())
			if !errors.Is(r.Err(), err) {
				t.Errorf("Err returned %v, Call %v", r.Err(), err)
			}
			if _, again := r.Call(ctx, tool.Call{Tool: "echo"}); !errors.Is(again, err) {
				t.Errorf("a later call: %v", again)
			}
			if starts := len(r.lines("started")); starts != 1 {
				t.Errorf("%d starts", starts)
			}
		})
	}
}

func TestCrashDuringALargeWriteIsDetected(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Stderr: "bye"}, func(c *Config) { c.Parallel = true })
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := r.Call(ctx, tool.Call{
			Tool: "exit",
			Args: map[string]any{"code": 1, "fill": strings.Repeat("x", 1<<20)},
		})
		if fault.KindOf(err) != fault.Crashed {
			t.Errorf("error %v", err)
		}
	})
	wg.Wait()
	waitClosed(t, "Broken", r.Failed())
}

func TestCrashBetweenCallsFailsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Stderr: "out of pizza"}, nil)
	// It responds and exits.
	result := call(t, r.Server, tool.Call{
		Tool: "exit",
		Args: args(t, `{"code":7,"result":{"content":[{"type":"text","text":"bye"}]}}`),
	})
	if !result.OK || result.Text != "bye" {
		t.Errorf("result %+v", result)
	}
	waitClosed(t, "Broken", r.Failed())
	err := fault.As(r.Err())
	if err.Kind != fault.Crashed {
		t.Errorf("kind %q", err.Kind)
	}
	mustContain(t, err.Message, `server "shop"`, "crashed", "exited with code 7")
	mustContain(t, err.Message, "out of pizza")
}

func TestStoppedServerHasNotFailed(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	stop(t, r.Server)
	stop(t, r.Server)
	select {
	case <-r.Failed():
		t.Error("a stopped server has failed")
	default:
	}
	if r.Err() != nil {
		t.Errorf("Err: %v", r.Err())
	}
	if _, err := r.Call(t.Context(), tool.Call{Tool: "echo"}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("a call after Stop: %v", err)
	}
}

func TestStopCancelsPendingAndWaitingCalls(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := r.Call(t.Context(), tool.Call{Tool: "hang"}); fault.KindOf(err) != fault.Cancelled {
				t.Errorf("error %v", err)
			}
		})
	}
	waitFor(t, "a call is sent", func() bool { return len(r.lines("tools/call")) == 1 })
	var stops sync.WaitGroup
	for range 2 {
		stops.Go(func() { stop(t, r.Server) })
	}
	stops.Wait()
	wg.Wait()
	if n := len(r.lines("notifications/cancelled")); n != 1 {
		t.Errorf("%d cancellations", n)
	}
}

func TestStopDuringARestartLeavesNoProcess(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Hang: "initialize", OnlyRun: 2}, nil)
	if result := call(t, r.Server, tool.Call{
		Tool:    "hang",
		Timeout: 50 * time.Millisecond,
	}); result.Kind != fault.CallTimeout {
		t.Fatalf("result %+v", result)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := r.Call(t.Context(), tool.Call{Tool: "echo"}); fault.KindOf(err) != fault.Cancelled {
			t.Errorf("error %v", err)
		}
	})
	waitFor(t, "initialize is sent to the second process", func() bool { return len(r.lines("initialize\"")) == 2 })
	stop(t, r.Server)
	if left := spawntest.Survivors(r.marker); len(left) != 0 {
		t.Errorf("after Stop: %q", left)
	}
	wg.Wait()
}

func TestServerFailsIfItCannotBeRestarted(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Exit: "start", Code: 9, OnlyRun: 2}, nil)
	if result := call(t, r.Server, tool.Call{
		Tool:    "hang",
		Timeout: 50 * time.Millisecond,
	}); result.Kind != fault.CallTimeout {
		t.Fatalf("result %+v", result)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	_, err := r.Call(ctx, tool.Call{Tool: "echo"})
	if fault.KindOf(err) != fault.Crashed {
		t.Fatalf("error %v", err)
	}
	mustContain(t, err.Error(), `server "shop"`, "initialize", "exited with code 9")
	waitClosed(t, "Broken", r.Failed())
}

func TestTimeoutsDoNotCountAsCrashes(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, nil)
	for n := 1; n <= maxRestarts+2; n++ {
		if result := call(t, r.Server, tool.Call{
			Tool:    "hang",
			Timeout: 20 * time.Millisecond,
		}); result.Kind != fault.CallTimeout {
			t.Fatalf("process %d: %+v", n, result)
		}
	}
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != fmt.Sprintf("process %d", maxRestarts+3) {
		t.Errorf("result %+v", result)
	}
}

func TestWriteToAServerThatDoesNotReadTimesOut(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Hang: "calls"}, nil)
	big := strings.Repeat("x", 4<<20)
	started := time.Now()
	result := call(t, r.Server, tool.Call{
		Tool: "echo", Args: map[string]any{"fill": big},
		Timeout: 200 * time.Millisecond,
	})
	if result.Kind != fault.CallTimeout {
		t.Errorf("result %+v", result)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "continue"), nil, 0o600); err != nil { // so that it exits
		t.Fatal(err)
	}
	stop(t, r.Server)
}

func TestRestartOnCrashFailsOnlyThePendingCall(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Stderr: "out of pizza"}, func(c *Config) { c.RestartOnCrash = true })
	result := call(t, r.Server, tool.Call{Tool: "exit", Args: args(t, `{"code":7}`)})
	if result.OK || result.Kind != fault.Crashed || result.Fatal {
		t.Errorf("result %+v", result)
	}
	mustContain(t, result.Text, `server "shop"`, `tool "exit"`, "crashed", "exited with code 7")
	mustContain(t, result.Text, "out of pizza")
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "process 2" {
		t.Errorf("result %+v", result)
	}
	if sent := r.lines(`"name":"exit"`); len(sent) != 1 {
		t.Errorf("the call was sent again: %v", sent)
	}
	if !r.logged("warn", `server "shop"`, "crashed (1 of at most 3 times)", "exited with code 7") {
		t.Errorf("log:\n%s", r)
	}
	if r.Err() != nil {
		t.Errorf("failed: %v", r.Err())
	}
}

func TestRestartOnCrashBetweenCallsFailsNoCall(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, func(c *Config) { c.RestartOnCrash = true })
	call(t, r.Server, tool.Call{Tool: "exit", Args: args(t, `{"code":7,"result":{"content":[]}}`)})
	waitFor(t, "the crash is detected", func() bool { return r.logged("warn", "crashed (1 of at most 3 times)") })
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "process 2" {
		t.Errorf("result %+v", result)
	}
}

func TestCallAfterAnExitIsSentToANewProcess(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{Close: "call", OnlyRun: 1}, func(c *Config) { c.RestartOnCrash = true })
	lost := r.peer.lost
	call(t, r.Server, tool.Call{Tool: "exit", Args: args(t, `{"result":{"content":[]}}`)})
	waitClosed(t, "the end of its output", lost)
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "process 2" {
		t.Errorf("result %+v", result)
	}
}

func TestFourthCrashFailsTheServer(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, func(c *Config) { c.RestartOnCrash = true })
	exit := tool.Call{Tool: "exit", Args: map[string]any{"code": 7}}
	for crash := 1; crash <= maxRestarts; crash++ {
		if result := call(t, r.Server, exit); result.Kind != fault.Crashed {
			t.Fatalf("crash %d: %+v", crash, result)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	if _, err := r.Call(ctx, exit); fault.KindOf(err) != fault.Crashed {
		t.Errorf("error %v", err)
	}
	waitClosed(t, "Broken", r.Failed())
	if starts := len(r.lines("started")); starts != maxRestarts+1 {
		t.Errorf("%d starts", starts)
	}
}

func TestCrashNamesAllPendingCalls(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{}, func(c *Config) { c.Parallel = true })
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := r.Call(ctx, tool.Call{Tool: "hang"})
		if err == nil {
			t.Error("the other call succeeded")
			return
		}
		mustContain(t, err.Error(), `tool "exit"`, `tool "hang"`)
	})
	waitFor(t, "the other call is sent", func() bool { return len(r.lines("tools/call")) == 1 })
	if _, err := r.Call(ctx, tool.Call{Tool: "exit", Args: map[string]any{"code": 1}}); err == nil {
		t.Error("no error")
	}
	wg.Wait()
}

func TestServerWithoutToolsListHasNoTools(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{NoTools: true}, nil)
	if len(r.Tools()) != 0 || !r.logged("warn", `server "shop"`, "no tools") {
		t.Errorf("tools %v, log:\n%s", r.Tools(), r)
	}
}

func TestEndlessToolListIsCut(t *testing.T) {
	t.Parallel()
	r := startFakeServer(t, script{EndlessPages: true}, nil)
	if len(r.Tools()) < maxPages || !r.logged("warn", `server "shop"`, fmt.Sprint(maxPages), "pages") {
		t.Errorf("%d tools, log:\n%s", len(r.Tools()), r)
	}
}
