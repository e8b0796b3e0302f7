package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// busyTool takes a second, and records how many calls run at the same time.
type busyTool struct {
	mu      sync.Mutex
	running int
	most    int
	calls   int
}

func (b *busyTool) run(c *memoryCall) {
	b.mu.Lock()
	b.calls++
	b.running++
	b.most = max(b.most, b.running)
	b.mu.Unlock()
	<-time.After(time.Second)
	b.mu.Lock()
	b.running--
	b.mu.Unlock()
	c.respond("done")
}

func TestCallsRunOneAtATime(t *testing.T) {
	t.Parallel()
	outer := []string{"outer"}
	for name, tc := range map[string]struct {
		parallel bool
		ids      [][]string // ancestors of the calls
		want     int        // calls at the same time
	}{
		"recorded calls":          {false, [][]string{nil, nil, nil}, 1},
		"callbacks of one call":   {false, [][]string{outer, outer, outer}, 1},
		"callbacks of several":    {false, [][]string{{"a"}, {"b"}, {"a", "c"}}, 1},
		"a parallel server":       {true, [][]string{nil, nil, nil}, 3},
		"callbacks to a parallel": {true, [][]string{outer, outer, outer}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				busy := &busyTool{}
				m := &memoryServer{tools: map[string]func(*memoryCall){"busy": busy.run}}
				s := startMemory(t, m, func(c *Config) { c.Parallel = tc.parallel })
				var wg sync.WaitGroup
				for i, ancestors := range tc.ids {
					wg.Go(func() {
						mustCall(t, s, tool.Call{
							Tool: "busy", InvocationID: fmt.Sprintf("call %d", i),
							Ancestors: ancestors,
						})
					})
				}
				wg.Wait()
				if busy.most != tc.want || busy.calls != len(tc.ids) {
					t.Errorf("%d calls, %d at the same time, want %d", busy.calls, busy.most, tc.want)
				}
			})
		})
	}
}

// TestNestedCallDoesNotWaitForItsAncestors: the tool outer calls busy at the same server three times at once, and then
// responds.
func TestNestedCallDoesNotWaitForItsAncestors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := &busyTool{}
		var s *Server
		m := &memoryServer{tools: map[string]func(*memoryCall){
			"busy": busy.run,
			"outer": func(c *memoryCall) {
				var wg sync.WaitGroup
				for i := range 3 {
					id := fmt.Sprintf("inner %d", i)
					wg.Go(func() {
						mustCall(t, s,
							tool.Call{Tool: "busy", InvocationID: id, Ancestors: []string{"outer"}})
					})
				}
				wg.Wait()
				c.respond("done")
			},
		}}
		s = startMemory(t, m, nil)
		started := time.Now()
		if result := mustCall(t, s, tool.Call{Tool: "outer", InvocationID: "outer"}); result.Text != "done" {
			t.Errorf("result %+v", result)
		}
		if busy.most != 1 || time.Since(started) != 3*time.Second {
			t.Errorf("%d at the same time, in %s", busy.most, time.Since(started))
		}
	})
}

// TestCallsThatWaitForEachOtherDoNotDeadlock: at server A runs a tool that calls B, and at server B one that calls A,
// both started by one call. Each inner call waits for the other outer one.
func TestCallsThatWaitForEachOtherDoNotDeadlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		graph := &CallGraph{}
		servers := map[string]*Server{}
		both := sync.WaitGroup{}
		both.Add(2)
		callsOther := func(self, other string) func(*memoryCall) {
			return func(c *memoryCall) {
				both.Done()
				both.Wait() // both outer calls run
				inner := tool.Call{Tool: "echo", InvocationID: "inner of " + self, Ancestors: []string{"root", self}}
				c.respond(self + mustCall(t, servers[other], inner).Text)
			}
		}
		for self, other := range map[string]string{"A": "B", "B": "A"} {
			m := &memoryServer{tools: map[string]func(*memoryCall){
				"outer": callsOther(self, other),
				"echo":  func(c *memoryCall) { c.respond("!") },
			}}
			servers[self] = startMemory(t, m, func(c *Config) { c.Calls = graph })
		}
		var wg sync.WaitGroup
		started := time.Now()
		for self, s := range servers {
			wg.Go(func() {
				result := mustCall(t, s, tool.Call{Tool: "outer", InvocationID: self, Ancestors: []string{"root"}})
				if want := self + "!"; result.Text != want {
					t.Errorf("result %+v, want %s", result, want)
				}
			})
		}
		wg.Wait()
		if took := time.Since(started); took != 0 {
			t.Errorf("took %s", took)
		}
	})
}

func TestTurnsAreGrantedInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Server{cfg: Config{}.withDefaults()}
		first, err := s.acquireTurn(t.Context(), tool.Call{})
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		for i := range 20 {
			go func() {
				next, err := s.acquireTurn(t.Context(), tool.Call{})
				if err != nil {
					t.Error(err)
				}
				order = append(order, i)
				s.cfg.Calls.release(next)
			}()
			synctest.Wait() // it waits
		}
		s.cfg.Calls.release(first)
		synctest.Wait()
		if !slices.IsSorted(order) || len(order) != 20 {
			t.Errorf("order %v", order)
		}
	})
}

func TestWaitingForTurnIsNotPartOfTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := &busyTool{}
		m := &memoryServer{tools: map[string]func(*memoryCall){"busy": busy.run}}
		s := startMemory(t, m, nil)
		var wg sync.WaitGroup
		wg.Go(func() { mustCall(t, s, tool.Call{Tool: "busy"}) })
		synctest.Wait() // it runs
		wg.Go(func() {
			if result := mustCall(t, s, tool.Call{Tool: "busy", Timeout: 1500 * time.Millisecond}); !result.OK {
				t.Errorf("result %+v", result)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Call(ctx, tool.Call{Tool: "busy"}); fault.KindOf(err) != fault.Cancelled {
			t.Errorf("error %v", err)
		}
		wg.Wait()
		if busy.calls != 2 {
			t.Errorf("%d calls were sent", busy.calls)
		}
		if diff := cmp.Diff(0, len(s.cfg.Calls.turns)); diff != "" {
			t.Errorf("turns left (-want +got):\n%s", diff)
		}
	})
}

// TestNestedCallDoesNotWaitBehindOneThatWaitsForTheProcess: a recorded call waits for the previous process to stop,
// which waits for the outer call, which waits for the nested one.
func TestNestedCallDoesNotWaitBehindOneThatWaitsForTheProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s *Server
		inner := make(chan struct{})
		m := &memoryServer{tools: map[string]func(*memoryCall){
			"outer": func(c *memoryCall) {
				<-inner
				result := mustCall(t, s, tool.Call{Tool: "which", Ancestors: []string{"outer"}})
				c.respond(result.Text)
			},
			"which": func(c *memoryCall) { c.respond(fmt.Sprint("process ", c.link.run)) },
		}}
		s = startMemory(t, m, func(c *Config) { c.Parallel = true })
		var wg sync.WaitGroup
		wg.Go(func() {
			if result := mustCall(t, s, tool.Call{Tool: "outer", InvocationID: "outer"}); result.Text != "process 2" {
				t.Errorf("the outer call: %+v", result)
			}
		})
		if result := mustCall(t, s, tool.Call{Tool: "hang", Timeout: time.Second}); result.Kind != fault.CallTimeout {
			t.Errorf("result %+v", result)
		}
		wg.Go(func() {
			if result := mustCall(t, s, tool.Call{Tool: "which"}); result.Text != "process 2" {
				t.Errorf("the recorded call: %+v", result)
			}
		})
		synctest.Wait() // it waits for the previous process
		close(inner)
		wg.Wait()
	})
}
