package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func TestAServerThatEndsBeforeItIsReadySaysWhenHowAndItsLastWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script script
		want   []string
	}{
		{"at start", script{Exit: "start", Code: 3}, []string{"initialize", "exited with code 3"}},
		{"during initialize", script{Exit: "initialize", Code: 4}, []string{"initialize", "exited with code 4"}},
		{"during list", script{Exit: "list", Code: 5}, []string{"tools/list", "exited with code 5"}},
		{"with exit code 0", script{Exit: "initialize"}, []string{"initialize", "exited with code 0"}},
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

func TestAServerThatHangsBeforeItIsReadyRunsIntoALimitThatIsNamed(t *testing.T) {
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

func TestAStartThatIsInterruptedLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"initialize", "list"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			cfg, r := fakeConfig(t, script{Hang: phase}, nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				eventually(t, "the phase is reached", func() bool { return len(r.diary(phase)) > 0 })
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

func TestALaunchThatFailsKeepsItsKindAndNamesTheServer(t *testing.T) {
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
			err := startFailure(t, Config{Name: "shop", Launch: func(context.Context) (Link, error) { return nil, tt.cause }})
			if err.Kind != tt.kind || !errors.Is(err, tt.cause) {
				t.Errorf("kind %q, error %v", err.Kind, err)
			}
			mustContain(t, err.Message, `server "shop"`, "start", "gradlew: not found")
		})
	}
}

func TestACrashDuringACallBreaksTheServer(t *testing.T) {
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
			r := startFake(t, tt.script, nil)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := r.Call(ctx, tool.Call{Tool: "exit", Args: map[string]any{"code": tt.code}})
			known := fault.As(err)
			if known == nil || known.Kind != fault.Crashed {
				t.Fatalf("error %v", err)
			}
			mustContain(t, known.Message, `server "shop"`, `tool "exit"`, "crashed", tt.want)
			mustContain(t, known.Message, tt.script.Stderr)
			within(t, "Broken", r.Failed())
			if !errors.Is(r.Err(), err) {
				t.Errorf("Err is %v, Call said %v", r.Err(), err)
			}
			if _, again := r.Call(ctx, tool.Call{Tool: "echo"}); !errors.Is(again, err) {
				t.Errorf("a later call: %v", again)
			}
			if lives := len(r.diary("born")); lives != 1 {
				t.Errorf("%d lives", lives)
			}
		})
	}
}

func TestACrashDuringAWriteThatNobodyReadsIsNoticed(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{Stderr: "bye"}, func(c *Config) { c.Parallel = true })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := r.Call(ctx, tool.Call{Tool: "exit", Args: map[string]any{"code": 1, "fill": strings.Repeat("x", 1<<20)}})
		if fault.KindOf(err) != fault.Crashed {
			t.Errorf("error %v", err)
		}
	})
	wg.Wait()
	within(t, "Broken", r.Failed())
}

func TestACrashBetweenCallsBreaksTheServerAtOnce(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{Stderr: "out of pizza"}, nil)
	// It answers, and then it is gone.
	result := call(t, r.Server, tool.Call{Tool: "exit", Args: args(t, `{"code":7,"result":{"content":[{"type":"text","text":"bye"}]}}`)})
	if !result.OK || result.Text != "bye" {
		t.Errorf("result %+v", result)
	}
	within(t, "Broken", r.Failed())
	err := fault.As(r.Err())
	if err.Kind != fault.Crashed {
		t.Errorf("kind %q", err.Kind)
	}
	mustContain(t, err.Message, `server "shop"`, "crashed", "exited with code 7")
	mustContain(t, err.Message, "out of pizza")
}

func TestAServerThatWasNeverBrokenHasNoError(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{}, nil)
	stop(t, r.Server)
	stop(t, r.Server)
	select {
	case <-r.Failed():
		t.Error("stopping it broke it")
	default:
	}
	if r.Err() != nil {
		t.Errorf("Err: %v", r.Err())
	}
	if _, err := r.Call(t.Context(), tool.Call{Tool: "echo"}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("a call after Stop: %v", err)
	}
}

func TestStopCancelsTheCallsInFlightAndInTheQueue(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{}, nil)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := r.Call(t.Context(), tool.Call{Tool: "hang"}); fault.KindOf(err) != fault.Cancelled {
				t.Errorf("error %v", err)
			}
		})
	}
	eventually(t, "a call is sent", func() bool { return len(r.diary("tools/call")) == 1 })
	var stops sync.WaitGroup
	for range 2 {
		stops.Go(func() { stop(t, r.Server) })
	}
	stops.Wait()
	wg.Wait()
	if told := len(r.diary("notifications/cancelled")); told != 1 {
		t.Errorf("%d cancellations", told)
	}
}

func TestStopDuringARelaunchLeavesNoProcess(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{Hang: "initialize", Only: 2}, nil)
	if result := call(t, r.Server, tool.Call{Tool: "hang", Timeout: 50 * time.Millisecond}); result.Kind != fault.CallTimeout {
		t.Fatalf("result %+v", result)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := r.Call(t.Context(), tool.Call{Tool: "echo"}); fault.KindOf(err) != fault.Cancelled {
			t.Errorf("error %v", err)
		}
	})
	eventually(t, "the second life is asked", func() bool { return len(r.diary("initialize\"")) == 2 })
	stop(t, r.Server)
	if left := spawntest.Survivors(r.marker); len(left) != 0 {
		t.Errorf("after Stop: %q", left)
	}
	wg.Wait()
}

