package engine

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A Limiter limits how many engines start at the same time to the number of processors that Go uses. Loading a script
// only computes: more engines at once compete for the processors' caches, and for a lock in modernc.org/libc that they
// all take with each call of a JavaScript function. The zero value is ready for use.
type Limiter struct {
	maxHold time.Duration // 0: maxStartTime

	mu       sync.Mutex
	starting int
	waiting  []chan struct{} // in the order of acquire; each is closed when its engine may start
}

// maxStartTime is how long an engine counts as starting, so that scripts which compute at their top level do not keep
// other engines from starting.
const maxStartTime = time.Second

// acquire waits until an engine may start, or until ctx is done. The engine counts as starting until release is called,
// or for the maximum time. release may be called several times. A nil Limiter has no limit.
func (l *Limiter) acquire(ctx context.Context) (release func()) {
	if l == nil {
		return func() {}
	}
	turn := l.enqueue()
	select {
	case <-turn:
	case <-ctx.Done():
		l.leave(turn)
		return func() {}
	}
	leave := sync.OnceFunc(func() { l.leave(turn) })
	timer := time.AfterFunc(cmp.Or(l.maxHold, maxStartTime), leave)
	return func() {
		timer.Stop()
		leave()
	}
}

// enqueue returns a channel that is closed when the engine may start.
func (l *Limiter) enqueue() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.startNext()
	return turn
}

// leave ends a turn, or leaves the queue before the turn has begun.
func (l *Limiter) leave(turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, turn); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return
	}
	l.starting--
	l.startNext()
}

// startNext is called with the lock held.
func (l *Limiter) startNext() {
	for len(l.waiting) > 0 && l.starting < runtime.GOMAXPROCS(0) {
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		l.starting++
	}
}
