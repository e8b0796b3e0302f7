package engine

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimiterLimitsStartingEngines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := &Limiter{}
		var mu sync.Mutex
		var order []int
		var releases []func()
		total := 2*runtime.GOMAXPROCS(0) + 1
		for i := range total {
			go func() {
				release := limiter.acquire(t.Context())
				mu.Lock()
				defer mu.Unlock()
				order, releases = append(order, i), append(releases, release)
			}()
			synctest.Wait()
		}
		for started := runtime.GOMAXPROCS(0); started < total; started++ {
			mu.Lock()
			if len(order) != started {
				t.Fatalf("%d engines start at the same time, want %d", len(order), started)
			}
			release := releases[0]
			releases = releases[1:]
			mu.Unlock()
			release()
			release() // has no effect
			synctest.Wait()
		}
		mu.Lock()
		defer mu.Unlock()
		if !slices.IsSorted(order) {
			t.Errorf("the order is %v", order)
		}
		for _, release := range releases {
			release()
		}
		if limiter.starting != 0 || len(limiter.waiting) != 0 {
			t.Errorf("%d engines start and %d wait after all have started", limiter.starting, len(limiter.waiting))
		}
	})
}

func TestLimiterGivesUpWaiting(t *testing.T) {
	t.Parallel()
	limiter := &Limiter{}
	release := limiter.acquire(t.Context())
	limiter.starting = runtime.GOMAXPROCS(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	limiter.acquire(ctx)()
	if len(limiter.waiting) != 0 {
		t.Errorf("%d engines wait", len(limiter.waiting))
	}
	release()
	if limiter.starting != runtime.GOMAXPROCS(0)-1 {
		t.Errorf("%d engines start, want %d", limiter.starting, runtime.GOMAXPROCS(0)-1)
	}
}

func TestBusyScriptsDoNotKeepOthersFromStarting(t *testing.T) {
	t.Parallel()
	limiter := &Limiter{maxHold: time.Millisecond}
	for range 2 * runtime.GOMAXPROCS(0) {
		g := newTestEngine(t, `console.log("started"); for (;;);`, func(s *Spec) { s.Limiter = limiter })
		g.stdout.waitFor(t, "started")
	}
}

func TestKillWhileWaitingToStart(t *testing.T) {
	t.Parallel()
	limiter := &Limiter{starting: 1 << 20}
	g := newTestEngine(t, `console.log("started")`, func(s *Spec) { s.Limiter = limiter })
	g.Kill()
	if exit := g.wait(); exit.Signal != "SIGKILL" || strings.Contains(g.stdout.String(), "started") {
		t.Errorf("exit %+v, stdout %q", exit, g.stdout)
	}
}