func TestAServerThatCannotBeReplacedIsBroken(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{Exit: "start", Code: 9, Only: 2}, nil)
	if result := call(t, r.Server, tool.Call{Tool: "hang", Timeout: 50 * time.Millisecond}); result.Kind != fault.CallTimeout {
		t.Fatalf("result %+v", result)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := r.Call(ctx, tool.Call{Tool: "echo"})
	if fault.KindOf(err) != fault.Crashed {
		t.Fatalf("error %v", err)
	}
	mustContain(t, err.Error(), `server "shop"`, "initialize", "exited with code 9")
	within(t, "Broken", r.Failed())
}

func TestTimeoutsDoNotCountAsCrashes(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{}, nil)
	for life := 1; life <= maxRestarts+2; life++ {
		if result := call(t, r.Server, tool.Call{Tool: "hang", Timeout: 20 * time.Millisecond}); result.Kind != fault.CallTimeout {
			t.Fatalf("life %d: %+v", life, result)
		}
	}
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != fmt.Sprintf("life %d", maxRestarts+3) {
		t.Errorf("result %+v", result)
	}
}

func TestAServerThatDoesNotReadIsGivenUpInTime(t *testing.T) {
	t.Parallel()
	deaf := startFake(t, script{Hang: "calls"}, nil)
	big := strings.Repeat("x", 4<<20)
	started := time.Now()
	result := call(t, deaf.Server, tool.Call{Tool: "echo", Args: map[string]any{"fill": big}, Timeout: 200 * time.Millisecond})
	if result.Kind != fault.CallTimeout {
		t.Errorf("result %+v", result)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	stop(t, deaf.Server)
}

func TestWithRestartOnCrashACrashCostsTheCallInFlightOnly(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{Stderr: "out of pizza"}, func(c *Config) { c.RestartOnCrash = true })
	result := call(t, r.Server, tool.Call{Tool: "exit", Args: args(t, `{"code":7}`)})
	if result.OK || result.Kind != fault.Crashed || result.Fatal {
		t.Errorf("result %+v", result)
	}
	mustContain(t, result.Text, `server "shop"`, `tool "exit"`, "crashed", "exited with code 7")
	mustContain(t, result.Text, "out of pizza")
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "life 2" {
		t.Errorf("result %+v", result)
	}
	if sent := r.diary(`"name":"exit"`); len(sent) != 1 {
		t.Errorf("the call was repeated: %v", sent)
	}
	if !r.logged("warn", `server "shop"`, "crash 1 of at most 3", "exited with code 7") {
		t.Errorf("log:\n%s", r)
	}
	if r.Err() != nil {
		t.Errorf("broken: %v", r.Err())
	}
}

func TestWithRestartOnCrashACrashBetweenCallsCostsNothing(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{}, func(c *Config) { c.RestartOnCrash = true })
	call(t, r.Server, tool.Call{Tool: "exit", Args: args(t, `{"code":7,"result":{"content":[]}}`)})
	eventually(t, "the crash is noticed", func() bool { return r.logged("warn", "crash 1") })
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "life 2" {
		t.Errorf("result %+v", result)
	}
}

func TestACallThatFindsTheServerGoneIsSentToTheNext(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{Close: "call", Only: 1}, func(c *Config) { c.RestartOnCrash = true })
	lost := r.peer.wire.broken
	call(t, r.Server, tool.Call{Tool: "exit", Args: args(t, `{"result":{"content":[]}}`)})
	within(t, "its output ends", lost)
	if result := call(t, r.Server, tool.Call{Tool: "echo"}); result.Text != "life 2" {
		t.Errorf("result %+v", result)
	}
}

func TestTheFourthCrashBreaksTheServer(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{}, func(c *Config) { c.RestartOnCrash = true })
	exit := tool.Call{Tool: "exit", Args: map[string]any{"code": 7}}
	for crash := 1; crash <= maxRestarts; crash++ {
		if result := call(t, r.Server, exit); result.Kind != fault.Crashed {
			t.Fatalf("crash %d: %+v", crash, result)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := r.Call(ctx, exit); fault.KindOf(err) != fault.Crashed {
		t.Errorf("error %v", err)
	}
	within(t, "Broken", r.Failed())
	if lives := len(r.diary("born")); lives != maxRestarts+1 {
		t.Errorf("%d lives", lives)
	}
}

func TestParallelCallsInFlightAreAllNamedWhenTheServerCrashes(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{}, func(c *Config) { c.Parallel = true })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := r.Call(ctx, tool.Call{Tool: "hang"})
		if err == nil {
			t.Error("the sibling survived")
			return
		}
		mustContain(t, err.Error(), `tool "exit"`, `tool "hang"`)
	})
	eventually(t, "the sibling is sent", func() bool { return len(r.diary("tools/call")) == 1 })
	if _, err := r.Call(ctx, tool.Call{Tool: "exit", Args: map[string]any{"code": 1}}); err == nil {
		t.Error("no error")
	}
	wg.Wait()
}

func TestAServerWithoutToolsListHasNoTools(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{NoTools: true}, nil)
	if len(r.Tools()) != 0 || !r.logged("warn", `server "shop"`, "no tools") {
		t.Errorf("tools %v, log:\n%s", r.Tools(), r)
	}
}

func TestAListThatNeverEndsIsCut(t *testing.T) {
	t.Parallel()
	r := startFake(t, script{Endless: true}, nil)
	if len(r.Tools()) < maxPages || !r.logged("warn", `server "shop"`, fmt.Sprint(maxPages), "pages") {
		t.Errorf("%d tools, log:\n%s", len(r.Tools()), r)
	}
}
